"""What each state of a task is called, and what is done about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle import plan
from lifecycle.act import imagine
from lifecycle.claim.ahead import foresee
from lifecycle.claim.table import Phase
from lifecycle.model import PullState
from lifecycle.reconcile.finding import KINDS, State
from lifecycle.reconcile.judge import Judge
from lifecycle.reconcile.scope import Policy
from lifecycle.survey import Hold
from tests.factories import BRANCH, NOW
from tests.reconcile.worlds import (
    AGENT,
    HOUR,
    TAKEN,
    Shown,
    card,
    judge,
    pull,
    shown,
    tip,
)

MERGED = pull(state=PullState.MERGED, merged_at=TAKEN + 2 * HOUR, closed_at=TAKEN + 2 * HOUR)
CLOSED = pull(state=PullState.CLOSED, closed_at=TAKEN + 2 * HOUR)
OPEN = pull()
IN_REVIEW = card("In Review", at=TAKEN + HOUR + 5)
CLOSED_ISSUE = {"is_open": False, "closed_at": TAKEN + 3 * HOUR}
OLD: dict[str, Any] = {"hold": Hold(42, "b" * 40, AGENT, NOW - 72 * HOUR, BRANCH)}
OLD_CARD = card("In Progress", at=NOW - 72 * HOUR + 5)

CASES: dict[str, tuple[Shown, list[str]]] = {
    "a claim that is worked on": (shown(), []),
    "a claim in review": (shown(pulls=(OPEN,), item=IN_REVIEW), []),
    "nobody's issue in Todo": (shown(hold=None, item=card("Todo", None)), []),
    "nobody's issue without a card": (shown(hold=None, item=None), []),
    "nobody's issue that is closed and done": (
        shown(hold=None, item=card("Done", None), issue=CLOSED_ISSUE),
        [],
    ),
    "merged, still open": (shown(pulls=(MERGED,), item=IN_REVIEW), ["merged-open"]),
    "merged, closed, done": (
        shown(pulls=(MERGED,), item=card("Done", "", at=NOW), hold=None, issue=CLOSED_ISSUE),
        [],
    ),
    "closed, the card in review": (
        shown(pulls=(MERGED,), item=IN_REVIEW, hold=None, issue=CLOSED_ISSUE),
        ["closed-on-board"],
    ),
    "closed by nobody's pull request, the card in Todo": (
        shown(hold=None, item=card("Todo", None), issue=CLOSED_ISSUE),
        ["closed-on-board"],
    ),
    "closed and done, but the card names an agent": (
        shown(hold=None, item=card("Done", at=NOW), issue=CLOSED_ISSUE),
        ["closed-on-board"],
    ),
    "closed, and moved on by somebody afterwards": (
        shown(hold=None, item=card("Todo", None, at=NOW), issue=CLOSED_ISSUE),
        ["moved-by-hand"],
    ),
    "a person's issue in a column that the engine does not know": (
        shown(
            hold=None,
            item=card("Backlog", None, at=TAKEN - 5),
            issue={"assignees": ("ada",)},
            assigned_at=TAKEN,
        ),
        [],
    ),
    "a person's closed issue in such a column": (
        shown(hold=None, item=card("Shipped", None), issue=CLOSED_ISSUE),
        [],
    ),
    "the pull request closed without a merge": (
        shown(pulls=(CLOSED,), item=IN_REVIEW),
        ["pull-closed"],
    ),
    "the pull request closed, and the card moved since": (
        shown(pulls=(CLOSED,), item=card("Blocked", at=NOW)),
        ["moved-by-hand"],
    ),
    "a pull request was opened and the card did not follow": (
        shown(pulls=(OPEN,)),
        ["status-drift"],
    ),
    "the card was moved before the pull request was opened": (
        shown(pulls=(OPEN,), item=card("Blocked", at=TAKEN + 6)),
        ["status-drift"],
    ),
    "the card was moved after the pull request was opened": (
        shown(pulls=(OPEN,), item=card("Blocked", at=NOW)),
        ["moved-by-hand"],
    ),
    "the card names another agent": (shown(item=card("In Progress", "bob-1")), ["agent-drift"]),
    "the card names no agent": (shown(item=card("In Progress", None)), ["agent-drift"]),
    "assigned and still Todo": (
        shown(
            hold=None,
            item=card("Todo", None, at=TAKEN - 5),
            issue={"assignees": ("ada",)},
            assigned_at=TAKEN,
        ),
        ["assigned-todo"],
    ),
    "reopened, and the card still Done": (
        shown(
            hold=None,
            item=card("Done", None, at=TAKEN),
            issue={"assignees": ("ada",)},
            assigned_at=TAKEN + HOUR,
        ),
        ["status-drift"],
    ),
    "assigned, and moved back to Todo afterwards": (
        shown(
            hold=None,
            item=card("Todo", None, at=NOW),
            issue={"assignees": ("ada",)},
            assigned_at=TAKEN,
        ),
        ["moved-by-hand"],
    ),
    "claimed and not on the board": (shown(item=None), ["off-board"]),
    "somebody's issue without a card": (
        shown(hold=None, item=None, issue={"assignees": ("ada",)}, assigned_at=TAKEN),
        [],
    ),
    "a pull request that does not mention the issue": (
        shown(open_pulls=(pull(body="Fixes it."),), item=IN_REVIEW),
        ["unlinked"],
    ),
    "a mention that somebody took out again": (
        shown(
            open_pulls=(pull(body="Fixes it. <!-- lifecycle:link issue=42 -->"),), item=IN_REVIEW
        ),
        [],
    ),
    "a branch that is worked on": (shown(tips=(tip(),)), []),
    "a branch that lies there": (
        shown(**OLD, item=OLD_CARD, tips=(tip(NOW - 48 * HOUR),)),
        ["branch-without-pull", "silent"],
    ),
    "a claim without a sign of life": (shown(**OLD, item=OLD_CARD), ["silent"]),
    "an old claim whose branch was pushed lately": (
        shown(**OLD, item=OLD_CARD, tips=(tip(NOW - HOUR),)),
        [],
    ),
    "an old claim whose pull request waits for people": (
        shown(**OLD, pulls=(pull(opened_at=NOW - 70 * HOUR, updated_at=NOW - 70 * HOUR),),
              item=card("In Review", at=NOW - 69 * HOUR)),
        [],
    ),
    "an old claim whose draft nobody touches": (
        shown(**OLD, pulls=(pull(opened_at=NOW - 70 * HOUR, updated_at=NOW - 70 * HOUR, is_draft=True),),
              item=card("In Review", at=NOW - 69 * HOUR)),
        ["silent"],
    ),
    "a closed issue's lease, long after": (
        shown(**OLD, item=card("Done", None, at=NOW - 48 * HOUR),
              issue={"is_open": False, "closed_at": NOW - 49 * HOUR}),
        ["lease-left"],
    ),
    "a closed issue's lease, shortly after": (
        shown(item=card("Done", None, at=NOW), issue={"is_open": False, "closed_at": NOW - HOUR}),
        [],
    ),
    "an archived card": (
        shown(hold=None, item=replace(card("Todo", None), is_archived=True), issue=CLOSED_ISSUE),
        [],
    ),
}  # fmt: skip


def kinds(world: Shown, with_: Judge | None = None) -> list[str]:
    """What the judge finds."""
    return [finding.kind for finding in (with_ or judge()).findings(world.task())]


@pytest.mark.parametrize(("world", "expected"), CASES.values(), ids=CASES.keys())
def test_each_state_has_its_findings(world: Shown, expected: list[str]) -> None:
    """Every state of a task that GitHub can show comes to these findings and no others."""
    assert kinds(world) == expected


@pytest.mark.parametrize("world", [case[0] for case in CASES.values()], ids=CASES.keys())
def test_what_was_done_is_not_found_again(world: Shown) -> None:
    """A second decision on what the first one left wants nothing: the plan ends by itself."""
    for seen in judge(Policy(closes=True, releases=True)).looks(world.task()):
        steps = list(foresee(seen, imagine))
        assert steps[-1].decision.action is None
        assert len({repr(step.decision.action) for step in steps if step.decision.action}) == sum(
            step.decision.action is not None for step in steps
        )


def test_every_kind_is_found_by_a_case() -> None:
    """The table of kinds has no row that nothing leads to, and no finding lacks its row."""
    assert {kind for _, found in CASES.values() for kind in found} == set(KINDS)


@pytest.mark.parametrize(
    ("name", "policy", "state"),
    [
        ("merged, still open", Policy(), State.OFF),
        ("merged, still open", Policy(closes=True), State.PLANNED),
        ("a claim without a sign of life", Policy(closes=True), State.OFF),
        ("a claim without a sign of life", Policy(releases=True), State.PLANNED),
        ("a closed issue's lease, long after", Policy(), State.OFF),
        ("a closed issue's lease, long after", Policy(releases=True), State.PLANNED),
        ("closed, the card in review", Policy(), State.PLANNED),
        ("closed, and moved on by somebody afterwards", Policy(closes=True), State.LEFT),
    ],
)
def test_what_ends_a_task_is_off_unless_configured(name: str, policy: Policy, state: State) -> None:
    """Closing and releasing wait for the policy; what a person moved is left whatever it says."""
    (finding,) = judge(policy).findings(CASES[name][0].task())
    assert finding.state is state


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_closed_or_released_without_the_policy(name: str) -> None:
    """No decision of a run without permissions closes, comments, unassigns or ends a lease."""
    endings = (plan.CloseIssue, plan.PostComment, plan.Unassign, plan.ReleaseLease)
    for seen in judge().looks(CASES[name][0].task()):
        for step in foresee(seen, imagine):
            assert not isinstance(step.decision.action, endings)


def test_the_phase_is_the_one_that_github_shows() -> None:
    """Coding, review, merged, closed and done follow from the issue and its pull request alone."""
    assert shown().task().phase is Phase.CODING
    assert shown(pulls=(OPEN,)).task().phase is Phase.CHECKS_RUNNING
    assert shown(pulls=(MERGED,)).task().phase is Phase.MERGED_DETECTED
    assert shown(pulls=(CLOSED,)).task().phase is Phase.PR_CLOSED
    assert shown(pulls=(OPEN,), issue=CLOSED_ISSUE).task().phase is Phase.DONE


def test_a_pull_request_that_only_mentions_the_issue_is_not_the_claims() -> None:
    """Somebody's merged pull request that mentions the issue neither closes it nor moves its card."""
    other = replace(MERGED, number=90, branch="docs", body="See #42")
    assert kinds(shown(pulls=(other,))) == []
    assert kinds(shown(pulls=(other,), closed_by=frozenset({90}))) == [
        "merged-open",
        "status-drift",
    ]


def test_a_persons_task_is_never_closed_or_released() -> None:
    """Without a lease and without an agent on the card a task is a person's, whatever the policy."""
    world = shown(
        hold=None,
        item=card("In Review", None, at=NOW - 90 * HOUR),
        pulls=(replace(MERGED, opened_at=NOW - 100 * HOUR),),
        issue={"assignees": ("ada",)},
        assigned_at=NOW - 200 * HOUR,
    )
    assert kinds(world, judge(Policy(closes=True, releases=True))) == []


def test_an_earlier_claims_pull_request_is_not_taken_for_this_ones() -> None:
    """What was merged before the lease was taken belongs to the claim before it."""
    earlier = replace(
        MERGED, closed_at=TAKEN - HOUR, merged_at=TAKEN - HOUR, opened_at=TAKEN - 2 * HOUR
    )
    assert shown(pulls=(earlier,)).task().pull is None


def test_without_a_board_nothing_of_it_is_found() -> None:
    """Where no board is configured or seen, cards are nobody's business."""
    assert kinds(shown(item=None), judge(has_board=False)) == []
    assert kinds(shown(pulls=(MERGED,), item=None), judge(has_board=False)) == ["merged-open"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[1]])
def test_evidence_says_what_was_seen(name: str) -> None:
    """Each finding's evidence is one sentence with the number or the names that it is about."""
    for finding in judge().findings(CASES[name][0].task()):
        assert finding.evidence.endswith(".")
        assert finding.evidence.count("\n") == 0
        assert any(word in finding.evidence for word in ("#42", "#107", "card", "lease", BRANCH))
