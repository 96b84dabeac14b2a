"""Take what somebody edited in a document by hand over into the record: pure, no file is touched.

A field counts as edited if it says something else than the record that stood beside it. An edit wins over
what was known, with one exception: it completes no phase whose gate was not passed, and begins none behind
such a gate. What is not taken over is told in a remark, one sentence each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.workflow.documents.phase_words import reading_path
from lifecycle.workflow.documents.read_documents import ReadDocument
from lifecycle.workflow.documents.written_documents import (
    FIELDS,
    PHASE_EXTRA,
    PHASE_FIELDS,
    DocumentKind,
    fields_of,
    phase_id,
)
from lifecycle.workflow.state import MOST_PHASES, Workflow, WorkflowPhase, in_status, repointed
from lifecycle.workflow.table import FROM_CHECKPOINT, FROM_DOCUMENT, PhaseStatus, WorkflowStatus
from lifecycle.workflow.workflow_sentences import sentence

_TEXTS: Final = ("title", "agent", "context_for_next")
_BEGUN: Final = frozenset({PhaseStatus.ACTIVE, PhaseStatus.COMPLETED, PhaseStatus.FAILED})


def with_edits(
    workflow: Workflow, document: ReadDocument, before: Mapping[str, Any] | None = None
) -> tuple[Workflow, tuple[str, ...]]:
    """The workflow with the edits of a document taken over, and a sentence for each that was not.

    Args:
        workflow: the newest record that is known.
        document: what was read; compared with its own record, else with `workflow`.
        before: its fields before the edit, where they are known from elsewhere.
    """
    edit = _Edit(workflow, document, before)
    if edit.fields == edit.before:
        return workflow, ()
    if document.kind is DocumentKind.CHECKPOINT:
        edit.take_checkpoint()
    else:
        edit.take_document()
    edit.take_extra()
    return repointed(edit.workflow), tuple(edit.remarks)


class _Edit:
    """The edits of one document, which are taken over into `workflow` one after another."""

    def __init__(
        self, workflow: Workflow, document: ReadDocument, before: Mapping[str, Any] | None
    ) -> None:
        self.workflow, self.document = workflow, document
        self.fields = document.fields
        self.before = {**fields_of(document.record or workflow, document.kind), **(before or {})}
        self.remarks: list[str] = []

    def remark(self, name: str, /, **values: Any) -> None:
        """Note the sentence of this name on an edit that was not taken over."""
        self.remarks.append(f"{self.document.path}: {sentence(name, **values)}")

    def changed(self, name: str, kind: type, word: str, **where: Mapping[str, Any]) -> bool:
        """True if a field was changed to a value of this type; a remark is noted if to one of another."""
        fields = where.get("fields", self.fields)
        before = where.get("before", self.before)
        if name not in fields or fields[name] == before.get(name):
            return False
        value = fields[name]
        if isinstance(value, kind) and not isinstance(value, bool):
            return True
        self.remark("of-no-type", name=name, word=word)
        return False

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A changed list of texts; None if it was not changed."""
        return _texts(self.fields[name]) if self.changed(name, list, "list") else None

    # -- the document

    def take_document(self) -> None:
        """Take over what was changed in `.claude/state/workflow.json`, or one beside it."""
        if self.changed("task", str, "text"):
            self.workflow = replace(self.workflow, task=self.fields["task"])
        ids: list[object] = [phase_id(index) for index in range(len(self.workflow.phases))]
        if self.changed("phases", list, "list"):
            ids = self._take_phases(self.fields["phases"])
        name = self.fields.get("current_phase", "")
        # Where more of it is broken, and that was told, it goes without saying that no phase is named.
        if name != self.before["current_phase"] and (name != "" or not self.remarks):
            self._point_at(name, ids)
        self._judge_status()

    def _take_phases(self, listed: list[Any]) -> list[object]:
        """Take over the list of phases; returns the document's id of each phase that there is then."""
        old = self.workflow
        left = {phase_id(index): index for index in range(len(old.phases))}
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
            ids.insert(at, phase_id(at))
        phases = (WorkflowPhase("") if place is None else old.phases[place] for place in places)
        self.workflow = replace(old, phases=tuple(phases))
        for index, (place, item) in enumerate(zip(places, listed, strict=True)):
            if item is not None:
                self._take_phase(index, place, item)
        current = places.index(old.current) if old.current in places else -1
        self.workflow = replace(self.workflow, current=current)
        return ids

    def _take_phase(self, index: int, place: int | None, item: Mapping[str, Any]) -> None:
        """Take over what was changed in one phase; `place` is where it stood, None if it is new."""
        kind = DocumentKind.DOCUMENT
        blank = fields_of(Workflow("", "", phases=(WorkflowPhase(""),)), kind)["phases"][0]
        phases = self.before["phases"]
        before = phases[place] if place is not None and place < len(phases) else blank
        phase, where = self.workflow.phases[index], {"fields": item, "before": before}
        texts = (name for name in _TEXTS if self.changed(name, str, "text", **where))
        changes: dict[str, Any] = {name: item[name] for name in texts}
        if self.changed("deliverables", list, "list", **where):
            changes["deliverables"] = _texts(item["deliverables"])
        extra = _others(item, PHASE_FIELDS[kind])
        if extra != _others(before, PHASE_FIELDS[kind]):
            changes["extra"] = extra
        self.workflow = self.workflow.with_phase(index, replace(phase, **changes))
        if item.get("status", before["status"]) != before["status"]:
            self._take_status(index, item["status"], FROM_DOCUMENT)

    def _point_at(self, name: object, ids: list[object]) -> None:
        if name is None:
            if not self.workflow.active:
                self.workflow = replace(self.workflow, current=-1)
            return
        index = ids.index(name) if name in ids else -1
        if isinstance(name, int) and name < len(ids):
            index = name
        if index < 0:
            self.remark("current-of-none", words=quoted(str(name)))
        elif not self._is_behind_gate(index):
            self.workflow = replace(self.workflow, current=index)

    def _judge_status(self) -> None:
        """Note a remark on an edited status of the whole workflow that does not follow from its phases."""
        written = self.fields.get("status", self.before["status"])
        status = self.workflow.status
        if written not in (self.before["status"], status.value):
            words = _said(written, [member.value for member in WorkflowStatus])
            self.remark("status-follows", status=status, words=words)

    # -- the checkpoint

    def take_checkpoint(self) -> None:
        """Take over what was changed in a checkpoint."""
        changes: dict[str, Any] = {}
        for name, ours in (("workflow", "name"), ("workflow_type", "type")):
            if not self.changed(name, str, "text") or not self.fields[name].strip():
                continue
            if ours == "type" and "|" in self.fields[name]:
                words = _said(self.fields[name], self.fields[name].split("|"))
                self.remark("placeholder", name=name, words=words)
            else:
                changes[ours] = self.fields[name].strip()
        if self.changed("context", dict, "object"):
            changes["context"] = self.fields["context"]
        created = self.fields.get("created_at")
        if not self.workflow.created_at and isinstance(created, str):
            changes["created_at"] = created
        self.workflow = replace(self.workflow, **changes)
        if self.changed("phase", dict, "object"):
            self._take_shown(self.fields["phase"])
        self._take_reading()
        reminders = self.texts("key_reminders")
        if reminders is not None:
            self._split(reminders, "reminders")

    def _take_shown(self, phase: Mapping[str, Any]) -> None:
        """Take over number, total, name and status of the phase that a checkpoint tells."""
        before = self.before["phase"]
        where: dict[str, Mapping[str, Any]] = {"fields": phase, "before": before}
        extra = _others(phase, PHASE_FIELDS[DocumentKind.CHECKPOINT])
        if extra != _others(before, PHASE_FIELDS[DocumentKind.CHECKPOINT]):
            self._keep_extra(PHASE_EXTRA, extra)
        number = phase.get("current", before["current"])
        is_number = _is_number(number) and number >= 1
        total = phase.get("total", before["total"])
        if not self.workflow.phases or self.changed("total", int, "number", **where):
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
        if self.changed("name", str, "text", **where):
            changed = replace(self.workflow.phases[index], title=phase["name"])
            self.workflow = self.workflow.with_phase(index, changed)
        word = phase.get("status", before["status"])
        if (is_moved or word != before["status"]) and "status" in phase:
            self._take_status(index, word, FROM_CHECKPOINT)

    def _take_total(self, total: Any, number: int) -> None:
        phases = self.workflow.phases
        if not _is_number(total) or not number <= total <= MOST_PHASES:
            self.remark("strange-total", words=quoted(str(total)), number=number)
            total = min(MOST_PHASES, max(number, len(phases)))
        more = tuple(WorkflowPhase("") for _ in range(total - len(phases)))
        if any(phase.gate or phase.status is not PhaseStatus.PENDING for phase in phases[total:]):
            self.remark("total-takes-out")
            return
        self.workflow = replace(self.workflow, phases=(*phases[:total], *more))

    def _move_to(self, index: int, phase: Mapping[str, Any]) -> bool:
        """Point at a phase; those before it are completed then. False if a gate stands before."""
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

    def _take_reading(self) -> None:
        listed = self.texts("required_reading")
        if listed is None:
            return
        kept = list[str]()
        for text in listed:
            try:
                kept.append(reading_path(text))
            except Refused as error:
                self.remarks.append(f"{self.document.path}: {error.sentence}")
        self._split(tuple(kept), "reading")

    def _split(self, listed: tuple[str, ...], name: str) -> None:
        """Split an edited list: the current phase keeps its own entries, all others are the workflow's."""
        phase = self.workflow.phase
        own = getattr(phase, name) if phase is not None else ()
        shared = getattr(self.workflow, name)
        rest = tuple(text for text in listed if text not in own or text in shared)
        self.workflow = replace(self.workflow, **{name: rest})
        if phase is not None:
            fewer = replace(phase, **{name: tuple(text for text in own if text in listed)})
            self.workflow = self.workflow.with_phase(self.workflow.current, fewer)

    # -- both

    def _take_status(self, index: int, word: object, words: Mapping[str, PhaseStatus]) -> None:
        """Set a phase to the status that a word means, unless a gate stands in the way."""
        phase = self.workflow.phases[index]
        status = words.get(word) if isinstance(word, str) else None
        if status is None:
            quote, known = _said(word, words), ", ".join(words)
            self.remark("no-status", number=index + 1, words=quote, known=known, phase=phase)
        elif status is phase.status:
            return
        elif status is PhaseStatus.COMPLETED and phase.gate and phase.passed is None:
            gate = quoted(phase.gate)
            self.remark("completed-by-hand", number=index + 1, gate=gate, phase=phase)
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

    def take_extra(self) -> None:
        """Take over changed fields that have no meaning here; they are kept as they are."""
        kind = self.document.kind
        extra = _others(self.fields, FIELDS[kind])
        if extra != _others(self.before, FIELDS[kind]):
            self._keep_extra(kind.value, extra)

    def _keep_extra(self, place: str, extra: dict[str, Any]) -> None:
        extras = {**self.workflow.extra, place: extra}
        kept = {name: values for name, values in sorted(extras.items()) if values}
        self.workflow = replace(self.workflow, extra=kept)


def _texts(listed: list[Any]) -> tuple[str, ...]:
    """The entries that are texts or numbers, each as text; others are left out."""
    return tuple(str(entry) for entry in listed if isinstance(entry, str | int | float))


def _others(fields: Mapping[str, Any], ours: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in ours}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _said(word: object, words: Collection[str]) -> str:
    """Quote a word, with a remark if it is a placeholder as `pending|active|completed|failed`."""
    parts = [part.strip() for part in word.split("|")] if isinstance(word, str) else []
    is_placeholder = len(parts) > 1 and all(part in words for part in parts)
    hint = " (a placeholder that chooses none of its words)" if is_placeholder else ""
    return f"{quoted(str(word))}{hint}"
