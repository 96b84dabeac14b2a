"""Drafts the files of the staged workflow in one project, put in beside the hooks and taken out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.settings import config
from lifecycle.setup.init import hook_table, supplies
from lifecycle.setup.init.init_mark import LOCAL, Extra, InitMark
from lifecycle.setup.init.planned_files import FileDraft, digest, sentence, unwritten
from lifecycle.setup.init.stages_switch import switch_off, switch_on
from lifecycle.setup.init.supplies import Supply
from lifecycle.storage.log import STAGED_FOLDER, STAGED_LOG
from lifecycle.trackers import registry

LOG_FILE = f"{STAGED_FOLDER}/{STAGED_LOG}"
LOG_LINE = f"/{LOG_FILE}*"
"""Keeps the workflow's log out of git."""

FOLDERS = (
    supplies.COMMANDS,
    supplies.SCRIPTS,
    supplies.CORE,
    supplies.AGENTS,
    f"{supplies.SKILLS}{supplies.RUN_SKILL}/",
    supplies.SKILLS,
    "scripts/",
    "hooks/PostToolUse/",
    "hooks/",
)
"""Folders of supplied files, inner ones first: those that `init` made are removed with the files."""

FILES = (supplies.DETECT, supplies.ORCHESTRATOR, supplies.page_of(supplies.REVIEW))
"""Files that are written wherever the workflow is put in, as far as they are missing."""


@dataclass
class StagedFiles:
    """One worktree and the draft of its files: those of the staged workflow.

    Attributes:
        root: the worktree's root.
        environment: names the user's home, and what a tracker is found by.
        only_wires: leave files alone that a person edits.
        notes: what a person should know; added to.
    """

    root: Path
    environment: Mapping[str, str]
    only_wires: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draft = FileDraft(self.root)

    def note(self, of: str, /, **words: object) -> None:
        """Note a sentence of `sentences.toml` for the person."""
        self.notes.append(sentence(of, **words))

    @cached_property
    def _configured(self) -> Settings:
        return config.load(self.root, self.environment)

    @property
    def settings(self) -> StageSettings:
        """The settings of the staged workflow; raises BadConfig."""
        return self._configured.stages

    @cached_property
    def start(self) -> str:
        """The client's command that begins with a task, by this worktree's tracker."""
        return registry.start(self.root, self.environment, self._configured) or supplies.START

    def extra(self, *, stages: bool, run: bool, workflow: bool) -> Extra:
        """Permissions and cap for the settings: from claim to close, and for each part that is True."""
        parts = [(hook_table.STAGE_PERMISSIONS, self.settings.max_blocks)] if stages else []
        parts += [(hook_table.RUN_PERMISSIONS, self._configured.run.max_iterations)] if run else []
        # The claim's own sentences at a stop count as well: they get as many as the client gives anybody.
        cap = max((blocks for _, blocks in parts), default=0) + hook_table.DEFAULT_CAP
        rules = [rule for rules, _ in parts for rule in rules]
        rules += hook_table.WORKFLOW_PERMISSIONS if workflow else ()
        return Extra((*hook_table.PERMISSIONS, *rules), {hook_table.CAP: str(cap)} if parts else {})

    def staged(self, mark: InitMark, *, is_new: bool) -> None:
        """Put in the workflow's files that are missing, and its switch in `.lifecycle.toml`.

        Args:
            mark: of an earlier run.
            is_new: the workflow was not put in yet.
        """
        if not self.only_wires:
            self._switched_on(mark, is_new=is_new)
        if is_new and not os.path.lexists(self.root / LOG_FILE):
            mark.created += (LOG_FILE,)  # the hooks will write it
        self.supply(mark, self._wanted(mark))

    def supply(self, mark: InitMark, files: Sequence[Supply]) -> None:
        """Put in those files that are missing and that a person has nowhere else."""
        for file in files:
            if mark.mode != LOCAL or not self._is_elsewhere(file.name):
                self._supplied(mark, file)

    def unstaged(self, before: InitMark) -> tuple[Path, ...]:
        """Take out what was put in and not changed since; returns folders to remove if they are empty."""
        for name in before.sha256:
            if supplies.is_one(name):
                self.take(before, name)
        if before.switched:
            self._switched_off(before)
        if LOG_FILE in before.created:
            self._unlogged()
        return tuple(self.root / name for name in FOLDERS if name in before.created)

    def _wanted(self, before: InitMark) -> tuple[Supply, ...]:
        """The files of the staged workflow; without commands that the settings name otherwise."""
        review = self.settings.review or supplies.REVIEW
        start = self.settings.start or self.start
        is_ours = start == self.start or supplies.page_of(start) in before.sha256
        return supplies.supplies(
            review=review if review == supplies.REVIEW else "",
            start=start if is_ours else "",
            label=self.settings.label,
        )

    def _is_elsewhere(self, name: str) -> bool:
        """True if person or project have such a command, agent or skill where else the client looks."""
        if not name.startswith((supplies.COMMANDS, supplies.AGENTS, supplies.SKILLS)):
            return False
        home = self.environment.get("HOME", "")
        own = self.environment.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
        places = [Path(own) / name.removeprefix(".claude/")] if own else []
        if name.startswith(supplies.COMMANDS):
            skill = f"skills/{Path(name).stem}/SKILL.md"
            places += [self.root / ".claude" / skill, *([Path(own) / skill] if own else [])]
        return any(place.is_file() for place in places)

    def _supplied(self, mark: InitMark, supply: Supply) -> None:
        content, recorded = self.draft.read(supply.name), mark.sha256.get(supply.name)
        text, path = supply.text.encode(), self.root / supply.name
        if content is None and os.path.lexists(path):  # a folder, or a link that leads nowhere
            self.note("no-file", name=supply.name)
        elif content is not None and content != text and digest(content) != recorded:
            note = "own-orchestrator" if supply.name == supplies.ORCHESTRATOR else "own-file"
            self.note(note, name=supply.name)
            mark.sha256.pop(supply.name, None)
        elif content != text or recorded is not None:  # else it is there already, and its writer's
            for folder in FOLDERS:
                is_new = supply.name.startswith(folder) and not (self.root / folder).exists()
                mark.note_created(folder, is_new=is_new)
            self._whole(mark, supply)

    def _whole(self, mark: InitMark, supply: Supply) -> None:
        """Draft a file that is all ours, and note by what it is known again."""
        text = supply.text.encode()
        self.draft.write(supply.name, text, supply.what, is_executable=supply.is_executable)
        mark.sha256[supply.name] = digest(text)

    def settle(self, mark: InitMark) -> None:
        """Put in a commented `.lifecycle.toml`, if there is nothing of that name."""
        name = config.CONFIG_FILE
        if not os.path.lexists(self.root / name) and self.draft.read(name) is None:
            what = "every key with its default, commented out"
            self._supplied(mark, Supply(name, supplies.settings_file(), what))

    def take(self, before: InitMark, name: str) -> None:
        """Take out a file that was written whole, unless somebody changed it."""
        content = self.draft.read(name)
        if content is None:
            return
        # A stranger's mark may name a file of ours that they wrote themselves.
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

    def _switched_on(self, mark: InitMark, *, is_new: bool) -> None:
        name = config.CONFIG_FILE
        path = self.root / name
        content = self.draft.read(name)
        values = {"review": supplies.REVIEW, "start": self.settings.start or self.start}
        above = config.file_of(self.root)
        if above != path and above.is_file():
            # In a linked worktree, where the main one's file has it off: by a changed copy of it.
            if not self.settings.use:
                # It was read as settings already.
                text, _ = switch_on(above.read_bytes().decode(), name, values)
                what = "the main worktree's, with the staged workflow switched on"
                self._whole(mark, Supply(name, text, what))
            return
        is_ours = content is not None and digest(content) == mark.sha256.get(name) and is_new
        if is_ours or not os.path.lexists(path):
            what = "the staged workflow, and every key with its default"
            self._whole(mark, Supply(name, supplies.staged(**values), what))
            return
        if content is None:
            raise unwritten(f"{name} is no file", "move it away")
        try:
            text, pieces = switch_on(content.decode(), name, values)
        except UnicodeDecodeError:
            raise unwritten(f"{name} is not UTF-8") from None
        if pieces:
            self.draft.write(name, text.encode(), "the staged workflow is switched on")
        mark.switched += pieces

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
