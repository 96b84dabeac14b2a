"""People, organizations, Apps, search and limits."""

from __future__ import annotations

from tests.clients.rows.form import Row, gone
from tests.clients.world import APP, INSTALLATION, INSTALLED

ACCOUNTS = (
    Row("meta/root"),
    Row("rate-limit/get"),
    Row("users/get-authenticated"),
    Row("users/get-by-username", lambda _: {"username": "sam"}),
    Row("orgs/get", lambda _: {"org": "octo-org"}),
    Row("orgs/list-members", lambda _: {"org": "octo-org"}),
    Row("orgs/list-for-authenticated-user"),
    Row("repos/list-for-org", lambda _: {"org": "octo-org"}),
    Row("repos/list-for-user", lambda _: {"username": "maria"}),
    Row("repos/list-for-authenticated-user"),
    Row("issues/list", lambda _: {"filter_": "all"}),
    Row("issues/list-for-authenticated-user"),
    Row("issues/list-for-org", lambda _: {"org": "octo-org"}),
    Row("search/issues-and-pull-requests", lambda _: {"q": "repo:octo-org/hello-service race"}),
    Row("search/repos", lambda _: {"q": "hello-service"}),
    Row("orgs/list-for-user", lambda _: {"username": "sam"}),
    gone("orgs/check-membership-for-user", lambda _: {"org": "octo-org", "username": "sam"}),
    Row("orgs/get-membership-for-user", lambda _: {"org": "octo-org", "username": "sam"}),
    # Whose membership is not public is not found: https://docs.github.com/rest/orgs/members
    Row("orgs/check-public-membership-for-user", lambda _: {
        "org": "octo-org", "username": "sam"}, 404, parsed=False),
    Row("activity/list-notifications-for-authenticated-user"),
    Row("activity/list-received-events-for-user", lambda _: {"username": "maria"}),
    Row("apps/get-authenticated", token=APP),
    Row("apps/list-installations", token=APP),
    Row("apps/get-installation", lambda _: {"installation_id": INSTALLATION}, token=APP),
    Row("apps/create-installation-access-token", lambda _: {"installation_id": INSTALLATION}, 201,
        APP),
    Row("apps/get-repo-installation", token=APP),
    Row("apps/list-repos-accessible-to-installation", token=INSTALLED),
)  # fmt: skip
