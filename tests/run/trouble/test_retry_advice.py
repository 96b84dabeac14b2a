"""Whether a story is tried again: after what time, and when a person is needed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.run.state import Run, Story
from lifecycle.run.table import BACKOFF_LIMIT, MAX_RETRIES, FailureCategory, StoryStatus
from lifecycle.run.trouble.story_failures import EXTERNAL, advice, backoff, failed

NOW = 1_800_000_000.0
START = Run("a", "b", NOW, stories=(Story("S1", "Pay", status=StoryStatus.IN_PROGRESS),))


def after(*failures: tuple[FailureCategory, str]) -> Story:
    """The story after these failures: a category, and the tree on which it failed."""
    run = START
    for kind, tree in failures:
        run = failed(run, "S1", f"{kind} fails", NOW, category=kind, tree=tree)
    return run.story("S1")


@pytest.mark.parametrize(
    ("failures", "data"),
    [
        ((), {"should_retry": True, "backoff_seconds": 0}),
        (((FailureCategory.CODE, "a"),), {"should_retry": True, "backoff_seconds": 0}),
        (((FailureCategory.TEST, "a"),), {"should_retry": True, "backoff_seconds": 0}),
        (((FailureCategory.INFRA, "a"),), {"should_retry": True, "backoff_seconds": 30}),
        (((FailureCategory.INFRA, "a"),) * 2, {"should_retry": True, "backoff_seconds": 60}),
        (((FailureCategory.TIMEOUT, "a"),) * 3, {"should_retry": True, "backoff_seconds": 240}),
        (
            ((FailureCategory.CODE, "a"), (FailureCategory.INFRA, "a")),
            {"should_retry": True, "backoff_seconds": 30},
        ),
        (
            ((FailureCategory.EXTERNAL, "a"), (FailureCategory.CODE, "a")),
            {"should_retry": False, "escalate": True, "reason": EXTERNAL},
        ),
        (
            ((FailureCategory.EXTERNAL, "a"), (FailureCategory.CODE, "b")),
            {"should_retry": True, "backoff_seconds": 0},
        ),
    ],
)
def test_what_the_policy_of_a_category_says(
    failures: tuple[tuple[FailureCategory, str], ...], data: dict[str, object]
) -> None:
    """The last iteration's failures decide; each category waits for its own count."""
    assert advice(after(*failures), "b") == data


def test_the_same_failure_twice_on_one_tree_is_stuck() -> None:
    """Until the tree is another one; the reason says so."""
    story = after((FailureCategory.CODE, "a"), (FailureCategory.CODE, "a"))
    for data in (advice(story, "a"), advice(story)):
        assert (data["should_retry"], data["escalate"]) == (False, True)
        assert "the same failure came twice on an unchanged tree" in data["reason"]
    assert advice(story, "b")["should_retry"]


def test_it_is_told_how_often_the_same_came() -> None:
    """And what, as far as 200 characters of it go."""
    run = START
    for _ in range(2):
        run = failed(run, "S1", "x" * 201, NOW, category=FailureCategory.CODE, tree="a")
    told = advice(run.story("S1"), "a")["reason"]
    assert told == f"Stuck: the same failure came twice on an unchanged tree: {'x' * 200}"
    for _ in range(7):
        run = failed(run, "S1", "down", NOW, category=FailureCategory.INFRA, tree="a")
    told = advice(run.story("S1"), "a")["reason"]
    assert told == "Stuck: the same failure came 7 times on an unchanged tree: down"


def test_the_last_failure_is_the_one_that_came_again() -> None:
    """Whatever else failed before it on the same tree."""
    other = after((FailureCategory.TEST, "a"), (FailureCategory.CODE, "a"))
    assert advice(other, "a")["should_retry"]
    story = after(
        (FailureCategory.TEST, "a"), (FailureCategory.CODE, "a"), (FailureCategory.CODE, "a")
    )
    assert advice(story, "a")["reason"].endswith("on an unchanged tree: code fails")


def test_what_failed_where_nobody_knows_the_files_is_never_the_same() -> None:
    """They may have changed in between."""
    story = after((FailureCategory.CODE, ""), (FailureCategory.CODE, ""))
    assert advice(story, "")["should_retry"]


def test_waiting_is_given_up_after_the_longest_wait() -> None:
    """A database may come up; not for ever is it waited for."""
    waits = []
    for count in range(1, 8):
        told = advice(after(*((FailureCategory.INFRA, "a"),) * count), "a")
        waits.append(told.get("backoff_seconds", -1))
    assert waits == [30, 60, 120, 240, 480, BACKOFF_LIMIT, -1]
    assert backoff(FailureCategory.INFRA, 10_000) == BACKOFF_LIMIT


@pytest.mark.parametrize(
    ("kind", "count", "seconds"),
    [
        (FailureCategory.CODE, 5, 0),
        (FailureCategory.INFRA, 0, 0),
        (FailureCategory.INFRA, 1, 30),
        (FailureCategory.INFRA, 2, 60),
        (FailureCategory.INFRA, 40, BACKOFF_LIMIT),
        (FailureCategory.TIMEOUT, 1, 60),
    ],
)
def test_each_wait_is_twice_the_one_before(kind: FailureCategory, count: int, seconds: int) -> None:
    """Up to ten minutes; where waiting does not help, and before anything failed, there is none."""
    assert backoff(kind, count) == seconds
    assert BACKOFF_LIMIT == 600


def test_after_the_last_iteration_a_person_is_needed() -> None:
    """And after that person resolved it, it is tried again from the beginning."""
    story = after(*((FailureCategory.CODE, tree) for tree in "abc"))
    assert "MAX_RETRIES reached: 3 iterations failed" in advice(story, "d")["reason"]
    freed = replace(story, status=StoryStatus.IN_PROGRESS, retries_from=story.iteration)
    assert advice(freed, "d") == {"should_retry": True, "backoff_seconds": 0}
    run = failed(replace(START, stories=(freed,)), "S1", "again", NOW, tree="d")
    assert advice(run.story("S1"), "e")["should_retry"]


def test_an_iteration_that_was_only_begun_has_not_failed() -> None:
    """The last one permitted is worked on to its end."""
    story = replace(after((FailureCategory.CODE, "a")), iteration=MAX_RETRIES)
    assert advice(story, "b")["should_retry"]
    blocked = replace(story, status=StoryStatus.BLOCKED)
    assert "S1 is blocked" in advice(blocked, "b")["reason"]
