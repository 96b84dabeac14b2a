"""Reads and writes the mark `.claude/lifecycle.json`: what `init` put into a project, to take it out by.

It also tells the plugin's copies of the hooks to stay quiet here, so that nothing runs twice. Shared,
it is committed with the settings; so what it says may be a stranger's word, and taking out believes
it only where the text itself bears it out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, object_in, replace
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.setup.init import hook_table
from lifecycle.setup.init.planned_files import PutLines, sentence
from lifecycle.setup.init.supplies import is_one, is_section

Route = tuple[str, ...]
ENV = ("env",)


@dataclass(frozen=True, slots=True)
class Extra:
    """What is put into settings beside the hooks: permissions, and variables for sessions."""

    permissions: tuple[str, ...] = hook_table.PERMISSIONS
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PutHook:
    """An entry that does not show by itself that it is ours."""

    event: str
    command: str


@dataclass(frozen=True, slots=True)
class PutPiece:
    """A changed place: the text before and after."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Put:
    """What was put into one settings file.

    Attributes:
        hooks: entries that do not show by themselves that they are ours.
        permissions: the rules that were not there before.
        containers: the dotted route of each object and array that was not there before; "" is the whole.
        pieces: each changed place, where only they restore the bytes.
        variables: those that were not there before.
    """

    hooks: tuple[PutHook, ...] = ()
    permissions: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    pieces: tuple[PutPiece, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def own_name(self, event: str, hook: object) -> str | None:
        """The script that an entry runs, if the entry is ours."""
        commands = [own.command for own in self.hooks if own.event == event]
        return hook_table.own_name(hook, commands)


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
    """What `init` put into one project; a plan notes in it what it will put in.

    Attributes:
        mode: for one person ("local") or for everybody in the repository ("shared").
        settings: into the settings file of that mode.
        lines: into files of lines, by name: `.gitignore`, `info/exclude`.
        created: files and folders that were not there before, by name.
        sha256: of files that were written whole, by name.
        stages: the staged workflow was put in as well.
        switched: into `.lifecycle.toml`, if it was there before.
        run: what autonomous runs need was put in as well.
        workflow: what workflows need was put in as well.
        section: what was put into CLAUDE.md, to the byte; "" if nothing was.
    """

    mode: str
    settings: Put = field(default_factory=Put)
    lines: dict[str, PutLines] = field(default_factory=dict)
    created: tuple[str, ...] = ()
    sha256: dict[str, str] = field(default_factory=dict)
    stages: bool = False
    switched: tuple[PutPiece, ...] = ()
    run: bool = False
    workflow: bool = False
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


def parse(content: bytes) -> InitMark:
    """The mark in the content of its file.

    Raises:
        Refused: it is none of ours, or was broken by hand.
    """
    mark: InitMark | None = from_json(InitMark, object_in(content, _VERSION))
    if mark is None or not _is_ours(mark):
        raise Refused(sentence("unreadable-mark", name=MARK))
    put = mark.settings
    # Nobody else's rule is taken out, whatever a stranger's mark says.
    mark.settings = replace(
        put,
        permissions=tuple(rule for rule in put.permissions if rule in hook_table.EVER_PUT),
        variables={n: value for n, value in put.variables.items() if n == hook_table.CAP},
    )
    return mark


def _is_ours(mark: InitMark) -> bool:
    """True if it names nothing that is never written, replaced or taken out."""
    is_written = mark.lines.keys() <= {IGNORE, EXCLUDE} and mark.mode in SETTINGS
    is_whole = all(map(is_one, mark.sha256.keys() - {CONFIG_FILE}))
    is_taken_out = not mark.section or is_section(mark.section)
    return is_written and is_whole and is_taken_out
