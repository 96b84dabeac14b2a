"""Frozen values: what is known of an issue, a pull request, its checks, a board.

No provider's type appears here, and nothing here reads a clock, a file or the network. Times are
seconds since the epoch (UTC) as floats; `None` means that GitHub did not say.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.values.checks import Checks

MergeMethod = Literal["merge", "squash", "rebase"]


@dataclass(frozen=True, slots=True)
class MergeDemands:
    """What a base branch demands beside checks, by classic protection and rulesets together.

    Attributes:
        approvals: how many approving reviews.
        code_owners: one of them by an owner of the code.
        last_push: one of them by somebody else than whoever pushed last.
        conversations: every conversation about the diff is resolved.
        others: further rules that can hold a merge back, in GitHub's words for their kinds. GitHub does
            not show whether a pull request keeps them.
    """

    approvals: int = 0
    code_owners: bool = False
    last_push: bool = False
    conversations: bool = False
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A pull request's place in the merge queue.

    Attributes:
        state: as GraphQL's MergeQueueEntryState spells it.
        position: counted from 1, None if GitHub did not say.
        commit: the commit that is tested for it, "" if none was made yet.
        has_checks: a check of that commit has registered; False also if GitHub did not say.
    """

    state: str
    position: int | None = None
    commit: str = ""
    has_checks: bool = False


@dataclass(frozen=True, slots=True)
class Ejection:
    """A pull request was taken out of the merge queue: when, and GitHub's word for why.

    `commit` is the commit that was tested for it there, "" if GitHub did not say.
    """

    id: str
    at: float | None = None
    reason: str = ""
    commit: str = ""

    @property
    def is_by_hand(self) -> bool:
        """True if a person took it out: nothing failed, and there is nothing to fix.

        GitHub publishes no list of its words. Source: https://github.com/djinnos/djinn/pull/768
        """
        return self.reason.casefold() in ("manual", "queue_cleared")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by its two names, as in `owner/name`."""

    owner: str
    name: str

    @property
    def variables(self) -> dict[str, Any]:
        """The names as the documents of GraphQL have them."""
        return {"owner": self.owner, "name": self.name}

    def __str__(self) -> str:
        return f"{self.owner}/{self.name}"


class PullState(StrEnum):
    """A pull request's state, as GraphQL's PullRequestState spells it."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    MERGED = "MERGED"


@dataclass(frozen=True, slots=True)
class Review:
    """One submitted review.

    Attributes:
        id: GitHub's global id, different for each review of the same author.
        author: a login, "" if the account is gone.
        state: as GraphQL's PullRequestReviewState spells it.
        sha: the reviewed head, "" if GitHub does not know it any more.
    """

    id: str
    author: str
    state: str
    submitted_at: float | None = None
    url: str = ""
    sha: str = ""


@dataclass(frozen=True, slots=True)
class Conversations:
    """What a look shows of a pull request's conversations, without their words.

    Attributes:
        digest: a value that changes whenever something is said, edited or resolved; "" if nothing was.
        unresolved: how many conversations about the diff are not resolved.
        unanswered: in how many of those somebody else than the token's owner spoke last.
    """

    digest: str
    unresolved: int = 0
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class PullRequest:
    """One pull request. `checks` is None if they were not asked for.

    Attributes:
        merge_state: as GraphQL's MergeStateStatus spells it, "" if it was not asked for.
        queue: its place in the merge queue, None if it has none.
        ejection: the last time that it left the queue, None if it never did. Leaving it by being
            merged counts as well.
        is_auto_merge: GitHub merges it by itself once all demands are met.
        has_queue: its base takes changes through a merge queue.
        demands: what its base demands beside checks, None if that was not asked for or not shown.
        review_decision: GitHub's own verdict, "" if the base branch requires no review (changes may be
            requested all the same).
        changes_requested: the reviews that ask for changes now, each the last opinion of somebody
            who may write to the repository, the oldest first.
        conversations: its conversations, None if they were not asked for or not shown.
        base_tip: the newest commit of the base branch, "" if it was not asked for or not shown.
        node_id: its global id, "" if it was not asked for.
        author: the login of whoever opened it, "" if the account is gone or it was not asked for.
        requested: who is asked for a review and has not given it: logins, and teams as `owner/team`.
        reverted_by: the merged pull request that reverted it with GitHub's own button; 0 if none did.
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
    has_queue: bool = False
    demands: MergeDemands | None = None
    opened_at: float | None = None
    closed_at: float | None = None
    updated_at: float | None = None
    conversations: Conversations | None = None
    base_tip: str = ""
    node_id: str = ""
    author: str = ""
    requested: tuple[str, ...] = ()
    reverted_by: int = 0

    @property
    def changes_due(self) -> tuple[Review, ...]:
        """The requests for changes of those who are not asked for another review."""
        asking = self.changes_requested
        return tuple(review for review in asking if review.author not in self.requested)

    def ended_with(self, head: str | None) -> bool:
        """True if somebody closed it without a merge, and its last commit was this very one."""
        return self.state is PullState.CLOSED and self.head_sha == head


@dataclass(frozen=True, slots=True)
class Comment:
    """An issue comment."""

    id: int
    body: str


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue. `comments` is None if they were not asked for, else the newest hundred.

    `closed_at` is None while it is open, `reopened_at` if it never was; `open_parts` is how many of its
    sub-issues are open.
    """

    number: int
    id: str
    title: str
    url: str
    is_open: bool
    state_reason: str = ""
    assignees: tuple[str, ...] = ()
    comments: tuple[Comment, ...] | None = None
    closed_at: float | None = None
    updated_at: float | None = None
    open_parts: int = 0
    reopened_at: float | None = None


LABELS_ITEM = "labels/"


@dataclass(frozen=True, slots=True)
class BoardItem:
    """An issue's item on one project: its id and the two fields that the claim keeps true.

    Where labels take the place of the board, the id is `LABELS_ITEM` and the issue's number.
    `status_at` is when the Status was set last, None if it has none, or if labels keep it; `added_at` is
    when the issue was put on the board, None if nobody asked.
    """

    id: str
    status: str | None = None
    agent: str | None = None
    is_archived: bool = False
    status_at: float | None = None
    added_at: float | None = None

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
class BoardBrief:
    """A board for a session's first lines.

    Attributes:
        cards: every issue's card that was read, archived ones left out, in the board's order;
            `Card.url`, `readiness` and `dependencies` are not read.
        total: how many items the board has, drafts and pull requests among them.
        is_complete: False if the time was up before the last page: then counts are lower bounds.
    """

    title: str
    cards: tuple[Card, ...]
    total: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class BoardField:
    """A project field; `options` maps names of options or iterations to ids; a text field has none."""

    id: str
    name: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        """The id of the option called `name`: exactly, else without regard to case."""
        first_last = self.options[::-1]
        folded = {option.casefold(): option_id for option, option_id in first_last}
        return dict(first_last).get(name, folded.get(name.casefold()))


@dataclass(frozen=True, slots=True)
class BoardSchema:
    """A project's ids, which are needed to write a field. Cached in state.json."""

    project_id: str
    title: str
    url: str
    fields: tuple[BoardField, ...]
    is_closed: bool = False

    def field(self, name: str) -> BoardField | None:
        """The field called `name`, or None if the project has none."""
        return next((field for field in self.fields if field.name == name), None)

    @property
    def has_agent(self) -> bool:
        """True if a card can say who is at work: a text field called Agent."""
        field = self.field("Agent")
        return field is not None and field.kind == "TEXT"


@dataclass(frozen=True, slots=True)
class Look:
    """What one observation of a claim has to fetch; whatever is False costs nothing.

    Attributes:
        insists: the board is read again although it could not be read a while ago: somebody waits for
            the answer, or no later look would set the card.
        reviews: what people and bots say of the pull request that `pr_number` names.
        writes: what is needed to send several writes as one; `opens`: a pull request among them.
        lease: who holds the task's lease.
    """

    issue: int
    branch: str
    pr_number: int | None = None
    checks: bool = False
    comments: bool = False
    board: bool = False
    insists: bool = False
    reviews: bool = False
    writes: bool = False
    opens: bool = False
    lease: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """A lease, as its commit says.

    Attributes:
        agent: who holds the task, "" if the commit does not say so in our format.
        since: the committer's date, None if GitHub did not say.
        branch: the claim's branch, "" if the lease does not name it.
        began: when the work began that a takeover continues; None if it took over no lease.
    """

    issue: int
    sha: str
    agent: str = ""
    since: float | None = None
    branch: str = ""
    began: float | None = None


@dataclass(frozen=True, slots=True)
class ClosingPull:
    """An open pull request: its head, and the issues of its repository that it closes once merged."""

    branch: str
    head_owner: str
    closes: tuple[int, ...]


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
        board_note: what a person should know about how `item` was read, or None.
        merge_method: how the repository merges by default, if that was asked for.
        writable: the repository's global id if the token's owner may write to it, else "".
        is_not_ours_to_close: the token's owner may not close the issue, as far as GitHub shows.
        is_archived: the repository is archived, and accepts no writes.
        closers: the open pull requests whose merge closes the issue, if that was asked for.
        is_ahead: the branch has commits that the default branch lacks, if that was asked for.
        hold: the task's lease in this repository, if it was asked for and exists.
    """

    repository: str
    default_branch: str
    issue: Issue | None
    by_number: PullRequest | None = None
    by_branch: tuple[PullRequest, ...] = ()
    item: BoardItem | None = None
    board_problem: str | None = None
    board_note: str | None = None
    merge_method: MergeMethod = "merge"
    writable: str = ""
    is_not_ours_to_close: bool = False
    is_archived: bool = False
    closers: tuple[int, ...] = ()
    is_ahead: bool = False
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """What GitHub and its own looks say about a token. Never the token itself.

    Attributes:
        login: its user, "" for a token that is no user's (an app's, or that of Actions).
        kind: `classic`, `fine-grained`, `oauth`, `app`, `actions` or `unknown`.
        scopes: the OAuth scopes, None where a token has permissions instead.
        server_time: GitHub's clock as it answered.
        limit, remaining: the REST requests of an hour, and how many are left.
        permissions: the permissions that GitHub named in a refusal, "" if it named none.
        expires_at: when the token expires, None if it does not or if GitHub does not say.
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
        name: its present name on GitHub, another than asked for if it was renamed.
        can_push: None if GitHub did not say, as for a token that is no user's. A token may still be
            allowed less than its owner.
        parent: the repository that it is a fork of; "" if it is not a fork.
    """

    name: str
    default_branch: str = ""
    can_push: bool | None = None
    is_private: bool = False
    has_issues: bool = True
    is_archived: bool = False
    parent: str = ""
