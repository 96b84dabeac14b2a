"""`lifecycle feedback`: what CI and reviewers say about a pull request, in a form for an agent.

The group, and its commands `show`, `go-on`, `excerpt` and `merge`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup
from lifecycle.cli.terminal import is_terminal, say_all
from lifecycle.core.errors import LifecycleError, NotFound, Refused
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.redact import lines_in, named
from lifecycle.core.values.checks import Bucket, Checks, Verdict
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.core.values.model import Ejection, Look, PullRequest, PullState
from lifecycle.feedback.checks import excerpt as excerpts
from lifecycle.feedback.failures import failure_words, ladder

if TYPE_CHECKING:
    from lifecycle.claim.record.state import Record
    from lifecycle.storage.state_file import Ledger

_READ = 65_536
"""Bytes of a log in one read."""

_HELP = {"-h", "--help"}


def pull_number(text: str) -> int:
    """The number of a pull request, with or without the sign before it; raises click.BadParameter."""
    number = text.removeprefix("#")
    if not number.isdecimal() or not 0 < int(number) < 2**31:
        raise click.BadParameter(f"{text!r} is no pull request's number.")
    return int(number)


class FeedbackGroup(RowGroup):
    """The group `feedback`; without a command it runs `show`: `lifecycle feedback 46` or `--json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `show` before the arguments if the first is a number or an option."""
        first = args[0] if args else "--"
        is_shown = first.lstrip("#").isdecimal() or (first.startswith("-") and first not in _HELP)
        return super().parse_args(ctx, ["show", *args] if is_shown else args)


@click.group("feedback", cls=FeedbackGroup, table="checks/commands", kinds={"pull": pull_number})
def command() -> None:
    """What CI and reviewers say about a pull request, in a form for an agent.

    Without a command: show.
    """


def show(session: Session, *, pull: int | None) -> None:
    """Print what failed on the head of PR: steps, the log lines with the error, remarks on files.

    Without PR: the claim's pull request, else the open one of the current branch. The output is kept in
    .lifecycle/feedback, with the logs; a log is read once for each attempt of its job.
    """
    from lifecycle.feedback.checks.fetching import fetch

    session.world.refuse_tracked()
    fetched = fetch(session.world, pull or own_pull(session))
    session.show_whole(fetched.as_lines(), asdict(fetched))


def own_pull(session: Session) -> int:
    """The number of the claim's pull request, else of the branch's open one; Refused if there is none."""
    record = session.claim_store.load(repair=False).record
    if record is not None and record.claim.pr_number:
        return int(record.claim.pr_number)
    branch = session.world.git.current_branch()
    for pull in session.world.forge.pull_requests_of(branch) if branch else ():
        is_ours = pull.head_owner.casefold() == session.world.head.owner.casefold()
        if pull.state is PullState.OPEN and is_ours:
            return pull.number
    where = f"the branch {branch}" if branch else "a worktree without a branch"
    raise Refused(
        f"No open pull request belongs to {where}, so nothing was read; hand off, or give its number."
    )


def go_on(session: Session) -> None:
    """Wake the agent again for failures of the claim's PR about which the user was asked.

    Use it after the user's yes to that question: from now on, failures are counted from zero.
    """
    claim_store = session.claim_store
    with claim_store.folder.locked(HOOK_SECONDS):
        is_claimed = claim_store.load(repair=False).record is not None
        # The remembered record: the next look merges the agent's edits.
        record = claim_store.remembered() if is_claimed else None
        number = record.claim.pr_number if record is not None else None
        if record is None or number is None:
            raise Refused(failure_words.sentence("nothing-claimed"))
        ledger = ladder.FailureLedger.from_json(record.pull.failures, number)
        claim_store.keep(record.with_pull(failures=asdict(ledger.opened())))
    data = {"pull": number, "opened": [*ledger.stopped]}
    session.show([failure_words.opened(number, ledger.stopped)], data)


def excerpt(*, as_json: bool) -> None:
    """Print the important lines of a log on stdin: those around its errors.

    For a job's log of GitHub Actions, and for any tool's output: lifecycle feedback excerpt <LOG. At most
    150 lines and 12,000 characters, without secrets; where lines are left out, a line says how many.
    """
    if sys.stdin is None or is_terminal(sys.stdin):
        raise Refused(
            "There is no log on stdin, so nothing was read; use: lifecycle feedback excerpt <LOG"
        )
    shown = excerpts.excerpt(lines_in(iter(lambda: sys.stdin.buffer.read(_READ), b"")))
    names = {"lines": "excerpt", "first_error": "first_error", "total": "lines"}
    say_all(shown.excerpt, fields_of(shown, "left_out", **names), as_json=as_json)
    if not (as_json or shown.lines):
        click.echo("lifecycle: The log on stdin is empty, so there is nothing to quote.", err=True)


SECONDS = 60.0
"""How long git may take to find the files in conflict."""


def merge(session: Session, *, pull: int | None) -> None:
    """Print what prevents the merge of PR: rules, checks, a conflict, its place in the queue.

    For a conflict: the files, both sides' commits, and the commands that solve it. For a PR that the merge
    queue removed: what failed on the queue's own commit. Without PR as for show.
    """
    from lifecycle.claim.decisions.pull import merge_standing, review  # only `merge` decides

    session.world.refuse_tracked()
    number = pull or own_pull(session)
    asked = Look(issue=number, branch="", pr_number=number, checks=True, reviews=True)
    pull_request = session.world.forge.observe(asked).by_number
    if pull_request is None:
        raise NotFound(f"GitHub shows no pull request #{number} here, so nothing was read.")

    def seen(record: Record, ledger: Ledger) -> Record:
        ledger.end(record.claim_key, review.over(record.pull, pull_request))
        return record.with_pull(**review.shown(record.pull, pull_request))

    if pull_request.state is PullState.OPEN:
        keep(session, number, seen)
    # How the queue last threw it out; of the claim's own, it counts for as long as in `status`.
    record, ejection = session.claim_store.remembered(), pull_request.ejection
    is_known = record is not None and record.pull.merging.ejected == pull_request.head_sha
    is_out = is_known and pull_request.queue is None
    if not is_out or ejection is None or ejection.is_by_hand:
        ejection = merge_standing.ejection_of(pull_request)
    lines = [*standing_of(pull_request, ejection), *_more(session, pull_request, ejection)]
    data = {
        **fields_of(pull_request, pull="number", head="head_sha", merge_state="merge_state"),
        "mergeable": pull_request.mergeable,
        "queue": pull_request.queue and fields_of(pull_request.queue, "state", "position"),
        "auto_merge": pull_request.is_auto_merge,
    }
    session.show(lines, {**data, "lines": lines})


def keep(session: Session, pull: int, change: Callable[[Record, Ledger], Record]) -> None:
    """Save a fact or an action about the claim's pull request, so that no view contradicts it.

    Not if somebody else holds the lock, or the claim cannot be read: the next look sees the same.
    """
    claim_store = session.claim_store
    with contextlib.suppress(LifecycleError), claim_store.folder.locked(HOOK_SECONDS):
        claim_store.load(repair=False)
        # The remembered record: the next look merges the agent's edits.
        record = claim_store.remembered()
        if record is not None and record.claim.pr_number == pull:
            claim_store.keep(change(record, claim_store.ledger))


def standing_of(pull_request: PullRequest, ejection: Ejection | None) -> list[str]:
    """Sentences about what prevents a pull request's merge: reviews, checks, rules, a conflict."""
    from lifecycle.claim.record.claim_file import message
    from lifecycle.core.messages import merge_messages

    number, checks = pull_request.number, pull_request.checks or Checks(pull_request.head_sha)
    if pull_request.state is not PullState.OPEN:
        return [f"PR #{number} is {pull_request.state.lower()}."]
    lines = []
    if pull_request.changes_due:
        authors = ", ".join(named(review.author) for review in pull_request.changes_due)
        lines.append(f"Changes are requested on PR #{number} by {authors}.")
    if checks.verdict is not Verdict.GREEN:
        bad = [*(run.name for run in checks.failed), *checks.missing]
        running = [run.name for run in checks.runs if run.bucket is Bucket.PENDING]
        names = ", ".join(map(named, bad)) or ("" if checks.runs else "no check has registered yet")
        line = f"The checks of PR #{number} are not green{names and f': {names}'}."
        if running and not bad:
            line = f"Checks of PR #{number} are still running: {', '.join(map(named, running))}."
        lines.append(line)
    if pull_request.mergeable == "CONFLICTING":
        return [message("conflicts", number=number, base=pull_request.base), *lines]
    how = merge_messages.readiness(pull_request, is_reported=False)
    how = how if ejection is None else merge_messages.thrown_out(ejection.reason)
    is_ready = how.startswith("is ready") and not checks.are_none
    return lines if is_ready and lines else [merge_messages.standing(number, how), *lines]


def _more(session: Session, pull_request: PullRequest, ejection: Ejection | None) -> list[str]:
    if pull_request.mergeable == "CONFLICTING":
        from lifecycle.feedback.merging import conflict

        shown = conflict.fetch(
            session.world, pull_request.number, pull_request.head_sha, pull_request.base, SECONDS
        )
        return shown.as_lines()
    if ejection is None:
        return []
    from lifecycle.feedback.checks.fetching import fetch

    group = ejection.commit or session.world.reports.queue_commit(pull_request.number)
    return fetch(session.world, pull_request.number, group=group).as_lines() if group else []
