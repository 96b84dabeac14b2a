"""The JSON of commits, refs, trees, blobs, files and tags in REST's answers."""

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
    """The account of a signature's mail address, found as GitHub does."""
    return call.once(("mail", person.email), lambda: _account(call, person.email))


def _account(call: Call, mail: str) -> User | None:
    if mail.endswith(NOREPLY):
        return call.world.user(mail.removesuffix(NOREPLY).rpartition("+")[2])
    users = call.world.users.values()
    return next((user for user in users if user.email and user.email == mail), None)


def person(who: Signature) -> dict[str, Any]:
    """The JSON of a git signature: name, email and date."""
    return {"name": who.name, "email": who.email, "date": stamp(who.when)}


def commit_page(call: Call, repo: Repository, sha: str) -> str:
    """The address of a commit's page."""
    return f"{repositories.page_url(call, repo)}/commit/{sha}"


def _tree(call: Call, repo: Repository, sha: str) -> dict[str, str]:
    return {"sha": sha, "url": f"{repositories.api_url(call, repo)}/git/trees/{sha}"}


def git_commit(call: Call, repo: Repository, commit_object: Commit) -> dict[str, Any]:
    """The JSON of a commit in the calls about git's objects."""
    url = f"{repositories.api_url(call, repo)}/git/commits"
    return {
        "sha": commit_object.sha,
        "node_id": named_id("C", repo.id, commit_object.sha),
        "url": f"{url}/{commit_object.sha}",
        "html_url": commit_page(call, repo, commit_object.sha),
        "author": person(commit_object.author),
        "committer": person(commit_object.committer),
        "tree": _tree(call, repo, commit_object.tree),
        "message": commit_object.message,
        "parents": [
            {"sha": sha, "url": f"{url}/{sha}", "html_url": commit_page(call, repo, sha)}
            for sha in commit_object.parents
        ],
        "verification": dict(UNSIGNED),
    }


def commit(call: Call, repo: Repository, commit_object: Commit) -> dict[str, Any]:
    """The JSON of a commit in lists."""
    api = repositories.api_url(call, repo)
    url = f"{api}/commits"
    author = account_of(call, commit_object.author)
    committer = account_of(call, commit_object.committer)
    return {
        "sha": commit_object.sha,
        "node_id": named_id("C", repo.id, commit_object.sha),
        "commit": {
            "author": person(commit_object.author),
            "committer": person(commit_object.committer),
            "message": commit_object.message,
            "tree": _tree(call, repo, commit_object.tree),
            "url": f"{api}/git/commits/{commit_object.sha}",
            "comment_count": 0,
            "verification": dict(UNSIGNED),
        },
        "url": f"{url}/{commit_object.sha}",
        "html_url": commit_page(call, repo, commit_object.sha),
        "comments_url": f"{url}/{commit_object.sha}/comments",
        "author": accounts.user(call, author) if author else None,
        "committer": accounts.user(call, committer) if committer else None,
        "parents": [
            {"sha": sha, "url": f"{url}/{sha}", "html_url": commit_page(call, repo, sha)}
            for sha in commit_object.parents
        ],
    }


def full_commit(
    call: Call, repo: Repository, commit_object: Commit, changes: Sequence[FileChange]
) -> dict[str, Any]:
    """The JSON of one commit, with its changes."""
    added = sum(change.additions for change in changes)
    removed = sum(change.deletions for change in changes)
    return {
        **commit(call, repo, commit_object),
        "stats": {"total": added + removed, "additions": added, "deletions": removed},
        "files": [file_change(call, repo, commit_object.sha, change) for change in changes],
    }


def file_change(call: Call, repo: Repository, sha: str, change: FileChange) -> dict[str, Any]:
    """The JSON of a file of a difference; its links lead to the file in the commit `sha`."""
    path, page = quote(change.path), repositories.page_url(call, repo)
    answer = {
        "sha": change.sha,
        "filename": change.path,
        **attributes(change, "status additions deletions"),
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{sha}/{path}",
        "raw_url": f"{page}/raw/{sha}/{path}",
        "contents_url": f"{repositories.api_url(call, repo)}/contents/{path}?ref={sha}",
    }
    if change.patch is not None:
        answer["patch"] = change.patch
    if change.before is not None:
        answer["previous_filename"] = change.before
    return answer


def ref(call: Call, repo: Repository, name: str, sha: str, kind: str) -> dict[str, Any]:
    """The JSON of a ref and its target."""
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
    """The JSON of a tree and its entries."""
    url = f"{repositories.api_url(call, repo)}/git"
    listed = []
    for line in entries:
        answer: dict[str, Any] = {
            "path": line.path, "mode": line.mode, "type": line.kind, "sha": line.sha,
        }  # fmt: skip
        if line.size is not None:
            answer["size"] = line.size
        if line.kind != "commit":
            answer["url"] = f"{url}/{line.kind}s/{line.sha}"
        listed.append(answer)
    return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": listed, "truncated": truncated}


def blob(call: Call, repo: Repository, sha: str, data: bytes) -> dict[str, Any]:
    """The JSON of a blob, as base64 in lines of sixty characters."""
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


def tag(call: Call, repo: Repository, tag_object: Tag) -> dict[str, Any]:
    """The JSON of an annotated tag."""
    url = f"{repositories.api_url(call, repo)}/git"
    return {
        "node_id": named_id("TA", repo.id, tag_object.sha),
        "sha": tag_object.sha,
        "url": f"{url}/tags/{tag_object.sha}",
        "tagger": person(tag_object.tagger),
        "object": {
            "sha": tag_object.object,
            "type": tag_object.kind,
            "url": f"{url}/{tag_object.kind}s/{tag_object.object}",
        },
        "tag": tag_object.name,
        "message": tag_object.message,
        "verification": dict(UNSIGNED),
    }


def entry(call: Call, repo: Repository, at: str, path: str, line: Entry) -> dict[str, Any]:
    """The JSON of a file or folder of the branch or commit `at`, without its content."""
    api, page, place = (
        repositories.api_url(call, repo),
        repositories.page_url(call, repo),
        quote(path),
    )
    is_file = line.kind == "blob"
    url = f"{api}/contents/{place}?ref={quote(at, safe='')}"
    git_url = f"{api}/git/{'blobs' if is_file else 'trees'}/{line.sha}"
    html_url = f"{page}/{'blob' if is_file else 'tree'}/{quote(at)}/{place}"
    kind = {"blob": "file", "tree": "dir", "commit": "submodule"}[line.kind]
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": line.sha,
        "size": line.size or 0,
        "url": url,
        "html_url": html_url,
        "git_url": git_url,
        "download_url": f"{page}/raw/{quote(at)}/{place}" if is_file else None,
        "type": "symlink" if line.mode == "120000" else kind,
        "_links": {"self": url, "git": git_url, "html": html_url},
    }


def file(call: Call, repo: Repository, at: str, path: str, line: Entry) -> dict[str, Any]:
    """The JSON of a file with its content."""
    data = objects.blob(repo.git, line.sha)
    return {
        **entry(call, repo, at, path, line),
        "content": _lines(data),
        "encoding": "base64",
    }
