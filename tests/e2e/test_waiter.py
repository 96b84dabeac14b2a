"""The waiter: news without the model, for one session, through real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control.faults import Fault
from tests.conftest import BRANCH, Place
from tests.e2e.client import SECONDS, Session, ended, heard

SOAKED = pytest.mark.soak(
    "e2e/test_waiter.py::test_a_stop_opens_the_pr_and_its_waiter_brings_all_news",
    "hooks/test_client_contract.py::test_a_wake_is_exit_2_with_the_text_on_stderr",
)

LOG = """2026-01-31T10:00:02.0000000Z ##[group]Run pytest
2026-01-31T10:00:02.0000000Z ##[endgroup]
2026-01-31T10:00:03.0000000Z E       assert 13 == 12
2026-01-31T10:00:04.0000000Z FAILED tests/test_shop.py::test_total - assert 13 == 12
2026-01-31T10:00:04.0000000Z ##[error]Process completed with exit code 1.
2026-01-31T10:00:09.0000000Z Post job cleanup.
"""
"""What the log of a failed job looks like."""

FAST = "[checks]\npoll_seconds = 0.05\n"


@pytest.fixture
def session(place: Place) -> Session:
    """A session with a hand-off in the claim, in a project that polls fast."""
    (place.root / ".lifecycle.toml").write_text(FAST)
    place.ready()
    return Session(place)


def at_work(session: Session) -> subprocess.Popen[bytes]:
    """A waiter that has begun to poll."""
    session.place.clear()
    waiter = session.waiter()
    polls(session.place, 2)
    return waiter


def polls(place: Place, count: int) -> None:
    """Wait until GitHub was asked so often."""
    place.control.wait_for_requests(count, seconds=SECONDS)


def test_a_stop_opens_the_pr_and_its_waiter_brings_all_news(session: Session) -> None:
    """Both hooks of one stop start together: on-stop opens the PR, the waiter wakes with the rest.

    Red, green for the next head, the question at the merge: each once, each in a turn of its own. With red
    come the lines of the log that tell why, and the path of all of it, for one request and one for the log.
    """
    place = session.place
    red_test = PlannedCheck(name="test", conclusion="failure", after_reads=2, log=LOG)
    place.control.plan_checks(red_test)
    waiter = session.waiter()
    with ended(waiter):
        assert "PR #46 created" in session.on_stop().model
        red = heard(waiter)
    assert red.woke
    first, *why = red.model.splitlines()
    assert "1 FAILED — test on PR #46" in first
    assert "  | FAILED tests/test_shop.py::test_total - assert 13 == 12" in why
    assert "Post job cleanup" not in red.model
    packet = next((place.root / ".lifecycle" / "feedback").glob("46-*.txt"))
    assert str(packet.relative_to(place.root)) in why[0]
    assert "FAILED tests/test_shop.py::test_total" in packet.read_text("utf-8")
    asked = place.requests()
    assert [one.operation for one in asked].count("FailedChecks") == 1
    assert sum(one.path.endswith("/logs") for one in asked) == 1
    assert session.wake(red.model).is_silent

    place.control.plan_checks(PlannedCheck(name="test", after_reads=2))
    place.work()
    waiter = session.waiter()
    with ended(waiter):
        assert session.on_stop().is_silent
        green = heard(waiter)
    assert green.model == "CI passed! The only check is green. PR #46 is ready to merge.\n"

    waiter = session.waiter()
    with ended(waiter):
        place.control.merge_pull(46)
        merged = heard(waiter)
    assert merged.model.startswith("PR #46 merged! Should I close issue #42?")
    assert session.idle().is_silent
    assert heard(session.waiter()).code == 0  # nothing is left to wait for but the person


def test_a_waiter_that_is_killed_while_it_reads_a_log_takes_no_news_along(
    session: Session,
) -> None:
    """What was not said yet is said by the next start, with where the packet lies that is there by then."""
    place = session.place
    session.on_stop()
    place.control.add_fault(Fault("hang", path="/logs$"))
    place.control.set_check(46, "test", conclusion="failure", log=LOG)
    place.clear()
    waiter = session.waiter()
    with ended(waiter):
        while not any(one.path.endswith("/logs") for one in place.requests()):
            polls(place, len(place.requests()) + 1)
        os.killpg(waiter.pid, signal.SIGKILL)
    place.control.clear_faults()
    assert place.cli("feedback").returncode == 0
    (packet,) = (place.root / ".lifecycle" / "feedback").glob("46-*.txt")
    told = session.start().model
    assert "1 FAILED — test on PR #46" in told
    assert f"Excerpts of the logs are in {packet.relative_to(place.root)}." in told
    assert session.prompt().is_silent
    place.control.merge_pull(46)
    assert place.cli("close", "--override", "It is done.").returncode == 0
    assert not packet.exists()


@SOAKED
@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("closed", "PR #46 was closed without being merged"),
        ("conflict", "PR #46 conflicts with main"),
    ],
)
def test_the_waiter_wakes_for_what_people_do(session: Session, event: str, words: str) -> None:
    """A close without a merge, a conflict: once each. A review has a story of its own."""
    place = session.place
    session.on_stop()
    waiter = session.waiter()
    with ended(waiter):
        match event:
            case "closed":
                place.control.close_pull(46)
            case _:
                place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs")
        news = heard(waiter)
    assert news.woke
    assert words in news.model
    again = session.waiter()
    with ended(again):
        place.clear()
        if event != "closed":
            polls(place, 3)
            assert again.poll() is None  # it polls on, and says nothing twice


@SOAKED
def test_a_poll_costs_one_request_on_one_connection(session: Session) -> None:
    """The waiter loads everything once and keeps its connection for all of its polls.

    Most of them ask for the digest that the waiters of a machine share.
    """
    place = session.place
    session.on_stop()
    place.clear()
    before = place.control.connections()
    waiter = session.waiter()
    with ended(waiter):
        polls(place, 20)
        asked = place.requests()
    assert {request.operation for request in asked} <= {"ObserveClaim", "DigestPulls"}
    assert place.control.connections() - before == 1


@SOAKED
def test_one_waiter_lives_and_the_others_end_at_once(session: Session) -> None:
    """However many stops there are, one process waits; on-idle leaves it to that one."""
    place = session.place
    session.on_stop()
    waiter = at_work(session)
    with ended(waiter):
        others = [session.waiter() for _ in range(6)]
        with ended(*others):
            assert [heard(other).code for other in others] == [0] * 6
        assert session.idle().is_silent
        assert waiter.poll() is None
        place.control.merge_pull(46)
        assert heard(waiter).woke


@SOAKED
@pytest.mark.started
def test_a_second_start_ends_in_the_shell(session: Session) -> None:
    """With a live waiter the script never reaches Python: the command it would start is not there."""
    place = session.place
    session.on_stop()
    waiter = at_work(session)
    with ended(waiter):
        spy = place.root.parent / "spy"
        spy.write_text("#!/bin/sh\nexit 9\n")
        spy.chmod(0o755)
        second = Session(place, session.id, {"LIFECYCLE_BIN": str(spy)})
        assert heard(second.waiter()).code == 0
        assert second.idle().code == 0
    assert heard(second.waiter()).code == 9  # nobody waits any more: this one would start


def test_who_goes_on_with_the_claim_after_a_clear_is_woken_without_a_stop(session: Session) -> None:
    """The old waiter ends with its session; the next one's start begins another, once it has looked."""
    place = session.place
    session.on_stop()
    old = at_work(session)
    following = Session(place, "22222222-aaaa-4bbb-8ccc-000000000002")
    with ended(old):
        session.end("clear")
        waiter = following.launch("ci-waiter", "SessionStart", source="clear")
        with ended(waiter):
            assert "The claim on #42 is yours now" in following.start("clear").model
            assert heard(old).is_silent
            place.control.merge_pull(46)
            woken = heard(waiter)
    assert woken.woke
    assert woken.model.startswith("PR #46 merged! Should I close issue #42?")


def test_no_start_waits_where_nobody_attends(session: Session) -> None:
    """`claude -p` begins only when each hook of its start has ended, whatever wait the settings ask for."""
    place = session.place
    (place.root / ".lifecycle.toml").write_text(f"{FAST}[wait]\nunattended = 600\n")
    session.on_stop()
    unattended = Session(place, session.id, {"CLAUDE_CODE_SESSION_ATTENDED": "0"})
    place.clear()
    assert heard(unattended.launch("ci-waiter", "SessionStart", source="resume")).code == 0
    assert place.requests() == []


@SOAKED
def test_another_session_is_not_woken(session: Session) -> None:
    """The news goes to the session that handed off; another one's waiter and on-idle stay silent."""
    place = session.place
    session.on_stop()
    stranger = Session(place, "22222222-aaaa-4bbb-8ccc-000000000002")
    place.control.merge_pull(46)
    assert heard(stranger.waiter()).is_silent
    assert stranger.idle().is_silent
    assert stranger.prompt().is_silent
    assert heard(session.waiter()).woke


@SOAKED
@pytest.mark.started
def test_the_waiter_ends_with_its_client(session: Session) -> None:
    """A client that was killed ends no hook, but its pipes close: the waiter sees that and goes."""
    place = session.place
    session.on_stop()
    waiter = at_work(session)
    with ended(waiter):
        assert waiter.stderr is not None
        assert waiter.stdout is not None
        waiter.stderr.close()
        waiter.stdout.close()
        waiter.stderr = waiter.stdout = None
        assert waiter.wait(SECONDS) == 0
    assert not (place.root / ".lifecycle/waiter").exists()


@SOAKED
def test_the_waiter_ends_with_the_claim(session: Session) -> None:
    """Somebody closes the issue by hand elsewhere and the claim goes: nothing is left to wait for."""
    place = session.place
    session.on_stop()
    waiter = at_work(session)
    with ended(waiter):
        (place.root / ".agent-claim.json").unlink()
        assert heard(waiter).is_silent
    assert waiter.returncode == 0


@SOAKED
@pytest.mark.started
def test_a_waiter_that_is_killed_says_nothing_and_the_next_one_goes_on(session: Session) -> None:
    """At its timeout the client sends SIGTERM: the sign that it leaves behind deceives nobody."""
    place = session.place
    session.on_stop()
    waiter = at_work(session)
    with ended(waiter):
        os.killpg(waiter.pid, signal.SIGTERM)
        assert waiter.wait(SECONDS) == -signal.SIGTERM
        assert waiter.stderr is not None
        assert waiter.stderr.read() == b""
    assert (place.root / ".lifecycle/waiter").exists()
    place.control.merge_pull(46)
    assert heard(session.waiter()).woke


@SOAKED
def test_a_rate_limit_is_waited_out_in_silence(session: Session) -> None:
    """GitHub asks for an hour: not one request more, nothing said, and the waiter lives on."""
    place = session.place
    session.on_stop()
    place.clear()
    limit = {"Retry-After": "3600", "X-RateLimit-Remaining": "0"}
    place.control.add_fault(Fault("status", status=403, headers=limit, count=99))
    waiter = session.waiter()
    with ended(waiter):
        polls(place, 1)
        with pytest.raises(subprocess.TimeoutExpired):
            waiter.wait(2)
        assert len(place.requests()) == 1


def test_a_pr_that_github_could_not_open_is_opened_when_it_is_back(session: Session) -> None:
    """on-stop met an outage and says so once to the user: the waiter tries again, and wakes with the PR."""
    place = session.place
    place.control.add_fault(Fault("status", method="POST", path="/pulls", count=99))
    place.control.add_fault(Fault("status", operation="OpenPullRequest", count=99))
    said = session.on_stop()
    assert said.person.startswith("The PR for #42 is not open yet; the next look tries again: ")
    assert not said.model
    assert session.on_stop().is_silent
    place.control.clear_faults()
    state = place.root / ".lifecycle/state.json"
    kept = json.loads(state.read_text())
    kept["record"]["troubles"]["OpenPullRequest"]["until"] = 0.0
    state.write_text(json.dumps(kept))
    woken = heard(session.waiter())
    assert woken.woke
    assert "PR #46" in woken.model
    opened = [pull["head"] for pull in place.pulls().values() if pull["state"] == "open"]
    assert opened == [BRANCH]
