"""A failed request as values, and the errors that both tables of `failures.py` make from it.

Sentences are built from status codes, from the request, and from GitHub's own words without the token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from lifecycle.core.errors import LifecycleError, NoPermission, NotFound, Rejected, Transient
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.settings.resources import Sentences

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


sentence: Final = Sentences("github/failures/refusals.toml")


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
