"""Merge a pull request, for the page, the API, auto-merge or the merge queue.

Source: https://docs.github.com/rest/pulls/pulls#merge-a-pull-request
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.git.store.merges import Merge
from lifecycle.sandbox.git.store.merges import merge as merged
from lifecycle.sandbox.git.store.repository import Signature
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import mergeability
from lifecycle.sandbox.pulls.state import MergeMethod, PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules

HEAD_MOVED = "Head branch was modified. Review and try the merge again."
BASE_MOVED = "Base branch was modified. Review and try the merge again."
OUT_OF_DATE = "Head branch is out of date. Review and try the merge again."
UNMERGEABLE = "Pull Request is not mergeable"
NAMES = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}


class MergeRefused(ActionRefused):
    """GitHub refuses to merge; `status` is REST's answer."""

    def __init__(self, message: str, status: int = 405) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class How:
    """How to merge: the method, the commit's texts, the expected head; None is GitHub's default."""

    method: MergeMethod = "merge"
    title: str | None = None
    message: str | None = None
    sha: str | None = None


def is_allowed(repo: Repository, method: MergeMethod) -> bool:
    """Whether a repository's settings allow a method."""
    return {
        "merge": repo.allow_merge_commit,
        "squash": repo.allow_squash_merge,
        "rebase": repo.allow_rebase_merge,
    }[method]


def refusal(pull: PullRequest, user: User, how: How) -> MergeRefused | None:
    """Why GitHub would not merge now, None if it would."""
    repo = pull.repository
    if not pull.is_open:
        return MergeRefused(UNMERGEABLE)
    if how.sha is not None and how.sha != pull.head_sha:
        return MergeRefused(HEAD_MOVED, 409)
    if pull.draft:
        return MergeRefused("Pull Request is still a draft")
    if not is_allowed(repo, how.method):
        return MergeRefused(f"{NAMES[how.method]} are not allowed on this repository.")
    if not mergeability.compute(pull):
        return MergeRefused(UNMERGEABLE)
    return _broken_rule(pull, user, how)


def _broken_rule(pull: PullRequest, user: User, how: How) -> MergeRefused | None:
    repo = pull.repository
    bound = [
        branch_rule
        for branch_rule in rules.of_branch(repo, pull.base)
        if rules.binds(repo, branch_rule, user)
    ]
    for missing in rules.unmet(pull):
        if missing.rule in bound:
            return MergeRefused(missing.message())
    for rule in bound:
        if rule.merge_queue:
            return MergeRefused(rules.Unmet(rule, (rules.QUEUE,)).message())
        if rule.linear_history and how.method == "merge":
            text = "This branch must not contain merge commits."
            return MergeRefused(rules.Unmet(rule, (text,)).message())
    if any(rule.strict for rule in bound) and rules.is_behind(pull):
        return MergeRefused(OUT_OF_DATE, 409)
    return None


def merge(pull: PullRequest, user: User, how: How, *, delete_branch: bool = False) -> str:
    """Merge, and return the base's new sha.

    Raises:
        MergeRefused: It is not open or a draft, it conflicts, a rule is not met, or a branch moved.
    """
    refused = refusal(pull, user, how)
    if refused is not None:
        raise refused
    repo = pull.repository
    ref = f"refs/heads/{pull.base}"
    base_sha = repo.git.refs().get(ref)
    if base_sha is None:
        raise MergeRefused(f"The base branch {pull.base!r} is gone, so nothing was merged.")
    try:
        sha = merged(repo.git, commit_of(pull, user, how, base_sha), how.method)
    except MergeRefused:
        raise
    except ActionRefused as refused_by_git:
        moved = repo.git.refs().get(ref) != base_sha
        raise MergeRefused(BASE_MOVED if moved else UNMERGEABLE) from refused_by_git
    complete(pull, user, base_sha, sha, delete_branch=delete_branch)
    return sha


def commit_of(pull: PullRequest, user: User, how: How, base_sha: str) -> Merge:
    """The commit for a merge or a squash, as a value.

    Source:
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/about-pull-request-merges
    """
    repo = pull.repository
    commit = Merge(
        base=pull.base,
        base_sha=base_sha,
        head_sha=pull.head_sha,
        title=default_title(pull, "merge"),
        message=pull.issue.title,
        author=signature(user),
        committer=Signature("GitHub", "noreply@github.com", now()),
    )
    if how.method == "squash":
        messages = repo.git.messages(base_sha, pull.head_sha)
        title, listed = pull.issue.title, "\n\n".join(f"* {message}" for message in messages)
        if len(messages) == 1:
            title, _, rest = messages[0].partition("\n")
            listed = rest.strip()
        commit = replace(
            commit,
            title=f"{title} (#{pull.number})",
            message=listed,
            author=signature(pull.issue.author),
        )
    title = commit.title if how.title is None else how.title
    return replace(
        commit, title=title, message=commit.message if how.message is None else how.message
    )


def default_title(pull: PullRequest, method: MergeMethod) -> str:
    """GitHub's default title of the commit for a merge or a squash."""
    if method == "merge":
        owner = pull.head_owner.login if pull.head_owner else "unknown repository"
        return f"Merge pull request #{pull.number} from {owner}/{pull.head}"
    return f"{pull.issue.title} (#{pull.number})"


def complete(
    pull: PullRequest, user: User, base_sha: str, sha: str, *, delete_branch: bool = False
) -> None:
    """Record a merge whose commit is in the base: close its issues; delete the branch if asked or set."""
    repo = pull.repository
    pull.base_sha = base_sha
    pulls.mark_merged(pull, user, sha)
    if delete_branch or repo.delete_branch_on_merge:
        delete_head(pull, user)
    pulls.refresh(repo, user)
    repo.touch()


def delete_head(pull: PullRequest, user: User) -> None:
    """Delete the branch of a merged pull request; open ones based on it get its base.

    Source:
    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-the-automatic-deletion-of-branches
    """
    source = pull.head_repository
    if source is None or not source.can_push(user):
        return
    ref = f"refs/heads/{pull.head}"
    sha = source.git.refs().get(ref)
    if sha is None or pull.head == source.default_branch:
        return
    for other in [
        candidate
        for candidate in PullTables.of(source).pulls.values()
        if candidate.is_open and candidate.base == pull.head
    ]:
        other.base = pull.base
        issues.note(other.issue, user, "automatic_base_change_succeeded")
    source.git.delete(ref, sha)
    issues.note(pull.issue, user, "head_ref_deleted")
