"""The two rotating logs: `.lifecycle/log`, and the staged workflow's `.claude/workflow_orchestrator.log`.

Logging is best effort: a full disk must not break a hook, so a line that cannot be written is lost. The
staged workflow's log is where people look for it, and is written at every stop that the workflow sees: so
this module imports next to nothing.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH103, PTH114, PTH118, PTH120

from __future__ import annotations

import os
import time

from lifecycle.core.redact import redact, visible
from lifecycle.storage import regular_files
from lifecycle.storage.workflow_marks import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LOG = "log"
MAX_BYTES = 256 * 1024
_MAX_LINE = 2000

STAGED_LOG = ".claude/workflow_orchestrator.log"
STAGED_LINES = (f"/{STAGED_LOG}*",)
"""The pattern of the staged workflow's log and its rotated files, from the worktree's root, for git."""

_FORM = "[%Y-%m-%d %H:%M:%S]"


def write(root: Path, text: str, environment: Mapping[str, str] | None = None) -> None:
    """Append one line, if this worktree has a `.lifecycle/` folder of its own."""
    line = visible(redact(" ".join(text.split()), environment))[:_MAX_LINE]
    now = time.time()
    moment = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(now))},{int(now % 1 * 1000):03}"
    entry = f"{moment} {os.getpid()} {line}\n".encode("utf-8", "replace")
    try:
        regular_files.append(regular_files.below(str(root), FOLDER, LOG), entry, most=MAX_BYTES)
    except OSError:
        return  # if there is no folder, none is made


class Surviving:
    """Context in which an error of these kinds costs a line in the log, and the rest goes on.

    Args:
        root: the worktree's root.
        what: the beginning of the line; the error follows.
        kinds: which errors; any other is raised. One that is known as an `Exception` alone is named, too.
        staged: lines for the staged workflow's log; `{}` in them is replaced by the error.
    """

    def __init__(
        self, root: Path, what: str, *kinds: type[BaseException], staged: tuple[str, ...] = ()
    ) -> None:
        self.root, self.what, self.kinds, self.staged = root, what, kinds, staged

    def __enter__(self) -> None:
        """Nothing has to be done before."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        is_survived = isinstance(error, self.kinds)
        if is_survived:
            is_known = any(isinstance(error, kind) for kind in self.kinds if kind is not Exception)
            why = str(error) if is_known else f"{type(error).__name__}: {error}"
            if self.staged:
                write_staged(str(self.root), *(line.replace("{}", why) for line in self.staged))
            write(self.root, f"{self.what}: {why}")
        return is_survived


def write_staged(root: str, *lines: str) -> None:
    """Append lines to the staged workflow's log, each after its time; the folder is made."""
    path = os.path.join(root, STAGED_LOG)
    folder = os.path.dirname(path)
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
