"""Operations on labels: the repository's, and those of an issue or pull request. Their case is ignored."""

from __future__ import annotations

from functools import partial

from lifecycle.core.errors import AlreadyExists, NotFound, UnknownOption, did_you_mean
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.shapes import Ensured, IssueFacts, LabelFacts
from lifecycle.github.client.client_common import path_part
from lifecycle.github.failures.failure_case import sentence
from lifecycle.github.operations.inputs import Guarded, Names, change_of, missing, present
from lifecycle.github.operations.unclear_writes import fitted, removed, settled
from lifecycle.github.pulls.issue_calls import IssueCalls


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
