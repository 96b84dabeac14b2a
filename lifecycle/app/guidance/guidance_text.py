"""The text that tells a session of the workflow that it continues. Pure; others' texts are quoted as data.

`guidance` makes the workflow's part of the recovery message. `whole_guidance` is the same without a limit,
for a command and for the instructions of a summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.app.guidance.recovery_message import WHOLE_LIMIT, Rank, RecoveryLine, RecoveryPart
from lifecycle.core.redact import as_data, listed, quoted, redact, short
from lifecycle.workflow.state import Workflow, todos
from lifecycle.workflow.table import PhaseStatus

REST = "lifecycle workflow guidance"
"""The command that shows the whole guidance."""

LIST = "lifecycle workflow list"

END = "lifecycle workflow complete --give-up REASON"

READ = "REQUIRED READING (read each file with your Read tool now; naming it does not load it):"
ASSUME = "Do not proceed with assumptions."

_NAME, _TITLE, _TEXT, _LONG, _PATH = 80, 80, 400, 100_000, 200
_NAMED = 3
"""How many other workflows are named."""

_BOXES = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


def guidance(
    workflow: Workflow,
    others: Sequence[Workflow] = (),
    refused: Sequence[str] = (),
    limit: int = WHOLE_LIMIT,
    longest: tuple[int, int] = (_TEXT, _PATH),
) -> RecoveryPart:
    """The part of the recovery message for the session that continues this workflow.

    Args:
        workflow: a workflow that is not over.
        others: other workflows that are not over.
        refused: sentences on paths of the reading list that must not be read (`reading_path`).
        limit: how many characters the lines that are never cut may have.
        longest: how many characters a text, and a path, may have.
    """
    head, end = _phase_line(workflow), _action(workflow)
    room = limit - len(head) - len(end) - 2
    reading = reading_lines(workflow.all_reading, room, longest[1])
    first, *last = (RecoveryLine(line, Rank.WHOLE) for line in (head, *reading, end))
    refusals = [RecoveryLine(" ".join(line.split())) for line in refused if line.strip()]
    return RecoveryPart((first, *_told(workflow, others, longest[0]), *refusals, *last), REST)


def whole_guidance(
    workflow: Workflow, others: Sequence[Workflow] = (), refused: Sequence[str] = ()
) -> list[str]:
    """All lines of the guidance, with every path and every text in full."""
    part = guidance(workflow, others, refused, _LONG * 100, (_LONG, _LONG))
    return [line.text for line in part.lines]


def kept_lines(workflow: Workflow, others: Sequence[Workflow] = ()) -> list[str]:
    """Lines on a workflow that the summary of a compaction must keep."""
    return [
        f"- {_phase_line(workflow)}",
        *(f"- {line.text}" for line in _told(workflow, others, _TEXT) if line.rank != Rank.LAST),
        f"- REQUIRED READING: {' '.join(map(_path, workflow.all_reading)) or 'none'}",
        f"- Its state is on disk; to see it: {REST}",
    ]


def acknowledgement(workflow: Workflow) -> str:
    """The line with which an agent shows that it was restored."""
    name = _flat(workflow.name, _NAME)
    return f"✅ Workflow restored: {name}, {_place(workflow).replace('phase ', 'Phase ')}"


def number(workflow: Workflow) -> int:
    """The number of the phase that guidance is about, from 1; of the first one before a workflow began."""
    return max(workflow.current, 0) + 1


def next_step(workflow: Workflow) -> str:
    """The sentence that says what to do next, with the command."""
    phase = workflow.phase
    if workflow.is_over:
        return 'begin another with: lifecycle workflow start NAME --phase "Title"'
    if not workflow.phases:
        return f"add a phase to its document (lifecycle workflow show --json names it), or: {END}"
    if phase is None or phase.status is PhaseStatus.PENDING:
        return "begin it with: lifecycle workflow retry"
    if phase.status is PhaseStatus.ACTIVE:
        advance = "lifecycle workflow advance --deliverable TEXT --context-for-next TEXT"
        return f"when it is done: {advance}"
    return "lifecycle workflow retry, or: lifecycle workflow skip --reason TEXT"


def reading_lines(paths: Sequence[str], room: int, longest: int = _PATH) -> list[str]:
    """The reading list in at most `room` characters: its first paths, how many others, and a command."""
    if not paths:
        return []
    ending = f"and {len(paths):,} more: {REST}"
    left = room - len(READ) - len(ending) - 2
    shown: list[str] = []
    for path in map(_path, paths):
        if len(path) > longest or len(path) + 1 > left:
            break
        left -= len(path) + 1
        shown.append(path)
    others = len(paths) - len(shown)
    return [READ, *shown, *([f"and {others:,} more: {REST}"] if others else [])]


def held_line(workflow: Workflow) -> str:
    """The line about a workflow that another live session continues."""
    return (
        f"{_titled(workflow)} is led by another session, which still runs: leave its work alone, and do "
        "not advance it here."
    )


def others_line(others: Sequence[Workflow]) -> str:
    """The other workflows that are not over, in one line; "" without any."""
    if not others:
        return ""
    named = (f"{quoted(each.name, 40)} ({_place(each).removeprefix('phase ')})" for each in others)
    return f"Other workflows here: {listed(named, _NAMED)}: {LIST}"


def _phase_line(workflow: Workflow) -> str:
    if not workflow.phases:
        return f"{_titled(workflow)}."
    at = number(workflow) - 1
    phase, title = workflow.phases[at], workflow.title_of(at)
    words = {PhaseStatus.PENDING: "not begun yet", PhaseStatus.ACTIVE: "in progress"}
    agent = f", for the agent {_flat(phase.agent, 40)}" if phase.agent else ""
    why = f", {quoted(phase.reason, 60)}" if phase.reason else ""
    status = words.get(phase.status, phase.status.value)
    return f"{_titled(workflow)}: {quoted(title, _TITLE)}, {status}{why}{agent}."


def _titled(workflow: Workflow) -> str:
    return f"Workflow {quoted(workflow.name, _NAME)}, {_place(workflow)}"


def _place(workflow: Workflow) -> str:
    """Which of its phases a workflow is at; all may have been removed by hand."""
    of = len(workflow.phases)
    return f"phase {number(workflow)}/{of}" if of else "without any phase"


def _action(workflow: Workflow) -> str:
    phase = workflow.phase
    read = "read every file above, then " if workflow.all_reading else ""
    status = phase.status if phase is not None else PhaseStatus.PENDING
    steps = {PhaseStatus.PENDING: "begin this phase", PhaseStatus.ACTIVE: "go on with this phase"}
    step = steps.get(status, "see what blocks this phase")
    step = step if workflow.phases else "say that all of its phases were removed"
    then = "When it is done: lifecycle workflow advance"
    then = then if status in steps and workflow.phases else f"Next: {next_step(workflow)}"
    answer = f'answer "{acknowledgement(workflow)}"'
    return f"ACTION REQUIRED: {read}{answer}, and {step}. {ASSUME} {then}"


def _told(workflow: Workflow, others: Sequence[Workflow], limit: int) -> list[RecoveryLine]:
    """The lines with task, criteria and all else that may be shortened, in the order of reading."""
    gate = workflow.phase.gate if workflow.phase is not None else ""
    skipped = [
        f"Phase {index} was skipped: {quoted(phase.reason, limit)}"
        for index, phase in enumerate(workflow.phases, 1)
        if phase.status is PhaseStatus.SKIPPED and phase.reason
    ]
    first = (
        _list("Asked", [workflow.task], limit),
        _list("Criteria", workflow.criteria, limit),
        _list("Constraints", workflow.constraints, limit),
        _list("Handed on to this phase", [workflow.handed_to(workflow.current)], limit),
        _list("Key reminders", workflow.all_reminders, limit),
    )
    gate_line = f"Gate of this phase: {_flat(gate, 100)}" if gate else ""
    following = (gate_line, _pairs(workflow, limit), *skipped, others_line(others))
    ranked = ((Rank.FIRST, first), (Rank.NEXT, following), (Rank.LAST, (_todo_line(workflow),)))
    return [RecoveryLine(text, rank) for rank, texts in ranked for text in texts if text]


def _list(name: str, texts: Iterable[str], limit: int) -> str:
    joined = "; ".join(quoted(redact(text), limit) for text in texts if text.strip())
    return f"{name}: {joined}" if joined else ""


def _pairs(workflow: Workflow, limit: int) -> str:
    joined = ", ".join(
        f"{_flat(str(name), 60)}={quoted(redact(value if isinstance(value, str) else repr(value)), limit)}"
        for name, value in workflow.context.items()
    )
    return f"Context: {joined}" if joined else ""


def _todo_line(workflow: Workflow) -> str:
    rows = todos(workflow)
    boxes = " ".join(f"{_BOXES[row['status']]} {quoted(row['content'], 40)}" for row in rows)
    return f"To-do list: {boxes}" if boxes else ""


def _path(path: str) -> str:
    return as_data(" ".join(redact(path).split()))


def _flat(text: str, limit: int) -> str:
    """A stranger's text without quotation marks, inside quotation marks of ours."""
    return short(as_data(" ".join(redact(text).split())), limit).replace('"', "'")
