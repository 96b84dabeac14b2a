"""One run: draws the mutants, has each judged, and says what survived and what the figures are."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tests.mutants.mutating import Mutant, mutants
from tests.mutants.running import (
    KILLED,
    SURVIVED,
    Project,
    collected,
    forked,
    imported,
    judged,
    limit,
    process_free,
    quiet,
    within,
)

if TYPE_CHECKING:
    import pytest

KILLED_SHARE = 0.95
"""Of the mutants that were drawn and are in no entry of the ledger, at least so many are killed."""

LEDGER_SHARE = 0.03
"""Of all mutants that there are of the modules, at most so many are in the ledger."""

CONTEXT = 40
"""Characters of a long statement that are shown on either side of a change."""

ENTRY = {"module", "function", "before", "after", "proof"}


def ledger(path: Path) -> dict[tuple[Any, ...], str]:
    """The proof of each mutant that no test can tell from the module: see ledger.toml."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    for entry in entries:
        if entry.keys() - {"nth"} != ENTRY or not entry["proof"].strip():
            raise ValueError(f"an entry of {path.name} has not {sorted(ENTRY)}: {entry}")
    names = ("module", "function", "before", "after")
    return {(*(e[name] for name in names), e.get("nth", 1)): e["proof"] for e in entries}


def run(project: Project, modules: list[str], kept: Path, *, count: int, seed: int) -> int:
    """Draw so many mutants (0: all of them), judge them and print what survived.

    Returns:
        0; 1 if too few were killed, or if the ledger is too long or has an entry for nothing.
    """
    began = time.monotonic()
    every = [mutant for name in modules for mutant in mutants(name, project.path(name))]
    proofs = {key: proof for key, proof in ledger(kept).items() if key[0] in modules}
    drawn = every if not 0 < count < len(every) else random.Random(seed).sample(every, count)
    asked = [mutant for mutant in drawn if mutant.key not in proofs]
    survivors = survived(project, asked)
    for mutant in sorted(survivors, key=lambda one: (one.module, one.line)):
        click.echo(shown(project, mutant))
    stale = sorted(proofs.keys() - {mutant.key for mutant in every})
    for key in stale:
        click.echo(f"an entry of the ledger means nothing that there is: {key}")
    share = 1 - len(survivors) / len(asked) if asked else 1.0
    _tell(asked, survivors)
    click.echo(
        f"seed {seed}: {len(drawn)} of {len(every)} mutants, {len(drawn) - len(asked)} equivalent, "
        f"{len(asked) - len(survivors)} of {len(asked)} killed ({share:.1%}); ledger: {len(proofs)} "
        f"({len(proofs) / len(every):.1%}); {time.monotonic() - began:.0f} s"
    )
    is_enough = share >= KILLED_SHARE and len(proofs) <= LEDGER_SHARE * len(every)
    return 0 if is_enough and not stale else 1


def survived(project: Project, asked: list[Mutant]) -> list[Mutant]:
    """The mutants that no process-free test of their rooms noticed."""
    folders = sorted({project.folder(mutant.module) for mutant in asked})
    if not folders:
        return []
    with tempfile.TemporaryDirectory() as folder:
        seconds, left = Path(folder, "seconds"), Path(folder, "left")

        def judge_within(items: list[pytest.Item]) -> None:
            process_free(items, seconds)
            known = json.loads(seconds.read_text())
            numbers = [
                n
                for n, mutant in enumerate(asked)
                if _survives_within(project, mutant, items, known)
            ]
            left.write_text(json.dumps(numbers))

        with quiet():
            forked(lambda: collected(project, folders, judge_within))
        if not left.exists():
            raise RuntimeError(f"the tests of {', '.join(folders)} could not be run")
        known = json.loads(seconds.read_text())
        asked = [asked[number] for number in json.loads(left.read_text())]
    for name in folders:
        if not _survives_imported(project, None, _of(known, name)):
            raise RuntimeError(f"without a mutant, the process-free tests of {name} do not pass")
    return [
        one
        for one in asked
        if _survives_imported(project, one, _of(known, project.folder(one.module)))
    ]


def _survives_within(
    project: Project, mutant: Mutant, items: list[pytest.Item], known: dict[str, float]
) -> bool:
    """False if it was killed in the function's body; True if it survived, or has to be imported."""
    if not mutant.in_body:
        return True
    own = _of(known, project.folder(mutant.module))

    def judge() -> int:
        module = f"{project.package}.{mutant.module}"
        return judged(items, own, module) if within(project, mutant) else SURVIVED

    return forked(judge, limit(project, own)) == SURVIVED


def _survives_imported(project: Project, mutant: Mutant | None, own: dict[str, float]) -> bool:
    """True if no test notices it; of None, the module as it is: if there are tests, and they pass."""
    ended = forked(lambda: imported(project, mutant, own), limit(project, own)) if own else KILLED
    return ended == SURVIVED


def _of(seconds: dict[str, float], folder: str) -> dict[str, float]:
    return {test: time for test, time in seconds.items() if test.startswith(f"{folder}/")}


def shown(project: Project, mutant: Mutant) -> str:
    """A survivor: where it is, and what it says instead."""
    place = project.path(mutant.module).relative_to(project.root)
    nth = f"  (number {mutant.nth} of those that read so)" if mutant.nth > 1 else ""
    where = (
        f"{place}:{mutant.line} in {mutant.function or 'the module'}, mutant {mutant.number}{nth}"
    )
    before, after = _difference(mutant.before, mutant.after)
    return f"{where}\n- {before}\n+ {after}\n"


def _difference(before: str, after: str) -> tuple[str, str]:
    """The two texts from a little before the place where they differ to a little behind it."""
    first = _alike(before, after)
    last = _alike(before[first:][::-1], after[first:][::-1])
    start = max(first - CONTEXT, 0) if first > 2 * CONTEXT else 0
    cut = last - CONTEXT if last > 2 * CONTEXT else 0

    def part(text: str) -> str:
        return f"{'…' * (start > 0)}{text[start : len(text) - cut]}{'…' * (cut > 0)}"

    return part(before), part(after)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _tell(asked: Iterable[Mutant], survivors: Iterable[Mutant]) -> None:
    """How many of each module survived, of how many."""
    all_of, left_of = (Counter(mutant.module for mutant in some) for some in (asked, survivors))
    for module, number in sorted(left_of.items()):
        click.echo(f"{number:4} of {all_of[module]:3} survived in {module}")
    sys.stdout.flush()
