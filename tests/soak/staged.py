"""How a process of a sequence is prepared (`TEST_STAGE`): ci-waiter looks once; the product has a defect.

The defects are there to see that the rules find them. Each takes away one of the promises that the rules
hold, in the processes of one sequence.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifecycle.claim.record.state import Record
from tests.e2e.killer import KILL_NOTE, KILL_WITH

ONE_LOOK = "TEST_ONE_LOOK"
"""Set: where ci-waiter would wait, its client is gone."""

DEFECT = "TEST_DEFECT"
"""The name of one of `DEFECTS`."""

CLOCK = "TEST_CLOCK"
"""By how many seconds the machine's clock is ahead of the real one."""

OLD = 1_000_000_000
"""A file that is older says something else with its date."""

HELD = "held"
"""A file that gets the id of a process that will be stopped, so that it can go on later."""


def _module(name: str) -> Any:
    return importlib.import_module(f"lifecycle.{name}")


def _always(value: object) -> Callable[..., Any]:
    return lambda *_, **__: value


def _comment_unseen() -> None:
    """A comment that was posted is never found again: it has no marker, and no intent waits for it."""
    closing = _module("claim.decisions.ending.closing")
    closing.is_posted = closing._is_told = _always(False)
    _module("claim.record.state").fold = _forgetful(_module("claim.record.state").fold)
    _module("claim.decisions.decide").fold = _module("claim.record.state").fold


def _forgetful(fold: Callable[..., Any]) -> Callable[..., Any]:
    def run(record: Any, fact: Any, now: float) -> Any:
        is_intent = type(fact).__name__ == "Intended"
        return record if is_intent else fold(record, fact, now)

    return run


def _close_unasked() -> None:
    """Nobody is waited for before an issue is closed."""
    derive = _module("claim.decisions.derive")
    derive.is_consent_missing = _always(False)


def _close_unmerged() -> None:
    """Any claim in phase done closes its issue, as if somebody had overridden."""
    closing = _module("claim.decisions.ending.closing")

    def overridden(record: Record, *_: object, **__: object) -> object:
        return closing.Decision(
            record=replace(record, ending=replace(record.ending, override="no reason"))
        )

    closing._refusal = overridden


def _open_unseen() -> None:
    """The pull request is asked for with no look before: what is open already is not found."""
    opening = _module("claim.decisions.pull.opening")
    _module("claim.engine.observing").look = _always(None)
    _module("claim.decisions.decide")._RULES["ready_for_pr"] = lambda seen: opening.Decision(
        action=opening.opening(seen, "main")
    )


def _say_again() -> None:
    """The ledger forgets what it offered."""
    _module("storage.state_file").Ledger.was_said = _always(False)


def _keep_lease() -> None:
    """The lease is said to be released, and stays, whichever way it ends."""
    _module("git.lease").release = _always(True)
    _module("github.pulls.forge").GitHubForge.move_ref = _always(None)


def _leave_card() -> None:
    """The card is taken for written, and is not."""
    _module("claim.decisions.card_and_link").is_unsynced = _always(False)


def _unfenced() -> None:
    """A lease is pushed over whatever is there."""
    lease = _module("git.lease")

    def push(git: Any, remote: str, ref: str, sha: str, **_: str) -> None:
        git.run("push", "--force", remote, f"{sha}:{ref}", remote=remote)

    lease._push = push


def _loss_unseen() -> None:
    """Whoever lost its task goes on as if it still held the lease."""
    _module("claim.engine.observing")._made_sure = lambda _working, record, _observed: record
    _module("claim.decisions.derive").apply_loss = lambda _before, record, _observed: (
        record.with_ownership(taken_by="")
    )


def _crash() -> None:
    """A look ends with an exception that nobody expects."""
    _module("claim.decisions.decide")._RULES["pr_created"] = lambda seen: seen.nothing


DEFECTS: dict[str, Callable[[], None]] = {
    "a comment is not found again": _comment_unseen,
    "closed without an answer": _close_unasked,
    "closed without a merge": _close_unmerged,
    "opened without a look": _open_unseen,
    "said again": _say_again,
    "the lease stays": _keep_lease,
    "the card stays": _leave_card,
    "a lease is pushed by force": _unfenced,
    "a loss is not seen": _loss_unseen,
    "an exception in a look": _crash,
}
"""A defect's name → what it does to the product in this process."""


def _parts_of(found: os.stat_result) -> Any:
    return found.__reduce__()[1]


def _set_clock(ahead: int) -> None:
    """Moments, dates of files and dates of commits are the machine's; the guards in sh see the kernel's."""
    by = ahead * 1_000_000_000
    now, now_ns, utime = time.time, time.time_ns, os.utime

    def seen(real: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def run(*arguments: Any, **named: Any) -> os.stat_result:
            found = real(*arguments, **named)
            if found.st_mtime < OLD:
                return found
            numbers, names = _parts_of(found)
            moved = {"st_mtime_ns": found.st_mtime_ns + by, "st_mtime": found.st_mtime + ahead}
            return os.stat_result((*numbers[:8], numbers[8] + ahead, numbers[9]), names | moved)

        return run

    def dated(path: Any, *, ns: tuple[int, int] = (0, 0)) -> None:
        at = ns[1] or now_ns() + by
        utime(path, ns=ns if 0 < at < OLD * 10**9 else (at - by, at - by))

    vars(time).update(time=lambda: now() + ahead, time_ns=lambda: now_ns() + by)
    vars(os).update(
        {name: seen(getattr(os, name)) for name in ("stat", "lstat", "fstat")}, utime=dated
    )
    os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = f"@{int(time.time())} +0000"


def stage(environment: Mapping[str, str]) -> None:
    """Prepare this process as its environment says."""
    if CLOCK in environment:
        _set_clock(int(environment[CLOCK]))
    if environment.get(KILL_WITH) == "SIGSTOP":
        Path(environment[KILL_NOTE]).with_name(HELD).write_text(str(os.getpid()))
    if ONE_LOOK in environment:
        waiting = _module("hooks.quick_wait")
        assert callable(waiting.waits)
        waiting.waits = _always(False)
    with contextlib.suppress(KeyError):
        DEFECTS[environment[DEFECT]]()
