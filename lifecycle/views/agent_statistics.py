"""What agents did in workflows: phases, outcomes, attempts and time, by the agent's type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.table import PhaseStatus


@dataclass(frozen=True, slots=True)
class AgentStatistics:
    """The phases of one type of agent; "" is the session itself. `seconds` is of those that are over."""

    agent: str
    phases: int
    completed: int
    failed: int
    skipped: int
    attempts: int
    errors: int
    seconds: float


def agent_statistics(workflows: Iterable[Workflow]) -> tuple[AgentStatistics, ...]:
    """The statistics of all agents of these workflows, by the agent's name."""
    by_agent: dict[str, list[WorkflowPhase]] = {}
    for workflow in workflows:
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
