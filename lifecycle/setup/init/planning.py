"""What `init` and `init --remove` will do to one project, worked out before anything is written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.git.tracked_files import OWN_LINES
from lifecycle.run import run_store
from lifecycle.settings import config, resources, running_client, user_folder
from lifecycle.setup.init import client_settings, protocol_section
from lifecycle.setup.init import init_mark as mark
from lifecycle.setup.init.found_hooks import ClientSetup, plugins
from lifecycle.setup.init.hook_table import (
    NAMES,
    WIRES,
    Form,
    local_form,
    shared_form,
)
from lifecycle.setup.init.init_mark import (
    EXCLUDE,
    IGNORE,
    LOCAL,
    MARK,
    PERMITS,
    SETTINGS,
    SHARED,
    Extra,
    InitMark,
    Put,
)
from lifecycle.setup.init.planned_files import (
    FileChange,
    FileDraft,
    PutLines,
    add_lines,
    take_out_lines,
    unwritten,
    write_all,
)
from lifecycle.setup.init.staged_setup import FILES, LOG_LINE, Staging
from lifecycle.setup.init.status_line import LINE_MARK, put_in, take_out
from lifecycle.setup.init.supplies import claims, page_of, runs, workflows
from lifecycle.storage import store
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.trackers import registry
from lifecycle.workflow.store import document_files

PERMISSIONS_ALONE = "permissions"
"""The mode of a project whose hooks are the plugin's."""

STATUS_LINE = "statusline"
"""The mode of a project that has the status line put in, whatever else."""

_FOLDER = ".claude/"
_GIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done.

    Attributes:
        root: the worktree.
        mode: "local" or "shared" if lifecycle is wired afterwards, "permissions" if it is only allowed, ""
            if it is neither.
        changes: the files, in the order in which to show them.
        notes: what a person should know.
        folders: folders that go if they are empty afterwards.
        label: what the staged workflow's tasks are labelled with, if it is wired; "" if not.
        run: what autonomous runs need is there afterwards.
        workflow: what workflows need is there afterwards.
    """

    root: Path
    mode: str
    changes: tuple[FileChange, ...]
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
        shared: for everybody in the repository, not for this person alone. A project that is shared
            already stays so.
        remove: take out what was put in.
        stages: the staged workflow as well. A project that has it keeps it.
        run: what autonomous runs need as well. A project that has it keeps it.
        workflow: what workflows need as well. A project that has it keeps it.
        only_wires: nothing that a person edits: no settings of lifecycle's own.
        permissions: for one person, what the agent runs unasked and nothing else: the plugin has the hooks.
        statusline: for one person, the client's status line and nothing else.
        environment: names the user's home and PATH.

    Raises:
        Refused: no worktree, settings that cannot be merged with, or a mark that cannot be read.
        GitFailed, Transient: git.
    """
    project = _Project(root, environment, only_wires=only_wires)
    if permissions:
        return project.permission(run=run, workflow=workflow)
    if statusline:
        return project.status_line()
    before = project.mark()
    if remove:
        return project.removal(before or project.mark(PERMITS), PERMITS if before is None else MARK)
    asked = {"stages": stages, "run": run, "workflow": workflow}
    return project.installation(before, shared=shared, **asked)


def apply(plan: Plan) -> None:
    """Do it: all of it or, if a file cannot be written, nothing.

    Raises:
        Refused: a file changed since the plan was made; nothing was written.
        OSError: a file cannot be written; the others were put back.
    """
    marks = (plan.root / MARK, plan.root / PERMITS, plan.root / LINE_MARK)
    is_going = any(change.path in marks and change.after is None for change in plan.changes)
    # The mark is there before, and goes after, whatever it speaks of.
    write_all(sorted(plan.changes, key=lambda change: (change.path in marks) is is_going))
    for folder in plan.folders:
        with contextlib.suppress(OSError):  # somebody keeps something there
            folder.rmdir()


@dataclass
class _Project:
    """One worktree and the files of a plan."""

    root: Path
    environment: Mapping[str, str]
    only_wires: bool = False
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draft = FileDraft(self.root)
        if not (self.root / ".git").exists():
            raise Refused(
                f"{self.root} is no git worktree, so nothing was written; go to the repository that you "
                "work in."
            )
        for name in (*SETTINGS.values(), MARK, PERMITS, LINE_MARK):
            self._need_inside(name)
        if os.path.lexists(self.root / _FOLDER.rstrip("/")) and not (self.root / _FOLDER).is_dir():
            raise Refused(
                ".claude is no folder, so nothing was written; move it away and run this again."
            )

    def _need_inside(self, name: str) -> None:
        """Refuse a symbolic link on the way to a file that leads out of the worktree, or nowhere in it.

        A repository can bring such a link: what is written through it would lie in somebody's home.
        """
        target = Path(os.path.realpath(self.root / name))
        if not target.is_relative_to(os.path.realpath(self.root)):
            raise Refused(
                f"{name} is behind a symbolic link that leads out of this worktree, to {target}, so "
                "nothing was written; put a file in the link's place and run this again."
            )

    def mark(self, name: str = MARK) -> InitMark | None:
        """What an earlier run left, or None."""
        content = self.draft.read(name)
        return mark.parse(content) if content is not None else None

    @cached_property
    def staging(self) -> Staging:
        """The staged workflow's part of the plan."""
        return Staging(self.root, self.environment, self.draft, self.notes)

    def installation(
        self, before: InitMark | None, *, shared: bool, stages: bool, run: bool, workflow: bool
    ) -> Plan:
        """Put everything in that is not in."""
        mode = SHARED if shared or (before and before.mode == SHARED) else LOCAL
        if before is not None and before.mode != mode:
            before = self._moved(before, mode)
        elif before is not None and before.mode == SHARED and not shared:
            self.notes.append(
                f"This repository wires lifecycle for everybody already ({SETTINGS[SHARED]}); it stays so."
            )
        new = before or self._begun(mode)
        is_new = stages and not new.stages
        new = replace(
            new,
            stages=stages or new.stages,
            run=run or new.run,
            workflow=workflow or new.workflow,
        )
        new = self._wired(new)
        if new.stages:
            for name in (config.CONFIG_FILE, *FILES, page_of(self.staging.start)):
                self._need_inside(name)
            new = self.staging.put_in(new, is_new=is_new, has_config=not self.only_wires)
        supplied = [*claims(), *(runs() if new.run else ())]
        supplied += workflows() if new.workflow else ()
        for file in supplied:
            self._need_inside(file.name)
        new = self.staging.supply(new, supplied)
        if new.workflow and not self.only_wires:
            new = self._sectioned(new)
        if not self.only_wires and not config.file_of(self.root).is_file():
            new = self.staging.settle(new)
        new = self._listed(new)
        self.draft.write(MARK, mark.render(new), "the mark, which --remove reads")
        self._recorded()
        if not self.only_wires:
            self._allowed()
        for where, name in plugins(self.root, self.environment):
            self.notes.append(
                f"The plugin {name} is enabled too ({where}); its hooks stay quiet here, so that nothing "
                "runs twice."
            )
        # The mark is made last and shown behind what it speaks of.
        label = self.staging.settings.label if new.stages else ""
        notes = tuple(self.notes)
        whole = Plan(self.root, mode, self.draft.changes(), notes, label=label)
        return replace(whole, run=new.run, workflow=new.workflow)

    def permission(self, *, run: bool, workflow: bool) -> Plan:
        """Put in what the agent runs unasked, for whoever has the hooks from the plugin."""
        wired = self.mark()
        if wired is not None:
            self.notes.append(
                "lifecycle init wired this project, and put its permissions in as well."
            )
            return Plan(self.root, wired.mode, (), tuple(self.notes))
        new = self.mark(PERMITS) or InitMark(LOCAL, created=self._new_folder())
        stages = self.staging.settings.use
        extra = self.staging.extra(stages=stages, run=run, workflow=workflow)
        if not run:
            extra = Extra(extra.permissions)
        new = self._put_into(new, None, extra)
        new = self._listed(new, PERMITS)
        self.draft.write(PERMITS, mark.render(new), "what --remove reads")
        return Plan(self.root, PERMISSIONS_ALONE, self.draft.changes(), tuple(self.notes))

    def status_line(self) -> Plan:
        """Put the client's status line in, for one person."""
        new = self.mark(LINE_MARK) or InitMark(LOCAL, created=self._new_folder())
        name = SETTINGS[LOCAL]
        content = self.draft.read(name)
        others = ClientSetup.read(self.root, self.environment).files[:-1]
        text, put = put_in(_decoded(content, name), name, new.settings, others)
        self.draft.write(name, text.encode(), "the status line")
        new = replace(new, settings=put, created=new.created_with(name, is_new=content is None))
        new = self._listed(new, LINE_MARK)
        self.draft.write(LINE_MARK, mark.render(new), "what --remove reads")
        self._recorded()
        return Plan(self.root, STATUS_LINE, self.draft.changes(), tuple(self.notes))

    def _without_line(self) -> InitMark | None:
        """Take the status line out; what was put in with it, or None if there was none."""
        line = self.mark(LINE_MARK)
        if line is None:
            return None
        name = SETTINGS[LOCAL]
        content = self.draft.read(name)
        if content is not None:
            text = take_out(_decoded(content, name), name, line.settings)
            gone = not text.strip("\ufeff{} \t\r\n") and name in line.created
            self.draft.write(name, None if gone else text.encode(), "the status line goes")
        for listed in line.lines:
            self._unlisted(line, listed)
        self.draft.write(LINE_MARK, None, "the mark")
        return line

    def _new_folder(self) -> tuple[str, ...]:
        return () if (self.root / _FOLDER).exists() else (_FOLDER,)

    def _begun(self, mode: str) -> InitMark:
        """The mark of a first run; what was only allowed until now goes, to be put in with the rest."""
        allowed = self.mark(PERMITS)
        if allowed is None:
            return InitMark(mode, created=self._new_folder())
        self._unwired(allowed, "its permissions go into the whole")
        for name in allowed.lines:
            self._unlisted(allowed, name)
        self.draft.write(PERMITS, None, "part of the mark now")
        return InitMark(mode, created=tuple(name for name in allowed.created if name == _FOLDER))

    def removal(self, before: InitMark | None, name: str) -> Plan:
        """Take everything out that was put in, as the mark called `name` says."""
        line = self._without_line()
        if before is None:
            if line is None:
                self.notes.append(
                    "lifecycle init put nothing into this project, so there is nothing to take out."
                )
            created = line.created if line is not None else ()
            emptied = (self.root / _FOLDER,) if _FOLDER in created else ()
            return Plan(self.root, "", self.draft.changes(), tuple(self.notes), emptied)
        if line is not None:  # what came with the line is as much ours
            before = replace(before, created=(*before.created, *line.created))
        self._unwired(before, "lifecycle's entries go")
        for listed in before.lines:
            self._unlisted(before, listed)
        folders = self.staging.take_out(before)
        self._unsectioned(before)
        if config.CONFIG_FILE in before.sha256:
            self.staging.take(before, config.CONFIG_FILE)
        self.draft.write(name, None, "the mark")
        if (self.root / CLAIM_FILE).exists():
            self.notes.append(
                f"A claim is still here ({CLAIM_FILE}); no hook looks at it any more. Release it with: "
                "lifecycle release"
            )
        if _FOLDER in before.created:
            folders = (*folders, self.root / _FOLDER)
        return Plan(self.root, "", self.draft.changes(), tuple(self.notes), folders)

    def _moved(self, before: InitMark, mode: str) -> InitMark:
        """From one person's settings to everybody's: never both."""
        self._unwired(before, "moved to .claude/settings.json")
        self._unlisted(before, EXCLUDE)
        kept = {name: put for name, put in before.lines.items() if name != EXCLUDE}
        created = tuple(name for name in before.created if name != SETTINGS[before.mode])
        return replace(before, mode=mode, settings=Put(), lines=kept, created=created)

    def _wired(self, before: InitMark) -> InitMark:
        # Entries of ours that no mark speaks of may name the folder that was recorded before.
        folders = (resources.hooks_folder(), user_folder.recorded(self.environment).hooks)
        forms = [local_form(folder) for folder in folders if folder is not None]
        known = tuple((w.event, str(form(w.name)["command"])) for form in forms for w in WIRES)
        put = replace(before.settings, hooks=(*before.settings.hooks, *known))
        is_shared = before.mode == SHARED
        form = shared_form if is_shared else local_form(resources.hooks_folder())
        extra = self.staging.extra(stages=before.stages, run=before.run, workflow=before.workflow)
        return self._put_into(replace(before, settings=put), form, extra)

    def _put_into(self, before: InitMark, form: Form | None, extra: Extra | None) -> InitMark:
        name = SETTINGS[before.mode]
        content = self.draft.read(name)
        text, put = client_settings.wire(
            _decoded(content, name), name, form, before.settings, extra
        )
        hooks = f"{len(NAMES)} hooks, " if form is not None else ""
        what = f"{hooks}{len(put.permissions)} permissions"
        self.draft.write(name, text.encode(), what)
        created = before.created_with(name, is_new=content is None)
        return replace(before, settings=put, created=created)

    def _unwired(self, before: InitMark, what: str) -> None:
        name = SETTINGS[before.mode]
        content = self.draft.read(name)
        if content is None:
            return
        text = client_settings.unwire(_decoded(content, name), name, before.settings)
        root = client_settings.read(text, name)
        # Empty, or an object with nothing in it, not even a comment.
        rest = text.strip("\ufeff \t\r\n")
        is_empty = not rest or (root is not None and not rest.strip("{} \t\r\n"))
        gone = is_empty and name in before.created
        self.draft.write(name, None if gone else text.encode(), what)
        if not gone:
            for event, script in client_settings.left(text, name):
                self.notes.append(
                    f"{name} still runs {script} at {event}, in an entry that is not as it was put in; "
                    "it was kept."
                )

    def _listed(self, before: InitMark, mark_name: str = MARK) -> InitMark:
        """Keep our own files out of git: everybody's in `.gitignore`, one person's in `info/exclude`."""
        wanted = (
            *OWN_LINES,
            *((LOG_LINE,) if before.stages else ()),
            *(run_store.LINES if before.run else ()),
            *(document_files.LINES if before.workflow else ()),
        )
        name, path = IGNORE, self.root / IGNORE
        if before.mode == LOCAL:
            # What is one person's is excluded in this clone alone, and nothing of it is there to commit.
            name, path = EXCLUDE, self._exclude()
            new_files = (SETTINGS[LOCAL], protocol_section.FILE)
            own_files = (mark_name, *(n for n in new_files if n in before.created), *before.sha256)
            wanted = (*wanted, *(f"/{file}" for file in own_files))
        if path.is_symlink():
            self.notes.append(f"{name} is a symbolic link, which was not written through.")
            return before
        content = self.draft.read(path)
        added, put = add_lines(content or b"", wanted, before.lines.get(name, PutLines()))
        if added == (content or b""):
            return before
        self.draft.write(path, added, f"{len(put.lines)} lines", _shown(name))
        created = before.created_with(name, is_new=content is None)
        return replace(before, lines={**before.lines, name: put}, created=created)

    def _unlisted(self, before: InitMark, name: str) -> None:
        path = self._exclude() if name == EXCLUDE else self.root / name
        content, put = self.draft.read(path), before.lines.get(name)
        if content is None or put is None or path.is_symlink():
            return
        left = take_out_lines(content, put)
        gone = not left and name in before.created
        self.draft.write(path, None if gone else left, "lifecycle's lines go", _shown(name))

    def _sectioned(self, before: InitMark) -> InitMark:
        """The section of CLAUDE.md, unless somebody wrote one of their own."""
        name = protocol_section.FILE
        self._need_inside(name)
        if os.path.lexists(self.root / name) and not (self.root / name).is_file():
            self.notes.append(f"{name} is no file and was kept.")
            return before
        content = self.draft.read(name)
        after, piece = protocol_section.put_in(content or b"", before.section)
        if after is None:
            self.notes.append(f"The section of {name} is your own and was kept.")
        elif after != content:
            self.draft.write(name, after, f'the section "{protocol_section.TITLE}"')
            before = replace(before, created=before.created_with(name, is_new=content is None))
        return replace(before, section=piece)

    def _unsectioned(self, before: InitMark) -> None:
        name = protocol_section.FILE
        content = self.draft.read(name) if before.section else None
        if content is None:
            return
        self._need_inside(name)
        left = protocol_section.take_out(content, before.section)
        if left is None:
            self.notes.append(f"The section of {name} was changed since and was kept.")
            return
        gone = not left and name in before.created
        self.draft.write(name, None if gone else left, f'without "{protocol_section.TITLE}"')

    def _recorded(self) -> None:
        """What the hook scripts find in the user's own folder."""
        command = user_folder.find_command(self.root, self.environment)
        if command is None:
            self.notes.append(
                "No lifecycle command was found to record; the hooks look for one on PATH."
            )
            return
        if command.note:
            self.notes.append(command.note)
        wanted = user_folder.lines_to_record(
            self.environment, command.path, resources.hooks_folder()
        )
        for path, content in wanted.items():
            shown = user_folder.shown(path.name, self.environment)
            what = "the command is" if path.name == user_folder.BIN else "the scripts are"
            self.draft.write(path, content, f"where {what}", shown, is_private=True)

    def _allowed(self) -> None:
        """Whoever wires a project lets the program run that keeps its tasks; an agent cannot say so."""
        try:
            program = registry.program(self.root, config.load(self.root, self.environment))
        except BadConfig as error:
            self.notes.append(error.sentence)
            return
        clone = store.clone_of(self.root)
        if not program or user_folder.allows(self.environment, clone, program):
            return
        if running_client.session_of({}, self.environment):
            self.notes.append(
                f"{program} keeps the tasks here and may not run yet; a person allows it with: lifecycle "
                "trust"
            )
            return
        path, content = user_folder.allowing(self.environment, clone, program)
        shown = user_folder.shown(path.name, self.environment)
        self.draft.write(path, content, f"{program} may run here", shown, is_private=True)

    def _exclude(self) -> Path:
        git = git_of(self.root, self.environment)
        return self.root / git.run("rev-parse", "--git-path", EXCLUDE)


def git_of(root: Path, environment: Mapping[str, str]) -> GitRepository:
    """Git in a worktree, for as long as a plan may ask it."""
    return GitRepository(root, Deadline.after(SystemClock(), _GIT_SECONDS), environment)


def _shown(name: str) -> str:
    return f".git/{name}" if name == EXCLUDE else name


def _decoded(content: bytes | None, name: str) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise unwritten(f"{name} is not UTF-8 (byte {error.start + 1})") from None
