"""The JSON of an overview has the published form, whatever lies in the worktree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from lifecycle.run.table import RunStatus
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.overview.overview_values import overview_json
from tests.docs import overview_schema
from tests.views.overview.overview_ground import NOTE, OverviewGround


def seen(ground: OverviewGround) -> dict[str, Any]:
    """The overview as JSON that was written and read again, held to the schema."""
    data: dict[str, Any] = json.loads(json.dumps(overview_json(ground.seen())))
    jsonschema_rs.validate(json.loads(overview_schema.SCHEMA.read_text("utf-8")), data)
    return data


def test_the_schema_that_is_shipped_is_that_of_the_values() -> None:
    """The file is what `make docs` writes, and it is a schema that refuses what lacks a key."""
    text = overview_schema.SCHEMA.read_text(encoding="utf-8")
    assert text == overview_schema.schema(), "overview.schema.json is stale: run make docs"
    jsonschema_rs.meta.validate(json.loads(text))
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(json.loads(text), {"schema_version": 1})


def test_a_worktree_with_nothing_in_it(ground: OverviewGround) -> None:
    """All keys are there, and say that there is nothing."""
    data = seen(ground)
    assert data["schema_version"] == 1
    assert data["worktree"]["branch"] == "main"
    assert [data[name] for name in ("claim", "pull", "checks", "stage", "run", "workflow")] == [
        None
    ] * 6
    assert [data[name] for name in ("waiting", "events", "awaited")] == [[], [], []]
    assert data["troubles"] == {}


def test_everything_at_once(ground: OverviewGround) -> None:
    """Moments are text, what nobody knows is null, and the numbers are numbers."""
    ground.everything()
    data = seen(ground)
    assert data["claim"]["issue"] == 42
    assert data["claim"]["linked_task"] is None
    assert data["claim"]["since"].endswith("Z")
    assert data["pull"]["state"] == "passed"
    assert data["run"]["completed"] is None
    assert [story["status"] for story in data["run"]["stories"]] == [
        "completed", "in_progress", "pending",
    ]  # fmt: skip
    assert data["awaited"][0]["part"] == "pull"


def test_what_waits_and_what_failed(ground: OverviewGround) -> None:
    """A stopped run, a notice that nobody heard and a file that cannot be read keep to the form."""
    ground.claim(queue=(NOTE,))
    ground.run(status=RunStatus.STOPPED, why="the cap was reached", stopped_at=900.0)
    data = seen(ground)
    assert data["waiting"] == [NOTE.text]
    assert {one["part"] for one in data["awaited"]} == {"waiting", "run"}
    Path(ground.root, CLAIM_FILE).write_bytes(b"{")
    data = seen(ground)
    assert list(data["troubles"]) == ["claim"]
    assert data["claim"] is None
