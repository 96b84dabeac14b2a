"""GitHub's issues as a tracker: the verbs on top of the public operations, which write nothing twice.

An assigned issue is in progress, and an unassigned one is open: GitHub has no other word for it. How
issues are claimed is in `issue_claims.py`, how they are listed in `issue_tasks.py`. The request counts do
not include those that find out, once for each object, whose token it is. Each verb that returns a task
reads its Priority from the board as `get` does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Unpack

from lifecycle.core import errors, hidden_marker, tracker
from lifecycle.core.light_dataclass import replace
from lifecycle.core.tracker import Abilities, Atomicity, Capability, Note, Task, TaskStatus, Wording
from lifecycle.core.values import priorities
from lifecycle.core.values.shapes import IssueFacts
from lifecycle.github.operations.ensure_attached import LabelOperations
from lifecycle.github.operations.ensure_issues import Reason, RelationOperations
from lifecycle.github.operations.inputs import missing, same
from lifecycle.github.pulls.issue_calls import BLOCKERS
from lifecycle.trackers import refusals
from lifecycle.trackers.github import issue_tasks
from lifecycle.trackers.github.issue_claims import IssueHolding
from lifecycle.trackers.registry import OWN_COMMANDS, TrackerPlace

_REASON = "close-reason"
_REASONS: tuple[Reason, ...] = ("completed", "not_planned", "duplicate")
_UNBEGUN = ("", priorities.Status.TODO.casefold())
_CAN = frozenset({Capability.NATIVE_READY, Capability.DEPENDENCIES})


def open_tracker(place: TrackerPlace) -> GitHubIssues:
    """The issues of the worktree's base repository."""
    return GitHubIssues(place)


class GitHubIssues(IssueHolding):
    """Fits `tracker.Tracker`. No request is made before the first verb."""

    name = tracker.GITHUB

    _labels = cached_property(lambda self: LabelOperations(self._calls))

    def abilities(self) -> Abilities:
        """Exclusive if leases are in the repository and the account may push; else advisory.

        Requests: 1, once. A token without information on its permissions counts as allowed.
        """
        return self._abilities

    def wording(self) -> Wording:
        """The product's own commands."""
        return OWN_COMMANDS

    def get(self, id: str, *, holders: bool = False) -> Task:  # noqa: A002 -- the Protocol's word
        """One issue; a pull request does not count.

        Other holders are found by its lease, its card's Agent (except in Todo), its assignees
        and the comments that claim it.

        Requests: 1; 1 more if it is blocked, 1 if sub-issues are open, for a closed one 1 for each
        hundred comments, and with a board 1 if no label gives the priority. With `holders`, for an
        open one: with a board 1 in any case, those of `_others`.
        """
        issue = self._issue(id)
        if not holders or not issue.is_open:
            return self._shown(issue)
        task = issue_tasks.task_of(issue, self._calls.blockers(issue))
        card = self.card(task)
        is_begun = card is not None and (card.status or "").casefold() not in _UNBEGUN
        others = [card.agent] if card and is_begun and card.agent not in ("", self.actor) else []
        task = issue_tasks.with_word(task, card.priority if card else None)
        return replace(task, held_by=tuple(dict.fromkeys((*self._others(issue), *others))))

    def create(self, key: str, **new: Unpack[tracker.NewTask]) -> Task:
        """Create the issue of this key, or return the token owner's issue with its hidden marker.

        Requests: as `IssueOperations.ensure_issue`, which needs 1 for each hundred issues of that owner.
        """
        task = refusals.demand_new(key, **new)
        ranks = () if task.priority is None else (priorities.label_of(task.priority),)
        wanted = (*task.labels, *ranks)
        text = issue_tasks.with_external(task.description, task.external)
        ensured = self._issues.ensure_issue(
            f"task:{key}", title=task.title, body=text, labels=wanted, update=False
        )
        dropped = missing(wanted, ensured.now.labels) if ensured.changed else ()
        if dropped:  # GitHub silently ignores what the token may not set; a separate request fails
            number = ensured.now.number
            return self._shown(self._labels.ensure_labels(number, add=dropped, create=True).now)
        return self._shown(ensured.now)

    def claim(self, id: str) -> Task:  # noqa: A002
        """Make the issue the agent's (lease, assignee); AlreadyClaimed, NotClaimable, BlockedBy, NotFound.

        Requests: 1 and those of `_take`.
        """
        issue = self._issue(id)
        if not issue.is_open:
            raise refusals.not_claimable(f"#{issue.number}", "closed")
        self._demand_free(issue, "claimed")
        taken = issue_tasks.task_of(self._take(issue))
        return self.with_priority(replace(taken, status=TaskStatus.IN_PROGRESS))

    def claim_next(self, *, labels: tuple[str, ...] = ()) -> Task | None:
        """Claim the first issue of `ready` that nobody else claimed first; None if there is none."""
        return refusals.first_claimed(lambda task: self.claim(task.id), self.ready(labels=labels))

    def renew(self, id: str) -> Task:  # noqa: A002
        """Raise Lacking: a lease on GitHub has no end."""
        raise refusals.lacking(Capability.LEASES, "github-has-no-leases", id=id)

    def release(self, id: str) -> Task:  # noqa: A002
        """Release the issue, which stays open; a closed one is not changed. AlreadyClaimed.

        Requests: 1 and those of `_give`.
        """
        issue = self._issue(id)
        return self._shown(self._give(issue) if issue.is_open else issue)

    def close(self, id: str, *, reason: str = "") -> Task:  # noqa: A002
        """Close the issue; a closed one keeps its reason. BlockedBy, NotFound.

        A reason that is not one of GitHub's own words becomes a comment, which is posted first. The agent's
        lease ends with the task. Requests: as `get`; 2 more to close, 2 to 3 for a comment of its own.
        """
        issue = self._issue(id)
        if issue.is_open:
            self._demand_free(issue, "closed")
            own = next((word for word in _REASONS if word == reason), None)
            if reason and own is None:
                self._comments.ensure_comment(issue.number, _REASON, reason)
            elif issue.state_reason == "reopened":
                self._comments.ensure_no_comment(issue.number, _REASON)
            issue = self._issues.ensure_closed(issue.number, own or "completed").now
        self._end_own(issue.number)
        return self._shown(issue)

    def reopen(self, id: str) -> Task:  # noqa: A002
        """Open the issue, without a holder; one that is not closed stays as it is.

        Assignees and lease are removed first, so that an interrupted call can be repeated.
        Requests: 1; 2 to open it, 1 to 2 for its assignees.
        """
        issue = self._issue(id)
        if issue.is_open:
            return self._shown(issue)
        self._clear(issue.number)
        self._issues.ensure_assignees(issue.number, only=())
        return self._shown(self._issues.ensure_open(issue.number).now)

    def edit(self, id: str, **texts: Unpack[tracker.TaskEdit]) -> Task:  # noqa: A002
        """Set its texts, and its priority as a label (made if needed); other priority labels are removed.

        A priority that only the board has is not written. Requests: as `get`; 2 to change a text;
        labels as `LabelOperations.ensure_labels`.
        """
        refusals.demand_edit(**texts)
        title, description = texts.get("title"), texts.get("description")
        priority = texts.get("priority")
        issue = self._issue(id)
        number, before = issue.number, issue_tasks.Body.of(issue.body)
        body = before.saying(description) if description is not None else None
        # Only what is shown counts: whoever wrote the body may have spaced its hidden lines otherwise.
        is_retitled = title is not None and not same(title, issue.title)
        if is_retitled or (description is not None and not same(description, before.text)):
            issue = self._issues.ensure_text(number, title=title, body=body).now
        ranks = {n: rank for n in issue.labels if (rank := priorities.of_label(n)) is not None}
        task = self._shown(issue)
        if priority is None or [*(ranks.values() or (task.priority,))] == [priority]:
            return task
        new = (priorities.label_of(priority),)
        old = tuple(name for name in ranks if name.casefold() != new[0].casefold())
        labels = self._labels.ensure_labels(number, add=new, remove=old, create=True).now.labels
        return replace(task, labels=labels, priority=priorities.of_labels(labels))

    def edit_labels(self, id: str, **labels: Unpack[tracker.LabelEdit]) -> Task:  # noqa: A002
        """Add and remove labels; a label that the repository lacks is made, if `create`.

        Requests: 1 and those of `LabelOperations.ensure_labels`.

        Raises:
            UnknownOption: the repository lacks a label, and `create` is False; nothing was changed.
        """
        add, remove = refusals.demand_label_edit(**labels)
        create = labels.get("create", True)
        number = self._issue(id).number
        now = self._labels.ensure_labels(number, add=add, remove=remove, create=create).now
        return self._shown(now)

    def comment(self, id: str, key: str, text: str) -> Note:  # noqa: A002
        """Post the comment of this key once, as the token's owner; an existing one keeps its text.

        Requests: 1 and those of `CommentOperations.ensure_comment`.
        """
        refusals.demand_key(key)
        number = self._issue(id).number
        ensured = self._comments.ensure_comment(number, f"note:{key}", text, update=False)
        return issue_tasks.note_of(ensured.now)

    def list_comments(self, id: str) -> tuple[Note, ...]:  # noqa: A002
        """Everybody's comments, the oldest first. Requests: 1, and 1 for each hundred."""
        number = self._issue(id).number
        return tuple(map(issue_tasks.note_of, self._calls.comments(number)))

    def add_dependency(self, id: str, blocker: str) -> Task:  # noqa: A002
        """Make the issue blocked by another issue of the same repository; Invalid for a circle.

        Requests: 2, and 1 for each open issue that blocks the other and is itself blocked; then
        those of `RelationOperations.ensure_blocked_by`, and 1 to show it.
        """
        issue, other = self._issue(id), self._issue(blocker)
        if issue.open_blockers is None:
            raise refusals.lacking(Capability.DEPENDENCIES, "no-dependencies")
        self._demand_no_circle(issue.number, other)
        try:
            RelationOperations(self._calls).ensure_blocked_by(issue.number, other.number)
        except errors.Rejected as error:
            if type(error) is not errors.Rejected:
                raise
            raise errors.Invalid(error.sentence, evidence=error.evidence) from None
        return self.get(id)

    def publish(self) -> None:
        """Raise Lacking: writes on GitHub are already where others read them."""
        raise refusals.lacking(Capability.PUBLISH, "github-is-published")

    def _issue(self, name: str) -> IssueFacts:
        issue = self._calls.issue(issue_tasks.number_of(name))
        if issue.is_pull_request:
            raise errors.NotFound(refusals.sentence("pull-request", number=issue.number))
        return issue

    def _shown(self, issue: IssueFacts) -> Task:
        """The task with facts that its own answer lacks: who blocks it, and why it was closed."""
        task = self.with_priority(issue_tasks.task_of(issue, self._calls.blockers(issue)))
        if issue.is_open or issue.state_reason in ("not_planned", "duplicate"):
            return task
        # Anybody may put a marker into a comment: only a comment by the person who closed it counts.
        reasons = [*self._calls.signed(issue.number, hidden_marker.keyed(_REASON), issue.closed_by)]
        if not reasons:
            return task
        return replace(task, close_reason=issue_tasks.Body.of(reasons[-1].body).text)

    def _demand_free(self, issue: IssueFacts, what: str) -> None:
        refusals.demand_free(f"#{issue.number}", self._calls.blockers(issue), what, mark="#")

    def _demand_no_circle(self, number: int, other: IssueFacts) -> None:
        """Invalid if the other issue waits, through any number of open issues, for this one."""
        seen, waiting = set[int](), [other]
        while waiting:
            issue = waiting.pop()
            if issue.number == number:
                raise refusals.circle(f"#{number}", f"#{other.number}")
            if issue.open_blockers and issue.number not in seen:
                seen.add(issue.number)
                related = self._calls.related(issue.number, BLOCKERS)
                unclosed = (blocker for blocker in related if blocker.is_open)
                waiting += filter(self._calls.is_here, unclosed)

    @cached_property
    def _abilities(self) -> Abilities:
        forge = self._hub.forge
        is_exclusive = self._has_leases and forge.repository_access().can_push is not False
        return Abilities(Atomicity.SHARED_CAS if is_exclusive else Atomicity.ADVISORY, _CAN)
