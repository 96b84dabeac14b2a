"""How a run of reconcile is told: on the outputs, and in the files of GitHub Actions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

import click

from lifecycle.cli.reconcile import reconcile_actions as actions
from lifecycle.cli.reconcile.reconcile_screen import show
from lifecycle.cli.reconcile.reconcile_words import clean, lines, signs_for
from lifecycle.cli.terminal import json_text
from lifecycle.core.errors import LifecycleError
from lifecycle.reconcile.sweep_report import SweepReport


class Untold(LifecycleError):
    """The run is over, and its report could not be written; what it did is done."""


def is_terminal(stream: TextIO | None) -> bool:
    """True if somebody watches it; a stream that was closed before we were started is None."""
    return stream is not None and stream.isatty()


@dataclass(frozen=True, slots=True)
class Form:
    """How a run is told.

    Attributes:
        as_json: one object on standard output, and nothing else.
        summary: Markdown, and in GitHub Actions the step's files and annotations.
    """

    as_json: bool
    summary: bool

    def tell(self, report: SweepReport) -> None:
        """Print the report, and write what GitHub Actions asks for.

        Nobody has to read it to its end. What one output does not take, the others get all the same.

        Raises:
            Untold: an output or one of the step's files does not take it.
        """
        ways = [self._print]
        if self.summary:
            ways = [_outputs, _summary, self._print, self._annotations]
        errors = [error for way in ways if (error := _tried(way, report)) is not None]
        if errors:
            raise Untold(_untold(errors[0]))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell what ends the run before there is a report also where GitHub Actions shows it."""
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
        told = actions.StepAnnotation("error", "lifecycle reconcile", clean(sentence))
        click.echo(told.command(), err=self.as_json)

    def _print(self, report: SweepReport) -> None:
        if self.as_json:
            click.echo(_json(report))
        elif self.summary and not os.environ.get(actions.SUMMARY):
            click.echo(actions.summary(report), nl=False)
        elif is_terminal(sys.stdout):
            show(report)
        elif sys.stdout is not None:
            plain = lines(report, signs_for(sys.stdout.encoding))
            for line in actions.quoted(plain) if _is_action() else plain:
                click.echo(line)

    def _annotations(self, report: SweepReport) -> None:
        """Print workflow commands, which the runner looks for in both outputs."""
        if _is_action():
            for one in actions.annotated(report):
                click.echo(one.command(), err=self.as_json)


def _tried(way: Callable[[SweepReport], None], report: SweepReport) -> OSError | None:
    """Tell it in one way; the error of an output or a file that does not take it.

    Standard output is given up then, else it would be tried again at exit.
    """
    is_file = way in (_outputs, _summary)
    try:
        way(report)
        if sys.stdout is not None and not is_file:
            sys.stdout.flush()
    except OSError as error:
        if is_file:
            return error
        sys.stdout = None
        return None if isinstance(error, BrokenPipeError) else error
    return None


def _outputs(report: SweepReport) -> None:
    actions.write_outputs(report, os.environ)


def _summary(report: SweepReport) -> None:
    actions.write_summary(report, os.environ)


def _untold(error: OSError) -> str:
    where = error.filename or "standard output"
    return (
        f"{where}: {error.strerror or error}; the run is over and what it did is kept, but not all of its "
        "report was written. Make room there; `lifecycle reconcile --dry-run` shows what is left to do."
    )


def _is_action() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _json(report: SweepReport) -> str:
    """One object; in a log of GitHub Actions it holds no command of the old form."""
    return json_text(report.as_json()).replace("##[", "#\\u0023[")
