"""Keep a world in a file: an SQLite database with the pieces of its seed, and its git next to it.

A piece is an issue, a pull request, a check, a card, or the rest of a repository or board. Only changed
pieces are written, in one transaction, before the answer to the request goes out: so whoever has seen an
answer finds the change again after a crash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock
import msgspec
from msgspec.structs import replace

from lifecycle.sandbox.base.errors import SandboxError, SeedError
from lifecycle.sandbox.repositories.state import World
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.seed.form import Seed
from lifecycle.sandbox.seed.founding.world import make_world

VERSION = 1
PARTS = ("issues", "pulls", "checks", "statuses")
"""The lists of a repository whose members are separate pieces."""


@dataclass(slots=True)
class Keeper:
    """One database file, which only one sandbox uses at a time.

    Raises:
        SandboxError: Another sandbox uses it, or it is not one of ours.
    """

    path: Path
    """The file; made absolute, since git runs in other folders."""
    known: dict[str, bytes] = field(default_factory=dict)
    lock: filelock.BaseFileLock = field(init=False)
    is_new: bool = False

    def __post_init__(self) -> None:
        self.path = self.path.absolute()
        self.lock = filelock.FileLock(f"{self.path}.lock")
        try:
            self.lock.acquire(timeout=0)
        except filelock.Timeout:
            raise SandboxError(
                f"Another sandbox has {self.path} open; stop it, or name another file."
            ) from None
        except OSError as error:
            raise SandboxError(f"{self.path} cannot be used ({error.strerror}).") from None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """The folder of the bare repositories."""
        return self.path.with_name(f"{self.path.name}.git")

    def close(self) -> None:
        """Release the file; a new one without a world is deleted."""
        if self.is_new and not self.known:
            self.path.unlink(missing_ok=True)
        self.lock.release()

    def _open(self) -> None:
        self.is_new = not self.path.exists()
        try:
            with closing(sqlite3.connect(self.path)) as base, base:
                version = base.execute("PRAGMA user_version").fetchone()[0]
                tables = {row[0] for row in base.execute("SELECT name FROM sqlite_master")}
                if version == 0 and tables:
                    raise SandboxError(
                        f"{self.path} is another program's database, so nothing in it was changed; "
                        "name another file."
                    )
                base.execute("CREATE TABLE IF NOT EXISTS pieces (name TEXT PRIMARY KEY, json BLOB)")
                if version == 0:
                    base.execute(f"PRAGMA user_version = {VERSION}")
                elif version != VERSION:
                    raise SandboxError(
                        f"{self.path} was written by another version of the sandbox; serve it with "
                        "that one, or name another file."
                    )
                self.known = dict(base.execute("SELECT name, json FROM pieces ORDER BY rowid"))
        except sqlite3.Error as error:
            raise SandboxError(
                f"{self.path} cannot be used as the sandbox's database ({error}); nothing in it "
                "was changed. Name another file."
            ) from None

    def load(self) -> Seed | None:
        """The seed of the world in the file; None for a new file.

        Raises:
            SandboxError: It does not describe a world.
        """
        if not self.known:
            return None
        try:
            return _whole(self.known)
        except (msgspec.MsgspecError, KeyError, SeedError) as error:
            raise SandboxError(
                f"{self.path} does not hold a whole world ({error}); nothing in it was changed. "
                "Name another file."
            ) from None

    def save(self, world: World) -> int:
        """Write the changes since the last time, and return the number of written pieces.

        Raises:
            SandboxError: The disk is full, or the file is gone; the saved state stays as it was.
        """
        pieces = dict(_pieces(seed_of(world, with_git=False)))
        changed = [(name, json) for name, json in pieces.items() if self.known.get(name) != json]
        gone = [(name,) for name in self.known.keys() - pieces.keys()]
        if not changed and not gone:
            return 0
        try:
            with closing(sqlite3.connect(self.path)) as base, base:
                base.executemany(
                    "INSERT INTO pieces VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET json = excluded.json",
                    changed,
                )
                base.executemany("DELETE FROM pieces WHERE name = ?", gone)
        except sqlite3.Error as error:
            raise SandboxError(
                f"The sandbox could not keep its state in {self.path} ({error}); what it kept "
                "before is still there."
            ) from None
        self.known = pieces
        return len(changed) + len(gone)


def _pieces(seed: Seed) -> Iterator[tuple[str, bytes]]:
    """The pieces of a seed, in an order in which they can be put together again."""
    yield "world", msgspec.json.encode(replace(seed, repositories=[], projects=[]))
    for repo in seed.repositories:
        bare: Any = replace(repo, **{part: [] for part in PARTS})
        yield f"repository/{repo.id}", msgspec.json.encode(bare)
        for part in PARTS:
            for piece in getattr(repo, part):
                yield f"{part}/{repo.id}/{piece.id}", msgspec.json.encode(piece)
    for project in seed.projects:
        yield f"project/{project.id}", msgspec.json.encode(replace(project, items=[]))
        for item in project.items:
            yield f"items/{project.id}/{item.id}", msgspec.json.encode(item)


def _whole(pieces: dict[str, bytes]) -> Seed:
    """Put the pieces of a seed (JSON by name, ordered as by `_pieces`) together again."""
    world: dict[str, Any] = {"repositories": [], "projects": []}
    owners: dict[str, dict[str, Any]] = {}
    for name, json in pieces.items():
        value = msgspec.json.decode(json)
        kind, _, key = name.partition("/")
        if kind == "world":
            world |= value
        elif kind in {"repository", "project"}:
            owners[key] = value
            world["repositories" if kind == "repository" else "projects"].append(value)
        else:
            owners[key.rpartition("/")[0]].setdefault(kind, []).append(value)
    return msgspec.convert(world, Seed)


def dumped(path: Path) -> str:
    """The seed of the world in a file, with its git.

    Raises:
        SandboxError: There is no such file, a sandbox uses it, or it contains no world.
    """
    if not path.exists():
        raise SandboxError(f"There is no file {path}; nothing was dumped.")
    keeper = Keeper(path)
    try:
        seed = keeper.load()
        if seed is None:
            raise SandboxError(f"{path} holds no world yet; nothing was dumped.")
        return as_yaml(seed_of(make_world(seed, keeper.folder)))
    finally:
        keeper.close()
