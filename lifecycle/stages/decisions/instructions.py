"""What a session is told: the six instructions, the question, and what stands in a stage's way.

Each instruction confirms what was completed, names the stage that it asks for (`CURRENT STAGE: X`, by
which the transcript tells it later), shows the line of stages, lists what to do, and ends with the
marker to emit. The tracker's and the project's own commands are filled in; a line whose command is not
there is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.core.stage_names import LINE, MARKERS, Detected, Stage
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import LABEL, StageSettings
from lifecycle.stages.detection.stage_markers import CURRENT, QUESTION

_NO_WORDING = Wording(show="", ready="", claim="", close="", label="", comment="")

NEEDS_REVIEW = "needs-review"
"""The label that a task gets while its review is asked for."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the instructions of one session are filled with.

    Attributes:
        settings: the project's own commands and label.
        wording: the tracker's commands.
        tracker: the tracker's name.
        task: the id of the session's task, as it is typed; "" if it is not known.
        next_task: the id of the task to begin with next; "" if it is not known.
        next_title: its title, as data.
        line: the stages of the session's task.
        is_claimed: a claim on GitHub holds this worktree: its issue closes with the merge.
    """

    settings: StageSettings = field(default_factory=StageSettings)
    wording: Wording = _NO_WORDING
    tracker: str = ""
    task: str = ""
    next_task: str = ""
    next_title: str = ""
    line: tuple[Stage, ...] = LINE
    is_claimed: bool = False


COMPLETED = {
    Stage.CODING: "You've completed initial coding implementation.",
    Stage.REQUIREMENTS_REVIEW: "Requirements review complete.",
    Stage.TESTING: "All tests passing.",
    Stage.ORACLE_REVIEW: "Code review approved.",
    Stage.COMMIT_CLOSE: "Issue closed successfully.",
    Stage.NEXT_TASK: "Session cleared. Ready for next task.",
}
"""How an instruction confirms the stage that was completed."""

BY_HAND = "The stage was set by hand."
GOES_ON = "The staged workflow goes on."
"""How the instruction begins for a session that was cleared, compacted or resumed in mid-stage."""

_HAND_OFF = "lifecycle handoff --summary-file - <<'EOF'"
_UNSETTLED = "Do not go on with this task until that is settled."

_STEPS = {
    Stage.REQUIREMENTS_REVIEW: "Review the original issue requirements carefully.",
    Stage.TESTING: "Verify all tests are passing.",
    Stage.ORACLE_REVIEW: "Request code review.",
    Stage.COMMIT_CLOSE: "Finalize and close the issue.",
    Stage.NEXT_TASK: "Leave the closed task behind; the next one follows in this session.",
}
_ENDS = {
    Stage.CODING: "When implementation is complete, emit:",
    Stage.REQUIREMENTS_REVIEW: "When you've confirmed everything is complete, emit:",
    Stage.TESTING: "When all tests pass, emit:",
    Stage.ORACLE_REVIEW: "When review is approved, emit:",
    Stage.COMMIT_CLOSE: "When issue is closed, emit:",
    Stage.NEXT_TASK: "When you are ready for the next task, emit:",
}
_ANSWERS = (
    "- CODING_COMPLETE (finished implementing)",
    "- REQUIREMENTS_REVIEWED (verified requirements)",
    "- TESTS_PASSING (all tests pass)",
    "- ORACLE_APPROVED (code review approved)",
    "- ISSUE_CLOSED (issue closed and deployed)",
    "- SESSION_CLEARED (ready for next task)",
)
_UNFINISHED = (
    f"- {Detected.IN_PROGRESS} (not finished yet: say what you wait for, or go on with it)"
)


def marker(state: Detected) -> str:
    """The marker as the agent emits it."""
    return f"::: WORKFLOW_STAGE: {state} :::"


def line_of(line: tuple[Stage, ...]) -> str:
    """The line of stages, as every instruction shows it."""
    return "WORKFLOW STAGES: " + " → ".join(line)


def complete(label: str = LABEL) -> str:
    """What is said once when nothing is left."""
    return f"All {label} tasks complete"


def instruction(stage: Stage, facts: Facts, lead: str) -> str:
    """The instruction that asks for `stage`; `lead` says why, as COMPLETED does."""
    step = _STEPS.get(stage) or f"Find and start next task with label '{facts.settings.label}'."
    return _text(stage, facts, lead, step, _ACTIONS[stage](facts))


def again(stage: Stage, facts: Facts, lead: str) -> str:
    """The instruction for a session that is at `stage` already: a task that was begun is not begun anew."""
    if stage is not Stage.CODING or not facts.task:
        return instruction(stage, facts, lead)
    lines = [
        "- FIRST: Read CLAUDE.md and README.md to understand the system and workflow",
        *_reading(facts),
        *_standards(facts),
    ]
    return _text(stage, facts, lead, f"Go on with task {facts.task}.", lines)


def question(line: tuple[Stage, ...] = LINE, misnamed: str = "") -> str:
    """The question which stage it is; `misnamed` stood in a marker, and there is no such one."""
    asked = {str(MARKERS[stage]) for stage in line}
    names = ", ".join(MARKERS[stage] for stage in line)
    wrong = [f"There is no marker {misnamed[:60]}; the markers are {names}.", ""]
    answers = [answer for answer in _ANSWERS if answer.split()[1] in asked]
    return "\n".join(
        [
            *(wrong if misnamed else []),
            *(QUESTION, "", line_of(line), ""),
            *("Which stage are you at? Respond with ONE of:", *answers, _UNFINISHED, ""),
            "Then emit: ::: WORKFLOW_STAGE: <YOUR_STAGE> :::",
        ]
    )


def no_evidence(facts: Facts, missing: str) -> str:
    """What is told if the tests are said to pass and no green run on this tree is known.

    `missing` is one sentence that says which: no run, a red run, or the tree changed since.
    """
    run = _each(facts.settings.test)
    lines = [
        f"- {missing}",
        *_if(run, f"- Run {run} in the foreground, and let its own exit status stand"),
        "- Fix any failing tests",
    ]
    lead = "The tests are not accepted as passing yet."
    step = "Show a green test run on the code as it is now."
    return _text(Stage.TESTING, facts, lead, step, lines)


def conflict(facts: Facts, stage: Stage, sentence: str) -> str:
    """What is told if the task is another's now, or blocked: `sentence` says by whom or what."""
    show = _filled(facts.wording.show, facts.task)
    lines = [
        *_if(show, f"- See how it stands: `{show}`"),
        "- Leave what you changed as it is, and tell the user what stands in the way",
    ]
    end = "When that is settled and the stage is complete, emit:"
    return _text(stage, facts, sentence, _UNSETTLED, lines, end)


def is_conflict(instruction: str) -> bool:
    """True if this is what `conflict` tells: the agent is to tell the user, and not to go on."""
    return f"Next step: {_UNSETTLED}" in instruction.splitlines()


def still_open(facts: Facts) -> str:
    """What is told if the issue is said to be closed, and the tracker says that it is not."""
    lead = f"Task {facts.task} is still open in the tracker: it is not closed yet."
    return instruction(Stage.COMMIT_CLOSE, facts, lead)


def still_claimed(facts: Facts) -> str:
    """What is told if the issue is said to be closed while the claim has not been handed off."""
    lead = "The claim is still held, and its issue closes after the merge: it is not closed yet."
    return instruction(Stage.COMMIT_CLOSE, facts, lead)


def _text(stage: Stage, facts: Facts, lead: str, step: str, lines: list[str], end: str = "") -> str:
    """How every instruction looks: why, the stage, the line of stages, the step, the marker."""
    head = (lead, "", f"{CURRENT}{stage}", line_of(facts.line), "", f"Next step: {step}")
    return "\n".join([*head, *lines, "", end or _ENDS[stage], marker(MARKERS[stage])])


def _coding(facts: Facts) -> list[str]:
    settings, ready, begin = facts.settings, _ready(facts), _begin(facts)
    return [
        "- FIRST: Read CLAUDE.md and README.md to understand the system and workflow",
        *_if(ready, f"- Find next ready issue: `{ready}`"),
        f'- If no issues found, report "{complete(settings.label)}" and stop',
        *_if(begin, f"- Otherwise: Start work with `{begin}`"),
        *_standards(facts),
    ]


def _standards(facts: Facts) -> list[str]:
    first = "issue" if facts.tracker == "github" else facts.tracker
    practice = ", ".join([*([f"{first}-first workflow"] if first else []), "TDD"])
    return [
        f"- Follow all instructions in CLAUDE.md ({practice}, verification, etc.)",
        "- Implement the task according to project standards",
    ]


def _reading(facts: Facts) -> list[str]:
    show = _filled(facts.wording.show, facts.task)
    return _if(show, f"- Re-read the issue description with `{show}`")


def _requirements(facts: Facts) -> list[str]:
    return [
        *_reading(facts),
        "- Verify every requirement is satisfied",
        "- Check for edge cases or missed scenarios",
        "- Confirm implementation matches the planned approach",
    ]


def _testing(facts: Facts) -> list[str]:
    run = _each(facts.settings.test)
    return [
        *_if(run, f"- Run relevant test suites ({run})"),
        "- Fix any failing tests",
        "- Ensure new code has appropriate test coverage",
        "- Confirm no regressions introduced",
    ]


def _review(facts: Facts) -> list[str]:
    wording, review = facts.wording, facts.settings.review
    comment = _filled(wording.comment, facts.task)
    label = _filled(wording.label, facts.task).replace("{label}", NEEDS_REVIEW)
    return [
        "- Ensure all changes are committed",
        "- Add the implementation summary to the issue as a comment, and leave its description as it is"
        + (f": `{comment} <<'EOF'`, the text, and `EOF` on a line of its own" if comment else ""),
        *_if(label, f"- Add `{NEEDS_REVIEW}` label: `{label}`"),
        *_if(review, f"- Run `{review}` command"),
        "- Address any feedback from review",
    ]


def _close(facts: Facts) -> list[str]:
    wording, deploy = facts.wording, facts.settings.deploy
    close = _filled(wording.close, facts.task)
    if facts.is_claimed:
        end = [
            f"- Hand off with a summary: `{_HAND_OFF}`, the summary in one line, and `EOF` on the next",
            "- The claim closes the issue after the merge; do not close it in any other way",
            "- You are told when the merge is seen and the issue is closed; emit the marker only then",
        ]
    else:
        end = _if(close, f"- Close issue with summary: `{close}`")
    return [
        "- Ensure all changes are committed and pushed",
        *_if(deploy, f"- Deploy if required: `{deploy}`"),
        *end,
        *_if(wording.publish, f"- Sync: `{wording.publish}`"),
    ]


def _next(facts: Facts) -> list[str]:
    begin = _begin(facts)
    if not facts.next_task:
        which = _if(_ready(facts), f"- The next task is the first that `{_ready(facts)}` lists")
    else:
        title = f" ({facts.next_title})" if facts.next_title else ""
        which = [f"- The next task is {facts.next_task}{title}" + (f": `{begin}`" if begin else "")]
    return [
        "- Emit the marker below now: you are told then how the next task begins",
        *which,
        "- To begin it with a fresh context, the user can run `/clear` instead",
    ]


def _ready(facts: Facts) -> str:
    """The command that lists what could be begun next."""
    return facts.wording.ready.replace("{label}", facts.settings.label)


def _begin(facts: Facts) -> str:
    """The command that begins with the next task; "" if there is none."""
    start = facts.settings.start or facts.wording.start
    begin = f"{start} {{id}}" if start and "{id}" not in start else start
    return _filled(begin, facts.next_task)


_ACTIONS = {
    Stage.CODING: _coding,
    Stage.REQUIREMENTS_REVIEW: _requirements,
    Stage.TESTING: _testing,
    Stage.ORACLE_REVIEW: _review,
    Stage.COMMIT_CLOSE: _close,
    Stage.NEXT_TASK: _next,
}


def _if(command: str, line: str) -> list[str]:
    return [line] if command else []


def _filled(command: str, task: str) -> str:
    return command.replace("{id}", task or "<id>")


def _each(commands: tuple[str, ...]) -> str:
    return ", ".join(f"`{command}`" for command in commands)
