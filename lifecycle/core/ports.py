"""What the engine may ask of the world: Protocols of verbs, and nothing else.

A module that implements a Protocol from here is an adapter; `app/wiring.py` chooses among them. Every verb
either returns what is true now or raises one of the three kinds in `errors.py`; none sleeps past the
`Deadline` that its adapter was built with.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lifecycle.core.errors import LifecycleError
    from lifecycle.core.plan import FailuresHeard, ReviewsHeard
    from lifecycle.core.values import model
    from lifecycle.core.values.failed_checks import CommitFailures, FailedHead, WorkflowRun
    from lifecycle.core.values.shapes import CommentFacts, Ensured, IssueFacts, PullFacts
    from lifecycle.core.values.survey import Holding, Swept


class Clock(Protocol):
    """Time, injected: nothing below the entrypoints reads the system clock itself."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for deadlines; the machine's sleep counts."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class Forge(Protocol):
    """Issues, pull requests and checks of one repository."""

    def observe(self, look: model.Look) -> model.Observation:
        """Everything that a decision about one claim needs, in one request."""

    def closing_pulls(self) -> Iterator[model.ClosingPull]:
        """Every open pull request with the issues that its merge closes; one request for each hundred."""

    def pull_requests_of(self, branch: str) -> tuple[model.PullRequest, ...]:
        """The newest ten pull requests whose head branch is called `branch`, newest first."""

    def viewer(self) -> str:
        """The login that the token belongs to."""

    def issue(self, number: int) -> IssueFacts:
        """One issue; NotFound if there is none, or if the number is a pull request's."""

    def blockers(self, number: int) -> tuple[str, ...]:
        """The open issues that block it, and its open sub-issues: `12`, or elsewhere `owner/name#12`."""

    def open_issues(self) -> tuple[IssueFacts, ...]:
        """Every open issue, pull requests left out."""

    def create_pull_request(
        self, *, title: str, body: str, head: str, base: str, is_draft: bool = False
    ) -> model.PullRequest:
        """Open a pull request; `head` is `owner:branch`. PullRequestExists, NothingToMerge, HeadMissing."""

    def pull_request(self, number: int) -> model.PullRequest:
        """One pull request; NotFound if there is none."""

    def set_pull_request_texts(self, number: int, **texts: str) -> model.PullRequest:
        """Replace `title` or `body` and return the pull request as GitHub shows it afterwards."""

    def mark_ready(self, number: int, node_id: str) -> None:
        """Make a draft ready for review."""

    def comment(self, issue: int, body: str) -> CommentFacts:
        """Post one comment. It is never resent here, since GitHub does not deduplicate."""

    def delete_comment(self, comment: int) -> None:
        """Delete one comment by its id; NotFound if it is gone."""

    def close_issue(self, issue: int) -> IssueFacts:
        """Close as completed and return the issue as GitHub shows it afterwards."""

    def assign(self, issue: int, login: str) -> IssueFacts:
        """Assign an account and return the issue as it is then: GitHub may ignore the account."""

    def unassign(self, issue: int, login: str) -> tuple[str, ...]:
        """Unassign an account and return who is left; nothing changes if it was not assigned."""

    def move_ref(self, repository_id: str, ref: str, before: str, after: str) -> None:
        """Set a ref to `after` if it holds `before` now; if `after` is all zeros, delete it."""

    def repository_access(self) -> model.RepositoryAccess:
        """What the token's owner may do here. Only reads; NotFound if GitHub shows no repository."""


class CheckReports(Protocol):
    """Reads the reports of one repository's failed checks, and runs their jobs again."""

    def failed_head(self, number: int, group: str = "") -> FailedHead:
        """What failed on the head of a pull request, in one request if GitHub shows all of it.

        With `group`, a commit of the merge queue: what failed on that commit.

        What the token may not see is named in `unseen`. NotFound.
        """

    def queue_commit(self, number: int) -> str:
        """The newest commit on which the merge queue tested a pull request; "" if no run shows one."""

    def job_log(self, job: int) -> AbstractContextManager[Iterator[str]]:
        """The lines of a job's log as they arrive; only one is in memory at a time.

        The job has to be over, its run need not be. Raises, at once or at a line: NoPermission, NotFound
        (there is no log, or not yet), LogExpired, Transient.
        """

    def run(self, number: int) -> WorkflowRun:
        """The present state of a run of a workflow; NotFound, NoPermission."""

    def failed_on(self, sha: str) -> CommitFailures:
        """The failures that Actions shows for a commit; NoPermission."""

    def run_again(self, run: int, attempt: int) -> None:
        """Run the failed jobs of a run again, unless it has a later attempt already.

        NoPermission; Rejected: the run is not over, or was run again too often.
        """


class FailureFeedback(Protocol):
    """Decides about failed checks: who has to fix them, and who is told."""

    def explained(self, pull: int, head: str, seconds: float | None) -> tuple[str, ...]:
        """Read why a head failed, for the next `heard` to decide by; returns lines for a wake.

        It ends by itself after `seconds`; with None the caller ends it.

        Raises as `CheckReports.failed_head`; lines report other parts that could not be read.
        """

    def heard(
        self, pull: model.PullRequest, known: Mapping[str, Any], *, may_read: bool, may_fetch: bool
    ) -> FailuresHeard:
        """The consequences of a read, and what to remember; nothing is written.

        Args:
            pull: the pull request as it was just read.
            known: what was remembered of it, {} at first.
            may_read: the caller can have the reasons of failures read, if that is due again.
            may_fetch: git may fetch commits that were pushed from elsewhere.
        """


class Merges(Protocol):
    """Operations on the merge of a repository's pull requests; each may be repeated."""

    def ensure_auto_merge(
        self, number: int, *, sha: str = "", method: model.MergeMethod = "merge"
    ) -> Ensured[PullFacts]:
        """Have GitHub merge this head, now or as soon as it may; HeadMoved, NotMergeable, Rejected."""

    def ensure_no_auto_merge(self, number: int) -> Ensured[PullFacts]:
        """Switch auto-merge off."""

    def ensure_branch_updated(self, number: int, *, sha: str = "") -> Ensured[PullFacts]:
        """Have GitHub merge the base into the branch of this head; HeadMoved, NotMergeable."""

    def ensure_not_queued(self, number: int) -> Ensured[None]:
        """Remove the pull request from the merge queue, if it is queued."""


class ReviewFeedback(Protocol):
    """Reports news of what people and bots say about a pull request."""

    def heard(
        self,
        pull: model.PullRequest,
        known: Mapping[str, Any],
        now: float,
        *,
        is_asked: bool,
        waiting: Collection[str] = (),
    ) -> ReviewsHeard:
        """What to say now, and what to remember; nothing is written.

        Args:
            pull: the pull request as it was just read, with its conversations.
            known: what was remembered of it, {} at first.
            now: seconds since the epoch.
            is_asked: the look is by command; else nothing is said while somebody may still be writing.
            waiting: keys of queued notices; news replaces a packet among them.

        Raises NoPermission, BadCredentials, NotFound. Parts that cannot be read now are read at the next
        look.
        """


class Board(Protocol):
    """The place of the Status: one Projects v2 board, or labels."""

    def schema(self) -> model.BoardSchema:
        """Ids of the project, its fields and options, cached or (if never read before) read now."""

    def write(
        self, issue: int, item_id: str, *, status: str | None, agent: str | None, standing: str = ""
    ) -> model.BoardItem:
        """Write an issue's card and return what is shown of it afterwards.

        `status=None` and `agent=None` leave the field alone; an empty `agent` empties it with the
        mutation that really clears. UnknownOption, StaleFields, ItemArchived, ItemMissing.
        """

    def is_ready(self, item_id: str) -> bool:
        """True if a card can be written without a read before it and without a write after it."""

    def add(self, issue_id: str) -> model.BoardItem:
        """Put an issue on the board; returns its item, new or existing."""

    def cards(self) -> tuple[model.Card, ...]:
        """Every item whose content is an issue, all pages, archived ones left out."""

    def brief(self) -> model.BoardBrief:
        """Title and cards, page by page while there is time: rather incomplete than late."""


class Survey(Protocol):
    """Reads many repositories at once, a page a request. Only reads; nothing is kept between calls."""

    def holdings(
        self, repositories: Sequence[model.Repository], waits: int = 0
    ) -> Iterator[Holding]:
        """One holding for each repository, in order; if it cannot be read, its `problem` says why.

        In about the first `waits` of them, the pull requests also show whom they wait for.
        """

    def holdings_of(self, owner: str, waits: int = 0) -> Iterator[Holding]:
        """One holding for each repository of a user or organisation that is not archived and not a fork."""

    def repositories_of(self, owner: str) -> Iterator[model.Repository]:
        """The names of the repositories of `holdings_of`, for callers that read only some of them."""

    def cards(self, at_most: int | None = None) -> Iterator[Swept]:
        """Every issue on the board, archived cards left out, page by page in the board's order.

        Raises BoardTooLarge after one page, before it yields anything, if there are more than `at_most`.
        Raises as `Board.cards` does if the board cannot be read; ValueError if none is configured.
        """

    def issues_of(self, holdings: Iterable[Holding], since: float) -> Iterator[Swept]:
        """The open issues that are assigned, and those that were closed and changed since then."""

    def issues(self, wanted: Iterable[tuple[str, int]]) -> Iterator[Swept]:
        """Issues by repository and number; those that GitHub does not know are left out."""


class Git(Protocol):
    """The repository that the agent works in."""

    def current_branch(self) -> str | None:
        """The branch that HEAD is on, or None if it is detached or unborn."""

    def head_of(self, branch: str) -> str | None:
        """The commit of a local branch, or None."""

    def remote_head_of(self, branch: str, remote: str = "origin") -> str | None:
        """The commit that a remote's tracking ref of a branch shows, or None. No network."""

    def remote_url(self, remote: str) -> str | None:
        """The URL of a remote, or None if there is no such remote."""

    def remotes(self) -> dict[str, tuple[str, ...]]:
        """The remotes that `git remote` lists, each with its URLs."""

    def committed(self, commit: str, names: Sequence[str]) -> str:
        """The text of the first of these files that a commit has as a regular file; "" if none."""

    def run(self, *args: str, check: bool = True, remote: str = "", stdin: str = "") -> str:
        """Run git, which reads `stdin`, and return stdout without its last newline.

        `remote` is the remote that the command talks to.

        Raises GitFailed, Transient; BadConfig for a remote that is not set up here.
        """


class StatusPlace(Protocol):
    """Whether a task's Status is kept on the board, or as labels of the issue."""

    follows_writes: bool
    """False: a board that can be read is kept although writes to it are refused."""

    @property
    def uses_labels(self) -> bool:
        """True if the Status is kept as labels."""

    @property
    def note(self) -> str | None:
        """Why labels are used instead of the board, as a sentence for a person; None if they are not."""

    def gives_up(self, error: LifecycleError) -> bool:
        """True if labels take the place of the board after this failure."""


class Cache(Protocol):
    """A small store that outlives the process, for ids that seldom change."""

    def get(self, key: str) -> object | None:
        """The stored JSON value, or None."""

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value; durable once the engine commits."""
