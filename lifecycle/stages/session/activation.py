"""Is the staged workflow on in this worktree? The settings say so; the answer is kept for the guards.

The guards in `hooks/` only compare dates: `.lifecycle/staged` has the date of the settings that were
read, and contains what the quick path needs from them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from lifecycle.core.errors import BadConfig, LockBusy
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.timing import ANYTHING
from lifecycle.core.tracker import ClaimFacts
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.core.world import World
from lifecycle.evidence.runners import runner_table
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.stages.detection import call_sorts
from lifecycle.stages.session.session_record import SessionRecord, all_of, load, save
from lifecycle.storage import log, regular_files, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers.registry import seat_in

SEAT = re.compile(r"-(\d{12})$")
"""The end of an agent's name that this product made up (`seat_in` of the registry)."""


@dataclass(frozen=True, slots=True)
class Seat:
    """An earlier session of this worktree.

    Attributes:
        session: the client's id of it.
        is_over: it is known that nobody continues it.
    """

    session: str
    is_over: bool


def of(root: Path, holder: str, session: str, client: int = 0) -> Seat | None:
    """The other session of this worktree in whose name a task is held; None if none is known to be.

    Args:
        root: the worktree's root folder.
        holder: who has the task, as the tracker writes it.
        session: the session that asks.
        client: the process id of the asking session's client; 0: use the one in its record.
    """
    match = SEAT.search(holder)
    if match is None:
        return None
    records = all_of(WorkflowFiles(root))
    mine = (record.client for record in records if session and record.session == session)
    own = client or next(mine, 0)
    for record in records:
        if record.session not in ("", session) and seat_in(root, record.session) == match[1]:
            # Its client is known to be gone, or it is the asker's own.
            return Seat(record.session, record.is_gone or 0 < record.client == own)
    return None


def keep_seat(world: World, session: str, client: int) -> None:
    """Record the client of a session that claims a task; a session that was led has this record already."""
    files = WorkflowFiles(world.root)
    if not (session and client) or wanted_in(world) is None:
        return
    failed = "stages: whose client it is was not kept"  # the claim is valid without that
    with log.Surviving(world.root, failed, LockBusy, OSError), files.locked():
        if load(files, session) is None:
            save(files, SessionRecord(session, client=client, at=world.clock.now()))


_COMMON = ("test", "jest", "spec", "check")
"""Parts of words, one of which is in most commands that run tests."""

_PLAIN = re.compile(r"[\w./:@%+=, -]+", re.ASCII)


def wanted_in(world: World) -> StageSettings | None:
    """The workflow's settings if it is on here; None if it is not. The guards' file is renewed.

    Invalid settings switch the workflow off until they are corrected; other readers of the settings say
    why. The workflow's log is kept out of git.
    """
    files, root = WorkflowFiles(world.root), str(world.root)
    written_ns = regular_files.mtime_ns(regular_files.settings_path(root), follow=True)
    if written_ns < 0:
        return None
    try:
        settings = world.settings
        if settings.evidence_runners:
            runner_table.rows(settings.evidence_runners)
    except BadConfig:
        settings = Settings(written_ns=written_ns)
    was_known = workflow_marks.is_known(root)
    if not was_known:
        _keep(files, settings, world.clock.now())
    if not settings.stages.use or files.is_off:
        return None
    if not was_known:
        with log.Surviving(world.root, "info/exclude", OSError):
            exclude_own_files(world.root, log.STAGED_LINES)
    return settings.stages


def guarded(call: StageCall, *staged: str) -> log.Surviving:
    """Log any failure inside, also in the workflow's own log, and continue; as `log.Surviving`."""
    return log.Surviving(call.world.root, f"{call.hook}: stages", *ANYTHING, staged=staged)


def _keep(files: WorkflowFiles, settings: Settings, now: float) -> None:
    stages, runners = settings.stages, settings.evidence_runners
    content = {"use": stages.use, "test": list(stages.test), "review": stages.review}
    if runners:
        content["runners"] = [dict(row) for row in runners]
    words = words_of((*stages.test, *call_sorts.commands_of(runners)))
    with contextlib.suppress(LockBusy):  # then another process writes the same
        files.note_settings(content, words, settings.written_ns, now)
    # Changed settings may name another label: the known tasks of the tracker are not valid any more.
    files.set_due(workflow_marks.ALWAYS if stages.use and not files.is_off else None)


def words_of(commands: tuple[str, ...]) -> list[str]:
    """The words by which the guard knows a command that may run tests.

    For a configured command it is the longest part that is the same in JSON as in the command.
    """
    own = [max(_PLAIN.findall(command), key=len, default="").strip() for command in commands]
    if any(len(part) < 2 for part in own):
        # Look at every event, since each has a colon: these commands cannot be told apart.
        return [":"]
    names = [*runner_table.names(), *own]
    unknown = [name for name in names if not any(word in name for word in _COMMON)]
    return [*_COMMON, *dict.fromkeys(unknown)]


class StageCall(Protocol):
    """What the client sent to one entrypoint, and what may be changed in response."""

    @property
    def hook(self) -> str:
        """The entrypoint."""

    @property
    def event(self) -> Mapping[str, Any]:
        """The event's JSON."""

    @property
    def session(self) -> str:
        """The client's session; "" if it is not known."""

    @property
    def process(self) -> int:
        """The client's process, 0 if it is not Claude Code's."""

    @property
    def world(self) -> World:
        """What may be read and changed."""

    @property
    def has_claim(self) -> bool:
        """True if the claim file is there."""

    @property
    def claim(self) -> ClaimFacts | None:
        """The claim as the file has it; without one, the last claim if it is over; else None."""
