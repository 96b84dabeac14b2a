"""The worktree of a command: its world, its claim store, and how a result is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from lifecycle.cli.terminal import at_once, is_terminal, json_text, say, say_all
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.light_dataclass import asdict, dataclass, fields_of
from lifecycle.core.redact import visible
from lifecycle.core.timing import COMMAND_GRACE, Deadline, SystemClock, ending
from lifecycle.settings import running_client
from lifecycle.settings.persons import Presence
from lifecycle.storage import log, store

if TYPE_CHECKING:
    from lifecycle.app.wiring import WorktreeWorld
    from lifecycle.claim.record.claim_store import ClaimStore
    from lifecycle.claim.record.state import Record
    from lifecycle.core.tracker import Tracker

Drawing = Callable[[], None] | None
"""Draws tables on a terminal instead of lines."""

SECONDS = 60.0
"""How long a command may take in total; a person waits for it."""

LIMIT = f"Ends after {SECONDS:g} seconds at the latest; what was done by then is kept."
"""The sentence on that limit in `--help`."""

TOO_LATE = "This command ran out of time; what was done by then is kept."


@dataclass
class Session:
    """The worktree, claim and tracker of a command, each opened on first use.

    The command's time limit also begins then.

    Attributes:
        as_json: print one JSON object instead of sentences.
        changes_tasks: the command changes a task: when it ends, also by an error, the hooks' memory of
            the tracker's tasks is dropped.
        first: called with the world before anything else.
        at_end: closed when the command ends; click's own unless given.

    Any access to the worktree raises Refused if the current folder is in none.
    """

    as_json: bool
    changes_tasks: bool = False
    first: Callable[[WorktreeWorld], None] = lambda _: None
    at_end: ExitStack | None = None

    @cached_property
    def _opened(self) -> tuple[WorktreeWorld, ClaimStore]:
        from lifecycle.app.wiring import WorktreeWorld
        from lifecycle.claim.record.claim_store import ClaimStore

        root, clock = demanded_root(), SystemClock()
        claim_store = ClaimStore(root, clock)
        deadline = Deadline.after(clock, SECONDS - COMMAND_GRACE)
        world = WorktreeWorld(root, os.environ, clock, deadline, claim_store.file)
        at_end = self.at_end
        if at_end is None:
            import click

            at_end = click.get_current_context().with_resource(ExitStack())
        at_end.enter_context(ending(deadline, end_late))
        if self.changes_tasks:
            at_end.callback(_forget_tasks, world)
        self.first(world)
        return world, claim_store

    @property
    def world(self) -> WorktreeWorld:
        """The worktree's settings, git, tracker and GitHub."""
        return self._opened[0]

    @property
    def tracker(self) -> Tracker:
        """The tracker of the worktree's tasks."""
        return self.world.tracker

    @property
    def claim_store(self) -> ClaimStore:
        """The store of the worktree's claim."""
        return self._opened[1]

    @property
    def root(self) -> Path:
        """The worktree's root."""
        return self.world.root

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.world.clock.now()

    @property
    def client_session(self) -> str:
        """The client's session that runs this command; "" for a person's terminal."""
        return running_client.session_of({}, self.world.environment)

    @property
    def client_process(self) -> int:
        """The process of the client whose session runs this command; 0 if unknown."""
        return running_client.process_of(self.world.environment) if self.client_session else 0

    def claim_lines(self, record: Record | None) -> list[str]:
        """The lines about the claim, or that there is none, and what an unfinished one left.

        A session that does not hold the claim gets none about the next steps. A person's terminal has no
        session, and gets all of them.
        """
        if record is None:  # a look at a claim does not need these
            from lifecycle.claim.commands import moves, unfinished_claims

            left = unfinished_claims.left(self.claim_store)
            return [moves.none_here(self.world), *filter(None, [left])]
        from lifecycle.claim.engine import briefing, observing

        record = observing.believed(self.world, self.claim_store, record)
        if self.is_held(record):
            last_at = self.claim_store.signs(record).last_at
            return [briefing.held_line(record, last_at), *briefing.state_lines(record)]
        hears = self.claim_store.marks.hears_prompts(record.created_at)
        hooks = observing.hooks_for(self.world, self.claim_store, record)
        return briefing.claim_lines(record, hears_prompts=hears, hooks=hooks)

    def is_held(self, record: Record) -> bool:
        """True if a session other than the one that runs this command holds the claim."""
        from lifecycle.claim.engine import observing

        return observing.is_held(self.claim_store, record, self.client_session)

    def presence_beside(self, clients: Collection[int] = ()) -> Presence:
        """Whether the client's agent may be running this command, or a person outside of it.

        Args:
            clients: processes of clients that are known to be at work here.
        """
        is_inside = running_client.is_inside(self.world.environment, clients)
        return Presence(is_inside, self.claim_store.marks.answered_at or 0.0)

    def show(
        self, lines: Iterable[str], data: Mapping[str, Any], draw: Drawing = None, *, code: int = 0
    ) -> int:
        """Print sentences, on a terminal the drawing by `draw` instead, or one JSON object.

        Returns:
            `code`: the exit code of the command that ends with it.
        """
        withheld = self.world.told_withheld()
        if self.as_json:
            say(json_text({**data, "withheld": withheld} if withheld else data))
            return code
        if draw is not None and is_terminal(sys.stdout):
            draw()
            lines = ()
        for line in (*lines, f"Note: {withheld}") if withheld else lines:
            say(visible(line))
        return code

    def show_whole(self, lines: Iterable[str], data: Mapping[str, Any]) -> None:
        """Print lines as they are, strangers' texts in them being quoted already; or one JSON object."""
        say_all(lines, data, as_json=self.as_json)

    def show_all_but(
        self, problem: Exception | None, lines: Iterable[str], data: Mapping[str, Any]
    ) -> int:
        """Print the lines, then raise the problem, if any; with `--json` the problem is in the data.

        Returns:
            The exit code: 1 with a problem.
        """
        code = self.show(lines, data, code=int(problem is not None))
        if problem is not None and not self.as_json:
            raise problem
        return code


def demanded_root() -> Path:
    """The root of the worktree that the current folder is in; Refused if it is in none."""
    root = store.worktree_root(Path.cwd())
    if root is None:
        raise Refused(f"{Path.cwd()} is in no git worktree; go to the repository that you work in.")
    return root


def end_late() -> NoReturn:
    """End the process with exit code 1: the time limit passed, and no exception ended the command."""
    at_once(f"lifecycle: {TOO_LATE}")
    os._exit(1)


def _forget_tasks(world: WorktreeWorld) -> None:
    """Drop the staged workflow's memory of the tracker's tasks; a failure is only logged."""
    from lifecycle.stages.session import workflow_tasks
    from lifecycle.storage import workflow_marks
    from lifecycle.storage.workflow_files import WorkflowFiles

    files = WorkflowFiles(world.root)
    with log.Surviving(world.root, "tasks", LifecycleError, OSError):
        is_kept = files.sessions.has(workflow_tasks.TASKS)
        if is_kept and not world.is_tracked(workflow_marks.FOLDER):
            workflow_tasks.drop(files, world.clock.now())


def claim_data(record: Record | None) -> dict[str, Any] | None:
    """The claim for `--json`: the file's fields, and the engine's further facts."""
    if record is None:
        return None
    return {
        **record.values,
        **fields_of(record.pull, pr_url="url?", pr_head="head?", checks="checks"),
        "outcome": record.ending.outcome or None,
        "linked": asdict(record.linked.link) if record.linked.link is not None else None,
    }
