"""Several steps in one request, by tokens and servers that take only some of them, or none so."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from lifecycle.api import Wake
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.claim.test_joined import operations
from tests.conftest import Place
from tests.factories import texts
from tests.repeated import soaked

ALL = ("contents", "issues", "pull_requests", "organization_projects")


@pytest.fixture
def lacks() -> str:
    """The permission that the token has not; none, unless a test says so."""
    return ""


@pytest.fixture
def sandbox(lacks: str) -> Iterator[SandboxInfo]:
    """A GitHub whose token is a fine-grained one."""
    rights = [f"{name}:{'read' if name == lacks else 'write'}" for name in ALL]
    token = SeedToken("github_pat_x", "octocat", rights, "fine-grained")
    with Sandbox(replace(default_seed(), tokens=[token])) as running:
        yield running.info


def coded(place: Place) -> None:
    """Work that is ready, its card in progress, and all that a joint write needs known."""
    place.knows_board()
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.control.set_field(42, "Status", "In Progress")
    place.control.set_field(42, "Agent", "octocat-1")
    place.clear()


def test_ids_that_are_not_known_come_with_the_look(place: Place) -> None:
    """Where no card was written yet, opening and closing take as many requests as elsewhere."""
    place.ready()
    place.clear()
    place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "OpenPullRequest"]
    assert place.card()["Status"] == "In Review"
    place.control.merge_pull(place.pull())
    state = place.root / ".lifecycle/state.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "cache": {}}))
    place.write(phase="done")
    place.clear()
    place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "CommentAndClose"]
    assert (place.issue()["state"], place.card()["Status"]) == ("closed", "Done")


@pytest.mark.parametrize("lacks", ["pull_requests"])
def test_a_token_that_may_open_no_pull_request_leaves_the_card_as_it_was(place: Place) -> None:
    """GitHub refuses the first of two writes and does the second: that is put back in the same wake.

    Once: the next task is written one by one.
    """
    coded(place)
    report = place.tree().tick(Wake.STOP)
    tried = ["ObserveClaim", "OpenPullRequest", "pulls", "SetBoardFields"]
    assert operations(place) == tried
    assert "no permission" in texts(report)
    assert (place.card()["Status"], place.claim()["status"]) == ("In Progress", "In Progress")
    place.forget()
    coded(place)
    place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "pulls"]
    assert place.card()["Status"] == "In Progress"


@pytest.mark.parametrize("lacks", ["issues"])
def test_a_token_that_may_close_no_issue_leaves_it_and_its_card_as_they_were(
    place: Place,
) -> None:
    """Comment and closing are refused with a path, the card between is done: nothing says "closed"."""
    place.merged()
    place.control.set_field(42, "Agent", "octocat-1")
    place.clear()
    report = place.tree().tick(Wake.STOP)
    assert operations(place)[:2] == ["ObserveClaim", "CommentAndClose"]
    assert operations(place)[-1] == "SetBoardFields"
    assert "not closed, and the claim was kept" in texts(report)
    assert (place.issue()["state"], place.issue()["comments"]) == ("open", [])
    assert (place.card()["Status"], place.card()["Agent"]) == ("In Review", "octocat-1")
    assert place.has_claim()


@pytest.mark.parametrize("lacks", ["organization_projects"])
def test_a_board_that_may_only_be_read_costs_no_pull_request(place: Place) -> None:
    """The last of two writes is refused: the first one is a fact, and labels say what the card cannot."""
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.control.set_field(42, "Status", "In Progress")
    place.tree().tick(Wake.STOP)
    assert place.claim()["phase"] == "pr_created"
    assert len(place.pulls()) == 1
    assert place.card()["Status"] == "In Progress"


def test_labels_are_written_behind_what_shares_a_request(place: Place) -> None:
    """They need a write for each label: comment and closing go together, labels follow."""
    (place.root / ".lifecycle.toml").write_text('[labels]\nuse = "always"\n')
    place.merged()
    place.clear()
    report = place.tree().tick(Wake.STOP)
    assert operations(place)[:2] == ["ObserveClaim", "CommentAndClose"]
    assert "SetBoardFields" not in operations(place)
    assert "Issue #42 closed." in texts(report)
    assert (place.issue()["state"], len(place.issue()["comments"])) == ("closed", 1)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(
            "graphql_error", error_type="argumentNotAccepted", message="InputObject 'CloseIssue'"
        ),
        soaked(
            Fault("graphql_error", error_type="undefinedField", message="Field 'x' doesn't exist")
        ),
        soaked(Fault("graphql_error", error_type="FORBIDDEN", message="No.")),
    ],
)
def test_a_server_that_does_not_know_a_field_is_asked_one_by_one(
    place: Place, fault: Fault
) -> None:
    """The document was not run at all: the look goes on as ever, and the next task begins so."""
    place.merged()
    place.control.add_fault(fault, operation="CommentAndClose")
    place.clear()
    report = place.tree().tick(Wake.STOP)
    alone = ["comments", "42", "SetBoardFields"]
    assert operations(place) == ["ObserveClaim", "CommentAndClose", *alone]
    assert "Issue #42 closed. Board → Done." in texts(report)
    assert len(place.issue()["comments"]) == 1
    place.control.reopen_issue(42)
    place.control.set_field(42, "Status", "In Progress")
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.clear()
    place.tree().tick(Wake.STOP)
    assert operations(place)[:2] == ["ObserveClaim", "pulls"]


def test_an_issue_that_somebody_closes_meanwhile_stays_closed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look and the writes: one comment, and the end as ever."""
    from lifecycle.github.operations.joint_writes import JointWrites

    place.merged()
    real = JointWrites.send

    def send(*arguments: object) -> object:
        place.control.close_issue(42)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(JointWrites, "send", send)
    report = place.tree().tick(Wake.STOP)
    assert "Issue #42 closed. Board → Done." in texts(report)
    assert (place.issue()["state"], len(place.issue()["comments"])) == ("closed", 1)
