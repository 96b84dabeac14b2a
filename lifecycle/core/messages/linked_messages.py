"""Sentences about a task of another tracker that stands for the claim's issue; docstrings say when."""

from __future__ import annotations

from lifecycle.core.redact import named


def closing_reason(summary: str, number: int | None, url: str, override: str) -> str:
    """Why the linked task is closed: the summary and the pull request, or a person's override."""
    if override:
        return f"Closed without a merged pull request: {override}"
    pull = f"PR #{number} {url}".rstrip() if number else ""
    return f"{summary} ({pull})" if summary and pull else summary or pull or "Done."


def pending(task: str, issue: int, wanted: str) -> str:
    """A linked task that has still to be closed or released, after the claim ended."""
    unknown = f"A linked task of #{issue}, if there is one,"
    name = f"The linked task {task} of #{issue}" if task else unknown
    return f"{name} is still to be {wanted}: a later look does that; to do it now: lifecycle tick"


def held_by(task: str, by: str, *, goes_on: bool = True) -> str:
    """Somebody else has the linked task by now; `goes_on`: the claim continues."""
    who = named(by) if by else "somebody else"
    end = "; the claim continues" if goes_on else ""
    return f"The linked task {task} is now held by {who} and was left as it is{end}."


def gone(task: str, *, goes_on: bool = True) -> str:
    """The linked task does not exist any more."""
    end = "; the claim continues without it" if goes_on else ""
    return f"The linked task {task} no longer exists{end}."
