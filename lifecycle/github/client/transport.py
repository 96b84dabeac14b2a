"""What both clients share below HTTP: patience, credentials, and what a lost connection means.

The one module that knows requests and urllib3, which PyGithub and gql both speak through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import requests
from requests.auth import AuthBase
from urllib3.exceptions import MaxRetryError, NewConnectionError
from urllib3.util import Timeout

from lifecycle.core.errors import Refused
from lifecycle.core.redact import swept
from lifecycle.core.timing import Deadline

ADDRESSES = frozenset({"head", "base", "ref"})
"""Fields that name a branch: another name would be another branch."""


def without_secrets(content: object, withheld: list[str]) -> object:
    """What a write sends, with `***` in the place of every secret that is known or looks like one.

    Args:
        content: the JSON of a request, or the variables of a mutation.
        withheld: gets the name of each field that held one, once.

    Raises:
        Refused: a branch is called so; nothing was sent.
    """
    found: list[str] = []
    clean = swept(content, found, is_request=True)
    if not ADDRESSES.isdisjoint(found):
        raise Refused(
            "The name of a branch holds what looks like a secret, so nothing was sent to GitHub; give "
            "the branch another name: git branch -m <name>"
        )
    withheld += [name for name in found if name not in withheld]
    return clean


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
    """

    def __init__(self, token: str, on_status: Callable[[int], None] | None = None) -> None:
        self._token = token
        self._on_status = on_status

    def __call__(self, request: Any) -> Any:
        """Add the Authorization header, and see that the answer's status is told."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        if self._on_status is not None:
            request.register_hook("response", self._tell)
        return request

    def _tell(self, response: Any, *_: Any, **__: Any) -> None:
        if self._on_status is not None:
            self._on_status(int(response.status_code))

    def __repr__(self) -> str:
        return "Bearer(***)"


class Silence(NamedTuple):
    """Why no answer came: words that fit after "GitHub", and whether the request may have landed."""

    words: str
    may_have_landed: bool
    is_final: bool = False


def _was_never_connected(error: BaseException) -> bool:
    causes = [arg for arg in error.args if isinstance(arg, MaxRetryError)]
    return any(isinstance(cause.reason, NewConnectionError) for cause in causes)


# The exceptions of requests, in an order in which a special one stands before what it is a kind of.
# Source: https://requests.readthedocs.io/en/latest/api/#exceptions
_SILENCES: tuple[tuple[Callable[[BaseException], bool], Silence], ...] = (
    (
        lambda error: isinstance(error, requests.exceptions.SSLError),
        Silence("could not be reached safely: its TLS certificate was not accepted", False),
    ),
    (
        lambda error: isinstance(error, requests.exceptions.ProxyError),
        Silence("could not be reached through the proxy", False),
    ),
    (
        lambda error: isinstance(error, requests.ConnectTimeout) or _was_never_connected(error),
        Silence("could not be reached", False),
    ),
    (lambda error: isinstance(error, requests.Timeout), Silence("did not answer in time", True)),
    (
        lambda error: isinstance(
            error, (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema)
        ),
        Silence("cannot be asked: the API URL is not a usable URL", False, is_final=True),
    ),
    (lambda _: True, Silence("broke off the connection", True)),
)


def silence(error: BaseException) -> Silence:
    """What an exception of requests says about a request: the first row that fits."""
    return next(found for fits, found in _SILENCES if fits(error))


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
            headers={"Accept": "application/vnd.github+json", "User-Agent": "agent-lifecycle"},
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


def body_of(response: requests.Response | None) -> Any:
    """The JSON of an answer, or its text if it is not JSON; None if there is no answer."""
    if response is None:
        return None
    try:
        return response.json()
    except requests.exceptions.JSONDecodeError:
        return response.text
