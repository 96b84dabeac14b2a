"""The working tree in one word: the same before and after a commit, another after any edit.

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

from lifecycle.core.errors import GitFailed, Transient
from lifecycle.core.timing import Deadline
from lifecycle.git.process import GitRepository
from lifecycle.storage import stage_log
from lifecycle.storage.store import FOLDER
from lifecycle.trackers import command_signs

OWN = (
    ".agent-claim.json*",
    f"{FOLDER}/",
    f"{stage_log.FOLDER}/{stage_log.LOG}*",
    ".claude/workflow-state.json*",
    ".claude/workflow-progress.txt*",
    *command_signs.FILES,
)
"""What the product itself and trackers write into a worktree: no part of what was tested."""

_OWN_PATHS = "(?<=\t)(?:{})(?=\0|$)".format(
    "|".join(
        re.escape(name).replace(r"\*", "[^/\0]*") + (r"[^\0]*" if name.endswith("/") else "")
        for name in OWN
    )
)
"""Their paths, in what git lists."""


def is_own(path: str) -> bool:
    """True for what the product itself and trackers write into a worktree."""
    return re.compile(_OWN_PATHS).match(f"\t{path}", 1) is not None


_PLAIN = (
    *("core.fsmonitor=false", "core.splitIndex=false", "core.untrackedCache=false"),
    *("core.compression=0", "core.looseCompression=0", "core.fsync=none"),
)
"""Nothing that would keep files of its own beside the index. What is written is read by nobody and thrown
away: neither made small nor waited for."""

SECONDS = 5.0
"""How long git may take for it."""

_NONE: Mapping[str, str] = MappingProxyType({})
_NO_PATHS: frozenset[str] = frozenset()


class TreeSeen:
    """The files of a worktree at a moment.

    Attributes:
        name: the tree without what checks left here, as they left it; "" outside of a repository.
        full: the tree with it, as `git write-tree` gives it.
        raw: the tree with what lifecycle and trackers write, too; "" if nobody asked for its files.
        places: where git keeps its index and its objects; () where nobody asked.
    """

    def __init__(
        self,
        name: str = "",
        full: str = "",
        raw: str = "",
        listed: str = "",
        without: frozenset[str] = _NO_PATHS,
    ) -> None:
        self.name, self.full, self.raw = name, full, raw
        self.places: tuple[Path, ...] = ()
        self._listed, self._without = listed, without

    @property
    def files(self) -> dict[str, str]:
        """By path, the mode and the name of the content of each file of the tree `name`, if asked for."""
        files = dict(map(_entry, filter(None, self._listed.split("\0"))))
        return {path: about for path, about in files.items() if path not in self._without}


_UNSEEN = TreeSeen()


def fingerprint(
    root: Path,
    deadline: Deadline,
    environment: Mapping[str, str],
    outputs: Mapping[str, str] = _NONE,
    seconds: float = SECONDS,
) -> str:
    """The name of the tree that the worktree's files are now; "" outside of a repository.

    Args:
        root: the worktree's top folder.
        deadline: when git has to be over.
        environment: variables beside this process's own.
        outputs: by path, the name of the content that a check left there: such a file is no part of it.
        seconds: how long git may take, if there is so much time.

    Raises:
        GitFailed: git cannot say: there is a file that it cannot read, say.
        Transient: the deadline passed, or `seconds` did: there are too many or too big files that are new.
    """
    if deadline.left <= seconds:
        return _seen(root, deadline, environment, outputs).name
    try:
        whole = Deadline.after(deadline.clock, seconds)
        return _seen(root, whole, environment, outputs).name
    except Transient:
        raise Transient(
            f"git needed more than {seconds:.0f} seconds to read what is new in the files here, so no test "
            "run counts for them; nothing was changed. Name big files that do not belong to the project "
            "in .gitignore."
        ) from None


def seen(
    root: Path,
    deadline: Deadline,
    environment: Mapping[str, str],
    outputs: Mapping[str, str],
    before: TreeSeen | None = None,
) -> TreeSeen:
    """The tree with its files; as `fingerprint`, and raises as it does.

    Where no file changed since `before`, seen with the same `outputs`, that is given again: git lists
    nothing then.
    """
    return _seen(root, deadline, environment, outputs, before or _UNSEEN, is_listed=True)


def tracked_in(
    root: Path, deadline: Deadline, environment: Mapping[str, str], paths: set[str]
) -> set[str]:
    """Those of the paths that git tracks; raises GitFailed, Transient."""
    if not paths:
        return set()
    git = GitRepository(root, deadline, environment)
    return paths & set(git.run("ls-files", "-z", "--full-name", "--", ":/").split("\0"))


def _seen(
    root: Path,
    deadline: Deadline,
    environment: Mapping[str, str],
    outputs: Mapping[str, str],
    before: TreeSeen = _UNSEEN,
    *,
    is_listed: bool = False,
) -> TreeSeen:
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
        others = environment.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
        readable = os.pathsep.join(text for text in (_quoted(objects), others) if text)
        places = {
            "GIT_INDEX_FILE": str(aside_index),
            "GIT_OBJECT_DIRECTORY": str(aside_objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": readable,
        }
        aside = GitRepository(root, deadline, environment, places)
        tree = _written(aside, outputs, before, is_listed=is_listed)
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
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _written(
    git: GitRepository, outputs: Mapping[str, str], before: TreeSeen, *, is_listed: bool
) -> TreeSeen:
    """The tree that git writes of all files that it does not ignore; GitFailed."""
    plain = [word for setting in _PLAIN for word in ("-c", setting)]
    try:
        git.run(*plain, "add", "--all", "--", ":/")
        words = ("ls-files", "-s", "-v", "-z", "--full-name", ":/")
        raw, listed = "", ""
        if is_listed and not before.raw:  # both will be needed, and git has a process for each
            from concurrent.futures import ThreadPoolExecutor

            listing = ThreadPoolExecutor(1).submit(git.run, *words)
            raw, listed = git.run(*plain, "write-tree"), listing.result()
        elif is_listed and (raw := git.run(*plain, "write-tree")) == before.raw:
            return before
        listed = listed or git.run(*words)
        if _hidden(git, plain, listed):
            tree = _written(git, outputs, _UNSEEN, is_listed=is_listed)
            tree.raw = ""  # it says nothing of the next change, which git would not see
            return tree
        if (with_submodules := _with_submodules(git, plain, listed)) is not None:
            listed, raw = with_submodules, ""
        # Taken out again, not left out: git refuses to leave out what it ignores anyway.
        own = [path for path in re.findall(_OWN_PATHS, listed) if path]
        _take_out(git, plain, own)
        full = raw if raw and not own else git.run(*plain, "write-tree")
        left = _left_by_checks(listed, outputs) if outputs else []
        _take_out(git, plain, left)
        name = git.run(*plain, "write-tree") if left else full
        without = frozenset([*own, *left])
        return TreeSeen(name, full, raw, listed if is_listed else "", without)
    except GitFailed as error:
        raise GitFailed(
            f"git could not say what the files here are ({error.evidence}), so no test run counts for "
            "them; nothing was changed. Mend that first.",
            evidence=error.evidence,
        ) from None


def _hidden(git: GitRepository, plain: list[str], listed: str) -> bool:
    """Have the index see again what git was told to pass over; False if that is nothing.

    What a sparse checkout leaves out is not there, and stays as it is committed.
    """
    flagged = re.findall(r"(?:^|\0)([a-zS]) ([^\t]*\t([^\0]*))", listed)
    hidden = [
        f"{entry}\0"
        for flag, entry, path in flagged
        if flag not in "Ss" or os.path.lexists(git.root / path)
    ]
    if hidden:  # named anew, they have no flag, and no date that would keep git from reading them
        git.run(*plain, "update-index", "-z", "--index-info", stdin="".join(hidden))
    return bool(hidden)


def _with_submodules(git: GitRepository, plain: list[str], listed: str) -> str | None:
    """The list with the files of each submodule that differ from its commit, in the commit's place.

    The index has them then, too. None if there is no submodule.
    """
    links = re.findall(r"(?:^|\0)\w 160000 (\w+) 0\t([^\0]*)", listed)
    there = [(link, path) for link, path in links if (git.root / path / ".git").exists()]
    for link, path in there:
        below = GitRepository(git.root / path, git.deadline, git.environment)
        files = _seen(below.root, below.deadline, below.environment, _NONE).full
        if files != below.run("rev-parse", f"{link}^{{tree}}", check=False):
            git.run(*plain, "update-index", "--cacheinfo", f"160000,{files},{path}")
            listed = listed.replace(f" {link} 0\t{path}", f" {files} 0\t{path}")
    return listed if there else None


def _take_out(git: GitRepository, plain: list[str], paths: list[str]) -> None:
    """Take files out of the index; it must be one that nobody else uses."""
    if paths:
        listed = "".join(f"{path}\0" for path in paths)
        git.run(*plain, "update-index", "-z", "--force-remove", "--stdin", stdin=listed)


def _left_by_checks(listed: str, outputs: Mapping[str, str]) -> list[str]:
    """Those of the files that checks made which are as they left them."""
    return [path for path, content in outputs.items() if f" {content} 0\t{path}\0" in f"{listed}\0"]


def _entry(line: str) -> tuple[str, str]:
    """A path, and its mode and content, of `<mode> <object> <stage>`, a tab and the path."""
    about, _, path = line.partition("\t")
    return path, about[2:-2]
