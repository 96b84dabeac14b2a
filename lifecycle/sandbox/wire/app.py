"""The WSGI application: one request in, one answer out, by way of the log and the faults."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox import control_api, outage
from lifecycle.sandbox.errors import ApiError
from lifecycle.sandbox.git import http as git_http
from lifecycle.sandbox.graph import run as graph
from lifecycle.sandbox.rest import router
from lifecycle.sandbox.rest.asking import not_found
from lifecycle.sandbox.wire.call import Call, Reply, authenticate, spend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from wsgiref.types import StartResponse

    from lifecycle.sandbox.state.accounts import Token
    from lifecycle.sandbox.wire.requestlog import Entry, RequestKind
    from lifecycle.sandbox.wire.site import Site

JSON = "application/json; charset=utf-8"
CONTROL = "/_sandbox/"
GRAPHQL_DOCS = (
    "https://docs.github.com/graphql/guides/forming-calls-with-graphql#authenticating-with-graphql"
)
HOUR = 3600


@dataclass(frozen=True, slots=True)
class Application:
    """Answers for a site. Its world's lock is held while an answer is made, never while it waits.

    Git is the exception: a clone streams for as long as it takes, and git has locks of its own.
    """

    site: Site
    reset: int = field(default_factory=lambda: int(time.time()) + HOUR)
    serial: Iterator[int] = field(default_factory=itertools.count)

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        request = Request(environ)
        if request.path.startswith(CONTROL):
            return self._control(request)(environ, start)
        answer = self._answered(request, environ)
        return answer(environ, start)

    def _control(self, request: Request) -> Response:
        verb = request.path.removeprefix(CONTROL)
        if request.method != "POST" or request.mimetype != "application/json":
            # Only JSON: a web page elsewhere cannot send that without asking first.
            return _json(405, {"error": "Control verbs are POSTs of a JSON object."})
        arguments = _decoded(request)
        if arguments is None:
            return _json(400, {"error": "A control verb takes a JSON object."})
        return _json(*control_api.perform(self.site, verb, arguments))

    def _answered(self, request: Request, environ: dict[str, Any]) -> Response:
        is_git = git_http.is_git(request.path)
        body = {} if is_git else _decoded(request)
        is_graphql = request.path == "/graphql"
        operation = graph.operation_of(body or {}) if is_graphql else None
        kind: RequestKind = "git" if is_git else "graphql" if is_graphql else "rest"
        number = int(environ.get("sandbox.connection", 0))
        entry = self.site.log.begin(request.method, request.path, operation, kind, number)
        with self.site.world.lock:
            fault = self.site.faults.strike(request.method, request.path, operation)
        if fault and fault.when == "before":
            answer = outage.response(fault, None, self.site.signal, environ)
        elif is_git:
            answer = git_http.respond(self.site.world, request)
        else:
            answer = self._api(request, body, entry)
        if fault and fault.when == "after":
            if answer.is_streamed:
                answer.get_data()  # all of a clone or push has to happen first
            answer = outage.response(fault, answer, self.site.signal, environ)
        if fault is None or fault.kind not in {"hang", "cut"}:
            entry.status = answer.status_code
        return answer

    def _api(self, request: Request, body: dict[str, Any] | None, entry: Entry) -> Response:
        token: Token | None = None
        with self.site.world.lock:
            try:
                token = authenticate(self.site.world, request.headers.get("Authorization"))
                reply = self._reply(request, body, token, entry)
            except ApiError as error:
                reply = Reply(error.status, error.body(), error.headers)
            answer = self._with_headers(reply, token, entry)
        if request.method == "GET" and answer.status_code == 200:
            answer.set_etag(hashlib.sha256(answer.get_data()).hexdigest(), weak=True)
            answer.make_conditional(request)
        return answer

    def _reply(
        self, request: Request, body: dict[str, Any] | None, token: Token | None, entry: Entry
    ) -> Reply:
        is_graphql = entry.kind == "graphql"
        if token is None:
            if is_graphql:
                raise ApiError(
                    401, "This endpoint requires you to be authenticated.",
                    documentation=GRAPHQL_DOCS,
                )  # fmt: skip
            raise ApiError(401, "Requires authentication")
        if body is None:
            raise ApiError(400, "Problems parsing JSON")
        call = Call(
            self.site.world,
            token,
            request.host_url.rstrip("/"),
            request.path,
            request.args.to_dict(),
            body,
        )
        if not is_graphql:
            return router.answer(call, request.method)
        if request.method != "POST":
            raise not_found(GRAPHQL_DOCS)
        done = graph.run(call)
        entry.points = done.points
        return Reply(200, done.body)

    def _with_headers(self, reply: Reply, token: Token | None, entry: Entry) -> Response:
        answer = _json(reply.status, reply.body)
        answer.headers["x-github-media-type"] = "github.v3; format=json"
        answer.headers["x-github-request-id"] = f"5A4D:{entry.n:06X}:{next(self.serial):06X}"
        if entry.kind == "rest":
            answer.headers["x-github-api-version-selected"] = "2022-11-28"
        if token is not None:
            resource = "graphql" if entry.kind == "graphql" else "core"
            cost = 0 if entry.path == "/rate_limit" else entry.points or 1
            answer.headers.update(spend(token, resource, cost, self.reset))
            if token.kind == "classic":
                answer.headers["x-oauth-scopes"] = ", ".join(sorted(token.scopes))
                answer.headers["x-accepted-oauth-scopes"] = "repo"
        answer.headers.update(reply.headers)
        return answer


def _decoded(request: Request) -> dict[str, Any] | None:
    """The JSON object in a request's body, {} without a body, None if it is not one."""
    raw = request.get_data()
    if not raw.strip():
        return {}
    with contextlib.suppress(ValueError, RecursionError):
        decoded = json.loads(raw)
        return decoded if isinstance(decoded, dict) else None
    return None


def _json(status: int, value: Any) -> Response:
    return Response(json.dumps(value), status=status, content_type=JSON)
