"""Refs: branches, tags and others, each by its whole name."""

from __future__ import annotations

from functools import partial

from lifecycle.core.errors import AlreadyExists, HeadMoved, NotFound
from lifecycle.core.values.shapes import Ensured, RefFacts
from lifecycle.github.operations.unclear_writes import removed, settled, whole_sha
from lifecycle.github.pulls.commit_calls import CommitCalls


class RefOperations:
    """What may be asked of the repository's refs. Commits come by git; this moves what points to them."""

    def __init__(self, calls: CommitCalls) -> None:
        self._calls = calls

    def ensure_ref(
        self, name: str, sha: str, *, expected: str = "", force: bool = False
    ) -> Ensured[RefFacts]:
        """The ref points to this object.

        Args:
            name: its whole name: `refs/heads/main`, `refs/tags/v1`.
            sha: an object that GitHub has, all 40 digits.
            expected: what it has to hold before, if it is there; "" is anything. GitHub compares
                nothing, so whoever writes between the look and the move is noticed only without
                `force`.
            force: move it also to a commit that does not descend from the one that it holds.

        Requests: unchanged 1, else 2.
        Sources: https://docs.github.com/rest/git/refs#create-a-reference and
        https://docs.github.com/rest/git/refs#update-a-reference

        Raises:
            Refused: the object has no 40 digits, or the name has a part that is empty or dots.
            HeadMoved: it holds something else than expected, or what would be lost.
            Rejected: GitHub says no: no such object, or a rule protects it.
            Transient: not now, or nobody knows.
        """
        sha = whole_sha(sha)

        def look() -> RefFacts | None:
            now = self._calls.ref(name)
            return now if now is not None and now.sha == sha else None

        found = self._calls.ref(name)
        if found is None:
            return settled(lambda: self._calls.create_ref(name, sha), look, unless=(AlreadyExists,))
        if found.sha == sha:
            return Ensured(found, changed=False)
        _demand_expected(found, expected)
        return settled(lambda: self._calls.move_ref(name, sha, force=force), look)

    def ensure_no_ref(self, name: str, *, expected: str = "") -> Ensured[None]:
        """There is no such ref.

        Args:
            name: its whole name.
            expected: what it has to hold; "" is anything. GitHub compares nothing itself.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/git/refs#delete-a-reference

        Raises:
            Refused: the name has a part that is empty or dots.
            HeadMoved: it holds something else than expected.
            Rejected: a rule protects it.
        """
        found = self._calls.ref(name)
        if found is None:
            return Ensured(None, changed=False)
        _demand_expected(found, expected)
        delete = partial(self._calls.delete_ref, name)
        removed(delete, lambda: self._calls.ref(name) is None, NotFound)
        return Ensured(None, changed=True)

    def ensure_branch_deleted(self, branch: str, *, expected: str = "") -> Ensured[None]:
        """There is no such branch: `ensure_no_ref` for `refs/heads/…`.

        Args:
            branch: its name.
            expected: the head that it has to have, so that nobody's new commit is lost; "" is any.

        Requests: unchanged 1, else 2.

        Raises:
            Refused, HeadMoved, Rejected: as `ensure_no_ref`.
        """
        return self.ensure_no_ref(f"refs/heads/{branch}", expected=expected)


def _demand_expected(found: RefFacts, expected: str) -> None:
    if expected and found.sha != expected:
        raise HeadMoved(
            f"{found.ref} holds {found.sha[:12]} instead of {expected[:12]}, so it was left as it is; "
            "somebody pushed: look at that first."
        )
