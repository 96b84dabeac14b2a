"""Sessions: what each hears at its start and with its prompts, and whose claim it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control.faults import Fault
from lifecycle.settings.resources import hook_script
from tests.cli.outcome import ok
from tests.cli.test_claim_again import give_back
from tests.conftest import Place, installed_plugin
from tests.e2e.client import SECONDS, Session, ended, heard
from tests.factories import client
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_sessions.py::test_done_needs_the_users_answer_where_prompts_are_heard",
    "claim/test_presence.py::test_an_owner_that_lives_keeps_its_claim",
    "e2e/test_sessions.py::test_a_rejected_task_is_told_alike_to_agent_and_person",
    "claim/test_briefing.py::test_that_the_issue_was_closed_is_one_problem",
    "claim/test_judged.py::test_what_was_to_be_said_of_another_head_is_over",
)

ONE, TWO = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
SOURCES = ["startup", "resume", "clear", "compact", "fork"]
QUESTION = "PR #46 merged! Should I close issue #42?"


@pytest.fixture
def session(place: Place) -> Session:
    """A session with a hand-off in the claim."""
    place.ready()
    return Session(place, ONE)


def asked(session: Session) -> None:
    """The PR was opened and merged, and a wake put the question."""
    session.prompt("please hand off")
    session.on_stop()
    session.place.control.merge_pull(46)
    woken = heard(session.waiter())
    assert woken.model.startswith(QUESTION)
    assert session.wake(woken.model).is_silent  # the client makes a prompt of it


@SOAKED
def test_what_waits_comes_with_the_next_human_prompt_and_once(session: Session) -> None:
    """A person's `lifecycle tick` left news for the agent: nothing on a wake, all on a prompt."""
    session.on_stop()
    session.place.control.merge_pull(46)
    assert QUESTION in session.place.cli("tick").stdout
    assert session.wake("something else").is_silent
    said = session.prompt("how is it going?")
    assert said.model.startswith(QUESTION)
    assert session.prompt("and now?").is_silent


def test_a_prompt_with_an_empty_queue_never_reaches_python(session: Session) -> None:
    """The script ends in the shell: the command that it would start is not there."""
    session.on_stop()
    spy = session.place.root.parent / "spy"
    spy.write_text("#!/bin/sh\nexit 9\n")
    spy.chmod(0o755)
    other = Session(session.place, ONE, {"LIFECYCLE_BIN": str(spy)})
    assert other.prompt().code == 0
    session.place.control.merge_pull(46)
    session.place.cli("tick")
    assert other.prompt().code == 9


def test_done_needs_the_users_answer_where_prompts_are_heard(session: Session) -> None:
    """Woken with the question, the agent writes done by itself: refused. After the answer: closed."""
    asked(session)
    place = session.place
    place.write(phase="done")
    place.clear()
    refused = session.on_stop()
    assert "the user has written no prompt since" in refused.model
    assert [request.operation for request in place.requests()] == ["ObserveClaim"]
    assert place.claim()["phase"] == "merged_detected"
    assert place.issue()["state"] == "open"
    assert session.wake("again").is_silent
    place.write(phase="done")
    assert "was not closed" in session.on_stop().model  # a wake is nobody's answer
    assert QUESTION in session.cli("tick").stdout
    place.write(phase="done")
    refused_by_tick = session.cli("tick").stdout
    assert refused_by_tick.startswith("Issue #42 was not closed: ")
    assert refused_by_tick.count("Should I close issue #42?") == 1
    assert refused_by_tick.count("on a yes, run") == 1

    assert session.prompt("yes, close it").is_silent
    place.write(phase="done")
    assert session.on_stop().person.startswith("Issue #42 closed.")
    assert place.issue()["state"] == "closed"


@pytest.mark.parametrize("looks", ["", soaked("tick"), soaked("start")])
def test_a_yes_from_before_a_reopening_answers_no_later_question(
    session: Session, looks: str
) -> None:
    """It was to ending the claim of a closed issue; whoever sees the reopening first, it is asked of."""
    asked(session)
    place = session.place
    place.control.close_issue(42)
    session.prompt("yes")
    place.control.reopen_issue(42)
    if looks == "tick":
        assert "reopened after that. Should I close issue #42?" in place.cli("tick").stdout
    if looks == "start":
        assert "reopened after that. Should I close issue #42?" in session.start().model
    for _ in range(2):
        place.write(phase="done")
        assert "reopened after that. Should I close issue #42?" in session.on_stop().model
        assert place.issue()["state"] == "open"
    session.prompt("yes, close it")
    place.write(phase="done")
    assert session.on_stop().person.startswith("Issue #42 closed.")


def test_a_session_whose_client_was_killed_is_told_of_its_claim_again(session: Session) -> None:
    """It may be resumed at once: what was told a moment ago was told to a process that is gone."""
    assert session.start("resume").model.startswith("Claim: issue #42")
    assert session.start("resume").is_silent, "a copy of the same start"
    another = ["sh", "-c", 'CLAUDE_PID=$$ "$@"; :', "sh", str(hook_script("session-start"))]
    again = subprocess.run(
        another,
        cwd=session.place.root,
        env=session.variables(),
        input=session.payload("SessionStart", source="resume"),
        capture_output=True,
        check=True,
    )
    assert b"Claim: issue #42" in again.stdout


@pytest.mark.parametrize("answers", [soaked(["typed"]), ["fired"], ["typed", "fired"]])
def test_the_prompt_of_a_scheduled_task_is_no_answer(
    session: Session, tmp_path: Path, answers: list[str]
) -> None:
    """It comes as a person's does, with the shell's note or Python's; the transcript tells who sent it.

    As Claude Code 2.1.332 writes it for CronCreate and ScheduleWakeup, beside what a person typed: alone,
    or into the turn that the task began, whose id the event has then. It takes no answer back, either, and
    an earlier one that lies too far back to be read is none. Their folder may keep links to transcripts.
    """
    transcript = tmp_path / "transcript.jsonl"
    if answers == ["fired"]:
        transcript.symlink_to(tmp_path / "elsewhere.jsonl")
    rows = [
        {"promptId": "older", "type": "user", "promptSource": "system", "turnOrigin": "scheduled"},
        {"promptId": "older", "type": "user", "message": "long " * 800_000},
        {"promptId": "older", "type": "user", "message": "a tool's result"},
        {"promptId": "typed", "type": "user", "promptSource": "typed", "turnOrigin": "human"},
        {"promptId": "fired", "type": "user", "promptSource": "system", "turnOrigin": "scheduled"},
        {"promptId": "fired", "type": "user", "message": "a tool's result"},
    ]
    lines = (json.dumps(row, separators=(",", ":")) for row in rows)
    transcript.write_text("".join(f"{line}\n" for line in lines))

    def prompted(prompt: str) -> None:
        event = {"transcript_path": str(transcript), "prompt_id": prompt, "prompt": "Look again."}
        raw = json.dumps({"hook_event_name": "UserPromptSubmit", **event}, separators=(",", ":"))
        env = {**session.variables(), "LIFECYCLE_BIN": str(session.place.command)}
        session.place.hook("user-prompt-submit", raw.encode(), **env)

    asked(session)
    place = session.place
    prompted("older")  # the last one, of a turn whose beginning is some megabytes back
    place.write(phase="done")
    assert "was not closed" in session.on_stop().model
    for _ in ("by Python: the question waits for its answer", "by the shell"):
        prompted("older")
        prompted("fired")
        assert (place.root / ".lifecycle/answered").exists()
        place.write(phase="done")
        assert "was not closed" in session.on_stop().model
        assert place.issue()["state"] == "open"
        (place.root / ".lifecycle/waiting").unlink(missing_ok=True)
    for prompt in answers:
        prompted(prompt)
    if answers == ["fired"]:
        queued = {"type": "queued_command", "origin": {"kind": "human"}}
        with transcript.open("a") as file:
            file.write(json.dumps({"attachment": queued}, separators=(",", ":")))
    place.write(phase="done")
    assert session.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_done_after_a_merge_that_nobody_was_told_of_becomes_the_question(session: Session) -> None:
    """An earlier prompt and a wake are no yes to it; the question is put once, and its answer is."""
    session.on_stop()
    place = session.place
    session.prompt("go on")
    place.control.merge_pull(46)
    session.wake("a command in the background ended")
    place.write(phase="done")
    refused = session.on_stop()
    assert "merged! Should I close issue #42? Ask the user; " in refused.model
    assert place.claim()["phase"] == "merged_detected"
    assert place.issue()["state"] == "open"
    assert session.idle().is_silent
    assert session.prompt("yes, close it").is_silent
    place.write(phase="done")
    assert session.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_a_prompt_after_the_merge_is_a_yes_without_the_question(session: Session) -> None:
    """The person merged and says so: the shell notes that, without Python, and done counts."""
    session.on_stop()
    place = session.place
    place.control.merge_pull(46)
    spy = place.root.parent / "spy"
    spy.write_text("#!/bin/sh\nexit 9\n")
    spy.chmod(0o755)
    other = Session(place, ONE, {"LIFECYCLE_BIN": str(spy)})
    assert other.prompt("merged; close it").code == 0
    mark = place.root / ".lifecycle/answered"
    moment = mark.stat().st_mtime + 2  # not within the second of the merge
    os.utime(mark, (moment, moment))
    place.write(phase="done")
    assert session.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_where_prompts_are_not_heard_the_question_offers_the_command_alone(
    session: Session,
) -> None:
    """Without the hook on prompts done never counts, and everything that asks says so."""
    session.on_stop()
    place = session.place
    (place.root / ".lifecycle/prompts").unlink(missing_ok=True)
    place.control.merge_pull(46)
    words = '"phase": "done" does not count here'
    assert words in session.idle().model
    assert words in session.cli("status").stdout
    place.write(phase="done")
    assert words in session.on_stop().model
    assert place.issue()["state"] == "open"
    assert session.cli("close").returncode == 0
    assert place.issue()["state"] == "closed"


def test_what_another_clients_agent_writes_is_no_yes(place: Place) -> None:
    """Its stop closes no issue by `done`, and tells the person what does; by hand `done` is the yes."""
    place.ready()
    names, event = dict.fromkeys(client(), ""), {"hook_event_name": "Stop", "session_id": ONE}
    assert "PR #46 created" in place.hook("on-stop", event, **names).stdout
    place.control.merge_pull(46)
    place.write(phase="done")
    reply = json.loads(place.hook("on-stop", event, **names).stdout)
    assert list(reply) == ["systemMessage"]
    assert "#42 was not closed: nobody has said yes. PR #46 merged! " in reply["systemMessage"]
    assert '"lifecycle close": "phase": "done" does not count here' in reply["systemMessage"]
    assert 'or write "phase": "done"' not in reply["systemMessage"]
    assert (place.issue()["state"], place.claim()["phase"]) == ("open", "merged_detected")
    place.write(phase="done")
    assert "#42 closed" in place.hook("on-stop", {}, **names).stdout
    assert place.issue()["state"] == "closed"


@SOAKED
def test_lifecycle_close_is_a_yes_and_the_comment_says_so(session: Session) -> None:
    """The explicit command does not wait for a prompt; what closed the issue can be read there."""
    asked(session)
    done = session.cli("close")
    assert done.returncode == 0, done.stderr
    (comment,) = session.place.issue()["comments"]
    assert comment["body"].startswith("Completed in #46")
    assert "lifecycle close" in comment["body"]


def test_a_session_hears_once_that_what_it_asked_about_was_answered_elsewhere(
    session: Session,
) -> None:
    """Neither whoever closed it is told, nor a stranger's prompt; the agent that asked is, and once."""
    asked(session)
    place, stranger = session.place, Session(session.place, TWO)
    done = place.cli("close")
    assert "Issue #42 closed." in done.stdout
    told = "Issue #42 was closed meanwhile"
    assert told not in done.stdout
    assert told not in stranger.prompt().model + stranger.on_stop().model
    assert told in session.prompt("yes, close it").model
    assert told not in session.prompt().model + session.on_stop().model


@pytest.mark.parametrize("way", ["killed", "cleared"])
def test_what_only_a_session_that_is_over_would_hear_waits_no_longer(
    session: Session, way: str
) -> None:
    """The first prompt after its end drops it, and no later one starts Python; else it would be told."""
    asked(session)
    place, stranger = session.place, Session(session.place, TWO)
    place.cli("close")
    waiting = place.root / ".lifecycle/waiting"
    assert stranger.prompt().is_silent
    assert waiting.exists()
    if way == "killed":
        gone(session)
    else:
        session.end("clear")
    assert stranger.prompt().is_silent
    assert not waiting.exists()
    assert "meanwhile" not in session.prompt().model


@SOAKED
def test_a_session_that_closes_what_it_asked_about_itself_is_not_told_again(
    session: Session,
) -> None:
    """It heard the end from its own command; a session that is over hears nothing either."""
    asked(session)
    assert "Issue #42 closed." in session.cli("close").stdout
    assert "meanwhile" not in session.prompt().model
    assert not (session.place.root / ".lifecycle/waiting").exists()


def test_a_yes_that_github_does_not_carry_out_is_not_asked_for_again(session: Session) -> None:
    """The question that waits for the agent goes with the answer: the issue is what is left to close."""
    place = session.place
    session.prompt()
    session.on_stop()
    place.control.merge_pull(46)
    place.cli("tick")  # a person's: the question is left for the agent
    no = Fault("graphql_error", error_type="FORBIDDEN", message="No.", count=9)
    place.control.add_fault(no, operation="CommentAndClose")
    place.control.add_fault(
        Fault("status", status=403, method="PATCH", path="/issues/42$", count=9)
    )
    done = place.cli("close")
    assert (done.returncode, "Issue #42 is not closed" in done.stdout) == (1, True)
    told = done.stdout + place.cli("status").stdout + session.prompt("anything new?").model
    assert "Should I close" not in told
    place.control.clear_faults()
    assert place.cli("tick").returncode == 0
    assert place.issue()["state"] == "closed"


def test_auto_closes_at_the_merge(session: Session) -> None:
    """`close = "auto"`: no question; the agent hears of the merge and the person of the close."""
    place = session.place
    (place.root / ".lifecycle.toml").write_text('close = "auto"\n')
    session.on_stop()
    place.control.merge_pull(46)
    woken = heard(session.waiter())
    assert woken.model.startswith("PR #46 merged; issue #42 is closed now")
    assert "Should I" not in woken.model
    assert place.issue()["state"] == "closed"
    assert "auto" in place.issue()["comments"][0]["body"]
    # The claim is gone, and what it left to say is said without it.
    assert not place.has_claim()
    assert session.on_stop().person.startswith("Issue #42 closed.")
    assert session.on_stop().is_silent
    assert session.prompt().is_silent


@SOAKED
@pytest.mark.parametrize("source", SOURCES)
def test_every_start_shows_the_claim_and_the_open_question(session: Session, source: str) -> None:
    """However the session starts, and although the wake had said it: state is rendered, not the queue.

    The person is shown the question as well, since the agent says nothing before the first prompt.
    """
    asked(session)
    said = session.start(source)
    assert "Claim: issue #42 on branch claude/fix-42, phase merged_detected, PR #46" in said.model
    assert QUESTION in said.model
    assert QUESTION in said.person
    assert said.model.count(QUESTION) == 1


@SOAKED
def test_the_start_shows_the_board_from_one_request_and_not_again_for_ten_minutes(
    session: Session,
) -> None:
    """Four counts, the first Todo by priority, who is at work; then from the cache."""
    place = session.place
    place.control.set_field(42, "Status", "In Progress")
    place.clear()
    first = session.start()
    assert [request.operation for request in place.requests()] == ["BriefBoard"]
    assert "In Progress" in first.model
    assert "#42" in first.model
    place.clear()
    again = session.start("resume")
    assert place.requests() == []
    assert again.model == first.model


def test_a_second_session_is_told_that_the_claim_is_held(session: Session) -> None:
    """It hears whose it is and what to do instead; the owner's starts are not disturbed."""
    session.prompt()
    session.on_stop()
    stranger = Session(session.place, TWO)
    told = stranger.start()
    assert f"is held by another session ({ONE}, last active" in told.model
    assert "held by another session" in told.person
    assert "--worktree" in told.model
    assert "held by another" not in session.start("compact").model
    session.place.control.merge_pull(46)
    assert stranger.idle().is_silent
    assert session.idle().woke


def test_the_claim_of_a_session_that_runs_is_released_by_no_other(session: Session) -> None:
    """Another session of the worktree is told whose it is; the owner, or who sits at a terminal, may."""
    session.prompt()
    session.on_stop()
    refused = Session(session.place, TWO).cli("release")
    assert refused.returncode == 1
    assert (
        f"Nothing was released. The claim on #42 in this worktree is held by another session ({ONE}"
        in (refused.stderr)
    )
    assert session.place.has_claim()
    assert session.cli("release").returncode == 0
    assert not session.place.has_claim()


@SOAKED
def test_a_session_that_ended_leaves_its_claim_to_the_next(session: Session) -> None:
    """The laptop was closed in the evening: in the morning another session goes on, and is woken."""
    session.prompt()
    session.on_stop()
    assert session.end().is_silent
    morning = Session(session.place, TWO)
    assert "held by another" not in morning.start().model
    session.place.control.merge_pull(46)
    assert heard(session.waiter()).is_silent
    assert heard(morning.waiter()).woke


def _unleased(place: Place) -> None:
    place.git("push", "--quiet", "origin", ":refs/agent-claims/42")


def _taken(place: Place) -> None:
    word = json.dumps({"agent": "maria-1", "issue": 42, "nonce": "x"})
    tree = place.git("rev-parse", "HEAD^{tree}")
    sha = place.git("commit-tree", tree, "-m", f"lease {word}")
    place.git("push", "--quiet", "--force", "origin", f"{sha}:refs/agent-claims/42")


@pytest.mark.parametrize(
    ("night", "source"),
    [
        ((give_back, "#42 was released or closed, or its lease was deleted, while"), "startup"),
        ((_taken, "#42 was taken over by maria-1"), "resume"),
        soaked(
            (_unleased, "#42 was released or closed, or its lease was deleted, while"), "startup"
        ),
    ],
)
def test_who_comes_back_hears_that_the_task_is_lost(
    place: Place, night: tuple[Callable[[Place], None], str], source: str
) -> None:
    """Nothing of a night on GitHub reaches the worktree: the start looks, for one request."""
    loses, words = night
    evening = Session(place, ONE)
    assert ok(evening.cli("claim", "42"))
    evening.end()
    loses(place)
    place.clear()
    morning = Session(place, ONE if source == "resume" else TWO)
    told = morning.start(source)
    assert [request.operation for request in place.requests()].count("ObserveClaim") == 1
    assert words in told.model
    assert "yours now" not in told.model
    assert "When the work is done" not in told.model
    for command in ("status", "tick"):
        assert words in place.cli(command).stdout


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        ("before", "Issue #42 closed."),
        ("within", "#42 is not closed yet"),
        soaked("taken", "#42 was taken over by maria-1"),
    ],
)
def test_who_comes_back_to_a_closing_that_was_cut_off_hears_what_became_of_it(
    place: Place, cut: str, words: str
) -> None:
    """One that nothing holds back goes on at once; none does if another agent has the task by then."""
    session = Session(place, ONE)
    assert ok(session.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    session.cli("handoff", "--summary", "Fix it")
    asked(session)
    if cut == "before":
        session.prompt("yes, close it")
        place.write(phase="done")
    else:
        together = Fault("graphql_error", operation="CommentAndClose", message="Not together.")
        place.control.add_fault(together)
        place.control.add_fault(Fault("status", method="PATCH", path="/issues/42$", count=9))
        assert place.cli("close").returncode != 0
        place.control.clear_faults()
    session.end()
    if cut == "taken":
        _taken(place)
    told = session.start("resume")
    assert words in told.model + told.person
    assert ("closed yet" in told.model) is (cut == "within")
    assert place.issue()["state"] == ("closed" if cut == "before" else "open")


@pytest.mark.parametrize(
    ("loses", "words"), [(_unleased, "was released or closed, or"), soaked(_taken, "taken over")]
)
def test_what_a_hand_off_was_refused_for_is_kept(
    place: Place, loses: Callable[[Place], None], words: str
) -> None:
    """Status and tick say what the remote showed, and not to hand off again; claiming again goes on."""
    assert ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    loses(place)
    assert place.cli("handoff", "--summary", "Fix it").returncode != 0
    for command in ("status", "tick"):
        said = place.cli(command).stdout
        assert words in said
        assert "When the work is done" not in said
    if loses is _unleased:
        assert ok(place.cli("claim", "42"))
        assert ok(place.cli("handoff", "--summary", "Fix it"))


@SOAKED
def test_a_session_that_is_not_the_owner_takes_none_of_its_news(session: Session) -> None:
    """Another session's start, prompt, stop, idle and `tick` leave the owner's news to the owner."""
    session.prompt()
    stranger = Session(session.place, TWO)
    session.cli("handoff", "--summary", "Fix it")
    assert "PR #46" not in stranger.on_stop().model  # it opens the PR, and tells whom it belongs to
    assert "PR #46 created" in session.on_stop().model
    session.place.control.merge_pull(46)
    assert QUESTION in stranger.cli("tick").stdout
    assert stranger.on_stop().is_silent
    assert stranger.prompt().is_silent
    held = stranger.start()
    assert held.model.count("held by another session") == 1
    assert stranger.idle().is_silent
    assert QUESTION in session.prompt("anything new?").model


def test_a_session_whose_client_is_gone_holds_nothing(session: Session) -> None:
    """It crashed without an end: its process is not there, so the next prompt elsewhere takes over."""
    session.prompt()
    session.on_stop()
    stranger = Session(session.place, TWO)
    assert "held by another" in stranger.start().model
    session.place.control.merge_pull(46)
    session.place.cli("tick")
    gone(session)
    assert QUESTION in stranger.prompt("how is it going?").model
    assert session.prompt().is_silent
    assert "held by another" not in stranger.start("clear").model


def gone(session: Session) -> None:
    """The session's client was killed: its process is not there any more."""
    process = subprocess.Popen(["true"])
    process.wait()
    (session.place.root / ".lifecycle/seen").write_text(f"{session.id} {process.pid}\n")


@SOAKED
def test_a_session_that_takes_the_claim_over_is_told_where_it_stands(session: Session) -> None:
    """The dead owner had heard that CI failed, so nobody would hear it again: the next prompt says it."""
    place = session.place
    place.control.plan_checks(PlannedCheck(name="test", conclusion="failure"))
    session.prompt()
    session.on_stop()
    assert "1 FAILED" in heard(session.waiter()).model
    stranger = Session(place, TWO)
    stranger.start()
    gone(session)
    said = stranger.prompt("what is next?").model
    assert said.startswith("The claim on #42 is yours now: the session that had it is over.")
    assert "PR #46" in said
    assert re.search(r"CI: 0/1 passed, 1 failed at [0-9a-f]{7}: test\.", said)
    assert "Fix, commit and push" in said
    assert stranger.prompt("and now?").is_silent


@SOAKED
def test_who_took_the_claim_over_by_a_wake_is_told_at_its_next_prompt(session: Session) -> None:
    """The first look of the new owner is in the background: its news says whose claim it is, too."""
    place = session.place
    session.prompt()
    session.on_stop()
    stranger = Session(place, TWO)
    stranger.start()
    gone(session)
    place.control.close_pull(46)
    woken = stranger.idle()
    assert woken.woke
    assert "closed without being merged" in woken.model
    assert "The claim on #42 is yours now" in woken.model
    said = stranger.prompt("go on").model
    assert "phase pr_closed, PR #46" in said
    assert stranger.prompt("go on").is_silent


@SOAKED
def test_a_question_that_a_new_owner_is_shown_is_not_answered_by_its_prompt(
    session: Session,
) -> None:
    """The answer that the dead owner had is nobody's here: `done` waits for a prompt after this one."""
    asked(session)
    session.prompt("later")
    gone(session)
    stranger = Session(session.place, TWO)
    assert QUESTION in stranger.prompt("where were we?").model
    session.place.write(phase="done")
    assert "was not closed" in stranger.on_stop().model
    assert stranger.prompt("yes, close it").is_silent
    session.place.write(phase="done")
    assert stranger.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_a_second_session_hears_one_voice(session: Session) -> None:
    """Told not to work on it, it is not told in the same breath how to hand it off, fix it or close it."""
    place = session.place
    session.prompt()
    session.on_stop()
    words = ("handoff", "Fix, commit", "Should I close", "lifecycle close", "you are told")
    stranger = Session(place, TWO)
    phases = ("coding", "checks_running", "merged_detected")
    for source, phase in zip(SOURCES, phases, strict=False):
        place.write(phase=phase)
        for said in (stranger.start(source).model, stranger.cli("status").stdout):
            assert "do not work on it here" in said, phase
            assert f"phase {phase}" in said
            assert not [word for word in words if word in said], phase
    place.control.merge_pull(46)
    assert QUESTION in place.cli("tick").stdout
    assert "lifecycle close" in session.cli("status").stdout
    assert "lifecycle close" in place.cli("status").stdout  # a person's terminal


@SOAKED
def test_a_token_that_was_set_is_used_at_once(session: Session) -> None:
    """That there was none is not said any more, by a start or by `status`, and the next stop looks anew.

    While there is none it is said once, though it hinders the claim's look and the board alike.
    """
    place = session.place
    bare = Session(place, ONE, {"GH_TOKEN": "", "PATH": "/usr/bin:/bin"})
    session.start()
    assert "No GitHub token" in bare.on_stop().person
    assert bare.on_stop().is_silent  # it is asked again, and said once
    assert bare.start("resume").model.count("No GitHub token") == 1
    assert "No GitHub token" not in session.start("compact").model
    assert "No GitHub token" not in session.cli("status").stdout
    assert place.pulls() == {} or 46 not in place.pulls()
    assert "PR #46 created" in session.on_stop().model


PROMISES = ("next stop", "are watched", "you are told", "is watched")


@SOAKED
def test_where_no_hook_was_seen_nothing_is_promised(place: Place) -> None:
    """Neither `handoff` nor `status` nor `doctor` tells a session, or a person, what no hook will do."""
    session = Session(place, ONE)
    assert session.cli("claim", "42").returncode == 0
    place.work(str(place.claim()["branch"]), push=False)
    for whose in (session.cli, place.cli):
        said = whose("handoff", "--summary", "Fix it").stdout + whose("status").stdout
        assert "No hook has run for this worktree in this session" in said
        assert "Open the PR with: lifecycle tick" in said
        assert not [word for word in PROMISES if word in said]
    seen = session.cli("doctor").stdout
    assert "No hook of this session has run" in seen
    assert "not a worktree that its agent went to later" in seen
    assert "Fix: start Claude Code at the top of this worktree" in seen
    names = {**client(), "CLAUDE_PID": "", "CLAUDE_CODE_SESSION_ID": ONE}
    old = place.cli("doctor", **names).stdout
    assert (
        "this version of Claude Code does not tell hooks its process (CLAUDE_PID is not set;" in old
    )
    assert "Fix: claude update" in old
    looked = session.cli("tick").stdout + session.cli("status").stdout
    assert "Look at CI, reviews and the merge with: lifecycle tick" in looked
    assert not [word for word in PROMISES if word in looked]
    assert "no hook is at work here that would start one" in session.cli("doctor").stdout


@SOAKED
@pytest.mark.parametrize("hook", ["session-start", "user-prompt-submit", "post-tool-use"])
def test_a_session_whose_hooks_run_is_promised_what_they_do(place: Place, hook: str) -> None:
    """Any of them shows it: a claim is made after the start, and handed off before the next prompt."""
    session, other = Session(place, ONE), Session(place, TWO)
    assert session.cli("claim", "42").returncode == 0
    place.work(str(place.claim()["branch"]), push=False)
    told = {"session-start": "SessionStart", "post-tool-use": "PostToolUse"}
    event = told.get(hook, "UserPromptSubmit")
    heard(session.launch(hook, event, source="startup", prompt="go on", tool_name="Bash"))
    said = session.cli("handoff", "--summary", "Fix it").stdout
    assert "The PR is opened at the agent's next stop" in said
    assert "No hook" not in said + session.cli("status").stdout + place.cli("status").stdout
    assert "No hook of this session" in other.cli("doctor").stdout  # its own were not seen


@SOAKED
def test_a_session_that_ended_and_was_resumed_lives(session: Session) -> None:
    """Its end was seen, and then it again: another session is told that the claim is held."""
    session.prompt()
    session.on_stop()
    session.end()
    session.start("resume")
    assert "held by another" in Session(session.place, TWO).start().model


@SOAKED
def test_a_take_over_while_the_old_owner_waits(session: Session) -> None:
    """The old waiter ends, and the new owner's waits in its place."""
    session.prompt()
    session.on_stop()
    (session.place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.05\n")
    session.place.clear()
    old = session.waiter()
    session.place.control.wait_for_requests(2, seconds=SECONDS)
    stranger = Session(session.place, TWO)
    assert stranger.cli("claim", "42").returncode == 0
    new = stranger.waiter()
    with ended(old, new):
        assert heard(old).is_silent
        session.place.control.merge_pull(46)
        assert heard(new).woke


@SOAKED
def test_claiming_again_takes_the_claim_over_in_this_session(session: Session) -> None:
    """What the held session's sentence offers: the owner changes, nothing else does."""
    session.prompt()
    session.on_stop()
    stranger = Session(session.place, TWO)
    done = stranger.cli("claim", "42")
    assert done.returncode == 0, done.stderr
    session.place.control.merge_pull(46)
    assert heard(session.waiter()).is_silent
    assert heard(stranger.waiter()).woke


@pytest.mark.parametrize("tracked", [".agent-claim.json", ".lifecycle/state.json"])
def test_a_claim_that_came_with_the_repository_is_refused_with_a_word(
    session: Session, tracked: str
) -> None:
    """What git tracks is somebody else's: nothing of it is shown, said or done, at any event."""
    place = session.place
    if tracked != ".agent-claim.json":
        session.on_stop()
        (place.root / ".lifecycle/.gitignore").unlink()
    place.git("add", "--force", tracked)
    place.clear()
    said = session.start()
    assert "is tracked by git" in said.model
    assert "is tracked by git" in said.person
    assert "Fix race condition" not in said.model
    assert session.on_stop().is_silent
    assert session.idle().is_silent
    assert session.prompt().is_silent
    assert heard(session.waiter()).is_silent
    for command in (("tick",), ("handoff", "--summary", "x"), ("close",), ("claim", "42")):
        done = session.cli(*command)
        assert done.returncode == 1, command
        assert "is tracked by git" in done.stderr
    assert place.requests() == []


@SOAKED
def test_a_claim_that_cannot_be_acted_on_is_said_at_every_start(session: Session) -> None:
    """What needs somebody is rendered from state, to the agent and to the person, while it stands."""
    session.place.write(schema_version=99)
    for source in ("startup", "compact"):
        said = session.start(source)
        assert "99" in said.model
        assert "99" in said.person
    session.place.write(schema_version=1)
    assert "99" not in session.start("clear").model


def plugin(place: Place) -> dict[str, str]:
    """A plugin folder of the command's version, as the client names it to its hooks."""
    return {"CLAUDE_PLUGIN_ROOT": str(installed_plugin(place.root.parent / "plugin"))}


@SOAKED
def test_versions_that_differ_are_said_once_to_the_person(session: Session) -> None:
    """The plugin and the command are updated apart; equal ones are no news."""
    copy = Session(session.place, ONE, plugin(session.place))
    assert "version" not in copy.start().person
    script = Path(copy.environment["CLAUDE_PLUGIN_ROOT"]) / "hooks/common"
    script.write_text("# of yesterday\n")
    person = copy.start("resume").person
    assert "plugin and the lifecycle command are of different versions" in person
    assert "claude plugin update lifecycle@lifecycle" in person
    assert "version" not in copy.start("clear").person


@SOAKED
def test_the_plugins_user_is_offered_permissions_once(session: Session) -> None:
    """Not without the plugin; once, to the person; and not where the settings allow it already."""
    place = session.place
    assert "--permissions" not in session.start().person
    copy = Session(place, ONE, plugin(place))
    assert "lifecycle init --permissions" in copy.start("resume").person
    assert "--permissions" not in copy.start("clear").person
    (place.root / ".lifecycle/state.json").unlink()
    ok(place.cli("init", "--permissions"))
    again = Session(place, ONE, {"CLAUDE_PLUGIN_ROOT": copy.environment["CLAUDE_PLUGIN_ROOT"]})
    assert "--permissions" not in again.start("compact").person


def test_where_init_put_its_hooks_the_plugins_copies_end_in_the_shell(session: Session) -> None:
    """init's mark lies in the project: the plugin's copies leave it to the others."""
    place = session.place
    (place.root / ".claude").mkdir()
    (place.root / ".claude/lifecycle.json").write_text("{}\n")
    copy = Session(place, ONE, plugin(place))
    assert copy.on_stop().is_silent
    assert copy.start().is_silent
    assert place.pulls() == {} or all(p["state"] != "open" for p in place.pulls().values())
    assert "PR #46 created" in session.on_stop().model


@SOAKED
def test_a_plugin_without_the_command_says_once_how_to_install_it(
    place: Place, tmp_path: Path
) -> None:
    """Nothing breaks and nothing is said by any other hook; the hint is shown to the person."""
    nothing = tmp_path / "bin"
    nothing.mkdir()
    for tool in ("mkdir", "sh"):
        found = shutil.which(tool)
        assert found is not None
        (nothing / tool).symlink_to(found)
    environment: dict[str, Any] = {
        **plugin(place),
        "PATH": str(nothing),
        "LIFECYCLE_BIN": "",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }
    place.ready()
    session = Session(place, ONE, environment)
    folder = environment["CLAUDE_PLUGIN_ROOT"]
    assert f"pipx install '{folder}' (or" in session.start().person
    assert session.start("clear").is_silent
    assert session.on_stop().is_silent
    assert heard(session.waiter()).is_silent


@SOAKED
def test_the_recorded_command_is_found_without_a_path(place: Place, tmp_path: Path) -> None:
    """A plugin has no Python environment: `bin` in the user's config folder names the command."""
    config = tmp_path / "config"
    (config / "lifecycle").mkdir(parents=True)
    spy = tmp_path / "a folder" / "lifecycle"
    spy.parent.mkdir()
    spy.write_text("#!/bin/sh\nexit 9\n")
    spy.chmod(0o755)
    (config / "lifecycle/bin").write_text(f"{spy}\n")
    place.ready()
    session = Session(place, ONE, {"LIFECYCLE_BIN": "", "XDG_CONFIG_HOME": str(config)})
    assert session.on_stop().code == 9
    spy.rename(place.root / "spy")
    (config / "lifecycle/bin").write_text(
        "./spy\n"
    )  # a relative line would start the project's own
    assert session.on_stop().code == 0
    (config / "lifecycle/bin").write_text(f"{spy}\n")
    assert session.on_stop().code == 0  # it is gone: `lifecycle` on PATH, or nothing


@SOAKED
def test_hooks_serve_the_worktree_that_the_project_folder_lies_in(session: Session) -> None:
    """The client was started in a subfolder: the claim at the worktree's root is served all the same."""
    below = session.place.root / "services" / "api"
    below.mkdir(parents=True)
    inner = Session(session.place, ONE, {"CLAUDE_PROJECT_DIR": str(below)})
    assert "PR #46 created" in inner.on_stop().model
    assert not (below / ".lifecycle").exists()


@SOAKED
def test_a_hook_that_is_only_linked_to_ends_quietly(session: Session, tmp_path: Path) -> None:
    """What the scripts share lies beside them; a lone link finds nothing and stops nobody."""
    link = tmp_path / "on-stop"
    link.symlink_to(hook_script("on-stop"))
    done = session.place.run(str(link), CLAUDE_CODE_SESSION_ID=ONE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "PR #46 created" in session.on_stop().model  # it had something to say


@SOAKED
def test_green_of_the_head_before_is_told_as_no_green_of_a_new_one(session: Session) -> None:
    """More was pushed since the checks passed: a start asks GitHub, and nobody is told of green."""
    place = session.place
    session.on_stop()
    place.control.set_check(46, "test", conclusion="success")
    session.cli("tick")
    assert "PR #46 waits for a person to merge it" in place.cli("status").stdout
    place.work()
    place.control.set_check(46, "test", conclusion="failure")
    session.end()
    told = Session(place, TWO).start()
    status = json.loads(place.cli("status", "--json").stdout)
    views = (told.model, place.cli("status").stdout, place.cli("watch", "--once").stdout)
    for view in views:
        assert "passed" not in view
        assert "a person to merge" not in view
        assert "is ready to merge" not in view
    assert status["claim"]["checks"] is None


def test_a_rejected_task_is_told_alike_to_agent_and_person(session: Session) -> None:
    """A maintainer closes PR and issue: nobody is told that it stays open, or to hand off again."""
    place = session.place
    session.on_stop()
    place.control.close_pull(46)
    place.control.close_issue(42)
    session.end()
    told = Session(place, TWO).start()
    sentence = "PR #46 was closed without being merged, and issue #42 is closed, too; "
    ticked = place.cli("tick", CLAUDE_CODE_SESSION_ID=TWO).stdout
    watch = " ".join(place.cli("watch", "--once").stdout.split())
    for view in (told.model, told.person, ticked, place.cli("status").stdout, watch):
        assert view.count(sentence) == 1, view
        assert "stays open" not in view
        assert "lifecycle handoff" not in view
        assert "was closed on GitHub in the meantime" not in view


@SOAKED
def test_who_comes_back_to_the_question_hears_that_somebody_closed_the_issue(
    session: Session,
) -> None:
    """The question about closing waited overnight; a person, or a sweep, closed the issue meanwhile."""
    asked(session)
    session.end()
    session.place.control.close_issue(42)
    morning = Session(session.place, TWO).start()
    for view in (morning.model, morning.person, session.place.cli("status").stdout):
        assert "Issue #42 is already closed" in view
        assert QUESTION not in view


def test_status_and_start_say_a_thing_once(session: Session) -> None:
    """What waits to be said may say what comes next, too; and a start's claim what waits to be said."""
    place = session.place
    session.on_stop()
    for conclusion, once in (
        ("success", "a person to merge it"),
        ("failure", "Fix, commit and push"),
    ):
        place.control.set_check(46, "test", conclusion=conclusion)
        place.cli("tick")
        for command in (("status",), ("watch", "--once")):
            shown = " ".join(place.cli(*command).stdout.split())
            assert shown.count(once) == 1, shown
            assert "is ready to merge. PR" not in shown
    place.control.close_pull(46)
    session.end()
    assert Session(place, TWO).start().model.count("hand off again") == 1


def test_nobody_watches_once_the_session_is_over(session: Session) -> None:
    """No session and no waiter lives: a terminal is told of the command that looks, by every view."""
    place = session.place
    session.on_stop()
    session.start()
    assert "are watched" in place.cli("status").stdout
    session.end()
    place.control.set_check(46, "test", conclusion="failure")
    views = [place.cli("status").stdout, place.cli("watch", "--once").stdout]
    assert "Look at CI, reviews and the merge with: lifecycle tick" in views[0]
    assert "session that works on #42 is over" in views[0]
    views += [place.cli(command).stdout for command in ("tick", "status")]
    views += [place.cli("watch", "--once").stdout]
    assert "Fix, commit and push; then look with: lifecycle tick" in views[2]
    assert not any("watched" in view for view in views)


def test_an_unattended_session_is_told_of_the_command_that_waits(session: Session) -> None:
    """`claude -p` starts no waiter: neither its start nor a status in it says that anything is watched."""
    place = session.place
    session.on_stop()
    session.end()
    alone = Session(place, TWO, {"CLAUDE_CODE_SESSION_ATTENDED": "0"})
    told = alone.start().model
    status = place.cli("status", CLAUDE_CODE_SESSION_ID=TWO, **alone.environment).stdout
    for view in (told, status):
        assert "wait for them with: lifecycle wait" in view
        assert "are watched" not in view


@pytest.mark.parametrize("attended", ["0", "1"])
def test_a_start_tells_the_claim_without_settings(session: Session, attended: str) -> None:
    """Nobody is sent to wait for a hook then: each ends before it looks. The claim is told all the same."""
    place = session.place
    session.on_stop()
    session.end()
    (place.root / ".lifecycle.toml").write_text("close = 5\n")
    told = Session(place, TWO, {"CLAUDE_CODE_SESSION_ATTENDED": attended}).start().model
    assert "Claim: issue #42" in told
    assert "Look at CI, reviews and the merge with: lifecycle tick" in told
    assert 'close in .lifecycle.toml must be "ask" or "auto"' in told


def test_a_start_promises_no_watch_that_the_refused_token_prevents(session: Session) -> None:
    """The hook says of the claim what `lifecycle status` says: a rule of its own promised the watch."""
    session.on_stop()
    session.environment["GH_TOKEN"] = "ghp_refused"
    session.idle()
    told = session.start().model
    assert "with: lifecycle tick" in told
    assert told in session.cli("status", GH_TOKEN="ghp_refused").stdout


def test_a_compaction_before_the_second_prompt_is_a_hook_that_was_seen(session: Session) -> None:
    """A task that was claimed in the first turn: no folder was there in which a start notes it."""
    event = session.payload("PreCompact", trigger="auto")
    told = session.place.hook("pre-compact", event, **session.variables()).stdout
    assert "issue #42" in told
    assert "No hook has run" not in told


def test_a_compaction_keeps_no_yes_that_would_not_count(session: Session) -> None:
    """Where prompts are not heard, the summary gets the same way to close as everything that asks."""
    session.on_stop()
    place = session.place
    (place.root / ".lifecycle/prompts").unlink(missing_ok=True)
    place.control.merge_pull(46)
    session.idle()
    event = session.payload("PreCompact", trigger="auto")
    kept = place.hook("pre-compact", event, **session.variables()).stdout
    assert '"phase": "done" does not count here' in kept
