"""Moves of a story: begun, tested, reviewed, blocked, opened again, and completed when all is shown."""

from __future__ import annotations

from lifecycle.run.checkpoints.rollback import pending_again
from lifecycle.run.gates.final_gate import without_waiver
from lifecycle.run.gates.gate_rules import missing_for, story_lacks
from lifecycle.run.gates.phase_moves import demand_active, moved_phase
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Run, Story
from lifecycle.run.table import STORIES, RunPhase, StoryStatus
from lifecycle.run.texts.told import kept_words, refused
from lifecycle.run.trouble.story_blocks import BLOCKING, awaiting_if_blocked, standing_still
from lifecycle.run.trouble.story_failures import attempts

_BEGINS = (StoryStatus.PENDING, StoryStatus.BLOCKED)


def moved_story(
    run: Run,
    name: str,
    wanted: StoryStatus,
    facts: WorkFacts,
    now: float,
    *,
    unneeded: str = "",
    asked: bool = True,
) -> Run:
    """The run with one story in another status; the same run where it is in it already.

    Args:
        run: before it.
        name: of the story.
        wanted: the status.
        facts: the worktree as it is, `changed` since the story's base.
        now: the present.
        unneeded: why nothing had to be changed, for a story that is completed so.
        asked: somebody attends who can be asked.

    Raises:
        IllegalMove: no way leads there.
        Refused: the run does not go on, or what the move needs does not hold; it names that.
    """
    demand_active(run)
    story = run.story(name)
    if unneeded and wanted is not StoryStatus.COMPLETED:
        raise refused("no-change-without-end")
    if wanted is story.status and wanted is not StoryStatus.IN_PROGRESS:
        return run
    if wanted is not story.status:
        STORIES.check(story.status, wanted)
    match wanted:
        case StoryStatus.IN_PROGRESS:
            return _begun(run, story, facts, now, asked=asked)
        case StoryStatus.COMPLETED:
            return _completed(run, story, facts, now, unneeded)
        case StoryStatus.BLOCKED:
            return _blocked(run, story, now)
        case StoryStatus.PENDING:
            return _opened_again(run, story, facts)
        case _:
            return run.with_story(story.but(status=wanted))


def _begun(run: Run, story: Story, facts: WorkFacts, now: float, *, asked: bool) -> Run:
    """The run with this story at work: begun, or begun again after a failure."""
    at_work = run.current
    others = (StoryStatus.PENDING, StoryStatus.COMPLETED)
    if at_work is not None and at_work.id != story.id and at_work.status not in others:
        raise refused("another-at-work", at_work=at_work, story=story)
    lacks = story_lacks(story)
    if lacks:
        raise refused("story-has-no-design", story=story, lacks=lacks)
    waits = _waits(run, story)
    if waits:
        raise refused("story-waits", story=story, waits=waits)
    _demand_unblocked(run, story)
    if run.phase is not RunPhase.DEVELOPMENT:
        run = moved_phase(run, RunPhase.DEVELOPMENT, facts.tree, now, asked=asked)
    is_new = attempts(story) < 1
    has_failed = any(failure.iteration == story.iteration for failure in story.failures)
    iteration = story.retries_from + 1 if is_new else story.iteration + has_failed
    return run.with_story(
        story.but(
            status=StoryStatus.IN_PROGRESS,
            iteration=iteration,
            started=story.started or now,
            base=story.base or facts.head,
            unneeded="",
        )
    )


def _blocked(run: Run, story: Story, now: float) -> Run:
    if not _blockers(run, story, with_runs=True):
        raise refused("no-blocker-before", story=story)
    return standing_still(run, story, now)


def _opened_again(run: Run, story: Story, facts: WorkFacts) -> Run:
    _demand_unblocked(run, story)
    if run.phase in (RunPhase.COMPLETION, RunPhase.LINT_FIX):
        run = without_waiver(run).but(phase=RunPhase.DEVELOPMENT)
    # What an open story has changed stays its own, so that it cannot be said to need no change.
    base = story.base if story.is_open and facts.changed else ""
    return run.with_story(pending_again(story).but(base=base))


def _waits(run: Run, story: Story) -> str:
    done = {one.id for one in run.completed_stories}
    waits = [name for name in story.depends_on if name not in done]
    return f"it waits for {', '.join(waits)}" if waits else ""


def _blockers(run: Run, story: Story, *, with_runs: bool) -> list[str]:
    return [
        one.id
        for one in run.standing_blockers
        if one.severity in BLOCKING and (one.story == story.id or (with_runs and not one.story))
    ]


def _demand_unblocked(run: Run, story: Story) -> None:
    blockers = _blockers(run, story, with_runs=False)
    if story.status is StoryStatus.BLOCKED and blockers:
        raise refused("story-stays-blocked", story=story, blockers=", ".join(blockers))


def _completed(run: Run, story: Story, facts: WorkFacts, now: float, unneeded: str) -> Run:
    """The run with this story completed, once everything is shown; Refused, with all that is missing.

    What failed in the others by now is no test of theirs.
    """
    why = kept_words(unneeded)
    story = story.but(unneeded=why) if why else story
    missing = missing_for(story, facts)
    if missing:
        raise refused("story-not-completed", story=story, missing=missing)
    story = story.but(status=StoryStatus.COMPLETED, completed=now, commit=facts.head)
    run = run.with_story(story)
    for one in (one for one in run.open_stories if one.started):
        run = run.with_story(one.but(red_from=now))
    return awaiting_if_blocked(run, now)
