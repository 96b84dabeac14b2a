"""The simulated database: one file beside a lock, replaced by a rename.

The program is started thousands of times, so it imports next to nothing: no typing, no pathlib, no
json. What is `Any` to the type checker is nothing when it runs.
"""

# ruff: noqa: PTH103, PTH105, PTH110, PTH113, PTH118, PTH120, PTH123 -- see above
from __future__ import annotations

import fcntl
import marshal
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "simulated.db"


def find(start: str, environment: dict[str, str]) -> str:
    """The workspace's `.beads` folder: BEADS_DIR, or the nearest one upwards; "" if there is none.

    A linked worktree without one has that of the main worktree.
    """
    named = environment.get("BEADS_DIR", "")
    if named:
        return named if os.path.exists(os.path.join(named, FILE)) else ""
    folder = start
    while True:
        for place in (folder, _main_worktree(folder)):
            if place and os.path.exists(os.path.join(place, ".beads", FILE)):
                return os.path.join(place, ".beads")
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _main_worktree(folder: str) -> str:
    git = os.path.join(folder, ".git")
    if not os.path.isfile(git):
        return ""
    with open(git, encoding="utf-8") as file:
        place = file.read().removeprefix("gitdir:").strip()
    common, middle, _ = place.partition("/.git/worktrees/")
    return common if middle else ""


class Database:
    """What a workspace holds: `issues` by id, `deps`, `comments` by id, and settings."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = os.path.join(folder, FILE)

    def create(self, prefix: str, ids: list[str]) -> None:
        """An empty database; the first issues get these ids."""
        os.makedirs(self.folder, exist_ok=True)
        state = {"prefix": prefix, "ids": ids, "next": 1, "issues": {}, "deps": [], "comments": {}}
        save(self.path, state)

    def read(self) -> dict[str, Any]:
        """The state as it is."""
        with open(self.path, "rb") as file:
            state: dict[str, Any] = marshal.load(file)  # noqa: S302 -- written by this program
        return state

    def writing(self) -> Writing:
        """The state under the lock; what was changed in it is kept, unless an exception leaves."""
        return Writing(self)


class Writing:
    """A context: the locked state, saved at its end."""

    def __init__(self, data: Database) -> None:
        self.data = data

    def __enter__(self) -> dict[str, Any]:
        self.lock = open(f"{self.data.path}.lock", "w", encoding="utf-8")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.state = self.data.read()
        return self.state

    def __exit__(self, kind: type[BaseException] | None, *_more: object) -> None:
        if kind is None:
            save(self.data.path, self.state)
        self.lock.close()


def save(path: str, state: dict[str, Any]) -> None:
    """Replace a file by a value."""
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as file:
        marshal.dump(state, file)
    os.replace(temporary, path)


def now() -> int:
    """Nanoseconds since the epoch."""
    return time.time_ns()


def stamp(moment: int, *, is_whole: bool = False) -> str:
    """RFC 3339 in UTC, with nanoseconds or rounded to whole seconds."""
    seconds, rest = divmod(moment, 1_000_000_000)
    if is_whole:
        seconds, rest = seconds + (rest >= 500_000_000), 0
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{text}.{rest:09d}Z" if rest else f"{text}Z"


def new_id(state: dict[str, Any]) -> str:
    """The next id: one that was asked for, else the prefix and three signs."""
    if state["ids"]:
        chosen: str = state["ids"].pop(0)
        return chosen
    while True:
        number = state["next"] * 7919 % 46656
        state["next"] += 1
        signs = "0123456789abcdefghijklmnopqrstuvwxyz"
        name = f"{state['prefix']}-{signs[number // 1296]}{signs[number // 36 % 36]}{signs[number % 36]}"
        if name not in state["issues"]:
            return name


def resolve(state: dict[str, Any], name: str) -> str:
    """The id that a name stands for: itself, or one whose part behind the prefix begins so; "" if none."""
    issues = state["issues"]
    if name in issues and issues[name]["status"] != "gone":
        return name
    parts = [id_ for id_ in issues if id_.partition("-")[2].startswith(name.rpartition("-")[2])]
    fits = [id_ for id_ in parts if issues[id_]["status"] != "gone" and name]
    return fits[0] if len(fits) == 1 and "-" not in name else ""


def blockers(state: dict[str, Any], name: str) -> list[str]:
    """Ids of the issues that are not closed and block this one."""
    issues = state["issues"]
    ended = ("closed", "tombstone", "gone")
    found = [d["on"] for d in state["deps"] if d["issue"] == name and d["type"] == "blocks"]
    return [on for on in found if on in issues and issues[on]["status"] not in ended]


def is_circle(state: dict[str, Any], name: str, on: str) -> bool:
    """True if the issue would come to wait for itself."""
    todo, seen = [on], set()
    while todo:
        at = todo.pop()
        if at == name:
            return True
        if at not in seen:
            seen.add(at)
            todo += [d["on"] for d in state["deps"] if d["issue"] == at]
    return False
