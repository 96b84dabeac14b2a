"""Every event alone, twice, and at once: one message to whom it belongs, one write on GitHub.

A plugin's hooks and the same hooks in settings both run, and the client starts the hooks of one event
together. So whatever runs twice must come to what runs once comes to.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.claim.engine import look
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.plan import Audience, Wake
from lifecycle.sandbox.server import Sandbox
from lifecycle.storage import store
from tests.conftest import Place
from tests.e2e.client import Heard, Session, ended, heard
from tests.e2e.forked import Forked
from tests.e2e.scene import Scene

SOAKED = pytest.mark.soak(
    "e2e/test_doubled.py::test_a_stop_with_a_hand_off",
    "claim/test_presence.py::test_the_owners_news_is_the_owners",
)

ONE = "11111111-aaaa-4bbb-8ccc-000000000001"
FAST = "[checks]\npoll_seconds = 0.05\n"
QUESTION = "PR #46 merged! Should I close issue #42?"
MOVED = 'was moved to "Todo"'

WAYS: dict[str, list[int]] = {
    "alone": [1],
    "twice": [1, 1],
    "two at once": [2],
    "six at once": [6],
}
"""How often an event comes: so many copies at once, one batch after the other."""


@dataclass(frozen=True)
class Double:
    """One session whose hooks are installed any number of times."""

    session: Session
    sandbox: Sandbox
    folder: Path

    @property
    def place(self) -> Place:
        """The worktree."""
        return self.session.place

    def ways(self) -> Iterator[list[int]]:
        """Go back to how things are now, once for each way in which the event may come."""
        scene = Scene(self.sandbox, self.place, self.folder)
        for batches in WAYS.values():
            scene.restore()
            yield batches

    def batches(self, sizes: list[int], hook: str, **more: Any) -> list[Heard]:
        """Run that many copies of a hook at once, one batch after the other."""
        replies: list[Heard] = []
        for size in sizes:
            processes = [self.session.begin(hook, **more) for _ in range(size)]
            with ended(*processes):
                replies += [heard(process) for process in processes]
        return replies

    def writes(self) -> list[tuple[str, str]]:
        """What GitHub was asked to change: the method, and what."""
        return sorted(
            (request.method, request.operation or request.path.rpartition("/")[2])
            for request in self.place.writes()
        )


@pytest.fixture
def double(running: Sandbox, place: Place, forked: Forked, tmp_path: Path) -> Double:
    """A pushed branch and a claim that asks for its PR."""
    folder = tmp_path / "scene"
    folder.mkdir()
    (place.root / ".lifecycle.toml").write_text(FAST)
    place.ready()
    session = Session(place, ONE, {"LIFECYCLE_BIN": str(forked.command)})
    return Double(session, running, folder)


def the_one(replies: list[Heard]) -> Heard:
    """The only reply that says anything; all others end with 0 and say nothing."""
    (found,) = [reply for reply in replies if not reply.is_silent]
    assert all(reply.code == 0 for reply in replies if reply is not found)
    return found


def open_pr(double: Double) -> None:
    """The PR was opened, in the session of a person who has written something."""
    double.session.prompt("hand off")
    assert "PR #46 created" in double.session.on_stop().model


def wait_in_line(double: Double) -> None:
    """A question and a note lie on the queue: a look saw merge and card, and could tell nobody."""
    open_pr(double)
    double.place.control.set_field(42, "Status", "Todo")
    double.place.control.merge_pull(46)
    with double.place.tree() as tree:
        look.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
        assert {say.audience for say in tree.claim_store.ledger.waiting()} == {
            Audience.ASK,
            Audience.NOTE,
        }


def test_a_stop_with_a_hand_off(double: Double) -> None:
    """One PR, one write of the card, one "PR created", from on-stop; and one waiter that lives."""
    place = double.place
    for sizes in double.ways():
        with ExitStack() as stack:
            stops: list[Heard] = []
            waiters: list[subprocess.Popen[bytes]] = []
            for size in sizes:
                started = [double.session.waiter() for _ in range(size)]
                stack.enter_context(ended(*started))
                waiters += started
                stops += double.batches([size], "on-stop")
            created = the_one(stops)
            assert created.code == 0
            assert created.model.startswith("PR #46 created")
            assert not created.person
            assert double.writes() == [("POST", "OpenPullRequest")]
            place.control.merge_pull(46)
            news = the_one([heard(waiter) for waiter in waiters])
            assert news.woke
            assert news.model.startswith(QUESTION)
        assert double.writes() == [("POST", "OpenPullRequest")]


@SOAKED
def test_a_stop_that_closes(double: Double) -> None:
    """One comment, one close, one write of the card, and the person is told once."""
    open_pr(double)
    double.place.control.merge_pull(46)
    assert double.session.idle().woke
    double.session.prompt("yes, close it")
    double.place.write(phase="done")
    for sizes in double.ways():
        told = the_one(double.batches(sizes, "on-stop"))
        assert told.person.startswith("Issue #42 closed.")
        assert not told.model
        assert double.writes() == [("POST", "CommentAndClose")]
        (comment,) = double.place.issue()["comments"]
        assert comment["body"].startswith("Completed in #46")
        assert double.place.issue()["state"] == "closed"
        assert double.place.card()["Status"] == "Done"
        assert not double.place.has_claim()


@SOAKED
def test_an_idle_notification(double: Double) -> None:
    """Several copies of on-idle see the failed check: one wakes, with exit 2; nothing is written."""
    open_pr(double)
    double.place.control.set_check(46, "test", conclusion="failure")
    for sizes in double.ways():
        woken = the_one(double.batches(sizes, "on-idle"))
        assert woken.woke
        assert woken.model.count("1 FAILED") == 1
        assert double.writes() == []


@SOAKED
def test_an_idle_notification_beside_waiters(double: Double) -> None:
    """Waiters and on-idle look at the same merge at the same time: one of them all wakes."""
    open_pr(double)
    double.place.control.merge_pull(46)
    for sizes in double.ways():
        waiters = [double.session.waiter() for _ in range(sum(sizes))]
        with ended(*waiters):
            replies = double.batches(sizes, "on-idle")
            news = the_one([*replies, *(heard(waiter) for waiter in waiters)])
        assert news.woke
        assert news.model.startswith(QUESTION)
        assert double.writes() == []


@SOAKED
def test_a_prompt_of_a_person(double: Double) -> None:
    """What waits is delivered once: the question to the model, the note to the person."""
    wait_in_line(double)
    for sizes in double.ways():
        said = the_one(double.batches(sizes, "user-prompt-submit"))
        assert said.model.startswith(QUESTION)
        assert MOVED in said.person
        assert MOVED not in said.model
        assert double.place.requests() == []


@SOAKED
def test_a_prompt_that_a_wake_made(double: Double) -> None:
    """Nothing is delivered with it, however often it comes; the next person's prompt has it all."""
    wait_in_line(double)
    prompt = "<task-notification>\nCI passed!\n</task-notification>"
    for sizes in double.ways():
        replies = double.batches(sizes, "user-prompt-submit", prompt=prompt)
        assert all(reply.is_silent and reply.code == 0 for reply in replies)
        assert double.session.prompt().model.startswith(QUESTION)


@SOAKED
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_a_start(double: Double, source: str) -> None:
    """One copy tells the claim, the question and the board, and hands out what waits."""
    wait_in_line(double)
    for sizes in double.ways():
        said = the_one(double.batches(sizes, "session-start", source=source))
        assert said.code == 0
        assert said.model.startswith("Claim: issue #42")
        assert said.model.count(QUESTION) == 1
        assert said.person.count(MOVED) == 1
        assert 'Board "hello-service roadmap"' in said.model
        asked = [request.operation for request in double.place.requests()]
        # Whether they begin at once or after an answer: the others wait for it, and ask nothing.
        assert (len(asked), {*asked}) == (2, {"BriefBoard", "ObserveClaim"})


@SOAKED
def test_an_end(double: Double) -> None:
    """Nothing is said or asked; whose session ended is noted, and the next one goes on."""
    open_pr(double)
    for sizes in double.ways():
        replies = double.batches(sizes, "session-end")
        assert all(reply.is_silent and reply.code == 0 for reply in replies)
        assert (double.place.root / ".lifecycle/ended").read_text() == f"{ONE}\n"
        assert double.place.requests() == []


def plugin(double: Double, *, command: str = "") -> Double:
    """The same session as the plugin's copies of the hooks see it."""
    root = double.place.root.parent / "plugin"
    root.mkdir(exist_ok=True)
    known = {**double.session.environment, "CLAUDE_PLUGIN_ROOT": str(root)}
    environment = {**known, "LIFECYCLE_BIN": command} if command else known
    return replace(double, session=replace(double.session, environment=environment))


Begin = Callable[[Double], None]


def nothing(_double: Double) -> None:
    """The hand-off of the fixture is what the event finds."""


def fail_a_check(double: Double) -> None:
    """CI fails."""
    open_pr(double)
    double.place.control.set_check(46, "test", conclusion="failure")


def merge(double: Double) -> None:
    """A person merges: for a waiter that has told it, nothing is left to wait for."""
    open_pr(double)
    double.place.control.merge_pull(46)


EVENTS: list[tuple[str, Begin, str]] = [
    ("on-stop", nothing, "PR #46 created"),
    ("on-idle", fail_a_check, "1 FAILED"),
    ("ci-waiter", merge, QUESTION),
    ("user-prompt-submit", wait_in_line, QUESTION),
    ("session-start", wait_in_line, QUESTION),
]


@pytest.mark.once("test_sessions.py has the mark to which the plugin's copies yield")
@pytest.mark.parametrize(("hook", "begin", "words"), EVENTS, ids=[event[0] for event in EVENTS])
def test_the_plugins_copy_and_inits_copy(
    double: Double, tmp_path: Path, hook: str, begin: Begin, words: str
) -> None:
    """With init's mark the plugin's copy ends in the shell; wired twice without it: one message too."""
    begin(double)
    scene = Scene(double.sandbox, double.place, double.folder)
    for is_marked in (True, False):
        scene.restore()
        if is_marked:
            spy = tmp_path / "spy"
            spy.write_text("#!/bin/sh\nexit 9\n")
            spy.chmod(0o755)
            mark = double.place.root / ".claude/lifecycle.json"
            mark.parent.mkdir()
            mark.write_text("{}\n")
            assert heard(plugin(double, command=str(spy)).session.begin(hook)).code == 0
        processes = [copy.session.begin(hook) for copy in (double, plugin(double))]
        with ended(*processes):
            replies = [heard(process) for process in processes]
        assert the_one(replies).model.count(words) == 1
        if is_marked:
            assert replies[1].is_silent
            mark.unlink()
            mark.parent.rmdir()
        expected = [("POST", "OpenPullRequest")] if hook == "on-stop" else []
        assert double.writes() == expected


@SOAKED
def test_the_command_itself_doubled(double: Double) -> None:
    """Not forked but started, as installed twice: one PR and one message; one briefing of a start."""
    real = {k: v for k, v in double.session.environment.items() if k != "LIFECYCLE_BIN"}
    started = replace(double, session=replace(double.session, environment=real))
    assert the_one(started.batches([2], "on-stop")).model.startswith("PR #46 created")
    assert double.writes() == [("POST", "OpenPullRequest")]
    told = the_one(started.batches([2], "session-start"))
    assert told.model.startswith("Claim: issue #42")


@SOAKED
def test_a_start_beside_a_process_that_holds_the_lock(double: Double) -> None:
    """A look at a slow GitHub keeps the lock: the start shows claim and question all the same.

    What waits on the queue is not taken without the lock; it comes with the next prompt.
    """
    wait_in_line(double)
    with store.Folder(double.place.root).locked(0):
        said = double.session.start()
    assert said.model.startswith("Claim: issue #42")
    assert said.model.count(QUESTION) == 1
    assert MOVED not in said.person
    assert MOVED in double.session.prompt().person
