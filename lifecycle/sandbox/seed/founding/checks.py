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
    """Make all checks of a repository: first workflows and suites, since check runs belong to them."""
    for workflow in seed.workflows:
        _workflow(repo, workflow)
    for suite in seed.suites:
        _suite(repo, suite)
    for check in seed.checks:
        _check(repo, check)
    for status in seed.statuses:
        _status(repo, status)


def _workflow(repo: Repository, seed: SeedWorkflow) -> None:
    workflow = registered(repo, "W", seed.id, Workflow, seed, repository=repo)
    CheckTables.of(repo).workflows[seed.name] = workflow


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
        named = next((candidate for candidate in tables.suites if candidate.id == seed.suite), None)
        if named is None:
            raise SeedError(f"The check {seed.name!r} names a suite that is not there.")
        suite = named
    conclusion = seed.conclusion if seed.status == "completed" else None
    run = registered(
        repo, "CR", seed.id, CheckRun, seed,
        suite=suite, conclusion=conclusion, output=grown(Output, seed),
    )  # fmt: skip
    tables.checks.setdefault(seed.sha, []).append(run)


def _status(repo: Repository, seed: SeedStatus) -> None:
    creator = account_or_none(repo.world, seed.creator)
    status = registered(repo, "SC", seed.id, CommitStatus, seed, repository=repo, creator=creator)
    CheckTables.of(repo).statuses.setdefault(seed.sha, []).append(status)
