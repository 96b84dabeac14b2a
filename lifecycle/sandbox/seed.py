"""Seed files: what a world begins with, and every mistake that a seed can hold.

Rule: a seed is read whole before anything is made, and a mistake is one sentence that names its
place. An unknown key is a mistake too: silently ignoring it would give another world than asked.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from lifecycle.sandbox.errors import SeedError
from lifecycle.sandbox.state.accounts import OwnerKind, Role, TokenKind
from lifecycle.sandbox.state.checks import PlannedCheck

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SeedRepository:
    """The repository and the files of its first commit (path to text)."""

    owner: str
    name: str
    owner_kind: OwnerKind = "organization"
    default_branch: str = "main"
    description: str = ""
    files: dict[str, str] = field(default_factory=lambda: {"README.md": "# Hello\n"})


@dataclass(frozen=True, slots=True)
class SeedUser:
    """Somebody with a role on the repository."""

    login: str
    name: str | None = None
    role: Role = "write"


@dataclass(frozen=True, slots=True)
class SeedToken:
    """A token of a user: OAuth scopes if classic, else `name:level` permissions.

    One of kind `app` is like that of Actions: `user` is the bot that acts, and nobody logs in.
    """

    token: str
    user: str
    scopes: list[str]
    kind: TokenKind = "classic"


@dataclass(frozen=True, slots=True)
class SeedIssue:
    """An issue that is there from the beginning."""

    number: int
    title: str
    body: str | None = None
    author: str | None = None
    labels: list[str] = field(default_factory=list)
    assignees: list[str] = field(default_factory=list)
    state: Literal["open", "closed"] = "open"
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None


@dataclass(frozen=True, slots=True)
class SeedField:
    """A column of the board; only a SINGLE_SELECT has options."""

    name: str
    type: Literal["TITLE", "ASSIGNEES", "TEXT", "SINGLE_SELECT"]
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SeedItem:
    """A card: the issue's number and its values by field name."""

    issue: int
    values: dict[str, str] = field(default_factory=dict)
    archived: bool = False


@dataclass(frozen=True, slots=True)
class SeedProject:
    """The board, whose owner is the repository's unless named."""

    number: int
    title: str
    fields: list[SeedField]
    items: list[SeedItem] = field(default_factory=list)
    owner: str | None = None
    owner_kind: OwnerKind | None = None


@dataclass(frozen=True, slots=True)
class Seed:
    """A whole world. The first token is the one that the sandbox hands out."""

    repository: SeedRepository
    users: list[SeedUser]
    tokens: list[SeedToken]
    issues: list[SeedIssue] = field(default_factory=list)
    project: SeedProject | None = None
    checks: list[PlannedCheck] = field(default_factory=list)


def default_seed() -> Seed:
    """The built-in world: `octo-org/hello-service` and its board."""
    text = files("lifecycle.sandbox").joinpath("seeds/hello_service.json").read_text("utf-8")
    return parse_seed(text)


def read_seed(path: Path) -> Seed:
    """Read a seed file.

    Raises:
        SeedError: It cannot be read, is not JSON, or does not describe a world.
    """
    try:
        return parse_seed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SeedError(f"The seed file {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SeedError(f"The seed file {path} is not UTF-8 text.") from None


def parse_seed(text: str) -> Seed:
    """Read a seed from JSON text.

    Raises:
        SeedError: It is not JSON, or does not describe a world.
    """
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SeedError(f"The seed is not valid JSON: {error}.") from None
    seed: Seed = shaped(raw, Seed, "the seed")
    _demand_sense(seed)
    return seed


def shaped(raw: Any, kind: Any, place: str) -> Any:
    """Turn decoded JSON into a dataclass (or a list, dict, literal or scalar), or say why not.

    Raises:
        SeedError: A key is unknown or missing, or a value is of another type.
    """
    origin, options = get_origin(kind), get_args(kind)
    if origin in {Union, type(int | str)}:
        fits = [o for o in options if isinstance(o, type) and isinstance(raw, o)]
        return raw if fits else shaped(raw, options[0], place)
    if origin is Literal:
        if raw not in options:
            allowed = ", ".join(json.dumps(option) for option in options)
            raise SeedError(f"{_begin(place)} is {_brief(raw)}, but has to be one of {allowed}.")
        return raw
    if origin is list:
        _demand_type(raw, list, place, "a list")
        return [shaped(one, options[0], f"{place}[{n}]") for n, one in enumerate(raw)]
    if origin is dict:
        _demand_type(raw, dict, place, "an object")
        return {key: shaped(one, options[1], f"{place}.{key}") for key, one in raw.items()}
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        return _object(raw, kind, place)
    if kind is float and isinstance(raw, int):
        raw = float(raw)
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    _demand_type(raw, kind, place, names[kind])
    return raw


def _object(raw: Any, kind: Any, place: str) -> Any:
    _demand_type(raw, dict, place, "an object")
    hints = get_type_hints(kind)
    unknown = sorted(raw.keys() - hints.keys())
    if unknown:
        known = ", ".join(hints)
        raise SeedError(f"{_begin(place)} has an unknown key {unknown[0]!r}; it may have {known}.")
    missing = [
        f.name
        for f in fields(kind)
        if f.name not in raw and f.default is MISSING and f.default_factory is MISSING
    ]
    if missing:
        raise SeedError(f"{_begin(place)} lacks the key {missing[0]!r}.")
    return kind(**{k: shaped(v, hints[k], f"{place}, {k}") for k, v in raw.items()})


def _demand_type(raw: Any, kind: type, place: str, name: str) -> None:
    if not isinstance(raw, kind) or (kind is int and isinstance(raw, bool)):
        raise SeedError(f"{_begin(place)} is {_brief(raw)}, but has to be {name}.")


def _begin(place: str) -> str:
    return place[0].upper() + place[1:]


def _brief(raw: Any) -> str:
    text = json.dumps(raw)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _demand_sense(seed: Seed) -> None:
    """What types cannot say: references point to something, and names are there once."""
    logins = {user.login.lower() for user in seed.users}
    if not seed.tokens:
        raise SeedError("The seed has no token, so nobody could log in; give it one.")
    for token in seed.tokens:
        _demand_known(token.user.lower(), logins, f"A token is for {token.user!r}", "user")
    for issue in seed.issues:
        people = [*issue.assignees, *([issue.author] if issue.author else [])]
        for login in people:
            _demand_known(login.lower(), logins, f"Issue {issue.number} names {login!r}", "user")
    _demand_once("issue", [issue.number for issue in seed.issues])
    _demand_once("user", [user.login.lower() for user in seed.users])
    for check in seed.checks:
        if (check.name is None) == (check.context is None):
            raise SeedError(
                "A check needs a name (a check run) or a context (a status), and only one of them."
            )
    if seed.project:
        _demand_board(seed.project, {issue.number for issue in seed.issues})


def _demand_board(project: SeedProject, numbers: set[int]) -> None:
    columns = {column.name: column for column in project.fields}
    _demand_once("field", [column.name for column in project.fields])
    _demand_once("item of issue", [item.issue for item in project.items])
    for item in project.items:
        _demand_known(item.issue, numbers, f"An item is for issue {item.issue}", "issue")
        for name, value in item.values.items():
            place = f"The item of issue {item.issue} sets {name!r}"
            _demand_known(name, set(columns), place, "field")
            column = columns[name]
            if column.type == "SINGLE_SELECT":
                _demand_known(value, set(column.options), f"{place} to {value!r}", "option")
            elif column.type != "TEXT":
                raise SeedError(f"{place}, which the issue itself gives; remove it.")


def _demand_known(value: object, known: set[Any], place: str, kind: str) -> None:
    if value not in known:
        raise SeedError(f"{place}, but the seed has no such {kind}.")


def _demand_once(kind: str, names: list[Any]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SeedError(f"The seed has the {kind} {twice!r} twice.")
