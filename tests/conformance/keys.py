"""Which keys and headers real answers have and the sandbox's lack, and the reverse.

Recordings since 2022 count as they are. Older ones count only for keys that GitHub documents today,
since it has dropped some.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from tests.conformance.reasons import RECENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.conformance.exchange import Exchange
    from tests.conformance.openapi import RestOracle
    from tests.conformance.recordings import Recorded

Kind = Literal["lacks", "adds", "lacks header", "adds header"]
ITEM = "*"
"""Stands for each item of a list in the path of a key."""
SHORTENED = "…"
ENOUGH = 3
"""With so many recent recordings of a call, older ones say nothing of what it has today."""
OF_TOKEN = frozenset(
    {"x-oauth-scopes", "x-accepted-oauth-scopes", "x-oauth-client-id",
     "x-accepted-github-permissions", "github-authentication-token-expiration"}
)  # fmt: skip
"""Headers that tell of the token with which somebody recorded, whatever the call."""


@dataclass(slots=True)
class Shape:
    """What bodies consist of: the paths of their keys, and the paths of the objects among them."""

    keys: set[tuple[str, ...]] = field(default_factory=set)
    objects: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, value: Any, path: tuple[str, ...] = ()) -> None:
        """Take in a body."""
        if isinstance(value, dict):
            path += _kind_of_event(value)
            self.objects.add(path)
            for key, inner in value.items():
                self.keys.add((*path, key))
                self.add(inner, (*path, key))
        elif isinstance(value, list):
            for inner in value:
                self.add(inner, (*path, ITEM))


def _kind_of_event(value: dict[str, Any]) -> tuple[str, ...]:
    """A step for what an issue's event is: each kind has keys of its own. A run has an event, too."""
    kind = value.get("event")
    is_event = isinstance(kind, str) and "workflow_id" not in value
    return (f"[{kind}]",) if is_event else ()


@dataclass(slots=True)
class Seen:
    """Answers of one call with one status: their bodies' shape and their headers."""

    recent: Shape = field(default_factory=Shape)
    older: Shape = field(default_factory=Shape)
    headers: set[str] = field(default_factory=set)
    count: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """What the sandbox's answers have less or more than real ones.

    Attributes:
        call: Method, template and status.
        kind: Whether it is a key or a header, and who has it.
        name: The key's path, with `*` for items of lists; or the header, in lower case.
    """

    call: str
    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table in FIDELITY.md; call and name may hold `*`."""

    call: str
    kind: str
    name: str
    why: str

    def covers(self, one: Difference) -> bool:
        """Whether this line explains a difference, or a part of it: `a` covers `a/b`."""
        name = self.name.replace("[", "[[]")  # a bracket means nothing special
        return (
            self.kind == one.kind
            and fnmatchcase(one.call, _pattern(self.call))
            and (fnmatchcase(one.name, name) or fnmatchcase(one.name, f"{name}/*"))
        )


def _pattern(call: str) -> str:
    """A call as a pattern; without a status it means any."""
    return call if re.search(r" \d+$", call) else f"{call} *"


def of_recordings(oracle: RestOracle, recorded: Iterable[Recorded]) -> dict[str, Seen]:
    """Real answers by call and status. Bodies that somebody shortened say nothing about keys."""
    found: dict[str, Seen] = defaultdict(Seen)
    for one in recorded:
        operation = oracle.find(one.exchange.method, one.exchange.path) if one.is_api else None
        if operation is None or SHORTENED in one.exchange.text:
            continue
        seen = found[f"{operation} {one.exchange.status}"]
        is_recent = one.year >= RECENT
        _take(seen.recent if is_recent else seen.older, one.exchange)
        seen.count += is_recent
        if is_recent:
            seen.headers |= one.exchange.headers.keys()
    return found


def of_answers(oracle: RestOracle, answers: Iterable[Exchange]) -> dict[str, Seen]:
    """The sandbox's answers by call and status."""
    found: dict[str, Seen] = defaultdict(Seen)
    for one in answers:
        operation = oracle.find(one.method, one.path)
        if operation is not None:
            seen = found[f"{operation} {one.status}"]
            _take(seen.recent, one)
            seen.headers |= one.headers.keys()
            seen.count += 1
    return found


def _take(shape: Shape, exchange: Exchange) -> None:
    if exchange.is_json and exchange.text:
        try:
            shape.add(exchange.body())
        except ValueError:
            return  # half a body: the other oracle says so


def differences(
    oracle: RestOracle, real: dict[str, Seen], ours: dict[str, Seen]
) -> list[Difference]:
    """Every difference on calls of which there are recordings, in order."""
    found: list[Difference] = []
    for call, mine in ours.items():
        theirs = real.get(call)
        if theirs is None:
            continue
        method, template, status = call.split(" ")
        operation = oracle.operation(template, method)
        assert operation is not None  # it was found before
        schema = oracle.schema(operation, int(status))
        found += _of_keys(oracle, call, schema, theirs, mine)
        if theirs.count:
            lacked, added = theirs.headers - mine.headers, mine.headers - theirs.headers
            found += [Difference(call, "lacks header", name) for name in lacked - OF_TOKEN]
            found += [Difference(call, "adds header", name) for name in added - OF_TOKEN]
    return sorted(found)


def _of_keys(
    oracle: RestOracle, call: str, schema: Any, theirs: Seen, mine: Seen
) -> Iterator[Difference]:
    known = {key for key in theirs.older.keys if is_documented(oracle, schema, key)}
    for key in theirs.recent.keys | (known if theirs.count < ENOUGH else set()):
        if key not in mine.recent.keys and key[:-1] in mine.recent.objects:
            yield Difference(call, "lacks", "/".join(key))
    everywhere = theirs.recent.keys | theirs.older.keys
    for key in mine.recent.keys - everywhere:
        is_seen = key[:-1] in theirs.recent.objects | theirs.older.objects
        if is_seen and not is_documented(oracle, schema, key):
            yield Difference(call, "adds", "/".join(key))


def invented(
    oracle: RestOracle, real: dict[str, Seen], answers: Iterable[Exchange]
) -> set[Difference]:
    """Keys of ours that neither GitHub's description nor a recent recording of the call has."""
    found = set()
    for one in answers:
        call = f"{oracle.find(one.method, one.path)} {one.status}"
        known = real[call].recent.keys if call in real else set()
        for name in undocumented(oracle, one):
            if tuple(name.split("/")) not in known:
                found.add(Difference(call, "adds", name))
    return found


def undocumented(oracle: RestOracle, exchange: Exchange) -> list[str]:
    """Keys of an answer that GitHub's description does not have at their place."""
    operation = oracle.find(exchange.method, exchange.path)
    schema = oracle.schema(operation, exchange.status) if operation else None
    if schema is None or not exchange.is_json or not exchange.text:
        return []
    shape = Shape()
    shape.add(exchange.body())
    strange = {key for key in shape.keys if not is_documented(oracle, schema, key)}
    return sorted("/".join(key) for key in strange if not _prefixes(key) & strange)


def _prefixes(key: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {key[:n] for n in range(1, len(key))}


def is_documented(oracle: RestOracle, schema: Any, key: tuple[str, ...]) -> bool:
    """Whether a description knows a key. It knows any where it only says `object`."""
    places = [schema or {}]
    for step in key:
        if step.startswith("["):  # a kind of event, of which the description has choices
            continue
        places = [inner for place in places for inner in _inside(oracle, place, step)]
    return bool(places)


def _inside(oracle: RestOracle, schema: Any, step: str) -> Iterator[Any]:
    if "$ref" in schema:
        yield from _inside(oracle, oracle.resolved(schema), step)
        return
    for choice in ("allOf", "anyOf", "oneOf"):
        for one in schema.get(choice, ()):
            yield from _inside(oracle, one, step)
    if step == ITEM:
        if "items" in schema:
            yield schema["items"]
        elif _is_open(schema):
            yield {}
    elif step in schema.get("properties", {}):
        yield schema["properties"][step]
    elif isinstance(extra := schema.get("additionalProperties"), dict):
        yield extra
    elif extra is True or _is_open(schema):
        yield {}


def _is_open(schema: Any) -> bool:
    """Whether a schema says nothing about an object's keys."""
    said = {"properties", "items", "allOf", "anyOf", "oneOf", "additionalProperties", "enum"}
    return schema.get("type", "object") == "object" and not said & schema.keys()


TABLE = re.compile(r"<!-- differences -->(?P<table>.*?)<!-- /differences -->", re.DOTALL)


def rows(fidelity: str) -> list[Row]:
    """The lines of the table in FIDELITY.md."""
    match = TABLE.search(fidelity)
    if match is None:
        return []
    cells = [
        [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        for line in match["table"].splitlines()
        if line.startswith("|")
    ]
    return [Row(*line) for line in cells[2:]]
