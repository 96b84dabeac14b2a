"""The engine on a real embedded GitHub: budgets, idempotence, lost answers."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import Audience, Rejected, Transient, Wake
from lifecycle.claim.engine import look as engine
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.messages import review_messages
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage import signs_of_life
from tests.claim.steps import WAYS, go
from tests.conftest import Place
from tests.factories import texts
from tests.repeated import crossed, soaked

SOAKED = pytest.mark.soak(
    "claim/test_look.py::test_fault_1_requests_for_each_path_with_warm_caches",
    "claim/test_look.py::test_a_lost_answer_while_closing_converges",
    "claim/test_pace.py::test_the_design_polls_every_two_minutes",
    "claim/test_recovery.py::test_what_is_refused_is_sent_once_in_a_look",
    "claim/test_closing.py::test_fault_3_an_issue_that_would_not_close_keeps_the_claim",
    "claim/test_closing.py::test_a_comment_whose_fate_is_unknown_keeps_the_claim_and_is_resent_after_two_clean_reads",
    "claim/test_briefing.py::test_nothing_is_promised_where_no_hook_is_at_work",
    "e2e/test_doubled.py::test_a_stop_with_a_hand_off",
)


def test_fault_1_requests_for_each_path_with_warm_caches(place: Place) -> None:
    """Nothing changed 0; status changed 1; a PR, its card and what it follows from 2; poll 1; done 2."""
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
    assert len(place.requests()) == 2
    assert place.claim()["phase"] == "pr_created"

    place.clear()
    place.clock.sleep(200)
    place.tree().tick(Wake.IDLE)
    assert [r.operation for r in place.requests()] == ["ObserveClaim"]

    place.control.merge_pull(place.pull())
    place.write(phase="done")
    place.clear()
    place.tree().tick(Wake.STOP)
    assert [r.operation for r in place.requests()] == ["ObserveClaim", "CommentAndClose"]
    assert place.issue()["state"] == "closed"


@SOAKED
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


@pytest.mark.parametrize("times", [soaked(1), 2, soaked(5)])
def test_ticking_n_times_writes_what_ticking_once_does(place: Place, times: int) -> None:
    """The same writes reach GitHub whether a step is ticked once, twice or five times."""
    place.knows_board()
    place.clear()
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
        ("POST", "OpenPullRequest"),
        ("POST", "CommentAndClose"),
    ]


@SOAKED
def test_two_wakes_at_once_open_one_pull_request(place: Place) -> None:
    """A doubled hook (plugin and settings): one PR, one message."""
    import subprocess

    from lifecycle.settings.resources import hook_script

    place.knows_board()
    place.clear()
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
    assert [r.operation for r in place.writes()] == ["OpenPullRequest"]


FAULTS = {"cut-after": ("cut", "after"), "status-before": ("status", "before")}
MORE_FAULTS = {
    "cut-before": ("cut", "before"),
    "status-after": ("status", "after"),
    "truncate-after": ("truncate", "after"),
}
"""Further ones of the same: it was done or not, and nobody heard of it."""

OPEN: dict[str, Any] = {"operation": "OpenPullRequest"}
END: dict[str, Any] = {"operation": "CommentAndClose"}
CREATE_PR: dict[str, Any] = {"method": "POST", "path": r"/pulls$"}
COMMENT: dict[str, Any] = {"method": "POST", "path": r"/comments$"}
CLOSE: dict[str, Any] = {"method": "PATCH", "path": r"/issues/42$"}
BOARD: dict[str, Any] = {"operation": "SetBoardFields"}


def ways(routes: dict[str, dict[str, Any]]) -> list[Any]:
    """Each of these routes, and each fault of the first of them."""
    more = [
        soaked(route, failure, id=f"{name}-{kind}")
        for name, route in routes.items()
        for kind, failure in MORE_FAULTS.items()
    ]
    return [*crossed(routes, FAULTS), *more]


def fault(kind: Any, when: Any, route: dict[str, Any]) -> Fault:
    """A fault on one route; 502 is the status, where there is one."""
    return Fault(kind, when=when, status=502, **route)


@pytest.mark.parametrize(
    ("route", "failure"), ways({"joined": OPEN, "pulls": CREATE_PR, "board": BOARD})
)
def test_a_lost_answer_while_opening_converges(
    place: Place, route: dict[str, Any], failure: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """502, cut or truncated, before or after the write: one PR, the board right, said once."""
    go(monkeypatch, is_joined=route is OPEN)
    place.knows_board()
    place.ready()
    place.control.add_fault(fault(*failure, route))
    said = ""
    for _ in range(4):
        said += texts(place.tree().tick(Wake.STOP))
        place.clock.sleep(130)
    assert len(place.pulls()) == 1
    assert place.claim()["phase"] == "pr_created"
    assert place.claim()["last_synced_status"] == "In Review"
    assert place.card()["Status"] == "In Review"
    assert said.count("created: http") == 1


def test_a_pull_request_whose_answer_was_lost_is_found_in_the_same_look(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was opened once, and is told as opened: nobody waits for the next look."""
    go(monkeypatch, is_joined=False)
    place.ready()
    place.control.add_fault(fault("cut", "after", CREATE_PR))
    report = place.tree().tick(Wake.STOP)
    assert len(place.pulls()) == 1
    assert place.claim()["pr_number"] == place.pull()
    assert "created: http" in texts(report)


@pytest.mark.parametrize(
    ("route", "failure"),
    ways({"joined": END, "comment": COMMENT, "close": CLOSE, "board": BOARD}),
)
def test_a_lost_answer_while_closing_converges(
    place: Place, route: dict[str, Any], failure: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One comment, a closed issue, a Done board, and "closed" said only when it is."""
    go(monkeypatch, is_joined=route is END)
    place.merged()
    place.control.add_fault(fault(*failure, route))
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


@SOAKED
def test_fault_3_a_close_that_fails_is_not_reported_as_closed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """403 on the close: the claim stays, nothing says "closed", and the sentence says why."""
    go(monkeypatch, is_joined=False)
    place.merged()
    place.control.add_fault(Fault("status", status=403, when="before", count=9, **CLOSE))
    report = place.tree().tick(Wake.STOP)
    assert "not closed, and the claim was kept" in texts(report)
    assert place.has_claim()
    assert isinstance(report.problem, Rejected)
    place.control.clear_faults()
    assert "Issue #42 closed." in texts(place.tree().tick(Wake.TICK))


@WAYS
def test_a_pull_request_that_lists_do_not_show_yet_is_not_opened_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_joined: bool
) -> None:
    """The answer is lost and lists lag: 422 with an empty list is "look again", then adoption."""
    go(monkeypatch, is_joined=is_joined)
    place.knows_board()
    place.ready()
    place.control.set_lag(pulls=3)
    place.control.add_fault(fault("status", "after", OPEN if is_joined else CREATE_PR))
    reports = []
    for _ in range(4):
        reports.append(place.tree().tick(Wake.STOP))
        place.clock.sleep(130)
    assert isinstance(reports[0].problem, Transient)
    assert len(place.pulls()) == 1
    assert place.claim()["pr_number"] == place.pull()


@pytest.mark.parametrize("is_joined", [soaked(True, id="joined"), pytest.param(False, id="split")])
def test_a_comment_that_lags_is_not_posted_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_joined: bool
) -> None:
    """The POST committed, the answer was cut, and the comment shows up only reads later."""
    go(monkeypatch, is_joined=is_joined)
    place.merged()
    place.control.set_lag(comments=1)
    place.control.add_fault(fault("cut", "after", END if is_joined else COMMENT))
    for _ in range(5):
        place.tree().tick(Wake.STOP)
        place.clock.sleep(70)
    assert len(place.issue()["comments"]) == 1
    assert not place.has_claim()


def test_a_rate_limit_is_waited_for_as_long_as_it_says(place: Place) -> None:
    """Retry-After 300: the person hears that the PR waits, no request before that time, then on."""
    place.ready()
    limited = Fault("status", status=403, headers={"Retry-After": "300"}, operation="ObserveClaim")
    place.control.add_fault(limited)
    report = place.tree().tick(Wake.STOP)
    assert isinstance(report.problem, Transient)
    assert [say.audience for say in report.said] == [Audience.NOTE]
    assert "the next look tries again" in report.said[0].text
    place.clear()
    place.clock.sleep(200)
    place.tree().tick(Wake.STOP)
    assert place.requests() == []
    place.clock.sleep(120)
    place.tree().tick(Wake.STOP)
    assert place.claim()["phase"] == "pr_created"


def test_a_rehearsal_of_the_end_tells_nothing_as_done(place: Place) -> None:
    """The plan of closing names every step, and not one sentence that says that it was closed."""
    place.merged()
    report = place.tree().rehearse()
    assert "ForgetClaim" in [type(action).__name__ for action in report.actions]
    assert "closed" not in texts(report)
    assert place.issue()["state"] == "open"


def test_a_look_that_failed_is_not_waited_for_where_nothing_needs_a_look(place: Place) -> None:
    """`tick` met an outage while the agent codes: the next stop looks at nothing, and waits for nothing."""
    place.ready(phase="coding", status="In Progress", last_synced_status="In Progress")
    place.control.add_fault(Fault("status", status=502, count=99))
    assert place.tree().tick(Wake.TICK).problem is not None
    place.control.clear_faults()
    place.clear()
    place.write(summary="meanwhile")
    report = place.tree().tick(Wake.STOP)
    assert report.record is not None
    assert report.record.due() is None
    assert place.requests() == []


def test_a_done_that_cannot_be_judged_is_told_at_once(place: Place) -> None:
    """Once, to the person, as that a pull request waits; the next look that GitHub answers closes.

    With a yes by command that is taken back, nothing is tried again, and nothing says so.
    """
    place.merged()
    place.control.add_fault(Fault("status", status=502, count=99), operation="ObserveClaim")
    told = place.tree().tick(Wake.STOP).said
    assert [notice.audience for notice in told] == [Audience.NOTE]
    waits = "Issue #42 is not closed, and the claim was kept: GitHub has an internal problem (502)"
    assert told[0].text.startswith(waits)
    assert place.tree().tick(Wake.STOP).said == ()
    assert waits in place.cli("tick").stdout
    closed = place.cli("close").stdout
    assert ("the yes was not kept" in closed, waits in closed) == (True, False)
    assert place.claim()["phase"] == "pr_created"
    place.write(phase="done")
    place.control.clear_faults()
    place.clock.sleep(200)
    assert "Issue #42 closed. Board → Done." in texts(place.tree().tick(Wake.STOP))


@SOAKED
def test_a_watch_is_promised_only_where_hooks_are_at_work(place: Place) -> None:
    """Of red checks a worktree that has seen no hook hears how to look, and never that it is watched."""
    place.ready()
    place.tree().tick(Wake.STOP)
    for session, then in (("", review_messages.BY_HAND), ("s-1", review_messages.WATCHED)):
        if session:
            folder = place.tree().claim_store.folder
            signs_of_life.meet(folder, session, place.clock.now())
        place.work()
        place.control.set_check(place.pull(), "test", conclusion="failure")
        tree = place.tree()
        for said in (texts(tree.rehearse()), texts(tree.tick(Wake.TICK))):
            assert f"Fix, commit and push; {then}" in said
            assert (review_messages.WATCHED in said) is bool(session)


def test_what_a_person_undid_before_it_was_told_is_not_told(place: Place) -> None:
    """Assigned to others, and the card moved: a look that sees both corrected takes them back."""
    both = ["#42 is assigned to sam a", "The card of #42 was move"]
    place.ready()
    place.control.assign(42, "octocat")
    place.tree().tick(Wake.STOP)

    def waiting() -> list[str]:
        place.clock.sleep(130)
        tree = place.tree()
        engine.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
        texts_left = [notice.text[:24] for notice in tree.claim_store.ledger.waiting()]
        return [text for text in both if text in texts_left]

    def changed(*, is_undone: bool) -> None:
        mine, others = ("sam", "octocat") if is_undone else ("octocat", "sam")
        place.control.unassign(42, mine)
        place.control.assign(42, others)
        place.control.advance(130)
        place.control.set_field(42, "Status", "In Review" if is_undone else "Todo")

    assert waiting() == []
    changed(is_undone=False)
    assert waiting() == both
    changed(is_undone=True)
    assert waiting() == []
    changed(is_undone=False)
    assert waiting() == both
    (place.root / ".lifecycle.toml").write_text('[labels]\nuse = "never"\n')
    place.control.set_scopes(["repo"])  # the board is not read, so the card stays as it was seen
    assert waiting() == both
    place.control.set_scopes(["repo", "project"])
    assert waiting() == both
    told = texts(place.tree().tick(Wake.STOP))
    assert all(text in told for text in both)
    assert waiting() == []
