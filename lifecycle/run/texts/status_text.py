"""The whole of a run at a glance: its facts, its stories, what stands in the way, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.markdown_table import table
from lifecycle.core.redact import quoted
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, tier
from lifecycle.run.state import GateRecord, Run, Story, fields_of
from lifecycle.run.table import WORKING, CriterionState, StoryStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import filled, numbered

MOST: Final = 40
"""Stories that are shown unless all are asked for: those that are at work, blocked and next come first."""

HEAD: Final = ("#", "Story", "Size", "Status", "TDD", "Iteration", "Checks", "Gates", "Criteria")

_NEAR: Final = (*WORKING, StoryStatus.BLOCKED, StoryStatus.PENDING, StoryStatus.COMPLETED)


@dataclass(frozen=True, slots=True)
class StatusView:
    """What is shown of a run.

    Attributes:
        facts: each with its name.
        stories: their rows, as HEAD has them.
        left_out: a sentence on the stories that have no row; "" if all have one.
        blockers, steps, notes: a line for each.
    """

    facts: tuple[tuple[str, str], ...]
    stories: tuple[tuple[str, ...], ...]
    left_out: str
    blockers: tuple[str, ...]
    steps: tuple[str, ...]
    notes: tuple[str, ...]


def status_view(
    run: Run, facts: WorkFacts, now: float, *, written: float = 0.0, every: bool = False
) -> StatusView:
    """Collect what is shown of a run as it stands.

    Args:
        run: which.
        facts: what git shows of the worktree: for its tree checks and gates are shown.
        now: the present.
        written: when the run's file was; 0.0 if nobody knows.
        every: show all stories.
    """
    shown = _chosen(run, every=every)
    left = len(run.stories) - len(shown)
    rows = (
        ("Workflow", run.goal),
        ("Workflow ID", run.id),
        ("Phase", run.phase.value),
        ("Status", f"{run.status}: {run.why}" if run.why else run.status.value),
        ("Stories completed", f"{len(run.completed_stories)}/{len(run.stories)}"),
        ("Runtime", f"{standing.elapsed(runtime(run, now))} ({tier(run, now).name})"),
        ("Spent", standing.receipt_line(run, now)),
        ("Gates", _gate_line(run.gates, facts.tree)),
        *((("Pull request", run.pull_request),) if run.pull_request else ()),
    )
    return StatusView(
        rows,
        tuple(_row(story, facts.tree) for story in shown),
        f"{left:,} more stories; all of them: lifecycle run status --all" if left else "",
        tuple(standing.blocker_line(run, blocker) for blocker in run.standing_blockers),
        tuple(standing.steps(run, facts, now)),
        tuple(standing.notes(run, now, written)),
    )


def status_lines(view: StatusView) -> list[str]:
    """The view as lines of Markdown, for a pipe."""
    return filled(
        "status",
        facts=table(("Fact", "Value"), view.facts),
        stories=table(HEAD, view.stories),
        left_out=[view.left_out] if view.left_out else [],
        blockers=[*view.blockers] or ["None"],
        steps=numbered(view.steps),
        notes=[f"Note: {note}" for note in view.notes],
    )


def status_data(
    run: Run, facts: WorkFacts, now: float, *, written: float = 0.0, every: bool = False
) -> dict[str, Any]:
    """The status as data, for `--json`, with the same stories."""
    return {
        **fields_of(run, "goal", "phase", "status", "why", workflow_id="id"),
        "runtime_seconds": int(runtime(run, now)),
        "tier": tier(run, now).name,
        "spent": standing.receipt_line(run, now),
        "stories_completed": len(run.completed_stories),
        "stories_total": len(run.stories),
        "stories": [_story_data(story, facts.tree) for story in _chosen(run, every=every)],
        "blockers": [
            {"index": index, **fields_of(blocker, "id", "description")}
            for index, blocker in enumerate(run.blockers)
            if not blocker.resolved_at
        ],
        "next_steps": standing.steps(run, facts, now),
        "notes": standing.notes(run, now, written),
        "pull_request": run.pull_request or None,
    }


def _chosen(run: Run, *, every: bool) -> list[Story]:
    near = sorted(run.stories, key=lambda story: _NEAR.index(story.status))
    names = {story.id for story in near[: None if every else MOST]}
    return [story for story in run.stories if story.id in names]


def _row(story: Story, tree: str) -> tuple[str, ...]:
    title = f"{story.title} (security)" if story.security else story.title
    gates = standing.gate_line(story, tree) or "-"
    judged = sum(criterion.state is not CriterionState.PENDING for criterion in story.criteria)
    stands = (story.size, story.status.value, story.tdd.value, str(story.iteration))
    shown = (standing.check_line(story, tree), gates, f"{judged}/{len(story.criteria)}")
    return story.id, quoted(title, 80)[1:-1], *stands, *shown


def _gate_line(records: Sequence[GateRecord], tree: str) -> str:
    last = {record.gate: record for record in records}
    where = {gate: "" if last[gate].tree == tree else " on another tree" for gate in last}
    states = (f"{gate} {last[gate].state}{where[gate]}" for gate in sorted(last))
    return ", ".join(states) or "none was run"


def _story_data(story: Story, tree: str) -> dict[str, Any]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        **fields_of(story, "iteration", tdd_phase="tdd"),
        "checks": standing.checks_of(story, tree),
        "gates": standing.gates_of(story, tree),
        "criteria": [criterion.state for criterion in story.criteria],
        "depends_on": story.depends_on,
    }
