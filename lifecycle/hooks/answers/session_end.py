"""SessionEnd: note that the claim's session is over, so that the next session may continue the claim."""

from __future__ import annotations

from lifecycle.claim.engine import observing
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.storage import signs_of_life


def answer(call: HookCall) -> Reply:
    """Note that the session is over; nothing is printed, since nobody listens any more."""
    folder, record = call.claim_store.folder, call.record
    if call.session and record is not None and observing.is_mine(record, call.session):
        signs_of_life.note_end(folder, call.session)
    return Reply()
