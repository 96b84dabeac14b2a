"""The state of a run as text: for a session that starts, for a summary, and parts of other texts. Pure.

The parts are checks, gates, blockers, and the next steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages import figures
from lifecycle.core.redact import LIMIT, listed, named, quoted
from lifecycle.core.timing import render_time
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import standing
from lifecycle.run import table
from lifecycle.run.gates.gate_rules import check_states, lint_left, open_questions
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import report_due, review_due, spent, sync_due, tier
from lifecycle.run.state import Blocker, Run, Story
from lifecycle.run.stop import decide
from lifecycle.run.texts.told import Answer, drawn, filled, sentence


def recovery(run: Run | None, now: float, written: float) -> Answer:
    """The recovery table, and what to continue with; a run that is over is not recovered."""
    if run is None or run.is_over:
        last: dict[str, Any] = {"existing_workflow": False, "last_workflow_id": run and run.id}
        return drawn("recovery", run=run), last
    story = run.current
    data = {
        "existing_workflow": True,
        **fields_of(run, "status", workflow_id="id", goal="goal", current_phase="phase"),
        "phase_number": table.NUMBERS[run.phase],
        "stories_completed": len(run.completed_stories),
        "stories": len(run.stories),
        "current_story": story and story.id,
        "notes": notes(run, now, written),
    }
    return drawn("recovery", run=run, story=story, data=data), data


def notes(run: Run, now: float, written: float = 0.0) -> list[str]:
    """What a session has to know of the run besides its state.

    Args:
        run: the run.
        now: the present.
        written: when its file was written; 0.0 if not known.
    """
    row, lint = tier(run, now), lint_left(run)
    texts = [brake_note(run), lint and f"Lint is waived: {lint}"]
    texts += [f"T{question[1:]}." for question in open_questions(run)]
    if row.hands_over:  # a break is near
        is_amid = run.current is not None and run.current.iteration
        where = "The end of this story is" if is_amid else "Now is"
        texts.append(sentence("hand-over", where=where))
    if sync_due(run, written, now):
        minutes, every = int((now - written) // 60), row.sync_seconds / 60
        texts.append(sentence("state-is-old", minutes=minutes, every=every))
    return [*filter(None, texts)]


def brake_note(run: Run) -> str:
    """Why the run is not active, or that a person resumed it but no session has continued it; else ""."""
    if run.status is table.RunStatus.STOPPED:
        return sentence("note-stopped", why=run.why or "nobody said why")
    if run.fix is None:
        return ""
    what = quoted(run.fix.description)
    if run.status is table.RunStatus.AWAITING_USER:
        return sentence("note-waits", what=what)
    # Until a session continues it, that is news.
    return sentence("note-fixed", what=what) if run.fix.completed_at > run.led_on_at else ""


def start_lines(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """The lines for a session that starts and leads the run from now on."""
    about = f"{run.phase.value}: {run.counted} are completed. Goal: {quoted(run.goal)}"
    first = f"Autonomous run {run.id}, {about}"
    lines, braked = [first, *_story(run), _files(facts)], decide.brake_lines(run)
    if braked:
        return [*lines, *braked, "Do not continue the run before that."]
    return [*lines, *notes(run, now), sentence("led-here"), f"Next: {decide.next_step(run, facts)}"]


def held_line(run: Run) -> str:
    """The line for a session that does not lead the run because another session does."""
    return sentence("held", run=run, goal=quoted(run.goal, 80), session=named(run.session))


def kept_lines(run: Run, facts: WorkFacts) -> list[str]:
    """What a summary of the session must keep: goal, story, criteria, phase, what was verified last."""
    goal, story = quoted(run.goal, 1_000), [f"- {line}" for line in _story(run)]
    criteria = criterion_lines(run.current) if run.current is not None else []
    then = table.WAITS.get(run.status) or decide.next_step(run, facts)
    about = {"story": story, "verified": _verified(facts), "criteria": criteria}
    return filled("kept", run=run, goal=goal, **about, next=then)


def criterion_lines(story: Story, most: int = LIMIT) -> list[str]:
    """The criteria of a story with their numbers and states, each cut to so many characters."""
    criteria = (f"({entry.state}): {quoted(entry.text, most)}" for entry in story.criteria)
    return [f"- Criterion {number} {text}" for number, text in enumerate(criteria, 1)]


def _story(run: Run) -> list[str]:
    story = run.current
    if story is None:
        return []
    left = [other.id for other in run.open_stories if other.id != story.id]
    after = f" Open after it: {listed(left)}." if left else ""
    return [f"{decide.story_line(story)}{after}"]


def _files(facts: WorkFacts) -> str:
    names = [named(path, 60) for path in facts.uncommitted]
    changed = f"{len(names)} uncommitted files: {listed(names)}"
    if not facts.tree:
        changed = "git does not say what is uncommitted"
    elif not names:
        changed = "nothing is uncommitted"
    stands = {
        kind: standing(facts.records, facts.tree, kind) for kind in (table.BUILD, table.TESTS)
    }
    shown = (f"{kind} {table.SHOWS.get(at, 'of unknown outcome')}" for kind, at in stands.items())
    return f"Git: {changed}. Checks: {', '.join(shown)}."


def _verified(facts: WorkFacts) -> str:
    passed = [
        record for record in facts.records if record.outcome is Outcome.PASSED and record.tree
    ]
    if not passed:
        return "Verified last: nothing yet"
    last = passed[-1]
    is_here = last.tree == facts.tree
    where = "the files as they are" if is_here else "files that were changed since"
    about = f"{quoted(last.command)} on tree {last.tree[:12]} ({where})"
    return f"Verified last: {about}, {render_time(last.at)}"


_REVIEW = "{} stories are completed: review what the last checkpoint holds before the next one"


def tree_of(story: Story, tree: str) -> str:
    """The tree for which a story's checks are shown: the worktree's; if it is completed, its last one."""
    if story.is_open:
        return tree
    return story.gates[-1].tree if story.gates else tree


def checks_of(story: Story, tree: str) -> dict[table.StoryCheck, table.CheckState]:
    """The state of each check of a story on that tree."""
    return check_states(story, tree_of(story, tree))


def check_line(story: Story, tree: str) -> str:
    """The checks of a story in one line, in the order of the design."""
    return states_line(checks_of(story, tree))


def states_line(states: Mapping[Any, table.CheckState]) -> str:
    """Checks or gates in one line, each with its state; "" for none."""
    return ", ".join(f"{name} {state}" for name, state in states.items())


def gates_of(story: Story, tree: str) -> dict[table.Gate, table.CheckState]:
    """The gates that were run for a story, each with the result of its last run on that tree."""
    about, last = tree_of(story, tree), {record.gate: record for record in story.gates}
    here = {gate: record.state for gate, record in last.items() if record.tree == about != ""}
    return {gate: here.get(gate, table.CheckState.PENDING) for gate in sorted(last)}


def blocker_line(run: Run, blocker: Blocker) -> str:
    """A blocker with its index and its id, both of which name it."""
    where = f"{blocker.severity}, {blocker.story}" if blocker.story else blocker.severity
    about = f"{blocker.id} ({where}): {quoted(blocker.description)}"
    return f"[{run.blockers.index(blocker)}] {about}"


def receipt_line(run: Run, now: float) -> str:
    """What the run used until now: sessions, iterations, time, and tokens if a transcript has them."""
    took = spent(run, now)
    tokens = f"{took.tokens:,}" if took.tokens else "not known"
    sessions = figures.count(took.sessions, "session")
    iterations = figures.count(took.iterations, "iteration")
    return f"{sessions}, {iterations}, {figures.span(took.seconds)}, tokens: {tokens}"


def steps(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """The next steps: the present action, the story after this one, and a report if one is due."""
    if run.status is not table.RunStatus.ACTIVE:
        return [table.WAITS[run.status]]
    after = run.current
    if after is not None and run.phase is table.RunPhase.DEVELOPMENT:  # the one after it
        after = run.with_story(after.but(status=table.StoryStatus.COMPLETED)).current
    lines = [
        decide.next_step(run, facts),
        f"Then {after.id}: {after.quoted_title}" if after is not None else "",
        "A progress report is due: lifecycle run report" if report_due(run, now) else "",
        _REVIEW.format(len(run.completed_stories)) if review_due(run, now) else "",
    ]
    return [*filter(None, lines)]
