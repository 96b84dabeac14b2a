"""The text of a run's pull request: what no record shows is not checked."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.run import state
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import (
    Criterion,
    GatePart,
    GateRecord,
    Led,
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
    Severity,
    StoryCheck,
    StoryStatus,
)
from lifecycle.run.texts.report_text import (
    body_of,
    grouped,
    summary_of,
    with_section,
)

AT = 1_800_000_000.0
PASS, FAIL, LACKS = CheckState.PASS, CheckState.FAIL, CheckState.NOT_APPLICABLE


def final(build: CheckState = PASS, test: CheckState = PASS, lint: CheckState = PASS) -> GateRecord:
    """A run of G7."""
    parts = (
        GatePart("build", build, "make"),
        GatePart("test", test, "pytest", tests=42),
        GatePart("lint", lint, "ruff check"),
    )
    return GateRecord(Gate.G7, AT, PASS, "t", parts)


def review(
    check: StoryCheck = StoryCheck.REVIEW_APPROVED,
    verdict: ReviewVerdict = ReviewVerdict.APPROVED,
    *findings: ReviewFinding,
) -> ReviewRecord:
    """A review."""
    return ReviewRecord(check, verdict, AT, "t", findings=findings)


def done(name: str = "S1", **given: object) -> Story:
    """A completed story with everything recorded."""
    story = Story(
        name,
        f"Story {name}",
        status=StoryStatus.COMPLETED,
        iteration=2,
        criteria=(Criterion("it works", CriterionState.MET),),
        reviews=(review(),),
        gates=(GateRecord(Gate.G4, AT, PASS, "t", (GatePart("coverage", PASS, percent=85.5),)),),
        red=state.TestProof(AT, ("test_a.py::test_it",)),
        green=state.TestProof(AT, ("test_a.py::test_it",)),
    )
    return replace(story, **given)


def run_of(*stories: Story, **given: object) -> Run:
    """A run with these stories."""
    led = (Led("one", AT, tokens=1_200), Led("two", AT), Led("one", AT, tokens=34))
    run = Run("abc12345", "Implement payment processing", AT, stories=stories, led=led)
    return replace(run, **given)


HERE = WorkFacts("here")


def body(run: Run, record: GateRecord | None = None, facts: WorkFacts = HERE) -> str:
    """Its text after an hour and five minutes."""
    gates = () if record is None else (replace(record, tree="here"),)
    return body_of(replace(run, gates=gates), ["src/pay.py"], AT + 3_900, facts)


def test_all_that_is_recorded_is_in_it() -> None:
    """The design's sections in the design's order."""
    text = body(run_of(done(), done("S2"), iterations=3), final())
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == [
        "## Summary",
        "## Stories Implemented",
        "## Key Changes",
        "## Testing",
        "## Verification Checklist",
        "## Workflow Metrics",
    ]
    for line in (
        "Implement payment processing",
        "- **S1:** Story S1",
        "- `src/`: `pay.py`",
        "- All 42 tests passing",
        "- S1: coverage PASS (85.5%)",
        "- S1: 1 named test failed before the change, and pass now",
        "- [x] Build passes (`make`)",
        "- [x] All tests pass (`pytest`)",
        "- [x] Lint checks pass (`ruff check`)",
        "- [x] Code review approved by reviewer agent",
        "- [ ] Security review: N/A (no story is security-sensitive)",
        "- [x] All acceptance criteria verified by tester agent",
        "- **Workflow ID:** abc12345",
        "- **Runtime:** 1.1 h",
        "- **Stories:** 2/2",
        "- **Total Iterations:** 3",
        "- **Sessions:** 2",
        "- **Tokens:** 1,234",
        "Generated with [Claude Code](https://claude.com/claude-code)",
    ):
        assert line in text.splitlines(), line


def test_what_was_not_recorded_is_not_checked() -> None:
    """A run in the middle has a text, too, with no box that is checked."""
    bare = Story("S1", "One", status=StoryStatus.IN_PROGRESS)
    text = body(run_of(bare, Story("S2", "Two")))
    assert "[x]" not in text
    assert "- [ ] All tests pass (not recorded)" in text
    assert "- No passed test run is recorded for this state" in text
    assert "**Not finished:** 2 of 2 stories are open." in text
    assert "- **S1:** One (in_progress)" in text


@pytest.mark.parametrize(
    ("run", "record", "unchecked"),
    [
        (run_of(done()), final(build=FAIL), "Build passes (`make`)"),
        (run_of(done()), final(test=FAIL), "All tests pass (`pytest`)"),
        (run_of(done()), final(test=CheckState.PENDING), "All tests pass (not recorded)"),
        (
            run_of(done()),
            final(lint=LACKS),
            "Lint checks pass: N/A (the platform has no such command)",
        ),
        (run_of(done(reviews=())), final(), "Code review approved by reviewer agent"),
        (
            run_of(done(reviews=(review(), review(verdict=ReviewVerdict.CHANGES_REQUESTED)))),
            final(),
            "Code review approved by reviewer agent",
        ),
        (
            run_of(
                done(
                    reviews=(
                        review(
                            StoryCheck.REVIEW_APPROVED,
                            ReviewVerdict.APPROVED,
                            ReviewFinding(Severity.BLOCKING, "no"),
                        ),
                    )
                )
            ),
            final(),
            "Code review approved by reviewer agent",
        ),
        (run_of(done(security=True)), final(), "Security review passed"),
        (
            run_of(done(criteria=(Criterion("it works", CriterionState.UNMET),))),
            final(),
            "All acceptance criteria verified by tester agent",
        ),
        (
            run_of(done(criteria=(Criterion("a real card is charged", CriterionState.MANUAL),))),
            final(),
            "All acceptance criteria verified by tester agent",
        ),
        (
            run_of(done(criteria=())),
            final(),
            "All acceptance criteria verified by tester agent",
        ),
    ],
)
def test_a_box_is_checked_from_its_record_alone(
    run: Run, record: GateRecord, unchecked: str
) -> None:
    """Each of the others stays as it was shown."""
    assert f"- [ ] {unchecked}" in body(run, record).splitlines()


def test_what_came_after_a_review_unchecks_its_box() -> None:
    """Though all was approved and met: each box with what it does not stand for."""
    cleared = review(StoryCheck.SECURITY_CLEARED, ReviewVerdict.CLEARED)
    run = run_of(done(security=True, reviews=(review(), cleared)))
    unread, uncleared = ("a.py is new", "b.py, too"), ("c.py is new",)
    facts = WorkFacts("here", late=("d.py",), unread=unread, uncleared=uncleared)
    boxes = {
        "Code review approved by reviewer agent": "a.py is new; b.py, too",
        "Security review passed": "c.py is new",
        "All acceptance criteria verified by tester agent": "before d.py changed",
    }
    before, after = (body(run, final(), seen).splitlines() for seen in (HERE, facts))
    for box, why in boxes.items():
        assert f"- [x] {box}" in before
        assert f"- [ ] {box} ({why})" in after


def test_one_test_is_not_said_to_be_several() -> None:
    """The line goes without its number then."""
    (build, _, lint) = final().parts
    record = replace(final(), parts=(build, GatePart("test", PASS, "pytest", tests=1), lint))
    assert "- All tests passing" in body(run_of(done()), record).splitlines()


def test_a_security_review_is_checked_where_it_cleared() -> None:
    """Of a story that needs one."""
    cleared = review(StoryCheck.SECURITY_CLEARED, ReviewVerdict.CLEARED)
    text = body(run_of(done(security=True, reviews=(review(), cleared))), final())
    assert "- [x] Security review passed" in text


def test_what_a_person_has_to_look_at_is_said() -> None:
    """Waived lint or cycle, a story taken out, tests changed after red, criteria that no test can judge."""
    changed = state.TestProof(AT, ("t",), changed=("tests/test_a.py",))
    stories = (
        done(green=changed),
        done("S2", waived="documentation only", red=None, green=None),
        done("S3", criteria=(Criterion("a real card is charged", CriterionState.MANUAL),)),
        done("S4", unneeded="it is there already"),
    )
    waived = "Lint issues remain - manual review needed"
    removed = (state.Story("S5", "Twice", unneeded="it is S4"),)
    text = body(run_of(*stories, lint_waived=waived, removed=removed), final(lint=FAIL))
    for line in (
        "- **S5:** Twice (it is S4)",
        f"- [ ] Lint checks pass (`ruff check`) - {waived}",
        "- S1: tests changed between red and green, please look: `tests/test_a.py`",
        "- S2: no failing test came first, waived: documentation only",
        "- [ ] S3: a real card is charged (MANUAL_VERIFICATION_REQUIRED)",
        "- **S4:** Story S4 (no change needed: it is there already)",
    ):
        assert line in text.splitlines(), line


def test_nobodys_words_leave_the_text() -> None:
    """A secret is starred, and no comment of somebody ends the run's part."""
    goal = "Use AKIA" + "ABCDEFGHIJKLMNOP <!-- lifecycle:run-end id=abc12345 -->"
    text = body(run_of(done(), goal=goal), final())
    assert "AKIA" not in text
    assert "<!--" not in text
    assert len(body(run_of(done(), goal="x" * 100_000))) <= 60_000


def test_the_title_is_the_goals_first_line() -> None:
    """Short, and in one line."""
    assert summary_of(run_of()) == "Implement payment processing"
    long = run_of(goal="\n" + "pay " * 60 + "\nmore")
    assert summary_of(long).endswith("…")
    assert len(summary_of(long)) <= 100
    assert summary_of(run_of(goal="")) == run_of().id  # somebody took it out of the file


def test_a_second_text_takes_the_place_of_the_first() -> None:
    """Whatever a person wrote around it stays; another run's part is another one."""
    run = run_of()
    first = with_section("A person's words.\n", run, "one")
    second = with_section(f"{first}\n\nAnd more.", run, r"two \1")
    assert with_section(second, run, r"two \1") == second
    assert "one" not in second.replace("person", "")
    assert second.startswith("A person's words.")
    assert second.endswith("And more.")
    other = with_section(second, replace(run, id="def"), "three")
    assert r"two \1" in other
    assert "three" in other


def test_changes_are_grouped_by_folder() -> None:
    """Each with the names of its files; of very many folders and files, how many more there are."""
    files = ["README.md", "a.bin", *(f"src/m{number}.py" for number in range(10))]
    assert grouped(files) == [
        "- the top folder: `README.md`, `a.bin`",
        (
            "- `src/`: `m0.py`, `m1.py`, `m2.py`, `m3.py`, `m4.py`, `m5.py`, `m6.py`, `m7.py` and 2 more"
        ),
    ]
    assert grouped(f"d{number}/f.py" for number in range(25))[-1] == "- and 5 more folders"
    assert grouped([]) == []
