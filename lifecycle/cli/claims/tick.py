"""`lifecycle tick`: look once, at everything, now."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace

import click

from lifecycle.claim.engine import look as engine
from lifecycle.claim.engine.look import Report
from lifecycle.cli.command_session import Session, begin, json_option, timed
from lifecycle.cli.report_text import report_data, report_lines
from lifecycle.core.errors import Transient
from lifecycle.core.plan import Audience, Wake
from lifecycle.settings.running_client import session_of


@click.command("tick", short_help="Look at GitHub once, now.")
@click.option("--dry-run", is_flag=True, help="Print the plan; write nothing anywhere.")
@json_option
@timed
def command(*, dry_run: bool, as_json: bool) -> int:
    """Look at GitHub once and do what the claim needs next, as the hooks do.

    Does not wait for the polling backoff. Doing it again changes nothing.
    """
    session = begin(as_json=as_json)
    return dry(session) if dry_run else look(session)


@dataclass(frozen=True, slots=True)
class Glance:
    """One look's report, and how a person reads it; exit code 1 if it could not be finished."""

    report: Report
    lines: list[str]

    @property
    def code(self) -> int:
        """The command's exit code."""
        return 1 if self.report.problem is not None else 0


def look(session: Session) -> int:
    """One look, reported; exit code 1 if it could not be finished."""
    seen = glance(session)
    session.show(seen.lines, report_data(seen.report))
    if isinstance(seen.report.problem, Transient) and not session.as_json:
        click.echo("What was done is kept; the rest is tried again at the next look.", err=True)
    return seen.code


def glance(session: Session) -> Glance:
    """One look, and what there is to print of it."""
    whom = session_of({}, session.world.environment)
    report = engine.tick(session.world, session.claim_store, Wake.TICK, tones=tones(), session=whom)
    # What is the agent's stays on the queue for it, and is shown here all the same.
    shown = [*report.said, *session.claim_store.ledger.waiting()]
    lines = report_lines(replace(report, said=tuple(shown)))
    if report.record is not None and not report.record.outcome:
        known = "\n".join(lines)
        lines += [line for line in session.claim_lines(report.record) if line not in known]
    problem = report.problem
    if problem is not None and not any(problem.sentence in line for line in lines):
        lines.append(problem.sentence)
    if report.record is None and not lines:
        lines.append("No claim in this worktree: nothing to do.")
    return Glance(replace(report, said=tuple(shown)), lines)


def tones() -> Collection[Audience]:
    """What this terminal may take off the queue: in an agent's session all of it.

    Claude Code sets CLAUDE_CODE_SESSION_ID for the commands that its agent runs. A person who looks
    must not use up what the agent has not heard.
    """
    return tuple(Audience) if os.environ.get("CLAUDE_CODE_SESSION_ID") else (Audience.NOTE,)


def dry(session: Session) -> int:
    """The plan, printed."""
    report = engine.rehearse(session.world, session.claim_store)
    lines = report_lines(report, would=True) or ["Nothing to do."]
    if report.problem is not None:
        lines.append(report.problem.sentence)
    session.show(lines, report_data(report))
    return 1 if report.problem is not None else 0
