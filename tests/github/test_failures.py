"""lifecycle.github.failures: one leaf and one sentence for each way in which GitHub says no."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.errors import (
    BadCredentials,
    HeadMissing,
    ItemArchived,
    LifecycleError,
    MissingScope,
    Moved,
    NoPermission,
    NotFound,
    NothingToMerge,
    PullRequestExists,
    Rejected,
    StaleFields,
    Transient,
    Unsupported,
)
from lifecycle.github.client.plain_line import TOO_LATE
from lifecycle.github.failures import Answer, AnswerProblem, AskedRequest, Failures
from tests.github.hub import TOKEN, PatientClock

READ = AskedRequest("issue #7 of octo-org/hello-service")
WRITE = AskedRequest("a comment on issue #7 of octo-org/hello-service", is_write=True)
LIMIT = "API rate limit exceeded for user ID 1."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes."


@pytest.fixture
def failures() -> Failures:
    """With a token that must not come out, and a clock that stands still."""
    return Failures(TOKEN, "GH_TOKEN", PatientClock())


def invalid(**detail: str) -> dict[str, Any]:
    """A 422's body."""
    return {"message": "Validation Failed", "errors": [{"resource": "PullRequest", **detail}]}


def said(message: str) -> dict[str, Any]:
    """A body with nothing but a message."""
    return {"message": message, "documentation_url": "https://docs.github.com/rest"}


@pytest.mark.parametrize(
    ("status", "body", "asked", "leaf", "words"),
    [
        (
            401,
            said("Bad credentials"),
            READ,
            BadCredentials,
            "start Claude Code again, whose hooks",
        ),
        (401, said("Requires authentication"), WRITE, BadCredentials, "GH_TOKEN"),
        (403, said("Resource not accessible by integration"), READ, NoPermission, "no permission"),
        (403, said("Resource protected by organization SAML"), READ, NoPermission, "single sign"),
        (404, said("Not Found"), READ, NotFound, "issue #7 of octo-org/hello-service"),
        (404, said("Not Found"), WRITE, NoPermission, "no permission"),
        (410, said("This issue was deleted"), READ, NotFound, "disabled"),
        (410, said("Issues are disabled for this repo"), WRITE, NotFound, "disabled"),
        (409, said("Merge conflict"), WRITE, Rejected, "(409): Merge conflict"),
        (301, said("Moved Permanently"), READ, Moved, "renamed"),
        (307, said("Temporary Redirect"), WRITE, Moved, "renamed"),
        (
            422,
            invalid(code="custom", message="A pull request already exists for octo-org:work."),
            WRITE,
            PullRequestExists,
            "already",
        ),
        (
            422,
            invalid(code="custom", message="No commits between main and work"),
            WRITE,
            NothingToMerge,
            "push",
        ),
        (422, invalid(field="head", code="invalid"), WRITE, HeadMissing, "push it first"),
        (422, invalid(field="base", code="invalid"), WRITE, Rejected, "base in .lifecycle.toml"),
        (422, {"message": "Validation Failed", "errors": ["odd"]}, WRITE, Rejected, "odd"),
        (418, "<html>teapot</html>", READ, Rejected, "no reason given"),
    ],
)
def test_an_answer_has_its_leaf(
    failures: Failures,
    status: int,
    body: object,
    asked: AskedRequest,
    leaf: type[LifecycleError],
    words: str,
) -> None:
    """Status and body choose the leaf exactly, and the sentence says what to do."""
    error = failures.of_answer(Answer.read(status, {}, body), asked)
    assert type(error) is leaf
    assert words in str(error)
    assert "\n" not in str(error)
    assert str(error).endswith(".")


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_an_outage_is_ambiguous_only_for_writes(failures: Failures, status: int) -> None:
    """A 5xx may have written: the caller of a write has to look before it writes again."""
    for body in (said("Server Error"), "<html>Unicorn!</html>", None):
        answer = Answer.read(status, {}, body)
        read, write = failures.of_answer(answer, READ), failures.of_answer(answer, WRITE)
        assert isinstance(read, Transient)
        assert isinstance(write, Transient)
        assert (read.is_ambiguous, write.is_ambiguous) == (False, True)
        assert "nothing was changed" in str(read)
        assert "may have been done" in str(write)


@pytest.mark.parametrize(
    ("status", "headers", "message", "wait"),
    [
        (403, {"Retry-After": "17", "X-RateLimit-Remaining": "0"}, SECONDARY, 17),
        (429, {"retry-after": "3"}, "Too many requests", 3),
        (429, {"retry-after": "-3"}, "Too many requests", 60),
        (429, {"retry-after": "5s"}, "Too many requests", 60),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000042"}, LIMIT, 42),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1600000000"}, LIMIT, 1),
        (403, {"x-ratelimit-remaining": "12"}, SECONDARY, 60),
        (429, {}, "", 60),
        (422, {}, "Content was submitted too quickly", 60),
        (
            403,
            {
                "Retry-After": "Sat, 31 Jan 2026 12:00:09 GMT",
                "Date": "Sat, 31 Jan 2026 12:00:00 GMT",
            },
            SECONDARY,
            9,
        ),
    ],
)
def test_a_limit_says_when_to_come_back(
    failures: Failures, status: int, headers: dict[str, str], message: str, wait: float
) -> None:
    """Retry-After first, then the reset of a spent limit, else a minute; a limit wrote nothing."""
    error = failures.of_answer(Answer.read(status, headers, said(message)), WRITE)
    assert isinstance(error, Transient)
    assert error.retry_after == wait
    assert not error.is_ambiguous


def test_a_reset_is_measured_on_the_servers_clock(failures: Failures) -> None:
    """A local clock that is wrong by hours does not make the wait wrong."""
    headers = {
        "Date": "Sat, 31 Jan 2026 12:00:00 GMT",
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": "1769860830",
    }
    error = failures.of_answer(Answer.read(403, headers, said(LIMIT)), READ)
    assert isinstance(error, Transient)
    assert error.retry_after == 30


def test_a_move_names_the_new_place(failures: Failures) -> None:
    """The new address comes from the Location header, else from the body."""
    url = "https://api.github.com/repositories/9/issues/7"
    by_header = failures.of_answer(Answer.read(301, {"Location": url}, None), READ)
    by_body = failures.of_answer(Answer.read(307, {}, {"message": "x", "url": url}), WRITE)
    assert url in str(by_header)
    assert url in str(by_body)


def test_a_refusal_names_the_permission_that_is_missing(failures: Failures) -> None:
    """GitHub says in a header which permission a fine-grained token would need."""
    headers = {"X-Accepted-GitHub-Permissions": "issues=write"}
    error = failures.of_answer(Answer.read(404, headers, said("Not Found")), WRITE)
    assert "it needs issues=write" in str(error)


@pytest.mark.parametrize(
    ("kind", "message", "leaf", "words"),
    [
        ("RATE_LIMITED", "API rate limit exceeded", Transient, "rate limit"),
        ("RATE_LIMIT", "x", Transient, "rate limit"),
        ("", "You have exceeded a secondary rate limit.", Transient, "rate limit"),
        ("UNPROCESSABLE", "was submitted too quickly", Transient, "rate limit"),
        ("RESOURCE_LIMITS_EXCEEDED", "Resource limits exceeded", Transient, "resources"),
        ("", "Something went wrong while executing your query.", Transient, "an internal problem"),
        ("UNPROCESSABLE", "Content already exists in this project", Transient, "same moment"),
        ("UNPROCESSABLE", "The priority value is not unique", Transient, "same moment"),
        (
            "VALIDATION",
            "The single select option Id does not belong to the field",
            StaleFields,
            "read again",
        ),
        ("", "The item is archived and cannot be updated", ItemArchived, "archived"),
        ("NOT_FOUND", "Could not resolve to an Issue with the number of 9.", NotFound, "sees no"),
        ("FORBIDDEN", "Resource not accessible by personal access token", NoPermission, "no perm"),
        ("undefinedField", "Field 'x' doesn't exist on type 'Y'", Unsupported, "Field 'x'"),
    ],
)
def test_a_problem_has_its_leaf(
    failures: Failures, kind: str, message: str, leaf: type[LifecycleError], words: str
) -> None:
    """GraphQL's type or, where it has none, GitHub's words choose the leaf."""
    error = failures.of_problem(AnswerProblem(kind, (), message), READ)
    assert type(error) is leaf
    assert words in str(error)


def test_a_missing_scope_names_the_scope_that_writing_needs(failures: Failures) -> None:
    """GitHub asks for read:project; the sentence asks for project, with the command that adds it."""
    words = (
        "Your token has not been granted the required scopes to execute this query. The "
        "'projectItems' field requires one of the following scopes: ['read:project'], but your "
        "token has only been granted the: ['repo'] scopes."
    )
    error = failures.of_problem(AnswerProblem("INSUFFICIENT_SCOPES", (), words), READ)
    assert type(error) is MissingScope
    assert "gh auth refresh -s project " in str(error)
    assert "read:" not in str(error)


def test_what_passes_by_itself_outweighs_the_rest(failures: Failures) -> None:
    """Among several problems a transient one decides: the others may come from it."""
    limited = AnswerProblem("RATE_LIMITED", (), "limit", {"retry-after": "5"})
    found = [AnswerProblem("NOT_FOUND", (), "gone"), limited]
    error = failures.of_problems(found, READ)
    assert isinstance(error, Transient)
    assert error.retry_after == 5
    assert type(failures.of_problems(found[:1], READ)) is NotFound
    lasting = [found[0], AnswerProblem("FORBIDDEN", (), "no")]
    assert type(failures.of_problems(lasting, READ)) is NotFound


def test_the_token_comes_out_of_nothing(failures: Failures) -> None:
    """Neither the translator's repr nor any error shows the token, even where GitHub echoes it."""
    echo = f"Bad token {TOKEN} and ghp_{'a' * 36} in {'long ' * 200}"
    errors: list[LifecycleError] = [
        *(
            failures.of_answer(Answer.read(status, {}, said(echo)), READ)
            for status in (301, 401, 403, 404, 409, 410, 422, 429, 500)
        ),
        failures.of_problem(AnswerProblem("", (), echo), READ),
        failures.of_silence(TOO_LATE, READ),
    ]
    texts = [repr(failures), *(f"{one} {one!r} {one.args} {one.__dict__}" for one in errors)]
    assert not [text for text in texts if TOKEN in text or "ghp_" in text]
    assert all(len(error.evidence) <= 300 for error in errors if isinstance(error, Rejected))
