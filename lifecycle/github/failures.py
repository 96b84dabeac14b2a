"""Every way in which GitHub says no, as a leaf of `lifecycle.errors` and one sentence.

Two tables, one for HTTP answers and one for GraphQL problems: the first row that fits wins. Sentences
are built from status codes, from what was asked, and from GitHub's own words with the token taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle import times
from lifecycle.errors import (
    BadCredentials,
    HeadMissing,
    ItemArchived,
    LifecycleError,
    MissingScope,
    NoPermission,
    NotFound,
    NothingToMerge,
    PullRequestExists,
    Rejected,
    StaleFields,
    Transient,
)
from lifecycle.ports import Clock
from lifecycle.redact import redact

SECONDARY_WAIT = 60.0
"""Seconds to wait after a rate limit that names no time.

Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
"""
_LONGEST_EVIDENCE = 300
_LIMIT_WORDS = ("rate limit", "submitted too quickly", "abuse detection")
_OUTAGE_TYPES = {"INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"}
_MOVED = {301, 302, 303, 307, 308}
_SCOPE = re.compile(r"following scopes: \['([^']+)'")


@dataclass(frozen=True, slots=True)
class Problem:
    """One entry of a GraphQL answer's `errors`.

    Source: https://spec.graphql.org/October2021/#sec-Errors; `type` is GitHub's addition.
    """

    type: str
    path: tuple[str | int, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer that is not what was hoped for. Header names are in lower case."""

    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: tuple[Mapping[str, Any], ...] = ()
    url: str = ""

    @classmethod
    def read(cls, status: int, headers: Mapping[str, Any], body: object) -> Answer:
        """From a status, headers in any case, and a decoded body of any shape."""
        content = body if isinstance(body, dict) else {}
        errors = content.get("errors")
        found = errors if isinstance(errors, list) else []
        return cls(
            status,
            str(content.get("message") or ""),
            {str(name).lower(): str(value) for name, value in headers.items()},
            tuple(one if isinstance(one, dict) else {"message": str(one)} for one in found),
            str(content.get("url") or ""),
        )

    @property
    def words(self) -> str:
        """GitHub's message and the details under it, on one line."""
        details = [
            str(one.get("message") or " ".join(_names(one, ("resource", "field", "code"))))
            for one in self.errors
        ]
        return ": ".join(part for part in (self.message, "; ".join(details)) if part)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: words for the sentence, whether it was a write, and one done in part."""

    subject: str
    is_write: bool = False
    is_partly_done: bool = False


@dataclass(frozen=True, slots=True)
class _Case:
    """One failure, with all that its sentence may need."""

    asked: Asked
    source: str
    words: str
    wait: float
    answer: Answer = field(default_factory=lambda: Answer(200))
    problem: Problem = field(default_factory=lambda: Problem("", (), ""))

    @property
    def text(self) -> str:
        """GitHub's words in lower case, for matching."""
        return self.words.lower()

    @property
    def unchanged(self) -> str:
        """What a clear no left behind."""
        return "only a part was changed" if self.asked.is_partly_done else "nothing was changed"

    @property
    def kept(self) -> str:
        """What became of what was asked: certain for a read, unknown for a write."""
        return "it may have been done" if self.asked.is_write else "nothing was changed"


@dataclass(frozen=True, slots=True)
class Failures:
    """Turns what came back into errors. Knows the token only to keep it out of every text."""

    token: str = field(repr=False)
    token_source: str
    clock: Clock

    def of_answer(self, answer: Answer, asked: Asked) -> LifecycleError:
        """The error that an HTTP answer amounts to."""
        case = _Case(
            asked, self.token_source, self.clean(answer.words), self._wait(answer.headers), answer
        )
        return next(make(case) for fits, make in _ANSWERS if fits(case))

    def of_problem(
        self, problem: Problem, asked: Asked, headers: Mapping[str, str] | None = None
    ) -> LifecycleError:
        """The error that one GraphQL problem amounts to."""
        wait = self._wait(headers or {})
        words = self.clean(problem.message)
        case = _Case(asked, self.token_source, words, wait, problem=problem)
        return next(make(case) for fits, make in _PROBLEMS if fits(case))

    def of_problems(
        self, problems: Iterable[Problem], asked: Asked, headers: Mapping[str, str] | None = None
    ) -> LifecycleError:
        """The most telling of several: one that passes by itself, else the first."""
        found = [self.of_problem(problem, asked, headers) for problem in problems]
        return next((error for error in found if isinstance(error, Transient)), found[0])

    def of_silence(self, words: str, asked: Asked, *, may_have_landed: bool) -> Transient:
        """The error for a request to which no answer came."""
        is_ambiguous = asked.is_write and may_have_landed
        kept = "it may have been done" if is_ambiguous else "nothing was changed"
        return Transient(
            f"GitHub {words} when asked for {asked.subject}; {kept}, and it is tried again later.",
            is_ambiguous=is_ambiguous,
        )

    def of_nonsense(self, asked: Asked) -> Transient:
        """The error for an answer that cannot be understood: not JSON, cut, or of another shape."""
        return self.of_silence(
            "gave an answer that cannot be read", asked, may_have_landed=asked.is_write
        )

    def clean(self, text: str) -> str:
        """Somebody else's words on one line, shortened, without the token and other secrets."""
        plain = text.replace(self.token, "***") if self.token else text
        return redact(" ".join(plain.split()), environment={})[:_LONGEST_EVIDENCE]

    def _wait(self, headers: Mapping[str, str]) -> float:
        """Seconds to wait, in GitHub's order: Retry-After, the reset of a spent limit, a minute."""
        now = times.parse(headers.get("date")) or self.clock.now()
        named = headers.get("retry-after", "")
        if named:
            moment = times.parse(named)
            is_number = named.strip().isdecimal()
            return float(named) if is_number else max((moment or now) - now, 0.0)
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(float(reset) - now, 1.0)
        return SECONDARY_WAIT


def _names(entry: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    return [str(entry[key]) for key in keys if entry.get(key)]


def _is_limit(case: _Case) -> bool:
    headers, status = case.answer.headers, case.answer.status
    is_spent = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    has_words = any(words in case.text for words in _LIMIT_WORDS)
    return status == 429 or (status == 403 and is_spent) or (status in {403, 422} and has_words)


def _limited(case: _Case) -> LifecycleError:
    return Transient(
        f"GitHub's rate limit is used up; nothing was changed, and it goes on in "
        f"{max(round(case.wait), 1)} seconds.",
        retry_after=case.wait,
    )


def _outage(case: _Case) -> LifecycleError:
    status = f" ({case.answer.status})" if case.answer.status >= 400 else ""
    return Transient(
        f"GitHub has a problem of its own{status} with {case.asked.subject}; {case.kept}, and it is "
        "tried again later.",
        retry_after=case.wait if "retry-after" in case.answer.headers else None,
        is_ambiguous=case.asked.is_write,
    )


def _bad_credentials(case: _Case) -> LifecycleError:
    return BadCredentials(
        f"GitHub does not accept the token in {case.source}, so nothing was changed; "
        f"{_renewed(case)}.",
        evidence=case.words,
    )


def _renewed(case: _Case) -> str:
    """How a token comes to where this one was found."""
    if case.source.isupper():
        return f"set it anew: export {case.source}=$(gh auth token)"
    return f"see that {case.source} in your config.toml prints a valid one"


def _forbidden(case: _Case) -> LifecycleError:
    if "saml" in case.text or "x-github-sso" in case.answer.headers:
        fix = "authorize it for the organisation's single sign-on in GitHub's token settings"
    elif needs := case.answer.headers.get("x-accepted-github-permissions"):
        fix = f"it needs {needs}"
    elif case.answer.status == 404:
        fix = "check that it exists, and use a token of somebody who may write to it"
    else:
        fix = "use a token of somebody with access and with the permissions that this needs"
    said = f" (GitHub: {case.words.rstrip('.')})" if case.words else ""
    return NoPermission(
        f"The token in {case.source} has no permission for {case.asked.subject}{said}, so "
        f"{case.unchanged}; {fix}.",
        evidence=case.words,
    )


def _not_found(case: _Case) -> LifecycleError:
    return NotFound(
        f"GitHub shows no {case.asked.subject} to the token in {case.source}, so nothing was "
        "changed; check the name or number, and that the token may see it.",
        evidence=case.words,
    )


def _gone(case: _Case) -> LifecycleError:
    return NotFound(
        f"GitHub says that {case.asked.subject} is gone: issues are disabled in this repository, or "
        "the issue was deleted; nothing was changed, choose another issue or enable issues.",
        evidence=case.words,
    )


def _moved(case: _Case) -> LifecycleError:
    target = case.answer.headers.get("location") or case.answer.url
    where = f" to {target}" if target else ""
    return Rejected(
        f"GitHub answers that {case.asked.subject} has moved{where}, so nothing was changed; the "
        "repository was probably renamed: correct the remote or the configured repository.",
        evidence=case.words,
    )


def _exists(case: _Case) -> LifecycleError:
    return PullRequestExists(
        "There is an open pull request for this branch already; nothing was changed, and that one "
        "is used.",
        evidence=case.words,
    )


def _nothing_to_merge(case: _Case) -> LifecycleError:
    return NothingToMerge(
        "The branch has no commit that its base lacks, so no pull request was opened; commit the "
        "work and push the branch.",
        evidence=case.words,
    )


def _head_missing(case: _Case) -> LifecycleError:
    return HeadMissing(
        "The branch is not on GitHub, so no pull request was opened; push it first.",
        evidence=case.words,
    )


def _rejected(case: _Case) -> LifecycleError:
    number = f" ({case.answer.status})" if case.answer.status >= 400 else ""
    words = case.words.rstrip(".") or "no reason given"
    return Rejected(
        f"GitHub refused {case.asked.subject}{number}: {words}; {case.unchanged}, mend that and "
        "try again.",
        evidence=case.words,
    )


def _base_missing(case: _Case) -> LifecycleError:
    return Rejected(
        "The base branch does not exist on GitHub, so no pull request was opened; correct base in "
        ".lifecycle.toml.",
        evidence=case.words,
    )


def _has_bad_base(case: _Case) -> bool:
    return any(
        one.get("field") == "base" and one.get("code") == "invalid" for one in case.answer.errors
    )


def _has_bad_head(case: _Case) -> bool:
    return any(
        one.get("field") == "head" and one.get("code") == "invalid" for one in case.answer.errors
    )


_Row = tuple[Callable[[_Case], bool], Callable[[_Case], LifecycleError]]

# Sources: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api and
# https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
_ANSWERS: tuple[_Row, ...] = (
    (lambda case: case.answer.status == 401, _bad_credentials),
    (_is_limit, _limited),
    (lambda case: case.answer.status == 403, _forbidden),
    # GitHub hides what a token may not write behind a 404.
    (lambda case: case.answer.status == 404 and case.asked.is_write, _forbidden),
    (lambda case: case.answer.status == 404, _not_found),
    (lambda case: case.answer.status == 410, _gone),
    (lambda case: case.answer.status in _MOVED, _moved),
    (lambda case: "pull request already exists" in case.text, _exists),
    (lambda case: "no commits between" in case.text, _nothing_to_merge),
    (_has_bad_head, _head_missing),
    (_has_bad_base, _base_missing),
    (lambda case: case.answer.status >= 500 or case.answer.status == 408, _outage),
    (lambda _: True, _rejected),
)


def _is_limit_problem(case: _Case) -> bool:
    is_type = case.problem.type in {"RATE_LIMITED", "RATE_LIMIT"}
    return is_type or any(words in case.text for words in _LIMIT_WORDS)


def _is_outage_problem(case: _Case) -> bool:
    return case.problem.type in _OUTAGE_TYPES or case.text.startswith("something went wrong")


def _is_race(case: _Case) -> bool:
    is_priority = "priority" in case.text and "unique" in case.text
    return is_priority or "content already exists" in case.text


def _too_much(case: _Case) -> LifecycleError:
    return Transient(
        f"GitHub left parts of {case.asked.subject} out for lack of resources; {case.kept}, and it "
        "is tried again later.",
        is_ambiguous=case.asked.is_write,
    )


def _race(case: _Case) -> LifecycleError:
    return Transient(
        f"Somebody else changed the board at the same moment as {case.asked.subject}; nothing was "
        "changed, and it is tried again.",
    )


def _stale(case: _Case) -> LifecycleError:
    return StaleFields(
        "The board's fields were changed since they were last read; nothing was changed, and they "
        "are read anew.",
        evidence=case.words,
    )


def _archived(case: _Case) -> LifecycleError:
    return ItemArchived(
        "The card is archived on the board and was left as it is; restore it there to have it kept.",
        evidence=case.words,
    )


def _missing_scope(case: _Case) -> LifecycleError:
    found = _SCOPE.search(case.words)
    # Reading alone does not help: the board is written as well.
    scope = found.group(1).removeprefix("read:") if found else "project"
    what = "the board cannot be read or written" if scope == "project" else "nothing was changed"
    return MissingScope(
        f"The token in {case.source} lacks the {scope} scope, so {what}; run gh auth refresh -s "
        f"{scope} and {_renewed(case)}, or use a classic token with the {scope} scope.",
        evidence=case.words,
    )


# Source for the limits:
# https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
# The types and the messages of Projects v2 are documented nowhere; they are taken from answers that
# people quote in public.
_PROBLEMS: tuple[_Row, ...] = (
    (_is_limit_problem, _limited),
    (lambda case: case.problem.type == "RESOURCE_LIMITS_EXCEEDED", _too_much),
    (_is_outage_problem, _outage),
    (_is_race, _race),
    (lambda case: "does not belong to the field" in case.text, _stale),
    (lambda case: "archived and cannot be updated" in case.text, _archived),
    (lambda case: case.problem.type == "INSUFFICIENT_SCOPES", _missing_scope),
    (lambda case: case.problem.type == "NOT_FOUND", _not_found),
    (lambda case: case.problem.type == "FORBIDDEN", _forbidden),
    (lambda _: True, _rejected),
)
