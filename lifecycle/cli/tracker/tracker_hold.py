"""`lifecycle tracker claim|takeover|next|renew|release|close`: under the claim's rules for an issue."""

from __future__ import annotations

from typing import Any

from lifecycle.claim.commands.release import release_claim
from lifecycle.claim.commands.taking import Taken, take
from lifecycle.claim.linked import linked_writes
from lifecycle.cli.claims.claim import finish_close
from lifecycle.cli.claims.claim_look import code_of, finish_release, glance
from lifecycle.cli.command_session import Session, claim_data
from lifecycle.cli.tracker import tracker_rules as rules
from lifecycle.cli.tracker import tracker_values as values
from lifecycle.core import errors
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.redact import quoted
from lifecycle.core.tracker import GITHUB, Capability, Task, TaskStatus
from lifecycle.git import lease
from lifecycle.stages.session import activation
from lifecycle.trackers import refusals


@dataclass(frozen=True, slots=True)
class _Told:
    """The result of a command: lines and notes for a person, task and claim for `--json`, exit code."""

    task: Task | None
    lines: list[str]
    notes: list[str] = field(default_factory=list)
    claim: dict[str, Any] | None = None
    code: int = 0

    def show(self, session: Session) -> int:
        task = {"tracker": session.tracker.name, "task": values.task_data(self.task)}
        lines = [*(f"Note: {note}" for note in self.notes), *self.lines]
        data = {**task, "claim": self.claim, "notes": self.notes}
        return session.show(lines, data, code=self.code)


def claim(session: Session, task: str) -> int:
    """Take the task TASK, for you alone.

    A GitHub issue, or a task that is linked to one, is taken as by lifecycle claim: with lease, branch,
    assignee and card. Taking a task that you already have changes nothing.

    A task that somebody else holds is refused (exit code 4), unless its holder was an earlier session of
    this worktree that has ended; lifecycle tracker takeover takes it from any holder.
    """
    return _claimed(session, session.tracker.get(task)).show(session)


def takeover(session: Session, task: str) -> int:
    """Take the task TASK, for you alone, even if an agent that is gone holds it.

    For a GitHub issue, or a task that is linked to one, this is lifecycle takeover: such a task may also
    have another Status than Todo, or wait for others.
    """
    return _claimed(session, session.tracker.get(task), force=True).show(session)


def claim_next(session: Session, labels: tuple[str, ...]) -> int:
    """Take the most urgent task that is ready to be begun.

    If somebody else was quicker, other tasks of the same urgency are tried until one is free. An issue that
    somebody's open pull request closes is skipped, too; lifecycle claim takes it. If no task is left, none
    is taken (exit code 0).
    """
    tasks = session.tracker.ready(labels=labels)
    is_linked = any(linked_writes.issue_named(session.world, task) for task in tasks)
    is_plain = bool(tasks) and session.tracker.name != GITHUB and not is_linked
    if is_plain and session.tracker.abilities().has(Capability.ATOMIC_CLAIM_NEXT):
        mine = session.tracker.claim_next(labels=labels)
        taken = _yours(session, mine, []) if mine is not None else None
    else:
        taken = _first(session, tasks)
    nothing = values.nothing_is(values.READY, session.tracker.name, labels, len(tasks))
    return (taken or _Told(None, nothing)).show(session)


def _first(session: Session, tasks: tuple[Task, ...]) -> _Told | None:
    """Claim the first of the tasks that is still free; raises the last refusal that has another reason."""
    world, reasons = session.world, list[errors.Refused]()
    has_leases = session.tracker.name == GITHUB and rules.has_remote(session)

    def claimed(task: Task) -> _Told:
        try:
            return _claimed(session, task, is_any=True)
        except refusals.PASSED_OVER:
            raise
        except errors.Refused as error:
            if session.claim_store.load(repair=False).record is not None:
                raise  # this worktree has a claim, so the next one would be refused, too
            reasons.append(error)
            raise errors.NotClaimable(error.sentence, status="") from error

    def held() -> set[str]:
        return set(map(str, lease.held(world.git, world.remote))) if has_leases else set()

    taken = refusals.first_claimed(claimed, tasks, held)
    if taken is None and reasons:
        raise reasons[-1]
    return taken


def _yours(session: Session, task: Task, notes: list[str]) -> _Told:
    """The result of a claim in the tracker only; its client is recorded for the next session."""
    activation.keep_seat(session.world, session.client_session, session.client_process)
    line = f"{task.id} {quoted(task.title)} is yours, as {session.tracker.actor}."
    return _Told(task, [line], notes)


def _claimed(session: Session, task: Task, *, force: bool = False, is_any: bool = False) -> _Told:
    """Claim a task: as an issue if it is one or is linked to one, else only in its tracker.

    `is_any`: nobody named this task, so it is refused if an open pull request is for it.
    """
    world = session.world
    is_issue = world.tracker.name == GITHUB
    is_claimed = is_issue and rules.has_remote(session)
    if is_claimed or linked_writes.issue_named(world, task) is not None:
        taken = take(world, session.claim_store, task.id, force=force, is_any=is_any)
        return _taken(session, taken, "" if is_issue else task.id)
    notes = list[str]()
    try:
        mine = session.tracker.claim(task.id)
    except errors.AlreadyClaimed as error:
        if not rules.may_free(session, error.by, force=force):
            raise rules.refusal(session, task.id, error.by, "changed") from None
        notes.append(rules.free(session, task.id, error.by, "taken over"))
        mine = session.tracker.claim(task.id)
    return _yours(session, mine, notes)


def _taken(session: Session, taken: Taken, name: str = "") -> _Told:
    """The result of taking an issue; `name` is the id of the tracker's task that is linked to it, or ""."""
    claim = taken.record.claim
    how = "taken" if taken.is_new or taken.is_again else "yours already"
    task, where = session.tracker.get(name or str(claim.issue_number)), [taken.where]
    code = 0
    if name and not taken.is_new and task.is_free:
        report, where = glance(session)  # which claims it again
        task, code = session.tracker.get(name), code_of(report)
    both = f"{name} and " if name and task.assignee == claim.agent_id else ""
    which = f"{both}#{claim.issue_number} {quoted(taken.title)}"
    lines = [f"{which} {'are' if both else 'is'} {how}, as {claim.agent_id}.", *where]
    is_left = bool(name) and task.is_open and task.assignee not in ("", claim.agent_id)
    if is_left:
        lines.append(rules.refusal(session, name, task.assignee, "taken", is_linked=True).sentence)
    code = 4 if is_left and not taken.is_new else code
    return _Told(task, lines, list(taken.notes), claim_data(taken.record), code)


def renew(session: Session, task: str) -> int:
    """Renew your claim on the task TASK, in a tracker whose claims expire.

    Nothing else renews it, so run this now and then if you work for long. If claims do not expire, there
    is nothing to renew: exit code 1.
    """
    mine = session.tracker.renew(task)
    return _Told(mine, [f"{mine.id} stays yours, as {session.tracker.actor}."]).show(session)


def release(session: Session, task: str, reason: str, *, force: bool) -> int:
    """Release the task TASK, so that somebody else can take it.

    The task of this worktree's claim is released as by lifecycle release. A task that somebody else holds
    is refused (exit code 4), unless its holder was an earlier session of this worktree that has ended, or
    --force is given; the claim that such a task is linked to continues. An issue is not released for
    others: take it over first, with lifecycle takeover.
    """
    reason = session.world.public(reason, "reason")
    stand = rules.Stand(session, task)
    task = stand.task.id
    if stand.is_ours and not stand.is_anothers:
        outcome = release_claim(session.world, session.claim_store, reason)
        report, lines, is_left = finish_release(session)
        released, notes = session.tracker.get(task), list(outcome.notes)
        return _Told(released, lines, notes, claim_data(report.record), int(is_left)).show(session)
    stand.refuse_others("released", force=force)
    notes = [rules.free(session, task, stand.other, "released")] if stand.other else []
    released = session.tracker.release(task)
    if reason and stand.task.assignee and released.is_open:
        key = values.key_of("given back", reason)
        session.tracker.comment(released.id, key, f"Released: {reason}")
    state = "nobody's" if released.is_open else "closed"
    return _Told(released, [f"{released.id} is {state} now."], notes).show(session)


def close(session: Session, task: str, reason: str) -> int:
    """Close the task TASK; a closed task stays unchanged.

    The task of this worktree's claim is closed as by lifecycle close: it is your yes after the PR's merge;
    the comment then names the PR, and --reason is not used. A task that somebody else holds is refused
    (exit code 4).
    """
    reason = session.world.public(reason, "reason")
    stand = rules.Stand(session, task)
    if stand.is_ours:
        report, lines, is_left = finish_close(session)
        why = "The claim continues, so" if is_left else "The claim states the reason;"
        notes = [f"{why} --reason was not used."] if reason else []
        closed, claim = session.tracker.get(stand.task.id), claim_data(report.record)
        return _Told(closed, lines, notes, claim, code_of(report) or int(is_left)).show(session)
    if stand.task.is_open:
        stand.refuse_others("closed")
        stand.refuse_half()
    closed = session.tracker.close(stand.task.id, reason=reason)
    is_plain = closed.close_reason.casefold() in ("", TaskStatus.CLOSED.value)
    why = "" if is_plain else f": {closed.close_reason}"
    return _Told(closed, [f"{closed.id} is closed{why}."]).show(session)
