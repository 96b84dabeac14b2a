"""What a program hands to the public operations loses its secrets before anything is compared or sent."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from lifecycle.core.redact import swept
from lifecycle.core.values.shapes import Ensured
from lifecycle.github.client.token_client import ADDRESSES

T = TypeVar("T")


def redacts(operations: type[T]) -> type[T]:
    """Have every `ensure_` of a class take secrets out of the texts that it is given.

    The transport does that for every request, too. Done here as well, a text that GitHub has without its
    secret counts as the wanted one, and is not written again at each call. What was taken out is
    named in the answer's `withheld`.
    """
    for name, method in vars(operations).items():
        if name.startswith("ensure_"):
            setattr(operations, name, _redacting(method))
    return operations


def _redacting(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def ensure(*given: Any, **named: Any) -> Any:
        call = signature.bind(*given, **named)
        found: list[str] = []
        for name, value in list(call.arguments.items())[1:]:
            if name not in ADDRESSES:  # refused where it would be sent
                call.arguments[name] = _clean(value, found, name)
        done = method(*call.args, **call.kwargs)
        return replace(done, withheld=tuple(found)) if isinstance(done, Ensured) else done

    return ensure


def _clean(value: Any, found: list[str], name: str) -> Any:
    """A text, or several, or values that hold some, without secrets; all else as it is."""
    if isinstance(value, str):
        return swept(value, found, name, is_request=True)
    if isinstance(value, tuple | list):
        return tuple(_clean(one, found, name) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {one.name: getattr(value, one.name) for one in fields(value)}
        return replace(value, **{key: _clean(one, found, key) for key, one in kept.items()})
    return value
