"""Hooks as real processes, without the start of Python and its imports for each of them.

`Forked` starts one server that has imported the product, and writes a command for `LIFECYCLE_BIN`. The
command hands its arguments, folder, environment and three descriptors to the server, which forks a
process that runs `lifecycle.__main__.main` with exactly these. The command ends as that process ends: with
its exit code, or by its signal; and it is killed if the command is. So thousands of hooks run in the time
that a hundred would take, and what the sh guards, the locks and the client see is what they always see.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

from tests.e2e import killer

ROOT = Path(__file__).parents[2]

COMMAND = """#!{python} -IS
import json, os, socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect({path!r})
asked = {{"arguments": sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
body = json.dumps(asked).encode()
socket.send_fds(connection, [len(body).to_bytes(4, "big")], [0, 1, 2])
connection.sendall(body)
code = int(connection.makefile().readline() or 70)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


class Forked:
    """A server that runs the command's forks, while the context lasts; `command` is for `LIFECYCLE_BIN`."""

    def __init__(self) -> None:
        # Not below the test's own folder: a socket's path may have about a hundred bytes only.
        self.folder = Path(tempfile.mkdtemp(prefix="forked-"))
        self.command = self.folder / "lifecycle"

    def __enter__(self) -> Self:
        path = str(self.folder / "socket")
        self.command.write_text(COMMAND.format(python=sys.executable, path=path))
        self.command.chmod(0o755)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.forked", path],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        shutil.rmtree(self.folder)


_PRELOADED = (
    *("lifecycle.wake", "lifecycle.api", "lifecycle.act", "lifecycle.answers", "lifecycle.claim"),
    *("lifecycle.github", "filelock", "tenacity", "dateutil.parser", "ctypes", "click", "github"),
    *("github.Requester", "github.Repository", "graphql", "gql", "gql.transport.requests"),
)
"""Modules, and of the product's packages all that is in them."""


@dataclass
class _Server:
    """Accepts one request a connection, and answers it when its process has ended."""

    listener: socket.socket
    running: dict[int, socket.socket] = field(default_factory=dict)

    def serve(self) -> None:
        """Serve until standard input is closed, then end what still runs."""
        ended, signalled = os.pipe()
        os.set_blocking(ended, False)
        os.set_blocking(signalled, False)
        signal.set_wakeup_fd(signalled)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            watched: list[int | socket.socket] = [0, self.listener, ended, *self.running.values()]
            ready, _, _ = select.select(watched, [], [])
            if 0 in ready:
                break
            if self.listener in ready:
                self._accept()
            if ended in ready:
                os.read(ended, 65536)
                self._reap()
            for pid, connection in list(self.running.items()):
                if connection in ready:  # its command was killed
                    os.kill(pid, signal.SIGKILL)
                    self.running.pop(pid).close()
        for pid in self.running:
            os.kill(pid, signal.SIGKILL)

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        head, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
        length, body = int.from_bytes(head, "big"), b""
        while len(body) < length:
            body += connection.recv(length - len(body))
        pid = os.fork()
        if not pid:
            self.listener.close()
            connection.close()
            for other in self.running.values():
                other.close()
            _become(json.loads(body), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        self.running[pid] = connection

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            connection = self.running.pop(pid, None)
            if connection is not None:
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
                connection.close()


def _become(asked: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Be the command: run it in this process, which ends with it."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv = ["lifecycle", *asked["arguments"]]
        killer.stage(os.environ)
        from lifecycle.__main__ import main

        code = main()
        sys.stdout.flush()
        killer.end()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException as error:  # noqa: BLE001 -- a fork must not go on as a second server
        os.write(2, f"{error!r}\n".encode())
    os._exit(code)


def _import_all() -> None:
    """What a hook may import, so that no fork has to."""
    for name in _PRELOADED:
        module = importlib.import_module(name)
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if name.startswith("lifecycle"):
                importlib.import_module(f"{name}.{inner.name}")
    gc.collect()
    gc.freeze()


def _main() -> None:
    _import_all()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen(64)
        os.write(1, b"ready\n")
        _Server(listener).serve()


if __name__ == "__main__":
    _main()
