"""Read from a request what a handler needs: parameters, fields of the body, the issue of a number.

If GitHub would do something that the sandbox cannot, the request is refused with 501 and a sentence, never
silently ignored: the sandbox must not teach a client anything that is not true of GitHub.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ApiError, Moved, invalid, wrong
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call

ISSUES = "https://docs.github.com/rest/issues/issues"
PULLS = "https://docs.github.com/rest/pulls/pulls"
COMMITS = "https://docs.github.com/rest/commits"
KINDS = {str: "a string", int: "an integer", bool: "a boolean", list: "an array", dict: "an object"}


def not_found(documentation: str = "") -> ApiError:
    """GitHub's 404, which is also sent for things that the viewer may not see."""
    return ApiError(404, "Not Found", documentation=documentation)


def issue(repo: Repository, number: int) -> Issue:
    """The issue or pull request of that number.

    Raises:
        ApiError: 404, or 410 if it was deleted, or if issues are switched off.
        Moved: It was transferred.
    """
    tables = IssueTables.of(repo)
    entity = tables.issues.get(number)
    if entity is None:
        if number in tables.gone:
            raise ApiError(410, "This issue was deleted", documentation=f"{ISSUES}#get-an-issue")
        if number in tables.moved:
            target = tables.moved[number]
            raise Moved(f"/repositories/{target.repository.id}/issues/{target.number}")
        raise not_found(f"{ISSUES}#get-an-issue")
    if entity.is_late():
        raise not_found(f"{ISSUES}#get-an-issue")
    if not entity.is_pull:
        demand_issues(repo)
    return entity


def demand_issues(repo: Repository) -> None:
    """Raise 410 if issues are switched off."""
    if not repo.has_issues:
        raise ApiError(410, "Issues has been disabled in this repository.", documentation=ISSUES)


def pull(repo: Repository, number: int) -> PullRequest:
    """The pull request of that number, or 404."""
    entity = PullTables.of(repo).pulls.get(number)
    if entity is None or entity.issue.is_late():
        raise not_found(f"{PULLS}#get-a-pull-request")
    return entity


def commit(repo: Repository, ref: str) -> str:
    """The commit of a sha or a branch, or 422."""
    sha = repo.git.resolve(ref)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {ref}", documentation=f"{COMMITS}/commits")
    return sha


def user(call: Call, login: str, documentation: str = "") -> User:
    """The user or organization of that login, or 404."""
    account = call.world.user(login)
    if account is None:
        raise not_found(documentation)
    return account


def only(call: Call, *known: str) -> None:
    """Refuse other query parameters, which are not imitated."""
    unknown = sorted(set(call.query) - {"page", "per_page", *known})
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate the parameter {unknown[0]!r} here.")


def fields(call: Call, *known: str) -> None:
    """Refuse other fields of the body, which are not imitated."""
    unknown = sorted(call.body.keys() - set(known))
    if unknown:
        raise ApiError(501, f"The sandbox does not imitate the field {unknown[0]!r} here.")


def choice(call: Call, name: str, default: str, allowed: set[str], resource: str) -> str:
    """A query parameter with a few allowed values, or 422."""
    value = call.query.get(name, default)
    if value not in allowed:
        error = {"resource": resource, "field": name, "code": "invalid"}
        raise invalid(error, documentation=ISSUES)
    return value


def text(call: Call, name: str, resource: str) -> str:
    """A required text of the body, or 422."""
    value = call.body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise wrong(resource, "missing_field", name)
    return value


def short(value: str, name: str, most: int, resource: str) -> str:
    """A text of at most `most` characters, or 422."""
    if len(value) > most:
        message = f"{name} is too long (maximum is {most} characters)"
        raise wrong(resource, "custom", name, message)
    return value


def typed(call: Call, name: str, kind: type) -> Any:
    """A field of the body, None if it is missing or null; 422 if it has another type.

    The message has the form of answers in public threads, such as
    https://github.com/orgs/community/discussions/24575.
    """
    value = call.body.get(name)
    is_other = isinstance(value, bool) is not (kind is bool) or not isinstance(value, kind)
    if value is not None and is_other:
        shown = f'"{value}"' if isinstance(value, str) else repr(value)
        raise malformed(f"For 'properties/{name}', {shown} is not {KINDS[kind]}.")
    return value


def needed(call: Call, name: str, kind: type) -> Any:
    """A required field of the body, of that type; else 422."""
    if name not in call.body:
        raise malformed(f'"{name}" wasn\'t supplied.')
    value = typed(call, name, kind)
    if value is None:
        raise malformed(f"For 'properties/{name}', nil is not {KINDS[kind]}.")
    return value


def malformed(words: str) -> ApiError:
    """The 422 for a body that does not even have the right form."""
    return ApiError(422, f"Invalid request.\n\n{words}")


def moment(text: str, name: str, resource: str, documentation: str = "") -> datetime:
    """A time in clients' form, ISO 8601, or 422; without a zone it is UTC."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        error = {"resource": resource, "field": name, "code": "invalid"}
        raise invalid(error, documentation=documentation) from None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def demand_push(call: Call, repo: Repository) -> None:
    """Raise 403 if the viewer may read but not write, in GitHub's words."""
    if not repo.can_push(call.viewer):
        raise forbidden()


def demand_triage(call: Call, repo: Repository) -> None:
    """Raise 403 if the viewer may not label, assign and close."""
    if not repo.can_triage(call.viewer):
        raise forbidden()


def demand_admin(call: Call, repo: Repository) -> None:
    """Raise 403 if the viewer does not administer the repository."""
    if repo.role_of(call.viewer) != "admin":
        raise forbidden()


def forbidden() -> ApiError:
    """GitHub's 403 for a role that is not sufficient."""
    return ApiError(403, "Must have admin rights to Repository.")
