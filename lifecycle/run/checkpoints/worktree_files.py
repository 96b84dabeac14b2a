"""What of a worktree is not committed, and its files as one commit, without touching index or branch.

Three kinds of files are left alone: what lifecycle and trackers write, what is named like a secret, and
what git does not know in the client's own folder. They are not counted, not committed and not put back.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from lifecycle.core.timing import Deadline
from lifecycle.evidence.tree_hash import OWN
from lifecycle.git.process import GitRepository

CLIENT = ".claude/"
"""The client's folder: what git does not track there is its settings, and no story's work."""

_SECRETS = (
    *(".env", ".env.*", "*.env", ".netrc", ".pypirc", ".git-credentials", ".htpasswd"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.tfvars"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json", "service-account*.json"),
)
"""Names, in small letters, of files that mostly hold secrets."""

_SAMPLES = (".example", ".sample", ".template", ".dist")
"""How the names of those end that show only the form."""

_NONE: Mapping[str, str] = MappingProxyType({})
_PLAIN = tuple(
    word
    for name in ("core.fsmonitor", "core.splitIndex", "core.untrackedCache")
    for word in ("-c", f"{name}=false")
)
"""Nothing that would keep files of its own beside the temporary index."""

AUTHOR = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "lifecycle"), ("EMAIL", "lifecycle@localhost"))
}
"""Who makes the commits of checkpoints; a person's identity is not needed for them."""


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """What differs from the last commit, each path from the worktree's root.

    Attributes:
        paths: what a story's commit would take.
        staged: those of them that the index has.
        secrets: what is named like a secret, and left alone.
        strange: what is staged and never committed by us: files of ours, or named like a secret.
    """

    paths: tuple[str, ...] = ()
    staged: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()


def opened(root: Path, deadline: Deadline, environment: Mapping[str, str]) -> GitRepository:
    """Git in the worktree, for reading: it takes no lock, and so writes no index."""
    return GitRepository(root, deadline, {**environment, "GIT_OPTIONAL_LOCKS": "0"})


def is_own(path: str) -> bool:
    """True for what lifecycle and trackers write into a worktree."""
    return any(
        path.startswith(name) if name.endswith("/") else fnmatchcase(path, name) for name in OWN
    )


def is_secret(path: str) -> bool:
    """True for a file that is named as files with secrets are."""
    name = path.rpartition("/")[2].casefold()
    return not name.endswith(_SAMPLES) and any(fnmatchcase(name, pattern) for pattern in _SECRETS)


def uncommitted(git: GitRepository, outputs: Mapping[str, str] = _NONE) -> Uncommitted:
    """What is not committed, without what is left alone.

    Args:
        git: the worktree's, as `opened` gives it.
        outputs: by path, the name of the content that a check left there: such a file does not count.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    quiet = ("--name-only", "-z", "--no-renames", "--ignore-submodules=dirty")
    staged = _listed(git, "diff", "--cached", *quiet)
    changed = _listed(git, "diff", *quiet)
    new = untracked(git)
    left = _as_left(git, [path for path in (*changed, *new) if path in outputs], outputs)
    paths = dict.fromkeys(path for path in (*staged, *changed, *new) if path not in left)
    secrets = tuple(path for path in paths if is_secret(path))
    own = {path for path in paths if is_own(path)}
    strange = tuple(path for path in staged if path in own or path in secrets)
    taken = tuple(sorted(path for path in paths if path not in own and path not in secrets))
    known = set(staged)
    return Uncommitted(taken, tuple(path for path in taken if path in known), secrets, strange)


def untracked(git: GitRepository) -> list[str]:
    """The files that git neither tracks nor ignores, but for the client's and whole repositories."""
    listed = _listed(git, "ls-files", "--others", "--exclude-standard", "-z")
    return [path for path in listed if not path.endswith("/") and not path.startswith(CLIENT)]


@dataclass(frozen=True, slots=True)
class Aside:
    """A temporary index that holds the worktree's files as they are, and their tree."""

    git: GitRepository
    tree: str


@contextmanager
def files_aside(root: Path, deadline: Deadline, environment: Mapping[str, str]) -> Iterator[Aside]:
    """The worktree's files in an index that nobody else uses, until the block ends.

    What is committed is as it was; what is changed or new is written into the repository as objects.

    Raises:
        GitFailed, Transient: git cannot read them, or the deadline passed.
    """
    git = opened(root, deadline, environment)
    real = (root / git.run("rev-parse", "--git-path", "index")).resolve()
    with tempfile.TemporaryDirectory(prefix="lifecycle-checkpoint-") as folder:
        index = Path(folder, "index")
        if real.is_file():
            shutil.copy2(real, index)
        aside = GitRepository(root, deadline, git.environment, {"GIT_INDEX_FILE": str(index)})
        aside.run(*_PLAIN, "add", "--update", "--", ":/")
        new = [path for path in untracked(git) if not is_own(path) and not is_secret(path)]
        add_paths(aside, new)
        yield Aside(aside, aside.run(*_PLAIN, "write-tree"))


def add_paths(git: GitRepository, paths: list[str]) -> None:
    """Put these files, deleted ones too, into the index; GitFailed, Transient."""
    if paths:
        words = ("--literal-pathspecs", *_PLAIN, "add", "--all")
        listed = "".join(f"{path}\0" for path in paths)
        git.run(*words, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)


def _listed(git: GitRepository, *words: str) -> list[str]:
    return list(dict.fromkeys(filter(None, git.run(*words).split("\0"))))


def _as_left(git: GitRepository, paths: list[str], outputs: Mapping[str, str]) -> set[str]:
    """Those of the files that are as a check left them."""
    there = [path for path in paths if "\n" not in path and (git.root / path).is_file()]
    if not there:
        return set()
    named = git.run("hash-object", "--stdin-paths", stdin="\n".join(there)).splitlines()
    return {path for path, name in zip(there, named, strict=True) if outputs[path] == name}
