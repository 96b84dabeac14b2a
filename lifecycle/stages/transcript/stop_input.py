"""The input of one Stop: the event, and the end of the session's transcript, read from its last line back.

The cost does not depend on the file's size: reading ends at the last instruction of ours, or at LIMIT.

The client writes the transcript with a delay: when a Stop hook starts, the last text, the results of
tools before it and even our own last instruction may be missing. They follow within some hundredths of a
second. The event has the last text: as soon as the file has it too, the file is complete. If an earlier
turn ended with the same words, the file is complete once it has the prompt that the event names.

Imported at every stop that is looked at, so it imports no `typing`, no `dataclasses` and no `pathlib`.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (`transcript_path`,
`last_assistant_message`, `prompt_id`; a line of the file that belongs to a prompt has it as `promptId`).
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Callable, Mapping

from lifecycle.core.light_dataclass import text_in
from lifecycle.core.stage_names import Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.detection import detect_stage
from lifecycle.stages.transcript import file_tail
from lifecycle.stages.transcript.turn import (
    NOTHING,
    Entry,
    Heard,
    OwnCommands,
    Prompt,
    Said,
    StageFinding,
    Tier,
    ToolCall,
    Turn,
    entries_of,
)
from lifecycle.storage import regular_files

LIMIT = 1_000_000
"""Bytes that are read from the end."""

DEEP = 32_000_000
"""Bytes of a deeper search for the last instruction or marker."""

SHORT = 4_000
"""Bytes up to which a line from before the turn is read whatever it holds: a prompt, a command."""

NAMED = 200
"""How many texts that may contain a task's id are kept; and as many that take a task."""

_NEEDLE = rb"WORKFLOW_STAGE"
"""Part of every instruction, every question and every marker, except markers in lower case."""

_TURN_ENDED = b'"subtype":"stop_hook_summary"'
"""What the client writes after the hooks of a stop have answered."""

_PROMPT = b'"promptId":"%s'
"""Part of a line that belongs to the prompt with this id, or to any prompt."""

_TYPED = rb"<command-name>/"
"""Part of a line with a command that a person typed."""

_TAKES = ("claim", "takeover", "tracker next", "in_progress")
"""Words, one of which is in each command that takes a task."""

_COMMAND = rb'"command":"[^\n]{0,400}?(?:%s)'
"""A shell command with one of these words, as the client writes it."""

_HITS = 200
"""How many lines a deeper search reads."""

_LONG = 100_000
"""Bytes from which a line is not read by a deeper search: it repeats others, and is not ours."""


def read(
    path: str, last_message: str = "", deep: int = 0, starts: tuple[str, ...] = (), prompt: str = ""
) -> Turn:
    """What the agent said and did since it was last spoken to.

    Args:
        path: the transcript; anything but a regular file that can be read gives NOTHING.
        last_message: the event's `last_assistant_message`.
        deep: bytes that are searched before the last LIMIT, if these have no instruction of ours: for the
            last instruction, and for commands that took a task after it; 0 for none.
        starts: the project's own commands that begin a task.
        prompt: the event's `prompt_id`.
    """
    try:
        descriptor = regular_files.opened(path, follow=True)
    except (OSError, ValueError):
        return NOTHING
    try:
        entries, is_sound, place, is_over = _recent(descriptor, prompt)
        older: list[Entry] = []
        if deep and place and not any(map(_is_instruction, entries)):
            older = _older(descriptor, place, deep, starts)
            place = max(0, place - deep)
        if not is_sound and os.fstat(descriptor).st_size > 0:
            return NOTHING
    except OSError:
        return NOTHING
    finally:
        os.close(descriptor)
    turn = _turn(older, entries, last_message.strip())
    turn.is_cut = place > 0 and turn.asked is None
    turn.is_over = is_over
    return turn


def position(began: str, text: str) -> str:
    """A name for what was said in a turn: the line that began it, and a checksum of the words."""
    return f"{began}:{zlib.crc32(text.strip().encode('utf-8', 'replace')):08x}"


def _recent(descriptor: int, prompt: str) -> tuple[list[Entry], bool, int, bool]:
    """The entries since the last instruction of ours, and three facts about the file.

    These are: whether it is a transcript, where the entries begin, and whether they end with a turn that
    is over (the client wrote so after it, or they have other prompts and not this one). A file of which no
    line could be read is not a transcript; a line that is too long to be read may belong to one.
    """
    result: list[Entry] = []
    results: dict[str, ToolCall] = {}
    is_sound, is_begun, is_told, is_over = False, False, False, False
    is_elsewhere, is_here = False, not prompt
    wanted = _PROMPT % f'{prompt}"'.encode("utf-8", "replace")
    end = place = os.fstat(descriptor).st_size
    for place, line in file_tail.lines(descriptor, end, LIMIT):  # noqa: B007 -- where it ended matters
        if line is None:
            is_sound = True
            continue
        is_over = is_over or (not result and _TURN_ENDED in line)
        is_here = is_here or wanted in line
        is_elsewhere = is_elsewhere or _PROMPT % b"" in line
        if is_begun and len(line) > SHORT and _NEEDLE not in line:
            continue
        entries = entries_of(line, results)
        is_sound = is_sound or entries is not None
        for entry in reversed(entries or ()):
            result.append(entry)
            is_begun = is_begun or (isinstance(entry, Heard) and entry.begins)
            is_told = is_told or _is_instruction(entry)
        if is_begun and is_told:
            break
    return result[::-1], is_sound, place, is_over or (is_elsewhere and not is_here)


def _older(descriptor: int, end: int, deep: int, starts: tuple[str, ...]) -> list[Entry]:
    """Entries before `end`: the last instruction, and later questions, markers and taken tasks."""
    words = [*_TAKES, *(start.partition("{id}")[0].strip() for start in starts)]
    takes = b"|".join(re.escape(json.dumps(word)[1:-1].encode()) for word in words if word)
    patterns = tuple(map(re.compile, (_NEEDLE, _TYPED, _COMMAND % takes)))
    result: list[Entry] = []
    count = 0
    for _, line in file_tail.lines(descriptor, end, deep, deep):
        if line is None or not any(pattern.search(line) for pattern in patterns):
            continue
        entries = entries_of(line, {}) if len(line) < _LONG else None
        result += reversed([entry for entry in entries or () if not _is_mere_text(entry)])
        count += 1
        if count > _HITS or any(map(_is_instruction, entries or ())):
            break
    return result[::-1]


def _is_instruction(entry: Entry) -> bool:
    return isinstance(entry, Heard) and entry.asked is not None


def _is_mere_text(entry: Entry) -> bool:
    """True for a mere mention: the agent writes about a marker, or a person names a command."""
    if isinstance(entry, ToolCall) or entry.is_known:
        return False
    return not (isinstance(entry, Heard) and entry.command)


def _turn(older: list[Entry], entries: list[Entry], last_message: str) -> Turn:
    """The turn that the entries make, with the last message at their end if it is not there yet.

    The older entries are incomplete: what was done then is not a step of this turn.
    """
    turn = Turn()
    steps: list[str | ToolCall] = []
    named: list[str] = []
    began, is_cleared = "", False
    for number, entry in enumerate((*older, *_with(entries, last_message))):
        if isinstance(entry, Heard):
            if entry.begins:
                is_more = turn.kind is Prompt.OURS and not steps and entry.kind is Prompt.MACHINE
                turn.kind = Prompt.OURS if is_more else entry.kind  # two hooks answered one stop
                began, steps = entry.uuid, []
                turn.says = None
                if entry.command:
                    steps.append(ToolCall("", entry.command))
                if is_cleared:
                    steps.append(ToolCall("", "/clear"))
            is_cleared = entry.command == "/clear"
            if entry.is_known:
                turn.asked = entry.asked or turn.asked
                turn.instruction = entry.text if entry.asked else turn.instruction
                turn.is_question = entry.asked is None
                turn.markers, turn.marked = (), ""
                turn.has_worked = turn.is_signed = False
                turn.taken = "" if entry.asked else turn.taken
            named.append(entry.text)
        elif isinstance(entry, Said):
            steps.append(entry.text)
            if entry.markers:
                turn.says = entry.markers[-1]
                turn.markers += entry.markers
                turn.marked = position(began, entry.text)
                turn.is_signed = turn.is_signed or entry.is_signed
        else:
            steps += [entry] if number >= len(older) else []
            turn.has_worked = turn.has_worked or bool(entry.tool)
            named.append(entry.text)
            if turn.asked is Stage.NEXT_TASK:
                turn.taken = _taken_by(entry, is_old=number < len(older))
                turn.asked = Stage.CODING if turn.taken else turn.asked
    turn.steps = tuple(steps)
    turn.named = _kept([text for text in named if text])
    turn.position = position(began, turn.texts[-1] if turn.texts else "")
    return turn


def _taken_by(call: ToolCall, *, is_old: bool) -> str:
    """The task that the call took, "" if it took none; the outcome of an old call is not known."""
    is_done = call.outcome is CallEnd.OK or is_old
    if not (is_done and call.tool and any(word in call.text for word in _TAKES)):
        return ""
    from lifecycle.stages.transcript.tasks_taken import taken_by

    return taken_by(call.text, call.output)


def _kept(named: list[str]) -> tuple[str, ...]:
    """The last of these texts, and the earlier ones that may take a task."""
    old, new = named[:-NAMED], named[-NAMED:]
    taking = [t for t in old if t.startswith("/") or any(word in t for word in _TAKES)]
    return (*taking[-NAMED:], *new)


def _with(entries: list[Entry], last_message: str) -> list[Entry]:
    """The entries; the last message replaces those parts of it that are there already."""
    if not last_message:
        return entries
    result = list(entries)
    while result and isinstance(result[-1], Said) and result[-1].text.strip() in last_message:
        result.pop()
    return [*result, Said(last_message)]


PAUSE = 0.02
TRIES, SURELY = 5, 50
"""How often the client is given time to finish writing; and how often if it is certainly late."""


def turn_of(event: Mapping[str, object], *, sleep: Callable[[float], None] = time.sleep) -> Turn:
    """The end of the transcript that the event names, with the event's own last text.

    A file that did not grow meanwhile is not read again. If the same words ended an earlier turn, this
    turn may still be missing: then the file says that the previous stop was answered, or it lacks this
    stop's prompt.

    Args:
        event: a Stop event; what is missing in it counts as empty.
        sleep: waits for so many seconds.
    """
    path, message = (text_in(event, name) for name in ("transcript_path", "last_assistant_message"))
    last, prompt = message.strip(), text_in(event, "prompt_id")
    size, tries = -1, TRIES if last else 0
    while tries:
        tries -= 1
        before, size = size, _size(path)
        if size != before:
            turn = read(path, prompt=prompt)
            if turn.is_there and turn.texts and turn.texts[-1].strip().endswith(last):
                if not turn.is_over:
                    return turn
                tries = max(tries, SURELY if before == -1 else 0)
        sleep(PAUSE)
    return read(path, message)


def look(
    event: Mapping[str, object], own: OwnCommands, starts: tuple[str, ...], last_stage: Stage | None
) -> tuple[Turn, StageFinding]:
    """The turn that an event ends, and the finding in it, for callers that answer the agent.

    If a stage was completed or is unknown, and the end of the transcript has no instruction of ours, the
    search continues further back. If it finds none there either, and does not reach the beginning,
    `last_stage` counts.

    Args:
        event: as for `turn_of`.
        own: the project's own commands.
        starts: as for `read`.
        last_stage: the last stage that this session was told, by its record; None if none.
    """
    turn = turn_of(event)
    finding = detect_stage.detect(turn, own)
    if not turn.is_cut or detect_stage.is_quiet(turn, finding):
        return turn, finding
    path, message = (text_in(event, name) for name in ("transcript_path", "last_assistant_message"))
    turn = read(path, message, deep=DEEP, starts=starts)
    if turn.is_cut:
        turn.asked, turn.is_cut = last_stage, False
    return turn, detect_stage.detect(turn, own)


def is_waiting(event: Mapping[str, object], finding: StageFinding) -> bool:
    """True if the agent waits for something in the background, and mentions no stage.

    The client wakes the agent when that ends.
    """
    return bool(running(event)) and not finding.state.is_completion


def running(event: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The tasks that run in the background, or are about to, by a Stop event."""
    listed = event.get("background_tasks")
    tasks = [task for task in listed if isinstance(task, dict)] if isinstance(listed, list) else []
    return [task for task in tasks if task.get("status") in ("running", "pending")]


def lines(turn: Turn, finding: StageFinding) -> tuple[str, ...]:
    """The log's lines on a look."""
    if not turn.is_there:
        return "Hook triggered", "There is no transcript that could be read"
    line = f"No stage found: {finding.state}"
    if finding.tier is Tier.MARKER:
        line = f"Found explicit marker: {finding.state}"
    elif finding.tier is Tier.INFERENCE:
        line = f"Inferred from {finding.why}: {finding.state}"
    elif finding.misnamed:
        line = f"No stage found: there is no marker {finding.misnamed}"
    return "Hook triggered", "Detecting stage from message", line


def _size(path: str) -> int:
    """The file's bytes; -2 if there is none."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 -- pathlib alone would cost as much as the look
    except (OSError, ValueError):
        return -2
