"""Operations on issues, pull requests included: text, state, assignees, milestone, relations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal

from lifecycle.core import hidden_marker
from lifecycle.core.errors import AlreadyExists, NotFound, UnknownOption, did_you_mean
from lifecycle.core.values.shapes import Ensured, IssueFacts, MilestoneFacts
from lifecycle.github.failures import sentence
from lifecycle.github.operations.inputs import Guarded, Names, change_of, missing, names_of, present
from lifecycle.github.operations.unclear_writes import Edits, fitted, settled
from lifecycle.github.pulls.issue_calls import BLOCKERS, PARTS, IssueCalls, Relation

Related = tuple[IssueFacts, ...]
Logins = tuple[str, ...]


class RelationOperations(Guarded[IssueCalls]):
    """Operations on the relations of one repository's issues: what blocks one, and its sub-issues."""

    def ensure_blocked_by(self, number: int, blocker: int) -> Ensured[Related]:
        """The issue is marked as blocked by another one in this repository; `now`: all that block it.

        Requests: unchanged 1 for each hundred; else 2 more, for the blocker's id and the writing.
        Source: https://docs.github.com/rest/issues/issue-dependencies

        Raises:
            NotFound: there is no such issue, or the server has no dependencies.
            Rejected: GitHub says no, for example if an issue would block itself.
            Transient: not now, or it is unknown whether it was done.
        """
        return self._set(number, BLOCKERS, blocker, is_wanted=True)

    def ensure_not_blocked_by(self, number: int, blocker: int) -> Ensured[Related]:
        """The issue is not marked as blocked by that one; `now`: all that still block it.

        Requests: unchanged 1 for each hundred, else 1 more.
        Source: https://docs.github.com/rest/issues/issue-dependencies

        Raises:
            NotFound, Rejected, Transient: as `ensure_blocked_by`.
        """
        return self._set(number, BLOCKERS, blocker, is_wanted=False)

    def ensure_sub_issue(self, parent: int, child: int) -> Ensured[Related]:
        """The child is a sub-issue of the parent, both in this repository; `now`: all sub-issues.

        An issue has one parent: GitHub refuses a child that has another.
        Requests: unchanged 1 for each hundred; else 2 more, for the child's id and the writing.
        Source: https://docs.github.com/rest/issues/sub-issues

        Raises:
            NotFound, Rejected, Transient: as `ensure_blocked_by`.
        """
        return self._set(parent, PARTS, child, is_wanted=True)

    def ensure_not_sub_issue(self, parent: int, child: int) -> Ensured[Related]:
        """The child is not a sub-issue of the parent; `now`: all sub-issues that are left.

        Requests: unchanged 1 for each hundred, else 1 more.
        Source: https://docs.github.com/rest/issues/sub-issues#remove-sub-issue

        Raises:
            NotFound, Rejected, Transient: as `ensure_blocked_by`.
        """
        return self._set(parent, PARTS, child, is_wanted=False)

    def _set(
        self, number: int, relation: Relation, other: int, *, is_wanted: bool
    ) -> Ensured[Related]:
        before = tuple(self._calls.related(number, relation))
        related = self._find(before, other)
        if (related is not None) == is_wanted:
            return Ensured(before, changed=False)

        def write() -> Related:
            if related is not None:
                self._calls.separate(number, relation, related.database_id)
                return tuple(issue for issue in before if issue is not related)
            wanted = self._calls.issue(other)
            self._calls.relate(number, relation, wanted.database_id)
            return (*before, wanted)

        def look() -> Related | None:
            now = tuple(self._calls.related(number, relation))
            return now if (self._find(now, other) is not None) == is_wanted else None

        gone = () if is_wanted else (NotFound,)
        return settled(write, look, already=(AlreadyExists,), unless=gone)

    def _find(self, issues: Related, number: int) -> IssueFacts | None:
        """The issue of that number in this repository, or None."""
        its = (issue for issue in issues if issue.number == number and self._calls.is_here(issue))
        return next(its, None)


Reason = Literal["completed", "not_planned", "duplicate"]


class IssueOperations(Guarded[IssueCalls]):
    """Operations on the repository's issues; every number is that of an issue or pull request."""

    def __init__(self, calls: IssueCalls) -> None:
        super().__init__(calls)
        fix = "look there for a rule or a workflow that undoes it"
        self._edits = Edits(calls.issue, calls.edit, fix)
        self._made: dict[str, int] = {}

    def ensure_issue(
        self,
        key: str,
        *,
        title: str,
        body: str = "",
        labels: Names = (),
        label: str = "",
        update: bool = True,
    ) -> Ensured[IssueFacts]:
        """There is one issue for this key, with this title and body.

        It is recognised by a hidden marker in the last line of its body, and by its author, the token's
        account. A body that only quotes the marker is somebody else's, and is left alone. The oldest
        such issue is adopted, open or closed. GitHub's lists lag for some seconds: two processes that
        call at the same time may open two issues; the younger is ignored from then on: close it by hand.

        Args:
            key: distinguishes this issue from all others: letters, digits, and single . : / # = - _.
            title: its title.
            body: its text; the marker goes below it.
            labels: labels for a new issue; later, use `ensure_labels`.
            label: look among issues with this label first, for a shorter list; a new issue gets it.
                If the issue is not among them, all issues are searched before one is opened.
            update: False leaves title and body of an existing issue alone.

        Requests: unchanged 1 for each hundred issues of the token's owner up to it; edited 1 more;
        created 1 more. The first call of an object asks 1 more (2 for an app's token): whose token it is.
        Sources: https://docs.github.com/rest/issues/issues#list-repository-issues and
        https://docs.github.com/rest/issues/issues#create-an-issue

        Raises:
            Refused: the key cannot be hidden, or `labels` is one text.
            Rejected: GitHub says no: 410 where issues are disabled.
            Transient: not now, or it is unknown whether the issue was opened.
        """
        mark = hidden_marker.keyed(key)
        text = hidden_marker.signed(body, mark)
        listed = names_of("labels", labels)
        names = (*listed, *missing((label,) if label else (), listed))
        issue = self._marked(mark, label)
        if issue is None:
            create = partial(self._calls.create, title, text, names)
            opened = settled(create, partial(self._calls.marked, mark, ""))
            self._made[mark] = opened.now.number
            # An issue found after a lost answer may be another process's: its text is compared.
            now = self._edits.text(opened.now, title, text).now if update else opened.now
            return Ensured(now, changed=True)
        return self._edits.text(issue, title, text) if update else Ensured(issue, changed=False)

    def ensure_text(
        self, number: int, *, title: str | None = None, body: str | None = None
    ) -> Ensured[IssueFacts]:
        """The issue or pull request has this title and this body; None leaves one alone.

        Line ends and outer spaces do not count as a difference.
        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/issues/issues#update-an-issue

        Raises:
            NotFound: there is no such issue.
            Rejected, Transient: as everywhere.
        """
        return self._edits.text(self._calls.issue(number), title, body)

    def ensure_open(self, number: int) -> Ensured[IssueFacts]:
        """The issue or pull request is open.

        Requests: unchanged 1, else 2. Source: https://docs.github.com/rest/issues/issues#update-an-issue

        Raises:
            Rejected: GitHub keeps it closed, for example a pull request whose branch is gone.
        """
        return self._edits.fields(self._calls.issue(number), lambda now: now.is_open, state="open")

    def ensure_closed(self, number: int, reason: Reason = "completed") -> Ensured[IssueFacts]:
        """The issue is closed; a pull request is closed unmerged.

        `reason` is why it is closed now; an issue that is closed already keeps its reason, since GitHub
        ignores a reason that comes without a change of state.
        Requests: unchanged 1, else 2. Source: https://docs.github.com/rest/issues/issues#update-an-issue

        Raises:
            Rejected: GitHub's answer shows that it is still open.
        """
        issue = self._calls.issue(number)
        reasons = {} if issue.is_pull_request else {"state_reason": reason}
        return self._edits.fields(issue, lambda now: not now.is_open, state="closed", **reasons)

    def ensure_assignees(
        self, number: int, *, add: Names = (), remove: Names = (), only: Names | None = None
    ) -> Ensured[IssueFacts]:
        """These logins are assigned, those are not; with `only`, exactly these are. Case is ignored.

        Requests: unchanged 1; 1 more to add, 1 more to remove.
        Sources: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue and
        https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue

        Raises:
            Refused: a text is given instead of a list of texts, or somebody is to be both added and
                removed. Nothing was changed.
            Rejected: GitHub did not assign or unassign somebody: it silently ignores people who cannot
                be assigned, and everybody if the token may not assign. If somebody could not be added,
                nobody is removed. The sentence says who is assigned now.
        """
        change = change_of(add, remove, only)
        now = self._calls.issue(number)
        missed, surplus = change(now.assignees)
        assign = partial(self._calls.assignees, "POST", number, missed)
        now = self._assigned(now, assign, partial(missing, missed))
        unassign = partial(self._calls.assignees, "DELETE", number, surplus)
        now = self._assigned(now, unassign, partial(present, surplus))
        return Ensured(now, changed=bool(missed or surplus))

    def _assigned(
        self, issue: IssueFacts, write: Callable[[], IssueFacts], left: Callable[[Logins], Logins]
    ) -> IssueFacts:
        """The issue, written if `left` names somebody; Rejected, with who is assigned, if it still does."""

        def differs(now: IssueFacts) -> str:
            ignored, names = ", ".join(left(now.assignees)), ", ".join(now.assignees)
            words = {"ignored": ignored, "now": names or "nobody"}
            return sentence("assignees-ignored", number=issue.number, **words)

        read = partial(self._calls.issue, issue.number)
        return fitted(issue, lambda now: not left(now.assignees), write, read, differs).now

    def ensure_milestone(
        self, number: int, title: str | None, *, create: bool = False
    ) -> Ensured[IssueFacts]:
        """The issue belongs to the milestone of this title, or to none (None).

        Args:
            number: the issue.
            title: the milestone's title; case is ignored.
            create: create the milestone if it does not exist.

        Requests: unchanged 1; else 2 and 1 for each hundred milestones, and 1 more to make one.
        Sources: https://docs.github.com/rest/issues/milestones and
        https://docs.github.com/rest/issues/issues#update-an-issue

        Raises:
            UnknownOption: there is no such milestone; the sentence names those that there are.
        """
        issue = self._calls.issue(number)

        def is_at(now: IssueFacts) -> bool:
            return now.milestone.casefold() == (title or "").casefold()

        if is_at(issue):
            return Ensured(issue, changed=False)
        at = self._milestone(title, create=create).number if title else None
        return self._edits.fields(issue, is_at, milestone=at)

    def _marked(self, mark: str, label: str) -> IssueFacts | None:
        """The issue with a marker; also one that this object just opened and the list lacks yet."""
        issue = self._calls.marked(mark, label) if label else None
        issue = issue or self._calls.marked(mark, "")
        if issue is None and mark in self._made:
            with suppress(NotFound):  # deleted meanwhile: then another one is opened
                opened = self._calls.issue(self._made[mark])
                # Somebody may have replaced its text with their own: then it is theirs.
                return opened if hidden_marker.is_signed(opened.body, mark) else None
        return issue

    def _milestone(self, title: str, *, create: bool) -> MilestoneFacts:
        listed: list[MilestoneFacts] = []

        def look() -> MilestoneFacts | None:
            listed[:] = self._calls.milestones()
            folded_title = title.casefold()
            return next((entry for entry in listed if entry.title.casefold() == folded_title), None)

        milestone = look()
        if milestone is not None:
            return milestone
        if create:
            make = partial(self._calls.create_milestone, title)
            return settled(make, look, already=(AlreadyExists,)).now
        names = ", ".join(entry.title for entry in listed) or "none"
        near = did_you_mean(title, (entry.title for entry in listed))
        raise UnknownOption(sentence("no-milestone", title=title, names=names, near=near))
