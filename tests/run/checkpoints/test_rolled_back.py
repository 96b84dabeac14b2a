"""What a run holds true once its worktree went back."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run import state
from lifecycle.run.kept_work import rolled_back
from lifecycle.run.state import (
    Blocker,
    Checkpoint,
    Clarification,
    Criterion,
    Failure,
    GateRecord,
    ReviewFinding,
    ReviewRecord,
    Run,
    Story,
)
from lifecycle.run.table import (
    CheckState,
    CriterionState,
    FailureCategory,
    Gate,
    ReviewVerdict,
    RunPhase,
    Severity,
    StoryCheck,
    StoryStatus,
    TddPhase,
)

AT = 1_800_000_000.0


def done(name: str, started: float, completed: float) -> Story:
    """A completed story with everything that was shown of it."""
    return Story(
        name,
        f"Story {name}",
        status=StoryStatus.COMPLETED,
        tdd=TddPhase.VERIFY,
        iteration=2,
        criteria=(Criterion("it works", CriterionState.MET, at=completed),),
        started=started,
        completed=completed,
        base="b" * 40,
        gates=(GateRecord(Gate.G5, completed, CheckState.PASS, "t"),),
        reviews=(ReviewRecord(StoryCheck.REVIEW_APPROVED, ReviewVerdict.APPROVED, completed, "t"),),
        red=state.TestProof(started + 1),
        green=state.TestProof(started + 2),
        failures=(Failure("F1", FailureCategory.CODE, "no", started),),
        commit="c" * 40,
        checkpoint=name,
    )


def point(name: str, at: float) -> Checkpoint:
    """A checkpoint."""
    return Checkpoint(name, "c" * 40, at, name if name.startswith("S") else "")


def run_of(*stories: Story) -> Run:
    """A run near its end."""
    return Run(
        "abc",
        "Goal",
        AT,
        phase=RunPhase.COMPLETION,
        iterations=7,
        stories=stories,
        clarifications=(Clarification("Which?", "That", AT),),
        checkpoints=(point("S1", AT + 100), point("S2", AT + 200)),
        lint_waived="three attempts",
    )


def then(*stories: Story, checkpoints: int = 1) -> Run:
    """What a checkpoint holds of a run: its stories and first checkpoints."""
    return Run("abc", "", 0.0, stories=stories, checkpoints=run_of().checkpoints[:checkpoints])


def test_later_stories_are_pending_and_nothing_of_them_counts() -> None:
    """What was shown of them was shown on trees that are gone; what failed is kept to learn from."""
    run = run_of(done("S1", AT, AT + 100), done("S2", AT + 100, AT + 200)).but(reported_stories=2)
    record = then(replace(run.stories[0], checkpoint=""), checkpoints=0)
    back = rolled_back(run, run.checkpoints[0], record)
    first, second = back.stories
    assert first == run.stories[0]
    assert second == Story(
        "S2",
        "Story S2",
        iteration=2,
        criteria=(Criterion("it works"),),
        failures=run.stories[1].failures,
    )
    assert back.phase is RunPhase.DEVELOPMENT
    assert (back.lint_waived, back.reported_stories) == ("", 1)
    assert [one.ref for one in back.checkpoints] == ["S1"]
    assert (back.iterations, back.clarifications) == (run.iterations, run.clarifications)


def test_what_was_saved_before_going_back_comes_back_with_what_was_shown() -> None:
    """Stories and checkpoints are those of that time; what failed meanwhile and the iterations stay."""
    run = run_of(done("S1", AT, AT + 100), done("S2", AT + 100, AT + 200), Story("S3", "Later"))
    back = rolled_back(run, run.checkpoints[0], then(run.stories[0], Story("S2", "Story S2")))
    second = back.stories[1].but(iteration=3, criteria=(Criterion("it works"), Criterion("new")))
    again = rolled_back(back.with_story(second), point("saved-1", AT + 300), run)
    first, second, third = again.stories
    assert (first, third) == (run.stories[0], run.stories[2])
    criteria = (*run.stories[1].criteria, Criterion("new"))
    assert second == replace(run.stories[1], iteration=3, criteria=criteria)
    assert again.checkpoints == run.checkpoints


def test_after_the_clock_was_set_back_earlier_checkpoints_stay_and_later_ones_go() -> None:
    """What was there when a checkpoint was made is what it holds, whatever the dates say."""
    first, second = point("S1", AT + 100), point("S2", AT - 3600)
    run = run_of(Story("S1", "Story S1")).but(checkpoints=(first, second))
    assert rolled_back(run, first, then(checkpoints=0)).checkpoints == (first,)
    assert rolled_back(run, second, run.but(checkpoints=(first,))).checkpoints == (first, second)


def test_a_story_that_is_blocked_by_now_is_not_freed_by_what_was_saved() -> None:
    """And what was BLOCKING of it by then still stands, however a story came to be pending."""
    run = run_of(done("S1", AT, AT + 100))
    blocked = replace(run.stories[0], status=StoryStatus.BLOCKED)
    saved = point("saved-1", AT + 300)
    assert rolled_back(run.with_story(blocked), saved, run).stories == (blocked,)
    finding = ReviewFinding(Severity.BLOCKING, "no lock")
    late = ReviewRecord(
        StoryCheck.REVIEW_APPROVED, ReviewVerdict.CHANGES_REQUESTED, AT + 90, "u", "", (finding,)
    )
    pending = replace(run.stories[0], status=StoryStatus.PENDING, reviews=(late,))
    (story,) = rolled_back(run.with_story(pending), saved, run).stories
    assert (story.status, story.reviews[1:]) == (StoryStatus.COMPLETED, (late,))


def test_a_story_that_was_at_work_then_keeps_what_was_shown_by_then() -> None:
    """A mark by hand in the middle of a story leaves it where it was; its iterations count on."""
    early = replace(
        done("S2", AT + 100, 0.0),
        status=StoryStatus.REVIEW,
        iteration=1,
        green=None,
        reviews=(),
        checkpoint="",
    )
    story = replace(done("S2", AT + 100, AT + 200), criteria=(*early.criteria, Criterion("late")))
    (back,) = rolled_back(run_of(story), point("mark-1", AT + 120), then(early)).stories
    assert back == replace(early, iteration=2, criteria=story.criteria)


def test_a_story_that_was_blocked_then_and_is_not_any_more_waits_for_its_turn() -> None:
    """What was shown of it by then counts; what a person mended since does not stand before it again."""
    early = replace(done("S2", AT + 100, 0.0), status=StoryStatus.BLOCKED, checkpoint="")
    story = replace(early, status=StoryStatus.IN_PROGRESS, red=None)
    (back,) = rolled_back(run_of(story), point("mark-1", AT + 120), then(early)).stories
    assert back == replace(early, status=StoryStatus.PENDING)


def test_a_blocked_story_stays_blocked() -> None:
    """Going back undoes no brake."""
    blocked = replace(done("S2", AT + 100, 0.0), status=StoryStatus.BLOCKED)
    run = replace(run_of(blocked), blockers=(Blocker("B1", "no key", "high", AT + 150, "S2"),))
    back = rolled_back(run, run.checkpoints[0], then())
    assert back.stories == run.stories
    assert back.blockers == run.blockers
