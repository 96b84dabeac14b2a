"""Where a reconcile looks and what it may do: options, then variables, then the worktree and its file."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest

from lifecycle.cli.reconcile.reconcile import (
    KINDS,
    checked,
    event_of,
    exit_code,
    ground_of,
    policy,
)
from lifecycle.core.errors import BadConfig, Refused
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Repository
from lifecycle.reconcile.finding import State, SweepProblem, SweepReport
from lifecycle.reconcile.scope import Policy, Scope, Shard
from lifecycle.settings import config
from tests.cli.reconcile_reports import finding

ONE, TWO = Repository("octo-org", "one"), Repository("octo-org", "two")


def test_each_repository_is_looked_at_once() -> None:
    """However it is spelled, in the order in which they were named."""
    again = Repository("Octo-Org", "One")
    assert checked(Scope((again, TWO, ONE))).repositories == (ONE, TWO)
    assert checked(Scope()) == Scope()
    assert checked(Scope((ONE,), issues=(4,), pulls=(5,))).issues == (4,)


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        (Scope((ONE,), owner="octo-org"), "not both"),
        (Scope(owner="octo-org", issues=(4,)), "exactly one repository"),
        (Scope((ONE, TWO), pulls=(4,)), "exactly one repository"),
    ],
)
def test_what_contradicts_itself_is_a_usage_error(scope: Scope, words: str) -> None:
    """One sentence that says what would be right."""
    with pytest.raises(click.UsageError, match=words):
        checked(scope)


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("repository", "one", "owner/name"),
        ("repository", "octo-org/one/x", "owner/name"),
        ("login", "octo-org/one", "must be the login"),
        ("login", "octo org", "must be the login"),
        ("login", "", "must be the login"),
        ("shard", "3/2", "2/3"),
        ("shard", "0/2", "2/3"),
        ("shard", "1", "2/3"),
        ("shard", "٢/3", "2/3"),
    ],
)
def test_an_option_that_cannot_be_read_is_a_usage_error(kind: str, text: str, words: str) -> None:
    """The sentence says what it must be."""
    read: Any = KINDS[kind]
    with pytest.raises(click.UsageError, match=words):
        read(text)


def test_options_are_a_scope() -> None:
    """A repository, a login and a shard are values once they are read."""
    read: Any = KINDS
    assert read["repository"]("octo-org/one") == ONE
    assert read["login"]("octo-org") == "octo-org"
    assert read["shard"]("2/3") == Shard(2, 3)


def test_what_may_be_done_is_asked_for_or_configured() -> None:
    """Nothing destructive by default; the project's file allows it, an option wins over the file."""
    unsaid = partial(policy, closes=None, releases=None, silent_hours=None)
    nothing = Policy(closes=False, releases=False, silent_seconds=86_400)
    assert unsaid(Settings()) == nothing
    lax = Settings(close="auto", reconcile_release=True, silent_hours=2)
    allowed = Policy(closes=True, releases=True, silent_seconds=7200)
    assert unsaid(lax) == allowed
    assert policy(Settings(), closes=True, releases=True, silent_hours=2) == allowed
    assert policy(lax, closes=False, releases=False, silent_hours=24) == nothing


def test_the_repository_is_named_by_option_then_variable(tmp_path: Path) -> None:
    """--repo, LIFECYCLE_REPOSITORY, GITHUB_REPOSITORY; whichever it is gives the run its board."""
    both = {"LIFECYCLE_REPOSITORY": "octo-org/one", "GITHUB_REPOSITORY": "octo-org/two"}
    for scope, environment, named in (
        (Scope((TWO, ONE)), both, "octo-org/two"),
        (Scope(), both, "octo-org/one"),
        (Scope(), {"GITHUB_REPOSITORY": "octo-org/two"}, "octo-org/two"),
    ):
        root, variables = ground_of(tmp_path, environment, scope)
        assert variables["LIFECYCLE_REPOSITORY"] == named
        assert root == tmp_path
    with pytest.raises(BadConfig, match="GITHUB_REPOSITORY"):
        ground_of(tmp_path, {"GITHUB_REPOSITORY": "x"}, Scope())


def test_outside_of_a_worktree_somebody_has_to_name_a_repository(tmp_path: Path) -> None:
    """Nothing is guessed; an owner is enough."""
    with pytest.raises(Refused, match="--repo OWNER/NAME"):
        ground_of(tmp_path, {}, Scope())
    (tmp_path / config.CONFIG_FILE).write_text('repository = "octo-org/one"')
    with pytest.raises(Refused, match="in no git worktree"):
        ground_of(tmp_path, {}, Scope())
    assert "LIFECYCLE_REPOSITORY" not in ground_of(tmp_path, {}, Scope(owner="octo-org"))[1]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "below").mkdir()
    assert ground_of(tmp_path / "below", {}, Scope())[0] == tmp_path


def test_the_board_of_an_owner_is_the_owners(tmp_path: Path) -> None:
    """Unless somebody says whose it is: a variable, or the project's file."""
    scope = Scope(owner="octo-org")
    owner = "LIFECYCLE_PROJECT_OWNER"
    assert ground_of(tmp_path, {}, scope)[1][owner] == "octo-org"
    assert ground_of(tmp_path, {owner: "others"}, scope)[1][owner] == "others"
    (tmp_path / config.CONFIG_FILE).write_text('project.owner = "others"')
    assert owner not in ground_of(tmp_path, {}, scope)[1]


def test_the_event_is_that_of_the_run(tmp_path: Path) -> None:
    """Name, file and repository from the variables of GitHub Actions; no file is a note, no error."""
    path = tmp_path / "event.json"
    path.write_text('{"issue": {"number": 42}}')
    environment = {
        "GITHUB_EVENT_NAME": "issues",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REPOSITORY": "octo-org/one",
    }
    event = event_of(environment)
    assert (event.repository, event.issues) == ("octo-org/one", (42,))
    path.write_bytes(b"\xff")
    assert event_of(environment).note
    path.unlink()
    assert event_of(environment).note
    assert not event_of({}).is_about_one


@pytest.mark.parametrize(
    ("report", "codes"),
    [
        (SweepReport(), (0, 0, 0)),
        (SweepReport(findings=(finding(state=State.APPLIED),)), (0, 0, 0)),
        (SweepReport(findings=(finding("moved-by-hand", state=State.LEFT),)), (0, 0, 0)),
        (SweepReport(findings=(finding("merged-open", state=State.OFF),)), (0, 0, 1)),
        (SweepReport(findings=(finding(state=State.PLANNED),)), (0, 0, 1)),
        (SweepReport(findings=(finding(state=State.FAILED),)), (0, 1, 1)),
        (SweepReport(problems=(SweepProblem("a/b", "NotFound", "x"),)), (0, 1, 1)),
        (SweepReport(ended="x"), (0, 1, 1)),
        (SweepReport(skipped="x"), (0, 0, 0)),
    ],
)
def test_the_exit_code_is_by_policy(report: SweepReport, codes: tuple[int, int, int]) -> None:
    """never, failed, findings: what was left by rule fails nothing."""
    assert tuple(exit_code(report, on) for on in ("never", "failed", "findings")) == codes
