"""What each state of a task is called, and what is done about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import foresee, imagine
from lifecycle.claim.decisions.table import Phase
from lifecycle.core import plan
from lifecycle.core.hidden_marker import of, signed
from lifecycle.core.timing import render_time
from lifecycle.core.values.model import BoardItem, Comment, Hold, PullState
from lifecycle.reconcile.finding import KINDS, State
from lifecycle.reconcile.judge import Judge
from lifecycle.reconcile.scope import Policy
from tests.batches import each_row
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
    "put back to Todo under its last holder's name": (
        shown(hold=None, item=card("Todo", "bob-1", at=NOW)),
        [],
    ),
    "the same with a pull request that is open": (
        shown(hold=None, item=card("Todo", "bob-1", at=NOW), pulls=(OPEN,)),
        ["moved-by-hand"],
    ),
    "the same with the lease": (
        shown(item=card("Todo", "bob-1", at=NOW)),
        ["moved-by-hand"],
    ),
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
    "the pull request closed, and the card never in review": (
        shown(pulls=(CLOSED,), item=card("Todo")),
        ["status-drift"],
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
    "somebody took the account off the issue": (shown(assigned_at=TAKEN + 1), ["unassigned"]),
    "an App holds it, which GitHub assigns to no issue, and a person is assigned": (
        shown(
            item=card("In Progress", "robot[bot]-1"),
            hold=Hold(42, "b" * 40, "robot[bot]-1", TAKEN, BRANCH),
            assigned_at=TAKEN + 1,
            issue={"assignees": ("maria",)},
        ),
        [],
    ),
    "the account is off the issue, and its claim is silent": (
        shown(**OLD, item=OLD_CARD, assigned_at=NOW - 71 * HOUR),
        ["silent"],
    ),
    "the account is off the issue, and its work is merged": (
        shown(pulls=(MERGED,), item=IN_REVIEW, assigned_at=TAKEN + 1),
        ["merged-open"],
    ),
    "somebody else was assigned in its place": (
        shown(issue={"assignees": ("ada",)}, assigned_at=TAKEN + HOUR),
        ["unassigned"],
    ),
    "the account is assigned, in other capitals": (
        shown(issue={"assignees": ("Edouard",)}, assigned_at=TAKEN + 1),
        [],
    ),
    "an account that GitHub never assigned": (shown(assigned_at=TAKEN - HOUR), []),
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
    "an agent that only its card names, since a merge and a reopening": (
        shown(
            hold=None,
            item=OLD_CARD,
            pulls=(pull(state=PullState.MERGED, merged_at=NOW - 90 * HOUR, closed_at=NOW - 90 * HOUR),),
            tips=(tip(NOW - 95 * HOUR),),
            issue={"reopened_at": NOW - 80 * HOUR},
        ),
        ["silent"],
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
    "a closed issue's lease, and another of the agent's pull requests": (
        shown(**OLD, item=card("Done", None, at=NOW - 48 * HOUR),
              pulls=(pull(number=90, branch="feat/login", body="Refs #42"),),
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


@each_row(("world", "expected"), CASES.values(), ids=CASES.keys())
def test_each_state_has_its_findings(world: Shown, expected: list[str]) -> None:
    """Every state of a task that GitHub can show comes to these findings and no others."""
    assert kinds(world) == expected


NOBODYS = {
    "nobody's issue in Todo",
    "nobody's issue without a card",
    "put back to Todo under its last holder's name",
    "a person's closed issue in such a column",
}
"""Cases in which there is nothing to decide upon: no claim, no assignee, and no column of ours to leave."""


@each_row("name", CASES)
def test_what_was_done_is_not_found_again(name: str) -> None:
    """A second decision on what the first one left wants nothing: the plan ends by itself."""
    looks = list(judge(Policy(closes=True, releases=True)).looks(CASES[name][0].task()))
    assert bool(looks) == (name not in NOBODYS)
    for seen in looks:
        actions = [step.action for _, step in foresee(seen, imagine)]
        assert actions[-1] is None
        writes = [repr(action) for action in actions if action is not None]
        assert len({*writes}) == len(writes)


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
        ("somebody took the account off the issue", Policy(releases=True), State.LEFT),
    ],
)
def test_what_ends_a_task_is_off_unless_configured(name: str, policy: Policy, state: State) -> None:
    """Closing and releasing wait for the policy; what a person moved is left whatever it says."""
    (finding,) = judge(policy).findings(CASES[name][0].task())
    assert finding.state is state
    assert finding.problem == KINDS[finding.kind].stays


OPENS = (
    "Open a draft pull request of claude/fix-thing-42, set the Status from "
    '"In Progress" to "In Review".'
)
GIVES_BACK = f"End the lease of {AGENT}, comment on #42, set the Status from"
ADDS = f'Put #42 on the board, set the Status to "In Progress", set the Agent to "{AGENT}".'
CLEARS = f'Set the Status from "In Review" to "Done", clear the Agent "{AGENT}".'
CLOSED_IN_REVIEW = shown(pulls=(MERGED,), item=IN_REVIEW, issue=CLOSED_ISSUE)
BOBS_CARD = replace(OLD_CARD, agent="bob-1")


@pytest.mark.parametrize(
    ("world", "policy", "found"),
    [
        (
            CASES["a branch that lies there"][0],
            Policy(releases=True),
            [
                ("branch-without-pull", State.PLANNED, OPENS),
                (
                    *("silent", State.PLANNED),
                    f'{GIVES_BACK} "In Progress" to "Todo", clear the Agent "{AGENT}".',
                ),
            ],
        ),
        (shown(item=None), Policy(), [("off-board", State.PLANNED, ADDS)]),
        (
            CLOSED_IN_REVIEW,
            Policy(releases=True),
            [
                ("closed-on-board", State.PLANNED, CLEARS),
                ("lease-left", State.OFF, f"End the lease of {AGENT}."),
            ],
        ),
        (
            CLOSED_IN_REVIEW,
            Policy(closes=True),
            [
                ("closed-on-board", State.PLANNED, CLEARS),
                ("lease-left", State.PLANNED, f"End the lease of {AGENT}."),
            ],
        ),
        (
            shown(**OLD, item=BOBS_CARD),
            Policy(releases=True),
            [
                ("agent-drift", State.PLANNED, f'Set the Agent from "bob-1" to "{AGENT}".'),
                (
                    *("silent", State.PLANNED),
                    f'{GIVES_BACK} "In Progress" to "Todo", clear the Agent "{AGENT}".',
                ),
            ],
        ),
        (
            shown(**OLD, item=card("Todo", None, at=NOW), tips=(tip(NOW - 48 * HOUR),)),
            Policy(),
            [
                (
                    *("branch-without-pull", State.PLANNED),
                    f'{OPENS.replace("In Progress", "Todo")[:-1]}, set the Agent to "{AGENT}".',
                ),
                ("silent", State.OFF, f"End the lease of {AGENT}, comment on #42."),
            ],
        ),
        (
            shown(
                hold=None,
                item=replace(card("Todo", None, at=NOW), is_archived=True),
                issue=CLOSED_ISSUE,
            ),
            Policy(),
            [],
        ),
    ],
)
def test_what_is_found_says_what_is_done(
    world: Shown, policy: Policy, found: list[tuple[str, State, str]]
) -> None:
    """All steps of one name together, each told once; of two holders and of left work, both ways."""
    made = judge(policy).findings(world.task())
    assert [(one.kind, one.state, one.fix) for one in made] == found
    assert {seen.head_owner for seen in judge(policy).looks(world.task())} <= {"octo-org"}


@each_row("name", CASES)
def test_nothing_is_closed_or_released_without_the_policy(name: str) -> None:
    """No decision of a run without permissions closes, comments, unassigns or ends a lease."""
    endings = (plan.CloseIssue, plan.PostComment, plan.Unassign, plan.ReleaseLease)
    looks = list(judge().looks(CASES[name][0].task()))
    assert bool(looks) == (name not in NOBODYS)
    for seen in looks:
        steps = list(foresee(seen, imagine))
        assert steps
        assert not any(isinstance(step.action, endings) for _, step in steps)


def test_the_phase_is_the_one_that_github_shows() -> None:
    """Coding, review, merged, closed and done follow from the issue and its pull request alone."""
    assert shown().task().phase is Phase.CODING
    assert shown(pulls=(OPEN,)).task().phase is Phase.CHECKS_RUNNING
    assert shown(pulls=(MERGED,)).task().phase is Phase.MERGED_DETECTED
    assert shown(pulls=(CLOSED,)).task().phase is Phase.PR_CLOSED
    assert shown(pulls=(OPEN,), issue=CLOSED_ISSUE).task().phase is Phase.DONE


def test_a_pull_request_that_only_mentions_the_issue_is_not_the_claims() -> None:
    """Where the lease names a branch, no other one counts; where none does, a closing word does."""
    other = replace(MERGED, number=90, branch="docs", body="See #42")
    closing = frozenset({90})
    no_branch = Hold(42, "b" * 40, AGENT, TAKEN)
    both = ["merged-open", "status-drift"]
    assert kinds(shown(pulls=(other,))) == []
    assert kinds(shown(pulls=(other,), closed_by=closing)) == []
    assert kinds(shown(pulls=(other,), hold=no_branch)) == []
    assert kinds(shown(pulls=(other,), hold=no_branch, closed_by=closing)) == both
    strangers = replace(other, head_owner="stranger")
    assert kinds(shown(pulls=(strangers,), hold=no_branch, closed_by=closing)) == []


def test_a_merge_elsewhere_is_told_with_its_base_and_closes_nothing() -> None:
    """Whatever is allowed: a person says whether it ends the task. A backport is no merge of it."""
    closes = judge(Policy(closes=True))
    (left,) = closes.findings(
        shown(pulls=(replace(MERGED, base="feature"),), item=IN_REVIEW).task()
    )
    assert (left.kind, left.state, left.fix) == ("merged-open", State.LEFT, "")
    assert left.problem.startswith("It merged into feature, which is neither the default branch")
    backport = replace(MERGED, number=108, base="stable")
    assert shown(pulls=(backport, CLOSED)).task().phase is Phase.PR_CLOSED
    over = replace(CLOSED, closed_at=NOW - 3 * HOUR)
    retargeted = replace(backport, opened_at=NOW - 2 * HOUR)
    task = shown(pulls=(retargeted, over)).task()
    assert (task.pull, task.merged_elsewhere) == (retargeted, "stable"), "the work went on in it"
    assert shown(pulls=(replace(retargeted, opened_at=None), over)).task().pull == over
    task = replace(shown(pulls=(backport,)).task(), base="stable")
    assert [found.state for found in closes.findings(task) if found.kind == "merged-open"] == [
        State.PLANNED
    ]


def test_a_merge_that_was_reverted_closes_nothing() -> None:
    """Only a closer look sees it; whatever is allowed, nothing follows from the merge then."""
    world = shown(pulls=(replace(MERGED, reverted_by=108),), item=IN_REVIEW)
    assert kinds(world, judge(Policy(closes=True))) == []
    assert kinds(shown(pulls=(MERGED,), item=IN_REVIEW), judge(Policy(closes=True))) == [
        "merged-open"
    ]


def test_a_release_of_any_agent_is_newer_than_a_card_that_was_in_todo() -> None:
    """Whoever is assigned since then has taken it; any other Status says more than the comment."""
    mark = of("released", issue=42, by="bob-1", at=int(NOW - HOUR))
    told = {"assignees": ("ada",), "comments": (Comment(1, signed("Released.", mark)),)}
    person: dict[str, Any] = {"hold": None, "issue": told, "assigned_at": TAKEN}
    assert kinds(shown(item=card("Todo", None, at=TAKEN - 5), **person)) == ["moved-by-hand"]
    assert kinds(shown(item=card("In Review", None, at=TAKEN - 5), **person)) == ["status-drift"]
    since = {**person, "assigned_at": NOW}
    assert kinds(shown(item=card("Todo", None, at=TAKEN - 5), **since)) == ["assigned-todo"]


def test_a_merge_that_says_nothing_of_the_issue_closes_nothing() -> None:
    """Of the lease's own branch: the hooks do not adopt it either. An open one is the claim's."""
    silent = replace(MERGED, title="Other work", body="Nothing to refer to.")
    assert shown(pulls=(silent,)).task().phase is Phase.CODING
    assert kinds(shown(pulls=(silent,))) == []
    for text in ("Refs #42", "GH-42", "https://github.com/octo-org/hello/issues/42"):
        assert shown(pulls=(replace(silent, body=text),)).task().is_merged
    assert shown(pulls=(silent,), closed_by=frozenset({silent.number})).task().is_merged
    still = replace(OPEN, title="Other work", body="Nothing to refer to.")
    assert shown(open_pulls=(still,)).task().phase is Phase.CHECKS_RUNNING


def test_a_branch_that_only_ends_in_the_number_is_not_the_claims() -> None:
    """A time at a branch's end is no issue: without a lease's branch the text has to refer to it."""
    no_branch = Hold(42, "b" * 40, AGENT, TAKEN)
    named = replace(OPEN, branch="claude/run-20251121-42", body="Fixes #7")
    assert kinds(shown(open_pulls=(named,), hold=no_branch)) == []
    refers = replace(named, body="Refs octo-org/hello#42")
    assert kinds(shown(open_pulls=(refers,), hold=no_branch)) == ["status-drift"]


@pytest.mark.parametrize("reopened_at", [NOW - HOUR, MERGED.closed_at])
def test_what_was_merged_before_a_reopening_does_not_close_the_issue_again(
    reopened_at: float,
) -> None:
    """A person who reopens an issue has the last word: the merge was before it, or in the same second.

    The evidence denies no pull request of the time before.
    """
    done = card("Done", at=TAKEN + HOUR)
    world = shown(pulls=(MERGED,), item=done, issue={"reopened_at": reopened_at})
    (found,) = judge(Policy(closes=True)).findings(world.task())
    since = f"since it was reopened at {render_time(reopened_at)}; "
    assert f"it has no pull request of its own {since}" in found.evidence
    assert found.kind == "status-drift"
    assert world.task().phase is Phase.CODING


def test_a_claim_without_a_lease_is_begun_by_its_assignment() -> None:
    """Re-claimed where leases are forbidden: what merged before it was assigned is an earlier claim's."""
    world = shown(
        hold=None,
        pulls=(MERGED,),
        item=card("In Progress", at=NOW - HOUR),
        issue={"assignees": ("edouard",)},
        assigned_at=NOW - 2 * HOUR,
    )
    assert kinds(world, judge(Policy(closes=True))) == []


def test_an_open_pull_request_that_mentions_the_issue_is_a_sign_of_life() -> None:
    """The agent may have gone on with another branch than the lease names."""
    other = pull(number=90, branch="feat/login", body="Refs #42")
    old = shown(**OLD, item=OLD_CARD, pulls=(other,))
    assert kinds(old, judge(Policy(releases=True))) == []
    assert kinds(shown(**OLD, item=OLD_CARD, pulls=(replace(other, is_draft=True),))) == ["silent"]


@pytest.mark.parametrize(
    "body",
    [
        "Fixes https://github.com/octo-org/hello/issues/42",
        "Fixes octo-org/hello#42",
        "GH-42",
    ],
)
def test_every_form_of_a_reference_is_a_link(body: str) -> None:
    """What GitHub makes a link of needs no line of ours; the same of another repository or number does."""
    assert kinds(shown(open_pulls=(pull(body=body),), item=IN_REVIEW)) == []
    for other in (body.replace("42", "421"), body.replace("hello", "hell")):
        if other != body:
            found = kinds(shown(open_pulls=(pull(body=other),), item=IN_REVIEW))
            assert found == ["unlinked"]


def test_a_persons_pull_request_is_not_edited() -> None:
    """Without an agent there is no claim that would have to be linked."""
    world = shown(
        hold=None,
        item=card("In Review", None, at=TAKEN + 2 * HOUR),
        pulls=(pull(branch="fix", body="Fixes it"),),
        issue={"assignees": ("ada",)},
        assigned_at=TAKEN,
        closed_by=frozenset({107}),
    )
    assert kinds(world) == []


def test_a_status_that_came_with_the_card_is_nobodys_move() -> None:
    """A board that gives new cards Todo does so after the assignment; that is no person's word."""
    late: dict[str, Any] = {"hold": None, "issue": {"assignees": ("ada",)}, "assigned_at": TAKEN}
    given = replace(card("Todo", None, at=TAKEN + 36), added_at=TAKEN + 30)
    assert kinds(shown(item=given, **late)) == ["assigned-todo"]
    assert kinds(shown(item=replace(given, added_at=TAKEN - HOUR), **late)) == ["moved-by-hand"]


def test_labels_do_not_fight() -> None:
    """Without times, Todo as a label stands where no lease speaks against it."""
    label = BoardItem("labels/42", "Todo")
    person: dict[str, Any] = {"hold": None, "issue": {"assignees": ("ada",)}, "assigned_at": TAKEN}
    assert kinds(shown(item=label, **person)) == ["moved-by-hand"]
    assert kinds(shown(item=label)) == ["status-drift"]
    old = shown(**OLD, item=label)
    (only,) = judge(Policy(releases=True)).looks(old.task())
    assert only.record.ending.releasing is not None


def test_giving_back_from_afar_begins_with_the_lease() -> None:
    """The lease alone can tell that somebody took the task up meanwhile: nothing is written before it."""
    (seen,) = judge(Policy(releases=True)).looks(shown(**OLD, item=OLD_CARD).task())
    actions = [step.action for _, step in foresee(seen, imagine) if step.action]
    assert isinstance(actions[0], plan.ReleaseLease)


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
    taken_over = Hold(42, "b" * 40, AGENT, TAKEN, BRANCH, began=TAKEN - 3 * HOUR)
    assert shown(pulls=(earlier,), hold=taken_over).task().pull == earlier, "the work goes on"


def test_without_a_board_nothing_of_it_is_found() -> None:
    """Where no board is configured or seen, cards are nobody's business."""
    assert kinds(shown(item=None), judge(has_board=False)) == []
    assert kinds(shown(pulls=(MERGED,), item=None), judge(has_board=False)) == ["merged-open"]


@each_row("name", [name for name, case in CASES.items() if case[1]])
def test_evidence_says_what_was_seen(name: str) -> None:
    """Each finding's evidence is one sentence with the number or the names that it is about."""
    findings = judge().findings(CASES[name][0].task())
    assert len(findings) == len(CASES[name][1])
    for finding in findings:
        assert finding.evidence.endswith(".")
        assert finding.evidence.count("\n") == 0
        assert any(word in finding.evidence for word in ("#42", "#107", "card", "lease", BRANCH))
