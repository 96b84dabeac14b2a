"""Which of the product's own files git tracks: such a file came with the repository, from its author."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.timing import Deadline
from lifecycle.settings.resources import Sentences
from lifecycle.storage import regular_files
from lifecycle.storage.store import CLAIM_FILE, FOLDER, OURS, common_folder

if TYPE_CHECKING:
    from lifecycle.core.ports import Git

sentence: Final = Sentences("git/refusals.toml")

OWN_LINES = (f"/{CLAIM_FILE}*", f"/{FOLDER}/")
"""The patterns of the product's own files, from the worktree's root."""


def exclude_own_files(root: Path, lines: Sequence[str] = OWN_LINES) -> None:
    """Add the claim file and `.lifecycle/`, or these patterns, to the repository's `info/exclude`, once.

    All worktrees of a clone share that file (https://git-scm.com/docs/gitrepository-layout). Outside of git
    nothing is done.

    Raises:
        OSError: the file cannot be read or written.
    """
    common = common_folder(root)
    if common is None:
        return
    path = common / "info" / "exclude"
    read = regular_files.content(str(path), follow=True)  # a named pipe there would never answer
    text = read[0].decode("utf-8", "surrogateescape") if read is not None else ""
    missing = [line for line in lines if line not in text.splitlines()]
    if not missing:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    joint = "" if not text or text.endswith("\n") else "\n"
    with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(joint + "\n".join(missing) + "\n")


NAMES = (CLAIM_FILE, f"{CLAIM_FILE}.*{OURS}", FOLDER)
"""Names and patterns of our own files at the top of a worktree."""


NAMES_ALONE = {f"GIT_{name}_PATHSPECS": "0" for name in ("GLOB", "NOGLOB", "LITERAL")}
NAMES_ALONE["GIT_ICASE_PATHSPECS"] = "1"
"""Names are not patterns, whatever the environment says, and match in any case: a file system that ignores
case opens `.Lifecycle` for `.lifecycle`."""


def refuse(root: Path, deadline: Deadline, environment: Mapping[str, str]) -> None:
    """Refuse to continue if git tracks the claim or anything in `.lifecycle/`.

    Raises:
        Refused: a file is tracked (the sentence says how to untrack it), or git does not answer.
    """
    for name in tracked(root, deadline, environment, NAMES):
        way = "git rm -rf --cached" if (root / name).is_dir() else "git rm -f --cached"
        raise Refused(sentence("tracked", name=name, way=f"{way} {shlex.quote(name)}"))


_MOST_INDEX = 16_000_000
"""Size in bytes up to which an index is searched; in a larger one git finds names sooner."""

_WHOLE_PATHS = (b"dirc\0\0\0\x02", b"dirc\0\0\0\x03")
"""The beginning, in small letters, of an index whose entries have whole paths, each ended by a NUL."""


def may_track(root: Path, names: Sequence[str]) -> bool:
    """False if git tracks nothing in the worktree under these names, in any case; True if git must answer.

    Only git's own index can tell that, if its version spells each path out and it is whole: a shared part
    is in a file of its own. For another user's repository git does not answer, so nothing is read there.
    Source: https://git-scm.com/docs/gitformat-index

    Args:
        root: the worktree's top folder; for any other folder git must be asked.
        names: paths from there, and git patterns.
    """
    try:
        git = Path(regular_files.git_folder(root) or os.devnull)
        is_own = git.is_dir() and git.stat().st_uid == os.geteuid()
        files = [path.name for path in git.iterdir()] if is_own else []
    except (OSError, ValueError):
        return True
    if "HEAD" not in files or any(name.startswith("sharedindex.") for name in files):
        return True
    index = (regular_files.whole(str(git / "index"), _MOST_INDEX) or b"").lower()
    if not index.startswith(_WHOLE_PATHS):
        return True
    return any(wanted in index for name in names for wanted in _in_index(name))


def _in_index(name: str) -> tuple[bytes, ...]:
    """The bytes, in small letters, of an index that has the file or folder, or a match of the pattern."""
    begin = re.split(r"[*?\[\\]", name, maxsplit=1)[0]
    wanted = os.fsencode(begin).lower()
    return (wanted,) if begin != name else (wanted + b"/", wanted + b"\0")


def listed(
    root: Path, deadline: Deadline, environment: Mapping[str, str], names: Sequence[str]
) -> frozenset[str]:
    """The paths that git lists under these names; empty outside of git. GitFailed if git does not answer.

    One git process, or none if the index shows that nothing is tracked.
    """
    if not may_track(root, names):
        return frozenset()
    from lifecycle.git.process import GitRepository

    git = GitRepository(root, deadline, {**environment, **NAMES_ALONE})
    try:
        return frozenset(git.run("ls-files", "-z", "--", *names).split("\0")) - {""}
    except GitFailed as error:
        words = f"{error.evidence} {error.sentence}".casefold()
        if "not a git repository" in words or "git is not installed" in words:
            return frozenset()  # without a repository, no file came with one
        raise


def tracked(
    root: Path, deadline: Deadline, environment: Mapping[str, str], names: Sequence[str]
) -> list[str]:
    """Which files git tracks at the top of the folder under these names, as git spells them.

    Raises:
        Refused: git does not answer.
    """
    try:
        paths = listed(root, deadline, environment, names)
    except GitFailed as error:
        why = error.evidence or error.sentence
        raise Refused(sentence("tracked-unknown", why=why)) from None
    tops = sorted({path.partition("/")[0] for path in paths})
    return [top for top in tops if any(_is_one(root, name, top) for name in names)]


def tracked_paths(
    root: Path, deadline: Deadline, environment: Mapping[str, str], names: Sequence[str]
) -> frozenset[str]:
    """The paths that git tracks under these names, in any case; includes `*` if git does not answer."""
    try:
        return listed(root, deadline, environment, names)
    except GitFailed:
        return frozenset({"*"})


def tracked_in(git: Git, commit: str) -> list[str]:
    """Which of the product's own files a commit has at its top, as git spells them; GitFailed."""
    tops = git.run("ls-tree", "--name-only", "-z", commit).split("\0")
    wanted = [name.casefold() for name in NAMES]
    return [top for top in tops if any(fnmatchcase(top.casefold(), name) for name in wanted)]


def _is_one(root: Path, name: str, top: str) -> bool:
    """True if both names lead to one file here, or one is a pattern of the other."""
    if name == top or ("*" in name and fnmatchcase(top.casefold(), name)):
        return True
    first, second = root / name, root / top
    return first.exists() and second.exists() and first.samefile(second)
