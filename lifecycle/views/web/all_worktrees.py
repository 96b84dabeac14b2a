"""The overviews of all worktrees of all clones that this user works in, read again after changes.

Nothing is read while nobody asks. A request costs a look at files' dates, at most once a second, however
many pages are open. One look takes at most part of a second: worktrees that did not fit are read at the
next look, so that a page with very many is shown at once and fills up.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.ports import Clock
from lifecycle.core.timing import Deadline
from lifecycle.settings import user_folder
from lifecycle.storage import store
from lifecycle.views.overview.overview_reading import overview, signature_of, watched
from lifecycle.views.overview.overview_values import Overview
from lifecycle.views.overview.worktree_read import plain

PAUSE = 1.0
"""Seconds after a look for which its result counts as current."""

BUDGET = 0.5
"""Seconds of one look after which no further worktree is begun."""

LISTED = 10.0
"""Seconds after which the list of worktrees is read again."""

STALE = 30.0
"""Seconds after which a worktree in use is read although no file changed: a session may have ended."""

GIT_SECONDS = 2.0
"""How long git may take in one worktree."""


@dataclass(frozen=True, slots=True)
class AllOverviews:
    """The overviews of all worktrees, as last read.

    Attributes:
        at: when the last look was.
        overviews: of each worktree that was read, by clone and path.
        clones: how many clones there are.
        unread: how many worktrees were not read yet.
        trouble: why the clones could not be listed, one sentence; or "".
        version: changes whenever anything but `at` changes, and at midnight: what was today gets its day.
    """

    at: float
    overviews: tuple[Overview, ...] = ()
    clones: int = 0
    unread: int = 0
    trouble: str = ""
    version: str = ""


@dataclass(slots=True)
class _KnownWorktree:
    """A worktree: when it was looked at, what was read, and the dates of its files then."""

    root: Path
    looked_at: float = float("-inf")
    overview: Overview | None = None
    files: tuple[Path, ...] = ()
    dates: list[list[int]] | None = None


class AllWorktrees:
    """All worktrees of a user; any number of threads may ask.

    Args:
        environment: names the user's home; git is run with it.
        clock: the clock.
        here: the worktree of the caller, which is shown whether it is known or not.
    """

    def __init__(self, environment: Mapping[str, str], clock: Clock, here: Path | None) -> None:
        self.environment, self.clock, self.here = environment, clock, here
        self._lock = threading.Lock()
        self._worktrees: dict[Path, _KnownWorktree] = {}
        self._clones, self._trouble = 0, ""
        self._listed_at = self._looked_at = float("-inf")
        self._latest = AllOverviews(0.0)

    def look(self) -> AllOverviews:
        """The newest overviews, read again PAUSE seconds after the last look; waits for another thread."""
        with self._lock:
            if self.clock.monotonic() - self._looked_at >= PAUSE or self._latest.unread:
                self._look()
                self._looked_at = self.clock.monotonic()
            return self._latest

    def _look(self) -> None:
        begin = self.clock.monotonic()
        if begin - self._listed_at >= LISTED:
            self._list()
            self._listed_at = begin
        # Unread worktrees come first, then those with the oldest look.
        for worktree in sorted(self._worktrees.values(), key=lambda known: known.looked_at):
            if self.clock.monotonic() - begin > BUDGET:
                break
            self._renew(worktree)
            worktree.looked_at = self.clock.monotonic()
        read = [known.overview for known in self._worktrees.values()]
        overviews = tuple(overview for overview in read if overview is not None)
        at, unread = self.clock.now(), len(read) - len(overviews)
        facts = (overviews, self._clones, unread, self._trouble)
        day = datetime.fromtimestamp(at).astimezone().date()
        timeless = [replace(overview, at=0.0) for overview in overviews]
        self._latest = AllOverviews(at, *facts, digest(repr((day, timeless, *facts[1:]))))

    def _list(self) -> None:
        """Find out which worktrees exist; known ones keep what was read."""
        try:
            clones, self._trouble = list(user_folder.known_clones(self.environment)), ""
        except OSError as error:
            clones = []
            self._trouble = plain(
                f"The list of your clones cannot be read ({error.filename}: {error.strerror}), so only "
                "this worktree is shown; fix it, and the others are shown again.",
                500,
            )
        here = store.common_folder(self.here) if self.here is not None else None
        if here is not None and here not in [clone.git for clone in clones]:
            clones.append(user_folder.KnownClone(here, None))
        roots = [root for clone in clones for root in user_folder.worktrees_of(clone)]
        roots += [self.here.resolve()] if self.here is not None and here is not None else []
        self._clones = len(clones)
        before = self._worktrees
        self._worktrees = {root: before.get(root) or _KnownWorktree(root) for root in roots}

    def _renew(self, worktree: _KnownWorktree) -> None:
        """Read a worktree again if one of its files changed, or if it was not read for a while."""
        if worktree.overview is not None and worktree.dates == signature_of(worktree.files):
            is_fresh = self.clock.now() - worktree.overview.at < STALE
            if is_fresh or not is_in_use(worktree.overview):
                return
        worktree.files = watched(worktree.root)
        # Before the read: a change during it is seen at the next look.
        worktree.dates = signature_of(worktree.files)
        deadline = Deadline.after(self.clock, GIT_SECONDS)
        worktree.overview = overview(worktree.root, self.environment, deadline)


def is_in_use(overview: Overview) -> bool:
    """True if a worktree has anything to show except its place and its clone's journal."""
    parts = (overview.claim, overview.stage, overview.run, overview.workflow)
    return any(parts) or bool(overview.waiting or overview.awaited or overview.troubles)


def digest(text: str) -> str:
    """A hash of a text, as 32 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
