"""What one look reads and decides, on values alone: each condition, complaint and step of `decide`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import (
    apply_fact,
    apply_observation,
    complaints,
    decide,
    following,
    look,
    still_wanted,
)
from lifecycle.claim.decisions.pull.review import WHILE_OPEN
from lifecycle.claim.record.sections import MergeRecord, Releasing, Trouble
from lifecycle.claim.record.state import mark_of
from lifecycle.core.errors import Transient
from lifecycle.core.plan import (
    AUTO_MERGE,
    AdvancePullRequest,
    Audience,
    CloseIssue,
    Done,
    Failed,
    LinkPullRequest,
    Notice,
    OnBoard,
    OpenPullRequest,
    PullRequestOpened,
    RerunJobs,
    SetBoard,
    Wake,
)
from lifecycle.core.timing import render_time
from lifecycle.core.tracker import Link
from lifecycle.core.values.checks import Bucket
from lifecycle.core.values.model import Look, PullState
from tests.batches import each_row
from tests.claim.steps import DONE, ITEM, MERGED, READY, REVIEW, configured, set_by
from tests.factories import (
    BRANCH,
    NOW,
    checks,
    comment,
    issue,
    observation,
    pull,
    record,
    seen,
)

LEAVING = {"ending.releasing": Releasing(at=NOW)}
CHECKED: dict[str, Any] = {**REVIEW, "phase": "checks_running"}


def kinds(notices: Iterable[Notice]) -> list[tuple[str, Audience]]:
    """Key and audience of each."""
    return [(notice.key, notice.audience) for notice in notices]


def troubled(kind: str, **changes: Any) -> dict[str, Any]:
    """The memory of a failure."""
    trouble = Trouble("m", "GitHub said no.", NOW + 60, is_final=True)
    return {"troubles": {kind: replace(trouble, **changes)}}


@each_row(
    ("changes", "memory", "made", "wanted"),
    [
        ({}, {}, {}, None),
        ({}, {}, {"wake": Wake.TICK}, {"insists": True}),
        ({}, {}, {"wake": Wake.SWEEP}, {"insists": True}),
        ({}, {}, {"hints": {"issue_number": 7}}, {}),
        ({}, {}, {"hints": {"pr_number": 9}}, {"pr_number": 9}),
        ({"issue_number": None}, {}, {"wake": Wake.TICK}, None),
        ({}, {"ending.outcome": "closed"}, {"wake": Wake.TICK}, None),
        ({"phase": "nonsense"}, {}, {"wake": Wake.TICK}, None),
        (
            {"phase": "nonsense"},
            LEAVING,
            {"wake": Wake.STOP},
            {"comments": True, "insists": True},
        ),
        ({}, LEAVING, {}, {"comments": True, "insists": True}),
        ({}, {**LEAVING, **troubled("PostComment")}, {}, None),
        (
            {},
            {**LEAVING, **troubled("PostComment")},
            {"wake": Wake.TICK},
            {"comments": True, "insists": True},
        ),
        (REVIEW, {"judged": "pr_created"}, {"wake": Wake.STOP}, None),
        (REVIEW, {"judged": "coding"}, {"wake": Wake.STOP}, {"pr_number": 107}),
        (REVIEW, {"judged": "pr_created"}, {}, {"pr_number": 107, "checks": True, "reviews": True}),
        (
            {**REVIEW, "last_check_poll": render_time(NOW - 119)},
            {"judged": "pr_created"},
            {},
            {"pr_number": 107, "reviews": True},
        ),
        (
            {**REVIEW, "last_check_poll": render_time(NOW - 119)},
            {"judged": "pr_created"},
            {"wake": Wake.TICK},
            {"pr_number": 107, "checks": True, "insists": True, "reviews": True},
        ),
        (
            REVIEW,
            {"judged": "pr_created"},
            {"wake": Wake.SWEEP},
            {"pr_number": 107, "insists": True},
        ),
        ({**REVIEW, "phase": "merged_detected"}, {"judged": "merged_detected"}, {}, None),
        (
            {**REVIEW, "phase": "merged_detected"},
            {"judged": "coding"},
            {},
            {"pr_number": 107},
        ),
        (
            {**REVIEW, "phase": "merged_detected"},
            {"judged": "merged_detected"},
            {"wake": Wake.TICK},
            {"pr_number": 107, "insists": True},
        ),
        (DONE, {}, {}, {"pr_number": 107, "comments": True, "insists": True, "writes": True}),
        (
            DONE,
            {},
            {"wake": Wake.SWEEP},
            {"pr_number": 107, "comments": True, "insists": True},
        ),
        (DONE, troubled("CloseIssue"), {}, None),
        (
            DONE,
            troubled("CloseIssue"),
            {"wake": Wake.TICK},
            {"pr_number": 107, "comments": True, "insists": True, "writes": True},
        ),
        (READY, {}, {}, {"writes": True, "opens": True}),
        (READY, {}, {"wake": Wake.SWEEP}, {"insists": True, "opens": True}),
        (READY, troubled("Look"), {}, {"opens": True}),
        (READY, LEAVING, {}, {"comments": True, "insists": True}),
        (DONE, LEAVING, {}, {"pr_number": 107, "comments": True, "insists": True}),
        ({"status": "Todo"}, {}, {}, None),
        ({"status": "Todo"}, {"card.is_known": False}, {}, {}),
        ({"status": "Todo"}, {"card.moved_to": "Done"}, {}, {}),
        ({"status": "Todo"}, {"ownership.taken_by": "b-1"}, {}, {}),
        ({}, {"card.is_known": False}, {}, None),
    ],
)
def test_a_look_reads_what_the_phase_and_the_wake_need(
    changes: dict[str, Any], memory: dict[str, Any], made: dict[str, Any], wanted: Any
) -> None:
    """And nothing else: what is not needed costs nothing.

    The lease is read by whoever has one, and where a claim is known only from its file.
    """
    start = seen(record(**changes, memory=memory), **{"wake": Wake.IDLE, **made})
    asked = {"issue": 42, "branch": BRANCH, "board": True, **(wanted or {})}
    expected = None if wanted is None else Look(**asked)
    taken = replace(start, record=replace(start.record, is_taken=True))
    assert look(taken) == expected
    from_file = expected and replace(expected, lease=start.wake is not Wake.SWEEP)
    assert look(start) == from_file
    leased = replace(taken, record=taken.record.with_ownership(lease="a" * 40))
    assert look(leased) == (expected and replace(expected, lease=True))
    assert still_wanted(start, "Look") is (wanted is not None)
    without = replace(start, has_board=False)
    found = look(without)
    assert found is None or not found.board


@pytest.mark.parametrize(
    ("mark", "until", "wake", "reads"),
    [
        ("own", NOW + 1, Wake.STOP, False),
        ("own", NOW, Wake.STOP, True),
        ("own", NOW + 1, Wake.TICK, True),
        ("another", NOW + 1, Wake.STOP, True),
    ],
)
def test_a_look_that_failed_is_held_back_until_something_changes(
    mark: str, until: float, wake: Wake, reads: bool
) -> None:
    """The time is up, the file is another, or somebody asks."""
    made = record(**READY)
    own = repr(sorted(made.values.items()))
    trouble = Trouble(own if mark == "own" else mark, "rate limit", until)
    start = seen(replace(made, troubles={"Look": trouble}), wake=wake)
    assert (look(start) is not None) is reads
    assert still_wanted(start, "Look")


@pytest.mark.parametrize(
    ("changes", "memory", "key"),
    [
        ({"issue_number": None}, {}, "no-issue"),
        ({"phase": "nonsense"}, {}, "unknown-phase:nonsense"),
        ({}, {"ownership.taken_by": "b-1"}, "taken-over:b-1"),
        ({}, {"ownership.is_leaseless": True}, "given-back-from-afar"),
    ],
)
def test_a_claim_that_cannot_go_on_says_why_and_writes_nothing(
    changes: dict[str, Any], memory: dict[str, Any], key: str
) -> None:
    """A condition for the agent, as long as it lasts."""
    step = decide(seen(record(**changes, memory=memory), observed=observation(item=ITEM)))
    assert kinds(step.notices) == [(key, Audience.ACT)]
    assert step.notices[0].stands
    assert (step.action, set_by(step), step.record) == (None, {}, None)
    over = record(**changes, memory={**memory, "ending.outcome": "closed"})
    assert decide(seen(over)).notices == ()


@pytest.mark.parametrize(
    ("kind", "changes", "memory", "is_told"),
    [
        ("SetBoard", {}, {}, True),
        ("ReleaseLease", {}, {}, False),
        ("SetLinked", {}, {}, True),
        ("SetLinked", DONE, {}, False),
        ("SetLinked", {}, LEAVING, False),
        ("SetBoard", DONE, {}, False),
        ("CloseIssue", DONE, {}, True),
        ("ReleaseLease", DONE, {}, False),
    ],
)
def test_a_refusal_is_told_while_it_stands(
    kind: str, changes: dict[str, Any], memory: dict[str, Any], is_told: bool
) -> None:
    """The lease's never, the card's and a linked task's not at the end: the last sentence has them."""
    for for_agent in (True, False):
        made = record(**changes, memory={**memory, **troubled(kind, for_agent=for_agent)})
        audience = Audience.ACT if for_agent else Audience.NOTE
        expected = [(f"refused:{kind}:m:GitHub said no.", audience)] * is_told
        assert kinds(complaints(made)) == expected
        assert all(notice.stands for notice in complaints(made))
    assert not [*complaints(record(**changes, memory={**memory, **troubled(kind, is_final=False)}))]


def test_an_archived_repository_is_told_once() -> None:
    """Beside what the claim has to say; nothing is said of one that accepts writes."""
    for is_archived in (True, False):
        shown = replace(observation(item=ITEM), is_archived=is_archived)
        said = kinds(decide(seen(record(), observed=shown)).notices)
        assert (("archived-repository", Audience.NOTE) in said) is is_archived


def test_complaints_come_with_every_step() -> None:
    """Also with a release's, and behind what the step itself says."""
    memory = {**LEAVING, **troubled("Unassign")}
    said = kinds(decide(seen(record(memory=memory), observed=observation(item=ITEM))).notices)
    assert ("refused:Unassign:m:GitHub said no.", Audience.NOTE) in said
    step = decide(seen(record(memory=troubled("SetBoard")), observed=observation(item=ITEM)))
    assert kinds(step.notices) == [("refused:SetBoard:m:GitHub said no.", Audience.NOTE)]


@pytest.mark.parametrize(
    ("phase", "kind", "is_final", "key"),
    [
        ("ready_for_pr", "OpenPullRequest", False, "pr-waits"),
        ("ready_for_pr", "Look", False, "pr-waits"),
        ("ready_for_pr", "OpenPullRequest", True, "refused:OpenPullRequest:m:GitHub said no."),
        ("ready_for_pr", "SetBoard", False, None),
        ("coding", "OpenPullRequest", False, None),
    ],
)
def test_a_hand_off_that_waits_for_github_is_told_to_the_person(
    phase: str, kind: str, is_final: bool, key: str | None
) -> None:
    """It is tried again by itself; a refusal is told as one."""
    made = record(phase=phase, memory=troubled(kind, is_final=is_final))
    assert kinds(complaints(made)) == ([(key, Audience.NOTE)] if key else [])
    assert all(notice.stands for notice in complaints(made))


@pytest.mark.parametrize("kind", ["OpenPullRequest", "Look"])
def test_of_a_hand_off_that_is_released_no_pull_request_waits(kind: str) -> None:
    """None is opened any more, so nothing says that the next look tries it again."""
    memory = {**LEAVING, **troubled(kind, is_final=False)}
    assert kinds(complaints(record(**READY, memory=memory))) == []


@pytest.mark.parametrize(
    ("changes", "shown", "is_told"),
    [
        ({}, {"issue": issue(is_open=False)}, True),
        ({}, {}, False),
        ({}, {"issue": None}, False),
        (CHECKED, {"issue": issue(is_open=False), "by_number": pull()}, True),
        (CHECKED, {"issue": issue(is_open=False), "by_number": MERGED}, False),
        (
            CHECKED,
            {"issue": issue(is_open=False), "by_number": pull(state=PullState.CLOSED)},
            False,
        ),
        ({**CHECKED, "phase": "merged_detected"}, {"issue": issue(is_open=False)}, False),
        (DONE, {"issue": issue(is_open=False)}, False),
    ],
)
def test_an_issue_that_somebody_closed_is_told_while_the_work_goes_on(
    changes: dict[str, Any], shown: dict[str, Any], is_told: bool
) -> None:
    """A merge closes it as well, and is told as a merge."""
    made = record(**changes, memory={"judged": changes.get("phase", "coding")})
    found = decide(seen(made, observed=observation(**{"item": ITEM, **shown})))
    closed = [notice for notice in found.notices if notice.key == "closed-elsewhere"]
    assert [(one.audience, one.stands) for one in closed] == [(Audience.NOTE, True)] * is_told
    gone = [notice.audience for notice in found.notices if notice.key == "no-such-issue:42"]
    assert gone == [Audience.ACT] * (shown.get("issue", "") is None), (
        "one that was deleted is told, too"
    )


@pytest.mark.parametrize(
    ("shown", "named", "phase"),
    [
        ({"issue": issue(is_open=False)}, None, "merged_detected"),
        ({"issue": issue(is_open=False)}, 99, None),
        ({"issue": issue()}, None, None),
        ({"issue": issue()}, 107, "merged_detected"),
        ({"issue": None}, None, None),
    ],
)
def test_a_merge_of_the_branch_that_closed_the_issue_is_seen_at_work(
    shown: dict[str, Any], named: int | None, phase: str | None
) -> None:
    """Whoever opened that pull request; one that left the issue open may be a part of the work."""
    at_work = record(pr_number=named)
    found = decide(seen(at_work, observed=observation(item=ITEM, by_branch=(MERGED,), **shown)))
    assert set_by(found).get("phase") == phase


@pytest.mark.parametrize(
    ("changes", "shown", "is_told"),
    [
        ({}, {"assignees": ("maria", "sam")}, True),
        ({}, {"assignees": ("maria", "EDOUARD")}, False),
        ({}, {"assignees": ()}, False),
        ({}, {"assignees": ("maria",), "is_open": False}, False),
        ({"agent_id": "octo-app[bot]-1738000000"}, {"assignees": ("maria",)}, False),
        ({"agent_id": ""}, {"assignees": ("maria",)}, False),
        (DONE, {"assignees": ("maria",)}, False),
    ],
)
def test_an_issue_that_was_assigned_to_others_is_told(
    changes: dict[str, Any], shown: dict[str, Any], is_told: bool
) -> None:
    """Once for the same others: the claim goes on, and a person says whose it is. No App is assigned."""
    found = decide(seen(record(**changes), observed=observation(item=ITEM, issue=issue(**shown))))
    told = [notice for notice in found.notices if notice.key.startswith("assigned:")]
    assert [(one.key, one.audience, one.stands) for one in told] == [
        ("assigned:maria,sam", Audience.NOTE, False)
    ] * is_told


@pytest.mark.parametrize(
    ("changes", "memory", "is_told"),
    [
        (REVIEW, {"pull.opened": 107}, True),
        (REVIEW, {"pull.opened": 99}, False),
        ({**REVIEW, "pr_number": None}, {}, False),
        (CHECKED, {"pull.opened": 107}, False),
    ],
)
def test_the_pull_request_that_we_opened_is_told_with_its_address(
    changes: dict[str, Any], memory: dict[str, Any], is_told: bool
) -> None:
    """At the stop that opened it as at any later wake, until the checks are read; no adopted one."""
    for wake in (Wake.STOP, Wake.IDLE):
        made = record(**changes, memory={"judged": changes["phase"], "pull.url": "u", **memory})
        found = decide(seen(made, observed=observation(by_number=pull(), item=ITEM), wake=wake))
        created = [notice for notice in found.notices if notice.key == "pr:107"]
        assert [one.audience for one in created] == [Audience.NEXT] * is_told
        assert all(" u" in one.text for one in created)


def test_a_stop_says_nothing_of_what_the_pull_request_went_through() -> None:
    """It would continue the stop; a phase that somebody wrote is looked at all the same."""
    shown = observation(by_number=pull(checks=checks(Bucket.FAIL)), item=ITEM)
    confirmed = record(**CHECKED, memory={"judged": "checks_running"})
    assert decide(seen(confirmed, observed=shown, wake=Wake.STOP)).notices == ()
    assert decide(seen(confirmed, observed=shown, wake=Wake.IDLE)).notices
    assert decide(seen(confirmed)).notices == ()
    written = record(**CHECKED, memory={"judged": "coding"})
    assert decide(seen(written, observed=shown, wake=Wake.STOP)).notices


@pytest.mark.parametrize("looked", [True, False])
@pytest.mark.parametrize(
    ("status", "after"), [("In Review", "In Progress"), ("Blocked", "Blocked")]
)
def test_a_pull_request_that_was_closed_is_a_phase_of_its_own(
    status: str, after: str, looked: bool
) -> None:
    """What was said of it while it was open is no news any more; a status that somebody chose stays."""
    made = record(
        **{**REVIEW, "status": status, "last_synced_status": status}, memory={"pull.reopened": 2}
    )
    shut = pull(state=PullState.CLOSED, head_sha="b", url="u")
    step = decide(seen(made, observed=observation(by_number=shut), looked_at_checks=looked))
    expected = {"phase": "pr_closed", "status": after, "last_check_poll": render_time(NOW)}
    assert set_by(step) == {
        name: value
        for name, value in expected.items()
        if (name != "last_check_poll" or looked) and made.values.get(name) != value
    }
    assert step.record is not None
    assert (step.record.judged, step.record.pull.url, step.record.pull.head) == (
        "pr_closed",
        "u",
        "b",
    )
    notice = step.notices[0]
    assert (notice.key, notice.audience, notice.ends) == ("closed:107:2", Audience.NEWS, WHILE_OPEN)


def test_a_pull_request_that_github_does_not_show_is_told() -> None:
    """The claim is kept, and the poll was one."""
    made = record(**CHECKED, memory={"judged": "checks_running"})
    step = decide(seen(made, observed=observation(item=ITEM)))
    assert kinds(step.notices) == [(f"pr-missing:{BRANCH}", Audience.ACT)]
    assert set_by(step) == {"last_check_poll": render_time(NOW)}


@pytest.mark.parametrize(
    ("past", "status", "fields"),
    [
        ("coding", "In Review", {"phase": "coding", "status": "In Progress"}),
        ("coding", "Blocked", {"phase": "coding"}),
        ("ready_for_pr", "In Review", {"phase": "ready_for_pr"}),
    ],
)
def test_a_phase_that_nothing_bears_out_is_taken_back(
    past: str, status: str, fields: dict[str, Any]
) -> None:
    """To the last one that needs no pull request; the agent is told for this edit."""
    made = record(
        **{**REVIEW, "status": status},
        memory={"judged": "", "past": ({"phase": past},), "touched": 5},
    )
    step = decide(seen(made, observed=observation(item=ITEM)))
    assert set_by(step, made) == fields
    assert step.record is not None
    assert step.record.judged == fields["phase"]
    assert kinds(step.notices) == [("no-pull:pr_created:5", Audience.ACT)]
    assert step.notices[0].stands


def test_a_pull_request_that_was_opened_again_is_counted() -> None:
    """Each closing and each opening is news once; the checks are the next step."""
    made = record(
        **{**REVIEW, "phase": "pr_closed", "status": "In Progress"},
        memory={"judged": "pr_closed", "pull.reopened": 1},
    )
    shown = pull(checks=checks(Bucket.FAIL), url="u", head_sha="b")
    step = decide(seen(made, observed=observation(by_number=shown)))
    assert set_by(step) == {"phase": "pr_created", "status": "In Review"}
    assert kinds(step.notices) == [("reopened:107:1", Audience.NOTE)]
    assert step.record is not None
    assert step.record.pull == replace(made.pull, reopened=2, url="u", head="b")
    assert step.record.judged == "pr_created"


def test_another_pull_request_in_its_place_is_not_called_reopened() -> None:
    """Whoever went to another branch after the close goes on with that branch's: nobody closed it."""
    made = record(
        **{**REVIEW, "phase": "pr_closed", "status": "In Progress", "branch": "better-name"},
        memory={"judged": "pr_closed"},
    )
    shown = pull(number=108, branch="better-name", url="u", head_sha="b")
    step = decide(seen(made, observed=observation(by_branch=(shown,))))
    assert set_by(step) == {"pr_number": 108, "phase": "pr_created", "status": "In Review"}
    (notice,) = step.notices
    assert notice.text.startswith("PR #108 was already open for better-name and is now the claim's")


@pytest.mark.parametrize(
    ("shown", "looked", "fields", "judged"),
    [
        (
            {"checks": checks(Bucket.PASS)},
            True,
            {"phase": "checks_running", "last_check_poll": render_time(NOW)},
            "checks_running",
        ),
        ({"checks": checks(Bucket.PASS)}, False, {}, "pr_created"),
        ({}, True, {}, "pr_created"),
    ],
)
def test_the_checks_run_once_they_were_read(
    shown: dict[str, Any], looked: bool, fields: dict[str, Any], judged: str
) -> None:
    """A look without them moves nothing."""
    made = record(**REVIEW, memory={"judged": "coding"})
    step = decide(
        seen(made, observed=observation(by_number=pull(**shown)), looked_at_checks=looked)
    )
    assert set_by(step) == fields
    assert step.record is not None
    assert step.record.judged == judged
    assert step.record.pull.head == pull().head_sha


def test_the_missing_link_is_written_from_review() -> None:
    """With what is told, in one step."""
    shown = pull(body="", checks=checks(Bucket.PASS))
    step = decide(seen(record(**REVIEW), observed=observation(by_number=shown)))
    assert isinstance(step.action, LinkPullRequest)
    assert [key.partition(":")[0] for key, _ in kinds(step.notices)] == ["green"]


def test_github_is_asked_to_merge_by_what_this_very_look_shows() -> None:
    """What somebody switched off since the last look is left off, and not asked for once more."""
    shown = observation(by_number=pull(checks=checks(Bucket.PASS), merge_state="CLEAN"), item=ITEM)
    asking = AdvancePullRequest(107, pull().head_sha, AUTO_MERGE)
    for merging, action in (
        (MergeRecord(), asking),
        (MergeRecord(head=pull().head_sha, auto_on=pull().head_sha), None),
    ):
        start = seen(record(**REVIEW, memory={"pull.merging": merging}), observed=shown)
        step = decide(configured(start, merge="auto"))
        assert step.action == action, merging


def test_what_follows_an_action_is_what_the_same_look_does_next() -> None:
    """Once it is open a pull request has a number: a stop leaves to others what it goes through."""
    runs = {"pull.reruns": ((7, 1),), "pull.checks": {"sha": "s"}}
    same = record(**{**READY, "pr_number": 1}, memory=runs)  # of another one nothing would be known
    start = seen(same, observed=observation(), wake=Wake.STOP)
    action = decide(start).action
    assert isinstance(action, OpenPullRequest)
    card = SetBoard("PVTI_lADOBx", "In Review", None)
    assert following(start, action) == (card,)
    assert following(replace(start, wake=Wake.IDLE), action) == (RerunJobs(7, 1), card)


def test_a_fact_is_seen_by_the_next_decision_of_the_same_look() -> None:
    """What was opened or put on the board; what failed is not tried twice, nor a link added again."""
    start = seen(record(**REVIEW), observed=observation(by_branch=(pull(number=8),)))
    opened = apply_fact(start, PullRequestOpened(pull())).observation
    assert opened is not None
    assert opened.by_number == pull()
    assert [one.number for one in opened.by_branch] == [107, 8]
    shown = replace(start, observation=observation(by_number=pull()))
    link = LinkPullRequest(107, 42, "Refs #42")
    linked = apply_fact(shown, Done(link))
    assert (linked.observation, linked.failed) == (
        shown.observation,
        frozenset({"LinkPullRequest"}),
    )
    carded = apply_fact(start, OnBoard(ITEM)).observation
    assert carded is not None
    assert carded.item == ITEM
    failed = apply_fact(start, Failed(CloseIssue(42), Transient("502")))
    assert failed.failed == {"CloseIssue"}
    assert failed.observation == start.observation
    assert failed.record.troubles["CloseIssue"].mark == mark_of(CloseIssue(42))
    blind = replace(start, observation=None)
    for fact in (PullRequestOpened(pull()), Done(link), OnBoard(ITEM)):
        assert apply_fact(blind, fact).observation is None


def test_a_look_that_learns_nothing_changes_nothing() -> None:
    """A decision names the fields and the record only where they are others than before."""
    known = {"pull.url": pull().url, "pull.head": pull().head_sha, "judged": "checks_running"}
    start = seen(record(**CHECKED, memory=known), observed=observation(by_number=pull(), item=ITEM))
    step = decide(start)
    assert (set_by(step), step.record, step.action) == ({}, None, None)
    moved_head = observation(by_number=pull(head_sha="b" * 40), item=ITEM)
    other = decide(replace(start, observation=moved_head)).record
    assert other is not None
    assert other.pull.head == "b" * 40


def test_a_closing_that_waits_writes_nothing_else() -> None:
    """Neither card nor linked task go on beside it; what a release left of the linked one is told."""
    link: dict[str, Any] = {"linked.link": Link("beads", "bd-1", "claimed")}
    waiting = seen(record(**DONE, memory={"ending.consent": "close", **link}), observed=None)
    unsynced = replace(waiting, record=waiting.record.with_values({"status": "Done"}))
    assert decide(unsynced).action is None
    link |= {"linked.left": "It is maria's."}
    leaving = seen(record(memory={**LEAVING, **link}), observed=None)
    assert "It is maria's." in [notice.text for notice in decide(leaving).notices]


@pytest.mark.parametrize(
    ("look", "yes", "key", "phase"),
    [
        (None, "", "", "done"),
        (False, "", "closing-waits", "done"),
        (True, "", "refused", "done"),
        (False, "close", "yes-not-kept", "coding"),
    ],
)
def test_a_done_that_was_not_looked_at_is_told_unless_it_was_refused(
    look: bool | None, yes: str, key: str, phase: str
) -> None:
    """A refused look has a sentence of its own; a typed yes is taken back, with what was told before."""
    failed = Trouble("m", "It did not answer.", NOW + 60, is_final=bool(look))
    memory = {
        "troubles": {} if look is None else {"Look": failed},
        "ending.consent": yes,
        "conditions": {"closing-waits": "#42 is not closed."},
        "judged": "checks_running",
    }
    step = decide(seen(record(**DONE, memory=memory), observed=None, wake=Wake.STOP))
    assert [notice.key.partition(":")[0] for notice in step.notices] == [key] * bool(key)
    assert all("It did not answer." in notice.text for notice in step.notices) is not bool(yes)
    assert set_by(step).get("phase", "done") == phase
    kept = step.record.conditions if step.record is not None else None
    assert kept == ({} if yes else None)


def test_of_two_failures_the_one_of_the_pull_request_is_told() -> None:
    """The look that failed before it is older news."""
    of_pull = replace(Trouble("m", "GitHub said no.", NOW + 60), is_final=False)
    troubles = {"Look": replace(of_pull, sentence="It did not answer."), "OpenPullRequest": of_pull}
    told = [*complaints(record(**READY, memory={"troubles": troubles}))]
    (waits,) = [notice.text for notice in told if notice.key == "pr-waits"]
    assert "GitHub said no." in waits


def test_the_title_is_kept_from_what_was_read() -> None:
    """An issue that is not shown, or has none, changes nothing."""
    made = record(memory={"title": "Old"})
    assert apply_observation(made, observation(), NOW).title == "Fix thing"
    assert apply_observation(made, observation(issue=issue(title="")), NOW).title == "Old"
    assert apply_observation(made, observation(issue=None), NOW).title == "Old"


def test_a_release_reads_its_own_steps() -> None:
    """A card in Done is a step of closing, and none of a release."""
    item = replace(ITEM, status="Done", agent="")
    shut = observation(issue=issue(is_open=False, comments=(comment("x"),)), item=item)
    assert apply_observation(record(**DONE), shut, NOW).ending.board_done
    assert not apply_observation(record(**DONE, memory=LEAVING), shut, NOW).ending.board_done


def test_a_refused_hand_off_does_not_wait_for_a_look() -> None:
    """The refusal is told; that GitHub could not be read either is nothing beside it."""
    final = Trouble("m", "no", NOW + 60, is_final=True)
    later = replace(final, is_final=False)
    for first, second, is_told in ((final, later, False), (later, final, True)):
        made = record(**READY, memory={"troubles": {"OpenPullRequest": first, "Look": second}})
        assert ("pr-waits" in [notice.key for notice in complaints(made)]) is is_told
