"""The claim file on disk: read it whole, and repair what an interrupted write left.

A killed process, a late writer or a corrupt edit leaves files behind. Each is finished, merged or set
aside here, so that nothing that the agent wrote is lost and nothing is done twice.

A late writer: an agent that writes in place opens the file first and writes later. Between the two the
engine may have put another file under the name (`store.replace_if`), and what the agent writes then goes
into the file that was taken out. So that file is kept, in `.lifecycle/replaced/`, under a name that says
what was in it, and each look compares. What differs is merged like any other edit. A file goes once no
process has it open for writing: on Linux the kernel says so, by granting a lease or not
(https://man7.org/linux/man-pages/man2/F_GETLEASE.2const.html). Elsewhere it goes after KEPT_SECONDS.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.claim.record import claim_file
from lifecycle.claim.record.claim_file import LIMIT, CorruptClaimError, merge
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.timing import render_time
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import regular_files, store
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.signs_of_life import OWNER
from lifecycle.storage.store import CLAIM_FILE, Folder

if TYPE_CHECKING:
    from lifecycle.claim.record.state import Record
    from lifecycle.core.ports import Clock

FOLDER = "replaced"
"""The folder in `.lifecycle/`."""

FRESH_SECONDS = 2.0
"""Who looked the name up before the exchange has opened the file by then."""

KEPT_SECONDS = 600.0
"""How long a file is kept where nobody says who has it open."""


@dataclass(frozen=True, slots=True)
class LateEdit:
    """An edit that was written into a claim file after the engine had replaced it.

    Attributes:
        path: of the file.
        mtime_ns: when it was written.
        content: what is in it now; half of it, if the agent is in the middle.
        is_over: nobody writes into it any more, as far as can be told.
    """

    path: Path
    mtime_ns: int
    content: bytes
    is_over: bool


class TakenOutFiles:
    """Replaced claim files of one worktree that are kept while somebody may still write into them."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.folder = Folder(root, FOLDER)
        self.clock = clock

    def keep(self, path: Path, content: bytes) -> None:
        """Keep a file that an exchange replaced, named by the content that it had then.

        Where it cannot be taken (`.lifecycle/` is another file system) it is not watched: the exchange has
        been made, and is no failure.
        """
        with contextlib.suppress(OSError):
            self.folder.make()
            path.rename(self._named(content))

    def watch(self, path: Path, content: bytes) -> None:
        """Keep a second link to a file that stays in place; without hard links it is not watched."""
        with contextlib.suppress(OSError):
            self.folder.make()
            self._named(content).hardlink_to(path)

    def edits(self) -> list[LateEdit]:
        """Late edits, the oldest first."""
        edits = []
        for path in self._all():
            with contextlib.suppress(StrangeFileError):
                read = _changed(path)
                if read is not None:
                    edits.append(LateEdit(path, read[1], read[0], not self._is_held(path)))
        return sorted(edits, key=lambda edit: edit.mtime_ns)

    def known(self, edit: LateEdit) -> None:
        """Note that this edit was merged: a later one is another edit."""
        with contextlib.suppress(FileNotFoundError):
            edit.path.rename(self._named(edit.content))

    def settle(self) -> bool:
        """Delete files that nobody has open; True if an edit may still come, or is there.

        Where nobody says who has a file open it may not, so that a stop is not looked at for minutes.
        """
        is_awaited = False
        for path in self._all():
            is_held, age = _is_open(path), self._age(path)
            # In this order: into what was closed by then nobody writes after it was read.
            if age < FRESH_SECONDS or is_held or _changed(path) is not None:
                is_awaited = True
            elif is_held is False or age > KEPT_SECONDS:
                path.unlink(missing_ok=True)
        return is_awaited

    def _all(self) -> list[Path]:
        self.folder.at("")  # raises where it is not ours
        try:
            files = sorted(self.folder.path.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [path for path in files if regular_files.mtime_ns(str(path)) >= 0]

    def _is_held(self, path: Path) -> bool:
        is_held = _is_open(path)
        return self._age(path) < FRESH_SECONDS if is_held is None else is_held

    def _age(self, path: Path) -> float:
        """Seconds since it was last written or renamed."""
        try:
            return self.clock.now() - path.lstat().st_ctime
        except FileNotFoundError:
            return 0.0

    def _named(self, content: bytes) -> Path:
        return Path(self.folder.at(f"{time.time_ns():020}-{_digest(content)}"))


def _changed(path: Path) -> tuple[bytes, int] | None:
    """The file's content and mtime, if it was written to since it was replaced; else None."""
    read = regular_files.content(str(path), limit=LIMIT)
    is_same = read is None or _digest(read[0]) == path.name.partition("-")[2]
    return None if is_same else read


def _digest(content: bytes) -> str:
    import hashlib  # not on the way of a hook that has nothing to compare

    return hashlib.sha256(content).hexdigest()


def _is_open(path: Path) -> bool | None:
    """True if a process has the file open for writing, False if none has, None if nobody can tell."""
    if sys.platform != "linux":
        return None
    import fcntl

    try:
        descriptor = regular_files.opened(str(path))
    except OSError:
        return None
    try:
        # Who opens it while the lease is held sends a signal, by default one that ends the process.
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    else:
        return False
    finally:
        os.close(descriptor)


ASIDE = "closing.json"
"""The claim file on its way out."""

RACY_NS = 2_000_000_000
"""A file younger than this may be changed again without its mtime showing it (as git's racy index)."""

SETTLE_TRIES = 8
SETTLE_SECONDS = 0.05
"""How often, and how long apart, a half-written file is read again before it counts as corrupt."""


class ClaimOnDisk:
    """The claim file of one worktree, and what interrupted writes left beside it."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.path = root / CLAIM_FILE
        self.folder = store.Folder(root)
        self.late = TakenOutFiles(root, clock)
        self.clock = clock
        self.taken: list[LateEdit] = []

    def settled(self) -> tuple[store.FileContent | None, dict[str, Any] | None]:
        """The file once nobody is in the middle of writing it."""
        for attempt in range(SETTLE_TRIES):
            snapshot = self.read()
            if snapshot is None:
                return None, None
            try:
                return snapshot, claim_file.parse(snapshot.content)
            except CorruptClaimError:
                age_ns = self.clock.now() * 1e9 - snapshot.mtime_ns
                if attempt == SETTLE_TRIES - 1 or age_ns > RACY_NS:
                    raise
                self.clock.sleep(SETTLE_SECONDS)
        raise AssertionError("unreachable")

    def read(self) -> store.FileContent | None:
        """The claim file's bytes; no more of them than `file.parse` takes for a claim."""
        what = regular_files.strange(str(self.path))
        if what:  # a folder too: no claim could be kept in its place
            raise ClaimRefused(StrangeFileError(str(self.path), what).sentence)
        try:
            file = regular_files.content(str(self.path), limit=claim_file.LIMIT)
        except StrangeFileError as error:
            raise ClaimRefused(error.sentence) from None
        return store.FileContent(*file) if file is not None else None

    @property
    def aside(self) -> Path:
        """Where the claim file lies in `.lifecycle/` while it is being deleted."""
        return Path(self.folder.at(ASIDE))

    def sweep(self, record: Record | None) -> None:
        """Delete temporary files of killed processes; an edit found in one is put back into the claim file.

        It goes back only while the file holds what the engine put there: a later edit is the newer one.
        """
        for name in (store.STATE, OWNER):
            for left in store.left_beside(Path(self.folder.at(name))):
                left.unlink(missing_ok=True)
        for left in store.left_beside(self.path):
            if record is not None and self._holds_edit(record, left):
                left.replace(self.path)
            left.unlink(missing_ok=True)

    def _holds_edit(self, record: Record, left: Path) -> bool:
        here, there = store.read(self.path, follow=False), store.read(left, follow=False)
        try:
            if here is None or there is None or claim_file.parse(here.content) != record.values:
                return False
            theirs = claim_file.parse(there.content)
        except (CorruptClaimError, ClaimRefused):
            return False
        return theirs != record.values and bool(merge(record.past, record.values, theirs).changed)

    def finish_deletion(self, record: Record | None) -> None:
        """Finish a deletion: delete the file that was put aside, unless it is another claim's."""
        snapshot = self.folder.read(ASIDE)
        if snapshot is None:
            return
        is_another = record is None or self._is_another(record, snapshot.content)
        if is_another and not self.path.exists():
            self.aside.rename(self.path)
        self.aside.unlink(missing_ok=True)

    def late_edits(
        self, record: Record, *, repair: bool
    ) -> tuple[list[tuple[int, dict[str, Any]]], tuple[Notice, ...]]:
        """Late edits as (time, values), and notices about those that could not be taken."""
        edits, notices = [], []
        self.taken.clear()
        if repair:
            self.late.settle()
        for edit in self.late.edits():
            theirs, reason = _edited(record, edit.content)
            if theirs is not None:
                edits.append((edit.mtime_ns, theirs))
                self.taken.append(edit)
            elif edit.is_over and repair:  # else somebody is in the middle of writing it
                notices += self._set_late_aside(edit, reason)
        return edits, tuple(notices)

    def _set_late_aside(self, edit: LateEdit, reason: str) -> list[Notice]:
        if not edit.content:
            edit.path.unlink(missing_ok=True)  # emptied, and never written
            return []
        kept = store.set_aside(edit.path, self._label, beside=self.path)
        return [
            Notice(f"corrupt:{kept.name}", messages.late_claim(reason, kept.name), Audience.ACT)
        ]

    @property
    def _label(self) -> str:
        return f"corrupt-{render_time(self.clock.now()).replace(':', '')}"

    def note_merged(self) -> None:
        """The late edits that were merged are in state.json now."""
        for edit in self.taken:
            self.late.known(edit)
        self.taken.clear()

    def set_aside(self, record: Record | None, reason: str) -> tuple[int, Notice]:
        """Rename a corrupt claim file and write the record's claim anew, if that lives.

        Returns:
            The new file's mtime in nanoseconds (0 if none was written), and what to say of it.
        """
        with contextlib.suppress(OSError):  # the worktree is untidy then, and the claim is kept
            exclude_own_files(self.root)
        bad = self.read()
        kept = store.set_aside(self.path, self._label)
        self.late.watch(kept, bad.content if bad is not None else b"")  # somebody may just write it
        is_alive = record is not None and not record.ending.outcome
        text = messages.corrupt_claim(reason, kept.name, restored=is_alive)
        notice = Notice(f"corrupt:{kept.name}", text, Audience.ACT)
        if record is None or not is_alive:
            return 0, notice
        store.write(self.path, claim_file.render(record.values))
        written = store.read(self.path)
        return (written.mtime_ns if written else 0), notice

    def _is_another(self, record: Record, content: bytes) -> bool:
        try:
            return not continues(record, claim_file.parse(content), is_closing=True)
        except (CorruptClaimError, ClaimRefused):
            return True


def _edited(record: Record, content: bytes) -> tuple[dict[str, Any] | None, str]:
    """The values of a late edit of this claim; or None, and why it is not one."""
    try:
        theirs = claim_file.parse(content)
    except (CorruptClaimError, ClaimRefused) as error:
        return None, str(error)
    return (theirs, "") if continues(record, theirs) else (None, "it is another claim's")


def continues(record: Record, theirs: Mapping[str, Any], *, is_closing: bool = False) -> bool:
    """True if the file is still this record's claim and not the next one."""
    if record.ending.outcome and not is_closing:
        return False
    same_issue = theirs.get("issue_number") in (None, record.values.get("issue_number"))
    same_branch = theirs.get("branch") == record.values.get("branch")
    return same_issue or same_branch
