"""What a review of whole runs found: who is asked, who is heard, and what a report says of it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.github.board.board_client import GitHubBoard
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.reconcile.finding import SweepReport
from lifecycle.reconcile.scope import Policy, Shard
from lifecycle.sandbox.control.catalogue import EXHAUSTED
from lifecycle.sandbox.seed import SeedToken
from tests.conftest import COMMAND
from tests.reconcile.conftest import Make
from tests.reconcile.ground import (
    AGENT,
    ALL,
    HOME,
    Given,
    process_environment,
    scope_of,
    states,
)
from tests.reconcile.test_meanwhile import retake
from tests.reconcile.test_same import FREE, Working
from tests.worlds import TOKEN

SOAKED = pytest.mark.soak(
    "reconcile/test_meanwhile.py::test_a_close_beside_a_run_leaves_one_comment",
    "claim/test_closing_steps.py::test_what_another_claim_told_of_the_merge_is_not_told_again",
    "claim/test_closing.py::test_the_comment_says_who_confirmed",
)

OTHER = "octo-org/another"
CLOSES = Policy(closes=True)
REVIEWED = Given(pull="open", status="In Review", set_at=7.9)
MERGED = replace(REVIEWED, pull="merged")
OLD = Given(taken=72.0, set_at=71.9)
LEFT_WORK = replace(OLD, pushed=48.0)
BLIND: dict[str, Any] = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]}
LONG = {**EXHAUSTED, "x-ratelimit-reset": "+3600"}


@pytest.mark.parametrize("is_cleared", [False, True], ids=["names-the-agent", "names-nobody"])
def test_an_issue_that_a_person_reopened_is_not_closed_again(
    make: Make, *, is_cleared: bool
) -> None:
    """The merge was before the reopening: the issue stays open, and its card is In Progress again."""
    agent = "" if is_cleared else AGENT
    one = make(replace(MERGED, is_open=False, closed=5.0, status="Done", set_at=4.9, agent=agent))
    one.control.reopen_issue(42)
    before = one.shows()
    report = one.run(CLOSES)
    assert "merged-open" not in states(report)
    assert set(states(report).values()) == {"applied"}
    assert one.shows() == replace(before, card=("In Progress", AGENT))
    one.clear()
    assert one.run(CLOSES).findings == ()
    assert one.written() == []


def test_a_run_that_may_close_nothing_does_not_close_by_the_projects_file(make: Make) -> None:
    """The run's policy was made of file and options: the file's word alone is no yes once more."""
    one = make(MERGED)
    (one.folder / ".lifecycle.toml").write_text('close = "auto"\n')
    assert states(one.run(Policy()))["merged-open"] == "off"
    assert one.shows().is_open


def test_a_pull_request_is_asked_of_the_repository_that_is_looked_at(make: Make) -> None:
    """Two repositories have a PR of that number: the scope's is meant, not that of the run's home."""
    there = replace(MERGED, number=5, repository=OTHER)
    one = make(replace(MERGED, number=5), there, replace(MERGED, number=6, repository=OTHER))
    report = one.run(CLOSES, scope=scope_of(OTHER, pulls=(1006,)))
    assert [(f.repository, f.issue, f.state.value) for f in report.findings] == [
        (OTHER, 6, "applied")
    ]
    report = one.run(CLOSES, scope=scope_of(OTHER, pulls=(1005,)))
    assert [(f.repository, f.issue, f.state.value) for f in report.findings] == [
        (OTHER, 5, "applied")
    ]
    assert not one.shows(5, OTHER).is_open
    assert one.shows(5).is_open


def test_a_renamed_repository_belongs_to_one_shard(make: Make) -> None:
    """Asked for by its old name, it is looked at by the one shard that the old name falls to."""
    tasks = [Given(number=1, repository=f"octo-org/service-{n}", agent="") for n in range(8)]
    one = make(*tasks)
    names = [task.repository for task in tasks]
    for number, name in enumerate(names):
        one.control.at(name).rename_repository(f"renamed-{number}")
    found: list[str] = []
    for index in range(1, 5):
        report = one.run(scope=scope_of(*names, shard=Shard(index, 4)))
        assert report.problems == ()
        assert {finding.state.value for finding in report.findings} <= {"applied"}
        found += [finding.repository for finding in report.findings]
    assert sorted(found) == [f"octo-org/renamed-{number}" for number in range(8)]
    for name in sorted(found):
        assert one.shows(1, name).card == ("In Progress", AGENT)


def test_the_shards_of_an_owner_cover_everything_once(make: Make) -> None:
    """Each reads all names, a hundred a request, and of the repositories only its own."""
    tasks = [Given(number=1, repository=f"octo-org/service-{n}", agent="") for n in range(100)]
    one = make(*tasks, Given(agent=""))
    found: list[str] = []
    looked = 0
    for index in (1, 2, 3):
        one.clear()
        report = one.run(scope=scope_of(owner="octo-org", shard=Shard(index, 3)), dry_run=True)
        asked = [request.operation for request in one.control.requests()]
        assert asked.count("SurveyOwnerNames") == 2  # 101 repositories
        assert asked.count("SurveyOwner") == 0
        found += [finding.repository for finding in report.findings]
        looked += report.repositories
    assert sorted(found) == sorted([HOME, *(task.repository for task in tasks)])
    assert looked == 101


BLINDNESS: dict[str, tuple[dict[str, Any], dict[str, str], str, dict[str, Any]]] = {
    "no such board": ({}, {"LIFECYCLE_PROJECT_NUMBER": "99"}, "", {}),
    "a token without the scope": (BLIND, {}, '[labels]\nuse = "never"\n', {}),
    "cards that are forbidden": (
        {},
        {},
        '[labels]\nuse = "never"\n',
        {
            "operation": "SurveyCards",
            "null_paths": [["repositoryOwner", "projectV2", "items", "nodes", 0, "status"]],
        },
    ),
}
FORBIDDEN = "Resource protected by organization SAML enforcement."


@pytest.mark.parametrize(
    ("part", "environment", "toml", "fault"), BLINDNESS.values(), ids=BLINDNESS
)
def test_where_the_board_is_not_seen_nobody_counts_as_silent(
    make: Make,
    part: dict[str, Any],
    environment: dict[str, Any],
    toml: str,
    fault: dict[str, Any],
) -> None:
    """Its card might be a sign of life: told as a problem, no giving back and no draft."""
    one = make(replace(OLD, number=1), replace(LEFT_WORK, number=2), **part)
    (one.folder / ".lifecycle.toml").write_text(toml)
    if fault:
        one.control.add_fault("partial-forbidden", message=FORBIDDEN, count=9, **fault)
    before = [one.shows(1), one.shows(2)]
    report = one.run(ALL, **environment)
    assert report.failed == len(report.problems) == 1
    assert report.problems[0].kind == "NoBoard"
    assert report.tasks == 2
    assert report.findings == ()
    assert one.written() == []
    assert [one.shows(1), one.shows(2)] == before


def test_a_board_that_may_only_be_read_is_asked_once_for_each_status(make: Make) -> None:
    """The scope is named in every finding, no label takes the board's place, and again the same."""
    drifts = [
        replace(Given(pull="open"), number=1),
        replace(Given(pull="open"), number=2),
        replace(REVIEWED, pull="closed", number=3),
        replace(REVIEWED, pull="closed", number=4),
        replace(MERGED, is_open=False, leased_by="", number=5),
        replace(MERGED, is_open=False, leased_by="", number=6),
        Given(has_card=False, number=7),
        Given(has_card=False, number=8),
    ]
    one = make(*drifts, tokens=[SeedToken(TOKEN, "octocat", ["repo", "read:project"])])
    before = [one.shows(task.number) for task in drifts]
    reports: list[SweepReport] = []
    for _ in range(2):
        one.clear()
        reports.append(one.run(ALL))
        asked = [request.operation for request in one.written()]
        assert asked == [*["SetBoardFields"] * 3, "AddBoardItem"]
        assert [one.shows(task.number) for task in drifts] == before
    first, second = reports
    assert {finding.state.value for finding in first.findings} == {"failed"}
    assert {finding.issue for finding in first.findings} == {*range(1, 9)}
    assert all("project" in finding.problem for finding in first.findings)
    assert second.findings == first.findings
    assert list(first.notes) == []


TWO_KINDS = replace(REVIEWED, body="hm", status="In Progress", set_at=9.9)
PARTS: dict[str, tuple[Given, dict[str, Any], dict[str, str]]] = {
    "between two findings": (
        TWO_KINDS,
        {"operation": "SetBoardFields"},
        {"status-drift": "left", "unlinked": "applied"},
    ),
    "in the middle of one": (
        MERGED,
        {"path": "/issues/42$", "method": "PATCH"},
        {"merged-open": "left"},
    ),
}


@pytest.mark.parametrize(("given", "where", "expected"), PARTS.values(), ids=PARTS)
def test_a_limit_in_the_middle_of_a_task_tells_what_was_done(
    make: Make, given: Given, where: dict[str, Any], expected: dict[str, str]
) -> None:
    """A finding is applied if all of its writes are; one that was begun is left, and then finished."""
    one = make(given)
    one.control.add_fault("primary-limit", headers=LONG, count=99, **where)
    report = one.run(CLOSES, seconds=3000.0)
    assert report.ended
    assert states(report) == expected
    assert report.left == (f"{HOME}#42",)
    one.control.clear_faults()
    assert one.run(CLOSES).failed == 0
    assert one.run(CLOSES).findings == ()
    assert len(one.shows().comments) == (given is MERGED)


@pytest.mark.parametrize(("given", "where", "expected"), PARTS.values(), ids=PARTS)
def test_who_stops_a_run_in_the_middle_of_a_task_is_told_what_was_done(
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
    given: Given,
    where: dict[str, Any],
    expected: dict[str, str],
) -> None:
    """Ctrl-C at the second write: the report says the same, and that somebody stopped the run."""
    one = make(given)
    owner: type = GitHubBoard if "operation" in where else GitHubForge
    name = "set_fields" if "operation" in where else "close_issue"

    def stop(*_given: Any, **_named: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        report = one.run(CLOSES)
    assert report.is_interrupted
    assert states(report) == expected
    assert "interrupted" in report.ended
    assert report.left == (f"{HOME}#42",)
    assert one.run(CLOSES).failed == 0
    assert one.run(CLOSES).findings == ()


def test_a_lease_of_an_issue_that_is_not_there_is_named_and_left(make: Make) -> None:
    """Nobody deletes what might be somebody's: a note names the issue and how to end the lease."""
    one = make(Given(number=7))
    stray = "refs/agent-claims/999"
    sha = retake(one, issue=999)
    report = one.run(ALL)
    assert report.findings == ()
    (note,) = [one for one in report.notes if f"{HOME}#999" in one]
    assert "refs/agent-claims/" in note
    assert one.state()["refs"][stray] == sha
    assert one.written() == []


def test_an_issue_that_is_asked_for_and_not_there_is_a_problem(make: Make) -> None:
    """Whoever names an issue is told that GitHub shows none, and the exit code says so."""
    one = make(Given(number=7))
    report = one.run(ALL, scope=scope_of(HOME, issues=(9999,)))
    assert [problem.where for problem in report.problems] == [f"{HOME}#9999"]
    assert report.failed == 1
    done = subprocess.run(
        [str(COMMAND), "reconcile", "--issue", "9999"],
        cwd=one.folder,
        env=process_environment(one),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert f"{HOME}#9999" in done.stdout


def test_a_task_that_is_given_back_from_afar_says_by_whom(make: Make) -> None:
    """The comment names the command and the lease's sha, by which it can be put back."""
    one = make(OLD)
    before = one.shows()
    one.run(ALL)
    (comment,) = one.shows().comments
    assert "`lifecycle reconcile`" in comment
    assert f"The lease was {before.lease}." in comment


@SOAKED
def test_the_closing_comment_says_by_whom_and_no_hook_says_it_again(
    make: Make, tmp_path: Path
) -> None:
    """A run closed the issue; the agent's own hooks and its user's yes find that done, and add nothing."""
    agent = Working(make(FREE), tmp_path / "working")
    for step in (agent.take, agent.work, agent.look, agent.merge, agent.look):
        step()
    assert states(agent.one.run(CLOSES)) == {"merged-open": "applied"}
    (comment,) = agent.one.shows().comments
    assert comment.startswith("Completed in #")
    assert "`lifecycle reconcile`" in comment
    agent.close()
    agent.look()
    shows = agent.one.shows()
    assert shows.comments == (comment,)
    assert (shows.is_open, shows.card, shows.lease) == (False, ("Done", None), "")
