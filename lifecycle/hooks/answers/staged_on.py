"""Is the staged workflow on in this worktree? And where it is, its log is kept out of git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.git.excluded_files import exclude_own_files
from lifecycle.stages.session import activation
from lifecycle.storage import log, stage_log, workflow_marks

if TYPE_CHECKING:
    from lifecycle.app.wiring import WorktreeWorld
    from lifecycle.core.values.configured import StageSettings

LINES = (f"/{stage_log.FOLDER}/{stage_log.LOG}*",)
"""The pattern of the log, and of what it was turned over to."""


def wanted(world: WorktreeWorld) -> StageSettings | None:
    """The workflow's settings if it is on here; None if it is not. Its marks are renewed on the way."""
    was_known = workflow_marks.is_known(str(world.root))
    stages = activation.wanted(world.root, world.environment, world.clock)
    if stages is not None and not was_known:
        try:
            exclude_own_files(world.root, LINES)
        except OSError as error:
            log.write(world.root, f"info/exclude: {error}")
    return stages
