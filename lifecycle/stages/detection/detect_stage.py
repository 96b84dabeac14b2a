"""Which stage the agent is at: by its own marker, else by its tools and words, else unknown.

This module and its imports are loaded at each stop that is looked at: no dataclass, no logging.
"""

from __future__ import annotations

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.stages.detection import stage_markers
from lifecycle.stages.transcript.turn import OwnCommands, Prompt, StageFinding, Tier, Turn

_SPOKEN = (Prompt.HUMAN, Prompt.SCHEDULED)
"""Prompts that ask for something other than the workflow: the agent answers them."""

OVER = "tasks complete"
"""The words by which an agent says that nothing is left, as its instruction asked."""


def detect(turn: Turn, own: OwnCommands) -> StageFinding:
    """The stage that a turn shows.

    In this order: a marker of this turn; the name that answers our question; a completion that tools
    and words show; a marker of an earlier turn that no instruction of ours followed; a stage under way.

    A session that was told nothing is in CODING. If the transcript was not read far enough to know,
    every completion counts: the caller reads further and judges again. Words alone, as an answer to a
    person, complete nothing.

    Args:
        turn: the end of the transcript.
        own: the project's own commands.
    """
    if turn.says is not None:
        return _marked(turn, turn.says)
    answer = stage_markers.named_alone(turn.texts[-1]) if turn.is_question and turn.texts else ""
    if answer in list(Detected):
        return StageFinding(Detected(answer), Tier.MARKER, "its answer", position=turn.position)
    from lifecycle.stages.detection.stage_watch import TEXT, infer

    heard = None if turn.is_cut else turn.asked or Stage.CODING
    asked = None if turn.markers else heard
    finding = infer(turn.steps, asked=asked, heard=heard, own=own, is_cut=turn.is_cut)
    if finding.state.is_completion and turn.kind in _SPOKEN and not turn.calls:
        finding = StageFinding(Detected.UNKNOWN)
    finding.position = turn.position
    wrong = stage_markers.misnamed(turn.texts[-1]) if turn.texts else ""
    if finding.state.is_completion and not (wrong and finding.why == TEXT):
        return finding
    if wrong := wrong or answer:
        return StageFinding(Detected.UNKNOWN, position=turn.position, misnamed=wrong)
    return _marked(turn, turn.markers[-1]) if turn.markers else finding


def _marked(turn: Turn, state: Detected) -> StageFinding:
    """The finding of a marker; within a sentence it counts as words if the agent does not know markers."""
    is_marker = turn.is_signed or turn.asked is not None or turn.is_question or turn.is_cut
    by = (Tier.MARKER, "its marker") if is_marker else (Tier.INFERENCE, "a marker in a sentence")
    return StageFinding(state, *by, position=turn.marked)


def detect_text(text: str) -> StageFinding:
    """The stage that a text shows by itself, for `lifecycle stage detect`."""
    from lifecycle.stages.detection.stage_watch import infer

    markers = stage_markers.find(text)
    return StageFinding(markers[-1], Tier.MARKER, "its marker") if markers else infer((text,))


def is_quiet(turn: Turn, finding: StageFinding) -> bool:
    """True if the agent may stop here whatever the tracker says: the tracker need not be asked.

    So it is if a stage is under way, or there is no transcript. So it is, too, if the stage is unknown and
    the agent answers a person, was asked the question already, or said that nothing is left. A marker with
    an unknown name is always answered: a misspelt answer must not end the workflow.
    """
    if not turn.is_there or finding.state.is_under_way:
        return True
    return finding.state is Detected.UNKNOWN and not (finding.misnamed or wants_question(turn))


def wants_question(turn: Turn) -> bool:
    """True if an answer in which no stage was found is worth the question.

    It answers us or a machine, not a person; the question was not asked since the agent last did
    something; and it does not say that all tasks are complete. An answer to a machine in the middle of a
    stage, with work done in it, needs no question: the stage is known, and nobody said that it ended.
    """
    if turn.kind in (*_SPOKEN, Prompt.NONE) or not turn.texts:
        return False
    if turn.kind is Prompt.MACHINE and turn.asked is not None and turn.has_worked:
        return False
    if turn.asked in (Stage.CODING, None) and OVER in turn.texts[-1].lower():
        return False
    return not turn.is_question or turn.has_worked
