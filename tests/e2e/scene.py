"""A worktree and a GitHub that can be put back to where they were: a beginning for many stories."""

from __future__ import annotations

import copy
import os
import shutil
import time
from dataclasses import fields
from pathlib import Path

from lifecycle.sandbox.repositories.state import World
from lifecycle.sandbox.server import Sandbox
from lifecycle.storage.store import CLAIM_FILE, FOLDER, Folder
from tests.conftest import Place

_SHARED = ("folder", "lock", "serial")
"""What a copy of the sandbox's world shares with it."""


class Scene:
    """The claim, `.lifecycle/`, the sandbox's world and its bare repository, as they are right now.

    Args:
        sandbox: a sandbox that runs in this process.
        place: a worktree of its repository.
        folder: an empty folder to keep copies in.
    """

    def __init__(self, sandbox: Sandbox, place: Place, folder: Path) -> None:
        assert sandbox.site is not None
        self.world, self.place, self.folder = sandbox.site.world, place, folder
        self.bare = self.world.home.git.path
        Folder(place.root).make()
        shutil.copytree(self.bare, folder / "bare")
        shutil.copytree(place.root / FOLDER, folder / FOLDER)
        if place.has_claim():
            # As old as after a minute: the guards trust what they see of it.
            moment = time.time() - 60
            os.utime(place.root / CLAIM_FILE, (moment, moment))
            shutil.copy2(place.root / CLAIM_FILE, folder / CLAIM_FILE)
        with self.world.lock:
            self.kept = self._copy(self.world)

    def restore(self) -> None:
        """Begin again."""
        again = self._copy(self.kept)
        with self.world.lock:
            for field in fields(World):
                if field.name not in _SHARED:
                    setattr(self.world, field.name, getattr(again, field.name))
            for repo in self.world.repositories.values():
                repo.world = self.world
            shutil.rmtree(self.bare)
            shutil.copytree(self.folder / "bare", self.bare)
        root = self.place.root
        for path in root.glob(f"{CLAIM_FILE}*"):
            path.unlink()
        shutil.rmtree(root / FOLDER)
        shutil.copytree(self.folder / FOLDER, root / FOLDER)
        if (self.folder / CLAIM_FILE).exists():
            shutil.copy2(self.folder / CLAIM_FILE, root / CLAIM_FILE)
        self.place.clear()

    def _copy(self, world: World) -> World:
        shared = {id(part): part for name in _SHARED for part in [getattr(world, name)]}
        return copy.deepcopy(world, shared)
