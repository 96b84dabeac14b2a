"""Frozen values of merging: what a base demands, the merge queue, and what of it a pull request met."""

from __future__ import annotations

from typing import Literal

from lifecycle.core.light_dataclass import dataclass

MergeMethod = Literal["merge", "squash", "rebase"]


@dataclass(frozen=True, slots=True)
class MergeDemands:
    """What a base branch demands beside checks, by classic protection and rulesets together.

    Attributes:
        approvals: how many approving reviews.
        code_owners: one of them by an owner of the code.
        last_push: one of them by somebody else than whoever pushed last.
        conversations: every conversation about the diff is resolved.
        others: further rules that can hold a merge back, in GitHub's words for their kinds. Whether a
            pull request keeps them is told nowhere.
    """

    approvals: int = 0
    code_owners: bool = False
    last_push: bool = False
    conversations: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A pull request's place in the merge queue.

    Attributes:
        state: as GraphQL's MergeQueueEntryState spells it.
        position: counted from 1, None if GitHub did not say.
        commit: what is tested for it, "" if nothing was made yet.
        has_checks: a check of that commit has registered; False also if GitHub did not say.
    """

    state: str
    position: int | None = None
    commit: str = ""
    has_checks: bool = False


@dataclass(frozen=True, slots=True)
class Ejection:
    """A pull request was taken out of the merge queue: when, and GitHub's word for why.

    `commit` is what was tested for it there, "" if GitHub did not say.
    """

    id: str
    at: float | None = None
    reason: str = ""
    commit: str = ""
