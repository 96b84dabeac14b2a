"""The staged workflow's part of a stop: read the transcript and what is known, decide, and record.

The cheapest source comes first: what the quick path can decide is decided here in the same way; then
the kept record; then the tracker's last answer; and the tracker itself only if a stage was completed. On
any failure the agent may stop, with a line in the log.
"""

from __future__ import annotations

from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import StopWord
from lifecycle.core.stage_names import Stage
from lifecycle.stages.decisions import decide, instructions
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
        if stages is not None and is_due:
            return _StagedStop(call, at).word()
    return SILENCE


class _StagedStop:
    """One look at one stop."""

    def __init__(self, call: activation.StageCall, at: Stage | None) -> None:
        self.call = call
        self.files = WorkflowFiles(call.world.root)
        self.root = str(call.world.root)
        self.before = session_record.load(self.files, call.session)
        self.kept = self._kept()
        self.set_by = instructions.BY_HAND
        if at is not None:
            self.kept, self.set_by = self.kept.set_to(at), instructions.BY_RUN

    def word(self) -> StopWord:
        """What the staged workflow says at this stop."""
        settings = self.call.world.settings
        stages, runners = settings.stages, settings.evidence_runners
        own = OwnCommands(stages.test, stages.review, runners, self.root)
        last = Stage(self.kept.stage) if self.kept.stage in list(Stage) else None
        event, starts = self.call.event, (stages.start,)
        turn, finding = stop_input.look(event, own=own, starts=starts, last_stage=last)
        finding = decide.meant(turn, finding)
        detected = stop_input.lines(turn, finding)
        is_run_over = self.set_by == instructions.BY_RUN
        search = TaskSearch(self.call, self.files, self.kept, turn, finding, is_run_over)
        why = self._settled(search)
        if why:
            log.write_staged(self.root, *detected, why)
            return SILENCE
        seen = search.seen()
        if seen is None:
            log.write_staged(self.root, *detected, "No workflow issues", MAY_STOP)
            return SILENCE
        decision = decide.decide(replace(seen, set_by=self.set_by))
        log.write_staged(self.root, *detected, *decision.log)
        return self._done(search, decision)

    def _kept(self) -> SessionRecord:
        """The record of this session, else the record for whichever session stops next."""
        record = self.before or SessionRecord(self.call.session)
        waiting = session_record.load(self.files, "") if self.call.session else None
        if waiting is None or waiting.memory.set_stage is None:
            return record
        record = record.set_to(waiting.memory.set_stage)
        if not waiting.task:
            return record
        return replace(record.on(waiting.task, waiting.labels, ""), is_set=True)

    def _settled(self, search: TaskSearch) -> str:
        """Why the tracker need not be asked; "" if it must be."""
        turn, finding = search.turn, search.finding
        if not turn.is_there:
            return MAY_STOP
        if self.kept.memory.set_stage is not None or search.has_ended:
            return ""
        if detect_stage.is_quiet(turn, finding) or stop_input.is_waiting(self.call.event, finding):
            return MAY_STOP
        position = finding.position or turn.position
        is_known = decide.is_known(self.kept.memory, position)
        return f"Nothing new since the last word. {MAY_STOP}" if is_known else ""

    def _done(self, search: TaskSearch, decision: decide.StageDecision) -> StopWord:
        """Record the decision, then say it: a second copy of this event finds that it was answered."""
        now = self.call.world.clock.now()
        before = self.before
        with self.files.locked():
            if session_record.load(self.files, self.call.session) != before:
                return SILENCE
            after = self._after(search, decision)
            if before is None or replace(after, at=before.at) != before:
                session_record.save(self.files, replace(after, at=now))
            if self.call.session:
                session_record.forget(self.files, "")
        self._note(search, decision, now)
        person = (decision.note,) if decision.note else ()
        return StopWord(decision.verdict, tuple(decision.text.splitlines()), person)

    def _after(self, search: TaskSearch, decision: decide.StageDecision) -> SessionRecord:
        leading = (journal.BLOCK, journal.LET_GO)
        stages = [event.target for event in decision.events if event.kind in leading]
        moves = [event for event in decision.events if event.kind == journal.TRANSITION]
        record = replace(
            search.record,
            memory=decision.memory,
            stage=stages[-1] if stages else self.kept.stage,
            transcript=str(self.call.event.get("transcript_path") or ""),
            client=self.call.process,
        )
        if any(not move.target for move in moves):
            return record.after()
        if moves:  # the session's own marker makes the workflow lead it again
            record = replace(record, ended="")
        is_last = any(move.source in decide.LAST for move in moves)
        return record.on("", (), "") if is_last else record

    def _note(self, search: TaskSearch, decision: decide.StageDecision, now: float) -> None:
        """Write the journal: each event once per stop."""
        entries = [
            journal.JournalEntry(
                at=now,
                system=journal.STAGES,
                kind=event.kind,
                task=search.record.spelled,
                actor=search.record.actor,
                session=self.call.session,
                source=event.source,
                target=event.target,
                key=f"{self.call.session}/{decision.memory.position}/{decision.memory.blocks}/{number}",
                detail={**event.detail, "labels": list(search.labels), "title": search.title},
            )
            for number, event in enumerate(decision.events)
        ]
        journal.note(self.call.world.root, *entries)
