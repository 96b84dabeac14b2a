"""Which hooks a project's and a user's settings run, ours and others'. Reads, and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.setup.init import init_mark as mark
from lifecycle.setup.init.hook_table import NAMES, PERMISSIONS, run_name
from lifecycle.setup.init.init_mark import MARK, SETTINGS, InitMark
from lifecycle.setup.init.jsonc import JsoncError, parse
from lifecycle.storage import store

PLUGIN = "lifecycle"

_BROAD = {"Bash", "Bash(*)", "Bash(lifecycle:*)", "Bash(lifecycle *)"}
"""Rules of the client's that cover all of ours."""


@dataclass(frozen=True, slots=True)
class Wired:
    """One hook entry.

    Attributes:
        file: the settings file that it stands in.
        event: the client's name of the event.
        matcher: which of the event's kinds it hears; empty for all.
        command: what is run, without its arguments.
        timeout: seconds, or None for the client's default.
        is_rewake: its exit 2 wakes an idle session.
        name: the script of ours that it runs, in whatever way; empty for somebody else's.
    """

    file: Path
    event: str
    matcher: str
    command: str
    timeout: float | None
    is_rewake: bool
    name: str

    @property
    def is_ours(self) -> bool:
        """True if it runs one of our scripts."""
        return bool(self.name)

    @property
    def is_there(self) -> bool:
        """False if it names a script by an absolute path that is not there (any more)."""
        path = Path(self.command)
        return not path.is_absolute() or path.is_file()


@dataclass(frozen=True, slots=True)
class Installed:
    """What is wired for one project.

    Attributes:
        wired: every hook entry of the settings files, ours and others'.
        plugins: (settings file, name) of each enabled plugin of ours.
        mark: what `init` left, or None.
        problems: sentences on files that could not be read.
    """

    wired: tuple[Wired, ...]
    plugins: tuple[tuple[str, str], ...]
    mark: InitMark | None
    problems: tuple[str, ...]

    def of(self, name: str) -> tuple[Wired, ...]:
        """The entries that run one of our scripts."""
        return tuple(one for one in self.wired if one.name == name)

    @property
    def missing(self) -> tuple[str, ...]:
        """Our scripts that no settings file runs; the plugin, if enabled, runs them all."""
        return tuple(name for name in NAMES if not self.of(name))

    @property
    def doubled(self) -> tuple[str, ...]:
        """Our scripts that several entries run at one event."""
        heard = {name: [one.event for one in self.of(name)] for name in NAMES}
        return tuple(name for name, events in heard.items() if len(set(events)) < len(events))


def installed(root: Path, environment: Mapping[str, str]) -> Installed:
    """Read the settings of the project and of the user, and the mark.

    A file that cannot be read is a problem, not an error: the others are read all the same.
    """
    problems: list[str] = []
    wired: list[Wired] = []
    for path in settings_files(root, environment):
        data = _settings(path, problems)
        wired += _entries(path, data)
    left = None
    try:
        found = store.read(root / MARK)
        left = mark.parse(found.content) if found is not None else None
    except (Refused, OSError) as error:
        problems.append(str(error))
    enabled = tuple(plugins(root, environment))
    return Installed(tuple(wired), enabled, left, tuple(problems))


def allows_all(root: Path, environment: Mapping[str, str]) -> bool:
    """True if the client's settings let the agent run unasked what it runs in the normal course."""
    rules: set[str] = set()
    for path in settings_files(root, environment):
        permissions = _settings(path, []).get("permissions")
        allow = permissions.get("allow") if isinstance(permissions, dict) else None
        rules |= (
            {rule for rule in allow if isinstance(rule, str)} if isinstance(allow, list) else set()
        )
    return bool(rules & _BROAD) or rules >= set(PERMISSIONS)


def plugins(root: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The settings file and the name of each plugin of ours that is enabled here.

    Later files win, as in the client: the user's, the project's, the person's own.
    """
    enabled: dict[str, tuple[str, bool]] = {}
    for path in settings_files(root, environment):
        names = _settings(path, []).get("enabledPlugins")
        for name, value in names.items() if isinstance(names, dict) else ():
            if name.partition("@")[0] == PLUGIN:
                enabled[name] = (path.name, value is True)
    yield from ((where, name) for name, (where, is_on) in enabled.items() if is_on)


def settings_files(root: Path, environment: Mapping[str, str]) -> list[Path]:
    """The user's settings, the project's, and the person's own for the project."""
    user = environment.get("CLAUDE_CONFIG_DIR") or environment.get("HOME", "")
    folder = Path(user) if environment.get("CLAUDE_CONFIG_DIR") else Path(user) / ".claude"
    users = [folder / "settings.json"] if user else []
    return [*users, *(root / SETTINGS[mode] for mode in (mark.SHARED, mark.LOCAL))]


def _settings(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        found = store.read(path)
        node = parse(found.content.decode("utf-8")) if found is not None else None
    except (OSError, UnicodeDecodeError, JsoncError) as error:
        problems.append(f"{path} cannot be read ({error}).")
        return {}
    return node.value if node is not None and isinstance(node.value, dict) else {}


def _entries(path: Path, data: Mapping[str, Any]) -> Iterator[Wired]:
    hooks = data.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            entries = group.get("hooks") if isinstance(group, dict) else None
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict):
                    yield _entry(path, event, str(group.get("matcher") or ""), entry)


def _entry(path: Path, event: str, matcher: str, entry: Mapping[str, Any]) -> Wired:
    timeout = entry.get("timeout")
    is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    return Wired(
        path,
        event,
        matcher,
        str(entry.get("command") or ""),
        float(timeout) if is_number and timeout is not None else None,
        entry.get("asyncRewake") is True,
        run_name(entry) or "",
    )
