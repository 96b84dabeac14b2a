"""The result of a run of a check: of all its commands, compared with the last run, and what it wrote.

Pure: turns readings and lists of files into the record and into sentences for people.
"""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lifecycle.core.redact import listed
from lifecycle.evidence import file_kinds
from lifecycle.evidence.checks.known_checks import sentence
from lifecycle.evidence.outcomes import Counts, Outcome, Reading

if TYPE_CHECKING:
    from lifecycle.evidence.checks.check_process import ProcessEnd
    from lifecycle.evidence.records import RunRecord

QUICKER, AT_LEAST_SECONDS = 5.0, 5.0
"""A run that took less than a fifth of the last one's time is reported, if that took at least so long."""

FEWER, AT_LEAST_TESTS = 2.0, 10
"""A run of less than half as many tests is reported, if there were at least so many."""

_FAILURES = 100
_WORST = (Outcome.FAILED, Outcome.PARTIAL, Outcome.UNKNOWN, Outcome.NOTHING_RAN, Outcome.PASSED)


def judged(record: RunRecord, readings: list[Reading], red: set[str], part: str) -> RunRecord:
    """The record with the combined result of the commands.

    Args:
        record: what is known about the run already.
        readings: the reading of each command.
        red: tests that failed in earlier runs.
        part: why it was only a part of the check; "" if all of it ran.
    """
    outcome = min((reading.outcome for reading in readings), key=_WORST.index)
    decisive = [reading for reading in readings if reading.outcome is outcome]
    why = next((reading.why for reading in decisive if reading.why), "")
    if part and outcome is not Outcome.FAILED:
        outcome, why = Outcome.PARTIAL, part
    counted = [reading.counts for reading in readings if reading.counts is not None]
    failures = tuple(name for reading in readings for name in reading.failures)
    telling = [reading.asserted for reading in readings if reading.asserted is not None]
    asserted = tuple(name for names in telling for name in names)[:_FAILURES]
    passed = (name for reading in readings for name in reading.passed if name in red)
    percents = [reading.percent for reading in readings if reading.percent is not None]
    return replace(
        record,
        outcome=outcome,
        why=why,
        counts=sum(counted, Counts()) if counted else None,
        failures=failures[:_FAILURES],
        asserted=asserted if telling else None,
        passed=tuple(dict.fromkeys(passed))[:_FAILURES],
        percent=percents[-1] if percents else None,
    )


def odd_beside(record: RunRecord, earlier: Iterable[RunRecord], seconds: float) -> list[str]:
    """Unusual differences from the last run of this check that passed, as sentences."""
    passed = [run for run in earlier if (run.name, run.outcome) == (record.name, Outcome.PASSED)]
    if not passed or record.outcome is not Outcome.PASSED:
        return []
    remarks, took = [], passed[-1].at - passed[-1].started
    if took >= AT_LEAST_SECONDS and seconds * QUICKER < took:
        remarks.append(sentence("quick", now=seconds, then=took))
    now, then = record.counts, passed[-1].counts
    if now and then and then.total >= AT_LEAST_TESTS and now.total * FEWER < then.total:
        remarks.append(sentence("few", now=now.total, then=then.total))
    return remarks


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    """The paths whose content differs, or that are in only one of the two."""
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


def written(
    record: RunRecord, known: Collection[str], other: set[str], tracked: set[str]
) -> RunRecord:
    """The record with the files that the run made and changed; if it changed none, it stays evidence.

    New code in the project's languages counts as changed: somebody may have written it meanwhile, and the
    run may not have been about it.

    Args:
        record: the run's record.
        known: the files before it.
        other: the paths that differ after it.
        tracked: those of the paths that git tracks.
    """
    new = sorted(path for path in other - tracked if path not in known)
    made = [path for path in new if not file_kinds.is_of_project(path, known)]
    changed = tuple(sorted(other.difference(made)))
    return replace(record, tree="" if changed else record.tree, changed=changed, made=tuple(made))


def on_files(record: RunRecord, tracked: set[str]) -> list[str]:
    """Sentences about the files that the run made and changed."""
    remarks = [sentence("made", made=listed(record.made))] if record.made else []
    if record.changed:
        changed = sentence("changed-files", changed=listed(record.changed))
        # Somebody else wrote it before: as far as is known, it is not an output of a check.
        own = tuple(path for path in record.changed if path not in tracked)
        remarks.append(f"{changed} {sentence('own-output', own=listed(own))}" if own else changed)
    return remarks


def cut_short(end: ProcessEnd, seconds: float) -> Reading:
    """The reading of a command that was ended early."""
    if end.error:
        return Reading(Outcome.FAILED, why=end.error)
    if end.is_late:
        unit = "second" if seconds == 1 else "seconds"
        return Reading(Outcome.PARTIAL, why=f"its time of {seconds:g} {unit} was up")
    return Reading(Outcome.PARTIAL, why=f"it was stopped ({signal.Signals(end.signal).name})")
