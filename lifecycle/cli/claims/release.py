"""`lifecycle release`: give a task back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from lifecycle.claim.commands.giving_back import GivenBack, give_back
from lifecycle.claim.engine import look
from lifecycle.claim.engine.look import Report
from lifecycle.cli.claims.tick import tones
from lifecycle.cli.command_session import Session, begin, json_option, timed
from lifecycle.cli.report_text import report_data, report_lines
from lifecycle.core.messages import messages
from lifecycle.core.plan import Wake


@click.command("release", short_help="Give the task back.")
@click.option("--reason", metavar="TEXT", default="", help="Why; it goes into the issue's comment.")
@click.option("--dry-run", is_flag=True, help="Print the plan; write nothing anywhere.")
@json_option
@timed
def command(reason: str, *, dry_run: bool, as_json: bool) -> int:
    """Give the claim's task back, so that somebody else can take it.

    Says on the issue how far the work got, takes your assignee off, sets the board to Todo, clears
    Agent, releases the lease, and deletes .agent-claim.json. Branch, commits and an open PR stay. What
    people moved on the board by hand is left. A task whose PR is merged is closed instead.
    """
    session = begin(as_json=as_json, changes_tasks=True)
    given = give_back(session.world, session.claim_store, reason, dry_run=dry_run)
    if given.is_over:
        session.show([given.said], report_data(Report(given.record)) | {"notes": []})
        return 0
    if dry_run:
        planned = look.rehearse(session.world, session.claim_store, record=given.record)
        return _show(session, given, planned, would=True)
    report = look.tick(session.world, session.claim_store, Wake.TICK, tones=tones())
    # What is the agent's stays on the queue for it, and is shown here all the same.
    shown = (*report.said, *session.claim_store.ledger.waiting())
    return _show(session, given, replace(report, said=shown))


def _show(session: Session, given: GivenBack, report: Report, *, would: bool = False) -> int:
    lines = [f"Note: {note}" for note in given.notes] + report_lines(report, would=would)
    data: dict[str, Any] = report_data(report) | {"notes": given.notes}
    problem, record = report.problem, report.record
    if problem is not None and not any(problem.sentence in line for line in lines):
        lines.append(problem.sentence)
    is_left = record is not None and not record.outcome
    if is_left and record is not None and record.releasing is not None and not would:
        lines.append(messages.giving_back(record.claim.issue_number))
    if would:
        lines.append("Nothing was written.")
    session.show(lines, data)
    return 1 if is_left or (would and problem is not None) else 0
