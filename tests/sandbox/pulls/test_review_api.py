"""Reviews, conversations and requests as clients write them, over REST and GraphQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., Any]

THREADS = """query T($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
  pullRequest(number: $n) { reviewThreads(first: 9) { nodes { id isResolved isOutdated line path
    resolvedBy { login } comments(first: 9) { totalCount nodes { body state } } } } } } }"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`, of three lines."""
    control.push_commit("work", {"a.txt": "one\ntwo\nthree\n"}, "Work", by="octocat")
    return control.open_pull("work", "Work", by="octocat")


def head(control: Control, number: int) -> str:
    """Its head."""
    return str(control.world()["pulls"][str(number)]["head_sha"])


def shown(graphql: Ask, number: int, token: str | None = None) -> Any:
    """Its conversations."""
    found = graphql(THREADS, n=number, token=token)
    return found["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]


def remark(control: Control, number: int, line: int = 2) -> dict[str, Any]:
    """A comment on a line."""
    sha = head(control, number)
    return {"body": "Why?", "commit_id": sha, "path": "a.txt", "line": line}


def test_a_review_is_submitted_at_once(api: Api, number: int) -> None:
    """200 with its state; who was asked is not any more."""
    asked = api("POST", f"pulls/{number}/requested_reviewers", json={"reviewers": ["sam"]})
    assert asked.status_code == 201
    assert [one["login"] for one in asked.json()["requested_reviewers"]] == ["sam"]
    made = api("POST", f"pulls/{number}/reviews", json={"event": "APPROVE"}, token="sam")
    assert (made.status_code, made.json()["state"]) == (200, "APPROVED")
    assert api("GET", f"pulls/{number}/requested_reviewers").json() == {"users": [], "teams": []}
    assert api("GET", f"pulls/{number}/reviews/{made.json()['id']}").json() == made.json()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"event": "APPROVE"}, "Can not approve your own pull request"),
        ({"event": "REQUEST_CHANGES", "body": "x"}, "Can not request changes on your own"),
        ({"event": "COMMENT"}, "blank"),
    ],
)
def test_reviews_that_are_refused(api: Api, number: int, body: Any, words: str) -> None:
    """422 with a bare sentence."""
    refused = api("POST", f"pulls/{number}/reviews", json=body)
    assert (refused.status_code, refused.json()["message"]) == (422, "Unprocessable Entity")
    assert words in refused.json()["errors"][0]
    assert api("GET", f"pulls/{number}/reviews").json() == []


def test_a_pending_review_is_its_authors_alone(api: Api, graphql: Ask, number: int) -> None:
    """Others see neither it nor its comments until it is submitted; one at a time."""
    said = {"path": "a.txt", "line": 1, "body": "Hm"}
    made = api("POST", f"pulls/{number}/reviews", json={"comments": [said]}, token="sam")
    assert (made.json()["state"], "submitted_at" in made.json()) == ("PENDING", False)
    place = f"pulls/{number}/reviews/{made.json()['id']}"
    assert api("GET", place).status_code == 404
    assert (shown(graphql, number), len(shown(graphql, number, "sam"))) == ([], 1)
    again = api("POST", f"pulls/{number}/reviews", json={}, token="sam")
    assert "one pending review" in again.json()["errors"][0]
    event = {"event": "REQUEST_CHANGES", "body": "Please."}
    done = api("POST", f"{place}/events", json=event, token="sam")
    assert (done.json()["state"], done.json()["body"]) == ("CHANGES_REQUESTED", "Please.")
    assert [one["body"] for one in api("GET", f"{place}/comments").json()] == ["Hm"]
    assert api("DELETE", place, token="sam").status_code == 422
    gone = {"message": "Never mind"}
    assert api("PUT", f"{place}/dismissals", json=gone, token="visitor").status_code == 403
    assert api("PUT", f"{place}/dismissals", json=gone).json()["state"] == "DISMISSED"
    assert api("PUT", f"{place}/dismissals", json=gone).status_code == 422


def test_a_pending_review_can_be_given_up(api: Api, graphql: Ask, number: int) -> None:
    """Its comments go with it."""
    said = {"path": "a.txt", "line": 1, "body": "Hm"}
    made = api("POST", f"pulls/{number}/reviews", json={"comments": [said]}, token="sam").json()
    assert api("DELETE", f"pulls/{number}/reviews/{made['id']}", token="sam").status_code == 200
    assert shown(graphql, number, "sam") == []


def test_requests_for_review_that_make_no_sense(api: Api, number: int) -> None:
    """Not of the author, not of people who are not there, not by a reader."""
    url = f"pulls/{number}/requested_reviewers"
    own = api("POST", url, json={"reviewers": ["octocat"]})
    assert (own.status_code, own.json()["message"]) == (
        422,
        "Review cannot be requested from pull request author.",
    )
    assert api("POST", url, json={"reviewers": ["nobody"]}).status_code == 422
    assert api("POST", url, json={"reviewers": ["sam"]}, token="visitor").status_code == 403
    api("POST", url, json={"reviewers": ["sam", "maria"]})
    left = api("DELETE", url, json={"reviewers": ["sam"]}).json()["requested_reviewers"]
    assert [one["login"] for one in left] == ["maria"]


def test_a_comment_begins_a_conversation(
    api: Api, control: Control, graphql: Ask, number: int
) -> None:
    """With the hunk down to its line; answers join it; all of it is a review."""
    made = api("POST", f"pulls/{number}/comments", json=remark(control, number), token="sam")
    assert made.status_code == 201
    first = made.json()
    assert first["diff_hunk"].splitlines() == ["@@ -0,0 +1,3 @@", "+one", "+two"]
    url = f"pulls/{number}/comments/{first['id']}/replies"
    second = api("POST", url, json={"body": "Because."}).json()
    assert (second["in_reply_to_id"], second["line"]) == (first["id"], 2)
    (thread,) = shown(graphql, number)
    assert [one["body"] for one in thread["comments"]["nodes"]] == ["Why?", "Because."]
    states = [one["state"] for one in api("GET", f"pulls/{number}/reviews").json()]
    assert states == ["COMMENTED", "COMMENTED"]
    assert api("GET", f"pulls/{number}").json()["review_comments"] == 2
    edited = api("PATCH", f"pulls/comments/{first['id']}", json={"body": "What?"}, token="sam")
    assert edited.json()["body"] == "What?"
    everywhere = api("GET", "pulls/comments", params={"sort": "created", "direction": "desc"})
    assert [one["id"] for one in everywhere.json()] == [second["id"], first["id"]]
    for one in (second, first):
        assert api("DELETE", f"pulls/comments/{one['id']}").status_code == 204
    assert shown(graphql, number) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [({"line": 9}, "line"), ({"path": "README.md"}, "path"), ({"line": 3, "start_line": 9}, "start_line")],
)  # fmt: skip
def test_a_place_has_to_be_in_the_diff(
    api: Api, control: Control, number: int, change: Any, field: str
) -> None:
    """422 names the part that is wrong, and no review is left of it."""
    body = {**remark(control, number), **change}
    refused = api("POST", f"pulls/{number}/comments", json=body, token="sam")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == f"pull_request_review_thread.{field}"
    assert api("GET", f"pulls/{number}/reviews").json() == []


def test_conversations_are_resolved_and_outdated(
    api: Api, control: Control, graphql: Ask, number: int
) -> None:
    """Writers and the author resolve; a push that changes the line outdates, another does not."""
    api("POST", f"pulls/{number}/comments", json=remark(control, number), token="visitor")
    ((thread,),) = (shown(graphql, number),)
    text = """mutation R($t: ID!) { resolveReviewThread(input: {threadId: $t}) {
      thread { isResolved resolvedBy { login } } } }"""
    refused = graphql(text, t=thread["id"], token="visitor")
    assert refused["errors"][0]["type"] == "FORBIDDEN"
    done = graphql(text, t=thread["id"])["data"]["resolveReviewThread"]["thread"]
    assert done == {"isResolved": True, "resolvedBy": {"login": "octocat"}}
    back = graphql(text.replace("resolveR", "unresolveR"), t=thread["id"])
    assert back["data"]["unresolveReviewThread"]["thread"]["isResolved"] is False
    control.push_commit("work", {"a.txt": "one\ntwo\n3\n"}, "Third", by="octocat")
    assert [one["isOutdated"] for one in shown(graphql, number)] == [False]
    control.push_commit("work", {"a.txt": "one\n2\n3\n"}, "Second", by="octocat")
    assert [(one["isOutdated"], one["line"]) for one in shown(graphql, number)] == [(True, None)]
    (comment,) = api("GET", f"pulls/{number}/comments").json()
    assert (comment["line"], comment["original_line"], comment["position"]) == (None, 2, None)


def test_graphql_reviews(graphql: Ask, control: Control, number: int) -> None:
    """A thread begins a pending review, which is submitted; then others may be asked again."""
    node = control.world()["pulls"][str(number)]["node_id"]
    begun = graphql(
        """mutation T($p: ID!) { addPullRequestReviewThread(input: {pullRequestId: $p,
        path: "a.txt", line: 3, side: RIGHT, body: "Three?"}) { thread { id
          comments(first: 1) { nodes { state } } } } }""",
        p=node,
        token="sam",
    )["data"]["addPullRequestReviewThread"]["thread"]
    assert begun["comments"]["nodes"] == [{"state": "PENDING"}]
    done = graphql(
        """mutation S($p: ID!) { submitPullRequestReview(input: {pullRequestId: $p,
        event: COMMENT, body: "Look"}) { pullRequestReview { state author { login }
          comments(first: 9) { totalCount } } } }""",
        p=node,
        token="sam",
    )["data"]["submitPullRequestReview"]["pullRequestReview"]
    assert done == {
        "state": "COMMENTED",
        "author": {"login": "sam"},
        "comments": {"totalCount": 1},
    }
    own = graphql(
        "mutation A($p: ID!) { addPullRequestReview(input: {pullRequestId: $p, event: APPROVE}) "
        "{ pullRequestReview { id } } }",
        p=node,
    )
    assert own["data"] == {"addPullRequestReview": None}
    assert own["errors"][0]["message"] == "Can not approve your own pull request"
    sam = graphql('query { user(login: "sam") { id } }')["data"]["user"]["id"]
    asked = graphql(
        """mutation R($p: ID!, $u: [ID!]) { requestReviews(input: {pullRequestId: $p, userIds: $u})
        { pullRequest { reviewRequests(first: 9) { nodes { requestedReviewer {
          ... on User { login } } } } latestReviews(first: 9) { totalCount } } } }""",
        p=node,
        u=[sam],
    )["data"]["requestReviews"]["pullRequest"]
    assert asked["reviewRequests"]["nodes"] == [{"requestedReviewer": {"login": "sam"}}]
    assert asked["latestReviews"]["totalCount"] == 0


def test_a_draft_swallows_what_graphql_answers_and_rest_does_not(
    api: Api, control: Control, graphql: Ask, number: int
) -> None:
    """Who has a review pending answers into it, unseen, by GraphQL; the REST call answers at once.

    Seen in public: https://github.com/EveryInc/compound-engineering-plugin/issues/1196 and its #1491.
    """
    first = api(
        "POST", f"pulls/{number}/comments", json=remark(control, number), token="sam"
    ).json()
    ((thread,),) = (shown(graphql, number),)
    api("POST", f"pulls/{number}/reviews", json={})
    swallowed = graphql(
        """mutation A($t: ID!) { addPullRequestReviewThreadReply(input: {
        pullRequestReviewThreadId: $t, body: "Done."}) { comment { state } } }""",
        t=thread["id"],
    )
    comment = swallowed["data"]["addPullRequestReviewThreadReply"]["comment"]
    assert comment == {"state": "PENDING"}
    assert [one["body"] for one in shown(graphql, number, "sam")[0]["comments"]["nodes"]] == [
        "Why?"
    ]
    url = f"pulls/{number}/comments/{first['id']}/replies"
    assert api("POST", url, json={"body": "Done."}).status_code == 201
    seen = shown(graphql, number, "sam")[0]["comments"]["nodes"]
    assert [one["body"] for one in seen] == ["Why?", "Done."]
    asked = """query P($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
      pullRequest(number: $n) { reviews(states: PENDING, author: "octocat", first: 1) {
        totalCount } } } }"""
    pending = graphql(asked, n=number)["data"]["repository"]["pullRequest"]["reviews"]
    assert pending == {"totalCount": 1}


SAID = """query S($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
  pullRequest(number: $n) { reviewThreads(first: 9) { nodes { viewerCanResolve viewerCanReply
    comments(first: 9) { nodes { author { __typename login } authorAssociation lastEditedAt
      includesCreatedEdit isMinimized minimizedReason id } } } }
    reviews(first: 9) { nodes { author { login } lastEditedAt } } } } }"""


def test_what_is_said_of_a_comment(api: Api, control: Control, graphql: Ask, number: int) -> None:
    """Who, by which name, whether edited or folded away; a bot's login has `[bot]` over REST alone."""
    first = api("POST", f"pulls/{number}/comments", json=remark(control, number), token="robot")
    assert first.json()["user"]["login"] == "robot[bot]"
    pull = graphql(SAID, n=number)["data"]["repository"]["pullRequest"]
    ((thread,), (review,)) = pull["reviewThreads"]["nodes"], pull["reviews"]["nodes"]
    (comment,) = thread["comments"]["nodes"]
    assert comment["author"] == review["author"] | {"__typename": "Bot"}
    assert comment["author"]["login"] == "robot"
    assert (comment["lastEditedAt"], comment["isMinimized"]) == (None, False)
    assert graphql("{ viewer { login } }", token="robot")["data"]["viewer"]["login"] == "robot[bot]"
    control.advance(60)
    api("PATCH", f"pulls/comments/{first.json()['id']}", json={"body": "What?"}, token="robot")
    fold = """mutation M($c: ID!) { minimizeComment(input: {subjectId: $c, classifier: OFF_TOPIC}) {
      minimizedComment { isMinimized minimizedReason } } }"""
    refused = graphql(fold, c=comment["id"], token="visitor")
    assert refused["errors"][0]["type"] == "FORBIDDEN"
    folded = graphql(fold, c=comment["id"])["data"]["minimizeComment"]["minimizedComment"]
    assert folded == {"isMinimized": True, "minimizedReason": "off-topic"}
    ((thread,),) = (
        graphql(SAID, n=number)["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"],
    )
    (comment,) = thread["comments"]["nodes"]
    assert (comment["includesCreatedEdit"], comment["minimizedReason"]) == (True, "off-topic")
    assert comment["lastEditedAt"] is not None
    shown_again = fold.replace("minimizeC", "unminimizeC").replace(", classifier: OFF_TOPIC", "")
    shown_again = shown_again.replace("minimizedComment {", "unminimizedComment {")
    done = graphql(shown_again, c=comment["id"])["data"]["unminimizeComment"]
    assert done["unminimizedComment"]["isMinimized"] is False


def test_a_token_resolves_only_with_the_contents(
    api: Api, control: Control, graphql: Ask, number: int
) -> None:
    """`pull_requests: write` answers and does not resolve, which every thread says beforehand.

    Measured in public: https://github.com/github/gh-aw/issues/35726.
    """
    api("POST", f"pulls/{number}/comments", json=remark(control, number), token="sam")
    ((thread,),) = (shown(graphql, number),)
    may = [
        graphql(SAID, n=number, token=token)["data"]["repository"]["pullRequest"]["reviewThreads"][
            "nodes"
        ][0]["viewerCanResolve"]
        for token in ("robot", "modest", "visitor")
    ]
    assert may == [True, False, False]
    text = """mutation R($t: ID!) { resolveReviewThread(input: {threadId: $t}) {
      thread { isResolved } } }"""
    refused = graphql(text, t=thread["id"], token="modest")
    assert refused["errors"][0]["message"] == "Resource not accessible by integration"
    assert [one["isResolved"] for one in shown(graphql, number)] == [False]
