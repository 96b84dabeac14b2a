"""The merge of an open pull request, on values alone: what is known, what is told, what GitHub is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.pull import review
from lifecycle.claim.decisions.pull.merge_standing import advance, known, stands
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import MergeRecord, Trouble, Whom
from lifecycle.claim.record.state import Record, fold, mark_of
from lifecycle.core.errors import Rejected
from lifecycle.core.plan import (
    AUTO_MERGE,
    AUTO_MERGE_OFF,
    UPDATE_BRANCH,
    AdvancePullRequest,
    Audience,
    Done,
    Failed,
    Notice,
)
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.core.values.model import (
    Conversations,
    Ejection,
    MergeDemands,
    Observation,
    PullRequest,
    QueueEntry,
)
from lifecycle.feedback.waiting import endings
from tests.batches import each_row
from tests.claim.steps import REVIEW, configured
from tests.factories import NOW, SHA, checks, pull, record, seen
from tests.factories import review as asked_for

GREEN = checks(Bucket.PASS)
RESULTS = ("green", "failed", "waits")
OLD = "b" * 40
QUEUED = QueueEntry("AWAITING_CHECKS", 1, "c" * 40, has_checks=True)
LEFT = Ejection("E_1", NOW - 300, "FAILED_CHECKS", "c" * 40)
AGAIN = Checks(SHA, (Check("t", Bucket.PASS, started_at=NOW - 9),))
"""A check began after it was thrown out."""
OUT = "was taken out of the merge queue without being merged (failed checks); why: lifecycle feedback merge"


def shown(**changes: Any) -> PullRequest:
    """A green pull request that merges cleanly."""
    return pull(**{"checks": GREEN, "merge_state": "CLEAN", **changes})


def look(merging: MergeRecord | None = None, **settings: Any) -> Snapshot:
    """What an idle look that read the checks knew before."""
    memory = {"pull.merging": merging or MergeRecord()}
    made = seen(record(**REVIEW, memory=memory))
    return configured(made, **settings)


def told(
    made: PullRequest, merging: MergeRecord | None = None, **settings: Any
) -> tuple[Notice, ...]:
    """What is said of the merge; the checks' own sentence is left out."""
    found = review.judge(look(merging, **settings), made)
    return tuple(one for one in found[1] if one.key.partition(":")[0] not in RESULTS)


def keys(notices: tuple[Notice, ...]) -> list[tuple[str, Audience]]:
    """By what is said, and to whom."""
    return [(one.key, one.audience) for one in notices]


def test_what_is_known_is_of_the_head_that_was_seen() -> None:
    """Head, queue and auto-merge as they are now; nothing is invented where nothing is there."""
    assert known(MergeRecord(), shown(), NOW) == MergeRecord(head=SHA)
    found = known(MergeRecord(head=OLD), shown(has_queue=True, is_auto_merge=True), NOW)
    assert found == MergeRecord(head=SHA, has_queue=True, auto_on=SHA)
    assert known(MergeRecord(is_left_off=True), shown(is_auto_merge=True), NOW) == MergeRecord(
        head=SHA, auto_on=SHA
    )
    assert known(found, shown(), NOW).has_queue is False


def test_the_queue_keeps_the_head_that_it_was_given() -> None:
    """What is pushed after that is told; once it has left, nothing of it is known any more."""
    found = known(MergeRecord(head=SHA), shown(queue=QUEUED), NOW)
    assert (found.queued, found.untested) == (SHA, "")
    later = known(found, shown(queue=QUEUED, head_sha=OLD), NOW)
    assert later.queued == SHA
    assert known(later, shown(head_sha=OLD), NOW).queued == ""
    handed = MergeRecord(head=SHA, handed_out=SHA)
    assert known(handed, shown(), NOW).handed_out == SHA
    assert known(handed, shown(queue=QUEUED), NOW).handed_out == ""
    assert keys(told(shown(queue=QUEUED, head_sha=OLD), found)) == [
        (f"queue:107:{OLD}:pushed", Audience.NEWS)
    ]
    assert told(shown(queue=QUEUED), found) == ()
    assert told(shown(queue=QUEUED)) == ()


@pytest.mark.parametrize(
    ("state", "mergeable", "is_told"),
    [
        ("UNMERGEABLE", "MERGEABLE", True),
        ("UNMERGEABLE", "UNKNOWN", False),
        ("AWAITING_CHECKS", "MERGEABLE", False),
    ],
)
def test_an_entry_that_is_stuck_behind_others_is_told_to_the_person(
    state: str, mergeable: str, *, is_told: bool
) -> None:
    """Only if the pull request itself merges with its base; and nobody is told to change anything."""
    made = shown(queue=replace(QUEUED, state=state), mergeable=mergeable)
    assert keys(told(made)) == [(f"queue:107:{SHA}:stuck", Audience.NOTE)] * is_told


def test_an_entry_that_conflicts_itself_is_a_conflict() -> None:
    """Then the agent has something to mend, and the queue's word is none besides."""
    made = shown(queue=replace(QUEUED, state="UNMERGEABLE"), mergeable="CONFLICTING")
    assert keys(told(made)) == [(f"conflict:107:{SHA}:main", Audience.NEWS)]


@pytest.mark.parametrize(
    ("before", "entry", "untested", "since"),
    [
        (("", 0.0), {"has_checks": False}, "c" * 40, NOW),
        (("c" * 40, NOW - 9), {"has_checks": False}, "c" * 40, NOW - 9),
        (("d" * 40, NOW - 9), {"has_checks": False}, "c" * 40, NOW),
        (("c" * 40, NOW - 9), {}, "", NOW),
        (("", NOW - 9), {"has_checks": False, "state": "QUEUED"}, "", NOW - 9),
        (("", NOW - 9), {"has_checks": False, "commit": ""}, "", NOW - 9),
    ],
)
def test_since_when_a_queues_commit_waits_for_its_first_check(
    before: tuple[str, float], entry: dict[str, Any], untested: str, since: float
) -> None:
    """Counted anew for each commit, and only while checks are waited for."""
    start = MergeRecord(untested=before[0], untested_since=before[1])
    found = known(start, shown(queue=replace(QUEUED, **entry)), NOW)
    assert (found.untested, found.untested_since) == (untested, since)
    assert known(start, shown(), NOW).untested == ""


@pytest.mark.parametrize(("waited", "is_told"), [(599.0, False), (600.0, True), (659.0, True)])
def test_a_queue_that_waits_for_checks_that_nobody_began_says_so(
    waited: float, *, is_told: bool
) -> None:
    """After ten minutes, to the person, with the minutes in whole ones."""
    start = MergeRecord(queued=SHA, untested="c" * 40, untested_since=NOW - waited)
    said = told(shown(queue=replace(QUEUED, has_checks=False)), start)
    assert keys(said) == [(f"queue:107:{'c' * 40}:silent", Audience.NOTE)] * is_told
    assert all("waited for 10 minutes for the checks of ccccccc" in one.text for one in said)


def test_an_ejection_is_of_the_head_that_was_thrown_out() -> None:
    """With the queue's commit in its key; none of a head that came after it, and once per ejection."""
    first = known(MergeRecord(head=SHA, queued=SHA), shown(ejection=LEFT), NOW)
    assert (first.ejection, first.ejected) == ("E_1", SHA)
    assert first.asked == {AUTO_MERGE: SHA}
    said = told(shown(ejection=LEFT), MergeRecord(head=SHA))
    assert keys(said) == [(f"ejected:107:{'c' * 40}:E_1", Audience.NEWS)]
    assert known(MergeRecord(), shown(ejection=LEFT), NOW).ejected == SHA, "the first look of all"
    hidden = known(first, shown(), NOW)
    assert (hidden.ejection, hidden.ejected, hidden.asked) == ("", SHA, {AUTO_MERGE: SHA})
    later = known(replace(first, head=OLD), shown(), NOW)
    assert (later.ejected, later.asked) == (SHA, {AUTO_MERGE: SHA})
    moved = known(MergeRecord(head=OLD), shown(ejection=LEFT), NOW)
    assert moved.ejected == OLD
    assert told(shown(ejection=LEFT), MergeRecord(head=OLD)) == ()
    assert told(shown(ejection=LEFT), replace(moved, head=SHA)) == ()
    again = known(first, shown(ejection=replace(LEFT, id="E_2")), NOW)
    assert (again.ejection, again.ejected) == ("E_2", SHA)
    assert known(first, shown(ejection=LEFT, head_sha=OLD), NOW).ejected == SHA
    kept = replace(first, asked={UPDATE_BRANCH: OLD})
    assert known(kept, shown(ejection=replace(LEFT, id="E_2")), NOW).asked == {
        UPDATE_BRANCH: OLD,
        AUTO_MERGE: SHA,
    }


def test_what_a_person_takes_out_of_the_queue_is_no_failure_and_stays_out() -> None:
    """Told to the person, and it waits for a person to merge it; nobody is to fix or queue anything."""
    out = shown(ejection=replace(LEFT, reason="manual"))
    said = told(out, MergeRecord(head=SHA), merge="auto")
    assert keys(said) == [("queue:107:E_1:out", Audience.NOTE)]
    after = stands(MergeRecord(head=SHA, queued=SHA), out, NOW)
    assert after.awaits == Whom.MERGE
    queued = MergeRecord(head=SHA, queued=SHA, standing="is in the merge queue", awaits=Whom.QUEUE)
    reckoned = stands(queued, replace(out, mergeable="UNKNOWN"), NOW)
    assert (reckoned.awaits, reckoned.standing) == (Whom.MERGE, "")
    pushed = shown(head_sha=OLD, ejection=out.ejection)
    later = known(after, pushed, NOW)
    assert advance(look(later, merge="auto"), pushed) is None
    assert not known(later, shown(queue=QUEUED, ejection=out.ejection), NOW).is_left_off
    # A hand-off takes it out as well, says so, and pushes at once; a push after a person did is no wish.
    early = shown(ejection=replace(LEFT, reason="manual", at=NOW - 9))
    ours = known(MergeRecord(head=OLD, queued=OLD, handed_out=OLD), early, NOW)
    assert advance(look(ours, merge="auto"), early) is not None
    theirs = MergeRecord(head=OLD, queued=OLD)
    assert advance(look(known(theirs, early, NOW), merge="auto"), early) is None
    assert keys(told(early, theirs, merge="auto")) == [("queue:107:E_1:out", Audience.NOTE)]
    assert not known(MergeRecord(head=SHA), early, NOW).is_left_off


def test_auto_merge_that_somebody_switched_off_is_left_off() -> None:
    """For the head that it was on for: not where a push, the queue or an ejection ended it."""
    on = MergeRecord(head=SHA, auto_on=SHA, ejection="E_1")
    stays = {"ejection": LEFT}
    assert known(on, shown(**stays), NOW).is_left_off
    assert not known(on, shown(**stays, head_sha=OLD), NOW).is_left_off
    assert not known(on, shown(**stays, queue=QUEUED), NOW).is_left_off
    assert not known(replace(on, queued=SHA), shown(**stays), NOW).is_left_off
    assert not known(on, shown(ejection=replace(LEFT, id="E_2")), NOW).is_left_off
    assert not known(MergeRecord(head=SHA), shown(), NOW).is_left_off
    off = known(on, shown(**stays), NOW)
    assert off.auto_on == ""
    assert known(off, shown(**stays, head_sha=OLD), NOW).is_left_off
    on = MergeRecord(head=SHA, auto_on=SHA)
    assert keys(told(shown(), on, merge="auto")) == [("auto-merge:107:off", Audience.NOTE)]
    assert told(shown(), on) == ()


def test_auto_merge_that_somebody_switched_off_before_a_look_saw_it_on_is_left_off() -> None:
    """GitHub shows within a minute that it is on, or queued: else it waits for a person, and stays off.

    Not at another head, nor where the queue threw it out, or a look saw it in the queue before.
    """
    asked = MergeRecord(head=SHA, asked={AUTO_MERGE: SHA}, asked_at=NOW - 60, is_ours=True)
    off = review.judge(look(asked, merge="auto"), shown())[0].merging
    assert (off.is_left_off, off.is_ours, off.awaits) == (True, False, Whom.MERGE)
    assert off.standing == "is ready to merge"
    told_off = keys(told(shown(), asked, merge="auto"))
    assert ("auto-merge:107:off", Audience.NOTE) in told_off
    assert advance(look(off, merge="auto"), shown(head_sha=OLD)) is None
    assert known(off, shown(), NOW + 120).is_left_off
    assert not known(replace(asked, asked_at=NOW - 59), shown(), NOW).is_left_off
    assert not known(asked, shown(is_auto_merge=True), NOW).is_left_off
    assert known(asked, shown(is_auto_merge=True), NOW).is_ours
    assert known(asked, shown(queue=QUEUED), NOW).is_ours
    assert not known(asked, shown(head_sha=OLD), NOW).is_left_off
    assert not known(replace(asked, is_ours=False), shown(), NOW).is_left_off
    assert not known(replace(asked, ejection="E_1", ejected=SHA), shown(), NOW).is_left_off
    assert not known(replace(asked, queued=SHA), shown(), NOW).is_left_off


def test_what_github_was_asked_to_merge_waits_for_no_person() -> None:
    """In the very look that asked, whose answer shows no auto-merge yet; nor is that told as news later."""
    asked = MergeRecord(
        head=SHA, standing="is ready to merge", asked={AUTO_MERGE: SHA}, asked_at=NOW, is_ours=True
    )
    merging = review.judge(look(asked), shown())[0].merging
    assert (merging.awaits, merging.standing) == (Whom.AUTO_MERGE, BY_GITHUB)
    for made in (shown(), shown(is_auto_merge=True)):
        assert keys(told(made, asked)) == [(f"auto-merge:107:{SHA}", Audience.NOTE)]


def test_what_was_asked_of_github_is_told_once_it_has_accepted() -> None:
    """The update to the agent, which has to pull; auto-merge to the person."""
    asked = MergeRecord(head=SHA, asked={UPDATE_BRANCH: SHA})
    assert keys(told(shown(), asked)) == [(f"updated:107:{SHA}", Audience.NEWS)]
    asked = MergeRecord(head=SHA, asked={AUTO_MERGE: SHA})
    assert keys(told(shown(), asked)) == [(f"auto-merge:107:{SHA}", Audience.NOTE)]
    assert told(shown(head_sha=OLD), asked) == ()
    assert told(shown(), merge="auto") == ()
    thrown = replace(asked, ejection="E_1", ejected=SHA)
    assert all("auto-merge" not in key for key, _ in keys(told(shown(ejection=LEFT), thrown)))


ASKED = {"review_decision": "REVIEW_REQUIRED"}
WANTS = {"changes_requested": (asked_for(author="maria"),), "review_decision": "CHANGES_REQUESTED"}
UNREAD = {"mergeable": "UNKNOWN", "merge_state": "UNKNOWN"}
BY_GITHUB = "is merged by GitHub once all requirements are met (auto-merge)"
DRAFT = "is a draft, and cannot be merged before it is marked as ready on its page"
NEWEST = "the newest commits of main to be merged into it"


@pytest.mark.parametrize(
    ("changes", "whom", "how"),
    [
        ({}, Whom.MERGE, "is ready to merge"),
        ({"merge_state": "UNKNOWN"}, Whom.MERGE, ""),
        ({"mergeable": "UNKNOWN"}, Whom.MERGE, ""),
        ({**UNREAD, **ASKED}, Whom.REVIEWERS, "waits for an approving review"),
        ({"mergeable": "CONFLICTING"}, Whom.AUTHOR, ""),
        (WANTS, Whom.AUTHOR, ""),
        (
            {**WANTS, "requested": ("maria",)},
            Whom.REVIEWERS,
            "waits for a review that was asked for",
        ),
        ({"checks": checks(Bucket.PENDING)}, Whom.CHECKS, ""),
        ({"checks": None}, Whom.MERGE, ""),
        ({"merge_state": "BEHIND"}, Whom.AUTHOR, f"waits for {NEWEST}"),
        (
            {"merge_state": "BEHIND", "is_auto_merge": True},
            Whom.AUTHOR,
            f"{BY_GITHUB}; it waits for {NEWEST}",
        ),
        (
            {**ASKED, "is_auto_merge": True},
            Whom.REVIEWERS,
            f"{BY_GITHUB}; it waits for an approving review",
        ),
        (
            {"checks": checks(Bucket.PENDING), "queue": QUEUED},
            Whom.QUEUE,
            "is in the merge queue (position 1)",
        ),
        (
            {"mergeable": "UNKNOWN", "queue": QUEUED},
            Whom.QUEUE,
            "is in the merge queue (position 1)",
        ),
        ({"checks": checks(Bucket.PENDING), "is_auto_merge": True}, Whom.CHECKS, BY_GITHUB),
        ({"requested": ("maria",)}, Whom.REVIEWERS, "is ready to merge"),
        ({"requested": ("maria",), "merge_state": "UNKNOWN"}, Whom.REVIEWERS, ""),
        ({"is_draft": True}, Whom.REVIEWERS, DRAFT),
        ({"is_draft": True, "mergeable": "CONFLICTING"}, Whom.AUTHOR, ""),
    ],
)
def test_how_the_merge_stands(changes: dict[str, Any], whom: Whom, how: str) -> None:
    """Whom it waits for, and in one phrase how, as far as nothing else says it all; that is remembered."""
    made = shown(**changes)
    found = stands(MergeRecord(), made, NOW)
    assert (found.awaits, found.standing) == (whom, how)
    if made.checks is not None:
        merging = review.judge(look(), made)[0].merging
        assert (merging.awaits, merging.standing) == (whom, how)


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ({}, OUT),
        ({"mergeable": "UNKNOWN"}, OUT),
        ({"checks": AGAIN}, OUT),
        ({"ejection": replace(LEFT, at=NOW - 59)}, ""),
        ({"mergeable": "CONFLICTING"}, ""),
        ({"queue": QUEUED}, "is in the merge queue (position 1)"),
        ({"head_sha": OLD}, "is ready to merge"),
    ],
)
def test_a_head_that_was_thrown_out_stands_so_until_another_one_or_another_place(
    changes: dict[str, Any], how: str
) -> None:
    """Not as ready, also where its checks were run again; within the first minute it may be merging."""
    made = shown(**{"ejection": LEFT, **changes})
    before = MergeRecord(head=SHA, standing="is in the merge queue (position 1)", queued=SHA)
    assert review.judge(look(before), made)[0].merging.standing == how


def test_an_ejection_of_before_the_first_look_is_not_of_a_head_that_came_later() -> None:
    """A check that began since then shows that: the head may be queued, and stands as it stands."""
    made = shown(ejection=LEFT, checks=AGAIN)
    merging = stands(MergeRecord(), made, NOW)
    assert (merging.ejection, merging.ejected) == ("E_1", "")
    assert merging.standing == "is ready to merge"


def test_whom_a_record_of_another_version_waits_for_is_kept_as_it_is() -> None:
    """A later version may know others, and its record is read after a way back: no look fails by it."""
    before = MergeRecord(head=SHA, standing="waits for a deputy", awaits="deputy")
    assert stands(before, shown(**UNREAD), NOW).awaits == "deputy"
    assert stands(before, shown(), NOW).awaits == Whom.MERGE


def test_a_merge_that_comes_to_stand_in_another_way_is_told_to_the_person() -> None:
    """Where an approval came and a rule is left, the rule is named; a place in the queue is none."""
    before = MergeRecord(head=SHA, standing="waits for an approving review")
    left = Conversations("d", unresolved=2)
    made = shown(
        merge_state="BLOCKED", conversations=left, demands=MergeDemands(conversations=True)
    )
    (said,) = told(made, before)
    how = "waits for 2 conversations to be resolved, as main demands"
    assert (said.key, said.text) == (f"standing:107:{SHA}:{how}:{int(NOW)}", f"PR #107 {how}.")
    assert (said.audience, said.ends[0]) == (Audience.NOTE, "standing")
    assert told(made, replace(before, standing=how)) == ()
    assert told(made, replace(before, head=OLD)) == ()
    assert told(made, replace(before, standing="")) == ()
    assert told(replace(made, merge_state="UNKNOWN"), before) == ()
    assert told(replace(made, checks=checks(Bucket.PENDING)), before) == ()
    assert told(replace(made, mergeable="CONFLICTING"), before)[0].key.startswith("conflict")
    assert len(told(replace(made, mergeable="CONFLICTING"), before)) == 1
    in_queue = shown(queue=QUEUED)
    assert [key for key, _ in keys(told(in_queue, before))] == [
        f"standing:107:{SHA}:is in the merge queue (position 1):{int(NOW)}"
    ]
    assert told(in_queue, replace(before, queued=SHA, standing="is in the merge queue")) == ()
    out = replace(before, queued=SHA, standing="is in the merge queue (position 1)")
    assert tuple(key for key, _ in keys(told(shown(), out))) == READY


PENDING = {"checks": checks(Bucket.PENDING)}
FAILED = {"checks": checks(Bucket.FAIL)}
CONFLICT = {"mergeable": "CONFLICTING", "merge_state": "DIRTY"}
READY = (f"standing:107:{SHA}:is ready to merge:{int(NOW)}",)
CHANGES = {"changes_requested": (asked_for(),)}


@each_row(
    ("looks", "ends"),
    [
        (({}, CHANGES, {}), READY),
        ((CHANGES, {}), READY),
        ((CONFLICT, UNREAD, UNREAD, {}), READY),
        ((CHANGES, PENDING, {}), READY),
        (({}, {**PENDING, **CHANGES}, {}), READY),
        (({**PENDING, **CHANGES}, {}), ()),
        (({**PENDING, **CONFLICT}, {}), ()),
        (({}, {**FAILED, **CHANGES}, {}), ()),
        ((CHANGES, FAILED, {}), ()),
        ((CHANGES, {"head_sha": OLD, **PENDING}, {"head_sha": OLD}), ()),
        (({}, UNREAD, {}), ()),
        (({"requested": ("maria",), "merge_state": "BLOCKED"}, UNREAD, {}), READY),
        (({"requested": ("maria",), "merge_state": "BLOCKED"}, UNREAD, UNREAD, {}), READY),
    ],
)
def test_what_held_a_green_head_back_and_is_over_without_a_push_is_told_once(
    looks: tuple[dict[str, Any], ...], ends: tuple[str, ...]
) -> None:
    """Changes, a conflict or a review, also if GitHub reckons then; not beside checks' own first notice."""
    merging = MergeRecord()
    for changes in looks[:-1]:
        made = shown(**changes)
        assert all(one.key not in READY for one in told(made, merging))
        merging = review.judge(look(merging), made)[0].merging
    last = shown(**looks[-1])
    assert tuple(one.key for one in told(last, merging)) == ends
    assert told(last, review.judge(look(merging), last)[0].merging) == ()


BLOCKED = {"merge_state": "BLOCKED", "checks": checks(Bucket.PENDING)}


@each_row(
    ("changes", "wants"),
    [
        (BLOCKED, True),
        ({"merge_state": "BEHIND"}, True),
        ({}, True),
        ({"merge_state": "HAS_HOOKS"}, True),
        ({"checks": checks(Bucket.PENDING)}, False),
        ({"checks": Checks(SHA)}, False),
        ({"merge_state": "UNSTABLE"}, False),
        ({"merge_state": "UNKNOWN"}, False),
        ({"merge_state": "BLOCKED", "checks": checks(Bucket.FAIL)}, False),
        ({**BLOCKED, "checks": None}, False),
        ({**BLOCKED, "queue": QUEUED}, False),
        ({**BLOCKED, "is_draft": True}, False),
        ({**BLOCKED, "mergeable": "CONFLICTING"}, False),
        ({**BLOCKED, "changes_requested": (asked_for(),)}, False),
        ({**BLOCKED, "is_auto_merge": True}, False),
        ({**BLOCKED, "conversations": Conversations("d", 1, 1)}, False),
        ({**BLOCKED, "conversations": Conversations("d", 1, 0)}, True),
    ],
)
def test_when_github_is_asked_to_merge_by_itself(changes: dict[str, Any], *, wants: bool) -> None:
    """Where a rule holds the merge back, or nothing does and all is green; never against a word."""
    made = shown(**changes)
    action = AdvancePullRequest(107, SHA, AUTO_MERGE, "merge")
    assert advance(look(merge="auto"), made) == (action if wants else None)
    assert advance(look(), made) is None
    assert advance(replace(look(merge="auto"), looked_at_checks=False), made) is None


def test_a_head_is_given_to_github_once_and_a_new_one_again() -> None:
    """What was asked, left off or refused is not asked again; the method is the repository's."""
    made = shown(**BLOCKED)
    asked: dict[str, Any] = {"merge": "auto"}
    assert advance(look(MergeRecord(asked={AUTO_MERGE: SHA}), **asked), made) is None
    assert advance(look(MergeRecord(asked={AUTO_MERGE: OLD}), **asked), made) is not None
    assert advance(look(MergeRecord(asked={UPDATE_BRANCH: SHA}), **asked), made) is not None
    assert advance(look(MergeRecord(is_left_off=True), **asked), made) is None
    weakened = look(**asked)
    pulled = replace(weakened.record.pull, tampering=("|| true",))
    weakened = replace(weakened, record=replace(weakened.record, pull=pulled))
    assert advance(weakened, made) is None
    observed = Observation("octo-org/hello", "main", None, merge_method="squash")
    squash = replace(look(merge="auto"), observation=observed)
    action = AdvancePullRequest(107, SHA, AUTO_MERGE, "squash")
    assert advance(squash, made) == action
    refused = refusing(squash.record, action)
    assert advance(replace(squash, record=refused), made) is None


def refusing(made: Record, action: AdvancePullRequest) -> Record:
    """The record after GitHub's no."""
    return replace(
        made,
        troubles={"AdvancePullRequest": Trouble(mark_of(action), "no", NOW + 1, is_final=True)},
    )


def test_a_green_branch_that_is_behind_is_brought_up_to_date_where_the_settings_say_so() -> None:
    """Once for a head, before anything else; the agent is told to merge where GitHub will not."""
    made = shown(merge_state="BEHIND")
    both: dict[str, Any] = {"merge": "auto", "update_branch": True}
    action = AdvancePullRequest(107, SHA, UPDATE_BRANCH)
    assert advance(look(**both), made) == action
    assert advance(look(update_branch=True), made) == action
    assert advance(look(update_branch=True), shown()) is None
    assert advance(look(**both), replace(made, checks=checks(Bucket.PENDING))) is None
    asked = MergeRecord(asked={UPDATE_BRANCH: SHA})
    assert advance(look(asked, **both), made) is None
    assert advance(look(MergeRecord(asked={UPDATE_BRANCH: OLD}), **both), made) == action

    def behind(snapshot: Snapshot) -> bool:
        said = review.judge(snapshot, made)[1]
        return any(one.key.endswith(":behind") for one in said)

    assert behind(look())
    assert behind(look(asked))
    assert not behind(look(**both))
    assert not behind(look(asked, **both))
    refused = look(update_branch=True)
    assert behind(replace(refused, record=refusing(refused.record, action)))


def test_what_github_accepted_is_remembered_with_the_head_and_a_refusal_told() -> None:
    """The fact settles what was in the way; another kind of request keeps its own head."""
    made = look(MergeRecord(asked={AUTO_MERGE: OLD})).record
    action = AdvancePullRequest(107, SHA, UPDATE_BRANCH)
    after = fold(refusing(made, action), Done(action), NOW)
    assert after.pull.merging.asked == {AUTO_MERGE: OLD, UPDATE_BRANCH: SHA}
    assert after.troubles == {}
    failed = fold(made, Failed(action, Rejected("Auto-merge is not allowed.")), NOW)
    assert failed.troubles["AdvancePullRequest"].is_final


def weakened(merging: MergeRecord) -> Snapshot:
    """A look that knows of weakened checks."""
    memory = {"pull.merging": merging, "pull.tampering": ("skips a test in a.py",)}
    made = seen(record(**REVIEW, memory=memory))
    return configured(made, merge="auto")


OURS = MergeRecord(head=SHA, auto_on=SHA, asked={AUTO_MERGE: OLD}, is_ours=True)
ON = shown(is_auto_merge=True, merge_state="BLOCKED")
BACK = AdvancePullRequest(107, SHA, AUTO_MERGE_OFF)


def test_our_auto_merge_is_taken_back_where_checks_were_weakened() -> None:
    """Once, draft or red or not; the user is told, and nothing is taken for somebody's switching off."""
    for made in (ON, replace(ON, is_draft=True), replace(ON, checks=checks(Bucket.FAIL))):
        assert advance(weakened(OURS), made) == BACK
    assert advance(look(OURS, merge="auto"), ON) is None
    assert advance(weakened(OURS), replace(ON, is_auto_merge=False)) is None
    assert advance(weakened(OURS), replace(ON, queue=QUEUED)) is None
    after = fold(weakened(OURS).record, Done(BACK), NOW).pull.merging
    assert (after.is_ours, after.auto_on, after.asked[AUTO_MERGE_OFF]) == (False, "", SHA)
    for made in (ON, shown(merge_state="BLOCKED")):
        text, ends = (
            message("auto-merge-taken-back", number=107),
            ("auto-merge", "failed", "conflict", "changes"),
        )
        back = Notice(f"auto-merge:107:{SHA}:back", text, Audience.NOTE, ends=ends)
        assert review.judge(weakened(after), made)[1][0] == back
        assert advance(weakened(after), made) is None
    still_shown = known(after, ON, NOW)
    assert still_shown.auto_on == ""
    assert known(still_shown, shown(), NOW).is_left_off is False


def test_a_persons_auto_merge_is_left_on_and_asked_about() -> None:
    """Nothing is switched off; a wait ends with it."""
    theirs = replace(OURS, asked={}, is_ours=False)
    assert advance(weakened(theirs), ON) is None
    (notice,) = [one for one in review.judge(weakened(theirs), ON)[1] if "auto-kept" in one.key]
    assert (notice.key, notice.audience) == ("auto-kept:107", Audience.ASK)
    assert endings.news_ends([notice], endings.WaitFor.MERGE) is endings.Ending.PERSON
    assert "auto-kept" not in str(keys(told(ON, theirs)))
    for made, merging in ((shown(merge_state="BLOCKED"), theirs), (ON, replace(OURS, asked={}))):
        assert "auto-kept" not in str(review.judge(weakened(merging), made)[1])


def test_whose_auto_merge_is() -> None:
    """Ours from when it was asked for until it is off; a new head and the queue change nothing."""
    asked = fold(look().record, Done(AdvancePullRequest(107, SHA, AUTO_MERGE)), NOW).pull.merging
    assert asked.is_ours
    assert known(asked, shown(), NOW).is_ours  # the look in which it was asked for
    assert known(asked, shown(is_auto_merge=True), NOW).is_ours
    newer = replace(asked, auto_on=SHA)
    assert known(newer, shown(is_auto_merge=True, head_sha=OLD), NOW).is_ours
    assert known(newer, shown(queue=QUEUED), NOW).is_ours
    assert known(replace(newer, asked={}), shown(queue=QUEUED), NOW).is_ours
    theirs = replace(asked, is_ours=False)
    assert not known(theirs, shown(), NOW).is_ours
    assert not known(newer, shown(), NOW).is_ours  # somebody switched it off
    assert not known(newer, shown(head_sha=OLD), NOW).is_ours
    behind = Done(AdvancePullRequest(107, SHA, UPDATE_BRANCH))
    assert fold(look(OURS).record, behind, NOW).pull.merging.is_ours
