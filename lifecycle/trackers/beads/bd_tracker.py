"""Tasks in bd's database, used through bd's own program. Fits `tracker.Tracker`.

Every verb reads the state before it writes, never forces, and reads again after an unclear answer.
bd has no idempotency keys: `create` and `comment` hide theirs as the last line of the text, which is
written in the same step, and look for it first.

Source: `bd --help` and docs/CLI_REFERENCE.md, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Unpack

from lifecycle.core import errors, hidden_marker, tracker
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.tracker import Abilities, Atomicity, Capability, Note, Task, TaskStatus, Wording
from lifecycle.trackers import refusals
from lifecycle.trackers.beads import bd_here, bd_process
from lifecycle.trackers.beads.bd_decode import DELETED, failure, note_of, row_of
from lifecycle.trackers.beads.bd_process import PUBLISH_SECONDS, Runner, label_words, listed
from lifecycle.trackers.registry import OWN_COMMANDS, TrackerPlace


def open_tracker(place: TrackerPlace) -> BeadsTracker:
    """The tasks of this worktree's workspace; nothing is run yet, nor ever without the user's yes."""
    hub, folder = place.hub, place.hub.settings.tracker_folder
    around = (hub.root, hub.environment, place.actor(), hub.deadline, folder, hub.is_hook)
    return BeadsTracker(*around, demand=bd_here.refuse, names=partial(_users_names, place))


def _users_names(place: TrackerPlace) -> tuple[str, ...]:
    """The names that bd uses for its user here without `--actor`; at most one git process.

    Source: `bd --help` of 0.49.6 to 1.3.0: "Actor name (default: $BEADS_ACTOR, git user.name, $USER)".
    """
    named = map(place.hub.environment.get, ("BEADS_ACTOR", "BD_ACTOR", "USER"))
    git_name = place.hub.git.run("config", "user.name", check=False)
    return tuple(name for name in (*named, place.user, git_name) if name)


@dataclass(eq=False)
class BeadsTracker(Runner):
    """The tasks of one workspace, under one actor's name, which is bd's `--actor`.

    Attributes:
        names: returns the names that bd uses for this user; called only if somebody holds a task.
    """

    name = "beads"
    names: Callable[[], tuple[str, ...]] = tuple

    def about(self) -> str:
        """The program with its version, and the configured folder, for `lifecycle doctor`."""
        version = self.version or "of an unknown version"
        return f"bd {version}" + (f" in {self.folder}" if self.folder else "")

    def abilities(self) -> Abilities:
        """The abilities of this version here."""
        can, is_from = {Capability.NATIVE_READY, Capability.DEPENDENCIES}, self.is_from
        can |= {Capability.ATOMIC_CLAIM_NEXT} if is_from(bd_process.CLAIMS_NEXT) else set()
        can |= {Capability.LEASES} if is_from(bd_process.LEASES) else set()
        can |= {Capability.PUBLISH} if self.sends else set()
        kind = Atomicity.LOCAL_CAS if self._has_cas else Atomicity.ADVISORY
        return Abilities(kind, frozenset(can))

    @property
    def _has_cas(self) -> bool:
        """True if bd's own claim succeeds for only one of two."""
        return self.is_from(bd_process.CLAIMS)

    def wording(self) -> Wording:
        """Bd's own commands; the product's if this version has no safe command.

        bd lets anybody with the same name claim again, so a claim command names the actor; from 1.3 on only
        the holder can close, so a close command names the actor, too.
        """
        as_holder = f" --actor={shlex.quote(self.actor)}"
        return Wording(
            show="bd show {id}",
            ready="bd ready --label {label} --unassigned --limit 0",
            claim=f"bd update {{id}} --claim{as_holder}" if self._has_cas else OWN_COMMANDS.claim,
            close='bd close {id} --reason "Summary of changes"',
            label="bd label add {id} {label}",
            comment=OWN_COMMANDS.comment,
            publish=f"bd {self.sends}" if self.sends else "",
            start=bd_here.START,
            as_holder=as_holder,
        )

    def get(self, id: str, *, holders: bool = False) -> Task:  # noqa: A002 -- the Protocol's word
        """One task with its open blockers; NotFound."""
        task = self.show(id).task
        if not holders or task.assignee in ("", self.actor):
            return task
        return refusals.with_holders(task, self.names())

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        """Every task with this label and status; a list does not name blockers."""
        words = ["list", "--limit=0", *label_words((label,) if label else ())]
        if status is TaskStatus.OTHER:
            words.append("--all")
        elif status is not None:
            words.append(f"--status={status.value}")
        tasks = [row.task for row in self.rows(*words) if row.task.raw_status != DELETED]
        fits = [task for task in tasks if refusals.is_listed(task, label, status)]
        return tuple(sorted(fits, key=lambda task: task.urgency))

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """The tasks that could be begun now, by bd's own rules, by urgency."""
        rows = self.rows("ready", "--unassigned", "--limit=0", *label_words(labels))
        tasks = (row.task for row in rows)
        fits = [t for t in tasks if t.is_ready and refusals.has_any(t.labels, labels)]
        return tuple(sorted(fits, key=lambda task: task.urgency))

    def create(self, key: str, **new: Unpack[tracker.NewTask]) -> Task:
        """Create the task of this key, or return the existing one; Invalid. bd sets a missing priority."""
        wanted = refusals.demand_new(key, **new)
        mark = hidden_marker.keyed(key)
        text = hidden_marker.signed(wanted.description, mark)
        flags = {"title": wanted.title, "description": text, "labels": listed(wanted.labels)}
        values = {**flags, "priority": wanted.priority, "external-ref": wanted.external}
        words = [f"--{name}={value}" for name, value in values.items() if value not in ("", None)]

        def find() -> Task | None:
            rows = self.rows("list", "--all", "--limit=0", f"--desc-contains={mark}")
            its = [row.task for row in rows if row.mark == mark]
            oldest = min(its, key=lambda task: task.created_at or 0.0, default=None)
            return self.show(oldest.id).task if oldest is not None else None

        with self.alone():
            task = find()
            if task is not None:
                return task
            command = ("create", *words, "--json")
            created = self.write(*command, seen=lambda raw: row_of(raw).task, read=find)
            if set(wanted.labels) <= set(created.labels):
                return created
            # Some builds add the labels in separate steps: an interrupted one may have missed some.
            return self.edit_labels(created.id, add=wanted.labels)

    def claim(self, id: str) -> Task:  # noqa: A002
        """Make the task the actor's, and in progress; AlreadyClaimed, NotClaimable, BlockedBy, NotFound."""
        with self._alone_at(id) as task:
            if self._has(task):
                return task
            refusals.demand_claimable(task, self.actor)
            if self._has_cas and not task.assignee:
                if task.status is TaskStatus.IN_PROGRESS:  # one build claims only open tasks
                    self.change(task, "update", "--status=open", so=_is_open)
                return self.change(task, "update", "--claim", so=self._has)
            words = ("update", "--status=in_progress", f"--assignee={self.actor}")
            taken = self.change(task, *words, so=self._has)
            if self._has_cas:
                return taken
            # Without compare-and-swap the last writer has it, which may be another actor by now.
            now = self.show(task.id).task
            refusals.demand_mine(now, self.actor)
            return now

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        """Claim the first claimable task of `ready`; None if there is none."""
        with self.alone():
            tasks = self.ready(labels=labels)
            is_native = self.is_from(bd_process.CLAIMS_NEXT)
            can_say = not labels or bool(label_words(labels))
            # With a strange id, bd might choose the omitted one.
            if tasks and is_native and can_say and not self.has_strange:
                taken = self._take_next(labels, {task.id for task in tasks})
                if taken is None or self._has(taken):
                    return taken  # some builds return a task that another actor has by now
            return refusals.first_claimed(lambda task: self.claim(task.id), tasks)

    def _take_next(self, labels: tuple[str, ...], free: set[str]) -> Task | None:
        """Let bd choose and claim in one step; `free` are tasks that were unassigned just before."""
        words = ("ready", "--claim", "--sort=priority", *label_words(labels), "--json")

        def seen(raw: Any) -> tuple[str, ...]:
            return tuple(row_of(issue).task.id for issue in raw)

        def read() -> tuple[str, ...] | None:
            held = ("list", f"--assignee={self.actor}", "--status=in_progress", "--limit=0")
            mine = tuple(row.task.id for row in self.rows(*held) if row.task.id in free)
            return mine if len(mine) == 1 else None

        claimed = self.write(*words, due=list, seen=seen, read=read)
        return self.show(claimed[0]).task if claimed else None

    def renew(self, id: str) -> Task:  # noqa: A002
        """Extend the actor's claim; Lacking, AlreadyClaimed, NotClaimable."""
        if not self.is_from(bd_process.LEASES):
            raise refusals.lacking(Capability.LEASES, "bd-keeps-claims")
        task = self.show(id).task
        refusals.demand_renewable(task, self.actor)

        def seen(_raw: Any) -> Task | None:
            now = self.show(task.id).task
            return now if self._has(now) else None

        return self.write("heartbeat", task.id, "--json", seen=seen, read=lambda: None)

    def release(self, id: str) -> Task:  # noqa: A002
        """Unassign and open the task; a closed one stays closed. AlreadyClaimed."""
        with self._alone_at(id) as task:
            if not task.is_open or _is_free(task):
                return task
            refusals.demand_mine(task, self.actor)
            return self.change(task, "update", "--status=open", "--assignee=", so=_is_free)

    def close(self, id: str, *, reason: str = "") -> Task:  # noqa: A002
        """Close the task; a closed one keeps its reason, which bd would overwrite. BlockedBy."""
        with self._alone_at(id) as task:
            if not task.is_open:
                return task
            refusals.demand_free(task.id, task.blocked_by, "closed")
            words = (f"--reason={reason}",) if reason else ()
            return self.change(task, "close", *words, so=lambda now: not now.is_open)

    def reopen(self, id: str) -> Task:  # noqa: A002
        """Open the task, unassigned; one that is not closed stays as it is."""
        with self._alone_at(id) as task:
            if task.is_open:
                return task
            if task.assignee:
                # First: an interrupted call leaves the task closed, so that the next call continues.
                self.change(task, "update", "--assignee=", so=lambda now: not now.assignee)
            return self.change(task, "reopen", so=_is_free)

    def edit(self, id: str, **texts: Unpack[tracker.TaskEdit]) -> Task:  # noqa: A002
        """Set the task's texts and its priority; Invalid."""
        changes = refusals.demand_edit(**texts)
        if "description" in changes:
            changes["description"] = changes["description"].rstrip()
        with self.alone():
            row = self.show(id)
            new = {name: text for name, text in changes.items() if text != getattr(row.task, name)}
            if not new:
                return row.task
            flags = dict(new)
            if row.mark and "description" in new:
                flags["description"] = hidden_marker.signed(new["description"], row.mark)
            words = [f"--{name}={text}" for name, text in flags.items()]

            def is_so(now: Task) -> bool:
                return all(getattr(now, name) == text for name, text in new.items())

            return self.change(row.task, "update", *words, so=is_so)

    def edit_labels(self, id: str, **labels: Unpack[tracker.LabelEdit]) -> Task:  # noqa: A002
        """Add and remove labels; Invalid. Labels are compared without regard to case."""
        edit = refusals.demand_label_edit(**labels)
        with self._alone_at(id) as task:
            new, gone = refusals.label_changes(task, *edit)
            steps = [*(("add", name) for name in new), *(("remove", name) for name in gone)]
            for verb, name in steps:
                self._label(task.id, verb, name)
            return self.show(task.id).task if steps else task

    def _label(self, name: str, verb: str, label: str) -> None:
        def seen(raw: Any) -> bool | None:
            # The answer does not show the task; but an answer that names it comes from a successful write.
            return any(isinstance(row, dict) and row.get("issue_id") == name for row in raw) or None

        def read() -> bool | None:
            return (label in self.show(name).task.labels) is (verb == "add") or None

        words = ("label", verb, "--json", "--", name, label)
        self.write(*words, due=list, seen=seen, read=read)

    def comment(self, id: str, key: str, text: str) -> Note:  # noqa: A002
        """Post the comment of this key once; an existing one keeps its text. NotFound."""
        refusals.demand_key(key)
        mark = hidden_marker.keyed(key)

        def find() -> Note | None:
            return next((note for note, its in self.notes(id) if its == mark), None)

        with self.alone():
            posted = find()
            if posted is not None:
                return posted
            words = ("comments", "add", "--json", "--", id, hidden_marker.signed(text, mark))
            return self.write(*words, seen=lambda raw: note_of(raw)[0], read=find)

    def list_comments(self, id: str) -> tuple[Note, ...]:  # noqa: A002
        """All comments, the oldest first; NotFound."""
        return tuple(note for note, _ in self.notes(id))

    def add_dependency(self, id: str, blocker: str) -> Task:  # noqa: A002
        """Make the task blocked by another task; Invalid for a circle, NotFound."""
        with self.alone():
            row, other = self.show(id), self.show(blocker).task
            name = row.task.id
            if other.id == name:
                raise refusals.circle(name, name)
            if other.id in row.blockers:
                return row.task

            def read() -> Task | None:
                now = self.show(name)
                return now.task if other.id in now.blockers else None

            words = ("dep", "add", "--json", "--", name, other.id)
            try:
                return self.write(*words, seen=lambda _raw: read(), read=read)
            except errors.AlreadyExists:
                return self.get(name)

    def publish(self) -> None:
        """Send the writes to the remote where others read them; Lacking.

        Rejected has bd's own words as its evidence; Transient, if no answer came, is ambiguous.
        """
        sends = self.sends
        if not sends or self.is_hook:
            why = "Hooks do not publish" if sends else "bd has no remote here"
            raise refusals.lacking(Capability.PUBLISH, "bd-not-sent", why=why)
        ran = self.run(*sends.split(), is_write=True, seconds=PUBLISH_SECONDS)
        if ran.code != 0:
            raise failure(ran.err or ran.out, sends)

    @contextmanager
    def _alone_at(self, name: str) -> Iterator[Task]:
        """The present task, while no other process of ours runs bd; NotFound, Busy."""
        with self.alone():
            yield self.show(name).task

    def _has(self, task: Task) -> bool:
        return refusals.is_held(task, self.actor)


def _is_open(task: Task) -> bool:
    return task.status is TaskStatus.OPEN


def _is_free(task: Task) -> bool:
    return _is_open(task) and not task.assignee
