"""As much of a worktree's world as is asked whether the staged workflow is on there."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from lifecycle.core.timing import SystemClock
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.core.world import World
from lifecycle.settings import config
from lifecycle.stages.session import activation


class BareWorld:
    """A folder with settings, and no variables."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock = root, SystemClock()

    @property
    def settings(self) -> Settings:
        """The settings, read each time."""
        return config.load(self.root, {})


def wanted(root: Path) -> StageSettings | None:
    """The workflow's settings if it is on."""
    return activation.wanted_in(cast("World", BareWorld(root)))
