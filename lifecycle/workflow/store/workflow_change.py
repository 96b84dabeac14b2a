"""The workflows of a worktree as they were read, and a change of them until it is committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from lifecycle.core.light_dataclass import dataclass
from lifecycle.storage import journal
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.document_files import DocumentFiles, UnusableFile
from lifecycle.workflow.store.found_workflows import FoundWorkflow, free_id
from lifecycle.workflow.table import PhaseStatus


@dataclass(frozen=True)
class WorktreeWorkflows:
    """The workflows of one worktree as they were read.

    Attributes:
        found: all of them, the one that was changed last first.
        current: the id of the one in `.claude/state/workflow.json`; "" if there is none.
        unusable: files in the place of documents that cannot be used.
    """

    found: tuple[FoundWorkflow, ...] = ()
    current: str = ""
    unusable: tuple[UnusableFile, ...] = ()

    @property
    def unfinished(self) -> tuple[FoundWorkflow, ...]:
        """Those with something left to do, the one that was changed last first."""
        return tuple(entry for entry in self.found if not entry.workflow.is_over)

    @property
    def troubles(self) -> tuple[str, ...]:
        """One sentence for each file that cannot be used, and for each edit that was not taken over."""
        sentences = [file.sentence for file in self.unusable]
        return (*sentences, *(remark for entry in self.unfinished for remark in entry.remarks))

    def get(self, name: str) -> FoundWorkflow | None:
        """The workflow of this id or name (the unfinished one first, of several the newest), or None."""
        ordered = (*self.unfinished, *self.found)
        names = [(entry.workflow.id, entry.workflow.name) for entry in ordered]
        ranked = [
            (id_ != name, title != name, at)
            for at, (id_, title) in enumerate(names)
            if name.casefold() in (id_.casefold(), title.casefold())
        ]
        return ordered[min(ranked)[2]] if ranked else None


class WorkflowChange:
    """The workflows while the lock is held; what is `put` is written when the block ends.

    Attributes:
        workflows: as they are, with what was edited by hand.
        entries: what is written to the journal beside the phases that moved.
        troubles: files that could not be written, one sentence each; there once the block has ended.
        written: by path, what the commit put there.
        after: by id, the records that the commit writes.
        is_foreseen: False if somebody else changed a file in the middle of it.
    """

    def __init__(self, workflows: WorktreeWorkflows, files: DocumentFiles, now: float) -> None:
        self.workflows, self.files, self.now = workflows, files, now
        self.changed: dict[str, Workflow] = {}
        self.moved: list[str] = []
        self.entries: list[journal.JournalEntry] = []
        self.troubles: list[str] = []
        self.written: dict[str, bytes] = {}
        self.after: dict[str, Workflow] = {}
        self.is_foreseen = True

    def put(self, workflow: Workflow, *, is_moved: bool = True) -> Workflow:
        """Have a workflow written when the block ends; returns it with its revision and time.

        Args:
            workflow: what it is now.
            is_moved: it becomes the current one, which `.claude/state/workflow.json` shows.
        """
        entry = self.workflows.get(workflow.id)
        if entry is not None and entry.workflow == workflow and not entry.is_edited:
            return workflow
        stamped = self.stamped(workflow, 1 + (entry.revision if entry is not None else 0))
        self.changed[stamped.id] = stamped
        if is_moved:
            self.moved.append(stamped.id)
        return stamped

    def stamped(self, workflow: Workflow, revision: int) -> Workflow:
        """The record as it is written: with its revision, and the times that follow from it."""
        ended_at = (workflow.ended_at or self.now) if workflow.is_over else 0.0
        return replace(workflow, revision=revision, updated_at=self.now, ended_at=ended_at)

    def new_id(self) -> str:
        """An id that no workflow has, made of the present moment."""
        taken = {entry.workflow.id for entry in self.workflows.found} | set(self.changed)
        return free_id(self.now, taken)


def moves_of(
    before: Workflow | None, after: Workflow, now: float
) -> Iterator[journal.JournalEntry]:
    """The transitions of phases between two records, for the journal."""
    old_phases = before.phases if before is not None else ()
    for index, phase in enumerate(after.phases):
        old = old_phases[index].status if index < len(old_phases) else PhaseStatus.PENDING
        if phase.status is old:
            continue
        detail: dict[str, Any] = {"title": after.name, "phase": phase.title, "number": index + 1}
        detail |= {"reason": phase.reason} if phase.reason else {}
        detail |= {"gate": phase.gate, "passed": bool(phase.passed)} if phase.gate else {}
        yield journal.JournalEntry(
            now,
            journal.WORKFLOW,
            journal.TRANSITION,
            task=after.id,
            actor=phase.agent,
            session=after.session,
            source=f"{index + 1} {old}",
            target=f"{index + 1} {phase.status}",
            key=f"{after.id}/{after.revision}/{index}/{phase.status}",
            detail=detail,
        )
