"""Checks, statuses and workflows of a seed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from lifecycle.sandbox.checks.state import Annotation
from lifecycle.sandbox.seed.form.people import Form


class SeedWorkflow(Form, frozen=True):
    """A workflow of Actions; one that is only heard of in a check need not be written."""

    name: str
    state: Literal["active", "disabled_manually"] = "active"
    last_number: int = 0
    id: int | None = None
    created_at: datetime | None = None


class SeedWorkflowRun(Form, frozen=True):
    """A run of a workflow."""

    workflow: str
    event: str
    number: int = 1
    attempt: int = 1
    held: bool = False
    actor: str | None = None
    id: int | None = None


class SeedSuite(Form, frozen=True):
    """A check suite, that check runs name by its id; by hand none is needed."""

    id: int
    sha: str
    branch: str | None = None
    app: str = "github-actions"
    run: SeedWorkflowRun | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SeedCheckRun(Form, frozen=True):
    """A check run; what belongs to one workflow, event and commit shares a suite."""

    sha: str
    name: str
    status: str = "completed"
    conclusion: str | None = "success"
    workflow: str | None = None
    event: str = "pull_request"
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = []
    actions: list[dict[str, Any]] = []
    external_id: str = ""
    details_url: str | None = None
    log: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    attempt: int = 1
    id: int | None = None
    suite: int | None = None


class SeedStatus(Form, frozen=True):
    """A commit status."""

    sha: str
    context: str
    state: str
    description: str | None = None
    creator: str | None = None
    target_url: str | None = None
    id: int | None = None
    created_at: datetime | None = None
