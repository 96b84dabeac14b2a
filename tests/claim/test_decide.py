"""What a wake reads, the hand-off, and whole properties of decisions."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.decisions.decide import decide, look
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import IN_REVIEW, Phase
from lifecycle.claim.record.sections import Intent, Trouble
from lifecycle.claim.record.state import Record, fold
from lifecycle.core.errors import NothingToMerge, Transient
from lifecycle.core.plan import (
    ASKED,
    Audience,
    CloseIssue,
    Failed,
    ForgetClaim,
    OpenPullRequest,
    PullRequestOpened,
    SetBoard,
    Wake,
)
from lifecycle.core.timing import parse_time, render_time
from lifecycle.core.values.checks import Bucket
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import BoardItem, PullState
from tests.batches import each_row
from tests.claim.steps import ITEM, READY, REVIEW, configured, fields_of, rest, set_by
from tests.factories import (
    BRANCH,
    NOW,
    checks,
    issue,
    observation,
    pull,
    record,
    seen,
    texts,
)


@pytest.mark.parametrize("wake", [Wake.STOP, Wake.IDLE])
def test_fault_1_an_unchanged_claim_reads_nothing(wake: Wake) -> None:
    """While the agent codes and nothing changed, no wake of a hook asks GitHub anything."""
    assert look(seen(wake=wake)) is None


@each_row(("phase", "wake"), list(product(Phase, Wake)))
def test_what_each_phase_reads_at_each_wake(phase: Phase, wake: Wake) -> None:
    """Stop reads for a hand-off and for done; the others a pull request, sweep and start not its checks.

    Who comes back to work that goes on, or to a question, hears whether the task is theirs still.
    """
    made = record(**{**REVIEW, "phase": phase.value, "summary": "Fix"})
    wanted = look(seen(made, wake=wake))
    polls = wake is not Wake.STOP
    if phase in (Phase.READY_FOR_PR, Phase.DONE):
        assert wanted is not None
        assert wanted.comments == (phase is Phase.DONE)
    elif phase in IN_REVIEW:
        assert (wanted is not None) == polls
        assert wanted is None or wanted.checks == (wake not in (Wake.SWEEP, Wake.START))
    else:  # a merge that GitHub has shown is final, but its issue may have been closed since
        assert (wanted is not None) == (wake in (*ASKED, Wake.START))


@pytest.mark.parametrize(
    ("last", "polls"),
    [
        (None, True),
        ("", True),
        ("not a time", True),
        (render_time(NOW - 119), False),
        (render_time(NOW - 120), True),
        (render_time(NOW + 3600), True),
        ("9999-12-31T23:59:59Z", True),
        ("0000-00-00", True),
    ],
)
def test_fault_9_the_backoff_survives_unreadable_and_future_times(
    last: str | None, *, polls: bool
) -> None:
    """120 s between two polls; a time that cannot be read or lies ahead means: poll now."""
    made = record(**REVIEW, last_check_poll=last)
    wanted = look(seen(made, wake=Wake.IDLE))
    assert wanted is not None  # the merge is looked for whatever the backoff says
    assert wanted.checks is polls


def test_the_merge_is_looked_for_before_the_backoff_is_over() -> None:
    """Inside the backoff a merge is still seen, and the checks are not touched."""
    made = record(**REVIEW, last_check_poll=render_time(NOW - 10))
    found = observation(by_number=pull(state=PullState.MERGED), item=ITEM)
    step = decide(seen(made, observed=found, looked_at_checks=False))
    assert set_by(step)["phase"] == "merged_detected"
    assert "last_check_poll" not in set_by(step)


@pytest.mark.parametrize(
    ("missing", "names"),
    [(["branch"], "branch is"), (["summary"], "summary is"), (["branch", "summary"], "and")],
)
def test_a_hand_off_that_lacks_something_says_what(missing: list[str], names: str) -> None:
    """Without branch or summary the claim stays in ready_for_pr, its stop asks nothing, and it says why.

    A command and a session's start look at GitHub as they do in coding: the task may be another's by now.
    """
    made = record(**{**READY, **dict.fromkeys(missing, "")})
    assert look(seen(made, wake=Wake.STOP)) is None
    assert None not in [look(seen(made, wake=wake)) for wake in (Wake.TICK, Wake.START)]
    step = decide(seen(made, wake=Wake.STOP))
    assert step.action is None
    assert not set_by(step)
    assert names in texts(step)


def test_a_hand_off_opens_the_pull_request_into_the_default_branch() -> None:
    """Head is owner:branch, the title the summary, the base what the repository's default is."""
    step = decide(seen(record(**READY), observed=observation(default_branch="trunk")))
    action = step.action
    assert isinstance(action, OpenPullRequest)
    assert (action.head, action.base) == (f"octo-org:{BRANCH}", "trunk")
    assert action.title == "Fix race condition"


def test_fault_12_the_base_is_configured_or_the_default_and_never_the_head() -> None:
    """A configured base wins; the branch that is the base itself is refused with a word."""
    made = seen(record(**READY), observed=observation())
    action = decide(configured(made, base="release")).action
    assert isinstance(action, OpenPullRequest)
    assert action.base == "release"
    on_main = seen(record(**{**READY, "branch": "main"}), observed=observation())
    assert decide(on_main).action is None
    assert "also the PR's base" in texts(decide(on_main))


@pytest.mark.parametrize("state", [PullState.CLOSED, PullState.MERGED])
def test_fault_12_a_reused_branch_does_not_adopt_its_old_pull_request(state: PullState) -> None:
    """A closed or merged PR of the same branch is history: a new one is opened."""
    old = pull(number=7, state=state, body="Refs #1")
    step = decide(seen(record(**READY), observed=observation(by_branch=(old,))))
    assert isinstance(step.action, OpenPullRequest)


def test_somebody_elses_branch_of_the_same_name_is_not_ours() -> None:
    """A fork's open PR with the same branch name is not adopted."""
    other = pull(head_owner="mallory")
    step = decide(seen(record(**READY), observed=observation(by_branch=(other,))))
    assert isinstance(step.action, OpenPullRequest)


def test_fault_5_an_open_pull_request_is_adopted_with_number_and_phase_in_one_step() -> None:
    """Phase and number are one change; a crash between them is not possible."""
    step = decide(seen(record(**READY), observed=observation(by_branch=(pull(),))))
    assert step.action is None
    assert set_by(step) == {"phase": "pr_created", "pr_number": 107, "status": "In Review"}
    assert "https://github.com/octo-org/hello/pull/107" in texts(step)


def test_the_new_pull_request_is_said_with_its_url_and_continues_the_stop() -> None:
    """The design's words, for the audience that reaches the agent."""
    made = fold(record(**READY), PullRequestOpened(pull()), NOW)
    step = decide(seen(made, wake=Wake.STOP))
    say = next(s for s in step.notices if s.key == "pr:107")
    assert say.text == "PR #107 created: https://github.com/octo-org/hello/pull/107"
    assert say.audience is Audience.NEXT
    assert isinstance(step.action, SetBoard)
    assert step.action.status == "In Review"


def test_a_refused_pull_request_is_said_once_and_tried_again_when_something_was_pushed() -> None:
    """The refusal holds the same attempt back; another pushed commit is another attempt."""
    opening = decide(seen(record(**READY), observed=observation())).action
    assert isinstance(opening, OpenPullRequest)
    error = NothingToMerge("There is no commit to merge. Commit and push, then hand off again.")
    made = fold(record(**READY), Failed(opening, error), NOW)
    step = decide(seen(made, wake=Wake.STOP))
    assert [say.audience for say in step.notices] == [Audience.ACT]
    assert "Commit and push" in texts(step)
    assert look(seen(made, wake=Wake.STOP)) is None
    assert look(seen(made, wake=Wake.STOP, pushed_head="b" * 40)) is not None
    assert look(seen(made, wake=Wake.STOP, now=NOW + 121)) is not None


def test_a_pull_request_that_is_refused_for_good_is_asked_for_ever_more_rarely() -> None:
    """Twice as long each time, at most a day; another commit is a first attempt again."""
    opening = decide(seen(record(**READY), observed=observation())).action
    assert isinstance(opening, OpenPullRequest)
    made, waits = record(**READY), []
    for _ in range(14):
        made = fold(made, Failed(opening, NothingToMerge("There is no commit to merge.")), NOW)
        waits.append(made.troubles["OpenPullRequest"].until - NOW)
    assert waits[:4] == [120, 240, 480, 960]
    assert waits[-2:] == [86_400, 86_400]
    pushed = replace(opening, pushed="b" * 40)
    made = fold(made, Failed(pushed, NothingToMerge("There is no commit to merge.")), NOW)
    assert made.troubles["OpenPullRequest"].until == NOW + 120


def test_a_lost_answer_is_no_refusal_and_tried_again_later() -> None:
    """Nobody knows: the person is told that the PR waits, nobody has to do a thing, the next look comes."""
    opening = decide(seen(record(**READY), observed=observation())).action
    assert isinstance(opening, OpenPullRequest)
    made = fold(record(**READY), Failed(opening, Transient("502", is_ambiguous=True)), NOW)
    (said,) = decide(seen(made, wake=Wake.STOP)).notices
    assert (said.key, said.audience) == ("pr-waits", Audience.NOTE)
    assert made.due() == NOW + 60


@given(
    phase=st.sampled_from(Phase),
    state=st.sampled_from([None, *PullState]),
    wake=st.sampled_from(Wake),
    buckets=st.lists(st.sampled_from(Bucket), max_size=3),
    status=st.sampled_from(["In Progress", "In Review", "Done", "Blocked", ""]),
    card=st.sampled_from([None, "In Progress", "In Review", "Done", "Blocked"]),
    is_open=st.booleans(),
)
def test_every_look_comes_to_rest_and_a_second_one_writes_nothing(
    *,
    phase: Phase,
    state: PullState | None,
    wake: Wake,
    buckets: list[Bucket],
    status: str,
    card: str | None,
    is_open: bool,
) -> None:
    """Whatever GitHub shows, decisions end; deciding again on the outcome has no action left."""
    shown_pull = pull(state=state, checks=checks(*buckets)) if state else None
    shown = observation(
        issue=issue(is_open=is_open, comments=()),
        by_number=shown_pull,
        by_branch=(shown_pull,) if shown_pull else (),
        item=BoardItem("PVTI_lADOBx", card, "edouard-1738000000") if card else None,
    )
    made = record(**{**REVIEW, "phase": phase.value, "status": status, "summary": "Fix"})
    start = seen(made, observed=shown, wake=wake)
    actions, end = rest(start)
    assert len(actions) == len({repr(action) for action in actions})
    again, _ = rest(Snapshot(**{**fields_of(start), "record": end}))
    assert not again
    closed = [a for a in actions if isinstance(a, CloseIssue | ForgetClaim)]
    assert not closed or (state is PullState.MERGED and phase is Phase.DONE)


def test_the_record_survives_json() -> None:
    """as_json and from_json are inverse, with intents and troubles inside."""
    import json

    made = record(
        memory={
            "intents": {"PostComment": Intent("m", 1.0, 1)},
            "troubles": {"Look": Trouble("x", "y", 1.0)},
        }
    )
    assert Record.from_json(json.loads(json.dumps(made.as_json()))) == made
    assert parse_time(render_time(NOW)) == NOW


def test_nothing_was_looked_at_where_nothing_says_so() -> None:
    """No checks, no prompt that was heard, no hint, no board: a decision believes in none of it."""
    bare = Snapshot(Wake.TICK, NOW, record(), Settings())
    assert (bare.hints, bare.observation, bare.failed) == ({}, None, frozenset())
    assert (bare.pushed_head, bare.answered_at) == (None, None)
    assert (bare.head_owner, bare.has_board) == ("", False)
    assert (bare.looked_at_checks, bare.hears_prompts, bare.is_silent) == (False, False, False)
