"""Words that close issues, in the body of a pull request and in commit messages.

Source:
https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.repositories.state import Repository

WORDS = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
    r"(?:(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)"
    r"|https?://[^/\s]+/(?P<place>[\w.-]+/[\w.-]+)/issues/(?P<linked>\d+))",
    re.IGNORECASE,
)


def named(repo: Repository, text: str | None) -> list[Issue]:
    """The issues that a text says it closes, here or elsewhere, without duplicates."""
    named_issues: list[Issue] = []
    for match in WORDS.finditer(text or ""):
        name = match["repo"] or match["place"]
        repository = repo.world.repository(name) if name else repo
        issue = (
            IssueTables.of(repository).issues.get(int(match["number"] or match["linked"]))
            if repository
            else None
        )
        if issue and not issue.is_pull and issue not in named_issues:
            named_issues.append(issue)
    return named_issues


def close_named(repo: Repository, text: str | None, user: User, **by: Any) -> None:
    """Close the open issues that a text says it closes; in other repositories only if the user may push.

    Args:
        repo: The repository of the text.
        text: The body of a pull request, or a commit's message.
        user: The user who merged or pushed it.
        **by: What closed them: `closer`, the pull request's issue half, or `commit`, a sha. REST also
            shows a commit; only GraphQL shows a pull request
            (https://github.com/GD4AI/obsidian-llm-wiki/pull/695).
    """
    for issue in named(repo, text):
        if issue.state == "open" and (issue.repository is repo or issue.repository.can_push(user)):
            issues.close(issue, user, "completed", **by)
