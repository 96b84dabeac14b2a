"""Turns options, environment and settings into the scope of a reconcile and what it may do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import BadConfig, Refused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import visible
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Repository
from lifecycle.reconcile.scope import Policy, Scope, Shard, Trigger, narrowed, read_event
from lifecycle.settings import config, readers
from lifecycle.storage.store import worktree_root


@dataclass(frozen=True, slots=True)
class ScopeOptions:
    """The options on where to look and what may be done; None for one that was not given."""

    repositories: tuple[str, ...] = ()
    owner: str | None = None
    issues: tuple[int, ...] = ()
    pulls: tuple[int, ...] = ()
    shard: str | None = None
    closes: bool | None = None
    releases: bool | None = None
    silent_hours: float | None = None


def asked_scope(asked: ScopeOptions) -> Scope:
    """The scope that the options name; without repositories and owner if they name none.

    Raises:
        click.UsageError: two of them contradict each other, or one cannot be read.
    """
    if asked.repositories and asked.owner is not None:
        raise click.UsageError("Name repositories with --repo, or an owner with --org; not both.")
    repositories = tuple(
        {name.casefold(): _repository(name) for name in asked.repositories}.values()
    )
    if (asked.issues or asked.pulls) and (asked.owner or len(repositories) > 1):
        raise click.UsageError("--issue and --pull need exactly one repository.")
    if asked.owner is not None and re.fullmatch(readers.NAME, asked.owner) is None:
        raise click.UsageError(f"--org takes a login, not {asked.owner!r}.")
    return Scope(repositories, asked.owner or "", asked.issues, asked.pulls, _shard(asked.shard))


def policy(asked: ScopeOptions, settings: Settings) -> Policy:
    """What may be done: by the options, else by the project's settings."""
    hours = settings.silent_hours if asked.silent_hours is None else asked.silent_hours
    return Policy(
        closes=settings.close == "auto" if asked.closes is None else asked.closes,
        releases=settings.reconcile_release if asked.releases is None else asked.releases,
        silent_seconds=hours * 3600,
    )


class ScopeGround:
    """The folder and the environment that the command works with.

    Where the scope names neither owner nor repositories, the repository is that of
    LIFECYCLE_REPOSITORY, else of GITHUB_REPOSITORY, else the worktree's own.

    Attributes:
        root: the worktree, or the current folder outside of one; `.lifecycle.toml` is read there.
        environment: the variables, with the repository and the board's owner of this run.

    Raises:
        Refused: no repository is named and the folder lies in no worktree.
        BadConfig: a variable or a file cannot be used.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], scope: Scope) -> None:
        worktree, named = worktree_root(folder), _named(scope, environment)
        self.root, self.environment = worktree or folder, dict(environment)
        if named is not None:
            self.environment["LIFECYCLE_REPOSITORY"] = str(named)
        elif worktree is None and not scope.owner:
            raise Refused(_nowhere(folder, environment))
        if scope.owner and config.load(self.root, self.environment).project_owner is None:
            self.environment["LIFECYCLE_PROJECT_OWNER"] = scope.owner


def whole(scope: Scope, world: WorktreeWorld) -> Scope:
    """The scope with the world's own repository if it names none; raises BadConfig."""
    if scope.repositories or scope.owner:
        return scope
    return Scope((world.base,), "", scope.issues, scope.pulls, scope.shard)


def event_of(environment: Mapping[str, str]) -> Trigger:
    """The event that started this run of GitHub Actions; elsewhere one that does not narrow the scope."""
    name = environment.get("GITHUB_EVENT_NAME", "")
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        payload = Path(path).read_text(encoding="utf-8") if path else None
    except (OSError, UnicodeDecodeError):
        payload = None  # the note of `read_event` tells it
    return read_event(name, payload, environment.get("GITHUB_REPOSITORY", ""))


def within(scope: Scope, event: Trigger, world: WorktreeWorld) -> tuple[Scope, str, str]:
    """The part of the scope that the event is about.

    Returns:
        The scope; a note, "" if there is none; and why nothing is to be done, "" if something is.

    Raises:
        LifecycleError: an App caused the event, and GitHub did not say whether it is this token's.
    """
    if event.is_about_one and event.is_by_bot and event.is_caused_by(world.forge.viewer()):
        cause = f"{event.sender}, whose token this is, caused the event {event.name} itself"
        return scope, "", f"Nothing was looked at: {cause}."
    part, note = narrowed(scope, event)
    return part, note, ""


def _named(scope: Scope, environment: Mapping[str, str]) -> Repository | None:
    """The repository whose board and App installation the run uses: the first, or an environment's."""
    if scope.repositories:
        return scope.repositories[0]
    for name in ("LIFECYCLE_REPOSITORY", "GITHUB_REPOSITORY"):
        if value := environment.get(name):
            return readers.repository(name, value)
    return None


def _nowhere(folder: Path, environment: Mapping[str, str]) -> str:
    """The sentence that no repository is known here; raises BadConfig."""
    way = "name one with --repo OWNER/NAME, or all of an owner's with --org LOGIN."
    if config.load(folder, environment).repository:
        return (
            f"{folder} is in no git worktree, and only in one `repository` of {config.CONFIG_FILE} is "
            f"used, so nothing was looked at; {way}"
        )
    return f"{folder} is in no git worktree and no repository is named, so nothing was looked at; {way}"


def _repository(name: str) -> Repository:
    try:
        return readers.repository("--repo", name)
    except BadConfig as error:
        raise click.UsageError(error.sentence) from None


def _shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise click.UsageError(
            f"--shard takes I/N with I from 1 to N, as in 2/3, not {visible(text)!r}."
        )
    return Shard(int(match[1]), int(match[2]))
