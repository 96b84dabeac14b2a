"""PyGithub below its objects: how a request is sent, where it may be redirected, what it raises.

PyGithub's own pauses and retries are off, because its retries resend what creates. Imported at the
first REST request only: it costs a quarter of a second.
"""

from __future__ import annotations

import logging
from typing import Any

from github import BadAttributeException, GithubException
from github.Auth import Token
from github.Requester import Requester

from lifecycle.core.timing import Deadline
from lifecycle.github.client.transport import Patience

__all__ = ["PAGE", "BadAttributeException", "Follower", "GithubException", "follower"]

PAGE = 100
"""How many entries of a list one request brings: the most that GitHub gives."""

USER_AGENT = "agent-lifecycle"
MOST_REDIRECTS = 5
_SAFE = {"GET", "HEAD"}


class Follower(Requester):
    """A requester that keeps a read's parameters where the repository was renamed, and sends a write once.

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
        is_outermost = self._redirects == 0
        if is_outermost:
            self._query = query
        elif verb not in _SAFE:
            raise GithubException(301, {"message": "Moved Permanently"}, {"location": url})
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


# PyGithub says on stderr which redirects it follows; our output is our own sentences. Only this class
# is silenced, whoever else uses PyGithub in this process still hears it.
_silent = logging.getLogger(USER_AGENT)
_silent.disabled = True
Follower.injectLogger(_silent)


def follower(url: str, token: str, deadline: Deadline) -> Follower:
    """PyGithub without `Github` in front, which takes whole seconds only for a time-out."""
    patience: Any = Patience(deadline)  # annotated as int, handed on to requests as is
    return Follower(
        auth=Token(token),
        base_url=url,
        timeout=patience,
        user_agent=USER_AGENT,
        per_page=PAGE,
        verify=True,
        retry=None,
        pool_size=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
    )
