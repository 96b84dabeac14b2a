"""Everything that can be configured, as values; `settings/config.py` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.stage_names import LINE, Stage

if TYPE_CHECKING:
    from lifecycle.core.values.model import Repository

API_URL = "https://api.github.com"
GRAPHQL_URL = "https://api.github.com/graphql"

HOOK_SECONDS = 8.0
"""The wall-clock deadline of on-stop and on-idle; LIFECYCLE_HOOK_SECONDS can only shorten it."""

CHECK_SECONDS = 1800.0

LABEL_PREFIX = "status: "
SILENT_HOURS = 24.0
AUTO = "auto"


LABEL = "auto-workflow"
MAX_BLOCKS = 50


@dataclass(frozen=True, slots=True)
class StageSettings:
    """The staged workflow's settings, with their defaults.

    Attributes:
        use: the workflow is switched on here; it is active while the tracker has an open labelled task.
        label: the label of the workflow's tasks; `LABEL:anything` counts as well.
        test: commands that run the tests; an instruction names them, and their runs are the evidence.
        review, deploy, start: what an instruction names for these; "" leaves its line out.
        require_evidence: TESTS_PASSING counts only with a green run on the present tree.
        max_blocks: how often in all a session is told to continue before it may stop.
        workflows: the stages of tasks with a label, in their order; others go through all six.
    """

    use: bool = False
    label: str = LABEL
    test: tuple[str, ...] = ()
    review: str = ""
    deploy: str = ""
    start: str = ""
    require_evidence: bool = False
    max_blocks: int = MAX_BLOCKS
    workflows: Mapping[str, tuple[Stage, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels for `Tracker.ready`: the label, and every label that begins with it and a colon."""
        return self.label, f"{self.label}:*"

    def is_label(self, name: str) -> bool:
        """True if a task with this label belongs to the workflow."""
        return name == self.label or name.startswith(f"{self.label}:")

    def line_of(self, labels: tuple[str, ...]) -> tuple[Stage, ...]:
        """The stages of a task with these labels: the first sequence in the file that has one of them."""
        return next((line for name, line in self.workflows.items() if name in labels), LINE)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The caps of an autonomous run, over its whole life; a person's `resume` grants as much again.

    Attributes:
        max_iterations: how often its sessions are told to continue.
        max_sessions: how many sessions lead it.
        max_hours: hours since it began, without the time in which it waited for a person.
        max_tokens: tokens counted in its sessions' transcripts, without those from the model's cache.
    """

    max_iterations: int = 100
    max_sessions: int = 20
    max_hours: float = 24.0
    max_tokens: int = 40_000_000


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of GitHub's REST and GraphQL."""

    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL

    @property
    def hosts(self) -> set[str]:
        """The scheme, host and port of both."""
        addresses = (urlsplit(url) for url in (self.api_url, self.graphql_url))
        return {f"{parts.scheme}://{parts.netloc.casefold()}" for parts in addresses}

    @classmethod
    def of_host(cls, host: str) -> Addresses:
        """The addresses of the GitHub whose pages and git are on `host`.

        Sources: https://docs.github.com/enterprise-server@latest/rest/using-the-rest-api/getting-started-with-the-rest-api
        and, for `*.ghe.com`, https://docs.github.com/enterprise-cloud@latest/admin/data-residency
        """
        is_hosted = host == "github.com" or host.endswith(".ghe.com")
        return cls.of_api(f"https://api.{host}" if is_hosted else f"https://{host}/api/v3")

    @classmethod
    def of_api(cls, api_url: str) -> Addresses:
        """The address of REST, and the matching one of GraphQL: an Enterprise Server has /api/graphql."""
        is_own = api_url.endswith("/api/v3")
        return cls(api_url, f"{api_url.removesuffix('/v3') if is_own else api_url}/graphql")


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
        check_commands: the command of each check, by its name: a text, a list of words, or several lists.
        check_seconds: how long one run of a check may take.
        ci_rerun: how often failed jobs are run again if their infrastructure failed; 0 for never.
        ci_attempts: after how many red heads with the same failure a person is asked.
        wait_unattended: for how many seconds an unattended stop waits for news; 0.0 for none.
        close: "ask" (a person says yes to closing) or "auto" (the merge is the yes).
        merge: "ask" (a person merges) or "auto" (GitHub does, once it may); never from a project's file.
        update_branch: GitHub merges the base into a green branch if the base's rules demand that.
        labels_use: "auto" (labels keep the Status if the board cannot be read), "always", "never".
        labels_prefix: the beginning of these labels' names, including its last space.
        reconcile_release: a reconcile releases claims that show no sign of life.
        silent_hours: hours without any sign of life after which a reconcile may release a claim.
        api_url, graphql_url: GitHub's addresses; never from a project's file.
        hook_seconds: the wall-clock deadline of on-stop and on-idle.
        tdd_enforce: what happens in an autonomous run if code is edited before a test of its story was seen
            to fail: "off", "warn" (the agent is told) or "deny".
        tracker_use: where tasks are kept: a tracker's name, or "auto" for the one that is found here.
        tracker_folder: where the tracker keeps its database, if not where it looks by itself.
        evidence_runners: the project's rows for the table of runners, as they are in its file.
        stages: the staged workflow's settings.
        run: the caps of an autonomous run.
        written_ns: when the project's file was last written, read before its content, in nanoseconds; -1
            if there is no file.
    """

    repository: Repository | None = None
    remote: str = "origin"
    base: str | None = None
    issue_link: str = "Refs"
    validate: tuple[str, ...] = ()
    project_owner: str | None = None
    project_number: int | None = None
    poll_seconds: float = 120.0
    check_commands: Mapping[str, object] = field(default_factory=dict)
    check_seconds: float = CHECK_SECONDS
    ci_rerun: int = 1
    ci_attempts: int = 3
    wait_unattended: float = 0.0
    close: str = "ask"
    merge: str = "ask"
    update_branch: bool = False
    labels_use: str = "auto"
    labels_prefix: str = LABEL_PREFIX
    reconcile_release: bool = False
    silent_hours: float = SILENT_HOURS
    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL
    hook_seconds: float = HOOK_SECONDS
    tdd_enforce: str = "off"
    tracker_use: str = AUTO
    tracker_folder: str = ""
    evidence_runners: tuple[Mapping[str, object], ...] = ()
    stages: StageSettings = field(default_factory=StageSettings)
    run: RunSettings = field(default_factory=RunSettings)
    written_ns: int = field(default=-1, compare=False)

    @property
    def has_board(self) -> bool:
        """True if a task's Status is also kept outside the claim: on a board, or as labels."""
        return self.project_number is not None or self.labels_use == "always"

    @property
    def waits_unattended(self) -> bool:
        """True if an unattended stop waits for news."""
        return self.wait_unattended > 0

    @property
    def board_name(self) -> str:
        """The place where the Status is kept, in words."""
        return "the labels" if self.project_number is None else f"project {self.project_number}"
