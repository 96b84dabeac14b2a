"""Turn an error of graphql-core into GitHub's message and code for it.

GitHub's server has its own words for such errors, with a code that clients use: see
https://github.com/microsoft/vscode-pull-request-github/issues/6738 (`undefinedField`,
`variableNotUsed`), https://github.com/octokit/graphql-action/issues/219 (a variable's value) and
https://github.com/microsoft/azure-pipelines-tasks/pull/11764 (an argument's). A name that GitHub has and
the sandbox lacks is never called undefined: the error then names the sandbox.
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


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, GitHub's code for it, and further values of its `extensions`."""

    message: str
    code: str
    more: dict[str, Any] = field(default_factory=dict)


def _not_imitated(match: re.Match[str]) -> str:
    """The type, field or argument that only the sandbox lacks; "" if GitHub lacks it, too."""
    kind, name, argument = (match.groupdict().get(key) for key in ("type", "field", "argument"))
    if kind and name and argument:
        is_there = known.is_argument(kind, name, argument)
        return f"the argument '{argument}' of '{kind}.{name}'" if is_there else ""
    if kind and name:
        return f"the field '{kind}.{name}'" if known.is_field(kind, name) else ""
    return f"the type '{kind}'" if kind and known.is_type(kind) else ""


def _input_field(match: re.Match[str]) -> str:
    """The field of an input that only the sandbox lacks; "" if GitHub lacks it, too."""
    kind, name = match["type"], match["field"]
    return f"the field '{name}' of the input '{kind}'" if known.is_field(kind, name) else ""


@dataclass(frozen=True, slots=True)
class Rule:
    """GitHub's words for an error of graphql-core.

    Attributes:
        pattern: The error's message.
        message: GitHub's message, with the groups of the pattern in braces; `bare` is a type without
            `[]!`, `by` the operation, `expected` the type of an input's field.
        code: GitHub's code, in the `extensions`.
        more: Further values of these, in the same form.
        lacks: Names the subject of the message, if only the sandbox lacks it.
    """

    pattern: str
    message: str
    code: str
    more: Mapping[str, str]
    lacks: Callable[[re.Match[str]], str] = lambda _: ""

    def words(self, message: str) -> Words | None:
        """GitHub's words for an error; None if this rule is about another one."""
        match = re.match(self.pattern, message)
        if match is None:
            return None
        if part := self.lacks(match):
            return Words(f"The sandbox does not imitate {part} of GitHub's schema.", "notImitated")
        parts = {key: value or "" for key, value in match.groupdict().items()}
        parts["bare"] = parts.get("type", "").strip("[]!")
        parts["by"] = parts.get("operation") or "anonymous query"
        parts["expected"] = (
            _type_of_input(parts["type"], parts["field"]) if "field" in parts else ""
        )
        more = {key: text.format_map(parts) for key, text in self.more.items()}
        return Words(self.message.format_map(parts), self.code, more)


def _type_of_input(kind: str, name: str) -> str:
    """The type of an input object's field, as written in the schema."""
    fields = getattr(schema().type_map.get(kind), "fields", {})
    return str(fields[name].type) if name in fields else kind


VALUE = re.compile(
    r"Variable '\$(?P<name>\w+)' has invalid value(?: at (?P<path>\S+))?: (?P<reason>.*)", re.DOTALL
)
NOT_NULL = "Expected value to not be null"
OPERATION = r"(?: (?:in|by) operation '(?P<operation>\w+)')?\."
UNKNOWN_INPUT = Rule(
    r"(?:Variable '.*': )?Expected value of type '(?P<type>\w+)' not to include unknown field "
    r"'(?P<field>\w+)'",
    "InputObject '{type}' doesn't accept argument '{field}'", "argumentNotAccepted",
    {"name": "{type}", "typeName": "InputObject", "argumentName": "{field}"}, _input_field,
)  # fmt: skip
RULES = (
    Rule(
        r"Cannot query field '(?P<field>\w+)' on type '(?P<type>\w+)'",
        "Field '{field}' doesn't exist on type '{type}'", "undefinedField",
        {"typeName": "{type}", "fieldName": "{field}"}, _not_imitated,
    ),
    Rule(
        r"Unknown argument '(?P<argument>\w+)' on field '(?P<type>\w+)\.(?P<field>\w+)'",
        "Field '{field}' doesn't accept argument '{argument}'", "argumentNotAccepted",
        {"name": "{field}", "typeName": "Field", "argumentName": "{argument}"}, _not_imitated,
    ),
    UNKNOWN_INPUT,
    Rule(
        r"Unknown type '(?P<type>\w+)'",
        "No such type {type}, so it can't be a fragment condition", "undefinedType",
        {"typeName": "{type}"}, _not_imitated,
    ),
    Rule(
        r"Field '(?P<field>\w+)' of type '(?P<type>[^']+)' must have a selection",
        "Field must have selections (field '{field}' returns {bare} but has no selections. "
        "Did you mean '{field} {{ ... }}'?)", "selectionMismatch",
        {"nodeName": "field '{field}'", "typeName": "{bare}"},
    ),
    Rule(
        r"Field '(?P<field>\w+)' must not have a selection since type '(?P<type>[^']+)'",
        "Selections can't be made on scalars (field '{field}' returns {bare} but has selections)",
        "selectionMismatch", {"nodeName": "field '{field}'", "typeName": "{bare}"},
    ),
    Rule(
        r"Argument '(?P<type>\w+)\.(?P<field>\w+)\((?P<argument>\w+):\)' of type '[^']+' is required",
        "Field '{field}' is missing required arguments: {argument}", "missingRequiredArguments",
        {"className": "Field", "name": "{field}", "arguments": "{argument}"},
    ),
    Rule(
        r"Expected value of type '(?P<type>\w+)' to include required field '(?P<field>\w+)'",
        "Argument '{field}' on InputObject '{type}' is required. Expected type {expected}",
        "missingRequiredInputObjectAttribute",
        {"argumentName": "{field}", "argumentType": "{expected}", "inputObjectType": "{type}"},
    ),
    Rule(
        r"Variable '\$(?P<name>\w+)' is never used" + OPERATION,
        "Variable ${name} is declared by {by} but not used", "variableNotUsed",
        {"variableName": "{name}"},
    ),
    Rule(
        r"Variable '\$(?P<name>\w+)' is not defined" + OPERATION,
        "Variable ${name} is used by {by} but not declared", "variableNotDefined",
        {"variableName": "{name}"},
    ),
    Rule(
        r"Fragment '(?P<name>\w+)' is never used",
        "Fragment {name} was defined, but not used", "useAndDefineFragment",
        {"fragmentName": "{name}"},
    ),
    Rule(
        r"Unknown fragment '(?P<name>\w+)'",
        "Fragment {name} was used, but not defined", "useAndDefineFragment",
        {"fragmentName": "{name}"},
    ),
    Rule(
        r"Fragment '(?P<name>\w+)' cannot be spread here as objects of type '(?P<parent>\w+)' "
        r"can never be of type '(?P<type>\w+)'",
        "Fragment {name} on {type} can't be spread inside {parent}", "cannotSpreadFragment",
        {"typeName": "{type}", "fragmentName": "{name}", "parentName": "{parent}"},
    ),
    Rule(
        r"Fragment cannot be spread here as objects of type '(?P<parent>\w+)' "
        r"can never be of type '(?P<type>\w+)'",
        "Fragment on {type} can't be spread inside {parent}", "cannotSpreadFragment",
        {"typeName": "{type}", "fragmentName": "unknown", "parentName": "{parent}"},
    ),
)  # fmt: skip


def of_document(error: GraphQLError, document: DocumentNode | None) -> dict[str, Any]:
    """A validation error in GitHub's form; words that are in no table stay graphql-core's."""
    answer: dict[str, Any] = {}
    node = error.nodes[0] if error.nodes else None
    if document is not None and node is not None:
        answer["path"] = list(_down_to(node, document))
    words = next(filter(None, (rule.words(error.message) for rule in RULES)), None)
    answer["locations"] = places(error)
    return answer | (_as_answer(words) if words else {"message": error.message})


def places(error: GraphQLError) -> list[dict[str, int]]:
    """The lines and columns of an error in the text, in GraphQL's form."""
    return [{"line": place.line, "column": place.column} for place in error.locations or ()]


def of_variable(
    error: GraphQLError, operation: OperationDefinitionNode, values: Mapping[str, Any]
) -> dict[str, Any]:
    """GitHub's error for a variable's value: the variable, its type, and the reason."""
    match = VALUE.match(error.message)
    definitions = {d.variable.name.value: d for d in operation.variable_definitions or ()}
    node = definitions.get(match["name"]) if match else None
    if match is None or node is None:
        return of_document(error, None)
    unknown = re.match(UNKNOWN_INPUT.pattern, match["reason"])
    words = UNKNOWN_INPUT.words(match["reason"])
    if words and words.code == "notImitated":
        return {"locations": places(error), **_as_answer(words)}
    path: list[int | str] = [
        int(part) if part.isdecimal() else part for part in re.findall(r"\w+", match["path"] or "")
    ]
    reason = _reason(match["reason"])
    if unknown:
        path.append(unknown["field"])
        reason = f"Field is not defined on {unknown['type']}"
    elif missing := re.match(r".* to include required field '(\w+)'", match["reason"]):
        path.append(missing[1])
        reason = NOT_NULL
    tail = f" for {'.'.join(map(str, path))} ({reason})" if path else ""
    problem = {"path": path, "explanation": reason}
    return {
        "extensions": {"value": values.get(match["name"]), "problems": [problem]},
        "locations": places(error),
        "message": f"Variable ${match['name']} of type {print_ast(node.type)} was provided "
        f"invalid value{tail}",
    }


def _as_answer(words: Words) -> dict[str, Any]:
    return {"extensions": {"code": words.code, **words.more}, "message": words.message}


def _reason(text: str) -> str:
    """GitHub's words for graphql-core's reason against a value; the same text if there are none."""
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
    """The names on the path from the top of a document to one of its nodes, in GitHub's form."""
    if node.loc is None:
        return
    current: Any = top
    while current is not None:
        parts = _parts(current)
        current = next(
            (
                p
                for p in parts
                if p.loc and p.loc.start <= node.loc.start and node.loc.end <= p.loc.end
            ),
            None,
        )
        if current is not None:
            yield _name(current)


def _parts(node: Any) -> list[Any]:
    is_selected = isinstance(node, (FieldNode, FragmentSpreadNode, InlineFragmentNode))
    if not is_selected and not hasattr(node, "selection_set"):
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
