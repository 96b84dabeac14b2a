"""Real traffic with GitHub, recorded by PyGithub's own tests and read from its source distribution.

An exchange is ten lines: scheme, method, host, port, path with query, request headers, request body,
status, answer headers, answer body; then an empty line. A streamed answer is base64, in many lines.
Source: tests/Framework.py of PyGithub, https://github.com/PyGithub/PyGithub/blob/main/tests/Framework.py
"""

from __future__ import annotations

import ast
import json
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.conformance.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = "/tests/ReplayData/"
SCHEMES = ("http", "https")
MANGLED = frozenset({"Github.testSearchRepos.txt"})
"""A file whose sixth line is not what the format has there; no test of theirs reads it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded exchange, with the file that holds it and the host that answered."""

    file: str
    host: str
    exchange: Exchange

    @property
    def is_api(self) -> bool:
        """Whether GitHub's REST API answered, and not an upload host, a page or another server."""
        return self.host == "api.github.com"

    @property
    def year(self) -> int:
        """The year of the answer, of its Date header; 0 if it has none."""
        words = self.exchange.headers.get("date", "").split()
        return int(words[3]) if len(words) > 3 and words[3].isdecimal() else 0


def read(archive: Path) -> list[Recorded]:
    """Every exchange of the source distribution, in order of file and place."""
    found: list[Recorded] = []
    with tarfile.open(archive) as tar:
        for member in tar:
            if FOLDER not in member.name or not member.isfile():
                continue
            content = tar.extractfile(member)
            assert content is not None  # a file
            name = member.name.rpartition("/")[2]
            if name not in MANGLED:
                found += parse(name, content.read().decode("utf-8"))
    return sorted(found, key=lambda one: one.file)


def parse(file: str, text: str) -> Iterator[Recorded]:
    """The exchanges of one file.

    Raises:
        ValueError: A line is not what the format has there.
    """
    lines = [line.strip() for line in text.split("\n")]
    at = 0
    while at + 9 < len(lines):
        if lines[at] not in SCHEMES:  # the rest of a streamed answer, or empty lines
            at += 1
            continue
        yield _one(file, lines[at : at + 10])
        at += 10


def _one(file: str, lines: list[str]) -> Recorded:
    _, method, host, _, target, asked, sent, status, headers, body = lines
    path, _, query = target.partition("?")
    return Recorded(
        file,
        host,
        Exchange(
            method=method,
            path=path,
            query=query,
            status=int(status),
            asked=_lowered(ast.literal_eval(asked)),
            sent=_decoded(sent),
            headers=_lowered(dict(ast.literal_eval(headers))),
            text="" if body == "None" else body,
        ),
    )


def _lowered(headers: dict[str, Any]) -> dict[str, str]:
    return {name.lower(): str(value) for name, value in headers.items()}


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
