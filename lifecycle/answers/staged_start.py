"""What the staged workflow says when a session starts.

After `/clear` it is the next task's instruction, or the stage of the task that was under way; the client
gives it to the agent with the next prompt. A session that is resumed or compacted is told its stage and
its marker, from the transcript. At any other start one line says that there are tasks.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lifecycle import log, stage_log
from lifecycle.answers import staged_on
from lifecycle.answers.staged_task import wording_of
from lifecycle.deadline import DeadlineReached
from lifecycle.errors import LifecycleError
from lifecycle.redact import as_data
from lifecycle.stage_names import Stage
from lifecycle.stages import activity, instructions, session, transcript
from lifecycle.stages.activity import Activity
from lifecycle.stages.instructions import Facts
from lifecycle.stages.session import Kept
from lifecycle.stages.shelf import Shelf

if TYPE_CHECKING:
    from lifecycle.answers.call import Call
    from lifecycle.stage_settings import StageSettings

GOES_ON = ("resume", "compact", "fork")
CLEAR = "clear"

KEPT_SECONDS = 1.5
"""What is left of a start's time for the board, whatever the tracker does."""


def start_lines(call: Call) -> list[str]:
    """Lines for the agent; none where the workflow is not active, or something went wrong."""
    world = call.world
    try:
        stages = staged_on.wanted(world)
        if stages is None:
            return []
        with world.deadline.keeping(KEPT_SECONDS):
            text = _text(call, stages)
    except DeadlineReached:
        text, why = "", "the time for this look was up"
    except LifecycleError as error:
        text, why = "", error.sentence
    except Exception as error:  # noqa: BLE001 -- what fails here must not cost what the claim has to say
        text, why = "", f"{type(error).__name__}: {error}"
    else:
        why = ""
    if why:
        stage_log.write(str(world.root), f"Session started: {why}")
        log.write(world.root, f"{call.hook}: stages: {why}")
    return text.splitlines()


def _text(call: Call, stages: StageSettings) -> str:
    source = str(call.event.get("source") or "")
    shelf = Shelf(call.world.root)
    if source in GOES_ON:
        return _going_on(call, stages, session.load(shelf, call.session))
    known = _activity(call, stages, shelf)
    if not known.tasks:
        return ""
    before = _before(call, shelf, known) if source == CLEAR else None
    facts = _facts(call, stages, known, before)
    if before is not None:
        with shelf.locked():
            session.save(shelf, before)
        return instructions.going_on(Stage(before.stage), facts)
    if call.has_claim or not facts.next_task:
        return ""
    if source == CLEAR:
        done = instructions.COMPLETED[Stage.NEXT_TASK]
        return instructions.instruction(Stage.CODING, facts, done)
    return _offer(known, facts)


def _going_on(call: Call, stages: StageSettings, kept: Kept | None) -> str:
    """The stage in force and its marker, as the transcript tells them; nothing is asked of anybody."""
    path = str(call.event.get("transcript_path") or "")
    turn = transcript.read(path, deep=transcript.DEEP)
    if turn.asked is None or turn.markers:
        return ""  # nothing is asked for, or it is done: the next stop says what follows
    labels = kept.labels if kept is not None else ()
    line = stages.line_of(labels) if labels else session.line_told(turn.instruction)
    return instructions.going_on(turn.asked, Facts(settings=stages, line=line))


def _activity(call: Call, stages: StageSettings, shelf: Shelf) -> Activity:
    tracker, now = call.world.tracker, call.world.clock.now()
    known = activity.known(shelf, activity.key_of(tracker, stages))
    if known is not None and known.is_fresh(now):
        return known
    asked = activity.ask(tracker, stages, now, known)
    with shelf.locked():
        activity.keep(shelf, asked)
    return asked


def _before(call: Call, shelf: Shelf, known: Activity) -> Kept | None:
    """What was kept of the session that was cleared in the middle of a task, as this session's own."""
    own = ("", call.session)
    others = [
        kept
        for kept in session.all_of(shelf)
        if kept.session not in own and kept.client == os.getppid()
    ]
    last = others[0] if others else None
    if last is None or not last.stage or known.find(last.task) is None:
        return None
    return Kept(
        call.session,
        task=last.task,
        labels=last.labels,
        holder=last.holder,
        is_set=last.is_set,
        accepted=last.accepted,
        stage=last.stage,
        client=last.client,
        at=call.world.clock.now(),
    )


def _facts(call: Call, stages: StageSettings, known: Activity, before: Kept | None) -> Facts:
    tracker = call.world.tracker
    labels = before.labels if before is not None else ()
    ready = [task.id for task in known.startable]
    return Facts(
        settings=stages,
        wording=wording_of(tracker),
        tracker=tracker.name,
        task=as_data(before.task) if before is not None else "",
        next_task=as_data(ready[0]) if ready else "",
        line=stages.line_of(labels),
    )


def _offer(known: Activity, facts: Facts) -> str:
    """One line: how many tasks there are, which is next, and how to begin."""
    ready = known.startable
    count = "1 task is" if len(ready) == 1 else f"{len(ready)} tasks are"
    begin = facts.settings.start or facts.wording.start
    command = begin.replace("{id}", facts.next_task)
    command = command if facts.next_task in command else f"{command} {facts.next_task}"
    title = as_data(ready[0].title)
    return (
        f"Staged workflow: {count} ready with the label {facts.settings.label}; the next one is "
        f"{facts.next_task} ({title}). When the user wants it, begin with: {command}"
    )
