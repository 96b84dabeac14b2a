"""A valid default world, from which each test changes one thing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.sections import CardRecord
from lifecycle.claim.record.state import Record
from lifecycle.core.plan import Wake
from lifecycle.core.timing import parse_time
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import (
    BoardItem,
    Comment,
    Issue,
    Observation,
    PullRequest,
    PullState,
    Review,
)

NOW = parse_time("2026-01-31T12:00:00Z") or 0.0
BRANCH = "claude/fix-thing-42"
SHA = "a" * 40

EXAMPLE: dict[str, Any] = {
    "schema_version": 1,
    "item_id": "PVTI_lADOBx",
    "issue_number": 42,
    "branch": BRANCH,
    "agent_id": "edouard-1738000000",
    "phase": "coding",
    "summary": "",
    "status": "In Progress",
    "pr_number": None,
    "last_check_poll": None,
    "last_synced_status": "In Progress",
}
"""The design's example of a claim."""

HAND_WRITTEN: dict[str, Any] = {
    "schema_version": 1,
    "item_id": "TEST",
    "issue_number": 42,
    "branch": "claude/test",
    "agent_id": "test",
    "phase": "ready_for_pr",
    "summary": "Test PR",
    "status": "In Review",
    "pr_number": None,
    "last_check_poll": None,
    "last_synced_status": None,
}
"""The file that the design writes by hand to try the PR."""


def values(**changes: Any) -> dict[str, Any]:
    """The fields of a claim."""
    return {**EXAMPLE, **changes}


def record(*, memory: Mapping[str, Any] | None = None, **changes: Any) -> Record:
    """A claim whose file, board and phase are as GitHub shows them, and what else is remembered."""
    content = values(**changes)
    made = Record(
        values=content,
        past=(content,),
        created_at=NOW - 3600,
        card=CardRecord(is_known=True, agent=content["agent_id"]),
        judged=content["phase"],
    )
    return remembering(made, memory or {})


def remembering(made: Record, memory: Mapping[str, Any]) -> Record:
    """The record with some fields set, each by its name, or by `section.name`."""
    for name, value in memory.items():
        section, _, field = name.rpartition(".")
        if section:
            made = replace(made, **{section: replace(getattr(made, section), **{field: value})})
        else:
            made = replace(made, **{name: value})
    return made


def pull(**changes: Any) -> PullRequest:
    """The claim's open pull request."""
    made = PullRequest(
        number=107,
        url="https://github.com/octo-org/hello/pull/107",
        title="Fix race condition",
        body="Refs #42",
        state=PullState.OPEN,
        branch=BRANCH,
        head_owner="octo-org",
        head_sha=SHA,
        base="main",
        mergeable="MERGEABLE",
    )
    return replace(made, **changes)


def review(**changes: Any) -> Review:
    """A review of the claim's head that asks for changes."""
    made = Review(
        id="PRR_1",
        author="maria",
        state="CHANGES_REQUESTED",
        submitted_at=NOW,
        url="https://github.com/octo-org/hello/pull/107#pullrequestreview-1",
        sha=SHA,
    )
    return replace(made, **changes)


def checks(*buckets: Bucket, names: list[str] | None = None) -> Checks:
    """Checks on the head, one for each bucket."""
    called = names or [f"check-{index}" for index in range(len(buckets))]
    return Checks(SHA, tuple(Check(n, b) for n, b in zip(called, buckets, strict=True)))


def issue(**changes: Any) -> Issue:
    """The open issue, its comments read."""
    made = Issue(42, "I_42", "Fix thing", "https://github.com/octo-org/hello/issues/42", True)
    return replace(made, **changes)


def observation(**changes: Any) -> Observation:
    """What GitHub shows while the agent codes."""
    made = Observation(
        repository="octo-org/hello",
        default_branch="main",
        issue=issue(),
        item=BoardItem("PVTI_lADOBx", "In Progress", "edouard-1738000000"),
    )
    return replace(made, **changes)


def comment(body: str) -> Comment:
    """A comment on the issue."""
    return Comment(1, body)


def seen(
    record_: Record | None = None,
    *,
    observed: Observation | None = None,
    wake: Wake = Wake.IDLE,
    **changes: Any,
) -> Snapshot:
    """One decision's input."""
    board, known = Settings(project_number=1), {"observation": observed, "looked_at_checks": True}
    made = Snapshot(wake, NOW, record_ or record(), board, has_board=True, head_owner="octo-org")
    return replace(made, **{**known, **changes})


def texts(spoken: Any) -> str:
    """All that a decision or a report says, one sentence a line."""
    notices = spoken.said if hasattr(spoken, "said") else spoken.notices
    return "\n".join(say.text for say in notices)


def client(*, attended: bool = True, process: int = 0) -> dict[str, str]:
    """What Claude Code's hooks see of it, here of a client that is this process: it starts them itself."""
    return {
        "CLAUDECODE": "1",
        "CLAUDE_PID": str(process or os.getpid()),
        "CLAUDE_CODE_ENTRYPOINT": "cli" if attended else "sdk-cli",
        "CLAUDE_CODE_SESSION_ATTENDED": "1" if attended else "0",
    }
