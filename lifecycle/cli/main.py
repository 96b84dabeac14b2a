"""`lifecycle`: the group of commands, loaded one at a time, and the one `try` at the top.

Exit codes: 0 done; 1 refused, rejected or not reachable now; 2 a usage error; 3 a defect of ours, with
the log's path; 4 held by another; 130 interrupted. Those of `wait` are in `feedback/waiting/endings.py`.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from traceback import walk_tb
from typing import Any

import click

from lifecycle import __version__
from lifecycle.cli.terminal import CleanStream, guarded, json_text
from lifecycle.core.errors import HeldByAnother, LifecycleError
from lifecycle.core.redact import visible
from lifecycle.core.timing import DeadlineReached
from lifecycle.storage import log
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.store import FOLDER

COMMANDS = {
    "claim": "claims.claim:command",
    "takeover": "claims.claim:takeover",
    "handoff": "claims.claim:handoff",
    "status": "views.status:status",
    "watch": "views.watch:watch",
    "statusline": "views.statusline:statusline",
    "tick": "claims.claim_look:tick",
    "close": "claims.claim:close",
    "nudge": "claims.claim:nudge",
    "release": "claims.claim:release",
    "tracker": "tracker.tracker:command",
    "stage": "tracker.stage:command",
    "check": "checks.check:command",
    "platform": "checks.platform:command",
    "feedback": "checks.feedback:command",
    "wait": "checks.wait:command",
    "run": "run.run:command",
    "workflow": "workflow.workflow:command",
    "reconcile": "reconcile.reconcile:command",
    "stats": "views.stats:command",
    "init": "setup.init:command",
    "doctor": "setup.doctor:command",
    "trust": "setup.trust:command",
    "sandbox": "demo.sandbox:command",
    "demo": "demo.sandbox:demo",
    "hook": "hook:command",
}
"""Where in `lifecycle/cli/` each command is: its module, and its name there."""

SHORT_HELP = {
    "claim": "Take a task.",
    "takeover": "Take a task from an agent that is gone.",
    "handoff": "Push the work and ask for its PR.",
    "status": "Show where everything stands; no network.",
    "watch": "The same, live on the terminal.",
    "statusline": "One line, for the client's status line.",
    "tick": "Look at GitHub once, now.",
    "close": "The user's yes: close the issue.",
    "nudge": "Set the phase by hand.",
    "release": "Release the task.",
    "tracker": "Tasks: list, show, take, change, close them.",
    "stage": "The staged workflow: show it, set a stage, switch it off.",
    "check": "Run the tests, or another check, and keep what it showed.",
    "platform": "What kind of project this is, and its commands.",
    "feedback": "What CI answers to a pull request.",
    "wait": "Wait for a pull request's news.",
    "run": "An autonomous run: stories, gates, blockers.",
    "workflow": "Phases whose state survives compaction.",
    "reconcile": "Repair what drifted, in many tasks at once.",
    "stats": "Show times, attempts and bottlenecks; no network.",
    "init": "Wire this project's hooks, or take them out.",
    "doctor": "Say what works here, what does not, and the fix.",
    "trust": "Let a project's own commands run.",
    "sandbox": "The embedded GitHub.",
    "demo": "Claim to close in a few seconds, with no token.",
    "hook": "The hook entrypoints, for other callers.",
}
"""What the help says of each: read in the commands, it would import all of them."""


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is asked for.

    Args:
        table: where below `lifecycle.cli` each command is: its module, and its name there.
        said: what the help says of each, so that it imports none of them; theirs unless given.
        given: as click.Group takes it.
    """

    def __init__(
        self, *, table: Mapping[str, str], said: Mapping[str, str] | None = None, **given: Any
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
        return command


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    said=SHORT_HELP,
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
    with guarded():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        result = group.main(args=arguments, prog_name="lifecycle", standalone_mode=False)
        if sys.stdout is not None:  # None: it was closed before we were started
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        is_hook = arguments[:1] == ["hook"]
        if as_json and not is_hook:
            _say(error.format_message(), "UsageError", as_json=True)
        else:
            error.show()
        # A hook that is misspelt in somebody's settings must not block the agent, as exit 2 would.
        return 1 if is_hook else 2
    except (KeyboardInterrupt, click.Abort, DeadlineReached) as stop:
        return _stopped(stop, as_json=as_json)
    except LifecycleError as error:
        _say(error.sentence, type(error).__name__, as_json=as_json)
        return 4 if isinstance(error, HeldByAnother) else 1
    except BrokenPipeError:
        sys.stdout = None  # nobody reads: nothing is flushed at exit
        return 1
    except OSError as error:
        _say(_unwritable(error), type(error).__name__, as_json=as_json)
        return 1
    except Exception as error:  # noqa: BLE001 -- the one place that turns a defect into a sentence
        _say(_defect(error), "Defect", as_json=as_json)
        return 3


def _stopped(stop: BaseException, *, as_json: bool) -> int:
    """Print why the command ended early (its time was up, or Ctrl-C); returns the exit code.

    What an interrupted command has to add to it stands in the interruption, which click hides in a cause.
    """
    if isinstance(stop, DeadlineReached):
        from lifecycle.cli.command_session import TOO_LATE

        _say(TOO_LATE, "Transient", as_json=as_json)
        return 1
    words = [
        str(word) for error in (stop, stop.__cause__) if error is not None for word in error.args
    ]
    text = " ".join(["Interrupted; what was done so far is kept.", *words])
    click.echo(text.rstrip(), err=True)
    return 130


def _say(sentence: str, kind: str, *, as_json: bool) -> None:
    if as_json and sys.stdout is not None:
        try:
            click.echo(json_text({"error": {"kind": kind, "sentence": sentence}}))
        except OSError:
            sys.stdout = None  # it takes nothing: the sentence goes where a person can read it
        else:
            return
    click.echo(f"lifecycle: {visible(sentence)}", err=True)


def _unwritable(error: OSError) -> str:
    if isinstance(error, StrangeFileError):
        return error.sentence
    if (
        isinstance(error, FileNotFoundError) and not error.filename
    ):  # nothing but the current folder
        return "The current folder is not there any more, so nothing was done; go to another one."
    where = error.filename or ("standard output" if _is_of_output(error) else "writing a file")
    return f"{where}: {error.strerror or error}; nothing else was done. Mend it and try again."


def _is_of_output(error: OSError) -> bool:
    """True if standard output did not take what was printed; it is then given up."""
    is_printed = any(
        f.f_code is CleanStream.write.__code__ for f, _ in walk_tb(error.__traceback__)
    )
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        is_printed = True
    if is_printed:
        sys.stdout = None  # else it is tried again at exit, with a traceback
    return is_printed


def _defect(error: Exception) -> str:
    """The sentence on a defect of ours; its traceback goes into the worktree's log."""
    trace = " | ".join(traceback.format_exception(error))
    root = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / FOLDER).is_dir()), None)
    if root is None:
        return f"An unexpected error: {type(error).__name__}: {error}. Please report it."
    log.write(root, trace)
    where = root / FOLDER / log.LOG
    return (
        f"An unexpected error ({type(error).__name__}); please report it with the end of {where}."
    )
