"""Refs over REST and GraphQL: what a lock on GitHub is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from requests import Response

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., Response]
    Graph = Callable[..., Any]

NOTHING = "0" * 40
LEASE = "refs/agent-claims/42"
UPDATE_REFS = """mutation($repo: ID!, $updates: [RefUpdate!]!) {
  updateRefs(input: {repositoryId: $repo, refUpdates: $updates}) { clientMutationId }
}"""


def head(api: Api, branch: str = "main") -> str:
    """Where a branch is."""
    return str(api("GET", f"git/ref/heads/{branch}").json()["object"]["sha"])


def commit(api: Api, parent: str, message: str = "Lease") -> str:
    """A commit like its parent, on no branch."""
    tree = api("GET", f"git/commits/{parent}").json()["tree"]["sha"]
    body = {"message": message, "tree": tree, "parents": [parent]}
    made = api("POST", "git/commits", json=body)
    assert made.status_code == 201, made.text
    return str(made.json()["sha"])


def test_a_ref_is_made_once(api: Api) -> None:
    """Of many that create one ref at once exactly one does; the others hear that it exists."""
    sha = head(api)
    body = {"ref": LEASE, "sha": sha}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: api("POST", "git/refs", json=body), range(8)))
    assert sorted(one.status_code for one in answers) == [201] + [422] * 7
    words = {one.json()["message"] for one in answers if one.status_code == 422}
    assert words == {"Reference already exists"}
    made = next(one for one in answers if one.status_code == 201)
    assert made.headers["Location"] == made.json()["url"]
    found = api("GET", "git/ref/agent-claims/42").json()
    assert (found["ref"], found["object"]["sha"], found["object"]["type"]) == (LEASE, sha, "commit")


def test_a_ref_moves_forward_unless_forced(api: Api) -> None:
    """To a child without force, elsewhere only with it; to nothing known, never."""
    old = head(api)
    new = commit(api, old)
    api("POST", "git/refs", json={"ref": "refs/heads/work", "sha": old})
    assert api("PATCH", "git/refs/heads/work", json={"sha": new}).json()["object"]["sha"] == new
    back = api("PATCH", "git/refs/heads/work", json={"sha": old, "force": False})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert head(api, "work") == new
    forced = api("PATCH", "git/refs/heads/work", json={"sha": old, "force": True})
    assert forced.json()["object"]["sha"] == old
    absent = api("PATCH", "git/refs/heads/work", json={"sha": "1" * 40})
    assert (absent.status_code, absent.json()["message"]) == (422, "Object does not exist")
    short = api("PATCH", "git/refs/heads/work", json={"sha": old[:7]})
    assert "must be exactly 40 characters" in short.json()["message"]
    nowhere = api("PATCH", "git/refs/heads/nowhere", json={"sha": old})
    assert (nowhere.status_code, nowhere.json()["message"]) == (422, "Reference does not exist")


def test_a_ref_goes(api: Api) -> None:
    """DELETE is 204 once and 422 then; the default branch stays."""
    api("POST", "git/refs", json={"ref": LEASE, "sha": head(api)})
    assert api("DELETE", "git/refs/agent-claims/42").status_code == 204
    again = api("DELETE", "git/refs/agent-claims/42")
    assert (again.status_code, again.json()["message"]) == (422, "Reference does not exist")
    assert api("GET", "git/ref/agent-claims/42").status_code == 404
    assert api("DELETE", "git/refs/heads/main").status_code == 422
    assert head(api)


@pytest.mark.parametrize("name", ["main", "refs/main", "refs/heads/a..b", "refs/pull/1/head"])
def test_names_that_are_none(api: Api, name: str) -> None:
    """A name outside of refs/, with too few parts, that git refuses, or GitHub's own: 422."""
    assert api("POST", "git/refs", json={"ref": name, "sha": head(api)}).status_code == 422


def test_matching_refs_begin_alike(api: Api) -> None:
    """matching-refs compares beginnings, not parts, and is an empty list where nothing does."""
    for name in ("agent-claims/4", "agent-claims/42", "heads/agent"):
        api("POST", "git/refs", json={"ref": f"refs/{name}", "sha": head(api)})
    found = api("GET", "git/matching-refs/agent-claims/4").json()
    assert [one["ref"] for one in found] == ["refs/agent-claims/4", "refs/agent-claims/42"]
    assert api("GET", "git/matching-refs/tags").json() == []


def test_readers_do_not_write_refs(api: Api, sandbox: Sandbox) -> None:
    """A reader is 403, a token without contents:write 403 with what it would need."""
    body = {"ref": LEASE, "sha": head(api)}
    assert api("POST", "git/refs", json=body, token=grant(sandbox, "visitor")).status_code == 403
    weak = grant(sandbox, "octocat", "issues:write", kind="fine-grained")
    answer = api("POST", "git/refs", json=body, token=weak)
    assert answer.status_code == 403
    assert answer.headers["x-accepted-github-permissions"] == "contents=write"


def test_git_sees_what_the_api_did(
    api: Api, git: Callable[..., Any], clone: Path, control: Control
) -> None:
    """A ref made over the API can be fetched, and a branch moved there moves its pull request."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    new = commit(api, head(api, "work"), "More")
    api("PATCH", "git/refs/heads/work", json={"sha": new})
    assert api("GET", f"pulls/{number}").json()["head"]["sha"] == new
    api("POST", "git/refs", json={"ref": LEASE, "sha": new})
    git("fetch", "--quiet", "origin", LEASE, cwd=clone)
    assert git("rev-parse", "FETCH_HEAD", cwd=clone).stdout.strip() == new


def test_update_refs_is_all_or_nothing(api: Api, graphql: Graph) -> None:
    """Several refs move together, each from the value that is named; one wrong keeps all back."""
    repo = api("GET", "").json()["node_id"]
    old = head(api)
    new = commit(api, old)

    def update(*moves: tuple[str, str, str]) -> Any:
        updates = [{"name": n, "beforeOid": b, "afterOid": a} for n, b, a in moves]
        return graphql(UPDATE_REFS, repo=repo, updates=updates)

    assert "errors" not in update((LEASE, NOTHING, old), ("refs/heads/work", NOTHING, old))
    (error,) = update((LEASE, old, new), ("refs/heads/work", new, old))["errors"]
    assert error["type"] == "STALE_DATA"
    assert api("GET", "git/ref/agent-claims/42").json()["object"]["sha"] == old
    assert "errors" in update((LEASE, NOTHING, new))
    assert "errors" not in update((LEASE, old, new), ("refs/heads/work", old, NOTHING))
    assert api("GET", "git/ref/agent-claims/42").json()["object"]["sha"] == new
    assert api("GET", "git/ref/heads/work").status_code == 404


REF = """query($name: String!) { repository(owner: "octo-org", name: "hello-service") {
  ref(qualifiedName: $name) { id name prefix target { oid ... on Commit { message } } }
  refs(refPrefix: "refs/heads/", first: 10) { nodes { name } totalCount } } }"""


def test_refs_over_graphql(api: Api, graphql: Graph) -> None:
    """createRef, ref by full and short name, updateRef, refs, deleteRef: the same refs."""
    repo, old = api("GET", "").json()["node_id"], head(api)
    create = """mutation($repo: ID!, $name: String!, $oid: GitObjectID!) {
      createRef(input: {repositoryId: $repo, name: $name, oid: $oid}) { ref { id name prefix } } }"""
    made = graphql(create, repo=repo, name="refs/heads/a/b", oid=old)["data"]["createRef"]["ref"]
    assert (made["prefix"], made["name"]) == ("refs/heads/", "a/b")
    (error,) = graphql(create, repo=repo, name="refs/heads/a/b", oid=old)["errors"]
    assert error["message"] == 'A ref named "refs/heads/a/b" already exists in the repository.'
    for name in ("refs/heads/a/b", "a/b"):
        found = graphql(REF, name=name)["data"]["repository"]
        assert found["ref"]["id"] == made["id"]
        assert found["ref"]["target"]["message"] == "Initial commit"
        assert [one["name"] for one in found["refs"]["nodes"]] == ["a/b", "main"]
    new = commit(api, old)
    update = """mutation($id: ID!, $oid: GitObjectID!) {
      updateRef(input: {refId: $id, oid: $oid}) { ref { target { oid } } } }"""
    assert graphql(update, id=made["id"], oid=new)["data"]["updateRef"]["ref"]["target"] == {
        "oid": new
    }
    assert graphql(update, id=made["id"], oid=old)["errors"][0]["type"] == "UNPROCESSABLE"
    delete = "mutation($id: ID!) { deleteRef(input: {refId: $id}) { clientMutationId } }"
    assert "errors" not in graphql(delete, id=made["id"])
    assert graphql(REF, name="a/b")["data"]["repository"]["ref"] is None
    assert graphql(delete, id=made["id"])["errors"][0]["type"] == "NOT_FOUND"


def test_a_commit_on_a_branch_over_graphql(api: Api, graphql: Graph) -> None:
    """createCommitOnBranch writes files on the head that is expected, and on no other."""
    mutation = """mutation($head: GitObjectID!) { createCommitOnBranch(input: {
      branch: {repositoryNameWithOwner: "octo-org/hello-service", branchName: "main"},
      expectedHeadOid: $head, message: {headline: "Say hello"},
      fileChanges: {additions: [{path: "hello.txt", contents: "aGVsbG8K"}],
                    deletions: [{path: "queue.py"}]}}) {
      commit { oid messageHeadline additions author { user { login } } parents(first: 1) { nodes { oid } }
        tree { entries { name } } } } }"""
    old = head(api)
    made = graphql(mutation, head=old)["data"]["createCommitOnBranch"]["commit"]
    assert made["oid"] == head(api)
    assert (made["messageHeadline"], made["additions"]) == ("Say hello", 1)
    assert made["author"]["user"]["login"] == "octocat"
    assert made["parents"]["nodes"] == [{"oid": old}]
    names = [one["name"] for one in made["tree"]["entries"]]
    assert "hello.txt" in names
    assert "queue.py" not in names
    (error,) = graphql(mutation, head=old)["errors"]
    assert error["type"] == "STALE_DATA"
    assert error["message"].startswith(f'Expected branch to point to "{old}" but it did not.')
