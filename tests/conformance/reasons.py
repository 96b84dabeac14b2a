"""Why recorded answers of the real GitHub do not conform to what it publishes today.

The recordings go back to 2012, some were shortened by hand, and the description is stricter than
GitHub in places. Every finding on a recorded answer has one of these reasons.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.conformance.exchange import Finding
    from tests.conformance.openapi import RestOracle
    from tests.conformance.recordings import Recorded

RECENT = 2022
"""The first year whose recordings are compared with today's answers."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A class of findings.

    Attributes:
        why: One sentence.
        fits: Whether a finding on a recorded answer belongs here.
    """

    name: str
    why: str
    fits: Callable[[Recorded, Finding], bool]


def _says(*words: str) -> Callable[[Recorded, Finding], bool]:
    return lambda _, finding: any(word in finding.what for word in words)


REASONS = (
    Reason("retired", "GitHub documents this call no longer.", _says("GitHub documents no such")),
    Reason(
        "shortened",
        "Whoever recorded it shortened the body by hand.",
        _says('"…" is not a', "says that it is JSON and is not"),
    ),
    Reason("status", "The call's page does not name this status.", _says("undocumented status")),
    Reason("no JSON", "The body is empty or no JSON.", _says("JSON was documented")),
    Reason(
        "older",
        "Required today, and not yet there when this was recorded.",
        lambda one, finding: finding.what.endswith("required property") and one.year < RECENT,
    ),
    Reason(
        "younger",
        "Required, and not in a recording since 2022: it came later still, or was cut by hand.",
        lambda one, finding: finding.what.endswith("required property") and one.year >= RECENT,
    ),
    Reason(
        "null", "GitHub says null where its description has none.", _says("null is not of type")
    ),
    Reason(
        "format",
        "The description has a format that GitHub does not hold values to, or that came later.",
        _says('is not a "'),
    ),
    Reason("enum", "A value that the description does not list.", _says("is not one of")),
    Reason("type", "Another type than today's.", _says("is not of type")),
)


def reason(one: Recorded, finding: Finding) -> str:
    """The name of the first reason that fits; empty if none does."""
    return next((known.name for known in REASONS if known.fits(one, finding)), "")


def classes(oracle: RestOracle, recorded: Iterable[Recorded]) -> Counter[str]:
    """How many recorded answers pass, and how many show each reason; one may show several."""
    counted: Counter[str] = Counter()
    for one in recorded:
        found = oracle.findings(one.exchange)
        counted["pass" if not found else "fail"] += 1
        counted.update({reason(one, finding) for finding in found})
    return counted
