"""Settle writes whose outcome is unclear: look before saying that it is unknown.

The one place that knows how a create is made at most once: it is never sent again here. Where the
answer was lost, or says that there is such a thing already, the thing is looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Generic, TypeVar

from lifecycle.core.errors import LifecycleError, Rejected, Transient
from lifecycle.core.values.shapes import Ensured, IssueFacts, PullFacts
from lifecycle.github.failures.failure_case import sentence
from lifecycle.github.operations.inputs import same

T = TypeVar("T")
F = TypeVar("F", bound=IssueFacts | PullFacts)

LAGGING_SECONDS = 10.0
"""GitHub says that a thing exists, and no read shows it yet: how long to wait."""


def settled(
    write: Callable[[], T],
    look: Callable[[], T | None],
    *,
    already: tuple[type[Rejected], ...] = (),
    unless: tuple[type[Rejected], ...] = (),
) -> Ensured[T]:
    """Write, and return what is true then: the answer, or what a look shows where there is none.

    What GitHub says was there already is not this call's doing; what is found after a lost answer
    counts as its own.

    Args:
        write: sends it; Transient with `is_ambiguous` if it may have landed without an answer.
        look: what is there if it is as wanted, else None.
        already: the errors by which GitHub says that it is so already.
        unless: errors that stand unless the look shows that it is so all the same: somebody else was
            quicker, or it is gone that was to be removed.

    Raises:
        Transient: nobody knows; or GitHub says that it is there, and no read shows it yet.
        LifecycleError: everything else that `write` raises.
    """
    try:
        return Ensured(write(), changed=True)
    except LifecycleError as error:
        return settled_after(error, look, already=already, unless=unless)


def settled_after(
    error: LifecycleError,
    look: Callable[[], T | None],
    *,
    already: tuple[type[Rejected], ...] = (),
    unless: tuple[type[Rejected], ...] = (),
) -> Ensured[T]:
    """As `settled`, after a write that raised `error`: raised again unless a look shows what was wanted."""
    if isinstance(error, already):
        value = look()
        if value is not None:
            return Ensured(value, changed=False)
        raise Transient(error.sentence, retry_after=LAGGING_SECONDS) from None
    is_unclear = isinstance(error, unless) or (isinstance(error, Transient) and error.is_ambiguous)
    value = _looked(look) if is_unclear else None
    if value is None:
        raise error
    return Ensured(value, changed=True)


def removed(
    remove: Callable[[], object], is_gone: Callable[[], bool], unless: type[Rejected]
) -> Ensured[None]:
    """Take something away; what raises `unless` counts as done if it is gone all the same."""
    settled(lambda: remove() or True, lambda: is_gone() or None, unless=(unless,))
    return Ensured(None, changed=True)


def if_wanted(
    read: Callable[[], T | None], is_wanted: Callable[[T], bool]
) -> Callable[[], T | None]:
    """A look for `settled`: what is read, None unless it is there and as wanted."""

    def look() -> T | None:
        now = read()
        return now if now is not None and is_wanted(now) else None

    return look


def fitted(
    current: T, is_wanted: Callable[[T], bool], write: Callable[[], T], read: Callable[[], T | None]
) -> Ensured[T]:
    """Write unless the current state is as wanted; where the answer is lost, `read` shows what is true."""
    if is_wanted(current):
        return Ensured(current, changed=False)
    look = if_wanted(read, is_wanted)
    return settled(write, look)


def _looked(look: Callable[[], T | None]) -> T | None:
    """What a look shows; a failed look is no news: the write's own error says what is unknown."""
    try:
        return look()
    except LifecycleError:
        return None


class Edits(Generic[F]):
    """Edits of issues or of pull requests, each believed from what its answer shows.

    Args:
        read: shows the one of a number.
        edit: sets fields of the one of a number, and shows it.
        fix: what a person is to do where GitHub shows it as before.
    """

    def __init__(self, read: Callable[[int], F], edit: Callable[..., F], fix: str) -> None:
        self._read = read
        self._edit = edit
        self._fix = fix

    def text(self, current: F, title: str | None, body: str | None) -> Ensured[F]:
        """Edit it until it has this title and this body; None leaves one alone."""

        def left(now: F) -> dict[str, str]:
            wanted = {"title": (title, now.title), "body": (body, now.body)}
            return {
                name: text
                for name, (text, shown) in wanted.items()
                if text is not None and not same(text, shown)
            }

        return self.fields(current, {**left(current)}, lambda now: not left(now))

    def fields(
        self, current: F, changes: Mapping[str, object], is_wanted: Callable[[F], bool]
    ) -> Ensured[F]:
        """Edit it unless it is as wanted; Rejected if the answer shows it as before."""
        number = current.number
        edit, read = partial(self._edit, number, **changes), partial(self._read, number)
        ensured = fitted(current, is_wanted, edit, read)
        if not is_wanted(ensured.now):
            names = ", ".join(changes)
            raise Rejected(sentence("as-before", number=number, names=names, fix=self._fix))
        return ensured

    def settled(
        self,
        number: int,
        write: Callable[[], F],
        is_wanted: Callable[[F], bool],
        *unless: type[Rejected],
    ) -> Ensured[F]:
        """What is true after a write, which is looked at where its answer is lost or `unless` raised."""
        look = if_wanted(partial(self._read, number), is_wanted)
        return settled(write, look, unless=unless)
