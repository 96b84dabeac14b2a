"""The tool itself: which mutants a module has, and that a run tells what its tests do not notice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mutants.modules import ALSO_MUTATED, FOLDERS, PURE, ROOT, named
from tests.mutants.mutating import mutants
from tests.mutants.mutation_run import ledger

TINY = '''"""A tiny module."""
from __future__ import annotations
TYPE_CHECKING = False
LIMIT = 3


def is_small(number: int, *, unit: str = "m") -> bool:
    """Prose: 1 < 2 and True."""
    while number > 100:
        number -= 100
    return number < LIMIT and unit in ("m", "km")
'''
TESTS = '''
import subprocess, sys
from tiny.rules import scale

def test_small(tmp_path):
    assert scale.is_small(2) and not scale.is_small(3) and not scale.is_small(103)
    assert scale.is_small(201, unit="km") and not scale.is_small(2, unit="mile")
    assert scale.is_small(101) and not scale.is_small(199)

def test_with_a_process():
    """Would notice anything, and does not count."""
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert scale.LIMIT == 3
'''
CONFTEST = '''
import subprocess, sys
import pytest

@pytest.fixture(autouse=True, scope="session")
def server():
    """Is there for the tests that need a process, and starts one for all of them."""
    subprocess.run([sys.executable, "-c", ""], check=True)
'''
RUN = """
import sys
from pathlib import Path
from tests.mutants.mutation_run import run
from tests.mutants.running import Project
root = Path(sys.argv[1])
project = Project(
    root, "tiny", {"rules": "tests/rules"}, spare_seconds=0.5, processes=frozenset({"server"})
)
sys.path.insert(0, str(root))
sys.exit(run(project, ["rules.scale"], root / "ledger.toml", count=0, seed=1))
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Mutates the tiny project: with these tests, and this ledger."""

    def do(tests: str, entries: str = "") -> subprocess.CompletedProcess[str]:
        for name, text in (
            ("tiny/rules/scale.py", TINY),
            ("tests/rules/test_scale.py", tests),
            ("tests/conftest.py", CONFTEST),
            ("ledger.toml", entries),
            ("pytest.ini", "[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n"),
        ):
            tmp_path.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
            tmp_path.joinpath(name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", RUN, str(tmp_path)]
        (tmp_path / "temporary").mkdir()
        return subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    return do


def entry(before: str, after: str, function: str = "is_small") -> str:
    """An entry of a ledger."""
    return (
        f"[[equivalent]]\nmodule = 'rules.scale'\nfunction = '{function}'\n"
        f"before = '{before}'\nafter = '{after}'\nproof = 'None is needed here.'\n"
    )


def test_a_tiny_modules_mutants_are_known(tmp_path: Path) -> None:
    """Each place where a decision can be another one has a mutant; what is said to readers has none."""
    path = tmp_path / "scale.py"
    path.write_text(TINY, encoding="utf-8")
    made = mutants("scale", path)
    head = "def is_small(number: int, *, unit: str={}) -> bool"
    line = "return number < LIMIT and unit in ('m', 'km')"
    assert [(one.function, one.before, one.after, one.in_body) for one in made] == [
        ("", "LIMIT = 3", "LIMIT = 4", False),
        ("", "LIMIT = 3", "LIMIT = 2", False),
        ("is_small", head.format("'m'"), head.format("'m~'"), False),
        *(
            ("is_small", before, after, True)
            for before, after in (
                ("while number > 100", "while False"),
                ("while number > 100", "while number >= 100"),
                ("while number > 100", "while number <= 100"),
                ("while number > 100", "while number > 101"),
                ("while number > 100", "while number > 99"),
                ("number -= 100", "pass"),
                ("number -= 100", "number -= 101"),
                ("number -= 100", "number -= 99"),
                (line, "return None"),
                (line, "return number < LIMIT or unit in ('m', 'km')"),
                (line, "return unit in ('m', 'km')"),
                (line, "return number < LIMIT"),
                (line, "return number <= LIMIT and unit in ('m', 'km')"),
                (line, "return number >= LIMIT and unit in ('m', 'km')"),
                (line, "return number < LIMIT and unit not in ('m', 'km')"),
                (line, "return number < LIMIT and unit in ('km',)"),
                (line, "return number < LIMIT and unit in ('m',)"),
                (line, "return number < LIMIT and unit in ('m~', 'km')"),
                (line, "return number < LIMIT and unit in ('m', 'km~')"),
            )
        ),
    ]


TYPES = """
T = TypeVar("T", bound=int)
Row = tuple[int, str]
Kind = Literal["a", "b"]
ROWS = ROW_OF["a"]

class Reader(Protocol):
    def read(self, size: int = 3) -> None: ...

def named(kind: Kind) -> int:
    match kind:
        case "a":
            return 1
        case "b":
            return 2
        case _:
            assert_never(kind)
"""


def test_what_only_mypy_reads_has_no_mutants(tmp_path: Path) -> None:
    """Aliases of types, protocols, and the case that never is; what runs beside them has its own."""
    path = tmp_path / "types.py"
    path.write_text(TYPES, encoding="utf-8")
    changed = {(one.before, one.after) for one in mutants("types", path)}
    assert {before for before, _ in changed} == {
        *(
            "ROWS = ROW_OF['a']",
            "match kind: 3 cases",
            "case 'a'",
            "case 'b'",
            "return 1",
            "return 2",
        ),
    }
    assert len([after for before, after in changed if before.startswith("match")]) == 1
    made = [one for one in mutants("types", path) if one.before.startswith("match")]
    assert [one.nth for one in made] == [1, 2]


@pytest.mark.parametrize("module", ["claim.decisions.derive", "stages.detection.stage_watch"])
def test_no_two_mutants_are_one_entry_of_the_ledger(module: str) -> None:
    """What an entry says means one mutant, also where two read the same."""
    made = mutants(module, ROOT / f"lifecycle/{module.replace('.', '/')}.py")
    assert len(made) > 100
    assert len({one.key for one in made}) == len(made)
    assert [one.number for one in made] == list(range(len(made)))


@pytest.mark.soak(
    "mutants/test_mutants.py::test_a_tiny_modules_mutants_are_known",
    "mutants/test_mutants.py::test_the_list_and_the_ledger_are_of_what_there_is",
)
def test_a_run_tells_what_its_tests_do_not_notice(run: Run, tmp_path: Path) -> None:
    """All are killed but two, among them those of what runs at import, and one that never ends.

    A test that starts a process kills none. What tests wrote into folders is gone with each mutant.
    """
    done = run(TESTS)
    assert done.stderr == ""
    told = (
        "tiny/rules/scale.py:9 in is_small, mutant 4\n- while number > 100\n+ while number >= 100"
    )
    assert told in done.stdout
    assert "20 of 22 killed (90.9%)" in done.stdout
    assert done.returncode == 1
    assert [*(tmp_path / "temporary").iterdir()] == []


@pytest.mark.soak("mutants/test_mutants.py::test_the_list_and_the_ledger_are_of_what_there_is")
def test_what_the_ledger_has_is_not_counted(run: Run) -> None:
    """An entry takes its mutant out of the figures; one for nothing, or too many, fail the run."""
    known = entry("while number > 100", "while number >= 100")
    done = run(TESTS, known + entry("while number > 7", "while number >= 7"))
    assert "1 equivalent, 20 of 21 killed (95.2%); ledger: 2 (9.1%)" in done.stdout
    assert "an entry of the ledger means nothing that there is: ('rules.scale'" in done.stdout
    assert "number >= 7" in done.stdout
    assert done.returncode == 1


@pytest.mark.soak("mutants/test_mutants.py::test_a_tiny_modules_mutants_are_known")
def test_tests_that_fail_by_themselves_judge_nothing(run: Run) -> None:
    """Where no process-free test passes, nothing is said to be killed."""
    done = run("def test_wrong():\n    assert False\n")
    assert "do not pass" in done.stderr
    assert "killed" not in done.stdout
    assert done.returncode == 1


def test_the_list_and_the_ledger_are_of_what_there_is() -> None:
    """Each room of the list has a folder of tests, and each entry of the ledger means a mutant."""
    modules = named((*PURE, *ALSO_MUTATED))
    assert {module.partition(".")[0] for module in modules} == set(FOLDERS)
    assert all((ROOT / folder).is_dir() for folder in FOLDERS.values())
    kept = ledger(ROOT / "tests/mutants/ledger.toml")
    there = {
        one.key
        for module in {key[0] for key in kept}
        for one in mutants(module, ROOT / f"lifecycle/{module.replace('.', '/')}.py")
    }
    assert kept.keys() - there == set()
    assert {key[0] for key in kept} <= set(modules)
