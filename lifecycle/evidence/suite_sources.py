"""The files in which tests are defined: found by the tests' identities, and by the files' texts.

A runner names a test, but seldom its file. If the identity begins with an existing path
(`tests/test_a.py::test_one`, `sum.test.js > sums > two`), it is that file; else the test files that contain
the last part of the identity as a word, first those whose own name is in the identity, too. If no test
file has it, the test may be in a code file of a language that has its tests beside the code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from lifecycle.evidence.file_kinds import FileKind, kind_of
from lifecycle.storage import regular_files

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
