"""REST calls of one repository, by path: reads, lists page by page, writes.

Three kinds, which differ in how often they may be sent: `read` and `set` up to three times, `create`
once. What an answer means is for the modules above, one a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from lifecycle.core.errors import LifecycleError, NoPermission, Refused
from lifecycle.core.timing import reading
from lifecycle.core.values.model import Repository
from lifecycle.github.failures.failures import Answer, AskedRequest

if TYPE_CHECKING:
    from lifecycle.github.client.rest import RestClient

T = TypeVar("T")
Json = Mapping[str, Any]
Own = Callable[[Answer], LifecycleError | None]
PAGE = 100
_DOTS = frozenset({".", ".."})
_KEYS = (KeyError, TypeError, ValueError, AttributeError)


class Calls:
    """The calls of one repository.

    Args:
        rest: the client.
        repository: every path that does not begin with `/` lies below it.
        who: tells whose token it is; raises NoPermission if it is nobody's. REST's word unless given.
    """

    def __init__(
        self, rest: RestClient, repository: Repository, who: Callable[[], str] | None = None
    ) -> None:
        self.rest = rest
        self.repository = repository
        self._who = who or rest.viewer

    def read(self, path: str, subject: str, query: Json | None = None) -> Any:
        """GET, asked again while nobody answers.

        Raises:
            NotFound: GitHub shows no such thing.
        """
        asked = self._asked(subject, is_write=False)
        return reading(self.rest.deadline, lambda: self._sent(asked, "GET", path, query=query)[1])

    def pages(
        self, path: str, subject: str, query: Json | None = None, *, key: str = ""
    ) -> Iterator[Json]:
        """The entries of a list, a hundred a request, asked for as they are taken.

        The next page is the one that GitHub's `Link` names.
        Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api

        Args:
            path: below the repository, or from the root if it begins with `/`.
            subject: words for the sentence of an error.
            query: parameters of the address.
            key: where the list lies in the answer, "" if the answer is the list.
        """
        asked = self._asked(subject, is_write=False)
        more: dict[str, Any] | None = {"per_page": PAGE, **(query or {})}
        while more is not None:
            page = more
            ask = partial(self._sent, asked, "GET", path, query=page)
            headers, found = reading(self.rest.deadline, ask)
            entries = found.get(key) if key and isinstance(found, Mapping) else found
            if not isinstance(entries, list):
                raise self.rest.nonsense(asked)
            yield from entries
            more = following(headers, page)
            if more == page:  # a list that never ends is no list
                raise self.rest.nonsense(asked)

    def set(self, method: str, path: str, subject: str, body: Json | None = None, *,
            own: Own | None = None) -> Any:  # fmt: skip
        """A write that may be applied twice: asked again while nobody answers."""
        asked = self._asked(subject)
        return reading(
            self.rest.deadline, lambda: self._sent(asked, method, path, body=body, own=own)[1]
        )

    def create(self, method: str, path: str, subject: str, body: Json | None = None, *,
               own: Own | None = None) -> Any:  # fmt: skip
        """A write that must not be applied twice: sent once."""
        return self._sent(self._asked(subject), method, path, body=body, own=own)[1]

    def translated(self, subject: str, shape: Callable[[Json], T], found: Any, *,
                   is_write: bool = False) -> T:  # fmt: skip
        """A value from an answer; Transient if the answer has another shape than documented."""
        try:
            return shape(found)
        except _KEYS:
            raise self.rest.nonsense(self._asked(subject, is_write=is_write)) from None

    @cached_property
    def login(self) -> str:
        """Whose token it is, asked once; "" if GitHub does not say."""
        try:
            return self._who()
        except NoPermission:
            return ""

    def is_mine(self, entry: Json) -> bool:
        """True if the token's owner wrote this; if GitHub does not say who that is, if some app did.

        Anybody may put a marker into a text of their own: it must not be taken for ours.
        """
        user = entry.get("user") or {}
        if self.login:
            return str(user.get("login") or "").casefold() == self.login.casefold()
        return user.get("type") == "Bot"

    def _asked(self, subject: str, *, is_write: bool = True) -> AskedRequest:
        return AskedRequest(f"{subject} in {self.repository}", is_write=is_write)

    def _sent(
        self,
        asked: AskedRequest,
        method: str,
        path: str,
        *,
        query: Json | None = None,
        body: Json | None = None,
        own: Own | None = None,
    ) -> tuple[Json, Any]:
        where = path if path.startswith("/") else f"/repos/{self.repository}/{path}".rstrip("/")
        if not _DOTS.isdisjoint(where.split("/")):
            raise _astray(asked.subject)
        return self.rest.exchange(asked, method, where, query=query, body=body, own=own)


def part(text: str) -> str:
    """A name as one part of a path: a label or branch may hold anything.

    Raises:
        Refused: it is empty, `.` or `..`: no address names that, not even as `%2E`, which every client
            and server may read as a dot. Source: https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
    """
    if not text.strip() or text in _DOTS:
        raise _astray(f"the name {text!r}")
    return quote(text, safe="")


def _astray(subject: str) -> Refused:
    return Refused(
        f"No address can hold {subject}: empty or made of dots, it would lead to something else; nothing "
        "was done: give the whole name, or change it on GitHub's page."
    )


def following(headers: Json, page: dict[str, Any]) -> dict[str, Any] | None:
    """The parameters of the page that `Link` calls next, None on the last one."""
    for link in str(headers.get("link") or "").split(","):
        target, _, rel = link.strip().partition(";")
        if 'rel="next"' in rel:
            return {**page, **dict(parse_qsl(urlsplit(target.strip("<> ")).query))}
    return None
