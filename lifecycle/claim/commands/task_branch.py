"""The branch of a task: create it or switch to it."""

from __future__ import annotations

import re
import shlex
from contextlib import suppress

from lifecycle.claim.record.claim_file import sentence
from lifecycle.core.errors import GitFailed, LifecycleError, Refused
from lifecycle.core.redact import quoted, visible
from lifecycle.core.world import World
from lifecycle.git import tracked_files, worktree_files
from lifecycle.settings.config import CONFIG_FILE
from lifecycle.storage.store import FOLDER
from lifecycle.trackers.command_signs import FILES

_PLAIN = ("--quiet", "--no-recurse-submodules")
"""Options of every fetch here: no submodule's remote is asked, since the tree's .gitmodules names it."""

_NEEDED = (CONFIG_FILE, ".claude/settings.json", *FILES)
"""What a worktree cannot do without: its settings, its hooks, its tasks."""

_NAMED = 3
"""Commits and files that are named."""

_IN_THE_WAY = re.compile(r"would be overwritten by \w+: (.+)")
"""git's error about files that a switch would overwrite, tracked or not; the group has their names."""


def switch(world: World, branch: str, base: str) -> list[str]:
    """Switch to the task's branch, with what others pushed to it; one without work is at the fetched base.

    Returns:
        Remarks: a hook of git's failed, the branch here and the one on the remote went different ways, or a
        new one has not what was committed to the base here.

    Raises:
        GitFailed: the branch cannot be switched to, as with changes that would be overwritten.
        Refused: git has a claim file, or a folder of ours, on that branch; or a new one would lack what the
            worktree needs; or git is in the middle of a rebase or the like.
        Transient: the remote could not be reached.
    """
    try:
        return _switched(world, branch, base)
    except GitFailed as error:
        match = _IN_THE_WAY.search(error.evidence)
        if match is None:
            worktree_files.refuse_under_way(world.git, world.root, "claimed")
            error.sentence += " Nothing was claimed; mend that, then claim again."
            raise
        text = sentence("in-the-way", branch=branch, names=match[1])
        raise GitFailed(text, evidence=error.evidence) from None


def _switched(world: World, branch: str, base: str) -> list[str]:
    """`switch`, with git's errors as they are."""
    git, remote = world.git, world.remote
    tracking = f"refs/remotes/{remote}/{branch}"
    ref = f"refs/heads/{branch}"  # a tag may have the name, too
    is_pushed = bool(git.run("ls-remote", "--heads", remote, ref, remote=remote))
    if is_pushed:
        git.run("fetch", *_PLAIN, remote, f"+{ref}:{tracking}", remote=remote)
        _refuse_ours(world, branch, tracking)
    is_here = git.head_of(branch) is not None
    if not is_here and not is_pushed:
        _fetch_base(world, world.base_remote, base)
        start = git.run("rev-parse", "FETCH_HEAD")
        _refuse_ours(world, base, start)
        remarks = _left_behind(world, branch, base, start)
        return [*_go(world, branch, "--no-track", "-c", branch, start), *remarks]
    if is_here:
        _refuse_ours(world, branch, ref)
        failed = _go(world, branch, branch)
    else:
        failed = _go(world, branch, "--no-track", "-c", branch, tracking)
    if is_pushed and git.run("rev-list", "--count", f"{ref}..{tracking}") != "0":
        if git.run("rev-list", "--count", f"{tracking}..{ref}") != "0":
            return [*failed, sentence("different-ways", branch=branch, remote=remote)]
        git.run("merge", "--quiet", "--ff-only", tracking)
    _begin_at_base(world, branch, base)
    return failed


def _go(world: World, branch: str, *words: str) -> list[str]:
    """Switch; a remark if a post-checkout hook failed behind that: git says no, and has switched."""
    try:
        world.git.run("switch", *words)
    except GitFailed as error:
        if world.git.current_branch() != branch:
            raise
        # It may have been there before, in the middle of a merge, which git refuses to leave.
        worktree_files.refuse_under_way(world.git, world.root, "claimed")
        return [sentence("hook-failed", branch=branch, evidence=error.evidence)]
    return []


def _begin_at_base(world: World, branch: str, base: str) -> None:
    """Have a branch without work of its own, as one that was merged, go on from the base, if it can."""
    with suppress(LifecycleError):
        _fetch_base(world, world.base_remote, base)
        start = world.git.run("rev-parse", "FETCH_HEAD")
        _refuse_ours(world, base, start)
        if world.git.run("rev-list", "--count", f"{start}..refs/heads/{branch}") == "0":
            world.git.run("merge", "--quiet", "--ff-only", start)


def _left_behind(world: World, branch: str, base: str, start: str) -> list[str]:
    """A remark on commits of the base that are only here: the new branch starts without them.

    Refused if they brought files into being that the worktree needs: a switch would take them away, and
    with them the hooks, or a tracker's tasks.
    """
    git, source = world.git, world.base_remote
    is_base = git.current_branch() == base
    push = f": git push {source} {base}"
    diff = ("diff", "--name-only")
    new = git.run(*diff, "--diff-filter=A", f"{start}...HEAD", "--", *_NEEDED, check=False)
    gone = git.run(*diff, "--diff-filter=D", "HEAD", start, "--", *_NEEDED) if new else ""
    if gone:
        # A worktree of the task's own is detached at what the other one has, the base or not.
        is_there = git.head_of(base) == git.run("rev-parse", "HEAD")
        way = push if is_there else f", or claim from there: git switch {base}"
        names = _few([visible(name) for name in gone.splitlines()])
        raise Refused(sentence("would-lose", names=names, source=source, base=base, way=way))
    only_here = git.run("log", "--format=%h %s", f"{start}..HEAD") if is_base else ""
    if not only_here:
        return []
    commits = _few([quoted(line) for line in only_here.splitlines()])
    words = {"branch": branch, "source": source, "base": base, "commits": commits, "push": push}
    return [sentence("lacks-commits", **words)]


def _few(names: list[str]) -> str:
    more = f" (+{len(names) - _NAMED} more)" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _fetch_base(world: World, source: str, base: str) -> None:
    """Fetch the branch that the new one starts at; Refused, with the way out, if there is none."""
    if not base:
        raise Refused(sentence("no-branches", world=world, source=source))
    try:
        world.git.run("fetch", *_PLAIN, source, f"refs/heads/{base}", remote=source)
    except GitFailed as error:
        if "couldn't find remote ref" not in error.evidence:
            raise
        name = "no-base" if world.settings.base else "no-default"
        raise Refused(sentence(name, base=base, source=source)) from None


def _refuse_ours(world: World, branch: str, commit: str) -> None:
    """Refuse a commit that has a claim in it, before it is checked out: it would overwrite our files."""
    for name in tracked_files.tracked_in(world.git, commit):
        undo = "git rm -r --cached" if name.casefold() == FOLDER else "git rm --cached"
        words = {"branch": branch, "name": name, "undo": undo, "quoted": shlex.quote(name)}
        raise Refused(sentence("ours-in-git", **words))
