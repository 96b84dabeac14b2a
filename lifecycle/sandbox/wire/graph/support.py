"""Find out which of GitHub's GraphQL fields and arguments are supported, from the subjects' tables.

Only these tables say what is supported; they are in the subjects' files (`graph.py`, `graph_changes.py`
and so on). Each file may have three:

- `RESOLVERS`: type to field to the function that reads it, called with the call, the object, and
  the field's arguments by their GraphQL names. An argument is supported if the function names it,
  or, if the function accepts any (`**`), if the key names it: `"issues(labels, states)"`. The
  arguments of a page (`first`, `last`, `after`, `before`) and required ones need not be named.
- `PLAIN`: type to the fields, separated by spaces, that are a key or attribute of the same name,
  in an attribute with `_`; `resourcePath` is the `url` without the host (`types.py`).
- `INPUTS`: input type to the accepted fields, separated by spaces. Required ones and
  `clientMutationId` need not be named.

The parts of a page of a list (`nodes`, `edges`, `pageInfo`, `totalCount`) are supported everywhere.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

PAGING = frozenset({"first", "last", "after", "before"})
KEY = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>[\w, ]*)\))?")


@dataclass(frozen=True, slots=True)
class FieldTables:
    """The subjects' tables, combined.

    Attributes:
        resolvers: The function of a field, by type and name.
        fields: The arguments of each supported field, by type and name.
        inputs: The supported fields of each input type.
    """

    resolvers: dict[str, dict[str, Callable[..., Any]]] = field(default_factory=dict)
    fields: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    inputs: dict[str, frozenset[str]] = field(default_factory=dict)


def put_together(subjects: Iterable[ModuleType]) -> FieldTables:
    """Read the tables of these subjects.

    Raises:
        ValueError: A key is not a field's name, with or without its arguments in parentheses.
    """
    tables = FieldTables()
    for subject in subjects:
        for kind, resolvers in getattr(subject, "RESOLVERS", {}).items():
            for key, resolver in resolvers.items():
                name, arguments = _read(key)
                tables.resolvers.setdefault(kind, {})[name] = resolver
                tables.fields.setdefault(kind, {})[name] = arguments | _named(resolver)
        for kind, names in getattr(subject, "PLAIN", {}).items():
            for name in names.split():
                tables.fields.setdefault(kind, {}).setdefault(name, frozenset())
        for kind, names in getattr(subject, "INPUTS", {}).items():
            tables.inputs[kind] = tables.inputs.get(kind, frozenset()) | set(names.split())
    return tables


def _read(key: str) -> tuple[str, frozenset[str]]:
    match = KEY.fullmatch(key)
    if match is None:
        raise ValueError(f"{key!r} is no field: write its name, or name(argument, argument).")
    return match["name"], frozenset(re.findall(r"\w+", match["arguments"] or ""))


def _named(resolver: Callable[..., Any]) -> frozenset[str]:
    """The arguments that a resolver names, without the first two, call and object, which all have."""
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    parameters = list(inspect.signature(resolver).parameters.values())
    leading = [
        parameter for parameter in parameters if parameter.kind is inspect.Parameter.VAR_POSITIONAL
    ]
    own = parameters if leading else parameters[2:]
    return frozenset(parameter.name for parameter in own if parameter.kind in kinds)
