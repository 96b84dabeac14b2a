"""Read runs of workflows of Actions over REST: how one stands, what failed on a commit, logs of jobs.

A log is two requests, of which only the first has our token. GitHub answers with an address at a storage
service that is good for a minute, whoever asks there. So a log can be had as soon as its job is over,
though its run goes on.

Sources: https://docs.github.com/rest/actions/workflow-runs,
https://docs.github.com/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs and
https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from lifecycle.core.errors import LifecycleError, LogExpired, NotFound, Rejected, Transient
from lifecycle.core.redact import lines_in
from lifecycle.core.values.failed_checks import WorkflowRun
from lifecycle.github.client.client_common import Json, part, text
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures.failure_case import Answer, AskedRequest

_UNRUNNABLE = ("already running", "cannot be retried", "no failed jobs")
"""Words of a refusal that is not about what the token may do, in small letters."""


class WorkflowRuns:
    """The runs of workflows of one repository."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def run(self, number: int) -> WorkflowRun:
        """A run as it stands now; NotFound, NoPermission."""
        return self._calls.read(f"actions/runs/{number}", f"run {number} of a workflow", _run)

    def runs_on(self, sha: str) -> list[Json]:
        """The newest run of each workflow and event on a commit; NoPermission."""
        subject = f"the runs of workflows on commit {sha[:12]}"
        runs = self._calls.pages("actions/runs", subject, {"head_sha": sha}, key="workflow_runs")
        newest: dict[object, Json] = {}
        for (
            run
        ) in runs:  # newest first; a redirect may lose the query: then these are of every commit
            if run.get("head_sha") == sha:
                newest.setdefault((run.get("workflow_id"), run.get("event")), run)
        return list(newest.values())

    def run_again(self, run: int, attempt: int) -> None:
        """Run the failed jobs again, unless there is a later attempt than this.

        It is sent once: what came of a lost answer is seen in the number of attempts at the next call.

        Raises:
            NoPermission: the sentence says what the token needs.
            Rejected: GitHub does not run it again: it is not over, too old, or was run again 50 times.
        """
        if self.run(run).attempt > attempt:
            return
        path, subject = f"actions/runs/{run}/rerun-failed-jobs", f"another attempt of run {run}"
        self._calls.create("POST", path, subject, lambda _: None, own=_refused)

    def address_of(self, job: int) -> str:
        """Where a job's log lies for a minute, for whoever asks there; raises as `job_log`."""
        asked = AskedRequest(f"the log of job {job} in {self._calls.repository}")
        path = f"/repos/{self._calls.repository}/actions/jobs/{job}/logs"
        return self._calls.rest.redirected(path, asked, _own)

    @contextmanager
    def job_log(self, job: int) -> Iterator[Iterator[str]]:
        """The lines of a job's log as they come.

        Raises:
            NoPermission: the sentence says what the token needs.
            NotFound: there is no log, or none yet.
            LogExpired: the repository does not keep it any more.
            Transient: nobody answers, or not in time.
        """
        from lifecycle.github.client.plain_line import NoAnswerError, streamed

        where = self.address_of(job)
        try:
            with streamed(where, self._calls.rest.deadline) as (status, parts):
                if status != 200:
                    raise Transient(
                        f"The storage of GitHub's logs answered {status}, so the log was not read; try "
                        "again."
                    )
                yield lines_in(parts, LONGEST)
        except NoAnswerError as error:
            raise Transient(
                f"The storage of GitHub's logs {error.silence.words}, so the log was not read; try "
                "again."
            ) from None


def _run(run: Json) -> WorkflowRun:
    """A run; its pull request names the base that it was tested with. Those of forks are not shown."""
    bases = [part(pull, "base") for pull in run["pull_requests"]]
    return WorkflowRun(
        int(run["id"]),
        int(run["run_attempt"]),
        run["status"] == "completed",
        next((text(base, "sha") for base in bases), ""),
    )


def over(runs: Iterable[Json]) -> tuple[str, ...]:
    """The workflows of which no run is under way."""
    all_runs = list(runs)
    going = {str(run.get("name") or "") for run in all_runs if run.get("status") != "completed"}
    return tuple(sorted({str(run.get("name") or "") for run in all_runs} - going))


def _refused(answer: Answer) -> LifecycleError | None:
    """Rejected for a 403 that is about the run and not about the token, else None."""
    refusal = answer.words.lower()
    if answer.status != 403 or not any(words in refusal for words in _UNRUNNABLE):
        return None
    return Rejected(
        f"GitHub does not run it again ({answer.words.rstrip('.')}), so nothing was done; push, or look at "
        "the run on its page."
    )


LONGEST = 65_536
"""Characters of a line that are kept until it ends: what comes without an end costs no more memory."""


def _own(answer: Answer) -> LifecycleError | None:
    if answer.status == 410:
        return LogExpired("The log is older than the repository keeps logs, so it cannot be read.")
    if answer.status == 404:
        return NotFound(
            "GitHub has no log of the job: it is not there yet, its runner was lost, or it was deleted."
        )
    return None
