"""Tokens that a command prints, or gh keeps.

The user's `token_command` comes from the user's own file, so it gets the environment of the user's shell.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from lifecycle.core.errors import NoToken
from lifecycle.core.redact import keep_secret
from lifecycle.core.timing import ran
from lifecycle.settings import config, readers, resources
from lifecycle.storage import regular_files

SECONDS = 10.0
"""How long the command may take; a credential store should not need longer."""

SECONDS_OF_GH = 4.0
"""How long gh may take; a hook waits for it."""

MOST_BYTES = 65_536
"""How much a command may have printed while it still runs."""


def command_token(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The first line that the user's token_command prints, and that name; None if there is no command.

    From then on that line is redacted from all text that leaves, and no sentence contains the output.

    The command and its token belong to the user: it is run only for the addresses that the user's file
    names (or GitHub's own, if it names none), not for others that happen to be in the environment.

    Raises:
        BadConfig: the value cannot be sent as a header, or the user's file cannot be used.
        NoToken: the command is for other hosts, failed, took too long, printed too much, or no first line.
    """
    user = config.user_settings(environment)
    command: tuple[str, ...] = user.get("token_command", ())
    if not command:
        return None
    where = config.own_path(config.CONFIG, environment)
    config.demand_own_hosts(environment, user, f"token_command in {where}")
    try:
        code, value = _run(command, {**os.environ, **environment}, SECONDS)
    except OSError as error:
        raise _none(where, f"could not be started ({error.strerror})", command) from None
    except subprocess.TimeoutExpired:
        raise _none(where, f"took longer than {SECONDS:g} s", command) from None
    except OverflowError:
        raise _none(where, "printed much more than a token", command) from None
    if code != 0 or not value:
        problem = f"failed (exit {code})" if code else "printed no token in its first line"
        raise _none(where, problem, command)
    way = f"Run {command[0]} by hand: the first line has to be the token alone. Or set GH_TOKEN."
    return readers.token(f"What the token_command in {where} printed", value, way), "token_command"


def kept_by_gh(host: str, environment: Mapping[str, str]) -> str | None:
    """The token that gh keeps for a host; None if there is no gh, or nobody has logged in with it.

    Source: https://cli.github.com/manual/gh_auth_token

    Args:
        host: such as `github.com`; only a token for exactly this host is returned.
        environment: has PATH and HOME.

    Raises:
        NoToken: gh did not answer in time.
    """
    import shutil

    program = shutil.which("gh", path=environment.get("PATH"))
    if program is None or not Path(program).is_absolute():
        return None
    # gh prints a variable's token for any host; without these it prints only what it keeps itself.
    variables = {k: v for k, v in {**os.environ, **environment}.items() if k not in config.SECRETS}
    try:
        code, value = _run((program, "auth", "token", "--hostname", host), variables, SECONDS_OF_GH)
    except (OSError, OverflowError):
        return None  # a gh that cannot be started, or is another program, counts as missing
    except subprocess.TimeoutExpired:
        raise NoToken(resources.sentence("silent-gh", host=host, seconds=SECONDS_OF_GH)) from None
    return value if code == 0 and value else None


def fingerprint(root: Path, environment: Mapping[str, str]) -> str:
    """A word that changes with the environment, the settings' files and gh's store, but reveals nothing.

    Files are not read: their dates distinguish versions. A token_command is not run.

    Args:
        root: the worktree, whose settings may be wrong.
        environment: the variables, which also say where the user's files are.
    """
    others = {"GITHUB_API_URL", "GITHUB_GRAPHQL_URL", "LIFECYCLE_REPOSITORY"}
    parts = [f"{name}={environment.get(name, '')}" for name in sorted(config.SECRETS | others)]
    own = config.own_folder(environment)
    # gh writes this file at every login: https://cli.github.com/manual/gh_help_environment
    base = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '')}/.config"
    gh_store = Path(environment.get("GH_CONFIG_DIR") or f"{base}/gh", "hosts.yml")
    files = [config.file_of(root), gh_store, *([own / config.CONFIG] if own is not None else [])]
    parts += [f"{file}: {regular_files.mtime_ns(str(file), follow=True)}" for file in files]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _run(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> tuple[int, str]:
    """Exit code and first line, which is kept secret; the command is ended if it takes too long."""
    code, printed, _ = ran(command, seconds, environment, most=MOST_BYTES)
    value = printed.partition("\n")[0].strip()
    keep_secret(value)
    return code, value


def _none(where: str, problem: str, command: Sequence[str]) -> NoToken:
    words = {"where": where, "problem": problem, "program": command[0]}
    return NoToken(resources.sentence("no-printed-token", **words))
