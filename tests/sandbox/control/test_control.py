"""The human's hands: every verb does what it says, and refuses in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

    Api = Callable[..., requests.Response]
    Ask = Callable[..., Any]
    from collections.abc import Callable

    from lifecycle.sandbox.server import Sandbox


def issue(control: Control, number: int = 42) -> Any:
    """An issue as the world has it."""
    return control.world()["issues"][str(number)]


def test_issues_by_hand(control: Control) -> None:
    """Close with a reason, reopen, comment, assign, unassign, each by whom it says."""
    control.close_issue(42, reason="duplicate", by="sam")
    closed = issue(control)
    assert (closed["state"], closed["state_reason"], closed["closed_by"]) == (
        "closed", "duplicate", "sam",
    )  # fmt: skip
    control.reopen_issue(42)
    assert issue(control)["state"] == "open"
    made = control.comment(42, "Please", by="sam")
    assert issue(control)["comments"] == [{"id": made, "author": "sam", "body": "Please"}]
    control.assign(42, "sam", "maria")
    control.unassign(42, "SAM")
    assert issue(control)["assignees"] == ["maria"]


def test_cards_by_hand(control: Control) -> None:
    """Move, clear, archive, remove and put back a card."""
    control.set_field(42, "Status", "In Review")
    control.set_field(42, "Agent", "someone")
    assert control.world()["board"]["42"]["values"]["Status"] == "In Review"
    control.set_field(42, "Agent", None)
    assert "Agent" not in control.world()["board"]["42"]["values"]
    control.archive_item(42)
    assert control.world()["board"]["42"]["archived"] is True
    before = control.world()["board"]["42"]["id"]
    control.remove_item(42)
    assert "42" not in control.world()["board"]
    assert control.put_item(42) != before


def test_files_by_hand(control: Control) -> None:
    """A commit may add and delete files, start anywhere, and have any path."""
    first = control.push_commit("work", {'odd "name".txt': "1", "dir/x.py": "2"}, "Add")
    second = control.push_commit("work", {"dir/x.py": None}, "Delete", by="octocat")
    third = control.push_commit("old", {"y": "y"}, "Old", start=first)
    refs = control.world()["refs"]
    assert (refs["refs/heads/work"], refs["refs/heads/old"]) == (second, third)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda c: c.comment(999, "x"), "There is no issue 999"),
        (lambda c: c.comment(42, "x", by="eve"), "There is no user 'eve'"),
        (lambda c: c.comment(42, "x", by="octo-org"), "There is no user 'octo-org'"),
        (lambda c: c.assign(42, "eve"), "There is no user 'eve'"),
        (lambda c: c.close_pull(999), "There is no pull request 999"),
        (lambda c: c.set_field(42, "Mood", "x"), "no field 'Mood'"),
        (lambda c: c.set_field(42, "Status", "Later"), "no option 'Later'; it has Todo"),
        (lambda c: c.rename_option("Status", "Later", "x"), "no option 'Later'"),
        (lambda c: (c.remove_item(42), c.archive_item(42)), "Issue 42 is not on the board"),
        (lambda c: c.push_commit("a..b", {"x": "x"}, "x"), "no name for a branch"),
        (lambda c: c.push_commit("b", {"x": "x"}, "x", start="nowhere"), "no commit 'nowhere'"),
        (lambda c: c.delete_branch("nowhere"), "no branch 'nowhere'"),
        (lambda c: c.delete_branch("main"), "default branch cannot be deleted"),
        (lambda c: c.set_check("nowhere", "lint"), "no commit 'nowhere'"),
        (lambda c: c.set_check("main", "lint", status="done"), "has to be one of"),
        (lambda c: c.set_check("main", "lint", conclusion="good"), "has to be one of"),
        (lambda c: c.set_status("main", "ci", "green"), "has to be one of"),
        (lambda c: c.set_scopes(["repo"], token="other"), "not of this world"),
        (lambda c: c.merge_pull(1, method="octopus"), "no merge method 'octopus'"),
        (lambda c: c.close_issue(42, reason="bored"), "has to be one of"),
        (lambda c: c.open_pull("nowhere", "x"), "'field': 'head'"),
        (lambda c: c.wait_for_requests(5, seconds=0.01), "Only 0 of 5 requests"),
    ],
)
def test_what_cannot_be_done_is_said(
    control: Control, act: Callable[[Any], object], words: str
) -> None:
    """A verb that makes no sense in this world is a sentence, and nothing happens."""
    with pytest.raises(ControlError) as caught:
        act(control)
    assert words in str(caught.value)


def test_unknown_verbs_and_wrong_calls(sandbox: Sandbox) -> None:
    """The endpoint itself answers in JSON, and only to POSTs of JSON."""
    url = sandbox.info.control_url
    assert requests.post(f"{url}/dance", json={}, timeout=5).status_code == 404
    wrong = requests.post(f"{url}/comment", json={"number": 42}, timeout=5)
    assert wrong.status_code == 400
    assert "missing a required" in wrong.json()["error"]
    json_type = {"Content-Type": "application/json"}
    broken = requests.post(f"{url}/world", data="{", headers=json_type, timeout=5)
    assert broken.status_code == 400
    assert requests.get(f"{url}/world", timeout=5).status_code == 405
    assert requests.post(f"{url}/world", data="{}", timeout=5).status_code == 405


def test_waiting_for_requests(control: Control, sandbox: Sandbox) -> None:
    """Waiting returns as soon as the requests are there, with them."""
    requests.get(f"{sandbox.info.api_url}/user", timeout=5)
    (seen,) = control.wait_for_requests(1)
    assert (seen.path, seen.status) == ("/user", 401)


def test_the_environment_proxy_is_ignored(
    control: Control, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy in the environment does not stand between a test and its sandbox."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert control.world()["repository"] == "octo-org/hello-service"


def test_who_acts_where_nobody_is_named() -> None:
    """In a world without maria the one who administers the repository does what people do."""
    text = "users: [{login: bob}, {login: ada, role: admin}]\norganizations: [{login: o}]\n"
    text += "tokens: [{token: t, user: bob, scopes: [repo]}]\nrepositories: [{name: o/r}]"
    with Sandbox(parse_seed(text)) as sandbox:
        people = Control(sandbox.info.control_url)
        people.push_commit("work", {"a": "b"}, "Work")
        assert people.world()["pulls"] == {}
        number = people.open_pull("work", "Work", by="bob")
        people.merge_pull(number)
        assert people.world()["pulls"][str(number)]["merged_by"] == "ada"


def test_what_is_new_is_not_there_at_once(api: Api, graphql: Ask, control: Control) -> None:
    """With a lag, an issue that was made misses from a list, then from reads by its number."""
    control.set_lag(issues=1, reads=2)
    number = api("POST", "issues", json={"title": "Late"}).json()["number"]
    assert number not in {issue["number"] for issue in api("GET", "issues").json()}
    assert number in {issue["number"] for issue in api("GET", "issues").json()}
    query = """query($n: Int!) {
      repository(owner: "octo-org", name: "hello-service") { issue(number: $n) { title } } }"""
    assert api("GET", f"issues/{number}").status_code == 404
    assert graphql(query, n=number)["errors"][0]["type"] == "NOT_FOUND"
    assert api("GET", f"issues/{number}").json()["title"] == "Late"
    assert graphql(query, n=number)["data"]["repository"]["issue"]["title"] == "Late"
