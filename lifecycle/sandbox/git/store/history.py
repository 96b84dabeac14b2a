"""Read history from git: logs, differences, and how two commits are related."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lifecycle.sandbox.git.store.objects import FIELDS, parsed
from lifecycle.sandbox.git.store.repository import BareRepository, Commit

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
Change = Literal["added", "removed", "modified", "renamed", "copied", "changed"]
CHANGES: dict[str, Change] = {
    "A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a difference. `sha` is the new blob's, for a removed file the old one's.

    `patch` begins at the first hunk; None for binary files and pure renames.
    """

    path: str
    before: str | None
    status: Change
    sha: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A head compared with a base: the head's own commits, and the number of the base's own."""

    merge_base: str
    ahead: tuple[Commit, ...]
    behind: int

    @property
    def status(self) -> Literal["identical", "ahead", "behind", "diverged"]:
        """The relation in GitHub's word."""
        if self.ahead:
            return "diverged" if self.behind else "ahead"
        return "behind" if self.behind else "identical"


def log(
    git: BareRepository,
    start: str,
    *,
    path: str | None = None,
    skip: int = 0,
    limit: int | None = None,
    options: tuple[str, ...] = (),
) -> list[Commit]:
    """The commits from a start (a sha, or `A..B`), newest first."""
    bounds = [f"--skip={skip}", *([f"--max-count={limit}"] if limit is not None else [])]
    done = git.run(
        "--literal-pathspecs", "log", "-z", f"--format=format:{FIELDS}", *bounds, *options,
        "--end-of-options", start, "--", *([path] if path else []),
    )  # fmt: skip
    return parsed(done.stdout)


def count(
    git: BareRepository, start: str, *, path: str | None = None, options: tuple[str, ...] = ()
) -> int:
    """The number of commits that `log` would return for a start."""
    done = git.run(
        "--literal-pathspecs", "rev-list", "--count", *options, "--end-of-options", start, "--",
        *([path] if path else []),
    )  # fmt: skip
    return int(done.stdout or 0)


def compare(git: BareRepository, base: str, head: str) -> Comparison | None:
    """Compare head with base, commits oldest first; None if they share no history."""
    parting = git.merge_base(base, head)
    if parting is None:
        return None
    ahead = tuple(reversed(log(git, f"{base}..{head}", options=("--topo-order",))))
    return Comparison(parting, ahead, count(git, f"{head}..{base}"))


def files(git: BareRepository, old: str, new: str) -> list[FileChange]:
    """The changes from one tree or commit to another, by path."""
    done = git.run("diff", "--raw", "--numstat", "-z", "-M", "--abbrev=40", old, new, "--")
    parts = done.stdout.decode(errors="replace").split("\0")
    place, listed = 0, []
    while place < len(parts) and parts[place].startswith(":"):
        _, _, old_sha, new_sha, letter = parts[place].split()
        two = letter[0] in "RC"
        listed.append(
            (letter[0], old_sha, new_sha, parts[place + 1], parts[place + 2] if two else None)
        )
        place += 3 if two else 2
    patches = _patches(git, old, new)
    changes = []
    for letter, old_sha, new_sha, first, second in listed:
        added, removed, _ = parts[place].split("\t", 2)
        place += 3 if second is not None else 1
        path = second if second is not None else first
        changes.append(
            FileChange(
                path,
                first if second is not None else None,
                CHANGES.get(letter, "changed"),
                old_sha if letter == "D" else new_sha,
                int(added) if added != "-" else 0,
                int(removed) if removed != "-" else 0,
                patches.pop(0),
            )
        )
    return changes


def _patches(git: BareRepository, old: str, new: str) -> list[str | None]:
    """The hunks of each file, in the order of the difference."""
    text = diff(git, old, new)
    patches: list[str | None] = []
    for part in ("\n" + text).split("\ndiff --git ")[1:]:
        _, begin, hunks = part.partition("\n@@ ")
        patches.append(f"@@ {hunks}".rstrip("\n") if begin else None)
    return patches


def diff(git: BareRepository, old: str, new: str) -> str:
    """The whole difference as a text for `git apply`."""
    done = git.run("diff", "--no-color", "-M", "--patch", old, new, "--")
    return done.stdout.decode(errors="replace")


def mails(git: BareRepository, base: str, head: str) -> str:
    """The commits of head that base lacks, in the form for `git am`."""
    done = git.run("format-patch", "--stdout", f"{base}..{head}")
    return done.stdout.decode(errors="replace")


def parent_of(commit: Commit) -> str:
    """The commit or tree to compare a commit with: its first parent, or the empty tree."""
    return commit.parents[0] if commit.parents else EMPTY_TREE
