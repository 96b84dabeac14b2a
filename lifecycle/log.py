"""The rotating log `.lifecycle/log`: one line for each thing done or gone wrong.

Logging is best effort: a full disk must not break a hook, so a line that cannot be written is lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from lifecycle.redact import redact
from lifecycle.store import FOLDER

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
    from logging.handlers import RotatingFileHandler

    line = redact(" ".join(text.split()), environment)[:_MAX_LINE]
    with contextlib.suppress(OSError):
        handler = RotatingFileHandler(
            path, maxBytes=_MAX_BYTES, backupCount=_BACKUPS, encoding="utf-8", errors="replace"
        )
        handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(message)s"))
        with contextlib.closing(handler):
            handler.emit(logging.LogRecord(LOG, logging.INFO, "", 0, line, None, None))
