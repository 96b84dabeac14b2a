"""What a run is given by its words: places, files of results, the project's own commands, filters."""

from __future__ import annotations

import pytest

from lifecycle.evidence import suite_runs
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.suite_runs import run_in, run_of
from tests.batches import each_row

PLACES = (
    *("-C", "--directory", "--dir", "--rootdir", "--prefix", "--cwd", "--chdir", "--manifest-path"),
    *("--file", "--makefile", "-f", "--project-dir", "--project-directory", "--root", "-p"),
    *("--project", "--config-settings"),
)
OUTPUTS = (
    *("--junitxml", "--junit-xml", "--basetemp", "--log-file", "-o", "--output", "--outputFile"),
    *("--output-file", "--report-log", "--reporter-options", "--cov-report", "--cache-dir"),
    *("--cacheDirectory", "--coverprofile", "-coverprofile", "--logger", "--results-directory"),
)


def places(line: str) -> list[str]:
    """The places that the run of a line is given."""
    run = run_in(line)
    assert run is not None
    return [path for path, _ in run.steps]


@each_row("option", PLACES)
def test_an_option_that_names_a_folder_may_lead_elsewhere(option: str) -> None:
    """With its value behind it or attached; within the folder it leads nowhere else."""
    assert set(places(f"pytest {option} ../x")) == {"../x"}
    assert set(places(f"pytest {option}=../x")) == {"../x"}
    assert places(f"pytest {option} x") == []
    if option not in ("-p", "--project"):
        run = run_in(f"make {option} web test")
        assert run is not None
        assert run.name == "make test"


@each_row("option", OUTPUTS)
def test_a_file_of_results_is_no_place_of_tests(option: str) -> None:
    """What follows its value may be one; and so is a file of settings."""
    assert places("pytest -c ../x.ini") == ["../x.ini"]
    assert places(f"pytest {option} /tmp/x") == []
    assert places(f"pytest {option} /tmp/x ../tests") == ["../tests"]


@pytest.mark.parametrize(
    ("line", "is_sifted"),
    [
        ("pytest", False),
        ("pytest | tail -5", False),
        ("pytest | cat | tee log", False),
        ("pytest | grep passed", True),
        ("pytest |& grep passed", True),
        ("pytest | tee log | grep passed", True),
        ("pytest | head", True),
        ("pytest | grep x; ls", True),
        ("pytest; cat log | grep x", False),
        ("pytest |", False),
    ],
)
def test_what_lets_some_lines_through_is_a_sieve(line: str, *, is_sifted: bool) -> None:
    """What lets all through, or the end, is none."""
    run = run_in(line)
    assert run is not None
    assert run.is_sifted is is_sifted


@pytest.mark.parametrize(
    ("line", "name", "is_own", "is_single", "decides", "is_suite"),
    [
        ("make verify", "make verify", True, True, True, True),
        ("make verify CI=1", "make verify", True, True, True, True),
        ("MAKEFLAGS=i make verify", "make verify", True, True, False, True),
        ("pytest", "pytest", False, True, True, True),
        ("make verify && pytest", "pytest", False, False, True, True),
        ("pytest && make verify", "make verify", False, False, True, True),
        ("make verify && make verify", "make verify", True, False, True, True),
        ("pytest; npm test", "npm test", False, False, False, True),
        ("npm test; pytest tests/test_a.py", "npm test", False, False, False, True),
        ("pytest tests/test_a.py && pytest tests/test_b.py", "pytest", False, False, True, False),
    ],
)
def test_several_runs_of_a_line_are_one(
    line: str, name: str, *, is_own: bool, is_single: bool, decides: bool, is_suite: bool
) -> None:
    """Called by the last that is a suite; the project's own if all are, and decisive if all are."""
    run = run_in(line, ("make verify",))
    assert run is not None
    assert run.name == name
    assert (run.is_own, run.is_single, run.decides) == (is_own, is_single, decides)
    assert run.is_suite is is_suite
    assert run.is_nothing is False


def test_the_rows_of_a_line_are_those_of_all_its_runs() -> None:
    """Each once; where no row knows one of them, anything may be printed."""
    named = [row.name for row in getattr(run_in("pytest && npm test && pytest"), "rows", ())]
    assert named == [
        *(row.name for row in getattr(run_in("pytest"), "rows", ())),
        *(row.name for row in getattr(run_in("npm test"), "rows", ())),
    ]
    assert len(named) == 2
    assert getattr(run_in("pytest && ./own", ("./own",)), "rows", None) == ()


@pytest.mark.parametrize(
    ("own", "line", "is_own"),
    [
        ("cd web && npm run verify", "npm run verify", True),
        ("npm run verify && echo done", "npm run verify", True),
        ("echo only", "echo only", True),
        ("A=1 ./own", "A=1 ./own", True),
        ("./own --fast", "./own", False),
        ("", "./own", False),
    ],
)
def test_what_a_configured_line_means_is_its_last_command_that_does_anything(
    own: str, line: str, *, is_own: bool
) -> None:
    """Folders and words around it are not what runs the tests."""
    run = run_in(line, (own,))
    assert (run is not None and run.is_own) is is_own


@pytest.mark.parametrize(
    ("line", "name", "is_suite", "is_nothing", "rows"),
    [
        ("pytest -q", "pytest", True, False, ["pytest"]),
        ("pytest --collect-only", "pytest", True, True, ["pytest"]),
        ("pytest -k one", "pytest", False, False, ["pytest"]),
        ("./unknown -k one", "unknown", False, False, []),
        ("./unknown", "unknown", True, False, []),
        ("", "", True, False, []),
    ],
)
def test_a_line_that_is_known_to_be_a_run_is_one(
    line: str, name: str, is_suite: bool, is_nothing: bool, rows: list[str]
) -> None:
    """By its row if there is one; else its words mean what they mean to nearly all programs."""
    run = run_of(line, (), runner_table.rows())
    assert (run.name, [row.name for row in run.rows]) == (name, rows)
    assert (run.is_nothing, run.is_nothing or run.is_suite) == (is_nothing, is_suite)
    assert suite_runs.run_in(line) is None or not is_nothing
