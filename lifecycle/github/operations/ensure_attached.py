"""Operations on what hangs on issues and pull requests: their labels, and our comments.

The labels are the repository's, too, and their case is ignored. A comment is known by a hidden marker.
"""

from __future__ import annotations

from functools import partial

from lifecycle.core import hidden_marker
from lifecycle.core.errors import AlreadyExists, NotFound, UnknownOption, did_you_mean
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.shapes import CommentFacts, Ensured, IssueFacts, LabelFacts
from lifecycle.github.client.client_common import path_part
from lifecycle.github.failures import sentence
from lifecycle.github.operations.inputs import Guarded, Names, change_of, missing, present, same
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


class LabelOperations(Guarded[IssueCalls]):
    """Operations on labels."""

    def ensure_label(
        self, name: str, *, color: str = "", description: str = ""
    ) -> Ensured[LabelFacts]:
        """The repository has this label.

        Args:
            name: its name; a label whose name differs only in case is adopted as it is.
            color: six hexadecimal digits without `#`; "" keeps the old one, or lets GitHub choose.
            description: at most 100 characters; "" keeps the old one.

        Requests: unchanged 1, else 2; 2 more if somebody creates a label of that name meanwhile.
        Sources: https://docs.github.com/rest/issues/labels#get-a-label,
        https://docs.github.com/rest/issues/labels#create-a-label and
        https://docs.github.com/rest/issues/labels#update-a-label

        Raises:
            Refused: the name is empty or only dots, which no address can contain.
            Rejected: GitHub says no, for example to an invalid colour.
            Transient: not now, or it is unknown whether the label was created.
        """
        wanted = LabelFacts(name, color.lower(), description)
        label = self._calls.label(name)
        if label is not None:
            return self._fitted(label, wanted)
        created = self._created(wanted)
        # If somebody was quicker, or the answer was lost, the label may be another's: it is compared.
        now = self._fitted(created.now, wanted)
        return Ensured(now.now, changed=created.changed or now.changed)

    def ensure_labels(
        self,
        number: int,
        *,
        add: Names = (),
        remove: Names = (),
        only: Names | None = None,
        create: bool = False,
    ) -> Ensured[IssueFacts]:
        """The issue or pull request has these labels and not those; with `only`, exactly these.

        Args:
            number: the issue or pull request.
            add: labels that it has to have.
            remove: labels that it must not have.
            only: exactly the labels that it has to have; instead of `add` and `remove`.
            create: create a label that the repository lacks. GitHub would silently create a misspelt
                one, so without this it is refused.

        Requests: unchanged 1; to add, 1 more for each hundred labels of the repository, 1, and 1 for
        each label made; to remove, 1 for each.
        Sources: https://docs.github.com/rest/issues/labels#add-labels-to-an-issue and
        https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue

        Raises:
            Refused: a text is given instead of a list of texts, a label is to be both added and removed,
                or the name of one to remove is empty or only dots. Nothing was changed.
            UnknownOption: the repository has no such label; the sentence names those that it has.
                Nothing was changed.
            NotFound: there is no such issue.
            Rejected, Transient: as everywhere.
        """
        change = change_of(add, remove, only)
        issue = self._calls.issue(number)
        missed, surplus = change(issue.labels)
        now = issue.labels
        for name in surplus:
            path_part(name)  # refused here, before anything is written

        def read() -> tuple[str, ...]:
            return self._calls.issue(number).labels

        if missed:
            self._demand(missed, create=create)
            write = partial(self._calls.add_labels, number, missed)
            now = fitted(now, lambda shown: not missing(missed, shown), write, read).now
        for name in surplus:
            self._remove(number, name)
        kept = missing(now, surplus)
        return Ensured(replace(issue, labels=kept), changed=bool(missed or surplus))

    def _fitted(self, label: LabelFacts, wanted: LabelFacts) -> Ensured[LabelFacts]:
        """Edit unless colour and description are as wanted."""
        edit = partial(self._calls.edit_label, wanted.name, wanted)
        return fitted(label, partial(_fits, wanted), edit, partial(self._calls.label, wanted.name))

    def _demand(self, names: tuple[str, ...], *, create: bool) -> None:
        existing = tuple(label.name for label in self._calls.labels())
        unknown = missing(names, existing)
        if unknown and not create:
            near = "".join(dict.fromkeys(did_you_mean(name, existing) for name in unknown))
            words = {"unknown": " and no ".join(unknown), "names": ", ".join(existing) or "none"}
            raise UnknownOption(sentence("no-label", near=near, **words))
        for name in unknown:
            self._created(LabelFacts(name))

    def _created(self, wanted: LabelFacts) -> Ensured[LabelFacts]:
        """Make a label; one of its name that somebody else made meanwhile counts, too."""
        make = partial(self._calls.create_label, wanted)
        return settled(make, partial(self._calls.label, wanted.name), already=(AlreadyExists,))

    def _remove(self, number: int, name: str) -> None:
        def find() -> tuple[str, ...]:
            return present((name,), self._calls.issue(number).labels)

        removed(name, partial(self._calls.remove_label, number), find, NotFound)


def _fits(wanted: LabelFacts, label: LabelFacts) -> bool:
    has_color = not wanted.color or label.color.lower() == wanted.color
    return has_color and (not wanted.description or label.description == wanted.description)
