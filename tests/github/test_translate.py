"""lifecycle.github.pulls.translate: GitHub's JSON as values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.timing import render_time
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.core.values.model import PullState
from lifecycle.github.board.board_client import ProjectRef
from lifecycle.github.client.client_common import part, text
from lifecycle.github.failures import AnswerProblem
from lifecycle.github.pulls import rollup, translate
from lifecycle.github.pulls.issue_calls import issue_facts
from tests.github.hub import PatientClock, kept_to

SHA = "a" * 40
DAY = "2026-01-31T"

conclusions = st.sampled_from(
    [
        *("SUCCESS", "SKIPPED", "NEUTRAL", "FAILURE", "ERROR", "TIMED_OUT", "ACTION_REQUIRED"),
        *("STARTUP_FAILURE", "CANCELLED", "STALE", "A_WORD_OF_TOMORROW", None),
    ]
)
statuses = st.sampled_from(
    ["COMPLETED", "IN_PROGRESS", "QUEUED", "PENDING", "REQUESTED", "WAITING", "A_NEW_WORD"]
)


@pytest.mark.parametrize("outer", [None, "a text", 7, ["b"], {}, {"b": 7}])
def test_what_is_not_there_as_it_should_be_is_empty(outer: object) -> None:
    """On the way to a text inside parts of an answer, null and any other type end it without an error."""
    node = {"a": outer}
    assert (text(node, "a.b"), text(node, "a.b.c"), part(node, "a.b.c")) == ("", "", {})
    assert text({"a": {"b": "there"}}, "a.b") == "there"


def entry(workflow: str, **values: Any) -> rollup.RollupEntry:
    """A run that is told apart by its workflow."""
    return rollup.check_run(values, (workflow, "push"), None, (workflow,))


entries = st.builds(
    entry,
    name=st.sampled_from(["lint", "test"]),
    status=statuses,
    conclusion=conclusions,
    started_at=st.none() | st.integers(0, 3).map(render_time),
    details_url=st.sampled_from(["", "https://github.com/x"]),
    workflow=st.sampled_from(["CI", "Release"]),
)


def run(name: str = "test", conclusion: str | None = "SUCCESS", **changes: Any) -> dict[str, Any]:
    """A CheckRun node."""
    node = {
        "__typename": "CheckRun",
        "name": name,
        "status": "COMPLETED",
        "conclusion": conclusion,
        "startedAt": f"{DAY}10:00:00Z",
        "completedAt": f"{DAY}10:01:00Z",
        "detailsUrl": "https://github.com/o/r/actions/runs/1/job/2",
        "checkSuite": {"workflowRun": {"event": "push", "workflow": {"name": "CI"}}},
    }
    return {**node, **changes}


def listed(*nodes: dict[str, Any] | None, more: bool = False, sha: str = SHA) -> dict[str, Any]:
    """A StatusCheckRollup with these contexts."""
    contexts = {"pageInfo": {"hasNextPage": more}, "nodes": list(nodes)}
    return {"commit": {"oid": sha}, "contexts": contexts}


def pull(**changes: Any) -> dict[str, Any]:
    """A PullRequest node."""
    node = {
        "number": 7,
        "url": "https://github.com/o/r/pull/7",
        "title": "Fix it",
        "body": "Refs #1",
        "state": "OPEN",
        "isDraft": False,
        "mergeable": "MERGEABLE",
        "headRefName": "work",
        "headRefOid": SHA,
        "baseRefName": "main",
        "headRepositoryOwner": {"login": "o"},
    }
    return {**node, **changes}


@pytest.mark.parametrize(
    ("conclusion", "bucket"),
    [
        *((word, Bucket.PASS) for word in ("SUCCESS", "SKIPPED", "NEUTRAL")),
        *((word, Bucket.FAIL) for word in ("FAILURE", "TIMED_OUT", "ACTION_REQUIRED")),
        *((word, Bucket.FAIL) for word in ("ERROR", "STARTUP_FAILURE")),
        *((word, Bucket.PENDING) for word in ("STALE", "A_WORD_OF_TOMORROW", None)),
        ("CANCELLED", Bucket.CANCELLED),
    ],
)
def test_conclusions_fall_into_buckets(conclusion: str | None, bucket: Bucket) -> None:
    """Each conclusion has one bucket, in GraphQL's spelling and in REST's."""
    assert rollup.run_bucket("COMPLETED", conclusion) is bucket
    assert rollup.run_bucket("completed", conclusion and conclusion.lower()) is bucket


@settings(deadline=None)  # a busy machine is no failure
@given(statuses.filter(lambda word: word != "COMPLETED"), conclusions)
def test_what_runs_is_pending(status: str, conclusion: str | None) -> None:
    """A run that is not over is pending, whatever its conclusion was before."""
    assert rollup.run_bucket(status, conclusion) is Bucket.PENDING


@pytest.mark.parametrize(
    ("state", "bucket"),
    [
        ("SUCCESS", Bucket.PASS),
        ("FAILURE", Bucket.FAIL),
        ("error", Bucket.FAIL),
        ("PENDING", Bucket.PENDING),
        ("EXPECTED", Bucket.PENDING),
        ("SKIPPED", Bucket.PENDING),
    ],
)
def test_states_of_commit_statuses_fall_into_buckets(state: str, bucket: Bucket) -> None:
    """A commit status passes or fails by its own words only."""
    assert rollup.status_bucket(state) is bucket


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(entries), st.randoms())
def test_the_order_of_the_list_does_not_matter(
    found: list[rollup.RollupEntry], random: Any
) -> None:
    """Which run counts depends on when runs began, never on the order of GitHub's list."""
    shuffled = list(found)
    random.shuffle(shuffled)
    assert [one.bucket for one in rollup.newest(shuffled)] == [
        one.bucket for one in rollup.newest(found)
    ]


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(entries))
def test_one_check_is_left_of_each(found: list[rollup.RollupEntry]) -> None:
    """Each key keeps one run, and none of its superseded ones began later."""
    kept = rollup.newest(found)
    assert len(kept) == len({one.key for one in found})
    for check in kept:
        key = next(one.key for one in found if one.check == check)
        begun = [
            one.check.started_at
            for one in found
            if one.key == key and one.has_begun and one.check.started_at is not None
        ]
        waits = any(one.key == key and not one.has_begun for one in found)
        assert waits or not begun or check.started_at == max(begun)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(entries))
def test_a_run_that_waits_is_never_green(found: list[rollup.RollupEntry]) -> None:
    """A queued re-run, which has no start yet, counts before the green run that it supersedes."""
    kept = Checks(SHA, rollup.newest(found))
    assert not (kept.is_green and any(not one.has_begun for one in found))


def test_a_green_rerun_replaces_the_red_run() -> None:
    """The superseded failure is dropped; another event of the same name stays beside it."""
    red = run(conclusion="FAILURE")
    green = run(startedAt=f"{DAY}11:00:00Z")
    other = run(
        conclusion="CANCELLED",
        checkSuite={"workflowRun": {"event": "pull_request", "workflow": {"name": "CI"}}},
    )
    checks = rollup.rollup(SHA, listed(green, red, other))
    assert [(one.event, one.bucket) for one in checks.runs] == [
        ("pull_request", Bucket.CANCELLED),
        ("push", Bucket.PASS),
    ]


def test_a_status_and_a_run_of_one_name_are_two() -> None:
    """A commit status does not hide a check run that happens to have its name."""
    status = {
        "__typename": "StatusContext",
        "context": "test",
        "statusState": "SUCCESS",
        "createdAt": f"{DAY}12:00:00Z",
        "targetUrl": None,
    }
    bare = run(conclusion="FAILURE", checkSuite={"workflowRun": None})
    checks = rollup.rollup(SHA, listed(bare, status))
    assert [one.bucket for one in checks.runs] == [Bucket.FAIL, Bucket.PASS]
    assert not checks.is_green


@pytest.mark.parametrize("found", [None, {}, listed(run(), sha="b" * 40)])
def test_nothing_registered_is_no_pass(found: dict[str, Any] | None) -> None:
    """No rollup, or one of another head, is an empty list of this head: not green."""
    checks = rollup.rollup(SHA, found)
    assert checks == Checks(SHA, ())
    assert not checks.is_green


@pytest.mark.parametrize(
    "found",
    [
        listed(run(), more=True),
        listed(run(), None),
        {"commit": {"oid": SHA}, "contexts": None},
        {"commit": {"oid": SHA}, "contexts": {"nodes": None, "pageInfo": {}}},
    ],
)
def test_checks_with_holes_are_incomplete(found: dict[str, Any]) -> None:
    """Another page, or a context that the token may not see, forbids to conclude green."""
    checks = rollup.rollup(SHA, found)
    assert not checks.is_complete
    assert not checks.is_green


def test_a_pull_request_is_read_in_full() -> None:
    """Every field of the value comes from the node that GitHub documents."""
    found = translate.pull_request(pull(statusCheckRollup=listed(run())))
    assert (found.number, found.branch, found.head_owner, found.base) == (7, "work", "o", "main")
    assert (found.state, found.mergeable, found.head_sha) == (PullState.OPEN, "MERGEABLE", SHA)
    assert found.checks is not None
    assert found.checks.is_green
    assert found.checks.runs[0] == Check(
        "test",
        Bucket.PASS,
        "CI",
        "push",
        1769853600.0,
        "https://github.com/o/r/actions/runs/1/job/2",
        1769853660.0,
        "SUCCESS",
    )


@pytest.mark.parametrize(
    ("changes", "by"),
    [
        ({}, 9),
        ({"body": "Reverts o/r#7\n\nIt broke."}, 9),
        ({"state": "OPEN"}, 0),
        ({"state": "CLOSED"}, 0),
        ({"body": "Reverts o/r#77"}, 0),
        ({"body": "As in: Reverts o/r#7"}, 0),
        ({"is_far": True}, 0),
        ({"isCrossRepository": True}, 0),  # a branch of a fork: the button makes its own here
    ],
)
def test_a_revert_is_a_merged_pull_request_that_says_so(changes: dict[str, Any], by: int) -> None:
    """In the words of GitHub's button, from here; one that is hidden says nothing, and bears the look."""
    source = {"number": 9, "state": "MERGED", "body": "Reverts o/r#7", "isCrossRepository": False}
    source |= changes
    is_far = bool(source.pop("is_far", False))
    entries = [{"isCrossRepository": is_far, "source": source}, None]
    assert translate.pull_request(pull(mentions={"nodes": entries})).reverted_by == by
    assert translate.pull_request(pull(mentions=None)).reverted_by == 0
    path = ("repository", "byNumber", "mentions", "nodes", 1, "source")
    problem = AnswerProblem("FORBIDDEN", path, "No")
    data = {"repository": {"byNumber": pull(mentions={"nodes": entries})}}
    assert translate.is_bearable(problem, data)


def test_only_standing_requests_for_changes_are_kept() -> None:
    """Oldest first; other states, holes and words of tomorrow are none; a lost account has no name."""
    nodes = [
        {"id": "R0", "state": "CHANGES_REQUESTED", "submittedAt": f"{DAY}12:00:00Z"},
        None,
        {"id": "R2", "state": "APPROVED", "author": {"login": "sam"}},
        {"id": "R4", "state": "A_WORD_OF_TOMORROW", "author": {"login": "sam"}},
        {
            "id": "R1",
            "state": "CHANGES_REQUESTED",
            "submittedAt": f"{DAY}11:00:00Z",
            "url": "https://github.com/o/r/pull/7#pullrequestreview-1",
            "author": {"login": "maria"},
            "commit": {"oid": SHA},
        },
    ]
    found = translate.pull_request(
        pull(reviewDecision="CHANGES_REQUESTED", latestOpinionatedReviews={"nodes": nodes})
    )
    assert found.review_decision == "CHANGES_REQUESTED"
    first, second = found.changes_requested
    assert (first.id, first.author, first.sha) == ("R1", "maria", SHA)
    assert first.url.endswith("#pullrequestreview-1")
    assert (second.id, second.author, second.sha) == ("R0", "", "")


def test_reviews_that_were_not_asked_for_are_none() -> None:
    """A node without the fields, and one that GitHub left empty, ask for nothing."""
    for node in (pull(), pull(reviewDecision=None, latestOpinionatedReviews=None)):
        found = translate.pull_request(node)
        assert (found.review_decision, found.changes_requested) == ("", ())


def test_checks_that_were_not_asked_for_are_unknown() -> None:
    """Without the rollup's field there are no checks to conclude anything from."""
    assert translate.pull_request(pull()).checks is None


def test_a_deleted_fork_and_words_of_tomorrow_do_not_break_a_look() -> None:
    """A head without an owner belongs to nobody, an unknown state is not open."""
    found = translate.pull_request(
        pull(headRepositoryOwner=None, state="LOCKED", mergeable=None, body=None)
    )
    assert (found.head_owner, found.state, found.mergeable, found.body) == (
        "",
        PullState.CLOSED,
        "UNKNOWN",
        "",
    )


def test_an_issue_is_read_in_full() -> None:
    """State, assignees and comments; comments that were not asked for stay unknown."""
    node = {
        "id": "I_1",
        "number": 3,
        "title": "Do it",
        "url": "https://github.com/o/r/issues/3",
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "assignees": {"nodes": [{"login": "maria"}]},
    }
    assert translate.issue(node).comments is None
    comment = {"fullDatabaseId": "5", "body": "hi", "viewerDidAuthor": True}
    found = translate.issue({**node, "comments": {"nodes": [comment]}})
    assert (found.is_open, found.state_reason, found.assignees) == (False, "completed", ("maria",))
    assert found.comments is not None
    assert [(one.id, one.body) for one in found.comments] == [(5, "hi")]


def test_the_item_of_the_right_board_is_chosen() -> None:
    """Number and owner both have to fit; logins are compared without regard to case."""

    def item(name: str, owner: str, number: int) -> dict[str, Any]:
        project = {"id": "PVT", "number": number, "owner": {"login": owner}}
        return {"id": name, "isArchived": False, "project": project, "status": {"name": "Todo"}}

    nodes = [
        None,
        {"id": "hidden", "project": None},
        item("other", "someone", 1),
        item("mine", "Octo-Org", 1),
    ]
    issue = {"projectItems": {"nodes": nodes}}
    found = kept_to(ProjectRef("octo-org", 1), PatientClock()).card(issue)
    assert found is not None
    assert (found.id, found.status, found.agent) == ("mine", "Todo", None)
    assert kept_to(ProjectRef("octo-org", 2), PatientClock()).card(issue) is None


def test_times_are_read_where_github_says_them() -> None:
    """Opened, closed, changed, and when a Status was set: seconds, and None for what was not said."""
    said = {"createdAt": f"{DAY}10:00:00Z", "closedAt": f"{DAY}10:00:05Z"}
    said |= {"updatedAt": f"{DAY}10:00:07Z"}
    shown = translate.pull_request(pull(**said))
    start = shown.opened_at or 0.0
    assert (shown.closed_at, shown.updated_at) == (start + 5, start + 7)
    issue = {"id": "I_1", "number": 3, "title": "t", "url": "u", "state": "CLOSED", **said}
    assert translate.issue(issue).closed_at == start + 5
    assert translate.issue({**issue, "closedAt": None}).closed_at is None
    rest = {
        "number": 3,
        "id": 1,
        "node_id": "I_1",
        "title": "t",
        "html_url": "u",
        "state": "closed",
    }
    rest |= {"closed_at": said["closedAt"], "updated_at": said["updatedAt"]}
    names = ("number", "id", "title", "url", "is_open", "assignees", "closed_at", "updated_at")
    looked_at = translate.issue({**issue, "assignees": {"nodes": []}})
    assert fields_of(issue_facts(rest), *names) == fields_of(looked_at, *names)
    card = {"id": "PVTI_1", "status": {"name": "Todo", "updatedAt": f"{DAY}10:00:01Z"}}
    assert translate.board_item(card).status_at == start + 1
    assert translate.board_item({"id": "PVTI_1", "status": None}).status_at is None


def test_a_status_is_one_word_whatever_its_case() -> None:
    """As the product spells it; one that the product does not know is as the board has it."""
    spellings = {"TODO": "Todo", "In progress": "In Progress", "Blocked": "Blocked", None: None}
    for option, status in spellings.items():
        node = {"id": "PVTI_1", "status": {"name": option} if option else None}
        assert translate.board_item(node).status == status


@pytest.mark.parametrize("content", [None, {}])
def test_only_issues_are_cards(content: dict[str, Any] | None) -> None:
    """Drafts, pull requests and what the token may not see are no cards."""
    assert translate.card({"id": "PVTI_1", "content": content}) is None


@pytest.mark.parametrize(
    ("about", "is_read"),
    [
        ({"viewerDidAuthor": True, "authorAssociation": "NONE"}, True),
        ({"authorAssociation": "OWNER"}, True),
        ({"authorAssociation": "MEMBER"}, True),
        ({"authorAssociation": "COLLABORATOR"}, True),
        ({"authorAssociation": "NONE", "author": {"__typename": "Bot"}}, True),
        ({"authorAssociation": "CONTRIBUTOR", "author": {"__typename": "User"}}, False),
        ({"authorAssociation": "NONE", "author": None}, False),
        ({}, False),
    ],
)
def test_a_strangers_comment_is_not_read(about: dict[str, Any], *, is_read: bool) -> None:
    """A marker is believed in comments of the token's own, of insiders and of Apps, and of nobody else."""
    comment = {"fullDatabaseId": "5", "body": "<!-- lifecycle:completed -->", **about}
    node = {"number": 3, "state": "OPEN", "id": "I_1", "comments": {"nodes": [comment]}}
    assert bool(translate.issue(node).comments) == is_read


def test_a_card_is_read_in_full() -> None:
    """What an issue's card says of its issue, and what its fields say."""
    content = {"number": 7, "title": "Tax", "url": "https://x/7", "state": "OPEN"}
    content["repository"] = {"nameWithOwner": "o/r"}
    fields = {"priority": {"name": "High"}, "readiness": {"name": "Ready"}}
    card = translate.card({"id": "PVTI_7", "content": content, **fields})
    assert card is not None
    assert (card.item.id, card.number, card.title, card.url) == ("PVTI_7", 7, "Tax", "https://x/7")
    assert (card.repository, card.is_open) == ("o/r", True)
    assert (card.priority, card.readiness, card.dependencies) == ("High", "Ready", None)
    closed = translate.card({"id": "PVTI_7", "content": {**content, "state": "CLOSED"}})
    assert closed is not None
    assert (closed.is_open, closed.priority) == (False, None)


@pytest.mark.parametrize(
    ("state", "is_unblocked"),
    [
        *(("CLEAN", True), ("HAS_HOOKS", True), ("UNSTABLE", True)),
        *(("BEHIND", False), ("BLOCKED", False), ("DIRTY", False), ("DRAFT", False)),
        *(("UNKNOWN", False), (None, False)),
    ],
)
def test_merge_states_that_show_that_all_that_is_demanded_is_there(
    state: str | None, *, is_unblocked: bool
) -> None:
    """A pull request has them only then; any other, and one that nobody may read, shows nothing."""
    shown = translate.pull_request(pull(statusCheckRollup=None, mergeStateStatus=state))
    assert shown.checks is not None
    assert shown.checks.is_unblocked is is_unblocked


@pytest.mark.parametrize("name", ["is_complete", "sees_workflows", "sees_demands"])
def test_what_a_look_was_not_shown_is_marked_in_the_checks(name: str) -> None:
    """That alone, and nothing is seen that was not seen before; without checks there is nothing to mark."""
    fields = ("is_complete", "sees_workflows", "sees_demands")
    every: dict[str, Any] = dict.fromkeys(fields, True)
    node = pull(statusCheckRollup=None)
    assert translate.pull_request(node).checks == Checks(SHA, (), **every)
    marked = translate.pull_request(node, {name})
    assert marked.checks == Checks(SHA, (), **{**every, name: False})
    assert replace(marked, checks=None) == replace(translate.pull_request(node), checks=None)
    rollup = {"commit": {"oid": SHA}, "state": "SUCCESS", "contexts": None}
    hidden = {"statusCheckRollup": rollup, "commits": None, "baseRef": None}
    none: dict[str, Any] = dict.fromkeys(fields, False)
    for unseen in ((), {name}):
        blind = translate.pull_request(pull(**hidden), unseen).checks
        assert blind == Checks(SHA, (), **none)
    nothing = translate.pull_request(pull(isDraft=True, mergeable="UNKNOWN"), {name})
    assert nothing.checks is None


@pytest.mark.parametrize(
    ("state", "bucket"),
    [("SUCCESS", Bucket.PASS), ("FAILURE", Bucket.FAIL), (None, Bucket.PENDING)],
)
def test_a_rollup_that_was_asked_for_its_state_alone_is_one_check(
    state: str | None, bucket: Bucket
) -> None:
    """Of all that there is; of another commit it is none."""
    made = rollup.rollup(SHA, {"state": state})
    assert [(one.name, one.bucket) for one in made.runs] == [("all checks", bucket)]
    assert rollup.rollup(SHA, {"state": state, "commit": {"oid": "b" * 40}}).runs == ()


def test_conversations_change_with_whatever_is_said_or_moved() -> None:
    """A comment, a review, the head or the date makes another state of them; the same is the same."""

    def digest(**changes: Any) -> str:
        comment = {"nodes": [{"body": "Why?", "viewerDidAuthor": False}]}
        threads = {"totalCount": 1, "nodes": [{"isResolved": False, "comments": comment}]}
        empty: dict[str, Any] = {"totalCount": 0, "nodes": []}
        node = pull(
            reviewThreads=threads, reviews=empty, said=empty, updatedAt="2026-01-31T10:00:00Z"
        )
        made = translate.pull_request({**node, **changes}).conversations
        assert made is not None
        assert (made.unresolved, made.unanswered) == (1, 1)
        return made.digest

    changed: list[dict[str, Any]] = [
        {"headRefOid": "b" * 40},
        {"updatedAt": "2026-01-31T10:00:01Z"},
        {"reviews": {"totalCount": 1, "nodes": [{"id": "R"}]}},
        {"said": {"totalCount": 1, "nodes": [{"id": "C"}]}},
    ]
    assert digest() == digest() != ""
    assert len({digest(), *(digest(**one) for one in changed)}) == 5
    none: dict[str, Any] = {"totalCount": 0, "nodes": []}
    silent = translate.pull_request(pull(reviewThreads=none, reviews=none, said=none))
    assert silent.conversations is not None
    assert silent.conversations.digest == ""


def test_a_pull_request_of_which_little_was_asked_is_what_a_whole_reading_makes_of_it() -> None:
    """How one stands is not looked for where nothing of it was asked, and is then what it is by default."""
    plain = {"number": 46, "state": "OPEN", "title": "Fix", "headRefName": "claude/fix-42"}
    assert translate.pull_request({**plain, "new": None}) == translate.pull_request(plain)
