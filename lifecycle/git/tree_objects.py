"""One word for a worktree's files: the same before and after a commit, another after any edit.

The word is the name of the tree object that git would make of all files that it does not ignore. It is
made in a temporary index, and objects that it needs go to a temporary folder: nothing is written into
the repository. The temporary index begins as a copy of the real one, so only what changed is read.

Sources: https://git-scm.com/docs/git-write-tree, https://git-scm.com/docs/git-add, and for the variables
https://git-scm.com/docs/git (GIT_INDEX_FILE, GIT_OBJECT_DIRECTORY, GIT_ALTERNATE_OBJECT_DIRECTORIES).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from lifecycle.core.errors import GitFailed
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.timing import Deadline
from lifecycle.git.process import GitRepository, sentence

ASIDE = tuple(
    word
    for name in ("core.fsmonitor", "core.splitIndex", "core.untrackedCache")
    for word in ("-c", f"{name}=false")
)
"""Options with which git keeps no files of its own beside a temporary index."""

_PLAIN = (
    *ASIDE,
    *("-c", "core.compression=0", "-c", "core.looseCompression=0", "-c", "core.fsync=none"),
)
"""What is written is read by nobody and thrown away: neither made small nor waited for."""

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(eq=False)
class TreeSeen:
    """The files of a worktree at a moment.

    Attributes:
        name: the tree without what checks left here, as they left it; "" outside of a repository.
        full: the tree with it, as `git write-tree` gives it.
        raw: the tree with what lifecycle and trackers write, too; "" if nobody asked for its files.
        places: where git keeps its index and its objects; () where nobody asked.
    """

    name: str = ""
    full: str = ""
    raw: str = ""
    _listed: str = ""
    _without: frozenset[str] = frozenset()
    places: tuple[Path, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """By path, the mode and the name of the content of each file of the tree `name`, if asked for."""
        files = dict(map(_entry, filter(None, self._listed.split("\0"))))
        return {path: about for path, about in files.items() if path not in self._without}


UNSEEN = TreeSeen()
"""The value for a worktree that was not looked at yet."""


def tracked_in(
    root: Path, deadline: Deadline, environment: Mapping[str, str], paths: set[str]
) -> set[str]:
    """Those of the paths that git tracks; raises GitFailed, Transient."""
    if not paths:
        return set()
    git = GitRepository(root, deadline, environment)
    return paths & set(git.run("ls-files", "-z", "--full-name", "--", ":/").split("\0"))


def seen(
    root: Path,
    deadline: Deadline,
    environment: Mapping[str, str],
    outputs: Mapping[str, str],
    own: str,
    before: TreeSeen | None = None,
) -> TreeSeen:
    """The tree of the worktree's files as they are now; one without a name outside of a repository.

    Where no file changed since `before`, seen with the same `outputs`, that is given again: git lists
    nothing then.

    Args:
        root: the worktree's top folder.
        deadline: when git has to be over.
        environment: variables beside this process's own.
        outputs: by path, the name of the content that a check left there: such a file is no part of it.
        own: a pattern of paths that are no part of it either, in what git lists.
        before: an earlier look; `UNSEEN`: the files are asked for, too; None: the name alone is.

    Raises:
        GitFailed: git cannot say: there is a file that it cannot read, say.
        Transient: the deadline passed.
    """
    is_listed, before = before is not None, before or UNSEEN
    places_of_git = before.places or _places(root, GitRepository(root, deadline, environment))
    if not places_of_git:
        return TreeSeen()
    index, objects = places_of_git
    with tempfile.TemporaryDirectory(prefix="lifecycle-tree-") as folder:
        aside_index, aside_objects = Path(folder, "index"), Path(folder, "objects")
        aside_objects.mkdir()
        if index.is_file():
            # With what git knows of unchanged files, and with its time: a file as new as the index is read.
            shutil.copy2(index, aside_index)
        alternates = environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
        readable = os.pathsep.join(text for text in (_quoted(objects), alternates) if text)
        places = {
            "GIT_INDEX_FILE": str(aside_index),
            "GIT_OBJECT_DIRECTORY": str(aside_objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": readable,
        }
        aside = GitRepository(root, deadline, environment, places)
        tree = _written(aside, outputs, own, before, is_listed=is_listed)
    tree.places = places_of_git
    return tree


def _places(root: Path, git: GitRepository) -> tuple[Path, ...]:
    """Where git keeps its index and its objects; () outside of a repository."""
    listed = git.run("rev-parse", "--git-path", "index", "--git-path", "objects", check=False)
    return tuple((root / line).resolve() for line in listed.splitlines())


def _quoted(path: Path) -> str:
    """A folder as the variable takes it: in quotes if it has the separator in it."""
    text = str(path)
    if os.pathsep not in text and not text.startswith('"'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _written(
    git: GitRepository, outputs: Mapping[str, str], own: str, before: TreeSeen, *, is_listed: bool
) -> TreeSeen:
    """The tree that git writes of all files that it does not ignore; GitFailed."""
    try:
        git.run(*_PLAIN, "add", "--all", "--", ":/")
        words = ("ls-files", "-s", "-v", "-z", "--full-name", ":/")
        raw, listed = "", ""
        if is_listed and not before.raw:  # both will be needed, and git has a process for each
            from concurrent.futures import ThreadPoolExecutor

            listing = ThreadPoolExecutor(1).submit(git.run, *words)
            raw, listed = git.run(*_PLAIN, "write-tree"), listing.result()
        elif is_listed and (raw := git.run(*_PLAIN, "write-tree")) == before.raw:
            return before
        listed = listed or git.run(*words)
        if _hidden(git, listed):
            tree = _written(git, outputs, own, UNSEEN, is_listed=is_listed)
            tree.raw = ""  # it says nothing of the next change, which git would not see
            return tree
        if (with_submodules := _with_submodules(git, listed, own)) is not None:
            listed, raw = with_submodules, ""
        # Taken out again, not left out: git refuses to leave out what it ignores anyway.
        own_paths = [path for path in re.findall(own, listed) if path]
        _take_out(git, own_paths)
        full = raw if raw and not own_paths else git.run(*_PLAIN, "write-tree")
        files = f"{listed}\0"  # those of checks are unchanged since one made them
        by_checks = [path for path, made in outputs.items() if f" {made} 0\t{path}\0" in files]
        _take_out(git, by_checks)
        name = git.run(*_PLAIN, "write-tree") if by_checks else full
        without = frozenset([*own_paths, *by_checks])
        return TreeSeen(name, full, raw, listed if is_listed else "", without)
    except GitFailed as error:
        unseen = sentence("files-unseen", why=error.evidence)
        raise GitFailed(unseen, evidence=error.evidence) from None


def _hidden(git: GitRepository, listed: str) -> bool:
    """Let the index see the files that git was told to pass over; False if there are none.

    What a sparse checkout leaves out is not there, and stays as it is committed.
    """
    flagged = re.findall(r"(?:^|\0)([a-zS]) ([^\t]*\t([^\0]*))", listed)
    hidden = [
        f"{entry}\0"
        for flag, entry, path in flagged
        if flag not in "Ss" or os.path.lexists(git.root / path)
    ]
    if hidden:  # named anew, they have no flag, and no date that would keep git from reading them
        git.run(*_PLAIN, "update-index", "-z", "--index-info", stdin="".join(hidden))
    return bool(hidden)


def _with_submodules(git: GitRepository, listed: str, own: str) -> str | None:
    """The list with a tree of a submodule's files for its commit, where the two differ.

    The index has them then, too. None if there is no submodule.
    """
    links = re.findall(r"(?:^|\0)\w 160000 (\w+) 0\t([^\0]*)", listed)
    present = [(link, path) for link, path in links if (git.root / path / ".git").exists()]
    for link, path in present:
        below = GitRepository(git.root / path, git.deadline, git.environment)
        files = seen(below.root, below.deadline, below.environment, _NONE, own).full
        if files != below.run("rev-parse", f"{link}^{{tree}}", check=False):
            git.run(*_PLAIN, "update-index", "--cacheinfo", f"160000,{files},{path}")
            listed = listed.replace(f" {link} 0\t{path}", f" {files} 0\t{path}")
    return listed if present else None


def _take_out(git: GitRepository, paths: list[str]) -> None:
    """Take files out of the index; it must be one that nobody else uses."""
    if paths:
        listed = "".join(f"{path}\0" for path in paths)
        git.run(*_PLAIN, "update-index", "-z", "--force-remove", "--stdin", stdin=listed)


def _entry(line: str) -> tuple[str, str]:
    """A path, and its mode and content, of `<mode> <object> <stage>`, a tab and the path."""
    about, _, path = line.partition("\t")
    return path, about[2:-2]
