"""Pull requests: open once, text, base, draft, reviewers, closed."""

from __future__ import annotations

from functools import partial

import pytest

from lifecycle.api import Rejected, Transient
from lifecycle.core.errors import HeadMissing, NothingToMerge
from lifecycle.core.values.shapes import PullFacts
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import MARIA, Ground


def opened(ground: Ground, branch: str = "work", *, draft: bool = False) -> PullFacts:
    """A pull request of a new branch; the log is empty afterwards."""
    ground.pushed(branch)
    made = ground.hub.pulls.ensure_pull_request(branch, title="Work", body="Text.", draft=draft).now
    ground.asked()
    return made


def test_a_pull_request_is_opened_once(ground: Ground) -> None:
    """Opened, then found: 3 requests with the default branch's name, 2 without, then 1."""
    ground.pushed()
    now, asked, again = ground.twice(
        lambda: ground.hub.pulls.ensure_pull_request("work", title="Work", body="Text.")
    )
    assert (asked, again) == (["GET /", "GET /pulls", "POST /pulls"], ["GET /pulls"])
    assert (now.head, now.base, now.title) == ("octo-org:work", "main", "Work")
    assert (now.is_open, now.is_draft, now.author) == (True, False, "octocat")
    assert len(ground.world()["pulls"]) == 1


def test_an_open_one_is_adopted(ground: Ground) -> None:
    """Whoever opened it: it is the one of its head and base, and gets this text."""
    ground.pushed()
    number = ground.control.open_pull("work", "By hand", by="maria")
    ground.asked()
    kept = ground.hub.pulls.ensure_pull_request("work", title="Work", base="main", update=False)
    assert (kept.changed, kept.now.number, kept.now.title) == (False, number, "By hand")
    assert ground.asked() == ["GET /pulls"]
    now, asked, _ = ground.twice(
        lambda: ground.hub.pulls.ensure_pull_request("octo-org:work", title="Work", base="main")
    )
    assert asked == ["GET /pulls", f"PATCH /pulls/{number}"]
    assert (now.number, now.title) == (number, "Work")


def test_a_closed_one_is_not_adopted(ground: Ground) -> None:
    """A branch that is used again gets a pull request of its own."""
    first = opened(ground)
    ground.control.close_pull(first.number)
    second = ground.hub.pulls.ensure_pull_request("work", title="Again")
    assert second.changed
    assert second.now.number != first.number


def test_one_that_no_list_shows_yet(ground: Ground) -> None:
    """GitHub says that there is one while its list lags: it is a matter of seconds, and one stays."""
    ground.pushed()
    ground.control.set_lag(pulls=3)
    ground.hub.pulls.ensure_pull_request("work", title="Work", base="main")
    with ground.other(MARIA) as other:
        with pytest.raises(Transient, match="already") as caught:
            other.pulls.ensure_pull_request("work", title="Work", base="main")
        assert caught.value.retry_after
        assert not caught.value.is_ambiguous
        assert not other.pulls.ensure_pull_request("work", title="Work", base="main").changed
    assert len(ground.world()["pulls"]) == 1


def test_a_lost_answer_is_read_back(ground: Ground) -> None:
    """A 502 after it was opened: it is found. Before: nobody knows, and the next call opens it."""
    ground.pushed("a")
    ground.unanswered("after", "POST", "/pulls$")
    assert ground.hub.pulls.ensure_pull_request("a", title="A").changed
    ground.pushed("b")
    ground.unanswered("before", "POST", "/pulls$")
    with pytest.raises(Transient, match="may have been done"):
        ground.hub.pulls.ensure_pull_request("b", title="B")
    assert ground.hub.pulls.ensure_pull_request("b", title="B").changed
    assert len(ground.world()["pulls"]) == 2


def test_nothing_to_open(ground: Ground) -> None:
    """A branch that is not there, and one without a commit of its own, are said."""
    with pytest.raises(HeadMissing):
        ground.hub.pulls.ensure_pull_request("nowhere", title="T")
    with pytest.raises(NothingToMerge):
        ground.hub.pulls.ensure_pull_request("main", title="T", base="main")


def test_text_and_base_are_set(ground: Ground) -> None:
    """Each is written if it differs: 2 requests, then 1."""
    number = opened(ground).number
    path = f"/pulls/{number}"
    now, asked, again = ground.twice(lambda: ground.hub.pulls.ensure_text(number, body="More.\r\n"))
    assert (asked, again) == ([f"GET {path}", f"PATCH {path}"], [f"GET {path}"])
    assert now.title == "Work"
    now, _, _ = ground.twice(lambda: ground.hub.pulls.ensure_text(number, title="Better"))
    assert (now.title, now.body.strip()) == ("Better", "More.")
    ground.pushed("next")
    now, asked, again = ground.twice(lambda: ground.hub.pulls.ensure_base(number, "next"))
    assert (asked, again) == ([f"GET {path}", f"PATCH {path}"], [f"GET {path}"])
    assert now.base == "next"


def test_state_is_set(ground: Ground) -> None:
    """Closed and opened again, each once; a merged one is not open, and cannot be opened."""
    number = opened(ground).number
    now, asked, again = ground.twice(lambda: ground.hub.pulls.ensure_closed(number))
    assert (len(asked), len(again)) == (2, 1)
    assert not now.is_open
    now, _, _ = ground.twice(lambda: ground.hub.pulls.ensure_open(number))
    assert now.is_open
    ground.control.merge_pull(number)
    kept = ground.hub.pulls.ensure_closed(number)
    assert (kept.changed, kept.now.is_merged) == (False, True)
    with pytest.raises(Rejected, match="was merged"):
        ground.hub.pulls.ensure_open(number)


def test_drafts(ground: Ground) -> None:
    """Made ready and a draft again, each once: 2 requests, one of them GraphQL, then 1."""
    number = opened(ground, draft=True).number
    path = f"GET /pulls/{number}"
    now, asked, again = ground.twice(lambda: ground.hub.pulls.ensure_ready(number))
    assert (asked, again, now.is_draft) == ([path, "MarkReady"], [path], False)
    now, asked, again = ground.twice(lambda: ground.hub.pulls.ensure_draft(number))
    assert (asked, again, now.is_draft) == ([path, "ConvertToDraft"], [path], True)
    lost = Fault("status", when="after", operation="MarkReady", count=3)
    ground.control.add_fault(lost)
    assert ground.hub.pulls.ensure_ready(number).changed
    assert not ground.world()["pulls"][str(number)]["draft"]


def test_reviewers(ground: Ground) -> None:
    """Asked once; who has reviewed is not asked again unless wanted: 3 requests, then 1 or 2."""
    number = opened(ground).number
    path = f"/pulls/{number}"
    ask = partial(ground.hub.pulls.ensure_reviewers, number)
    now, asked, again = ground.twice(lambda: ask(people=("Maria",)))
    assert asked == [f"GET {path}", f"GET {path}/reviews", f"POST {path}/requested_reviewers"]
    assert again == [f"GET {path}"]
    assert now.reviewers == ("maria",)
    ground.control.review(number, "APPROVED", login="maria")
    ground.asked()
    assert not ask(people=("maria",)).changed
    assert ground.asked() == [f"GET {path}", f"GET {path}/reviews"]
    again_asked = ask(people=("maria",), again=True)
    assert (again_asked.changed, again_asked.now.reviewers) == (True, ("maria",))
    now, asked, again = ground.twice(
        lambda: ground.hub.pulls.ensure_not_reviewers(number, people=("MARIA",))
    )
    assert (len(asked), again, now.reviewers) == (2, [f"GET {path}"], ())


def test_whom_github_does_not_ask(ground: Ground) -> None:
    """The author cannot be asked: GitHub's words are kept, and nothing was changed."""
    number = opened(ground).number
    with pytest.raises(Rejected, match="nothing was changed") as caught:
        ground.hub.pulls.ensure_reviewers(number, people=("octocat",))
    assert "author" in caught.value.evidence


def test_what_is_found_after_a_lost_answer_is_compared(ground: Ground) -> None:
    """The list hid somebody's pull request, and the answer was lost: it gets this text, or keeps its."""
    ground.pushed()
    with ground.other(MARIA) as other:
        made = other.pulls.ensure_pull_request("work", title="Hers", body="Old", base="main").now
    for title, update, shown in [("Kept", False, "Hers"), ("Ours", True, "Ours")]:
        empty = Fault("status", method="GET", path="/pulls$", status=200, body="[]")
        ground.control.add_fault(empty)
        ground.unanswered("before", "POST", "/pulls$")
        done = ground.hub.pulls.ensure_pull_request(
            "work", title=title, body="New", base="main", update=update
        )
        assert (done.changed, done.now.number, done.now.title) == (True, made.number, shown)
