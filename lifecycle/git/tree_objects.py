"""One word for a worktree's files: the same before and after a commit, another after any edit.

The word is the name of the tree object that git would make of all files that it does not ignore. It is made
in a temporary index, and the objects that it needs go to a temporary folder: nothing is written into
the repository. The temporary index begins as a copy of the real one, so that only changed files are read.

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

from lifecycle.core.errors import GitFailed
from lifecycle.core.light_dataclass import dataclass
from lifecycle.git.process import GitRepository, sentence
from lifecycle.storage import store

_FILES = ("core.fsmonitor", "core.splitIndex", "core.untrackedCache")
ASIDE = tuple(word for name in _FILES for word in ("-c", f"{name}=false"))
"""Options with which git keeps no files of its own next to a temporary index."""

_QUICK = ("core.compression=0", "core.looseCompression=0", "core.fsync=none")
_PLAIN = (*ASIDE, *(word for setting in _QUICK for word in ("-c", setting)))
"""Options for objects that nobody reads and that are deleted: no compression, no waiting for the disk."""


@dataclass(eq=False)
class TreeSeen:
    """The files of a worktree at one moment.

    Attributes:
        name: the tree without unchanged outputs of checks; "" outside of a repository.
        full: the tree with those outputs, as `git write-tree` gives it.
        raw: the tree that also has the files of lifecycle and of trackers; "" if files were not asked for.
    """

    name: str = ""
    full: str = ""
    raw: str = ""
    _listed: str = ""
    _without: frozenset[str] = frozenset()

    @property
    def files(self) -> dict[str, str]:
        """By path, the mode and content name of each file of the tree `name`, if files were asked for."""
        # Each line is `<flag> <mode> <object> <stage>`, a tab and the path.
        lines = (line.partition("\t") for line in self._listed.split("\0") if line)
        return {path: about[2:-2] for about, _, path in lines if path not in self._without}


UNSEEN = TreeSeen()
"""The value for a worktree that was not read yet."""


def tracked_in(git: GitRepository, paths: set[str]) -> set[str]:
    """The paths, out of the given ones, that git tracks; raises GitFailed, Transient."""
    if not paths:
        return set()
    return paths & set(git.run("ls-files", "-z", "--full-name", "--", ":/").split("\0"))


def seen(
    git: GitRepository, outputs: Mapping[str, str], own: str, before: TreeSeen | None = None
) -> TreeSeen:
    """The tree of the worktree's present files; outside of a repository its name is "".

    If no file changed since `before`, which was read with the same `outputs`, returns `before`: git lists
    no files then.

    Args:
        git: the worktree's git, with the deadline by which it must have ended.
        outputs: by path, the name of the content that a check left there: such a file is left out.
        own: a pattern, for git's list of files, of further paths that are left out.
        before: an earlier result; `UNSEEN`: read the files, too; None: read the name only.

    Raises:
        GitFailed: git cannot answer, for instance because it cannot read a file.
        Transient: the deadline passed.
    """
    is_listed, before = before is not None, before or UNSEEN
    listed = git.run("rev-parse", "--git-path", "index", "--git-path", "objects", check=False)
    if not listed:
        return TreeSeen()
    index, objects = ((git.root / line).resolve() for line in listed.splitlines())
    with tempfile.TemporaryDirectory(prefix="lifecycle-tree-") as folder:
        aside_index, aside_objects = Path(folder, "index"), Path(folder, "objects")
        aside_objects.mkdir()
        if index.is_file():
            # The copy keeps git's data on unchanged files, and its mtime, by which git rereads newer files.
            shutil.copy2(index, aside_index)
        readable = str(objects)
        if os.pathsep in readable or readable.startswith('"'):  # only in quotes is it one folder
            readable = '"' + readable.replace("\\", "\\\\").replace('"', '\\"') + '"'
        others = (readable, git.environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", ""))
        places = {"GIT_INDEX_FILE": str(aside_index), "GIT_OBJECT_DIRECTORY": str(aside_objects)}
        places["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(filter(None, others))
        aside = GitRepository(git.root, git.deadline, git.environment, places)
        return _written(aside, outputs, own, before, is_listed=is_listed)


def _written(
    git: GitRepository, outputs: Mapping[str, str], own: str, before: TreeSeen, *, is_listed: bool
) -> TreeSeen:
    """The tree that git writes of all files that it does not ignore; GitFailed."""
    try:
        git.run(*_PLAIN, "add", "--all", "--", ":/")
        raw = git.run(*_PLAIN, "write-tree") if is_listed else ""
        if raw and raw == before.raw:
            return before
        listed = git.run("ls-files", "-s", "-v", "-z", "--full-name", ":/")
        if _hidden(git, listed):
            tree = _written(git, outputs, own, UNSEEN, is_listed=is_listed)
            tree.raw = ""  # it cannot show the next change, which git would not see
            return tree
        repositories = re.findall(r"(?:^|\0)\w 160000 (\w+) 0\t([^\0]*)", listed)
        worktrees = _worktrees(git, repositories)
        submodules = [(link, path) for link, path in repositories if path not in worktrees]
        if (with_submodules := _with_submodules(git, listed, own, submodules)) is not None:
            listed, raw = with_submodules, ""
        # Removed afterwards, not excluded: git refuses to exclude a path that it ignores anyway.
        own_paths = [path for path in re.findall(own, listed) if path] + worktrees
        _take_out(git, own_paths)
        full = raw if raw and not own_paths else git.run(*_PLAIN, "write-tree")
        files = f"{listed}\0"  # the outputs of checks are unchanged since a check made them
        by_checks = [path for path, made in outputs.items() if f" {made} 0\t{path}\0" in files]
        _take_out(git, by_checks)
        name = git.run(*_PLAIN, "write-tree") if by_checks else full
        without = frozenset([*own_paths, *by_checks])
        return TreeSeen(name, full, raw, listed if is_listed else "", without)
    except GitFailed as error:
        unseen = sentence("files-unseen", why=error.evidence)
        raise GitFailed(unseen, evidence=error.evidence) from None


def _hidden(git: GitRepository, listed: str) -> bool:
    """Make the index see the files that git was told to skip; False if there are none.

    Files that a sparse checkout leaves out are missing on purpose, and remain as committed.
    """
    hidden = [
        f"{entry}\0"
        for flag, entry, path in re.findall(r"(?:^|\0)([a-zS]) ([^\t]*\t([^\0]*))", listed)
        if flag not in "Ss" or os.path.lexists(git.root / path)
    ]
    if hidden:  # added again, they lose the flag and the date that would keep git from reading them
        git.run(*_PLAIN, "update-index", "-z", "--index-info", stdin="".join(hidden))
    return bool(hidden)


def _worktrees(git: GitRepository, repositories: list[tuple[str, str]]) -> list[str]:
    """The paths of other worktrees of this clone: files of another branch, on which somebody else works."""
    clone = store.clone_of(git.root) if repositories else None
    return [path for _, path in repositories if store.clone_of(git.root / path) == clone]


def _with_submodules(
    git: GitRepository, listed: str, own: str, links: list[tuple[str, str]]
) -> str | None:
    """The list with the tree of a submodule's files instead of its commit, if the two differ.

    The index then has these files, too. None if there is no submodule.
    """
    present = [(link, path) for link, path in links if (git.root / path / ".git").exists()]
    for link, path in present:
        below = GitRepository(git.root / path, git.deadline, git.environment)
        files = seen(below, {}, own).full
        if files != below.run("rev-parse", f"{link}^{{tree}}", check=False):
            git.run(*_PLAIN, "update-index", "--cacheinfo", f"160000,{files},{path}")
            listed = listed.replace(f" {link} 0\t{path}", f" {files} 0\t{path}")
    return listed if present else None


def _take_out(git: GitRepository, paths: list[str]) -> None:
    """Remove files from the index, which must be one that nobody else uses."""
    if paths:
        listed = "".join(f"{path}\0" for path in paths)
        git.run(*_PLAIN, "update-index", "-z", "--force-remove", "--stdin", stdin=listed)
