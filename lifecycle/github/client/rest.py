"""REST through PyGithub: issues and checks as its objects, and any call by its path.

Every call is one request: the objects are lazy, and only attributes that the answer holds are read
(an absent one would make PyGithub fetch the object again). PyGithub's own pauses and retries are off,
because its retries resend what creates; what may be sent twice goes through `lifecycle.core.timing`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.core.errors import LifecycleError, Moved, NoPermission, NotFound, Rejected, Transient
from lifecycle.core.timing import Deadline, reading
from lifecycle.core.values.model import Issue, Repository, RepositoryAccess, TokenFacts
from lifecycle.github.auth import access
from lifecycle.github.client import transport
from lifecycle.github.client.etags import Etags
from lifecycle.github.failures.failures import Answer, AskedRequest, Failures
from lifecycle.github.failures.rest_failures import moved_to

if TYPE_CHECKING:
    from datetime import datetime

    from github.Issue import Issue as GithubIssue
    from github.Repository import Repository as GithubRepository

    from lifecycle.github.auth.tokens import Token
    from lifecycle.github.client.rest_requester import Follower

T = TypeVar("T")
_OK, _UNCHANGED = 200, 304

# What PyGithub lets escape when an answer is not of the shape that it expects.
_NONSENSE = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class RestClient:
    """A client for the REST API. PyGithub is imported at the first request.

    Args:
        url: the API's base URL.
        token: never shown, logged or part of an error.
        deadline: bounds every request and every wait between two of them.
        token_source: the name of the environment variable that the token came from.
        current: asked before each request for the token that is good now; another than before
            begins a new connection. Without one the token stays.
        on_refused: told when GitHub does not accept the token.
        withheld: gets the name of each field out of which a secret was taken before it was sent.

    Attributes:
        requests: how many were sent; those that followed a redirect are not counted again.
    """

    def __init__(
        self,
        url: str,
        token: str,
        deadline: Deadline,
        *,
        token_source: str,
        current: Callable[[], Token] | None = None,
        on_refused: Callable[[], None] | None = None,
        withheld: list[str] | None = None,
    ) -> None:
        self.deadline = deadline
        self._withheld = [] if withheld is None else withheld
        self._current = current
        self._on_refused = on_refused
        self._failures = Failures(token, token_source, deadline.clock)
        self._url = url
        self._etags = Etags()
        self.requests = 0

    def __repr__(self) -> str:
        return f"RestClient({self._url!r})"

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if "_api" in self.__dict__:
            self._api.close()

    def viewer(self) -> str:
        """The login that the token belongs to.

        Source: https://docs.github.com/rest/users/users#get-the-authenticated-user
        """
        asked = AskedRequest("user")

        def ask() -> str:
            from github.AuthenticatedUser import AuthenticatedUser

            user = AuthenticatedUser(self._api, url="/user")
            self._demand(user.html_url, user.url, asked)
            return user.login

        return self._read(asked, ask)

    def token_facts(self) -> TokenFacts:
        """Whose token it is, of what kind, and what it was given.

        A token that is no user's may not ask who it is; what is left for it costs no request of
        its hour. Sources: https://docs.github.com/rest/users/users#get-the-authenticated-user and
        https://docs.github.com/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user
        """
        try:
            headers, user = self._plain("/user", "login", AskedRequest("user"))
            login = str(user["login"])
        except NoPermission:
            headers, _ = self._plain("/rate_limit", "resources", AskedRequest("rate limit"))
            login = ""
        return access.token_facts(self._failures.token, login, headers)

    def repository_access(self, repository: Repository) -> RepositoryAccess:
        """What the token's owner may do in a repository.

        Source: https://docs.github.com/rest/repos/repos#get-a-repository

        Raises:
            NotFound: GitHub shows no such repository.
        """
        asked = AskedRequest(f"repository {repository}")
        _, found = self._plain(f"/repos/{repository}", "full_name", asked)
        return access.repository_access(found)

    def issue(self, repository: Repository, number: int) -> Issue:
        """One issue.

        Source: https://docs.github.com/rest/issues/issues#get-an-issue

        Raises:
            NotFound: there is none, or the number is a pull request's.
        """
        asked = AskedRequest(f"issue #{number} of {repository}")

        def ask() -> tuple[Issue, bool]:
            found = self._repository(repository).get_issue(number).complete()
            return self._shown(found, asked), found.pull_request is None

        issue, is_issue = self._read(asked, ask)
        if issue.number != number:
            raise NotFound(
                f"Issue #{number} of {repository} was transferred and is {issue.url} now, so nothing was "
                "changed; claim it there."
            )
        if not is_issue:
            raise NotFound(
                f"#{number} of {repository} is a pull request, not an issue, so nothing was changed; "
                "give the number of an issue."
            )
        return issue

    def exchange(
        self,
        asked: AskedRequest,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        own: Callable[[Answer], LifecycleError | None] | None = None,
    ) -> tuple[Mapping[str, Any], Any]:
        """Send one request, once: for writes, and for reads that PyGithub has no object for.

        Args:
            asked: words for the sentence of an error.
            method: GET, POST, PATCH, PUT or DELETE.
            path: as in the documentation, from the `/` before `repos` on.
            query: parameters of the address.
            body: what is sent as JSON.
            own: errors of this one call, asked before the table of all calls is; None leaves it to
                the table.

        Returns:
            Headers (names in lower case) and the JSON of the answer, None if it is empty.

        Raises:
            Transient, Rejected: as everywhere; Transient is ambiguous for a write that may have landed.
        """
        with self._translated(asked):
            status, headers, text = self._sent(method, path, query, body)
            if status < 300:
                return headers, json.loads(text) if text else None
        answer = self._heard(Answer.read(status, headers, _leniently(text)))
        raise (own(answer) if own else None) or self._said(answer, asked)

    def _sent(
        self, method: str, path: str, query: Mapping[str, Any] | None, body: object
    ) -> tuple[int, Mapping[str, Any], str]:
        """One request; a read that was answered before is asked for only if it changed since."""
        sent = dict(query) if query else None
        if method != "GET":
            body = transport.without_secrets(body, self._withheld)
            return self._api.requestJson(method, path, sent, None, body)
        address = f"{path}?{sorted((sent or {}).items())}"
        known = self._etags.get(address)
        wanted = {"If-None-Match": known.etag} if known else None
        status, headers, text = self._api.requestJson(method, path, sent, wanted, body)
        if status == _UNCHANGED and known is not None:
            return 200, {**known.headers, **headers}, known.text
        if status == _OK:
            self._etags.put(address, headers, text)
        return status, headers, text

    def nonsense(self, asked: AskedRequest) -> Transient:
        """The error for an answer of another shape than documented, to be raised by whoever reads it."""
        return self._failures.of_nonsense(asked)

    @cached_property
    def _api(self) -> Follower:
        from lifecycle.github.client.rest_requester import follower

        return follower(self._url, self._failures.token, self.deadline)

    def _repository(self, repository: Repository) -> GithubRepository:
        from github.Repository import Repository as GithubRepository

        return GithubRepository(self._api, url=f"/repos/{repository}")

    def _plain(self, path: str, key: str, asked: AskedRequest) -> tuple[Mapping[str, Any], Any]:
        """Headers (names in lower case) and JSON object, which has to have `key`."""
        headers, found = reading(self.deadline, lambda: self.exchange(asked, "GET", path))
        if not isinstance(found, dict) or key not in found:
            raise self.nonsense(asked)
        return headers, found

    def _read(self, asked: AskedRequest, ask: Callable[[], T]) -> T:
        """Ask, and ask again: for reads, and for writes that may be applied twice."""

        def once() -> T:
            with self._translated(asked):
                return ask()

        return reading(self.deadline, once)

    @contextmanager
    def _translated(self, asked: AskedRequest) -> Iterator[None]:
        """Let nothing out but errors of ours, which hold neither the token nor a traceback."""
        from lifecycle.github.client.rest_requester import BadAttributeException, GithubException
        from lifecycle.github.client.transport import RequestException, silence

        self.deadline.remaining()
        self._renew()
        self.requests += 1
        try:
            yield
        except GithubException as error:
            answer = self._heard(Answer.read(error.status or 0, error.headers or {}, error.data))
            raise self._said(answer, asked) from None
        except RequestException as error:
            found = silence(error)
            if found.is_final:
                raise Rejected(f"GitHub {found.words}; nothing was changed, correct it.") from None
            raise self._failures.of_silence(
                found.words, asked, may_have_landed=found.may_have_landed
            ) from None
        except RuntimeError as error:
            # PyGithub's word for a redirect to another host or protocol, or to itself.
            raise Rejected(
                f"GitHub redirects {asked.subject} to where the token must not go, so nothing was "
                "changed; correct the API URL.",
                evidence=self._failures.clean(str(error)),
            ) from None
        except (*_NONSENSE, BadAttributeException):
            raise self._failures.of_nonsense(asked) from None

    def _renew(self) -> None:
        """Begin anew where another token is good now; what was kept is of the one before."""
        found = self._current() if self._current is not None else None
        if found is None or found.value == self._failures.token:
            return
        self.close()
        self.__dict__.pop("_api", None)
        self._etags = Etags()
        self._failures = replace(self._failures, token=found.value, token_source=found.source)

    def _heard(self, answer: Answer) -> Answer:
        """The answer, after it was told if it refuses the token."""
        if answer.status == 401 and self._on_refused is not None:
            self._on_refused()
        return answer

    def _said(self, answer: Answer, asked: AskedRequest) -> LifecycleError:
        """The error that an answer amounts to; a write to a renamed repository is told the name.

        GitHub's answer has the repository's id alone, so the name costs one read. If that fails,
        what has to be told is the refusal all the same.
        """
        error = self._failures.of_answer(answer, asked)
        is_told = asked.is_write and isinstance(error, Moved)
        by_id = re.search(r"/repositories/\d+", error.evidence) if is_told else None
        if by_id is None:
            return error
        try:
            _, found = self.exchange(AskedRequest("the repository's new name"), "GET", by_id[0])
            return moved_to(str(found["full_name"]), str(found["clone_url"]), asked)
        except (LifecycleError, KeyError, TypeError):
            return error

    def _shown(self, found: GithubIssue, asked: AskedRequest) -> Issue:
        self._demand(found.html_url, found.url, asked)
        return Issue(
            number=found.number,
            id=found.node_id,
            title=found.title,
            url=found.html_url,
            is_open=found.state == "open",
            state_reason=found.state_reason or "",
            assignees=tuple(user.login for user in found.assignees),
            closed_at=_seconds(found.closed_at),
            updated_at=_seconds(found.updated_at),
        )

    def _demand(self, page: str | None, url: str | None, asked: AskedRequest) -> None:
        """Refuse what has no page: PyGithub takes the body of a 307 for the object itself.

        Not the number decides: PyGithub reads it out of the URL that the 307 names.
        Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
        """
        if page is not None:
            return
        if url and url.startswith("http"):
            raise self._said(Answer(307, url=url), asked)
        raise self._failures.of_nonsense(asked)


def _seconds(moment: datetime | None) -> float | None:
    """PyGithub's moment, which has its zone, as seconds."""
    return None if moment is None else moment.timestamp()


def _leniently(text: str) -> object:
    """The JSON of a failed answer, None if it is none: then the status says what happened."""
    try:
        found: object = json.loads(text)
    except ValueError:
        return None
    return found
