"""Which issues could be begun, and in which order: at the price of their pages.

Each issue of a list says itself how many open issues block it and how many of its sub-issues are
open, so that no issue is asked for alone. Source:
https://docs.github.com/rest/issues/issues#list-repository-issues (`issue_dependencies_summary`,
`sub_issues_summary`)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lifecycle.core.tracker import Task, TaskStatus
from lifecycle.core.values.shapes import IssueFacts
from lifecycle.github.pulls.issue_calls import IssueCalls, State
from lifecycle.trackers import refusals
from lifecycle.trackers.github.issue_tasks import is_blocked, task_of
from lifecycle.trackers.github.tracker_board import BoardPriority

_ASSIGNEES = {TaskStatus.OPEN: "none", TaskStatus.IN_PROGRESS: "*"}
_NEVER = (TaskStatus.BLOCKED, TaskStatus.DEFERRED, TaskStatus.OTHER)


class TaskLists:
    """The lists of one repository's tasks.

    Args:
        board: says how urgent a task is whose labels do not.
        calls: the issues.
    """

    def __init__(self, board: BoardPriority, calls: IssueCalls) -> None:
        self._board = board
        self._calls = calls

    def list(self, label: str, status: TaskStatus | None) -> tuple[Task, ...]:
        """Every issue with this label and status, by urgency; see `GitHubIssues.list`."""
        if label:
            refusals.demand_labels((label,))
        if status in _NEVER:
            return ()
        state: State = "closed" if status is TaskStatus.CLOSED else "open"
        assignee = _ASSIGNEES.get(status, "") if status is not None else ""
        found = self._calls.listed(state, label=label, assignee=assignee)
        return self._board.sorted(task_of(one) for one in found)

    def ready(self, labels: tuple[str, ...]) -> tuple[Task, ...]:
        """What could be begun, by urgency; see `GitHubIssues.ready`."""
        free = {one.number: one for one in self._free(labels) if not is_blocked(one)}
        return self._board.startable(task_of(one) for one in free.values() if not one.assignees)

    def _free(self, labels: tuple[str, ...]) -> Iterator[IssueFacts]:
        """The open issues of nobody with any of the labels; one may come twice."""
        if not labels:
            yield from self._calls.listed("open", assignee="none")
            return
        for name in self._names(labels):
            yield from self._calls.listed("open", label=name, assignee="none")

    def _names(self, labels: tuple[str, ...]) -> Iterable[str]:
        """The labels by name: GitHub's list takes no beginnings, and a comma there means "and"."""
        exact = {name.casefold(): name for name in labels if not name.endswith("*")}
        refusals.demand_labels(exact.values())
        families = [name for name in labels if name.endswith("*")]
        if families:
            there = (one.name for one in self._calls.labels())
            exact |= {
                name.casefold(): name for name in there if refusals.has_any((name,), families)
            }
        return exact.values()
