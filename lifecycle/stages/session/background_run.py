"""The end of a test run in the background: the client reports it as a prompt that no person wrote.

A command that was started there, or that exceeded the client's own time limit, has not ended when
PostToolUse fires. Its end is a `<task-notification>` with the task's id, its status, and the exit code in
the summary.

Such a run is recorded twice: when it begins, with its whole command line, and when it has ended. In
between, the mark `.lifecycle/stage-awaited` has the time until which its end is awaited.

Source: Claude Code's documentation, https://code.claude.com/docs/en/interactive-mode#background-bash-commands.
"""

from __future__ import annotations

import re
from pathlib import Path

from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.light_dataclass import replace
from lifecycle.evidence import reading, records, suite_runs, tree_hash
from lifecycle.evidence.outcomes import WHOLE, CallEnd, Outcome, Reading
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.evidence.runners import runner_table
from lifecycle.settings.running_client import is_machine_made
from lifecycle.stages.session import activation, session_record
from lifecycle.stages.session.activation import StageCall
from lifecycle.storage import log, regular_files, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles


def tree_of(call: StageCall) -> str:
    """The current tree; "" if it is not needed, or if git cannot say, which is logged."""
    world = call.world
    if not world.settings.stages.require_evidence:
        return ""
    with log.Surviving(world.root, call.hook, GitFailed, Transient):
        return tree_hash.fingerprint(world.root, world.deadline, world.environment)
    return ""


def whole(call: StageCall, run: suite_runs.SuiteRun, shown: Reading, tree: str) -> Reading:
    """The reading, marked as partial if git tracks tests that the run does not include.

    If the tree is "" (nobody needs it), this is not looked up either.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    if not (tree and run.within and shown.outcome is Outcome.PASSED):
        return shown
    from lifecycle.evidence.file_kinds import left_out

    left = left_out(run.within, call.world.git.run("ls-files", "-z").rstrip("\0").split("\0"))
    why = f"{left} lies outside of what it names"
    return replace(shown, outcome=Outcome.PARTIAL, why=why) if left else shown


def keep(call: StageCall, files: WorkflowFiles, run: RunRecord, *, is_over: bool = True) -> None:
    """Record a run, also in the log and, if it is over, in the journal. The caller holds the lock."""
    if not is_over:
        files.folder.mark(workflow_marks.AWAITED, int((run.at + PATIENCE) * 1e9))
    if not EvidenceRoom(files.root).add(run):
        return
    root, command = call.world.root, records.shown(run.command)
    still = "" if is_over else ", in the background"
    log.write_staged(str(root), f"Test run seen: {run.outcome}{still} ({command})")
    if not is_over:
        return
    record = session_record.load(files, call.session) or session_record.SessionRecord(call.session)
    run = replace(run, command=command, session=call.session)
    key, task = f"check:{run.id}" if run.id else "", record.spelled or record.task
    records.note(root, run, key, task=task, actor=record.actor)


_GOOD = re.compile(r"\bcompleted \(exit code 0\)\s*$")
_BAD = re.compile(r"\bfailed with exit code [1-9][0-9]*\s*$")


def notice(prompt: str) -> tuple[str, CallEnd, str] | None:
    """The end of a task that a prompt reports; None if it reports none.

    It is the task's id, how it ended, and the file with its whole output, "" if none is named.
    """
    names = ("task-id", "status", "output-file")
    tags = (re.search(rf"<{name}>([^<]*)</{name}>", prompt) for name in names)
    task, status, file = (tag[1].strip() if tag is not None else "" for tag in tags)
    if not task:
        return None
    # The command's own words come before the last closing tag.
    summary = prompt.rpartition("</summary>")[0]
    outcome = CallEnd.UNKNOWN
    if status == "completed" and _GOOD.search(summary):
        outcome = CallEnd.OK
    elif status == "failed" and _BAD.search(summary):
        outcome = CallEnd.FAILED
    return task, outcome, file


def ended(call: StageCall) -> None:
    """Record how a test run ended, if this prompt reports the end of an awaited one."""
    files = WorkflowFiles(call.world.root)
    is_awaited = files.folder.has(workflow_marks.AWAITED)
    if not is_machine_made(call.event) or not is_awaited:
        return
    end, now = notice(str(call.event.get("prompt") or "")), call.world.clock.now()
    if end is None:
        return
    task, how, file = end
    with activation.guarded(call):
        run = next((run for run in awaited(files.root, now) if run.id == f"{BEGUN}{task}"), None)
        stages = activation.wanted_in(call.world) if run is not None else None
        if run is None or stages is None:
            return
        tree = run.tree if run.tree == tree_of(call) else ""
        noted = RunRecord(now, run.command, Outcome.UNKNOWN, tree, f"{OVER}{task}")
        rows, root = runner_table.rows(call.world.settings.evidence_runners), str(call.world.root)
        with files.locked():
            seen = suite_runs.run_in(run.line, stages.test, rows, root, run.folder)
            if seen is not None:
                output, is_cut = regular_files.end_of(file, WHOLE) if file else ("", True)
                shown = reading.proof(seen, how, output, is_cut=is_cut)
                shown = whole(call, seen, shown, tree)
                noted = replace(noted, outcome=shown.outcome, suites=seen.suites)
            keep(call, files, noted)
            if not awaited(files.root, now):
                files.folder.remove(workflow_marks.AWAITED)


BEGUN, OVER = "begun:", "task:"
"""The beginnings of the ids of a run in the background: while it runs, and after its end."""

PATIENCE = 6 * 3600.0
"""Seconds for which the end of a run in the background is awaited."""


def awaited(root: Path, now: float) -> list[RunRecord]:
    """The runs in the background whose end the client has not reported yet."""
    runs = EvidenceRoom(root).records()
    over = {run.id.replace(OVER, BEGUN, 1) for run in runs if run.id.startswith(OVER)}
    begun = (run for run in runs if run.id.startswith(BEGUN) and run.id not in over)
    return [run for run in begun if abs(now - run.at) < PATIENCE]
