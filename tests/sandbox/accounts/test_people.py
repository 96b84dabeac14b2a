"""Users, organizations, repositories, and who may see and do what in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from lifecycle.sandbox.seed import SeedRepository, SeedUser, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    Api = Callable[..., Response]
    Graph = Callable[..., Any]

SECRET = "/repos/octo-org/secret"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with a private repository, where one outsider has a role."""
    seed = default_seed()
    secret = SeedRepository("octo-org/secret", visibility="private", roles={"guest": "read"})
    with Sandbox(
        replace(
            seed,
            users=[*seed.users, SeedUser("guest", role="read")],
            repositories=[*seed.repositories, secret],
        )
    ) as running:
        yield running


def test_users_and_organizations(api: Api, sandbox: Sandbox) -> None:
    """Who one is and where one belongs; nobody by that name is 404."""
    assert api("GET", "/user").json()["plan"]["name"] == "free"
    assert api("GET", "/users/Maria").json()["name"] == "Maria Silva"
    assert api("GET", "/users/octo-org").json()["type"] == "Organization"
    assert api("GET", "/users/nobody").status_code == 404
    for path in ("/user/orgs", "/users/octocat/orgs"):
        assert [one["login"] for one in api("GET", path).json()] == ["octo-org"]
    org = api("GET", "/orgs/octo-org").json()
    assert (org["public_repos"], org["total_private_repos"]) == (1, 1)
    assert "total_private_repos" not in api(
        "GET", "/orgs/octo-org", token=grant(sandbox, "visitor")
    ).json()  # fmt: skip
    assert api("GET", "/orgs/octocat").status_code == 404
    everybody = [one["login"] for one in api("GET", "/orgs/octo-org/members").json()]
    admins = api("GET", "/orgs/octo-org/members", params={"role": "admin"}).json()
    assert (everybody, [one["login"] for one in admins]) == (["octocat", "maria", "sam"], ["maria"])
    assert api("GET", "/orgs/octo-org/members/sam").status_code == 204
    assert api("GET", "/orgs/octo-org/members/visitor").status_code == 404
    assert api("GET", "/orgs/octo-org/memberships/maria").json()["role"] == "admin"


def test_the_root_and_the_limits(api: Api) -> None:
    """GET / tells where things are, at the host that was asked; the limits are told for nothing."""
    host = (api("GET", "/").request.url or "").rstrip("/")
    assert api("GET", "/").json()["rate_limit_url"] == f"{host}/rate_limit"
    before = api("GET", "/rate_limit").json()["rate"]["used"]
    assert api("GET", "/rate_limit").json()["rate"]["used"] == before


def test_a_private_repository_is_for_its_people(api: Api, graphql: Graph, sandbox: Sandbox) -> None:
    """A stranger, and a token without the scope, hear 404; a reader who writes hears 403."""
    visitor, guest = grant(sandbox, "visitor"), grant(sandbox, "guest")
    for path in ("", "/issues", "/branches"):
        assert api("GET", SECRET + path).status_code == 200
        assert api("GET", SECRET + path, token=guest).status_code == 200
        assert api("GET", SECRET + path, token=visitor).status_code == 404
        public = grant(sandbox, "octocat", "public_repo")
        assert api("GET", SECRET + path, token=public).status_code == 404
    body = {"name": "x"}
    refused = api("POST", f"{SECRET}/labels", json=body, token=guest)
    assert refused.status_code == 403
    assert api("POST", f"{SECRET}/labels", json=body, token=visitor).status_code == 404
    query = '{ repository(owner: "octo-org", name: "secret") { name } }'
    assert graphql(query)["data"]["repository"]["name"] == "secret"
    hidden = graphql(query, token=visitor)
    assert hidden["errors"][0]["type"] == "NOT_FOUND"
    narrow = grant(sandbox, "octocat", "issues:write", kind="fine-grained",
                   repositories=("octo-org/hello-service",))  # fmt: skip
    assert api("GET", SECRET, token=narrow).status_code == 404


def test_roles_are_told_and_given(api: Api, sandbox: Sandbox) -> None:
    """Collaborators, their permission in one word, and what somebody is to a repository."""
    path = f"{SECRET}/collaborators"
    people = {one["login"]: one["role_name"] for one in api("GET", path).json()}
    assert people == {"octocat": "write", "maria": "admin", "sam": "write", "guest": "read"}
    assert api("GET", f"{path}/guest").status_code == 204
    assert api("GET", f"{path}/visitor").status_code == 404
    assert api("GET", f"{path}/maria/permission").json()["permission"] == "admin"
    assert api("GET", f"{path}/visitor/permission").json()["permission"] == "none"
    given: dict[str, Any] = {"json": {"permission": "triage"}}
    assert api("PUT", f"{path}/visitor", **given).status_code == 403
    maria = grant(sandbox, "maria")
    assert api("PUT", f"{path}/visitor", token=maria, **given).status_code == 201
    assert api("PUT", f"{path}/visitor", token=maria, **given).status_code == 204
    assert api("GET", f"{path}/visitor/permission").json()["role_name"] == "triage"
    made = api("POST", f"{SECRET}/issues", json={"title": "x"}, token=grant(sandbox, "visitor"))
    assert made.json()["author_association"] == "COLLABORATOR"
    assert api("DELETE", f"{path}/visitor", token=maria).status_code == 204
    assert api("GET", SECRET, token=grant(sandbox, "visitor")).status_code == 404


def test_lists_of_repositories(api: Api, sandbox: Sandbox) -> None:
    """Of an organization, of a user, of one's own: each only what the token may see."""

    def names(path: str, **given: Any) -> list[str]:
        return [one["name"] for one in api("GET", path, **given).json()]

    assert set(names("/orgs/octo-org/repos")) == {"hello-service", "secret"}
    assert names("/orgs/octo-org/repos", params={"type": "private"}) == ["secret"]
    assert names("/orgs/octo-org/repos", token=grant(sandbox, "visitor")) == ["hello-service"]
    assert names("/user/repos") == ["hello-service", "secret"]
    assert names("/user/repos", token=grant(sandbox, "guest")) == ["secret"]
    assert names("/users/octocat/repos") == []


def test_a_repository_is_made_and_deleted(api: Api, sandbox: Sandbox) -> None:
    """POST makes an empty or a begun one with the default labels; its name is there once."""
    made = api("POST", "/user/repos", json={"name": "my tools", "private": True})
    assert made.status_code == 201
    assert (made.json()["full_name"], made.json()["visibility"]) == ("octocat/my-tools", "private")
    assert made.json()["permissions"]["admin"] is True
    empty = api("GET", "/repos/octocat/my-tools/commits")
    assert (empty.status_code, empty.json()["message"]) == (409, "Git Repository is empty.")
    assert len(api("GET", "/repos/octocat/my-tools/labels").json()) == 9
    again = api("POST", "/user/repos", json={"name": "My-Tools"})
    assert again.json()["errors"][0]["message"] == "name already exists on this account"
    begun = api("POST", "/orgs/octo-org/repos", json={"name": "begun", "auto_init": True})
    assert begun.status_code == 201
    assert api("GET", "/repos/octo-org/begun/readme").status_code == 200
    assert api("DELETE", "/repos/octocat/my-tools").status_code == 403
    may = grant(sandbox, "octocat")
    assert api("DELETE", "/repos/octocat/my-tools", token=may).status_code == 204
    assert api("GET", "/repos/octocat/my-tools").status_code == 404


def test_the_first_file_of_an_empty_repository(api: Api) -> None:
    """A repository without a commit gets one by writing a file into it."""
    api("POST", "/user/repos", json={"name": "fresh"})
    body = {"message": "Begin", "content": "aGkK"}
    assert api("PUT", "/repos/octocat/fresh/contents/hi.txt", json=body).status_code == 201
    assert len(api("GET", "/repos/octocat/fresh/commits").json()) == 1


def test_a_renamed_repository_is_followed(
    api: Api, graphql: Graph, sandbox: Sandbox, git: Callable[..., Any]
) -> None:
    """The old name is 301 for reading and 307 for writing, by number; GraphQL follows by itself."""
    maria = grant(sandbox, "maria")
    renamed = api("PATCH", "", json={"name": "greeter"}, token=maria)
    assert renamed.json()["full_name"] == "octo-org/greeter"
    number = renamed.json()["id"]
    plain = api("GET", "issues/42", allow_redirects=False)
    assert plain.status_code == 301
    assert plain.headers["Location"].endswith(f"/repositories/{number}/issues/42")
    assert plain.json()["message"] == "Moved Permanently"
    assert api("GET", "issues/42").json()["number"] == 42
    body = {"body": "Hello"}
    assert api("POST", "issues/42/comments", json=body, allow_redirects=False).status_code == 307
    assert api("POST", "issues/42/comments", json=body).status_code == 201
    assert api("GET", "/repos/octo-org/greeter").json()["id"] == number
    document = 'query { repository(owner: "octo-org", name: "hello-service") { nameWithOwner } }'
    assert graphql(document)["data"]["repository"]["nameWithOwner"] == "octo-org/greeter"
    ref = git("ls-remote", sandbox.info.git_url, "refs/heads/main").stdout
    assert ref.split()[0] == api("GET", "git/ref/heads/main").json()["object"]["sha"]
    strict = document.replace('service")', 'service", followRenames: false)')
    assert graphql(strict)["data"]["repository"] is None


def test_an_archived_repository_only_reads(api: Api, sandbox: Sandbox) -> None:
    """Every write but that of taking it out of the archive is 403 with GitHub's sentence."""
    maria = grant(sandbox, "maria")
    assert api("PATCH", "", json={"archived": True}, token=maria).json()["archived"] is True
    for path, body in (("issues", {"title": "x"}), ("git/refs", {}), ("labels", {"name": "x"})):
        answer = api("POST", path, json=body)
        assert answer.status_code == 403
        assert answer.json()["message"] == "Repository was archived so is read-only."
    assert api("GET", "issues").status_code == 200
    assert api("PATCH", "", json={"archived": False}, token=maria).status_code == 200
    assert api("POST", "labels", json={"name": "x"}).status_code == 201


def test_forks_are_repositories_of_their_own(api: Api, sandbox: Sandbox) -> None:
    """A fork has the same commits and its own issues; again gives the same; it can be synced."""
    visitor = grant(sandbox, "visitor")
    made = api("POST", "forks", json={}, token=visitor)
    assert made.status_code == 202
    fork = made.json()
    assert (fork["full_name"], fork["fork"]) == ("visitor/hello-service", True)
    assert fork["parent"]["full_name"] == fork["source"]["full_name"] == "octo-org/hello-service"
    assert api("POST", "forks", json={}, token=visitor).json()["id"] == fork["id"]
    assert [one["id"] for one in api("GET", "forks").json()] == [fork["id"]]
    path = "/repos/visitor/hello-service"
    theirs, ours = (api("GET", f"{one}/git/ref/heads/main").json()["object"]["sha"]
                    for one in (path, "/repos/octo-org/hello-service"))  # fmt: skip
    assert theirs == ours
    body = {"message": "Ahead", "content": "aGkK"}
    api("PUT", "contents/hi.txt", json=body)
    synced = api("POST", f"{path}/merge-upstream", json={"branch": "main"}, token=visitor).json()
    assert synced["merge_type"] == "fast-forward"
    none = api("POST", f"{path}/merge-upstream", json={"branch": "main"}, token=visitor).json()
    assert none["merge_type"] == "none"
    assert api("GET", "compare/main...visitor:main").json()["status"] == "identical"


def test_topics(api: Api, sandbox: Sandbox) -> None:
    """PUT replaces them, in lower case, each once."""
    body = {"names": ["Python", "python", "queue"]}
    assert api("PUT", "topics", json=body).status_code == 403
    set_ = api("PUT", "topics", json=body, token=grant(sandbox, "maria"))
    assert set_.json() == api("GET", "topics").json() == {"names": ["python", "queue"]}
