"""`lifecycle handoff`: the work is done, open the PR."""

from __future__ import annotations

import click

from lifecycle.claim.moves import hand_off
from lifecycle.claim.state import Record
from lifecycle.claim.table import Phase
from lifecycle.cli.session import begin, claim_data, json_option


def _next(record: Record) -> str:
    if record.claim.phase == Phase.READY_FOR_PR:
        return "The PR is opened at the agent's next stop; now: lifecycle tick"
    return f"PR #{record.claim.pr_number} has the new commits."


@click.command("handoff", short_help="Push the work and ask for its PR.")
@click.option("--summary", required=True, help="What was done, in one line: the PR's title.")
@json_option
def command(summary: str, *, as_json: bool) -> None:
    """Run the configured validation, push the branch, and set the phase to ready_for_pr.

    The PR is opened at the agent's next stop (or by `lifecycle tick`). With a PR open already, the
    new commits are pushed to it.
    """
    session = begin(as_json=as_json, seconds=None)
    handed = hand_off(session.world, session.desk, summary)
    claim = handed.record.claim
    lines = [f"Note: {note}" for note in handed.notes]
    lines.append(f"Pushed {claim.branch} for #{claim.issue_number}. {_next(handed.record)}")
    session.show(lines, {"claim": claim_data(handed.record), "notes": handed.notes})
