"""REST's operations on a repository's files: read, write, delete; each write is a commit.

Source: https://docs.github.com/rest/repos/contents
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.base.errors import ApiError, refusing
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.rest_objects import decoded, signed
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.git.store.objects import Entry
from lifecycle.sandbox.git.store.repository import Signature
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/repos/contents"
RAW = "application/vnd.github.raw; charset=utf-8"
README = ("README.md", "README", "README.rst", "README.txt", "readme.md")
HEADS = "refs/heads/"
CONTENTS = f"{REPO}/contents"


def _at(call: Call, repo: Repository) -> tuple[str, str]:
    """The ref in the query, or the default branch, and its commit; or 404."""
    name = call.query.get("ref", repo.default_branch).removeprefix(HEADS)
    sha = repo.git.resolve(name)
    if sha is None:
        message = (
            "This repository is empty."
            if not repo.git.refs()
            else f"No commit found for the ref {name}"
        )
        raise ApiError(404, message, documentation=f"{DOCS}#get-repository-content")
    return name, sha


@route("GET", f"{CONTENTS}/<path:path>")
@route("GET", f"{CONTENTS}/", docs=f"{DOCS}#get-repository-content")
@route("GET", CONTENTS, docs=f"{DOCS}#get-repository-content")
def get_contents(call: Call, repo: Repository, path: str = "") -> Reply:
    """GET /repos/O/R/contents/PATH: a file with its content, or the entries of a folder."""
    asking.only(call, "ref")
    name, sha = _at(call, repo)
    path = path.strip("/")
    entry = objects.at_path(repo.git, sha, path)
    if entry is None:
        raise asking.not_found()
    if entry.kind == "tree":
        entries = objects.tree(repo.git, entry.sha) or []
        inside = f"{path}/" if path else ""
        listed = [payloads.entry(call, repo, name, inside + child.path, child) for child in entries]
        return Reply(200, listed)
    return _file(call, repo, name, path, entry)


def _file(call: Call, repo: Repository, name: str, path: str, entry: Entry) -> Reply:
    if "raw" in call.accept:
        return Reply(200, objects.blob(repo.git, entry.sha), {"Content-Type": RAW})
    return Reply(200, payloads.file(call, repo, name, path, entry))


@route("GET", f"{REPO}/readme")
def get_readme(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/readme: the first of the usual names that exists."""
    asking.only(call, "ref")
    if not repo.git.refs():
        raise asking.not_found()
    name, sha = _at(call, repo)
    for path in README:
        entry = objects.at_path(repo.git, sha, path)
        if entry is not None and entry.kind == "blob":
            return _file(call, repo, name, path, entry)
    raise asking.not_found()


@route(
    "PUT",
    f"{CONTENTS}/<path:path>",
    "contents:write",
)
def put_file(call: Call, repo: Repository, path: str) -> Reply:
    """PUT /repos/O/R/contents/PATH {message, content, sha, branch}: `sha` is of the replaced blob."""
    asking.demand_push(call, repo)
    asking.fields(call, "message", "content", "sha", "branch", "committer", "author")
    message = asking.needed(call, "message", str)
    data = decoded(asking.needed(call, "content", str))
    branch, tip, current = _target(call, repo, path)
    _demand_same(call, path, current)
    blob = objects.write_blob(repo.git, data)
    changes: list[tuple[str, str, str | None]] = [
        (path, current.mode if current else "100644", blob)
    ]
    answer = _committed(call, repo, branch, tip, changes, message)
    entry = objects.at_path(repo.git, answer["commit"]["sha"], path)
    if entry is not None:
        answer["content"] = payloads.entry(call, repo, branch, path, entry)
    return Reply(200 if current else 201, answer)


@route("DELETE", f"{CONTENTS}/<path:path>", "contents:write")
def delete_file(call: Call, repo: Repository, path: str) -> Reply:
    """DELETE /repos/O/R/contents/PATH {message, sha, branch}."""
    asking.demand_push(call, repo)
    asking.fields(call, "message", "sha", "branch", "committer", "author")
    message = asking.needed(call, "message", str)
    branch, tip, current = _target(call, repo, path)
    if current is None:
        raise asking.not_found()
    _demand_same(call, path, current)
    return Reply(200, _committed(call, repo, branch, tip, [(path, current.mode, None)], message))


def _target(call: Call, repo: Repository, path: str) -> tuple[str, str | None, Entry | None]:
    """The branch in the body, or the default one, its tip, and the present entry at the path."""
    branch = asking.typed(call, "branch", str) or repo.default_branch
    branch = branch.removeprefix(HEADS)
    tip = repo.git.refs().get(f"{HEADS}{branch}")
    if tip is None and (repo.git.refs() or branch != repo.default_branch):
        raise ApiError(404, f"Branch {branch} not found")
    return branch, tip, objects.at_path(repo.git, tip, path) if tip else None


def _demand_same(call: Call, path: str, current: Entry | None) -> None:
    """Raise 422 if there is a file and the body has no `sha`, 409 if it has another blob's."""
    sha = asking.typed(call, "sha", str)
    if current is None and sha is None:
        return
    if sha is None:
        raise asking.malformed('"sha" wasn\'t supplied.')
    if current is None or current.sha != sha:
        raise ApiError(409, f"{path} does not match {sha}")


def _committed(
    call: Call,
    repo: Repository,
    branch: str,
    tip: str | None,
    changes: list[tuple[str, str, str | None]],
    message: str,
) -> dict[str, Any]:
    """Commit the changes on the branch."""
    tree = objects.write_tree(repo.git, tip, changes)
    author, committer = _signatures(call)
    sha = objects.write_commit(
        repo.git, tree, [tip] if tip else [], message, author=author, committer=committer
    )
    with refusing(409, documentation=DOCS):
        refs.move(repo, call.viewer, [refs.Move(f"{HEADS}{branch}", sha)])
    commit = objects.commit(repo.git, sha)
    return {"content": None, "commit": payloads.git_commit(call, repo, commit) if commit else {}}


def _signatures(call: Call) -> tuple[Signature, Signature]:
    try:
        committer = signed(call, "committer")
        author = signed(call, "author") or committer or signature(call.viewer)
    except ApiError as error:
        error.documentation = DOCS
        raise
    return author, committer or author
