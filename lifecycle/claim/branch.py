"""The branch of a task: its name, and being on it with what is known of it anywhere."""

from __future__ import annotations

import re
import unicodedata

from lifecycle.errors import GitFailed
from lifecycle.wiring import World

_SLUG_LIMIT = 40

_IN_THE_WAY = re.compile(r"would be overwritten by \w+: (.+)")
"""How git says which files here stand in the way, tracked or not."""


def branch_name(title: str, number: int) -> str:
    """`claude/<slug>-<n>`: the title's words in ASCII, cut at a word's end."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.casefold())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word[:_SLUG_LIMIT]
        if len(longer) > _SLUG_LIMIT:
            break
        slug = longer
    return f"claude/{slug or 'task'}-{number}"


def switch(world: World, branch: str, base: str) -> list[str]:
    """Be on the task's branch, with what others pushed to it; a new one starts at the fresh base.

    Returns:
        A remark if the branch here and the one on the remote went different ways.

    Raises:
        GitFailed: the branch cannot be switched to, as with changes that would be overwritten.
        Transient: the remote could not be reached.
    """
    try:
        return _switched(world, branch, base)
    except GitFailed as error:
        found = _IN_THE_WAY.search(error.evidence)
        if found is None:
            raise
        raise GitFailed(
            f"Changes that are only here would be overwritten by going to {branch}: {found[1]}; nothing "
            "was claimed, and they are as they were. Commit or stash them, or add --worktree to the "
            "command, which leaves this worktree alone.",
            evidence=error.evidence,
        ) from None


def _switched(world: World, branch: str, base: str) -> list[str]:
    git, remote = world.git, world.settings.remote
    tracking = f"refs/remotes/{remote}/{branch}"
    is_pushed = bool(git.run("ls-remote", "--heads", remote, f"refs/heads/{branch}"))
    if is_pushed:
        git.run("fetch", "--quiet", remote, f"+refs/heads/{branch}:{tracking}")
    if git.head_of(branch) is None:
        start = tracking
        if not is_pushed:
            git.run("fetch", "--quiet", base_remote(world), base)
            start = git.run("rev-parse", "FETCH_HEAD")
        git.run("switch", "--no-track", "-c", branch, start)
        return []
    git.run("switch", branch)
    if not is_pushed or git.run("rev-list", "--count", f"{branch}..{tracking}") == "0":
        return []
    if git.run("rev-list", "--count", f"{tracking}..{branch}") == "0":
        git.run("merge", "--quiet", "--ff-only", tracking)
        return []
    remark = (
        f"{branch} here and on {remote} went different ways; nothing was merged. Bring them together "
        f"with: git pull --rebase {remote} {branch}"
    )
    return [remark]


def base_remote(world: World) -> str:
    """The remote that is the base repository (a fork's `upstream`), else the one pushed to."""
    from lifecycle.git import parse_remote

    if world.base == world.head:
        return world.settings.remote
    for name in world.git.run("remote").split():
        found = parse_remote(world.git.remote_url(name) or "")
        if found is not None and found.repository == world.base:
            return name
    return world.settings.remote
