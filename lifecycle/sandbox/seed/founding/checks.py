"""Workflows, check suites, check runs and commit statuses of a seed."""

from __future__ import annotations

from lifecycle.sandbox.base.errors import SeedError
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
from lifecycle.sandbox.seed.form_content import SeedCheckRun, SeedStatus, SeedSuite, SeedWorkflow
from lifecycle.sandbox.seed.references import account_or_none, grown, identity, registered


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
    made = registered(repo, "W", seed.id, Workflow, seed, repository=repo)
    CheckTables.of(repo).workflows[seed.name] = made


def _suite(repo: Repository, seed: SeedSuite) -> None:
    app = repo.world.apps.get(seed.app) or suites.actions_app(repo.world)
    suite = registered(repo, "CS", seed.id, CheckSuite, seed, repository=repo, app=app, run=None)
    if seed.run:
        actor = account_or_none(repo.world, seed.run.actor)
        ids = identity(repo, "WFR", seed.run.id)
        suite.run = grown(WorkflowRun, seed.run, **ids, actor=actor, suite=suite)
    CheckTables.of(repo).suites.append(suite)


def _check(repo: Repository, seed: SeedCheckRun) -> None:
    tables = CheckTables.of(repo)
    if seed.suite is None:
        suite = suites.job_suite(repo, seed.sha, seed.workflow, seed.event)
    else:
        known = next((one for one in tables.suites if one.id == seed.suite), None)
        if known is None:
            raise SeedError(f"The check {seed.name!r} names a suite that is not there.")
        suite = known
    conclusion = seed.conclusion if seed.status == "completed" else None
    run = registered(
        repo, "CR", seed.id, CheckRun, seed,
        suite=suite, conclusion=conclusion, output=grown(Output, seed),
    )  # fmt: skip
    tables.checks.setdefault(seed.sha, []).append(run)


def _status(repo: Repository, seed: SeedStatus) -> None:
    creator = account_or_none(repo.world, seed.creator)
    made = registered(repo, "SC", seed.id, CommitStatus, seed, repository=repo, creator=creator)
    CheckTables.of(repo).statuses.setdefault(seed.sha, []).append(made)
