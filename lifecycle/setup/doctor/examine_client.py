"""What Claude Code's settings say here: hook entries, the plugin, variables.

Three files count, the user's and two of the project's, and the client runs the hooks of all of them.
Source: Claude Code's settings reference, https://code.claude.com/docs/en/settings.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.setup.init import found_hooks as found
from lifecycle.setup.init import init_mark as mark
from lifecycle.setup.init.hook_table import own_name, run_name
from lifecycle.setup.init.init_mark import MARK, InitMark
from lifecycle.setup.init.jsonc import JsoncError, parse
from lifecycle.storage import store


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """One settings file; `problem` says why it cannot be read, and `data` is empty then."""

    path: Path
    shown: str
    data: Mapping[str, Any]
    problem: str = ""

    @property
    def variables(self) -> Mapping[str, Any]:
        """The environment that this file gives to sessions."""
        found = self.data.get("env")
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class HookEntry:
    """One hook entry that runs a script of ours.

    Attributes:
        file: where it stands.
        event, matcher: what it hears.
        name: the script.
        hook: the entry as it is written.
        script: the script's path, or None if the entry does not name one.
        is_inits: `lifecycle init` put it there, and so can put it right.
    """

    file: ClientSettings
    event: str
    matcher: str
    name: str
    hook: Mapping[str, Any]
    script: Path | None
    is_inits: bool

    @property
    def timeout(self) -> float | None:
        """Seconds, or None for the client's default."""
        value = self.hook.get("timeout")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return float(value) if is_number and value is not None else None

    @property
    def call(self) -> str:
        """What is run: entries of one call are one hook for the client."""
        return json.dumps([self.hook.get("command"), self.hook.get("args")])


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """All settings files, and what they amount to.

    Attributes:
        files: the user's, the project's, the person's own for the project.
        plugins: the name of each enabled plugin of ours.
        entries: hook entries that run our scripts.
        mark: what `init` left, or None.
        mark_problem: why the mark cannot be read; empty if it can, or if there is none.
    """

    files: tuple[ClientSettings, ...]
    plugins: tuple[str, ...]
    entries: tuple[HookEntry, ...]
    mark: InitMark | None
    mark_problem: str

    @classmethod
    def read(cls, root: Path, environment: Mapping[str, str]) -> ClientSetup:
        """Read them; what cannot be read is a problem of its own, not an error."""
        paths = found.settings_files(root, environment)
        files = tuple(_settings(path, root, environment) for path in dict.fromkeys(paths))
        left, problem = _mark(root)
        entries = [
            entry for file in files for entry in _entries(file, _Reader(root, environment, left))
        ]
        plugins = tuple(name for _, name in found.plugins(root, environment))
        return cls(files, plugins, tuple(entries), left, problem)

    @property
    def has_mark(self) -> bool:
        """True if the plugin's copies of the hooks are silent here."""
        return self.mark is not None or bool(self.mark_problem)

    @property
    def plugin_runs(self) -> bool:
        """True if the plugin's copies of the hooks do their work here."""
        return bool(self.plugins) and not self.has_mark

    def of(self, name: str) -> tuple[HookEntry, ...]:
        """The entries that run one script."""
        return tuple(entry for entry in self.entries if entry.name == name)


def shown(path: Path, root: Path, environment: Mapping[str, str]) -> str:
    """A path as a person would write it."""
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    home = environment.get("HOME", "")
    return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)


def _settings(path: Path, root: Path, environment: Mapping[str, str]) -> ClientSettings:
    name = shown(path, root, environment)
    try:
        content = store.read(path)
        node = parse(content.content.decode("utf-8")) if content is not None else None
    except OSError as error:
        return ClientSettings(path, name, {}, error.strerror or "it cannot be opened")
    except UnicodeDecodeError:
        return ClientSettings(path, name, {}, "it is no UTF-8 text")
    except JsoncError as error:
        return ClientSettings(path, name, {}, str(error))
    if node is not None and not isinstance(node.value, dict):
        return ClientSettings(path, name, {}, "it holds no object")
    return ClientSettings(path, name, node.value if node is not None else {})


def _mark(root: Path) -> tuple[InitMark | None, str]:
    try:
        content = store.read(root / MARK)
        return (mark.parse(content.content) if content is not None else None), ""
    except Refused:
        return None, "it is none of ours, or was broken by hand"
    except OSError as error:
        return None, error.strerror or "it cannot be opened"


@dataclass(frozen=True, slots=True)
class _Reader:
    """What an entry's command is read with."""

    root: Path
    environment: Mapping[str, str]
    mark: InitMark | None

    def script(self, words: list[str], name: str) -> Path | None:
        """The path of our script among the words of a command, if it can be told."""
        places = {"CLAUDE_PROJECT_DIR": str(self.root), "HOME": self.environment.get("HOME", "")}
        for word in words:
            if not word.endswith(f"/{name}"):
                continue
            path = word
            for variable, value in places.items():
                path = path.replace(f"${{{variable}}}", value).replace(f"${variable}", value)
            if path.startswith("~/"):
                path = places["HOME"] + path[1:]
            return Path(path) if Path(path).is_absolute() and "$" not in path else None
        return None

    def is_inits(self, event: str, hook: object) -> bool:
        """True if `init` takes this entry for its own."""
        if self.mark is not None:
            return self.mark.settings.own_name(event, hook) is not None
        return own_name(hook) is not None


def _entries(file: ClientSettings, reader: _Reader) -> Iterator[HookEntry]:
    hooks = file.data.get("hooks")
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            listed = group.get("hooks") if isinstance(group, dict) else None
            for hook in listed if isinstance(listed, list) else ():
                words = _words(hook)
                name = run_name({"command": " ".join(words)})
                if name is not None:
                    script, is_inits = reader.script(words, name), reader.is_inits(event, hook)
                    matcher = str(group.get("matcher") or "")
                    yield HookEntry(file, event, matcher, name, hook, script, is_inits)


def _words(hook: object) -> list[str]:
    """An entry's command line in words."""
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(hook, dict) or not isinstance(command, str):
        return []
    arguments = hook.get("args")
    if isinstance(arguments, list):  # started without a shell, so the command is one word
        return [command, *map(str, arguments)]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()
