"""`lifecycle workflow phase|show|list|guidance|todos`: where workflows stand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from lifecycle.app.guidance import guidance_text
from lifecycle.cli.workflow import workflow_values
from lifecycle.cli.workflow.workflow_session import WorkflowSession
from lifecycle.core.errors import LifecycleError
from lifecycle.core.messages.figures import minute
from lifecycle.core.redact import as_data, named, quoted
from lifecycle.core.timing import render_time
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.overview.overview_words import phase_words
from lifecycle.views.overview.overview_workflow import reading_here
from lifecycle.workflow import state
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.document_files import own_content


def phase(given: WorkflowSession, *, name: str) -> None:
    """Show the current phase, with what the phase before handed on, what to read, and its gate."""
    workflow = given.found(name, given.store.read()).workflow
    data = {
        "id": workflow.id,
        "workflow": workflow.name,
        "phase": workflow_values.phase_data(workflow, workflow.current) if workflow.phase else None,
        "required_reading": list(workflow.all_reading),
        "key_reminders": list(workflow.all_reminders),
    }
    lines = [*workflow_values.phase_lines(workflow), f"Next: {workflow_values.next_step(workflow)}"]
    given.print(lines, data)


def show(given: WorkflowSession, *, name: str) -> None:
    """Show all of a workflow: task, phases, deliverables, reading, time. By name an archived one, too.

    Its files are brought in step on the way: a document that was edited is taken over, a view is renewed.
    """
    found = given.found(name, given.store.read(archived=bool(name)))
    try:
        troubles = given.store.settle().troubles
    except (LifecycleError, OSError) as error:  # it is shown all the same
        troubles = [str(error)]
    workflow = found.workflow
    beside = delegation_lines(given.store.root)
    lines = [*workflow_values.show_lines(workflow, given.now), *beside]

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_workflow

        draw_workflow(workflow, given.now, beside)

    data = {
        **workflow_values.workflow_data(workflow),
        "files": list(found.places),
        "beside": beside,
    }
    given.print(lines, data, draw, [*found.remarks, *troubles])


def list_all(given: WorkflowSession, *, archived: bool) -> None:
    """List the workflows of this worktree, the one that was changed last first."""
    there = given.store.read(archived=archived)
    shown = there.found if archived else there.unfinished
    session, now = given.asker.session, given.now
    lines = [workflow_values.list_line(one, session, now) for one in shown]
    kind = "" if archived else "unfinished "
    lines = lines or [f"There is no {kind}workflow here."]
    troubles = list(there.troubles)

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_list

        draw_list(shown, session, now)

    data = {
        "workflows": [
            {
                **workflow_values.workflow_data(one.workflow),
                "is_current": one.workflow.id == there.current,
                "is_own": bool(session) and one.workflow.session == session,
                "files": list(one.places),
            }
            for one in shown
        ],
        "unusable": [{"path": one.path, "says": one.sentence} for one in there.unusable],
    }
    given.print(lines, data, draw if shown else None, troubles)


def guidance(given: WorkflowSession, *, name: str) -> None:
    """Print what a session is told of its workflow at its start and after a compaction, without a limit.

    Where there is none that is this session's, nothing is printed but a note on the others.
    """
    there = given.store.read()
    meant = given.found(name, there).workflow if name else given.steps.choice(there).workflow
    others = [one.workflow for one in there.unfinished if one.workflow != meant]
    if meant is None:
        lines = [*map(guidance_text.held_line, others[:3])] or [
            "There is no unfinished workflow here."
        ]
        given.print(lines, {"workflow": None, "guidance": None}, troubles=there.troubles)
        return
    shown, refused = reading_here(given.root, meant)
    lines = guidance_text.whole_guidance(shown, others, refused)
    data = {"workflow": meant.name, "id": meant.id, "guidance": "\n".join(lines)}
    given.print(lines, data, troubles=there.troubles)


def todos(given: WorkflowSession, *, name: str) -> None:
    """Print the phases as the client's to-do list has them; with --json to be handed to its tool."""
    workflow = given.found(name, given.store.read()).workflow
    items = state.todos(workflow)
    lines = [f"{item['status']}: {as_data(item['content'])}" for item in items]
    given.print(lines, {"todos": items})


GRAPH: Final = ".claude/state/active_task_graph.json"
SESSIONS: Final = ".claude/state/delegated_sessions.txt"
_MOST: Final = 1_000_000
_SHOWN: Final = 20


def delegation_lines(root: Path) -> list[str]:
    """A line for each of the two files that is there; one that cannot be read says so."""
    lines = []
    for path, line_of in ((GRAPH, _graph_line), (SESSIONS, _sessions_line)):
        try:
            content = own_content(root, path, _MOST)
            if content is not None:
                lines.append(line_of(content[0][:_MOST].decode("utf-8", "replace")))
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            lines.append(f"{path} cannot be read; it was left as it is.")
    return [line for line in lines if line]


def _graph_line(text: str) -> str:
    data = json.loads(text)
    waves = list(_waves(data))
    at = int(data.get("current_wave") or 0)
    if not 0 <= at < len(waves):
        return f"Task graph: {len(waves)} waves ({GRAPH})"
    phases = ", ".join(named(one, 60) for one in waves[at][:_SHOWN]) or "no phases"
    return f"Task graph: wave {at + 1} of {len(waves)}: {phases} ({GRAPH})"


def _waves(data: dict[str, Any]) -> Iterator[list[str]]:
    """The names of the phases of each wave; a graph lists waves, or tasks that each name theirs."""
    listed = data.get("waves") or (data.get("execution_plan") or {}).get("waves")
    if listed is None:
        tasks = data.get("tasks") or []
        for number in sorted({int(task.get("wave") or 0) for task in tasks}):
            yield [_name(task) for task in tasks if int(task.get("wave") or 0) == number]
    else:
        for wave in listed:
            yield [_name(one) for one in (wave.get("phases") or wave.get("tasks") or ())]


def _name(one: Any) -> str:
    return str(one.get("phase_id") or one.get("id") or "") if isinstance(one, dict) else str(one)


def _sessions_line(text: str) -> str:
    count = len({line.strip() for line in text.splitlines() if line.strip()})
    return f"Delegated sessions: {count} ({SESSIONS})" if count else ""


def history(given: WorkflowSession, *, lines: int, name: str) -> None:
    """Show each move of each phase, with its reason and its gate, the newest last; also of an archived one.

    It is read from the journal of this clone, so it outlives the workflow's own files.
    """
    workflow = _meant(given, name)
    entries = journal.last(given.root, lines, system=journal.WORKFLOW, task=workflow.id)
    rows = [_row(entry) for entry in entries]
    shown = ["  ".join(row).rstrip() for row in rows] or [
        f"The journal has nothing of the workflow {quoted(workflow.name)}."
    ]

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_history

        draw_history(rows)

    data = {"id": workflow.id, "workflow": workflow.name, "entries": [_data(e) for e in entries]}
    given.print(shown, data, draw if rows else None)


def _meant(given: WorkflowSession, name: str) -> Workflow:
    """The workflow of this name; without one the one that is meant, else the one that ended last."""
    there = given.store.read(archived=True)
    if not name and not there.unfinished and there.found:
        return there.found[0].workflow
    return given.found(name, there).workflow


def _row(entry: JournalEntry) -> tuple[str, str, str]:
    """When, which phase, what."""
    detail = entry.detail
    title = str(detail.get("phase") or "")
    number = str(detail.get("number") or "")
    phase = f"{number}. {quoted(title)}" if title else number
    return minute(entry.at), phase, phase_words(entry)


def _data(entry: JournalEntry) -> dict[str, object]:
    return {
        "at": render_time(entry.at),
        "kind": entry.kind,
        "from": entry.source,
        "to": entry.target,
        "agent": entry.actor or None,
        "session": entry.session or None,
        **{name: entry.detail[name] for name in sorted(entry.detail)},
    }
