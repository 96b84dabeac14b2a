"""The branch of a task: create it or switch to it."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress

from lifecycle.claim.record.claim_file import sentence
from lifecycle.core.errors import GitFailed, LifecycleError, Refused
from lifecycle.core.redact import few, quoted, visible
from lifecycle.core.world import World
from lifecycle.git import tracked_files, worktree_files
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.storage.store import FOLDER
from lifecycle.trackers.command_signs import FILES

_PLAIN = ("--quiet", "--no-recurse-submodules")
"""Options of every fetch: none from submodules, whose remotes the tree's .gitmodules names."""

_NEEDED = (CONFIG_FILE, ".claude/settings.json", *FILES)
"""What a worktree cannot do without: its settings, its hooks, its tasks."""

_NAMED = 3
"""How many commits, and how many files, are named in a sentence."""

_IN_THE_WAY = re.compile(r"would be overwritten by \w+: (.+)")
"""git's error about files that a switch would overwrite, tracked or not; the group has their names."""


def switch(world: World, branch: str, base: str) -> list[str]:
    """Switch to the task's branch, with what others pushed; without work it begins at the fetched base.

    Returns:
        Remarks: a git hook failed, the local branch and the remote one diverged, a new branch lacks commits
        that the local base has, or an earlier one was merged in other commits.

    Raises:
        GitFailed: git cannot switch to the branch, for example because changes would be overwritten.
        Refused: git tracks a claim file, or a folder of ours, on that branch; or a new branch would lack
            files that the worktree needs; or git is in the middle of a rebase or the like.
        Transient: the remote could not be reached.
    """
    try:
        return _switched(world, branch, base)
    except GitFailed as error:
        match = _IN_THE_WAY.search(error.evidence)
        if match is None:
            worktree_files.refuse_under_way(world.git, world.root, "claimed")
            error.sentence += " Nothing was claimed; fix that, then claim again."
            raise
        text = sentence("in-the-way", branch=branch, names=match[1])
        raise GitFailed(text, evidence=error.evidence) from None


def _switched(world: World, branch: str, base: str) -> list[str]:
    """Do what `switch` does, with git's errors unchanged."""
    git, remote = world.git, world.remote
    tracking = f"refs/remotes/{remote}/{branch}"
    ref = f"refs/heads/{branch}"  # a tag may have the name, too
    is_pushed = bool(git.run("ls-remote", "--heads", remote, ref, remote=remote))
    if is_pushed:
        git.run("fetch", *_PLAIN, remote, f"+{ref}:{tracking}", remote=remote)
        _refuse_ours(world, branch, tracking)
    is_here = git.head_of(branch) is not None
    if not is_here and not is_pushed:
        start = _fetched_base(world, base)
        remarks = _left_behind(world, branch, base, start)
        return [*_go(world, branch, "--no-track", "-c", branch, start), *remarks]
    if is_here:
        _refuse_ours(world, branch, ref)
        failed = _go(world, branch, branch)
    else:
        failed = _go(world, branch, "--no-track", "-c", branch, tracking)
    if is_pushed and git.run("rev-list", "--count", f"{ref}..{tracking}") != "0":
        if git.run("rev-list", "--count", f"{tracking}..{ref}") != "0":
            words = {"branch": branch, "remote": remote, "quoted": shlex.quote(branch)}
            return [*failed, sentence("different-ways", **words)]
        git.run("merge", "--quiet", "--ff-only", tracking)
    return [*failed, *_begin_at_base(world, branch, base)]


def _go(world: World, branch: str, *words: str) -> list[str]:
    """Switch; a remark if a post-checkout hook failed: git then reports an error, but has switched."""
    try:
        world.git.run("switch", *words)
    except GitFailed as error:
        if world.git.current_branch() != branch:
            raise
        # The branch may have been checked out already, in a merge that git refuses to leave.
        worktree_files.refuse_under_way(world.git, world.root, "claimed")
        return [sentence("hook-failed", branch=branch, evidence=error.evidence)]
    return []


def _begin_at_base(world: World, branch: str, base: str) -> list[str]:
    """Fast-forward a branch without work of its own (a merged one, say) to the base, if possible.

    Returns a remark if the base has all of its work in other commits: a squash or a rebase merged it.
    """
    git, source, ref = world.git, world.base_remote, f"refs/heads/{branch}"
    with suppress(LifecycleError):
        start = _fetched_base(world, base)
        if git.run("rev-list", "--count", f"{start}..{ref}") == "0":
            git.run("merge", "--quiet", "--ff-only", start)
        elif git.run("merge-tree", "--write-tree", start, ref) == git.run("rev-parse", f"{start}:"):
            words = {"branch": branch, "source": source, "base": base, "quoted": shlex.quote(base)}
            return [sentence("merged-otherwise", **words)]
    return []


def _left_behind(world: World, branch: str, base: str, start: str) -> list[str]:
    """A remark on commits of the local base that are not on the remote: the new branch lacks them.

    Refused if they added files that the worktree needs: a switch would remove them, and with them the
    hooks, or a tracker's tasks.
    """
    git, source = world.git, world.base_remote
    tip = git.head_of(base)  # None in a repository without a commit
    is_base = tip is not None and git.current_branch() == base
    name = shlex.quote(base)
    push = f": git push {source} {name}"
    diff = ("diff", "--name-only")
    new = git.run(*diff, "--diff-filter=A", f"{start}...HEAD", "--", *_NEEDED, check=False)
    gone = git.run(*diff, "--diff-filter=D", "HEAD", start, "--", *_NEEDED) if new else ""
    if gone:
        # A worktree made for the task is detached at the commit of the other one, the base or not.
        is_there = tip == git.run("rev-parse", "HEAD")
        way = push if is_there else f", or claim from there: git switch {name}"
        names = few(map(visible, gone.splitlines()), _NAMED)
        raise Refused(sentence("would-lose", names=names, source=source, base=base, way=way))
    only_here = git.run("log", "--format=%h %s", f"{start}..HEAD") if is_base else ""
    if not only_here:
        return []
    commits = few(map(quoted, only_here.splitlines()), _NAMED)
    words = {"branch": branch, "source": source, "base": base, "commits": commits, "push": push}
    return [sentence("lacks-commits", quoted=name, **words)]


def _fetched_base(world: World, base: str) -> str:
    """Fetch the branch that the new one starts at, and return its commit.

    Refused, with the way out, if it does not exist, or if our files are in it.
    """
    source = world.base_remote
    if not base:
        raise Refused(sentence("no-branches", world=world, source=source))
    try:
        world.git.run("fetch", *_PLAIN, source, f"refs/heads/{base}", remote=source)
    except GitFailed as error:
        if "couldn't find remote ref" not in error.evidence:
            raise
        name = "no-base" if world.settings.base else "no-default"
        raise Refused(sentence(name, base=base, source=source)) from None
    start = world.git.run("rev-parse", "FETCH_HEAD")
    _refuse_ours(world, base, start)
    return start


def _refuse_ours(world: World, branch: str, commit: str) -> None:
    """Refuse a commit that has a claim in it, before it is checked out: it would overwrite our files."""
    for name in tracked_files.tracked_in(world.git, commit):
        undo = "git rm -r --cached" if name.casefold() == FOLDER else "git rm --cached"
        words = {"branch": branch, "name": name, "undo": undo, "quoted": shlex.quote(name)}
        raise Refused(sentence("ours-in-git", **words))
