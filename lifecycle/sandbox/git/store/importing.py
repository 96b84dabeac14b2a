"""Makes many commits and refs at once, and a repository itself when its git is first needed.

So a world of two hundred repositories costs no more than those that are used.
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
    """A commit to be made, and the ref that points to it then.

    Attributes:
        ref: The whole name, `refs/…`.
        message: The commit message.
        author: Who makes it and when; the committer as well.
        files: What it changes: the text of each path, None deletes one.
        start: What it comes after: a ref (`refs/…`), also one that is made just before, or a sha;
            None for a commit without parents, whose tree begins empty.
    """

    ref: str
    message: str
    author: Signature
    files: Mapping[str, str | None] = field(default_factory=dict)
    start: str | None = None


@dataclass(frozen=True, slots=True)
class NewRef:
    """A ref that points to what another one (`refs/…`) or a sha stands for."""

    ref: str
    start: str


SCRATCH = "refs/sandbox/import"
"""What the commits of a new repository are made on: writing a ref of its own for each is slow."""


def import_all(git: BareRepository, wanted: Sequence[NewCommit | NewRef]) -> list[str]:
    """Make commits and refs in their order, and return the shas of the commits.

    Raises:
        ActionRefused: git does not take one of them.
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
        ActionRefused: git does not take it.
    """
    return import_all(git, [NewCommit(f"refs/heads/{branch}", message, author, files, parent)])[0]


def import_new(git: BareRepository, wanted: Sequence[NewCommit | NewRef]) -> dict[str, str]:
    """Make commits and refs in a repository without any, and return the sha of each ref.

    The refs are written as git packs them (https://git-scm.com/docs/git-pack-refs).

    Raises:
        ActionRefused: git does not take one of the commits; none of the refs is made then.
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
"""By stream: what git printed for it in a new repository, and the objects that it made."""
MOST_IMPORTED, LARGEST = 50, 1 << 16
"""How many streams are kept at most, and of how many bytes."""


def _run_new(git: BareRepository, stream: bytes) -> list[str]:
    """Run a stream in a repository without objects; if one was run before, copy what it made."""
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
    """What a step starts at: the mark of a commit in this stream, `REF^0`, a sha, or None."""
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
    """The signature of a user for commits, by default of now."""
    mail = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Signature(user.name, mail, when or now())


@dataclass(frozen=True, slots=True)
class Origin:
    """What a new repository begins with: at most one of the three, or nothing.

    Attributes:
        bundle: The whole of its git, as base64 of a git bundle.
        parent: The repository that it is a fork of, whose branches and tags it has.
        first: The commit that holds its first files.
    """

    bundle: str | None = None
    parent: BareRepository | None = None
    first: NewCommit | None = None


def found(
    path: Path, default_branch: str, origin: Origin, wanted: Sequence[NewCommit | NewRef] = ()
) -> tuple[BareRepository, dict[str, str] | None]:
    """Open the bare repository, which is made from its origin if it is not there.

    Args:
        path: Where it is.
        default_branch: What HEAD names in a new one.
        origin: What a new one begins with.
        wanted: What is to be in it besides.

    Returns:
        The repository and, where it is new and all of it was imported, what each ref points to.

    Raises:
        SandboxError: git is missing or too old.
        ActionRefused: git does not take what is wanted.
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
