"""Check runs and suites, statuses, workflow runs."""

from __future__ import annotations

from tests.clients.rows.form import Row, gone
from tests.clients.world import ROBOT

CHECKS = (
    Row("checks/create", lambda s: {"name": s.name("made"), "head_sha": s.sha}, 201, ROBOT),
    Row("checks/get", lambda s: {"check_run_id": s.check()}),
    Row("checks/update", lambda s: {"check_run_id": s.check(), "conclusion": "success"},
        token=ROBOT),
    Row("checks/list-annotations", lambda s: {"check_run_id": s.check()}),
    Row("checks/list-for-ref", lambda s: {"ref": s.sha}),
    Row("checks/list-suites-for-ref", lambda s: {"ref": s.sha}),
    Row("checks/get-suite", lambda s: {"check_suite_id": s.suite}),
    Row("checks/list-for-suite", lambda s: {"check_suite_id": s.suite}),
    Row("repos/create-commit-status", lambda s: {
        "sha": s.sha, "state": "success", "context": "made"}, 201),
    Row("repos/get-combined-status-for-ref", lambda s: {"ref": s.sha}),
    Row("repos/list-commit-statuses-for-ref", lambda s: {"ref": s.sha}),
    Row("actions/list-workflow-runs-for-repo"),
    Row("actions/get-workflow-run", lambda s: {"run_id": s.run}),
    Row("actions/get-workflow-run-attempt", lambda s: {"run_id": s.run, "attempt_number": 1}),
    Row("actions/list-jobs-for-workflow-run", lambda s: {"run_id": s.run}),
    Row("actions/list-jobs-for-workflow-run-attempt", lambda s: {
        "run_id": s.run, "attempt_number": 1}),
    Row("actions/get-job-for-workflow-run", lambda s: {"job_id": s.job()}),
    Row("actions/download-job-logs-for-workflow-run", lambda s: {"job_id": s.job()}, parsed=False),
    Row("actions/list-workflow-run-artifacts", lambda s: {"run_id": s.run}),
    Row("actions/re-run-workflow", lambda s: {"run_id": s.failed_run()}, 201),
    Row("actions/re-run-workflow-failed-jobs", lambda s: {"run_id": s.failed_run()}, 201),
    Row("actions/re-run-job-for-workflow-run", lambda s: {"job_id": s.job(s.failed_run())}, 201),
    Row("actions/cancel-workflow-run", lambda s: {"run_id": s.live_run()}, 202),
    Row("actions/list-repo-workflows"),
    Row("actions/get-workflow", lambda s: {
        "workflow_id": s.ask("GET", "actions/workflows")["workflows"][0]["id"]}),
    Row("actions/list-workflow-runs", lambda s: {
        "workflow_id": s.ask("GET", "actions/workflows")["workflows"][0]["id"]}),
    Row("checks/rerequest-run", lambda s: {"check_run_id": s.check()}, 201, ROBOT),
    Row("checks/create-suite", lambda s: {"head_sha": s.branch()[1]}, 201, ROBOT),
    Row("checks/rerequest-suite", lambda s: {"check_suite_id": s.apps_suite()}, 201, ROBOT),
    Row("actions/approve-workflow-run", lambda s: {"run_id": s.held_run()}, 201),
    Row("actions/download-workflow-run-logs", lambda s: {"run_id": s.run}, parsed=False),
    gone("actions/disable-workflow", lambda s: {"workflow_id": s.spare_workflow()}),
    gone("actions/enable-workflow", lambda s: {"workflow_id": s.workflow}),
    gone("actions/create-workflow-dispatch", lambda s: {"workflow_id": s.workflow, "ref": "main"}),
)  # fmt: skip
