"""Blockers and brakes: what blocks a story or the run, whom it waits for, and who resumes it.

A blocker is named by its id (`B1`) or its index (`0`). A run in which only blocked stories are left waits
for a person automatically. A person stops a run, and resumes it after a stop, a cap, or turns without
progress.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final

from lifecycle.core.redact import visible
from lifecycle.platforms import command_argv
from lifecycle.run import long_run
from lifecycle.run.state import Blocker, PersonAct, Run, Story, UserFix
from lifecycle.run.table import BLOCKER_SEVERITIES, STORIES, RunStatus, StoryStatus
from lifecycle.run.texts.told import filled, kept_words, line_of, refused, there

BLOCKING: Final = ("high", "critical")
"""Severities of a blocker that block its story."""


def added(run: Run, description: str, severity: str, now: float, **about: Any) -> Run:
    """The run with one more blocker with these fields."""
    id_, words = f"B{len(run.blockers) + 1}", kept_words(description)
    return run.but(blockers=(*run.blockers, Blocker(id_, words, severity, now, **about)))


def blocking(run: Run, *stories: str) -> list[str]:
    """The ids of the severe blockers of these stories ("" for the run)."""
    standing = (blocker for blocker in run.standing_blockers if blocker.severity in BLOCKING)
    return [blocker.id for blocker in standing if blocker.story in stories]


def refuse_blocked(run: Run, story: Story) -> None:
    """Raise Refused if a severe blocker of this story stands."""
    stand = blocking(run, story.id)
    if stand:
        raise refused("story-stays-blocked", story=story, stand=", ".join(stand), blocker=stand[0])


def standing_still(run: Run, story: Story, now: float) -> Run:
    """The run with this story blocked; it waits for a person if no other story is left."""
    if StoryStatus.BLOCKED in STORIES.legal(story.status):
        run = run.with_story(story.but(status=StoryStatus.BLOCKED))
    return awaiting_if_blocked(run, now)


def awaiting_if_blocked(run: Run, now: float) -> Run:
    """The run; it waits for a person if the only stories left are blocked or depend on blocked ones."""
    if run.status is not RunStatus.ACTIVE or run.current is not None:
        return run
    blocked = [story.id for story in run.open_stories if story.status is StoryStatus.BLOCKED]
    explained = {blocker.story for blocker in run.standing_blockers}
    for id_ in blocked:
        if id_ not in explained:
            run = added(run, f"{id_} is blocked, and nobody said by what", "high", now, story=id_)
    standing = [blocker for blocker in run.standing_blockers if blocker.story in blocked]
    return _waiting(run, standing, now) if standing else run


def _waiting(run: Run, waited: list[Blocker], now: float) -> Run:
    """The run, waiting for a person to resolve these blockers; what each needs is told."""
    first, *rest = waited
    texts = [f"{blocker.id}: {blocker.asked or blocker.description}" for blocker in waited]
    text = first.asked if first.asked and not rest else kept_words("; ".join(texts))
    checked = [blocker for blocker in waited if blocker.check_command]
    command = _in_one(tuple(blocker.check_command for blocker in checked))
    # The check commands run one after the other.
    timeout = sum(blocker.timeout for blocker in checked or [first])
    others = tuple(blocker.id for blocker in rest)
    story = first.story or (run.current.id if run.current else "")
    fix = UserFix(first.id, text, now, command, timeout, story, run.phase, others=others)
    return run.but(status=RunStatus.AWAITING_USER, fix=fix)


def index_of(run: Run, name: str) -> int:
    """The index of the blocker with this id or index; Refused, with the existing ones."""
    wanted = name.strip().upper()
    for index, blocker in enumerate(run.blockers):
        if wanted in (blocker.id, str(index)):
            return index
    names = [f"{other.id} (index {index})" for index, other in enumerate(run.blockers)]
    raise refused("no-such-blocker", name=visible(name), there=there(names, "there is none"))


def with_blocker(run: Run, text: str, severity: str, now: float, story_id: str = "") -> Run:
    """The run with one more blocker; or with one that was added automatically, now described by somebody.

    The story that it names is blocked, unless the severity is low or medium.

    Raises:
        Refused: there is no text or no such story, the story is completed, or the run is stopped or over.
    """
    run.demand_open()
    description = line_of(text, "a blocker's description")
    story = run.open_story(story_id, "story-over-unblocked") if story_id else None
    automatic = (blocker for blocker in run.standing_blockers if blocker.failure)
    own = next((blocker for blocker in automatic if story_id.upper() in ("", blocker.story)), None)
    if own is not None:
        weight = max(severity, own.severity, key=BLOCKER_SEVERITIES.index)
        run = _with_blocker(run, own.but(description=description, severity=weight, failure=""))
    else:
        run = added(run, description, severity, now, story=story.id if story else "")
    return run if story is None or severity not in BLOCKING else standing_still(run, story, now)


def awaiting(
    run: Run, name: str, description: str, now: float, check_command: str = "", timeout: int = 60
) -> Run:
    """The run, waiting for a person to resolve this blocker, too, besides those that it waits for already.

    Args:
        run: the run before.
        name: the blocker's id or index.
        description: what that person has to do.
        now: the present.
        check_command: the command that checks the fix, as a text or a JSON list; no shell reads it.
        timeout: seconds that this command may take.

    Raises:
        Refused: there is no such blocker or no description, the blocker is resolved, the command needs a
            shell, or the run is stopped or over.
    """
    run.demand_open()
    blocker = run.blockers[index_of(run, name)]
    if blocker.resolved_at:
        raise refused("blocker-resolved", blocker=blocker)
    words, argv = line_of(description, "the description of a fix"), _argv(check_command)
    ids = {blocker.id}
    if run.status is RunStatus.AWAITING_USER and run.fix is not None:
        ids.update(run.fix.waited)
        run = long_run.waited(run, run.fix.asked_at, now)
    run = _with_blocker(run, blocker.but(asked=words, check_command=argv, timeout=timeout))
    return _waiting(run, [other for other in run.standing_blockers if other.id in ids], now)


def _with_blocker(run: Run, changed: Blocker) -> Run:
    return run.but(blockers=tuple(changed if b.id == changed.id else b for b in run.blockers))


def awaiting_data(fix: UserFix, command: str) -> dict[str, Any]:
    """The design's JSON for a run that waits for a person.

    Args:
        fix: what a person has to do.
        command: its check command as it was written; "" if there is none.
    """
    command = " ".join(fix.check_command) if fix.others else command
    return {
        "status": RunStatus.AWAITING_USER.value,
        "description": fix.description,
        "check_command": command or None,
        "instructions": filled("awaiting", fix=fix, check=command or "(no command checks it)"),
    }


def demanded_fix(run: Run) -> UserFix:
    """What a person has to do, or did last; Refused if the run never waited for a person."""
    if run.fix is None:
        raise refused("no-fix-asked")
    return run.fix


def fix_data(fix: UserFix) -> dict[str, bool]:
    """The design's JSON on whether it is fixed: the check command decides, else the person's word."""
    is_fixed = fix.verified if fix.check_command else bool(fix.completed_at)
    return {"is_fixed": is_fixed, "verified": fix.verified, "can_resume": is_fixed}


def fix_checked(run: Run, fix: UserFix, now: float, *, passed: bool) -> Run:
    """The run after the check command of this fix ran; unchanged if the run waits for another by now."""
    now_asked = run.fix
    if now_asked is None or (now_asked.blocker, now_asked.asked_at) != (fix.blocker, fix.asked_at):
        return run
    return run.but(fix=now_asked.but(checked_at=now, verified=passed))


def to_resolve(run: Run, name: str = "") -> tuple[tuple[Blocker, ...], float]:
    """The blockers that a person reports as fixed, and when that person was asked.

    Args:
        run: the run.
        name: a blocker's id or index; "" for those that the run waits for.

    Raises:
        Refused: the run does not wait for anything, or that blocker is resolved.
    """
    if run.is_over:
        raise refused("run-over", run=run)
    if name:
        blocker = run.blockers[index_of(run, name)]
        if blocker.resolved_at:
            raise refused("resolved-already", blocker=blocker)
        asked = run.fix.asked_at if run.fix and blocker.id in run.fix.waited else blocker.at
        return (blocker,), asked
    held = (RunStatus.AWAITING_USER, RunStatus.STOPPED)
    if run.status not in held or run.fix is None or run.fix.completed_at:
        standing = ", ".join(other.id for other in run.standing_blockers) or "none"
        raise refused("waits-for-nobody", standing=standing)
    wanted = tuple(other for other in run.standing_blockers if other.id in run.fix.waited)
    return wanted, run.fix.asked_at


def resolved(run: Run, blockers: tuple[Blocker, ...], now: float, by: str, notes: str = "") -> Run:
    """The run after a person said that these are fixed: their stories and the run continue.

    Args:
        run: the run before.
        blockers: the result of `to_resolve`.
        now: the present.
        by: the evidence that it is a person.
        notes: that person's notes.
    """
    words, ids, fix = kept_words(notes), {blocker.id for blocker in blockers}, run.fix
    mended = {"resolved_at": now, "notes": words}
    kept = tuple(old.but(**mended) if old.id in ids else old for old in run.blockers)
    run = run.but(blockers=kept, acts=(*run.acts, PersonAct(now, "user-fix-complete", by, words)))
    freed = {blocker.story for blocker in blockers}
    if fix is not None and fix.blocker in ids:
        freed.add(fix.story)
    for story in run.open_stories:
        if story.id not in freed or blocking(run, story.id):
            continue
        free = story.but(retries_from=story.iteration)  # its iterations are granted again
        if story.status is StoryStatus.BLOCKED:
            # If another story is at work, it waits for its turn.
            is_next = bool(story.started) and run.at_work is None
            free = free.but(status=StoryStatus.IN_PROGRESS if is_next else StoryStatus.PENDING)
        run = run.with_story(free)
    standing = {blocker.id for blocker in run.standing_blockers}
    if fix is None or fix.completed_at or standing & {*fix.waited}:
        return run
    if run.status is RunStatus.AWAITING_USER:
        run = long_run.waited(run, fix.asked_at, now).but(status=RunStatus.ACTIVE)
    return run.but(fix=fix.but(completed_at=now, notes=words))


def _argv(command: str) -> tuple[str, ...]:
    """The words of one command; several commands become one that runs each if the one before succeeded.

    A list may be given in the form that refusals show, [["a"], ["b"]].
    """
    words: object = command.strip()
    with suppress(ValueError, RecursionError):  # what is no JSON is a text
        value = json.loads(command)
        words = value if isinstance(value, list) else words
    try:
        commands = command_argv.commands_in(words)
    except ValueError as error:
        raise refused("no-check-command", error=error) from None
    return _in_one(commands)


def _in_one(commands: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    if len(commands) > 1:
        return ("sh", "-c", command_argv.as_line(commands))
    return commands[0] if commands else ()


def stop_asked_at(run: Run) -> float:
    """When the session was last told to continue: a later prompt may ask for a stop."""
    return max(run.started, run.led_on_at, *(act.at for act in run.acts))


def stopped(run: Run, now: float, by: str, why: str = "") -> Run:
    """The run, stopped by a person, perhaps with a reason; Refused if it is not active anyway."""
    if run.is_over or run.status is RunStatus.STOPPED:
        how = "is completed" if run.is_over else f"was stopped already ({run.why})"
        raise refused("not-to-stop", run=run, how=how)
    words = kept_words(why) or "by its user"
    acts = (*run.acts, PersonAct(now, "stop", by, words))
    return run.but(status=RunStatus.STOPPED, why=words, stopped_at=now, acts=acts, told="")


def demand_stopped(run: Run) -> None:
    """Raise Refused unless the run was stopped."""
    if run.status is RunStatus.STOPPED:
        return
    waits = ": a person says that it is fixed with lifecycle run user-fix-complete"
    waits = waits if run.status is RunStatus.AWAITING_USER else ""
    raise refused("not-to-resume", run=run, status=run.status.replace("_", " "), waits=waits)


def resumed(run: Run, now: float, by: str) -> Run:
    """The run, continued where it was with its counters, and with all caps granted again from now on.

    A run that waited for a person waits again.
    """
    demand_stopped(run)
    waits = run.fix is not None and not run.fix.completed_at
    status = RunStatus.AWAITING_USER if waits else RunStatus.ACTIVE
    act = PersonAct(now, "resume", by, run.why)
    run = run.but(status=status, why="", acts=(*run.acts, act), idle=0, last_reason="", told="")
    return run.but(forgiven=long_run.spent(run, now))
