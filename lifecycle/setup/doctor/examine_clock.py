"""The clock: ours against GitHub's."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.values.model import TokenFacts
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, ok, warn
from lifecycle.setup.doctor.examined import Examined

MOST_SECONDS = 30.0
"""A difference that disturbs nothing; an answer may be some seconds on its way."""


def check(case: Examined) -> Iterator[DoctorFinding]:
    """How far apart both are, as GitHub's last answer tells."""
    facts, asked_at = case.facts, case.asked_at
    if not isinstance(facts, TokenFacts) or facts.server_time is None:
        return
    apart = asked_at - facts.server_time
    if abs(apart) <= MOST_SECONDS:
        yield ok("clock.time", "The clock agrees with GitHub's.")
        return
    yield warn(
        "clock.time",
        f"The clock is {_span(abs(apart))} {'ahead of' if apart > 0 else 'behind'} GitHub's: pauses "
        "between polls, the age of a lease and the wait before a comment is sent again are wrong.",
        (FixStep.CI, FixStep.LEASE, FixStep.CLOSE),
        "sudo timedatectl set-ntp true",
    )


def _span(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
