"""An overview: everything about one worktree, from files alone, and no part that takes another along."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lifecycle.claim.record import sections
from lifecycle.cli.run.run import command
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.stage_names import Stage
from lifecycle.core.timing import render_time
from lifecycle.core.tracker import Task
from lifecycle.run.state import Blocker, Story, UserFix
from lifecycle.run.table import RunStatus
from lifecycle.stages.session import workflow_tasks
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.storage.journal import JournalEntry
from lifecycle.storage.store import CLAIM_FILE, Folder
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.views.overview import overview_reading
from lifecycle.views.overview.overview_reading import watched
from lifecycle.views.overview.overview_values import PullStanding
from lifecycle.views.overview.overview_words import age, since_when
from lifecycle.views.watch.watch_screen import watch_parts, watch_screen
from tests import factories
from tests.views.overview.overview_ground import GREEN, NOTE, PULL, OverviewGround

FUTURE = b'{"version": 99, "schema_version": 99}'
"""What a later release may write."""


def test_an_empty_worktree_has_its_place_alone(ground: OverviewGround) -> None:
    """Where nothing is in use, every part is absent, nothing is in trouble, and nothing was written."""
    before = sorted(ground.root.iterdir())
    seen = ground.seen()
    assert (seen.worktree.root, seen.worktree.branch) == (str(ground.root), "main")
    assert seen.worktree.clone == str(ground.root / ".git")
    parts = (seen.claim, seen.pull, seen.checks, seen.stage, seen.run, seen.workflow)
    assert parts == (None,) * 6
    assert (seen.waiting, seen.events, seen.awaited, seen.troubles) == ((), (), (), {})
    assert sorted(ground.root.iterdir()) == before


def test_every_part_is_there(ground: OverviewGround) -> None:
    """Claim, pull request, checks, stage, run and journal stand side by side, each with its own moments."""
    green = ground.everything()
    seen = ground.seen()
    assert seen.troubles == {}
    assert seen.claim is not None
    assert seen.pull is not None
    assert seen.checks is not None
    assert (seen.claim.issue, seen.claim.title) == (42, "Fix the race")
    assert (seen.claim.phase, seen.claim.since) == ("checks_running", green - 600)
    assert seen.claim.url == "https://github.com/octo-org/hello/issues/42"
    assert (seen.pull.number, seen.pull.url, seen.pull.state) == (107, PULL, PullStanding.PASSED)
    assert (seen.checks.passed, seen.checks.line) == (3, "CI: 3/3 passed.")
    assert seen.stage is not None
    assert (seen.stage.task, seen.stage.stage, seen.stage.told) == ("#42", "TESTING", 2)
    assert seen.run is not None
    assert (seen.run.done, [story.status for story in seen.run.stories]) == (
        1,
        ["completed", "in_progress", "pending"],
    )
    (moved,) = seen.events
    assert (moved.system, moved.task, moved.at) == ("claim", "#42", green - 600)
    assert moved.what == "pr_created → checks_running"


def test_an_issue_without_a_pull_request_has_a_page(ground: OverviewGround) -> None:
    """It is on the host that is configured: github.com, a server of one's own, or the embedded GitHub."""
    ground.claim(memory={"ownership.repository": "octo-org/hello"}, phase="coding")
    urls = []
    for api_url in ("", "https://ghe.example/api/v3", "http://127.0.0.1:8080"):
        environment = {**ground.environment, "GITHUB_API_URL": api_url}
        claim = overview_reading.overview(ground.root, environment, ground.deadline).claim
        urls.append(claim.url if claim is not None else "")
    assert urls == [
        "https://github.com/octo-org/hello/issues/42",
        "https://ghe.example/octo-org/hello/issues/42",
        "http://127.0.0.1:8080/octo-org/hello/issues/42",
    ]


def test_no_network_and_no_lock(ground: OverviewGround, monkeypatch: pytest.MonkeyPatch) -> None:
    """An overview opens no connection, waits for no lock that somebody holds, and writes nothing."""
    ground.everything()

    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    contents = {p: p.read_bytes() for p in (ground.root / ".lifecycle").rglob("*") if p.is_file()}
    with Folder(ground.root).locked(0), Folder(ground.root).locked(0, "run.lock"):
        assert ground.seen().run is not None
    after = {p: p.read_bytes() for p in (ground.root / ".lifecycle").rglob("*") if p.is_file()}
    assert {p: c for p, c in after.items() if not p.name.endswith("lock")} == {
        p: c for p, c in contents.items() if not p.name.endswith("lock")
    }


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (CLAIM_FILE, "claim"),
        (".lifecycle.toml", "settings"),
        (".claude/workflow-state.json", "run"),
        (".git/lifecycle/journal.db", "events"),
    ],
)
@pytest.mark.parametrize("content", [b"{", b"\x00" * 5000, FUTURE, b"[]"])
def test_a_corrupt_part_says_so_and_costs_no_other(
    ground: OverviewGround, path: str, part: str, content: bytes
) -> None:
    """Whatever lies in one file, its part has one sentence, the file is kept, and the others are shown."""
    ground.everything()
    for tail in ("-wal", "-shm"):
        (ground.root / f"{path}{tail}").unlink(missing_ok=True)
    (ground.root / path).write_bytes(content)
    seen = ground.seen()
    assert list(seen.troubles) == [part]
    (sentence,) = seen.troubles.values()
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    assert len(sentence) > 20
    shown = {"claim": seen.claim, "run": seen.run, "stage": seen.stage, "events": seen.events}
    assert not shown.pop(part, None)
    assert all(shown.values())
    assert (ground.root / path).read_bytes() == content


def test_a_defect_in_one_part_is_told_as_a_sentence(
    ground: OverviewGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nobody foresaw costs its part and not the view."""
    ground.everything()

    def broken(_: object) -> None:
        raise ZeroDivisionError("odd\x1b[31m")

    monkeypatch.setattr(overview_reading, "_stage", broken)
    seen = ground.seen()
    assert seen.stage is None
    assert seen.run is not None
    assert "ZeroDivisionError: odd\\x1b[31m" in seen.troubles["stage"]


def test_what_strangers_wrote_has_no_control_character(ground: OverviewGround) -> None:
    """A branch, a check's name, a title and an address that would move a terminal are plain text."""
    evil = "x\x1b]8;;https://evil.example\x07y\u202e\x9b2Jz"
    memory = {
        "pull.url": f"https://github.com/{evil}",
        "pull.checks": {"failed": [evil], "passed": 1},
        "pull.conflicts_with": evil,
        "pull.changes_by": (evil,),
        "title": evil,
    }
    ground.claim(
        memory=memory, branch=evil, agent_id=evil, summary=evil, phase="checks_running", pr_number=7
    )
    ground.run(why=evil)
    seen = ground.seen()
    assert seen.pull is not None
    assert seen.pull.url == ""
    text = repr(replace(seen, troubles={})).replace("\\\\", "")
    assert "evil.example" in text
    assert "\\x1b" not in text
    assert "\\x9b" not in text
    assert "\\u202e" not in text


def test_a_merge_waits_for_a_person_since_the_checks_were_green(ground: OverviewGround) -> None:
    """Green checks of an open pull request wait for whoever merges, from when that was first said."""
    green = ground.everything()
    (awaited,) = ground.seen().awaited
    assert (awaited.part, awaited.since, awaited.where) == ("pull", green, PULL)
    assert awaited.what == "PR #107 waits for a person to merge it"


def test_a_note_waits_since_it_was_queued_itself(ground: OverviewGround) -> None:
    """Also where the key of a later one begins with its own."""
    ground.claim(queue=(Notice("x/assigned:a", "It is a's.", Audience.NOTE),))
    early = int(ground.clock.now()) - 3600
    state = ground.root / ".lifecycle/state.json"
    kept = json.loads(state.read_bytes())
    kept["said"] = {"x/assigned:a": {"at": early}, "x/assigned:a,b": {"at": early + 60}}
    state.write_text(json.dumps(kept))
    (awaited,) = ground.seen().awaited
    assert (awaited.what, awaited.since) == ("It is a's.", early)


@pytest.mark.parametrize(
    "entry", [None, 5, "text", [5], {}, {"at": "noon"}, {"at": [5]}, {"at": None}]
)
def test_a_strange_entry_of_the_ledger_costs_the_time_alone(
    ground: OverviewGround, entry: object
) -> None:
    """When it was said is not known then; the claim, what waits for a person and the rest are shown."""
    ground.everything()
    state = ground.root / ".lifecycle/state.json"
    kept = json.loads(state.read_bytes())
    kept["said"] = dict.fromkeys(kept["said"], entry)
    state.write_text(json.dumps(kept))
    seen = ground.seen()
    assert [(wait.part, wait.since) for wait in seen.awaited] == [("pull", 0.0)]
    assert (seen.troubles, bool(seen.claim)) == ({}, True)


def test_green_is_of_what_was_pushed_last(ground: OverviewGround) -> None:
    """More was pushed from this clone since the last poll: nobody is called to merge it unchecked."""
    ground.in_review(last_check_poll=render_time(1_000.0))
    ref = ground.root / ".git/refs/remotes/origin" / factories.BRANCH
    ref.parent.mkdir(parents=True)
    for head, at, is_green in (
        (factories.SHA, 2_000.0, True),
        ("b" * 40, 900.0, True),
        ("b" * 40, 2_000.0, False),
    ):
        ref.write_text(f"{head}\n")
        os.utime(ref, (at, at))
        seen = ground.seen()
        assert seen.pull is not None
        assert (seen.checks is not None) is is_green
        assert [wait.part for wait in seen.awaited] == ["pull"] * is_green
        assert (seen.pull.state is PullStanding.PASSED) is is_green
        assert seen.pull.head == (head if at == 2_000.0 else factories.SHA)


@pytest.mark.parametrize("whom", sections.Whom)
def test_what_the_agent_or_github_brings_on_waits_for_no_person(
    ground: OverviewGround, whom: sections.Whom
) -> None:
    """A place in the queue, auto-merge, a branch that is behind: nobody is called for these."""
    ground.in_review(awaits=whom)
    is_others = whom in (sections.Whom.AUTHOR, sections.Whom.QUEUE, sections.Whom.AUTO_MERGE)
    assert [wait.part for wait in ground.seen().awaited] == ["pull"] * (not is_others)


def test_checks_that_are_held_wait_for_a_person(ground: OverviewGround) -> None:
    """Checks that somebody has to approve are awaited, from when that was first said."""
    ground.in_review(
        {f"waits:107:{factories.SHA}:deploy": 1_000.0}, passed=0, held=["deploy"], waits=["deploy"]
    )
    seen = ground.seen()
    assert seen.pull is not None
    assert seen.pull.state is PullStanding.HELD
    assert [(one.part, one.since) for one in seen.awaited] == [("checks", 1_000.0)]


@pytest.mark.parametrize(("kind", "is_awaited"), [("stopped", True), ("inherited", False)])
def test_the_question_about_what_fails_waits_for_a_person(
    ground: OverviewGround, kind: str, is_awaited: bool
) -> None:
    """Nobody is woken for it any more; the command lets the agent go on. The base's calls nobody."""
    memory = {
        "pull.url": PULL,
        "pull.head": factories.SHA,
        "pull.checks": {**GREEN, "passed": 0, "failed": ["test"]},
        "pull.failures": {"red": factories.SHA, "kind": kind},
    }
    said = {f"ci-stop:107:{factories.SHA}": 900.0}
    ground.claim(said, (), memory, phase="checks_running", pr_number=107)
    seen = ground.seen()
    asked = ("checks", 900.0, "lifecycle feedback go-on")
    assert [(one.part, one.since, one.where) for one in seen.awaited] == [asked] * is_awaited
    assert seen.claim is not None
    line = f"{seen.claim.next} [waits for {age(900.0, seen.at)}]" if is_awaited else seen.claim.next
    assert since_when([seen.claim.next], seen.awaited, seen.at) == [line]


def test_the_question_waits_for_a_person(ground: OverviewGround) -> None:
    """A merged pull request whose issue is open waits for a yes, from when the question was put."""
    memory = {"pull.url": PULL, "judged": "merged_detected"}
    ground.claim({"merged:107": 500.0}, memory=memory, phase="merged_detected", pr_number=107)
    seen = ground.seen()
    assert seen.pull is not None
    assert seen.pull.state is PullStanding.MERGED
    (awaited,) = seen.awaited
    assert (awaited.part, awaited.since, awaited.where) == ("claim", 500.0, "lifecycle close")
    assert "Should I close issue #42?" in awaited.what
    # What the agent does about it is no person's next step, on any view.
    assert seen.claim is not None
    assert seen.claim.next.startswith("Ask the user")
    assert seen.next == ""
    assert "next" not in [part.name for part in watch_parts(seen, seen.at, has_keys=True)]


def test_a_long_goal_leaves_room_for_the_story_at_work(ground: OverviewGround) -> None:
    """Goal and summary may be paragraphs, and are one line each of the screen."""
    ground.claim(summary="Lock before the read. " * 12)
    ground.run(goal="Let people pay by card, with a receipt. " * 20)
    seen = ground.seen()
    lines = watch_screen(seen, Console(width=60), seen.at, 16)
    shown = "\n".join(line.plain for line in lines)
    assert [shown.count(words) for words in ("Lock before", "Let people", "S2 Pay back")] == [
        2,
        1,
        1,
    ]


def test_a_run_of_many_stories_leaves_room_for_what_is_to_be_said(ground: OverviewGround) -> None:
    """News that the agent has not heard stands above the stories, which fill what is left of a window.

    How many lines have no room is told, be it one.
    """
    ground.claim(queue=(Notice("x", "Fix, commit and push.", Audience.ACT),))
    ground.run(stories=tuple(Story(f"S{number}", "Pay back") for number in range(1, 31)))
    seen = ground.seen()
    lines = watch_screen(seen, Console(width=80), seen.at, 24)
    shown = "\n".join(line.plain for line in lines)
    assert shown.index("Fix, commit and push.") < shown.index("S1 Pay back")
    whole = len(watch_screen(seen, Console(width=80), seen.at, None))
    *_, foot = watch_screen(seen, Console(width=80), seen.at, whole)
    assert foot.plain.endswith("not shown: run (1 line)")


def test_a_phase_that_was_written_by_hand_is_no_merge(ground: OverviewGround) -> None:
    """What an agent wrote into the claim is not shown as what GitHub showed, and nobody is asked for it."""
    ground.claim(memory={"judged": ""}, phase="merged_detected", pr_number=107)
    seen = ground.seen()
    assert seen.claim is not None
    assert not seen.claim.is_confirmed
    assert seen.pull is not None
    assert seen.pull.state is PullStanding.UNKNOWN
    assert seen.awaited == ()


@pytest.mark.parametrize(
    ("checks", "state"),
    [
        ({"failed": ["lint"], "running": 1}, PullStanding.FAILED),
        ({"running": 1}, PullStanding.RUNNING),
        ({"unfinished": ["lint"]}, PullStanding.RUNNING),
        ({"failed": ["cla"], "waits": ["cla"]}, PullStanding.HELD),
        ({"stale": ["lint"], "waits": ["lint"]}, PullStanding.HELD),
        ({"missing": ["lint"], "waits": ["lint"]}, PullStanding.HELD),
        ({"missing": ["lint"]}, PullStanding.RUNNING),
        ({"passed": 0}, PullStanding.UNCHECKED),
        ({}, PullStanding.PASSED),
    ],
)
def test_a_pull_request_stands_as_its_worst(
    ground: OverviewGround, checks: dict[str, Any], state: PullStanding
) -> None:
    """A failure outweighs what runs, what runs outweighs what passed, and no check at all is no pass.

    What waits for a person does so once that is certain: a check that is missing at first may come yet.
    """
    ground.in_review(**checks)
    pull = ground.seen().pull
    assert pull is not None
    assert pull.state is state


def test_a_run_that_waits_or_was_stopped_waits_for_a_person(ground: OverviewGround) -> None:
    """A run names what it waits for, since when, and a command that is there, to go on with."""
    fix = UserFix("B1", "Renew the certificate", 700.0)
    ground.run(status=RunStatus.AWAITING_USER, fix=fix)
    (waits,) = ground.seen().awaited
    assert (waits.part, waits.what, waits.since) == (
        "run",
        "The run waits: Renew the certificate",
        700.0,
    )
    ground.run(status=RunStatus.STOPPED, why="it reached its cap of 100 iterations", stopped_at=900)
    (stopped,) = ground.seen().awaited
    assert (stopped.since, stopped.where) == (900.0, "lifecycle run resume")
    ground.run(stories=(), blockers=(Blocker("B1", "No key", "high", 500.0),))
    (held,) = ground.seen().awaited
    assert (held.since, held.where) == (500.0, "lifecycle run user-fix-complete B1")
    assert {each.where.split()[2] for each in (waits, stopped, held)} <= {*command.table}


def test_what_is_for_the_person_alone_waits(ground: OverviewGround) -> None:
    """A notice for the person that nobody has heard is awaited; one for the agent only waits to be said."""
    act = Notice("x", "Fix, commit and push.", Audience.ACT)
    ground.claim(queue=(NOTE, act))
    seen = ground.seen()
    assert seen.waiting == (NOTE.text, act.text)
    assert [one.what for one in seen.awaited] == [NOTE.text]


def test_a_claim_whose_session_is_over_waits_for_another(ground: OverviewGround) -> None:
    """Nobody works on it: a person starts the next session."""
    memory = {"ownership.session": "session-1"}
    ground.claim(memory=memory)
    (ground.root / ".lifecycle/seen").write_text("session-1 999999999\n")
    (awaited,) = ground.seen().awaited
    assert awaited.what == "The session that works on #42 is over; start one that goes on with it"


def test_a_session_that_was_let_go_waits_for_a_person(ground: OverviewGround) -> None:
    """A staged session that was told too often is not told again: somebody looks at it."""
    ground.stage(is_let_go=True)
    (awaited,) = ground.seen().awaited
    assert (awaited.part, awaited.where) == ("stage", "lifecycle stage status")


def test_a_stage_is_told_only_where_the_settings_have_the_workflow(ground: OverviewGround) -> None:
    """Once `init --remove` took it out, a session's last stage is nobody's, and waits for nobody."""
    ground.stage(is_let_go=True, set_stage=Stage.ORACLE_REVIEW)
    assert ground.seen().stage is not None
    (ground.root / ".lifecycle.toml").unlink()
    seen = ground.seen()
    assert (seen.stage, seen.awaited) == (None, ())


@pytest.mark.parametrize("tracker", ["GitHub's issues", "a database beside the code"])
def test_a_staged_session_that_is_over_waits_for_a_person_once(
    ground: OverviewGround, tracker: str
) -> None:
    """A task of another tracker has no claim: the session's own client tells that it is gone."""
    if tracker == "GitHub's issues":
        ground.claim(memory={"ownership.session": "session-1"})
        (ground.root / ".lifecycle/seen").write_text("session-1 999999999\n")
    ground.stage(client=os.getpid())
    is_claimed = tracker == "GitHub's issues"
    assert len(ground.seen().awaited) == is_claimed
    ground.stage(client=999999999)
    (awaited,) = ground.seen().awaited
    assert awaited.part == ("claim" if is_claimed else "stage")
    assert awaited.what == "The session that works on #42 is over; start one that goes on with it"


@pytest.mark.parametrize("is_let_go", [False, True])
def test_a_task_that_the_tracker_has_open_no_more_waits_for_nobody(
    ground: OverviewGround, *, is_let_go: bool
) -> None:
    """What a later start was told by the tracker ends the wait: nobody goes on with a closed task."""
    ground.stage(client=999999999, is_let_go=is_let_go)
    files, now = WorkflowFiles(ground.root), ground.clock.now()
    is_open = (Task("#42", "Fix the race"),)
    for after, tasks, waits in ((-60, (), 1), (60, is_open, 1), (60, (), 0)):
        with files.locked():
            workflow_tasks.keep(files, Activity(now + after, "beads/auto-workflow", tasks))
        assert len(ground.seen().awaited) == waits


def test_a_linked_worktree_knows_its_branch_and_its_clone(
    ground: OverviewGround, tmp_path: Path
) -> None:
    """The branch of a linked worktree is its own, and the clone is the main one's."""
    other = tmp_path / "other"
    commands = (
        ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "--quiet", "-b", "topic/one", str(other)],
    )
    for words in commands:
        subprocess.run(["git", *words], cwd=ground.root, check=True)
    place = OverviewGround(other).seen().worktree
    assert (place.branch, place.clone) == ("topic/one", str(ground.root / ".git"))


def test_the_last_events_are_of_what_is_worked_on_here(ground: OverviewGround) -> None:
    """What other worktrees of the clone do pushes none out; where nothing is at work, any are shown."""
    ground.note(JournalEntry(1_000.0, "claim", "write", "#42", target="status"))
    for number in range(9):
        ground.note(JournalEntry(2_000.0 + number, "claim", "write", "#43", target="status"))
    assert {event.task for event in ground.seen().events} == {"#43"}
    ground.claim()
    assert [(event.task, event.at) for event in ground.seen().events] == [("#42", 1_000.0)]


def test_what_changes_an_overview_is_watched(ground: OverviewGround) -> None:
    """Every file whose content an overview shows is among those whose dates are looked at."""
    ground.everything()
    pushed = ground.root / ".git/refs/remotes/up[stream]/main"
    pushed.parent.mkdir(parents=True)
    pushed.touch()
    names = {str(path.relative_to(ground.root)) for path in watched(ground.root) if path.exists()}
    assert {
        CLAIM_FILE,
        ".lifecycle/state.json",
        ".lifecycle/stages/session-1.json",
        ".claude/workflow-state.json",
        ".git/HEAD",
        ".git/lifecycle/journal.db",
        ".git/refs/remotes/up[stream]/main",
    } <= names
