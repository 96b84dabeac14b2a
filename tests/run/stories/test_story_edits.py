"""Stories as analyst, architect and tester leave them: what is not so is refused, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run.state import Criterion, Run, Story, new_run
from lifecycle.run.stories.story_edits import (
    StoryPlan,
    judged,
    planned,
    with_new_story,
    without_story,
)
from lifecycle.run.table import CriterionState, RunPhase, RunStatus, StoryStatus
from lifecycle.run.trouble.blockers import with_blocker

NOW = 1_800_000_000.0


def with_stories(*titles: str) -> Run:
    """A run with these stories, where nobody is asked."""
    run = new_run("Pay", NOW)
    for title in titles:
        run = with_new_story(run, Story("", title), NOW, asked=False)
    return run


def plan(run: Run, name: str, **said: object) -> Run:
    """The run with that story planned so."""
    return planned(run, name, StoryPlan(**said), NOW, asked=False)  # type: ignore[arg-type]  # as given


def test_the_first_story_takes_the_run_into_its_analysis() -> None:
    """Ids count up, and are never given twice."""
    run = with_stories("One", "Two")
    assert run.phase is RunPhase.ANALYSIS
    assert run.stories == (Story("S1", "One"), Story("S2", "Two"))
    third = with_new_story(run, Story("", "Three", "XL", security=True), NOW, asked=False).stories[
        -1
    ]
    assert (third.id, third.size, third.security) == ("S3", "XL", True)


def test_no_story_before_somebody_was_asked() -> None:
    """Where somebody attends, the analysis begins with an answer of theirs."""
    with pytest.raises(Refused, match="--phase pre-analysis"):
        with_new_story(new_run("Pay", NOW), Story("", "One"), NOW, asked=True)


@pytest.mark.parametrize(
    ("title", "size", "says"),
    [
        ("", "M", "is empty"),
        ("One", "M", "already has this story: S1"),
        ("ONE ", "M", "already"),
        ("Z", "XS", "one of S, M, L, XL; nothing"),
        ("x" * 301, "M", "301 characters in a story's title, but 300"),
    ],
)
def test_a_story_that_is_none_is_refused(title: str, size: str, says: str) -> None:
    """Empty, there already, or of no size; so is every one in a completed run."""
    with pytest.raises(Refused, match=says):
        with_new_story(with_stories("One"), Story("", title, size), NOW, asked=False)
    assert len(with_stories("x" * 300).stories) == 1
    run = plan(with_stories("One"), "S1", criteria=("a",))
    over = replace(run, status=RunStatus.COMPLETED)
    said = "The run is completed, so nothing was changed. Begin another with"
    with pytest.raises(Refused, match=said):
        with_new_story(over, Story("", "Another"), NOW, asked=False)
    with pytest.raises(Refused, match=said):
        plan(over, "S1", design="A class")
    with pytest.raises(Refused, match=said):
        judged(over, "S1", 1, Criterion("", CriterionState.MET, at=NOW))


def test_a_plan_adds_and_its_design_is_replaced() -> None:
    """What is said twice stands once; what is not named stays."""
    run = plan(
        with_stories("One", "Two"), "s1", criteria=("a", "b"), design="First", files=("x.py",)
    )
    assert run.phase is RunPhase.PLANNING
    run = plan(run, "S1", criteria=("b", "c"), design="Second", risks=("slow",), depends_on=("s2",))
    story = run.story("S1")
    assert [one.text for one in story.criteria] == ["a", "b", "c"]
    assert story == Story(
        "S1",
        "One",
        criteria=tuple(Criterion(text) for text in "abc"),
        design="Second",
        files=("x.py",),
        risks=("slow",),
        depends_on=("S2",),
    )
    run = plan(
        with_new_story(run, Story("", "Three"), NOW, asked=False), "S1", depends_on=("S3", "S2")
    )
    assert run.story("S1").depends_on == ("S2", "S3")
    assert plan(run, "S2", files=("y.py",)).story("S2").design == ""
    long = plan(run, "S2", design="d" * 20_000)
    assert len(long.story("S2").design) == 20_000
    with pytest.raises(Refused, match="20,001 characters in the design, but 20,000"):
        plan(run, "S2", design="d" * 20_001)


def test_a_plan_may_replace_and_a_criterion_that_stays_keeps_its_finding() -> None:
    """Only the lists that are given are replaced; an empty text clears one."""
    run = plan(
        with_stories("One", "Two"), "S1", criteria=("a", "b"), files=("x",), depends_on=("S2",)
    )
    run = judged(run, "S1", 2, Criterion("", CriterionState.MET, at=NOW, tree="t"))
    assert plan(run, "S1", criteria=("c",), replaces=True).story("S1").depends_on == ("S2",)
    run = plan(run, "S1", criteria=("c", "b"), depends_on=("",), replaces=True)
    story = run.story("S1")
    assert [(one.text, one.state) for one in story.criteria] == [
        ("c", CriterionState.PENDING),
        ("b", CriterionState.MET),
    ]
    assert (story.files, story.depends_on) == (("x",), ())
    twice = plan(
        plan(with_stories("1", "2", "3"), "S1", depends_on=("S2",)), "S1", depends_on=("S3",)
    )
    assert twice.story("S1").depends_on == ("S2", "S3")


@pytest.mark.parametrize("found", [CriterionState.UNMET, CriterionState.MANUAL])
def test_a_criterion_that_was_not_met_is_not_planned_away(found: CriterionState) -> None:
    """Neither by others in its place nor by none; one that nobody judged is."""
    run = plan(with_stories("One"), "S1", criteria=("a", "b"))
    run = judged(run, "S1", 2, Criterion("", found, at=NOW, tree="t"))
    for criteria, left in ((("c",), ["c", "b"]), (("",), ["b"])):
        story = plan(run, "S1", criteria=criteria, replaces=True).story("S1")
        assert [one.text for one in story.criteria] == left
        assert story.criteria[-1].state is found


def test_a_plan_that_says_nothing_is_refused() -> None:
    """Nothing was changed, and the options are named."""
    for replaces in (False, True):
        with pytest.raises(Refused, match="--criterion"):
            plan(with_stories("One"), "S1", replaces=replaces)


def test_a_story_never_waits_for_itself() -> None:
    """Neither at once nor by others; the way round is named. Unknown stories are refused."""
    run = with_stories("One", "Two", "Three")
    with pytest.raises(Refused, match="S1 waits for S1"):
        plan(run, "S1", depends_on=("S1",))
    run = plan(plan(run, "S1", depends_on=("S2",)), "S2", depends_on=("S3",))
    with pytest.raises(Refused, match="S1 waits for S2 waits for S3 waits for S1"):
        plan(run, "S3", depends_on=("S1",))
    with pytest.raises(Refused, match='no story "S9"'):
        plan(run, "S3", depends_on=("S9",))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=30))
def test_whatever_is_planned_some_story_can_be_next(edges: list[tuple[int, int]]) -> None:
    """No sequence of plans makes a run in which every story waits."""
    run = with_stories("A", "B", "C", "D", "E")
    for one, other in edges:
        try:
            run = plan(run, f"S{one}", depends_on=(f"S{other}",))
        except Refused:
            continue
    while run.open_stories:
        story = run.current
        assert story is not None
        run = run.with_story(replace(story, status=StoryStatus.COMPLETED))


def test_a_criterion_is_judged_one_by_one() -> None:
    """What was found, by whom and on which tree; a number that is none names how many there are."""
    run = plan(with_stories("One"), "S1", criteria=("a", "b"))
    found = judged(
        run,
        "S1",
        2,
        Criterion("", CriterionState.MANUAL, at=NOW, note="needs a card", tree="t", by="me"),
    )
    first, second = found.story("S1").criteria
    assert first.state is CriterionState.PENDING
    assert (second.state, second.note, second.tree, second.by, second.at) == (
        CriterionState.MANUAL,
        "needs a card",
        "t",
        "me",
        NOW,
    )
    both = (
        judged(found, "S1", 1, Criterion("", CriterionState.MET, at=NOW, tree="t"))
        .story("S1")
        .criteria
    )
    assert both == (Criterion("a", CriterionState.MET, at=NOW, tree="t"), second)
    for number in (0, 3):
        with pytest.raises(Refused, match=rf"no criterion {number}.* there are 1, 2\. Add"):
            judged(run, "S1", number, Criterion("", CriterionState.MET, at=NOW))


def test_a_completed_story_stays_as_it_is() -> None:
    """Neither its plan nor its criteria change; what is missing is another story."""
    run = plan(with_stories("One"), "S1", criteria=("a",))
    over = run.with_story(replace(run.story("S1"), status=StoryStatus.COMPLETED))
    with pytest.raises(Refused, match="add-story"):
        plan(over, "S1", criteria=("b",))
    wordy = over.with_story(replace(over.story("S1"), title="x" * 81))
    with pytest.raises(Refused, match=r'S1 \("x{79}…"\) is completed'):
        plan(wordy, "S1", criteria=("b",))
    with pytest.raises(Refused, match="is completed"):
        judged(over, "S1", 1, Criterion("", CriterionState.UNMET, at=NOW))


def test_a_story_that_nobody_began_is_taken_out_and_its_id_stays_taken() -> None:
    """It is kept aside with the reason; the run has one story fewer, and waits if none can be done."""
    run = with_stories("One", "Two", "A mistake")
    run = without_story(run, "s3", "added  twice", NOW)
    assert [story.id for story in run.stories] == ["S1", "S2"]
    assert [(story.id, story.unneeded) for story in run.removed] == [("S3", "added twice")]
    run = with_new_story(run, Story("", "A mistake"), NOW, asked=False)
    assert run.stories[-1].id == "S4"
    blocked = with_blocker(without_story(run, "S4", "a reason", NOW), "no key", "high", NOW, "S1")
    assert without_story(blocked, "S2", "a reason", NOW).status is RunStatus.AWAITING_USER


def test_a_story_that_was_begun_or_is_needed_is_not_taken_out() -> None:
    """Each is said with the way on: one that was begun or failed, is blocked, is waited for; no reason."""
    run = plan(with_stories("One", "Two", "Three"), "S2", depends_on=("S1",))
    started = run.story("S3").but(started=NOW)
    for other in (started, started.but(started=0.0, iteration=1)):
        with pytest.raises(Refused, match=r"never begun can be removed, and S3 was .* --no-change"):
            without_story(run.with_story(other), "S3", "why", NOW)
    with pytest.raises(Refused, match=r"S2 waits for S1, .* story-plan S2 --replace --depends-on"):
        without_story(run, "S1", "why", NOW)
    with pytest.raises(Refused, match=r"S3 stays blocked, since B1 is unresolved"):
        without_story(with_blocker(run, "no key", "high", NOW, "S3"), "S3", "why", NOW)
    with pytest.raises(Refused, match="The text of the reason"):
        without_story(run, "S3", " ", NOW)
    for status in set(RunStatus) - {RunStatus.ACTIVE}:
        with pytest.raises(Refused, match=f"The run is {status}"):
            without_story(replace(run, status=status), "S3", "why", NOW)
