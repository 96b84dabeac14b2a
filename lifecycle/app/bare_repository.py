"""git for a repository that is not checked out here: a bare repository, made when it is first needed."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from urllib.parse import urlsplit

from lifecycle.core.redact import keep_secret
from lifecycle.git.process import GitRepository

REMOTE = "origin"


class BareRepository(GitRepository):
    """A bare repository that the first git command creates, since most repairs need no git at all."""

    url = ""
    """The address of its only remote."""

    def run(self, *args: str, check: bool = True, remote: str = "", stdin: str = "") -> str:
        """Run git here; raises as GitRepository does."""
        if not (self.root / "HEAD").exists():
            super().run("init", "--quiet", "--bare")
            super().run("remote", "add", REMOTE, self.url)
        return super().run(*args, check=check, remote=remote, stdin=stdin)


def authorization(environment: Mapping[str, str], url: str, token: str) -> dict[str, str]:
    """Environment variables that let git send the token to this server, so that no command line has it.

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
