"""Check and normalise what a program gives to the operations: lists of names, commits, texts.

Values are compared as GitHub compares them, so a difference that only Python sees is not written again.
Secrets are removed before anything is compared or sent (`Guarded`).
"""

from __future__ import annotations

import functools
import math
import os
import re
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeAlias, TypeVar

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import fields, is_dataclass, replace
from lifecycle.core.plan import Wake
from lifecycle.core.redact import LIMIT, redact, short, swept
from lifecycle.core.values.shapes import Ensured
from lifecycle.github.failures import sentence

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])

_TEXT = (str, (), "text, so nothing was done; give a str")
_LIST = (Iterable, str, "list, so nothing was done; write {name}=[{given}]")
_NAMES = "list of names, so nothing was done; write a list, tuple or set of texts"
_KINDS: dict[str, tuple[Any, Any, str]] = {
    "int": (int, bool, "number, so nothing was done; give an int"),
    "float": (int | float, bool, "number, so nothing was done; give one"),
    "str": _TEXT,
    "Phase": _TEXT,
    "Wake": (Wake, (), "wake, so nothing was done; give one such as Wake.TICK"),
    "Names": (tuple | list | set | frozenset, (), _NAMES),
    "str | Path": (str | os.PathLike, (), "path, so nothing was done; give a str or a Path"),
    "Iterable[str]": _LIST,
    "Iterable[PhaseForm]": _LIST,
}
"""What an argument with such an annotation is, what of that it is not, and what is said of another one."""

Names: TypeAlias = tuple[str, ...] | list[str] | set[str] | frozenset[str]
"""Labels, logins or slugs. A `str` is not allowed: Python would read it as a list of its letters."""


def whole_sha(sha: str) -> str:
    """A commit's name as GitHub writes it: all 40 digits, in lower case.

    Raises:
        Refused: it is something else. GitHub accepts a branch or a short sha only at some addresses, and
            a later comparison with it would always fail.
    """
    if not re.fullmatch("[0-9a-fA-F]{40}", str(sha)):
        raise Refused(sentence("no-whole-sha", sha=sha))
    return sha.lower()


def same(text: str, other: str) -> bool:
    """True if two texts are the same to GitHub, which may keep other line ends and outer spaces."""
    return _plain(text) == _plain(other)


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def names_of(parameter: str, given: Names) -> tuple[str, ...]:
    """The names that a caller gave, as a tuple.

    Args:
        parameter: the caller's name of the parameter, for the sentence.
        given: the names.

    Raises:
        Refused: the list contains something else than texts.
    """
    for name in given:
        if not isinstance(name, str):
            raise Refused(sentence("no-name", parameter=parameter, name=repr(name)))
    return tuple(sorted(given)) if isinstance(given, set | frozenset) else tuple(given)


Change: TypeAlias = Callable[[tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]]


def change_of(add: Names, remove: Names, only: Names | None) -> Change:
    """Which names have to be added to the present ones, and which removed.

    Args:
        add: names that have to be there.
        remove: names that must not be there.
        only: exactly the names that have to be there; instead of `add` and `remove`.

    Raises:
        Refused: a name is in both `add` and `remove`: each call would change it again.
    """
    added, removed = names_of("add", add), names_of("remove", remove)
    if only is not None:
        exactly = names_of("only", only)
        return lambda there: (missing(exactly, there), missing(there, exactly))
    if both := present(removed, added):
        raise Refused(sentence("added-and-removed", names=", ".join(both)))
    return lambda there: (missing(added, there), present(removed, there))


def folded(names: tuple[str, ...]) -> set[str]:
    """The names folded in case, as GitHub compares labels and logins."""
    return {name.casefold() for name in names}


def missing(wanted: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
    """The names in `wanted` that are not in `there`, each once, in their order."""
    present_names, by_case = folded(there), {name.casefold(): name for name in wanted}
    return tuple(name for key, name in by_case.items() if key not in present_names)


def present(wanted: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
    """The names in both `there` and `wanted`, as they are spelt in `there`."""
    folded_names = folded(wanted)
    return tuple(name for name in there if name.casefold() in folded_names)


class Guarded(Generic[C]):
    """Operations on one subject; every `ensure_` removes secrets from the texts that it is given.

    The transport does that for every request, too. It is done here as well so that a text that GitHub has
    without its secret counts as the wanted one, and is not written again at each call. What was removed is
    named in the answer's `withheld`. Wrong numbers, and texts that are no str, are refused.
    """

    def __init__(self, calls: C) -> None:
        self._calls = calls

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).items():
            if name.startswith("ensure_"):
                setattr(cls, name, demands(method, cleans=True))


def demands(function: F, *, cleans: bool = False) -> F:
    """Have a function refuse arguments of another kind than their annotation, as far as `_KINDS` has it.

    "42" finds issue 42, but is not that number. A text of another kind would fail in the middle.

    With `cleans`, it also gets its arguments without secrets, and names those in its result.
    """
    import inspect  # imported here: programs that only settle writes need neither

    from lifecycle.github.client.client_common import ADDRESSES

    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        bound, withheld = signature.bind(*positional, **named), list[str]()
        for name, value in bound.arguments.items():
            _demand_kind(name, value, str(signature.parameters[name].annotation))
            if cleans and name not in ADDRESSES:  # a secret there is refused when it is sent
                bound.arguments[name] = _clean(value, withheld, name)
        done = function(*bound.args, **bound.kwargs)
        return replace(done, withheld=tuple(withheld)) if isinstance(done, Ensured) else done

    return call  # type: ignore[return-value]  # it is called alike


def _demand_kind(name: str, value: Any, kind: str) -> None:
    expected, others, wrong = _KINDS.get(kind.removesuffix(" | None"), (object, (), ""))
    is_kind = isinstance(value, expected) and not isinstance(value, others)
    is_nan = bool(wrong) and isinstance(value, float) and math.isnan(value)
    has_zero = kind == "str | Path" and "\0" in str(value)  # no path has one
    is_kind = is_kind and not (is_nan or has_zero)
    if is_kind and kind == "int" and not 0 < value < 2**31:
        is_kind, wrong = False, "number that GitHub gives, so nothing was done; give one like 42"
    if is_kind or (value is None and kind.endswith("| None")):
        return
    given = short(redact(repr(value)), LIMIT)  # a comment with a secret in it may be given as bytes
    raise Refused(f"{name}={given} is not a {wrong.format(name=name, given=given)}.")


def _clean(value: Any, withheld: list[str], name: str) -> Any:
    """A text, several texts, or values that contain texts, without secrets; anything else unchanged."""
    if isinstance(value, str):
        return swept(value, withheld, name, is_request=True)
    if isinstance(value, tuple | list):
        return tuple(_clean(entry, withheld, name) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{key: _clean(entry, withheld, key) for key, entry in kept.items()})
    return value
