"""The engine on a real embedded GitHub: idempotence, lost answers, crashes, budgets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle import store
from lifecycle.api import Phase, Rejected, Transient, Wake
from lifecycle.claim import lease
from lifecycle.claim.desk import Desk
from lifecycle.github.board import GitHubBoard
from lifecycle.github.forge import GitHubForge
from lifecycle.sandbox.faults import Fault
from tests.conftest import BRANCH, Place


class CrashError(BaseException):
    """The process ends here, as if killed."""


def texts(report: Any) -> str:
    """All that a report says."""
    return "\n".join(say.text for say in report.said)


def merged(place: Place, **changes: Any) -> int:
    """A claim whose PR was merged and whose user said yes."""
    place.ready(**changes)
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    place.write(phase="done")
    return number


# --- budgets ------------------------------------------------------------------------------------


def test_fault_1_requests_for_each_path_with_warm_caches(place: Place) -> None:
    """Nothing changed 0; status changed 1; PR at most 3; idle poll 1; done at most 4."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)  # cold: ids are read and kept

    place.clear()
    place.tree().tick(Wake.STOP)
    assert place.requests() == []

    place.write(status="In Review")
    place.tree().tick(Wake.STOP)
    assert [r.operation for r in place.requests()] == ["SetBoardFields"]

    place.control.set_field(42, "Status", "In Review")
    place.write(phase="ready_for_pr", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.clear()
    place.control.close_pull(place.pull())
    place.work()
    place.write(phase="ready_for_pr", status="In Progress")
    place.tree().tick(Wake.STOP)
    assert len(place.requests()) <= 3
    assert place.claim()["phase"] == "pr_created"

    place.clear()
    place.clock.sleep(200)
    place.tree().tick(Wake.IDLE)
    assert [r.operation for r in place.requests()] == ["ObserveClaim"]

    place.control.merge_pull(place.pull())
    place.write(phase="done")
    place.clear()
    place.tree().tick(Wake.STOP)
    assert len(place.requests()) <= 4
    assert place.issue()["state"] == "closed"


def test_an_idle_look_inside_the_backoff_reads_no_checks(place: Place) -> None:
    """Twenty idles in a row poll the checks once; each looks for the merge with one request."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.clear()
    polls = []
    for _ in range(20):
        place.clock.sleep(5)
        place.tree().tick(Wake.IDLE)
        polls.append(place.claim()["last_check_poll"])
    assert len(set(polls)) == 1
    assert len(place.requests()) == 20
    place.clock.sleep(60)
    place.tree().tick(Wake.IDLE)
    assert place.claim()["last_check_poll"] != polls[0]


# --- idempotence --------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 5])
def test_ticking_n_times_writes_what_ticking_once_does(place: Place, times: int) -> None:
    """The same writes reach GitHub whether a step is ticked once or five times."""
    place.ready()
    for wake in (Wake.STOP, Wake.IDLE, Wake.TICK):
        for _ in range(times):
            place.tree().tick(wake)
    place.control.merge_pull(place.pull())
    for _ in range(times):
        place.tree().tick(Wake.IDLE)
    place.write(phase="done")
    for _ in range(times):
        place.tree().tick(Wake.STOP)
    written = [(r.method, r.operation or r.path.rsplit("/", 1)[-1]) for r in place.writes()]
    assert written == [
        ("POST", "pulls"),
        ("POST", "SetBoardFields"),
        ("POST", "comments"),
        ("PATCH", "42"),
        ("POST", "SetBoardFields"),
    ]


def test_two_wakes_at_once_open_one_pull_request(place: Place) -> None:
    """A doubled hook (plugin and settings): one PR, one message."""
    import subprocess

    from lifecycle.resources import hook_script

    place.ready()
    running = [
        subprocess.Popen(
            [str(hook_script("on-stop"))],
            cwd=place.root,
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=30)[0] for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len(place.pulls()) == 1
    assert sum("created" in output for output in outputs) == 1
    assert len([r for r in place.writes() if r.path.endswith("/pulls")]) == 1


# --- lost answers -------------------------------------------------------------------------------

FAULTS = [
    ("status", "before"),
    ("status", "after"),
    ("cut", "before"),
    ("cut", "after"),
    ("truncate", "after"),
]
CREATE_PR: dict[str, Any] = {"method": "POST", "path": r"/pulls$"}
COMMENT: dict[str, Any] = {"method": "POST", "path": r"/comments$"}
CLOSE: dict[str, Any] = {"method": "PATCH", "path": r"/issues/42$"}
BOARD: dict[str, Any] = {"operation": "SetBoardFields"}


def fault(kind: Any, when: Any, route: dict[str, Any]) -> Fault:
    """A fault on one route; 502 is the status, where there is one."""
    return Fault(kind, when=when, status=502, **route)


@pytest.mark.parametrize(("kind", "when"), FAULTS)
@pytest.mark.parametrize("route", [CREATE_PR, BOARD], ids=["pulls", "board"])
def test_a_lost_answer_while_opening_converges(
    place: Place, kind: str, when: str, route: dict[str, Any]
) -> None:
    """502, cut or truncated, before or after the write: one PR, the board right, said once."""
    place.ready()
    place.control.add_fault(fault(kind, when, route))
    said = ""
    for _ in range(4):
        said += texts(place.tree().tick(Wake.STOP))
        place.clock.sleep(130)
    assert len(place.pulls()) == 1
    assert place.claim()["phase"] == "pr_created"
    assert place.claim()["last_synced_status"] == "In Review"
    assert place.card()["Status"] == "In Review"
    assert said.count("created: http") == 1


@pytest.mark.parametrize(("kind", "when"), FAULTS)
@pytest.mark.parametrize("route", [COMMENT, CLOSE, BOARD], ids=["comment", "close", "board"])
def test_a_lost_answer_while_closing_converges(
    place: Place, kind: str, when: str, route: dict[str, Any]
) -> None:
    """One comment, a closed issue, a Done board, and "closed" said only when it is."""
    merged(place)
    place.control.add_fault(fault(kind, when, route))
    said = ""
    for _ in range(6):
        report = place.tree().tick(Wake.STOP)
        said += texts(report)
        assert "closed." not in texts(report) or place.issue()["state"] == "closed"
        place.clock.sleep(70)
    assert place.issue()["state"] == "closed"
    assert len(place.issue()["comments"]) == 1
    assert place.card()["Status"] == "Done"
    assert not place.card().get("Agent")
    assert not place.has_claim()
    assert said.count("Issue #42 closed. Board → Done.") == 1


def test_fault_3_a_close_that_fails_is_not_reported_as_closed(place: Place) -> None:
    """403 on the close: the claim stays, nothing says "closed", and the sentence says why."""
    merged(place)
    place.control.add_fault(Fault("status", status=403, when="before", count=9, **CLOSE))
    report = place.tree().tick(Wake.STOP)
    assert "not closed, and the claim was kept" in texts(report)
    assert place.has_claim()
    assert isinstance(report.problem, Rejected)
    place.control.clear_faults()
    assert "Issue #42 closed." in texts(place.tree().tick(Wake.TICK))


def test_a_pull_request_that_lists_do_not_show_yet_is_not_opened_twice(place: Place) -> None:
    """The answer is lost and lists lag: 422 with an empty list is "look again", then adoption."""
    place.ready()
    place.control.set_lag(pulls=3)
    place.control.add_fault(fault("status", "after", CREATE_PR))
    reports = []
    for _ in range(4):
        reports.append(place.tree().tick(Wake.STOP))
        place.clock.sleep(130)
    assert isinstance(reports[0].problem, Transient)
    assert len(place.pulls()) == 1
    assert place.claim()["pr_number"] == place.pull()


def test_a_comment_that_lags_is_not_posted_twice(place: Place) -> None:
    """The POST committed, the answer was cut, and the comment shows up only reads later."""
    merged(place)
    place.control.set_lag(comments=1)
    place.control.add_fault(fault("cut", "after", COMMENT))
    for _ in range(5):
        place.tree().tick(Wake.STOP)
        place.clock.sleep(70)
    assert len(place.issue()["comments"]) == 1
    assert not place.has_claim()


def test_a_rate_limit_is_waited_for_as_long_as_it_says(place: Place) -> None:
    """Retry-After 300: nothing said, no request before that time, then on."""
    place.ready()
    limited = Fault("status", status=403, headers={"Retry-After": "300"}, operation="ObserveClaim")
    place.control.add_fault(limited)
    report = place.tree().tick(Wake.STOP)
    assert isinstance(report.problem, Transient)
    assert report.said == ()
    place.clear()
    place.clock.sleep(200)
    place.tree().tick(Wake.STOP)
    assert place.requests() == []
    place.clock.sleep(120)
    place.tree().tick(Wake.STOP)
    assert place.claim()["phase"] == "pr_created"


# --- crashes ------------------------------------------------------------------------------------


def crash_at(monkeypatch: pytest.MonkeyPatch, moment: int, *, after: bool) -> list[str]:
    """End the process before or after the `moment`-th write, to disk or to GitHub.

    Returns the names of the writes so far; the real functions run, only the end is staged.
    """
    seen: list[str] = []

    def staged(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            seen.append(name)
            if len(seen) == moment and not after:
                raise CrashError(name)
            result = real(*args, **kwargs)
            if len(seen) == moment and after:
                raise CrashError(name)
            return result

        return run

    for owner, name in [
        (store, "write"),
        (store, "replace_if"),
        (Desk, "forget"),
        (GitHubForge, "create_pull_request"),
        (GitHubForge, "comment"),
        (GitHubForge, "close_issue"),
        (GitHubBoard, "set_fields"),
        (lease, "release"),
    ]:
        monkeypatch.setattr(owner, name, staged(name, getattr(owner, name)))
    return seen


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_write_while_opening_converges(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Killed before or after each write in turn: always one PR, one message, the board right."""
    moment = 0
    while True:
        moment += 1
        branch = f"{BRANCH}-{after}-{moment}"
        place.work(branch)
        place.control.set_field(42, "Status", "In Progress")
        for stale in (".agent-claim.json", ".lifecycle/state.json"):
            (place.root / stale).unlink(missing_ok=True)
        place.ready(branch=branch, last_synced_status="In Progress", status="In Progress")
        place.work(branch, push=False)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after)
            try:
                place.tree().tick(Wake.STOP)
            except CrashError:
                pass
            else:
                assert "create_pull_request" in seen
                break
        said = ""
        for _ in range(3):
            place.clock.sleep(130)
            said += texts(place.tree().tick(Wake.STOP))
        mine = [n for n, pull in place.pulls().items() if pull["head"].endswith(branch)]
        assert len(mine) == 1, (moment, seen)
        assert place.claim()["pr_number"] == mine[0], (moment, seen)
        assert place.claim()["phase"] == "pr_created", (moment, seen)
        assert place.card()["Status"] == "In Review", (moment, seen)
        assert said.count("http") <= 1, (moment, seen, said)
        place.control.close_pull(mine[0])
    assert moment > 8


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_any_write_while_closing_converges(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Killed before or after each write in turn: one comment, closed, Done, and the file gone."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    claim = json.dumps(place.claim() | {"phase": "done"})
    moment = 0
    while True:
        moment += 1
        place.control.reopen_issue(42)
        place.control.set_field(42, "Status", "In Review")
        place.control.set_field(42, "Agent", "octocat-1")
        before = len(place.issue()["comments"])
        # Another round of the same task, as if claimed anew: the marker names the PR, so each
        # round has a pull request of its own.
        number = _merged_again(place, moment)
        (place.root / ".lifecycle" / "state.json").unlink(missing_ok=True)
        again = json.loads(claim) | {"pr_number": number, "branch": f"{BRANCH}-{moment}"}
        (place.root / ".agent-claim.json").write_text(json.dumps(again))
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after)
            try:
                place.tree().tick(Wake.STOP)
            except CrashError:
                pass
            else:
                assert "close_issue" in seen
                break
        for _ in range(5):
            place.clock.sleep(130)
            place.tree().tick(Wake.STOP)
        assert len(place.issue()["comments"]) == before + 1, (moment, seen)
        assert place.issue()["state"] == "closed", (moment, seen)
        assert place.card()["Status"] == "Done", (moment, seen)
        assert not place.card().get("Agent"), (moment, seen)
        assert not place.has_claim(), (moment, seen)
    assert moment > 10


def _merged_again(place: Place, moment: int) -> int:
    branch = f"{BRANCH}-{moment}"
    place.work(branch)
    number = place.control.open_pull(branch, "Again", body="Refs #42")
    place.control.merge_pull(number)
    return int(number)


# --- edits --------------------------------------------------------------------------------------


def test_an_edited_pr_number_is_confirmed_by_github_or_put_back(place: Place) -> None:
    """A number that is not this branch's PR is refused with a word; the right one is taken."""
    place.ready()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.write(pr_number=36)
    report = place.tree().tick(Wake.IDLE)
    assert "was edited to 36" in texts(report)
    assert place.claim()["pr_number"] == number
    place.control.close_pull(number)
    other = place.control.open_pull(BRANCH, "Another", body="Refs #42")
    place.write(pr_number=other)
    place.tree().tick(Wake.TICK)
    assert place.claim()["pr_number"] == other


def test_an_edited_issue_number_is_confirmed_by_github_or_put_back(place: Place) -> None:
    """The PR says which issue it is for; a typo does not lead to closing somebody else's."""
    place.ready()
    place.tree().tick(Wake.STOP)
    place.write(issue_number=43)
    report = place.tree().tick(Wake.TICK)
    assert "was edited to 43" in texts(report)
    assert place.claim()["issue_number"] == 42


def test_a_whole_file_write_from_an_old_copy_restores_the_engines_fields(place: Place) -> None:
    """The agent writes done over the copy it read at the hand-off: number and sync stay."""
    place.ready()
    old = place.claim()
    place.tree().tick(Wake.STOP)
    number = place.pull()
    place.control.merge_pull(number)
    (place.root / ".agent-claim.json").write_text(json.dumps({**old, "phase": "done"}))
    report = place.tree().tick(Wake.STOP)
    assert "Issue #42 closed." in texts(report)


def test_a_card_moved_by_hand_is_reported_once_and_left(place: Place) -> None:
    """A person moved the card to another column: it stays there, and is said once."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.set_field(42, "Status", "Todo")
    place.write(phase="ready_for_pr")
    said = texts(place.tree().tick(Wake.STOP))
    assert 'moved to "Todo" by hand' in said
    assert "created" in said
    for _ in range(3):
        place.clock.sleep(130)
        assert "moved" not in texts(place.tree().tick(Wake.IDLE))
    assert place.card()["Status"] == "Todo"


def test_fault_6_an_unknown_status_names_the_ones_that_exist(place: Place) -> None:
    """An unknown status is no option: said with the list, not recorded as synced, not tried for ever."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(status="Blokced")
    said = texts(place.tree().tick(Wake.STOP))
    assert "Blokced" in said
    assert "In Review" in said
    assert place.claim()["last_synced_status"] == "In Progress"
    place.clear()
    place.tree().tick(Wake.STOP)
    assert place.requests() == []


def test_renamed_options_refresh_the_cached_ids_once(place: Place) -> None:
    """The cached option id went stale: the fields are read again and the write is made."""
    place.ready(phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.control.rename_option("Status", "In Review", "Reviewing")
    place.control.add_option("Status", "In Review")
    place.clear()
    place.write(status="In Review")
    place.tree().tick(Wake.STOP)
    assert place.card()["Status"] == "In Review"
    assert [r.operation for r in place.requests()] == [
        "SetBoardFields",
        "DiscoverBoard",
        "SetBoardFields",
    ]


def test_fault_11_clearing_agent_really_clears(place: Place) -> None:
    """An empty text does nothing on GitHub; the clearing mutation does."""
    merged(place)
    assert place.card()["Agent"] == "octocat-1"
    place.tree().tick(Wake.STOP)
    assert "Agent" not in place.card() or place.card()["Agent"] is None


def test_a_dry_run_plans_everything_and_writes_nothing(place: Place) -> None:
    """The plan of closing is listed in order; no request writes, and no byte changes on disk."""
    merged(place)
    before = {p: p.read_bytes() for p in (place.root / ".lifecycle").iterdir() if p.is_file()}
    claim = (place.root / ".agent-claim.json").read_bytes()
    place.clear()
    report = place.tree().rehearse()
    kinds = [type(action).__name__ for action in report.actions]
    assert kinds == ["PostComment", "CloseIssue", "SetBoard", "ForgetClaim"]
    assert place.writes() == []
    assert claim == (place.root / ".agent-claim.json").read_bytes()
    for path, content in before.items():
        assert path.read_bytes() == content
    assert place.claim()["phase"] == Phase.DONE
