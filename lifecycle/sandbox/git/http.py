"""git over smart HTTP: each request is answered by a process of git's own services.

Reading is anonymous, as from any public repository; pushing needs Basic auth with a token. Sources:
https://git-scm.com/docs/http-protocol, https://git-scm.com/docs/protocol-v2
"""

from __future__ import annotations

import contextlib
import gzip
import io
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Self, cast

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.base.errors import ApiError, SandboxError
from lifecycle.sandbox.git import pushes
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.wire.call import authenticate

CHUNK = 65536
SERVICES = ("git-upload-pack", "git-receive-pack")
UNCACHED = {
    "Expires": "Fri, 01 Jan 1980 00:00:00 GMT",
    "Pragma": "no-cache",
    "Cache-Control": "no-cache, max-age=0, must-revalidate",
}
OLD_CLIENT = "Please upgrade your git client: GitHub no longer serves git over dumb HTTP."
"""The answer to a client of the dumb protocol, which GitHub has not served since June 2011:
https://github.blog/2011-03-09-git-dumb-http-transport-to-be-turned-off-in-90-days/"""
MOST_KEPT = 1_000
_kept: dict[tuple[object, ...], bytes] = {}
"""Answers of services, at most `MOST_KEPT`; the key has everything they depend on: request and refs."""


def is_git(path: str) -> bool:
    """Whether a path is git's, as `/OWNER/NAME.git/…`, not the API's."""
    if path.startswith(("/repos/", "/repositories/")):  # `…/commits/HEAD`, `…/contents/objects/a`
        return False
    return path.endswith((
        "/info/refs", "/git-upload-pack", "/git-receive-pack", "/HEAD",
    )) or "/objects/" in path  # fmt: skip


def respond(world: World, request: Request) -> Response:
    """Answer a git client."""
    owner, _, tail = request.path.lstrip("/").partition("/")
    name, _, service = tail.partition("/")
    is_push = "git-receive-pack" in (service, request.args.get("service"))
    try:
        with world.lock:
            token = authenticate(world, request.headers.get("Authorization"))
    except ApiError:
        return _challenge()
    full_name = f"{owner}/{name.removesuffix('.git')}"
    repo = world.repository(full_name) or world.renamed.get(full_name.lower())
    if repo is None or not _may_read(repo, token):
        # A private repository is answered like a missing one, so that nobody learns of it.
        return _plain(404, "Not Found") if token else _challenge()
    if is_push and token is None:
        return _challenge()
    if is_push and token is not None and not _may_push(repo, token):
        message = f"Permission to {repo.full_name}.git denied to {token.user.login}."
        return _plain(403, message)
    if is_push and repo.archived:
        return _plain(403, "This repository was archived so it is read-only.")
    if service == "info/refs" and request.args.get("service") in SERVICES:
        return _advertised(repo, request, request.args["service"])
    if service not in SERVICES:
        return _plain(403, OLD_CLIENT)
    if request.content_type != f"application/x-{service}-request":
        return _plain(415, "Unsupported Media Type")
    if token is not None and is_push:
        return _push(repo, request, token)
    return _fetch(repo, request)


def _may_read(repo: Repository, token: Token | None) -> bool:
    return not repo.is_private or (token is not None and repo.role_of(token.user) is not None)


def _may_push(repo: Repository, token: Token) -> bool:
    return repo.can_push(token.user) and token.may("contents:write")


def _plain(status: int, text: str) -> Response:
    return Response(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")


def _challenge() -> Response:
    answer = _plain(401, "Invalid username or token.")
    answer.headers["WWW-Authenticate"] = 'Basic realm="GitHub"'
    return answer


def _environment(repo: Repository, request: Request, token: Token | None = None) -> dict[str, str]:
    environment = dict(repo.git.environment)
    if protocol := request.headers.get("Git-Protocol"):
        environment["GIT_PROTOCOL"] = protocol
    if token:  # the user who pushes, in the variable of git's own CGI
        environment["GIT_COMMITTER_NAME"] = token.user.login
        environment["GIT_COMMITTER_EMAIL"] = f"{token.user.login}@http.{request.remote_addr}"
    return environment


@dataclass(frozen=True, slots=True)
class Backend:
    """A running service and its two pipes."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]

    @classmethod
    def start(
        cls, repo: Repository, service: str, environment: dict[str, str], *options: str
    ) -> Self:
        """Start a service (`git-upload-pack` or `git-receive-pack`) in a repository."""
        process = subprocess.Popen(
            ["git", service.removeprefix("git-"), "--stateless-rpc", *options, "."],
            cwd=repo.git.path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if process.stdin is None or process.stdout is None:
            raise SandboxError(f"{service} was started without pipes.")
        return cls(process, process.stdin, process.stdout)

    def feed(self, begun: bytes, stream: IO[bytes]) -> None:
        """Write a request's body to the service: the part that was read already, then the stream."""
        try:
            self.stdin.write(begun)
            while chunk := stream.read(CHUNK):
                self.stdin.write(chunk)
            self.stdin.close()
        except BrokenPipeError:
            return  # it refused before it had read everything; its answer says why
        except BaseException:
            self.end()
            raise

    def body(self) -> Iterator[bytes]:
        """Yield the service's answer as it arrives, then end the process."""
        try:
            while chunk := self.stdout.read(CHUNK):
                yield chunk
        finally:
            self.end()

    def end(self) -> None:
        """Close the pipes and wait for the process, which is killed after five seconds."""
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(BrokenPipeError):  # bytes that nobody reads any more
                pipe.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _known(repo: Repository, request: Request, service: str, asked: bytes, *options: str) -> bytes:
    """A service's answer that depends only on the request and the refs; it is kept by these."""
    environment = _environment(repo, request)
    protocol = environment.get("GIT_PROTOCOL")
    head = (repo.git.path / "HEAD").read_text("utf-8")
    refs = repo.git.refs().items() if asked or not _is_second(request) else ()
    key = (service, options, protocol, asked, head, *refs)
    if key not in _kept:
        backend = Backend.start(repo, service, environment, *options)
        backend.feed(asked, io.BytesIO())
        answer = b"".join(backend.body())
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = answer
    return _kept[key]


def _is_second(request: Request) -> bool:
    """Whether the client speaks version 2 of the protocol, which advertises no refs."""
    return "version=2" in request.headers.get("Git-Protocol", "").split(":")


def _advertised(repo: Repository, request: Request, service: str) -> Response:
    """The service's capabilities and, before version 2 of the protocol, the refs."""
    body = _known(repo, request, service, b"", "--http-backend-info-refs")
    if not _is_second(request):
        line = f"# service={service}\n".encode()
        body = b"%04x%s0000%s" % (len(line) + 4, line, body)
    kind = f"application/x-{service}-advertisement"
    return Response(body, headers=UNCACHED, content_type=kind)


def _fetch(repo: Repository, request: Request) -> Response:
    stream: IO[bytes] = request.stream
    if request.headers.get("Content-Encoding") == "gzip":
        stream = cast("IO[bytes]", gzip.GzipFile(fileobj=stream, mode="rb"))
    begun = stream.read(CHUNK)
    kind = "application/x-git-upload-pack-result"
    if b"command=ls-refs" in begun:
        body = _known(repo, request, "git-upload-pack", begun)
        return Response(body, headers=UNCACHED, content_type=kind)
    backend = Backend.start(repo, "git-upload-pack", _environment(repo, request))
    backend.feed(begun, stream)
    answer = Response(backend.body(), headers=UNCACHED, content_type=kind)
    answer.call_on_close(backend.end)  # a generator that never began runs no `finally`
    return answer


def _push(repo: Repository, request: Request, token: Token) -> Response:
    """Accept a push, except what a branch's rules refuse."""
    if request.headers.get("Content-Encoding"):
        return _plain(415, "The sandbox takes a push as git sends it, not packed once more.")
    wanted, begun = pushes.commands(request.stream)
    with repo.world.lock:
        page = f"{request.host_url}{repo.full_name}"
        refused = pushes.refusals(repo, token.user, wanted, page)
        if refused.listed:
            pushes.install(repo)
    environment = _environment(repo, request, token)
    environment[pushes.VARIABLE] = refused.variable()
    backend = Backend.start(repo, "git-receive-pack", environment)
    backend.feed(begun, request.stream)
    # The answer is short, and must not say "done" before the world knows of the push.
    body = refused.named(b"".join(backend.body()))
    with repo.world.lock:
        pulls.refresh(repo, token.user)
        automerge.settle(repo.world)
    return Response(body, headers=UNCACHED, content_type="application/x-git-receive-pack-result")
