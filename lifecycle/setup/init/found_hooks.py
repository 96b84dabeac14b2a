"""Reads Claude Code's settings of a worktree: hook entries, our plugin, permissions, variables.

Three files count, the user's and two of the project's, and the client runs the hooks of all of them,
unless a file of the machine's administrator, which wins over them, says otherwise.
Source: Claude Code's settings reference, https://code.claude.com/docs/en/settings.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.setup.init import hook_table, init_mark
from lifecycle.setup.init.hook_table import PERMISSIONS, WIRES, Wire, own_name, run_name
from lifecycle.setup.init.jsonc import JsoncError, Node, at, parse
from lifecycle.setup.init.supplies import AGENTS, COMMANDS, SKILLS
from lifecycle.storage import store
from lifecycle.storage.regular_files import main_worktree

PLUGIN = "lifecycle"

POLICIES = Path(
    "/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code"
)
"""The folder with the settings of the machine's administrator."""

MANAGED, STRICT = "allowManagedHooksOnly", "strictPluginOnlyCustomization"
"""What an administrator says to let only own hooks run, or besides those only the hooks of plugins."""

ONLY_RULES = "allowManagedPermissionRulesOnly"
"""What an administrator says to make the client ignore the permission rules of all other files."""

_BROAD = {"Bash", "Bash(*)", "Bash(lifecycle:*)", "Bash(lifecycle *)"}
"""The client's permissions that cover all of ours."""


def _denies(rule: str) -> bool:
    """True if a rule of the client covers one of our commands that an agent runs."""
    begin = rule.rstrip(":*) ")
    is_ours = any(known.startswith(begin) for known in hook_table.EVER_PUT)
    return rule in _BROAD or (is_ours and begin.startswith("Bash(lifecycle"))


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """One settings file; `root` is None if it is empty, or cannot be read, which `problem` explains."""

    path: Path
    shown: str
    root: Node | None = None
    problem: str = ""

    def value(self, *route: str) -> Any:
        """The value to which these names lead; None if there is none."""
        return at(self.root, *route).value

    @property
    def denied(self) -> list[str]:
        """Rules by which the client refuses the agent commands of `init`'s permissions, despite those.

        A person's own commands (`close`, `takeover`) may be denied to the agent.
        """
        return [rule for rule in self.rules("deny") if _denies(rule)]

    def rules(self, kind: str) -> list[str]:
        """The client's rules for commands: by "allow" it asks nobody, by "deny" it refuses them."""
        return [str(rule.value) for rule in at(self.root, "permissions", kind).items]


@dataclass(frozen=True, slots=True)
class HookEntry:
    """One hook entry that runs a script of ours.

    Attributes:
        file: the settings file that has it.
        event, matcher: when the client runs it.
        name: the script.
        hook: the entry as written.
    """

    file: ClientSettings
    event: str
    matcher: str
    name: str
    hook: Mapping[str, Any]

    @property
    def script(self) -> Path | None:
        """The script's path if the entry starts it by that alone, else None."""
        path = Path(str(self.hook.get("command")))
        return path if path.is_absolute() and path.name == self.name else None

    @property
    def is_inits(self) -> bool:
        """True if `lifecycle init` added it, and so can correct it."""
        return own_name(self.hook) is not None

    @property
    def call(self) -> str:
        """Command and arguments as text: of entries with the same ones the client runs one."""
        return json.dumps([self.hook.get("command"), self.hook.get("args")])

    @property
    def wire(self) -> Wire | None:
        """The wire of its script at its event; None if the script has no work there."""
        return hook_table.wire_of(self.event, self.name)

    @property
    def changed(self) -> list[str]:
        """What in an entry of `init` is not as that writes it; none in others' entries."""
        if self.wire is None or not self.is_inits:
            return []
        wanted = hook_table.entry(self.wire, lambda _: {})
        own = {key: value for key, value in self.hook.items() if key not in ("command", "args")}
        changed = [key for key in {**wanted, **own} if own.get(key) != wanted.get(key)]
        return [*changed, *(["matcher"] if self.matcher != self.wire.matcher else [])]

    @property
    def is_there(self) -> bool:
        """False if it starts a script by a path that does not exist (any more)."""
        return self.script is None or is_file(self.script)


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """All settings files, with the plugins, the hook entries and the mark found in them.

    Attributes:
        files: the user's, the project's, the person's own for the project (the main worktree's first).
        policies: those of the machine's administrator.
        plugins: the name of each enabled plugin of ours, and the settings file that enables it.
        entries: hook entries that run our scripts.
        mark: the mark of `init`, or None.
        mark_problem: why the mark cannot be read; "" if it can, or if there is none.
    """

    files: tuple[ClientSettings, ...]
    policies: tuple[ClientSettings, ...]
    plugins: Mapping[str, str]
    entries: tuple[HookEntry, ...]
    mark: init_mark.InitMark | None
    mark_problem: str

    @classmethod
    def read(cls, root: Path, environment: Mapping[str, str]) -> ClientSetup:
        """Read everything; a file that cannot be read has a `problem`, and nothing is raised."""
        # Source: https://code.claude.com/docs/en/settings#settings-files
        parts = sorted(POLICIES.glob("managed-settings.d/*.json"))
        ruled = (POLICIES / "managed-settings.json", *parts)
        policies = tuple(_settings(path, root, environment) for path in ruled)
        files = _files(root, environment)
        mark, problem = found_mark(root)
        by_file = {file.path: list(_entries(file)) for file in (*files, *policies)}
        if main := main_worktree(str(root)):  # the client runs equal entries once
            path, own = _own_file(main), by_file[_own_file(root)]
            calls = {(entry.event, entry.call) for entry in own}
            by_file[path] = [e for e in by_file[path] if (e.event, e.call) not in calls]
        entries = tuple(entry for entries in by_file.values() for entry in entries)
        return cls(files, policies, _enabled((*files, *policies)), entries, mark, problem)

    @property
    def plugin_runs(self) -> bool:
        """True if the plugin is enabled and its hooks are active: the mark of `init` silences them."""
        return bool(self.plugins) and self.mark is None and not self.mark_problem

    @property
    def plugins_off(self) -> list[str]:
        """The names of plugins of ours that are in the settings but not enabled."""
        known = [n for file in self.every_file for n in at(file.root, "enabledPlugins").members]
        return [n for n in known if n.partition("@")[0] == PLUGIN and n not in self.plugins]

    @property
    def every_file(self) -> tuple[ClientSettings, ...]:
        """All settings files; later ones win."""
        return (*self.files, *self.policies)

    @property
    def is_plugin_managed(self) -> bool:
        """True if the administrator enables our plugin."""
        return bool(_enabled(self.policies))

    @property
    def barred(self) -> tuple[ClientSettings, str] | None:
        """The administrator's file that lets none of our hooks run, with its key; None if none does.

        Hooks and plugins that the administrator sets up run in spite of both keys, as seen with the
        client's version 2.1.329.
        """
        is_running = self.is_plugin_managed and self.plugin_runs
        if is_running or any(entry.file in self.policies for entry in self.entries):
            return None
        for file in self.policies:
            strict = file.value(STRICT)
            is_strict = strict is True or (isinstance(strict, list) and "hooks" in strict)
            if file.value(MANAGED) is True:
                return file, MANAGED
            if is_strict and not self.plugin_runs:
                return file, STRICT
        return None

    @property
    def only_rules(self) -> ClientSettings | None:
        """The administrator's file that lets only the administrator's permission rules count; or None."""
        return next((file for file in self.policies if file.value(ONLY_RULES) is True), None)

    @property
    def ruling(self) -> tuple[ClientSettings, ...]:
        """The settings files whose permission rules count."""
        return self.policies if self.only_rules else self.every_file

    @property
    def missing(self) -> list[Wire]:
        """The wires that no settings file has; an active plugin has all of them."""
        wired = [entry.wire for entry in self.entries]
        return [wire for wire in WIRES if wire not in wired]

    @property
    def doubled(self) -> list[tuple[Wire, list[HookEntry]]]:
        """Scripts that several different entries run at one event, with these entries."""
        wired = [(wire, [entry for entry in self.entries if entry.wire == wire]) for wire in WIRES]
        return [pair for pair in wired if len({entry.call for entry in pair[1]}) > 1]

    def allows(self, wanted: Iterable[str] = PERMISSIONS) -> bool:
        """True if the settings have all of these permissions, or a broader one."""
        rules = [rule for file in self.ruling for rule in file.rules("allow")]
        return any(rule in rules for rule in _BROAD) or all(rule in rules for rule in wanted)

    def runs(self, name: str) -> bool:
        """True if the plugin is active, or an entry runs this script."""
        return self.plugin_runs or any(entry.name == name for entry in self.entries)


def is_file(path: Path) -> bool:
    """True if a file is there; False, and no error as pathlib's, in a folder closed to this user."""
    return os.path.isfile(path)  # noqa: PTH113


def shown(path: Path, root: Path, environment: Mapping[str, str]) -> str:
    """A path for people: from the worktree's root, else from `~`, else absolute."""
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    home = environment.get("HOME", "")
    return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)


def client_folder(environment: Mapping[str, str]) -> Path | None:
    """The person's own folder of the client, existing or not; None if the environment names no home."""
    home = environment.get("HOME")
    folder = environment.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    return Path(folder) if folder else None


def places_of(name: str, root: Path, environment: Mapping[str, str]) -> list[Path]:
    """The paths at which the client looks for a supplied file: first the project's own, then all others.

    A command may be a skill as well, and the person's own folder has commands, agents and skills, too.
    """
    own, names = client_folder(environment), [name]
    if name.startswith(COMMANDS):
        names.append(f"{SKILLS}{Path(name).stem}/SKILL.md")
    places = [root / file for file in names]
    if own is not None and name.startswith((COMMANDS, AGENTS, SKILLS)):
        places += [own / file.removeprefix(".claude/") for file in names]
    return places


def _enabled(files: Iterable[ClientSettings]) -> dict[str, str]:
    """The name and the settings file of each enabled plugin of ours; later files win, as in the client."""
    enabled: dict[str, tuple[str, bool]] = {}
    for file in files:
        for name, node in at(file.root, "enabledPlugins").members.items():
            if name.partition("@")[0] == PLUGIN:
                enabled[name] = (file.path.name, node.value is True)
    return {name: where for name, (where, is_on) in enabled.items() if is_on}


def _files(root: Path, environment: Mapping[str, str]) -> tuple[ClientSettings, ...]:
    """The user's settings, the project's, and the person's own for the project.

    In a linked worktree the client (2.1.332) also reads the person's own file of the main worktree.
    """
    own, main = client_folder(environment), main_worktree(str(root))
    paths = [own / "settings.json"] if own is not None else []
    paths += [root / init_mark.SETTINGS[init_mark.SHARED]]
    paths += [_own_file(place) for place in (main, root) if place]
    return tuple(_settings(path, root, environment) for path in dict.fromkeys(paths))


def _own_file(root: Path | str) -> Path:
    return Path(root) / init_mark.SETTINGS[init_mark.LOCAL]


def _settings(path: Path, root: Path, environment: Mapping[str, str]) -> ClientSettings:
    name = shown(path, root, environment)
    try:
        content = store.read(path)
        node = parse(content.content.decode("utf-8")) if content is not None else None
    except OSError as error:
        return ClientSettings(path, name, problem=error.strerror or "it cannot be opened")
    except UnicodeDecodeError:
        return ClientSettings(path, name, problem="it is no UTF-8 text")
    except JsoncError as error:
        return ClientSettings(path, name, problem=str(error))
    problem = ""
    if node is not None and (path.is_relative_to(root) or not isinstance(node.value, dict)):
        problem = hook_table.misshapen(node.value, name)  # `init` refuses it
    return ClientSettings(path, name, None if problem else node, problem)


def found_mark(root: Path) -> tuple[init_mark.InitMark | None, str]:
    """The mark of a worktree, and why it cannot be read; None and "" if there is none."""
    try:
        content = store.read(root / init_mark.MARK)
        return (init_mark.parse(content.content) if content is not None else None), ""
    except Refused:
        return None, "it is none of ours, or was broken by hand"
    except OSError as error:
        return None, error.strerror or "it cannot be opened"


def hooks_in(root: Node | None) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Event, matcher and entry of each hook; values of another form are skipped."""
    for event, groups in at(root, "hooks").members.items():
        for group in groups.items:
            for hook in at(group, "hooks").items:
                if isinstance(hook.value, dict):
                    yield event, str(at(group, "matcher").value or ""), hook.value


def _entries(file: ClientSettings) -> Iterator[HookEntry]:
    """The entries of a file that run a script of ours."""
    for event, matcher, hook in hooks_in(file.root):
        arguments = hook.get("args")
        words = [hook.get("command"), *(arguments if isinstance(arguments, list) else ())]
        name = run_name(" ".join(map(str, words)))
        if name is not None:
            yield HookEntry(file, event, matcher, name, hook)
