"""Decisions with a token that is not shown everything: checks that are hidden, labels for the board."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.claim.commands import task_branch
from lifecycle.claim.decisions.decide import apply_observation, decide, look
from lifecycle.claim.engine import observing
from lifecycle.claim.record.sections import Releasing
from lifecycle.claim.record.state import Record, fold
from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.plan import Audience, BoardIs, SetBoard, Wake
from lifecycle.core.values.checks import Bucket, Checks
from lifecycle.core.values.model import BoardItem, Observation, PullState
from tests.claim.steps import ITEM, REVIEW
from tests.factories import NOW, SHA, checks, observation, pull, record, seen, texts

UNSEEN = "checks of other apps than GitHub Actions"
NOTE = "The token lacks the project scope. Until then the Status is kept as labels."


def hidden(*buckets: Bucket, overall: str) -> Checks:
    """Checks of which some are not shown."""
    runs = checks(*buckets).runs
    return Checks(SHA, runs, is_complete=False, unseen=UNSEEN, overall=overall)


@pytest.mark.parametrize(
    ("found", "is_said"),
    [
        (hidden(Bucket.PASS, overall="PENDING"), True),
        (hidden(Bucket.PASS, overall="FAILURE"), True),
        (hidden(overall="FAILURE"), True),
        (hidden(overall="PENDING"), False),
        (hidden(overall=""), False),
        (hidden(Bucket.PASS, Bucket.PENDING, overall="PENDING"), False),
    ],
)
def test_checks_that_are_not_shown_are_said_to_the_person(found: Checks, is_said: bool) -> None:
    """Once nothing that is shown runs any more: what is missing, GitHub's own word, and what to do."""
    shown = observation(by_number=pull(checks=found), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    said = [say for say in step.notices if UNSEEN in say.text]
    assert bool(said) is is_said
    if is_said:
        assert said[0].audience is Audience.NOTE
        assert (found.overall in said[0].text) is bool(found.overall)
        assert "lifecycle doctor" in said[0].text


def test_a_failure_that_is_shown_is_said_as_ever() -> None:
    """What is hidden besides does not matter then."""
    found = hidden(Bucket.FAIL, overall="FAILURE")
    shown = observation(by_number=pull(checks=found), item=ITEM)
    assert "1 FAILED" in texts(decide(seen(record(**REVIEW), observed=shown)))


def test_labels_in_the_place_of_the_board_are_said_and_kept() -> None:
    """The note goes to the person, and the Status is written to the labels as to a card."""
    made = record(
        phase="coding", item_id="labels/42", status="In Progress", last_synced_status=None
    )
    shown = observation(item=BoardItem("labels/42", "Todo"), board_note=NOTE)
    made = apply_observation(replace(made, card=replace(made.card, is_known=True)), shown, NOW)
    step = decide(seen(made, observed=shown))
    assert [say.audience for say in step.notices if say.text == NOTE] == [Audience.NOTE]
    assert isinstance(step.action, SetBoard)
    assert (step.action.item_id, step.action.status) == ("labels/42", "In Progress")


@pytest.mark.parametrize(("before", "now"), [("labels/42", "PVTI_1"), ("PVTI_1", "labels/42")])
def test_a_change_between_board_and_labels_is_nobodys_move(before: str, now: str) -> None:
    """What was written to the one says nothing of the other: it is written there, too."""
    made = record(
        phase="coding", item_id=before, status="In Progress", last_synced_status="In Progress"
    )
    made = replace(made, card=replace(made.card, is_known=True))
    made = apply_observation(made, observation(item=BoardItem(now, "Todo")), NOW)
    assert made.card.moved_to is None
    assert made.claim.last_synced_status is None
    assert made.claim.item_id == now
    made = fold(made, BoardIs(BoardItem(now, "In Progress"), "In Progress", None), NOW)
    made = apply_observation(made, observation(item=BoardItem(now, "In Progress")), NOW)
    assert made.claim.last_synced_status == "In Progress"
    moved = apply_observation(made, observation(item=BoardItem(now, "Done")), NOW)
    assert moved.card.moved_to == "Done"


@pytest.mark.parametrize(
    ("wake", "phase", "insists"),
    [
        (Wake.TICK, "checks_running", True),
        (Wake.IDLE, "checks_running", False),
        (Wake.STOP, "done", True),
    ],
)
def test_who_asks_and_what_ends_sees_whether_the_board_came_back(
    wake: Wake, phase: str, insists: bool
) -> None:
    """A poll goes by what was learnt; a command, and closing, ask the board again."""
    wanted = look(seen(record(**{**REVIEW, "phase": phase}), wake=wake))
    assert wanted is not None
    assert wanted.insists is insists


def back(shown_status: str, **values: Any) -> tuple[Record, Observation]:
    """A claim that was kept as labels, when its card can be seen again and says this."""
    made = record(**{"item_id": "labels/42", "last_synced_status": "In Progress"} | values)
    made = replace(
        made,
        card=replace(made.card, is_known=True, agent=made.claim.agent_id),
    )
    shown = observation(item=BoardItem("PVTI_1", shown_status))
    return apply_observation(made, shown, NOW), shown


def test_a_card_that_comes_back_is_written_once_whatever_it_shows() -> None:
    """Agent and Status, since labels have no Agent, and the label is taken off behind that write."""
    made, shown = back("In Progress", phase="coding", status="In Progress")
    step = decide(seen(made, observed=shown))
    assert isinstance(step.action, SetBoard)
    assert step.action.item_id == "PVTI_1"
    assert (step.action.status, step.action.agent) == ("In Progress", made.claim.agent_id)
    again = apply_observation(made, shown, NOW)
    assert isinstance(decide(seen(again, observed=shown)).action, SetBoard)
    written = BoardIs(BoardItem("PVTI_1", "In Progress"), "In Progress", made.claim.agent_id)
    made = apply_observation(fold(made, written, NOW), shown, NOW)
    assert decide(seen(made, observed=shown)).action is None


def test_closing_writes_a_card_that_comes_back_done() -> None:
    """Board automation had moved it; without that write the label would stay for ever."""
    made, _ = back("Done", phase="done", status="Done")
    assert not made.ending.board_done
    written = BoardIs(BoardItem("PVTI_1", "Done"), "Done", "")
    assert fold(made, written, NOW).ending.board_done


def test_giving_back_writes_a_card_that_comes_back_free() -> None:
    """The card still said Todo, and the label "In Progress" would keep others out for ever."""
    made, _ = back("Todo", phase="coding", status="Todo")
    made = replace(
        made,
        ending=replace(made.ending, releasing=Releasing(NOW, is_begun=True), comment_done=True),
    )
    made = replace(made, ending=replace(made.ending, unassigned=True))
    shown = observation(item=BoardItem("PVTI_1", "Todo"))
    made = apply_observation(made, shown, NOW)
    step = decide(seen(made, observed=shown))
    assert isinstance(step.action, SetBoard)
    assert step.action.status == "Todo"


def test_a_label_that_was_changed_by_hand_is_called_a_label() -> None:
    """There is no card to move back."""
    made = record(
        phase="coding", item_id="labels/42", status="In Progress", last_synced_status="In Progress"
    )
    shown = observation(item=BoardItem("labels/42", "Done"))
    made = apply_observation(replace(made, card=replace(made.card, is_known=True)), shown, NOW)
    said = texts(decide(seen(made, observed=shown)))
    assert "Status label of #42" in said
    assert "card" not in said


class SlowGit:
    """Git that does not come to its end at one of its commands."""

    def __init__(self, fails: int, error: Exception) -> None:
        self.fails, self.error = fails, error
        self.asked = 0

    def run(self, *_words: str, **_options: bool) -> str:
        """One commit."""
        self.asked += 1
        if self.asked == self.fails:
            raise self.error
        return "1"

    def remote_head_of(self, _branch: str, _remote: str) -> str:
        """The base is there."""
        return SHA


@pytest.mark.parametrize("error", [Transient("git took too long."), GitFailed("git said no.")])
def test_a_merge_is_told_where_git_cannot_count_what_it_lacks(
    tmp_path: Path, error: Exception
) -> None:
    """The question about closing does not wait for a number, nor forgets one; the log says why."""
    (tmp_path / ".lifecycle").mkdir()
    merged = observation(by_number=pull(state=PullState.MERGED))
    counted = []
    for fails in (1, 2, 3):
        world = SimpleNamespace(root=tmp_path, git=SlowGit(fails, error), remote="origin")
        for before in (0, 2):
            made = record(**REVIEW).with_pull(left_out=before)
            working = observing.LookUnderWay(
                cast("Any", world), cast("Any", None), seen(made, observed=merged)
            )
            world.git.asked = 0
            counted.append(observing._left_out(working))
    assert counted == [0, 2, 0, 2, 1, 1]
    assert str(error) in (tmp_path / ".lifecycle/log").read_text()


@pytest.mark.parametrize("fails", [1, 2, 3, 4])
def test_a_branch_that_is_here_is_taken_where_its_base_cannot_be_read(fails: int) -> None:
    """It goes on from where it is: that the base went on meanwhile keeps nobody from the task."""
    git = SlowGit(fails, Transient("upstream did not answer."))
    world = SimpleNamespace(git=git, base_remote="upstream")
    task_branch._begin_at_base(cast("Any", world), "claude/fix-42", "main")
    assert git.asked == fails
