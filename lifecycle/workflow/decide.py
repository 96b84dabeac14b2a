"""The next record of a workflow after a step of a command, hook or program: pure, the same rules for all.

A phase moves as the table allows. No phase begins while an earlier gate is neither passed nor skipped, and
a phase with a gate is completed only with proof that it was passed (`steps/workflow_steps.py` judges it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from lifecycle.core.redact import quoted, redact, visible
from lifecycle.core.timing import render_time
from lifecycle.workflow import state
from lifecycle.workflow.state import MOST_PHASES, PassedGate, Workflow, moved, slug
from lifecycle.workflow.table import OVER, PhaseStatus, refused

MOST_CONTEXT: Final = 8_000
"""Characters that the context of a workflow may have as JSON."""

MOST_ENTRIES: Final = 100
"""The most entries of a list: reading, reminders, deliverables."""

MOST_LINE: Final = 1_000
"""Characters of a title, a reminder, a deliverable."""

MOST_TASK: Final = 20_000
MOST_TEXT: Final = 8_000
"""Characters that one phase may hand on to the next; longer texts belong in a file that is named."""

EXPLAINED: Final = frozenset({PhaseStatus.BLOCKED, PhaseStatus.FAILED, PhaseStatus.SKIPPED})
"""The statuses that a phase gets with a reason."""

Judge = Callable[[], PassedGate | None]
"""Says how a gate is passed, None if it is skipped; raises Refused if neither may be."""


def begun(workflow: Workflow, now: float, *, first: bool = True) -> Workflow:
    """A new workflow, checked, with its first phase active.

    Args:
        workflow: with its id, a name, and phases.
        now: when it begins.
        first: begin its first phase at once; else the phase waits.

    Raises:
        Refused: the workflow has no phase, or something in it is not allowed; the sentence names it.
    """
    slug(workflow.name)
    if not 0 < len(workflow.phases) <= MOST_PHASES:
        raise refused("number-of-phases", most=MOST_PHASES, number=len(workflow.phases))
    phases = []
    for number, phase in enumerate(workflow.phases, 1):
        if not phase.title.strip():
            raise refused("phase-without-title", number=number)
        limited("the title of a phase", phase.title, MOST_LINE)
        limited("the name of an agent", phase.agent, 200)
        limited("the context for the next phase", phase.context_for_next, MOST_TEXT)
        limited_list("reminder", phase.reminders)
        to_read = tuple(map(state.reading_path, phase.reading))
        phases.append(replace(phase, reading=to_read, gate=state.checked_gate(phase.gate)))
    reading = tuple(map(state.reading_path, workflow.reading))
    checked = replace(workflow, phases=tuple(phases), reading=reading, current=-1)
    checked = replace(checked, created_at=workflow.created_at or render_time(now))
    limited("the name", checked.name, 200)
    limited("the task", checked.task, MOST_TASK)
    limited_list("reading", checked.reading)
    limited_list("reminder", checked.reminders)
    limited_list("criterion or constraint", (*checked.criteria, *checked.constraints))
    limited_context(checked.context)
    return moved(checked, 0, PhaseStatus.ACTIVE, now) if first else checked


def recorded(workflow: Workflow, index: int, deliverables: Iterable[str], handed: str) -> Workflow:
    """Add what a phase delivered and hands on to its record, without secrets; earlier entries stay.

    Raises:
        Refused: something is too long.
    """
    phase, handed = workflow.phases[index], redact(handed)
    listed = tuple(dict.fromkeys((*phase.deliverables, *map(redact, deliverables))))
    limited_list("deliverable", listed)
    limited("the context for the next phase", handed, MOST_TEXT)
    handed = handed or phase.context_for_next
    return workflow.with_changes(index, deliverables=listed, context_for_next=handed)


def in_phase(
    workflow: Workflow,
    index: int,
    status: PhaseStatus,
    now: float,
    reason: str = "",
    judge: Judge = lambda: None,
    *,
    and_begin: bool = True,
) -> Workflow:
    """The workflow with a phase begun, completed, blocked, failed, skipped or tried again.

    A pending phase that is completed or fails counts as begun. After a skipped phase that was active or
    blocked, the next begins if nothing else is active.

    Args:
        workflow: the workflow before.
        index: the phase's index.
        status: its new status.
        now: the present.
        reason: why it is blocked, failed or skipped.
        judge: asked last, about a gate that is to be passed or skipped.
        and_begin: begin the phase after a completed one, unless it was begun before or an open gate comes
            before it.

    Raises:
        IllegalMove: the table does not have that move; the sentence lists what is possible.
        Refused: its gate was not passed; an earlier one was neither passed nor skipped; or a reason is too
            long or missing.
    """
    limited("the reason", reason, MOST_LINE)
    if status in EXPLAINED and not reason.strip():
        raise refused("no-reason")
    before = workflow.phases[index].status
    if status not in (PhaseStatus.BLOCKED, PhaseStatus.SKIPPED):
        refuse_behind_gate(workflow, index)
    if status in (PhaseStatus.COMPLETED, PhaseStatus.FAILED) and before is PhaseStatus.PENDING:
        workflow = moved(workflow, index, PhaseStatus.ACTIVE, now)
    after, phase = moved(workflow, index, status, now, reason), workflow.phases[index]
    passed = (judge() if phase.gate and status in OVER else None) or phase.passed
    if status is PhaseStatus.COMPLETED and phase.gate and passed is None:
        raise refused("gate-not-passed", number=index + 1, phase=phase, gate=quoted(phase.gate))
    after = after.with_changes(index, passed=passed)
    was_at_work = before in (PhaseStatus.ACTIVE, PhaseStatus.BLOCKED)
    goes_on = and_begin if status is PhaseStatus.COMPLETED else was_at_work and not after.active
    upcoming = after.phase
    is_waiting = upcoming is not None and upcoming.status is PhaseStatus.PENDING
    if goes_on and is_waiting and after.gate_before(after.current) < 0:
        return moved(after, after.current, PhaseStatus.ACTIVE, now)
    return after


def given_up(workflow: Workflow, reason: str, now: float) -> Workflow:
    """The workflow, ended with unfinished phases; raises Refused for a reason that is too long."""
    if not reason.strip():
        raise refused("give-up-without-reason")
    limited("the reason", reason, MOST_LINE)
    return replace(workflow, given_up=reason, ended_at=now)


def refuse_behind_gate(workflow: Workflow, index: int) -> None:
    """Raise Refused if a phase before this one has a gate that is neither passed nor skipped."""
    gate = workflow.gate_before(index)
    if gate >= 0:
        phase = workflow.phases[gate]
        closed, title, number = quoted(phase.gate), quoted(workflow.title_of(gate)), index + 1
        raise refused("behind-gate", number=number, gate=closed, before=gate + 1, title=title)


def limited(name: str, text: str, most: int) -> None:
    """Raise Refused if a text is too long to be kept."""
    if len(text) > most:
        raise refused("too-long", name=name[:1].upper() + name[1:], length=len(text), most=most)


def limited_list(name: str, listed: Sequence[str]) -> None:
    """Raise Refused if a list has too many entries, or one that is too long."""
    if len(listed) > MOST_ENTRIES:
        raise refused("too-many", number=len(listed), name=name, most=MOST_ENTRIES)
    for text in listed:
        limited(f"the {name} {visible(text[:30])!r}", text, MOST_LINE)


def limited_context(context: Mapping[str, Any]) -> None:
    """Raise Refused if the context is too large, or holds what JSON cannot."""
    try:
        text = json.dumps(context, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise refused("context-no-json", error=error) from None
    limited("the context", text, MOST_CONTEXT)
