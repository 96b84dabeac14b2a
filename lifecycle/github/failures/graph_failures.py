"""Problems of GraphQL as errors: the table for the entries of an answer's `errors`.

The first row that fits wins.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from lifecycle.core.errors import (
    ItemArchived,
    LifecycleError,
    MissingScope,
    Rejected,
    StaleFields,
    Transient,
    Unsupported,
)
from lifecycle.github.failures.failure_case import (
    LIMIT_WORDS,
    FailureCase,
    Row,
    forbidden,
    limited,
    not_found,
    outage,
    rejected,
    renewed,
)

_OUTAGE_TYPES = {"INTERNAL", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "TIMEOUT"}
_OUTAGE_WORDS = ("something went wrong", "couldn't respond to your request in time")
_SCOPE = re.compile(r"following scopes: \['([^']+)'")


def absent_api(url: str, status: int, words: str) -> LifecycleError:
    """The error for a status that GitHub's GraphQL never gives: what it misses it tells in a 200.

    Args:
        url: where it was asked for; only host and path are told.
        status: the HTTP status.
        words: what came with it, without secrets.
    """
    parts = urlsplit(url)
    return Rejected(
        f"{parts.hostname or 'the server'} answers {status} at {parts.path or '/'}, where GitHub's GraphQL "
        "API should be, so nothing was changed; correct GITHUB_GRAPHQL_URL (a GitHub Enterprise Server has "
        "it at https://HOST/api/graphql), or see what answers in GitHub's place.",
        evidence=words,
    )


def _is_limit_problem(case: FailureCase) -> bool:
    is_type = case.problem.type in {"RATE_LIMITED", "RATE_LIMIT"}
    return is_type or any(words in case.text for words in LIMIT_WORDS)


def _is_outage_problem(case: FailureCase) -> bool:
    return case.problem.type in _OUTAGE_TYPES or any(words in case.text for words in _OUTAGE_WORDS)


def _is_race(case: FailureCase) -> bool:
    is_priority = "priority" in case.text and "unique" in case.text
    return is_priority or "content already exists" in case.text


def _too_much(case: FailureCase) -> LifecycleError:
    return Transient(
        f"GitHub left parts of {case.asked.subject} out for lack of resources; {case.kept}. "
        "Try again later.",
        is_ambiguous=case.asked.is_write,
        evidence=case.words,
    )


def _race(case: FailureCase) -> LifecycleError:
    return Transient(
        f"Somebody else changed the board at the same moment as {case.asked.subject}; nothing was "
        "changed. Try again.",
        evidence=case.words,
    )


def _stale(case: FailureCase) -> LifecycleError:
    return StaleFields(
        "The board's fields were changed since they were last read; nothing was changed, and they "
        "are read anew.",
        evidence=case.words,
    )


def _archived(case: FailureCase) -> LifecycleError:
    return ItemArchived(
        "The card is archived on the board and was left as it is; restore it there to have it kept.",
        evidence=case.words,
    )


def _missing_scope(case: FailureCase) -> LifecycleError:
    found = _SCOPE.search(case.words)
    # Reading alone does not help: the board is written as well.
    scope = found.group(1).removeprefix("read:") if found else "project"
    refused = "written" if case.asked.is_write else "read or written"
    what = f"the board cannot be {refused}" if scope == "project" else "nothing was changed"
    return MissingScope(
        f"The token from {case.source} lacks the {scope} scope, so {what}; run gh auth refresh -s "
        f"{scope} and {renewed(case)}, or use a classic token with the {scope} scope.",
        evidence=case.words,
    )


def _unsupported(case: FailureCase) -> LifecycleError:
    words = case.words.rstrip(".") or "no reason given"
    return Unsupported(
        f"This GitHub does not know what is needed for {case.asked.subject} ({words}), so "
        "it is done without; an older GitHub Enterprise Server has to be upgraded for it.",
        evidence=case.words,
    )


# Source for the limits:
# https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
# The types and the messages of Projects v2 are documented nowhere; they are taken from answers that
# people quote in public.
PROBLEMS: tuple[Row, ...] = (
    (_is_limit_problem, limited),
    (lambda case: case.problem.type == "RESOURCE_LIMITS_EXCEEDED", _too_much),
    (_is_outage_problem, outage),
    (lambda case: case.problem.is_unknown, _unsupported),
    (_is_race, _race),
    (lambda case: "does not belong to the field" in case.text, _stale),
    (lambda case: "archived and cannot be updated" in case.text, _archived),
    (lambda case: case.problem.type == "INSUFFICIENT_SCOPES", _missing_scope),
    (lambda case: case.problem.type == "NOT_FOUND", not_found),
    (lambda case: case.problem.type == "FORBIDDEN", forbidden),
    (lambda _: True, rejected),
)
