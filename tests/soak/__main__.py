"""`make soak`: random sequences on the embedded GitHub, each from a seed, and what they violated."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections import Counter
from functools import partial

import click

from tests.e2e.forked import Forked
from tests.soak.pool import outcomes
from tests.soak.soaking import Outcome, shrunk, violates
from tests.soak.team import drawn

PROGRESS = 10
"""After how many sequences a line tells how far it is."""


def _tell(outcome: Outcome) -> None:
    """A failure: the steps up to it, the evidence, and the command that shows it again."""
    click.echo(f"\nseed {outcome.seed} failed in step {outcome.index}:")
    click.echo("\n".join(outcome.trail))
    for violation in outcome.violations:
        click.echo(f"  VIOLATED {violation}")
    click.echo(f"replay: make soak SEED={outcome.seed} N=1        fewer steps: add SHRINK=1\n")


def _shrink(failed: list[Outcome]) -> None:
    """For each failure, the steps that are enough for it."""
    with Forked() as forked:
        for one in failed:
            rule = one.violations[0].partition(":")[0]
            fails = partial(violates, one.seed, forked.command, rule)
            click.echo(f"seed {one.seed}, {rule}: these steps are enough")
            click.echo("\n".join(f"    {step}" for step in shrunk(drawn(one.seed), fails)))


def main() -> int:
    """Run them; 1 if a rule was violated."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--n", type=int, default=150, help="how many sequences")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed")
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="after these none is begun any more"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--shrink", action="store_true", help="leave out what a failure does not need"
    )
    parser.add_argument(
        "--steps", action="store_true", help="print the steps of a seed, run nothing"
    )
    asked = parser.parse_args()
    if asked.steps:
        click.echo("\n".join(f"{n:3} {step}" for n, step in enumerate(drawn(asked.seed), 1)))
        return 0
    began, counts = time.monotonic(), Counter[str]()
    failed: list[Outcome] = []
    seeds = range(asked.seed, asked.seed + asked.n)
    found = outcomes(seeds, min(asked.jobs, asked.n), asked.minutes * 60)
    number = 0
    for number, outcome in enumerate(found, 1):
        counts += outcome.counts
        counts[f"at rest after {outcome.rounds} rounds"] += not outcome.violations
        if outcome.violations:
            failed.append(outcome)
            _tell(outcome)
        if number % PROGRESS == 0 or number == asked.n:
            took = time.monotonic() - began
            click.echo(f"{number} of {asked.n} sequences, {counts['steps']} steps, {len(failed)} failed, "
                  f"{took:.0f} s")  # fmt: skip
    if number < asked.n:
        click.echo(f"{asked.n - number} were not begun: the {asked.minutes:g} minutes are over")
    for name, count in sorted(counts.items()):
        click.echo(f"{count:7} {name}")
    if asked.shrink and failed:
        _shrink(failed)
    if failed:
        click.echo(f"failed seeds: {sorted(outcome.seed for outcome in failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
