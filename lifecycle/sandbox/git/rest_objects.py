"""REST's operations on git's objects (blobs, trees, commits, tags), and the refs to them.

Source: https://docs.github.com/rest/git
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from lifecycle.sandbox.base.errors import ActionRefused, ApiError, refusing
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.git.store.repository import SHA, Signature, is_sha
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

MODES = {"100644", "100755", "040000", "160000", "120000"}
GIT = f"{REPO}/git"


@route("GET", f"{GIT}/commits/<sha>")
def get_commit(call: Call, repo: Repository, sha: str) -> Reply:
    commit = objects.commit(repo.git, sha)
    if commit is None:
        raise asking.not_found()
    return Reply(200, payloads.git_commit(call, repo, commit))


@route("POST", f"{GIT}/commits", "contents:write")
def create_commit(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/commits {message, tree, parents, author, committer}.

    Without an author, it is the token's owner, now.
    """
    asking.demand_push(call, repo)
    asking.fields(call, "message", "tree", "parents", "author", "committer")
    message = asking.needed(call, "message", str)
    tree = asking.needed(call, "tree", str)
    parents = asking.typed(call, "parents", list) or []
    if objects.kind(repo.git, tree) != "tree":
        raise ApiError(422, "Tree SHA does not exist")
    for parent in parents:
        if objects.kind(repo.git, str(parent)) != "commit":
            raise ApiError(422, "Parent SHA does not exist or is not a commit object")
    author = signed(call, "author") or signature(call.viewer)
    committer = signed(call, "committer") or author
    sha = objects.write_commit(repo.git, tree, parents, message, author=author, committer=committer)
    commit = objects.commit(repo.git, sha)
    if commit is None:
        raise ApiError(422, "The commit was not kept.")
    return created(payloads.git_commit(call, repo, commit))


def signed(call: Call, name: str) -> Signature | None:
    """A signature in the body, None if there is none; a missing date is now."""
    person = asking.typed(call, name, dict)
    if person is None:
        return None
    if not isinstance(person.get("name"), str) or not isinstance(person.get("email"), str):
        raise asking.malformed(f'"name" and "email" of {name} weren\'t supplied.')
    date = person.get("date")
    plain = signature(call.viewer)
    when = asking.moment(str(date), "date", "Commit") if date else plain.when
    return Signature(person["name"], person["email"], when)


@route("GET", f"{GIT}/trees/<path:sha>")
def get_tree(call: Call, repo: Repository, sha: str) -> Reply:
    """GET /repos/O/R/git/trees/SHA: a tree, or that of a commit or branch."""
    asking.only(call, "recursive")
    done = repo.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{sha}^{{tree}}")
    name = done.stdout.decode().strip()
    entries = objects.tree(repo.git, name, recursive="recursive" in call.query) if name else None
    if entries is None:
        raise asking.not_found()
    return Reply(200, payloads.tree(call, repo, name, entries))


@route("POST", f"{GIT}/trees", "contents:write")
def create_tree(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/trees {tree, base_tree}; an entry whose sha is null is removed."""
    asking.demand_push(call, repo)
    asking.fields(call, "tree", "base_tree")
    base = asking.typed(call, "base_tree", str)
    if base is not None and objects.kind(repo.git, base) not in {"tree", "commit"}:
        raise asking.not_found()
    wanted = asking.needed(call, "tree", list)
    changes = [_change(repo, line) for line in wanted]
    try:
        sha = objects.write_tree(repo.git, base, changes)
    except ActionRefused:
        raise ApiError(422, "tree.sha or tree.path is not valid") from None
    return created(payloads.tree(call, repo, sha, objects.tree(repo.git, sha) or []))


def _change(repo: Repository, line: Any) -> tuple[str, str, str | None]:
    """Turn an entry of the body's `tree` into path, mode and sha (None removes the path)."""
    if not isinstance(line, dict) or not isinstance(line.get("path"), str):
        raise ApiError(422, "tree.path is missing")
    mode, sha, content = line.get("mode"), line.get("sha"), line.get("content")
    if mode not in MODES:
        raise ApiError(422, f"tree.mode must be one of {', '.join(sorted(MODES))}")
    if isinstance(content, str):
        sha = objects.write_blob(repo.git, content.encode())
    elif "sha" not in line:
        raise ApiError(422, "Must supply either tree.sha or tree.content.")
    elif sha is not None and objects.kind(repo.git, str(sha)) is None:
        raise ApiError(422, f"tree.sha {sha} is not a valid {line.get('type', 'blob')}")
    return line["path"], str(mode), sha


@route("GET", f"{GIT}/blobs/<sha>")
def get_blob(call: Call, repo: Repository, sha: str) -> Reply:
    """GET /repos/O/R/git/blobs/SHA, as base64."""
    if objects.kind(repo.git, sha) != "blob":
        raise asking.not_found()
    return Reply(200, payloads.blob(call, repo, sha, objects.blob(repo.git, sha)))


@route("POST", f"{GIT}/blobs", "contents:write")
def create_blob(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/blobs {content, encoding: utf-8 or base64}."""
    asking.demand_push(call, repo)
    asking.fields(call, "content", "encoding")
    content = asking.needed(call, "content", str)
    encoding = asking.typed(call, "encoding", str) or "utf-8"
    data = decoded(content) if encoding == "base64" else content.encode()
    sha = objects.write_blob(repo.git, data)
    url = f"{repositories.api_url(call, repo)}/git/blobs/{sha}"
    return Reply(201, {"sha": sha, "url": url}, {"Location": url})


def decoded(content: str) -> bytes:
    """Decode a base64 text; raises 422."""
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ApiError(422, "content is not valid Base64") from None


@route("GET", f"{GIT}/tags/<sha>")
def get_tag(call: Call, repo: Repository, sha: str) -> Reply:
    """GET /repos/O/R/git/tags/SHA: an annotated tag."""
    tag = objects.tag(repo.git, sha)
    if tag is None:
        raise asking.not_found()
    return Reply(200, payloads.tag(call, repo, tag))


@route("POST", f"{GIT}/tags", "contents:write")
def create_tag(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/tags {tag, message, object, type, tagger}; does not make the ref."""
    asking.demand_push(call, repo)
    asking.fields(call, "tag", "message", "object", "type", "tagger")
    name, message, target, kind = (
        asking.needed(call, key, str) for key in ("tag", "message", "object", "type")
    )
    if objects.kind(repo.git, target) != kind:
        raise ApiError(422, "Object does not exist")
    who = signed(call, "tagger") or signature(call.viewer)
    sha = objects.write_tag(repo.git, name, target, kind, message, who)
    tag = objects.tag(repo.git, sha)
    if tag is None:
        raise ApiError(422, "The tag was not kept.")
    return created(payloads.tag(call, repo, tag))


@route("GET", f"{REPO}/git/ref/<path:ref>")
def get_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/git/ref/heads/B: exactly that ref."""
    name = f"refs/{ref}"
    sha = repo.git.refs().get(name)
    if sha is None:
        raise asking.not_found()
    return Reply(200, _payload(call, repo, name, sha))


def _payload(call: Call, repo: Repository, name: str, sha: str) -> dict[str, Any]:
    return payloads.ref(call, repo, name, sha, objects.kind(repo.git, sha) or "commit")


@route("GET", f"{REPO}/git/matching-refs/<path:ref>")
def list_matching_refs(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/git/matching-refs/heads/B: every ref whose name begins like this."""
    asking.only(call)
    prefix = f"refs/{ref}"
    pairs = sorted((name, sha) for name, sha in repo.git.refs().items() if name.startswith(prefix))
    shown, headers = call.page(pairs)
    kinds = objects.kinds(repo.git, {sha for _, sha in shown})
    return Reply(
        200, [payloads.ref(call, repo, name, sha, kinds[sha]) for name, sha in shown], headers
    )


@route("POST", f"{REPO}/git/refs", "contents:write")
def create_ref(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/refs {ref, sha}: only if there is none of that name."""
    asking.demand_push(call, repo)
    asking.fields(call, "ref", "sha")
    name = asking.needed(call, "ref", str)
    sha = _sha(call)
    with refusing(422):
        refs.create(repo, call.viewer, name, sha)
    return created(_payload(call, repo, name, sha))


def _sha(call: Call) -> str:
    sha: str = asking.needed(call, "sha", str)
    if not is_sha(sha):
        message = f"The sha parameter must be exactly {SHA} characters and contain only [0-9a-f]."
        raise ApiError(422, message)
    return sha


@route("PATCH", f"{REPO}/git/refs/<path:ref>", "contents:write")
def update_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """PATCH /repos/O/R/git/refs/heads/B {sha, force}: without force, only a fast-forward."""
    asking.demand_push(call, repo)
    asking.fields(call, "sha", "force")
    sha = _sha(call)
    force = bool(asking.typed(call, "force", bool))
    name = f"refs/{ref}"
    with refusing(422):
        refs.update(repo, call.viewer, name, sha, force=force)
    return Reply(200, _payload(call, repo, name, sha))


@route("DELETE", f"{REPO}/git/refs/<path:ref>", "contents:write")
def delete_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """DELETE /repos/O/R/git/refs/heads/B; 422 if there is none."""
    asking.demand_push(call, repo)
    with refusing(422):
        refs.delete(repo, call.viewer, f"refs/{ref}")
    return Reply(204, None)
