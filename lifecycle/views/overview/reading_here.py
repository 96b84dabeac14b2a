"""The required reading of a workflow as far as it lies in this worktree; a sentence for what does not."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.workflow.documents.reading_paths import reading_path
from lifecycle.workflow.state import Workflow


def reading_here(root: Path, workflow: Workflow) -> tuple[Workflow, tuple[str, ...]]:
    """The workflow with the paths that stay in the worktree, links followed; sentences on the rest."""
    kept: list[str] = []
    refused: list[str] = []
    top = os.path.realpath(root)
    for path in workflow.all_reading:
        try:
            inside = reading_path(path)
        except Refused as error:
            refused.append(error.sentence)
            continue
        whole = os.path.realpath(root / inside.removeprefix("@"))
        if whole == top or whole.startswith(f"{top}{os.sep}"):
            kept.append(inside)
        else:
            refused.append(
                f"The required reading {quoted(path)} leads out of the project, so it is not in the list."
            )
    phases = tuple(replace(phase, reading=()) for phase in workflow.phases)
    return replace(workflow, reading=tuple(kept), phases=phases), tuple(refused)
