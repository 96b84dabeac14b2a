"""The line as `hooks/statusline` finds it, true as long as its sources keep their dates.

The script prints it if none of `SOURCES` is newer than the file, and the same ones are there as when it was
made. So the file's own date is that of its newest source, as it was before that was read. A source that
changed a moment ago may change again within one tick of the clock: then the file is made to look older, and
the next message has it made anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.errors import LifecycleError
from lifecycle.core.timing import Deadline
from lifecycle.git.checked_out import git_folder
from lifecycle.storage import log, store, workflow_marks
from lifecycle.storage.store import CLAIM_FILE, FOLDER, STATE
from lifecycle.views.overview.overview_reading import overview
from lifecycle.views.statusline.status_words import status_words

NAME = "lifecycle.line"
"""In git's folder of the worktree: no repository can bring it, and what is in it goes to a terminal."""

SOURCES = (
    CLAIM_FILE,
    f"{FOLDER}/{STATE}",
    f"{FOLDER}/{workflow_marks.SESSIONS}",
    f"{FOLDER}/{workflow_marks.OFF}",
    workflow_marks.RUN_FILE,
    ".claude/state/workflow.json",
)
"""What the line is made of, from the worktree's root, in the script's order."""

_VERSION = 1
"""Of the file's form; the script has it, too."""

_SETTLED_NS = 2_000_000_000
_OLDER_NS = 1_000_000_000


def prepared_line(root: Path, environment: Mapping[str, str], deadline: Deadline) -> str:
    """Make the line of a worktree anew, and keep it for the script; "" if nothing is at work here.

    A file that cannot be kept costs the script a Python start at the next message, and nothing else.
    """
    dates = [_date(root / name) for name in SOURCES]
    if not any(dates):
        return ""
    seen = overview(root, environment, deadline)
    line = status_words(seen, is_plain=bool(environment.get("NO_COLOR")))
    folder = git_folder(root)
    if folder:
        key = "".join("1" if date else "0" for date in dates)
        try:
            _keep(Path(folder, NAME), f"{_VERSION} {key}\n{line}\n", max(dates), deadline)
        except (OSError, LifecycleError) as error:
            log.write(root, f"status line: {error}")
    return line


def _keep(path: Path, text: str, newest: int, deadline: Deadline) -> None:
    is_settled = deadline.clock.now() * 1e9 - newest > _SETTLED_NS
    store.write(path, text.encode())
    # A source that changes between the two calls has a later date than this one.
    date = newest if is_settled else newest - _OLDER_NS
    os.utime(path, ns=(date, date))


def _date(path: Path) -> int:
    """When it changed last, in nanoseconds; 0 if it is not there."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
