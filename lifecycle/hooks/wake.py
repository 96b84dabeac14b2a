"""Run one hook: read stdin, apply the deadline, dispatch to `answers/`, print the reply.

A hook never breaks the agent's work. Whatever happens in here, the process ends within its deadline with
exit 0 and valid JSON or nothing, except for a deliberate wake (exit 2, `client_contract.py`), and the log
gets one line on each error. The answers are in `answers/`, one file for each entrypoint.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.record.claim_store import ClaimStore, Listener
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock, alarm, import_meanwhile
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.hooks import client_contract, stdin_event
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.settings import config, running_client, user_folder
from lifecycle.storage import log
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.signs_of_life import ALWAYS, STOP_DUE
from lifecycle.storage.store import CLAIM_FILE, FOLDER, Folder, worktree_root

SECONDS = {"session-start": 5.0, "pre-compact": 5.0, "session-end": 1.0}
"""Entrypoints with a shorter deadline than `settings.HOOK_SECONDS`."""

TELLING = ("session-start", "on-stop")
"""Entrypoints that tell the user if our files cannot be written; the others would repeat it."""

UNLIMITED = frozenset({"ci-waiter"})
"""Entrypoints that run in the background until there is news; each of their looks has a deadline."""

BEHIND_ANSWER = {
    "on-stop": ("claim.engine.acting", "github.operations.joint_writes"),
    "on-idle": ("feedback.failures.failure_watch", "feedback.reviews.review_watch"),
}
"""Our modules that an entrypoint needs once GitHub has answered: imported while it waits for the answer."""


def run(hook: str, event: Mapping[str, Any] | None = None) -> int:
    """Answer one event and return the exit code: 0, or 2 for a deliberate wake.

    Args:
        hook: the entrypoint.
        event: what the client sent, if it was read already.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: no file that is opened later may get its number
            os.open(os.devnull, os.O_RDWR)
    try:
        root = _root()
    except OSError:  # no current folder and none named, or one that may not be read: no log either
        return 0
    try:
        reply = _within_deadline(hook, root, event)
    except BaseException as error:  # noqa: BLE001 -- no error may stop the agent's work
        _log_quietly(root, f"{hook}: {type(error).__name__}: {error}")
        reply = Reply()
    if reply.rest is not None:
        from lifecycle.hooks.quick_wait import give_place

        give_place(reply.rest)
    return _print(reply)


def _root() -> Path:
    """The worktree of the client's project folder; outside of git, that folder itself."""
    folder = Path(os.environ.get("CLAUDE_PROJECT_DIR") or ".").absolute()
    return worktree_root(folder) or folder


def _within_deadline(hook: str, root: Path, event: Mapping[str, Any] | None) -> Reply:
    settings = None
    # Code that needs them reads them again, and reports the error.
    with contextlib.suppress(LifecycleError):
        settings = config.load(root, os.environ)
    limit = settings.hook_seconds if settings is not None else HOOK_SECONDS
    seconds = min(limit, SECONDS.get(hook, limit))
    reply, claim_store = Reply(), ClaimStore(root, SystemClock())
    try:
        with contextlib.nullcontext() if hook in UNLIMITED else alarm(seconds):
            clock = claim_store.clock
            deadline = Deadline.after(clock, max(seconds - 1.0, seconds / 2))
            world = WorktreeWorld(root, os.environ, clock, deadline, claim_store.file, settings)
            reply = _answer(hook, world, claim_store, event)
            claim_store.taken = ()
    except DeadlineReached:
        _log_quietly(root, f"{hook}: the deadline was reached")
        with contextlib.suppress(Exception):  # the guard stays as it is: so does what started this
            if hook == "on-stop" and (root / CLAIM_FILE).exists():
                Folder(root).set_due(STOP_DUE, ALWAYS)
    except LifecycleError as error:
        _log_quietly(root, f"{hook}: {error.sentence}")
    except OSError as error:
        _log_quietly(root, f"{hook}: {error}")
        if hook in TELLING:
            text, is_start = _unwritable(error), hook == "session-start"
            return client_contract.render(hook, [], context=[text] * is_start, person=[text])
    if reply == Reply() and reply.printed is None:
        # What is marked as offered is printed now or never.
        client = running_client.client_of(os.environ)
        return client_contract.render_as(client, hook, claim_store.taken)
    return reply


def _unwritable(error: OSError) -> str:
    if isinstance(error, StrangeFileError):
        return error.sentence
    where = error.filename or ".lifecycle"
    return (
        f"lifecycle cannot write its files ({where}: {error.strerror}), so everything it keeps here "
        "is unchanged, and it does nothing. Once they can be written, the next stop continues."
    )


def _answer(
    hook: str, world: WorktreeWorld, claim_store: ClaimStore, event: Mapping[str, Any] | None
) -> Reply:
    event = stdin_event.read_input() if event is None else event
    client = running_client.client_of(world.environment)
    is_other = client is running_client.Client.OTHER
    is_refused = is_other and hook not in client_contract.BY_ANYBODY
    if is_refused or not client_contract.is_for(hook, event):
        return Reply()
    # A person who runs one by hand gives it no event.
    world.is_hook, world.is_unheard = True, is_other and bool(event)
    try:
        if claim_store.disk.path.exists() or claim_store.folder.path.is_dir():
            world.refuse_tracked()
    except Refused as error:
        return _refused(hook, world, claim_store, error)
    if hook == "session-start":  # its guard starts it only if there is work of ours
        user_folder.note_clone(world.root, world.environment)
    module = importlib.import_module(f"lifecycle.hooks.answers.{hook.replace('-', '_')}")
    if behind := BEHIND_ANSWER.get(hook):
        ours = (f"lifecycle.{name}" for name in (*behind, "storage.journal_file"))
        import_meanwhile(*ours, "ctypes")  # the claim file changes places with the next one by it
    # Of another client no session is known: what names one was inherited, or is that client's own.
    session = "" if is_other else running_client.session_of(event, world.environment)
    reply: Reply = module.answer(HookCall(hook, event, session, world, claim_store, client))
    return reply


def _refused(hook: str, world: WorktreeWorld, claim_store: ClaimStore, error: Refused) -> Reply:
    """Leave alone what came with the repository: it is not read, not written to and not used for logs.

    If our own claim was added to git by mistake, the agent is told once, since it can fix that.
    """
    if hook == "session-start":
        return client_contract.render(hook, [], context=[error.sentence], person=[error.sentence])
    if hook != "on-stop" or world.is_tracked(FOLDER):
        return Reply()
    with claim_store.folder.locked(world.deadline.remaining(at_most=1.0)):
        claim_store.file.reload(repair=False)
        if claim_store.remembered() is None:
            return Reply()
        claim_store.ledger.queue(Notice(f"tracked:{error.sentence}", error.sentence, Audience.ACT))
        return client_contract.render(hook, claim_store.take(Listener(hook, {Audience.ACT})))


def _print(reply: Reply) -> int:
    """Write directly to the descriptors, so that the interpreter has nothing to flush at its end.

    `client_contract.render` has made each text safe to show.
    """
    for descriptor, text in ((1, reply.stdout), (2, reply.stderr)):
        if not text:
            continue
        try:
            os.write(descriptor, text.encode("utf-8", "replace"))
        except OSError:
            return 0  # nobody reads any more; questions and refusals stay in state
    if reply.printed is not None:
        with contextlib.suppress(OSError):  # if that cannot be noted, it is told once more
            reply.printed()
    return reply.code


def _log_quietly(root: Path, text: str) -> None:
    with contextlib.suppress(Exception):  # the log is the last resort: nobody is left to tell
        if (root / CLAIM_FILE).exists():
            Folder(root).make()
        log.write(root, text)
