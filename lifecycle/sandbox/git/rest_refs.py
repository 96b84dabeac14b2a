"""Git's refs over REST.

Source: https://docs.github.com/rest/git/refs
"""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.base.errors import ActionRefused, ApiError
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

DOCS = "https://docs.github.com/rest/git/refs"


def get_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/git/ref/heads/B: that very ref."""
    name = f"refs/{ref}"
    sha = objects.ref(repo.git, name)
    if sha is None:
        raise asking.not_found(f"{DOCS}#get-a-reference")
    return Reply(200, _payload(call, repo, name, sha))


def _payload(call: Call, repo: Repository, name: str, sha: str) -> dict[str, Any]:
    return payloads.ref(call, repo, name, sha, objects.kind(repo.git, sha) or "commit")


def list_matching_refs(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/git/matching-refs/heads/B: every ref that begins so, whole parts or not."""
    asking.only(call)
    prefix = f"refs/{ref}"
    found = sorted((name, sha) for name, sha in repo.git.refs().items() if name.startswith(prefix))
    shown, headers = call.page(found)
    kinds = objects.kinds(repo.git, {sha for _, sha in shown})
    return Reply(
        200, [payloads.ref(call, repo, name, sha, kinds[sha]) for name, sha in shown], headers
    )


def create_ref(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/git/refs {ref, sha}: only where there is none of that name."""
    documentation = f"{DOCS}#create-a-reference"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, "ref", "sha")
    name = asking.needed(call, "ref", str, documentation)
    sha = _sha(call, documentation)
    try:
        refs.create(repo, call.viewer, name, sha)
    except ActionRefused as refused:
        raise ApiError(422, str(refused), documentation=documentation) from None
    answer = _payload(call, repo, name, sha)
    return Reply(201, answer, {"Location": answer["url"]})


def _sha(call: Call, documentation: str) -> str:
    sha: str = asking.needed(call, "sha", str, documentation)
    if not objects.is_sha(sha):
        message = (
            f"The sha parameter must be exactly {objects.SHA} characters and contain only [0-9a-f]."
        )
        raise ApiError(422, message, documentation=documentation)
    return sha


def update_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """PATCH /repos/O/R/git/refs/heads/B {sha, force}: without force only forward."""
    documentation = f"{DOCS}#update-a-reference"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, "sha", "force")
    sha = _sha(call, documentation)
    force = bool(asking.typed(call, "force", bool, documentation))
    name = f"refs/{ref}"
    try:
        refs.update(repo, call.viewer, name, sha, force=force)
    except ActionRefused as refused:
        raise ApiError(422, str(refused), documentation=documentation) from None
    return Reply(200, _payload(call, repo, name, sha))


def delete_ref(call: Call, repo: Repository, ref: str) -> Reply:
    """DELETE /repos/O/R/git/refs/heads/B; 422 where there is none."""
    documentation = f"{DOCS}#delete-a-reference"
    asking.demand_push(call, repo, documentation)
    try:
        refs.delete(repo, call.viewer, f"refs/{ref}")
    except ActionRefused as refused:
        raise ApiError(422, str(refused), documentation=documentation) from None
    return Reply(204, None)


ROUTES = (
    Route("GET", f"{REPO}/git/ref/<path:ref>", get_ref),
    Route("GET", f"{REPO}/git/matching-refs/<path:ref>", list_matching_refs),
    Route("POST", f"{REPO}/git/refs", create_ref, "contents:write"),
    Route("PATCH", f"{REPO}/git/refs/<path:ref>", update_ref, "contents:write"),
    Route("DELETE", f"{REPO}/git/refs/<path:ref>", delete_ref, "contents:write"),
)
