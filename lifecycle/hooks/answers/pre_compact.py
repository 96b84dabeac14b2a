"""PreCompact: what the summary of this session must keep of claim, stage, run and workflow.

The printed text goes unchanged into the summariser's instructions; JSON would be an error. The sources of
workflows are read, and their files brought in step. After the compaction, the session's start tells its
state from files: nothing depends on this hook, and nothing in it delays a compaction.
"""

from __future__ import annotations

import contextlib
import os

from lifecycle.app.guidance import preparing
from lifecycle.core.timing import ANYTHING
from lifecycle.hooks import recovery
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply, fit
from lifecycle.stages.session import staged_start
from lifecycle.storage import log, signs_of_life
from lifecycle.storage.workflow_marks import RUN_FILE


def answer(call: HookCall) -> Reply:
    """Print lines for the summary; none for a subagent, or if this session has nothing under way."""
    if call.event.get("agent_id"):  # a subagent's event has its leader's session
        return Reply()
    lines = [*_claim(call), *_run(call), *_stage(call), *_workflow(call)]
    if not lines:
        return Reply()
    recovery.owe(call)
    return Reply(f"{preparing.kept_text(lines)}\n")


def _claim(call: HookCall) -> list[str]:
    """The claim's lines; files that cannot be read cost no other system's lines."""
    lines: list[str] = []
    with log.Surviving(call.world.root, call.hook, *ANYTHING):
        if call.record is not None and not call.is_held(call.record):
            if call.session:  # the claim's message depends on it, and no start may have noted it
                # On a full disk, the claim's message is still printed.
                folder, now = call.claim_store.folder, call.world.clock.now()
                with contextlib.suppress(OSError):
                    signs_of_life.meet(folder, call.session, now)
            lines += map(fit, call.lines_on(call.record))
    return [f"- {line.replace('Claim: ', 'Claimed: ', 1)}" for line in lines]


def _run(call: HookCall) -> list[str]:
    """The run's lines; none for a session that leads no run, or once the run is completed."""
    if not os.path.lexists(call.world.root / RUN_FILE):
        return []
    from lifecycle.hooks.answers.run_events import RunHook

    return RunHook(call).compacted()


def _stage(call: HookCall) -> list[str]:
    lines = staged_start.start_lines(recovery.as_compacted(call))
    # The run's steps are a list already, which is indented within ours.
    return [f"  {line}" if line.startswith("- ") else f"- {line}" for line in lines if line]


def _workflow(call: HookCall) -> list[str]:
    from lifecycle.hooks.workflow_part import WorkflowPart

    return WorkflowPart.of(call).compacted()
