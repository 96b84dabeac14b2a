"""A workflow in the forms that the commands print: lines for people, values for `--json`."""

from __future__ import annotations

from typing import Any

from lifecycle.core import redact, timing
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages.figures import count, span
from lifecycle.core.redact import block, quoted
from lifecycle.workflow.documents.workflow_documents import phase_id
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.found_workflows import FoundWorkflow
from lifecycle.workflow.table import WORDS, PhaseStatus


def named(workflow: Workflow) -> str:
    """A workflow's name in quotation marks, as data."""
    return quoted(workflow.name)


def phase_title(workflow: Workflow, index: int) -> str:
    """A phase by its number and title: `2 of 5, "Build"`."""
    return f"{index + 1} of {len(workflow.phases)}, {quoted(workflow.title_of(index))}"


def where(workflow: Workflow) -> str:
    """A workflow's state, in a few words."""
    if workflow.given_up:
        return f"given up ({quoted(workflow.given_up)})"
    if workflow.is_over:
        return "completed"
    if workflow.phase is None:
        return "not begun"
    return f"{workflow.phase.status.value}, phase {phase_title(workflow, workflow.current)}"


def took(phase: WorkflowPhase, now: float) -> str:
    """How long a phase took, or has taken so far; "" if it has not begun."""
    seconds = max(0.0, (phase.ended_at or now) - phase.started_at)
    return span(seconds) if phase.started_at else ""


def gate_words(phase: WorkflowPhase) -> str:
    """A phase's gate and whether it was passed; "" without one."""
    if not phase.gate:
        return ""
    if phase.passed is not None:
        return f"{phase.gate} passed"
    return f"{phase.gate} {'skipped' if phase.status is PhaseStatus.SKIPPED else 'open'}"


def phase_lines(workflow: Workflow) -> list[str]:
    """The current phase as lines: what to do in it, and with what."""
    phase = workflow.phase
    if phase is None or workflow.is_over:
        return [f"{named(workflow)} is {where(workflow)}."]
    title = phase_title(workflow, workflow.current)
    lines = [f"{named(workflow)}, phase {title}: {phase.status}"]
    lines += [f"Agent: {redact.named(phase.agent)}"] if phase.agent else []
    lines += [f"Gate: {gate_words(phase)}"] if phase.gate else []
    lines += [f"Reason: {quoted(phase.reason)}"] if phase.reason else []
    handed = workflow.handed_to(workflow.current)
    lines += ["Handed on by the phase before:", *block(handed)] if handed else []
    lists = {"REQUIRED READING": workflow.all_reading, "Reminders": workflow.all_reminders}
    for name, texts in lists.items():
        lines += [f"{name}:"] if texts else []
        lines += [f"  - {redact.named(text, 1_000)}" for text in texts]
    return lines


def show_lines(workflow: Workflow, now: float) -> list[str]:
    """The whole workflow as lines: its name and state, task and source, its phases, its lists."""
    lasted = (workflow.ended_at or now) - (timing.parse_time(workflow.created_at) or now)
    facts = [workflow.id, workflow.type, where(workflow), f"{workflow.progress} phases done"]
    facts += [count(workflow.compactions, "compaction")] if workflow.compactions else []
    lines = [f"{named(workflow)} · {' · '.join(facts)} · {span(max(0.0, lasted))}"]
    if workflow.task and workflow.task != workflow.name:
        lines.append(f"Task: {quoted(workflow.task, 1_000)}")
    lines += [f"Source: {workflow.source}"] if workflow.source else []
    lines.append("")
    for index, phase in enumerate(workflow.phases):
        agent = redact.named(phase.agent) if phase.agent else ""
        head = f"[{WORDS[phase.status].sign}] {index + 1}."
        words = (quoted(workflow.title_of(index)), agent, phase.status, took(phase, now))
        lines.append(f"{head} {' · '.join(filter(None, (*words, gate_words(phase))))}")
        lines += [f"       {note}" for note in notes(phase)]
    lists = {
        "Criteria": map(quoted, workflow.criteria),
        "Constraints": map(quoted, workflow.constraints),
        "Required reading": (redact.named(path, 500) for path in workflow.all_reading),
        "Reminders": map(quoted, workflow.all_reminders),
        "Context": (
            f"{redact.named(name)}: {redact.named(str(fact))}"
            for name, fact in workflow.context.items()
        ),
    }
    for name, texts in lists.items():
        listed = [f"  - {text}" for text in texts]
        lines += ["", f"{name}:", *listed] if listed else []
    return lines


def notes(phase: WorkflowPhase) -> list[str]:
    """The lines below a phase: reason, attempts, deliverables, its hand-over to the next."""
    lines = [f"reason: {quoted(phase.reason)}"] if phase.reason else []
    lines += [f"attempt {phase.attempts}"] if phase.attempts > 1 else []
    lines += [f"delivered: {redact.named(deliverable)}" for deliverable in phase.deliverables]
    lines += [f"hands on: {quoted(phase.context_for_next)}"] if phase.context_for_next else []
    return lines


def list_line(entry: FoundWorkflow, session: str, now: float) -> str:
    """A workflow in one line, with the session and the branch that it belongs to."""
    workflow = entry.workflow
    whose = f"session {workflow.session[:8]}" if workflow.session else "no session"
    whose = "this session" if session and workflow.session == session else whose
    whose += f", branch {redact.named(workflow.branch)}" if workflow.branch else ""
    words = (named(workflow), workflow.id, where(workflow), workflow.progress, whose)
    return f"{' · '.join(words)} · {span(max(0.0, now - entry.written_at))} ago"


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
    return timing.render_time(at) if at else None
