"""GitHub's JSON as whole values: every field from the node that GitHub documents, and nothing made up."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lifecycle.core.values.checks import Bucket, Check, Checks, Required
from lifecycle.core.values.model import (
    BoardField,
    BoardItem,
    BoardSchema,
    Card,
    Comment,
    Conversations,
    Ejection,
    Issue,
    MergeDemands,
    PullRequest,
    PullState,
    QueueEntry,
    Review,
)
from lifecycle.core.values.shapes import LabelFacts
from lifecycle.github.client.client_common import read_as
from lifecycle.github.failures import AnswerProblem
from lifecycle.github.pulls import translate

SHA, TIP, GROUP = "a" * 40, "b" * 40, "c" * 40
BARE: dict[str, Any] = {"number": 7, "state": "OPEN"}


def at(second: int) -> str:
    """A moment as GitHub writes it."""
    return f"1970-01-01T00:00:{second:02}Z"


def test_a_value_is_read_by_the_names_of_its_fields() -> None:
    """Null has the default, other names are passed over; nothing is made up for what is missing or odd."""
    label = {"name": "bug", "color": "d73a4a", "description": None, "id": 7}
    assert read_as(LabelFacts, label) == LabelFacts("bug", "d73a4a")
    for odd in ({"color": "d73a4a"}, {"name": None}, {"name": 7}, {"name": "bug", "color": []}):
        with pytest.raises(ValueError, match="another shape than that of LabelFacts"):
            read_as(LabelFacts, odd)


def test_a_bare_pull_request_has_nothing_that_was_not_asked_for() -> None:
    """Neither checks nor conversations, demands or a place in a queue."""
    found = translate.pull_request(BARE)
    assert found == PullRequest(7, "", "", PullState.OPEN, "", "", "")


def test_what_was_asked_for_and_not_shown_is_not_known() -> None:
    """Neither how the merge stands, nor what the base demands."""
    hidden = {"mergeStateStatus": None, "statusCheckRollup": None, "baseRef": None}
    found = translate.pull_request({**BARE, **hidden})
    assert (found.merge_state, found.checks) == ("UNKNOWN", Checks("", sees_demands=False))


def test_all_of_a_pull_request_is_read() -> None:
    """Its texts, dates and commits, and each part of it."""
    node = {
        **BARE,
        "id": "PR_7",
        "url": "https://github.com/o/r/pull/7",
        "title": "Fix it",
        "body": "Refs #1",
        "state": "MERGED",
        "isDraft": True,
        "mergeable": "CONFLICTING",
        "mergeStateStatus": "UNSTABLE",
        "headRefName": "work",
        "headRefOid": SHA,
        "headRepositoryOwner": {"login": "fork"},
        "baseRefName": "main",
        "baseRef": {
            "target": {"oid": TIP},
            "refUpdateRule": {"requiredStatusCheckContexts": ["lint"]},
            "rules": {"nodes": []},
        },
        "author": {"login": "octocat"},
        "createdAt": at(1),
        "closedAt": at(2),
        "mergedAt": at(3),
        "updatedAt": at(4),
        "reviewDecision": "REVIEW_REQUIRED",
        "latestOpinionatedReviews": {"nodes": [{"id": "R", "state": "CHANGES_REQUESTED"}]},
        "reviewRequests": {"nodes": [{"requestedReviewer": {"login": "maria"}}]},
        "autoMergeRequest": {"enabledAt": at(1)},
        "isMergeQueueEnabled": True,
        "mergeQueueEntry": {"state": "QUEUED"},
        "timelineItems": {"nodes": [{"id": "E_1", "reason": "failed_checks"}]},
        "statusCheckRollup": {"state": "SUCCESS"},
        "commits": {"nodes": []},
        "reviewThreads": {"nodes": [{"isResolved": False}, {"isResolved": True}, {"id": "T"}]},
    }
    assert translate.pull_request(node) == PullRequest(
        number=7,
        url="https://github.com/o/r/pull/7",
        title="Fix it",
        state=PullState.MERGED,
        branch="work",
        head_owner="fork",
        head_sha=SHA,
        base="main",
        body="Refs #1",
        is_draft=True,
        mergeable="CONFLICTING",
        merged_at=3.0,
        checks=Checks(
            SHA,
            (Check("all checks", Bucket.PASS, word="SUCCESS"),),
            required=(Required("lint"),),
            sees_workflows=False,
            is_unblocked=True,
        ),
        review_decision="REVIEW_REQUIRED",
        changes_requested=(Review("R", "", "CHANGES_REQUESTED"),),
        merge_state="UNSTABLE",
        queue=QueueEntry("QUEUED"),
        ejection=Ejection("E_1", None, "failed_checks"),
        is_auto_merge=True,
        has_queue=True,
        demands=MergeDemands(),
        opened_at=1.0,
        closed_at=2.0,
        updated_at=4.0,
        conversations=Conversations("", 2),
        base_tip=TIP,
        node_id="PR_7",
        author="octocat",
        requested=("maria",),
    )


def test_requests_for_changes_are_whole_and_in_their_order() -> None:
    """The oldest first, of two at one moment by id; one without a moment before all."""

    def asked(name: str, **more: Any) -> dict[str, Any]:
        return {"id": name, "state": "CHANGES_REQUESTED", **more}

    nodes = [
        asked("R0", submittedAt=at(9)),
        asked("R2", submittedAt=at(8), author={"login": "maria"}, url="u", commit={"oid": SHA}),
        asked("R1", submittedAt=at(8)),
        asked("R3"),
    ]
    found = translate.pull_request({**BARE, "latestOpinionatedReviews": {"nodes": nodes}})
    assert found.changes_requested == (
        Review("R3", "", "CHANGES_REQUESTED"),
        Review("R1", "", "CHANGES_REQUESTED", 8.0),
        Review("R2", "maria", "CHANGES_REQUESTED", 8.0, "u", SHA),
        Review("R0", "", "CHANGES_REQUESTED", 9.0),
    )


def listed(*nodes: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    """A connection with its count."""
    return {"totalCount": len(nodes) if total is None else total, "nodes": [*nodes]}


def talk(**changes: Any) -> Conversations | None:
    """The conversations of a pull request of which nobody has said anything."""
    silent = {name: listed() for name in ("reviewThreads", "reviews", "said")}
    return translate.pull_request({**BARE, **silent, **changes}).conversations


def test_conversations_are_counted_by_their_last_word() -> None:
    """Those that are not resolved; those of them whose last word is somebody else's, or began it."""

    def thread(*is_ours: bool, is_resolved: bool = False) -> dict[str, Any]:
        root = {"viewerDidAuthor": is_ours[0]} if len(is_ours) > 1 else None
        said = [{"viewerDidAuthor": each, "replyTo": root} for each in is_ours[-1:]]
        return {"isResolved": is_resolved, "comments": {"nodes": said}}

    theirs, answered = thread(True, False), thread(False, True)
    threads = listed(theirs, theirs, answered, thread(), thread(False, is_resolved=True))
    made = talk(reviewThreads=threads)
    assert made is not None
    assert (made.unresolved, made.unanswered) == (4, 2)
    begun = talk(reviewThreads=listed(thread(True), answered))
    assert begun is not None
    assert (begun.unresolved, begun.unanswered) == (2, 1)
    draft = {"viewerDidAuthor": True, "state": "PENDING"}
    drafted = talk(reviewThreads=listed({"comments": {"nodes": [draft]}}))
    assert drafted is not None
    assert drafted.unanswered == 0, "what its person has not sent yet waits for nobody"
    assert re.fullmatch(r"[0-9a-f]{16}", made.digest)
    turned = {name: threads[name] for name in reversed([*threads])}
    assert talk(reviewThreads=turned) == made  # in whatever order a server writes it
    assert talk(reviewThreads=listed(theirs, answered, theirs, *threads["nodes"][3:])) != made


def test_conversations_are_unknown_unless_all_of_them_is_shown() -> None:
    """A part that was hidden is not taken for silence; one of which there is something makes a digest."""
    names = ("reviewThreads", "reviews", "said")
    assert talk() == Conversations("")
    assert [talk(**{name: None}) for name in names] == [None] * 3
    digests = {made.digest for name in names if (made := talk(**{name: listed(total=1)}))}
    assert len(digests - {""}) == 3
    assert translate.pull_request({**BARE, "reviewThreads": None}).conversations is None


def test_all_of_an_issue_is_read() -> None:
    """Who has it, how it was closed, when it changed, and what may be believed of its comments."""
    theirs = {"authorAssociation": "OWNER", "fullDatabaseId": "5", "body": "b"}
    said = [{"body": "a stranger's"}, {"viewerDidAuthor": True}, theirs]
    node = {
        "number": 3,
        "id": "I_3",
        "title": "Do it",
        "url": "u",
        "state": "CLOSED",
        "stateReason": "NOT_PLANNED",
        "closedAt": at(1),
        "updatedAt": at(2),
        "assignees": {"nodes": [{"login": "maria"}, {"login": "sam"}]},
        "comments": {"nodes": said},
    }
    assert translate.issue(node) == Issue(
        *(3, "I_3", "Do it", "u", False, "not_planned", ("maria", "sam")),
        comments=(Comment(0, ""), Comment(5, "b")),
        closed_at=1.0,
        updated_at=2.0,
    )
    assert translate.issue({"number": 3, "state": "OPEN"}) == Issue(3, "", "", "", True)


def test_all_of_a_card_is_read() -> None:
    """Values are names or texts, and an empty one is none: then nobody set it at any time."""
    item = {
        "id": "PVTI_1",
        "isArchived": True,
        "createdAt": at(1),
        "status": {"name": "Todo", "updatedAt": at(2)},
        "agent": {"text": "claude"},
    }
    made = BoardItem("PVTI_1", "Todo", "claude", True, 2.0, 1.0)
    assert translate.board_item(item) == made
    empty = {"status": {"name": "", "updatedAt": at(2)}, "agent": {"text": ""}}
    assert translate.board_item({"id": "PVTI_1", **empty}) == BoardItem("PVTI_1")
    content = {
        "number": 7,
        "title": "Tax",
        "url": "u",
        "state": "OPEN",
        "repository": {"nameWithOwner": "o/r"},
    }
    fields = {name: {"name": name.upper()} for name in ("priority", "readiness", "dependencies")}
    assert translate.card({**item, "content": content, **fields}) == Card(
        *(made, 7, "Tax", "u", "o/r", True, "PRIORITY", "READINESS", "DEPENDENCIES")
    )


def test_all_of_a_boards_fields_are_read() -> None:
    """Options, or iterations, those to come before those that are over; fields of other kinds are none."""
    iterations = {
        "iterations": [{"id": "i3", "title": "Three"}],
        "completedIterations": [{"id": "i2", "title": "Two"}],
    }
    fields: list[dict[str, Any]] = [
        {
            "id": "F1",
            "name": "Status",
            "dataType": "SINGLE_SELECT",
            "options": [{"id": "o1", "name": "Todo"}, {"id": "o2", "name": "Done"}],
        },
        {"id": "F2", "name": "Sprint", "dataType": "ITERATION", "configuration": iterations},
        {},
        {"name": "odd"},
        {"id": "F3", "name": "Agent", "dataType": "TEXT"},
        {"id": "F4", "configuration": {"iterations": None, "completedIterations": None}},
    ]
    project = {"id": "PVT_1", "title": "Board", "url": "u"}
    assert translate.board_schema(project, fields) == BoardSchema(
        *("PVT_1", "Board", "u"),
        (
            BoardField("F1", "Status", "SINGLE_SELECT", (("Todo", "o1"), ("Done", "o2"))),
            BoardField("F2", "Sprint", "ITERATION", (("Three", "i3"), ("Two", "i2"))),
            BoardField("F3", "Agent", "TEXT"),
            BoardField("F4", "", ""),
        ),
    )


@pytest.mark.parametrize(
    ("field", "hidden"),
    [
        ("statusCheckRollup", {"is_complete"}),
        ("commits", {"sees_workflows"}),
        ("baseRef", {"sees_demands"}),
        ("reviewDecision", set()),
    ],
)
def test_a_refusal_hides_what_it_is_about(field: str, hidden: set[str]) -> None:
    """Whichever pull request it was refused of."""
    problem = AnswerProblem("FORBIDDEN", ("repository", "pullRequest", field, "nodes"), "why")
    assert translate.hidden([problem], ()) == hidden


ITEMS: dict[str, Any] = {"repository": {"pulls": {"nodes": [{"number": 1}, None]}, "gone": None}}


def test_what_is_missing_may_be_done_without_where_its_pull_request_is_there() -> None:
    """Not where that is null, or not listed; nor where what is missing is no part of a pull request."""
    part, pulls = "mergeStateStatus", ("repository", "pulls", "nodes")
    paths: dict[tuple[str | int, ...], bool] = {
        (*pulls, 0, part): True,
        (*pulls, 0, "statusCheckRollup", "contexts"): True,
        (*pulls, 0, "reviewThreads"): True,
        (*pulls, 0, "number"): False,
        (*pulls, 1, part): False,
        (*pulls, 2, part): False,
        ("repository", 0, part): False,
        ("repository", "gone", part): False,
        ("repository", "pulls", "nodes", "odd", part): False,
        (*pulls, 0): False,
        (): False,
    }
    problems = {path: AnswerProblem("FORBIDDEN", path, "why") for path in paths}
    assert {path: translate.is_bearable(one, ITEMS) for path, one in problems.items()} == paths
