"""Runs the commands whose output is a secret: the user's token_command, and `gh auth token`."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lifecycle.errors import NoToken
from lifecycle.redact import keep_secret

SECONDS = 10.0
"""How long the command may take; a credential store that asks its user for more is no store."""

SECONDS_OF_GH = 4.0
"""How long gh may take, which a hook waits for."""

_ANY_HOSTS = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
"""Variables that gh prints without looking whose they are; it is asked for what it keeps itself."""


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
        code, value = _run(command, {**os.environ, **environment}, SECONDS)
    except OSError as error:
        raise _none(where, f"could not be started ({error.strerror})", command) from None
    except subprocess.TimeoutExpired:
        raise _none(where, f"took longer than {SECONDS:g} s", command) from None
    if code != 0:
        raise _none(where, f"failed (exit {code})", command)
    if not value:
        raise _none(where, "printed nothing", command)
    return value


def kept_by_gh(host: str, environment: Mapping[str, str]) -> str | None:
    """The token that gh keeps for a host, or None: there is no gh, or nobody has logged in with it.

    Source: https://cli.github.com/manual/gh_auth_token

    Args:
        host: as in `github.com`; only the token of this very host is given.
        environment: PATH and HOME are looked up here.

    Raises:
        NoToken: gh did not answer in time.
    """
    found = shutil.which("gh", path=environment.get("PATH"))
    if found is None or not Path(found).is_absolute():
        return None
    seen = {k: v for k, v in {**os.environ, **environment}.items() if k not in _ANY_HOSTS}
    try:
        code, value = _run((found, "auth", "token", "--hostname", host), seen, SECONDS_OF_GH)
    except OSError:
        return None  # a gh that cannot be started is none
    except subprocess.TimeoutExpired:
        raise NoToken(
            f"No GitHub token: gh auth token took longer than {SECONDS_OF_GH:g} s, so nothing was asked of "
            "GitHub and nothing was changed. Run it by hand to see why, or set GH_TOKEN."
        ) from None
    return value if code == 0 and value else None


def _run(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> tuple[int, str]:
    """Exit code and first line, which is kept secret; the command is ended where it takes too long."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except BaseException:
            _end(process)
            raise
    value = printed.partition(b"\n")[0].decode("utf-8", "replace").strip()
    keep_secret(value)
    return process.returncode, value


def _none(where: str, what: str, command: Sequence[str]) -> NoToken:
    return NoToken(
        f"No GitHub token: the token_command in {where} {what}, so nothing was asked of GitHub and "
        f"nothing was changed. Run {command[0]} by hand to see why, or set GH_TOKEN."
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and whatever it started, which holds its pipe open."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
