"""Stop: what the claim asks for (open the PR, keep the card, close the issue), then the staged workflow.

The claim comes first, since its look may end the claim. What both say stands in one reply, the claim's
words first. Where the workflow lets the agent stop for good, nothing of the claim's makes it go on: that
waits for the next prompt.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lifecycle.claim.engine import look
from lifecycle.claim.record.guard_marks import STOP_DUE
from lifecycle.core.errors import LifecycleError
from lifecycle.core.plan import REPLIES, Audience, Notice, Wake
from lifecycle.hooks import client_contract
from lifecycle.hooks.answers.call import STOPPED, HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.settings.config import file_of
from lifecycle.settings.running_client import Client
from lifecycle.storage import log


def answer(call: HookCall) -> Reply:
    """One look at each, if it asks for one.

    Another client, or a person who runs this by hand, gets the claim's look. It is told as a person is,
    since nobody knows what that client makes of a turn that should go on.
    """
    try:
        said = _claim(call)
    except LifecycleError as error:
        log.write(call.world.root, f"{call.hook}: {error.sentence}")
        said = ()
    if call.client is Client.OTHER:
        return client_contract.render(call.hook, [], person=[notice.text for notice in said])
    if not file_of(call.world.root).is_file():
        return client_contract.render(call.hook, said)  # nobody asked for the staged workflow
    from lifecycle.stages.stop import staged_stop

    word = staged_stop.look(replace(call))  # the claim is read anew: the look may have ended it
    if word.lets_go:
        said = _held_back(call, said)
    return client_contract.render(call.hook, said, reason=word.reason, person=word.person)


def _claim(call: HookCall) -> tuple[Notice, ...]:
    """What the claim says; nothing without one, but for what the last one left to say."""
    if call.has_claim:
        # The waiter was started with us: it leaves to us what this stop is there for.
        call.claim_store.marks.set_due(STOPPED, call.world.clock.now())
        if call.record is not None:
            call.adopted(call.record)  # the sign that this session lives
        if look.is_quiet(call.world, call.claim_store, _wake(call), call.loaded, call.session):
            return ()
    elif not call.claim_store.marks.has(STOP_DUE):
        return ()
    report = look.tick(
        call.world,
        call.claim_store,
        _wake(call),
        audiences=_tones(call),
        channel=call.hook,
        session=call.session,
        is_untracked=True,  # `wake` has asked before anything was read
        loaded=call.loaded if call.has_claim else None,
    )
    return report.said


def _wake(call: HookCall) -> Wake:
    """Where nobody attends no waiter looks at the pull request: this stop does."""
    return Wake.IDLE if call.client is Client.UNATTENDED else Wake.STOP


def _tones(call: HookCall) -> Collection[Audience]:
    """What can be delivered here; what a session of Claude Code's is to hear is no other client's."""
    channel = REPLIES[call.hook]
    if call.client is Client.UNATTENDED:
        return channel.audiences | channel.alone.keys()
    is_others = (
        call.client is Client.OTHER and call.record is not None and call.record.ownership.session
    )
    return {Audience.NOTE} if is_others else channel.audiences


def _held_back(call: HookCall, said: tuple[Notice, ...]) -> tuple[Notice, ...]:
    """Put back on the queue what would make the agent go on; the rest is said."""
    goes_on = [notice for notice in said if notice.audience is not Audience.NOTE]
    if goes_on:
        with call.claim_store.folder.locked(call.world.deadline.remaining(at_most=1.0)):
            call.claim_store.file.reload()
            for notice in goes_on:
                call.claim_store.ledger.queue(replace(notice, stands=False, ends=()), again=True)
            call.claim_store.save()
    return tuple(notice for notice in said if notice.audience is Audience.NOTE)
