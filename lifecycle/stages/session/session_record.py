"""What is kept of one session: how often it was told to go on, and what a person set by hand.

`.lifecycle/stages/SESSION.json`. Two sessions in one worktree share nothing of it. It only adds to the
transcript: without it a session is told again what it was told before, and the counts begin anew.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, replace
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.stages.decisions.decide import Memory
from lifecycle.storage import live_process, store, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

_LINE = re.compile(r"^WORKFLOW STAGES: (.+)$", re.MULTILINE)

OLD_SECONDS = 14 * 86_400.0
"""After so long without a stop a session's file goes."""


NAMELESS = "the task"
"""A task that was led to its end, and of which nobody knew the id."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session.

    Attributes:
        session: the client's id of it; "" for what waits for whichever session stops next.
        memory: what a decision left.
        task: the id of the task that it works on, as it was last known; "" if nobody knows.
        labels: that task's labels: they say which stages it has.
        holder: who had the task when the session was first seen to work on it, or took it since.
        is_set: the task was named by hand.
        ended: the id of the task, or what else is known of it, whose stages were all completed, and after
            which it was told of no stage any more; "" while it is led.
        actor: in whose name the journal has it; the first one stays.
        spelled: the task as the journal spells it.
        stage: what it was told last to be at; "" if it was told nothing.
        transcript: where the client writes it down.
        client: the process id of its client, which stays the same after `/clear`.
        at: when it was last written, in seconds since the epoch.
    """

    session: str
    memory: Memory = field(default_factory=Memory)
    task: str = ""
    labels: tuple[str, ...] = ()
    holder: str = ""
    is_set: bool = False
    ended: str = ""
    actor: str = ""
    spelled: str = ""
    stage: str = ""
    transcript: str = ""
    client: int = 0
    at: float = 0.0

    @property
    def is_gone(self) -> bool:
        """True if its client is known, and not there any more."""
        return self.client > 0 and not live_process.is_there(str(self.client))

    @property
    def was_led(self) -> bool:
        """True if it was told of a stage, or is to be; of one that only claimed, the client is kept."""
        return bool(self.stage or self.task or self.ended or self.memory.set_stage)

    def on(self, task: str, labels: tuple[str, ...], holder: str) -> SessionRecord:
        """The record of the session at work on this task."""
        if task == self.task:
            return replace(self, labels=labels or self.labels, holder=self.holder or holder)
        return replace(self, task=task, labels=labels, holder=holder, is_set=False, spelled="")

    def set_to(self, stage: Stage) -> SessionRecord:
        """The record of the session once its stage was set by hand, and was not told yet."""
        return replace(self, memory=replace(self.memory, set_stage=stage))

    def after(self) -> SessionRecord:
        """The record with its task forgotten, since the last stage of it is complete."""
        return replace(self.on("", (), ""), ended=self.task or self.ended or NAMELESS)


def load(files: WorkflowFiles, session: str) -> SessionRecord | None:
    """What is kept of this session; None if nothing is, or nothing that can be understood."""
    record = _read(files, _name(session))
    return record if record is not None and record.session == session else None


def save(files: WorkflowFiles, record: SessionRecord) -> None:
    """Keep a session's record; the caller holds the lock."""
    if files.sessions.mtime_ns(_name(record.session)) < 0:
        sweep(files, record.at)
    files.save(_name(record.session), _plain(record))


def forget(files: WorkflowFiles, session: str) -> None:
    """Delete what is kept of a session; the caller holds the lock."""
    files.sessions.remove(_name(session))


def sweep(files: WorkflowFiles, now: float) -> None:
    """Delete what old sessions left, and what killed processes did; the caller holds the lock."""
    for path in files.path("x").parent.iterdir():
        is_left = path.name.endswith(store.OURS)
        if path.is_file() and (is_left or now - path.stat().st_mtime > OLD_SECONDS):
            path.unlink(missing_ok=True)


def all_of(files: WorkflowFiles) -> list[SessionRecord]:
    """Every session of which something is kept here, the newest first."""
    names = (name for name in files.sessions.names() if name.endswith(".json"))
    records = [record for name in names if (record := _read(files, name)) is not None]
    return sorted(records, key=lambda record: -record.at)


def line_told(instruction: str) -> tuple[Stage, ...]:
    """The line of stages that an instruction shows; the whole one if it shows none."""
    match = _LINE.search(instruction)
    names = match[1].split(" → ") if match is not None else []
    stages = tuple(Stage(name) for name in names if name in list(LINE))
    return stages if stages and len(stages) == len(names) else LINE


def _plain(record: SessionRecord) -> dict[str, Any]:
    """The record as one JSON object: the memory's fields stand beside its own."""
    values = asdict(record)
    memory = values.pop("memory")
    return {**values, **memory, "set_stage": memory["set_stage"] or ""}


def _read(files: WorkflowFiles, name: str) -> SessionRecord | None:
    data = files.load(name)
    if not isinstance(data, dict) or not isinstance(data.get("session"), str):
        return None  # the other files here are no session's
    # Versions before lack these.
    data = {"ended": "", "actor": "", "spelled": "", "told": "", **data}
    memory = {**data, "set_stage": data.get("set_stage") or None}
    record: SessionRecord | None = from_json(SessionRecord, {**data, "memory": memory})
    return record


def _name(session: str) -> str:
    return f"{workflow_marks.session_name(session)}.json"
