"""An overview as one line, for a client's status line, and cached for `hooks/statusline` while it is true.

The script prints it if none of `SOURCES` is newer than the file, and the same sources exist as when it was
made. So the file's own date is that of its newest source, before that was read. A source that changed a
moment ago may change again within one tick of the clock: then the file gets an older date, and the line is
made again at the next message.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from lifecycle.core.errors import LifecycleError
from lifecycle.core.timing import Deadline
from lifecycle.settings import config
from lifecycle.storage import log, regular_files, store, workflow_marks
from lifecycle.views.overview import overview_values as values
from lifecycle.views.overview.overview_reading import overview
from lifecycle.views.overview.overview_words import AT_WORK, STANDINGS

NAME = "lifecycle.line"
"""In git's folder of the worktree: no repository can contain it, and its content goes to a terminal."""

SOURCES = (
    store.CLAIM_FILE,
    f"{store.FOLDER}/{store.STATE}",
    f"{store.FOLDER}/{workflow_marks.SESSIONS}",
    f"{store.FOLDER}/{workflow_marks.OFF}",
    workflow_marks.RUN_FILE,
    ".claude/state/workflow.json",
)
"""The sources of the line, from the worktree's root, in the script's order."""

_VERSION = 1
"""The version of the file's form; the script has the same."""

_SETTLED_NS = 2_000_000_000
_OLDER_NS = 1_000_000_000


def prepared_line(root: Path, environment: Mapping[str, str], deadline: Deadline) -> str:
    """Make the line of a worktree, and keep it for the script; "" if there is no work here.

    If the file cannot be kept, the script only starts Python again at the next message.
    """
    dates = [_date(root / name) for name in SOURCES]
    if not any(dates):
        return ""
    worktree_overview = overview(root, environment, deadline)
    line = status_words(worktree_overview, is_plain=bool(environment.get("NO_COLOR")))
    if folder := regular_files.git_folder(root):
        key = "".join("1" if date else "0" for date in dates)
        with log.Surviving(root, "status line", OSError, LifecycleError):
            newest = max(*dates, _date(config.file_of(root)))  # broken settings are in the line
            _keep(Path(folder, NAME), f"{_VERSION} {key}\n{line}\n", newest, deadline)
    return line


def _keep(path: Path, text: str, newest: int, deadline: Deadline) -> None:
    is_settled = deadline.clock.now() * 1e9 - newest > _SETTLED_NS
    store.write(path, text.encode())
    # A source that changes between the two calls has a later date than this one.
    date = newest if is_settled else newest - _OLDER_NS
    os.utime(path, ns=(date, date))


def _date(path: Path) -> int:
    """When the file last changed, in nanoseconds; 0 if it does not exist."""
    return max(regular_files.mtime_ns(str(path), follow=True), 0)


_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "magenta": "35", "cyan": "36"}
_INVERSE = "1;7"
_NAME = 40
"""Characters of a name that somebody else chose."""


def status_words(overview: values.Overview, *, is_plain: bool = False) -> str:
    """The current work in one line: matters for a person come first; "" if there is none.

    Args:
        overview: the worktree's overview.
        is_plain: no colours; links stay, since they are not colours.
    """

    def styled(words: str, codes: str) -> str:
        return f"\x1b[{codes}m{words}\x1b[0m" if codes and not is_plain else words

    waits = len(overview.awaited)
    words = f" WAITS FOR YOU{f' ({waits})' if waits > 1 else ''} "
    mark = f"{styled(words, _INVERSE)} " if waits else ""
    return mark + " · ".join(styled(*part) for part in _parts(overview))


def _parts(overview: values.Overview) -> Iterator[tuple[str, str]]:
    """Each part's words, and its colour as a terminal code."""
    claim, pull, stage = overview.claim, overview.pull, overview.stage
    run, workflow = overview.run, overview.workflow
    if claim is not None:
        issue = _linked(f"#{claim.issue}", claim.url) if claim.issue else "claim"
        yield f"{issue} {claim.phase}", ""
    if pull is not None:
        words, style = STANDINGS[pull.state]
        codes = ";".join(_CODES[word] for word in style.split())
        yield f"{_linked(f'PR #{pull.number}', pull.url)} {words}", codes
    if stage is not None and stage.stage and not (stage.is_off or stage.is_over):
        yield stage.stage, ""
    if run is not None and run.status != "completed":
        done = f"{run.done}/{len(run.stories)}" if run.stories else run.phase
        story = next((candidate for candidate in run.stories if candidate.status in AT_WORK), None)
        where = f" {story.id} {story.tdd or story.status}" if story is not None else ""
        yield f"run {done}{where}", ""
    if workflow is not None:
        where = f" {workflow.current}/{len(workflow.phases)}" if workflow.current else ""
        title = workflow.phases[workflow.current - 1].title if workflow.current else ""
        yield f"{workflow.name[:_NAME]}{where} {title[:_NAME]}".rstrip(), ""
    for part in overview.troubles:
        if part not in ("worktree", "events"):
            yield f"{part} cannot be read; see: lifecycle status", _CODES["red"]


def _linked(words: str, url: str) -> str:
    """A hyperlink (OSC 8), for terminals that know them; an address has no control character."""
    return f"\x1b]8;;{url}\x07{words}\x1b]8;;\x07" if url else words
