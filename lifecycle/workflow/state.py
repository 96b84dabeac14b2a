"""The record of one workflow: what was asked, its phases in order, and how a change makes the next record.

People write into it the paths of required reading, which begin with @ and stay inside the project, and
gates: `check:NAME`, `file:PATH` or `person`. Both are kept in one form.

Each value is frozen. Both documents (`documents/`) are written from this record and read into it, so it has
the content of both; texts are kept as they were written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from lifecycle.core.errors import IllegalMove, did_you_mean
from lifecycle.core.redact import quoted, visible
from lifecycle.workflow import table
from lifecycle.workflow.table import OVER, PhaseStatus, WorkflowStatus, WorkflowType

MOST_PHASES: Final = 100


MOST_ERRORS: Final = 20
"""How many errors of one phase are kept; the oldest are dropped."""

_NAME_BYTES: Final = 160
"""Bytes of a workflow's name within a file's name, which may have 255."""

_NOT_IN_A_NAME = re.compile(r"[\W_]+")
_OUTSIDE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]*://")
_LONG_PATH: Final = 500

CHECK: Final = "check"
FILE: Final = "file"
PERSON: Final = "person"
"""The kinds of gates: `check:NAME`, `file:PATH`, `person`."""


class _WorkflowValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all records: frozen, and a field that has its default is not written."""


class PhaseError(_WorkflowValue, frozen=True):
    """One failed attempt at a phase."""

    at: float
    text: str


class PassedGate(_WorkflowValue, frozen=True):
    """How the gate of a phase was passed: when, by what, and on which tree if it was a check."""

    at: float
    how: str
    tree: str = ""


class WorkflowPhase(_WorkflowValue, frozen=True):
    """One phase.

    Attributes:
        title: what is done in it; "" if a checkpoint had a number but no name.
        agent: the type of the agent that does it; "" if the session does it itself.
        deliverables: paths and outcomes that a command recorded.
        context_for_next: what the *next* phase is told.
        reading: files to read for this phase, each with an @; beside the workflow's own.
        gate: what has to be shown before it is completed: `check:NAME` (the project's check passed on
            these very files), `file:PATH` (the file exists), `person` (a person's yes); "" for none.
        reason: why it is blocked, failed or skipped.
        passed: how its gate was passed; None if it was not.
        asked_at: when a person was asked for the yes that its gate needs; 0.0 if nobody was.
        agent_id: the client's id of the agent that was launched for it.
        since: when it got its status; 0.0 if not known.
        started_at, ended_at: seconds since the epoch; 0.0 if it has not.
        extra: fields of the document's phase that are not ours; they are kept.
    """

    title: str
    agent: str = ""
    status: PhaseStatus = PhaseStatus.PENDING
    deliverables: tuple[str, ...] = ()
    context_for_next: str = ""
    reading: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    gate: str = ""
    reason: str = ""
    attempts: int = 0
    errors: tuple[PhaseError, ...] = ()
    passed: PassedGate | None = None
    asked_at: float = 0.0
    agent_id: str = ""
    since: float = 0.0
    started_at: float = 0.0
    ended_at: float = 0.0
    extra: dict[str, Any] = {}

    @property
    def is_gated(self) -> bool:
        """True if it has a gate that is neither passed nor skipped."""
        return bool(self.gate) and self.status not in OVER

    @property
    def seconds(self) -> float:
        """How long it took; 0.0 if it is not over, or if that is not known."""
        return max(0.0, self.ended_at - self.started_at) if self.started_at else 0.0


class Workflow(_WorkflowValue, frozen=True):
    """One workflow.

    Attributes:
        id: `wf_YYYYMMDD_HHMMSS`, UTC.
        name: its name for people; the field `workflow` of a checkpoint.
        type: one of `WorkflowType`, or a word of the project's own.
        task: the request, verbatim, with criteria and constraints.
        current: index of the phase that guidance is about, from 0; -1 before the first and after the last.
        reading: files to read before continuing, each with an @, from the worktree's root.
        context: facts by name.
        reminders: rules that outlive compaction.
        created_at: as in the document, ISO 8601; it never changes.
        updated_at: when it was last changed.
        ended_at: when it was archived; 0.0 while it is not.
        given_up: why it was archived with unfinished phases; "" otherwise.
        session, client, branch: its owner, so that several workflows can be distinguished: the client's
            session and process (0 if not known), and the branch that was checked out.
        source: the file that it was read from at a compaction (`CLAUDE.local.md`, a PLAN.md), from the
            worktree's root; "" if a command or an agent began it.
        source_seen: a digest of the source's content that was last taken over.
        is_foreign: some of its text came from a file that git tracks: it is quoted as data wherever shown.
        compactions: how many compactions it has outlived.
        revision: rises by one with each change.
        extra: fields of the documents that are not ours, by place (`checkpoint`, `checkpoint.phase`,
            `document`); kept.
    """

    id: str
    name: str
    type: str = WorkflowType.CUSTOM.value
    task: str = ""
    phases: tuple[WorkflowPhase, ...] = ()
    current: int = -1
    reading: tuple[str, ...] = ()
    context: dict[str, Any] = {}
    reminders: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    created_at: str = ""
    updated_at: float = 0.0
    ended_at: float = 0.0
    given_up: str = ""
    session: str = ""
    client: int = 0
    branch: str = ""
    source: str = ""
    source_seen: str = ""
    is_foreign: bool = False
    compactions: int = 0
    revision: int = 0
    extra: dict[str, dict[str, Any]] = {}

    @property
    def status(self) -> WorkflowStatus:
        """The status that follows from its phases; FAILED if it was given up."""
        if self.given_up:
            return WorkflowStatus.FAILED
        statuses = {phase.status for phase in self.phases}
        if statuses and statuses <= OVER:
            return WorkflowStatus.COMPLETED
        if self.active:
            return WorkflowStatus.ACTIVE
        if PhaseStatus.FAILED in statuses:
            return WorkflowStatus.FAILED
        return WorkflowStatus.ACTIVE if statuses & OVER else WorkflowStatus.PENDING

    @property
    def is_over(self) -> bool:
        """True if nothing is left to do: it is never restored as active."""
        return bool(self.given_up) or self.status is WorkflowStatus.COMPLETED

    @property
    def phase(self) -> WorkflowPhase | None:
        """The phase that guidance is about; None before the first and after the last."""
        return self.phases[self.current] if 0 <= self.current < len(self.phases) else None

    @property
    def active(self) -> tuple[int, ...]:
        """Indices of the phases that are being worked on, which may be several."""
        at_work = (PhaseStatus.ACTIVE, PhaseStatus.BLOCKED)
        return tuple(at for at, phase in enumerate(self.phases) if phase.status in at_work)

    @property
    def left(self) -> tuple[int, ...]:
        """Indices of the phases that are neither completed nor skipped."""
        return tuple(at for at, phase in enumerate(self.phases) if phase.status not in OVER)

    @property
    def done(self) -> int:
        """How many phases are completed or skipped."""
        return len(self.phases) - len(self.left)

    def handed_to(self, index: int) -> str:
        """The text handed on by the last phase before this one that was not skipped."""
        before = reversed(self.phases[: max(index, 0)])
        texts = (p.context_for_next for p in before if p.status is not PhaseStatus.SKIPPED)
        return next(texts, "")

    @property
    def progress(self) -> str:
        """How many phases are over, as `2 of 5`."""
        return f"{self.done} of {len(self.phases)}"

    @property
    def all_reading(self) -> tuple[str, ...]:
        """All files to read now: the workflow's own, and the current phase's."""
        return tuple(dict.fromkeys((*self.reading, *(self.phase.reading if self.phase else ()))))

    @property
    def all_reminders(self) -> tuple[str, ...]:
        """All reminders that apply now: the workflow's own, and the current phase's."""
        own = self.phase.reminders if self.phase else ()
        return tuple(dict.fromkeys((*self.reminders, *own)))

    def gate_before(self, index: int) -> int:
        """The index of the first phase before this one whose gate is neither passed nor skipped; or -1."""
        return next((at for at, phase in enumerate(self.phases[:index]) if phase.is_gated), -1)

    def index_of(self, name: str) -> int:
        """The index of a phase by `phase_N` (from 0), number (from 1), or title; "" is the current one.

        Raises:
            Refused: there is no such phase; the sentence lists the existing ones.
        """
        titles = [phase.title for phase in self.phases]
        numbers = {word: at for at in range(len(titles)) for word in (f"phase_{at}", str(at + 1))}
        if not name and self.phase is not None:
            return self.current
        folded = [title.casefold() for title in titles]
        if name in numbers:
            return numbers[name]
        if name and folded.count(name.casefold()) == 1:
            return folded.index(name.casefold())
        listed = ", ".join(f"{n} {visible(title)}" for n, title in enumerate(titles[:20], 1))
        near, own, name = did_you_mean(name, titles), visible(self.name), visible(name)
        key = "several-such-phases" if name and name.casefold() in folded else "no-such-phase"
        raise table.refused(key, workflow=own, name=name, there=listed or "none", near=near)

    def title_of(self, index: int) -> str:
        """The title of a phase; `Phase N`, counted from 1, if it has none."""
        return self.phases[index].title or f"Phase {index + 1}"

    def with_changes(self, index: int, **changes: Any) -> Workflow:
        """The same workflow with these fields of a phase changed."""
        return self.with_phase(index, replace(self.phases[index], **changes))

    def with_phase(self, index: int, phase: WorkflowPhase) -> Workflow:
        """The same workflow with this phase at that place."""
        return replace(self, phases=(*self.phases[:index], phase, *self.phases[index + 1 :]))


def moved(
    workflow: Workflow, index: int, status: PhaseStatus, now: float, reason: str = ""
) -> Workflow:
    """The workflow with a phase in another status, its times and attempts kept, and its pointer moved.

    A phase that becomes active is the current one; when the current one is over, the pointer moves to the
    next unfinished phase, whose status stays. Gates are judged before (`decide.py`).

    Raises:
        IllegalMove: the table does not have that move; the sentence lists the possible ones.
    """
    phase = workflow.phases[index]
    legal = table.PHASES.legal(phase.status)
    if status not in legal:
        ways = ", ".join(f"{target} ({table.COMMANDS[target]})" for target in legal)
        then = f"it can become: {ways}" if ways else f"{phase.status} is the end"
        where, title = f"Phase {index + 1}", quoted(workflow.title_of(index))
        about = {"where": where, "title": title, "phase": phase, "status": status, "then": then}
        raise IllegalMove(table.sentence("illegal-move", **about))
    after = workflow.with_phase(index, in_status(phase, status, now, reason))
    if status not in OVER:
        return replace(after, current=index)
    if after.current != index and after.phase is not None:
        return after
    later = (at for at in after.left if at > index)
    return replace(after, current=next(iter((*later, *after.left)), -1))


def in_status(
    phase: WorkflowPhase, status: PhaseStatus, now: float, reason: str = ""
) -> WorkflowPhase:
    """The phase in that status, whatever its earlier status, with its times, attempts and errors."""
    changes: dict[str, Any] = {"status": status, "reason": reason, "since": now}
    if status is PhaseStatus.ACTIVE:
        changes |= {"started_at": phase.started_at or now, "ended_at": 0.0}
        changes["attempts"] = phase.attempts + 1
    elif status in OVER or status is PhaseStatus.FAILED:
        changes["ended_at"] = now
    if status is PhaseStatus.FAILED:
        changes["errors"] = (*phase.errors, PhaseError(now, reason))[-MOST_ERRORS:]
    return replace(phase, **changes)


def repointed(workflow: Workflow) -> Workflow:
    """The workflow with its pointer at an unfinished phase: the first active one, else the next."""
    phase, active = workflow.phase, workflow.active
    if phase is not None and phase.status not in OVER:
        return workflow
    if not active and not workflow.done:
        return replace(workflow, current=-1)
    later = (at for at in workflow.left if at > workflow.current)
    return replace(workflow, current=next(iter((*active, *later, *workflow.left)), -1))


def slug(name: str) -> str:
    """A name for folders and files: lower-case letters of any script, digits, and hyphens between them.

    Raises:
        Refused: no character is left.
    """
    text = _NOT_IN_A_NAME.sub("-", name.casefold()).strip("-")[:80]
    text = text.encode()[:_NAME_BYTES].decode(errors="ignore").strip("-")
    if not text:
        raise table.refused("no-slug", name=visible(name))
    return text


def todos(workflow: Workflow) -> list[Mapping[str, str]]:
    """The to-do list of a workflow: content, status and activeForm of each phase."""
    at_work = (PhaseStatus.ACTIVE, PhaseStatus.BLOCKED)
    words = {**dict.fromkeys(OVER, "completed"), **dict.fromkeys(at_work, "in_progress")}
    rows: list[Mapping[str, str]] = []
    for index, phase in enumerate(workflow.phases):
        title, status = workflow.title_of(index), words.get(phase.status, "pending")
        rows.append({"content": title, "status": status, "activeForm": f"Working on {title}"})
    return rows


def gate_parts(gate: str) -> tuple[str, str]:
    """The kind of a gate and its subject: ("check", "test"); ("person", "")."""
    kind, _, value = gate.partition(":")
    return kind.strip().casefold(), value.strip()


def checked_gate(gate: str) -> str:
    """The gate as it is kept; "" for none.

    Raises:
        Refused: it is none of the three kinds, or its file is outside of the project.
    """
    if not gate.strip():
        return ""
    kind, value = gate_parts(gate)
    if kind == PERSON and not value:
        return PERSON
    if kind == FILE and value:
        return f"{FILE}:{reading_path(value, 'file of the gate').removeprefix('@')}"
    if kind == CHECK and value.replace("-", "").replace("_", "").isalnum():
        return f"{CHECK}:{value}"
    raise table.refused("no-gate", gate=quoted(gate))


def reading_path(text: str, what: str = "required reading") -> str:
    """The path as it is kept, from the worktree's root with an @: `docs/a.md` becomes `@docs/a.md`.

    `what` is its name in the refusal.

    Raises:
        Refused: it is empty, leads out of the project, or is not a path.
    """
    path = text.strip().removeprefix("@").strip()
    is_inside = path and ".." not in re.split(r"[/\\]", path) and not _OUTSIDE.match(path)
    if is_inside and path.isprintable() and len(path) <= _LONG_PATH:
        return f"@{path}"
    why = "is no path" if not path or not path.isprintable() else "leads out of the project"
    why = f"has more than {_LONG_PATH} characters" if len(path) > _LONG_PATH else why
    raise table.refused("no-reading", what=what, text=visible(text[:100]), why=why)
