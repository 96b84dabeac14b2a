"""Reads and writes the mark `.claude/lifecycle.json`: what `init` added to a project, for its removal.

It also tells the plugin's copies of the hooks to do nothing here, so that nothing runs twice. A shared
mark is committed with the settings; so its content may be a stranger's, and removal believes it only if
the text itself confirms it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, object_in, replace
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.setup.init import hook_table
from lifecycle.setup.init.planned_files import sentence
from lifecycle.setup.init.supplies import is_one, is_section


@dataclass(frozen=True, slots=True)
class PutPiece:
    """A changed piece: the text before and after."""

    before: str
    after: str


def undone(text: str, pieces: Sequence[PutPiece]) -> str | None:
    """The text as it was before these changes; None if one of them is not there, or more than once."""
    for piece in reversed(pieces):
        if text.count(piece.after) != 1:
            return None
        text = text.replace(piece.after, piece.before)
    return text


@dataclass(frozen=True, slots=True)
class Put:
    """The additions to one settings file, or those that are wanted beside the hooks.

    Attributes:
        permissions: the rules that were not there before.
        containers: the dotted route of each object and array that was not there before; "" is the whole.
        pieces: each changed piece, if only they can restore the bytes.
        variables: the variables for sessions that were not there before.
    """

    permissions: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    pieces: tuple[PutPiece, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


MARK = ".claude/lifecycle.json"
PERMITS = ".claude/lifecycle-permissions.json"
"""The mark of `init --permissions`; it does not silence the plugin's hooks."""
LOCAL = "local"
SHARED = "shared"
SETTINGS = {LOCAL: ".claude/settings.local.json", SHARED: ".claude/settings.json"}
IGNORE = ".gitignore"
EXCLUDE = "info/exclude"

_VERSION = 1


@dataclass(slots=True)
class InitMark:
    """The additions of `init` to one project; a plan notes in it what it will add.

    Attributes:
        mode: for one person ("local") or for everybody in the repository ("shared").
        settings: the additions to the settings file of that mode.
        lines: the pieces added to files of lines, by name: `.gitignore`, `info/exclude`.
        created: files and folders that did not exist before, by name.
        sha256: digests of files that were written whole, by name.
        parts: what was added beside the way from claim to close, of `hook_table.PARTS`.
        switched: the changes in `.lifecycle.toml`, if it existed before.
        section: the text that was added to CLAUDE.md, to the byte; "" if none was.
    """

    mode: str
    settings: Put = field(default_factory=Put)
    lines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    created: tuple[str, ...] = ()
    sha256: dict[str, str] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    switched: tuple[PutPiece, ...] = ()
    section: str = ""

    def note_created(self, name: str, *, is_new: bool) -> None:
        """Add a file or folder to `created` if it is new."""
        if is_new and name not in self.created:
            self.created += (name,)


def render(mark: InitMark) -> bytes:
    """The mark as the bytes of its file."""
    about = "Written by `lifecycle init`; `lifecycle init --remove` takes out what is listed here."
    data = {"about": about, "version": _VERSION, **asdict(mark)}
    return json.dumps(data, indent=2).encode("ascii") + b"\n"


def parse(content: bytes, name: str = MARK) -> InitMark:
    """The mark in the content of its file; `name` is for sentences.

    Raises:
        Refused: it is not a mark of ours, or was broken by hand.
    """
    data = object_in(content, _VERSION)
    mark: InitMark | None = from_json(InitMark, data if "parts" in data else _renewed(data))
    if mark is None or not _is_ours(mark):
        raise Refused(sentence("unreadable-mark", name=name))
    put = mark.settings
    # Nobody else's rule is removed, whatever a stranger's mark says.
    permissions = tuple(rule for rule in put.permissions if rule in hook_table.EVER_PUT)
    variables = {n: value for n, value in put.variables.items() if n == hook_table.CAP}
    mark.settings = replace(put, permissions=permissions, variables=variables)
    return mark


@dataclass(frozen=True, slots=True)
class _FormerLines:
    """The additions to a file of lines as earlier marks have them: one text."""

    piece: str


def _renewed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a mark of an earlier lifecycle, in the form of today's."""
    lines = from_json(dict[str, _FormerLines], data.get("lines"))
    pieces = lines and {name: re.findall(r"\s*.+\n", put.piece) for name, put in lines.items()}
    return {**data, "lines": pieces, "parts": [*filter(data.get, hook_table.PARTS)]}


def _is_ours(mark: InitMark) -> bool:
    """True if it names only what `init` may write, replace or remove."""
    is_written = mark.lines.keys() <= {IGNORE, EXCLUDE} and mark.mode in SETTINGS
    is_known = hook_table.PARTS.keys() >= {*mark.parts}
    is_whole = all(map(is_one, mark.sha256.keys() - {CONFIG_FILE}))
    is_taken_out = not mark.section or is_section(mark.section)
    return is_written and is_known and is_whole and is_taken_out
