"""What tasks are kept in: the verbs that any tracker answers, and the values that they speak of.

A tracker keeps tasks, whoever works on them: GitHub's issues, a database beside the code. Ids are
opaque texts of the tracker's own. A verb is idempotent: what is so already is not written again. It
returns what is true now, as the tracker showed it, or raises one of `errors.py`'s three kinds, most
often one of those named below. After a lost answer it reads back; what no read shows is `Transient`
with `is_ambiguous`.

`trackers/` holds the implementations and the suite that every one of them passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol, Required, TypedDict, Unpack

from lifecycle.core.light_dataclass import dataclass, field


class TaskStatus(StrEnum):
    """Where a task stands; `raw_status` of the task has the tracker's own word."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DEFERRED = "deferred"
    CLOSED = "closed"
    OTHER = "other"


class Atomicity(StrEnum):
    """What a claim is worth when two claim at once."""

    NONE = "none"
    """Whoever writes last has it, and nobody is told."""
    ADVISORY = "advisory"
    """Read, write, read back: a race may leave both believing it for a moment."""
    LOCAL_CAS = "local_cas"
    """One wins, among those who share this database."""
    SHARED_CAS = "shared_cas"
    """One wins, wherever the others are."""


class Capability(StrEnum):
    """What a tracker may lack; the verbs that need it raise `Lacking` then."""

    NATIVE_READY = "native_ready"
    """`ready` is the tracker's own question, not a filter over a list."""
    ATOMIC_CLAIM_NEXT = "atomic_claim_next"
    """`claim_next` chooses and claims in one step, so that nobody is told "taken" in between."""
    LEASES = "leases"
    """A claim ends of itself unless it is renewed."""
    DEPENDENCIES = "dependencies"
    """Tasks can block each other."""
    PUBLISH = "publish"
    """What was written can be sent to where others read it; without it there is nothing to send."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one tracker can do here and now."""

    claim_atomicity: Atomicity
    flags: frozenset[Capability] = frozenset()

    def has(self, capability: Capability) -> bool:
        """True if the tracker has it."""
        return capability in self.flags


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        id: the tracker's own name for it; opaque.
        title, description: its text.
        status: where it stands; `raw_status` is the tracker's own word for that.
        priority: 0 is the most urgent; None if it has none, which sorts last.
        labels: in the tracker's order.
        assignee: who holds it, as the tracker writes it; "" if nobody does.
        blocked_by: ids of the open tasks that block it, as far as the verb that gave the task knows.
        external: what it is linked to in another tracker (`gh-42`, an address), "" if nothing.
        url: its page, "" if it has none.
        close_reason: why it was closed, "" if it is open or nobody said.
        author: who made it, "" if the tracker says nothing.
        held_by: who else has it, of all that says so, if `get` was asked for that: neither the actor nor
            whom it works for.
        created_at, updated_at, closed_at: seconds since the epoch, UTC; None if the tracker says nothing.
    """

    id: str
    title: str
    description: str = ""
    status: TaskStatus = TaskStatus.OPEN
    raw_status: str = "open"
    priority: int | None = None
    labels: tuple[str, ...] = ()
    assignee: str = ""
    blocked_by: tuple[str, ...] = ()
    external: str = ""
    url: str = ""
    close_reason: str = ""
    author: str = ""
    held_by: tuple[str, ...] = ()
    created_at: float | None = None
    updated_at: float | None = None
    closed_at: float | None = None

    @property
    def is_open(self) -> bool:
        """True unless it is closed."""
        return self.status is not TaskStatus.CLOSED

    @property
    def is_ready(self) -> bool:
        """True if somebody could begin with it: open, nobody's, and nothing open blocks it."""
        return self.status is TaskStatus.OPEN and not self.assignee and not self.blocked_by

    @property
    def urgency(self) -> tuple[int, float, str]:
        """What tasks are sorted by: priority, then age, then id."""
        rank = self.priority if self.priority is not None else 1_000
        return rank, self.created_at or 0.0, self.id


@dataclass(frozen=True, slots=True)
class Note:
    """A comment on a task."""

    id: str
    author: str
    text: str
    created_at: float | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """How an agent does by hand what the verbs do: command lines, for instructions.

    `{id}` and `{label}` stand for the task and the label. "" where there is no such thing.

    Attributes:
        show, ready, claim, close, label, publish: command lines.
        comment: says on the task what is on its standard input.
        start: the client's own command that begins with a task, as `/start`; what `init` supplies.
        as_holder: what follows a command on a task that this actor holds, where the name would else be that
            of whoever types it.
    """

    show: str
    ready: str
    claim: str
    close: str
    label: str
    comment: str
    publish: str = ""
    start: str = ""
    as_holder: str = ""


class NewTask(TypedDict, total=False):
    """What a task is made of; all but its title may be left out."""

    title: Required[str]
    description: str
    labels: tuple[str, ...]
    priority: int | None
    external: str


class TaskEdit(TypedDict, total=False):
    """What of a task is to be set; None leaves it alone, as what is left out."""

    title: str | None
    description: str | None
    priority: int | None


class LabelEdit(TypedDict, total=False):
    """Labels to be added and removed; with `create` False none is made, as `edit_labels` has it."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    create: bool


class Tracker(Protocol):
    """Tasks of one place, spoken of in the name of one actor.

    Two agents must not share an actor: whoever claims again in the same name has it already.
    """

    @property
    def name(self) -> str:
        """The name under which the registry knows it."""

    @property
    def actor(self) -> str:
        """In whose name everything is done."""

    def abilities(self) -> Abilities:
        """What it can do here. May ask once; the answer is kept for the object's life."""

    def wording(self) -> Wording:
        """The commands that an agent types. `publish` is "" unless it can publish."""

    def get(self, id: str, *, holders: bool = False) -> Task:  # noqa: A002 -- the tracker's own word
        """One task, its open blockers named. NotFound.

        With `holders` whoever else has it is looked for, wherever that is written down, and named.
        """

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        """Every task with this label and this status, by urgency; all of them, however many.

        Without a status: those that are not closed.
        """

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """What could be begun now (`Task.is_ready`), with any of these labels, by urgency.

        A label that ends with `*` stands for every label that begins so.
        """

    def create(self, key: str, **new: Unpack[NewTask]) -> Task:
        """Create the task of this key; if there is one already, give it as it is now.

        `key` is letters, digits and single . : / # = - _. Invalid for an empty title.
        """

    def claim(self, id: str) -> Task:  # noqa: A002
        """Make it the actor's, and in progress; again is no error.

        Raises:
            AlreadyClaimed: somebody else has it; `by` says who.
            NotClaimable: it is closed, or otherwise not to be begun.
            BlockedBy: open tasks block it.
            NotFound: there is no such task.
        """

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        """Claim the first of `ready` that can be claimed, and give it; None if there is none."""

    def renew(self, id: str) -> Task:  # noqa: A002
        """Extend the actor's claim. Lacking without leases; AlreadyClaimed, NotClaimable."""

    def release(self, id: str) -> Task:  # noqa: A002
        """Make it nobody's and open, if it was the actor's or nobody's; else AlreadyClaimed."""

    def close(self, id: str, *, reason: str = "") -> Task:  # noqa: A002
        """Close it; one that is closed already keeps its reason. BlockedBy, NotFound."""

    def reopen(self, id: str) -> Task:  # noqa: A002
        """Make it open and nobody's; one that is not closed stays as it is."""

    def edit(self, id: str, **texts: Unpack[TaskEdit]) -> Task:  # noqa: A002
        """Set its texts and its priority; None leaves one alone. Invalid, NotFound."""

    def edit_labels(self, id: str, **labels: Unpack[LabelEdit]) -> Task:  # noqa: A002
        """Add and remove labels; one that is so already is no error.

        `create`, True unless given, says what comes of a label that no task has yet, where labels are
        made before they are used: it is made, or (False) refused as UnknownOption and nothing is changed.
        Where a label is no more than a word, there is nothing to make.

        Raises Invalid if one is in both; NotFound.
        """

    def comment(self, id: str, key: str, text: str) -> Note:  # noqa: A002
        """Comment on it once for each key: a second call posts none."""

    def list_comments(self, id: str) -> tuple[Note, ...]:  # noqa: A002
        """All comments on it, the oldest first. NotFound."""

    def add_dependency(self, id: str, blocker: str) -> Task:  # noqa: A002
        """Have it blocked by another task. Lacking, NotFound; Invalid for a circle."""

    def publish(self) -> None:
        """Send what was written to where others can read it. Lacking where there is nothing to send.

        Never called by a hook.
        """


Options = Mapping[str, str]
"""What a tracker is told beside its place: `folder` (where it keeps its database)."""


@dataclass(frozen=True, slots=True)
class Link:
    """A task of one tracker that stands for an issue of GitHub's.

    Attributes:
        tracker: the registry's name of the tracker.
        id: the task there.
        synced: what was last seen to be true of it: "", "claimed", "closed" or "released".
    """

    tracker: str
    id: str
    synced: str = ""


GITHUB = "github"
"""The name of the tracker whose tasks are GitHub's issues."""


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """What other systems see of the worktree's claim, as it lies there or as it was last accepted.

    Attributes:
        tasks: the claim's task as each tracker calls it that has it: name of the tracker to id.
        session: the client's session that the claim belongs to, or "".
        is_ours: no other session that lives holds it.
        is_begun: the task is worked on, or is being released; no pull request is waited for.
        outcome: how the claim ended; "" while it lasts.
    """

    tasks: Mapping[str, str] = field(default_factory=dict)
    session: str = ""
    is_ours: bool = True
    is_begun: bool = True
    outcome: str = ""

    def task_in(self, tracker: str) -> str:
        """The claim's task as this tracker calls it; "" if the tracker does not have it."""
        return self.tasks.get(tracker, "")
