"""Whether a pull request can be merged, and what prevents it.

Sources: https://docs.github.com/rest/pulls/pulls#get-a-pull-request and
https://docs.github.com/graphql/reference/enums#mergestatestatus
"""

from __future__ import annotations

from typing import Literal

from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.pulls.state import PullRequest
from lifecycle.sandbox.rules import actions as rules

State = Literal["unknown", "dirty", "draft", "blocked", "behind", "unstable", "clean"]


def judge(pull: PullRequest, seen: set[object]) -> bool | None:
    """Whether it merges cleanly; None for the first request that asks about this head and base.

    GitHub begins to compute it at the first question, and answers null until it is done
    (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
    """
    if not pull.is_open:
        return pull.mergeable
    pair = _pair(pull)
    if pull.judged != pair:
        seen.add(("judged", *pair))
        pull.judged, pull.mergeable = pair, None
    if ("judged", *pair) in seen:
        return None
    return compute(pull)


def compute(pull: PullRequest) -> bool:
    """Whether it merges cleanly, computed now; if so, refs/pull/N/merge is a test merge."""
    pair = _pair(pull)
    if pull.judged == pair and pull.mergeable is not None:
        return pull.mergeable
    repo = pull.repository
    pull.judged = pair
    head, base = pair
    tree = repo.git.merged_tree(base, head)
    pull.mergeable = tree is not None
    if tree is not None:
        who = signature(pull.issue.author)
        message = f"Merge {head} into {base}"
        test_sha = objects.write_commit(
            repo.git, tree, [base, head], message, author=who, committer=who
        )
        repo.git.text("update-ref", f"refs/pull/{pull.number}/merge", test_sha)
        pull.test_merge_sha = test_sha
    return pull.mergeable


def _pair(pull: PullRequest) -> tuple[str, str]:
    base = pull.repository.heads.get(f"refs/heads/{pull.base}", pull.base_sha)
    return pull.head_sha, base


def state(pull: PullRequest, mergeable: bool | None) -> State:
    """What prevents a merge; `mergeable` is the result of `judge` or `compute`."""
    if mergeable is None or not pull.is_open:
        return "unknown"
    if not mergeable:
        return "dirty"
    if pull.draft:
        return "draft"
    if rules.unmet(pull):
        return "blocked"
    if rules.is_behind(pull):
        return "behind"
    verdict = checks.verdict(pull.repository, pull.head_sha)
    return "clean" if verdict in {None, "SUCCESS"} else "unstable"
