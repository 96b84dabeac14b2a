"""The rotating log `.lifecycle/log`: one line for each thing done or gone wrong.

Logging is best effort: a full disk must not break a hook, so a line that cannot be written is lost.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.redact import redact, visible
from lifecycle.storage import regular_files
from lifecycle.storage.store import FOLDER

LOG = "log"
MAX_BYTES = 256 * 1024
_MAX_LINE = 2000


def write(root: Path, text: str, environment: Mapping[str, str] | None = None) -> None:
    """Append one line, if this worktree has a `.lifecycle/` folder of its own."""
    line = visible(redact(" ".join(text.split()), environment))[:_MAX_LINE]
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))},{int(now % 1 * 1000):03}"
    entry = f"{moment} {os.getpid()} {line}\n".encode("utf-8", "replace")
    with contextlib.suppress(OSError):  # without the folder, too: none is made
        regular_files.append(regular_files.below(str(root), FOLDER, LOG), entry, most=MAX_BYTES)
