"""The end of a run: what it lacks, its completion, and the words with which a session may end."""

from __future__ import annotations

from typing import Any

from lifecycle.core.redact import visible
from lifecycle.run.gates.gate_rules import HOLDS, newest, review_state
from lifecycle.run.gates.run_moves import demand_active, moved_phase
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, spent
from lifecycle.run.state import GateRecord, Run, data_of
from lifecycle.run.table import COMPLETE, REVIEWERS, CheckState, Gate, RunPhase, RunStatus
from lifecycle.run.texts.run_words import elapsed
from lifecycle.run.texts.told import listed, refused


def final_of(run: Run, tree: str) -> GateRecord | None:
    """The last run of G7 on this tree; None if there is none."""
    return newest(run.gates, Gate.G7, tree)


def lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """What a run lacks before its last gate, each as a clause; () if nothing."""
    missing = [] if run.stories else ["there is no story (lifecycle run add-story)"]
    missing += [f"{story.id} is {story.status}" for story in run.open_stories[:20]]
    if facts.uncommitted:
        paths = listed(facts.uncommitted)
        missing.append(f"not committed: {paths} (lifecycle run commit STORY)")
    return (*missing, *facts.unread, *facts.uncleared, *_refused(run, facts.tree))


def _refused(run: Run, tree: str) -> list[str]:
    """What a review of a completed story refused, and none has approved since, each as a clause."""
    return [
        f"{by} refused {story.id} (mend it, then: lifecycle run review {story.id} --by {by} …)"
        for story in run.completed_stories
        for by, (check, *_) in REVIEWERS.items()
        if review_state(story, check, tree) is CheckState.FAIL
        or any(one.check is check for one in story.standing_reviews)
    ]


def _all_lacks(run: Run, facts: WorkFacts) -> tuple[str, ...]:
    """That, and the last gate, on the files as they are."""
    missing = lacks(run, facts)
    final = final_of(run, facts.tree)
    if final is not None and final.state in HOLDS:
        return missing
    stands = "has no PASSED record" if final is None else f"is {final.state}"
    return (*missing, f"G7 {stands} on the current tree (lifecycle run gate G7)")


def at_completion(run: Run, facts: WorkFacts, now: float, *, asked: bool) -> Run:
    """The run in its last phase, ready for its pull request.

    Args:
        run: as it is.
        facts: the worktree as it is.
        now: the present.
        asked: somebody attends who can be asked.

    Raises:
        Refused: the run does not go on, or something is missing; all of it is named.
    """
    demand_active(run)
    missing = _all_lacks(run, facts)
    if missing:
        raise refused("not-published", missing=missing)
    return moved_phase(run, RunPhase.COMPLETION, facts.tree, now, asked=asked)


def published(run: Run, url: str, head: str, why: str = "") -> Run:
    """The run whose pull request this is, with this commit; or that has none, for this reason."""
    return run.but(pull_request=url, unpublished="" if url else visible(why), published=head)


def completed(run: Run, facts: WorkFacts, now: float, *, asked: bool) -> Run:
    """The run at its end; the same one where it is there already.

    Raises:
        Refused: something is missing; all of it is named.
    """
    if run.is_over:
        return run
    is_made = run.pull_request or run.unpublished
    if not is_made or run.published != facts.head:
        lacks_it = (
            "its pull request lacks the last commits" if is_made else "it has no pull request"
        )
        missing = (*_all_lacks(run, facts), f"{lacks_it} (lifecycle run finish)")
        raise refused("not-completed", missing=missing)
    run = at_completion(run, facts, now, asked=asked)
    return run.but(status=RunStatus.COMPLETED, completed=now, why="")


def complete_lines(run: Run) -> list[str]:
    """The block with which a completed run ends; the stop hook looks for its head."""
    done = f"{len(run.completed_stories)}/{len(run.stories)}"
    last = "Pull request created." if run.pull_request else f"No pull request: {run.unpublished}."
    return [
        f"## {COMPLETE}",
        "",
        f"**Goal:** {' '.join(run.goal.split())}",
        "**Status:** SUCCESS",
        f"**PR URL:** {run.pull_request or 'none'}",
        f"**Workflow ID:** {run.id}",
        f"**Runtime:** {elapsed(runtime(run, run.completed))}",
        f"**Stories Completed:** {done}",
        "",
        f"All stories verified. {last} Workflow complete.",
    ]


def complete_data(run: Run) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "marker": COMPLETE,
        "status": run.status.value,
        "goal": run.goal,
        "workflow_id": run.id,
        "pr_url": run.pull_request or None,
        "unpublished": run.unpublished or None,
        "stories_completed": len(run.completed_stories),
        "stories": len(run.stories),
        "spent": data_of(spent(run, run.completed)),
    }
