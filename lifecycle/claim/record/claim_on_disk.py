"""The claim file on disk: read it whole, and repair what an interrupted write left.

A killed process, a late writer or a corrupt edit leaves files behind. Each is completed, merged or set
aside here, so that nothing that the agent wrote is lost and nothing is done twice.

A late writer is an agent that opens the file first and writes in place later. Between the two the engine
may have put another file under the name (`store.replace_if`), and the agent's text then goes into the
file that was taken out. So that file is kept, in `.lifecycle/replaced/`, under a name that identifies
its former content, and each look compares. A difference is merged like any other edit. A file into which
nobody wrote is deleted after KEPT_SECONDS.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.claim.record import claim_file
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.timing import render_time
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import regular_files, signs_of_life, store

if TYPE_CHECKING:
    from lifecycle.claim.record.state import Record
    from lifecycle.core.ports import Clock

FOLDER = "replaced"
"""The folder in `.lifecycle/`."""

FRESH_SECONDS = 2.0
"""Seconds after an exchange within which a writer that looked up the name before it opens the file."""

KEPT_SECONDS = 600.0
"""Seconds since it was last written or renamed that a file is kept, and what is half written waited for."""


FileEdit = tuple[int, dict[str, Any]]
"""When a claim file was edited (its `mtime_ns`), and the values in it since then."""


class TakenOutFiles:
    """Replaced claim files of one worktree that are kept while somebody may still write into them."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.folder = store.Folder(root, FOLDER)
        self.clock = clock

    def keep(self, path: Path, content: bytes) -> None:
        """Keep a file that an exchange replaced, named by the content that it had then.

        Or, in the same place, one whose late edit was merged: a later one is another edit.
        If it cannot be moved (`.lifecycle/` is another file system), it is not watched: the exchange
        succeeded, and this is not a failure.
        """
        with contextlib.suppress(OSError):
            self.folder.make()
            path.rename(self.folder.at(f"{time.time_ns():020}-{_digest(content)}"))

    def edits(self) -> dict[Path, store.FileContent]:
        """The files with late edits; the content is incomplete if the agent is still writing."""
        written = {path: _changed(path) for path in self._all()}
        return {path: file for path, file in written.items() if file is not None}

    def settle(self) -> bool:
        """Delete files into which nobody wrote for long; True if a late edit exists or may come at once.

        A later one is not waited for: otherwise every stop would cause a look for minutes.
        """
        is_awaited = False
        for path in self._all():
            age = self.age(path)
            if age < FRESH_SECONDS or _changed(path) is not None:
                is_awaited = True
            elif age > KEPT_SECONDS:
                path.unlink(missing_ok=True)
        return is_awaited

    def _all(self) -> list[Path]:
        """The kept files, oldest first; whatever else was put into their folder is left alone."""
        paths = (self.folder.path / name for name in sorted(self.folder.names()))
        return [path for path in paths if regular_files.mtime_ns(str(path)) >= 0]

    def age(self, path: Path) -> float:
        """Seconds since the file was last written or renamed."""
        try:
            return self.clock.now() - path.lstat().st_ctime
        except FileNotFoundError:
            return 0.0


def _changed(path: Path) -> store.FileContent | None:
    """The file's content, if it was written to since it was replaced; else None."""
    written = regular_files.content(str(path), limit=claim_file.LIMIT)
    is_same = written is None or _digest(written[0]) == path.name.partition("-")[2]
    return None if written is None or is_same else store.FileContent(*written)


def _digest(content: bytes) -> str:
    import hashlib  # not needed by a hook that has nothing to compare

    return hashlib.sha256(content).hexdigest()


ASIDE = "closing.json"
"""The claim file's name in `.lifecycle/` while it is being deleted."""

RACY_NS = 2_000_000_000
"""A file younger than this may change again without a new mtime (as in git's racy index)."""

SETTLE_TRIES = 8
SETTLE_SECONDS = 0.05
"""How often, and how long apart, a half-written file is read again before it counts as corrupt."""


class ClaimOnDisk:
    """The claim file of one worktree, and what interrupted writes left beside it."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self.path = root / store.CLAIM_FILE
        self.folder = store.Folder(root)
        self.late = TakenOutFiles(root, clock)
        self.clock = clock
        self.taken: dict[Path, store.FileContent] = {}

    def settled(self, record: Record | None) -> tuple[store.FileContent, dict[str, Any]] | None:
        """Read and parse the claim file; a half-written one is read again for a moment.

        Args:
            record: the remembered claim, or None.

        Returns:
            The file's bytes and its values; None if there is no file.

        Raises:
            CorruptClaimError: the file is not a claim, and nobody seems to be writing it; or it is another
                claim in place of the one that `lifecycle claim` made here, or a copy of another
                worktree's.
            ClaimRefused: the path is not a regular file, or its schema version is unknown.
        """
        tries = 0
        while (snapshot := self.read()) is not None:
            try:
                theirs = claim_file.parse(snapshot.content)
            except claim_file.CorruptClaimError:
                tries += 1
                age_ns = self.clock.now() * 1e9 - snapshot.mtime_ns
                if tries == SETTLE_TRIES or age_ns > RACY_NS:
                    raise
                self.clock.sleep(SETTLE_SECONDS)
            else:
                self._refuse_others(record, theirs)
                return snapshot, theirs
        return None

    def _refuse_others(self, record: Record | None, theirs: Mapping[str, Any]) -> None:
        """Refuse another claim in place of the one that was taken here, and another worktree's."""
        is_new = record is None or not continues(record, theirs)
        if record is not None and is_new and record.is_taken and not record.ending.outcome:
            words = {"number": theirs["issue_number"], "held": record.claim.issue}
            raise claim_file.CorruptClaimError(claim_file.sentence("another-claim", **words))
        if is_new and (place := self._original(theirs)):
            raise claim_file.CorruptClaimError(claim_file.sentence("copied", place=place))

    def _original(self, theirs: Mapping[str, Any]) -> str:
        """The worktree of this clone that has the same claim, and its branch; "" if none has.

        No state.json knows a claim that was copied here, nor a claim whose state.json was lost.
        """
        mine = theirs["issue_number"], theirs["agent_id"]
        places = store.places_of(self.root, str(theirs["branch"])) if all(mine) else []
        if self.root.resolve() in places:
            return ""
        for place in places:
            file = store.read(place / store.CLAIM_FILE, follow=False)
            other = _parsed(file.content)[0] if file is not None else None
            if other is not None and (other["issue_number"], other["agent_id"]) == mine:
                return str(place)
        return ""

    def read(self) -> store.FileContent | None:
        """The claim file's bytes, at most as many as `claim_file.parse` accepts; None without a file.

        Raises:
            ClaimRefused: the path is not a regular file.
        """
        try:
            # A folder is refused too: no claim could be kept in its place.
            regular_files.refuse_strange(str(self.path))
            file = regular_files.content(str(self.path), limit=claim_file.LIMIT)
        except regular_files.StrangeFileError as error:
            raise ClaimRefused(error.sentence) from None
        return store.FileContent(*file) if file is not None else None

    @property
    def aside(self) -> Path:
        """The claim file's path in `.lifecycle/` while it is being deleted."""
        return Path(self.folder.at(ASIDE))

    def repair(self, record: Record | None) -> None:
        """Complete what killed processes left: an edit in a temporary file is a late one."""
        self.folder.at("")  # raises if the folder is not ours
        for leftover in self.folder.path.glob(f"*{store.OURS}"):
            # The other files there are written under other locks, or under none.
            is_under_lock = leftover.name.startswith((f"{store.STATE}.", f"{signs_of_life.OWNER}."))
            with contextlib.suppress(FileNotFoundError):
                if is_under_lock or time.time() - leftover.lstat().st_mtime > KEPT_SECONDS:
                    leftover.unlink()
        for leftover in store.left_beside(self.path):
            file = store.read(leftover, follow=False)
            if record is not None and file is not None and _parsed(file.content)[0] is not None:
                self.late.keep(leftover, claim_file.render(record.values))
            leftover.unlink(missing_ok=True)
        self.finish_deletion(record)

    def finish_deletion(self, record: Record | None) -> None:
        """Finish a deletion: delete the file that was put aside, unless it is another claim's."""
        snapshot = self.folder.read(ASIDE)
        if snapshot.mtime_ns < 0:
            return
        theirs = _parsed(snapshot.content)[0]
        is_ours = record and theirs and continues(record, theirs, is_closing=True)
        if not is_ours and not self.path.exists():
            self.aside.rename(self.path)
        self.aside.unlink(missing_ok=True)

    def late_edits(self, record: Record, *, repair: bool) -> tuple[list[FileEdit], list[Notice]]:
        """Late edits, and notices about files that are not edits of this claim."""
        edits, notices = [], []
        self.taken.clear()
        if repair:
            self.late.settle()
        for path, edit in self.late.edits().items():
            theirs, reason = _parsed(edit.content)
            if theirs is not None and not continues(record, theirs):
                theirs, reason = None, "it is another claim's"
            if theirs is not None:
                edits.append((edit.mtime_ns, theirs))
                self.taken[path] = edit
            elif not repair or self.late.age(path) <= KEPT_SECONDS:
                continue  # somebody may still be writing it
            elif edit.content:
                kept = store.set_aside(path, self._label, beside=self.path)
                text = claim_file.sentence("late-edit", why=reason, kept=kept.name)
                notices.append(Notice(f"corrupt:{kept.name}", text, Audience.ACT))
            else:
                path.unlink(missing_ok=True)  # emptied, and never written
        return edits, notices

    @property
    def _label(self) -> str:
        """The suffix of a file that is set aside."""
        return f"corrupt-{render_time(self.clock.now()).replace(':', '')}"

    def note_merged(self) -> None:
        """Note that the merged late edits are saved in state.json: they are not merged again."""
        for path, edit in self.taken.items():
            self.late.keep(path, edit.content)
        self.taken.clear()

    def set_aside(self, alive: Record | None, reason: str) -> Notice:
        """Rename a corrupt claim file, and write the claim that is `alive` again; the notice about it."""
        # Without the exclusion git shows our files, which is no reason to fail.
        with contextlib.suppress(OSError):
            exclude_own_files(self.root)
        kept = store.set_aside(self.path, self._label)
        if alive is not None:
            store.write(self.path, claim_file.render(alive.values))
        name = "corrupt-restored" if alive else "corrupt"
        text = claim_file.sentence(name, why=reason, kept=kept.name)
        return Notice(f"corrupt:{kept.name}", text, Audience.ACT)


def _parsed(content: bytes) -> tuple[dict[str, Any] | None, str]:
    """The values of a claim and ""; or None, and why the bytes are not one."""
    try:
        return claim_file.parse(content), ""
    except (claim_file.CorruptClaimError, ClaimRefused) as error:
        return None, str(error)


def continues(record: Record, theirs: Mapping[str, Any], *, is_closing: bool = False) -> bool:
    """True if the file is still this record's claim and not the next one."""
    if record.ending.outcome and not is_closing:
        return False
    number = record.values.get("issue_number")
    is_same_branch = theirs.get("branch") == record.values.get("branch")
    # A number that was missing begins the claim.
    return theirs.get("issue_number") in (None, number) or (number is not None and is_same_branch)
