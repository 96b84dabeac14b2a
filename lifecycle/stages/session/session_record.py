"""The record of one session: how often it was told to continue, and what a person set by hand.

Its file is `.lifecycle/stages/SESSION.json`; two sessions in one worktree share none. The record only adds
to the transcript: without it a session is told the same again, and the counts restart.
"""

from __future__ import annotations

import re

from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, replace
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.stages.decisions.decide import Memory
from lifecycle.storage import live_process, store, workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

_LINE = re.compile(r"^WORKFLOW STAGES: (.+)$", re.MULTILINE)

OLD_SECONDS = 14 * 86_400.0
"""Seconds without a stop after which a session's file is deleted."""


NAMELESS = "the task"
"""A completed task whose id was not known."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session.

    Attributes:
        session: the client's id of it; "" for a record that waits for whichever session stops next.
        memory: what the last decision left.
        task: the last known id of the task that the session works on; "" if not known.
        labels: that task's labels, which determine its stages.
        holder: who had the task when the session was first seen to work on it, or who took it since.
        is_set: the task was named by hand.
        ended: the id (or NAMELESS) of the task whose stages were all completed, after which the session
            was told no further stage; "" while the session is led.
        actor: the session's name in the journal; the first one is kept.
        spelled: the task as the journal spells it.
        stage: the stage that it was told last; "" if none.
        transcript: the path of the client's transcript.
        client: the process id of its client, which is the same after `/clear`.
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
        """True if its client is known, and has ended."""
        return self.client > 0 and not live_process.is_there(self.client)

    @property
    def was_led(self) -> bool:
        """True if it was told a stage, or will be; a session that only claimed has a record, too."""
        return bool(self.stage or self.task or self.ended or self.memory.set_stage)

    def on(self, task: str, labels: tuple[str, ...], holder: str) -> SessionRecord:
        """The record of the session at work on this task."""
        if task == self.task:
            return replace(self, labels=labels or self.labels, holder=self.holder or holder)
        return replace(self, task=task, labels=labels, holder=holder, is_set=False, spelled="")

    def set_to(self, stage: Stage) -> SessionRecord:
        """The record after the session's stage was set by hand; the session was not told yet."""
        return replace(self, memory=replace(self.memory, set_stage=stage))

    def after(self) -> SessionRecord:
        """The record without its task, whose last stage is complete."""
        return replace(self.on("", (), ""), ended=self.task or self.ended or NAMELESS)


def load(files: WorkflowFiles, session: str) -> SessionRecord | None:
    """This session's record; None if it is missing or cannot be understood."""
    record = _read(files, _name(session))
    return record if record is not None and record.session == session else None


def save(files: WorkflowFiles, record: SessionRecord) -> None:
    """Keep a session's record; the caller holds the lock."""
    if files.sessions.mtime_ns(_name(record.session)) < 0:
        # Files that old sessions and killed processes left are deleted at a session's first record.
        for path in files.path("x").parent.iterdir():
            is_left = path.name.endswith(store.OURS)
            if path.is_file() and (is_left or record.at - path.stat().st_mtime > OLD_SECONDS):
                path.unlink(missing_ok=True)
    files.save(_name(record.session), asdict(record))


def forget(files: WorkflowFiles, session: str) -> None:
    """Delete a session's record; the caller holds the lock."""
    files.sessions.remove(_name(session))


def all_of(files: WorkflowFiles) -> list[SessionRecord]:
    """Every session's record that is kept here, the newest first."""
    names = (name for name in files.sessions.names() if name.endswith(".json"))
    records = [record for name in names if (record := _read(files, name)) is not None]
    return sorted(records, key=lambda record: -record.at)


def line_told(instruction: str) -> tuple[Stage, ...]:
    """The line of stages that an instruction shows; the complete line if it shows none."""
    match = _LINE.search(instruction)
    names = match[1].split(" → ") if match is not None else []
    stages = tuple(Stage(name) for name in names if name in list(LINE))
    return stages if stages and len(stages) == len(names) else LINE


def _read(files: WorkflowFiles, name: str) -> SessionRecord | None:
    """The record in a file; None for the other files here, which are no sessions' records."""
    data = files.load(name)
    if isinstance(data, dict) and "set_stage" in data:
        # An earlier version wrote the memory's fields beside the others; its sessions go on.
        data = {**data, "memory": {**data, "set_stage": data["set_stage"] or None}}
    record: SessionRecord | None = from_json(SessionRecord, data)
    return record


def _name(session: str) -> str:
    return f"{workflow_marks.session_name(session)}.json"
