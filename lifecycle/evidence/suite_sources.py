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
    texts = _Texts(root, files)
    paths: dict[str, None] = {}
    for identity in list(identities)[:TESTS]:
        named = [path for path in _paths(identity) if path in files]
        paths |= dict.fromkeys(named[:1] or texts.having(identity))
    return {path: files[path].rpartition(" ")[2] for path in list(paths)[:FILES]}


def _paths(identity: str) -> Iterator[str]:
    """Possible paths at the beginning of an identity, the longest first."""
    ends = [match.start() for match in re.finditer(rf"{_BETWEEN}|:\d+|$", identity)]
    for end in reversed(ends):
        path = os.path.normpath(identity[:end].strip() or ".")
        if "." in path:
            yield path.replace(os.sep, "/")


class _Texts:
    """The texts of files, each read once and only on demand."""

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        self._root = root
        self._every = list(files)
        self._read: dict[str, str] = {}
        self._newest: dict[bool, list[str]] = {}

    def having(self, identity: str) -> list[str]:
        """The files that contain the last part of an identity."""
        parts = [part for part in _PART.split(identity.partition("[")[0]) if _WORD.search(part)]
        for is_test in (True, False):
            for part in reversed(parts[-2:]):
                word = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)")
                paths = self._of(is_test=is_test)
                having = [path for path in paths if word.search(self._text(path))]
                own = [path for path in having if Path(path).name.partition(".")[0] in parts]
                if having:
                    return (own or having)[:OF_ONE]
        return []

    def _of(self, *, is_test: bool) -> list[str]:
        """The test files, or the code files that may contain tests, the newest first."""
        if is_test not in self._newest:
            wanted = [
                path
                for path in self._every
                if (kind_of(path) is FileKind.TEST if is_test else path.endswith(INLINE))
            ]
            wanted.sort(key=lambda path: -regular_files.mtime_ns(str(self._root / path)))
            self._newest[is_test] = wanted[:READ]
        return self._newest[is_test]

    def _text(self, path: str) -> str:
        if path not in self._read:
            content = regular_files.whole(str(self._root / path), LARGEST) or b""
            self._read[path] = content.decode("utf-8", "replace")
        return self._read[path]
