"""The ways in which the hooks come into the client."""

from __future__ import annotations

from collections.abc import Callable

from tests.clients.claude_code.client import Client
from tests.needed import ROOT

PERMISSIONS = "Bash(lifecycle claim:*),Bash(lifecycle handoff:*)"


def plugin(client: Client) -> tuple[str, ...]:
    """Install the plugin as the README says."""
    for arguments in (
        ("marketplace", "add", str(ROOT)),
        ("install", "lifecycle@lifecycle"),
    ):
        done = client.run("plugin", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
    return ("--allowedTools", PERMISSIONS)


def init(client: Client, *options: str) -> tuple[str, ...]:
    """`lifecycle init` in the project."""
    client.lifecycle("init", *options)
    return ()


def both(client: Client) -> tuple[str, ...]:
    """The plugin, and `lifecycle init` besides."""
    init(client)
    return plugin(client)


WAYS: dict[str, Callable[[Client], tuple[str, ...]]] = {
    "plugin": plugin,
    "init": init,
    "both": both,
}
