"""What a command line does beside running tests: which files it changes, and where it leads."""

from __future__ import annotations

import pytest

from lifecycle.evidence import test_runs
from lifecycle.evidence.command_lines import commands, listed


@pytest.mark.parametrize(
    "line",
    [
        *("git stash", "git stash pop", "git checkout main", "git reset --hard", "git merge x"),
        *("git stash drop --hard", "git apply a.patch", "git am a.patch", "git restore ."),
        *(
            "sed -i s/a/b/ a.py",
            "sed -ni p a.py",
            "sed --in-place s/a/b/ a",
            "perl -pi -e s/a/b/ a",
        ),
        *("black .", "ruff format", "go fmt ./...", "prettier --write a.js", "ruff check --fix"),
        *(
            "eslint -a .",
            "cargo clippy --fix",
            "gofmt -w a.go",
            "rm a.py",
            "rm -r build/x",
            "cp a b",
        ),
        *(
            "patch",
            "mv a.py /tmp/b",
            "cat a > b.py",
            "echo x >> a.py",
            "printf x > src/a /dev/null",
        ),
        "rm -rf node_modules src",
    ],
)
def test_what_is_known_to_change_files(line: str) -> None:
    """Programs that do, with the options with which they do; one of their files is enough."""
    assert [test_runs.changes_files(each) for each in commands(line)] == [True]


@pytest.mark.parametrize(
    "line",
    [
        *(
            "git reset a.py",
            "git status",
            "git checkout -b next",
            "git stash list",
            "git stash show",
        ),
        *("git switch -c next", "git commit -m x", "git rebase --abort", "git log --hard -b"),
        *(
            "sed -n 1,5p a.py",
            "perl -e 1",
            "sed s/i/b/ a",
            "black --check .",
            "ruff format --diff .",
        ),
        *("gofmt -l .", "ruff check .", "eslint .", "cargo clippy", "go vet", "cat a.py", "echo x"),
        *("rm -rf /tmp/x", "rm -rf node_modules/", "rm -rf /dev/shm/x", "echo x > /tmp/note", "ls"),
        *("cat a > /dev/null", "python a.py > b", "pytest"),
    ],
)
def test_what_is_not_known_to_change_files(line: str) -> None:
    """What only looks, what writes elsewhere or into caches, and what nobody knows."""
    assert [test_runs.changes_files(each) for each in commands(line)] == [False]


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ("ls && git status", False),
        ("ls | tee out.txt", True),
        ("ls && ./build.sh", True),
        ("./build.sh; ls", True),
        ("", False),
    ],
)
def test_a_line_may_change_files_unless_all_of_it_is_known_not_to(line: str, may: bool) -> None:
    """One command that nobody knows is enough."""
    assert test_runs.may_change_files(line) is may


@pytest.mark.parametrize(
    ("line", "root", "leads"),
    [
        ("pytest", "/w", False),
        ("cd /w && pytest", "/w", False),
        ("cd /w/a && pytest", "/w", False),
        ("cd a && cd .. && pytest", "/w", False),
        ("cd a && cd ../.. && pytest", "/w", True),
        ("cd .. && pytest", "/w", True),
        ("cd /wide && pytest", "/w", True),
        ("cd /other && cd /w && pytest", "/w", True),
        ("pytest ../other/tests", "/w", True),
        ("cd a && pytest ../tests", "/w", False),
        ("pytest /w/tests", "/w", False),
        ("pytest /other/tests", "/w", True),
        ("cd ~ && pytest", "/w", True),
        ("cd $HOME && pytest", "/w", True),
        ("cd - && pytest", "/w", True),
        ("cd $(git rev-parse --show-toplevel) && pytest", "/w", False),
        ("make -C ../b test", "/w", True),
        ("pytest", "", False),
        ("cd a && pytest", "", False),
        ("cd .. && pytest", "", True),
        ("cd /anywhere && pytest", "", False),
        ("cd /tmp/x && pytest", "", True),
        ("cd $(git rev-parse --show-toplevel) && pytest", "", False),
    ],
)
def test_where_a_line_leads(line: str, root: str, leads: bool) -> None:
    """Away where any place of it lies outside; without a root only what is elsewhere for certain does."""
    run = test_runs.run_in(line)
    assert run is not None
    assert test_runs.leads_away(run, root) is leads


def test_the_tables_of_what_changes_files_are_there() -> None:
    """Each kind that is asked for has words."""
    kinds = (
        "moving",
        "staying",
        "formatting",
        "looking only",
        "linters",
        "fixing",
        "changing",
        "writing",
    )
    assert all(len(listed(kind)) > 2 for kind in (*kinds, "elsewhere", "caches"))
