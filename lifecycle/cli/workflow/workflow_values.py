"""A workflow as the commands show it: lines for people, values for `--json`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lifecycle.core import redact
from lifecycle.core.light_dataclass import asdict, dataclass
from lifecycle.core.messages.figures import count, span
from lifecycle.core.redact import block, quoted
from lifecycle.core.timing import parse_time, render_time
from lifecycle.workflow.documents.written_documents import phase_id, title_of
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.found_workflows import FoundWorkflow
from lifecycle.workflow.table import PhaseStatus

SIGNS = {
    PhaseStatus.PENDING: " ",
    PhaseStatus.ACTIVE: ">",
    PhaseStatus.BLOCKED: "!",
    PhaseStatus.COMPLETED: "x",
    PhaseStatus.FAILED: "!",
    PhaseStatus.SKIPPED: "-",
}
"""A phase's status as one character."""


def named(workflow: Workflow) -> str:
    """A workflow's name in quotation marks, as data."""
    return quoted(workflow.name)


def phase_title(workflow: Workflow, index: int) -> str:
    """A phase by its number and title: `2 of 5, "Build"`."""
    return f"{index + 1} of {len(workflow.phases)}, {quoted(title_of(workflow, index))}"


def where(workflow: Workflow) -> str:
    """Where a workflow stands, in a few words."""
    if workflow.given_up:
        return f"given up ({quoted(workflow.given_up)})"
    if workflow.is_over:
        return "completed"
    if workflow.phase is None:
        return "not begun"
    return f"{workflow.phase.status.value}, phase {phase_title(workflow, workflow.current)}"


def lasted(workflow: Workflow, now: float) -> float:
    """Seconds from a workflow's beginning to its end, or until now."""
    began = parse_time(workflow.created_at) or now
    return max(0.0, (workflow.ended_at or now) - began)


def took(phase: WorkflowPhase, now: float) -> str:
    """How long a phase took, or takes; "" if it has not begun."""
    if not phase.started_at:
        return ""
    return span(max(0.0, (phase.ended_at or now) - phase.started_at))


def owner(workflow: Workflow, session: str) -> str:
    """The session and the branch that a workflow belongs to, in a few words."""
    whose = "this session" if workflow.session and workflow.session == session else ""
    whose = whose or (f"session {workflow.session[:8]}" if workflow.session else "no session")
    return f"{whose}, branch {redact.named(workflow.branch)}" if workflow.branch else whose


def gate_words(phase: WorkflowPhase) -> str:
    """A phase's gate and whether it was passed; "" without one."""
    if not phase.gate:
        return ""
    if phase.passed is not None:
        return f"{phase.gate} passed"
    return f"{phase.gate} {'skipped' if phase.status is PhaseStatus.SKIPPED else 'open'}"


def phase_lines(workflow: Workflow) -> list[str]:
    """The current phase as lines: what to do in it, with what."""
    phase = workflow.phase
    if phase is None:
        return [f"{named(workflow)} is {where(workflow)}."]
    lines = [
        f"{named(workflow)}, phase {phase_title(workflow, workflow.current)}: {phase.status.value}"
    ]
    lines += [f"Agent: {redact.named(phase.agent)}"] if phase.agent else []
    lines += [f"Gate: {gate_words(phase)}"] if phase.gate else []
    lines += [f"Reason: {quoted(phase.reason)}"] if phase.reason else []
    handed = workflow.handed_on
    lines += ["Handed on by the phase before:", *block(handed)] if handed else []
    named_lists = (
        ("REQUIRED READING", workflow.all_reading),
        ("Reminders", workflow.all_reminders),
    )
    for name, texts in named_lists:
        lines += (
            [f"{name}:", *(f"  - {redact.named(text, 1_000)}" for text in texts)] if texts else []
        )
    return lines


def next_step(workflow: Workflow) -> str:
    """What is to be done next, with the command."""
    phase = workflow.phase
    if phase is None or phase.status is PhaseStatus.PENDING:
        return "begin it with: lifecycle workflow retry"
    if phase.status is PhaseStatus.ACTIVE:
        return (
            "when it is done: lifecycle workflow advance --deliverable TEXT --context-for-next TEXT"
        )
    return "lifecycle workflow retry, or: lifecycle workflow skip --reason TEXT"


def show_lines(workflow: Workflow, now: float) -> list[str]:
    """The whole workflow as lines."""
    lines = [*heads(workflow, now), ""]
    for index, phase in enumerate(workflow.phases):
        words = [
            redact.named(phase.agent) if phase.agent else "",
            phase.status.value,
            took(phase, now),
            gate_words(phase),
        ]
        tail = " · ".join(word for word in words if word)
        lines.append(
            f"[{SIGNS[phase.status]}] {index + 1}. {quoted(title_of(workflow, index))} · {tail}"
        )
        lines += [f"       {note}" for note in notes(phase)]
    for name, texts in parts(workflow):
        lines += ["", f"{name}:", *(f"  - {text}" for text in texts)]
    return lines


def heads(workflow: Workflow, now: float) -> list[str]:
    """The first lines on a workflow: name and standing, then task and source where it has them."""
    facts = (workflow.id, workflow.type, where(workflow), f"{workflow.progress} phases done")
    lines = [f"{named(workflow)} · {' · '.join(facts)} · {span(lasted(workflow, now))}"]
    if workflow.task and workflow.task != workflow.name:
        lines.append(f"Task: {quoted(workflow.task, 1_000)}")
    if workflow.source:
        lines.append(f"Source: {workflow.source}")
    return lines


def notes(phase: WorkflowPhase) -> list[str]:
    """The lines below a phase: reason, attempts, deliverables, what it hands on."""
    lines = [f"reason: {quoted(phase.reason)}"] if phase.reason else []
    lines += [f"attempt {phase.attempts}"] if phase.attempts > 1 else []
    lines += [f"delivered: {redact.named(deliverable)}" for deliverable in phase.deliverables]
    lines += [f"hands on: {quoted(phase.context_for_next)}"] if phase.context_for_next else []
    return lines


def parts(workflow: Workflow) -> Iterable[tuple[str, list[str]]]:
    """The lists that belong to the workflow as a whole: heading and lines of each that is not empty."""
    context = workflow.context.items()
    by_heading = {
        "Criteria": [quoted(criterion) for criterion in workflow.criteria],
        "Constraints": [quoted(constraint) for constraint in workflow.constraints],
        "Required reading": [redact.named(path, 500) for path in workflow.all_reading],
        "Reminders": [quoted(reminder) for reminder in workflow.all_reminders],
        "Context": [f"{redact.named(key)}: {redact.named(str(value))}" for key, value in context],
        "By agent": list(_agents(workflow)),
    }
    return ((name, texts) for name, texts in by_heading.items() if texts)


def _agents(workflow: Workflow) -> Iterable[str]:
    """A line on each agent's phases, attempts and time; none before a phase is over."""
    for statistics in agent_statistics(workflow) if workflow.done else ():
        who = redact.named(statistics.agent) if statistics.agent else "the session itself"
        counts = [count(statistics.phases, "phase"), count(statistics.attempts, "attempt")]
        counts += [count(statistics.errors, "error")] if statistics.errors else []
        if statistics.attempts:
            yield f"{who}: {', '.join(counts)}, {span(statistics.seconds)}"


def list_line(entry: FoundWorkflow, session: str, now: float) -> str:
    """A workflow in one line."""
    workflow = entry.workflow
    age = span(max(0.0, now - entry.written_at))
    words = (
        workflow.id,
        where(workflow),
        workflow.progress,
        owner(workflow, session),
        f"{age} ago",
    )
    return f"{named(workflow)} · {' · '.join(words)}"


def workflow_data(workflow: Workflow) -> dict[str, Any]:
    """A workflow for `--json`."""
    return {
        "id": workflow.id,
        "workflow": workflow.name,
        "workflow_type": workflow.type,
        "task": workflow.task,
        "status": workflow.status.value,
        "is_over": workflow.is_over,
        "given_up": workflow.given_up or None,
        "current_phase": phase_id(workflow.current) if workflow.phase is not None else None,
        "active_phases": [phase_id(index) for index in workflow.active],
        "progress": {"done": workflow.done, "total": len(workflow.phases)},
        "phases": [phase_data(workflow, index) for index in range(len(workflow.phases))],
        "required_reading": list(workflow.all_reading),
        "context": workflow.context,
        "key_reminders": list(workflow.all_reminders),
        "criteria": list(workflow.criteria),
        "constraints": list(workflow.constraints),
        "created_at": workflow.created_at,
        "updated_at": _moment(workflow.updated_at),
        "ended_at": _moment(workflow.ended_at),
        "session": workflow.session or None,
        "branch": workflow.branch or None,
        "source": workflow.source or None,
        "is_foreign": workflow.is_foreign,
        "compactions": workflow.compactions,
        "agents": [asdict(statistics) for statistics in agent_statistics(workflow)],
    }


def phase_data(workflow: Workflow, index: int) -> dict[str, Any]:
    """A phase for `--json`: number from 1, id from 0."""
    phase = workflow.phases[index]
    passed = phase.passed
    return {
        "id": phase_id(index),
        "number": index + 1,
        "title": phase.title,
        "agent": phase.agent or None,
        "status": phase.status.value,
        "handed_on": workflow.handed_to(index),
        "deliverables": list(phase.deliverables),
        "context_for_next": phase.context_for_next,
        "gate": phase.gate or None,
        "passed": {"at": _moment(passed.at), "how": passed.how} if passed is not None else None,
        "reason": phase.reason or None,
        "attempts": phase.attempts,
        "errors": [{"at": _moment(error.at), "text": error.text} for error in phase.errors],
        "started_at": _moment(phase.started_at),
        "ended_at": _moment(phase.ended_at),
        "seconds": round(phase.seconds, 3),
    }


def _moment(at: float) -> str | None:
    return render_time(at) if at else None


@dataclass(frozen=True, slots=True)
class AgentStatistics:
    """Counts over the phases of one type of agent, "" for the session itself; `seconds` of those over."""

    agent: str
    phases: int
    completed: int
    failed: int
    skipped: int
    attempts: int
    errors: int
    seconds: float


def agent_statistics(workflow: Workflow) -> tuple[AgentStatistics, ...]:
    """The statistics of all agents of a workflow, by the agent's name."""
    by_agent: dict[str, list[WorkflowPhase]] = {}
    for phase in workflow.phases:
        by_agent.setdefault(phase.agent, []).append(phase)
    return tuple(_of(agent, phases) for agent, phases in sorted(by_agent.items()))


def _of(agent: str, phases: list[WorkflowPhase]) -> AgentStatistics:
    def count(status: PhaseStatus) -> int:
        return sum(phase.status is status for phase in phases)

    return AgentStatistics(
        agent,
        len(phases),
        count(PhaseStatus.COMPLETED),
        count(PhaseStatus.FAILED),
        count(PhaseStatus.SKIPPED),
        sum(phase.attempts for phase in phases),
        sum(len(phase.errors) for phase in phases),
        sum(phase.seconds for phase in phases),
    )
