"""The built-in world with a token for everybody in it, an app, and a stranger's fork."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.sandbox.seed import Seed, SeedApp, SeedRepository, SeedToken, SeedUser, default_seed

CLASSIC = ["repo", "project"]
WRITES = [
    "actions:write", "administration:write", "checks:write", "contents:write", "issues:write",
    "pull_requests:write", "statuses:write",
]  # fmt: skip
FORK = "visitor/hello-service"


def crowd() -> Seed:
    """Tokens: `maria` (admin), `sam` (writes), `visitor` (reads), `robot` and `other` (apps)."""
    seed = default_seed()
    bots = [SeedUser("robot[bot]", kind="bot"), SeedUser("other[bot]", kind="bot")]
    return replace(
        seed,
        users=[*seed.users, *bots],
        apps=[
            SeedApp("robot", 4711, "octo-org", bot="robot[bot]"),
            SeedApp("other", 4712, "octo-org", bot="other[bot]"),
        ],
        tokens=[
            *seed.tokens,
            *(SeedToken(login, login, CLASSIC) for login in ("maria", "sam", "visitor")),
            SeedToken("robot", "robot[bot]", WRITES, "app"),
            SeedToken("modest", "robot[bot]", ["pull_requests:write"], "app"),
            SeedToken("other", "other[bot]", WRITES, "app"),
            SeedToken("workflow", "robot[bot]", WRITES, "actions"),
        ],
        repositories=[
            *seed.repositories,
            SeedRepository(
                FORK,
                fork_of="octo-org/hello-service",
                roles=dict.fromkeys(("octocat", "maria", "sam"), "read"),
            ),
        ],
    )
