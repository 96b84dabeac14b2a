"""`lifecycle stage`: where the staged workflow stands in this worktree, and moving it by hand."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from lifecycle.app import tracker_opening
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.cli.command_session import Session, in_worktree, json_option, option
from lifecycle.cli.terminal import is_terminal, json_text
from lifecycle.core.errors import GitFailed, LifecycleError, Refused, Transient
from lifecycle.core.redact import quoted
from lifecycle.core.stage_names import COMPLETES, LINE, MARKERS, Detected, Stage
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import StageSettings
from lifecycle.evidence import seen_runs, tree_hash
from lifecycle.settings import running_client
from lifecycle.stages.decisions import decide
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.decisions.table import following
from lifecycle.stages.session import activation, session_record, workflow_tasks
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.transcript import stop_input
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.views.stats.stats_words import count

if TYPE_CHECKING:
    from lifecycle.stages.session.workflow_tasks import Activity
    from lifecycle.stages.transcript.turn import Turn


WIDTH = 120
"""Columns of a line at most."""

TAIL = 1_000_000
"""Bytes at the end of the text in which a stage is looked for."""


_in_worktree = in_worktree(first=WorktreeWorld.refuse_tracked)
"""Refused where `.lifecycle/` came with the repository."""


@click.group("stage", short_help="The staged workflow: show it, set a stage, switch it off.")
def command() -> None:
    """The staged workflow of labelled tasks: coding, reviews, tests, closing, the next task.

    It is switched on with [stages] use = true in .lifecycle.toml (lifecycle init --stages), and leads
    a session from stage to stage while the tracker has an open task with the label.
    """


@command.command("detect", short_help="Tell the stage of a text on stdin.")
@json_option
def detect(*, as_json: bool) -> None:
    """Read text on stdin and print the stage that it tells of: a marker, or what it says in words.

    Prints one of the six completions, IN_PROGRESS, IN_TESTING, IN_ORACLE_REVIEW or UNKNOWN.
    """
    from lifecycle.stages.detection.detect_stage import detect_text

    detected = detect_text(_text())
    if as_json:
        data = {"stage": detected.state.value, "tier": detected.tier.value, "why": detected.why}
        click.echo(json_text(data))
    else:
        click.echo(detected.state.value)


@command.command("status", short_help="Where the workflow and this session stand.")
@_in_worktree
def status(at: Session) -> None:
    """Show whether the workflow is active here, and at which stage the session is.

    In a client's session it is about that session; elsewhere about the last one that was active here.
    """
    shown = _look(at, _kept(WorkflowFiles(at.root)))
    at.show(_fitted(shown.lines), shown.data)


@command.command("set", short_help="Set the stage by hand.")
@click.argument("stage", metavar="STAGE", type=click.Choice([stage.value for stage in Stage]))
@option("--task ID", "The task that the session works on.", default="")
@_in_worktree
def set_(at: Session, stage: str, *, task: str) -> None:
    """Set the stage by hand: the session is told at its next stop what that stage asks for.

    In a client's session it is about that session; elsewhere about the last one that was active here, or
    whichever stops next. The counts of how often it was told to go on begin anew.

    The stages: CODING, REQUIREMENTS_REVIEW, TESTING, ORACLE_REVIEW, COMMIT_CLOSE, NEXT_TASK.
    """
    stages = _settings(at)
    shelf = WorkflowFiles(at.root)
    kept = _kept(shelf) or SessionRecord("")
    if task:
        tracked = at.world.tracker.get(task)
        if not any(stages.is_label(name) for name in tracked.labels):
            raise Refused(
                f"Task {tracked.id} has no label {stages.label}, so the workflow does not lead it and "
                "nothing was changed; add the label first."
            )
        kept = replace(kept.on(tracked.id, tracked.labels, tracked.assignee), is_set=True)
    now = at.world.clock.now()
    kept = replace(kept, memory=Memory(set_stage=Stage(stage)), stage=stage, at=now)
    with shelf.locked(at.world.deadline.remaining()):
        session_record.save(shelf, kept)
        shelf.set_due(workflow_marks.ALWAYS)
    who = f"Session {kept.session}" if kept.session else "The session that stops next"
    where = f"{stage} of {kept.task}" if kept.task else stage
    line = f"{who} is told at its next stop that it is at {where}."
    at.show([line], {"session": kept.session, "task": kept.task, "stage": stage})


@command.command("off", short_help="Switch the workflow off in this worktree.")
@_in_worktree
def off(at: Session) -> None:
    """Switch the workflow off in this worktree; no session is told anything until it is on again."""
    WorkflowFiles(at.root).switch(off=True)
    line = "The staged workflow is off in this worktree; lifecycle stage on switches it on again."
    at.show([line], {"off": True})


@command.command("on", short_help="Switch the workflow on again here.")
@_in_worktree
def on(at: Session) -> None:
    """Switch the workflow on again in this worktree, after off."""
    WorkflowFiles(at.root).switch(off=False)
    _settings(at)
    at.show(["The staged workflow is on in this worktree."], {"off": False})


def _fitted(lines: list[str]) -> list[str]:
    """The lines as a terminal has room for them, broken between words; elsewhere as they are."""
    if not is_terminal(sys.stdout):
        return lines
    width = min(shutil.get_terminal_size().columns, WIDTH)
    return [
        part
        for line in lines
        for part in textwrap.wrap(
            line, width, break_long_words=False, break_on_hyphens=False, subsequent_indent="  "
        )
    ]


def _settings(at: Session) -> StageSettings:
    """The workflow's settings; Refused where it is off."""
    shelf = WorkflowFiles(at.root)
    stages = at.world.settings.stages
    if not stages.use:
        raise Refused(
            "The staged workflow is not on here, so nothing was changed; set use = true below [stages] in "
            f"{workflow_marks.CONFIG}, or run: lifecycle init --stages"
        )
    if shelf.is_off:
        raise Refused(
            "The staged workflow is switched off in this worktree, so nothing was changed; run: "
            "lifecycle stage on"
        )
    activation.wanted_in(at.world)
    return stages


def _kept(shelf: WorkflowFiles) -> SessionRecord | None:
    """What is kept of the session that is meant: the client's own, else the last one that was here."""
    own = running_client.session_of({}, os.environ)
    if own:
        return session_record.load(shelf, own) or SessionRecord(own)
    known = [kept for kept in session_record.all_of(shelf) if kept.session]
    return known[0] if known else session_record.load(shelf, "")


def _text() -> str:
    """The end of what stdin has, whatever it is."""
    content = b""
    while sys.stdin is not None and (chunk := sys.stdin.buffer.read(TAIL)):
        content = (content + chunk)[-TAIL:]
    return content.decode("utf-8", "replace")


UNHEARD = "Note: no hook of ours is wired here, so no session is led; run: lifecycle init --stages"


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines for a person, and the same for `--json`."""

    lines: list[str]
    data: dict[str, Any]


def _look(at: Session, kept: SessionRecord | None) -> Shown:
    """Where the workflow stands; the tracker is asked.

    Raises:
        BadConfig: the settings cannot be used.
    """
    stages = at.world.settings.stages
    shelf = WorkflowFiles(at.root)
    why = _why_off(stages, shelf)
    if not why:
        activation.wanted_in(at.world)
        try:
            known = _asked(at, stages, shelf)
        except LifecycleError as error:
            why = f"the tracker does not answer. {error.sentence}"
    if why:
        why = f"Not active: {why}"
        return Shown([why], {"active": False, "why": why})
    note = tracker_opening.note_of(at.world)
    notes = [f"Note: {note}"] if note else []
    if not known.tasks:
        why = f"Not active: there is no open task with the label {stages.label}."
        return Shown([why, *notes], {"active": False, "why": why, "tasks": []})
    first = f"Active: {count(len(known.tasks), 'open task')} with the label {stages.label}."
    data = {"active": True, "why": "", "tasks": [task.id for task in known.tasks]}
    shown = _session_shown(at, stages, known, kept)
    unheard = [] if _is_heard(at) else [UNHEARD]
    return Shown([first, *notes, *shown.lines, *unheard], data | shown.data)


def _is_heard(at: Session) -> bool:
    """True if a hook of ours hears the end of a turn here."""
    from lifecycle.setup.init.found_hooks import ClientSetup

    client = ClientSetup.read(at.root, at.world.environment)
    return client.plugin_runs or bool(client.of("on-stop"))


def _why_off(stages: StageSettings, shelf: WorkflowFiles) -> str:
    """Why the workflow is not on here, "" if it is."""
    if not stages.use:
        return f"{workflow_marks.CONFIG} does not switch it on; run: lifecycle init --stages"
    if shelf.is_off:
        return "it is switched off in this worktree; run: lifecycle stage on"
    return ""


def _asked(at: Session, stages: StageSettings, shelf: WorkflowFiles) -> Activity:
    """The tracker's answer, which hooks believe from now on: a label that was just added counts at once."""
    tracker = at.world.tracker
    before = workflow_tasks.known(shelf, workflow_tasks.key_of(tracker, stages))
    known = workflow_tasks.ask(tracker, stages, at.world.clock.now(), before)
    with shelf.locked(at.world.deadline.remaining()):
        workflow_tasks.keep(shelf, known)
    return known


def _session_shown(
    at: Session, stages: StageSettings, known: Activity, kept: SessionRecord | None
) -> Shown:
    if kept is None:
        nobody = "No session was led here yet; it begins with a session that works on one of them."
        return Shown([nobody], {"session": None})
    turn = stop_input.read(kept.transcript, deep=stop_input.DEEP) if kept.transcript else None
    line = _line(stages, kept, turn)
    if kept.ended and not kept.task:
        return _ended(kept, line)
    stage = _stage_of(kept, turn, line)
    own = kept.task or _taken(turn, known)
    task = known.find(own)
    name = f"{own} {quoted(task.title) if task is not None else ''}".strip() or "not known yet"
    memory = kept.memory
    missing = _missing(at, stages, stage)
    lines = [
        f"Session {kept.session or 'that stops next'}, task {name}.",
        " → ".join(f"[{one.value}]" if one is stage else one.value for one in line),
    ]
    if stage is not None:
        lines.append(f"It ends with ::: WORKFLOW_STAGE: {MARKERS[stage].value} :::")
    lines += [f"Missing: {missing}."] if missing else []
    lines.append(f"Told to go on {memory.blocks} of {stages.max_blocks} times.")
    lines += ["It was let go, having been told too often."] if memory.is_let_go else []
    data = {
        "session": kept.session,
        "task": own,
        "stage": stage.value if stage is not None else None,
        "line": [one.value for one in line],
        "missing": missing,
        "blocks": memory.blocks,
        "max_blocks": stages.max_blocks,
        "let_go": memory.is_let_go,
    }
    return Shown(lines, data)


def _taken(turn: Turn | None, known: Activity) -> str:
    """The task that the session took after its last one was closed; "" if no stop was looked at since."""
    name = turn.taken if turn is not None else ""
    return name if known.find(name) is not None else ""


def _line(stages: StageSettings, kept: SessionRecord, turn: Turn | None) -> tuple[Stage, ...]:
    """The stages of the session's task: by its labels, else as it was told them."""
    if kept.labels or turn is None:
        return stages.line_of(kept.labels)
    return session_record.line_told(turn.instruction)


def _ended(kept: SessionRecord, line: tuple[Stage, ...]) -> Shown:
    """A session whose task was led to its end, and which nobody leads any more."""
    names = [one.value for one in line]
    lines = [
        f"Session {kept.session} was led to the end of {kept.ended}, and is not led any more.",
        " → ".join(names),
    ]
    data = {"session": kept.session, "task": "", "ended": kept.ended, "stage": None, "line": names}
    return Shown(lines, data)


def _stage_of(kept: SessionRecord, turn: Turn | None, line: tuple[Stage, ...]) -> Stage | None:
    """What the session is at: set by hand, else as its transcript tells, else as it was told last."""
    if kept.memory.set_stage is not None:
        return kept.memory.set_stage
    if kept.memory.is_let_go and kept.stage in list(LINE):
        return Stage(kept.stage)  # as the note said that told the user
    if turn is not None and turn.markers:
        return following(Detected(turn.markers[-1]), line)
    if turn is not None and turn.asked is not None:
        return turn.asked
    return Stage(kept.stage) if kept.stage in list(LINE) else None


def _missing(at: Session, stages: StageSettings, stage: Stage | None) -> str:
    """What stands between the session and a marker that counts; "" if nothing does."""
    is_past = stage is not None and LINE.index(stage) >= LINE.index(
        COMPLETES[Detected.TESTS_PASSING]
    )
    if not stages.require_evidence or not is_past:
        return ""
    deadline = Deadline.after(at.world.clock, 10.0)
    try:
        now = tree_hash.fingerprint(at.root, deadline, at.world.environment)
    except (GitFailed, Transient) as error:
        return error.sentence.rstrip(".")
    return decide.MISSING.get(seen_runs.standing(seen_runs.load(WorkflowFiles(at.root)), now), "")
