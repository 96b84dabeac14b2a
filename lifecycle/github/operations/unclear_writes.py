"""Settle writes whose outcome is unclear: look before saying that it is unknown.

Only this module knows how a create is made at most once: it is never sent again here. If the answer was
lost, or says that such a thing exists already, the thing is looked for.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Generic, TypeVar

from lifecycle.core.errors import LifecycleError, Rejected, Transient
from lifecycle.core.values.shapes import Ensured, IssueFacts, PullFacts
from lifecycle.github.failures import sentence
from lifecycle.github.operations.inputs import same

T = TypeVar("T")
F = TypeVar("F", bound=IssueFacts | PullFacts)
Look = Callable[[], T | None]
"""Shows the thing as it is now, None if it is not there, or is not as it should be."""
Refusals = tuple[type[Rejected], ...]

LAGGING_SECONDS = 10.0
"""Seconds to wait if GitHub says that a thing exists, but no read shows it yet."""


def settled(
    write: Callable[[], T], look: Look[T], *, already: Refusals = (), unless: Refusals = ()
) -> Ensured[T]:
    """Write, and return what is true then: the answer, or without one what a look shows.

    What GitHub says existed already does not count as this call's change; what is found after a lost
    answer does.

    Args:
        write: sends the write; raises Transient with `is_ambiguous` if it may have succeeded unanswered.
        look: returns the thing if it is as wanted, else None.
        already: the errors by which GitHub says that the wanted state exists already.
        unless: errors that are raised unless the look shows the wanted state all the same: somebody
            else was quicker, or the thing to remove is gone.

    Raises:
        Transient: the outcome is unknown; or GitHub says that the thing exists, but no read shows it yet.
        LifecycleError: everything else that `write` raises.
    """
    try:
        return Ensured(write(), changed=True)
    except LifecycleError as error:
        if isinstance(error, already):
            value = look()
            if value is not None:
                return Ensured(value, changed=False)
            raise Transient(error.sentence, retry_after=LAGGING_SECONDS) from None
        is_ambiguous, value = isinstance(error, Transient) and error.is_ambiguous, None
        if is_ambiguous or isinstance(error, unless):
            with suppress(LifecycleError):  # the write's own error says what is unknown
                value = look()
        if value is None:
            raise
        return Ensured(value, changed=True)


def removed(
    there: T | None, remove: Callable[[T], object], find: Look[object], unless: type[Rejected]
) -> Ensured[None]:
    """Remove what is there, if anything is.

    Args:
        there: what was found.
        remove: removes it.
        find: looks for it again.
        unless: an error that counts as success if the thing is gone all the same.
    """
    if not there:
        return Ensured(None, changed=False)
    settled(lambda: remove(there) or True, lambda: not find() or None, unless=(unless,))
    return Ensured(None, changed=True)


def if_wanted(read: Look[T], is_wanted: Callable[[T], bool]) -> Look[T]:
    """A look for `settled`: returns what `read` returns if it is as wanted, else None."""

    def look() -> T | None:
        now = read()
        return now if now is not None and is_wanted(now) else None

    return look


def fitted(
    current: T,
    is_wanted: Callable[[T], bool],
    write: Callable[[], T],
    read: Look[T],
    differs: Callable[[T], str] | None = None,
) -> Ensured[T]:
    """Write unless the current state is as wanted; if the answer is lost, `read` shows the outcome.

    Raises:
        Rejected: the answer shows another state than the wanted one; `differs` makes the sentence.
    """
    if is_wanted(current):
        return Ensured(current, changed=False)
    look = if_wanted(read, is_wanted)
    ensured = settled(write, look)
    if differs is not None and not is_wanted(ensured.now):
        raise Rejected(differs(ensured.now))
    return ensured


class Edits(Generic[F]):
    """Edits of issues or of pull requests, each verified by what its answer shows.

    Args:
        read: returns the issue or pull request with a number.
        edit: sets fields of the one with a number, and returns it.
        fix: what a person should do if GitHub still shows it unchanged.
    """

    def __init__(self, read: Callable[[int], F], edit: Callable[..., F], fix: str) -> None:
        self._read = read
        self._edit = edit
        self._fix = fix

    def text(self, current: F, title: str | None, body: str | None) -> Ensured[F]:
        """Edit it until it has this title and this body; None leaves one alone."""
        texts = {"title": title, "body": body}
        new = {name: text for name, text in texts.items() if text is not None}

        def left(now: F) -> dict[str, str]:
            return {name: text for name, text in new.items() if not same(text, getattr(now, name))}

        return self.fields(current, lambda now: not left(now), **left(current))

    def fields(self, current: F, is_wanted: Callable[[F], bool], **changes: object) -> Ensured[F]:
        """Edit it unless it is as wanted; Rejected if the answer shows it unchanged."""
        number = current.number
        edit, read = partial(self._edit, number, **changes), partial(self._read, number)
        words = {"number": number, "names": ", ".join(changes), "fix": self._fix}
        return fitted(current, is_wanted, edit, read, lambda _: sentence("as-before", **words))
