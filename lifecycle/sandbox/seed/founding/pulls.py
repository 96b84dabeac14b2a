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
from lifecycle.sandbox.seed.references import account, account_or_none, grown, moment, registered


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
        head_repository=there,
        head_owner=_owner(repo, there, seed),
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
        writer, sha = account(repo.world, one.author), one.sha or pull.head_sha
        pull.reviews.append(
            registered(repo, "PRR", one.id, Review, one, pull=pull, author=writer, sha=sha)
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
        tables.queues[pull.base].sort(key=lambda one: (one.enqueued_at, one.id))


def _thread(repo: Repository, pull: PullRequest, seed: SeedThread) -> None:
    thread = registered(
        repo, "PRRT", seed.id, ReviewThread, seed, pull=pull, sha=seed.sha or pull.head_sha,
        comments=[], resolved_by=account_or_none(repo.world, seed.resolved_by),
    )  # fmt: skip
    for said in seed.comments:
        review = next((one for one in pull.reviews if one.id == said.review), None)
        before = next((one for one in thread.comments if one.id == said.reply_to), None)
        comment = registered(
            repo, "PRRC", said.id, ReviewComment, said, thread=thread, review=review,
            author=account(repo.world, said.author), reply_to=before,
        )  # fmt: skip
        thread.comments.append(comment)
    pull.threads.append(thread)
