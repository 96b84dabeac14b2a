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

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.engine import briefing
from lifecycle.claim.record.claim_file import complaint
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Whom
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import BadConfig
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Audience
from lifecycle.core.timing import Deadline, parse_time
from lifecycle.core.values.configured import Settings
from lifecycle.git.checked_out import branch_of
from lifecycle.settings import config
from lifecycle.storage import journal, regular_files, signs_of_life, store, workflow_marks
from lifecycle.views.overview import overview_values as values
from lifecycle.views.overview.overview_words import event_words
from lifecycle.views.overview.worktree_read import WorktreeRead, address, copied, last_move, plain

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
    about: list[dict[str, Any]] = [{"task": task} for task in tasks] or [{}]
    newest = partial(journal.read, reading.root, count=EVENTS)
    entries = [entry for equal in about for entry in newest(**equal)]
    return tuple(
        copied(values.OverviewEvent, entry, what=plain(event_words(entry)).rstrip(": "))
        for entry in sorted(entries, key=lambda entry: entry.at)[-EVENTS:]
    )


_STOPPED = ("held", "missing", "stale", "hidden")
"""The kinds of checks that have neither passed nor failed, and are not running."""

_RUNS_ON = ("running", "unfinished", *_STOPPED)


def claim_parts(reading: WorktreeRead, *, waits: bool | None) -> dict[str, Any]:
    """Read the claim and what is remembered beside it: the fields of the overview about them.

    Raises:
        ClaimRefused: the claim's file cannot be read; it was left unchanged.
        StrangeFileError: the path of one of our files is not a regular file.
    """
    claim_store = ClaimStore(reading.root, reading.deadline.clock)
    record = claim_store.shown()
    notices = claim_store.notices_of(record)
    waiting, times = tuple(plain(notice.text, 500) for notice in notices), _queued(claim_store)
    for notice in notices:
        if notice.audience is Audience.NOTE:
            reading.await_person("waiting", notice.text, times.get(notice.key, 0.0))
    if record is None:
        return {"waiting": waiting}
    session = record.ownership.session
    signs = signs_of_life.signs_of(claim_store.folder, session, reading.now)
    pull = _pull(record)
    hears = claim_store.marks.hears_prompts(record.created_at)
    hooks = claim_store.hooks_for(record, reading.environment, waits=waits)
    following = briefing.next_line(record, hears_prompts=hears, hooks=hooks)
    claim = _claim(reading, record, signs, following)
    _await(reading, record, pull, times)
    since = max(record.created_at, record.ownership.session_at)
    is_alive = signs_of_life.seems_alive(signs, since, reading.now)
    if session and not is_alive and not claim.lost and not record.ending.outcome:
        reading.await_session("claim", f"#{claim.issue}", signs.last_at or since)
    return {"claim": claim, "pull": pull, "checks": _checks(record), "waiting": waiting}


def _queued(claim_store: ClaimStore) -> dict[str, float]:
    """When each sentence was queued, by its key in the ledger; without what the ledger does not say."""
    entries: dict[str, Any] = claim_store.state.get("said", {})
    moments = {key: entry.get("at") for key, entry in entries.items() if isinstance(entry, dict)}
    return {key: float(at) for key, at in moments.items() if isinstance(at, int | float)}


def _claim(
    reading: WorktreeRead, record: Record, signs: signs_of_life.Signs, following: str
) -> values.OverviewClaim:
    claim, number = record.claim, record.claim.issue
    since = last_move(reading, journal.CLAIM, f"#{number}", claim.phase)
    is_first = claim.phase == Phase.CODING and since < record.created_at
    return copied(
        values.OverviewClaim,
        claim,
        issue=number,
        url=_issue_url(reading, record),
        title=plain(record.title),
        agent=plain(claim.agent_id),
        is_confirmed=derive.is_confirmed(record),
        since=record.created_at if is_first else since,
        taken_at=record.created_at,
        session=plain(record.ownership.session),
        active_at=signs.last_at or 0.0,
        is_watched=signs.has_waiter,
        is_releasing=record.ending.releasing is not None,
        lost=plain(derive.loss_line(record), 500) if record.is_lost else "",
        next=plain(following, 500),
        linked_task=plain(record.linked.link.id) if record.linked.link is not None else "",
    )


def _issue_url(reading: WorktreeRead, record: Record) -> str:
    """The issue's page on the configured host; "" before a look has shown the claim's repository."""
    number, repository = record.claim.issue, record.ownership.repository
    if not (number and repository):
        return ""
    api_url = config.addresses(reading.environment).api_url  # http only for this machine
    site = f"{api_url.partition(':')[0]}://{config.web_host(api_url)}"
    return address(f"{site}/{repository}/issues/{number}")


def _pull(record: Record) -> values.OverviewPull | None:
    number, pull = record.claim.pr_number, record.pull
    if not number:
        return None
    changes_by = tuple(plain(name, 60) for name in pull.changes_by)
    conflicts = plain(pull.conflicts_with)
    return values.OverviewPull(
        number, address(pull.url), plain(pull.head, 40), _standing(record), changes_by, conflicts
    )


def _standing(record: Record) -> values.PullStanding:
    phase, ending, checks = PHASES.get(record.claim.phase), record.ending, record.pull.checks or {}
    is_confirmed = derive.is_confirmed(record)
    if phase is Phase.MERGED_DETECTED and is_confirmed:
        return values.PullStanding.MERGED
    if phase is Phase.DONE:
        is_merged = bool(ending.consent) and not ending.override
        return values.PullStanding.MERGED if is_merged else values.PullStanding.UNKNOWN
    if phase is Phase.PR_CLOSED and is_confirmed:
        return values.PullStanding.CLOSED
    rows: tuple[tuple[object, values.PullStanding], ...] = (
        (checks.get("failed") and not checks.get("waits"), values.PullStanding.FAILED),
        (record.pull.conflicts_with, values.PullStanding.CONFLICT),
        (record.pull.changes_by, values.PullStanding.CHANGES),
        (checks.get("waits"), values.PullStanding.HELD),
        (any(checks.get(key) for key in _RUNS_ON), values.PullStanding.RUNNING),
        (checks.get("passed"), values.PullStanding.PASSED),
        (checks, values.PullStanding.UNCHECKED),
    )
    return next((standing for holds, standing in rows if holds), values.PullStanding.UNKNOWN)


def _checks(record: Record) -> values.OverviewChecks | None:
    checks = record.pull.checks
    if checks is None or PHASES.get(record.claim.phase) not in IN_REVIEW:
        return None
    kinds = ("failed", *_STOPPED)
    names = {key: tuple(plain(name, 100) for name in checks.get(key) or ()) for key in kinds}
    return values.OverviewChecks(
        polled_at=parse_time(record.claim.last_check_poll) or 0.0,
        passed=checks.get("passed", 0),
        running=checks.get("running", 0),
        line=plain(briefing.checks_line(record), 500),
        **names,
    )


def _await(
    reading: WorktreeRead, record: Record, pull: values.OverviewPull | None, times: dict[str, float]
) -> None:
    """Note the claim's matters for a person, and since when each was said."""

    def last_said(event: str) -> float:
        """When a sentence of the claim whose event begins with this was last queued; 0.0 if none was."""
        begin = f"{record.claim_key}/{event}"
        return max((at for key, at in times.items() if key.startswith(begin)), default=0.0)

    for line in briefing.question_lines(record):
        reading.await_person("claim", line, last_said("merged:"), "lifecycle close")
    for line in briefing.closed_lines(record):
        reading.await_person("claim", line, last_said("closed"))
    if pull is not None and PHASES.get(record.claim.phase) in IN_REVIEW and not record.is_lost:
        number, head = pull.number, (record.pull.checks or {}).get("sha", "")
        by_others = (Whom.AUTHOR, Whom.QUEUE, Whom.AUTO_MERGE)
        merging, is_passed = record.pull.merging, pull.state is values.PullStanding.PASSED
        is_unchecked = pull.state is values.PullStanding.UNCHECKED and bool(merging.standing)
        if (is_passed or is_unchecked) and merging.awaits not in by_others:
            since = last_said(f"{'green' if is_passed else 'unchecked'}:{number}:{head}")
            what = briefing.until_the_merge(record).removesuffix(".")
            reading.await_person("pull", what, since, pull.url)
        if pull.state is values.PullStanding.HELD:
            since = last_said(f"waits:{number}:{head}")
            reading.await_person("checks", briefing.checks_line(record), since, pull.url)
        if briefing.is_asked(record):
            since = last_said(f"ci-stop:{number}:")
            reading.await_person("checks", briefing.ASKED, since, briefing.GO_ON)
    for kind, trouble in record.troubles.items():
        is_persons = trouble.is_final and not trouble.for_agent
        if is_persons and (what := complaint(kind, trouble.sentence, record.claim.issue_number)):
            reading.await_person("claim", what, last_said(f"refused:{kind}:"))
