"""Users, organizations and bots over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.wire.call import Call


TYPES = {"organization": "Organization", "bot": "Bot", "user": "User"}


def user(call: Call, person: User) -> dict[str, Any]:
    """A simple user."""
    url = f"{call.base}/users/{person.login}"
    return {
        "login": person.login,
        "id": person.id,
        "node_id": person.node_id,
        "avatar_url": f"{call.base}/avatars/u/{person.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{call.base}/{person.login}",
        "followers_url": f"{url}/followers",
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events{{/privacy}}",
        "type": TYPES[person.kind],
        "user_view_type": "public",
        "site_admin": False,
    }


def viewer(call: Call) -> dict[str, Any]:
    """The authenticated user."""
    return {**user(call, call.viewer), "name": call.viewer.name, "email": None, "bio": None}
