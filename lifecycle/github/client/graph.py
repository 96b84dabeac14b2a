"""The client for GraphQL: sends the documents in `graphql/` over one kept connection, reads the answers.

A request is sent once. Whether it may be sent again is for the caller to know
(`lifecycle.core.timing`).

What is asked are the documents in `graphql/`, alone or several as one operation. What not every server
knows lies in a document of its own. It is sent together with the one that it adds to, in one request, and
left out once the server has said that it does not know it: so an older GitHub Enterprise Server costs a
part of an answer, never all of it.

No document is parsed here: `ready.json` has each, and what looks ask for together, written by `make docs`,
and a test holds it to the documents. What a server lacks a part of is put together from their texts: a
field that stands there twice is one to GraphQL, with what both ask for below it.
Source: https://spec.graphql.org/October2021/#sec-Field-Selection-Merging

A sweep wants the same of many repositories or issues: `repeated` puts the same text under an alias for
each, with variables of its own, so that one request shows all of them.
Source: https://spec.graphql.org/October2021/#sec-Field-Alias
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lifecycle.core.errors import LifecycleError, Rejected, Transient
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.timing import again, reading
from lifecycle.github.client.client_common import Json, TokenClient, part, text, without_secrets
from lifecycle.github.failures import Answer, AnswerProblem, AskedRequest, sentence

if TYPE_CHECKING:
    from lifecycle.github.client.plain_line import Sent


READY = Path(__file__).with_name("ready.json")
"""The documents as they are sent."""

_OPERATION = r"(?m)^(query|mutation) (\w+)(?:\(([^)]*)\))?"
_ROOT_FIELD = r"(?ms)^  \w.*?(?=^  \w|^\})"
"""As `graphql/` is indented."""

LACKING_SECONDS = 86_400.0
"""For how long a server's word that it does not know something is believed: servers are upgraded."""

_NO_API = (404, 405, 410)
"""Statuses of a server that has no GraphQL API there."""


@dataclass(frozen=True, slots=True)
class Document:
    """One operation, ready to be sent.

    Attributes:
        text: the operation and its fragments.
        operation: its name, that of the first document.
        is_mutation: it changes something.
        variables: the names of its variables.
    """

    text: str
    operation: str
    is_mutation: bool
    variables: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Document:
        """A document by its text, which has one operation."""
        operation = re.search(_OPERATION, text)
        if operation is None:
            raise TypeError("a document without a named operation")
        names = re.findall(r"\$(\w+)", operation[3] or "")
        return cls(text, operation[2], operation[1] == "mutation", frozenset(names))

    def payload(self, variables: Json) -> dict[str, Any]:
        """The JSON that is sent.

        Source: https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
        """
        asked: dict[str, Any] = {"query": self.text, "operationName": self.operation}
        return {**asked, "variables": dict(variables)} if variables else asked


@cache
def document(*names: str) -> Document:
    """`graphql/NAME.graphql`, with what other documents ask for besides; read once per process."""
    # Without a prepared text: the server lacks one of those that looks ask for.
    return Document.of(_ready()["texts"].get(" ".join(names)) or _combined([*map(document, names)]))


@lru_cache(maxsize=64)
def repeated(*names: str) -> str:
    """Several documents, one of them perhaps many times, as the text of one operation.

    Part N's field of the root is called `pN`, and its variables `pN_NAME`. What asks for nothing of
    its own (`rateLimit`) is there once, and so are fragments; variables that only fragments use are
    common to all parts and keep their names.

    Raises:
        TypeError: a document is a mutation.
        ValueError: a document has not exactly one field with variables at its root.
    """
    pieces = [*map(document, names)]
    if any(piece.is_mutation for piece in pieces):
        raise TypeError("only queries can be repeated")
    return _combined(pieces, is_numbered=True)


def _combined(pieces: Sequence[Document], *, is_numbered: bool = False) -> str:
    """Several documents as the text of one operation, that of the first."""
    variables: dict[str, str] = {}
    fields: dict[str, None] = {}
    fragments: dict[str, None] = {}
    for place, piece in enumerate(pieces):
        operation, *used = piece.text.rstrip().split("\n\n")
        own = dict(re.findall(r"\$(\w+): ([^\s,)]+)", operation))
        asked = re.findall(_ROOT_FIELD, operation)
        if is_numbered:
            own, asked = _numbered(f"p{place}", own, asked)
        variables |= own
        fields |= dict.fromkeys(asked)
        fragments |= dict.fromkeys(used)
    kind = "mutation" if pieces[0].is_mutation else "query"
    typed = ", ".join(f"${name}: {of}" for name, of in variables.items())
    whole = "".join([f"{kind} {pieces[0].operation}({typed}) {{\n", *fields, "}"])
    return "\n\n".join([whole, *fragments])


def _numbered(
    alias: str, variables: Json, fields: Sequence[str]
) -> tuple[dict[str, str], list[str]]:
    """The variables and the root's fields of a part under its alias, but for what all parts share."""
    (asking,) = (root for root in fields if "$" in root)
    own = {name for name in variables if re.search(rf"\${name}\b", asking)}
    named = {f"{alias}_{name}" if name in own else name: of for name, of in variables.items()}
    bare = [root for root in fields if root is not asking]
    return named, [*bare, re.sub(r"\$", f"${alias}_", f"  {alias}: {asking.lstrip()}")]


_SYNTAX = {"query", "mutation", "fragment", "on", "true", "false", "null"}


def blamed(name: str, others: Sequence[str], words: str) -> tuple[str, ...]:
    """Which of the added documents have what a server says that it does not know.

    Args:
        name: the document that has to be answered.
        others: what was added to it.
        words: the path and the message of the server's error.

    Returns:
        Those that have one of the words for themselves; all of them if nobody can tell.
    """
    named, base = set(re.findall(r"\w+", words)), _names(name)
    return tuple(other for other in others if named & (_names(other) - base)) or tuple(others)


def _names(name: str) -> set[str]:
    """Every name in a document but its own: of fields, arguments, types, fragments and variables."""
    asked = document(name)
    return set(re.findall(r"[A-Za-z_]\w*", asked.text)) - _SYNTAX - {asked.operation}


def fields_of(name: str, kind: str) -> frozenset[str]:
    """The keys that a part of a look (`graphql/NAME.graphql`) adds to objects of the type `kind`."""
    return frozenset(_ready()["fields"][name][kind])


@cache
def _ready() -> dict[str, Any]:
    documents: dict[str, Any] = json.loads(READY.read_text(encoding="utf-8"))
    return documents


@dataclass(frozen=True, slots=True)
class GraphReply:
    """What GraphQL answered: data, perhaps with holes, and the problems that made the holes.

    Attributes:
        left_out: the added documents that were not asked for, since this server does not know what
            they ask; each with the server's own words.
    """

    data: Json
    problems: tuple[AnswerProblem, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


class GraphClient(TokenClient):
    """A client for the documents in `graphql/`. What sends is imported at the first request.

    One connection serves all requests until `close`; if it was closed meanwhile, the next request
    opens another. Whoever keeps a client for long renews its deadline, best for so long that a
    request which gets no answer (10 s) can be followed by one on a fresh connection.

    Attributes:
        points: what those cost that were answered; a document that does not ask for its price
            (`rateLimit`) counts as one.
        asked: the JSON of the first reading document that was sent; None if none was.
    """

    of_library = "GqlLine"
    points = 0
    asked: Json | None = None

    def execute(
        self, name: str, variables: Json, *, subject: str = "", added: Sequence[str] = ()
    ) -> GraphReply:
        """Send `graphql/NAME.graphql` once, and others with it in the same request.

        Args:
            name: the document's file name without its suffix.
            variables: all of its variables; those of documents that are left out may be there.
            subject: words for what is asked, for the sentence of an error.
            added: documents that are asked for besides and may be done without: one that the server
                does not know costs one request more, and is left out for a day.

        Returns:
            The data, and the problems if only parts are missing.

        Raises:
            Transient: no answer, a rate limit, or an outage; ambiguous for a mutation that may have
                landed.
            Rejected: there is no data at all; the leaf says why.
        """
        lacking = self._known_lacking() if added else {}
        parts = tuple(part for part in added if part not in lacking)
        words: dict[str, str] = {}
        while True:
            combined = document(name, *parts)
            asked = AskedRequest(subject or combined.operation, is_write=combined.is_mutation)
            reply = self._sent(combined, variables, asked)
            not_known = [problem for problem in reply.problems if problem.is_unknown]
            unknown = " ".join(str(step) for own in not_known for step in (*own.path, own.message))
            if reply.data or not parts or not unknown:
                break
            words |= dict.fromkeys(blamed(name, parts, unknown), self.failures.clean(unknown))
            parts = tuple(added_part for added_part in parts if added_part not in words)
        left_out = {part: reason for part, reason in {**lacking, **words}.items() if part in added}
        self._demand(reply, asked)
        if words:
            kept = {"at": self.deadline.clock.now(), "parts": {**lacking, **words}}
            self._sending.cache.put(f"lacking:{self.url}", kept)
        return replace(reply, left_out=left_out)

    def read(
        self, name: str, variables: Json, *, subject: str = "", added: Sequence[str] = ()
    ) -> GraphReply:
        """`execute` for what may be asked again: up to three times while nobody answers."""
        ask = partial(self.execute, name, variables, subject=subject, added=added)
        try:  # not by `reading`, which calls back: every look comes this way, and goes a step deeper then
            return ask()
        except Transient as error:
            return again(self.deadline, ask, error)

    def whole(self, name: str, variables: Json, *, subject: str) -> Json:
        """Send a document once and return its data; a hole in it is an error."""
        reply = self.execute(name, variables, subject=subject)
        if not reply.problems:
            return reply.data
        is_write = document(name).is_mutation
        is_partly_done = is_write and any(part is not None for part in reply.data.values())
        asked = AskedRequest(subject, is_write, is_partly_done)
        raise self.failures.of_problems(reply.problems, asked)

    def change(self, name: str, variables: Json, *, subject: str) -> Json:
        """`whole` for what may be asked again, as by `read`."""
        return reading(self.deadline, partial(self.whole, name, variables, subject=subject))

    def together(self, names: Sequence[str], variables: Json, *, subject: str) -> GraphReply:
        """Send several writing documents as one, once; GitHub does their fields one after the other.

        A field that fails is null, with a problem of its own, and those behind it are done all the same.
        Sources: https://spec.graphql.org/October2021/#sec-Mutation and, for GitHub's answers,
        https://github.com/github/github-mcp-server/pull/2923

        Returns:
            What each field answered, with the problems of those that failed.

        Raises:
            Transient: ambiguous where some of it may have been done.
            Rejected: nothing of it was done.
        """
        asked = AskedRequest(subject, is_write=True)
        reply = self._sent(document(*names), variables, asked)
        if not reply.data:
            raise self.failures.of_problems(reply.problems, asked)
        return reply

    def execute_all(
        self, parts: Sequence[tuple[str, Json]], shared: Json | None = None, *, subject: str
    ) -> GraphReply:
        """Send several reading documents once, as one request.

        Args:
            parts: file names without suffix, each with its own variables.
            shared: the variables that only fragments use, the same for all parts.
            subject: words for what is asked, for the sentence of an error.

        Returns:
            What part N showed under `pN`, and the problems if only parts are missing.

        Raises:
            Transient, Rejected: as `execute`.
        """
        combined = Document.of(repeated(*(name for name, _ in parts)))
        variables = {f"p{n}_{key}": v for n, (_, own) in enumerate(parts) for key, v in own.items()}
        asked = AskedRequest(subject)
        reply = self._sent(combined, {**variables, **(shared or {})}, asked)
        self._demand(reply, asked)
        return reply

    def next_page(self, connection: Json, subject: str) -> str | None:
        """The cursor of the next page, None on the last one; Transient if it is missing."""
        page = part(connection, "pageInfo")
        if not page.get("hasNextPage"):
            return None
        if not text(page, "endCursor"):
            raise self.failures.of_nonsense(AskedRequest(subject))
        return text(page, "endCursor")

    def _demand(self, reply: GraphReply, asked: AskedRequest) -> None:
        """Raise the error of an answer without data, and of one whose holes may be gone the next time."""
        if reply.problems:
            error = self.failures.of_problems(reply.problems, asked)
            if not reply.data or isinstance(error, Transient):
                raise error

    def _known_lacking(self) -> dict[str, str]:
        """The documents that this server was found not to know, with its words."""
        kept, now = self._sending.cache.get(f"lacking:{self.url}"), self.deadline.clock.now()
        if isinstance(kept, dict) and 0 <= now - float(kept.get("at", 0)) < LACKING_SECONDS:
            return {str(part): str(words) for part, words in kept.get("parts", {}).items()}
        return {}

    def _sent(self, document: Document, variables: Json, asked: AskedRequest) -> GraphReply:
        sent: Any = {k: v for k, v in variables.items() if k in document.variables}
        if document.is_mutation:
            sent = without_secrets(sent, self._sending.withheld)
        payload = document.payload(sent)
        if self.asked is None and not document.is_mutation:
            self.asked = payload
        # And not by a function of this module: every look comes this way, and goes a step deeper then.
        answer = self._answered(asked, methodcaller("ask", payload))
        body = answer.body if isinstance(answer.body, dict) else {}
        if answer.status >= 500 or not {"data", "errors"} & body.keys():
            raise self._refusal(answer, asked)
        data, refusals = body.get("data"), body.get("errors")
        listed = refusals if isinstance(refusals, list) else ()
        problems = tuple(_problem(entry, answer.headers) for entry in listed)
        if not isinstance(data, dict) and not problems:
            raise self.failures.of_nonsense(asked)
        if not isinstance(data, dict):
            return GraphReply({}, problems)  # refused as a whole, which costs nothing
        # What an answer cost it says itself if it was asked, else it is one point, the least. Source:
        # https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
        cost = part(data, "rateLimit").get("cost")
        self.points += cost if isinstance(cost, int) else 1
        return GraphReply(data, problems)

    def _refusal(self, sent: Sent, asked: AskedRequest) -> LifecycleError:
        """The error for an answer that is no GraphQL: an HTTP refusal, or nonsense."""
        if sent.status < 400:
            return self.failures.of_nonsense(asked)
        answer = Answer.read(*sent)
        if sent.status in _NO_API:
            # GitHub reports errors of GraphQL in a 200. Only host and path of the address are shown.
            url = urlsplit(self.url)
            where = {"host": url.hostname or "the server", "path": url.path or "/"}
            refusal = sentence("no-graphql", status=sent.status, **where)
            return Rejected(refusal, evidence=self.failures.clean(answer.words))
        return self.failures.of_answer(answer, asked)


def _problem(entry: object, headers: Mapping[str, str]) -> AnswerProblem:
    content = entry if isinstance(entry, dict) else {"message": str(entry)}
    kind = content.get("type") or part(content, "extensions").get("code") or ""
    path, message = content.get("path"), str(content.get("message") or "")
    return AnswerProblem(str(kind), tuple(path) if isinstance(path, list) else (), message, headers)
