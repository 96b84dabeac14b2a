"""UserPromptSubmit: deliver queued notices beside the user's own words; and note that a person wrote.

If the start after a compaction has not told the session its state, the next prompt does.

The prompt itself is neither kept nor sent anywhere: only its time is kept.
"""

from __future__ import annotations

from lifecycle.claim.engine import observing
from lifecycle.core.errors import LockBusy
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Notice
from lifecycle.hooks import recovery
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply, render
from lifecycle.settings import running_client
from lifecycle.stages.session import background_run
from lifecycle.storage import workflow_marks

LOCK_SECONDS = 1.5


def answer(call: HookCall) -> Reply:
    """Deliver queued notices, unless no person wrote this prompt: a wake has brought its own text."""
    claim_store, world = call.claim_store, call.world
    background_run.ended(call)
    if running_client.is_machine_made(call.event) or not claim_store.folder.path.is_dir():
        return Reply()
    is_owed = bool(call.session) and workflow_marks.is_owed(str(world.root), call.session)
    if not call.is_ours:
        return _owed(call, (), []) if is_owed else Reply()
    # First of all, and without the lock: an answer counts even if nothing can be delivered now. And before
    # the notices: a question that is delivered with this prompt is not answered by it.
    claim_store.marks.answer(call.text("prompt_id"), call.text("transcript_path"))
    try:
        with claim_store.folder.locked(world.deadline.remaining(at_most=LOCK_SECONDS)):
            loaded = claim_store.load()
            context: list[str] = []
            if loaded.record is not None:
                mine = observing.owned(claim_store, loaded.record, call.session)
                mine = observing.believed(world, claim_store, mine)
                claim_store.remember(mine)
                context = call.briefed(mine) if mine.is_inherited or is_owed else []
            notices = claim_store.take(call.listener)
            claim_store.save()
            call.sign(loaded.record and claim_store.remembered())
    except LockBusy:
        return Reply()  # another process waits for a slow GitHub: notices come with the next prompt
    known = " ".join(context)
    notices = tuple(notice for notice in notices if notice.text not in known)
    if is_owed:
        return _owed(call, notices, context)
    return render(call.hook, call.told(notices), context=context)


def _owed(call: HookCall, notices: tuple[Notice, ...], claim: list[str]) -> Reply:
    """The recovery message that the start of a compaction did not bring, once for each compaction."""
    context, person = recovery.of_every_system(recovery.as_compacted(call), claim)
    top = str(call.world.root)
    reply = render(call.hook, call.told(notices), context=context, person=person)
    return replace(reply, printed=lambda: workflow_marks.told_by_prompt(top, call.session))
