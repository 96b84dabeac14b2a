"""The workflow's part of a start, a prompt and a compaction: which one is the session's, what it tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.app.guidance import guidance_text, preparing
from lifecycle.app.guidance.recovery_message import RecoveryLine, RecoveryPart
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, DeadlineReached
from lifecycle.storage import log
from lifecycle.workflow import whose
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows

if TYPE_CHECKING:
    from lifecycle.hooks.answers.call import HookCall


@dataclass(frozen=True, slots=True)
class WorkflowAsk:
    """Who asks, and where.

    Attributes:
        hook: the entrypoint.
        event: what the client sent.
        root: the worktree's top folder.
        environment: the variables.
        deadline: when all has to be done.
    """

    hook: str
    event: Mapping[str, Any]
    root: Path
    environment: Mapping[str, str]
    deadline: Deadline

    @classmethod
    def of(cls, call: HookCall) -> WorkflowAsk:
        """The question that a hook's call asks."""
        world = call.world
        return cls(call.hook, call.event, world.root, world.environment, world.deadline)


class WorkflowPart:
    """What the workflow of this session says.

    Attributes:
        part: its part of the recovery message; None without one.
        kept: lines for the summary of a compaction.
        person: lines for the user.
    """

    def __init__(self, ask: WorkflowAsk) -> None:
        self.ask = ask
        self.part: RecoveryPart | None = None
        self.kept: list[str] = []
        self.person: list[str] = []
        self.has_looked = False
        self.store = preparing.preparing_store(ask.root, ask.environment, ask.deadline)

    @property
    def asker(self) -> whose.Asker:
        """Who asks."""
        return whose.asker_of(self.ask.root, self.ask.environment, self.ask.event)

    def started(self, *, is_alone: bool) -> WorkflowPart:
        """Find what the session is told, and make the workflow its own; returns itself.

        Args:
            is_alone: no other system has something to say.
        """
        with self._guarded():
            if self.asker.is_subagent:
                return self
            with self._read_anyway(is_alone), self.store.changing() as change:
                workflow = self._look(change.workflows, is_alone=is_alone)
                if workflow is not None:
                    mine = whose.adopted(workflow, self.asker)
                    if mine != workflow:
                        change.put(mine)
        return self

    @contextmanager
    def _read_anyway(self, is_alone: bool) -> Iterator[None]:
        """Read and tell what lies there also where nothing can be locked or written."""
        try:
            yield
        except (LifecycleError, OSError):
            if not self.has_looked:
                self._look(self.store.read(), is_alone=is_alone)
            raise

    def _look(self, workflows: WorktreeWorkflows, *, is_alone: bool) -> Workflow | None:
        self.has_looked = True
        choice = whose.chosen(self.ask.root, workflows.unfinished, self.asker)
        self._tell(choice, is_alone=is_alone)
        self.person = [visible(sentence) for sentence in workflows.troubles]
        return choice.workflow

    def compacted(self) -> WorkflowPart:
        """Find what a summary must keep; sources are read, all files brought in step; returns itself."""
        from lifecycle.workflow.sources import following  # not at a start

        with self._guarded():
            if self.asker.is_subagent:
                return self
            observed = following.observe(self.store, self.asker)
            if observed.workflow is not None:
                self.kept = guidance_text.kept_lines(observed.workflow, observed.others)
            elif observed.others:
                self.kept = [f"- {guidance_text.others_line(observed.others)}"]
            for sentence in observed.troubles:
                self._log(sentence)
        return self

    def _tell(self, choice: whose.WorkflowChoice, *, is_alone: bool) -> None:
        root = self.ask.root
        others = [other.workflow for other in choice.others]
        if choice.workflow is not None:
            self.part = preparing.workflow_part(root, choice.workflow, others, is_alone=is_alone)
        elif others:
            line = guidance_text.others_line(others)
            self.part = RecoveryPart((RecoveryLine(line),), guidance_text.LIST)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Log whatever goes wrong: the other systems are told all the same."""
        try:
            yield
        except (LifecycleError, OSError) as error:
            self._log(error.sentence if isinstance(error, LifecycleError) else str(error))
        except DeadlineReached:
            self._log("the time for this look was up")

    def _log(self, why: str) -> None:
        log.write(self.ask.root, f"{self.ask.hook}: workflow: {why}")
