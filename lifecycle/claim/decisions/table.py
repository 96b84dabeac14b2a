"""The claim's phases, and which may follow which.

Only the CLI is bound by the table: a phase that an agent wrote into the file by hand is judged
against GitHub (`derive.py`), whatever the phase before it was.
"""

from __future__ import annotations

from enum import StrEnum

from lifecycle.core.machine import Machine


class Phase(StrEnum):
    """The phase of a claim; the values are those of the claim file."""

    CODING = "coding"
    READY_FOR_PR = "ready_for_pr"
    PR_CREATED = "pr_created"
    CHECKS_RUNNING = "checks_running"
    MERGED_DETECTED = "merged_detected"
    PR_CLOSED = "pr_closed"
    DONE = "done"


PHASES = {str(phase.value): phase for phase in Phase}
"""Each phase by its word in the claim file, where somebody may have written an unknown word."""


_FROM_OPEN = {
    Phase.MERGED_DETECTED: "on-idle sees the merge",
    Phase.PR_CLOSED: "on-idle sees that the PR was closed without a merge",
    Phase.CODING: "back to work",
}
"""What may follow while a pull request is open."""

CLAIM: Machine[Phase] = Machine(
    name="claim",
    initial=Phase.CODING,
    table={
        Phase.CODING: {
            Phase.READY_FOR_PR: "the agent hands off with a summary",
            Phase.MERGED_DETECTED: "a look by a command sees the merge of the PR that was open",
        },
        Phase.READY_FOR_PR: {
            Phase.PR_CREATED: "on-stop opens the PR or adopts the open one",
            Phase.MERGED_DETECTED: "the pushed commits were merged already",
            Phase.PR_CLOSED: "the PR of the pushed commits was closed without a merge",
            Phase.CODING: "back to work",
        },
        Phase.PR_CREATED: {Phase.CHECKS_RUNNING: "on-idle polls the checks", **_FROM_OPEN},
        Phase.CHECKS_RUNNING: _FROM_OPEN,
        Phase.PR_CLOSED: {
            Phase.PR_CREATED: "the PR was reopened",
            Phase.MERGED_DETECTED: "on-idle sees the merge",
            Phase.READY_FOR_PR: "the agent hands off again",
            Phase.CODING: "back to work",
        },
        Phase.MERGED_DETECTED: {
            Phase.DONE: "the user confirms",
            Phase.READY_FOR_PR: "the agent hands off commits that the merge does not have",
            Phase.CODING: "more work is needed, in another PR",
        },
        Phase.DONE: {},
    },
)

IN_REVIEW = frozenset({Phase.PR_CREATED, Phase.CHECKS_RUNNING, Phase.PR_CLOSED})
"""Phases with a pull request that is not known to be merged: on-idle looks at it."""
