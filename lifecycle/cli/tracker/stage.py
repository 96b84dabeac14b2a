"""`lifecycle stage`: show the staged workflow's state in this worktree, and set it by hand."""

from __future__ import annotations

import sys
from typing import Any

import click

from lifecycle.app import tracker_opening
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup
from lifecycle.cli.terminal import say_all
from lifecycle.cli.tracker.tracker_values import sentence
from lifecycle.core.errors import GitFailed, LifecycleError, Refused, Transient
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import quoted
from lifecycle.core.stage_names import LINE, MARKERS, Stage
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import StageSettings
from lifecycle.evidence import records, tree_hash
from lifecycle.evidence.checks import known_checks
from lifecycle.settings.resources import drawn
from lifecycle.stages.decisions import decide
from lifecycle.stages.session import activation, session_record, workflow_tasks
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.stages.stop.staged_task import can_run_tests
from lifecycle.stages.transcript import stop_input
from lifecycle.storage import regular_files, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

TAIL = 1_000_000
"""Bytes at the end of the text in which a stage is looked for."""


KINDS = {"stage": click.Choice([stage.value for stage in Stage])}
"""Click's types for words on the command line, beside those of `main.py`."""


@click.group("stage", cls=RowGroup, table="tracker/stage", first=WorktreeWorld.refuse_tracked)
def command() -> None:
    """The staged workflow of labelled tasks: coding, reviews, tests, closing, the next task.

    It is switched on with [stages] use = true in .lifecycle.toml (lifecycle init --stages), and leads
    a session from stage to stage while the tracker has an open task with the label.
    """


def detect(*, as_json: bool) -> None:
    """Read text on stdin and print its stage: from a marker, or from what it says in words.

    Prints one of the six completions, IN_PROGRESS, IN_TESTING, IN_ORACLE_REVIEW or UNKNOWN.
    """
    from lifecycle.stages.detection.detect_stage import detect_text

    content = b""
    while sys.stdin is not None and (chunk := sys.stdin.buffer.read(TAIL)):
        content = (content + chunk)[-TAIL:]
    detected = detect_text(content.decode("utf-8", "replace"))
    data = {"stage": detected.state.value, "tier": detected.tier.value, "why": detected.why}
    say_all([detected.state.value], data, as_json=as_json)


def status(session: Session) -> None:
    """Show whether the workflow is active here, and at which stage the session is.

    In a client's session it shows that session; elsewhere the last one that was active here.
    """
    from lifecycle.setup.init.found_hooks import ClientSetup

    stages, files = session.world.settings.stages, WorkflowFiles(session.root)
    why, activity = _why_off(session), None
    if not why:
        try:
            before = workflow_tasks.known(files, session.world.tracker, stages)
            activity = workflow_tasks.asked_anew(session.world, before)
        except LifecycleError as error:
            why = f"the tracker does not answer. {error.sentence}"
    tasks = activity.tasks if activity is not None else ()
    if not tasks:
        why = f"Not active: {why or f'there is no open task with the label {stages.label}.'}"
    data = {"active": bool(tasks), "why": why, "tasks": [task.id for task in tasks]}
    note = tracker_opening.note_of(session.world) if activity is not None else ""
    words: dict[str, Any] = {"label": stages.label, "note": note, "markers": MARKERS}
    if activity is not None and tasks:
        more, own = _session_standing(session, stages, activity, _kept(session, files))
        data, words = data | more, words | own
        client = ClientSetup.read(session.root, session.world.environment)
        words["is_unheard"] = not client.runs("on-stop")
    session.show(drawn("cli/tracker/templates/stage.txt", data=data, **words), data)


def set_(session: Session, stage: str, *, task: str) -> None:
    """Set the stage by hand: the session gets the instruction of that stage at its next stop.

    In a client's session it sets that session's stage; elsewhere that of the last one that was active here,
    or of the next one that stops. The counts of how often it was told to continue begin again at zero.

    The stages: CODING, REQUIREMENTS_REVIEW, TESTING, ORACLE_REVIEW, COMMIT_CLOSE, NEXT_TASK.
    """
    _demand_on(session)
    stages, files = session.world.settings.stages, WorkflowFiles(session.root)
    record = _kept(session, files) or SessionRecord("")
    if task:
        tracked = session.world.tracker.get(task)
        if not any(stages.is_label(name) for name in tracked.labels):
            raise Refused(sentence("no-label", task=tracked.id, label=stages.label))
        record = replace(record.on(tracked.id, tracked.labels, tracked.assignee), is_set=True)
    memory = decide.Memory(set_stage=Stage(stage))
    record = replace(record, memory=memory, stage=stage, at=session.now)
    with files.locked(session.world.deadline.remaining()):
        session_record.save(files, record)
        files.set_due(workflow_marks.ALWAYS)
    who = f"session {record.session}" if record.session else "the session that stops next"
    where = f"{stage} of {record.task}" if record.task else stage
    line = f"At its next stop, {who} will be told that it is at {where}."
    session.show([line], {"session": record.session, "task": record.task, "stage": stage})


def off(session: Session) -> None:
    """Switch the workflow off in this worktree; no session gets instructions until it is on again."""
    WorkflowFiles(session.root).switch(off=True)
    session.show([sentence("stages-off")], {"off": True})


def on(session: Session) -> None:
    """Switch the workflow on again in this worktree, after off."""
    if session.world.settings.stages.use:  # else it is refused, and nothing is changed
        WorkflowFiles(session.root).switch(off=False)
    _demand_on(session)
    session.show(["The staged workflow is on in this worktree."], {"off": False})


def _why_off(session: Session) -> str:
    """Why the workflow is not on here, and what to do; "" if it is on. BadConfig."""
    if not session.world.settings.stages.use:
        return f"{regular_files.CONFIG_FILE} does not switch it on; run: lifecycle init --stages"
    if WorkflowFiles(session.root).is_off:
        return "it is switched off in this worktree; run: lifecycle stage on"
    activation.wanted_in(session.world)
    return ""


def _demand_on(session: Session) -> None:
    """Refuse to continue if the workflow is off."""
    if why := _why_off(session):
        raise Refused(sentence("not-active", why=why))


def _kept(session: Session, files: WorkflowFiles) -> SessionRecord | None:
    """The record of the client's session that runs this; at a terminal, of the last session here."""
    own = session.client_session
    if own:
        return session_record.load(files, own) or SessionRecord(own)
    records = session_record.all_of(files)
    with_names = [record for record in records if record.session and record.was_led]
    return with_names[0] if with_names else session_record.load(files, "")


def _session_standing(
    session: Session, stages: StageSettings, activity: Activity, record: SessionRecord | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Where the session stood at its last stop, for `--json`; and further words for a person."""
    if record is None:
        return {"session": None}, {}
    memory, sequence, own = record.memory, stages.line_of(record.labels), record.task
    names = [step.value for step in sequence]
    data: dict[str, Any] = {"session": record.session, "task": "", "stage": None, "line": names}
    if record.ended and not own:
        return {**data, "line": [], "ended": record.ended}, {}
    recorded = Stage(record.stage) if record.stage in list(LINE) else None
    stage, task = memory.set_stage or recorded, activity.find(own)
    if record.transcript and not own:  # after its last one, it may have taken a task by itself
        turn = stop_input.read(record.transcript, deep=stop_input.DEEP)
        task = activity.find(turn.taken)
        own, stage = (task.id, Stage.CODING) if task is not None else ("", stage)
    if own and task is None and _has_lost_its_label(session, stages, own):
        return {**data, "task": own}, {"task": record.spelled or own}
    missing, world = _missing(session, stages, stage), session.world
    about = (records.TEST, session.root, world.settings, world.environment)
    run = known_checks.command_of(*about) if missing else ""
    data |= {"task": own, "stage": stage, "missing": missing, "blocks": memory.blocks}
    data |= {"max_blocks": stages.max_blocks, "let_go": memory.is_let_go}
    name = f"{own} {quoted(task.title) if task is not None else ''}".strip()
    return data, {"task": name, "run": run}


def _has_lost_its_label(session: Session, stages: StageSettings, name: str) -> bool:
    """True if a task that the workflow does not list any more is open: somebody removed the label."""
    try:
        task = session.world.tracker.get(name)
    except LifecycleError:
        return False
    return task.is_open and not any(map(stages.is_label, task.labels))


def _missing(session: Session, stages: StageSettings, stage: Stage | None) -> str:
    """Which evidence of tests is missing before the stage's marker counts; "" if none is."""
    if not stages.require_evidence or stage not in decide.TESTED:
        return ""
    deadline = Deadline.after(session.world.clock, 10.0)
    try:
        tree = tree_hash.fingerprint(session.root, deadline, session.world.environment)
    except (GitFailed, Transient) as error:
        return error.sentence.rstrip(".")
    runs = records.EvidenceRoom(session.root).records()
    standing = records.standing(runs, tree, suites=stages.test)
    return decide.MISSING.get(standing, "") if can_run_tests(session.world) else ""
