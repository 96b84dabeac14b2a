"""What fails stays with itself: the others go on, or the run ends cleanly and the next one finishes."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.errors import BadCredentials, NoToken
from lifecycle.core.timing import Deadline
from lifecycle.git import lease as leases
from lifecycle.git.process import GitRepository
from lifecycle.reconcile.finding import Finding, State, SweepProblem, SweepReport
from lifecycle.reconcile.scope import Policy
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.control.catalogue import EXHAUSTED
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.seed import SeedItem, SeedProject, SeedToken
from tests.conftest import COMMAND
from tests.reconcile.conftest import Make
from tests.reconcile.ground import (
    AGENT,
    ALL,
    COLUMNS,
    HOME,
    Given,
    Ground,
    kinds,
    only,
    process_environment,
    scope_of,
    states,
    texts,
)
from tests.repeated import crossed
from tests.worlds import TOKEN, lease

OTHER = "octo-org/another"
CLOSES = Policy(closes=True)
REVIEWED = Given(pull="open", status="In Review", set_at=7.9)
MERGED = replace(REVIEWED, pull="merged")
DRIFTED = Given(pull="open")
OLD = Given(taken=72.0, set_at=71.9)
BOTH = scope_of(OTHER, HOME)
LONG = {**EXHAUSTED, "x-ratelimit-reset": "+3600"}
DONE = (False, ("Done", None), "")


def ends(one: Ground, number: int = 42, repository: str = HOME) -> tuple[Any, ...]:
    """Whether it is open, its card, its lease."""
    shows = one.shows(number, repository)
    return shows.is_open, shows.card, shows.lease


def when(what: str, done: int, act: Callable[[], object]) -> Callable[[str, int, int | None], None]:
    """Something happens on GitHub in the middle of a run, once it is so far."""

    def hear(heard: str, count: int, _of: int | None) -> None:
        if (heard, count) == (what, done):
            act()

    return hear


def of(report: SweepReport, repository: str) -> SweepReport:
    """What a report says of one repository."""
    found = tuple(one for one in report.findings if one.repository == repository)
    return replace(report, findings=found)


@pytest.mark.parametrize(
    "part",
    [{"roles": {"octocat": "read"}}, {"archived": True}],
    ids=["no-permission", "archived"],
)
def test_a_repository_that_takes_no_writes_does_not_stop_the_others(
    make: Make, part: dict[str, Any]
) -> None:
    """Refused in one repository, which is asked once for each kind of write; done in the other."""
    tasks = [replace(MERGED, number=n, repository=OTHER) for n in range(1, 5)]
    one = make(MERGED, *tasks, repositories={OTHER: part})
    report = one.run(CLOSES, scope=BOTH)
    assert states(of(report, HOME)) == {"merged-open": "applied"}
    assert ends(one) == DONE
    refused = of(report, OTHER)
    assert states(refused) == {"merged-open": "failed"}
    assert all(finding.problem.count(".") <= 3 for finding in refused.findings)
    assert report.failed == 4
    assert not report.ended
    tried = [q for q in one.written() if f"/{OTHER}/issues/" in q.path]
    assert len(tried) <= 2


def test_a_missing_column_is_asked_for_once(make: Make) -> None:
    """The board has no "In Review": the first task says so and where it is added, no other one asks."""
    one = make(*(replace(DRIFTED, number=n) for n in range(1, 6)), Given(number=9, agent=""))
    one.control.rename_option("Status", "In Review", "Reviewing")
    report = one.run()
    assert [f.state.value for f in report.findings] == ["failed"] * 5 + ["applied"]
    for finding in report.findings[:5]:
        assert 'Status has no option "In Review"' in finding.problem
        assert "/settings, beside: Todo, In Progress, Blocked, Reviewing, Done." in finding.problem
    asked = [q.operation for q in one.control.requests() if q.operation]
    assert asked.count("ObserveClaim") == 2
    assert asked.count("SetBoardFields") == 1


def test_a_dry_run_names_a_column_that_its_plan_needs(make: Make) -> None:
    """What makes the run fail each hour is noted before it; a column that some card is in is there."""
    one = make(DRIFTED, Given(number=9))
    one.control.rename_option("Status", "In Review", "Reviewing")
    report = one.run(ALL, dry_run=True)
    assert states(report) == {"status-drift": "planned"}
    (note,) = report.notes
    assert note.startswith('The board "Tasks" has no Status "In Review": setting it fails until')
    one.control.set_field(42, "Status", "Reviewing")
    assert one.run(ALL, dry_run=True).notes == ()


def test_a_dry_run_names_a_board_without_a_status(make: Make) -> None:
    """No card of it can be set: the plan says so, as the run will."""
    fields = [one for one in COLUMNS if one.name != "Status"]
    cards = [SeedItem(42, values={"Agent": AGENT})]
    boards = [SeedProject(1, "Tasks", fields=fields, items=cards, repositories=[])]
    one = make(replace(MERGED, has_card=False), projects=boards)
    (note,) = one.run(ALL, dry_run=True).notes
    assert note.startswith('The board "Tasks" has no Status "Done": ')
    assert states(one.run(ALL)) == {"merged-open": "failed"}


def test_an_issue_that_went_away_meanwhile_is_left(make: Make) -> None:
    """Gone between the sweep and its repair: said so, nothing of it is written, the others go on."""
    one = make(replace(MERGED, number=1), replace(MERGED, number=2))
    assert one.sandbox.site is not None
    world = one.sandbox.site.world

    def vanish() -> None:
        with world.lock:
            repo = world.home
            gone = IssueTables.of(repo).issues.pop(1)
            for board in BoardTables.of(world).projects:
                board.items[:] = [item for item in board.items if item.content is not gone]

    report = one.run(CLOSES, progress=when("tasks", 2, vanish))
    first, second = report.findings
    assert (first.state.value, second.state.value) == ("left", "applied")
    assert first.problem.startswith("GitHub no longer shows the issue: it was deleted or tr")
    assert ends(one, 2) == DONE
    assert report.failed == 0


def test_a_repository_that_was_renamed_meanwhile(make: Make) -> None:
    """Renamed between the sweep and the repair: told or done, and the next run finishes."""
    task = replace(MERGED, repository=OTHER)
    one = make(task, Given(agent=""))
    rename = when("tasks", 2, lambda: one.control.at(OTHER).rename_repository("renamed"))
    report = one.run(CLOSES, scope=BOTH, progress=rename)
    assert states(of(report, HOME)) == {"agent-drift": "applied"}
    again = one.run(CLOSES, scope=BOTH)
    assert again.failed == 0
    assert ends(one, 42, "octo-org/renamed") == DONE
    assert one.run(CLOSES, scope=BOTH).findings == ()


def test_what_was_mended_meanwhile_is_not_written_again(make: Make) -> None:
    """The hooks were quicker: the closer look shows it, and nothing is written."""
    one = make(DRIFTED)
    mend = when("tasks", 1, lambda: one.control.set_field(42, "Status", "In Review"))
    report = one.run(progress=mend)
    assert only(report).state.value == "left"
    assert only(report).problem == "A closer look showed nothing to do."
    assert one.written() == []
    assert report.failed == 0


def test_a_card_that_was_moved_meanwhile_is_left(make: Make) -> None:
    """Somebody moves the card between the sweep and the repair: it stands."""
    one = make(DRIFTED)
    one.run(progress=when("tasks", 1, lambda: one.control.set_field(42, "Status", "Blocked")))
    assert one.shows().card == ("Blocked", AGENT)
    assert one.written() == []


def _retaken(one: Ground, folder: Path) -> str:
    """Another agent takes the task over; its lease."""
    environment = {**one.environment, "GIT_DIR": ""}
    folder.mkdir()
    git = GitRepository(folder, Deadline.after(one.clock, None), environment)
    git.run("init", "--quiet")
    git.run("remote", "add", "origin", one.info.git_url)
    holder = leases.read(git, "origin", 42)
    before = holder.sha if holder is not None else ""
    return leases.take(git, "origin", 42, "bob-1738000002", instead_of=before)


def test_a_lease_that_was_taken_over_meanwhile_is_not_deleted(make: Make, tmp_path: Path) -> None:
    """Merged, and then another agent took the task: it is theirs, and neither closed nor let go."""
    one = make(MERGED)
    taken: list[str] = []
    retake = when("tasks", 1, lambda: taken.append(_retaken(one, tmp_path / "bob")))
    report = one.run(CLOSES, progress=retake)
    assert states(report) == {"merged-open": "left"}
    assert one.shows().is_open
    assert one.shows().lease == taken[0]


def test_a_claim_that_was_taken_over_meanwhile_is_not_given_back(
    make: Make, tmp_path: Path
) -> None:
    """Silent in the sweep, and then another agent's: its name, its assignee and its lease stay."""
    one = make(OLD)
    taken: list[str] = []

    def take() -> None:
        taken.append(_retaken(one, tmp_path / "bob"))
        one.control.set_field(42, "Agent", "bob-1738000002")
        one.control.set_field(42, "Status", "Todo")
        one.control.set_field(42, "Status", "In Progress")
        one.clear()

    report = one.run(ALL, progress=when("tasks", 1, take))
    shows = one.shows()
    assert shows.card == ("In Progress", "bob-1738000002")
    assert (shows.assignees, shows.comments, shows.lease) == (("octocat",), (), taken[0])
    assert one.written() == []
    assert report.failed == 0


def test_whom_nobody_may_unassign_is_told_and_the_next_run_finishes(make: Make) -> None:
    """The card keeps the agent's name: in Todo it was one that people moved, and the assignee stayed."""
    one = make(OLD)
    one.control.add_fault("no-permission", path="/assignees$", method="DELETE", count=2)
    first, second = only(one.run(ALL)), only(one.run(ALL))
    left = (
        f'Unassign octocat, set the Status from "In Progress" to "Todo", clear the Agent "{AGENT}".'
    )
    assert (first.state.value, first.fix, second.fix) == ("failed", left, left)
    assert first.problem.startswith(f"Done: End the lease of {AGENT}, comment on #42. The rest: ")
    assert (second.kind, second.state.value) == ("silent", "failed")
    assert ends(one) == (True, ("In Progress", AGENT), "")
    assert states(one.run(ALL)) == {"silent": "applied"}
    assert ends(one) == (True, ("Todo", None), "")
    assert (one.shows().assignees, len(one.shows().comments)) == ((), 1)
    assert one.run(ALL).findings == ()


def test_whom_nobody_may_unassign_is_told_by_the_next_run_where_labels_keep_the_status(
    make: Make,
) -> None:
    """No label names the agent: the task goes to Todo nevertheless, and stays told as assigned."""
    blind = [SeedToken(TOKEN, "octocat", ["repo"])]
    one = make(replace(OLD, labels=("status: in progress",)), tokens=blind)
    one.control.add_fault("no-permission", path="/assignees$", method="DELETE", count=9)
    first, second = only(one.run(ALL)), only(one.run(ALL))
    assert (first.kind, first.state.value, first.fix) == ("silent", "failed", "Unassign octocat.")
    assert (one.shows().labels, one.shows().lease) == (("status: todo",), "")
    assert (second.kind, second.state.value) == ("moved-by-hand", "left")


def test_a_report_of_what_failed_again_names_no_step_that_was_done_before(make: Make) -> None:
    """The comment was posted by an earlier run, as the closer look sees: only the card is left to do."""
    one = make(OLD)
    one.control.add_fault("no-permission", operation="SetBoardFields", count=99)
    first, again = only(one.run(ALL)), only(one.run(ALL))
    rest = f'Set the Status from "In Progress" to "Todo", clear the Agent "{AGENT}".'
    assert (first.state.value, first.fix) == ("failed", rest)
    assert first.problem.startswith("Done: End the lease of")
    assert (again.state.value, again.fix) == ("failed", rest)
    assert "Done" not in again.problem
    assert len(one.shows().comments) == 1


def test_whoever_may_not_close_says_of_nothing_that_it_was_closed(make: Make) -> None:
    """Who may read may comment: the comment told of a closing that GitHub then refused."""
    reader = SeedToken("of-a-reader", "visitor", ["repo"])
    one = make(MERGED, tokens=[SeedToken(TOKEN, "octocat", ["repo", "project"]), reader])
    found = only(one.run(ALL, GH_TOKEN=reader.token, LIFECYCLE_PROJECT_NUMBER=""))
    assert (found.kind, found.state.value) == ("merged-open", "failed")
    assert (one.shows().is_open, one.shows().comments) == (True, ())
    assert states(one.run(ALL)) == {"merged-open": "applied"}
    (comment,) = one.shows().comments
    assert "Closed by `lifecycle reconcile`" in comment


STAGES: dict[str, dict[str, Any]] = {
    "repositories": {"operation": "SurveyHolding"},
    "cards": {"operation": "SurveyCards"},
    "look": {"operation": "ObserveClaim"},
    "comment": {"path": "/comments$", "method": "POST"},
    "close": {"path": "/issues/\\d+$", "method": "PATCH"},
    "board's ids": {"operation": "DiscoverBoard"},
    "card": {"operation": "SetBoardFields"},
    "second task": {"operation": "ObserveClaim", "skip": 1},
}
LIMITS: dict[str, dict[str, Any]] = {
    "primary": {"fault": "primary-limit", "headers": LONG},
    "primary-429": {"fault": "primary-limit-429", "headers": LONG},
    "secondary": {"fault": "secondary-limit", "headers": {"retry-after": "300"}},
}


@pytest.mark.once("the other forms of a limit are test_failures.py's")
@pytest.mark.parametrize(("stage", "limit"), crossed(STAGES, LIMITS))
def test_a_rate_limit_ends_the_run_and_the_next_one_finishes(
    stage: dict[str, Any], limit: dict[str, Any], make: Make
) -> None:
    """At every stage: no error, what is left is named, nobody waits long, and the next run is whole."""
    tasks = [replace(MERGED, number=n) for n in (1, 2, 3)]
    one = make(*tasks)
    before = one.clock.offset
    one.control.add_fault(**limit, count=99, **stage)
    report = one.run(CLOSES, seconds=3000.0)
    assert report.ended
    assert report.failed >= 1
    assert report.left
    assert one.clock.offset - before < 130
    assert all(name.startswith(HOME) for name in report.left)
    is_seen = "Survey" not in stage.get("operation", "")
    assert bool(report.findings) == is_seen
    assert {f.state.value for f in report.findings} <= {"applied", "left"}
    assert all(f.problem for f in report.findings if f.state.value == "left")
    one.control.clear_faults()
    again = one.run(CLOSES)
    assert (again.failed, again.left, again.ended) == (0, (), "")
    assert [ends(one, n) for n in (1, 2, 3)] == [DONE] * 3
    assert all(len(one.shows(n).comments) == 1 for n in (1, 2, 3))


def test_a_limit_at_the_last_read_of_a_task_is_not_waited_out(make: Make) -> None:
    """Without a lease the comments are read once more at the end: one too many delays no other task."""
    one = make(replace(MERGED, leased_by=""))
    before = one.clock.offset
    half_a_minute = {"retry-after": "30"}
    one.control.add_fault(
        "secondary-limit", operation="ObserveClaim", skip=1, headers=half_a_minute
    )
    report = one.run(CLOSES, seconds=3000.0)
    assert (report.failed, ends(one)) == (0, DONE)
    looks = [request for request in one.control.requests() if request.operation == "ObserveClaim"]
    assert (len(looks), one.clock.offset - before) == (2, 0)


def test_a_short_limit_is_waited_out_while_reading(make: Make) -> None:
    """A limit of a few seconds in the middle of the sweep costs these, and the run is whole."""
    one = make(MERGED)
    short = {"retry-after": "5"}
    one.control.add_fault("secondary-limit", operation="SurveyCards", count=1, headers=short)
    report = one.run(CLOSES, seconds=3000.0)
    assert not report.ended
    assert ends(one) == DONE
    assert one.clock.offset >= 5


def test_the_deadline_ends_the_run_and_the_next_one_finishes(make: Make) -> None:
    """The time is up after the first repair: the others are named, and are done by the next run."""
    one = make(*(replace(MERGED, number=n) for n in (1, 2, 3)))
    report = one.run(CLOSES, seconds=60.0, progress=when("repairs", 1, lambda: one.clock.sleep(58)))
    assert report.ended.startswith("The time for this run is up.")
    assert report.left == (f"{HOME}#2", f"{HOME}#3")
    assert [f.state.value for f in report.findings] == ["applied", "left", "left"]
    again = one.run(CLOSES)
    assert again.failed == 0
    assert [ends(one, n) for n in (1, 2, 3)] == [DONE] * 3


def test_the_deadline_may_end_the_reading(make: Make) -> None:
    """No time left for the board: nothing is repaired, and the repository is named as left."""
    one = make(MERGED)
    report = one.run(
        CLOSES, seconds=60.0, progress=when("repositories", 1, lambda: one.clock.sleep(60))
    )
    assert report.ended
    assert report.left == (HOME,)
    assert one.written() == []
    owner = HOME.partition("/")[0]
    unread = one.run(scope=scope_of(owner=owner), seconds=0.0)
    assert unread.left == (owner,), "which repositories that would be is unknown"


def test_an_outage_ends_the_run_after_a_few_tasks(make: Make) -> None:
    """Nobody answers any more: after five tasks in a row the run gives up, and names all of the rest."""
    one = make(*(replace(DRIFTED, number=n) for n in range(1, 10)))
    one.control.add_fault("bad-gateway", operation="ObserveClaim", count=999)
    report = one.run()
    assert "did not answer for 5 tasks" in report.ended
    assert report.count(*[f.state for f in report.findings if f.state.value == "failed"]) >= 5
    assert len(report.left) == 4
    one.control.clear_faults()
    assert one.run().failed == 0
    assert one.run().findings == ()


def test_a_token_that_ends_in_the_middle_ends_the_run(make: Make) -> None:
    """GitHub takes no more from the token: the run ends, and what is left is named."""
    one = make(*(replace(DRIFTED, number=n) for n in (1, 2, 3)))
    one.control.add_fault("bad-credentials", operation="ObserveClaim", skip=1, count=99)
    report = one.run()
    assert report.ended
    assert report.left == (f"{HOME}#2", f"{HOME}#3")
    assert report.failed == 1


def test_a_wrong_token_is_refused_before_anything(make: Make) -> None:
    """401 on the first request is an error of the run; its sentence has no token in it."""
    one = make(MERGED)
    with pytest.raises(BadCredentials) as caught:
        one.run(GH_TOKEN="ghp_thisIsNoTokenOfAnybody1234567890")
    assert "thisIsNo" not in str(caught.value)


def test_no_token_is_refused_before_anything(make: Make) -> None:
    """Without a token nothing is asked."""
    one = make(MERGED)
    with pytest.raises(NoToken):
        one.run(GH_TOKEN="", GITHUB_TOKEN="", PATH="/nowhere")
    assert one.control.requests() == ()


def test_no_network_ends_cleanly(make: Make) -> None:
    """Nobody listens: the run ends with a sentence and names what it was to look at."""
    one = make(MERGED)
    port = "http://127.0.0.1:9"
    report = one.run(CLOSES, GITHUB_API_URL=port, GITHUB_GRAPHQL_URL=f"{port}/graphql")
    assert report.failed >= 1
    assert report.ended or report.problems
    assert HOME in texts(report)


def test_a_repository_that_is_not_there_is_a_problem(make: Make) -> None:
    """A name that GitHub does not show is told, and the other repository is done."""
    one = make(MERGED)
    report = one.run(CLOSES, scope=scope_of("octo-org/nothing", HOME))
    assert [problem.where for problem in report.problems] == ["octo-org/nothing"]
    assert report.failed == 1
    assert ends(one) == DONE


def test_without_git_everything_but_the_lease_is_done(make: Make, tmp_path: Path) -> None:
    """No git where the run is: each task that needs it says so, and the run comes to its end."""
    one = make(MERGED, Given(number=7, agent=""))
    report = one.run(CLOSES, PATH=str(tmp_path))
    assert not report.ended
    assert report.findings
    assert all(
        "git is not installed" in f.problem for f in report.findings if f.state.value == "failed"
    )
    assert one.run(CLOSES).failed == 0
    assert ends(one) == DONE


def _traced(folder: Path) -> tuple[Path, Path]:
    """A git that writes down with which arguments it is called, and where."""
    real, log = shutil.which("git"), folder / "arguments"
    tools = folder / "tools"
    tools.mkdir()
    script = tools / "git"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> "{log}"\nexec "{real}" "$@"\n')
    script.chmod(0o755)
    return tools, log


@pytest.mark.parametrize("form", [["--json"], [], ["--summary"]], ids=["json", "plain", "summary"])
def test_no_secret_is_in_any_output(make: Make, tmp_path: Path, form: list[str]) -> None:
    """Whatever fails in a process, token and git header are in no output and no argument."""
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    one = make(
        MERGED,
        replace(MERGED, number=43),
        tokens=[SeedToken(secret, "octocat", ["repo", "project"])],
    )
    tools, log = _traced(tmp_path)
    one.control.add_fault("no-permission", path="/git-receive-pack$", count=9)
    one.control.add_fault("bad-gateway", path="/issues/43/comments$", count=9)
    environment = process_environment(
        one,
        PATH=f"{tools}{os.pathsep}{os.environ['PATH']}",
        GITHUB_ACTIONS="true",
        GIT_TRACE="1",
        GIT_CURL_VERBOSE="1",
    )
    done = subprocess.run(
        [str(COMMAND), "reconcile", "--close", "--release", *form],
        cwd=one.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    header = base64.b64encode(f"x-access-token:{secret}".encode()).decode()
    called = log.read_text()
    assert "push" in called
    for text in (done.stdout, done.stderr, called):
        assert secret not in text
        assert header not in text
        assert "Traceback" not in text
    assert "lease" in done.stdout


def test_the_tokens_name_is_what_is_said(make: Make) -> None:
    """The default token of these tests is no secret by its form; it is left out all the same."""
    one = make(MERGED)
    one.control.add_fault("no-permission", path="/git-receive-pack$", count=9)
    report = one.run(CLOSES)
    assert TOKEN not in texts(report)
    assert kinds(report) == ["merged-open"]


def test_every_sentence_on_a_failure_is_reworded() -> None:
    """So that no one keeps a secret, or advice that is of no use in a workflow; nothing else changes."""
    finding = Finding("off-board", HOME, 42, "a", "b", "c", "d", "e", State.FAILED, "f")
    problem = SweepProblem(HOME, "g", "h")
    report = SweepReport((finding,), (problem,), ("i",), "j", ("k",), skipped="l")
    assert report.reworded(str.upper) == replace(
        report,
        findings=(replace(finding, problem="F"),),
        problems=(replace(problem, sentence="H"),),
        ended="J",
        notes=("K",),
    )


MOVED_AND_PUSHED = {"pushed": 50.0, "status": "Blocked", "set_at": 40.0}


@pytest.mark.parametrize(
    "left", [{"pushed": 60.0}, {"agent": "sam-1", "status": "Todo"}, {}, MOVED_AND_PUSHED]
)
def test_a_dry_run_plans_what_the_run_then_does(make: Make, left: dict[str, Any]) -> None:
    """What is repaired first counts as a sign of life: then no release is planned, as none follows.

    A draft is newer than whatever people set before it, so the card follows: the plan says that, too.
    """
    one = make(replace(OLD, **left))
    plan, run = one.run(ALL, dry_run=True), one.run(ALL)
    assert [found.fix for found in plan.findings] == [found.fix for found in run.findings]
    planned, done = states(plan), states(run)
    assert planned
    assert {kind: "planned" if state == "applied" else state for kind, state in done.items()} == (
        planned
    )


def test_a_pull_request_that_is_not_there_costs_no_other(make: Make) -> None:
    """It is a problem by its number, as an issue is, which is told its option; all else is repaired."""
    one = make(DRIFTED)
    report = one.run(ALL, scope=scope_of(HOME, pulls=(DRIFTED.pull_number, DRIFTED.number)))
    assert states(report) == {"status-drift": "applied"}
    (problem,) = report.problems
    assert problem.where == f"{HOME}#{DRIFTED.number}"
    assert "(an issue has its --issue)" in problem.sentence


def test_a_lease_of_a_number_that_no_issue_has_stops_nobody(make: Make) -> None:
    """GitHub takes no such number in a question: it is not asked for, and the ref is named."""
    strange, since = 2**31, datetime.now(UTC)
    refs = [lease(DRIFTED.number, since), lease(strange, since)]
    one = make(DRIFTED, repositories={HOME: {"refs": refs}})
    report = one.run(ALL)
    assert states(report) == {"status-drift": "applied"}
    assert f"{HOME}#{strange}" in " ".join(report.notes)
    missing = one.run(ALL, scope=scope_of(HOME, issues=(strange,)))
    assert [problem.where for problem in missing.problems] == [f"{HOME}#{strange}"]


def test_what_keeps_a_lease_is_named(make: Make) -> None:
    """A token that may not push: the sentence says what it lacks, and the lease is there as before."""
    lacking = "github_pat_lacking"
    given = SeedToken(lacking, "octocat", ["issues:write", "contents:read"], kind="fine-grained")
    one = make(OLD, tokens=[SeedToken(TOKEN, "octocat", ["repo", "project"]), given])
    before = one.shows().lease
    problem = only(one.run(ALL, GH_TOKEN=lacking)).problem
    assert "denied to octocat" in problem
    assert problem.endswith("write access to the repository: of a token Contents: read and write.")
    assert before
    assert one.shows().lease == before


def test_nothing_is_pushed_to_an_archived_repository(make: Make) -> None:
    """The lease stays with all else, and the reason is told, with who can remove it."""
    one = make(OLD, repositories={HOME: {"archived": True}})
    before = one.shows()
    (note,) = one.run(ALL, dry_run=True).notes
    assert note.startswith(f"{HOME} is archived: what is to be repaired there fails until ")
    found = only(one.run(ALL))
    assert (found.state.value, one.shows()) == ("failed", before)
    assert "archived on GitHub; an administrator has to unarchive it first" in found.problem


def test_a_token_that_can_see_no_board_is_told_nothing_that_would_not_help(make: Make) -> None:
    """No scope of a person's lets the token of Actions see one; what would is named."""
    rights = ["issues:write", "contents:write", "pull_requests:write"]
    given = SeedToken(f"ghs_{'a' * 36}", "robot[bot]", rights, kind="actions")
    one = make(DRIFTED, tokens=[SeedToken(TOKEN, "octocat", ["repo", "project"]), given])
    (note,) = one.run(ALL, dry_run=True, GH_TOKEN=given.token).notes
    assert "gh auth" not in note
    assert "Projects: read and write; a workflow's own GITHUB_TOKEN sees no board" in note


def test_a_board_without_a_field_for_agents_lacks_none(make: Make) -> None:
    """What cannot be written is no drift: neither the plan, nor the run, nor the next one speaks of it."""
    fields = [one for one in COLUMNS if one.name != "Agent"]
    cards = [SeedItem(42, values={"Status": "In Progress"})]
    boards = [SeedProject(1, "Tasks", fields=fields, items=cards, repositories=[])]
    one = make(Given(), replace(Given(), number=43, has_card=False), projects=boards)
    planned = only(one.run(ALL, dry_run=True))
    assert (planned.issue, planned.kind) == (43, "off-board")
    assert planned.fix == 'Put #43 on the board, set the Status to "In Progress".'
    assert only(one.run(ALL)).fix == planned.fix
    assert one.run(ALL).findings == ()
