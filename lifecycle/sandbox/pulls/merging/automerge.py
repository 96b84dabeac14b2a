"""Auto-merge: a merge that happens by itself as soon as the base's rules allow it.

Source:
https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
"""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.merging import mergeability
from lifecycle.sandbox.pulls.state import AutoMerge, PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.rules import queue

NOT_ALLOWED = "Pull request Auto merge is not allowed for this repository"


def enable(pull: PullRequest, user: User, how: merging.How) -> None:
    """Enable auto-merge; if the base has a merge queue, the pull request will enter it.

    Raises:
        ActionRefused: In GitHub's words: the repository does not allow it, the head moved, or there is
            nothing to wait for ("Pull request is in clean status").

    Sources: https://github.com/peter-evans/enable-pull-request-automerge/issues/343 and /355
    """
    repo = pull.repository
    has_queue = rules.has_queue(repo, pull.base)
    if not repo.allow_auto_merge:
        raise ActionRefused(NOT_ALLOWED)
    if not pull.is_open:
        raise ActionRefused("Pull request is not in the correct state to enable auto-merge")
    if how.sha is not None and how.sha != pull.head_sha:
        raise ActionRefused(merging.HEAD_MOVED)
    if not has_queue and not merging.is_allowed(repo, how.method):
        raise ActionRefused(f"{merging.NAMES[how.method]} are not allowed on this repository.")
    state = mergeability.state(pull, mergeability.compute(pull))
    if state in {"draft", "clean", "unstable"} and not (has_queue and state != "draft"):
        raise ActionRefused(f"Pull request Pull request is in {state} status")
    if pull.auto_merge is None:
        issues.note(pull.issue, user, "auto_merge_enabled")
    pull.auto_merge = AutoMerge(user, now(), how.method, how.title, how.message)
    repo.touch()


def disable(pull: PullRequest, user: User, reason: str | None = None) -> None:
    """Disable auto-merge.

    Raises:
        ActionRefused: It is not enabled.
    """
    if pull.auto_merge is None:
        raise ActionRefused("Can't disable auto-merge for this pull request.")
    pull.auto_merge = None
    issues.note(pull.issue, user, "auto_merge_disabled", reason=reason)


def _run(repo: Repository) -> None:
    """Merge, or queue, the pull requests with auto-merge that can be merged now."""
    for pull in [
        candidate
        for candidate in PullTables.of(repo).pulls.values()
        if candidate.auto_merge and candidate.is_open
    ]:
        auto_merge = pull.auto_merge
        if auto_merge is None or not pull.is_open:
            continue
        if mergeability.state(pull, mergeability.compute(pull)) not in {"clean", "unstable"}:
            continue
        if rules.has_queue(repo, pull.base):
            pull.auto_merge = None
            queue.enter(pull, auto_merge.enabled_by)
            continue
        how = merging.How(auto_merge.method, auto_merge.title, auto_merge.message)
        if merging.refusal(pull, auto_merge.enabled_by, how) is None:
            merging.merge(pull, auto_merge.enabled_by, how)


def settle(world: World) -> None:
    """Run auto-merge and the merge queues of changed repositories, after a request is answered.

    On GitHub, auto-merge and the merge queue also act a moment later. Every change that could allow a merge
    calls `Repository.touch`; whoever answers a request calls this function once the answer is made.
    """
    turns = 0
    while world.unsettled and turns < 100:  # each turn merges or ejects something, or is the last
        turns += 1
        repo = world.unsettled.pop(0)
        _run(repo)
        queue.run(repo)
