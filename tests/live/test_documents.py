"""The product's GraphQL documents, as the real GitHub runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.graphql_texts import graphql_documents

if TYPE_CHECKING:
    from tests.live.hub import Hub

pytestmark = pytest.mark.xdist_group("live")  # one GitHub, one after the other

TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in graphql_documents()}


def _observe(hub: Hub, **more: Any) -> dict[str, Any]:
    owner, _, name = hub.place.repository.partition("/")
    asked = {
        "owner": owner, "name": name, "branch": "lifecycle-live-none", "number": 0, "byNumber": False,
        "checks": True, "comments": True, "lease": "refs/agent-claims/0", "leased": True, **more,
    }  # fmt: skip
    return hub.graph(TEXTS["observe_claim"], **asked)


def test_observing_a_claim_is_one_answer(hub: Hub) -> None:
    """Issue, pull request and comments come with one document, without an error."""
    number = hub.issue()["number"]
    hub.made(f"issues/{number}/comments", {"body": "seen"})
    head, sha = hub.branch()
    base = hub.rest("GET", "").json()["default_branch"]
    pull = hub.made("pulls", {"title": hub.name("seen"), "head": head, "base": base})["number"]
    hub.bin.append(lambda: hub.rest("PATCH", f"pulls/{pull}", {"state": "closed"}))
    answer = hub.until(
        lambda: _observe(hub, issue=number, branch=head, number=pull, byNumber=True),
        lambda found: bool(found["data"]["repository"]["byBranch"]["nodes"]),
    )
    assert "errors" not in answer
    repository = answer["data"]["repository"]
    assert (repository["issue"]["number"], repository["issue"]["state"]) == (number, "OPEN")
    assert [one["body"] for one in repository["issue"]["comments"]["nodes"]] == ["seen"]
    assert repository["byNumber"]["headRefOid"] == sha
    assert [one["number"] for one in repository["byBranch"]["nodes"]] == [pull]


def test_what_is_not_there_is_not_found(hub: Hub) -> None:
    """A missing issue is null and an error of type NOT_FOUND, with its path; the rest is there."""
    answer = _observe(hub, issue=99999999)
    assert answer["data"]["repository"]["issue"] is None
    (error,) = answer["errors"]
    assert (error["type"], error["path"]) == ("NOT_FOUND", ["repository", "issue"])


def test_an_unknown_field_is_an_error_without_data(hub: Hub) -> None:
    """A document with a field that there is not gives no data, and a code that is relied upon."""
    answer = hub.graph("query Wrong { viewer { shoeSize } }")
    assert answer.get("data") is None
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "undefinedField"
    assert error["message"] == "Field 'shoeSize' doesn't exist on type 'User'"


def test_the_observation_costs_a_point(hub: Hub) -> None:
    """One observation costs one point of the hour's."""
    query = "query Cost { rateLimit { cost remaining } }"
    before = hub.graph(query)["data"]["rateLimit"]["remaining"]
    _observe(hub, issue=hub.issue()["number"])
    after = hub.graph(query)["data"]["rateLimit"]
    points = before - after["remaining"] - after["cost"]
    hub.say("points for an observation", str(points))
    assert points == 1


def test_a_card_is_added_and_moved(hub: Hub) -> None:
    """The board is found, an issue is put on it once, and its Status is set and read back."""
    if hub.place.project is None:
        pytest.skip("no board: set LIFECYCLE_PROJECT_NUMBER")
    owner, number = hub.place.project
    answer = hub.graph(TEXTS["discover_board"], boardOwner=owner, boardNumber=number)
    assert "errors" not in answer, answer["errors"]
    board = answer["data"]["repositoryOwner"]["projectV2"]
    fields = {one["name"]: one for one in board["fields"]["nodes"] if one}
    issue = hub.issue()["node_id"]
    items = set()
    for _ in range(2):
        added = hub.graph(TEXTS["add_board_item"], project=board["id"], content=issue)
        items.add(added["data"]["addProjectV2ItemById"]["item"]["id"])
    (item,) = items
    hub.bin.append(lambda: hub.graph(TEXTS["remove_item"], project=board["id"], item=item))
    option = fields["Status"]["options"][0]
    asked = {
        "project": board["id"], "item": item,
        "statusField": fields["Status"]["id"], "status": option["id"], "setStatus": True,
        "agentField": fields["Agent"]["id"], "agent": "lifecycle-live", "setAgent": True,
        "clearAgent": False,
    }  # fmt: skip
    done = hub.graph(TEXTS["set_board_fields"], **asked)
    assert "errors" not in done, done["errors"]
    assert done["data"]["agent"]["projectV2Item"]["agent"] == {"text": "lifecycle-live"}
    assert done["data"]["agent"]["projectV2Item"]["status"]["name"] == option["name"]
    wrong = hub.graph(TEXTS["set_board_fields"], **{**asked, "status": "0badc0de"})
    assert wrong["errors"]
    hub.say("an option that there is not", wrong["errors"][0]["message"])
