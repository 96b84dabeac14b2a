"""`lifecycle reconcile`: bring board, issues and claims of many tasks back in sync.

The command, the output of its report, and the scope from options, environment and settings.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (the files,
`stop-commands`), and https://github.com/actions/runner (Runner.Common, ActionCommand.cs: commands are
looked for in every line of both outputs, in an old form anywhere in it).
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.cli.command_session import end_late
from lifecycle.cli.main import Span, read_by
from lifecycle.cli.reconcile import reconcile_words as words
from lifecycle.cli.terminal import is_terminal, json_text, one_line
from lifecycle.core.errors import BadConfig, BadCredentials, LifecycleError, NoToken, Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, SystemClock, ending, heard
from lifecycle.core.values.configured import Settings
from lifecycle.reconcile.finding import State, SweepReport, sentence
from lifecycle.reconcile.scope import Policy, Scope, Shard, Trigger, narrowed, read_event
from lifecycle.settings import config, readers
from lifecycle.storage.state_file import MemoryCache
from lifecycle.storage.store import worktree_root

SUMMARY = "GITHUB_STEP_SUMMARY"
OUTPUT = "GITHUB_OUTPUT"

FAIL_ON = ("never", "failed", "findings")
"""The values of `--fail-on`: when the exit code is 1."""


class Reconcile(click.Command):
    """The command; with `--summary` in GitHub Actions, a usage error also becomes an annotation."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; raises click.UsageError."""
        form = Form(as_json="--json" in args, summary="--summary" in args)  # parsing uses args up
        with form.telling():
            return super().parse_args(ctx, args)


def _shard(text: str) -> Shard:
    match = re.fullmatch(r"([0-9]{1,4})/([0-9]{1,4})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise BadConfig(f"It must be I/N with I from 1 to N, as in 2/3, not {visible(text)!r}.")
    return Shard(int(match[1]), int(match[2]))


KINDS = {
    "repository": read_by(partial(readers.repository, "--repo")),
    "login": read_by(partial(readers.login, "--org")),
    "shard": read_by(_shard),
    "issue": click.IntRange(1, 2**31 - 1),  # an Int of GraphQL's
    "hours": Span(0, 87_600, min_open=True),
    "minutes": Span(0, 350, min_open=True),
    "fail-on": click.Choice(FAIL_ON),
}
"""Click's types for words on the command line, beside those of `main.py`."""


def reconcile(
    *,
    event: bool,
    dry_run: bool,
    fail_on: str,
    minutes: float,
    summary: bool,
    as_json: bool,
    owner: str | None,
    closes: bool | None,
    releases: bool | None,
    silent_hours: float | None,
    **places: Any,
) -> int:
    """Look at every claimed task as GitHub shows it, and repair what is out of sync.

    Sets the board's Status and Agent, puts issues on the board, links pull requests, opens drafts for
    lost branches. Closing issues and releasing tasks are off unless an option or a setting allows it. What
    a person moved on purpose is left unchanged. A second run changes nothing.

    Without --repo and --org the repository is LIFECYCLE_REPOSITORY, else GITHUB_REPOSITORY, else the one
    of this worktree.
    """
    allowed = partial(policy, closes=closes, releases=releases, silent_hours=silent_hours)
    form = Form(as_json=as_json, summary=summary)
    # What is ignored, as under nohup, stays so.
    defaults = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    with form.telling(), heard(_interrupt, *defaults):
        scope = checked(Scope(owner=owner or "", **places))
        report = _report(scope, allowed, event=event, dry_run=dry_run, minutes=minutes)
        form.tell(report)
        if report.is_interrupted:
            raise KeyboardInterrupt
    return exit_code(report, fail_on)


_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask for the end: Actions sends SIGINT to a cancelled job, and then SIGTERM."""


def _interrupt(_number: int) -> NoReturn:
    """Turn a signal that asks for the end into an interruption; no second one cuts off the report."""
    for number in _ENDS:
        # Of one that came together with the first and is ignored by now, Python would print a traceback.
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def exit_code(report: SweepReport, fail_on: str) -> int:
    """1 if the report has what `fail_on` names, a value of `FAIL_ON`; else 0."""
    open_ones = report.count(State.PLANNED, State.OFF, State.FAILED)
    is_bad = {"never": False, "failed": report.failed, "findings": report.failed or open_ones}
    return 1 if is_bad[fail_on] else 0


def _report(
    scope: Scope, may: Callable[[Settings], Policy], *, event: bool, dry_run: bool, minutes: float
) -> SweepReport:
    """Run the reconcile and return its report; draws a progress bar if standard error is a terminal.

    Raises:
        LifecycleError: nothing could be begun; the sentence says why.
    """
    from lifecycle.reconcile import reconcile_run

    root, environment = ground_of(Path.cwd(), os.environ, scope)
    clock = SystemClock()
    deadline = Deadline.after(clock, minutes * 60)
    world = WorktreeWorld(root, environment, clock, deadline, MemoryCache())
    world.by_library = ("PyGithubLine",)  # and GraphQL directly: most sweeps send no REST request
    with closing(world), ending(deadline, end_late), ExitStack() as shown:
        if not (scope.repositories or scope.owner):
            scope = replace(scope, repositories=(world.base,))
        note = ""
        if event:
            by = event_of(os.environ)
            if by.is_about_one and by.is_by_bot and by.is_caused_by(world.forge.viewer()):
                cause = f"the event {by.name} was caused by {by.sender}, whose token this is"
                return SweepReport(skipped=f"Nothing was looked at: {cause}.", is_dry_run=dry_run)
            scope, note = narrowed(scope, by)
        progress = None
        if is_terminal(sys.stderr):
            from lifecycle.cli.reconcile.reconcile_screen import bar

            progress = shown.enter_context(bar())
        return reconcile_run.reconcile(
            world, scope, may(world.settings), dry_run=dry_run, progress=progress, note=note
        )


_EXPORT = r"(?:run gh auth refresh [^;]* and )?set it anew [^;]*=\$\(gh auth token[^)]*\)"
"""The pattern of the advice to set another token in a shell, and to start the client again."""


def _of_workflow(text: str, *, is_token: bool = False) -> str:
    """The sentence; in GitHub Actions with the source of a token there, if one is needed."""
    if not _is_action() or not (is_token or "=$(gh auth token" in text):
        return text
    return f"{re.sub(_EXPORT, 'give another one', text).removesuffix('.')}. {words.INPUTS}"


@dataclass(frozen=True, slots=True)
class Form:
    """How the report of a run is printed and written.

    Attributes:
        as_json: print one object on standard output, and nothing else.
        summary: print Markdown; in GitHub Actions write the step's files and annotations.
    """

    as_json: bool
    summary: bool

    def tell(self, report: SweepReport) -> None:
        """Print the report, and write the files for GitHub Actions.

        Raises:
            OSError: an output or one of the step's files is not writable; the repairs were made.
        """
        report = report.reworded(_of_workflow)
        try:
            if self.summary:
                write_outputs(report, os.environ)
                write_summary(report, os.environ)
        finally:  # the log shows the repairs, even if a file fails
            self._print(report)
            if self.summary and _is_action():  # the runner looks for commands in both outputs
                for annotation in words.annotated(report):
                    click.echo(annotation.command(), err=self.as_json)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """In GitHub Actions, show also an error that ends the run before there is a report."""
        try:
            yield
        except (click.UsageError, LifecycleError) as error:
            if self.summary and _is_action():
                if isinstance(error, LifecycleError):
                    is_token = isinstance(error, BadCredentials | NoToken)
                    text = _of_workflow(error.sentence, is_token=is_token)
                else:
                    text = error.format_message()
                write_summary(SweepReport(skipped=f"Nothing was done. {text}"), os.environ)
                line = words.StepAnnotation("error", "lifecycle reconcile", one_line(text))
                click.echo(line.command(), err=self.as_json)
            raise

    def _print(self, report: SweepReport) -> None:
        if self.as_json:
            # In a log of GitHub Actions it must not contain a command of the old form.
            click.echo(json_text(report.as_json()).replace("##[", "#\\u0023["))
        elif self.summary and not os.environ.get(SUMMARY):
            click.echo(words.summary(report), nl=False)
        elif is_terminal(sys.stdout):
            from lifecycle.cli.reconcile.reconcile_screen import show

            show(report)
        elif sys.stdout is not None:
            plain = words.lines(report)
            for line in quoted(plain) if _is_action() else plain:
                click.echo(line)


def _is_action() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def checked(scope: Scope) -> Scope:
    """The scope with each repository once; raises click.UsageError if its parts contradict each other."""
    repositories = tuple({str(named).casefold(): named for named in scope.repositories}.values())
    if repositories and scope.owner:
        raise click.UsageError("Name repositories with --repo, or an owner with --org; not both.")
    if (scope.issues or scope.pulls) and (scope.owner or len(repositories) > 1):
        raise click.UsageError("--issue and --pull need exactly one repository.")
    return replace(scope, repositories=repositories)


def policy(
    settings: Settings, *, closes: bool | None, releases: bool | None, silent_hours: float | None
) -> Policy:
    """What may be done: by the options, else (None) by the project's settings."""
    hours = settings.silent_hours if silent_hours is None else silent_hours
    return Policy(
        closes=settings.close == "auto" if closes is None else closes,
        releases=settings.reconcile_release if releases is None else releases,
        silent_seconds=hours * 3600,
    )


def ground_of(
    folder: Path, environment: Mapping[str, str], scope: Scope
) -> tuple[Path, dict[str, str]]:
    """The folder and the environment that the command works with.

    If the scope names neither owner nor repositories, the repository is that of
    LIFECYCLE_REPOSITORY, else of GITHUB_REPOSITORY, else the worktree's own.

    Returns:
        The worktree, or the current folder outside of one, where `.lifecycle.toml` is read; and the
        variables with this run's repository, whose board and App installation count, and the board's owner.

    Raises:
        Refused: no repository is named and the folder is in no worktree.
        BadConfig: a variable or a file cannot be used.
    """
    worktree, repository = worktree_root(folder), next(iter(scope.repositories), None)
    for name in ("LIFECYCLE_REPOSITORY", "GITHUB_REPOSITORY"):
        if repository is None and environment.get(name):
            repository = readers.repository(name, environment[name])
    root, variables = worktree or folder, dict(environment)
    if repository is not None:
        variables["LIFECYCLE_REPOSITORY"] = str(repository)
    elif worktree is None and not scope.owner:
        raise Refused(sentence("no-repository", folder=folder))
    if scope.owner and config.load(root, variables).project_owner is None:
        variables["LIFECYCLE_PROJECT_OWNER"] = scope.owner
    return root, variables


def event_of(environment: Mapping[str, str]) -> Trigger:
    """The event that started this run of GitHub Actions; elsewhere one that does not narrow the scope."""
    name = environment.get("GITHUB_EVENT_NAME", "")
    path = environment.get("GITHUB_EVENT_PATH", "")
    try:
        payload = Path(path).read_text(encoding="utf-8") if path else None
    except (OSError, UnicodeDecodeError):
        payload = None  # the note of `read_event` reports it
    return read_event(name, payload, environment.get("GITHUB_REPOSITORY", ""))


def quoted(lines: list[str]) -> list[str]:
    """Lines for the log, between commands that keep the runner from reading commands in them."""
    import secrets  # needed only if commands are kept out of a log

    token = secrets.token_hex(16)
    return [f"::stop-commands::{token}", *lines, f"::{token}::"]


def write_outputs(report: SweepReport, environment: Mapping[str, str]) -> None:
    """Write the outputs to the step's file, if there is one; raises OSError.

    They are numbers only, so that no text of a stranger is in them.
    """
    if file := environment.get(OUTPUT):
        findings, applied = len(report.findings), report.count(State.APPLIED)
        with Path(file).open("a", encoding="utf-8") as step:
            step.write(f"findings={findings}\napplied={applied}\nfailed={report.failed}\n")


def write_summary(report: SweepReport, environment: Mapping[str, str]) -> None:
    """Write the summary to the step's file, if there is one; raises OSError."""
    if file := environment.get(SUMMARY):
        with Path(file).open("a", encoding="utf-8") as step:
            step.write(words.summary(report, words.BYTES - os.fstat(step.fileno()).st_size))
