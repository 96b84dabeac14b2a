"""REST's operations on the collaborators and assignees of a repository."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.accounts.state import Role, User
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.base.times import now, stamp
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.repositories import payload as payloads
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

ASSIGNEES = "https://docs.github.com/rest/issues/assignees"
PERMISSIONS: dict[str, Role] = {
    "pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin",
}  # fmt: skip


def _people(repo: Repository) -> list[User]:
    """The users who work here: the owner, those with a role, and the owner's members who may push."""
    return [
        user
        for user in repo.world.users.values()
        if user.kind == "user"
        and (
            user is repo.owner
            or user.login.lower() in repo.roles
            or (user in repo.owner.members and repo.can_push(user))
        )
    ]


@route("GET", f"{REPO}/collaborators")
def list_collaborators(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/collaborators, for users who may push."""
    asking.only(call, "affiliation", "permission")
    demand_reader_of_roles(call, repo)
    which = asking.choice(call, "affiliation", "all", {"all", "direct", "outside"}, "Repository")
    people = _people(repo)
    if which == "outside":
        people = [
            user for user in people if user not in repo.owner.members and user is not repo.owner
        ]
    if which == "direct":
        people = [user for user in people if user.login.lower() in repo.roles or user is repo.owner]
    if permission := call.query.get("permission"):
        people = [user for user in people if payloads.permissions(repo, user).get(permission)]
    return call.paged(people, payloads.collaborator, repo)


def demand_reader_of_roles(call: Call, repo: Repository) -> None:
    """Raise 403 for a viewer who may not push: they may not read others' roles."""
    if not repo.can_push(call.viewer):
        raise ApiError(403, "Must have push access to view repository collaborators.")


@route(
    "GET",
    f"{REPO}/collaborators/<login>",
)
def check_collaborator(call: Call, repo: Repository, login: str) -> Reply:
    """GET /repos/O/R/collaborators/LOGIN: 204 or 404."""
    demand_reader_of_roles(call, repo)
    if call.world.user(login) not in _people(repo):
        raise asking.not_found()
    return Reply(204, None)


@route(
    "GET",
    f"{REPO}/collaborators/<login>/permission",
)
def get_permission(call: Call, repo: Repository, login: str) -> Reply:
    if not repo.can_push(call.viewer) and login.lower() != call.viewer.login.lower():
        raise ApiError(403, "Must have push access to view collaborator permission.")
    person = call.world.user(login)
    if person is None or person.kind == "organization":
        raise ApiError(404, f"{login} is not a user")
    return Reply(200, payloads.permission_of(call, repo, person))


@route(
    "PUT",
    f"{REPO}/collaborators/<login>",
    "administration:write",
)
def add_collaborator(call: Call, repo: Repository, login: str) -> Reply:
    """PUT /repos/O/R/collaborators/LOGIN {permission}: 204 for members and collaborators.

    For others GitHub answers 201 with an invitation; here it is accepted at once.
    """
    asking.demand_admin(call, repo)
    asking.fields(call, "permission")
    person = asking.user(call, login)
    wanted = asking.typed(call, "permission", str) or "push"
    if wanted not in PERMISSIONS or person.kind == "organization":
        raise ApiError(422, "Validation Failed")
    is_known = person in _people(repo) or person in repo.owner.members
    repo.roles[person.login.lower()] = PERMISSIONS[wanted]
    if is_known:
        return Reply(204, None)
    return Reply(201, _invitation(call, repo, person, PERMISSIONS[wanted]))


def _invitation(call: Call, repo: Repository, person: User, role: Role) -> dict[str, Any]:
    number, node = repo.new_id("RI")
    return {
        "id": number,
        "node_id": node,
        "repository": payloads.minimal(call, repo),
        "invitee": accounts.user(call, person),
        "inviter": accounts.user(call, call.viewer),
        "permissions": role,
        "created_at": stamp(now()),
        "expired": False,
        "url": f"{call.base}/user/repository_invitations/{number}",
        "html_url": f"{payloads.page_url(call, repo)}/invitations",
    }


@route(
    "DELETE",
    f"{REPO}/collaborators/<login>",
    "administration:write",
)
def remove_collaborator(call: Call, repo: Repository, login: str) -> Reply:
    asking.demand_admin(call, repo)
    repo.roles.pop(login.lower(), None)
    return Reply(204, None)


@route("GET", f"{REPO}/assignees")
def list_assignees(call: Call, repo: Repository) -> Reply:
    asking.only(call)
    users = [user for user in call.world.users.values() if issues.may_be_assigned(repo, user)]
    return call.paged(users, accounts.user)


def _demand_assignable(call: Call, repo: Repository, login: str) -> None:
    person = call.world.user(login)
    if person is None or not issues.may_be_assigned(repo, person):
        raise asking.not_found()


@route("GET", f"{REPO}/assignees/<login>")
def check_assignee(call: Call, repo: Repository, login: str) -> Reply:
    """GET /repos/O/R/assignees/LOGIN: 204 or 404."""
    _demand_assignable(call, repo, login)
    return Reply(204, None)


@route(
    "GET",
    f"{REPO}/issues/<int:number>/assignees/<login>",
    docs=f"{ASSIGNEES}#check-if-a-user-can-be-assigned",
)
def check_issue_assignee(call: Call, repo: Repository, number: int, login: str) -> Reply:
    """GET /repos/O/R/issues/N/assignees/LOGIN: 204 or 404."""
    asking.issue(repo, number)
    _demand_assignable(call, repo, login)
    return Reply(204, None)
