"""Change a claim's phase by a command of a person or an agent: hand off, close, nudge."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NoReturn

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.pull import opening, review
from lifecycle.claim.decisions.table import CLAIM, IN_REVIEW, PHASES, Phase
from lifecycle.claim.engine import acting, observing
from lifecycle.claim.record.claim_file import message, sentence
from lifecycle.claim.record.claim_store import ClaimStore, Loaded
from lifecycle.claim.record.sections import Nudge
from lifecycle.claim.record.state import NUDGES_KEPT, Record
from lifecycle.core import errors, plan
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import review_messages
from lifecycle.core.messages.messages import closed_elsewhere, unknown_phase
from lifecycle.core.redact import listed, named, redact
from lifecycle.core.values import branch_names, priorities
from lifecycle.core.world import World
from lifecycle.git import lease, process, worktree_files
from lifecycle.settings import running_client
from lifecycle.storage import log, signs_of_life, store


@dataclass(frozen=True, slots=True)
class HandedOff:
    """The record after a hand-off, and remarks for the person."""

    record: Record
    notes: tuple[str, ...]


def current(world: World, claim_store: ClaimStore) -> Record:
    """The claim of this worktree, read without the lock: nothing is repaired or written.

    Raises:
        Refused: there is none.
        ClaimRefused: it cannot be read.
    """
    return there(world, claim_store.load(repair=False))


def there(world: World, loaded: Loaded) -> Record:
    """The claim that was loaded; Refused if there is none."""
    if loaded.record is None:
        raise errors.Refused(none_here(world))
    return loaded.record


def none_here(world: World) -> str:
    """The sentence that there is no claim; in a submodule, it names the one around it."""
    from lifecycle.trackers import registry  # it knows how a task is taken here

    above, way = store.worktree_root(world.root.parent), registry.to_claim(world)
    # A worktree of the same clone around this one, as the client makes them, is another session's.
    is_other = above is not None and store.common_folder(above) != store.common_folder(world.root)
    if above is not None and is_other and (above / store.CLAIM_FILE).is_file():
        return sentence("claim-above", way=way, above=above)
    return sentence("no-claim", way=way)


def _change(world: World, claim_store: ClaimStore, change: Callable[[Record], Record]) -> Record:
    """Change the claim under the lock; hints stay for GitHub to judge."""
    with claim_store.folder.locked(world.deadline.remaining(at_most=30.0)):
        loaded = claim_store.load()
        try:
            record = change(_staying(there(world, loaded)))
        finally:
            claim_store.save()
        return claim_store.commit(replace(record, troubles={}), loaded.hints).record


def _staying(record: Record) -> Record:
    """The record; Refused if it is being released."""
    if record.ending.releasing is not None:
        raise errors.Refused(sentence("stays", number=record.claim.issue_number))
    return record


def session_of(world: World) -> str:
    """The client's session that runs this command, or empty if a person does."""
    return running_client.session_of({}, world.environment)


def phase_of(record: Record) -> Phase:
    """The claim's phase; ClaimRefused if the file names one that does not exist."""
    phase = PHASES.get(record.claim.phase)
    if phase is None:
        raise errors.ClaimRefused(unknown_phase(record.claim.phase, [p.value for p in Phase]))
    return phase


def hand_off(world: World, claim_store: ClaimStore, summary: str) -> HandedOff:
    """Validate, push, and set the phase to `ready_for_pr`; the PR is opened at the next stop.

    Raises:
        IllegalMove: the phase does not lead to ready_for_pr; nothing was pushed.
        Refused: no summary, the wrong branch, nothing to hand off, a validation that failed, or a task
            that was released or whose issue was closed meanwhile; nothing was pushed.
        HeldByAnother: somebody else took the task over; nothing was pushed.
        GitFailed, Transient: the push failed; the phase was not changed.
        NoToken, NoPermission: the PR cannot be taken out of the merge queue; nothing was pushed.
    """
    summary = world.public(" ".join(summary.split()), "summary")
    if not summary:
        raise errors.Refused(sentence("no-summary"))
    if len(summary) > opening.TITLE_LIMIT:
        words = {"length": len(summary), "most": opening.TITLE_LIMIT}
        raise errors.Refused(sentence("long-summary", **words))
    world.refuse_tracked()
    world.refuse_strange_remote()
    record = observing.demand_same_place(world, _staying(current(world, claim_store)))
    phase, session = phase_of(record), session_of(world)
    if phase not in IN_REVIEW and Phase.READY_FOR_PR not in (phase, *CLAIM.legal(phase)):
        number = record.claim.issue_number
        raise errors.IllegalMove(sentence("not-to-hand-off", number=number, phase=phase))
    is_out = phase in IN_REVIEW and phase is not Phase.PR_CLOSED and derive.is_confirmed(record)
    _refuse_ended(record, is_out=is_out)
    notes = _check_branch(world, record)
    world.refuse_untrusted(world.settings.validate)
    for command in world.settings.validate:
        with world.deadline.standing_still():
            notes += _validate(world, command, session)
    # Checked right before the push: validation takes minutes, in which the task may be taken over.
    held = _refuse_lease_of_another(world, claim_store, record)
    notes += _pushed(world, claim_store, record)
    sha = _led(world, claim_store, record, held) if held else record.ownership.lease
    if record.claim.pr_number and record.pull.unanswered:
        open_threads = review_messages.unanswered(record.claim.pr_number, record.pull.unanswered)
        notes.append(f"{open_threads}.")
    if is_out and summary != record.claim.summary:
        notes.append(f"PR #{record.claim.pr_number} keeps its title; edit it on GitHub.")
    values = {} if is_out else {"phase": Phase.READY_FOR_PR.value, "summary": summary}

    def handed(record: Record) -> Record:
        owner, now = session or record.ownership.session, world.clock.now()
        ours = record.with_ownership(session=owner, session_at=now, lease=sha, is_leaseless=False)
        ours = ours if is_out else _tried_anew(claim_store, ours)
        return ours.with_values(values)

    return HandedOff(_change(world, claim_store, handed), tuple(notes))


def _tried_anew(claim_store: ClaimStore, record: Record) -> Record:
    """The record of another hand-off, even if the claim file did not change: the guard sees no push.

    Whether everything was merged earlier is judged again, by what was pushed now. A closing of its pull
    request that was seen is answered by it: the next one is opened even for the same commits.
    """
    if record.judged == Phase.PR_CLOSED:
        record = replace(record, judged=Phase.CODING.value)
    claim_store.folder.set_due(signs_of_life.STOP_DUE, signs_of_life.ALWAYS)
    claim_store.ledger.withdraw(f"{record.claim_key}/{opening.MERGED_EARLIER}")
    conditions = record.conditions.items()
    others = {key: text for key, text in conditions if not key.startswith(opening.MERGED_EARLIER)}
    return replace(record, conditions=others)


def move(
    world: World,
    claim_store: ClaimStore,
    wanted: Phase,
    *,
    force: bool = False,
    override: str = "",
    reason: str = "",
    consent: str = "",
    dry_run: bool = False,
) -> Record:
    """Set the phase, if the table allows it or `force` is given.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        wanted: the phase to go to.
        force: skip the table; GitHub still judges `done`.
        override: why the issue may be closed without a merge; recorded in its comment.
        reason: why the move is made by hand; recorded in the claim's nudges and in the log, and
            with `done` it is the yes to closing, which the closing comment tells.
        consent: who said yes to closing, if `wanted` is done; a value of `EndingRecord.consent`.
        dry_run: return the record as it would be, and write nothing.

    Raises:
        IllegalMove: the table has no such move; the sentence names the legal ones.
        Refused: there is no claim, it is being released, git tracks its file, or (with a reason and
            without force) it is in that phase already.
    """
    world.refuse_tracked()
    reason = world.public(" ".join(reason.split()), "reason")
    override = world.public(override, "override")

    def moved(record: Record) -> Record:
        if reason and not force and PHASES.get(record.claim.phase) is wanted:
            number = record.claim.issue_number
            raise errors.Refused(sentence("there-already", number=number, phase=wanted))
        observing.demand_same_place(world, record)
        changed = _moved(record, wanted, force=force)
        if reason:
            by = "agent" if session_of(world) else "person"
            nudge = Nudge(world.clock.now(), record.claim.phase, wanted.value, reason, by)
            changed = replace(changed, nudges=(*record.nudges, nudge)[-NUDGES_KEPT:])
        if wanted is not Phase.DONE:
            return changed.with_ending(override="", consent="")
        yes = consent or (f"nudge: {reason}" if reason else "")
        # Typed now, it is for the issue as this look finds it, whatever the last one saw.
        return changed.with_ending(override=override, consent=yes, issue_closed=False)

    def kept(record: Record) -> Record:
        changed = moved(record)
        is_answered = bool(changed.ending.consent or changed.ending.override)
        if is_answered or wanted not in (Phase.MERGED_DETECTED, Phase.DONE):  # do not ask any more
            claim_store.ledger.end(record.claim_key, derive.QUESTIONS)
        return changed

    if dry_run:
        return moved(_staying(current(world, claim_store)))
    record = _change(world, claim_store, kept)
    if reason:
        nudge = record.nudges[-1]
        text = f"nudge by {nudge.by}: {nudge.source} to {nudge.target}: {nudge.reason}"
        log.write(world.root, text, world.environment)
    return record


def _moved(record: Record, wanted: Phase, *, force: bool) -> Record:
    """The record in another phase; IllegalMove if the table has no such move, unless by force."""
    if wanted not in PHASES:  # a program may give any text
        words = {"phase": named(wanted), "phases": ", ".join(PHASES)}
        raise errors.IllegalMove(sentence("no-phase", **words))
    phase = PHASES.get(record.claim.phase)  # from an unknown phase every move is allowed
    if phase is not None and phase is not wanted and not force:
        CLAIM.check(phase, wanted)
    values = {"phase": wanted.value}
    if wanted is Phase.CODING:
        values["status"] = priorities.Status.IN_PROGRESS
    return record.with_values(values)


def _check_branch(world: World, record: Record) -> list[str]:
    """Refuse unless the claim's branch is checked out and has commits of its own; returns remarks."""
    branch, git = record.claim.branch, world.git
    checked_out, busy = git.current_branch(), worktree_files.under_way(git, world.root)
    if busy and (busy != worktree_files.BISECT or checked_out != branch):
        # What it brings would not be in the push.
        worktree_files.refuse_under_way(git, world.root, "pushed")
    if not branch_names.is_branch(branch):
        raise errors.ClaimRefused(sentence("no-branch", file=store.CLAIM_FILE))
    if redact(branch, {}) != branch:
        raise errors.Refused(sentence("secret-branch", file=store.CLAIM_FILE))
    if checked_out != branch:
        _refuse_another_branch(world, branch, checked_out)
    base = base_of(world)
    if branch == base:  # a push would merge it
        raise errors.Refused(sentence("branch-is-base", branch=branch, file=store.CLAIM_FILE))
    _refuse_without_commits(world, record, base)
    if names := listed(map(named, worktree_files.tracked_changes(git)), 3):
        return [f"There are uncommitted changes, which are not part of the PR: {names}."]
    return []


def _refuse_without_commits(world: World, record: Record, base: str) -> None:
    """Refuse a branch whose commits are all in its merged pull request, or in its base as known here."""
    git, branch, remote = world.git, record.claim.branch, world.settings.remote
    if record.judged == Phase.MERGED_DETECTED and git.head_of(branch) == record.pull.head:
        number = record.claim.pr_number
        raise errors.Refused(sentence("no-commit-since", branch=branch, number=number))
    is_known = base and git.remote_head_of(base, remote)
    if is_known and git.run("rev-list", "--count", f"refs/remotes/{remote}/{base}..HEAD") == "0":
        raise errors.Refused(sentence("no-commit", branch=branch, base=base))


def _refuse_another_branch(world: World, branch: str, checked_out: str | None) -> NoReturn:
    """Refuse; say which command switches to the claim's branch, or gives a renamed one its name back."""
    git = world.git
    is_here, is_there = git.head_of(branch), git.remote_head_of(branch, world.settings.remote)
    name = shlex.quote(branch)
    go = f"git switch {name}" if is_here or is_there else f"git switch -c {name}"
    way = f"Switch with: {go}"
    if checked_out and checked_out != base_of(world) and not is_here:
        way = f"If it was renamed, rename it back: git branch -m {shlex.quote(checked_out)} {name}"
        way += f"; if not, switch with: {go}"
    head = checked_out or "no branch"
    raise errors.Refused(sentence("another-branch", branch=branch, head=head, way=way))


def _refuse_ended(record: Record, *, is_out: bool) -> None:
    """Refuse a task that the last look found taken over or released, or closed while no PR `is_out`."""
    if record.ownership.taken_by:
        number, agent = record.claim.issue_number, named(record.ownership.taken_by)
        raise errors.HeldByAnother(sentence("held-as-shown", number=number, agent=agent))
    if derive.is_rejected(record) and not is_out:
        raise errors.Refused(closed_elsewhere(record.claim.issue_number, "nothing was pushed"))


def _led(world: World, claim_store: ClaimStore, record: Record, sha: str) -> str:
    """Have the lease name the branch that was handed off, and return its sha; a look tries that again."""
    action = plan.LeadLease(record.claim.issue, sha, record.claim.branch)
    fact = acting.perform(action, world, claim_store, record)
    return fact.sha if isinstance(fact, plan.LeaseIs) else sha


def _refuse_lease_of_another(world: World, claim_store: ClaimStore, record: Record) -> str:
    """Refuse if the remote's lease shows that somebody took the task over or released it, and note it.

    A remote without leases (a fork, one that cannot be read) is no evidence of another holder. Returns the
    sha of the claim's own lease on the remote, "" if there is none or it cannot be read.
    """
    number, remote = record.claim.issue_number, world.remote
    if number is None:
        return ""
    try:
        stands = observing.standing(world, record, number)
    except (errors.GitFailed, errors.Transient) as error:
        text = f"handoff: who holds #{number} could not be read: {error.sentence}"
        log.write(world.root, text, world.environment)
        if world.deadline.left <= 0.0:  # the remote hung: no time is left for the push
            raise _not_pushed(record.claim.branch, remote, error) from None
        return ""
    holder = stands.other
    is_leaseless = stands.is_gone and not record.ending.lease_done
    if holder is None and not is_leaseless:
        return stands.sha

    def lost(record: Record) -> Record:
        claim_store.ledger.end(record.claim_key, review.WHILE_OPEN)
        # Nobody may take a closed task: its lease ended with it.
        is_free = is_leaseless and not record.ending.issue_closed
        taken_by = holder.agent if holder is not None else ""
        return record.with_ownership(is_leaseless=is_free, taken_by=taken_by)

    _change(world, claim_store, lost)
    if holder is None:
        raise errors.Refused(message("released-to-hand-off", issue=number))
    words = {"agent": named(holder.agent), "since": holder.since, "remote": remote}
    ref = lease.ref_of(number)
    raise errors.HeldByAnother(sentence("held-since", number=number, ref=ref, **words))


def _pushed(world: World, claim_store: ClaimStore, record: Record) -> list[str]:
    """Push; first take the pull request out of the merge queue, since a queued branch accepts no push.

    It stays in the queue if the remote has the branch's commit already. GitHub is not asked about a queue
    if the base had none at the last look. Returns remarks; an error says them.
    """
    branch, merging, notes = record.claim.branch, record.pull.merging, list[str]()
    if record.claim.pr_number and merging.has_queue:
        # What the remote has, as the last look or a push from here showed.
        shown = (merging.head, world.git.remote_head_of(branch, world.settings.remote))
        if world.git.head_of(branch) not in shown:
            notes = _left_queue(world, claim_store)
    try:
        _push(world, branch)
    except (errors.GitFailed, errors.Transient, errors.Refused) as error:
        error.sentence = " ".join((*notes, error.sentence))
        raise
    return notes


def _left_queue(world: World, claim_store: ClaimStore) -> list[str]:
    """Take the claim's pull request out of the merge queue; returns a remark if it was queued.

    The claim notes beforehand that a hand-off does it, so that nobody is told that a person did.
    """
    record = current(world, claim_store)
    number, before = record.claim.pull, record.pull.merging
    ours = replace(before, handed_out=before.head, queued="", is_ours=False, standing="", awaits="")
    _change(world, claim_store, partial(Record.with_pull, merging=ours))
    if world.merges.ensure_not_queued(number).changed:
        return [message("left-queue", number=number)]
    _change(world, claim_store, partial(Record.with_pull, merging=before))
    return []


def _push(world: World, branch: str) -> None:
    """Push the branch; an error's sentence says that the phase was not changed."""
    remote = world.remote
    try:
        ref = f"refs/heads/{branch}"  # a tag may have the name, too
        process.push(world.git, remote, f"{ref}:{ref}")
    except errors.GitFailed as error:
        why = error.evidence
        words = {"evidence": why, "remote": remote, "quoted": shlex.quote(branch)}
        text = sentence("push-failed", branch=branch, **words)
        raise errors.GitFailed(text, evidence=why) from None
    except errors.Transient as error:
        raise _not_pushed(branch, remote, error) from None


def _not_pushed(branch: str, remote: str, error: errors.LifecycleError) -> errors.Transient:
    """The error of a hand-off whose remote could not be reached in time."""
    text = sentence("not-seen", why=error.sentence, branch=branch, remote=named(remote))
    return errors.Transient(text, is_ambiguous=True)


def base_of(world: World) -> str:
    """The base branch: as configured, else the remote's default as this clone knows it, or empty."""
    return world.settings.base or process.default_branch(world.git, world.settings.remote)


def _validate(world: World, command: str, session: str) -> list[str]:
    """Run one command of `validate` as a check, so that its result is kept as evidence for these files.

    A command that runs the tests is kept as the check `test`, unless `stages.test` has several and this is
    none of them; any other is kept as `validate`. Returns remarks; Refused if the command fails.
    """
    from lifecycle.evidence import suite_runs
    from lifecycle.evidence.checks import check_engine, known_checks
    from lifecycle.evidence.records import TEST
    from lifecycle.evidence.runners import runner_table
    from lifecycle.platforms import command_argv

    settings = world.settings
    rows = runner_table.rows(settings.evidence_runners)
    seen = suite_runs.run_in(command, settings.stages.test, rows)
    is_test = seen is not None and seen.is_suite and (seen.suites or len(settings.stages.test) < 2)
    name = TEST if is_test else known_checks.VALIDATE
    try:
        words = command_argv.split(command)
    except ValueError:
        words = ("sh", "-c", command)  # it needs a shell, and the user has allowed this very text
    check = known_checks.KnownCheck(name, (words,), "validate", is_projects=True)
    place = (world.root, world.environment, world.clock, settings)
    # Both on stderr: our own stdout may be JSON for a machine.
    run = check_engine.CheckRun(*place, check, _printed, _printed, session, child="validate")
    ended = run.result()
    if ended.signal == signal.SIGINT:
        raise KeyboardInterrupt
    status = ended.record.status
    if status != 0:
        plain_reasons = ("", f"exit status {status}")
        why = "" if ended.record.why in plain_reasons else f" ({ended.record.why})"
        raise errors.Refused(sentence("not-valid", command=command, status=status, why=why))
    return list(ended.remarks)


def _printed(part: bytes) -> None:
    """Write a part of a command's output to stderr."""
    with suppress(OSError):  # nobody reads it any more
        sys.stderr.flush()
        os.write(sys.stderr.fileno(), part)
