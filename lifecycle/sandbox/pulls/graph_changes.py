"""Mutations of pull requests: opening, editing, merging.

What GitHub will not do it says in an error of type UNPROCESSABLE at the mutation's path; who may not
gets FORBIDDEN. Sources: https://docs.github.com/graphql/reference/mutations and, for the words,
https://github.com/peter-evans/enable-pull-request-automerge/issues/343
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.state import Label, Milestone
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.pulls.state import MergeMethod, PullRequest
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import queue
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    doing,
    meant,
    mutations,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.pages import Refusal, forbidden

METHODS: dict[str | None, MergeMethod] = {
    None: "merge", "MERGE": "merge", "SQUASH": "squash", "REBASE": "rebase",
}  # fmt: skip


def demand(call: Call, repo: Repository, name: str, *, own: bool = False) -> None:
    """Refuse a token that lacks the permission, and who may not write (or, if `own`, is not meant).

    Raises:
        Refusal: FORBIDDEN.
    """
    if not call.token.may("pull_requests:write"):
        raise forbidden(call.token)
    if not own and not repo.can_push(call.viewer):
        message = f"{call.viewer.login} does not have the correct permissions to execute `{name}`"
        raise Refusal("FORBIDDEN", message)


def create(call: Call, given: Given) -> Payload:
    """`createPullRequest`."""
    repo = meant(call, given["repositoryId"], Repository)
    head_repo = None
    if given.get("headRepositoryId"):
        head_repo = meant(call, given["headRepositoryId"], Repository).full_name
    head, base = given["headRefName"], given["baseRefName"]
    there = pulls.head_repository(repo, head, head_repo)
    demand(call, there or repo, "CreatePullRequest")
    branch = head.rpartition(":")[2].removeprefix("refs/heads/")
    refs = there.git.refs() if there else {}
    if f"refs/heads/{branch}" not in refs:
        raise unprocessable(
            f"Head sha can't be blank, Base sha can't be blank, No commits between {base} and "
            f"{head}, Head ref must be a branch"
        )
    owner = head.rpartition(":")[0]
    made = doing(
        lambda: pulls.open_pull(
            repo,
            call.viewer,
            title=given["title"],
            body=given.get("body"),
            head=f"{owner}:{branch}" if owner else branch,
            base=base.removeprefix("refs/heads/"),
            draft=bool(given.get("draft")),
            head_repo=head_repo,
            maintainer_can_modify=given.get("maintainerCanModify", True) is not False,
        )
    )
    return {"pullRequest": made}


def update(call: Call, given: Given) -> Payload:
    """`updatePullRequest`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    issue, repo = pull.issue, pull.repository
    demand(call, repo, "UpdatePullRequest", own=issue.author is call.viewer)
    if given.get("title") is not None:
        issues.rename(issue, call.viewer, given["title"])
    if "body" in given:
        issues.rewrite(issue, call.viewer, given["body"])
    base = given.get("baseRefName")
    if base is not None:
        doing(lambda: pulls.set_base(pull, call.viewer, base))
    if given.get("maintainerCanModify") is not None:
        pull.maintainer_can_modify = given["maintainerCanModify"] and pull.is_cross_repository
    if given.get("labelIds") is not None:
        issue.labels = [meant(call, one, Label) for one in given["labelIds"]]
    if given.get("assigneeIds") is not None:
        people = [meant(call, one, User) for one in given["assigneeIds"]]
        issues.set_assignees(issue, people, call.viewer)
    if "milestoneId" in given:
        wanted = given["milestoneId"]
        found = meant(call, wanted, Milestone) if wanted else None
        issues.set_milestone(issue, found, call.viewer)
    if given.get("state") == "CLOSED":
        pulls.close(pull, call.viewer)
    elif given.get("state") == "OPEN" and not pull.is_open:
        doing(lambda: pulls.reopen(repo, pull, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


def close(call: Call, given: Given) -> Payload:
    """`closePullRequest`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "ClosePullRequest", own=pull.issue.author is call.viewer)
    pulls.close(pull, call.viewer)
    return {"pullRequest": pull}


def reopen(call: Call, given: Given) -> Payload:
    """`reopenPullRequest`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "ReopenPullRequest", own=pull.issue.author is call.viewer)
    if not pull.is_open:
        doing(lambda: pulls.reopen(pull.repository, pull, call.viewer))
    return {"pullRequest": pull}


def _how(given: Given) -> merging.How:
    return merging.How(
        METHODS[given.get("mergeMethod")],
        given.get("commitHeadline"),
        given.get("commitBody"),
        given.get("expectedHeadOid"),
    )


def merge(call: Call, given: Given) -> Payload:
    """`mergePullRequest`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "MergePullRequest")
    doing(lambda: merging.merge(pull, call.viewer, _how(given)))
    return {"pullRequest": pull, "actor": call.viewer}


def ready(call: Call, given: Given) -> Payload:
    """`markPullRequestReadyForReview`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    own = pull.issue.author is call.viewer
    demand(call, pull.repository, "MarkPullRequestReadyForReview", own=own)
    pulls.set_draft(pull, call.viewer, draft=False)
    return {"pullRequest": pull}


def draft(call: Call, given: Given) -> Payload:
    """`convertPullRequestToDraft`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    own = pull.issue.author is call.viewer
    demand(call, pull.repository, "ConvertPullRequestToDraft", own=own)
    pulls.set_draft(pull, call.viewer, draft=True)
    return {"pullRequest": pull}


def enable_auto_merge(call: Call, given: Given) -> Payload:
    """`enablePullRequestAutoMerge`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "EnablePullRequestAutoMerge")
    doing(lambda: automerge.enable(pull, call.viewer, _how(given)))
    return {"pullRequest": pull, "actor": call.viewer}


def disable_auto_merge(call: Call, given: Given) -> Payload:
    """`disablePullRequestAutoMerge`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "DisablePullRequestAutoMerge")
    doing(lambda: automerge.disable(pull, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


def enqueue(call: Call, given: Given) -> Payload:
    """`enqueuePullRequest`."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "EnqueuePullRequest")
    sha, jump = given.get("expectedHeadOid"), bool(given.get("jump"))
    entry = doing(lambda: queue.enqueue(pull, call.viewer, sha=sha, jump=jump))
    return {"mergeQueueEntry": entry}


def dequeue(call: Call, given: Given) -> Payload:
    """`dequeuePullRequest`, by the id of the pull request."""
    pull = meant(call, given["id"], PullRequest)
    demand(call, pull.repository, "DequeuePullRequest")
    if pull.queue_entry is None:
        raise unprocessable(f"Failed to remove PR #{pull.number} from the merge queue")
    queue.leave(pull.queue_entry, call.viewer, "dequeued")
    return {"mergeQueueEntry": None}


def update_branch(call: Call, given: Given) -> Payload:
    """`updatePullRequestBranch`, by a merge."""
    pull = meant(call, given["pullRequestId"], PullRequest)
    demand(call, pull.repository, "UpdatePullRequestBranch")
    doing(lambda: pulls.update_branch(pull, call.viewer, given.get("expectedHeadOid")))
    return {"pullRequest": pull}


MUTATIONS: dict[str, Callable[[Call, Given], Payload]] = {
    "createPullRequest": create,
    "updatePullRequest": update,
    "closePullRequest": close,
    "reopenPullRequest": reopen,
    "mergePullRequest": merge,
    "markPullRequestReadyForReview": ready,
    "convertPullRequestToDraft": draft,
    "enablePullRequestAutoMerge": enable_auto_merge,
    "disablePullRequestAutoMerge": disable_auto_merge,
    "enqueuePullRequest": enqueue,
    "dequeuePullRequest": dequeue,
    "updatePullRequestBranch": update_branch,
}


PULL = "pullRequest"
PLAIN = {
    "CreatePullRequestPayload": PULL,
    "UpdatePullRequestPayload": f"{PULL} actor",
    "ClosePullRequestPayload": PULL,
    "ReopenPullRequestPayload": PULL,
    "MergePullRequestPayload": f"{PULL} actor",
    "MarkPullRequestReadyForReviewPayload": PULL,
    "ConvertPullRequestToDraftPayload": PULL,
    "EnablePullRequestAutoMergePayload": f"{PULL} actor",
    "DisablePullRequestAutoMergePayload": f"{PULL} actor",
    "EnqueuePullRequestPayload": "mergeQueueEntry",
    "DequeuePullRequestPayload": "mergeQueueEntry",
    "UpdatePullRequestBranchPayload": PULL,
}
INPUTS = {
    "CreatePullRequestInput": "body draft headRepositoryId maintainerCanModify",
    "UpdatePullRequestInput": "assigneeIds baseRefName body labelIds maintainerCanModify "
    "milestoneId state title",
    "MergePullRequestInput": "commitBody commitHeadline expectedHeadOid mergeMethod",
    "EnablePullRequestAutoMergeInput": "commitBody commitHeadline expectedHeadOid mergeMethod",
    "EnqueuePullRequestInput": "expectedHeadOid jump",
    "UpdatePullRequestBranchInput": "expectedHeadOid",
}
RESOLVERS: dict[str, dict[str, Any]] = {"Mutation": mutations(MUTATIONS)}
