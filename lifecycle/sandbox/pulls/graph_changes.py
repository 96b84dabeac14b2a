"""GraphQL's mutations of pull requests: open, edit, merge.

A refusal is an error at the mutation's path: FORBIDDEN if the viewer may not do it, else UNPROCESSABLE.
Sources: https://docs.github.com/graphql/reference/mutations and, for the words,
https://github.com/peter-evans/enable-pull-request-automerge/issues/343
"""

from __future__ import annotations

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
    mutation,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.pages import forbidden, no_permission

METHODS: dict[str | None, MergeMethod] = {
    None: "merge", "MERGE": "merge", "SQUASH": "squash", "REBASE": "rebase",
}  # fmt: skip


def demand(call: Call, repo: Repository, *, own: bool = False) -> None:
    """Refuse a token without the permission and, unless `own`, a viewer who may not write.

    Raises:
        Refusal: FORBIDDEN.
    """
    if not call.token.may("pull_requests:write"):
        raise forbidden(call.token)
    if not own and not repo.can_push(call.viewer):
        raise no_permission(call)


def pull_to_change(call: Call, global_id: str, *, by_author: bool = False) -> PullRequest:
    """The pull request of that id, for users who may write and, with `by_author`, for its author."""
    pull = meant(call, global_id, PullRequest)
    demand(call, pull.repository, own=by_author and pull.issue.author is call.viewer)
    return pull


@mutation("pullRequest", takes="body draft headRepositoryId maintainerCanModify")
def create_pull_request(call: Call, wanted: Given) -> Payload:
    repo = meant(call, wanted["repositoryId"], Repository)
    head_repo = None
    if wanted.get("headRepositoryId"):
        head_repo = meant(call, wanted["headRepositoryId"], Repository).full_name
    head, base = wanted["headRefName"], wanted["baseRefName"]
    source = pulls.head_repository(repo, head, head_repo)
    demand(call, source or repo)
    branch = head.rpartition(":")[2].removeprefix("refs/heads/")
    refs = source.git.refs() if source else {}
    if f"refs/heads/{branch}" not in refs:
        raise unprocessable(
            f"Head sha can't be blank, Base sha can't be blank, No commits between {base} and "
            f"{head}, Head ref must be a branch"
        )
    owner = head.rpartition(":")[0]
    pull = doing(
        lambda: pulls.open_pull(
            repo,
            call.viewer,
            title=wanted["title"],
            body=wanted.get("body"),
            head=f"{owner}:{branch}" if owner else branch,
            base=base.removeprefix("refs/heads/"),
            draft=bool(wanted.get("draft")),
            head_repo=head_repo,
            maintainer_can_modify=wanted.get("maintainerCanModify", True) is not False,
        )
    )
    return {"pullRequest": pull}


@mutation(
    "pullRequest actor",
    takes="assigneeIds baseRefName body labelIds maintainerCanModify milestoneId state title",
)
def update_pull_request(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"], by_author=True)
    issue, repo = pull.issue, pull.repository
    if wanted.get("title") is not None:
        issues.rename(issue, call.viewer, wanted["title"])
    if "body" in wanted:
        issues.rewrite(issue, call.viewer, wanted["body"])
    base = wanted.get("baseRefName")
    if base is not None:
        doing(lambda: pulls.set_base(pull, call.viewer, base))
    if wanted.get("maintainerCanModify") is not None:
        pull.maintainer_can_modify = wanted["maintainerCanModify"] and pull.is_cross_repository
    if wanted.get("labelIds") is not None:
        issue.labels = [meant(call, label_id, Label) for label_id in wanted["labelIds"]]
    if wanted.get("assigneeIds") is not None:
        people = [meant(call, user_id, User) for user_id in wanted["assigneeIds"]]
        issues.set_assignees(issue, people, call.viewer)
    if "milestoneId" in wanted:
        milestone_id = wanted["milestoneId"]
        milestone = meant(call, milestone_id, Milestone) if milestone_id else None
        issues.set_milestone(issue, milestone, call.viewer)
    if wanted.get("state") == "CLOSED":
        pulls.close(pull, call.viewer)
    elif wanted.get("state") == "OPEN" and not pull.is_open:
        doing(lambda: pulls.reopen(repo, pull, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("pullRequest")
def close_pull_request(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"], by_author=True)
    pulls.close(pull, call.viewer)
    return {"pullRequest": pull}


@mutation("pullRequest")
def reopen_pull_request(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"], by_author=True)
    if not pull.is_open:
        doing(lambda: pulls.reopen(pull.repository, pull, call.viewer))
    return {"pullRequest": pull}


def _how(wanted: Given) -> merging.How:
    return merging.How(
        METHODS[wanted.get("mergeMethod")],
        wanted.get("commitHeadline"),
        wanted.get("commitBody"),
        wanted.get("expectedHeadOid"),
    )


@mutation("pullRequest actor", takes="commitBody commitHeadline expectedHeadOid mergeMethod")
def merge_pull_request(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"])
    doing(lambda: merging.merge(pull, call.viewer, _how(wanted)))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("pullRequest")
def mark_pull_request_ready_for_review(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"], by_author=True)
    pulls.set_draft(pull, call.viewer, draft=False)
    return {"pullRequest": pull}


@mutation("pullRequest")
def convert_pull_request_to_draft(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"], by_author=True)
    pulls.set_draft(pull, call.viewer, draft=True)
    return {"pullRequest": pull}


@mutation("pullRequest actor", takes="commitBody commitHeadline expectedHeadOid mergeMethod")
def enable_pull_request_auto_merge(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"])
    doing(lambda: automerge.enable(pull, call.viewer, _how(wanted)))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("pullRequest actor")
def disable_pull_request_auto_merge(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"])
    doing(lambda: automerge.disable(pull, call.viewer))
    return {"pullRequest": pull, "actor": call.viewer}


@mutation("mergeQueueEntry", takes="expectedHeadOid jump")
def enqueue_pull_request(call: Call, wanted: Given) -> Payload:
    pull = pull_to_change(call, wanted["pullRequestId"])
    sha, jump = wanted.get("expectedHeadOid"), bool(wanted.get("jump"))
    entry = doing(lambda: queue.enqueue(pull, call.viewer, sha=sha, jump=jump))
    return {"mergeQueueEntry": entry}


@mutation("mergeQueueEntry")
def dequeue_pull_request(call: Call, wanted: Given) -> Payload:
    """Remove a pull request, given by its own id, from the merge queue."""
    pull = pull_to_change(call, wanted["id"])
    if pull.queue_entry is None:
        raise unprocessable(f"Failed to remove PR #{pull.number} from the merge queue")
    pulls.leave_queue(pull.queue_entry, call.viewer, "manual")
    return {"mergeQueueEntry": None}


@mutation("pullRequest", takes="expectedHeadOid")
def update_pull_request_branch(call: Call, wanted: Given) -> Payload:
    """Merge the base into the head branch."""
    pull = pull_to_change(call, wanted["pullRequestId"])
    doing(lambda: pulls.update_branch(pull, call.viewer, wanted.get("expectedHeadOid")))
    return {"pullRequest": pull}
