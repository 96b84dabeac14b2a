"""What texts refer to: issues by number, people by `@login`."""

from __future__ import annotations

import re

from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.repositories.state import Repository

ISSUE = re.compile(
    r"(?<![\w/#])(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)\b"
    r"|(?<![\w/-])GH-(?P<short>\d+)\b"
    r"|https?://[^/\s]+/(?P<place>[\w.-]+/[\w.-]+)/(?:issues|pull)/(?P<linked>\d+)\b"
)
CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
"""What is shown as it is written, and refers to nothing."""
PERSON = re.compile(r"(?<![\w@/.])@(?P<login>[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?![\w/])")


def issues_in(repo: Repository, text: str | None) -> list[Issue]:
    """The issues and pull requests that a text written in a repository names, each once.

    By `#1`, `GH-1`, `owner/name#1` or the address of their page; not where the text is code
    (https://github.com/go-gitea/gitea/issues/8397 tells it of GitHub, too).
    Source: https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
    """
    found: dict[int, Issue] = {}
    if not text or not ("#" in text or "/" in text or "GH-" in text):
        return []
    for match in ISSUE.finditer(CODE.sub(" ", text) if "`" in text else text):
        name = match["repo"] or match["place"]
        there = repo.world.repository(name) if name else repo
        number = int(match["number"] or match["short"] or match["linked"])
        issue = IssueTables.of(there).issues.get(number) if there else None
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
