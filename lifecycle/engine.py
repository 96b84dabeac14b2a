"""One look at one claim: observe → decide → act → commit after each fact → report.

Hooks, the CLI and the demo all wake this. Everything decided comes from state that was just read; a
lost wake loses nothing, and waking five times writes exactly what waking once does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from lifecycle import log, plan
from lifecycle.claim import hints as hinting
from lifecycle.claim.decide import absorb, decide, evolve, look
from lifecycle.claim.desk import Desk, Loaded
from lifecycle.claim.seen import Rules, Seen
from lifecycle.claim.state import Record, Trouble
from lifecycle.claim.table import IN_REVIEW, Phase
from lifecycle.deadline import DeadlineReached
from lifecycle.errors import LifecycleError, Refused, Transient
from lifecycle.plan import Action, Say, Tone, Wake
from lifecycle.redact import redact
from lifecycle.wiring import World

STOP_DUE = "due"
IDLE_DUE = "idle-due"
"""Marks for the hooks' guards, in `.lifecycle/`: the moment from which a wake is let through."""

MAX_STEPS = 24
LOOK_AGAIN_SECONDS = 60.0
BOARD_OFF_SECONDS = 600.0
_BOARD_OFF = "board_off"


@dataclass(frozen=True, slots=True)
class Report:
    """What one look came to.

    Attributes:
        record: the claim afterwards, or None if there is none.
        said: sentences that were taken off the queue for this channel.
        actions: what was done, or (dry run) would be.
        problem: why the look could not be finished, or None.
    """

    record: Record | None = None
    said: tuple[Say, ...] = ()
    actions: tuple[Action, ...] = ()
    problem: LifecycleError | None = None


@dataclass(slots=True)
class _Look:
    """The engine's working memory during one look."""

    world: World
    desk: Desk
    seen: Seen
    actions: list[Action] = field(default_factory=list)
    problem: LifecycleError | None = None
    is_gone: bool = False
    was_edited: bool = False


def tick(
    world: World,
    desk: Desk,
    wake: Wake,
    *,
    tones: Collection[Tone] = tuple(Tone),
    channel: str = "cli",
) -> Report:
    """Bring the world one look nearer to what the claim wants.

    Args:
        world: what may be touched.
        desk: the claim file and state.json.
        wake: who asks; hooks trust what was last synced, `TICK` looks at everything.
        tones: which sentences the caller can deliver; the others stay on the queue.
        channel: the name under which they are marked as offered.

    Raises:
        Refused: the claim file cannot be acted on; nothing was done.
        LockBusy: another process is at work on this claim.
    """
    with desk.folder.locked(world.deadline.remaining(at_most=30.0)):
        try:
            loaded = desk.load()
            world.cache.state = desk.state
            for say in loaded.says:
                desk.queue(say)
            if loaded.record is None:
                return Report(said=take(desk, tones, channel))
            working = _Look(world, desk, _seen(world, desk, wake, loaded))
        except Refused as error:
            if wake is Wake.TICK:
                raise
            return _refused(desk, error, tones, channel)
        _work(working, loaded)
        said = take(desk, tones, channel)
        _mark(working, loaded.mtime_ns)
        record = working.seen.record
        return Report(record, said, tuple(working.actions), working.problem)


def is_quiet(world: World, desk: Desk, wake: Wake) -> bool:
    """True if a wake would read nothing, do nothing and say nothing; takes no lock.

    Marks the claim as looked at for the guard, so that the next wake ends before Python starts.
    """
    try:
        loaded = desk.load(repair=False)
    except LifecycleError:
        return False
    world.cache.state = desk.state
    if loaded.record is None or loaded.hints or desk.state.get("queue"):
        return False
    if not desk.state.get("record") or loaded.record.past[-1:] != (loaded.record.values,):
        return False
    if desk.is_due(STOP_DUE):
        return False
    try:
        seen = _seen(world, desk, wake, loaded)
    except LifecycleError:
        return False
    if look(seen) is not None:
        return False
    step = decide(seen)
    if (
        step.fields
        or step.memory
        or step.action
        or any(not desk.was_said(s.key) for s in step.says)
    ):
        return False
    desk.stamp(loaded.mtime_ns)
    return True


def rehearse(world: World, desk: Desk) -> Report:
    """The dry run: the same look and the same plan, and nothing is written anywhere."""
    loaded = desk.load(repair=False)
    world.cache.state = desk.state
    if loaded.record is None:
        return Report()
    working = _Look(world, desk, _seen(world, desk, Wake.TICK, loaded))
    _observe(working, loaded)
    says: list[Say] = []
    for _ in range(MAX_STEPS):
        step = decide(working.seen)
        fresh = [say for say in step.says if say not in says and not desk.was_said(say.key)]
        says += fresh
        before = working.seen.record
        working.seen = _prepared(working.seen, step)
        if step.action is not None:
            working.actions.append(step.action)
            working.seen = evolve(working.seen, _imagined(step.action))
        elif working.seen.record == before:
            break
    return Report(working.seen.record, tuple(says), tuple(working.actions), working.problem)


def _work(working: _Look, loaded: Loaded) -> None:
    try:
        _observe(working, loaded)
        for _ in range(MAX_STEPS):
            if working.is_gone or working.was_edited or not _step(working):
                break
    except DeadlineReached:
        working.problem = Transient("The time for this look was up; it goes on at the next one.")
        log.write(working.world.root, "deadline reached")
    working.desk.remember(working.seen.record)
    working.desk.save()


def _observe(working: _Look, loaded: Loaded) -> None:
    """Read what the decision needs, if it needs anything, and judge hints by it."""
    world, now = working.world, working.world.clock.now()
    for _ in range(2):
        wanted = look(working.seen)
        if wanted is None:
            return
        try:
            rules = replace(working.seen.rules, head_owner=world.head.owner)
            observation = world.forge.observe(wanted)
        except (LifecycleError, DeadlineReached) as error:
            _could_not_look(working, error)
            return
        record = working.seen.record
        troubles = {k: v for k, v in record.troubles.items() if k != "Look"}
        working.seen = replace(
            working.seen,
            record=replace(record, troubles=troubles),
            rules=rules,
            observation=observation,
            looked_at_checks=wanted.checks,
        )
        if observation.board_problem:
            off = {"sentence": observation.board_problem, "until": now + BOARD_OFF_SECONDS}
            world.cache.put(_BOARD_OFF, off)
        if not loaded.hints or not working.seen.hints:
            break
        judged = hinting.judge(working.seen)
        for say in judged.says:
            working.desk.queue(say)
        record = working.seen.record.with_values(judged.accepted)
        working.seen = replace(working.seen, record=record, hints={})
        if not judged.is_wrong_issue:
            break
        working.seen = replace(working.seen, observation=None, looked_at_checks=False)
    if working.seen.observation is not None:
        record = absorb(working.seen.record, working.seen.observation, now)
        working.seen = replace(working.seen, record=record)


def _could_not_look(working: _Look, error: LifecycleError | DeadlineReached) -> None:
    world, record = working.world, working.seen.record
    if isinstance(error, DeadlineReached):
        error = Transient(
            "GitHub did not answer in time; the claim was kept and is looked at again."
        )
    error.sentence = redact(error.sentence, world.environment)
    log.write(world.root, f"look: {error.sentence}")
    wait = error.retry_after if isinstance(error, Transient) else None
    trouble = Trouble(
        mark=repr(sorted(record.values.items(), key=str)),
        sentence=error.sentence,
        until=world.clock.now() + (wait or LOOK_AGAIN_SECONDS),
        is_final=not isinstance(error, Transient),
        for_agent=error.for_agent,
    )
    working.problem = error
    record = replace(record, troubles={**record.troubles, "Look": trouble})
    working.seen = replace(working.seen, record=record)


def _step(working: _Look) -> bool:
    """Take one decision as far as its fact; False once nothing is left to do."""
    desk = working.desk
    step = decide(working.seen)
    before = working.seen.record
    working.seen = _prepared(working.seen, step)
    # Who asks by command gets the answer, however often it was given before.
    is_asked = working.seen.wake is Wake.TICK
    for say in step.says:
        desk.queue(say, again=is_asked and say.tone in (Tone.ACT, Tone.ASK))
    if step.action is None:
        _commit(working)
        return working.seen.record != before
    _commit(working)
    if working.is_gone or working.was_edited:
        return False
    _act(working, step.action)
    return True


def _prepared(seen: Seen, step: plan.Decision) -> Seen:
    """With what a decision sets before it acts."""
    record = replace(seen.record.with_values(step.fields), **step.memory)
    return replace(seen, record=record)


def _act(working: _Look, action: Action) -> None:
    from lifecycle.act import perform

    world, desk = working.world, working.desk
    if isinstance(action, plan.OpenPullRequest | plan.PostComment):
        working.seen = evolve(working.seen, plan.Intended(action))
        desk.remember(working.seen.record)
        desk.save()
    try:
        fact = perform(action, world, desk, working.seen.record)
    except DeadlineReached:
        late = Transient("The answer did not come in time.", is_ambiguous=True)
        _conclude(working, action, plan.Failed(action, late))
        raise
    _conclude(working, action, fact)


def _conclude(working: _Look, action: Action, fact: plan.Fact) -> None:
    world = working.world
    working.actions.append(action)
    working.seen = evolve(working.seen, fact)
    record = working.seen.record
    if isinstance(fact, plan.Failed):
        working.problem = working.problem or fact.error
        log.write(world.root, f"{type(action).__name__} failed: {fact.error.sentence}")
    else:
        log.write(world.root, f"{type(action).__name__} done for {record.key}")
    if isinstance(fact, plan.ClaimForgotten):
        working.desk.remember(record)
        working.desk.save()
    else:
        _commit(working)


def _commit(working: _Look) -> None:
    if working.seen.record.outcome:
        return
    committed = working.desk.commit(working.seen.record, working.seen.hints)
    working.seen = replace(working.seen, record=committed.record)
    working.is_gone = working.is_gone or committed.is_gone
    # The agent edited while we looked: what we saw may not fit what it wants now. Look again.
    working.was_edited = working.was_edited or bool(committed.changed)


def _mark(working: _Look, mtime_ns: int) -> None:
    """Tell the hooks' guards what this look left to do."""
    desk, record, now = working.desk, working.seen.record, working.world.clock.now()
    phase = Phase.named(record.claim.phase)
    if working.is_gone or record.outcome:
        desk.set_due(STOP_DUE, None)
        desk.set_due(IDLE_DUE, None)
        return
    due = record.due()
    if working.was_edited or "OpenPullRequest" in record.troubles:
        due = now  # what was refused may be mended by a push, which leaves no trace in the claim
    desk.set_due(STOP_DUE, due)
    looks = phase in IN_REVIEW or due is not None
    desk.set_due(IDLE_DUE, now if looks else None)
    if not working.was_edited:
        desk.stamp(mtime_ns)


def _seen(world: World, desk: Desk, wake: Wake, loaded: Loaded) -> Seen:
    record, settings, now = loaded.record, world.settings, world.clock.now()
    if record is None:
        raise ValueError("there is no claim to look at")
    off = desk.state.get("cache", {}).get(_BOARD_OFF)
    is_off = bool(off) and now < off["until"] and wake is not Wake.TICK
    rules = Rules(
        base=settings.base,
        has_board=settings.project_number is not None and not is_off,
        board_name=f"project {settings.project_number}",
        poll_seconds=settings.poll_seconds,
    )
    pushed = None
    if record.claim.phase == Phase.READY_FOR_PR and record.claim.branch:
        pushed = world.git.remote_head_of(record.claim.branch, settings.remote)
    return Seen(wake, now, record, rules, loaded.hints, pushed_head=pushed)


def _refused(desk: Desk, error: Refused, tones: Collection[Tone], channel: str) -> Report:
    queue_refusal(desk, error)
    desk.save()
    return Report(said=take(desk, tones, channel), problem=error)


def queue_refusal(desk: Desk, error: LifecycleError) -> None:
    """Put what stands in the way on the queue, once: to the agent if it can mend it."""
    tone = Tone.ACT if error.for_agent else Tone.NOTE
    desk.queue(Say(f"refused:{error.sentence}", redact(error.sentence), tone))


def take(desk: Desk, tones: Collection[Tone], channel: str) -> tuple[Say, ...]:
    """Mark what this channel delivers as offered, before anything is printed."""
    taken = [say for say in desk.waiting() if say.tone in tones]
    if taken:
        desk.offer(taken, channel)
        desk.save()
    return tuple(taken)


def _imagined(action: Action) -> plan.Fact:
    """The fact that a dry run assumes."""
    from lifecycle.model import BoardItem, PullRequest, PullState

    match action:
        case plan.OpenPullRequest():
            owner, _, branch = action.head.partition(":")
            pull = PullRequest(0, "(new)", action.title, PullState.OPEN, branch, owner, "")
            return plan.PullRequestOpened(pull)
        case plan.SetBoard():
            item = BoardItem(action.item_id, action.status, action.agent)
            wrote_agent = "" if action.clear_agent else action.agent
            return plan.BoardIs(item, action.status, wrote_agent)
        case plan.PostComment():
            return plan.Commented(action.marker)
        case plan.CloseIssue():
            return plan.IssueClosed(action.issue)
        case plan.ReleaseLease():
            return plan.LeaseReleased()
        case plan.ForgetClaim():
            return plan.ClaimForgotten()
