"""Stop: open the PR, keep the card, close the issue; or say what the last claim left to say."""

from __future__ import annotations

from lifecycle.answers.call import STOPPED, Call
from lifecycle.guard import STOP_DUE
from lifecycle.hookio import Reply
from lifecycle.plan import Wake


def answer(call: Call) -> Reply:
    """One look, if the claim or the queue asks for one."""
    if call.has_claim:
        # The waiter was started with us: it leaves to us what this stop is there for.
        call.desk.set_due(STOPPED, call.world.clock.now())
        if call.record is not None:
            call.adopted(call.record)  # the sign that this session lives
    elif not call.desk.has_mark(STOP_DUE):
        return Reply()
    return call.look(Wake.STOP)
