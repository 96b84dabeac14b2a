"""A workflow in the forms that the commands print: templates for people, values for `--json`."""

from __future__ import annotations

import json
from typing import Any

from lifecycle.app.guidance import guidance_text
from lifecycle.cli import terminal
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.timing import render_time
from lifecycle.workflow.documents.workflow_documents import phase_id
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store import document_files
from lifecycle.workflow.table import WORDS


def drawn(name: str, /, **values: Any) -> list[str]:
    """The lines of a text for people: a template in `templates/`, filled in."""
    shared = {"files": document_files, "signs": WORDS, "next_step": guidance_text.next_step}
    return terminal.drawn("workflow", name, toml=_toml, **shared, **values)


def _toml(value: object) -> str:
    """A text, number or list in TOML; texts are escaped as in JSON."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")


def workflow_data(workflow: Workflow) -> dict[str, Any]:
    """A workflow for `--json`."""
    return {
        **fields_of(workflow, id="id", workflow="name", workflow_type="type"),
        **fields_of(workflow, "task", "status", "is_over", "given_up?"),
        "current_phase": phase_id(workflow.current) if workflow.phase is not None else None,
        "active_phases": [phase_id(index) for index in workflow.active],
        "progress": {"done": workflow.done, "total": len(workflow.phases)},
        "phases": [phase_data(workflow, index) for index in range(len(workflow.phases))],
        **fields_of(workflow, required_reading="all_reading", context="context"),
        "key_reminders": workflow.all_reminders,
        **fields_of(workflow, "criteria", "constraints", "created_at"),
        "updated_at": _moment(workflow.updated_at),
        "ended_at": _moment(workflow.ended_at),
        **fields_of(workflow, "session?", "branch?", "source?", "is_foreign", "compactions"),
    }


def phase_data(workflow: Workflow, index: int) -> dict[str, Any]:
    """A phase for `--json`: number from 1, id from 0."""
    phase = workflow.phases[index]
    passed = phase.passed
    return {
        "id": phase_id(index),
        "number": index + 1,
        **fields_of(phase, "title", "agent?", "status"),
        "handed_on": workflow.handed_to(index),
        **fields_of(phase, "deliverables", "context_for_next", "gate?"),
        "passed": {"at": _moment(passed.at), "how": passed.how} if passed is not None else None,
        **fields_of(phase, "reason?", "attempts"),
        "errors": [{"at": _moment(error.at), "text": error.text} for error in phase.errors],
        "started_at": _moment(phase.started_at),
        "ended_at": _moment(phase.ended_at),
        "seconds": round(phase.seconds, 3),
    }


def _moment(at: float) -> str | None:
    return render_time(at) if at else None
