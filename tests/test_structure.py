"""The rooms of the product: read at a glance, named so that a name is enough, and kept to their size."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
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
    "core": 2_683,
    "storage": 1_465,
    "settings": 904,
    "git": 883,
    "github": 6_679,
    "trackers": 2_813,
    "platforms": 767,
    "evidence": 2_515,
    "claim": 6_130,
    "run": 3_747,
    "stages": 2_732,
    "workflow": 2_499,
    "feedback": 2_893,
    "reconcile": 1_446,
    "views": 2_366,
    "app": 1_730,
    "setup": 3_687,
    "hooks": 2_146,
    "cli": 5_722,
    APART: 17_710,
}
"""Lines of code that each room may have: without blank lines, comments and docstrings.

What a hook speaks through (`github/client/plain_line.py`), its lock, and what makes its values
(`core/light_dataclass.py`) are lines of ours that libraries had: they took longer to start than to work.
A waiter at rest (`hooks/quick_wait.py`) is a process of its own, which holds half of what the engine does.
Of the 5,000 lines that feedback may have, other rooms have some: whom a sweep's pull requests wait for is
read in github, decided in claim, and told by reconcile and cli; whose auto-merge is, claim knows: in 340.
Thirty of its own are for what hints at an error in a log that names none, whose end may be all teardown,
and for the last lines, where runners count.

A log is read in pieces and kept in parts, and no secret may be cut at a seam or lose its begin in a gap:
that took 16 lines of core, where github and cli had each its own way before, and 21 of feedback. That the
first error is no line that opens any takes seven more. A wait's last look is two of app. That a pause after
a failed look was our guess, and no time that GitHub named, is two of claim. Where a task stands is told in
the word that `--status` takes, and `stage on` looks before it switches: three of cli. That a released task
stays assigned to others, for whom alone it is free, is four of core and four of claim. That `init --remove`
goes on keeping claims out of git which a worktree still holds is seventeen of setup. That a move which is
refused says what was kept, and a late hand-off what is next, is two of core and eleven of claim.
The words for figures came to core from views, where other rooms fetched them or had their own.
That a dry run foresees which release a repair leaves out is 13 of reconcile; that a pull request which is
not there costs no other is four, and that nothing is said of issues which nobody read, four there and six
of cli. What keeps a lease is told in seven of git, and what lets a token see a board in six of github.
That a board without a field Agent lacks no agent on its cards is five of core and 13 of reconcile.
That a swept repository is archived, so that a plan for it is none, is told in seven lines of three rooms.
In whose name a claim is made, which is not the name for the tracker, is three of setup.
What a task, a label and an agent tried in vain, beside what they tried, is five of views and three of cli.
Eight of core and five of storage change a record, write it and keep secrets out in half the time.
A frozen value is made in two thirds of the time, and less, in five of core.
A time that is renewed for a part of a wait is seven of core, and fifteen less of app and hooks.
That nothing of ours is tracked is read off git's index in 20 of git: no process is started for it.
Which process the client is was read in four rooms; settings has it now, in three lines.
That a command may be a run only where no goal stands behind it (`rake`) is one of evidence.
What a hook needs behind GitHub's answer, imported while it is on its way, is eight of core, two of github
and twenty of hooks.
That nothing is said to watch where no hook was seen is one of core and three of claim.
That a time which is none is a usage error wherever it is read is twelve of cli.
That a look exits so where another has the task by now is seven of cli, and that a plan promises no watch
four of claim.
That of two priorities one stays, whichever it is, is one of trackers, and which label found nothing eleven
of cli.
That a story's commit is of one that was begun is two of cli.
That a claim which is closed without a pull request is not waited for is five of app.
That a plan's release sees whom the card names by then is four of reconcile.
That a card in Todo says for nobody who has the task is seven of reconcile.
That options name what is run (`cmake --target test`), an environment may stand before it, and one package of
Go is a part is fourteen of evidence.

A review that a command line asks the client for (`claude -p "/oracle-review"`), and a subagent's that is
of the requirements in other words, are 18 lines of stages. That a transcript lacks the prompt that a stop
belongs to is six.

Several writes in one request (`joined` in `claim/engine/acting.py`, `github/operations/joint_writes.py`)
halve what opening and closing ask of GitHub: who may share one, and what becomes of the rest, is 224 lines,
14 of them for a look that ends where nothing of it could be read back, or GitHub says to wait. That such a
look brings the board's ids where they are not known is 25.
"""

LATER = ("evidence", "platforms", "run", "workflow", "feedback", "views")
"""Rooms that came later; their commands and hooks count with them."""

HOUSE, IN_ALL = 257, 407
"""Modules that the product may have beside the embedded GitHub: without the later rooms, and with them."""

RUN_IN_ALL = 4_907
"""Lines of code that a run may have with its commands and its own hooks."""


def modules(folder: Path = PACKAGE) -> list[Path]:
    """The modules of a folder and of those below it."""
    return sorted(folder.rglob("*.py"))


def entries(folder: Path) -> list[str]:
    """What lies in a folder, but for caches and the file that makes it a package."""
    hidden = ("__pycache__", "__init__.py")
    return sorted(path.name for path in folder.iterdir() if path.name not in hidden)


@cache
def parsed(path: Path) -> ast.Module:
    """A module's tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def lines_of_code(path: Path) -> int:
    """Lines with code on them: a statement of three lines counts three, a docstring none.

    A string that stands alone below a constant is that constant's docstring.
    """
    text = path.read_text(encoding="utf-8")
    prose: set[int] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            prose |= set(range(node.lineno, (node.end_lineno or 0) + 1))
    nothing = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
        tokenize.ENDMARKER,
    }  # fmt: skip
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in nothing:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - prose)


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
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(PACKAGE)))
    assert len(places) > 300
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("room", BUDGET)
def test_a_room_keeps_to_its_size(room: str) -> None:
    """A line must pay rent: whoever wants more takes something out, or says why in the budget."""
    size = sum(lines_of_code(path) for path in modules(PACKAGE / room))
    assert 0 < size <= BUDGET[room]


def test_a_run_with_its_commands_and_hooks_keeps_to_its_size() -> None:
    """What an autonomous run costs lies in three rooms, and is counted as one."""
    hooks = (PACKAGE / "hooks/answers").glob("run_*.py")
    files = [*modules(PACKAGE / "run"), *modules(PACKAGE / "cli/run"), *hooks]
    assert 4_000 < sum(map(lines_of_code, files)) <= RUN_IN_ALL


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
