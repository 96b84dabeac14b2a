"""`lifecycle demo`: the main job on the embedded GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lifecycle.cli import terminal
from lifecycle.cli.command_session import json_option
from lifecycle.core.errors import Refused

if TYPE_CHECKING:
    from rich.console import Console

    from lifecycle.cli.demo.demo_story import DemoStep, Story

WIDTH = 100
"""Columns at most: further apart, words and numbers of one line lose each other."""

_COLOURS = {"agent": "cyan", "hook": "magenta", "human": "green"}


@click.command("demo", short_help="Claim to close in a few seconds, with no token.")
@json_option
def command(*, as_json: bool) -> int:
    """Run a task from claim to close on the embedded GitHub, in a few seconds.

    Needs no token and no network. Exits 0 only if the issue really ended closed and the board Done.
    """
    from rich.text import Text

    from lifecycle.cli.demo.demo_story import DemoFailedError, tell

    console = terminal.console(quiet=as_json, width=min(terminal.console().width, WIDTH))
    says = ", on an embedded GitHub: real git, real HTTP, real hooks\n"
    console.print(Text.assemble(("claim to close", "bold"), says))
    try:
        story = tell(lambda step: _print_step(console, step))
    except DemoFailedError as error:
        raise Refused(f"The demo did not finish: {error}") from None
    if as_json:
        click.echo(terminal.json_text(story.as_json()))
    else:
        _print_end(console, story)
    return 0 if story.is_good else 1


def _print_step(console: Console, step: DemoStep) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    row = Table.grid(padding=(0, 2), expand=True)
    row.add_column(width=5)
    row.add_column(ratio=1)
    row.add_column(width=10, justify="right")
    row.add_column(width=11)
    count = f"{step.requests} request{'' if step.requests == 1 else 's'}"
    who = Text(step.who, style=f"bold {_COLOURS.get(step.who, 'white')}")
    board = Text(step.board, style="bold green" if step.board == "Done" else "dim")
    row.add_row(who, Text(step.what, style="dim"), Text(count, style="dim"), board)
    console.print(row)
    if step.heard:
        style = "red" if "FAILED" in step.heard else "green" if "passed!" in step.heard else ""
        console.print(Padding(Text(step.heard, style=style), (0, 0, 0, 7), expand=False))


def _print_end(console: Console, story: Story) -> None:
    total = sum(step.requests for step in story.steps)
    if story.is_good:
        end = f'closed, "{story.comment.splitlines()[0]}", board {story.board}, Agent cleared'
        says = f" in {story.seconds} s with {total} requests: #42 {end}."
        _end(console, "bold green", "done", says)
        return
    state = "closed" if story.is_closed else "open"
    says = f": #42 is {state}, the board says {story.board or 'nothing'}."
    _end(console, "bold red", "failed", says)


def _end(console: Console, style: str, word: str, says: str) -> None:
    from rich.text import Text

    console.print(Text.assemble("\n", (word, style), says))
