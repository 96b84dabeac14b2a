"""Each step of closing on values alone: what is accepted, the comment, the card, the last sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.decide import apply_observation
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.record.sections import Intent, MergeRecord, Trouble
from lifecycle.claim.record.state import BEST_EFFORT_TRIES, Record, fold, mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.plan import (
    Audience,
    BoardIs,
    CloseIssue,
    ForgetClaim,
    PostComment,
    ReleaseLease,
    SetBoard,
    Wake,
)
from lifecycle.core.plan import Done as Happened
from lifecycle.core.values.model import BoardItem, Comment, PullState
from tests.claim.steps import DONE, ITEM, MERGED, set_by
from tests.claim.steps import closing as shown_closing
from tests.factories import NOW, SHA, comment, issue, observation, pull, record, seen, texts, values

ENDED: dict[str, Any] = {"ending.comment_done": True, "ending.issue_closed": True}
CLOSED = observation(issue=issue(is_open=False, comments=()), by_number=MERGED, item=ITEM)

NOT_THERE = (
    "The board was not set to Done: Issue #42 is not on project 1 (if there is such a project), so its "
    "Status is not updated; issue and PR are not affected. Add the issue to the project on GitHub, or "
    "correct the project's number."
)


def at_end(
    *, memory: dict[str, Any] | None = None, observed: Any = None, **changes: Any
) -> Snapshot:
    """A claim whose issue is closed and commented, and what is left is the card and the file."""
    values = {**DONE, "status": "Done", "last_synced_status": "Done", **changes}
    made = record(**values, memory={**ENDED, **(memory or {})})
    return seen(made, observed=observed or CLOSED)


def action_of(made: Snapshot) -> Any:
    """The next step's action."""
    return closing.decide(made).action


def told(made: Snapshot) -> str:
    """What the last step says; that it is the last one is checked."""
    step = closing.decide(made)
    assert step.action == ForgetClaim()
    (notice,) = step.notices
    assert (notice.key, notice.audience) == ("issue-closed:107", Audience.NOTE)
    return notice.text


def refusing(action: Any, **changes: Any) -> dict[str, Any]:
    """The memory of an action that failed."""
    trouble = replace(Trouble(mark_of(action), "no such option", NOW + 60), **changes)
    return {"troubles": {type(action).__name__: trouble}}


@pytest.mark.parametrize(
    ("before", "shown", "status", "set_to"),
    [
        ("checks_running", pull(), "Done", "In Review"),
        ("checks_running", pull(), "In Review", None),
        ("checks_running", pull(), "Todo", None),
        ("pr_created", pull(), "Todo", None),
        ("coding", pull(), "In Progress", "In Review"),
        ("ready_for_pr", pull(), "In Progress", "In Review"),
        ("pr_closed", pull(), "In Progress", "In Review"),
        ("checks_running", pull(state=PullState.CLOSED), "Done", "In Progress"),
        ("checks_running", pull(state=PullState.CLOSED), "In Review", "In Progress"),
        ("checks_running", pull(state=PullState.CLOSED), "Blocked", None),
        ("pr_closed", pull(state=PullState.CLOSED), "Todo", None),
        ("coding", None, "Done", "In Progress"),
        ("coding", None, "Todo", None),
    ],
)
def test_a_refused_done_leaves_the_status_of_what_github_shows(
    before: str, shown: Any, status: str, set_to: str | None
) -> None:
    """Done on the card is taken back, and a pull request counts that no look had seen open or closed.

    Else a status that somebody chose stays; the claim goes on from there.
    """
    phase = derive.phase_of(shown)
    fields = {"phase": phase.value, "status": set_to, "pr_number": shown and shown.number}
    fields = {name: value for name, value in fields.items() if value is not None}
    past = {"past": (values(phase=before), values(phase="merged_detected"), values(**DONE))}
    memory = {"ending.consent": "close", **past}
    made = record(**{**DONE, "status": status}, memory=memory)
    step = closing.decide(seen(made, observed=observation(by_number=shown)))
    assert step.record is not None
    assert step.record.values == {**made.values, **fields}
    assert (step.record.judged, step.record.ending.consent) == (fields["phase"], "")
    (notice,) = step.notices
    number = shown.number if shown else 0
    assert notice.key == f"done-refused:{number}:{fields['phase']}"
    assert (notice.audience, notice.stands, step.action) == (Audience.ACT, True, None)


@pytest.mark.parametrize(
    ("shown", "branch", "why"),
    [
        (None, "b", "GitHub shows no merged PR for branch b"),
        (None, "", "GitHub shows no merged PR for branch (none)"),
        (pull(), "b", "PR #107 is still open"),
        (pull(state=PullState.CLOSED), "b", "PR #107 is closed without a merge"),
    ],
)
def test_why_done_is_refused_is_what_github_shows(shown: Any, branch: str, why: str) -> None:
    """In one clause."""
    assert closing.why_not_merged(shown, branch) == why


def test_a_pull_request_that_an_override_leaves_open_is_named() -> None:
    """In the last sentence; after the merge none is open."""
    by_person = {"ending.override": "elsewhere", "ending.board_done": True}
    observed = replace(CLOSED, by_number=pull())
    assert told(at_end(memory=by_person, observed=observed)).endswith(" PR #107 stays open.")
    by_itself = (MergeRecord(queued=SHA), MergeRecord(auto_on=SHA), MergeRecord(is_ours=True))
    for merging in by_itself:
        memory = {**by_person, "pull.merging": merging}
        said = told(at_end(memory=memory, observed=observed))
        assert " PR #107 stays open, and GitHub merges it by itself (merge queue or" in said
    assert "open" not in told(at_end(memory={"ending.board_done": True}))


def test_nothing_is_decided_without_a_look() -> None:
    """What GitHub shows is what closing goes by."""
    assert closing.decide(seen(record(**DONE))) == Decision()


def test_what_is_accepted_is_kept_before_anything_is_written() -> None:
    """Status, number and address of the merge; an override has nothing to override any more."""
    memory = {"ending.override": "done elsewhere", "judged": "merged_detected"}
    made = record(**{**DONE, "pr_number": None}, memory=memory)
    step = closing.decide(seen(made, observed=observation(by_branch=(MERGED,))))
    assert set_by(step) == {"status": "Done", "pr_number": 107}
    assert step.record is not None
    assert (step.record.judged, step.record.ending.override) == ("done", "")
    assert step.record.pull.url == MERGED.url
    assert step.action is None
    number_alone = record(**{**DONE, "status": "Done", "pr_number": 8})
    assert set_by(closing.decide(seen(number_alone, observed=observation(by_branch=(MERGED,)))))
    override_alone = record(**{**DONE, "status": "Done"}, memory={"ending.override": "elsewhere"})
    step = closing.decide(seen(override_alone, observed=shown_closing()))
    assert (step.record or override_alone).ending.override == ""
    assert step.action is None


def test_an_override_without_a_pull_request_keeps_what_is_known() -> None:
    """The address of one that GitHub does not show any more stays."""
    memory = {"ending.override": "elsewhere", "pull.url": "u"}
    made = record(**{**DONE, "pr_number": None}, memory=memory)
    step = closing.decide(seen(made, observed=observation()))
    assert set_by(step) == {"status": "Done"}
    assert step.record is not None
    assert (step.record.pull.url, step.record.ending.override) == ("u", "elsewhere")


def test_an_issue_that_cannot_be_read_is_not_closed() -> None:
    """The agent is told, while that lasts; one that was closed already is not needed any more."""
    made = record(**{**DONE, "status": "Done"})
    step = closing.decide(seen(made, observed=observation(issue=None, by_number=MERGED)))
    (notice,) = step.notices
    assert (notice.key, notice.audience, notice.stands) == (
        "no-such-issue:42",
        Audience.ACT,
        True,
    )
    assert step.action is None
    gone = at_end(observed=observation(issue=None, by_number=MERGED))
    assert action_of(gone) == SetBoard(gone.observation.item.id, "Done", None, clear_agent=True)  # type: ignore[union-attr]  # it is shown


@pytest.mark.parametrize(
    ("shown", "phase", "closed", "board"),
    [
        ({"issue": issue(is_open=False)}, "done", True, True),
        ({"issue": issue()}, "done", False, True),
        ({"issue": issue(is_open=False), "item": ITEM}, "done", True, False),
        ({"issue": issue(is_open=False), "item": None}, "done", True, False),
        ({"issue": None}, "done", False, False),
        ({"issue": issue(is_open=False)}, "merged_detected", True, False),
    ],
)
def test_steps_that_github_shows_need_not_be_taken(
    shown: dict[str, Any], phase: str, closed: bool, board: bool
) -> None:
    """A closed issue, also before anybody says yes; a card that says Done and names no agent."""
    card = replace(ITEM, status="done", agent="")
    made = record(**{**DONE, "phase": phase})
    ending = apply_observation(made, observation(**{"item": card, **shown}), NOW).ending
    assert (ending.issue_closed, ending.board_done) == (closed, board)


@pytest.mark.parametrize(
    ("status", "agent", "leaves_labels", "is_done"),
    [
        ("Done", "", False, True),
        ("Done", "", True, False),
        ("Done", "edouard", False, False),
        ("Todo", "", False, False),
    ],
)
def test_the_card_is_done_when_it_says_so_and_nobody_has_it(
    status: str, agent: str, leaves_labels: bool, is_done: bool
) -> None:
    """A card that took the place of labels is written once before it counts."""
    card = replace(ITEM, status=status, agent=agent)
    made = record(**DONE, memory={"card.leaves_labels": leaves_labels})
    shown = observation(item=card)
    assert closing.apply_observation(made, shown, NOW).ending.board_done is is_done


def test_a_comment_that_just_failed_waits_for_another_look() -> None:
    """Nothing is resent within one look, whatever is known of the failure."""
    made = replace(seen(record(**DONE), observed=CLOSED), failed=frozenset({"PostComment"}))
    assert closing.comment_step(made, closing.comment_of(made.record)) == NOTHING


def test_counting_a_read_leaves_what_else_is_known() -> None:
    """Other creates whose outcome is unknown, and other failures, stay."""
    intents = {"PostComment": Intent("m", NOW), "OpenPullRequest": Intent("o", NOW)}
    trouble = Trouble("b", "no such option", NOW + 60)
    made = record(**DONE, memory={"intents": intents, "troubles": {"SetBoard": trouble}})
    after = closing.comment_missed(made, CLOSED, NOW)
    assert after.intents["OpenPullRequest"] == intents["OpenPullRequest"]
    assert after.intents["PostComment"].clean_reads == 1
    assert after.troubles["SetBoard"] == trouble
    assert set(after.troubles) == {"SetBoard", "PostComment"}


def test_a_read_without_the_comment_is_counted() -> None:
    """Only what was about to be sent is missed."""
    made = record(**DONE, memory={"intents": {"PostComment": Intent("m", NOW)}})
    after = closing.apply_observation(made, shown_closing(), NOW)
    assert after.intents["PostComment"].clean_reads == 1


@pytest.mark.parametrize(
    ("changes", "memory", "first", "marker"),
    [
        ({}, {}, "Completed in #107", "issue=42 pr=107 by=edouard-1738000000"),
        ({"pr_number": None}, {}, "Completed in #0", "issue=42 pr=0 by=edouard-1738000000"),
        (
            {"pr_number": None},
            {"ending.override": "elsewhere"},
            "Closed without a merged pull request, by explicit override: elsewhere",
            "issue=42 pr=0 by=edouard-1738000000",
        ),
    ],
)
def test_the_comment_names_the_pull_request_and_the_claim(
    changes: dict[str, Any], memory: dict[str, Any], first: str, marker: str
) -> None:
    """To people in its first line, to the next run in the hidden marker."""
    posted = closing.comment_of(record(**{**DONE, **changes}, memory=memory))
    assert posted.body.splitlines() == [first, "", posted.marker]
    assert posted.marker == f"<!-- lifecycle:completed {marker} -->"
    assert posted.issue == 42


def test_the_order_is_comment_issue_card_lease_file() -> None:
    """Each waits for the one before it, and is not begun while it is held back."""
    lease = {"ownership.lease": "abc"}
    done = {**DONE, "status": "Done"}
    start = seen(record(**done, memory=lease), observed=shown_closing())
    assert isinstance(action_of(start), PostComment)
    commented = record(**done, memory={**lease, "ending.comment_done": True})
    assert action_of(seen(commented, observed=shown_closing())) == CloseIssue(42)
    held = record(**done, memory={**lease, "ending.comment_done": True, **refusing(CloseIssue(42))})
    assert closing.decide(seen(held, observed=shown_closing())) == Decision()
    board = action_of(at_end(memory=lease))
    assert board == SetBoard("PVTI_lADOBx", "Done", None, clear_agent=True)
    assert closing.decide(at_end(memory={**lease, **refusing(board)})) == Decision()
    on_card = {**lease, "ending.board_done": True}
    assert action_of(at_end(memory=on_card)) == ReleaseLease(42, "abc")
    assert action_of(at_end(memory={**on_card, "ending.lease_done": True})) == ForgetClaim()


@pytest.mark.parametrize(
    ("by", "changes", "is_told"),
    [
        ("completed issue=42 pr=107 by=sam-1", {"is_open": False}, True),
        ("completed issue=42 pr=107:reopened by=sam-1", {"is_open": False}, True),
        ("completed issue=42 pr=10 by=sam-1", {"is_open": False}, False),
        ("completed issue=42 pr=107 by=sam-1", {"is_open": True}, True),
        ("completed issue=42 pr=10 by=sam-1", {"is_open": True}, False),
        ("completed issue=42 pr=107 by=sam-1", {"is_open": True, "reopened_at": NOW}, False),
    ],
)
def test_what_another_claim_told_of_the_merge_is_not_told_again(
    by: str, changes: dict[str, Any], *, is_told: bool
) -> None:
    """Who had the task closed it with the same pull request, or was cut off; one open again is told."""
    said = comment(hidden_marker.signed("Completed in #107", f"<!-- lifecycle:{by} -->"))
    shown = replace(CLOSED, issue=issue(comments=(said,), **changes))
    said_of_none = comment("<!-- lifecycle:completed issue=42 pr=0 by=sam-1 -->")
    memory = {"ending.comment_done": False, "ending.issue_closed": not changes["is_open"]}
    assert isinstance(action_of(at_end(memory=memory, observed=shown)), PostComment) is not is_told
    shown = replace(shown, issue=issue(is_open=False, comments=(said_of_none,)), by_number=None)
    why = {"ending.comment_done": False, "ending.override": "elsewhere"}
    assert isinstance(action_of(at_end(memory=why, observed=shown, pr_number=None)), PostComment)


def test_whoever_takes_back_what_was_said_twice_leaves_the_oldest() -> None:
    """Of the closing comments of one merge the first stays, whoever wrote it; all others are left alone."""
    by = {3: "sam-1", 1: "octocat-1", 2: "octocat-1"}
    told = [
        Comment(n, f"Completed\n\n<!-- lifecycle:completed issue=42 pr=107 by={by[n]} -->")
        for n in by
    ]
    others = [
        Comment(0, "Thanks!"),
        Comment(4, "> <!-- lifecycle:completed issue=42 pr=107 by=octocat-1 -->\nWhy?"),
        Comment(5, "<!-- lifecycle:completed issue=42 pr=10 by=octocat-1 -->"),
        Comment(6, "<!-- lifecycle:released issue=42 by=octocat-1 at=1 -->"),
    ]
    made = record(**DONE)
    assert closing.surplus(made, [*told, *others]) == [2, 3]
    assert closing.surplus(made, [told[0], *others]) == []
    by_hand = record(memory={"ending.override": "Done by hand"}, **{**DONE, "pr_number": None})
    earlier = [replace(one, body=one.body.replace("pr=107", "pr=0")) for one in told]
    assert closing.surplus(by_hand, earlier) == [], "an earlier claim's had a reason of its own"


def test_a_comment_that_reads_have_to_settle_keeps_the_file_alone() -> None:
    """Issue and card go on meanwhile."""
    waits = {"ending.comment_done": False, "ending.issue_closed": False}
    mark = closing.comment_of(record(**DONE)).marker
    waits["intents"] = {"PostComment": Intent(mark, NOW)}  # type: ignore[assignment]  # by name
    assert action_of(at_end(memory=waits)) == CloseIssue(42)
    assert isinstance(action_of(at_end(memory={**waits, "ending.issue_closed": True})), SetBoard)
    last = {**waits, "ending.issue_closed": True, "ending.board_done": True}
    assert closing.decide(at_end(memory=last)) == Decision()


@pytest.mark.parametrize(
    ("card", "memory", "shown", "board"),
    [
        ({}, {}, {}, ("Done", True)),
        ({"status": "Done"}, {}, {}, ("Done", True)),
        ({"agent": ""}, {}, {}, ("Done", False)),
        ({}, {"card.agent": ""}, {}, ("Done", False)),
        ({}, {"card.moved_to": "Todo"}, {}, (None, True)),
        ({}, {"card.moved_to": "Todo"}, {"issue": issue()}, ("Done", True)),
        ({}, {"card.moved_to": "Todo"}, {"issue": None}, ("Done", True)),
        ({"status": "done"}, {"card.moved_to": "Done"}, {}, ("Done", True)),
        ({"agent": ""}, {"card.moved_to": "Todo"}, {}, None),
        ({}, {"card.moved_to": "Todo", "card.agent": ""}, {}, None),
        ({}, {"ending.board_done": True}, {}, None),
        ({"is_archived": True}, {}, {}, None),
        ({}, {}, {"board_problem": "It cannot be read."}, None),
        ({}, {}, {"item": None}, None),
    ],
)
def test_the_card_becomes_done_and_loses_our_agent(
    card: dict[str, Any],
    memory: dict[str, Any],
    shown: dict[str, Any],
    board: tuple[str | None, bool] | None,
) -> None:
    """A card that somebody moved after the issue was closed stands; an agent that is not ours does, too."""
    observed = replace(CLOSED, **{"item": replace(ITEM, **card), **shown})
    action = action_of(at_end(memory=memory, observed=observed))
    if board is None:
        assert action == ForgetClaim()
    else:
        assert action == SetBoard("PVTI_lADOBx", board[0], None, clear_agent=board[1])


@pytest.mark.parametrize(
    ("trouble", "is_given_up"),
    [
        ({}, False),
        ({"tries": BEST_EFFORT_TRIES - 1}, False),
        ({"tries": BEST_EFFORT_TRIES}, True),
        ({"is_final": True}, True),
        ({"is_final": True, "mark": "another"}, False),
    ],
)
def test_the_card_keeps_no_claim_alive(trouble: dict[str, Any], is_given_up: bool) -> None:
    """Refused, or tried often enough, it is told and left."""
    board = SetBoard("PVTI_lADOBx", "Done", None, clear_agent=True)
    step = closing.decide(at_end(memory=refusing(board, **trouble)))
    assert (step.action == ForgetClaim()) is is_given_up


@pytest.mark.parametrize(
    ("memory", "shown", "changes", "sentence"),
    [
        ({"ending.board_done": True}, {}, {}, "Board → Done."),
        (
            {"ending.board_done": True},
            {},
            {"item_id": "labels/42"},
            "Status label → Done.",
        ),
        (
            {"card.moved_to": "Todo", "card.agent": ""},
            {},
            {},
            'The card stays in "Todo", as somebody left it.',
        ),
        (
            {"card.moved_to": "Todo", "card.agent": ""},
            {},
            {"item_id": "labels/42"},
            'The Status label stays "Todo", as somebody left it.',
        ),
        ({}, {"board_problem": "No scope."}, {}, "The board was not set to Done: No scope."),
        (
            {},
            {"item": replace(ITEM, is_archived=True)},
            {},
            (
                "The board was not set to Done: The card of #42 on project 1 is archived, so its Status is "
                "not updated; issue and PR are not affected. Restore the card on the board to have "
                "it updated again."
            ),
        ),
        (
            {},
            {"item": None},
            {},
            NOT_THERE,
        ),
    ],
)
def test_the_last_sentence_says_what_became_of_the_card(
    memory: dict[str, Any], shown: dict[str, Any], changes: dict[str, Any], sentence: str
) -> None:
    """In the words of the board, or of the labels that take its place."""
    made = at_end(memory=memory, observed=replace(CLOSED, **shown), **changes)
    assert told(made) == f"Issue #42 closed. {sentence} The claim file was deleted."


@pytest.mark.parametrize(
    ("item", "what"), [("PVTI_lADOBx", "board"), ("labels/42", "Status label")]
)
def test_why_the_card_was_not_set_is_told(item: str, what: str) -> None:
    """What GitHub said stands before what somebody did."""
    board = SetBoard("PVTI_lADOBx", "Done", None, clear_agent=True)
    memory = {**refusing(board, is_final=True), "card.moved_to": None}
    made = at_end(memory=memory, item_id=item)
    assert f"The {what} was not set to Done: no such option" in told(made)


def test_without_a_board_there_is_none_to_set() -> None:
    """Said as it is."""
    made = at_end()
    made = replace(made, has_board=False)
    assert told(made) == "Issue #42 closed. No board is configured. The claim file was deleted."
    assert isinstance(made.record, Record)
    assert texts(closing.decide(made)).endswith("deleted.")


def test_a_claim_without_an_issue_comments_on_none() -> None:
    """No issue has the number 0: a step that was built without one cannot hit another's."""
    assert closing.comment_of(record(**{**DONE, "issue_number": None})).issue == 0


def test_a_card_that_was_done_ahead_of_a_refused_closing_is_put_back() -> None:
    """To what it said before, once, and with its Agent; not while the closing can still be tried."""
    close = CloseIssue(42)
    shown = replace(shown_closing(), item=BoardItem(ITEM.id, "In Review", "a-1"))
    memory = {"ending.comment_done": True, "ending.board_done": True}
    made = record(**{**DONE, "status": "Done"}, memory=memory)
    assert action_of(seen(made, observed=shown)) == close
    made = replace(made, **refusing(close, is_final=True))
    step = closing.decide(seen(made, observed=shown))
    back = SetBoard(made.claim.item_id, "In Review", "a-1")
    assert step.action == back
    given_up = replace(made, **refusing(back, is_final=True))
    given_up = replace(given_up, troubles={**given_up.troubles, **made.troubles})
    assert action_of(seen(given_up, observed=shown)) is None
    written = BoardIs(BoardItem("PVTI_1", "In Review", "a-1"), "In Review", "a-1")
    put = fold(made, written, NOW)
    assert (put.card.agent, put.ending.board_done) == ("a-1", False)
    assert put.claim.last_synced_status == "In Review"
    assert action_of(seen(put, observed=shown)) is None


def test_a_card_is_put_back_while_its_closing_is_held_back() -> None:
    """Once it may be tried; what failed waits as well, and one that was not written ahead is as it was."""
    back = SetBoard(ITEM.id, "In Review", "edouard-1738000000")
    held = refusing(CloseIssue(42))["troubles"]
    was = BoardItem(ITEM.id, "In Review", "edouard-1738000000")
    for item, is_done, troubles, action in (
        (was, True, held, back),
        (was, True, held | refusing(back)["troubles"], None),
        (was, False, held, None),
        (BoardItem(ITEM.id, "Done"), True, held, None),
        (None, True, held, None),
    ):
        shown = observation(issue=issue(comments=()), by_number=MERGED, item=item)
        memory = {"ending.comment_done": True, "ending.board_done": is_done, "troubles": troubles}
        made = record(**{**DONE, "status": "Done"}, memory=memory)
        assert action_of(seen(made, observed=shown)) == action, (item, troubles)


def test_a_card_that_a_held_back_closing_has_cleared_gets_its_agent_back_with_its_status() -> None:
    """The look that may write it shows what the closing wrote; the claim knows what was there before."""
    cleared = BoardItem(ITEM.id, "Done")
    shown = observation(issue=issue(comments=()), by_number=MERGED, item=cleared)
    memory = {"ending.comment_done": True, "ending.board_done": True, **refusing(CloseIssue(42))}
    memory |= {"card.agent": "", "card.unsure": ("In Review", "Done")}
    made = record(**{**DONE, "status": "Done"}, memory=memory)
    back = SetBoard(ITEM.id, "In Review", made.claim.agent_id)
    assert action_of(seen(made, observed=shown)) == back


def test_a_sweep_that_may_be_refused_closes_first_and_then_says_so() -> None:
    """As far as GitHub shows the account may not close; where its token does, the comment says who."""
    made = record(**{**DONE, "status": "Done"}, memory={"ending.consent": "reconcile"})
    shown = observation(
        issue=issue(comments=()), by_number=MERGED, item=ITEM, is_not_ours_to_close=True
    )
    before = seen(made, observed=shown, wake=Wake.SWEEP)
    assert action_of(before) == CloseIssue(42)
    after = replace(before, record=fold(made, Happened(CloseIssue(42)), NOW))
    assert "Closed by `lifecycle reconcile`" in action_of(after).body
