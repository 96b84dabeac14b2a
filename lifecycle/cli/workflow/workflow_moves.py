"""`lifecycle workflow advance|block|skip|fail|retry|complete`: what moves a workflow on."""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.cli.workflow import workflow_values
from lifecycle.cli.workflow.workflow import WorkflowSession
from lifecycle.cli.workflow.workflow_values import named, phase_title
from lifecycle.core.redact import quoted
from lifecycle.workflow.steps.workflow_steps import StepDone
from lifecycle.workflow.store.document_files import ARCHIVE
from lifecycle.workflow.table import PhaseStatus


def advance(
    session: WorkflowSession, *, phase: str, deliverables: Sequence[str], handed: str, name: str
) -> None:
    """Complete a phase through its gate, and begin the next one, which is told what this one hands on.

    A check's gate is passed once the check passed on the very files as they are (lifecycle check NAME), a
    file's once it is there, a person's by a person. After the last phase the workflow is archived.
    PHASE: number, phase_N or title; without it the current one.
    """
    _tell(session, session.steps.advance(deliverables, handed, phase=phase, name=name))


def block(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Note what a phase waits for; `retry` goes on with it. PHASE: number, phase_N or title."""
    _tell(session, session.steps.block(phase, reason=reason, name=name))


def skip(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Leave a phase out, and note why: that survives, too. PHASE: number, phase_N or title.

    A gate that is skipped stays in sight; a person's gate is skipped by a person only.
    """
    _tell(session, session.steps.skip(phase, reason=reason, name=name))


def fail(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Note what went wrong in a phase; `retry` tries it again. PHASE: number, phase_N or title."""
    _tell(session, session.steps.fail(phase, reason=reason, name=name))


def retry(session: WorkflowSession, *, phase: str, name: str) -> None:
    """Begin a phase again. PHASE: number, phase_N or title; without it the current one."""
    _tell(session, session.steps.retry(phase, name=name))


def complete(session: WorkflowSession, *, name: str, reason: str) -> None:
    """End a workflow: its last phase through its gate. It is archived, and its checkpoint document goes.

    NAME: which one; without it the one of this session or branch. With several phases left to do it is
    refused, unless it is given up.
    """
    _tell(session, session.steps.complete(name, give_up=reason))


_NOW = {PhaseStatus.FAILED: "failed", PhaseStatus.SKIPPED: "was skipped"}


def _tell(session: WorkflowSession, step: StepDone) -> None:
    """Print the result of a step: where its phase and its workflow stand, and what to do next."""
    workflow, lines = step.workflow, []
    if step.phase >= 0:
        phase = workflow.phases[step.phase]
        why = f": {quoted(phase.reason)}" if phase.reason else ""
        already = "" if step.changed else " already"
        state = _NOW.get(phase.status, f"is {phase.status}")
        lines.append(f"Phase {phase_title(workflow, step.phase)}, {state}{already}{why}.")
    if workflow.is_over:
        how = "was given up" if workflow.given_up else "is completed"
        place = f"Archived: {ARCHIVE}/{workflow.id}.json"
        done = f"{how}, {workflow.progress} phases done"
        lines.append(f"The workflow {named(workflow)} {done}. {place}")
    elif workflow.phase is not None:
        if workflow.current != step.phase or workflow.phase.status is PhaseStatus.ACTIVE:
            lines += workflow_values.phase_lines(workflow)
        lines.append(f"Next: {workflow_values.next_step(workflow)}")
    data = workflow_values.workflow_data(workflow)
    moved = workflow_values.phase_data(workflow, step.phase) if step.phase >= 0 else None
    session.print(lines, {"changed": step.changed, "phase": moved, **data}, troubles=step.troubles)
