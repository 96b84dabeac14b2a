"""Holds every answer that any test's sandbox gives against what GitHub publishes.

Sandboxes in this process and in others append their exchanges to one file for each process of
pytest. After each test what was added is judged, and the test that caused a wrong answer fails.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lifecycle.sandbox.wire.recorder import VARIABLE
from tests import needed
from tests.conformance import sources
from tests.conformance.graph_shape import GraphOracle
from tests.conformance.judge import Judge, Watch
from tests.conformance.openapi import RestOracle

if TYPE_CHECKING:
    from collections.abc import Generator

NEEDED = ("openapi", "sdl")
WATCH = pytest.StashKey[Watch]()
MISSING = pytest.StashKey[list[str]]()


@cache
def _judge() -> Judge:
    rest, graph = sources.kept("openapi"), sources.kept("sdl")
    # Nothing is written down without them.
    assert rest
    assert graph
    judge = Judge(RestOracle.load(rest), GraphOracle.load(graph))
    gc.freeze()  # 300,000 objects that stay: to look through them takes a quarter of a second
    return judge


def pytest_configure(config: pytest.Config) -> None:
    """Begin to write down; without the oracles only where they are not required."""
    missing = config.stash[MISSING] = [one for one in NEEDED if sources.kept(one) is None]
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        if not missing:
            folder = Path(tempfile.mkdtemp(prefix="conformance-"))
            record = folder / "exchanges"
            record.touch(mode=0o600)
            os.environ[VARIABLE] = str(record)
            config.stash[WATCH] = Watch(record, _judge)
        elif needed.is_required():
            raise pytest.UsageError(f"missing: make {' '.join(missing)}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove what was written down."""
    watch = config.stash.get(WATCH, None)
    if watch is not None:
        os.environ.pop(VARIABLE, None)
        shutil.rmtree(watch.path.parent)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """After a test and all that it leaves behind: judge what was answered meanwhile."""
    yield
    watch = item.config.stash.get(WATCH, None)
    if watch is not None and (told := watch.report()):
        pytest.fail(told, pytrace=False)


@pytest.hookimpl(trylast=True)  # after what was not run for other reasons
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say that nothing was held against GitHub, if so."""
    if missing := config.stash.get(MISSING, []):
        how = needed.from_npm(" ".join(missing), "fetches")
        terminalreporter.write_line(
            f"not run: the embedded GitHub's answers held against what GitHub publishes: {how}"
        )
