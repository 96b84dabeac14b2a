"""The uncommitted files of a worktree, and its files as one commit, without touching index or branch.

Three kinds of files are left alone: the caller's own files, files with the name of a secret, and files in
the client's own folder that git does not know. They are not counted, not committed and not restored.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.ports import Git
from lifecycle.core.redact import visible
from lifecycle.git.process import GitRepository, sentence
from lifecycle.git.tree_objects import ASIDE

IsOwn = Callable[[str], bool]
"""True for a path that the caller itself writes: never counted, committed or restored."""

CLIENT = ".claude/"
"""The client's folder: files there that git does not track are its settings, not the work of a story."""

_SECRETS = (
    *(".env", ".env.*", "*.env", ".netrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.tfvars"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json", "service-account*.json"),
)
"""Names, in small letters, of files that mostly hold secrets."""

_SAMPLES = (".example", ".sample", ".template", ".dist")
"""Endings of the names of files that show only the form of a secret file."""

AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "lifecycle"), ("EMAIL", "lifecycle@localhost"))
}
"""The identity for commits that keep files aside; a person's identity is not needed for them."""


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """The differences from the last commit, each path from the worktree's root.

    Attributes:
        staged, unstaged: the changes that a commit would take, in the index and not yet there.
        secrets: files with the name of a secret, which are left alone.
        strange: staged files that we never commit: own files, or files with the name of a secret.
        modules: submodules in which a tracked file changed: no commit here includes that.
    """

    staged: tuple[str, ...] = ()
    unstaged: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that a commit would take."""
        return tuple(sorted({*self.staged, *self.unstaged}))


BISECT = "A bisect"
"""The operation that brings nothing, and that stays under way when somebody switches back to a branch."""

_LOCK = "index.lock"
_UNDER_WAY = {
    "MERGE_HEAD": "A merge",
    "rebase-merge": "A rebase",
    "rebase-apply/applying": "A git am",  # a rebase has the folder, too, and not this file
    "rebase-apply": "A rebase",
    "CHERRY_PICK_HEAD": "A cherry-pick",
    "REVERT_HEAD": "A revert",
    "BISECT_LOG": BISECT,
    _LOCK: "Another git command",
}
"""Files of git's own, and the operation that is under way while such a file exists."""


def refuse_under_way(git: Git, root: Path, what: str = "moved, saved or committed") -> None:
    """Refuse while git is in the middle of something, or has unmerged paths; raises Refused, GitFailed.

    `what`: what the caller would have done, for the sentence.
    """
    for name, path in _under_way(git, root):
        key = "lock-left" if name == _LOCK else "under-way"
        raise Refused(sentence(key, work=_UNDER_WAY[name], what=what, path=path))
    if git.run("ls-files", "--unmerged", "-z"):
        raise Refused(sentence("unmerged", what=what))


def under_way(git: Git, root: Path) -> str:
    """The operation that waits here to be ended, as "A rebase"; "" for none; GitFailed, Transient."""
    return next((_UNDER_WAY[name] for name, _ in _under_way(git, root) if name != _LOCK), "")


def _under_way(git: Git, root: Path) -> Iterator[tuple[str, str]]:
    """Name and path of each file that shows that git is in the middle of something."""
    words = [word for name in _UNDER_WAY for word in ("--git-path", name)]
    paths = git.run("rev-parse", *words).splitlines()
    return (pair for pair in zip(_UNDER_WAY, paths, strict=True) if (root / pair[1]).exists())


def opened(git: GitRepository) -> GitRepository:
    """Git in the worktree, for lists of files: any name is given back to git byte for byte."""
    return GitRepository(git.root, git.deadline, git.environment, errors="surrogateescape")


def is_secret(path: str) -> bool:
    """True for a file whose name is typical of secrets."""
    name = path.rpartition("/")[2].casefold()
    return not name.endswith(_SAMPLES) and any(fnmatchcase(name, pattern) for pattern in _SECRETS)


def uncommitted(git: GitRepository, is_own: IsOwn, outputs: Mapping[str, str]) -> Uncommitted:
    """The uncommitted files, without those that are left alone.

    Args:
        git: the worktree's git, as `opened` returns it.
        is_own: true for paths that are left alone in addition to secrets.
        outputs: by path, the name of the content that a check left there: such a file does not count.

    Raises:
        GitFailed, Transient: git cannot answer.
    """
    quiet = ("--name-only", "-z", "--no-renames", "--ignore-submodules=dirty")
    staged = paths_of(git, "diff", "--cached", *quiet)
    unstaged = [*paths_of(git, "diff", *quiet), *untracked(git)]
    by_checks = _as_left(git, [path for path in unstaged if path in outputs], outputs)
    kept = [path for path in unstaged if path not in by_checks]
    secrets = tuple(dict.fromkeys(path for path in (*staged, *kept) if is_secret(path)))
    alone = {path for path in (*staged, *kept) if is_own(path) or path in secrets}
    modules = set[str]()
    if (git.root / ".gitmodules").exists():  # one's `ignore` leaves it out
        plain = ("diff", "--name-only", "-z", "--no-renames")
        changed = paths_of(git, "-c", "diff.ignoreSubmodules=untracked", *plain)
        modules = {*changed}.difference(unstaged)
    work, further = (tuple(p for p in paths if p not in alone) for paths in (staged, kept))
    strange = tuple(path for path in staged if path in alone)
    return Uncommitted(work, further, secrets, strange, tuple(sorted(modules)))


def tracked_changes(git: Git) -> list[str]:
    """The tracked files that differ from the last commit."""
    return paths_of(git, "diff", "--name-only", "--ignore-submodules=untracked", "-z", "HEAD")


def untracked(git: Git) -> list[str]:
    """The files that git neither tracks nor ignores, except the client's files and whole repositories."""
    listed = paths_of(git, "ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in listed if not path.endswith("/") and not path.startswith(CLIENT)]


@dataclass(frozen=True, slots=True)
class Aside:
    """A temporary index that holds the worktree's files as they are.

    Attributes:
        git: git with that index.
        tree: the tree of the files.
        staged: the tree of the index as it was; "" if git cannot make a tree of it (unmerged paths).
    """

    git: GitRepository
    tree: str
    staged: str = ""


@contextmanager
def files_aside(git: GitRepository, is_own: IsOwn) -> Iterator[Aside]:
    """The worktree's files in an index that nobody else uses, until the block ends.

    Commits do not change; the content of changed and new files is written into the repository as objects.

    Raises:
        GitFailed, Transient: git cannot read them, or the deadline passed.
    """
    git = opened(git)
    real = (git.root / git.run("rev-parse", "--git-path", "index")).resolve()
    with tempfile.TemporaryDirectory(prefix="lifecycle-aside-") as folder:
        index = Path(folder, "index")
        if real.is_file():
            shutil.copy2(real, index)
        aside = replace(git, places={"GIT_INDEX_FILE": str(index)})
        staged = aside.run(*ASIDE, "write-tree", check=False)
        with taking():
            # Without a path it is all of the tree; git 2.53 refuses ":/" where nothing is tracked yet.
            aside.run(*ASIDE, "add", *_everywhere(aside), "--update")
            new = [path for path in untracked(git) if not is_own(path) and not is_secret(path)]
            add_paths(aside, new)
            taken = Aside(aside, aside.run(*ASIDE, "write-tree"), staged)
        yield taken


@contextmanager
def taking() -> Iterator[None]:
    """If git cannot take files as they are, raise an error that says what was left unchanged."""
    try:
        yield
    except GitFailed as error:
        untaken = sentence("files-untaken", why=error.evidence or error.sentence)
        raise GitFailed(untaken, evidence=error.evidence) from None


def add_paths(git: GitRepository, paths: list[str]) -> None:
    """Add these files, deleted ones too, to the index; GitFailed, Transient."""
    if paths:
        words = ("--literal-pathspecs", *ASIDE, "add", *_everywhere(git), "--all")
        listed = "".join(f"{path}\0" for path in paths)
        with taking():
            git.run(*words, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)


def with_own_files(aside: Aside, commit: str, is_own: IsOwn) -> str:
    """The tree of a commit, but with the present content of own files that git tracks; GitFailed."""
    lines = {tree: _own_lines(aside.git, tree, is_own) for tree in (aside.tree, commit)}
    if lines[aside.tree] == lines[commit]:
        return aside.git.run("rev-parse", f"{commit}^{{tree}}")
    index = Path(aside.git.places["GIT_INDEX_FILE"]).with_name("target")
    git = replace(aside.git, places={"GIT_INDEX_FILE": str(index)})
    git.run("read-tree", commit)
    gone = [f"0 {'0' * len(commit)}\t{path}" for path in lines[commit]]
    fresh = [f"{about}\t{path}" for path, about in lines[aside.tree].items()]
    listed = "".join(f"{line}\0" for line in (*gone, *fresh))
    git.run("update-index", "-z", "--index-info", stdin=listed)
    return git.run("write-tree")


def _own_lines(git: GitRepository, tree: str, is_own: IsOwn) -> dict[str, str]:
    entries = git.run("ls-tree", "-r", "-z", "--full-tree", tree).split("\0")
    pairs = (entry.partition("\t") for entry in entries if entry)
    return {path: about for about, _, path in pairs if is_own(path)}


def put_back(aside: Aside, target: str) -> None:
    """Make the worktree's files equal to a tree; GitFailed, before any change, if a file is in the way."""
    quiet = ("diff-tree", "-r", "--name-only", "-z", "--no-renames")
    gone, come, turned = (
        {*paths_of(aside.git, *quiet, f"--diff-filter={kind}", aside.tree, target)}
        for kind in "DAT"
    )
    for path in sorted(come | turned):  # a path that was a submodule may have files in its folder
        obstacle = _obstacle(aside.git.root, path, gone | turned)
        if obstacle:
            words = f"{visible(obstacle)} is in the way, and git does not track it"
            raise GitFailed(f"git put nothing back: {words}.", evidence=words)
    # Files outside of a sparse checkout that had been created are restored; no others are unfolded.
    plain = ("--no-recurse-submodules", "--no-sparse-checkout")
    aside.git.run("read-tree", "-m", "-u", *plain, aside.tree, target)


def _obstacle(root: Path, path: str, gone: set[str]) -> str:
    """The path that is in the way of a file and is not among those to be deleted; "" if there is none."""
    for folder in map(str, PurePosixPath(path).parents[:-1]):
        place = root / folder
        if (place.is_symlink() or place.is_file()) and folder not in gone:
            return folder
    place = root / path
    if not place.is_dir() or place.is_symlink():
        return path if os.path.lexists(place) and path not in gone else ""
    files = (file for file in place.rglob("*") if file.is_symlink() or not file.is_dir())
    below = (file.relative_to(root).as_posix() for file in files)
    return next((file for file in below if file not in gone), "")


def _everywhere(git: GitRepository) -> tuple[str, ...]:
    """The option with which git adds files outside of a sparse checkout, too; () without such a checkout.

    Source: https://git-scm.com/docs/git-add#Documentation/git-add.txt---sparse
    """
    is_sparse = git.run("config", "--type=bool", "core.sparseCheckout", check=False) == "true"
    return ("--sparse",) if is_sparse else ()


def paths_of(git: Git, *words: str) -> list[str]:
    """The paths that a git command lists with NULs between them (-z), each once."""
    return list(dict.fromkeys(filter(None, git.run(*words).split("\0"))))


def _as_left(git: GitRepository, paths: list[str], outputs: Mapping[str, str]) -> set[str]:
    """The paths, out of the given ones, whose files are unchanged since a check wrote them."""
    present = [path for path in paths if "\n" not in path and (git.root / path).is_file()]
    if not present:
        return set()
    named = git.run("hash-object", "--stdin-paths", stdin="\n".join(present)).splitlines()
    return {path for path, name in zip(present, named, strict=True) if outputs[path] == name}
