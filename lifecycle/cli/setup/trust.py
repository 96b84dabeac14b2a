"""`lifecycle trust`: allow a project's own commands, and the program that keeps its tasks."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.terminal import is_terminal
from lifecycle.core.errors import Refused
from lifecycle.core.redact import visible
from lifecycle.evidence.checks import known_checks
from lifecycle.settings import config, user_folder
from lifecycle.storage import store
from lifecycle.trackers import registry


class _Asked:
    """What would run here for the repository, and whether the user allowed it.

    Attributes:
        clone: the clone that a yes applies to.
        commands: command lines that a hand-off runs.
        checks: checks whose commands come with the repository.
        check_lines: their command lines, without duplicates.
        program: the program that keeps the tasks here, "" if none has to be run.
    """

    def __init__(self, session: Session) -> None:
        root, settings = session.root, session.world.settings
        self.clone, self.commands = store.clone_of(root), settings.validate
        self.checks = known_checks.wanting_trust(root, settings, os.environ)
        self.check_lines = [*dict.fromkeys(line for check in self.checks for line in check.lines)]
        self.program = registry.program(root, settings)

    @property
    def is_trusted(self) -> bool:
        """True if the user allowed all of it already."""
        clone, allowed = self.clone, partial(user_folder.allowed, os.environ, self.clone)
        may_hand_off = not self.commands or allowed("commands") == [*self.commands]
        may_check = all(known_checks.may_run(check, clone, os.environ) for check in self.checks)
        may_track = not self.program or self.program in allowed("programs")
        return may_hand_off and may_check and may_track

    @property
    def lines(self) -> list[str]:
        """All that would run, as lines for a person."""
        shown = [f"  `{visible(command)}`" for command in self.commands]
        lines = ["lifecycle handoff runs, in this order:", *shown] if shown else []
        if self.checks:
            lines.append("lifecycle check runs, when a person or an agent asks for it:")
        for check in self.checks:
            lines += [f"  {check.name}: `{visible(line)}`" for line in check.lines]
        if self.program:
            lines.append(
                f"lifecycle runs {self.program}, which keeps this repository's tasks and follows the "
                "repository's own configuration."
            )
        return lines

    def data(self, *, trusted: bool) -> dict[str, Any]:
        """All that would run, for `--json`, and whether it is allowed."""
        checks = {check.name: check.lines for check in self.checks}
        fields = {"commands": self.commands, "program": self.program or None}
        return {**fields, **({"checks": checks} if checks else {}), "trusted": trusted}


def command(session: Session, *, yes: bool, show: bool, revoke: bool) -> None:
    """Show what would run here for this repository, and ask whether it may.

    These are the commands of .lifecycle.toml and of the repository's own platforms, and bd if it keeps the
    tasks. They come with the repository, so nothing runs them before you say yes. The yes is for exactly
    these commands in this clone and all its worktrees; if they change, you are asked again. The yes to bd
    stays. It is kept in trust.json in your own configuration folder.
    """
    if yes + show + revoke > 1:
        raise click.UsageError("Use only one of --yes, --show and --revoke.")
    asked = _Asked(session)
    lines, is_trusted = asked.lines, True
    if revoke:
        was_allowed = user_folder.revoke(os.environ, asked.clone)
        is_trusted = not lines
        lines = [_REVOKED if was_allowed else _NOT_REVOKED]
    elif not lines:
        lines = [f"{config.CONFIG_FILE} names no commands, so there is nothing to trust."]
    elif asked.is_trusted:
        lines.append("These may run.")
    elif show:
        is_trusted = False
        lines.append("These may not run yet; to allow them: lifecycle trust")
    else:
        _ask(session, asked, is_sure=yes)
        kinds = {"commands": asked.commands, "checks": asked.check_lines}
        kinds |= {"programs": [asked.program]} if asked.program else {}
        user_folder.allow(os.environ, asked.clone, **kinds)
        lines = [*(lines if yes else ()), _ALLOWED]
    session.show(lines, asked.data(trusted=is_trusted))


_REVOKED = "Commands of this repository may no longer run."
_NOT_REVOKED = "No command of this repository was allowed to run; nothing was changed."
_ALLOWED = (
    "These may now run here and in every worktree of this clone. Undo: lifecycle trust --revoke"
)


def _ask(session: Session, asked: _Asked, *, is_sure: bool) -> None:
    """Ask a person on the terminal, unless `is_sure`.

    Raises:
        Refused: an agent runs this; or the answer was not yes, or there is no terminal to ask on.
    """
    if os.environ.get("CLAUDE_CODE_SESSION_ID"):
        raise Refused(
            "An agent cannot allow commands for its user; nothing was allowed. The user runs this in a "
            "terminal of their own: lifecycle trust"
        )
    if is_sure:
        return
    if session.as_json or not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise Refused(
            f"{' '.join(map(str.strip, asked.lines))} There is no terminal on which to ask a person, so "
            "nothing was allowed. A person who has read this can allow it with: lifecycle trust --yes"
        )
    for line in asked.lines:
        click.echo(line, err=True)
    with session.world.deadline.standing_still():  # a person may think
        is_allowed = click.confirm("May these run here?", default=False, err=True)
    if not is_allowed:
        raise Refused("Nothing was allowed, so none of it will run.")
