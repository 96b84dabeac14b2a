"""Killed at any write, to disk or to GitHub: the next looks converge."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from lifecycle.api import Wake
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.timing import DeadlineReached
from lifecycle.git import lease
from lifecycle.github.board.board_client import GitHubBoard
from lifecycle.github.operations.joint_writes import JointWrites
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.storage import store
from tests.claim.steps import WAYS, go
from tests.conftest import BRANCH, Place
from tests.factories import texts
from tests.repeated import DEATHS


class CrashError(BaseException):
    """The process ends here, as if killed."""


def crash_at(
    monkeypatch: pytest.MonkeyPatch,
    moment: int,
    *,
    after: bool,
    more: tuple[tuple[Any, str], ...] = (),
) -> list[str]:
    """End the process before or after the `moment`-th write, to disk or to GitHub or one of `more`.

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
        (ClaimStore, "forget"),
        (GitHubForge, "create_pull_request"),
        (GitHubForge, "comment"),
        (GitHubForge, "close_issue"),
        (GitHubForge, "unassign"),
        (GitHubForge, "move_ref"),
        (GitHubBoard, "set_fields"),
        (JointWrites, "send"),
        (lease, "release"),
        *more,
    ]:
        monkeypatch.setattr(owner, name, staged(name, getattr(owner, name)))
    return seen


@pytest.mark.soak(
    "e2e/test_killed.py::test_on_stop_killed_while_it_opens_the_pull_request",
    "claim/test_opening_steps.py::test_an_open_pull_request_is_adopted",
)
@WAYS
@DEATHS
def test_a_crash_at_any_write_while_opening_converges(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool, is_joined: bool
) -> None:
    """Killed before or after each write in turn: always one PR, one message, the board right."""
    go(monkeypatch, is_joined=is_joined)
    place.knows_board()
    moment = 0
    while True:
        moment += 1
        branch = f"{BRANCH}-{after}-{moment}"
        place.work(branch)
        place.control.set_field(42, "Status", "In Progress")
        place.forget()
        place.ready(branch=branch, last_synced_status="In Progress", status="In Progress")
        place.work(branch, push=False)
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after)
            try:
                place.tree().tick(Wake.STOP)
            except CrashError:
                pass
            else:
                assert ("send" if is_joined else "create_pull_request") in seen
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
    assert moment > (5 if is_joined else 8)


@pytest.mark.parametrize("cut", [CrashError, DeadlineReached])
def test_what_a_single_write_was_about_to_create_is_known_whatever_cut_it_off(
    place: Place, monkeypatch: pytest.MonkeyPatch, cut: type[BaseException]
) -> None:
    """The intent lies on disk before the request goes out; out of time, it failed as one without answer."""
    go(monkeypatch, is_joined=False)
    place.ready()

    def cut_off(*_: object, **__: object) -> None:
        raise cut

    with monkeypatch.context() as patch, suppress(CrashError):
        patch.setattr(GitHubForge, "create_pull_request", cut_off)
        report = place.tree().tick(Wake.STOP)
        assert report.problem is not None
    left = json.loads((place.root / ".lifecycle/state.json").read_text())["record"]
    assert "OpenPullRequest" in left["intents"]
    whys = [trouble["sentence"] for trouble in left["troubles"].values()]
    assert whys == (["The answer did not come in time."] if cut is DeadlineReached else [])


@WAYS
@DEATHS
def test_a_crash_at_any_write_while_closing_converges(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool, is_joined: bool
) -> None:
    """Killed before or after each write in turn: one comment, closed, Done, and the file gone."""
    go(monkeypatch, is_joined=is_joined)
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
        place.forget()
        again = json.loads(claim) | {"pr_number": number, "branch": f"{BRANCH}-{moment}"}
        (place.root / ".agent-claim.json").write_text(json.dumps(again))
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after)
            try:
                place.tree().tick(Wake.STOP)
            except CrashError:
                pass
            else:
                assert ("send" if is_joined else "close_issue") in seen
                break
        for _ in range(5):
            place.clock.sleep(130)
            place.tree().tick(Wake.STOP)
        assert len(place.issue()["comments"]) == before + 1, (moment, seen)
        assert place.issue()["state"] == "closed", (moment, seen)
        assert place.card()["Status"] == "Done", (moment, seen)
        assert not place.card().get("Agent"), (moment, seen)
        assert not place.has_claim(), (moment, seen)
    assert moment > (6 if is_joined else 10)


@pytest.mark.soak(
    "claim/test_crashes.py::test_a_crash_at_any_write_while_closing_converges",
    "claim/test_releasing.py::test_what_a_killed_run_did_is_found_and_not_done_again",
)
@DEATHS
def test_a_crash_at_any_write_while_giving_back_converges(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Killed before or after each write in turn: one comment, the task free, the work kept."""
    moment = 0
    while True:
        moment += 1
        before = len(place.issue()["comments"])
        place.clock.sleep(1000)
        record = place.tree().claim(42).record
        branch = record.claim.branch
        place.work(branch)
        head = place.git("rev-parse", "HEAD")
        with monkeypatch.context() as patch:
            seen = crash_at(patch, moment, after=after)
            try:
                place.tree().release("enough")
            except CrashError:
                pass
            else:
                assert "unassign" in seen
                break
        for _ in range(4):
            place.clock.sleep(130)
            place.tree().tick(Wake.STOP)
        if place.has_claim():
            left = place.tree().status()
            assert left is not None
            assert left.ending.releasing is None, (moment, seen, "what was begun goes on by itself")
            place.tree().release("enough")  # killed before it was noted: asked for again
        assert len(place.issue()["comments"]) == before + 1, (moment, seen)
        assert place.issue()["assignees"] == [], (moment, seen)
        assert place.card()["Status"] == "Todo", (moment, seen)
        assert not place.card().get("Agent"), (moment, seen)
        refs = place.control.world()["refs"]
        assert "refs/agent-claims/42" not in refs, (moment, seen)
        assert refs[f"refs/heads/{branch}"] == head == place.git("rev-parse", branch)
        assert not place.has_claim(), (moment, seen)
        assert place.issue()["state"] == "open", (moment, seen)
    assert moment > 10


def _merged_again(place: Place, moment: int) -> int:
    branch = f"{BRANCH}-{moment}"
    place.work(branch)
    number = place.control.open_pull(branch, "Again", body="Refs #42")
    place.control.merge_pull(number)
    return int(number)
