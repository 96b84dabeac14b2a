"""What a hook's quick path has noted of workflows, until a commit has it in their records.

A session that is told of a workflow goes on with it. The quick path writes no document: it notes in
`.lifecycle/adopted-*` whose a workflow is now, and how many compactions it outlived since. Reading counts
the note, and the next commit writes it. Imported by the quick path, so it imports next to nothing.
"""

# pathlib alone would cost as much as the rest of the quick path.
# ruff: noqa: PTH108, PTH208

from __future__ import annotations

import os

from lifecycle.storage import regular_files, workflow_marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    Whose = tuple[str, int, str]
    """Session ("" for none), client's process (0 for none), branch ("" for none)."""

    AdoptionNote = tuple[Whose, int]
    """Whose the workflow is, and compactions that its record does not have."""

PREFIX = "adopted-"
"""Before the workflow's id, in `.lifecycle/`."""

_SMALL = 2_000


def noted(root: str) -> dict[str, AdoptionNote]:
    """By id, what is noted; what is no note of ours, or half of one, is none."""
    try:
        names = os.listdir(regular_files.below(root, workflow_marks.FOLDER, ""))
    except OSError:
        return {}
    ids = [name[len(PREFIX) :] for name in names if name.startswith(PREFIX)]
    found = {id_: note_of(root, id_) for id_ in ids}
    return {id_: note for id_, note in found.items() if note is not None}


def note_of(root: str, id_: str) -> AdoptionNote | None:
    """What is noted of one workflow."""
    try:
        found = regular_files.content(_path(root, id_), limit=_SMALL)
        session, client, branch, count, end = os.fsdecode(found[0] if found else b"").split("\n")
        return None if end else ((session, int(client), branch), int(count))
    except (OSError, ValueError):
        return None


def put_note(root: str, id_: str, note: AdoptionNote) -> None:
    """Note it; raises OSError."""
    (session, client, branch), count = note
    text = f"{session}\n{client}\n{branch}\n{count}\n"
    regular_files.fill(_path(root, id_), text.encode("utf-8", "surrogateescape"))


def settle(root: str, id_: str, note: AdoptionNote) -> None:
    """Take a note away that is in the record now, unless there is a newer one; raises OSError."""
    if note_of(root, id_) == note:
        os.unlink(_path(root, id_))


def _path(root: str, id_: str) -> str:
    return regular_files.below(root, workflow_marks.FOLDER, f"{PREFIX}{id_}")
