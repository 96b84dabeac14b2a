"""Lines in files that are lists of lines: `.gitignore` and git's `info/exclude`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PutLines:
    """What was put into one file: the lines, and the one piece of text that they are in."""

    lines: tuple[str, ...] = ()
    piece: str = ""


def add(content: bytes, lines: Sequence[str], before: PutLines) -> tuple[bytes, PutLines]:
    """The content with the lines that it lacks, at its end, in its own line ends."""
    text = _text(content)
    there = {line.strip() for line in text.splitlines()}
    there |= {f"/{line}" for line in there if not line.startswith("/")}
    missing = [line for line in lines if line not in there]
    if not missing:
        return content, before
    newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    joint = "" if not text or text.endswith("\n") else newline
    piece = joint + newline.join([*missing, ""])
    put = PutLines((*before.lines, *missing), before.piece + piece)
    return _bytes(text + piece), put


def take_out(content: bytes, put: PutLines) -> bytes:
    """The content without them: byte for byte as before if nobody touched the piece."""
    text = _text(content)
    if put.piece and text.count(put.piece) == 1:
        start = text.index(put.piece)
        before, after = text[:start], text[start + len(put.piece) :]
        joint = put.piece[: len(put.piece) - len(put.piece.lstrip("\r\n"))]
        return _bytes(before + (joint if after else "") + after)
    kept = [line for line in text.splitlines(keepends=True) if line.strip() not in put.lines]
    return _bytes("".join(kept))


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
