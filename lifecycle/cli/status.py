"""`lifecycle status`: where the claim stands. No network."""

from __future__ import annotations

import click

from lifecycle.claim.briefing import claim_lines
from lifecycle.cli.session import begin, claim_data, json_option


@click.command("status", short_help="Show where the claim stands; no network.")
@json_option
def command(*, as_json: bool) -> None:
    """Show the claim, its PR and checks as last seen, and the question that is open.

    Asks nothing of GitHub; `lifecycle tick` looks anew.
    """
    session = begin(as_json=as_json)
    loaded = session.desk.load(repair=False)
    waiting = [say.text for say in session.desk.ledger.waiting()]
    if loaded.record is None:
        lines = ["No claim in this worktree. Make one with: lifecycle claim <number>"]
    else:
        lines = claim_lines(loaded.record)
    lines += [text for text in waiting if not any(text in line for line in lines)]
    session.show(lines, {"claim": claim_data(loaded.record), "waiting": waiting})
