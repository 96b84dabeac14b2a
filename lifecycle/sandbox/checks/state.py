"""The state of check suites and runs, workflow runs, commit statuses and planned checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from lifecycle.sandbox.accounts.state import App, User
from lifecycle.sandbox.repositories.state import Repository, Tables

CheckStatus = Literal["queued", "in_progress", "completed", "waiting", "requested", "pending"]
Conclusion = Literal[
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required",
    "stale", "startup_failure",
]  # fmt: skip
StatusState = Literal["error", "failure", "pending", "success"]


@dataclass(slots=True, eq=False)
class Workflow:
    """A workflow of Actions; its name is known from its first run on."""

    id: int
    node_id: str
    repository: Repository = field(repr=False)
    name: str
    created_at: datetime
    state: Literal["active", "disabled_manually"] = "active"
    last_number: int = 0
    """The number of its newest run."""

    @property
    def path(self) -> str:
        """The path of its file: the name in lower case, with `-` for other characters."""
        words = "".join(c if c.isalnum() else "-" for c in self.name.lower())
        return f".github/workflows/{words.strip('-') or 'workflow'}.yml"


@dataclass(slots=True, eq=False)
class WorkflowRun:
    """A run of a workflow of Actions: its jobs are check runs of its suite.

    A `held` run waits for a maintainer's approval, as for a stranger's fork. `actor` is the user who
    caused it.
    """

    id: int
    node_id: str
    workflow: str
    event: str
    number: int
    attempt: int = 1
    held: bool = False
    unread: bool = False
    """Its file could not be read, so none of its jobs began."""
    actor: User | None = None
    suite: CheckSuite | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class CheckSuite:
    """The check runs of one app on one commit; for Actions, of one workflow run."""

    id: int
    node_id: str
    repository: Repository = field(repr=False)
    sha: str
    branch: str | None
    app: App
    created_at: datetime
    updated_at: datetime
    run: WorkflowRun | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark of a check run about lines of a file."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    message: str
    title: str | None = None
    raw_details: str | None = None
    start_column: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a job of Actions, as its runner reports it; times are in whole seconds."""

    number: int
    name: str
    conclusion: Conclusion | None = "success"
    started_at: datetime | None = None
    completed_at: datetime | None = None

    @property
    def status(self) -> CheckStatus:
        """Its status, which follows from its conclusion and its start."""
        if self.conclusion is not None:
            return "completed"
        return "queued" if self.started_at is None else "in_progress"


@dataclass(slots=True, eq=False)
class Output:
    """The output of a check run, besides its conclusion."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class CheckRun:
    """A check run on a commit; a re-run is a new check run."""

    id: int
    node_id: str
    suite: CheckSuite = field(repr=False)
    sha: str
    name: str
    workflow: str | None
    event: str
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    external_id: str = ""
    details_url: str | None = None
    output: Output = field(default_factory=Output)
    actions: list[dict[str, Any]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    log: str | None = None
    log_is_gone: bool = False
    """The log is older than the days for which the repository keeps logs."""
    attempt: int = 1
    """The attempt of the workflow run that it belongs to."""

    @property
    def repository(self) -> Repository:
        """The repository of its commit."""
        return self.suite.repository

    @property
    def key(self) -> tuple[str, str | None, str]:
        """Name, workflow and event: a re-run has those of the check run that it supersedes."""
        return (self.name, self.workflow, self.event)


@dataclass(slots=True, eq=False)
class CommitStatus:
    """A commit status; only the newest of a context counts."""

    id: int
    node_id: str
    repository: Repository = field(repr=False)
    sha: str
    context: str
    state: str
    description: str | None
    created_at: datetime
    creator: User | None = None
    target_url: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedCheck:
    """A check that each new head of a pull request gets, after this many reads of its checks.

    With `context` it is a commit status in `state`; with `name` a check run. Two plans of the same name,
    workflow and event are two states of one run: the later plan updates the run. `log` is its job's
    output.
    """

    name: str | None = None
    context: str | None = None
    status: CheckStatus = "completed"
    conclusion: Conclusion | None = "success"
    workflow: str | None = "CI"
    event: str = "pull_request"
    state: StatusState = "success"
    after_reads: int = 0
    log: str | None = None


@dataclass(slots=True, eq=False)
class Arrival:
    """A planned check on its way to one head."""

    plan: PlannedCheck
    sha: str


@dataclass(slots=True, eq=False)
class CheckTables(Tables):
    """The check runs, statuses, planned checks and workflows of a repository."""

    workflows: dict[str, Workflow] = field(default_factory=dict, repr=False)
    """By name."""
    suites: list[CheckSuite] = field(default_factory=list, repr=False)
    suites_by_sha: dict[str, list[CheckSuite]] = field(default_factory=dict, repr=False)
    suites_by_run: dict[int, CheckSuite] = field(default_factory=dict, repr=False)
    suites_indexed: int = 0
    """The number of `suites` in the two tables above; `checks.suites` updates it."""
    checks: dict[str, list[CheckRun]] = field(default_factory=dict, repr=False)
    """By commit, oldest first."""
    statuses: dict[str, list[CommitStatus]] = field(default_factory=dict, repr=False)
    """By commit, oldest first."""
    plans: tuple[PlannedCheck, ...] = ()
    arrivals: list[Arrival] = field(default_factory=list, repr=False)
    rollup_reads: dict[str, int] = field(default_factory=dict, repr=False)
    announced: set[str] = field(default_factory=set, repr=False)
