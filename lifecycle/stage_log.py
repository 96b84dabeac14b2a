"""The staged workflow's own log, where people look for it: `.claude/workflow_orchestrator.log`.

Written at every stop that the workflow sees, so this imports next to nothing; a log that has grown is
turned over by `log.py`. Best effort: a line that cannot be written is lost.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH103, PTH114, PTH116, PTH118

from __future__ import annotations

import os
import time

from lifecycle.redact import redact

FOLDER = ".claude"
LOG = "workflow_orchestrator.log"
MAX_BYTES = 256 * 1024
_MAX_LINE = 2000
_FORM = "[%Y-%m-%d %H:%M:%S]"


def write(root: str, *lines: str) -> None:
    """Append lines, each with the moment before it; the folder is made if it is not there."""
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, LOG)
    said = [redact(" ".join(line.split()))[:_MAX_LINE] for line in lines]
    try:
        if os.path.islink(folder) or os.path.islink(path):
            return  # a link leads to a file that is not ours
        os.makedirs(folder, exist_ok=True)
        if _size(path) > MAX_BYTES:
            from pathlib import Path

            from lifecycle import log

            log.turn_over(Path(path))
        _append(path, said)
    except OSError:
        return  # logging must not break a hook


def _append(path: str, lines: list[str]) -> None:
    """One write, so that the lines of two processes do not mix."""
    moment = time.strftime(_FORM)
    text = "".join(f"{moment} {line}\n" for line in lines)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o644)
    try:
        os.write(descriptor, text.encode("utf-8", "replace"))
    finally:
        os.close(descriptor)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
