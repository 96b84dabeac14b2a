"""Every tracker keeps every rule, and the suite that says so cannot be lied to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.errors import LifecycleError
from lifecycle.core.tracker import Tracker
from lifecycle.trackers.conformance import claiming, read_cases, writing
from lifecycle.trackers.conformance.__main__ import CHECKS, CheckOutcome, checks_of, run
from lifecycle.trackers.conformance.case import Broken, Check, CheckCase, Factory, Ground, refused
from tests.batches import each_row
from tests.repeated import soaked
from tests.trackers.caught import ALSO, CAUGHT
from tests.trackers.grounds import GROUNDS, MemoryGround
from tests.trackers.liars import Hasty, Liar, Lost, Paged

BY_NAME = {check.__name__: check for check in CHECKS}
LACKING = {
    "memory": {"without_leases_there_is_nothing_to_renew"},
    "github": {"a_claim_lives_as_long_as_it_is_renewed", "a_claim_that_ran_out_is_anybodys"},
    "advisory": {"one_of_many_wins", "nobody_gets_the_same_next_task"},
    "all": {"without_dependencies_they_are_lacking"},
}
"""What is skipped, and where: nothing else may be."""


class LyingGround(MemoryGround):
    """Tasks in memory, told of by a liar."""

    def __init__(self, liar: type[Liar]) -> None:
        super().__init__()
        self.liar = liar

    def tracker(self, actor: str) -> Tracker:
        """A liar on the same tasks."""
        return self.liar(self.tasks, actor)


ALONE = ("memory", "github")
"""Where every check is run; the other grounds differ in who claims, and how."""

AS_ALONE = {("github, two accounts", claiming.nobody_gets_the_same_next_task)}
"""Where the lease decides, whose account it is plays no part."""

MEETING = {
    claiming.a_claimed_task_is_the_actors,
    claiming.anothers_task_is_refused,
    claiming.whoever_else_has_it_is_named,
    claiming.a_released_task_is_anybodys,
    claiming.one_of_many_wins,
    writing.a_reopened_task_is_nobodys,
}
"""What two accounts with leases are asked: where they meet. The rest "github" shows of leases, and "github
without leases, two accounts" of accounts.
"""

REPEATED = {
    ("github", read_cases.nothing_is_truncated),
    ("github", claiming.nobody_gets_the_same_next_task),
    ("github, two accounts", claiming.a_released_task_is_anybodys),
    ("github, two accounts", claiming.one_of_many_wins),
    ("github, two accounts", writing.a_reopened_task_is_nobodys),
}
"""Pages are counted in `test_github_issues.py`, and the next one is looked for in `test_github_claims.py`.
Who wins, the lease decides, whose account it ever is.
"""


def _case(name: str, check: Check) -> Any:
    repeats = name == "github, two accounts" and check not in MEETING
    repeats = repeats or (name, check) in REPEATED
    return (soaked if repeats else pytest.param)(name, check, id=f"{name}-{check.__name__}")


RUNS = [
    _case(name, check)
    for name in GROUNDS
    for check in CHECKS
    if name in ALONE
    or check in checks_of(claiming)
    or "close" in check.__name__
    or "reopen" in check.__name__
    if (name, check) not in AS_ALONE
]


@pytest.fixture(scope="module")
def named(request: pytest.FixtureRequest) -> Iterator[tuple[str, Ground]]:
    """A ground by its name, once for all its checks."""
    factory: Factory = GROUNDS[request.param]
    with factory() as ground:
        yield request.param, ground


@pytest.mark.parametrize(("named", "check"), RUNS, indirect=["named"], scope="module")
def test_each_tracker_keeps_each_rule(named: tuple[str, Ground], check: Check) -> None:
    """No check fails, and none is skipped but for what the tracker lacks."""
    name, ground = named
    result = next(run(ground, [check]))
    kinds = ["all", name.partition(" ")[0].strip(","), "advisory" if "without" in name else ""]
    lacking = set().union(*(LACKING.get(kind, set()) for kind in kinds))
    wanted = CheckOutcome.SKIPPED if check.__name__ in lacking else CheckOutcome.PASSED
    assert result.outcome is wanted, result


def test_every_check_has_a_liar() -> None:
    """No check is there that no broken tracker was shown to fail."""
    assert list(CAUGHT) == list(BY_NAME)


@each_row(("name", "liar"), [*CAUGHT.items(), *ALSO])
def test_a_liar_is_caught(name: str, liar: type[Liar]) -> None:
    """The check that is about the broken rule fails, and says in words what is wrong."""
    result = next(run(LyingGround(liar), [BY_NAME[name]]))
    assert result.outcome is CheckOutcome.FAILED, liar.__doc__
    assert result.words


def test_a_refusal_that_comes_too_late_is_caught() -> None:
    """Who is refused a key must not find a task of it."""
    result = next(run(LyingGround(Hasty), [BY_NAME["what_can_be_no_key_is_invalid"]]))
    assert result.outcome is CheckOutcome.FAILED
    assert "the number of tasks" in result.words


def test_whoever_keeps_the_rules_is_not_called_a_liar() -> None:
    """The liars' own base passes: it is their lie that is caught."""
    results = list(run(LyingGround(Liar)))
    assert {result.outcome for result in results} == {CheckOutcome.PASSED, CheckOutcome.SKIPPED}


def test_an_error_without_a_sentence_is_told() -> None:
    """Every failure has a face: an empty one is a failure of its own."""
    with pytest.raises(Broken, match="get raises NotFound without a sentence"):
        refused(LifecycleError, "get", LyingGround(Lost).tracker("a").get, "x")


def test_a_check_that_a_tracker_breaks_off_fails_by_name() -> None:
    """An error of no kind of ours is told with its own name, and the next check runs."""

    def breaks(case: CheckCase) -> None:
        """Whatever a strange tracker may raise."""
        raise ZeroDivisionError(case.label)

    result = next(run(MemoryGround(), [breaks]))
    assert (result.check, result.outcome) == ("breaks", CheckOutcome.FAILED)
    assert result.words.startswith("ZeroDivisionError, which is none of the three kinds")


@contextmanager
def lying() -> Iterator[Ground]:
    """A ground for the command line that fails one check and more."""
    yield LyingGround(Paged)


def command(argument: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The suite as somebody runs it who has no test runner."""
    return subprocess.run(
        [sys.executable, "-m", "lifecycle.trackers.conformance", *argument.split()],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=100,
    )


def test_the_suite_is_a_command() -> None:
    """A line for each check, what was skipped and why, and a sum; exit code 0."""
    done = command("tests.trackers.grounds:memory")
    assert (done.returncode, done.stderr) == (0, "")
    *rows, blank, last = done.stdout.splitlines()
    assert [row.split()[0] for row in rows if row[0] != " "] == list(BY_NAME)
    assert "    it has leases" in rows
    assert (blank, last) == (
        "",
        f"{len(CHECKS)} checks: {len(CHECKS) - 2} passed, 0 FAILED, 2 skipped",
    )


def test_a_failure_is_told_and_ends_with_1() -> None:
    """The row says FAILED, and below it stands what is wrong."""
    done = command("tests.trackers.test_conformance:lying")
    assert (done.returncode, done.stderr) == (1, "")
    rows = done.stdout.splitlines()
    (at,) = [n for n, row in enumerate(rows) if row.split()[:1] == ["nothing_is_truncated"]]
    assert rows[at].split()[1] == "FAILED"
    assert rows[at + 1].startswith("    what `list` gives is")


@pytest.mark.parametrize(
    "argument",
    [
        *("", "no.such.module:ground", "json:nothing", "tests", "a:b c:d"),
        "lifecycle.trackers.memory:MemoryTracker",  # its arguments are missing
    ],
)
def test_what_cannot_be_had_is_one_sentence(argument: str) -> None:
    """Exit code 2, how it is used, and no traceback."""
    done = command(argument)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Nothing was run: ")
    assert len(done.stderr.splitlines()) == 1
    assert "Usage: " in done.stderr


@pytest.mark.parametrize("code", ["raise {}", "def ground():\n    raise {}"])
def test_a_function_or_module_that_breaks_is_one_sentence(tmp_path: Path, code: str) -> None:
    """However many lines its error has; and no secret of it is shown."""
    secret = "gh" + "p_" + "aB3dE5gH1j" * 4
    (tmp_path / "broken.py").write_text(code.format(f'RuntimeError("no such\\nserver {secret}")'))
    done = command("broken:ground", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such server ***" in done.stderr
    assert len(done.stderr.splitlines()) == 1
