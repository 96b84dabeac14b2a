"""What a sweep finds: the table of kinds, and one finding."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Gate(StrEnum):
    """What has to be configured before a fix is applied; the value is the option's name."""

    NONE = ""
    CLOSE = "close"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of finding.

    Attributes:
        means: what is the case, as a sentence without a subject's number.
        fix: what repairs it, "" if it is left on purpose.
        gate: which setting allows the fix.
    """

    means: str
    fix: str
    gate: Gate = Gate.NONE


KINDS: dict[str, Kind] = {
    "merged-open": Kind(
        "The claim's pull request is merged, and the issue is open.",
        "The issue gets the closing comment and is closed, the card goes to Done, the lease ends.",
        Gate.CLOSE,
    ),
    "closed-on-board": Kind(
        "The issue is closed, and its card is not Done or still names an agent.",
        "The card goes to Done and names no agent.",
    ),
    "pull-closed": Kind(
        "The claim's pull request was closed without a merge, and the card stands in review.",
        "The card goes back to In Progress.",
    ),
    "status-drift": Kind(
        "The card's Status is behind what happened to the task.",
        "The card gets the Status that the task has.",
    ),
    "agent-drift": Kind(
        "The card names another agent than the lease, or none.",
        "The card names the agent that holds the lease.",
    ),
    "assigned-todo": Kind(
        "Somebody is assigned, and the card is still Todo.",
        "The card goes to In Progress.",
    ),
    "off-board": Kind(
        "The task is claimed, and its issue is not on the board.",
        "The issue is put on the board, with the Status that the task has.",
    ),
    "unlinked": Kind(
        "The claim's pull request does not mention the issue.",
        "A line that refers to the issue is added to the pull request's text.",
    ),
    "branch-without-pull": Kind(
        "The claim's branch is pushed and nobody works on it, and there is no pull request.",
        "A draft pull request is opened, so that the work can be seen.",
    ),
    "silent": Kind(
        "The claim shows no sign of life.",
        "The task is given back: comment, assignee, card to Todo, lease.",
        Gate.RELEASE,
    ),
    "lease-left": Kind(
        "The issue is closed, and its lease is still there.",
        "The lease ends.",
        Gate.RELEASE,
    ),
    "moved-by-hand": Kind(
        "Somebody set the card's Status after the last thing that happened to the task.",
        "",
    ),
    "unassigned": Kind(
        "An agent holds the lease, and its account is no longer among the assignees.",
        "",
    ),
}
"""Every kind of finding, in the order in which an issue's are listed; `fix` is what is done in general."""

STAYS = {
    "moved-by-hand": "It stays until something else happens to the task; put it where the task is, and it "
    "follows again.",
    "unassigned": "The lease still holds the task: assign the account again, or give the task back with "
    "lifecycle release in the agent's worktree.",
}
"""Why what somebody did on purpose is left, and the way out."""


class State(StrEnum):
    """What became of a finding."""

    APPLIED = "applied"
    PLANNED = "planned"
    """A dry run: it would be applied."""
    OFF = "off"
    """The fix closes or releases, and is not configured."""
    LEFT = "left"
    """Left by rule, or because the time or the limit was up; `problem` says which."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        kind: a key of KINDS.
        repository: `owner/name`.
        phase: the phase that GitHub shows, as the claim's table spells it.
        evidence: what was seen, as a sentence with numbers and names.
        fix: what repairs this very one, as `fixes.sentence` tells it; "" if it is left on purpose. Of
            one that was applied it is what was written.
        problem: why it was not applied, "" if it was, or if nothing but its gate speaks against it.
    """

    kind: str
    repository: str
    issue: int
    title: str
    url: str
    phase: str
    evidence: str
    fix: str
    state: State
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)
