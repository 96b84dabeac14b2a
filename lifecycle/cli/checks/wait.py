"""`lifecycle wait`: block until there is news of a pull request; the exit code is its kind."""

from __future__ import annotations

import signal
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from lifecycle.cli.checks.feedback import own_pull, pull_number
from lifecycle.cli.claims.claim_look import said_data
from lifecycle.cli.command_session import Session, end_late
from lifecycle.cli.main import Word, read_by
from lifecycle.cli.terminal import at_once
from lifecycle.core.errors import NoToken
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.timing import ending, heard
from lifecycle.feedback.waiting.endings import STATUSES, Ending, WaitFor
from lifecycle.settings import resources
from lifecycle.settings.readers import duration

if TYPE_CHECKING:
    from lifecycle.app.waiting.pull_wait import Waited

TERMINATED = 128 + signal.SIGTERM


class WaitCommand(click.Command):
    """The command `wait`; its help ends with the table of its exit codes."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 -- click's signature
        """Write the table of exit codes."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), words) for code, words in STATUSES.values()])


_TIME = read_by(partial(duration, "The time"))
KINDS = {"pull": pull_number, "wanted": Word(WaitFor), "time": _TIME}
"""Click's types for words on the command line, beside those of `main.py`."""


def wait(session: Session, *, pull: int | None, wanted: WaitFor, timeout: float) -> int:
    """Wait until there is news of the pull request PR; print it, and exit with the code of its kind.

    Without PR: the claim's pull request, else the open one of the current branch. No model is used. News
    that is printed counts as said. If a waiter is already running here, this command gets its news from
    it. A state that leaves nothing to wait for ends the wait at once, even if it was said before: failed
    checks, a conflict, a merge.

    Exits 1 if there is nothing to wait for, or GitHub was never reached. 4: another agent has the task. 130
    and 143: Ctrl-C and SIGTERM; nothing is said then, and the news stays for the next wait.
    """
    with heard(_terminate, signal.SIGTERM):
        try:
            done = _waited(session, pull, wanted, timeout)
        except NoToken as error:
            from lifecycle.app.waiting.pull_wait import Waited

            done = Waited(Ending.CREDENTIALS, pull or 0, problem=error.sentence)
    return session.show(_lines(done), _data(done), code=STATUSES[done.ending][0])


def _waited(session: Session, pull: int | None, wanted: WaitFor, seconds: float) -> Waited:
    world = session.world
    world.refuse_tracked()
    record = session.claim_store.load(repair=False).record
    within = partial(ending, world.deadline, end_late)
    if record is not None and pull in (None, record.claim.pr_number):
        from lifecycle.app.waiting.claim_wait import ClaimWait

        world.deadline.renew(None)
        claim_store = session.claim_store
        return ClaimWait(world, claim_store, wanted=wanted, seconds=seconds, within=within).run()
    from lifecycle.app.waiting.pull_wait import BranchWait
    from lifecycle.app.waiting.wait_loop import look_seconds

    with world.deadline.renewed(look_seconds(seconds)):
        number = pull or own_pull(session)
    return BranchWait(world, number, wanted=wanted, seconds=seconds, within=within).run()


def _terminate(number: int) -> NoReturn:
    """Turn SIGTERM into an exit, so that files are closed and removed as after Ctrl-C."""
    signal.signal(number, signal.SIG_IGN)  # one signal is enough
    at_once("lifecycle: Ended by SIGTERM; no news was shown, and what came in is kept.")
    raise SystemExit(TERMINATED)


def _lines(done: Waited) -> list[str]:
    """The lines to print: the news, or the pull request's state; then packet, reasons and problem.

    A problem that may have hidden news comes before the pull request's state.
    """
    meaning = STATUSES[done.ending][1]
    return resources.drawn("cli/checks/templates/waited.txt", done=done, meaning=meaning)


def _data(done: Waited) -> dict[str, Any]:
    packet = done.packet
    return {
        "ending": done.ending,
        "exit": STATUSES[done.ending][0],
        **fields_of(done, "pull?", "head?"),
        "said": said_data(done.said),
        "state": done.state,
        "packet": packet and asdict(packet),
        **fields_of(done, "why", "problem?"),
    }
