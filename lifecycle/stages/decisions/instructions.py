"""What a session is told: the next stage, the six instructions, the question, obstacles to a stage.

Each instruction confirms what was completed, names the stage that it asks for (`CURRENT STAGE: X`, which
is found again in the transcript), shows the line of stages, lists what to do, and ends with the marker
to emit. The texts are in `instructions.toml`. The tracker's and the project's own commands are filled
in here; a line is left out if its command is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field, fields_of
from lifecycle.core.stage_names import COMPLETES, LINE, MARKERS, Detected, Stage
from lifecycle.core.tracker import Wording
from lifecycle.core.values.configured import LABEL, StageSettings
from lifecycle.settings import resources
from lifecycle.stages.detection.stage_markers import CURRENT, QUESTION

TEXTS: dict[str, dict[str, Any]] = resources.texts("stages/decisions/instructions.toml")
"""Read once, at the import: the texts are as fixed as the code, so decisions depend on no file."""

_NO_WORDING = Wording(show="", ready="", claim="", close="", label="", comment="")

NEEDS_REVIEW = "needs-review"
"""The label that a task gets while a review is requested."""


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
        is_claimed: this worktree has a claim on GitHub: its issue closes with the merge.
        check: the command that runs the tests and records the result; "" if no test command is known.
    """

    settings: StageSettings = field(default_factory=StageSettings)
    wording: Wording = _NO_WORDING
    tracker: str = ""
    task: str = ""
    next_task: str = ""
    next_title: str = ""
    line: tuple[Stage, ...] = LINE
    is_claimed: bool = False
    check: str = ""


COMPLETED: dict[Stage, str] = {stage: TEXTS[stage]["completed"] for stage in LINE}
"""How an instruction confirms the stage that was completed."""

BY_HAND, BY_RUN = "set by hand", "set by the end of the run"
"""The two ways to set a stage that is told whatever the transcript says."""
GOES_ON = "The staged workflow goes on."
"""How the instruction begins for a session that was cleared, compacted or resumed in mid-stage."""


def marker(state: Detected) -> str:
    """The marker as the agent emits it."""
    return f"::: WORKFLOW_STAGE: {state} :::"


def complete(label: str = LABEL, elsewhere: int = 0) -> str:
    """The sentence, said once, that no task is left, or only tasks that somebody else works on."""
    if not elsewhere:
        return f"All {label} tasks complete"
    count = "1 is" if elsewhere == 1 else f"{elsewhere} are"
    return f"No {label} task is left to begin: {count} in progress"


def instruction(stage: Stage, facts: Facts, lead: str, *, name: str = "", missing: str = "") -> str:
    """One instruction: why, the stage, the line of stages, the step, the marker.

    Args:
        stage: the stage that is asked for.
        facts: what the texts are filled with.
        lead: why the session is told this, as COMPLETED says it.
        name: the table of the texts; "" for the stage's own.
        missing: what the tests lack.
    """
    texts, words = TEXTS[name or stage], {**_words(facts), "missing": missing}
    lines = filter(None, (_filled(line, words) for line in texts["lines"]))
    head = (lead, "", f"{CURRENT}{stage}", _line_of(facts.line), "")
    end = texts.get("end", TEXTS[stage]["end"])
    step = f"Next step: {_filled(texts['step'], words)}"
    return "\n".join([*head, step, *lines, "", end, marker(MARKERS[stage])])


def again(stage: Stage, facts: Facts, lead: str) -> str:
    """The instruction for a session that is already at `stage`: its task is not begun a second time."""
    is_begun = stage is Stage.CODING and facts.task
    return instruction(stage, facts, lead, name="GOING_ON" if is_begun else "")


def question(line: tuple[Stage, ...] = LINE, misnamed: str = "", check: str = "") -> str:
    """The question which stage the session is at.

    Args:
        line: the stages of the task.
        misnamed: a name in a marker that is not a stage's.
        check: the command whose test run can be seen, if what the agent ran could not be read.
    """
    texts, names = TEXTS["QUESTION"], ", ".join(MARKERS[stage] for stage in line)
    answers = (f"- {MARKERS[stage]} ({TEXTS[stage]['answer']})" for stage in LINE if stage in line)
    words = {"question": QUESTION, "line": _line_of(line), "answers": "\n".join(answers)}
    parts = [texts["misnamed"].format(name=misnamed[:60], names=names)] if misnamed else []
    parts += [texts["unread"].format(check=check)] if check else []
    return "\n\n".join([*parts, texts["text"].format(**words)])


def is_conflict(instruction: str) -> bool:
    """True for a text of CONFLICT: the agent has to tell the user, and not to continue."""
    return f"Next step: {TEXTS['CONFLICT']['step']}" in instruction.splitlines()


def _words(facts: Facts) -> dict[str, str]:
    """The values of the words in braces; "" for a missing one."""
    settings, wording, task = facts.settings, facts.wording, facts.task
    ready = wording.ready.replace("{label}", settings.label)
    start = settings.start or wording.start
    begin = f"{start} {{id}}" if start and "{id}" not in start else start
    return {
        **fields_of(settings, "label", "review", "deploy"),
        **fields_of(facts, "next_task", "next_title", "task", "check"),
        "none_left": complete(settings.label),
        "first": "issue" if facts.tracker == "github" else facts.tracker,
        "ready": ready,
        "first_ready": "" if facts.next_task else ready,
        "begin": _with_id(begin, facts.next_task),
        "show": _with_id(wording.show, task),
        "test": ", ".join(f"`{command}`" for command in settings.test),
        "comment": _with_id(wording.comment, task),
        "needs_review": NEEDS_REVIEW,
        "add_label": _with_id(wording.label, task).replace("{label}", NEEDS_REVIEW),
        # A claim closes its issue itself, after the merge.
        "hand_off": "lifecycle handoff --summary-file - <<'EOF'" if facts.is_claimed else "",
        "close": "" if facts.is_claimed else _with_id(wording.close, task),
        "publish": wording.publish,
    }


def _filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its words; "" if one is empty. Within [[ ]], an empty one drops only that part."""
    result = ""
    for number, part in enumerate(re.split(r"\[\[(.*?)\]\]", template)):
        if all(words[name] for name in re.findall(r"{(\w+)}", part)):
            result += re.sub(r"{(\w+)}", lambda word: words[word[1]], part)
        elif number % 2 == 0:  # outside the brackets
            return ""
    return result


def _line_of(line: tuple[Stage, ...]) -> str:
    """The line of stages, as every instruction shows it."""
    return "WORKFLOW STAGES: " + " → ".join(line)


def _with_id(command: str, task: str) -> str:
    return command.replace("{id}", task or "<id>")


def following(state: Detected, line: tuple[Stage, ...]) -> Stage | None:
    """The stage after the completed one in a line of stages; None if the line ends there.

    A stage that is not in the line is followed by the next one that is. NEXT_TASK is followed by CODING,
    the first stage of every task's line. A marker may skip forward or go back: it is the agent's decision,
    and it is recorded.
    """
    done = COMPLETES[state]
    if done is Stage.NEXT_TASK:
        return Stage.CODING
    order = line if done in line else LINE
    return next((stage for stage in order[order.index(done) + 1 :] if stage in line), None)
