"""Pull requests of a seed, with their reviews, threads, auto-merge and merge queue."""

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
from lifecycle.sandbox.seed.references import account, account_or_none, grown, moment, registered


def refs(seed: SeedRepository, branches: Iterable[NewCommit | NewRef]) -> list[NewRef]:
    """The refs `refs/pull/N/head` of a seed's open pull requests from branches of its own."""
    known = {branch.ref for branch in branches}
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
    """Make a seed's pull requests. Without `head_sha` or `base_sha`, the branch's commit is used.

    Raises:
        ActionRefused: A branch does not exist.
    """
    pairs = [(_found(repo, seed), seed) for seed in seeds]
    fresh = [pull for pull, seed in pairs if _is_fresh(seed)]
    heads = {f"refs/pull/{pull.number}/head": pull.head_sha for pull in fresh}
    missing = {ref: sha for ref, sha in heads.items() if ref not in repo.heads} if heads else {}
    if missing:
        lines = [f"create {ref} {sha}\n" for ref, sha in missing.items()]
        repo.git.text("update-ref", "--stdin", stdin="".join(lines).encode())
    for pull in fresh:
        checks.announce(repo, pull.head_sha)


def _found(repo: Repository, seed: SeedPull) -> PullRequest:
    head_repository = _there(repo, seed)
    base = seed.base or repo.default_branch
    base_sha = seed.base_sha or _tip(repo, base)
    head_sha = seed.head_sha or _tip(head_repository or repo, seed.head)
    issue = new_issue(repo, seed, seed.issue_id)
    issue.is_pull = True
    pull = registered(
        repo,
        "PR",
        seed.id,
        PullRequest,
        seed,
        issue=issue,
        base=base,
        base_sha=base_sha,
        head_sha=head_sha,
        head_repository=head_repository,
        head_owner=_owner(repo, head_repository, seed),
        merged_at=moment(seed.merged_at) if seed.merged_at else None,
        merged_by=account_or_none(repo.world, seed.merged_by),
        requested_reviewers=[account(repo.world, login) for login in seed.requested_reviewers],
        reviews=[],
        threads=[],
        auto_merge=None,
        queue_entry=None,
    )
    if seed.mergeable is not None:
        pull.judged = head_sha, base_sha
    PullTables.of(repo).pulls[pull.number] = pull
    _judged(repo, pull, seed)
    return pull


def _there(repo: Repository, seed: SeedPull) -> Repository | None:
    """The repository of a pull request's head; None if it was in a fork that is gone."""
    if seed.head_repository:
        repository = repo.world.repository(seed.head_repository)
        if repository is None:
            raise ActionRefused(f"there is no repository {seed.head_repository!r}.")
        return repository
    is_ours = not seed.head_owner or seed.head_owner.lower() == repo.owner.login.lower()
    return repo if is_ours else None


def _owner(repo: Repository, head_repository: Repository | None, seed: SeedPull) -> User | None:
    """The owner of a pull request's head; a fork's owner is known even if the fork is gone."""
    if seed.head_owner:
        return account(repo.world, seed.head_owner)
    return head_repository.owner if head_repository else None


def _tip(repo: Repository, branch: str) -> str:
    tip = repo.heads.get(f"refs/heads/{branch}")
    if tip is None:
        raise ActionRefused(f"there is no branch {branch!r} in {repo.full_name}.")
    return tip


def _judged(repo: Repository, pull: PullRequest, seed: SeedPull) -> None:
    """Add the reviews, threads, auto-merge and queue entry of a seed to a pull request."""
    tables = PullTables.of(repo)
    for review in seed.reviews:
        writer, sha = account(repo.world, review.author), review.sha or pull.head_sha
        pull.reviews.append(
            registered(repo, "PRR", review.id, Review, review, pull=pull, author=writer, sha=sha)
        )
    for thread in seed.threads:
        _thread(repo, pull, thread)
    if auto := seed.auto_merge:
        pull.auto_merge = grown(AutoMerge, auto, enabled_by=account(repo.world, auto.enabled_by))
    if entry := seed.queue_entry:
        who = account(repo.world, entry.enqueuer)
        queued = registered(repo, "MQE", entry.id, QueueEntry, entry, pull=pull, enqueuer=who)
        pull.queue_entry = queued
        tables.queues.setdefault(pull.base, []).append(queued)
        tables.queues[pull.base].sort(key=lambda place: (place.enqueued_at, place.id))


def _thread(repo: Repository, pull: PullRequest, seed: SeedThread) -> None:
    thread = registered(
        repo, "PRRT", seed.id, ReviewThread, seed, pull=pull, sha=seed.sha or pull.head_sha,
        comments=[], resolved_by=account_or_none(repo.world, seed.resolved_by),
    )  # fmt: skip
    for form in seed.comments:
        review = next((entry for entry in pull.reviews if entry.id == form.review), None)
        before = next((entry for entry in thread.comments if entry.id == form.reply_to), None)
        comment = registered(
            repo, "PRRC", form.id, ReviewComment, form, thread=thread, review=review,
            author=account(repo.world, form.author), reply_to=before,
        )  # fmt: skip
        thread.comments.append(comment)
    pull.threads.append(thread)
