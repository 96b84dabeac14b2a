"""Send through the libraries' own clients: PyGithub for REST, gql for GraphQL, both through requests.

Programs send through these, as do sweeps for REST; hooks and commands use `plain_line.py`, which starts
faster. Both kinds return the same values, so that the meaning of answers and silences is in one place. Only
this module knows PyGithub, gql, requests and urllib3.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any

import requests
from requests.auth import AuthBase
from urllib3.exceptions import MaxRetryError, NewConnectionError
from urllib3.util import Timeout

from lifecycle.core.errors import LifecycleError
from lifecycle.core.timing import Deadline
from lifecycle.github.client import plain_line
from lifecycle.github.client.early_request import USER_AGENT


class Patience(Timeout):
    """A time-out that is computed from the deadline for each request.

    urllib3 clones its time-out at the start of each request, and the clone has the time that is left at
    that moment; so one object serves a persistent session and every page of a list. Source:
    https://urllib3.readthedocs.io/en/stable/reference/urllib3.util.html#urllib3.util.Timeout
    """

    def __init__(self, deadline: Deadline) -> None:
        super().__init__(connect=None, read=None)
        self.deadline = deadline

    def clone(self) -> Timeout:
        """The time-out of one request, in seconds; raises Transient if nothing is left."""
        seconds = self.deadline.remaining()
        return Timeout(connect=seconds, read=seconds)


class Bearer(AuthBase):
    """Puts the token on a request.

    As an `auth`, not as a header: without one, requests would let a `.netrc` entry for the host
    replace the Authorization header.
    Source: https://requests.readthedocs.io/en/latest/user/authentication/#netrc-authentication

    Attributes:
        answer: the last answer, as requests returns it.
    """

    answer: Any

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: Any) -> Any:
        """Add the Authorization header to a request, and have its answer kept."""
        request.headers.update(plain_line.bearer(self._token))
        request.register_hook("response", self._keep)
        return request

    def _keep(self, response: Any, *_: Any, **__: Any) -> None:
        self.answer = response

    def __repr__(self) -> str:
        return "Bearer(***)"


class GqlLine:
    """GraphQL through gql, over one connection until it is closed.

    Args:
        url: GraphQL's address.
        token: the token to send.
        deadline: the limit for every request.
    """

    def __init__(self, url: str, token: str, deadline: Deadline) -> None:
        from gql.transport.requests import RequestsHTTPTransport

        # Its connect and close have no annotations, and its time-out, which it hands on to requests, is
        # annotated as int. A redirected POST would become a GET.
        transport: Any = RequestsHTTPTransport
        how = {"timeout": Patience(deadline), "retries": 0, "allow_redirects": False}
        self._bearer = Bearer(token)
        self._transport = transport(url, auth=self._bearer, **how)
        self._transport.connect()

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def ask(self, payload: Mapping[str, Any]) -> plain_line.Sent:
        """Send one request, once; raises NoAnswerError, and Transient if no time is left."""
        from gql.transport import exceptions

        try:
            self._transport.execute(_asking()(payload))
        except exceptions.TransportConnectionFailed as error:
            if isinstance(error.__cause__, LifecycleError):
                # The deadline's own, raised while the request was being prepared.
                raise error.__cause__ from None
            raise plain_line.NoAnswerError(silence(error.__cause__ or error)) from None
        except (exceptions.TransportError, AttributeError, TypeError):
            pass  # gql expects another shape; the answer is read as on every line
        answer = self._bearer.answer
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return plain_line.Sent(answer.status_code, headers, plain_line.content_of(answer.text))


@cache
def _asking() -> Any:
    """The class of a gql request with a finished text: gql's own parses and prints one each time."""
    from gql import GraphQLRequest
    from graphql import DocumentNode

    class ReadyRequest(GraphQLRequest):
        def __init__(self, payload: Mapping[str, Any]) -> None:
            super().__init__(DocumentNode(definitions=()), operation_name=payload["operationName"])
            self._payload = dict(payload)

        @property
        def payload(self) -> dict[str, Any]:
            """The JSON to send."""
            return self._payload

    return ReadyRequest


_LEFT_OUT = ("retry", "pool_size", "seconds_between_requests", "seconds_between_writes")
"""What PyGithub does not do here."""


class PyGithubLine:
    """REST through PyGithub, without its pauses and its retries, which repeat creating requests.

    Args:
        url, token, deadline: as for GraphQL.
    """

    def __init__(self, url: str, token: str, deadline: Deadline) -> None:
        from github.Auth import AppAuthToken
        from github.Requester import Requester

        class Follower(Following, Requester):
            """PyGithub's `Requester`, which follows no redirects here."""

        # PyGithub prints redirects that it follows on stderr; our output has only our own sentences. Only
        # this class is silenced; other users of PyGithub in this process still see its output.
        silent = logging.getLogger(USER_AGENT)
        silent.disabled = True
        Follower.injectLogger(silent)
        patience: Any = Patience(deadline)  # annotated as int, handed on to requests as is
        self._requester = Follower(
            auth=AppAuthToken(token),  # the one that says Bearer, as an App's signature needs it
            base_url=url,
            timeout=patience,
            user_agent=USER_AGENT,
            per_page=100,
            verify=True,
            lazy=True,
            **dict.fromkeys(_LEFT_OUT),
        )

    def close(self) -> None:
        """Close the connection."""
        self._requester.close()

    def send(
        self, method: str, target: str, headers: Mapping[str, str], content: object
    ) -> plain_line.Sent:
        """Send one request, once; the answer is text. Raises NoAnswerError, and Transient without time."""
        try:
            answer = self._requester.requestJson(method, target, None, dict(headers), content)
        except OSError as error:  # those of requests are of its kind
            raise plain_line.NoAnswerError(silence(error)) from None
        return plain_line.Sent(*answer)


class Following:
    """A mixin before PyGithub's `Requester`: a redirect is returned as the answer, not followed.

    PyGithub follows without the query, so a list would be unfiltered; it also sends a write to the new
    address, to a repository that nobody has named. It has no public way to change that: this overrides its
    one method that sends, under its private name. PyGithub's own check still runs: a redirect to another
    host or protocol is a RuntimeError.
    """

    _asking = threading.local()  # two threads, each with a request, are no redirect

    def _Requester__requestRaw(  # noqa: N802 -- PyGithub's name
        self, cnx: Any, verb: str, url: str, *rest: Any, **more: Any
    ) -> tuple[int, dict[str, Any], Any]:
        if getattr(self._asking, "now", False):
            return 301, {"location": url}, '{"message": "Moved Permanently"}'
        self._asking.now = True
        send: Any = super()._Requester__requestRaw  # type: ignore[misc]  # private, see above
        try:
            answer: tuple[int, dict[str, Any], Any] = send(cnx, verb, url, *rest, **more)
        finally:
            self._asking.now = False
        return answer


# A SOCKS proxy needs a kind of connection that requests does not know; the API's is http or https.
_BAD_PROXY = (requests.exceptions.InvalidProxyURL, requests.exceptions.InvalidSchema)

# The exceptions of requests, ordered so that a special one comes before its base class.
# Source: https://requests.readthedocs.io/en/latest/api/#exceptions
_SILENCES: tuple[tuple[tuple[type[Exception], ...], plain_line.Silence], ...] = (
    ((requests.exceptions.SSLError,), plain_line.UNSAFE),
    ((requests.exceptions.ProxyError,), plain_line.UNPROXIED),
    ((requests.ConnectTimeout,), plain_line.UNREACHED),
    (_BAD_PROXY, plain_line.PROXY_UNUSABLE),
    ((requests.Timeout,), plain_line.TOO_LATE),
    ((requests.exceptions.InvalidURL, requests.exceptions.MissingSchema), plain_line.BAD_URL),
)


def silence(error: BaseException) -> plain_line.Silence:
    """Why no answer came, from an exception of requests: the first matching row."""
    if not isinstance(error, requests.RequestException) and isinstance(error, OSError):
        # requests looks for the bundle itself, before it sends
        return plain_line.UNREAD_CERTIFICATES
    for kinds, reason in _SILENCES:
        if isinstance(error, kinds):
            return reason
    reasons = [arg.reason for arg in error.args if isinstance(arg, MaxRetryError)]
    is_unreached = any(isinstance(reason, NewConnectionError) for reason in reasons)
    return plain_line.UNREACHED if is_unreached else plain_line.BROKEN_OFF
