"""The texts, sentence for sentence, with commands filled in and lines left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.light_dataclass import replace
from lifecycle.core.stage_names import LINE, MARKERS, Detected, Stage
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import StageSettings
from lifecycle.evidence.records import Evidence
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import HeldTask, StageSeen, decide
from lifecycle.stages.decisions.instructions import COMPLETED, Facts, instruction
from lifecycle.stages.detection.stage_markers import asked_in
from lifecycle.stages.transcript.turn import StageFinding, Tier, Turn

SETTINGS = StageSettings(
    test=("pytest", "npx vitest run"),
    review="/oracle-review",
    deploy="./deploy_prod.sh",
    start="/bd-start",
)
WORDING = Wording(
    show="bd show {id}",
    ready="bd ready --label {label} --json",
    claim="bd update {id} --claim",
    close='bd close {id} --reason "Summary of changes"',
    label="bd label add {id} {label}",
    comment="lifecycle tracker comment {id} -",
    publish="bd sync",
)
FULL = Facts(settings=SETTINGS, wording=WORDING, tracker="beads")
WHOLE = "WORKFLOW STAGES: CODING → REQUIREMENTS_REVIEW → TESTING → ORACLE_REVIEW → COMMIT_CLOSE → NEXT_TASK"

TEXTS = {
    Stage.REQUIREMENTS_REVIEW: f"""\
You've completed initial coding implementation.

CURRENT STAGE: REQUIREMENTS_REVIEW
{WHOLE}

Next step: Review the original issue requirements carefully.
- Re-read the issue description with `bd show <id>`
- Verify every requirement is satisfied
- Check for edge cases or missed scenarios
- Confirm implementation matches the planned approach
- End it with your findings by severity and one line: `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`

When you've confirmed everything is complete, emit:
::: WORKFLOW_STAGE: REQUIREMENTS_REVIEWED :::""",
    Stage.TESTING: f"""\
Requirements review complete.

CURRENT STAGE: TESTING
{WHOLE}

Next step: Verify all tests are passing.
- Run relevant test suites (`pytest`, `npx vitest run`)
- Fix any failing tests
- Ensure new code has appropriate test coverage
- Confirm no regressions introduced

When all tests pass, emit:
::: WORKFLOW_STAGE: TESTS_PASSING :::""",
    Stage.ORACLE_REVIEW: f"""\
All tests passing.

CURRENT STAGE: ORACLE_REVIEW
{WHOLE}

Next step: Request code review.
- Ensure all changes are committed
- Add the implementation summary to the issue as a comment, and do not change its description: \
`lifecycle tracker comment <id> - <<'EOF'`, the text, and `EOF` on a line of its own
- Add `needs-review` label: `bd label add <id> needs-review`
- Run `/oracle-review` command
- It ends with its findings by severity and one line: `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`
- Address any feedback from review

When review is approved, emit:
::: WORKFLOW_STAGE: ORACLE_APPROVED :::""",
    Stage.COMMIT_CLOSE: f"""\
Code review approved.

CURRENT STAGE: COMMIT_CLOSE
{WHOLE}

Next step: Finalize and close the issue.
- Ensure all changes are committed and pushed
- Deploy if required: `./deploy_prod.sh`
- Close issue with summary: `bd close <id> --reason "Summary of changes"`
- Sync: `bd sync`

When issue is closed, emit:
::: WORKFLOW_STAGE: ISSUE_CLOSED :::""",
    Stage.NEXT_TASK: f"""\
Issue closed successfully.

CURRENT STAGE: NEXT_TASK
{WHOLE}

Next step: Leave the closed task behind; the next one follows in this session.
- Emit the marker below now: you are then told how to begin the next task
- The next task is the first that `bd ready --label auto-workflow --json` lists
- To begin it with a fresh context, the user can run `/clear` instead

When you are ready for the next task, emit:
::: WORKFLOW_STAGE: SESSION_CLEARED :::""",
    Stage.CODING: f"""\
Session cleared. Ready for next task.

CURRENT STAGE: CODING
{WHOLE}

Next step: Find and start next task with label 'auto-workflow'.
- FIRST: Read CLAUDE.md and README.md to understand the system and workflow
- Find next ready issue: `bd ready --label auto-workflow --json`
- If no issues found, report "All auto-workflow tasks complete" and stop
- Otherwise: Start work with `/bd-start <id>`
- Follow all instructions in CLAUDE.md (beads-first workflow, TDD, verification, etc.)
- Implement the task according to project standards

When implementation is complete, emit:
::: WORKFLOW_STAGE: CODING_COMPLETE :::""",
}
QUESTION = f"""\
Unable to determine current workflow stage.

{WHOLE}

Which stage are you at? Respond with ONE of:
- CODING_COMPLETE (finished implementing)
- REQUIREMENTS_REVIEWED (verified requirements)
- TESTS_PASSING (all tests pass)
- ORACLE_APPROVED (code review approved)
- ISSUE_CLOSED (issue closed and deployed)
- SESSION_CLEARED (ready for next task)
- IN_PROGRESS (not finished yet: say what you wait for, or continue with it)

Then emit: ::: WORKFLOW_STAGE: <YOUR_STAGE> :::"""


def before(stage: Stage) -> Stage:
    """The stage that is completed when this one is asked for."""
    return LINE[LINE.index(stage) - 1]


@pytest.mark.parametrize("stage", LINE)
def test_each_instruction_is_the_designs(stage: Stage) -> None:
    """With all commands there, the six texts are the design's, and nobody is told to do what he cannot."""
    assert instruction(stage, FULL, COMPLETED[before(stage)]) == TEXTS[stage]


def test_the_question_is_the_designs() -> None:
    """Word for word."""
    assert instructions.question() == QUESTION


@pytest.mark.parametrize("stage", LINE)
def test_a_line_without_its_command_is_left_out(stage: Stage) -> None:
    """With nothing configured and a tracker without words, no empty command is shown."""
    text = instruction(stage, Facts(), COMPLETED[before(stage)])
    assert "``" not in text
    assert "()" not in text
    full = [line for line in TEXTS[stage].splitlines() if line.startswith("- ")]
    kept = [line for line in text.splitlines() if line.startswith("- ")]
    left = {
        Stage.CODING: ["Find next", "Otherwise"],
        Stage.REQUIREMENTS_REVIEW: ["Re-read"],
        Stage.TESTING: ["Run relevant"],
        Stage.ORACLE_REVIEW: ["Add `needs", "Run `/oracle"],
        Stage.COMMIT_CLOSE: ["Deploy", "Close issue", "Sync"],
        Stage.NEXT_TASK: ["The next task"],
    }[stage]
    wanted = [line for line in full if not line.startswith(tuple(f"- {name}" for name in left))]
    plain = [line.partition(": `lifecycle tracker comment")[0] for line in wanted]
    assert [line.replace("beads-first workflow, ", "") for line in plain] == kept


def test_ids_and_labels_are_filled_in() -> None:
    """The session's task, the next one, the project's label, and the tracker's way to comment."""
    settings = StageSettings(label="robots", start="/begin {id} now")
    wording = Wording(
        show="t show {id}",
        ready="t ready {label}",
        claim="",
        close="",
        label="",
        comment="t say {id}",
    )
    facts = Facts(settings=settings, wording=wording, tracker="github", task="7", next_task="9")
    assert "`t show 7`" in instruction(Stage.REQUIREMENTS_REVIEW, facts, "x")
    assert "its description: `t say 7 <<'EOF'`" in instruction(Stage.ORACLE_REVIEW, facts, "x")
    coding = instruction(Stage.CODING, facts, "x")
    for part in (
        "label 'robots'",
        "`t ready robots`",
        '"All robots tasks complete"',
        "`/begin 9 now`",
    ):
        assert part in coding
    given = Facts(
        wording=Wording(show="", ready="", claim="", close="", label="", comment="", start="/go")
    )
    assert "Start work with `/go <id>`" in instruction(Stage.CODING, given, "x")


def said_closed(facts: Facts, holding: HeldTask) -> str:
    """The answer to an agent that calls a task closed that the tracker has open."""
    turn, finding = Turn(position="1"), StageFinding(Detected.ISSUE_CLOSED, Tier.MARKER)
    return decide(StageSeen(turn, finding, facts, holding=holding, is_still_open=True)).text


def test_under_a_claim_the_handoff_is_instructed_and_no_close() -> None:
    """The claim closes after the merge: no close command is shown, and the deploy stays."""
    text = instruction(
        Stage.COMMIT_CLOSE, Facts(settings=SETTINGS, wording=WORDING, is_claimed=True), "x"
    )
    assert "`lifecycle handoff --summary-file - <<'EOF'`" in text
    assert "The claim closes the issue after the merge" in text
    assert "bd close" not in text
    assert "Close issue with summary" not in text
    assert "./deploy_prod.sh" in text
    held = said_closed(Facts(wording=WORDING, is_claimed=True), HeldTask.WORKING)
    assert asked_in(held) is Stage.COMMIT_CLOSE
    assert held.startswith(instructions.TEXTS["REFUSED"]["held"])
    assert "not closed yet" in held


def test_the_line_and_the_answers_follow_the_tasks_own_sequence() -> None:
    """A shorter line is shown as it is, and only its markers are offered."""
    line = (Stage.CODING, Stage.TESTING, Stage.COMMIT_CLOSE)
    text = instruction(Stage.TESTING, Facts(line=line), COMPLETED[Stage.CODING])
    assert "WORKFLOW STAGES: CODING → TESTING → COMMIT_CLOSE\n" in text
    assert text.startswith("You've completed initial coding implementation.")
    asked = instructions.question(line)
    offered = [entry.split()[1] for entry in asked.splitlines() if entry.startswith("- ")]
    assert offered == [*(str(MARKERS[stage]) for stage in line), "IN_PROGRESS"]


def test_what_stands_in_the_way_is_said() -> None:
    """Missing evidence, another's task and a block name the stage that stays, and what to do."""
    finding = StageFinding(Detected.TESTS_PASSING, Tier.MARKER)
    red = StageSeen(Turn(position="1"), finding, FULL, evidence=Evidence.RED)
    missing = decide(red).text
    assert missing.startswith(instructions.TEXTS["REFUSED"]["no_evidence"])
    assert asked_in(missing) is Stage.TESTING
    assert "- The last test run was red" in missing
    assert "`pytest`, `npx vitest run`" in missing
    assert missing.endswith("::: WORKFLOW_STAGE: TESTS_PASSING :::")
    for sentence in ("bd-1 is claimed by alice.", "bd-1 is blocked by bd-2."):
        seen = replace(red, facts=Facts(wording=WORDING, task="bd-1"), conflict=sentence)
        text = decide(replace(seen, evidence=Evidence.NOT_NEEDED)).text
        assert text.startswith(sentence)
        assert asked_in(text) is Stage.TESTING
        assert "`bd show bd-1`" in text
        assert instructions.is_conflict(text)
    assert not instructions.is_conflict(missing)
    still = said_closed(Facts(wording=WORDING, task="bd-1"), HeldTask.NONE)
    assert still.startswith("Task bd-1 is still open in the tracker")
    assert asked_in(still) is Stage.COMMIT_CLOSE
    assert "`bd close bd-1" in still
    assert instructions.complete() == "All auto-workflow tasks complete"
    some = [instructions.complete("mine", count) for count in (1, 2)]
    assert some == [
        f"No mine task is left to begin: {count} in progress" for count in ("1 is", "2 are")
    ]


@pytest.mark.parametrize("stage", LINE)
def test_a_task_that_was_begun_is_not_begun_anew(stage: Stage) -> None:
    """Cleared, compacted or set by hand: the whole instruction; in CODING of the task that is known."""
    known = Facts(settings=SETTINGS, wording=WORDING, task="bd-1")
    text = instructions.again(stage, known, instructions.GOES_ON)
    assert text.startswith("The staged workflow goes on.")
    assert asked_in(text) is stage
    assert text.splitlines()[-1] == f"::: WORKFLOW_STAGE: {MARKERS[stage]} :::"
    is_coding = stage is Stage.CODING
    assert "Find and start next task" not in text
    assert ("Continue with task bd-1." in text) is is_coding
    unknown = Facts(settings=SETTINGS, wording=WORDING)
    assert instructions.again(stage, unknown, "Lead.") == instruction(stage, unknown, "Lead.")


@given(st.sampled_from(LINE), st.lists(st.sampled_from(LINE), unique=True, min_size=1), st.text())
def test_every_instruction_asks_for_its_stage_and_its_marker(
    stage: Stage, line: list[Stage], task: str
) -> None:
    """Whatever the facts: the stage can be read back, and the marker is the last line."""
    facts = Facts(settings=SETTINGS, wording=WORDING, task=task, line=tuple(line))
    text = instruction(stage, facts, COMPLETED[stage])
    assert text.splitlines()[-1] == f"::: WORKFLOW_STAGE: {MARKERS[stage]} :::"
    if "CURRENT" not in task:
        assert asked_in(text) is stage


def test_what_comes_first_is_called_as_the_tracker_calls_it() -> None:
    """Beads first where that is the tracker; on GitHub they are issues."""
    for tracker, first in (("beads", "beads-first"), ("github", "issue-first")):
        told = instruction(Stage.CODING, Facts(tracker=tracker), "x")
        assert f"({first} workflow, TDD, verification, etc.)" in told


def test_the_next_task_is_named_with_its_command() -> None:
    """At NEXT_TASK: what to do, which task is next, and how it begins; no word of waiting or clearing."""
    facts = Facts(
        settings=SETTINGS, wording=WORDING, task="demo-1", next_task="demo-2", next_title="Fix it"
    )
    text = instruction(Stage.NEXT_TASK, facts, COMPLETED[Stage.COMMIT_CLOSE])
    assert "- The next task is demo-2 (Fix it): `/bd-start demo-2`" in text.splitlines()
    for word in ("Clear session", "do not wait", "demo-1"):
        assert word not in text
    plain = instruction(Stage.NEXT_TASK, Facts(next_task="7"), "x")
    assert "- The next task is 7" in plain.splitlines()
