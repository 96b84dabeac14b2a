"""`lifecycle status`: where the claim stands. No network."""

from __future__ import annotations

import click

from lifecycle.claim.commands import unfinished_claims
from lifecycle.cli.command_session import begin, claim_data, json_option, timed


@click.command("status", short_help="Show where the claim stands; no network.")
@json_option
@timed
def command(*, as_json: bool) -> None:
    """Show the claim, its PR and checks as last seen, and the question that is open.

    Asks nothing of GitHub; `lifecycle tick` looks anew.
    """
    session = begin(as_json=as_json)
    loaded = session.claim_store.load(repair=False)
    if loaded.record is None:
        lines = ["No claim in this worktree. Make one with: lifecycle claim <number>"]
        lines += filter(None, [unfinished_claims.left(session.claim_store)])
    else:
        lines = session.claim_lines(loaded.record)
    waiting = [say.text for say in session.claim_store.ledger.waiting()]
    # One sentence on the queue may stand in two lines of the claim: the question and what to do.
    known = " ".join(lines)
    lines += [text for text in waiting if text not in known]
    session.show(lines, {"claim": claim_data(loaded.record), "waiting": waiting})
