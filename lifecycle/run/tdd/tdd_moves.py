"""Moves of a story through red, green, refactor and verify: what each demands, and how one is refused."""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.core.errors import Refused
from lifecycle.run.gates.gate_rules import REFACTORING, tested_among
from lifecycle.run.state import Run, Story
from lifecycle.run.table import TDD, WORK, StoryStatus, TddPhase
from lifecycle.run.tdd.test_proofs import RunsSeen, green_of, passed_here, red_of
from lifecycle.run.texts.told import kept_words, listed, refused

_BEFORE_RED = (TddPhase.NONE, TddPhase.RED)


class TddViolation(Refused):
    """A phase of the cycle was skipped, or what it demands is not shown; nothing was changed.

    Attributes:
        current: the phase that the story is in.
        expected: the phase whose work comes first.
        why: one clause; "" where the order alone is the reason.
    """

    for_agent = True

    def __init__(self, current: TddPhase, expected: TddPhase, why: str = "") -> None:
        self.current, self.expected, self.why = current, expected, why
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> list[str]:
        """It as it is printed."""
        lines = [
            "STOP. TDD violation detected.",
            f"Current phase: {self.current}",
            f"Expected: {self.expected} ({WORK[self.expected]})",
        ]
        if self.expected is TddPhase.RED:
            lines.append("Developer must write a failing test before implementation.")
        return [*lines, f"Why: {self.why}."] if self.why else lines


def expected_of(story: Story, wanted: TddPhase, runs: RunsSeen) -> TddViolation | None:
    """What refuses the move of a story to a phase; None if it may be made."""
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


def moved_phase(run: Run, name: str, wanted: TddPhase, runs: RunsSeen, now: float) -> Run:
    """The run with a story in another phase of its cycle, and the proofs that the move rests on.

    Args:
        run: before it.
        name: of the story.
        wanted: the phase.
        runs: what is known of the tests.
        now: the present; a story that nobody began begins now.

    Raises:
        TddViolation: a phase is skipped, or what it demands is not shown.
        Refused: the story is completed, or was not begun while another one comes first.
    """
    story = _open(run, name)
    violation = expected_of(story, wanted, runs)
    if violation is not None:
        raise violation
    if story.status is StoryStatus.PENDING and story != run.current:
        raise refused("cycle-not-begun", story=story)
    if wanted is TddPhase.RED and story.tdd not in _BEFORE_RED:
        story = story.but(red=None)  # the next test has its own proof
    story = remembered(story.but(started=story.started or now), runs, wanted)
    return run.with_story(story.but(tdd=wanted))


def remembered(story: Story, runs: RunsSeen, phase: TddPhase | None = None) -> Story:
    """The story with the proofs that the runs show by now: records are forgotten, proofs are not.

    Args:
        story: before it.
        runs: what is known of the tests.
        phase: where it goes; None to judge by where it is.
    """
    phase = story.tdd if phase is None else phase
    if not story.is_open or phase is TddPhase.NONE:
        return story
    if story.red is None:
        story = story.but(red=red_of(story, runs)[0])
    if story.red is None or phase is TddPhase.RED:
        return story
    green = green_of(story.red, runs)[0]
    return story if green is None else story.but(green=green)


def waived(run: Run, name: str, reason: str, runs: RunsSeen, changed: Iterable[str]) -> Run:
    """The run with a story that needs no red and green: documents, configuration, pure refactoring.

    Args:
        run: before it.
        name: of the story.
        reason: why.
        runs: what is known of the tests.
        changed: the paths that the story has changed by now.

    Raises:
        Refused: the story is completed, no reason is given, or it has changed code already.
    """
    story = _open(run, name)
    why = kept_words(reason)
    if not why:
        raise refused("waiver-without-reason", story=story)
    code = tested_among(changed)
    if code and not story.waived_on:
        raise refused("waiver-after-code", story=story, code=listed(code), refactoring=REFACTORING)
    shows = bool(story.started and not code) and passed_here(runs)
    return run.with_story(story.but(waived=why, waived_on=runs.tree if shows else story.waived_on))


def forbids_edits(run: Run, runs: RunsSeen) -> TddViolation | None:
    """What forbids to edit code now: a story is at work, and no test of it was seen to fail; else None."""
    story = run.current
    if story is None or story.status is StoryStatus.PENDING or story.waived or story.unneeded:
        return None
    if story.tdd not in _BEFORE_RED or story.red is not None:
        return None
    red, why = red_of(story, runs)
    return None if red is not None else TddViolation(story.tdd, TddPhase.RED, why)


def _open(run: Run, name: str) -> Story:
    story = run.story(name)
    if not story.is_open:
        raise refused("cycle-over", story=story)
    return story
