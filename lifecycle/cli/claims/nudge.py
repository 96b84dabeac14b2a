"""`lifecycle nudge`: set the phase by hand."""

from __future__ import annotations

import click

from lifecycle.claim.commands.moves import current, move
from lifecycle.claim.decisions.table import Phase
from lifecycle.cli.claims.tick import look
from lifecycle.cli.command_session import begin, claim_data, json_option, timed


@click.command("nudge", short_help="Set the phase by hand.")
@click.argument("phase", metavar="PHASE", type=click.Choice([phase.value for phase in Phase]))
@click.option("--reason", metavar="TEXT", default="", help="Why; needed, and recorded.")
@click.option("--dry-run", is_flag=True, help="Say what the move would be; write nothing.")
@click.option("--force", is_flag=True, help="Make a move that the phase table does not have.")
@json_option
@timed
def command(phase: str, *, reason: str, dry_run: bool, force: bool, as_json: bool) -> int:
    """Move the claim to PHASE, record why, and look once.

    Only moves of the phase table are made; an illegal one names the legal ones. The look may judge the
    move: what GitHub contradicts does not stand. With done, the reason is the yes to closing, which the
    issue's comment tells; with --force, done closes without a merge.

    The phases: coding, ready_for_pr, pr_created, checks_running, merged_detected, pr_closed, done.
    """
    if not reason.strip() and not dry_run:
        raise click.UsageError('A nudge needs a reason, which is recorded: --reason "…"')
    session = begin(as_json=as_json)
    wanted = Phase(phase)
    override = reason.strip() if force and wanted is Phase.DONE else ""
    if dry_run:
        before = current(session.claim_store).claim.phase
        why = reason.strip() or "dry run"  # judged as a nudge with its reason is
        record = move(
            session.world, session.claim_store, wanted, force=force, reason=why, dry_run=True
        )
        line = f"would move #{record.claim.issue_number} from {before} to {wanted}"
        session.show([line], {"claim": claim_data(record), "from": before, "dry_run": True})
        return 0
    move(session.world, session.claim_store, wanted, force=force, override=override, reason=reason)
    return look(session)
