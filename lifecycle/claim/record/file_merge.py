"""Three-way merge of the claim file: what the agent changed, what the engine wants.

The merge base matters. An agent reads the file, thinks, and writes all of it: what it started from
may be several engine writes old. Which one shows in the engine's own fields, which an agent has no
reason to touch: the newest past projection with the same engine fields is the base. Against that
base, a field that the agent left alone takes the engine's value, and one that it changed is its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.claim_file import AGENT_FIELDS, ENGINE_FIELDS, FIELDS
from lifecycle.core.light_dataclass import dataclass

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of one merge.

    Attributes:
        values: what the file should hold now.
        changed: agent fields (and unknown keys) that the agent changed.
        hints: engine fields that somebody edited, with the edited values. `values` has the engine's;
            GitHub decides which is right.
    """

    values: dict[str, Any]
    changed: frozenset[str]
    hints: dict[str, Any]


def merge(past: Sequence[Values], ours: Values, theirs: Values) -> Merged:
    """Merge the file's values `theirs` with the engine's `ours`.

    Args:
        past: projections that were once in the file, oldest first; the last one is the newest.
        ours: what the engine wants in the file.
        theirs: what the file holds.
    """
    base = _base(past, theirs) if past else ours
    values: dict[str, Any] = dict(ours)
    changed = set()
    hints = {}
    for name in AGENT_FIELDS:
        if not _same(theirs.get(name), base.get(name)):
            values[name] = theirs.get(name)
            changed.add(name)
    if past and base is not past[-1] and _asks(theirs, ours):
        values["phase"] = theirs["phase"]
        changed.add("phase")
    for name in ENGINE_FIELDS:
        value = theirs.get(name)
        is_reverted = value in (None, "") or any(_same(value, p.get(name)) for p in past)
        if not _same(value, ours.get(name)) and not is_reverted:
            hints[name] = value
    for name in {*theirs, *ours} - set(FIELDS):
        _merge_extra(name, base, theirs, values, changed)
    return Merged(values, frozenset(changed), hints)


def _asks(theirs: Values, ours: Values) -> bool:
    """True if an old copy carries a phase by which an agent asks for something.

    It may have been left alone there, or written again on purpose: GitHub judges both phases, so
    taking it for a wish costs a request at most, and not taking it could lose the wish.
    """
    phase = theirs.get("phase")
    return phase in (Phase.READY_FOR_PR, Phase.DONE) and phase != ours.get("phase")


def _base(past: Sequence[Values], theirs: Values) -> Values:
    def likeness(index: int) -> tuple[int, int]:
        same = sum(_same(theirs.get(name), past[index].get(name)) for name in ENGINE_FIELDS)
        return same, index

    return past[max(range(len(past)), key=likeness)]


def _merge_extra(
    name: str, base: Values, theirs: Values, values: dict[str, Any], changed: set[str]
) -> None:
    if name in theirs and (name not in base or theirs[name] != base[name]):
        values[name] = theirs[name]
        changed.add(name)
    elif name not in theirs and name in base:
        values.pop(name, None)
        changed.add(name)


def _same(one: object, other: object) -> bool:
    return one == other or (one in (None, "") and other in (None, ""))
