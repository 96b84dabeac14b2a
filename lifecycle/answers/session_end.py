"""SessionEnd: note that the claim's session is over, so that the next one may go on with it."""

from __future__ import annotations

from lifecycle import watch
from lifecycle.answers.call import Call
from lifecycle.claim import presence
from lifecycle.hookio import Reply


def answer(call: Call) -> Reply:
    """Nothing is printed: nobody listens any more."""
    folder, record = call.desk.folder, call.record
    if call.session and record is not None and presence.is_mine(record, call.session):
        watch.note_end(folder, call.session)
    return Reply()
