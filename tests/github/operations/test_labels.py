"""Labels of the repository and of issues; relations between issues."""

from __future__ import annotations

import pytest

from lifecycle.api import NotFound, Refused, Rejected, Transient, UnknownOption
from lifecycle.core.values.shapes import IssueFacts
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import Ground

ISSUE = "/issues/42"


def test_a_label_is_made_once(ground: Ground) -> None:
    """Made, then only read; colour and description are set where they differ: 2 requests, then 1."""
    now, asked, again = ground.twice(
        lambda: ground.hub.labels.ensure_label("status: in review", color="0E8A16")
    )
    path = "/labels/status: in review"
    assert (asked, again) == ([f"GET {path}", "POST /labels"], [f"GET {path}"])
    assert (now.name, now.color) == ("status: in review", "0e8a16")
    now, asked, _ = ground.twice(
        lambda: ground.hub.labels.ensure_label("Status: in review", description="Somebody looks")
    )
    assert asked[-1].startswith("PATCH /labels/")
    assert (now.name, now.color, now.description) == (
        "status: in review",
        "0e8a16",
        "Somebody looks",
    )


def test_a_lost_label_is_found(ground: Ground) -> None:
    """A 502 after it was made is no failure; before, the next call makes it."""
    ground.unanswered("after", "POST", "/labels$")
    assert ground.hub.labels.ensure_label("a").changed
    ground.unanswered("before", "POST", "/labels$")
    with pytest.raises(Transient):
        ground.hub.labels.ensure_label("b")
    assert ground.hub.labels.ensure_label("b").changed


def test_labels_are_added_and_removed(ground: Ground) -> None:
    """Only the difference is written, names in any case: what each costs, and then 1."""
    now, asked, again = ground.twice(
        lambda: ground.hub.labels.ensure_labels(42, add=("enhancement", "BUG"))
    )
    assert (asked, again) == (
        [f"GET {ISSUE}", "GET /labels", f"POST {ISSUE}/labels"],
        [f"GET {ISSUE}"],
    )
    assert set(now.labels) == {"bug", "enhancement"}
    now, asked, _ = ground.twice(lambda: ground.hub.labels.ensure_labels(42, remove=("bug",)))
    assert asked == [f"GET {ISSUE}", f"DELETE {ISSUE}/labels/bug"]
    assert now.labels == ("enhancement",)
    now, _, _ = ground.twice(lambda: ground.hub.labels.ensure_labels(42, only=("documentation",)))
    assert now.labels == ("documentation",)
    now, _, _ = ground.twice(lambda: ground.hub.labels.ensure_labels(42, only=()))
    assert now.labels == ()


def test_a_misspelt_label_is_named(ground: Ground) -> None:
    """GitHub would make it silently; here it is refused with those that exist, unless asked for."""
    with pytest.raises(UnknownOption, match=r"no label bugg, .*labels are: .*bug"):
        ground.hub.labels.ensure_labels(42, add=("enhancement", "bugg"))
    assert ground.world()["issues"]["42"]["labels"] == ["bug"]
    now, asked, _ = ground.twice(
        lambda: ground.hub.labels.ensure_labels(42, add=("bugg",), create=True)
    )
    assert asked == [f"GET {ISSUE}", "GET /labels", "POST /labels", f"POST {ISSUE}/labels"]
    assert set(now.labels) == {"bug", "bugg"}


def test_a_label_that_was_taken_meanwhile_is_off(ground: Ground) -> None:
    """The answer of the removal is lost: the repeated one finds it gone, and that is as wanted."""
    ground.unanswered("after", "DELETE", f"{ISSUE}/labels/")
    assert ground.hub.labels.ensure_labels(42, remove=("bug",)).changed
    assert ground.world()["issues"]["42"]["labels"] == []


def test_labels_of_a_pull_request(ground: Ground) -> None:
    """A pull request has labels as an issue has."""
    ground.pushed()
    number = ground.hub.pulls.ensure_pull_request("work", title="Work").now.number
    now, _, _ = ground.twice(lambda: ground.hub.labels.ensure_labels(number, add=("bug",)))
    assert (now.labels, now.is_pull_request) == (("bug",), True)


@pytest.mark.parametrize(
    ("add", "remove", "path"),
    [
        ("ensure_blocked_by", "ensure_not_blocked_by", f"{ISSUE}/dependencies/blocked_by"),
        ("ensure_sub_issue", "ensure_not_sub_issue", f"{ISSUE}/sub_issues"),
    ],
)
def test_issues_are_related(ground: Ground, add: str, remove: str, path: str) -> None:
    """A relation is made once and taken away once: 3 requests, then 1; 2, then 1."""
    relate, separate = getattr(ground.hub.relations, add), getattr(ground.hub.relations, remove)
    now, asked, again = ground.twice(lambda: relate(42, 38))
    assert (asked, again) == ([f"GET {path}", "GET /issues/38", f"POST {path}"], [f"GET {path}"])
    assert [one.number for one in now] == [38]
    now, _, _ = ground.twice(lambda: relate(42, 41))
    assert sorted(one.number for one in now) == [38, 41]
    now, asked, again = ground.twice(lambda: separate(42, 38))
    assert (len(asked), again) == (2, [f"GET {path}"])
    assert [one.number for one in now] == [41]


@pytest.mark.parametrize("name", ["ensure_blocked_by", "ensure_sub_issue"])
def test_a_lost_relation_is_found(ground: Ground, name: str) -> None:
    """A 502 after it was made: it is found, and made once."""
    relate = getattr(ground.hub.relations, name)
    ground.unanswered("after", "POST", f"{ISSUE}/(dependencies|sub_issues)")
    done = relate(42, 38)
    assert (done.changed, [one.number for one in done.now]) == (True, [38])


@pytest.mark.parametrize("name", ["ensure_blocked_by", "ensure_sub_issue"])
def test_a_relation_of_somebody_quicker_is_no_refusal(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Made between the look and the writing: it is so, and nothing is to be corrected."""
    relate, calls = getattr(ground.hub.relations, name), ground.hub.relations._calls
    read, looks = calls.issue, list[int]()

    def overtaken(number: int) -> IssueFacts:
        looks.append(number)
        if len(looks) == 1:
            relate(42, 38)
        return read(number)

    monkeypatch.setattr(calls, "issue", overtaken)
    done = relate(42, 38)
    assert ([issue.number for issue in done.now], done.changed) == ([38], False)


def test_a_sub_issue_of_another_is_refused(ground: Ground) -> None:
    """GitHub's no stands where the relation is not as wanted."""
    ground.hub.relations.ensure_sub_issue(41, 38)
    with pytest.raises(Rejected, match="only have one parent"):
        ground.hub.relations.ensure_sub_issue(42, 38)


def test_an_issue_that_is_not_there_relates_to_nothing(ground: Ground) -> None:
    """A number that is none is said before anything is written."""
    with pytest.raises(NotFound, match="#4040"):
        ground.hub.relations.ensure_blocked_by(42, 4040)
    assert ground.written() == []


def test_a_label_of_somebody_quicker_is_compared(ground: Ground) -> None:
    """GitHub says that there is one already: its colour is set to what is wanted here."""
    ground.hub.labels.ensure_label("late", color="ffffff")
    ground.control.add_fault(Fault("status", method="GET", path="/labels/late$", status=404))
    done = ground.hub.labels.ensure_label("late", color="000000")
    assert (done.changed, done.now.color) == (True, "000000")
    ground.control.add_fault(Fault("status", method="GET", path="/labels/late$", status=404))
    assert not ground.hub.labels.ensure_label("late", color="000000").changed


def test_no_label_is_added_and_removed_at_once(ground: Ground) -> None:
    """What would change at every call is refused before anything is asked."""
    with pytest.raises(Refused, match=r"bug cannot be both added and removed"):
        ground.hub.labels.ensure_labels(42, add=("bug",), remove=("BUG",))
    assert ground.asked() == []


@pytest.mark.parametrize("name", [".", ".."])
def test_a_label_of_dots_leads_nowhere_else(ground: Ground, name: str) -> None:
    """No address names it, so it is refused by word, and nothing is written to where dots lead."""
    ground.hub.labels.ensure_labels(42, add=(name,), create=True)
    ground.asked()
    with pytest.raises(Refused, match="No API address can contain"):
        ground.hub.labels.ensure_labels(42, add=("enhancement",), remove=(name,))
    assert ground.asked() == [f"GET {ISSUE}"]
    with pytest.raises(Refused, match="nothing was done"):
        ground.hub.labels.ensure_label(name, color="ff0000")
    assert ground.asked() == []
