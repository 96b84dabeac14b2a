"""Change pull requests: open, edit, follow pushes, close, reopen.

There is at most one open pull request for a head and base, decided under the world's lock. While a pull
request is open, its head's sha follows the branch, which may be in a fork; it stays if the branch is
deleted.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused, ApiError, invalid
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.checks import actions as checks_
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.git.store.objects import write_commit
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls import closing
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.state import PullRequest, PullTables, QueueEntry
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules

LONGEST = {"title": 256, "body": 65_536}


def head_repository(repo: Repository, head: str, name: str | None = None) -> Repository | None:
    """The repository of a head (`branch` or `owner:branch`): `repo` or another of its network.

    `name` selects one of several with the same owner. None if the owner has no repository of this network.
    """
    owner, _, _ = head.rpartition(":")
    if name is None and (not owner or owner.lower() == repo.owner.login.lower()):
        return repo
    for candidate in _network(repo):
        is_owners = not owner or candidate.owner.login.lower() == owner.lower()
        if is_owners and (name is None or name.lower() in {candidate.name.lower(), candidate.key}):
            return candidate
    return None


def _network(repo: Repository) -> Iterator[Repository]:
    """A repository, its ancestors by forks, and all their forks."""
    root = repo
    while root.parent is not None:
        root = root.parent
    queue = [root]
    while queue:
        member = queue.pop(0)
        yield member
        queue.extend(member.forks)


def open_pull(
    repo: Repository,
    user: User,
    *,
    title: str,
    body: str | None,
    head: str,
    base: str,
    draft: bool = False,
    head_repo: str | None = None,
    maintainer_can_modify: bool = True,
) -> PullRequest:
    """Open a pull request, as POST /repos/O/R/pulls does.

    Raises:
        ApiError: 422, in GitHub's words: no such head or base, no commits between them, or an open one
            exists already.
    """
    tables = PullTables.of(repo)
    branch = head.rpartition(":")[2]
    source = head_repository(repo, head, head_repo)
    base_sha = repo.git.refs().get(f"refs/heads/{base}")
    if base_sha is None:
        raise _wrong("base")
    head_sha = source.git.refs().get(f"refs/heads/{branch}") if source else None
    if source is None or head_sha is None:
        raise _wrong("head")
    for field, text in (("title", title), ("body", body or "")):
        if len(text) > LONGEST[field]:
            raise _custom(f"{field} is too long (maximum is {LONGEST[field]} characters)")
    if open_between(repo, source, branch, base):
        raise _custom(f"A pull request already exists for {source.owner.login}:{branch}.")
    _bring(repo, source, head_sha)
    if repo.git.merge_base(base_sha, head_sha) is None:
        raise _custom(f"The {branch} branch has no history in common with {base}")
    if not repo.git.commits(base_sha, head_sha):
        raise _custom(f"No commits between {base} and {head if source is not repo else branch}")
    issue = issues.new_issue(repo, user, title, body, is_pull=True)
    number, node = repo.new_id("PR")
    pull = PullRequest(
        number, node, issue, branch, base, head_sha, base_sha, draft,
        head_repository=source, head_owner=source.owner,
        maintainer_can_modify=maintainer_can_modify and source is not repo,
    )  # fmt: skip
    tables.pulls[pull.number] = pull
    repo.world.register(node, pull)
    repo.git.update(f"refs/pull/{pull.number}/head", head_sha, None)
    tables.pulls_by_head[head_sha] = pull
    checks_.announce(repo, head_sha)
    return pull


def _bring(repo: Repository, source: Repository, sha: str) -> None:
    """Fetch a commit from the head's repository into the base's."""
    if source is not repo:
        repo.git.text("fetch", "--quiet", "--no-tags", str(source.git.path), sha)


def _wrong(field: str) -> ApiError:
    return invalid({"resource": "PullRequest", "field": field, "code": "invalid"})


def _custom(message: str) -> ApiError:
    return invalid({"resource": "PullRequest", "code": "custom", "message": message})


def open_between(
    repo: Repository, source: Repository | None, head: str, base: str
) -> PullRequest | None:
    """The open pull request from a repository's branch `head` into `base`, or None."""
    for pull in PullTables.of(repo).pulls.values():
        is_between = (pull.head, pull.base) == (head, base) and pull.head_repository is source
        if is_between and pull.is_open:
            return pull
    return None


def refresh(repo: Repository, user: User) -> None:
    """Update the world from a repository's branches, after a push or a merge.

    Heads of open pull requests move, including those from a fork's branch in another repository; a pull
    request whose branch or base is gone closes; one whose commits the base now contains counts as merged;
    commit messages that reach the default branch close issues. `user`, who pushed, is the author of all
    these changes.
    """
    refs = repo.git.refs()
    before, repo.heads = repo.heads, refs
    arrived = _Arrived(repo, before, refs)
    for base_repo in _network(repo):
        for pull in [p for p in PullTables.of(base_repo).pulls.values() if p.is_open]:
            if pull.head_repository is repo:
                _meet(pull, refs.get(f"refs/heads/{pull.head}"), user, arrived)
            elif base_repo is repo and arrived.has(pull.base, pull.head_sha):
                mark_merged(pull, user, refs[f"refs/heads/{pull.base}"])
            base = f"refs/heads/{pull.base}"
            if base_repo is repo and base in before and base not in refs:
                close(pull, user)
    ref = f"refs/heads/{repo.default_branch}"
    old, new = before.get(ref), refs.get(ref)
    if old and new and old != new:
        for message in repo.git.messages(old, new):
            closing.close_named(repo, message, user, commit=new)
    if refs != before:
        repo.pushed_at = now()
        repo.touch()


class _Arrived:
    """The commits that each branch has got since the last update of the world."""

    def __init__(self, repo: Repository, before: dict[str, str], refs: dict[str, str]) -> None:
        self.repo, self.before, self.refs = repo, before, refs
        self.known: dict[str, frozenset[str]] = {}

    def has(self, branch: str, sha: str) -> bool:
        """Whether a branch contains a commit that it did not contain before."""
        if branch not in self.known:
            ref = f"refs/heads/{branch}"
            old, new = self.before.get(ref), self.refs.get(ref)
            moved = old and new and old != new
            self.known[branch] = frozenset(
                self.repo.git.commits(old, new) if old and new and moved else ()
            )
        return sha in self.known[branch]


def _meet(pull: PullRequest, head: str | None, user: User, arrived: _Arrived) -> None:
    """Update an open pull request after a push: follow the head, mark it merged, or close it."""
    repo = pull.repository
    is_here = arrived.repo is repo
    if is_here and arrived.has(pull.base, head or pull.head_sha):
        if head is not None:
            follow(pull, head, user)
        mark_merged(pull, user, arrived.refs[f"refs/heads/{pull.base}"])
    elif head is not None:
        follow(pull, head, user)
    elif f"refs/heads/{pull.head}" in arrived.before:  # a seed may name branches that git lacks
        close(pull, user)


def follow(pull: PullRequest, head: str, user: User) -> None:
    """Move the head of a pull request to another commit, with all consequences of a push."""
    if head == pull.head_sha:
        return
    repo, source = pull.repository, pull.head_repository
    if source is not None:
        _bring(repo, source, head)
    forced = not repo.git.is_ancestor(pull.head_sha, head)
    repo.git.text("update-ref", f"refs/pull/{pull.number}/head", head)
    if forced:
        issues.note(pull.issue, user, "head_ref_force_pushed", commit=head, before=pull.head_sha)
    pull.head_sha = head
    pull.issue.updated_at = now()
    PullTables.of(repo).pulls_by_head[head] = pull
    threads.outdate(pull)
    if any(rule.dismiss_stale for rule in rules.of_branch(repo, pull.base)):
        reviews.dismiss_approvals(pull, user)
    if not repo.can_push(user):
        _end_auto_merge(pull, user, "head pushed without access")
    checks_.announce(repo, head)
    repo.touch()


def remove_branch(repo: Repository, branch: str) -> None:
    """Delete a branch.

    Raises:
        ActionRefused: There is none of that name, or it is the default branch.
    """
    ref = f"refs/heads/{branch}"
    sha = repo.git.refs().get(ref)
    if sha is None:
        raise ActionRefused(f"There is no branch {branch!r}; nothing was deleted.")
    if branch == repo.default_branch:
        raise ActionRefused("The default branch cannot be deleted.")
    repo.git.delete(ref, sha)


def close(pull: PullRequest, user: User) -> None:
    """Close a pull request unmerged, and end its auto-merge; a closed one stays as it is."""
    if not pull.is_open:
        return
    issues.close(pull.issue, user, None)
    _end_auto_merge(pull, user, "pull request closed")
    pull.repository.touch()


def _end_auto_merge(pull: PullRequest, user: User, reason: str) -> None:
    """Switch auto-merge off, if it is on.

    Sources: https://github.com/reitermarkus/automerge/issues/1525 (closed ones and drafts),
    https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
    (a push, or another base, by somebody without write access)
    """
    if pull.auto_merge is not None:
        pull.auto_merge = None
        issues.note(pull.issue, user, "auto_merge_disabled", reason=reason)


def mark_merged(pull: PullRequest, user: User, sha: str) -> None:
    """Record a pull request as merged at `sha`; in the default branch, its text closes issues."""
    repo = pull.repository
    issues.note(pull.issue, user, "merged", commit=sha)
    issues.close(pull.issue, user, None)
    pull.merged_at, pull.merged_by, pull.merge_sha = now(), user, sha
    pull.mergeable = pull.auto_merge = None
    if pull.base == repo.default_branch:
        closing.close_named(repo, pull.issue.body, user, closer=pull.issue)


def reopen(repo: Repository, pull: PullRequest, user: User | None = None) -> None:
    """Open a closed pull request again, with the branch's present head.

    Raises:
        ActionRefused: It is merged, its branch or base is gone, or another one is open for the branch.
    """
    if pull.merged_at:
        raise ActionRefused(f"Pull request {pull.number} is merged and cannot be reopened.")
    source = pull.head_repository
    head = source.git.refs().get(f"refs/heads/{pull.head}") if source else None
    if head is None:
        raise ActionRefused(f"The branch of pull request {pull.number} is gone: not reopened.")
    if f"refs/heads/{pull.base}" not in repo.git.refs():
        raise ActionRefused(f"The base of pull request {pull.number} is gone: not reopened.")
    if open_between(repo, source, pull.head, pull.base):
        raise ActionRefused(f"Another pull request is open for {pull.head!r}: not reopened.")
    issues.reopen(pull.issue, user)
    follow(pull, head, user or pull.issue.author)


def set_draft(pull: PullRequest, user: User, *, draft: bool) -> None:
    """Make a pull request a draft, or ready for review."""
    if pull.draft != draft:
        pull.draft = draft
        if draft:
            _end_auto_merge(pull, user, "pull request converted to draft")
        issues.note(pull.issue, user, "convert_to_draft" if draft else "ready_for_review")
        pull.repository.touch()


def set_base(pull: PullRequest, user: User, base: str) -> None:
    """Set another base branch.

    Raises:
        ApiError: 422: there is no such branch, or nothing between it and the head.
    """
    repo = pull.repository
    sha = repo.git.refs().get(f"refs/heads/{base}")
    error = {"resource": "PullRequest", "field": "base"}
    if sha is None:
        message = f"Proposed base branch '{base}' was not found"
        raise invalid({**error, "code": "invalid", "message": message})
    if base == pull.base:
        return
    if not repo.git.commits(sha, pull.head_sha):
        message = (
            f"There are no new commits between base branch '{base}' and head branch '{pull.head}'"
        )
        raise invalid({**error, "code": "invalid", "message": message})
    if open_between(repo, pull.head_repository, pull.head, base):
        message = (
            f"A pull request already exists for base branch '{base}' and head branch '{pull.head}'"
        )
        raise invalid({**error, "code": "invalid", "message": message})
    if pull.queue_entry is not None:
        leave_queue(pull.queue_entry, user, "dequeued")  # the queue is that of the former base
    pull.base, pull.base_sha = base, sha
    if not repo.can_push(user):
        _end_auto_merge(pull, user, "base changed without access")
    issues.note(pull.issue, user, "base_ref_changed")
    repo.touch()


def update_branch(pull: PullRequest, user: User, expected: str | None) -> None:
    """Merge the base into the head branch.

    Raises:
        ApiError: 422: the head is a different one, there is nothing new, they conflict, or it is queued.
    """
    repo, source = pull.repository, pull.head_repository
    if pull.queue_entry is not None:
        raise invalid(message=rules.QUEUED)
    if expected is not None and expected != pull.head_sha:
        message = "expected head sha didn’t match current head ref."  # noqa: RUF001  GitHub's apostrophe
        raise invalid(message=message)
    base = repo.git.refs().get(f"refs/heads/{pull.base}", pull.base_sha)
    if repo.git.is_ancestor(base, pull.head_sha):
        raise invalid(message="There are no new commits on the base branch.")
    tree = repo.git.merged_tree(base, pull.head_sha)
    if tree is None or source is None:
        raise invalid(message="merge conflict between base and head")
    who = signature(user)
    message = f"Merge branch '{pull.base}' into {pull.head}"
    merge_sha = write_commit(
        repo.git, tree, [pull.head_sha, base], f"{message}\n", author=who, committer=who
    )
    if source is not repo:
        repo.git.text("update-ref", "refs/sandbox/update", merge_sha)
        source.git.text("fetch", "--quiet", "--no-tags", str(repo.git.path), merge_sha)
        repo.git.text("update-ref", "-d", "refs/sandbox/update")
    source.git.update(f"refs/heads/{pull.head}", merge_sha, pull.head_sha)
    refresh(source, user)


def state_of(pull: PullRequest) -> str:
    """`OPEN`, `CLOSED` or `MERGED`, as in GraphQL."""
    return "MERGED" if pull.merged_at else pull.issue.state.upper()


def leave_queue(entry: QueueEntry, user: User, reason: str) -> None:
    """Remove an entry from the merge queue; those after it are tested again."""
    pull, repo = entry.pull, entry.pull.repository
    PullTables.of(repo).queues[pull.base].remove(entry)
    repo.world.forget(entry.node_id)
    pull.queue_entry = None
    drop_queue_branch(repo, entry)
    issues.note(pull.issue, user, "removed_from_merge_queue", reason=reason, tested=entry.head_sha)
    repo.touch()


def queue_ref(entry: QueueEntry) -> str:
    """The branch of an entry's commit."""
    pull = entry.pull
    return f"refs/heads/gh-readonly-queue/{pull.base}/pr-{pull.number}-{entry.base_sha}"


def drop_queue_branch(repo: Repository, entry: QueueEntry) -> None:
    """Delete the branch of an entry's commit."""
    if entry.head_sha is not None:
        repo.git.text("update-ref", "-d", queue_ref(entry))
