"""A waiter at rest: the small process notices what the whole one has to decide, and gives place to it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.feedback.waiting.look_rounds import SharedAnswer
from lifecycle.feedback.waiting.shared_looks import SharedLooks
from lifecycle.hooks import quick_wait, stdin_event
from lifecycle.hooks.quick_wait import REST, Rest
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Place

NOW = 1_000_000.0
TOKEN = "ghp_" + "t" * 36


class _Clock:
    """Time that passes where somebody listens."""

    def __init__(self) -> None:
        self.passed = self.set_back = 0.0

    def now(self) -> float:
        return NOW + self.passed - self.set_back

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


class _Ground:
    """A worktree whose waiter rests, a client that listens, and what it does at a moment."""

    def __init__(self, root: Path, **changes: Any) -> None:
        self.root = root
        self.claim = root / ".agent-claim.json"
        self.claim.write_text("{}")
        self.folder = Folder(root)
        self.folder.make()
        known = {
            "root": str(root), "session": "s", "ids": ["PR_1"], "looked": NOW, "again": NOW + 120,
            "until": None, "every": 120.0, "url": "http://127.0.0.1:9/graphql", "token": TOKEN,
            "source": "GH_TOKEN", "path": str(root / "looks" / "one.json"),
            "dates": quick_wait.dates({str(self.claim): None}),
        }  # fmt: skip
        self.rest: Rest = {**known, **changes}  # type: ignore[typeddict-item]  # all of its keys
        self.clock = _Clock()
        self.asked: list[float] = []

    def rests(self) -> bool:
        """Wait; what GitHub says is not the point."""
        return quick_wait.rests(self.rest, self.clock, self._asked)

    def _asked(self, now: float) -> float:
        self.asked.append(now - NOW)
        return now + 120 if len(self.asked) < 3 else now

    def heard(self, seconds: float, _environment: object) -> bool:
        """The client listens; half an hour later it is gone."""
        self.clock.passed += seconds
        return self.clock.passed < 1_800


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Ground:
    """One that is asked about every two minutes, and is to be looked at whole at the third time."""
    made = _Ground(tmp_path)
    monkeypatch.setattr(quick_wait, "is_heard", made.heard)
    return made


def test_it_asks_when_that_is_due_until_there_is_more_to_do(ground: _Ground) -> None:
    """What is unchanged is asked for again; what is to be looked at whole ends the rest."""
    assert ground.rests()
    assert ground.asked == [120, 240, 360]


def test_it_promises_to_be_back(ground: _Ground) -> None:
    """The guards in `sh` see a waiter of this session, and start no other."""
    assert ground.rests()
    assert signs_of_life.is_live(ground.folder, NOW + 361, "s")
    signs_of_life.promise(ground.folder, "another", NOW + 400)
    assert [signs_of_life.is_live(ground.folder, NOW, who) for who in ("s", "another")] == [
        False,
        True,
    ]


def test_a_changed_file_ends_the_rest_at_once(ground: _Ground) -> None:
    """Whatever somebody writes is for the whole path to read."""
    os.utime(ground.claim, (1, 1))
    assert ground.rests()
    assert ground.clock.passed <= quick_wait.SLICE_SECONDS <= 3  # forked waiters of tests rest less
    assert ground.asked == []


def test_a_moment_that_asks_for_more_ends_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reviews that are due, or a token that ends, are not what the small process knows."""
    ground = _Ground(tmp_path, until=NOW + 60)
    monkeypatch.setattr(quick_wait, "is_heard", ground.heard)
    assert ground.rests()
    assert (ground.clock.passed, ground.asked) == (60, [])


def test_a_clock_that_was_set_back_ends_the_rest(
    ground: _Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When to ask was named by the clock of before: the whole path reckons anew, not a day later."""

    def set_back(seconds: float, environment: object) -> bool:
        ground.clock.set_back = 86_400.0
        return ground.heard(seconds, environment)

    monkeypatch.setattr(quick_wait, "is_heard", set_back)
    assert ground.rests()
    assert (ground.clock.passed, ground.asked) == (quick_wait.RECKON_SECONDS, [])


def test_it_ends_with_its_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that is gone is waited for no longer."""
    ground = _Ground(tmp_path, again=NOW + 86_400)
    monkeypatch.setattr(quick_wait, "is_heard", ground.heard)
    assert not ground.rests()
    assert ground.clock.passed < 1_900


@pytest.mark.parametrize(("is_whole", "again"), [(True, NOW), (False, NOW + 120)])
def test_what_is_to_be_looked_at_whole_is_due_now(
    ground: _Ground, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool, again: float
) -> None:
    """Whatever moment the shared looks name for the next who asks."""
    answer = SharedAnswer(is_whole, NOW + 120)
    monkeypatch.setattr(SharedLooks, "ask", lambda *_: answer)
    assert quick_wait.asking(ground.rest, ground.clock)(NOW) == again


def test_a_waiter_whose_rest_is_over_begins_anew(
    ground: _Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After hours its files may be another version's, which do not fit the modules that it has imported."""
    ground.claim.unlink()
    given: list[bytes] = []
    monkeypatch.setattr(stdin_event, "read_input", lambda: {REST: ground.rest})
    monkeypatch.setattr(quick_wait, "give_place", given.append)
    quick_wait.run()
    assert given == [b'{"session_id": "s"}']


def test_no_other_process_is_begun_anew() -> None:
    """Only one that was started as that hook: this one runs tests."""
    assert not quick_wait.can_rest()


@pytest.mark.started  # the process that goes on with its whole path is the point
def test_what_changed_meanwhile_is_told_by_the_whole_path(place: Place) -> None:
    """The pull request was merged while the waiter rested: the same process wakes the session with it."""
    place.ready()
    place.hook("on-stop")
    place.control.merge_pull(place.pull())
    rest = {
        "root": str(place.root), "session": "", "ids": ["PR_unknown"], "looked": 1.0, "again": 1.0,
        "until": None, "every": 120.0, "url": place.info.graphql_url, "token": place.info.token,
        "source": "GH_TOKEN", "path": str(place.root.parent / "looks" / "one.json"), "dates": {},
    }  # fmt: skip
    place.control.clear_requests()
    told = place.run(
        str(place.command), "hook", "ci-waiter", stdin=json.dumps({REST: rest}).encode()
    )
    assert told.returncode == 2, told.stderr
    assert "merged" in told.stderr
    asked = [one.operation for one in place.control.requests() if one.kind != "git"]
    assert asked[0] == "DigestPulls"
    assert asked[-1] == "ObserveClaim"
