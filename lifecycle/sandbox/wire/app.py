"""The WSGI application: turn one request into one answer, with the log and the faults."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.base.errors import ApiError, SandboxError
from lifecycle.sandbox.base.times import now, set_clock
from lifecycle.sandbox.control import api as control_api
from lifecycle.sandbox.control import outage
from lifecycle.sandbox.control.faults import LIGHT, Fault
from lifecycle.sandbox.control.page import view as page
from lifecycle.sandbox.git import http as git_http
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.wire import headers, limits, links
from lifecycle.sandbox.wire.call import Call, Reply, authenticate
from lifecycle.sandbox.wire.graph import run as graph
from lifecycle.sandbox.wire.headers import is_tagged, last_modified, of_token, standing
from lifecycle.sandbox.wire.requestlog import Entry, RequestKind
from lifecycle.sandbox.wire.rest import router
from lifecycle.sandbox.wire.rest.asking import not_found
from lifecycle.sandbox.wire.site import Site

JSON = "application/json; charset=utf-8"
CONTROL = "/_sandbox/"
GRAPHQL_DOCS = (
    "https://docs.github.com/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql"
)
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Application:
    """The application of one sandbox (`site`).

    The world's lock is held while an answer is made, never while a request waits. Git is the exception: a
    clone streams for as long as it takes, and git has its own locks.
    """

    site: Site
    began: int = field(default_factory=lambda: int(time.time()))
    serial: Iterator[int] = field(default_factory=itertools.count)

    @property
    def reset(self) -> int:
        """The end of the present hour of every token, in seconds since the epoch."""
        return self.began + HOUR * (1 + (int(now().timestamp()) - self.began) // HOUR)

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        set_clock(self.site.world.ahead)  # for this thread, since git's answer is streamed later
        try:
            answer = self._routed(request, environ)
        except SandboxError as error:  # the file of `--db` cannot be written
            answer = _json(500, {"message": str(error), "error": str(error)})
        return answer(environ, start)

    def _routed(self, request: Request, environ: dict[str, Any]) -> Response:
        """Pass the request on to the page, the control endpoint, or GitHub's side."""
        if page.is_page(request):
            return page.respond(self.site, request)
        if request.path.startswith(CONTROL):
            return self._control(request)
        return self._answered(request, environ)

    def _control(self, request: Request) -> Response:
        verb = request.path.removeprefix(CONTROL)
        if request.method != "POST" or request.mimetype != "application/json":
            # Only JSON: a web page elsewhere cannot send that without asking first.
            return _json(405, {"error": "Control verbs are POSTs of a JSON object."})
        arguments = _decoded(request)
        if arguments is None:
            return _json(400, {"error": "A control verb takes a JSON object."})
        answer = _json(*control_api.perform(self.site, verb, arguments))
        self._keep(request)
        return answer

    def _answered(self, request: Request, environ: dict[str, Any]) -> Response:
        is_git = git_http.is_git(request.path)
        body = {} if is_git else _decoded(request)
        is_graphql = request.path == "/graphql"
        operation = graph.operation_of(body or {}) if is_graphql else None
        kind: RequestKind = "git" if is_git else "graphql" if is_graphql else "rest"
        number = int(environ.get("sandbox.connection", 0))
        entry = self.site.log.begin(request.method, request.path, operation, kind, number)
        with self.site.world.lock:
            weighs = is_graphql and self.site.faults.weighs
            weight = graph.weight_of(body or {}) if weighs else LIGHT
            fault = self.site.faults.strike(request.method, request.path, operation, weight)
        late = self.site.faults.git_latency if is_git else self.site.faults.latency
        if late:
            self.site.signal.pause(environ["werkzeug.socket"], late)
        if fault and fault.when == "before":
            answer = outage.response(fault, None, self.site.signal, environ)
        elif is_git:
            answer = git_http.respond(self.site.world, request)
        elif request.path.startswith(links.PREFIX):
            answer = links.respond(self.site.world, request)
        elif headers.is_nameless(request):  # answered by the server in front of the API, as HTML
            answer = Response(headers.NAMELESS, status=403, content_type="text/html")
        else:
            answer = self._api(request, body, entry)
            self._note(request, body, answer, None)
        self._keep(request)
        if fault and fault.when == "after":
            if answer.is_streamed:
                answer.get_data()  # the whole clone or push has to happen first
            answer = outage.response(fault, answer, self.site.signal, environ)
        if fault and not is_git and fault.kind in {"status", "graphql_error"}:
            self._note(request, body, answer, fault)
        if fault is None or fault.kind not in {"hang", "cut"}:
            entry.status = answer.status_code
        return answer

    def _keep(self, request: Request) -> None:
        """Write a request's changes to the file of `--db`, if any, before its answer goes out."""
        if self.site.keeper and request.method not in {"GET", "HEAD"}:
            with self.site.world.lock:
                self.site.keeper.save(self.site.world)

    def _note(
        self, request: Request, body: dict[str, Any] | None, answer: Response, fault: Fault | None
    ) -> None:
        if self.site.recorder:
            self.site.recorder.note(request, body, answer, fault.when if fault else None)

    def _api(self, request: Request, body: dict[str, Any] | None, entry: Entry) -> Response:
        token: Token | None = None
        with self.site.world.lock:
            try:
                token = authenticate(self.site.world, request.headers.get("Authorization"))
                reply = self._reply(request, body, token, entry)
            except ApiError as error:
                reply = Reply(error.status, error.body(), error.headers)
            answer = self._tagged(request, reply, entry)
            self._add_headers(answer, reply, token, entry)
            automerge.settle(self.site.world)
        return answer

    def _tagged(self, request: Request, reply: Reply, entry: Entry) -> Response:
        """The reply with ETag and Last-Modified, or 304 for a client that has it already.

        The tag depends on Accept and Authorization, so that no client gets 304 for an answer that only
        another one has seen. Source: https://github.com/bored-engineer/github-conditional-http-transport
        """
        answer = _bodied(reply)
        if answer.status_code in {200, 201} and is_tagged(entry):
            varies = [request.headers.get(name, "") for name in ("Accept", "Authorization")]
            digest = hashlib.sha256("\n".join(varies).encode() + answer.get_data()).hexdigest()
            answer.set_etag(digest, weak=request.method == "GET")
        if entry.kind == "rest":
            when = last_modified(entry.method, entry.path, reply.status, reply.body)
            answer.headers.update({"last-modified": when} if when else {})
        if request.method == "GET" and answer.status_code == 200:
            answer.make_conditional(request)
        return answer

    def _reply(
        self, request: Request, body: dict[str, Any] | None, token: Token | None, entry: Entry
    ) -> Reply:
        is_graphql = entry.kind == "graphql"
        if not is_graphql:
            headers.demand_rest(request)
        if token is None:
            if is_graphql:
                raise ApiError(
                    401, "This endpoint requires you to be authenticated.",
                    documentation=GRAPHQL_DOCS,
                )  # fmt: skip
            raise ApiError(401, "Requires authentication")
        listed = _listed(request) if body is None else None
        if body is None and (listed is None or is_graphql):
            raise ApiError(400, "Problems parsing JSON")
        call = Call(
            self.site.world,
            token,
            request.host_url.rstrip("/"),
            request.path,
            request.args.to_dict(),
            body or {},
            listed=listed,
            accept=request.headers.get("Accept", ""),
            reset=self.reset,
        )
        limits.begin(token, self.reset)
        message = limits.exceeded(token, limits.resource_of(entry.kind, entry.path))
        if message and entry.path != "/rate_limit":
            if is_graphql:
                return Reply(200, limits.graphql_refusal(message))
            raise limits.refusal(message)
        if not is_graphql:
            return router.answer(call, request.method)
        if request.method != "POST":
            raise not_found(GRAPHQL_DOCS)
        graph_reply = graph.run(call)
        entry.points = graph_reply.points
        return Reply(200, graph_reply.body)

    def _add_headers(
        self, answer: Response, reply: Reply, token: Token | None, entry: Entry
    ) -> None:
        kind, path, is_known = entry.kind, entry.path, token is not None
        answer.headers.update(standing(kind, path, reply.status, is_known=is_known))
        answer.headers["x-github-request-id"] = f"5A4D:{entry.n:06X}:{next(self.serial):06X}"
        if answer.status_code == 304:
            answer.headers.remove("x-github-media-type")
        if token is not None and token.kind != "jwt":  # an App's JWT has no budget
            resource = limits.resource_of(kind, path)
            # A 304 costs nothing:
            # https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
            is_free = path == "/rate_limit" or answer.status_code == 304
            limits.spend(token, resource, 0 if is_free else entry.points or 1)
            answer.headers.update(limits.headers(token, resource, self.reset))
            answer.headers.update(of_token(token))
        answer.headers.update(reply.headers)
        answer.date = now()


def _decoded(request: Request) -> dict[str, Any] | None:
    """The JSON object in a request's body, {} without a body, None for anything else."""
    raw = request.get_data()
    if not raw.strip():
        return {}
    with contextlib.suppress(ValueError, RecursionError):
        decoded = json.loads(raw)
        return decoded if isinstance(decoded, dict) else None
    return None


def _listed(request: Request) -> list[Any] | None:
    """The JSON array in a request's body, None for anything else."""
    with contextlib.suppress(ValueError, RecursionError):
        decoded = json.loads(request.get_data())
        return decoded if isinstance(decoded, list) else None
    return None


def _bodied(reply: Reply) -> Response:
    """Make the HTTP response of a reply: JSON, no body, or bytes."""
    if reply.body is None:
        answer = Response(status=reply.status)
        answer.headers.remove("Content-Type")
        return answer
    if isinstance(reply.body, bytes):
        return Response(reply.body, status=reply.status)
    return _json(reply.status, reply.body)


def _json(status: int, value: Any) -> Response:
    return Response(json.dumps(value), status=status, content_type=JSON)
