"""What quick paths and guards read in `.lifecycle/`: names of the staged workflow's marks, and adoptions.

The `sh` guards in `hooks/` and the quick path compare dates and read nothing else, so that a stop costs
little. Imported by the quick path: nothing but `os` and what opens our files.

A session that is told of a workflow goes on with it. The quick path writes no document: it notes in
`.lifecycle/adopted-*` whose a workflow is now, and how many compactions it outlived since. Reading counts
the note, and the next commit writes it.
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH108, PTH208

from __future__ import annotations

import os

from lifecycle.storage import regular_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    Whose = tuple[str, int, str]
    """Session ("" for none), client's process (0 for none), branch ("" for none)."""

    AdoptionNote = tuple[Whose, int]
    """Whose the workflow is, and compactions that its record does not have."""

FOLDER = ".lifecycle"

STAGED = "staged"
"""The settings of the workflow as they were last read; its mtime is that of `.lifecycle.toml` then."""

DUE = "stage-due"
"""Its mtime is the moment from which a stop is looked at; it is not there while the workflow is off."""

WORDS = "stage-words"
"""A word a line: a command without any of them runs no tests."""

OFF = "stage-off"
"""A mark that is there while somebody has switched the workflow off in this worktree."""

AWAITED = "stage-awaited"
"""Its mtime is the moment until which the end of a test run in the background is waited for."""

RUN = "run"
"""A mark that is there while there is an autonomous run whose sessions' stops have to be looked at."""

WORKFLOW = "workflow"
"""A mark that is there while a workflow has phases left to do; its mtime is that of the last change."""

RUN_FILE = ".claude/workflow-state.json"
"""The record of an autonomous run."""

SESSIONS = "stages"
"""The folder of what is kept for each session, of test runs, and of the tracker's last answer."""

LOCK = "stages.lock"

ADOPTED = "adopted-"
"""Before a workflow's id: the name of a note of whose it is now."""

ANY = "any"
"""The name of what waits for whichever session stops next."""

ALWAYS = 1.0
"""A moment that has come whatever the clock says."""

_SMALL = 2_000
"""Characters that are read of a note."""


def _ours(root: str, *names: str) -> int:
    """When a file of ours was last written, or -1 if none that can be ours is there."""
    try:
        return regular_files.mtime_ns(regular_files.below(root, *names))
    except regular_files.StrangeFileError:
        return -1


def is_known(root: str) -> bool:
    """True if the settings were read since they were last changed."""
    written_ns = _ours(root, FOLDER, STAGED)
    return written_ns >= 0 and written_ns == regular_files.mtime_ns(
        regular_files.settings_path(root), follow=True
    )


def is_due(root: str, name: str, now: float) -> bool:
    """True if the mark is there and its moment has come."""
    return 0 <= _ours(root, FOLDER, name) <= now * 1e9


def is_claim_waiting(root: str, now: float) -> bool:
    """True if there is a run, or the claim changed, or something of it is due: as `hooks/on-stop` asks."""
    if _ours(root, FOLDER, RUN) >= 0:
        return True
    claim = _ours(root, ".agent-claim.json")
    is_changed = claim >= 0 and claim != _ours(root, FOLDER, "stamp")
    return is_changed or is_due(root, "due", now)


def session_name(session: str) -> str:
    """The name under which a session's things are kept: the client's own id where that is a plain name."""
    if not session:
        return ANY
    if session and len(session) <= 64 and session.replace("-", "").isalnum() and session.isascii():
        return session
    import hashlib

    return "other-" + hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:32]


def adoption_notes(root: str) -> dict[str, AdoptionNote]:
    """The notes by their workflows' ids, without what is no note of ours, or half of one."""
    try:
        names = os.listdir(regular_files.below(root, FOLDER, ""))
    except OSError:
        return {}
    ids = [name[len(ADOPTED) :] for name in names if name.startswith(ADOPTED)]
    notes = {id_: note_of(root, id_) for id_ in ids}
    return {id_: note for id_, note in notes.items() if note is not None}


def note_of(root: str, id_: str) -> AdoptionNote | None:
    """The note on one workflow; None if there is none, or it is none of ours."""
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
    """Take a note away that is in the record now, unless there is a newer one; raises OSError."""
    if note_of(root, id_) == note:
        os.unlink(_note_path(root, id_))


def _note_path(root: str, id_: str) -> str:
    return regular_files.below(root, FOLDER, f"{ADOPTED}{id_}")
