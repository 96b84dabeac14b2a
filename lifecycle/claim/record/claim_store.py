"""The claim file and state.json, kept in step; and the marks that the hooks' guards read.

The claim file is shared with an agent that takes no lock and may write at any moment; only the engine
writes state.json. The order of writes is: state.json with the engine's values, then the claim file by
exchange, then state.json again with the result. After a crash between any two, the next look sees an
edit that nobody made or a write that is still to be made; both are merged in the same way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.record import claim_file, journalling
from lifecycle.claim.record.claim_file import CorruptClaimError, Merged, Values, merge, sentence
from lifecycle.claim.record.claim_on_disk import RACY_NS, ClaimOnDisk, FileEdit, continues
from lifecycle.claim.record.sections import CardRecord
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.plan import REPLIES, Audience, Hooks, Notice
from lifecycle.core.timing import parse_time, unhurried
from lifecycle.settings.running_client import is_unattended, session_of
from lifecycle.storage import journal, regular_files, signs_of_life, state_file, store
from lifecycle.storage.signs_of_life import ALWAYS, IDLE_DUE, STOP_DUE
from lifecycle.storage.store import CLAIM_FILE

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock


@dataclass(frozen=True, slots=True)
class Loaded:
    """The claim as one load read it.

    Attributes:
        record: None if there is no claim.
        hints: edited engine fields that GitHub has not judged yet.
        mtime_ns: the claim file's mtime when it was read, before the look.
    """

    record: Record | None
    hints: Mapping[str, Any] = field(default_factory=dict)
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Listener:
    """Who receives notices.

    Attributes:
        channel: the name under which they are marked as offered.
        audiences: the audiences whose notices it can deliver; other notices stay on the queue.
        session: the client's session that they are offered to, or "" if unknown.
        held: events whose notices stay on the queue nevertheless, for instance `failed`.
    """

    channel: str = "cli"
    audiences: Collection[Audience] = tuple(Audience)
    session: str = ""
    held: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """The record after a commit; `changed`: fields that the agent edited, `is_gone`: there is no file."""

    record: Record
    changed: frozenset[str] = frozenset()
    is_gone: bool = False


class ClaimStore:
    """Reads and writes the two files; keeps state.json's content in between."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.disk = ClaimOnDisk(root, clock)
        self.folder = store.Folder(root)
        self.clock = clock
        self.marks = signs_of_life.GuardMarks(self.folder, clock)
        self.file = state_file.StateFile(self.folder)
        self._parsed: tuple[object, Record | None] = (None, None)
        self._read_as: store.FileContent | None = None
        self._last: tuple[Loaded | None, state_file.StateSections] = (None, {})
        self.taken: tuple[Notice, ...] = ()
        """Notices that are marked as offered: this process must print them, whatever happens."""

    @property
    def state(self) -> state_file.StateSections:
        """The sections of state.json as last read."""
        return self.file.content

    def load(self, *, repair: bool = True) -> Loaded:
        """Read both files and merge them; notices about repairs are queued in the ledger.

        Args:
            repair: set a corrupt claim file aside and restore it; without the lock, say False.

        Raises:
            ClaimRefused: an unknown schema version, or (without `repair`) a corrupt file of the two.
        """
        self.file.reload(repair=repair)
        loaded = self._merged_files(repair=repair)
        self._last = (loaded, self.state)
        return loaded

    def _merged_files(self, *, repair: bool) -> Loaded:
        """Read the claim file for `load`: repair interrupted writes, and merge the agent's edits."""
        if self.file.is_unreadable:
            raise ClaimRefused(sentence("state-unread"))
        self._read_as = None
        record = self.remembered()
        if repair:
            self.disk.repair(record)
        try:
            read = self.disk.settled(record)
        except CorruptClaimError as error:
            if not repair:
                raise ClaimRefused(sentence("claim-unread", file=CLAIM_FILE, error=error)) from None
            alive = record if record is not None and not record.ending.outcome else None
            self.ledger.queue(self.disk.set_aside(alive, str(error)))
            return Loaded(alive, mtime_ns=self.mtime_ns())
        if read is None:
            return Loaded(None)
        snapshot, theirs = read
        self._read_as = snapshot
        if record is None or not continues(record, theirs):
            return Loaded(self._begun(theirs), mtime_ns=snapshot.mtime_ns)
        late, notices = self.disk.late_edits(record, repair=repair)
        for notice in notices:
            self.ledger.queue(notice)
        merged = _merged(record, snapshot.mtime_ns, theirs, late)
        record = _edited(_with_merged(record, merged, theirs), merged, snapshot.mtime_ns)
        return Loaded(record, merged.hints, snapshot.mtime_ns)

    def shown(self) -> Record | None:
        """The claim to be shown without a look, read without repair; raises as `load` does.

        A commit that was pushed from this clone after the last poll counts as the head.
        """
        record = self.load(repair=False).record
        git = store.common_folder(self.root)
        if record is None or record.pull.checks is None or git is None:
            return record
        from lifecycle.git.checked_out import pushed_at

        head, at = pushed_at(git, record.ownership.remote or "origin", record.claim.branch)
        is_later = at > (parse_time(record.claim.last_check_poll) or at) + 1  # it has whole seconds
        return replace(record, pull=record.pull.at(head)) if head and is_later else record

    def signs(self, record: Record) -> signs_of_life.Signs:
        """What is known about the session that the claim belongs to."""
        return signs_of_life.signs_of(self.folder, record.ownership.session, self.clock.now())

    def seems_alive(self, record: Record) -> bool:
        """True if the claim's session has not ended, as far as is known."""
        since = max(record.created_at, record.ownership.session_at)
        return signs_of_life.seems_alive(self.signs(record), since, self.clock.now())

    def hooks_for(
        self, record: Record, environment: Mapping[str, str], *, waits: bool | None = False
    ) -> Hooks:
        """What hooks do by themselves for this claim, for the session that asks, or for a terminal.

        Args:
            record: the claim.
            environment: the environment of the caller.
            waits: stops wait for news in an unattended session; None if the settings cannot be read, since
                then every hook ends before it looks.
        """
        asking, signs = session_of({}, environment), self.signs(record)
        if not signs_of_life.has_met(self.folder, asking):
            return Hooks.UNSEEN
        refusal = record.troubles.get("Look")
        if waits is None or (refusal is not None and refusal.is_of_access):
            return Hooks.OVER  # no look can start
        if asking:
            is_left = is_unattended(environment) and not (waits or signs.has_waiter)
            return Hooks.STOP if is_left else Hooks.WATCH
        return Hooks.WATCH if signs.has_waiter or self.seems_alive(record) else Hooks.OVER

    def confirm(self, loaded: Loaded | None) -> Loaded:
        """Under the lock, return what was loaded before it if nothing was written since; else load again.

        Args:
            loaded: the result of `load` without the lock, or None if that failed.

        Raises:
            ClaimRefused: an unknown schema version.
        """
        last, state = self._last
        if loaded is None or loaded.record is None or loaded is not last or state is not self.state:
            return self.load()
        self.disk.repair(loaded.record)
        is_same = self.file.is_current and self.disk.read() == self._read_as
        self.disk.late.settle()
        return loaded if is_same and not self.disk.late.edits() else self.load()

    def commit(self, record: Record, hints: Values, *, is_last: bool = True) -> Committed:
        """Make the record durable and write the claim file to match; the agent's edits win.

        Args:
            record: the record with the engine's values.
            hints: unjudged edits of engine fields, which stay in the file as they are.
            is_last: save state.json once more, with the file's final content. False for a caller that saves
                again: after a crash in between, the next look treats the file as an edit.
        """
        self.keep(record)
        changed: set[str] = set()
        while True:
            try:
                read = self.disk.settled(record)
            except (CorruptClaimError, ClaimRefused):
                return Committed(record, frozenset(changed | {"phase"}))
            if read is None:
                return Committed(record, frozenset(changed), is_gone=True)
            snapshot, theirs = read
            merged = merge(record.past, record.values, theirs)
            record = _with_merged(record, merged, theirs)
            changed |= merged.changed
            wanted = {**merged.values, **{k: v for k, v in hints.items() if theirs.get(k) == v}}
            if wanted == theirs:
                break
            content, keep = claim_file.render(wanted), self.disk.late.keep
            if store.replace_if(self.disk.path, snapshot.content, content, keep) is None:
                break
        record = record.projected()
        self._journal(record)
        self.remember(record)
        if is_last:
            self.save()
        return Committed(record, frozenset(changed))

    def create(self, record: Record) -> Record:
        """Write a fresh claim file; FileExistsError if there is one."""
        self.keep(record)
        with self.disk.path.open("xb") as created:
            try:
                created.write(claim_file.render(record.values))
                created.flush()
            except BaseException:
                self.disk.path.unlink(missing_ok=True)  # half a claim file must not stay
                raise
        record = record.projected()
        self._journal(record)
        self.ledger.retire(record.claim_key)
        self.keep(record)
        return record

    def forget(self, record: Record) -> None:
        """Delete the claim file, unless it is another claim's by now; the record is archived."""
        with contextlib.suppress(FileNotFoundError):
            self.disk.path.rename(self.disk.aside)
        self.disk.finish_deletion(record)
        self._journal(record)
        self.keep(record)

    def notices_of(self, record: Record | None) -> list[Notice]:
        """The notices that wait if this is the claim: of other claims, only how they ended."""
        is_over = record is None or record.ending.outcome
        return self.ledger.waiting_of("" if record is None or is_over else record.claim_key)

    @property
    def ledger(self) -> state_file.Ledger:
        """The ledger of this worktree's notices, with or without a claim."""
        return state_file.Ledger(self.state, self.clock)

    def save(self) -> None:
        """Write state.json as it is in memory, and the marks that the hooks' guards read.

        Nothing is written if this object read or wrote the same last time.
        """
        self.file.save()
        self.disk.note_merged()
        record = self.remembered()
        alive = record if record is not None and not record.ending.outcome else None
        self.marks.show_owner(alive.ownership.session if alive else "")
        is_waiting = bool(self.state.get("queue")) or (alive is not None and alive.is_inherited)
        if alive is not None and derive.is_answer_awaited(alive):
            is_waiting = is_waiting or self.marks.answered_at is None
        self.folder.set_due(signs_of_life.WAITING, self.clock.now() if is_waiting else None)

    def remember(self, record: Record) -> None:
        """Put the record into state.json's content in memory, without writing it."""
        self.state["record"] = record.as_json()
        self._parsed = (self.state["record"], record)

    def keep(self, record: Record) -> None:
        """Put the record into state.json, and write it."""
        self.remember(record)
        self.save()

    def take(self, to: Listener) -> tuple[Notice, ...]:
        """Take the notices that a listener can deliver off the queue; saved before anything is printed.

        What only the last claim's session would be told is dropped once that session is over.
        """
        record, waiting = self.remembered(), self.ledger.waiting()
        others = {notice.key for notice in waiting if notice.session not in ("", to.session)}
        is_over = others and not (record and self.seems_alive(record))
        lost = self.ledger.drop(others.__contains__) if is_over else ()
        taken = self.ledger.take(to.audiences, to.channel, to.session, to.held)
        if taken or lost:
            if record and any(derive.is_question(notice.key, record) for notice in taken):
                # Queued again for a session that inherited the claim and has not seen the question.
                self.note_asked(again=record.is_inherited)
            with unhurried():
                self.save()
                self.taken = (*self.taken, *taken)
        return taken

    def has_heard(self, record: Record, key: str) -> bool:
        """True if the claim's session was offered the notice with this key, or a similar one is queued.

        For a question about closing, any such question is enough.
        """
        heard = self.ledger.offered_to(record.ownership.session)
        heard |= {notice.key for notice in self.ledger.waiting()}
        if derive.is_question(key, record):
            return any(derive.is_question(earlier, record) for earlier in heard)
        return key in heard

    def note_asked(self, *, again: bool = False) -> None:
        """Note that the question about closing was asked; `again` if to a session that had not seen it.

        From then on any prompt of a person counts as an answer; an earlier prompt does not.
        """
        record = self.remembered()
        if record is not None and (again or not derive.is_question_put(record)):
            self.folder.remove(signs_of_life.ANSWERED)
            self.remember(record.with_pull(asked=record.claim.pr_number))

    def stamp(self, mtime_ns: int) -> None:
        """Tell the guard that this version of the file was looked at and needs nothing more.

        Not done while a late edit may still come: it would not change the claim file's mtime.
        """
        if self.clock.now() * 1e9 - mtime_ns >= RACY_NS and not self.disk.late.settle():
            self.marks.stamp(mtime_ns)

    def begin(self) -> None:
        """Let the next stop through, until `wait_for` sets when the next look is due.

        So the next stop continues a look that is cut off by its deadline or by a kill. If the mark
        cannot be written, the guard's mark is as before, and the next stop passes like this one.
        """
        with contextlib.suppress(OSError):
            self.folder.set_due(STOP_DUE, ALWAYS)

    def wait_for(self, stop: float | None, idle: float | None = None) -> None:
        """Let hooks through the guards from these moments on (None: never); at once for a queued notice.

        The stop's mark, which `begin` set, is written last: after a crash before it the next stop looks.
        """
        waiting = {notice.audience for notice in self.ledger.waiting()}
        marks = {"on-idle": (IDLE_DUE, idle), "on-stop": (STOP_DUE, stop)}
        for hook, (mark, moment) in marks.items():
            is_news = waiting & REPLIES[hook].places.keys()
            self.folder.set_due(mark, ALWAYS if is_news else moment)

    def mtime_ns(self) -> int:
        """The claim file's mtime, or 0 if there is none."""
        return max(regular_files.mtime_ns(str(self.disk.path)), 0)

    def remembered(self) -> Record | None:
        """The record in state.json, whether the claim file exists or not; None if it is incomplete."""
        data = self.state.get("record")
        if self._parsed[0] is not data:
            record = None
            with contextlib.suppress(TypeError):  # another version's, or edited by hand
                record = Record.from_json(data) if data else None
            is_whole = record and set(claim_file.FIELDS) <= record.values.keys()
            self._parsed = (data, record if is_whole else None)
        return self._parsed[1]

    def _journal(self, record: Record) -> None:
        """Append the claim's change of phase to the journal; after a crash before the save, again."""
        journal.note(self.root, *journalling.moved(record, self.state, self.clock.now()))

    def _begun(self, theirs: dict[str, Any]) -> Record:
        """The record for a claim file that is not the remembered claim's."""
        fresh = Record(values=theirs, past=(dict(theirs),), created_at=self.clock.now())
        was_synced = fresh.claim.last_synced_status is not None
        return replace(fresh, card=CardRecord(agent=fresh.claim.agent_id if was_synced else None))


def _merged(record: Record, mtime_ns: int, theirs: dict[str, Any], late: list[FileEdit]) -> Merged:
    """Merge the claim file and the late edits, in the order in which they were written."""
    values, changed, hints = dict(record.values), set[str](), dict[str, Any]()
    for _, edited in sorted([(mtime_ns, theirs), *late], key=lambda pair: pair[0]):
        merged = merge(record.past, values, edited)
        values, changed = merged.values, changed | merged.changed
        if edited is theirs:
            hints = merged.hints
    return Merged(values, frozenset(changed), hints)


def _with_merged(record: Record, merged: Merged, theirs: Mapping[str, Any]) -> Record:
    """The record with what was merged; what was read is the base of the next merge.

    So an edit is merged only once. Hints are in the base, too: a second edit, even back to the old value,
    is a new hint.
    """
    read = {**theirs, **{name: merged.values[name] for name in merged.hints}}
    return record.with_values(merged.values).projected(read)


def _edited(record: Record, merged: Merged, mtime_ns: int) -> Record:
    """The record once the agent's edits are merged: without what does not hold after them."""
    if "branch" in merged.changed and PHASES.get(record.claim.phase) in IN_REVIEW:
        # The known pull request is the former branch's: GitHub shows which one is the new branch's.
        record = replace(record, judged="").with_pull(opened=None)
    if record.touched != mtime_ns:
        # The agent wrote the file again: that is another attempt, whatever was refused before.
        is_kept = "phase" not in merged.changed
        troubles = {k: t for k, t in record.troubles.items() if is_kept and not t.is_final}
        record = replace(record, troubles=troubles, conditions={})
    if record.claim.phase != Phase.DONE:
        # A yes counts for one closing: it ends when the phase is not `done` any more.
        record = record.with_ending(override="", consent="")
    return record
