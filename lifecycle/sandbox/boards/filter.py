"""Read a filter in GitHub's syntax, and select the matching cards or boards.

Sources:
https://docs.github.com/issues/planning-and-tracking-with-projects/customizing-views-in-your-project/filtering-projects
for cards, and `gh`'s own queries (`is:open` and words of the title) for boards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.boards.actions import BoardRefused
from lifecycle.sandbox.boards.state import DraftIssue, Field, Item, Project
from lifecycle.sandbox.pulls.state import PullRequest, PullTables

VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s,"'])+"""
TERM = re.compile(
    rf"""(?P<not>-)?(?:(?P<name>[\w-]+):)?(?P<values>{VALUE}(?:,{VALUE})*)""", re.VERBOSE
)
COMPARED = re.compile(r"(?P<sign>>=|<=|>|<)(?P<than>.+)|(?P<low>.+?)\.\.(?P<high>.+)")
DAYS = re.compile(r"(?P<count>\d+)days?")
KEYWORD = re.compile(r"@(?P<word>today|current|previous|next)(?P<shift>[+-]\d+)?")


class NotImitated(BoardRefused):
    """A part of a filter that GitHub supports or may support, and the sandbox does not."""


@dataclass(frozen=True, slots=True)
class Term:
    """One filter: `name` is empty for words; one of the values has to match."""

    name: str
    values: tuple[str, ...]
    is_negative: bool


def terms_of(text: str) -> list[Term]:
    """The terms of a filter's text, all of which have to match."""
    return [
        Term(
            (match["name"] or "").lower(),
            tuple(value.replace('"', "").replace("'", "") for value in _split(match["values"])),
            bool(match["not"]),
        )
        for match in TERM.finditer(text)
    ]


def _split(values: str) -> list[str]:
    return re.findall(VALUE, values)


def matching_projects(projects: Iterable[Project], text: str) -> list[Project]:
    """The boards that a query selects by `is:open`, `is:closed` and words of the title.

    Raises:
        NotImitated: The query has another qualifier.
    """
    terms = terms_of(text)
    return [p for p in projects if all(_project(p, term) is not term.is_negative for term in terms)]


def _project(project: Project, term: Term) -> bool:
    if not term.name:
        return any(word.lower() in project.title.lower() for word in term.values)
    states = {"open": project.closed_at is None, "closed": project.closed_at is not None}
    if term.name != "is" or not set(term.values) <= states.keys():
        raise NotImitated(f"The sandbox does not imitate {term.name!r} in queries for projects")
    return any(states[value] for value in term.values)


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """A filter of a board's cards; `@me` in it is the viewer."""

    project: Project
    viewer: User
    terms: tuple[Term, ...]

    def matches(self, item: Item) -> bool:
        """Whether a card matches the filter."""
        return all(self._holds(item, term) is not term.is_negative for term in self.terms)

    def _holds(self, item: Item, term: Term) -> bool:
        if not term.name:
            return any(_has_words(self.project, item, value) for value in term.values)
        if term.name == "no":
            return any(not self._texts(item, value) for value in term.values)
        if term.name == "is":
            return any(_is(item, value) for value in term.values)
        if term.name == "last-updated":
            return any(_is_older(item, value) for value in term.values)
        field = self._field(term.name)
        if field is not None:
            return any(self._compares(item, field, value) for value in term.values)
        texts = self._texts(item, term.name)
        return any(_like(text, self._meant(value)) for value in term.values for text in texts)

    def _meant(self, value: str) -> str:
        return self.viewer.login if value == "@me" else value

    def _field(self, name: str) -> Field | None:
        """The board's own field that a qualifier names, with `-` for spaces; None if there is none."""
        return next(
            (
                field
                for field in self.project.fields
                if field.name.lower().replace(" ", "-") == name
                and field.data_type in {"TEXT", "NUMBER", "DATE", "SINGLE_SELECT", "ITERATION"}
            ),
            None,
        )

    def _texts(self, item: Item, name: str) -> list[str]:
        """The card's values under a qualifier, as texts.

        Raises:
            NotImitated: There is no such qualifier here.
        """
        field = self._field(name)
        if field is not None:
            shown = _shown(item, field)
            return [] if shown is None else [shown]
        if name not in TEXTS:
            raise NotImitated(f"The sandbox does not imitate the filter {name!r}")
        return TEXTS[name](item)

    def _compares(self, item: Item, field: Field, value: str) -> bool:
        """Whether a card's value equals, or is within the bounds of, a filter's value."""
        shown = _shown(item, field)
        if shown is None:
            return False
        match = COMPARED.fullmatch(value)
        if match is None or field.data_type in {"TEXT", "SINGLE_SELECT"}:
            return _like(shown, self._resolved(field, value))
        rank = _rank(field, shown)
        if match["sign"]:
            bound = _rank(field, self._resolved(field, match["than"]))
            return {
                ">": rank > bound, ">=": rank >= bound, "<": rank < bound, "<=": rank <= bound,
            }[match["sign"]]  # fmt: skip
        low, high = match["low"], match["high"]
        return (low == "*" or _rank(field, self._resolved(field, low)) <= rank) and (
            high == "*" or rank <= _rank(field, self._resolved(field, high))
        )

    def _resolved(self, field: Field, value: str) -> str:
        """A filter's value with `@me`, `@today`, `@current` and so on replaced."""
        match = KEYWORD.fullmatch(value)
        if match is None:
            return self._meant(value)
        shift = int(match["shift"] or 0)
        if field.data_type == "DATE" and match["word"] == "today":
            return (now().date() + timedelta(days=shift)).isoformat()
        if field.data_type != "ITERATION" or match["word"] == "today":
            raise NotImitated(
                f"The sandbox does not imitate {value!r} for the field {field.name!r}"
            )
        running = [iteration for iteration in field.iterations if not iteration.completed]
        place = field.iterations.index(running[0]) if running else len(field.iterations)
        place += {"current": 0, "previous": -1, "next": 1}[match["word"]] + shift
        within = 0 <= place < len(field.iterations)
        return field.iterations[place].title if within else value


def _labels(item: Item) -> list[str]:
    content = item.content
    return [] if isinstance(content, DraftIssue) else [label.name for label in content.labels]


def _milestone(item: Item) -> list[str]:
    content = item.content
    if isinstance(content, DraftIssue) or content.milestone is None:
        return []
    return [content.milestone.title]


def _repo(item: Item) -> list[str]:
    content = item.content
    return [] if isinstance(content, DraftIssue) else [content.repository.full_name]


def _reason(item: Item) -> list[str]:
    content = item.content
    if isinstance(content, DraftIssue) or content.state_reason is None:
        return []
    return [content.state_reason.replace("_", " ")]


def _reviewers(item: Item) -> list[str]:
    pull = _pull(item)
    if pull is None:
        return []
    people = [*pull.requested_reviewers, *(review.author for review in pull.reviews)]
    return [user.login for user in people]


def _assignees(item: Item) -> list[str]:
    return [user.login for user in item.content.assignees]


TEXTS: dict[str, Callable[[Item], list[str]]] = {
    "title": lambda item: [item.content.title],
    "assignee": _assignees,
    "assignees": _assignees,
    "label": _labels,
    "labels": _labels,
    "milestone": _milestone,
    "repo": _repo,
    "reason": _reason,
    "reviewers": _reviewers,
}
"""By qualifier that is not a field of the board: the texts of a card's content."""


def item_filter(project: Project, viewer: User, text: str) -> ItemFilter:
    """Read a filter of a board's cards."""
    return ItemFilter(project, viewer, tuple(terms_of(text)))


def _shown(item: Item, field: Field) -> str | None:
    """A card's value in a field of the board, with the name of an option or iteration; None without one."""
    raw = item.values.get(field.id)
    names = {option.id: option.name for option in field.options}
    names |= {iteration.id: iteration.title for iteration in field.iterations}
    if field.data_type in {"SINGLE_SELECT", "ITERATION"}:
        return names.get(raw or "")
    return raw


def _rank(field: Field, shown: str) -> tuple[float, str]:
    """The key by which numbers, days and iterations are compared."""
    if field.data_type == "NUMBER":
        try:
            return float(shown), ""
        except ValueError:
            raise BoardRefused(f"{shown} is not a number") from None
    starts = {iteration.title.lower(): iteration.start for iteration in field.iterations}
    return 0, starts.get(shown.lower(), shown)


def _like(text: str, pattern: str) -> bool:
    """Whether a text matches the pattern, ignoring case; `*` matches anything."""
    escaped = pattern.lower().replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(text.lower(), escaped)


def _has_words(project: Project, item: Item, words: str) -> bool:
    """Whether the title or a text field contains the words."""
    texts = [
        value
        for field in project.fields
        if field.data_type == "TEXT" and (value := item.values.get(field.id))
    ]
    return any(words.lower() in text.lower() for text in [item.content.title, *texts])


def _pull(item: Item) -> PullRequest | None:
    content = item.content
    if isinstance(content, DraftIssue) or not content.is_pull:
        return None
    return PullTables.of(content.repository).pulls.get(content.number)


def _is(item: Item, word: str) -> bool:
    content, pull = item.content, _pull(item)
    if isinstance(content, DraftIssue):
        states = {
            "draft": True,
            **dict.fromkeys(("issue", "pr", "open", "closed", "merged"), False),
        }
    else:
        states = {
            "issue": pull is None,
            "pr": pull is not None,
            "draft": bool(pull and pull.draft),
            "open": content.state == "open",
            "closed": content.state == "closed",
            "merged": bool(pull and pull.merged_at),
        }
    if word not in states:
        raise NotImitated(f"The sandbox does not imitate the filter is:{word}")
    return states[word]


def _is_older(item: Item, text: str) -> bool:
    match = DAYS.fullmatch(text)
    if match is None:
        raise NotImitated(f"The sandbox does not imitate the filter last-updated:{text}")
    return now() - item.updated_at >= timedelta(days=int(match["count"]))
