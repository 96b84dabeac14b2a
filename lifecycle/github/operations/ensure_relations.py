"""Relations between issues: what blocks an issue, and what it is divided into."""

from __future__ import annotations

from lifecycle.core.errors import AlreadyExists, NotFound
from lifecycle.core.values.shapes import Ensured, IssueFacts
from lifecycle.github.operations.unclear_writes import settled
from lifecycle.github.pulls.issue_calls import IssueCalls, Relation

_BLOCKED: Relation = "dependencies/blocked_by"
_SUB: Relation = "sub_issues"
Related = tuple[IssueFacts, ...]


class RelationOperations:
    """What may be asked of the relations of one repository's issues."""

    def __init__(self, calls: IssueCalls) -> None:
        self._calls = calls

    def ensure_blocked_by(self, number: int, blocker: int) -> Ensured[Related]:
        """The issue is marked as blocked by another of this repository; `now`: all that block it.

        Requests: unchanged 1 for each hundred; else 2 more, for the blocker's id and the writing.
        Source: https://docs.github.com/rest/issues/issue-dependencies

        Raises:
            NotFound: there is no such issue, or the server has no dependencies.
            Rejected: GitHub says no, as to an issue that blocks itself.
            Transient: not now, or it is unknown whether it was done.
        """
        return self._related(number, _BLOCKED, blocker)

    def ensure_not_blocked_by(self, number: int, blocker: int) -> Ensured[Related]:
        """The issue is not marked as blocked by that one; `now`: all that still block it.

        Requests: unchanged 1 for each hundred, else 1 more.
        Source: https://docs.github.com/rest/issues/issue-dependencies
        """
        return self._separated(number, _BLOCKED, blocker)

    def ensure_sub_issue(self, parent: int, child: int) -> Ensured[Related]:
        """The one issue is a part of the other, both of this repository; `now`: all parts.

        An issue has one parent: a child of another is refused by GitHub.
        Requests: unchanged 1 for each hundred; else 2 more, for the child's id and the writing.
        Source: https://docs.github.com/rest/issues/sub-issues

        Raises:
            NotFound, Rejected, Transient: as `ensure_blocked_by`.
        """
        return self._related(parent, _SUB, child)

    def ensure_not_sub_issue(self, parent: int, child: int) -> Ensured[Related]:
        """The one issue is no part of the other; `now`: all parts that are left.

        Requests: unchanged 1 for each hundred, else 1 more.
        Source: https://docs.github.com/rest/issues/sub-issues#remove-sub-issue
        """
        return self._separated(parent, _SUB, child)

    def _related(self, number: int, relation: Relation, other: int) -> Ensured[Related]:
        there = tuple(self._calls.related(number, relation))
        if self._find(there, other) is not None:
            return Ensured(there, changed=False)
        wanted = self._calls.issue(other)

        def relate() -> Related:
            self._calls.relate(number, relation, wanted.database_id)
            return (*there, wanted)

        def look() -> Related | None:
            now = tuple(self._calls.related(number, relation))
            return now if self._find(now, other) is not None else None

        return settled(relate, look, told=(AlreadyExists,))

    def _separated(self, number: int, relation: Relation, other: int) -> Ensured[Related]:
        there = tuple(self._calls.related(number, relation))
        found = self._find(there, other)
        if found is None:
            return Ensured(there, changed=False)

        def separate() -> Related:
            self._calls.separate(number, relation, found.database_id)
            return tuple(one for one in there if one is not found)

        def look() -> Related | None:
            now = tuple(self._calls.related(number, relation))
            return None if self._find(now, other) is not None else now

        return settled(separate, look, unless=(NotFound,))

    def _find(self, there: Related, number: int) -> IssueFacts | None:
        """The one of that number in this repository: issues of others may be related, too."""
        ours = f"/{self._calls.calls.repository}/".casefold()
        return next(
            (one for one in there if one.number == number and ours in one.url.casefold()), None
        )
