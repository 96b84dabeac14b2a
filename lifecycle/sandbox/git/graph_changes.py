"""Mutations of refs, and commits made on a branch."""

from __future__ import annotations

import base64
import binascii

from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git.graph import HEADS, CommitAt, RefAt
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.changing import (
    Given,
    Payload,
    demand,
    doing,
    meant,
    mutation,
    unprocessable,
)
from lifecycle.sandbox.wire.graph.pages import Refusal, not_found


def _demand(call: Call, repo: Repository) -> None:
    demand(call, repo, may=repo.can_push(call.viewer), permission="contents:write")


@mutation("ref")
def create_ref(call: Call, wanted: Given) -> Payload:
    """Make a ref; UNPROCESSABLE if there is one of that name."""
    repo = meant(call, wanted["repositoryId"], Repository)
    _demand(call, repo)
    name, oid = wanted["name"], str(wanted["oid"])
    if objects.kind(repo.git, oid) is None:
        raise unprocessable(f"The object '{oid}' does not exist in the repository.")
    if repo.git.refs().get(name) is not None:
        raise unprocessable(f'A ref named "{name}" already exists in the repository.')
    doing(lambda: refs.create(repo, call.viewer, name, oid))
    return {"ref": RefAt(repo, name)}


@mutation("ref", takes="force")
def update_ref(call: Call, wanted: Given) -> Payload:
    """Move a ref; without `force`, only a fast-forward."""
    ref = meant(call, wanted["refId"], RefAt)
    _demand(call, ref.repository)
    force = bool(wanted.get("force"))
    oid = str(wanted["oid"])
    doing(lambda: refs.update(ref.repository, call.viewer, ref.qualified, oid, force=force))
    return {"ref": RefAt(ref.repository, ref.qualified)}


@mutation()
def delete_ref(call: Call, wanted: Given) -> Payload:
    ref = meant(call, wanted["refId"], RefAt)
    _demand(call, ref.repository)
    doing(lambda: refs.delete(ref.repository, call.viewer, ref.qualified))
    return {}


@mutation()
def update_refs(call: Call, wanted: Given) -> Payload:
    """Move several refs at once, all or none, each only from its given old value.

    Zeros as the old value mean that the ref must not exist; zeros as the new one delete it.
    Source: https://docs.github.com/graphql/reference/mutations#updaterefs
    """
    repo = meant(call, wanted["repositoryId"], Repository)
    _demand(call, repo)
    moves = []
    for update in wanted["refUpdates"]:
        name, before, after = str(update["name"]), update.get("beforeOid"), str(update["afterOid"])
        current = repo.git.refs().get(name) if name.startswith("refs/") else None
        if before is not None and str(before) != (current or refs.NOTHING):
            words = f"Reference '{name}' is at {current or refs.NOTHING} but expected {before}"
            raise Refusal("STALE_DATA", words)
        if after == refs.NOTHING and current is None:
            continue
        if after != refs.NOTHING and objects.kind(repo.git, after) is None:
            raise unprocessable(f"The object '{after}' does not exist in the repository.")
        new = None if after == refs.NOTHING else after
        moves.append(refs.Move(name, new, bool(update.get("force"))))
    doing(lambda: refs.move(repo, call.viewer, moves))
    return {}


@mutation("commit ref", takes="fileChanges")
def create_commit_on_branch(call: Call, wanted: Given) -> Payload:
    """Commit files on a branch; STALE_DATA unless its head is the expected one.

    Source: https://docs.github.com/graphql/reference/mutations#createcommitonbranch
    """
    repo, name = _branch(call, wanted["branch"])
    _demand(call, repo)
    tip, expected = repo.git.refs().get(name), str(wanted["expectedHeadOid"])
    if tip is None:
        raise not_found(f"Could not find the branch '{name.removeprefix(HEADS)}'.")
    if tip != expected:
        words = f'Expected branch to point to "{expected}" but it did not. Pull and try again.'
        raise Refusal("STALE_DATA", words)
    changes = _changes(repo, wanted.get("fileChanges") or {})
    for path, _, blob in changes:
        if blob is None and objects.at_path(repo.git, tip, path) is None:
            raise unprocessable(f"A path was requested for deletion which does not exist: {path}")
    tree = objects.write_tree(repo.git, tip, changes)
    message = wanted["message"]
    text = f"{message['headline']}\n\n{message.get('body') or ''}".strip()
    who = signature(call.viewer)
    sha = objects.write_commit(repo.git, tree, [tip], text, author=who, committer=who)
    doing(lambda: refs.move(repo, call.viewer, [refs.Move(name, sha)]))
    return {"commit": CommitAt(repo, sha), "ref": RefAt(repo, name)}


def _branch(call: Call, wanted: Given) -> tuple[Repository, str]:
    """The repository and full ref of a branch, which is given by id, or by repository and name."""
    if wanted.get("id"):
        ref = meant(call, wanted["id"], RefAt)
        return ref.repository, ref.qualified
    full, name = wanted.get("repositoryNameWithOwner"), wanted.get("branchName")
    repo = call.world.repository(str(full or ""))
    if repo is None or not name or repo.role_of(call.viewer) is None:
        raise not_found(f"Could not resolve to a Repository with the name '{full}'.")
    return repo, f"{HEADS}{name.removeprefix(HEADS)}"


def _changes(repo: Repository, wanted: Given) -> list[tuple[str, str, str | None]]:
    changes: list[tuple[str, str, str | None]] = []
    for addition in wanted.get("additions") or ():
        try:
            data = base64.b64decode(str(addition["contents"]), validate=True)
        except (binascii.Error, ValueError):
            raise unprocessable(f"The contents of {addition['path']} are not base64.") from None
        changes.append((addition["path"], "100644", objects.write_blob(repo.git, data)))
    changes += [(deletion["path"], "100644", None) for deletion in wanted.get("deletions") or ()]
    return changes


INPUTS = {
    "RefUpdate": "beforeOid force",
    "CommittableBranch": "id branchName repositoryNameWithOwner",
    "CommitMessage": "body",
    "FileChanges": "additions deletions",
}
