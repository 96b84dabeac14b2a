"""Find conflicts with the worktree's git, without a checkout; keep them, and show them as text.

The text has the files, both sides' commits, and the commands that solve it. Names of files and titles of
commits were written by others: they are behind bars, as data.
Source: https://git-scm.com/docs/git-merge-tree, which git has in this form since 2.38.
"""

from __future__ import annotations

import shlex

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import review_messages
from lifecycle.core.redact import redact
from lifecycle.core.world import World
from lifecycle.settings import resources
from lifecycle.storage import feedback_files

MOST_FILES = 40
MOST_COMMITS = 12
"""Commits of each side that are shown at the most."""

WAKE_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class FoundConflict:
    """What git finds when it merges the head of a pull request with its base.

    Attributes:
        pull: its number.
        head: the commit.
        base: the branch that it is to go into.
        remote: the remote that has the base.
        files: what is in conflict; empty if git finds nothing.
        theirs, ours: the commits of the base and of the branch that changed these files since they parted,
            newest first, each as one line.
        problem: why nothing was looked for, a sentence; "" if it was.
        path: the path of its packet from the worktree's root.
    """

    pull: int
    head: str
    base: str
    remote: str
    files: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    ours: tuple[str, ...] = ()
    problem: str = ""
    path: str = ""

    def as_lines(self) -> list[str]:
        """All of it as text, line by line."""
        shown = {"conflict": self, "MOST_FILES": MOST_FILES, "MOST_COMMITS": MOST_COMMITS}
        shown |= {"quote": shlex.quote, "as_data": review_messages.quoted_as_data()}
        return resources.drawn("feedback/templates/conflict.txt", **shown)

    def wake_lines(self) -> list[str]:
        """The lines of a wake: the commands, and as much of the rest as fits."""
        first, *below, go, then = self.as_lines()
        last = [go, then, f"All of it: {self.path}"]
        while below and len("\n".join([first, *below, *last])) >= WAKE_CHARACTERS:
            below.pop()
        return [first, *below, *last]


def fetch(world: World, pull: int, head: str, base: str, seconds: float) -> FoundConflict:
    """Find which files of a head conflict with its base, within so many seconds, and keep that as a packet.

    If git cannot say, a sentence replaces the result. Raises OSError if the packet cannot be written.
    """
    world.deadline.renew(seconds)
    conflict = FoundConflict(pull, head, base, world.remote)
    try:
        conflict = _found(world, replace(conflict, remote=world.base_remote))
    except LifecycleError as error:
        conflict = replace(conflict, problem=redact(error.sentence, world.environment))
    name = feedback_files.packet_of(pull, head, "conflict")
    text = "\n".join(conflict.as_lines()) + "\n"
    return replace(conflict, path=feedback_files.write(world.root, name, text))


def _found(world: World, asked: FoundConflict) -> FoundConflict:
    git, remote = world.git, asked.remote
    base = f"refs/remotes/{remote}/{asked.base}"
    wanted = [f"+refs/heads/{asked.base}:{base}"]
    if git.run("cat-file", "-t", asked.head, check=False) != "commit":
        wanted.append(f"refs/pull/{asked.pull}/head")
    git.run("fetch", "--quiet", "--no-tags", remote, *wanted, remote=remote)
    words = ("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z")
    shown = git.run(*words, base, asked.head, check=False).split("\0")
    if not shown[0]:
        why = "this git cannot merge without a checkout; git 2.38 and later can."
        return replace(asked, problem=why)
    files = tuple(dict.fromkeys(name for name in shown[1:] if name))
    if not files:
        return asked
    places = [f":(literal){name}" for name in files[:MOST_FILES]]
    log = ("log", "--no-merges", f"--max-count={MOST_COMMITS + 1}", "--format=%h %an: %s")
    sides = (f"{asked.head}..{base}", f"{base}..{asked.head}")
    shown_sides = (git.run(*log, side, "--", *places) for side in sides)
    theirs, ours = (tuple(commits.splitlines()) for commits in shown_sides)
    return replace(asked, files=files, theirs=theirs, ours=ours)
