"""Files in `.lifecycle/` for quick paths and guards: marks of the staged workflow, adoptions, what is owed.

The `sh` guards in `hooks/` and the quick path only compare dates, so that a stop costs little. The quick
path imports this module, so it imports only `os`, `time` and the module that opens our files.

A session that is informed of a workflow adopts it. The quick path writes no document: it notes in
`.lifecycle/adopted-*` who owns a workflow now, and how many compactions it has outlived since. Readers
take the note into account, and the next commit writes it to the record.

A session is owed its recovery message from a compaction until it was printed: `.lifecycle/owed-ID` is made
before a compaction, and before a start's message is printed; it is deleted once the message is printed. So
a hook that is killed in between leaves it, and the next prompt brings the message. If a prompt brought it,
the file contains a word until a late start has passed.
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH108, PTH208

from __future__ import annotations

import os
import time

from lifecycle.storage import regular_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Whose = tuple[str, int, str]
    """Session ("" for none), client's process (0 for none), branch ("" for none)."""

    AdoptionNote = tuple[Whose, int]
    """The workflow's owner, and the number of compactions that its record does not have yet."""

FOLDER = ".lifecycle"

STAGED = "staged"
"""The settings of the workflow as last read; its mtime is the one that `.lifecycle.toml` had then."""

DUE = "stage-due"
"""Its mtime is the moment from which a stop is looked at; it does not exist while the workflow is off."""

WORDS = "stage-words"
"""One word in each line: a command without any of them runs no tests."""

OFF = "stage-off"
"""A mark that exists while somebody has switched the workflow off in this worktree."""

AWAITED = "stage-awaited"
"""Its mtime is the moment until which the end of a test run in the background is waited for."""

RUN = "run"
"""A mark that exists while there is an autonomous run whose sessions' stops have to be looked at."""

WORKFLOW = "workflow"
"""A mark that exists while a workflow has phases left; its mtime is that of the last change."""

RUN_FILE = ".claude/workflow-state.json"
"""The record of an autonomous run."""

SESSIONS = "stages"
"""The folder for the data of each session, for test runs, and for the tracker's last answer."""

LOCK = "stages.lock"

ADOPTED = "adopted-"
"""Before a workflow's id: the name of a note of its present owner."""

OWED = "owed-"
STARTED = "started"
"""A file with what identifies the start that was answered last; its mtime is the time of that."""

TWICE_SECONDS = 10.0
"""If a session starts in one client from the same source within this time, it is the same start: two copies
of the hook are installed, and one of them has answered."""

ANY = "any"
"""The name of data that waits for whichever session stops next."""

ALWAYS = 1.0
"""A moment that has always come, whatever the clock says."""

_SMALL = 2_000
"""Characters that are read of a note, or of what is owed."""

_TOLD = b"told\n"
_PAUSE = 0.005
"""Seconds between two looks whether another copy of the same start is still at it."""


def _ours(root: str, *names: str) -> int:
    """When one of our files was last written; -1 if it does not exist or cannot be ours."""
    try:
        return regular_files.mtime_ns(regular_files.below(root, *names))
    except regular_files.StrangeFileError:
        return -1


def is_known(root: str) -> bool:
    """True if the settings were read since they were last changed."""
    written_ns, path = _ours(root, FOLDER, STAGED), regular_files.settings_path(root)
    return 0 <= written_ns == regular_files.mtime_ns(path, follow=True)


def is_due(root: str, name: str, now: float) -> bool:
    """True if the mark exists and its moment has come."""
    return 0 <= _ours(root, FOLDER, name) <= now * 1e9


def is_claim_waiting(root: str, now: float) -> bool:
    """True if there is a run, the claim changed, or a look is due: the same rule as in `hooks/on-stop`."""
    if _ours(root, FOLDER, RUN) >= 0:
        return True
    claim = _ours(root, ".agent-claim.json")
    is_changed = claim >= 0 and claim != _ours(root, FOLDER, "stamp")
    return is_changed or is_due(root, "due", now)


def session_name(session: str) -> str:
    """The name for a session's files: the client's own id if that is a plain name."""
    if not session:
        return ANY
    if len(session) <= 64 and session.replace("-", "").isalnum() and session.isascii():
        return session
    import hashlib

    return "other-" + hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


def adoption_notes(root: str) -> dict[str, AdoptionNote]:
    """The notes by their workflows' ids, without files that are not notes of ours or are incomplete."""
    try:
        names = os.listdir(regular_files.below(root, FOLDER, ""))
    except OSError:
        return {}
    ids = [name[len(ADOPTED) :] for name in names if name.startswith(ADOPTED)]
    notes = {id_: note_of(root, id_) for id_ in ids}
    return {id_: note for id_, note in notes.items() if note is not None}


def note_of(root: str, id_: str) -> AdoptionNote | None:
    """The note on one workflow; None if there is none, or it is not ours."""
    try:
        note = regular_files.content(_note_path(root, id_), limit=_SMALL)
        session, client, branch, count, end = os.fsdecode(note[0] if note else b"").split("\n")
        return None if end else ((session, int(client), branch), int(count))
    except (OSError, ValueError):
        return None


def put_note(root: str, id_: str, note: AdoptionNote) -> None:
    """Write the note on a workflow; raises OSError."""
    (session, client, branch), count = note
    text = f"{session}\n{client}\n{branch}\n{count}\n"
    regular_files.fill(_note_path(root, id_), text.encode("utf-8", "surrogateescape"))


def settle_note(root: str, id_: str, note: AdoptionNote) -> None:
    """Delete a note that is in the record now, unless there is a newer one; raises OSError."""
    if note_of(root, id_) == note:
        os.unlink(_note_path(root, id_))


def _note_path(root: str, id_: str) -> str:
    return regular_files.below(root, FOLDER, f"{ADOPTED}{id_}")


def owe(root: str, session: str) -> None:
    """Note that this session has to be told its state; raises OSError."""
    regular_files.fill(_owed_path(root, session), b"")


def settle(root: str, session: str) -> None:
    """Note that the session was told; raises OSError."""
    try:
        os.unlink(_owed_path(root, session))
    except FileNotFoundError:
        return


def told_by_prompt(root: str, session: str) -> None:
    """Note that a prompt told the session, so that this compaction's start does not; raises OSError."""
    regular_files.fill(_owed_path(root, session), _TOLD)


def is_owed(root: str, session: str) -> bool:
    """True if the session has to be told."""
    return regular_files.whole(_owed_path(root, session), _SMALL) == b""


def begin_start(
    root: str, session: str, source: str, client: int, seconds: float
) -> Callable[[], None] | None:
    """Begin to answer a start, of which two copies may run; returns what notes that it was told, or None.

    None if another copy has told it, or after a compaction a prompt. Another copy waits until it is noted,
    or this process has ended. Both raise OSError if nothing can be written.

    Args:
        root: the worktree.
        session: the client's session.
        source: where it starts from.
        client: the client's process: one that was killed is resumed by another, which was told nothing.
        seconds: how long another copy is waited for.
    """
    import fcntl

    path = regular_files.below(root, FOLDER, STARTED)
    line = f"{session_name(session)} {source[:40]} {client}\n".encode("utf-8", "replace")
    # The lock ends with this object: also with whoever failed before it could tell.
    held = os.fdopen(regular_files.opened(path, os.O_RDWR | os.O_CREAT), "rb", 0)
    for _ in range(int(seconds / _PAUSE)):
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            time.sleep(_PAUSE)
    is_same = bool(session) and held.read(_SMALL) == line
    age = time.time() - os.fstat(held.fileno()).st_mtime
    if is_same and 0 <= age < TWICE_SECONDS and not is_owed(root, session):
        held.close()
        return None

    def told() -> None:
        regular_files.fill(path, line)
        settle(root, session)
        held.close()

    if source == "compact" and regular_files.whole(_owed_path(root, session), _SMALL) == _TOLD:
        told()
        return None
    return told


def _owed_path(root: str, session: str) -> str:
    return regular_files.below(root, FOLDER, f"{OWED}{session_name(session)}")
