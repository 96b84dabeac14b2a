"""The card, hints and releases on values alone: what is learned, what is written, what is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import card_and_link, decide, derive
from lifecycle.claim.decisions.ending import releasing
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import Releasing, Trouble
from lifecycle.claim.record.state import Record, mark_of
from lifecycle.core.plan import (
    AddToBoard,
    Audience,
    ForgetClaim,
    ReleaseLease,
    SetBoard,
    SetLinked,
    Wake,
)
from lifecycle.core.tracker import Link
from lifecycle.core.values.model import BoardItem, Hold, PullState
from tests.batches import each_row
from tests.claim.steps import set_by
from tests.factories import NOW, comment, issue, observation, pull, record, seen

AGENT = "edouard-1738000000"
ITEM = BoardItem("PVTI_lADOBx", "In Progress", AGENT)
LABELS = BoardItem("labels/42", "In Progress", "")
ASKED = Releasing(NOW - 5, "out of time", "2 commits.", is_begun=True)


def learned(item: Any, memory: dict[str, Any] | None = None, **changes: Any) -> Any:
    """The record once a card was seen."""
    shown = observation(**{"item": item, **changes.pop("shown", {})})
    return card_and_link.apply_card(record(memory=memory or {}, **changes), shown)


@pytest.mark.parametrize(
    ("item", "changes", "moved_to", "synced"),
    [
        ({}, {}, None, "In Progress"),
        ({"status": "in progress"}, {}, None, "In Progress"),
        ({"status": None}, {}, None, "In Progress"),
        ({"status": "Blocked"}, {}, "Blocked", "In Progress"),
        ({"status": "Todo"}, {"last_synced_status": "Todo"}, None, "Todo"),
        ({"status": "In Review"}, {"status": "In Review"}, None, "In Review"),
        ({"status": "Todo"}, {"last_synced_status": None}, None, None),
        ({"status": "In Progress"}, {"last_synced_status": None}, None, "In Progress"),
        (
            {"status": "Blocked", "status_at": NOW},
            {"shown": {"by_number": pull()}},
            "Blocked",
            "In Progress",
        ),
        (
            {"status": "Blocked", "status_at": NOW},
            {"shown": {"issue": issue(is_open=False, closed_at=NOW + 1)}},
            None,
            "In Progress",
        ),
        (
            {"status": "Blocked", "status_at": NOW},
            {"shown": {"issue": issue(is_open=False, closed_at=NOW)}},
            "Blocked",
            "In Progress",
        ),
        (
            {"status": "Done", "status_at": NOW, "agent": ""},
            {"shown": {"issue": issue(reopened_at=NOW + 1)}, "memory": {"card.agent": AGENT}},
            None,
            "Done",  # so both are written again
        ),
        (  # of a board without Agent nothing shows what was written: neither is
            {"status_at": NOW, "agent": ""},
            {"shown": {"issue": issue(reopened_at=NOW + 1)}, "memory": {"card.agent": AGENT}},
            None,
            "In Progress",
        ),
    ],
)
def test_a_card_that_stands_where_nobody_of_ours_put_it_was_moved(
    item: dict[str, Any], changes: dict[str, Any], moved_to: str | None, synced: str | None
) -> None:
    """Unless it was before the task's last event; one that is as wanted counts as written."""
    made = learned(replace(ITEM, **item), **changes)
    assert made.card.moved_to == moved_to
    assert made.card.is_known
    assert made.claim.last_synced_status == synced
    assert (made.card.agent is None) is (synced == "Done")
    assert made.claim.item_id == "PVTI_lADOBx"


@pytest.mark.parametrize("status", ["In Review", "Blocked"])
def test_a_card_that_may_have_been_written_was_moved_by_nobody(status: str) -> None:
    """It shares a request with what it follows from, and is written again if that did not come about."""
    made = record(status="In Progress", last_synced_status=None)
    after = card_and_link.apply_card(made, observation(item=replace(ITEM, status=status)))
    assert (after.card.moved_to, after.claim.last_synced_status) == (None, None)
    step = card_and_link.card_step(seen(after, wake=Wake.STOP))
    assert step.action == SetBoard(ITEM.id, "In Progress", None)


def test_without_a_card_nothing_is_learned_but_that_it_is_gone() -> None:
    """It is written no more before it is seen; where the board could not be read, nothing is known."""
    assert learned(None) == record(memory={"card.is_known": False})
    unread = observation(item=None, board_problem="No scope.")
    assert card_and_link.apply_card(record(), unread) == record()
    assert not learned(replace(ITEM, is_archived=True)).card.is_known


@pytest.mark.parametrize(
    ("agent", "ours", "known", "taken_by", "after"),
    [
        (AGENT, AGENT, None, "", AGENT),
        (AGENT, AGENT, AGENT, "", AGENT),
        ("b-1", AGENT, AGENT, "b-1", AGENT),
        ("b-1", AGENT, None, "", None),
        ("b-1", AGENT, "c-1", "", "c-1"),
        ("", AGENT, AGENT, "", AGENT),
        (None, AGENT, AGENT, "", AGENT),
        ("", "", None, "", None),
        ("b-1", "", "", "", ""),
    ],
)
def test_a_name_in_the_place_of_ours_has_taken_the_task(
    agent: str | None, ours: str, known: str | None, taken_by: str, after: str | None
) -> None:
    """Only where ours stood; a card that names nobody is nobody's."""
    made = learned(replace(ITEM, agent=agent), {"card.agent": known}, agent_id=ours)
    assert (made.ownership.taken_by, made.card.agent) == (taken_by, after)


@pytest.mark.parametrize(("sha", "is_due"), [("a" * 40, True), ("b" * 40, False)])
def test_a_name_beside_our_lease_is_written_over(sha: str, *, is_due: bool) -> None:
    """The lease outweighs the card, which then has to be set; beside another's lease it says who has it."""
    made = record(memory={"ownership.lease": "a" * 40, "card.agent": AGENT})
    observed = observation(item=replace(ITEM, agent="b-1"), hold=Hold(42, sha, "b-1"))
    after = decide.apply_observation(made, observed, NOW)
    assert (after.ownership.taken_by, card_and_link.is_unsynced(seen(after))) == (
        "" if is_due else "b-1",
        is_due,
    )


@pytest.mark.parametrize(
    ("before", "item", "leaves", "after"),
    [
        ("labels/42", ITEM, False, {"leaves_labels": True, "synced": None, "agent": AGENT}),
        (
            "labels/42",
            replace(ITEM, agent=""),
            False,
            {"leaves_labels": True, "synced": None, "agent": None},
        ),
        (
            "labels/42",
            LABELS,
            False,
            {"leaves_labels": False, "synced": "In Progress", "agent": AGENT},
        ),
        (
            "PVTI_lADOBx",
            LABELS,
            False,
            {"leaves_labels": False, "synced": "In Progress", "agent": AGENT},
        ),
        (
            "PVTI_lADOBx",
            LABELS,
            True,
            {"leaves_labels": False, "synced": "In Progress", "agent": AGENT},
        ),
        (
            "PVTI_lADOBx",
            ITEM,
            True,
            {"leaves_labels": True, "synced": "In Progress", "agent": AGENT},
        ),
    ],
)
def test_a_change_between_board_and_labels_begins_anew(
    before: str, item: BoardItem, leaves: bool, after: dict[str, Any]
) -> None:
    """What was written to one says nothing of the other; a card that takes their place is written once."""
    made = learned(item, {"card.leaves_labels": leaves, "card.agent": AGENT}, item_id=before)
    assert made.card.leaves_labels is after["leaves_labels"]
    assert made.claim.last_synced_status == after["synced"]
    assert made.card.agent == after["agent"]
    assert made.card.moved_to is None
    assert made.claim.item_id == item.id


def test_a_task_that_was_taken_while_its_label_goes_stays_taken() -> None:
    """Another's name on the card is seen by every look, also while the label is still to be taken off."""
    theirs = replace(ITEM, agent="maria-2")
    made = learned(theirs, {"card.leaves_labels": True, "card.agent": AGENT})
    assert (made.card.agent, made.ownership.taken_by) == (AGENT, "maria-2")
    assert card_and_link.apply_card(made, observation(item=theirs)).ownership.taken_by == "maria-2"


def test_a_card_is_written_once_it_was_seen() -> None:
    """Until then what there is to say of the board is said; a claim without an agent writes none."""
    behind: dict[str, Any] = {"status": "In Review"}
    unseen = record(**behind, memory={"card.is_known": False})
    step = card_and_link.card_step(
        seen(unseen, observed=observation(board_note="Labels stand in its place."))
    )
    assert (step.action, [notice.key for notice in step.notices]) == (
        None,
        ["board-note:Labels stand in its place."],
    )
    nobodys = record(**behind, agent_id="", memory={"card.agent": None})
    action = card_and_link.card_step(seen(nobodys, observed=observation())).action
    assert action == SetBoard("PVTI_lADOBx", "In Review", None)


def test_where_board_and_labels_change_places_no_move_is_seen() -> None:
    """The status is that of another thing; what was written there is forgotten."""
    made = learned(replace(LABELS, status="Blocked"))
    assert (made.card.moved_to, made.claim.last_synced_status) == (None, None)


@pytest.mark.parametrize("known", [True, False])
def test_another_boards_card_is_kept_as_one_that_nobody_wrote(*, known: bool) -> None:
    """Whatever it says was not moved or taken, and frees no task."""
    for item in (BoardItem("PVTI_other", "Todo", None), BoardItem("PVTI_other", "Todo", "b-1")):
        before = record(memory={"card.agent": AGENT, "card.is_known": known, "is_taken": True})
        shown = observation(item=item, issue=issue(assignees=()))
        made = decide.apply_observation(before, shown, NOW)
        assert (made.is_lost, made.card.moved_to) == (False, None)
        again = decide.apply_observation(Record.from_json(made.as_json()), shown, NOW)
        step = card_and_link.card_step(seen(again, observed=shown))
        assert step.action == SetBoard("PVTI_other", "In Progress", AGENT)
        assert step.notices == ()


@pytest.mark.parametrize(
    ("changes", "memory", "shown", "action", "keys"),
    [
        ({}, {}, {}, None, []),
        ({"status": "Todo"}, {}, {}, ("Todo", None), []),
        ({"status": "In Review"}, {"ending.issue_closed": True}, {}, None, []),
        ({}, {"card.agent": ""}, {}, (None, AGENT), []),
        ({"status": "Todo"}, {"card.agent": None}, {}, ("Todo", AGENT), []),
        ({"status": "Todo"}, {"card.is_known": False}, {}, None, []),
        ({"status": "Todo"}, {"card.moved_to": "Blocked"}, {}, None, ["moved:PVTI_lADOBx:Blocked"]),
        ({}, {"card.moved_to": "Blocked"}, {}, None, ["moved:PVTI_lADOBx:Blocked"]),
        ({"status": "In Review"}, {"card.moved_to": "In review"}, {}, None, []),
        (
            {},
            {"card.moved_to": "Blocked"},
            {"issue": issue(is_open=False)},
            None,
            ["moved:PVTI_lADOBx:Blocked"],
        ),
        ({}, {"card.moved_to": "Done"}, {}, None, ["moved:PVTI_lADOBx:Done"]),
        ({}, {"card.moved_to": "done"}, {"issue": issue(is_open=False)}, None, []),
        ({}, {"card.moved_to": "Done", "ending.issue_closed": True}, {"issue": None}, None, []),
        ({}, {"card.moved_to": "In review"}, {"by_branch": (pull(),)}, None, []),
        (
            {},
            {"card.moved_to": "In Review"},
            {"by_branch": (pull(state=PullState.CLOSED),)},
            None,
            ["moved:PVTI_lADOBx:In Review"],
        ),
        ({}, {}, {"board_problem": "No scope."}, None, ["board:No scope."]),
        ({"status": "Todo"}, {}, {"board_note": "Labels."}, ("Todo", None), ["board-note:Labels."]),
        ({"status": "Todo"}, {}, {"item": None}, None, ["off-board:42"]),
        (
            {"status": "Todo"},
            {},
            {"item": replace(ITEM, is_archived=True)},
            None,
            ["archived:PVTI_lADOBx"],
        ),
    ],
)
def test_the_card_follows_the_claim_where_nobody_moved_it(
    changes: dict[str, Any],
    memory: dict[str, Any],
    shown: dict[str, Any],
    action: tuple[str | None, str | None] | None,
    keys: list[str],
) -> None:
    """Only what differs is written; what keeps it from that is told to the person.

    A card that somebody moved to where the claim wants it by now is no news, nor is In Review where a sweep
    opened a draft of the branch, say.
    """
    start = seen(record(**changes, memory=memory), observed=observation(**{"item": ITEM, **shown}))
    step = card_and_link.card_step(start)
    assert step.action == (SetBoard("PVTI_lADOBx", *action) if action else None)
    assert [(one.key, one.audience) for one in step.notices] == [
        (key, Audience.NOTE) for key in keys
    ]
    without = card_and_link.card_step(replace(start, has_board=False))
    assert without.action is None
    assert not [one for one in without.notices if one.key.startswith("board")]
    if action:
        trouble = Trouble(mark_of(SetBoard("PVTI_lADOBx", *action)), "no", NOW + 1)
        held = replace(start, record=replace(start.record, troubles={"SetBoard": trouble}))
        assert card_and_link.card_step(held).action is None
    if not shown:
        assert card_and_link.card_step(replace(start, observation=None)) == step


def test_a_moved_label_is_called_a_label() -> None:
    """And a card a card."""
    for item_id, word in (("labels/42", "label"), ("PVTI_lADOBx", "card")):
        start = seen(record(item_id=item_id, memory={"card.moved_to": "Blocked"}))
        (notice,) = card_and_link.card_step(start).notices
        assert word in notice.text
        assert "Blocked" in notice.text


def test_an_issue_without_a_card_is_put_on_the_board_once() -> None:
    """Only one that never had a card, and not while that is held back."""
    shown = observation(item=None, board_note="Note.")
    start = seen(record(item_id="", status="Todo"), observed=shown)
    action = AddToBoard(42, "I_42")
    step = card_and_link.card_step(start)
    assert step.action == action
    assert [one.key for one in step.notices] == ["board-note:Note."]
    trouble = Trouble(mark_of(action), "no", NOW + 1)
    held = replace(start, record=replace(start.record, troubles={"AddToBoard": trouble}))
    assert card_and_link.card_step(held).action is None
    hidden = card_and_link.card_step(replace(start, observation=observation(issue=None, item=None)))
    assert (hidden.action, hidden.notices) == (None, ())  # that it is gone is said elsewhere


@each_row(
    ("name", "value", "shown", "is_accepted"),
    [
        ("pr_number", 107, {"by_number": pull()}, True),
        ("pr_number", 107, {"by_number": None}, False),
        ("pr_number", 107, {"by_number": pull(head_owner="mallory")}, False),
        ("issue_number", 7, {}, False),
        ("issue_number", 7, {"item": None}, False),
        ("issue_number", 7, {"by_branch": (pull(body="Refs #7"),)}, False),
        ("issue_number", "7", {}, False),
        ("item_id", "PVTI_lADOBx", {}, True),
        ("item_id", "other", {}, False),
        ("item_id", "PVTI_lADOBx", {"item": None}, False),
        ("agent_id", AGENT, {}, True),
        ("agent_id", "b-1", {}, False),
        ("agent_id", [1, {"a": 2}], {}, False),
        ("agent_id", AGENT, {"item": None}, False),
        ("last_synced_status", "In Progress", {}, True),
        ("last_synced_status", "Todo", {}, False),
        ("last_synced_status", "Todo", {"item": None}, False),
        ("last_check_poll", "x", {}, False),
        ("schema_version", 2, {}, False),
    ],
)
def test_an_edit_of_the_engines_fields_counts_if_github_bears_it_out(
    name: str, value: object, shown: dict[str, Any], is_accepted: bool
) -> None:
    """Else the agent is told what is kept, but for bookkeeping."""
    start = seen(
        record(pr_number=99), observed=observation(**{"item": ITEM, **shown}), hints={name: value}
    )
    after, notices = decide.judge_hints(start)
    accepted = {name: value} if is_accepted else {}
    assert after.values == {**start.record.values, **accepted}
    is_silent = name in ("last_check_poll", "last_synced_status", "item_id", "schema_version")
    kept = start.record.values.get(name)
    told = [] if is_accepted or is_silent else [(f"hint:{name}:{value}:{kept}", Audience.ACT)]
    assert [(one.key, one.audience) for one in notices] == told
    for notice in notices:
        refused = "hint-undone" if kept in (None, "") else "hint-refused"
        words = "issue-kept" if name == "issue_number" else refused
        assert notice.text == message(words, name=name, value=str(value), kept=kept)
    assert decide.judge_hints(replace(start, observation=None))[0] == start.record


def test_an_accepted_edit_is_taken_as_it_is() -> None:
    """The claim keeps its card and its lease."""
    made = record(memory={"card.agent": AGENT, "ownership.lease": "abc"})
    start = seen(made, observed=observation(by_number=pull()), hints={"pr_number": 107})
    assert decide.judge_hints(start)[0] == made.with_values({"pr_number": 107})


def going(*, memory: dict[str, Any] | None = None, **changes: Any) -> Any:
    """A release that was begun and has told the issue."""
    done = {"ending.releasing": ASKED, "ending.comment_done": True, "ending.unassigned": True}
    return record(**{"status": "Todo", **changes}, memory={**done, **(memory or {})})


@each_row(
    ("item", "memory", "shown", "board"),
    [
        ({}, {}, {}, ("Todo", True)),
        ({"agent": ""}, {}, {}, ("Todo", False)),
        ({"status": "Todo"}, {}, {}, (None, True)),
        ({"status": "Todo", "agent": ""}, {}, {}, None),
        ({"status": "Todo", "agent": ""}, {"card.leaves_labels": True}, {}, ("Todo", False)),
        ({"status": "Todo"}, {"card.leaves_labels": True}, {}, ("Todo", True)),
        ({"status": "Blocked"}, {"card.moved_to": "Blocked"}, {}, (None, True)),
        ({"status": "Blocked", "agent": ""}, {"card.moved_to": "Blocked"}, {}, None),
        (
            {"status": "Blocked", "agent": ""},
            {"card.moved_to": "Blocked", "card.leaves_labels": True},
            {},
            (None, False),
        ),
        ({}, {}, {"issue": issue(is_open=False)}, (None, True)),
        ({"agent": "b-1"}, {}, {}, None),
        ({"is_archived": True}, {}, {}, None),
        ({}, {"ending.board_done": True}, {}, None),
        ({}, {}, {"board_problem": "No scope."}, None),
        ({}, {}, {"item": None}, None),
    ],
)
def test_a_release_frees_the_card_that_the_claim_had(
    item: dict[str, Any],
    memory: dict[str, Any],
    shown: dict[str, Any],
    board: tuple[str | None, bool] | None,
) -> None:
    """What somebody moved stays where it is, without our name; another agent's card is not touched."""
    observed = observation(**{"item": replace(ITEM, **item), **shown})
    action = releasing.decide(seen(going(memory=memory), observed=observed)).action
    expected = SetBoard("PVTI_lADOBx", board[0], None, clear_agent=board[1]) if board else None
    assert (action if isinstance(action, SetBoard) else None) == expected


@pytest.mark.parametrize(
    ("status", "synced", "is_moved"),
    [
        ("In Progress", None, True),
        ("In Review", None, True),
        (None, None, True),
        ("", None, True),
        ("Blocked", None, False),
        ("Blocked", "In Progress", True),
    ],
)
def test_a_card_that_was_never_written_is_moved_only_from_where_claims_stand(
    status: str | None, synced: str | None, is_moved: bool
) -> None:
    """Blocked is somebody's, unless it is known what the claim wrote."""
    observed = observation(item=replace(ITEM, status=status))
    step = releasing.decide(seen(going(last_synced_status=synced), observed=observed))
    assert isinstance(step.action, SetBoard)
    assert step.action.status == ("Todo" if is_moved else None)


@pytest.mark.parametrize(
    ("item", "memory", "shown", "changes", "sentence"),
    [
        ({"status": "Todo", "agent": ""}, {}, {}, {}, "Board → Todo."),
        ({"status": "Todo", "agent": ""}, {}, {}, {"item_id": "labels/42"}, "Status label → Todo."),
        ({}, {}, {"board_problem": "No scope."}, {}, "The board was not set to Todo: No scope."),
        (
            {},
            {},
            {"item": None},
            {},
            "The board was not set to Todo: Issue #42 is not on project 1",
        ),
        (
            {"is_archived": True},
            {},
            {},
            {},
            "The board was not set to Todo: The card of #42 on project 1",
        ),
        ({"agent": "b-1"}, {}, {}, {}, "b-1"),
        (
            {"status": "Blocked", "agent": ""},
            {"card.moved_to": "Blocked"},
            {},
            {},
            '"Blocked"',
        ),
        (
            {"id": "labels/42", "status": "Blocked", "agent": ""},
            {"card.moved_to": "Blocked"},
            {},
            {"item_id": "labels/42"},
            'The Status label stays "Blocked"',
        ),
    ],
)
def test_the_end_of_a_release_says_what_became_of_the_card(
    item: dict[str, Any],
    memory: dict[str, Any],
    shown: dict[str, Any],
    changes: dict[str, Any],
    sentence: str,
) -> None:
    """To the person, once, with the moment of the release in its key."""
    observed = observation(**{"item": replace(ITEM, **item), **shown})
    step = releasing.decide(seen(going(memory=memory, **changes), observed=observed))
    (notice,) = step.notices
    assert sentence in notice.text
    assert (notice.key, notice.audience) == (f"given-back:{int(NOW) - 5}", Audience.NOTE)


def test_a_lease_that_stays_is_told_with_the_end() -> None:
    """And a card that could not be written, with why."""
    troubles = {
        "ReleaseLease": Trouble("m", "The push was refused.", NOW, is_final=True),
        "SetBoard": Trouble("m", "No such option.", NOW, is_final=True),
    }
    observed = observation(item=replace(ITEM, status="Todo", agent=""))
    for item_id, what in (("PVTI_lADOBx", "board"), ("labels/42", "Status label")):
        made = going(memory={"troubles": troubles}, item_id=item_id)
        (notice,) = releasing.decide(seen(made, observed=observed)).notices
        assert "The push was refused." in notice.text
        assert f"The {what} was not set to Todo: No such option." in notice.text
    start = seen(going(), observed=observed)
    start = replace(start, has_board=False)
    (notice,) = releasing.decide(start).notices
    assert "No board is configured." in notice.text


@pytest.mark.parametrize(
    ("bodies", "told"),
    [
        ([], None),
        (["words"], None),
        (["x\n\n{5}"], 5),
        (["{5}  \n", "{9}", "{7}"], 9),
        (["{5}\nbehind it"], None),
        (["> {5}"], None),
        (["", "{3}"], 3),
    ],
)
def test_the_newest_release_of_an_agent_is_found_by_its_marker(
    bodies: list[str], told: int | None
) -> None:
    """Only as the last line, and only of this agent and issue."""

    def body(text: str, by: str = AGENT, number: int = 42) -> str:
        for digit in "3579":
            mark = f"<!-- lifecycle:released issue={number} by={by} at={digit} -->"
            text = text.replace(f"{{{digit}}}", mark)
        return text

    shown = issue(comments=tuple(comment(body(text)) for text in bodies))
    assert derive.told_at(shown, AGENT) == told
    for other in (body("{9}", by="b-1"), body("{9}", number=7)):
        assert derive.told_at(issue(comments=(comment(other),)), AGENT) is None
    assert derive.told_at(issue(comments=None), AGENT) is None


@pytest.mark.parametrize(
    ("shown", "memory", "unassigned", "board"),
    [
        ({}, {}, True, False),
        ({"issue": issue(assignees=("Edouard",))}, {}, False, False),
        ({"issue": issue(assignees=("maria",))}, {}, True, False),
        ({"issue": None}, {}, False, False),
        ({"item": replace(ITEM, status="todo", agent="")}, {}, True, True),
        ({"item": replace(ITEM, status="Todo")}, {}, True, False),
        ({"item": replace(ITEM, agent="")}, {}, True, False),
        (
            {"item": replace(ITEM, status="Todo", agent="")},
            {"card.leaves_labels": True},
            True,
            False,
        ),
        ({"item": None}, {}, True, False),
    ],
)
def test_steps_of_a_release_that_github_shows_are_done(
    shown: dict[str, Any], memory: dict[str, Any], unassigned: bool, board: bool
) -> None:
    """Once it was begun; before that, what others did is theirs."""
    begun = record(memory={"ending.releasing": ASKED, **memory})
    observed = observation(**{"item": ITEM, **shown})
    ending = releasing.apply_observation(begun, observed, NOW).ending
    assert (ending.unassigned, ending.board_done) == (unassigned, board)
    asked = record(memory={"ending.releasing": replace(ASKED, is_begun=False), **memory})
    assert releasing.apply_observation(asked, observed, NOW) == asked
    assert releasing.apply_observation(record(), observed, NOW) == record()


def test_a_merge_ends_the_release_before_it_began() -> None:
    """The agent is told, and the claim goes on; one that was begun is carried through."""
    merged = observation(item=ITEM, by_branch=(pull(state=PullState.MERGED),))
    asked = record(memory={"ending.releasing": replace(ASKED, is_begun=False)})
    step = releasing.decide(seen(asked, observed=merged))
    assert step.record is not None
    assert step.record.ending.releasing is None
    (notice,) = step.notices
    assert (notice.key, notice.audience) == (f"not-given-back:{int(NOW) - 5}", Audience.ACT)
    assert releasing.decide(seen(going(), observed=merged)).action is not None
    first = releasing.decide(seen(asked, observed=observation(item=ITEM)))
    assert set_by(first) == {"status": "Todo"}
    assert first.record is not None
    assert first.record.ending.releasing == ASKED
    again = releasing.decide(seen(going(status="Blocked"), observed=observation(item=ITEM)))
    assert set_by(again) == {"status": "Todo"}


def test_from_afar_the_lease_goes_first_if_there_is_one() -> None:
    """It alone tells that nobody took the task up meanwhile; where it cannot be ended, nothing is done."""
    fresh = {"ending.comment_done": False, "ending.unassigned": False}
    observed = observation(issue=issue(comments=()), item=ITEM)
    for lease, kind in (("abc", "ReleaseLease"), ("", "PostComment")):
        made = going(memory={**fresh, "ownership.lease": lease})
        for wake, first in ((Wake.SWEEP, kind), (Wake.STOP, "PostComment")):
            action = releasing.decide(seen(made, observed=observed, wake=wake)).action
            assert type(action).__name__ == first
    ended = going(memory={**fresh, "ownership.lease": "abc", "ending.lease_done": True})
    step = releasing.decide(seen(ended, observed=observed, wake=Wake.SWEEP))
    assert type(step.action).__name__ == "PostComment"


def test_a_card_without_a_status_is_left_as_it_is_where_the_issue_is_closed() -> None:
    """The last sentence names no status then."""
    observed = observation(issue=issue(is_open=False), item=replace(ITEM, status=None, agent=""))
    (notice,) = releasing.decide(seen(going(), observed=observed)).notices
    assert '""' in notice.text
    assert "None" not in notice.text


@pytest.mark.parametrize("link", [None, Link("beads", "bd-1", "claimed")])
def test_whose_task_it_is_by_now_keeps_it_and_the_linked_one_is_freed(link: Link | None) -> None:
    """First the lease, then the linked task, then the file; with who holds it told."""
    memory: dict[str, Any] = {
        "ownership.taken_by": "b-1",
        "linked.link": link,
        "ownership.lease": "abc",
    }
    observed = observation(item=replace(ITEM, agent="b-1"))
    lease = releasing.decide(seen(going(memory=memory), observed=observed))
    assert lease.action == ReleaseLease(42, "abc")
    memory["ending.lease_done"] = True
    step = releasing.decide(seen(going(memory=memory), observed=observed))
    if link:
        assert step.action == SetLinked("beads", "bd-1", "released")
    else:
        assert step.action == ForgetClaim()
        assert "b-1" in step.notices[0].text
    held = {**memory, "ownership.taken_by": "", "ending.lease_done": False}
    held["ending.releasing"] = replace(ASKED, holder="c-1")
    step = releasing.decide(seen(going(memory={**held, "linked.link": None}), observed=observed))
    assert step.action == ForgetClaim()
    assert "c-1" in step.notices[0].text
