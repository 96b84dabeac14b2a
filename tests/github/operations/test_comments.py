"""Comments: one for a key, ours only, whatever was lost on the way."""

from __future__ import annotations

import pytest

from lifecycle.api import NotFound, Refused, Transient
from lifecycle.github.pulls.issue_calls import IssueCalls
from tests.github.operations.ground import Ground, hub_on

COMMENTS = "/issues/42/comments"


def bodies(ground: Ground, number: int = 42) -> list[str]:
    return [one["body"] for one in ground.world()["issues"][str(number)]["comments"]]


def test_a_comment_is_posted_once(ground: Ground) -> None:
    """The first call posts, the second only reads: 2 requests, then 2 with whose token it is, then 1."""
    now, first, again = ground.twice(
        lambda: ground.hub.comments.ensure_comment(42, "report", "All is well.")
    )
    assert (first, again) == (
        [f"GET {COMMENTS}", f"POST {COMMENTS}"],
        [f"GET {COMMENTS}", "GET /user"],
    )
    ground.hub.comments.ensure_comment(42, "report", "All is well.")
    assert ground.asked() == [f"GET {COMMENTS}"]
    assert now.body == "All is well.\n\n<!-- lifecycle:report -->"
    assert now.url.endswith(f"/issues/42#issuecomment-{now.id}")
    assert bodies(ground) == [now.body]


def test_another_text_is_edited_in(ground: Ground) -> None:
    """The comment of a key is edited when the text differs, and stays the same comment."""
    first = ground.hub.comments.ensure_comment(42, "report", "One.").now
    now, asked, _ = ground.twice(lambda: ground.hub.comments.ensure_comment(42, "report", "Two."))
    assert now.id == first.id
    assert asked[-1] == f"PATCH /issues/comments/{now.id}"
    assert bodies(ground) == ["Two.\n\n<!-- lifecycle:report -->"]


def test_a_text_that_is_to_stay_stays(ground: Ground) -> None:
    """With `update=False` the comment of a key is posted once, and another text changes nothing."""
    ensure = ground.hub.comments.ensure_comment
    first = ensure(42, "report", "One.", update=False)
    assert first.changed
    again = ensure(42, "report", "Two.", update=False)
    assert not again.changed
    assert (again.now.id, again.now.body) == (first.now.id, "One.\n\n<!-- lifecycle:report -->")
    assert bodies(ground) == [again.now.body]


def test_keys_do_not_meet(ground: Ground) -> None:
    """Two keys have two comments, on pull requests as well as on issues."""
    ground.hub.comments.ensure_comment(42, "a", "One.")
    ground.hub.comments.ensure_comment(42, "a-2", "Two.")
    assert len(bodies(ground)) == 2


def test_a_strangers_copy_is_not_ours(ground: Ground) -> None:
    """Somebody else's comment with our marker is neither adopted nor edited nor removed."""
    ground.control.comment(42, "Mine!\n<!-- lifecycle:report -->", by="maria")
    now = ground.hub.comments.ensure_comment(42, "report", "Ours.").now
    assert now.author == "octocat"
    assert len(bodies(ground)) == 2
    ground.hub.comments.ensure_no_comment(42, "report")
    assert bodies(ground) == ["Mine!\n<!-- lifecycle:report -->"]


def test_surplus_ones_go(ground: Ground) -> None:
    """Two of ours with one key, as two processes at once would leave them: the oldest stays."""
    first = ground.control.comment(42, "Old\n<!-- lifecycle:report -->", by="octocat")
    ground.control.comment(42, "New\n<!-- lifecycle:report -->", by="octocat")
    now, _, _ = ground.twice(lambda: ground.hub.comments.ensure_comment(42, "report", "Text."))
    assert now.id == first
    assert bodies(ground) == ["Text.\n\n<!-- lifecycle:report -->"]


def test_a_list_that_lags_makes_no_second_one(ground: Ground) -> None:
    """What this object posted is known to it while GitHub's list does not show it yet."""
    ground.control.set_lag(comments=3)
    made = ground.hub.comments.ensure_comment(42, "report", "Text.").now
    again = ground.hub.comments.ensure_comment(42, "report", "Text.")
    assert (again.changed, again.now.id) == (False, made.id)
    assert len(bodies(ground)) == 1


def test_a_deleted_one_is_posted_again(ground: Ground) -> None:
    """What this object remembers is asked for: somebody deleted it, so it is posted anew."""
    made = ground.hub.comments.ensure_comment(42, "report", "Text.").now
    other = hub_on(ground.info)
    assert other.comments.ensure_no_comment(42, "report").changed
    now = ground.hub.comments.ensure_comment(42, "report", "Text.")
    assert now.changed
    assert now.now.id != made.id
    assert len(bodies(ground)) == 1


def test_none_is_wanted(ground: Ground) -> None:
    """Removing is done once, and nothing is asked for twice."""
    ground.hub.comments.ensure_comment(42, "report", "Text.")
    _, asked, again = ground.twice(lambda: ground.hub.comments.ensure_no_comment(42, "report"))
    assert asked[-1].startswith("DELETE /issues/comments/")
    assert again == [f"GET {COMMENTS}"]
    assert bodies(ground) == []


def test_a_lost_answer_is_read_back(ground: Ground) -> None:
    """A 502 after the comment was made: it is found, and counts as done."""
    ground.unanswered("after", "POST", COMMENTS)
    assert ground.hub.comments.ensure_comment(42, "report", "Text.").changed
    assert len(bodies(ground)) == 1


def test_what_cannot_be_read_back_is_unknown(ground: Ground) -> None:
    """A 502 before the comment was made: nobody knows, and the next call makes it."""
    ground.unanswered("before", "POST", COMMENTS)
    with pytest.raises(Transient, match="may have been done") as caught:
        ground.hub.comments.ensure_comment(42, "report", "Text.")
    assert caught.value.is_ambiguous
    assert ground.hub.comments.ensure_comment(42, "report", "Text.").changed
    assert len(bodies(ground)) == 1


def test_what_is_wrong_is_said(ground: Ground) -> None:
    """A key that cannot be hidden is refused before any request; an issue that is not there is named."""
    with pytest.raises(Refused):
        ground.hub.comments.ensure_comment(42, "a -->", "Text.")
    assert ground.asked() == []
    with pytest.raises(NotFound, match="#4040"):
        ground.hub.comments.ensure_comment(4040, "report", "Text.")


@pytest.mark.parametrize(
    "words",
    [
        "Why is there `<!-- lifecycle:report -->` in your comments?",
        "Look:\n\n> All is well.\n>\n> <!-- lifecycle:report -->",
        "<!-- lifecycle:report -->\n\nPS: I know that one.",
    ],
)
def test_what_a_person_wrote_about_a_marker_stays(ground: Ground, words: str) -> None:
    """A text of the token's own person that quotes the marker is neither replaced nor deleted."""
    ground.control.comment(42, words, by="octocat")
    ground.control.comment(42, words, by="octocat")
    ground.twice(lambda: ground.hub.comments.ensure_comment(42, "report", "All is well."))
    assert bodies(ground) == [words, words, "All is well.\n\n<!-- lifecycle:report -->"]
    ground.hub.comments.ensure_no_comment(42, "report")
    assert bodies(ground) == [words, words]


def test_what_a_person_wrote_into_ours_stays(ground: Ground) -> None:
    """A comment that this object posted and somebody wrote anew is theirs: another one is posted."""
    made = ground.hub.comments.ensure_comment(42, "report", "One.").now
    calls = IssueCalls(ground.hub._calls)
    calls.edit_comment(made.id, "Mine now: <!-- lifecycle:report --> was here.")
    assert ground.hub.comments.ensure_comment(42, "report", "Two.").changed
    assert bodies(ground) == [
        "Mine now: <!-- lifecycle:report --> was here.",
        "Two.\n\n<!-- lifecycle:report -->",
    ]
