"""Commits, refs, trees, blobs, files and branches over REST."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.history import FileChange
from lifecycle.sandbox.git.store.objects import Entry, Tag
from lifecycle.sandbox.git.store.repository import Commit, Signature
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call

UNSIGNED = {
    "verified": False, "reason": "unsigned", "signature": None, "payload": None,
    "verified_at": None,
}  # fmt: skip
NOREPLY = "@users.noreply.github.com"


def account_of(call: Call, person: Signature) -> User | None:
    """The account that a signature's mail address belongs to, as GitHub finds it."""
    return call.once(("mail", person.email), lambda: _account(call, person.email))


def _account(call: Call, mail: str) -> User | None:
    if mail.endswith(NOREPLY):
        return call.world.user(mail.removesuffix(NOREPLY).rpartition("+")[2])
    users = call.world.users.values()
    return next((one for one in users if one.email and one.email == mail), None)


def person(who: Signature) -> dict[str, Any]:
    """A signature."""
    return {"name": who.name, "email": who.email, "date": stamp(who.when)}


def commit_page(call: Call, repo: Repository, sha: str) -> str:
    """Where people look at a commit."""
    return f"{repositories.page_url(call, repo)}/commit/{sha}"


def _tree(call: Call, repo: Repository, sha: str) -> dict[str, str]:
    return {"sha": sha, "url": f"{repositories.api_url(call, repo)}/git/trees/{sha}"}


def git_commit(call: Call, repo: Repository, made: Commit) -> dict[str, Any]:
    """A commit as git's objects are shown."""
    url = f"{repositories.api_url(call, repo)}/git/commits"
    return {
        "sha": made.sha,
        "node_id": named_id("C", repo.id, made.sha),
        "url": f"{url}/{made.sha}",
        "html_url": commit_page(call, repo, made.sha),
        "author": person(made.author),
        "committer": person(made.committer),
        "tree": _tree(call, repo, made.tree),
        "message": made.message,
        "parents": [
            {"sha": sha, "url": f"{url}/{sha}", "html_url": commit_page(call, repo, sha)}
            for sha in made.parents
        ],
        "verification": dict(UNSIGNED),
    }


def commit(call: Call, repo: Repository, made: Commit) -> dict[str, Any]:
    """A commit as lists show it."""
    api = repositories.api_url(call, repo)
    url = f"{api}/commits"
    writer, keeper = account_of(call, made.author), account_of(call, made.committer)
    return {
        "sha": made.sha,
        "node_id": named_id("C", repo.id, made.sha),
        "commit": {
            "author": person(made.author),
            "committer": person(made.committer),
            "message": made.message,
            "tree": _tree(call, repo, made.tree),
            "url": f"{api}/git/commits/{made.sha}",
            "comment_count": 0,
            "verification": dict(UNSIGNED),
        },
        "url": f"{url}/{made.sha}",
        "html_url": commit_page(call, repo, made.sha),
        "comments_url": f"{url}/{made.sha}/comments",
        "author": accounts.user(call, writer) if writer else None,
        "committer": accounts.user(call, keeper) if keeper else None,
        "parents": [
            {"sha": sha, "url": f"{url}/{sha}", "html_url": commit_page(call, repo, sha)}
            for sha in made.parents
        ],
    }


def full_commit(
    call: Call, repo: Repository, made: Commit, changes: Sequence[FileChange]
) -> dict[str, Any]:
    """A commit on its own, with what it changed."""
    added = sum(one.additions for one in changes)
    removed = sum(one.deletions for one in changes)
    return {
        **commit(call, repo, made),
        "stats": {"total": added + removed, "additions": added, "deletions": removed},
        "files": [file_change(call, repo, made.sha, one) for one in changes],
    }


def file_change(call: Call, repo: Repository, sha: str, change: FileChange) -> dict[str, Any]:
    """A file of a difference; `sha` is the commit to look at it in."""
    path, page = quote(change.path), repositories.page_url(call, repo)
    made = {
        "sha": change.sha,
        "filename": change.path,
        **attributes(change, "status additions deletions"),
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{sha}/{path}",
        "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{repositories.api_url(call, repo)}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        made["patch"] = change.patch
    if change.before is not None:
        made["previous_filename"] = change.before
    return made


def ref(call: Call, repo: Repository, name: str, sha: str, kind: str) -> dict[str, Any]:
    """A ref and what it points to."""
    url = f"{repositories.api_url(call, repo)}/git"
    return {
        "ref": name,
        "node_id": named_id("REF", repo.id, name),
        "url": f"{url}/{quote(name)}",
        "object": {"sha": sha, "type": kind, "url": f"{url}/{kind}s/{sha}"},
    }


def tree(
    call: Call, repo: Repository, sha: str, entries: Sequence[Entry], *, truncated: bool = False
) -> dict[str, Any]:
    """A tree and its entries."""
    url = f"{repositories.api_url(call, repo)}/git"
    listed = []
    for one in entries:
        made: dict[str, Any] = {
            "path": one.path, "mode": one.mode, "type": one.kind, "sha": one.sha,
        }  # fmt: skip
        if one.size is not None:
            made["size"] = one.size
        if one.kind != "commit":
            made["url"] = f"{url}/{one.kind}s/{one.sha}"
        listed.append(made)
    return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": listed, "truncated": truncated}


def blob(call: Call, repo: Repository, sha: str, data: bytes) -> dict[str, Any]:
    """A blob, as base64 in lines of sixty characters."""
    return {
        "sha": sha,
        "node_id": named_id("B", repo.id, sha),
        "size": len(data),
        "url": f"{repositories.api_url(call, repo)}/git/blobs/{sha}",
        "content": _lines(data),
        "encoding": "base64",
    }


def _lines(data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return "".join(f"{text[start : start + 60]}\n" for start in range(0, len(text), 60))


def tag(call: Call, repo: Repository, made: Tag) -> dict[str, Any]:
    """An annotated tag."""
    url = f"{repositories.api_url(call, repo)}/git"
    return {
        "node_id": named_id("TA", repo.id, made.sha),
        "sha": made.sha,
        "url": f"{url}/tags/{made.sha}",
        "tagger": person(made.tagger),
        "object": {
            "sha": made.object,
            "type": made.kind,
            "url": f"{url}/{made.kind}s/{made.object}",
        },
        "tag": made.name,
        "message": made.message,
        "verification": dict(UNSIGNED),
    }


def entry(call: Call, repo: Repository, at: str, path: str, made: Entry) -> dict[str, Any]:
    """A file or folder of the branch or commit `at`, without its content."""
    api, page, place = (
        repositories.api_url(call, repo),
        repositories.page_url(call, repo),
        quote(path),
    )
    is_file = made.kind == "blob"
    url = f"{api}/contents/{place}?ref={quote(at, safe='')}"
    git_url = f"{api}/git/{'blobs' if is_file else 'trees'}/{made.sha}"
    html_url = f"{page}/{'blob' if is_file else 'tree'}/{quote(at)}/{place}"
    kind = {"blob": "file", "tree": "dir", "commit": "submodule"}[made.kind]
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": made.sha,
        "size": made.size or 0,
        "url": url,
        "html_url": html_url,
        "git_url": git_url,
        "download_url": f"{page}/raw/{quote(at)}/{place}" if is_file else None,
        "type": "symlink" if made.mode == "120000" else kind,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


def file(call: Call, repo: Repository, at: str, path: str, made: Entry) -> dict[str, Any]:
    """A file with its content."""
    data = objects.blob(repo.git, made.sha)
    return {
        **entry(call, repo, at, path, made),
        "content": _lines(data),
        "encoding": "base64",
    }
