"""Pull requests of a seed, with their reviews, threads and ways to a merge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.git.store.importing import NewCommit, NewRef
from lifecycle.sandbox.pulls.state import (
    AutoMerge,
    PullRequest,
    PullTables,
    QueueEntry,
    Review,
    ReviewComment,
    ReviewThread,
)
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.seed.form import SeedRepository
from lifecycle.sandbox.seed.form_content import SeedPull, SeedThread
from lifecycle.sandbox.seed.founding.issues import new_issue
from lifecycle.sandbox.seed.references import account, identity, moment


def refs(seed: SeedRepository, branches: Iterable[NewCommit | NewRef]) -> list[NewRef]:
    """What git calls the heads of its open pull requests, of those from branches of its own."""
    known = {one.ref for one in branches}
    return [
        NewRef(f"refs/pull/{pull.number}/head", f"refs/heads/{pull.head}")
        for pull in seed.pulls
        if _is_fresh(pull)
        and not (pull.head_repository or pull.head_owner)
        and f"refs/heads/{pull.head}" in known
    ]


def _is_fresh(seed: SeedPull) -> bool:
    return seed.state == "open" and seed.head_sha is None


def found(repo: Repository, seeds: Sequence[SeedPull]) -> None:
    """Make them all. One without commits of its own takes those of its branches.

    Raises:
        ActionRefused: A branch is not there.
    """
    made = [(_found(repo, seed), seed) for seed in seeds]
    fresh = [pull for pull, seed in made if _is_fresh(seed)]
    heads = {f"refs/pull/{pull.number}/head": pull.head_sha for pull in fresh}
    missing = {ref: sha for ref, sha in heads.items() if ref not in repo.heads} if heads else {}
    if missing:
        lines = [f"create {ref} {sha}\n" for ref, sha in missing.items()]
        repo.git.text("update-ref", "--stdin", stdin="".join(lines).encode())
    for pull in fresh:
        checks.announce(repo, pull.head_sha)


def _found(repo: Repository, seed: SeedPull) -> PullRequest:
    there = _there(repo, seed)
    base = seed.base or repo.default_branch
    base_sha = seed.base_sha or _tip(repo, base)
    head_sha = seed.head_sha or _tip(there or repo, seed.head)
    issue_number, issue_node = identity(repo, "I", seed.issue_id)
    issue = new_issue(repo, seed, issue_number, issue_node)
    issue.is_pull = True
    number, node = identity(repo, "PR", seed.id)
    pull = PullRequest(
        number,
        node,
        issue,
        seed.head,
        base,
        head_sha,
        base_sha,
        seed.draft,
        head_repository=there,
        head_owner=_owner(repo, there, seed),
        merged_at=moment(seed.merged_at) if seed.merged_at else None,
        merged_by=account(repo.world, seed.merged_by) if seed.merged_by else None,
        merge_sha=seed.merge_sha,
        requested_reviewers=[account(repo.world, login) for login in seed.requested_reviewers],
        maintainer_can_modify=seed.maintainer_can_modify,
        test_merge_sha=seed.test_merge_sha,
    )
    if seed.mergeable is not None:
        pull.mergeable, pull.judged = seed.mergeable, (head_sha, base_sha)
    PullTables.of(repo).pulls[pull.number] = pull
    repo.world.register(node, pull)
    _judged(repo, pull, seed)
    return pull


def _there(repo: Repository, seed: SeedPull) -> Repository | None:
    """Where its head is; somebody else's head without a repository is of a fork that is gone."""
    if seed.head_repository:
        found = repo.world.repository(seed.head_repository)
        if found is None:
            raise ActionRefused(f"there is no repository {seed.head_repository!r}.")
        return found
    is_ours = not seed.head_owner or seed.head_owner.lower() == repo.owner.login.lower()
    return repo if is_ours else None


def _owner(repo: Repository, there: Repository | None, seed: SeedPull) -> User | None:
    """Whose head it is: the fork's owner, who is known even when the fork is gone."""
    if seed.head_owner:
        return account(repo.world, seed.head_owner)
    return there.owner if there else None


def _tip(repo: Repository, branch: str) -> str:
    tip = repo.heads.get(f"refs/heads/{branch}")
    if tip is None:
        raise ActionRefused(f"there is no branch {branch!r} in {repo.full_name}.")
    return tip


def _judged(repo: Repository, pull: PullRequest, seed: SeedPull) -> None:
    """What people said of it, and what is to become of it."""
    tables = PullTables.of(repo)
    for one in seed.reviews:
        number, node = identity(repo, "PRR", one.id)
        review = Review(
            number, node, pull, account(repo.world, one.author), one.state, one.body,
            one.sha or pull.head_sha, moment(one.submitted_at),
        )  # fmt: skip
        pull.reviews.append(review)
        repo.world.register(node, review)
    for thread in seed.threads:
        _thread(repo, pull, thread)
    if seed.auto_merge:
        auto = seed.auto_merge
        pull.auto_merge = AutoMerge(
            account(repo.world, auto.enabled_by), moment(auto.enabled_at), auto.method,
            auto.title, auto.message,
        )  # fmt: skip
    if seed.queue_entry:
        entry = seed.queue_entry
        number, node = identity(repo, "MQE", entry.id)
        pull.queue_entry = QueueEntry(
            number, node, pull, account(repo.world, entry.enqueuer), moment(entry.enqueued_at),
            entry.state, entry.head_sha, entry.base_sha,
        )  # fmt: skip
        tables.queues.setdefault(pull.base, []).append(pull.queue_entry)
        tables.queues[pull.base].sort(key=lambda one: (one.enqueued_at, one.id))
        repo.world.register(node, pull.queue_entry)


def _thread(repo: Repository, pull: PullRequest, seed: SeedThread) -> None:
    number, node = identity(repo, "PRRT", seed.id)
    thread = ReviewThread(
        number, node, pull, seed.path, seed.line, seed.sha or pull.head_sha,
        seed.side, start_line=seed.start_line, start_side=seed.start_side,
        resolved_by=account(repo.world, seed.resolved_by) if seed.resolved_by else None,
        is_outdated=seed.is_outdated,
    )  # fmt: skip
    for said in seed.comments:
        number, node = identity(repo, "PRRC", said.id)
        review = next((one for one in pull.reviews if one.id == said.review), None)
        comment = ReviewComment(
            number, node, thread, review, account(repo.world, said.author), said.body,
            moment(said.created_at), moment(said.updated_at), said.diff_hunk,
        )  # fmt: skip
        comment.reply_to = next((one for one in thread.comments if one.id == said.reply_to), None)
        thread.comments.append(comment)
        repo.world.register(node, comment)
    pull.threads.append(thread)
    repo.world.register(thread.node_id, thread)
