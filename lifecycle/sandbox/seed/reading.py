"""Turn the text of a seed into its values, or into a sentence that says what is wrong and where.

A seed is read completely before anything is made; a mistake is one sentence that names its place.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args, get_origin

import msgspec
import yaml

from lifecycle.sandbox.base.errors import SeedError
from lifecycle.sandbox.boards.state import WRITABLE
from lifecycle.sandbox.seed.form import (
    Seed,
    SeedField,
    SeedItem,
    SeedProject,
    SeedRepository,
    SeedToken,
)
from lifecycle.sandbox.seed.form_content import SeedIssue, SeedPull

DEEPEST = 64
DEEP = re.compile(rf"(?:[-?:] *){{{DEEPEST}}}|^ {{{DEEPEST * 2}}}", re.MULTILINE)
"""Nested block collections on one line, or an indentation that only deep nesting explains."""
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(LOADER):  # type: ignore[misc]  # whichever of the two is there
    """YAML with JSON's rules: a duplicate key is an error, and a date stays text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """A mapping; a duplicate key is an error, since one of the values would be lost."""
        keys = Counter(self.construct_object(key, deep=True) for key, _ in node.value)
        twice = next((key for key, count in keys.items() if count > 1), None)
        if twice is not None:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {twice!r} is there twice", node.start_mark
            )
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in LOADER.yaml_implicit_resolvers.items()
}


def default_seed() -> Seed:
    """The built-in world: `octo-org/hello-service` and its board."""
    seed: Seed = shaped(_built_in(), Seed, "The seed")
    return seed


@cache
def _built_in() -> Any:
    file = files("lifecycle.sandbox.seed").joinpath("seeds/hello_service.yaml")
    return _decoded(file.read_text("utf-8"))


def read_seed(path: Path) -> Seed:
    """Read a seed file.

    Raises:
        SeedError: It cannot be read, is neither YAML nor JSON, or does not describe a world.
    """
    try:
        return parse_seed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SeedError(f"The seed file {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SeedError(f"The seed file {path} is not UTF-8 text.") from None


def parse_seed(text: str) -> Seed:
    """Read a seed from YAML or JSON text.

    Raises:
        SeedError: It is neither, or does not describe a world.
    """
    try:
        raw = _decoded(text)
    except SeedError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SeedError(f"The seed is not valid YAML{place}: {error.problem}.") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        words = str(error).splitlines()[0]
        raise SeedError(f"The seed is not valid YAML: {words}.") from None
    seed: Seed = shaped(raw, Seed, "The seed")
    demand_sense(seed)
    return seed


def _decoded(text: str) -> Any:
    """Decode a text of JSON or YAML.

    A text that begins like an object is tried as JSON first: JSON may escape half a character at a time,
    which YAML does not support.
    """
    if text.lstrip().startswith("{"):
        with contextlib.suppress(ValueError):
            return json.loads(text)
    _demand_shallow(text)
    return yaml.load(text, Loader)  # noqa: S506  a SafeLoader of ours


def _demand_shallow(text: str) -> None:
    """Refuse nesting so deep that the parser, which recurses in C, would crash the process.

    Only texts that look deep are examined: reading the events costs as much as reading the seed.
    """
    if text.count("[") + text.count("{") < DEEPEST and not DEEP.search(text):
        return
    depth = 0
    for event in yaml.parse(text, Loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            depth -= 1
        if depth > DEEPEST:
            raise SeedError(f"The seed nests more than {DEEPEST} deep, which no world does.")


def shaped(raw: Any, kind: Any, place: str) -> Any:
    """Turn decoded text into a form, a list, a literal or a scalar, or say why not.

    Raises:
        SeedError: A key is unknown or missing, or a value is of another type.
    """
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        words, _, where = str(error).partition(" - at `")
        path = where.rstrip("`").removeprefix("$").removeprefix(".")
        at = f" at {path}" if path else ""
        begin = place[:1].upper() + place[1:]
        raise SeedError(f"{begin} is wrong{at}: {words}{_allowed(kind)}.") from None
    except RecursionError:
        raise SeedError(f"{place} is too deep.") from None


def _allowed(kind: Any) -> str:
    """The end of a sentence that lists the allowed words, if the value must be one of a few."""
    parts = get_args(kind) if get_origin(kind) is not Literal else (kind,)
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    return f"; it has to be one of {', '.join(words)}" if words else ""


def demand_sense(seed: Seed) -> None:
    """Check what types cannot express: references lead to something, and names are unique.

    Raises:
        SeedError: Something is named that does not exist, or is named twice.
    """
    if not seed.repositories:
        raise SeedError("The seed has no repository, so nothing could be done; give it one.")
    if not seed.tokens:
        raise SeedError("The seed has no token, so nobody could log in; give it one.")
    _demand_words(seed)
    people = [user.login.lower() for user in seed.users]
    owners = [*people, *(organization.login.lower() for organization in seed.organizations)]
    _demand_once("user or organization", owners)
    _demand_once("token", [token.token for token in seed.tokens], shown=_masked)
    for token in seed.tokens:
        _demand_known(token.user.lower(), set(people), f"A token is for {token.user!r}", "user")
    _demand_once("repository", [repo.name.lower() for repo in seed.repositories])
    for repo in seed.repositories:
        _demand_repository(repo, set(owners))
    numbers = {
        repo.name.lower(): {issue.number for issue in _numbered(repo)} for repo in seed.repositories
    }
    boards = [f"{board.owner or ''}/{board.number}".lower() for board in seed.projects]
    _demand_once("board", boards)
    for project in seed.projects:
        _demand_board(project, numbers, seed.repositories[0].name.lower())


def _numbered(repo: SeedRepository) -> list[SeedIssue | SeedPull]:
    """The issues and pull requests of a repository, which share one numbering."""
    return [*repo.issues, *repo.pulls]


LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(\[bot\])?")
NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]+")
REF = re.compile(r"refs/(?!.*(?:\.\.|@\{|//|/\.|\.lock(?:/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![/.])")
"""A name that git accepts for a ref: https://git-scm.com/docs/git-check-ref-format."""
LAGS = {"pulls", "issues", "comments", "items", "reads"}


def _demand_words(seed: Seed) -> None:
    """Raise SeedError for names that GitHub would not accept, numbers below 1, and files outside."""
    logins = [user.login for user in seed.users] + [
        organization.login for organization in seed.organizations
    ]
    for login in logins:
        if not LOGIN.fullmatch(login):
            raise SeedError(f"{login!r} is no login: it takes letters, digits and hyphens.")
    for repo in seed.repositories:
        for issue in _numbered(repo):
            if issue.number < 1 or not issue.title.strip():
                raise SeedError(
                    f"The issue {issue.number} of {repo.name} needs a number from 1 and a title."
                )
        for path in repo.files:
            if path.startswith("/") or {"..", ".git", ""} & set(path.split("/")):
                raise SeedError(f"{repo.name} has a file {path!r}, which git would not take.")
    for token in seed.tokens:
        _demand_granted(seed, token)
    unknown = sorted(set(seed.lag) - LAGS)
    if unknown:
        raise SeedError(f"The lag {unknown[0]!r} is none; there are {', '.join(sorted(LAGS))}.")


def _demand_granted(seed: Seed, token: SeedToken) -> None:
    """Raise SeedError for an App's token with a permission that the App itself does not have."""
    app = next((candidate for candidate in seed.apps if candidate.slug == token.app), None)
    if app is None or not app.permissions:
        return
    for scope in token.scopes:
        name, _, level = scope.partition(":")
        if app.permissions.get(name) not in {level, "write", "admin"}:
            raise SeedError(
                f"The token {_masked(token.token)!r} has the permission {scope}, which its App "
                f"{app.slug} does not have; give it to the App, or take it from the token."
            )


def _masked(token: str) -> str:
    return f"{token[:4]}…"


def _demand_repository(repo: SeedRepository, owners: set[str]) -> None:
    owner, slash, name = repo.name.partition("/")
    if not (owner and slash and NAME.fullmatch(name)):
        raise SeedError(f"The repository {repo.name!r} needs a name of the form owner/name.")
    if repo.fork_of and repo.fork_of.lower() == repo.name.lower():
        raise SeedError(f"The repository {repo.name} cannot be a fork of itself.")
    _demand_known(owner.lower(), owners, f"The repository {repo.name} is of {owner!r}", "owner")
    _demand_once(f"issue of {repo.name}", [entry.number for entry in _numbered(repo)])
    _demand_refs(repo)
    _demand_once(f"label of {repo.name}", [label.name.lower() for label in repo.labels])
    milestones = {milestone.number for milestone in repo.milestones}
    for issue in _numbered(repo):
        people = [*issue.assignees, *([issue.author] if issue.author else [])]
        people += [comment.author for comment in issue.comments]
        for login in people:
            place = f"Issue {issue.number} of {repo.name} names {login!r}"
            _demand_known(login.lower(), owners, place, "user")
        if issue.milestone is not None:
            place = f"Issue {issue.number} of {repo.name} is for milestone {issue.milestone}"
            _demand_known(issue.milestone, milestones, place, "milestone")
    for check in repo.plans:
        if (check.name is None) == (check.context is None):
            raise SeedError(
                "A check needs a name (a check run) or a context (a status), and only one of them."
            )


def _demand_refs(repo: SeedRepository) -> None:
    """Raise SeedError for a ref that git would not accept, a duplicate, or one with others below it."""
    _demand_once(f"ref of {repo.name}", [ref.name for ref in repo.refs])
    names = [f"refs/heads/{branch.name}" for branch in repo.branches] + [
        ref.name for ref in repo.refs
    ]
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    for name in names:
        if not REF.fullmatch(name):
            raise SeedError(f"{repo.name} has a ref {name!r}, which git would not take.")
        if name in folders:
            raise SeedError(f"{repo.name} has a ref {name!r} and others below it; git takes one.")


def _demand_board(project: SeedProject, numbers: dict[str, set[int]], home: str) -> None:
    columns = {column.name: column for column in project.fields}
    _demand_once("field", [column.name for column in project.fields])
    for item in project.items:
        place = f"An item of project {project.number}"
        if (item.issue is None) == (item.draft is None):
            raise SeedError(f"{place} needs an issue or a draft, and only one of them.")
        if item.issue is not None:
            repository = (item.repository or home).lower()
            _demand_known(repository, set(numbers), f"{place} is of {repository!r}", "repository")
            _demand_known(
                item.issue, numbers[repository], f"{place} is for issue {item.issue}", "issue"
            )
        _demand_values(item, columns)
    cards = [
        ((card.repository or home).lower(), card.issue) for card in project.items if card.issue
    ]
    _demand_once("item of issue", [f"{name}#{number}" for name, number in cards])


def _demand_values(item: SeedItem, columns: dict[str, SeedField]) -> None:
    for name, value in item.values.items():
        place = f"The item of issue {item.issue} sets {name!r}"
        _demand_known(name, set(columns), place, "field")
        column = columns[name]
        if column.type == "SINGLE_SELECT":
            options = {
                option if isinstance(option, str) else option.name for option in column.options
            }
            _demand_known(value, options, f"{place} to {value!r}", "option")
        elif column.type == "ITERATION":
            titles = {iteration.title for iteration in column.iterations}
            _demand_known(value, titles, f"{place} to {value!r}", "iteration")
        elif column.type not in WRITABLE:
            raise SeedError(f"{place}, which the issue itself gives; remove it.")


def _demand_known(value: object, known: set[Any], place: str, kind: str) -> None:
    if value not in known:
        raise SeedError(f"{place}, but the seed has no such {kind}.")


def _demand_once(
    kind: str, names: Iterable[Any], *, shown: Callable[[Any], Any] = lambda name: name
) -> None:
    """Raise SeedError for a duplicate name; `shown` makes the form of a name for the sentence."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise SeedError(f"The seed has the {kind} {shown(twice)!r} twice.")
