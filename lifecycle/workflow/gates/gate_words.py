"""How a gate is written: `check:NAME`, `file:PATH` or `person`."""

from __future__ import annotations

from typing import Final

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.workflow.documents.reading_paths import reading_path

CHECK: Final = "check"
FILE: Final = "file"
PERSON: Final = "person"


def gate_parts(gate: str) -> tuple[str, str]:
    """The kind of a gate and what it is about: ("check", "test"); ("person", "")."""
    kind, _, value = gate.partition(":")
    return kind.strip().casefold(), value.strip()


def checked_gate(gate: str) -> str:
    """The gate as it is kept; "" for none.

    Raises:
        Refused: it is none of the three, or its file lies outside of the project.
    """
    if not gate.strip():
        return ""
    kind, value = gate_parts(gate)
    if kind == PERSON and not value:
        return PERSON
    if kind == FILE and value:
        return f"{FILE}:{reading_path(value).removeprefix('@')}"
    if kind == CHECK and value.replace("-", "").replace("_", "").isalnum():
        return f"{CHECK}:{value}"
    raise Refused(
        f"{quoted(gate)} is no gate, so nothing was done. A gate is check:NAME (a check of the project), "
        "file:PATH (a file that has to be there), or person (a person's yes)."
    )
