"""Find which client runs this process, and in which of its sessions: from the environment and /proc."""

from __future__ import annotations

import os
from enum import Enum

TYPE_CHECKING = False  # importing `typing` would cost too much on the quick path
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

ID_LIMIT = 200
"""The most characters of a session's id that are kept."""


class Client(Enum):
    """Which client runs a hook."""

    OTHER = "another client, or a person"
    """There, nothing waits, claims or blocks: how it treats a reply is unknown."""
    UNATTENDED = "Claude Code, where nobody attends"
    """`claude -p` and the like: background work is waited for, and nobody is woken."""
    ATTENDED = "Claude Code, where somebody attends"


_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "post-tool-use"})
"""Names of processes between the client and us: shells, and the hook that pipes to us."""
_INITS = frozenset({"systemd", "init"})
"""Names of processes that adopt a process whose parent is gone."""
_INHERITED = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID")
"""Variables that a client sets for everything that its agent starts."""
_ATTENDED_BY = frozenset({"cli", "claude-vscode", "claude-desktop"})
"""Entrypoints that a person attends, for a client that does not say whether one does."""


def client_of(environment: Mapping[str, str]) -> Client:
    """Which client runs this process; `served` and `attended` in `hooks/common` are the same in sh.

    Claude Code names its process to its hooks: it is our parent, or the parent of the one shell that was
    given our command line. Another client, which only reads its settings, names no process. A client that
    was started from a shell of Claude Code's own agent has inherited the name, and is between it and us. An
    older Claude Code that names no process looks the same, and counts as another client.
    """
    named = environment.get("CLAUDE_PID", "")
    if not (environment.get("CLAUDECODE") and named):
        return Client.OTHER
    parent = os.getppid()
    name, above = _about(parent)
    # There may be a shell between them.
    if named not in (str(parent), str(above) if name in _SHELLS else ""):
        return Client.OTHER
    return Client.ATTENDED if _is_attended(environment) else Client.UNATTENDED


def process_of(environment: Mapping[str, str]) -> int:
    """The client's process, from the environment; 0 if it is not named."""
    named = environment.get("CLAUDE_PID", "")
    return int(named) if named.isdecimal() else 0


def can_be_asked(environment: Mapping[str, str]) -> bool:
    """True if a command's client says that a person attends, whom its agent can ask.

    There are shells between a command and the client: the variables that they pass on are believed here.
    """
    return bool(environment.get("CLAUDECODE")) and _is_attended(environment)


def is_unattended(environment: Mapping[str, str]) -> bool:
    """True if a command is run by the agent of an unattended client; as `can_be_asked`."""
    return bool(environment.get("CLAUDECODE")) and not _is_attended(environment)


def _is_attended(environment: Mapping[str, str]) -> bool:
    job = environment.get("CLAUDE_JOB_DIR", "").rpartition("/")[2]
    if environment.get("CLAUDE_CODE_SESSION_ID", "").startswith(f"{job}-"):
        return True  # in the background, where a person comes; its agent's clients have other ids
    word = environment.get("CLAUDE_CODE_SESSION_ATTENDED")
    return word == "1" if word else environment.get("CLAUDE_CODE_ENTRYPOINT") in _ATTENDED_BY


def is_inside(environment: Mapping[str, str], clients: Collection[int] = ()) -> bool:
    """True if a client's agent may have started this process, even if it removed variables.

    The variables decide; else the processes above this one: one of them is the client, or has its
    variables. A process without a terminal and without a waiting ancestor may have been started by
    anybody. If the system does not show processes, only the variables decide.

    Args:
        environment: the variables.
        clients: processes that are known to be a client.
    """
    if any(environment.get(name) for name in _INHERITED):
        return True
    process = os.getppid()
    name, above = _about(process)
    if (process <= 1 or name in _INITS) and not _has_terminal():
        return True
    while process > 1:
        if process in clients or name == "claude" or _has_client(process):
            return True
        process = above
        name, above = _about(process)
    return False


def _about(process: int) -> tuple[str, int]:
    """The name of a process and its parent; ("", 0) if this system does not show them.

    Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 -- a hook's path imports little
            name, _, fields = file.read().partition("(")[2].rpartition(")")
        return name, int(fields.split()[1])
    except (OSError, ValueError, IndexError):
        return "", 0


def _has_client(process: int) -> bool:
    """True if a process was started with a client's variables, if that can be read."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123 -- as above
            started_with = file.read().split(b"\0")
    except OSError:
        return False
    return any(variable.startswith(b"CLAUDECODE=") for variable in started_with)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def session_of(event: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The client's session: from the event, else from the environment, else empty.

    A text that is not a valid id is dropped, since the id is written into files and shown to people.
    """
    for id_ in (event.get("session_id"), environment.get("CLAUDE_CODE_SESSION_ID")):
        text = "".join(c for c in str(id_ or "") if c.isascii() and c.isprintable()).strip()
        if text:
            return text[:ID_LIMIT]
    return ""


def is_machine_made(event: Mapping[str, Any]) -> bool:
    """True if no person wrote this prompt: a wake is also sent as a prompt, with its own words."""
    prompt = event.get("prompt")
    return not isinstance(prompt, str) or prompt.lstrip().startswith("<task-notification>")
