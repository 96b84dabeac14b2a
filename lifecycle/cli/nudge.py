"""`lifecycle nudge`: set the phase by hand."""

from __future__ import annotations

import click

from lifecycle.claim.moves import current, move
from lifecycle.claim.table import Phase
from lifecycle.cli.session import begin, claim_data, json_option
from lifecycle.cli.tick import look
from lifecycle.errors import Refused


@click.command("nudge", short_help="Set the phase by hand.")
@click.argument("phase", metavar="PHASE", type=click.Choice([phase.value for phase in Phase]))
@click.option("--dry-run", is_flag=True, help="Say what the move would be; write nothing.")
@click.option("--force", is_flag=True, help="Make a move that the phase table does not have.")
@click.option("--reason", default="", help="Why; needed with --force for done without a merge.")
@json_option
def command(phase: str, *, dry_run: bool, force: bool, reason: str, as_json: bool) -> int:
    """Move the claim to PHASE and look once.

    Only moves of the phase table are made; an illegal one names the legal ones.

    The phases: coding, ready_for_pr, pr_created, checks_running, merged_detected, pr_closed, done.
    """
    session = begin(as_json=as_json)
    wanted = Phase(phase)
    before = current(session.desk).claim.phase if dry_run else ""
    override = reason.strip() if force and wanted is Phase.DONE else ""
    if dry_run:
        record = move(session.world, session.desk, wanted, force=force, dry_run=True)
        line = f"would move #{record.claim.issue_number} from {before} to {wanted}"
        session.show([line], {"claim": claim_data(record), "from": before, "dry_run": True})
        return 0
    if reason and not override:
        raise Refused("--reason is recorded only with --force for done; nothing was changed.")
    move(session.world, session.desk, wanted, force=force, override=override)
    return look(session)
