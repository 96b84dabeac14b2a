"""A phase machine as one table.

The table is the truth: `{phase: {next phase: why}}`. A move that is not listed is illegal, a terminal
phase has an empty row, and the picture in the documentation is drawn from the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from lifecycle.core.errors import IllegalMove
from lifecycle.core.light_dataclass import dataclass

PhaseT = TypeVar("PhaseT", bound=StrEnum)


@dataclass(frozen=True)
class Machine(Generic[PhaseT]):
    """Transitions between the members of one enum.

    Attributes:
        name: what the machine is called in sentences.
        initial: where a new record starts.
        table: for each phase, the phases that may follow it, with the reason.
    """

    name: str
    initial: PhaseT
    table: Mapping[PhaseT, Mapping[PhaseT, str]]

    def legal(self, phase: PhaseT) -> tuple[PhaseT, ...]:
        """The phases that may follow `phase`, in the table's order."""
        return tuple(self.table[phase])

    def is_terminal(self, phase: PhaseT) -> bool:
        """True if nothing follows `phase`."""
        return not self.table[phase]

    def check(self, phase: PhaseT, wanted: PhaseT) -> None:
        """Allow the move, or say which ones are allowed.

        Raises:
            IllegalMove: the table has no transition from `phase` to `wanted`.
        """
        if wanted in self.table[phase]:
            return
        legal = self.legal(phase)
        then = f"from {phase} it goes to {_either(legal)}" if legal else f"{phase} is the end"
        why = f"A {self.name} in {phase} cannot go to {wanted}, so it was left there: {then}."
        raise IllegalMove(why)


def _either(phases: tuple[PhaseT, ...]) -> str:
    *others, last = map(str, phases)
    return f"{', '.join(others)} or {last}" if others else last
