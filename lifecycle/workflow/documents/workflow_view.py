"""The Markdown view of a workflow, `.claude/workflow_state_system.md`: the template of the design.

What the template leaves open: a phase that is blocked, failed or was skipped says so behind its title,
with the reason; one that is completed and delivered nothing has no arrow; a workflow without phases has
the row `(none)`, and one that is at no phase says `none`. A text of several lines is put into one.
"""

from __future__ import annotations

from lifecycle.core.redact import as_data, visible
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import OVER, PhaseStatus

_TOLD = (PhaseStatus.BLOCKED, PhaseStatus.FAILED, PhaseStatus.SKIPPED)


def view_of(workflow: Workflow) -> str:
    """The view as a text that ends with a line break."""
    at = title_of(workflow, workflow.current) if workflow.phase is not None else "none"
    lines = [
        f"# Workflow Status: {_line(workflow, workflow.task or workflow.name)}",
        "",
        f"Status: {workflow.status.value} | Current Phase: {_line(workflow, at)}",
        "",
        "## Phases",
        "",
    ]
    rows = [_row(workflow, index, phase) for index, phase in enumerate(workflow.phases)]
    return "\n".join([*lines, *(rows or ["(none)"])]) + "\n"


def title_of(workflow: Workflow, index: int) -> str:
    """The title of a phase; `Phase N`, counted from 1, of one that has none."""
    return workflow.phases[index].title or f"Phase {index + 1}"


def _row(workflow: Workflow, index: int, phase: WorkflowPhase) -> str:
    mark = "x" if phase.status in OVER else " "
    row = f"- [{mark}] Phase {index}: {_line(workflow, title_of(workflow, index))}"
    if phase.status in _TOLD:
        reason = _line(workflow, phase.reason)
        row += f" ({phase.status.value}: {reason})" if reason else f" ({phase.status.value})"
    delivered = ", ".join(_line(workflow, one) for one in phase.deliverables)
    return f"{row} → {delivered}" if delivered else row


def _line(workflow: Workflow, text: str) -> str:
    line = " ".join(text.split())
    return as_data(line) if workflow.is_foreign else visible(line)
