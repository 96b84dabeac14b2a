"""What other systems see of the worktree's claim: a few facts, and nothing that could be written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

GITHUB = "github"
"""The name of the tracker whose tasks are GitHub's issues."""


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """One claim, as it lies there or as it was last accepted.

    Attributes:
        tasks: the claim's task as each tracker calls it that has it: name of the tracker to id.
        session: the client's session that the claim belongs to, or "".
        is_ours: no other session that lives holds it.
        is_begun: the task is worked on, or is being given back; no pull request is waited for.
        outcome: how the claim ended; "" while it lasts.
    """

    tasks: Mapping[str, str] = field(default_factory=dict)
    session: str = ""
    is_ours: bool = True
    is_begun: bool = True
    outcome: str = ""

    def task_in(self, tracker: str) -> str:
        """The claim's task as this tracker calls it; "" if the tracker does not have it."""
        return self.tasks.get(tracker, "")
