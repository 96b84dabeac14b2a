"""What a path says of a file, and which tests the words of a run leave out."""

from __future__ import annotations

from lifecycle.evidence.file_kinds import left_out
from lifecycle.evidence.suite_runs import run_in

FILES = (
    *("conftest.py", "tests/conftest.py", "tests/test_a.py", "tests/data/x.json"),
    *("src/pkg/test_b.py", "src/x/test_c.py", "fixtures/y.json", "web/a.test.ts"),
    *("backend/x_test.go", "other/y_test.go"),
)


def test_what_a_run_names_leaves_other_tests_out() -> None:
    """Of the languages that it has tests of: by a path or a `cd`; a word that is no folder names none."""
    for line, missing in (
        ("pytest", ""),
        ("pytest .", ""),
        ("pytest tests", "src/pkg/test_b.py"),
        ("pytest -n 4 --cov src tests/", "src/pkg/test_b.py"),
        ("pytest tests src", ""),
        ("pytest tests && pytest src", ""),
        ("pytest && pytest tests", ""),
        ("cd backend && go test ./...", "other/y_test.go"),
        ("go test ./...", ""),
        ("cd web && npm test", ""),
        ("pytest nowhere", ""),
        ("python -m unittest discover -s tests", "src/pkg/test_b.py"),
        ("python -m unittest discover -s .", ""),
        ("pytest . tests", ""),
        ("cd web && pytest ..", ""),
        ("pytest /top/tests", "src/pkg/test_b.py"),
    ):
        run = run_in(line, (), None, "/top", "/top")
        assert run is not None
        assert run.is_suite, line
        assert left_out(run.within, FILES) == missing, line


def test_the_projects_own_command_names_its_suite() -> None:
    """Whatever lies outside of it; a folder that is named beside it leaves out the rest of that suite."""
    for own, line, missing in (
        ("pytest tests", "pytest tests", ""),
        ("pytest", "pytest tests", "src/pkg/test_b.py"),
        ("cd src && pytest", "cd src && pytest pkg x", ""),
        ("cd src && pytest", "cd src && pytest pkg", "src/x/test_c.py"),
        ("cd src && pytest", "pytest src", ""),
    ):
        run = run_in(line, (own,), None, "/top", "/top")
        assert run is not None
        assert run.is_own
        assert left_out(run.within, FILES) == missing, line
