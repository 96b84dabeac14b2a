"""The reply to one Stop event of the session that leads a run: it must continue, or may stop. Pure.

No clock, file or git is used: `RunSeen` has all that is known, `RunVerdict` all that is to do. The order is
fixed: a run that waits for a person, a complete run, a stopped run; then whether a cap is reached, or the
run is stuck; otherwise the session continues.
"""

from __future__ import annotations

import hashlib

from lifecycle.core.light_dataclass import dataclass, fields_of
from lifecycle.core.light_dataclass import field as of
from lifecycle.core.plan import StopVerdict, StopWord
from lifecycle.core.redact import quoted
from lifecycle.core.values.configured import RunSettings
from lifecycle.run import long_run, state
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.work_facts import UNSEEN, WorkFacts
from lifecycle.run.state import GateRecord, Run, Story
from lifecycle.run.stop.next_step import next_step
from lifecycle.run.table import COMPLETE, MAX_RETRIES, WORK, RunStatus, TddPhase
from lifecycle.run.texts.told import filled, sentence
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import attempts

IDLE_STOPS = 5
"""After this many turns in a row that changed neither the run nor a file, the run is stopped as stuck."""

_COUNTED = (
    "led iterations last_reason idle led_on_at last_stop told forgiven reported_at reported_stories"
)
"""Fields of a run whose changes are not work."""


@dataclass(frozen=True, slots=True)
class RunSeen:
    """What is known at a stop.

    Attributes:
        run: the run, which the session that stops leads.
        now: seconds since the epoch.
        limits: the caps.
        message: what the agent said last.
        position: the name of this stop; "" if it has none.
        facts: what git shows of the worktree.
        is_waiting: an agent of this session works in the background; the client wakes the session after it.
    """

    run: Run
    now: float
    limits: RunSettings = of(default_factory=RunSettings)
    message: str = ""
    position: str = ""
    facts: WorkFacts = UNSEEN
    is_waiting: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """What the run lacks before it is complete, one clause each."""
        return missing(self.run, self.facts)


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The reply to a stop: what is said to whom, and the run as it is from now on."""

    word: StopWord
    run: Run


def decide(seen: RunSeen) -> RunVerdict:
    """The reply to one stop; none to a stop that was answered before."""
    run = seen.run
    if seen.position and seen.position == run.last_stop:
        return RunVerdict(StopWord(), run)
    run = run.but(last_stop=seen.position)
    match run.status:
        case RunStatus.AWAITING_USER:
            return _awaiting(run)
        case RunStatus.COMPLETED:
            return _completed(seen, run)
        case RunStatus.STOPPED:
            return _stopped(seen, run)
        case RunStatus.ACTIVE:
            return _active(seen, run)


def missing(run: Run, facts: WorkFacts = UNSEEN) -> tuple[str, ...]:
    """What the run lacks before it is complete, one clause each; includes what the story at work lacks."""
    lacks = []
    for story in run.open_stories:
        lacks.append(f"{story.id} {quoted(story.title, 60)} is {story.status.value}")
        if facts.tree and story == run.at_work:
            lacks += gate_rules.missing_for(story, facts)
    if not run.stories:
        lacks.append("there is no story yet")
    if not run.is_over:
        lacks.append("the run was not closed: lifecycle run finish, lifecycle run complete")
    return tuple(lacks)


def says_complete(text: str) -> bool:
    """True if WORKFLOW_COMPLETE is a line of the agent's own prose, or a heading, but not a list item."""
    if COMPLETE not in text:
        return False
    from lifecycle.evidence.words.prose_blocks import blocks

    lines = (line for block in blocks(text) for line in block.text.split("\n")[block.is_item :])
    return any(line.strip() == COMPLETE for line in lines)


def _awaiting(run: Run) -> RunVerdict:
    question = "" if run.fix is None else f"{run.fix.blocker} {run.fix.asked_at}"
    return _let_go(run, f"await {run.session} {question}", waits_for(run))


def _stopped(seen: RunSeen, run: Run) -> RunVerdict:
    return _let_go(run, f"stopped {run.iterations} {run.why}", stopped(run, seen.missing))


def _active(seen: RunSeen, run: Run) -> RunVerdict:
    run = blockers.awaiting_if_blocked(run, seen.now)
    if run.status is RunStatus.AWAITING_USER:  # there is nothing left to continue with
        return _awaiting(run)
    is_claimed = says_complete(seen.message)
    if seen.is_waiting and not is_claimed:
        return RunVerdict(StopWord(), run)
    about = _digest(run, seen.facts.tree)
    idle = run.idle + 1 if about == run.last_reason else 0
    why = long_run.exceeded(run, seen.limits, seen.now)
    if not why and idle >= IDLE_STOPS:
        why = f"{IDLE_STOPS} turns in a row changed neither the run nor a file"
    if why:
        return _stopped(seen, run.but(status=RunStatus.STOPPED, why=why, stopped_at=seen.now))
    count = run.iterations + 1
    run = run.but(iterations=count, led_on_at=seen.now, last_reason=about, idle=idle)
    text = _continuation(seen, run, is_claimed=is_claimed)
    return RunVerdict(StopWord(StopVerdict.BLOCK, tuple(text)), run)


def _completed(seen: RunSeen, run: Run) -> RunVerdict:
    """Ask the session of a completed run once for its closing block; later stops get no reply."""
    if says_complete(seen.message) or run.asked_marker:
        return RunVerdict(StopWord(), run)
    text = (sentence("closing-block", run=run),)
    return RunVerdict(StopWord(StopVerdict.BLOCK, text), run.but(asked_marker=True))


def _let_go(run: Run, key: str, person: tuple[str, ...]) -> RunVerdict:
    """Let the session stop, and tell the person why, once for each key."""
    lines = () if run.told == key else person
    return RunVerdict(StopWord(StopVerdict.LET_GO, person=lines), run.but(told=key))


def waits_for(run: Run) -> tuple[str, ...]:
    """What a person has to do before a waiting run continues: fix, check, say so, resume."""
    fix, checked = run.fix, sentence("checked-by-nothing")
    what, name = "a blocker: lifecycle run status shows it", ""
    if fix is not None:
        what, name = quoted(fix.description), f" ({', '.join(fix.waited)})" if fix.blocker else ""
    if fix is not None and fix.check_command:
        checked = sentence("checked-with", check=quoted(" ".join(fix.check_command)))
    return tuple(filled("waits", run=run, name=name, what=what, checked=checked))


def stopped(run: Run, lacks: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Why a run was stopped, what is missing, and how to resume it."""
    done = f"{len(run.completed_stories)} of {len(run.stories)} stories are completed"
    left = f" Missing: {_joined(lacks)}." if lacks else ""
    return (sentence("stopped", run=run, why=run.why or "nobody says why", done=done, left=left),)


def _continuation(seen: RunSeen, run: Run, *, is_claimed: bool) -> list[str]:
    """The text for a session that has to continue: the run's state, the last failure, the next command."""
    done = f"{len(run.completed_stories)} of {len(run.stories)} stories"
    most = run.forgiven.iterations + seen.limits.max_iterations
    number = f"turn {run.iterations} of {most}"
    lines = [f"Run {run.id} is not complete, so go on: {run.phase.value}, {done}, {number}."]
    if is_claimed:
        lines.append(f"You said {COMPLETE}; the state does not. Missing: {_joined(seen.missing)}.")
    elif run.idle:
        lines.append(sentence("stuck", turns=run.idle + 1, most=IDLE_STOPS))
    else:
        lines.append(f"Goal: {quoted(run.goal, 120)}")
    story = run.current
    if story is not None:
        lines.append(story_line(story))
        if story.failures:
            last = story.failures[-1]
            lines.append(f"Failed last: [{last.category.value}] {quoted(last.text, 160)}")
    step = next_step(run, seen.facts)
    lines.append(f"Next: {step.text}: {step.command}")
    if long_run.report_due(run, seen.now):
        lines.append("A progress report is due: lifecycle run report")
    return lines


def story_line(story: Story) -> str:
    """One sentence on a story: its status, and the work of that status."""
    cycle = f", TDD {story.tdd.value}" if story.tdd is not TddPhase.NONE else ""
    work = f" ({WORK[story.tdd]})" if story.tdd in WORK else ""
    count = attempts(story)
    tried = f", iteration {count} of {MAX_RETRIES}" if count else ""
    return f"Story {story.id} {story.quoted_title}: {story.status.value}{cycle}{work}{tried}."


def _joined(missing: tuple[str, ...]) -> str:
    """Join as many of the clauses as fit, and say how many are left out."""
    shown: list[str] = []
    for clause in missing:
        if sum(map(len, shown)) + len(clause) > 220 and shown:
            break
        shown.append(clause if len(clause) <= 220 else f"{clause[:219]}…")
    left = len(missing) - len(shown)
    return "; ".join(shown) + (f"; and {left} more" if left else "")


def _digest(run: Run, tree: str) -> str:
    """A hash of the run without its counters, and of its tree: an equal hash means that nothing changed."""
    fresh = Run(run.id, run.goal, run.started)
    about = run.but(**fields_of(fresh, *_COUNTED.split()), gates=_shown(run.gates))
    stories = tuple(story.but(gates=_shown(story.gates)) for story in run.stories)
    return hashlib.sha256(state.encoded(about.but(stories=stories)) + tree.encode()).hexdigest()


def _shown(records: tuple[GateRecord, ...]) -> tuple[GateRecord, ...]:
    """The results of gates, each with its tree: running a gate once more is not work."""
    bare = {GateRecord(record.gate, 0.0, record.state, record.tree) for record in records}
    return tuple(sorted(bare, key=str))
