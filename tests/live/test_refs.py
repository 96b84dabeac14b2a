"""Refs, and what custom ones can do: what a lease stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.graphql_texts import graphql_document

if TYPE_CHECKING:
    from tests.live.hub import Hub

pytestmark = pytest.mark.xdist_group("live")  # one GitHub, one after the other

ZERO = "0" * 40
HOLDING = graphql_document("survey_holding")
UPDATE = """
mutation Update($repository: ID!, $ref: GitRefname!, $before: GitObjectID, $after: GitObjectID!) {
  updateRefs(input: {
    repositoryId: $repository, refUpdates: [{name: $ref, beforeOid: $before, afterOid: $after}]
  }) { clientMutationId }
}
"""
READ = """
query Read($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) { id ref(qualifiedName: $ref) { name target { oid } } }
}
"""


def _claim(hub: Hub) -> str:
    """The full name of a ref in the namespace of leases."""
    ref = f"refs/agent-claims/{hub.name('claim')}"
    hub.bin.append(lambda: hub.rest("DELETE", f"git/{ref}"))
    return ref


def _names(hub: Hub) -> dict[str, str]:
    owner, _, name = hub.place.repository.partition("/")
    return {"owner": owner, "name": name}


def test_a_branch_is_made_once(hub: Hub) -> None:
    """A new ref is 201; the same again is 422 with words that an adapter may rely on."""
    sha, ref = hub.clone(), f"refs/heads/{hub.name('ref')}"
    made = hub.made("git/refs", {"ref": ref, "sha": sha}, undo="git/{ref}")
    assert (made["ref"], made["object"]["sha"], made["object"]["type"]) == (ref, sha, "commit")
    again = hub.rest("POST", "git/refs", {"ref": ref, "sha": sha})
    assert (again.status_code, again.json()["message"]) == (422, "Reference already exists")
    read = hub.until(lambda: hub.rest("GET", f"git/{ref.replace('refs/', 'ref/', 1)}"), bool)
    assert read.json()["object"]["sha"] == sha


def test_a_ref_moves_forward_only(hub: Hub) -> None:
    """Without force a ref goes to a child of where it is, and nowhere else."""
    name, sha = hub.branch()
    base = hub.clone()
    path = f"git/refs/heads/{name}"
    back = hub.rest("PATCH", path, {"sha": base, "force": False})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert hub.rest("PATCH", path, {"sha": sha}).json()["object"]["sha"] == sha
    assert hub.rest("PATCH", path, {"sha": base, "force": True}).json()["object"]["sha"] == base


def test_a_ref_is_deleted_once(hub: Hub) -> None:
    """Deleting is 204; deleting what is not there is 422."""
    name, _ = hub.branch()
    assert hub.rest("DELETE", f"git/refs/heads/{name}").status_code == 204
    again = hub.rest("DELETE", f"git/refs/heads/{name}")
    assert (again.status_code, again.json()["message"]) == (422, "Reference does not exist")


def test_a_custom_ref_by_git_push(hub: Hub) -> None:
    """git pushes a ref outside of branches and tags, only where nobody has one, and deletes it."""
    ref, sha = _claim(hub), hub.commit("lease")
    lease = f"--force-with-lease={ref}:"
    assert hub.git("push", "--quiet", lease, "origin", f"{sha}:{ref}").returncode == 0
    other = hub.commit("another lease")
    refused = hub.git("push", "--quiet", lease, "origin", f"{other}:{ref}")
    assert refused.returncode != 0
    seen = hub.git("ls-remote", "origin", ref).stdout.split()
    assert seen == [sha, ref]
    exact = f"--force-with-lease={ref}:{sha}"
    assert hub.git("push", "--quiet", exact, "origin", f":{ref}").returncode == 0
    hub.say("git push to refs/agent-claims/*", "works, with a lease")


def test_a_custom_ref_over_rest(hub: Hub) -> None:
    """REST makes, reads and deletes a ref outside of branches and tags."""
    ref, sha = _claim(hub), hub.clone()
    made = hub.rest("POST", "git/refs", {"ref": ref, "sha": sha})
    hub.say("REST refs with refs/agent-claims/*", f"{made.status_code} {made.reason}")
    assert made.status_code == 201
    assert hub.rest("POST", "git/refs", {"ref": ref, "sha": sha}).status_code == 422
    found = hub.rest("GET", "git/matching-refs/agent-claims/lifecycle-live-").json()
    assert ref in [one["ref"] for one in found]
    assert hub.rest("DELETE", f"git/{ref}").status_code == 204


def test_a_custom_ref_by_update_refs(hub: Hub) -> None:
    """Whether updateRefs takes a custom namespace, and holds to the value that it is told."""
    ref, sha = _claim(hub), hub.clone()
    name, child = hub.branch()
    repository = hub.graph(READ, ref="refs/heads/none", **_names(hub))["data"]["repository"]["id"]
    made = hub.graph(UPDATE, repository=repository, ref=ref, before=ZERO, after=sha)
    if "errors" in made:
        hub.say("updateRefs with refs/agent-claims/*", made["errors"][0]["message"])
        return
    hub.say("updateRefs with refs/agent-claims/*", "works")
    wrong = hub.graph(UPDATE, repository=repository, ref=ref, before=ZERO, after=child)
    assert "errors" in wrong
    hub.say("updateRefs with a wrong beforeOid", wrong["errors"][0]["message"])
    moved = hub.graph(UPDATE, repository=repository, ref=ref, before=sha, after=child)
    assert "errors" not in moved, (moved, name)
    gone = hub.graph(UPDATE, repository=repository, ref=ref, before=child, after=ZERO)
    hub.say("updateRefs deletes a ref", str("errors" not in gone))


def test_a_custom_ref_is_read_by_its_qualified_name(hub: Hub) -> None:
    """Whether ref(qualifiedName:) sees a custom namespace; a branch it sees."""
    ref, sha = _claim(hub), hub.clone()
    branch, head = hub.branch()
    assert hub.git("push", "--quiet", "origin", f"{sha}:{ref}").returncode == 0
    known = hub.graph(READ, ref=f"refs/heads/{branch}", **_names(hub))["data"]["repository"]["ref"]
    assert known["target"]["oid"] == head
    answer = hub.graph(READ, ref=ref, **_names(hub))
    seen = answer["data"]["repository"]["ref"]
    said = "sees it" if seen and seen["target"]["oid"] == sha else str(answer.get("errors") or seen)
    hub.say("ref(qualifiedName: refs/agent-claims/*)", said)


def test_a_custom_ref_in_a_sweep(hub: Hub) -> None:
    """Whether refs(refPrefix:) lists a custom namespace, and how it names what is there."""
    ref, sha = _claim(hub), hub.clone()
    assert hub.git("push", "--quiet", "origin", f"{sha}:{ref}").returncode == 0
    answer = hub.graph(HOLDING, **_names(hub))
    assert "errors" not in answer, answer
    found = {
        f"{one['prefix']} + {one['name']}"
        for one in answer["data"]["repository"]["leases"]["nodes"]
        if one["target"]["oid"] == sha and one["name"].endswith(ref.rpartition("/")[2])
    }
    hub.say("refs(refPrefix: refs/agent-claims/)", ", ".join(found) or "hides it")
