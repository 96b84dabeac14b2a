"""The client for REST: any call by its path, and the calls of one repository.

A request is sent once; requests that may be repeated go through `lifecycle.core.timing`. The sending code
is imported at the first request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from lifecycle.core import errors
from lifecycle.core.errors import LifecycleError, NoPermission, NotFound, Refused, Rejected
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.timing import reading
from lifecycle.core.values.model import Repository, RepositoryAccess, TokenFacts
from lifecycle.github.auth import tokens
from lifecycle.github.client.client_common import DOTS, TokenClient, text, without_secrets
from lifecycle.github.failures import Answer, AskedRequest, Own, sentence

if TYPE_CHECKING:
    from lifecycle.github.client.plain_line import Sent

T = TypeVar("T")
Json = Mapping[str, Any]
Query = Json | None
"""The parameters of an address."""
Shape = Callable[[Any], T]
"""Makes a value from an answer's JSON."""
PAGE = 100
"""The number of entries in one page of a list: GitHub's maximum."""

_OK, _FOUND, _UNCHANGED = 200, 302, 304
_BY_ID = re.compile(r"(/repositories/\d+)(?:/issues/(\d+))?")
_BY_NAME = re.compile(r"/repos/([^/]+/[^/]+)")
_MOST_REDIRECTS = 5


def following(headers: Mapping[str, Any], page: dict[str, Any]) -> dict[str, Any] | None:
    """The parameters of the next page, from the header `Link`; None on the last one."""
    for link in str(headers.get("link") or "").split(","):
        target, _, rel = link.strip().partition(";")
        if 'rel="next"' in rel:
            return {**page, **dict(parse_qsl(urlsplit(target.strip("<> ")).query))}
    return None


MOST_ANSWERS = 64
MOST_CHARACTERS = 500_000
"""The most characters of an answer that is kept; a page of a hundred check runs has about 300,000."""


class Etags(dict[tuple[str, str], tuple[Mapping[str, Any], str]]):
    """The last answers (headers and text), so that GitHub only has to say that one is unchanged.

    A read with the last answer's ETag is answered 304 if nothing changed, which does not count against the
    hour's requests. An ETag belongs to one token, so the key of an answer is its token and its address.
    Nothing is shared or written to disk. The least recently used answer is removed first.
    Source:
    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
    """

    def put(self, key: tuple[str, str], headers: Mapping[str, Any], text: str) -> None:
        """Keep an answer that was just used, if it has an ETag and is not too long."""
        self.pop(key, None)
        if headers.get("etag") and len(text) <= MOST_CHARACTERS:
            self[key] = headers, text
        if len(self) > MOST_ANSWERS:
            del self[next(iter(self))]


class RestClient(TokenClient):
    """A client for the REST API; its arguments are those of every client."""

    of_library = "PyGithubLine"
    _etags = cached_property(lambda _: Etags())

    def viewer(self) -> str:
        """The login of the token's owner.

        Source: https://docs.github.com/rest/users/users#get-the-authenticated-user
        """
        return self.shown("/user", AskedRequest("user"), lambda user: str(user["login"]))

    def token_facts(self) -> TokenFacts:
        """The token's owner, kind and permissions.

        A token that does not belong to a user may not ask who it is; the fallback costs no request of its
        hour. Sources: https://docs.github.com/rest/users/users#get-the-authenticated-user and
        https://docs.github.com/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user
        """
        asked = AskedRequest("user")
        try:
            headers, user = self.again(asked, "GET", "/user")
            login = self.shaped(asked, lambda: str(user["login"]))
        except NoPermission:
            headers, login = self.again(AskedRequest("rate limit"), "GET", "/rate_limit")[0], ""
        return tokens.token_facts(self.failures.token, login, headers)

    def repository_access(self, repository: Repository) -> RepositoryAccess:
        """What the token's owner may do in a repository.

        Source: https://docs.github.com/rest/repos/repos#get-a-repository

        Raises:
            NotFound: GitHub shows no such repository.
        """
        asked = AskedRequest(f"repository {repository}")
        return self.shown(f"/repos/{repository}", asked, tokens.repository_access)

    def exchange(
        self,
        asked: AskedRequest,
        method: str,
        path: str,
        *,
        query: Query = None,
        body: object = None,
        own: Own | None = None,
        is_moved: bool = False,
    ) -> tuple[Json, Any]:
        """Send one request, once.

        Args:
            asked: words for an error's sentence.
            method: GET, POST, PATCH, PUT or DELETE.
            path: as in the documentation, from the `/` before `repos` on.
            query: parameters of the address.
            body: sent as JSON.
            own: errors of this call, tried before the table for all calls; None uses only the table.
            is_moved: the answer wanted is a redirect to a file, whose address is in the headers.

        Returns:
            Headers (names in lower case) and the JSON of the answer, None if it is empty.

        Raises:
            Transient, Rejected: as everywhere; Transient is ambiguous for a write that may have landed.
        """
        from lifecycle.github.client.plain_line import content_of

        target = f"{path}?{urlencode(query, errors='surrogatepass')}" if query else path
        send = partial(self._sent, asked, method, target, body)
        try:
            status, headers, text = self.shaped(asked, self._answered, asked, lambda _line: send())
        except RuntimeError as error:  # PyGithub's: a redirect to another host, or to itself
            raise self._astray(asked, str(error)) from None
        if status == _FOUND and is_moved:
            return headers, None
        if status < 300:
            return headers, self.shaped(asked, json.loads, text) if text else None
        answer = Answer.read(status, headers, content_of(text))
        raise (own(answer) if own else None) or self._refusal(answer, asked, path)

    def again(self, asked: AskedRequest, method: str, path: str, **more: Any) -> tuple[Json, Any]:
        """`exchange` for requests that may be repeated: up to three times if there is no answer."""
        return reading(self.deadline, partial(self.exchange, asked, method, path, **more))

    def shown(self, path: str, asked: AskedRequest, shape: Shape[T], query: Query = None) -> T:
        """The value from a GET; repeated if there is no answer, or the answer has another shape.

        Args:
            path: as for `exchange`.
            asked: words for an error's sentence.
            shape: makes a value from the answer's JSON.
            query: as for `exchange`.
        """

        def once() -> T:
            return self.shaped(asked, shape, self.exchange(asked, "GET", path, query=query)[1])

        return reading(self.deadline, once)

    def _sent(self, asked: AskedRequest, method: str, target: str, body: object) -> Sent:
        """Send one request; a read that was answered before is sent only if it changed since."""
        if method != "GET":
            return self._followed(
                asked, method, target, {}, without_secrets(body, self._sending.withheld)
            )
        key = self.failures.token, target
        kept_headers, kept_text = self._etags.get(key, ({}, ""))
        condition = {"If-None-Match": kept_headers["etag"]} if kept_headers else {}
        answer = self._followed(asked, method, target, condition, None)
        if answer.status == _UNCHANGED and kept_headers:
            headers = {**kept_headers, **answer.headers}
            answer = answer._replace(status=_OK, headers=headers, body=kept_text)
        if answer.status == _OK:
            self._etags.put(key, answer.headers, answer.body)
        return answer

    def _followed(
        self, asked: AskedRequest, method: str, target: str, headers: Json, body: object
    ) -> Sent:
        """One answer: a read follows redirects, with its parameters; a write is sent once.

        GitHub answers 301 with the repository's address by id, which lacks the parameters.
        Source:
        https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects

        Raises:
            Rejected: it leads to another host or protocol, or too far.
        """
        from lifecycle.github.client.plain_line import origin

        query = target.partition("?")[2]
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._connected().send(method, target, headers, body)
            where = urljoin(self.url, answer.headers.get("location") or "")
            if answer.status != 301 or method != "GET" or where in {self.url, target}:
                return answer
            if origin(where) != origin(self.url):
                break
            target = f"{where}?{query}" if query and "?" not in where else where
        raise self._astray(asked, f"redirected to {where}")

    def _astray(self, asked: AskedRequest, evidence: str) -> Rejected:
        refusal = sentence("redirected-astray", asked=asked)
        return Rejected(refusal, evidence=self.failures.clean(evidence))

    def _refusal(self, answer: Answer, asked: AskedRequest, path: str) -> LifecycleError:
        """The error for a refusal; a write's names the repository's new name, or where the issue is now.

        GitHub's answer has only the repository's id, so the name costs one read: by its former name. If it
        still has that, the issue was transferred, and another read names its repository. If a read fails,
        the refusal is raised unchanged.
        """
        error = self.failures.of_answer(answer, asked)
        is_told = asked.is_write and isinstance(error, errors.Moved)
        by_id, by_name = _BY_ID.search(error.evidence) if is_told else None, _BY_NAME.match(path)
        if by_id is None or by_name is None:
            return error
        try:
            name, issue = self._name_now(by_name[0]), None
            if name.casefold() == by_name[1].casefold():
                name, issue = self._name_now(by_id[1]), by_id[2]
            return moved_to(name, issue, asked)
        except (LifecycleError, KeyError, TypeError):
            return error

    def _name_now(self, path: str) -> str:
        """The present name of the repository at a path; KeyError, TypeError if the answer lacks it."""
        _, repository = self.exchange(AskedRequest("the repository's new name"), "GET", path)
        return str(repository["full_name"])


def moved_to(name: str, issue: str | None, asked: AskedRequest) -> LifecycleError:
    """The error for a write to a repository that was renamed, or to an issue that was transferred.

    Args:
        name: the present name of its repository on GitHub, `owner/name`.
        issue: the number there of an issue that was transferred, or None.
        asked: the request.
    """
    if issue is not None:
        where = f"{name}#{issue}"
        words = sentence("transferred-meanwhile", where=where, asked=asked)
        return errors.Transferred(words, evidence=where)
    return errors.Moved(sentence("renamed", name=name, asked=asked), evidence=name)


@dataclass(eq=False)
class Calls:
    """The calls of one repository, by path: reads, lists page by page, writes.

    They differ in how often they may be sent: `read` and `set` up to three times, `create` once. The
    modules above, one for each subject, know what an answer means.

    Args:
        rest: the client.
        repository: the base of every path that does not begin with `/`.
        who: returns the token's owner; raises NoPermission if it has none. By default REST's `/user`.
    """

    rest: RestClient
    repository: Repository
    who: Callable[[], str] | None = None

    def read(self, path: str, subject: str, shape: Shape[T], query: Query = None) -> T:
        """GET; repeated if there is no answer, or the answer has another shape.

        Args:
            path: below the repository, or from the root if it begins with `/`.
            subject: words for an error's sentence.
            shape: makes a value from the answer's JSON.
            query: parameters of the address.

        Raises:
            NotFound: GitHub shows no such thing.
            Transient: no answer, or an answer with another shape than documented.
        """
        asked = self._asked(subject, is_write=False)
        return self.rest.shown(self._below(path, asked), asked, shape, query)

    def read_if_any(self, path: str, subject: str, shape: Shape[T]) -> T | None:
        """The same as `read`, but None if GitHub shows no such thing."""
        try:
            return self.read(path, subject, shape)
        except NotFound:
            return None

    def values(self, path: str, subject: str, shape: Shape[T], query: Query = None) -> Iterator[T]:
        """The entries of `pages` as values."""
        return map(partial(self.shaped, subject, shape), self.pages(path, subject, query))

    def pages(self, path: str, subject: str, query: Query = None, key: str = "") -> Iterator[Json]:
        """The entries of a list, one request for a hundred, sent as they are needed.

        The next page is the one in GitHub's `Link`.
        Source: https://docs.github.com/rest/using-the-rest-api/using-pagination-in-the-rest-api

        Args:
            path: as for `read`.
            subject: likewise.
            query: likewise.
            key: the key of the list in the answer, "" if the answer is the list.
        """
        for body in self.bodies(path, subject, query):
            entries = body.get(key) if key and isinstance(body, Mapping) else body
            if not isinstance(entries, list):
                raise self.rest.failures.of_nonsense(self._asked(subject, is_write=False))
            yield from entries

    def bodies(self, path: str, subject: str, query: Query = None) -> Iterator[Any]:
        """The JSON of each page of a list, as for `pages`."""
        asked = self._asked(subject, is_write=False)
        next_page: dict[str, Any] | None = {"per_page": PAGE, **(query or {})}
        while next_page is not None:
            page = next_page
            headers, body = self.rest.again(asked, "GET", self._below(path, asked), query=page)
            yield body
            next_page = following(headers, page)
            if next_page == page:  # the same page again: it would never end
                raise self.rest.failures.of_nonsense(asked)

    def set(self, method: str, path: str, subject: str, shape: Shape[T],
            body: Json | None = None, *, own: Own | None = None) -> T:  # fmt: skip
        """A write that may be repeated: sent again if there is no answer."""
        asked = self._asked(subject)
        shown = self.rest.again(asked, method, self._below(path, asked), body=body, own=own)[1]
        return self.rest.shaped(asked, shape, shown)

    def create(self, method: str, path: str, subject: str, shape: Shape[T],
               body: Json | None = None, *, own: Own | None = None) -> T:  # fmt: skip
        """A write that must not be repeated: sent once."""
        asked = self._asked(subject)
        content = self.rest.exchange(asked, method, self._below(path, asked), body=body, own=own)[1]
        return self.rest.shaped(asked, shape, content)

    def delete(self, path: str, subject: str, own: Own, body: Json | None = None) -> None:
        """DELETE, which may be repeated; its answer is ignored."""
        self.set("DELETE", path, subject, lambda _: None, body, own=own)

    def address_of(self, path: str, subject: str, own: Own) -> str:
        """Where a file is, which GitHub redirects a GET to; the token is not sent there.

        Raises:
            Rejected: as everywhere, and if the address is unencrypted while the API's is encrypted.
        """
        asked = self._asked(subject, is_write=False)
        headers, _ = self.rest.again(asked, "GET", self._below(path, asked), own=own, is_moved=True)
        where = str(headers.get("location") or "")
        if urlsplit(where).scheme not in {"https", urlsplit(self.rest.url).scheme}:
            raise Rejected(sentence("no-safe-address", asked=asked))
        return where

    def shaped(self, subject: str, shape: Callable[..., T], *content: Any) -> T:
        """The value of an answer; Transient if it has another shape than documented."""
        return self.rest.shaped(self._asked(subject, is_write=False), shape, *content)

    @cached_property
    def login(self) -> str:
        """The token's owner, asked for once; "" if GitHub does not say."""
        try:
            return (self.who or self.rest.viewer)()
        except NoPermission:
            return ""

    def is_by(self, entry: Json, author: str = "") -> bool:
        """True if this login wrote it, by default the token's owner; if that has no name, if an app did.

        Anybody may put a marker into a text of their own: such a text must not count as ours.
        """
        author = author or self.login
        if author:
            return text(entry, "user.login").casefold() == author.casefold()
        return text(entry, "user.type") == "Bot"

    def _asked(self, subject: str, *, is_write: bool = True) -> AskedRequest:
        return AskedRequest(f"{subject} in {self.repository}", is_write=is_write)

    def _below(self, path: str, asked: AskedRequest) -> str:
        """The whole path; Refused if it leads to something else."""
        whole = path if path.startswith("/") else f"/repos/{self.repository}/{path}".rstrip("/")
        if not DOTS.isdisjoint(whole.split("/")):
            raise Refused(sentence("astray", subject=asked.subject))
        return whole
