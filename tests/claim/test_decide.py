"""Decisions: every phase, at every wake, for every state that GitHub can show."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.decide import absorb, decide, evolve, look
from lifecycle.claim.seen import Seen
from lifecycle.claim.state import Intent, Record, Trouble, fold
from lifecycle.claim.table import IN_REVIEW, Phase
from lifecycle.errors import NothingToMerge, Rejected, Transient
from lifecycle.model import BoardItem, Bucket, Checks, PullState
from lifecycle.plan import (
    BoardIs,
    CloseIssue,
    Commented,
    Failed,
    ForgetClaim,
    Intended,
    IssueClosed,
    OpenPullRequest,
    PostComment,
    PullRequestOpened,
    ReleaseLease,
    SetBoard,
    Tone,
    Wake,
)
from lifecycle.times import parse, render
from tests.factories import (
    BRANCH,
    NOW,
    SHA,
    checks,
    comment,
    issue,
    observation,
    pull,
    record,
    seen,
    values,
)

REVIEW: dict[str, Any] = {
    "phase": "pr_created",
    "pr_number": 107,
    "status": "In Review",
    "last_synced_status": "In Review",
}
ITEM = BoardItem("PVTI_lADOBx", "In Review", "edouard-1738000000")


def texts(step: Any) -> str:
    """All that a decision says."""
    return "\n".join(say.text for say in step.says)


# --- look: what is read, and what costs nothing -------------------------------------------------


@pytest.mark.parametrize("wake", [Wake.STOP, Wake.IDLE, Wake.SESSION])
def test_fault_1_an_unchanged_claim_reads_nothing(wake: Wake) -> None:
    """While the agent codes and nothing changed, no wake of a hook asks GitHub anything."""
    assert look(seen(wake=wake)) is None


@pytest.mark.parametrize(("phase", "wake"), list(product(Phase, Wake)))
def test_what_each_phase_reads_at_each_wake(phase: Phase, wake: Wake) -> None:
    """Stop reads for a hand-off and for done; only idle and tick look at a pull request."""
    made = record(**{**REVIEW, "phase": phase.value, "summary": "Fix"})
    wanted = look(seen(made, wake=wake))
    polls = wake in (Wake.IDLE, Wake.TICK)
    if phase in (Phase.READY_FOR_PR, Phase.DONE):
        assert wanted is not None
        assert wanted.comments == (phase is Phase.DONE)
    elif phase in IN_REVIEW:
        assert (wanted is not None) == polls
        assert wanted is None or wanted.checks
    elif phase is Phase.MERGED_DETECTED:
        assert (wanted is not None) == polls
    else:
        assert wanted is None


@pytest.mark.parametrize(
    ("last", "polls"),
    [
        (None, True),
        ("", True),
        ("not a time", True),
        (render(NOW - 119), False),
        (render(NOW - 120), True),
        (render(NOW + 3600), True),
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
    made = record(**REVIEW, last_check_poll=render(NOW - 10))
    found = observation(by_number=pull(state=PullState.MERGED), item=ITEM)
    step = decide(seen(made, observed=found, looked_at_checks=False))
    assert step.fields["phase"] == "merged_detected"
    assert "last_check_poll" not in step.fields


# --- ready_for_pr -------------------------------------------------------------------------------

READY: dict[str, Any] = {"phase": "ready_for_pr", "summary": "Fix race condition"}


@pytest.mark.parametrize(
    ("missing", "names"),
    [(["branch"], "branch is"), (["summary"], "summary is"), (["branch", "summary"], "and")],
)
def test_a_hand_off_that_lacks_something_says_what(missing: list[str], names: str) -> None:
    """Without branch or summary the claim stays in ready_for_pr, asks nothing, and says why."""
    made = record(**{**READY, **dict.fromkeys(missing, "")})
    assert look(seen(made, wake=Wake.STOP)) is None
    step = decide(seen(made, wake=Wake.STOP))
    assert step.action is None
    assert not step.fields
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
    configured = Seen(**{**_fields(made), "rules": _rules(made, base="release")})
    action = decide(configured).action
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
    assert step.fields == {"phase": "pr_created", "pr_number": 107, "status": "In Review"}
    assert "https://github.com/octo-org/hello/pull/107" in texts(step)


def test_the_new_pull_request_is_said_with_its_url_and_continues_the_stop() -> None:
    """The design's words, in the tone that reaches the agent."""
    made = fold(record(**READY), PullRequestOpened(pull()), NOW)
    step = decide(seen(made, wake=Wake.STOP))
    say = next(s for s in step.says if s.key == "pr:107")
    assert say.text == "PR #107 created: https://github.com/octo-org/hello/pull/107"
    assert say.tone is Tone.NEXT
    assert isinstance(step.action, SetBoard)
    assert step.action.status == "In Review"


def test_a_refused_pull_request_is_said_once_and_tried_again_when_something_was_pushed() -> None:
    """The refusal holds the same attempt back; another pushed commit is another attempt."""
    opening = decide(seen(record(**READY), observed=observation())).action
    assert isinstance(opening, OpenPullRequest)
    error = NothingToMerge("There is no commit to merge. Commit and push, then hand off again.")
    made = fold(record(**READY), Failed(opening, error), NOW)
    step = decide(seen(made, wake=Wake.STOP))
    assert [say.tone for say in step.says] == [Tone.ACT]
    assert "Commit and push" in texts(step)
    assert look(seen(made, wake=Wake.STOP)) is None
    assert look(seen(made, wake=Wake.STOP, pushed_head="b" * 40)) is not None
    assert look(seen(made, wake=Wake.STOP, now=NOW + 121)) is not None


def test_a_lost_answer_is_silent_and_tried_again_later() -> None:
    """Nobody knows is no refusal: nothing is said, and the next look is a minute away."""
    opening = decide(seen(record(**READY), observed=observation())).action
    assert isinstance(opening, OpenPullRequest)
    made = fold(record(**READY), Failed(opening, Transient("502", is_ambiguous=True)), NOW)
    assert not decide(seen(made, wake=Wake.STOP)).says
    assert made.due() == NOW + 60


# --- a pull request in review -------------------------------------------------------------------


@pytest.mark.parametrize("phase", sorted(IN_REVIEW))
def test_fault_2_no_checks_is_not_green(phase: Phase) -> None:
    """Zero checks, or checks that are not all known, never become "CI passed"."""
    made = record(**{**REVIEW, "phase": phase.value})
    for found in (Checks(SHA), Checks(SHA, checks(Bucket.PASS).runs, is_complete=False)):
        shown = observation(by_number=pull(checks=found), item=ITEM)
        assert "CI" not in texts(decide(seen(made, observed=shown)))


def test_green_names_the_count_and_the_pull_request() -> None:
    """The design's words; the key holds the head, so that green is said once for each head."""
    shown = observation(by_number=pull(checks=checks(*[Bucket.PASS] * 3)), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert texts(step) == "CI passed! All 3 checks green. PR #107 is ready to merge."
    assert step.says[0].key == f"green:107:{SHA}"
    assert step.fields["phase"] == "checks_running"
    assert step.fields["last_check_poll"] == render(NOW)


def test_failures_name_the_first_five() -> None:
    """Cancelled counts as failed, five names are given, the others are counted."""
    buckets = [Bucket.FAIL] * 6 + [Bucket.CANCELLED, Bucket.PASS]
    found = checks(*buckets, names=[f"job-{n}" for n in range(8)])
    shown = observation(by_number=pull(checks=found), item=ITEM)
    said = texts(decide(seen(record(**REVIEW), observed=shown)))
    assert "7 FAILED — job-0, job-1, job-2, job-3, job-4 (+2 more)" in said


def test_pending_checks_are_silent() -> None:
    """While something runs and nothing failed, nobody is disturbed."""
    shown = observation(by_number=pull(checks=checks(Bucket.PASS, Bucket.PENDING)), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert not step.says
    assert step.memory["checks"]["running"] == 1


def test_the_merge_asks_the_question_and_is_persisted() -> None:
    """The design's question; the phase remembers it, and asking again is the ledger's business."""
    shown = observation(by_number=pull(state=PullState.MERGED), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert step.fields["phase"] == "merged_detected"
    assert texts(step).startswith("PR #107 merged! Should I close issue #42?")
    assert [(say.key, say.tone) for say in step.says] == [("merged:107", Tone.ASK)]


def test_fault_2_a_pull_request_closed_unmerged_is_a_state_of_its_own() -> None:
    """Closed is neither green nor merged: the claim says so and goes back to In Progress."""
    shown = observation(by_number=pull(state=PullState.CLOSED), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert step.fields["phase"] == "pr_closed"
    assert step.fields["status"] == "In Progress"
    assert "closed without being merged" in texts(step)


def test_a_reopened_pull_request_goes_on() -> None:
    """From pr_closed an open PR leads back by the table's own moves, and the board to In Review."""
    made = record(**{**REVIEW, "phase": "pr_closed", "status": "In Progress"})
    shown = observation(by_number=pull(checks=Checks(SHA)), item=ITEM)
    step = decide(seen(made, observed=shown))
    assert step.fields["phase"] == "pr_created"
    assert step.fields["status"] == "In Review"
    _, end = _rest(seen(made, observed=shown))
    assert end.claim.phase == "checks_running"


def test_a_new_pull_request_is_not_missed_by_the_look_that_opened_it() -> None:
    """The observation is older than the PR: it must not be said to be missing in the same look."""
    start = seen(record(**READY), observed=observation(), wake=Wake.TICK)
    opened = evolve(start, PullRequestOpened(pull()))
    assert "shows no pull request" not in texts(decide(opened))


@pytest.mark.parametrize("phase", ["merged_detected"])
def test_a_merge_written_by_hand_is_judged_by_github(phase: str) -> None:
    """The agent writes merged_detected while the PR is open: it becomes what GitHub shows."""
    made = record(**{**REVIEW, "phase": phase}, memory={"judged": "checks_running"})
    assert look(seen(made, wake=Wake.IDLE)) is not None
    step = decide(seen(made, observed=observation(by_number=pull(), item=ITEM)))
    assert step.fields["phase"] == "checks_running"
    assert "still open" in texts(step)


def test_a_merge_that_was_seen_is_not_unseen_by_a_lagging_read() -> None:
    """Once GitHub showed the merge, a read that lacks the PR changes nothing."""
    made = record(**{**REVIEW, "phase": "merged_detected"}, memory={"judged": "merged_detected"})
    step = decide(seen(made, observed=observation(item=ITEM), wake=Wake.TICK))
    assert "phase" not in step.fields


def test_a_closed_pull_request_with_an_open_successor_is_replaced() -> None:
    """Somebody closed the PR and opened another from the same branch: that one goes on."""
    old, new = pull(state=PullState.CLOSED), pull(number=110, checks=Checks(SHA))
    shown = observation(by_number=old, by_branch=(new, old), item=ITEM)
    step = decide(seen(record(**REVIEW), observed=shown))
    assert step.fields["pr_number"] == 110


def test_fault_5_a_lost_number_is_found_by_the_branch() -> None:
    """pr_created without a number was stuck for ever; the branch's open PR has it."""
    made = record(**{**REVIEW, "pr_number": None})
    shown = observation(by_branch=(pull(checks=Checks(SHA)),), item=ITEM)
    assert decide(seen(made, observed=shown)).fields["pr_number"] == 107


def test_a_review_phase_without_any_pull_request_says_so() -> None:
    """A phase written by hand that GitHub does not bear out is reported, and the claim kept."""
    step = decide(seen(record(**REVIEW), observed=observation(item=ITEM)))
    assert "shows no pull request" in texts(step)
    assert "phase" not in step.fields


# --- done ---------------------------------------------------------------------------------------

DONE: dict[str, Any] = {**REVIEW, "phase": "done"}
MERGED = pull(state=PullState.MERGED)


@pytest.mark.parametrize(
    ("shown", "phase", "why"),
    [
        (observation(by_number=pull()), "checks_running", "PR #107 is still open"),
        (observation(by_number=pull(state=PullState.CLOSED)), "pr_closed", "without a merge"),
        (observation(), "coding", "no merged PR"),
        (observation(by_branch=(pull(state=PullState.MERGED, body=""),)), "coding", "no merged"),
    ],
)
def test_fault_14_done_without_a_merge_is_refused_with_the_reason(
    shown: Any, phase: str, why: str
) -> None:
    """Nothing is closed, the phase becomes what GitHub shows, and the agent hears why."""
    step = decide(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert step.action is None
    assert step.fields["phase"] == phase
    assert why in texts(step)
    assert step.says[0].tone is Tone.ACT


@pytest.mark.parametrize("written_over", [p for p in Phase if p is not Phase.DONE])
def test_done_is_accepted_from_any_phase_if_the_pull_request_merged(written_over: Phase) -> None:
    """GitHub judges a hand-written done, not the phase that stood there before."""
    before = values(**{**REVIEW, "phase": written_over.value})
    made = record(memory={"past": (before,)}, **DONE)
    steps = _run(seen(made, observed=_closing(), wake=Wake.STOP))
    assert [type(action) for action in steps] == [PostComment, CloseIssue, SetBoard, ForgetClaim]


def test_done_finds_the_merged_pull_request_of_a_claim_without_a_number() -> None:
    """A merged PR of the branch counts if it mentions the issue."""
    shown = observation(issue=issue(comments=()), by_branch=(MERGED,), item=ITEM)
    made = record(**{**DONE, "pr_number": None})
    actions = _run(seen(made, observed=shown, wake=Wake.STOP))
    assert isinstance(actions[-1], ForgetClaim)


def test_closing_comments_closes_and_clears_in_the_designs_words() -> None:
    """Completed in #107, Status Done, Agent cleared by the mutation that clears, file last."""
    actions = _run(seen(record(**DONE), observed=_closing(), wake=Wake.STOP))
    posted, _closed, board, _forget = actions
    assert isinstance(posted, PostComment)
    assert posted.body.startswith("Completed in #107\n")
    assert posted.marker in posted.body
    assert isinstance(board, SetBoard)
    assert (board.status, board.agent, board.clear_agent) == ("Done", None, True)


def test_an_issue_that_closed_itself_gets_its_comment_and_is_not_closed_again() -> None:
    """With "Closes #N" the issue is closed at the merge; the rest of closing goes on."""
    shown = observation(issue=issue(is_open=False, comments=()), by_number=MERGED, item=ITEM)
    actions = _run(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert [type(a) for a in actions] == [PostComment, SetBoard, ForgetClaim]


def test_a_comment_that_is_there_already_is_not_posted_again() -> None:
    """The hidden marker finds it, whoever posted it in whatever crashed run."""
    posted = _run(seen(record(**DONE), observed=_closing(), wake=Wake.STOP))[0]
    assert isinstance(posted, PostComment)
    shown = observation(issue=issue(comments=(comment(posted.body),)), by_number=MERGED, item=ITEM)
    actions = _run(seen(record(**DONE), observed=shown, wake=Wake.STOP))
    assert [type(a) for a in actions] == [CloseIssue, SetBoard, ForgetClaim]


def test_a_comment_whose_fate_is_unknown_keeps_the_claim_and_is_resent_after_two_clean_reads() -> (
    None
):
    """120 s and two reads without it: only then is a lost comment posted again."""
    base = seen(record(**DONE), observed=_closing(), wake=Wake.STOP)
    posted = _run(base)[0]
    assert isinstance(posted, PostComment)
    made = fold(record(**{**DONE, "status": "Done"}), Intended(posted), NOW)
    made = fold(made, Failed(posted, Transient("cut", is_ambiguous=True)), NOW)
    assert made.intents["PostComment"] == Intent(posted.marker, NOW)
    for later, resent in ((NOW + 60, False), (NOW + 90, False), (NOW + 121, True)):
        made = absorb(made, _closing(), later)
        actions = _run(seen(made, observed=_closing(), wake=Wake.STOP, now=later), absorbed=True)
        assert (posted in actions) is resent
        assert any(isinstance(a, ForgetClaim) for a in actions) is resent
    assert made.due() is not None


def test_fault_3_an_issue_that_would_not_close_keeps_the_claim() -> None:
    """A refused close is reported, and neither "closed" nor a deleted file follows."""
    made = record(**{**DONE, "status": "Done"}, memory={"comment_done": True})
    made = fold(made, Failed(CloseIssue(42), Rejected("GitHub said no (403).")), NOW)
    step = decide(seen(made, observed=_closing(), wake=Wake.STOP))
    assert step.action is None
    assert "not closed, and the claim was kept" in texts(step)


def test_a_board_that_cannot_be_written_does_not_keep_the_issue_open() -> None:
    """Refused: closing goes on without it. Unknown: it is tried three times first."""
    shown = _closing()
    made = record(**{**DONE, "status": "Done"}, memory={"comment_done": True, "issue_closed": True})
    board = decide(seen(made, observed=shown, wake=Wake.STOP)).action
    assert isinstance(board, SetBoard)
    refused = fold(made, Failed(board, Rejected("no such option")), NOW)
    assert isinstance(decide(seen(refused, observed=shown)).action, ForgetClaim)
    lost = made
    for _ in range(3):
        assert not isinstance(decide(seen(lost, observed=shown)).action, ForgetClaim)
        lost = fold(lost, Failed(board, Transient("502")), NOW)
    assert isinstance(decide(seen(lost, observed=shown)).action, ForgetClaim)


def test_an_override_closes_without_a_merge_and_is_recorded_in_the_comment() -> None:
    """A person may close by explicit override; the issue says so, with the reason."""
    made = record(**DONE, memory={"override": "done by hand elsewhere"})
    shown = observation(issue=issue(comments=()), by_number=pull(), item=ITEM)
    actions = _run(seen(made, observed=shown, wake=Wake.TICK))
    posted = actions[0]
    assert isinstance(posted, PostComment)
    assert "override: done by hand elsewhere" in posted.body
    assert isinstance(actions[-1], ForgetClaim)


# --- the board ----------------------------------------------------------------------------------


def test_a_changed_status_is_written_without_a_read() -> None:
    """Status changed: one mutation, no observation."""
    made = record(status="In Review")
    assert look(seen(made, wake=Wake.STOP)) is None
    action = decide(seen(made, wake=Wake.STOP)).action
    assert action == SetBoard("PVTI_lADOBx", "In Review", None)


def test_an_item_id_that_was_never_confirmed_is_looked_up_by_the_issue() -> None:
    """item_id "TEST" is not sent to GitHub; the item is found by the issue's number."""
    made = record(memory={"is_item_known": False}, item_id="TEST", status="In Review")
    wanted = look(seen(made, wake=Wake.STOP))
    assert wanted is not None
    assert wanted.board
    found = absorb(made, observation(), NOW)
    assert found.claim.item_id == "PVTI_lADOBx"


def test_a_card_that_somebody_moved_is_reported_and_not_overwritten() -> None:
    """Neither last synced nor wanted: the person's move stands, and is said."""
    shown = observation(item=BoardItem("PVTI_lADOBx", "Blocked", "edouard-1738000000"))
    made = absorb(record(status="In Review"), shown, NOW)
    step = decide(seen(made, observed=shown, wake=Wake.TICK))
    assert step.action is None
    assert 'moved to "Blocked" by hand' in texts(step)


def test_a_card_that_is_already_right_is_not_written() -> None:
    """Wanted and seen agree: nothing is sent, and the status counts as synced."""
    shown = observation(item=ITEM)
    made = absorb(record(status="In Review"), shown, NOW)
    assert made.claim.last_synced_status == "In Review"
    assert decide(seen(made, observed=shown)).action is None


def test_fault_6_a_refused_status_is_not_recorded_as_synced() -> None:
    """An unknown option is reported, last_synced_status stays, and it is not tried for ever."""
    made = record(status="Blokced")
    action = decide(seen(made, wake=Wake.STOP)).action
    assert isinstance(action, SetBoard)
    failed = fold(made, Failed(action, Rejected('The board has no Status "Blokced".')), NOW)
    step = decide(seen(failed, wake=Wake.STOP))
    assert failed.claim.last_synced_status == "In Progress"
    assert step.action is None
    assert "Blokced" in texts(step)


def test_without_a_board_everything_else_goes_on() -> None:
    """No project: issue and PR work alone, and no board action is ever decided."""
    base = seen(record(**DONE), observed=_closing(), wake=Wake.STOP)
    bare = Seen(**{**_fields(base), "rules": _rules(base, has_board=False)})
    assert [type(a) for a in _run(bare)] == [PostComment, CloseIssue, ForgetClaim]


def test_an_unreadable_board_is_said_with_its_fix() -> None:
    """The sentence about the missing scope reaches the person, and nothing is written."""
    shown = observation(item=None, board_problem="Run: gh auth refresh -s project")
    step = decide(seen(record(status="In Review"), observed=shown))
    assert step.action is None
    assert "gh auth refresh -s project" in texts(step)


# --- whole properties ---------------------------------------------------------------------------


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
    actions, end = _rest(start)
    assert len(actions) == len({repr(action) for action in actions})
    again, _ = _rest(Seen(**{**_fields(start), "record": end}))
    assert not again
    closed = [a for a in actions if isinstance(a, CloseIssue | ForgetClaim)]
    assert not closed or (state is PullState.MERGED and phase is Phase.DONE)


def _closing() -> Any:
    return observation(issue=issue(comments=()), by_number=MERGED, item=ITEM)


def _fields(made: Seen) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__dataclass_fields__}


def _rules(made: Seen, **changes: Any) -> Any:
    rules = made.rules
    return type(rules)(**{n: getattr(rules, n) for n in rules.__dataclass_fields__} | changes)


def _run(start: Seen, *, absorbed: bool = False) -> list[Any]:
    return _rest(start, absorbed=absorbed)[0]


def _rest(start: Seen, *, absorbed: bool = False) -> tuple[list[Any], Record]:
    """Decide and believe until nothing is left, as the engine does when every write succeeds."""
    made = start.record
    if start.observation is not None and not absorbed:
        made = absorb(made, start.observation, start.now)
    actions: list[Any] = []
    for _ in range(24):
        step = decide(Seen(**{**_fields(start), "record": made}))
        before = made
        made = made.with_values(step.fields)
        made = Record(
            **{n: getattr(made, n) for n in made.__dataclass_fields__} | dict(step.memory)
        )
        if step.action is None:
            if made == before:
                return actions, made
            continue
        actions.append(step.action)
        made = fold(made, _believed(step.action), start.now)
    raise AssertionError(f"no rest after {actions}")


def _believed(action: Any) -> Any:
    from lifecycle.plan import ClaimForgotten, LeaseReleased

    match action:
        case OpenPullRequest():
            return PullRequestOpened(pull())
        case SetBoard():
            item = BoardItem(action.item_id, action.status, action.agent)
            return BoardIs(item, action.status, "" if action.clear_agent else action.agent)
        case PostComment():
            return Commented(action.marker)
        case CloseIssue():
            return IssueClosed(action.issue)
        case ReleaseLease():
            return LeaseReleased()
        case _:
            return ClaimForgotten()


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
    assert parse(render(NOW)) == NOW
