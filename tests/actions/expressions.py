"""GitHub's expressions, as far as this project's workflows use them; every other one is refused.

Source: https://docs.github.com/actions/reference/workflows-and-actions/expressions (literals, operators,
loose equality, what is falsy, functions) and …/contexts (what is not there is an empty text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)"
    r"|(?P<sign>==|!=|&&|\|\||[!().,\[\]]))"
)
_PLACE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


class UnknownExpressionError(Exception):
    """This runner does not know what GitHub makes of it, so it does not guess."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression sees.

    Attributes:
        contexts: by name: github, inputs, steps, vars, secrets, matrix, runner, env.
        has_failed: a step before this one failed, for `success()` and `failure()`.
    """

    contexts: Mapping[str, Any] = field(default_factory=dict)
    has_failed: bool = False

    def value(self, expression: str) -> Any:
        """What an expression comes to, without its `${{ }}`.

        Raises:
            UnknownExpressionError: a context, function or sign that is not known here.
        """
        return _Reader(expression, self).whole()

    def text(self, template: object) -> str:
        """A value of a workflow file as the runner passes it on: text, its expressions replaced."""
        return _PLACE.sub(lambda place: as_text(self.value(place[1])), as_text(template))

    def holds(self, condition: object) -> bool:
        """What an `if` comes to; one without a status function also demands that nothing failed."""
        if condition is None:
            return not self.has_failed
        text = as_text(condition).strip()
        inner = _PLACE.fullmatch(text)
        expression = inner[1] if inner else text
        asked = re.search(r"\b(?:success|failure|always|cancelled)\(\)", expression)
        return (asked is not None or not self.has_failed) and is_true(self.value(expression))


def as_text(value: object) -> str:
    """A value as GitHub writes it into text.

    Raises:
        UnknownExpressionError: an object or a list, which GitHub does not write.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    raise UnknownExpressionError(f"{type(value).__name__} has no text")


def is_true(value: object) -> bool:
    """False for false, 0, an empty text and null; true for everything else."""
    return value not in (False, 0, "", None)


def _same(one: object, other: object) -> bool:
    """Loose equality: texts without their case, values of two kinds as numbers."""
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    if type(one) is type(other):
        return one == other
    return _number(one) == _number(other)


def _number(value: object) -> float:
    if value is None or value == "":
        return 0.0
    if isinstance(value, (bool, int, float)):
        return float(value)
    try:
        return float(json.loads(value)) if isinstance(value, str) else float("nan")
    except (ValueError, TypeError):
        return float("nan")


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(_same(one, what) for one in where)
    return as_text(what).casefold() in as_text(where).casefold()


def _starts(where: Any, what: Any) -> bool:
    return as_text(where).casefold().startswith(as_text(what).casefold())


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "contains": _contains,
    "startswith": _starts,
    "fromjson": lambda text: json.loads(as_text(text)),
}


class _Reader:
    """Reads one expression from left to right; `||` binds least, then `&&`, then equality, then `!`."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.tokens = self._split()

    def _split(self) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        at, rest = 0, self.text.rstrip()
        while at < len(rest):
            match = _TOKEN.match(rest, at)
            if match is None or match.lastgroup is None:
                raise UnknownExpressionError(f"{rest[at:]!r} in {self.text!r}")
            found.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        return found

    def whole(self) -> Any:
        value = self._or()
        if self.tokens:
            raise UnknownExpressionError(f"{self.tokens[0][1]!r} in {self.text!r}")
        return value

    def _take(self, *signs: str) -> str | None:
        if self.tokens and self.tokens[0][0] == "sign" and self.tokens[0][1] in signs:
            return self.tokens.pop(0)[1]
        return None

    def _need(self, sign: str) -> None:
        if self._take(sign) is None:
            raise UnknownExpressionError(f"{sign!r} is missing in {self.text!r}")

    def _or(self) -> Any:
        value = self._and()
        while self._take("||"):
            other = self._and()
            value = value if is_true(value) else other
        return value

    def _and(self) -> Any:
        value = self._equal()
        while self._take("&&"):
            other = self._equal()
            value = other if is_true(value) else value
        return value

    def _equal(self) -> Any:
        value = self._not()
        while sign := self._take("==", "!="):
            value = _same(value, self._not()) is (sign == "==")
        return value

    def _not(self) -> Any:
        if self._take("!"):
            return not is_true(self._not())
        return self._one()

    def _one(self) -> Any:
        if self._take("("):
            value = self._or()
            self._need(")")
            return value
        kind, text = self.tokens.pop(0) if self.tokens else ("", "the end")
        if kind == "text":
            return text[1:-1].replace("''", "'")
        if kind == "number":
            return float(text) if "." in text else int(text)
        if kind != "name":
            raise UnknownExpressionError(f"{text!r} in {self.text!r}")
        return self._named(text)

    def _named(self, name: str) -> Any:
        if name in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[name]
        if self._take("("):
            return self._called(name.casefold())
        if name not in self.scope.contexts:
            raise UnknownExpressionError(f"the context {name!r} in {self.text!r}")
        return self._inside(self.scope.contexts[name])

    def _inside(self, value: Any) -> Any:
        while sign := self._take(".", "["):
            if sign == "[":
                key = as_text(self._or())
                self._need("]")
            else:
                kind, key = self.tokens.pop(0) if self.tokens else ("", "the end")
                if kind != "name":
                    raise UnknownExpressionError(f"{key!r} in {self.text!r}")
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _called(self, name: str) -> Any:
        given: list[Any] = []
        while not self._take(")"):
            given.append(self._or())
            if not self._take(","):
                self._need(")")
                break
        status = {
            "success": not self.scope.has_failed,
            "failure": self.scope.has_failed,
            "always": True,
            "cancelled": False,
        }
        if name in status and not given:
            return status[name]
        if name not in _FUNCTIONS:
            raise UnknownExpressionError(f"the function {name!r} in {self.text!r}")
        return _FUNCTIONS[name](*given)
