"""Group the documents of a worktree by workflow, and make one record of each group.

Pure: the files were read before (`document_files.py`). Documents belong together by the id in their record;
a document without a record, by the workflow's name or id, or by the moment at which both say that it began.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import quoted
from lifecycle.core.timing import parse_time, render_time
from lifecycle.storage import journal
from lifecycle.workflow.documents.hand_edits import with_edits
from lifecycle.workflow.documents.workflow_documents import DocumentKind, ReadDocument, fields_of
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.document_files import ARCHIVE, DocumentFiles, UnusableFile
from lifecycle.workflow.table import OVER, PhaseStatus, sentence

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_STAMP: Final = re.compile(r"(\d{8}_\d{6})(?=\.json$|$)")
_FORM: Final = "%Y%m%d_%H%M%S"
_NAME: Final = 100


@dataclass(frozen=True)
class FoundWorkflow:
    """One workflow, from all of its documents.

    Attributes:
        workflow: its record, with the edits by hand.
        documents: the documents that were used, at most one of each kind, the newest last.
        places: the paths of all its documents, from the worktree's root; further ones are not used.
        remarks: one sentence for each edit that was not taken over.
        base: the record before edits by hand; None if no document has one.
    """

    workflow: Workflow
    documents: tuple[ReadDocument, ...]
    places: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    base: Workflow | None = None

    @property
    def is_edited(self) -> bool:
        """True if somebody edited it by hand after it was last written."""
        return self.base is None or self.base != self.workflow

    @property
    def revision(self) -> int:
        """The highest revision of its documents; 0 if none has a record."""
        return max([0, *(_age(document)[0] for document in self.documents)])

    @property
    def is_in_step(self) -> bool:
        """True if each of its documents agrees with the record, in its fields and in our own object."""
        fields = {kind: fields_of(self.workflow, kind) for kind in DocumentKind}
        own = (document for document in self.documents if document.record == self.workflow)
        kinds = {document.kind for document in own if document.fields == fields[document.kind]}
        wanted = 1 if self.workflow.is_over else 2
        return not self.is_edited and len(kinds) == len(self.documents) >= wanted

    @property
    def written_at(self) -> float:
        """When it was last changed, in seconds since the epoch."""
        times = [document.written_at for document in self.documents if self.is_edited]
        return max([self.workflow.updated_at, *times])


@dataclass(frozen=True)
class WorktreeWorkflows:
    """The workflows of one worktree as they were read.

    Attributes:
        found: all of them, the last changed first.
        unusable: files in the place of documents that cannot be used.
    """

    found: tuple[FoundWorkflow, ...] = ()
    unusable: tuple[UnusableFile, ...] = ()

    @property
    def unfinished(self) -> tuple[FoundWorkflow, ...]:
        """The unfinished workflows, the last changed first."""
        return tuple(entry for entry in self.found if not entry.workflow.is_over)

    @property
    def open_records(self) -> tuple[Workflow, ...]:
        """The records of the unfinished workflows."""
        return tuple(entry.workflow for entry in self.unfinished)

    @property
    def troubles(self) -> tuple[str, ...]:
        """One sentence for each file that cannot be used, and for each edit that was not taken over."""
        sentences = [file.sentence for file in self.unusable]
        return (*sentences, *(remark for entry in self.unfinished for remark in entry.remarks))

    def get(self, name: str) -> FoundWorkflow | None:
        """The workflow with this id or name (unfinished ones first, then the newest), or None."""

        def names(entry: FoundWorkflow) -> tuple[str, str]:
            return entry.workflow.id, entry.workflow.name

        ordered, folded = (*self.unfinished, *self.found), name.casefold()
        alike = (entry for entry in ordered if folded in map(str.casefold, names(entry)))
        # What is spelled in the same way comes first, and of that an id.
        return min(alike, key=lambda entry: [own != name for own in names(entry)], default=None)


class LedgerEntry(msgspec.Struct, frozen=True):
    """What is remembered of one workflow's gates outside of its documents.

    A document was tampered with if it lost a gate, or if it has a gated phase completed that never was.

    Attributes:
        revision, phases: the revision, and the number of phases, of the record that it was made from.
        gates: by the phase's index, its gate.
        passed: the phases that were completed or skipped through their gates.
    """

    revision: int
    phases: int
    gates: dict[int, str]
    passed: tuple[int, ...]

    @classmethod
    def of(cls, workflow: Workflow) -> LedgerEntry:
        """The entry for a workflow."""
        gated = {index: phase for index, phase in enumerate(workflow.phases) if phase.gate}
        passed = tuple(index for index, phase in gated.items() if phase.status in OVER)
        gates = {index: phase.gate for index, phase in gated.items()}
        return cls(workflow.revision, len(workflow.phases), gates, passed)


Ledger = Mapping[str, LedgerEntry]
"""Entries by the id of the workflow."""


def found_workflows(files: DocumentFiles, ledger: Ledger) -> list[FoundWorkflow]:
    """The workflows in the documents of these files, the newest first."""
    workflows = [_together(id_, members, ledger) for id_, members in _grouped(files).items()]
    return sorted(workflows, key=lambda entry: (-entry.written_at, entry.workflow.id))


def _grouped(files: DocumentFiles) -> Mapping[str, Sequence[ReadDocument]]:
    """Documents by the id of their workflow; a document without an id gets a new one."""
    members, by_name = dict[str, list[ReadDocument]](), dict[str, str]()
    for read in sorted(files.documents, key=lambda entry: (entry.record is None, entry.path)):
        document = dataclasses.replace(read, record=None) if _is_another(read, members) else read
        fields, record = document.fields, document.record
        if document.kind is DocumentKind.DOCUMENT:
            id_, name = str(fields.get("id") or ""), record.name if record is not None else ""
            known = id_ if _ID.fullmatch(id_) else ""
        else:
            name = str(fields.get("workflow") or "")
            known = record.id if record is not None else by_name.get(name) or _twin(read, members)
        others = () if document.path.startswith(ARCHIVE) else files.archived
        key = known or free_id(_moment(document), (*members, *others))
        members.setdefault(key, []).append(document)
        if name:
            by_name.setdefault(name, key)
    return members


def _is_another(document: ReadDocument, members: Mapping[str, Sequence[ReadDocument]]) -> bool:
    """True if the record in a document belongs to another workflow than its fields.

    Somebody wrote another workflow over the fields, or copied the document for another workflow.
    """
    fields, record = document.fields, document.record
    if record is None:
        return False
    if document.kind is DocumentKind.DOCUMENT:
        return str(fields.get("id") or "") not in ("", record.id)
    before = [member for member in members.get(record.id, ()) if member.kind is document.kind]
    name = str(fields.get("workflow") or "")
    return bool(before) and name != before[0].fields.get("workflow")


def _twin(checkpoint: ReadDocument, members: Mapping[str, Sequence[ReadDocument]]) -> str:
    """The id in the document of the same moment, if neither has a record to know the other by; or ""."""
    id_ = free_id(_moment(checkpoint), ())
    others = members.get(id_, ())
    is_alone = [(other.kind, other.record) for other in others] == [(DocumentKind.DOCUMENT, None)]
    return id_ if is_alone else ""


def free_id(moment: float, taken: Iterable[str]) -> str:
    """A free id `wf_YYYYMMDD_HHMMSS` for a workflow that began then; a taken id is raised by a second."""
    ids, second = set(taken), int(moment)
    while (candidate := f"wf_{datetime.fromtimestamp(second, UTC).strftime(_FORM)}") in ids:
        second += 1
    return candidate


def started_at(id_: str) -> float:
    """When a workflow with this id began; 0.0 if it does not say."""
    match = _STAMP.search(id_)
    try:
        return datetime.strptime(match[1], _FORM).replace(tzinfo=UTC).timestamp() if match else 0.0
    except ValueError:
        return 0.0


def _moment(document: ReadDocument) -> float:
    """When the workflow of a document without a record began, if the document says so."""
    created = parse_time(document.fields.get("created_at")) or 0.0
    return max(0.0, created) or started_at(document.path) or max(0.0, document.written_at)


def _together(id_: str, members: Sequence[ReadDocument], ledger: Ledger) -> FoundWorkflow:
    """One workflow from its documents: the newest record, with the edits applied."""
    ordered = sorted(members, key=_age)
    used: dict[DocumentKind, ReadDocument] = {member.kind: member for member in ordered}
    documents = sorted(used.values(), key=lambda member: (member.written_at, member.kind))
    records = [member for member in documents if member.record is not None]
    newest = max(records, key=_age, default=None)
    base = newest.record if newest is not None else None
    passed = ((member.path, member.remark) for member in documents if member.remark)
    remarks = [f"{path}: {remark}, so it was passed over." for path, remark in passed]
    is_checkpoint = [document.kind for document in documents] == [DocumentKind.CHECKPOINT]
    # Without a record, the fields count as edits of an empty workflow.
    blank = Workflow(id_, "", phases=(WorkflowPhase(""),) if is_checkpoint else ())
    workflow, added = _guarded(base or blank, ledger)
    remarks += added
    for document in documents:
        workflow, more = with_edits(workflow, document)
        remarks += more
    if base is None:  # only now it has the phases that the gates belong to
        workflow, added = _guarded(workflow, ledger)
        remarks += added
    if any(member.is_tracked for member in documents) and not workflow.is_foreign:
        workflow = replace(workflow, is_foreign=True)
    workflow = _completed(workflow, documents)
    places = tuple(member.path for member in ordered)
    return FoundWorkflow(workflow, tuple(documents), places, tuple(dict.fromkeys(remarks)), base)


def _age(document: ReadDocument) -> tuple[int, float]:
    return (document.record.revision if document.record is not None else -1, document.written_at)


def _completed(workflow: Workflow, documents: Sequence[ReadDocument]) -> Workflow:
    """The workflow with the values that every record has: a name, and when it began."""
    first = next(iter(workflow.task.strip().splitlines()), "").strip()
    name = workflow.name or first[:_NAME].strip() or workflow.id
    written = min(document.written_at for document in documents)
    created = workflow.created_at or render_time(started_at(workflow.id) or written)
    return replace(workflow, name=name, created_at=created)


def _guarded(workflow: Workflow, ledger: Ledger) -> tuple[Workflow, list[str]]:
    """The record with the remembered gates, whatever a document says about them."""
    entry = ledger.get(workflow.id)
    # The ledger is ahead, because a commit was interrupted; documents without a record have no revision.
    is_ahead = entry is not None and entry.revision > workflow.revision > 0
    if entry is None or (is_ahead and entry.phases != len(workflow.phases)):
        return workflow, []
    remarks: list[str] = []
    for index, gate in entry.gates.items():
        if index >= len(workflow.phases):
            continue
        phase = workflow.phases[index]
        is_over = phase.status in OVER
        if phase.gate == gate and (index in entry.passed or not is_over):
            continue
        workflow = workflow.with_changes(index, gate=gate)
        if is_over and index not in entry.passed:
            again = {"status": PhaseStatus.ACTIVE, "passed": None, "ended_at": 0.0}
            workflow = replace(workflow.with_changes(index, **again), current=index)
        remarks.append(sentence("gate-changed", gate=quoted(gate), number=index + 1))
    return workflow, remarks


def moves(before: Workflow | None, after: Workflow, now: float) -> Iterator[journal.JournalEntry]:
    """The transitions of phases between two records, and the workflow's end, for the journal."""
    old_phases = before.phases if before is not None else ()
    for index, phase in enumerate(after.phases):
        old = old_phases[index].status if index < len(old_phases) else PhaseStatus.PENDING
        if phase.status is old:
            continue
        title = after.title_of(index)
        detail: dict[str, Any] = {"title": after.name, "phase": title, "number": index + 1}
        detail |= {"reason": phase.reason} if phase.reason else {}
        detail |= {"gate": phase.gate, "passed": bool(phase.passed)} if phase.gate else {}
        actor = "" if phase.status is PhaseStatus.SKIPPED else phase.agent
        step = (f"{index + 1} {old}", f"{index + 1} {phase.status}")
        key = f"{after.id}/{after.revision}/{index}/{phase.status}"
        about = (after.id, actor, after.session, *step, key, detail)
        yield journal.JournalEntry(now, journal.WORKFLOW, journal.TRANSITION, *about)
    if after.is_over and not (before is not None and before.is_over):
        seconds = max(0.0, now - (parse_time(after.created_at) or now))
        failed = sum(len(phase.errors) for phase in after.phases)
        detail = {"title": after.name, "seconds": seconds, "failed": failed}
        whose = {"task": after.id, "session": after.session}
        yield journal.closed(now, journal.WORKFLOW, detail, after.given_up, **whose)
