"""The journal: what the product did and saw in this clone, one line after another.

All worktrees of a clone share one, in git's own folder: `<git folder>/lifecycle/journal.db`. The claim
system, the staged workflow and the trackers write to it; `lifecycle stats` reads it. No decision depends on
it, so writing is best effort: `note` never raises and waits at most `WAIT_SECONDS`.

Importing this module loads no database: that is loaded with the first entry (`journal_file.py`).
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.light_dataclass import asdict, dataclass, field, replace
from lifecycle.core.redact import redact, short, swept
from lifecycle.storage import log, regular_files, store

CLAIM, STAGES, TRACKER, RUN, WORKFLOW = "claim", "stages", "tracker", "run", "workflow"
SYSTEMS = (CLAIM, STAGES, TRACKER, RUN, WORKFLOW)
"""The systems that write entries."""

TRANSITION, WRITE, CHECK = "transition", "write", "check"
BLOCK, REFUSED, LET_GO, FLAKE = "block", "refused", "let_go", "flake"
KINDS = (TRANSITION, WRITE, CHECK, BLOCK, REFUSED, LET_GO, FLAKE)
"""The kinds of entries."""

GREEN, RED, UNKNOWN = "green", "red", "unknown"
"""Outcomes of a check."""

CLOSED, RELEASED = "closed", "released"
"""Targets of a claim's last transition: these are not phases; the claim has ended."""

NAME = "journal.db"
FOLDER = "lifecycle"

_DIGEST = 32
_TEXT, _PART, _DETAIL = 200, 500, 8_000
"""Limits of an entry: characters of a field, and of the detail; longer parts of a longer detail go."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that happened.

    Attributes:
        at: seconds since the epoch, UTC.
        system: the system that writes: one of SYSTEMS.
        kind: one of KINDS. "transition": from `source` to `target`, a claim's phase or a stage (either
            may be empty: it began, or is unknown). "write": something was written to GitHub or a
            tracker; `target` is what. "check": tests or a review were run; `source` is the stage,
            `detail["outcome"]` one of GREEN, RED, UNKNOWN. "block": the agent was told or asked
            at its stop; `source` is the stage that was completed, `target` the stage that it was
            sent to. "refused": its report was not accepted; `source` is the stage that it believed
            complete, `target` the stage that it stays in. "flake": a check of CI,
            `source`, failed and passed at one commit; `target` is the test or the error. "let_go": it was
            allowed to stop although work is left; `source` is the stage.
        task: the task's id as its tracker spells it, `#42` for a GitHub issue.
        actor: the agent's name.
        session: the client's session.
        key: makes an entry unique: a second one with the same key is not written. "": always written.
        detail: plain JSON values. `lifecycle stats` knows `labels` (a list of the task's labels),
            `title` (of the task) and `outcome`; the rest is for people. Secrets are removed, and what is
            too long.
    """

    at: float
    system: str
    kind: str
    task: str = ""
    actor: str = ""
    session: str = ""
    source: str = ""
    target: str = ""
    key: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


def closed(
    at: float, system: str, detail: Mapping[str, Any], reason: str, *, task: str, **whose: str
) -> JournalEntry:
    """The last transition of a run or a workflow, which is written once.

    Args:
        at: seconds since the epoch.
        system: RUN or WORKFLOW.
        detail: `title`, and for statistics how many `seconds` it took, and how often something `failed`.
        reason: why it ended without being completed; "" if it is completed.
        task: the task's id.
        whose: its session, and the phase or stage that it was in.
    """
    about = {**detail, "reason": reason} if reason else detail
    end = {"target": CLOSED, "key": f"{task}/{CLOSED}", "task": task, **whose}
    return JournalEntry(at, system, TRANSITION, detail=about, **end)


def note(root: Path, *entries: JournalEntry) -> None:
    """Append to the journal of the clone that this worktree belongs to, if that can be done.

    Never raises; waits at most WAIT_SECONDS. Entries that cannot be written while another process writes
    are put beside the journal, and the next writer takes them up. Any other obstacle (no clone, no right
    to write, a full disk, a journal of a newer version, a link in its place) loses the entries and causes
    one line in the log, and nothing more.
    """
    if not entries:
        return
    try:
        path = _path(root)
        if path is None:
            return
        remark = _file().append(path, [asdict(_plain(entry)) for entry in entries])
    except Exception as error:  # noqa: BLE001 -- no decision depends on the journal
        remark = f"nothing was written ({_why(error)})"
    if remark:
        log.write(root, f"journal: {remark}")


def read(
    root: Path, since: float = -math.inf, count: int = -1, **equal: str
) -> tuple[JournalEntry, ...]:
    """Entries, oldest first; none if nothing was ever written.

    Args:
        root: a worktree's root.
        since: the earliest time, in seconds since the epoch.
        count: at most this many, the newest; -1 for all.
        equal: values that fields must have, like `task="#42"`.

    Raises:
        Refused: the journal exists, but cannot be read; the sentence says why. It was left as it was.
    """
    try:
        path = _path(root)
        rows = [] if path is None else _file().entries(path, since, count, equal)
        return tuple(JournalEntry(**values) for values in rows)
    except OSError as error:
        raise Refused(
            f"The journal cannot be read ({_why(error)}), and was left as it is; see who may read "
            f"{FOLDER}/{NAME} in git's folder."
        ) from None


def _file() -> Any:
    """The module that reads and writes the journal's file; raises Refused in a Python without SQLite."""
    try:
        return importlib.import_module("lifecycle.storage.journal_file")
    except ImportError:
        raise Refused(
            "The journal needs SQLite, which this Python was built without: the hooks work without it, and "
            "lifecycle stats shows nothing. Use another Python."
        ) from None


def _path(root: Path) -> Path | None:
    """The path of the journal, which need not exist yet, or None outside of a clone.

    Raises:
        Refused: a link, a pipe or something else that is not ours is at that path.
    """
    shared = store.common_folder(root)
    if shared is None:
        return None
    folder = shared / FOLDER
    paths = [folder / f"{NAME}{tail}" for tail in ("", "-wal", "-shm", "-journal")]
    troubles = {folder: "is a link" if folder.is_symlink() else ""}
    troubles |= {path: regular_files.strange(str(path)) for path in paths}
    for path, strange in troubles.items():
        if strange:
            raise Refused(
                f"{path} {strange}, so it is not the journal and was left as it is: nothing was written; "
                "move it away."
            )
    return folder / NAME


def _plain(entry: JournalEntry) -> JournalEntry:
    """The entry in the form that is kept: known words, finite time, no secret, nothing long.

    Raises:
        ValueError: system or kind is unknown, or the time is invalid.
    """
    if entry.system not in SYSTEMS or entry.kind not in KINDS or not math.isfinite(entry.at):
        raise ValueError(f"no such entry: {entry.system} {entry.kind} at {entry.at}")
    names = ("task", "actor", "session", "source", "target")
    texts = {name: _text(getattr(entry, name), _TEXT) for name in names} | {"key": _key(entry.key)}
    detail: Any = swept(entry.detail, [])
    if len(repr(detail)) > _DETAIL:
        detail = {k: v for k, v in detail.items() if len(repr(v)) < _PART} | {"is_cut": True}
    return replace(entry, at=float(entry.at), detail=detail, **texts)


def _text(value: object, limit: int) -> str:
    return short(redact(str(value).encode("utf-8", "replace").decode("utf-8")), limit)


def _key(value: object) -> str:
    """The key in the form that is kept: a key that is too long becomes its beginning and a digest."""
    key = str(value)
    if len(key) <= _TEXT:
        return _text(key, _TEXT)
    import hashlib  # not on the quiet path

    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{_text(key, _TEXT - _DIGEST - 1)}:{digest}"


def _why(error: BaseException) -> str:
    if isinstance(error, LifecycleError):
        return error.sentence
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return f"{type(error).__name__}: {error}"
