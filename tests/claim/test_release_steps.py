"""Each step of a release on values alone: where it begins, where it waits, and what is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.ending import closing, releasing
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import Releasing, Trouble
from lifecycle.claim.record.state import Record, mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.plan import ForgetClaim, ReleaseLease, SetBoard, Wake
from lifecycle.core.values.model import BoardItem, Observation, PullState
from tests.claim.steps import REVIEW, run
from tests.factories import NOW, comment, issue, observation, pull, record, seen, texts

AGENT = "edouard-1738000000"
ASKED = Releasing(NOW - 5, "out of time", "2 commits, phase coding.")
LEASE = "f" * 40
ITEM = BoardItem("PVTI_lADOBx", "In Progress", AGENT)
RELEASE = ReleaseLease(42, LEASE)
PLACE = f"Released by `lifecycle reconcile`, in the place of {AGENT}"


def leaving(*, memory: dict[str, Any] | None = None, **changes: Any) -> Record:
    """A claim with a lease that somebody asked to give back."""
    return record(
        memory={"ending.releasing": ASKED, "ownership.lease": LEASE, **(memory or {})}, **changes
    )


def at(made: Record, observed: Observation | None = None, **changes: Any) -> Snapshot:
    """The input of a decision; by default the issue is as a claim has it."""
    default = observation(issue=issue(comments=(), assignees=("edouard",)), item=ITEM)
    return seen(made, observed=observed or default, **changes)


def told_of(made: Record, **changes: Any) -> Observation:
    """What GitHub shows once this release was told."""
    posted = releasing.comment_of(made, ASKED, "", issue(**changes))
    return observation(issue=issue(comments=(comment(posted.body),), **changes), item=ITEM)


def test_a_claim_that_nobody_releases_is_left() -> None:
    """Without the command, or before GitHub was looked at, there is nothing to do."""
    assert releasing.decide(at(record())) == Decision()
    assert releasing.decide(seen(leaving())) == Decision()


@pytest.mark.parametrize("status", ["In Progress", "Todo"])
def test_the_first_step_is_to_keep_that_it_was_begun(status: str) -> None:
    """Before anything is written; whatever Status the file has already."""
    step = releasing.decide(at(leaving(status=status)))
    assert step.action is None
    assert step.record is not None
    assert step.record.values == {**leaving().values, "status": "Todo"}
    assert step.record.ending.releasing == replace(ASKED, is_begun=True)


@pytest.mark.parametrize(
    ("wake", "is_archived", "is_begun"),
    [(Wake.TICK, True, False), (Wake.TICK, False, True), (Wake.SWEEP, True, True)],
)
def test_in_an_archived_repository_a_release_is_refused(
    wake: Wake, is_archived: bool, is_begun: bool
) -> None:
    """Before anything is done, and told; a sweep does not get there."""
    shown = replace(observation(issue=issue(comments=()), item=ITEM), is_archived=is_archived)
    step = releasing.decide(at(leaving(), shown, wake=wake))
    assert step.record is not None
    assert (step.record.ending.releasing is not None) is is_begun
    assert (message("not-released-archived", issue=42) in texts(step)) is not is_begun


@pytest.mark.parametrize(
    ("is_leaseless", "item", "assignees", "is_begun", "is_left"),
    [
        (True, None, (), False, True),
        (True, BoardItem("PVTI_1", "Todo", "maria-2"), ("maria",), False, True),
        (True, None, (), True, False),
        (True, ITEM, (), False, False),
        (True, None, ("Edouard",), False, False),
        (False, None, (), False, False),
    ],
)
def test_what_was_released_before_only_loses_its_lease(
    *,
    is_leaseless: bool,
    item: BoardItem | None,
    assignees: tuple[str, ...],
    is_begun: bool,
    is_left: bool,
) -> None:
    """What still names the claim is cleared all the same; and what was begun here goes on."""
    asked = replace(ASKED, is_begun=is_begun)
    made = leaving(memory={"ownership.is_leaseless": is_leaseless, "ending.releasing": asked})
    observed = observation(issue=issue(comments=(), assignees=assignees), item=item)
    step = releasing.decide(at(made, observed))
    assert (step.action == RELEASE) is is_left
    ended = leaving(
        memory={
            "ownership.is_leaseless": is_leaseless,
            "ending.releasing": asked,
            "ownership.lease": "",
        }
    )
    step = releasing.decide(at(ended, observed))
    assert (step.action == ForgetClaim()) is is_left
    assert ("does not hold issue" in texts(step)) is is_left


@pytest.mark.parametrize("is_begun", [False, True])
def test_of_an_issue_that_is_gone_only_the_lease_is_ended(*, is_begun: bool) -> None:
    """Nothing can be written to it, and a lease that nobody ends would stay for ever."""
    hidden = observation(issue=None, by_number=pull(state=PullState.MERGED))
    made = leaving(memory={"ending.releasing": replace(ASKED, is_begun=is_begun)})
    assert releasing.decide(at(made, hidden)).action == RELEASE
    over = releasing.decide(at(made.with_ending(lease_done=True), hidden))
    assert over.action == ForgetClaim()
    assert "nothing more was written there; the claim here and its lease were ended" in texts(over)


@pytest.mark.parametrize(
    ("by", "shown", "is_open", "others", "lines"),
    [
        (
            "",
            None,
            True,
            (),
            [f"Released by {AGENT}; the task is free again, and nothing of the work was deleted."],
        ),
        (
            "`lifecycle reconcile`",
            pull(),
            False,
            ("sam",),
            [
                f"{PLACE}; the issue is closed, and nothing of the work was deleted.",
                "PR #107 stays open.",
            ],
        ),
        (
            "",
            pull(state=PullState.CLOSED),
            True,
            (),
            [f"Released by {AGENT}; the task is free again, and nothing of the work was deleted."],
        ),
        (
            "",
            None,
            True,
            ("sam", "lee"),
            [
                f"Released by {AGENT}; it stays assigned to sam, lee, and nothing of the work was deleted."
            ],
        ),
    ],
)
def test_the_comment_says_who_did_it_and_what_stays(
    by: str, shown: Any, is_open: bool, others: tuple[str, ...], lines: list[str]
) -> None:
    """In whose place, for whom the task is free now, and the pull request only while it is open."""
    made = leaving(**REVIEW)
    seen_now = issue(is_open=is_open, assignees=("edouard", *others))
    pulls = closing.stays(made, shown)
    posted = releasing.comment_of(made, replace(ASKED, by=by), pulls, seen_now)
    first, *rest = lines
    assert posted.body.splitlines() == [
        first,
        "Branch `claude/fix-thing-42`: 2 commits, phase coding.",
        *rest,
        "Reason: out of time",
        "",
        posted.marker,
    ]
    assert posted.issue == 42


def test_a_holders_name_is_data_in_the_comment() -> None:
    """A sweep tells names of a lease or a card: whoever wrote them mentions nobody, and hides nothing."""
    made = leaving(agent_id="@octo-org/core <!-- x", branch="fix`@lee`")
    body = releasing.comment_of(made, replace(ASKED, by="a sweep"), "", issue()).body
    assert body.startswith("Released by a sweep, in the place of @ octo-org/core ")
    assert body.count("<!--") == 1
    assert "Branch `fix'@lee'`: 2 commits" in body


def test_a_release_was_told_by_the_last_line_of_a_comment() -> None:
    """The newest of this agent's counts; an empty comment, a quotation or another's tells nothing."""
    marks = [
        releasing.comment_of(leaving(), replace(ASKED, at=moment), "", issue()).body
        for moment in (7.0, 9.0, 8.0)
    ]
    said = (comment(""), comment("> " + marks[0].splitlines()[-1]), *map(comment, marks))
    assert derive.told_at(issue(comments=said), AGENT) == 9
    assert derive.told_at(issue(comments=said), "maria-1738000000") is None
    assert derive.told_at(issue(comments=said[:2]), AGENT) is None
    assert derive.told_at(issue(comments=None), AGENT) is None


def test_a_release_is_found_whatever_letters_the_name_has() -> None:
    """A login may have the letters "AT" in it, which stand for the time while the marker is looked for."""
    agent = "PATrick-1738000000"
    mark = hidden_marker.of("released", issue=42, by=agent, at=9)
    said = (comment(hidden_marker.signed("Released.", mark)),)
    assert derive.told_at(issue(comments=said), agent) == 9


def test_from_afar_nothing_goes_on_without_the_lease() -> None:
    """Only the lease can tell that nobody took the task up; where it cannot be ended, they have it."""
    made = leaving(status="Todo", memory={"ending.releasing": replace(ASKED, is_begun=True)})
    assert releasing.decide(at(made, wake=Wake.SWEEP)).action == RELEASE
    refused = Trouble(mark_of(RELEASE), "GitHub said no.", NOW, is_final=True)
    left = replace(made, troubles={"ReleaseLease": refused})
    assert releasing.decide(at(left, wake=Wake.SWEEP)) == Decision()


def test_without_a_board_no_card_is_moved() -> None:
    """The last sentence says that there is none."""
    made = at(leaving())
    made = replace(made, has_board=False)
    actions = run(made)
    assert actions[-1] == ForgetClaim()
    assert not [action for action in actions if isinstance(action, SetBoard)]
