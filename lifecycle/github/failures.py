"""Turn GitHub's refusals into errors of `lifecycle.core.errors`, each with one sentence.

A refusal is an HTTP answer, which PyGithub and gql both get, or an entry of a GraphQL answer's `errors`.
`ANSWERS` and `PROBLEMS` are the tables for the two; the first matching row is used. Sentences are built
from status codes, from the request, and from GitHub's own words without the token. `library_lines.silence`
handles the exceptions of requests if no answer comes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from lifecycle.core import errors, timing
from lifecycle.core.errors import LifecycleError, NoPermission, NotFound, Rejected, Transient
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.redact import as_data, redact
from lifecycle.settings.resources import Sentences

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock
    from lifecycle.github.client.plain_line import Silence

_BOARD = re.compile(r"\bproject \d+ of ")
"""The words for a board in the subject of a request."""

_UNKNOWN_TYPES = {
    *("argumentNotAccepted", "fragmentOnNonCompositeType", "selectionMismatch"),
    *("undefinedDirective", "undefinedField", "undefinedType"),
}


@dataclass(frozen=True, slots=True)
class AnswerProblem:
    """One entry of a GraphQL answer's `errors`.

    Source: https://spec.graphql.org/October2021/#sec-Errors; `type` is GitHub's addition.

    Attributes:
        headers: the answer's, which say how long a limit lasts.
    """

    type: str
    path: tuple[str | int, ...]
    message: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def is_unknown(self) -> bool:
        """True if the server does not know something in the request; nothing was run.

        Source: the validation errors of the library that GitHub's GraphQL is made with,
        https://graphql-ruby.org/api-doc/2.0.0/GraphQL/StaticValidation.html
        """
        return self.type in _UNKNOWN_TYPES


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of GitHub's that becomes an error. Header names are in lower case."""

    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[Mapping[str, Any], ...] = ()
    url: str = ""

    @classmethod
    def read(cls, status: int, headers: Mapping[str, Any], body: object) -> Answer:
        """An `Answer` from a status, headers in any case, and a decoded body of any shape."""
        content = body if isinstance(body, dict) else {}
        errors = content.get("errors")
        listed = errors if isinstance(errors, list) else []
        details = [each if isinstance(each, dict) else {"message": str(each)} for each in listed]
        named = {str(name).lower(): str(value) for name, value in headers.items()}
        message, url = str(content.get("message") or ""), str(content.get("url") or "")
        return cls(status, message, named, tuple(details), url)

    @property
    def is_page(self) -> bool:
        """True for a page instead of JSON: it is a proxy's or a firewall's, not GitHub's."""
        is_html = self.headers.get("content-type", "").startswith("text/html")
        return is_html and 400 <= self.status < 500 and self.status not in {408, 429}

    @property
    def words(self) -> str:
        """GitHub's message and its details, on one line."""
        keys = ("resource", "field", "code")
        details = [
            str(e.get("message") or " ".join(str(e[key]) for key in keys if e.get(key)))
            for e in self.errors
        ]
        return ": ".join(part for part in (self.message, "; ".join(details)) if part)


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """A request: words for the sentence, whether it writes, and whether a part of it was done."""

    subject: str
    is_write: bool = False
    is_partly_done: bool = False

    @property
    def bare(self) -> str:
        """The subject without its article, for after a "no"."""
        return self.subject.removeprefix("the ")


@dataclass(frozen=True, slots=True)
class FailureCase:
    """One failure, with everything that the sentence about it may name.

    Attributes:
        asked: what was asked for.
        source: where the token comes from, in words.
        words: GitHub's own, without secrets.
        wait: seconds after which it may be asked again.
        gh: what a gh command needs to mean this GitHub, as `config.gh_option` says.
    """

    asked: AskedRequest
    source: str
    words: str
    wait: float
    answer: Answer = field(default_factory=lambda: Answer(200))
    problem: AnswerProblem = field(default_factory=lambda: AnswerProblem("", (), ""))
    gh: str = ""

    @property
    def text(self) -> str:
        """GitHub's words in lower case, for matching."""
        return self.words.lower()

    @property
    def reason(self) -> str:
        """GitHub's words within a sentence."""
        return self.words.removesuffix(".") or "no reason given"

    @property
    def status(self) -> str:
        """The HTTP status behind a subject, "" if it says nothing."""
        return f" ({self.answer.status})" if self.answer.status >= 400 else ""

    @property
    def renewed(self) -> str:
        """How a person gets a good token, in the place where this one came from."""
        if self.source.isupper():
            return sentence("renew-variable", case=self)
        if self.source == "gh":
            return sentence("renew-login", case=self)
        if "App" in self.source:
            return sentence("renew-app")
        if self.source == "token_command":
            return sentence("renew-command")
        return sentence("renew-given", case=self)

    @property
    def unchanged(self) -> str:
        """What was changed although GitHub refused, as words of a sentence."""
        return "only a part was changed" if self.asked.is_partly_done else "nothing was changed"

    @property
    def kept(self) -> str:
        """What was changed although GitHub failed, as words: certain for a read, unknown for a write."""
        return "it may have been done" if self.asked.is_write else "nothing was changed"


Fits = Callable[[FailureCase], bool]
Row = tuple[Fits, Callable[[FailureCase], LifecycleError]]
"""A row of a table: whether it fits, and the error that it makes."""


sentence: Final = Sentences("github/refusals.toml")


def told(kind: type[Rejected | Transient], name: str) -> Callable[[FailureCase], LifecycleError]:
    """A function that makes an error of this kind, with GitHub's own words as its evidence.

    Args:
        kind: the error.
        name: its sentence's name; `{case.asked.subject}` and the like in it are parts of the failure.
    """
    return lambda case: kind(sentence(name, case=case), evidence=case.words)


Own = Callable[[Answer], LifecycleError | None]
"""The error for an answer to one call only; None leaves it to the table for all calls."""


def answered(
    name: str, kind: Callable[..., LifecycleError], status: int, pattern: str = "", **values: object
) -> Own:
    """The error for an answer with this status and these words, with the words as its evidence.

    Args:
        name: the sentence's name; `words` in it are GitHub's own.
        kind: makes the error from the sentence.
        status: the answer's.
        pattern: must match GitHub's words and codes in lower case; "" matches all.
        values: further values for the sentence.
    """

    def own(answer: Answer) -> LifecycleError | None:
        text = f"{answer.words} {answer.errors}".casefold()
        if answer.is_page or answer.status != status or not re.search(pattern, text):
            return None
        return kind(sentence(name, words=answer.words.rstrip("."), **values), evidence=answer.words)

    return own


def first_of(*several: Own) -> Own:
    """The error from the first of several functions that returns one."""
    return lambda answer: next(filter(None, (own(answer) for own in several)), None)


def limited(case: FailureCase) -> LifecycleError:
    """The error for a rate limit, with the seconds until it ends."""
    words = sentence("limited", case=case, seconds=max(round(case.wait), 1))
    return Transient(words, retry_after=case.wait, evidence=case.words)


def outage(case: FailureCase) -> LifecycleError:
    """The error for a problem on GitHub's side: ambiguous for a write, which may have landed."""
    return lost(case, "outage", case.wait if "retry-after" in case.answer.headers else None)


def lost(case: FailureCase, name: str, retry_after: float | None = None) -> LifecycleError:
    """The error with this sentence for a write that may or may not have landed."""
    words, is_ambiguous = sentence(name, case=case), case.asked.is_write
    return Transient(words, retry_after=retry_after, is_ambiguous=is_ambiguous, evidence=case.words)


def forbidden(case: FailureCase) -> LifecycleError:
    """The error for a missing permission; it says what would grant it, if GitHub says so."""
    if "saml" in case.text or "x-github-sso" in case.answer.headers:
        fix = "authorize it for the organisation's single sign-on in GitHub's token settings"
    elif needs := case.answer.headers.get("x-accepted-github-permissions"):
        fix = f"it needs {needs}"
    elif _BOARD.search(case.asked.subject):  # GraphQL names no permission
        fix = "it needs the permission Projects: read and write; a person, write access to the project"
    elif case.answer.status == 404:
        fix = "check that it exists, and use a token of somebody who may write to it"
    else:
        fix = "use a token of somebody with access and with the permissions that this needs"
    words = f" (GitHub: {case.words.removesuffix('.')})" if case.words else ""
    return NoPermission(sentence("forbidden", case=case, words=words, fix=fix), evidence=case.words)


not_found = told(NotFound, "not-found")
"""The error if GitHub shows the token nothing."""


rejected = told(Rejected, "rejected")
"""The error for any other refusal, in GitHub's own words."""


_LIMIT_WORDS = "rate limit|submitted too quickly|abuse detection"
"""GitHub's words for its limits; secondary limits have no status of their own."""


def _is_limit(case: FailureCase) -> bool:
    headers, status = case.answer.headers, case.answer.status
    is_spent = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    has_words = re.search(_LIMIT_WORDS, case.text) is not None
    return status == 429 or (status == 403 and is_spent) or (status in {403, 422} and has_words)


def _moved(case: FailureCase) -> LifecycleError:
    target = case.answer.headers.get("location") or case.answer.url
    where = f" to {target}" if target else ""
    words = sentence("moved", case=case, where=where)
    return errors.Moved(words, evidence=target or case.words)


def _answers(*statuses: int, words: str = "") -> Fits:
    """Matches an answer with one of these statuses (any, if none is given) and with these words."""
    return lambda case: (not statuses or case.answer.status in statuses) and words in case.text


def _is_invalid(field_name: str) -> Fits:
    invalid = (field_name, "invalid")
    return lambda case: invalid in [(e.get("field"), e.get("code")) for e in case.answer.errors]


# Sources: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api and
# https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
ANSWERS: tuple[Row, ...] = (
    (_is_limit, limited),
    (lambda case: case.answer.is_page, told(Rejected, "page")),
    (_answers(401), told(errors.BadCredentials, "bad-credentials")),
    (_answers(403, words="was archived"), told(Rejected, "archived")),
    (_answers(403), forbidden),
    # GitHub answers 404 for things that a token may not write.
    (lambda case: case.answer.status == 404 and case.asked.is_write, forbidden),
    (_answers(404), not_found),
    (_answers(410), told(NotFound, "gone")),
    (_answers(451), told(Rejected, "blocked")),
    # GitHub computes the merge again: https://github.com/cli/cli/issues/8092
    (_answers(words="base branch was modified"), told(Transient, "overtaken")),
    (_answers(301, 302, 303, 307, 308), _moved),
    (_answers(words="pull request already exists"), told(errors.PullRequestExists, "exists")),
    (_answers(words="no commits between"), told(errors.NothingToMerge, "nothing-to-merge")),
    (_is_invalid("head"), told(errors.HeadMissing, "head-missing")),
    (_is_invalid("base"), told(Rejected, "base-missing")),
    (lambda case: case.answer.status >= 500 or case.answer.status == 408, outage),
    (lambda _: True, rejected),
)


_OUTAGE_TYPES = ("INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT")
_OUTAGE_WORDS = "something went wrong|couldn't respond to your request in time"
_RACE = "priority.*unique|unique.*priority|content already exists"
_SCOPE = re.compile(r"following scopes: \['([^']+)'")


def _problem(*types: str, words: str = "(?!)") -> Fits:
    """Matches a problem of one of these types, and one with such words, a pattern of small letters."""
    return lambda case: case.problem.type in types or re.search(words, case.text) is not None


def _missing_scope(case: FailureCase) -> LifecycleError:
    match = _SCOPE.search(case.words)
    # Read access is not sufficient: the board is also written.
    scope = match.group(1).removeprefix("read:") if match else "project"
    refused = "written" if case.asked.is_write else "read or written"
    outcome = f"the board cannot be {refused}" if scope == "project" else "nothing was changed"
    words = sentence("missing-scope", case=case, scope=scope, outcome=outcome)
    return errors.MissingScope(words, evidence=case.words)


# Source for the limits:
# https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
# The types and the messages of Projects v2 are not documented; they are from answers that people quote in
# public.
PROBLEMS: tuple[Row, ...] = (
    (_problem("RATE_LIMITED", "RATE_LIMIT", words=_LIMIT_WORDS), limited),
    (_problem("RESOURCE_LIMITS_EXCEEDED"), lambda case: lost(case, "too-much")),
    (_problem(*_OUTAGE_TYPES, words=_OUTAGE_WORDS), outage),
    (lambda case: case.problem.is_unknown, told(errors.Unsupported, "unsupported")),
    (_problem(words=_RACE), told(Transient, "race")),
    (_answers(words="does not belong to the field"), told(errors.StaleFields, "stale")),
    (_answers(words="archived and cannot be updated"), told(errors.ItemArchived, "archived-item")),
    (_problem("INSUFFICIENT_SCOPES"), _missing_scope),
    (_problem("NOT_FOUND"), not_found),
    (_problem("FORBIDDEN"), forbidden),
    (lambda _: True, rejected),
)


SECONDARY_WAIT = 60.0
"""Seconds to wait after a rate limit that names no time.

Source:
https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
"""
_LONGEST_EVIDENCE = 300


@dataclass(frozen=True, slots=True)
class Failures:
    """Turns failed answers into errors. Knows the token only to keep it out of every text."""

    token: str = field(repr=False)
    token_source: str
    clock: Clock
    gh: str = ""

    def of_answer(self, answer: Answer, asked: AskedRequest) -> LifecycleError:
        """The error for an HTTP answer."""
        words, wait = self.clean(answer.words), self._wait(answer.headers)
        case = FailureCase(asked, self.token_source, words, wait, answer, gh=self.gh)
        return next(make(case) for fits, make in ANSWERS if fits(case))

    def of_problem(self, problem: AnswerProblem, asked: AskedRequest) -> LifecycleError:
        """The error for one GraphQL problem."""
        words, wait = self.clean(problem.message), self._wait(problem.headers)
        case = FailureCase(asked, self.token_source, words, wait, problem=problem, gh=self.gh)
        return next(make(case) for fits, make in PROBLEMS if fits(case))

    def of_problems(self, problems: Iterable[AnswerProblem], asked: AskedRequest) -> LifecycleError:
        """The error for several problems: a temporary one, else the first; nonsense if there are none."""
        every = [self.of_problem(problem, asked) for problem in problems]
        every = every or [self.of_nonsense(asked)]
        return next((error for error in every if isinstance(error, Transient)), every[0])

    def of_silence(self, silence: Silence, asked: AskedRequest) -> LifecycleError:
        """The error for a request to which no answer came."""
        if silence.is_final:
            return Rejected(f"GitHub {silence.words}; nothing was changed. Correct that.")
        return self._lost(asked, silence.words, silence.may_have_landed, silence.way)

    def _lost(
        self, asked: AskedRequest, words: str, landed: bool = True, way: str = ""
    ) -> Transient:
        is_ambiguous = asked.is_write and landed
        kept = "it may have been done" if is_ambiguous else "nothing was changed"
        lost = f"GitHub {words} when asked for {asked.subject}; {kept}. {way or 'Try again later.'}"
        return Transient(lost, is_ambiguous=is_ambiguous)

    def of_nonsense(self, asked: AskedRequest) -> Transient:
        """The error for an answer that cannot be understood: not JSON, cut off, or of another shape."""
        return self._lost(asked, "gave an answer that cannot be read")

    def clean(self, text: str) -> str:
        """A stranger's words on one line, shortened, without the token and other secrets."""
        plain = text.replace(self.token, "***") if self.token else text
        return as_data(redact(" ".join(plain.split())))[:_LONGEST_EVIDENCE]

    def _wait(self, headers: Mapping[str, str]) -> float:
        """Seconds to wait, in GitHub's order: Retry-After, the reset of a spent limit, a minute."""
        now = timing.parse_time(headers.get("date")) or self.clock.now()
        named = headers.get("retry-after", "").strip()
        if named.isdecimal():
            return float(named)
        if (moment := timing.parse_time(named)) is not None:
            return max(moment - now, 0.0)
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(float(reset) - now, 1.0)
        return SECONDARY_WAIT
