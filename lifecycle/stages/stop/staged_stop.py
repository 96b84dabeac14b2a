"""The staged workflow's part of a stop: read the transcript and what is known, decide, and record.

The cheapest source comes first: what the quick path can decide is decided here in the same way; then
the kept record; then the tracker's last answer; and the tracker itself only if a stage was completed. On
any failure the agent may stop, with a line in the log.
"""

from __future__ import annotations

from lifecycle.core.light_dataclass import fields_of, replace
from lifecycle.core.plan import StopWord
from lifecycle.core.stage_names import Stage
from lifecycle.stages.decisions import decide
from lifecycle.stages.detection import detect_stage
from lifecycle.stages.session import activation, session_record
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.stages.stop.staged_task import TaskSearch
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.turn import OwnCommands
from lifecycle.storage import journal, log, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

MAY_STOP = "The agent may stop"


SILENCE = StopWord()


def look(call: activation.StageCall, at: Stage | None = None) -> StopWord:
    """What the staged workflow says at this stop; never raises.

    Args:
        call: the event.
        at: the stage of the session's task, whatever the transcript says, because a run ended there.
    """
    root, now = str(call.world.root), call.world.clock.now()
    with activation.guarded(call, "Hook triggered", f"{{}} {MAY_STOP}."):
        stages = activation.wanted_in(call.world)
        is_due = at is not None or workflow_marks.is_due(root, workflow_marks.DUE, now)
        if stages is None or not is_due:
            return SILENCE
        files, runners = WorkflowFiles(call.world.root), call.world.settings.evidence_runners
        before = session_record.load(files, call.session)
        kept = _kept(files, before or SessionRecord(call.session))
        kept = kept if at is None else kept.set_to(at)
        own = OwnCommands(stages.test, stages.review, runners, root)
        last = Stage(kept.stage) if kept.stage in list(Stage) else None
        turn, finding = stop_input.look(call.event, own, (stages.start,), last)
        finding = decide.meant(turn, finding)
        detected = stop_input.lines(turn, finding)
        search = TaskSearch(call, files, kept, turn, finding, is_run_over=at is not None)
        why = _settled(search)
        seen = search.seen() if not why else None
        if seen is not None:
            decision = decide.decide(seen)
            log.write_staged(root, *detected, *decision.log)
            return _done(search, before, decision)
        words = (why,) if why else ("No workflow issues", MAY_STOP)
        log.write_staged(root, *detected, *words)
    return SILENCE


def _kept(files: WorkflowFiles, record: SessionRecord) -> SessionRecord:
    """The record of this session, with what waits for whichever session stops next."""
    waiting = session_record.load(files, "") if record.session else None
    if waiting is None or waiting.memory.set_stage is None:
        return record
    record = record.set_to(waiting.memory.set_stage)
    on_task = replace(record.on(waiting.task, waiting.labels, ""), is_set=True)
    return on_task if waiting.task else record


def _settled(search: TaskSearch) -> str:
    """Why the tracker need not be asked; "" if it must be."""
    turn, finding, memory = search.turn, search.finding, search.kept.memory
    if not turn.is_there:
        return MAY_STOP
    if memory.set_stage is not None or search.has_ended:
        return ""
    if detect_stage.is_quiet(turn, finding) or stop_input.is_waiting(search.call.event, finding):
        return MAY_STOP
    is_known = decide.is_known(memory, finding.position or turn.position)
    return f"Nothing new since the last word. {MAY_STOP}" if is_known else ""


def _done(
    search: TaskSearch, before: SessionRecord | None, decision: decide.StageDecision
) -> StopWord:
    """Record the decision, then say it: a second copy of this event finds that it was answered."""
    call, files, now = search.call, search.files, search.call.world.clock.now()
    with files.locked():
        if session_record.load(files, call.session) != before:
            return SILENCE
        after = _after(search, decision)
        if before is None or replace(after, at=before.at) != before:
            session_record.save(files, replace(after, at=now))
        if call.session:
            session_record.forget(files, "")
    _note(search, decision, now)
    person = (decision.note,) if decision.note else ()
    return StopWord(decision.verdict, tuple(decision.text.splitlines()), person)


def _after(search: TaskSearch, decision: decide.StageDecision) -> SessionRecord:
    leading = (journal.BLOCK, journal.LET_GO)
    stages = [event.target for event in decision.events if event.kind in leading]
    moves = [event for event in decision.events if event.kind == journal.TRANSITION]
    record = replace(
        search.record,
        memory=decision.memory,
        stage=stages[-1] if stages else search.kept.stage,
        transcript=str(search.call.event.get("transcript_path") or ""),
        client=search.call.process,
    )
    if any(not move.target for move in moves):
        return record.after()
    if moves:  # the session's own marker makes the workflow lead it again
        record = replace(record, ended="")
    is_last = any(move.source in decide.LAST for move in moves)
    return record.on("", (), "") if is_last else record


def _note(search: TaskSearch, decision: decide.StageDecision, now: float) -> None:
    """Write the journal: each event once per stop."""
    session, record, memory = search.call.session, search.record, decision.memory
    entries = [
        journal.JournalEntry(
            at=now,
            system=journal.STAGES,
            **fields_of(event, "kind", "source", "target"),
            task=record.spelled,
            actor=record.actor,
            session=session,
            key=f"{session}/{memory.position}/{memory.blocks}/{number}",
            detail={**event.detail, "labels": list(search.labels), "title": search.title},
        )
        for number, event in enumerate(decision.events)
    ]
    journal.note(search.call.world.root, *entries)
