"""What was shown, and what was said, put into the run's record."""

from __future__ import annotations

from lifecycle.run.gates.final_gate import with_final_gate
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.state import GateRecord, Run, Story, WordCheck
from lifecycle.run.table import GATES, STORIES, CheckState, Gate, StoryCheck, StoryStatus
from lifecycle.run.texts.told import kept_words, refused
from lifecycle.run.trouble.story_failures import failed

KEPT = 40
"""Records of one story's gates, or of the run's, that are kept."""


def with_gate(run: Run, story: str, record: GateRecord, error: str, now: float) -> Run:
    """The run with a run of a gate; a story's gate that failed adds what failed to the story.

    Args:
        run: before it.
        story: the story's id; "" for the run's own gate.
        record: the gate's.
        error: what failed, in one line; "" if nothing did.
        now: the present.
    """
    if not story:
        run = with_final_gate(run, record, now)
        return run.but(gates=_trimmed(run.gates))
    one = run.story(story)
    run = run.with_story(one.but(gates=_trimmed((*one.gates, record))))
    if record.state is not CheckState.FAIL or StoryStatus.BLOCKED not in STORIES.legal(one.status):
        return run
    text = error or f"{record.gate} failed"
    return failed(run, story, text, now, source=record.gate, tree=record.tree)


def _trimmed(records: tuple[GateRecord, ...]) -> tuple[GateRecord, ...]:
    """The newest records, of each gate on a tree its last, in the order in which they came."""
    last: dict[tuple[Gate, str | float], GateRecord] = {}
    for record in records:
        key = (record.gate, record.tree or record.at)
        last.pop(key, None)
        last[key] = record
    return tuple(last.values())[-KEPT:]


def at_work(run: Run, name: str, *, is_begun: bool = True) -> Story:
    """The story of this name, else the current one; Refused if it is completed.

    Args:
        run: the run.
        name: the story's id; "" for the current one.
        is_begun: one that was not begun is refused, too: nothing can be shown of it yet.
    """
    story = run.story(name) if name else run.current
    if story is None:
        raise refused("no-story-at-work")
    if not story.is_open or (is_begun and story.status is StoryStatus.PENDING):
        raise refused("story-not-begun", story=story)
    return story


def security_gate(story: Story, tree: str, now: float, by: str) -> GateRecord:
    """G6 as the reviews show it: a story that is security-sensitive needs one that cleared it."""
    state = check_states(story, tree)[StoryCheck.SECURITY_CLEARED]
    return GateRecord(Gate.G6, now, state, tree, by=by)


def with_word(run: Run, story: Story, word: WordCheck) -> Run:
    """The run with what somebody said of a check: the last word on each is kept, and shows nothing."""
    said = kept_words(word.details, 500)
    words = (*(one for one in story.words if one.check is not word.check), word)
    return run.with_story(story.but(words=(*words[:-1], word.but(details=said))))


def gate_lines(record: GateRecord, story: Story) -> list[str]:
    """A story's gate for people: what it came to, and each of its parts."""
    lines = [f"Gate {record.gate}: {record.state} for {story.id} on tree {record.tree[:12] or '?'}"]
    for part in record.parts:
        counted = f" ({part.tests} tests)" if part.tests >= 0 else ""
        why = f": {part.why}" if part.why else ""
        command = f" `{part.command}`" if part.command else ""
        lines.append(f"- {part.check}: {part.state}{counted}{why}{command}")
    if record.state is CheckState.FAIL:
        lines.append(f"{GATES[record.gate].on_fail}.")
    return lines
