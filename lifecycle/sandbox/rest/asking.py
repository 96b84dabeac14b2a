"""What handlers ask of a request: parameters, fields of the body, things by number.

What the real one would do and this one cannot is refused with 501 and a sentence, never silently
ignored: a client must not learn from the sandbox what is not true of GitHub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.sandbox.errors import ApiError, invalid

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.pulls import PullRequest
    from lifecycle.sandbox.state.repositories import Repository
    from lifecycle.sandbox.wire.call import Call

ISSUES = "https://docs.github.com/rest/issues/issues"
PULLS = "https://docs.github.com/rest/pulls/pulls"
COMMITS = "https://docs.github.com/rest/commits"


def not_found(documentation: str) -> ApiError:
    """GitHub's 404, which it also sends for what you may not see."""
    return ApiError(404, "Not Found", documentation=documentation)


def issue(repo: Repository, number: int) -> Issue:
    """The issue or pull request of that number, or 404."""
    if number not in repo.issues:
        raise not_found(f"{ISSUES}#get-an-issue")
    return repo.issues[number]


def pull(repo: Repository, number: int) -> PullRequest:
    """The pull request of that number, or 404."""
    if number not in repo.pulls:
        raise not_found(f"{PULLS}#get-a-pull-request")
    return repo.pulls[number]


def commit(repo: Repository, ref: str) -> str:
    """The commit that a sha or a branch means, or 422."""
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}", documentation=f"{COMMITS}/commits")
    return sha


def only(call: Call, *known: str) -> None:
    """Refuse a query parameter that is not imitated."""
    unknown = sorted(set(call.query) - {"page", "per_page", *known})
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate the parameter {unknown[0]!r} here.")


def choice(call: Call, name: str, default: str, allowed: set[str], resource: str) -> str:
    """A query parameter of a few values, or 422."""
    value = call.query.get(name, default)
    if value not in allowed:
        raise invalid(ISSUES, {"resource": resource, "field": name, "code": "invalid"})
    return value


def text(call: Call, name: str, resource: str, documentation: str) -> str:
    """A text of the body that has to be there, or 422."""
    value = call.body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise invalid(documentation, {"resource": resource, "code": "missing_field", "field": name})
    return value
