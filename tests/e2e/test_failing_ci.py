"""Whose a red check is, the runner's, the base's, ours; and what a fix takes away."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from tests.conftest import Place
from tests.e2e.client import Session, ended, heard

SOAKED = pytest.mark.soak(
    "e2e/test_failing_ci.py::test_what_fails_on_the_base_too_is_told_and_not_to_be_fixed",
    "e2e/test_failing_ci.py::test_a_fix_that_skips_the_test_is_named_and_holds_the_close_until_a_yes",
    "feedback/test_ladder.py::test_two_heads_that_fail_alike_to_the_line_ask_the_person",
    "feedback/test_ladder.py::test_three_heads_with_one_identity_ask_the_person",
    "storage/test_ledger.py::test_a_key_is_queued_once_and_offered_once",
)

FAST = "[checks]\npoll_seconds = 0.05\n"

LOST = "2026-01-31T10:00:02.0000000Z dd: error writing '/mnt/x': No space left on device\n"


def failing(test: str, got: str = "13") -> str:
    """The log of a job in which a test failed."""
    moment = "2026-01-31T10:00:03.0000000Z"
    return (
        f"{moment} E       assert {got} == 12\n"
        f"{moment} FAILED tests/test_shop.py::test_{test} - assert {got} == 12\n"
        f"{moment} =========== 1 failed, 3 passed in 0.12s ===========\n"
        f"{moment} ##[error]Process completed with exit code 1.\n"
    )


@pytest.fixture
def session(place: Place) -> Session:
    """A session whose pull request is open, in a project that polls fast."""
    (place.root / ".lifecycle.toml").write_text(FAST)
    place.ready()
    session = Session(place)
    session.on_stop()
    return session


def red(place: Place, log: str, target: int | str = 46) -> None:
    """The check fails; it began a minute ago, since moments of GitHub's have whole seconds."""
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(target, "test", conclusion="failure", log=log, started_at=began)


def asked_for(place: Place, end: str) -> int:
    """How often something was asked of GitHub whose path ends so."""
    return sum(one.path.endswith(end) for one in place.requests())


def test_what_the_runner_broke_is_run_again_and_the_agent_hears_of_green_alone(
    session: Session,
) -> None:
    """A full disk: one rerun, no wake. It passes at the same commit: a flake, and in the statistics."""
    place = session.place
    red(place, LOST)
    place.control.plan_checks(PlannedCheck(name="test"))  # for another attempt
    waiter = session.waiter()
    with ended(waiter):
        green = heard(waiter)
    assert green.model == "CI passed! The only check is green. PR #46 is ready to merge.\n"
    assert asked_for(place, "/rerun-failed-jobs") == 1
    stats = json.loads(place.cli("stats", "--json").stdout)
    assert [one["check"] for one in stats["flakes"]] == ["test"]
    assert "test: dd: error writing '/mnt/x': No space left" in place.cli("stats").stdout


def test_a_failing_check_wakes_whatever_its_name_has_in_it(session: Session) -> None:
    """A name of other apps' is any text: one with a line break and the signs of our keys, too."""
    session.place.control.set_check(46, "a\nb:c/d", conclusion="failure")
    waiter = session.waiter()
    with ended(waiter):
        woken = heard(waiter).model
    assert "1 FAILED" in woken
    assert "Why, as far as CI" in woken


@SOAKED
def test_what_a_tick_told_is_read_by_the_waiter_and_ours_is_not_told_twice(
    session: Session,
) -> None:
    """What fails alike on the base is told as that; the agent's own, which it heard of, wakes it not."""
    place = session.place
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(
        "main", "test", conclusion="failure", log=failing("adds"), event="push", started_at=began
    )
    red(place, failing("adds"))
    assert "1 FAILED" in place.cli("tick", CLAUDE_CODE_SESSION_ID=session.id).stdout
    assert "Fix, commit and push" in session.start().model
    waiter = session.waiter()
    with ended(waiter):
        assert "fails the same way on its base" in heard(waiter).model
    assert "do not fix it here" in session.start("resume").model
    place.work()
    red(place, failing("adds", got="7").replace("test_adds", "test_ours"))
    assert "1 FAILED" in place.cli("tick", CLAUDE_CODE_SESSION_ID=session.id).stdout
    before = asked_for(place, "/logs")
    waiter = session.waiter()
    with ended(waiter):
        while asked_for(place, "/logs") == before:
            pass  # each look is a request, and the suite ends a test that hangs
        place.control.merge_pull(46)
        assert "1 FAILED" not in heard(waiter).model


def test_what_fails_on_the_base_too_is_told_and_not_to_be_fixed(session: Session) -> None:
    """By the test that fails, not by the check's name; what mends the base the agent is to take in.

    A start after that says the same. Until a waiter has read what became of a base that moved nobody is
    told to fix it, and a conflict that comes of the move is told with its own files.
    """
    place = session.place
    began = datetime.now(UTC) - timedelta(minutes=1)
    place.control.set_check(
        "main", "nightly", conclusion="failure", log=failing("adds"), event="push", started_at=began
    )
    red(place, failing("adds"))
    waiter = session.waiter()
    with ended(waiter):
        told = heard(waiter)
    assert "fails the same way on its base" in told.model
    assert 'tests/test_shop.py::test_adds"' in told.model
    assert "do not fix it here" in told.model
    place.control.push_commit("main", {"other.txt": "theirs\n"}, "Something else")
    assert session.idle().is_silent
    stands = session.start().model
    assert "do not fix it here" in stands
    assert "Fix, commit and push" not in stands
    place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs")
    waiter = session.waiter()
    with ended(waiter):
        conflict = heard(waiter)
    assert "In conflict:\n  | work.txt" in conflict.model
    assert "FAILED" not in conflict.model
    waiter = session.waiter()
    with ended(waiter):
        place.control.push_commit("main", {"shop.py": "adds = True\n"}, "Mend it")
        place.control.set_check("main", "test", event="push")
        mended = heard(waiter)
    assert "no longer fails" in mended.model
    assert "Merge the base branch, run the tests and push" in mended.model
    stands = session.start("resume").model
    assert "Merge the base branch, run the tests and push; the new head is watched." in stands
    assert "do not fix it here" not in stands
    assert asked_for(place, "/rerun-failed-jobs") == 0


@SOAKED
def test_two_heads_that_fail_alike_and_three_with_one_test_ask_the_person(
    session: Session,
) -> None:
    """The agent is woken while that changes something; then it is to ask, and is not woken for it again."""
    place = session.place
    wakes = []
    for number in range(4):
        red(place, failing("adds", got=str(number)))
        waiter = session.waiter()
        with ended(waiter):
            if number == 3:
                place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs")
            wakes.append(heard(waiter).model)
        if number < 3:
            place.work()
    assert ["1 FAILED" in said for said in wakes] == [True, True, False, False]
    assert "it failed at 3 heads" in wakes[2]
    assert wakes[2].count(".lifecycle/feedback/46-") == 3
    assert "conflicts with main" in wakes[3]
    assert "the agent was not woken" in session.prompt().person
    said = [place.cli("feedback", "go-on").stdout for _ in range(2)]
    assert "The agent is woken again for" in said[0]
    assert "nothing was changed" in said[1]


def test_a_fix_that_skips_the_test_is_named_and_holds_the_close_until_a_yes(
    session: Session,
) -> None:
    """To the agent, in the PR and to the user; `close = "auto"` is no yes, and the question says why."""
    place = session.place
    (place.root / ".lifecycle.toml").write_text(f'close = "auto"\n{FAST}')
    red(place, failing("adds"))
    waiter = session.waiter()
    with ended(waiter):
        assert "1 FAILED" in heard(waiter).model
    tests = place.root / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_shop.py").write_text(
        "import pytest\n\n@pytest.mark.skip\ndef test_adds(): ...\n"
    )
    place.git("add", "tests")
    place.work()
    waiter = session.waiter()
    with ended(waiter):
        weakens = heard(waiter)
    named = "skips a test in tests/test_shop.py"
    assert named in weakens.model
    assert named in session.prompt().person
    assert named in place.control.world()["pulls"]["46"]["body"]
    waiter = session.waiter()
    with ended(waiter):
        place.control.merge_pull(46)
        question = heard(waiter)
    assert "Should I close issue #42?" in question.model
    assert named in question.model
    assert place.claim()["phase"] == "merged_detected"
    session.prompt("yes")
    place.write(**{**place.claim(), "phase": "done"})
    session.on_stop()
    assert not place.has_claim()


def test_what_is_taken_back_weakens_nothing_any_more(session: Session) -> None:
    """The question about closing does not name it; another one is named anew."""
    place = session.place
    red(place, failing("adds"))
    waiter = session.waiter()
    with ended(waiter):
        assert "1 FAILED" in heard(waiter).model
    tests = place.root / "tests"
    tests.mkdir(exist_ok=True)
    for name in ("one", "other"):
        skipping = tests / f"test_{name}.py"
        skipping.write_text("import pytest\n\n@pytest.mark.skip\ndef test_adds(): ...\n")
        place.git("add", "tests")
        place.work()
        session.idle()
        named = f"skips a test in tests/test_{name}.py"
        assert named in session.prompt().person
        assert named in place.control.world()["pulls"]["46"]["body"]
        place.git("rm", "--quiet", "-f", f"tests/test_{name}.py")
        place.work()
        session.idle()
        assert named not in session.prompt().person
    waiter = session.waiter()
    with ended(waiter):
        place.control.merge_pull(46)
        question = heard(waiter).model
    assert "Should I close issue #42?" in question
    assert "weakened" not in question
