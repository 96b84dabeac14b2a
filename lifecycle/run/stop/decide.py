"""The reply to one Stop event of the session that leads a run: it must continue, or may stop. Pure.

No clock, file or git is used: `RunSeen` has all that is known, `RunVerdict` all that is to do. The order is
fixed: a run that waits for a person, a complete run, a stopped run; then whether a cap is reached, or the
run is stuck; otherwise the session continues with the next step, a row of `next_steps.toml`.
"""

from __future__ import annotations

import hashlib
import shlex
from itertools import accumulate
from typing import Any, Final

from lifecycle.core.light_dataclass import dataclass, fields_of
from lifecycle.core.light_dataclass import field as of
from lifecycle.core.plan import StopVerdict, StopWord
from lifecycle.core.redact import few, quoted, short, visible
from lifecycle.core.values.configured import RunSettings
from lifecycle.run import long_run, state, table
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.work_facts import UNSEEN, WorkFacts
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.run.texts.told import filled, sentence
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import attempts
from lifecycle.settings import resources

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
        case table.RunStatus.AWAITING_USER:
            return _let_go(run)
        case table.RunStatus.COMPLETED:
            return _completed(seen, run)
        case table.RunStatus.STOPPED:
            return _let_go(run, missing(seen.run, seen.facts))
        case table.RunStatus.ACTIVE:
            return _active(seen, run)


def missing(run: Run, facts: WorkFacts = UNSEEN) -> tuple[str, ...]:
    """What the run lacks before it is complete, one clause each; includes what the story at work lacks."""
    lacks = [] if run.stories else ["there is no story yet"]
    for story in run.open_stories:
        lacks.append(f"{story.id} {quoted(story.title, 60)} is {story.status.value}")
        if facts.tree and story == run.at_work:
            lacks += gate_rules.missing_for(story, facts)
    if not run.is_over:
        lacks.append("the run was not closed: lifecycle run finish, lifecycle run complete")
    return tuple(lacks)


def says_complete(text: str) -> bool:
    """True if WORKFLOW_COMPLETE is a line of the agent's own prose, or a heading, but not a list item."""
    if table.COMPLETE not in text:
        return False
    from lifecycle.evidence.words.prose_blocks import blocks

    lines = (line for block in blocks(text) for line in block.text.split("\n")[block.is_item :])
    return any(line.strip() == table.COMPLETE for line in lines)


def _active(seen: RunSeen, run: Run) -> RunVerdict:
    run = blockers.awaiting_if_blocked(run, seen.now)
    if run.status is table.RunStatus.AWAITING_USER:  # there is nothing left to continue with
        return _let_go(run)
    is_claimed = says_complete(seen.message)
    if seen.is_waiting and not is_claimed:
        return RunVerdict(StopWord(), run)
    about = _digest(run, seen.facts.tree)
    idle = run.idle + 1 if about == run.last_reason else 0
    why = long_run.exceeded(run, seen.limits, seen.now)
    if not why and idle >= IDLE_STOPS:
        why = f"{IDLE_STOPS} turns in a row changed neither the run nor a file"
    if why:
        run = run.but(status=table.RunStatus.STOPPED, why=why, stopped_at=seen.now)
        return _let_go(run, missing(seen.run, seen.facts))
    run = run.but(iterations=run.iterations + 1, led_on_at=seen.now, last_reason=about, idle=idle)
    text = _continuation(seen, run, is_claimed=is_claimed)
    return RunVerdict(StopWord(StopVerdict.BLOCK, tuple(text)), run)


def _completed(seen: RunSeen, run: Run) -> RunVerdict:
    """Ask the session of a completed run once for its closing block; later stops get no reply."""
    if says_complete(seen.message) or run.asked_marker:
        return RunVerdict(StopWord(), run)
    text = (sentence("closing-block", run=run),)
    return RunVerdict(StopWord(StopVerdict.BLOCK, text), run.but(asked_marker=True))


def _let_go(run: Run, lacks: tuple[str, ...] = ()) -> RunVerdict:
    """Let the session stop, and tell the person why, once for each question and each stop of the run."""
    asked = f"{run.fix.blocker} {run.fix.asked_at}" if run.fix is not None else ""
    is_stopped = run.status is table.RunStatus.STOPPED
    about = f"stopped {run.iterations} {run.why}" if is_stopped else f"await {run.session} {asked}"
    lines = () if run.told == about else brake_lines(run, lacks)
    return RunVerdict(StopWord(StopVerdict.LET_GO, person=lines), run.but(told=about))


def brake_lines(run: Run, lacks: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What a person has to do before the run continues; () if it needs none.

    For a stopped run: why it was stopped, what it lacks, and how to resume it. For a waiting one: what to
    fix, how it is checked, how to say so.
    """
    if run.status is table.RunStatus.STOPPED:
        left = f" Missing: {_joined(lacks)}." if lacks else ""
        return (sentence("stopped", run=run, why=run.why or "nobody says why", left=left),)
    if run.status is not table.RunStatus.AWAITING_USER:
        return ()
    fix, checked = run.fix, sentence("checked-by-nothing")
    what, name = "a blocker: lifecycle run status shows it", ""
    if fix is not None:
        what, name = quoted(fix.description), f" ({', '.join(fix.waited)})" if fix.blocker else ""
    if fix is not None and fix.check_command:
        checked = sentence("checked-with", check=quoted(" ".join(fix.check_command)))
    return tuple(filled("waits", run=run, name=name, what=what, checked=checked))


def _continuation(seen: RunSeen, run: Run, *, is_claimed: bool) -> list[str]:
    """The text for a session that has to continue: the run's state, the last failure, the next command."""
    most = run.forgiven.iterations + seen.limits.max_iterations
    number = f"turn {run.iterations} of {most}"
    lines = [f"Run {run.id} is not complete, so go on: {run.phase.value}, {run.counted}, {number}."]
    if is_claimed:
        lacks = _joined(missing(seen.run, seen.facts))
        lines.append(f"You said {table.COMPLETE}; the state does not. Missing: {lacks}.")
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
    lines.append(f"Next: {next_step(run, seen.facts)}")
    if long_run.report_due(run, seen.now):
        lines.append("A progress report is due: lifecycle run report")
    return lines


def story_line(story: Story) -> str:
    """One sentence on a story: its status, and the work of that status."""
    cycle = f", TDD {story.tdd.value}" if story.tdd is not table.TddPhase.NONE else ""
    work = f" ({table.WORK[story.tdd]})" if story.tdd in table.WORK else ""
    count = attempts(story)
    tried = f", iteration {count} of {table.MAX_RETRIES}" if count else ""
    return f"Story {story.id} {story.quoted_title}: {story.status.value}{cycle}{work}{tried}."


def _joined(missing: tuple[str, ...]) -> str:
    """Join as many of the clauses as fit, and say how many are left out."""
    clauses = [short(clause, 220) for clause in missing]
    fit = sum(length <= 220 for length in accumulate(map(len, clauses)))
    return few(clauses, fit, "; ", "; and {} more")


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


_BLOCKED: Final = table.StoryStatus.BLOCKED
STEPS: Final[dict[str, tuple[str, str]]] = resources.texts("run/stop/next_steps.toml")
"""Every step by its name: what is to be done, and the command."""


def next_step(run: Run, facts: WorkFacts = UNSEEN) -> str:
    """The next step of the run: what is to be done, and the command that does it or says that it is done.

    Args:
        run: the run.
        facts: what git shows of the worktree; with UNSEEN, only the records count.
    """
    match run.phase:
        case table.RunPhase.SETUP:
            return _step("setup")
        case table.RunPhase.ANALYSIS:
            asked = _clarify(run, table.ClarificationPhase.PRE_ANALYSIS)
            return asked or _step("plan" if run.stories else "name-stories")
        case table.RunPhase.PLANNING:
            asked = _question(run) or _clarify(run, table.ClarificationPhase.PRE_PLAN)
            bare = [story for story in run.open_stories if gate_rules.story_lacks(story)]
            return asked or (_step("design", story=bare[0]) if bare else _step("develop"))
        case table.RunPhase.DEVELOPMENT if run.current is not None:
            return _left_over(run, facts) or _story(run.current, facts)
        case table.RunPhase.DEVELOPMENT:
            return _development(run, facts.tree)
        case table.RunPhase.LINT_FIX if run.open_stories:
            return _step("lint-open")
        case table.RunPhase.LINT_FIX:
            return _step("lint-done" if _holds(run.gates, table.Gate.G7, facts.tree) else "lint")
        case table.RunPhase.COMPLETION:
            is_made = run.pull_request and (not facts.tree or facts.head == run.published)
            return _step("close" if is_made else "finish")


def _clarify(run: Run, phase: table.ClarificationPhase) -> str:
    """The step to pass that checkpoint; "" if it is passed, or nobody is asked as answers are assumed."""
    answered = {entry.phase for entry in run.clarifications if entry.answer}
    return "" if run.autonomous or phase in answered else _step("clarify", phase=phase)


def _left_over(run: Run, facts: WorkFacts) -> str | None:
    """The step to set aside a blocked story's uncommitted changes before another story; None without."""
    stuck = [story for story in run.stories if story.iteration and story.status is _BLOCKED]
    if run.at_work is not None or not stuck:
        return None
    if facts.is_left:
        return _step("set-aside", story=stuck[-1])
    inside = [shlex.quote(visible(path)) for path in facts.modules]
    return _step("set-aside-inside", story=stuck[-1], module=inside[0]) if inside else None


def _question(run: Run) -> str:
    """The step to answer the first unanswered question; "" if there is none."""
    entry = next((entry for entry in run.clarifications if not entry.answer), None)
    return _step("answer", question=quoted(entry.question, 120), phase=entry.phase) if entry else ""


def _development(run: Run, tree: str) -> str:
    """The next step if no story is at work and none can be begun."""
    if run.open_stories:
        standing = run.standing_blockers
        return _step("ask", blocker=standing[-1].id if standing else "B1")
    if not run.stories:
        return _step("no-story")
    if asked := _question(run):
        return asked
    if _holds(run.gates, table.Gate.G7, tree):
        return _step("last-gate-passed")
    final = newest(run.gates, table.Gate.G7, tree)
    if final is None:
        return _step("last-gate")
    if absent := gate_rules.not_installed(final):
        return _step("install", gate=final.gate, absent=absent)
    return _step("lint-alone" if gate_rules.failed_on_lint_alone(final) else "last-gate-failed")


def _story(story: Story, facts: WorkFacts) -> str:
    if story.status is table.StoryStatus.PENDING:
        if gate_rules.story_lacks(story):
            return _step("design", story=story)
        return _step("scan" if story.dependencies is None else "begin", story=story)
    if story.tdd in table.THEN:
        return _step("cycle", story=story, work=table.WORK[story.tdd], phase=table.THEN[story.tdd])
    if story.tdd is table.TddPhase.NONE and not (story.waived or story.unneeded):
        return _step("red", story=story, work=table.WORK[table.TddPhase.RED])
    return _checks(story, facts)


def _checks(story: Story, facts: WorkFacts) -> str:
    """The step for the first thing that the story lacks; a review's refusal comes first."""
    readers = ("reviewer", "security") if story.security else ("reviewer",)
    reviews = [newest(story.reviews, table.REVIEWERS[by][0], facts.tree or None) for by in readers]
    read = [(by, last.verdict) for by, last in zip(readers, reviews, strict=True) if last]
    if refused := next((by for by, verdict in read if verdict not in table.APPROVING), ""):
        return _step("mend", story=story, agent=refused)
    if facts.under_way:
        return _step("end-first", work=facts.under_way.casefold())
    for gate in (table.Gate.G2, table.Gate.G3, table.Gate.G4):
        if not _holds(story.gates, gate, facts.tree):
            ran = newest(story.gates, gate)
            if ran is not None and (absent := gate_rules.not_installed(ran)):
                return _step("install", gate=f"{gate} {story.id}", absent=absent)
            return _step("gate", story=story, gate=gate, when=table.GATES[gate].when.casefold())
    for number, _ in gate_rules.unmet(story, facts.tree):
        criterion = story.criteria[number - 1]
        if criterion.state is table.CriterionState.UNMET and criterion.tree == facts.tree:
            return _step("mend", story=story, agent="tester")
        return _step("judge", story=story, number=number)
    if unread := next((by for by in readers if by not in dict(read)), ""):
        return _step("review", story=story, agent=unread)
    if not _holds(story.gates, table.Gate.G5, facts.tree):
        return _step("final-build", story=story)
    return _step("commit" if facts.uncommitted else "complete", story=story)


def _holds(records: tuple[GateRecord, ...], gate: table.Gate, tree: str) -> bool:
    """True if the newest record of the gate passed, on this tree if that is known."""
    last = newest(records, gate)
    return last is not None and last.state in gate_rules.HOLDS and tree in ("", last.tree)


def _step(name: str, **values: Any) -> str:
    """The row of this name in `next_steps.toml`, filled in."""
    text, command = (part.format_map(values) for part in STEPS[name])
    return f"{text}: lifecycle run {command}"
