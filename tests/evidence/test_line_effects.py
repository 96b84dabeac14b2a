"""What a command line does beside running tests: which files it changes, and where it leads."""

from __future__ import annotations

import pytest

from lifecycle.evidence import command_lines, line_effects, suite_runs
from lifecycle.evidence.command_lines import commands, listed
from tests.batches import each_row


@each_row(
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
        *("rm -rf node_modules src", "rm -rf dist~"),
    ],
)
def test_what_is_known_to_change_files(line: str) -> None:
    """Programs that do, with the options with which they do; one of their files is enough."""
    assert [line_effects.changes_files(each) for each in commands(line)] == [True]


@each_row(
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
    assert [line_effects.changes_files(each) for each in commands(line)] == [False]


@each_row(
    ("line", "may"),
    [
        ("ls && git status", False),
        ("ls | tee out.txt", True),
        ("ls && ./build.sh", True),
        ("./build.sh; ls", True),
        ("./build.sh x list", True),
        ("rm -rf dist/", False),
        ("make fmt", True),
        ("git -C x stash", True),
        ("npm run format", True),
        ("npm run build format", False),
        ("rm -rf dist~", True),
        ("npm ci", False),
        ("npm install", True),
        ("npm install --no-save", False),
        ("cd web && yarn install --frozen-lockfile", False),
        ("uv sync", True),
        ("npm run build", False),
        ("", False),
    ],
)
def test_a_line_may_change_files_unless_all_of_it_is_known_not_to(line: str, may: bool) -> None:
    """One command that nobody knows is enough."""
    assert line_effects.may_change_files(line) is may


@each_row(
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
        ("make -C /w test", "/w", False),
        ("make -C /b test", "", True),
        ("bazel test //...", "/w", False),
        ("bazel test //b/...", "", False),
        ("pytest", "", False),
        ("cd a && pytest", "", False),
        ("cd .. && pytest", "", True),
        ("cd /anywhere && pytest", "", False),
        ("cd /tmp/x && pytest", "", True),
        ("cd $(git rev-parse --show-toplevel) && pytest", "", False),
    ],
)
def test_where_a_line_leads(line: str, root: str, leads: bool) -> None:
    """Away where any place of it lies outside; two slashes begin a target of bazel's, and no place.

    Without a root: what is elsewhere for certain, and what a run is given by its whole path.
    """
    run = suite_runs.run_in(line)
    assert run is not None
    assert suite_runs.leads_away(run, root) is leads


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


def test_a_line_is_read_up_to_its_limit() -> None:
    """To the character: what stands behind it is not there."""
    room = command_lines.LENGTH
    assert [each.words for each in commands(" " * (room - 6) + "pytest")] == [("pytest",)]
    assert [each.words for each in commands(" " * (room - 5) + "pytest")] == [("pytes",)]
    assert room == 8_000


def test_what_several_commands_print_into_a_file_is_not_clear() -> None:
    """Nobody sees then what the run among them printed."""
    assert [each.is_clear for each in commands("{ pytest; echo x; } > log")] == [False, False]
    assert [each.is_clear for each in commands("{ pytest; echo x; }")] == [True, True]


def test_the_last_command_that_does_anything_is_the_projects_own() -> None:
    """Of a configured line with several: what comes before it only makes it ready."""
    own = ("./generate && ./run-all | tail",)
    run = suite_runs.run_in("./run-all", own)
    assert run is not None
    assert run.is_own
    assert suite_runs.run_in("./generate", own) is None


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [("git checkout -b next && pytest", True), ("git checkout main && pytest", False)],
)
def test_a_command_of_git_that_stays_leaves_a_run_what_it_is(line: str, is_plain: bool) -> None:
    """A new branch has the same files; another one may have others."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert run.is_plain is is_plain


def test_every_filter_behind_a_run_changes_no_file() -> None:
    """What a run prints goes through it, and that is all."""
    plain = listed("filters") - {"sed", "sort", "git"}
    assert len(plain) > 5
    runs = {name: suite_runs.run_in(f"pytest | {name}") for name in plain}
    assert {name for name, run in runs.items() if run is None or not run.is_end} == set()
