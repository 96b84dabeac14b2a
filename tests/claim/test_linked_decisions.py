"""The pull request and the issue know of each other, and the issue has its card."""

from __future__ import annotations

import pytest

from lifecycle.core.plan import Wake
from tests.conftest import BRANCH, Place


def body(place: Place) -> str:
    """The text of the one open pull request."""
    return str(place.pulls()[place.pull()]["body"])


def test_a_pull_request_that_does_not_mention_its_issue_gets_a_line(place: Place) -> None:
    """An adopted pull request keeps its text; the line is added once, by the look that sees it first."""
    place.ready()
    place.control.open_pull(BRANCH, title="By hand", body="What it does.")
    place.tree().tick(Wake.STOP)
    place.tree().tick(Wake.IDLE)
    assert body(place) == "What it does.\n\nRefs #42 <!-- lifecycle:link issue=42 -->"
    place.clear()
    place.tree().tick()
    assert place.writes() == []


def test_the_line_has_the_configured_word(place: Place) -> None:
    """`issue_link = "Closes"` closes the issue at the merge, here as in a pull request of ours."""
    (place.root / ".lifecycle.toml").write_text('issue_link = "Closes"\n')
    place.ready()
    place.control.open_pull(BRANCH, title="By hand", body="")
    place.tree().tick(Wake.STOP)
    place.tree().tick(Wake.IDLE)
    assert body(place) == "Closes #42 <!-- lifecycle:link issue=42 -->"


@pytest.mark.parametrize("text", ["See #42.", "No words. <!-- lifecycle:link issue=42 -->"])
def test_what_mentions_it_or_was_unlinked_by_somebody_is_left(place: Place, text: str) -> None:
    """A mention is a link; and where only the hidden comment is left, somebody took the words out."""
    place.ready()
    place.control.open_pull(BRANCH, title="By hand", body=text)
    place.tree().tick(Wake.STOP)
    place.tree().tick(Wake.IDLE)
    assert body(place) == text


def test_a_claimed_issue_without_a_card_is_put_on_the_board(place: Place) -> None:
    """A claim that knows of no card gets one, with Status and Agent, by the first look that needs it."""
    place.control.remove_item(42)
    place.work()
    place.write(
        schema_version=1, item_id="", issue_number=42, branch=BRANCH, agent_id="octocat-1",
        phase="coding", summary="", status="In Progress", pr_number=None, last_check_poll=None,
        last_synced_status=None,
    )  # fmt: skip
    place.tree().tick(Wake.STOP)
    assert place.card() == {"Status": "In Progress", "Agent": "octocat-1"}
    assert place.claim()["item_id"] == place.item_id()


def test_a_card_that_somebody_took_off_the_board_stays_off(place: Place) -> None:
    """Who had a card and has none any more lost it on purpose: it is said, and nothing is added."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.remove_item(42)
    place.write(status="Blocked")
    place.clear()
    place.tree().tick()
    assert "42" not in place.control.world()["board"]
    assert [r.operation for r in place.writes() if r.operation == "AddBoardItem"] == []
