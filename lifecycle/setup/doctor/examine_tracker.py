"""The tracker: which one this worktree has, whether it answers, and what a claim is worth in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from lifecycle.app import tracker_opening
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.redact import visible
from lifecycle.core.tracker import Abilities, Atomicity, Tracker
from lifecycle.core.values.configured import AUTO
from lifecycle.core.values.model import RepositoryAccess
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, cause, fail, ok, warn
from lifecycle.setup.doctor.examined import Examined
from lifecycle.trackers import registry

_WORTH = {
    Atomicity.SHARED_CAS: "of two that claim at once one wins, wherever they are",
    Atomicity.LOCAL_CAS: "of two that claim at once one wins, if both use this very database",
    Atomicity.ADVISORY: "two that claim at once may both believe it for a moment",
    Atomicity.NONE: "of two that claim at once the last one has it, and the first is not told",
}
"""What a claim is worth here, in a person's words."""


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Whether tasks can be asked for."""
    if not case.is_worktree or case.settings_problem is not None:
        return  # said with the worktree, or with the settings
    try:
        tracker, note = case.world.tracker, tracker_opening.note_of(case.world)
    except LifecycleError as error:
        case.is_tracker_silent = True
        yield fail("tracker.found", cause(error), (FixStep.TASKS, FixStep.STAGES), _way_out(error))
        return
    if note:
        says, _, fix = note.partition("; ")
        yield warn("tracker.program", f"{says}.", (FixStep.TASKS, FixStep.STAGES), fix.rstrip("."))
    if tracker.name == registry.GITHUB and not isinstance(case.access, RepositoryAccess):
        return  # said with the token, or with the repository
    try:
        abilities = tracker.abilities()
        count = None if tracker.name == registry.GITHUB else len(tracker.ready())
    except LifecycleError as error:
        case.is_tracker_silent = True
        yield fail("tracker.found", cause(error), (FixStep.TASKS, FixStep.STAGES), _way_out(error))
        return
    yield ok("tracker.found", _found(case, tracker, count))
    yield _worth(tracker, abilities)


@runtime_checkable
class Telling(Protocol):
    """A tracker that can say more of itself than its name."""

    def about(self) -> str:
        """Program, version and place of the tasks, in a few words."""
        ...


def _found(case: Examined, tracker: Tracker, count: int | None) -> str:
    why = "as found here" if case.settings.tracker_use == AUTO else "as configured"
    if count is None:
        return f"Tasks are the issues of {case.base}, {why}."
    about = f" ({visible(tracker.about())})" if isinstance(tracker, Telling) else ""
    could = "none could be begun now" if not count else f"{count} could be begun now"
    return f"Tasks are kept by {tracker.name}{about}, {why}; {could}."


def _worth(tracker: Tracker, abilities: Abilities) -> DoctorFinding:
    worth = _WORTH[abilities.claim_atomicity]
    says = f"Tasks are claimed as {visible(tracker.actor)}; {worth}."
    is_safe = abilities.claim_atomicity in (Atomicity.SHARED_CAS, Atomicity.LOCAL_CAS)
    if is_safe or tracker.name == registry.GITHUB:  # why no lease can be written is said before
        return ok("tracker.claim", says)
    fix = "install a newer version of it, or let one agent at a time claim"
    return warn("tracker.claim", says, (FixStep.TASKS,), fix)


def _way_out(error: LifecycleError) -> str:
    """What the error's own sentence says to do."""
    rest = error.sentence.partition("; ")[2]
    return rest.rstrip(".") or ("lifecycle doctor" if not isinstance(error, Refused) else "")
