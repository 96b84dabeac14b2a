"""A start or a compaction where a workflow alone has something to say, and nothing was prepared.

The quick path asks this before the full path: it reads and writes the workflows as that would, and loads
neither claim nor run nor stage nor GitHub. Whatever is out of the ordinary is the full path's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lifecycle.app.guidance import preparing
from lifecycle.app.guidance.recovery_message import folded
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import as_data, redact, shown
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock, alarm
from lifecycle.git import tracked_files
from lifecycle.hooks.workflow_part import WorkflowAsk, WorkflowPart
from lifecycle.settings import config, known_clones

SECONDS: Final = 3.0
"""How long it may take; what is not done by then is begun anew by the full path."""


def answer(
    hook: str, event: Mapping[str, Any], root: Path, environment: Mapping[str, str]
) -> dict[str, str] | None:
    """What is told (`told`, `person`) or kept (`kept`), "" for nothing; None if the full path answers.

    Args:
        hook: the entrypoint: of a start, or of a compaction.
        event: what the client sent.
        root: the worktree's top folder.
        environment: the variables.
    """
    if config.is_served(root, environment):
        return None
    try:
        with alarm(SECONDS):
            deadline = Deadline.after(SystemClock(), SECONDS - 1.0)
            tracked_files.refuse(root, deadline, environment)
            part = WorkflowPart(WorkflowAsk(hook, event, root, environment, deadline))
            if hook == "pre-compact":
                lines = part.compacted().kept
                return {"kept": preparing.kept_text(lines) if lines else ""}
            known_clones.note(root, environment)
            part.started(is_alone=True)
    except (LifecycleError, DeadlineReached):
        return None
    words = folded([part.part]) if part.part is not None else []
    person = [as_data(redact(sentence)) for sentence in part.person]
    return {"told": shown("\n".join(words)), "person": shown("\n".join(person)).strip()}
