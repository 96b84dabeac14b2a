"""GraphQL's fields of refs, commits, trees and blobs, read from git when a query asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lifecycle.sandbox.base.ids import named_id, node_id, read_named_id
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.store import history, objects
from lifecycle.sandbox.git.store.objects import Entry, Pointer
from lifecycle.sandbox.git.store.repository import Commit, Signature
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import connection

HEADS, TAGS = "refs/heads/", "refs/tags/"
MANY = 2000
"""If there are more refs than this, only the commits of the refs on a page are read, not all."""


@dataclass(frozen=True)
class GitThing:
    """A git object of a repository; git is read when a field of it is asked for.

    `beside` are commits to read at the same time, since one request asks for all of them.
    """

    repository: Repository
    oid: str
    beside: tuple[str, ...] = field(default=(), compare=False, repr=False)
    prefix = ""

    @property
    def id(self) -> str:
        """The global id."""
        return named_id(self.prefix, self.repository.id, self.oid)


class CommitAt(GitThing):
    """A commit."""

    prefix = "C"

    @cached_property
    def made(self) -> Commit:
        """The commit as git stores it.

        Raises:
            LookupError: The sha does not exist, or is not a commit's.
        """
        git = self.repository.git
        if self.oid not in git.commits_read:
            objects.read_commits(git, [self.oid, *self.beside])
        commit = objects.commit(git, self.oid)
        if commit is None:
            raise LookupError(f"{self.oid} is no commit of {self.repository.full_name}")
        return commit

    @cached_property
    def files(self) -> list[history.FileChange]:
        """The files that the commit changed, compared with its first parent."""
        return history.files(self.repository.git, history.parent_of(self.made), self.oid)


class TreeAt(GitThing):
    """A tree."""

    prefix = "T"


class BlobAt(GitThing):
    """A blob."""

    prefix = "B"

    @cached_property
    def data(self) -> bytes:
        """The bytes of the blob."""
        return objects.blob(self.repository.git, self.oid)


class TagAt(GitThing):
    """An annotated tag."""

    prefix = "TA"

    @cached_property
    def made(self) -> objects.Tag | None:
        """The tag as git stores it."""
        return objects.tag(self.repository.git, self.oid)


@dataclass(frozen=True)
class RefAt:
    """A ref; its target is read when it is asked for, unless `pointer` has it."""

    repository: Repository
    qualified: str
    pointer: Pointer | None = field(default=None, compare=False)
    beside: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def sha(self) -> str | None:
        """The sha of the object that it points to; None if there is no such ref."""
        if self.pointer is not None:
            return self.pointer.sha
        return self.repository.git.refs().get(self.qualified)

    @property
    def target(self) -> GitThing | None:
        """The object that it points to."""
        if self.pointer is None:
            return thing(self.repository, self.sha)
        return CLASSES[self.pointer.kind](self.repository, self.pointer.sha, self.beside)

    @property
    def prefix(self) -> str:
        """`refs/heads/` and the like: the first two parts."""
        return "/".join(self.qualified.split("/", 2)[:2]) + "/"

    @property
    def name(self) -> str:
        """The name without the prefix."""
        return self.qualified.removeprefix(self.prefix)

    @property
    def id(self) -> str:
        """The global id."""
        return named_id("REF", self.repository.id, self.qualified)


CLASSES = {"commit": CommitAt, "tree": TreeAt, "blob": BlobAt, "tag": TagAt}


def thing(repo: Repository, sha: str | None) -> GitThing | None:
    """The object of that sha, or None."""
    kind = objects.kind(repo.git, sha) if sha else None
    return CLASSES[kind](repo, sha) if kind and sha else None


def by_id(call: Call, global_id: str) -> GitThing | RefAt | None:
    """The object or ref of that global id, or None. The caller checks whether it may be seen."""
    read = read_named_id(global_id)
    if read is None:
        return None
    prefix, scope, name = read
    repo: Repository | None = call.world.nodes.get(node_id("R", 0, scope))
    if repo is None:
        return None
    if prefix == "REF":
        ref = RefAt(repo, name)
        return ref if ref.sha else None
    git_object = thing(repo, name)
    return git_object if git_object and git_object.prefix == prefix else None


def refs_in(call: Call, repo: Repository) -> dict[str, RefAt]:
    """Every ref by its full name, read once in a request.

    If the git repository is not made yet and is not needed, this is the default branch, if the seed has
    files. Otherwise the commits of all refs are read at once, unless there are more than `MANY`.
    """
    if not repo.has_git and not repo.bundle and repo.parent is None:
        name = f"{HEADS}{repo.default_branch}"
        return {name: RefAt(repo, name)} if repo.files else {}
    return call.once(("refs", repo.id), lambda: _all_refs(repo))


def _all_refs(repo: Repository) -> dict[str, RefAt]:
    pointers = objects.pointers(repo.git)
    commits = tuple(pointer.sha for pointer in pointers.values() if pointer.kind == "commit")
    beside = commits if len(commits) <= MANY else ()
    return {name: RefAt(repo, name, pointer, beside) for name, pointer in pointers.items()}


def default_of(call: Call, repo: Repository) -> RefAt | None:
    """The default branch, or None for a repository without commits."""
    return refs_in(call, repo).get(f"{HEADS}{repo.default_branch}")


def branch_ref(repo: Repository | None, branch: str | None) -> RefAt | None:
    """The branch of that name as the world last saw it, or None."""
    name = f"{HEADS}{branch}"
    return RefAt(repo, name) if repo is not None and name in repo.heads else None


def commit_at(repo: Repository | None, sha: str | None) -> CommitAt | None:
    """The commit of that sha, or None for none."""
    return CommitAt(repo, sha) if repo is not None and sha else None


def ref_named(repo: Repository, name: str) -> RefAt | None:
    """A ref by its full name, else a branch or a tag by its short one; None if there is none."""
    for full in (name, f"refs/{name}", f"{HEADS}{name}", f"{TAGS}{name}"):
        ref = RefAt(repo, full)
        if full.startswith("refs/") and ref.sha is not None:
            return ref
    return None


def _compared(_call: Call, ref: RefAt, headRef: str) -> dict[str, Any] | None:  # noqa: N803
    """Compare another ref with this one; None if one does not exist, or they share no history."""
    head = ref_named(ref.repository, headRef)
    if head is None or head.sha is None or ref.sha is None:
        return None
    result = history.compare(ref.repository.git, ref.sha, head.sha)
    global_id = named_id("CMP", ref.repository.id, f"{ref.sha}...{head.sha}")
    shown = result and {"id": global_id, "aheadBy": len(result.ahead), "behindBy": result.behind}
    return shown or None


def refs_of(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    """The refs below a prefix, by name.

    Source: https://docs.github.com/graphql/reference/objects#repository (`refs`)
    """
    prefix, query = arguments.pop("refPrefix"), arguments.pop("query", None) or ""
    order = arguments.pop("orderBy", None) or {}
    down = "DESC" in {arguments.pop("direction", None), order.get("direction")}
    start = prefix if prefix.endswith("/") else f"{prefix}/"
    refs = refs_in(call, repo)
    names = sorted(
        name for name in refs if name.startswith(start) and query in name.removeprefix(start)
    )
    page = connection(names[::-1] if down else names, **arguments)
    shown = [refs[name] for name in page["nodes"]]
    if len(refs) > MANY:
        beside = tuple(ref.pointer.sha for ref in shown if ref.pointer)
        shown = [replace(ref, beside=beside) for ref in shown]
    page["nodes"] = shown
    return page


def object_of(_call: Call, repo: Repository, **arguments: Any) -> GitThing | None:
    """An object by its sha, or by an expression such as `main:README.md`."""
    oid, expression = arguments.get("oid"), arguments.get("expression")
    if oid is not None:
        return thing(repo, str(oid))
    if not expression:
        return None
    done = repo.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", expression)
    return thing(repo, done.stdout.decode().strip() or None)


def _actor(person: Signature) -> dict[str, Any]:
    return {"name": person.name, "email": person.email, "date": stamp(person.when), "of": person}


def _parents(_call: Call, commit: CommitAt, **arguments: Any) -> dict[str, Any]:
    commits = [CommitAt(commit.repository, sha) for sha in commit.made.parents]
    return connection(commits, **arguments)


def _history(_call: Call, commit: CommitAt, **arguments: Any) -> dict[str, Any]:
    path = arguments.pop("path", None)
    commits = history.log(commit.repository.git, commit.oid, path=path)
    return connection([CommitAt(commit.repository, entry.sha) for entry in commits], **arguments)


def _entries(_call: Call, tree: TreeAt) -> list[tuple[Repository, Entry]]:
    entries = objects.tree(tree.repository.git, tree.oid) or []
    return [(tree.repository, entry) for entry in entries]


def _headline(commit: CommitAt) -> str:
    return commit.made.message.partition("\n")[0]


def _is_binary(blob: BlobAt) -> bool:
    return b"\0" in blob.data[:8000]


def _commit_page(call: Call, at: GitThing) -> str:
    return payloads.commit_page(call, at.repository, at.oid)


OBJECT: dict[str, Any] = {
    "abbreviatedOid": lambda _, at: at.oid[:7],
    "commitUrl": _commit_page,
    "commitResourcePath": lambda c, at: _commit_page(c, at).removeprefix(c.web),
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Commit": {
        **OBJECT,
        "url": _commit_page,
        "message": lambda _, at: at.made.message,
        "messageHeadline": lambda _, at: _headline(at),
        "messageBody": lambda _, at: at.made.message.partition("\n")[2].strip("\n"),
        "authoredDate": lambda _, at: stamp(at.made.author.when),
        "committedDate": lambda _, at: stamp(at.made.committer.when),
        "author": lambda _, at: _actor(at.made.author),
        "committer": lambda _, at: _actor(at.made.committer),
        "authors": lambda _, at, **arguments: connection([_actor(at.made.author)], **arguments),
        "authoredByCommitter": lambda _, at: at.made.author.email == at.made.committer.email,
        "parents": _parents,
        "history(path)": _history,
        "tree": lambda _, at: TreeAt(at.repository, at.made.tree),
        "additions": lambda _, at: sum(change.additions for change in at.files),
        "deletions": lambda _, at: sum(change.deletions for change in at.files),
        "changedFilesIfAvailable": lambda _, at: len(at.files),
    },
    "Ref": {"compare": _compared},
    "GitActor": {"user": lambda c, actor: payloads.account_of(c, actor["of"])},
    "Tree": {**OBJECT, "entries": _entries},
    "TreeEntry": {
        "name": lambda _, pair: pair[1].path,
        "path": lambda _, pair: pair[1].path,
        "mode": lambda _, pair: int(pair[1].mode, 8),
        "type": lambda _, pair: pair[1].kind,
        "oid": lambda _, pair: pair[1].sha,
        "size": lambda _, pair: pair[1].size or 0,
        "object": lambda _, pair: thing(pair[0], pair[1].sha),
    },
    "Blob": {
        **OBJECT,
        "byteSize": lambda _, at: len(at.data),
        "isBinary": lambda _, at: _is_binary(at),
        "isTruncated": lambda *_: False,
        "text": lambda _, at: None if _is_binary(at) else at.data.decode(errors="replace"),
    },
    "Tag": {
        **OBJECT,
        "name": lambda _, at: at.made.name,
        "message": lambda _, at: at.made.message,
        "tagger": lambda _, at: _actor(at.made.tagger),
        "target": lambda _, at: thing(at.repository, at.made.object),
    },
}
PLAIN = {
    "Commit": "id oid repository resourcePath",
    "Tree": "id oid repository",
    "Blob": "id oid repository",
    "Tag": "id oid repository",
    "Ref": "id name prefix repository target",
    "Comparison": "id aheadBy behindBy",
    "GitActor": "name email date",
}
INPUTS = {"RefOrder": "field direction"}
TYPES = {CommitAt: "Commit", TreeAt: "Tree", BlobAt: "Blob", TagAt: "Tag", RefAt: "Ref"}
