"""Comments of ours on issues and pull requests, each known by a hidden marker."""

from __future__ import annotations

from functools import partial

from lifecycle.core import hidden_marker
from lifecycle.core.errors import NotFound
from lifecycle.core.values.shapes import CommentFacts, Ensured
from lifecycle.github.failures.failure_case import sentence
from lifecycle.github.operations.inputs import Guarded, same
from lifecycle.github.operations.unclear_writes import fitted, removed, settled
from lifecycle.github.pulls.issue_calls import IssueCalls


class CommentOperations(Guarded[IssueCalls]):
    """Operations on comments; `number` is that of an issue or pull request."""

    def __init__(self, calls: IssueCalls) -> None:
        super().__init__(calls)
        self._made: dict[tuple[int, str], int] = {}

    def ensure_comment(
        self, number: int, key: str, body: str, *, update: bool = True
    ) -> Ensured[CommentFacts]:
        """There is one comment of ours for this key, and it says this.

        It is recognised by a hidden marker in its last line, and by its author, the token's account. A
        text that only quotes the marker is somebody else's, and is left alone. GitHub does not
        deduplicate comments, and its lists lag for some seconds: two processes that call at the same
        time may post two. The next call keeps the oldest and deletes the others.

        Args:
            number: the issue or pull request.
            key: distinguishes this comment from others: letters, digits, and single . : / # = - _.
            body: its text, at most 65,536 characters with the marker that goes below it.
            update: False leaves the text of an existing comment alone.

        Requests: unchanged 1 for each hundred comments; posted, edited or one deleted 1 more each. The
        first call of an object that finds the marker asks 1 more (2 for an app's token): whose token
        it is. A call that does not find what this object posted before asks 1 more for it.
        Sources: https://docs.github.com/rest/issues/comments#list-issue-comments,
        https://docs.github.com/rest/issues/comments#create-an-issue-comment and
        https://docs.github.com/rest/issues/comments#update-an-issue-comment

        Raises:
            Refused: the key cannot be hidden.
            NotFound: there is no such issue.
            Rejected: GitHub says no: too long, or the conversation is locked.
            Transient: not now, or it is unknown whether it was posted.
        """
        mark = hidden_marker.keyed(key)
        text = hidden_marker.signed(body, mark)
        comments = self._marked(number, mark)
        find = partial(self._first, number, mark, text)
        if not comments:
            posted = settled(partial(self._calls.create_comment, number, text), find)
            self._made[number, mark] = posted.now.id
            return posted
        for surplus in comments[1:]:
            self._delete(number, surplus)
        old, is_thinned = comments[0], len(comments) > 1
        if not update:
            return Ensured(old, changed=is_thinned)
        edit = partial(self._calls.edit_comment, old.id, text)
        differs = sentence("comment-differs", comment=old.id, number=number)
        edited = fitted(old, lambda now: same(now.body, text), edit, find, lambda _: differs)
        return Ensured(edited.now, changed=edited.changed or is_thinned)

    def ensure_no_comment(self, number: int, key: str) -> Ensured[None]:
        """There is no comment of ours for this key.

        Requests: unchanged 1 for each hundred comments; 1 more for each that is deleted.
        Source: https://docs.github.com/rest/issues/comments#delete-an-issue-comment

        Raises:
            Refused, Rejected, Transient: as `ensure_comment`.
        """
        mark = hidden_marker.keyed(key)
        comments = self._marked(number, mark)
        for comment in comments:
            self._delete(number, comment)
        self._made.pop((number, mark), None)
        return Ensured(None, changed=bool(comments))

    def _marked(self, number: int, mark: str) -> list[CommentFacts]:
        """Our comments with the marker, oldest first; also one just posted that the list lacks yet."""
        comments = [*self._calls.signed(number, mark)]
        if not comments and (number, mark) in self._made:
            ours = self._calls.comment(self._made[number, mark])
            return [ours] if ours is not None and hidden_marker.is_signed(ours.body, mark) else []
        return comments

    def _first(self, number: int, mark: str, text: str) -> CommentFacts | None:
        """The comment that a write without an answer left behind, or None."""
        return next((ours for ours in self._marked(number, mark) if same(ours.body, text)), None)

    def _delete(self, number: int, surplus: CommentFacts) -> None:
        def find() -> bool:
            return any(comment.id == surplus.id for comment in self._calls.comments(number))

        removed(surplus.id, self._calls.delete_comment, find, NotFound)
