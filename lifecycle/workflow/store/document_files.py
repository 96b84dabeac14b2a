"""The files of workflows in one worktree: where they are, which can be trusted, and what they contain.

A file of another user, behind a link, unreadable or of a later release gives one sentence and stays as is.
A file that git tracks came with the repository: it is read, and marked (`ReadDocument.is_tracked`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.timing import Deadline
from lifecycle.git.tracked_files import tracked_paths
from lifecycle.storage import regular_files
from lifecycle.storage.store import OURS
from lifecycle.workflow.documents import workflow_documents
from lifecycle.workflow.documents.workflow_documents import MOST_BYTES, DocumentKind

CURRENT: Final = ".claude/state/workflow.json"
OTHERS: Final = ".claude/state/workflows"
ARCHIVE: Final = ".claude/state/workflows/archive"
VIEW: Final = ".claude/workflow_state_system.md"
CHECKPOINTS: Final = "untracked/workflow-state"

LINES: Final = (f"/{CURRENT}*", f"/{OTHERS}/", f"/{VIEW}*", f"/{CHECKPOINTS}/")
"""The patterns of these files, from the worktree's root, for git."""

_BESIDE: Final = (f"{CURRENT}.", f"{OTHERS}/", f"{VIEW}.", f"{CHECKPOINTS}/")
"""The beginnings of paths left by killed processes: other files there have a lock of their own."""

FOLDERS: Final = (".claude", "untracked", "CLAUDE.local.md", "CLAUDE/Plan")
"""The places from which workflows are read."""

MOST_FILES: Final = 2_000
"""How many checkpoints are read."""


@dataclass(frozen=True)
class UnusableFile:
    """A file in the place of a document that cannot be used.

    Attributes:
        path: from the worktree's root.
        sentence: what is wrong with it, for a person.
        stays: it is never replaced: a later release's, another user's, or not a regular file.
        is_later: a later release wrote it.
    """

    path: str
    sentence: str
    stays: bool
    is_later: bool = False


@dataclass
class DocumentFiles:
    """The content of the documents of one worktree, and the files that cannot be used."""

    root: Path
    documents: list[workflow_documents.ReadDocument] = field(default_factory=list)
    unusable: list[UnusableFile] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    """The ids of completed workflows, read or not."""
    left: list[str] = field(default_factory=list)
    """Paths of files that killed processes left beside the documents."""
    tracked: frozenset[str] = frozenset()
    """The workflow files and sources that git tracks; `*` among them if git does not say."""


def read_files(
    root: Path, environment: Mapping[str, str], deadline: Deadline, *, archived: bool = False
) -> DocumentFiles:
    """Read all documents of a worktree: no lock, nothing is written.

    Args:
        root: its top folder.
        environment: the variables, for git.
        deadline: when git has to have listed what it tracks; without its answer all counts as tracked.
        archived: also read completed workflows' documents; else only if they have another document.
    """
    files = DocumentFiles(root)
    folders = [f"{CHECKPOINTS}/{name}" for name in _names(CHECKPOINTS, files)]
    below = [path for folder in folders for path in _json_in(folder, files)]
    states = [path for path in below if path.rpartition("/")[2].startswith("state-")]
    paths = [(path, DocumentKind.CHECKPOINT) for path in states[:MOST_FILES]]
    # Without workflows they do not matter.
    beside = files if paths else DocumentFiles(root, left=files.left)
    _names(".claude", beside), _names(".claude/state", beside)
    others = [CURRENT, *_json_in(OTHERS, files)]
    paths += [(path, DocumentKind.DOCUMENT) for path in others if os.path.lexists(root / path)]
    if paths or archived:
        files.tracked = tracked_paths(root, deadline, environment, FOLDERS)
    for path, kind in paths:
        _read(path, kind, files)
    known = {document.record.id for document in files.documents if document.record is not None}
    for path in _json_in(ARCHIVE, files):
        files.archived.append(path.removeprefix(f"{ARCHIVE}/").removesuffix(".json"))
        if archived or files.archived[-1] in known:
            _read(path, DocumentKind.DOCUMENT, files)
    return files


def own_content(root: Path, path: str, limit: int = MOST_BYTES) -> tuple[bytes, float] | None:
    """A file's bytes (at most one more than `limit`) and when it was written; None if it is missing.

    Raises:
        StrangeFileError: it, or a folder on the way, is a link, another user's, or not a regular file.
        OSError: it cannot be read.
    """
    whole = regular_files.below(str(root), *path.split("/"))
    read = regular_files.content(whole, limit=limit, is_own=True)
    if read is None and os.path.lexists(whole):
        raise regular_files.StrangeFileError(whole, regular_files.strange(whole) or "is no file")
    return (read[0], read[1] / 1e9) if read is not None else None


def _read(path: str, kind: DocumentKind, files: DocumentFiles) -> None:
    """Read one document, or note why it cannot be used."""
    try:
        read = own_content(files.root, path)
        if read is not None:
            about = (read[0], kind, path, read[1])
            is_tracked = not files.tracked.isdisjoint({path, "*"})
            files.documents.append(workflow_documents.read_document(*about, is_tracked=is_tracked))
    except workflow_documents.UnusableDocument as error:
        is_later = isinstance(error, workflow_documents.LaterDocument)
        then = "Install that release." if is_later else "Fix it, or move it away."
        files.unusable.append(UnusableFile(path, told(path, str(error), then), is_later, is_later))
    except OSError as error:
        _note(path, error, files)


def told(path: str, why: str, then: str) -> str:
    """The sentence for a file that cannot be used."""
    return f"{path} is not used as a workflow's: {why}. It is kept. {then}"


def _note(path: str, error: OSError, files: DocumentFiles, *, is_folder: bool = False) -> None:
    """Note why a file cannot be used; a folder on the way is noted once for all files in it."""
    why = str(error.strerror)
    if isinstance(error, regular_files.StrangeFileError):
        why, at = f"it {error.strerror}", os.path.relpath(error.filename, files.root)
        path, is_folder = at, is_folder or at != path
    then = "Put a folder of your own in its place." if is_folder else "Move it away."
    if not any(file.path == path for file in files.unusable):
        files.unusable.append(UnusableFile(path, told(path, why, then), stays=True))


def _json_in(folder: str, files: DocumentFiles) -> list[str]:
    return [f"{folder}/{name}" for name in _names(folder, files) if name.endswith(".json")]


def _names(folder: str, files: DocumentFiles) -> Iterable[str]:
    """The sorted names in a folder; none, and an entry in `unusable`, if it cannot be read or trusted."""
    try:
        names = sorted(os.listdir(regular_files.below(str(files.root), *folder.split("/"), "")))  # noqa: PTH208 -- names alone
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        is_strange = isinstance(error, regular_files.StrangeFileError)
        if not is_strange or os.path.lexists(files.root / folder):
            _note(folder, error, files, is_folder=True)
        return ()
    left = (f"{folder}/{name}" for name in names if name.endswith(OURS))
    files.left += [path for path in left if path.startswith(_BESIDE)]
    return names
