"""Reviews: a report is read by severity, what is BLOCKING refuses, and a word lifts nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run.gates.reviews import (
    counted,
    findings_in,
    marked,
    resolved_in,
    reviewed,
    standing,
)
from lifecycle.run.kept_work import as_shown
from lifecycle.run.state import ReviewFinding, ReviewRecord, Run, Story
from lifecycle.run.table import (
    ESCALATION,
    REVIEWERS,
    ReviewVerdict,
    RunStatus,
    Severity,
    StoryCheck,
    StoryStatus,
)
from lifecycle.run.texts.told import drawn
from lifecycle.run.trouble.story_failures import escalation_lines
from tests.run.gates.stories_ground import NOW, OTHER, TREE, a_run, planned, review

DONE = StoryStatus.COMPLETED
BLOCKING, SUGGESTION, INFO = Severity.BLOCKING, Severity.SUGGESTION, Severity.INFO

REPORT = """\
## Code Review Results

### BLOCKING Issues (Must Fix)
{Issues that block completion}
- **[BLOCKING]** SQL injection vulnerability in UserRepository.cs:45
- Missing null check causes crash
  in PaymentService

### SUGGESTIONS (Recommended)
- **[SUGGESTION]** Consider using a pipeline
1. Extract magic number

### INFO (For Future Reference)
- None.

## Verdict
- CHANGES_REQUESTED
"""


def test_a_whole_report_is_read_by_its_sections() -> None:
    """A mark counts before the section; a line further in belongs to its item; other sections are none."""
    assert findings_in(REPORT) == (
        ReviewFinding(BLOCKING, "SQL injection vulnerability in UserRepository.cs:45"),
        ReviewFinding(BLOCKING, "Missing null check causes crash in PaymentService"),
        ReviewFinding(SUGGESTION, "Consider using a pipeline"),
        ReviewFinding(SUGGESTION, "Extract magic number"),
    )


@pytest.mark.parametrize(
    ("report", "severities"),
    [
        ("[BLOCKING] a crash", [BLOCKING]),
        ("* [blocking]: a crash", [BLOCKING]),
        ("- BLOCKING: a crash", [BLOCKING]),
        ("**BLOCKING**\n- a crash\n**INFO**\n- a note", [BLOCKING, INFO]),
        ("## INFO\n- [BLOCKING] a crash", [BLOCKING]),
        ("## BLOCKING\n- No input is validated", [BLOCKING]),
        ("## BLOCKING\n- None\n- no blocking issues found.\n- N/A", []),
        ("The BLOCKING call is fine.", []),
        ("## BLOCKING\n- a crash\n- **a race**\n1. # a leak", [BLOCKING] * 3),
        ("## BLOCKING\n- a crash\n\n  - a race", [BLOCKING] * 2),
        ("## BLOCKING\n- a crash\n## Notes\n- a note", [BLOCKING]),
        ("", []),
    ],
)
def test_reports_as_reviewers_write_them(report: str, severities: list[Severity]) -> None:
    """In doubt an item of a blocking section blocks; prose that speaks of it does not."""
    assert [finding.severity for finding in findings_in(report)] == severities


def test_a_line_further_in_goes_on_with_its_finding() -> None:
    """By one blank or more, an item below it too; what stands at the edge, or after a gap, does not."""
    told = "[BLOCKING] a crash\n at noon\nNot this.\n"
    assert findings_in(told) == (ReviewFinding(BLOCKING, "a crash at noon"),)
    other = "[BLOCKING] a crash\n## Notes\n nor this"
    assert findings_in(other) == (ReviewFinding(BLOCKING, "a crash"),)
    gap = "[INFO] a note\n[BLOCKING] a crash\n at noon\n \n nor this"
    assert findings_in(f" Not this.\n{gap}") == (
        ReviewFinding(INFO, "a note"),
        ReviewFinding(BLOCKING, "a crash at noon"),
    )
    assert findings_in("## Notes\n nor this\n[BLOCKING]\n") == ()
    nested = "## BLOCKING\n- a crash\n  - in Pay\n\n  nor this"
    assert findings_in(nested) == (ReviewFinding(BLOCKING, "a crash in Pay"),)


def test_a_finding_without_a_severity_is_refused() -> None:
    """Nobody guesses how much it weighs."""
    assert marked(["[SUGGESTION] name it"]) == (ReviewFinding(SUGGESTION, "name it"),)
    two = marked(["  **[info]**: a\n note  ", "[BLOCKING] " + "x" * 2_001])
    assert two == (ReviewFinding(INFO, "a note"), ReviewFinding(BLOCKING, "x" * 2_000))
    for text in ("name it", "BLOCKING: name it", "x" * 81):
        with pytest.raises(Refused, match=f'"{text[:80]}" has no severity'):
            marked(["[INFO] a note", text])


@pytest.mark.parametrize(
    ("said", "severities", "counts"),
    [
        ("APPROVED", [], "APPROVED"),
        ("APPROVED", [SUGGESTION, BLOCKING], "CHANGES_REQUESTED"),
        ("APPROVED", [SUGGESTION, INFO], "APPROVED"),
        ("CHANGES_REQUESTED", [INFO], "APPROVED"),
        ("CHANGES_REQUESTED", [], "CHANGES_REQUESTED"),
    ],
)
def test_only_what_is_blocking_refuses(said: str, severities: list[Severity], counts: str) -> None:
    """Whatever the verdict says, where something was found."""
    findings = tuple(ReviewFinding(severity, "x") for severity in severities)
    check, *_ = REVIEWERS["reviewer"]
    record = counted(ReviewRecord(check, ReviewVerdict(said), NOW, TREE, "reviewer", findings))
    assert record.verdict == counts


@pytest.mark.parametrize(
    ("role", "verdict", "tree"),
    [
        ("reviewer", ReviewVerdict.CLEARED, TREE),
        ("security", ReviewVerdict.APPROVED, TREE),
        ("reviewer", ReviewVerdict.APPROVED, ""),
    ],
)
def test_a_review_needs_its_own_verdict_and_a_tree(
    role: str, verdict: ReviewVerdict, tree: str
) -> None:
    """Otherwise nothing is recorded."""
    with pytest.raises(Refused, match="recorded"):
        counted(ReviewRecord(REVIEWERS[role][0], verdict, NOW, tree, role))


def at_work() -> Run:
    """A run whose one story is in review."""
    return a_run(planned(status=StoryStatus.REVIEW, iteration=1))


def refusing(verdict: ReviewVerdict = ReviewVerdict.CHANGES_REQUESTED) -> ReviewRecord:
    """A review that found something."""
    return review(verdict, findings=(ReviewFinding(BLOCKING, "SQL injection"),))


def with_review(run: Run, record: ReviewRecord, *resolved: int, is_word: bool = False) -> Run:
    """The run with this review of its story."""
    return reviewed(run, run.stories[0], record, is_word=is_word, resolved=resolved)


def test_what_refuses_is_a_failure_and_what_approves_is_none() -> None:
    """The text is the finding's, and its source the review."""
    story = with_review(at_work(), refusing()).stories[0]
    (failure,) = story.failures
    assert (failure.text, failure.source, failure.tree) == ("SQL injection", "review", TREE)
    assert with_review(at_work(), review()).stories[0].failures == ()
    found = refusing(ReviewVerdict.REMEDIATION_NEEDED)
    (failure,) = with_review(at_work(), found).stories[0].failures
    assert failure.source == "security"
    (failure,) = with_review(at_work(), review(ReviewVerdict.CHANGES_REQUESTED)).stories[0].failures
    assert "without a finding" in failure.text


def test_a_vulnerability_escalates() -> None:
    """ESCALATION_REQUIRED is printed; a reviewer's finding is none."""
    (line,) = escalation_lines(
        at_work(), with_review(at_work(), refusing(ReviewVerdict.REMEDIATION_NEEDED))
    )
    assert line.startswith(f"{ESCALATION}: security vulnerability in S1: SQL injection")
    assert escalation_lines(at_work(), with_review(at_work(), refusing())) == []


def test_a_word_does_not_lift_what_was_refused_on_these_files() -> None:
    """Another tree may be approved so, and this one by a new report."""
    run = with_review(at_work(), review(ReviewVerdict.CHANGES_REQUESTED))
    with pytest.raises(Refused, match="a statement cannot change"):
        with_review(run, review(), is_word=True)
    assert with_review(run, review(tree=OTHER), is_word=True) != run
    assert with_review(run, review()) != run
    approved = with_review(at_work(), review())
    assert with_review(approved, review(), is_word=True) != approved
    refused_again = with_review(run, review(ReviewVerdict.CHANGES_REQUESTED), is_word=True)
    assert len(refused_again.stories[0].reviews) == 2


def test_the_way_to_resolve_what_stands_is_that_of_its_reviewer() -> None:
    """With the first number that is left."""
    two = (ReviewFinding(BLOCKING, "a leak"), ReviewFinding(BLOCKING, "a race"))
    for bad, good, role in (
        (ReviewVerdict.CHANGES_REQUESTED, ReviewVerdict.APPROVED, "reviewer"),
        (ReviewVerdict.REMEDIATION_NEEDED, ReviewVerdict.CLEARED, "security"),
    ):
        run = with_review(at_work(), review(bad, findings=two))
        way = rf"--by {role} --verdict {good} --resolved 1\b"
        with pytest.raises(Refused, match=rf"1\. a leak; 2\. a race.*{way}"):
            with_review(run, review(good, tree=OTHER))


def test_what_is_blocking_stands_until_other_files_have_it_resolved() -> None:
    """No report approves the same files, and none approves others in silence; security's is its own."""
    run = with_review(at_work(), refusing())
    for is_word in (True, False):
        with pytest.raises(Refused, match="BLOCKING on exactly these files: SQL injection"):
            with_review(run, review(), 1, is_word=is_word)
        with pytest.raises(
            Refused, match=r"not marked as resolved.*1\. SQL injection.*--resolved 1"
        ):
            with_review(run, review(tree=OTHER), 2, is_word=is_word)
    found = (ReviewFinding(BLOCKING, "x" * 201),)
    long = with_review(at_work(), review(ReviewVerdict.CHANGES_REQUESTED, findings=found))
    with pytest.raises(Refused, match=r"files: x{200}\. No"):
        with_review(long, review())
    assert with_review(run, review(ReviewVerdict.CLEARED)) != run
    again = with_review(run, review(ReviewVerdict.CHANGES_REQUESTED, tree=OTHER))
    with pytest.raises(Refused, match="SQL injection"):
        with_review(again, review(tree="c" * 40))
    lifted = with_review(again, review(tree="c" * 40), 1)
    assert with_review(lifted, review(tree=TREE)) != lifted
    new = Story("S1", "Pay")
    assert as_shown(again.stories[0], new).reviews == again.stories[0].reviews[:1]
    assert as_shown(lifted.stories[0], new).reviews == ()


def test_what_stands_is_told_as_far_as_200_characters_go() -> None:
    """Each with its number, by which it is called resolved; on the same files the first is told."""
    found = (ReviewFinding(BLOCKING, "a" * 201), ReviewFinding(BLOCKING, "b"))
    run = with_review(at_work(), review(ReviewVerdict.CHANGES_REQUESTED, findings=found))
    assert standing(run.stories[0], StoryCheck.REVIEW_APPROVED) == {"a" * 201: TREE, "b": TREE}
    assert standing(run.stories[0], StoryCheck.SECURITY_CLEARED) == {}
    with pytest.raises(Refused, match=rf"1\. {'a' * 200}; 2\. b\b"):
        with_review(run, review(tree=OTHER))
    with pytest.raises(Refused, match=r": [^:]*2\. b\b.*--resolved 2"):
        with_review(run, review(tree=OTHER), 1)
    with pytest.raises(Refused, match=rf"{'a' * 200}(?!a)"):
        with_review(run, review())


def test_a_report_names_what_is_resolved() -> None:
    """By the numbers that the reviewer was given; prose names nothing."""
    report = "It was resolved in 2 days.\n**RESOLVED:** 1, 3\n- Resolved: 4\n"
    assert resolved_in(report) == (1, 3, 4)


def test_a_story_that_was_not_begun_is_not_reviewed() -> None:
    """Nothing is recorded; nor of a run that is over."""
    for run in (a_run(planned()), a_run(planned(status=DONE), status=RunStatus.COMPLETED)):
        with pytest.raises(Refused, match=r"nothing was (recorded|changed)"):
            with_review(run, review())


def test_a_completed_story_is_reviewed_again_for_what_came_after_it() -> None:
    """A review that refuses is kept, and makes no failure of a story that is done."""
    run = with_review(a_run(planned(status=DONE)), refusing())
    (story,) = run.stories
    assert (story.reviews, story.failures) == ((refusing(),), ())


def test_the_block_is_the_designs() -> None:
    """The three sections, and the check with its verdict."""
    record = replace(refusing(), check=StoryCheck.REVIEW_APPROVED)
    lines = drawn("reviewed", story=planned(), record=record)
    assert lines[:4] == [
        "## Code Review Results",
        "",
        "### BLOCKING Issues (Must Fix)",
        "- **[BLOCKING]** SQL injection",
    ]
    assert lines[4:10] == [
        "",
        "### SUGGESTIONS (Recommended)",
        "None.",
        "",
        "### INFO (For Future Reference)",
        "None.",
    ]
    about = f"CHANGES_REQUESTED on tree {TREE[:12]}, by reviewer; an edit voids it."
    assert lines[10:] == ["", f"**S1 reviewApproved:** {about}"]
