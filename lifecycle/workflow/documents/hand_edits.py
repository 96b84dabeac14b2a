"""Merge edits that somebody made by hand in a document into the record: pure, no file is touched.

A field counts as edited if it differs from the record that is stored beside it. An edit wins over what was
known, with one exception: it completes no phase whose gate was not passed, and begins no phase after such a
gate. Each edit that is not taken over gives a remark of one sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.workflow import state, table
from lifecycle.workflow.documents import workflow_documents
from lifecycle.workflow.documents.workflow_documents import BLANK, DocumentKind, ReadDocument
from lifecycle.workflow.state import MOST_PHASES, Workflow, WorkflowPhase, in_status, repointed
from lifecycle.workflow.table import FROM_CHECKPOINT, FROM_DOCUMENT, PhaseStatus

_WORDS: Final = {str: "text", list: "list", dict: "object", int: "number"}
"""A remark's word for the type that a field must have."""

_BEGUN: Final = frozenset({PhaseStatus.ACTIVE, PhaseStatus.COMPLETED, PhaseStatus.FAILED})


def with_edits(workflow: Workflow, document: ReadDocument) -> tuple[Workflow, tuple[str, ...]]:
    """The workflow with the edits of a document taken over, and a sentence for each edit that was not.

    Args:
        workflow: the newest known record.
        document: the document; it is compared with its own record, else with `workflow`.
    """
    edit = _Edit(workflow, document)
    if edit.fields == edit.before:
        return workflow, ()
    if document.kind is DocumentKind.CHECKPOINT:
        edit.take_checkpoint()
    else:
        edit.take_document()
    edit.take_extra(document.kind.value, edit.whole, BLANK[document.kind])
    return repointed(edit.workflow), tuple(edit.remarks)


_FieldsBefore = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A document's fields now, and before the edit."""


class _Edit:
    """The edits of one document, which are merged into `workflow` one after another."""

    def __init__(self, workflow: Workflow, document: ReadDocument) -> None:
        self.workflow, self.document = workflow, document
        self.fields = document.fields
        self.before = workflow_documents.fields_of(document.record or workflow, document.kind)
        self.whole: _FieldsBefore = (self.fields, self.before)
        self.remarks: list[str] = []

    def remark(self, name: str, /, **values: Any) -> None:
        """Add the remark with this name on an edit that was not taken over."""
        self.remarks.append(f"{self.document.path}: {table.sentence(name, **values)}")

    def changed(self, edit: _FieldsBefore, **kinds: type) -> dict[str, Any]:
        """The changed fields whose new value has the right type; a remark on each other changed field."""
        fields, before = edit
        edited = [name for name in kinds if name in fields and fields[name] != before.get(name)]
        strange = [name for name in edited if not _is_of(fields[name], kinds[name])]
        for name in strange:
            self.remark("of-no-type", name=name, word=_WORDS[kinds[name]])
        return {name: fields[name] for name in edited if name not in strange}

    # -- the document

    def take_document(self) -> None:
        """Take over changes in `.claude/state/workflow.json`, or in another document of its kind."""
        changed = self.changed(self.whole, task=str, phases=list)
        self.workflow = replace(self.workflow, task=changed.get("task", self.workflow.task))
        ids: list[object] = [*map(workflow_documents.phase_id, range(len(self.workflow.phases)))]
        if "phases" in changed:
            ids = self._take_phases(changed["phases"])
        name = self.fields.get("current_phase", "")
        # If other parts are broken, which was remarked, a missing phase needs no remark of its own.
        if name != self.before["current_phase"] and (name != "" or not self.remarks):
            self._point_at(name, ids)
        status = self.workflow.status
        written = self.fields.get("status", self.before["status"])
        if written not in (self.before["status"], status.value):
            self.remark("status-follows", status=status, words=quoted(str(written)))

    def _take_phases(self, listed: list[Any]) -> list[object]:
        """Take over the list of phases; returns the document's id of each resulting phase."""
        old = self.workflow
        left = {workflow_documents.phase_id(index): index for index in range(len(old.phases))}
        if len(listed) > MOST_PHASES or not all(isinstance(entry, dict) for entry in listed):
            why = f"more than {MOST_PHASES}" if len(listed) > MOST_PHASES else "not all objects"
            self.remark("strange-phases", why=why)
            return [*left]
        ids: list[object] = [entry.get("id") for entry in listed]
        places = [left.pop(str(name), None) for name in ids]
        for at in [at for at in left.values() if old.phases[at].is_gated]:
            self.remark("gate-taken-out", number=at + 1, gate=quoted(old.phases[at].gate))
            listed = [*listed[:at], None, *listed[at:]]
            places.insert(at, at)
            ids.insert(at, workflow_documents.phase_id(at))
        phases = (WorkflowPhase("") if place is None else old.phases[place] for place in places)
        self.workflow = replace(old, phases=tuple(phases))
        for index, (place, item) in enumerate(zip(places, listed, strict=True)):
            if item is not None:
                self._take_phase(index, place, item)
        current = places.index(old.current) if old.current in places else -1
        self.workflow = replace(self.workflow, current=current)
        return ids

    def _take_phase(self, index: int, place: int | None, item: Mapping[str, Any]) -> None:
        """Take over changes in one phase; `place` is its earlier position, None if it is new."""
        phases, blank = self.before["phases"], BLANK[DocumentKind.DOCUMENT]["phases"][0]
        before = phases[place] if place is not None and place < len(phases) else blank
        kinds = {"title": str, "agent": str, "context_for_next": str, "deliverables": list}
        changes = self.changed((item, before), **kinds)
        if "deliverables" in changes:
            changes["deliverables"] = _texts(changes["deliverables"])
        extra = _others(item, blank)
        if extra != _others(before, blank):
            changes["extra"] = extra
        self.workflow = self.workflow.with_changes(index, **changes)
        if item.get("status", before["status"]) != before["status"]:
            self._take_status(index, item["status"], FROM_DOCUMENT)

    def _point_at(self, name: object, ids: list[object]) -> None:
        if name is None:
            if not self.workflow.active:
                self.workflow = replace(self.workflow, current=-1)
            return
        if name not in ids:
            self.remark("current-of-none", words=quoted(str(name)))
        elif not self._is_behind_gate(ids.index(name)):
            self.workflow = replace(self.workflow, current=ids.index(name))

    # -- the checkpoint

    def take_checkpoint(self) -> None:
        """Take over changes in a checkpoint."""
        kinds = {"workflow": str, "workflow_type": str, "context": dict, "phase": dict}
        changed = self.changed(self.whole, **kinds, required_reading=list, key_reminders=list)
        created = self.fields.get("created_at")
        self.workflow = replace(
            self.workflow,
            name=changed.get("workflow", "").strip() or self.workflow.name,
            type=changed.get("workflow_type", "").strip() or self.workflow.type,
            context=changed.get("context", self.workflow.context),
            created_at=self.workflow.created_at or (created if isinstance(created, str) else ""),
        )
        if "phase" in changed:
            self._take_shown(changed["phase"])
        if "required_reading" in changed:
            paths = list[str]()
            for text in _texts(changed["required_reading"]):
                try:
                    paths.append(state.reading_path(text))
                except Refused as error:
                    self.remarks.append(f"{self.document.path}: {error.sentence}")
            self._split(tuple(paths), "reading")
        if "key_reminders" in changed:
            self._split(_texts(changed["key_reminders"]), "reminders")

    def _take_shown(self, phase: Mapping[str, Any]) -> None:
        """Take over number, total, name and status of the phase in a checkpoint."""
        before, blank = self.before["phase"], BLANK[DocumentKind.CHECKPOINT]["phase"]
        edit = (phase, before)
        self.take_extra(workflow_documents.PHASE_EXTRA, edit, blank)
        number = phase.get("current", before["current"])
        is_number = _is_of(number, int) and 1 <= number <= MOST_PHASES
        total = phase.get("total", before["total"])
        if not self.workflow.phases or self.changed(edit, total=int):
            self._take_total(total, number if is_number else 1)
        if not is_number or number > len(self.workflow.phases):
            count = len(self.workflow.phases)
            self.remark("current-out-of", number=quoted(str(number)), count=count)
            return
        index = number - 1
        is_known = self.document.record or self.workflow.revision
        is_moved = number != before["current"] or not is_known
        if is_moved and not self._move_to(index, phase):
            return
        if self.changed(edit, name=str):
            self.workflow = self.workflow.with_changes(index, title=phase["name"])
        word = phase.get("status", before["status"])
        if (is_moved or word != before["status"]) and "status" in phase:
            self._take_status(index, word, FROM_CHECKPOINT)

    def _take_total(self, total: Any, number: int) -> None:
        phases = self.workflow.phases
        least = max(number, len(phases))
        if not _is_of(total, int) or not least <= total <= MOST_PHASES:
            self.remark("strange-total", words=quoted(str(total)), least=least)
            total = min(MOST_PHASES, least)
        more = (WorkflowPhase("") for _ in range(total - len(phases)))
        self.workflow = replace(self.workflow, phases=(*phases, *more))

    def _move_to(self, index: int, phase: Mapping[str, Any]) -> bool:
        """Make a phase the current one and complete those before it; False if an open gate is before it."""
        if self._is_behind_gate(index):
            return False
        if phase.get("status") == "not_started" and index == 0:
            return True
        for at, earlier in enumerate(self.workflow.phases[:index]):
            if earlier.status in (PhaseStatus.PENDING, PhaseStatus.ACTIVE):
                done = in_status(earlier, PhaseStatus.COMPLETED, self.document.written_at)
                self.workflow = self.workflow.with_phase(at, done)
        self.workflow = replace(self.workflow, current=index)
        return True

    def _split(self, listed: tuple[str, ...], name: str) -> None:
        """Split an edited list: the current phase keeps its own entries, all others are the workflow's."""
        phase = self.workflow.phase
        own = getattr(phase, name) if phase is not None else ()
        shared = getattr(self.workflow, name)
        rest = tuple(text for text in listed if text not in own or text in shared)
        self.workflow = replace(self.workflow, **{name: rest})
        if phase is not None:
            fewer = {name: tuple(text for text in own if text in listed)}
            self.workflow = self.workflow.with_changes(self.workflow.current, **fewer)

    # -- both

    def _take_status(self, index: int, word: object, words: Mapping[str, PhaseStatus]) -> None:
        """Set a phase to the status that a word means, unless a gate prevents it."""
        phase = self.workflow.phases[index]
        status = words.get(word) if isinstance(word, str) else None
        if status is None:
            about = {"words": quoted(str(word)), "known": ", ".join(words)}
            self.remark("no-status", number=index + 1, phase=phase, **about)
        elif status is phase.status:
            return
        elif status is PhaseStatus.COMPLETED and phase.gate and phase.passed is None:
            self.remark("completed-by-hand", number=index + 1, gate=quoted(phase.gate), phase=phase)
        elif status not in _BEGUN or not self._is_behind_gate(index):
            changed = in_status(phase, status, self.document.written_at)
            self.workflow = self.workflow.with_phase(index, changed)
            if status is PhaseStatus.ACTIVE:
                self.workflow = replace(self.workflow, current=index)

    def _is_behind_gate(self, index: int) -> bool:
        gate = self.workflow.gate_before(index)
        if gate >= 0:
            closed = quoted(self.workflow.phases[gate].gate)
            self.remark("begun-by-hand", number=index + 1, before=gate + 1, gate=closed)
        return gate >= 0

    def take_extra(self, place: str, edit: _FieldsBefore, ours: Collection[str]) -> None:
        """Take over changed fields that have no meaning here; they are kept as they are."""
        extra, before = (_others(fields, ours) for fields in edit)
        if extra != before:
            extras = {**self.workflow.extra, place: extra}
            kept = {name: values for name, values in sorted(extras.items()) if values}
            self.workflow = replace(self.workflow, extra=kept)


def _texts(listed: list[Any]) -> tuple[str, ...]:
    """The entries that are texts or numbers, each as text; others are left out."""
    return tuple(str(entry) for entry in listed if isinstance(entry, str | int | float))


def _others(fields: Mapping[str, Any], ours: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ours}


def _is_of(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)  # `true` is no number
