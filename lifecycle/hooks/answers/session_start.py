"""SessionStart, every source: claim, run, stage and workflow as one message, queued notices, and the board.

Matters for a person are rendered from state at each start of a session: a hook that was killed
loses a nudge, never the question. If a claim has a PR, one request to GitHub comes first, so that a merge
or a close since the last session is reported. The board comes from GitHub, if it answers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.record.claim_store import Loaded
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import BadConfig, ClaimRefused, LifecycleError, LockBusy
from lifecycle.core.light_dataclass import replace
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached, interrupted
from lifecycle.hooks import recovery
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply, render
from lifecycle.settings import config
from lifecycle.setup import plugin_version
from lifecycle.storage import log, signs_of_life, workflow_marks
from lifecycle.storage.state_file import CLAIMING

_OFFER = (
    "A plugin cannot allow its own commands, so the client asks before each lifecycle claim, handoff, "
    "status, tick, release, feedback and wait that the agent runs. To allow them in this project: "
    "lifecycle init --permissions. This is said once."
)

LOCK_SECONDS = 1.5

LOOK_SECONDS = 2.0
"""How long GitHub may take to say whether the claim's pull request was merged meanwhile."""

_HANDED_OFF = (*IN_REVIEW, Phase.MERGED_DETECTED, Phase.DONE)

FRESH_SECONDS = 600.0
"""For how long the board's lines are shown again without another read."""


def answer(call: HookCall) -> Reply:
    """Tell the session its state; nothing in a repository without a board and with nothing under way."""
    world, claim_store = call.world, call.claim_store
    is_served = config.is_served(world.root, world.environment)
    if not (call.has_claim or is_served or claim_store.folder.has(signs_of_life.WAITING)):
        return _without_claim(call)
    claim_store.folder.make()
    note_told = _begun_start(call)
    if note_told is None:
        return Reply()
    _look_first(call)
    if call.session:  # the message about the claim depends on it
        signs_of_life.meet(claim_store.folder, call.session, world.clock.now())
    try:
        with claim_store.folder.locked(world.deadline.remaining(at_most=LOCK_SECONDS)):
            loaded, refused = _loaded(call)
            for notice in _of_installation(call):
                claim_store.ledger.queue(notice)
            claim, person = (refused, refused) if refused else _claim(call, loaded.record)
            # News of a claim goes only to the session that holds it.
            is_others = loaded.record is not None and call.is_held(loaded.record)
            audiences = {Audience.NOTE} if is_others else call.listener.audiences
            notices = claim_store.take(replace(call.listener, audiences=audiences))
            claim_store.save()
            call.sign(loaded.record and claim_store.remembered())
    except LockBusy:
        # Another process waits for a slow GitHub. The queue can wait; the claim and its question cannot.
        claim, person = _claim(call, call.record)
        notices = ()
    # A sentence on the queue may be in two lines of the claim: the question and what to do.
    known = " ".join([*claim, *person])
    fresh = [notice for notice in notices if notice.text not in known]
    message, more = recovery.of_every_system(call, claim)
    # The problem with the board may be told by the claim's look already.
    board = [line for line in _board_lines(call) if line not in known]
    context, person = [*message, *board], [*person, *more]
    reply = render(call.hook, call.told(fresh), context=context, person=person)
    return replace(reply, printed=note_told)


def _without_claim(call: HookCall) -> Reply:
    """Tell what a run and a workflow say; of two copies of the same start, only one says it."""
    context, person = recovery.of_every_system(call, is_served=False)
    reply, note_told = render(call.hook, [], context=context, person=person), None
    if reply != Reply() and call.claim_store.folder.path.is_dir():
        note_told = _begun_start(call)
        reply = reply if note_told is not None else Reply()
    return replace(reply, printed=note_told)


def _begun_start(call: HookCall) -> Callable[[], None] | None:
    """What notes that this start was told, which the session is owed until then; None if a copy told it."""
    source, seconds = str(call.event.get("source") or ""), call.world.deadline.remaining()
    start = (str(call.world.root), call.session, source, call.process)
    note_told = workflow_marks.begin_start(*start, seconds)
    if note_told is not None:
        recovery.owe(call)
    return note_told


def _look_first(call: HookCall) -> None:
    """Look at the claim, so that the message about it is true: one request, if GitHub answers.

    A claim in coding is not looked at after a compaction: nobody was away.
    """
    record = call.record
    if record is None or call.is_held(record):
        return
    phase, source = PHASES.get(record.claim.phase), call.event.get("source")
    if phase not in _HANDED_OFF and (phase is not Phase.CODING or source == "compact"):
        return
    # A failed write costs only the look, not the message: the next stop reports it.
    with contextlib.suppress(LifecycleError, OSError, DeadlineReached):
        kept = max(call.world.deadline.left - LOOK_SECONDS, 0.0)
        with call.world.deadline.keeping(kept), interrupted(LOOK_SECONDS + 0.3):
            call.tick(Wake.START, to=replace(call.listener, audiences=()))
        call.__dict__.pop("loaded", None)


def _loaded(call: HookCall) -> tuple[Loaded, list[str]]:
    """The claim, and why it cannot be acted on: told at every start as long as that is so."""
    try:
        return call.claim_store.load(), []
    except ClaimRefused as error:
        return Loaded(None), [error.sentence]


def _of_installation(call: HookCall) -> Iterator[Notice]:
    """Notices to the user, once: the plugin's version, how the client stops asking for commands.

    And if the hooks cannot use the tracker: a terminal's PATH may have it.
    """
    environment = call.world.environment
    if text := plugin_version.difference(environment):
        yield Notice(f"versions:{text}", text, Audience.NOTE)
    if environment.get("CLAUDE_PLUGIN_ROOT"):
        from lifecycle.setup.init.found_hooks import ClientSetup  # under the plugin alone

        setup = ClientSetup.read(call.world.root, environment)
        if not (setup.allows() or setup.only_rules):
            yield Notice("offer:permissions", _OFFER, Audience.NOTE)
    with contextlib.suppress(BadConfig):  # the look and the board say so
        if call.world.settings.stages.use:
            from lifecycle.app import tracker_opening

            lack, _ = tracker_opening.lack_of(call.world)
            if lack:
                yield Notice(f"tracker:{lack}", f"For the hooks, {lack}", Audience.NOTE)


def _claim(call: HookCall, record: Record | None) -> tuple[list[str], list[str]]:
    """Lines for the model and lines for the person; this session becomes the claim's owner.

    If another live session holds the claim, it stays the owner, and both are told.
    """
    if record is None:
        last = call.claim_store.remembered()
        is_over = last is None or last.ending.outcome or call.has_claim
        if CLAIMING not in call.claim_store.state and is_over:
            return [], []
        # Imported only for a claim that was cut off or not ended: it may hold its task on GitHub.
        from lifecycle.claim.commands import unfinished_claims

        begun = list(filter(None, [unfinished_claims.left(call.claim_store)]))
        return begun, begun
    record = observing.believed(call.world, call.claim_store, record)
    if call.is_held(record):
        line = briefing.held_line(record, call.claim_store.signs(record).last_at)
        return [line, *briefing.state_lines(record)], [line]
    mine = observing.owned(call.claim_store, record, call.session)
    return call.briefed(mine), [*briefing.question_lines(mine), *briefing.problem_lines(mine)]


def _board_lines(call: HookCall) -> list[str]:
    """The board, or one line that says why it is missing; the session starts anyway."""
    world, now = call.world, call.world.clock.now()
    try:
        if not world.settings.has_board or world.board is None:
            return []
        which = f"{world.settings.project_owner}/{world.settings.project_number}/{world.base}"
        cached = world.cache.get(briefing.BOARD_CACHE)
        kept = cached if isinstance(cached, dict) and cached.get("of") == which else None
        if kept is None or not 0 <= now - float(kept["at"]) < FRESH_SECONDS:
            lines = briefing.board_lines(world.board.brief(), world.base)
            kept = {"of": which, "at": now, "lines": lines}
            world.cache.put(briefing.BOARD_CACHE, kept)
            _keep(call)
        return [str(line) for line in kept["lines"]]
    except DeadlineReached:
        problem = "GitHub did not answer in time, so the board is not shown."
    except LifecycleError as error:
        problem = redact(error.sentence, world.environment)
    log.write(world.root, f"session-start: {problem}")
    return [problem]


def _keep(call: HookCall) -> None:
    """Keep ids and lines for the next wake, if nobody else is writing just now."""
    claim_store, learned = call.claim_store, call.claim_store.state.get("cache", {})
    with contextlib.suppress(LockBusy), claim_store.folder.locked(0.2):
        state = claim_store.file.reload()
        state["cache"] = {**state.get("cache", {}), **learned}
        claim_store.file.save()
