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

from lifecycle.deadline import Deadline

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


def silence(error: BaseException) -> Silence:
    """What an exception of requests says about a request."""
    if isinstance(error, requests.exceptions.SSLError):
        return Silence("could not be reached safely: its TLS certificate was not accepted", False)
    if isinstance(error, requests.exceptions.ProxyError):
        return Silence("could not be reached through the proxy", False)
    if isinstance(error, requests.ConnectTimeout) or _was_never_connected(error):
        return Silence("could not be reached", False)
    if isinstance(error, requests.Timeout):
        return Silence("did not answer in time", True)
    if isinstance(error, (requests.exceptions.InvalidURL, requests.exceptions.MissingSchema)):
        return Silence("cannot be asked: the API URL is not a usable URL", False, is_final=True)
    return Silence("broke off the connection", True)


def _was_never_connected(error: BaseException) -> bool:
    causes = [arg for arg in error.args if isinstance(arg, MaxRetryError)]
    return any(isinstance(cause.reason, NewConnectionError) for cause in causes)


def body_of(response: requests.Response | None) -> Any:
    """The JSON of an answer, or its text if it is not JSON; None if there is no answer."""
    if response is None:
        return None
    try:
        return response.json()
    except requests.exceptions.JSONDecodeError:
        return response.text
