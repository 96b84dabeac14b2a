"""A worktree's workflow, its reading, and its matters for a person. Imported only if there is one."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.views.overview.overview_values import OverviewPhase, OverviewWorkflow
from lifecycle.views.overview.worktree_read import WorktreeRead, copied, plain
from lifecycle.workflow.state import Workflow, reading_path
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import PhaseStatus
from lifecycle.workflow.whose import asker_of, chosen


def workflow_part(reading: WorktreeRead) -> OverviewWorkflow | None:
    """The workflow of the asking session, else the one that changed last; None if all are over.

    Documents that cannot be read are reported separately.
    """
    workflows = WorkflowStore(reading.root, reading.environment, reading.deadline).read()
    if workflows.troubles:
        reading.troubles["workflow"] = plain(" ".join(workflows.troubles), 500)
    asker = asker_of(reading.root, reading.environment, {})
    choice = chosen(reading.root, workflows.open_records, asker)
    workflow = choice.workflow or next(iter(choice.others), None)
    if workflow is None:
        return None
    _await(reading, workflow)
    others = [other.name for other in choice.others if other is not workflow]
    here, _ = reading_here(reading.root, workflow)
    begun = (phase.started_at for phase in workflow.phases if phase.started_at)
    return copied(
        OverviewWorkflow,
        workflow,
        current=workflow.current + 1,
        phases=tuple(
            copied(OverviewPhase, phase, title=plain(workflow.title_of(index)))
            for index, phase in enumerate(workflow.phases)
        ),
        reading=tuple(plain(path) for path in here.reading),
        started=min(begun, default=0.0),
        updated=workflow.updated_at,
        others=tuple(plain(name, 100) for name in others),
    )


_STUCK = {PhaseStatus.BLOCKED: ("is blocked", "show"), PhaseStatus.FAILED: ("failed", "retry")}
"""Phases that do not continue by themselves: the words for it, and the command for a person."""


def _await(reading: WorktreeRead, workflow: Workflow) -> None:
    """Note the phases that need a person: asked for a yes, blocked, or failed."""
    for number, phase in enumerate(workflow.phases, 1):
        title = f"Phase {number}, {phase.title or 'without a title'}"
        why = f": {phase.reason}" if phase.reason else ""
        if phase.asked_at and phase.passed is None and phase.status is PhaseStatus.ACTIVE:
            what = f"{title}, waits for a person's yes"
            reading.await_person("workflow", what, phase.asked_at, "lifecycle workflow advance")
        elif phase.status in _STUCK:
            how, verb = _STUCK[phase.status]
            what = f"{title}, {how}{why}"
            reading.await_person("workflow", what, phase.since, f"lifecycle workflow {verb}")


def reading_here(root: Path, workflow: Workflow) -> tuple[Workflow, tuple[str, ...]]:
    """The workflow with the paths that stay in the worktree, links followed; sentences on the others."""
    kept: list[str] = []
    refused: list[str] = []
    top = os.path.realpath(root)
    for path in workflow.all_reading:
        try:
            here = reading_path(path)
        except Refused as error:
            refused.append(error.sentence)
            continue
        whole = os.path.realpath(root / here.removeprefix("@"))
        if whole == top or whole.startswith(f"{top}{os.sep}"):
            kept.append(here)
        else:
            refused.append(
                f"The required reading {quoted(path)} leads out of the project, so it is not in the list."
            )
    phases = tuple(replace(phase, reading=()) for phase in workflow.phases)
    return replace(workflow, reading=tuple(kept), phases=phases), tuple(refused)
