"""Sentences about a task that is released, and about one that a claim lost: by a sweep, or to another."""

from __future__ import annotations

from lifecycle.core.redact import named, unlinked


def forcing(task: int | str | None) -> str:
    """The command that takes a task although it is held, is not in Todo, or waits for other tasks."""
    return f"lifecycle takeover {task}"


def released_from_afar(issue: int | None) -> str:
    """The task's lease is gone: somebody else released the task, or closed it, or deleted the lease."""
    return (
        f"#{issue} was released or closed, or its lease was deleted, while this claim was quiet: this "
        "claim no longer writes anything; its branch and commits are kept. To continue it, run: "
        f"lifecycle claim {issue}; otherwise leave the task with: lifecycle release"
    )


def release_headline(agent: str, by: str, others: str, *, is_open: bool) -> str:
    """The first line of the comment on the issue when a task is released.

    `by`: who released it instead of the agent, or "". `others`: who stays assigned, or "". A closed issue
    is free for nobody, and an assigned one only for its assignees.
    """
    # Whoever pushes a lease, or edits a card, chooses the name.
    whose = unlinked(agent) or "an agent"
    who = f"{by}, in the place of {whose}" if by else whose
    free = f"it stays assigned to {others}" if others else "the task is free again"
    state = free if is_open else "the issue is closed"
    return f"Released by {who}; {state}, and nothing of the work was deleted."


def release_comment(headline: str, branch: str, progress: str, pull: str, reason: str) -> str:
    """The whole comment; `pull` is the sentence on the open PR, or ""."""
    name = branch.replace("`", "'")  # it would end the quotation
    work = f"Branch `{name}`: {progress}" if branch else progress[:1].upper() + progress[1:]
    return "\n".join(filter(None, (headline, work, pull, f"Reason: {reason}" if reason else "")))


def pull_stays_open(number: int, *, merges: bool = False) -> str:
    """The open pull request of a claim that ended; `merges`: it was queued, or auto-merge was on."""
    alone = ", and GitHub merges it by itself (merge queue or auto-merge) unless somebody stops that there"
    return f"PR #{number} stays open{alone if merges else ''}."


def released(issue: int | None, board: str, branch: str, pull: str = "", others: str = "") -> str:
    """The end of a claim that was released.

    `board` is the sentence about the board, `pull` the one about an open PR, `others` who stays assigned;
    each may be empty.
    """
    work = f"branch {branch}" if branch else "the work"
    kept = f"Nothing of {work} was deleted."
    parts = (f"Issue #{issue} released.", board, kept, pull, "The claim file was deleted.")
    sentence = " ".join(part for part in parts if part)
    stays = f"#{issue} stays assigned to {others}; anybody else takes it with: {forcing(issue)}"
    return f"{sentence} {stays}" if others else sentence


def releasing(issue: int | None) -> str:
    """A release that could not be finished yet."""
    return (
        f"#{issue} is being released; what was done is kept, and the next look does the rest. To "
        "look now: lifecycle tick"
    )


def taken_over(issue: int | None, agent: str) -> str:
    """The lease, or the card, names another agent instead of this claim's."""
    return (
        f"#{issue} was taken over by {named(agent)}: this claim no longer writes anything; its branch "
        "and commits are kept. Talk to them, or leave the task with: lifecycle release"
    )
