"""Decide one stop of the staged workflow: give an instruction, ask a question, or do nothing. Pure.

No clock, file or tracker is used: `StageSeen` has all that is known, `StageDecision` all that is to do.
"""

from __future__ import annotations

from enum import Enum, auto

from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.plan import StopVerdict
from lifecycle.core.stage_names import COMPLETES, LINE, Detected, Stage
from lifecycle.evidence.records import Evidence
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection import detect_stage, stage_watch
from lifecycle.stages.transcript import tasks_taken
from lifecycle.stages.transcript.turn import Prompt, StageFinding, Tier, Turn

IDLE_BLOCKS = 8
"""How often in a row a session that uses no tool in between is told to continue.

The client itself ends the turn after the same number, unless it is configured otherwise.
"""


LAST = (Stage.COMMIT_CLOSE, Stage.NEXT_TASK)
"""The stages that remain after the task is closed."""

TESTED = LINE[LINE.index(Stage.TESTING) :]
"""The stages whose completion needs a green test run."""

WAITED = "/waited"
"""The suffix of a stop's name while a merge is awaited: after the merge, the stop is looked at again."""


MISSING: dict[str, str] = instructions.TEXTS["MISSING"]
"""What is missing, in words, by the evidence."""


class HeldTask(Enum):
    """The state of this session's claim on GitHub."""

    NONE = auto()
    WORKING = auto()
    """The claim is held, and nothing was handed off."""
    WAITING = auto()
    """The claim was handed off: its merge is awaited."""
    ENDED = auto()
    """The claim of this session's task ended: its issue is closed."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is kept of a session; if it is lost, the counts are lost, but never a stage.

    Attributes:
        position: the stop at which the last instruction, question or closing sentence was given.
        blocks: how often the session was told to continue, in total.
        idle: how often in a row, with no tool used in between.
        is_let_go: it may stop because it was told to continue too often; said once.
        set_stage: the stage that was set by hand and not yet told, or None.
        told: the last reason told to the user why nothing can be decided; "" after a decision was possible.
    """

    position: str = ""
    blocks: int = 0
    idle: int = 0
    is_let_go: bool = False
    set_stage: Stage | None = None
    told: str = ""


@dataclass(frozen=True, slots=True)
class StageSeen:
    """All that a decision looks at.

    Attributes:
        turn, finding: the end of the transcript, and what `detect` says of it.
        facts: what instructions are filled with; `facts.line` are the stages of the session's task.
        memory: what is kept of this session.
        remaining: how many labelled tasks are left for this session; None if that was not asked.
        elsewhere: how many more open tasks somebody else works on.
        evidence: what is known of the tests, if evidence is required.
        obstacle: why the evidence is UNREADABLE, for the user; else "".
        conflict: one sentence if the task now belongs to somebody else or is blocked; else "".
        holding: the state of the claim.
        can_run: tests can be run here: a command for them is known, or a run was seen once.
        is_still_open: the agent says that the task is over, but its tracker, asked just now, has it open.
        set_by: how the memory's stage was set, if it was.
    """

    turn: Turn
    finding: StageFinding
    facts: instructions.Facts = field(default_factory=instructions.Facts)
    memory: Memory = field(default_factory=Memory)
    remaining: int | None = None
    elsewhere: int = 0
    evidence: Evidence = Evidence.NOT_NEEDED
    obstacle: str = ""
    conflict: str = ""
    holding: HeldTask = HeldTask.NONE
    is_still_open: bool = False
    can_run: bool = True
    set_by: str = instructions.BY_HAND


@dataclass(frozen=True, slots=True)
class StopEvent:
    """One line for the journal.

    Attributes:
        kind: "transition", "block", "refused" or "let_go".
        source, target: stages; target is "" where the line ends.
        detail: what else is worth keeping.
    """

    kind: str
    source: str = ""
    target: str = ""
    detail: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StageDecision:
    """What is to be done.

    Attributes:
        verdict: whether the agent must continue, may stop, or is let go.
        text: what the agent is told, if it must continue.
        note: what the user is told, "" for nothing.
        memory: what to keep of the session.
        events: for the journal.
        log: lines for the log, without the finding's own line.
    """

    verdict: StopVerdict
    memory: Memory
    text: str = ""
    note: str = ""
    events: tuple[StopEvent, ...] = ()
    log: tuple[str, ...] = ()


def decide(seen: StageSeen) -> StageDecision:
    """The decision on one stop.

    The same position is never answered twice, whatever is known by then: hooks may run twice, and
    sessions are resumed. A stage that was set by hand is told at the next stop, even to a busy agent.
    """
    if seen.turn.kind is Prompt.HUMAN:
        # The total of blocks is never reset.
        is_let_go = seen.memory.is_let_go and _is_spent(seen)
        seen = replace(seen, memory=replace(seen.memory, idle=0, is_let_go=is_let_go))
    if is_known(seen.memory, _position(seen), has_ended=seen.holding is HeldTask.ENDED):
        return _pass(seen, "Nothing new since the last word: the session may stop")
    if seen.memory.set_stage is not None:
        stage = seen.memory.set_stage
        text = instructions.again(stage, seen.facts, f"The stage was {seen.set_by}.")
        event = StopEvent("transition", str(seen.turn.asked or ""), str(stage), {"tier": "hand"})
        what = f"instruction for stage: {stage}"
        log = (f"Getting {what} ({seen.set_by})", f"Injecting {what}")
        return _block(seen, text, log, *_and_told(event, "instruction"))
    state = _state(seen)
    if state.is_completion:
        return _completed(seen, state)
    if state.is_under_way:
        return _pass(seen, f"Agent at work ({state}): the session may stop")
    is_told = instructions.is_conflict(seen.turn.instruction) and not seen.turn.is_question
    # It was told to tell the user about the obstacle, and did.
    is_answer = is_told or detect_stage.is_quiet(seen.turn, seen.finding)
    if seen.holding is HeldTask.WAITING or is_answer:
        return _pass(seen, "Nothing to ask: the session may stop")
    asked = str(seen.turn.asked or "")
    event = StopEvent("block", asked, asked, {"what": "question"})
    check = seen.facts.check if seen.finding.why == stage_watch.UNREAD else ""
    text = instructions.question(seen.facts.line, seen.finding.misnamed, check)
    return _block(seen, text, ("Asking for the stage",), event)


def is_known(memory: Memory, position: str, *, has_ended: bool = False) -> bool:
    """True if this stop was answered already, or the merge that it waits for has not happened yet."""
    awaited = position if has_ended else f"{position}{WAITED}"
    return bool(position) and memory.position in (position, awaited)


def meant(turn: Turn, finding: StageFinding) -> StageFinding:
    """The finding; an answer in words to the instruction of NEXT_TASK counts like its marker.

    "I wait for /clear" and "Ready for the next task" already answer the question: there is nothing to do
    at that stage. So the next task's instruction follows, or the sentence that no task is left.
    """
    is_answer = turn.kind is Prompt.OURS and not turn.is_question and not turn.markers
    is_unknown = finding.state is Detected.UNKNOWN and not detect_stage.is_quiet(turn, finding)
    if turn.asked is Stage.NEXT_TASK and is_answer and is_unknown:
        state, at = Detected.SESSION_CLEARED, finding.position
        return StageFinding(state, Tier.INFERENCE, "its answer", position=at)
    return finding


def _is_spent(seen: StageSeen) -> bool:
    return seen.memory.blocks >= seen.facts.settings.max_blocks


def _position(seen: StageSeen) -> str:
    return seen.finding.position or seen.turn.position


def _state(seen: StageSeen) -> Detected:
    """The state that was found, if it is about this session's task."""
    finding, asked = seen.finding, seen.turn.asked
    if seen.holding is HeldTask.ENDED:
        # A closed task has every stage before the last two behind it.
        is_done = finding.state.is_completion
        is_behind = is_done and COMPLETES[finding.state] not in LAST
        if is_behind or (not is_done and asked is Stage.COMMIT_CLOSE):
            return Detected.ISSUE_CLOSED
    if _is_hearsay(seen):
        # Commands that a person typed have no tool.
        has_worked = any(call.tool for call in seen.turn.calls)
        return Detected.IN_PROGRESS if has_worked else Detected.UNKNOWN
    task, subjects = seen.facts.task, [tasks_taken.plain(name) for name in finding.subjects]
    is_other = bool(task and subjects) and tasks_taken.plain(task) not in subjects
    return Detected.IN_PROGRESS if is_other else finding.state


def _is_hearsay(seen: StageSeen) -> bool:
    """True if the agent only claims something that a tool call could have shown.

    That is: passed tests, if tests can be run; a closing that nobody asked for, or that of another task.
    """
    if seen.finding.why != stage_watch.TEXT:
        return False
    if seen.finding.state is not Detected.ISSUE_CLOSED:
        return seen.finding.state is Detected.TESTS_PASSING and seen.can_run
    if seen.turn.asked is not Stage.COMMIT_CLOSE:
        return True
    text, task = "\n".join(seen.turn.texts[-1:]), seen.facts.task
    return bool(task) and tasks_taken.is_about_others(text, task)


def _completed(seen: StageSeen, state: Detected) -> StageDecision:
    """The decision on a completed stage, for which a green run on the present files may be needed.

    Changes after a review have to be tested again, so an earlier green run is not enough.
    """
    done = COMPLETES[state]
    is_over = done is Stage.NEXT_TASK or seen.holding is HeldTask.ENDED
    is_tested = done in TESTED and Stage.TESTING in seen.facts.line
    if is_over or not is_tested or seen.evidence is Evidence.GREEN:
        seen = replace(seen, evidence=Evidence.NOT_NEEDED)
    if seen.evidence is Evidence.UNREADABLE:
        # The stop is looked at again: as soon as the files can be read, the next instruction follows.
        note, log = "" if seen.memory.told else seen.obstacle, (seen.obstacle, "The agent may stop")
        memory = replace(seen.memory, told=seen.obstacle)
        return StageDecision(StopVerdict.PASS, memory, note=note, log=log)
    # If no tests can be run, the agent's word has to do.
    is_advised = seen.evidence is Evidence.MISSING and not seen.can_run
    advice = instructions.TEXTS["ADVISORY"]["note"] if is_advised else ""
    note = advice if advice != seen.memory.told else ""
    lacking = Evidence.NOT_NEEDED if is_advised else seen.evidence
    seen = replace(seen, memory=replace(seen.memory, told=advice), evidence=lacking)
    refused = _refused(seen, state, done)
    if refused is not None:
        return refused
    if done in LAST and seen.holding is HeldTask.WAITING:
        waiting = _pass(seen, "The merge is waited for: the session may stop")
        return replace(waiting, memory=replace(seen.memory, position=_position(seen) + WAITED))
    stage = instructions.following(state, seen.facts.line)
    is_last = done in LAST and seen.remaining == 0
    event = _transition(seen, state, None if is_last else stage)
    if is_last or stage is None:
        return _end(seen, event, is_last=is_last)
    log = (f"Getting instruction for stage: {state}", f"Injecting instruction for stage: {state}")
    tell = instructions.again if seen.turn.taken else instructions.instruction
    text = tell(stage, seen.facts, instructions.COMPLETED[done])
    decision = _block(seen, text, log, *_and_told(event, "instruction"))
    return replace(decision, note=note) if note else decision


def _refused(seen: StageSeen, state: Detected, done: Stage) -> StageDecision | None:
    """The answer to a completion that does not count; None if it does."""
    is_closing = state is Detected.ISSUE_CLOSED
    # A session that was asked for NEXT_TASK has completed every stage: its stages do not close the task, or
    # a person reopened it. A task that is now somebody else's, or blocked, is left for the next session.
    is_over = seen.turn.asked is Stage.NEXT_TASK or bool(seen.conflict)
    is_ending = is_closing or (state is Detected.SESSION_CLEARED and not is_over)
    leads, name = instructions.TEXTS["REFUSED"], ""
    if seen.evidence is not Evidence.NOT_NEEDED:
        why, stage, name = MISSING[seen.evidence], Stage.TESTING, "WITHOUT_EVIDENCE"
        lead, detail = leads["no_evidence"], {"missing": str(seen.evidence)}
    elif seen.conflict and (done not in LAST or (is_closing and seen.is_still_open)):
        why, stage, name = "The task is not free", done, "CONFLICT"
        lead, detail = seen.conflict, {"conflict": seen.conflict}
    elif is_closing and seen.holding is HeldTask.WORKING:
        why, stage = "The claim is still held", Stage.COMMIT_CLOSE
        lead, detail = leads["held"], {"missing": "handoff"}
    elif is_ending and seen.is_still_open and seen.holding is not HeldTask.ENDED:
        stage = Stage.COMMIT_CLOSE if is_closing else seen.turn.asked or Stage.CODING
        why = "The task is still open in the tracker"
        lead, detail = leads["open"].format(task=seen.facts.task), {"missing": "closing"}
    else:
        return None
    text = instructions.again(stage, seen.facts, lead)
    if name:
        text = instructions.instruction(stage, seen.facts, lead, name=name, missing=why)
    event = StopEvent("refused", str(done), str(stage), {"marker": str(state), **detail})
    return _block(seen, text, (f"Not accepted: {state}. {why}",), *_and_told(event, "refusal"))


def _transition(seen: StageSeen, state: Detected, stage: Stage | None) -> StopEvent:
    detail = {"marker": str(state), "tier": str(seen.finding.tier)}
    if seen.finding.why == stage_watch.TEXT:
        detail["by"] = "words"
    if seen.memory.told:  # the advice
        detail["evidence"] = "none can be had"
    if seen.turn.asked not in (None, COMPLETES[state]):
        detail["asked"] = str(seen.turn.asked)
    return StopEvent("transition", str(COMPLETES[state]), str(stage or ""), detail)


def _end(seen: StageSeen, event: StopEvent, *, is_last: bool) -> StageDecision:
    """The decision if no stage follows: the user is told once, and the agent may stop."""
    note = f"The last stage of {seen.facts.task or 'the task'} is complete: {event.source}"
    if is_last:
        note = instructions.complete(seen.facts.settings.label, seen.elsewhere)
    memory = replace(seen.memory, position=_position(seen))
    return StageDecision(StopVerdict.PASS, memory, note=note, events=(event,), log=(note,))


def _pass(seen: StageSeen, why: str) -> StageDecision:
    return StageDecision(StopVerdict.PASS, seen.memory, log=(why,))


def _and_told(event: StopEvent, what: str) -> tuple[StopEvent, StopEvent]:
    """What happened to the stage, and that the agent is told so."""
    return event, StopEvent("block", event.source, event.target, {"what": what})


def _block(seen: StageSeen, text: str, log: tuple[str, ...], *events: StopEvent) -> StageDecision:
    """The decision that the agent continues with `text`, unless it was told to continue too often."""
    memory = seen.memory
    idle = 0 if seen.turn.has_worked else memory.idle
    if _is_spent(seen) or idle >= IDLE_BLOCKS:
        *_, last = events
        return _let_go(seen, replace(memory, idle=idle), last.target)
    after = replace(memory, blocks=memory.blocks + 1, idle=idle + 1, is_let_go=False)
    after = replace(after, position=_position(seen), set_stage=None)  # it is told by now
    return StageDecision(StopVerdict.BLOCK, after, text=text, events=events, log=log)


def _let_go(seen: StageSeen, memory: Memory, target: str) -> StageDecision:
    """The decision to let the agent stop because it was told to continue too often; the user hears it once.

    `target` is the stage that it would have been told; "" if the question was due.
    """
    if memory.is_let_go:
        return _pass(seen, "Told to go on too often before: the session may stop")
    stage = target or str(Stage.CODING)
    why = "max_blocks" if _is_spent(seen) else "no progress"
    counts = {"blocks": seen.facts.settings.max_blocks, "idle": IDLE_BLOCKS}
    note = instructions.TEXTS["LET_GO"][why].format(stage=stage, **counts)
    detail = {"why": why, "blocks": str(memory.blocks)}
    after = replace(memory, position=_position(seen), is_let_go=True)
    event = StopEvent("let_go", str(seen.turn.asked or stage), stage, detail)
    return StageDecision(StopVerdict.LET_GO, after, note=note, events=(event,), log=(note,))
