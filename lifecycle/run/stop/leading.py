"""Whose a run is: which of the client's sessions leads it, by the rule that holds for a claim.

A session whose id nobody knows leads none. One that is over, whose client is gone, or (if nobody knows its
client) that gave no sign of life for an hour, leads nothing: the next one that starts goes on with the run.
After `/clear` the client is the same, and its session another.
"""

from __future__ import annotations

from lifecycle.run.state import Led, Run
from lifecycle.storage import live_process, signs_of_life
from lifecycle.storage.store import Folder


def is_led_by(run: Run, session: str) -> bool:
    """True if this session leads the run."""
    return bool(session) and run.session == session


def is_held(run: Run, session: str, client: int, folder: Folder, now: float) -> bool:
    """True if another session that seems to be alive leads the run.

    Args:
        run: the run.
        session: who asks.
        client: the process of its client; 0 if nobody knows.
        folder: `.lifecycle/` of the worktree.
        now: seconds since the epoch.
    """
    if not run.session or run.session == session:
        return False
    led = run.led[-1]
    if led.client:
        return led.client != client and live_process.is_there(str(led.client))
    signs = signs_of_life.signs_of(folder, led.session, now)
    return signs_of_life.seems_alive(signs, led.since, now)


def adopted(run: Run, session: str, client: int, now: float) -> Run:
    """The run as this session's own; as it was if the session has no id."""
    if not session:
        return run
    if run.session != session:
        return run.but(led=(*run.led, Led(session, now, client)))
    led = run.led[-1]
    if client in (0, led.client):
        return run
    return run.but(led=(*run.led[:-1], led.but(client=client)))
