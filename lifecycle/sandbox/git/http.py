"""git over smart HTTP: `git http-backend` behind WSGI, as its manual describes for a web server.

Reading is anonymous, as from any public repository; pushing needs Basic auth with a token. Source:
https://git-scm.com/docs/git-http-backend
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Self

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.base.errors import ApiError, SandboxError
from lifecycle.sandbox.git import pushes
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.wire.call import authenticate

CHUNK = 65536


def is_git(path: str) -> bool:
    """Whether a path belongs to git: `/OWNER/NAME.git/…`, as clients ask for it; not the API's."""
    if path.startswith(("/repos/", "/repositories/")):  # `…/commits/HEAD`, `…/contents/objects/a`
        return False
    return path.endswith((
        "/info/refs", "/git-upload-pack", "/git-receive-pack", "/HEAD",
    )) or "/objects/" in path  # fmt: skip


def respond(world: World, request: Request) -> Response:
    """Answer a git client."""
    owner, _, rest = request.path.lstrip("/").partition("/")
    name, _, service = rest.partition("/")
    is_push = "git-receive-pack" in (service, request.args.get("service"))
    try:
        with world.lock:
            token = authenticate(world, request.headers.get("Authorization"))
    except ApiError:
        return _challenge()
    full_name = f"{owner}/{name.removesuffix('.git')}"
    repo = world.repository(full_name) or world.renamed.get(full_name.lower())
    if repo is None or not _may_read(repo, token):
        # Whether a private repository is there is nobody's business.
        return _plain(404, "Not Found") if token else _challenge()
    if is_push and token is None:
        return _challenge()
    if is_push and token is not None and not _may_push(repo, token):
        message = f"Permission to {repo.full_name}.git denied to {token.user.login}."
        return _plain(403, message)
    return _run(repo, request, service, token)


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


def _environment(
    repo: Repository, request: Request, service: str, token: Token | None
) -> dict[str, str]:
    made = {
        **repo.git.environment,
        "GIT_PROJECT_ROOT": str(repo.git.path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{repo.git.path.name}/{service}",
        "REQUEST_METHOD": request.method,
        "QUERY_STRING": request.query_string.decode("latin-1"),
        "CONTENT_TYPE": request.content_type or "",
        "REMOTE_ADDR": request.remote_addr or "",
    }
    if request.content_length is not None:
        made["CONTENT_LENGTH"] = str(request.content_length)
    if encoding := request.headers.get("Content-Encoding"):
        made["HTTP_CONTENT_ENCODING"] = encoding
    if protocol := request.headers.get("Git-Protocol"):
        made["HTTP_GIT_PROTOCOL"] = made["GIT_PROTOCOL"] = protocol
    if token:
        made["REMOTE_USER"] = token.user.login
    return made


@dataclass(frozen=True, slots=True)
class Backend:
    """A running `git http-backend` and its two pipes."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]

    @classmethod
    def start(cls, repo: Repository, environment: dict[str, str]) -> Self:
        """Start one."""
        process = subprocess.Popen(
            ["git", "http-backend"],
            cwd=repo.git.path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        if process.stdin is None or process.stdout is None:
            raise SandboxError("git http-backend was started without pipes.")
        return cls(process, process.stdin, process.stdout)

    def feed(self, request: Request, begun: bytes = b"") -> None:
        """Hand the request's body on as it comes, packed or not, after what was read of it."""
        try:
            self.stdin.write(begun)
            while chunk := request.stream.read(CHUNK):
                self.stdin.write(chunk)
            self.stdin.close()
        except BrokenPipeError:
            return  # it refused before it had read all; its answer says why

    def head(self) -> tuple[int, list[tuple[str, str]]]:
        """The CGI head: headers, with the status among them if it is not 200."""
        status, headers = 200, []
        while line := self.stdout.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "status":
                status = int(value.split()[0])
            else:
                headers.append((name, value.strip()))
        return status, headers

    def body(self) -> Iterator[bytes]:
        """What it answers, as it comes; then it is over."""
        try:
            while chunk := self.stdout.read(CHUNK):
                yield chunk
        finally:
            self.end()

    def end(self) -> None:
        """Leave no process and no pipe behind, whoever went first."""
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(BrokenPipeError):  # bytes that nobody reads any more
                pipe.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _push(repo: Repository, request: Request, service: str, token: Token) -> Response:
    """Take a push, but for what the rules of a branch refuse."""
    if request.headers.get("Content-Encoding"):
        return _plain(415, "The sandbox takes a push as git sends it, not packed once more.")
    wanted, begun = pushes.commands(request.stream)
    with repo.world.lock:
        page = f"{request.host_url}{repo.full_name}"
        refused = pushes.refusals(repo, token.user, wanted, page)
        if refused.listed:
            pushes.install(repo)
    environment = _environment(repo, request, service, token)
    backend = Backend.start(repo, {**environment, pushes.VARIABLE: refused.variable()})
    status, headers = _fed(backend, request, begun)
    # The answer is short, and must not say "done" before the world knows of the push.
    body = refused.named(b"".join(backend.body()))
    with repo.world.lock:
        pulls.refresh(repo, token.user)
        automerge.settle(repo.world)
    return Response(body, status=status, headers=headers)


def _fed(
    backend: Backend, request: Request, begun: bytes = b""
) -> tuple[int, list[tuple[str, str]]]:
    """Hand the request on, and take the head of what is answered."""
    try:
        backend.feed(request, begun)
        return backend.head()
    except BaseException:
        backend.end()
        raise


def _run(repo: Repository, request: Request, service: str, token: Token | None) -> Response:
    if service == "git-receive-pack" and token is not None:
        return _push(repo, request, service, token)
    backend = Backend.start(repo, _environment(repo, request, service, token))
    status, headers = _fed(backend, request)
    answer = Response(backend.body(), status=status, headers=headers)
    answer.call_on_close(backend.end)  # a generator that never began has no end of its own
    return answer
