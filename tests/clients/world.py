"""The built-in world with more people who hold a token, an App, and a board of a person's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from lifecycle.sandbox.seed import (
    Seed,
    SeedApp,
    SeedField,
    SeedInstallation,
    SeedItem,
    SeedProject,
    SeedToken,
    default_seed,
)

CLASSIC = ["delete_repo", "notifications", "project", "read:org", "repo", "user", "workflow"]
WRITES = ("actions", "checks", "contents", "issues", "pull_requests", "statuses")
PERMISSIONS = dict.fromkeys(WRITES, "write")
MARIA, SAM, VISITOR, ROBOT = "maria-token", "sam-token", "visitor-token", "robot-token"
APP, INSTALLED = "as the App", "as its installation"
APP_ID, INSTALLATION = 12, 34


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


def world(key: Key) -> Seed:
    """The built-in world and more; octocat's token is the first."""
    seed = default_seed()
    first = replace(seed.tokens[0], scopes=CLASSIC)
    others = [
        SeedToken(token, login, CLASSIC)
        for token, login in ((MARIA, "maria"), (SAM, "sam"), (VISITOR, "visitor"))
    ]
    granted = [f"{name}:{level}" for name, level in PERMISSIONS.items()]
    robot = SeedToken(ROBOT, "octocat", ["metadata:read", *granted], kind="app")
    app = SeedApp(
        "agent", APP_ID, "octo-org", public_key=key.public,
        permissions={"metadata": "read", **PERMISSIONS},
    )  # fmt: skip
    fields = [
        SeedField("Title", "TITLE"),
        SeedField("Status", "SINGLE_SELECT", options=["Todo", "Done"]),
        SeedField("Agent", "TEXT"),
    ]
    board = SeedProject(
        2, "Of my own", owner="maria", fields=fields, items=[SeedItem(42, {"Status": "Todo"})]
    )
    return replace(
        seed,
        tokens=[first, *others, robot],
        apps=[*seed.apps, app],
        installations=[*seed.installations, SeedInstallation(INSTALLATION, "agent", "octo-org")],
        projects=[*seed.projects, board],
    )
