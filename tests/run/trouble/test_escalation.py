"""The five triggers: each is seen from the run before and after, told once, with its word."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run.state import ReviewFinding, ReviewRecord, Run, Story
from lifecycle.run.table import (
    ReviewVerdict,
    RunStatus,
    Severity,
    StoryCheck,
    StoryStatus,
)
from lifecycle.run.trouble.blockers import awaiting, with_blocker
from lifecycle.run.trouble.story_failures import escalation_lines, failed

NOW = 1_800_000_000.0
STORIES = tuple(Story(f"S{n}", "x", status=StoryStatus.IN_PROGRESS) for n in range(1, 8))
START = Run("abc12345", "Implement payment processing", NOW, stories=STORIES)


def test_three_iterations() -> None:
    """Told when the third one failed, and not again."""
    second = failed(failed(START, "S1", "a", NOW, tree="a"), "S1", "b", NOW, tree="b")
    third = failed(second, "S1", "c", NOW, tree="c")
    assert escalation_lines(START, second) == []
    (line,) = escalation_lines(second, third)
    assert line.startswith("ESCALATION_REQUIRED: B1: S1 failed in 3 iterations")
    assert escalation_lines(third, failed(third, "S1", "d", NOW, tree="d")) == []


def test_something_outside_that_is_not_available() -> None:
    """Told with the blocker that was logged for it, and the command with which the user is asked.

    Other trees do not help: the third one ends the story, and the user is asked about that in the same way.
    """
    after = failed(START, "S1", "API key not configured", NOW, tree="a")
    (line,) = escalation_lines(START, after)
    ask = 'to ask the user: lifecycle run await-user-fix {} "WHAT TO FIX"'
    assert line == f"ESCALATION_REQUIRED: B1: API key not configured; {ask.format('B1')}"
    second = failed(after, "S1", "API key not configured", NOW, tree="b")
    third = failed(second, "S1", "API key not configured", NOW, tree="c")
    (line,) = escalation_lines(second, third)
    assert line.endswith(f"last: [external] API key not configured; {ask.format('B2')}")
    assert awaiting(third, "B2", "Add the key", NOW).fix is not None
    alone = replace(START, stories=STORIES[:1])
    told = escalation_lines(alone, failed(alone, "S1", "API key not configured", NOW, tree="a"))
    assert told[0].endswith('await-user-fix B1 "WHAT TO FIX"')


def test_a_vulnerability() -> None:
    """A security review that demands remediation is told at once, with what was found."""
    finding = ReviewFinding(Severity.BLOCKING, "SQL injection in pay.py:45")
    review = ReviewRecord(
        StoryCheck.SECURITY_CLEARED, ReviewVerdict.REMEDIATION_NEEDED, NOW, findings=(finding,)
    )
    after = START.with_story(replace(START.story("S2"), reviews=(review,)))
    (line,) = escalation_lines(START, after)
    assert line == "ESCALATION_REQUIRED: security vulnerability in S2: SQL injection in pay.py:45"


def test_a_vulnerability_of_a_story_that_is_new_is_told_too() -> None:
    """And one that was told before is not told again."""
    review = ReviewRecord(StoryCheck.SECURITY_CLEARED, ReviewVerdict.REMEDIATION_NEEDED, NOW)
    after = START.with_story(replace(START.story("S2"), reviews=(review,)))
    before = replace(START, stories=START.stories[:1])
    assert escalation_lines(before, replace(after, stories=after.stories[:2])) == [
        "ESCALATION_REQUIRED: security vulnerability in S2: it says nothing more"
    ]
    assert escalation_lines(after, after) == []
    twice = replace(after.story("S2"), reviews=(review, replace(review, tree="b")))
    assert len(escalation_lines(before, replace(after.with_story(twice), stories=(twice,)))) == 2


def test_every_fifth_story_is_a_moment_for_a_checkpoint() -> None:
    """It is optional, so it has no word of alarm."""
    run = START
    told = []
    for story in STORIES:
        after = run.with_story(replace(run.story(story.id), status=StoryStatus.COMPLETED))
        told.append(escalation_lines(run, after))
        run = after
    assert [bool(lines) for lines in told] == [False, False, False, False, True, False, False]
    assert told[4][0].startswith("Optional checkpoint: 5 stories are completed")


def test_a_person_is_asked() -> None:
    """The word is there each time that somebody is asked for something else."""
    blocked = with_blocker(START, "no key", "high", NOW)
    after = awaiting(blocked, "0", "Add the key", NOW)
    assert escalation_lines(START, blocked) == []
    assert escalation_lines(blocked, after) == ["HUMAN_INTERVENTION_NEEDED: Add the key"]
    assert escalation_lines(after, after) == []
    assert after.fix is not None
    fixed = replace(after, status=RunStatus.ACTIVE, fix=replace(after.fix, completed_at=NOW))
    assert escalation_lines(after, fixed) == []
    assert escalation_lines(after, replace(after, fix=None)) == []
