"""An agent of the client was launched, failed to start, or has ended: the phase of the workflow moves.

PostToolUse of Agent (Task, its old name): the phase for that type of agent, whose id or title is in the
prompt, becomes active; PostToolUseFailure: the phase failed. SubagentStop, which has no status: the phase
is completed, with what a command recorded, unless it has a gate. Any other agent moves nothing.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks. An agent in the background is
launched with `status: "async_launched"` and an `agentId`; one in the foreground has ended by then.
"""

from __future__ import annotations

import json
import re

from lifecycle.app.guidance.preparing import preparing_store
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import text_in
from lifecycle.core.plan import REPLIES
from lifecycle.git.checked_out import branch_of
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.storage import log, regular_files
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.steps.workflow_steps import WorkflowSteps
from lifecycle.workflow.table import OVER, PhaseStatus
from lifecycle.workflow.whose import Asker

TOOLS = ("Agent", "Task")
FAILED, ENDED = "PostToolUseFailure", "SubagentStop"

REASON = 1_000
"""How many characters of a tool's error are kept as the reason."""

_BEGINNING, _LINES = 1_000_000, 20
"""Bytes and lines of an agent's transcript in which its prompt is looked for."""


def answer(call: HookCall) -> Reply:
    """Move the phase of the event's agent; nothing is printed."""
    event = call.event.get("hook_event_name") or REPLIES[call.hook].event
    is_launch = call.event.get("tool_name") in TOOLS and not call.event.get("agent_id")
    # The phase waits for a gate, or was moved meanwhile: only a command can move it now.
    with log.Surviving(call.world.root, call.hook, LifecycleError):
        # The client's own summariser ends, too, and has no type.
        if event == ENDED and call.text("agent_type"):
            _move(call, call.text("agent_type"), PhaseStatus.COMPLETED)
        elif event != ENDED and is_launch and call.text("tool_input", "subagent_type"):
            status = PhaseStatus.FAILED if event == FAILED else PhaseStatus.ACTIVE
            _move(call, call.text("tool_input", "subagent_type"), status)
    return Reply()


def _move(call: HookCall, type_: str, status: PhaseStatus) -> None:
    """Move the phase of this session's workflow that is this type of agent's, if there is one."""
    world, is_over = call.world, status is PhaseStatus.COMPLETED
    store = preparing_store(world.root, world.environment, world.deadline)
    steps = WorkflowSteps(store, Asker(call.session, call.process, branch_of(world.root)))
    workflow = steps.choice(store.read()).workflow
    if workflow is None:
        return
    prompt = "\n".join(call.text("tool_input", name) for name in ("description", "prompt"))
    index = _phase_of(call, workflow, type_) if is_over else phase_in(workflow, type_, prompt)
    phase = workflow.phases[index] if index >= 0 else None
    if phase is None or phase.status in OVER or (is_over and phase.gate):
        return
    why = call.text("error") or "The agent could not be launched."
    why = why[:REASON] if status is PhaseStatus.FAILED else ""
    kept = {"name": workflow.id, "reason": why, "agent_id": call.text("tool_response", "agentId")}
    steps.set_status(status, f"phase_{index}", is_report=True, **kept)


def _phase_of(call: HookCall, workflow: Workflow, type_: str) -> int:
    """The phase that this agent worked on: by its id, else the active one of its type, else by prompt."""
    phases, agent = workflow.phases, call.text("agent_id")
    active = [at for at in workflow.active if phases[at].status is PhaseStatus.ACTIVE]
    of_type = [at for at in active if is_of(type_, phases[at].agent)]
    by_id = [at for at in of_type if agent and phases[at].agent_id == agent]
    unknown = [at for at in of_type if not (agent and phases[at].agent_id)]
    if by_id or len(unknown) == 1:
        return (by_id or unknown)[0]
    return phase_in(workflow, type_, _first_prompt(call.text("agent_transcript_path")))


def phase_in(workflow: Workflow, type_: str, prompt: str) -> int:
    """The index of the phase for this type of agent whose id or title is in a prompt; -1 for none.

    An id counts more than a title, and a longer title more than one that is a part of it.
    """
    text = " ".join(prompt.split()).casefold()
    ranks = {-1: 0}
    for at, phase in enumerate(workflow.phases):
        if is_of(type_, phase.agent):
            ranks[at] = _rank(text, at, " ".join(phase.title.split()).casefold())
    return max(ranks, key=ranks.__getitem__)


def _rank(text: str, index: int, title: str) -> int:
    if re.search(rf"\bphase_{index}\b", text):
        return 1_000_000
    return len(title) if title and re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text) else 0


def is_of(type_: str, agent: str) -> bool:
    """True if a phase names this type of agent; a plugin's name may come before it."""
    plain = type_.rpartition(":")[2]
    return bool(agent) and agent.casefold() in (type_.casefold(), plain.casefold())


def _first_prompt(path: str) -> str:
    """An agent's prompt, from the beginning of its transcript; "" if that cannot be read."""
    try:
        file = regular_files.content(path, follow=True, limit=_BEGINNING) if path else None
        lines = file[0].splitlines() if file is not None else []
        entries = (json.loads(line) for line in lines[:_LINES] if line.strip())
        return next((text for entry in entries if (text := _asked(entry))), "")
    except (OSError, ValueError, RecursionError):
        return ""


def _asked(entry: object) -> str:
    """The user's text in a line of a transcript; "" if the line has none."""
    from lifecycle.stages.transcript.turn import blocks_of

    if not isinstance(entry, dict) or entry.get("type") != "user":
        return ""
    return "\n".join(text_in(block, "text") for block in blocks_of(entry))
