"""A person stops a run, and lets one go on: after a stop, a cap, or turns in which nothing moved."""

from __future__ import annotations

from lifecycle.run.state import PersonAct, Run
from lifecycle.run.table import RunStatus
from lifecycle.run.texts.told import kept_words, refused

RESUME, STOP = "resume", "stop"


def stop_asked_at(run: Run) -> float:
    """When the session was last told to work on: a prompt after that may ask for a stop."""
    return max(run.started, run.led_on_at, *(one.at for one in run.acts), 0.0)


def stopped(run: Run, now: float, by: str, why: str = "") -> Run:
    """The run stopped by a person, who says why or not; Refused if it does not go on anyway."""
    if run.is_over or run.status is RunStatus.STOPPED:
        how = "is completed" if run.is_over else f"was stopped already ({run.why})"
        raise refused("not-to-stop", run=run, how=how)
    words = kept_words(why) or "by its user"
    act = PersonAct(now, STOP, by, words)
    return run.but(
        status=RunStatus.STOPPED, why=words, stopped_at=now, acts=(*run.acts, act), told=""
    )


def demand_stopped(run: Run) -> None:
    """Refused unless it was stopped."""
    if run.status is RunStatus.STOPPED:
        return
    text = (
        f"The run {run.id} is {run.status.value.replace('_', ' ')}, so there is nothing to resume"
    )
    waits = ": a person says that it is fixed with lifecycle run user-fix-complete"
    raise refused(
        "not-to-resume", text=text, waits=waits if run.status is RunStatus.AWAITING_USER else ""
    )


def resumed(run: Run, now: float, by: str) -> Run:
    """The run going on where it was, its counters kept; one that waited for a person waits again."""
    demand_stopped(run)
    waits = run.fix is not None and not run.fix.completed_at
    status = RunStatus.AWAITING_USER if waits else RunStatus.ACTIVE
    act = PersonAct(now, RESUME, by, run.why)
    return run.but(status=status, why="", acts=(*run.acts, act), idle=0, last_reason="", told="")
