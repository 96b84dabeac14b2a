"""Runs the user's token_command: the one command of ours whose output is a secret."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from lifecycle.errors import NoToken
from lifecycle.redact import keep_secret

SECONDS = 10.0
"""How long the command may take; a credential store that asks its user for more is no store."""


def printed_by(command: Sequence[str], where: str, environment: Mapping[str, str]) -> str:
    """The first line that the command prints; from then on it is redacted wherever text leaves.

    Args:
        command: program and arguments; no shell reads them.
        where: the file that names the command, for the sentence.
        environment: what the command sees besides the process's own variables.

    Raises:
        NoToken: the command is not there, failed, took too long or printed nothing. What it printed
            is in no sentence.
    """
    try:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise _none(where, f"could not be started ({error.strerror})", command) from None
    with process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            raise _none(where, f"took longer than {SECONDS:g} s", command) from None
        except BaseException:
            _end(process)
            raise
    if process.returncode != 0:
        raise _none(where, f"failed (exit {process.returncode})", command)
    value = printed.partition(b"\n")[0].decode("utf-8", "replace").strip()
    if not value:
        raise _none(where, "printed nothing", command)
    keep_secret(value)
    return value


def _none(where: str, what: str, command: Sequence[str]) -> NoToken:
    return NoToken(
        f"No GitHub token: the token_command in {where} {what}, so nothing was asked of GitHub and the "
        f"claim was kept. Run {command[0]} by hand to see why, or set GH_TOKEN."
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and whatever it started, which holds its pipe open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
