"""Boards over REST, as GitHub's published description has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.everything import SEED, TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ask = Callable[..., requests.Response]

BOARD = "/orgs/org/projectsV2/1"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A board with a field of every type and a card of every kind."""
    with Sandbox(parse_seed(SEED)) as running:
        yield running


@pytest.fixture
def ask(sandbox: Sandbox) -> Iterator[Ask]:
    """`ask(method, path, body, token=…)`: a request, below the board unless it begins with `/`."""
    with requests.Session() as session:
        session.trust_env = False

        def send(method: str, path: str = "", body: Any = None, *, token: str = TOKEN) -> Any:
            whole = path if path.startswith("/") else f"{BOARD}/{path}".rstrip("/")
            url = whole if whole.startswith("http") else f"{sandbox.info.api_url}{whole}"
            headers = {"Authorization": f"token {token}"}
            return session.request(method, url, json=body, headers=headers, timeout=10)

        yield send


def fields(ask: Ask) -> dict[str, Any]:
    """The board's fields by name."""
    return {one["name"]: one for one in ask("GET", "fields?per_page=100").json()}


def items(ask: Ask, query: str = "") -> list[Any]:
    """The board's cards."""
    answer = ask("GET", f"items?{query}")
    assert answer.status_code == 200, answer.text
    found: list[Any] = answer.json()
    return found


def test_boards_of_organizations_and_users(ask: Ask) -> None:
    """Each owner's boards are at its own place, and nowhere else."""
    board = ask("GET").json()
    assert (board["number"], board["title"], board["state"]) == (1, "Plan", "open")
    assert (board["public"], board["creator"]["login"]) == (False, "ada")
    assert board["node_id"].startswith("PVT_")
    assert [one["title"] for one in ask("GET", "/orgs/org/projectsV2").json()] == ["Plan"]
    assert [one["title"] for one in ask("GET", "/users/ada/projectsV2").json()] == ["Own"]
    assert ask("GET", "/users/ada/projectsV2/1").json()["title"] == "Own"
    assert ask("GET", "/orgs/org/projectsV2?q=is:closed").json() == []
    for path in ("/users/org/projectsV2", "/orgs/ada/projectsV2/1", "/orgs/org/projectsV2/9"):
        assert ask("GET", path).status_code == 404


def test_fields_have_options_and_iterations(ask: Ask) -> None:
    """Names come raw and as HTML; a field is found by its number."""
    found = fields(ask)
    status = found["Status"]
    assert status["data_type"] == "single_select"
    assert [one["name"]["raw"] for one in status["options"]] == ["Todo", "Done"]
    sprint = found["Sprint"]["configuration"]
    assert (sprint["duration"], sprint["start_day"]) == (14, 1)
    assert [(one["title"]["raw"], one["completed"]) for one in sprint["iterations"]] == [
        ("Past", True),
        ("Now", False),
    ]
    assert ask("GET", f"fields/{status['id']}").json() == status
    assert ask("GET", "fields/1").status_code == 404


def test_fields_are_made(ask: Ask) -> None:
    """Of every type that may be made; a taken name is 422."""
    options = [{"name": "S", "color": "RED", "description": "Small"}]
    spans = [{"title": "One", "start_date": "2026-01-05", "duration": 7}]
    span = {"start_date": "2026-01-05", "duration": 7, "iterations": spans}
    for kind, more in (
        ("text", {}), ("number", {}), ("date", {}),
        ("single_select", {"single_select_options": options}),
        ("iteration", {"iteration_configuration": span}),
    ):  # fmt: skip
        answer = ask("POST", "fields", {"name": f"New {kind}", "data_type": kind, **more})
        assert answer.status_code == 201, answer.text
        assert answer.json()["data_type"] == kind
    assert fields(ask)["New single_select"]["options"][0]["color"] == "RED"
    taken = ask("POST", "fields", {"name": "Status", "data_type": "text"})
    assert (taken.status_code, taken.json()["message"]) == (422, "Name has already been taken")
    assert ask("POST", "fields", {"name": "X", "data_type": "colour"}).status_code == 422


def test_cards_show_the_title_and_what_is_asked_for(ask: Ask) -> None:
    """Without `fields` a card has its title's value, with it those of the fields named."""
    first, second, third = items(ask)
    kinds = [one["content_type"] for one in (first, second, third)]
    assert kinds == ["Issue", "PullRequest", "DraftIssue"]
    assert [one["name"] for one in first["fields"]] == ["Title"]
    assert first["fields"][0]["value"]["raw"] == first["content"]["title"] == "One"
    assert third["content"]["title"] == "Maybe"
    ids = ",".join(str(one["id"]) for one in fields(ask).values())
    values = {one["name"]: one["value"] for one in items(ask, f"fields={ids}")[0]["fields"]}
    assert values["Status"]["name"]["raw"] == "Todo"
    assert (values["Points"], values["Due"]) == (2.5, "2026-12-24")
    assert values["Sprint"]["title"]["raw"] == "Now"
    assert [one["login"] for one in values["Assignees"]] == ["sam"]
    assert [one["name"] for one in values["Labels"]] == ["bug"]
    assert [one["number"] for one in values["Linked pull requests"]] == [3]
    assert values["Repository"]["full_name"] == "org/app"
    assert values["Parent issue"] is None
    one = ask("GET", f"items/{first['id']}").json()
    assert one["node_id"] == first["node_id"]
    assert ask("GET", "items/1").status_code == 404
    assert ask("GET", "items?fields=1").status_code == 404


def test_cards_are_filtered(ask: Ask) -> None:
    """`q` is a filter of the board; what the sandbox does not know is 501, never ignored."""
    assert [one["content_type"] for one in items(ask, "q=is:pr")] == ["PullRequest"]
    assert len(items(ask, "q=status:Todo,Done")) == 2
    assert items(ask, "q=label:bug -is:issue assignee:@me") == []
    assert ask("GET", "items?q=tracked-by:x").status_code == 501
    assert ask("GET", "items?sort=up").status_code == 501


def test_cards_come_in_pages(ask: Ask) -> None:
    """The Link header's cursors lead through all cards and back."""
    seen, url, count = [], f"{BOARD}/items?per_page=1", 0
    while url:
        answer = ask("GET", url)
        seen += [one["id"] for one in answer.json()]
        url, count = answer.links.get("next", {}).get("url", ""), count + 1
        url = url.partition("/orgs/")[2] and f"/orgs/{url.partition('/orgs/')[2]}"
    assert seen == [one["id"] for one in items(ask)]
    assert count == 3
    back = answer.links["prev"]["url"].partition("/orgs/")[2]
    assert ask("GET", f"/orgs/{back}").json()[0]["id"] == seen[1]
    assert ask("GET", "items?after=nonsense").status_code == 422


def test_values_are_written_all_or_none(ask: Ask) -> None:
    """Values are set by the field's number, null clears, and one mistake undoes the rest."""
    card, known = items(ask)[0]["id"], fields(ask)
    ids = {name: one["id"] for name, one in known.items()}
    option = known["Status"]["options"][1]["id"]
    changes = [
        {"id": ids["Status"], "value": option},
        {"id": ids["Points"], "value": 5},
        {"id": ids["Note"], "value": None},
    ]
    answer = ask("PATCH", f"items/{card}", {"fields": changes})
    assert answer.status_code == 200, answer.text
    wanted = f"fields={ids['Status']},{ids['Points']},{ids['Note']}"
    values = [one["value"] for one in items(ask, wanted)[0]["fields"]]
    assert (values[0]["id"], values[1], values[2]) == (option, 5.0, None)
    wrong = [{"id": ids["Points"], "value": 9}, {"id": ids["Status"], "value": "00000000"}]
    refused = ask("PATCH", f"items/{card}", {"fields": wrong})
    assert refused.status_code == 422
    assert "does not belong to the field" in refused.json()["message"]
    assert items(ask, f"fields={ids['Points']}")[0]["fields"][0]["value"] == 5.0


def test_cards_are_added_and_deleted(ask: Ask, sandbox: Sandbox) -> None:
    """By number or by id; adding again gives the card that is there; a draft is a card, too."""
    issue = Control(sandbox.info.control_url).world()["issues"]["1"]
    where = {"type": "Issue", "owner": "org", "repo": "app", "number": 1}
    first = ask("POST", "items", where)
    assert first.status_code == 201
    assert first.json()["content"]["node_id"] == issue["node_id"]
    by_id = ask("POST", "items", {"type": "Issue", "id": first.json()["content"]["id"]})
    assert by_id.json()["id"] == first.json()["id"]
    assert ask("DELETE", f"items/{first.json()['id']}").status_code == 204
    assert ask("POST", "items", where).json()["id"] != first.json()["id"]
    assert ask("POST", "items", {**where, "number": 9}).status_code == 404
    assert ask("POST", "items", {**where, "type": "PullRequest"}).status_code == 404
    assert ask("POST", "items", {**where, "type": "Shoe"}).status_code == 422
    draft = ask("POST", "drafts", {"title": "Idea", "body": "Text"})
    assert (draft.status_code, draft.json()["content"]["title"]) == (201, "Idea")
    assert ask("POST", "drafts", {"title": " "}).status_code == 422
    user = ask("GET", "/user").json()["id"]
    own = ask("POST", f"/user/{user}/projectsV2/1/drafts", {"title": "Mine"})
    assert own.status_code == 201


def test_who_may_not(sandbox: Sandbox, ask: Ask) -> None:
    """Without the scope it is 403; a board that one may not see is 404."""
    control = Control(sandbox.info.control_url)
    control.set_scopes(["repo"], token="s")
    assert ask("GET", token="s").status_code == 403
    control.set_scopes(["read:project"], token="s")
    assert ask("GET", token="s").status_code == 200
    assert ask("POST", "drafts", {"title": "x"}, token="s").status_code == 403
    assert ask("GET", "/users/ada/projectsV2/1", token="s").status_code == 404
    assert ask("GET", "/users/ada/projectsV2", token="s").json() == []
