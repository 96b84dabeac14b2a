"""Words that every view of an overview uses: ages, and how pull request, stage and story stand. Pure."""

from __future__ import annotations

from lifecycle.core.redact import named
from lifecycle.views.overview.overview_values import (
    Overview,
    OverviewStage,
    OverviewStory,
    PullStanding,
)
from lifecycle.views.stats.stats_words import count, span

STANDINGS = {
    PullStanding.UNKNOWN: "open, not looked at yet",
    PullStanding.RUNNING: "checks run",
    PullStanding.FAILED: "checks failed",
    PullStanding.HELD: "checks do not go on by themselves",
    PullStanding.CHANGES: "changes are asked for",
    PullStanding.CONFLICT: "conflicts",
    PullStanding.PASSED: "all green",
    PullStanding.MERGED: "merged",
    PullStanding.CLOSED: "closed without a merge",
}
"""How a pull request stands, in words."""

STANDING_STYLES = {
    PullStanding.UNKNOWN: "dim",
    PullStanding.RUNNING: "cyan",
    PullStanding.FAILED: "bold red",
    PullStanding.HELD: "bold magenta",
    PullStanding.CHANGES: "bold magenta",
    PullStanding.CONFLICT: "bold red",
    PullStanding.PASSED: "green",
    PullStanding.MERGED: "bold green",
    PullStanding.CLOSED: "red",
}
"""The colour of that on a terminal."""


def is_awaited(overview: Overview, text: str) -> bool:
    """True if what waits for a person says this already."""
    return any(one.what.rstrip(".") in text or text in one.what for one in overview.awaited)


def age(since: float, now: float) -> str:
    """How long ago a moment was: `4 min`; a clock that was set back makes no negative age."""
    return span(max(0.0, now - since))


def stage_line(stage: OverviewStage, now: float) -> str:
    """Where the staged workflow stands, in one sentence."""
    task = f" of {named(stage.task)}" if stage.task else ""
    if stage.is_off:
        return "Stage: the staged workflow is switched off in this worktree."
    if stage.is_over:
        return f"Stage: the task {named(stage.task)} was led to its end {age(stage.at, now)} ago."
    told = f"told to go on {count(stage.told, 'time')}" if stage.told else ""
    how = "set by hand, told at the next stop" if stage.is_set else told
    how = "let go after it was told too often" if stage.is_let_go else how
    return f"Stage: {stage.stage or 'none yet'}{task}{f', {how}' if how else ''}."


def at_work(story: OverviewStory) -> str:
    """A story's status, and where it is in its cycle while it is worked on."""
    words = [story.status.replace("_", " ")]
    if story.status in ("in_progress", "testing", "review"):
        words += [story.tdd, f"attempt {story.iteration}" if story.iteration else ""]
    if story.criteria and story.status != "completed":
        words.append(f"{story.met} of {story.criteria} criteria met")
    return ", ".join(word for word in words if word)
