"""`lifecycle handoff`: the work is done, open the PR."""

from __future__ import annotations

import click

from lifecycle.claim.commands.moves import hand_off
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import Record
from lifecycle.cli.command_session import begin, claim_data, json_option, timed
from lifecycle.cli.tracker.tracker_values import text_from
from lifecycle.core.messages import messages

_MOST = 4000
"""Bytes that are read of a summary, which is one line."""


def _next(record: Record, *, has_hooks: bool) -> str:
    if record.claim.phase == Phase.READY_FOR_PR and not has_hooks:
        return f"Open the PR with: lifecycle tick. {messages.no_hooks()}"
    if record.claim.phase == Phase.READY_FOR_PR:
        return "The PR is opened at the agent's next stop; now: lifecycle tick"
    return f"PR #{record.claim.pr_number} has the new commits."


@click.command("handoff", short_help="Push the work and ask for its PR.")
@click.option("--summary", default=None, help="What was done, in one line: the PR's title.")
@click.option(
    "--summary-file",
    "file",
    metavar="FILE",
    default=None,
    help="Read it from a file; -: standard input, where no shell minds quotes and backticks.",
)
@json_option
@timed
def command(summary: str | None, file: str | None, *, as_json: bool) -> None:
    """Run the configured validation, push the branch, and set the phase to ready_for_pr.

    The PR is opened at the agent's next stop (or by `lifecycle tick`). With a PR open already, the
    new commits are pushed to it. The time that the validation takes is not counted.
    """
    if summary is None and file is None:
        raise click.UsageError("Say what was done, with --summary or --summary-file.")
    said = (
        text_from(summary, file, "--summary", "--summary-file", most=_MOST, is_unasked=True) or ""
    )
    session = begin(as_json=as_json)
    handed = hand_off(session.world, session.claim_store, said)
    claim = handed.record.claim
    lines = [f"Note: {note}" for note in handed.notes]
    then = _next(handed.record, has_hooks=session.has_hooks)
    lines.append(f"Pushed {claim.branch} for #{claim.issue_number}. {then}")
    session.show(lines, {"claim": claim_data(handed.record), "notes": handed.notes})
