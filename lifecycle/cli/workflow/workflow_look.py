"""`lifecycle workflow phase|show|list|guidance|todos|history`: the commands that only look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from lifecycle.app.guidance import guidance_text
from lifecycle.cli.workflow.workflow import WorkflowSession, drawn, phase_data, workflow_data
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages.figures import minute
from lifecycle.core.redact import as_data, named
from lifecycle.core.timing import render_time
from lifecycle.storage import journal
from lifecycle.views.overview import overview_words, overview_workflow
from lifecycle.workflow import state
from lifecycle.workflow.sources.source_files import read_sources
from lifecycle.workflow.store import document_files


def phase(session: WorkflowSession, *, name: str) -> None:
    """Show the current phase: what the last phase handed on, what to read, and the gate."""
    workflow = session.steps.named(session.store.read(archived=bool(name)), name).workflow
    is_at_one = workflow.phase and not workflow.is_over
    data = {
        **fields_of(workflow, id="id", workflow="name"),
        "phase": phase_data(workflow, workflow.current) if is_at_one else None,
        **fields_of(workflow, required_reading="all_reading", key_reminders="all_reminders"),
    }
    session.print(drawn("standing", workflow=workflow), data)


def show(session: WorkflowSession, *, name: str) -> None:
    """Show all of a workflow: task, phases, deliverables, reading, time. An archived one needs its name.

    Its files are synchronised: an edited document is read, and a view is renewed.
    """
    entry = session.steps.named(session.store.read(archived=bool(name)), name)
    try:
        troubles = session.store.settle().troubles
    except (LifecycleError, OSError) as error:  # the workflow is shown anyway
        troubles = [str(error)]
    workflow = entry.workflow
    beside = delegation_lines(session.store.root)
    lines = drawn("show", workflow=workflow, now=session.now, beside=beside)
    data = {**workflow_data(workflow), "files": entry.places, "beside": beside}
    session.print(lines, data, [*entry.remarks, *troubles])


def list_all(session: WorkflowSession, *, archived: bool) -> None:
    """List the workflows of this worktree, the one that was changed last first."""
    workflows = session.store.read(archived=archived)
    shown = workflows.found if archived else workflows.unfinished
    own_session = session.asker.session
    about = {"shown": shown, "archived": archived, "session": own_session, "now": session.now}
    data = {
        "workflows": [
            {
                **workflow_data(entry.workflow),
                "is_current": document_files.CURRENT in entry.places,
                "is_own": bool(own_session) and entry.workflow.session == own_session,
                "files": entry.places,
            }
            for entry in shown
        ],
        "unusable": [fields_of(file, path="path", says="sentence") for file in workflows.unusable],
    }
    troubles = (*workflows.troubles, *read_sources(session.root)[1])
    session.print(drawn("list", **about), data, troubles)


def guidance(session: WorkflowSession, *, name: str) -> None:
    """Print what a session is told of its workflow at its start and after a compaction, without a limit.

    If this session has no workflow, only a note on the others is printed.
    """
    workflows = session.store.read(archived=bool(name))
    choice = session.steps.choice(workflows)
    workflow = session.steps.named(workflows, name).workflow if name else choice.workflow
    leading = (choice.workflow, *choice.others)
    others = [other for other in leading if other is not None and other != workflow]
    data: dict[str, Any] = {"workflow": None, "guidance": None}
    if workflow is None:
        held = [*map(guidance_text.held_line, others[:3]), *choice.lapsed_lines]
        lines = held or ["There is no unfinished workflow here."]
    elif workflow.is_over:
        lines = drawn("phase", workflow=workflow)
    else:
        shown, refused = overview_workflow.reading_here(session.root, workflow)
        lines = guidance_text.whole_guidance(shown, others, refused)
        data["guidance"] = "\n".join(lines)
    data |= fields_of(workflow, workflow="name", id="id") if workflow is not None else {}
    session.print(lines, data, troubles=workflows.troubles)


def todos(session: WorkflowSession, *, name: str) -> None:
    """Print the phases for the client's to-do list; with --json in the form of its tool."""
    items = state.todos(session.steps.named(session.store.read(archived=bool(name)), name).workflow)
    lines = [f"{todo['status']}: {as_data(todo['content'])}" for todo in items]
    session.print(lines, {"todos": items})


GRAPH: Final = ".claude/state/active_task_graph.json"
SESSIONS: Final = ".claude/state/delegated_sessions.txt"
_MOST: Final = 1_000_000
_SHOWN: Final = 20


def delegation_lines(root: Path) -> list[str]:
    """A line for each of `GRAPH` and `SESSIONS` that exists below `root`, even if it cannot be read."""
    lines = []
    for path, line_of in ((GRAPH, _graph_line), (SESSIONS, _sessions_line)):
        try:
            content = document_files.own_content(root, path, _MOST)
            if content is not None:
                lines.append(line_of(content[0][:_MOST].decode("utf-8", "replace")))
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            lines.append(f"{path} cannot be read; it was left as it is.")
    return [line for line in lines if line]


def _graph_line(text: str) -> str:
    """The current wave: a graph lists its waves, in itself or in its plan, and each wave its phases."""
    data = json.loads(text)
    waves = (data.get("execution_plan") or data).get("waves") or []
    current = int(data.get("current_wave") or 0)
    if not 0 <= current < len(waves):
        return f"Task graph: {len(waves)} waves ({GRAPH})"
    listed = waves[current]["phases"]
    ids = [str(e.get("phase_id", "") if isinstance(e, dict) else e) for e in listed]
    phases = ", ".join(named(name, 60) for name in ids[:_SHOWN]) or "no phases"
    return f"Task graph: wave {current + 1} of {len(waves)}: {phases} ({GRAPH})"


def _sessions_line(text: str) -> str:
    count = len({line.strip() for line in text.splitlines() if line.strip()})
    return f"Delegated sessions: {count} ({SESSIONS})" if count else ""


def history(session: WorkflowSession, *, lines: int, name: str) -> None:
    """Show each move of each phase, with its reason and its gate, the newest last; also of an archived one.

    It comes from this clone's journal, so it outlives the workflow's own files.
    """
    workflows = session.store.read(archived=True)
    if name or workflows.unfinished or not workflows.found:
        workflow = session.steps.named(workflows, name).workflow
    else:
        workflow = workflows.found[0].workflow  # the one that ended last
    entries = journal.read(session.root, count=lines, system=journal.WORKFLOW, task=workflow.id)
    data = {"id": workflow.id, "workflow": workflow.name, "entries": [*map(_data, entries)]}
    about = {"entries": entries, "minute": minute, "words": overview_words.phase_words}
    session.print(drawn("history", workflow=workflow, **about), data)


def _data(entry: journal.JournalEntry) -> dict[str, object]:
    return {
        "at": render_time(entry.at),
        "kind": entry.kind,
        "from": entry.source,
        **fields_of(entry, to="target", agent="actor?", session="session?"),
        **dict(sorted(entry.detail.items())),
    }
