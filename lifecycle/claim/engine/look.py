"""One look at one claim: observe → decide → act → commit after each fact → report.

Hooks, the CLI and the demo all wake this. Everything decided comes from state that was just read; a
lost wake loses nothing, and waking five times writes exactly what waking once does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from lifecycle.claim.decisions.decide import (
    apply_fact,
    apply_observation,
    complaints,
    decide,
    look,
    wants_look,
)
from lifecycle.claim.decisions.ending import consent
from lifecycle.claim.decisions.rehearsal import MAX_STEPS, foresee
from lifecycle.claim.decisions.snapshot import Rules, Snapshot, prepared, still_wanted
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import guard_stamp
from lifecycle.claim.linked import linked_decisions, linked_writes, pending_writes
from lifecycle.claim.record import journalling, ownership
from lifecycle.claim.record.claim_store import ClaimStore, Loaded
from lifecycle.claim.record.guard_marks import STOP_DUE
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import Record, kind_of
from lifecycle.core import plan
from lifecycle.core.errors import LifecycleError, Refused, Transient
from lifecycle.core.plan import Action, Audience, Notice, Wake
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.world import World
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import journal, log, signs_of_life
from lifecycle.storage.state_file import ACCESS, lasting

LOOK_AGAIN_SECONDS = 60.0
BOARD_OFF_SECONDS = 600.0
_BOARD_OFF = "board_off"


@dataclass(slots=True)
class _Look:
    """The state of one look while it runs."""

    world: World
    claim_store: ClaimStore
    seen: Snapshot
    actions: list[Action] = field(default_factory=list)
    problem: LifecycleError | None = None
    stated: set[str] = field(default_factory=set)
    is_finished: bool = False
    is_gone: bool = False
    was_edited: bool = False


def _queue(working: _Look, notices: Iterable[Notice]) -> None:
    """Queue notices under this claim's keys; a look by command repeats what still stands."""
    is_asked = working.seen.wake is Wake.TICK
    for notice in notices:
        key = f"{working.seen.record.claim_key}/{notice.key}"
        is_first = key not in working.stated  # what this look has said or ended is not said again
        working.stated.add(key)
        again = is_asked and is_first and (notice.stands or notice.audience is Audience.ASK)
        working.claim_store.ledger.queue(replace(notice, key=key), again=again)


def believed(world: World, claim_store: ClaimStore, record: Record) -> Record:
    """The record without refusals that another token got: with the present token they are tried again.

    What waits to be said of it is not said any more. Nothing is written here.
    """
    old = [kind for kind, trouble in record.troubles.items() if trouble.is_of_access]
    if not old or claim_store.state.get(ACCESS) == world.access:
        return record
    for kind in old:
        claim_store.ledger.withdraw(f"{record.claim_key}/refused:{kind}:")
    return replace(record, troubles={k: t for k, t in record.troubles.items() if k not in old})


def _snapshot_of(world: World, claim_store: ClaimStore, wake: Wake, loaded: Loaded) -> Snapshot:
    """The snapshot at the start of a wake, before GitHub is asked; ValueError without a claim."""
    record, settings, now = loaded.record, world.settings, world.clock.now()
    if record is None:
        raise ValueError("there is no claim to look at")
    off = world.cache.get(_BOARD_OFF)
    # What closes is tried for certain: nothing comes after it that would.
    is_ending = record.claim.phase == Phase.DONE or record.ending.releasing is not None
    is_tried = wake is Wake.TICK or is_ending
    is_off = isinstance(off, dict) and now < off["until"] and off.get(ACCESS) == world.access
    rules = Rules(
        base=settings.base,
        has_board=settings.has_board and (is_tried or not is_off),
        board_name=settings.board_name,
        poll_seconds=settings.poll_seconds,
        closes_itself=settings.close == consent.AUTO,
        link=settings.issue_link,
    )
    pushed = None
    if record.claim.phase == Phase.READY_FOR_PR and record.claim.branch:
        pushed = world.git.remote_head_of(record.claim.branch, settings.remote)
    return Snapshot(
        wake,
        now,
        record,
        rules,
        loaded.hints,
        pushed_head=pushed,
        answered_at=claim_store.marks.answered_at,
        hears_prompts=claim_store.marks.hears_prompts(record.created_at),
    )


def _observe(working: _Look, loaded: Loaded) -> None:
    """Read from GitHub what the decision needs, if anything, and judge hints by it."""
    world, now = working.world, working.world.clock.now()
    for _ in range(2):
        wanted = look(working.seen)
        if wanted is None:
            return
        try:
            placed = ownership.noted(world, working.seen.record)
            working.seen = replace(working.seen, record=placed)
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
            off = {
                "sentence": observation.board_problem,
                "until": now + BOARD_OFF_SECONDS,
                ACCESS: world.access,
            }
            world.cache.put(_BOARD_OFF, off)
        if not loaded.hints or not working.seen.hints:
            break
        from lifecycle.claim.decisions import hints as hinting

        judged = hinting.judge(working.seen)
        _queue(working, judged.notices)
        accepted = hinting.accept(working.seen.record, judged)
        working.seen = replace(working.seen, record=accepted, hints={})
        if not judged.is_wrong_issue:
            break
        working.seen = replace(working.seen, observation=None, looked_at_checks=False)
    if working.seen.observation is not None:
        record = apply_observation(working.seen.record, working.seen.observation, now)
        working.seen = replace(working.seen, record=record)
        if linked_decisions.wants_to_know(working.seen):
            record, notices = linked_writes.learned(world, working.seen)
            working.seen = replace(working.seen, record=record)
            _queue(working, notices)


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
        is_of_access=error.is_of_access,
    )
    working.problem = error
    record = replace(record, troubles={**record.troubles, "Look": trouble})
    failed = working.seen.failed | {"Look"}
    working.seen = replace(working.seen, record=record, failed=failed)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one look.

    Attributes:
        record: the claim afterwards, or None if there is none.
        said: sentences that were taken off the queue for this channel.
        actions: what was done, or (dry run) would be.
        problem: why the look could not be finished, or None.
    """

    record: Record | None = None
    said: tuple[Notice, ...] = ()
    actions: tuple[Action, ...] = ()
    problem: LifecycleError | None = None


def tick(
    world: World,
    claim_store: ClaimStore,
    wake: Wake,
    *,
    audiences: Collection[Audience] = tuple(Audience),
    channel: str = "cli",
    session: str = "",
    is_untracked: bool = False,
    loaded: Loaded | None = None,
) -> Report:
    """Look once: observe, decide and act until nothing is left to do now, and report.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        wake: who asks; hooks trust what was last synced, `TICK` looks at everything.
        audiences: which sentences the caller can deliver; the others stay on the queue.
        channel: the name under which they are marked as offered.
        session: the client's session that they are offered to, or empty if nobody knows.
        is_untracked: the caller has just seen that git tracks nothing of ours here.
        loaded: the claim as this wake has read it already, without the lock.

    Raises:
        Refused: the claim file cannot be acted on, or git tracks it; nothing was done.
        LockBusy: another process is at work on this claim.
    """
    if not is_untracked:
        world.refuse_tracked()
    world.renew_token()
    with claim_store.folder.locked(world.deadline.remaining(at_most=30.0)):
        try:
            loaded = claim_store.confirm(loaded)
            for notice in loaded.notices:
                claim_store.ledger.queue(notice)
            if claim_store.file.has_linked_work:
                linked_writes.repair(world, claim_store, loaded.record, is_asked=wake is Wake.TICK)
            if loaded.record is None:
                return _without_claim(claim_store, audiences, channel, session)
            if not loaded.record.touched:
                _exclude(world)
            record = _owned(claim_store, _published(world, loaded.record), session)
            record = believed(world, claim_store, record)
            audiences = ownership.deliverable(record, session, audiences)
            loaded = replace(loaded, record=record)
            working = _Look(world, claim_store, _snapshot_of(world, claim_store, wake, loaded))
            claim_store.ledger.clear_refusals()
        except Refused as error:
            if wake is Wake.TICK:
                raise
            return _refused(claim_store, error, audiences, channel, session)
        _work(working, loaded)
        _tell_withheld(working)
        said = claim_store.take(audiences, channel, session)
        record = working.seen.record
        claim_store.ledger.retire("" if record.ending.outcome else record.claim_key)
        if wake is Wake.TICK and record.claim.phase == Phase.MERGED_DETECTED:
            claim_store.note_asked()  # whoever asks by command reads the question on the terminal
        claim_store.save()
        guard_stamp.mark(
            claim_store,
            working.seen,
            mtime_ns=loaded.mtime_ns,
            is_finished=working.is_finished,
            has_ended=working.is_gone or bool(record.ending.outcome),
        )
        if working.is_gone or record.ending.outcome:
            _wait_inside(claim_store)
        return Report(record, said, tuple(working.actions), working.problem)


def is_quiet(
    world: World, claim_store: ClaimStore, wake: Wake, loaded: Loaded | None, session: str = ""
) -> bool:
    """True if a wake would read nothing, do nothing and say nothing; takes no lock.

    Marks the claim as looked at for the guard, so that the next wake ends before Python starts.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        wake: who asks.
        loaded: the claim as it was read just now, or None if it could not be.
        session: the client's session that asks, or empty if nobody knows.
    """
    if loaded is None or loaded.record is None or loaded.hints or claim_store.ledger.waiting():
        return False
    if loaded.record != claim_store.remembered():
        return False  # what was read is kept first: a file that is corrupt later comes back as it is now
    if loaded.record.past[-1:] != (loaded.record.values,):
        return False
    mine = believed(world, claim_store, _owned(claim_store, loaded.record, session))
    if claim_store.marks.is_due(STOP_DUE) or mine != loaded.record:
        return False
    try:
        seen = _snapshot_of(world, claim_store, wake, loaded)
    except LifecycleError:
        return False
    if look(seen) is not None:
        return False
    step = decide(seen)
    key = seen.record.claim_key
    is_news = any(not claim_store.ledger.was_said(f"{key}/{notice.key}") for notice in step.notices)
    if step.fields or step.record or step.action or is_news:
        return False
    claim_store.stamp(loaded.mtime_ns)
    return True


def rehearse(world: World, claim_store: ClaimStore, *, record: Record | None = None) -> Report:
    """The dry run: the same look and the same plan, and nothing is written anywhere.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        record: the claim as a command would leave it; as it lies there unless given.
    """
    from lifecycle.claim.engine.acting import imagine

    loaded = claim_store.load(repair=False)
    record = record or loaded.record
    if record is not None:
        loaded = replace(loaded, record=believed(world, claim_store, record))
    if loaded.record is None:
        return Report()
    working = _Look(world, claim_store, _snapshot_of(world, claim_store, Wake.TICK, loaded))
    _observe(working, loaded)
    notices: list[Notice] = []
    actions: list[Action] = []
    left = working.seen.record
    for step in foresee(working.seen, imagine):
        left, action = step.seen.record, step.decision.action
        # What comes with the last step tells how the claim ended, and nothing ends in a rehearsal.
        new = () if isinstance(action, plan.ForgetClaim) else step.decision.notices
        for notice in new:
            if notice not in notices and not claim_store.ledger.was_said(
                f"{left.claim_key}/{notice.key}"
            ):
                notices.append(notice)
        if action is not None:
            actions.append(action)
            left = apply_fact(step.seen, imagine(action)).record
    return Report(left, lasting(notices), tuple(actions), working.problem)


def _work(working: _Look, loaded: Loaded) -> None:
    try:
        _observe(working, loaded)
        for _ in range(MAX_STEPS):
            if working.is_gone or working.was_edited or working.is_finished:
                break
            has_more = _step(working)
            working.is_finished = not (has_more or working.was_edited)
    except DeadlineReached:
        working.problem = Transient("The time for this look was up; it goes on at the next one.")
        log.write(working.world.root, "deadline reached")
        _queue(working, complaints(working.seen.record))
    claim_store, record = working.claim_store, working.seen.record
    seen = working.seen
    kept = {
        kind: trouble
        for kind, trouble in record.troubles.items()
        if still_wanted(seen, kind) or (kind == "Look" and wants_look(seen))
    }
    record = replace(record, troubles=kept, touched=claim_store.mtime_ns())
    working.seen = replace(working.seen, record=record)
    if working.is_finished:
        claim_store.ledger.forget_cleared(f"{record.claim_key}/", working.stated)
    if any(trouble.is_of_access for trouble in kept.values()):
        claim_store.state[ACCESS] = working.world.access
    claim_store.remember(record)


def _step(working: _Look) -> bool:
    """Carry out one decision up to its fact; False once nothing is left to do."""
    step = decide(working.seen)
    before, waiting = working.seen.record, working.claim_store.ledger.waiting()
    working.seen = prepared(working.seen, step)
    _queue(working, step.notices)
    if step.action is None:
        is_news = working.claim_store.ledger.waiting() != waiting
        _commit(working, is_new=is_news or working.seen.record != before)
        return working.seen.record != before
    _commit(working)
    if working.is_gone or working.was_edited:
        return False
    _act(working, step.action)
    return True


def _act(working: _Look, action: Action) -> None:
    from lifecycle.claim.engine.acting import perform

    world, claim_store = working.world, working.claim_store
    if isinstance(action, plan.OpenPullRequest | plan.PostComment):
        working.seen = apply_fact(working.seen, plan.Intended(action))
        claim_store.remember(working.seen.record)
        claim_store.save()
    if isinstance(action, plan.ForgetClaim):
        pending_writes.at_the_end(claim_store, working.seen.record)
    try:
        fact = perform(action, world, claim_store, working.seen.record)
    except DeadlineReached:
        late = Transient("The answer did not come in time.", is_ambiguous=True)
        _conclude(working, action, plan.Failed(action, late))
        raise
    _conclude(working, action, fact)


def _conclude(working: _Look, action: Action, fact: plan.Fact) -> None:
    world = working.world
    working.seen = apply_fact(working.seen, fact)
    record = working.seen.record
    if isinstance(fact, plan.Failed):
        working.problem = working.problem or fact.error
        log.write(world.root, f"{type(action).__name__} failed: {fact.error.sentence}")
    else:
        working.actions.append(action)
        # What it failed with before is over: nothing of that is to be said beside it.
        cured = f"{record.claim_key}/refused:{kind_of(action)}:"
        working.stated = {key for key in working.stated if not key.startswith(cured)}
        log.write(world.root, f"{type(action).__name__} done for {record.key}")
    if isinstance(fact, plan.ClaimForgotten):
        working.claim_store.remember(record)
        working.claim_store.save()
    else:
        _commit(working)
    journal.note(world.root, *journalling.wrote(action, fact, record, world.clock.now()))


def _commit(working: _Look, *, is_new: bool = True) -> None:
    if working.seen.record.ending.outcome:
        return
    committed = working.claim_store.commit(
        working.seen.record, working.seen.hints, is_last=False, is_new=is_new
    )
    working.seen = replace(working.seen, record=committed.record)
    working.is_gone = working.is_gone or committed.is_gone
    # The agent edited while we looked: what we saw may not fit what it wants now. Look again.
    working.was_edited = working.was_edited or bool(committed.changed)


def _exclude(world: World) -> None:
    """Exclude our files from git, for a claim that was written by hand; a failure is logged only."""
    try:
        exclude_own_files(world.root)
    except OSError as error:
        log.write(world.root, f"our files are not excluded from git: {error}")


def _owned(claim_store: ClaimStore, record: Record, session: str) -> Record:
    """The record as this session's, unless another session that is alive holds it."""
    now = claim_store.clock.now()
    signs = signs_of_life.signs_of(claim_store.folder, record.ownership.session, now)
    return ownership.adopt(record, session, signs, now)


def _without_claim(
    claim_store: ClaimStore, audiences: Collection[Audience], channel: str, session: str
) -> Report:
    """The report without a claim: notices that the last one left."""
    said = claim_store.take(audiences, channel, session)
    if claim_store.ledger.retire(""):
        claim_store.save()
    guard_stamp.mark_waiting(claim_store)
    _wait_inside(claim_store)
    return Report(said=said)


def _tell_withheld(working: _Look) -> None:
    """Queue a notice that a secret was taken out of a text for others."""
    text, record = working.world.told_withheld(), working.seen.record
    if text:
        # What a claim leaves to the agent ends with it; what it leaves to the person does not.
        audience = Audience.NOTE if record.ending.outcome else Audience.NEXT
        notice = Notice(f"{record.claim_key}/withheld", text, audience)
        working.claim_store.ledger.queue(notice, again=True)


def _published(world: World, record: Record) -> Record:
    """The record without secrets in what others will read: the PR's title, the agent's name on the card."""
    values = {
        name: world.public(value, f"{name} of .agent-claim.json")
        for name in ("summary", "agent_id")
        if isinstance(value := record.values.get(name), str)
    }
    return record.with_values(values) if values != {n: record.values[n] for n in values} else record


def _wait_inside(claim_store: ClaimStore) -> None:
    """Let a wake through for pending writes to linked tasks, since there is no claim to look at."""
    moment = pending_writes.due(claim_store.state)
    if moment is not None:
        claim_store.marks.set_due(STOP_DUE, moment)


def _refused(
    claim_store: ClaimStore,
    error: Refused,
    audiences: Collection[Audience],
    channel: str,
    session: str,
) -> Report:
    claim_store.ledger.queue_refusal(error)
    said = claim_store.take(audiences, channel, session)
    claim_store.save()
    return Report(said=said, problem=error)
