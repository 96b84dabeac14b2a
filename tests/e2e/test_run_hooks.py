"""An autonomous run at process level: the real hooks in sh, and the command line beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.stage_names import Detected
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Led, Run, Story, UserFix
from lifecycle.run.table import RunPhase, RunStatus, StoryStatus, TddPhase
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage import journal
from lifecycle.views.stats.summary import Summary
from tests.conftest import Place
from tests.e2e.client import Session, heard
from tests.e2e.staged import Ground, marker
from tests.stages.written import Written

SOAKED = pytest.mark.soak(
    "e2e/test_run_hooks.py::test_a_session_that_leads_a_run_goes_on_until_it_is_complete",
    "run/stop/test_decide.py::test_an_open_run_goes_on_with_what_comes_next",
)

ONE, TWO = "11111111-aaaa-4bbb-8ccc-000000000001", "22222222-aaaa-4bbb-8ccc-000000000002"
COMPLETE = "## WORKFLOW_COMPLETE\n**Goal:** Take payments"
OPEN = Story("S1", "Keep payments", status=StoryStatus.IN_PROGRESS, tdd=TddPhase.RED)
FIX = UserFix("B1", "Add the Stripe key", 1_800_000_000.0, check_command=("make", "check"))


def store(place: Place) -> RunStore:
    """The run's file."""
    deadline = Deadline.after(SystemClock(), 30)
    return RunStore(place.root, place.environment, deadline)


def change(place: Place, **more: Any) -> Run:
    """Somebody's command changes the run."""
    with store(place).changing() as changing:
        changing.run = replace(changing.run, **more)
        return changing.run


def the_run(place: Place) -> Run:
    """The run as it lies there."""
    return store(place).demanded()


@pytest.fixture
def session(place: Place) -> Session:
    """A session that began a run, which is in the middle of its one story."""
    found = Session(place, ONE)
    done = found.cli("run", "init", "Goal: Take payments")
    assert done.returncode == 0, done.stderr
    change(place, phase=RunPhase.DEVELOPMENT, stories=(OPEN,))
    return found


def stop(session: Session, message: str = "Done.", **more: Any) -> tuple[str, str]:
    """A Stop with this last message: what reaches the model, and the person."""
    payload = {"stop_hook_active": False, "background_tasks": [], **more}
    said = session.run("on-stop", "Stop", last_assistant_message=message, **payload)
    assert said.code == 0
    return said.model, said.person


def test_a_session_that_leads_a_run_goes_on_until_it_is_complete(session: Session) -> None:
    """Blocked with what comes next, however often; with state and word it stops, and then costs nothing."""
    place = session.place
    model, person = stop(session)
    assert "development, 0 of 1 stories, turn 1 of 100" in model
    assert "Next: " in model
    assert person == ""
    again, _ = stop(session, COMPLETE)
    assert "Missing: S1" in again
    assert the_run(place).iterations == 2
    change(place, status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION, stories=())
    assert "closing block" in stop(session)[0]
    assert stop(session, COMPLETE) == ("", "")
    assert not (place.root / ".lifecycle/run").exists()
    entries = [entry for entry in journal.read(place.root) if entry.system == journal.RUN]
    assert [entry.kind for entry in entries] == ["block", "block", "transition", "block"]
    told = Summary(journal.read(place.root))
    run = the_run(place)
    assert (told.tasks[run.id], run.id in told.done) == ("Take payments", True)


def test_without_a_run_no_process_is_started(place: Place, tmp_path: Path) -> None:
    """Every hook ends in the shell: the command that it would start is not there to be found."""
    spy = tmp_path / "spy"
    spy.write_text("#!/bin/sh\nexit 9\n")
    spy.chmod(0o755)
    session = Session(place, ONE, {"LIFECYCLE_BIN": str(spy), "LIFECYCLE_PROJECT_NUMBER": ""})
    (place.root / ".lifecycle").mkdir(exist_ok=True)
    assert session.on_stop().code == 0
    assert session.start().code == 0
    assert session.run("pre-compact", "PreCompact", trigger="auto").code == 0
    (place.root / ".lifecycle/run").touch()
    assert session.on_stop().code == 9
    assert session.run("pre-compact", "PreCompact", trigger="auto").code == 9


@SOAKED
def test_a_person_who_is_waited_for_is_told_once(session: Session) -> None:
    """The session may stop; the instructions come with the first stop, and with another session's start."""
    change(session.place, status=RunStatus.AWAITING_USER, fix=FIX)
    model, person = stop(session)
    assert model == ""
    for words in ("Add the Stripe key", '"make check"', "user-fix-complete"):
        assert words in person
    assert stop(session) == ("", "")
    started = session.start("resume")
    assert "user-fix-complete" in started.person
    assert "Do not continue the run" in started.model


@SOAKED
def test_no_hook_runs_the_command_that_checks_a_fix(session: Session) -> None:
    """Whatever it is, stop, start, prompt and compaction leave it alone: `check-user-fix` runs it."""
    place = session.place
    fix = replace(FIX, check_command=("touch", str(place.root / "was-run")))
    change(place, status=RunStatus.AWAITING_USER, fix=fix)
    assert "user-fix-complete" in stop(session)[1]
    assert "user-fix-complete" in session.start("resume").person
    session.prompt("It is fixed.")
    kept, _ = session.launch("pre-compact", "PreCompact", trigger="auto").communicate(timeout=60)
    assert kept
    assert not (place.root / "was-run").exists()
    assert session.cli("run", "check-user-fix").returncode == 0
    assert (place.root / "was-run").exists()


@SOAKED
def test_a_persons_prompt_is_noted_while_a_run_waits(session: Session) -> None:
    """Without a claim, too: what the person wrote may be the answer; a wake is none."""
    mark = session.place.root / ".lifecycle/answered"
    session.wake("The tests ended.")
    assert not mark.exists()
    session.prompt("It is fixed.")
    assert mark.exists()


@SOAKED
def test_the_claims_news_stand_before_the_runs(session: Session) -> None:
    """One reply: the new pull request, then what the run goes on with."""
    session.place.ready()
    model, _ = stop(session)
    assert model.index("PR #46 created") < model.index("is not complete, so go on")


@SOAKED
def test_a_github_that_hangs_lets_no_session_go(session: Session) -> None:
    """The claim's look ends early enough for the run beside it."""
    session.place.ready()
    fault = Fault("hang", operation="ObserveClaim", when="before")
    session.place.control.add_fault(fault)
    assert "is not complete, so go on" in stop(session)[0]


@SOAKED
def test_a_run_that_waits_holds_the_claims_news_back(session: Session) -> None:
    """Nothing makes the agent go on while a person is waited for: it comes with the next prompt."""
    place = session.place
    change(place, status=RunStatus.AWAITING_USER, fix=FIX)
    place.ready()
    model, person = stop(session)
    assert (model, "Add the Stripe key" in person) == ("", True)
    assert place.claim()["pr_number"] == 46
    assert "PR #46 created" in session.prompt("It is there.").model


@SOAKED
def test_a_cap_lets_the_session_go_and_keeps_the_run(session: Session) -> None:
    """The settings' cap counts; the person is told, once, and the brake holds."""
    place = session.place
    (place.root / ".lifecycle.toml").write_text("[run]\nmax_iterations = 1\n")
    assert "turn 1 of 1" in stop(session)[0]
    model, person = stop(session)
    assert (model, "cap of 1 iterations" in person) == ("", True)
    assert the_run(place).status is RunStatus.STOPPED
    assert stop(session, COMPLETE) == ("", "")
    assert "lifecycle run resume" in session.start("resume").person


def test_a_second_session_is_told_whose_the_run_is_and_is_not_led(session: Session) -> None:
    """At its start, and not at its stops; nor is a subagent, nor a session that has no id."""
    place = session.place
    # Nobody knows its client: it counts as there for an hour.
    change(place, led=(Led(ONE, the_run(place).started),))
    second = Session(place, TWO)
    told = second.start()
    assert "led by another session" in told.model
    assert "led by another session" in second.cli("run", "recover").stdout
    assert stop(second) == ("", "")
    assert the_run(place).session == ONE
    assert stop(session, agent_id="a1") == ("", "")
    subagent = session.run("on-stop", "SubagentStop", last_assistant_message="x", agent_id="a1")
    assert subagent.is_silent
    nobody = Session(place, "")
    assert stop(nobody) == ("", "")
    assert the_run(place).iterations == 0


def test_a_person_is_told_of_all_that_the_run_waits_for(session: Session) -> None:
    """Two services are missing: the stop names both, and the check is that of both."""
    for number, (what, file) in enumerate((("a key", "key.txt"), ("an account", "mail.txt")), 1):
        assert session.cli("run", "add-blocker", f"{what} is missing").returncode == 0
        check = ("--check-command", f"test -f {file}")
        asked = session.cli("run", "await-user-fix", f"B{number}", f"Make {what}", *check)
        assert asked.returncode == 0, asked.stderr
    model, person = stop(session)
    assert model == ""
    assert "(B1, B2)" in person
    for words in ("B1: Make a key; B2: Make an account", "test -f key.txt && test -f mail.txt"):
        assert words in person
    recovered = session.cli("run", "recover").stdout
    assert "Do not continue it: a person comes first." in recovered
    assert "Continuing" not in recovered
    for file, is_fixed in (("key.txt", False), ("mail.txt", True)):
        (session.place.root / file).write_text("x")
        checked = json.loads(session.cli("run", "check-user-fix").stdout)
        assert checked["can_resume"] is is_fixed


def test_a_second_session_changes_nothing_of_a_run_that_a_living_one_leads(
    session: Session,
) -> None:
    """Nor does it commit in its name, or finish it; whoever leads it, a person, and who comes later may."""
    place = session.place
    fix = UserFix("B1", "Make a key", 1.0, ("touch", "looked"))
    change(place, led=(Led(ONE, the_run(place).started),), fix=fix)
    second, before = Session(place, TWO), the_run(place)
    for words in (
        ("add-story", "intruder"),
        ("add-failure", "S1", "bad"),
        ("add-blocker", "no key", "--severity", "high", "--story", "S1"),
        ("update-phase", "planning"),
        ("commit", "S1"),
        ("check-user-fix",),
        ("gate", "G2", "S1"),
        ("finish",),
    ):
        done = second.cli("run", *words)
        assert done.returncode == 1, done.stdout
        assert "led by another session" in done.stderr
        assert "leave its work alone" in done.stderr
    assert the_run(place) == before
    assert not (place.root / "looked").exists(), "nothing is run first"
    assert second.cli("run", "status").returncode == 0
    assert session.cli("run", "add-failure", "S1", "bad").returncode == 0
    assert place.cli("run", "add-failure", "S1", "worse").returncode == 0
    change(place, led=(Led(ONE, the_run(place).started, 2**22 - 3),))
    assert second.cli("run", "add-failure", "S1", "again").returncode == 0


@SOAKED
def test_a_run_whose_session_is_gone_is_led_by_the_next_one(session: Session) -> None:
    """Its client's process is not there any more: the next start adopts it, and says where it stands."""
    place = session.place
    change(place, led=(Led(ONE, the_run(place).started, 2**22 - 3),))
    second = Session(place, TWO)
    told = second.start()
    for words in ("Autonomous run", "Keep payments", "uncommitted", "test not run yet", "Next: "):
        assert words in told.model
    assert the_run(place).session == TWO
    assert "go on" in stop(second)[0]
    assert stop(session) == ("", "")


@SOAKED
def test_after_clear_the_same_client_goes_on(session: Session) -> None:
    """Its session has another id, and its process is the same."""
    session.start()
    second = Session(session.place, TWO)
    assert "This session leads the run" in second.start("clear").model
    assert "go on" in stop(second)[0]


@SOAKED
def test_a_run_that_a_person_began_is_led_by_the_next_session(place: Place) -> None:
    """A stop of one that was there already is not held; the next start adopts the run."""
    there = Session(place, ONE)
    done = place.cli("run", "init", "Take payments")
    assert done.returncode == 0, done.stderr
    assert stop(there) == ("", "")
    assert "This session leads the run" in there.start("compact").model
    assert "go on" in stop(there)[0]


@SOAKED
def test_a_completed_run_does_not_come_back(session: Session) -> None:
    """No start speaks of it, neither its own session's nor that of another one, which was told before."""
    assert "Autonomous run" in Session(session.place, TWO).start().model
    change(session.place, status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION)
    for one in (session, Session(session.place, f"{TWO[:-1]}3")):
        started = one.start()
        assert "Autonomous run" not in started.model
        assert started.person == ""


@SOAKED
def test_a_completed_run_whose_session_is_gone_leaves_no_mark(session: Session) -> None:
    """The next session's start takes it away; its own session keeps it until a stop lets it go."""
    place = session.place
    mark = place.root / ".lifecycle/run"
    led = (Led(ONE, the_run(place).started, 2**22 - 3),)
    change(place, status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION, led=led)
    session.start("compact")
    assert mark.exists()
    Session(place, TWO).start()
    assert not mark.exists()


@SOAKED
@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"version": 99}', "later release"),
        ('{"id": ', "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_strange_state_is_said_in_a_sentence(session: Session, content: str, words: str) -> None:
    """At a start and at one stop; the file is kept as it is, and nobody is held."""
    path = session.place.root / ".claude/workflow-state.json"
    path.write_text(content)
    model, person = stop(session)
    assert model == ""
    assert words in person
    assert stop(session) == ("", "")
    started = session.start()
    assert words in started.model
    assert words in started.person
    assert path.read_text() == content


def test_a_person_is_told_once_that_the_runs_file_is_gone(session: Session) -> None:
    """Whoever deleted it: the session ended without a word. Back again, the next command holds it again."""
    path = session.place.root / ".claude/workflow-state.json"
    content = path.read_bytes()
    path.unlink()
    model, person = stop(session)
    assert model == ""
    assert "workflow-state.json is gone, so no session is held" in person
    assert stop(session) == ("", "")
    path.write_bytes(content)
    assert session.place.cli("run", "status").returncode == 0
    assert "is not complete, so go on" in stop(session)[0]


@SOAKED
def test_a_state_that_came_with_the_repository_leads_nobody(session: Session) -> None:
    """Tracked by git it is a stranger's, whatever it says."""
    place = session.place
    place.git("add", "--force", ".claude/workflow-state.json")
    model, person = stop(session)
    assert (model, "tracked by git" in person) == ("", True)
    assert "tracked by git" in session.start().model


@SOAKED
def test_what_a_summary_must_keep_is_plain_text(session: Session) -> None:
    """Goal, story, phase and what comes next; JSON would be an error there. Another session's has none."""
    process = session.launch("pre-compact", "PreCompact", trigger="auto")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    text = out.decode()
    for words in ('Goal: "Take payments"', "Keep payments", "TDD red", "Verified last", "Next: "):
        assert words in text
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    other = Session(session.place, TWO).launch("pre-compact", "PreCompact", trigger="manual")
    assert other.communicate(timeout=60)[0] == b""
    subagent = session.launch("pre-compact", "PreCompact", trigger="auto", agent_id="a1")
    assert subagent.communicate(timeout=60)[0] == b""


@SOAKED
def test_tokens_are_counted_from_the_transcript(session: Session, tmp_path: Path) -> None:
    """Each answer once, since the session leads the run, without the cache; nothing is read twice."""
    place = session.place
    change(place, led=(Led(ONE, 1_800_000_000.0),))
    path = tmp_path / "transcript.jsonl"

    def line(name: str, at: str, tokens: int) -> str:
        usage = {"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 999_999}
        entry = {"type": "assistant", "timestamp": at, "message": {"id": name, "usage": usage}}
        return json.dumps(entry) + "\n"

    before, after = "2027-01-15T07:59:59.000Z", "2027-01-15T08:00:01.000Z"
    path.write_text(line("a", before, 500) + 2 * line("b", after, 10) + line("c", after, 20)[:-9])
    stop(session, transcript_path=str(path))
    assert the_run(place).led[-1].tokens == 11
    path.write_text(line("a", before, 500) + 2 * line("b", after, 10) + line("c", after, 20))
    stop(session, transcript_path=str(path))
    assert the_run(place).led[-1].tokens == 32


@SOAKED
def test_the_staged_workflow_waits_for_the_run_and_then_closes_the_task(ground: Ground) -> None:
    """While a run leads the session no stage is asked for; once it is complete, COMMIT_CLOSE is next."""
    task = ground.task("First")
    ground.task("Second")
    agent = ground.agent()
    agent.prompt("Do the first one")
    agent.really_runs(ground.command, "tracker", "claim", task)
    names = {"CLAUDE_CODE_SESSION_ID": agent.session.id, **agent.session.environment}
    done = ground.place.cli("run", "init", "Take payments", **names)
    assert done.returncode == 0, done.stderr
    held = agent.stops(marker(Detected.CODING_COMPLETE))
    assert "is not complete, so go on" in held.model
    assert "CURRENT STAGE" not in held.model
    change(ground.place, status=RunStatus.COMPLETED, phase=RunPhase.COMPLETION)
    closed = agent.stops(COMPLETE)
    assert closed.model.startswith("The stage was set by the end of the run.")
    assert "CURRENT STAGE: COMMIT_CLOSE" in closed.model
    ground.bd("close", task, "--reason", "Done")
    assert "CURRENT STAGE: NEXT_TASK" in agent.stops(marker(Detected.ISSUE_CLOSED)).model
    started = agent.cleared().starts("clear")
    assert "Autonomous run" not in started.model


@SOAKED
def test_clear_begins_no_other_task_while_a_run_is_under_way(ground: Ground) -> None:
    """No next task's instruction is given, in the background or at the start: the run goes on."""
    ground.task("First")
    agent = ground.agent()
    names = {"CLAUDE_CODE_SESSION_ID": agent.session.id, **agent.session.environment}
    assert ground.place.cli("run", "init", "Take payments", **names).returncode == 0
    agent.stops("Well.")
    cleared = agent.cleared()
    assert cleared.session.run("on-clear", "SessionStart", source="clear").is_silent
    started = cleared.starts("clear")
    assert "This session leads the run" in started.model
    assert "CURRENT STAGE" not in started.model


@SOAKED
def test_hooks_that_are_installed_twice_count_one_turn(ground: Ground) -> None:
    """Two copies of one stop: one of them answers, whichever is first."""
    agent = ground.agent()
    names = {"CLAUDE_CODE_SESSION_ID": agent.session.id, **agent.session.environment}
    assert ground.place.cli("run", "init", "Take payments", **names).returncode == 0
    for turn in (1, 2):
        agent.says("Well.")
        copies = [agent.begins_to_stop("Well.") for _ in range(2)]
        replies = [heard(copy) for copy in copies]
        (told,) = [reply for reply in replies if reply.model]
        agent.hears(told)
        assert the_run(ground.place).iterations == turn


@SOAKED
def test_long_turns_that_end_in_the_same_words_are_two(session: Session, tmp_path: Path) -> None:
    """What began them lies further back than is read, and they are no copies of one stop."""
    written = Written().human("Go on")
    for turn in (1, 2):
        for _ in range(30):
            written.bash("make", 50_000 * "x")
        written.says("I go on.")
        path = written.at(tmp_path)
        assert f"turn {turn} of" in stop(session, "I go on.", transcript_path=path)[0]
        written.feedback("Go on.")


def test_a_session_in_plan_mode_may_stop(session: Session) -> None:
    """It may change nothing there: five answers to a person stopped the run as stuck."""
    for _ in range(6):
        assert stop(session, "This is the plan.", permission_mode="plan") == ("", "")
    assert the_run(session.place).status is RunStatus.ACTIVE
    assert "turn 1 of 100" in stop(session, "This is the plan.")[0]


@SOAKED
@pytest.mark.parametrize(
    ("kind", "is_waited_for"), [("subagent", True), ("shell", False), ("monitor", False)]
)
def test_an_agent_in_the_background_is_waited_for(
    session: Session, kind: str, is_waited_for: bool
) -> None:
    """It ends some time, and the client wakes the session; what may never end is not waited for."""
    task = {"id": "b1", "type": kind, "status": "running"}
    said = stop(session, background_tasks=[task])[0]
    assert (said == "") is is_waited_for
    assert "go on" in (said or stop(session)[0])  # once it has ended


def test_a_lock_that_is_held_lets_the_session_stop(session: Session) -> None:
    """Somebody changes the run for longer than a hook may take: nothing is counted, the person is told."""
    place = session.place
    (place.root / ".lifecycle.toml").write_text("")
    session.environment["LIFECYCLE_HOOK_SECONDS"] = "2"
    with store(place).locked():
        model, person = stop(session)
    assert (model, the_run(place).iterations) == ("", 0)
    why = "The run cannot be saved (another lifecycle process is at work on it), so it is unchanged"
    log = place.root / ".lifecycle/log"
    assert person.startswith(why) or "the deadline was reached" in log.read_text()


@SOAKED
def test_settings_that_cannot_be_read_leave_the_caps_as_they_are(session: Session) -> None:
    """A mistake in the file holds nobody back, and lets nobody go."""
    (session.place.root / ".lifecycle.toml").write_text("[run]\nmax_iterations = 0\n")
    assert "turn 1 of 100" in stop(session)[0]
