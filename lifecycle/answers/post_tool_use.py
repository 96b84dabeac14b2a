"""PostToolUse and PostToolUseFailure of Bash: take note of a test run, and on which tree it ran.

Nothing is ever said: the agent is at work. What is noted is asked for when it says that tests pass.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks. A command that exits
non-zero comes as PostToolUseFailure, with `error`; one that was put into the background comes when
it is started, with `backgroundTaskId`, and says nothing of how it will end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle import journal, log, stage_log
from lifecycle.answers import staged_on
from lifecycle.answers.call import Call
from lifecycle.errors import GitFailed, LockBusy, Transient
from lifecycle.hookio import Reply
from lifecycle.stages import evidence, marks, runs, session, tree
from lifecycle.stages.evidence import Ended, Run
from lifecycle.stages.shelf import Shelf
from lifecycle.stages.turn import Call as ToolCall
from lifecycle.stages.turn import Outcome

OUTPUT = 20_000
"""Characters of the end of what a command printed that are looked at."""


def answer(call: Call) -> Reply:
    """Nothing is printed."""
    world = call.world
    stages = staged_on.wanted(world)
    if stages is None or not marks.is_due(str(world.root), marks.DUE, world.clock.now()):
        return Reply()
    used = used_tool(call.event)
    tested = runs.run_in(used.text, stages.test) if used is not None else None
    if used is None or tested is None or not tested.is_suite:
        return Reply()
    ended = Ended(runs.colour(tested, used.outcome, used.output).value)
    id_ = str(call.event.get("tool_use_id") or "")
    run = Run(world.clock.now(), used.text, ended, _tree(call), id_)
    shelf = Shelf(world.root)
    try:
        with shelf.locked():
            is_new = evidence.add(shelf, run)
            memory = session.load(shelf, call.session)
    except LockBusy as error:
        log.write(world.root, f"post-tool-use: {error.sentence}")
        return Reply()
    if is_new:
        stage_log.write(str(world.root), f"Test run seen: {run.outcome} ({run.command})")
        task = memory.task if memory is not None else ""
        detail = {"outcome": run.outcome.value, "command": run.command, "tree": run.tree}
        entry = journal.Entry(
            at=run.at,
            system=journal.STAGES,
            kind=journal.CHECK,
            task=task,
            session=call.session,
            source="TESTING",
            key=f"check:{run.id}" if run.id else "",
            detail=detail,
        )
        journal.note(world.root, entry)
    return Reply()


def used_tool(event: Mapping[str, Any]) -> ToolCall | None:
    """The command that the event tells of; None if it tells of none."""
    asked, response = event.get("tool_input"), event.get("tool_response")
    command = asked.get("command") if isinstance(asked, dict) else None
    if event.get("tool_name") != "Bash" or not isinstance(command, str):
        return None
    details = response if isinstance(response, dict) else {}
    error = event.get("error")
    has_failed = isinstance(error, str) or bool(details.get("interrupted"))
    printed = error if isinstance(error, str) else str(details.get("stdout") or "")
    is_background = bool(details.get("backgroundTaskId"))
    outcome = Outcome.FAILED if has_failed else Outcome.OK
    return ToolCall(
        "Bash",
        command,
        Outcome.UNKNOWN if is_background else outcome,
        printed[-OUTPUT:],
        is_background=is_background,
    )


def _tree(call: Call) -> str:
    """The tree right after the run; "" if git cannot say, which the log tells."""
    world = call.world
    try:
        return tree.fingerprint(world.root, world.deadline, world.environment)
    except (GitFailed, Transient) as error:
        log.write(world.root, f"post-tool-use: {error.sentence}")
        return ""
