"""GitHub Apps: who they are, where they are installed, and the tokens of their installations."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import jwt
import pytest
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from lifecycle.sandbox.seed import SeedApp, SeedInstallation, default_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PERMISSIONS = {"issues": "write", "checks": "write", "contents": "read", "metadata": "read"}
KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]


def signed(number: int = 0, **claims: Any) -> str:
    """A JSON web token of App 12, with other claims as given."""
    now = int(time.time())
    return jwt.encode(
        {"iat": now - 60, "exp": now + 500, "iss": "12", **claims}, KEYS[number], "RS256"
    )


@pytest.fixture
def hub() -> Iterator[Callable[..., requests.Response]]:
    """`hub(method, path, credential, **kwargs)`: one request to a world with an App in it."""
    public = (
        KEYS[0]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    app = SeedApp(
        "agent", 12, "octo-org", client_id="Iv1.agent", public_key=public.decode(),
        permissions=PERMISSIONS,
    )  # fmt: skip
    seed = replace(
        default_seed(),
        apps=[app],
        installations=[
            SeedInstallation(34, "agent", "octo-org"),
            SeedInstallation(35, "agent", "maria", suspended_at=datetime(2026, 1, 1, tzinfo=UTC)),
        ],
    )
    with Sandbox(seed) as sandbox:

        def ask(method: str, path: str, credential: str, **kwargs: Any) -> requests.Response:
            headers = {"Authorization": f"Bearer {credential}"}
            url = sandbox.info.api_url + path
            return requests.request(method, url, headers=headers, timeout=5, **kwargs)

        yield ask


def test_an_installation_acts_with_a_token_of_an_hour(hub: Callable[..., Any]) -> None:
    """The App signs, asks for its installation, gets a token, and comments as its bot."""
    assert hub("GET", "/app", signed()).json()["slug"] == "agent"
    found = hub("GET", "/repos/octo-org/hello-service/installation", signed(iss="Iv1.agent"))
    assert found.json()["id"] == 34
    made = hub("POST", "/app/installations/34/access_tokens", signed())
    assert made.status_code == 201
    token = made.json()["token"]
    assert token.startswith("ghs_")
    assert made.json()["permissions"] == PERMISSIONS
    url = "/repos/octo-org/hello-service/issues/42/comments"
    said = hub("POST", url, token, json={"body": "On it"})
    assert (said.status_code, said.json()["user"]["login"]) == (201, "agent[bot]")
    assert said.json()["user"]["type"] == "Bot"
    again = hub("POST", "/app/installations/34/access_tokens", signed()).json()["token"]
    assert again != token
    mine = hub("GET", "/installation/repositories", token).json()
    assert [repo["full_name"] for repo in mine["repositories"]] == ["octo-org/hello-service"]


@pytest.mark.parametrize(
    ("credential", "status", "words"),
    [
        (lambda: signed(1), 401, "A JSON web token could not be decoded"),
        (lambda: signed(iat=int(time.time()) + 600), 401, "'Issued at' claim"),
        (lambda: signed(exp=int(time.time()) - 1), 401, "'Expiration time' claim"),
        (lambda: signed(exp=int(time.time()) + 3600), 401, "too far in the future"),
        (lambda: signed(iss="99"), 404, "Integration not found"),
        (lambda: "eyJ.x.y", 401, "A JSON web token could not be decoded"),
        (lambda: "sandbox-token", 401, "A JSON web token could not be decoded"),
    ],
)
def test_who_is_not_the_app(
    hub: Callable[..., Any], credential: Callable[[], str], status: int, words: str
) -> None:
    """Another key, another time, another App or a person's token: each has GitHub's sentence."""
    answer = hub("GET", "/app", credential())
    assert (answer.status_code, words in answer.json()["message"]) == (status, True)


def test_what_an_app_may_not(hub: Callable[..., Any]) -> None:
    """As itself it sees no issues; a suspended installation and one of nobody give no token."""
    assert hub("GET", "/repos/octo-org/hello-service/issues/42", signed()).status_code == 403
    suspended = hub("POST", "/app/installations/35/access_tokens", signed())
    assert (suspended.status_code, "suspended" in suspended.json()["message"]) == (403, True)
    assert hub("POST", "/app/installations/36/access_tokens", signed()).status_code == 404
    wishes: list[Any] = [
        {"administration": "write"},
        {"issues": "admin"},
        {"issues": "all"},
        ["issues"],
    ]
    for permissions in wishes:
        more = {"permissions": permissions}
        refused = hub("POST", "/app/installations/34/access_tokens", signed(), json=more)
        assert refused.status_code == 422, permissions
    other = {"repositories": ["gone"]}
    assert (
        hub("POST", "/app/installations/34/access_tokens", signed(), json=other).status_code == 422
    )


def test_a_token_may_be_for_less(hub: Callable[..., Any]) -> None:
    """Fewer permissions than the App has, and only the repositories that were named."""
    wish = {"permissions": {"issues": "read"}, "repositories": ["hello-service"]}
    made = hub("POST", "/app/installations/34/access_tokens", signed(), json=wish).json()
    assert made["permissions"] == {"issues": "read", "metadata": "read"}
    url = "/repos/octo-org/hello-service/issues/42/comments"
    assert hub("POST", url, made["token"], json={"body": "More than it may"}).status_code == 403
    assert made["repository_selection"] == "selected"
    assert made["repositories"][0]["name"] == "hello-service"
