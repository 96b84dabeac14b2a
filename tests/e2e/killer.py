"""Ends a process by a signal at its N-th moment: right before each thing that others could see of it.

A moment is each change of a file that the product keeps (a rename, an exchange, a removal, a mark's mtime),
each write to GitHub or to the git remote, each print, and the end. Between two moments nothing changes
outside of the process, so whoever is killed *after* one is, for all others, killed before the next.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KILL_AT = "TEST_KILL_AT"
"""The moment's number, from 1 on, as an environment variable; without it nothing is staged."""

KILL_WITH = "TEST_KILL_WITH"
"""The signal's name, SIGKILL unless given."""

GRACE_SECONDS = 90.0
"""SIGALRM says that the time is up: from there on a process has so long until its hard end.

As long it may take until then.
"""

KILL_NOTE = "TEST_KILL_NOTE"
"""A file that gets the names of the moments that came, the last one being the end."""

EDIT = "TEST_EDIT"
"""The claim as an agent writes it right before the first exchange; the process is killed right after it."""

AHEAD = "TEST_AHEAD"
"""How many seconds the process's clock is ahead."""

_REMOTE = {
    "lifecycle.github.pulls.forge:GitHubForge": (
        "create_pull_request",
        "comment",
        "close_issue",
        "unassign",
        "move_ref",
    ),
    "lifecycle.github.board.board_client:GitHubBoard": ("set_fields",),
    "lifecycle.github.operations.joint_writes:JointWrites": ("send",),
    "lifecycle.git.lease": ("release",),
}
_NOISE = ("log", "now", "lock", "waiter.lock")


@dataclass
class _Killer:
    """Counts moments, and ends the process at one of them."""

    at: int
    note: str
    ends_with: signal.Signals = signal.SIGKILL
    count: int = 0

    def moment(self, name: str) -> None:
        """Something is about to be seen by others."""
        self.count += 1
        descriptor = os.open(self.note, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        _write(descriptor, f"{name}\n".encode())
        os.close(descriptor)
        if self.count == self.at:
            os.kill(os.getpid(), self.ends_with)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """One of Python's audit events."""
        if event == "os.rename":
            if not _is_same(*arguments[:2]):
                self._file("rename to", arguments[1])
        elif event == "os.utime":
            self._file("date", arguments[0])
        elif event == "os.remove" and Path(os.fsdecode(arguments[0])).exists():
            self._file("remove", arguments[0])
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT:
            self._file("make", arguments[0], is_new=True)

    def _file(self, verb: str, path: object, *, is_new: bool = False) -> None:
        if isinstance(path, int):  # a date that is set on an open file names its descriptor alone
            path = _path_of(path)
        if not isinstance(path, str | os.PathLike):
            return
        whole = Path(os.fsdecode(path))
        name = whole.name
        ours = (".agent-claim.json", "workflow-state.json", "workflow.json", "state-", "wf_")
        mine = whole.parent.name in (".lifecycle", "stages") or name.startswith(ours)
        is_old = is_new and (whole.suffix == ".tmp" or whole.exists())
        if mine and not is_old and name not in _NOISE:
            # The mark says all by being there; its date says nothing.
            if name == "waiting" and verb == "date":
                return
            self.moment(f"{verb} {name}")


def _path_of(descriptor: int) -> str | None:
    """The file that a descriptor is open on; None where the system does not show it."""
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return None


def _is_same(one: Any, other: Any) -> bool:
    """True if a rename changes nothing that can be read."""
    try:
        return Path(one).read_bytes() == Path(other).read_bytes()
    except OSError:
        return False


_killer: _Killer | None = None
_write = os.write


def stage(environment: Mapping[str, str]) -> None:
    """Set the clock and the moment that the environment names; the real functions run until then."""
    global _killer  # noqa: PLW0603 -- one process, one end
    ahead = float(environment.get(AHEAD) or 0)
    if ahead:
        from lifecycle.core.timing import SystemClock

        real = SystemClock.now
        SystemClock.now = lambda self: real(self) + ahead  # type: ignore[method-assign]
    if environment.get(EDIT):
        _edit_at_exchange(environment[EDIT].encode())
    if not environment.get(KILL_AT):
        return
    with_signal = signal.Signals[environment.get(KILL_WITH) or "SIGKILL"]
    if (
        with_signal is signal.SIGALRM
    ):  # what comes after it is looked at, however busy the machine is
        vars(sys.modules["lifecycle.core.timing"])["HARD_EXIT_GRACE"] = GRACE_SECONDS
        vars(sys.modules["lifecycle.core.values.configured"])["HOOK_SECONDS"] = 2 * GRACE_SECONDS
    _killer = _Killer(int(environment[KILL_AT]), environment[KILL_NOTE], with_signal)
    for where, names in _REMOTE.items():
        module, _, owner = where.partition(":")
        found = sys.modules[module]
        for name in names:
            _before(getattr(found, owner) if owner else found, name)
    _before(sys.modules["lifecycle.storage.store"], "exchange")
    vars(os)["write"] = _print
    sys.addaudithook(_killer.hear)


def end() -> None:
    """All is printed, and the process is about to end with its exit code."""
    if _killer is not None:
        _killer.moment("end")


def _edit_at_exchange(content: bytes) -> None:
    store = sys.modules["lifecycle.storage.store"]
    exchange: Callable[[Path, Path], bool] = vars(store)["exchange"]

    def run(ours: Path, claim: Path) -> None:
        claim.write_bytes(content)
        assert exchange(ours, claim)
        os.kill(os.getpid(), signal.SIGKILL)

    vars(store)["exchange"] = run


def _before(owner: Any, name: str) -> None:
    real: Callable[..., Any] = getattr(owner, name)

    def run(*arguments: Any, **named: Any) -> Any:
        assert _killer is not None
        _killer.moment(name)
        return real(*arguments, **named)

    setattr(owner, name, run)


def _print(descriptor: int, content: bytes, /) -> int:
    if _killer is not None and descriptor in (1, 2):
        _killer.moment("print")
    return _write(descriptor, content)
