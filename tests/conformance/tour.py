"""A walk past every call that the sandbox serves, for the comparison with recorded answers.

The world is made rich first, so that answers have in them what real ones have: reviews, checks,
comments, labels, a merged and a closed pull request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING, Any

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed.form import SeedApp, SeedInstallation, SeedToken
from lifecycle.sandbox.seed.reading import default_seed
from tests.conformance.exchange import Exchange

if TYPE_CHECKING:
    from lifecycle.sandbox.seed.form import Seed
    from lifecycle.sandbox.server import SandboxInfo

SECONDS = 20
SCOPES = ["admin:org", "delete_repo", "project", "read:org", "repo", "user", "workflow"]
WRITABLE = (
    "actions", "administration", "checks", "contents", "issues", "organization_projects",
    "pull_requests", "statuses", "workflows",
)  # fmt: skip
PERMISSIONS = {"metadata": "read", "members": "read", **dict.fromkeys(WRITABLE, "write")}
LATE = datetime(2099, 1, 2, 3, 4, 5, tzinfo=UTC)
APP = 12
INSTALLATION = 34
TOKENS = {
    "maria": SeedToken(token="tour-of-maria", user="maria", scopes=SCOPES, expires_at=LATE),
    "sam": SeedToken(token="tour-of-sam", user="sam", scopes=SCOPES, expires_at=LATE),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One call. Its path and body are filled with what earlier answers gave.

    Attributes:
        keep: A name for what the answer gives, and the key of the answer that holds it.
        status: What must come back.
        token: Whose: `maria` has a classic token and is an admin; `jwt` is an App as itself; others
            are names under which an answer's token was kept.
    """

    method: str
    path: str
    body: Any = None
    keep: tuple[str, str] | None = None
    status: int = 200
    token: str = "maria"
    accept: str = "application/vnd.github+json"


def filled(thing: Any, known: dict[str, Any]) -> Any:
    """A body or path with names in braces filled in; a lone name keeps the value's type."""
    if isinstance(thing, dict):
        return {key: filled(value, known) for key, value in thing.items()}
    if isinstance(thing, list):
        return [filled(value, known) for value in thing]
    if not isinstance(thing, str):
        return thing
    names = [name for _, name, _, _ in Formatter().parse(thing) if name]
    if len(names) == 1 and thing == f"{{{names[0]}}}":
        return known[names[0]]
    return thing.format(**known)


@cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _signed() -> str:
    """The App's own credential: a JSON web token."""
    moment = int(time.time())
    claims = {"iat": moment - 60, "exp": moment + 500, "iss": str(APP)}
    return jwt.encode(claims, _key(), "RS256")


def seed() -> Seed:
    """The built-in world, with the tokens and the App of the walk."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = _key().public_key().public_bytes(serialization.Encoding.PEM, form)
    app = SeedApp(
        slug="walker", id=APP, owner="octo-org", public_key=public.decode(), permissions=PERMISSIONS
    )
    installed = SeedInstallation(id=INSTALLATION, app="walker", account="octo-org")
    tokens = list(TOKENS.values())
    known = default_seed()
    board = replace(known.projects[0], owner="maria", items=[])
    return replace(
        known,
        tokens=tokens,
        apps=[app],
        installations=[installed],
        projects=[*known.projects, board],
    )


def walk(info: SandboxInfo, steps: tuple[Step, ...]) -> list[Exchange]:
    """Make the world rich, take every step in order, and give back what was answered.

    Raises:
        AssertionError: A step was answered with another status.
    """
    known = prepared(info)
    found = []
    with requests.Session() as session:
        session.trust_env = False
        for step in steps:
            exchange = _take(session, info, step, known)
            assert exchange.status == step.status, (step, exchange.status, exchange.text[:400])
            found.append(exchange)
            if step.keep:
                name, path = step.keep
                known[name] = _inside(exchange.body(), path)
    return found


def _inside(value: Any, path: str) -> Any:
    for part in path.split("/"):
        value = value[int(part) if part.isdecimal() else part]
    return value


def _take(
    session: requests.Session, info: SandboxInfo, step: Step, known: dict[str, Any]
) -> Exchange:
    target = filled(step.path, known)
    if not target.startswith("/"):
        target = f"/repos/{info.repository}/{target}" if target else f"/repos/{info.repository}"
    credential = f"Bearer {_signed()}" if step.token == "jwt" else f"token {known[step.token]}"
    asked = {"Authorization": credential, "Accept": step.accept}
    answer = session.request(
        step.method,
        f"{info.api_url}{target}",
        json=filled(step.body, known),
        headers=asked,
        timeout=SECONDS,
        allow_redirects=False,
    )
    path, _, query = target.partition("?")
    return Exchange(
        method=step.method,
        path=path,
        query=query,
        status=answer.status_code,
        asked={name.lower(): value for name, value in asked.items()},
        headers={name.lower(): value for name, value in answer.headers.items()},
        text=answer.text,
    )


def prepared(info: SandboxInfo) -> dict[str, Any]:
    """Let people and CI work in the sandbox; the numbers and shas that steps refer to."""
    control = Control(info.control_url)
    sha = control.push_commit("tour", {"tour.txt": "1\n2\n"}, "Walk", by="octocat")
    number = control.open_pull("tour", "Toured", body="Refs #42", by="octocat")
    control.review(number, "APPROVED", login="maria", body="fine")
    control.set_check(number, "test")
    control.set_check(number, "style", workflow="Lint")
    control.set_status(number, "ci/tour", "success")
    control.assign(42, "octocat")
    for words in ("one", "two", "three"):
        control.comment(42, words)
    tokens = {name: one.token for name, one in TOKENS.items()}
    return tokens | {
        "issue": 42, "pull": number, "sha": sha, "branch": "tour", "repository": info.repository,
        "installation": INSTALLATION,
    }  # fmt: skip
