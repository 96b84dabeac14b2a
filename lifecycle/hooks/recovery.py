"""The one recovery message of a session, made from the parts of claim, run, stage and workflow.

`recovery_message.py` has the rule by which they become one text. A start and a prompt tell the same
message; a compaction tells the summariser the same parts, to be kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from lifecycle.app.guidance import prepared_recovery
from lifecycle.app.guidance.recovery_message import folded, part_of
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import redact, visible
from lifecycle.hooks import client_contract
from lifecycle.hooks.answers.call import HookCall
from lifecycle.stages.session import staged_start
from lifecycle.storage import log, workflow_marks

_OF_RUN = ("Autonomous run", "The autonomous run", "This session leads", "Do not go on", "Next:")
RESTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "claim": ("lifecycle status", ()),
    "run": ("lifecycle run recover", _OF_RUN),
    "stage": ("lifecycle stage status", ("CURRENT STAGE", "Next step:", ":::", "Staged workflow")),
}
"""By system: the command that shows the rest, and the beginnings of its most important lines."""


def of_every_system(
    call: HookCall, claim: Sequence[str] = (), *, is_served: bool = True
) -> tuple[list[client_contract.Ours], list[str]]:
    """The message for this session, made from each system's part; and lines for the user.

    Args:
        call: the event.
        claim: what the claim tells; lines that are not `Ours` are delivered as data.
        is_served: the repository may have the staged workflow.
    """
    context, person, leads = list[str](), list[str](), False
    if os.path.lexists(call.world.root / workflow_marks.RUN_FILE):
        from lifecycle.hooks.answers.run_events import RunHook

        run = RunHook(call).started()
        context, person, leads = run.context, [*run.person], run.leads
    staged = [] if leads or not is_served else staged_start.start_lines(call)
    lines = {
        "claim": [client_contract.fit(line) for line in claim],
        "run": [visible(redact(line)) for line in context],
        "stage": [visible(redact(line)) for line in staged],
    }
    parts = [part_of(own, *RESTS[name]) for name, own in lines.items() if own]
    if prepared_recovery.has_documents(str(call.world.root)):
        from lifecycle.hooks.workflow_part import WorkflowPart

        workflow = WorkflowPart.of(call).started()
        parts += [workflow.part] if workflow.part is not None else []
        person += workflow.person
    return [client_contract.Ours(line) for line in folded(parts)], person


def owe(call: HookCall) -> None:
    """Note that this session has to be told its state; if that cannot be noted, the log says so."""
    if call.session and call.claim_store.folder.path.is_dir():
        with log.Surviving(call.world.root, call.hook, OSError):
            workflow_marks.owe(str(call.world.root), call.session)


def as_compacted(call: HookCall) -> HookCall:
    """The call as that of a session that continues, so that its stage is told as after a compaction."""
    return replace(call, event={**call.event, "source": "compact"})
