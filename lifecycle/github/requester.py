"""PyGithub below its objects: how a request is sent, where it may be redirected, what it raises.

PyGithub's own pauses and retries are off, because its retries resend what creates. Imported at the
first REST request only: it costs a quarter of a second.
"""

from __future__ import annotations

from typing import Any

from github import BadAttributeException, GithubException
from github.Auth import Token
from github.Requester import Requester

from lifecycle.deadline import Deadline
from lifecycle.github.wire import Patience

__all__ = ["PAGE", "BadAttributeException", "Follower", "GithubException", "follower"]

PAGE = 100
"""How many entries of a list one request brings: the most that GitHub gives."""

USER_AGENT = "agent-lifecycle"
MOST_REDIRECTS = 5


class Follower(Requester):
    """A requester that keeps a read's parameters where the repository was renamed.

    GitHub answers 301 with the address that the repository has by its id. PyGithub follows it without
    the part behind the question mark, so that a list would come unfiltered. There is no public place
    to mend that: this is the one method of PyGithub that sends, under the name by which it calls it.
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
