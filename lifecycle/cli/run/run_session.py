"""What every command of a run begins with: the worktree, its run, and the time that it has."""

from __future__ import annotations

from functools import cached_property

from lifecycle.cli.command_session import Session
from lifecycle.run.run_store import RunStore
from lifecycle.settings import running_client


class RunSession:
    """The run of one command's worktree.

    Args:
        session: the command's worktree, and how it prints.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    @cached_property
    def store(self) -> RunStore:
        """The run's file; Refused outside of a worktree."""
        world = self.session.world
        world.refuse_tracked()
        return RunStore(world.root, world.environment, world.deadline)

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.session.world.clock.now()

    @property
    def client_session(self) -> str:
        """The client's session that runs this command; "" for a person's terminal."""
        return running_client.session_of({}, self.session.world.environment)
