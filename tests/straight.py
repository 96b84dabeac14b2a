"""A push that is mere set-up, put into the embedded GitHub without git's own: 28 ms of CPU less.

What it leaves, here and there, is what `git push origin BRANCH` leaves: objects, refs, their log, and all
that GitHub makes of a push. `test_straight.py` holds the two together. The request log has none of git's.
"""

from __future__ import annotations

import os
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from lifecycle.sandbox.base.times import clock
from lifecycle.sandbox.git import pushes
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules.actions import Push
from lifecycle.sandbox.server import SandboxInfo

NOTHING = "0" * 40
_PARENTS = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)
_ELSEWHERE = re.compile("hookspath|insteadof|pushurl", re.IGNORECASE)
"""Settings of a clone by which a push goes another way."""


def pushed_straight(
    world: World, info: SandboxInfo, root: Path, branch: str, committer: str
) -> bool:
    """Push a branch; False, and nothing done, where only git's own push is sure to do what it does.

    Args:
        world: The embedded GitHub's.
        info: The repository that the clone was made of, and whose token pushes.
        root: The clone.
        branch: It may be new, or have new commits; it is on none but this clone's commits.
        committer: Name and address, as in the log of refs.
    """
    git, ref = root / ".git", f"refs/heads/{branch}"
    repo, token = world.repository(info.repository), world.tokens[info.token]
    if repo is None or not (git / ref).is_file() or not _is_plain(git, info):
        return False
    new = (git / ref).read_text().strip()
    with world.lock, clock(world.ahead):
        old = repo.git.refs().get(ref)
        may = repo.can_push(token.user) and token.may("contents:write") and not repo.archived
        if not may or not _is_forward(git, repo, new, old):
            return False
        if pushes.refusals(repo, token.user, [Push(ref, old, new)], "").listed:
            return False
        _link(git / "objects", repo.git.path / "objects")
        _write(repo.git.path / ref, new)
        pulls.refresh(repo, token.user)
        automerge.settle(world)
    tracked = f"refs/remotes/origin/{branch}"
    _write(git / tracked, new)
    log = git / "logs" / tracked
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as lines:
        moment = f"{int(time.time())} {time.strftime('%z')}"
        lines.write(f"{old or NOTHING} {new} {committer} {moment}\tupdate by push\n")
    return True


def _is_plain(git: Path, info: SandboxInfo) -> bool:
    """Whether a clone pushes to where it was cloned from, and no hook of git's looks on."""
    config = (git / "config").read_text()
    is_there = f'[remote "origin"]\n\turl = {info.git_url}\n' in config
    return is_there and not _ELSEWHERE.search(config) and not (git / "hooks/pre-push").exists()


def _is_forward(git: Path, repo: Repository, new: str, old: str | None) -> bool:
    """Whether there are new commits, this clone's own down to what GitHub has, that lose none of that."""
    known = set(repo.git.refs().values())
    unread, seen = [new], set[str]()
    while unread:
        sha = unread.pop()
        path = git / "objects" / sha[:2] / sha[2:]
        if path.exists() and sha not in seen:
            head, _, _ = zlib.decompress(path.read_bytes()).partition(b"\n\n")
            unread += [parent.decode() for parent in _PARENTS.findall(head)]
        elif sha not in known | seen:
            return False
        seen.add(sha)
    return new not in known and (old is None or old in seen)


def _link(ours: Path, theirs: Path) -> None:
    """Have the objects of a clone that are in files of their own in GitHub's repository too."""
    for path in _loose(ours):
        there = theirs / path.parent.name / path.name
        if not there.exists():
            there.parent.mkdir(exist_ok=True)
            os.link(path, there)


def _loose(objects: Path) -> Iterator[Path]:
    for folder in objects.iterdir():
        if len(folder.name) == 2:
            yield from folder.iterdir()


def _write(path: Path, sha: str) -> None:
    """Set a ref at once, as git does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.lock")
    fresh.write_text(f"{sha}\n")
    fresh.replace(path)
