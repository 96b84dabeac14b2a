"""Decides whether a task is under its tracker's rules alone, or under the claim of an issue.

An issue on GitHub, and a task that is linked to one, is taken, released and closed with its claim. So
nobody can avoid the lease, the merge or the person's yes by using the tracker directly.

A takeover (by a person's word, or because the holder's session is over) releases the task in the holder's
name and claims it again. It is released only for the holder that was read, so whoever is quicker gets it.
"""

from __future__ import annotations

import os

from lifecycle.app import tracker_opening
from lifecycle.claim.commands.admission import place_of
from lifecycle.claim.linked import linked_writes
from lifecycle.cli.command_session import Session
from lifecycle.cli.tracker.tracker_values import key_of, sentence
from lifecycle.core.errors import AlreadyClaimed, HeldByAnother, NotFound, Refused
from lifecycle.core.messages.messages import forcing
from lifecycle.core.redact import named
from lifecycle.core.tracker import GITHUB, Task
from lifecycle.core.values.model import Look
from lifecycle.git import lease
from lifecycle.github.operations.ensure_issues import IssueOperations
from lifecycle.github.pulls.issue_calls import IssueCalls
from lifecycle.stages.session import activation
from lifecycle.trackers import registry


class Stand:
    """A task, and the issue and claim that it is under.

    Attributes:
        task: the task in the tracker.
        issue: the number of the issue that it is or is linked to, or None.
        is_issue: the task is that issue itself.
        other: who else holds it according to its tracker, if that is not GitHub; or "".
        is_ours: the claim of this worktree is for the task.
        is_anothers: that claim is linked to the task, and the tracker says that somebody else has it.
    """

    def __init__(self, session: Session, name: str) -> None:
        """Read the task `name`, its issue and claim; raises as the tracker's `get`, and ClaimRefused."""
        self.session, self.world = session, session.world
        self.task = task = session.tracker.get(name)
        self.is_issue = session.tracker.name == GITHUB
        self.issue = int(task.id) if self.is_issue else linked_writes.issue_named(self.world, task)
        is_free = self.is_issue or not task.is_open or task.assignee == session.tracker.actor
        self.other = "" if is_free else task.assignee
        record = session.claim_store.load(repair=False).record
        self.is_ours = self.is_anothers = False
        if record is not None:
            link = record.linked.link
            is_linked = link is not None and link.id == task.id and not self.is_issue
            is_issues = self.issue is not None and record.claim.issue_number == self.issue
            self.is_ours = is_linked or is_issues
            self.is_anothers = self.other not in ("", record.claim.agent_id)

    def refuse_others(self, done: str, *, force: bool = False) -> None:
        """Refuse to end a task that somebody else holds, by a claim or in the tracker itself.

        Args:
            done: what was not done, as in "closed".
            force: end it even if the tracker says that it is another's; never against a claim.

        Raises:
            HeldByAnother: another worktree of this clone claims it, somebody else has its lease, or the
                tracker says that it is somebody else's.
            GitFailed, Transient: its holder could not be read; nothing was done.
        """
        if self.issue is not None:
            self._refuse_claimed(self.issue, done)
        if self.is_issue and self.task.is_open:
            self._refuse_assigned(done)
        if self.other and not may_free(self.session, self.other, force=force):
            raise refusal(self.session, self.task.id, self.other, done)

    def _refuse_claimed(self, number: int, done: str) -> None:
        """Refuse an issue that another worktree of this clone claims, or whose lease somebody else has.

        Without the remote there are no leases: then the issue's assignees and comments decide.
        """
        world = self.world
        place = place_of(world, number)
        if place is not None:
            raise HeldByAnother(
                sentence("claimed-elsewhere", number=number, place=place, done=done)
            )
        holder = lease.read(world.git, world.remote, number) if has_remote(self.session) else None
        if holder is not None and holder.agent != world.tracker.actor:
            way = f"take it over first: {forcing(number)}"
            if not self.task.is_open:
                way = f"end its lease: lifecycle tracker reopen {self.task.id} --force"
            about = {"who": named(holder.agent), "since": holder.since, "way": way}
            raise HeldByAnother(sentence("lease-held", number=number, done=done, **about))

    def _refuse_assigned(self, done: str) -> None:
        """Refuse an issue that is assigned to other accounts, and not to this one."""
        world, task = self.world, self.task
        if not task.assignee:
            return
        login = world.forge.viewer().casefold()
        if task.assignee.casefold() == login:
            return
        others = world.forge.issue(int(task.id)).assignees
        if others and login not in {name.casefold() for name in others}:
            about = {"others": ", ".join(others), "way": forcing(task.id)}
            raise HeldByAnother(sentence("assigned", number=task.id, done=done, **about))

    def refuse_half(self) -> None:
        """Refuse to close a task while the issue that it is linked to is open.

        Raises:
            Refused: the issue that the task is linked to is open.
            NotFound: there is no such issue.
        """
        if self.issue is None or self.is_issue:
            return
        issue = self.world.forge.observe(Look(issue=self.issue, branch="")).issue
        if issue is None:
            about = {"issue": self.issue, "base": self.world.base}
            raise NotFound(sentence("no-linked-issue", task=self.task.id, **about))
        if issue.is_open:
            raise Refused(sentence("linked-open", task=self.task.id, issue=self.issue))

    def reopen_ours(self) -> Task:
        """Open the task of this worktree's claim again; it stays held by the claim."""
        tracker, task = self.session.tracker, self.task
        if task.is_open:
            return task
        if not self.is_issue:
            tracker.reopen(task.id)
            return tracker.claim(task.id)
        IssueOperations(IssueCalls(self.world.calls)).ensure_open(int(task.id))
        return tracker.get(task.id)


def has_remote(session: Session) -> bool:
    """True if there is a remote that may have leases."""
    return session.world.git.remote_url(session.world.settings.remote) is not None


def may_free(session: Session, holder: str, *, force: bool) -> bool:
    """True if this holder's task may be released: by force, if it is this agent, or its session is over."""
    if not holder.isprintable() or not holder:
        return False  # no name in which anything could be said
    seat = _seat(session, holder)
    if force or (seat is not None and seat.is_over):
        return True
    # It may be this agent under another name: by its claim, the environment, or its own seat.
    session.claim_store.load(repair=False)  # loads the remembered record
    last, actor = session.claim_store.remembered(), os.environ.get(tracker_opening.ACTOR, "")
    if last is not None and last.claim.agent_id == holder:
        return True
    own = registry.seat_in(session.root, session.client_session)
    return holder == actor if actor else holder.endswith(f"-{own}")


def free(session: Session, task: str, holder: str, deed: str) -> str:
    """Release the task in the name of its holder, comment on it, and return a note on that.

    Raises:
        AlreadyClaimed: somebody else has it by now.
        LifecycleError: as the tracker's `release` raises.
    """
    before = tracker_opening.inner_of(session.world, holder)
    if before is None:
        raise ValueError("an issue is taken over with its claim")
    before.release(task)
    remark = f"{deed.capitalize()} from {named(holder)} by {session.tracker.actor}."
    moment = f"{session.world.clock.now():.3f}"
    session.tracker.comment(task, key_of(remark, moment), remark)
    return f"{task} was held by {named(holder)}."


def refusal(
    session: Session, task: str, holder: str, done: str, *, is_linked: bool = False
) -> AlreadyClaimed:
    """The error for a task that somebody else has, with the way to take it over.

    Args:
        session: this worktree.
        task: its id.
        holder: its holder, as the tracker writes it.
        done: what was not done to it, as in "closed".
        is_linked: the claim here is linked to it, so a takeover has nothing to take over.
    """
    who, seat = (named(holder) if holder else "somebody else"), _seat(session, holder)
    if seat is not None and not seat.is_over:
        who += f", a session of this worktree ({seat.session}) whose client still runs"
    # Of these commands only `release` has --force, without a takeover first.
    is_release = is_linked or done == "released"
    way = f"lifecycle tracker {f'release {task} --force' if is_release else f'takeover {task}'}"
    return AlreadyClaimed(sentence("held", task=task, who=who, done=done, way=way), by=holder)


def _seat(session: Session, holder: str) -> activation.Seat | None:
    return activation.of(session.root, holder, session.client_session, session.client_process)
