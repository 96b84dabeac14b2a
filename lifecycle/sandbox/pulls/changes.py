"""The changes of a pull request: its commits, its files, and their size."""

from __future__ import annotations

import re

from lifecycle.sandbox.git.store import history
from lifecycle.sandbox.git.store.repository import Commit
from lifecycle.sandbox.pulls.state import Measure, PullRequest


def parting(pull: PullRequest) -> str:
    """The commit at which a pull request diverged from its base."""
    git = pull.repository.git
    return git.merge_base(pull.base_sha, pull.head_sha) or pull.base_sha


def files(pull: PullRequest) -> list[history.FileChange]:
    """The files that a pull request has changed since it diverged from its base."""
    return history.files(pull.repository.git, parting(pull), pull.head_sha)


def commits(pull: PullRequest) -> list[Commit]:
    """The commits of a pull request, oldest first."""
    between = f"{pull.base_sha}..{pull.head_sha}"
    return history.log(pull.repository.git, between, options=("--reverse", "--topo-order"))


def measure(pull: PullRequest) -> Measure:
    """The size of a pull request; computed once for each head and base."""
    pair = (pull.base_sha, pull.head_sha)
    if pull.measure is None or pull.measure.pair != pair:
        git = pull.repository.git
        done = git.run("diff", "--shortstat", "-M", f"{pair[0]}...{pair[1]}", "--")
        words = {
            word: int(number)
            for number, word in re.findall(r"(\d+) (file|insertion|deletion)", done.stdout.decode())
        }
        pull.measure = Measure(
            pair,
            history.count(git, f"{pair[0]}..{pair[1]}"),
            words.get("file", 0),
            words.get("insertion", 0),
            words.get("deletion", 0),
        )
    return pull.measure
