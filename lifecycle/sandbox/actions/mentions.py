"""What texts refer to: issues by number, people by `@login`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.repositories import Repository

ISSUE = re.compile(r"(?<![\w/#])(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)\b")
PERSON = re.compile(r"(?<![\w@/.])@(?P<login>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?![\w/])")


def issues_in(repo: Repository, text: str | None) -> list[Issue]:
    """The issues that a text written in a repository names, each once.

    Source: https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
    """
    found: dict[int, Issue] = {}
    for match in ISSUE.finditer(text or ""):
        there = repo.world.repository(match["repo"]) if match["repo"] else repo
        issue = there.issues.get(int(match["number"])) if there else None
        if issue is not None:
            found[issue.id] = issue
    return list(found.values())


def logins_in(text: str | None) -> set[str]:
    """The logins, in lower case, that a text mentions."""
    return {match["login"].lower() for match in PERSON.finditer(text or "")}


def mentions(issue: Issue, login: str) -> bool:
    """Whether an issue or a comment on it mentions somebody."""
    wanted = f"@{login.lower()}"
    texts = [issue.body, *(comment.body for comment in issue.comments)]
    return any(wanted in (t or "").lower() and login.lower() in logins_in(t) for t in texts)
