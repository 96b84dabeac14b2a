"""Which of the tracker's tasks are the workflow's, by the tracker's last answer.

The answer is kept in `.lifecycle/stages/tasks.json`. If no stage changed, a stop does not ask the tracker.
If a stage changed, an answer is valid for a minute; if a task was closed, the tracker is always asked.
"""

from __future__ import annotations

from lifecycle.core.light_dataclass import asdict, dataclass, from_json, replace
from lifecycle.core.tracker import Task, TaskStatus, Tracker
from lifecycle.core.values.configured import StageSettings
from lifecycle.core.world import World
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

TASKS = "tasks.json"

CHANGED = "tasks-changed"
"""A file whose mtime is the time when a command of ours changed a task: earlier answers are invalid."""

FRESH_SECONDS = 60.0
"""Seconds for which an answer of the tracker is valid."""

INACTIVE_SECONDS = 300.0
"""Seconds without a look at any stop, after the tracker had no task with the label."""

_MOST = 500
_FAMILIES = 20


@dataclass(frozen=True, slots=True)
class Activity:
    """The tracker's open tasks with one of the workflow's labels, by urgency.

    Attributes:
        at: when the tracker was asked, in seconds since the epoch.
        of: the question that it answers: the tracker's name and the label.
        tasks: the tasks.
        families: labels of the family that were seen.
        ready: ids of the tasks that can be begun.
        is_stale: a command of ours changed a task after that.
    """

    at: float
    of: str
    tasks: tuple[Task, ...] = ()
    families: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    is_stale: bool = False

    def is_fresh(self, now: float) -> bool:
        """True if the answer is still valid."""
        return not self.is_stale and 0 <= now - self.at < FRESH_SECONDS

    def find(self, task: str) -> Task | None:
        """The open task with this id."""
        return next((known for known in self.tasks if known.id == task), None)

    @property
    def startable(self) -> tuple[Task, ...]:
        """The tasks that could be begun when the tracker was asked, the most urgent first."""
        return tuple(task for task in self.tasks if task.id in self.ready)


def key_of(tracker: Tracker, settings: StageSettings) -> str:
    """The name of a question to a tracker: another label or another tracker makes another question."""
    return f"{tracker.name}/{settings.label}"


def ask(tracker: Tracker, settings: StageSettings, now: float, before: Activity | None) -> Activity:
    """Ask the tracker for every open task with the label or one of its family.

    Families are known from the settings, from tasks that can be begun, or from an earlier answer; only
    if these give nothing, all assigned tasks are searched for further families.

    Args:
        tracker: the tracker to ask.
        settings: the workflow's settings, with the label.
        now: seconds since the epoch.
        before: the last kept answer.

    Raises:
        LifecycleError: the tracker did not answer.
    """
    tasks: dict[str, Task] = {task.id: task for task in tracker.ready(labels=settings.labels)}
    ready = tuple(tasks)
    names = [*settings.workflows, *(before.families if before is not None else ())]
    names += [name for task in tasks.values() for name in task.labels]
    families = tuple(dict.fromkeys(name for name in names if settings.is_label(name)))
    for label in dict.fromkeys([settings.label, *families]):
        for task in tracker.list(label=label):
            tasks.setdefault(task.id, task)
    assigned = () if tasks else tracker.list(status=TaskStatus.IN_PROGRESS)
    tasks |= {task.id: task for task in assigned if any(map(settings.is_label, task.labels))}
    still_open = (task for task in tasks.values() if task.is_open)
    by_urgency = tuple(sorted(still_open, key=lambda task: task.urgency))
    return Activity(now, key_of(tracker, settings), by_urgency, families[:_FAMILIES], ready)


def asked_anew(world: World, before: Activity | None) -> Activity:
    """The tracker's tasks as they are now, which are kept; `before` is the last answer. Takes the lock."""
    files = WorkflowFiles(world.root)
    activity = ask(world.tracker, world.settings.stages, world.clock.now(), before)
    with files.locked():
        keep(files, activity)
    return activity


def keep(files: WorkflowFiles, activity: Activity) -> None:
    """Keep an answer without descriptions, and tell the guards whether stops need a look.

    The caller holds the lock.
    """
    tasks = tuple(replace(task, description="") for task in activity.tasks[:_MOST])
    files.save(TASKS, asdict(replace(activity, tasks=tasks)))
    files.set_due(workflow_marks.ALWAYS if activity.tasks else activity.at + INACTIVE_SECONDS)


def drop(files: WorkflowFiles, now: float) -> None:
    """Mark the last answer as invalid, since a task was changed just now; takes no lock.

    Raises:
        OSError: the mark cannot be written.
    """
    if not files.sessions.has(TASKS):
        return  # nobody asked yet, so there is no answer
    files.sessions.mark(CHANGED, int(now * 1e9))
    if files.folder.has(workflow_marks.DUE):
        files.set_due(workflow_marks.ALWAYS)


def known(files: WorkflowFiles, tracker: Tracker, settings: StageSettings) -> Activity | None:
    """The kept answer, if it is one to this question."""
    kept = _kept(files)
    if kept is None or kept.of != key_of(tracker, settings):
        return None
    return replace(kept, is_stale=int(kept.at * 1e9) <= files.sessions.mtime_ns(CHANGED))


def asked(files: WorkflowFiles) -> str:
    """The name of the tracker that gave the kept answer; "" if there is none."""
    kept = _kept(files)
    return kept.of.partition("/")[0] if kept is not None else ""


def is_over(files: WorkflowFiles, task: str, since: float) -> bool:
    """True if the tracker was asked after `since`, and did not have this task open."""
    kept = _kept(files)
    return kept is not None and kept.at > since and kept.find(task) is None


def _kept(files: WorkflowFiles) -> Activity | None:
    data = files.load(TASKS)
    kept: Activity | None = from_json(Activity, data) if isinstance(data, dict) else None
    return kept
