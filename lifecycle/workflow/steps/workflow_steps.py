"""The steps of a workflow, for commands, hooks and programs: choose it, decide, write, say what was done.

    steps = WorkflowSteps(store, asker, presence)
    steps.start(Workflow("", "Feature X", phases=(WorkflowPhase("Design"),)), template="custom")
    steps.advance(deliverables=["docs/design.md"], context_for_next="see the table in it")

Each takes the lock once and writes both documents and the view in one commit. What is refused changes
nothing, but for the moment at which a person was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from lifecycle.core.errors import Refused, did_you_mean
from lifecycle.core.redact import quoted, redact
from lifecycle.settings import known_clones
from lifecycle.settings.persons import Presence
from lifecycle.storage import journal
from lifecycle.workflow import decide
from lifecycle.workflow.gates.gate_judge import GateJudge, PersonAsked
from lifecycle.workflow.gates.gate_words import PERSON
from lifecycle.workflow.state import PassedGate, Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_templates import template, template_path
from lifecycle.workflow.store.workflow_store import WorkflowChange, WorkflowStore, WorktreeWorkflows
from lifecycle.workflow.table import PHASES, PhaseStatus
from lifecycle.workflow.whose import Asker, WorkflowChoice, chosen

ADVANCE: Final = "lifecycle workflow advance"
SKIP: Final = "lifecycle workflow skip --reason TEXT"


@dataclass(frozen=True)
class StepDone:
    """What a step came to.

    Attributes:
        workflow: as it is now.
        phase: index of the phase that the step was about; -1 if about none.
        changed: False if it was so already.
        troubles: one sentence for each file that could not be used or written, and each edit that was
            not taken over.
    """

    workflow: Workflow
    phase: int = -1
    changed: bool = True
    troubles: tuple[str, ...] = ()


class NoWorkflow(Refused):
    """There is no workflow that could be meant."""

    for_agent = True


class WorkflowSteps:
    """Steps of the workflows of one worktree.

    Args:
        store: the worktree's.
        asker: who asks; decides which of several workflows is meant where none is named.
        presence: tells who may be asking, where a person has to; called only then.
    """

    def __init__(
        self,
        store: WorkflowStore,
        asker: Asker,
        presence: Callable[[], Presence] = lambda: Presence(is_inside=True),
    ) -> None:
        self.store, self.asker, self.presence = store, asker, presence

    def choice(self, workflows: WorktreeWorkflows) -> WorkflowChoice:
        """The workflow that is meant where none is named, and the others."""
        return chosen(self.store.root, workflows.unfinished, self.asker)

    def named(self, workflows: WorktreeWorkflows, name: str = "") -> Workflow:
        """The workflow of this id or name; "" is the one that is meant.

        Raises:
            NoWorkflow: there is none; the sentence names those that there are.
        """
        if not name:
            choice = self.choice(workflows)
            if choice.workflow is not None:
                return choice.workflow
            others = ", ".join(quoted(one.workflow.name) for one in choice.others[:10])
            then = f"Name one of {others}." if others else ""
            start = 'Begin one: lifecycle workflow start NAME --phase "Title"'
            start += _lost(workflows)
            raise NoWorkflow(
                "There is no unfinished workflow of this session or branch here; nothing was done. "
                f"{then or start}"
            )
        found = workflows.get(name)
        if found is None:
            names = [one.workflow.name for one in workflows.found]
            there = ", ".join(quoted(one) for one in names[:10]) or "none"
            raise NoWorkflow(
                f"There is no workflow {quoted(name)} here, so nothing was done; there is {there}."
                f"{did_you_mean(name, names)}"
            )
        return found.workflow

    def start(self, workflow: Workflow, type_: str = "", *, first: bool = True) -> StepDone:
        """Begin a workflow.

        Args:
            workflow: what is known of it; its id, times and session are set here.
            type_: a type or the name of a template; its phases count where the workflow has none.
            first: its first phase begins at once.

        Raises:
            Refused: it has no phases, there is an unfinished one of that name, or something is not allowed.
        """
        root = self.store.root
        if type_:
            workflow = template(root, type_).applied(workflow)
            tracked = self.store.tracked() if (root / template_path(type_)).is_file() else ()
            if {"*", template_path(type_)} & set(tracked):
                workflow = replace(workflow, is_foreign=True)
        with self.store.changing() as change:
            same = change.workflows.get(workflow.name)
            if same is not None and not same.workflow.is_over:
                raise Refused(
                    f"There is an unfinished workflow {quoted(workflow.name)} already ({same.workflow.id}, "
                    f"{same.workflow.progress}); nothing was done. Go on with it, complete it, or take "
                    "another name."
                )
            new = replace(
                workflow,
                id=change.new_id(),
                task=redact(workflow.task),
                session=self.asker.session,
                client=self.asker.client,
                branch=self.asker.branch,
            )
            begun = change.put(decide.begun(new, change.now, first=first))
        known_clones.note(root, self.store.environment)
        return StepDone(begun, begun.current, troubles=_troubles(change))

    def advance(
        self,
        *,
        deliverables: Sequence[str] = (),
        context_for_next: str = "",
        phase: str = "",
        name: str = "",
        and_begin: bool = True,
    ) -> StepDone:
        """Complete a phase through its gate, and begin the next one.

        Args:
            deliverables: what it delivered.
            context_for_next: what the next phase is told.
            phase: which; the current one unless named.
            name: of the workflow.
            and_begin: the next phase begins with it.

        Raises:
            Refused: its gate is not passed, or the table has no such move.
        """
        with self._moving(name) as move:
            index = move.index_of(phase)
            if move.workflow.phases[index].status is PhaseStatus.COMPLETED and phase:
                recorded = decide.recorded_on(
                    move.workflow, index, _clean(deliverables), redact(context_for_next)
                )
                move.keep(recorded, index)
            else:
                self._complete(move, index, deliverables, context_for_next, and_begin=and_begin)
        return move.done()

    def _complete(
        self,
        move: _Move,
        index: int,
        deliverables: Sequence[str],
        context_for_next: str,
        *,
        and_begin: bool,
    ) -> None:
        status = move.workflow.phases[index].status
        if status is not PhaseStatus.PENDING:
            PHASES.check(status, PhaseStatus.COMPLETED)
        decide.refuse_behind_gate(move.workflow, index)
        passed = self._passed(move, index, ADVANCE)
        if move.refused is not None:
            return
        complete = decide.advanced if and_begin else decide.completed
        after = complete(
            move.workflow,
            index,
            move.change.now,
            deliverables=_clean(deliverables),
            context_for_next=redact(context_for_next),
            passed=passed,
        )
        move.keep(after, index)

    def begin(self, phase: str = "", *, name: str = "", agent_id: str = "") -> StepDone:
        """Begin a phase, or try it again; nothing changes if it is active.

        Args:
            phase: which; the current one, or the first, unless named.
            name: of the workflow.
            agent_id: of the agent that was launched for it.
        """
        with self._moving(name) as move:
            index = move.index_of(phase)
            after = move.workflow
            if after.phases[index].status is not PhaseStatus.ACTIVE:
                after = decide.in_phase(after, index, PhaseStatus.ACTIVE, move.change.now)
            if agent_id:
                after = after.with_phase(index, replace(after.phases[index], agent_id=agent_id))
            move.keep(after, index)
        return move.done()

    def block(self, phase: str = "", *, reason: str, name: str = "") -> StepDone:
        """Have a phase wait for something; `retry` goes on with it."""
        return self._set(PhaseStatus.BLOCKED, phase, reason, name)

    def fail(self, phase: str = "", *, reason: str, name: str = "") -> StepDone:
        """Note that a phase failed; `retry` tries it again."""
        return self._set(PhaseStatus.FAILED, phase, reason, name)

    def retry(self, phase: str = "", *, name: str = "") -> StepDone:
        """Begin a phase again that failed, is blocked, or was skipped."""
        return self._set(PhaseStatus.ACTIVE, phase, "", name)

    def skip(self, phase: str = "", *, reason: str, name: str = "") -> StepDone:
        """Skip a phase; one that needs a person's yes is skipped by a person only.

        Raises:
            Refused: there is no reason, or nobody shows that a person says so.
        """
        with self._moving(name) as move:
            index = move.index_of(phase)
            _demand(reason)
            if move.workflow.phases[index].gate == PERSON:
                self._ask(move, index, SKIP)
            if move.refused is None:
                after = decide.in_phase(
                    move.workflow, index, PhaseStatus.SKIPPED, move.change.now, redact(reason)
                )
                move.keep(after, index)
        return move.done()

    def complete(self, name: str = "", *, give_up: str = "") -> StepDone:
        """End a workflow: its last phase through its gate; archive it, and take its checkpoint away.

        Args:
            name: of the workflow.
            give_up: why it is ended with phases left to do.

        Raises:
            Refused: several phases are left to do, and it is not given up; the sentence names them.
        """
        with self._moving(name) as move:
            workflow = move.workflow
            left = decide.left_to_do(workflow)
            if give_up:
                move.keep(decide.given_up(workflow, redact(give_up), move.change.now), -1)
            elif not left:
                move.keep(workflow, -1)
            elif len(left) > 1:
                names = ", ".join(
                    f"{at + 1} {quoted(workflow.phases[at].title)}" for at in left[:10]
                )
                raise Refused(
                    f"{len(left)} phases are left to do ({names}), so {quoted(workflow.name)} was not "
                    "completed. Advance or skip them, or give it up: lifecycle workflow complete --give-up "
                    "REASON"
                )
            else:
                self._complete(move, left[0], (), "", and_begin=False)
        return move.done()

    def set_status(
        self,
        name: str,
        phase: str,
        status: PhaseStatus,
        deliverables: Sequence[str] = (),
        context_for_next: str = "",
        reason: str = "",
    ) -> StepDone:
        """Set a phase to a status as the design's `update_phase_status` does; gates hold here too."""
        if status is PhaseStatus.COMPLETED:
            return self.advance(
                deliverables=deliverables,
                context_for_next=context_for_next,
                phase=phase,
                name=name,
                and_begin=False,
            )
        if status is PhaseStatus.SKIPPED:
            return self.skip(phase, reason=reason, name=name)
        with self._moving(name) as move:
            index = move.index_of(phase)
            after = move.workflow
            if after.phases[index].status is not status:
                after = decide.in_phase(after, index, status, move.change.now, redact(reason))
            recorded = decide.recorded_on(
                after, index, _clean(deliverables), redact(context_for_next)
            )
            move.keep(recorded, index)
        return move.done()

    def _set(self, status: PhaseStatus, phase: str, reason: str, name: str) -> StepDone:
        with self._moving(name) as move:
            index = move.index_of(phase)
            if status is not PhaseStatus.ACTIVE:
                _demand(reason)
            after = decide.in_phase(move.workflow, index, status, move.change.now, redact(reason))
            move.keep(after, index)
        return move.done()

    def _passed(self, move: _Move, index: int, command: str) -> PassedGate | None:
        """How the gate of a phase is passed; the question is kept where a person has to be asked."""
        phase = move.workflow.phases[index]
        if not phase.gate:
            return None
        if phase.gate == PERSON:
            self._ask(move, index, command)
            if move.refused is not None:
                return None
        judge = self._judge(move.change.now)
        try:
            passed = judge.passed(phase, command)
        except Refused as error:
            move.note_gate(index, journal.RED)
            move.refused = error
            return None
        move.note_gate(index, journal.GREEN)
        return passed

    def _ask(self, move: _Move, index: int, command: str) -> None:
        """Refuse unless a person says so, and keep when they were asked."""
        phase = move.workflow.phases[index]
        try:
            self._judge(move.change.now).person(phase.asked_at, command)
        except PersonAsked as error:
            move.refused = error
            move.note_gate(index, journal.UNKNOWN)
            if not phase.asked_at:
                asked = replace(phase, asked_at=move.change.now)
                move.keep(move.workflow.with_phase(index, asked), index)

    def _judge(self, now: float) -> GateJudge:
        store = self.store
        return GateJudge(store.root, store.environment, store.deadline, self.presence(), now)

    @contextmanager
    def _moving(self, name: str) -> Iterator[_Move]:
        """One workflow under the lock; what is refused in it is raised once the rest is written."""
        with self.store.changing(archived=bool(name)) as change:
            move = _Move(change, self.named(change.workflows, name), self.asker)
            yield move
        if move.refused is not None:
            raise move.refused


class _Move:
    """One workflow while it is changed."""

    def __init__(self, change: WorkflowChange, workflow: Workflow, asker: Asker) -> None:
        self.change, self.workflow, self.asker = change, workflow, asker
        self.after, self.index = workflow, -1
        self.refused: Refused | None = None

    def index_of(self, phase: str) -> int:
        """The index of the phase that is meant; the first one before anything began."""
        if not phase and self.workflow.phase is None and not self.workflow.is_over:
            return next(iter(decide.left_to_do(self.workflow)), 0)
        return self.workflow.index_of(phase)

    def keep(self, workflow: Workflow, index: int) -> None:
        """Have the workflow written as it is now; it is the asking session's from then on."""
        self.index = index
        if workflow == self.workflow and not self._is_unwritten():
            return
        mine = workflow
        if self.asker.session:
            mine = replace(workflow, session=self.asker.session, client=self.asker.client)
        self.after = self.change.put(mine)

    def _is_unwritten(self) -> bool:
        found = self.change.workflows.get(self.workflow.id)
        return found is None or not found.is_in_step

    def note_gate(self, index: int, outcome: str) -> None:
        """Have it in the journal that a gate was tried."""
        phase: WorkflowPhase = self.workflow.phases[index]
        self.change.note(
            journal.JournalEntry(
                self.change.now,
                journal.WORKFLOW,
                journal.CHECK,
                task=self.workflow.id,
                session=self.asker.session,
                source=phase.gate,
                detail={"outcome": outcome, "phase": phase.title, "number": index + 1},
            )
        )

    def done(self) -> StepDone:
        """What it came to."""
        return StepDone(self.after, self.index, self.after != self.workflow, _troubles(self.change))


def _troubles(change: WorkflowChange) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*change.workflows.troubles, *change.troubles)))


def _lost(workflows: WorktreeWorkflows) -> str:
    """A sentence on files that cannot be used, in which a workflow may lie; "" without any."""
    number = len(workflows.unusable)
    files = f"{number} files" if number > 1 else "A file"
    return f". {files} cannot be used: lifecycle workflow list" if number else ""


def _demand(reason: str) -> None:
    if not reason.strip():
        raise Refused(
            "This needs a reason, which is recorded; nothing was done. Add: --reason TEXT"
        )


def _clean(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(redact(text) for text in texts)
