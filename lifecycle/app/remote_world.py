"""Another repository's world: the same clients, and no worktree."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from lifecycle.app.wiring import World
from lifecycle.core.redact import keep_secret
from lifecycle.core.values.model import Repository
from lifecycle.git.process import GitRepository

_REMOTE = "origin"


def elsewhere(home: World, repository: Repository, url: str, place: Path) -> World:
    """The world of a repository that nobody has checked out here.

    Args:
        home: the world whose clients, token and settings are shared.
        repository: whose issues and pull requests.
        url: its page; git finds it below `.git`.
        place: an empty folder, which becomes a bare repository when git is first asked to push.

    Raises:
        NoToken, BadConfig: there is no token, or the settings cannot be used.
    """
    shared = home.shared
    world = World(place, home.environment, home.clock, home.deadline, home.cache.state)
    settings = replace(home.settings, repository=repository, remote=_REMOTE)
    token = _for_git(home.environment, url, home.token.value)
    git = _Bare(place, home.deadline, home.environment, for_servers=token)
    git.url = f"{url}.git"
    world.__dict__.update(shared, settings=settings, base=repository, head=repository, git=git)
    return world


class _Bare(GitRepository):
    """A bare repository that is made by the first command: most repairs need no git at all."""

    url = ""
    """Where its one remote lies."""

    def run(self, *args: str, check: bool = True, remote: str = "") -> str:
        """Run git here; raises as GitRepository does."""
        if not (self.root / "HEAD").exists():
            super().run("init", "--quiet", "--bare")
            super().run("remote", "add", _REMOTE, self.url)
        return super().run(*args, check=check, remote=remote)


def _for_git(environment: Mapping[str, str], url: str, token: str) -> dict[str, str]:
    """Variables that let git send the token to this server, and nothing on a command line.

    Source: https://git-scm.com/docs/git-config#ENVIRONMENT
    """
    secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    keep_secret(secret)
    parts = urlsplit(url)
    count = int(environment.get("GIT_CONFIG_COUNT") or 0)
    return {
        "GIT_CONFIG_COUNT": str(count + 1),
        f"GIT_CONFIG_KEY_{count}": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        f"GIT_CONFIG_VALUE_{count}": f"Authorization: Basic {secret}",
    }
