"""The progress report of a run, as the workflow's page has it."""

from __future__ import annotations

from typing import Any

from lifecycle.core.markdown_table import table
from lifecycle.core.redact import quoted
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime
from lifecycle.run.state import WORKING, Run, Story, fields_of
from lifecycle.run.table import MAX_RETRIES, StoryStatus
from lifecycle.run.texts import run_words
from lifecycle.run.texts.told import filled, numbered
from lifecycle.run.trouble.story_failures import attempts

_RECENT = 5


def reported(run: Run, now: float) -> Run:
    """The run, with a report given now."""
    return run.but(reported_at=now, reported_stories=len(run.completed_stories))


def counts(run: Run) -> dict[str, int]:
    """How many stories are where, in the report's words."""
    states = [story.status for story in run.stories]
    return {
        "Completed": states.count(StoryStatus.COMPLETED),
        "In Progress": sum(state in WORKING for state in states),
        "Pending": states.count(StoryStatus.PENDING),
        "Blocked": states.count(StoryStatus.BLOCKED),
    }


def report_lines(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """The report on the run as it stands; also on one that did not finish.

    Args:
        run: which, before the report is recorded.
        facts: what git shows of the worktree.
        now: the present.
    """
    recent = [f"- {_title(one)} - {one.iteration} iterations" for one in _recent(run)]
    return filled(
        "report",
        run=run,
        goal=quoted(run.goal, 500)[1:-1],
        runtime=run_words.elapsed(runtime(run, now)),
        spent=run_words.receipt_line(run, now),
        counts=table(("Status", "Count"), [(name, str(n)) for name, n in counts(run).items()]),
        recent=recent or ["None"],
        current=_current(run.current, facts.tree),
        blockers=run_words.blocker_lines(run),
        steps=numbered(run_words.steps(reported(run, now), facts, now)),
    )


def report_data(run: Run, facts: WorkFacts, now: float) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        **fields_of(run, workflow="goal", workflow_id="id"),
        "runtime_seconds": int(runtime(run, now)),
        "iteration": run.iterations,
        "spent": run_words.receipt_line(run, now),
        "stories": counts(run),
        "recently_completed": [one.id for one in _recent(run)],
        "current_story": run.current.id if run.current is not None else None,
        "blockers": [one.id for one in run.standing_blockers],
        "next_steps": run_words.steps(reported(run, now), facts, now),
    }


def _recent(run: Run) -> list[Story]:
    """What was completed since the last report; the last stories at least."""
    done = sorted(run.completed_stories, key=lambda story: story.completed)
    since = [story for story in done if story.completed > run.reported_at]
    return (since if len(since) > _RECENT else done[-_RECENT:])[-4 * _RECENT :]


def _current(story: Story | None, tree: str) -> list[str]:
    if story is None:
        return ["None"]
    return [
        f"- {_title(story)}",
        f"- Status: {story.status}",
        f"- Iteration: {attempts(story)}/{MAX_RETRIES}",
        f"- Verification: {run_words.check_line(story, tree)}",
    ]


def _title(story: Story) -> str:
    return f"[{story.id}] {quoted(story.title, 200)[1:-1]}"
