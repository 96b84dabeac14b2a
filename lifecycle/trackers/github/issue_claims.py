"""Who holds an issue: by lease and assignee or, if no lease can be written, by a marked comment.

The lease (`git/lease.py`) distinguishes agents, also those of one account, and lets exactly one of two win,
wherever they are. Without it (no remote, no write access, a fork) an agent assigns its account, posts a
comment with a hidden marker, and reads again: the oldest marker of an assignee wins. For a moment two
agents may believe that they hold the issue.
"""

from __future__ import annotations

import hashlib
import re
from functools import cached_property

from lifecycle.core import errors, hidden_marker
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import named
from lifecycle.core.values.shapes import IssueFacts
from lifecycle.git import lease
from lifecycle.github.operations.ensure_attached import CommentOperations
from lifecycle.github.operations.ensure_issues import IssueOperations
from lifecycle.github.operations.inputs import missing, present
from lifecycle.storage import log
from lifecycle.trackers import refusals
from lifecycle.trackers.github.issue_tasks import TaskLists

_MARK = re.compile(r"<!-- lifecycle:(held:[0-9a-f]{16}) -->")
_WORD = re.compile(r"Claimed by `([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class ClaimMark:
    """A comment that claims an issue: its key, the account of its author, and the agent in it."""

    key: str
    author: str
    agent: str


class IssueHolding(TaskLists):
    """The claims on one repository's issues, under the name of one agent."""

    _issues = cached_property(lambda self: IssueOperations(self._calls))
    _comments = cached_property(lambda self: CommentOperations(self._calls))

    @property
    def actor(self) -> str:
        """The acting name: the claim's agent or the configured one, else the account's with this seat."""
        return self._place.named or self._place.actor(self._login)

    @cached_property
    def _login(self) -> str:
        return self._hub.forge.viewer()

    @cached_property
    def _key(self) -> str:
        digest = hashlib.sha256(self.actor.encode("utf-8", "surrogatepass")).hexdigest()
        return f"held:{digest[:16]}"

    @cached_property
    def _has_leases(self) -> bool:
        """True if leases would be where everybody who works on these issues sees them."""
        try:
            if self._hub.git.remote_url(self._hub.settings.remote) is None:
                return False
            return str(self._hub.head).casefold() == str(self._hub.base).casefold()
        except (errors.GitFailed, errors.BadConfig):
            return False  # no git, or a remote that is not a repository on this GitHub

    def _take(self, issue: IssueFacts) -> IssueFacts:
        """Make the issue this agent's, and assign its account.

        Requests: with a lease 2 beside git's own (1 read, 1 write) and 1 for each hundred comments,
        none if it was assigned; without a lease 1 for each hundred comments, then 2, 2 and 1 and the
        comments again.

        Raises:
            AlreadyClaimed: the issue is somebody else's.
            Transient: it is unknown whether it is free.
            Rejected: GitHub does not allow the account to be assigned; nothing is held.
        """
        self._demand_no_others(issue)
        if not self._has_leases:
            return self._marked(issue)
        number = issue.number
        holder = self._demand_own_lease(number)
        if holder is None and self._login_in(issue):
            # An agent that could not write a lease may still hold the issue.
            self._is_first(number, issue.assignees)
        try:
            sha = holder.sha if holder is not None else self._take_lease(number)
        except errors.GitFailed:
            return self._marked(issue)
        if self._login_in(issue):
            return issue
        try:
            # Without an assignee nobody sees that it is held.
            now = self._issues.ensure_assignees(number, add=(self._login,)).now
            # An agent that cannot write a lease does not know of this one, and may have been quicker.
            self._is_first(number, now.assignees)
        except (errors.Rejected, errors.AlreadyClaimed) as error:
            if isinstance(error, errors.AlreadyClaimed):
                self._withdraw(number)
            self._release(number, sha)
            raise
        return now

    def _give(self, issue: IssueFacts) -> IssueFacts:
        """Release the issue, if this agent or nobody holds it.

        The lease is deleted last: the task is free as soon as it is gone. Requests: 1 for each
        hundred comments if no lease was found; 2 to remove the assignee, 1 for each deleted comment.

        Raises:
            AlreadyClaimed: it is somebody else's; nothing was changed.
        """
        number, now = issue.number, issue
        holder = self._demand_own_lease(number)
        self._demand_no_others(issue)
        if holder is None and self._login_in(issue):
            self._is_first(number, issue.assignees)
        if self._login_in(issue):
            now = self._issues.ensure_assignees(number, remove=(self._login,)).now
        self._end(number, holder)
        return now

    def _others(self, issue: IssueFacts) -> tuple[str, ...]:
        """Who else holds the open issue: by its lease, its assignees, or the oldest comment that claims it.

        An unreadable lease is not evidence, nor is one in a fork. Requests: git's own; 1 for each
        hundred comments if the account is assigned and there is no lease.
        """
        number, holder = issue.number, None
        what = f"tracker: the lease of #{number} is left out"
        with log.Surviving(self._hub.root, what, errors.GitFailed, errors.Transient):
            holder = self._lease(number)
        held = [holder.agent] if holder is not None and holder.agent != self.actor else []
        if not self._login_in(issue):
            return (*held, *issue.assignees[:1])
        if holder is not None:
            return tuple(held)
        marks = self._marks(number, issue.assignees)
        return tuple(mark.agent for mark in marks[:1] if mark.key != self._key)

    def _end_own(self, number: int) -> None:
        """End the rest of this agent's claim; the assignee stays, as the one who did the work."""
        holder = self._lease(number)
        if holder is None or holder.agent == self.actor:
            self._end(number, holder)

    def _clear(self, number: int) -> None:
        """End the lease on a closed issue, whoever holds it."""
        holder = self._lease(number)
        if holder is not None:
            self._release(number, holder.sha)

    def _lease(self, number: int) -> lease.Lease | None:
        """The issue's lease; None if there is none, or leases do not count here."""
        remote = self._hub.settings.remote
        return lease.read(self._hub.git, remote, number) if self._has_leases else None

    def _release(self, number: int, sha: str) -> None:
        lease.release(self._hub.git, self._hub.settings.remote, number, sha)

    def _end(self, number: int, holder: lease.Lease | None) -> None:
        if holder is not None:
            self._release(number, holder.sha)
        else:
            self._comments.ensure_no_comment(number, self._key)

    def _demand_own_lease(self, number: int) -> lease.Lease | None:
        """The lease if it is this agent's, None if there is none; AlreadyClaimed."""
        holder = self._lease(number)
        if holder is not None and holder.agent != self.actor:
            raise refusals.held(f"#{number}", named(holder.agent), f" since {holder.since}")
        return holder

    def _take_lease(self, number: int) -> str:
        try:
            at = lease.dated(self._hub)
            return lease.take(self._hub.git, self._hub.settings.remote, number, self.actor, at=at)
        except errors.HeldByAnother:
            holder = self._demand_own_lease(number)
            if holder is None:  # it was released in between
                raise refusals.held(f"#{number}", "") from None
            return holder.sha

    def _marked(self, issue: IssueFacts) -> IssueFacts:
        """Take the issue without a lease: assignee, comment, and a read afterwards."""
        number = issue.number
        if self._login_in(issue):
            if self._is_first(number, issue.assignees):
                return issue
        else:
            # Marks of this account on claims that are over: an agent is assigned before it marks.
            ours = self._marks(number, (self._login,))
            if ours and not self._login_in(self._calls.issue(number)):
                for mark in ours:
                    self._comments.ensure_no_comment(number, mark.key)
        self._issues.ensure_assignees(number, add=(self._login,))
        text = f"Claimed by `{self.actor}`. No lease could be written, so this comment says who was first."
        self._comments.ensure_comment(number, self._key, text, update=False)
        now = self._calls.issue(number)
        try:
            self._is_first(number, now.assignees)
            if not self._login_in(now):  # another agent of the account gave way meanwhile
                raise refusals.held(f"#{number}", now.assignees[0] if now.assignees else "")
            self._demand_own_lease(number)  # a lease can be read even if it cannot be written
        except errors.AlreadyClaimed:
            self._withdraw(number)
            raise
        return now

    def _withdraw(self, number: int) -> None:
        """Undo this agent's writes, since somebody was quicker; keep an assignee of the same account.

        Another agent of this account may mark the issue between read and removal, and believe that it
        holds it: so the marks are read again, and its assignee is restored.
        """
        self._comments.ensure_no_comment(number, self._key)
        while not self._is_shared(number):
            self._issues.ensure_assignees(number, remove=(self._login,))
            if not self._is_shared(number):
                return
            self._issues.ensure_assignees(number, add=(self._login,))

    def _is_shared(self, number: int) -> bool:
        """True if another agent of this account has marked the issue."""
        return any(mark.key != self._key for mark in self._marks(number, (self._login,)))

    def _is_first(self, number: int, assignees: tuple[str, ...]) -> bool:
        """True if this agent's mark is the oldest; False if there is no mark.

        Raises:
            AlreadyClaimed: another assignee holds the issue by a comment, or needs none.
        """
        counted = self._marks(number, assignees)
        unmarked = missing(assignees, (self._login, *(mark.author for mark in counted)))
        if unmarked:  # a person who assigned herself
            raise refusals.held(f"#{number}", unmarked[0])
        if counted and counted[0].key != self._key:
            raise refusals.held(f"#{number}", counted[0].agent)
        return bool(counted)

    def _marks(self, number: int, accounts: tuple[str, ...]) -> list[ClaimMark]:
        """The comments of these accounts that claim the issue, the oldest first."""
        marks = []
        for comment in self._calls.comments(number):
            key = _MARK.fullmatch(hidden_marker.mark_in(comment.body))
            if key is not None and present((comment.author,), accounts):
                agent = _WORD.match(comment.body)
                name = agent[1] if agent else comment.author
                marks.append(ClaimMark(key[1], comment.author, name))
        return marks

    def _demand_no_others(self, issue: IssueFacts) -> None:
        if issue.assignees and not self._login_in(issue):
            raise refusals.held(f"#{issue.number}", issue.assignees[0])

    def _login_in(self, issue: IssueFacts) -> bool:
        return bool(present((self._login,), issue.assignees))
