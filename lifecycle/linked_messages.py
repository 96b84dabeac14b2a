"""Sentences about a task of another tracker that stands for the claim's issue."""

from __future__ import annotations


def closing_reason(summary: str, number: int | None, url: str, override: str) -> str:
    """Why the linked task is closed: the summary and the pull request, or a person's word."""
    if override:
        return f"Closed without a merged pull request: {override}"
    pull = f"PR #{number} {url}".rstrip() if number else ""
    return f"{summary} ({pull})" if summary and pull else summary or pull or "Done."


def not_followed(why: str, issue: int | None) -> str:
    """The linked task could not be set, while the work goes on."""
    return f"The task that is linked to #{issue} did not follow; issue and PR go on. {why}"


def left_open(task: str, why: str) -> str:
    """The end of a closed claim whose linked task could not be closed."""
    return f"The linked task {task} is still open, to be closed by hand: {why}"


def left_claimed(task: str, why: str) -> str:
    """The end of a claim that was given back, and whose linked task could not be."""
    return f"The linked task {task} was not given back, to be freed by hand: {why}"


def held_by(task: str, by: str) -> str:
    """Somebody else has the linked task by now."""
    who = by or "somebody else"
    return (
        f"The linked task {task} is held by {who} now, so it is left as it is; the claim goes on."
    )


def gone(task: str) -> str:
    """The linked task is not there any more."""
    return f"The linked task {task} is not there any more; the claim goes on without it."


def not_asked(tracker: str, issue: int | None, why: str) -> str:
    """Whether there is a linked task could not be asked."""
    return (
        f"Whether a task of {tracker} is linked to #{issue} could not be read; the claim goes on without. "
        f"{why}"
    )


def other_tracker(task: str, tracker: str) -> str:
    """The settings name another tracker than the one that the link was made in."""
    return (
        f"{task} lies in {tracker}, which is not this worktree's tracker any more; it was left as it is. "
        "Correct tracker.use in .lifecycle.toml, or set the task by hand."
    )


def not_linked(task: str, base: str, example: str) -> str:
    """A task that is to be claimed as an issue, and names none."""
    return (
        f"{task} is linked to no issue of {base}, so nothing was claimed. Take it by itself with: "
        f"lifecycle tracker claim {task}; or link it first (external reference {example})."
    )


def closed_already(task: str, issue: int) -> str:
    """A linked task that is closed is not claimed through its id."""
    return (
        f"{task} is closed; nothing was claimed. Reopen it with: lifecycle tracker reopen {task}; or take "
        f"the issue alone with: lifecycle claim {issue}"
    )


def held_inside(task: str, issue: int, by: str) -> str:
    """Somebody else has the linked task: then the issue is theirs as well."""
    return (
        f"#{issue} is linked to {task}, which is held by {by or 'somebody else'}; nothing was claimed. "
        "Choose another task, or use --force to take the issue alone."
    )


def not_to_be_begun(task: str, issue: int, why: str) -> str:
    """The linked task may not be begun."""
    return (
        f"#{issue} is linked to {task}, which is not to be begun; nothing was claimed. {why} To take the "
        "issue all the same, use --force."
    )


def left_alone(task: str, why: str) -> str:
    """A forced claim, or one that goes on, leaves the linked task as it is."""
    return f"The linked task {task} was left as it is. {why}"


def claimed_later(task: str, why: str) -> str:
    """The linked task could not be claimed now, and will be."""
    return f"The linked task {task} is claimed at a later look. {why}"


def not_returned(task: str, why: str) -> str:
    """The linked task could not be given back after the issue was refused."""
    return f"The linked task {task} is given back at the next look. {why}"
