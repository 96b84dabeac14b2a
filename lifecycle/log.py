"""The rotating log `.lifecycle/log`: one line for each thing done or gone wrong.

Logging is best effort: a full disk must not break a hook, so a line that cannot be written is lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.redact import redact
from lifecycle.store import FOLDER

if TYPE_CHECKING:
    from logging.handlers import RotatingFileHandler

LOG = "log"
_MAX_BYTES = 256 * 1024
_BACKUPS = 2
_MAX_LINE = 2000


def write(root: Path, text: str, environment: Mapping[str, str] | None = None) -> None:
    """Append one line, if this worktree has a `.lifecycle/` folder."""
    path = root / FOLDER / LOG
    if not path.parent.is_dir() or path.parent.is_symlink() or path.is_symlink():
        return  # a link leads to a file that is not ours
    import logging

    line = redact(" ".join(text.split()), environment)[:_MAX_LINE]
    with contextlib.suppress(OSError), contextlib.closing(_handler(path)) as handler:
        handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(message)s"))
        handler.emit(logging.LogRecord(LOG, logging.INFO, "", 0, line, None, None))


def turn_over(path: Path) -> None:
    """Put a log that has grown aside, as `write` does with its own: the next line begins a new one.

    Raises:
        OSError: it cannot be renamed.
    """
    with contextlib.closing(_handler(path)) as handler:
        handler.doRollover()


def _handler(path: Path) -> RotatingFileHandler:
    from logging.handlers import RotatingFileHandler

    return RotatingFileHandler(
        path, maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8", errors="replace"
    )
