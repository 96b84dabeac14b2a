"""Words that close issues, in the body of a pull request and in commit messages.

Source: https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lifecycle.sandbox.actions import issues

if TYPE_CHECKING:
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.repositories import Repository

WORDS = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+"
    r"(?:(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)"
    r"|https?://[^/\s]+/(?P<place>[\w.-]+/[\w.-]+)/issues/(?P<linked>\d+))",
    re.IGNORECASE,
)


def named(repo: Repository, text: str | None) -> list[Issue]:
    """The issues that a text says it closes, here or elsewhere, each once."""
    found: list[Issue] = []
    for match in WORDS.finditer(text or ""):
        name = match["repo"] or match["place"]
        there = repo.world.repository(name) if name else repo
        issue = there.issues.get(int(match["number"] or match["linked"])) if there else None
        if issue and not issue.is_pull and issue not in found:
            found.append(issue)
    return found


def close_named(repo: Repository, text: str | None, user: User, commit: str | None = None) -> None:
    """Close the open ones, elsewhere too where the user may write."""
    for issue in named(repo, text):
        if issue.state == "open" and (issue.repository is repo or issue.repository.can_push(user)):
            issues.close(issue, user, "completed")
            if commit and issue.events and issue.events[-1].kind == "closed":
                issue.events[-1].about["commit"] = commit
