"""The claim file and state.json, kept in step.

The claim file is shared with an agent that takes no lock and may write at any moment; state.json is
the engine's alone. The order of writes is: state.json with what the engine wants, then the claim file
by exchange, then state.json again with what came of it. A crash between any two is read, at the next
look, as an edit that was not there or a write that is still to be made; both are merged the same way.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lifecycle import journal, messages, store
from lifecycle.claim import consent, file, noted
from lifecycle.claim.file import CLAIM_FILE, CorruptClaimError
from lifecycle.claim.merge import merge
from lifecycle.claim.state import Record
from lifecycle.claim.table import Phase
from lifecycle.errors import ClaimRefused, Refused
from lifecycle.ledger import Ledger
from lifecycle.plan import Say, Tone
from lifecycle.ports import Clock
from lifecycle.times import render

RACY_NS = 2_000_000_000
"""A file younger than this may be changed again without its mtime showing it (as git's racy index)."""

SETTLE_TRIES = 8
SETTLE_SECONDS = 0.05
"""How often, and how long apart, a half-written file is read again before it counts as corrupt."""

WAITING = "waiting"
"""A mark that lies in `.lifecycle/` while a prompt of the user's is worth Python's start."""

OWNER = "owner"
"""A file in `.lifecycle/` with the id of the session that the claim belongs to."""

ANSWERED = "answered"
"""A mark that lies there once a person has written a prompt since the question was put."""

PROMPTS = "prompts"
"""A file that the hook on the user's prompts touches: its mtime shows that the hook is installed."""

_ARCHIVE_LIMIT = 10


@dataclass(frozen=True, slots=True)
class Loaded:
    """What one load found.

    Attributes:
        record: None if there is no claim.
        hints: edited engine fields that GitHub has not judged yet.
        mtime_ns: of the claim file as it was read, before the look.
        says: what the load itself has to report (a corrupt file that was set aside).
    """

    record: Record | None
    hints: Mapping[str, Any] = field(default_factory=dict)
    mtime_ns: int = 0
    says: tuple[Say, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit found in the file: `changed` names the fields that the agent had edited."""

    record: Record
    changed: frozenset[str] = frozenset()
    is_gone: bool = False


class Desk:
    """Reads and writes the two files; holds state.json's content in between."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        claim = root / CLAIM_FILE
        # A link is written through: what it points to is the file that somebody shares.
        self.path = claim.resolve() if claim.is_symlink() else claim
        self.folder = store.Folder(root)
        self.clock = clock
        self.state: dict[str, Any] = {}

    def load(self, *, repair: bool = True) -> Loaded:
        """Read both files and merge them.

        Args:
            repair: set a corrupt claim file aside and restore it; without the lock, say False.

        Raises:
            ClaimRefused: an unknown schema version, or (without `repair`) a corrupt file.
        """
        self.state = self.folder.load_state(repair=repair)
        record = self.remembered()
        if repair:
            self._sweep(record)
            self._recover(record)
        try:
            snapshot, theirs = self._settled()
        except CorruptClaimError as error:
            if not repair:
                raise ClaimRefused(
                    f"{CLAIM_FILE} cannot be read ({error}); it was left as it is. To have it set "
                    "aside and restored, run: lifecycle tick"
                ) from None
            return self._set_aside(record, str(error))
        if snapshot is None or theirs is None:
            return Loaded(None)
        if record is None or not _continues(record, theirs):
            record = self._begin(record, theirs)
            return Loaded(record, mtime_ns=snapshot.mtime_ns)
        merged = merge(record.past, record.values, theirs)
        # What was read is the base of the next merge: an edit that is known now is no edit then.
        read = {**theirs, **{name: merged.values[name] for name in merged.hints}}
        record = record.with_values(merged.values).projected(read)
        if record.touched != snapshot.mtime_ns:
            # The agent wrote the file again: that is another attempt, whatever was refused before.
            record = record.without_troubles(only_final="phase" not in merged.changed)
        if record.claim.phase != Phase.DONE:
            record = replace(record, override="", consent="")  # a yes is to one closing
        return Loaded(record, merged.hints, snapshot.mtime_ns)

    def commit(self, record: Record, hints: Mapping[str, Any]) -> Committed:
        """Make the record durable and bring the claim file to it; the agent's edits win.

        Args:
            record: what the engine wants.
            hints: unjudged edits of engine fields, which stay in the file as they are.
        """
        self._keep(record)
        changed: set[str] = set()
        while True:
            try:
                snapshot, theirs = self._settled()
            except (CorruptClaimError, ClaimRefused):
                return Committed(record, frozenset(changed | {"phase"}))
            if snapshot is None or theirs is None:
                return Committed(record, frozenset(changed), is_gone=True)
            merged = merge(record.past, record.values, theirs)
            # Known now, so that a second edit, even back to what was before, is one of its own.
            read = {**theirs, **{name: merged.values[name] for name in merged.hints}}
            record = record.with_values(merged.values).projected(read)
            changed |= merged.changed
            wanted = {**merged.values, **{k: v for k, v in hints.items() if theirs.get(k) == v}}
            if wanted == theirs:
                break
            found = store.replace_if(self.path, snapshot.content, file.render(wanted))
            if found is None:
                break
        record = record.projected()
        self._journal(record)
        self._keep(record)
        return Committed(record, frozenset(changed))

    def create(self, record: Record) -> Record:
        """Write a fresh claim file; FileExistsError if there is one."""
        self._keep(record)
        with self.path.open("xb") as created:
            created.write(file.render(record.values))
        record = record.projected()
        self._journal(record)
        self._keep(record)
        return record

    def forget(self, record: Record) -> None:
        """Delete the claim file, unless it has become another claim's; the record is archived."""
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(self._aside)
        self._recover(record)
        self._journal(record)
        self._keep(record)

    @property
    def ledger(self) -> Ledger:
        """What was said and what waits to be, of this worktree, claim or not."""
        return Ledger(self.state, self.clock)

    def save(self) -> None:
        """Write state.json as it is in memory, and what the hooks' guards read of it."""
        self.folder.save_state(self.state)
        record = self.remembered()
        is_alive = record is not None and not record.outcome
        self._show_owner(record.session if record is not None and is_alive else "")
        asks = record is not None and is_alive and consent.is_waited_for(record)
        is_waiting = bool(self.state.get("queue")) or (asks and not self.is_answered)
        self.set_due(WAITING, self.clock.now() if is_waiting else None)

    def remember(self, record: Record) -> None:
        """Put the record into state.json's content, without writing it."""
        self.state["record"] = record.as_json()

    def take(self, tones: Collection[Tone], channel: str, session: str = "") -> tuple[Say, ...]:
        """Take off the queue what `channel` delivers, durably, before anything is printed."""
        taken = self.ledger.take(tones, channel, session)
        if taken:
            record = self.remembered()
            number = record.claim.pr_number if record is not None else None
            question = f"{record.claim_key}/{consent.question_key(number)}" if record else ""
            if any(say.key == question for say in taken):
                self.note_asked()
            self.save()
        return taken

    def note_asked(self) -> None:
        """Note that the question about closing was put to somebody.

        From then on any prompt of a person's is an answer; one that came before is none.
        """
        record = self.remembered()
        if record is not None and not consent.is_asked(record):
            (self.folder.path / ANSWERED).unlink(missing_ok=True)
            self.remember(replace(record, asked_pr=record.claim.pr_number))

    @property
    def is_answered(self) -> bool:
        """True if a person wrote a prompt since the question was put."""
        return self.has_mark(ANSWERED)

    def hears_prompts(self, since: float) -> bool:
        """True if the hook on the user's prompts has run since then, so that it is installed."""
        try:
            return (self.folder.path / PROMPTS).stat().st_mtime >= since
        except FileNotFoundError:
            return False

    def stamp(self, mtime_ns: int) -> None:
        """Tell the guard that this version of the file was looked at and left nothing to do."""
        if self.clock.now() * 1e9 - mtime_ns >= RACY_NS:
            self._mark("stamp", mtime_ns)

    def is_stamped(self, mtime_ns: int) -> bool:
        """True if a look at this version of the file left nothing to do."""
        try:
            return (self.folder.path / "stamp").stat().st_mtime_ns == mtime_ns
        except FileNotFoundError:
            return False

    def set_due(self, name: str, moment: float | None) -> None:
        """Tell the guard when to let a wake through again; None removes the mark."""
        if moment is None:
            (self.folder.path / name).unlink(missing_ok=True)
        else:
            self._mark(name, int(moment * 1e9))

    def mtime_ns(self) -> int:
        """The claim file's mtime, or 0 if there is none."""
        try:
            return self.path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def has_mark(self, name: str) -> bool:
        """True if the mark is there, due or not."""
        return (self.folder.path / name).exists()

    def is_due(self, name: str) -> bool:
        """True if the mark is there and its moment has come."""
        try:
            return (self.folder.path / name).stat().st_mtime <= self.clock.now()
        except FileNotFoundError:
            return False

    def _show_owner(self, session: str) -> None:
        path = self.folder.path / OWNER
        content = f"{session}\n".encode()
        if not session:
            path.unlink(missing_ok=True)
        elif (known := store.read(path)) is None or known.content != content:
            store.write(path, content)

    def _mark(self, name: str, mtime_ns: int) -> None:
        self.folder.make()
        mark = self.folder.path / name
        mark.touch()
        os.utime(mark, ns=(mtime_ns, mtime_ns))

    def remembered(self) -> Record | None:
        """The record that state.json holds, whether the claim file is there or not."""
        return _record_from(self.state.get("record"))

    @property
    def _aside(self) -> Path:
        return self.folder.path / "closing.json"

    def _sweep(self, record: Record | None) -> None:
        """Take away what killed processes left; an edit that an exchange took out of the file goes back.

        It goes back only while the file holds what the engine put there: a later edit is the newer one.
        """
        for name in (store.STATE, OWNER):
            for left in store.left_beside(self.folder.path / name):
                left.unlink(missing_ok=True)
        for left in store.left_beside(self.path):
            if record is not None and self._holds_edit(record, left):
                left.replace(self.path)
            left.unlink(missing_ok=True)

    def _holds_edit(self, record: Record, left: Path) -> bool:
        here, there = store.read(self.path), store.read(left)
        try:
            if here is None or there is None or file.parse(here.content) != record.values:
                return False
            theirs = file.parse(there.content)
        except (CorruptClaimError, ClaimRefused):
            return False
        return theirs != record.values and bool(merge(record.past, record.values, theirs).changed)

    def _recover(self, record: Record | None) -> None:
        """Finish a deletion: what was put aside goes, unless it is another claim's file."""
        snapshot = store.read(self._aside)
        if snapshot is None:
            return
        is_another = record is None or self._is_another(record, snapshot.content)
        if is_another and not self.path.exists():
            self._aside.rename(self.path)
        self._aside.unlink(missing_ok=True)

    def _keep(self, record: Record) -> None:
        self.remember(record)
        self.save()

    def _journal(self, record: Record) -> None:
        """Note the claim's step to another phase; whoever ends before it is saved notes it again."""
        if noted.is_lost(record, self.state):
            with contextlib.suppress(Refused):  # whoever reads it for its own sake is told
                noted.recover(record, self.state, journal.read(self.root))
        entry = noted.move(record, self.state, self.clock.now())
        if entry is not None:
            journal.note(self.root, entry)

    def _settled(self) -> tuple[store.Snapshot | None, dict[str, Any] | None]:
        """The file once nobody is in the middle of writing it."""
        for attempt in range(SETTLE_TRIES):
            snapshot = store.read(self.path)
            if snapshot is None:
                return None, None
            try:
                return snapshot, file.parse(snapshot.content)
            except CorruptClaimError:
                age_ns = self.clock.now() * 1e9 - snapshot.mtime_ns
                if attempt == SETTLE_TRIES - 1 or age_ns > RACY_NS:
                    raise
                self.clock.sleep(SETTLE_SECONDS)
        raise AssertionError("unreachable")

    def _begin(self, before: Record | None, theirs: dict[str, Any]) -> Record:
        if before is not None and not before.outcome:
            archive = self.state.setdefault("archive", {})
            archive[before.key] = before.as_json()
            for stale in list(archive)[:-_ARCHIVE_LIMIT]:
                del archive[stale]
        fresh = Record(values=theirs, past=(dict(theirs),), created_at=self.clock.now())
        known = _record_from(self.state.get("archive", {}).pop(fresh.key, None))
        if known is not None:
            record = known.with_values(merge(known.past, known.values, theirs).values)
            self.remember(record)
            return record
        was_synced = fresh.claim.last_synced_status is not None
        agent = fresh.claim.agent_id if was_synced else None
        return Record(
            values=theirs,
            past=(dict(theirs),),
            created_at=self.clock.now(),
            synced_agent=agent,
        )

    def _set_aside(self, record: Record | None, reason: str) -> Loaded:
        label = f"corrupt-{render(self.clock.now()).replace(':', '')}"
        kept = store.set_aside(self.path, label)
        is_alive = record is not None and not record.outcome
        text = messages.corrupt_claim(reason, kept.name, restored=is_alive)
        say = Say(f"corrupt:{kept.name}", text, Tone.ACT)
        if record is None or not is_alive:
            return Loaded(None, says=(say,))
        store.write(self.path, file.render(record.values))
        snapshot = store.read(self.path)
        return Loaded(record, mtime_ns=snapshot.mtime_ns if snapshot else 0, says=(say,))

    def _is_another(self, record: Record, content: bytes) -> bool:
        try:
            return not _continues(record, file.parse(content), is_closing=True)
        except (CorruptClaimError, ClaimRefused):
            return True


def _record_from(data: dict[str, Any] | None) -> Record | None:
    """The record, or None if it was written by another version or by hand: it is learned again."""
    try:
        return Record.from_json(data) if data else None
    except (TypeError, AttributeError, ValueError):
        return None


def _continues(record: Record, theirs: Mapping[str, Any], *, is_closing: bool = False) -> bool:
    """True if the file is still this record's claim and not the next one."""
    if record.outcome and not is_closing:
        return False
    same_issue = theirs.get("issue_number") in (None, record.values.get("issue_number"))
    same_branch = theirs.get("branch") == record.values.get("branch")
    return same_issue or same_branch
