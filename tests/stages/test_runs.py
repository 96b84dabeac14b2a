"""What counts as a test run, and when it was green."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.stages import runs
from lifecycle.stages.runs import RUNNERS, Colour
from lifecycle.stages.turn import Outcome

OWN = ("make verify", "cd web && npm run check")


@pytest.mark.parametrize("name", RUNNERS)
def test_every_runner_of_the_table_is_a_run(name: str) -> None:
    """Each known runner is found, also behind others and with options, and its suite counts."""
    run = runs.run_in(f"cd x && FOO=1 {name}")
    assert run is not None
    assert (run.name, run.is_suite, run.decides) == (name, True, True)


@pytest.mark.parametrize(
    ("line", "is_suite"),
    [
        ("pytest -q tests/unit", True),
        ("pytest -x --cov=src", True),
        ("uv run pytest -n 2", True),
        ("python -m unittest", True),
        ("npm run test:unit", True),
        ("npm --silent test", True),
        ("go test ./...", True),
        ("cargo test --workspace", True),
        ("make -j4 test", True),
        ("npx playwright test --project=chromium", True),
        ("make verify", True),
        ("make verify V=1", True),
        ("npm run check", True),
        ("pytest tests/test_a.py", False),
        ("pytest tests/test_a.py::test_b", False),
        ("pytest -k name", False),
        ("pytest --lf", False),
        ("vitest run src/a.test.ts", False),
        ("jest -t 'one thing'", False),
        ("go test -run TestOne ./...", False),
        ("pytest tests/test_a.py && pytest", True),
    ],
)
def test_a_run_of_single_files_or_tests_is_no_suite(line: str, is_suite: bool) -> None:
    """A folder is a suite; a file, a name or the last failures are a part."""
    run = runs.run_in(line, OWN)
    assert run is not None
    assert run.is_suite is is_suite


@pytest.mark.parametrize(
    "line",
    [
        "echo pytest",
        "grep -rn pytest .",
        "pip install pytest",
        "uv add --dev vitest",
        "cat pytest.ini",
        "pytest --version",
        "pytest --collect-only -q",
        "jest --listTests",
        "cargo test --no-run",
        "cat <<EOF > run.sh\npytest\nEOF",
        "git commit -m 'run pytest'",
        "# pytest",
        "npm run build",
        "make tests-docs",
        "make",
        "which pytest",
        "",
    ],
)
def test_words_about_tests_are_no_run(line: str) -> None:
    """Naming, installing, listing and building run nothing."""
    assert runs.run_in(line, OWN) is None


@pytest.mark.parametrize(
    ("line", "outcome", "output", "wanted"),
    [
        ("pytest", "ok", "==== 12 passed in 0.1s ====", "green"),
        ("pytest -q", "ok", "", "green"),
        ("pytest", "ok", "3 passed, 2 xfailed, 1 skipped", "green"),
        ("pytest | tail", "ok", "==== 12 passed in 0.1s ====", "green"),
        ("cargo test | tail", "ok", "test result: ok. 5 passed; 0 failed; 0 ignored", "green"),
        ("go test ./... 2>&1 | tail", "ok", "ok  \texample.com/a\t0.01s", "green"),
        ("npm test | cat", "ok", "Tests:  5 passed, 5 total", "green"),
        ("vitest run | cat", "ok", " ✓ counts 2 errors\n Tests  3 passed (3)", "green"),
        ("make test", "ok", "fine", "green"),
        ("pytest", "ok", "ERROR: logged on purpose\n12 passed", "green"),
        ("pytest | cat", "ok", "ERROR: not found: x\n12 passed", "red"),
        ("pytest", "failed", "1 failed, 4 passed", "red"),
        ("pytest", "failed", "", "red"),
        ("pytest; true", "ok", "3 passed, 1 failed in 0.1s", "red"),
        ("pytest | tail", "ok", "3 passed, 1 error in 0.1s", "red"),
        ("pytest", "ok", "3 passed, 1 failed", "red"),
        ("cargo test | cat", "ok", "test result: FAILED. 3 passed; 1 failed", "red"),
        ("go test ./... | cat", "ok", "--- FAIL: TestA\nFAIL", "red"),
        ("jest | cat", "ok", "Tests: 1 failed, 3 passed, 4 total", "red"),
        ("make test | tail", "ok", "make: *** [Makefile:3: test] Error 1", "red"),
        ("nosuch; pytest || true", "ok", "bash: pytest: command not found", "red"),
        (
            "pytest; true",
            "ok",
            "ERROR: file or directory not found: x\n\nno tests ran in 0.6s",
            "red",
        ),
        ("pytest", "ok", "no tests ran in 0.01s", "unknown"),
        ("go test ./...", "ok", "?   example.com/a [no test files]", "unknown"),
        ("python -m unittest", "ok", "Ran 0 tests in 0.000s\n\nOK", "unknown"),
        ("pytest | tail", "ok", "0 passed", "unknown"),
        ("pytest | tail", "ok", "no tests passed", "unknown"),
        ("pytest > out.txt; true", "ok", "", "unknown"),
        ("pytest", "unknown", "12 passed", "unknown"),
    ],
)
def test_green_is_what_is_seen_to_be_green(
    line: str, outcome: str, output: str, wanted: str
) -> None:
    """The exit status counts where it is the run's own; elsewhere the output has to say it."""
    run = runs.run_in(line)
    assert run is not None
    assert runs.colour(run, Outcome(outcome), output) is Colour(wanted)


@given(st.text(), st.sampled_from([Outcome.FAILED, Outcome.UNKNOWN]))
def test_what_failed_or_is_not_over_is_never_green(output: str, outcome: Outcome) -> None:
    """No output makes a failed or unfinished run green."""
    run = runs.run_in("pytest")
    assert run is not None
    assert runs.colour(run, outcome, f"{output}\n12 passed") is not Colour.GREEN
