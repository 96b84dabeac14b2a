"""The errors of the sandbox: those that a client gets as an answer, and those for its user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any


class SandboxError(Exception):
    """The sandbox cannot start or continue; the text is one sentence for a person."""


class SeedError(SandboxError, ValueError):
    """A seed file cannot be used; the text names the place in the file and the expected value."""


class ActionRefused(SandboxError):
    """A person's action is impossible in the present world (a conflict, an unknown number)."""


class Moved(Exception):
    """The issue or repository has another address now: `path` is its API path, without the host."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ApiError(Exception):
    """A REST answer other than success, in GitHub's form.

    If `documentation` is empty, the router adds the page of the call.
    Source: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any] | str] | str = (),
        documentation: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors if isinstance(errors, str) else tuple(errors)
        self.documentation = documentation
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The JSON object that GitHub sends: message, errors if any, documentation, status."""
        answer: dict[str, Any] = {"message": self.message}
        if isinstance(self.errors, str):
            answer["errors"] = self.errors
        elif self.errors:
            answer["errors"] = [e if isinstance(e, str) else dict(e) for e in self.errors]
        answer["documentation_url"] = self.documentation or "https://docs.github.com/rest"
        answer["status"] = str(self.status)
        return answer


def invalid(
    *errors: Mapping[str, Any], message: str = "Validation Failed", documentation: str = ""
) -> ApiError:
    """Build a 422 from GitHub's objects about each error."""
    return ApiError(422, message, errors=errors, documentation=documentation)


def wrong(resource: str, code: str, field: str, message: str = "") -> ApiError:
    """Build a 422 about one field; `code` is `missing_field`, `already_exists`, `invalid` or `custom`."""
    error = {"resource": resource, "code": code, "field": field}
    return invalid({**error, "message": message} if message else error)


@contextmanager
def refusing(status: int, documentation: str = "") -> Iterator[None]:
    """Turn an ActionRefused in the block into an ApiError with the same words.

    Raises:
        ApiError: Instead of ActionRefused.
    """
    try:
        yield
    except ActionRefused as refused:
        raise ApiError(status, str(refused), documentation=documentation) from None
