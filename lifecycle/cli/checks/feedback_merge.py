"""`lifecycle feedback merge`: what stands between a pull request and its merge, by name."""

from __future__ import annotations

from typing import Any

from lifecycle.claim.decisions.pull import merge_standing
from lifecycle.cli.checks.feedback import own_pull
from lifecycle.cli.command_session import Session
from lifecycle.core.errors import NotFound
from lifecycle.core.messages import merge_messages
from lifecycle.core.redact import named
from lifecycle.core.values.checks import Bucket, Checks, Verdict
from lifecycle.core.values.model import Look, PullRequest, PullState

SECONDS = 60.0
"""How long git may take to find the files in conflict."""


def merge(session: Session, *, pull: int | None) -> int:
    """Print what stands between PR and its merge: rules, checks, a conflict, its place in the queue.

    Of a conflict the files are told, both sides' commits and the commands that solve it; of a PR that the
    merge queue threw out, what failed on the queue's own commit. Without PR as for show.
    """
    session.world.refuse_tracked()
    pull_request = _found(session, pull or own_pull(session))
    lines = [*standing_of(pull_request), *_more(session, pull_request)]
    data: dict[str, Any] = {
        "pull": pull_request.number,
        "head": pull_request.head_sha,
        "merge_state": pull_request.merge_state,
        "mergeable": pull_request.mergeable,
        "queue": pull_request.queue
        and {"state": pull_request.queue.state, "position": pull_request.queue.position},
        "auto_merge": pull_request.is_auto_merge,
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


def standing_of(pull_request: PullRequest) -> list[str]:
    """Sentences on what keeps a pull request from its merge: reviews, checks, rules, a conflict."""
    number, checks = pull_request.number, pull_request.checks or Checks(pull_request.head_sha)
    if pull_request.state is not PullState.OPEN:
        return [f"PR #{number} is {pull_request.state.lower()}."]
    lines = []
    if pull_request.changes_due:
        authors = ", ".join(named(review.author) for review in pull_request.changes_due)
        lines.append(f"Changes are requested on PR #{number} by {authors}.")
    if checks.verdict is not Verdict.GREEN:
        lines.append(_not_green(number, checks))
    if pull_request.mergeable == "CONFLICTING":
        return [merge_messages.conflicts(number, pull_request.base), *lines]
    ejection = merge_standing.ejection_of(pull_request)
    how = merge_messages.readiness(pull_request, is_reported=False)
    how = how if ejection is None else merge_messages.thrown_out(ejection.reason)
    is_ready = how.startswith("is ready")
    return lines if is_ready and lines else [merge_messages.standing(number, how), *lines]


def _not_green(number: int, checks: Checks) -> str:
    bad = [*(run.name for run in checks.failed), *checks.missing]
    running = [run.name for run in checks.runs if run.bucket is Bucket.PENDING]
    if running and not bad:
        return f"Checks of PR #{number} still run: {', '.join(running)}."
    names = ", ".join(bad) or ("" if checks.runs else "none has registered yet")
    return f"The checks of PR #{number} are not green{names and f': {names}'}."


def _more(session: Session, pull_request: PullRequest) -> list[str]:
    if pull_request.mergeable == "CONFLICTING":
        from lifecycle.feedback.merging import conflict, conflict_text

        shown = conflict.fetch(
            session.world, pull_request.number, pull_request.head_sha, pull_request.base, SECONDS
        ).found
        return conflict_text.lines_of(shown)
    ejection = pull_request.ejection
    if ejection is None or pull_request.queue is not None:
        return []
    from lifecycle.feedback.checks.fetching import fetch
    from lifecycle.feedback.checks.packet_text import lines_of

    group = ejection.commit or session.world.reports.queue_commit(pull_request.number)
    return lines_of(fetch(session.world, pull_request.number, group=group).packet) if group else []
