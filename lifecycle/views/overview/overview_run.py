"""The autonomous run of a worktree, and its matters for a person. Imported only if there is a run."""

from __future__ import annotations

from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run, Story
from lifecycle.run.table import CriterionState, RunStatus
from lifecycle.run.texts import standing
from lifecycle.views.overview.overview_values import OverviewRun, OverviewStory
from lifecycle.views.overview.worktree_read import WorktreeRead, address, copied, plain


def run_part(reading: WorktreeRead) -> OverviewRun | None:
    """The run as a part of the overview; None if there is none.

    Raises:
        StrangeRun: its file cannot be read, came with the repository, or is of a later release.
        StrangeFileError: its path is not a regular file.
    """
    run_store = RunStore(reading.root, reading.environment, reading.deadline)
    run = run_store.load()
    if run is None:
        return None
    _await(reading, run)
    blockers = [standing.blocker_line(run, blocker) for blocker in run.standing_blockers]
    return copied(
        OverviewRun,
        run,
        written_at=run_store.written_at,
        stories=tuple(_story(story) for story in run.stories),
        done=len(run.completed_stories),
        blockers=tuple(plain(line, 500) for line in blockers),
        pull_url=address(run.pull_request),
    )


def _story(story: Story) -> OverviewStory:
    return copied(
        OverviewStory,
        story,
        criteria=len(story.criteria),
        met=sum(criterion.state is CriterionState.MET for criterion in story.criteria),
        since=story.completed or story.started,
    )


def _await(reading: WorktreeRead, run: Run) -> None:
    if run.status is RunStatus.AWAITING_USER:
        what = run.fix.description if run.fix is not None else "a person has to act"
        since = run.fix.asked_at if run.fix is not None else 0.0
        command = "lifecycle run user-fix-complete"
        reading.await_person("run", f"The run waits: {what}", since, command)
    elif run.status is RunStatus.STOPPED:
        what = f"The run was stopped: {run.why or 'nobody says why'}"
        reading.await_person("run", what, run.stopped_at, "lifecycle run resume")
    elif run.status is RunStatus.ACTIVE and run.current is None and run.standing_blockers:
        blocker = run.standing_blockers[0]
        what = f"No story can go on: {standing.blocker_line(run, blocker)}"
        command = f"lifecycle run user-fix-complete {blocker.id}"
        reading.await_person("run", what, blocker.at, command)
