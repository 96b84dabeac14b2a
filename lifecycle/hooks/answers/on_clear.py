"""SessionStart `clear`, in the background: the next task's instruction, which starts a turn.

The client starts no turn after `/clear`, whatever context a hook gives it; exit 2 of an `asyncRewake` hook
does start one. In an unattended client that reaches nobody: there session-start gives the instruction.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

from lifecycle.hooks import client_contract
from lifecycle.hooks.answers.call import HookCall
from lifecycle.stages.session import staged_start
from lifecycle.storage.workflow_marks import RUN


def answer(call: HookCall) -> client_contract.Reply:
    """The instruction, once; nothing if there is no next task, or no turn can be started.

    There is none either while an autonomous run is under way, which leads the session.
    """
    if call.event.get("source") != staged_start.CLEAR or call.claim_store.folder.has(RUN):
        return client_contract.Reply()
    return client_contract.render(call.hook, [], wake=staged_start.wake_lines(call))
