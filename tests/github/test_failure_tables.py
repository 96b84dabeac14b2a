"""The two tables of refusals, row by row: what fits which, and what each error says and carries."""

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
from lifecycle.core.timing import Deadline
from lifecycle.github import failures
from lifecycle.github.client.client_common import TokenClient
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.plain_line import Sent, Silence
from lifecycle.github.client.rest import moved_to
from lifecycle.github.failures import Answer, AnswerProblem, AskedRequest, FailureCase, Failures
from tests.batches import each_row
from tests.github.hub import TOKEN, PatientClock, sending

READ = AskedRequest("the issue")
WRITE = AskedRequest("the comment", is_write=True)
PARTLY = AskedRequest("the comment", is_write=True, is_partly_done=True)


def made(source: str = "GH_TOKEN", secret: str = TOKEN) -> Failures:
    """A translator whose clock stands still."""
    return Failures(secret, source, PatientClock())


def answered(
    status: int,
    message: str = "",
    *,
    asked: AskedRequest = READ,
    source: str = "GH_TOKEN",
    errors: object = None,
    **headers: str,
) -> LifecycleError:
    """The error of an HTTP answer; headers with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"message": message, "errors": errors}
    return made(source).of_answer(Answer.read(status, named, body), asked)


def problem(kind: str, message: str = "", *, asked: AskedRequest = READ) -> LifecycleError:
    """The error of a GraphQL problem."""
    return made().of_problem(AnswerProblem(kind, (), message), asked)


@pytest.mark.parametrize(
    ("status", "message", "headers", "is_limit"),
    [
        (403, "", {"retry_after": "1"}, True),
        (422, "", {"retry_after": "1"}, False),
        (403, "", {"x_ratelimit_remaining": "0"}, True),
        (403, "", {"x_ratelimit_remaining": "1"}, False),
        (422, "", {"x_ratelimit_remaining": "0"}, False),
        (403, "You triggered an Abuse Detection mechanism", {}, True),
        (422, "was submitted too quickly", {}, True),
        (403, "API rate limit exceeded", {}, True),
        (400, "API rate limit exceeded", {}, False),
        (404, "API rate limit exceeded", {}, False),
        (429, "", {}, True),
    ],
)
def test_a_limit_is_known_by_status_headers_and_words(
    status: int, message: str, headers: dict[str, Any], is_limit: bool
) -> None:
    """A header alone is none with another status than 403, nor are words with any but 403 and 422."""
    error = answered(status, message, **headers)
    assert ("rate limit is used up" in str(error)) is is_limit
    assert isinstance(error, Transient) is is_limit


@each_row(
    ("status", "message", "asked", "leaf", "words"),
    [
        (401, "rate limit", READ, BadCredentials, "does not accept the token"),
        (403, "Repository was archived so is read-only.", WRITE, Rejected, "unarchive it first"),
        (404, "Repository was archived so is read-only.", WRITE, NoPermission, "no permission"),
        (404, "", READ, NotFound, "token from GH_TOKEN sees no issue"),
        (410, "", READ, NotFound, "says that the issue is gone"),
        (451, "", READ, Rejected, "legal reasons (451)"),
        (405, "Base branch was modified. Review and try.", WRITE, Transient, "base branch moved"),
        (301, "", READ, Moved, "has moved, so"),
        (302, "", READ, Moved, "has moved, so"),
        (303, "", READ, Moved, "has moved, so"),
        (307, "", READ, Moved, "has moved, so"),
        (308, "", READ, Moved, "has moved, so"),
        (304, "", READ, Rejected, "refused the issue: no reason given;"),
        (422, "A pull request already exists", WRITE, PullRequestExists, "already"),
        (422, "No commits between a and b", WRITE, NothingToMerge, "no commit that"),
        (408, "", READ, Transient, "an internal problem (408)"),
        (500, "", READ, Transient, "an internal problem (500)"),
        (499, "", READ, Rejected, "refused the issue (499)"),
        (400, "Odd.", PARTLY, Rejected, "(400): Odd; only a part was changed"),
        (400, "Odd", WRITE, Rejected, "(400): Odd; nothing was changed"),
        (399, "Odd", WRITE, Rejected, "the comment: Odd;"),
    ],
)
def test_each_row_of_answers_has_its_error(
    status: int, message: str, asked: AskedRequest, leaf: type[LifecycleError], words: str
) -> None:
    """The first row that fits, with GitHub's words as the evidence."""
    error = answered(status, message, asked=asked)
    assert type(error) is leaf
    assert words in str(error)
    assert vars(error).get("evidence", message) == message


@each_row(
    ("status", "is_page"),
    [(400, True), (401, True), (403, True), (404, True), (407, True), (499, True),
     (399, False), (408, False), (429, False), (500, False), (502, False)],
)  # fmt: skip
def test_a_page_is_nobody_of_githubs(status: int, *, is_page: bool) -> None:
    """What a proxy or a firewall blocks says nothing of the token; GitHub's own outages are pages, too."""
    header = {"content-type": "text/html; charset=utf-8"}
    answer = Answer.read(status, header, "<html>Blocked</html>")
    assert ("a proxy, a firewall" in str(made().of_answer(answer, READ))) == is_page
    absent = failures.answered("nothing-there", NotFound, status)
    assert (absent(answer) is None) == is_page, (
        "what a page says is no word of GitHub's on one call"
    )
    json = {"content-type": "application/json; charset=utf-8"}
    error = made().of_answer(Answer.read(status, json, {"message": "No"}), READ)
    assert "a proxy, a firewall" not in str(error)
    limit = made().of_answer(Answer.read(403, {**header, "retry-after": "7"}, ""), READ)
    assert isinstance(limit, Transient)
    assert limit.retry_after == 7


@pytest.mark.parametrize(
    ("errors", "leaf"),
    [
        ([{"field": "head", "code": "invalid"}], HeadMissing),
        (
            [{"field": "title", "code": "missing"}, {"field": "head", "code": "invalid"}],
            HeadMissing,
        ),
        ([{"field": "head", "code": "missing"}], Rejected),
        ([{"field": "title", "code": "invalid"}], Rejected),
        ({"field": "head", "code": "invalid"}, Rejected),
    ],
)
def test_a_branch_that_is_not_there_is_known_by_field_and_code(
    errors: object, leaf: type[LifecycleError]
) -> None:
    """Both are of one entry."""
    assert type(answered(422, errors=errors)) is leaf


def test_a_missing_base_is_to_be_corrected_in_the_settings() -> None:
    """It is the repository's own setting that names it."""
    error = answered(422, errors=[{"field": "base", "code": "invalid"}])
    assert "nothing was changed; name another one with base in .lifecycle.toml" in str(error)


def test_a_move_carries_the_place_or_the_words() -> None:
    """The header comes first, then the body's url; without both, what GitHub said."""
    header = made().of_answer(
        Answer.read(301, {"Location": "h"}, {"url": "b", "message": "m"}), READ
    )
    body = made().of_answer(Answer.read(301, {}, {"url": "b", "message": "m"}), READ)
    none = made().of_answer(Answer.read(301, {}, {"message": "m"}), READ)
    assert [vars(error)["evidence"] for error in (header, body, none)] == ["h", "b", "m"]
    assert "the issue has moved to h, so" in str(header)
    named = moved_to("o/new", None, WRITE)
    assert "lifecycle doctor has the command" in str(named)
    assert named.evidence == "o/new"


@pytest.mark.parametrize(
    ("asked", "headers", "retry_after", "is_ambiguous"),
    [
        (READ, {"retry_after": "7"}, 7.0, False),
        (WRITE, {"retry_after": "7"}, 7.0, True),
        (WRITE, {}, None, True),
        (READ, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, None, False),
    ],
)
def test_an_outage_waits_as_long_as_it_says(
    asked: AskedRequest, headers: dict[str, Any], retry_after: float | None, is_ambiguous: bool
) -> None:
    """Without a word of it, whoever tries again knows best; a write may have landed."""
    error = answered(503, "down", asked=asked, **headers)
    assert isinstance(error, Transient)
    assert (error.retry_after, error.is_ambiguous) == (retry_after, is_ambiguous)
    assert error.evidence == "down"


@pytest.mark.parametrize(
    ("headers", "wait", "told"),
    [
        ({"retry_after": " 17 "}, 17.0, "in 17 seconds"),
        ({"retry_after": "0"}, 0.0, "in 1 seconds"),
        ({"retry_after": "soon"}, 60.0, "in 60 seconds"),
        (
            {"retry_after": "1", "x_ratelimit_remaining": "0", "x_ratelimit_reset": "9"},
            1.0,
            "in 1 s",
        ),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, "in 1 seconds"),
        ({"x_ratelimit_remaining": "0"}, 60.0, "in 60 seconds"),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "soon"}, 60.0, "in 60 seconds"),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, 1.0, "in 1 seconds"),
        ({"x_ratelimit_remaining": "1", "x_ratelimit_reset": "1"}, 60.0, "in 60 seconds"),
        ({"x_ratelimit_reset": "1"}, 60.0, "in 60 seconds"),
    ],
)
def test_a_limit_is_waited_for_as_github_says(
    headers: dict[str, Any], wait: float, told: str
) -> None:
    """Never less than a second is told; what cannot be read is a minute."""
    error = answered(429, "slow down", asked=WRITE, **headers)
    assert isinstance(error, Transient)
    assert error.retry_after == wait
    assert (told in str(error), error.evidence) == (True, "slow down")


@pytest.mark.parametrize(
    ("status", "message", "headers", "words"),
    [
        (
            403,
            "Protected by SAML.",
            {},
            "(GitHub: Protected by SAML), so nothing was changed; auth",
        ),
        (403, "", {"x_github_sso": "required"}, "single sign-on"),
        (404, "", {"x_github_sso": "required"}, "single sign-on"),
        (403, "No.", {"x_accepted_github_permissions": "issues=write"}, "it needs issues=write."),
        (404, "", {}, "for the comment, so nothing was changed; check that it exists"),
        (403, "", {}, "with the permissions that this needs"),
    ],
)
def test_a_refusal_says_what_would_help(
    status: int, message: str, headers: dict[str, Any], words: str
) -> None:
    """Single sign-on first, then the permission that GitHub names."""
    error = answered(status, message, asked=WRITE, **headers)
    assert type(error) is NoPermission
    assert words in str(error)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("GITHUB_TOKEN", "export GITHUB_TOKEN=$(gh auth token)"),
        ("gh", "gh auth login"),
        ("the GitHub App", "lifecycle doctor"),
        ("token_command", "config.toml prints a valid one"),
        ("the keyring", "give the keyring a valid one"),
    ],
)
def test_a_token_comes_from_where_it_was_found(source: str, words: str) -> None:
    """Each source has its own way to a new one."""
    assert words in str(answered(401, source=source))


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("https://api.github.com/graphql", ""),
        ("https://ghe.corp.example/api/v3", " --hostname ghe.corp.example"),
        ("https://api.corp.ghe.com", " --hostname corp.ghe.com"),
        ("http://127.0.0.1:8080", ""),
    ],
)
def test_a_token_comes_from_the_host_that_refused_it(url: str, option: str) -> None:
    """The gh command names an Enterprise host: github.com's token is not to be sent there."""
    client = TokenClient(url, sending("t", Deadline.after(PatientClock(), 9)))
    error = client.failures.of_answer(Answer.read(401, {}, {"message": "Bad credentials"}), READ)
    assert f"export GH_TOKEN=$(gh auth token{option})" in str(error)


@each_row(
    ("kind", "message", "leaf", "words"),
    [
        ("RATE_LIMITED", "", Transient, "rate limit is used up"),
        ("RATE_LIMIT", "", Transient, "rate limit is used up"),
        ("RESOURCE_LIMITS_EXCEEDED", "", Transient, "left parts of the issue out"),
        *(
            (kind, "", Transient, "an internal problem with")
            for kind in ("INTERNAL", "INTERNAL_ERROR")
        ),
        *(
            (kind, "", Transient, "an internal problem with")
            for kind in ("SERVICE_UNAVAILABLE", "TIMEOUT")
        ),
        (
            "",
            "Something went wrong",
            Transient,
            "an internal problem with the issue; nothing was changed",
        ),
        ("", "We couldn't respond to your request in time", Transient, "an internal problem with"),
        *(
            (kind, "No such thing.", Unsupported, "the issue needs (No such thing), so")
            for kind in (
                *("argumentNotAccepted", "fragmentOnNonCompositeType", "selectionMismatch"),
                *("undefinedDirective", "undefinedField", "undefinedType"),
            )
        ),
        ("undefinedField", "", Unsupported, "(no reason given)"),
        ("", "priority has to be unique", Transient, "Somebody else changed the board"),
        ("", "the priority is too high", Rejected, "the priority is too high"),
        ("", "the name has to be unique", Rejected, "the name has to be unique"),
        ("", "Content already exists", Transient, "Somebody else changed the board"),
        ("", "X does not belong to the field", StaleFields, "read again"),
        ("", "It is archived and cannot be updated", ItemArchived, "restore it there"),
        ("NOT_FOUND", "", NotFound, "sees no issue"),
        ("FORBIDDEN", "", NoPermission, "no permission for the issue, so"),
        ("OTHER", "Odd.", Rejected, "refused the issue: Odd;"),
    ],
)
def test_each_row_of_problems_has_its_error(
    kind: str, message: str, leaf: type[LifecycleError], words: str
) -> None:
    """By GitHub's type, else by its words."""
    error = problem(kind, message)
    assert type(error) is leaf
    assert words in str(error)
    assert vars(error).get("evidence", message) == message


def test_a_refusal_of_a_board_names_the_permission() -> None:
    """GraphQL tells none; that of an App for the boards of its organisation is one of its own."""
    asked = AskedRequest("the fields of a card on project 7 of octo-org", is_write=True)
    error = problem("FORBIDDEN", "Resource not accessible by integration", asked=asked)
    assert type(error) is NoPermission
    assert "so nothing was changed; it needs the permission Projects: read and write" in str(error)


def test_parts_that_were_left_out_of_a_write_are_uncertain() -> None:
    """What was written of it nobody knows."""
    read, write = (problem("RESOURCE_LIMITS_EXCEEDED", "m", asked=asked) for asked in (READ, WRITE))
    assert isinstance(read, Transient)
    assert isinstance(write, Transient)
    assert (read.is_ambiguous, write.is_ambiguous) == (False, True)
    assert "nothing was changed" in str(read)
    assert "it may have been done" in str(write)
    assert (read.evidence, write.evidence) == ("m", "m")


@pytest.mark.parametrize(
    ("scope", "asked", "words"),
    [
        (
            "'read:project'",
            READ,
            "lacks the project scope, so the board cannot be read or written;",
        ),
        ("'read:project'", WRITE, "lacks the project scope, so the board cannot be written;"),
        ("'read:org', 'x'", READ, "lacks the org scope, so nothing was changed;"),
        ("", READ, "lacks the project scope, so the board cannot be read or written;"),
    ],
)
def test_a_missing_scope_is_named(scope: str, asked: AskedRequest, words: str) -> None:
    """The first that GitHub names, for writing; the board's where it names none."""
    message = f"requires one of the following scopes: [{scope}]" if scope else "scopes"
    error = problem("INSUFFICIENT_SCOPES", message, asked=asked)
    assert type(error) is MissingScope
    assert words in str(error)
    assert error.evidence == message


@pytest.mark.parametrize(
    ("asked", "may_have_landed", "is_ambiguous"),
    [(READ, True, False), (READ, False, False), (WRITE, False, False), (WRITE, True, True)],
)
def test_silence_is_uncertain_for_a_write_that_may_have_landed(
    asked: AskedRequest, may_have_landed: bool, is_ambiguous: bool
) -> None:
    """Nothing was changed by what never arrived."""
    error = made().of_silence(Silence("is silent", may_have_landed), asked)
    assert isinstance(error, Transient)
    assert (error.is_ambiguous, error.evidence) == (is_ambiguous, "")
    assert ("it may have been done" in str(error)) is is_ambiguous


def test_nonsense_is_uncertain_for_a_write() -> None:
    """The answer came, so the request arrived."""
    found = [made().of_nonsense(asked).is_ambiguous for asked in (READ, WRITE)]
    assert found == [False, True]


def test_a_text_is_one_line_of_three_hundred_characters_without_the_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a token nothing is taken for it; other secrets of the environment are not shown either."""
    monkeypatch.setenv("DEPLOY_TOKEN", "swordfish-17")
    assert made().clean("by swordfish-17") == "by ***"
    assert made().clean(f"a  b\n\tc {TOKEN} d") == "a b c *** d"
    assert made(secret="").clean("abc") == "abc"
    assert len(made().clean("word " * 100)) == 300


def test_where_no_api_is_the_server_and_the_place_are_named() -> None:
    """And nothing else of the address."""

    def refused(url: str, status: int) -> LifecycleError:
        client = GraphClient(url, sending("t", Deadline.after(PatientClock(), 9)))
        return client._refusal(Sent(status, {}, {"message": "gone"}), READ)

    error = refused("https://me:pw@ghe.example/api/graphql?x=1", 404)
    assert str(error).startswith("ghe.example answers 404 at /api/graphql, where")
    assert vars(error)["evidence"] == "gone"
    assert str(refused("", 405)).startswith("the server answers 405 at /, where")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"message": "m", "errors": [{"message": "a"}, {"message": "b"}]}, "m: a; b"),
        ({"message": "m", "errors": [{"resource": "r", "field": "f", "code": "c"}]}, "m: r f c"),
        ({"message": "m", "errors": [{"field": "f", "code": ""}]}, "m: f"),
        ({"errors": ["text"]}, "text"),
        ({"message": "m", "errors": "text"}, "m"),
        ({"message": None}, ""),
        (["m"], ""),
    ],
)
def test_githubs_words_are_its_message_and_what_is_below_it(body: Any, words: str) -> None:
    """From a body of any shape."""
    answer = Answer.read(400, {"X-Odd": 1}, body)
    assert answer.words == words
    assert (answer.status, answer.headers, answer.url) == (400, {"x-odd": "1"}, "")


def test_a_case_has_no_answer_and_no_problem_of_its_own() -> None:
    """An answer that said nothing is a 200; a problem that is not there has no type."""
    case = FailureCase(READ, "gh", "Some WORDS", 1.0)
    assert (case.answer, case.problem) == (Answer(200), AnswerProblem("", (), ""))
    assert case.text == "some words"
    assert (case.unchanged, case.kept) == ("nothing was changed", "nothing was changed")
    assert FailureCase(PARTLY, "gh", "", 1.0).unchanged == "only a part was changed"


def test_an_answer_that_says_nothing_says_nothing() -> None:
    """No body, none that is an object, or none that was read: no words, no headers, no address."""
    bodies: tuple[object, ...] = (None, [], "Bad Gateway", {}, {"errors": "x"})
    for body in bodies:
        assert Answer.read(502, {}, body) == Answer(502)
    assert (Answer(502).words, Answer(502).url, Answer(502).errors) == ("", "", ())
    case = FailureCase(READ, "GH_TOKEN", "", 0.0)
    assert (case.answer, case.problem) == (Answer(200), AnswerProblem("", (), ""))
    assert (case.text, READ.is_write, READ.is_partly_done) == ("", False, False)
