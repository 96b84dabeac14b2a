"""Runs a sequence, brings it to rest, and says what was violated, and how to see it again."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from lifecycle.sandbox.seed.form import Seed, SeedToken
from lifecycle.sandbox.seed.reading import default_seed
from lifecycle.sandbox.server import Sandbox
from tests.soak import rules, team_rules
from tests.soak.doing import STEPS, keep_copy, pull_of
from tests.soak.ground import TOKENS, Ground
from tests.soak.sequence import GO_ON, IDLE, START, STOP, WAITER, Step
from tests.soak.team import drawn

ROUNDS = 10
"""In how many rounds of wakes the claims have to come to rest, once all is well."""
ROUND = (STOP, IDLE, WAITER, GO_ON, STOP)
SWEEP = Step("sweep", {"arguments": ("--close",)}, by=0)
PAUSES = (4000, 700, 700, *(130,) * (ROUNDS - 3))
"""Seconds before each round: first longer than anything waits (a board that could not be seen, for an
hour), then shorter than ten minutes, after which whatever GitHub refused is asked for again, for ever."""


@dataclass
class Outcome:
    """What a sequence came to.

    Attributes:
        violations: `rule: evidence`, of the step that violated first, or of the rest.
        index: of that step, from 1 on; beyond the last step: on the way to rest.
        trail: the steps as they were taken, one line each.
        counts: how often each thing happened.
        rounds: in how many rounds of wakes it came to rest.
    """

    seed: int
    violations: list[str] = field(default_factory=list)
    index: int = 0
    trail: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    rounds: int = 0


class Violated(Exception):
    """A rule does not hold; the arguments are the evidence."""


def soak(
    seed: int, command: Path, steps: Sequence[Step] | None = None, *, defect: str = ""
) -> Outcome:
    """Run a seed's sequence, or these steps of it.

    Args:
        seed: of the sequence.
        command: what hooks and tests start as `lifecycle`.
        steps: the seed's own unless given.
        defect: of the product, on purpose: the name of one of `staged.DEFECTS`.
    """
    outcome = Outcome(seed)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, Sandbox(_seed()) as sandbox:
        at = Ground(sandbox, Path(folder), command, counts=outcome.counts, defect=defect)
        try:
            for step in drawn(seed) if steps is None else steps:
                _take(at, step, outcome)
            outcome.rounds = _rest(at, outcome)
        except Violated as error:
            outcome.violations = list(error.args)
        outcome.index = at.index
    return outcome


def _seed() -> Seed:
    """The built-in world, with a token for each account."""
    scopes = ["project", "repo"]
    tokens = [SeedToken(token=token, user=user, scopes=scopes) for user, token in TOKENS.items()]
    return msgspec.structs.replace(default_seed(), tokens=tokens)


def _take(at: Ground, step: Step, outcome: Outcome) -> None:
    """Take one step, and hold every rule to what came of it."""
    at.index += 1
    assert at.sandbox.site is not None
    faults = at.sandbox.site.faults
    at.pass_time(step.after)
    at.before, at.said, struck = at.after, [], faults.struck
    for clone in at.clones.values():
        keep_copy(clone)
    at.control.clear_requests()
    is_done = STEPS[step.name](at, step)
    at.requests, at.struck = at.control.requests(), faults.struck - struck
    at.after = at.world()
    _count(at, step, is_done=is_done)
    said = "; ".join(f"{s.code} {' '.join((s.heard or s.stderr).split())[:150]}" for s in at.said)
    outcome.trail.append(
        f"{at.index:3} {step}" + (f" → {said}" if said else "" if is_done else " (nothing to do)")
    )
    _hold(at, step, (*rules.EACH, *team_rules.EACH))
    rules.remember(at, step)


def _hold(at: Ground, step: Step, held: Sequence[rules.Rule]) -> None:
    found = [f"{rule.__name__}: {text}" for rule in held for text in rule(at, step)]
    if found:
        raise Violated(*found)


def _count(at: Ground, step: Step, *, is_done: bool) -> None:
    name = step.name if step.name != "cli" else f"lifecycle {step.given['arguments'][0]}"
    at.counts[name if is_done else f"{name}, nothing to do"] += 1
    at.counts["steps"] += 1
    at.counts["faults that struck"] += at.struck
    if step.name == "fault":
        at.counts[f"fault {step.given['fault']}"] += 1
    if step.under:
        at.counts[f"fault {step.under}"] += 1
    for request in rules.is_write(at):
        at.counts[f"wrote {request.rpartition('/')[2]}" if "/" in request else request] += 1
    at.counts["woke or spoke"] += any(said.heard for said in at.said)


def _rest(at: Ground, outcome: Outcome) -> int:
    """All is well from here on: in how many rounds it is quiet, and stays so."""
    for by in tuple(at.held):
        _take(at, Step("go_on", by=by), outcome)
    _take(at, Step("calm"), outcome)
    for by in at.clones if at.machines else ():  # who only writes code looks when a session starts
        _take(at, replace(START, by=by), outcome)
    quiet = 0
    loud: list[str] = []
    for number, pause in enumerate(PAUSES, 1):
        at.pass_time(pause)
        loud = _round(at, outcome)
        quiet = 0 if loud else quiet + 1
        if quiet == 2:
            _hold(at, STOP, (*rules.REST, *(team_rules.REST if at.machines else ())))
            if at.machines:
                _go_home(at, outcome)
            return number
    raise Violated(f"rests: after {ROUNDS} rounds there is still {'; '.join(loud)}")


def _go_home(at: Ground, outcome: Outcome) -> None:
    """A team leaves everything as it is; sweeps release it, for which a draft, too, is a sign of life."""
    sweep = Step("sweep", {"arguments": ("--close", "--release")}, by=0)
    day = Step("time", {"seconds": 30 * 3600})
    while pull_of(at, "open"):
        _take(at, Step("close_pull"), outcome)
    for step in (day, sweep, sweep, day, sweep, sweep, sweep):
        _take(at, step, outcome)
    _hold(at, sweep, team_rules.HOME)
    if rules.is_write(at):
        raise Violated(f"rests: the third sweep wrote {rules.is_write(at)}")


def _round(at: Ground, outcome: Outcome) -> list[str]:
    """One round of wakes in each clone, and a team's sweep; what was said, written or changed in it."""
    loud: list[str] = []
    for number in sorted(at.clones):
        for wake in ROUND:
            step = Step(wake.name, wake.given, by=number)
            claim = at.clones[number].claim
            _take(at, step, outcome)
            loud += [f"{wake.name} wrote {request}" for request in rules.is_write(at)]
            loud += [f"{wake.name} said {said.heard!r}" for said in at.said if said.heard]
            now = at.clones[number].claim
            changed = {
                k for k in {*claim, *now} - {"last_check_poll"} if claim.get(k) != now.get(k)
            }
            loud += [f"{wake.name} changed {name}" for name in sorted(changed)]
    if at.machines:
        _take(at, SWEEP, outcome)
        loud += [f"a sweep wrote {request}" for request in rules.is_write(at)]
    return loud


def shrunk(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """The steps without those that the failure does not need: each is left out once, the last one first."""
    left = list(steps)
    for place in reversed(range(len(left))):
        fewer = left[:place] + left[place + 1 :]
        if fails(fewer):
            left = fewer
    return left


def violates(seed: int, command: Path, rule: str, steps: Sequence[Step]) -> bool:
    """True if these steps violate the rule of that name."""
    found = soak(seed, command, steps).violations
    return any(violation.startswith(f"{rule}:") for violation in found)
