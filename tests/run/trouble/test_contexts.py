"""What a developer gets before another try, and after a blocker: all of it from what is recorded."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import (
    Criterion,
    GatePart,
    GateRecord,
    ReviewFinding,
    ReviewRecord,
    Run,
    Story,
)
from lifecycle.run.table import (
    CheckState,
    CriterionState,
    Gate,
    ReviewVerdict,
    RunPhase,
    Severity,
    StoryCheck,
    StoryStatus,
    TddPhase,
)
from lifecycle.run.texts.report_text import resuming, retry
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import failed

NOW = 1_800_000_000.0
STORY = Story(
    "S2", "Payment integration", status=StoryStatus.IN_PROGRESS, tdd=TddPhase.GREEN, started=NOW,
    iteration=1,
)  # fmt: skip
START = Run(
    "abc123", "Implement payment processing", NOW, phase=RunPhase.DEVELOPMENT,
    stories=(Story("S1", "x", status=StoryStatus.COMPLETED), STORY),
)  # fmt: skip
STATES = {
    **dict.fromkeys(StoryCheck, CheckState.PENDING),
    StoryCheck.SECURITY_CLEARED: CheckState.NOT_APPLICABLE,
}


def test_the_retry_context_is_the_designs_whole() -> None:
    """Each heading is there in its order; below it stands what was recorded."""
    part = GatePart("test", CheckState.FAIL, failures=("test_pay.py::test_amount",))
    finding = ReviewFinding(Severity.BLOCKING, "SQL injection in pay.py:45")
    changes = ReviewVerdict.CHANGES_REQUESTED
    story = replace(
        STORY,
        gates=(GateRecord(Gate.G3, NOW, CheckState.FAIL, "a", (part,)),),
        reviews=(ReviewRecord(StoryCheck.REVIEW_APPROVED, changes, NOW, findings=(finding,)),),
        criteria=(Criterion("a payment is kept", CriterionState.UNMET), Criterion("two")),
    )
    run = START.with_story(story)
    run = failed(run, "S2", "KeyError: 'amount'", NOW, source="G3", tree="a", file="pay.py", line=7)
    run = failed(run, "S2", "connection refused", NOW, tree="a")
    lines, data = retry(run.story("S2"), WorkFacts("b", changed=("pay.py", "test_pay.py")))
    assert data["checks"] == STATES
    assert lines == [
        "## Retry Context",
        "",
        "**Story:** S2 - Payment integration",
        "**Iteration:** 2/3",
        "**Previous Attempts:** 1",
        "",
        "### What Failed:",
        "- **code:** F1: G3 failed (iteration 1)",
        "  - File: pay.py:7",
        "  - Error: KeyError: 'amount'",
        "- **infra:** F2: DB, network, filesystem (iteration 1)",
        "  - Error: connection refused",
        "",
        "### What To Fix:",
        "- G3: Retry developer with test failures: test_pay.py::test_amount",
        "- code: Fix the implementation; the test stays as it is (Standard retry)",
        "- infra: Bring up what is not there, or wait for it (Retry with backoff)",
        "- reviewApproved: [BLOCKING] SQL injection in pay.py:45",
        "- Criterion not met: a payment is kept",
        "",
        "### Files Changed So Far:",
        "- pay.py",
        "- test_pay.py",
        "",
        "### Verification Status:",
        "| Check | Status |",
        "|-------|--------|",
        "| testsPass | PENDING |",
        "| coverageMet | PENDING |",
        "| reviewApproved | PENDING |",
        "| securityCleared | N/A |",
        "",
        "### Retry Recommendation:",
        '{"should_retry": true, "backoff_seconds": 30}',
    ]


def test_a_story_in_which_nothing_failed_says_so() -> None:
    """And many files are not all listed."""
    lines, _ = retry(STORY, WorkFacts())
    assert "- Nothing is recorded." in lines
    assert "**Iteration:** 1/3" in lines
    assert "- none" in lines
    many, _ = retry(STORY, WorkFacts(changed=tuple(f"f{n}" for n in range(130))))
    assert "- and 30 more" in many


def test_what_a_gate_found_is_told_though_its_record_is_gone() -> None:
    """Only so many records are kept: without one, nobody knows which tests failed."""
    run = failed(START, "S2", "3 tests failed", NOW, source="G5", tree="a")
    lines, _ = retry(run.story("S2"), WorkFacts("b"))
    assert "- G5: DO NOT complete story, retry" in lines


def test_what_strangers_wrote_is_data_in_both_contexts() -> None:
    """Names of tests, errors, paths, findings and notes are neither a stage's marker nor a link."""
    evil, data = "::: [it](http://x)", ": : : [it] (http://x)"
    part = GatePart("test", CheckState.FAIL, failures=(evil,))
    findings = (ReviewFinding(Severity.BLOCKING, evil),)
    changes = (StoryCheck.REVIEW_APPROVED, ReviewVerdict.CHANGES_REQUESTED, NOW)
    story = replace(
        STORY,
        title=evil,
        gates=(GateRecord(Gate.G3, NOW, CheckState.FAIL, "a", (part,)),),
        reviews=(ReviewRecord(*changes, findings=findings),),
        criteria=(Criterion(evil, CriterionState.UNMET),),
    )
    run = failed(START.with_story(story), "S2", evil, NOW, source="G3", tree="a", file=evil)
    again = "\n".join(retry(run.story("S2"), WorkFacts("b", changed=(evil,)))[0])
    assert (again.count(evil), again.count(data)) == (0, 7)
    run = blockers.with_blocker(run, evil, "high", NOW)
    run = blockers.resolved(run, run.blockers, NOW + 5, "terminal", evil)
    after = "\n".join(resuming(run)[0])
    assert (after.count(evil), after.count(data)) == (0, 4)


def blocked() -> Run:
    """The run that waits for a key, which a command checks."""
    run = failed(START, "S2", "no answer from the server", NOW, tree="a")
    run = blockers.with_blocker(run, "Stripe API key", "high", NOW)
    return blockers.awaiting(run, "0", "Add it", NOW + 1, "dotnet build")


def mended(notes: str = "Added test API key") -> Run:
    """The same after the person's word."""
    run = blocked()
    told, _ = blockers.to_resolve(run)
    return blockers.resolved(run, told, NOW + 5, "terminal", notes)


def test_the_resume_context_is_the_designs_json() -> None:
    """Its keys, and no others."""
    data = resuming(mended())[1]
    assert data.pop("resume_instructions")[0].startswith("1. Verify the fix works")
    assert data == {
        "workflow_id": "abc123",
        "goal": "Implement payment processing",
        "current_phase": "development",
        "recently_resolved_blockers": [
            {"index": 0, "description": "Stripe API key", "resolvedAt": "2027-01-15T08:00:05Z"}
        ],
        "current_story": {
            "id": "S2",
            "title": "Payment integration",
            "status": "in_progress",
            "tdd_phase": "green",
            "attempts": 1,
        },
    }


def test_the_block_for_the_developer() -> None:
    """What was resolved, how it was verified, and where the story stands."""
    run = mended()
    lines = resuming(run)[0]
    assert lines[0] == "## RESUMING AFTER BLOCKER"
    for line in (
        "**Resolved Blocker:** Stripe API key",
        "**Resolution Notes:** Added test API key",
        "**Verification:** NOT RUN (lifecycle run check-user-fix)",
        "- Story: [S2] Payment integration",
        "- TDD Phase: green (continue from here)",
        "- Attempts: 1",
        "- Previous Failures: F1 [code] no answer from the server",
        "Continue implementing story S2...",
    ):
        assert line in lines
    fix = blockers.demanded_fix(run)
    for passed, word in ((True, "PASSED"), (False, "FAILED")):
        checked = blockers.fix_checked(run, fix, NOW + 9, passed=passed)
        assert f"**Verification:** {word}" in resuming(checked)[0]
    plain = replace(run, blockers=(replace(run.blockers[0], check_command=()),))
    assert "**Verification:** NOT CHECKED (it has no check command)" in resuming(plain)[0]


def test_every_blocker_that_was_resolved_meanwhile_is_told_with_its_notes() -> None:
    """Two answers of a person reach the developer, until a session has gone on with them."""
    run = blockers.with_blocker(mended("Added test API key"), "No account", "high", NOW + 6)
    run = blockers.resolved(run, (run.blockers[1],), NOW + 7, "terminal", "Opened one")
    said = [line for line in resuming(run)[0] if line.startswith(("**Resolved", "**Resolution"))]
    assert said == [
        "**Resolved Blocker:** Stripe API key",
        "**Resolution Notes:** Added test API key",
        "**Resolved Blocker:** No account",
        "**Resolution Notes:** Opened one",
    ]
    later = resuming(replace(run, led_on_at=NOW + 8))[0]
    assert later[0] == "No blocker was resolved since a session last went on."
    assert "Opened one" not in str(later)


def test_the_story_at_work_is_gone_on_with_whatever_another_ones_blocker_was() -> None:
    """One story is done at a time: that which the person helped waits for its turn."""
    run = mended()
    assert run.fix is not None
    stories = (*run.stories, Story("S3", "y"))
    run = replace(run, stories=stories, fix=replace(run.fix, story="S3"))
    assert resuming(run)[1]["current_story"]["id"] == "S2"
    waits = replace(run.story("S2"), status=StoryStatus.PENDING)
    assert resuming(run.with_story(waits))[1]["current_story"]["id"] == "S3"


def test_before_the_persons_word_there_is_nothing_to_resume() -> None:
    """The instructions say who is waited for; a run without a blocker says what is next."""
    assert "1. Wait: a person has to do this first: Add it" in resuming(blocked())[0]
    assert resuming(blocked())[1]["recently_resolved_blockers"] == []
    assert resuming(replace(START, stories=()))[1]["current_story"] is None
    assert "lifecycle run recover" in resuming(replace(START, stories=()))[0][-1]
