"""Sentences about a task of another tracker that stands for the claim's issue; docstrings say when."""

from __future__ import annotations

from lifecycle.core.messages.loss_messages import forcing
from lifecycle.core.redact import named


def closing_reason(summary: str, number: int | None, url: str, override: str) -> str:
    """Why the linked task is closed: the summary and the pull request, or a person's word."""
    if override:
        return f"Closed without a merged pull request: {override}"
    pull = f"PR #{number} {url}".rstrip() if number else ""
    return f"{summary} ({pull})" if summary and pull else summary or pull or "Done."


def left_open(task: str, why: str) -> str:
    """The end of a closed claim whose linked task could not be closed."""
    return f"The linked task {task} is still open; a later look closes it, or do it by hand. {why}"


def pending(task: str, issue: int, wanted: str) -> str:
    """A linked task that is still to be closed or released, after the claim ended."""
    name = (
        f"The linked task {task} of #{issue}"
        if task
        else f"A linked task of #{issue}, if there is one,"
    )
    return f"{name} is still to be {wanted}: a later look does it; now: lifecycle tick"


def closed_after_all(task: str, issue: int) -> str:
    """A linked task that could not be closed with its issue is closed now."""
    return f"The linked task {task} of #{issue} is closed now, too."


def given_up(task: str, wanted: str, why: str) -> str:
    """A linked task that could not be set for two weeks."""
    return f"The linked task {task} could not be {wanted} for two weeks; do it by hand. {why}"


def left_claimed(task: str, why: str) -> str:
    """The end of a claim that was released, and whose linked task could not be."""
    return (
        f"The linked task {task} was not released; a later look does it, or free it by hand. {why}"
    )


def held_by(task: str, by: str, *, goes_on: bool = True) -> str:
    """Somebody else has the linked task by now; of a claim that ends nothing goes on."""
    who = named(by) if by else "somebody else"
    end = "; the claim goes on" if goes_on else ""
    return f"The linked task {task} is held by {who} now and left as it is{end}."


def gone(task: str, *, goes_on: bool = True) -> str:
    """The linked task is not there any more."""
    end = "; the claim goes on without it" if goes_on else ""
    return f"The linked task {task} is not there any more{end}."


def closed_meanwhile(task: str) -> str:
    """Somebody closed the linked task while the claim lives."""
    return f"The linked task {task} was closed meanwhile and stays so; the claim goes on."


def not_asked(tracker: str, issue: int | None, why: str) -> str:
    """Whether there is a linked task could not be asked."""
    return (
        f"Whether a task of {tracker} is linked to #{issue} could not be read; the claim goes on without. "
        f"{why}"
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


def not_seen(task: str, issue: int) -> str:
    """A task that was named, and that a worktree of its own would not see."""
    return (
        f"{task} is in a tracker that a new worktree does not have, so nothing was claimed. Set "
        "tracker.use and tracker.folder for it in .lifecycle.toml; or take the issue alone with: "
        f"lifecycle claim {issue} --worktree"
    )


def held_inside(task: str, issue: int, by: str) -> str:
    """Somebody else has the linked task: then the issue is theirs as well."""
    who = named(by) if by else "somebody else"
    return (
        f"#{issue} is linked to {task}, which is held by {who}; nothing was claimed. "
        f"Choose another task, or if that agent is gone, take both over: {forcing(issue)}"
    )


def not_to_be_begun(task: str, issue: int, why: str) -> str:
    """The linked task may not be begun."""
    return (
        f"#{issue} is linked to {task}, which is not to be begun; nothing was claimed. {why} To take the "
        f"issue all the same: {forcing(issue)}"
    )


def left_alone(task: str, why: str) -> str:
    """A forced claim, or one that goes on, leaves the linked task as it is."""
    return f"The linked task {task} was left as it is. {why}"


def taken_over(task: str, by: str) -> str:
    """A forced claim has the linked task from somebody else."""
    return f"The linked task {task} was held by {named(by)}, and was taken over."


def also_linked(issue: int, task: str, others: list[str]) -> str:
    """Several tasks are linked to one issue, and only one of them goes with it."""
    return (
        f"#{issue} is linked to {', '.join(others)} as well, left as they are; only {task} is claimed and "
        "closed with it."
    )


def claimed_later(task: str, why: str) -> str:
    """The linked task could not be claimed now, and will be."""
    return f"The linked task {task} is claimed at a later look. {why}"


def not_returned(task: str, why: str) -> str:
    """The linked task could not be released after the issue was refused."""
    return f"The linked task {task} is released by a later look. {why}"
