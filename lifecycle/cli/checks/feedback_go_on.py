"""`lifecycle feedback go-on`: the user's word that the agent goes on with what it was stopped at."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.feedback.failures import failure_words
from lifecycle.feedback.failures.failure_ledger import FailureLedger


@click.command("go-on", short_help="Wake the agent again for a failure it was stopped at.")
@in_worktree()
def go_on_command(session: Session) -> int:
    """Wake the agent again for failures of the claim's PR about which the user was asked.

    It is for the user's yes to that question: how often something failed is counted anew from here on.
    """
    claim_store = session.claim_store
    with claim_store.folder.locked(HOOK_SECONDS):
        is_claimed = claim_store.load(repair=False).record is not None
        # As it is remembered: what the agent edited meanwhile the next look takes in.
        record = claim_store.remembered() if is_claimed else None
        number = record.claim.pr_number if record is not None else None
        if record is None or number is None:
            raise Refused(
                "No task with a pull request is claimed here, so there is nothing to go on with; "
                "lifecycle status tells what is."
            )
        ledger = FailureLedger.from_json(record.pull.failures, number)
        pull = replace(record.pull, failures=ledger.opened().as_json())
        claim_store.remember(replace(record, pull=pull))
        claim_store.save()
    data = {"pull": number, "opened": [*ledger.stopped]}
    session.show([failure_words.opened(number, ledger.stopped)], data)
    return 0
