"""Plans the changes of `init` and `init --remove` to one project, and carries the plan out.

`copy_to` gives a new worktree of the repository the files that git does not copy.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from lifecycle.core.errors import BadConfig, GitFailed, Transient
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.figures import count
from lifecycle.settings import config, resources, running_client, user_folder
from lifecycle.setup.init import hook_table, init_mark
from lifecycle.setup.init.found_hooks import ClientSettings, ClientSetup, HookEntry, found_mark
from lifecycle.setup.init.hook_table import WIRES, local_form, shared_form
from lifecycle.setup.init.init_mark import LOCAL, MARK, PERMITS, SETTINGS, SHARED, InitMark, Put
from lifecycle.setup.init.planned_files import (
    FileChange,
    digest,
    newline_of,
    sentence,
    write_all,
)
from lifecycle.setup.init.project_files import FOLDER, FOLDERS, ProjectFiles, decoded, git_of
from lifecycle.setup.init.status_line import KEY, LINE_MARK, own_status_line, put_in, take_out
from lifecycle.setup.init.supplies import (
    SECTION_BEGIN,
    SECTION_PAGE,
    WRITER,
    Supply,
    claims,
    runs,
    section,
    settings_file,
    workflows,
)
from lifecycle.storage import store
from lifecycle.trackers import registry

PERMISSIONS_ALONE = "permissions"
"""The mode of a plan that adds permissions only: the plugin has the hooks."""

STATUS_LINE = "statusline"
"""The mode of a plan that adds the status line only."""

_ENTRIES_GO = "lifecycle's entries go"

LOCK = "init.lock"
LOCK_SECONDS = 10.0
"""How long a plan waits for another plan of the same clone."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that `init` or `init --remove` will make.

    Attributes:
        root: the worktree.
        mode: "local" or "shared" if lifecycle is wired afterwards, "permissions" if it is only allowed, ""
            if neither.
        changes: the files, in the order in which to show them.
        seen: the content of each file that was read for it; None if it does not exist.
        notes: what a person should know.
        folders: folders that are removed if they are empty afterwards.
        label: the label of the staged workflow's tasks, if it is wired; "" if not.
        run: the files for autonomous runs exist afterwards.
        workflow: the files for workflows exist afterwards.
    """

    root: Path
    mode: str
    changes: tuple[FileChange, ...]
    seen: Mapping[Path, bytes | None]
    notes: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    label: str = ""
    run: bool = False
    workflow: bool = False


def plan(
    root: Path,
    *,
    shared: bool = False,
    remove: bool = False,
    stages: bool = False,
    run: bool = False,
    workflow: bool = False,
    only_wires: bool = False,
    permissions: bool = False,
    statusline: bool = False,
    environment: Mapping[str, str],
) -> Plan:
    """Work out what `init` or, with `remove`, `init --remove` does. Writes nothing.

    Args:
        root: the worktree's root folder.
        shared: for everybody in the repository, not for this person only. A project that is shared
            already stays so.
        remove: remove what was added.
        stages: the staged workflow as well. A project that has it keeps it.
        run: the files for autonomous runs as well. A project that has them keeps them.
        workflow: the files for workflows as well. A project that has them keeps them.
        only_wires: nothing that a person edits: no settings of lifecycle's own.
        permissions: for one person, only permissions for the agent's commands: the plugin has the hooks.
        statusline: for one person, only the client's status line.
        environment: names the user's home and PATH.

    Raises:
        Refused: no worktree, settings that cannot be merged with, or an unreadable mark.
        GitFailed, Transient: from git.
    """
    project = _Project(root, environment, only_wires=only_wires)
    if permissions:
        return project.permission(run=run, workflow=workflow)
    if statusline:
        return project.status_line()
    if remove:
        return project.removal()
    return project.installation(shared=shared, stages=stages, run=run, workflow=workflow)


def apply(plan: Plan) -> None:
    """Carry a plan out: all of it or, if a file cannot be written, nothing.

    Raises:
        Refused: a file changed since the plan was made; nothing was written.
        LockBusy: another process is doing the same in this clone; nothing was written.
        OSError: a file cannot be written; the others were restored.
    """
    marks = (plan.root / MARK, plan.root / PERMITS, plan.root / LINE_MARK)
    is_going = any(change.path in marks and change.after is None for change in plan.changes)
    with contextlib.ExitStack() as held:
        git = store.common_folder(plan.root)
        if plan.changes and git is not None:
            (git / config.NAME).mkdir(exist_ok=True)
            lock = git / config.NAME / LOCK
            held.enter_context(store.locked(lock, LOCK_SECONDS, sentence("busy")))
        # The mark is written before the files that it lists, and deleted after them.
        changes = sorted(plan.changes, key=lambda change: (change.path in marks) is is_going)
        write_all(changes, plan.seen)
        for folder in plan.folders:
            with contextlib.suppress(OSError):  # somebody keeps a file there
                folder.rmdir()


def noting_ignored(todo: Plan, folder: Path, environment: Mapping[str, str]) -> Plan:
    """The plan, with a note on files for everybody that git ignores and so a commit would lack.

    Ask after `apply`: a move from one person's settings removes lines of `info/exclude`. `folder`: where
    the note's command is run.
    """
    mark, _ = found_mark(todo.root)
    if mark is None or todo.mode != SHARED:
        return todo
    parts = {SECTION_PAGE: mark.section, config.CONFIG_FILE: mark.switched}  # added to, not made
    added = (name for name, part in parts.items() if part)
    names = (SETTINGS[SHARED], init_mark.IGNORE, *mark.sha256, *added, MARK)
    try:
        shown = git_of(todo.root, environment).run("check-ignore", "--", *names, check=False)
    except (GitFailed, Transient):  # without git nobody commits; what was written stays as it is
        shown = ""
    lacking = [os.path.relpath(todo.root / name, folder) for name in shown.splitlines()]
    note = sentence("ignored", number=len(lacking), names=shlex.join(lacking))
    return replace(todo, notes=(*todo.notes, note)) if lacking else todo


class _Project(ProjectFiles):
    """Drafts the files of a project for each form of `init` and `init --remove`."""

    @cached_property
    def _client(self) -> ClientSetup:
        return ClientSetup.read(self.root, self.environment)

    def _settings_of(self, name: str) -> ClientSettings:
        """One of the worktree's settings files, as it is now."""
        (file,) = [file for file in self._client.files if file.path == self.root / name]
        return file

    def _plan(self, mode: str, folders: tuple[Path, ...] = ()) -> Plan:
        """The plan of everything that was drafted; `mode` is how the project is wired afterwards."""
        draft = self.draft
        notes = tuple(dict.fromkeys(self.notes))
        return Plan(self.root, mode, draft.changes(), draft.seen, notes, folders)

    def installation(self, *, shared: bool, stages: bool, run: bool, workflow: bool) -> Plan:
        """Draft the parts of `init` that are missing."""
        before = self.mark()
        # A new worktree's copy changes nothing that is everybody's.
        unmarked = [] if self.only_wires else self._unmarked()
        wired = [*unmarked, *([before.mode] if before is not None else [])]
        mode = SHARED if shared or SHARED in wired else LOCAL
        new = before or self._begun(LOCAL if LOCAL in wired else mode)
        if new.mode != mode:
            self._moved(new)
        elif mode == SHARED and not shared:
            self.note("shared-already", name=SETTINGS[SHARED])
        is_new = stages and not new.stages
        new.stages, new.run = stages or new.stages, run or new.run
        new.workflow = workflow or new.workflow
        self._wired(new)
        if new.stages:
            self.staged(new, is_new=is_new)
        supplied = [*claims(), *(runs() if new.run else ())]
        supplied += workflows() if new.workflow else ()
        self.supply(new, supplied)
        if new.workflow and not self.only_wires:
            self.sectioned(new)
        if not self.only_wires and not config.file_of(self.root).is_file():
            self.settle(new)
        self.marked(new, what="the mark, which --remove reads")
        self._recorded()
        if not self.only_wires:
            self._allowed()
        for name, where in self._client.plugins.items():
            self.note("plugin-too", name=name, where=where)
        # The mark is made last and shown after the files that it lists.
        label = self.settings.label if new.stages else ""
        return replace(self._plan(mode), label=label, run=new.run, workflow=new.workflow)

    def permission(self, *, run: bool, workflow: bool) -> Plan:
        """Draft only permissions, for a person whose hooks are the plugin's."""
        wired = self.mark()
        if wired is not None:
            lacking = ["--run"] if run and not wired.run else []
            lacking += ["--workflow"] if workflow and not wired.workflow else []
            if lacking:
                self.note("wired-without", options=" ".join(lacking))
            else:
                self.note("wired-already")
            return self._plan(wired.mode)
        new = self.mark(PERMITS) or self.new_mark()
        extra = self.extra(stages=self.settings.use, run=run, workflow=workflow)
        self.put_into(new, None, extra if run else init_mark.Extra(extra.permissions))
        self.marked(new, PERMITS)
        return self._plan(PERMISSIONS_ALONE)

    def status_line(self) -> Plan:
        """Draft only the client's status line, for one person."""
        new = self.mark(LINE_MARK) or self.new_mark()
        name = SETTINGS[LOCAL]
        content = self.draft.read(name)
        others = self._client.files[:-1]
        text, new.settings = put_in(decoded(content, name), name, new.settings, others)
        self.draft.write(name, text.encode(), "the status line")
        new.note_created(name, is_new=content is None)
        self.marked(new, LINE_MARK)
        self._recorded()
        return self._plan(STATUS_LINE)

    def _without_line(self) -> InitMark | None:
        """Draft the status line's removal; returns its mark, or None if it was not added."""
        line = self.mark(LINE_MARK)
        if line is None:
            if own_status_line(self._settings_of(SETTINGS[LOCAL]).object(KEY)) is not None:
                self.note("left-line", name=SETTINGS[LOCAL])
            return None
        self.unwired(line, "the status line goes", take_out)
        self.unlisted(line, line.lines)
        self.draft.write(LINE_MARK, None, "the mark")
        return line

    def _left_to_line(self, mark: InitMark) -> None:
        """Note in the status line's mark that `init` made the settings file, which stays for that line."""
        line = self.mark(LINE_MARK)
        if line is not None and SETTINGS[LOCAL] in mark.created:
            line.note_created(SETTINGS[LOCAL], is_new=True)
            self.draft.write(LINE_MARK, init_mark.render(line), "what --remove reads")

    def _begun(self, mode: str) -> InitMark:
        """The mark of a first run: that of permissions alone, if they were added before."""
        allowed = self.mark(PERMITS)
        if allowed is None:
            return self.new_mark(mode)
        self.draft.write(PERMITS, None, "part of the mark now")
        rules = allowed.settings.permissions
        allowed.run = any(rule in rules for rule in hook_table.RUN_PERMISSIONS)
        allowed.workflow = any(rule in rules for rule in hook_table.WORKFLOW_PERMISSIONS)
        return allowed

    def removal(self) -> Plan:
        """Draft the removal of everything that was added."""
        name = MARK if self.mark() is not None else PERMITS
        before, line = self.mark(name) or self._recognized(), self._without_line()
        created = [file for mark in (before, line) if mark is not None for file in mark.created]
        if before is None and line is None and not self.notes:
            self.note("nothing-in")
        folders: tuple[Path, ...] = ()
        if before is not None:
            before.created = tuple(created)  # what came with the status line is ours, too
            folders = self._without(before, name)
        return self._plan("", (*folders, *([self.root / FOLDER] if FOLDER in created else [])))

    def _recognized(self) -> InitMark | None:
        """A mark of what is ours for certain, if the real one is gone; what a person may own is noted."""
        containers = ("hooks", *(f"hooks.{event}" for event in hook_table.events()))
        own, modes = self._unnamed(Put(containers=containers)), self._unmarked()
        for mode in modes:
            self.unwired(InitMark(mode, own), _ENTRIES_GO)
        mark = InitMark(LOCAL, created=(FOLDER, *FOLDERS))
        config_file = Supply(config.CONFIG_FILE, settings_file(), "")
        for supply in (*claims(), *runs(), *workflows(), *self.wanted(mark), config_file):
            content, text = self.draft.read(supply.name) or b"", supply.text.encode()
            if content == text or WRITER.encode() in content:
                mark.sha256[supply.name] = digest(text)
        page = decoded(self.draft.read(SECTION_PAGE), SECTION_PAGE)
        mark.section = section().replace("\n", newline_of(page)) if SECTION_BEGIN in page else ""
        unsure = [what for name in SETTINGS.values() for what in self._unsure(name)]
        if unsure:
            self.note("kept-unsure", names=", ".join(unsure))
        return mark if modes or mark.sha256 or mark.section else None

    def _unsure(self, name: str) -> Iterator[str]:
        """What `init` and a person write alike in a settings file; notes the entries that stay there."""
        self.note_left(name)
        file = self._settings_of(name)
        allowed = map(str, file.object("permissions").get("allow", ()))
        rules = hook_table.EVER_PUT.intersection(allowed)
        if rules:
            yield f"{count(len(rules), 'permission')} in {name}"
        if hook_table.CAP in file.object("env"):
            yield f"{hook_table.CAP} in {name}"

    def _without(self, before: InitMark, name: str) -> tuple[Path, ...]:
        """Draft the removal of what `init` put in; returns folders to remove if they are empty."""
        self.unwired(before, _ENTRIES_GO)
        self.note_left(SETTINGS[before.mode])
        self.unlisted(before, before.lines)
        self.left_listed()
        folders = self.unstaged(before)
        self.unsectioned(before)
        if config.CONFIG_FILE in before.sha256:
            self.take(before, config.CONFIG_FILE)
        self.draft.write(name, None, "the mark")
        if (self.root / store.CLAIM_FILE).exists():
            self.note("claim-left", name=store.CLAIM_FILE)
        return folders

    def _unmarked(self) -> list[str]:
        """The modes whose settings have entries of ours, whatever the mark says.

        Of everybody's only those count that `init` signed: others may be somebody's own.
        """
        own = self._unnamed(Put())
        return [
            mode
            for mode, name in SETTINGS.items()
            if any(
                own.own_name(event, hook) and (mode == LOCAL or hook_table.is_signed(hook))
                for event, _, hook in self._settings_of(name).hooks
            )
        ]

    def _moved(self, mark: InitMark) -> None:
        """Draft the move from one person's settings to everybody's, so that they are never in both."""
        mark.settings = self._unnamed(mark.settings)
        self.unwired(mark, "moved to .claude/settings.json")
        self.note_left(SETTINGS[mark.mode])
        self._left_to_line(mark)
        self.unlisted(mark, [init_mark.EXCLUDE])
        mark.lines.pop(init_mark.EXCLUDE, None)
        mark.created = tuple(name for name in mark.created if name != SETTINGS[mark.mode])
        mark.mode, mark.settings = SHARED, Put()

    def _unnamed(self, put: Put) -> Put:
        """The additions, and entries without a mark, which name the present folder or the recorded one."""
        folders = (resources.hooks_folder(), user_folder.recorded(self.environment).hooks)
        hooks = tuple(
            init_mark.PutHook(wire.event, str(folder / wire.name))
            for folder in folders
            if folder
            for wire in WIRES
        )
        return replace(put, hooks=(*put.hooks, *hooks))

    def _wired(self, mark: InitMark) -> None:
        """Draft what goes into the settings; a hook that others' entries run is not set up twice."""
        mark.settings = self._unnamed(mark.settings)
        extra = self.extra(stages=mark.stages, run=mark.run, workflow=mark.workflow)
        others = [entry for entry in self._client.entries if self._is_kept(entry, mark)]
        # Entries that are only this person's are no reason to leave a hook out for everybody.
        is_all, shared = mark.mode == SHARED, self.root / SETTINGS[SHARED]
        instead = [entry for entry in others if not is_all or entry.file.path == shared]
        beside = [entry for entry in others if entry not in instead]
        if instead:
            names, hooks = _files_and_hooks(instead)
            self.note("wired-by-hand", names=names, hooks=hooks)
        if beside:
            names, hooks = _files_and_hooks(beside)
            self.note("run-twice", names=names, hooks=hooks)
        there = [entry.wire for entry in instead]
        form = shared_form if is_all else local_form(resources.hooks_folder())
        self.put_into(mark, form, extra, [wire for wire in WIRES if wire not in there])

    def _is_kept(self, entry: HookEntry, mark: InitMark) -> bool:
        """True if an entry does what one of ours does, and this plan neither replaces nor moves it."""
        path, own = entry.file.path, self.root / SETTINGS[LOCAL]
        is_mains = path.match(SETTINGS[LOCAL]) and path != own  # not every client reads it
        is_ours = entry.is_inits or mark.settings.own_name(entry.event, entry.hook) is not None
        is_replaced = is_ours and path in (own, self.root / SETTINGS[mark.mode])
        return entry.wire is not None and not (is_mains or is_replaced)

    def _recorded(self) -> None:
        """Draft the files in the user's own folder that tell hooks where command and scripts are."""
        command = user_folder.find_command(self.root, self.environment)
        if command is None:
            self.note("no-command")
            return
        if command.note:
            self.notes.append(command.note)
        hooks = resources.hooks_folder()
        trouble = user_folder.trouble(self.environment)
        if trouble:
            if user_folder.recorded(self.environment) != user_folder.Recorded(command.path, hooks):
                self.note("unrecorded", trouble=trouble)
            return
        contents = user_folder.lines_to_record(self.environment, command.path, hooks)
        for path, content in contents.items():
            shown = config.own_path(path.name, self.environment)
            what = "the command is" if path.name == user_folder.BIN else "the scripts are"
            self.draft.write(path, content, f"where {what}", shown, is_private=True)

    def _allowed(self) -> None:
        """Draft the yes to the program that keeps the tasks; an agent cannot give it, and gets a note."""
        try:
            program = registry.program(self.root, config.load(self.root, self.environment))
        except BadConfig as error:
            self.notes.append(error.sentence)
            return
        clone = store.clone_of(self.root)
        if not program or user_folder.allows(self.environment, clone, program):
            return
        is_agents = running_client.session_of({}, self.environment)
        if is_agents or user_folder.trouble(self.environment):
            self.note("untrusted", program=program)
            return
        path, content = user_folder.allowing(self.environment, clone, program)
        shown = config.own_path(path.name, self.environment)
        self.draft.write(path, content, f"{program} may run here", shown, is_private=True)


def copy_to(
    origin: Path, new: Path, *, environment: Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """Copy this worktree's files that git does not track to a new worktree; returns the paths written.

    They are the untracked `.lifecycle.toml`, except the main worktree's, which all worktrees read; our
    entries in the person's own settings with the mark; and the files that `init` supplied.
    No existing file is touched, and nothing is done for a project that `init` never wired.

    Args:
        origin: the worktree to copy from.
        new: the worktree that `git worktree add` just made.
        environment: names the user's home and PATH; the process's unless given.

    Raises:
        Refused: the settings in the new worktree cannot be merged with.
        GitFailed, Transient, OSError: from git, or the disk.
    """
    environment = os.environ if environment is None else environment
    written: list[Path] = []
    name = config.CONFIG_FILE
    settings = store.read(origin / name)
    if (
        settings is not None
        and not os.path.lexists(new / name)
        and config.file_of(new) != origin / name
        and not git_of(origin, environment).run("ls-files", "--", name)
    ):
        write_all([FileChange(new / name, name, None, settings.content)], {new / name: None})
        written.append(new / name)
    mark, problem = found_mark(origin)
    if (mark or problem) and store.read(new / MARK) is None:
        # A broken mark is the old worktree's problem; `init` and `doctor` report it there.
        named = ("stages", "run", "workflow") if mark is not None else ()
        parts = {part: getattr(mark, part) for part in named}
        todo = plan(new, environment=environment, only_wires=True, **parts)
        apply(todo)
        written += [change.path for change in todo.changes]
    return tuple(written)


def _files_and_hooks(entries: list[HookEntry]) -> list[str]:
    """The files that these entries are in, and the hooks that they run, each as one text."""
    texts = ([entry.file.shown for entry in entries], [entry.name for entry in entries])
    return [", ".join(dict.fromkeys(text)) for text in texts]
