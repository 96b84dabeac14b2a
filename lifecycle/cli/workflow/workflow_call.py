"""`lifecycle workflow call`: one of the four functions, for programs that cannot import ours."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click

from lifecycle.app import workflow_functions
from lifecycle.cli.terminal import is_terminal, json_text
from lifecycle.core.errors import Refused

_CALLED: tuple[Callable[..., Any], ...] = (
    workflow_functions.create_workflow_state,
    workflow_functions.update_phase_status,
    workflow_functions.get_workflow_state,
    workflow_functions.generate_markdown,
)

FUNCTIONS: dict[str, Callable[..., Any]] = {function.__name__: function for function in _CALLED}
"""The functions that may be called, by their names."""

_LARGEST = 4_000_000
_FORM = '{"arguments": [...], "named": {...}}'


KINDS = {"function": click.Choice(list(FUNCTIONS))}
"""Click's types for words on the command line, beside those of `main.py`."""


def call(*, function: str) -> None:
    """Call one of the four functions of lifecycle.api, with JSON on stdin and on stdout.

    On stdin stands {"arguments": [...], "named": {...}}; the answer is {"result": ...}. It is what
    scripts/workflow_state.py does, which runs on any Python.
    """
    request = _given("" if is_terminal(sys.stdin) else sys.stdin.read(_LARGEST))
    arguments, named = request.get("arguments", []), request.get("named", {})
    if not isinstance(arguments, list) or not isinstance(named, dict):
        raise Refused(f"The arguments are no {_FORM}, so nothing was done.")
    called = FUNCTIONS[function]
    try:
        inspect.signature(called).bind(*arguments, **named)
    except TypeError as error:
        raise Refused(f"{function} was called wrongly ({error}), so nothing was done.") from None
    click.echo(json_text({"result": called(*arguments, **named)}))


def _given(text: str) -> Mapping[str, Any]:
    try:
        request = json.loads(text or "{}")
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise Refused(f"What stands on stdin is no {_FORM}, so nothing was done.")
    return request
