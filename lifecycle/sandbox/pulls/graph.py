"""GraphQL's fields of pull requests: their own, and those shared with issues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.graph_values import linked_pulls
from lifecycle.sandbox.checks import graph as checks
from lifecycle.sandbox.git.graph import CommitAt, branch_ref, commit_at
from lifecycle.sandbox.git.store.history import FileChange
from lifecycle.sandbox.issues import graph as issues
from lifecycle.sandbox.issues.payload import issue_page
from lifecycle.sandbox.issues.state import Issue
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls import changes, closing
from lifecycle.sandbox.pulls.merging import mergeability
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection

MERGEABLE = {None: "UNKNOWN", True: "MERGEABLE", False: "CONFLICTING"}


@dataclass(frozen=True, slots=True)
class PullCommit:
    """A commit of a pull request."""

    pull: PullRequest
    commit: CommitAt


def _merge_state(call: Call, pull: PullRequest) -> str:
    return mergeability.state(pull, mergeability.judge(pull, call.seen)).upper()


def _commits(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    repo = pull.repository
    commits = changes.commits(pull)
    return connection(
        [PullCommit(pull, CommitAt(repo, commit.sha)) for commit in commits], **arguments
    )


def _files(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    return connection(changes.files(pull), **arguments)


def _closing(_call: Call, pull: PullRequest, **arguments: Any) -> dict[str, Any]:
    """A page of the issues that the body says it closes; none if the base is not the default branch."""
    repo = pull.repository
    closes = pull.base == repo.default_branch
    return connection(closing.named(repo, pull.issue.body) if closes else [], **arguments)


STATES = ("OPEN", "MERGED", "CLOSED")


def _closed_by(call: Call, issue: Issue, **arguments: Any) -> dict[str, Any]:
    """A page of the pull requests that say they close an issue; by default only open ones.

    `includeClosedPrs` adds closed ones. `userLinkedOnly` finds none: nobody links a pull request by hand
    here. Source: https://docs.github.com/graphql/reference/objects#issue
    (`closedByPullRequestsReferences`)
    """
    with_closed, by_state = (
        arguments.pop("includeClosedPrs", False),
        arguments.pop("orderByState", False),
    )
    linked = [] if arguments.pop("userLinkedOnly", False) else linked_pulls(call, issue)
    shown = [pull for pull in linked if with_closed or pull.is_open]
    if by_state:
        shown.sort(key=lambda pull: STATES.index(pulls.state_of(pull)))
    return connection(shown, **arguments)


def _auto_merge(_call: Call, pull: PullRequest) -> dict[str, Any] | None:
    auto_merge = pull.auto_merge
    if auto_merge is None:
        return None
    return {
        "authorEmail": None,
        "commitHeadline": auto_merge.title,
        "commitBody": auto_merge.message,
        "enabledAt": stamp(auto_merge.enabled_at),
        "enabledBy": auto_merge.enabled_by,
        "mergeMethod": auto_merge.method.upper(),
        "pullRequest": pull,
    }


def _commit_page(call: Call, pull_commit: PullCommit) -> str:
    return f"{issue_page(call, pull_commit.pull.issue)}/commits/{pull_commit.commit.oid}"


def _change(_call: Call, file: FileChange) -> str:
    return {"removed": "DELETED"}.get(file.status, file.status.upper())


def _total_comments(call: Call, pull: PullRequest) -> int:
    from lifecycle.sandbox.pulls.reviews import threads

    return len(pull.issue.comments) + len(threads.comments_of(pull, call.viewer))


OWN: dict[str, Any] = {
    "permalink": lambda c, pull: issue_page(c, pull.issue),
    "state": lambda _, pull: pulls.state_of(pull),
    "isDraft": lambda _, pull: pull.draft,
    "merged": lambda _, pull: pull.merged_at is not None,
    "mergeCommit": lambda _, pull: commit_at(pull.repository, pull.merge_sha),
    "potentialMergeCommit": lambda _, pull: (
        commit_at(pull.repository, pull.test_merge_sha) if pull.is_open else None
    ),
    "mergeable": lambda c, pull: MERGEABLE[mergeability.judge(pull, c.seen)],
    "mergeStateStatus": _merge_state,
    "canBeRebased": lambda c, pull: bool(mergeability.judge(pull, c.seen)),
    "autoMergeRequest": _auto_merge,
    "headRefName": lambda _, pull: pull.head,
    "headRefOid": lambda _, pull: pull.head_sha,
    "headRef": lambda _, pull: branch_ref(pull.head_repository, pull.head),
    "headRepositoryOwner": lambda _, pull: pull.head_owner,
    "baseRefName": lambda _, pull: pull.base,
    "baseRefOid": lambda _, pull: pull.base_sha,
    "baseRef": lambda _, pull: branch_ref(pull.repository, pull.base),
    "baseRepository": lambda _, pull: pull.repository,
    "additions": lambda _, pull: changes.measure(pull).additions,
    "deletions": lambda _, pull: changes.measure(pull).deletions,
    "changedFiles": lambda _, pull: changes.measure(pull).files,
    "commits": _commits,
    "files": _files,
    "closingIssuesReferences": _closing,
    "statusCheckRollup": checks.rollup_of,
    "totalCommentsCount": _total_comments,
    "viewerCanUpdateBranch": lambda c, pull: bool(
        pull.is_open and pull.head_repository and pull.head_repository.can_push(c.viewer)
    ),
    "viewerCanEnableAutoMerge": lambda c, pull: (
        pull.repository.allow_auto_merge and pull.is_open and pull.repository.can_push(c.viewer)
    ),
    "viewerCanDisableAutoMerge": lambda c, pull: (
        pull.auto_merge is not None and pull.repository.can_push(c.viewer)
    ),
}
TYPES = {PullRequest: "PullRequest", PullCommit: "PullRequestCommit"}
PLAIN = {
    "PullRequest": "id databaseId fullDatabaseId mergedAt mergedBy headRepository isCrossRepository "
    f"maintainerCanModify {issues.SHARED_PLAIN}",
    "PullRequestCommit": "commit resourcePath",
    "PullRequestChangedFile": "path additions deletions",
    "AutoMergeRequest": "authorEmail commitHeadline commitBody enabledAt enabledBy mergeMethod "
    "pullRequest",
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Issue": {
        "closedByPullRequestsReferences(includeClosedPrs, orderByState, userLinkedOnly)": _closed_by,
    },
    "PullRequest": {**issues.shared(lambda pull: pull.issue), **OWN},
    "PullRequestCommit": {
        "id": lambda _, pull_commit: named_id("PRC", pull_commit.pull.id, pull_commit.commit.oid),
        "pullRequest": lambda _, pull_commit: pull_commit.pull,
        "url": _commit_page,
    },
    "PullRequestChangedFile": {"changeType": _change, "viewerViewedState": lambda *_: "UNVIEWED"},
}
