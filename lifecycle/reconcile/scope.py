"""What a run looks at, and what it may do; an event of GitHub Actions may narrow the scope.

The event is read only from its name and payload. An event that cannot be understood narrows nothing: then
everything is looked at, with a note that says why.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows and
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

import hashlib
import re

from lifecycle.core.light_dataclass import dataclass, object_in, replace
from lifecycle.core.values import configured, model
from lifecycle.github.client.client_common import part, text
from lifecycle.settings.readers import NAME


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several runs that share the work: `index` of `count`, counted from 1."""

    index: int
    count: int

    def has(self, repository: str) -> bool:
        """True if this run looks at the repository; its name decides, so that all runs agree."""
        digest = hashlib.sha256(repository.casefold().encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.index - 1


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a run looks.

    Attributes:
        repositories: only these repositories; empty if `owner` is given.
        owner: all repositories of this user or organisation, "" if `repositories` are given.
        issues: only these issues of the one repository; all of its tasks if empty.
        pulls: the issues that belong to these pull requests of the one repository.
        shard: only this part of the repositories, or None for all.
    """

    repositories: tuple[model.Repository, ...] = ()
    owner: str = ""
    issues: tuple[int, ...] = ()
    pulls: tuple[int, ...] = ()
    shard: Shard | None = None

    def has(self, repository: str) -> bool:
        """True if the repository (`owner/name`) is among those that are looked at."""
        if self.shard is not None and not self.shard.has(repository):
            return False
        if self.owner:
            return repository.partition("/")[0].casefold() == self.owner.casefold()
        return repository.casefold() in {str(named).casefold() for named in self.repositories}


@dataclass(frozen=True, slots=True)
class Policy:
    """What a run may do besides what is always safe.

    Attributes:
        closes: an issue whose claim's pull request merged is closed.
        releases: a claim without a sign of life is released, and a closed issue's lease ended.
        silent_seconds: how long nothing may have happened before a claim counts as silent.
    """

    closes: bool = False
    releases: bool = False
    silent_seconds: float = configured.SILENT_HOURS * 3600


ISSUE_EVENTS = frozenset({"issues", "issue_comment"})
PULL_EVENTS = frozenset({"pull_request", "pull_request_target"})

_BOT = "[bot]"


@dataclass(frozen=True, slots=True)
class Trigger:
    """One event, as far as it says where to look.

    Attributes:
        name: as in GITHUB_EVENT_NAME, "" outside of GitHub Actions.
        repository: the `owner/name` where it happened, "" if the event does not say.
        issues, pulls: the issue or the pull request that it is about; () for neither.
        sender: the login of its author, "" if the event does not say.
        is_by_bot: an App caused it.
        note: why it narrows nothing although it should, "" otherwise.
    """

    name: str = ""
    repository: str = ""
    issues: tuple[int, ...] = ()
    pulls: tuple[int, ...] = ()
    sender: str = ""
    is_by_bot: bool = False
    note: str = ""

    @property
    def is_about_one(self) -> bool:
        """True if it is about one issue or one pull request."""
        return bool(self.issues or self.pulls)

    def is_caused_by(self, login: str) -> bool:
        """True if the App with this login caused it.

        It is never true for people: events of a personal token have its owner's name, and what a person
        did must not be ignored. GraphQL spells an App's login with "[bot]" in some places and without
        in others.
        """
        names = {name.casefold().removesuffix(_BOT) for name in (self.sender, login)}
        return self.is_by_bot and bool(self.sender) and len(names) == 1


def read_event(name: str, payload: str | None, repository: str) -> Trigger:
    """The event, by its name and its payload's JSON text; one that cannot be read narrows nothing.

    Args:
        name: GITHUB_EVENT_NAME.
        payload: the content of the file at GITHUB_EVENT_PATH.
        repository: GITHUB_REPOSITORY, used if the payload does not name it.
    """
    if name not in ISSUE_EVENTS | PULL_EVENTS:
        return Trigger(name, repository)
    data = object_in(payload or "")
    issue, sender = part(data, "issue"), part(data, "sender")
    number = (issue if name in ISSUE_EVENTS else part(data, "pull_request")).get("number")
    numbers = (number,) if type(number) is int and number > 0 else ()
    # A comment on a pull request arrives as one on an issue that says it is a pull request.
    is_pull = name in PULL_EVENTS or "pull_request" in issue
    where = text(data, "repository.full_name")
    where = where if re.fullmatch(rf"{NAME}/{NAME}", where) else repository
    issues, pulls = ((), numbers) if is_pull else (numbers, ())
    login, is_bot = text(sender, "login"), sender.get("type") == "Bot"
    event = Trigger(name, where, issues, pulls, login, is_bot)
    if event.is_about_one:
        return event
    why = "names no issue and no pull request" if data else "cannot be read"
    return replace(event, note=_note(name, f"its payload {why}"))


def narrowed(scope: Scope, event: Trigger) -> tuple[Scope, str]:
    """The part of the scope that the event is about, and a note; the whole scope if it is about no part.

    A scope for which somebody named issues or pull requests is not narrowed.
    """
    if scope.issues or scope.pulls or not event.is_about_one:
        return scope, event.note
    owner, _, name = event.repository.partition("/")
    if not (owner and name and scope.has(event.repository)):
        where = event.repository or "a repository that it does not name"
        return scope, _note(event.name, f"it happened in {where}, which is not looked at")
    return Scope((model.Repository(owner, name),), issues=event.issues, pulls=event.pulls), ""


def _note(name: str, why: str) -> str:
    return f"The event {name} was not used, because {why}; so everything was looked at."
