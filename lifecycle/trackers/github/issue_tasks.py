"""Issues as tasks: from GitHub's answers, and lists of them, by label, status and urgency.

Each issue in a list has the number of open issues that block it and of its open sub-issues, so that no
issue is requested alone. Its urgency comes from a label, else from the board.

A board that cannot be read is only logged. The board prevents a task from being begun in
the cases that `lifecycle claim` refuses (`claim/commands/admission.py`): a card that is not in Todo, and
one whose field Dependencies names an open issue. An unknown word is not a priority, and is sorted after
those that are.

Source: https://docs.github.com/rest/issues/issues#list-repository-issues (`issue_dependencies_summary`,
`sub_issues_summary`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar
from urllib.parse import quote, unquote

from lifecycle.core import hidden_marker
from lifecycle.core.errors import LifecycleError, NotFound
from lifecycle.core.light_dataclass import dataclass, fields_of, replace
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.core.values import priorities
from lifecycle.core.values.branch_names import named_issue
from lifecycle.core.values.model import Card
from lifecycle.core.values.shapes import CardWords, CommentFacts, IssueFacts
from lifecycle.github.pulls.issue_calls import IssueCalls, State
from lifecycle.storage import log
from lifecycle.trackers import refusals
from lifecycle.trackers.registry import TrackerPlace

_HIDDEN = re.compile(r"^<!-- lifecycle:[^<>]+ -->$")
_EXTERNAL = re.compile(r"^<!-- lifecycle:external ref=(\S+) -->$")


@dataclass(frozen=True, slots=True)
class Body:
    """A body taken apart; `hidden` are its last lines, if they are ours."""

    text: str
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: str) -> Body:
        """Split a body."""
        lines = body.rstrip().replace("\r\n", "\n").split("\n")
        hidden: list[str] = []
        while lines and (not lines[-1].strip() or _HIDDEN.match(lines[-1].strip())):
            line = lines.pop().strip()
            hidden += [line] if line else []
        return cls("\n".join(lines), tuple(reversed(hidden)))

    @property
    def external(self) -> str:
        """The task's link to another tracker; "" if there is none."""
        links = (_EXTERNAL.match(line) for line in self.hidden)
        return next((unquote(match[1]) for match in links if match), "")

    def saying(self, text: str) -> str:
        """The whole body with a new text above the same hidden lines."""
        return "\n\n".join(part for part in (text.rstrip(), "\n".join(self.hidden)) if part)


def with_external(text: str, external: str) -> str:
    """A text with a hidden link to another tracker below it; with "" the text alone."""
    if not external:
        return text
    # Nothing in it may end the HTML comment or be a space.
    safe = quote(external, safe="/:#=.").replace("-", "%2D")
    return hidden_marker.signed(text, hidden_marker.of("external", ref=safe))


def number_of(name: str) -> int:
    """The number in `42` or `#42`; NotFound for a name that cannot be an issue's."""
    match = re.fullmatch(r"#?([1-9]\d{0,8})", name.strip())
    if match is None:
        raise NotFound(refusals.sentence("no-issue-number", name=name))
    return int(match[1])


_SAME = ("title", "labels", "url", "author", "created_at", "updated_at", "closed_at")
"""The fields that an issue and a task have under the same name."""


def task_of(facts: IssueFacts, blocked_by: tuple[str, ...] = ()) -> Task:
    """An issue as a task; `blocked_by` is not in the issue's own answer."""
    body = Body.of(facts.body)
    status = TaskStatus.IN_PROGRESS if facts.assignees else TaskStatus.OPEN
    return Task(
        id=str(facts.number),
        description=body.text,
        status=status if facts.is_open else TaskStatus.CLOSED,
        raw_status="open" if facts.is_open else "closed",
        priority=priorities.of_labels(facts.labels),
        assignee=facts.assignees[0] if facts.assignees else "",
        blocked_by=blocked_by,
        external=body.external,
        close_reason="" if facts.is_open else facts.state_reason,
        **fields_of(facts, *_SAME),
    )


def note_of(facts: CommentFacts) -> Note:
    """A comment without its hidden lines."""
    return Note(str(facts.id), facts.author, Body.of(facts.body).text, facts.created_at)


Answer = TypeVar("Answer")

_ASSIGNEES = {TaskStatus.OPEN: "none", TaskStatus.IN_PROGRESS: "*"}
_NEVER = (TaskStatus.BLOCKED, TaskStatus.DEFERRED, TaskStatus.OTHER)
"""Statuses that GitHub's issues never have."""

_UNSEEN = "the board's Priority is left out"
_UNSEEN_PULLS = "what open pull requests close is left out"


class TaskLists:
    """The lists of one repository's tasks. The board is read for a priority only if no label gives it.

    Args:
        place: the worktree; access to its GitHub raises NoToken or BadConfig. Without a board in its
            settings no board is read.
    """

    # Made on first access, which may raise.
    _calls = cached_property(lambda self: IssueCalls(self._hub.calls))

    def __init__(self, place: TrackerPlace) -> None:
        self._place, self._hub = place, place.hub
        self._open = dict[int, bool]()  # issues without a card that others depend on

    def list(self, *, label: str = "", status: TaskStatus | None = None) -> tuple[Task, ...]:
        """Every issue with this label and status. A list does not name blockers.

        Requests: 1 for each hundred; with a board, unless labels give all: 1 if one task lacks a
        priority, else 1 for each hundred cards and, once, 1 for the board's fields.
        Source: https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        if label:
            refusals.demand_labels((label,))
        if status in _NEVER:
            return ()
        state: State = "closed" if status is TaskStatus.CLOSED else "open"
        assignee = _ASSIGNEES.get(status, "") if status is not None else ""
        tasks = [*map(task_of, self._calls.listed(state, label=label, assignee=assignee))]
        return _by_urgency(tasks, self._of([task for task in tasks if task.priority is None]))

    def ready(self, *, labels: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """Open unassigned issues without open blockers and without open sub-issues.

        Without those that an open pull request closes, unless a claim would continue it. With a board,
        its card must be in Todo, and its Dependencies closed: else no claim takes it.
        Requests: for each label, or once without any, 1 for each hundred unassigned issues; with a
        `*` 1 more for each hundred labels of the repository; if there is a task, 1 for each hundred open
        pull requests, and with a board 1 for each hundred cards and, once, 1 for the board's fields; 1 for
        each issue that others depend on and that has no card.
        """
        names = self._names(labels) if labels else ("",)
        lists = (self._calls.listed("open", label=name, assignee="none") for name in names)
        issues = {issue.number: issue for listed in lists for issue in listed}
        idle = (i for i in issues.values() if not (i.open_blockers or i.open_parts or i.assignees))
        tasks = [*map(task_of, idle)]
        cards: dict[str, Card] = self._seen(self._all, {}) if tasks and self._has_board else {}
        taken = self._seen(self._with_pull, set[str](), _UNSEEN_PULLS) if tasks else set[str]()
        free = [task for task in tasks if task.id not in taken and self._is_free(task, cards)]
        return _by_urgency(free, _words(cards))

    def _with_pull(self) -> set[str]:
        """The issues that an open pull request closes from another branch than the one a claim makes."""
        owners = {str(self._hub.base.owner).casefold(), str(self._hub.head.owner).casefold()}
        return {
            str(number)
            for pull in self._hub.forge.closing_pulls()
            for number in pull.closes
            if named_issue(pull.branch) != number or pull.head_owner.casefold() not in owners
        }

    def _names(self, labels: tuple[str, ...]) -> Iterable[str]:
        """The labels by name: GitHub's list accepts no prefixes, and a comma there means "and"."""
        exact = {name.casefold(): name for name in labels if not name.endswith("*")}
        refusals.demand_labels(exact.values())
        families = [name for name in labels if name.endswith("*")]
        if families:
            names = (label.name for label in self._calls.labels())
            fitting = (name for name in names if refusals.has_any((name,), families))
            exact |= {name.casefold(): name for name in fitting}
        return exact.values()

    def card(self, task: Task) -> CardWords | None:
        """The task's card; None if there is none, or it cannot be read. Requests: 1 with a board."""
        if not self._has_board:
            return None
        return self._seen(lambda: self._hub.card_of(int(task.id)), None)

    def with_priority(self, task: Task) -> Task:
        """The task with its priority. Requests: 1 with a board, unless a label says it."""
        return task if task.priority is not None else with_word(task, self._of([task]).get(task.id))

    def _is_free(self, task: Task, cards: dict[str, Card]) -> bool:
        card = cards.get(task.id)
        if card is None:
            return True
        if card.item.status not in (None, priorities.Status.TODO):
            return False
        needed = priorities.numbers(card.dependencies)
        return not any(self._waits(number, cards) for number in needed)

    def _waits(self, number: int, cards: dict[str, Card]) -> bool:
        """True if the issue is open, or that is unknown: then it would not be claimed either."""
        card = cards.get(str(number))
        if card is not None:
            return card.is_open
        if number not in self._open:
            look = partial(self._hub.forge.issue, number)
            issue = self._seen(look, None, f"#{number}, which a card depends on, cannot be read")
            self._open[number] = issue is None or issue.is_open
        return self._open[number]

    @property
    def _has_board(self) -> bool:
        return self._hub.settings.project_number is not None

    def _of(self, tasks: Sequence[Task]) -> dict[str, str]:
        """The board's priorities for these tasks, by the task's id; without those that have none."""
        if tasks[1:]:
            return _words(self._seen(self._all, {})) if self._has_board else {}
        return _words({task.id: self.card(task) for task in tasks})

    def _all(self) -> dict[str, Card]:
        """The cards of this repository's issues."""
        home = str(self._hub.base).casefold()
        cards = self._hub.board.cards() if self._hub.board is not None else ()
        return {str(card.number): card for card in cards if card.repository.casefold() == home}

    def _seen(self, look: Callable[[], Answer], nothing: Answer, why: str = _UNSEEN) -> Answer:
        with log.Surviving(self._hub.root, f"tracker: {why}", LifecycleError):
            return look()
        return nothing


def _by_urgency(tasks: Iterable[Task], words: dict[str, str]) -> tuple[Task, ...]:
    """The tasks with their priority, from the board if no label gives it, sorted."""

    def urgency(task: Task) -> tuple[tuple[int, str], float, int]:
        order = priorities.order_of(task.priority, words.get(task.id))
        return order, task.created_at or 0.0, int(task.id)

    return tuple(sorted((with_word(task, words.get(task.id)) for task in tasks), key=urgency))


def _words(cards: Mapping[str, Card | CardWords | None]) -> dict[str, str]:
    return {name: card.priority for name, card in cards.items() if card and card.priority}


def with_word(task: Task, word: str | None) -> Task:
    """The task with the priority of the board's word, unless a label gives it."""
    if task.priority is not None or not word:
        return task
    return replace(task, priority=priorities.rank_of(word))
