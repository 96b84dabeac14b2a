"""Merging by the API: what it makes, and each of GitHub's refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import FORK, crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "Work", by="octocat")
    return control.open_pull("work", "Work", body="Closes #42", by="octocat")


def world(control: Control) -> Any:
    """Everything."""
    return control.world()


def test_a_merge_answers_with_the_new_tip(api: Api, control: Control, number: int) -> None:
    """200 with the sha that main has now; merged, closed, and the issue that it names with it."""
    before = api("GET", f"pulls/{number}/merge")
    assert before.status_code == 404
    done = api("PUT", f"pulls/{number}/merge", json={"merge_method": "squash"})
    assert done.status_code == 200
    assert done.json() == {
        "sha": world(control)["refs"]["refs/heads/main"],
        "merged": True,
        "message": "Pull Request successfully merged",
    }
    assert api("GET", f"pulls/{number}/merge").status_code == 204
    shown = api("GET", f"pulls/{number}").json()
    assert (shown["merged"], shown["state"], shown["mergeable"]) == (True, "closed", None)
    assert shown["merge_commit_sha"] == done.json()["sha"]
    assert shown["merged_by"]["login"] == "octocat"
    assert world(control)["issues"]["42"]["state"] == "closed"


def test_titles_and_messages_are_taken(api: Api, control: Control, number: int) -> None:
    """`commit_title` and `commit_message` stand in the commit; who merges has written it."""
    body = {"commit_title": "Ship it", "commit_message": "At last."}
    sha = api("PUT", f"pulls/{number}/merge", json=body, token="sam").json()["sha"]
    commit = api("GET", f"git/commits/{sha}").json()
    assert commit["message"] == "Ship it\n\nAt last."
    assert commit["author"]["name"] == "Sam Okafor"
    assert len(commit["parents"]) == 2


def test_a_squash_is_by_the_author_of_the_pull_request(api: Api, number: int) -> None:
    """Whoever presses the button, a squashed commit is its author's."""
    body = {"merge_method": "squash"}
    sha = api("PUT", f"pulls/{number}/merge", json=body, token="maria").json()["sha"]
    assert api("GET", f"git/commits/{sha}").json()["author"]["name"] == "The Octocat"


def test_another_head_is_409(api: Api, control: Control, number: int) -> None:
    """`sha` is the head that was looked at: if it moved, nothing is merged."""
    seen = api("GET", f"pulls/{number}").json()["head"]["sha"]
    control.push_commit("work", {"a.txt": "b"}, "More", by="octocat")
    refused = api("PUT", f"pulls/{number}/merge", json={"sha": seen})
    assert refused.status_code == 409
    assert refused.json()["message"].startswith("Head branch was modified.")
    now = api("GET", f"pulls/{number}").json()["head"]["sha"]
    assert api("PUT", f"pulls/{number}/merge", json={"sha": now}).status_code == 200


def test_what_cannot_be_merged_is_405(api: Api, control: Control, number: int) -> None:
    """A conflict, a draft, and what is merged already."""
    control.push_commit("clash", {"README.md": "mine"}, "Mine")
    clash = control.open_pull("clash", "Clash")
    control.push_commit("main", {"README.md": "theirs"}, "Theirs")
    control.push_commit("idea", {"i.txt": "i"}, "Idea")
    draft = control.open_pull("idea", "Idea", draft=True)
    answers = [api("PUT", f"pulls/{one}/merge") for one in (clash, draft)]
    assert [one.status_code for one in answers] == [405, 405]
    assert answers[0].json()["message"] == "Pull Request is not mergeable"
    assert "draft" in answers[1].json()["message"]
    api("PUT", f"pulls/{number}/merge")
    assert api("PUT", f"pulls/{number}/merge").status_code == 405
    assert api("PUT", "pulls/999/merge").status_code == 404


def test_a_method_that_is_not_allowed_is_405(api: Api, number: int) -> None:
    """The repository's settings say which methods there are."""
    edited = api("PATCH", "", json={"allow_merge_commit": False}, token="maria")
    assert edited.status_code == 200
    refused = api("PUT", f"pulls/{number}/merge", json={"merge_method": "merge"})
    assert refused.status_code == 405
    assert refused.json()["message"] == "Merge commits are not allowed on this repository."
    assert api("PUT", f"pulls/{number}/merge", json={"merge_method": "fold"}).status_code == 422


def test_who_may_only_read_merges_nothing(api: Api, control: Control, number: int) -> None:
    """403 for a reader, and 501 for a field that the sandbox does not know."""
    assert api("PUT", f"pulls/{number}/merge", token="visitor").status_code == 403
    assert api("PUT", f"pulls/{number}/merge", json={"bypass": True}).status_code == 501
    assert world(control)["pulls"][str(number)]["state"] == "open"


def test_the_branch_goes_where_the_repository_says_so(
    api: Api, control: Control, number: int
) -> None:
    """With delete_branch_on_merge the head is gone, and what was based on it has a new base."""
    control.push_commit("next", {"n.txt": "n"}, "Next", start="work")
    stacked = control.open_pull("next", "Next", base="work")
    api("PATCH", "", json={"delete_branch_on_merge": True}, token="maria")
    api("PUT", f"pulls/{number}/merge")
    found = world(control)
    assert "refs/heads/work" not in found["refs"]
    assert (found["pulls"][str(stacked)]["base"], found["pulls"][str(stacked)]["state"]) == (
        "main",
        "open",
    )


def test_mergeability_is_unknown_first_then_git_says(
    api: Api, control: Control, number: int
) -> None:
    """null, then true with a commit at refs/pull/N/merge; after a clashing push null, then false."""
    looks = [api("GET", f"pulls/{number}").json() for _ in range(2)]
    assert [(one["mergeable"], one["mergeable_state"]) for one in looks] == [
        (None, "unknown"),
        (True, "clean"),
    ]
    refs = world(control)["refs"]
    assert refs[f"refs/pull/{number}/merge"] == looks[1]["merge_commit_sha"]
    assert refs[f"refs/pull/{number}/head"] == looks[1]["head"]["sha"]
    control.push_commit("main", {"a.txt": "other"}, "Clash")
    looks = [api("GET", f"pulls/{number}").json() for _ in range(2)]
    assert [(one["mergeable"], one["mergeable_state"]) for one in looks] == [
        (None, "unknown"),
        (False, "dirty"),
    ]


def test_checks_that_nobody_requires_make_it_unstable(
    api: Api, control: Control, number: int
) -> None:
    """A pending or failed check that is not required leaves it mergeable, and says `unstable`."""
    api("GET", f"pulls/{number}")
    control.set_check(number, "lint", status="in_progress")
    assert api("GET", f"pulls/{number}").json()["mergeable_state"] == "unstable"
    control.set_check(number, "lint")
    assert api("GET", f"pulls/{number}").json()["mergeable_state"] == "clean"
    control.set_status(number, "deploy", "error")
    assert api("GET", f"pulls/{number}").json()["mergeable_state"] == "unstable"
    assert api("PUT", f"pulls/{number}/merge").status_code == 200


def test_update_branch_brings_the_base_in(api: Api, control: Control, number: int) -> None:
    """202 and a merge commit on the head; 422 if the head is another or nothing is new."""
    url = f"pulls/{number}/update-branch"
    assert "no new commits" in api("PUT", url).json()["message"]
    control.push_commit("main", {"m.txt": "m"}, "Meanwhile")
    seen = world(control)["pulls"][str(number)]["head_sha"]
    wrong = api("PUT", url, json={"expected_head_sha": "0" * 40})
    assert (wrong.status_code, wrong.json()["message"][:17]) == (422, "expected head sha")
    done = api("PUT", url, json={"expected_head_sha": seen})
    assert done.status_code == 202
    head = world(control)["pulls"][str(number)]["head_sha"]
    commit = api("GET", f"git/commits/{head}").json()
    assert commit["message"].startswith("Merge branch 'main' into work")
    assert commit["parents"][0]["sha"] == seen


def test_a_pull_request_from_a_fork(api: Api, control: Control) -> None:
    """`owner:branch` names it; a stranger opens it, a push moves it, a merge takes it."""
    fork = control.at(FORK)
    fork.push_commit("fix", {"f.txt": "f"}, "Fix", by="visitor")
    body = {"title": "Fix", "head": "visitor:fix", "base": "main"}
    made = api("POST", "pulls", json=body, token="visitor")
    assert made.status_code == 201
    number = made.json()["number"]
    head = made.json()["head"]
    assert (head["label"], head["repo"]["full_name"]) == ("visitor:fix", FORK)
    assert (made.json()["author_association"], made.json()["maintainer_can_modify"]) == (
        "NONE",
        True,
    )
    moved = fork.push_commit("fix", {"f.txt": "g"}, "Again", by="visitor")
    assert world(control)["refs"][f"refs/pull/{number}/head"] == moved
    listed = api("GET", "pulls", params={"head": "visitor:fix"}).json()
    assert [one["number"] for one in listed] == [number]
    again = api("POST", "pulls", json=body, token="visitor")
    assert again.json()["errors"][0]["message"] == "A pull request already exists for visitor:fix."
    assert api("PUT", f"pulls/{number}/merge", token="visitor").status_code == 403
    sha = api("PUT", f"pulls/{number}/merge", token="maria").json()["sha"]
    message = api("GET", f"git/commits/{sha}").json()["message"]
    assert message.startswith(f"Merge pull request #{number} from visitor/fix")
    assert "refs/heads/fix" in fork.world()["refs"]


@pytest.mark.parametrize(
    ("words", "by", "state"),
    [
        ("Closes visitor/hello-service#{n}", "visitor", "closed"),
        ("Fixes http://127.0.0.1/visitor/hello-service/issues/{n}", "visitor", "closed"),
        ("Closes visitor/hello-service#{n}", "octocat", "open"),
    ],
)
def test_issues_elsewhere_close_for_who_may_write_there(
    api: Api, control: Control, words: str, by: str, state: str
) -> None:
    """`owner/repo#N` or an address closes there, if who merges may write there."""
    made = api("POST", f"/repos/{FORK}/issues", json={"title": "Elsewhere"}, token="visitor")
    place = made.json()["number"]
    roles = api("PUT", "collaborators/visitor", json={"permission": "push"}, token="maria")
    assert roles.status_code in {201, 204}
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work", body=words.format(n=place))
    token = None if by == "octocat" else by
    assert api("PUT", f"pulls/{number}/merge", token=token).status_code == 200
    assert control.at(FORK).world()["issues"][str(place)]["state"] == state
