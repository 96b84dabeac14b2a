"""The lines of a transcript as values, and what the agent said and did since it was last spoken to.

Only lines of the types user, assistant and attachment are looked at. Others repeat texts: the requests
that were sent, the prompts that were queued. What a subagent said is not the agent's own, and neither
is the summary that a compaction writes, whatever they quote.

Imported at every stop that is looked at, so its dataclasses are the light ones: Python's own cost more to
import than the look itself.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks; the shapes of the lines are
those that the client writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.detection import stage_markers

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from typing import Any


class Prompt(StrEnum):
    """Who spoke to the agent last."""

    HUMAN = "human"
    SCHEDULED = "scheduled"
    """The client, for a task that was scheduled: as a person speaks, and nobody's answer."""
    OURS = "ours"
    """The staged workflow: an instruction or its question."""
    MACHINE = "machine"
    """A notification of the client's, another hook, or the claim."""
    NONE = "none"
    """Nothing that began the turn is within what was read."""


@dataclass(eq=False)
class OwnCommands:
    """A project's own commands, by which a call is known for what it is.

    Attributes:
        tests: its test commands.
        review: its review command.
        runners: its rows of the table of runners, as they stand in its file.
        root: the worktree's top folder; "" where nobody knows it.
    """

    tests: tuple[str, ...] = ()
    review: str = ""
    runners: tuple[Mapping[str, object], ...] = ()
    root: str = ""


ANY_PROJECT = OwnCommands()
"""Of a project that has none, or of which nobody knows any."""


@dataclass(eq=False)
class ToolCall:
    """One tool call, or a command that a person typed (`tool` is "" then).

    Attributes:
        tool: the client's name of the tool.
        text: what it was asked to do: the command, the file's path, `/skill arguments`, the prompt.
        outcome: how it ended.
        output: the end of what it printed, bounded.
        is_background: it was started and not waited for.
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
        is_there: the transcript could be read; False means that nothing is known, and nothing is done.
        steps: what the agent said (texts) and did (calls), in order, since it was last spoken to.
        kind: who spoke to it then; `prompt` has the words, bounded.
        asked: the stage that the last instruction of ours asks for; None if none was found.
        instruction: that instruction's text, bounded.
        is_question: what we said last is the question which stage it is.
        markers: the agent's own markers since that instruction or question, in order.
        says: the last marker of this turn; None if the turn has none.
        has_worked: tools were used since that instruction or question.
        named: texts in which the id of a task may stand: commands, arguments, prompts, instructions.
        position: names this stop: looked at again it is the same, and no other stop has it.
        marked: names in the same way what held the last of `markers`; "" if there is none.
        is_signed: one of `markers` is a line of its own, and not only a part of a sentence.
        is_cut: no instruction of ours was found, and the transcript goes on before what was read.
        taken: the task that was taken in answer to the instruction of NEXT_TASK, which is over then and
            `asked` is CODING; "" if none was, "?" if the command named none.
        is_over: this turn ended before, and its last text is of an earlier stop.
    """

    is_there: bool = True
    steps: tuple[str | ToolCall, ...] = ()
    kind: Prompt = Prompt.NONE
    prompt: str = ""
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

    @property
    def has_used_tools(self) -> bool:
        """True if the agent did anything in this turn; what a person typed is not the agent's."""
        return any(isinstance(step, ToolCall) and step.tool for step in self.steps)


NOTHING = Turn(is_there=False)
"""The turn of a transcript that is not there."""


class Tier(StrEnum):
    """How a state was found."""

    MARKER = "marker"
    INFERENCE = "inference"
    NONE = "none"


@dataclass(eq=False)
class StageFinding:
    """Which stage a turn shows, and by what.

    Attributes:
        state: a completed stage, one under way, or UNKNOWN.
        tier: how it was found.
        why: what was seen, in a few words, for the log.
        subjects: ids that a command closed, if it named any; else empty.
        position: names what it was found in; the same find at a later stop has the same one.
        misnamed: what stands in a marker of the agent's in the place of a stage, where that is no stage.
    """

    state: Detected
    tier: Tier = Tier.NONE
    why: str = ""
    subjects: tuple[str, ...] = ()
    position: str = ""
    misnamed: str = ""

    @property
    def line(self) -> str:
        """What the log says of it."""
        if self.tier is Tier.MARKER:
            return f"Found explicit marker: {self.state}"
        if self.tier is Tier.INFERENCE:
            return f"Inferred from {self.why}: {self.state}"
        if self.misnamed:
            return f"No stage found: there is no marker {self.misnamed}"
        return f"No stage found: {self.state}"


TEXT = 4_000
"""Characters of what a call was asked to do, and of the end of what it printed, that are kept."""

FEEDBACK = "Stop hook feedback:"
"""How the client begins what a Stop hook told the agent."""

_WAKE = "Stop hook blocking error from command"
"""What the client's notification has when a hook woke the session."""

# Patterns are text here, and made where one is needed: most lines need none.
_COMMAND = r"<command-name>\s*(/[^\s<]+)\s*</command-name>"
_ARGUMENTS = r"(?s)<command-args>(.*?)</command-args>"
_NO_PROMPT = ("<local-command-", "<bash-input>", "[Request interrupted")


@dataclass(eq=False)
class Heard:
    """What was said to the agent.

    Attributes:
        kind: by whom.
        text: the words, bounded.
        uuid: the client's id of the line.
        begins: the agent answers it; context that waits for the next prompt is only added.
        command: `/name arguments` if a person typed a command of the client's; else "".
        asked: the stage that it asks for, if it is an instruction of ours.
        is_known: it is an instruction or the question of ours.
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
            self.is_known = self.asked is not None or stage_markers.is_question(self.text)
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
    """What the line adds, in its order; None if it is no line of a transcript.

    Args:
        line: one line; torn, binary and deeply nested ones are none.
        results: by the call's id, what came of the calls in later lines; added to and taken from.
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
        text, name = block.get("text"), block.get("name")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            entries.append(Said(text))
        elif block.get("type") == "tool_use" and isinstance(name, str):
            call = results.pop(str(block.get("id")), None) or ToolCall(name)
            asked = block.get("input")
            call.tool, call.text = name, _asked_of(name, asked)
            call.is_background |= isinstance(asked, dict) and asked.get("run_in_background") is True
            if call.is_background:
                call.outcome = CallEnd.UNKNOWN
            entries.append(call)
    return entries


def _user(entry: dict[str, Any], results: dict[str, ToolCall]) -> list[Entry]:
    blocks = blocks_of(entry)
    is_result = False
    for block in blocks:
        if block.get("type") == "tool_result":
            is_result = True
            results[str(block.get("tool_use_id"))] = _result(block, entry.get("toolUseResult"))
    text = "\n".join(_text_of(block) for block in blocks if block.get("type") == "text").strip()
    if is_result or not text or text.startswith(_NO_PROMPT):
        return []
    uuid = str(entry.get("uuid", ""))
    if entry.get("isMeta"):
        return [Heard(Prompt.OURS, text, uuid)] if text.startswith(FEEDBACK) else []
    kind = _speaker(text, entry)
    if kind in (Prompt.OURS, Prompt.MACHINE):
        return [Heard(kind, text, uuid), *_ended(kind, text)]
    command = _command(text)
    is_local = text.startswith("<command-name>")
    return [Heard(kind, command or text, uuid, begins=not is_local, command=command)]


def _attachment(entry: dict[str, Any]) -> list[Entry]:
    """Context that a hook gave, and what was said while tools ran.

    Context at a Stop begins a turn of its own; what is said into a turn becomes a part of it.
    """
    attachment, uuid = entry.get("attachment"), str(entry.get("uuid", ""))
    if not isinstance(attachment, dict):
        return []
    if attachment.get("type") == "queued_command" and isinstance(attachment.get("prompt"), str):
        text = attachment["prompt"]
        kind = _speaker(text, attachment)
        return [Heard(kind, text, uuid, begins=False), *_ended(kind, text)]
    if attachment.get("type") != "hook_additional_context":
        return []
    content = attachment.get("content")
    parts = content if isinstance(content, list) else [content]
    text = "\n".join(part for part in parts if isinstance(part, str))
    context = Heard(Prompt.OURS, text, uuid, begins=attachment.get("hookEvent") == "Stop")
    return [context] if context.is_known or context.begins else []


def blocks_of(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a line's message; a message that is a text is one of that."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []


def _text_of(block: dict[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _speaker(text: str, entry: dict[str, Any]) -> Prompt:
    """Who said this, told apart as `GuardMarks.answered_at` does; OURS where a hook of ours woke it."""
    origin = entry.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    if text.startswith("<task-notification>") or kind == "task-notification":
        return Prompt.OURS if _WAKE in text else Prompt.MACHINE
    return Prompt.SCHEDULED if entry.get("promptSource") == "system" else Prompt.HUMAN


def _ended(kind: Prompt, text: str) -> list[Entry]:
    """The call of a subagent that ran in the background, as its notification tells how it ended.

    Its summary stands for what it was asked to do. A command's names a file, and has no result.
    """
    summary, begun, rest = text.partition("<result>")
    if kind is not Prompt.MACHINE or not begun or "<status>completed</status>" not in summary:
        return []
    asked = re.search(r"(?s)<summary>(.*?)</summary>", summary)
    result = rest.rpartition("</result>")[0].strip()
    words = asked[1].strip() if asked else ""
    return [ToolCall("Agent", words[:TEXT], CallEnd.OK, result[-TEXT:])]


def _command(text: str) -> str:
    """`/name arguments` of a command that a person typed; "" if it is none."""
    if not text.startswith("<command-"):
        return ""
    name, arguments = re.search(_COMMAND, text), re.search(_ARGUMENTS, text)
    return f"{name[1]} {arguments[1] if arguments else ''}".strip()[:TEXT] if name else ""


def _result(block: dict[str, Any], more: object) -> ToolCall:
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(_text_of(part) for part in content if isinstance(part, dict))
    output = content if isinstance(content, str) else ""
    details = more if isinstance(more, dict) else {}
    has_failed = bool(block.get("is_error")) or bool(details.get("interrupted"))
    is_background = bool(details.get("backgroundTaskId") or details.get("isAsync"))
    outcome = CallEnd.FAILED if has_failed else CallEnd.UNKNOWN if is_background else CallEnd.OK
    return ToolCall("", "", outcome, output[-TEXT:], is_background=is_background)


def _asked_of(tool: str, asked: object) -> str:
    """What the call was asked to do, in the words that matter for this tool."""
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
