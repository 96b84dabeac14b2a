"""A claimed task that drifted, and what a step of GitHub Actions was told, in tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.outcome import ok
from tests.conftest import Place

REPOSITORY = "octo-org/hello-service"
CARD = "closed-on-board"


def drift(place: Place, *, others: bool = False) -> None:
    """Claim a task here, and close its issue behind the agent's back; nothing else has drifted.

    Unless `others` are let: then the card of #39 says In Review, without a pull request.
    """
    if not others:
        place.control.set_field(39, "Status", "In Progress")
    ok(place.cli("claim", "42"))
    place.control.advance(60)
    place.control.close_issue(42)
    place.clear()


def written(step: Place, name: str) -> str:
    """What is in one of the step's files."""
    return Path(step.environment[name]).read_text()


def happened(step: Place, name: str, **payload: Any) -> None:
    """The event that started the run."""
    step.environment["GITHUB_EVENT_NAME"] = name
    Path(step.environment["GITHUB_EVENT_PATH"]).write_text(json.dumps(payload))
