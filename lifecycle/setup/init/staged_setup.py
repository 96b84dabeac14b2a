"""Drafts the files of the staged workflow in one project, put in beside the hooks and taken out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.settings import config
from lifecycle.setup.init.hook_table import (
    CAP,
    PERMISSIONS,
    RUN_PERMISSIONS,
    STAGE_PERMISSIONS,
    WORKFLOW_PERMISSIONS,
    cap_for,
)
from lifecycle.setup.init.init_mark import LOCAL, Extra, InitMark
from lifecycle.setup.init.planned_files import FileDraft, digest, unwritten
from lifecycle.setup.init.stages_switch import switch_off, switch_on
from lifecycle.setup.init.supplies import (
    AGENTS,
    COMMANDS,
    CORE,
    DETECT,
    ORCHESTRATOR,
    REVIEW,
    RUN_SKILL,
    SCRIPTS,
    SKILLS,
    START,
    WRITER,
    Supply,
    is_one,
    page_of,
    settings_file,
    staged,
    supplies,
)
from lifecycle.storage.log import STAGED_FOLDER, STAGED_LOG
from lifecycle.trackers import registry

LOG_FILE = f"{STAGED_FOLDER}/{STAGED_LOG}"
LOG_LINE = f"/{LOG_FILE}*"
"""Keeps the workflow's log out of git."""

FOLDERS = (
    COMMANDS,
    SCRIPTS,
    CORE,
    AGENTS,
    f"{SKILLS}{RUN_SKILL}/",
    SKILLS,
    "scripts/",
    "hooks/PostToolUse/",
    "hooks/",
)
"""Folders of supplied files, inner ones first: those that `init` made are removed with the files."""

FILES = (DETECT, ORCHESTRATOR, page_of(REVIEW))
"""Files that are written wherever the workflow is put in, as far as they are missing."""


@dataclass
class Staging:
    """The workflow's files of one plan.

    Attributes:
        root: the worktree's root.
        environment: names the user's home, and what a tracker is found by.
        draft: the files as they will be.
        notes: what a person should know; added to.
    """

    root: Path
    environment: Mapping[str, str]
    draft: FileDraft
    notes: list[str]

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
        return registry.start(self.root, self.environment, self._configured) or START

    def extra(self, *, stages: bool, run: bool, workflow: bool) -> Extra:
        """Permissions and cap for the settings: from claim to close, and for each part that is True."""
        parts = [(STAGE_PERMISSIONS, self.settings.max_blocks)] if stages else []
        parts += [(RUN_PERMISSIONS, self._configured.run.max_iterations)] if run else []
        cap = cap_for(max((blocks for _, blocks in parts), default=0))
        rules = [rule for rules, _ in parts for rule in rules]
        rules += WORKFLOW_PERMISSIONS if workflow else ()
        return Extra((*PERMISSIONS, *rules), {CAP: str(cap)} if parts else {})

    def put_in(self, before: InitMark, *, is_new: bool, has_config: bool) -> InitMark:
        """Put in the workflow's files that are missing, and its switch in `.lifecycle.toml`; the new mark.

        Args:
            before: the mark of an earlier run.
            is_new: the workflow was not put in yet.
            has_config: write `.lifecycle.toml` as well.
        """
        new = self._switched_on(before, is_new=is_new) if has_config else before
        if is_new and not os.path.lexists(self.root / LOG_FILE):
            new = replace(new, created=(*new.created, LOG_FILE))  # the hooks will write it
        return self.supply(new, self._wanted(before))

    def supply(self, before: InitMark, files: Sequence[Supply]) -> InitMark:
        """Put in those files that are missing and that a person has nowhere else; returns the new mark."""
        for file in files:
            if before.mode != LOCAL or not self._is_elsewhere(file.name):
                before = self._supplied(before, file)
        return before

    def take_out(self, before: InitMark) -> tuple[Path, ...]:
        """Take out what was put in and not changed since; returns folders to remove if they are empty."""
        for name in before.sha256:
            if is_one(name):
                self.take(before, name)
        if before.switched:
            self._switched_off(before)
        if LOG_FILE in before.created:
            self._unlogged()
        return tuple(self.root / name for name in FOLDERS if name in before.created)

    def _wanted(self, before: InitMark) -> tuple[Supply, ...]:
        """The files of the staged workflow; without commands that the settings name otherwise."""
        review = self.settings.review or REVIEW
        start = self.settings.start or self.start
        is_ours = start == self.start or page_of(start) in before.sha256
        return supplies(
            review=review if review == REVIEW else "",
            start=start if is_ours else "",
            label=self.settings.label,
        )

    def _is_elsewhere(self, name: str) -> bool:
        """True if person or project have such a command, agent or skill where else the client looks."""
        if not name.startswith((COMMANDS, AGENTS, SKILLS)):
            return False
        home = self.environment.get("HOME", "")
        own = self.environment.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
        places = [Path(own) / name.removeprefix(".claude/")] if own else []
        if name.startswith(COMMANDS):
            skill = f"skills/{Path(name).stem}/SKILL.md"
            places += [self.root / ".claude" / skill, *([Path(own) / skill] if own else [])]
        return any(place.is_file() for place in places)

    def _supplied(self, before: InitMark, supply: Supply) -> InitMark:
        content, recorded = self.draft.read(supply.name), before.sha256.get(supply.name)
        text, path = supply.text.encode(), self.root / supply.name
        if content is None and os.path.lexists(path):  # a folder, or a link that leads nowhere
            self.notes.append(f"{supply.name} is no file and was kept.")
            return before
        if content is not None and content != text and digest(content) != recorded:
            self.notes.append(self._kept(supply))
            return replace(
                before,
                sha256={
                    name: value for name, value in before.sha256.items() if name != supply.name
                },
            )
        if content == text and recorded is None:
            return before  # the same is there already, and is its writer's
        for folder in FOLDERS:
            is_new = supply.name.startswith(folder) and not (self.root / folder).exists()
            before = replace(before, created=before.created_with(folder, is_new=is_new))
        self.draft.write(supply.name, text, supply.what, is_executable=supply.is_executable)
        return replace(before, sha256={**before.sha256, supply.name: digest(text)})

    def _kept(self, supply: Supply) -> str:
        remark = f"{supply.name} is your own and was kept"
        if supply.name == ORCHESTRATOR:
            return f"{remark}; if your settings run it at Stop, take it out of them, or all is said twice."
        return f"{remark}."

    def settle(self, before: InitMark) -> InitMark:
        """Put in a commented `.lifecycle.toml`, if there is nothing of that name; returns the new mark."""
        name = config.CONFIG_FILE
        if os.path.lexists(self.root / name) or self.draft.read(name) is not None:
            return before
        what = "every key with its default, commented out"
        return self._supplied(before, Supply(name, settings_file(), what))

    def take(self, before: InitMark, name: str) -> None:
        """Take out a file that was written whole, unless somebody changed it."""
        content = self.draft.read(name)
        if content is None:
            return
        # A stranger's mark may name a file of ours that they wrote themselves.
        is_ours = WRITER.encode() in content or name == config.CONFIG_FILE
        if is_ours and digest(content) == before.sha256[name]:
            self.draft.write(name, None, "as it was written")
        else:
            self.notes.append(f"{name} was changed since and was kept.")

    def _unlogged(self) -> None:
        """Delete the workflow's log and its two older ones: nothing keeps them out of git any more."""
        for name in (LOG_FILE, *(f"{LOG_FILE}.{number}" for number in (1, 2))):
            path = self.root / name
            if path.is_file() and not path.is_symlink():
                self.draft.write(name, None, "the workflow's log", is_log=True)

    def _switched_on(self, before: InitMark, *, is_new: bool) -> InitMark:
        name = config.CONFIG_FILE
        path = self.root / name
        content, recorded = self.draft.read(name), before.sha256.get(name)
        start = self.settings.start or self.start
        above = config.file_of(self.root)
        if above != path and above.is_file():
            return self._switched_on_above(before, above.read_bytes(), start)
        is_ours = content is not None and digest(content) == recorded and is_new
        if is_ours or not os.path.lexists(path):
            whole = staged(REVIEW, start).encode()
            what = "the staged workflow, and every key with its default"
            self.draft.write(name, whole, what)
            return replace(before, sha256={**before.sha256, name: digest(whole)})
        if content is None:
            raise unwritten(f"{name} is no file", "move it away")
        try:
            values = {"review": REVIEW, "start": start}
            text, pieces = switch_on(content.decode(), name, values)
        except UnicodeDecodeError:
            raise unwritten(f"{name} is not UTF-8") from None
        if pieces:
            self.draft.write(name, text.encode(), "the staged workflow is switched on")
        return replace(before, switched=(*before.switched, *pieces))

    def _switched_on_above(self, before: InitMark, content: bytes, start: str) -> InitMark:
        """Switch on in a linked worktree: where the main one's file has it off, by a changed copy of it."""
        if self.settings.use:
            return before
        name, values = config.CONFIG_FILE, {"review": REVIEW, "start": start}
        text, _ = switch_on(content.decode(), name, values)  # it was read as settings already
        what = "the main worktree's, with the staged workflow switched on"
        self.draft.write(name, text.encode(), what)
        return replace(before, sha256={**before.sha256, name: digest(text.encode())})

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
            self.notes.append(f"{name} was changed since and was kept; stages.use is still in it.")
            return
        self.draft.write(name, text.encode(), "the staged workflow is switched off")
