"""Read everything about one worktree from files only: no network, no lock, nothing is written.

If a part cannot be read, only that part is missing, and one sentence says why. Rooms that are not in use
here are not imported, so that a worktree with only a claim is as quick as its claim.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lifecycle.core.errors import BadConfig
from lifecycle.core.light_dataclass import replace
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import Settings
from lifecycle.git.checked_out import branch_of
from lifecycle.settings import config
from lifecycle.storage import regular_files, store, workflow_marks
from lifecycle.views.overview import overview_values as values
from lifecycle.views.overview.overview_claim import claim_parts
from lifecycle.views.overview.overview_words import event_words
from lifecycle.views.overview.worktree_read import WorktreeRead, copied, plain

_LINE = 4096
"""The most characters of a path that are shown."""

_WORKFLOWS = (".claude/state/workflow.json", ".claude/state/workflows", "untracked/workflow-state")
"""Places of a workflow's documents; if none of these exists, its room is not imported."""

EVENTS = 8
"""How many entries of the journal are shown."""


def overview(root: Path, environment: Mapping[str, str], deadline: Deadline) -> values.Overview:
    """Read everything about the worktree `root` as it is now; never raises because of its files.

    Args:
        root: the worktree's top folder.
        environment: the variables: git is run with them, and they determine what is a secret.
        deadline: when git must have answered, if it is asked (only a run needs that).
    """
    reading = WorktreeRead(root, environment, deadline)
    where = reading.part("worktree", _worktree, values.OverviewWorktree(str(root), "", ""))
    settings = reading.part("settings", _settings, None)
    waits = None if settings is None else settings.waits_unattended
    is_staged = settings is None or settings.stages.use
    claim: dict[str, Any] = reading.part("claim", partial(claim_parts, waits=waits), {})
    parts = values.Overview(
        at=reading.now,
        worktree=where,
        # A session's data stays on the disk when the workflow is removed from the settings.
        stage=reading.part("stage", _stage, None) if is_staged else None,
        run=reading.part("run", _run, None),
        workflow=reading.part("workflow", _workflow, None),
        **claim,
    )
    return replace(
        parts,
        events=reading.part("events", partial(_events, tasks=parts.tasks), ()),
        # By now all parts were read, and each may have added to the list.
        awaited=tuple(sorted(reading.awaited, key=lambda wait: wait.since or reading.now)),
        troubles=reading.troubles,
    )


def watched(root: Path) -> tuple[Path, ...]:
    """The files whose dates show that an overview is out of date; some may not exist."""
    here = root / store.FOLDER
    marks = (store.STATE, "seen", "waiter", workflow_marks.OFF, workflow_marks.SESSIONS)
    places = (store.CLAIM_FILE, workflow_marks.RUN_FILE, ".claude/state", *_WORKFLOWS)
    named = [config.file_of(root), *(here / mark for mark in marks)]
    named += [root / place for place in places]
    named += [Path(entry.path) for entry in _entries(root / _WORKFLOWS[-1])]
    sessions = here / workflow_marks.SESSIONS
    named += [Path(entry.path) for entry in _entries(sessions) if entry.name.endswith(".json")]
    git = regular_files.git_folder(root)
    named += [Path(git, name) for name in ("HEAD", regular_files.REFTABLE) if git]
    common = store.common_folder(root)
    if common is not None:
        named += [common / "lifecycle" / f"journal.db{tail}" for tail in ("", "-wal")]
        named.append(common / regular_files.REFTABLE)
        branch = branch_of(root) or "HEAD"
        named += [Path(remote.path, branch) for remote in _entries(common / "refs/remotes")]
    return tuple(named)


def signature_of(files: Iterable[Path]) -> list[list[int]]:
    """Date, size and inode of each file: the value changes as soon as a file is changed or replaced."""
    return [regular_files.version_of(str(path)) for path in files]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if regular_files.strange_folder(str(folder)):
        return []
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _worktree(reading: WorktreeRead) -> values.OverviewWorktree:
    branch = branch_of(reading.root)
    clone = store.clone_of(reading.root)
    return values.OverviewWorktree(plain(reading.root, _LINE), plain(clone, _LINE), plain(branch))


def _settings(reading: WorktreeRead) -> Settings:
    """The settings; if they cannot be read, every wake ends before its look."""
    try:
        return config.load(reading.root, reading.environment)
    except BadConfig as error:
        what = "Until that is fixed, no hook does anything here, and nothing is watched."
        raise BadConfig(f"{error.sentence} {what}") from None


def _stage(reading: WorktreeRead) -> values.OverviewStage | None:
    """The last session of the staged workflow; None if there never was one."""
    if not _entries(reading.root / store.FOLDER / workflow_marks.SESSIONS):
        return None
    from lifecycle.stages.session import session_record, workflow_tasks
    from lifecycle.storage.workflow_files import WorkflowFiles

    files = WorkflowFiles(reading.root)
    records = [record for record in session_record.all_of(files) if record.was_led]
    if not records:
        return None
    newest = records[0]
    memory = newest.memory
    stage = plain(memory.set_stage.value if memory.set_stage is not None else newest.stage)
    # The claim's part has the claim's session itself.
    has_claim = os.path.lexists(reading.root / store.CLAIM_FILE)
    if newest.task and newest.is_gone and not (has_claim or files.is_off):
        if not workflow_tasks.is_over(files, newest.task, newest.at):
            reading.await_session("stage", newest.task, newest.at)
    elif memory.is_let_go and not files.is_off:
        where = stage or "its stage"
        what = f"The session was told too often to continue with {where}, and may now stop"
        reading.await_person("stage", what, newest.at, "lifecycle stage status")
    return values.OverviewStage(
        session=plain(newest.session),
        task=plain(newest.task or newest.ended.removeprefix(session_record.NAMELESS)),
        stage=stage,
        is_set=memory.set_stage is not None,
        is_over=bool(newest.ended) and not newest.task,
        is_let_go=memory.is_let_go,
        is_off=files.is_off,
        told=memory.blocks,
        at=newest.at,
    )


def _run(reading: WorktreeRead) -> values.OverviewRun | None:
    """The autonomous run; None if there is none."""
    if not os.path.lexists(reading.root / workflow_marks.RUN_FILE):
        return None
    from lifecycle.views.overview.overview_run import run_part

    return run_part(reading)


def _workflow(reading: WorktreeRead) -> values.OverviewWorkflow | None:
    """The workflow that survives compaction; None if there is none."""
    if not any(os.path.lexists(reading.root / place) for place in _WORKFLOWS):
        return None
    from lifecycle.views.overview.overview_workflow import workflow_part

    return workflow_part(reading)


def _events(reading: WorktreeRead, tasks: Collection[str]) -> tuple[values.OverviewEvent, ...]:
    """The last journal entries about these tasks, or about any if none is given; clones share a journal."""
    from lifecycle.storage import journal

    about: list[dict[str, Any]] = [{"task": task} for task in tasks] or [{}]
    newest = partial(journal.read, reading.root, count=EVENTS)
    entries = [entry for equal in about for entry in newest(**equal)]
    return tuple(
        copied(values.OverviewEvent, entry, what=plain(event_words(entry)).rstrip(": "))
        for entry in sorted(entries, key=lambda entry: entry.at)[-EVENTS:]
    )
