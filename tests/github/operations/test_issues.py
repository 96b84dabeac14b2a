"""Issues: one for a key, text, state, assignees, milestone."""

from __future__ import annotations

import pytest

from lifecycle.api import NotFound, Refused, Rejected, Transient, UnknownOption
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import MARIA, Ground, hub_on

ISSUE = "/issues/42"


def marked(ground: Ground, key: str) -> list[str]:
    found = ground.world()["issues"].values()
    return [one["title"] for one in found if f"<!-- lifecycle:{key} -->" in (one["body"] or "")]


def test_an_issue_is_opened_once(ground: Ground) -> None:
    """The first call opens it with its marker, the second finds it: 3 requests, then 1."""
    now, asked, again = ground.twice(
        lambda: ground.hub.issues.ensure_issue("flaky", title="A flaky test", body="See the log.")
    )
    assert asked == ["GET /user", "GET /issues", "POST /issues"]
    assert again == ["GET /issues"]
    assert now.body == "See the log.\n\n<!-- lifecycle:flaky -->"
    assert (now.is_open, now.author) == (True, "octocat")
    assert marked(ground, "flaky") == ["A flaky test"]


def test_an_issue_is_adopted_in_any_state(ground: Ground) -> None:
    """Another object finds it by its marker, closed or not, and sets its text."""
    made = ground.hub.issues.ensure_issue("flaky", title="One").now
    ground.hub.issues.ensure_closed(made.number)
    other = hub_on(ground.info)
    kept = other.issues.ensure_issue("flaky", title="Two", update=False)
    assert (kept.changed, kept.now.title, kept.now.is_open) == (False, "One", False)
    done = other.issues.ensure_issue("flaky", title="Two")
    assert (done.changed, done.now.number, done.now.title) == (True, made.number, "Two")
    assert marked(ground, "flaky") == ["Two"]


def test_a_label_shortens_the_list(ground: Ground) -> None:
    """Looking among the issues of a label finds the one that was opened with it."""
    ground.hub.labels.ensure_label("bot")
    now, asked, again = ground.twice(
        lambda: ground.hub.issues.ensure_issue("flaky", title="T", labels=("bug",), label="bot")
    )
    assert (asked.count("GET /issues"), again) == (2, ["GET /issues"])
    assert sorted(now.labels) == ["bot", "bug"]
    ground.hub.labels.ensure_labels(now.number, remove=("bot",))
    kept = ground.hub.issues.ensure_issue("flaky", title="T", label="bot")
    assert (kept.changed, kept.now.number) == (False, now.number)


def test_a_list_that_lags_opens_no_second_one(ground: Ground) -> None:
    """What this object opened is known to it while GitHub's list does not show it yet."""
    made = ground.hub.issues.ensure_issue("flaky", title="T").now
    empty = Fault("status", method="GET", path="/issues$", status=200, body="[]")
    ground.control.add_fault(empty)
    again = ground.hub.issues.ensure_issue("flaky", title="T")
    assert (again.changed, again.now.number) == (False, made.number)


def test_a_strangers_marker_is_not_ours(ground: Ground) -> None:
    """An issue of somebody else with our marker is not adopted."""
    ground.hub.issues.ensure_issue("flaky", title="Ours")
    with ground.other(MARIA) as theirs:
        assert theirs.issues.ensure_issue("flaky", title="Theirs").changed
    assert sorted(marked(ground, "flaky")) == ["Ours", "Theirs"]


def test_a_lost_answer_opens_one(ground: Ground) -> None:
    """A 502 after it was opened: it is found. Before: nobody knows, and the next call opens it."""
    ground.unanswered("after", "POST", "/issues$")
    assert ground.hub.issues.ensure_issue("a", title="A").changed
    ground.unanswered("before", "POST", "/issues$")
    with pytest.raises(Transient, match="may have been done"):
        ground.hub.issues.ensure_issue("b", title="B")
    assert ground.hub.issues.ensure_issue("b", title="B").changed
    assert (len(marked(ground, "a")), len(marked(ground, "b"))) == (1, 1)


def test_text_is_set(ground: Ground) -> None:
    """Title and body are written if they differ, each alone: 2 requests, then 1."""
    now, asked, again = ground.twice(lambda: ground.hub.issues.ensure_text(42, title="New"))
    assert (asked, again) == ([f"GET {ISSUE}", f"PATCH {ISSUE}"], [f"GET {ISSUE}"])
    assert now.title == "New"
    body = now.body
    now, _, _ = ground.twice(lambda: ground.hub.issues.ensure_text(42, body="Text\r\nmore "))
    assert (now.title, now.body != body) == ("New", True)
    assert not ground.hub.issues.ensure_text(42, body="Text\nmore").changed
    assert not ground.hub.issues.ensure_text(42).changed


def test_state_is_set(ground: Ground) -> None:
    """Closed for a reason and opened again, each written once: 2 requests, then 1."""
    now, asked, again = ground.twice(lambda: ground.hub.issues.ensure_closed(42, "not_planned"))
    assert (asked, again) == ([f"GET {ISSUE}", f"PATCH {ISSUE}"], [f"GET {ISSUE}"])
    assert (now.is_open, now.state_reason) == (False, "not_planned")
    kept = ground.hub.issues.ensure_closed(42)
    assert (kept.changed, kept.now.state_reason) == (False, "not_planned")
    now, _, _ = ground.twice(lambda: ground.hub.issues.ensure_open(42))
    assert now.is_open


def test_a_lost_answer_of_an_edit_is_read_back(ground: Ground) -> None:
    """Every answer of the edit is lost: what GitHub shows then is what counts."""
    ground.unanswered("after", "PATCH", ISSUE, count=3)
    done = ground.hub.issues.ensure_closed(42)
    assert (done.changed, done.now.is_open) == (True, False)


def test_assignees_are_set(ground: Ground) -> None:
    """Added, removed, or exactly these; logins in any case: 2 requests, then 1."""
    now, asked, again = ground.twice(
        lambda: ground.hub.issues.ensure_assignees(42, add=("octocat", "Maria"))
    )
    assert (asked, again) == ([f"GET {ISSUE}", f"POST {ISSUE}/assignees"], [f"GET {ISSUE}"])
    assert set(now.assignees) == {"octocat", "maria"}
    now, asked, _ = ground.twice(lambda: ground.hub.issues.ensure_assignees(42, only=("MARIA",)))
    assert asked[-1] == f"DELETE {ISSUE}/assignees"
    assert now.assignees == ("maria",)
    now, _, _ = ground.twice(lambda: ground.hub.issues.ensure_assignees(42, remove=("maria",)))
    assert now.assignees == ()


def test_whom_github_ignores_is_named(ground: Ground) -> None:
    """GitHub ignores silently whom it cannot assign: that is said, and the others are assigned."""
    with pytest.raises(Rejected, match="for nobody-here; assigned now: octocat"):
        ground.hub.issues.ensure_assignees(42, add=("octocat", "nobody-here"))
    assert ground.world()["issues"]["42"]["assignees"] == ["octocat"]


def test_nobody_is_taken_off_for_one_who_cannot_be_put_on(ground: Ground) -> None:
    """A misspelt login in `only` leaves who is assigned, and the sentence says who that is."""
    ground.hub.issues.ensure_assignees(42, add=["octocat"])
    with pytest.raises(Rejected, match="for typo; assigned now: octocat"):
        ground.hub.issues.ensure_assignees(42, only=["typo"])
    assert ground.world()["issues"]["42"]["assignees"] == ["octocat"]


def test_a_milestone_is_set(ground: Ground) -> None:
    """A missing milestone is named with those that exist, or made; then set, and taken away."""
    with pytest.raises(UnknownOption, match=r'no milestone "v1".*are: none'):
        ground.hub.issues.ensure_milestone(42, "v1")
    now, asked, again = ground.twice(
        lambda: ground.hub.issues.ensure_milestone(42, "v1", create=True)
    )
    assert asked == [f"GET {ISSUE}", "GET /milestones", "POST /milestones", f"PATCH {ISSUE}"]
    assert again == [f"GET {ISSUE}"]
    assert now.milestone == "v1"
    assert not ground.hub.issues.ensure_milestone(42, "V1").changed
    with pytest.raises(UnknownOption, match="are: v1"):
        ground.hub.issues.ensure_milestone(42, "v2")
    now, asked, _ = ground.twice(lambda: ground.hub.issues.ensure_milestone(42, None))
    assert asked == [f"GET {ISSUE}", f"PATCH {ISSUE}"]
    assert now.milestone == ""


def test_no_such_issue(ground: Ground) -> None:
    """A number that is none is said, and nothing is written."""
    with pytest.raises(NotFound, match="#4040"):
        ground.hub.issues.ensure_closed(4040)
    assert ground.asked() == ["GET /issues/4040"]


def test_what_a_person_wrote_about_a_marker_stays(ground: Ground) -> None:
    """An issue that quotes another key's marker is not adopted, and neither key writes the other's."""
    body = "In the body I quote `<!-- lifecycle:nightly -->` to explain."
    mine = ground.hub.issues.ensure_issue("other", title="My report", body=body).now
    nightly = ground.hub.issues.ensure_issue("nightly", title="Nightly", body="x")
    assert (nightly.changed, nightly.now.number != mine.number) == (True, True)
    kept = ground.hub.issues.ensure_issue("other", title="My report", body=body)
    assert (kept.changed, kept.now) == (False, mine)


def test_what_a_person_wrote_into_ours_stays(ground: Ground) -> None:
    """An issue that this object opened and somebody wrote anew is theirs: another one is opened."""
    made = ground.hub.issues.ensure_issue("flaky", title="Flaky").now
    ground.hub.issues.ensure_text(made.number, title="Mine", body="My own words.")
    now = ground.hub.issues.ensure_issue("flaky", title="Flaky")
    assert (now.changed, now.now.number != made.number) == (True, True)
    theirs = ground.world()["issues"][str(made.number)]
    assert (theirs["title"], theirs["body"]) == ("Mine", "My own words.")


def test_what_is_found_after_a_lost_answer_is_compared(ground: Ground) -> None:
    """The list hid another process's issue, and the answer was lost: the issue gets this text."""
    made = hub_on(ground.info).issues.ensure_issue("flaky", title="Theirs", body="Old").now
    empty = Fault("status", method="GET", path="/issues$", status=200, body="[]")
    ground.control.add_fault(empty)
    ground.unanswered("before", "POST", "/issues$")
    done = ground.hub.issues.ensure_issue("flaky", title="Ours", body="New")
    assert (done.changed, done.now.number, done.now.title) == (True, made.number, "Ours")
    assert marked(ground, "flaky") == ["Ours"]


def test_nobody_is_added_and_removed_at_once(ground: Ground) -> None:
    """What would change at every call is refused before anything is asked."""
    with pytest.raises(Refused, match=r"octocat cannot be both added and removed"):
        ground.hub.issues.ensure_assignees(42, add=("octocat",), remove=("OCTOCAT", "sam"))
    assert ground.asked() == []
