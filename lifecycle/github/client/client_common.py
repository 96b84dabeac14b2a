"""Shared by the clients for REST and GraphQL: sending the token, and removing secrets from texts.

Also: reading GitHub's JSON without trusting its shape (a missing or odd value is empty), building paths of
the REST API, and finding the next page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from lifecycle.core import timing
from lifecycle.core.errors import NoPermission, NotFound, NoToken, Refused
from lifecycle.core.light_dataclass import dataclass, field, from_json, replace
from lifecycle.core.redact import swept
from lifecycle.github.failures import AskedRequest, Failures, sentence
from lifecycle.settings import config
from lifecycle.storage.state_file import MemoryCache

if TYPE_CHECKING:
    from lifecycle.core.ports import Cache, Clock
    from lifecycle.github.client.plain_line import PlainLine, Sent


ADDRESSES = frozenset({"head", "base", "ref"})
"""Fields with a branch's name, which must not be changed: it would be another branch."""


def without_secrets(content: object, withheld: list[str]) -> object:
    """The content of a write, with `***` in place of every secret that is known or looks like one.

    Args:
        content: the JSON of a request, or the variables of a mutation.
        withheld: gets the name of each field that contained one, once.

    Raises:
        Refused: a branch's name contains one; nothing was sent.
    """
    secrets: list[str] = []
    clean = swept(content, secrets, is_request=True)
    if not ADDRESSES.isdisjoint(secrets):
        raise Refused(sentence("secret-branch"))
    withheld += [name for name in secrets if name not in withheld]
    return clean


T = TypeVar("T")

NONSENSE = (AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors from an answer with an unexpected shape, raised by us or by PyGithub."""


RENEW_SECONDS = 300.0
"""Seconds before its end at which a token is replaced, so that no work is begun with it."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its value is never part of a text.

    Attributes:
        value: the secret.
        source: its origin: a variable's name, `token_command`, a description of an App, or `gh`.
        expires_at: its end by this machine's clock, None if that is unknown before its use.
        renew: forgets the kept token, so that the next one is new; None except for Apps.
        permissions: an App's, by GitHub's names; None if GitHub does not say.
        check: raises if the next one cannot be made, as with a wrong key; None except for Apps.
    """

    value: str = field(repr=False)
    source: str
    expires_at: float | None = None
    renew: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    permissions: Mapping[str, str] | None = None
    check: Callable[[], None] | None = field(default=None, repr=False, compare=False)


class Keeper:
    """Keeps the token of a long-lived object: found at first use, and again when necessary.

    Args:
        find: finds the token, as `find_token.find` does.
        clock: time.
        token: one that was found already.
    """

    def __init__(self, find: Callable[[], Token], clock: Clock, token: Token | None = None) -> None:
        self._find = find
        self._clock = clock
        self._token = token

    def current(self) -> Token:
        """The currently valid token; raises as `find` does, and NoToken if an App may not make one."""
        ends = self._token.expires_at if self._token is not None else None
        is_ending = ends is not None and self._clock.now() >= ends - RENEW_SECONDS
        if self._token is None or is_ending:
            try:
                self._token = self._find()
            except (NotFound, NoPermission) as error:  # of the App, not of what the token is for
                raise NoToken(error.sentence) from None
        return self._token

    def refused(self) -> None:
        """Forget the token, here and where it is kept, since GitHub does not accept it."""
        token, self._token = self._token, None
        if token is not None and token.renew is not None:
            token.renew()


@dataclass(eq=False)
class Sending:
    """How the clients of one token's owner send.

    Attributes:
        tokens: gives the valid token for each request; a different one begins a new connection.
        deadline: the limit for every request and every wait between two of them.
        cache: keeps ids, and for a day what a server was found not to know; by default until the process
            ends.
        withheld: gets the name of each field from which a secret was removed before sending.
        by_library: the classes of `library_lines` to use instead of the smallest client, which is imported
            faster.
    """

    tokens: Keeper
    deadline: timing.Deadline
    cache: Cache = field(default_factory=MemoryCache)
    withheld: list[str] = field(default_factory=list)
    by_library: Collection[str] = ()


class TokenClient:
    """A client that sends one token, and a new one as soon as there is another.

    Args:
        url: the API's address.
        sending: how it sends. The token is never shown, logged or part of an error.

    Attributes:
        requests: how many were sent; those for redirects are not counted.
        of_library: the class of `library_lines` to use if a library is to send.
    """

    of_library: str

    def __init__(self, url: str, sending: Sending) -> None:
        self.url, self.deadline = url, sending.deadline
        token, gh = sending.tokens.current(), config.gh_option(url)
        self.failures = Failures(token.value, token.source, self.deadline.clock, gh)
        self.requests = 0
        self._headers: Mapping[str, str] = {}
        self._sending = sending
        self._line: PlainLine | None = None
        self._process = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    @property
    def server_time(self) -> float:
        """GitHub's clock at its last answer; 0 without an answer, or if it does not say."""
        return timing.parse_time(self._headers.get("date")) or 0.0

    def shaped(self, asked: AskedRequest, shape: Callable[..., T], *content: Any) -> T:
        """The value of an answer; Transient if it has another shape than documented."""
        try:
            return shape(*content)
        except NONSENSE:
            raise self.failures.of_nonsense(asked) from None

    def _connected(self) -> PlainLine:
        """The line with the currently valid token; a new one if it was closed since.

        It is a library's line if that was requested, or for a proxy that only the libraries support. A
        forked process gets its own: on its parent's it would read the answers to others.
        """
        if self._line is None or self._process != os.getpid():
            from lifecycle.github.client import plain_line

            kind: Any = plain_line.PlainLine
            by_library = self.of_library in self._sending.by_library
            if by_library or not plain_line.speaks_to_proxy_of(self.url):
                from lifecycle.github.client import library_lines

                kind = getattr(library_lines, self.of_library)
            self._line = kind(self.url, self.failures.token, self.deadline)
            self._process = os.getpid()
        return self._line

    def _answered(self, asked: AskedRequest, send: Callable[[PlainLine], Sent]) -> Sent:
        """The answer to one request, sent once with the currently valid token.

        Raises:
            Transient: no time is left, and nothing was sent; or no answer came.
            NoToken: there is no valid token any more, and nothing was sent.
            Rejected: the address, a proxy or the certificates cannot be used.
        """
        from lifecycle.github.client.plain_line import NoAnswerError

        self.deadline.remaining()
        token = self._sending.tokens.current()
        if token.value != self.failures.token:
            self.close()
            self.failures = replace(self.failures, token=token.value, token_source=token.source)
        self.requests += 1
        try:
            answer = send(self._connected())
        except NoAnswerError as error:
            raise self.failures.of_silence(error.silence, asked) from None
        self._headers = answer.headers
        if answer.status == 401:
            self._sending.tokens.refused()
        return answer


Json = Mapping[str, Any]


def nodes(node: Json, connection: str) -> list[Json]:
    """The entries of a GraphQL connection that are not null."""
    entries = part(node, connection).get("nodes")
    return [entry for entry in entries if entry] if entries else []


def part(node: Json, path: str) -> Json:
    """The object under a key, or under several that a dot joins; {} if there is none."""
    for key in path.split("."):
        value = node.get(key)
        node = value if isinstance(value, dict) else {}
    return node


def text(node: Json, path: str) -> str:
    """The text under a key, or under several that a dot joins; empty if there is none."""
    if "." in path:  # seldom: of each issue of a sweep, some thirty texts are read
        outer, _, path = path.rpartition(".")
        node = part(node, outer)
    value = node.get(path)
    return value if isinstance(value, str) else ""


def texts(node: Json, **paths: str) -> dict[str, Any]:
    """Several texts, each by the name of its field here."""
    return {name: text(node, path) for name, path in paths.items()}


def needed(node: Json, **keys: str) -> dict[str, Any]:
    """As `texts`, for those that GitHub always gives; KeyError."""
    return {name: str(node[key]) for name, key in keys.items()}


def times(node: Json, **keys: str) -> dict[str, Any]:
    """As `texts`, for moments: seconds since the epoch, None if there is none."""
    return {name: timing.parse_time(node.get(key)) for name, key in keys.items()}


def read_as(kind: type[T], fields: Json) -> T:
    """A dataclass from its fields by their names, among others; what is null has its default.

    Raises:
        ValueError: a field is missing, or of another type.
    """
    shown = {name: value for name, value in fields.items() if value is not None}
    read: T | None = from_json(kind, shown, is_whole=False)
    if read is None:
        raise ValueError(f"another shape than that of {kind.__name__}")
    return read


def given(**fields: str) -> dict[str, str]:
    """The fields that are not empty, for a query or a body."""
    return {name: value for name, value in fields.items() if value}


def number(value: object) -> int | None:
    """A number from GitHub, None if the value is not a number."""
    return value if isinstance(value, int) else None


def word(value: object) -> str:
    """A word of an enumeration in GraphQL's spelling; REST writes them in lower case."""
    return value.upper() if isinstance(value, str) else ""


DOTS = frozenset({".", ".."})
"""Parts of a path that lead elsewhere."""


def path_part(text: str) -> str:
    """Quote a name as one part of a path: a label or branch may contain any character.

    Raises:
        Refused: it is empty, `.` or `..`: no address can contain that, not even as `%2E`, which every
            client and server may read as a dot. Source:
            https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2
    """
    if not text.strip() or text in DOTS:
        raise Refused(sentence("astray", subject=f"the name {text!r}"))
    return quote(text, safe="")
