"""Sentences about the merge of an open pull request: what prevents it, and how it stands.

As in `messages`: what happened, what was kept, what to do next; none of them holds a secret.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.core.messages import figures
from lifecycle.core.redact import named, short
from lifecycle.core.values.model import MergeDemands, PullRequest

_NAME = 80


def readiness(pull: PullRequest, *, is_reported: bool) -> str:
    """What a pull request with green checks still needs before its merge, as a verb phrase.

    Source: https://docs.github.com/graphql/reference/enums#mergestatestatus

    Args:
        pull: an open pull request.
        is_reported: another notice has named something that has to be fixed first.
    """
    if is_reported:
        conflict = ["its conflict to be resolved"] if pull.mergeable == "CONFLICTING" else []
        due = ["the changes that a review asks for"] if pull.changes_due else []
        return f"waits for {' and '.join(conflict + due) or 'something that has to be fixed first'}"
    if pull.is_draft:
        return "is a draft, and cannot be merged before it is marked as ready on its page"
    if pull.queue is not None:
        place = f" (position {pull.queue.position})" if pull.queue.position else ""
        is_stuck = pull.queue.state == "UNMERGEABLE"
        stuck = ", and cannot be merged together with what is queued before it" if is_stuck else ""
        return f"is in the merge queue{place}{stuck}"
    waits = waits_for(pull)
    if pull.is_auto_merge:
        missing = f"; it waits for {waits}" if waits else ""
        return f"is merged by GitHub once all requirements are met (auto-merge){missing}"
    if waits:
        return f"waits for {waits}"
    if pull.merge_state == "BLOCKED":
        return _blocked(pull)
    if "UNKNOWN" in (pull.mergeable, pull.merge_state):
        return "is ready to merge, if GitHub finds no conflict"
    return "is ready to merge"


def waits_for(pull: PullRequest) -> str:
    """What the base's rules demand, apart from checks, and GitHub shows as missing; "" if nothing."""
    demands = pull.demands or MergeDemands()
    parts = []
    if pull.review_decision == "REVIEW_REQUIRED":
        parts.append(_reviews(demands))
    if pull.changes_requested and not pull.changes_due:
        parts.append("a review that was asked for")
    elif pull.review_decision == "CHANGES_REQUESTED":
        parts.append("the changes that a review asks for")
    open_count = pull.conversations.unresolved if pull.conversations is not None else 0
    if demands.conversations and open_count:
        parts.append(figures.count(open_count, "conversation"))
        parts[-1] += f" to be resolved, as {pull.base or 'its base'} demands"
    if pull.merge_state == "BEHIND":
        parts.append(f"the newest commits of {pull.base or 'its base'} to be merged into it")
    return " and ".join(parts)


def waiting(what: str, *, is_running: bool = False) -> str:
    """A pull request waits for something (and checks run meanwhile), as a verb phrase."""
    return f"waits for {what}" + ("; its checks still run" if is_running else "")


def conflicting(base: str) -> str:
    """The pull request conflicts with its base, as a verb phrase."""
    return f"conflicts with {base or 'its base'}"


def red() -> str:
    """A check did not pass, as a verb phrase."""
    return "has checks that failed"


def changes(authors: Sequence[str]) -> str:
    """Reviewers ask for changes, as a verb phrase."""
    by = f" by {', '.join(map(named, authors))}" if any(authors) else ""
    return f"has changes to be made that were requested{by} in a review"


def unresolved(open_count: int) -> str:
    """Conversations about the diff are open, as a verb phrase."""
    return f"has {figures.count(open_count, 'unresolved conversation')}"


def _reviews(demands: MergeDemands) -> str:
    """The missing approvals: GitHub says how many are required, but not how many of those given count."""
    count = demands.approvals
    many = f"approving reviews, {count} in all" if count > 1 else "an approving review"
    of = ["an owner of the code"] if demands.code_owners else []
    of += ["somebody else than who pushed last"] if demands.last_push else []
    return f"{many} (one by {' and one by '.join(of)})" if of else many


def _blocked(pull: PullRequest) -> str:
    """A verb phrase for a rule that GitHub does not show for each pull request: the possible reasons."""
    where = pull.base or "its base"
    if pull.checks is not None and pull.checks.missing:
        return waiting(f"checks that {where} demands and that have not reported")
    demands = pull.demands or MergeDemands()
    open_count = pull.conversations.unresolved if pull.conversations is not None else 0
    rules = [*demands.others]
    if demands.last_push:
        rules.append("an approval of the last push by somebody else")
    if demands.conversations and pull.conversations is None:
        rules.append("conversations that have to be resolved")
    if rules:
        return f"is still blocked by a rule of {where}; it demands {', '.join(map(named, rules))}"
    if open_count and pull.demands is None:
        return (
            f"is still blocked by a rule of {where}; {open_count} of its conversations are not resolved, "
            "which such a rule may demand"
        )
    return f"is still blocked by a rule of {where}, which its page names"


def standing(number: int, how: str) -> str:
    """The state of the merge now, if green checks were told before."""
    return f"PR #{number} {how}."


def thrown_out(reason: str) -> str:
    """The merge queue threw it out, as a verb phrase; `reason` is GitHub's word."""
    words = short(" ".join(reason.replace("_", " ").split()).lower(), _NAME)
    why = f" ({words})" if words else ""
    return f"was taken out of the merge queue without being merged{why}"


def still_out(reason: str) -> str:
    """It has not been queued again since it was thrown out, as a verb phrase."""
    return f"{thrown_out(reason)}; why: lifecycle feedback merge"
