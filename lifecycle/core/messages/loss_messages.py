"""Sentences about a task that a claim does not hold: given back from afar, or held by another."""

from __future__ import annotations


def forcing(task: int | str | None) -> str:
    """The command that takes a task although it is held, not in Todo, or waits for others."""
    return f"lifecycle takeover {task}"


def released_from_afar(issue: int | None) -> str:
    """The task was given back in the agent's place."""
    return (
        f"#{issue} was released while this claim was quiet, and anybody may take it: this claim writes "
        "nothing any more, and its branch and commits are kept. To go on with it, run: lifecycle claim "
        f"{issue}; otherwise delete .agent-claim.json."
    )


def released_to_hand_off(issue: int | None) -> str:
    """A hand-off of a task that this claim does not hold any more."""
    return (
        f"#{issue} is not held by this claim any more: it was released meanwhile, or its lease was "
        "deleted; nothing was pushed, and branch and commits are kept. To go on with it, run: lifecycle "
        f"claim {issue}; then hand off again."
    )


def released_before(issue: int | None) -> str:
    """A command that gives back what was given back already."""
    return (
        f"Issue #{issue} had been released before, so only the claim here was deleted; branch and work "
        "are kept."
    )
