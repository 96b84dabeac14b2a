"""REST's operations on repositories: list, make, edit, rename, fork, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.sandbox.accounts.rest import demand_person, organization
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ApiError, invalid, wrong
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories import access, actions
from lifecycle.sandbox.repositories import payload as payloads
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

DOCS = "https://docs.github.com/rest/repos/repos"
SWITCHES = (
    "has_issues", "has_projects", "has_wiki", "is_template", "allow_squash_merge",
    "allow_merge_commit", "allow_rebase_merge", "allow_auto_merge", "delete_branch_on_merge",
    "allow_update_branch", "allow_forking",
)  # fmt: skip
SORTS: dict[str, Callable[[Repository], Any]] = {
    "full_name": lambda repo: repo.key,
    "created": lambda repo: (repo.created_at, repo.id),
    "updated": lambda repo: (repo.updated_at, repo.id),
    "pushed": lambda repo: (repo.pushed_at, repo.id),
}


@route("GET", REPO)
def get_repository(call: Call, repo: Repository) -> Reply:
    return Reply(200, payloads.full(call, repo))


def _listed(call: Call, pool: Iterable[Repository], sort: str) -> Reply:
    """A page of the repositories of `pool` that the token can see."""
    sort = asking.choice(call, "sort", sort, set(SORTS), "Repository")
    default = "asc" if sort == "full_name" else "desc"
    direction = asking.choice(call, "direction", default, {"asc", "desc"}, "Repository")
    visible = [repo for repo in pool if access.sees(call.token, repo)]
    visible.sort(key=SORTS[sort], reverse=direction == "desc")
    return call.paged(visible, payloads.minimal)


def _of(call: Call, owner: User) -> list[Repository]:
    return [repo for repo in call.world.repositories.values() if repo.owner is owner]


@route("GET", "/users/<login>/repos")
def list_user_repositories(call: Call, login: str) -> Reply:
    """GET /users/LOGIN/repos: the public ones; `type` selects the user's own or others'."""
    asking.only(call, "type", "sort", "direction")
    kind = asking.choice(call, "type", "owner", {"all", "owner", "member"}, "Repository")
    person = asking.user(call, login)
    own = [] if kind == "member" else _of(call, person)
    if kind != "owner":
        pool = call.world.repositories.values()
        own += [repo for repo in pool if repo not in own and person.login.lower() in repo.roles]
    return _listed(call, [repo for repo in own if not repo.is_private], "full_name")


@route("GET", "/orgs/<org>/repos")
def list_organization_repositories(call: Call, org: str) -> Reply:
    asking.only(call, "type", "sort", "direction")
    kinds = {"all", "public", "private", "forks", "sources", "member"}
    kind = asking.choice(call, "type", "all", kinds, "Repository")
    keep: dict[str, Callable[[Repository], bool]] = {
        "all": lambda _: True,
        "member": lambda repo: repo.can_push(call.viewer),
        "public": lambda repo: not repo.is_private,
        "private": lambda repo: repo.is_private,
        "forks": lambda repo: repo.parent is not None,
        "sources": lambda repo: repo.parent is None,
    }
    pool = _of(call, organization(call, org))
    return _listed(call, [repo for repo in pool if keep[kind](repo)], "created")


@route("GET", "/user/repos")
def list_viewer_repositories(call: Call) -> Reply:
    """GET /user/repos: those of which the token's owner is owner, collaborator or member."""
    asking.only(call, "visibility", "affiliation", "type", "sort", "direction")
    demand_person(call)
    if "type" in call.query and {"visibility", "affiliation"} & call.query.keys():
        message = "If you specify visibility or affiliation, you cannot specify type."
        raise ApiError(422, message, documentation=DOCS)
    visibility = asking.choice(
        call, "visibility", "all", {"all", "public", "private"}, "Repository"
    )
    kind = asking.choice(
        call, "type", "all", {"all", "owner", "public", "private", "member"}, "Repository"
    )
    wanted = set(call.query.get("affiliation", "owner,collaborator,organization_member").split(","))
    if kind in {"public", "private"}:
        visibility = kind
    elif kind != "all":
        wanted = {"owner"} if kind == "owner" else {"collaborator", "organization_member"}
    selection = [
        repo
        for repo in call.world.repositories.values()
        if access.affiliations(repo, call.viewer) & wanted
        and visibility in {"all", repo.visibility}
    ]
    return _listed(call, selection, "full_name")


@route(
    "POST",
    "/user/repos",
    "administration:write",
)
def create_for_viewer(call: Call) -> Reply:
    demand_person(call)
    return _create(call, call.viewer)


@route(
    "POST",
    "/orgs/<org>/repos",
    "administration:write",
)
def create_in_organization(call: Call, org: str) -> Reply:
    """POST /orgs/ORG/repos, for members."""
    owner = organization(call, org)
    if call.viewer not in owner.members and not call.token.is_integration:
        message = "You need admin access to the organization before adding a repository to it."
        raise ApiError(403, message)
    return _create(call, owner)


def _create(call: Call, owner: User) -> Reply:
    asking.fields(
        call, "name", "description", "homepage", "private", "visibility", "auto_init", *SWITCHES
    )
    name = actions.clean(asking.needed(call, "name", str))
    _check_name(call, owner, name)
    private = bool(asking.typed(call, "private", bool))
    visibility = asking.typed(call, "visibility", str)
    repo = actions.make(
        call.world,
        owner,
        name,
        description=asking.typed(call, "description", str),
        visibility="private" if private or visibility == "private" else "public",
        is_empty=not asking.typed(call, "auto_init", bool),
    )
    if owner.kind == "organization":
        repo.roles[call.viewer.login.lower()] = "admin"
    _switch(call, repo)
    return created(payloads.full(call, repo))


def _check_name(call: Call, owner: User, name: str) -> None:
    if not name:
        raise wrong("Repository", "missing_field", "name")
    if actions.is_taken(call.world, owner, name):
        error = {
            "resource": "Repository", "code": "custom", "field": "name",
            "message": "name already exists on this account",
        }  # fmt: skip
        raise invalid(error, message="Repository creation failed.")


def _switch(call: Call, repo: Repository) -> None:
    """Set the switches, the description and the homepage given in the body."""
    for name in SWITCHES:
        value = asking.typed(call, name, bool)
        if value is not None:
            setattr(repo, name, value)
    if not (repo.allow_merge_commit or repo.allow_squash_merge or repo.allow_rebase_merge):
        repo.allow_merge_commit = True
        raise wrong(
            "Repository",
            "custom",
            "merge_commit_allowed",
            "Sorry, you need to allow at least one merge strategy. (no_merge_method)",
        )
    for name in ("description", "homepage"):
        if name in call.body:
            setattr(repo, name, asking.typed(call, name, str))
    repo.updated_at = now()


@route("PATCH", REPO, "administration:write")
def edit_repository(call: Call, repo: Repository) -> Reply:
    """PATCH /repos/O/R, for its admins: may also rename, archive or unarchive it."""
    asking.demand_admin(call, repo)
    asking.fields(
        call, "name", "description", "homepage", "private", "visibility", "default_branch",
        "archived", *SWITCHES,
    )  # fmt: skip
    archived = asking.typed(call, "archived", bool)
    if repo.archived and archived is not False:
        raise ApiError(403, "Repository was archived so is read-only.")
    branch = asking.typed(call, "default_branch", str)
    if branch is not None and f"refs/heads/{branch}" not in repo.git.refs():
        raise wrong("Repository", "invalid", "default_branch")
    wanted = asking.typed(call, "name", str)
    name = actions.clean(wanted) if wanted is not None else repo.name
    if name.lower() != repo.name.lower():
        _check_name(call, repo.owner, name)
    _switch(call, repo)
    if branch is not None:
        repo.default_branch = repo.git.default_branch = branch
        repo.git.text("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    private = asking.typed(call, "private", bool)
    visibility = asking.typed(call, "visibility", str)
    if private is not None or visibility in {"public", "private"}:
        repo.visibility = "private" if private or visibility == "private" else "public"
    if archived is not None:
        repo.archived = archived
    if name != repo.name:
        actions.rename(repo, name)
    return Reply(200, payloads.full(call, repo))


@route("DELETE", REPO, "administration:write")
def delete_repository(call: Call, repo: Repository) -> Reply:
    """DELETE /repos/O/R, for its admins.

    A classic token needs the scope `delete_repo`.
    """
    lacks = call.token.kind == "classic" and "delete_repo" not in call.token.scopes
    if lacks or repo.role_of(call.viewer) != "admin":
        raise asking.forbidden()
    actions.delete(repo)
    return Reply(204, None)


@route("GET", f"{REPO}/forks")
def list_forks(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/forks, newest first."""
    asking.only(call, "sort")
    sort = asking.choice(
        call, "sort", "newest", {"newest", "oldest", "stargazers", "watchers"}, "Repository"
    )
    forks = [fork for fork in repo.forks if access.sees(call.token, fork)]
    forks.sort(key=lambda fork: (fork.created_at, fork.id), reverse=sort != "oldest")
    return call.paged(forks, payloads.minimal)


@route("POST", f"{REPO}/forks")
def create_fork(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/forks: 202; here the fork exists at once. A second call returns the same fork."""
    asking.fields(call, "organization", "name", "default_branch_only")
    demand_person(call)
    owner = call.viewer
    wanted = asking.typed(call, "organization", str)
    if wanted is not None:
        owner = organization(call, wanted)
        if call.viewer not in owner.members:
            raise asking.forbidden()
    if owner is repo.owner:
        raise ApiError(403, "You cannot fork a repository to the account that owns it.")
    asked = asking.typed(call, "name", str)
    name = actions.clean(asked) if asked else repo.name
    has_fork = any(fork.owner is owner for fork in repo.forks)
    while actions.is_taken(call.world, owner, name) and not has_fork:
        name += "-1"
    only = bool(asking.typed(call, "default_branch_only", bool))
    new_fork = actions.fork(repo, owner, name, default_only=only)
    return Reply(202, payloads.full(call, new_fork))


@route("GET", f"{REPO}/topics")
def get_topics(call: Call, repo: Repository) -> Reply:
    asking.only(call)
    return Reply(200, {"names": list(repo.topics)})


@route("PUT", f"{REPO}/topics", "administration:write")
def set_topics(call: Call, repo: Repository) -> Reply:
    """PUT /repos/O/R/topics {names}: replaces the topics, in lower case."""
    asking.demand_admin(call, repo)
    asking.fields(call, "names")
    names = asking.needed(call, "names", list)
    if len(names) > 20 or any(not isinstance(name, str) or len(name) > 50 for name in names):
        message = "A repository cannot have more than 20 topics of at most 50 characters."
        raise ApiError(422, message)
    repo.topics = list(dict.fromkeys(name.lower() for name in names))
    return Reply(200, {"names": list(repo.topics)})
