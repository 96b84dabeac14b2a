"""Add results of gates, and what people say of checks, to a run's record; G7, and fixing lint.

An attempt at lint is a new tree in the lint-fix phase on which lint fails although build and tests
pass. After three attempts there is a note. A fix that breaks build or tests has to be reverted, and lint
is left as it was.
"""

from __future__ import annotations

from lifecycle.run import table
from lifecycle.run.gates import gate_rules
from lifecycle.run.state import GateRecord, Run, Story, WordCheck, newest
from lifecycle.run.texts.told import drawn, kept_words, refused
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import failed

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


def with_word(run: Run, story: Story, word: WordCheck) -> Run:
    """Record what somebody said of a check, the last word on each; it proves nothing."""
    details = kept_words(word.details, 500)
    words = (*(earlier for earlier in story.words if earlier.check is not word.check), word)
    return run.with_story(story.but(words=(*words[:-1], word.but(details=details))))


def gate_lines(run: Run, record: GateRecord, story: Story | None) -> list[str]:
    """Lines for people on one run of a gate: its state, and each of its parts; of G1, what is missing."""
    lacks = gate_rules.design_lacks(run) if story is None else ()
    about = {"rules": gate_rules, "table": table, "note": NOTE}
    return drawn("gate", run=run, record=record, story=story, lacks=lacks, **about)
