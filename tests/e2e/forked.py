"""Hooks and commands as real processes, without the start of Python and its imports for each of them.

`Forked` starts one server that has imported the product, and makes a command for `LIFECYCLE_BIN`, from C
where that can be compiled. The command hands its arguments, folder, mask, environment, parent and three
descriptors to the server, which forks a process that runs `lifecycle.__main__.main` with exactly these. The
command ends as that process ends: with its exit code, or by its signal; and it is killed if the command is.
So thousands of hooks run in the time that a hundred would take, and what the sh guards, the locks and the
client see is what they always see.

The simulated bd (`tests/trackers/beads/simulated.py`) is forked likewise, by a small server of its own.

Four things are not what they are for a command of its own: it sees the parent that the command had when
it began, a signal to the command does not reach it, a descriptor that is closed cannot be handed over, and
it does not rest for seconds between two looks or attempts (`_PAUSES`).
Where that, or Python's start, is what a test is about, it starts `tests.conftest.STARTED`. `test_forked.py`
holds the two together.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import EnumType
from functools import partial
from pathlib import Path
from types import GeneratorType
from typing import ClassVar, NoReturn, Self

import click
import msgspec

import lifecycle
from tests.e2e import killer
from tests.trackers.beads.program.main import main as be_bd

ROOT = Path(__file__).parents[2]

ASKING = Path(__file__).with_name("asking.c")
"""The command where a C compiler is: without Python's start."""
IN_PYTHON = """#!{python} -IS
import _socket, os, sys
connection = _socket.socket(_socket.AF_UNIX)
connection.connect({path!r})
if connection.fileno() < 3:
    sys.exit("a command with a closed stdin, stdout or stderr is not forked: take STARTED")
mask = os.umask(0)
texts = [os.getcwdb(), b"%d" % mask, b"%d" % os.getppid(), b"%d" % (len(sys.argv) - 1)]
texts += map(os.fsencode, sys.argv[1:])
texts += (name + b"=" + value for name, value in os.environb.items())
asked = b"".join(text + bytes(1) for text in texts)
descriptors = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)]
connection.sendmsg([len(asked).to_bytes(4, "big")], rights)
connection.sendall(asked)
code = int(connection.recv(16) or 70)
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""
"""The same elsewhere. Imports next to nothing: Python's own start is most of what it costs."""


SOCKET, BD_SOCKET = "socket", "bd-socket"
"""In the server's folder: where it is asked for commands, and where for simulated bds."""

STAGE = "TEST_STAGE"
"""A module whose `stage(environment)` prepares a process before it is the command; `killer` always does."""

_PAUSES = {"lifecycle.hooks.quick_wait:SLICE_SECONDS": 0.1, "lifecycle.core.timing:SHORTEST": 0.01}
"""Seconds that a fork lets pass before a waiter looks at its files again, and a request is repeated."""


class Forked:
    """A server that runs the command's forks, while the context lasts; `command` is for `LIFECYCLE_BIN`.

    Attributes:
        bd: asks for a fork of the simulated bd; None while none is served, and without a C compiler.
    """

    bd: ClassVar[Path | None] = None

    def __init__(self) -> None:
        # Not below the test's own folder: a socket's path may have about a hundred bytes only.
        # It is made where it is needed: a worker that forks nothing leaves nothing.
        self.folder = Path(tempfile.gettempdir(), f"forked-{secrets.token_hex(6)}")
        self.command = self.folder / "lifecycle"
        self.in_python = self.folder / "in python" / "lifecycle"

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700)
        path = str(self.folder / SOCKET)
        self.in_python.parent.mkdir()
        self.in_python.write_text(IN_PYTHON.format(python=sys.executable, path=path))
        self.in_python.chmod(0o755)
        if not _is_compiled(self.command, path):
            shutil.copy(self.in_python, self.command)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.forked", str(self.folder)],
            cwd=ROOT,
            env={**os.environ, **_LARGE_PAGES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"
        bd = self.folder / "bd"
        if Forked.bd is None and _is_compiled(bd, str(self.folder / BD_SOCKET)):
            Forked.bd = bd
        return self

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdin: bytes = b"",
        seconds: float = 60,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run the command as `subprocess.run` does, without a process that asks for it.

        Raises:
            subprocess.TimeoutExpired: It did not end in time, and was killed.
        """
        mask = os.umask(0)
        os.umask(mask)
        asked = wanted(arguments, cwd, mask, env, os.getpid())
        with (
            socket.socket(socket.AF_UNIX) as connection,
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin)
            given.seek(0)
            connection.settimeout(seconds)
            connection.connect(str(self.folder / SOCKET))
            streams = [given.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(connection, [len(asked).to_bytes(4, "big")], streams)
            connection.sendall(asked)
            try:
                code = int(connection.recv(16) or 70)
            except TimeoutError:
                raise subprocess.TimeoutExpired([*arguments], seconds) from None
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess([*arguments], code, out.read(), err.read())

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if Forked.bd and Forked.bd.parent == self.folder:
            Forked.bd = None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        shutil.rmtree(self.folder)


def _is_compiled(command: Path, path: str) -> bool:
    """Compile a command for a socket, if there is a compiler that can."""
    compiler = shutil.which("cc")
    if compiler is None:
        return False
    argv = [compiler, "-O1", f"-DSOCKET={json.dumps(path)}", "-o", str(command), str(ASKING)]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def wanted(
    arguments: Sequence[str], folder: Path, mask: int, environment: Mapping[str, str], parent: int
) -> bytes:
    """What a command asks for, as asking.c says it."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    texts = [str(folder), str(mask), str(parent), str(len(arguments)), *arguments, *variables]
    return b"".join(os.fsencode(text) + bytes(1) for text in texts)


_LARGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Variables of the server: a fork copies a table of its pages, which is smaller where they are larger."""

_PRELOADED = (
    *("click", "dateutil.parser", "github", "github.Requester"),
    *(
        "github.Repository",
        "gql",
        "gql.transport.requests",
        "graphql",
        "rich.console",
        "rich.table",
    ),
    *("markdown_it", "tenacity", "click._textwrap", "lifecycle.__main__"),
    *("glob", "pwd", "encodings.ascii", "encodings.utf_8_sig", "encodings.unicode_escape"),
)
"""What the product imports where it first touches it."""

_ASKED = (dict, list, tuple, str, int, type, type(None), GeneratorType, EnumType)
"""Types of values that commands ask about: is it a mapping, is it a kind of parameter."""


@dataclass
class _Server:
    """Accepts one request a connection, and answers it when its process has ended."""

    listener: socket.socket
    become: Callable[[bytes, list[int]], NoReturn]
    reaped: Callable[[], None] = lambda: None
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
        body, descriptors = _received(connection)
        if body is None:  # its command ended before it had asked
            connection.close()
            return
        pid = os.fork()
        if not pid:
            self.listener.close()
            connection.close()
            for other in self.running.values():
                other.close()
            self.become(body, descriptors)
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
                with connection, contextlib.suppress(BrokenPipeError):  # its command was killed
                    connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
            self.reaped()


class _Compiled:
    """The patterns that commands had to compile: the server compiles each once, and no later fork does.

    What was compiled is noted as it happens: whoever looks through all that is kept touches it, and what
    a fork touches is copied.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.read = path, 0
        self.path.touch()
        self.new: list[tuple[object, int]] = []
        re._MAXCACHE = 100_000  # type: ignore[attr-defined]  # 512 are not all that commands have
        compile_anew = re._compiler.compile  # type: ignore[attr-defined]

        def noting(pattern: object, flags: int) -> object:
            self.new.append((pattern, flags))
            return compile_anew(pattern, flags)

        re._compiler.compile = noting  # type: ignore[attr-defined]

    def learn(self) -> None:
        """Compile what was told since the last time."""
        with self.path.open("rb") as file:
            file.seek(self.read)
            lines = file.read().splitlines(keepends=True)
        for line in lines:
            if line.endswith(b"\n"):
                self.read += len(line)
                pattern, flags = json.loads(line)
                re.compile(pattern, flags)
        self.new.clear()

    def tell(self) -> None:
        """In a command: tell which patterns it had to compile."""
        lines = "".join(f"{json.dumps(key)}\n" for key in self.new if isinstance(key[0], str))
        if lines:
            with self.path.open("a", encoding="ascii") as file:
                file.write(lines)


def _received(connection: socket.socket) -> tuple[bytes | None, list[int]]:
    """What a command asks for, None if it has gone; and its standard streams."""
    head, descriptors, _, _ = socket.recv_fds(connection, 4, 3)
    length, body = int.from_bytes(head, "big"), b""
    while head and len(body) < length:
        more = connection.recv(length - len(body))
        if not more:
            break
        body += more
    if head and len(body) == length:
        return body, descriptors
    for descriptor in descriptors:
        os.close(descriptor)
    return None, []


def _in_its_place(asked: bytes, descriptors: list[int]) -> list[str]:
    """Be where the command is, with its variables and streams; what follows are its arguments."""
    folder, *texts = [os.fsdecode(text) for text in asked.split(bytes(1))[:-1]]
    mask, parent, count = map(int, texts[:3])
    arguments, variables = texts[3 : 3 + count], texts[3 + count :]
    os.getppid = lambda: parent  # the command's: who started a hook is how it knows its client
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(folder)
    os.umask(mask)
    os.environ.clear()
    for variable in variables:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    _open_streams()
    return arguments


def _become(compiled: _Compiled, asked: bytes, descriptors: list[int]) -> NoReturn:
    """Be the command: run it in this process, which ends with it."""
    code = 70
    try:
        sys.argv = ["lifecycle", *_in_its_place(asked, descriptors)]
        killer.stage(os.environ)
        if STAGE in os.environ:
            importlib.import_module(os.environ[STAGE]).stage(os.environ)
        from lifecycle.__main__ import main

        code = main()
        sys.stdout.flush()
        sys.stderr.flush()
        compiled.tell()
        killer.end()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except KeyboardInterrupt:  # so late that the command had ended: all of it was printed
        code = 130
    except BaseException as error:  # noqa: BLE001 -- a fork must not go on as a second server
        os.write(2, f"{error!r}\n".encode())
    os._exit(code)


def _become_bd(asked: bytes, descriptors: list[int]) -> NoReturn:
    """Be the simulated bd that lies in the folder which the first argument names."""
    try:
        folder, *sys.argv = _in_its_place(asked, descriptors)
        be_bd(Path(folder, "profile").read_text(), folder)
    except BaseException as error:  # noqa: BLE001 -- as above
        os.write(2, f"{error!r}\n".encode())
    os._exit(70)


def _open_streams() -> None:
    """Standard streams as Python opens them at its start: the server's own knew other files."""
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    as_told = partial(open, encoding=encoding or None, closefd=False)
    sys.stdin = as_told(0, "r", errors=errors or None)
    sys.stdout = as_told(1, "w", errors=errors or None)
    sys.stderr = as_told(2, "w", buffering=1, errors="backslashreplace")


def _import_all() -> None:
    """What a command may import and parse, so that no fork has to: all but the embedded GitHub."""
    for name in (*_PRELOADED, *_modules(lifecycle.__path__, "lifecycle.")):
        importlib.import_module(name)
    _wait_less()
    from lifecycle.core import light_dataclass
    from lifecycle.github.client.graph import document
    from lifecycle.github.pulls.translate import MERGING
    from lifecycle.platforms.platform_file import PlatformFile
    from lifecycle.run.state import Clarification, Run
    from lifecycle.settings.resources import table
    from lifecycle.stages.detection.detect_stage import detect_text
    from lifecycle.workflow.state import Workflow
    from lifecycle.workflow.store.found_workflows import LedgerEntry

    for name in [name for name in sys.modules if name.startswith("lifecycle.")]:
        for made in vars(sys.modules[name]).values():
            if isinstance(made, type) and made.__dict__.get("__init__") is light_dataclass._begun:
                made.__init__ = light_dataclass._init(made)  # type: ignore[misc]
    for kind in (Run, Workflow, PlatformFile, LedgerEntry, Clarification):
        with contextlib.suppress(msgspec.ValidationError):  # it reads their annotations first
            msgspec.convert(None, kind)
    detect_text("VERDICT: APPROVED\n\nAll tests pass.")  # reads the tables of words and the parser
    package = Path(lifecycle.__file__).parent
    for path in package.rglob("*.toml"):
        table(str(path.relative_to(package)))
    for asked in _ASKED:  # the first answer takes a walk through all subclasses, and is kept
        issubclass(asked, Mapping)
        issubclass(asked, click.ParamType)
    for path in sorted((ROOT / "graphql").glob("*.graphql")):
        document(path.stem)
    document("observe_claim", *MERGING)
    if sys.platform == "linux":
        _fill_gaps()
    gc.freeze()
    gc.enable()  # as a command of its own finds it


def _wait_less() -> None:
    for where, seconds in _PAUSES.items():
        module, _, name = where.partition(":")
        assert vars(sys.modules[module])[name] > seconds
        vars(sys.modules[module])[name] = seconds


def _fill_gaps() -> None:
    """Take what memory is free between objects, so that what a fork makes lies together, behind them all.

    Each new object in a gap would have a fork copy the page around it: 150 to 300 pages a command.
    """
    libc = ctypes.CDLL(None)
    libc.sbrk.restype = libc.malloc.restype = ctypes.c_void_p
    libc.sbrk.argtypes, libc.malloc.argtypes = [ctypes.c_ssize_t], [ctypes.c_size_t]
    end = libc.sbrk(0)
    for size in (*range(64_000, 1_000, -1_000), *range(1_000, 8, -16)):
        while libc.malloc(size) < end:
            pass


def _modules(path: Iterable[str], prefix: str) -> Iterator[str]:
    for found in pkgutil.iter_modules(path, prefix):
        name = found.name.rpartition(".")[2]
        if name in ("__main__", "demo", "sandbox"):
            continue
        yield found.name
        if found.ispkg:
            yield from _modules(importlib.import_module(found.name).__path__, f"{found.name}.")


def _listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(64)
    return listener


def _main() -> None:
    gc.disable()  # what is imported stays; to look through it again and again takes a seventh of the start
    folder = Path(sys.argv[1])
    os.environ.clear()  # each fork has its command's, and would have to remove these one by one
    with _listening(folder / BD_SOCKET) as listener:
        if not os.fork():  # before the product is imported: its forks are small
            gc.freeze()
            _Server(listener, _become_bd).serve()
            os._exit(0)
    _import_all()
    with _listening(folder / SOCKET) as listener:
        os.write(1, b"ready\n")
        compiled = _Compiled(folder / "patterns")
        compiled.learn()
        _Server(listener, partial(_become, compiled), compiled.learn).serve()


if __name__ == "__main__":
    _main()
