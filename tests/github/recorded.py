"""How GitHub says no, as it was recorded in public: status, headers, body, and where that is found.

Written from the recordings, not copied: identifiers are made up, headers that no table reads are left
out. "PyGithub" names a file of tests/ReplayData in its source distribution, which holds real traffic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lifecycle.core.errors import (
    BadCredentials,
    ItemArchived,
    LifecycleError,
    MissingScope,
    Moved,
    NoPermission,
    NotFound,
    PullRequestExists,
    Rejected,
    StaleFields,
    Transient,
    Unsupported,
)

DATE = "Sat, 31 Jan 2026 12:00:00 GMT"
LATER = "1769860890"
"""Ninety seconds after DATE."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One answer.

    Attributes:
        name: what it is.
        source: where it was recorded.
        status, headers, body: the answer; a body that is no object or list is sent as it stands.
        leaf: the error that it has to become, exactly.
        words: what the sentence has to say.
        is_write: what was asked was a write.
        wait: how long a Transient has to wait, None if the server named no time.
        evidence: GitHub's words that the error has to keep, "" for none.
    """

    name: str
    source: str
    status: int
    body: Any
    leaf: type[LifecycleError]
    words: str
    is_write: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    wait: float | None = None
    evidence: str = ""


HTML_503 = "<html><body><h1>503 Service Unavailable</h1>No server is available.</body></html>"
UNICORN = "<!DOCTYPE html><html><title>Unicorn! &middot; GitHub</title><p>too long</p></html>"
SECONDARY = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content "
    "creation. Please retry your request again later."
)
SPENT = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": LATER}
LEFT = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4987", "x-ratelimit-reset": LATER}


def said(message: str, page: str = "https://docs.github.com/rest", **more: Any) -> dict[str, Any]:
    """A body with a message."""
    return {"message": message, "documentation_url": page, **more}


REST = (
    Recorded(
        "bad credentials",
        "PyGithub: SpecificExceptions.testBadCredentials",
        401,
        {"message": "Bad credentials"},
        BadCredentials,
        "does not accept the token",
        evidence="Bad credentials",
    ),
    Recorded(
        "no token at all",
        "https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api",
        401,
        said("Requires authentication", status="401"),
        BadCredentials,
        "GH_TOKEN",
        evidence="Requires authentication",
    ),
    Recorded(
        "a permission that is missing",
        "PyGithub: Repository.testCollaboratorPermissionNoPushAccess",
        403,
        said("Must have push access to view collaborator permission."),
        NoPermission,
        "no permission",
        evidence="Must have push access to view collaborator permission.",
        headers=LEFT,
    ),
    Recorded(
        "somebody who administers it is needed",
        "PyGithub: WorkflowRun.test_rerun_with_successful_run",
        403,
        said("Must have admin rights to Repository."),
        NoPermission,
        "GitHub: Must have admin rights to Repository)",
        is_write=True,
        evidence="Must have admin rights to Repository.",
    ),
    Recorded(
        "an archived repository",
        "https://github.com/r-universe-org/help/issues/247",
        403,
        said("Repository was archived so is read-only."),
        Rejected,
        "archived on GitHub",
        is_write=True,
        evidence="Repository was archived so is read-only.",
    ),
    Recorded(
        "the hour of an address without a token is spent",
        "PyGithub: SpecificExceptions.testRateLimitExceeded",
        403,
        {"message": "API Rate Limit Exceeded for 192.0.2.1"},
        Transient,
        "rate limit",
        headers={"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0"},
        wait=60,
        evidence="API Rate Limit Exceeded for 192.0.2.1",
    ),
    Recorded(
        "the hour of a token is spent",
        "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api",
        403,
        said("API rate limit exceeded for user ID 1."),
        Transient,
        "again in 90 seconds",
        headers=SPENT,
        wait=90,
        evidence="API rate limit exceeded for user ID 1.",
    ),
    Recorded(
        "abuse detection, without a time",
        "PyGithub: SpecificExceptions.testAuthenticatedRateLimitExceeded",
        403,
        said("You have triggered an abuse detection mechanism. Please wait a few minutes."),
        Transient,
        "rate limit",
        is_write=True,
        headers=LEFT,
        wait=60,
        evidence="abuse detection mechanism",
    ),
    Recorded(
        "a secondary limit for what creates, without Retry-After",
        "https://github.com/octokit/rest.js/issues/127",
        403,
        said(SECONDARY),
        Transient,
        "nothing was changed",
        is_write=True,
        headers=LEFT,
        wait=60,
        evidence="secondary rate limit",
    ),
    Recorded(
        "a secondary limit with Retry-After, which comes before the reset",
        "https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api",
        429,
        said(SECONDARY),
        Transient,
        "again in 17 seconds",
        is_write=True,
        headers={**SPENT, "Retry-After": "17"},
        wait=17,
    ),
    Recorded(
        "a Retry-After that nobody can read",
        "https://www.rfc-editor.org/rfc/rfc9110#field.retry-after",
        429,
        said("Too many requests"),
        Transient,
        "rate limit",
        headers={"Retry-After": "soon"},
        wait=60,
    ),
    Recorded(
        "content that came too fast, as a 422",
        "https://github.com/cli/cli/issues/4801",
        422,
        said(
            "Validation Failed", errors=[{"code": "custom", "message": "was submitted too quickly"}]
        ),
        Transient,
        "rate limit",
        is_write=True,
        wait=60,
        evidence="was submitted too quickly",
    ),
    Recorded(
        "nothing there",
        "PyGithub: SpecificExceptions.testUnknownObject",
        404,
        {"message": "Not Found"},
        NotFound,
        "sees no issue #7",
        evidence="Not Found",
    ),
    Recorded(
        "a 404 to a write, which hides a permission",
        "https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api",
        404,
        said("Not Found", status="404"),
        NoPermission,
        "it needs issues=write",
        is_write=True,
        headers={"X-Accepted-GitHub-Permissions": "issues=write"},
        evidence="Not Found",
    ),
    Recorded(
        "the base moved during the merge",
        "https://github.com/NixOS/nixpkgs-merge-bot/issues/179",
        405,
        said("Base branch was modified. Review and try the merge again.", status="405"),
        Transient,
        "Try again",
        is_write=True,
        evidence="Base branch was modified",
    ),
    Recorded(
        "required checks are expected, though all are green: the branch is behind",
        "https://github.com/RakuenSoftware/aimee/pull/2460",
        405,
        said("6 of 6 required status checks are expected.", status="405"),
        Rejected,
        "(405): 6 of 6 required status checks are expected",
        is_write=True,
        evidence="6 of 6 required status checks are expected.",
    ),
    Recorded(
        "a merge conflict",
        "PyGithub: Repository.testMergeWithConflict",
        409,
        {"message": "Merge conflict"},
        Rejected,
        "(409): Merge conflict",
        is_write=True,
        evidence="Merge conflict",
    ),
    Recorded(
        "issues that are switched off",
        "https://docs.github.com/rest/issues/issues#create-an-issue",
        410,
        said("Issues are disabled for this repo"),
        NotFound,
        "issues are disabled",
        is_write=True,
        evidence="Issues are disabled for this repo",
    ),
    Recorded(
        "an issue that was deleted",
        "https://docs.github.com/rest/issues/issues#get-an-issue",
        410,
        said("This issue was deleted"),
        NotFound,
        "is gone",
        evidence="This issue was deleted",
    ),
    Recorded(
        "details as texts, not objects",
        "PyGithub: Branch.testEditProtectionPushRestrictionsWithUserOwnedBranch",
        422,
        said(
            "Validation Failed",
            errors=["Only organization repositories can have users and team restrictions"],
        ),
        Rejected,
        "Validation Failed: Only organization repositories",
        is_write=True,
        evidence="Only organization repositories can have users",
    ),
    Recorded(
        "details as objects",
        "PyGithub: Exceptions.testInvalidInput",
        422,
        said(
            "Validation Failed",
            errors=[{"field": "key", "resource": "PublicKey", "code": "custom", "message": "bad"}],
        ),
        Rejected,
        "Validation Failed: bad",
        is_write=True,
        evidence="Validation Failed: bad",
    ),
    Recorded(
        "a message without details",
        "PyGithub: Repository.testTransferOwnershipInvalidOwner",
        422,
        said("Invalid new_owner", status="422"),
        Rejected,
        "(422): Invalid new_owner",
        is_write=True,
        evidence="Invalid new_owner",
    ),
    Recorded(
        "a pull request that is there",
        "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        422,
        said(
            "Validation Failed",
            errors=[
                {
                    "resource": "PullRequest",
                    "code": "custom",
                    "message": "A pull request already exists for octo-org:work.",
                }
            ],
        ),
        PullRequestExists,
        "already",
        is_write=True,
        evidence="A pull request already exists for octo-org:work.",
    ),
    Recorded(
        "blocked for legal reasons",
        "https://github.com/github/rest-api-description/issues/3314",
        451,
        said(
            "Repository access blocked",
            block={"reason": "dmca", "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x"},
        ),
        Rejected,
        "for legal reasons (451)",
        evidence="Repository access blocked",
    ),
    Recorded(
        "a 503 as HTML",
        "PyGithub: Exceptions.testNonJsonDataReturnedByGithub",
        503,
        HTML_503,
        Transient,
        "an internal problem (503)",
    ),
    Recorded(
        "a 502 as HTML after a write, which may have landed",
        "https://github.com/travisbrown/octocrabby/pull/21",
        502,
        UNICORN,
        Transient,
        "may have been done",
        is_write=True,
    ),
    Recorded(
        "a 502 as JSON",
        "https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api",
        502,
        said("Server Error"),
        Transient,
        "(502)",
        evidence="Server Error",
    ),
    Recorded(
        "a 500 that names a time",
        "PyGithub: Retry.testReturnsRepoAfter3Retries",
        503,
        said("Service Unavailable"),
        Transient,
        "(503)",
        headers={"Retry-After": "5"},
        wait=5,
        evidence="Service Unavailable",
    ),
    Recorded(
        "a body that breaks off",
        "https://github.com/ExpediaGroup/github-helpers/issues/153",
        200,
        '{"number": 7, "title": "Do i',
        Transient,
        "cannot be read",
    ),
    Recorded(
        "a page where JSON should be",
        "PyGithub: Exceptions.testNonJsonDataReturnedByGithub",
        200,
        "<html><body>Sign in</body></html>",
        Transient,
        "cannot be read",
        is_write=True,
    ),
    Recorded(
        "a write to a renamed repository",
        "https://github.com/18F/charlie/pull/85",
        307,
        said("Moved Permanently", url="https://api.github.com/repositories/29991068/issues"),
        Moved,
        "lifecycle doctor has the command",
        is_write=True,
        evidence="octo-org/renamed",
    ),
)


def problem(kind: str, message: str, *path: str | int, **more: Any) -> dict[str, Any]:
    """A GraphQL body with one problem and no data."""
    entry: dict[str, Any] = {"message": message, **more}
    entry |= {"type": kind} if kind else {}
    entry |= {"path": list(path), "locations": [{"line": 1, "column": 1}]} if path else {}
    return {"data": None, "errors": [entry]}


GRAPHQL = (
    Recorded(
        "the hour's points are spent, told as RATE_LIMITED",
        "https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api",
        200,
        problem("RATE_LIMITED", "API rate limit exceeded for user ID 1."),
        Transient,
        "again in 90 seconds",
        headers=SPENT,
        wait=90,
        evidence="API rate limit exceeded",
    ),
    Recorded(
        "the same, told as RATE_LIMIT, without a word about data",
        "https://github.com/yanyongyu/githubkit/issues/271",
        200,
        {
            "errors": [
                {
                    "type": "RATE_LIMIT",
                    "code": "graphql_rate_limit",
                    "message": "API rate limit already exceeded for user ID 1.",
                }
            ]
        },
        Transient,
        "again in 90 seconds",
        headers=SPENT,
        wait=90,
        evidence="already exceeded",
    ),
    Recorded(
        "a limit although points are left: a minute",
        "https://github.com/release-drafter/release-drafter/issues/1018",
        200,
        problem("RATE_LIMITED", "API rate limit exceeded for installation ID 1."),
        Transient,
        "again in 60 seconds",
        headers={**LEFT, "x-ratelimit-remaining": "4"},
        wait=60,
    ),
    Recorded(
        "a secondary limit as a 403",
        "https://github.com/checkmarx-ltd/cx-flow/pull/1078",
        403,
        said(SECONDARY),
        Transient,
        "rate limit",
        is_write=True,
        headers={"Retry-After": "11"},
        wait=11,
        evidence="secondary rate limit",
    ),
    Recorded(
        "was submitted too quickly",
        "https://github.com/cli/cli/issues/4801",
        200,
        problem("UNPROCESSABLE", "was submitted too quickly", "addComment"),
        Transient,
        "rate limit",
        is_write=True,
        wait=60,
        evidence="was submitted too quickly",
    ),
    Recorded(
        "a query that cost too much: parts are null",
        "https://github.com/yoshi389111/github-profile-3d-contrib/issues/163",
        200,
        {
            "data": {"repository": {"pullRequests": None}},
            "errors": [
                {
                    "type": "RESOURCE_LIMITS_EXCEEDED",
                    "path": ["repository", "pullRequests"],
                    "message": "Resource limits for this query exceeded.",
                }
            ],
        },
        Transient,
        "for lack of resources",
        evidence="Resource limits for this query exceeded.",
    ),
    Recorded(
        "an outage inside a 200",
        "https://github.com/anuraghazra/github-readme-stats/issues/1772",
        200,
        problem(
            "",
            "Something went wrong while executing your query. This may be the result of a timeout, "
            "or it could be a GitHub bug. Please include `0000:0000` when reporting this issue.",
        ),
        Transient,
        "may have been done",
        is_write=True,
        evidence="Something went wrong while executing your query.",
    ),
    Recorded(
        "an outage as a 502 whose body has errors",
        "https://github.com/apache/devlake/issues/4349",
        502,
        {"data": None, "errors": [{"message": "Something went wrong while executing your query."}]},
        Transient,
        "(502)",
    ),
    Recorded(
        "an outage whose data is a word",
        "https://github.com/magit/forge/issues/65",
        502,
        {
            "data": "null",
            "errors": [{"message": "Something went wrong while executing your query."}],
        },
        Transient,
        "(502)",
    ),
    Recorded(
        "an outage as a 504 without a body",
        "https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api",
        504,
        "",
        Transient,
        "(504)",
    ),
    Recorded(
        "a body that breaks off",
        "https://github.com/ExpediaGroup/github-helpers/issues/153",
        200,
        '{"data": {"repository": {"nameWith',
        Transient,
        "cannot be read",
    ),
    Recorded(
        "no such node",
        "PyGithub: GraphQl.testNode",
        200,
        {
            "data": {"node": None},
            "errors": [
                {
                    "type": "NOT_FOUND",
                    "path": ["node"],
                    "locations": [{"line": 3, "column": 15}],
                    "message": "Could not resolve to a node with the global id of 'D_abcdefgh'",
                }
            ],
        },
        NotFound,
        "sees no",
        evidence="Could not resolve to a node",
    ),
    Recorded(
        "auto-merge that the repository does not allow",
        "PyGithub: PullRequest.testEnableAutomergeError",
        200,
        problem(
            "UNPROCESSABLE",
            "Pull request Auto merge is not allowed for this repository",
            "enablePullRequestAutoMerge",
        ),
        Rejected,
        "Auto merge is not allowed",
        is_write=True,
        evidence="Pull request Auto merge is not allowed for this repository",
    ),
    Recorded(
        "two agents add at once: the place in the list",
        "https://github.com/actions/add-to-project/issues/89",
        200,
        problem(
            "UNPROCESSABLE",
            "Prioritization The priority you are attempting to set for this record is not unique",
            "addProjectV2ItemById",
        ),
        Transient,
        "at the same moment",
        is_write=True,
        evidence="is not unique",
    ),
    Recorded(
        "two agents add at once: the content",
        "https://github.com/gr2m/github-project/issues/89",
        200,
        problem("UNPROCESSABLE", "Content already exists in this project", "addProjectV2ItemById"),
        Transient,
        "at the same moment",
        is_write=True,
        evidence="Content already exists in this project",
    ),
    Recorded(
        "an option that was renamed",
        "https://github.com/leonsteinhaeuser/project-beta-automations/issues/58",
        200,
        problem(
            "VALIDATION",
            "The single select option Id does not belong to the field",
            "updateProjectV2ItemFieldValue",
        ),
        StaleFields,
        "read again",
        is_write=True,
        evidence="does not belong to the field",
    ),
    Recorded(
        "an archived card",
        "https://github.com/gr2m/github-project/issues/96",
        200,
        problem(
            "UNPROCESSABLE",
            "The item is archived and cannot be updated",
            "updateProjectV2ItemFieldValue",
        ),
        ItemArchived,
        "archived",
        is_write=True,
        evidence="The item is archived and cannot be updated",
    ),
    Recorded(
        "a classic token without the scope for boards",
        "https://github.com/cli/cli/issues/11308",
        200,
        problem(
            "INSUFFICIENT_SCOPES",
            "Your token has not been granted the required scopes to execute this query. The 'title' "
            "field requires one of the following scopes: ['read:project'], but your token has only "
            "been granted the: ['repo'] scopes.",
        ),
        MissingScope,
        "gh auth refresh -s project",
        evidence="['read:project']",
    ),
    Recorded(
        "a fine-grained token that may not",
        "https://github.com/cli/cli/issues/12597",
        200,
        problem(
            "FORBIDDEN",
            "Resource not accessible by personal access token",
            "repository",
            extensions={"saml_failure": False},
        ),
        NoPermission,
        "no permission",
        evidence="Resource not accessible by personal access token",
    ),
    Recorded(
        "single sign-on that the token was not authorized for",
        "https://github.com/fwouts/prmonitor/issues/1042",
        200,
        problem(
            "FORBIDDEN",
            "Resource protected by organization SAML enforcement. You must grant your Personal "
            "Access token access to this organization.",
            "repository",
            extensions={"saml_failure": True},
        ),
        NoPermission,
        "single sign-on",
        evidence="SAML enforcement",
    ),
    Recorded(
        "a field that an older server does not know",
        "https://github.com/supabitapp/supacode/pull/352",
        200,
        {
            "errors": [
                {
                    "path": ["query ObserveBranch", "repository", "mergeQueueEntry"],
                    "extensions": {
                        "code": "undefinedField",
                        "typeName": "PullRequest",
                        "fieldName": "mergeQueueEntry",
                    },
                    "locations": [{"line": 1, "column": 1}],
                    "message": "Field 'mergeQueueEntry' doesn't exist on type 'PullRequest'",
                }
            ]
        },
        Unsupported,
        "does not support",
        evidence="Field 'mergeQueueEntry' doesn't exist",
    ),
    Recorded(
        "bad credentials",
        "PyGithub: SpecificExceptions.testBadCredentials",
        401,
        said("Bad credentials"),
        BadCredentials,
        "does not accept the token",
        evidence="Bad credentials",
    ),
)
