"""REST's operations on the API's root and a token's limits."""

from __future__ import annotations

from lifecycle.sandbox.wire import limits
from lifecycle.sandbox.wire.call import Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

PAGED = "{?q,page,per_page,sort,order}"
ROOT = {
    "current_user_url": "/user",
    "authorizations_url": "/authorizations",
    "code_search_url": f"/search/code{PAGED}",
    "commit_search_url": f"/search/commits{PAGED}",
    "emails_url": "/user/emails",
    "emojis_url": "/emojis",
    "events_url": "/events",
    "feeds_url": "/feeds",
    "followers_url": "/user/followers",
    "following_url": "/user/following{/target}",
    "gists_url": "/gists{/gist_id}",
    "hub_url": "/hub",
    "issue_search_url": f"/search/issues{PAGED}",
    "issues_url": "/issues",
    "keys_url": "/user/keys",
    "label_search_url": "/search/labels{?q,repository_id,page,per_page}",
    "notifications_url": "/notifications",
    "organization_url": "/orgs/{org}",
    "organization_repositories_url": "/orgs/{org}/repos{?type,page,per_page,sort}",
    "organization_teams_url": "/orgs/{org}/teams",
    "public_gists_url": "/gists/public",
    "rate_limit_url": "/rate_limit",
    "repository_url": "/repos/{owner}/{repo}",
    "repository_search_url": f"/search/repositories{PAGED}",
    "current_user_repositories_url": "/user/repos{?type,page,per_page,sort}",
    "starred_url": "/user/starred{/owner}{/repo}",
    "starred_gists_url": "/gists/starred",
    "topic_search_url": "/search/topics{?q,page,per_page}",
    "user_url": "/users/{user}",
    "user_organizations_url": "/user/orgs",
    "user_repositories_url": "/users/{user}/repos{?type,page,per_page,sort}",
    "user_search_url": f"/search/users{PAGED}",
}
"""Source: https://docs.github.com/rest/meta/meta#github-api-root"""


@route("GET", "/")
def get_root(call: Call) -> Reply:
    """GET /: the addresses of everything."""
    addresses = {name: f"{call.base}{path}" for name, path in ROOT.items()}
    page = f"{call.web}/settings/connections/applications{{/client_id}}"
    return Reply(200, {**addresses, "current_user_authorizations_html_url": page})


@route("GET", "/rate_limit")
def get_rate_limit(call: Call) -> Reply:
    """GET /rate_limit, for every token, and without counting against it."""
    asking.only(call)
    return Reply(200, limits.budgets(call.token, call.reset))
