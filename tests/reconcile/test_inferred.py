"""What GitHub alone says of a claim: whose it is, what is its own, and its last sign of life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import card_and_link
from lifecycle.claim.decisions.decide import foresee, imagine
from lifecycle.claim.decisions.pull.opening import body
from lifecycle.claim.record.sections import LinkRecord
from lifecycle.core import plan
from lifecycle.core.values.branch_names import named_issue
from lifecycle.core.values.model import (
    LABELS_ITEM,
    BoardItem,
    Comment,
    Hold,
    Observation,
    PullState,
)
from lifecycle.core.values.survey import Tip
from lifecycle.reconcile.finding import State
from lifecycle.reconcile.inferred import Allowed, record_of
from lifecycle.reconcile.scope import Policy
from lifecycle.sandbox.pulls import closing
from tests.factories import BRANCH, NOW, SHA
from tests.reconcile.worlds import (
    AGENT,
    HOUR,
    ISSUE,
    REPOSITORY,
    TAKEN,
    Shown,
    card,
    judge,
    pull,
    shown,
    tip,
)

LONG_AGO = NOW - 72 * HOUR
HELD = Hold(42, "b" * 40, AGENT, LONG_AGO, BRANCH)
LEFT = shown(hold=HELD, item=card("In Progress", at=LONG_AGO))
DRAFT = pull(is_draft=True, opened_at=LONG_AGO, updated_at=LONG_AGO)

SIGNS: dict[str, Callable[[float], Shown]] = {
    "the lease": lambda at: replace(LEFT, hold=replace(HELD, since=at)),
    "a push": lambda at: replace(LEFT, tips=(tip(at),)),
    "a draft that was touched": lambda at: replace(LEFT, pulls=(replace(DRAFT, updated_at=at),)),
    "the card": lambda at: replace(LEFT, item=card("In Progress", at=at)),
    "an assignment": lambda at: replace(
        LEFT, issue=replace(LEFT.issue, assignees=("edouard",)), assigned_at=at
    ),
}


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_each_sign_of_life_counts_for_a_day(sign: Callable[[float], Shown]) -> None:
    """A claim is not silent if one thing about it is younger than a day, whatever else is old."""
    assert judge().is_silent(LEFT.task())
    assert not judge().is_silent(sign(NOW - 23 * HOUR).task())
    assert judge().is_silent(sign(NOW - 25 * HOUR).task())


def test_a_card_in_todo_is_no_sign_of_life() -> None:
    """Nobody who works moves the card to Todo; a giving back that was cut short did."""
    assert judge().is_silent(replace(LEFT, item=card("Todo", at=NOW - HOUR)).task())


def test_how_long_silence_lasts_is_configured() -> None:
    """The policy's hours decide what is silent, also where releasing is off."""
    found = judge(Policy(silent_seconds=5 * HOUR)).findings(shown().task())
    assert [(one.kind, one.state) for one in found] == [("silent", State.OFF)]
    assert judge(Policy(silent_seconds=80 * HOUR)).findings(LEFT.task()) == ()


def test_a_person_is_never_silent() -> None:
    """Nobody counts the hours of a task that no agent has."""
    persons = shown(
        hold=None,
        item=card("In Progress", None, at=LONG_AGO),
        issue={"assignees": ("ada",)},
        assigned_at=LONG_AGO,
    )
    assert not judge().is_silent(persons.task())


def test_a_closed_issues_lease_gets_its_day_from_the_closing() -> None:
    """The lease of an issue that was closed an hour ago is left, however old it is."""
    closed = {"is_open": False, "closed_at": NOW - HOUR}
    done = shown(hold=HELD, item=card("Done", None, at=LONG_AGO), issue=closed)
    assert judge(Policy(releases=True)).findings(done.task()) == ()


def test_the_lease_of_a_merged_claim_ends_with_its_closing() -> None:
    """Where closing is configured, what is left of a closing that was cut short is ended at once."""
    merged = pull(state=PullState.MERGED, merged_at=NOW - 2 * HOUR, closed_at=NOW - 2 * HOUR)
    closed = {"is_open": False, "closed_at": NOW - HOUR}
    world = shown(pulls=(merged,), item=card("Done", None, at=NOW), issue=closed)
    (found,) = judge(Policy(closes=True)).findings(world.task())
    assert (found.kind, found.state) == ("lease-left", State.PLANNED)
    (found,) = judge(Policy()).findings(world.task())
    assert (found.kind, found.state) == ("lease-left", State.OFF)


def test_an_archived_card_that_was_moved_is_nobodys_business() -> None:
    """Whoever archives a card is done with it: not even its place is told."""
    moved = replace(card("Blocked", at=NOW), is_archived=True)
    assert judge().findings(shown(pulls=(pull(),), item=moved).task()) == ()


def test_an_archived_card_names_no_holder() -> None:
    """Nothing is written on it, so its name stays for ever: the task is whose it is assigned to."""
    item = replace(card("In Progress"), is_archived=True)
    old: dict[str, Any] = {"hold": None, "assigned_at": TAKEN, "issue": {"assignees": ("octocat",)}}
    policy = Policy(releases=True, silent_seconds=HOUR)
    assert judge(policy).findings(shown(item=item, **old).task()) == ()
    (found,) = judge(policy).findings(shown(item=card("In Progress"), **old).task())
    assert found.kind == "silent"


@pytest.mark.parametrize(
    ("owner", "kinds"), [("octo-org", []), ("mallory", ["branch-without-pull", "silent"])]
)
def test_a_branch_whose_open_pull_request_says_nothing_of_the_issue_gets_no_draft(
    owner: str, kinds: list[str]
) -> None:
    """Nor is its claim silent: people have to act. That of a fork is another's, whatever its branch."""
    unsaid = pull(body="", title="Work", head_owner=owner)
    item = card("In Progress", at=LONG_AGO)
    held: dict[str, Any] = {
        "hold": replace(HELD, branch=""),
        "item": item,
        "tips": (tip(LONG_AGO),),
    }
    found = judge().findings(shown(open_pulls=(unsaid,), **held).task())
    assert [finding.kind for finding in found] == kinds


def test_a_draft_is_newer_than_where_somebody_put_the_card() -> None:
    """Left work on a card that was moved by hand: the draft is opened, and nothing is said to be left."""
    world = replace(LEFT, item=card("Blocked", at=LONG_AGO + HOUR), tips=(tip(LONG_AGO),))
    kinds = [one.kind for one in judge().findings(world.task())]
    assert kinds == ["branch-without-pull", "silent"]


def opened_draft(world: Shown) -> plan.OpenPullRequest:
    """The draft that a run would open."""
    (seen,) = judge().looks(world.task())
    actions = [step.action for _, step in foresee(seen, imagine)]
    (opened,) = [action for action in actions if isinstance(action, plan.OpenPullRequest)]
    return opened


def test_the_draft_is_opened_from_the_repository_itself() -> None:
    """The head names the owner of the repository that the branch lies in."""
    opened = opened_draft(replace(LEFT, tips=(tip(LONG_AGO),)))
    assert opened.head == f"octo-org:{BRANCH}"
    assert opened.is_draft


def test_a_strangers_title_makes_the_draft_close_and_mention_nothing_else() -> None:
    """The issue's title is the draft's title and text, which close issues at a merge: it is data there."""
    title = "Fix it. Fixes #7, closes a/b#8: resolves https://github.com/a/b/issues/9 @a/b <!-- x"
    world = replace(LEFT, tips=(tip(LONG_AGO),))
    world = replace(world, issue=replace(world.issue, title=title))
    opened = opened_draft(world)
    text = body("", summary=opened.title, issue=42, link="Closes")
    closed = [match["number"] for match in closing.WORDS.finditer(f"{opened.title}\n{text}")]
    assert closed == ["42"]
    assert opened.title.startswith("Fix it. Fixes # 7, closes a/b# 8")
    assert not [part for part in ("@a", "<!--", "://") if part in text]


@pytest.mark.parametrize("item", [None, "labels"])
def test_labels_say_nothing_of_the_agent(item: str | None) -> None:
    """There is no Agent among the labels, so it is no drift that they name none."""
    labels = BoardItem(f"{LABELS_ITEM}42", "In Progress" if item else None)
    kinds = [one.kind for one in judge().findings(shown(item=labels).task())]
    assert kinds == ([] if item else ["status-drift"])


def told(agent: str, at: float) -> Comment:
    """The comment of a giving back."""
    mark = f"<!-- lifecycle:released issue=42 by={agent} at={int(at)} -->"
    return Comment(1, f"Released by {agent}; the task is free again.\n\n{mark}")


@pytest.mark.parametrize(
    ("comments", "at"),
    [
        ((), NOW),
        ((told(AGENT, NOW - 5 * HOUR),), NOW - 5 * HOUR),
        ((told(AGENT, NOW - 5 * HOUR), told(AGENT, NOW - HOUR)), NOW - HOUR),
        ((told("bob-1", NOW - 5 * HOUR),), NOW),
        ((told(AGENT, LONG_AGO - HOUR),), NOW),
        ((Comment(1, f"They said:\n> {told(AGENT, NOW - HOUR).body}\nAha."),), NOW),
    ],
    ids=["none", "one", "the newest", "another agent's", "of an earlier claim", "a quotation"],
)
def test_a_giving_back_that_was_told_is_the_one_that_goes_on(
    comments: tuple[Comment, ...], at: float
) -> None:
    """Its comment names the moment: whoever goes on takes that one, and tells it once."""
    world = replace(LEFT, issue=replace(ISSUE, comments=comments))
    releasing = record_of(world.task(), Allowed(releasing=True), NOW).ending.releasing
    assert releasing is not None
    assert releasing.at == int(at)


@pytest.mark.parametrize("allowed", [Allowed(), Allowed(closing=True), Allowed(releasing=True)])
def test_a_sweep_never_touches_a_linked_task(allowed: Allowed) -> None:
    """A reconcile has no worktree: its claim has no linked task, so nothing inside is written."""
    made = record_of(LEFT.task(), allowed, NOW)
    assert made.linked == LinkRecord()
    assert card_and_link.link_action(made) is None


def test_the_open_pull_request_comes_before_the_merged_and_the_closed_one() -> None:
    """Of several of one branch: the open one, else the newest merged one, else the newest."""
    ended: dict[str, Any] = {"closed_at": NOW - HOUR, "updated_at": NOW - HOUR}
    merged = pull(number=108, state=PullState.MERGED, merged_at=NOW - HOUR, **ended)
    closed = pull(number=109, state=PullState.CLOSED, **ended)
    older = replace(merged, number=106)
    for pulls, number in (
        ((closed, merged, pull()), 107),
        ((closed, merged, older), 108),
        ((closed, replace(closed, number=105)), 109),
    ):
        own = shown(pulls=pulls).task().pull
        assert own is not None
        assert own.number == number


def test_the_leases_branch_comes_before_one_of_that_name() -> None:
    """Whoever took the task said where the work is; an older branch of the issue is another's."""
    tips = (Tip("claude/a-try-42", SHA, NOW), Tip(BRANCH, SHA, NOW))
    assert shown(tips=tips).task().branch == BRANCH
    unnamed = replace(HELD, branch="")
    assert shown(hold=unnamed, tips=tips[:1]).task().branch == "claude/a-try-42"
    assert shown(hold=unnamed).task().branch == ""


@pytest.mark.parametrize(
    ("branch", "number"),
    [
        ("claude/fix-thing-42", 42),
        ("claude/42", 42),
        ("claude/fix-142", 142),
        ("claude/fix-042", 0),
        ("claude/fix-٤٢", 0),
        ("claude/fix-42-again", 0),
        ("fix-thing-42", 0),
        ("renovate/node-42", 0),
    ],
)
def test_which_names_are_a_claims(branch: str, number: int) -> None:
    """A branch is the issue's by its name only if a claim could have made it."""
    assert named_issue(branch) == number


def seen(item: BoardItem | None, **changes: Any) -> Observation:
    """What a closer look shows."""
    return Observation(REPOSITORY, "main", ISSUE, item=item, **changes)


def test_a_look_finds_the_pull_request_that_came_meanwhile() -> None:
    """Opened between the sweep and the look: it is the claim's, and no second one is opened."""
    task = replace(LEFT, tips=(tip(LONG_AGO),)).task()
    assert task.pull is None
    fresh = task.looked_at(seen(LEFT.item, by_branch=(pull(),)))
    assert fresh is not None
    assert fresh.pull is not None
    assert fresh.pull.number == 107


@pytest.mark.parametrize(
    ("agent", "is_held"),
    [(AGENT, True), (None, True), ("bob-1", False)],
    ids=["its", "none", "bob"],
)
def test_a_look_doubts_a_lease_where_another_came(agent: str | None, *, is_held: bool) -> None:
    """The card names another agent than in the sweep: the lease that was read then says nothing now."""
    fresh = LEFT.task().looked_at(seen(card("In Progress", agent, at=NOW)))
    assert fresh is not None
    assert (fresh.hold is not None) is is_held
    assert fresh.agent == (AGENT if is_held else "bob-1")


def test_an_issue_that_is_gone_is_no_task() -> None:
    """Deleted or transferred since the sweep."""
    assert LEFT.task().looked_at(replace(seen(None), issue=None)) is None
