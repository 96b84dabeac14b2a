"""Several writes in one document: done one after the other, and each told by its own fact."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core import plan
from lifecycle.core.errors import Rejected, Transient
from lifecycle.core.values.model import Look
from lifecycle.github.operations.joint_writes import JointWrites
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import Hub

LOOK = Look(42, "work", board=True, writes=True, opens=True)
COMMENT, CLOSE = plan.PostComment(42, "Done.", "m"), plan.CloseIssue(42)
TEXTS = {"title": "Work", "body": "Refs #42"}


def ready(hub: Hub) -> tuple[JointWrites, Any, plan.SetBoard]:
    """What sends, what a look showed, and the card in Review."""
    hub.pushed()
    hub.board.schema()
    shown = hub.forge.observe(LOOK)
    assert shown.item is not None
    assert (bool(shown.writable), shown.is_ahead) == (True, True)
    hub.asked()
    return JointWrites(hub.graph, hub.board), shown, plan.SetBoard(shown.item.id, "In Review", None)


def test_each_write_comes_about_and_is_told_from_what_its_field_shows(hub: Hub) -> None:
    """A pull request and its card; a comment, the closing and the card: one request each."""
    joint, shown, card = ready(hub)
    opening = plan.OpenPullRequest("octo-org:work", "main", "Work", 42)
    opened, moved = joint.send((opening, card), shown, TEXTS)
    assert isinstance(opened, plan.PullRequestOpened)
    pull = opened.pull_request
    assert (pull.title, pull.branch, pull.head_owner, pull.base) == (
        "Work",
        "work",
        "octo-org",
        "main",
    )
    assert isinstance(moved, plan.BoardIs)
    assert (moved.item.status, moved.wrote_status) == ("In Review", "In Review")
    found = joint.send((COMMENT, CLOSE, card), shown, {})
    assert found[:2] == (plan.Done(COMMENT), plan.Done(CLOSE))
    assert hub.asked() == ["OpenPullRequest", "CommentAndClose"]
    assert hub.world()["issues"]["42"]["state"] == "closed"


def test_a_field_that_fails_keeps_no_later_one_back(hub: Hub) -> None:
    """No commits between: the pull request is refused, and the card was set all the same."""
    joint, shown, card = ready(hub)
    nothing = plan.OpenPullRequest("octo-org:main", "main", "Work", 42)
    failed, moved = joint.send((nothing, card), shown, TEXTS)
    assert isinstance(failed, plan.Failed)
    assert isinstance(failed.error, Rejected)
    assert "only a part was changed" in failed.error.sentence
    assert isinstance(moved, plan.BoardIs)
    assert hub.world()["board"]["42"]["values"]["Status"] == "In Review"


def test_what_is_hidden_is_not_told_as_done(hub: Hub) -> None:
    """An outage of one field is told as unknown, between what did come about."""
    joint, shown, card = ready(hub)
    hub.control.add_fault(Fault("graphql_error", when="after", null_paths=[["closed"]]))
    posted, closed, moved = joint.send((COMMENT, CLOSE, card), shown, {})
    assert (posted, type(moved)) == (plan.Done(COMMENT), plan.BoardIs)
    assert isinstance(closed, plan.Failed)
    assert isinstance(closed.error, Transient)
    assert closed.error.is_ambiguous


@pytest.mark.parametrize(
    ("card", "is_asked"),
    [
        (plan.SetBoard("PVTI_x", "No Such", None), False),
        (plan.SetBoard("PVTI_x", "Done", None), True),
    ],
)
def test_a_card_that_cannot_be_written_is_refused(
    hub: Hub, card: plan.SetBoard, is_asked: bool
) -> None:
    """Before anything is sent where that is known; else by its field."""
    joint, shown, _ = ready(hub)
    if is_asked:
        *_, failed = joint.send((COMMENT, CLOSE, card), shown, {})
        assert isinstance(failed, plan.Failed)
        assert isinstance(failed.error, Rejected)
    else:
        with pytest.raises(Rejected):
            joint.send((COMMENT, CLOSE, card), shown, {})
    assert bool(hub.asked()) is is_asked
