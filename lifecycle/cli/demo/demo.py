"""`lifecycle demo`: the main job on the embedded GitHub."""

from __future__ import annotations

import click

from lifecycle.cli import terminal
from lifecycle.cli.command_session import json_option
from lifecycle.core.errors import Refused


@click.command("demo", short_help="Claim to close in a few seconds, with no token.")
@json_option
def command(*, as_json: bool) -> int:
    """Run a task from claim to close on the embedded GitHub, in a few seconds.

    Needs no token and no network. Exits 0 only if the issue really ended closed and the board Done.
    """
    from lifecycle.cli.demo.demo_story import DemoFailedError, opened, print_end, print_step, tell

    console = opened(quiet=as_json)
    try:
        story = tell(lambda step: print_step(console, step))
    except DemoFailedError as error:
        raise Refused(f"The demo did not finish: {error}") from None
    if as_json:
        click.echo(terminal.json_text(story.as_json()))
    else:
        print_end(console, story)
    return 0 if story.is_good else 1
