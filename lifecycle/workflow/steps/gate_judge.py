"""Whether the gate of a phase is passed: by what a check, a file or a person shows, not by words."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from lifecycle.core.errors import GitFailed, Refused, Transient
from lifecycle.core.redact import quoted
from lifecycle.evidence.outcomes import Outcome
from lifecycle.settings.persons import Presence, person
from lifecycle.workflow import state
from lifecycle.workflow.state import CHECK, FILE, PERSON, PassedGate, WorkflowPhase
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import sentence

ADVANCE: Final = "lifecycle workflow advance"
"""The command that a person is asked to type."""


class GateClosed(Refused):
    """A gate's condition is not met."""

    for_agent = True


class PersonAsked(GateClosed):
    """A person has to say yes, and did not since being asked."""


def passed_gate(
    store: WorkflowStore, phase: WorkflowPhase, presence: Callable[[], Presence], now: float
) -> PassedGate:
    """Judge the gate of a phase that has one, and return how it is passed right now.

    Args:
        store: the worktree's workflows; git has to read the tree by the store's deadline.
        phase: the phase.
        presence: says who may be asking: a person or an agent.
        now: the present.

    Raises:
        GateClosed: the gate is not passed; the sentence says what to do.
    """
    kind, value = state.gate_parts(state.checked_gate(phase.gate))
    if kind == CHECK:
        return _check(store, value, now)
    if kind == FILE:
        return _file(store.root, value, now)
    return PassedGate(now, f"{PERSON}: {person_says(presence(), phase, now, ADVANCE)}")


def person_says(presence: Presence, phase: WorkflowPhase, now: float, command: str) -> str:
    """The evidence, in words, that a person says yes to a phase; raises PersonAsked without any."""
    try:
        return person(presence, phase.asked_at or now, command)
    except Refused as error:
        raise PersonAsked(error.sentence) from None


def _check(store: WorkflowStore, name: str, now: float) -> PassedGate:
    from lifecycle.evidence import tree_hash
    from lifecycle.evidence.records import EvidenceRoom

    runs = [run for run in EvidenceRoom(store.root).records() if run.name == name]
    try:
        tree = tree_hash.fingerprint(store.root, store.deadline, store.environment)
    except (GitFailed, Transient) as error:
        raise GateClosed(sentence("tree-unknown", check=quoted(name), error=error)) from None
    here = [run.outcome for run in runs if run.tree == tree != ""]
    if here[-1:] == [Outcome.PASSED]:
        return PassedGate(now, f"{CHECK}:{name}", tree)
    why = "was last run on other files" if runs else "was not run"
    why = f"ended with {here[-1]} on these files" if here else why
    raise GateClosed(sentence("check-not-passed", check=quoted(name), why=why, name=name))


def _file(root: Path, path: str, now: float) -> PassedGate:
    with suppress(OSError, RuntimeError):  # a circle of links, a folder that may not be read
        whole = (root / path).resolve()
        if whole.is_relative_to(root.resolve()) and whole.is_file():
            return PassedGate(now, f"{FILE}:{path}")
    raise GateClosed(sentence("file-not-there", path=quoted(path)))
