"""Decisions of a claim that is given back: comment, assignee, lease, board, file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import apply_observation, decide, look, still_wanted
from lifecycle.claim.decisions.derive import login_of
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.sections import Intent, Releasing
from lifecycle.claim.record.state import Record, fold
from lifecycle.core.errors import Rejected, Transient
from lifecycle.core.plan import (
    Audience,
    Done,
    Failed,
    ForgetClaim,
    Intended,
    PostComment,
    ReleaseLease,
    SetBoard,
    Unassign,
    Wake,
)
from lifecycle.core.values.model import LABELS_ITEM, BoardItem, Hold, Observation, PullState
from tests.claim.steps import REVIEW, rest, run, set_by
from tests.factories import NOW, comment, issue, observation, pull, record, seen, texts

AGENT = "edouard-1738000000"
ASKED = Releasing(NOW - 5, "out of time", "2 commits, pushed up to abc1234, phase coding.")
LEASE = "f" * 40
ITEM = BoardItem("PVTI_lADOBx", "In Progress", AGENT)


def leaving(*, memory: dict[str, Any] | None = None, **changes: Any) -> Record:
    """A claim with a lease that somebody asked to give back."""
    return record(
        memory={"ending.releasing": ASKED, "ownership.lease": LEASE, **(memory or {})}, **changes
    )


def shown(**changes: Any) -> Observation:
    """The issue as a claim has it: assigned, in progress, its comments read."""
    made = observation(issue=issue(comments=(), assignees=("Edouard", "maria")), item=ITEM)
    return replace(made, **changes)


def wakes(made: Record, observed: Observation, **changes: Any) -> Any:
    """The input of a stop's decision."""
    return seen(made, observed=observed, wake=Wake.STOP, **changes)


def begun(made: Record) -> Record:
    """The same, once GitHub was looked at."""
    releasing = replace(made.ending.releasing or ASKED, is_begun=True)
    ending = replace(made.ending, releasing=releasing)
    return replace(made.with_values({"status": "Todo"}), ending=ending)


@pytest.mark.parametrize("phase", [*[phase.value for phase in Phase], "no such phase"])
def test_a_claim_is_given_back_step_by_step_whatever_its_phase(phase: str) -> None:
    """Comment, assignee, lease, board, file, in this order; the phase in the file plays no part.

    The lease shows whether somebody took the task over meanwhile: then the card is theirs.
    """
    actions = run(wakes(leaving(phase=phase), shown()))
    posted, unassign, lease, board, forget = actions
    assert isinstance(posted, PostComment)
    assert unassign == Unassign(42, "Edouard"), "as GitHub spells it; others stay"
    assert board == SetBoard("PVTI_lADOBx", "Todo", None, clear_agent=True)
    assert lease == ReleaseLease(42, LEASE)
    assert forget == ForgetClaim()


def test_labels_are_set_before_the_lease_ends() -> None:
    """They name no agent: behind the lease, nothing would show a sweep that a release was cut off."""
    label = BoardItem(f"{LABELS_ITEM}42", "In Progress")
    *_, board, lease, forget = run(wakes(leaving(item_id=label.id), shown(item=label)))
    assert (board.item_id, board.status) == (label.id, "Todo")
    assert (lease, forget) == (ReleaseLease(42, LEASE), ForgetClaim())


def test_the_comment_says_who_how_far_where_and_why_and_names_the_open_pull_request() -> None:
    """One comment: agent, branch, progress, the PR that stays open, the reason, the hidden marker."""
    made = leaving(**REVIEW)
    posted = run(wakes(made, shown(by_number=pull())))[0]
    assert posted.body.splitlines()[:4] == [
        f"Released by {AGENT}; it stays assigned to maria, and nothing of the work was deleted.",
        "Branch `claude/fix-thing-42`: 2 commits, pushed up to abc1234, phase coding.",
        "PR #107 stays open.",
        "Reason: out of time",
    ]
    assert posted.body.endswith(posted.marker)
    assert posted.marker.startswith("<!-- lifecycle:released issue=42 by=edouard-1738000000 at=")
    closed = run(wakes(made, shown(by_number=pull(state=PullState.CLOSED))))[0]
    assert "PR #" not in closed.body
    assert (
        "Reason"
        not in run(wakes(leaving(memory={"ending.releasing": Releasing(NOW)}), shown()))[0].body
    )


def test_each_release_has_a_marker_of_its_own() -> None:
    """The same agent's second release of the same issue is told as well."""
    first = run(wakes(leaving(), shown()))[0]
    later = leaving(memory={"ending.releasing": replace(ASKED, at=NOW + 500)})
    actions = run(wakes(later, shown(issue=issue(comments=(comment(first.body),)))))
    assert isinstance(actions[0], PostComment)
    assert actions[0].marker != first.marker


def test_the_end_is_said_with_the_last_step_to_the_person_and_the_outcome_is_released() -> None:
    """A crash behind the last step must not lose the sentence, and no later look repeats the steps."""
    made = begun(
        leaving(
            memory={
                "ending.comment_done": True,
                "ending.unassigned": True,
                "ending.lease_done": True,
            }
        )
    )
    made = replace(made, ending=replace(made.ending, board_done=True))
    step = decide(wakes(made, shown()))
    assert step.action == ForgetClaim()
    (say,) = step.notices
    assert say.audience is Audience.NOTE
    assert say.text.startswith(
        "Issue #42 released. Board → Todo. Nothing of branch claude/fix-thing-42"
    )
    ended = fold(made, Done(ForgetClaim()), NOW)
    assert ended.ending.outcome == "released"
    assert look(wakes(ended, shown())) is None
    assert decide(wakes(ended, shown())).action is None


@pytest.mark.parametrize("number", [None, 107])
def test_a_merged_pull_request_is_refused_before_anything_is_written(number: int | None) -> None:
    """The task is finished: the claim stays, and the sentence says to close instead."""
    merged = pull(state=PullState.MERGED)
    actions, left = rest(wakes(leaving(pr_number=number), shown(by_branch=(merged,))))
    assert actions == []
    assert left.ending.releasing is None
    assert left.claim.status == "In Progress"
    step = decide(wakes(leaving(pr_number=number), shown(by_branch=(merged,))))
    assert "PR #107 is merged" in texts(step)
    assert "lifecycle close" in texts(step)


def test_a_merge_after_the_first_step_does_not_turn_back() -> None:
    """The issue was told already: what was begun is carried through."""
    merged = pull(state=PullState.MERGED)
    made = begun(leaving(memory={"ending.comment_done": True}))
    actions = run(wakes(made, shown(by_branch=(merged,))))
    assert [type(a) for a in actions] == [Unassign, ReleaseLease, SetBoard, ForgetClaim]


def test_a_task_that_another_agent_holds_is_left_to_it() -> None:
    """Another's lease or another's name on the card: only the claim here ends, GitHub is left."""
    by_lease = leaving(memory={"ending.releasing": replace(ASKED, holder="maria-2")})
    assert run(wakes(by_lease, shown())) == [ForgetClaim()]
    theirs = shown(item=BoardItem("PVTI_lADOBx", "In Progress", "maria-2"))
    assert run(wakes(leaving(memory={"ownership.lease": ""}), theirs)) == [ForgetClaim()]
    made = apply_observation(
        leaving(memory={"ownership.lease": "", "ownership.taken_by": "maria-2"}), theirs, NOW
    )
    assert "held by maria-2" in texts(decide(wakes(made, theirs)))
    taken = replace(theirs, hold=Hold(42, "e" * 40, "maria-2"))
    assert not [a for a in run(wakes(leaving(), taken)) if isinstance(a, SetBoard)]
    # A name typed onto the card: our lease would keep its owner out, so that one thing goes.
    assert run(wakes(leaving(), theirs)) == [ReleaseLease(42, LEASE), ForgetClaim()]


@pytest.mark.parametrize(
    ("item", "is_open", "wrote", "said"),
    [
        (BoardItem("PVTI_lADOBx", "Blocked", AGENT), True, (None, True), 'stays in "Blocked"'),
        (BoardItem("PVTI_lADOBx", "In Review", AGENT), True, ("Todo", True), "Board → Todo."),
        (BoardItem("PVTI_lADOBx", "Todo", AGENT), True, (None, True), "Board → Todo."),
        (BoardItem("PVTI_lADOBx", "Todo", None), True, None, "Board → Todo."),
        (BoardItem("PVTI_lADOBx", None, None), True, ("Todo", False), "Board → Todo."),
        (BoardItem("PVTI_lADOBx", "In Progress", AGENT), False, (None, True), "stays in"),
        (BoardItem("PVTI_lADOBx", "In Progress", AGENT, is_archived=True), True, None, "archived"),
        (None, True, None, "not on project 1"),
    ],
)
def test_what_people_moved_aside_on_the_board_is_left(
    item: BoardItem | None, *, is_open: bool, wrote: tuple[str | None, bool] | None, said: str
) -> None:
    """One moved aside keeps its column and loses our name, as a closed issue's; In Review is over."""
    observed = shown(item=item, issue=issue(comments=(), is_open=is_open))
    actions, left = rest(wakes(leaving(), observed))
    boards = [(a.status, a.clear_agent) for a in actions if isinstance(a, SetBoard)]
    assert boards == ([wrote] if wrote else [])
    assert actions[-1] == ForgetClaim()
    assert said in texts(
        decide(wakes(replace(left, ending=replace(left.ending, outcome="")), observed))
    )


def test_a_card_that_was_never_synced_is_moved_only_from_where_a_claim_puts_it() -> None:
    """A hand-written claim: another agent's card is not touched, nor one that people parked."""
    made = leaving(memory={"card.agent": None}, last_synced_status=None, status="")
    parked = shown(item=BoardItem("PVTI_lADOBx", "Blocked", None))
    assert not [a for a in run(wakes(made, parked)) if isinstance(a, SetBoard)]
    theirs = shown(item=BoardItem("PVTI_lADOBx", "In Progress", "maria-2"))
    actions, left = rest(wakes(made, theirs))
    assert not [a for a in actions if isinstance(a, SetBoard)]
    assert "names maria-2" in texts(
        decide(wakes(replace(left, ending=replace(left.ending, outcome="")), theirs))
    )
    free = shown(item=BoardItem("PVTI_lADOBx", "In Review", None))
    (board,) = [a for a in run(wakes(made, free)) if isinstance(a, SetBoard)]
    assert (board.status, board.clear_agent) == ("Todo", False)


@pytest.mark.parametrize(
    ("assignees", "is_open", "agent"),
    [
        (("maria",), True, AGENT),
        ((), True, AGENT),
        (("edouard",), False, AGENT),
        (("edouard",), True, "edouard"),
        (("edouard",), True, ""),
    ],
)
def test_only_the_login_that_the_claim_assigned_is_taken_off(
    assignees: tuple[str, ...], *, is_open: bool, agent: str
) -> None:
    """Another assignee stays, a closed issue goes on showing who worked, a name is not guessed."""
    observed = shown(issue=issue(comments=(), assignees=assignees, is_open=is_open))
    actions = run(wakes(leaving(agent_id=agent), observed))
    assert not [a for a in actions if isinstance(a, Unassign)]
    assert actions[-1] == ForgetClaim()


def test_the_login_is_what_stands_before_the_seconds() -> None:
    """Agents are called login-seconds; a login may have hyphens of its own."""
    assert login_of("edouard-1738000000") == "edouard"
    assert login_of("my-bot-1738000000") == "my-bot"
    assert login_of("maria") == ""


def test_a_step_that_was_a_fact_stays_one() -> None:
    """A lagging read, or a new owner with the same login, brings no step back."""
    made = begun(
        leaving(
            memory={
                "ending.comment_done": True,
                "ending.unassigned": True,
                "ending.board_done": True,
            }
        )
    )
    actions = run(wakes(made, shown()))
    assert [type(a) for a in actions] == [ReleaseLease, ForgetClaim]
    taken = shown(hold=Hold(42, "e" * 40, "maria-2"))
    assert not [a for a in run(wakes(made, taken)) if isinstance(a, SetBoard)]


@pytest.mark.parametrize("status", ["In Progress", "In Review"])
def test_a_card_that_a_sweep_set_back_to_work_is_freed_again(status: str) -> None:
    """A run that was killed before it ended the lease left a holder, and a sweep puts that back."""
    made = begun(leaving(memory={"ending.comment_done": True, "ending.board_done": True}))
    held = Hold(42, LEASE, AGENT)
    swept = shown(item=BoardItem("PVTI_lADOBx", status, AGENT), hold=held)
    assert SetBoard("PVTI_lADOBx", "Todo", None, clear_agent=True) in run(wakes(made, swept))
    for free in (BoardItem("PVTI_lADOBx", "Todo", ""), BoardItem("PVTI_lADOBx", "Blocked", "")):
        actions = run(wakes(made, shown(item=free, hold=held)))
        assert not [a for a in actions if isinstance(a, SetBoard)]


def test_what_a_killed_run_did_is_found_and_not_done_again() -> None:
    """Comment by its marker, assignee and card by what GitHub shows."""
    made = begun(leaving())
    posted = run(wakes(made, shown()))[0]
    found = shown(
        issue=issue(comments=(comment(posted.body),), assignees=("maria",)),
        item=BoardItem("PVTI_lADOBx", "Todo", ""),
    )
    assert [type(a) for a in run(wakes(made, found))] == [ReleaseLease, ForgetClaim]


def test_a_comment_whose_fate_is_unknown_keeps_lease_and_claim_until_reads_settle() -> None:
    """The assignee goes on; 120 s and two clean reads later the comment is sent again."""
    made = begun(leaving())
    posted = run(wakes(made, shown()))[0]
    made = fold(made, Intended(posted), NOW)
    made = fold(made, Failed(posted, Transient("cut", is_ambiguous=True)), NOW)
    assert made.intents["PostComment"] == Intent(posted.marker, NOW)
    for later, resent in ((NOW + 60, False), (NOW + 90, False), (NOW + 121, True)):
        made = apply_observation(made, shown(), later)
        actions = run(wakes(made, shown(), now=later), absorbed=True)
        assert (posted in actions) is resent
        assert any(isinstance(a, ForgetClaim) for a in actions) is resent
        assert any(isinstance(a, Unassign) for a in actions)
    assert made.due() is not None


@pytest.mark.parametrize("kind", [PostComment, Unassign, SetBoard, ReleaseLease])
def test_a_step_that_github_refuses_does_not_keep_the_claim(kind: type[Any]) -> None:
    """Every step but the file is best effort: refused once it is left out, and said."""
    made = begun(leaving())
    action = next(a for a in run(wakes(made, shown())) if isinstance(a, kind))
    refused = fold(made, Failed(action, Rejected("GitHub said no (403).")), NOW)
    assert still_wanted(wakes(refused, shown()), kind.__name__)
    actions, left = rest(wakes(refused, shown()))
    assert action not in actions
    assert actions[-1] == ForgetClaim()
    assert "GitHub said no" in texts(
        decide(wakes(replace(left, ending=replace(left.ending, outcome="")), shown()))
    )


@pytest.mark.parametrize("kind", [Unassign, SetBoard, ReleaseLease])
def test_a_step_that_nobody_answers_is_tried_three_times(kind: type[Any]) -> None:
    """Unknown is not no: the claim waits for it, and the hooks look again when it is due."""
    made = begun(leaving())
    action = next(a for a in run(wakes(made, shown())) if isinstance(a, kind))
    for _ in range(2):
        made = fold(made, Failed(action, Transient("502")), NOW)
        assert not any(isinstance(a, ForgetClaim) for a in run(wakes(made, shown())))
        assert action in run(wakes(made, shown(), now=NOW + 61))
        assert made.due() == NOW + 60
    made = fold(made, Failed(action, Transient("502")), NOW)
    actions = run(wakes(made, shown()))
    assert action not in actions
    assert actions[-1] == ForgetClaim()


def test_an_issue_that_github_does_not_show_gets_nothing() -> None:
    """Whoever leaves its task leaves no lease behind, which nobody would ever end."""
    actions, _ = rest(wakes(leaving(), shown(issue=None)))
    assert [type(action) for action in actions] == [ReleaseLease, ForgetClaim]


def test_it_reads_once_with_comments_and_waits_while_held_back() -> None:
    """One look with comments and no checks; who asks by command is never held back."""
    made = leaving(**REVIEW)
    wanted = look(seen(made, wake=Wake.STOP))
    assert wanted is not None
    assert (wanted.comments, wanted.checks, wanted.pr_number) == (True, False, 107)
    held = fold(made, Failed(Unassign(42, "Edouard"), Transient("502")), NOW)
    assert look(seen(held, wake=Wake.STOP)) is None
    assert look(seen(held, wake=Wake.TICK)) is not None
    assert look(seen(held, wake=Wake.STOP, now=NOW + 61)) is not None
    assert decide(seen(held, wake=Wake.STOP)).action is None


def test_a_status_that_the_agent_writes_meanwhile_gives_way() -> None:
    """The card's last status is the release's, whatever is written into the file on the way."""
    made = begun(leaving()).with_values({"status": "In Progress"})
    assert set_by(decide(wakes(made, shown()))) == {"status": "Todo"}


def test_the_record_of_a_release_outlives_the_process() -> None:
    """What as_json writes, from_json reads back as the same value."""
    made = begun(leaving())
    assert Record.from_json(made.as_json()) == made
