"""What a command line does besides its run: programs renamed, containers, what stands behind it."""

from __future__ import annotations

import pytest

from lifecycle.evidence import reading, suite_runs
from lifecycle.evidence.command_lines import TOP, commands
from lifecycle.evidence.outcomes import CallEnd, Outcome
from lifecycle.evidence.runners import runner_table
from tests.batches import each_row


def read(line: str, output: str) -> Outcome | None:
    """What a line that ended with status 0 came to; None where it is no run."""
    run = suite_runs.run_in(line)
    return None if run is None else reading.read_run(run, CallEnd.OK, output).outcome


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("alias pytest='echo'; pytest", Outcome.UNKNOWN),
        ("function pytest { true; }; pytest", Outcome.UNKNOWN),
        ("alias ll='ls -l'; pytest", Outcome.UNKNOWN),
    ],
)
def test_a_name_that_the_line_gives_away_is_another_program(line: str, wanted: Outcome) -> None:
    """What `pytest` prints where the line gives names of its own is nobody's."""
    assert read(line, "3 passed in 0.1s") is wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("docker run --rm -v $PWD:/app -w /app img pytest", None),
        ("docker run --mount type=bind,src=.,dst=/app img pytest", None),
        ("docker run --rm img pytest", None),
        ("docker compose run web pytest", Outcome.PASSED),
        ("docker exec web pytest", Outcome.PASSED),
    ],
)
def test_an_image_is_another_machine_whatever_is_put_into_it(
    line: str, wanted: Outcome | None
) -> None:
    """An image has files of its own; a service of the project's, and a running container, are its own."""
    assert read(line, "3 passed in 0.1s") is wanted


@each_row(
    ("line", "output", "wanted"),
    [
        ("composer test", "> phpunit\nOK (4 tests, 9 assertions)\n", Outcome.PASSED),
        ("bats test", "1..2\nok 1 a\nok 2 b\n", Outcome.PASSED),
        ("bats test", "1..0\n", Outcome.NOTHING_RAN),
        ("npx nx run-many -t test", "Tests:       2 passed, 2 total\n", Outcome.PASSED),
        ("npx nx run-many -t test -p web", "Tests:       2 passed, 2 total\n", Outcome.PARTIAL),
        ("npx nx run-many -t test", "NX   No tasks were run\n", Outcome.NOTHING_RAN),
        ("lifecycle check test --json", '{"at": 1, "outcome": "PASSED"}\n', Outcome.PASSED),
        ("npm run test:watch", "Tests:       2 passed, 2 total\n", None),
        ('pytest "$T"', "3 passed in 0.1s\n", Outcome.PARTIAL),
        ("pytest @some.txt", "3 passed in 0.1s\n", Outcome.PARTIAL),
        ("pytest `cat some`", "3 passed in 0.1s\n", Outcome.PARTIAL),
        ("pytest -n $N", "3 passed in 0.1s\n", Outcome.PASSED),
        ("pytest | sed s/failed/passed/", "3 passed in 0.1s\n", Outcome.UNKNOWN),
        ("pytest | grep passed", "3 passed in 0.1s\n", Outcome.PASSED),
        ("cargo test -p core", "test result: ok. 3 passed; 0 failed\n", Outcome.PARTIAL),
    ],
)
def test_what_a_line_and_its_output_come_to(line: str, output: str, wanted: Outcome | None) -> None:
    """A row that counts nothing in a line leaves it to another; what is picked unseen is a part."""
    assert read(line, output) is wanted


def test_the_commands_behind_a_run_are_known() -> None:
    """All that stands behind the last run, in its order, and nothing before it."""
    run = suite_runs.run_in("git pull && pytest && git stash pop; echo x")
    assert run is not None
    assert [command.words[0] for command in run.behind] == ["git", "echo"]
    twice = suite_runs.run_in("pytest && git pull && pytest -q; echo x")
    assert twice is not None
    assert [command.words[0] for command in twice.behind] == ["echo"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("cd web && pytest", [("web", True)]),
        ("popd && pytest", [("", True)]),
        ("popd web && pytest", [("", True)]),
        ("cd a b && pytest", [("", True)]),
        ("cd -- web && pytest", [("web", True)]),
        ("cd popd && pytest", [("popd", True)]),
        ("cd - && pytest", [("", True)]),
        ("make -C ../web test ../x", [("../web", False), ("../x", False)]),
        ("../bin/pytest", []),
        ("cd $(git rev-parse --show-toplevel) && pytest", [(TOP, True)]),
        ("cd $(git rev-parse --show-toplevel)/a && pytest", [(f"{TOP}/a", True)]),
        ("cd $(git rev-parse --git-dir) && pytest", [("", True)]),
        ("make -C ../web test", [("../web", False)]),
        ("make test -C../web", [("../web", False)]),
        ("npm test --prefix=../web", [("../web", False)]),
    ],
)
def test_where_a_line_goes(line: str, wanted: list[tuple[str, bool]]) -> None:
    """Each place, and whether what follows runs there; "" is a place that the line alone does not say."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert [*run.steps] == wanted


def test_a_parenthesis_that_nothing_opened_ends_a_command() -> None:
    """A line that no shell would take is read as far as it goes."""
    assert [command.words for command in commands("pytest ) ; ls")] == [("pytest",), ("ls",)]


def test_a_failure_without_a_title_is_known_by_its_name() -> None:
    """Where a row tells no title the name alone is compared, and nothing breaks."""
    run = suite_runs.run_in("pytest")
    assert run is not None
    out = "FAILED tests/test_a.py::test_one - assert 1 == 2\n1 failed in 0.1s\n"
    found = reading.read_run(run, CallEnd.FAILED, out)
    assert found.failures == ("tests/test_a.py::test_one",)


@pytest.mark.parametrize(
    ("line", "is_run"),
    [
        ("cargo +nightly test", True),
        ("/opt/bin/poetry run test", True),
        ("./node_modules/.bin/deep/jest", True),
        ("pytest/run", False),
        ("/usr/local/bin/timeout 5 /opt/venv/bin/pytest", True),
    ],
)
def test_what_stands_before_the_name_of_what_runs(line: str, is_run: bool) -> None:
    """A tool chain's choice and folders do not hide a run; a folder of that name is none."""
    assert (suite_runs.run_in(line) is not None) is is_run


def test_a_filter_in_a_variable_makes_a_part() -> None:
    """Also where its value stands right behind the letter of the option."""
    for value in ("-kone", "-k one", "-mfast"):
        run = suite_runs.run_in(f"PYTEST_ADDOPTS='{value}' pytest")
        assert run is not None
        assert not run.is_suite


def test_what_is_known_to_be_a_run_is_one_whatever_it_is_called() -> None:
    """One that no row knows is called by its program, one without any as it stands."""
    lines = ("./bin/verify.sh all", "pytest -q", "make -n test", f"A={'x' * 70}")
    runs = [suite_runs.run_of(line, (), runner_table.rows()) for line in lines]
    assert [(run.name, run.is_suite, run.is_nothing, run.decides) for run in runs] == [
        ("verify.sh", True, False, True),
        ("pytest", True, False, True),
        ("make test", False, True, True),
        (f"A={'x' * 58}", True, False, True),
    ]
    assert [len(run.rows) for run in runs] == [0, 1, 1, 0]
    (step,) = suite_runs.run_of("cd web", ("cd web",), runner_table.rows()).steps
    assert step == ("web", True)


def test_our_own_check_is_one_where_nothing_else_runs() -> None:
    """It keeps what it showed itself; a command of the project's that no row knows is none."""
    lines = ("lifecycle check test", "lifecycle check test && pytest", "pytest", "./verify.sh")
    runs = [suite_runs.run_in(line, ("./verify.sh",)) for line in lines]
    assert [run and run.is_check for run in runs] == [True, False, False, False]
