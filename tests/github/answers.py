"""Parts of made-up GraphQL answers."""

from __future__ import annotations

from typing import Any

SHA = "a" * 40


def seen(**changes: Any) -> dict[str, Any]:
    """The repository of an ObserveClaim answer."""
    issue = {"id": "I_42", "number": 42, "title": "t", "url": "u", "state": "OPEN"}
    node = {
        "nameWithOwner": "octo-org/hello-service",
        "defaultBranchRef": {"name": "main"},
        "issue": {**issue, "stateReason": None, "assignees": {"nodes": []}},
        "byBranch": {"nodes": []},
    }
    return {**node, **changes}


def pull(number: int = 7, state: str = "OPEN", **changes: Any) -> dict[str, Any]:
    """A PullRequest node."""
    node = {"number": number, "url": "u", "title": "t", "body": "", "state": state}
    node |= {"headRefName": "work", "headRefOid": SHA, "baseRefName": "main"}
    node |= {"headRepositoryOwner": {"login": "octo-org"}, "statusCheckRollup": None}
    return {**node, **changes}


def problem(kind: str, *path: str | int, message: str = "why") -> dict[str, Any]:
    """An entry of `errors`."""
    return {"type": kind, "path": list(path), "message": message}
