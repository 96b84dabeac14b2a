"""Fetch the failed checks of a head and their logs, and keep them: one request, and one for each log.

A log is read up to the end of the failed step, and once for each attempt of its job: every attempt is a job
with its own number. A sentence replaces a log that cannot be read, and nothing else waits for it.
"""

from __future__ import annotations

import json
from contextlib import nullcontext

from lifecycle.core.errors import LifecycleError, NotFound
from lifecycle.core.light_dataclass import asdict, from_json, object_in, replace
from lifecycle.core.redact import redact
from lifecycle.core.timing import HARD_EXIT_GRACE, DeadlineReached, alarm
from lifecycle.core.values.failed_checks import FailedCheck, FailedHead
from lifecycle.core.world import World
from lifecycle.feedback.checks.excerpt import ReadLog, excerpt
from lifecycle.feedback.checks.log_lines import KeptLog, failing_tests
from lifecycle.feedback.checks.packet import MOST_JOBS, TOO_LATE, FailurePacket, ordered, packet
from lifecycle.storage import feedback_files, log

_NEW = 60.0
"""Seconds after a job's end in which its log may not be available yet."""

_PAUSE = 2.0

_LEAST = 0.5
"""Seconds that have to be left before another log is requested."""


def fetch(world: World, pull: int, seconds: float | None = None, group: str = "") -> FailurePacket:
    """Read what failed on the head of a pull request, and keep the packet as a file.

    Args:
        world: the world to read from.
        pull: the pull request's number.
        group: a commit on which the merge queue tested it; its failures are read instead of the head's.
        seconds: how long everything may take; logs not read by then are named. Default: the world's own
            deadline.

    Raises:
        NotFound, NoPermission, Transient: the checks themselves could not be read.
    """
    if seconds is not None:
        world.deadline.renew(seconds)
    logs: dict[int, ReadLog] = {}
    head: FailedHead | None = None
    try:
        with nullcontext() if seconds is None else alarm(seconds + 1.0 + HARD_EXIT_GRACE):
            head = world.reports.failed_head(pull, group)
            for check in ordered(head)[:MOST_JOBS]:
                if check.job is not None:
                    logs[check.job] = read_log(world, check, check.job)
    except DeadlineReached:
        if head is None or seconds is None:
            raise
        log.write(world.root, "feedback: the time for reading logs was up")
    failure_packet = packet(head, logs)
    name = feedback_files.packet_of(failure_packet.pull, failure_packet.head)
    text = "\n".join(failure_packet.as_lines()) + "\n"
    return replace(failure_packet, path=feedback_files.write(world.root, name, text))


def read_log(world: World, check: FailedCheck, job: int) -> ReadLog:
    """Read the log of a check's job: the kept one, else GitHub's; a failure to read it is its `problem`."""
    folder = feedback_files.folder_of(world.root)
    earlier: ReadLog | None = from_json(ReadLog, object_in(folder.read(f"{job}.json").content))
    if earlier is not None and folder.has(f"{job}.log"):
        return earlier
    if world.deadline.left < _LEAST:
        return ReadLog(problem=TOO_LATE)
    try:
        read, kept = _asked(world, check, job)
    except LifecycleError as error:
        is_late = world.deadline.left < _LEAST
        return ReadLog(problem=TOO_LATE if is_late else redact(error.sentence, world.environment))
    tests = failing_tests(kept.lines, check.failed_step)
    path = feedback_files.write(world.root, f"{job}.log", kept.text)
    read = replace(read, log=path, tests=tests)
    feedback_files.write(world.root, f"{job}.json", json.dumps(asdict(read)))
    return read


def _asked(world: World, check: FailedCheck, job: int) -> tuple[ReadLog, KeptLog]:
    """Request a log, twice if it may not be available yet; its excerpt, and what is kept of it."""
    try:
        return _once(world, check, job)
    except NotFound:
        ended = max((step.ended or 0.0 for step in check.steps), default=0.0)
        is_new = 0 <= world.clock.now() - ended < _NEW
        if not is_new or world.deadline.left < 3 * _PAUSE:
            raise
    world.clock.sleep(_PAUSE)
    return _once(world, check, job)


def _once(world: World, check: FailedCheck, job: int) -> tuple[ReadLog, KeptLog]:
    kept = KeptLog()
    with world.reports.job_log(job) as lines:
        read = excerpt(kept.through(lines), check.failed_step)
    if not read.lines:  # the step's times do not match the log's
        read = excerpt(kept.lines)
    return read, kept
