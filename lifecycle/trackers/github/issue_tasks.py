"""Issues as tasks: what an answer of GitHub's says, in the words of the Protocol."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from lifecycle.core import hidden_marker
from lifecycle.core.errors import NotFound
from lifecycle.core.tracker import Note, Task, TaskStatus
from lifecycle.core.values import priorities
from lifecycle.core.values.model import Repository
from lifecycle.core.values.shapes import CommentFacts, IssueFacts
from lifecycle.github.pulls.issue_calls import IssueCalls, Relation

_HIDDEN = re.compile(r"^<!-- lifecycle:[^<>]+ -->$")
_EXTERNAL = re.compile(r"^<!-- lifecycle:external ref=(\S+) -->$")


@dataclass(frozen=True, slots=True)
class Body:
    """A body taken apart; `hidden` are its last lines, if they are ours."""

    text: str
    hidden: tuple[str, ...] = ()

    @classmethod
    def of(cls, body: str) -> Body:
        """Take a body apart."""
        lines = body.rstrip().replace("\r\n", "\n").split("\n")
        hidden: list[str] = []
        while lines and (not lines[-1].strip() or _HIDDEN.match(lines[-1].strip())):
            line = lines.pop().strip()
            hidden += [line] if line else []
        return cls("\n".join(lines), tuple(reversed(hidden)))

    @property
    def external(self) -> str:
        """What the task is linked to in another tracker, "" if nothing."""
        links = (_EXTERNAL.match(line) for line in self.hidden)
        return next((unquote(match[1]) for match in links if match), "")

    def saying(self, text: str) -> str:
        """The whole body with another text above the same hidden lines."""
        return "\n\n".join(part for part in (text.rstrip(), "\n".join(self.hidden)) if part)


def with_external(text: str, external: str) -> str:
    """A text with the link to another tracker hidden below it; "" hides nothing."""
    if not external:
        return text
    # Nothing in it may end the HTML comment or be a space.
    safe = quote(external, safe="/:#=.").replace("-", "%2D")
    return hidden_marker.signed(text, hidden_marker.of("external", ref=safe))


BLOCKERS: Relation = "dependencies/blocked_by"
PARTS: Relation = "sub_issues"


def number_of(name: str) -> int:
    """The number in `42` or `#42`; NotFound for what can be no issue's."""
    match = re.fullmatch(r"#?([1-9]\d{0,8})", name.strip())
    if match is None:
        raise NotFound(f"{name!r} is no issue number, so nothing was done; give one like 42.")
    return int(match[1])


def task_of(facts: IssueFacts, blocked_by: tuple[str, ...] = ()) -> Task:
    """The task that an issue is; `blocked_by` is not in the issue's own answer."""
    body = Body.of(facts.body)
    return Task(
        id=str(facts.number),
        title=facts.title,
        description=body.text,
        status=_status(facts),
        raw_status="open" if facts.is_open else "closed",
        priority=priorities.of_labels(facts.labels),
        labels=facts.labels,
        assignee=facts.assignees[0] if facts.assignees else "",
        blocked_by=blocked_by,
        external=body.external,
        url=facts.url,
        close_reason="" if facts.is_open else facts.state_reason,
        author=facts.author,
        created_at=facts.created_at,
        updated_at=facts.updated_at,
        closed_at=facts.closed_at,
    )


def _status(facts: IssueFacts) -> TaskStatus:
    if not facts.is_open:
        return TaskStatus.CLOSED
    return TaskStatus.IN_PROGRESS if facts.assignees else TaskStatus.OPEN


def note_of(facts: CommentFacts) -> Note:
    """A comment without its hidden lines."""
    return Note(str(facts.id), facts.author, Body.of(facts.body).text, facts.created_at)


def is_blocked(facts: IssueFacts) -> bool:
    """True if an open issue blocks it, or a sub-issue of it is open: it says so itself."""
    return bool(facts.open_blockers or facts.open_parts)


def blockers_of(calls: IssueCalls, facts: IssueFacts) -> tuple[str, ...]:
    """The open issues that block it, and its open sub-issues; those of other repositories by name.

    Requests: none if the issue says that it has none; else 1 for each of the two that it has.
    Sources: https://docs.github.com/rest/issues/issue-dependencies and
    https://docs.github.com/rest/issues/sub-issues
    """
    relations = [BLOCKERS] if facts.open_blockers else []
    relations += [PARTS] if facts.open_parts else []
    related = (issue for relation in relations for issue in calls.related(facts.number, relation))
    names = (_name(issue, calls.calls.repository) for issue in related if issue.is_open)
    return tuple(dict.fromkeys(names))


def _name(facts: IssueFacts, home: Repository) -> str:
    match = re.search(r"/([^/]+/[^/]+)/(?:issues|pull)/\d+$", facts.url)
    there = match[1] if match is not None else str(home)
    is_here = there.casefold() == str(home).casefold()
    return str(facts.number) if is_here else f"{there}#{facts.number}"
