"""Words of a run that several of its texts use: lengths of time, checks, gates, what comes next."""

from __future__ import annotations

from lifecycle.core.redact import quoted
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import report_due, review_due, spent
from lifecycle.run.state import Blocker, Run, Story
from lifecycle.run.stop.next_step import next_step
from lifecycle.run.table import CheckState, Gate, RunStatus, StoryCheck

_MINUTE, _HOUR = 60, 3_600

_REVIEW = "{} stories are completed: review what the last checkpoint holds before the next one"

_WAITS = {
    RunStatus.AWAITING_USER: "A person fixes what the run waits for: lifecycle run check-user-fix",
    RunStatus.STOPPED: "A person lets the run go on: lifecycle run resume",
    RunStatus.COMPLETED: "None: the run is completed",
}


def elapsed(seconds: float) -> str:
    """A length of time: `45s`, `12m 5s`, `3h 4m`."""
    whole = int(max(0.0, seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE}s"
    return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE}m"


def tree_of(story: Story, tree: str) -> str:
    """The tree that a story's checks are shown for: the worktree's, of a completed one that of its end."""
    if story.is_open:
        return tree
    return story.gates[-1].tree if story.gates else tree


def checks_of(story: Story, tree: str) -> dict[StoryCheck, CheckState]:
    """How each check of a story stands, as far as it is shown for that tree."""
    return check_states(story, tree_of(story, tree))


def check_line(story: Story, tree: str) -> str:
    """The checks of a story in one line, in the order of the design."""
    return ", ".join(f"{check} {state}" for check, state in checks_of(story, tree).items())


def gates_of(story: Story, tree: str) -> dict[Gate, CheckState]:
    """The gates that were run for a story, each with what its last run showed of that tree."""
    about = tree_of(story, tree)
    last = {record.gate: record for record in story.gates}
    return {
        gate: record.state if record.tree == about != "" else CheckState.PENDING
        for gate, record in sorted(last.items())
    }


def gate_line(story: Story, tree: str) -> str:
    """These gates in one line; "" if none was run."""
    return ", ".join(f"{gate} {state}" for gate, state in gates_of(story, tree).items())


def blocker_line(run: Run, blocker: Blocker) -> str:
    """A blocker with its index and its id, both of which name it."""
    where = f"{blocker.severity}, {blocker.story}" if blocker.story else blocker.severity
    about = f"{blocker.id} ({where}): {quoted(blocker.description)}"
    return f"[{run.blockers.index(blocker)}] {about}"


def blocker_lines(run: Run) -> list[str]:
    """The blockers that stand, a line each; or that there is none."""
    return [f"- {blocker_line(run, one)}" for one in run.standing_blockers] or ["None"]


def receipt_line(run: Run, now: float) -> str:
    """What the run took until now: sessions, iterations, time, and tokens where a transcript told them."""
    took = spent(run, now)
    tokens = f"{took.tokens:,}" if took.tokens else "not known"
    counts = f"{took.sessions} sessions, {took.iterations} iterations"
    return f"{counts}, {elapsed(took.seconds)}, tokens: {tokens}"


def steps(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """What comes next: the present action, the story after this one, and a report if one is due."""
    if run.status is not RunStatus.ACTIVE:
        return [_WAITS[run.status]]
    step = next_step(run, facts)
    after = next((one for one in run.open_stories if one != run.current), None)
    return [
        f"{step.text}: {step.command}",
        *([f"Then {after.id}: {quoted(after.title, 80)}"] if after is not None else []),
        *(["A progress report is due: lifecycle run report"] if report_due(run, now) else []),
        *([_REVIEW.format(len(run.completed_stories))] if review_due(run, now) else []),
    ]
