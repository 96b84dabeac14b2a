"""How far one wake goes through the product: counted, on the embedded GitHub, without a clock.

What counts is functions of ours (not class bodies, not the embedded GitHub's). "Deep" is the number of
changes of module on the stack.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import lifecycle
from lifecycle.core import light_dataclass
from lifecycle.hooks import wake
from lifecycle.storage.store import CLAIM_FILE, Folder
from tests.conftest import Place

PACKAGE = str(Path(lifecycle.__file__).parent) + os.sep
OTHERS = PACKAGE + "sandbox" + os.sep
IMPORT = "<module>"
"""On the stack, in the place of what runs while a module is imported."""

LIGHT = light_dataclass.__file__
"""In the place of Python's own dataclasses, which do not count either."""


@dataclass
class Way:
    """What one wake ran through.

    Attributes:
        functions: how often each function was called, by module and name.
        deepest: the modules on the stack where it changed module most often.
        programs: the command lines of the processes that were started.
        written: the names of files in `.lifecycle/` that were replaced.
    """

    functions: Counter[tuple[str, str]] = field(default_factory=Counter)
    changes: int = 0
    deepest: tuple[str, ...] = ()
    programs: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)

    @property
    def modules(self) -> set[str]:
        """Modules of which a function ran."""
        return {module for module, _ in self.functions}

    def calls(self, module: str, name: str) -> int:
        """How often a function ran."""
        return self.functions[module, name]


def module_of(code: CodeType) -> str:
    """The dotted name of the module of ours that the code is in; "" for others and for class bodies."""
    path = code.co_filename
    if not path.startswith(PACKAGE) or path.startswith((OTHERS, LIGHT)):
        return ""
    if code.co_name == "<module>":
        return ""
    if (
        not code.co_flags & 0x2
    ):  # CO_NEWLOCALS alone is a class body; functions have CO_OPTIMIZED too
        return ""
    return path.removeprefix(PACKAGE).removesuffix(".py").replace(os.sep, ".")


def forget() -> None:
    """Empty what functions of ours have cached, as it is in each process that a client starts."""
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("lifecycle.") else ():
            if callable(clear := getattr(value, "cache_clear", None)):
                clear()


def walked(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Way:
    """Run `act` in this thread, which remembers as little as a new process does, and count."""
    forget()
    way = Way()
    real = subprocess.Popen.__init__

    def start(process: Any, command: Any, *more: Any, **given: Any) -> None:
        way.programs.append(command if isinstance(command, str) else " ".join(map(str, command)))
        real(process, command, *more, **given)

    stack: list[str] = []

    def see(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            # What runs while a module is imported: only in whichever test imports it first.
            is_import = frame.f_code.co_name == "<module>" or stack[-1:] == [IMPORT]
            module = "" if is_import else module_of(frame.f_code)
            stack.append(IMPORT if is_import else module)
            if module == "storage.store" and frame.f_code is Folder.write.__code__:
                way.written.append(frame.f_locals["name"])
            if module:
                way.functions[module, frame.f_code.co_name] += 1
                ours = [name for name in stack if name not in {"", IMPORT}]
                changes = [a for a, b in zip(ours, ["", *ours], strict=False) if a != b]
                if len(ours) > 1 and ours[-1] != ours[-2]:
                    way.changes += 1
                if len(changes) > len(way.deepest):
                    way.deepest = tuple(changes)
        elif event == "return" and stack:
            stack.pop()

    monkeypatch.setattr(subprocess.Popen, "__init__", start)
    before = sys.getprofile()
    # What other tests left would end here, and a generator that is closed counts as called.
    gc.disable()
    sys.setprofile(see)
    try:
        act()
    finally:
        sys.setprofile(before)
        gc.enable()
    return way


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The place, with its variables as this process's own."""
    for name in set(os.environ) - set(place.environment):
        monkeypatch.delenv(name)
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(place.root))
    monkeypatch.chdir(place.root)
    return place


def stop(monkeypatch: pytest.MonkeyPatch) -> Way:
    """One Stop, run by hand: what it prints is a person's."""
    return walked(lambda: wake.run("on-stop", {}), monkeypatch)


def test_the_stop_that_opens_the_pull_request(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are read once, state.json is written once for each fact, and the stack stays low."""
    here.ready()
    way = stop(monkeypatch)
    assert here.claim()["pr_number"] == 46
    assert way.calls("settings.config", "load") == 1
    assert way.calls("claim.record.claim_store", "load") == 1
    assert way.calls("git.process", "run") <= 2  # head and what it lacks, remotes
    saves = [name for name in way.written if name == "state.json"]
    assert len(saves) <= 6  # the first look, intent, pull request, notices, card, what was said
    assert len(way.modules) <= 45, sorted(way.modules)
    assert len(way.deepest) <= 9


def test_the_stop_that_closes_the_issue(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five facts (comment, issue, card, lease, file); what is read and written is in proportion."""
    here.merged()
    way = stop(monkeypatch)
    assert not here.has_claim()
    assert here.issue()["state"] == "closed"
    assert way.calls("settings.config", "load") == 1
    assert way.calls("claim.record.claim_store", "load") == 1
    assert way.calls("git.process", "run") <= 2  # one asks what the branch has that the merge lacks
    assert way.written.count("state.json") <= 7
    assert len(way.modules) <= 50, sorted(way.modules)
    assert len(way.deepest) <= 9


def test_the_ids_of_the_board_are_kept(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next task's pull request costs one save less: the board's ids are there already."""
    here.ready()
    stop(monkeypatch)
    state = here.root / ".lifecycle/state.json"
    cache = json.loads(state.read_text())["cache"]
    state.write_text(json.dumps({"version": 1, "cache": cache}))
    (here.root / CLAIM_FILE).unlink()
    here.work("claude/next-45")
    here.ready(issue_number=45, branch="claude/next-45", item_id=here.item_id(45))
    here.git("switch", "--quiet", "claude/next-45")
    way = stop(monkeypatch)
    assert here.claim()["pr_number"] == 47
    assert way.written.count("state.json") <= 6


def test_the_quiet_stop(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second stop finds nothing to do: no request, nothing written, no git process."""
    here.ready()
    stop(monkeypatch)
    requests = len(here.control.requests())
    way = stop(monkeypatch)
    assert len(here.control.requests()) == requests
    assert way.written == []
    assert way.programs == []
    assert len(way.modules) <= 27
    assert len(way.deepest) <= 7
