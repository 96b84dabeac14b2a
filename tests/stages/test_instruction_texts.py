"""What is told beside the six instructions, word for word, with everything filled in."""

from __future__ import annotations

import pytest

from lifecycle.core.stage_names import LINE as STAGES
from lifecycle.core.stage_names import MARKERS, Detected, Stage
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import StageSettings
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import StageSeen, decide
from lifecycle.stages.decisions.instructions import Facts
from lifecycle.stages.transcript.turn import StageFinding, Tier, Turn

FACTS = Facts(
    settings=StageSettings(
        test=("pytest", "npx vitest run"), review="/audit", deploy="./deploy.sh", start="/begin"
    ),
    wording=Wording(
        show="bd show {id}",
        ready="bd ready --label {label} --json",
        claim="bd update {id} --claim",
        close="bd close {id}",
        label="bd label add {id} {label}",
        comment="comment {id} -",
        publish="bd sync",
        start="/not-this",
    ),
    tracker="beads",
    task="bd-1",
    next_task="bd-2",
    next_title="Fix",
    line=(Stage.CODING, Stage.TESTING),
)
LINE = "WORKFLOW STAGES: CODING → TESTING"
WHY = instructions.TEXTS["REFUSED"]


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (
            instructions.again(Stage.CODING, FACTS, "Lead."),
            f"""\
Lead.

CURRENT STAGE: CODING
{LINE}

Next step: Continue with task bd-1.
- FIRST: Read CLAUDE.md and README.md to understand the system and workflow
- Re-read the issue description with `bd show bd-1`
- Follow all instructions in CLAUDE.md (beads-first workflow, TDD, verification, etc.)
- Implement the task according to project standards

When implementation is complete, emit:
::: WORKFLOW_STAGE: CODING_COMPLETE :::""",
        ),
        (
            instructions.instruction(
                Stage.TESTING,
                FACTS,
                WHY["no_evidence"],
                name="WITHOUT_EVIDENCE",
                missing="No run.",
            ),
            f"""\
The tests are not accepted as passing yet.

CURRENT STAGE: TESTING
{LINE}

Next step: Show a green test run on the code as it is now.
- No run.
- Run `pytest`, `npx vitest run` in the foreground, with nothing that hides its exit status
- Fix any failing tests

When all tests pass, emit:
::: WORKFLOW_STAGE: TESTS_PASSING :::""",
        ),
        (
            instructions.instruction(Stage.TESTING, FACTS, "It is alice's.", name="CONFLICT"),
            f"""\
It is alice's.

CURRENT STAGE: TESTING
{LINE}

Next step: Do not continue with this task until that is settled.
- See the state of the task: `bd show bd-1`
- Leave your changes as they are, and tell the user what prevents you from continuing

When that is settled and the stage is complete, emit:
::: WORKFLOW_STAGE: TESTS_PASSING :::""",
        ),
        (
            instructions.instruction(Stage.NEXT_TASK, FACTS, "Lead."),
            f"""\
Lead.

CURRENT STAGE: NEXT_TASK
{LINE}

Next step: Leave the closed task behind; the next one follows in this session.
- Emit the marker below now: you are then told how to begin the next task
- The next task is bd-2 (Fix): `/begin bd-2`
- To begin it with a fresh context, the user can run `/clear` instead

When you are ready for the next task, emit:
::: WORKFLOW_STAGE: SESSION_CLEARED :::""",
        ),
        (
            instructions.instruction(Stage.COMMIT_CLOSE, FACTS, "Lead."),
            f"""\
Lead.

CURRENT STAGE: COMMIT_CLOSE
{LINE}

Next step: Finalize and close the issue.
- Ensure all changes are committed and pushed
- Deploy if required: `./deploy.sh`
- Close issue with summary: `bd close bd-1`
- Sync: `bd sync`

When issue is closed, emit:
::: WORKFLOW_STAGE: ISSUE_CLOSED :::""",
        ),
        (
            instructions.instruction(Stage.ORACLE_REVIEW, FACTS, "Lead."),
            f"""\
Lead.

CURRENT STAGE: ORACLE_REVIEW
{LINE}

Next step: Request code review.
- Ensure all changes are committed
- Add the implementation summary to the issue as a comment, and do not change its description: \
`comment bd-1 - <<'EOF'`, the text, and `EOF` on a line of its own
- Add `needs-review` label: `bd label add bd-1 needs-review`
- Run `/audit` command
- It ends with its findings by severity and one line: `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`
- Address any feedback from review

When review is approved, emit:
::: WORKFLOW_STAGE: ORACLE_APPROVED :::""",
        ),
        (
            instructions.question(FACTS.line, "TESTS_" + "X" * 80),
            f"""\
There is no marker TESTS_{"X" * 54}; the markers are CODING_COMPLETE, TESTS_PASSING.

Unable to determine current workflow stage.

{LINE}

Which stage are you at? Respond with ONE of:
- CODING_COMPLETE (finished implementing)
- TESTS_PASSING (all tests pass)
- IN_PROGRESS (not finished yet: say what you wait for, or continue with it)

Then emit: ::: WORKFLOW_STAGE: <YOUR_STAGE> :::""",
        ),
        (
            instructions.question((Stage.CODING,), check="make test"),
            """\
What you ran does not show with certainty that the tests pass. Run `make test`: its result is recorded.

Unable to determine current workflow stage.

WORKFLOW STAGES: CODING

Which stage are you at? Respond with ONE of:
- CODING_COMPLETE (finished implementing)
- IN_PROGRESS (not finished yet: say what you wait for, or continue with it)

Then emit: ::: WORKFLOW_STAGE: <YOUR_STAGE> :::""",
        ),
        (
            instructions.TEXTS["ADVISORY"]["note"],
            """\
stages.require_evidence demands a green test run, but no command for tests is known here, and no test run \
was ever seen: the agent's own word counts until you name a command in stages.test.""",
        ),
    ],
    ids=lambda value: value.partition("\n")[0][:30],
)
def test_each_text_is_as_it_is_written(told: str, text: str) -> None:
    """Nothing is missing, nothing is there twice, and nothing stands in another place."""
    assert told == text


@pytest.mark.parametrize(
    ("own", "trackers", "told"),
    [
        ("/begin", "/go", "`/begin bd-2`"),
        ("/begin {id} now", "/go", "`/begin bd-2 now`"),
        ("", "/go", "`/go bd-2`"),
        ("", "/go {id} -q", "`/go bd-2 -q`"),
        ("", "", ""),
    ],
)
def test_the_next_task_begins_as_the_project_says_else_as_the_tracker_does(
    own: str, trackers: str, told: str
) -> None:
    """With the task's id where its place is, else behind; without a command there is no such line."""
    wording = Wording("", "", "", "", "", "", start=trackers)
    facts = Facts(settings=StageSettings(start=own), wording=wording, next_task="bd-2")
    lines = instructions.instruction(Stage.CODING, facts, "x").splitlines()
    wanted = [f"- Otherwise: Start work with {told}"] if told else []
    assert [line for line in lines if "Start work" in line] == wanted


def test_the_next_task_of_a_tracker_is_the_first_of_its_list_where_it_is_not_known() -> None:
    """Where it is known, the list is not shown beside it."""
    wording = Wording("", "ready {label}", "", "", "", "")
    for task, is_listed in (("", True), ("bd-2", False)):
        facts = Facts(wording=wording, next_task=task)
        text = instructions.instruction(Stage.NEXT_TASK, facts, "x")
        assert ("`ready auto-workflow`" in text) is is_listed
        assert ("The next task is bd-2" in text) is (not is_listed)


def test_an_issue_that_the_tracker_has_still_open_is_named() -> None:
    """With the instruction to close it; in a session that is at its code, to continue with that."""
    turn = Turn(asked=Stage.COMMIT_CLOSE, position="1")
    finding = StageFinding(Detected.ISSUE_CLOSED, Tier.MARKER)
    told = decide(StageSeen(turn, finding, FACTS, remaining=1, is_still_open=True)).text
    lead = "Task bd-1 is still open in the tracker: it is not closed yet."
    assert told == instructions.instruction(Stage.COMMIT_CLOSE, FACTS, lead)
    cleared = StageFinding(Detected.SESSION_CLEARED, Tier.MARKER)
    coding = Turn(asked=Stage.CODING, position="1")
    told = decide(StageSeen(coding, cleared, FACTS, remaining=1, is_still_open=True)).text
    assert told == instructions.instruction(Stage.CODING, FACTS, lead, name="GOING_ON")


def test_what_stands_in_the_way_is_known_by_its_line_alone() -> None:
    """A text that only speaks of it is none."""
    told = instructions.instruction(Stage.CODING, FACTS, "It is blocked.", name="CONFLICT")
    (step,) = [line for line in told.splitlines() if line.startswith("Next step: ")]
    assert instructions.is_conflict(told)
    assert not instructions.is_conflict(f"It says: {step}")
    assert not instructions.is_conflict("")


def test_a_marker_that_there_is_not_is_named_before_the_question() -> None:
    """Its first 60 characters, with those that there are; everything else is asked as ever."""
    name = "TESTS_DONE_" + "X" * 60
    names = ", ".join(MARKERS[stage] for stage in STAGES)
    first, blank, *rest = instructions.question(STAGES, name).splitlines()
    assert first == f"There is no marker {name[:60]}; the markers are {names}."
    assert (blank, rest) == ("", instructions.question().splitlines())
