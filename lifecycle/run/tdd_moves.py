"""Moves of a story through red, green, refactor and verify: what each demands, and how it is refused.

Red and green are records of runs: a test failed by its assertion, and passes now. Words prove nothing here;
neither does a run that broke before its assertion, that found no test, or that was on other files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from lifecycle.core.errors import Refused
from lifecycle.core.messages import figures
from lifecycle.core.redact import listed
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import TEST, RunRecord, last_at
from lifecycle.run.gates.gate_rules import tested_among
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Run, Story, TestProof
from lifecycle.run.table import BUILD, COVERAGE, LINT, TDD, WORK, StoryStatus, TddPhase
from lifecycle.run.texts.told import filled, kept_words, refused, sentence

Records = tuple[RunRecord, ...]
"""Runs of checks, oldest first."""

_BEFORE_RED = (TddPhase.NONE, TddPhase.RED)


class TddViolation(Refused):
    """A phase of the cycle was skipped, or what it demands is not shown; nothing was changed.

    Attributes:
        current: the phase that the story is in.
        expected: the phase whose work comes first.
        why: one clause; "" if the order alone is the reason.
        lines: the lines to print.
    """

    for_agent = True

    def __init__(self, current: TddPhase, expected: TddPhase, why: str = "") -> None:
        self.current, self.expected, self.why = current, expected, why
        test = ["Developer must write a failing test before implementation."]
        first = {"work": WORK[expected], "test": test if expected is TddPhase.RED else []}
        reason = [f"Why: {why}."] if why else []
        self.lines = filled("tdd-violation", violation=self, **first, why=reason)
        super().__init__("\n".join(self.lines))


def expected_of(story: Story, wanted: TddPhase, runs: WorkFacts) -> TddViolation | None:
    """The reason to refuse a story's move to a phase; None if the move is allowed."""
    phase = story.tdd
    if story.waived or story.unneeded or wanted is phase or wanted is TddPhase.RED:
        return None
    if wanted not in TDD.legal(phase):
        return TddViolation(phase, TDD.legal(phase)[0])
    if wanted is TddPhase.GREEN:
        red, why = (story.red, "") if story.red is not None else red_of(story, runs)
        return None if red is not None else TddViolation(phase, TddPhase.RED, why)
    if story.red is None:
        return TddViolation(phase, TddPhase.RED, "red was never shown")
    green, why = green_of(story.red, runs)
    return None if green is not None else TddViolation(phase, TddPhase.GREEN, why)


def moved_phase(run: Run, name: str, wanted: TddPhase, runs: WorkFacts, now: float) -> Run:
    """The run with a story in another phase of its cycle, and the proofs for the move.

    Args:
        run: the run before the move.
        name: the story's id.
        wanted: the phase.
        runs: what is known of the tests.
        now: the present; a story that was not begun begins now.

    Raises:
        TddViolation: a phase is skipped, or what it demands is not shown.
        Refused: the story is completed, or was not begun while another one comes first.
    """
    story = run.open_story(name, "story-over")
    violation = expected_of(story, wanted, runs)
    if violation is not None:
        raise violation
    if story.status is StoryStatus.PENDING and story != run.current:
        raise refused("cycle-not-begun", story=story)
    if wanted is TddPhase.RED and story.tdd not in _BEFORE_RED:
        story = story.but(red=None)  # the next test has its own proof
    if not story.started:
        story = story.but(started=now, red_from=last_at(runs.records))
    story = remembered(story, runs, wanted)
    return run.with_story(story.but(tdd=wanted))


def remembered(story: Story, runs: WorkFacts, phase: TddPhase | None = None) -> Story:
    """The story with the proofs that the runs show by now: old runs are forgotten, proofs are kept.

    Args:
        story: the story before.
        runs: what is known of the tests.
        phase: the phase that the story moves to; None to judge by its present phase.
    """
    phase = story.tdd if phase is None else phase
    if not story.is_open or phase is TddPhase.NONE:
        return story
    if story.red is None:
        red, before = red_of(story, runs)[0], parted(runs.records, _ends(story))[0]
        if red is not None:  # what was green is no green of it, and stays before the next red
            story = story.but(red=red, green=None, red_from=last_at(before))
    if story.red is None or phase is TddPhase.RED:
        return story
    green = green_of(story.red, runs)[0]
    return story if green is None else story.but(green=green)


def waived(run: Run, name: str, reason: str, runs: WorkFacts, changed: Iterable[str]) -> Run:
    """The run with a story exempted from red and green: documents, configuration, pure refactoring.

    Args:
        run: the run before.
        name: the story's id.
        reason: why it is exempted.
        runs: what is known of the tests.
        changed: the paths that the story has changed by now.

    Raises:
        Refused: the story is completed, no reason is given, or it has changed code already.
    """
    story = run.open_story(name, "story-over")
    why = kept_words(reason)
    if not why:
        raise refused("waiver-without-reason", story=story)
    code = tested_among(changed)
    if code and not story.waived_on:
        rule = sentence("refactoring")
        raise refused("waiver-after-code", story=story, code=listed(code), refactoring=rule)
    here = _here(runs, runs.records)
    last = here[-1].outcome if here else None
    shows = bool(story.started) and not code and last is Outcome.PASSED
    return run.with_story(story.but(waived=why, waived_on=runs.tree if shows else story.waived_on))


def forbids_edits(run: Run, runs: WorkFacts) -> TddViolation | None:
    """Why code must not be edited now (no test of the story at work was seen to fail); else None."""
    story = run.current
    if story is None or story.status is StoryStatus.PENDING or story.waived or story.unneeded:
        return None
    if story.tdd not in _BEFORE_RED or story.red is not None:
        return None
    red, why = red_of(story, runs)
    return None if red is not None else TddViolation(story.tdd, TddPhase.RED, why)


NAMED = 20
"""How many tests a proof names at most."""

_SHOWN = 3
_ENDED = (Outcome.FAILED, Outcome.PASSED)

_NEVER = "no run of the tests failed since the story began"


def _of_tests(records: Iterable[RunRecord]) -> list[RunRecord]:
    """The runs that ran tests: the test check's, and those of other checks that counted tests."""
    counted = (run for run in records if run.kind == TEST or run.counts is not None)
    return [run for run in counted if run.kind not in (BUILD, LINT, COVERAGE)]


def _here(runs: WorkFacts, records: Records) -> list[RunRecord]:
    """Those of the runs that ran tests on the current files."""
    return [run for run in _of_tests(records) if run.tree == runs.tree != ""]


def parted(records: Records, ends: Iterable[float]) -> tuple[Records, Records]:
    """The runs up to the last of those that ended at these moments, and the later ones.

    The place in the records decides, as the clock may have been set back. A run that is forgotten was
    before all others.
    """
    cut = max((place for place, run in enumerate(records, 1) if run.at in ends), default=0)
    return records[:cut], records[cut:]


def red_of(story: Story, runs: WorkFacts) -> tuple[TestProof | None, str]:
    """The run that shows red; else None, and a clause that says why not.

    It is the first run, after the story began, was last green, and another story was last completed, in
    which a test failed by its assertion that had not failed in the run before. If a runner does not say how
    tests fail, the counts decide, and the proof says so.
    """
    ends = _ends(story)
    before, later = parted(runs.records, ends)
    old = next((run for run in reversed(_of_tests(before)) if run.outcome in _ENDED), None)
    failed = [run for run in _of_tests(later) if run.outcome is Outcome.FAILED]
    failed = [run for run in failed if not any(0 < run.started < end < run.at for end in ends)]
    for run in failed:
        new = tuple(name for name in run.asserted or () if not old or name not in old.failures)
        if new:
            return _proof(run, new, ""), ""
        count = _failed(run)
        if run.asserted is None and count > _failed(old):
            note = "its runner does not tell how a test failed, so the count decided"
            return _proof(run, run.failures, f"{note}: {count} failed"), ""
    if not failed:
        return None, _NEVER
    last = failed[-1]
    named = f" ({listed(last.failures, _SHOWN)})" if last.failures else ""
    if last.asserted or (last.asserted is None and _failed(last)):
        return None, sentence("failed-before", run=last, named=named)
    if last.asserted is None and not last.failures:
        return None, sentence("no-test-counted", run=last)
    return None, sentence("failed-by-error", run=last, named=named)


def _ends(story: Story) -> tuple[float, ...]:
    """The moments after which a run may show the story's red."""
    return story.started, story.red_from, story.green.at if story.green is not None else 0.0


def _failed(run: RunRecord | None) -> int:
    return run.counts.failed if run is not None and run.counts is not None else 0


def green_of(red: TestProof, runs: WorkFacts) -> tuple[TestProof | None, str]:
    """The run that shows that the tests of `red` pass on the current files; else why there is none.

    It names these very tests as passed, or it is a complete run of at least as many tests that passed.
    """
    if not runs.tree:
        return None, "git does not say what the files are, so no run counts for them"
    why = "no run of the tests passed on the files as they are, since they were red"
    _, later = parted(runs.records, [red.at])
    for run in reversed(_here(runs, later)):
        if run.outcome is Outcome.FAILED:
            failing = f" ({listed(run.failures, _SHOWN)})" if run.failures else ""
            return None, f"the last run of the tests on these files failed{failing}"
        is_named = bool(red.tests) and set(red.tests) <= set(run.passed)
        if is_named and run.outcome in (Outcome.PASSED, Outcome.PARTIAL):
            return _with_changes(_proof(run, red.tests, ""), red, runs), ""
        if run.outcome is not Outcome.PASSED:
            continue
        total = _ran(run)
        if 0 <= total < red.total:
            ran = figures.count(total, "test")
            why = f"`{run.command}` ran {ran}, and {red.total} ran when they were red"
            continue
        counted = f"no report names what passed, so the count decided: {total} ran"
        note = counted if total >= 0 else "its runner counts no tests, so its exit status decided"
        return _with_changes(_proof(run, red.tests, note), red, runs), ""
    return None, why


def _proof(run: RunRecord, tests: Iterable[str], note: str) -> TestProof:
    named, failed = tuple(tests)[:NAMED], -1 if run.counts is None else run.counts.failed
    proof = TestProof(run.at, named, run.tree, run.command, run.log, failed, _ran(run))
    return proof.but(files=dict(run.files), note=note)


def _ran(run: RunRecord) -> int:
    """How many tests ran, without skipped ones; -1 if not counted."""
    return -1 if run.counts is None else run.counts.total - run.counts.skipped


def _with_changes(green: TestProof, red: TestProof, runs: WorkFacts) -> TestProof:
    """The proof with the files of the tests, and those of them that have changed since red."""
    now = {path: (runs.files or {}).get(path, "") for path in red.files}
    changed = tuple(path for path, content in red.files.items() if now[path] != content)
    unknown = "" if red.files else "in which file the test stands is not known"
    note = "; ".join(filter(None, (green.note, unknown)))
    return green.but(files=now, changed=changed, note=note)


def cycle_data(story: Story) -> dict[str, Any]:
    """A story's phase in its cycle, and its proofs, for `--json`."""
    shown = {"red": story.red, "green": story.green, "waived": story.waived}
    proofs = {name: to_builtins(value) for name, value in shown.items() if value}
    return {"story": story.id, "phase": story.tdd.value, **proofs}
