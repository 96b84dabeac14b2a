"""GraphQL's fields of repositories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts.graph import ordered
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.git import graph as git
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.graph import issue_page_of
from lifecycle.sandbox.issues.state import Issue, IssueTables, Label, Milestone
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as payloads
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection, not_found


def _repository(call: Call, owner: str, name: str, *, follows: bool | None = None) -> Repository:
    """The repository of that name, or of a former one unless `follows` is False; else NOT_FOUND."""
    repo = access.repository(call.world, call.token, f"{owner}/{name}")
    moved = repo is not None and repo.key != f"{owner}/{name}".lower()
    if repo is None or (moved and follows is False):
        raise not_found(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
    return repo


def _issue(repo: Repository, number: int) -> Issue:
    issue = IssueTables.of(repo).issues.get(number)
    if issue is None or issue.is_pull or not repo.has_issues or issue.is_late():
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return issue


def _pull(repo: Repository, number: int) -> PullRequest:
    pull = PullTables.of(repo).pulls.get(number)
    if pull is None or pull.issue.is_late():
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return pull


def _issue_or_pull(repo: Repository, number: int) -> Issue | PullRequest:
    issue_tables = IssueTables.of(repo)
    if number not in issue_tables.issues:
        words = f"Could not resolve to an issue or pull request with the number of {number}."
        raise not_found(words)
    return PullTables.of(repo).pulls.get(number) or issue_tables.issues[number]


def _pulls(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    """A page of the repository's pull requests; the schema allows only arguments handled here."""
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    wanted = {
        "headRefName": arguments.pop("headRefName", None),
        "baseRefName": arguments.pop("baseRefName", None),
    }
    states, labels = arguments.pop("states", None), arguments.pop("labels", None)
    names = {name.lower() for name in labels or ()}
    selection = [
        p
        for p in PullTables.of(repo).pulls.values()
        if wanted["headRefName"] in {None, p.head}
        and wanted["baseRefName"] in {None, p.base}
        and (states is None or pulls.state_of(p) in states)
        and (labels is None or names & {label.name.lower() for label in p.issue.labels})
    ]
    keys: dict[str, Callable[[PullRequest], Any]] = {
        "CREATED_AT": lambda p: p.number,
        "UPDATED_AT": lambda p: (p.issue.updated_at, p.number),
        "COMMENTS": lambda p: (len(p.issue.comments), p.number),
    }
    selection = ordered(selection, order, keys)
    return connection(call.world.visible(selection, call.seen), **arguments)


LABEL_ORDERS: dict[str, Callable[[Label], Any]] = {
    "NAME": lambda label: label.name.lower(),
    "CREATED_AT": lambda label: (label.created_at, label.id),
    "ISSUE_COUNT": lambda label: label.id,
}
MILESTONE_ORDERS: dict[str, Callable[[Milestone], Any]] = {
    "NUMBER": lambda milestone: milestone.number,
    "CREATED_AT": lambda milestone: (milestone.created_at, milestone.id),
    "UPDATED_AT": lambda milestone: (milestone.updated_at, milestone.id),
    "DUE_DATE": lambda milestone: (
        milestone.due_on is None,
        milestone.due_on.timestamp() if milestone.due_on else 0,
    ),
}


def _labels(_call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    query = (arguments.pop("query", None) or "").lower()
    order = arguments.pop("orderBy", None) or {"field": "CREATED_AT", "direction": "ASC"}
    selection = [
        label
        for label in IssueTables.of(repo).labels.values()
        if query in label.name.lower() or query in (label.description or "").lower()
    ]
    return connection(ordered(selection, order, LABEL_ORDERS), **arguments)


def _milestones(_call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    query = (arguments.pop("query", None) or "").lower()
    states, order = arguments.pop("states", None), arguments.pop("orderBy", None)
    selection = [
        milestone
        for milestone in IssueTables.of(repo).milestones.values()
        if query in milestone.title.lower()
        and (states is None or milestone.state.upper() in states)
    ]
    return connection(ordered(selection, order, MILESTONE_ORDERS), **arguments)


def _assignable(_call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    query = (arguments.pop("query", None) or "").lower()
    users = [
        user
        for user in repo.world.users.values()
        if issues.may_be_assigned(repo, user)
        and (query in user.login.lower() or query in user.name.lower())
    ]
    return connection(users, **arguments)


def _forks(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    return connection([fork for fork in repo.forks if access.sees(call.token, fork)], **arguments)


def _topics(_call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    """A page of the topics, each as a link between the repository and the topic."""
    links = [
        {
            "id": f"RT_{repo.id}_{name}",
            "resourcePath": f"/topics/{name}",
            "topic": {"id": f"TP_{name}", "name": name},
        }
        for name in repo.topics
    ]
    return connection(links, **arguments)


def _method(_call: Call, repo: Repository) -> str:
    """The merge method if the viewer has chosen none: the first that is allowed."""
    if repo.allow_merge_commit:
        return "MERGE"
    return "SQUASH" if repo.allow_squash_merge else "REBASE"


def nothing(*_: Any, **__: Any) -> dict[str, Any]:
    """An empty page, for kinds of objects that the sandbox does not have."""
    return connection([], first=1)


RESOLVERS: dict[str, dict[str, Any]] = {
    "Query": {
        "repository(followRenames)": lambda c, _, **arguments: _repository(
            c, arguments["owner"], arguments["name"], follows=arguments.get("followRenames")
        ),
    },
    "Repository": {
        "nameWithOwner": lambda _, repo: repo.full_name,
        "url": payloads.page_url,
        "resourcePath": lambda _, repo: f"/{repo.full_name}",
        "sshUrl": payloads.ssh_url,
        "homepageUrl": lambda _, repo: repo.homepage,
        "isArchived": lambda _, repo: repo.archived,
        "isDisabled": lambda *_: False,
        "isFork": lambda _, repo: repo.parent is not None,
        "isEmpty": lambda c, repo: git.default_of(c, repo) is None,
        "isInOrganization": lambda _, repo: repo.owner.kind == "organization",
        "isMirror": lambda *_: False,
        "hasIssuesEnabled": lambda _, repo: repo.has_issues,
        "hasProjectsEnabled": lambda _, repo: repo.has_projects,
        "hasWikiEnabled": lambda _, repo: repo.has_wiki,
        "hasDiscussionsEnabled": lambda *_: False,
        "forkCount": lambda _, repo: len(repo.forks),
        "stargazerCount": lambda *_: 0,
        "watchers": nothing,
        "archivedAt": lambda _, repo: stamp(repo.updated_at) if repo.archived else None,
        "mergeCommitAllowed": lambda _, repo: repo.allow_merge_commit,
        "squashMergeAllowed": lambda _, repo: repo.allow_squash_merge,
        "rebaseMergeAllowed": lambda _, repo: repo.allow_rebase_merge,
        "autoMergeAllowed": lambda _, repo: repo.allow_auto_merge,
        "viewerPermission": lambda c, repo: (repo.role_of(c.viewer) or "").upper() or None,
        "viewerCanAdminister": lambda c, repo: repo.role_of(c.viewer) == "admin",
        "viewerDefaultMergeMethod": _method,
        "defaultBranchRef": git.default_of,
        "ref": lambda _, repo, **arguments: git.ref_named(repo, arguments["qualifiedName"]),
        "refs(query, orderBy, direction)": git.refs_of,
        "object(oid, expression)": git.object_of,
        "issue": lambda _, repo, number: _issue(repo, number),
        "issues(states, labels, filterBy, orderBy)": issue_page_of,
        "issueOrPullRequest": lambda _, repo, number: _issue_or_pull(repo, number),
        "pullRequest": lambda _, repo, number: _pull(repo, number),
        "pullRequests(headRefName, baseRefName, states, labels, orderBy)": _pulls,
        "label": lambda _, repo, name: IssueTables.of(repo).labels.get(name.lower()),
        "labels(query, orderBy)": _labels,
        "milestone": lambda _, repo, number: IssueTables.of(repo).milestones.get(number),
        "milestones(query, states, orderBy)": _milestones,
        "assignableUsers(query)": _assignable,
        "mentionableUsers(query)": _assignable,
        "forks": _forks,
        "repositoryTopics": _topics,
        "projects(orderBy, states)": nothing,
        "releases(orderBy)": nothing,
        "licenseInfo": lambda *_: None,
        "primaryLanguage": lambda *_: None,
        "languages": nothing,
    },
}
PLAIN = {
    "Repository": "name description owner parent id databaseId visibility isPrivate isTemplate "
    "createdAt updatedAt pushedAt allowUpdateBranch deleteBranchOnMerge",
    "Language": "id name color",
    "License": "id key name",
    "RepositoryTopic": "id resourcePath topic",
    "Topic": "id name",
    "Release": "id resourcePath name tagName isDraft isLatest isPrerelease createdAt publishedAt",
}
INPUTS = {
    "IssueOrder": "field direction",
    "LabelOrder": "field direction",
    "MilestoneOrder": "field direction",
    "RepositoryOrder": "field direction",
}
