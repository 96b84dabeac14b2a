"""The end of a session's transcript, read from its last line backwards.

The file's size costs nothing: what is read ends at the last instruction of ours, or at `limit`. The
client writes the file behind the session: the last message, and the results before it, may not be
there yet, so the message that came with the event counts first.

Only lines of the types user, assistant and attachment are looked at. Other lines repeat texts: the
requests that were sent, the prompts that were queued. What a subagent said is not the agent's own.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks (`transcript_path`,
`last_assistant_message`); the lines' shapes are those that the client writes.
"""

from __future__ import annotations

import os
import zlib

from lifecycle.stages import tail
from lifecycle.stages.lines import Heard, Said, entries_of, is_known
from lifecycle.stages.turn import NOTHING, Call, Prompt, Turn

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lifecycle.stages.lines import Entry

LIMIT = 1_000_000
"""Bytes that are read from the end."""

DEEP = 32_000_000
"""Bytes of a deeper look for the last instruction or marker."""

SHORT = 4_000
"""Bytes up to which a line from before the turn is read whatever it holds: a prompt, a command."""

NAMED = 200
"""How many texts are kept in which the id of a task may stand."""

_NEEDLE = b"WORKFLOW_STAGE"
"""What every instruction, every question and every marker has, but a marker in lower case."""

_HITS = 200
"""How many lines with the needle a deeper look reads."""


def read(path: str, last_message: str = "", *, limit: int = LIMIT, deep: int = 0) -> Turn:
    """What the agent said and did since it was last spoken to.

    Args:
        path: the transcript; anything but a regular file that can be read gives NOTHING.
        last_message: what came with the event as `last_assistant_message`.
        limit: bytes that are read from the end.
        deep: bytes that are searched further back if there is neither an instruction of ours nor a
            marker in these; 0 for none.
    """
    descriptor = tail.opened(path)
    if descriptor is None:
        return NOTHING
    try:
        entries, is_sound = _recent(tail.lines(descriptor, limit))
        if deep and not any(map(is_known, entries)):
            entries = _older(tail.holding(descriptor, _NEEDLE, deep)) + entries
        is_sound = is_sound or os.fstat(descriptor).st_size == 0
    except OSError:
        return NOTHING
    finally:
        os.close(descriptor)
    return _turn(entries, last_message.strip()) if is_sound else NOTHING


def position(began: str, text: str) -> str:
    """Names what was said in a turn: the line that began it, and a checksum of the words."""
    return f"{began}:{zlib.crc32(text.strip().encode('utf-8', 'replace')):08x}"


def _recent(lines: Iterable[bytes | None]) -> tuple[list[Entry], bool]:
    """The entries since the last instruction of ours, in their order; and whether this is a transcript.

    A file of which no line could be read is none; a line that is too long to be read may be one.
    """
    found: list[Entry] = []
    results: dict[str, Call] = {}
    is_sound, is_begun, is_told = False, False, False
    for line in lines:
        if line is None:
            is_sound = True
            continue
        if is_begun and len(line) > SHORT and _NEEDLE not in line:
            continue
        entries = entries_of(line, results)
        is_sound = is_sound or entries is not None
        for entry in reversed(entries or ()):
            found.append(entry)
            is_begun = is_begun or (isinstance(entry, Heard) and entry.begins)
            is_told = is_told or (isinstance(entry, Heard) and entry.asked is not None)
        if is_begun and is_told:
            break
    return found[::-1], is_sound


def _older(lines: Iterable[bytes]) -> list[Entry]:
    """The last instruction, question or marker among these lines, or nothing."""
    for count, line in enumerate(lines):
        for entry in reversed(entries_of(line, {}) or ()):
            if is_known(entry):
                return [entry]
        if count >= _HITS:
            break
    return []


def _turn(entries: list[Entry], last_message: str) -> Turn:
    """What the entries come to, with the last message at their end if it is not there yet."""
    turn = Turn()
    steps: list[str | Call] = []
    named: list[str] = []
    began, is_cleared = "", False
    for entry in _with(entries, last_message):
        if isinstance(entry, Heard):
            if entry.begins:
                is_more = turn.kind is Prompt.OURS and not steps and entry.kind is Prompt.MACHINE
                turn.kind = Prompt.OURS if is_more else entry.kind  # two hooks answered one stop
                began, steps = entry.uuid, []
                turn.prompt, turn.says = entry.text, None
                if entry.command:
                    steps.append(Call("", entry.command))
                if is_cleared:
                    steps.append(Call("", "/clear"))
            is_cleared = entry.command == "/clear"
            if entry.is_known:
                turn.asked = entry.asked or turn.asked
                turn.instruction = entry.text if entry.asked else turn.instruction
                turn.is_question = entry.asked is None
                turn.markers, turn.marked, turn.has_worked = (), "", False
            named.append(entry.text)
        elif isinstance(entry, Said):
            steps.append(entry.text)
            if entry.markers:
                turn.says = entry.markers[-1]
                turn.markers += entry.markers
                turn.marked = position(began, entry.text)
        else:
            steps.append(entry)
            turn.has_worked = turn.has_worked or bool(entry.tool)
            named.append(entry.text)
    turn.steps = tuple(steps)
    turn.named = tuple(text for text in named if text)[-NAMED:]
    turn.position = position(began, turn.texts[-1] if turn.texts else "")
    return turn


def _with(entries: list[Entry], last_message: str) -> list[Entry]:
    """The entries; the last message stands in place of the parts of it that are there already."""
    if not last_message:
        return entries
    kept = list(entries)
    while kept and isinstance(kept[-1], Said) and kept[-1].text.strip() in last_message:
        kept.pop()
    return [*kept, Said(last_message)]
