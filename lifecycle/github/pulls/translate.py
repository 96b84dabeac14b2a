"""Turn GitHub's JSON into the product's values, with the hidden parts; no client is used here.

Unknown enum values never break a look: an unknown check is pending, an unknown state is not open. Green
needs evidence: a part that the token cannot see never counts as passed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from lifecycle.core import hidden_marker, timing
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values import model
from lifecycle.core.values.checks import Checks
from lifecycle.core.values.priorities import SPELLINGS
from lifecycle.core.values.survey import parse_lease
from lifecycle.github.client.client_common import Json, nodes, part, text, texts, times, word
from lifecycle.github.failures import AnswerProblem
from lifecycle.github.pulls.rollup import required, rollup, sees_demands, with_workflows, workflows

_UNBLOCKED = {"CLEAN", "HAS_HOOKS", "UNSTABLE"}
"""Merge states that a pull request has only if it meets all demands of its base.

Source: https://docs.github.com/graphql/reference/enums#mergestatestatus
"""


def hold(issue: int, commit: Json) -> model.Hold:
    """The lease of an issue from the commit of its ref; a full name finds a ref of any kind.

    Source: https://docs.github.com/graphql/reference/objects#repository (`ref`)
    """
    message, taken = text(commit, "message"), text(commit, "committedDate")
    agent, _, branch, stated = parse_lease(message)
    began = timing.parse_time(timing.earlier(stated, taken)) if stated else None
    return model.Hold(issue, text(commit, "oid"), agent, timing.parse_time(taken), branch, began)


def pull_request(node: Json, unseen: Iterable[str] = ()) -> model.PullRequest:
    """A GraphQL PullRequest. `checks` is None if the rollup was not requested.

    Args:
        node: its JSON.
        unseen: the parts of its checks that are `hidden`.
    """
    return model.PullRequest(
        int(node["number"]),
        state=_STATES.get(word(node.get("state")), model.PullState.CLOSED),
        head_owner=text(node, "headRepositoryOwner.login"),
        is_draft=bool(node.get("isDraft")),
        **texts(node, branch="headRefName", head_sha="headRefOid", base="baseRefName"),
        **texts(node, url="url", title="title", body="body", node_id="id"),
        **times(node, opened_at="createdAt", merged_at="mergedAt"),
        **times(node, closed_at="closedAt", updated_at="updatedAt"),
        **({} if node.keys() <= _PLAIN else _standing(node, unseen)),
    )


_PLAIN = {
    *("number", "state", "headRepositoryOwner", "isDraft", "url", "title", "body", "id"),
    *("baseRefName", "headRefName", "headRefOid", "createdAt", "mergedAt", "closedAt", "updatedAt"),
}
"""The fields that a sweep requests for most pull requests; with only these there is nothing to say."""


def _standing(node: Json, unseen: Iterable[str]) -> dict[str, Any]:
    """The state of a pull request: its checks, reviews and queue, and its base's demands."""
    return {
        "mergeable": text(node, "mergeable") or "UNKNOWN",
        "checks": _checks(node, unseen),
        "changes_requested": _changes_requested(node),
        "merge_state": _merge_state(node),
        "queue": queue_entry(node),
        "ejection": ejection(node),
        **texts(node, author="author.login", base_tip="baseRef.target.oid"),
        "is_auto_merge": bool(node.get("autoMergeRequest")),
        "has_queue": bool(node.get("isMergeQueueEnabled")),
        "demands": merge_demands(node),
        "conversations": _conversations(node),
        "requested": _requested(node),
        "review_decision": text(node, "reviewDecision"),
        "reverted_by": _reverted_by(node),
    }


def _reverted_by(node: Json) -> int:
    """The newest merged pull request whose text begins as that of GitHub's Revert button; 0 without one.

    The button makes a branch in the repository itself. From a fork anybody could write the same words, and
    after the merge of something else, too.

    Source: https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/reverting-a-pull-request
    """
    begins = rf"Reverts [\w.-]+/[\w.-]+#{node['number']}(?!\d)"
    near = (e for e in reversed(nodes(node, "mentions")) if e.get("isCrossRepository") is False)
    pulls = (part(event, "source") for event in near)
    ours = (pull for pull in pulls if pull.get("isCrossRepository") is False)
    merged = (pull for pull in ours if word(pull.get("state")) == "MERGED")
    return next((int(p["number"]) for p in merged if re.match(begins, text(p, "body"))), 0)


def _requested(node: Json) -> tuple[str, ...]:
    """The requested reviewers: people and bots by login, teams with their organisation before them."""
    asked = (part(request, "requestedReviewer") for request in nodes(node, "reviewRequests"))
    names = [
        text(e, "login") or f"{text(e, 'organization.login')}/{text(e, 'slug')}" for e in asked
    ]
    return tuple(name for name in names if name != "/")


def _conversations(node: Json) -> model.Conversations | None:
    """The conversations of a pull request, None if not all of them were shown.

    If there are more than a hundred, the older ones count only by the pull request's own date. A sweep only
    requests which are resolved.
    """
    unresolved = [thread for thread in nodes(node, "reviewThreads") if not thread.get("isResolved")]
    if "reviews" not in node and isinstance(node.get("reviewThreads"), Mapping):
        return model.Conversations("", len(unresolved))
    parts: list[Any] = [node.get(name) for name in ("reviewThreads", "reviews", "said")]
    if not all(isinstance(connection, Mapping) for connection in parts):
        return None
    last = [comment for thread in unresolved for comment in nodes(thread, "comments")[-1:]]
    # Only its author sees a draft; it was not said to anybody yet.
    newest = [comment for comment in last if text(comment, "state") != "PENDING"]
    if not any(connection.get("totalCount") for connection in parts):
        return model.Conversations("")
    shown = json.dumps([node.get("headRefOid"), node.get("updatedAt"), parts], sort_keys=True)
    digest = hashlib.sha256(shown.encode()).hexdigest()[:16]
    own = [comment for comment in newest if comment.get("viewerDidAuthor")]
    agents = [each for each in own if not is_of_owner(each, part(each, "replyTo") or each)]
    return model.Conversations(digest, len(unresolved), len(newest) - len(agents))


def is_of_owner(node: Json, *root: Json) -> bool:
    """True if a comment or review of the token's account is a person's, not written by this product.

    A person and the agent may share an account, and GitHub does not distinguish them. This product never
    begins a conversation about the diff and never writes a review; it does answer, with a marker. In other
    people's conversations, an answer without one may be the agent's by other means. An App has no person.
    """
    is_apps = text(node, "author.__typename") == "Bot"
    is_begun = all(begun.get("viewerDidAuthor") for begun in (node, *root)) and bool(root)
    return is_begun and not is_apps and not hidden_marker.mark_in(text(node, "body"))


def _checks(node: Json, unseen: Iterable[str]) -> Checks | None:
    """The checks of a pull request's head, with its base's demands about them."""
    if "statusCheckRollup" not in node:
        return None
    sha = text(node, "headRefOid")
    checks = rollup(sha, node.get("statusCheckRollup"))
    seen: dict[str, Any] = {"sees_demands": sees_demands(node), **dict.fromkeys(unseen, False)}
    return replace(
        with_workflows(checks, workflows(sha, node, checks.runs)),
        required=required(part(node, "baseRef")),
        is_unblocked=_merge_state(node) in _UNBLOCKED,
        **seen,
    )


def _merge_state(node: Json) -> str:
    """GitHub's word, UNKNOWN if it was refused; empty only if it was not requested."""
    return text(node, "mergeStateStatus") or ("UNKNOWN" if "mergeStateStatus" in node else "")


def _changes_requested(node: Json) -> tuple[model.Review, ...]:
    """The reviews in force that request changes, oldest first.

    GitHub lists the last opinion of each reviewer, so a later approval or dismissal replaces the earlier
    opinion.
    """
    reviews = [_review(review) for review in nodes(node, "latestOpinionatedReviews")]
    wanted = [review for review in reviews if review.state == "CHANGES_REQUESTED"]
    wanted.sort(key=lambda review: (review.submitted_at or float("-inf"), review.id))
    return tuple(wanted)


def _review(node: Json) -> model.Review:
    return model.Review(
        **texts(node, id="id", url="url", author="author.login", sha="commit.oid"),
        state=word(node.get("state")),
        **times(node, submitted_at="submittedAt"),
    )


_STATES = {state.value: state for state in model.PullState}


def issue(node: Json) -> model.Issue:
    """A GraphQL Issue. `comments` is None if they were not requested."""
    comments, parts = node.get("comments"), part(node, "subIssuesSummary")
    return model.Issue(
        int(node["number"]),
        **texts(node, id="id", title="title", url="url"),
        is_open=word(node.get("state")) == "OPEN",
        state_reason=text(node, "stateReason").lower(),
        assignees=tuple(text(user, "login") for user in nodes(node, "assignees")),
        comments=tuple(_comments(node)) if comments is not None else None,
        **times(node, closed_at="closedAt", updated_at="updatedAt"),
        open_parts=int(parts["total"]) - int(parts["completed"]) if parts else 0,
        reopened_at=newest(node, "reopened"),
    )


def newest(node: Json, events: str) -> float | None:
    """When the last of these events happened, None if there is none."""
    shown = nodes(node, events)
    return timing.parse_time(shown[-1].get("createdAt")) if shown else None


_INSIDERS = {"OWNER", "MEMBER", "COLLABORATOR"}
"""The insiders: https://docs.github.com/graphql/reference/enums#commentauthorassociation"""


def _comments(node: Json) -> Iterable[model.Comment]:
    """The comments whose markers may be trusted: the token's own, insiders' and Apps'.

    Anybody may comment on a public issue, and could copy a marker from one of our comments: then a stranger
    could make it seem that something was said there.
    """
    for comment in nodes(node, "comments"):
        is_app = text(comment, "author.__typename") == "Bot"
        is_insider = text(comment, "authorAssociation") in _INSIDERS
        if comment.get("viewerDidAuthor") or is_insider or is_app:
            yield model.Comment(int(comment.get("fullDatabaseId") or 0), text(comment, "body"))


def board_item(node: Json) -> model.BoardItem:
    """A ProjectV2Item with the fields Status and Agent under the aliases `status` and `agent`.

    The Status is in our spelling, an unknown one as the board has it; changes of other fields do not
    affect its time.
    Source: https://docs.github.com/graphql/reference/objects#projectv2itemfieldsingleselectvalue
    """
    option = _value(node, "status") or ""
    return model.BoardItem(
        id=text(node, "id"),
        status=SPELLINGS.get(option.casefold(), option) or None,
        agent=_value(node, "agent"),
        is_archived=bool(node.get("isArchived")),
        status_at=timing.parse_time(part(node, "status").get("updatedAt")) if option else None,
        added_at=timing.parse_time(node.get("createdAt")),
    )


def card(node: Json) -> model.Card | None:
    """A board item whose content is an issue; None for drafts, pull requests and hidden items."""
    content = part(node, "content")
    if "number" not in content:
        return None
    return model.Card(
        board_item(node),
        int(content["number"]),
        **texts(content, title="title", url="url", repository="repository.nameWithOwner"),
        is_open=word(content.get("state")) == "OPEN",
        priority=_value(node, "priority"),
        readiness=_value(node, "readiness"),
        dependencies=_value(node, "dependencies"),
    )


def board_schema(project: Json, fields: Sequence[Json]) -> model.BoardSchema:
    """A ProjectV2 and the fields of all its pages; fields of kinds that were not requested are {}."""
    shown = tuple(_board_field(field) for field in fields if field.get("id"))
    named = texts(project, project_id="id", title="title", url="url")
    return model.BoardSchema(**named, fields=shown, is_closed=project.get("closed") is True)


def _board_field(node: Json) -> model.BoardField:
    """A field of a board; its iterations, future ones before completed ones, count as options."""
    options = [(text(option, "name"), text(option, "id")) for option in node.get("options") or ()]
    for kind in ("iterations", "completedIterations"):
        shown = part(node, "configuration").get(kind) or ()
        options += [(text(iteration, "title"), text(iteration, "id")) for iteration in shown]
    words = text(node, "id"), text(node, "name"), text(node, "dataType")
    return model.BoardField(*words, tuple(options))


def _value(node: Json, alias: str) -> str | None:
    """A field value's name or text; None if it is empty."""
    return text(node, f"{alias}.name") or text(node, f"{alias}.text") or None


MERGE, RULES, QUEUE = "observe_merge", "observe_rules", "observe_queue"
MERGING = (MERGE, RULES, QUEUE)
"""The optional documents that a look at checks adds to the claim's."""

REVIEWS = "observe_reviews"
"""The optional document that a look at the conversations adds."""

_CONTEXTS = "statusCheckRollup"


def hidden(problems: Iterable[AnswerProblem], left_out: Iterable[str]) -> frozenset[str]:
    """The hidden parts of a look, by the fields of `Checks` that name them, for all of its pull requests.

    Args:
        problems: the look's.
        left_out: the documents that the server does not know.
    """
    steps = {step for problem in problems for step in problem.path}
    lacking = set(left_out)
    is_hidden = {
        "is_complete": _CONTEXTS in steps,
        "sees_workflows": "commits" in steps or MERGE in lacking,
        "sees_demands": "baseRef" in steps or bool({MERGE, RULES} & lacking),
    }
    return frozenset(name for name in is_hidden if is_hidden[name])


def is_bearable(problem: AnswerProblem, data: Mapping[str, Any]) -> bool:
    """True if only a part of a pull request is missing, and the pull request itself is there.

    If a field may not be null, a null also removes its parent: a pull request that is missing for such a
    reason may still exist.
    Source: https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
    """
    shown: Any = data
    for step in problem.path:
        if step in _parts():
            return shown is not None
        if isinstance(step, int):
            shown = shown[step] if isinstance(shown, list) and step < len(shown) else None
        else:
            shown = shown.get(step) if isinstance(shown, Mapping) else None
    return False


@cache
def _parts() -> frozenset[str]:
    """The fields of a pull request that a look may be refused: mentions, and those of added documents."""
    from lifecycle.github.client.graph import fields_of

    added = (fields_of(name, "PullRequest") for name in (*MERGING, REVIEWS))
    return frozenset({_CONTEXTS, "mentions"}.union(*added))


_TOLD_ELSEWHERE = {
    *("PULL_REQUEST", "REQUIRED_STATUS_CHECKS", "REQUIRED_REVIEW_THREAD_RESOLUTION", "MERGE_QUEUE"),
    *("CREATION", "UPDATE", "DELETION", "NON_FAST_FORWARD", "MERGE_QUEUE_LOCKED_REF", "TAG"),
    *("BRANCH_NAME_PATTERN", "TAG_NAME_PATTERN", "MAX_REF_UPDATES"),
}
"""Kinds of rules that are read from their parameters, or that do not block a merge.

Source: https://docs.github.com/graphql/reference/enums#repositoryruletype
"""


_CLASSIC_RULES = {
    "requiresSignatures": "REQUIRED_SIGNATURES",
    "requiresLinearHistory": "REQUIRED_LINEAR_HISTORY",
}
"""The kinds of rules that are fields of classic protection."""


def merge_method(repository: Json) -> model.MergeMethod:
    """A repository's default merge method."""
    methods: dict[str, model.MergeMethod] = {"SQUASH": "squash", "REBASE": "rebase"}
    return methods.get(word(repository.get("viewerDefaultMergeMethod")), "merge")


def merge_demands(node: Json) -> model.MergeDemands | None:
    """The demands of a pull request's base besides checks; None if they were not requested or shown.

    Sources: https://docs.github.com/graphql/reference/objects#refupdaterule and
    https://docs.github.com/graphql/reference/objects#pullrequestparameters
    """
    base = part(node, "baseRef")
    if not ({"refUpdateRule", "rules"} & base.keys()):
        return None
    classic, rules = part(base, "refUpdateRule"), nodes(base, "rules")
    every = [classic, *(part(rule, "parameters") for rule in rules)]

    def has(*keys: str) -> bool:
        return any(demand.get(key) for demand in every for key in keys)

    kinds = {word(rule.get("type")) for rule in rules}
    others = kinds - _TOLD_ELSEWHERE - {""}
    others |= {kind for field, kind in _CLASSIC_RULES.items() if classic.get(field)}
    counts = [demand.get("requiredApprovingReviewCount") for demand in every]
    return model.MergeDemands(
        approvals=max((count for count in counts if isinstance(count, int)), default=0),
        code_owners=has("requiresCodeOwnerReviews", "requireCodeOwnerReview"),
        last_push=has("requireLastPushApproval"),
        conversations="REQUIRED_REVIEW_THREAD_RESOLUTION" in kinds
        or has("requiresConversationResolution", "requiredReviewThreadResolution"),
        others=tuple(sorted(name.lower().replace("_", " ") for name in others)),
    )


def queue_entry(node: Json) -> model.QueueEntry | None:
    """A pull request's entry in the merge queue, None if it has none."""
    entry = part(node, "mergeQueueEntry")
    if not entry:
        return None
    state, commit = word(entry.get("state")), part(entry, "headCommit")
    place, has_checks = entry.get("position"), bool(commit.get("statusCheckRollup"))
    place = place if isinstance(place, int) else None
    return model.QueueEntry(state, place, text(commit, "oid"), has_checks)


def ejection(node: Json) -> model.Ejection | None:
    """The last time that a pull request left the queue.

    GitHub calls the tested commit the one "before" the event; if that is the pull request's own head, the
    tested commit is unknown.
    """
    events = reversed(nodes(node, "timelineItems"))
    last = next((event for event in events if event.get("id")), None)
    if last is None:
        return None
    sha = text(last, "beforeCommit.oid")
    commit = sha if sha != node.get("headRefOid") else ""
    at = timing.parse_time(last.get("createdAt"))
    return model.Ejection(text(last, "id"), at, text(last, "reason"), commit)
