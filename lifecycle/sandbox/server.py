"""Start and stop a sandbox: in this process as a context manager, or as a command.

It binds only 127.0.0.1. Stopping does not wait for clients: it shuts all open connections, which wakes
threads that are reading or that a fault lets hang, and joins the threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self, TextIO

from lifecycle.sandbox.base.errors import SandboxError
from lifecycle.sandbox.seed import Seed, default_seed
from lifecycle.sandbox.seed.founding.world import fault_of, make_world
from lifecycle.sandbox.seed.keeping import Keeper
from lifecycle.sandbox.wire.app import Application
from lifecycle.sandbox.wire.http import Server
from lifecycle.sandbox.wire.recorder import recorder_of
from lifecycle.sandbox.wire.site import Site

HOST = "127.0.0.1"
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class SandboxInfo:
    """A sandbox's addresses and token; `git_url` includes the token, as a checkout's does."""

    api_url: str
    graphql_url: str
    git_url: str
    control_url: str
    token: str
    repository: str
    project_owner: str | None
    project_number: int | None

    def as_json(self) -> str:
        """One line of JSON with these names as keys."""
        return json.dumps(asdict(self))


class Sandbox:
    """A GitHub of its own in this process: `with Sandbox() as sandbox: sandbox.info`.

    Args:
        seed: The world to begin with; the built-in one if None.
        port: The port on 127.0.0.1; 0 takes a free one.
        db: A file to keep the world in. If it has one already, that world continues, and a seed is refused.
            The git repositories are in a folder with the same name and `.git` at the end.

    Raises:
        SandboxError: On entry: the port is taken, git is missing or older than 2.38, or the file
            cannot be used.
    """

    def __init__(self, seed: Seed | None = None, port: int = 0, db: Path | None = None) -> None:
        self.given = seed
        self.seed = seed or default_seed()
        self.port = port
        self.db = db
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._keeper: Keeper | None = None
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self.site: Site | None = None

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="lifecycle-sandbox-")
        try:
            self._keeper = self._opened() if self.db else None
            self._start(self._keeper.folder if self._keeper else Path(self._folder.name))
        except BaseException:
            self._leave()
            raise
        return self

    def _opened(self) -> Keeper:
        """Open the file `db`; a world in it becomes the seed."""
        keeper = Keeper(Path(self.db or ""))
        kept = keeper.load()
        if kept and self.given:
            keeper.close()
            raise SandboxError(
                f"{self.db} holds a world already, so the seed was not used; leave the seed out to "
                "go on with it, or name another file."
            )
        self.seed = kept or self.seed
        return keeper

    def _leave(self) -> None:
        """Close the file and remove the temporary folder."""
        if self._keeper:
            self._keeper.close()
            self._keeper = None
        if self._folder is not None:
            self._folder.cleanup()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _start(self, folder: Path) -> None:
        world = make_world(self.seed, folder)
        faults = [fault_of(fault) for fault in self.seed.faults]
        if self._keeper:
            self._keeper.save(world)
        try:
            listener = socket.create_server((HOST, self.port), backlog=128)
        except (OSError, OverflowError) as error:
            raise SandboxError(
                f"Port {self.port} on {HOST} cannot be used; stop what listens there, or ask for port 0."
            ) from error
        with listener:  # the server takes a copy
            self.site = Site(world, recorder=recorder_of(os.environ), keeper=self._keeper)
            for fault in faults:
                self.site.faults.add(fault)
            self._server = Server(listener, Application(self.site), self.site.connections)
        self.port = self._server.port
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="sandbox", args=(0.05,), daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop serving, close every connection and remove the temporary folder."""
        if self.site is None or self._server is None or self._thread is None:
            return
        self.site.signal.stop()
        # Wakes the accepting thread; on systems where it does not, that thread polls (see `_start`).
        with contextlib.suppress(OSError):
            self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.shutdown()
        # Before the join: the thread of `serve_forever` itself waits for every conversation.
        self.site.connections.shut()
        self._thread.join()
        self.site.signal.close()
        if self.site.recorder:
            self.site.recorder.close()
        self.site = self._server = self._thread = None
        self._leave()

    @property
    def info(self) -> SandboxInfo:
        """The sandbox's addresses, its token, its first repository and its first board."""
        name = self.seed.repositories[0].name
        project = self.seed.projects[0] if self.seed.projects else None
        token = self.seed.tokens[0].token
        address = f"{HOST}:{self.port}"
        return SandboxInfo(
            api_url=f"http://{address}",
            graphql_url=f"http://{address}/graphql",
            git_url=f"http://x-access-token:{token}@{address}/{name}.git",
            control_url=f"http://{address}/_sandbox",
            token=token,
            repository=name,
            project_owner=(project.owner or name.partition("/")[0]) if project else None,
            project_number=project.number if project else None,
        )


def serve(
    *,
    port: int = 0,
    seed: Seed | None = None,
    db: Path | None = None,
    out: TextIO,
    exit_with_parent: bool = False,
) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; the first line on `out` is the info as JSON.

    Args:
        port: The port on 127.0.0.1; 0 takes a free one.
        seed: The world to begin with; the built-in one if None.
        db: A file to keep the world in; in memory if None.
        out: The stream for that line; it is flushed.
        exit_with_parent: Also stop when the process that started this one ends.

    Returns:
        The exit code, 0.

    Raises:
        SandboxError: It cannot start.
    """
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in ENDINGS}
    parent = os.getppid()
    try:
        with Sandbox(seed, port, db) as sandbox:
            out.write(sandbox.info.as_json() + "\n")
            out.flush()
            while not ended.wait(0.5 if exit_with_parent else None):
                if os.getppid() != parent:
                    break
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0
