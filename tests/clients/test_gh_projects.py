"""`gh project`, where this gh has it (2.31 and later): boards of an organization and of a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.sandbox.control import Control
from tests.clients.gh import Gh
from tests.clients.world import MARIA

ORG = ("--owner", "octo-org")


@pytest.fixture(scope="module", autouse=True)
def project_command(gh: Gh) -> None:
    """Skip for a gh that has no such command; Debian 12's has none."""
    if gh.tried("project", "--help").returncode:
        version = gh.run("--version").split()[2]
        pytest.skip(f"gh {version} has no project command")


def told(gh: Gh, *arguments: str) -> Any:
    """What a project command says as JSON; maria asks."""
    return json.loads(gh.run("project", *arguments, "--format", "json", token=MARIA))


def test_boards_are_listed_and_viewed(gh: Gh, control: Control) -> None:
    """An organization's and one's own; how many cards and fields each has; the fields and cards."""
    board = control.world()["board"]
    (listed,) = told(gh, "list", *ORG)["projects"]
    assert (listed["number"], listed["title"]) == (1, "hello-service roadmap")
    (mine,) = told(gh, "list", "--owner", "@me")["projects"]
    assert (mine["number"], mine["owner"]["login"]) == (2, "maria")
    viewed = told(gh, "view", "1", *ORG)
    assert (viewed["items"]["totalCount"], viewed["closed"]) == (len(board), False)
    fields = {one["name"]: one for one in told(gh, "field-list", "1", *ORG)["fields"]}
    options = [one["name"] for one in fields["Status"]["options"]]
    assert options == ["Todo", "In Progress", "In Review", "Done"]
    cards = {one["content"]["number"]: one for one in told(gh, "item-list", "1", *ORG)["items"]}
    assert set(cards) == set(map(int, board))
    for number, card in board.items():
        assert cards[int(number)]["status"] == card["values"]["Status"]
        assert cards[int(number)]["id"] == card["id"]


def test_cards_come_change_and_go(gh: Gh, control: Control) -> None:
    """Added by address, edited by field, archived and brought back, noted and deleted."""
    number = gh.number("issue", "create", "--title", "For the board", "--body", "")
    address = f"http://github.localhost/octo-org/hello-service/issues/{number}"
    item = told(gh, "item-add", "1", *ORG, "--url", address)["id"]
    fields = {one["name"]: one for one in told(gh, "field-list", "1", *ORG)["fields"]}
    chosen = {one["name"]: one["id"] for one in fields["Status"]["options"]}
    edit = ("project", "item-edit", "--id", item, "--project-id", told(gh, "view", "1", *ORG)["id"])
    gh.run(*edit, "--field-id", fields["Agent"]["id"], "--text", "octocat-1", token=MARIA)
    status = ("--field-id", fields["Status"]["id"], "--single-select-option-id")
    gh.run(*edit, *status, chosen["In Review"], token=MARIA)
    card = control.world()["board"][str(number)]
    assert card["values"] == {"Agent": "octocat-1", "Status": "In Review"}
    gh.run(*edit, "--field-id", fields["Agent"]["id"], "--clear", token=MARIA)
    assert control.world()["board"][str(number)]["values"] == {"Status": "In Review"}
    archive = ("project", "item-archive", "1", *ORG, "--id", item)
    gh.run(*archive, token=MARIA)
    assert control.world()["board"][str(number)]["archived"] is True
    gh.run(*archive, "--undo", token=MARIA)
    note = told(gh, "item-create", "1", *ORG, "--title", "A note", "--body", "Hm")
    assert (note["type"], note["title"]) == ("DraftIssue", "A note")
    for one in (item, note["id"]):
        gh.run("project", "item-delete", "1", *ORG, "--id", one, token=MARIA)
    assert str(number) not in control.world()["board"]


def test_a_board_from_its_creation_to_its_end(gh: Gh) -> None:
    """Created, given a field, edited, linked, copied, closed, reopened, deleted."""
    made = told(gh, "create", *ORG, "--title", "Made by gh")
    number = str(made["number"])
    field = told(gh, "field-create", number, *ORG, "--name", "Size", "--data-type",
                 "SINGLE_SELECT", "--single-select-options", "S,M")  # fmt: skip
    assert [one["name"] for one in field["options"]] == ["S", "M"]
    gh.run("project", "edit", number, *ORG, "--title", "Renamed", token=MARIA)
    assert told(gh, "view", number, *ORG)["title"] == "Renamed"
    for verb in ("link", "unlink"):
        gh.run("project", verb, number, *ORG, "--repo", "octo-org/hello-service", token=MARIA)
    copied = told(gh, "copy", number, "--source-owner", "octo-org", "--target-owner", "octo-org",
                  "--title", "Copied")  # fmt: skip
    names = [one["name"] for one in told(gh, "field-list", str(copied["number"]), *ORG)["fields"]]
    assert "Size" in names
    gh.run("project", "close", number, *ORG, token=MARIA)
    assert told(gh, "view", number, *ORG)["closed"] is True
    gh.run("project", "close", number, *ORG, "--undo", token=MARIA)
    for one in (number, str(copied["number"])):
        gh.run("project", "delete", one, *ORG, token=MARIA)
    assert [one["number"] for one in told(gh, "list", *ORG)["projects"]] == [1]
