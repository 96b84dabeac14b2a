"""The hook entrypoints: on-stop, on-idle, session-start.

A hook never breaks the agent's work. Whatever happens in here, the process ends within its deadline
with exit 0 and valid JSON or nothing, but for a deliberate wake (exit 2, `hookio.py`), and the log
has one line on what went wrong.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from lifecycle import config, engine, hookio, log
from lifecycle.claim.desk import Desk, Loaded
from lifecycle.claim.file import CLAIM_FILE
from lifecycle.clock import SystemClock
from lifecycle.deadline import Deadline, DeadlineReached, alarm
from lifecycle.errors import ClaimRefused, LifecycleError, LockBusy, Refused, Rejected
from lifecycle.guard import IDLE_DUE
from lifecycle.hookio import REPLIES, Reply
from lifecycle.plan import Wake
from lifecycle.redact import redact
from lifecycle.store import Folder
from lifecycle.wiring import World

SESSION_SECONDS = 5.0
LOCK_SECONDS = 1.5
IDLE_LOOK_SECONDS = 120.0
"""Without a claim: how long on-idle waits between two looks at the branch."""


def run(hook: str) -> int:
    """Answer one event and return the exit code: 0, or 2 for a deliberate wake."""
    _open_missing_streams()
    root = Path(os.environ.get("CLAUDE_PROJECT_DIR") or ".").absolute()
    try:
        reply = _within_deadline(hook, root, os.environ)
    except BaseException as error:  # noqa: BLE001 -- whatever it is, the agent's work goes on
        _log_quietly(root, f"{hook}: {type(error).__name__}: {error}")
        reply = Reply()
    return _print(reply)


def _within_deadline(hook: str, root: Path, environment: Mapping[str, str]) -> Reply:
    seconds = _seconds(hook, root, environment)
    try:
        with alarm(seconds):
            event = hookio.read_input()
            if not hookio.is_for(hook, event):
                return Reply()
            return _answer(hook, root, environment, seconds)
    except DeadlineReached:
        _log_quietly(root, f"{hook}: the deadline was reached")
    except LifecycleError as error:
        _log_quietly(root, f"{hook}: {error.sentence}")
    except OSError as error:
        if hook == "session-start":  # once for each session; the other hooks would repeat it
            return hookio.render(hook, [], context=_unwritable(error))
    return Reply()


def _unwritable(error: OSError) -> str:
    where = error.filename or ".lifecycle"
    return (
        f"lifecycle cannot keep its files ({where}: {error.strerror}), so nothing is done for the claim "
        "until that is mended."
    )


def _seconds(hook: str, root: Path, environment: Mapping[str, str]) -> float:
    try:
        limit = config.load(root, environment).hook_seconds
    except LifecycleError:
        limit = config.HOOK_SECONDS
    return min(limit, SESSION_SECONDS) if hook == "session-start" else limit


def _answer(hook: str, root: Path, environment: Mapping[str, str], seconds: float) -> Reply:
    clock = SystemClock()
    desk = Desk(root, clock)
    world = World(
        root, environment, clock, Deadline.after(clock, max(seconds - 1.0, seconds / 2)), desk.state
    )
    has_claim = (root / CLAIM_FILE).exists()
    if hook == "session-start":
        return _start(world, desk, has_claim=has_claim)
    if not has_claim:
        return _idle_without_claim(world, desk) if hook == "on-idle" else Reply()
    wake = Wake.STOP if hook == "on-stop" else Wake.IDLE
    if engine.is_quiet(world, desk, wake):
        return Reply()
    report = engine.tick(world, desk, wake, tones=REPLIES[hook].tones, channel=hook)
    return hookio.render(hook, report.said)


def _idle_without_claim(world: World, desk: Desk) -> Reply:
    if not config.is_served(world.root, world.environment):
        return Reply()
    if desk.has_mark(IDLE_DUE) and not desk.is_due(IDLE_DUE):
        return Reply()
    from lifecycle.claim.next_task import suggest

    with desk.folder.locked(world.deadline.remaining()):
        desk.load()
        world.cache.state = desk.state
        desk.set_due(IDLE_DUE, world.clock.now() + IDLE_LOOK_SECONDS)
        try:
            say = suggest(world)
        except (Refused, Rejected) as error:
            log.write(world.root, f"on-idle: {error.sentence}")
            desk.queue_refusal(error)
            say = None
        if say is not None:
            desk.queue(say)
        said = desk.take(REPLIES["on-idle"].tones, "on-idle")
        desk.save()
    return hookio.render("on-idle", said)


def _start(world: World, desk: Desk, *, has_claim: bool) -> Reply:
    """The claim and what waits first, from files alone; then the board, if GitHub answers in time."""
    if not has_claim and not config.is_served(world.root, world.environment):
        return Reply()
    from lifecycle.claim import briefing

    with desk.folder.locked(world.deadline.remaining(at_most=LOCK_SECONDS)):
        try:
            loaded = desk.load()
        except ClaimRefused as error:
            loaded = Loaded(None)
            desk.queue_refusal(error)
        for say in loaded.says:
            desk.queue(say)
        lines = briefing.claim_lines(loaded.record) if loaded.record is not None else []
        said = desk.take(REPLIES["session-start"].tones, "session-start")
        desk.save()
    world.cache.state = desk.state
    fresh = [say for say in said if not any(say.text in line for line in lines)]
    board = _board(world, desk)
    return hookio.render("session-start", fresh, context="\n".join([*lines, *board]))


def _board(world: World, desk: Desk) -> list[str]:
    """The board's lines, or one that says why they are missing; the session starts all the same."""
    from lifecycle.claim import briefing

    try:
        if world.settings.project_number is None or world.board is None:
            return []
        title = world.board.schema().title
        lines = briefing.board_lines(title, world.board.cards(), world.base)
        _keep_cache(world, desk)
    except DeadlineReached:
        problem = "GitHub did not answer in time, so the board is not shown."
    except LifecycleError as error:
        problem = redact(error.sentence, world.environment)
    else:
        return lines
    log.write(world.root, f"session-start: {problem}")
    return [problem]


def _keep_cache(world: World, desk: Desk) -> None:
    """Keep the board's ids for the next wake, if nobody else is writing just now."""
    learned = world.cache.state.get("cache", {})
    with contextlib.suppress(LockBusy), desk.folder.locked(0.2):
        state = desk.folder.load_state()
        state["cache"] = {**state.get("cache", {}), **learned}
        desk.folder.save_state(state)


def _print(reply: Reply) -> int:
    """Write straight to the descriptors: nothing is left for the interpreter to flush at its end."""
    for descriptor, text in ((1, reply.stdout), (2, reply.stderr)):
        if not text:
            continue
        try:
            os.write(descriptor, redact(text).encode("utf-8", "replace"))
        except OSError:
            return 0  # nobody reads any more; questions and refusals stay in state
    return reply.code


def _open_missing_streams() -> None:
    """A closed stdin, stdout or stderr must not become the number of a file that we open later."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _log_quietly(root: Path, text: str) -> None:
    with contextlib.suppress(Exception):  # the log is the last resort: nobody is left to tell
        if (root / CLAIM_FILE).exists():
            Folder(root).make()
        log.write(root, text)
