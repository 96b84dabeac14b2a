"""`lifecycle reconcile`: board, issues and claims of many tasks, made true again."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.cli.command_session import end_late
from lifecycle.cli.reconcile import reconcile_actions as actions
from lifecycle.cli.reconcile import reconcile_scope as scoping
from lifecycle.cli.reconcile.reconcile_words import lines, signs_for
from lifecycle.cli.terminal import is_terminal, json_text, one_line
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.timing import Deadline, SystemClock, ending
from lifecycle.reconcile.finding import State, SweepReport
from lifecycle.storage.state_file import MemoryCache

if TYPE_CHECKING:
    from lifecycle.reconcile.sweep import Progress


FAIL_ON = ("never", "failed", "findings")
"""The values of `--fail-on`: when the exit code is 1."""


class Span(click.FloatRange):
    """A number within bounds, and never "nan", which compares with no bound."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; raises click.BadParameter."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Reconcile(click.Command):
    """The command; with `--summary` in GitHub Actions, a usage error becomes an annotation as well."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; raises click.UsageError."""
        form = Form(as_json="--json" in args, summary="--summary" in args)  # parsing uses args up
        with form.telling():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run it; raises click.UsageError for options that contradict each other."""
        form = Form(as_json=ctx.params["as_json"], summary=ctx.params["summary"])
        with form.telling():
            return super().invoke(ctx)


KINDS = {
    "issue": click.IntRange(1),
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
    **scope: Any,
) -> int:
    """Look at every claimed task as GitHub shows it, and repair what drifted.

    Sets the board's Status and Agent, puts issues on the board, links pull requests, opens drafts for
    lost branches. Closing issues and releasing tasks are off unless asked for or configured. What a
    person moved on purpose is left. A second run changes nothing.

    Without --repo and --org it is LIFECYCLE_REPOSITORY, else GITHUB_REPOSITORY, else the repository of
    this worktree.
    """
    from lifecycle.reconcile.reconcile_run import Interrupted

    asked = scoping.ScopeOptions(**scope)  # the other options are called as its fields are
    form = Form(as_json=as_json, summary=summary)
    try:
        report = _report(asked, by_event=event, dry_run=dry_run, minutes=minutes)
    except Interrupted as stop:
        form.tell(stop.report)
        raise
    form.tell(report)
    return exit_code(report, fail_on)


def exit_code(report: SweepReport, fail_on: str) -> int:
    """1 if the report holds what `fail_on` names, a value of `FAIL_ON`; else 0."""
    open_ones = report.count(State.PLANNED, State.OFF, State.FAILED)
    is_bad = {"never": False, "failed": report.failed, "findings": report.failed or open_ones}
    return 1 if is_bad[fail_on] else 0


def _report(
    asked: scoping.ScopeOptions, *, by_event: bool, dry_run: bool, minutes: float
) -> SweepReport:
    """Run the reconcile and return its report; draws a progress bar if standard error is a terminal.

    Raises:
        Interrupted: somebody stopped it during its repairs.
        LifecycleError: nothing could be begun; the sentence says why.
    """
    from lifecycle.reconcile import reconcile_run

    scope = scoping.asked_scope(asked)
    ground = scoping.ScopeGround(Path.cwd(), os.environ, scope)
    clock = SystemClock()
    world = WorktreeWorld(
        ground.root, ground.environment, clock, Deadline.after(clock, minutes * 60), MemoryCache()
    )
    world.by_library = True
    try:
        with ending(world.deadline, end_late):
            scope, note, skipped = scoping.whole(scope, world), "", ""
            if by_event:
                scope, note, skipped = scoping.within(scope, scoping.event_of(os.environ), world)
            if skipped:
                return SweepReport(skipped=skipped, is_dry_run=dry_run)
            allowed = scoping.policy(asked, world.settings)
            with _bar() as bar:
                return reconcile_run.reconcile(
                    world, scope, allowed, dry_run=dry_run, progress=bar, note=note
                )
    finally:
        world.close()


def _bar() -> AbstractContextManager[Progress | None]:
    if not is_terminal(sys.stderr):
        return nullcontext()
    from lifecycle.cli.reconcile.reconcile_screen import bar

    return bar()


class Untold(LifecycleError):
    """The run is over, but not all of its report could be written; the repairs were made."""


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
        """Print the report, and write what GitHub Actions asks for.

        A reader who stops early is no error. If one output fails, the others are written all the same.

        Raises:
            Untold: an output or one of the step's files does not take it.
        """
        errors: list[OSError] = []
        for write in (actions.write_outputs, actions.write_summary) if self.summary else ():
            try:
                write(report, os.environ)
            except OSError as error:
                errors.append(error)
        for show in (self._print, self._annotations) if self.summary else (self._print,):
            try:
                show(report)
                if sys.stdout is not None:
                    sys.stdout.flush()
            except OSError as error:
                sys.stdout = None  # else it would be tried again at exit
                if not isinstance(error, BrokenPipeError):
                    errors.append(error)
        if errors:
            where = errors[0].filename or "standard output"
            raise Untold(
                f"{where}: {errors[0].strerror or errors[0]}; the run is over and what it did is kept, but "
                "not all of its report was written. Make room there; `lifecycle reconcile --dry-run` shows "
                "what is left to do."
            )

    @contextmanager
    def telling(self) -> Iterator[None]:
        """In GitHub Actions, show also an error that ends the run before there is a report."""
        try:
            yield
        except click.UsageError as error:
            self._refused(error.format_message())
            raise
        except Untold:
            raise
        except LifecycleError as error:
            self._refused(error.sentence)
            raise

    def _refused(self, sentence: str) -> None:
        if not (self.summary and _is_action()):
            return
        actions.write_summary(SweepReport(skipped=f"Nothing was done. {sentence}"), os.environ)
        annotation = actions.StepAnnotation("error", "lifecycle reconcile", one_line(sentence))
        click.echo(annotation.command(), err=self.as_json)

    def _print(self, report: SweepReport) -> None:
        if self.as_json:
            # In a log of GitHub Actions it holds no command of the old form.
            click.echo(json_text(report.as_json()).replace("##[", "#\\u0023["))
        elif self.summary and not os.environ.get(actions.SUMMARY):
            click.echo(actions.summary(report), nl=False)
        elif is_terminal(sys.stdout):
            from lifecycle.cli.reconcile.reconcile_screen import show

            show(report)
        elif sys.stdout is not None:
            plain = lines(report, signs_for(sys.stdout.encoding))
            for line in actions.quoted(plain) if _is_action() else plain:
                click.echo(line)

    def _annotations(self, report: SweepReport) -> None:
        """Print workflow commands, which the runner looks for in both outputs."""
        if _is_action():
            for annotation in actions.annotated(report):
                click.echo(annotation.command(), err=self.as_json)


def _is_action() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"
