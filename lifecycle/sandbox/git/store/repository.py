"""The bare repository behind the sandbox, through git's plumbing only.

No working tree, no user configuration, argv only. A ref moves by compare-and-swap
(`update-ref NEW OLD`), so that a push which arrives in between is never lost.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path

from lifecycle.sandbox.base.errors import ActionRefused, SandboxError

CONFIG = {
    "http.receivepack": "true",
    # Pushes to refs/pull/* are denied in git's own words, which GitHub also uses.
    "receive.hideRefs": "refs/pull",
    "receive.advertisePushOptions": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "uploadpack.allowFilter": "true",
    # One pack for all objects of an import, instead of a file for each.
    "fastimport.unpackLimit": "10",
    "gc.auto": "0",
    "receive.autogc": "false",
    "maintenance.auto": "false",
}


def environment(home: Path) -> dict[str, str]:
    """The environment of every git process: of the user's, only PATH."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }


@dataclass(frozen=True, slots=True)
class Signature:
    """The author of a commit or tag, and the time."""

    name: str
    email: str
    when: datetime

    def line(self) -> str:
        """The signature as git stores it: `Name <mail> seconds zone`."""
        return f"{self.name} <{self.email}> {int(self.when.timestamp())} +0000"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; its message ends without a line break."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


SHA = 40


def is_sha(text: str) -> bool:
    """Whether a text has the form of a full sha."""
    return len(text) == SHA and not set(text) - set("0123456789abcdef")


LOOKS = frozenset({"diff", "format-patch", "log", "merge-base", "merge-tree", "rev-list", "show"})
ABBREVIATED = re.compile(rf"[0-9a-f]{{4,{SHA}}}|HEAD")
"""Texts that git reads as something else before it looks for a branch of that name."""
MOST_ANSWERS = 5_000
"""The most answers that are kept for one repository's git."""
COMMITS = re.compile(rf"[0-9a-f]{{{SHA}}}(\.\.\.?[0-9a-f]{{{SHA}}})?")


def _is_fixed(args: tuple[str, ...]) -> bool:
    """Whether a command can have only one answer: it looks at commits, each named by its full sha."""
    words = [arg for arg in args[: args.index("--") if "--" in args else None] if arg[0] != "-"]
    return words[0] in LOOKS and all(COMMITS.fullmatch(word) for word in words[1:])


BLANK: dict[str, bytes | None] = {}
"""The files of a new repository, read by `content_of` from the first one that git made."""


def content_of(folder: Path) -> dict[str, bytes | None]:
    """The bytes of each file below a folder, by path; None for a folder in it."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def put(content: Mapping[str, bytes | None], folder: Path) -> None:
    """Write what `content_of` returned into a folder."""
    for name, data in content.items():
        path = folder / name
        if data is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(data)


@cache
def _version(path: str) -> str:
    """The version of the git that is found on a PATH.

    Raises:
        SandboxError: There is none.
    """
    try:
        done = subprocess.run(
            ["git", "version"], env={"PATH": path, "LC_ALL": "C"}, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise SandboxError(
            "The sandbox needs git, which is not on PATH; install git 2.38 or later."
        ) from None
    return done.stdout.decode(errors="replace").split()[2]


@lru_cache(1_000)
def is_ref_name(name: str) -> bool:
    """Whether git accepts this full name as a ref's."""
    return subprocess.run(["git", "check-ref-format", name], check=False).returncode == 0


class BareRepository:
    """One bare repository in `path`.

    Raises:
        SandboxError: git is missing, or too old for `merge-tree --write-tree` (2.38).
        ActionRefused: From methods that change a ref, if git refuses.
    """

    def __init__(self, path: Path, *, default_branch: str) -> None:
        self.path = path
        self.default_branch = default_branch
        self.commits_read: dict[str, Commit] = {}
        self.kinds_read: dict[str, str] = {}
        self._answers: dict[tuple[str, ...], subprocess.CompletedProcess[bytes]] = {}
        self.environment = environment(path.parent)
        self.is_new = not (path / "HEAD").exists()
        path.mkdir(parents=True, exist_ok=True)
        self._demand_version()
        if self.is_new:
            self._make()

    def _make(self) -> None:
        """Make the repository; git makes only the first one, since all new ones have the same files."""
        if not BLANK:
            # Without templates: they contain only samples.
            self.text("init", "--bare", "--quiet", "--template=", ".")
            with (self.path / "config").open("a", encoding="utf-8") as config:
                for key, value in CONFIG.items():
                    section, name = key.split(".")
                    config.write(f"[{section}]\n\t{name} = {value}\n")
            BLANK.update(content_of(self.path))
        put(BLANK, self.path)
        (self.path / "HEAD").write_text(f"ref: refs/heads/{self.default_branch}\n", "utf-8")

    def _demand_version(self) -> None:
        version = _version(self.environment["PATH"])
        if tuple(int(part) for part in version.split(".")[:2]) < (2, 38):
            raise SandboxError(
                f"The sandbox needs git 2.38 or later and found {version}; update git."
            )

    def run(
        self, *args: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one git command in the repository and return its result, whatever its exit code.

        A command that can have only one answer is run once, and the answer is kept.
        """
        if done := self._answers.get(args):
            return done
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env={**self.environment, **(extra or {})},
            input=stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode <= 1 and _is_fixed(args):
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[args] = done
        return done

    def text(self, *args: str, stdin: bytes = b"", extra: Mapping[str, str] | None = None) -> str:
        """Run one git command that must succeed, and return its output, stripped."""
        done = self.run(*args, stdin=stdin, extra=extra)
        if done.returncode:
            words = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            raise ActionRefused(f"git {args[0]} failed ({words[-1]}); nothing was changed.")
        return done.stdout.decode(errors="replace").strip()

    def loose(self, sha: str) -> tuple[str, bytes] | None:
        """The type and content of an object with a file of its own; None for others."""
        try:
            raw = zlib.decompress((self.path / "objects" / sha[:2] / sha[2:]).read_bytes())
        except FileNotFoundError:
            return None
        head, _, content = raw.partition(b"\0")
        return head.decode().partition(" ")[0], content

    def keep(self, sort: str, content: bytes) -> str:
        """Write an object of a type to a file of its own, and return its sha."""
        raw = b"%s %d\0%s" % (sort.encode(), len(content), content)
        sha = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        path = self.path / "objects" / sha[:2] / sha[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            with tempfile.NamedTemporaryFile(
                dir=path.parent, prefix="tmp_obj_", delete=False
            ) as new:
                new.write(zlib.compress(raw, 1))
            Path(new.name).replace(path)
        return sha

    def bundle(self) -> bytes:
        """All refs with their history, as a git bundle; empty for a repository without refs."""
        if not self.refs():
            return b""
        return self.run("bundle", "create", "--quiet", "-", "--all").stdout

    def unbundle(self, data: bytes) -> None:
        """Fetch all refs of a bundle, with their history.

        Raises:
            ActionRefused: It is not a bundle, or is incomplete.
        """
        path = self.path / "incoming.bundle"
        path.write_bytes(data)
        try:
            self.text("fetch", "--quiet", str(path), "+refs/*:refs/*")
        finally:
            path.unlink()

    def refs(self) -> dict[str, str]:
        """Every ref and the object that it points to, by name; read from git's files, without a process.

        Like git, it looks for a loose ref first, and prefers it to a packed one.
        Source: https://git-scm.com/docs/gitrepository-layout
        """
        loose = dict(self._loose_refs())
        try:
            lines = (self.path / "packed-refs").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            lines = []
        packed = (line.split(" ", 1) for line in lines if line[0] not in "#^")
        return dict(sorted(({name: sha for sha, name in packed} | loose).items()))

    def _loose_refs(self) -> Iterator[tuple[str, str]]:
        for folder, _, names in os.walk(self.path / "refs"):
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):  # deleted meanwhile
                    text = path.read_text(encoding="utf-8").strip()
                    if is_sha(text) and not name.endswith(".lock"):
                        yield path.relative_to(self.path).as_posix(), text

    def resolve(self, name: str) -> str | None:
        """The commit for a sha or a branch name, or None."""
        refs = self.refs()
        is_branch = f"refs/heads/{name}" in refs and f"refs/tags/{name}" not in refs
        if is_branch and not ABBREVIATED.fullmatch(name):
            return refs[f"refs/heads/{name}"]
        for candidate in (name, f"refs/heads/{name}"):
            done = self.run("rev-parse", "--verify", "--quiet", "--end-of-options",
                            f"{candidate}^{{commit}}")  # fmt: skip
            if done.returncode == 0:
                return done.stdout.decode().strip()
        return None

    def update(self, ref: str, new: str, old: str | None) -> None:
        """Move a ref from `old` (None: absent) to `new`, or refuse."""
        self.text("update-ref", ref, new, old or "0" * len(new))

    def delete(self, ref: str, old: str) -> None:
        """Delete a ref that still points to `old`."""
        self.text("update-ref", "-d", ref, old)

    def merge_base(self, first: str, second: str) -> str | None:
        """The best common ancestor of two commits, or None if they share no history."""
        done = self.run("merge-base", first, second)
        return done.stdout.decode().strip() or None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Whether `newer` contains `older`."""
        return self.run("merge-base", "--is-ancestor", older, newer).returncode == 0

    def commits(self, old: str, new: str) -> list[str]:
        """The commits of `new` that `old` lacks, oldest first."""
        return self.text("rev-list", "--reverse", "--topo-order", f"{old}..{new}").split()

    def messages(self, old: str, new: str) -> list[str]:
        """The messages of the commits of `new` that `old` lacks, oldest first."""
        raw = self.text("log", "--reverse", "--topo-order", "--format=%B%x00", f"{old}..{new}")
        return [message.strip() for message in raw.split("\0") if message.strip()]

    def merged_tree(self, base_sha: str, head_sha: str) -> str | None:
        """The sha of the tree from merging two commits, or None if they conflict."""
        done = self.run("merge-tree", "--write-tree", "--no-messages", base_sha, head_sha)
        if done.returncode > 1:
            raise ActionRefused(f"git merge-tree failed with {done.returncode}; nothing was done.")
        return done.stdout.decode().split("\n", 1)[0] if done.returncode == 0 else None
