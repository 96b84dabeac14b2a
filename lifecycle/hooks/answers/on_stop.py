"""Stop: what the claim asks for (open the PR, keep the card, close the issue), then run or staged workflow.

The claim comes first, since its look may end the claim. A run has precedence over the staged workflow,
which speaks only if no run is under way. `folded` makes one reply of their words: letting the agent stop
outweighs making it continue, and that outweighs silence. The claim's sentences come first, then the run's,
then the workflow's. If the agent may stop, the claim's notices that would make it continue wait for the
next prompt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from lifecycle.claim.engine import look
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import REPLIES, Audience, Notice, StopVerdict, StopWord, Wake
from lifecycle.core.stage_names import Stage
from lifecycle.core.timing import DeadlineReached, import_meanwhile, unhurried
from lifecycle.hooks import client_contract
from lifecycle.hooks.answers.call import STOPPED, HookCall
from lifecycle.settings.config import file_of
from lifecycle.settings.running_client import Client
from lifecycle.storage import log, workflow_marks
from lifecycle.storage.signs_of_life import STOP_DUE

PLANNING = "plan"
"""The client's permission mode in which the agent may change nothing.

Source: https://code.claude.com/docs/en/hooks
"""

KEPT_SECONDS = 2.0
"""Seconds that the look at the claim leaves for the run, or a slow GitHub would let the session stop."""


def folded(
    notices: Sequence[Notice], *words: StopWord
) -> tuple[tuple[Notice, ...], tuple[str, ...], tuple[str, ...]]:
    """Fold the claim's notices, and the words of the others in their order, into one reply.

    Returns:
        The notices that are delivered now; further lines for the agent; further lines for the user.
    """
    person = tuple(line for word in words for line in word.person)
    if any(word.verdict is StopVerdict.LET_GO for word in words):
        notes = tuple(notice for notice in notices if notice.audience is Audience.NOTE)
        return notes, (), person
    return tuple(notices), tuple(line for word in words for line in word.reason), person


def answer(call: HookCall) -> client_contract.Reply:
    """Let the claim, the run and the staged workflow look, each if it is due; return one reply.

    For another client, or a person who runs this by hand, only the claim looks. The reply is as for a
    person, since nobody knows what another client does with a turn that should continue. In plan mode, too,
    only the claim looks: what a run or a stage asks for next is not allowed there.
    """
    has_run = call.claim_store.folder.has(workflow_marks.RUN)
    if _has_stages(call, None):
        import_meanwhile("lifecycle.stages.stop.staged_stop")
    kept = min(KEPT_SECONDS, call.world.deadline.left / 3) if has_run else 0.0
    try:
        with call.world.deadline.keeping(kept):
            notices = _claim(call)
    except LifecycleError as error:
        log.write(call.world.root, f"{call.hook}: {error.sentence}")
        notices = call.claim_store.taken
    is_alone = not (has_run or file_of(call.world.root).is_file()) or call.client is Client.OTHER
    if is_alone or call.text("permission_mode") == PLANNING:
        return client_contract.render_as(call.client, call.hook, call.told(notices))
    words = []
    with log.Surviving(call.world.root, call.hook, DeadlineReached):
        for word in _others(call, has_run=has_run):
            words.append(word)  # noqa: PERF402 -- words from before the deadline are kept
    with unhurried():
        delivered, reason, person = folded(notices, *words)
        _hold_back(call, notices, delivered)
        return client_contract.render(call.hook, call.told(delivered), reason=reason, person=person)


def _others(call: HookCall, *, has_run: bool) -> Iterator[StopWord]:
    """The run's word, if one is under way; the staged workflow's unless the run leads this session."""
    stage = None
    if has_run:
        from lifecycle.hooks.answers.run_events import RunHook

        run = RunHook(call).stopped()
        yield run.word
        if run.leads:
            return
        if run.is_over:  # the run led a labelled task: only closing it is left
            stage = Stage.COMMIT_CLOSE
    if _has_stages(call, stage):
        from lifecycle.stages.stop import staged_stop

        # The claim is read again: the look may have ended it.
        yield staged_stop.look(replace(call), at=stage)


def _has_stages(call: HookCall, stage: Stage | None) -> bool:
    """True unless the guards' files show that the staged workflow is off, or has nothing to look at."""
    if stage is not None or not file_of(call.world.root).is_file():
        return stage is not None
    root, now = str(call.world.root), call.world.clock.now()
    return workflow_marks.is_due(root, workflow_marks.DUE, now) or not workflow_marks.is_known(root)


def _claim(call: HookCall) -> tuple[Notice, ...]:
    """The claim's notices; without a claim, only those that the last one left to say."""
    # In an unattended session no waiter looks at the pull request, so this stop does.
    wake = Wake.IDLE if call.client is Client.UNATTENDED else Wake.STOP
    if call.has_claim:
        # The waiter was started together with us: it leaves this stop's work to us.
        call.claim_store.folder.set_due(STOPPED, call.world.clock.now())
        call.sign(call.record)
        if look.is_quiet(call.world, call.claim_store, wake, call.loaded, call.session):
            return ()
    elif not call.claim_store.folder.has(STOP_DUE):
        return ()
    report = call.tick(wake, to=replace(call.listener, audiences=_audiences(call)))
    call.sign_first(report.record)
    return report.said


def _audiences(call: HookCall) -> Collection[Audience]:
    """The audiences of this stop; notices for a session of Claude Code are not for another client."""
    channel = REPLIES[call.hook]
    if call.client is Client.UNATTENDED:
        return channel.places.keys() | channel.alone.keys()
    record = call.record if call.client is Client.OTHER else None
    is_others = record is not None and record.ownership.session
    return {Audience.NOTE} if is_others else channel.places.keys()


def _hold_back(call: HookCall, notices: Sequence[Notice], delivered: Sequence[Notice]) -> None:
    """Put the notices that would make the agent continue back on the queue."""
    if held := [notice for notice in notices if notice not in delivered]:
        with call.claim_store.folder.locked(call.world.deadline.remaining(at_most=1.0)):
            call.claim_store.file.reload()
            for notice in held:
                call.claim_store.ledger.queue(replace(notice, stands=False, ends=()), again=True)
            call.claim_store.save()
            call.claim_store.taken = tuple(delivered)
