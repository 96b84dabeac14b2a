"""The steps of a workflow, for commands, hooks and programs: choose it, decide, write, report.

    steps = WorkflowSteps(store, asker, presence)
    steps.start(Workflow("", "Feature X", phases=(WorkflowPhase("Design"),)), template="custom")
    steps.set_status(PhaseStatus.COMPLETED, deliverables=["docs/design.md"])

Each step takes the lock once and writes both documents and the view in one commit. A refused step changes
nothing, except the time at which a person was asked. Whether a gate is passed is judged by what a check, a
file or a person shows, not by words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from lifecycle.core.errors import GitFailed, Refused, Transient, did_you_mean
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import quoted, redact
from lifecycle.evidence.outcomes import Outcome
from lifecycle.git.tracked_files import tracked_paths
from lifecycle.settings import user_folder
from lifecycle.settings.persons import Presence, person
from lifecycle.storage import journal
from lifecycle.workflow import decide, state
from lifecycle.workflow.state import CHECK, FILE, PERSON, PassedGate, Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_templates import template, template_path
from lifecycle.workflow.store.found_workflows import FoundWorkflow, WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowChange, WorkflowStore
from lifecycle.workflow.table import PhaseStatus, refused, sentence
from lifecycle.workflow.whose import Asker, WorkflowChoice, begun_by, chosen, refuse_held

ADVANCE: Final = "lifecycle workflow advance"
SKIP: Final = "lifecycle workflow skip --reason TEXT"
"""The commands that a person is asked to type."""


@dataclass(frozen=True)
class StepDone:
    """The result of one step.

    Attributes:
        workflow: the workflow after the step.
        phase: index of the step's phase; -1 if it had none.
        changed: False if the state was the same before.
        troubles: one sentence for each file that could not be used or written, and each edit that was
            not taken over.
    """

    workflow: Workflow
    phase: int = -1
    changed: bool = True
    troubles: tuple[str, ...] = ()


class NoWorkflow(Refused):
    """No workflow has this name, or the asker has no workflow."""

    for_agent = True


class GateClosed(Refused):
    """A gate's condition is not met."""

    for_agent = True


class PersonAsked(GateClosed):
    """A person has to say yes, and did not since being asked."""


class WorkflowSteps:
    """Steps of the workflows of one worktree.

    Args:
        store: the worktree's workflows.
        asker: who asks; decides which of several workflows is meant if none is named.
        presence: says who may be asking; called only if a person is required.
    """

    def __init__(
        self,
        store: WorkflowStore,
        asker: Asker,
        presence: Callable[[], Presence] = lambda: Presence(is_inside=True),
    ) -> None:
        self.store, self.asker, self.presence = store, asker, presence

    def choice(self, workflows: WorktreeWorkflows) -> WorkflowChoice:
        """The workflow that is meant if none is named, and the others."""
        return chosen(self.store.root, workflows.open_records, self.asker)

    def named(self, workflows: WorktreeWorkflows, name: str = "") -> FoundWorkflow:
        """The workflow of this id or name; "" is the one that is meant.

        Raises:
            NoWorkflow: there is none; the sentence lists the existing ones.
        """
        if not name:
            name = self._meant(workflows).id
        named = workflows.get(name)
        if named is None:
            names = [entry.workflow.name for entry in workflows.found]
            listing = ", ".join(quoted(title) for title in names[:10])
            others = f"so nothing was done; there is {listing}" if listing else "and no other"
            name, near = quoted(name), did_you_mean(name, names)
            raise NoWorkflow(sentence("no-such-workflow", name=name, others=others, near=near))
        return named

    def _meant(self, workflows: WorktreeWorkflows) -> Workflow:
        """The workflow that is meant if none is named; raises NoWorkflow."""
        choice = self.choice(workflows)
        if choice.workflow is not None:
            return choice.workflow
        others = ", ".join(quoted(other.name) for other in choice.others[:10])
        start = 'Begin one: lifecycle workflow start NAME --phase "Title"'
        if number := len(workflows.unusable):  # one of them may contain it
            files = f"{number} files" if number > 1 else "A file"
            start += f". {files} cannot be used: lifecycle workflow list"
        then = f"Name one of {others}." if others else start
        then = ". ".join((*choice.lapsed_lines, then))
        raise NoWorkflow(sentence("none-of-this-session", then=then))

    def start(
        self, workflow: Workflow, type_: str = "", *, first: bool = True, is_numbered: bool = False
    ) -> StepDone:
        """Begin a workflow.

        Args:
            workflow: what is known of it; its id, times and session are set here.
            type_: a type or the name of a template, whose phases are used if the workflow has none.
            first: begin its first phase at once.
            is_numbered: append a number to its name if an unfinished one has that already.

        Raises:
            Refused: it has no phases, an unfinished one has the same name, or something is not allowed.
        """
        root = self.store.root
        if type_:
            workflow = template(root, type_).applied(workflow)
            path, store = template_path(type_), self.store
            about = (root, store.deadline, store.environment, [path])
            if (root / path).is_file() and tracked_paths(*about):
                workflow = replace(workflow, is_foreign=True)
        with self.store.changing() as change:
            if is_numbered:
                own, number = workflow.name, 1
                taken = {entry.workflow.name.casefold() for entry in change.workflows.unfinished}
                while workflow.name.casefold() in taken:
                    number += 1
                    workflow = replace(workflow, name=f"{own} ({number})")
            same = change.workflows.get(workflow.name)
            if same is not None and not same.workflow.is_over:
                raise refused("same-name", name=quoted(workflow.name), same=same.workflow)
            new = replace(workflow, id=change.new_id(), task=redact(workflow.task))
            new = begun_by(new, self.asker)
            begun = change.put(decide.begun(new, change.now, first=first))
        user_folder.note_clone(root, self.store.environment)
        return StepDone(begun, begun.current, troubles=_troubles(change))

    def complete(self, name: str = "", *, give_up: str = "") -> StepDone:
        """End a workflow: complete its last phase through its gate, archive it, and remove its checkpoint.

        Args:
            name: the workflow's name.
            give_up: why it is ended with unfinished phases.

        Raises:
            Refused: several phases are unfinished, and it is not given up; the sentence names them.
        """
        with self._moving(name, None) as move:
            workflow, left = move.workflow, move.workflow.left
            if give_up:
                move.keep(decide.given_up(workflow, redact(give_up), move.change.now))
            elif not left:
                _refuse_empty(workflow)
                move.keep(workflow)
            elif len(left) > 1:
                names = (f"{at + 1} {quoted(workflow.title_of(at))}" for at in left[:10])
                own, titles = quoted(workflow.name), ", ".join(names)
                raise refused("phases-left", number=len(left), titles=titles, name=own)
            else:
                move.index, status = left[0], PhaseStatus.COMPLETED
                judge = partial(self._judged, move, status)
                move.keep(decide.in_phase(workflow, left[0], status, move.change.now, "", judge))
        return move.done()

    def set_status(
        self,
        status: PhaseStatus,
        phase: str = "",
        *,
        name: str = "",
        reason: str = "",
        deliverables: Sequence[str] = (),
        context_for_next: str = "",
        agent_id: str = "",
        is_report: bool = False,
    ) -> StepDone:
        """Begin a phase, complete it through its gate, try it again, block it, fail it, or skip it.

        Args:
            status: the new status; only a person may skip a phase that needs a person's yes.
            phase: the phase; by default the current one, or the first.
            name: the workflow's name.
            reason: the reason, which is kept.
            deliverables: what the phase delivered.
            context_for_next: what the next phase is told.
            agent_id: the id of the agent that was launched for the phase; "" for none.
            is_report: this was done already: a status that the phase has changes nothing, and after a
                completed phase no other begins.

        Raises:
            Refused: the table has no such move, the gate is not passed, or a reason is missing.
        """
        with self._moving(name, phase) as move:
            recorded = decide.recorded(move.workflow, move.index, deliverables, context_for_next)
            if agent_id:
                recorded = recorded.with_changes(move.index, agent_id=agent_id)
            may_repeat = is_report or status is PhaseStatus.COMPLETED
            if move.phase.status is not status or not may_repeat:
                judge = partial(self._judged, move, status)
                about = (move.index, status, move.change.now, redact(reason), judge)
                recorded = decide.in_phase(recorded, *about, and_begin=not is_report)
            move.keep(recorded)
        return move.done()

    def _judged(self, move: _Move, status: PhaseStatus) -> PassedGate | None:
        """How the phase's gate is passed, None if it is skipped; the journal has each try to pass it.

        Raises:
            GateClosed: the gate is not passed; the sentence says what to do.
        """
        phase, now = move.phase, move.change.now
        if status is PhaseStatus.SKIPPED:
            if phase.gate == PERSON:
                _by_person(self.presence(), phase, now, SKIP)
            return None
        try:
            kind, value = state.gate_parts(state.checked_gate(phase.gate))
            if kind == CHECK:
                passed = _by_check(self.store, value, now)
            elif kind == FILE:
                passed = _by_file(self.store.root, value, now)
            else:
                passed = _by_person(self.presence(), phase, now, ADVANCE)
        except Refused:
            move.note_gate(journal.RED)
            raise
        move.note_gate(journal.GREEN)
        return passed

    @contextmanager
    def _moving(self, name: str, phase: str | None) -> Iterator[_Move]:
        """Change one workflow under the lock.

        A closed gate, and the time at which a person was asked, are written before the error is raised.
        """
        closed: Refused | None = None
        with self.store.changing(archived=bool(name)) as change:
            workflow = self.named(change.workflows, name).workflow
            refuse_held(workflow, self.asker)
            move = _Move(change, workflow, phase, self.asker)
            try:
                yield move
            except GateClosed as error:
                closed = error
                if isinstance(error, PersonAsked) and not move.phase.asked_at:
                    move.keep(move.workflow.with_changes(move.index, asked_at=change.now))
        if closed is not None:
            raise closed


class _Move:
    """One workflow while it is changed; `index` is the phase's, -1 without a phase."""

    def __init__(
        self, change: WorkflowChange, workflow: Workflow, phase: str | None, asker: Asker
    ) -> None:
        self.change, self.workflow, self.asker = change, workflow, asker
        self.after, self.index = workflow, -1
        if phase is not None:
            _refuse_empty(workflow)
            is_new = not phase and workflow.phase is None
            self.index = next(iter(workflow.left), 0) if is_new else workflow.index_of(phase)
            # A completed phase may get more deliverables; any other step would reopen it.
            if workflow.is_over and not (phase and self.phase.status is PhaseStatus.COMPLETED):
                how = "was given up" if workflow.given_up else "is completed"
                name, own = quoted(workflow.name), shlex.quote(workflow.name)
                raise refused("workflow-over", name=name, own=own, how=how)

    @property
    def phase(self) -> WorkflowPhase:
        """The phase as it was before."""
        return self.workflow.phases[self.index]

    def keep(self, workflow: Workflow) -> None:
        """Queue this workflow to be written, as the asking session's own."""
        before = self.change.workflows.get(self.workflow.id)
        if workflow == self.workflow and before is not None and before.is_in_step:
            return
        if self.asker.session:
            workflow = replace(workflow, session=self.asker.session, client=self.asker.client)
        self.after = self.change.put(workflow)

    def note_gate(self, outcome: str) -> None:
        """Record in the journal that the gate was tried, and the outcome."""
        phase = self.workflow.title_of(self.index)
        about = {"title": self.workflow.name, "phase": phase, "number": self.index + 1}
        kind = (self.change.now, journal.WORKFLOW, journal.CHECK)
        whose = (self.workflow.id, "", self.asker.session, self.phase.gate)
        entry = journal.JournalEntry(*kind, *whose, detail={**about, "outcome": outcome})
        self.change.entries.append(entry)

    def done(self) -> StepDone:
        """The result of the step."""
        return StepDone(self.after, self.index, self.after != self.workflow, _troubles(self.change))


def _refuse_empty(workflow: Workflow) -> None:
    """Refuse a step of a workflow whose phases were all removed by hand."""
    if not workflow.phases:
        name, own = quoted(workflow.name), shlex.quote(workflow.name)
        raise refused("no-phases", name=name, own=own)


def _troubles(change: WorkflowChange) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*change.workflows.troubles, *change.troubles)))


def _by_person(presence: Presence, phase: WorkflowPhase, now: float, command: str) -> PassedGate:
    """The gate as passed by a person's yes to the phase; raises PersonAsked without one."""
    try:
        return PassedGate(now, f"{PERSON}: {person(presence, phase.asked_at or now, command)}")
    except Refused as error:
        raise PersonAsked(error.sentence) from None


def _by_check(store: WorkflowStore, name: str, now: float) -> PassedGate:
    from lifecycle.evidence import tree_hash
    from lifecycle.evidence.records import EvidenceRoom

    runs = [run for run in EvidenceRoom(store.root).records() if run.name == name]
    try:
        tree = tree_hash.fingerprint(store.root, store.deadline, store.environment)
    except (GitFailed, Transient) as error:
        raise GateClosed(sentence("tree-unknown", check=quoted(name), error=error)) from None
    here = [run.outcome for run in runs if run.tree == tree != ""]
    if here[-1:] == [Outcome.PASSED]:
        return PassedGate(now, f"{CHECK}:{name}", tree)
    why = "was last run on other files" if runs else "was not run"
    why = f"ended with {here[-1]} on these files" if here else why
    raise GateClosed(sentence("check-not-passed", check=quoted(name), why=why, name=name))


def _by_file(root: Path, path: str, now: float) -> PassedGate:
    with suppress(OSError, RuntimeError):  # a circle of links, a folder that may not be read
        whole = (root / path).resolve()
        if whole.is_relative_to(root.resolve()) and whole.is_file():
            return PassedGate(now, f"{FILE}:{path}")
    raise GateClosed(sentence("file-not-there", path=quoted(path)))
