"""`lifecycle feedback excerpt`: print the lines around the errors of a log on stdin."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.terminal import is_terminal, say_all
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict
from lifecycle.core.redact import lines_in
from lifecycle.feedback.checks import excerpt as excerpts

_LONGEST = 65_536
"""Bytes that are read at once, and of a line at most: endless lines cost no more memory."""


def excerpt(*, as_json: bool) -> int:
    """Print the lines of a log on stdin that a person would quote: those around its errors.

    For a job's log of GitHub Actions, and for what any tool printed: lifecycle feedback excerpt <LOG. At
    most 150 lines and 12,000 characters, without secrets; where lines are left out, a line says how many.
    """
    if sys.stdin is None or is_terminal(sys.stdin):
        raise Refused(
            "No log came on stdin, so nothing was read; give one: lifecycle feedback excerpt <LOG"
        )
    shown = excerpts.excerpt(lines_in(iter(lambda: sys.stdin.buffer.read(_LONGEST), b""), _LONGEST))
    say_all(shown.lines, asdict(shown), as_json=as_json)
    if not (as_json or shown.total):
        click.echo("lifecycle: The log on stdin is empty, so there is nothing to quote.", err=True)
    return 0
