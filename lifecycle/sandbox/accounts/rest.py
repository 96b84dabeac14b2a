"""REST's operations on users and organizations."""

from __future__ import annotations

from lifecycle.sandbox.accounts import payload as payloads
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.wire.call import Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

ORGS = "https://docs.github.com/rest/orgs/orgs"
MEMBERS = "https://docs.github.com/rest/orgs/members"


def demand_person(call: Call) -> None:
    """Raise 403 for a token that belongs to no person: only a user's token may ask."""
    if call.token.is_integration:
        raise ApiError(403, call.token.refusal)


@route("GET", "/user")
def get_viewer(call: Call) -> Reply:
    """GET /user, only for a user's token."""
    demand_person(call)
    return Reply(200, payloads.viewer(call))


@route("GET", "/users/<login>")
def get_user(call: Call, login: str) -> Reply:
    """GET /users/LOGIN, for users, bots and organizations."""
    return Reply(200, payloads.public_user(call, asking.user(call, login)))


def _orgs_of(call: Call, person: User) -> list[User]:
    users = call.world.users.values()
    return [user for user in users if user.kind == "organization" and person in user.members]


@route("GET", "/users/<login>/orgs")
def list_user_orgs(call: Call, login: str) -> Reply:
    asking.only(call)
    person = asking.user(call, login)
    return call.paged(_orgs_of(call, person), payloads.organization)


@route("GET", "/user/orgs")
def list_viewer_orgs(call: Call) -> Reply:
    asking.only(call)
    demand_person(call)
    return call.paged(_orgs_of(call, call.viewer), payloads.organization)


def organization(
    call: Call, login: str, documentation: str = f"{ORGS}#get-an-organization"
) -> User:
    """The organization of that login, or 404; also 404 for a user."""
    account = asking.user(call, login, documentation=documentation)
    if account.kind != "organization":
        raise asking.not_found(documentation)
    return account


@route("GET", "/orgs/<org>")
def get_organization(call: Call, org: str) -> Reply:
    return Reply(200, payloads.full_organization(call, organization(call, org)))


@route("GET", "/orgs/<org>/members")
def list_members(call: Call, org: str) -> Reply:
    """GET /orgs/ORG/members, by role."""
    asking.only(call, "role")
    role = asking.choice(call, "role", "all", {"all", "admin", "member"}, "Organization")
    members = organization(call, org).members
    if role != "all":
        members = [member for member in members if (member.role == "admin") is (role == "admin")]
    return call.paged(members, payloads.user)


@route("GET", "/orgs/<org>/members/<login>", docs=MEMBERS)
def check_member(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/members/LOGIN: 204 or 404; other viewers are redirected to the public ones."""
    owner = organization(call, org)
    if call.viewer not in owner.members:
        url = f"{call.base}/orgs/{owner.login}/public_members/{login}"
        return Reply(302, None, {"Location": url})
    person = call.world.user(login)
    if person is None or person not in owner.members:
        message = "User does not exist or is not a member of the organization"
        raise ApiError(
            404, message, documentation=f"{MEMBERS}#check-organization-membership-for-a-user"
        )
    return Reply(204, None)


@route("GET", "/orgs/<org>/public_members/<login>", docs=MEMBERS)
def check_public_member(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/public_members/LOGIN: no membership is public in the sandbox."""
    organization(call, org)
    asking.user(call, login)
    raise asking.not_found(f"{MEMBERS}#check-public-organization-membership-for-a-user")


@route(
    "GET",
    "/orgs/<org>/memberships/<login>",
)
def get_membership(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/memberships/LOGIN, for members."""
    owner = organization(call, org)
    if call.viewer not in owner.members:
        message = "You must be a member of the organization to see membership information for other users."
        raise ApiError(403, message)
    person = call.world.user(login)
    if person is None or person not in owner.members:
        raise asking.not_found()
    return Reply(200, payloads.membership(call, owner, person))


@route(
    "GET",
    "/notifications",
)
def list_notifications(call: Call) -> Reply:
    """GET /notifications: there are none in the sandbox."""
    asking.only(call, "all", "participating", "since", "before")
    demand_person(call)
    return Reply(200, [])


@route("GET", "/users/<login>/received_events", docs="https://docs.github.com/rest/activity/events")
def list_received_events(call: Call, login: str) -> Reply:
    """GET /users/LOGIN/received_events: there are none, since nobody watches anything in the sandbox."""
    asking.only(call)
    asking.user(call, login)
    return Reply(200, [])
