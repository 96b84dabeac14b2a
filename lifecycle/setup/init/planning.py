"""Plans the changes of `init` and `init --remove` to one project, and carries the plan out.

`copy_to` gives a new worktree of the repository the files that git does not copy.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from lifecycle.core.errors import BadConfig
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.settings import config, resources, running_client, user_folder
from lifecycle.setup.init import init_mark, planned_files, supplies
from lifecycle.setup.init.client_settings import KEY, LINE_MARK, line_in, line_out, own_status_line
from lifecycle.setup.init.found_hooks import ClientSetup, found_mark
from lifecycle.setup.init.hook_table import local_form, shared_form
from lifecycle.setup.init.init_mark import LOCAL, MARK, PERMITS, SETTINGS, SHARED, InitMark, Put
from lifecycle.setup.init.project_files import FOLDERS, MARKS, ProjectFiles, decoded
from lifecycle.setup.init.stages_switch import switch_off
from lifecycle.storage import store, workflow_marks
from lifecycle.storage.log import STAGED_LOG
from lifecycle.trackers import registry

PERMISSIONS_ALONE = "permissions"
"""The mode of a plan that adds permissions only: the plugin has the hooks."""

STATUS_LINE = "statusline"
"""The mode of a plan that adds the status line only."""

LOCK = "init.lock"
LOCK_SECONDS = 10.0
"""How long a plan waits for another plan of the same clone."""


def apply(plan: Plan) -> None:
    """Carry a plan out: all of it or, if a file cannot be written, nothing.

    Raises:
        Refused: a file changed since the plan was made; nothing was written.
        LockBusy: another process is doing the same in this clone; nothing was written.
        OSError: a file cannot be written; the others were restored.
    """
    marks = [plan.root / name for name in MARKS]
    is_going = any(change.path in marks and change.after is None for change in plan.changes)
    with contextlib.ExitStack() as held:
        git = store.common_folder(plan.root)
        if plan.changes and git is not None:
            (git / config.NAME).mkdir(exist_ok=True)
            lock = git / config.NAME / LOCK
            held.enter_context(store.locked(lock, LOCK_SECONDS, planned_files.sentence("busy")))
        # The mark is written before the files that it lists, and deleted after them.
        changes = sorted(plan.changes, key=lambda change: (change.path in marks) is is_going)
        planned_files.write_all(changes, plan.seen)
        for folder in plan.folders:
            with contextlib.suppress(OSError):  # somebody keeps a file there
                folder.rmdir()


@dataclass
class Plan(ProjectFiles):
    """The changes that one form of `init`, or `init --remove`, will make; one of its methods drafts them.

    What was added is removed by the mark; without one nothing is removed. A method raises Refused if there
    are settings that cannot be merged with or a mark that cannot be read, and git's errors.

    Attributes:
        mode: "local" or "shared" if lifecycle is wired afterwards, "permissions" or "statusline" if only
            these are added, "" if nothing is.
        folders: folders that are removed if they are empty afterwards.
        label: the label of the staged workflow's tasks, if it is wired and not left off; "" if not.
        parts: what is wired afterwards beside the way from claim to close: "stages", "run", "workflow".
    """

    mode: str = ""
    folders: tuple[Path, ...] = ()
    label: str = ""
    parts: tuple[str, ...] = ()

    @cached_property
    def client(self) -> ClientSetup:
        """The client's settings as they are before the plan."""
        return ClientSetup.read(self.root, self.environment)

    def removal(self) -> None:
        """Draft the removal of everything that was added."""
        name = MARK if self.mark() is not None else PERMITS
        before, line = self.mark(name), self.mark(LINE_MARK)
        if line is not None:
            self.unwired(line, "the status line goes", line_out)
            self.unlisted(line, line.lines, self.needed_lines())
            self.write(LINE_MARK, None, "the mark")
        elif own_status_line(self.client.files[-1].value(KEY)) is not None:
            self.note("unmarked-line", name=SETTINGS[LOCAL])
        marks = [mark for mark in (before, line) if mark is not None]
        created = tuple(file for mark in marks for file in mark.created)
        if (before is None and line is None) or (name != MARK and self.unmarked()):
            self.note("unmarked")
        if before is not None:
            before.created = created  # what came with the status line is ours, too
            self._without(before, name)
        self.folders = tuple(self.root / folder for folder in FOLDERS if folder in created)

    def _without(self, before: InitMark, name: str) -> None:
        """Draft the removal of what `init` put in."""
        self.unwired(before, "lifecycle's entries go")
        if name == MARK:
            self.note_left(SETTINGS[before.mode])
        self.unlisted(before, before.lines, self.needed_lines())
        for file in before.sha256:
            self._delete(before, file)
        page, toml = supplies.SECTION_PAGE, config.CONFIG_FILE
        if before.switched and (content := self.read(toml)) is not None:
            after = switch_off(planned_files.as_text(content), toml, before.switched)
            what = "the staged workflow is switched off"
            self._put_back(before, toml, after, what)
        if before.section and (content := self.read(page)) is not None:
            after = supplies.without_section(content, before.section)
            what = f'without "{supplies.SECTION_TITLE}"'
            self._put_back(before, page, after, what)
        # The workflow's log and its two older ones: nothing keeps them out of git any more.
        logs = (STAGED_LOG, *(f"{STAGED_LOG}.{number}" for number in (1, 2)))
        for log in logs if STAGED_LOG in before.created else ():
            if (self.root / log).is_file() and not (self.root / log).is_symlink():
                self.write(log, None, "the workflow's log", is_log=True)
        self.write(name, None, "the mark")
        if (self.root / store.CLAIM_FILE).exists():
            self.note("claim-left", name=store.CLAIM_FILE)
        if (self.root / workflow_marks.FOLDER / workflow_marks.RUN).exists():
            self.note("run-left", name=workflow_marks.RUN_FILE)

    def _put_back(self, before: InitMark, name: str, after: str | None, what: str) -> None:
        """Draft a file without our part of it; None: somebody changed that part, which is noted."""
        if after is None:
            changed = "changed-config" if name == config.CONFIG_FILE else "changed-section"
            self.note(changed, name=name)
        else:
            self.take(before, name, planned_files.as_bytes(after), what)

    def _delete(self, before: InitMark, name: str) -> None:
        """Remove a file that was written whole, unless somebody changed it."""
        content = self.read(name)
        if content is None:
            return
        # A stranger's mark may name a file that has our name but is their own.
        is_ours = supplies.WRITER.encode() in content or name == config.CONFIG_FILE
        if is_ours and planned_files.digest(content) == before.sha256[name]:
            self.write(name, None, "as it was written")
        else:
            self.note("changed-file", name=name)

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

    def installation(self, parts: Collection[str] = (), *, shared: bool = False) -> None:
        """Draft the parts of `init` that are missing.

        Args:
            parts: names of `hook_table.PARTS`, in their order: what is wanted beside the way from claim to
                close. A project keeps those that it has.
            shared: for everybody in the repository, not for this person only. A project that is shared
                already stays so.
        """
        before = self.mark()
        # A new worktree's copy changes nothing that is everybody's.
        wired = set() if self.only_wires else self.unmarked()
        wired |= {before.mode} if before is not None else set()
        self.mode = SHARED if shared or SHARED in wired else LOCAL
        new = before or self._begun(LOCAL if LOCAL in wired else self.mode)
        if new.mode != self.mode:
            self._moved(new)
        elif self.mode == SHARED and not shared:
            self.note("shared-already", name=SETTINGS[SHARED])
        is_new = "stages" in parts and "stages" not in new.parts
        self.parts = new.parts = (*dict.fromkeys((*new.parts, *parts)),)
        self._wired(new)
        if "stages" in new.parts:
            self.staged(new, is_new=is_new)
        supplied = [*supplies.claims(), *(supplies.runs() if "run" in new.parts else ())]
        supplied += supplies.workflows() if "workflow" in new.parts else ()
        self.supply(new, supplied)
        if "workflow" in new.parts and not self.only_wires:
            self.sectioned(new)
        if not self.only_wires and not config.file_of(self.root).is_file():
            self.settle(new)
        self.marked(new, what="the mark, which --remove reads")
        self._recorded()
        if not self.only_wires:
            self._allowed()
        for name, where in self.client.plugins.items():
            self.note("plugin-too", name=name, where=where)
        # Left off by a person: no label begins anything.
        is_off = planned_files.sentence("left-off", name=config.CONFIG_FILE) in self.notes
        self.label = self.settings.label if "stages" in new.parts and not is_off else ""

    def permission(self, parts: Collection[str]) -> None:
        """Draft only permissions, for a person whose hooks are the plugin's."""
        wired = self.mark()
        if wired is not None:
            self.note("wired-already", options="".join(f" --{part}" for part in parts))
            self.mode = wired.mode
            return
        new = self.mark(PERMITS) or self.new_mark()
        new.parts = (*dict.fromkeys((*new.parts, *parts)),)
        extra = self.extras([*(["stages"] if self.settings.use else []), *new.parts])
        self.put_into(new, None, extra if "run" in new.parts else replace(extra, variables={}))
        self.marked(new, PERMITS)
        self.mode = PERMISSIONS_ALONE

    def status_line(self) -> None:
        """Draft only the client's status line, for one person."""
        new = self.mark(LINE_MARK) or self.new_mark()
        name, others = SETTINGS[LOCAL], self.client.files[:-1]
        text, new.settings = line_in(decoded(self.read(name), name), name, new.settings, others)
        self.put(new, name, text.encode(), "the status line")
        self.marked(new, LINE_MARK)
        self._recorded()
        self.mode = STATUS_LINE

    def _begun(self, mode: str) -> InitMark:
        """The mark of a first run: that of permissions alone, if they were added before."""
        allowed = self.mark(PERMITS)
        if allowed is None:
            return self.new_mark(mode)
        self.write(PERMITS, None, "part of the mark now")
        return allowed

    def _moved(self, mark: InitMark) -> None:
        """Draft the move from one person's settings to everybody's, so that they are never in both."""
        self.unwired(mark, "moved to .claude/settings.json")
        self.note_left(SETTINGS[mark.mode])
        line = self.mark(LINE_MARK)
        if line is not None and SETTINGS[LOCAL] in mark.created:  # it stays for the status line
            line.note_created(SETTINGS[LOCAL], is_new=True)
            self.write(LINE_MARK, init_mark.render(line), "what --remove reads")
        self.unlisted(mark, [init_mark.EXCLUDE])
        mark.lines.pop(init_mark.EXCLUDE, None)
        mark.created = tuple(name for name in mark.created if name != SETTINGS[mark.mode])
        mark.mode, mark.settings = SHARED, Put()

    def _wired(self, mark: InitMark) -> None:
        """Draft what goes into the settings; entries that others wrote stay."""
        if others := [entry for entry in self.client.entries if not entry.is_inits and entry.wire]:
            names = ", ".join(dict.fromkeys(entry.file.shown for entry in others))
            hooks = ", ".join(dict.fromkeys(entry.name for entry in others))
            self.note("wired-by-hand", names=names, hooks=hooks)
        form = shared_form if mark.mode == SHARED else local_form(resources.top_folder("hooks"))
        has_everybodys = mark.mode == LOCAL and SHARED in self.unmarked()
        self.put_into(mark, None if has_everybodys else form, self.extras(mark.parts))

    def _recorded(self) -> None:
        """Draft the files in the user's own folder that tell hooks where command and scripts are."""
        command = user_folder.find_command(self.root, self.environment)
        if command is None:
            self.note("no-command")
            return
        if trouble := user_folder.trouble(self.environment):
            wanted = {user_folder.BIN: command, user_folder.HOOKS: resources.top_folder("hooks")}
            if wanted != {name: user_folder.recorded(self.environment, name) for name in wanted}:
                self.note("unrecorded", trouble=trouble)
            return
        for path, content in user_folder.lines_to_record(self.environment, command).items():
            what = "the command is" if path.name == user_folder.BIN else "the scripts are"
            self.write(path, content, f"where {what}")

    def _allowed(self) -> None:
        """Draft the yes to the program that keeps the tasks; an agent cannot give it, and gets a note."""
        try:
            program = registry.program(self.root, config.load(self.root, self.environment))
        except BadConfig as error:
            self.notes[error.sentence] = None
            return
        clone = store.clone_of(self.root)
        if not program or program in user_folder.allowed(self.environment, clone, "programs"):
            return
        if running_client.session_of({}, self.environment) or user_folder.trouble(self.environment):
            self.note("untrusted", program=program)
            return
        path, content = user_folder.allowing(self.environment, clone, programs=[program])
        self.write(path, content, f"{program} may run here")


def copy_to(origin: Path, new: Path, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """Copy this worktree's files that git does not track to a new worktree; returns the paths written.

    They are our entries in the person's own settings with the mark, and the files that `init` supplied. All
    worktrees read the main one's `.lifecycle.toml`. No existing file is touched, and nothing is done for a
    project that `init` never wired.

    Args:
        origin: the worktree to copy from.
        new: the worktree that `git worktree add` just made.
        environment: names the user's home and PATH.

    Raises:
        Refused: the settings in the new worktree cannot be merged with.
        GitFailed, Transient, OSError: from git, or the disk.
    """
    mark, problem = found_mark(origin)
    if not (mark or problem) or store.read(new / MARK) is not None:
        return []
    # A broken mark is the old worktree's problem; `init` and `doctor` report it there.
    parts = mark.parts if mark is not None else ()
    todo = Plan(new, environment, only_wires=True)
    todo.installation(parts)
    apply(todo)
    return [change.path for change in todo.changes]
