"""Blockers and brakes: what stands before a story or the run, whom it waits for, and who lets it go on.

A blocker is named by its id (`B1`) or its index (`0`). A run of which nothing is left but stories that
stand still waits for a person by itself. A person stops a run, and lets one go on: after a stop, a cap, or
turns in which nothing moved.
"""

from __future__ import annotations

import json
from typing import Any, Final

from lifecycle.core.redact import visible
from lifecycle.platforms import command_argv
from lifecycle.run import long_run
from lifecycle.run.state import Blocker, PersonAct, Run, Story, UserFix
from lifecycle.run.table import BLOCKER_SEVERITIES, STORIES, RunStatus, StoryStatus
from lifecycle.run.texts.told import kept_words, line_of, refused, there

FIXED = "user-fix-complete"

BLOCKING: Final = ("high", "critical")
"""Severities of a blocker that let its story stand still."""


def added(run: Run, description: str, severity: str, now: float, **about: Any) -> Run:
    """The run with one more blocker, which has these fields."""
    id_, words = f"B{len(run.blockers) + 1}", kept_words(description)
    blocker = Blocker(id_, words, severity, now, **about)
    return run.but(blockers=(*run.blockers, blocker))


def blocking(run: Run, *stories: str) -> list[str]:
    """The ids of the blockers that stand before these stories ("" for the run), and are severe."""
    standing = (blocker for blocker in run.standing_blockers if blocker.severity in BLOCKING)
    return [blocker.id for blocker in standing if blocker.story in stories]


def standing_still(run: Run, story: Story, now: float) -> Run:
    """The run with this story blocked, and waiting for a person if nothing else is left."""
    if StoryStatus.BLOCKED in STORIES.legal(story.status):
        run = run.with_story(story.but(status=StoryStatus.BLOCKED))
    return awaiting_if_blocked(run, now)


def awaiting_if_blocked(run: Run, now: float) -> Run:
    """The run waiting for a person if only stories are left that are blocked, or depend on such."""
    if run.status is not RunStatus.ACTIVE or run.current is not None:
        return run
    blocked = [story.id for story in run.open_stories if story.status is StoryStatus.BLOCKED]
    explained = {blocker.story for blocker in run.standing_blockers}
    for id_ in blocked:
        if id_ not in explained:
            why = f"{id_} is blocked, and nobody said by what"
            run = added(run, why, "high", now, story=id_)
    standing = [blocker for blocker in run.standing_blockers if blocker.story in blocked]
    if not standing:
        return run
    return _waiting(run, standing, now)


def _waiting(run: Run, waited: list[Blocker], now: float) -> Run:
    """The run waiting for a person to mend these blockers; what each was asked for is told."""
    first, *rest = waited
    texts = [f"{blocker.id}: {blocker.asked or blocker.description}" for blocker in waited]
    text = first.asked if first.asked and not rest else kept_words("; ".join(texts))
    checked = [blocker for blocker in waited if blocker.check_command]
    command = _in_one(tuple(blocker.check_command for blocker in checked))
    # The commands run one after the other.
    timeout = sum(blocker.timeout for blocker in checked or [first])
    others = tuple(blocker.id for blocker in rest)
    story = first.story or (run.current.id if run.current else "")
    fix = UserFix(first.id, text, now, command, timeout, story, run.phase, others=others)
    return run.but(status=RunStatus.AWAITING_USER, fix=fix)


def index_of(run: Run, name: str) -> int:
    """The place of the blocker with this id, or index; Refused, with those that there are."""
    wanted = name.strip().upper()
    for index, blocker in enumerate(run.blockers):
        if wanted in (blocker.id, str(index)):
            return index
    names = [f"{other.id} (index {index})" for index, other in enumerate(run.blockers)]
    raise refused("no-such-blocker", name=visible(name), there=there(names, "there is none"))


def with_blocker(run: Run, text: str, severity: str, now: float, story_id: str = "") -> Run:
    """The run with one more blocker; or with the one that was logged by itself, now described by somebody.

    A story of its own that it stands before stands still, unless its severity is low or medium.

    Raises:
        Refused: there is no text, no such story, it is completed, or the run was stopped or is over.
    """
    run.demand_open()
    description = line_of(text, "a blocker's description")
    story = run.open_story(story_id, "story-over-unblocked") if story_id else None
    for blocker in run.blockers:
        if blocker.failure and not blocker.resolved_at and story_id.upper() in ("", blocker.story):
            weight = max(severity, blocker.severity, key=BLOCKER_SEVERITIES.index)
            changed = blocker.but(description=description, severity=weight, failure="")
            run = _with_blocker(run, changed)
            break
    else:
        run = added(run, description, severity, now, story=story.id if story else "")
    if story is None or severity not in BLOCKING:
        return run
    return standing_still(run, story, now)


def awaiting(
    run: Run, name: str, description: str, now: float, check_command: str = "", timeout: int = 60
) -> Run:
    """The run waiting for a person, also for what it waits for already.

    Args:
        run: before.
        name: the blocker's id or index.
        description: what that person is to do.
        now: the present.
        check_command: what shows that it is fixed, a text or a list as JSON; no shell reads it.
        timeout: seconds that this may take.

    Raises:
        Refused: no such blocker, it is resolved, no description, a command that needs a shell, or the run
            was stopped or is over.
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
        fix: what a person is waited for.
        command: its check command as it was written; "" if there is none.
    """
    command = " ".join(fix.check_command) if fix.others else command
    check = command or "(no command checks it)"
    return {
        "status": RunStatus.AWAITING_USER.value,
        "description": fix.description,
        "check_command": command or None,
        "instructions": [
            f"1. Fix the issue: {fix.description}",
            f"2. Run verification: {check}",
            f"3. Resume workflow: lifecycle run {FIXED} (or: python .claude/core/state.py {FIXED})",
        ],
    }


def demanded_fix(run: Run) -> UserFix:
    """What a person is waited for, or did last; Refused if nobody ever was."""
    if run.fix is None:
        raise refused("no-fix-asked")
    return run.fix


def fix_data(fix: UserFix) -> dict[str, bool]:
    """The design's JSON on whether it is fixed: its command decides, else the person's word."""
    is_fixed = fix.verified if fix.check_command else bool(fix.completed_at)
    return {"is_fixed": is_fixed, "verified": fix.verified, "can_resume": is_fixed}


def fix_checked(run: Run, fix: UserFix, now: float, *, passed: bool) -> Run:
    """The run after the check command of this fix ran; as it was if another is waited for by now."""
    now_asked = run.fix
    if now_asked is None or (now_asked.blocker, now_asked.asked_at) != (fix.blocker, fix.asked_at):
        return run
    return run.but(fix=now_asked.but(checked_at=now, verified=passed))


def to_resolve(run: Run, name: str = "") -> tuple[tuple[Blocker, ...], float]:
    """The blockers that a person says are fixed, and when that person was asked.

    Args:
        run: the run.
        name: a blocker's id or index; "" for what is waited for.

    Raises:
        Refused: nothing is waited for, or that blocker is resolved.
    """
    if run.is_over:
        raise refused("run-over", run=run)
    if name:
        blocker = run.blockers[index_of(run, name)]
        if blocker.resolved_at:
            raise refused("resolved-already", blocker=blocker)
        fix = run.fix
        if fix is not None and blocker.id in fix.waited:
            return (blocker,), fix.asked_at
        return (blocker,), blocker.at
    held = (RunStatus.AWAITING_USER, RunStatus.STOPPED)
    if run.status not in held or run.fix is None or run.fix.completed_at:
        standing = ", ".join(other.id for other in run.standing_blockers) or "none"
        raise refused("waits-for-nobody", standing=standing)
    wanted = tuple(other for other in run.standing_blockers if other.id in run.fix.waited)
    return wanted, run.fix.asked_at


def resolved(run: Run, blockers: tuple[Blocker, ...], now: float, by: str, notes: str = "") -> Run:
    """The run after a person said that these are fixed: their stories go on, and so does the run.

    Args:
        run: before.
        blockers: of `to_resolve`.
        now: the present.
        by: how it is known to be a person.
        notes: that person's.
    """
    words, ids, fix = kept_words(notes), {blocker.id for blocker in blockers}, run.fix
    mended = {"resolved_at": now, "notes": words}
    kept = tuple(old.but(**mended) if old.id in ids else old for old in run.blockers)
    run = run.but(blockers=kept, acts=(*run.acts, PersonAct(now, FIXED, by, words)))
    freed = {blocker.story for blocker in blockers}
    if fix is not None and fix.blocker in ids:
        freed.add(fix.story)
    for story in run.open_stories:
        if story.id in freed:
            run = run.with_story(_freed(run, story))
    standing = {blocker.id for blocker in run.standing_blockers}
    if fix is None or fix.completed_at or standing & {*fix.waited}:
        return run
    if run.status is RunStatus.AWAITING_USER:
        run = long_run.waited(run, fix.asked_at, now).but(status=RunStatus.ACTIVE)
    return run.but(fix=fix.but(completed_at=now, notes=words))


def _freed(run: Run, story: Story) -> Story:
    """The story freed of its blocker, with its iterations granted anew; as it is while another one stands.

    While another one is at work it waits for its turn.
    """
    if blocking(run, story.id):
        return story
    story = story.but(retries_from=story.iteration)
    if story.status is not StoryStatus.BLOCKED:
        return story
    is_next = bool(story.started) and run.at_work is None
    return story.but(status=StoryStatus.IN_PROGRESS if is_next else StoryStatus.PENDING)


def _argv(command: str) -> tuple[str, ...]:
    """The words of one command: several become one, in which each runs if the one before succeeded."""
    try:
        commands = command_argv.commands_in(_listed(command.strip()))
    except ValueError as error:
        raise refused("no-check-command", error=error) from None
    return _in_one(commands)


def _in_one(commands: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    if len(commands) > 1:
        return ("sh", "-c", command_argv.as_line(commands))
    return commands[0] if commands else ()


def _listed(command: str) -> object:
    """The list that a text writes, as refusals say it: [["a"], ["b"]]; else the text."""
    try:
        value = json.loads(command)
    except (ValueError, RecursionError):
        return command
    return value if isinstance(value, list) else command


RESUME, STOP = "resume", "stop"


def stop_asked_at(run: Run) -> float:
    """When the session was last told to work on: a prompt after that may ask for a stop."""
    return max(run.started, run.led_on_at, *(act.at for act in run.acts))


def stopped(run: Run, now: float, by: str, why: str = "") -> Run:
    """The run stopped by a person, who says why or not; Refused if it does not go on anyway."""
    if run.is_over or run.status is RunStatus.STOPPED:
        how = "is completed" if run.is_over else f"was stopped already ({run.why})"
        raise refused("not-to-stop", run=run, how=how)
    words = kept_words(why) or "by its user"
    acts = (*run.acts, PersonAct(now, STOP, by, words))
    return run.but(status=RunStatus.STOPPED, why=words, stopped_at=now, acts=acts, told="")


def demand_stopped(run: Run) -> None:
    """Raise Refused unless the run was stopped."""
    if run.status is RunStatus.STOPPED:
        return
    waits = ": a person says that it is fixed with lifecycle run user-fix-complete"
    waits = waits if run.status is RunStatus.AWAITING_USER else ""
    raise refused("not-to-resume", run=run, status=run.status.replace("_", " "), waits=waits)


def resumed(run: Run, now: float, by: str) -> Run:
    """The run going on where it was, its counters kept; one that waited for a person waits again."""
    demand_stopped(run)
    waits = run.fix is not None and not run.fix.completed_at
    status = RunStatus.AWAITING_USER if waits else RunStatus.ACTIVE
    act = PersonAct(now, RESUME, by, run.why)
    return run.but(status=status, why="", acts=(*run.acts, act), idle=0, last_reason="", told="")
