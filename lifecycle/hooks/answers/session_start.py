"""SessionStart, every source: the claim, what waits, the open question, and the board.

What needs somebody is rendered from state here, however often a session starts: a hook that was
killed loses a nudge, never the question. The claim comes from files alone; the board from GitHub, if
it answers in time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.engine.briefing import BOARD_CACHE
from lifecycle.claim.record.claim_store import Loaded
from lifecycle.claim.record.guard_marks import WAITING
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused, LifecycleError, LockBusy
from lifecycle.core.plan import REPLIES, Audience, Notice
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.hooks import client_contract
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Ours, Reply
from lifecycle.settings import config
from lifecycle.setup import plugin_version
from lifecycle.stages.session import staged_start
from lifecycle.storage import log, signs_of_life
from lifecycle.storage.workflow_marks import RUN_FILE

if TYPE_CHECKING:
    from lifecycle.hooks.answers.run_start import RunStart

_OFFER = (
    "The plugin cannot allow its own commands, so the client asks for each lifecycle claim, handoff, "
    "status, tick and release of the agent. To allow them in this project: lifecycle init --permissions. "
    "This is said once."
)

LOCK_SECONDS = 1.5
TWICE_SECONDS = 10.0
"""The same session starting from the same source within this time is the same start: two copies of
the hook are installed, and one of them has answered."""

FRESH_SECONDS = 600.0
"""For how long the board's lines are shown again as they were read."""


def answer(call: HookCall) -> Reply:
    """The briefing; nothing in a repository that has no claim and never asked for a board."""
    world, claim_store = call.world, call.claim_store
    is_served = config.is_served(world.root, world.environment)
    run = _run(call)
    if not (call.has_claim or is_served or claim_store.marks.has(WAITING)):
        if run is None:
            return Reply()
        return client_contract.render(
            call.hook, [], context=[*map(Ours, run.context)], person=run.person
        )
    try:
        with claim_store.folder.locked(world.deadline.remaining(at_most=LOCK_SECONDS)):
            loaded, refused = _loaded(call)
            if _was_answered(call):
                return Reply()
            for notice in [*loaded.notices, *_differences(call), *_offered(call)]:
                claim_store.ledger.queue(notice)
            context, person = (refused, refused) if refused else _claim(call, loaded.record)
            audiences = _tones(call, loaded.record)
            said = claim_store.take(audiences, call.hook, call.session)
            claim_store.save()
            call.sign(loaded.record and claim_store.remembered())
            if call.session:
                signs_of_life.meet(claim_store.folder, call.session, world.clock.now())
    except LockBusy:
        # Somebody looks at a GitHub that is slow. The queue can wait; the claim and its question not.
        context, person = _claim(call, call.record)
        said = ()
    # One sentence on the queue may stand in two lines of the claim: the question and what to do.
    known = " ".join([*context, *person])
    fresh = [notice for notice in said if notice.text not in known]
    leads = run is not None and run.leads
    if run is not None:
        context, person = [*context, *map(Ours, run.context)], [*person, *run.person]
    staged = [] if leads else staged_start.start_lines(call)
    context = [*context, *map(Ours, staged), *_board_lines(call)]
    return client_contract.render(call.hook, fresh, context=context, person=person)


def _run(call: HookCall) -> RunStart | None:
    """What the autonomous run says; None where there is none."""
    if not os.path.lexists(call.world.root / RUN_FILE):
        return None
    from lifecycle.hooks.answers.run_start import RunStart

    return RunStart(call).look()


def _tones(call: HookCall, record: Record | None) -> Collection[Audience]:
    """What this session may hear: the news of a claim that another holds is that one's."""
    is_others = record is not None and call.is_held(record)
    return {Audience.NOTE} if is_others else REPLIES[call.hook].audiences


def _loaded(call: HookCall) -> tuple[Loaded, list[str]]:
    """What lies there, and why it cannot be acted on: at every start for as long as that stands."""
    try:
        return call.claim_store.load(), []
    except ClaimRefused as error:
        return Loaded(None), [error.sentence]


def _was_answered(call: HookCall) -> bool:
    """True for the second copy of one event; otherwise the event is noted."""
    now = call.world.clock.now()
    before = call.claim_store.state.get("started") or {}
    this = {"session": call.session, "source": str(call.event.get("source", ""))}
    is_same = {name: before.get(name) for name in this} == this
    if call.session and is_same and 0 <= now - float(before.get("at", 0)) < TWICE_SECONDS:
        return True
    call.claim_store.state["started"] = {**this, "at": now}
    return False


def _differences(call: HookCall) -> list[Notice]:
    text = plugin_version.difference(call.world.environment)
    return [Notice(f"versions:{text}", text, Audience.NOTE)] if text else []


def _offered(call: HookCall) -> list[Notice]:
    """To the plugin's user, once: how the client stops asking for each command of the agent's."""
    environment = call.world.environment
    if not environment.get("CLAUDE_PLUGIN_ROOT"):
        return []
    from lifecycle.setup.init.found_hooks import allows_all  # under the plugin alone

    is_allowed = allows_all(call.world.root, environment)
    return [] if is_allowed else [Notice("offer:permissions", _OFFER, Audience.NOTE)]


def _claim(call: HookCall, record: Record | None) -> tuple[list[str], list[str]]:
    """Lines for the model and lines for the person; the claim's owner is this session from now on.

    Unless another one that is alive holds it: then both are told.
    """
    if record is None:
        return [], []
    record = observing.believed(call.world, call.claim_store, record)
    if call.is_held(record):
        line = briefing.held_line(record, call.signs(record).last_at)
        return [line, *briefing.state_lines(record)], [line]
    mine = call.adopted(record)
    person = [*briefing.question_lines(mine), *briefing.problem_lines(mine)]
    return call.briefed(mine), person


def _board_lines(call: HookCall) -> list[str]:
    """The board, or one line that says why it is missing; the session starts all the same."""
    world, now = call.world, call.world.clock.now()
    try:
        if not world.settings.has_board or world.board is None:
            return []
        which = f"{world.settings.project_owner}/{world.settings.project_number}/{world.base}"
        known = world.cache.get(BOARD_CACHE)
        kept = known if isinstance(known, dict) and known.get("of") == which else None
        if kept is not None and 0 <= now - float(kept["at"]) < FRESH_SECONDS:
            lines = [str(line) for line in kept["lines"]]
            return [*_doubt(call, kept.get("free")), *lines]
        brief = world.board.brief()
        lines = briefing.board_lines(brief, world.base)
        free = briefing.free_card(call.record, brief, world.base)
        fresh = {"of": which, "at": now, "lines": lines, "free": free}
        world.cache.put(BOARD_CACHE, fresh)
        _keep(call)
        lines = [*_doubt(call, free), *lines]
    except DeadlineReached:
        problem = "GitHub did not answer in time, so the board is not shown."
    except LifecycleError as error:
        problem = redact(error.sentence, world.environment)
    else:
        return lines
    log.write(world.root, f"session-start: {problem}")
    return [problem]


def _doubt(call: HookCall, free: object) -> list[str]:
    """A line for the agent if the board shows its task free, and no look has found out why yet."""
    record = call.record
    if record is None or not free or free != record.claim.issue_number:
        return []
    if briefing.is_lost(record) or call.is_held(record):
        return []  # it was said already, or is for the session that holds it
    line = (
        f"The board shows #{free} in Todo and without an agent, so it may have been released while "
        "this claim was quiet. Before you go on with it, run: lifecycle tick"
    )
    return [line]


def _keep(call: HookCall) -> None:
    """Keep ids and lines for the next wake, if nobody else is writing just now."""
    claim_store, learned = call.claim_store, call.claim_store.state.get("cache", {})
    with contextlib.suppress(LockBusy), claim_store.folder.locked(0.2):
        state = claim_store.file.reload()
        state["cache"] = {**state.get("cache", {}), **learned}
        claim_store.file.save()
