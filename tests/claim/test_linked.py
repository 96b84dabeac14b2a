"""Which task stands for an issue, and what a claim wants of it: pure."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.decisions.decide import apply_fact, decide
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.sections import Releasing, Trouble
from lifecycle.claim.record.state import Record, fold
from lifecycle.core.errors import Refused, Transient
from lifecycle.core.plan import (
    Audience,
    CloseIssue,
    Failed,
    ForgetClaim,
    LinkedIs,
    Notice,
    ReleaseLease,
    SetLinked,
    Wake,
)
from lifecycle.core.tracker import Link, Task, TaskStatus
from tests.claim.steps import DONE, ITEM, MERGED, believed, closing
from tests.factories import NOW, issue, observation, record, seen, texts

BASE, HOST = "octo-org/hello", "github.com"


@pytest.mark.parametrize(
    "external",
    [
        "gh-42",
        "GH-42",
        "github:#42",
        "github:42",
        "octo-org/hello#42",
        "Octo-Org/Hello#42",
        "github:octo-org/hello#42",
        "https://github.com/octo-org/hello/issues/42",
        "https://github.com/octo-org/hello/issues/42#issuecomment-7",
        " gh-42 ",
    ],
)
def test_a_reference_names_an_issue(external: str) -> None:
    """Each way in which people write it names issue 42 of this repository."""
    assert card_and_link.issue_of(external, BASE, HOST) == 42


@pytest.mark.parametrize(
    "external",
    [
        "",
        "42",
        "jira-42",
        "gh-",
        "gh-0",
        "gh-42x",
        "other/hello#42",
        "octo-org/hello2#42",
        "https://github.com/octo-org/hello/pull/42",
        "https://github.com/other/hello/issues/42",
        "https://evil.example/octo-org/hello/issues/42",
        "https://github.com/octo-org/hello/issues/421x",
        "see gh-42",
    ],
)
def test_what_names_no_issue_of_this_repository_is_no_link(external: str) -> None:
    """Another repository, another host, another tracker, or no issue at all: nothing is linked."""
    assert card_and_link.issue_of(external, BASE, HOST) is None


def test_the_first_open_task_stands_for_the_issue() -> None:
    """A closed task stands for nothing, and of two open ones the more urgent comes first."""
    tasks = (
        Task("a", "closed", status=TaskStatus.CLOSED, external="gh-42"),
        Task("b", "another", external="gh-43"),
        Task("c", "first", external="octo-org/hello#42"),
        Task("d", "second", external="gh-42"),
    )
    github = SimpleNamespace(api_url="https://api.github.com")
    world: Any = SimpleNamespace(base=BASE, addresses=github)
    tracker: Any = SimpleNamespace(list=lambda: tasks)
    assert [one.id for one in linked_writes.find(world, tracker, 42)] == ["c", "d"]
    assert linked_writes.find(world, tracker, 44) == ()


def with_link(synced: str = "claimed", /, **memory: Any) -> dict[str, Any]:
    """What a record remembers of a linked task."""
    return {"linked.link": Link("beads", "demo-1", synced), "linked.is_known": True, **memory}


def ending(synced: str = "claimed", /, **memory: Any) -> Snapshot:
    """A claim whose pull request merged and whose user said yes."""
    made = record(memory=with_link(synced, **memory), **DONE)
    return seen(made, observed=closing(), wake=Wake.STOP)


def steps(start: Snapshot, fails: type[Transient] | None = None, limit: int = 24) -> list[Any]:
    """The actions from here to rest; writes of the linked task fail if `fails` says how."""
    now, done = start, list[Any]()
    for _ in range(limit):
        step = decide(now)
        before = now.record
        now = replace(now, record=step.record or now.record)
        if step.action is None:
            if now.record == before:
                return done
            continue
        done.append(step.action)
        if isinstance(step.action, SetLinked):
            fact: Any = LinkedIs(step.action.id, step.action.wanted)
            if fails is not None:
                fact = Failed(step.action, fails("It is busy."))
        else:
            fact = believed(step.action)
        now = apply_fact(now, fact)
    raise AssertionError(done)


def kinds(actions: list[Any]) -> list[str]:
    """The actions' names."""
    return [type(one).__name__ for one in actions]


def test_a_claim_without_a_link_wants_nothing() -> None:
    """No linked task: no action, whatever the phase."""
    assert card_and_link.link_action(record()) is None
    assert card_and_link.link_action(record(**DONE)) is None


def test_closing_closes_the_inner_task_before_the_issue() -> None:
    """Inside first, outside second, with the summary and the PR as the reason."""
    made = ending()
    made = replace(made, record=made.record.with_values({"summary": "Fix race"}))
    done = steps(made)
    assert kinds(done).index("SetLinked") < kinds(done).index("CloseIssue")
    (action,) = [one for one in done if isinstance(one, SetLinked)]
    assert action.wanted == "closed"
    assert action.reason.startswith("Fix race (PR #107 ")


@pytest.mark.parametrize(
    ("summary", "number", "url", "override", "reason"),
    [
        ("Fixed", 7, "https://x", "it is in b", "Closed without a merged pull request: it is in b"),
        ("Fixed", 7, "https://x", "", "Fixed (PR #7 https://x)"),
        ("Fixed", 7, "", "", "Fixed (PR #7)"),
        ("Fixed", None, "https://x", "", "Fixed"),
        ("", 7, "https://x", "", "PR #7 https://x"),
        ("", None, "", "", "Done."),
    ],
)
def test_the_inner_task_is_closed_with_what_is_known(
    summary: str, number: int | None, url: str, override: str, reason: str
) -> None:
    """The summary and the pull request, as far as there are any, or why it is closed without a merge."""
    values = {"phase": "done", "summary": summary, "pr_number": number}
    made = record().with_values(values).with_pull(url=url).with_ending(override=override)
    assert card_and_link.link_reason(made) == reason
    assert card_and_link.link_reason(made.with_values({"phase": "coding"})) == ""


def test_an_issue_that_is_closed_already_still_closes_the_inner_task() -> None:
    """The other order of failure: GitHub closed it at the merge, and the inner task follows."""
    shown = replace(closing(), issue=issue(is_open=False, comments=()))
    made = replace(ending(), observation=shown)
    made = replace(
        made, record=replace(made.record, ending=replace(made.record.ending, issue_closed=True))
    )
    assert "SetLinked" in kinds(steps(made))


def test_giving_back_frees_the_inner_task_before_the_lease() -> None:
    """Behind the lease somebody else may hold both, so the inner one goes first."""
    leaving = Releasing(NOW, is_begun=True)
    memory = with_link(
        **{
            "ending.releasing": leaving,
            "ending.unassigned": True,
            "ending.board_done": True,
            "ownership.lease": "a" * 40,
        }
    )
    made = record(memory=memory, status="Todo")
    shown = observation(issue=issue(comments=()), item=ITEM)
    done = steps(seen(made, observed=shown, wake=Wake.STOP))
    order = [type(one) for one in done]
    assert order.index(SetLinked) < order.index(ReleaseLease) < order.index(ForgetClaim)
    assert [one.wanted for one in done if isinstance(one, SetLinked)] == ["released"]


def test_a_busy_tracker_is_tried_again_and_then_left() -> None:
    """Tries hold the closing back, each at a later look; with the third one the issue closes without it."""
    made = ending()
    looks = 0
    while True:
        looks += 1
        done = steps(made, Transient)
        if CloseIssue in map(type, done):
            break
        assert kinds(done)[-1] == "SetLinked"
        trouble = made.record
        for one in done:
            fact = Failed(one, Transient("It is busy.")) if isinstance(one, SetLinked) else None
            trouble = fold(trouble, fact or believed(one), made.now)
        assert steps(replace(made, record=trouble)) == [], "nothing is tried before its time"
        made = replace(made, record=trouble, now=trouble.troubles["SetLinked"].until + 1)
    assert looks == 3
    assert kinds(done)[:2] == ["SetLinked", "CloseIssue"]


def test_what_could_not_be_closed_is_told_with_the_end() -> None:
    """The last sentence names the task that is still open, and why."""
    made = ending(
        **{
            "ending.comment_done": True,
            "ending.issue_closed": True,
            "ending.board_done": True,
            "pull.url": MERGED.url,
        }
    )
    made = replace(made, record=made.record.with_values({"status": "Done"}))
    action = card_and_link.link_action(made.record)
    assert action is not None
    made = apply_fact(made, Failed(action, Refused("bd is not installed.")))
    step = decide(made)
    assert isinstance(step.action, ForgetClaim)
    assert "The linked task demo-1 is still open" in texts(step)
    assert "bd is not installed." in texts(step)
    closed = Link("beads", "demo-1", "closed")
    after = replace(made.record, linked=replace(made.record.linked, link=closed))
    assert card_and_link.link_remainder(after) == "", "somebody closed it meanwhile"


@pytest.mark.parametrize("synced", ["claimed", "closed"])
def test_a_claim_in_step_writes_nothing_inside(synced: str) -> None:
    """Claimed is as it should be, and closed by hand stays closed."""
    made = seen(record(memory=with_link(synced)), wake=Wake.STOP)
    assert decide(made).action is None


def test_a_living_claim_claims_what_it_could_not() -> None:
    """The tracker was busy when the issue was taken: any later look tries it again, once in a look."""
    made = seen(record(memory=with_link("")), wake=Wake.STOP)
    action = decide(made).action
    assert action == SetLinked("beads", "demo-1", "claimed")
    later = apply_fact(made, Failed(action, Transient("It is busy.")))
    assert decide(later).action is None
    assert decide(replace(later, failed=frozenset())).action is None, "its time has not come"
    assert decide(replace(later, failed=frozenset(), now=NOW + 61)).action == action


def test_what_is_left_is_said_once_and_not_touched() -> None:
    """Somebody else has it: one sentence under one key, and it is only looked at once more at the end."""
    made = record(memory=with_link("", **{"linked.left": "It is maria's."}))
    step = decide(seen(made, wake=Wake.STOP))
    assert "It is maria's." in texts(step)
    assert not any(say.stands for say in step.notices)
    assert card_and_link.link_action(made) is None
    assert (
        card_and_link.link_action(
            replace(made, ending=replace(made.ending, releasing=Releasing(NOW)))
        )
        is None
    )
    ends = made.with_values(DONE)
    assert card_and_link.link_action(ends) is not None
    left = fold(ends, LinkedIs("demo-1", "left", "It is maria's now."), NOW)
    assert card_and_link.link_action(left) is None
    for one, key, text in ((made, "", "It is maria's."), (left, ":end", "It is maria's now.")):
        told = Notice(f"linked-left:demo-1{key}", text, Audience.NOTE)
        assert card_and_link.link_notices(one) == (told,)
    for nothing in (with_link(""), {"linked.left": "It was of a link that is gone."}):
        assert card_and_link.link_notices(record(memory=nothing)) == ()


def test_the_link_survives_the_state_file() -> None:
    """What is written to state.json is read as it was, and an older file without it is read too."""
    made = record(memory=with_link("closed", **{"linked.left": "why"}))
    assert Record.from_json(made.as_json()) == made
    older = {k: v for k, v in made.as_json().items() if "link" not in k}
    assert Record.from_json(older).linked.link is None


def test_a_fact_of_another_task_changes_nothing() -> None:
    """A late answer about a task that is not the claim's link is no news of it."""
    made = record(memory=with_link(""))
    assert fold(made, LinkedIs("demo-2", "claimed"), NOW) == made
    now = fold(made, LinkedIs("demo-1", "claimed"), NOW)
    assert now.linked.link == Link("beads", "demo-1", "claimed")


@pytest.mark.parametrize(
    ("memory", "changes", "wake", "wants"),
    [
        ({}, {}, Wake.TICK, True),
        ({}, {}, Wake.STOP, False),
        ({}, DONE, Wake.STOP, True),
        ({"linked.is_known": True}, DONE, Wake.STOP, False),
        ({"linked.link": Link("beads", "bd-1")}, {}, Wake.TICK, False),
        ({"linked.link": Link("beads", "bd-1", "claimed")}, {}, Wake.TICK, True),
        ({"linked.link": Link("beads", "bd-1", "claimed")}, {}, Wake.STOP, False),
        ({"linked.link": Link("beads", "bd-1", "closed")}, {}, Wake.TICK, True),
        ({"linked.link": Link("beads", "bd-1", "closed")}, DONE, Wake.TICK, False),
        ({"ownership.taken_by": "b-1"}, {}, Wake.TICK, False),
        ({"ownership.is_leaseless": True}, {}, Wake.TICK, False),
        ({}, {"issue_number": None}, Wake.TICK, False),
    ],
)
def test_who_asks_and_what_ends_wants_to_know_what_is_linked(
    memory: dict[str, Any], changes: dict[str, Any], wake: Wake, wants: bool
) -> None:
    """A claim that is nobody else's, and of an issue."""
    made = seen(record(**changes, memory=memory), wake=wake)
    assert card_and_link.wants_link(made) is wants
    assert card_and_link.link_action(made.record) is None or "linked.link" in memory


def test_an_end_that_could_not_ask_for_its_linked_task_asks_again_and_then_ends_without() -> None:
    """Each failed question holds the end back until it is tried again; after three nobody waits."""
    for tries, is_known, waits in (
        (1, False, True),
        (2, False, True),
        (3, False, False),
        (1, True, False),
    ):
        trouble = Trouble("", "bd did not answer.", NOW + 60, tries=tries)
        made = record(
            **DONE, memory={"troubles": {"FindLinked": trouble}, "linked.is_known": is_known}
        )
        step = card_and_link.link_ending_step(seen(made, wake=Wake.STOP))
        assert step == (Decision() if waits else None)
