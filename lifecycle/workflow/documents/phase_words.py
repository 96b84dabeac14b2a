"""Check and normalize what people write into a phase: paths of required reading, and gates.

A path begins with @ and stays inside the project. A gate is `check:NAME`, `file:PATH` or `person`.
"""

from __future__ import annotations

import re
from typing import Final

from lifecycle.core.redact import quoted, visible
from lifecycle.workflow.table import refused

CHECK: Final = "check"
FILE: Final = "file"
PERSON: Final = "person"


def gate_parts(gate: str) -> tuple[str, str]:
    """The kind of a gate and its subject: ("check", "test"); ("person", "")."""
    kind, _, value = gate.partition(":")
    return kind.strip().casefold(), value.strip()


def checked_gate(gate: str) -> str:
    """The gate as it is kept; "" for none.

    Raises:
        Refused: it is none of the three kinds, or its file is outside of the project.
    """
    if not gate.strip():
        return ""
    kind, value = gate_parts(gate)
    if kind == PERSON and not value:
        return PERSON
    if kind == FILE and value:
        return f"{FILE}:{reading_path(value, 'file of the gate').removeprefix('@')}"
    if kind == CHECK and value.replace("-", "").replace("_", "").isalnum():
        return f"{CHECK}:{value}"
    raise refused("no-gate", gate=quoted(gate))


_OUTSIDE: Final = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]*://")
_LONG: Final = 500


def reading_path(text: str, what: str = "required reading") -> str:
    """The path as it is kept, from the worktree's root with an @: `docs/a.md` becomes `@docs/a.md`.

    `what` is its name in the refusal.

    Raises:
        Refused: it is empty, leads out of the project, or is not a path.
    """
    path = text.strip().removeprefix("@").strip()
    is_inside = path and ".." not in re.split(r"[/\\]", path) and not _OUTSIDE.match(path)
    if is_inside and path.isprintable() and len(path) <= _LONG:
        return f"@{path}"
    why = "is no path" if not path or not path.isprintable() else "leads out of the project"
    why = f"has more than {_LONG} characters" if len(path) > _LONG else why
    raise refused("no-reading", what=what, text=visible(text[:100]), why=why)
