"""Read the reports of failed checks on a pull request's head: one GraphQL request, and their logs.

A fine-grained token cannot see checks. Then the jobs of Actions are read instead, which have steps but no
remarks on lines; other hidden parts are reported.

A log needs two requests, and only the first has our token. GitHub answers with an address at a storage
service, which anybody can use for a minute. So a log is available as soon as its job is over, even if
its run is still in progress.

Sources: https://docs.github.com/rest/actions/workflow-runs,
https://docs.github.com/actions/how-tos/manage-workflow-runs/re-run-workflows-and-jobs and
https://docs.github.com/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sized
from contextlib import contextmanager, suppress
from operator import itemgetter
from typing import TYPE_CHECKING

from lifecycle.core import errors, timing
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import lines_in
from lifecycle.core.values import failed_checks
from lifecycle.core.values.checks import ENDED_BADLY
from lifecycle.github.client.client_common import Json, nodes, number, part, text, texts, word
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures import AskedRequest, answered, first_of, sentence

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient

_BAD_STATUS = {"FAILURE", "ERROR"}
_not_run_again = answered(
    "not-run-again", errors.Rejected, 403, "already running|cannot be retried|no failed jobs"
)
"""Rejected for a 403 that is about the run, not about the token."""

_without_log = first_of(
    answered("log-expired", errors.LogExpired, 410), answered("no-log", errors.NotFound, 404)
)
"""The error if there is no log any more, or not yet."""


class GitHubCheckReports:
    """Reads failed checks and the logs of jobs; fits `ports.CheckReports`.

    Args:
        graph: GraphQL, for the checks.
        calls: REST, for logs, and for jobs if GraphQL shows no checks.
    """

    def __init__(self, graph: GraphClient, calls: Calls) -> None:
        self._graph = graph
        self._calls = calls

    def may_read_logs(self) -> bool:
        """True if GitHub would show the log of the newest completed run; False if there is none to try.

        The log itself is not requested: three requests. Raises NoPermission.
        """
        query = {"status": "completed", "per_page": 1}
        runs = self._calls.pages("actions/runs", "runs of workflows", query, key="workflow_runs")
        newest = next(runs, None)
        job = next(self._jobs(newest, {"per_page": 1}), None) if newest is not None else None
        if job is None:
            return False
        with suppress(errors.LogExpired, errors.NotFound):  # the token may ask anyway
            self.address_of(int(job["id"]))
        return True

    def run(self, number: int) -> failed_checks.WorkflowRun:
        """A run's present state; NotFound, NoPermission."""
        return self._calls.read(f"actions/runs/{number}", f"run {number} of a workflow", _run_of)

    def run_again(self, run: int, attempt: int) -> None:
        """Run the failed jobs again, unless there is a later attempt than this.

        It is sent once: if the answer was lost, the number of attempts shows the result at the next call.

        Raises:
            NoPermission: the sentence says what the token needs.
            Rejected: GitHub refuses: it is not over, too old, or was run again 50 times.
        """
        if self.run(run).attempt > attempt:
            return
        path, subject = f"actions/runs/{run}/rerun-failed-jobs", f"another attempt of run {run}"
        self._calls.create("POST", path, subject, lambda _: None, own=_not_run_again)

    def address_of(self, job: int) -> str:
        """The address of a job's log, which anybody can use for a minute; raises as `job_log`."""
        path, subject = f"actions/jobs/{job}/logs", f"the log of job {job}"
        return self._calls.address_of(path, subject, _without_log)

    @contextmanager
    def job_log(self, job: int) -> Iterator[Iterator[str]]:
        """The lines of a job's log as they arrive.

        Raises:
            NoPermission: the sentence says what the token needs.
            NotFound: there is no log, or none yet.
            LogExpired: the repository does not keep it any more.
            Transient: no answer, or not in time.
        """
        from lifecycle.github.client.plain_line import NoAnswerError, streamed

        where = self.address_of(job)
        try:
            with streamed(where, self._calls.rest.deadline) as (status, parts):
                if status != 200:
                    raise errors.Transient(sentence("no-storage", what=f"answered {status}"))
                yield lines_in(parts)
        except NoAnswerError as error:
            raise errors.Transient(sentence("no-storage", what=error.silence.words)) from None

    def failed_on(self, sha: str) -> failed_checks.CommitFailures:
        """The failed jobs of Actions on a commit, and the workflows without a run in progress.

        Sources: https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository and
        https://docs.github.com/rest/actions/workflow-jobs#list-jobs-for-a-workflow-run
        """
        subject = f"the runs of workflows on commit {sha[:12]}"
        listed = self._calls.pages("actions/runs", subject, {"head_sha": sha}, key="workflow_runs")
        newest: dict[object, Json] = {}  # by workflow and event
        # The newest comes first. A redirect may lose the query: then these are of every commit.
        for run in listed:
            if run.get("head_sha") == sha:
                newest.setdefault((run.get("workflow_id"), run.get("event")), run)
        failed = tuple(check for run in newest.values() for check in self._jobs_in(run))
        named = [(str(run.get("name") or ""), run.get("status")) for run in newest.values()]
        going = {name for name, status in named if status != "completed"}
        over = tuple(sorted({name for name, _ in named} - going))
        return failed_checks.CommitFailures(failed, over)

    def failed_head(self, number: int, group: str = "") -> failed_checks.FailedHead:
        """What failed on the head of a pull request, or on the merge queue's commit `group`; NotFound."""
        repository = self._calls.repository
        subject = f"the checks of pull request #{number} in {repository}"
        of_group = {"group": group or None, "ofGroup": bool(group)}
        variables = {**repository.variables, "number": number, **of_group}
        reply = self._graph.read("failed_checks", variables, subject=subject)
        shown = part(reply.data, "repository")
        pull = part(shown, "pullRequest")
        if not pull:
            raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
        commit = next((part(node, "commit") for node in nodes(pull, "commits")), {})
        commit = part(shown, "object") if group else commit
        sha = group or text(pull, "headRefOid")
        head = failed_checks.FailedHead(number, text(pull, "url"), sha)
        if text(commit, "oid") != sha:
            return replace(head, unseen=(sentence("head-not-shown"),))
        checks = [*_runs(commit), *_statuses(commit)]
        has_more = part(commit, "checkSuites.pageInfo").get("hasNextPage")
        unseen = (sentence("more-suites"),) if has_more else ()
        if any(problem.type == "FORBIDDEN" for problem in reply.problems):
            known_jobs = {check.job for check in checks} - {None}
            unseen = (*unseen, sentence("checks-hidden"))
            try:
                jobs = self.failed_on(sha).failed
                checks += [check for check in jobs if check.job not in known_jobs]
            except errors.NoPermission as error:
                unseen = (*unseen, error.sentence)
        runs = (part(suite, "checkRuns") for suite in _newest(commit))
        left = sum(_more(listed, listed.get("nodes") or []) for listed in runs)
        return replace(head, checks=tuple(dict.fromkeys(checks)), left=left, unseen=unseen)

    def queue_commit(self, number: int) -> str:
        """The newest commit on which Actions tested a pull request for the merge queue; "" if none.

        The branch of such a run names the pull request.
        Source:
        https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#merge_group
        """
        query, subject = {"event": "merge_group", "per_page": 100}, "the runs of the merge queue"
        runs = self._calls.read("actions/runs", subject, itemgetter("workflow_runs"), query)
        is_its = re.compile(rf"/pr-{number}-[0-9a-f]{{40,64}}").search
        ours = (str(run["head_sha"]) for run in runs if is_its(str(run.get("head_branch"))))
        return next(ours, "")  # newest first

    def _jobs(self, run: Json, query: Json | None = None) -> Iterator[Json]:
        path, subject = f"actions/runs/{int(run['id'])}/jobs", "the jobs of a workflow's run"
        return self._calls.pages(path, subject, query, key="jobs")

    def _jobs_in(self, run: Json) -> list[failed_checks.FailedCheck]:
        is_over = run.get("status") == "completed"
        if is_over and word(run.get("conclusion")) not in ENDED_BADLY:
            return []
        jobs = list(self._jobs(run))
        if not jobs and is_over:
            return [_unstarted(str(run.get("name") or ""), str(run["html_url"]), run["id"], run)]
        return [_job(job, run) for job in jobs if word(job.get("conclusion")) in ENDED_BADLY]


def _newest(commit: Json) -> list[Json]:
    """The newest suite for each app, workflow and event: a new run supersedes the one before."""
    newest: dict[object, Json] = {}
    for suite in sorted(nodes(commit, "checkSuites"), key=lambda suite: text(suite, "createdAt")):
        run, app = part(suite, "workflowRun"), part(suite, "app").get("databaseId")
        newest[app, text(run, "workflow.name"), text(run, "event")] = suite
    return list(newest.values())


def _runs(commit: Json) -> list[failed_checks.FailedCheck]:
    checks: list[failed_checks.FailedCheck] = []
    for suite in _newest(commit):
        run = part(suite, "workflowRun")
        checks += [_run(check_run, suite, run) for check_run in nodes(suite, "checkRuns")]
        has_ended = word(suite.get("conclusion")) in {"STARTUP_FAILURE", "FAILURE"}
        if run and has_ended and part(suite, "jobs").get("totalCount") == 0:
            name = text(run, "workflow.name")
            checks.append(_unstarted(name, text(run, "url"), run.get("databaseId"), run))
    return checks


def _unstarted(name: str, url: str, run: object, of: Json) -> failed_checks.FailedCheck:
    """A workflow whose file could not be read: its run is over, and none of its jobs began."""
    event, its = text(of, "event"), number(run)
    return failed_checks.FailedCheck(name, "STARTUP_FAILURE", url, name, event, run=its)


def _run(check_run: Json, suite: Json, run: Json) -> failed_checks.FailedCheck:
    shown = tuple(_remark(annotation) for annotation in nodes(check_run, "annotations"))
    return failed_checks.FailedCheck(
        word=word(check_run.get("conclusion")),
        **texts(check_run, name="name", url="detailsUrl", title="title", summary="summary"),
        **texts(run, workflow="workflow.name", event="event"),
        app=text(suite, "app.name"),
        job=number(check_run.get("databaseId")) if run else None,
        run=number(run.get("databaseId")),
        is_required=check_run.get("isRequired"),
        steps=tuple(map(_step, nodes(check_run, "steps"))),
        remarks=shown,
        remarks_left=_more(part(check_run, "annotations"), shown),
    )


def _more(connection: Json, shown: Sized) -> int:
    """The number of a connection's entries that were not shown."""
    return max(0, (number(connection.get("totalCount")) or 0) - len(shown))


def _remark(annotation: Json) -> failed_checks.CheckRemark:
    line = number(part(annotation, "location.start").get("line")) or 0
    level = word(annotation.get("annotationLevel"))
    shown = texts(annotation, path="path", message="message", title="title")
    return failed_checks.CheckRemark(line=line, level=level, **shown)


def _step(step: Json) -> failed_checks.JobStep:
    """A step of a job, from either API."""
    name, outcome = text(step, "name"), word(step.get("conclusion"))
    began = timing.parse_time(step.get("startedAt", step.get("started_at")))
    ended = timing.parse_time(step.get("completedAt", step.get("completed_at")))
    return failed_checks.JobStep(int(step.get("number") or 0), name, outcome, began, ended)


def _statuses(commit: Json) -> list[failed_checks.FailedCheck]:
    contexts = part(commit, "status").get("contexts") or []
    return [_status(node) for node in contexts if node and node.get("statusState") in _BAD_STATUS]


def _status(context: Json) -> failed_checks.FailedCheck:
    shown = texts(context, name="context", word="statusState", url="targetUrl")
    summary, is_required = text(context, "description"), context.get("isRequired")
    return failed_checks.FailedCheck(**shown, is_required=is_required, summary=summary)


def _job(job: Json, run: Json) -> failed_checks.FailedCheck:
    """A job of the Actions API, which does not say whether it is required."""
    return failed_checks.FailedCheck(
        **texts(job, name="name", url="html_url"),
        **texts(run, workflow="name", event="event"),
        word=word(job.get("conclusion")),
        app="GitHub Actions",
        job=int(job["id"]),
        run=int(run["id"]),
        steps=tuple(map(_step, job.get("steps") or [])),
    )


def _run_of(run: Json) -> failed_checks.WorkflowRun:
    """A run; its pull request names the base that it was tested with. Those of forks are not shown."""
    bases = [part(pull, "base") for pull in run["pull_requests"]]
    sha, is_over = next((text(base, "sha") for base in bases), ""), run["status"] == "completed"
    return failed_checks.WorkflowRun(int(run["id"]), int(run["run_attempt"]), is_over, sha)
