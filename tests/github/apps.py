"""A GitHub that knows one App: it checks signatures and times as the real one does, on loopback.

Sources: https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app and
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app;
the words of its refusals are those of public threads (actions/create-github-app-token#153,
google-gemini/gemini-cli#12033).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from lifecycle.core.timing import render_time

HOUR = 3600.0


@dataclass(frozen=True)
class Key:
    """A pair of keys in PEM."""

    private: str = field(repr=False)
    public: str


def make_key() -> Key:
    """A new pair."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = made.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return Key(private.decode(), public.decode())


@dataclass
class AppServer:
    """The App 12, installed as 34 on octo-org/hello-service.

    Attributes:
        dead: the tokens that it has handed out and does not accept any more.
        moved: where a question for the repository's installation is redirected to, "" for nowhere.
    """

    public: str
    now: Callable[[], float]
    asked: list[str] = field(default_factory=list)
    refusals: list[tuple[int, str]] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    moved: str = ""
    lasts: float = HOUR
    url: str = ""

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer("GET")

            def do_POST(self) -> None:
                self._answer("POST")

            def _answer(self, method: str) -> None:
                authorization = self.headers.get("Authorization") or ""
                status, body = server.answer(method, self.path, authorization)
                content = json.dumps(body).encode()
                self.send_response_only(status)
                self.send_header("Date", formatdate(server.now(), usegmt=True))
                if status == 301:
                    self.send_header("Location", body["url"])
                kind = "text/html" if "<html>" in str(body) else "application/json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Keep the test's output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, path: str, authorization: str) -> tuple[int, dict[str, Any]]:
        """Status and body of one request."""
        self.asked.append(f"{method} {path}")
        if self.refusals:
            status, words = self.refusals.pop(0)
            return status, {"message": words}
        if authorization.rpartition(" ")[2] in self.dead:
            return 401, {"message": "Bad credentials"}
        if " ghs_" in authorization:
            return _as_installation(path)
        try:
            claims = jwt.decode(
                authorization.removeprefix("Bearer "),
                self.public,
                algorithms=["RS256"],
                options={"verify_exp": False, "verify_iat": False},
            )
        except jwt.PyJWTError:
            return 401, {"message": "A JSON web token could not be decoded"}
        if claims["iat"] > self.now():
            words = "'Issued at' claim ('iat') must be an Integer representing the time that the "
            return 401, {"message": f"{words}assertion was issued"}
        if claims["exp"] > self.now() + 600 or claims["exp"] < self.now():
            return 401, {"message": "'Expiration time' claim ('exp') is too far in the future"}
        if claims["iss"] != "12":
            return 404, {"message": "Integration not found"}
        return self._as_app(method, path)

    def _as_app(self, method: str, path: str) -> tuple[int, dict[str, Any]]:
        """What the App itself is told, once its signature is known to be good."""
        if (method, path) == ("GET", "/repos/octo-org/hello-service/installation"):
            moved = {"message": "Moved Permanently", "url": self.moved}
            return (301, moved) if self.moved else (200, {"id": 34})
        if (method, path) == ("GET", "/app"):
            return 200, {"id": 12}
        if (method, path) == ("GET", "/repositories/77/installation"):
            return 200, {"id": 34}
        if (method, path) == ("POST", "/app/installations/34/access_tokens"):
            ends = render_time(self.now() + self.lasts)
            return 201, {"token": f"ghs_{len(self.asked):036}", "expires_at": ends}
        return 404, {"message": "Not Found"}


def _as_installation(path: str) -> tuple[int, dict[str, Any]]:
    """What an installation's token is shown: it is no user's."""
    if path == "/repos/octo-org/hello-service/labels/bug":
        return 200, {"name": "bug", "color": "d73a4a", "description": None}
    if path == "/graphql":
        return 200, {"data": {"viewer": {"login": "robot[bot]"}}}
    if path == "/user":
        return 403, {"message": "Resource not accessible by integration"}
    return (200, {"resources": {}}) if path == "/rate_limit" else (404, {"message": "Not Found"})
