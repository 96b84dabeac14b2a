"""The phase machine: the table, and nothing beside it."""

from __future__ import annotations

from enum import StrEnum
from itertools import product

import pytest

from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.core.errors import IllegalMove
from lifecycle.core.machine import Machine
from tests.batches import each_row
from tests.docs.regenerate import mermaid


@each_row(("phase", "wanted"), list(product(Phase, Phase)))
def test_every_cell_is_allowed_or_names_what_is(phase: Phase, wanted: Phase) -> None:
    """A move is made if its cell is in the table; if not, the refusal names every legal one."""
    try:
        CLAIM.check(phase, wanted)
    except IllegalMove as refusal:
        sentence = refusal.sentence
    else:
        sentence = ""
    assert (sentence == "") == (wanted in CLAIM.table[phase])
    if not sentence:
        return
    assert all(str(legal) in sentence for legal in CLAIM.legal(phase))
    assert str(phase) in sentence
    assert str(wanted) in sentence


class Door(StrEnum):
    """The phases of a small machine."""

    OPEN = "open"
    SHUT = "shut"
    LOCKED = "locked"
    GONE = "gone"


DOOR = Machine(
    "door",
    Door.OPEN,
    {
        Door.OPEN: {Door.SHUT: "wind"},
        Door.SHUT: {Door.OPEN: "", Door.LOCKED: "", Door.GONE: ""},
        Door.LOCKED: {Door.SHUT: "", Door.GONE: ""},
        Door.GONE: {},
    },
)


@pytest.mark.parametrize(
    ("phase", "then"),
    [
        (Door.OPEN, "from open it goes to shut"),
        (Door.SHUT, "from shut it goes to open, locked or gone"),
        (Door.LOCKED, "from locked it goes to shut or gone"),
        (Door.GONE, "gone is the end"),
    ],
)
def test_a_refusal_says_where_it_goes_instead(phase: Door, then: str) -> None:
    """One way, several, or none."""
    with pytest.raises(IllegalMove) as refusal:
        DOOR.check(phase, phase)
    assert (
        refusal.value.sentence
        == f"A door in {phase} cannot go to {phase}, so it was left there: {then}."
    )
    assert DOOR.is_terminal(phase) is (phase is Door.GONE)


def test_every_phase_has_a_row_and_done_is_the_end() -> None:
    """No phase is missing from the table, and only done is terminal."""
    assert set(CLAIM.table) == set(Phase)
    assert [phase for phase in Phase if CLAIM.is_terminal(phase)] == [Phase.DONE]


def test_every_phase_can_reach_done() -> None:
    """From wherever a claim stands, there is a way to the end."""
    reaches = {Phase.DONE}
    for _ in Phase:
        reaches |= {phase for phase in Phase if reaches & set(CLAIM.legal(phase))}
    assert reaches == set(Phase)


def test_the_diagram_draws_each_transition_once() -> None:
    """The Mermaid text has one line for each cell, the start and the end."""
    lines = mermaid(CLAIM.initial, CLAIM.table).splitlines()
    cells = [(p, w) for p in Phase for w in CLAIM.legal(p)]
    arrows = [line for line in lines if " --> " in line and "[*]" not in line]
    assert len(arrows) == len(cells)
    for phase, wanted in cells:
        assert sum(line.strip().startswith(f"{phase} --> {wanted}:") for line in lines) == 1
    assert "    [*] --> coding" in lines
    assert "    done --> [*]" in lines
