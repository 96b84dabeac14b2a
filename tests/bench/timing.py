"""Whole processes on the wall clock: what each measurement of the bench is made of."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Probe:
    """One command to be timed.

    Attributes:
        name: what the table calls it.
        command: the program's path and its arguments.
        environment: all of the process's environment.
        prepare: what has to be so before each run; not timed.
        stdin: the file that the process reads.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    prepare: Callable[[], object] = bool
    stdin: str = os.devnull


class ProbeFailedError(Exception):
    """A timed process did not end as it must; its time says nothing."""


def seconds_of(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    *codes: int,
    stdin: str = os.devnull,
    computes: bool = False,
) -> float:
    """Seconds from the start of a process to its end; stdin is empty unless given, output is dropped.

    With `computes` those of CPU time that it and its children took, which other work hardly lengthens.

    Raises:
        ProbeFailedError: it ended with another exit code than 0 or one of `codes`.
    """
    null = os.devnull
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, null, os.O_WRONLY, 0),
    ]
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    seconds = used.ru_utime + used.ru_stime if computes else time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, *codes):
        raise ProbeFailedError(f"{' '.join(map(str, command))} exited {code}")
    return seconds


def interleaved(probes: Sequence[Probe], rounds: int) -> dict[str, float]:
    """The median seconds of each probe.

    Every round runs each probe once, so that a slow moment of the machine hits all of them alike. The
    first one is run once more before it counts: what ran before it was the last round's slowest.
    """
    samples: dict[str, list[float]] = {probe.name: [] for probe in probes}
    for _ in range(rounds):
        seconds_of(probes[0].command, probes[0].environment)
        for probe in probes:
            probe.prepare()
            took = seconds_of(probe.command, probe.environment, stdin=probe.stdin)
            samples[probe.name].append(took)
    return {name: median(found) for name, found in samples.items()}


def age(path: Path) -> None:
    """Give a file a modification time long past, as one that nobody edited for a while."""
    os.utime(path, (1_000_000_000, 1_000_000_000))
