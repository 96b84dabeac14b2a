"""What the agent said and did since it was last spoken to, as values for `detect`.

Imported at every stop that is looked at, so it imports nothing but `enum`: plain classes with slots
instead of dataclasses, which cost more to import than the look itself.
"""

from __future__ import annotations

from enum import StrEnum

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.printed_output import Outcome


class Prompt(StrEnum):
    """Who spoke to the agent last."""

    HUMAN = "human"
    OURS = "ours"
    """The staged workflow: an instruction or its question."""
    MACHINE = "machine"
    """A notification of the client's, another hook, or the claim."""
    NONE = "none"
    """Nothing that began the turn is within what was read."""


class ToolCall:
    """One tool call, or a command that a person typed (`tool` is "" then).

    Attributes:
        tool: the client's name of the tool.
        text: what it was asked to do: the command, the file's path, `/skill arguments`, the prompt.
        outcome: how it ended.
        output: the end of what it printed, bounded.
        is_background: it was started and not waited for.
    """

    __slots__ = ("is_background", "outcome", "output", "text", "tool")

    def __init__(
        self,
        tool: str,
        text: str = "",
        outcome: Outcome = Outcome.UNKNOWN,
        output: str = "",
        *,
        is_background: bool = False,
    ) -> None:
        self.tool = tool
        self.text = text
        self.outcome = outcome
        self.output = output
        self.is_background = is_background


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
    """

    __slots__ = (
        "asked",
        "has_worked",
        "instruction",
        "is_cut",
        "is_question",
        "is_signed",
        "is_there",
        "kind",
        "marked",
        "markers",
        "named",
        "position",
        "prompt",
        "says",
        "steps",
        "taken",
    )

    def __init__(
        self,
        *,
        is_there: bool = True,
        steps: tuple[str | ToolCall, ...] = (),
        kind: Prompt = Prompt.NONE,
        prompt: str = "",
        asked: Stage | None = None,
        instruction: str = "",
        is_question: bool = False,
        markers: tuple[Detected, ...] = (),
        says: Detected | None = None,
        has_worked: bool = False,
        named: tuple[str, ...] = (),
        position: str = "",
        marked: str = "",
        is_signed: bool = False,
        is_cut: bool = False,
        taken: str = "",
    ) -> None:
        self.is_there = is_there
        self.steps = steps
        self.kind = kind
        self.prompt = prompt
        self.asked = asked
        self.instruction = instruction
        self.is_question = is_question
        self.markers = markers
        self.says = says
        self.has_worked = has_worked
        self.named = named
        self.position = position
        self.marked = marked
        self.is_signed = is_signed
        self.is_cut = is_cut
        self.taken = taken

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


class StageFinding:
    """What a look at a turn says.

    Attributes:
        state: a completed stage, one under way, or UNKNOWN.
        tier: how it was found.
        why: what was seen, in a few words, for the log.
        subjects: ids that a command closed, if it named any; else empty.
        position: names what it was found in; the same find at a later stop has the same one.
        misnamed: what stands in a marker of the agent's in the place of a stage, where that is no stage.
    """

    __slots__ = ("misnamed", "position", "state", "subjects", "tier", "why")

    def __init__(
        self,
        state: Detected,
        tier: Tier = Tier.NONE,
        why: str = "",
        subjects: tuple[str, ...] = (),
        position: str = "",
        misnamed: str = "",
    ) -> None:
        self.misnamed = misnamed
        self.state = state
        self.tier = tier
        self.why = why
        self.subjects = subjects
        self.position = position

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
