"""Notification `idle_prompt`: look at the pull request, unless a waiter does that anyway."""

from __future__ import annotations

from lifecycle.core.errors import Refused, Rejected
from lifecycle.core.plan import Wake
from lifecycle.hooks import quick_idle
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply, render
from lifecycle.settings import config
from lifecycle.storage import log
from lifecycle.storage.signs_of_life import IDLE_DUE

LOOK_SECONDS = 120.0
"""Without a claim: the seconds between two looks at the branch."""


def answer(call: HookCall) -> Reply:
    """One look at the claim, for its own session; without a claim, one at the branch."""
    if not call.has_claim:
        return _without_claim(call)
    if not call.is_ours or call.has_waiter:
        return Reply()
    reply = call.look(Wake.IDLE)
    quick_idle.keep(call)
    return reply


def _without_claim(call: HookCall) -> Reply:
    world, claim_store, now = call.world, call.claim_store, call.world.clock.now()
    is_served = config.is_served(world.root, world.environment)
    is_marked = claim_store.folder.has(IDLE_DUE)
    if not claim_store.marks.is_due(IDLE_DUE) if is_marked else not is_served:
        return Reply()
    from lifecycle.claim.commands.next_task import suggest

    with claim_store.folder.locked(world.deadline.remaining()):
        claim_store.load()
        claim_store.folder.set_due(IDLE_DUE, now + LOOK_SECONDS if is_served else None)
        try:
            if is_served and (notice := suggest(world)) is not None:
                claim_store.ledger.queue(notice)
        except (Refused, Rejected) as error:
            log.write(world.root, f"on-idle: {error.sentence}")
            claim_store.ledger.queue_refusal(error)
        notices = claim_store.take(call.listener)
        claim_store.save()
    return render(call.hook, notices)
