"""The hand-off, the merge and what ends on values alone: each condition, step and record."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.card_and_link import is_unsynced
from lifecycle.claim.decisions.decide import decide, still_wanted
from lifecycle.claim.decisions.derive import may_try
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.pull import opening
from lifecycle.claim.decisions.pull.review import WHILE_OPEN
from lifecycle.claim.decisions.snapshot import NOTHING, Decision
from lifecycle.claim.engine import briefing
from lifecycle.claim.record.sections import Intent, Releasing, Trouble
from lifecycle.claim.record.state import mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.plan import (
    Audience,
    CloseIssue,
    LeadLease,
    OpenPullRequest,
    PostComment,
    ReleaseLease,
    Wake,
)
from lifecycle.core.tracker import Link
from lifecycle.core.values.model import BoardItem, Hold, PullState
from tests.batches import each_row
from tests.claim.steps import DONE, READY, REVIEW, configured, set_by
from tests.factories import (
    BRANCH,
    NOW,
    SHA,
    comment,
    issue,
    observation,
    pull,
    record,
    seen,
    texts,
)

AGENT = "edouard-1738000000"
MERGED = pull(state=PullState.MERGED, url="u", head_sha="b")
OPENING = OpenPullRequest(f"octo-org:{BRANCH}", "main", "Fix race condition", 42, SHA)
HANDED = {**READY, "phase": "ready_for_pr"}
QUESTION_ENDS = (*WHILE_OPEN, "closed")


def handed(shown: dict[str, Any] | None = None, **changes: Any) -> Any:
    """A claim that was handed off, its branch pushed."""
    made = record(**{**HANDED, **changes.pop("values", {})}, memory=changes.pop("memory", {}))
    return seen(made, observed=observation(**(shown or {})), pushed_head=SHA, **changes)


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"branch": ""}, "missing:branch"),
        ({"summary": ""}, "missing:summary"),
        ({"branch": "", "summary": " "}, "missing:branch,summary"),
        ({"branch": "main"}, "branch-is-base:main"),
    ],
)
def test_a_hand_off_that_cannot_be_one_is_a_condition(values: dict[str, Any], key: str) -> None:
    """For the agent, as long as it lasts."""
    step = opening.decide(handed(values=values))
    assert [(n.key, n.audience, n.stands) for n in step.notices] == [(key, Audience.ACT, True)]
    assert (step.action, set_by(step), step.record) == (None, {}, None)


def test_a_hand_off_opens_what_is_pushed_into_its_base() -> None:
    """The configured base, else the default one; not while that is held back."""
    assert opening.decide(handed()).action == OPENING
    start = handed()
    into = configured(start, base="next")
    assert opening.decide(into).action == replace(OPENING, base="next")
    assert opening.decide(replace(start, observation=None)) == Decision()
    assert opening.decide(replace(start, pushed_head=None)).action == replace(OPENING, pushed="")
    held = {"troubles": {"OpenPullRequest": Trouble(mark_of(OPENING), "no", NOW + 1)}}
    assert opening.decide(handed(memory=held)).action is None
    nobodys = handed(values={"issue_number": None})
    assert opening.decide(nobodys).action == replace(OPENING, issue=0)


def test_what_an_earlier_claim_merged_is_no_hand_off_of_this_one() -> None:
    """The issue was reopened and claimed again: no other PR, and no question about the old one's merge."""
    taken = {"memory": {"is_taken": True}}
    merged = replace(MERGED, head_sha=SHA, merged_at=NOW - 7200)
    step = opening.decide(handed({"by_branch": (merged,)}, **taken))
    assert [(n.key, n.audience, n.stands) for n in step.notices] == [
        ("merged-earlier:107", Audience.ACT, True)
    ]
    assert (step.action, set_by(step)) == (None, {})
    for own in (
        handed({"by_branch": (replace(merged, merged_at=NOW - 1800),)}, **taken),
        handed({"by_number": merged}, values={"pr_number": 107}, **taken),
        handed({"by_branch": (merged,)}),
    ):
        assert set_by(opening.decide(own))["phase"] == "merged_detected"


@pytest.mark.parametrize("was_ours", [True, False])
def test_an_open_pull_request_is_adopted(was_ours: bool) -> None:
    """Number, phase and status in one step; what was known of another one is forgotten."""
    intents = (
        {"OpenPullRequest": Intent("m", NOW)} if was_ours else {"PostComment": Intent("m", NOW)}
    )
    memory = {
        "intents": intents,
        "troubles": {"OpenPullRequest": Trouble("m", "no", NOW)},
        "pull.checks": {"sha": "x"},
        "pull.changes_by": ("maria",),
        "pull.conflicts_with": "main",
        "pull.durations": {"test": 4.0},
    }
    step = opening.decide(handed({"by_branch": (pull(url="u", head_sha="b"),)}, memory=memory))
    assert set_by(step) == {"pr_number": 107, "phase": "pr_created", "status": "In Review"}
    assert step.record is not None
    assert (step.record.judged, step.record.intents, step.record.troubles) == ("pr_created", {}, {})
    known = step.record.pull
    assert (known.url, known.head, known.checks) == ("u", "b", None)
    assert (known.changes_by, known.conflicts_with) == ((), "")
    assert known.durations == {"test": 4.0}
    (notice,) = step.notices
    assert ("its title and text were kept" in notice.text) is not was_ours
    assert (notice.key, notice.audience) == ("pr:107", Audience.NEXT)
    assert (BRANCH in notice.text) is not was_ours
    other = opening.decide(handed({"by_branch": (pull(base="next"),)}))
    assert other.action == OPENING


def test_what_was_merged_as_it_is_pushed_is_not_opened_again() -> None:
    """It becomes the question."""
    step = opening.decide(handed({"by_branch": (replace(MERGED, head_sha=SHA),)}))
    assert set_by(step) == {"pr_number": 107, "phase": "merged_detected"}
    assert opening.decide(handed({"by_branch": (MERGED,)})).action == OPENING


@pytest.mark.parametrize(
    ("changes", "shown", "is_drafted"),
    [
        ({}, {}, True),
        ({"is_silent": False}, {}, False),
        ({"pushed_head": None}, {}, False),
        ({"values": {"summary": ""}}, {}, False),
        ({"values": {"branch": ""}}, {}, False),
        ({"values": {"branch": "main"}}, {}, False),
        ({}, {"by_number": pull(state=PullState.CLOSED)}, False),
        ({}, {"by_branch": (pull(state=PullState.CLOSED),)}, False),
        ({}, {"by_branch": (pull(state=PullState.CLOSED, head_sha="b"),)}, True),
        ({}, {"by_branch": (pull(head_owner="mallory"),)}, True),
    ],
)
def test_left_work_is_drafted_where_nothing_of_it_was_shown(
    changes: dict[str, Any], shown: dict[str, Any], is_drafted: bool
) -> None:
    """Only what is pushed, with a summary, of a task that nobody goes on with."""
    pushed = {"pushed_head": SHA, "is_silent": True, **changes}
    values = {**READY, "phase": "coding", **pushed.pop("values", {})}
    start = seen(record(**values), observed=observation(**shown), **pushed)
    action = opening.at_work(start).action
    assert action == (replace(OPENING, is_draft=True) if is_drafted else None)
    assert opening.at_work(replace(start, observation=None)) == Decision()
    if is_drafted:
        assert opening.at_work(replace(start, failed=frozenset({"OpenPullRequest"}))).action is None
        into = configured(start, base="next")
        drafted = opening.at_work(into).action
        assert isinstance(drafted, OpenPullRequest)
        assert drafted.base == "next"


def test_a_title_is_one_line_of_its_limit() -> None:
    """What is cut off shows that it is."""
    assert opening.title(" Fix\n the  race ") == "Fix the race"
    for length, ends in ((256, "x"), (257, "…")):
        line = opening.title("x" * length)
        assert (len(line), line[-1]) == (256, ends)


def test_a_body_has_summary_and_link_whatever_the_template_says() -> None:
    """In their places, or before it; nothing is ticked by a template."""
    words: dict[str, Any] = {"summary": " Done. ", "issue": 42, "link": "Refs"}
    assert opening.body("A {{summary}} B {{issue}}", **words) == "A Done. B Refs #42"
    assert opening.body("A {{issue}}\n- [x] t", **words) == "Done.\n\nA Refs #42\n- [ ] t"
    assert opening.body("A {{summary}}\n* [X] t", **words) == "Refs #42\n\nA Done.\n* [ ] t"
    assert opening.body("A", **words) == "Done.\n\nRefs #42\n\nA"
    assert "Done.\n\nRefs #42\n\n## Mission integrity" in opening.body("", **words)
    assert len(opening.body("x" * 60_001, **words)) == 60_000
    long = opening.body("{{summary}}{{issue}}", **{**words, "summary": "s" * 20_001})
    assert len(long) == 20_000 + len("Refs #42")


def test_a_projects_own_template_is_looked_for_where_github_has_it() -> None:
    """In these places of the repository, the first that there is."""
    assert opening.TEMPLATES == (
        ".github/pull_request_template.md",
        ".github/PULL_REQUEST_TEMPLATE.md",
        ".github/pull_request_template.txt",
    )


WRITTEN = {**REVIEW, "phase": "merged_detected"}


def test_a_merge_moves_the_claim_and_puts_the_question() -> None:
    """What was said of the open pull request is no news any more."""
    start = seen(record(**REVIEW), observed=observation(by_number=MERGED))
    step = closing.merge_found(start, MERGED)
    assert set_by(step) == {"phase": "merged_detected"}
    assert step.record is not None
    assert step.record.claim.pr_number == 107
    assert (step.record.judged, step.record.pull.url, step.record.pull.head) == (
        "merged_detected",
        "u",
        "b",
    )
    (notice,) = step.notices
    ends = (*QUESTION_ENDS, "auto-merged", "merged")  # "merged": that of before a reopening
    assert (notice.key, notice.audience, notice.ends) == ("merged:107", Audience.ASK, ends)
    (auto,) = closing.merge_found(configured(start, close="auto"), MERGED).notices
    assert (auto.key, auto.audience, auto.ends) == (
        "auto-merged:107",
        Audience.NEWS,
        QUESTION_ENDS,
    )


@pytest.mark.parametrize(
    ("judged", "shown", "fields", "keys"),
    [
        ("merged_detected", None, {}, ["merged:107"]),
        ("coding", None, {}, []),
        ("merged_detected", {}, {}, []),
        ("merged_detected", {"by_number": pull()}, {}, []),
        (
            "coding",
            {},
            {"phase": "coding", "status": "In Progress"},
            ["not-merged:0:coding"],
        ),
        (
            "coding",
            {"by_number": pull()},
            {"phase": "checks_running"},
            ["not-merged:107:checks_running"],
        ),
        (
            "coding",
            {"by_number": MERGED},
            {},
            ["merged:107"],
        ),
    ],
)
def test_a_merge_that_somebody_wrote_is_judged(
    judged: str, shown: dict[str, Any] | None, fields: dict[str, Any], keys: list[str]
) -> None:
    """One that was seen is final; the question is put again to whoever asks the ledger."""
    made = record(**WRITTEN, memory={"judged": judged})
    step = closing.after_merge(seen(made, observed=None if shown is None else observation(**shown)))
    assert set_by(step) == fields
    assert [notice.key for notice in step.notices] == keys
    is_seen = keys == ["merged:107"] and step.record is not None
    assert (step.record or made).judged == (
        "merged_detected" if is_seen else fields.get("phase", judged)
    )
    if keys and keys[0].startswith("not-merged"):
        assert step.record is not None
        assert step.record.judged == fields["phase"]
        assert (step.notices[0].audience, step.notices[0].stands) == (Audience.ACT, True)
    without = record(**{**WRITTEN, "pr_number": None}, memory={"judged": judged})
    assert closing.after_merge(seen(without)) == Decision()


@pytest.mark.parametrize("phase", ["pr_created", "checks_running"])
@pytest.mark.parametrize(
    ("status", "number", "set_to"),
    [
        ("In Progress", None, "In Review"),
        ("Blocked", None, "Blocked"),
        ("In Progress", 107, "In Progress"),
    ],
)
def test_a_phase_that_somebody_wrote_for_the_pull_request_of_another_sets_its_status(
    phase: str, status: str, number: int | None, set_to: str
) -> None:
    """Else its card says In Progress while it is reviewed; what somebody chose stays, then and later."""
    written = {"phase": phase, "status": status, "last_synced_status": status, "pr_number": number}
    known = pull() if number else None
    shown = observation(by_number=known, by_branch=(pull(),))
    start = seen(record(**{**REVIEW, **written}), observed=shown)
    claim = (decide(start).record or start.record).claim
    assert (claim.pr_number, claim.status) == (107, set_to)


def test_auto_closes_what_was_seen_as_merged() -> None:
    """And not what somebody wrote."""
    for judged, fields in (("merged_detected", {"phase": "done"}), ("coding", {})):
        start = seen(record(**WRITTEN, memory={"judged": judged}))
        step = closing.after_merge(configured(start, close="auto"))
        assert set_by(step) == fields
        assert (step.record is not None and step.record.ending.consent == "auto") is bool(fields)


ENDING = ["PostComment", "CloseIssue", "Unassign", "SetBoard", "ReleaseLease"]
ENDING += ["SetLinked", "FindLinked"]


@each_row(("kind", "until"), product(ENDING, [None, NOW, NOW + 1]))
def test_an_end_goes_on_when_the_first_of_its_steps_is_due(kind: str, until: float | None) -> None:
    """A failure of something else holds no step back."""
    troubles = {} if until is None else {kind: Trouble("m", "no", until)}
    troubles["OpenPullRequest"] = Trouble("m", "no", NOW + 9)
    made = record(**DONE, memory={"troubles": troubles})
    assert closing.may_go_on(seen(made)) is (until != NOW + 1)
    later = {
        **troubles,
        "CloseIssue": Trouble("m", "no", NOW + 5),
        "Unassign": Trouble("m", "no", NOW),
    }
    assert closing.may_go_on(seen(record(**DONE, memory={"troubles": later})))


POST = PostComment(42, "Done.\n\n<!-- lifecycle:m -->", "<!-- lifecycle:m -->")


@pytest.mark.parametrize(
    ("memory", "posted", "result"),
    [
        ({"ending.comment_done": True}, None, None),
        ({}, None, POST),
        ({}, "Done.\n\n<!-- lifecycle:m -->", "found"),
        ({}, "Done. <!-- lifecycle:m --> behind", POST),
        ({"intents": {"PostComment": Intent("<!-- lifecycle:m -->", NOW - 120, 2)}}, None, POST),
        (
            {"intents": {"PostComment": Intent("<!-- lifecycle:m -->", NOW - 119, 2)}},
            None,
            NOTHING,
        ),
        (
            {"intents": {"PostComment": Intent("<!-- lifecycle:m -->", NOW - 120, 1)}},
            None,
            NOTHING,
        ),
        ({"intents": {"PostComment": Intent("another", NOW, 0)}}, None, POST),
        ({"troubles": {"PostComment": Trouble(mark_of(POST), "no", NOW + 1)}}, None, NOTHING),
        (
            {"troubles": {"PostComment": Trouble(mark_of(POST), "no", NOW + 1, is_final=True)}},
            None,
            None,
        ),
    ],
)
def test_the_comment_comes_once(memory: dict[str, Any], posted: str | None, result: Any) -> None:
    """It is looked for, waited for, sent again after two clean reads, and given up when refused."""
    comments = (comment("x"), comment(posted)) if posted else ()
    shown = observation(issue=issue(comments=comments))
    step = closing.comment_step(seen(record(**DONE, memory=memory), observed=shown), POST)
    if result == "found":
        assert isinstance(step, Decision)
        assert step.record is not None
        assert step.record.ending.comment_done
        assert step.action is None
    else:
        assert step == (Decision(action=POST) if result is POST else result)


def test_a_clean_read_is_counted_and_the_next_one_planned() -> None:
    """At the end of the two minutes, or a second later; not where comments were not read."""
    made = record(**DONE, memory={"intents": {"PostComment": Intent("m", NOW, 1)}})
    shown = observation(issue=issue(comments=()))
    for now, again in ((NOW + 10, NOW + 120), (NOW + 119, NOW + 120), (NOW + 200, NOW + 201)):
        after = closing.comment_missed(made, shown, now)
        assert after.intents["PostComment"] == Intent("m", NOW, 2)
        trouble = after.troubles["PostComment"]
        assert (trouble.mark, trouble.until, trouble.is_final) == ("m", again, False)
    for blind in (observation(issue=None), observation()):
        assert closing.comment_missed(made, blind, NOW) == made
    assert closing.comment_missed(record(**DONE), shown, NOW) == record(**DONE)


@pytest.mark.parametrize(
    ("memory", "action"),
    [
        ({}, None),
        ({"ownership.lease": "abc"}, ReleaseLease(42, "abc")),
        ({"ownership.lease": "abc", "ending.lease_done": True}, None),
    ],
)
def test_the_lease_is_ended_once(memory: dict[str, Any], action: Any) -> None:
    """Refused, it is given up; held back, it is waited for."""
    step = closing.lease_step(seen(record(**DONE, memory=memory)))
    assert step == (Decision(action=action) if action else None)
    if action:
        trouble = Trouble(mark_of(action), "no", NOW + 1)
        held = {**memory, "troubles": {"ReleaseLease": trouble}}
        assert closing.lease_step(seen(record(**DONE, memory=held))) == Decision()
        gone = {**memory, "troubles": {"ReleaseLease": replace(trouble, is_final=True)}}
        assert closing.lease_step(seen(record(**DONE, memory=gone))) is None


@pytest.mark.parametrize(
    ("trouble", "made", "may"),
    [
        (None, {}, True),
        ({}, {}, False),
        ({"until": NOW}, {}, True),
        ({"mark": "another"}, {}, True),
        ({}, {"wake": Wake.TICK}, True),
        ({}, {"wake": Wake.SWEEP}, True),
        (None, {"failed": frozenset({"CloseIssue"})}, False),
        (None, {"failed": frozenset({"CloseIssue"}), "wake": Wake.TICK}, False),
        (None, {"failed": frozenset({"SetBoard"})}, True),
    ],
)
def test_what_failed_is_held_back_for_a_while(
    trouble: dict[str, Any] | None, made: dict[str, Any], may: bool
) -> None:
    """Within a look for good; later until its time, or until somebody asks."""
    close = CloseIssue(42)
    one = Trouble(mark_of(close), "no", NOW + 1)
    troubles = {} if trouble is None else {"CloseIssue": replace(one, **trouble)}
    assert may_try(seen(record(memory={"troubles": troubles}), **made), close) is may


@each_row(
    ("kind", "values", "memory", "made", "is_wanted"),
    [
        ("OpenPullRequest", HANDED, {}, {}, True),
        ("OpenPullRequest", {}, {}, {}, False),
        ("SetBoard", {}, {}, {}, False),
        ("SetBoard", {"status": "Todo"}, {}, {}, True),
        ("SetBoard", DONE, {}, {}, True),
        ("SetBoard", {}, {"ending.releasing": Releasing(NOW)}, {}, True),
        ("AddToBoard", {"status": "Todo"}, {}, {}, True),
        ("AddToBoard", DONE, {}, {}, False),
        ("LinkPullRequest", REVIEW, {}, {}, True),
        ("LinkPullRequest", {}, {}, {}, False),
        ("AdvancePullRequest", REVIEW, {}, {}, True),
        ("AdvancePullRequest", DONE, {}, {}, False),
        ("Look", {}, {}, {}, False),
        ("Look", {}, {}, {"failed": frozenset({"Look"})}, True),
        ("SetLinked", {}, {}, {}, False),
        ("SetLinked", DONE, {}, {}, False),
        ("SetLinked", {}, {"linked.link": Link("beads", "bd-1")}, {}, True),
        ("CloseIssue", {}, {}, {}, False),
        ("CloseIssue", DONE, {}, {}, True),
        ("Unassign", {}, {"ending.releasing": Releasing(NOW)}, {}, True),
    ],
)
def test_a_failure_stands_while_its_action_is_wanted(
    kind: str,
    values: dict[str, Any],
    memory: dict[str, Any],
    made: dict[str, Any],
    is_wanted: bool,
) -> None:
    """What the claim does not want any more is no trouble."""
    assert still_wanted(seen(record(**values, memory=memory), **made), kind) is is_wanted


@pytest.mark.parametrize(
    ("values", "memory", "has_board", "is_behind"),
    [
        ({}, {}, True, False),
        ({"status": "Todo"}, {}, True, True),
        ({"status": "in progress"}, {}, True, False),
        ({"status": "Todo"}, {}, False, False),
        ({"status": "", "last_synced_status": "Todo"}, {}, True, False),
        ({**DONE, "status": "Todo"}, {}, True, False),
        ({"status": "Todo"}, {"ending.releasing": Releasing(NOW)}, True, False),
        ({}, {"card.agent": ""}, True, True),
        ({"agent_id": ""}, {"card.agent": "x"}, True, False),
    ],
)
def test_a_card_is_unsynced_by_its_status_or_its_agent(
    values: dict[str, Any], memory: dict[str, Any], has_board: bool, is_behind: bool
) -> None:
    """Where there is a board, and the claim lives."""
    start = seen(record(**values, memory=memory))
    assert is_unsynced(replace(start, has_board=has_board)) is is_behind


FREED = BoardItem("PVTI_lADOBx", "Todo", "")
HELD: dict[str, Any] = {"is_taken": True, "past": ({"phase": "coding"},)}


ANOTHERS = Hold(42, "b" * 40, "maria-2", NOW)
OLDER = replace(ANOTHERS, since=NOW - 3601)


@each_row(
    ("hold", "item", "before", "taken_by"),
    [
        (ANOTHERS, None, "", "maria-2"),
        (ANOTHERS, BoardItem("PVTI_lADOBx", "In Progress", AGENT), "", "maria-2"),
        (replace(ANOTHERS, since=None), None, "", "maria-2"),
        (OLDER, None, "", ""),
        (OLDER, None, "maria-2", "maria-2"),
        (OLDER, None, "b-1", "b-1"),
        (replace(ANOTHERS, agent=""), None, "", ""),
        (replace(ANOTHERS, agent=AGENT), None, "maria-2", ""),
        (None, None, "maria-2", "maria-2"),
        (Hold(42, "a" * 40), None, "maria-2", ""),
        (Hold(42, "a" * 40), BoardItem("PVTI_lADOBx", "Todo", "b-1"), "b-1", ""),
    ],
)
def test_who_has_the_lease_has_the_task(
    hold: Hold | None, item: BoardItem | None, before: str, taken_by: str
) -> None:
    """Board or not: another's newer lease took it over, until ours is there again.

    A lease with an older date counts once it was found to be the lease. A claim that is known only from its
    file, as its state was deleted, may be older than any lease.
    """
    memory = {**HELD, "ownership.lease": "a" * 40, "ownership.taken_by": before}
    made = record(memory=memory)
    shown = observation(hold=hold, item=item)
    assert derive.apply_loss(made, made, shown).ownership.taken_by == taken_by
    if hold == OLDER and not before:
        learned = replace(made.with_ownership(lease=""), is_taken=False)
        assert derive.apply_loss(learned, learned, shown).ownership.taken_by == "maria-2"


def test_a_comment_is_not_looked_for_where_nothing_is_shown() -> None:
    """No issue, or no look: it is posted as the first one."""
    for shown in (None, observation(issue=None), observation()):
        start = seen(record(**DONE), observed=shown)
        assert closing.comment_step(start, POST) == Decision(action=POST)


def test_an_issue_that_the_merge_closed_lets_the_next_pull_request_out() -> None:
    """Opening it failed after that was told: the next look opens it, and no hand-off is refused."""
    merged = observation(by_number=pull(state=PullState.MERGED), issue=issue(is_open=False))
    at_work = {"judged": "checks_running", "ending.issue_closed": True}
    made = record(**READY, pr_number=107, memory=at_work)
    step = decide(seen(made, observed=merged, pushed_head="f" * 40))
    assert "go into another PR" in texts(step)
    after = step.record or made
    assert not derive.is_rejected(after)
    assert briefing.problem_lines(after) == []
    again = decide(seen(after, observed=merged, pushed_head="f" * 40))
    assert isinstance(again.action, OpenPullRequest)


@pytest.mark.parametrize("is_open", [True, False])
def test_a_draft_of_left_work_is_handed_to_nobody_for_an_issue_that_was_closed(
    *, is_open: bool
) -> None:
    """To make it ready is to open it, which is said not to be done then."""
    text = "Refs #42"
    body = hidden_marker.signed(text, opening.left_work_mark("Fix", text))
    draft = pull(is_draft=True, title="Fix", body=body)
    shown = observation(by_branch=(draft,), issue=issue(is_open=is_open))
    made = record(**READY, memory={"ending.issue_closed": not is_open})
    step = decide(seen(made, observed=shown, pushed_head=SHA))
    assert isinstance(step.action, OpenPullRequest) is is_open
    assert ("no PR is opened for it" in texts(step)) is not is_open
    assert set_by(step) == {}


@pytest.mark.parametrize(
    ("hold", "changes", "is_led"),
    [
        (Hold(42, SHA, AGENT, branch="claude/first-42"), REVIEW, True),
        (Hold(42, SHA, AGENT, branch=BRANCH), REVIEW, False),
        (Hold(42, SHA, AGENT), REVIEW, False),
        (Hold(42, "f" * 40, AGENT, branch="claude/first-42"), REVIEW, False),
        (Hold(42, SHA, AGENT, branch="claude/first-42"), {}, False),
        (None, REVIEW, False),
    ],
)
def test_the_claims_own_lease_is_led_to_the_branch_whose_pull_request_is_out(
    hold: Hold | None, changes: dict[str, Any], *, is_led: bool
) -> None:
    """Whoever opened it; the card goes first, and one that names no branch is left as it was."""
    made = record(**changes, memory={"ownership.lease": SHA, "pull.opened": 107})
    item = BoardItem("PVTI_lADOBx", str(made.claim.status), AGENT)
    shown = observation(hold=hold, item=item, by_number=pull(body="#42") if changes else None)
    action = LeadLease(42, SHA, BRANCH)
    assert _last_action(seen(made, observed=shown)) == (action if is_led else None)
    if is_led:
        refused = {"LeadLease": Trouble(mark_of(action), "no", NOW + 60, is_final=True)}
        held = seen(replace(made, troubles=refused), observed=shown)
        assert _last_action(held) is None
        assert still_wanted(held, "LeadLease")
        assert any("names a branch other" in said.text for said in decide(held).notices)
        assert not still_wanted(seen(record()), "LeadLease")


def _last_action(snapshot: Any) -> Any:
    """What is left to do once the fields are as decided."""
    for _ in range(4):
        step = decide(snapshot)
        if step.action is not None:
            return step.action
        snapshot = replace(snapshot, record=step.record or snapshot.record)
    return None
