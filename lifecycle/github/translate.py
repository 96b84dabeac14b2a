"""GitHub's JSON as the product's values: pure functions, no client in sight.

Enum values that this product does not know yet never break a look: an unknown check is pending, an
unknown state is not open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lifecycle import times
from lifecycle.model import (
    BoardField,
    BoardItem,
    BoardSchema,
    Bucket,
    Card,
    Check,
    Checks,
    Comment,
    Issue,
    PullRequest,
    PullState,
    Review,
)

Json = Mapping[str, Any]

# Sources: https://docs.github.com/graphql/reference/enums#checkconclusionstate and
# https://docs.github.com/graphql/reference/enums#statusstate. STALE, which wants a re-run, is pending
# like everything that is not listed.
_BUCKETS = {
    "SUCCESS": Bucket.PASS,
    "SKIPPED": Bucket.PASS,
    "NEUTRAL": Bucket.PASS,
    "FAILURE": Bucket.FAIL,
    "ERROR": Bucket.FAIL,
    "TIMED_OUT": Bucket.FAIL,
    "ACTION_REQUIRED": Bucket.FAIL,
    "STARTUP_FAILURE": Bucket.FAIL,
    "CANCELLED": Bucket.CANCELLED,
}
_SEVERITY = (Bucket.PASS, Bucket.PENDING, Bucket.CANCELLED, Bucket.FAIL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One check as GitHub lists it, superseded or not.

    Attributes:
        key: what makes two entries runs of the same check.
        check: its value.
        has_begun: False for a run that still waits, which is newer than all that have begun.
    """

    key: tuple[object, ...]
    check: Check
    has_begun: bool = True


def run_bucket(status: object, conclusion: object) -> Bucket:
    """The bucket of a check run; both words in GraphQL's or REST's spelling."""
    is_over = _word(status) == "COMPLETED"
    return _BUCKETS.get(_word(conclusion), Bucket.PENDING) if is_over else Bucket.PENDING


def status_bucket(state: object) -> Bucket:
    """The bucket of a commit status: its states are a part of the same words."""
    word = _word(state)
    known = {"SUCCESS", "FAILURE", "ERROR"}
    return _BUCKETS[word] if word in known else Bucket.PENDING


def newest(entries: Iterable[Entry]) -> tuple[Check, ...]:
    """One check for each key: the one that began last, in order of name.

    A re-run leaves the superseded entry in the list, so the newest counts. Where two began in the
    same second the worse one does: green must not hang on an order that nobody promised.
    """
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        known = found.get(entry.key)
        if known is None or _age(entry) > _age(known):
            found[entry.key] = entry
    checks = [entry.check for entry in found.values()]
    return tuple(sorted(checks, key=lambda one: (one.name, one.workflow, one.event, one.bucket)))


def _age(entry: Entry) -> tuple[bool, float, int]:
    started = entry.check.started_at
    moment = float("-inf") if started is None else started
    return (not entry.has_begun, moment, _SEVERITY.index(entry.check.bucket))


def pull_request(node: Json) -> PullRequest:
    """A GraphQL PullRequest. `checks` is None if the rollup was not asked for."""
    sha = _text(node, "headRefOid")
    has_rollup = "statusCheckRollup" in node
    return PullRequest(
        number=int(node["number"]),
        url=_text(node, "url"),
        title=_text(node, "title"),
        state=_pull_state(node.get("state")),
        branch=_text(node, "headRefName"),
        head_owner=_text(_part(node, "headRepositoryOwner"), "login"),
        head_sha=sha,
        base=_text(node, "baseRefName"),
        body=_text(node, "body"),
        is_draft=bool(node.get("isDraft")),
        mergeable=_text(node, "mergeable") or "UNKNOWN",
        merged_at=times.parse(node.get("mergedAt")),
        checks=rollup(sha, node.get("statusCheckRollup")) if has_rollup else None,
        review_decision=_text(node, "reviewDecision"),
        changes_requested=_changes_requested(node),
    )


def _changes_requested(node: Json) -> tuple[Review, ...]:
    """The standing reviews that ask for changes, oldest first.

    GitHub lists the last opinion of each reviewer, so that an approval or a dismissal that came
    later stands in the place of what it superseded.
    """
    found = [_review(one) for one in _nodes(node, "latestOpinionatedReviews")]
    wanted = [one for one in found if one.state == "CHANGES_REQUESTED"]
    return tuple(sorted(wanted, key=lambda one: (one.submitted_at or 0.0, one.id)))


def _review(node: Json) -> Review:
    return Review(
        id=_text(node, "id"),
        author=_text(_part(node, "author"), "login"),
        state=_word(node.get("state")),
        submitted_at=times.parse(node.get("submittedAt")),
        url=_text(node, "url"),
        sha=_text(_part(node, "commit"), "oid"),
    )


def _pull_state(state: object) -> PullState:
    known = {one.value: one for one in PullState}
    return known.get(_word(state), PullState.CLOSED)


def rollup(sha: str, found: Json | None) -> Checks:
    """A StatusCheckRollup as the checks of the head `sha`.

    No rollup, or one of another commit, means that nothing has registered on this head yet.
    """
    if not found or _text(_part(found, "commit"), "oid") not in {"", sha}:
        return Checks(sha)
    contexts = found.get("contexts")
    nodes = _part(found, "contexts").get("nodes")
    if not contexts or nodes is None:
        return Checks(sha, is_complete=False)
    entries = [_context(node) for node in nodes if node]
    is_complete = not _part(contexts, "pageInfo").get("hasNextPage") and all(nodes)
    return Checks(sha, newest(entries), is_complete)


def is_rollup_green(node: Json) -> bool:
    """True if GitHub itself calls every check of a pull request's head passed, hidden ones too."""
    found = _part(node, "statusCheckRollup")
    is_of_head = _text(_part(found, "commit"), "oid") == node.get("headRefOid")
    return is_of_head and found.get("state") == "SUCCESS"


def _context(node: Json) -> Entry:
    if "context" in node:
        name = _text(node, "context")
        state = node.get("statusState", node.get("state"))
        made = times.parse(node.get("createdAt"))
        url = _text(node, "targetUrl")
        check = Check(name, status_bucket(state), started_at=made, url=url)
        return Entry(("status", name), check)
    run = _part(_part(node, "checkSuite"), "workflowRun")
    workflow, event = _text(_part(run, "workflow"), "name"), _text(run, "event")
    return check_run(
        name=_text(node, "name"),
        status=node.get("status"),
        conclusion=node.get("conclusion"),
        started_at=times.parse(node.get("startedAt")),
        ended_at=times.parse(node.get("completedAt")),
        url=_text(node, "detailsUrl"),
        workflow=workflow,
        event=event,
        key=(workflow, event),
    )


def check_run(
    *,
    name: str,
    status: object,
    conclusion: object,
    started_at: float | None,
    url: str,
    ended_at: float | None = None,
    workflow: str = "",
    event: str = "",
    key: tuple[object, ...] = (),
) -> Entry:
    """A check run of either API; `key` is what, beside the name, tells two runs apart."""
    bucket = run_bucket(status, conclusion)
    check = Check(name, bucket, workflow, event, started_at, url, ended_at)
    has_begun = started_at is not None or _word(status) == "COMPLETED"
    return Entry(("run", name, *key), check, has_begun)


def commit_status(*, context: str, state: object, made_at: float | None, url: str) -> Entry:
    """A commit status of the REST API."""
    return Entry(("status", context), Check(context, status_bucket(state), "", "", made_at, url))


def issue(node: Json) -> Issue:
    """A GraphQL Issue. `comments` is None if they were not asked for."""
    comments = node.get("comments")
    return Issue(
        number=int(node["number"]),
        id=_text(node, "id"),
        title=_text(node, "title"),
        url=_text(node, "url"),
        is_open=_word(node.get("state")) == "OPEN",
        state_reason=_text(node, "stateReason").lower(),
        assignees=tuple(_text(user, "login") for user in _nodes(node, "assignees")),
        comments=tuple(_comments(node)) if comments is not None else None,
    )


def _comments(node: Json) -> Iterable[Comment]:
    for found in _nodes(node, "comments"):
        yield Comment(int(found.get("fullDatabaseId") or 0), _text(found, "body"))


def board_item(node: Json) -> BoardItem:
    """A ProjectV2Item with the fields Status and Agent under the aliases `status` and `agent`."""
    return BoardItem(
        id=_text(node, "id"),
        status=_value(node, "status"),
        agent=_value(node, "agent"),
        is_archived=bool(node.get("isArchived")),
    )


def board_item_of(nodes: Iterable[Json | None], owner: str, number: int) -> BoardItem | None:
    """The item on project `number` of `owner`, whose login is compared without regard to case."""
    for node in nodes:
        project = _part(node or {}, "project")
        login = _text(_part(project, "owner"), "login")
        if node and project.get("number") == number and login.casefold() == owner.casefold():
            return board_item(node)
    return None


def card(node: Json) -> Card | None:
    """A board item whose content is an issue; None for drafts, pull requests and what is hidden."""
    content = _part(node, "content")
    if "number" not in content:
        return None
    return Card(
        item=board_item(node),
        number=int(content["number"]),
        title=_text(content, "title"),
        url=_text(content, "url"),
        repository=_text(_part(content, "repository"), "nameWithOwner"),
        is_open=_word(content.get("state")) == "OPEN",
        priority=_value(node, "priority"),
        readiness=_value(node, "readiness"),
        dependencies=_value(node, "dependencies"),
    )


def board_schema(viewer: str, project: Json, fields: Sequence[Json]) -> BoardSchema:
    """A ProjectV2 and the fields of all its pages; fields of kinds that were not asked for are {}."""
    return BoardSchema(
        project_id=_text(project, "id"),
        title=_text(project, "title"),
        url=_text(project, "url"),
        viewer=viewer,
        fields=tuple(_board_field(one) for one in fields if one and one.get("id")),
    )


def _board_field(node: Json) -> BoardField:
    options = node.get("options") or []
    return BoardField(
        id=_text(node, "id"),
        name=_text(node, "name"),
        kind=_text(node, "dataType"),
        options=tuple((_text(one, "name"), _text(one, "id")) for one in options),
    )


def _value(node: Json, alias: str) -> str | None:
    """A field value's name or text; an empty one is none."""
    found = _part(node, alias)
    return _text(found, "name") or _text(found, "text") or None


def _nodes(node: Json, connection: str) -> list[Json]:
    return [one for one in _part(node, connection).get("nodes") or [] if one]


def _part(node: Json, key: str) -> Json:
    found = node.get(key)
    return found if isinstance(found, Mapping) else {}


def _text(node: Json, key: str) -> str:
    found = node.get(key)
    return found if isinstance(found, str) else ""


def _word(value: object) -> str:
    return value.upper() if isinstance(value, str) else ""
