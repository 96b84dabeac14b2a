"""`lifecycle run add-blocker|await-user-fix|check-user-fix|user-fix-complete`: what only a person mends."""

from __future__ import annotations

import signal
import sys

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.cli.terminal import passing
from lifecycle.evidence.checks import check_process
from lifecycle.evidence.checks.check_process import ProcessEnd
from lifecycle.run.state import UserFix
from lifecycle.run.table import BLOCKER_SEVERITIES
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.escalation import escalation_lines
from lifecycle.settings.config import for_child
from lifecycle.settings.persons import person

LONGEST = 3_600
"""Seconds that a check command may be given."""


@click.command("add-blocker", short_help="Record what stands before the run or a story.")
@click.argument("text")
@option(
    "--severity SEVERITY",
    "low, medium, high or critical. Default: medium.",
    type=click.Choice(BLOCKER_SEVERITIES),
    default="medium",
)
@option("--story STORY", "The story that it stands before.", default="")
@in_run
def add_blocker(given: RunSession, *, text: str, severity: str, story: str) -> None:
    """Record TEXT as a blocker. A story's that is high or critical lets the story stand still.

    A blocker that a failure logged by itself takes this TEXT, and no second one is added. Once only stories
    are left that stand still, the run waits for the user. Ask at once with: lifecycle run await-user-fix.
    """
    with given.store.changing() as change:
        change.run = blockers.with_blocker(change.run, text, severity, given.now, story)
        index = blockers.touched(change.before, change.run)
        blocker = change.run.blockers[index]
        severity = blocker.severity
        added = f"Added blocker: {blocker.id} (index {index}) [{severity}] {blocker.description}"
        told = change.told(added)
    data = {"id": blocker.id, "index": index, "severity": severity, "story": blocker.story or None}
    shown = {**data, "description": blocker.description, "status": change.run.status.value}
    given.show([added, *told], {**shown, "escalations": told})


@click.command("await-user-fix", short_help="Wait for the user to fix something.")
@click.argument("blocker", metavar="BLOCKER")
@click.argument("description")
@option("--check-command COMMAND", "What shows that it is fixed; no shell reads it.", default="")
@option(
    "--timeout SECONDS",
    "How long that may take. Default: 60.",
    type=click.IntRange(1, LONGEST),
    default=60,
)
@in_run
def await_user_fix(
    given: RunSession, *, blocker: str, description: str, check_command: str, timeout: int
) -> None:
    """Let the run wait until the user did DESCRIPTION about BLOCKER, an id (B1) or an index (0).

    The session may stop then. The user runs lifecycle run user-fix-complete, and the next session goes on.
    """
    with given.store.changing() as change:
        change.run = blockers.awaiting(
            change.run, blocker, description, given.now, check_command, timeout
        )
        fix = blockers.demanded_fix(change.run)
        told = escalation_lines(change.before, change.run)
        change.note(*told)
    data = blockers.awaiting_data(fix, check_command.strip())
    given.show_json(data)
    for line in told:
        click.echo(line, err=True)


@click.command("check-user-fix", short_help="Run the command that shows whether it is fixed.")
@in_run
def check_user_fix(given: RunSession) -> int:
    """Run the check command of what the user was asked to fix, and print as JSON whether it is fixed.

    What the command prints goes to standard error. Without a command the user's own word decides. The time
    that the command takes is not counted; it has a limit of its own.
    """
    fix = blockers.demanded_fix(given.store.demanded())
    why = ""
    if fix.check_command:
        end, last = _run(given, fix)
        with given.store.changing() as change:
            passed = end.status == 0
            change.run = blockers.fix_checked(change.run, fix, given.now, passed=passed)
            why = "" if passed else _why(fix, end, last)
            change.note(f"Check of {fix.blocker}: {'PASSED' if passed else why}")
        fix = blockers.demanded_fix(change.run)
    elif not fix.completed_at:
        why = "no command checks it, and the user did not say yet that it is fixed"
    data = {**blockers.fix_data(fix), **({"reason": why} if why else {})}
    given.show_json(data)
    return 0


def _run(given: RunSession, fix: UserFix) -> tuple[ProcessEnd, str]:
    """The end of the check command, and its last line; its output is shown as it comes."""
    tail, shown = bytearray(), passing(sys.stderr)

    def take(part: bytes) -> None:
        tail.extend(part)
        del tail[:-4_000]
        shown(part)

    world = given.world
    environment = for_child("check", world.environment)
    with world.deadline.standing_still():  # it has a limit of its own
        end = check_process.run(
            fix.check_command, world.root, environment, fix.timeout, out=take, err=take
        )
    if end.signal == signal.SIGINT:
        raise KeyboardInterrupt
    lines = tail.decode("utf-8", "replace").strip().splitlines()
    return end, lines[-1][:300] if lines else ""


def _why(fix: UserFix, end: ProcessEnd, last: str) -> str:
    if end.error:
        return end.error
    if end.is_late:
        return f"it took more than {fix.timeout} seconds, and was ended"
    said = f": {last}" if last else ""
    return f"{fix.check_command[0]} exited with {end.status}{said}"


@click.command("user-fix-complete", short_help="Say that it is fixed; a person does.")
@click.argument("blocker", metavar="[BLOCKER]", default="")
@option("--notes TEXT", "What you did; the developer reads it.", default="")
@in_run
def user_fix_complete(given: RunSession, *, blocker: str, notes: str) -> None:
    """Say that what the run waits for is fixed, or that BLOCKER is; the next session goes on with it.

    A person says this: in a terminal outside of the client, or with a prompt after the run began to wait.
    """
    command = "lifecycle run user-fix-complete"
    with given.store.changing() as change:
        fixed, asked_at = blockers.to_resolve(change.run, blocker)
        by = person(given.presence(change.run), asked_at, command)
        change.run = blockers.resolved(change.run, fixed, given.now, by, notes)
        run = change.run
        named = ", ".join(one.id for one in fixed) or "nothing else"
        done = f"Resolved: {named} (by a {by})"
        change.note(done)
    goes_on = (
        "Start the client in this folder, or write a prompt there: the run goes on where it was."
    )
    waits = f"The run is {run.status.value.replace('_', ' ')}."
    data = {"status": run.status.value, "resolved": [one.id for one in fixed], "by": by}
    given.show([done, goes_on if run.status == "active" else waits], {**data, "notes": notes})
