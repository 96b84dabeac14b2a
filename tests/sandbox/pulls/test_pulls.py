"""Merges in real git, and what follows from pushes and deletions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.control import Control, ControlError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of two commits from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "First\n\nWhy.", by="octocat")
    control.push_commit("work", {"b.txt": "b"}, "Second", by="octocat")
    return control.open_pull("work", "Add files", by="octocat")


def log(git: Git, clone: Path, *form: str) -> list[str]:
    """The log of main, newest first, after a fetch."""
    git("fetch", "--quiet", "--prune", "origin", cwd=clone)
    return git("log", *form, "origin/main", cwd=clone).stdout.split("\n")


def pull(control: Control, number: int) -> Any:
    """A pull request as the world has it."""
    return control.world()["pulls"][str(number)]


def test_merge_commit(control: Control, number: int, git: Git, clone: Path) -> None:
    """`merge` makes a commit of two parents by GitHub's name for the human who merged."""
    control.push_commit("main", {"c.txt": "c"}, "Meanwhile")
    sha = control.merge_pull(number)
    first = log(git, clone, "--format=%H|%s|%an|%cn|%P")[0].split("|")
    assert first[0] == sha
    assert first[1] == f"Merge pull request #{number} from octo-org/work"
    assert first[2:4] == ["Maria Silva", "GitHub"]
    assert len(first[4].split()) == 2
    assert (pull(control, number)["state"], pull(control, number)["merged_by"]) == (
        "merged",
        "maria",
    )


def test_squash(control: Control, number: int, git: Git, clone: Path) -> None:
    """`squash` makes one commit of one parent, titled with the number, listing the messages."""
    control.merge_pull(number, method="squash")
    message = log(git, clone, "-1", "--format=%B")
    assert message[0] == f"Add files (#{number})"
    assert "* First" in message
    assert "* Second" in message
    assert len(log(git, clone, "-1", "--format=%P")[0].split()) == 1
    git("checkout", "--quiet", "origin/main", cwd=clone)
    assert (clone / "b.txt").read_text() == "b"


def test_squash_of_one_commit_takes_its_message(control: Control, git: Git, clone: Path) -> None:
    """A single commit lends its own subject and body."""
    control.push_commit("one", {"a.txt": "a"}, "Only\n\nBecause.")
    number = control.open_pull("one", "Other title")
    control.merge_pull(number, method="squash")
    assert log(git, clone, "-1", "--format=%B")[:3] == [f"Only (#{number})", "", "Because."]


def test_rebase(control: Control, number: int, git: Git, clone: Path) -> None:
    """`rebase` replays each commit with its author on top of what main has become."""
    before = pull(control, number)["head_sha"]
    control.push_commit("main", {"c.txt": "c"}, "Meanwhile")
    sha = control.merge_pull(number, method="rebase")
    assert log(git, clone, "--format=%s|%an|%cn")[:3] == [
        "Second|The Octocat|GitHub", "First|The Octocat|GitHub", "Meanwhile|Maria Silva|Maria Silva",
    ]  # fmt: skip
    assert sha != before
    git("checkout", "--quiet", "origin/main", cwd=clone)
    assert {path.name for path in clone.glob("?.txt")} == {"a.txt", "b.txt", "c.txt"}


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_conflicts_are_found_by_git(control: Control, method: Any) -> None:
    """A conflict is refused by every method, and neither side moves."""
    control.push_commit("work", {"README.md": "mine"}, "Mine")
    number = control.open_pull("work", "Mine")
    control.push_commit("main", {"README.md": "theirs"}, "Theirs")
    before = control.world()["refs"]
    with pytest.raises(ControlError, match="not mergeable"):
        control.merge_pull(number, method=method)
    assert control.world()["refs"] == before
    assert pull(control, number)["state"] == "open"


def test_what_cannot_be_merged(control: Control, number: int) -> None:
    """Unknown, draft, closed and merged ones are refused with a sentence."""
    with pytest.raises(ControlError, match="no pull request 999"):
        control.merge_pull(999)
    control.push_commit("idea", {"i.txt": "i"}, "Idea")
    draft = control.open_pull("idea", "Idea", draft=True)
    with pytest.raises(ControlError, match="draft"):
        control.merge_pull(draft)
    control.merge_pull(number)
    with pytest.raises(ControlError, match="not open"):
        control.merge_pull(number)
    with pytest.raises(ControlError, match="merged and cannot be reopened"):
        control.reopen_pull(number)


def test_deleted_branch_keeps_the_head(control: Control, number: int) -> None:
    """After a merge that deletes the branch, the head's sha is still known."""
    sha = pull(control, number)["head_sha"]
    control.merge_pull(number, delete_branch=True)
    assert "refs/heads/work" not in control.world()["refs"]
    assert pull(control, number)["head_sha"] == sha


def test_a_reused_branch_has_two_pull_requests(control: Control, number: int) -> None:
    """A merged and an open pull request of one branch stay apart."""
    control.merge_pull(number)
    merged = pull(control, number)["head_sha"]
    control.push_commit("work", {"d.txt": "d"}, "Again")
    second = control.open_pull("work", "Again")
    assert second != number
    assert pull(control, number)["head_sha"] == merged
    assert pull(control, second)["state"] == "open"


@pytest.mark.parametrize(
    ("body", "state"),
    [
        ("Closes #42", "closed"),
        ("This fixes: #42.", "closed"),
        ("Resolved octo-org/hello-service#42", "closed"),
        ("Refs #42", "open"),
        ("Closes other/place#42", "open"),
        ("Discloses #42", "open"),
    ],
)
def test_keywords_close_at_merge(control: Control, body: str, state: str) -> None:
    """Closing words in the body close the issue when it merges into the default branch."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work", body=body)
    assert control.world()["issues"]["42"]["state"] == "open"
    control.merge_pull(number)
    assert control.world()["issues"]["42"]["state"] == state


def test_keywords_mean_the_default_branch(control: Control) -> None:
    """A merge into another branch closes nothing."""
    control.push_commit("next", {"n.txt": "n"}, "Next")
    control.push_commit("work", {"a.txt": "a"}, "Work", start="next")
    number = control.open_pull("work", "Work", base="next", body="Closes #42")
    control.merge_pull(number)
    assert control.world()["issues"]["42"]["state"] == "open"


def test_keywords_in_commits_close_too(control: Control) -> None:
    """A commit message that reaches the default branch closes what it says."""
    control.push_commit("main", {"a.txt": "a"}, "Fix the race\n\nFixes #42")
    assert control.world()["issues"]["42"]["state"] == "closed"


def test_closing_deleting_and_reopening(control: Control, number: int) -> None:
    """A deleted branch closes its pull request, which reopens when the branch is back."""
    control.close_pull(number)
    control.reopen_pull(number)
    assert pull(control, number)["state"] == "open"
    control.delete_branch("work")
    assert pull(control, number)["state"] == "closed"
    with pytest.raises(ControlError, match="is gone"):
        control.reopen_pull(number)
    sha = control.push_commit("work", {"z.txt": "z"}, "Back")
    control.reopen_pull(number)
    assert pull(control, number)["head_sha"] == sha


def test_a_deleted_base_closes_what_was_to_be_merged_into_it(control: Control) -> None:
    """It is closed unmerged, and does not reopen before the base is back, as on GitHub."""
    control.push_commit("base", {"b.txt": "b"}, "Base")
    control.push_commit("top", {"t.txt": "t"}, "Top", start="base")
    stacked = control.open_pull("top", "Top", base="base")
    control.delete_branch("base")
    assert pull(control, stacked)["state"] == "closed"
    with pytest.raises(ControlError, match=r"base of pull request .* is gone"):
        control.reopen_pull(stacked)
    control.push_commit("base", {"b.txt": "b"}, "Base")
    control.reopen_pull(stacked)
    assert pull(control, stacked)["state"] == "open"


def test_reopening_yields_to_another(control: Control, number: int) -> None:
    """Only one is open for a branch, so a closed one stays closed while another is open."""
    control.close_pull(number)
    control.open_pull("work", "Other")
    with pytest.raises(ControlError, match="Another pull request"):
        control.reopen_pull(number)


def test_commits_that_reach_the_base_count_as_merged(
    control: Control, number: int, git: Git, clone: Path
) -> None:
    """Pushing the branch's commits to main by hand marks the pull request as merged."""
    git("push", "--quiet", "origin", "origin/work:main", cwd=clone)
    assert pull(control, number)["state"] == "merged"
    assert pull(control, number)["merged_by"] == "octocat"


def test_unrelated_history_is_refused(control: Control, git: Git, clone: Path) -> None:
    """A branch that shares nothing with main cannot have a pull request."""
    git("checkout", "--quiet", "--orphan", "alien", cwd=clone)
    git("commit", "--quiet", "--message", "Alien", cwd=clone)
    git("push", "--quiet", "origin", "alien", cwd=clone)
    with pytest.raises(ControlError, match="no history in common with main"):
        control.open_pull("alien", "Alien")
