"""Token, repository, board, checks and clock: one defect at GitHub, one finding."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.core.timing import SystemClock
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import (
    Seed,
    SeedApp,
    SeedField,
    SeedInstallation,
    SeedRepository,
    SeedToken,
    default_seed,
)
from lifecycle.setup.doctor import examine_github
from tests.cli.outcome import ok
from tests.github.apps import AppServer, make_key
from tests.repeated import soaked
from tests.setup.doctor.conftest import Patient

_key = cache(make_key)  # one for all of them: to make it takes longer than most of a test
SOAKED = pytest.mark.soak(
    "setup/doctor/test_github.py::test_no_token",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)

Seeded = Callable[[Seed], Patient]


def _token(value: str, scopes: list[str], kind: Any, user: str = "octocat") -> Seed:
    return replace(default_seed(), tokens=[SeedToken(value, user, scopes, kind)])


def _with_fields(*fields: SeedField) -> Seed:
    seed = default_seed()
    return seed.with_board(fields=list(fields), items=[])


STATUS = SeedField("Status", "SINGLE_SELECT", ["Todo", "In Progress", "In Review", "Done"])
AGENT = SeedField("Agent", "TEXT")


def test_no_token(patient: Patient) -> None:
    """Both variables and the user's setting are named, and nothing is asked of GitHub."""
    patient.unset("GH_TOKEN")
    patient.place.control.clear_requests()
    finding = patient.only("token.found", "fail")
    assert all(name in finding["says"] for name in ("GH_TOKEN", "GITHUB_TOKEN", "config.toml"))
    assert "gh is not logged in" in finding["says"]
    assert finding["fix"] == "gh auth login"
    assert patient.place.control.requests() == ()


def test_no_token_for_an_enterprise_server(patient: Patient) -> None:
    """The login that is advised is at that server: gh's own default would heal nothing there."""
    patient.unset("GH_TOKEN")
    url = "https://ghe.corp.invalid/api"
    where = {"GITHUB_API_URL": f"{url}/v3", "GITHUB_GRAPHQL_URL": f"{url}/graphql"}
    fixes = {finding["name"]: finding["fix"] for finding in patient.wrong(**where)}
    assert fixes["token.found"] == "gh auth login --hostname ghe.corp.invalid"


@SOAKED
def test_a_token_command_that_fails(patient: Patient) -> None:
    """The command is named; what it printed is not."""
    token = patient.place.environment["GH_TOKEN"]
    patient.unset("GH_TOKEN")
    urls = {"api_url": "GITHUB_API_URL", "graphql_url": "GITHUB_GRAPHQL_URL"}
    lines = [f'{key} = "{patient.place.environment[name]}"' for key, name in urls.items()]
    path = patient.home.parent / "home" / "config" / "lifecycle" / "config.toml"
    path.write_text("\n".join([*lines, 'token_command = ["false"]']))
    finding = patient.only("token.valid", "fail")
    assert "token_command" in finding["says"]
    assert finding["fix"] == "Run false by hand to see why, or set GH_TOKEN"
    path.write_text("\n".join([*lines, 'token_command = ["echo", "ghp_wrong"]']))
    finding = patient.only("token.valid", "fail")
    assert finding["fix"] == "see that token_command in your config.toml prints a valid one"
    path.write_text("\n".join([*lines, f'token_command = ["echo", "{token}"]']))
    assert "from token_command" in patient.findings()["token.found"]["says"]
    assert patient.wrong() == []


@SOAKED
def test_a_token_that_github_does_not_know(patient: Patient) -> None:
    """The variable is named, its value is not; the rest that needs no token is looked at."""
    finding = patient.only("token.valid", "fail", GH_TOKEN="wrong-token-value")
    assert "GH_TOKEN" in finding["says"]
    assert "wrong-token-value" not in json.dumps(finding)
    assert "hooks.installed" in patient.findings(GH_TOKEN="wrong-token-value")


@SOAKED
def test_a_token_that_no_header_can_hold(patient: Patient) -> None:
    """It is refused before it is sent."""
    patient.only("token.valid", "fail", GH_TOKEN="two words")


@pytest.mark.parametrize(
    ("scopes", "hinders", "missing"),
    [
        (["repo"], ["board sync"], "project"),
        (["repo", "read:project"], ["board sync"], "project"),
        (["project"], ["claiming", "opening the PR", "closing"], "repo"),
        ([], ["claiming", "opening the PR", "closing", "board sync"], "repo,project"),
    ],
)
def test_a_scope_is_missing(
    patient: Patient, scopes: list[str], hinders: list[str], missing: str
) -> None:
    """The scopes that are missing are named, what will not happen, and how gh adds them."""
    patient.place.control.set_scopes(scopes)
    finding = patient.only("token.scopes", "fail")
    assert finding["hinders"] == hinders
    assert finding["fix"] == (
        f"unset GH_TOKEN; gh auth refresh -s {missing} && export GH_TOKEN=$(gh auth token)"
    )


@SOAKED
def test_without_a_board_its_scope_is_not_needed(patient: Patient) -> None:
    """A project without a board is healthy with `repo` alone, and public_repo does for a public one."""
    patient.unset("LIFECYCLE_PROJECT_NUMBER")
    for scopes in (["repo"], ["public_repo"]):
        patient.place.control.set_scopes(scopes)
        assert patient.wrong() == []
    assert "No board" in patient.findings()["board.found"]["says"]


def test_a_fine_grained_token(seeded: Seeded) -> None:
    """What it may do cannot be known, and how checks are read nevertheless is said."""
    rights = ["issues:write", "pull_requests:write", "organization_projects:write"]
    patient = seeded(_token("github_pat_x", rights, "fine-grained"))
    finding = patient.only("token.permissions", "warn")
    assert "organisation" in finding["says"]
    found = patient.findings()
    assert "read over REST" in found["checks.read"]["says"]
    assert "that needs Actions: read and write" in found["checks.rerun"]["says"]
    _deny(patient, "/check-runs")
    _answer(patient, "/actions/runs", {"total_count": 0, "workflow_runs": []})
    wrong = {one["name"]: one for one in patient.wrong()}
    assert list(wrong) == ["token.permissions", "checks.read"]
    assert "checks of other apps than GitHub Actions" in wrong["checks.read"]["says"]


def test_logs_that_the_token_may_not_read(patient: Patient) -> None:
    """Tried on the newest run: red CI will be told without its errors, and which right is lacking."""
    assert "checks.logs" not in patient.findings()  # nothing to try it on
    patient.place.control.set_check("main", "test", conclusion="failure")
    found = patient.findings()
    assert "can be read" in found["checks.logs"]["says"]
    assert "can be run again" in found["checks.rerun"]["says"]
    (patient.place.root / ".lifecycle.toml").write_text("[ci]\nrerun = 0\n")
    assert "checks.rerun" not in patient.findings()
    _deny(patient, "/logs$")
    finding = patient.only("checks.logs", "warn")
    assert "Actions: read" in finding["fix"]
    assert finding["hinders"] == ["waking the session"]


def _deny(patient: Patient, path: str) -> None:
    """Have GitHub refuse to show this from now on."""
    body = json.dumps({"message": "Resource not accessible by personal access token"})
    patient.place.control.add_fault(Fault("status", path=path, status=403, body=body, count=99))


@SOAKED
def test_a_token_without_any_way_to_checks(patient: Patient) -> None:
    """Where neither checks, workflow runs nor statuses may be read, polling CI does not work."""
    for path in ("/check-runs", "/actions/runs", "/status$"):
        _deny(patient, path)
    assert "polling CI" in patient.only("checks.read", "fail")["hinders"]


def test_the_token_of_actions(seeded: Seeded) -> None:
    """It starts no workflows, and a board is closed to it: that is said once, with the token."""
    patient = seeded(_token("ghs_x", ["issues:write", "contents:write"], "app"))
    limits = {"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "999"}
    _answer(patient, "^/rate_limit$", {}, limits)
    finding = patient.only("token.permissions", "warn")
    assert finding["hinders"] == ["polling CI", "board sync"]
    assert 'kept as a label ("status: in progress")' in finding["says"]
    toml = patient.root / ".lifecycle.toml"
    toml.write_text('labels.use = "never"')
    assert "labels" not in patient.only("token.permissions", "fail")["says"]
    toml.unlink()
    patient.unset("LIFECYCLE_PROJECT_NUMBER")
    assert patient.only("token.permissions", "warn")["hinders"] == ["polling CI"]


@SOAKED
def test_few_requests_are_left(patient: Patient) -> None:
    """Polls will stop before the hour is over: a remark."""
    headers = {
        "X-RateLimit-Limit": "5000",
        "X-RateLimit-Remaining": "12",
        "X-OAuth-Scopes": "repo, project",
    }
    _answer(patient, "^/user$", {"login": "octocat"}, headers)
    assert "12 of 5000" in patient.only("token.rate", "warn")["says"]


@SOAKED
@pytest.mark.parametrize(
    ("date", "words"),
    [("Sat, 31 Jan 2015 10:00:00 GMT", "ahead"), ("Tue, 31 Jan 2090 10:00:00 GMT", "behind")],
)
def test_a_clock_that_is_wrong(patient: Patient, date: str, words: str) -> None:
    """More than half a minute away from GitHub's is a remark that says what it disturbs."""
    headers = {"Date": date, "X-OAuth-Scopes": "repo, project"}
    _answer(patient, "^/user$", {"login": "octocat"}, headers)
    finding = patient.only("clock.time", "warn")
    assert words in finding["says"]
    assert "leases" in finding["hinders"]


def _answer(patient: Patient, path: str, body: Any, headers: dict[str, str] | None = None) -> None:
    """Have GitHub answer otherwise there from now on: as it does, but for what is given.

    None takes a key out.
    """
    environment = patient.place.environment
    if path.startswith("^") and isinstance(body, dict):
        authorization = {"Authorization": f"Bearer {environment['GH_TOKEN']}"}
        url = f"{environment['GITHUB_API_URL']}{path.strip('^$')}"
        real = requests.get(url, headers=authorization, timeout=10)
        whole = {**(real.json() if real.ok else {}), **body}
        body = {key: value for key, value in whole.items() if value is not None or key not in body}
    fault = Fault(
        "status", path=path, status=200, headers=headers or {}, body=json.dumps(body), count=99
    )
    patient.place.control.add_fault(fault)


def test_of_an_archived_repository_nothing_is_said_to_be_writable(patient: Patient) -> None:
    """GitHub shows the permissions as before: nothing can be pushed, and no job be run again."""
    _answer(patient, f"^/repos/{patient.place.info.repository}$", {"archived": True})
    found = patient.findings()
    assert found["repository.archived"]["level"] == "fail"
    assert not {"repository.push", "checks.rerun"} & found.keys()


@SOAKED
@pytest.mark.parametrize(
    ("change", "name", "level"),
    [
        ({"archived": True}, "repository.archived", "fail"),
        ({"has_issues": False}, "repository.issues", "fail"),
        ({"full_name": "octo-org/renamed"}, "repository.name", "warn"),
        ({"default_branch": ""}, "repository.base", "fail"),
        ({"permissions": None}, "repository.push", "warn"),
        ({"permissions": {"admin": False, "push": False, "pull": True}}, "repository.push", "fail"),
    ],
)
def test_a_repository_that_cannot_be_worked_in(
    patient: Patient, change: dict[str, Any], name: str, level: str
) -> None:
    """Archived, without issues, renamed, empty, or not to be pushed to: each has its finding and fix.

    Who may not push may run no failed job again either, which is a finding of its own.
    """
    full = patient.place.info.repository
    _answer(patient, f"^/repos/{full}$", change)
    finding, *others = patient.wrong()
    assert (finding["name"], finding["level"]) == (name, level)
    is_reader = (name, level) == ("repository.push", "fail")
    assert [one["name"] for one in others] == (["checks.rerun"] if is_reader else [])
    assert finding["fix"] or name == "repository.push"


@SOAKED
def test_a_repository_that_github_does_not_show(patient: Patient) -> None:
    """The name is in the finding; the token and the hooks are fine."""
    base = patient.place.environment["GITHUB_API_URL"]
    patient.place.git("remote", "set-url", "origin", f"{base}/octo-org/nothing.git")
    finding = patient.only("repository.found", "fail")
    assert "octo-org/nothing" in finding["says"]


@SOAKED
def test_a_fork(patient: Patient) -> None:
    """Leases on a fork bind only those who push to it: a remark, with no fix, since that is how it is."""
    base = patient.place.environment["GITHUB_API_URL"]
    patient.place.git("remote", "add", "upstream", patient.place.info.git_url)
    patient.place.git("remote", "set-url", "origin", f"{base}/octocat/hello-service.git")
    (patient.root / ".lifecycle.toml").write_text(f'repository = "{patient.place.info.repository}"')
    finding = patient.only("repository.push", "warn")
    assert (finding["hinders"], finding["fix"]) == (["leases"], "")


@SOAKED
def test_a_configured_base(patient: Patient) -> None:
    """A base that the repository does not have opens no PR; the one that it has is fine."""
    toml = patient.root / ".lifecycle.toml"
    toml.write_text('base = "next"')
    finding = patient.only("repository.base", "fail")
    assert finding["fix"] == 'base = "main" in .lifecycle.toml'
    toml.write_text('base = "main"')
    assert patient.wrong() == []


@pytest.mark.parametrize("has_issues", [True, False])
def test_a_fork_whose_issues_are_looked_for_in_itself(seeded: Seeded, *, has_issues: bool) -> None:
    """As `gh repo fork --remote` leaves it: the fix leads to the repository that it is a fork of."""
    seed, fork = default_seed(), "octocat/hello-service"
    copy = SeedRepository(fork, fork_of="octo-org/hello-service", has_issues=has_issues)
    patient = seeded(replace(seed, repositories=[*seed.repositories, copy]))
    patient.unset("LIFECYCLE_PROJECT_NUMBER")
    base = patient.place.environment["GITHUB_API_URL"]
    patient.place.git("remote", "rename", "origin", "upstream")
    patient.place.git("remote", "add", "origin", f"{base}/{fork}.git")
    fault = patient.only("repository.fork", "warn" if has_issues else "fail")
    setting = fault["fix"].partition(" in .lifecycle.toml")[0]
    (patient.root / ".lifecycle.toml").write_text(setting)
    patient.only("repository.push", "warn")  # how it is: leases go to the fork
    if has_issues:
        (patient.root / ".lifecycle.toml").write_text(f'repository = "{fork}"')
        assert patient.wrong() == []


def test_a_visitor(seeded: Seeded) -> None:
    """Who may only read can claim nothing, and sees no private board: the fix is a fork."""
    patient = seeded(_token("visitor-token", ["repo", "project"], "classic", "visitor"))
    wrong = {one["name"]: one for one in patient.wrong()}
    assert set(wrong) == {"repository.push", "board.found", "checks.rerun"}
    assert "may not write to octo-org/hello-service" in wrong["checks.rerun"]["says"]
    setting = 'repository = "octo-org/hello-service" in .lifecycle.toml'
    assert wrong["repository.push"]["fix"] == f"gh repo fork --remote, then: {setting}"


@SOAKED
def test_a_board_that_is_not_there(patient: Patient) -> None:
    """The number and the owner are named; the fix, which any gh knows, lists the boards that are there."""
    finding = patient.only("board.found", "fail", LIFECYCLE_PROJECT_NUMBER="7")
    assert "project 7 of octo-org" in finding["says"]
    *words, query = shlex.split(finding["fix"])
    assert words == ["gh", "api", "graphql", "-f"]
    token = patient.place.environment["GH_TOKEN"]
    answer = requests.post(
        patient.place.info.graphql_url,
        json={"query": query.removeprefix("query=")},
        headers={"Authorization": f"bearer {token}"},
        timeout=10,
    ).json()
    (board,) = answer["data"]["repositoryOwner"]["projectsV2"]["nodes"]
    assert board["number"] == 1


@SOAKED
def test_options_that_are_missing(patient: Patient) -> None:
    """Each missing option is named with the transition that moves a card there."""
    patient.place.control.rename_option("Status", "In Review", "Review")
    patient.place.control.rename_option("Status", "Done", "Shipped")
    says = patient.only("board.status", "fail")["says"]
    assert says.startswith('Status lacks "In Review" and "Done": ')
    assert "opening the PR and closing" in says
    patient.place.control.rename_option("Status", "Todo", "Backlog")
    assert {"claiming", "releasing"} <= {*patient.only("board.status", "fail")["hinders"]}


def test_a_board_without_our_fields(seeded: Seeded) -> None:
    """No Agent is a remark whose fix needs no newer gh; no Status is a failure."""
    patient = seeded(_with_fields(STATUS))
    finding = patient.only("board.agent", "warn")
    assert finding["fix"].startswith("add it, as a text field, at http")


def test_a_board_without_status(seeded: Seeded) -> None:
    """Nothing can be synced to it."""
    patient = seeded(_with_fields(AGENT))
    assert "board sync" in patient.only("board.status", "fail")["hinders"]


@SOAKED
def test_a_closed_board(patient: Patient) -> None:
    """A board that somebody closed still moves cards: a remark, with the page that opens it."""
    query = {"number": 1, "id": "P", "title": "Old", "url": "https://x", "closed": True}
    field = {"id": "S", "name": "Status", "dataType": "SINGLE_SELECT"}
    options = [{"id": name, "name": name} for name in STATUS.options]
    agent = {"id": "A", "name": "Agent", "dataType": "TEXT"}
    fields = {
        "pageInfo": {"hasNextPage": False, "endCursor": None},
        "nodes": [{**field, "options": options}, agent],
    }
    data = {"repositoryOwner": {"projectV2": {**query, "fields": fields}}}
    body = json.dumps({"data": data})
    fault = Fault("status", operation="DiscoverBoard", status=200, body=body, count=9)
    patient.place.control.add_fault(fault)
    finding = patient.only("board.closed", "warn")
    assert finding["fix"].startswith("open it again at http")


@SOAKED
def test_a_claim_goes_on_after_the_fix(patient: Patient) -> None:
    """What a finding says is so: without the option a claim's card stays, with it it moves."""
    patient.place.control.rename_option("Status", "In Progress", "Doing")
    assert "claiming" in patient.only("board.status", "fail")["says"]
    patient.place.control.rename_option("Status", "Doing", "In Progress")
    assert patient.wrong() == []
    ok(patient.place.cli("claim", "42"))
    assert patient.place.card()["Status"] == "In Progress"


@SOAKED
@pytest.mark.parametrize(
    ("days", "level", "span"),
    [
        (30, "ok", "30 days"),
        (7, "ok", "7 days"),
        (6, "warn", "6 days"),
        (1, "warn", "1 day"),
        (0, "warn", "less than a day"),
    ],
)
def test_a_token_that_ends(patient: Patient, days: int, level: str, span: str) -> None:
    """GitHub says when: a remark in the last week, with the page on which a new one is made."""
    now = datetime.now(UTC).replace(microsecond=0)
    ends = now + timedelta(days=days, hours=1)
    headers = {
        "X-OAuth-Scopes": "repo, project",
        "GitHub-Authentication-Token-Expiration": ends.strftime("%Y-%m-%d %H:%M:%S UTC"),
    }
    _answer(patient, "^/user$", {"login": "octocat"}, headers)
    finding = patient.findings()["token.expires"]
    assert finding["level"] == level
    assert f"{ends:%Y-%m-%d}, in {span}." in finding["says"]
    assert finding["fix"].endswith("/settings/tokens") is (level == "warn")
    headers.pop("X-OAuth-Scopes")
    _answer(patient, "^/user$", {"login": "octocat"}, headers)
    environment = {"GH_TOKEN": "github_pat_1"}
    finding = patient.findings(**environment)["token.expires"]
    assert finding["fix"].endswith("/settings/personal-access-tokens") is (level == "warn")


@SOAKED
def test_an_enterprise_server_tells_its_version(patient: Patient) -> None:
    """It is shown, with the address; github.com tells none."""
    assert "token.server" not in patient.findings()
    headers = {"X-OAuth-Scopes": "repo, project", "X-GitHub-Enterprise-Version": "3.14.2"}
    _answer(patient, "^/user$", {"login": "octocat"}, headers)
    says = patient.findings()["token.server"]["says"]
    assert "3.14.2" in says
    assert patient.place.environment["GITHUB_API_URL"] in says


@SOAKED
def test_an_enterprise_server_without_projects(patient: Patient) -> None:
    """A server that does not know the board's fields: a remark, and labels instead."""
    message = "Field 'projectV2' doesn't exist on type 'ProjectV2Owner'"
    body = {"errors": [{"message": message, "extensions": {"code": "undefinedField"}}]}
    fault = Fault("status", operation="DiscoverBoard", status=200, body=json.dumps(body), count=9)
    patient.place.control.add_fault(fault)
    finding = patient.only("board.labels", "warn")
    assert "projectV2" in finding["says"]
    assert '"status: in progress"' in finding["says"]
    (patient.root / ".lifecycle.toml").write_text('labels.use = "never"')
    patient.only("board.found", "fail")


def test_a_token_that_may_read_the_board_and_not_write_it(seeded: Seeded) -> None:
    """What a claim was refused is named, where looking alone would find nothing wrong."""
    rights = ["issues:write", "pull_requests:write", "contents:write", "organization_projects:read"]
    patient = seeded(_token("github_pat_x", rights, "fine-grained"))
    assert "board.labels" not in patient.findings()
    assert "kept as a label" in ok(patient.place.cli("claim", "42"))
    finding = patient.findings()["board.labels"]
    assert (finding["level"], finding["hinders"]) == ("warn", ["board sync"])
    assert "has no permission for the fields of a card" in finding["says"]


@SOAKED
def test_labels_that_were_chosen(patient: Patient) -> None:
    """With labels.use = "always" the board is not looked at."""
    (patient.root / ".lifecycle.toml").write_text('[labels]\nuse = "always"\nprefix = "at: "')
    findings = patient.findings()
    assert '"at: todo"' in findings["board.labels"]["says"]
    assert "board.found" not in findings


def test_an_app(patient: Patient, tmp_path: Path) -> None:
    """Where its token comes from and that it is renewed, which no kept token shows of a wrong key."""
    key = _key()
    file = tmp_path / "app.pem"
    file.write_text(key.private)
    file.chmod(0o644)
    patient.unset("GH_TOKEN")
    variables = {
        "LIFECYCLE_APP_ID": "12",
        "LIFECYCLE_APP_INSTALLATION": "34",
        "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(file),
    }
    with AppServer(key.public, SystemClock().now) as server:
        where = {"GITHUB_API_URL": server.url, "GITHUB_GRAPHQL_URL": f"{server.url}/graphql"}
        findings = patient.findings(**variables, **where)
        assert server.asked[0] == "POST /app/installations/34/access_tokens"
        assert "from the GitHub App 12" in findings["token.found"]["says"]
        assert "is renewed" in findings["token.expires"]["says"]
        assert findings["token.key"]["fix"] == f"chmod 600 {file}"
        file.write_text(make_key().private)
        kept = patient.findings(**variables, **where)
        finding = patient.findings(**{**variables, "LIFECYCLE_APP_INSTALLATION": "35"}, **where)
    assert finding["token.app"]["level"] == "fail"
    assert "key of the GitHub App 12" in finding["token.app"]["says"]
    assert kept["token.app"] == finding["token.app"]
    assert "token.expires" not in kept
    assert "LIFECYCLE_APP_ID and LIFECYCLE_APP_PRIVATE_KEY_FILE" in finding["token.app"]["fix"]
    assert "BEGIN" not in json.dumps([findings, finding])


@SOAKED
def test_a_board_of_somebody_to_whom_no_remote_belongs(patient: Patient) -> None:
    """The project's file cannot lead the token there; the variable that can is the fix."""
    (patient.root / ".lifecycle.toml").write_text('project.owner = "a-company"\n')
    finding = {one["name"]: one for one in patient.wrong()}["board.owner"]
    assert finding["level"] == "fail"
    assert "a board of a-company" in finding["says"]
    assert finding["fix"].startswith("LIFECYCLE_PROJECT_OWNER=a-company")


def _app(seeded: Seeded, tmp_path: Path, **permissions: str) -> Patient:
    """A patient whose token is an App's; what it may do is the table's, but for what is given."""
    key = _key()
    file = tmp_path / "app.pem"
    file.write_text(key.private)
    file.chmod(0o600)
    enough = {"issues": "write", "pull_requests": "write", "contents": "read", "checks": "read"}
    more = {"statuses": "read", "actions": "write", "organization_projects": "write"}
    given = {name: level for name, level in {**enough, **more, **permissions}.items() if level}
    app = SeedApp("robot", 12, "octo-org", public_key=key.public, permissions=given)
    installation = SeedInstallation(34, "robot", "octo-org")
    patient = seeded(replace(default_seed(), apps=[app], installations=[installation]))
    variables = {"LIFECYCLE_APP_ID": "12", "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(file)}
    patient.place.environment.update(variables)
    return patient


@pytest.mark.parametrize(
    ("name", "level", "step"),
    [
        ("issues", "read", "claiming"),
        ("pull_requests", "", "opening the PR"),
        soaked("organization_projects", "read", "board sync"),
        ("organization_projects", "", "board sync"),
    ],
)
def test_an_app_that_lacks_a_permission(
    seeded: Seeded, tmp_path: Path, name: str, level: str, step: str
) -> None:
    """GitHub names them where it hands the token out: what will not happen is told before it is tried."""
    patient = _app(seeded, tmp_path, **{name: level})
    finding = patient.only("token.permissions", "fail")
    assert step in finding["hinders"]
    assert "read and write" in finding["says"]
    assert ("kept as a label" in finding["says"]) == (step == "board sync")
    assert finding["fix"].endswith("app-tokens.json")


@pytest.mark.soak(
    "setup/doctor/test_github.py::test_an_app_that_lacks_a_permission",
    "e2e/test_degraded.py::test_an_app_takes_a_task_from_claim_to_close",
)
def test_an_app_with_all_permissions(seeded: Seeded, tmp_path: Path) -> None:
    """It is healthy, and its claim wonders about no assignee: GitHub assigns no App."""
    patient = _app(seeded, tmp_path)
    assert patient.wrong() == []
    assert "did not assign" not in ok(patient.place.cli("claim", "42"))


@pytest.mark.parametrize(
    ("level", "row"), [("write", "allowed"), ("read", "missing"), ("", "missing")]
)
def test_whether_an_app_may_run_jobs_again_its_permissions_say(level: str, row: str) -> None:
    """No try is needed: GitHub names them where it hands the token out."""
    said: list[str] = []
    case: Any = SimpleNamespace(
        permissions={"actions": level}, find=lambda name, **_: said.append(name)
    )
    access: Any = SimpleNamespace(can_push=None)
    examine_github._rerun(case, case, access)
    assert said == [f"checks.rerun.{row}"]


@pytest.mark.soak(
    "setup/doctor/test_github.py::test_an_app_that_lacks_a_permission",
    "setup/doctor/test_github.py::test_whether_an_app_may_run_jobs_again_its_permissions_say",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)
def test_an_app_that_may_not_run_jobs_again(seeded: Seeded, tmp_path: Path) -> None:
    """The documented permissions do not have it: a remark, which ci.rerun = 0 takes away."""
    patient = _app(seeded, tmp_path, actions="read")
    assert "Actions: read and write" in patient.only("checks.rerun", "warn")["fix"]


@pytest.mark.parametrize(
    ("variable", "value", "fix"),
    [
        (
            "PRIVATE_KEY_FILE",
            "/nowhere/app.pem",
            "LIFECYCLE_APP_PRIVATE_KEY_FILE, or remove the App",
        ),
        ("PRIVATE_KEY_FILE", "app.pem", "correct that"),
        ("PRIVATE_KEY_FILE", "", "remove the others"),
        ("INSTALLATION", "99", "correct LIFECYCLE_APP_ID, or LIFECYCLE_APP_INSTALLATION"),
    ],
)
def test_an_app_that_cannot_be_used(
    seeded: Seeded, tmp_path: Path, variable: str, value: str, fix: str
) -> None:
    """The fix is what mends it: GH_TOKEN, which is set all the time, comes after an App."""
    patient = _app(seeded, tmp_path)
    finding, *_ = patient.wrong(**{f"LIFECYCLE_APP_{variable}": value})
    assert finding["name"] in {"token.valid", "token.app"}
    assert fix in finding["fix"]
    assert "GH_TOKEN" not in finding["fix"]
