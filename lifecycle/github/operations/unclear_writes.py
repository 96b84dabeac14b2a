"""Settle writes whose outcome is unclear: look before saying that it is unknown.

The one place that knows how a create is made at most once: it is never sent again here. Where the
answer was lost, or says that there is such a thing already, the thing is looked for.

What a program hands to the operations loses its secrets before anything is compared or sent: `redacts`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from lifecycle.core.errors import LifecycleError, Refused, Rejected, Transient
from lifecycle.core.light_dataclass import fields, is_dataclass, replace
from lifecycle.core.redact import swept
from lifecycle.core.values.shapes import Ensured, IssueFacts, PullFacts

T = TypeVar("T")
C = TypeVar("C")
F = TypeVar("F", bound=IssueFacts | PullFacts)

Names: TypeAlias = tuple[str, ...] | list[str] | set[str] | frozenset[str]
"""Labels, logins or slugs. A `str` is none: Python would read it as a list of its letters."""

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
) -> None:
    """Take something away; what raises `unless` counts as done if it is gone all the same."""

    def write() -> bool:
        remove()
        return True

    settled(write, lambda: is_gone() or None, unless=(unless,))


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


def whole_sha(sha: str) -> str:
    """A commit's name as GitHub writes it: all 40 digits, in lower case.

    Raises:
        Refused: it is something else. GitHub takes a branch or a short one at some addresses only, and
            what is compared with it later would never be the same.
    """
    if not re.fullmatch("[0-9a-fA-F]{40}", sha):
        raise Refused(
            f"{sha!r} is no commit's whole name, so nothing was done; give all 40 digits of it."
        )
    return sha.lower()


def same(text: str, other: str) -> bool:
    """True if two texts are the same to GitHub, which may keep other line ends and outer spaces."""
    return _plain(text) == _plain(other)


def _plain(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


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
            raise Rejected(
                f"GitHub accepted the change of #{number} ({', '.join(changes)}) and shows it as before, "
                f"so it is not as it should be; {self._fix}."
            )
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


def names_of(parameter: str, given: Names) -> tuple[str, ...]:
    """The names that a caller gave, as a tuple.

    Args:
        parameter: what the caller knows it as, for the sentence.
        given: the names.

    Raises:
        Refused: it is one text and no list of texts, or has something else than texts in it.
    """
    if not isinstance(given, tuple | list | set | frozenset):
        raise Refused(
            f"{parameter}={given!r} is no list of names, so nothing was done; write "
            f"{parameter}=[{given!r}]."
        )
    for name in given:
        if not isinstance(name, str):
            raise Refused(
                f"{parameter}= has {name!r}, which is no name, so nothing was done; give texts only."
            )
    return tuple(sorted(given)) if isinstance(given, set | frozenset) else tuple(given)


Change: TypeAlias = Callable[[tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]]


def change_of(add: Names, remove: Names, only: Names | None) -> Change:
    """What has to be added to the names that are there, and what has to be taken from them.

    Args:
        add: names that have to be there.
        remove: names that must not be there.
        only: all that have to be there; instead of the two.

    Raises:
        Refused: a text is given where a list of them belongs, or a name is to be there and not there:
            each call would change it again.
    """
    added, removed = names_of("add", add), names_of("remove", remove)
    if only is not None:
        exactly = names_of("only", only)
        return lambda there: (missing(exactly, there), missing(there, exactly))
    if both := present(removed, added):
        raise Refused(
            f"{', '.join(both)} cannot be added and removed at once, so nothing was done; name each in "
            "one of the two."
        )
    return lambda there: (missing(added, there), present(removed, there))


def folded(names: tuple[str, ...]) -> set[str]:
    """Names that GitHub compares without regard to case: labels, logins."""
    return {name.casefold() for name in names}


def missing(wanted: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `wanted` that are not `there`, each once, in their order."""
    folded_names = folded(there)
    by_case: dict[str, str] = {}
    for name in wanted:
        if name.casefold() not in folded_names:
            by_case.setdefault(name.casefold(), name)
    return tuple(by_case.values())


def present(wanted: tuple[str, ...], there: tuple[str, ...]) -> tuple[str, ...]:
    """Those that are `there` and among `wanted`, as they are spelt there."""
    folded_names = folded(wanted)
    return tuple(name for name in there if name.casefold() in folded_names)


def redacts(operations: type[C]) -> type[C]:
    """Have every `ensure_` of a class take secrets out of the texts that it is given.

    The transport does that for every request, too. Done here as well, a text that GitHub has without its
    secret counts as the wanted one, and is not written again at each call. What was taken out is
    named in the answer's `withheld`.
    """
    for name, method in vars(operations).items():
        if name.startswith("ensure_"):
            setattr(operations, name, _redacting(method))
    return operations


def _redacting(method: Callable[..., Any]) -> Callable[..., Any]:
    import inspect  # imported here: whoever only settles needs neither

    from lifecycle.github.client.client_common import ADDRESSES

    signature = inspect.signature(method)

    @functools.wraps(method)
    def ensure(*positional: Any, **named: Any) -> Any:
        call = signature.bind(*positional, **named)
        withheld: list[str] = []
        for name, value in list(call.arguments.items())[1:]:
            if name not in ADDRESSES:  # a secret in a branch's name is refused where it is sent
                call.arguments[name] = _clean(value, withheld, name)
        done = method(*call.args, **call.kwargs)
        return replace(done, withheld=tuple(withheld)) if isinstance(done, Ensured) else done

    return ensure


def _clean(value: Any, withheld: list[str], name: str) -> Any:
    """A text, or several, or values that hold some, without secrets; all else as it is."""
    if isinstance(value, str):
        return swept(value, withheld, name, is_request=True)
    if isinstance(value, tuple | list):
        return tuple(_clean(entry, withheld, name) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{key: _clean(entry, withheld, key) for key, entry in kept.items()})
    return value
