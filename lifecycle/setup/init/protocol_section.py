"""Puts a section on how a workflow's state is kept into CLAUDE.md, renews it and takes it out.

It stands between two markers, at the end of the file. The mark keeps its text to the byte, so that it goes
as it came; one that somebody changed is theirs, and is kept.
"""

from __future__ import annotations

from pathlib import Path

from lifecycle.setup.init.planned_files import PutLines, as_bytes, as_text, take_out_lines

FILE = "CLAUDE.md"
TITLE = "Workflow State Protocol"

BEGIN = "<!-- lifecycle:workflow"
END = "<!-- /lifecycle:workflow -->"


def section() -> str:
    """The section, with its markers, in lines that end with a line feed."""
    return Path(__file__).with_name("supplied").joinpath("workflow_section.md").read_text("utf-8")


def put_in(content: bytes, piece: str) -> tuple[bytes | None, str]:
    """Put the section into a file's content, in the file's own line ends.

    Args:
        content: the file's content before.
        piece: what an earlier run put in; "" if none did.

    Returns:
        The content, or None if a section is there that somebody changed; and the piece to remember, ""
        where the section is not ours to take out.
    """
    text, ours = as_text(content), section()
    newline = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    whole = ours.replace("\n", newline)
    if piece and text.count(piece) == 1:
        joint = piece[: len(piece) - len(piece.lstrip("\r\n"))]
        return as_bytes(text.replace(piece, joint + whole)), joint + whole
    if BEGIN in text:
        is_same = whole in text
        return (content if is_same else None), ""
    joint = "" if not text else newline if text.endswith("\n") else newline * 2
    return as_bytes(f"{text}{joint}{whole}"), joint + whole


def take_out(content: bytes, piece: str) -> bytes | None:
    """The content without the piece, as it was before; None if it is not there as it was put in."""
    if as_text(content).count(piece) != 1:
        return None
    return take_out_lines(content, PutLines((), piece))


def is_one(piece: str) -> bool:
    """True if a text may be a section of ours: one pair of markers, and nothing outside of them."""
    text = piece.strip("\r\n")
    is_framed = text.startswith(BEGIN) and text.endswith(END)
    return is_framed and text.count(BEGIN) == text.count(END) == 1
