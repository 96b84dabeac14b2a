"""The log of a job of Actions, line by line: two requests, of which only the first has our token.

GitHub answers with an address at a storage service that is good for a minute, whoever asks there. So a
log can be had as soon as its job is over, though its run goes on.

Source: https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lifecycle.core.errors import LifecycleError, LogExpired, NotFound, Transient
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures.failure_case import Answer, AskedRequest

LONGEST = 65_536
"""Characters of a line that are given at once: what comes without a line's end costs no more memory."""


def address_of(calls: Calls, job: int) -> str:
    """Where a job's log lies for a minute, for whoever asks there; raises as `job_log`."""
    asked = AskedRequest(f"the log of job {job} in {calls.repository}")
    path = f"/repos/{calls.repository}/actions/jobs/{job}/logs"
    return calls.rest.redirected(path, asked, _own)


@contextmanager
def job_log(calls: Calls, job: int) -> Iterator[Iterator[str]]:
    """The lines of a job's log as they come.

    Raises:
        NoPermission: the sentence says what the token needs.
        NotFound: there is no log, or none yet.
        LogExpired: the repository does not keep it any more.
        Transient: nobody answers, or not in time.
    """
    from lifecycle.github.client.plain_line import NoAnswerError, streamed

    where = address_of(calls, job)
    try:
        with streamed(where, calls.rest.deadline) as (status, parts):
            if status != 200:
                raise Transient(
                    f"The storage of GitHub's logs answered {status}, so the log was not read; try again."
                )
            yield _lines(parts)
    except NoAnswerError as error:
        raise Transient(
            f"The storage of GitHub's logs {error.silence.words}, so the log was not read; try again."
        ) from None


def _own(answer: Answer) -> LifecycleError | None:
    if answer.status == 410:
        return LogExpired("The log is older than the repository keeps logs, so it cannot be read.")
    if answer.status == 404:
        return NotFound(
            "GitHub has no log of the job: it is not there yet, its runner was lost, or it was deleted."
        )
    return None


def _lines(parts: Iterable[bytes]) -> Iterator[str]:
    """The lines in parts that may break anywhere; a line that is too long comes in pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    left = ""
    for part in parts:
        *whole, left = (left + decoder.decode(part)).split("\n")
        yield from whole
        while len(left) > LONGEST:
            yield left[:LONGEST]
            left = left[LONGEST:]
    left += decoder.decode(b"", final=True)
    if left:
        yield left
