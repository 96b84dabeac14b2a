"""Choose the workflow that is meant among several: one rule for hooks, commands and views.

Of the unfinished workflows it is the asking session's; else one of the asking client's process (a cleared
session has a new id); else one of the branch that is checked out; else any of this worktree. A workflow of
another session whose client runs belongs to that session only. A person at a terminal has no session, and
gets the last changed workflow, of the branch first. A subagent gets none: its leader's workflow is not its
own. A workflow that was read from a source counts only while the source says that it is in progress.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import named, quoted
from lifecycle.git.checked_out import branch_of
from lifecycle.settings import running_client
from lifecycle.storage import live_process
from lifecycle.workflow.nearest import adopted_by, rank
from lifecycle.workflow.sources.source_files import is_standing
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.table import refused, sentence


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks for a workflow.

    Attributes:
        session: the client's session; "" for a person at a terminal.
        client: the client's process; 0 if not known.
        branch: the branch that is checked out; "" for none.
        is_subagent: the asker is an agent that another agent launched.
    """

    session: str = ""
    client: int = 0
    branch: str = ""
    is_subagent: bool = False

    @property
    def whose(self) -> tuple[str, int, str]:
        """Session, client's process and branch, in the form of `nearest.py`."""
        return self.session, self.client, self.branch


@dataclass(frozen=True, slots=True)
class WorkflowChoice:
    """The workflow that is meant, if any, and the other unfinished ones.

    Workflows are `lapsed` if their source no longer says that they are in progress: they lead nobody.
    """

    workflow: Workflow | None = None
    others: tuple[Workflow, ...] = ()
    lapsed: tuple[Workflow, ...] = ()

    @property
    def lapsed_lines(self) -> list[str]:
        """A sentence on each lapsed workflow, if no workflow is meant."""
        import shlex  # for these sentences alone

        def line(it: Workflow) -> str:
            own, path = shlex.quote(it.name), named(it.source)
            return sentence("lapsed", name=quoted(it.name), own=own, path=path)

        return [*map(line, self.lapsed[:3])]


def asker_of(root: Path, environment: Mapping[str, str], event: Mapping[str, Any]) -> Asker:
    """Who asks, by an event of the client, or by the environment of a command (then `event` is empty)."""
    session = running_client.session_of(event, environment)
    client = running_client.process_of(environment)
    return Asker(session, client, branch_of(root), bool(event.get("agent_id")))


def adopted(workflow: Workflow, asker: Asker) -> Workflow:
    """The workflow as the asking session's own; unchanged for an asker without a session."""
    session, client, branch = adopted_by(asker.whose, whose_is(workflow))
    return replace(workflow, session=session, client=client, branch=branch)


def begun_by(workflow: Workflow, asker: Asker) -> Workflow:
    """A new workflow as this asker's, who may be a person without a session."""
    return replace(workflow, session=asker.session, client=asker.client, branch=asker.branch)


def whose_is(workflow: Workflow) -> tuple[str, int, str]:
    """Session, client's process and branch of a workflow."""
    return workflow.session, workflow.client, workflow.branch


def chosen(root: Path, unfinished: Iterable[Workflow], asker: Asker) -> WorkflowChoice:
    """The asker's workflow among the unfinished ones of a worktree.

    Args:
        root: the worktree's top folder.
        unfinished: the workflows to choose from, the last changed first.
        asker: who asks.
    """
    standing, lapsed = list[Workflow](), list[Workflow]()
    for workflow in unfinished:
        (standing if is_standing(root, workflow) else lapsed).append(workflow)

    def near(workflow: Workflow) -> int:
        return rank(whose_is(workflow), asker.whose, live_process.is_there)

    own = () if asker.is_subagent else filter(near, standing)
    meant = min(own, key=near, default=None)
    others = tuple(workflow for workflow in standing if workflow is not meant)
    return WorkflowChoice(meant, others, tuple(lapsed))


def refuse_held(workflow: Workflow, asker: Asker) -> None:
    """Raise Refused if a workflow belongs to another session whose client runs."""
    if not rank(whose_is(workflow), asker.whose, live_process.is_there):
        raise refused("held", name=quoted(workflow.name))
