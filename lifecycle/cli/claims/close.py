"""`lifecycle close`: the user's yes."""

from __future__ import annotations

import click

from lifecycle.claim.commands.moves import move
from lifecycle.claim.decisions.table import Phase
from lifecycle.cli.claims.tick import look
from lifecycle.cli.command_session import begin, json_option, timed
from lifecycle.core.errors import Refused


@click.command("close", short_help="The user's yes: close the issue.")
@click.option(
    "--override",
    metavar="REASON",
    default=None,
    help="Close although no PR merged; the reason goes into the issue's comment.",
)
@json_option
@timed
def command(override: str | None, *, as_json: bool) -> int:
    """Close the claim's issue: the answer "yes" to "Should I close issue #N?".

    Closes only if the PR merged, unless --override gives a reason. Comments, closes, sets the board
    to Done, clears Agent, and deletes .agent-claim.json once GitHub shows the issue closed.
    """
    if override is not None and not override.strip():
        raise Refused("--override needs a reason, which goes into the issue's comment.")
    session = begin(as_json=as_json, changes_tasks=True)
    # GitHub judges it: a yes given before the merge was seen here is still a yes.
    record = move(
        session.world,
        session.claim_store,
        Phase.DONE,
        force=True,
        override=(override or "").strip(),
        consent="close",
    )
    code = look(session)
    left = session.claim_store.load(repair=False).record
    is_same = left is not None and left.claim.issue_number == record.claim.issue_number
    return 1 if is_same and code == 0 else code
