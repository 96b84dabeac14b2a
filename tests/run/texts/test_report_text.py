"""The progress report, whole, as the workflow's page has it."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run.long_run import report_due
from lifecycle.run.state import Run, Story
from lifecycle.run.table import RunPhase, RunStatus
from lifecycle.run.texts.report_text import report, reported
from lifecycle.run.texts.standing import steps
from tests.run.texts.texts_ground import FACTS, NOW, a_run, done

WHOLE = """\
## Progress Report

**Workflow:** Implement payment processing
**Workflow ID:** abc12345
**Runtime:** 40 min
**Iteration:** 12
**Spent:** 2 sessions, 12 iterations, 40 min, tokens: 123,456

### Stories Progress
| Status | Count |
|--------|-------|
| Completed | 1 |
| In Progress | 1 |
| Pending | 1 |
| Blocked | 1 |

### Recently Completed:
- [S1] Story 1 - 2 iterations

### Current Story:
- [S2] Pay | by card
- Status: in_progress
- Iteration: 2/3
- Verification: testsPass PASS, coverageMet PENDING, reviewApproved PENDING, securityCleared PENDING

### Blockers:
- [1] B2 (high, S3): "Stripe API key not configured in .env"

### Next Steps:
"""


def test_the_report_is_whole() -> None:
    """Every heading and every number of the page; what comes next stands last."""
    text = "\n".join(report(a_run(), FACTS, NOW + 2_405)[0])
    assert text.startswith(WHOLE)
    steps = text.removeprefix(WHOLE).splitlines()
    assert steps[0].startswith("1. ")
    assert "lifecycle run tdd-phase S2 verify" in steps[0]
    assert steps[1].startswith("2. Then S4")
    assert len(steps) == 2


def test_the_story_after_this_one_is_one_that_can_be_begun_then() -> None:
    """None that waits for a blocked one; and before development the very first."""
    waiting = replace(a_run().stories[-1], depends_on=("S3",))
    run = a_run().with_story(waiting)
    assert not [step for step in steps(run, FACTS, NOW) if step.startswith("Then")]
    then = replace(run, stories=(*run.stories, Story("S5", "Last", depends_on=("S2",))))
    assert 'Then S5: "Last"' in steps(then, FACTS, NOW)
    planned = replace(
        run, phase=RunPhase.PLANNING, stories=(Story("S1", "One"), Story("S2", "Two"))
    )
    assert 'Then S1: "One"' in steps(planned, FACTS, NOW)


def test_a_report_that_was_given_is_due_no_more() -> None:
    """It counts from then on."""
    run = replace(a_run(), stories=tuple(done(n) for n in range(1, 4)))
    assert report_due(run, NOW)
    assert not report_due(reported(run, NOW), NOW)


def test_what_was_completed_since_the_last_report_is_named_or_the_last_five() -> None:
    """In the order of its completion, and twenty stories at the most."""
    stories = tuple(done(n, NOW + n) for n in (*range(2, 31), 1))

    def named(told: int) -> list[str]:
        run = replace(a_run(), stories=stories, reported_stories=told)
        return [*report(run, FACTS, NOW + 60)[1]["recently_completed"]]

    for told, first in ((0, 11), (10, 11), (11, 12), (24, 25)):
        assert named(told) == [f"S{n}" for n in range(first, 31)]
    assert named(25) == named(30) == named(31) == [f"S{n}" for n in range(26, 31)]


def test_nothing_to_tell_is_told() -> None:
    """An empty run has a report, and so has one that was stopped."""
    run = Run("abc", "Pay", NOW, status=RunStatus.STOPPED, why="its cap")
    lines, data = report(run, FACTS, NOW)
    text = "\n".join(lines)
    assert text.count("None") == 3
    assert text.splitlines().count("None") == 3
    assert "1. A person lets the run continue with: lifecycle run resume" in text
    assert (data["current_story"], data["stories"]["Completed"]) == (None, 0)
