"""The lines of a transcript as values, and what the agent said and did since it was last spoken to.

Only lines of the types user, assistant and attachment are read. Others repeat texts: the requests that
were sent, the prompts that were queued. Whatever they quote, the words of a subagent and the summary of a
compaction are not the agent's own.

Imported at every stop that is looked at, so its dataclasses are our light ones: importing Python's own
costs more than the look itself.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks; the shapes of the lines are
those that the client writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass, text_in
from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.detection import stage_markers

TYPE_CHECKING = False
"""Type checkers assume that it is True; importing `typing` for it costs more than everything else here."""

if TYPE_CHECKING:
    from typing import Any


class Prompt(StrEnum):
    """Who spoke to the agent last."""

    HUMAN = "human"
    SCHEDULED = "scheduled"
    """The client, for a scheduled task: treated like a person's prompt, but not an answer to anything."""
    OURS = "ours"
    """The staged workflow: an instruction or its question."""
    MACHINE = "machine"
    """A notification of the client, another hook, or the claim."""
    NONE = "none"
    """The beginning of the turn is not in the part that was read."""


@dataclass(eq=False)
class OwnCommands:
    """A project's own commands, by which calls are recognized.

    Attributes:
        tests: its test commands.
        review: its review command.
        runners: its rows of the table of runners, as in its file.
        root: the worktree's top folder; "" if not known.
    """

    tests: tuple[str, ...] = ()
    review: str = ""
    runners: tuple[Mapping[str, object], ...] = ()
    root: str = ""


ANY_PROJECT = OwnCommands()
"""The commands of a project that has none, or whose commands are not known."""


@dataclass(eq=False)
class ToolCall:
    """One tool call, or a command that a person typed (`tool` is "" then).

    Attributes:
        tool: the client's name of the tool.
        text: what it was asked to do: the command, the file's path, `/skill arguments`, the prompt.
        outcome: how it ended.
        output: the end of what it printed, bounded.
        is_background: it was started in the background.
    """

    tool: str
    text: str = ""
    outcome: CallEnd = CallEnd.UNKNOWN
    output: str = ""
    is_background: bool = False


@dataclass(eq=False)
class Turn:
    """The end of a session's transcript.

    Attributes:
        is_there: the transcript could be read; if False, nothing is known and nothing is done.
        steps: what the agent said (texts) and did (calls), in order, since it was last spoken to.
        kind: who spoke to it last.
        asked: the stage that the last instruction of ours asks for; None if none was found.
        instruction: that instruction's text, bounded.
        is_question: our last text is the question which stage the session is at.
        markers: the agent's own markers since that instruction or question, in order.
        says: the last marker of this turn; None if the turn has none.
        has_worked: tools were used since that instruction or question.
        named: texts that may contain a task's id: commands, arguments, prompts, instructions.
        position: a unique name of this stop, the same at each look.
        marked: a name of the same kind for the text with the last of `markers`; "" if there is none.
        is_signed: one of `markers` is a line of its own, not only a part of a sentence.
        is_cut: no instruction of ours was found, and there is transcript before the part that was read.
        taken: the task that was taken in answer to the instruction of NEXT_TASK: that stage is over, and
            `asked` is CODING; "" if none was taken, "?" if the command named none.
        is_over: this turn ended earlier, and its last text belongs to an earlier stop.
    """

    is_there: bool = True
    steps: tuple[str | ToolCall, ...] = ()
    kind: Prompt = Prompt.NONE
    asked: Stage | None = None
    instruction: str = ""
    is_question: bool = False
    markers: tuple[Detected, ...] = ()
    says: Detected | None = None
    has_worked: bool = False
    named: tuple[str, ...] = ()
    position: str = ""
    marked: str = ""
    is_signed: bool = False
    is_cut: bool = False
    taken: str = ""
    is_over: bool = False

    @property
    def texts(self) -> tuple[str, ...]:
        """What the agent said in this turn."""
        return tuple(step for step in self.steps if isinstance(step, str))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What the agent did in this turn."""
        return tuple(step for step in self.steps if isinstance(step, ToolCall))


NOTHING = Turn(is_there=False)
"""The turn of a missing transcript."""


class Tier(StrEnum):
    """How a state was found."""

    MARKER = "marker"
    INFERENCE = "inference"
    NONE = "none"


@dataclass(eq=False)
class StageFinding:
    """Which stage a turn shows, and the evidence.

    Attributes:
        state: a completed stage, one under way, or UNKNOWN.
        tier: how it was found.
        why: what was seen, in a few words, for the log.
        subjects: ids that a command closed, if it named any; else empty.
        position: a name for the text that showed it; the same finding at a later stop has the same name.
        misnamed: a name in the agent's marker that is not a stage's; else "".
    """

    state: Detected
    tier: Tier = Tier.NONE
    why: str = ""
    subjects: tuple[str, ...] = ()
    position: str = ""
    misnamed: str = ""


TEXT = 4_000
"""Characters of what a call was asked to do, and of the end of what it printed, that are kept."""

FEEDBACK = "Stop hook feedback:"
"""The client's words before a text that a Stop hook gave to the agent."""

_WAKE = "Stop hook blocking error from command"
"""Words in the client's notification when a hook woke the session."""

# Patterns are compiled when they are needed: most lines need none.
_COMMAND = r"<command-name>\s*(/[^\s<]+)\s*</command-name>"
_ARGUMENTS = r"(?s)<command-args>(.*?)</command-args>"
_NO_PROMPT = ("<local-command-", "<bash-input>", "[Request interrupted")


@dataclass(eq=False)
class Heard:
    """What was said to the agent.

    Attributes:
        kind: who said it.
        text: the words, bounded.
        uuid: the client's id of the line.
        begins: the agent answers it; False for context that is only added to the next prompt.
        command: `/name arguments` if a person typed a command of the client; else "".
        asked: the stage that it asks for, if it is an instruction of ours.
        is_known: it is our instruction or our question.
    """

    kind: Prompt
    text: str
    uuid: str
    begins: bool = True
    command: str = ""
    asked: Stage | None = None
    is_known: bool = False

    def __post_init__(self) -> None:
        if self.kind is Prompt.OURS:
            self.asked = stage_markers.asked_in(self.text)
            self.is_known = self.asked is not None or stage_markers.QUESTION in self.text
            self.kind = Prompt.OURS if self.is_known else Prompt.MACHINE
        self.text = self.text[:TEXT]


class Said:
    """What the agent said, the markers in it, and whether one of them is a line of its own."""

    __slots__ = ("is_known", "is_signed", "markers", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        markers = stage_markers.said(text)
        self.markers: tuple[Detected, ...] = tuple(state for state, _ in markers)
        self.is_signed = any(is_own for _, is_own in markers)
        self.is_known = bool(self.markers)


Entry = Heard | Said | ToolCall


def entries_of(line: bytes, results: dict[str, ToolCall]) -> list[Entry] | None:
    """The entries in a line, in order; None if it is not a line of a transcript.

    Args:
        line: one line; incomplete, binary and deeply nested ones are not a transcript's.
        results: by the call's id, the results that later lines have; entries are added and removed.
    """
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        return None
    if entry.get("isSidechain") or entry.get("isCompactSummary") or entry.get("isApiErrorMessage"):
        return []
    if entry["type"] == "assistant":
        return _assistant(entry, results)
    if entry["type"] == "user":
        return _user(entry, results)
    return _attachment(entry) if entry["type"] == "attachment" else []


def _assistant(entry: dict[str, Any], results: dict[str, ToolCall]) -> list[Entry]:
    entries: list[Entry] = []
    for block in blocks_of(entry):
        text, name, asked = block.get("text"), block.get("name"), block.get("input")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            entries.append(Said(text))
        elif block.get("type") == "tool_use" and isinstance(name, str):
            call = results.pop(str(block.get("id")), None) or ToolCall(name)
            call.tool, call.text = name, _asked_of(name, asked)
            call.is_background |= isinstance(asked, dict) and asked.get("run_in_background") is True
            call.outcome = CallEnd.UNKNOWN if call.is_background else call.outcome
            entries.append(call)
    return entries


def _user(entry: dict[str, Any], results: dict[str, ToolCall]) -> list[Entry]:
    blocks = blocks_of(entry)
    answers = [block for block in blocks if block.get("type") == "tool_result"]
    for block in answers:
        results[str(block.get("tool_use_id"))] = _result(block, entry.get("toolUseResult"))
    texts = [text_in(block, "text") for block in blocks if block.get("type") == "text"]
    text = "\n".join(texts).strip()
    if answers or not text or text.startswith(_NO_PROMPT):
        return []
    uuid = str(entry.get("uuid", ""))
    if entry.get("isMeta"):
        return [Heard(Prompt.OURS, text, uuid)] if text.startswith(FEEDBACK) else []
    kind = _speaker(text, entry)
    if kind in (Prompt.OURS, Prompt.MACHINE):
        return [Heard(kind, text, uuid), *_ended(kind, text)]
    name = re.search(_COMMAND, text) if text.startswith("<command-") else None
    arguments = re.search(_ARGUMENTS, text) if name else None
    command = f"{name[1]} {arguments[1] if arguments else ''}".strip()[:TEXT] if name else ""
    is_local = text.startswith("<command-name>")
    return [Heard(kind, command or text, uuid, begins=not is_local, command=command)]


def _attachment(entry: dict[str, Any]) -> list[Entry]:
    """The entries of an attachment: context that a hook gave, and what was said while tools ran.

    Context at a Stop begins a new turn; what is said during a turn becomes a part of it.
    """
    uuid = str(entry.get("uuid", ""))
    match entry.get("attachment"):
        case {"type": "queued_command", "prompt": str(text), **more}:
            kind = _speaker(text, more)
            return [Heard(kind, text, uuid, begins=False), *_ended(kind, text)]
        case {"type": "hook_additional_context", **more}:
            content = more.get("content")
            parts = content if isinstance(content, list) else [content]
            text = "\n".join(part for part in parts if isinstance(part, str))
            context = Heard(Prompt.OURS, text, uuid, begins=more.get("hookEvent") == "Stop")
            return [context] if context.is_known or context.begins else []
    return []


def blocks_of(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a line's message; a plain text is returned as one block."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _speaker(text: str, entry: Mapping[Any, Any]) -> Prompt:
    """Who said this, by the same rule as `GuardMarks.answered_at`; OURS if our hook woke the session."""
    origin = entry.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if text.startswith("<task-notification>") or kind == "task-notification":
        return Prompt.OURS if _WAKE in text else Prompt.MACHINE
    return Prompt.SCHEDULED if entry.get("promptSource") == "system" else Prompt.HUMAN


def _ended(kind: Prompt, text: str) -> list[Entry]:
    """The finished call of a background subagent, from its notification.

    The summary is used as the call's prompt. A command's notification names a file, and has no result.
    """
    summary, begun, rest = text.partition("<result>")
    if kind is not Prompt.MACHINE or not begun or "<status>completed</status>" not in summary:
        return []
    asked = re.search(r"(?s)<summary>(.*?)</summary>", summary)
    result = rest.rpartition("</result>")[0].strip()
    words = asked[1].strip() if asked else ""
    return [ToolCall("Agent", words[:TEXT], CallEnd.OK, result[-TEXT:])]


def _result(block: dict[str, Any], more: object) -> ToolCall:
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(text_in(part, "text") for part in content if isinstance(part, dict))
    output = content if isinstance(content, str) else ""
    details = more if isinstance(more, dict) else {}
    has_failed = bool(block.get("is_error")) or bool(details.get("interrupted"))
    is_background = bool(details.get("backgroundTaskId") or details.get("isAsync"))
    outcome = CallEnd.FAILED if has_failed else CallEnd.UNKNOWN if is_background else CallEnd.OK
    return ToolCall("", "", outcome, output[-TEXT:], is_background=is_background)


def _asked_of(tool: str, asked: object) -> str:
    """The part of the call's input that matters for this tool."""
    if not isinstance(asked, dict):
        return ""
    if tool == "Skill":
        name = str(asked.get("skill", "")).removeprefix("/")
        return f"/{name} {asked.get('args') or ''}".strip()[:TEXT]
    for name in ("command", "file_path", "notebook_path", "prompt"):
        if isinstance(asked.get(name), str):
            kind = f"{asked.get('subagent_type') or ''} " if name == "prompt" else ""
            return f"{kind}{asked[name]}".strip()[:TEXT]
    return ""
