"""The staged workflow's own log, where people look for it: `.claude/workflow_orchestrator.log`.

Written at every stop that the workflow sees, so this imports next to nothing. Best effort: a line that
cannot be written is lost.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH103, PTH114, PTH118

from __future__ import annotations

import os
import time

from lifecycle.core.redact import redact, visible
from lifecycle.storage import regular_files

FOLDER = ".claude"
LOG = "workflow_orchestrator.log"
MAX_BYTES = 256 * 1024
_MAX_LINE = 2000
_FORM = "[%Y-%m-%d %H:%M:%S]"


def write(root: str, *lines: str) -> None:
    """Append lines, each with the moment before it; the folder is made if it is not there."""
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, LOG)
    entries = [visible(redact(" ".join(line.split())))[:_MAX_LINE] for line in lines]
    try:
        if os.path.islink(folder):
            return  # a link leads to a file that is not ours
        os.makedirs(folder, exist_ok=True)
        moment = time.strftime(_FORM)
        text = "".join(f"{moment} {line}\n" for line in entries)
        regular_files.append(path, text.encode("utf-8", "replace"), most=MAX_BYTES)
    except OSError:
        return  # logging must not break a hook
