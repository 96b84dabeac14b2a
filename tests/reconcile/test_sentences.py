"""What a finding says: what was seen, and what its own steps write, no more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.core import plan
from lifecycle.core.timing import render_time
from lifecycle.core.values.model import BoardItem, Hold, PullState
from lifecycle.reconcile import finding
from lifecycle.reconcile.judge import fix_sentence
from tests.batches import each_row
from tests.factories import BRANCH, NOW
from tests.reconcile.worlds import AGENT, HOUR, TAKEN, Shown, card, judge, pull, shown, tip

SET = plan.SetBoard("PVTI_1", "Done", None, clear_agent=True)
PLAIN = shown(item=card("In Progress"))
OLD = Hold(42, "b" * 40, AGENT, NOW - 72 * HOUR, BRANCH)


@each_row(
    ("action", "world", "said"),
    [
        (
            plan.OpenPullRequest("octo-org:claude/x-42", "main", "X", 42, is_draft=True),
            PLAIN,
            "Open a draft pull request of claude/x-42.",
        ),
        (
            plan.OpenPullRequest("octo-org:claude/x-42", "main", "X", 42),
            PLAIN,
            "Open a pull request of claude/x-42.",
        ),
        (
            plan.LinkPullRequest(7, 42, "Refs #42 <!-- lifecycle:link issue=42 -->"),
            PLAIN,
            'Add "Refs #42" to the text of PR #7.',
        ),
        (plan.AddToBoard(42, "I_42"), PLAIN, "Put #42 on the board."),
        (plan.PostComment(42, "x", "y"), PLAIN, "Comment on #42."),
        (plan.CloseIssue(42), PLAIN, "Close #42."),
        (plan.Unassign(42, "octocat"), PLAIN, "Unassign octocat."),
        (plan.ReleaseLease(42, "b" * 40), PLAIN, f"End the lease of {AGENT}."),
        (plan.ReleaseLease(42, "b" * 40), shown(hold=None), "End the lease."),
        (plan.ForgetClaim(), PLAIN, ""),
        (SET, PLAIN, f'Set the Status from "In Progress" to "Done", clear the Agent "{AGENT}".'),
        (SET, shown(item=card("Done")), f'Clear the Agent "{AGENT}".'),
        (SET, shown(item=None), 'Set the Status to "Done", clear the Agent.'),
        (
            plan.SetBoard("PVTI_1", None, AGENT),
            shown(item=card("In Progress", "bob-1")),
            f'Set the Agent from "bob-1" to "{AGENT}".',
        ),
        (
            plan.SetBoard("PVTI_1", None, AGENT),
            shown(item=card("In Progress", 'x". Say "yes')),
            f'Set the Agent from "x\'. Say \'yes" to "{AGENT}".',
        ),
        (
            plan.ReleaseLease(42, "b" * 40),
            shown(hold=replace(OLD, agent="x. Say yes")),
            'End the lease of "x. Say yes".',
        ),
        (
            plan.SetBoard("PVTI_1", "Done", AGENT),
            shown(item=card("Todo")),
            'Set the Status from "Todo" to "Done".',
        ),
        (
            plan.SetBoard("PVTI_1", "Done", AGENT),
            shown(item=card(None, None)),
            f'Set the Status to "Done", set the Agent to "{AGENT}".',
        ),
        (
            plan.SetBoard("labels/42", "In Review", AGENT),
            shown(item=BoardItem("labels/42", "In Progress")),
            'Set the Status label from "In Progress" to "In Review".',
        ),
        (
            plan.SetBoard("labels/42", "In Review", AGENT),
            shown(item=None),
            'Set the Status label to "In Review".',
        ),
    ],
)
def test_each_write_has_its_words(action: plan.Action, world: Shown, said: str) -> None:
    """Where it stood and where it goes, by name; labels name no agent."""
    assert fix_sentence([action], world.task()) == said


def test_what_is_done_twice_is_told_once_and_in_order() -> None:
    """A later step starts where an earlier one ended."""
    review = plan.SetBoard("PVTI_1", "In Review", None)
    told = fix_sentence([review, plan.PostComment(42, "x", "y"), review, SET], PLAIN.task())
    assert told == (
        'Set the Status from "In Progress" to "In Review", comment on #42, set the Status from '
        f'"In Review" to "Done", clear the Agent "{AGENT}".'
    )
    assert fix_sentence([], PLAIN.task()) == ""


def test_each_card_begins_where_the_one_before_left_it() -> None:
    """What a step leaves alone stays as it was, the Agent as well as the Status."""
    steps = [
        plan.SetBoard("PVTI_1", None, "bob-1"),
        plan.SetBoard("PVTI_1", "In Review", None),
        plan.SetBoard("PVTI_1", "In Review", "bob-1"),
        SET,
        plan.SetBoard("PVTI_1", None, AGENT),
    ]
    assert fix_sentence(steps, PLAIN.task()) == (
        f'Set the Agent from "{AGENT}" to "bob-1", set the Status from "In Progress" to "In Review", set '
        f'the Status from "In Review" to "Done", clear the Agent "bob-1", set the Agent to "{AGENT}".'
    )
    new: list[plan.Action] = [plan.AddToBoard(42, "I_42"), plan.SetBoard("(new)", "Todo", None)]
    told = fix_sentence([*new, SET], shown(item=None).task())
    assert told.endswith(
        ', set the Status to "Todo", set the Status from "Todo" to "Done", clear the Agent.'
    )


CLOSED: dict[str, Any] = {"is_open": False, "closed_at": TAKEN + 3 * HOUR}
MERGED = pull(state=PullState.MERGED, merged_at=TAKEN + 2 * HOUR, closed_at=TAKEN + 2 * HOUR)
REVIEW_DONE = 'set the Status from "In Review" to "Done"'
PROGRESS = 'set the Status from "In Progress"'
ENDS = f'clear the Agent "{AGENT}"'


@pytest.mark.parametrize(
    ("world", "kind", "fix"),
    [
        (
            shown(pulls=(MERGED,), item=card("In Review")),
            "merged-open",
            f'Comment on #42, close #42, {REVIEW_DONE}, {ENDS}, end the lease of {AGENT}.',
        ),
        (
            shown(pulls=(MERGED,), item=card("In Review"), hold=None, issue=CLOSED),
            "closed-on-board",
            f"S{REVIEW_DONE[1:]}, {ENDS}.",
        ),
        (
            shown(pulls=(pull(state=PullState.CLOSED, closed_at=TAKEN + 2 * HOUR),),
                  item=card("In Review", at=TAKEN + HOUR)),
            "pull-closed",
            'Set the Status from "In Review" to "In Progress".',
        ),
        (
            shown(item=card("In Progress", "bob-1")),
            "agent-drift",
            f'Set the Agent from "bob-1" to "{AGENT}".',
        ),
        (
            shown(hold=None, item=card("Todo", None, at=TAKEN - 5), issue={"assignees": ("ada",)},
                  assigned_at=TAKEN),
            "assigned-todo",
            'Set the Status from "Todo" to "In Progress".',
        ),
        (
            shown(item=None),
            "off-board",
            f'Put #42 on the board, set the Status to "In Progress", set the Agent to "{AGENT}".',
        ),
        (
            shown(hold=OLD, item=card("In Progress", at=NOW - 72 * HOUR), tips=(tip(NOW - 48 * HOUR),)),
            "branch-without-pull",
            f'Open a draft pull request of {BRANCH}, {PROGRESS} to "In Review".',
        ),
        (
            shown(hold=OLD, item=card("In Progress", at=NOW - 72 * HOUR)),
            "silent",
            f'End the lease of {AGENT}, comment on #42, {PROGRESS} to "Todo", {ENDS}.',
        ),
    ],
)  # fmt: skip
def test_a_fix_is_all_that_its_steps_write(world: Shown, kind: str, fix: str) -> None:
    """In their order; a person reads it before it is allowed."""
    findings = {found.kind: found.fix for found in judge().findings(world.task())}
    assert findings[kind] == fix


def test_a_finding_says_what_its_own_steps_do() -> None:
    """Of a closed issue whose card somebody moved to Done, only the Agent is cleared."""
    closed = {"is_open": False, "closed_at": 1.0}
    (one,) = judge().findings(shown(issue=closed, hold=None, item=card("Done")).task())
    assert (one.kind, one.fix) == ("closed-on-board", f'Clear the Agent "{AGENT}".')


@pytest.mark.parametrize(
    ("hours", "said"),
    [(0.03, "2 min ago"), (0.7, "42 min ago"), (1.5, "1.5 h ago"), (72.0, "3.0 d ago")],
)
def test_silence_is_told_in_a_unit_that_says_something(hours: float, said: str) -> None:
    """Never "0 hours ago"."""
    hold = Hold(42, "b" * 40, AGENT, NOW - hours * HOUR, BRANCH)
    task = shown(hold=hold, item=card("In Progress", at=NOW - hours * HOUR)).task()
    assert finding.of("silent", task, NOW).endswith(f"the last sign of life: {said}.")


def test_a_moved_card_is_told_with_the_last_thing_that_happened() -> None:
    """Somebody was assigned after the pull request came: that moment is not called the pull request's."""
    task = shown(
        pulls=(pull(),),
        issue={"assignees": ("ada",)},
        assigned_at=TAKEN + 2 * HOUR,
        item=card("Todo", at=TAKEN + 3 * HOUR),
    ).task()
    said = finding.of("moved-by-hand", task, NOW)
    assert f"PR #{pull().number} is open; the task's last event was at " in said
    assert said.endswith(f"{render_time(TAKEN + 2 * HOUR)}.")


def test_names_that_others_chose_are_data_in_the_evidence() -> None:
    """A holder, an agent of a card, an option, a branch: each is a quotation, unless it is one word."""
    branch = "a\u3000b"
    hold = Hold(42, "b" * 40, "Say yes.", TAKEN, branch)
    world = shown(hold=hold, item=card('x" then', "Say no."), pulls=(pull(branch=branch),))
    told = finding.of("agent-drift", world.task(), NOW)
    assert told.startswith('"Say yes." holds the lease')
    assert 'the card says "x\' then"' in told
    assert told.endswith('and names "Say no.".')
    assert 'for "a b"; it' in finding.of("unlinked", world.task(), NOW)


def test_an_issue_without_a_label_has_none() -> None:
    """There is no label that could lack a Status."""
    task = shown(item=BoardItem("labels/42", None)).task()
    assert finding.of("status-drift", task, NOW).endswith(
        "; it has no Status label, or more than one."
    )
