"""Imports point down, each third-party package is known in one place, and the quiet path is light."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lifecycle.claim.file import CLAIM_FILE
from tests.factories import EXAMPLE

PACKAGE = Path(__file__).parents[1] / "lifecycle"

LAYERS: tuple[tuple[str, ...], ...] = (
    # Values: what is known, what can be done, what can go wrong; and the smallest tools.
    (
        "",
        "errors",
        "checks",
        "model",
        "survey",
        "lease_word",
        "tracker",
        "stage_names",
        "plan",
        "ports",
        "machine",
        "redact",
        "times",
        "clock",
        "resources",
        "shapes",
        "marker",
        "priorities",
        "dependencies",
        "stdin",
        "regular",
    ),
    # The kernel's tools: time limits, files, words, settings, the client's contract.
    (
        "deadline",
        "store",
        "log",
        "journal",
        "journal_file",
        "stage_log",
        "retry",
        "messages",
        "review_messages",
        "loss_messages",
        "linked_messages",
        "hookio",
        "settings_file",
        "config",
        "settings",
        "stage_settings",
        "home",
        "credentials",
        "readers",
    ),
    # What is said once, who waits, and whether plugin and command belong together.
    ("ledger", "watch", "versions"),
    # Adapters and systems, which do not know each other.
    ("git", "github", "sandbox", "claim"),
    # Operations of the public API, and what the engine shares with them.
    ("ops",),
    # What keeps tasks, over the operations.
    ("trackers",),
    # The composition root, then the engine.
    ("wiring", "tracked", "tracking"),
    ("elsewhere",),
    ("act", "guard", "engine", "install", "doctor", "stages", "stats"),
    # Many tasks at once: the same decisions and the same writes.
    ("reconcile",),
    # What each hook answers, then the entrypoints.
    ("answers",),
    ("wake", "api", "demo"),
    ("cli",),
    ("__main__",),
)
"""From the bottom up. A module imports from its own layer and from those below."""

STRANGERS = {"git", "github", "sandbox", "claim"}
"""Members of one layer that must not import each other."""

EXCEPTIONS = {
    # Taking and handing off use git and GitHub in an order that is theirs to know, under the lock:
    # they take the bundle of protocols, and no adapter.
    ("claim.taking", "wiring"),
    ("claim.admission", "wiring"),
    ("claim.again", "wiring"),
    ("claim.begun", "wiring"),
    ("claim.moves", "wiring"),
    ("claim.giving", "wiring"),
    ("claim.worktree", "wiring"),
    ("claim.branch", "wiring"),
    ("claim.next_task", "wiring"),
    ("claim.taken_at", "wiring"),
    # The linked task is claimed in between, in the same order, under the same lock.
    ("claim.inner", "wiring"),
    ("claim.inside", "wiring"),
    ("claim.undone", "wiring"),
    # Which remote of a fork is the base repository: parsing a URL is git's knowledge.
    ("claim.branch", "git"),
}
"""(module, what it imports) that LAYERS forbids, each with its reason above it."""

PLACES = {
    "click": {"cli"},
    "dateutil": {"times"},
    "filelock": {"sandbox", "store"},
    "github": {"github.rest", "github.requester"},
    "gql": {"github.graph"},
    # Documents are made one of several, which takes them apart; gql sends what comes out.
    "graphql": {"sandbox", "github.documents", "github.repeating"},
    # The transport below both clients: the token's header and time-outs that follow the deadline.
    # The signature of a GitHub App.
    "jwt": {"github.app_token", "sandbox"},
    "requests": {"github.wire"},
    "urllib3": {"github.wire"},
    "rich": {
        "cli.demo",
        "cli.doctor",
        "cli.reconcile_screen",
        "cli.stats_screen",
        "cli.terminal",
        "cli.tracker_screen",
    },
    "tenacity": {"retry"},
    "werkzeug": {"sandbox"},
    "jinja2": {"sandbox", "stats.page"},
    "plotly": {"stats.page"},
    "msgspec": {"sandbox"},
    "yaml": {"sandbox"},
}
"""Each third-party package, and the modules or folders that may import it."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import: who, what (absolute), and whether it is there for type checkers only."""

    module: str
    target: str
    is_typing: bool


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def _imports(module: str, path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, id(node) in typing)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                yield Import(module, _named(node.module or "", alias.name), id(node) in typing)


def _named(package: str, name: str) -> str:
    """`from lifecycle.claim import derive` imports a module, `from lifecycle.plan import Say` not."""
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    is_module = path.is_dir() or path.with_suffix(".py").is_file()
    return f"{package}.{name}" if package.startswith("lifecycle") and is_module else package


ALL = [found for module, path in _modules() for found in _imports(module, path)]


def _place(module: str) -> str:
    """The member of LAYERS that a module belongs to."""
    return module.partition(".")[0]


def _rank(module: str) -> int:
    (rank,) = [index for index, layer in enumerate(LAYERS) if _place(module) in layer]
    return rank


def _inner() -> Iterator[tuple[str, str]]:
    """(module, imported module) inside the product."""
    for found in ALL:
        if found.target.partition(".")[0] == "lifecycle":
            yield found.module, found.target.removeprefix("lifecycle").removeprefix(".")


def _is_allowed(module: str, target: str) -> bool:
    one, other = _place(module), _place(target)
    if one == other:
        return True
    return _rank(target) <= _rank(module) and not {one, other} <= STRANGERS


def test_every_module_has_a_layer() -> None:
    """No module stands beside the layers, and no layer names a module that is not there."""
    there = {_place(module) for module, _ in _modules()}
    named = [name for layer in LAYERS for name in layer]
    assert len(named) == len(set(named))
    assert set(named) == there


def test_imports_point_down() -> None:
    """A module imports from its layer and below; an adapter and a system do not know each other."""
    wrong = {
        (module, _place(target)) for module, target in _inner() if not _is_allowed(module, target)
    }
    assert wrong == EXCEPTIONS


def test_values_import_values_only() -> None:
    """The bottom layer knows nothing of the product but itself."""
    bottom = set(LAYERS[0])
    assert {_place(t) for m, t in _inner() if _place(m) in bottom} <= bottom


def test_claim_knows_no_adapter() -> None:
    """The claim system reaches GitHub through protocols: it imports no adapter's package."""
    reached = {_place(target) for module, target in _inner() if _place(module) == "claim"}
    assert reached
    assert not reached & {"github", "sandbox", "cli", "engine", "act"}


@pytest.mark.parametrize("adapter", ["git", "github", "sandbox"])
def test_an_adapter_knows_no_system(adapter: str) -> None:
    """An adapter imports values and tools, and nothing that knows what a claim is."""
    reached = {_place(target) for module, target in _inner() if _place(module) == adapter}
    assert reached
    assert reached <= {adapter, *LAYERS[0], *LAYERS[1], *LAYERS[2]}


def test_decisions_are_pure() -> None:
    """What decides imports no clock, no file, no process and no network, not even from Python."""
    pure = {"claim.decide", "claim.closing", "claim.derive", "claim.hints", "claim.merge"}
    pure |= {"claim.releasing", "claim.ending", "claim.linked"}
    pure |= {"stages.decide", "stages.table", "stages.instructions", "stages.markers"}
    pure |= {"stages.inference", "stages.words", "stages.runs", "stages.shell", "stages.detect"}
    pure |= {"stages.options"}
    banned = {
        "os",
        "io",
        "time",
        "pathlib",
        "subprocess",
        "socket",
        "random",
        "secrets",
        "tempfile",
    }
    modules = {module for module, _ in _modules()}
    assert pure <= modules
    used = {found.target.partition(".")[0] for found in ALL if found.module in pure}
    assert not used & banned
    inner = {_place(target) for module, target in _inner() if module in pure}
    assert not inner & {"store", "log", "clock", "config", "deadline", "wiring", "git", "github"}


def test_each_third_party_package_is_known_in_its_place() -> None:
    """PLACES is exact: no import outside of it, and no place in it without an import."""
    seen: dict[str, set[str]] = {}
    for found in ALL:
        name = found.target.partition(".")[0]
        if name not in sys.stdlib_module_names and name != "lifecycle":
            seen.setdefault(name, set()).add(found.module)
    assert set(seen) == set(PLACES)
    for name, modules in seen.items():
        used = {place for place in PLACES[name] for m in modules if _is_in(m, place)}
        outside = {m for m in modules if not any(_is_in(m, place) for place in PLACES[name])}
        assert (outside, used) == (set(), PLACES[name]), name


def _is_in(module: str, place: str) -> bool:
    return module == place or module.startswith(f"{place}.")


@pytest.mark.parametrize("module", ["wake", "__main__", "api", "engine", "claim.taking"])
def test_entrypoints_import_no_third_party_package(module: str) -> None:
    """Importing an entrypoint costs nothing but our own code: adapters come when they are touched."""
    loaded = _loaded(f"import lifecycle.{module}", Path.cwd())
    assert "lifecycle" in loaded
    assert not loaded & set(PLACES)


def test_the_quiet_stop_touches_no_library(tmp_path: Path) -> None:
    """A stop after which nothing changed loads no client, no lock, no CLI, no date parser.

    The first look, which takes the lock, does load one: so the measure measures.
    """
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / CLAIM_FILE).write_text(json.dumps(EXAMPLE))
    stop = "from lifecycle.wake import run; code = run('on-stop'); assert code == 0"
    first = _loaded(stop, tmp_path)
    assert "filelock" in first
    kept = (tmp_path / ".lifecycle/state.json").read_bytes()
    quiet = _loaded(stop, tmp_path)
    assert {"lifecycle.engine", "lifecycle.claim.decide", "lifecycle.hookio"} <= quiet
    assert not quiet & {*PLACES, "http", "logging", "ssl", "asyncio", "sqlite3"}
    assert (tmp_path / ".lifecycle/state.json").read_bytes() == kept


def _loaded(statement: str, root: Path) -> set[str]:
    """The modules in `sys.modules` once a fresh Python has run the statement, and nothing printed."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=root,
        env={**kept, "CLAUDE_PROJECT_DIR": str(root)},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    return set(line.split())
