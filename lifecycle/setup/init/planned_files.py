"""Changes of files that are written all or none, and lines that are added to a file and taken out again."""

from __future__ import annotations

import difflib
import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import visible
from lifecycle.settings import resources, user_folder
from lifecycle.storage import store


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's content before and after; None if the file does not exist.

    Attributes:
        path: its path.
        shown: its name for people.
        before, after: its content.
        what: the change in a few words.
        is_private: it is in the user's own folder.
        is_log: a diff does not list its lines.
    """

    path: Path
    shown: str
    before: bytes | None
    after: bytes | None
    what: str = ""
    is_private: bool = False
    is_log: bool = False

    @property
    def verb(self) -> str:
        """One word for the change."""
        if self.before is None:
            return "new"
        return "deleted" if self.after is None else "changed"

    def diff(self) -> str:
        """The change as a unified diff; control characters are shown as escapes."""
        sides = (self.before, self.after)
        old, new = ("/dev/null" if content is None else self.shown for content in sides)
        if self.is_log:
            return f"--- {visible(old)}\n+++ {visible(new)}\n"
        lines = difflib.unified_diff(_lines(self.before), _lines(self.after), old, new)
        return "".join(_diff_line(line) for line in lines)


sentence: Final = resources.Sentences("setup/init/sentences.toml")


def unwritten(problem: str, way: str = "fix it") -> Refused:
    """The error for a file that stops the plan: what is wrong, and what the user should do."""
    return Refused(f"{problem}, so nothing was written anywhere; {way} and run this again.")


def digest(content: bytes) -> str:
    """The SHA-256 of a file's content, by which a file that we wrote whole is recognised."""
    return hashlib.sha256(content).hexdigest()


def _lines(content: bytes | None) -> list[str]:
    return list(io.StringIO((content or b"").decode("utf-8", "replace"), newline="\n"))


def _diff_line(line: str) -> str:
    shown = "\t".join(visible(part) for part in line.rstrip("\r\n").split("\t"))
    is_cut = not line.endswith("\n") and line[:1] in "+- "
    return f"{shown}\n" + ("\\ No newline at end of file\n" if is_cut else "")


def write_all(changes: Sequence[FileChange], seen: Mapping[Path, bytes | None]) -> None:
    """Write all changes or, if one cannot be written, none.

    Args:
        changes: the changes, in the order in which to write them.
        seen: the contents that the plan is based on, of changed and unchanged files.

    Raises:
        Refused: a file changed since the plan was made; nothing was written.
        OSError: a file cannot be written; those written before it were restored.
    """
    shown = {change.path: change.shown for change in changes}
    for path, before in seen.items():
        content = store.read(path)
        if (content.content if content else None) != before:
            raise Refused(sentence("changed-meanwhile", name=shown.get(path, path)))
    with ExitStack() as undoing:
        for change in changes:
            _write(change, change.after, undoing)
            undoing.callback(_write, change, change.before, undoing)
        undoing.pop_all()  # all are written


def _write(change: FileChange, content: bytes | None, undoing: ExitStack) -> None:
    if content is None:
        change.path.resolve().unlink(missing_ok=True)
    elif change.is_private:
        user_folder.write(change.path, content)
    else:
        path = change.path.resolve()  # through a symbolic link, which remains one
        for folder in reversed([path.parent, *path.parent.parents]):
            if not folder.exists():
                folder.mkdir()
                undoing.callback(folder.rmdir)
        # A new script may be executed by everybody who may read it.
        store.write(path, content, 0o777 if change.path.suffix == ".sh" else 0o666)


def add_lines(
    content: bytes, lines: Sequence[str], before: Sequence[str]
) -> tuple[bytes, tuple[str, ...]]:
    """Add the lines that the content lacks, at its end with its own line ends; also returns all additions.

    Additions are the added pieces of text, one for each line. Those of `before` that were removed since, or
    never written, are not included.
    """
    text = as_text(content)
    existing = {line.strip() for line in text.splitlines()}
    left = tuple(piece for piece in before if piece.strip() in existing)
    existing |= {f"/{line}" for line in existing if not line.startswith("/")}
    newline = newline_of(text)
    added = [f"{line}{newline}" for line in lines if line not in existing]
    if added and text and not text.endswith("\n"):
        added[0] = newline + added[0]
    return as_bytes(text + "".join(added)), (*left, *added)


def take_out_lines(content: bytes, pieces: Sequence[str]) -> bytes:
    """The content without these additions; byte for byte as before if they are as they were added."""
    text, whole = as_text(content), "".join(pieces)
    if whole and text.count(whole) == 1:
        before, _, after = text.partition(whole)
        return as_bytes(before + (joint_of(whole) if after else "") + after)
    lines = {piece.strip() for piece in pieces}
    kept = [line for line in text.splitlines(keepends=True) if line.strip() not in lines]
    return as_bytes("".join(kept))


def newline_of(text: str) -> str:
    """A text's line end, by its first line."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def joint_of(piece: str) -> str:
    """The line ends that join a piece of text to the text before it."""
    return piece[: len(piece) - len(piece.lstrip("\r\n"))]


def as_text(content: bytes) -> str:
    """Decode any bytes to text that `as_bytes` turns back into the same bytes."""
    return content.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The bytes that `as_text` decoded."""
    return text.encode("utf-8", "surrogateescape")
