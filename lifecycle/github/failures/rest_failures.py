"""HTTP answers as errors: the table for REST, which holds for GraphQL's statuses too.

The first row that fits wins.
"""

from __future__ import annotations

from lifecycle.core.errors import (
    BadCredentials,
    HeadMissing,
    LifecycleError,
    Moved,
    NotFound,
    NothingToMerge,
    PullRequestExists,
    Rejected,
    Transient,
)
from lifecycle.github.failures.failure_case import (
    LIMIT_WORDS,
    AskedRequest,
    FailureCase,
    Row,
    forbidden,
    limited,
    not_found,
    outage,
    rejected,
    renewed,
)

_MOVED = {301, 302, 303, 307, 308}


def _is_limit(case: FailureCase) -> bool:
    headers, status = case.answer.headers, case.answer.status
    is_spent = "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"
    has_words = any(words in case.text for words in LIMIT_WORDS)
    return status == 429 or (status == 403 and is_spent) or (status in {403, 422} and has_words)


def _bad_credentials(case: FailureCase) -> LifecycleError:
    return BadCredentials(
        f"GitHub does not accept the token from {case.source}, so nothing was changed; "
        f"{renewed(case)}.",
        evidence=case.words,
    )


def _gone(case: FailureCase) -> LifecycleError:
    return NotFound(
        f"GitHub says that {case.asked.subject} is gone: issues are disabled in this repository, or "
        "the issue was deleted; nothing was changed, choose another issue or enable issues.",
        evidence=case.words,
    )


def _moved(case: FailureCase) -> LifecycleError:
    target = case.answer.headers.get("location") or case.answer.url
    where = f" to {target}" if target else ""
    return Moved(
        f"GitHub answers that {case.asked.subject} has moved{where}, so nothing was changed; the "
        "repository was probably renamed: correct the remote or the configured repository.",
        evidence=target or case.words,
    )


def moved_to(name: str, url: str, asked: AskedRequest) -> Moved:
    """The error for a write to a repository that has another name now.

    Args:
        name: `owner/name`, as GitHub has it now.
        url: what git clones it from.
        asked: what was to be done.
    """
    return Moved(
        f"The repository is called {name} on GitHub now, so {asked.subject} was refused and nothing was "
        f"changed; run: git remote set-url origin {url} (and correct repository in .lifecycle.toml, "
        "if it is named there).",
        evidence=name,
    )


def _archived(case: FailureCase) -> LifecycleError:
    return Rejected(
        f"The repository is archived on GitHub, so {case.asked.subject} was refused and nothing was "
        "changed; somebody who administers it has to unarchive it first.",
        evidence=case.words,
    )


def _blocked(case: FailureCase) -> LifecycleError:
    return Rejected(
        f"GitHub has blocked access to {case.asked.subject} for legal reasons (451), so nothing was "
        "changed; the repository's owner has to settle that with GitHub.",
        evidence=case.words,
    )


def _overtaken(case: FailureCase) -> LifecycleError:
    return Transient(
        f"The base branch moved while GitHub worked on {case.asked.subject}; nothing was changed. Try "
        "again.",
        evidence=case.words,
    )


def _exists(case: FailureCase) -> LifecycleError:
    return PullRequestExists(
        "There is an open pull request for this branch already; nothing was changed, and that one "
        "is used.",
        evidence=case.words,
    )


def _nothing_to_merge(case: FailureCase) -> LifecycleError:
    return NothingToMerge(
        "The branch has no commit that its base lacks, so no pull request was opened; commit the "
        "work and push the branch.",
        evidence=case.words,
    )


def _head_missing(case: FailureCase) -> LifecycleError:
    return HeadMissing(
        "The branch is not on GitHub, so no pull request was opened; push it first.",
        evidence=case.words,
    )


def _base_missing(case: FailureCase) -> LifecycleError:
    return Rejected(
        "The base branch does not exist on GitHub, so no pull request was opened; correct base in "
        ".lifecycle.toml.",
        evidence=case.words,
    )


def _has_bad_base(case: FailureCase) -> bool:
    return any(
        one.get("field") == "base" and one.get("code") == "invalid" for one in case.answer.errors
    )


def _has_bad_head(case: FailureCase) -> bool:
    return any(
        one.get("field") == "head" and one.get("code") == "invalid" for one in case.answer.errors
    )


# Sources: https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api and
# https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
ANSWERS: tuple[Row, ...] = (
    (lambda case: case.answer.status == 401, _bad_credentials),
    (_is_limit, limited),
    (lambda case: case.answer.status == 403 and "was archived" in case.text, _archived),
    (lambda case: case.answer.status == 403, forbidden),
    # GitHub hides what a token may not write behind a 404.
    (lambda case: case.answer.status == 404 and case.asked.is_write, forbidden),
    (lambda case: case.answer.status == 404, not_found),
    (lambda case: case.answer.status == 410, _gone),
    (lambda case: case.answer.status == 451, _blocked),
    # GitHub computes the merge anew: https://github.com/cli/cli/issues/8092
    (lambda case: "base branch was modified" in case.text, _overtaken),
    (lambda case: case.answer.status in _MOVED, _moved),
    (lambda case: "pull request already exists" in case.text, _exists),
    (lambda case: "no commits between" in case.text, _nothing_to_merge),
    (_has_bad_head, _head_missing),
    (_has_bad_base, _base_missing),
    (lambda case: case.answer.status >= 500 or case.answer.status == 408, outage),
    (lambda _: True, rejected),
)
