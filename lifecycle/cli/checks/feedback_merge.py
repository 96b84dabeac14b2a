"""`lifecycle feedback merge`: what stands between a pull request and its merge, by name."""

from __future__ import annotations

from typing import Any

from lifecycle.cli.checks.feedback_show import own_pull
from lifecycle.cli.command_session import Session
from lifecycle.core.errors import NotFound
from lifecycle.core.messages import merge_messages
from lifecycle.core.redact import named
from lifecycle.core.values.checks import Bucket, Checks, Verdict
from lifecycle.core.values.model import Look, PullRequest, PullState

SECONDS = 60.0
"""How long git may look for what is in conflict."""


def merge(session: Session, *, pull: int | None) -> int:
    """Print what stands between PR and its merge: rules, checks, a conflict, its place in the queue.

    Of a conflict the files are told, both sides' commits and the commands that solve it; of a PR that the
    merge queue threw out, what failed on the queue's own commit. Without PR as for show.
    """
    session.world.refuse_tracked()
    found = _found(session, pull or own_pull(session))
    lines = [*standing_of(found), *_more(session, found)]
    data: dict[str, Any] = {
        "pull": found.number,
        "head": found.head_sha,
        "merge_state": found.merge_state,
        "mergeable": found.mergeable,
        "queue": found.queue and {"state": found.queue.state, "position": found.queue.position},
        "auto_merge": found.is_auto_merge,
        "lines": lines,
    }
    session.show(lines, data)
    return 0


def _found(session: Session, number: int) -> PullRequest:
    asked = Look(issue=number, branch="", pr_number=number, checks=True, reviews=True)
    pull_request = session.world.forge.observe(asked).by_number
    if pull_request is None:
        raise NotFound(f"GitHub shows no pull request #{number} here, so nothing was read.")
    return pull_request


def standing_of(found: PullRequest) -> list[str]:
    """What keeps it from its merge, or that nothing does: neither a rule nor what is red or asked for."""
    number, checks = found.number, found.checks or Checks(found.head_sha)
    if found.state is not PullState.OPEN:
        return [f"PR #{number} is {found.state.lower()}."]
    lines = []
    if found.changes_requested:
        authors = ", ".join(named(review.author) for review in found.changes_requested)
        lines.append(f"Changes are requested on PR #{number} by {authors}.")
    if checks.verdict is not Verdict.GREEN:
        lines.append(_not_green(number, checks))
    if found.mergeable == "CONFLICTING":
        return [merge_messages.conflicts(number, found.base), *lines]
    how = merge_messages.readiness(found, is_reported=False)
    is_ready = how.startswith("is ready")
    return lines if is_ready and lines else [merge_messages.standing(number, how), *lines]


def _not_green(number: int, checks: Checks) -> str:
    bad = [*(one.name for one in checks.failed), *checks.missing]
    running = [one.name for one in checks.runs if one.bucket is Bucket.PENDING]
    if running and not bad:
        return f"Checks of PR #{number} still run: {', '.join(running)}."
    names = ", ".join(bad) or ("" if checks.runs else "none has registered yet")
    return f"The checks of PR #{number} are not green{names and f': {names}'}."


def _more(session: Session, found: PullRequest) -> list[str]:
    if found.mergeable == "CONFLICTING":
        from lifecycle.feedback.merging import conflict, conflict_text

        shown = conflict.fetch(
            session.world, found.number, found.head_sha, found.base, SECONDS
        ).found
        return conflict_text.lines_of(shown)
    left = found.ejection
    if left is None or found.queue is not None:
        return []
    from lifecycle.feedback.checks.fetching import fetch
    from lifecycle.feedback.checks.packet_text import lines_of

    group = left.commit or session.world.reports.queue_commit(found.number)
    return lines_of(fetch(session.world, found.number, group=group).packet) if group else []
