"""PreCompact: what the summary of a session that leads a run must keep.

What is printed here goes into the summariser's instructions as it is; JSON would be an error. The start
of the compacted session says where the run stands, from the run's file: nothing depends on this.
"""

from __future__ import annotations

from lifecycle.core.redact import redact, shown
from lifecycle.hooks.answers import run_start
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.run.run_store import RunStore
from lifecycle.run.stop import leading
from lifecycle.run.texts import standing


def answer(call: HookCall) -> Reply:
    """Lines of text; nothing for a session that leads no run, for a subagent, and once it is completed."""
    world = call.world
    run = RunStore(world.root, world.environment, world.deadline).load()
    is_agents = bool(call.event.get("agent_id"))  # a subagent's event has its session's id
    if run is None or run.is_over or is_agents or not leading.is_led_by(run, call.session):
        return Reply()
    lines = standing.kept_lines(run, run_start.worktree_seen(call, run))
    return Reply(shown(redact("\n".join(lines))) + "\n")
