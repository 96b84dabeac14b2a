"""A story that stands still, and a run of which nothing else is left: then a person is waited for."""

from __future__ import annotations

from typing import Final

from lifecycle.run.state import Blocker, Run, Story, UserFix
from lifecycle.run.table import STORIES, RunStatus, StoryStatus
from lifecycle.run.texts.told import kept_words

BLOCKING: Final = ("high", "critical")
"""Severities of a blocker that let its story stand still."""


def added(
    run: Run,
    description: str,
    severity: str,
    now: float,
    story: str = "",
    *,
    trigger: str = "",
    failure: str = "",
) -> Run:
    """The run with one more blocker, whose fields the arguments are."""
    id_, words = f"B{len(run.blockers) + 1}", kept_words(description)
    blocker = Blocker(id_, words, severity, now, story, trigger=trigger, failure=failure)
    return run.but(blockers=(*run.blockers, blocker))


def standing_still(run: Run, story: Story, now: float) -> Run:
    """The run with this story blocked, and waiting for a person if nothing else is left."""
    if StoryStatus.BLOCKED in STORIES.legal(story.status):
        run = run.with_story(story.but(status=StoryStatus.BLOCKED))
    return awaiting_if_blocked(run, now)


def awaiting_if_blocked(run: Run, now: float) -> Run:
    """The run waiting for a person if only stories are left that are blocked, or depend on such."""
    if run.status is not RunStatus.ACTIVE or run.current is not None:
        return run
    blocked = [one.id for one in run.open_stories if one.status is StoryStatus.BLOCKED]
    explained = {one.story for one in run.standing_blockers}
    for id_ in blocked:
        if id_ not in explained:
            run = added(run, f"{id_} is blocked, and nobody said by what", "high", now, id_)
    standing = [one for one in run.standing_blockers if one.story in blocked]
    if not standing:
        return run
    text = kept_words("; ".join(f"{one.id}: {one.description}" for one in standing))
    first, *rest = standing
    others = tuple(one.id for one in rest)
    fix = UserFix(first.id, text, now, story=first.story, phase=run.phase, others=others)
    return run.but(status=RunStatus.AWAITING_USER, fix=fix)
