"""What GitHub shows of the things that the `ensure_*` operations keep true: frozen values.

Times are seconds since the epoch (UTC), None where GitHub says nothing. Texts that GitHub leaves out or
gives as null are "". No provider's type appears here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Generic, TypeVar

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.values.model import PullState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ensured(Generic[T]):
    """The result of an operation.

    Attributes:
        now: what is true now, as GitHub last showed it; None for what is gone.
        changed: True if this call changed something, or may have: after a lost answer, what is found
            counts as this call's change.
        withheld: names of the arguments that contained a known or likely secret: GitHub got `***`
            instead.
    """

    now: T
    changed: bool
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """An issue, or a pull request seen as one.

    Attributes:
        number: the number in its address.
        id: the global id, for GraphQL.
        database_id: the number for REST's dependencies and sub-issues.
        state_reason: `completed`, `not_planned`, `duplicate`, `reopened` or "".
        milestone: its title, "" if it has none.
        closed_by: who closed it; "" if it is open, or was read from a list.
        open_blockers, open_parts: how many open issues block it, and how many of its sub-issues are
            open; None if GitHub does not say (an older Enterprise Server; some answers).
    """

    number: int
    id: str
    database_id: int
    url: str
    title: str
    body: str
    is_open: bool
    state_reason: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    milestone: str = ""
    is_pull_request: bool = False
    closed_at: float | None = None
    updated_at: float | None = None
    created_at: float | None = None
    closed_by: str = ""
    open_blockers: int | None = None
    open_parts: int | None = None


@dataclass(frozen=True, slots=True)
class CommentFacts:
    """A comment on an issue or pull request; `body` holds its hidden marker."""

    id: int
    url: str
    body: str
    author: str = ""
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """A label of the repository; `color` is six hexadecimal digits without `#`."""

    name: str
    color: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class MilestoneFacts:
    """A milestone of the repository."""

    number: int
    title: str
    url: str = ""
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class PullFacts:
    """A pull request.

    Attributes:
        id: the global id, for GraphQL.
        head: `owner:branch`.
        mergeable_state: GitHub's word (`clean`, `dirty`, `blocked`, `behind`, `unstable`, `draft`,
            `unknown`, …), "" if a list or an answer left it out.
        reviewers, team_reviewers: logins and team names that are asked for a review now.
        auto_merge: the method with which GitHub will merge it, "" if auto-merge is off.
        merge_sha: the commit that the merge made, "" before the merge.
    """

    number: int
    id: str
    url: str
    title: str
    body: str
    state: PullState
    head: str
    head_sha: str
    base: str
    is_draft: bool = False
    mergeable_state: str = ""
    reviewers: tuple[str, ...] = ()
    team_reviewers: tuple[str, ...] = ()
    auto_merge: str = ""
    merge_sha: str = ""
    author: str = ""
    opened_at: float | None = None
    closed_at: float | None = None
    updated_at: float | None = None

    @property
    def is_open(self) -> bool:
        """True if it is neither closed nor merged."""
        return self.state is PullState.OPEN

    @property
    def is_merged(self) -> bool:
        """True if it was merged."""
        return self.state is PullState.MERGED


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on lines of a file, shown with a check run.

    Attributes:
        path: the file, from the repository's root.
        start_line, end_line: counted from 1; columns only where both lines are the same.
        level: `notice`, `warning` or `failure`.
        message: at most 64 KB.
    """

    path: str
    start_line: int
    end_line: int
    level: str
    message: str
    title: str = ""
    raw_details: str = ""
    start_column: int | None = None
    end_column: int | None = None


@dataclass(frozen=True, slots=True)
class CheckRunFacts:
    """A check run.

    Attributes:
        status: `queued`, `in_progress` or `completed` (and further words of Actions).
        conclusion: "" until it is completed.
        external_id: the id that its maker gave it.
        annotations: how many annotations it has.
        app: the short name (slug) of the app that made it; only that app may change it.
    """

    id: int
    name: str
    sha: str
    url: str
    status: str
    conclusion: str = ""
    external_id: str = ""
    details_url: str = ""
    title: str = ""
    summary: str = ""
    text: str = ""
    annotations: int = 0
    started_at: float | None = None
    completed_at: float | None = None
    app: str = ""


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """The newest commit status of one context; `state` is error, failure, pending or success."""

    id: int
    sha: str
    context: str
    state: str
    description: str = ""
    target_url: str = ""


@dataclass(frozen=True, slots=True)
class RefFacts:
    """A ref by its full name, `refs/heads/main`, and the object that it points to."""

    ref: str
    sha: str


Value = str | float | date
"""A board field's value: text, an option's or iteration's name, a number, a date."""


@dataclass(frozen=True, slots=True)
class CardWords:
    """What the board says of one issue, in its own words.

    Attributes:
        priority: the word of the field Priority, None if it is not set.
        status: the word of the field Status, None if it is not set.
        agent: the text of the field Agent, "" if it is not set.
    """

    priority: str | None = None
    status: str | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """An item of a board.

    Attributes:
        id: the item's global id.
        number: the number of the issue or pull request on it.
        values: the set values by field name: text, number (float), date, option name, iteration title.
        choices: names of the fields whose value is an option or an iteration; their case is ignored.
    """

    id: str
    number: int
    content_id: str
    is_archived: bool = False
    values: Mapping[str, Value] = field(default_factory=dict)
    choices: frozenset[str] = frozenset()
