"""Imports point down, each third-party package is known in one place, and the quiet path is light."""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from lifecycle.storage.store import CLAIM_FILE
from tests.factories import EXAMPLE
from tests.mutants.modules import ALSO_MUTATED, OUTSIDE, PURE, RIMS, named

PACKAGE = Path(__file__).parents[1] / "lifecycle"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("storage",),
    ("settings",),
    ("git",),
    ("github",),
    ("trackers",),
    ("platforms",),
    ("evidence",),
    ("claim", "run", "stages", "workflow", "feedback"),
    ("reconcile",),
    ("views",),
    ("app",),
    ("setup",),
    ("hooks",),
    ("cli", "api"),
    ("__main__",),
)
"""The rooms of the product from the bottom up: each imports from itself and from those below it.

Rooms of one layer do not import each other. The embedded GitHub stands apart: it imports nothing of
the product, and only the command line imports it.
"""

APART = "sandbox"

PLACES = {
    "click": {"cli"},
    "dateutil": {"core.timing"},
    "filelock": {"sandbox"},
    "github": {"github.client.library_lines"},
    "gql": {"github.client.library_lines"},
    # gql wants a document that is taken apart.
    "graphql": {"sandbox", "github.client.library_lines"},
    # The signature of a GitHub App.
    "jwt": {"github.auth.app_token", "sandbox"},
    "requests": {"github.client.library_lines"},
    "urllib3": {"github.client.library_lines"},
    "rich": {
        "cli.demo.demo_story",
        "cli.setup.doctor",
        "cli.reconcile.reconcile_screen",
        "cli.views.stats",
        "cli.terminal",
        "views.watch",
    },
    "markdown_it": {"evidence.words.prose_blocks"},
    "tenacity": {"core.timing"},
    "werkzeug": {"sandbox"},
    "jinja2": {"sandbox", "settings.resources"},
    "plotly": {"views.stats.stats_page"},
    "msgspec": {
        "platforms.platform_file",
        "run",
        "sandbox",
        "views.overview.overview_workflow",
        "workflow",
    },
    "yaml": {"sandbox"},
    "defusedxml": {"evidence.junit"},
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
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text(encoding="utf-8")), False)]
    while waiting:
        node, is_typing = waiting.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, is_typing)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                yield Import(module, _named(node.module or "", alias.name), is_typing)
        elif not isinstance(node, ast.expr):  # there is no import in one
            test = node.test if isinstance(node, ast.If) else None
            is_typing |= isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
            waiting += [(below, is_typing) for below in ast.iter_child_nodes(node)]


def _named(package: str, name: str) -> str:
    """`from lifecycle.core import plan` imports a module, `from lifecycle.core.plan import Notice` not."""
    path = PACKAGE.parent.joinpath(*package.split("."), name)
    is_module = path.is_dir() or path.with_suffix(".py").is_file()
    return f"{package}.{name}" if package.startswith("lifecycle") and is_module else package


@functools.cache
def every_import() -> tuple[Import, ...]:
    """Every import of the product; read at the first call, since collecting needs none of them."""
    return tuple(found for module, path in _modules() for found in _imports(module, path))


def _room(module: str) -> str:
    """The member of LAYERS that a module belongs to."""
    return module.partition(".")[0]


def _rank(module: str) -> int:
    (rank,) = [index for index, layer in enumerate(LAYERS) if _room(module) in layer]
    return rank


def _inner() -> Iterator[tuple[str, str]]:
    """(module, imported module) inside the product; the package itself has the version alone."""
    for found in every_import():
        target = found.target.removeprefix("lifecycle").removeprefix(".")
        if found.target.partition(".")[0] == "lifecycle" and target:
            yield found.module, target


def _is_allowed(module: str, target: str) -> bool:
    one, other = _room(module), _room(target)
    if one == other:
        return True
    if APART in (one, other):
        return one == "cli"
    return _rank(target) < _rank(module)


def test_every_room_has_a_layer() -> None:
    """No room stands beside the layers, and no layer names a room that is not there."""
    there = {_room(module) for module, _ in _modules()} - {"", APART}
    named = [name for layer in LAYERS for name in layer]
    assert len(named) == len(set(named))
    assert set(named) == there


def test_imports_point_down() -> None:
    """A module imports from its room and from the layers below, whatever kind the import is of."""
    wrong = {(module, target) for module, target in _inner() if not _is_allowed(module, target)}
    assert wrong == set()


def test_nothing_imports_in_a_circle() -> None:
    """Every module can be understood with those below it: imports for types and in functions count."""
    graph: dict[str, set[str]] = {}
    for module, target in _inner():
        if target != module:
            graph.setdefault(module, set()).add(target)
    every = {module for module, path in _modules() if path.name != "__init__.py"}
    assert every - set(TopologicalSorter(graph).static_order()) == set()


def _touching() -> set[str]:
    """The modules that import something of OUTSIDE, for more than types."""
    return {found.module for found in every_import() if not found.is_typing and _is_outside(found)}


def _is_outside(found: Import) -> bool:
    return not {found.target, found.target.partition(".")[0]}.isdisjoint(OUTSIDE)


def test_decisions_are_pure() -> None:
    """What decides imports no clock, no file, no process and no network, not even from Python."""
    pure = set(named(PURE))
    assert [found for found in every_import() if found.module in pure and _is_outside(found)] == []
    inner = {_room(target) for module, target in _inner() if module in pure}
    assert inner <= {
        "core",
        "settings",
        "trackers",
        "platforms",
        "claim",
        "feedback",
        "run",
        "stages",
        "workflow",
        "evidence",
        "views",
    }


def test_every_module_is_mutated_or_says_why_not() -> None:
    """It is mutated, imports something of OUTSIDE, or stands in RIMS with its reason."""
    every = {module for module, path in _modules() if path.name != "__init__.py"}
    every -= {module for module in every if _room(module) == APART}
    mutated = set(named((*PURE, *ALSO_MUTATED)))
    rims = [module for modules in RIMS.values() for module in named(modules)]
    assert len(rims) == len(set(rims))
    assert not mutated & set(rims)
    assert every - mutated - _touching() - set(rims) == set()


def test_each_third_party_package_is_known_in_its_place() -> None:
    """PLACES is exact: no import outside of it, and no place in it without an import."""
    seen: dict[str, set[str]] = {}
    for found in every_import():
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


@pytest.mark.parametrize(
    "module", ["hooks.wake", "__main__", "api", "claim.engine.look", "claim.commands.taking"]
)
def test_entrypoints_import_no_third_party_package(module: str) -> None:
    """Importing an entrypoint costs nothing but our own code: adapters come when they are touched."""
    loaded = _loaded(f"import lifecycle.{module}", Path.cwd())
    assert "lifecycle" in loaded
    assert not loaded & set(PLACES)


def test_a_command_imports_what_it_does_and_not_what_its_neighbours_do() -> None:
    """A look takes no claim, a wait neither, and whoever cuts an excerpt of a log judges no merge."""
    taking, judging = (
        "lifecycle.claim.commands.taking",
        "lifecycle.claim.decisions.pull.merge_standing",
    )
    loaded = _loaded(
        "import lifecycle.cli.claims.claim_look, lifecycle.cli.checks.wait", Path.cwd()
    )
    assert judging in loaded
    assert taking not in loaded
    assert judging not in _loaded("import lifecycle.cli.checks.feedback", Path.cwd())


def test_the_quiet_stop_touches_no_library(tmp_path: Path) -> None:
    """A stop after which nothing changed loads no client, no CLI, no date parser, and writes nothing.

    The first look, which writes, does load what that takes: so the measure measures.
    """
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / CLAIM_FILE).write_text(json.dumps(EXAMPLE))
    stop = "from lifecycle.hooks.wake import run; code = run('on-stop'); assert code == 0"
    first = _loaded(stop, tmp_path)
    assert "sqlite3" in first
    kept = (tmp_path / ".lifecycle/state.json").read_bytes()
    quiet = _loaded(stop, tmp_path)
    assert {
        "lifecycle.claim.engine.look",
        "lifecycle.claim.decisions.decide",
        "lifecycle.hooks.client_contract",
    } <= quiet
    assert not quiet & {
        *PLACES,
        "http",
        "logging",
        "ssl",
        "asyncio",
        "sqlite3",
        "tempfile",
        "dataclasses",
    }
    assert not {name for name in first | quiet if name.startswith("lifecycle.run")}
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
