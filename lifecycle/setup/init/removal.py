"""Drafts the removal of what `init` added: by its mark or, if that is gone, what is certainly its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.figures import count
from lifecycle.settings import config, resources, user_folder
from lifecycle.setup.init import client_settings, hook_table, init_mark, supplies
from lifecycle.setup.init.found_hooks import ClientSettings, ClientSetup
from lifecycle.setup.init.hook_table import WIRES
from lifecycle.setup.init.init_mark import LOCAL, MARK, PERMITS, SETTINGS, SHARED, InitMark, Put
from lifecycle.setup.init.jsonc import NOTHING, at
from lifecycle.setup.init.planned_files import as_text, digest, newline_of
from lifecycle.setup.init.project_files import FOLDER, FOLDERS, LOG_FILE, ProjectFiles, decoded
from lifecycle.setup.init.stages_switch import switch_off
from lifecycle.setup.init.status_line import KEY, LINE_MARK, own_status_line, take_out
from lifecycle.setup.init.supplies import SECTION_PAGE, Supply
from lifecycle.storage import store

_ENTRIES_GO = "lifecycle's entries go"


@dataclass(frozen=True, slots=True)
class _CertainPut(Put):
    """Additions without a mark: an entry that a person may have written is not ours."""

    def own_name(self, event: str, hook: object) -> str | None:
        """The script that an entry runs, if nobody writes such an entry by hand."""
        is_inits = isinstance(hook, dict) and ("args" in hook or hook_table.is_signed(hook))
        return Put.own_name(self, event, hook) if is_inits else None


class Removal(ProjectFiles):
    """Drafts the removal of each part, and knows which hook entries are `init`'s without a mark."""

    @cached_property
    def client(self) -> ClientSetup:
        """The client's settings as they are before the plan."""
        return ClientSetup.read(self.root, self.environment)

    def settings_of(self, name: str) -> ClientSettings:
        """One of the worktree's settings files, as it is before the plan."""
        (file,) = [file for file in self.client.files if file.path == self.root / name]
        return file

    def removed(self) -> tuple[Path, ...]:
        """Draft the removal of everything that was added; returns folders to remove if they are empty."""
        is_marked = self.mark() is not None
        name = MARK if is_marked else PERMITS
        before, line = self.mark(name), self._without_line()
        if not is_marked:
            before = self._recognized(before)
        created = [file for mark in (before, line) if mark is not None for file in mark.created]
        folders: tuple[Path, ...] = ()
        if before is not None:
            before.created = tuple(created)  # what came with the status line is ours, too
            folders = self._without(before, name)
        if not is_marked and (unsure := ", ".join(self._unsure())):
            self.note("kept-unsure", names=unsure)
        if before is None and line is None and not self.notes:
            self.note("nothing-in")
        return (*folders, *([self.root / FOLDER] if FOLDER in created else []))

    def _without_line(self) -> InitMark | None:
        """Draft the status line's removal; returns its mark, or None if it was not added."""
        line = self.mark(LINE_MARK)
        if line is None:
            if own_status_line(self.settings_of(SETTINGS[LOCAL]).object(KEY)) is not None:
                self.note("left-line", name=SETTINGS[LOCAL])
            return None
        self.unwired(line, "the status line goes", take_out)
        self.unlisted(line, line.lines)
        self.draft.write(LINE_MARK, None, "the mark")
        return line

    def _without(self, before: InitMark, name: str) -> tuple[Path, ...]:
        """Draft the removal of what `init` put in; returns folders to remove if they are empty."""
        self.unwired(before, _ENTRIES_GO)
        self.note_left(SETTINGS[before.mode])
        self.unlisted(before, before.lines)
        self.left_listed()
        folders = self._unstaged(before)
        self._unsectioned(before)
        if config.CONFIG_FILE in before.sha256:
            self._take(before, config.CONFIG_FILE)
        self.draft.write(name, None, "the mark")
        if (self.root / store.CLAIM_FILE).exists():
            self.note("claim-left", name=store.CLAIM_FILE)
        return folders

    def _unsectioned(self, before: InitMark) -> None:
        """Remove the section from CLAUDE.md, unless somebody changed it."""
        name = supplies.SECTION_PAGE
        content = self.draft.read(name) if before.section else None
        if content is None:
            return
        after = supplies.without_section(content, before.section)
        if after is None:
            self.note("changed-section", name=name)
            return
        is_gone = not after and name in before.created
        self.draft.write(name, None if is_gone else after, f'without "{supplies.SECTION_TITLE}"')

    def _unstaged(self, before: InitMark) -> tuple[Path, ...]:
        """Remove files that were added and not changed since; returns folders to remove if empty."""
        for name in before.sha256:
            if supplies.is_one(name):
                self._take(before, name)
        if before.switched:
            self._switched_off(before)
        if LOG_FILE in before.created:
            self._unlogged()
        return tuple(self.root / name for name in FOLDERS if name in before.created)

    def _take(self, before: InitMark, name: str) -> None:
        """Remove a file that was written whole, unless somebody changed it."""
        content = self.draft.read(name)
        if content is None:
            return
        # A stranger's mark may name a file that has our name but is their own.
        is_ours = supplies.WRITER.encode() in content or name == config.CONFIG_FILE
        if is_ours and digest(content) == before.sha256[name]:
            self.draft.write(name, None, "as it was written")
        else:
            self.note("changed-file", name=name)

    def _unlogged(self) -> None:
        """Delete the workflow's log and its two older ones: nothing keeps them out of git any more."""
        for name in (LOG_FILE, *(f"{LOG_FILE}.{number}" for number in (1, 2))):
            path = self.root / name
            if path.is_file() and not path.is_symlink():
                self.draft.write(name, None, "the workflow's log", is_log=True)

    def _switched_off(self, before: InitMark) -> None:
        name = config.CONFIG_FILE
        content = self.draft.read(name)
        if content is None:
            return
        try:
            text = switch_off(content.decode(), name, before.switched)
        except UnicodeDecodeError:
            text = None
        if text is None:
            self.note("changed-config", name=name)
            return
        self.draft.write(name, text.encode(), "the staged workflow is switched off")

    def _recognized(self, permits: InitMark | None) -> InitMark | None:
        """A mark of what is ours for certain; None if nothing is.

        Args:
            permits: the mark of permissions alone, to which that is added.
        """
        mark, certain = permits or InitMark(LOCAL), self.unnamed(_CertainPut())
        events = {mode: self._events(mode, certain) for mode in SETTINGS}
        put, ways = mark.settings, {mode: _containers(events[mode]) for mode in SETTINGS}
        if events[SHARED]:
            everybodys = replace(certain, containers=ways[SHARED])
            self.unwired(InitMark(SHARED, everybodys), _ENTRIES_GO)
        mark.settings = replace(
            certain,
            permissions=put.permissions,
            containers=(*put.containers, *ways[LOCAL]),
            pieces=put.pieces,
            variables=put.variables,
        )
        for file in self._supplies(mark):
            content, text = self._content(file.name), file.text.encode()
            is_signed = supplies.WRITER.encode() in content and file.name != config.CONFIG_FILE
            if content == text or is_signed:
                mark.sha256[file.name] = digest(text)
        mark.created += tuple(
            folder
            for folder in (FOLDER, *FOLDERS)
            if any(name.startswith(folder) for name in mark.sha256)
        )
        page = as_text(self._content(SECTION_PAGE))
        if supplies.SECTION_BEGIN in page:
            mark.section = supplies.section().replace("\n", newline_of(page))
        is_found = permits or mark.sha256 or mark.section or any(events.values())
        return mark if is_found else None

    def _supplies(self, mark: InitMark) -> Iterator[Supply]:
        """Every file that `init` writes whole; `.lifecycle.toml` in each of its forms."""
        for files in (supplies.claims(), supplies.runs(), supplies.workflows(), self.wanted(mark)):
            yield from files
        for text in (supplies.settings_file(), supplies.staged(**self.stage_values)):
            yield Supply(config.CONFIG_FILE, text, "")

    def _content(self, name: str) -> bytes:
        """A file's content; empty also behind a link out of the worktree, where `init` writes nothing."""
        try:
            return self.draft.read(name) or b""
        except Refused:
            return b""

    def _unsure(self) -> Iterator[str]:
        """What is left that `init` and a person write alike; notes the entries that are left."""
        for name in SETTINGS.values():
            self.note_left(name)
            root = client_settings.read(decoded(self.draft.read(name), name), name)
            allowed = at(root, *client_settings.ALLOW).value or ()
            rules = hook_table.EVER_PUT.intersection(map(str, allowed))
            if rules:
                yield f"{count(len(rules), 'permission')} in {name}"
            if at(root, *init_mark.ENV, hook_table.CAP) is not NOTHING:
                yield f"{hook_table.CAP} in {name}"
        if self.settings.use and self._content(config.CONFIG_FILE):
            yield f"stages.use in {config.CONFIG_FILE}"
        files = (file.name for file in self._supplies(InitMark(LOCAL)))
        yield from self.lines_left((MARK, SETTINGS[LOCAL], SECTION_PAGE, *files))

    def unmarked(self) -> list[str]:
        """The modes whose settings have entries of ours, whatever the mark says."""
        own = self.unnamed(Put())
        return [mode for mode in SETTINGS if self._events(mode, own)]

    def _events(self, mode: str, put: Put) -> list[str]:
        """The events of our entries in the settings of a mode.

        Of everybody's only those count that `init` signed: others may be somebody's own.
        """
        return [
            event
            for event, _, hook in self.settings_of(SETTINGS[mode]).hooks
            if put.own_name(event, hook) and (mode == LOCAL or hook_table.is_signed(hook))
        ]

    def unnamed(self, put: Put) -> Put:
        """The additions, and entries without a mark, which name the present folder or the recorded one."""
        folders = (resources.hooks_folder(), user_folder.recorded(self.environment).hooks)
        hooks = tuple(
            init_mark.PutHook(wire.event, str(folder / wire.name))
            for folder in folders
            if folder
            for wire in WIRES
        )
        return replace(put, hooks=(*put.hooks, *hooks))


def _containers(events: list[str]) -> tuple[str, ...]:
    """The routes of the objects and arrays that go if they are empty without entries at these events."""
    return ("hooks", *(f"hooks.{event}" for event in dict.fromkeys(events))) if events else ()
