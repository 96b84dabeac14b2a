"""Everything that can be configured, as values; `config.py` reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.core.values.model import Repository
from lifecycle.settings.stage_settings import StageSettings

API_URL = "https://api.github.com"
GRAPHQL_URL = "https://api.github.com/graphql"

HOOK_SECONDS = 8.0
"""The wall-clock deadline of on-stop and on-idle; LIFECYCLE_HOOK_SECONDS can only shorten it."""

LABEL_PREFIX = "status: "
SILENT_HOURS = 24.0
AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, with its default.

    Attributes:
        repository: the base repository of issues and PRs, or None to take it from the remote.
        remote: the git remote that branches are pushed to.
        base: the PR's base branch, or None for the repository's default branch.
        issue_link: "Refs" or "Closes"; "Closes" lets GitHub close the issue at the merge.
        validate: commands that `handoff` runs first, each by the shell; all must exit 0.
        project_owner: login of the project's owner, or None for the repository's owner.
        project_number: the project's number, or None if there is no board.
        poll_seconds: backoff between two polls of the checks.
        wait_unattended: for how many seconds a stop waits for news where nobody attends; 0.0 for none.
        close: "ask" (a person says yes to closing) or "auto" (the merge is the yes).
        labels_use: "auto" (labels keep the Status where the board cannot be seen), "always", "never".
        labels_prefix: what the names of these labels begin with, its last space included.
        reconcile_release: a reconcile gives claims back that show no sign of life.
        silent_hours: how long nothing may have happened before a reconcile counts a claim as such.
        api_url, graphql_url: where GitHub answers; never from a project's file.
        hook_seconds: the wall-clock deadline of on-stop and on-idle.
        tracker_use: where tasks are kept: a tracker's name, or "auto" for the one that is found here.
        tracker_folder: where the tracker keeps its database, if not where it looks by itself.
        stages: the staged workflow's settings.
    """

    repository: Repository | None = None
    remote: str = "origin"
    base: str | None = None
    issue_link: str = "Refs"
    validate: tuple[str, ...] = ()
    project_owner: str | None = None
    project_number: int | None = None
    poll_seconds: float = 120.0
    wait_unattended: float = 0.0
    close: str = "ask"
    labels_use: str = "auto"
    labels_prefix: str = LABEL_PREFIX
    reconcile_release: bool = False
    silent_hours: float = SILENT_HOURS
    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL
    hook_seconds: float = HOOK_SECONDS
    tracker_use: str = AUTO
    tracker_folder: str = ""
    stages: StageSettings = field(default_factory=StageSettings)

    @property
    def has_board(self) -> bool:
        """True if a task's Status is kept anywhere but in the claim: on a board, or as labels."""
        return self.project_number is not None or self.labels_use == "always"

    @property
    def board_name(self) -> str:
        """Where the Status is kept, in words."""
        return "the labels" if self.project_number is None else f"project {self.project_number}"
