"""What goes into a settings file, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.setup.init.hook_table import PERMISSIONS, own_name

Route = tuple[str, ...]
ENV = ("env",)


@dataclass(frozen=True, slots=True)
class Extra:
    """What goes in beside the hooks: permissions, and variables that sessions are given."""

    permissions: tuple[str, ...] = PERMISSIONS
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Put:
    """What was put into one settings file.

    Attributes:
        pieces: (text before, text after) of each place that changed, if it takes them to go back.
        hooks: (event, command) of each entry that does not itself show whose it is.
        permissions: the rules that were not there before.
        containers: the way to each object and array that was not there before; () is the whole.
        variables: (name, value) of each variable that was not there before.
    """

    pieces: tuple[tuple[str, str], ...] = ()
    hooks: tuple[tuple[str, str], ...] = ()
    permissions: tuple[str, ...] = ()
    containers: tuple[Route, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def own_name(self, event: str, hook: object) -> str | None:
        """The script that an entry runs, if the entry is ours."""
        known = [command for where, command in self.hooks if where == event]
        return own_name(hook, known)
