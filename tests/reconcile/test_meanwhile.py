"""What happens on GitHub between a sweep and its repairs: whoever is at work there has the last word."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.timing import Deadline
from lifecycle.git import lease as leases
from lifecycle.git.process import GitRepository
from lifecycle.github.operations.joint_writes import JointWrites
from lifecycle.reconcile.scope import Policy, Shard
from lifecycle.sandbox.seed import SeedToken
from lifecycle.sandbox.wire.app import Application
from tests.e2e.forked import STAGE, Forked
from tests.reconcile.conftest import Make
from tests.reconcile.dying import DIE_AT, DIE_NOTE
from tests.reconcile.ground import (
    AGENT,
    ALL,
    HOME,
    Given,
    Ground,
    only,
    process_environment,
    scope_of,
    states,
)
from tests.reconcile.test_interrupted import MERGED
from tests.reconcile.test_same import FREE, Working
from tests.repeated import soaked
from tests.worlds import TOKEN

BOB = "bob-1738000002"
OLD = Given(taken=72.0, set_at=71.9)
LEFT_WORK = replace(OLD, pushed=48.0)
BLIND: dict[str, Any] = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]}
LABELLED = replace(OLD, labels=("status: in progress",))
NO_BOARD: dict[str, Any] = {"LIFECYCLE_PROJECT_NUMBER": ""}


def after_reading(act: Callable[[], object]) -> Callable[[str, int, int | None], None]:
    """Something happens on GitHub between the sweep and the first repair; there is one task."""

    def hear(what: str, done: int, _of: int | None) -> None:
        if (what, done) == ("tasks", 1):
            act()

    return hear


def test_a_merge_that_was_reverted_closes_nothing(make: Make) -> None:
    """GitHub's own button writes what is reverted; the closer look reads it, and a person decides."""
    one = make(MERGED)
    one.control.push_commit("revert-1042-work", {"more.txt": "less\n"}, "Revert", by="maria")
    number = one.control.open_pull(
        "revert-1042-work", 'Revert "Work"', body=f"Reverts {HOME}#1042", by="maria"
    )
    one.control.merge_pull(number, by="maria")
    one.clear()
    left = only(one.run(ALL))
    assert (left.kind, left.state.value) == ("merged-open", "left")
    assert left.problem.startswith(
        f"PR #{number} reverted it: whether that ends the task, a person says"
    )
    assert (one.written(), one.shows().is_open) == ([], True)


def push(one: Ground) -> None:
    """The agent pushes to its branch."""
    one.control.push_commit("claude/task-42", {"more.txt": "more\n"}, "More")
    one.clear()


def retake(one: Ground, agent: str = BOB, issue: int = 42) -> str:
    """Somebody takes the lease, whoever had it; its sha."""
    folder = one.folder / "elsewhere"
    folder.mkdir()
    git = GitRepository(folder, Deadline.after(one.clock, None), one.environment)
    git.run("init", "--quiet")
    git.run("remote", "add", "origin", one.info.git_url)
    before = leases.read(git, "origin", issue)
    held = before.sha if before is not None else ""
    sha = leases.take(git, "origin", issue, agent, instead_of=held)
    one.clear()
    return sha


def just_before(
    patch: pytest.MonkeyPatch, method: str, ending: str, act: Callable[[], object]
) -> None:
    """Something happens when a request of git's has come and is not answered yet; once."""
    answer: Callable[..., Any] = Application.__call__
    left = [act]

    def stage(application: Application, environ: dict[str, Any], start: Any) -> Any:
        where = f"{environ['PATH_INFO']}?{environ.get('QUERY_STRING', '')}".rstrip("?")
        if left and environ["REQUEST_METHOD"] == method and where.endswith(ending):
            left.pop()()
        return answer(application, environ, start)

    patch.setattr(Application, "__call__", stage)


@pytest.mark.parametrize("environment", [{}, NO_BOARD], ids=["board", "no-board"])
@pytest.mark.parametrize("given", [OLD, LEFT_WORK], ids=["nothing-pushed", "left-work"])
def test_a_silent_claim_whose_agent_pushes_meanwhile_is_left(
    make: Make, given: Given, environment: dict[str, Any]
) -> None:
    """A push between sweep and repair is a sign of life: not given back, no draft, nothing written."""
    one = make(given)
    report = one.run(ALL, progress=after_reading(lambda: push(one)), **environment)
    assert report.findings
    assert {finding.state.value for finding in report.findings} == {"left"}
    assert "silent" in states(report)
    assert one.written() == []
    assert one.shows().pulls == ()
    assert report.failed == 0


@pytest.mark.parametrize("environment", [{}, NO_BOARD], ids=["board", "no-board"])
@pytest.mark.parametrize("agent", [AGENT, BOB], ids=["of-the-same-name", "another"])
@pytest.mark.parametrize("given", [OLD, LEFT_WORK], ids=["nothing-pushed", "left-work"])
def test_a_silent_claim_that_is_taken_anew_meanwhile_is_left(
    make: Make, given: Given, agent: str, environment: dict[str, Any]
) -> None:
    """The lease is younger than the sweep: whoever has it now keeps it, and no draft is opened."""
    one = make(given)
    taken: list[str] = []
    take = after_reading(lambda: taken.append(retake(one, agent)))
    report = one.run(ALL, progress=take, **environment)
    shows = one.shows()
    assert (shows.lease, shows.assignees, shows.comments) == (taken[0], ("octocat",), ())
    assert shows.pulls == ()
    assert states(report)["silent"] == "left"
    assert {finding.state.value for finding in report.findings} == {"left"}
    assert one.written() == []
    assert report.failed == 0


WAYS: dict[str, tuple[Given, dict[str, Any], dict[str, Any]]] = {
    "board": (OLD, {}, {}),
    "labels": (LABELLED, BLIND, {}),
    "no-board": (OLD, {}, NO_BOARD),
}
MOMENTS = {
    "before-git-asks": ("GET", "service=git-receive-pack"),
    "before-git-writes": ("POST", "/git-receive-pack"),
}
CHOSEN = (("board", "before-git-writes"), ("labels", "before-git-asks"))


@pytest.mark.parametrize(("given", "part", "environment"), WAYS.values(), ids=WAYS)
def test_where_the_lease_may_not_be_deleted_nothing_is_given_back(
    make: Make, given: Given, part: dict[str, Any], environment: dict[str, Any]
) -> None:
    """The lease goes first: refused, the task stays as it is, run after run, and the finding says so."""
    one = make(given, **part)
    before = one.shows()
    one.control.add_fault("no-permission", path="/git-receive-pack$", count=99)
    for _ in range(2):
        report = one.run(ALL, **environment)
        assert states(report) == {"silent": "failed"}
        assert one.shows() == before
        assert {request.kind for request in one.written()} <= {"git"}


@pytest.mark.parametrize(
    ("given", "part", "environment", "method", "ending"),
    [
        (pytest.param if (way, moment) in CHOSEN else soaked)(
            *WAYS[way], *MOMENTS[moment], id=f"{way}-{moment}"
        )
        for way in WAYS
        for moment in MOMENTS
    ],
)
def test_a_lease_that_changes_under_the_deletion_stops_the_giving_back(
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
    given: Given,
    part: dict[str, Any],
    environment: dict[str, Any],
    method: str,
    ending: str,
) -> None:
    """Taken over at the last moment: the new lease stands and nothing else is written, twice."""
    one = make(given, **part)
    before = one.shows()
    taken: list[str] = []
    just_before(monkeypatch, method, ending, lambda: taken.append(retake(one, AGENT)))
    report = one.run(ALL, **environment)
    assert states(report) == {"silent": "left"}
    assert "changed in the meantime" in only(report).problem
    assert report.failed == 0
    assert one.shows() == replace(before, lease=taken[0])
    assert {request.kind for request in one.written()} <= {"git"}
    one.clear()
    assert one.run(ALL, **environment).findings == ()
    assert one.written() == []


def test_a_machine_whose_clock_is_ahead_releases_nobody(make: Make) -> None:
    """Silence is counted by GitHub's clock where this machine's is ahead of it, and a note says so."""
    one = make(Given(taken=1.0, set_at=0.9))
    one.clock.sleep(3 * 24 * 3600)
    report = one.run(ALL)
    assert report.findings == ()
    (note,) = report.notes
    assert note == (
        "The clock of this machine is 3.0 d ahead of GitHub's, so GitHub's time was used; "
        "set the clock right."
    )
    assert one.written() == []
    one.control.advance(3 * 24 * 3600)  # now the time has really passed
    assert states(one.run(ALL)) == {"silent": "applied"}


def test_a_machine_whose_clock_is_ahead_reads_what_was_closed_lately(make: Make) -> None:
    """Where the board is not read card by card, which issues were closed lately is by GitHub's clock."""
    one = make(Given(is_open=False, leased_by="", status="In Review"))
    one.clock.sleep(20 * 24 * 3600)
    report = one.run(scope=scope_of(HOME, shard=Shard(1, 1)))
    assert states(report) == {"closed-on-board": "applied"}
    assert "The clock of this machine is 20.0 d ahead" in "".join(report.notes)


def closings(one: Ground) -> list[str]:
    """The first lines of the comments of an issue that is closed, with its card in Done and no lease."""
    shows = one.shows()
    assert (shows.is_open, shows.card, shows.lease) == (False, ("Done", None), "")
    return [text.partition("\n")[0] for text in shows.comments]


@pytest.mark.parametrize(
    ("dies", "leased_by"),
    [
        pytest.param(0, AGENT, id="nobody"),
        soaked(0, "", id="nobody-without-a-lease"),
        soaked(1, AGENT, id="1st"),
        pytest.param(2, AGENT, id="2nd"),
        soaked(3, AGENT, id="3rd"),
        soaked(4, AGENT, id="4th"),
    ],
)
def test_of_several_runs_that_close_at_once_one_comments(
    make: Make,
    forked: Forked,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    dies: int,
    leased_by: str,
) -> None:
    """Three processes comment before any ends the lease: one comment is left.

    So it is if one of them is killed before any of its writes, or if there is no lease.
    """
    one = make(replace(MERGED, leased_by=leased_by))
    answer: Callable[..., Any] = Application.__call__
    together = threading.Barrier(3 if dies != 1 else 2)

    def wait(application: Application, environ: dict[str, Any], start: Any) -> Any:
        if environ["REQUEST_METHOD"] == "POST" and environ["PATH_INFO"].endswith("/comments"):
            together.wait(30)
        return answer(application, environ, start)

    monkeypatch.setattr(Application, "__call__", wait)
    staged = {DIE_AT: str(dies), DIE_NOTE: str(tmp_path / "note"), STAGE: "tests.reconcile.dying"}
    running = [
        subprocess.Popen(
            [str(forked.command), "reconcile", "--close"],
            cwd=one.folder,
            env=process_environment(one, **part),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for part in (staged, {}, {})
    ]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [-9 if dies else 0, 0, 0], said
    assert closings(one) == ["Completed in #1042"]


@pytest.mark.parametrize(
    "is_last", [False, soaked(True)], ids=["the-run-comments-last", "the-hook-does"]
)
def test_a_close_beside_a_run_leaves_one_comment(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_last: bool
) -> None:
    """Whichever comments while the other closes takes its own comment back, for two requests."""
    agent = Working(make(FREE), tmp_path / "working")
    for step in (agent.take, agent.work, agent.look, agent.merge, agent.look):
        step()
    one = agent.one
    with monkeypatch.context() as patch:
        if is_last:
            send = JointWrites.send

            def late(*words: Any) -> Any:
                one.run(Policy(closes=True))
                return send(*words)

            patch.setattr(JointWrites, "send", late)
            agent.close()
        else:
            just_before(patch, "POST", "/issues/42/comments", agent.close)
            report = one.run(Policy(closes=True))
            assert report.failed == 0
    (said,) = closings(one)
    assert said.startswith("Completed in #")
    assert ("`lifecycle reconcile`" in one.shows().comments[0]) is is_last
    assert len([request for request in one.written() if request.method == "DELETE"]) == 1


def test_a_close_behind_a_run_whose_comment_is_shown_late_leaves_one_comment(
    make: Make, tmp_path: Path
) -> None:
    """It knows its own comment, which no read shows yet, and takes that back beside the earlier one."""
    agent = Working(make(FREE), tmp_path / "working")
    for step in (agent.take, agent.work, agent.look, agent.merge, agent.look):
        step()
    one = agent.one
    one.control.set_lag(comments=1)
    assert one.run(Policy(closes=True)).failed == 0
    agent.close()
    assert closings(one) == ["Completed in #43"]
    assert "`lifecycle reconcile`" in one.shows().comments[0]
