"""One running sandbox as a value: its world, faults, log and connections."""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.control.faults import FaultBoard
from lifecycle.sandbox.control.outage import StopSignal
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.seed.keeping import Keeper
from lifecycle.sandbox.wire.connections import Connections
from lifecycle.sandbox.wire.recorder import Recorder
from lifecycle.sandbox.wire.requestlog import RequestLog


@dataclass(frozen=True, slots=True)
class Site:
    """One sandbox's world, faults, log, stop signal, connections and recorder."""

    world: World
    faults: FaultBoard = field(default_factory=FaultBoard)
    log: RequestLog = field(default_factory=RequestLog)
    signal: StopSignal = field(default_factory=StopSignal)
    connections: Connections = field(default_factory=Connections)
    keeper: Keeper | None = None
    recorder: Recorder | None = None


@dataclass(frozen=True, slots=True)
class At:
    """The target of a control verb: the sandbox, and the repository in it."""

    site: Site
    repo: Repository

    @property
    def world(self) -> World:
        """The whole world."""
        return self.site.world

    def human(self, login: str) -> User:
        """The user named `login`; for "", the first person who administers the repository.

        Raises:
            ActionRefused: There is no such login.
        """
        if login:
            return self.world.human(login)
        people = [user for user in self.world.users.values() if user.kind == "user"]
        admins = (user for user in people if self.repo.role_of(user) == "admin")
        return next(admins, people[0])
