"""The board's lines for a session's start, read anew every ten minutes at the most."""

from __future__ import annotations

import contextlib

from lifecycle.claim.engine import briefing
from lifecycle.claim.engine.briefing import BOARD_CACHE
from lifecycle.core.errors import LifecycleError, LockBusy
from lifecycle.core.messages import loss_messages
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.hooks.answers.call import HookCall
from lifecycle.storage import log

FRESH_SECONDS = 600.0


def board_lines(call: HookCall) -> list[str]:
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
    if record is None or free != record.claim.issue_number or briefing.is_lost(record):
        return []
    if call.is_held(record):
        return []  # that is for the session that holds it
    return [loss_messages.free_on_board(record.claim.issue_number)] if free else []


def _keep(call: HookCall) -> None:
    """Keep ids and lines for the next wake, if nobody else is writing just now."""
    claim_store, learned = call.claim_store, call.claim_store.state.get("cache", {})
    with contextlib.suppress(LockBusy), claim_store.folder.locked(0.2):
        state = claim_store.file.reload()
        state["cache"] = {**state.get("cache", {}), **learned}
        claim_store.file.save()
