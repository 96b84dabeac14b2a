"""Workflows, check suites, check runs and commit statuses of a seed."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import SeedError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import (
    CheckRun,
    CheckSuite,
    CheckTables,
    CommitStatus,
    Output,
    Workflow,
    WorkflowRun,
)
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.seed.form import SeedRepository
from lifecycle.sandbox.seed.form_content import (
    SeedCheckRun,
    SeedStatus,
    SeedSuite,
    SeedWorkflow,
    SeedWorkflowRun,
)
from lifecycle.sandbox.seed.references import account, identity, moment


def found(repo: Repository, seed: SeedRepository) -> None:
    """Make them all: first what others belong to."""
    for workflow in seed.workflows:
        _workflow(repo, workflow)
    for suite in seed.suites:
        _suite(repo, suite)
    for check in seed.checks:
        _check(repo, check)
    for status in seed.statuses:
        _status(repo, status)


def _workflow(repo: Repository, seed: SeedWorkflow) -> None:
    tables = CheckTables.of(repo)
    number, node = identity(repo, "W", seed.id)
    tables.workflows[seed.name] = Workflow(
        number, node, repo, seed.name, moment(seed.created_at), seed.state, seed.last_number
    )
    repo.world.register(node, tables.workflows[seed.name])


def _suite(repo: Repository, seed: SeedSuite) -> None:
    app = repo.world.apps.get(seed.app) or suites.actions_app(repo.world)
    suite = CheckSuite(
        seed.id, node_id("CS", repo.id, seed.id), repo, seed.sha, seed.branch, app,
        moment(seed.created_at), moment(seed.updated_at),
    )  # fmt: skip
    if seed.run:
        suite.run = _run(repo, suite, seed.run)
    CheckTables.of(repo).suites.append(suite)
    repo.world.register(suite.node_id, suite)


def _run(repo: Repository, suite: CheckSuite, seed: SeedWorkflowRun) -> WorkflowRun:
    number, node = identity(repo, "WFR", seed.id)
    actor = account(repo.world, seed.actor) if seed.actor else None
    return WorkflowRun(
        number, node, seed.workflow, seed.event, seed.number, seed.attempt, seed.held, actor, suite
    )


def _check(repo: Repository, seed: SeedCheckRun) -> None:
    tables = CheckTables.of(repo)
    if seed.suite is None:
        suite = suites.job_suite(repo, seed.sha, seed.workflow, seed.event)
    else:
        known = next((one for one in tables.suites if one.id == seed.suite), None)
        if known is None:
            raise SeedError(f"The check {seed.name!r} names a suite that is not there.")
        suite = known
    number, node = identity(repo, "CR", seed.id)
    run = CheckRun(
        number, node, suite, seed.sha, seed.name, seed.workflow, seed.event, seed.status,
        seed.conclusion if seed.status == "completed" else None, seed.started_at, seed.completed_at,
        seed.external_id, seed.details_url,
        Output(seed.title, seed.summary, seed.text, list(seed.annotations)),
        list(seed.actions), seed.log, seed.attempt,
    )  # fmt: skip
    tables.checks.setdefault(seed.sha, []).append(run)
    repo.world.register(node, run)


def _status(repo: Repository, seed: SeedStatus) -> None:
    number, node = identity(repo, "SC", seed.id)
    status = CommitStatus(
        number, node, repo, seed.sha, seed.context, seed.state, seed.description,
        moment(seed.created_at), account(repo.world, seed.creator) if seed.creator else None,
        seed.target_url,
    )  # fmt: skip
    CheckTables.of(repo).statuses.setdefault(seed.sha, []).append(status)
    repo.world.register(node, status)
