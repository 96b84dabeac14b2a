"""`lifecycle sandbox`: the embedded GitHub."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lifecycle.cli.session import already_json


@click.group("sandbox", short_help="The embedded GitHub.")
def command() -> None:
    """An embedded GitHub on loopback: REST, GraphQL, and git over smart HTTP."""


@command.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free one.")
@click.option(
    "--seed", type=click.Path(path_type=Path), help="A JSON file with the world to start from."
)
@already_json
def serve(port: int, seed: Path | None) -> int:
    """Print one JSON line with the addresses and the token, then serve until stopped."""
    from lifecycle.errors import Refused
    from lifecycle.sandbox.errors import SandboxError
    from lifecycle.sandbox.seed import read_seed
    from lifecycle.sandbox.server import serve as run

    try:
        return run(port=port, seed=read_seed(seed) if seed else None, out=sys.stdout)
    except SandboxError as error:
        raise Refused(str(error)) from None
    except OSError as error:
        raise Refused(f"The sandbox could not listen on port {port}: {error.strerror}.") from None
