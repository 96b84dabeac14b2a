"""Killed by SIGKILL at every point: nothing is said twice, no question is lost, and the rest converges.

Each test takes one hook through one story: the hook is killed before its first moment (`killer.py`), before
its second, and so on until one run comes to its end. After each kill the client goes on with hooks that
nobody kills, through the same scripts. What a killed hook may cost is one thing: a sentence that it had
marked as offered and did not get to print.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lifecycle.claim.engine import look
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.plan import Audience, Wake
from lifecycle.sandbox.server import Sandbox
from lifecycle.storage import workflow_marks
from lifecycle.storage.signs_of_life import ALWAYS
from tests.conftest import BRANCH, Place
from tests.e2e.client import SECONDS, Heard, Session, heard
from tests.e2e.forked import Forked
from tests.e2e.killer import AHEAD, EDIT, KILL_AT, KILL_NOTE, KILL_WITH
from tests.e2e.scene import Scene
from tests.e2e.test_sessions import gone
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_killed.py::test_on_stop_killed_while_it_opens_the_pull_request",
    "claim/test_crashes.py::test_a_crash_at_any_write_while_closing_converges",
)

ONE, TWO = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
FAST = "[checks]\npoll_seconds = 0.05\n"
QUESTION = "PR #46 merged! Should I close issue #42?"
MARKS = ("due", "idle-due")


@dataclass(frozen=True)
class Kill:
    """What a hook left when it was killed.

    Attributes:
        moments: the names of the moments that came; it was killed right before the last one.
        text: what it had printed.
        offered: the keys of what was marked as offered.
    """

    moments: list[str]
    text: str
    offered: frozenset[str]

    def left(self, words: str, key: str) -> int:
        """How often the sentence has to be said from now on: not again, if it was said or marked."""
        is_offered = any(key in known for known in self.offered)
        assert is_offered or words not in self.text, "it was printed before it was marked"
        return 0 if is_offered else 1


@dataclass
class Story:
    """One worktree, its two sessions, and a scene to which it goes back."""

    place: Place
    sandbox: Sandbox
    command: str
    folder: Path
    ahead: float = 0.0
    heard: list[Heard] = field(default_factory=list)

    def session(self, name: str = ONE, **environment: str) -> Session:
        """A session of the client; its hooks start forks."""
        ahead = {AHEAD: str(self.ahead)} if self.ahead else {}
        return Session(self.place, name, {"LIFECYCLE_BIN": self.command, **ahead, **environment})

    def cli(self, *arguments: str, session: str = ONE) -> str:
        """The agent, or (without a session) a person, runs `lifecycle`."""
        asks = {"CLAUDE_CODE_SESSION_ID": session}
        done = self.place.run(self.command, *arguments, stdin=b"", **asks)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def kills(
        self, hook: str, *, at_least: int, session: str = ONE, every: int = 1, **more: Any
    ) -> Iterator[Kill]:
        """Put the story back and kill the hook, at each or every N-th of its moments, until it survives."""
        scene = Scene(self.sandbox, self.place, self.folder)
        moment, at_end = 1 - every, False
        while not at_end:
            moment += every
            scene.restore()
            self.ahead = 0.0
            self.heard = []
            kill = self.kill(hook, moment, session, **more)
            at_end = kill.moments[-1] == "end"
            yield kill
        assert moment >= at_least, moment

    def cuts(self, hook: str, *, at_least: int) -> Iterator[Kill]:
        """Put the story back and let the hook's time be up, at each of its moments, until it prints."""
        scene = Scene(self.sandbox, self.place, self.folder)
        for moment in range(1, 100):
            scene.restore()
            self.ahead = 0.0
            self.heard = []
            kill = self.kill(hook, moment, with_signal=signal.SIGALRM)
            if kill.moments[moment - 1 :] == ["print"]:  # the alarm is not set any more
                break
            yield kill
        assert at_least < moment < 99, moment

    def kill(
        self,
        hook: str,
        moment: int,
        session: str = ONE,
        with_signal: signal.Signals = signal.SIGKILL,
        **more: Any,
    ) -> Kill:
        """Run the hook, and kill it right before its N-th moment."""
        note = self.folder / "note"
        note.unlink(missing_ok=True)
        kills = {KILL_AT: str(moment), KILL_NOTE: str(note), KILL_WITH: with_signal.name}
        staged = self.session(session, **kills, LIFECYCLE_HOOK_SECONDS="180")
        process = staged.begin(hook, **more)
        stdout, stderr = process.communicate(timeout=SECONDS)
        moments = note.read_text().splitlines()
        # A save that changes nothing is no moment: with all of its dates in one second, a run has fewer.
        is_over = moments[-1] == "end" and len(moments) < moment
        survives = is_over or (with_signal is signal.SIGALRM and process.returncode == 0)
        assert survives or process.returncode == -with_signal, (hook, moment, stdout, stderr)
        state = self.place.root / ".lifecycle/state.json"
        said = json.loads(state.read_text()).get("said", {}) if state.exists() else {}
        offered = frozenset(key for key, entry in said.items() if "offered" in entry)
        text = "".join(_texts(json.loads(stdout))) if stdout else stderr.decode()
        return Kill(moments, text, offered)

    def goes_on(self, *hooks: str, session: str = ONE, **more: Any) -> None:
        """The client runs these hooks to their end."""
        for hook in hooks:
            self.heard.append(heard(self.session(session).begin(hook, **more)))
            self._bring_marks_back()

    def later(self, seconds: float) -> None:
        """Time passes: for the processes, and for the guards, which read the files' dates."""
        self.ahead += seconds
        for name in MARKS:
            self._date(name, seconds)

    def count(self, words: str) -> int:
        """In how many replies since the kill a sentence stood."""
        return sum(words in f"{reply.model}\n{reply.person}" for reply in self.heard)

    def _bring_marks_back(self) -> None:
        """A fork whose clock is ahead dates marks by that clock; the guards know the real one."""
        if self.ahead:
            for name in MARKS:
                path = self.place.root / ".lifecycle" / name
                if path.exists() and path.stat().st_mtime > time.time():
                    self._date(name, self.ahead)

    def _date(self, name: str, back: float) -> None:
        path = self.place.root / ".lifecycle" / name
        if path.exists():
            moment = max(path.stat().st_mtime - back, ALWAYS)  # a date before 1970 is none
            os.utime(path, (moment, moment))


def _texts(reply: Any) -> Iterator[str]:
    if isinstance(reply, dict):
        for value in reply.values():
            yield from _texts(value)
    else:
        yield f"{reply}\n"


@pytest.fixture
def story(running: Sandbox, place: Place, forked: Forked, tmp_path: Path) -> Story:
    """A pushed branch, a claim that asks for its PR, and a project that polls fast."""
    folder = tmp_path / "scene"
    folder.mkdir()
    (place.root / ".lifecycle.toml").write_text(FAST)
    place.ready(x_note="mine")
    return Story(place, running, str(forked.command), folder)


def in_review(story: Story) -> None:
    """The PR was opened, and the person has written something."""
    story.goes_on("user-prompt-submit", "on-stop")
    assert story.place.claim()["phase"] == "pr_created"


def assert_whole(place: Place, **expected: Any) -> None:
    """No field of the claim was lost, the agent's and unknown ones included."""
    claim = place.claim()
    known = {
        "schema_version": 1,
        "issue_number": 42,
        "branch": BRANCH,
        "agent_id": "octocat-1",
        "summary": "Fix race condition",
        "item_id": place.item_id(),
        "pr_number": 46,
        "status": "In Review",
        "last_synced_status": "In Review",
        "x_note": "mine",
    }
    assert claim | known | expected == claim


def opened(place: Place) -> int:
    """How often a pull request was asked for: alone, or in one request with its card."""
    alone = [r for r in place.requests() if r.method == "POST" and r.path.endswith("/pulls")]
    return len(alone) + [r.operation for r in place.requests()].count("OpenPullRequest")


def assert_asked(story: Story) -> None:
    """The question is open: the next start of the claim's session shows it, and so does `status`."""
    start = heard(story.session(ONE).begin("session-start"))
    assert start.model.count(QUESTION) == 1
    assert QUESTION in story.cli("status", session="")


@pytest.mark.parametrize("every", [2, soaked(1)])
def test_on_stop_killed_while_it_opens_the_pull_request(story: Story, every: int) -> None:
    """One PR, asked for once; the card in step; "PR #46 created" once, unless it was marked as offered.

    No temporary file of the killed process stays, neither beside the claim nor in `.lifecycle/`.
    """
    place = story.place
    story.goes_on("session-end")
    for kill in story.kills("on-stop", at_least=20, every=every):
        story.goes_on("on-stop")
        assert not list(place.root.rglob("*.tmp")), (kill, "what a kill leaves is swept up")
        story.goes_on("on-stop", "user-prompt-submit")
        assert [n for n, pull in place.pulls().items() if pull["state"] == "open"] == [46]
        assert opened(place) == 1, kill
        assert_whole(place, phase="pr_created")
        assert place.card() | {"Status": "In Review", "Agent": "octocat-1"} == place.card()
        assert story.count("PR #46 created") == kill.left("PR #46 created", "/pr:46"), kill


@SOAKED
def test_a_stop_whose_time_is_up_at_any_moment_is_gone_on_with(story: Story) -> None:
    """What it marked as offered it says; else a later stop gets past the guard, and does and says it."""
    place = story.place
    story.goes_on("session-end")
    for kill in story.cuts("on-stop", at_least=20):
        said = kill.text.count("PR #46 created")
        assert said or (place.root / ".lifecycle/due").exists(), kill
        for _ in range(2):
            story.later(130)
            story.goes_on("on-stop")
        assert [n for n, pull in place.pulls().items() if pull["state"] == "open"] == [46], kill
        assert opened(place) == 1, kill
        assert_whole(place, phase="pr_created")
        assert place.card() | {"Status": "In Review", "Agent": "octocat-1"} == place.card()
        assert said + story.count("PR #46 created") == 1, kill


def done(story: Story) -> None:
    """The task was claimed, handed off and merged, the user said yes, and the agent wrote so."""
    place = story.place
    (place.root / ".agent-claim.json").unlink()
    place.git("switch", "--quiet", "main")
    story.cli("claim", "42")
    branch = place.claim()["branch"]
    place.work(branch)
    story.cli("handoff", "--summary", "Fix race condition")
    story.goes_on("user-prompt-submit", "on-stop")
    place.control.merge_pull(46)
    story.goes_on("ci-waiter", "user-prompt-submit")
    assert story.count(QUESTION) == 1
    assert "refs/agent-claims/42" in place.control.world()["refs"]
    place.write(phase="done")


def assert_closed(place: Place, kill: Kill) -> None:
    """One comment, one close, board Done, lease gone, file gone."""
    asked = [(r.method, r.path.rpartition("/")[2]) for r in place.requests()]
    # Alone, if not in one request with the others, which the comment itself tells of.
    assert asked.count(("POST", "comments")) <= 1, kill
    assert asked.count(("PATCH", "42")) <= 1, kill
    (comment,) = place.issue()["comments"]
    assert comment["body"].startswith("Completed in #46")
    assert place.issue()["state"] == "closed"
    assert place.card()["Status"] == "Done"
    assert not place.card().get("Agent")
    assert "refs/agent-claims/42" not in place.control.world()["refs"]
    assert not place.has_claim()
    assert not (place.root / ".lifecycle/closing.json").exists(), kill


@SOAKED
def test_a_closing_whose_time_is_up_at_any_moment_is_gone_on_with(story: Story) -> None:
    """Cut off anywhere, also between two steps of the deletion, it is ended by a later stop, and told."""
    done(story)
    told = "Issue #42 closed."
    for kill in story.cuts("on-stop", at_least=20):
        for _ in range(2):
            story.later(130)
            story.goes_on("on-stop")
        story.goes_on("on-stop", "user-prompt-submit")
        assert_closed(story.place, kill)
        assert kill.text.count(told) + story.count(told) == 1, kill


@SOAKED
def test_on_stop_killed_while_it_closes_the_issue(story: Story) -> None:
    """One comment, one close, board Done, lease gone, file gone, told once, unless marked as offered."""
    done(story)
    told = "Issue #42 closed."
    for kill in story.kills("on-stop", at_least=20):
        for _ in range(2):
            story.goes_on("on-stop")
            story.later(130)
        story.goes_on("on-stop", "user-prompt-submit")
        assert_closed(story.place, kill)
        assert story.count(told) == kill.left(told, "/issue-closed:46"), kill


@SOAKED
@pytest.mark.parametrize("hook", [soaked("on-idle"), "ci-waiter"])
def test_killed_while_it_tells_of_a_failed_check(story: Story, hook: str) -> None:
    """The failure wakes once, unless it was marked as offered; a stale sign of a waiter stops nobody."""
    place = story.place
    in_review(story)
    place.control.set_check(46, "test", conclusion="failure")
    # The waiter's own sign is one more; what came of the claim file is saved with the next fact.
    for kill in story.kills(hook, at_least={"on-idle": 8, "ci-waiter": 10}[hook]):
        story.goes_on("on-idle", "on-idle", "on-stop", "user-prompt-submit")
        assert story.count("1 FAILED") == kill.left("1 FAILED", "/failed:46"), kill
        assert_whole(place, phase="checks_running")
        assert place.writes() == []


@SOAKED
@pytest.mark.parametrize("hook", ["on-idle", soaked("ci-waiter")])
def test_killed_while_it_puts_the_question(story: Story, hook: str) -> None:
    """Woken with it once at the most; each start and `status` show it, and the user's yes closes."""
    place = story.place
    in_review(story)
    place.control.merge_pull(46)
    were_lost = 0
    # One fewer than for a failed check: this look exchanges the claim, so the guard's stamp waits until
    # nobody can write into the file that was taken out any more.
    for kill in story.kills(hook, at_least={"on-idle": 7, "ci-waiter": 9}[hook]):
        story.goes_on("ci-waiter", "on-idle", "user-prompt-submit")
        left = kill.left(QUESTION, "/merged:46")
        assert story.count(QUESTION) == left, kill
        assert_whole(place, phase="merged_detected")
        assert_asked(story)
        assert place.writes() == []
        if not left and QUESTION not in kill.text:
            were_lost += 1
            story.goes_on("session-start", source="compact")
            assert QUESTION in story.heard[-1].model
            story.goes_on("user-prompt-submit", prompt="yes, close it")
            place.write(phase="done")
            story.goes_on("on-stop")
            assert story.count("Issue #42 closed.") == 1
    assert were_lost, "no kill fell between marking and printing: the test shows nothing"


def wait_in_line(story: Story) -> None:
    """The card was moved by hand and the PR merged; a look saw both, and could tell nobody."""
    in_review(story)
    story.place.control.set_field(42, "Status", "Todo")
    story.place.control.merge_pull(46)
    with story.place.tree() as tree:
        look.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
        assert {say.audience for say in tree.claim_store.ledger.waiting()} == {
            Audience.ASK,
            Audience.NOTE,
        }


MOVED = 'was moved to "Todo"'


@SOAKED
def test_a_prompt_killed_while_it_delivers(story: Story) -> None:
    """What waits comes with the next prompt, once, unless it was marked; a wake's prompt brings nothing."""
    wait_in_line(story)
    for kill in story.kills("user-prompt-submit", at_least=3):
        story.goes_on("user-prompt-submit", prompt="<task-notification>\nCI passed!\n")
        assert story.heard[-1].is_silent
        story.goes_on("user-prompt-submit", "user-prompt-submit", "ci-waiter", "on-idle", "on-stop")
        assert story.count(QUESTION) == kill.left(QUESTION, "/merged:46"), kill
        assert story.count(MOVED) == kill.left(MOVED, "/moved:"), kill
        assert_asked(story)


@SOAKED
def test_a_start_killed_while_it_tells(story: Story) -> None:
    """The next starts say what stands again, from state; the note is said once, unless it was marked.

    From the moment at which a start marks what it will print until it has noted that it did, its session is
    owed its message: the next prompt brings the open question with it, that one, and once.
    """
    wait_in_line(story)
    root, owed = str(story.place.root), list[bool]()
    for kill in story.kills("session-start", at_least=3, source="resume"):
        owed.append(workflow_marks.is_owed(root, ONE))
        left = kill.left(QUESTION, "/merged:46")
        assert owed[-1] or left or QUESTION in kill.text, (kill, "marked, not said, and not owed")
        story.goes_on("user-prompt-submit")
        assert story.count(QUESTION) == (1 if owed[-1] else left), kill
        assert not workflow_marks.is_owed(root, ONE)
        story.goes_on("user-prompt-submit", "ci-waiter", "on-idle", "on-stop")
        assert story.count(QUESTION) == (1 if owed[-1] else left), kill
        assert story.count(MOVED) == kill.left(MOVED, "/moved:"), kill
        assert_asked(story)
    assert owed[0] is owed[-1] is False
    assert any(owed)


@SOAKED
@pytest.mark.parametrize(
    ("hook", "at_least"),
    [
        ("on-stop", 5),
        soaked("on-idle", 5),
        ("user-prompt-submit", 4),
        soaked("session-start", 4),
    ],
)
def test_killed_while_it_takes_over_the_claim_of_a_client_that_is_gone(
    story: Story, hook: str, at_least: int
) -> None:
    """At no moment is it a claim of nobody's: the next stop's waiter brings the merge, once."""
    place = story.place
    in_review(story)
    gone(story.session(ONE))
    place.write(summary="Fix it well")
    for kill in story.kills(hook, at_least=at_least, session=TWO):
        place.control.merge_pull(46)
        story.goes_on("on-stop", "ci-waiter", "on-idle", session=TWO)
        assert story.count(QUESTION) == kill.left(QUESTION, "/merged:46") == 1, kill
        assert place.claim()["phase"] == "merged_detected"


@SOAKED
def test_killed_while_it_names_the_next_task_without_a_claim(story: Story) -> None:
    """The branch's merge and the next task are told once, unless that was marked as offered."""
    place = story.place
    (place.root / ".agent-claim.json").unlink()
    place.control.merge_pull(place.control.open_pull(BRANCH, "By hand", body="Refs #42"))
    words = "Next available task"
    for kill in story.kills("on-idle", at_least=5):
        for _ in range(3):
            story.goes_on("on-idle", "user-prompt-submit")
            story.later(130)
        assert story.count(words) == kill.left(words, "branch-merged:46"), kill


@SOAKED
def test_an_edit_that_came_out_of_an_exchange_is_not_lost_with_the_process(story: Story) -> None:
    """The agent writes between the engine's read and its exchange, and the process is killed behind it."""
    place = story.place
    edited = json.dumps({**place.claim(), "summary": "Edited meanwhile"})
    process = story.session(**{EDIT: edited}).begin("on-stop")
    process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGKILL
    story.goes_on("on-stop", "on-stop")
    assert place.claim()["summary"] == "Edited meanwhile"
    assert place.claim()["pr_number"] == 46
