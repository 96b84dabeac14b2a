"""The workflow's part of a start, a prompt and a compaction: the session's workflow, and what it tells.

If only a workflow has something to say and nothing was prepared, the quick path calls `alone` before the
full path: it reads and writes the workflows as the full path would, but loads neither claim nor run nor
stage nor GitHub. Anything unusual is left to the full path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lifecycle.app.guidance import guidance_text, preparing
from lifecycle.app.guidance.recovery_message import RecoveryLine, RecoveryPart, folded
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import as_data, redact, shown, visible
from lifecycle.core.timing import ANYTHING, Deadline, DeadlineReached, SystemClock, alarm
from lifecycle.git import tracked_files
from lifecycle.settings import config, user_folder
from lifecycle.storage import log
from lifecycle.workflow import whose
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore

if TYPE_CHECKING:
    from lifecycle.hooks.answers.call import HookCall

SECONDS: Final = 3.0
"""How long `alone` may take; if it is not done by then, the full path begins again."""


class WorkflowPart:
    """What the workflow of this session says.

    Attributes:
        part: its part of the recovery message; None without a workflow.
        person: lines for the user.
    """

    def __init__(self, hook: str, event: Mapping[str, Any], store: WorkflowStore) -> None:
        """Prepare for an entrypoint and the event sent to it, with the worktree's prepared store."""
        self.store, self._what = store, f"{hook}: workflow"
        self._surviving = log.Surviving(store.root, self._what, *ANYTHING)
        self.part: RecoveryPart | None = None
        self.person: list[str] = []
        self.asker = whose.asker_of(store.root, store.environment, event)

    @classmethod
    def of(cls, call: HookCall) -> WorkflowPart:
        """The part of a hook's call."""
        world = call.world
        store = preparing.preparing_store(world.root, world.environment, world.deadline)
        return cls(call.hook, call.event, store)

    def started(self) -> WorkflowPart:
        """Find what the session is told, and make the workflow its own; returns itself.

        The documents are read and told even if nothing can be locked or written.
        """
        with self._surviving:
            if self.asker.is_subagent:
                return self
            try:
                with self.store.changing() as change:
                    workflow = self._look(change.workflows)
                    mine = whose.adopted(workflow, self.asker) if workflow is not None else None
                    if mine is not None and mine != workflow:
                        change.put(mine)
            except (LifecycleError, OSError):
                self._look(self.store.read())
                raise
        return self

    def _look(self, workflows: WorktreeWorkflows) -> Workflow | None:
        choice = whose.chosen(self.store.root, workflows.open_records, self.asker)
        mine, others = choice.workflow, choice.others
        if mine is not None:
            self.part = preparing.workflow_part(self.store.root, mine, others)
        elif others:
            line = guidance_text.others_line(others)
            self.part = RecoveryPart((RecoveryLine(line),), guidance_text.LIST)
        self.person = [visible(sentence) for sentence in workflows.troubles]
        return mine

    def compacted(self) -> list[str]:
        """Return what a summary must keep; sources are read, and all files brought in step.

        Its callers leave a subagent's compaction alone: that event has its leader's session.
        """
        from lifecycle.workflow.sources import following  # not at a start

        with self._surviving:
            choice, troubles = following.observe(self.store, self.asker)
            for sentence in troubles:
                log.write(self.store.root, f"{self._what}: {sentence}")
            if choice.workflow is not None:
                return guidance_text.kept_lines(choice.workflow, choice.others)
            if choice.others:
                return [f"- {guidance_text.others_line(choice.others)}"]
        return []


def alone(
    hook: str, event: Mapping[str, Any], root: Path, environment: Mapping[str, str]
) -> dict[str, str] | None:
    """The texts to say (`told`, `person`) or keep (`kept`), "" for none; None if the full path answers.

    Args:
        hook: the entrypoint, of a start or a compaction.
        event: what the client sent.
        root: the worktree's top folder.
        environment: the variables.
    """
    if config.is_served(root, environment):
        return None
    try:
        with alarm(SECONDS):
            deadline = Deadline.after(SystemClock(), SECONDS - 1.0)
            tracked_files.refuse(root, deadline, environment)
            part = WorkflowPart(hook, event, preparing.preparing_store(root, environment, deadline))
            if hook == "pre-compact":
                lines = part.compacted()
                return {"kept": preparing.kept_text(lines) if lines else ""}
            user_folder.note_clone(root, environment)
            part.started()
    except (LifecycleError, DeadlineReached):
        return None
    words = folded([part.part]) if part.part is not None else []
    person = [as_data(redact(sentence)) for sentence in part.person]
    return {"told": shown("\n".join(words)), "person": shown("\n".join(person)).strip()}
