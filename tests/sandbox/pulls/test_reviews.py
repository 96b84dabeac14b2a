"""Reviews: who said what last, and what GitHub makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from github import Auth, Github
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls.reviews.actions import OPINIONS, opinions
from lifecycle.sandbox.pulls.state import PullRequest, Review, ReviewState
from lifecycle.sandbox.repositories.state import Repository, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., Response]
    Ask = Callable[..., Any]


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "Work", by="octocat")
    return control.open_pull("work", "Work", by="octocat")


def said(observe: Ask, number: int) -> list[tuple[str, str]]:
    """Who stands by what, as the query that observes a claim reads it: writers only."""
    nodes = observe(number)["data"]["repository"]["byNumber"]["latestOpinionatedReviews"]["nodes"]
    return [(one["author"]["login"], one["state"]) for one in nodes]


def decided(observe: Ask, number: int) -> Any:
    """GitHub's own verdict."""
    return observe(number)["data"]["repository"]["byNumber"]["reviewDecision"]


def test_the_last_opinion_of_each_reviewer_stands(
    observe: Ask, control: Control, number: int
) -> None:
    """A comment is no opinion; a later approval takes the place of a request for changes."""
    control.review(number, "CHANGES_REQUESTED")
    control.review(number, "COMMENTED", body="Also, a typo.")
    control.review(number, "APPROVED", login="sam")
    assert said(observe, number) == [("maria", "CHANGES_REQUESTED"), ("sam", "APPROVED")]
    control.review(number, "APPROVED")
    assert said(observe, number) == [("sam", "APPROVED"), ("maria", "APPROVED")]


def test_a_review_of_a_line_outside_of_the_diff_leaves_nothing(
    observe: Ask, control: Control, number: int
) -> None:
    """What people do is refused whole: no opinion stays behind, and no comment that was made before."""
    kept = {"path": "a.txt", "line": 1, "body": "This is there"}
    for path, line in (("a.txt", 9999), ("no-such-file", 1)):
        comments = [kept, {"path": path, "line": line, "body": "No"}]
        with pytest.raises(ControlError, match=r"part of the diff|is invalid"):
            control.review(number, "CHANGES_REQUESTED", comments=comments)
    assert said(observe, number) == []
    assert "This is there" not in control.dump()


def test_a_dismissed_review_brings_no_older_one_back(
    observe: Ask, control: Control, number: int
) -> None:
    """It keeps its id and shows as DISMISSED; what was said before it stays superseded."""
    control.review(number, "APPROVED")
    asked = control.review(number, "CHANGES_REQUESTED")
    assert control.review(number, "DISMISSED") == asked
    assert said(observe, number) == [("maria", "DISMISSED")]
    with pytest.raises(ControlError, match="could be dismissed"):
        control.review(number, "DISMISSED")


def test_who_may_only_read_is_no_writer(
    observe: Ask, graphql: Ask, control: Control, number: int
) -> None:
    """Anybody may review on a public repository; `writersOnly` leaves a stranger's word out."""
    control.review(number, "CHANGES_REQUESTED", login="visitor")
    assert said(observe, number) == []
    text = """query All($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
        pullRequest(number: $n) { latestOpinionatedReviews(first: 5) { nodes { state } } } } }"""
    found = graphql(text, n=number)["data"]["repository"]["pullRequest"]
    assert found["latestOpinionatedReviews"]["nodes"] == [{"state": "CHANGES_REQUESTED"}]


def test_github_decides_nothing_where_no_review_is_required(
    observe: Ask, control: Control, number: int
) -> None:
    """Without a branch that requires reviews the decision is null, even with changes requested.

    Seen in public: https://github.com/orgs/community/discussions/24375,
    https://github.com/abcxyz/github-metrics-aggregator/pull/224 and
    https://github.com/corveil/crow/pull/153.
    """
    assert decided(observe, number) is None
    control.review(number, "CHANGES_REQUESTED")
    assert decided(observe, number) is None
    control.review(number, "APPROVED")
    assert decided(observe, number) is None


def test_a_branch_that_requires_reviews_has_a_decision(
    observe: Ask, control: Control, number: int
) -> None:
    """Required, until enough writers approve; one writer's request for changes outweighs them."""
    control.require_reviews(2)
    control.review(number, "CHANGES_REQUESTED", login="visitor")
    assert decided(observe, number) == "REVIEW_REQUIRED"
    control.review(number, "APPROVED", login="sam")
    assert decided(observe, number) == "REVIEW_REQUIRED"
    control.review(number, "CHANGES_REQUESTED")
    assert decided(observe, number) == "CHANGES_REQUESTED"
    control.review(number, "APPROVED")
    assert decided(observe, number) == "APPROVED"
    control.review(number, "DISMISSED", login="sam")
    assert decided(observe, number) == "REVIEW_REQUIRED"


@pytest.mark.parametrize(
    ("state", "verb"), [("APPROVED", "approve"), ("CHANGES_REQUESTED", "request changes on")]
)
def test_nobody_judges_a_pull_request_of_their_own(
    control: Control, number: int, state: Any, verb: str
) -> None:
    """An author may comment only."""
    with pytest.raises(ControlError, match=f"Can not {verb} your own pull request"):
        control.review(number, state, login="octocat")
    control.review(number, "COMMENTED", login="octocat")
    assert [one["state"] for one in control.world()["pulls"][str(number)]["reviews"]] == [
        "COMMENTED"
    ]


def test_a_word_that_is_no_state_is_refused(control: Control, number: int) -> None:
    """The sentence says which words there are."""
    with pytest.raises(ControlError, match="one of APPROVED"):
        control.review(number, "GREAT")  # type: ignore[arg-type]  # wrong on purpose


def test_reviews_over_rest(sandbox: Sandbox, api: Api, control: Control, number: int) -> None:
    """All that were submitted, with the commit that each was for; PyGithub reads them."""
    sha = control.world()["pulls"][str(number)]["head_sha"]
    control.review(number, "CHANGES_REQUESTED", body="Please lock.")
    control.push_commit("work", {"a.txt": "b"}, "Lock")
    control.review(number, "APPROVED")
    page = api("GET", f"pulls/{number}/reviews", params={"per_page": 1})
    assert [one["state"] for one in page.json()] == ["CHANGES_REQUESTED"]
    assert "next" in page.links
    client = Github(auth=Auth.Token(sandbox.info.token), base_url=sandbox.info.api_url, lazy=True)
    found = list(client.get_repo("octo-org/hello-service").get_pull(number).get_reviews())
    client.close()
    assert [(one.user.login, one.state, one.body) for one in found] == [
        ("maria", "CHANGES_REQUESTED", "Please lock."),
        ("maria", "APPROVED", ""),
    ]
    assert (found[0].commit_id == sha, found[1].commit_id == sha) == (True, False)
    assert found[0].html_url.endswith(f"/pull/{number}#pullrequestreview-{found[0].id}")


PEOPLE = [User(n, f"user-{n}", "", "user", "read" if n % 2 else "write") for n in range(4)]
REPO = Repository(1, World(Path()), User(9, "octo-org", "", "organization"), "r", None, "main")


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(get_args(ReviewState)))))
def test_everybody_has_one_opinion_at_most(said: list[tuple[User, ReviewState]]) -> None:
    """Whatever is said in whatever order: one review a person, the last that was no comment."""
    moment = now()
    issue = Issue(1, "I_1", REPO, 1, "t", None, PEOPLE[0], moment, moment)
    pull = PullRequest(1, "PR_1", issue, "work", "main", "a" * 40, "b" * 40, draft=False)
    pull.reviews = [
        Review(n, str(n), pull, who, how, "", "", moment) for n, (who, how) in enumerate(said)
    ]
    last = {who.id: how for who, how in said if how in OPINIONS}
    assert {one.author.id: one.state for one in opinions(pull)} == last
    writers = opinions(pull, writers_only=True)
    assert all(REPO.can_push(one.author) for one in writers)
    assert len(writers) == sum(1 for who in last if who % 2 == 0)
