"""Pull requests: what is theirs, and what they share with issues."""

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


def _commits(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    repo = pull.repository
    found = changes.commits(pull)
    return connection([PullCommit(pull, CommitAt(repo, one.sha)) for one in found], **given)


def _files(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    return connection(changes.files(pull), **given)


def _closing(_call: Call, pull: PullRequest, **given: Any) -> dict[str, Any]:
    """The issues that its body says it closes, where that would happen."""
    repo = pull.repository
    does = pull.base == repo.default_branch
    return connection(closing.named(repo, pull.issue.body) if does else [], **given)


STATES = ("OPEN", "MERGED", "CLOSED")


def _closed_by(call: Call, issue: Issue, **given: Any) -> dict[str, Any]:
    """The pull requests that say they close an issue: open ones, and if asked for all.

    Nobody links one by hand here.
    Source: https://docs.github.com/graphql/reference/objects#issue (`closedByPullRequestsReferences`)
    """
    too, by_state = given.pop("includeClosedPrs", False), given.pop("orderByState", False)
    found = [] if given.pop("userLinkedOnly", False) else linked_pulls(call, issue)
    shown = [one for one in found if too or one.is_open]
    if by_state:
        shown.sort(key=lambda one: STATES.index(pulls.state_of(one)))
    return connection(shown, **given)


def _auto_merge(_call: Call, pull: PullRequest) -> dict[str, Any] | None:
    wanted = pull.auto_merge
    if wanted is None:
        return None
    return {
        "authorEmail": None,
        "commitHeadline": wanted.title,
        "commitBody": wanted.message,
        "enabledAt": stamp(wanted.enabled_at),
        "enabledBy": wanted.enabled_by,
        "mergeMethod": wanted.method.upper(),
        "pullRequest": pull,
    }


def _commit_page(call: Call, one: PullCommit) -> str:
    return f"{issue_page(call, one.pull.issue)}/commits/{one.commit.oid}"


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
        "id": lambda _, one: named_id("PRC", one.pull.id, one.commit.oid),
        "pullRequest": lambda _, one: one.pull,
        "url": _commit_page,
    },
    "PullRequestChangedFile": {"changeType": _change, "viewerViewedState": lambda *_: "UNVIEWED"},
}
