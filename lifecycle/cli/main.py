"""`lifecycle`: the group of commands, loaded one at a time; `endings.py` has how one ends."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

from lifecycle import __version__
from lifecycle.cli.endings import answered, stopped, tell
from lifecycle.cli.terminal import guarded

COMMANDS = {
    "claim": ("claims.claim:command", "Take a task."),
    "takeover": ("claims.claim:takeover", "Take a task from an agent that is gone."),
    "handoff": ("claims.claim:handoff", "Push the work and ask for its PR."),
    "status": ("views.status:status", "Show where everything stands; no network."),
    "watch": ("views.watch:watch", "The same, live on the terminal."),
    "statusline": ("views.statusline:statusline", "One line, for the client's status line."),
    "tick": ("claims.claim_look:tick", "Look at GitHub once, now."),
    "close": ("claims.claim:close", "The user's yes: close the issue."),
    "nudge": ("claims.claim:nudge", "Set the phase by hand."),
    "release": ("claims.claim:release", "Release the task."),
    "tracker": ("tracker.tracker:command", "Tasks: list, show, take, change, close them."),
    "stage": ("tracker.stage:command", "The staged workflow: show it, set a stage, switch it off."),
    "check": ("checks.check:command", "Run the tests, or another check, and keep what it showed."),
    "platform": ("checks.platform:command", "What kind of project this is, and its commands."),
    "feedback": ("checks.feedback:command", "What CI answers to a pull request."),
    "wait": ("checks.wait:command", "Wait for a pull request's news."),
    "run": ("run.run:command", "An autonomous run: stories, gates, blockers."),
    "workflow": ("workflow.workflow:command", "Phases whose state survives compaction."),
    "reconcile": ("reconcile.reconcile:command", "Repair what drifted, in many tasks at once."),
    "stats": ("views.stats:command", "Show times, attempts and bottlenecks; no network."),
    "init": ("setup.init:command", "Wire this project's hooks, or take them out."),
    "doctor": ("setup.doctor:command", "Say what works here, what does not, and the fix."),
    "trust": ("setup.trust:command", "Let a project's own commands run."),
    "sandbox": ("demo.sandbox:command", "The embedded GitHub."),
    "demo": ("demo.sandbox:demo", "Claim to close in a few seconds, with no token."),
    "hook": ("setup.hook:command", "The hook entrypoints, for other callers."),
}
"""Where in `lifecycle/cli/` each command is, its module and its name there; and what the help says of it.

The help reads it here: in the commands, it would import all of them.
"""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for.

    Args:
        table: where below `lifecycle.cli` each command is: its module, and its name there.
        said: what the help says of each, so that it imports none of them; theirs unless given.
        given: as click.Group takes it.
    """

    def __init__(
        self, *, table: Mapping[str, Any], said: Mapping[str, str] | None = None, **given: Any
    ) -> None:
        super().__init__(**given)
        self.table = table
        self.said = said

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The commands in the order of a task's life."""
        return list(self.table)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first argument names; one that is misspelt is told the nearest."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=list(self.table), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, each with its sentence."""
        if self.said is None:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl(list(self.said.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- click's signature
        """The command called `cmd_name`, or None."""
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(f"lifecycle.cli.{module}"), name)
        command.short_help = self.said[cmd_name] if self.said is not None else command.short_help
        return command


@click.group(
    cls=LazyGroup,
    table={name: place for name, (place, _) in COMMANDS.items()},
    said={name: said for name, (_, said) in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="lifecycle")
def group() -> None:
    """Claim to close for coding agents on GitHub.

    A task is claimed, worked on, handed off as a PR, watched through CI and review, and closed when a
    person says yes. The hooks do most of it while the agent works; these commands look and nudge.

    Tokens come from GH_TOKEN or GITHUB_TOKEN, settings from .lifecycle.toml; see docs/reference.md.
    """


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; no traceback ever reaches a person."""
    as_json = "--json" in arguments
    with guarded():
        return answered(lambda: _clicked(arguments, as_json=as_json), as_json=as_json)


def _clicked(arguments: list[str], *, as_json: bool) -> object:
    """The result of a command, and the exit code of what click itself ends."""
    try:
        return group.main(args=arguments, prog_name="lifecycle", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        is_hook = arguments[:1] == ["hook"]
        if as_json and not is_hook:
            tell(error.format_message(), "UsageError", as_json=True)
        else:
            error.show()
        # A hook that is misspelt in somebody's settings must not block the agent, as exit 2 would.
        return 1 if is_hook else 2
    except click.Abort as stop:
        return stopped(stop, as_json=as_json)


class Word(click.Choice[str]):
    """One of some words, each of which stands for a value."""

    def __init__(self, values: Mapping[str, Any], *, case_sensitive: bool = True) -> None:
        super().__init__(list(values), case_sensitive=case_sensitive)
        self.values = values

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of a word; fails with the words that there are."""
        return self.values[super().convert(value, param, ctx)]

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:  # noqa: ARG002 -- click's signature
        """The words as they are written, whatever case they are taken in."""
        return f"{value!r} is not one of {', '.join(map(repr, self.values))}."
