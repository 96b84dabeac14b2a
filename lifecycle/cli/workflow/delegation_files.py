"""What other tools left beside workflows: `active_task_graph.json` and `delegated_sessions.txt`, read only.

Of the graph comes which of its waves is at work, and which phases may run beside each other in it; of the
other file how many sessions were delegated. Neither decides anything here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from lifecycle.core.redact import named
from lifecycle.workflow.store.document_files import own_content

GRAPH: Final = ".claude/state/active_task_graph.json"
SESSIONS: Final = ".claude/state/delegated_sessions.txt"
_MOST: Final = 1_000_000
_SHOWN: Final = 20


def delegation_lines(root: Path) -> list[str]:
    """A line for each of the two files that is there; one that cannot be read says so."""
    lines = []
    for path, line_of in ((GRAPH, _graph_line), (SESSIONS, _sessions_line)):
        try:
            found = own_content(root, path, _MOST)
            if found is not None:
                lines.append(line_of(found[0][:_MOST].decode("utf-8", "replace")))
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
