"""Who may speak to the agent, and how what bots write is read."""

from __future__ import annotations

import pytest

from lifecycle.feedback.reviews import review_reading
from lifecycle.feedback.reviews.remarks import Trusted


@pytest.mark.parametrize(
    ("login", "is_bot", "association", "whose"),
    [
        ("maria", False, "OWNER", Trusted.PERSON),
        ("maria", False, "MEMBER", Trusted.PERSON),
        ("maria", False, "COLLABORATOR", Trusted.PERSON),
        ("maria", False, "CONTRIBUTOR", Trusted.STRANGER),
        ("maria", False, "NONE", Trusted.STRANGER),
        ("", False, "", Trusted.STRANGER),
        ("coderabbitai", True, "NONE", Trusted.BOT),
        ("coderabbitai[bot]", True, "NONE", Trusted.BOT),
        ("Copilot", True, "NONE", Trusted.BOT),
        ("copilot-pull-request-reviewer", True, "NONE", Trusted.BOT),
        ("coderabbitai", False, "NONE", Trusted.STRANGER),
        ("coderabbitai-2", True, "NONE", Trusted.STRANGER),
        ("my-coderabbitai", True, "COLLABORATOR", Trusted.STRANGER),
        ("claude[bot][bot]", True, "NONE", Trusted.STRANGER),
    ],
)
def test_a_bot_is_known_by_its_exact_name_and_a_person_by_their_rights(
    login: str, association: str, whose: Trusted, *, is_bot: bool
) -> None:
    """A name that only looks like a bot's, or is somebody's login, lets nobody speak as that bot."""
    given = {"is_bot": is_bot, "association": association}
    assert review_reading.trusted(login, **given, is_ours=False) is whose  # type: ignore[arg-type]
    assert review_reading.trusted(login, **given, is_ours=True) is Trusted.OURS  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("_⚠️ Potential issue_ | _🔴 Critical_\n\n**Lock it.**", "blocking"),
        ("_🗄️ Data Integrity_ | _🟠 Major_ | _⚡ Quick win_", "major"),
        ("_📐 Maintainability_ | _🟡 Minor_", "minor"),
        ("_🧹 Nitpick (assertive)_ | _🔵 Trivial_", "nit"),
        ("![high](https://www.gstatic.com/codereviewagent/high-priority.svg) This leaks.", "major"),
        ("![medium](https://www.gstatic.com/codereviewagent/medium-priority.svg) A route", "minor"),
        (
            "**<sub>![P1 Badge](https://img.shields.io/badge/P1-orange)</sub> Keep the lock**",
            "major",
        ),
        ("### Lost update\n\n**High Severity**\n\nTwo writers", "major"),
        ("nit: a space too many", "nit"),
        ("This is a major refactoring of a critical path with high hopes.", ""),
        ("The P1 lane is low.", ""),
    ],
)
def test_a_class_is_read_in_the_bots_own_form(body: str, kind: str) -> None:
    """A word in a sentence is no class."""
    assert review_reading.about(body)["severity"] == kind


@pytest.mark.parametrize(
    ("body", "is_limited"),
    [
        ("Review rate limited. Try again in 12 minutes.", True),
        ("## Rate limit exceeded\n\n@octocat has exceeded the limit", True),
        ("Reviews paused", True),
        ("You have reached your daily review limit", True),
        ("The handler has no rate limit: anybody may call it.", False),
        ("Rate limit exceeded is never handled here. " + "See the code. " * 300, False),
    ],
)
def test_rate_limited_is_no_review(body: str, *, is_limited: bool) -> None:
    """A bot's short word that it did not look is told apart from a finding about limits."""
    assert review_reading.about(body)["is_limited"] is is_limited
