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
    "--seed", type=click.Path(path_type=Path), help="A YAML or JSON file: the world to start from."
)
@click.option(
    "--db", type=click.Path(path_type=Path), help="A file to keep the world in; memory without it."
)
@already_json
def serve(port: int, seed: Path | None, db: Path | None) -> int:
    """Print one JSON line with the addresses and the token, then serve until stopped."""
    from lifecycle.errors import Refused
    from lifecycle.sandbox.errors import SandboxError
    from lifecycle.sandbox.seed import read_seed
    from lifecycle.sandbox.server import serve as run

    try:
        return run(port=port, seed=read_seed(seed) if seed else None, db=db, out=sys.stdout)
    except SandboxError as error:
        raise Refused(str(error)) from None
    except OSError as error:
        raise Refused(f"The sandbox could not listen on port {port}: {error.strerror}.") from None


@command.command("dump")
@click.option("--url", help="A running sandbox: its api_url, as `serve` prints it.")
@click.option("--db", type=click.Path(path_type=Path), help="A file of `serve --db`, not in use.")
@already_json
def dump(url: str | None, db: Path | None) -> int:
    """Print a world as a seed, from a running sandbox or from a file that one kept."""
    from lifecycle.errors import Refused
    from lifecycle.sandbox.errors import SandboxError

    if (url is None) == (db is None):
        raise click.UsageError("Name a running sandbox with --url, or a file with --db.")
    try:
        click.echo(_dumped(url, db), nl=False)
    except SandboxError as error:
        raise Refused(str(error)) from None
    return 0


def _dumped(url: str | None, db: Path | None) -> str:
    """The seed as text.

    Raises:
        SandboxError: Nobody answers there, or the file holds no world.
    """
    from lifecycle.sandbox.control import Control, ControlError
    from lifecycle.sandbox.errors import SandboxError
    from lifecycle.sandbox.seed.keeping import dumped

    if url is None:
        return dumped(Path(db or ""))
    try:
        return Control(f"{url.rstrip('/')}/_sandbox").dump()
    except (OSError, ValueError, ControlError):
        raise SandboxError(f"No sandbox answers at {url}; nothing was dumped.") from None
