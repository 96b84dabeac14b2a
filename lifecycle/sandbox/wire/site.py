"""All that one running sandbox consists of, for the parts that answer requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lifecycle.sandbox.control.faults import FaultBoard
from lifecycle.sandbox.control.outage import StopSignal
from lifecycle.sandbox.wire.connections import Connections
from lifecycle.sandbox.wire.requestlog import RequestLog

if TYPE_CHECKING:
    from lifecycle.sandbox.repositories.world import World
    from lifecycle.sandbox.seed.keeping import Keeper
    from lifecycle.sandbox.wire.recorder import Recorder


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
