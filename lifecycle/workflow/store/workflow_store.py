"""The workflows of one worktree: read without a lock, changed under one, written in one commit.

    store = WorkflowStore(root, environment, deadline)
    store.read().unfinished                     # no lock, nothing is written
    with store.changing() as change:            # one lock; what was edited by hand is in it already
        change.put(moved_workflow)              # checkpoint, document and view are written at the end

A commit writes every file as a whole: passed gates, checkpoint, document, view; a finished workflow's
checkpoint is removed last. A crash in between leaves documents of two revisions, of which the newer counts.
A file that somebody changed after it was read is read again, and the changes are taken over.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.timing import Deadline
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import journal, log, regular_files, store, workflow_marks
from lifecycle.workflow.documents.hand_edits import with_edits
from lifecycle.workflow.documents.workflow_documents import DocumentKind, content_of, view_of
from lifecycle.workflow.state import Workflow, slug
from lifecycle.workflow.store import document_files, found_workflows
from lifecycle.workflow.store.document_files import ARCHIVE, CHECKPOINTS, CURRENT, OTHERS, VIEW
from lifecycle.workflow.store.found_workflows import FoundWorkflow, LedgerEntry, WorktreeWorkflows
from lifecycle.workflow.table import refused

LOCK: Final = "workflow.lock"
GATES: Final = "workflow-gates.json"
"""The file in `.lifecycle/` that records which gates exist, and which were passed."""

MOST_REMEMBERED: Final = 200
"""For how many workflows, the newest, gates are remembered."""

_JUST_SECONDS: Final = 60.0
"""How far back entries of the journal may have an id from the present time."""

_TRIES: Final = 6
_BUSY: Final = "Another lifecycle process is at work on the workflows here; try again in a moment."


After = Callable[["WorkflowStore"], object]
"""Called under the lock at the end of each commit; it never raises."""


class WorkflowStore:
    """The workflows of one worktree.

    Args:
        root: the worktree's top folder.
        environment: the variables, for git.
        deadline: when git and the lock have to be done.
        after: called at the end of each commit.
    """

    def __init__(
        self, root: Path, environment: Mapping[str, str], deadline: Deadline, after: After = bool
    ) -> None:
        self.root, self.environment, self.deadline = root, environment, deadline
        self.after = after
        self.folder = store.Folder(root)
        self.noted: dict[str, workflow_marks.AdoptionNote] = {}

    def read(self, *, archived: bool = False) -> WorktreeWorkflows:
        """The workflows in the files: no lock, nothing is written; never raises for a file's content.

        Args:
            archived: include completed workflows; else only files among the unfinished ones.
        """
        return self.found(archived=archived)[0]

    @contextmanager
    def changing(self, *, archived: bool = False) -> Iterator[WorkflowChange]:
        """Change workflows; all files are updated when the block ends without an error.

        Raises:
            LockBusy: another process has the lock.
            Refused: nothing can be written.
        """
        self.folder.make()
        seconds = self.deadline.remaining(at_most=30.0)
        with store.locked(Path(self.folder.at(LOCK)), seconds, _BUSY):
            change = WorkflowChange(self, archived=archived)
            yield change
            change.commit()
            self.after(self)

    def settle(self) -> WorkflowChange:
        """Make all files agree again after edits, deletions or an interrupted commit."""
        with self.changing() as change:
            pass
        return change

    def found(self, *, archived: bool) -> tuple[WorktreeWorkflows, document_files.DocumentFiles]:
        """The workflows as `read` gives them, and the files that they were read from."""
        about = (self.root, self.environment, self.deadline)
        files = document_files.read_files(*about, archived=archived)
        self.noted = workflow_marks.adoption_notes(str(self.root))
        entries = found_workflows.found_workflows(files, self.ledger())
        workflows = tuple(map(self._noted, entries))
        return WorktreeWorkflows(workflows, tuple(files.unusable)), files

    def _noted(self, entry: FoundWorkflow) -> FoundWorkflow:
        """A workflow with the quick path's notes on it: whose it is, and its number of compactions."""
        note = self.noted.get(entry.workflow.id)
        if note is None or entry.workflow.is_over:
            return entry
        (session, client, branch), count = note
        noted = replace(entry.workflow, session=session, client=client, branch=branch)
        noted = replace(noted, compactions=noted.compactions + count)
        return dataclasses.replace(entry, workflow=noted)

    def ledger(self) -> found_workflows.Ledger:
        """What is remembered of gates outside of the documents; empty if it cannot be read."""
        try:
            content = self.folder.read(GATES).content or b"{}"
            return msgspec.json.decode(content, type=dict[str, LedgerEntry])
        except (OSError, ValueError, RecursionError) as error:
            why = f"{store.FOLDER}/{GATES} cannot be read ({error}); the documents count"
            log.write(self.root, why)
            return {}


class _ChangedMeanwhile(Exception):
    """A file changed after it was read."""


class WorkflowChange:
    """The workflows while the lock is held; what is `put` is written when the block ends.

    Attributes:
        workflows: the present workflows, with the edits by hand.
        entries: journal entries; the commit adds those on moved phases.
        troubles: files that could not be written, one sentence each; set when the block has ended.
        after: by id, the records that the commit writes.
    """

    def __init__(self, workflow_store: WorkflowStore, *, archived: bool) -> None:
        self.store, self.root, self.archived = workflow_store, workflow_store.root, archived
        self.workflows, self.read = workflow_store.found(archived=archived)
        self.now = workflow_store.deadline.clock.now()
        self.found = {entry.workflow.id: entry for entry in self.workflows.found}
        self.changed: dict[str, Workflow] = {}
        self.moved = ""
        self.entries: list[journal.JournalEntry] = []
        self.troubles: list[str] = []
        self.after: dict[str, Workflow] = {}

    def put(self, workflow: Workflow, *, is_moved: bool = True) -> Workflow:
        """Queue a workflow to be written when the block ends; returns it with its revision and time.

        Args:
            workflow: its new record.
            is_moved: make it the current one, which `.claude/state/workflow.json` shows.
        """
        entry = self.workflows.get(workflow.id)
        if entry is not None and entry.workflow == workflow and not entry.is_edited:
            return workflow
        stamped = self.stamped(workflow, 1 + (entry.revision if entry is not None else 0))
        self.changed[stamped.id] = stamped
        if is_moved:
            self.moved = stamped.id
        return stamped

    def stamped(self, workflow: Workflow, revision: int) -> Workflow:
        """The record as it is written: with its revision, and the times that follow from it."""
        ended_at = (workflow.ended_at or self.now) if workflow.is_over else 0.0
        return replace(workflow, revision=revision, updated_at=self.now, ended_at=ended_at)

    def new_id(self) -> str:
        """An unused id, made from the present time; the clone's worktrees share the journal."""
        taken = {*self.found, *self.changed, *self.read.archived}
        with suppress(LifecycleError):
            just = journal.read(self.root, self.now - _JUST_SECONDS, system=journal.WORKFLOW)
            taken |= {entry.task for entry in just}
        return found_workflows.free_id(self.now, taken)

    def commit(self) -> None:
        """Write every file, again until none changed in between; then set the mark and the journal."""
        for id_, entry in self.found.items():
            is_the_repositorys = all(document.is_tracked for document in entry.documents)
            if not (id_ in self.changed or entry.is_in_step or is_the_repositorys):
                self.after[id_] = self._settled(entry)
        self.after |= self.changed
        for path in self.read.left:
            with suppress(OSError):
                Path(regular_files.below(str(self.root), *path.split("/"))).unlink(missing_ok=True)
        for _ in range(_TRIES):
            try:
                self._write()
                break
            except _ChangedMeanwhile:
                self._read_again()
        else:
            raise refused("changed-too-fast")
        for id_ in self.store.noted.keys() - (self.found.keys() - self.after.keys()):
            with suppress(OSError):
                workflow_marks.settle_note(str(self.root), id_, self.store.noted[id_])
        before = {entry.workflow.id: entry.base for entry in self.workflows.found}
        for id_, record in self.after.items():
            self.entries += found_workflows.moves(before.get(id_), record, self.now)
        journal.note(self.root, *self.entries)

    def _settled(self, entry: FoundWorkflow) -> Workflow:
        """The record to write for a workflow whose files only have to agree again."""
        if not entry.is_edited:
            return entry.workflow
        return self.stamped(entry.workflow, entry.revision + 1)

    def _read_again(self) -> None:
        """Take over changes in files since they were read."""
        known = {document.path: document.content for document in self.read.documents}
        workflows, self.read = self.store.found(archived=self.archived)
        for entry in workflows.found:
            id_ = entry.workflow.id
            if id_ not in self.found and id_ not in self.after:
                self.after[id_] = self._settled(entry)
            own = (document for document in self.read.documents if document.path in entry.places)
            for document in own if id_ in self.after else ():
                if document.content != known.get(document.path):
                    self.after[id_], _ = with_edits(self.after[id_], document)
            self.found[id_] = entry

    def _write(self) -> None:
        current, folder = self._current(), self.store.folder
        for id_, entry in self.found.items():
            # No longer current: it is kept elsewhere now.
            if CURRENT in entry.places and id_ != current:
                self.after.setdefault(id_, entry.workflow)
        is_written = {document.path: document.content for document in self.read.documents}
        wanted: dict[str, bytes] = {}
        for id_, record in self.after.items():
            wanted |= self._wanted(record, id_ == current)
        if any(is_written.get(path) != content for path, content in wanted.items()):
            self._prepare()
        for path, content in sorted(wanted.items(), key=_order):
            self._replace(path, is_written.get(path), content)
        shown = self.after.get(current) or (self.found[current].workflow if current else None)
        if shown is not None:
            self._render(shown)
        for record in self.after.values():
            self._clear(record, is_written, wanted)
        workflows = {id_: other.workflow for id_, other in self.found.items()} | self.after
        # The guards look whether there is a workflow, and when one changed.
        is_open = any(not workflow.is_over for workflow in workflows.values())
        (folder.mark if is_open else folder.remove)(workflow_marks.WORKFLOW)

    def _current(self) -> str:
        """The id of the workflow that `workflow.json` shows."""
        shown = next((id_ for id_, entry in self.found.items() if CURRENT in entry.places), "")
        left = (id_ for id_, record in self.after.items() if not record.is_over)
        return self.moved or shown or next(left, "")

    def _wanted(self, workflow: Workflow, is_current: bool) -> dict[str, bytes]:
        """The content that each document of a workflow should have, by path."""
        document = content_of(workflow, DocumentKind.DOCUMENT)
        is_current &= not any(file.stays and file.path == CURRENT for file in self.read.unusable)
        wanted = {CURRENT: document} if is_current else {}
        if workflow.is_over:
            return {**wanted, f"{ARCHIVE}/{workflow.id}.json": document}
        if not is_current:
            wanted[f"{OTHERS}/{workflow.id}.json"] = document
        kind, entry = DocumentKind.CHECKPOINT, self.found.get(workflow.id)
        own = [file.path for file in entry.documents if file.kind is kind] if entry else []
        path = own[0] if own else _checkpoint_path(workflow)
        return {path: content_of(workflow, kind), **wanted}

    def _prepare(self) -> None:
        """Write what has to exist before the first document: the gates, and git's exclusion."""
        entries = {record.id: LedgerEntry.of(record) for record in self.after.values()}
        newest = sorted({**self.store.ledger(), **entries}.items())[-MOST_REMEMBERED:]
        kept = {id_: entry for id_, entry in newest if entry.gates}
        content = msgspec.json.format(msgspec.json.encode(kept), indent=1)
        if kept and self.store.folder.read(GATES).content != content:
            self.store.folder.renew(GATES, content)
        with log.Surviving(self.root, "info/exclude", OSError):
            exclude_own_files(self.root, document_files.LINES)

    def _replace(self, path: str, before: bytes | None, content: bytes) -> None:
        """Replace a document, if its content is still what was read."""
        try:
            whole = self._place(path)
            if before == content:
                return
            if before is not None and store.replace_if(whole, before, content) is not None:
                raise _ChangedMeanwhile
            if before is None and os.path.lexists(whole):
                if not any(file.path == path and not file.stays for file in self.read.unusable):
                    raise _ChangedMeanwhile
                aside = store.set_aside(whole, "unreadable").name
                self.troubles.append(f"{path} could not be read; it was kept as {aside}.")
            if before is None:
                store.write(whole, content)
        except regular_files.StrangeFileError as error:
            if path == CURRENT or path.startswith((OTHERS, ARCHIVE)):
                raise Refused(error.sentence) from None
            self.troubles.append(error.sentence)
        except OSError as error:
            raise refused("not-written", path=path, why=error.strerror or error) from None

    def _place(self, path: str) -> Path:
        """Make the folders of a file, and return its path; raises StrangeFileError if one is not ours."""
        place = Path(regular_files.below(str(self.root), *path.split("/")))
        place.parent.mkdir(parents=True, exist_ok=True)
        problem = regular_files.strange(str(place)) or regular_files.strange_owner(str(place))
        if problem:
            raise regular_files.StrangeFileError(str(place), problem)
        return place

    def _render(self, workflow: Workflow) -> None:
        """Write the view of a record, unless the file has the same content."""
        content = view_of(workflow).encode("utf-8", "replace")
        try:
            path = self._place(VIEW)
            file = document_files.own_content(self.root, VIEW)
            if file is None or file[0] != content:
                store.write(path, content)
        except OSError as error:
            self.troubles.append(f"{VIEW} was not written: {error.strerror}.")

    def _clear(
        self, workflow: Workflow, is_written: Mapping[str, bytes], wanted: Mapping[str, bytes]
    ) -> None:
        """Remove files that a workflow no longer has: a checkpoint after its end, a document elsewhere."""
        elsewhere = [f"{OTHERS}/{workflow.id}.json", f"{ARCHIVE}/{workflow.id}.json"]
        if workflow.is_over and workflow.id in self.found:
            places = self.found[workflow.id].places
            elsewhere += [path for path in places if path.startswith(f"{CHECKPOINTS}/")]
        for path in elsewhere:
            if path in wanted:
                continue
            with suppress(OSError):  # a link, another user's, or gone: not our file
                file = document_files.own_content(self.root, path)
                if file is not None and is_written.get(path, file[0]) != file[0]:
                    raise _ChangedMeanwhile
                whole = self.root / path
                whole.unlink(missing_ok=True)
                if path.startswith(CHECKPOINTS):
                    whole.parent.rmdir()


def _checkpoint_path(workflow: Workflow) -> str:
    """Where a workflow's first checkpoint is written; Refused if no file can have its name."""
    name = slug(workflow.name)
    return f"{CHECKPOINTS}/{name}/state-{name}-{workflow.id.removeprefix('wf_')}.json"


def _order(item: tuple[str, bytes]) -> tuple[int, str]:
    """The key to sort by: checkpoints first, then documents, and last the one that everybody reads."""
    path = item[0]
    return (0 if path.startswith(CHECKPOINTS) else 2 if path == CURRENT else 1, path)
