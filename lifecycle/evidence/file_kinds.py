"""What a file is to a test run: a test, text for people, configuration, or code under test.

Decided by its path alone, and by the conventions of the runners in the table (`words/files.json`).
Sources: the pages that the rows of `runners.json` name, and
https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from enum import StrEnum

from lifecycle.evidence.words import word_tables


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
