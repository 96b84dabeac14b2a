"""Make many commits and refs at once, and a repository itself when its git is first needed.

So a world of two hundred repositories costs only as much as those that are used.
Source: https://git-scm.com/docs/git-fast-import
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.git.store.repository import BareRepository, Signature, content_of, put


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made, and the ref that will point to it.

    Attributes:
        ref: The full name, `refs/…`.
        message: The commit message.
        author: The author and committer, and the time.
        files: The changes: a text for each path, None deletes it.
        start: The parent: a ref (`refs/…`), which may be made just before, or a sha; None for a commit
            without parents, whose tree begins empty.
    """

    ref: str
    message: str
    author: Signature
    files: Mapping[str, str | None] = field(default_factory=dict)
    start: str | None = None


@dataclass(frozen=True, slots=True)
class NewRef:
    """A ref that will point to the target of another one (`refs/…`) or to a sha."""

    ref: str
    start: str


SCRATCH = "refs/sandbox/import"
"""The ref on which a new repository's commits are made: a separate ref for each would be slow."""


def import_all(git: BareRepository, wanted: Sequence[NewCommit | NewRef]) -> list[str]:
    """Make commits and refs in their order, and return the shas of the commits.

    Raises:
        ActionRefused: git refuses one of them.
    """
    stream: list[bytes] = []
    targets: dict[str, str] = {}
    for mark, step in enumerate(wanted, 1):
        source = _source(step, targets)
        if isinstance(step, NewRef):
            stream.append(f"reset {step.ref}\nfrom {source}\n\n".encode())
            targets[step.ref] = str(source)
        else:
            stream += _commit(step, mark, source, step.ref)
            targets[step.ref] = f":{mark}"
    return _run(git, stream) if stream else []


def commit_files(
    git: BareRepository,
    branch: str,
    files: Mapping[str, str | None],
    message: str,
    author: Signature,
    *,
    parent: str | None,
) -> str:
    """Commit files (None deletes) on a branch, on top of `parent`, and return the sha.

    Raises:
        ActionRefused: git refuses it.
    """
    return import_all(git, [NewCommit(f"refs/heads/{branch}", message, author, files, parent)])[0]


def import_new(git: BareRepository, wanted: Sequence[NewCommit | NewRef]) -> dict[str, str]:
    """Make commits and refs in a repository that has none, and return the sha of each ref.

    The refs are written as git packs them (https://git-scm.com/docs/git-pack-refs).

    Raises:
        ActionRefused: git refuses one of the commits; then no ref is made.
    """
    stream: list[bytes] = []
    marks: list[str] = []
    targets: dict[str, str] = {}
    for mark, step in enumerate(wanted, 1):
        source = _source(step, targets)
        if isinstance(step, NewRef):
            targets[step.ref] = str(source)
            continue
        stream.append(f"reset {SCRATCH}\n\n".encode())
        stream += _commit(step, mark, source, SCRATCH)
        targets[step.ref] = f":{mark}"
        marks.append(targets[step.ref])
    if not stream:
        return {}
    printed = _run_new(git, b"".join([*stream, f"reset {SCRATCH}\n\n".encode()]))
    shas = dict(zip(marks, printed, strict=True))
    refs = {ref: shas.get(at, at) for ref, at in sorted(targets.items())}
    lines = ["# pack-refs with: sorted ", *(f"{sha} {ref}" for ref, sha in refs.items()), ""]
    (git.path / "packed-refs").write_text("\n".join(lines), encoding="utf-8")
    return refs


IMPORTED: dict[bytes, tuple[list[str], dict[str, bytes | None]]] = {}
"""By stream: git's output for it in a new repository, and the objects that it made."""
MOST_IMPORTED, LARGEST = 50, 1 << 16
"""The most streams that are kept, and the most bytes of one."""


def _run_new(git: BareRepository, stream: bytes) -> list[str]:
    """Run a stream in a repository without objects; if it was run before, copy its objects."""
    objects = git.path / "objects"
    if stream in IMPORTED:
        shas, content = IMPORTED[stream]
        put(content, objects)
        return shas
    shas = _run(git, [stream])
    if len(stream) <= LARGEST and len(IMPORTED) < MOST_IMPORTED:
        IMPORTED[stream] = shas, content_of(objects)
    return shas


def _source(step: NewCommit | NewRef, targets: dict[str, str]) -> str | None:
    """The start of a step: the mark of a commit in this stream, `REF^0`, a sha, or None."""
    start = targets.get(step.start or "", step.start)
    return f"{start}^0" if start and start.startswith("refs/") else start


def _run(git: BareRepository, stream: Sequence[bytes]) -> list[str]:
    data = b"".join([*stream, b"done\n"])
    return git.text("fast-import", "--quiet", "--done", stdin=data).split()


def _commit(commit: NewCommit, mark: int, source: str | None, ref: str) -> Iterator[bytes]:
    body = commit.message.encode()
    signed = commit.author.line()
    yield f"commit {ref}\nmark :{mark}\nauthor {signed}\ncommitter {signed}\n".encode()
    yield b"data %d\n%s\n" % (len(body), body)
    if source:
        yield f"from {source}\n".encode()
    for path, content in commit.files.items():
        quoted = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        if content is None:
            yield f'D "{quoted}"\n'.encode()
        else:
            data = content.encode()
            yield f'M 100644 inline "{quoted}"\n'.encode()
            yield b"data %d\n%s\n" % (len(data), data)
    yield f"\nget-mark :{mark}\n".encode()


def signature(user: User, when: datetime | None = None) -> Signature:
    """A user's signature for commits; the default time is now."""
    mail = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Signature(user.name, mail, when or now())


@dataclass(frozen=True, slots=True)
class Origin:
    """The content of a new repository: at most one of the three, or nothing.

    Attributes:
        bundle: The whole git repository, as base64 of a git bundle.
        parent: The repository that it is a fork of, whose branches and tags it has.
        first: The commit with its first files.
    """

    bundle: str | None = None
    parent: BareRepository | None = None
    first: NewCommit | None = None


def found(
    path: Path, default_branch: str, origin: Origin, wanted: Sequence[NewCommit | NewRef] = ()
) -> tuple[BareRepository, dict[str, str] | None]:
    """Open the bare repository; if it does not exist, make it from its origin.

    Args:
        path: Its folder.
        default_branch: The target of HEAD in a new one.
        origin: The content of a new one.
        wanted: Further commits and refs for it.

    Returns:
        The repository and, if it is new and everything was imported, the sha of each ref.

    Raises:
        SandboxError: git is missing or too old.
        ActionRefused: git refuses one of the commits or refs.
    """
    git = BareRepository(path, default_branch=default_branch)
    if git.is_new and not origin.bundle and origin.parent is None:
        return git, import_new(git, [*([origin.first] if origin.first else []), *wanted])
    if git.is_new and origin.bundle:
        git.unbundle(base64.b64decode(origin.bundle))
    elif git.is_new and origin.parent is not None:
        source = str(origin.parent.path)
        git.text(
            "fetch", "--quiet", source, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"
        )
    import_all(git, wanted)
    return git, None
