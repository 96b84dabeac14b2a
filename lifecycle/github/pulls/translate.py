"""Turn GitHub's JSON into the product's values, with what it did not show; no client is asked here.

Enum values that this product does not know yet never break a look: an unknown check is pending, an
unknown state is not open. Green needs evidence: what the token is not shown is never taken for nothing.
"""

from __future__ import annotations

import hashlib
import json
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
from lifecycle.github.failures.failure_case import AnswerProblem
from lifecycle.github.pulls.rollup import required, rollup, sees_demands, with_workflows, workflows

_UNBLOCKED = {"CLEAN", "HAS_HOOKS", "UNSTABLE"}
"""Merge states that a pull request has only if all that its base demands is there.

Source: https://docs.github.com/graphql/reference/enums#mergestatestatus
"""


def hold(issue: int, commit: Json) -> model.Hold:
    """The lease of an issue by the commit that its ref points to; a full name finds a ref of any kind.

    Source: https://docs.github.com/graphql/reference/objects#repository (`ref`)
    """
    agent, _, branch = parse_lease(text(commit, "message"))
    since = timing.parse_time(commit.get("committedDate"))
    return model.Hold(issue, text(commit, "oid"), agent, since, branch)


def pull_request(node: Json) -> model.PullRequest:
    """A GraphQL PullRequest. `checks` is None if the rollup was not asked for."""
    return model.PullRequest(
        int(node["number"]),
        state=_STATES.get(word(node.get("state")), model.PullState.CLOSED),
        branch=text(node, "headRefName"),
        head_owner=text(part(node, "headRepositoryOwner"), "login"),
        base=text(node, "baseRefName"),
        head_sha=text(node, "headRefOid"),
        is_draft=bool(node.get("isDraft")),
        url=text(node, "url"),
        title=text(node, "title"),
        body=text(node, "body"),
        node_id=text(node, "id"),
        opened_at=timing.parse_time(node.get("createdAt")),
        merged_at=timing.parse_time(node.get("mergedAt")),
        closed_at=timing.parse_time(node.get("closedAt")),
        updated_at=timing.parse_time(node.get("updatedAt")),
        **({} if node.keys() <= _PLAIN else _standing(node)),
    )


_PLAIN = {
    *("number", "state", "headRepositoryOwner", "isDraft", "url", "title", "body", "id"),
    *("baseRefName", "headRefName", "headRefOid", "createdAt", "mergedAt", "closedAt", "updatedAt"),
}
"""What a sweep asks of most pull requests: of no more there is nothing to be told of how one stands."""


def _standing(node: Json) -> dict[str, Any]:
    """How a pull request stands: its checks, reviews and queue, and what its base demands."""
    return {
        "mergeable": text(node, "mergeable") or "UNKNOWN",
        "checks": _checks(node),
        "changes_requested": _changes_requested(node),
        "merge_state": _merge_state(node),
        "queue": queue_entry(node),
        "ejection": ejection(node),
        "is_auto_merge": bool(node.get("autoMergeRequest")),
        "has_queue": bool(node.get("isMergeQueueEnabled")),
        "demands": merge_demands(node),
        "conversations": _conversations(node),
        "base_tip": text(part(part(node, "baseRef"), "target"), "oid"),
        "author": text(part(node, "author"), "login"),
        "requested": _requested(node),
        "review_decision": text(node, "reviewDecision"),
    }


def _requested(node: Json) -> tuple[str, ...]:
    """Who is asked for a review: people and bots by login, teams with their organisation before them."""
    asked = (part(request, "requestedReviewer") for request in nodes(node, "reviewRequests"))
    names = (
        text(who, "login") or f"{text(part(who, 'organization'), 'login')}/{text(who, 'slug')}"
        for who in asked
    )
    return tuple(name for name in names if name != "/")


def _conversations(node: Json) -> model.Conversations | None:
    """The conversations of a pull request, None where not all of them were shown.

    Of more than a hundred conversations the older ones count by the pull request's own date alone. A
    sweep asks for no more than which are resolved.
    """
    threads = nodes(node, "reviewThreads")
    unresolved = [thread for thread in threads if not thread.get("isResolved")]
    if "reviews" not in node and isinstance(node.get("reviewThreads"), Mapping):
        return model.Conversations("", len(unresolved))
    parts: list[Any] = [node.get(name) for name in ("reviewThreads", "reviews", "said")]
    if not all(isinstance(connection, Mapping) for connection in parts):
        return None
    last = [comment for thread in unresolved for comment in nodes(thread, "comments")[-1:]]
    # A draft is shown to the account that writes it, and said to nobody yet.
    newest = [comment for comment in last if text(comment, "state") != "PENDING"]
    if not any(connection.get("totalCount") for connection in parts):
        return model.Conversations("")
    shown = json.dumps([node.get("headRefOid"), node.get("updatedAt"), parts], sort_keys=True)
    return model.Conversations(
        hashlib.sha256(shown.encode()).hexdigest()[:16],
        len(unresolved),
        sum(
            not comment.get("viewerDidAuthor")
            or is_of_owner(comment, part(comment, "replyTo") or comment)
            for comment in newest
        ),
    )


def is_of_owner(node: Json, *root: Json) -> bool:
    """True if a comment or review of the token's account is its person's, and not what this product wrote.

    A person and the agent may have one account, and GitHub does not tell them apart. What begins a
    conversation about the diff, or is a review, is never written here; an answer is, with a marker. In
    what others began, an answer without one may be the agent's by other means. An App has no person.
    """
    is_apps = text(part(node, "author"), "__typename") == "Bot"
    is_begun = all(begun.get("viewerDidAuthor") for begun in (node, *root)) and bool(root)
    return is_begun and not is_apps and not hidden_marker.mark_in(text(node, "body"))


def _checks(node: Json) -> Checks | None:
    """The checks of a pull request's head, with what its base demands of them."""
    if "statusCheckRollup" not in node:
        return None
    sha = text(node, "headRefOid")
    checks = rollup(sha, node.get("statusCheckRollup"))
    return replace(
        with_workflows(checks, workflows(sha, node, checks.runs)),
        required=required(part(node, "baseRef")),
        sees_demands=sees_demands(node),
        is_unblocked=_merge_state(node) in _UNBLOCKED,
    )


def _merge_state(node: Json) -> str:
    """GitHub's word, UNKNOWN if it was refused; empty only if it was not asked for."""
    return text(node, "mergeStateStatus") or ("UNKNOWN" if "mergeStateStatus" in node else "")


def _changes_requested(node: Json) -> tuple[model.Review, ...]:
    """The standing reviews that ask for changes, oldest first.

    GitHub lists the last opinion of each reviewer, so that an approval or a dismissal that came
    later stands in the place of what it superseded.
    """
    reviews = [_review(review) for review in nodes(node, "latestOpinionatedReviews")]
    wanted = [review for review in reviews if review.state == "CHANGES_REQUESTED"]
    return tuple(
        sorted(wanted, key=lambda review: (review.submitted_at or float("-inf"), review.id))
    )


def _review(node: Json) -> model.Review:
    return model.Review(
        author=text(part(node, "author"), "login"),
        state=word(node.get("state")),
        **texts(node, id="id", url="url"),
        **times(node, submitted_at="submittedAt"),
        sha=text(part(node, "commit"), "oid"),
    )


_STATES = {state.value: state for state in model.PullState}


def issue(node: Json) -> model.Issue:
    """A GraphQL Issue. `comments` is None if they were not asked for."""
    comments, parts = node.get("comments"), part(node, "subIssuesSummary")
    return model.Issue(
        int(node["number"]),
        id=text(node, "id"),
        title=text(node, "title"),
        url=text(node, "url"),
        is_open=word(node.get("state")) == "OPEN",
        state_reason=text(node, "stateReason").lower(),
        assignees=tuple(text(user, "login") for user in nodes(node, "assignees")),
        comments=tuple(_comments(node)) if comments is not None else None,
        closed_at=timing.parse_time(node.get("closedAt")),
        updated_at=timing.parse_time(node.get("updatedAt")),
        open_parts=int(parts["total"]) - int(parts["completed"]) if parts else 0,
    )


_INSIDERS = {"OWNER", "MEMBER", "COLLABORATOR"}
"""What GitHub calls those who were let in: https://docs.github.com/graphql/reference/enums#commentauthorassociation"""


def _comments(node: Json) -> Iterable[model.Comment]:
    """The comments whose markers may be believed: the token's own, those of insiders and of Apps.

    Anybody may comment on a public issue, and could copy a marker from one of ours: that something was
    said there would be a stranger's word.
    """
    for comment in nodes(node, "comments"):
        is_app = text(part(comment, "author"), "__typename") == "Bot"
        is_insider = text(comment, "authorAssociation") in _INSIDERS
        if not (comment.get("viewerDidAuthor") or is_insider or is_app):
            continue
        yield model.Comment(int(comment.get("fullDatabaseId") or 0), text(comment, "body"))


def board_item(node: Json) -> model.BoardItem:
    """A ProjectV2Item with the fields Status and Agent under the aliases `status` and `agent`."""
    return model.BoardItem(
        id=text(node, "id"),
        status=_status(node),
        agent=_value(node, "agent"),
        is_archived=bool(node.get("isArchived")),
        status_at=_status_at(node),
        added_at=timing.parse_time(node.get("createdAt")),
    )


def board_item_of(nodes: Iterable[Json | None], owner: str, number: int) -> model.BoardItem | None:
    """The item on project `number` of `owner`, whose login is compared without regard to case."""
    its = (board_item(node) for node in nodes if node and is_on_board(node, owner, number))
    return next(its, None)


def is_on_board(node: Json, owner: str, number: int) -> bool:
    """True if an item is one of project `number` of `owner`; the login's case does not matter."""
    project = part(node, "project")
    login = text(part(project, "owner"), "login")
    return bool(project.get("number") == number and login.casefold() == owner.casefold())


def card(node: Json) -> model.Card | None:
    """A board item whose content is an issue; None for drafts, pull requests and what is hidden."""
    content = part(node, "content")
    if "number" not in content:
        return None
    return model.Card(
        board_item(node),
        int(content["number"]),
        **texts(content, title="title", url="url"),
        repository=text(part(content, "repository"), "nameWithOwner"),
        is_open=word(content.get("state")) == "OPEN",
        priority=_value(node, "priority"),
        readiness=_value(node, "readiness"),
        dependencies=_value(node, "dependencies"),
    )


def draft(node: Json) -> model.Draft | None:
    """A board item that is a draft; None for everything else."""
    content = part(node, "content")
    if content.get("__typename") != "DraftIssue":
        return None
    return model.Draft(text(content, "title"), _status(node))


def board_schema(viewer: str, project: Json, fields: Sequence[Json]) -> model.BoardSchema:
    """A ProjectV2 and the fields of all its pages; fields of kinds that were not asked for are {}."""
    shown = tuple(_board_field(field) for field in fields if field.get("id"))
    named = texts(project, project_id="id", title="title", url="url")
    return model.BoardSchema(**named, viewer=viewer, fields=shown)


def _board_field(node: Json) -> model.BoardField:
    options = node.get("options") or _iterations(part(node, "configuration"))
    named = tuple((text(option, "name"), text(option, "id")) for option in options)
    return model.BoardField(text(node, "id"), text(node, "name"), text(node, "dataType"), named)


def _iterations(configuration: Json) -> list[Json]:
    """The iterations of a field, those to come before those that are over, as if they were options."""
    iterations = [
        *(configuration.get("iterations") or ()),
        *(configuration.get("completedIterations") or ()),
    ]
    return [{"name": iteration.get("title"), "id": iteration.get("id")} for iteration in iterations]


def _status_at(node: Json) -> float | None:
    """When the Status was set last: a value's own time, which the card's other fields leave alone.

    Source: https://docs.github.com/graphql/reference/objects#projectv2itemfieldsingleselectvalue
    """
    field = part(node, "status") if _value(node, "status") else {}
    return timing.parse_time(field.get("updatedAt"))


def _value(node: Json, alias: str) -> str | None:
    """A field value's name or text; an empty one is none."""
    field = part(node, alias)
    return text(field, "name") or text(field, "text") or None


def _status(node: Json) -> str | None:
    """The Status as we spell it; one that we do not know is as the board has it."""
    option = _value(node, "status")
    return SPELLINGS.get(option.casefold(), option) if option is not None else None


MERGE, RULES, QUEUE = "observe_merge", "observe_rules", "observe_queue"
MERGING = (MERGE, RULES, QUEUE)
"""The documents that a look at checks adds to the claim's own; each may be done without."""

REVIEWS = "observe_reviews"
"""The document that a look at the conversations adds; may be done without as well."""

_CONTEXTS = "statusCheckRollup"


def hidden(problems: Iterable[AnswerProblem], left_out: Iterable[str]) -> frozenset[str]:
    """What a look was not shown, by the fields of `Checks` that say so, whichever pull request it was of.

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


def marked(pull: model.PullRequest, unseen: frozenset[str]) -> model.PullRequest:
    """The pull request with its checks marked where something was `hidden`."""
    if pull.checks is None:
        return pull
    blind: dict[str, Any] = dict.fromkeys(unseen, False)
    return replace(pull, checks=replace(pull.checks, **blind))


def is_bearable(problem: AnswerProblem, data: Mapping[str, Any]) -> bool:
    """True if only a part of a pull request is missing, and the pull request itself is there.

    A null where GraphQL allows none takes what is around it along: a pull request that is missing
    for such a reason is not one that does not exist.
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
    """The fields of a pull request that a look may be refused: those of its added documents."""
    from lifecycle.github.client.graph import fields_of

    added = (fields_of(name, "PullRequest") for name in (*MERGING, REVIEWS))
    return frozenset({_CONTEXTS}.union(*added))


_TOLD_ELSEWHERE = {
    *("PULL_REQUEST", "REQUIRED_STATUS_CHECKS", "REQUIRED_REVIEW_THREAD_RESOLUTION", "MERGE_QUEUE"),
    *("CREATION", "UPDATE", "DELETION", "NON_FAST_FORWARD", "MERGE_QUEUE_LOCKED_REF", "TAG"),
    *("BRANCH_NAME_PATTERN", "TAG_NAME_PATTERN", "MAX_REF_UPDATES"),
}
"""Kinds of rules that are read by their parameters, or that hold no merge back.

Source: https://docs.github.com/graphql/reference/enums#repositoryruletype
"""


_CLASSIC_RULES = {
    "requiresSignatures": "REQUIRED_SIGNATURES",
    "requiresLinearHistory": "REQUIRED_LINEAR_HISTORY",
}
"""The kinds of rules that fields of classic protection say."""


def merge_method(repository: Json) -> model.MergeMethod:
    """How a repository merges if nobody chooses."""
    methods: dict[str, model.MergeMethod] = {"SQUASH": "squash", "REBASE": "rebase"}
    return methods.get(word(repository.get("viewerDefaultMergeMethod")), "merge")


def merge_demands(node: Json) -> model.MergeDemands | None:
    """What the base of a pull request demands beside checks; None if that was not asked for or shown.

    Sources: https://docs.github.com/graphql/reference/objects#refupdaterule and
    https://docs.github.com/graphql/reference/objects#pullrequestparameters
    """
    base = part(node, "baseRef")
    if not ({"refUpdateRule", "rules"} & base.keys()):
        return None
    classic, rules = part(base, "refUpdateRule"), nodes(base, "rules")
    parameters = [part(rule, "parameters") for rule in rules]
    kinds = {word(rule.get("type")) for rule in rules}
    others = kinds - _TOLD_ELSEWHERE - {""}
    others |= {kind for field, kind in _CLASSIC_RULES.items() if classic.get(field)}
    counts = [rule.get("requiredApprovingReviewCount") for rule in (classic, *parameters)]
    return model.MergeDemands(
        approvals=max((count for count in counts if isinstance(count, int)), default=0),
        code_owners=bool(classic.get("requiresCodeOwnerReviews"))
        or any(rule.get("requireCodeOwnerReview") for rule in parameters),
        last_push=any(rule.get("requireLastPushApproval") for rule in parameters),
        conversations=bool(classic.get("requiresConversationResolution"))
        or "REQUIRED_REVIEW_THREAD_RESOLUTION" in kinds
        or any(rule.get("requiredReviewThreadResolution") for rule in parameters),
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

    GitHub calls the commit that was tested the one "before" the event; where that is the pull request's
    own head, which commit it was is not known.
    """
    events = [event for event in nodes(node, "timelineItems") if event.get("id")]
    if not events:
        return None
    last = events[-1]
    sha = text(part(last, "beforeCommit"), "oid")
    commit = sha if sha != node.get("headRefOid") else ""
    at = timing.parse_time(last.get("createdAt"))
    return model.Ejection(text(last, "id"), at, text(last, "reason"), commit)
