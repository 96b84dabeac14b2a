"""One look at one claim: observe → decide → act → commit after each fact → report.

Hooks, the CLI and the demo all call this. Everything is decided from state that was just read: a lost wake
loses nothing, and five wakes write exactly what one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.claim.decisions import decide, derive
from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.engine import observing
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record import journalling
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.claim_store import ClaimStore, Listener, Loaded
from lifecycle.claim.record.state import Record, kind_of
from lifecycle.core import errors, plan
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.timing import DeadlineReached, unhurried
from lifecycle.storage import feedback_files, journal, log, signs_of_life, state_file

if TYPE_CHECKING:
    from lifecycle.core.world import World


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one look.

    Attributes:
        record: the claim afterwards, or None if there is none.
        said: the notices that were taken off the queue for this channel, and those that it repeats.
        actions: what was done, or (dry run) would be.
        problem: the error that kept the look from being finished, or None.
    """

    record: Record | None = None
    said: tuple[plan.Notice, ...] = ()
    actions: tuple[plan.Action, ...] = ()
    problem: errors.LifecycleError | None = None


def tick(
    world: World,
    claim_store: ClaimStore,
    wake: plan.Wake,
    *,
    to: Listener = Listener(),  # noqa: B008 -- a frozen value
    is_untracked: bool = False,
    loaded: Loaded | None = None,
    may_read: bool = False,
    poll_seconds: float | None = None,
) -> Report:
    """Look once: observe, decide and act until nothing is left to do now, and report.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        wake: who asks; hooks trust what was last synced, `TICK` looks at everything.
        to: who hears the notices.
        is_untracked: the caller has just checked that git tracks none of our files here.
        loaded: the claim as this wake has already read it, without the lock.
        may_read: the caller can have the reasons of failed checks read, if that is due again.
        poll_seconds: how old the last poll of the checks has to be; None for the settings' value.

    Raises:
        Refused: the claim file cannot be acted on, or git tracks it; nothing was done.
        LockBusy: another process is at work on this claim.
    """
    if not is_untracked:
        world.refuse_tracked()
    with claim_store.folder.locked(world.deadline.remaining(at_most=30.0)):
        try:
            loaded = claim_store.confirm(loaded)
            record = observing.taken_in(world, claim_store, wake, loaded, to.session)
            if record is None:
                return _without_claim(claim_store, to)
            to = replace(to, audiences=observing.deliverable(record, to.session, to.audiences))
            snapshot = observing.snapshot_of(world, claim_store, wake, record, loaded.hints)
            if poll_seconds is not None:
                settings = replace(snapshot.settings, poll_seconds=poll_seconds)
                snapshot = replace(snapshot, settings=settings)
            working = observing.LookUnderWay(world, claim_store, snapshot, may_read=may_read)
            # The obstacle is gone; if it returns, it is said again.
            claim_store.ledger.withdraw(state_file.REFUSED)
        except errors.Refused as error:
            if wake is plan.Wake.TICK:
                raise
            return _refused(claim_store, error, to)
        claim_store.begin()
        _work(working)
        with unhurried():
            _keep(working)
            _tell_withheld(working)
            notices = claim_store.take(to)
            notices += claim_store.ledger.drop(lambda key: key in working.repeated)
            record = working.record
            claim_store.ledger.retire("" if record.ending.outcome else record.claim_key)
            _tell_owner(working, to.session)
            if wake is plan.Wake.TICK and record.claim.phase == Phase.MERGED_DETECTED:
                claim_store.note_asked()  # whoever ran the command reads the question on the terminal
            claim_store.save()
            _mark_due(working, loaded.mtime_ns)
            return Report(record, notices, tuple(working.actions), working.problem)


def _mark_due(working: observing.LookUnderWay, mtime_ns: int) -> None:
    """Tell the hooks' guards what the look left to do; `mtime_ns` is that of the claim file before it.

    The guards are `sh` and end before Python starts (`hooks/`). They compare two mtimes: the claim's
    with the stamp's, and a mark's with the present.
    """
    claim_store, record = working.claim_store, working.record
    has_ended = working.is_gone or bool(record.ending.outcome)
    stop = idle = record.due()
    # A push may remove the cause of a refusal, and leaves no trace in the claim; so may another token: only
    # Python sees that it changed.
    has_untraced = any(trouble.is_of_access for trouble in record.troubles.values())
    if has_untraced or "OpenPullRequest" in record.troubles:
        stop = signs_of_life.ALWAYS
    if PHASES.get(record.claim.phase) in IN_REVIEW:
        idle = signs_of_life.ALWAYS
    if has_ended:
        # A write that the claim left undone (to its linked task) is tried again.
        stop, idle = linked_writes.due(claim_store.state), None
    if not working.is_finished:
        stop, idle = signs_of_life.ALWAYS, None if has_ended else signs_of_life.ALWAYS
    elif not has_ended:
        claim_store.stamp(mtime_ns)
    claim_store.wait_for(stop, idle)


def is_quiet(
    world: World, claim_store: ClaimStore, wake: plan.Wake, loaded: Loaded | None, session: str = ""
) -> bool:
    """True if a wake would read nothing, do nothing and say nothing; takes no lock.

    Marks the claim as looked at for the guard, so that the next wake ends before Python starts.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        wake: who asks.
        loaded: the claim as it was just read, or None if it could not be read.
        session: the client's session that asks, or empty if nobody knows.
    """
    if loaded is None or loaded.record is None or loaded.hints or claim_store.ledger.waiting():
        return False
    record = loaded.record
    # A look has to save what was read: if the file is corrupt later, it is restored from that.
    is_saved = record == claim_store.remembered() and record.past[-1:] == (record.values,)
    mine = observing.owned(claim_store, record, session)
    is_current = observing.believed(world, claim_store, mine) == record
    if claim_store.marks.is_due(signs_of_life.STOP_DUE) or not (is_saved and is_current):
        return False
    try:
        snapshot = observing.snapshot_of(world, claim_store, wake, record, loaded.hints)
    except errors.LifecycleError:
        return False
    if decide.look(snapshot) is not None:
        return False
    step = decide.decide(snapshot)
    keys = (f"{record.claim_key}/{notice.key}" for notice in step.notices)
    is_news = not all(map(claim_store.ledger.was_said, keys))
    if step.record or step.action or is_news:
        return False
    claim_store.stamp(loaded.mtime_ns)
    return True


def rehearse(world: World, claim_store: ClaimStore, *, record: Record | None = None) -> Report:
    """The dry run: look and decide as `tick` does, and write nothing anywhere.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        record: the claim as a command would leave it; the one in the worktree unless given.
    """
    loaded = claim_store.load(repair=False)
    record = record or loaded.record
    if record is None:
        return Report()
    record = observing.believed(world, claim_store, record)
    snapshot = observing.snapshot_of(world, claim_store, plan.Wake.TICK, record, loaded.hints)
    working = observing.LookUnderWay(world, claim_store, snapshot)
    observing.observe(working)
    steps = [*decide.foresee(working.seen, decide.imagine)]
    notices: list[plan.Notice] = []
    for seen, step in steps:
        after = seen.record
        # The notice of the last step says that the claim has ended, which it does not in a rehearsal.
        new = () if isinstance(step.action, plan.ForgetClaim) else step.notices
        for notice in (observing.kept_to(world, claim_store, after, planned) for planned in new):
            was_said = claim_store.ledger.was_said(f"{after.claim_key}/{notice.key}")
            if notice not in notices and not was_said:
                notices.append(notice)
    actions = tuple(step.action for _, step in steps if step.action is not None)
    return Report(after, state_file.lasting(notices), actions, working.problem)


def _work(working: observing.LookUnderWay) -> None:
    """Observe, then decide and act until nothing is left to do now, the file changed, or the time is up."""
    try:
        observing.observe(working)
        prefix = working.record.claim_key
        working.stated |= {f"{prefix}/{key}" for key in decide.unjudged(working.seen)}
        for _ in range(decide.MAX_STEPS):
            if working.is_gone or working.was_edited or working.is_finished:
                break
            working.is_finished = not (_step(working) or working.was_edited)
    except DeadlineReached:
        working.problem = errors.Transient("This look ran out of time; the next one continues it.")
        log.write(working.world.root, "deadline reached")
        observing.queue(working, decide.complaints(working.record))


def _keep(working: observing.LookUnderWay) -> None:
    """Put the look's result into state.json's content, and its files and journal entries on disk."""
    claim_store, snapshot = working.claim_store, working.seen
    record = replace(working.record, touched=claim_store.mtime_ns())
    kinds = (kind for kind in record.troubles if not decide.still_wanted(snapshot, kind))
    record = record.without(*kinds)
    if working.is_finished:
        claim_store.ledger.forget_cleared(f"{record.claim_key}/", working.stated)
        # What GitHub showed counts until it is read again, or the agent edits the claim.
        before = record.conditions if snapshot.observation is None else {}
        conditions = {} if record.is_lost else {**before, **working.conditions}
        record = replace(record, conditions=conditions)
    working.record = record
    # `lifecycle feedback reviews` prints what could not be written.
    with log.Surviving(claim_store.root, "a packet could not be written", OSError):
        for name, text in working.papers.items():
            feedback_files.write(claim_store.root, name, text)
    if any(trouble.is_of_access for trouble in record.troubles.values()):
        claim_store.state[state_file.ACCESS] = working.world.access
    claim_store.remember(record)
    now = claim_store.clock.now()
    journal.note(working.world.root, *journalling.flaked(record, working.flakes, now))


def _step(working: observing.LookUnderWay) -> bool:
    """Carry out one decision up to its fact; False once nothing is left to do."""
    step = decide.decide(working.seen)
    before = working.record
    working.record = step.record or before
    observing.queue(working, step.notices)
    corrections = (notice for notice in step.notices if not notice.key.startswith("refused:"))
    working.conditions = {notice.key: notice.text for notice in corrections if notice.stands}
    _commit(working)
    if step.action is None:
        return working.record != before
    if working.is_gone or working.was_edited:
        return False
    _act(working, step.action)
    return True


def _act(working: observing.LookUnderWay, action: plan.Action) -> None:
    """Carry out an action, alone or with those that follow it, and commit the facts.

    An action that the deadline cuts off fails as one that was not answered.
    """
    from lifecycle.claim.engine.acting import joined, perform

    world, claim_store = working.world, working.claim_store
    try:
        pairs = joined(working, action)
        if not pairs:
            if isinstance(action, plan.OpenPullRequest | plan.PostComment):
                working.seen = decide.apply_fact(working.seen, plan.Intended(action))
                claim_store.keep(working.record)
            if isinstance(action, plan.ForgetClaim):
                linked_writes.at_the_end(claim_store, working.record)
            pairs = [(action, perform(action, world, claim_store, working.record))]
    except DeadlineReached:
        late = errors.Transient("The answer did not come in time.", is_ambiguous=True)
        _conclude(working, (action, plan.Failed(action, late)))
        raise
    _conclude(working, *pairs)


def _conclude(working: observing.LookUnderWay, *pairs: tuple[plan.Action, plan.Fact]) -> None:
    """Fold the facts of actions into the record, commit it, and note them in log and journal."""
    root, entries = working.world.root, list[journal.JournalEntry]()
    for action, fact in pairs:
        working.seen = decide.apply_fact(working.seen, fact)
        record = working.record
        if isinstance(fact, plan.Failed):
            working.problem = working.problem or fact.error
            log.write(root, f"{type(action).__name__} failed: {fact.error.sentence}")
        else:
            is_left = journalling.changed_nothing(fact)
            working.actions += [] if is_left else [action]
            # The action's earlier failure is over: its complaint does not count as told in this look.
            cured = f"{record.claim_key}/refused:{kind_of(action)}:"
            working.stated = {key for key in working.stated if not key.startswith(cured)}
            end = "left as it is" if is_left else "done"
            log.write(root, f"{type(action).__name__} {end} for #{record.claim.issue_number}")
        entries += journalling.wrote(action, fact, record, working.world.clock.now())
    _commit(working)
    journal.note(root, *entries)


def _commit(working: observing.LookUnderWay) -> None:
    """Commit the record, and note whether the claim file is gone or was edited meanwhile."""
    if working.record.ending.outcome:
        return
    committed = working.claim_store.commit(working.record, working.seen.hints, is_last=False)
    working.record = committed.record
    working.is_gone = working.is_gone or committed.is_gone
    # If the agent edited the file during the look, what was read may not fit: the next look continues.
    working.was_edited = working.was_edited or bool(committed.changed)


def _without_claim(claim_store: ClaimStore, to: Listener) -> Report:
    """The report if there is no claim: with the notices that the last claim left."""
    with unhurried():
        notices = claim_store.take(to)
        if claim_store.ledger.retire(""):
            claim_store.save()
        claim_store.wait_for(linked_writes.due(claim_store.state))
        return Report(said=notices)


def _tell_withheld(working: observing.LookUnderWay) -> None:
    """Queue a notice that a secret was removed from a text for others."""
    text, record = working.world.told_withheld(), working.record
    if text:
        # A notice to the agent ends with the claim; one to the person does not.
        audience = plan.Audience.NOTE if record.ending.outcome else plan.Audience.NEXT
        # What an earlier look removed, and nobody has heard of yet, stays true: its key is another.
        notice = plan.Notice(f"{record.claim_key}/withheld:{text}", text, audience)
        working.claim_store.ledger.queue(notice, again=True)


def _tell_owner(working: observing.LookUnderWay, session: str) -> None:
    """Queue for the session that asked about closing that the yes came from elsewhere, if it lives."""
    record, claim_store = working.record, working.claim_store
    owner = record.ownership.session
    is_answered = record.ending.outcome == "closed" and derive.is_question_put(record)
    if is_answered and owner not in ("", session) and claim_store.seems_alive(record):
        key = f"{record.claim_key}/answered"
        text = message("closed-meanwhile", issue=record.claim.issue)
        claim_store.ledger.queue(plan.Notice(key, text, plan.Audience.NEWS, session=owner))


def _refused(claim_store: ClaimStore, error: errors.Refused, to: Listener) -> Report:
    """The report of a look by a hook that was refused: the refusal is queued and delivered as a notice."""
    with unhurried():
        claim_store.ledger.queue_refusal(error)
        notices = claim_store.take(to)
        claim_store.save()
        return Report(said=notices, problem=error)
