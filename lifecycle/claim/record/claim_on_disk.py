"""The claim file on disk: read whole, and put right where a write was cut short.

A killed process, a late writer or a corrupt edit leaves files behind. Each is finished, merged or set
aside here, so that nothing that the agent wrote is lost and nothing is done twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.claim.record import claim_file
from lifecycle.claim.record.claim_file import CorruptClaimError
from lifecycle.claim.record.file_merge import merge
from lifecycle.claim.record.guard_marks import OWNER
from lifecycle.claim.record.late_writes import Late, LateEdit
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.ports import Clock
from lifecycle.core.timing import render_time
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import regular_files, store
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.store import CLAIM_FILE

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
        self.late = Late(root, clock)
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
            found = regular_files.content(str(self.path), limit=claim_file.LIMIT)
        except StrangeFileError as error:
            raise ClaimRefused(error.sentence) from None
        return store.FileContent(*found) if found is not None else None

    @property
    def aside(self) -> Path:
        """The claim file on its way out, in `.lifecycle/`."""
        return Path(self.folder.at(ASIDE))

    def sweep(self, record: Record | None) -> None:
        """Take away what killed processes left; an edit that an exchange took out of the file goes back.

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
        """Finish a deletion: what was put aside goes, unless it is another claim's file."""
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
        """What was written into files that were taken out: when, and the values; and what to say of it."""
        found, notices = [], []
        self.taken.clear()
        if repair:
            self.late.settle()
        for edit in self.late.edits():
            theirs, reason = _edited(record, edit.content)
            if theirs is not None:
                found.append((edit.mtime_ns, theirs))
                self.taken.append(edit)
            elif edit.is_over and repair:  # else somebody is in the middle of writing it
                notices += self._set_late_aside(edit, reason)
        return found, tuple(notices)

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
        is_alive = record is not None and not record.outcome
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
    """The values of an edit of this claim; None and the reason if it is none."""
    try:
        theirs = claim_file.parse(content)
    except (CorruptClaimError, ClaimRefused) as error:
        return None, str(error)
    return (theirs, "") if continues(record, theirs) else (None, "it is another claim's")


def continues(record: Record, theirs: Mapping[str, Any], *, is_closing: bool = False) -> bool:
    """True if the file is still this record's claim and not the next one."""
    if record.outcome and not is_closing:
        return False
    same_issue = theirs.get("issue_number") in (None, record.values.get("issue_number"))
    same_branch = theirs.get("branch") == record.values.get("branch")
    return same_issue or same_branch
