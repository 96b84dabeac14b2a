"""From an error of graphql-core to the message and code that GitHub gives for it.

GitHub's server words such errors in a way of its own, with a code that clients look at: see
https://github.com/microsoft/vscode-pull-request-github/issues/6738 (`undefinedField`,
`variableNotUsed`), https://github.com/octokit/graphql-action/issues/219 (a variable's value) and
https://github.com/microsoft/azure-pipelines-tasks/pull/11764 (an argument's). What GitHub has and
the sandbox has not is never called undefined: the error then names the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    ArgumentNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    Node,
    OperationDefinitionNode,
    print_ast,
)

from lifecycle.sandbox.wire.graph.schema import known
from lifecycle.sandbox.wire.graph.schema.known import schema

Found = re.Match[str]


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, GitHub's code for it, and what else its `extensions` hold."""

    message: str
    code: str
    more: dict[str, Any] = field(default_factory=dict)


def _not_imitated(what: str) -> Words:
    return Words(f"The sandbox does not imitate {what} of GitHub's schema.", "notImitated")


def _field(found: Found) -> Words:
    kind, name = found["type"], found["field"]
    if known.is_field(kind, name):
        return _not_imitated(f"the field '{kind}.{name}'")
    more = {"typeName": kind, "fieldName": name}
    return Words(f"Field '{name}' doesn't exist on type '{kind}'", "undefinedField", more)


def _argument(found: Found) -> Words:
    kind, name, argument = found["type"], found["field"], found["argument"]
    if known.is_argument(kind, name, argument):
        return _not_imitated(f"the argument '{argument}' of '{kind}.{name}'")
    more = {"name": name, "typeName": "Field", "argumentName": argument}
    words = f"Field '{name}' doesn't accept argument '{argument}'"
    return Words(words, "argumentNotAccepted", more)


def _input_field(found: Found) -> Words:
    kind, name = found["type"], found["field"]
    if known.is_field(kind, name):
        return _not_imitated(f"the field '{name}' of the input '{kind}'")
    more = {"name": kind, "typeName": "InputObject", "argumentName": name}
    words = f"InputObject '{kind}' doesn't accept argument '{name}'"
    return Words(words, "argumentNotAccepted", more)


def _type(found: Found) -> Words:
    kind = found["type"]
    if known.is_type(kind):
        return _not_imitated(f"the type '{kind}'")
    words = f"No such type {kind}, so it can't be a fragment condition"
    return Words(words, "undefinedType", {"typeName": kind})


def _needs_selection(found: Found) -> Words:
    name, kind = found["field"], found["type"]
    bare = kind.strip("[]!")
    words = (
        f"Field must have selections (field '{name}' returns {bare} but has no selections. "
        f"Did you mean '{name} {{ ... }}'?)"
    )
    return Words(words, "selectionMismatch", {"nodeName": f"field '{name}'", "typeName": bare})


def _has_selection(found: Found) -> Words:
    name, kind = found["field"], found["type"].strip("[]!")
    words = f"Selections can't be made on scalars (field '{name}' returns {kind} but has selections"
    more = {"nodeName": f"field '{name}'", "typeName": kind}
    return Words(f"{words})", "selectionMismatch", more)


def _missing_argument(found: Found) -> Words:
    name, argument = found["field"], found["argument"]
    words = f"Field '{name}' is missing required arguments: {argument}"
    more = {"className": "Field", "name": name, "arguments": argument}
    return Words(words, "missingRequiredArguments", more)


def _missing_input(found: Found) -> Words:
    name, kind, expected = found["field"], found["type"], _type_of_input(found)
    words = f"Argument '{name}' on InputObject '{kind}' is required. Expected type {expected}"
    more = {"argumentName": name, "argumentType": expected, "inputObjectType": kind}
    return Words(words, "missingRequiredInputObjectAttribute", more)


def _type_of_input(found: Found) -> str:
    """The type of an input object's field, as it is written in the schema."""
    fields = getattr(schema().type_map.get(found["type"]), "fields", {})
    return str(fields[found["field"]].type) if found["field"] in fields else found["type"]


def _unused_variable(found: Found) -> Words:
    name, operation = found["name"], found["operation"] or "anonymous query"
    words = f"Variable ${name} is declared by {operation} but not used"
    return Words(words, "variableNotUsed", {"variableName": name})


def _undefined_variable(found: Found) -> Words:
    name, operation = found["name"], found["operation"] or "anonymous query"
    words = f"Variable ${name} is used by {operation} but not declared"
    return Words(words, "variableNotDefined", {"variableName": name})


def _unused_fragment(found: Found) -> Words:
    name = found["name"]
    words = f"Fragment {name} was defined, but not used"
    return Words(words, "useAndDefineFragment", {"fragmentName": name})


def _undefined_fragment(found: Found) -> Words:
    name = found["name"]
    words = f"Fragment {name} was used, but not defined"
    return Words(words, "useAndDefineFragment", {"fragmentName": name})


def _impossible(found: Found) -> Words:
    name = f" {found['name']}" if found["name"] else ""
    parent, kind = found["parent"], found["type"]
    words = f"Fragment{name} on {kind} can't be spread inside {parent}"
    more = {"typeName": kind, "fragmentName": found["name"] or "unknown", "parentName": parent}
    return Words(words, "cannotSpreadFragment", more)


UNKNOWN_INPUT = (
    r"(?:Variable '.*': )?Expected value of type '(?P<type>\w+)' not to include unknown field "
    r"'(?P<field>\w+)'"
)
IMPOSSIBLE = (
    r"Fragment (?:'(?P<name>\w+)' )?cannot be spread here as objects of type '(?P<parent>\w+)' "
    r"can never be of type '(?P<type>\w+)'"
)
VALUE = re.compile(
    r"Variable '\$(?P<name>\w+)' has invalid value(?: at (?P<path>\S+))?: (?P<reason>.*)", re.DOTALL
)
NOT_NULL = "Expected value to not be null"
OPERATION = r"(?: (?:in|by) operation '(?P<operation>\w+)')?\."
TABLE: tuple[tuple[re.Pattern[str], Callable[[Found], Words]], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"Cannot query field '(?P<field>\w+)' on type '(?P<type>\w+)'", _field),
        (
            r"Unknown argument '(?P<argument>\w+)' on field '(?P<type>\w+)\.(?P<field>\w+)'",
            _argument,
        ),
        (UNKNOWN_INPUT, _input_field),
        (r"Unknown type '(?P<type>\w+)'", _type),
        (
            r"Field '(?P<field>\w+)' of type '(?P<type>[^']+)' must have a selection",
            _needs_selection,
        ),
        (
            r"Field '(?P<field>\w+)' must not have a selection since type '(?P<type>[^']+)'",
            _has_selection,
        ),
        (
            r"Argument '(?P<type>\w+)\.(?P<field>\w+)\((?P<argument>\w+):\)' of type '[^']+' is required",
            _missing_argument,
        ),
        (
            r"Expected value of type '(?P<type>\w+)' to include required field '(?P<field>\w+)'",
            _missing_input,
        ),
        (r"Variable '\$(?P<name>\w+)' is never used" + OPERATION, _unused_variable),
        (r"Variable '\$(?P<name>\w+)' is not defined" + OPERATION, _undefined_variable),
        (r"Fragment '(?P<name>\w+)' is never used", _unused_fragment),
        (r"Unknown fragment '(?P<name>\w+)'", _undefined_fragment),
        (IMPOSSIBLE, _impossible),
    )
)


def of_document(error: GraphQLError, document: DocumentNode | None) -> dict[str, Any]:
    """A validation error as GitHub answers it; words that are in no table stay graphql-core's."""
    answer: dict[str, Any] = {}
    node = error.nodes[0] if error.nodes else None
    if document is not None and node is not None:
        answer["path"] = list(_down_to(node, document))
    words = next((make(f) for rule, make in TABLE if (f := rule.match(error.message))), None)
    answer["locations"] = places(error)
    return answer | (_as_answer(words) if words else {"message": error.message})


def places(error: GraphQLError) -> list[dict[str, int]]:
    """Where in the text an error is."""
    return [{"line": one.line, "column": one.column} for one in error.locations or ()]


def of_variable(
    error: GraphQLError, operation: OperationDefinitionNode, given: Mapping[str, Any]
) -> dict[str, Any]:
    """An error about a variable's value: which one, its type, and what is the matter with it."""
    found = VALUE.match(error.message)
    definitions = {d.variable.name.value: d for d in operation.variable_definitions or ()}
    node = definitions.get(found["name"]) if found else None
    if found is None or node is None:
        return of_document(error, None)
    unknown = re.match(UNKNOWN_INPUT, found["reason"])
    if unknown and known.is_field(unknown["type"], unknown["field"]):
        return {"locations": places(error), **_as_answer(_input_field(unknown))}
    path: list[int | str] = [
        int(part) if part.isdecimal() else part for part in re.findall(r"\w+", found["path"] or "")
    ]
    reason = _reason(found["reason"])
    if unknown:
        path.append(unknown["field"])
        reason = f"Field is not defined on {unknown['type']}"
    elif missing := re.match(r".* to include required field '(\w+)'", found["reason"]):
        path.append(missing[1])
        reason = NOT_NULL
    tail = f" for {'.'.join(map(str, path))} ({reason})" if path else ""
    problem = {"path": path, "explanation": reason}
    return {
        "extensions": {"value": given.get(found["name"]), "problems": [problem]},
        "locations": places(error),
        "message": f"Variable ${found['name']} of type {print_ast(node.type)} was provided "
        f"invalid value{tail}",
    }


def _as_answer(words: Words) -> dict[str, Any]:
    return {"extensions": {"code": words.code, **words.more}, "message": words.message}


def _reason(text: str) -> str:
    """What is the matter with a value."""
    if "of non-null type" in text:
        return NOT_NULL
    kind = re.match(r"(\w+) cannot represent .*?: (.*)", text)
    if kind:
        value = kind[2].strip("'\"")
        return f'Could not coerce value "{value}" to {kind[1]}'
    choice = re.match(r"Value '(.*?)' does not exist in '(\w+)' enum", text)
    if choice:
        values = getattr(schema().type_map.get(choice[2]), "values", {})
        return f'Expected "{choice[1]}" to be one of: {", ".join(values)}'
    return text


def _down_to(node: Node, top: DocumentNode) -> Iterator[str]:
    """The names on the way from the top of a document to a node of it, as GitHub writes paths."""
    if node.loc is None:
        return
    here: Any = top
    while here is not None:
        parts = _parts(here)
        here = next(
            (
                p
                for p in parts
                if p.loc and p.loc.start <= node.loc.start and node.loc.end <= p.loc.end
            ),
            None,
        )
        if here is not None:
            yield _name(here)


def _parts(node: Any) -> list[Any]:
    if not isinstance(node, (FieldNode, FragmentSpreadNode, InlineFragmentNode)) and not hasattr(
        node, "selection_set"
    ):
        return list(getattr(node, "definitions", ()))
    selections = getattr(node, "selection_set", None)
    return [
        *(getattr(node, "arguments", None) or ()),
        *(selections.selections if selections else ()),
    ]


def _name(node: Any) -> str:
    if isinstance(node, FieldNode):
        return str((node.alias or node.name).value)
    if isinstance(node, OperationDefinitionNode):
        return f"{node.operation.value} {node.name.value}" if node.name else node.operation.value
    if isinstance(node, FragmentDefinitionNode):
        return f"fragment {node.name.value}"
    if isinstance(node, InlineFragmentNode):
        return f"... on {node.type_condition.name.value}" if node.type_condition else "..."
    if isinstance(node, ArgumentNode):
        return str(node.name.value)
    return f"... {node.name.value}"
