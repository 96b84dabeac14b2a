"""Whose files a test run is about: the folders that its command line names, and the event's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.evidence import suite_runs
from lifecycle.hooks.answers.post_tool_use import RESET, stays_here


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree with a folder, a link that leads out, and another worktree inside; one beside it."""
    top = tmp_path / "tree"
    for folder in (
        "web",
        ".git",
        ".claude/worktrees/other/.git",
        "../other/.git",
        "../plain",
    ):
        (top / folder).mkdir(parents=True)
    (top / "out").symlink_to(tmp_path / "plain")
    return top


def asks(root: Path, line: str, folder: str = ".", said: str = "") -> bool:
    """Is the run of this line, of which the shell ended in this folder, one of the worktree's?"""
    run = suite_runs.run_in(line, root=str(root))
    assert run is not None
    return stays_here(root, str(root / folder), run.steps, said)


@pytest.mark.parametrize(
    "line",
    [
        "pytest",
        "pytest tests",
        "cd web && npx vitest run",
        "cd web && npm test && cd ../api && npm test",
        "cd ./web/../web; pytest",
        "cd $(git rev-parse --show-toplevel) && pytest",
        'cd "$(git rev-parse --show-toplevel)" && pytest',
        "make -C web test",
        "npm --prefix=web test",
        "pytest --junitxml /tmp/result.xml --basetemp=/tmp/x",
        "/opt/venv/bin/python -m pytest",
        "pytest && cd /tmp",
        "go test ./...",
    ],
)
def test_what_stays_in_the_worktree(root: Path, line: str) -> None:
    """Folders below it, its top by git's word, results that are written elsewhere."""
    assert asks(root, line)


def test_an_absolute_path_into_the_worktree_stays_in_it(root: Path) -> None:
    """Also when it is written through a link that leads there."""
    assert asks(root, f"cd {root}/web && pytest")
    (root.parent / "alias").symlink_to(root)
    assert asks(root, f"cd {root.parent}/alias && pytest")
    assert stays_here(root.parent / "alias", str(root), (), "")


@pytest.mark.parametrize(
    "line",
    [
        "cd /tmp/elsewhere && pytest",
        "cd ../other && pytest -q",
        "cd .. && pytest",
        "(cd ../other && pytest)",
        "bash -c 'cd ../other && pytest'",
        "cd out && pytest",
        "cd .claude/worktrees/other && pytest",
        "cd && pytest",
        "cd - && pytest",
        "cd ~/elsewhere && pytest",
        'cd "$ELSEWHERE" && pytest',
        "cd $(mktemp -d) && pytest",
        "pushd ../other; pytest",
        "make -C ../other test",
        "make -C../other test",
        "npm --prefix ../other test",
        "uv run --directory ../other pytest",
        "cargo test --manifest-path ../other/Cargo.toml",
        "pytest ../other/tests",
        "pytest --rootdir=../other",
        "pytest $WHERE",
    ],
)
def test_what_leaves_the_worktree_is_not_of_it(root: Path, line: str) -> None:
    """By `cd`, by an option, by an argument, by a link, into a worktree inside, or nobody knows where."""
    assert not asks(root, line)


def test_the_folder_of_the_event_has_to_be_in_the_worktree(root: Path) -> None:
    """A subagent works in a worktree of its own, which may lie in this one; without a folder it is here."""
    assert asks(root, "pytest", "web")
    for elsewhere in (".claude/worktrees/other", "../other", "..", "out"):
        assert not asks(root, "pytest", elsewhere)
    assert stays_here(root, "", ())
    assert not stays_here(root, "/no\0where", ())


def test_a_shell_that_was_put_back_had_left(root: Path) -> None:
    """The client says so; a line whose own `cd` stays in the worktree explains it."""
    said = f"\n{RESET} {root}"
    assert not asks(root, "z other && pytest", said=said)
    assert asks(root, "cd web && pytest", said=said)
