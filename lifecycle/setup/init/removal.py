"""Drafts the removal of what `init` added, by its mark; without one nothing is removed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from lifecycle.settings import config
from lifecycle.setup.init import supplies
from lifecycle.setup.init.found_hooks import ClientSetup
from lifecycle.setup.init.init_mark import LOCAL, MARK, PERMITS, SETTINGS, InitMark
from lifecycle.setup.init.planned_files import as_bytes, as_text, digest
from lifecycle.setup.init.project_files import FOLDERS, LOG_FILE, ProjectFiles
from lifecycle.setup.init.stages_switch import switch_off
from lifecycle.setup.init.status_line import KEY, LINE_MARK, own_status_line, take_out
from lifecycle.storage import store, workflow_marks


class Removal(ProjectFiles):
    """Drafts the removal of each part, and knows which hook entries are `init`'s without a mark."""

    @cached_property
    def client(self) -> ClientSetup:
        """The client's settings as they are before the plan."""
        return ClientSetup.read(self.root, self.environment)

    def removed(self) -> tuple[Path, ...]:
        """Draft the removal of everything that was added; returns folders to remove if they are empty."""
        name = MARK if self.mark() is not None else PERMITS
        before, line = self.mark(name), self._without_line()
        marks = [mark for mark in (before, line) if mark is not None]
        created = tuple(file for mark in marks for file in mark.created)
        if (before is None and line is None) or (name != MARK and self.unmarked()):
            self.note("unmarked")
        if before is not None:
            before.created = created  # what came with the status line is ours, too
            self._without(before, name)
        return tuple(self.root / folder for folder in FOLDERS if folder in created)

    def _without_line(self) -> InitMark | None:
        """Draft the status line's removal; returns its mark, or None if it was not added."""
        line = self.mark(LINE_MARK)
        if line is None:
            if own_status_line(self.client.files[-1].object(KEY)) is not None:
                self.note("unmarked-line", name=SETTINGS[LOCAL])
            return None
        self.unwired(line, "the status line goes", take_out)
        self.unlisted(line, line.lines, self.needed_lines())
        self.draft.write(LINE_MARK, None, "the mark")
        return line

    def _without(self, before: InitMark, name: str) -> None:
        """Draft the removal of what `init` put in."""
        self.unwired(before, "lifecycle's entries go")
        if name == MARK:
            self.note_left(SETTINGS[before.mode])
        self.unlisted(before, before.lines, self.needed_lines())
        for file in before.sha256:
            self._take(before, file)
        page, toml = supplies.SECTION_PAGE, config.CONFIG_FILE
        if before.switched and (content := self.draft.read(toml)) is not None:
            after = switch_off(as_text(content), toml, before.switched)
            what = "the staged workflow is switched off"
            self._put_back(before, toml, after, what)
        if before.section and (content := self.draft.read(page)) is not None:
            after = supplies.without_section(content, before.section)
            what = f'without "{supplies.SECTION_TITLE}"'
            self._put_back(before, page, after, what)
        if LOG_FILE in before.created:
            self._unlogged()
        self.draft.write(name, None, "the mark")
        if (self.root / store.CLAIM_FILE).exists():
            self.note("claim-left", name=store.CLAIM_FILE)
        if (self.root / workflow_marks.FOLDER / workflow_marks.RUN).exists():
            self.note("run-left", name=workflow_marks.RUN_FILE)

    def _put_back(self, before: InitMark, name: str, after: str | None, what: str) -> None:
        """Draft a file without our part of it; None: somebody changed that part, which is noted."""
        if after is None:
            changed = "changed-config" if name == config.CONFIG_FILE else "changed-section"
            self.note(changed, name=name)
            return
        is_gone = not after and name in before.created
        self.draft.write(name, None if is_gone else as_bytes(after), what)

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

    def note_left(self, name: str) -> None:
        """Note a settings file's entries that run our scripts and are not as `init` writes them."""
        for entry in self.client.entries:
            if entry.file.path == self.root / name and not entry.is_inits:
                self.note("left-entry", name=name, script=entry.name, event=entry.event)

    def unmarked(self) -> set[str]:
        """The modes whose settings have entries of ours, whatever the mark says."""
        modes = {self.root / name: mode for mode, name in SETTINGS.items()}
        ours = [entry.file.path for entry in self.client.entries if entry.is_inits]
        return {modes[path] for path in ours if path in modes}
