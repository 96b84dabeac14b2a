"""GraphQL over one persistent connection: the one module that knows gql.

A request is sent once. Whether it may be sent again is for the caller to know (`lifecycle.retry`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lifecycle.deadline import Deadline
from lifecycle.errors import LifecycleError, Rejected, Transient
from lifecycle.github.failures import Answer, Asked, Failures, Problem
from lifecycle.resources import graphql_document

if TYPE_CHECKING:
    from gql.client import SyncClientSession
    from gql.transport.exceptions import TransportError
    from gql.transport.requests import RequestsHTTPTransport
    from graphql import DocumentNode


@dataclass(frozen=True, slots=True)
class Reply:
    """What GraphQL answered: data, perhaps with holes, and the problems that made the holes."""

    data: Mapping[str, Any]
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Document:
    node: DocumentNode
    operation: str
    is_mutation: bool


@cache
def _document(name: str) -> _Document:
    """`graphql/NAME.graphql`, parsed once per process."""
    from gql import gql
    from graphql import OperationDefinitionNode, OperationType

    node = gql(graphql_document(name)).document
    operation = next(one for one in node.definitions if isinstance(one, OperationDefinitionNode))
    return _Document(
        node,
        operation.name.value if operation.name else name,
        operation.operation is OperationType.MUTATION,
    )


class GraphClient:
    """A client for the documents in `graphql/`. gql is imported at the first request.

    One connection serves all requests until `close`; if it was closed meanwhile, the next request
    opens another. Whoever keeps a client for long renews its deadline, best for so long that a
    request which gets no answer (10 s) can be followed by one on a fresh connection.

    Args:
        url: the GraphQL endpoint.
        token: never shown, logged or part of an error.
        deadline: bounds every request.
        token_source: the name of the environment variable that the token came from.
    """

    def __init__(self, url: str, token: str, deadline: Deadline, *, token_source: str) -> None:
        self.deadline = deadline
        self.failures = Failures(token, token_source, deadline.clock)
        self._url = url
        self._transport: RequestsHTTPTransport | None = None
        self._session: SyncClientSession | None = None
        self._status = 0

    def __repr__(self) -> str:
        return f"GraphClient({self._url!r})"

    def execute(self, name: str, variables: Mapping[str, Any], *, subject: str = "") -> Reply:
        """Send `graphql/NAME.graphql` once.

        Args:
            name: the document's file name without its suffix.
            variables: all of its variables.
            subject: words for what is asked, for the sentence of an error.

        Returns:
            The data, and the problems if only parts are missing.

        Raises:
            Transient: no answer, a rate limit, or an outage; ambiguous for a mutation that may have
                landed.
            Rejected: there is no data at all; the leaf says why.
        """
        self.deadline.remaining()
        document = _document(name)
        asked = Asked(subject or document.operation, is_write=document.is_mutation)
        data, problems = self._sent(document, variables, asked)
        if not problems:
            return Reply(data)
        found = [self.failures.of_problem(one, asked, self._headers()) for one in problems]
        if not data or any(isinstance(error, Transient) for error in found):
            raise self.failures.of_problems(problems, asked, self._headers())
        return Reply(data, problems)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._session is not None:
            close: Callable[[], None] = self._session.client.close_sync  # has no annotations
            close()
            self._transport = self._session = None

    def _sent(
        self, document: _Document, variables: Mapping[str, Any], asked: Asked
    ) -> tuple[Mapping[str, Any], tuple[Problem, ...]]:
        from gql import GraphQLRequest
        from gql.transport.exceptions import TransportError, TransportQueryError

        request = GraphQLRequest(
            document.node, variable_values=dict(variables), operation_name=document.operation
        )
        session = self._connected()  # outside: a failing import is no odd answer
        try:
            data: object = session.execute(request)
            errors: object = []
        except TransportQueryError as error:
            if self._status >= 500:
                # gql reads the errors of an outage as answers; the status says what they are.
                answer = Answer.read(self._status, self._headers(), {})
                raise self.failures.of_answer(answer, asked) from None
            data, errors = error.data, error.errors
        except TransportError as error:
            raise self._failed(error, asked) from None
        except (AssertionError, AttributeError, IndexError, KeyError, TypeError):
            # gql reaches into the answer without looking: `null`, or errors that are no list.
            raise self.failures.of_nonsense(asked) from None
        problems = _problems(errors)
        if not isinstance(data, dict) and not problems:
            raise self.failures.of_nonsense(asked)
        return data if isinstance(data, dict) else {}, problems

    def _connected(self) -> SyncClientSession:
        if self._session is None:
            from gql import Client
            from gql.transport.requests import RequestsHTTPTransport

            from lifecycle.github.wire import Bearer, Patience

            patience: Any = Patience(self.deadline)  # annotated as int, handed on to requests as is
            self._transport = RequestsHTTPTransport(
                self._url,
                auth=Bearer(self.failures.token, self._note_status),
                timeout=patience,
                retries=0,
                # A redirected POST would come out as a GET.
                allow_redirects=False,
            )
            client = Client(transport=self._transport, fetch_schema_from_transport=False)
            connect: Callable[[], SyncClientSession] = client.connect_sync  # has no annotations
            self._session = connect()
        return self._session

    def _note_status(self, status: int) -> None:
        self._status = status

    def _headers(self) -> dict[str, str]:
        found = self._transport.response_headers if self._transport else None
        return {name.lower(): value for name, value in (found or {}).items()}

    def _failed(self, error: TransportError, asked: Asked) -> LifecycleError:
        from gql.transport.exceptions import TransportConnectionFailed, TransportServerError

        from lifecycle.github.wire import body_of, silence

        cause = error.__cause__
        if isinstance(cause, LifecycleError):
            return cause  # the deadline's own, raised while the request was being prepared
        if isinstance(error, TransportConnectionFailed):
            found = silence(cause or error)
            if found.is_final:
                return Rejected(f"GitHub {found.words}; nothing was changed, correct it.")
            return self.failures.of_silence(
                found.words, asked, may_have_landed=found.may_have_landed
            )
        if isinstance(error, TransportServerError) and error.code is not None:
            body = body_of(getattr(cause, "response", None))
            return self.failures.of_answer(Answer.read(error.code, self._headers(), body), asked)
        return self.failures.of_nonsense(asked)


def _problems(errors: object) -> tuple[Problem, ...]:
    entries = errors if isinstance(errors, list) else []
    return tuple(_problem(entry) for entry in entries)


def _problem(entry: object) -> Problem:
    content = entry if isinstance(entry, dict) else {"message": str(entry)}
    extensions = content.get("extensions")
    code = extensions.get("code") if isinstance(extensions, dict) else None
    path = content.get("path")
    return Problem(
        str(content.get("type") or code or ""),
        tuple(path) if isinstance(path, list) else (),
        str(content.get("message") or ""),
    )
