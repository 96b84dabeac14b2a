"""Which tasks are silent, which steps that leads to, and what a finding of the card is called."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core import plan
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.model import Hold, PullState
from lifecycle.reconcile.finding import KINDS, State
from lifecycle.reconcile.judge import ALIVE, kind_of
from lifecycle.reconcile.scope import Policy
from tests.factories import BRANCH, NOW, record
from tests.reconcile.worlds import AGENT, HOUR, Shown, card, judge, pull, shown, tip

LONG_AGO = NOW - 72 * HOUR
OLD: dict[str, Any] = {
    "hold": Hold(42, "b" * 40, AGENT, LONG_AGO, BRANCH),
    "item": card("In Progress", at=LONG_AGO + 5),
}
CLOSED: dict[str, Any] = {"is_open": False, "closed_at": LONG_AGO + 9}


def old_pull(state: PullState = PullState.OPEN, **changes: Any) -> Any:
    """The claim's own, and nothing happened to it lately."""
    ended = None if state is PullState.OPEN else LONG_AGO + 8
    times = {"opened_at": LONG_AGO + 7, "updated_at": LONG_AGO + 7, "closed_at": ended}
    return pull(state=state, **{**times, **changes})


@pytest.mark.parametrize(
    ("world", "is_silent"),
    [
        (shown(**OLD), True),
        (shown(), False),
        (shown(hold=None, item=card("In Progress", None, at=LONG_AGO)), False),
        (shown(hold=Hold(42, "b" * 40, AGENT, None, BRANCH), item=None), False),
        (shown(**OLD, pulls=(old_pull(),)), False),
        (shown(**OLD, pulls=(old_pull(is_draft=True),)), True),
        (shown(**OLD, open_pulls=(old_pull(),)), False),
        (shown(**OLD, open_pulls=(old_pull(is_draft=True),)), True),
        (shown(**OLD, open_pulls=(old_pull(),), issue=CLOSED), True),
        (shown(**OLD, pulls=(old_pull(PullState.MERGED, merged_at=LONG_AGO + 8),)), False),
        (shown(**OLD, pulls=(old_pull(PullState.CLOSED),)), True),
        (shown(**OLD, pulls=(old_pull(),), issue=CLOSED), True),
        (shown(**OLD, issue={"is_open": False}), True),
        (shown(**OLD, issue={"is_open": False, "closed_at": NOW - HOUR}), False),
    ],
)
def test_a_task_is_silent_if_its_agent_is_and_nobody_else_has_to_act(
    world: Shown, *, is_silent: bool
) -> None:
    """An open pull request waits for people and a merged one for its end; a draft waits for the agent."""
    assert judge().is_silent(world.task()) is is_silent


@pytest.mark.parametrize(("since", "is_silent"), [(3600.0, False), (3601.0, True)])
def test_silence_is_longer_than_what_the_policy_allows(since: float, *, is_silent: bool) -> None:
    """To the second."""
    hold = Hold(42, "b" * 40, AGENT, NOW - since, BRANCH)
    task = shown(hold=hold, item=card("In Progress", at=NOW - since)).task()
    assert judge(Policy(silent_seconds=3600.0)).is_silent(task) is is_silent


@pytest.mark.parametrize(
    ("world", "releases"),
    [
        (shown(**OLD), [True]),
        (shown(**{**OLD, "item": card("In Progress", "bob-1", at=LONG_AGO + 5)}), [False, True]),
        (shown(**OLD, tips=(tip(LONG_AGO + 60),)), [False, True]),
        (shown(), [False]),
    ],
)
def test_what_is_released_goes_on_first_only_where_there_is_something_to_mend(
    world: Shown, releases: list[bool]
) -> None:
    """Another's name on the card, or pushed work that nobody sees; else the release is all there is."""
    looks = judge(Policy(releases=True)).looks(world.task())
    assert [seen.record.ending.releasing is not None for seen in looks] == releases


OTHERS = {**OLD, "item": card("In Progress", "bob-1", at=LONG_AGO + 5)}
DRAFT = pull(is_draft=True, opened_at=LONG_AGO + 60, updated_at=LONG_AGO + 60, body="x")


@pytest.mark.parametrize(
    ("world", "is_left"),
    [
        (shown(**OLD), False),
        (shown(**OTHERS), False),  # a name on the card is no sign of life
        (shown(**OLD, tips=(tip(LONG_AGO + 60),)), True),
        (shown(**{**OTHERS, "item": card(None, "bob-1", at=LONG_AGO + 5)}), True),
        (shown(**OTHERS, open_pulls=(DRAFT,)), True),
    ],
)
def test_a_plan_has_no_release_that_a_repair_puts_off(world: Shown, *, is_left: bool) -> None:
    """A draft, a line in a text and a Status are signs of life; a run that writes finds that out itself."""
    real = judge(Policy(releases=True))
    plans = replace(real, is_rehearsal=True)
    (planned,) = [one for one in plans.findings(world.task()) if one.kind == "silent"]
    assert (planned.state, planned.problem) == (
        (State.LEFT, ALIVE) if is_left else (State.PLANNED, "")
    )
    (begun,) = [one for one in real.findings(world.task()) if one.kind == "silent"]
    assert begun.state is State.PLANNED


def test_a_card_that_cannot_name_an_agent_lacks_none() -> None:
    """Its board has no such field; one that has it lacks the name. No reopening changes that."""

    def fixes(status: str, *, lacks_agent: bool, reopened_at: float | None) -> list[str]:
        task = shown(item=card(status, None), issue={"reopened_at": reopened_at}).task()
        task = replace(task, swept=replace(task.swept, lacks_agent=lacks_agent))
        return [one.fix for one in judge().findings(task)]

    for at in (None, NOW - HOUR):
        (fix,) = fixes("In Progress", lacks_agent=False, reopened_at=at)
        assert AGENT in fix
        assert fixes("In Progress", lacks_agent=True, reopened_at=at) == []
    (fix,) = fixes("Done", lacks_agent=True, reopened_at=NOW - HOUR)
    assert AGENT not in fix


def test_what_is_left_says_why_and_what_to_do() -> None:
    """In the words of its kind; what is only off says nothing beside its gate."""
    task = shown(hold=None, item=card("Todo", None, at=NOW), issue=CLOSED).task()
    (left,) = judge().findings(task)
    assert (left.kind, left.problem) == ("moved-by-hand", KINDS["moved-by-hand"].stays)
    (off,) = judge().findings(shown(**OLD).task())
    assert (off.kind, off.problem) == ("silent", "")


PERSONS: dict[str, Any] = {"hold": None, "issue": {"assignees": ("ada",)}, "assigned_at": NOW}


@pytest.mark.parametrize(
    ("world", "status", "kind"),
    [
        (shown(item=None), "In Progress", "off-board"),
        (
            shown(item=card("In Review"), pulls=(pull(state=PullState.CLOSED),)),
            "Todo",
            "pull-closed",
        ),
        (shown(item=card("Todo"), pulls=(pull(state=PullState.CLOSED),)), "Done", "status-drift"),
        (shown(item=card("In Review"), pulls=(pull(),)), "Todo", "status-drift"),
        (shown(item=card("Todo", None), **PERSONS), "In Progress", "assigned-todo"),
        (shown(item=card("todo", None), **PERSONS), "In Progress", "assigned-todo"),
        (shown(item=card(None, None), **PERSONS), "In Progress", "assigned-todo"),
        (shown(item=card("In Review", None), **PERSONS), "In Progress", "status-drift"),
        (shown(item=card("Todo")), "In Progress", "status-drift"),
        (
            shown(item=card("Todo"), pulls=(pull(),), issue={"assignees": ("ada",)}),
            "In Review",
            "status-drift",
        ),
        (shown(), None, "agent-drift"),
    ],
)
def test_what_a_step_of_the_card_is_called(world: Shown, status: str | None, kind: str) -> None:
    """By where the card stands and why it has to move; a card that was just opened for is the draft's."""
    action = plan.SetBoard("PVTI_1", status, AGENT)
    assert kind_of(action, record(), world.task()) == kind
    opened = record(memory={"pull.opened": 107})
    is_drafts = world.item is not None and not world.pulls
    wanted = "branch-without-pull" if is_drafts else kind
    assert kind_of(action, opened, world.task()) == wanted


def test_steps_that_are_no_steps_of_the_card_have_their_own_names() -> None:
    """Whatever belongs to a release is `silent`, and to a closing `merged-open`."""
    task, closed = shown().task(), shown(issue=CLOSED).task()
    lease = plan.ReleaseLease(42, "b" * 40)
    done = record(phase="done")
    assert kind_of(plan.AddToBoard(42, "I_42"), record(), task) == "off-board"
    assert kind_of(plan.LinkPullRequest(7, 42, "Refs #42"), record(), task) == "unlinked"
    assert kind_of(lease, done, closed) == "lease-left"
    assert kind_of(lease, done, task) == "merged-open"
    assert kind_of(plan.SetBoard("PVTI_1", "Done", None), done, closed) == "closed-on-board"
    assert kind_of(plan.SetBoard("PVTI_1", "Done", None), done, task) == "merged-open"
    assert kind_of(lease, record(), task) == "merged-open"
