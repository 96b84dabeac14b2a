"""Frozen values: what is known of an issue, a pull request, its checks, a board.

No provider's type appears here, and nothing here reads a clock, a file or the network. Times are
seconds since the epoch (UTC) as floats; `None` means that GitHub did not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by its two names, as in `owner/name`."""

    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class PullState(StrEnum):
    """A pull request's state, as GraphQL's PullRequestState spells it."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    MERGED = "MERGED"


class Bucket(StrEnum):
    """What a check run or a commit status amounts to, once its many values are sorted."""

    PASS = "pass"  # noqa: S105 -- a check's bucket, not a password
    FAIL = "fail"
    CANCELLED = "cancelled"
    PENDING = "pending"


class Verdict(StrEnum):
    """What all checks of a head amount to. Nothing that has not passed for certain is green."""

    GREEN = "green"
    FAILED = "failed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Check:
    """The newest run of one check on one commit.

    Attributes:
        word: GitHub's own word for how it ended, else for where it stands, in GraphQL's spelling.
        app: the id of the GitHub App that made it, None if GitHub does not say (a commit status).
    """

    name: str
    bucket: Bucket
    workflow: str = ""
    event: str = ""
    started_at: float | None = None
    url: str = ""
    ended_at: float | None = None
    word: str = ""
    app: int | None = None


@dataclass(frozen=True, slots=True)
class Required:
    """A check that the base branch demands by name, of one app only if `app` is its id."""

    name: str
    app: int | None = None

    def is_met_by(self, check: Check) -> bool:
        """True if `check` is for certain the one that is demanded, however it ended."""
        return self.name == check.name and self.app in (None, check.app)

    def may_be_met_by(self, check: Check) -> bool:
        """True if only the app is not known: GitHub does not say which one set a commit status."""
        return self.name == check.name and check.app is None


@dataclass(frozen=True, slots=True)
class Checks:
    """All that has registered on one head commit, superseded runs already dropped.

    Attributes:
        sha: the head commit that they belong to.
        runs: one `Check` per (name, app, workflow, event).
        is_complete: False if GitHub did not show all of them, so that green cannot be concluded.
        required: what the base branch demands, as far as GitHub shows it.
        held: workflows that somebody has to approve before they run at all.
        unfinished: workflows that still run: further checks of theirs may register.
        unseen: what the token is not shown, in words, "" if it is shown all.
        overall: GitHub's own word over all checks, told where some are unseen, else "".
        sees_workflows: False if GitHub did not show which workflows wait or run on this head.
        sees_demands: False if GitHub did not show all that the base branch demands.
        is_unblocked: GitHub itself finds everything there that the base branch demands.
        is_late: GitHub showed the workflows of another commit than the head: another look will tell.
    """

    sha: str
    runs: tuple[Check, ...] = ()
    is_complete: bool = True
    required: tuple[Required, ...] = ()
    held: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    unseen: str = ""
    overall: str = ""
    sees_workflows: bool = True
    sees_demands: bool = True
    is_unblocked: bool = False
    is_late: bool = False

    def count(self, *buckets: Bucket) -> int:
        """How many runs lie in any of `buckets`."""
        return sum(run.bucket in buckets for run in self.runs)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Failed and cancelled runs, in name order: a cancelled check counts as failed."""
        bad = [run for run in self.runs if run.bucket in (Bucket.FAIL, Bucket.CANCELLED)]
        return tuple(sorted(bad, key=lambda run: run.name))

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that the base branch demands and that have not reported, in name order."""
        names = {
            one.name for one in self._unmet if not any(one.may_be_met_by(run) for run in self.runs)
        }
        return tuple(sorted(names))

    @property
    def doubted(self) -> tuple[str, ...]:
        """Demands for one app's check of which only a status by somebody is there, in name order."""
        if self.is_unblocked:
            return ()
        return tuple(sorted({one.name for one in self._unmet}.difference(self.missing)))

    @property
    def _unmet(self) -> tuple[Required, ...]:
        return tuple(one for one in self.required if not any(map(one.is_met_by, self.runs)))

    @property
    def hidden(self) -> tuple[str, ...]:
        """What green cannot be concluded without and the token is not shown, each in words."""
        has_demands = self.sees_demands or self.is_unblocked
        words = (
            self.unseen,
            "" if self.sees_workflows else "the workflows of this head",
            "" if has_demands else "all that the base branch demands",
            f"which app set {', '.join(self.doubted)}" if self.doubted else "",
        )
        return tuple(word for word in words if word)

    @property
    def stale(self) -> tuple[str, ...]:
        """The names of checks that GitHub gave up waiting for, and that have to be run again."""
        return tuple(sorted(run.name for run in self.runs if run.word == "STALE"))

    @property
    def verdict(self) -> Verdict:
        """All of it in one word.

        Green only if at least one check registered, all are known, every one passed, none that is
        demanded is missing, no workflow still runs or waits for an approval, and all of that was
        seen: what is hidden is not nothing.
        """
        if self.failed:
            return Verdict.FAILED
        is_over = bool(self.runs) and all(run.bucket is Bucket.PASS for run in self.runs)
        is_unknown = not self.is_complete or self.hidden or self.is_late
        is_awaited = self.missing or self.held or self.unfinished or is_unknown
        return Verdict.GREEN if is_over and not is_awaited else Verdict.PENDING

    @property
    def is_green(self) -> bool:
        """True if the verdict is green."""
        return self.verdict is Verdict.GREEN


@dataclass(frozen=True, slots=True)
class Review:
    """One submitted review.

    Attributes:
        id: GitHub's global id: another review of the same author has another one.
        author: a login, "" if the account is gone.
        state: as GraphQL's PullRequestReviewState spells it.
        sha: the head that it was given for, "" if GitHub does not know it any more.
    """

    id: str
    author: str
    state: str
    submitted_at: float | None = None
    url: str = ""
    sha: str = ""


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A pull request's place in the merge queue.

    Attributes:
        state: as GraphQL's MergeQueueEntryState spells it.
        position: counted from 1, None if GitHub did not say.
    """

    state: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Ejection:
    """A pull request was taken out of the merge queue: when, and GitHub's word for why."""

    id: str
    at: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request. `checks` is None if they were not asked for.

    Attributes:
        merge_state: as GraphQL's MergeStateStatus spells it, "" if it was not asked for.
        queue: its place in the merge queue, None if it has none.
        ejection: the last time that it left the queue, None if it never did. Leaving it by being
            merged counts as well.
        is_auto_merge: GitHub merges it by itself once all that is demanded is there.
        review_decision: GitHub's own verdict, "" where the base branch requires no review: then
            changes may be requested all the same.
        changes_requested: the reviews that ask for changes now, each the last opinion of somebody
            who may write to the repository, the oldest first.
    """

    number: int
    url: str
    title: str
    state: PullState
    branch: str
    head_owner: str
    head_sha: str
    base: str = ""
    body: str = ""
    is_draft: bool = False
    mergeable: str = "UNKNOWN"
    merged_at: float | None = None
    checks: Checks | None = None
    review_decision: str = ""
    changes_requested: tuple[Review, ...] = ()
    merge_state: str = ""
    queue: QueueEntry | None = None
    ejection: Ejection | None = None
    is_auto_merge: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """An issue comment."""

    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue. `comments` is None if they were not asked for, else the newest hundred."""

    number: int
    id: str
    title: str
    url: str
    is_open: bool
    state_reason: str = ""
    assignees: tuple[str, ...] = ()
    comments: tuple[Comment, ...] | None = None


LABELS_ITEM = "labels/"


@dataclass(frozen=True, slots=True)
class BoardItem:
    """An issue's item on one project: its id and the two fields that the claim keeps true.

    Where labels take the place of the board, the id is `LABELS_ITEM` and the issue's number.
    """

    id: str
    status: str | None = None
    agent: str | None = None
    is_archived: bool = False

    @property
    def is_labels(self) -> bool:
        """True if the item stands for an issue's labels."""
        return self.id.startswith(LABELS_ITEM)


@dataclass(frozen=True, slots=True)
class Card:
    """A board item together with the issue on it, for choosing the next task."""

    item: BoardItem
    number: int
    title: str
    url: str
    repository: str
    is_open: bool
    priority: str | None = None
    readiness: str | None = None
    dependencies: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft on the board: a title and a Status, but no issue that could be claimed."""

    title: str
    status: str | None = None


@dataclass(frozen=True, slots=True)
class BoardBrief:
    """A board as a session's first lines show it.

    Attributes:
        cards: every issue's card that was read, archived ones left out, in the board's order;
            `Card.url`, `readiness` and `dependencies` are not read.
        total: how many items the board has, drafts and pull requests among them.
        is_complete: False if the time was up before the last page: then counts are lower bounds.
        drafts: the drafts among the items that were read, archived ones left out.
    """

    title: str
    cards: tuple[Card, ...]
    total: int
    is_complete: bool
    drafts: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True)
class BoardField:
    """A project field; `options` maps names of options or iterations to ids; a text has none."""

    id: str
    name: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        """The id of the option called `name`: exactly, else without regard to case."""
        for wanted in (name, name.casefold()):
            for known, option_id in self.options:
                if wanted in (known, known.casefold()):
                    return option_id
        return None


@dataclass(frozen=True, slots=True)
class BoardSchema:
    """A project's ids: what has to be known before a field can be written. Cached in state.json."""

    project_id: str
    title: str
    url: str
    viewer: str
    fields: tuple[BoardField, ...]

    def field(self, name: str) -> BoardField | None:
        """The field called `name`, or None if the project has none."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True, slots=True)
class Look:
    """What one observation of a claim has to fetch; whatever is False costs nothing.

    Attributes:
        insists: the board is asked for again although it could not be seen a while ago: somebody
            waits for the answer, or nothing comes after this that would set the card.
    """

    issue: int
    branch: str
    pr_number: int | None = None
    checks: bool = False
    comments: bool = False
    board: bool = False
    insists: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """What GitHub showed in one read.

    Attributes:
        issue: None if GitHub knows no such issue (or hides it).
        by_number: the pull request that `Look.pr_number` named, or None if there is none.
        by_branch: the newest ten whose head branch has the claim's name, in any state, newest
            first, and from any owner: match `head_owner` before trusting one.
        item: the issue's item on the configured project, None if it has none or was not asked for.
        board_problem: why the board could not be read, as a sentence, or None.
        board_note: what a person should know of how `item` was read all the same, or None.
    """

    repository: str
    default_branch: str
    issue: Issue | None
    by_number: PullRequest | None = None
    by_branch: tuple[PullRequest, ...] = ()
    item: BoardItem | None = None
    board_problem: str | None = None
    board_note: str | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What GitHub and its own looks say about a token. Never the token itself.

    Attributes:
        login: whose it is, "" for a token that is no user's (an app's, or that of Actions).
        kind: `classic`, `fine-grained`, `oauth`, `app`, `actions` or `unknown`.
        scopes: the OAuth scopes, None where a token has permissions instead.
        server_time: GitHub's clock as it answered.
        limit, remaining: the REST requests of an hour, and how many are left.
        permissions: what GitHub said that it wants where it refused, "" if it said nothing.
        expires_at: when the token ends, None if it does not or if GitHub does not say.
        server_version: of GitHub Enterprise Server, "" on github.com.
    """

    login: str
    kind: str
    scopes: tuple[str, ...] | None = None
    server_time: float | None = None
    limit: int | None = None
    remaining: int | None = None
    permissions: str = ""
    expires_at: float | None = None
    server_version: str = ""


@dataclass(frozen=True, slots=True)
class RepositoryAccess:
    """What the token's owner may do in the repository, and what the repository is like.

    Attributes:
        name: as GitHub has it now: another one than asked for if it was renamed.
        can_push, can_triage: None if GitHub did not say, as for a token that is no user's. A
            token may still be allowed less than its owner.
    """

    name: str
    default_branch: str
    can_push: bool | None = None
    can_triage: bool | None = None
    is_private: bool = False
    has_issues: bool = True
    is_archived: bool = False
