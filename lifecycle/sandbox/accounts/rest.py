"""Users and organizations."""

from __future__ import annotations

from lifecycle.sandbox.accounts import payload as payloads
from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.wire.call import Call, Reply, Route
from lifecycle.sandbox.wire.rest import asking

USERS = "https://docs.github.com/rest/users/users"
ORGS = "https://docs.github.com/rest/orgs/orgs"
MEMBERS = "https://docs.github.com/rest/orgs/members"


def demand_person(call: Call, documentation: str) -> None:
    """403 for a token that is nobody's: only a user's token may ask."""
    if call.token.is_integration:
        raise ApiError(403, call.token.refusal, documentation=documentation)


def get_viewer(call: Call) -> Reply:
    """GET /user, which only a user's token may ask."""
    demand_person(call, f"{USERS}#get-the-authenticated-user")
    return Reply(200, payloads.viewer(call))


def get_user(call: Call, login: str) -> Reply:
    """GET /users/LOGIN, of users, bots and organizations."""
    return Reply(200, payloads.public_user(call, asking.user(call, login, f"{USERS}#get-a-user")))


def _orgs_of(call: Call, person: User) -> list[User]:
    users = call.world.users.values()
    return [one for one in users if one.kind == "organization" and person in one.members]


def list_user_orgs(call: Call, login: str) -> Reply:
    """GET /users/LOGIN/orgs."""
    asking.only(call)
    person = asking.user(call, login, f"{ORGS}#list-organizations-for-a-user")
    return call.paged(_orgs_of(call, person), payloads.organization)


def list_viewer_orgs(call: Call) -> Reply:
    """GET /user/orgs."""
    asking.only(call)
    demand_person(call, f"{ORGS}#list-organizations-for-the-authenticated-user")
    return call.paged(_orgs_of(call, call.viewer), payloads.organization)


def organization(
    call: Call, login: str, documentation: str = f"{ORGS}#get-an-organization"
) -> User:
    """The organization of that login, or 404; a user is none."""
    found = asking.user(call, login, documentation)
    if found.kind != "organization":
        raise asking.not_found(documentation)
    return found


def get_organization(call: Call, org: str) -> Reply:
    """GET /orgs/ORG."""
    return Reply(200, payloads.full_organization(call, organization(call, org)))


def list_members(call: Call, org: str) -> Reply:
    """GET /orgs/ORG/members, by role."""
    asking.only(call, "role")
    role = asking.choice(call, "role", "all", {"all", "admin", "member"}, "Organization")
    found = organization(call, org).members
    if role != "all":
        found = [one for one in found if (one.role == "admin") is (role == "admin")]
    return call.paged(found, payloads.user)


def check_member(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/members/LOGIN: 204 or 404; who is no member is sent to the public ones."""
    owner = organization(call, org, MEMBERS)
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


def check_public_member(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/public_members/LOGIN: nobody publishes a membership in the sandbox."""
    organization(call, org, MEMBERS)
    asking.user(call, login, MEMBERS)
    raise asking.not_found(f"{MEMBERS}#check-public-organization-membership-for-a-user")


def get_membership(call: Call, org: str, login: str) -> Reply:
    """GET /orgs/ORG/memberships/LOGIN, for members."""
    documentation = f"{MEMBERS}#get-organization-membership-for-a-user"
    owner = organization(call, org, documentation)
    if call.viewer not in owner.members:
        message = "You must be a member of the organization to see membership information for other users."
        raise ApiError(403, message, documentation=documentation)
    person = call.world.user(login)
    if person is None or person not in owner.members:
        raise asking.not_found(documentation)
    return Reply(200, payloads.membership(call, owner, person))


def list_notifications(call: Call) -> Reply:
    """GET /notifications: nobody is notified in the sandbox."""
    asking.only(call, "all", "participating", "since", "before")
    documentation = "https://docs.github.com/rest/activity/notifications"
    demand_person(call, f"{documentation}#list-notifications-for-the-authenticated-user")
    return Reply(200, [])


def list_received_events(call: Call, login: str) -> Reply:
    """GET /users/LOGIN/received_events: nobody watches anything in the sandbox."""
    asking.only(call)
    asking.user(call, login, "https://docs.github.com/rest/activity/events")
    return Reply(200, [])


ROUTES = (
    Route("GET", "/user", get_viewer),
    Route("GET", "/user/orgs", list_viewer_orgs),
    Route("GET", "/users/<login>", get_user),
    Route("GET", "/users/<login>/orgs", list_user_orgs),
    Route("GET", "/users/<login>/received_events", list_received_events),
    Route("GET", "/orgs/<org>", get_organization),
    Route("GET", "/orgs/<org>/members", list_members),
    Route("GET", "/orgs/<org>/members/<login>", check_member),
    Route("GET", "/orgs/<org>/public_members/<login>", check_public_member),
    Route("GET", "/orgs/<org>/memberships/<login>", get_membership),
    Route("GET", "/notifications", list_notifications),
)
