"""Turn GitHub's refusals into errors of `lifecycle.core.errors`, each with one sentence.

There are two tables: `ANSWERS` for HTTP answers, which PyGithub and gql both get, and `PROBLEMS` for the
entries of a GraphQL answer's `errors`. The first matching row is used. `library_lines.silence` handles the
exceptions of requests if no answer comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lifecycle.core import errors, timing
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.redact import as_data, redact
from lifecycle.github.failures import failure_case
from lifecycle.github.failures.failure_case import Answer, AskedRequest, FailureCase, Fits, told

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock
    from lifecycle.github.client.plain_line import Silence
    from lifecycle.github.failures.failure_case import AnswerProblem

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
    words = failure_case.sentence("moved", case=case, where=where)
    return errors.Moved(words, evidence=target or case.words)


def moved_to(name: str, issue: str | None, asked: AskedRequest) -> LifecycleError:
    """The error for a write to a repository that was renamed, or to an issue that was transferred.

    Args:
        name: the present name of its repository on GitHub, `owner/name`.
        issue: the number there of an issue that was transferred, or None.
        asked: the request.
    """
    if issue is not None:
        where = f"{name}#{issue}"
        words = failure_case.sentence("transferred-meanwhile", where=where, asked=asked)
        return errors.Transferred(words, evidence=where)
    return errors.Moved(failure_case.sentence("renamed", name=name, asked=asked), evidence=name)


def _answers(*statuses: int, words: str = "") -> Fits:
    """Matches an answer with one of these statuses (any, if none is given) and with these words."""
    return lambda case: (not statuses or case.answer.status in statuses) and words in case.text


def _is_invalid(field_name: str) -> Fits:
    invalid = (field_name, "invalid")
    return lambda case: invalid in [(e.get("field"), e.get("code")) for e in case.answer.errors]


# Sources: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api and
# https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
ANSWERS: tuple[failure_case.Row, ...] = (
    (_is_limit, failure_case.limited),
    (lambda case: case.answer.is_page, told(errors.Rejected, "page")),
    (_answers(401), told(errors.BadCredentials, "bad-credentials")),
    (_answers(403, words="was archived"), told(errors.Rejected, "archived")),
    (_answers(403), failure_case.forbidden),
    # GitHub answers 404 for things that a token may not write.
    (lambda case: case.answer.status == 404 and case.asked.is_write, failure_case.forbidden),
    (_answers(404), failure_case.not_found),
    (_answers(410), told(errors.NotFound, "gone")),
    (_answers(451), told(errors.Rejected, "blocked")),
    # GitHub computes the merge again: https://github.com/cli/cli/issues/8092
    (_answers(words="base branch was modified"), told(errors.Transient, "overtaken")),
    (_answers(301, 302, 303, 307, 308), _moved),
    (_answers(words="pull request already exists"), told(errors.PullRequestExists, "exists")),
    (_answers(words="no commits between"), told(errors.NothingToMerge, "nothing-to-merge")),
    (_is_invalid("head"), told(errors.HeadMissing, "head-missing")),
    (_is_invalid("base"), told(errors.Rejected, "base-missing")),
    (lambda case: case.answer.status >= 500 or case.answer.status == 408, failure_case.outage),
    (lambda _: True, failure_case.rejected),
)


_OUTAGE_TYPES = ("INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT")
_OUTAGE_WORDS = "something went wrong|couldn't respond to your request in time"
_RACE = "priority.*unique|unique.*priority|content already exists"
_SCOPE = re.compile(r"following scopes: \['([^']+)'")


def absent_api(url: str, status: int, words: str) -> LifecycleError:
    """The error for a status that GitHub's GraphQL never returns: it reports its own errors in a 200.

    Args:
        url: the address; only host and path are shown.
        status: the HTTP status.
        words: the answer's content, without secrets.
    """
    parts = urlsplit(url)
    where = {"host": parts.hostname or "the server", "path": parts.path or "/"}
    refusal = failure_case.sentence("no-graphql", status=status, **where)
    return errors.Rejected(refusal, evidence=words)


def _problem(*types: str, words: str = "(?!)") -> Fits:
    """Matches a problem of one of these types, and one with such words, a pattern of small letters."""
    return lambda case: case.problem.type in types or re.search(words, case.text) is not None


def _missing_scope(case: FailureCase) -> LifecycleError:
    match = _SCOPE.search(case.words)
    # Read access is not sufficient: the board is also written.
    scope = match.group(1).removeprefix("read:") if match else "project"
    refused = "written" if case.asked.is_write else "read or written"
    outcome = f"the board cannot be {refused}" if scope == "project" else "nothing was changed"
    words = failure_case.sentence("missing-scope", case=case, scope=scope, outcome=outcome)
    return errors.MissingScope(words, evidence=case.words)


# Source for the limits:
# https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
# The types and the messages of Projects v2 are not documented; they are from answers that people quote in
# public.
PROBLEMS: tuple[failure_case.Row, ...] = (
    (_problem("RATE_LIMITED", "RATE_LIMIT", words=_LIMIT_WORDS), failure_case.limited),
    (_problem("RESOURCE_LIMITS_EXCEEDED"), lambda case: failure_case.lost(case, "too-much")),
    (_problem(*_OUTAGE_TYPES, words=_OUTAGE_WORDS), failure_case.outage),
    (lambda case: case.problem.is_unknown, told(errors.Unsupported, "unsupported")),
    (_problem(words=_RACE), told(errors.Transient, "race")),
    (_answers(words="does not belong to the field"), told(errors.StaleFields, "stale")),
    (_answers(words="archived and cannot be updated"), told(errors.ItemArchived, "archived-item")),
    (_problem("INSUFFICIENT_SCOPES"), _missing_scope),
    (_problem("NOT_FOUND"), failure_case.not_found),
    (_problem("FORBIDDEN"), failure_case.forbidden),
    (lambda _: True, failure_case.rejected),
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
        return next((error for error in every if isinstance(error, errors.Transient)), every[0])

    def of_silence(self, silence: Silence, asked: AskedRequest) -> LifecycleError:
        """The error for a request to which no answer came."""
        if silence.is_final:
            return errors.Rejected(f"GitHub {silence.words}; nothing was changed. Correct that.")
        landed = silence.may_have_landed
        return self._lost(silence.words, asked, may_have_landed=landed, way=silence.way)

    def _lost(
        self, words: str, asked: AskedRequest, *, may_have_landed: bool, way: str = ""
    ) -> errors.Transient:
        is_ambiguous = asked.is_write and may_have_landed
        kept = "it may have been done" if is_ambiguous else "nothing was changed"
        lost = f"GitHub {words} when asked for {asked.subject}; {kept}. {way or 'Try again later.'}"
        return errors.Transient(lost, is_ambiguous=is_ambiguous)

    def of_nonsense(self, asked: AskedRequest) -> errors.Transient:
        """The error for an answer that cannot be understood: not JSON, cut off, or of another shape."""
        return self._lost("gave an answer that cannot be read", asked, may_have_landed=True)

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
