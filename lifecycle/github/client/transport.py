"""What lies below HTTP for both clients: time-outs, credentials, redirects, kept answers, lost connections.

The one module that knows requests and urllib3, which PyGithub and gql both speak through.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import requests
from requests.auth import AuthBase
from urllib3.exceptions import MaxRetryError, NewConnectionError
from urllib3.util import Timeout

from lifecycle.core.timing import Deadline

USER_AGENT = "agent-lifecycle"
MOST_REDIRECTS = 5
_SAFE = {"GET", "HEAD"}

RequestException = requests.RequestException
"""Everything that requests raises on purpose."""


class Patience(Timeout):
    """A time-out that is read anew from the deadline for every request sent with it.

    urllib3 clones the time-out that it is given at the start of each request, and this clone is what
    is left at that moment; so one object serves a persistent session and every page of a list.
    Source: https://urllib3.readthedocs.io/en/stable/reference/urllib3.util.html#urllib3.util.Timeout
    """

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(connect=None, read=None)
        self.deadline = deadline

    def clone(self) -> Timeout:
        """The time-out of one request, in seconds; raises Transient if nothing is left."""
        left = self.deadline.remaining()
        return Timeout(connect=left, read=left)


class Bearer(AuthBase):
    """Puts the token on a request.

    As an `auth`, not as a header: without one, requests would let a `.netrc` entry for the host
    replace the Authorization header.
    Source: https://requests.readthedocs.io/en/latest/user/authentication/#netrc-authentication

    Attributes:
        status: of the last answer, 0 before it.
    """

    def __init__(self, token: str) -> None:
        self._token = token
        self.status = 0

    def __call__(self, request: Any) -> Any:
        """Add the Authorization header, and see that the answer's status is kept."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        request.register_hook("response", self._keep)
        return request

    def _keep(self, response: Any, *_: Any, **__: Any) -> None:
        self.status = int(response.status_code)

    def __repr__(self) -> str:
        return "Bearer(***)"


class Following:
    """Goes before PyGithub's `Requester`: a redirected read keeps its parameters, a write is sent once.

    GitHub answers 301 with the address that the repository has by its id. PyGithub follows it without
    the part behind the question mark, so that a list would come unfiltered; and it sends a write there
    too, to a repository that nobody has named. There is no public place to mend that: this is the one
    method of PyGithub that sends, under the name by which it calls it.
    Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
    """

    _query = ""
    _redirects = 0

    def _Requester__requestRaw(  # noqa: N802 -- PyGithub's name
        self, cnx: Any, verb: str, url: str, *rest: Any, **more: Any
    ) -> tuple[int, dict[str, Any], Any]:
        path, _, query = url.partition("?")
        before = (self._query, self._redirects)
        if self._redirects == 0:
            self._query = query
        elif verb not in _SAFE:
            return 301, {"location": url}, '{"message": "Moved Permanently"}'
        elif self._redirects > MOST_REDIRECTS:
            raise RuntimeError(f"redirected more than {MOST_REDIRECTS} times")
        self._redirects += 1
        # Another host (the log of a job) is redirected to with all that it needs.
        wanted = query or (self._query if cnx is None else "")
        send: Any = super()._Requester__requestRaw  # type: ignore[misc]  # private, see above
        try:
            answer: tuple[int, dict[str, Any], Any] = send(
                cnx, verb, f"{path}?{wanted}" if wanted else path, *rest, **more
            )
        finally:
            self._query, self._redirects = before
        return answer


class Silence(NamedTuple):
    """Why no answer came: words that fit after "GitHub", and whether the request may have landed."""

    words: str
    may_have_landed: bool
    is_final: bool = False


def _was_never_connected(error: BaseException) -> bool:
    causes = [arg for arg in error.args if isinstance(arg, MaxRetryError)]
    return any(isinstance(cause.reason, NewConnectionError) for cause in causes)


_UNREACHED = Silence("could not be reached", False)

# The exceptions of requests, in an order in which a special one stands before what it is a kind of.
# Source: https://requests.readthedocs.io/en/latest/api/#exceptions
_SILENCES: tuple[tuple[tuple[type[Exception], ...], Silence], ...] = (
    (
        (requests.exceptions.SSLError,),
        Silence("could not be reached safely: its TLS certificate was not accepted", False),
    ),
    ((requests.exceptions.ProxyError,), Silence("could not be reached through the proxy", False)),
    ((requests.ConnectTimeout,), _UNREACHED),
    ((requests.Timeout,), Silence("did not answer in time", True)),
    (
        (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema),
        Silence("cannot be asked: the API URL is not a usable URL", False, is_final=True),
    ),
)


def silence(error: BaseException) -> Silence:
    """What an exception of requests says about a request: the first row that fits."""
    for kinds, found in _SILENCES:
        if isinstance(error, kinds):
            return found
    return _UNREACHED if _was_never_connected(error) else Silence("broke off the connection", True)


class Sent(NamedTuple):
    """An answer: its status, its headers with names in lower case, its JSON or text."""

    status: int
    headers: dict[str, str]
    body: Any


def send(method: str, url: str, token: str, deadline: Deadline) -> Sent:
    """One request on a connection of its own; no redirect is followed.

    Args:
        method: the verb.
        url: the whole address.
        token: goes into the Authorization header.
        deadline: bounds the request.

    Raises:
        RequestException: no answer came; `silence` says what that means.
        Transient: no time is left; nothing was sent.
    """
    patience: Any = Patience(deadline)  # annotated as seconds, handed on to urllib3 as is
    try:
        answer = requests.request(
            method,
            url,
            auth=Bearer(token),
            headers={"Accept": "application/vnd.github+json", "User-Agent": USER_AGENT},
            timeout=patience,
            allow_redirects=False,
        )
    except ValueError as error:
        if isinstance(error, RequestException):
            raise
        # requests reads where it is redirected to even if it does not go there.
        raise requests.exceptions.ContentDecodingError from None
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Sent(answer.status_code, headers, body_of(answer))


class _Nobody(AuthBase):
    """Puts nothing on a request: without an `auth` requests would take one from a `.netrc`."""

    def __call__(self, request: Any) -> Any:
        return request


@contextmanager
def streamed(url: str, deadline: Deadline) -> Iterator[tuple[int, Iterator[bytes]]]:
    """What lies at an address that needs no token, part by part; no redirect is followed.

    Args:
        url: the whole address; whoever has it may read what lies there, so it is shown to nobody.
        deadline: bounds the wait for each part, and the whole.

    Yields:
        the status, and the parts of the content as they come; nothing is kept of them.

    Raises:
        RequestException: no answer came, or it broke off.
        Transient: no time is left.
    """
    patience: Any = Patience(deadline)  # annotated as seconds, handed on to urllib3 as is
    headers = {"User-Agent": USER_AGENT}
    with requests.get(
        url, auth=_Nobody(), headers=headers, timeout=patience, allow_redirects=False, stream=True
    ) as answer:

        def parts() -> Iterator[bytes]:
            for part in answer.iter_content(_PART):
                deadline.remaining()
                yield part

        yield answer.status_code, parts()


_PART = 65_536


def body_of(response: requests.Response | None) -> Any:
    """The JSON of an answer, or its text if it is not JSON; None if there is no answer."""
    if response is None:
        return None
    try:
        return response.json()
    except requests.exceptions.JSONDecodeError:
        return response.text


MOST_ANSWERS = 64
MOST_CHARACTERS = 4_000_000
"""What is kept at the most; a page of a hundred check runs has about 300,000 characters."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One answer: its ETag, its headers (names in lower case) and its body."""

    etag: str
    headers: Mapping[str, Any]
    text: str


class Etags:
    """The last answers by address, so that GitHub need only say that one is unchanged.

    A read with the ETag of the last answer is answered 304 while nothing changed, which does not count
    against the hour's requests. An ETag belongs to one token, and so does a client: nothing is shared
    and nothing is written to disk. The least lately used is forgotten first.
    Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()
        self._size = 0

    def get(self, address: str) -> KeptAnswer | None:
        """The last answer to this address, or None."""
        if address in self._kept:
            self._kept.move_to_end(address)
        return self._kept.get(address)

    def put(self, address: str, headers: Mapping[str, Any], text: str) -> None:
        """Keep an answer, if it has an ETag and is not too long."""
        self._drop(address)
        etag = str(headers.get("etag") or "")
        if not etag or len(text) > MOST_CHARACTERS:
            return
        self._kept[address] = KeptAnswer(etag, dict(headers), text)
        self._size += len(text)
        while len(self._kept) > MOST_ANSWERS or self._size > MOST_CHARACTERS:
            self._drop(next(iter(self._kept)))

    def _drop(self, address: str) -> None:
        known = self._kept.pop(address, None)
        self._size -= len(known.text) if known else 0
