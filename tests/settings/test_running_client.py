"""Whether a client's agent may have started a process: by its variables, and by the processes above it."""

from __future__ import annotations

import os

import pytest

from lifecycle.settings import running_client


@pytest.mark.parametrize("name", ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"])
def test_a_clients_variable_tells(name: str) -> None:
    """An empty one tells nothing."""
    assert running_client.is_inside({name: "1"})
    assert running_client.is_inside({name: "1"}, [os.getppid()])


def test_a_process_above_that_is_a_client_tells() -> None:
    """Whatever was taken out of the environment."""
    assert running_client.is_inside({}, [os.getppid()])


@pytest.mark.parametrize(
    ("process", "parents", "has_terminal", "is_inside"),
    [
        (7, {7: ("sh", 5), 5: ("login", 1), 1: ("init", 0)}, True, False),
        (7, {7: ("sh", 5), 5: ("cron", 1), 1: ("init", 0)}, False, False),
        (7, {7: ("sh", 5), 5: ("claude", 1), 1: ("init", 0)}, True, True),
        (1, {1: ("init", 0)}, False, True),
        (1, {1: ("init", 0)}, True, False),
        (7, {7: ("systemd", 1), 1: ("init", 0)}, False, True),
        (7, {}, False, False),
    ],
)
def test_the_processes_above_tell(
    monkeypatch: pytest.MonkeyPatch,
    process: int,
    parents: dict[int, tuple[str, int]],
    has_terminal: bool,
    is_inside: bool,
) -> None:
    """A client by its name; what nobody waits for and has no terminal may be anybody's."""
    monkeypatch.setattr(os, "getppid", lambda: process)
    monkeypatch.setattr(running_client, "_about", lambda one: parents.get(one, ("", 0)))
    monkeypatch.setattr(running_client, "_has_client", lambda _: False)
    monkeypatch.setattr(running_client, "_has_terminal", lambda: has_terminal)
    assert running_client.is_inside({}) is is_inside
