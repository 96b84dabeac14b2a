"""How each GraphQL type reads the world: one table of fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox import checks, payloads, pulls, reviews
from lifecycle.sandbox import graph_board as board
from lifecycle.sandbox.graph_pages import connection
from lifecycle.sandbox.refusals import forbidden, no_node, not_found
from lifecycle.sandbox.rest import is_ours
from lifecycle.sandbox.state import (
    CheckRun,
    Comment,
    CommitStatus,
    Field,
    Issue,
    Item,
    Option,
    Project,
    PullRequest,
    Review,
    User,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphql import GraphQLAbstractType, GraphQLResolveInfo

    from lifecycle.sandbox.call import Call


@dataclass(frozen=True, slots=True)
class Repository:
    """The one repository, which is the world itself."""


@dataclass(frozen=True, slots=True)
class Rollup:
    """The checks of a commit, all together."""

    sha: str


def _node(call: Call, node_id: str) -> Any:
    """Whatever has that global id, or an error as GitHub words it."""
    world = call.world
    known: dict[str, Any] = {world.node_id: Repository()}
    known |= {i.node_id: i for n, i in world.issues.items() if n not in world.pulls}
    known |= {pull.node_id: pull for pull in world.pulls.values()}
    known |= {user.node_id: user for user in world.users.values()}
    if node_id in known:
        return known[node_id]
    if world.project:
        parts: dict[str, Any] = {world.project.id: world.project}
        parts |= {field.id: field for field in world.project.fields}
        parts |= {item.id: item for item in world.project.items}
        if node_id in parts:
            return board.readable(call, parts[node_id])
    raise no_node(node_id)


def _repository(call: Call, owner: str, name: str) -> Repository:
    if not is_ours(call.world, owner, name):
        raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return Repository()


def _issue(call: Call, number: int) -> Issue:
    issue = call.world.issues.get(number)
    if issue is None or number in call.world.pulls:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return issue


def _pull(call: Call, number: int) -> PullRequest:
    if number not in call.world.pulls:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return call.world.pulls[number]


def _pulls(call: Call, arguments: dict[str, Any]) -> dict[str, Any]:
    """The repository's pull requests; the schema lets through only what is handled here."""
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    wanted = {
        "headRefName": arguments.pop("headRefName", None),
        "baseRefName": arguments.pop("baseRefName", None),
    }
    states = arguments.pop("states", None)
    found = [
        p
        for p in call.world.pulls.values()
        if wanted["headRefName"] in {None, p.head}
        and wanted["baseRefName"] in {None, p.base}
        and (states is None or pulls.state_of(p) in states)
    ]
    keys: dict[str, Callable[[PullRequest], Any]] = {
        "CREATED_AT": lambda p: p.number,
        "UPDATED_AT": lambda p: (p.issue.updated_at, p.number),
        "COMMENTS": lambda p: (len(p.issue.comments), p.number),
    }
    found.sort(key=keys[order["field"]], reverse=order["direction"] == "DESC")
    return connection(call.world.visible(found, call.seen), **arguments)


def _rollup(call: Call, pull: PullRequest) -> Rollup | None:
    """None until a check or a status has registered for the head."""
    checks.read(call.world, pull.head_sha, call.seen)
    found = checks.runs_of(call.world, pull.head_sha), checks.statuses_of(call.world, pull.head_sha)
    return Rollup(pull.head_sha) if any(found) else None


def _contexts(call: Call, rollup: Rollup, **arguments: Any) -> dict[str, Any]:
    found = [*checks.runs_of(call.world, rollup.sha), *checks.statuses_of(call.world, rollup.sha)]
    page = connection(found, **arguments)
    if call.token.kind == "fine-grained":
        page["nodes"] = [
            forbidden(call.token) for _ in page["nodes"]
        ]  # each becomes null and an error
    return page


def _verdict(call: Call, rollup: Rollup) -> str:
    """The worst of the newest runs and statuses of a commit, hidden ones too."""
    runs = checks.latest_runs_of(call.world, rollup.sha)
    words = {run.conclusion if run.status == "completed" else "pending" for run in runs}
    words |= {status.state for status in checks.statuses_of(call.world, rollup.sha)}
    if words - {"success", "neutral", "skipped", "pending", "expected", None}:
        return "FAILURE"
    return "PENDING" if words & {"pending", "expected", None} else "SUCCESS"


def _content(call: Call, item: Item) -> Issue | PullRequest:
    return call.world.pulls.get(item.issue.number, item.issue)


def _url(call: Call, kind: str, number: int) -> str:
    return f"{call.base}/{call.world.full_name}/{kind}/{number}"


def _mergeable(call: Call, pull: PullRequest) -> str:
    answers = {None: "UNKNOWN", True: "MERGEABLE", False: "CONFLICTING"}
    return answers[pulls.judge(call.world, pull, call.seen)]


def _opinions(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    writers_only = bool(arguments.pop("writersOnly", False))
    return connection(reviews.opinions(pull, writers_only=writers_only), **arguments)


def _add_card(call: Call, wanted: Mapping[str, Any]) -> dict[str, Any]:
    return board.add_card(call, wanted, _node(call, wanted["contentId"]))


OWNER = {
    "id": lambda _, user: user.node_id,
    "projectV2": board.project_numbered,
}
LINKED = {"projectV2": lambda c, _, number: board.project_numbered(c, None, number)}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Query": {
        "id": lambda *_: "Query",
        "viewer": lambda c, _: c.viewer,
        "node": lambda c, _, id: _node(c, id),  # noqa: A006  the schema calls it so
        "repository": lambda c, _, owner, name: _repository(c, owner, name),
        "repositoryOwner": lambda c, _, login: c.world.user(login),
    },
    "Mutation": {
        "updateProjectV2ItemFieldValue": lambda c, _, **given: board.update_value(
            c, given["input"]
        ),
        "clearProjectV2ItemFieldValue": lambda c, _, **given: board.clear_value(c, given["input"]),
        "addProjectV2ItemById": lambda c, _, **given: _add_card(c, given["input"]),
    },
    "User": OWNER,
    "Organization": OWNER,
    "Repository": {
        "id": lambda c, _: c.world.node_id,
        "nameWithOwner": lambda c, _: c.world.full_name,
        "defaultBranchRef": lambda c, _: {"id": c.world.node_id, "name": c.world.default_branch},
        "issue": lambda c, _, number: _issue(c, number),
        "pullRequest": lambda c, _, number: _pull(c, number),
        "pullRequests": lambda c, _, **given: _pulls(c, given),
        **LINKED,
    },
    "Issue": {
        "id": lambda _, issue: issue.node_id,
        "url": lambda c, issue: _url(c, "issues", issue.number),
        "body": lambda _, issue: issue.body or "",
        "state": lambda _, issue: issue.state.upper(),
        "stateReason": lambda _, issue: issue.state_reason and issue.state_reason.upper(),
        "repository": lambda *_: Repository(),
        "assignees": lambda _, issue, **given: connection(issue.assignees, **given),
        "comments": lambda c, issue, **given: connection(
            c.world.visible(issue.comments, c.seen), **given
        ),
        "projectItems": board.cards_of,
        **LINKED,
    },
    "IssueComment": {
        "id": lambda _, comment: f"IC_{comment.id}",
        "fullDatabaseId": lambda _, comment: str(comment.id),
    },
    "PullRequest": {
        "id": lambda _, pull: pull.node_id,
        "url": lambda c, pull: _url(c, "pull", pull.number),
        "title": lambda _, pull: pull.issue.title,
        "body": lambda _, pull: pull.issue.body or "",
        "state": lambda _, pull: pulls.state_of(pull),
        "isDraft": lambda _, pull: pull.draft,
        "mergeable": _mergeable,
        "mergedAt": lambda _, pull: payloads.stamp(pull.merged_at),
        "headRefName": lambda _, pull: pull.head,
        "headRefOid": lambda _, pull: pull.head_sha,
        "baseRefName": lambda _, pull: pull.base,
        "headRepositoryOwner": lambda c, _: c.world.owner,
        "reviewDecision": lambda c, pull: reviews.decision(c.world, pull),
        "latestOpinionatedReviews": _opinions,
        "statusCheckRollup": _rollup,
        **LINKED,
    },
    "PullRequestReview": {
        "id": lambda _, review: review.node_id,
        "url": payloads.review_url,
        "submittedAt": lambda _, review: payloads.stamp(review.submitted_at),
        "commit": lambda _, review: {"id": f"C_{review.sha}", "oid": review.sha},
    },
    "StatusCheckRollup": {
        "id": lambda _, rollup: f"SCR_{rollup.sha}",
        "commit": lambda _, rollup: {"id": f"C_{rollup.sha}", "oid": rollup.sha},
        "contexts": _contexts,
        "state": _verdict,
    },
    "CheckRun": {
        "id": lambda _, run: f"CR_{run.id}",
        "databaseId": lambda _, run: run.id,
        "status": lambda _, run: run.status.upper(),
        "conclusion": lambda _, run: run.conclusion and run.conclusion.upper(),
        "startedAt": lambda _, run: payloads.stamp(run.started_at),
        "completedAt": lambda _, run: payloads.stamp(run.completed_at),
        "detailsUrl": payloads.details_url,
        "checkSuite": lambda _, run: run,
    },
    "CheckSuite": {
        "id": lambda _, run: f"CS_{run.run_id}",
        "workflowRun": lambda _, run: run if run.workflow else None,
    },
    "WorkflowRun": {"id": lambda _, run: f"WFR_{run.run_id}", "workflow": lambda _, run: run},
    "Workflow": {
        "id": lambda _, run: f"W_{run.workflow}",
        "name": lambda _, run: run.workflow,
    },
    "StatusContext": {
        "id": lambda _, status: f"SC_{status.id}",
        "state": lambda _, status: status.state.upper(),
        "createdAt": lambda _, status: payloads.stamp(status.created_at),
        "targetUrl": lambda *_: None,
    },
    "ProjectV2": {
        "url": board.url_of,
        "closed": lambda *_: False,
        "fields": lambda _, project, **given: connection(project.fields, **given),
        "items": lambda _, project, **given: connection(project.items, **given),
    },
    "ProjectV2Field": {"dataType": lambda _, field: field.data_type},
    "ProjectV2SingleSelectField": {"dataType": lambda _, field: field.data_type},
    "ProjectV2Item": {
        "isArchived": lambda _, item: item.archived,
        "project": lambda c, _: c.world.project,
        "content": _content,
        "fieldValueByName": lambda c, item, name: board.value_of(item, c.world.project, name),
    },
    "ProjectV2ItemFieldSingleSelectValue": {
        "id": lambda _, value: f"PVTFSV_{value.item.id}_{value.field.id}",
        "name": lambda _, value: value.text,
    },
    "ProjectV2ItemFieldTextValue": {
        "id": lambda _, value: f"PVTFTV_{value.item.id}_{value.field.id}",
    },
}


def resolve_field(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    """Read one field: by the table above, else the key or attribute of the same name."""
    resolver = RESOLVERS.get(info.parent_type.name, {}).get(info.field_name)
    if resolver is not None:
        return resolver(info.context, source, **arguments)
    if isinstance(source, dict):
        return source[info.field_name]
    return getattr(source, info.field_name)


NAMES = {
    Issue: "Issue",
    PullRequest: "PullRequest",
    Project: "ProjectV2",
    Item: "ProjectV2Item",
    Option: "ProjectV2SingleSelectFieldOption",
    CheckRun: "CheckRun",
    CommitStatus: "StatusContext",
    Comment: "IssueComment",
    Review: "PullRequestReview",
    Repository: "Repository",
}


def resolve_type(
    source: Any, _info: GraphQLResolveInfo[Any], _kind: GraphQLAbstractType
) -> str | None:
    """The name of the type that a value has, where the schema leaves it open."""
    if isinstance(source, User):
        return "Organization" if source.kind == "organization" else "User"
    if isinstance(source, Field):
        single = source.data_type == "SINGLE_SELECT"
        return "ProjectV2SingleSelectField" if single else "ProjectV2Field"
    if isinstance(source, board.Value):
        single = source.field.data_type == "SINGLE_SELECT"
        return f"ProjectV2ItemField{'SingleSelect' if single else 'Text'}Value"
    return NAMES.get(type(source))
