"""Events as GitHub sends them, with the keys that its documentation names, about this sandbox's world.

Source: https://docs.github.com/webhooks/webhook-events-and-payloads (`issues`, `pull_request`), and
https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows. The payload
of a schedule has the schedule alone (ossf/scorecard-action#106 met one without a repository).
"""

from __future__ import annotations

from typing import Any

from tests.actions.runner import Event

OWNER, NAME = "octo-org", "hello-service"
REPOSITORY = f"{OWNER}/{NAME}"


def schedule() -> Event:
    """The hour has come."""
    return Event("schedule", {"schedule": "17 * * * *"})


def dispatched(**inputs: object) -> Event:
    """Somebody pressed the button."""
    given = {"inputs": {k: str(v).lower() for k, v in inputs.items()}, "ref": "refs/heads/main"}
    return Event("workflow_dispatch", {**given, **_common("maria"), "workflow": "reconcile.yml"})


def issue(action: str, number: int, *, sender: str = "maria") -> Event:
    """Something happened to an issue."""
    subject: dict[str, Any] = {
        "number": number,
        "state": "closed" if action == "closed" else "open",
        "title": 'A "title" with $(touch pwned) and `touch pwned`',
        "user": _user("maria"),
        "assignees": [],
        "labels": [],
        "body": "::error::not a command of ours",
    }
    return Event("issues", {"action": action, "issue": subject, **_common(sender)})


def pull(
    action: str,
    number: int,
    *,
    merged: bool = False,
    head: str | None = REPOSITORY,
    sender: str = "maria",
) -> Event:
    """Something happened to a pull request; `head` is None where the fork was deleted."""
    subject: dict[str, Any] = {
        "number": number,
        "state": "closed" if action == "closed" else "open",
        "merged": merged,
        "draft": False,
        "title": "Fix it",
        "body": None,
        "user": _user("octocat"),
        "head": {
            "ref": "claude/fix-42",
            "repo": head and {"full_name": head, "fork": head != REPOSITORY},
        },
        "base": {"ref": "main", "repo": {"full_name": REPOSITORY}},
    }
    given = {"action": action, "number": number, "pull_request": subject}
    return Event("pull_request", {**given, **_common(sender)})


def _common(sender: str) -> dict[str, Any]:
    repository = {
        "name": NAME,
        "full_name": REPOSITORY,
        "owner": _user(OWNER, "Organization"),
        "default_branch": "main",
        "private": False,
        "fork": False,
    }
    kind = "Bot" if sender.endswith("[bot]") else "User"
    return {
        "repository": repository,
        "organization": {"login": OWNER},
        "sender": _user(sender, kind),
    }


def _user(login: str, kind: str = "User") -> dict[str, Any]:
    return {"login": login, "type": kind, "site_admin": False}
