"""The rooms of the product: read at a glance, named so that a name is enough, and kept to their size."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "lifecycle"
APART = "sandbox"

ENTRIES, FILES = 24, 4
"""What the top of the package has at the most: entries, and files among them."""

IN_FOLDER = 14
"""What any other folder has at the most, beside `__init__.py`."""

SIBLINGS = {"table", "state", "decide"}
"""Each system has these; learn one, know all. Commands are named for what people type."""

BUDGET = {
    "core": 2_440,
    "storage": 1_328,
    "settings": 754,
    "git": 850,
    "github": 5_097,
    "trackers": 2_191,
    "platforms": 513,
    "evidence": 2_228,
    "claim": 5_533,
    "run": 2_834,
    "stages": 2_255,
    "workflow": 1_903,
    "feedback": 2_041,
    "reconcile": 1_262,
    "views": 1_900,
    "app": 1_444,
    "setup": 2_698,
    "hooks": 1_757,
    "cli": 4_214,
    APART: 17_756,
}
"""Lines of code that each room may have: without blank lines, comments and docstrings.

A number is what the room has: whoever adds lines raises it, and says in the commit what they are for.
What takes most of what was added since rooms were first counted:

- What a hook speaks through (`github/client/plain_line.py`), its lock, and what makes its values
  (`core/light_dataclass.py`) are lines of ours that libraries had: they took longer to start than to work.
- A waiter at rest (`hooks/quick_wait.py`) is a process of its own, and holds half of what the engine does.
- Several writes in one request (`joined` in `claim/engine/acting.py`, `github/operations/joint_writes.py`)
  halve what opening and closing ask of GitHub: who may share one, and what becomes of the rest, is 150.
- Of the 5,000 lines that feedback may have, other rooms have 340: whom a sweep's pull requests wait for is
  read in github, decided in claim, and told by reconcile and cli; whose auto-merge is, claim knows.
"""

LATER = ("evidence", "platforms", "run", "workflow", "feedback", "views")
"""Rooms that came later; their commands and hooks count with them."""

HOUSE, IN_ALL = 229, 336
"""Modules that the product may have beside the embedded GitHub: without the later rooms, and with them."""

RUN_IN_ALL = 3_773
"""Lines of code that a run may have with its commands and its own hooks."""


def modules(folder: Path = PACKAGE) -> list[Path]:
    """The modules of a folder and of those below it."""
    return sorted(folder.rglob("*.py"))


def entries(folder: Path) -> list[str]:
    """What lies in a folder, but for caches and the file that makes it a package."""
    hidden = ("__pycache__", "__init__.py")
    return sorted(path.name for path in folder.iterdir() if path.name not in hidden)


@dataclass
class Contents:
    """What the tests ask of a module, found in one walk; its tree is a hundred times as large.

    Attributes:
        classes: their names.
        variables: line and name of each parameter and variable; fields of values are no variables.
        prose: the lines of docstrings. A string that stands alone below a constant is that constant's.
        texts: the lines of texts of several lines, which have empty ones, and such as begin with #.
        fields: which nodes are the fields of a class.
    """

    classes: list[str] = field(default_factory=list)
    variables: list[tuple[int, str]] = field(default_factory=list)
    prose: set[int] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    fields: set[int] = field(default_factory=set)

    def add(self, node: ast.AST) -> None:
        """What a node adds."""
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            self.prose |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno != node.lineno:
            self.texts |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.ClassDef):
            self.classes.append(node.name)
            self.fields |= {
                id(part.target) for part in node.body if isinstance(part, ast.AnnAssign)
            }
        elif isinstance(node, ast.arg):
            self.variables.append((node.lineno, node.arg))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.variables += [(node.lineno, node.id)] if id(node) not in self.fields else []


@cache
def contents(path: Path) -> Contents:
    """What a module has in it."""
    found = Contents()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    ahead: list[ast.AST] = [tree]
    while ahead:
        node = ahead.pop()
        found.add(node)
        for name in node._fields:
            part = getattr(node, name)
            if isinstance(part, list):
                ahead += [one for one in part if isinstance(one, ast.AST)]
            elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
                ahead.append(part)
    return found


@cache
def lines_of_code(path: Path) -> int:
    """Lines with code on them: a statement of three lines counts three, a docstring none."""
    code = {
        number
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    return len((code | contents(path).texts) - contents(path).prose)


def test_the_top_can_be_read_at_a_glance() -> None:
    """Rooms, and hardly a file beside them."""
    there = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(there) <= ENTRIES
    assert len([path for path in there if path.suffix == ".py"]) <= FILES


def test_every_folder_can_be_read_at_a_glance() -> None:
    """No folder has more doors than a reader keeps in mind."""
    folders = {path.parent for path in modules()} - {PACKAGE}
    assert len(folders) > 40
    assert {str(one): len(entries(one)) for one in folders if len(entries(one)) > IN_FOLDER} == {}


def test_a_module_is_known_by_its_name() -> None:
    """A name that needs its path to be understood is none; the embedded GitHub's mirror GitHub's."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        room = path.relative_to(PACKAGE).parts[0]
        if room not in (APART, "cli") and not path.stem.startswith("__"):
            places[path.stem].append(str(path.relative_to(PACKAGE)))
    several = {name for name, found in places.items() if len(found) > 1}
    assert several <= SIBLINGS, {name: places[name] for name in several - SIBLINGS}


def test_no_module_is_named_as_a_test() -> None:
    """pytest loads what is named so itself, with its asserts rewritten: a mutant of it would not be seen.

    Source: https://docs.pytest.org/en/stable/how-to/writing_plugins.html#assertion-rewriting
    """
    names = [path.name for path in modules()]
    assert len(names) > IN_ALL
    assert not [name for name in names if name.startswith("test_") or name.endswith("_test.py")]


def test_a_class_is_known_by_its_name() -> None:
    """One name, one class, private ones too."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        if path.relative_to(PACKAGE).parts[0] != APART:
            for name in contents(path).classes:
                places[name].append(str(path.relative_to(PACKAGE)))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


EMPTY = {"one", "found", "said", "told", "thing", "things"}
"""Words that say of a value nothing but that there is one."""


def test_a_variable_is_called_for_what_it_holds() -> None:
    """`issue for issue in issues`, and not `one for one in found`."""
    every = [(path, *name) for path in modules() for name in contents(path).variables]
    assert len(every) > 10_000
    empty = [
        f"{path.relative_to(ROOT)}:{line} {name}" for path, line, name in every if name in EMPTY
    ]
    assert not empty, "\n".join(empty)


@pytest.mark.parametrize("room", BUDGET)
def test_a_room_keeps_to_its_size(room: str) -> None:
    """A line must pay rent: whoever wants more takes something out, or says why in the budget."""
    size = sum(lines_of_code(path) for path in modules(PACKAGE / room))
    assert 0 < size <= BUDGET[room]


def test_a_run_with_its_commands_and_hooks_keeps_to_its_size() -> None:
    """What an autonomous run costs lies in three rooms, and is counted as one."""
    hooks = (PACKAGE / "hooks/answers").glob("run_*.py")
    files = [*modules(PACKAGE / "run"), *modules(PACKAGE / "cli/run"), *hooks]
    assert 3_000 < sum(map(lines_of_code, files)) <= RUN_IN_ALL


def test_a_reader_of_the_house_has_a_bounded_number_of_modules_to_know() -> None:
    """What only passes on, or is half of a subject, is folded into what it belongs to."""
    paths = [path.relative_to(PACKAGE) for path in modules() if path.name != "__init__.py"]
    ours = [path.parts for path in paths if path.parts[0] != APART]
    house = [
        parts
        for parts in ours
        if parts[0] not in LATER
        and not (parts[0] == "cli" and parts[1] in LATER)
        and not (parts[0] == "hooks" and parts[-1].startswith(("run_", "workflow_")))
    ]
    assert 200 < len(house) <= HOUSE
    assert len(house) < len(ours) <= IN_ALL


def test_every_room_has_a_budget() -> None:
    """A room that comes adds its row; one that goes takes it away."""
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()} == set(
        BUDGET
    )


def test_the_reading_matter_is_short() -> None:
    """The README is read in one sitting, and so is the architecture."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 180
    assert len((ROOT / "docs/architecture.md").read_text("utf-8").splitlines()) <= 200
