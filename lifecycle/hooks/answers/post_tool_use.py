"""PostToolUse and PostToolUseFailure of Bash: note a test run, and the tree on which it ran.

Nothing is ever printed: the agent is at work. The note is used when the agent says that tests pass.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks. A command that exits
non-zero comes as PostToolUseFailure, with `error`; one that was put into the background, or that ran
too long for the client, comes with `backgroundTaskId`: its end is found later (`background_run.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.core.errors import LockBusy
from lifecycle.core.light_dataclass import replace, text_in
from lifecycle.core.redact import redact
from lifecycle.evidence import command_lines, suite_runs
from lifecycle.evidence.outcomes import WHOLE, CallEnd, Outcome, Reading
from lifecycle.evidence.reading import proof
from lifecycle.evidence.records import EvidenceRoom, RunRecord, record_of
from lifecycle.evidence.runners import runner_table
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.stages.session import activation, background_run
from lifecycle.stages.transcript.turn import ToolCall
from lifecycle.storage import log, regular_files, store, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

OUTPUT = 30_000
"""How many characters of a command's output an event contains; it has the first ones."""

RESET = "Shell cwd was reset to"
"""The client's remark in the output of a command that left the project's folder."""


def answer(call: HookCall) -> Reply:
    """Note the event's test run, if it has one; nothing is printed."""
    world = call.world
    stages = activation.wanted_in(world)
    root, now = str(world.root), world.clock.now()
    if stages is None or not workflow_marks.is_due(root, workflow_marks.DUE, now):
        return Reply()
    used = used_tool(call.event)
    if used is None:
        return Reply()
    rows, folder = runner_table.rows(world.settings.evidence_runners), call.text("cwd")
    seen = suite_runs.run_in(used.text, stages.test, rows, root, folder)
    if seen is None or seen.is_check:
        return Reply()  # a check keeps its own result
    shown, tree = Reading(Outcome.UNKNOWN if seen.is_suite else Outcome.PARTIAL), ""
    complaint = call.text("tool_response", "stderr") or str(call.event.get("error") or "")
    is_here = stays_here(world.root, folder, seen.steps, complaint)
    if seen.is_suite and is_here:
        shown, tree = _reading(call.event, used, seen), background_run.tree_of(call)
        shown = background_run.whole(call, seen, shown, tree)
    elif not seen.is_suite and (not is_here or EvidenceRoom(world.root).has_tests):
        return Reply()  # a run of some tests proves nothing but that tests can be run here
    id_ = str(call.event.get("tool_use_id") or "")
    run = RunRecord(now, used.text, shown.outcome, tree, id_, suites=seen.suites)
    run = record_of(shown, run)
    files = WorkflowFiles(world.root)
    is_awaited = seen.is_suite and is_here  # whatever ends elsewhere shows nothing of these files
    task = call.text("tool_response", "backgroundTaskId") if is_awaited else ""
    if task:
        # Redacted before it is cut: of a secret at the cut, a beginning would be kept.
        line, id_ = redact(used.text)[: command_lines.LENGTH], f"{background_run.BEGUN}{task}"
        run = replace(run, id=id_, line=line, folder=folder)
    with log.Surviving(world.root, "post-tool-use", LockBusy), files.locked():
        background_run.keep(call, files, run, is_over=not task)
    return Reply()


def used_tool(event: Mapping[str, Any]) -> ToolCall | None:
    """The command in the event; None if it has none."""
    command, response = text_in(event, "tool_input", "command"), event.get("tool_response")
    if event.get("tool_name") != "Bash" or not command:
        return None
    details = response if isinstance(response, dict) else {}
    error = event.get("error")
    has_failed = isinstance(error, str) or bool(details.get("interrupted"))
    output = error if isinstance(error, str) else str(details.get("stdout") or "")
    outcome = CallEnd.FAILED if has_failed else CallEnd.OK
    end = CallEnd.UNKNOWN if details.get("backgroundTaskId") else outcome
    return ToolCall("Bash", command, end, output[-OUTPUT:])


def _reading(event: Mapping[str, Any], used: ToolCall, run: suite_runs.SuiteRun) -> Reading:
    """What the run proves; its whole output is read if the line's exit status is not the run's own."""
    output, is_cut = used.output, len(used.output) >= OUTPUT - 1
    file = text_in(event, "tool_response", "persistedOutputPath")
    if file and (is_cut or not run.decides):
        output, is_cut = regular_files.end_of(file, WHOLE)
        output = output or used.output
    return proof(run, used.outcome, output, is_cut=is_cut)


def stays_here(
    root: Path, folder: str, steps: Sequence[tuple[str, bool]], remark: str = ""
) -> bool:
    """True if a command line stays in this worktree: all its paths are there, none in a worktree inside it.

    Args:
        root: the worktree's top folder.
        folder: the event's `cwd`; "" counts as the top folder.
        steps: the paths in the line, in order, each with whether the commands after it run there.
        remark: the client's remark about the command, beside its output.
    """
    try:
        top = root.resolve()
        current = Path(folder).resolve() if folder else top
        if not _belongs(current, top):
            return False
        if RESET in remark and not any(moves for _, moves in steps):
            return False  # it left in a way that the line does not show
        for path, moves in steps:
            if not path or path.startswith("$"):
                return False  # where that leads is unknown
            target = (current / Path(path).expanduser()).resolve()
            if not _belongs(target, top):
                return False
            current = target if moves else current
    except (OSError, RuntimeError, ValueError):
        return False  # a loop of links, no home, an impossible name
    return True


def _belongs(path: Path, top: Path) -> bool:
    """True if the nearest worktree upwards is this one; without git, if the path is in the folder."""
    return path.is_relative_to(top) and store.worktree_root(path) in (top, None)
