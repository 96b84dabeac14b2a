"""What a file is to a test run: a test, text for people, configuration, or code under test.

Decided by its path alone, and by the conventions of the runners in the table (`words/files.json`).

A runner names a test, but seldom its file: `of_tests` finds it by the test's identity and the files' texts.
If the identity begins with an existing path (`tests/test_a.py::test_one`, `sum.test.js > sums > two`), it
is that file; else the test files that contain the last part of the identity as a word, first those whose
own name is in the identity, too. If no test file has it, the test may be in a code file of a language that
has its tests beside the code.

Sources: the pages that the rows of `runners.json` name, and
https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from lifecycle.evidence.words import word_tables
from lifecycle.storage import regular_files


class FileKind(StrEnum):
    """The kind of a file."""

    TEST = "test"
    DOCS = "docs"
    CONFIGURATION = "configuration"
    CODE = "code"


def kind_of(path: str) -> FileKind:
    """The kind of the file at a path, which is relative to the worktree's top folder."""
    *folders, name = path.split("/")
    for kind, row in word_tables.table("words/files").items():
        is_within = not set(row["folders"].split()).isdisjoint(folders)
        if is_within or any(re.fullmatch(pattern, name) for pattern in row["names"]):
            return FileKind(kind)
    return FileKind.CODE


LANGUAGES = (
    "c cc cjs clj cljs cpp cs cxx dart erl ex exs fs go groovy h hpp hs java js jsx kt kts lua m mjs mm "
    "php pl pm py pyi rb rs scala sh svelte swift ts tsx vb vue zig"
)
"""Extensions of files that a test run may be about."""


def is_of_project(path: str, known: Iterable[str]) -> bool:
    """True for the path of a new file in a programming language that a known file is in, too."""
    extension = posixpath.splitext(path)[1]
    return extension[1:] in LANGUAGES.split() and any(name.endswith(extension) for name in known)


def left_out(within: Iterable[tuple[str, Iterable[str], str]], paths: Iterable[str]) -> str:
    """The first test file that test runs leave out because of the names in them; "" if there is none.

    Only files count that are named as tests, in a language that occurs among the named tests.

    Args:
        within: for each run: the folder that it runs in, words that may be names of files, and the folder
            whose tests it runs.
        paths: the paths of all files, relative to the worktree's top folder.
    """
    files, named, whole = [*paths], set[str](), set[str]()
    for folder, words, top in within:
        begins = (re.split(r"\*|\.\.\.", word)[0] for word in words)
        below = {_below(posixpath.join(folder, begin)) for begin in begins}
        known = {place for place in below if any(file.startswith(place) for file in files)}
        named |= known or {_below(folder)}
        whole.add(_below(top))
    is_test = re.compile("|".join(word_tables.table("words/files")["test"]["names"])).fullmatch
    tests = [file for file in files if is_test(posixpath.basename(file))]
    tests = [file for file in tests if posixpath.basename(file) != "conftest.py"]
    inside = {file for file in tests if file.startswith(tuple(named))}
    kinds = {posixpath.splitext(file)[1] for file in inside}
    outside = (file for file in tests if file not in inside and file.startswith(tuple(whole)))
    return next((file for file in outside if posixpath.splitext(file)[1] in kinds), "")


def _below(folder: str) -> str:
    """The beginning of the paths of a folder's files; "" for the top folder."""
    return f"{posixpath.normpath(folder)}/".removeprefix("./")


READ = 500
"""Files that are read at most: the latest ones."""

LARGEST = 1_000_000
"""Bytes of the largest file that is read."""

TESTS = 20
"""Tests whose files are looked for."""

FILES, OF_ONE = 20, 3
"""Files that are named at most; and for one test."""

INLINE = (".rs", ".zig")
"""Extensions of languages that have tests beside the code."""

_BETWEEN = r"::|\s[\u203a>\u00bb]\s"
_PART = re.compile(rf"{_BETWEEN}|[#/\s()]+|(?<=\w)\.(?=\w)")
_WORD = re.compile(r"\w[\w-]*")


def of_tests(root: Path, identities: Iterable[str], files: Mapping[str, str]) -> dict[str, str]:
    """By path, the content's name of the files in which these tests are; without those not found.

    Args:
        root: the worktree's top folder.
        identities: the tests' identities, in their runner's words.
        files: by path, the mode and the content's name of each file, from `TreeSeen.files`.
    """

    @cache
    def text(path: str) -> str:
        return (regular_files.whole(str(root / path), LARGEST) or b"").decode("utf-8", "replace")

    @cache
    def newest(kind: FileKind) -> list[str]:
        wanted = [path for path in files if kind_of(path) is FileKind.TEST]
        if kind is not FileKind.TEST:
            wanted = [path for path in files if path.endswith(INLINE)]
        return sorted(wanted, key=lambda path: -regular_files.mtime_ns(str(root / path)))[:READ]

    def having(identity: str) -> list[str]:
        """The files that contain the last part of an identity."""
        parts = [part for part in _PART.split(identity.partition("[")[0]) if _WORD.search(part)]
        for kind in (FileKind.TEST, FileKind.CODE):
            for part in reversed(parts[-2:]):
                word = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)")
                found_in = [path for path in newest(kind) if word.search(text(path))]
                own = [path for path in found_in if Path(path).name.partition(".")[0] in parts]
                if found_in:
                    return (own or found_in)[:OF_ONE]
        return []

    paths: dict[str, None] = {}
    for identity in list(identities)[:TESTS]:
        named = [path for path in _paths(identity) if path in files]
        paths |= dict.fromkeys(named[:1] or having(identity))
    return {path: files[path].rpartition(" ")[2] for path in list(paths)[:FILES]}


def _paths(identity: str) -> Iterator[str]:
    """Possible paths at the beginning of an identity, the longest first."""
    ends = [match.start() for match in re.finditer(rf"{_BETWEEN}|:\d+|$", identity)]
    for end in reversed(ends):
        path = os.path.normpath(identity[:end].strip() or ".")
        if "." in path:
            yield path.replace(os.sep, "/")
