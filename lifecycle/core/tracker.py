"""Trackers, which keep tasks: the verbs that each of them has, and the values of these verbs.

A tracker keeps tasks, whoever works on them: GitHub's issues, a database beside the code. Ids are
opaque texts of the tracker. A verb is idempotent: what is true already is not written again. It
returns what is true now, as the tracker showed it, or raises one of the three kinds in `errors.py`, most
often one of those named below. After a lost answer it reads back; if no read shows the outcome, it raises
`Transient` with `is_ambiguous`.

`trackers/` holds the implementations and the suite that every one of them passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol, Required, TypedDict, Unpack

from lifecycle.core.light_dataclass import dataclass, field


class TaskStatus(StrEnum):
    """The state of a task; the task's `raw_status` has the tracker's own word."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DEFERRED = "deferred"
    CLOSED = "closed"
    OTHER = "other"


class Atomicity(StrEnum):
    """How safe a claim is if two agents claim at the same time."""

    NONE = "none"
    """The last writer has the task, and nobody is told."""
    ADVISORY = "advisory"
    """Read, write, read back: in a race, both may believe for a moment that they have it."""
    LOCAL_CAS = "local_cas"
    """Only one wins, among those who share this database."""
    SHARED_CAS = "shared_cas"
    """Only one wins, wherever the others are."""


class Capability(StrEnum):
    """What a tracker may lack; then the verbs that need it raise `Lacking`."""

    NATIVE_READY = "native_ready"
    """The tracker itself answers `ready`; it is not a filter over a list."""
    ATOMIC_CLAIM_NEXT = "atomic_claim_next"
    """`claim_next` chooses and claims in one step, so that nobody can take the task in between."""
    LEASES = "leases"
    """A claim ends by itself unless it is renewed."""
    DEPENDENCIES = "dependencies"
    """Tasks can block each other."""
    PUBLISH = "publish"
    """What was written has to be sent to where others read it; without this there is nothing to send."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a tracker can do here and now."""

    claim_atomicity: Atomicity
    flags: frozenset[Capability] = frozenset()

    def has(self, capability: Capability) -> bool:
        """True if the tracker has the capability."""
        return capability in self.flags


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        id: the tracker's own id of the task; opaque.
        title, description: its text.
        status: its state; `raw_status` is the tracker's own word for that.
        priority: 0 is the most urgent; None if it has none, which sorts last.
        labels: in the tracker's order.
        assignee: who holds it, as the tracker writes it; "" if nobody does.
        blocked_by: ids of the open tasks that block it, as far as the verb that returned it knows.
        external: what it is linked to in another tracker (`gh-42`, an address), "" if nothing.
        url: its page, "" if it has none.
        close_reason: why it was closed, "" if it is open or no reason was given.
        author: who created it, "" if the tracker does not say.
        held_by: who else holds it according to any source, if `get` was asked for that: neither the
            actor nor whom the actor works for.
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
        """True if it can be begun: it is open and unassigned, and nothing open blocks it."""
        return self.status is TaskStatus.OPEN and self.is_free

    @property
    def is_free(self) -> bool:
        """True if anybody may claim it: it is ready, or unassigned but still in progress."""
        is_begun = self.status in (TaskStatus.OPEN, TaskStatus.IN_PROGRESS)
        return is_begun and not self.assignee and not self.blocked_by

    @property
    def urgency(self) -> tuple[int, float, str]:
        """The sort key of tasks: priority, then age, then id."""
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
    """Command lines for instructions: how an agent does by hand what the verbs do.

    `{id}` and `{label}` stand for the task and the label. A missing command is "".

    Attributes:
        show, ready, claim, close, label, publish: command lines.
        comment: posts its standard input as a comment on the task.
        start: the client's own command that begins a task, such as `/start`, which `init` supplies.
        as_holder: text to append to a command on a task that this actor holds, if the command would else
            use the name of whoever types it.
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
    """The fields of a new task; all but its title may be left out."""

    title: Required[str]
    description: str
    labels: tuple[str, ...]
    priority: int | None
    external: str


class TaskEdit(TypedDict, total=False):
    """The fields of a task to set; None leaves one alone, and so does leaving it out."""

    title: str | None
    description: str | None
    priority: int | None


class LabelEdit(TypedDict, total=False):
    """Labels to add and remove; with `create` False none is created (see `edit_labels`)."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    create: bool


class Tracker(Protocol):
    """The tasks of one place, used in the name of one actor.

    Two agents must not share an actor: a second claim in the same name succeeds.
    """

    @property
    def name(self) -> str:
        """The tracker's name in the registry."""

    @property
    def actor(self) -> str:
        """The name in which everything is done."""

    def abilities(self) -> Abilities:
        """What the tracker can do here. It may be asked once; the answer is kept with the object."""

    def wording(self) -> Wording:
        """The commands that an agent types. `publish` is "" unless it can publish."""

    def get(self, id: str, *, holders: bool = False) -> Task:  # noqa: A002 -- the tracker's own word
        """One task, with the ids of its open blockers. NotFound.

        With `holders`, everybody else who holds it is looked for, wherever that is written, and named.
        """

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        """Every task with this label and this status, by urgency, however many there are.

        Without a status: tasks that are not closed.
        """

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """The tasks that could be begun now (`Task.is_ready`), with any of these labels, by urgency.

        A label that ends with `*` stands for every label with that beginning.
        """

    def create(self, key: str, **new: Unpack[NewTask]) -> Task:
        """Create the task of this key; if it exists already, return it as it is now.

        `key` is letters, digits and single . : / # = - _. Invalid for an empty title.
        """

    def claim(self, id: str) -> Task:  # noqa: A002
        """Make the task the actor's, and in progress; claiming it again is no error.

        Raises:
            AlreadyClaimed: somebody else holds it; `by` says who.
            NotClaimable: it is closed, or may not be begun for another reason.
            BlockedBy: open tasks block it.
            NotFound: there is no such task.
        """

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        """Claim the first task of `ready` that can be claimed, and return it; None if there is none."""

    def renew(self, id: str) -> Task:  # noqa: A002
        """Extend the actor's claim. Lacking if claims do not expire; AlreadyClaimed, NotClaimable."""

    def release(self, id: str) -> Task:  # noqa: A002
        """Unassign and open the task, if it was the actor's or unassigned; else AlreadyClaimed."""

    def close(self, id: str, *, reason: str = "") -> Task:  # noqa: A002
        """Close the task; one that is closed already keeps its reason. BlockedBy, NotFound."""

    def reopen(self, id: str) -> Task:  # noqa: A002
        """Open the task, unassigned; one that is not closed stays as it is."""

    def edit(self, id: str, **texts: Unpack[TaskEdit]) -> Task:  # noqa: A002
        """Set the task's texts and priority; None leaves one alone. Invalid, NotFound."""

    def edit_labels(self, id: str, **labels: Unpack[LabelEdit]) -> Task:  # noqa: A002
        """Add and remove labels; a label that is present or missing already is no error.

        `create`, True unless given, matters if the tracker's labels have to exist before they are used: a
        new label is created, or (False) refused as UnknownOption and nothing is changed. If a label is just
        a word, there is nothing to create.

        Raises Invalid if one is in both; NotFound.
        """

    def comment(self, id: str, key: str, text: str) -> Note:  # noqa: A002
        """Comment on the task once for each key: a second call posts nothing."""

    def list_comments(self, id: str) -> tuple[Note, ...]:  # noqa: A002
        """All comments on the task, the oldest first. NotFound."""

    def add_dependency(self, id: str, blocker: str) -> Task:  # noqa: A002
        """Mark the task as blocked by another one. Lacking, NotFound; Invalid for a circle."""

    def publish(self) -> None:
        """Send what was written to where others can read it. Lacking if there is nothing to send.

        No hook calls this.
        """


@dataclass(frozen=True, slots=True)
class Link:
    """A task of one tracker that is linked to a GitHub issue.

    Attributes:
        tracker: the registry's name of the tracker.
        id: the task's id there.
        synced: the state in which it was last seen: "", "claimed", "closed" or "released".
    """

    tracker: str
    id: str
    synced: str = ""


GITHUB = "github"
"""The name of the tracker whose tasks are GitHub's issues."""


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """What other systems see of the worktree's claim, as in its file or as it was last accepted.

    Attributes:
        tasks: the id of the claim's task in each tracker that has it, by the tracker's name.
        session: the client's session that owns the claim, or "".
        is_ours: no other live session holds it.
        is_begun: the task is worked on, or is being released, and does not wait for a pull request.
        outcome: how the claim ended; "" while it lasts.
    """

    tasks: Mapping[str, str] = field(default_factory=dict)
    session: str = ""
    is_ours: bool = True
    is_begun: bool = True
    outcome: str = ""

    def task_in(self, tracker: str) -> str:
        """The id of the claim's task in this tracker; "" if the tracker does not have it."""
        return self.tasks.get(tracker, "")
