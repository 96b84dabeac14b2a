"""Find or make the check suites, workflow runs and workflows that check runs belong to."""

from __future__ import annotations

from itertools import islice

from lifecycle.sandbox.accounts.state import App, Token
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.checks.state import CheckRun, CheckSuite, CheckTables, Workflow, WorkflowRun
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository, World

ACTIONS = "github-actions"
ORDER = (
    "startup_failure", "action_required", "timed_out", "failure", "cancelled", "stale",
)  # fmt: skip
"""The conclusions that decide a suite's, the worst first; without any of them it is a success."""


def actions_app(world: World) -> App:
    """The app of GitHub Actions, with its id on github.com."""
    if ACTIONS not in world.apps:
        github = world.users.get("github") or world.home.owner
        world.apps[ACTIONS] = App(15_368, ACTIONS, "GitHub Actions", github)
    return world.apps[ACTIONS]


def app_of(world: World, token: Token) -> App | None:
    """The app that a token acts for: an installation's or GitHub Actions; None for a person's token."""
    if token.kind == "actions":
        return actions_app(world)
    if token.kind != "app":
        return None
    app = next(
        (candidate for candidate in world.apps.values() if candidate.bot is token.user), None
    )
    if app is None:  # a seed may name an app's token without the app
        login = token.user.login.removesuffix("[bot]")
        app = App(next(world.serial), login.lower(), login, world.home.owner, bot=token.user)
        world.apps[app.slug] = app
    return app


def index(repo: Repository) -> None:
    """Update the tables of suites by commit and by run, for suites that were added without them."""
    tables = CheckTables.of(repo)
    for suite in tables.suites[tables.suites_indexed :]:
        tables.suites_by_sha.setdefault(suite.sha, []).append(suite)
        if suite.run:
            suite.run.suite = suite
            tables.suites_by_run[suite.run.id] = suite
            repo.world.nodes.setdefault(suite.run.node_id, suite.run)
            flow = workflow(repo, suite.run.workflow)
            flow.last_number = max(flow.last_number, suite.run.number)
    tables.suites_indexed = len(tables.suites)


def of_commit(repo: Repository, sha: str) -> list[CheckSuite]:
    """The suites of a commit, oldest first."""
    index(repo)
    return list(CheckTables.of(repo).suites_by_sha.get(sha, ()))


def of_run(repo: Repository, run_id: int) -> CheckSuite | None:
    """The suite of a workflow run, or None."""
    index(repo)
    return CheckTables.of(repo).suites_by_run.get(run_id)


def workflow(repo: Repository, name: str) -> Workflow:
    """The workflow of that name, made if there is none."""
    tables = CheckTables.of(repo)
    if name not in tables.workflows:
        number, node = repo.new_id("W")
        flow = tables.workflows[name] = Workflow(number, node, repo, name, now())
        repo.world.register(node, flow)
    return tables.workflows[name]


def job_suite(repo: Repository, sha: str, workflow_name: str | None, event: str) -> CheckSuite:
    """The suite for jobs of one workflow, event and commit, made with the first of them."""
    for suite in of_commit(repo, sha):
        run = suite.run
        key = (run.workflow, run.event) if run else (None, event)
        if key == (workflow_name, event) and suite.app is actions_app(repo.world):
            return suite
    suite = _made(repo, sha, actions_app(repo.world))
    if workflow_name:
        run_number = next(repo.world.serial)
        pull = pull_of(repo, sha)
        suite.run = WorkflowRun(
            run_number, node_id("WFR", repo.id, run_number), workflow_name, event,
            workflow(repo, workflow_name).last_number + 1,
            actor=pull.issue.author if pull else repo.owner, suite=suite,
        )  # fmt: skip
    CheckTables.of(repo).suites.append(suite)
    return suite


def app_suite(repo: Repository, sha: str, app: App) -> CheckSuite:
    """The suite of an app on a commit, made if there is none."""
    for suite in of_commit(repo, sha):
        if suite.app is app and suite.run is None:
            return suite
    suite = _made(repo, sha, app)
    CheckTables.of(repo).suites.append(suite)
    return suite


def _made(repo: Repository, sha: str, app: App) -> CheckSuite:
    number, node = repo.new_id("CS")
    when = now()
    pull = pull_of(repo, sha)
    suite = CheckSuite(
        number, node, repo, sha, pull.head if pull else _branch(repo, sha), app, when, when
    )
    repo.world.register(node, suite)
    return suite


def _branch(repo: Repository, sha: str) -> str | None:
    names = (ref for ref, tip in repo.heads.items() if tip == sha and ref.startswith("refs/heads/"))
    return next((ref.removeprefix("refs/heads/") for ref in names), None)


def pull_of(repo: Repository, sha: str) -> PullRequest | None:
    """The pull request whose head a commit is or was, or None."""
    tables = PullTables.of(repo)
    for pull in islice(tables.pulls.values(), tables.pulls_indexed, None):
        tables.pulls_by_head.setdefault(pull.head_sha, pull)
    tables.pulls_indexed = len(tables.pulls)
    return tables.pulls_by_head.get(sha)


def runs_of(suite: CheckSuite) -> list[CheckRun]:
    """The check runs of a suite, superseded ones too, oldest first."""
    check_runs = CheckTables.of(suite.repository).checks.get(suite.sha, ())
    return [run for run in check_runs if run.suite is suite]


def latest_runs_of(suite: CheckSuite) -> list[CheckRun]:
    """The newest check run of each name."""
    return list({run.name: run for run in runs_of(suite)}.values())


def status_of(suite: CheckSuite) -> tuple[str, str | None]:
    """Status and conclusion of a suite, or of its workflow run."""
    if suite.run and suite.run.held:
        return "completed", "action_required"
    if suite.run and suite.run.unread:
        return "completed", "startup_failure"
    runs = latest_runs_of(suite)
    if not runs:
        return "queued", None
    if any(run.status != "completed" for run in runs):
        begun = any(run.status in {"in_progress", "completed"} for run in runs)
        return ("in_progress" if begun else "queued"), None
    ended = {run.conclusion for run in runs}
    worst = next((word for word in ORDER if word in ended), None)
    if worst is not None:
        return "completed", worst
    return "completed", "success" if "success" in ended else (runs[0].conclusion or "neutral")
