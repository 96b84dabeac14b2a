"""A conflict as lines: what is told, what is left out, and that names are data."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.feedback.merging.conflict import (
    MOST_COMMITS,
    MOST_FILES,
    WAKE_CHARACTERS,
    FoundConflict,
)

HEAD = "a" * 40
PATH = ".lifecycle/feedback/conflict-46-aaaaaaaaaaaa.txt"
FOUND = FoundConflict(
    46,
    HEAD,
    "main",
    "origin",
    ("a.py", "b.py"),
    ("1111111 Maria: Theirs",),
    ("2222222 Agent: Ours",),
    path=PATH,
)


def test_files_both_sides_and_the_commands() -> None:
    """In this order, names behind bars."""
    lines = FOUND.as_lines()
    assert lines[0].startswith(
        "PR #46 at aaaaaaa and main conflict in 2 files. Text after a bar (|) was written by others"
    )
    assert lines[1:8] == [
        "In conflict:",
        "  | a.py",
        "  | b.py",
        "Commits of main that changed them since:",
        "  | 1111111 Maria: Theirs",
        "Commits of the branch that did:",
        "  | 2222222 Agent: Ours",
    ]
    assert lines[8] == "In the worktree: git fetch origin main && git merge origin/main"
    assert "do not rebase or use --force" in lines[9]
    assert len(lines) == 10
    assert "conflict in 1 file." in replace(FOUND, files=("a.py",)).as_lines()[0]


def test_a_branch_that_a_shell_would_read_is_quoted() -> None:
    """The command is one that can be pasted."""
    lines = replace(FOUND, base="rel;x", remote="up stream").as_lines()
    assert "git fetch 'up stream' 'rel;x' && git merge 'up stream/rel;x'" in "\n".join(lines)


def test_what_was_not_found_is_a_sentence() -> None:
    """No git that can, or nothing in conflict any more; the commands stand all the same."""
    failed = replace(FOUND, files=(), theirs=(), ours=(), problem="git is too old.").as_lines()
    assert failed[0] == (
        "Which files of PR #46 at aaaaaaa and main are in conflict was not found: git is too old."
    )
    assert len(failed) == 3
    gone = replace(FOUND, files=(), theirs=(), ours=()).as_lines()
    assert gone[0] == (
        "git finds no conflict between PR #46 at aaaaaaa and main; GitHub may not have looked again yet."
    )


def test_long_lists_are_cut_and_counted() -> None:
    """Forty files, a dozen commits of each side, two hundred characters of each."""
    many = replace(
        FOUND,
        files=tuple(f"f{n}.py" for n in range(MOST_FILES + 2)),
        theirs=tuple(f"{n:07} Maria: {'x' * 300}" for n in range(MOST_COMMITS)),
    )
    lines = many.as_lines()
    assert lines[MOST_FILES + 2] == "  … 2 more"
    commits = [line for line in lines if "Maria" in line]
    assert len(commits) == MOST_COMMITS
    assert {len(line) for line in commits} == {len("  | ") + 200}
    assert "  … 1 more" not in lines
    told = many.wake_lines()
    assert sum(map(len, told)) + len(told) <= WAKE_CHARACTERS
    assert told[-1] == f"All of it: {PATH}"
    assert told[-3].startswith("In the worktree: git fetch")
    assert len(told) > 30


@pytest.mark.parametrize(("more", "shown"), [(0, 0), (1, 1), (2, 2)])
def test_one_too_many_is_counted(more: int, shown: int) -> None:
    """And none where all fit."""
    assert (MOST_FILES, MOST_COMMITS, WAKE_CHARACTERS) == (40, 12, 2_000)
    lines = replace(
        FOUND, ours=tuple(f"{n:07} A: x" for n in range(MOST_COMMITS + more))
    ).as_lines()
    assert [line for line in lines if "…" in line] == [f"  … {shown} more"] * bool(shown)


def test_a_line_is_shown_if_it_fits_to_the_last_character() -> None:
    """Each line costs its break as well; from the first that does not fit on all is left out."""

    def conflict(last: int) -> FoundConflict:
        wide = tuple(f"{n:03}" + "x" * 180 for n in range(8))
        return replace(FOUND, files=(*wide, "y" * last), theirs=(), ours=("z",))

    def whole(found: FoundConflict) -> list[str]:
        return [*found.as_lines(), f"All of it: {PATH}"]

    taken = sum(len(line) + 1 for line in whole(conflict(1)))
    fits = 1 + WAKE_CHARACTERS - taken
    assert 3 < fits < 200, "the test's own lines leave one that is not cut"
    assert conflict(fits).wake_lines() == whole(conflict(fits))
    cut = conflict(fits + 1).wake_lines()
    assert not any("| z" in line for line in cut)
    longer = replace(
        conflict(fits), files=(*conflict(fits).files[:-1], "y" * 190, "q")
    ).wake_lines()
    assert not any("| z" in line or "| q" in line for line in longer)


def test_a_wake_of_a_small_conflict_has_all_of_it() -> None:
    """The same lines, and the path."""
    assert FOUND.wake_lines() == [*FOUND.as_lines(), f"All of it: {PATH}"]
