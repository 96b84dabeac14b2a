"""Runs the process-free tests of a room against each mutant, each in a process of its own.

A process with third-party packages imported, and nothing that is mutated, is forked. One fork collects
the tests once, and is forked again for each mutant that is in the body of a function: there the
function's code is replaced. A mutant of what runs at import, and each that survived so, gets a fork in
which the mutated module is imported by tests that are collected anew.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import hypothesis
import pytest

from tests.mutants.mutating import Mutant, mutated

FORBIDDEN = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"}
    | {"socket.bind", "socket.connect", "socket.getaddrinfo"}
)
"""Audit events of what starts a process or opens a connection: such a test is no process-free one.

Source: https://docs.python.org/3/library/audit_events.html
"""

SLOWER = 4
"""A mutant has so many times the CPU time of its tests, and what the project spares."""

TEST_SECONDS = 8
"""And each of its tests has so many times its own, and so many seconds more: what never ends, ends soon."""

WALL = 6
"""It has so many times its CPU time to end: it may sleep, and others use the machine."""

SURVIVED, KILLED = 0, 1


@dataclass(frozen=True, slots=True)
class Project:
    """What is mutated and by what it is tested.

    Attributes:
        root: the folder in which the tests run.
        package: the package's name; a folder of the root.
        folders: the folder of tests of each room, from the root.
        spare_seconds: CPU time that a mutant has beside that of its tests.
        processes: fixtures of all tests that start a process for those that need one; not set up here.
    """

    root: Path
    package: str
    folders: dict[str, str]
    spare_seconds: float = 5.0
    processes: frozenset[str] = frozenset()

    def path(self, module: str) -> Path:
        """The file of a module."""
        return self.root.joinpath(self.package, *module.split(".")).with_suffix(".py")

    def folder(self, module: str) -> str:
        """The folder of the tests of a module's room."""
        return self.folders[module.partition(".")[0]]


def _end_after(cpu_seconds: float) -> None:
    """Let the kernel end this process when it has used so much more CPU time."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    whole = int(time.process_time() + cpu_seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (min(whole, hard) if hard > 0 else whole, hard))


class _ProcessFree:
    """Runs tests, and notes which pass without what they may not do; that is refused to them."""

    def __init__(self, items: list[pytest.Item], usual: dict[str, float] | None = None) -> None:
        self.usual = usual or {}
        self.test = ""
        self.seconds: dict[str, float] = {}
        self.out: set[str] = set()
        for item in items[:1]:
            item.config.pluginmanager.register(self)
        sys.addaudithook(self.audit)

    def audit(self, event: str, _arguments: object) -> None:
        """Refuse."""
        if self.test and event in FORBIDDEN:
            self.out.add(self.test)
            raise RuntimeError(f"a test that is to be process-free caused {event}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a set-up, a test or a tear-down that did not pass."""
        if not report.passed:
            self.out.add(self.test)

    def run(self, items: list[pytest.Item]) -> Iterator[str]:
        """Run tests in this order; gives the id of each that may be counted on, "" for the others."""
        for item, after in zip(items, [*items[1:], None], strict=True):
            if item.nodeid in self.usual:
                _end_after(SLOWER * self.usual[item.nodeid] + TEST_SECONDS)
            self.test, began = item.nodeid, time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            self.test, self.seconds[item.nodeid] = "", time.process_time() - began
            yield "" if item.nodeid in self.out else item.nodeid


@dataclass(slots=True)
class _Session:
    """A plug-in that does something else with the collected tests than to run them."""

    do: Callable[[list[pytest.Item]], None]
    processes: frozenset[str]

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """No example is shrunk, kept or drawn by chance; nothing is printed."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile(
            "mutants", deadline=None, derandomize=True, database=None, phases=phases
        )
        hypothesis.settings.load_profile("mutants")
        config.option.tbstyle = "line"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do it."""
        if session.testsfailed:
            raise session.Failed("the tests cannot be collected")
        for item in session.items:
            names: list[str] = getattr(item, "fixturenames", [])
            names[:] = [name for name in names if name not in self.processes]
        self.do(session.items)
        return True


def collected(project: Project, folders: list[str], do: Callable[[list[pytest.Item]], None]) -> int:
    """Collect what is in the folders (or files) and do something with it; pytest's exit code."""
    os.chdir(project.root)
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--no-header", "--no-summary"]
    options += ["-o", "timeout=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *folders], plugins=[_Session(do, project.processes)]))


@contextmanager
def quiet() -> Iterator[None]:
    kept = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(null, number)
    os.close(null)
    yield
    for number, copy in zip((1, 2), kept, strict=True):
        os.dup2(copy, number)
        os.close(copy)


def forked(do: Callable[[], int], cpu_seconds: float = 0.0) -> int:
    """What a function gives in a fork of this process; KILLED if it fails or takes too long.

    Its temporary files lie in a folder of its own and go with it, however it ends.
    """
    gc.freeze()  # what is there already is not gone through again in each fork
    with tempfile.TemporaryDirectory(prefix="fork-", ignore_cleanup_errors=True) as folder:
        return _forked(do, cpu_seconds, folder)


def _forked(do: Callable[[], int], cpu_seconds: float, folder: str) -> int:
    child = os.fork()
    if not child:
        code = KILLED
        try:
            os.environ["TMPDIR"] = folder
            tempfile.tempdir = None
            os.setpgid(0, 0)
            if cpu_seconds:
                whole = int(cpu_seconds) + 1
                resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
                signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            code = do()
        except BaseException:  # noqa: BLE001  # whatever a mutant raises: it is killed then
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    until = time.monotonic() + WALL * cpu_seconds
    pause = 0.002
    while True:
        done, status = os.waitpid(child, os.WNOHANG if cpu_seconds else 0)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def process_free(items: list[pytest.Item], kept: Path) -> None:
    """Write down the seconds of each test that passes without a process or a connection."""

    def measure() -> int:
        watch = _ProcessFree(items)
        passed = [test for test in watch.run(items) if test]
        kept.write_text(json.dumps({test: watch.seconds[test] for test in passed}))
        return SURVIVED

    forked(measure)


def judged(items: list[pytest.Item], seconds: dict[str, float], module: str = "") -> int:
    """SURVIVED if all of the process-free tests among the items pass.

    Those are asked first whose modules name something of the mutated one, and of them the quick ones;
    those of one module after each other, so that what it sets up for all of them is set up once.
    """
    near: dict[object, bool] = {}
    whole: dict[str, float] = {}
    for test, spent in seconds.items():
        file = test.partition("::")[0]
        whole[file] = whole.get(file, 0.0) + spent

    def place(item: pytest.Item) -> tuple[bool, float, str, float]:
        of, file = getattr(item, "module", None), item.nodeid.partition("::")[0]
        if of not in near:
            near[of] = module in {_home(value) for value in vars(of).values()}
        return not near[of], whole[file], file, seconds[item.nodeid]

    chosen = sorted((item for item in items if item.nodeid in seconds), key=place)
    return SURVIVED if all(_ProcessFree(chosen, seconds).run(chosen)) else KILLED


def _home(value: object) -> str | None:
    """The name of a module, or of the one that something was made in."""
    return value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)


def limit(project: Project, seconds: dict[str, float]) -> float:
    """How much CPU time a mutant has for these tests."""
    return project.spare_seconds + SLOWER * sum(seconds.values())


def within(project: Project, mutant: Mutant) -> bool:
    """Put the mutant into the function that was imported; False if that cannot be done."""
    module = sys.modules.get(f"{project.package}.{mutant.module}")
    live = _function(module, mutant.function) if module is not None else None
    if live is None:
        return False
    tree = mutated(project.path(mutant.module), mutant.number)
    code = _code(compile(tree, live.__code__.co_filename, "exec"), live.__qualname__)
    if code is None:
        return False
    try:
        live.__code__ = code
    except ValueError:  # it uses other names of what is around it
        return False
    return True


def _function(module: ModuleType, name: str) -> FunctionType | None:
    """The outermost function of a qualified name, without what decorates it."""
    found: Any = module
    for part in name.split("."):
        found = vars(found).get(part)
        found = getattr(found, "fget", None) or getattr(found, "__func__", None) or found
        found = getattr(found, "__wrapped__", found)
        if isinstance(found, FunctionType):
            return found
        if not isinstance(found, type):
            return None
    return None


def _code(code: CodeType, name: str) -> CodeType | None:
    for inner in (const for const in code.co_consts if isinstance(const, CodeType)):
        if inner.co_qualname == name:
            return inner
        if name.startswith((f"{inner.co_name}.", f"{inner.co_qualname}.")):
            return _code(inner, name)
    return None


class _Mutated(SourceFileLoader):
    """Loads one module as its mutant."""

    def __init__(self, project: Project, mutant: Mutant) -> None:
        self.mutant = mutant
        super().__init__(f"{project.package}.{mutant.module}", str(project.path(mutant.module)))

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        """That module's, and no other's."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(fullname, self.path, loader=self)

    def get_code(self, _fullname: str) -> CodeType:
        """What is compiled from the mutant."""
        return compile(mutated(Path(self.path), self.mutant.number), self.path, "exec")


def imported(project: Project, mutant: Mutant | None, seconds: dict[str, float]) -> int:
    """SURVIVED if the tests pass that import the mutant (None: the module as it is); for a fork."""
    if mutant is not None:
        sys.meta_path.insert(0, _Mutated(project, mutant))

    def judge(items: list[pytest.Item]) -> None:
        module = f"{project.package}.{mutant.module}" if mutant is not None else ""
        os._exit(judged(items, seconds, module))  # what pytest does at its end takes seconds

    with quiet():
        collected(project, sorted({test.partition("::")[0] for test in seconds}), judge)
    return KILLED  # the tests could not be collected
