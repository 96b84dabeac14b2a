"""What changes a run at its gates: moves of the run and its stories, records of gates, what people say.

Nobody's word replaces a record: a story is completed only when records show everything.

An attempt at lint is a new tree in the lint-fix phase on which lint fails although build and tests
pass. After three attempts there is a note. A fix that breaks build or tests has to be reverted, and lint
is left as it was.
"""

from __future__ import annotations

from math import inf, nextafter

from lifecycle.core.redact import listed
from lifecycle.evidence.records import last_at
from lifecycle.run import table
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.kept_work import as_shown
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.run.stories.story_edits import clarified_for
from lifecycle.run.table import PHASES, STORIES, CheckState, Gate, RunPhase, StoryStatus
from lifecycle.run.texts.told import drawn, kept_words, refused
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import attempts, failed

_NO_FINAL = "G7 has no record on the current tree (lifecycle run gate G7)"


def moved_phase(run: Run, wanted: RunPhase, tree: str, now: float, *, asked: bool) -> Run:
    """The run in another phase; unchanged if it is in that phase already.

    Args:
        run: the run before the move.
        wanted: the phase to move to.
        tree: the current tree; "" if git does not say.
        now: the present.
        asked: a person is present who can answer open questions.

    Raises:
        IllegalMove: no way leads there.
        Refused: the run does not go on, or what the move needs does not hold; it names that.
    """
    run.demand_active()
    if wanted is run.phase:
        return run
    PHASES.check(run.phase, wanted)
    run = clarified_for(run, wanted, now, asked=asked)
    lacks = _lacks(run, wanted, newest(run.gates, Gate.G7, tree))
    if lacks:
        raise refused("phase-stays", run=run, wanted=wanted, lacks=lacks)
    if wanted is RunPhase.DEVELOPMENT:
        run = run.but(lint_attempts=(), lint_waived="")  # the code is being changed again
        if run.phase is RunPhase.PLANNING:
            run = with_gate(run, "", GateRecord(Gate.G1, now, CheckState.PENDING, tree), "", now)
    return run.but(phase=wanted)


def _lacks(run: Run, wanted: RunPhase, final: GateRecord | None) -> tuple[str, ...]:
    """What a legal move lacks, one clause each.

    Args:
        run: the run before the move.
        wanted: the phase to move to.
        final: the last run of G7 on the current tree.
    """
    still_open = tuple(story.id for story in run.open_stories)
    gaps = (f"not completed: {listed(still_open)}",) if still_open else ()
    gaps = gaps if run.stories else (gate_rules.WITHOUT_STORY,)
    is_passed = final is not None and final.state in gate_rules.HOLDS
    is_lint_alone = final is not None and gate_rules.failed_on_lint_alone(final)
    lack = ""
    match run.phase, wanted:
        case RunPhase.ANALYSIS, _:
            return () if run.stories else gaps
        case RunPhase.PLANNING, RunPhase.DEVELOPMENT:
            return gate_rules.design_lacks(run)
        case _, RunPhase.LINT_FIX if not is_lint_alone:
            lack = _NO_FINAL if final is None else "G7 did not fail on lint alone"
        case RunPhase.LINT_FIX, RunPhase.COMPLETION if not (run.lint_waived or is_passed):
            lack = "lint neither passed nor was tried three times (lifecycle run gate G7)"
        case _, RunPhase.DEVELOPMENT if not still_open and final is None:
            return (f"no story is open, and {_NO_FINAL}",)
        case _, RunPhase.DEVELOPMENT if not still_open and (is_passed or is_lint_alone):
            return ("no story is open, and build and tests pass",)
    is_late = wanted in (RunPhase.LINT_FIX, RunPhase.COMPLETION)
    return (*gaps, *filter(None, [lack])) if is_late else ()


def moved_story(
    run: Run, name: str, wanted: StoryStatus, facts: WorkFacts, now: float, *, unneeded: str = ""
) -> Run:
    """The run with one story in another status; unchanged if the story has that status already.

    Args:
        run: the run before the move.
        name: the story's id.
        wanted: the status.
        facts: the worktree's facts, with `changed` since the story's base.
        now: the present.
        unneeded: why nothing had to be changed, for a story that is completed without a change.

    Raises:
        IllegalMove: no way leads there.
        Refused: the run does not go on, or what the move needs does not hold; it names that.
    """
    run.demand_active()
    story = run.story(name)
    if unneeded and wanted is not StoryStatus.COMPLETED:
        raise refused("no-change-without-end")
    if wanted is story.status and wanted is not StoryStatus.IN_PROGRESS:
        return run
    if wanted is not story.status:
        STORIES.check(story.status, wanted)
    if story.status is StoryStatus.BLOCKED:
        blockers.refuse_blocked(run, story)
    match wanted:
        case StoryStatus.IN_PROGRESS:
            return _begun(run, story, facts, now)
        case StoryStatus.COMPLETED:
            return _completed(run, story, facts, now, unneeded)
        case StoryStatus.BLOCKED if not blockers.blocking(run, story.id, ""):
            raise refused("no-blocker-before", story=story)
        case StoryStatus.BLOCKED:
            return blockers.standing_still(run, story, now)
        case StoryStatus.PENDING:
            return _opened_again(run, story, facts)
        case _:
            return run.with_story(story.but(status=wanted))


def _begun(run: Run, story: Story, facts: WorkFacts, now: float) -> Run:
    """The run with this story at work: begun, or begun again after a failure."""
    at_work = run.at_work
    if at_work is not None and at_work.id != story.id:
        raise refused("another-at-work", at_work=at_work, story=story)
    lacks = gate_rules.story_lacks(story)
    if lacks:
        raise refused("story-has-no-design", story=story, lacks=lacks)
    done = {other.id for other in run.completed_stories}
    waits = ", ".join(name for name in story.depends_on if name not in done)
    if waits:
        raise refused("story-waits", story=story, waits=waits)
    run = moved_phase(run, RunPhase.DEVELOPMENT, facts.tree, now, asked=True)
    is_new = attempts(story) < 1
    has_failed = any(failure.iteration == story.iteration for failure in story.failures)
    iteration = story.retries_from + 1 if is_new else story.iteration + has_failed
    begun = story.but(status=StoryStatus.IN_PROGRESS, iteration=iteration, unneeded="")
    if not story.started:
        begun = begun.but(started=now, red_from=last_at(facts.records))
    return run.with_story(begun.but(base=story.base or facts.head))


def _opened_again(run: Run, story: Story, facts: WorkFacts) -> Run:
    if run.phase in (RunPhase.COMPLETION, RunPhase.LINT_FIX):
        run = run.but(phase=RunPhase.DEVELOPMENT, lint_attempts=(), lint_waived="")
    # What an open story has changed stays its own, so that it cannot be said to need no change.
    base = story.base if story.is_open and facts.changed else ""
    return run.with_story(as_shown(story, Story(story.id, story.title)).but(base=base))


def _completed(run: Run, story: Story, facts: WorkFacts, now: float, unneeded: str) -> Run:
    """The run with this story completed, if records show everything; Refused, with all that is missing.

    Earlier failures are not the red of the other begun stories (`red_from`).
    """
    why = kept_words(unneeded)
    story = story.but(unneeded=why) if why else story
    missing = gate_rules.missing_for(story, facts)
    if missing:
        raise refused("story-not-completed", story=story, missing=missing)
    # The last of all, even if the clock was set back.
    completed = max(now, nextafter(max(other.completed for other in run.stories), inf))
    story = story.but(status=StoryStatus.COMPLETED, completed=completed, commit=facts.head)
    run = run.with_story(story)
    for begun in (other for other in run.open_stories if other.started):
        run = run.with_story(begun.but(red_from=last_at(facts.records)))
    return blockers.awaiting_if_blocked(run, now)


NOTE = "Lint issues remain - manual review needed"
"""The pull request's note if lint was waived."""

GIVEN_UP = f"Unable to fix lint issues after {table.MAX_LINT_ATTEMPTS} attempts"
BROKE = "A lint fix broke the build or the tests, and is reverted"

_NOT_LINT = (table.BUILD, table.TESTS)


KEPT = 40
"""How many gate records are kept for a story, and for the run itself."""


def with_gate(run: Run, story: str, record: GateRecord, error: str, now: float) -> Run:
    """Add the record of a gate to a run or its story; a story's gate that failed adds a failure, too.

    What is judged from the run itself has its state from the run as it is by now.

    Args:
        run: the run before the record.
        story: the story's id; "" for the run's own gate.
        record: the gate's record.
        error: what failed, in one line; "" if nothing did.
        now: the present.
    """
    run.demand_open()  # it may have been stopped while the gate ran; its checks' records are kept anyway
    if record.gate is table.Gate.G7:
        run = _with_attempt(run, record, now)
        record = record.but(state=gate_rules.state_of(record.parts, run.lint_waived))
    elif record.gate is table.Gate.G1:
        is_whole = not gate_rules.design_lacks(run)
        record = record.but(state=table.CheckState.PASS if is_whole else table.CheckState.FAIL)
    if not story:
        return run.but(gates=_with(run.gates, record))
    own = run.story(story)
    if record.gate is table.Gate.G6:
        state = gate_rules.check_states(own, record.tree)[table.StoryCheck.SECURITY_CLEARED]
        record = record.but(state=state)
    run = run.with_story(own.but(gates=_with(own.gates, record)))
    can_fail = table.StoryStatus.BLOCKED in table.STORIES.legal(own.status)
    if record.state is not table.CheckState.FAIL or not can_fail:
        return run
    text = error or f"{record.gate} failed"
    return failed(run, story, text, now, source=record.gate, tree=record.tree)


def _with_attempt(run: Run, record: GateRecord, now: float) -> Run:
    """The run; in the lint-fix phase an attempt is counted, or lint is waived, by a record of G7.

    The blocker that records a waiver blocks nothing.
    """
    is_new = bool(record.tree) and newest(run.gates, table.Gate.G7, record.tree) is None
    if run.phase is not table.RunPhase.LINT_FIX or not is_new:
        return run
    why = ""
    if gate_rules.failed_on_lint_alone(record):
        run = run.but(lint_attempts=(*run.lint_attempts, record.tree))
        why = GIVEN_UP if len(run.lint_attempts) >= table.MAX_LINT_ATTEMPTS else ""
    elif any(record.part(name).state is table.CheckState.FAIL for name in _NOT_LINT):
        why = BROKE
    if run.lint_waived or not why:
        return run
    return blockers.added(run.but(lint_waived=NOTE), why, "low", now, resolved_at=now, notes=NOTE)


def _with(records: tuple[GateRecord, ...], record: GateRecord) -> tuple[GateRecord, ...]:
    """The newest records and this one; of each gate and known tree only the last."""
    about = (record.gate, record.tree or None)
    others = (other for other in records if (other.gate, other.tree) != about)
    return (*others, record)[-KEPT:]


def at_work(run: Run, name: str, *, is_begun: bool = True) -> Story:
    """The story of this name, else the current one; Refused if it or the run is over, or the run stopped.

    Args:
        run: the run.
        name: the story's id; "" for the current one.
        is_begun: refuse a story that was not begun, too: nothing can be recorded for it yet.
    """
    run.demand_open()
    story = run.open_story(name, "story-over") if name else run.current
    if story is None:
        raise refused("no-story-at-work")
    if is_begun and story.status is table.StoryStatus.PENDING:
        raise refused("story-not-begun", story=story)
    return story


def gate_lines(run: Run, record: GateRecord, story: Story | None) -> list[str]:
    """Lines for people on one run of a gate: its state, and each of its parts; of G1, what is missing."""
    lacks = gate_rules.design_lacks(run) if story is None else ()
    about = {"rules": gate_rules, "table": table, "note": NOTE}
    return drawn("gate", run=run, record=record, story=story, lacks=lacks, **about)
