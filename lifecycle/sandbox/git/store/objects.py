"""Read and write git's objects and refs in a bare repository: blobs, trees, commits, tags.

Every object is named by its full sha; callers resolve other names first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lifecycle.sandbox.git.store.repository import SHA, BareRepository, Commit, Signature, is_sha

FIELDS = "%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B"
WIDTH = FIELDS.count("%x00") + 1
MOST_KEPT = 20_000
"""The most commits of a repository that are kept."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a tree. `path` is relative to that tree; only blobs have a `size`."""

    mode: str
    kind: str
    sha: str
    path: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Tag:
    """An annotated tag."""

    sha: str
    object: str
    kind: str
    name: str
    tagger: Signature
    message: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """The object that a ref points to, and its type."""

    sha: str
    kind: str


def pointers(git: BareRepository) -> dict[str, Pointer]:
    """The object that each ref points to, by the ref's name."""
    refs = git.refs()
    read_commits(git, refs.values())
    sorts = kinds(git, refs.values())
    return {name: Pointer(sha, sorts[sha]) for name, sha in refs.items()}


def kind(git: BareRepository, sha: str) -> str | None:
    """The type of the object with that sha, or None if there is none."""
    return kinds(git, [sha]).get(sha) if is_sha(sha) else None


def kinds(git: BareRepository, shas: Iterable[str]) -> dict[str, str]:
    """The type of each existing object, by sha; git is asked once, and only for those in packs."""
    known, wanted = git.kinds_read, set(shas)
    known.update(dict.fromkeys(wanted & git.commits_read.keys(), "commit"))
    loose = ((sha, git.loose(sha)) for sha in wanted - known.keys())
    known.update((sha, stored[0]) for sha, stored in loose if stored)
    if unknown := wanted - known.keys():
        asked = "".join(f"{sha}\n" for sha in unknown).encode()
        lines = git.text("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked)
        answers = (line.split(" ", 1) for line in lines.splitlines())
        known.update((sha, sort) for sha, sort in answers if sort != "missing")
    return {sha: known[sha] for sha in wanted if sha in known}


def blob(git: BareRepository, sha: str) -> bytes:
    """The bytes of a blob."""
    return git.run("cat-file", "blob", sha).stdout


def write_blob(git: BareRepository, data: bytes) -> str:
    """Write a blob and return its sha."""
    return git.keep("blob", data)


def _person(name: str, email: str, seconds: str) -> Signature:
    return Signature(name, email, datetime.fromtimestamp(int(seconds or 0), UTC))


def parsed(raw: bytes) -> list[Commit]:
    """The commits in the output of `git log -z` in the form of FIELDS."""
    text = raw.decode(errors="replace")
    parts = text.split("\0")
    commits = []
    for start in range(0, len(parts) - WIDTH + 1, WIDTH):
        sha, tree, parents, an, ae, at, cn, ce, ct, message = parts[start : start + WIDTH]
        commits.append(
            Commit(
                sha,
                tree,
                tuple(parents.split()),
                _person(an, ae, at),
                _person(cn, ce, ct),
                message.rstrip("\n"),
            )
        )
    return commits


def commit(git: BareRepository, sha: str) -> Commit | None:
    """The commit of that full sha, or None if there is none."""
    if sha not in git.commits_read and is_sha(sha):
        read_commits(git, [sha])
    return git.commits_read.get(sha)


def read_commits(git: BareRepository, shas: Iterable[str]) -> None:
    """Read commits at once into the repository's `commits_read`; other objects are ignored.

    They are kept, since a commit never changes.
    """
    known = git.commits_read
    unknown = [sha for sha in dict.fromkeys(shas) if sha not in known]
    if len(known) + len(unknown) > MOST_KEPT:
        known.clear()
    wanted = [sha for sha in unknown if not _read_loose(git, sha)]
    if not wanted:
        return
    asked = "".join(f"{sha}\n" for sha in wanted).encode()
    output = git.run("cat-file", "--batch", "--buffer", stdin=asked).stdout
    for sha in wanted:
        head, _, output = output.partition(b"\n")
        words = head.decode().split(" ")
        if len(words) != 3:  # "SHA missing"
            continue
        size = int(words[2])
        if words[1] == "commit":
            known[sha] = _commit(sha, output[:size].decode(errors="replace"))
        output = output[size + 1 :]


def _read_loose(git: BareRepository, sha: str) -> bool:
    """Read an object with a file of its own, and keep it if it is a commit; False if it has no file."""
    stored = git.loose(sha)
    if stored and stored[0] == "commit":
        git.commits_read[sha] = _commit(sha, stored[1].decode(errors="replace"))
    return stored is not None


def _commit(sha: str, text: str) -> Commit:
    """A commit from git's form: headers (a signature's has several lines), then the message."""
    head, _, message = text.partition("\n\n")
    lines = [line.split(" ", 1) for line in head.split("\n") if not line.startswith(" ")]
    named: dict[str, str] = {line[0]: line[1] for line in lines if len(line) == 2}
    parents = tuple(line[1] for line in lines if line[0] == "parent")
    who = _signed(named["author"]), _signed(named["committer"])
    return Commit(sha, named["tree"], parents, *who, message.rstrip("\n"))


def _signed(line: str) -> Signature:
    who, _, time = line.rpartition("> ")
    name, _, email = who.rpartition("<")
    return _person(name.strip(), email, time.split()[0])


def tree(git: BareRepository, sha: str, *, recursive: bool = False) -> list[Entry] | None:
    """The entries of a tree (or of a commit's), or None if there is none."""
    flags = ("-r", "-t") if recursive else ()
    done = git.run("ls-tree", "-z", "--long", *flags, "--end-of-options", sha)
    if done.returncode:
        return None
    entries = []
    for line in done.stdout.decode(errors="replace").split("\0")[:-1]:
        head, path = line.split("\t", 1)
        mode, sort, name, size = head.split()
        entries.append(Entry(mode, sort, name, path, int(size) if size != "-" else None))
    return entries


def at_path(git: BareRepository, commitish: str, path: str) -> Entry | None:
    """The entry at a path of a commit, or None; for the root, a tree without a path."""
    if not path:
        done = git.run("rev-parse", "--verify", "--quiet", f"{commitish}^{{tree}}")
        sha = done.stdout.decode().strip()
        return Entry("040000", "tree", sha, "", None) if sha else None
    done = git.run("--literal-pathspecs", "ls-tree", "-z", "--long", commitish, "--", path)
    lines = done.stdout.decode(errors="replace").split("\0")[:-1]
    if done.returncode or not lines:
        return None
    mode, sort, name, size = lines[0].split("\t", 1)[0].split()
    return Entry(mode, sort, name, path, int(size) if size != "-" else None)


def write_tree(
    git: BareRepository, base: str | None, changes: Sequence[tuple[str, str, str | None]]
) -> str:
    """A tree like `base` (None: empty) with each (path, mode, sha) added; a sha of None removes it."""
    index = {"GIT_INDEX_FILE": str(git.path / "sandbox-index")}
    git.text("read-tree", base or "--empty", extra=index)
    lines = [
        f"0 {'0' * SHA}\t{path}\0" if sha is None else f"{mode} {sha}\t{path}\0"
        for path, mode, sha in changes
    ]
    try:
        git.text("update-index", "-z", "--index-info", stdin="".join(lines).encode(), extra=index)
        return git.text("write-tree", extra=index)
    finally:
        (git.path / "sandbox-index").unlink(missing_ok=True)


def write_commit(
    git: BareRepository,
    tree_sha: str,
    parents: Sequence[str],
    message: str,
    *,
    author: Signature,
    committer: Signature,
) -> str:
    """Write a commit object and return its sha. No ref moves."""
    lines = [
        f"tree {tree_sha}",
        *(f"parent {parent}" for parent in parents),
        f"author {author.line()}",
        f"committer {committer.line()}",
        "",
        message,
    ]
    return git.keep("commit", "\n".join(lines).encode())


def write_tag(
    git: BareRepository, name: str, target: str, sort: str, message: str, tagger: Signature
) -> str:
    """Write the object of an annotated tag and return its sha. No ref moves."""
    text = f"object {target}\ntype {sort}\ntag {name}\ntagger {tagger.line()}\n\n{message}\n"
    return git.keep("tag", text.encode())


def tag(git: BareRepository, sha: str) -> Tag | None:
    """The annotated tag of that full sha, or None if there is none."""
    if kind(git, sha) != "tag":
        return None
    text = git.run("cat-file", "tag", sha).stdout.decode(errors="replace")
    head, _, message = text.partition("\n\n")
    lines: Mapping[str, str] = dict(line.split(" ", 1) for line in head.splitlines())
    return Tag(
        sha,
        lines["object"],
        lines["type"],
        lines["tag"],
        _signed(lines.get("tagger", "nobody <> 0 +0000")),
        message.rstrip("\n"),
    )
