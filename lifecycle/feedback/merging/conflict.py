"""Find what is in conflict, with the worktree's git: the base is fetched, and nothing is checked out.

Source: https://git-scm.com/docs/git-merge-tree, which git has in this form since 2.38.
"""

from __future__ import annotations

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import redact
from lifecycle.core.world import World
from lifecycle.feedback.merging import conflict_text
from lifecycle.feedback.merging.conflict_text import FoundConflict
from lifecycle.storage.feedback_files import FeedbackFiles


def fetch(world: World, pull: int, head: str, base: str, seconds: float) -> FoundConflict:
    """Find which files of a head conflict with its base, within so many seconds, and keep that as a packet.

    What git cannot tell is a sentence in its place. Raises OSError if the packet cannot be written.
    """
    world.deadline.renew(seconds)
    conflict = FoundConflict(pull, head, base, world.remote)
    try:
        conflict = _found(world, replace(conflict, remote=world.base_remote))
    except LifecycleError as error:
        conflict = replace(conflict, problem=redact(error.sentence, world.environment))
    name = FeedbackFiles.packet_of(pull, head, "conflict")
    text = "\n".join(conflict_text.lines_of(conflict)) + "\n"
    FeedbackFiles(world.root).write(name, text.encode())
    return replace(conflict, path=FeedbackFiles.shown(name))


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
        why = "this git cannot merge without a checkout; it can from version 2.38 on."
        return replace(asked, problem=why)
    files = tuple(dict.fromkeys(name for name in shown[1:] if name))
    if not files:
        return asked
    places = [f":(literal){name}" for name in files[: conflict_text.MOST_FILES]]

    def commits(since: str, until: str) -> tuple[str, ...]:
        most = f"--max-count={conflict_text.MOST_COMMITS + 1}"
        words = ("log", "--no-merges", most, "--format=%h %an: %s", f"{since}..{until}", "--")
        return tuple(git.run(*words, *places).splitlines())

    theirs, ours = commits(asked.head, base), commits(base, asked.head)
    return replace(asked, files=files, theirs=theirs, ours=ours)
