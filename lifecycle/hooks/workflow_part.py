"""The workflow's part of a start, a prompt and a compaction: which one is the session's, what it tells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import visible
from lifecycle.core.timing import DeadlineReached
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.guidance import guidance_text, preparing
from lifecycle.hooks.guidance.recovery_message import RecoveryLine, RecoveryPart
from lifecycle.storage import log
from lifecycle.workflow import whose
from lifecycle.workflow.sources import following
from lifecycle.workflow.whose import Asker, WorkflowChoice


class WorkflowPart:
    """What the workflow of this session says.

    Attributes:
        part: its part of the recovery message; None without one.
        kept: lines for the summary of a compaction.
        person: lines for the user.
    """

    def __init__(self, call: HookCall) -> None:
        self.call, world = call, call.world
        self.part: RecoveryPart | None = None
        self.kept: list[str] = []
        self.person: list[str] = []
        self.store = preparing.preparing_store(world.root, world.environment, world.deadline)

    @property
    def asker(self) -> Asker:
        """Who asks."""
        call = self.call
        asker = whose.asker_of(call.world.root, call.world.environment, call.event)
        return Asker(call.session, call.process, asker.branch, asker.is_subagent)

    def started(self, *, is_alone: bool) -> WorkflowPart:
        """What a session is told; its workflow is its own from now on; this.

        Args:
            is_alone: no other system has something to say.
        """
        with self._guarded():
            if self.asker.is_subagent:
                return self
            workflows = self.store.read()
            choice = whose.chosen(self.call.world.root, workflows.unfinished, self.asker)
            self._tell(choice, is_alone=is_alone)
            self.person = [visible(sentence) for sentence in workflows.troubles]
            if workflows.found:
                self._adopt()
        return self

    def _adopt(self) -> None:
        """Have the session's workflow as its own, and all files in step; what was read is told anyway."""
        with self.store.changing() as change:
            unfinished = change.workflows.unfinished
            workflow = whose.chosen(self.call.world.root, unfinished, self.asker).workflow
            if workflow is not None:
                mine = whose.adopted(workflow, self.asker)
                if mine != workflow:
                    change.put(mine)

    def compacted(self) -> WorkflowPart:
        """What the summary of a compaction must keep; sources are read, and all files in step; this."""
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

    def _tell(self, choice: WorkflowChoice, *, is_alone: bool) -> None:
        root = self.call.world.root
        others = [one.workflow for one in choice.others]
        if choice.workflow is not None:
            self.part = preparing.workflow_part(root, choice.workflow, others, is_alone=is_alone)
        elif others:
            line = guidance_text.others_line(others)
            self.part = RecoveryPart((RecoveryLine(line),), guidance_text.LIST)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Whatever goes wrong is a line in the log: the other systems are told all the same."""
        try:
            yield
        except (LifecycleError, OSError) as error:
            self._log(error.sentence if isinstance(error, LifecycleError) else str(error))
        except DeadlineReached:
            self._log("the time for this look was up")

    def _log(self, why: str) -> None:
        log.write(self.call.world.root, f"{self.call.hook}: workflow: {why}")
