"""`lifecycle status` says everything about the worktree once, from files alone."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from msgspec.structs import replace as changed

from lifecycle.claim.decisions.table import Phase
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.stage_names import Stage
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Blocker, Story, UserFix
from lifecycle.run.table import RunStatus, StoryStatus
from lifecycle.storage.store import CLAIM_FILE
from tests import factories
from tests.cli.outcome import refused
from tests.cli.views.view_ground import EVIL, ViewGround
from tests.views.overview.overview_ground import NOTE, PULL

NO_CLAIM = "This worktree has no claim; claim a task with: lifecycle claim <number>"


def test_nothing(ground: ViewGround) -> None:
    """A worktree with nothing in it has the one line that it had before, and nothing is written."""
    assert ground.status() == [NO_CLAIM]
    assert ground.data()["claim"] is None
    assert not (ground.root / ".lifecycle").exists()


@pytest.mark.parametrize("phase", Phase)
def test_a_claim_alone_has_its_own_lines_first(ground: ViewGround, phase: Phase) -> None:
    """In every phase its line comes first, no line is said twice, and JSON has the file's fields."""
    number = None if phase in (Phase.CODING, Phase.READY_FOR_PR) else 107
    memory = {"pull.url": PULL, "judged": phase.value}
    ground.claim(memory=memory, phase=phase.value, pr_number=number)
    lines = ground.status()
    assert lines[0].startswith(f"Claim: issue #42 on branch {factories.BRANCH}, phase {phase}")
    assert len(set(lines)) == len(lines)
    claim = ground.data()["claim"]
    kept = json.loads((ground.root / CLAIM_FILE).read_text())
    assert {name: claim[name] for name in kept} == kept
    assert (claim["pr_url"], claim["issue"]) == (PULL, 42)


def test_everything_at_once(ground: ViewGround) -> None:
    """Claim, checks, stage, run with its stories, what waits and since when, and the journal: each once."""
    ground.everything()
    text = "\n".join(lines := ground.status())
    assert lines[0].startswith("Claim: issue #42")
    assert "CI: 3/3 passed." in lines
    assert "PR #107 waits for a person to merge it. [waits for 30 min]" in lines
    assert "Stage: TESTING of #42, told to go on 2 times." in lines
    assert 'Run: "Implement payments", development, active; 1 of 3 stories completed.' in lines
    assert '- S2 "Pay back": in progress, red, attempt 1' in lines
    assert "claim #42: pr_created → checks_running" in text
    assert text.count("waits for a person") == 1
    assert "Waits for a person:" not in text


def test_a_question_is_printed_once(ground: ViewGround) -> None:
    """Also where it waits on the queue, is what the claim waits for, and waits for a person."""
    question = messages.merged(107, 42, is_open=True)
    notice = Notice("merged:107", question, Audience.ASK)
    memory = {"pull.url": PULL, "judged": "merged_detected"}
    asked = ground.clock.now() - 240
    ground.claim({"merged:107": asked}, (notice,), memory, phase="merged_detected", pr_number=107)
    text = "\n".join(ground.status())
    assert text.count("Should I close issue #42?") == 1
    assert f"{question} [waits for 4 min]" in text
    assert ground.data()["waiting"] == [question]


def test_what_waits_for_a_person_is_said_with_where_to_act(ground: ViewGround) -> None:
    """What no line of the claim says has a line of its own: for how long, what, and the command."""
    fix = UserFix("B1", "Renew the certificate", ground.clock.now() - 7200)
    ground.run(status=RunStatus.AWAITING_USER, fix=fix)
    lines = ground.status()
    assert lines[0] == NO_CLAIM
    at = lines.index("Waits for a person:")
    assert lines[at + 1] == (
        "- for 2.0 h: The run waits: Renew the certificate (lifecycle run user-fix-complete)"
    )


def test_what_waits_to_be_said(ground: ViewGround) -> None:
    """A notice that nobody has heard is there, once, and stays on the queue."""
    ground.claim(queue=(NOTE,))
    for _ in range(2):
        assert "\n".join(ground.status()).count(NOTE.text) == 1


def test_a_blocker_of_the_run(ground: ViewGround) -> None:
    """What blocks a run is a line of its own."""
    blocker = Blocker("B1", "No key for the bank", "high", at=5.0, story="S2")
    ground.run(blockers=(blocker,))
    assert [line for line in ground.status() if "No key for the bank" in line]


@pytest.mark.parametrize(
    ("memory", "line"),
    [
        ({}, "Stage: TESTING of #42, told to go on 2 times."),
        ({"set_stage": Stage.CODING}, "Stage: CODING of #42, set by hand, told at the next stop."),
        ({"is_let_go": True}, "Stage: TESTING of #42, let go after it was told too often."),
    ],
)
def test_a_stage_alone(ground: ViewGround, memory: dict[str, Any], line: str) -> None:
    """The staged workflow is shown where it is in use, without a claim as well."""
    ground.stage(**memory)
    assert line in ground.status()


def test_a_switched_off_workflow_says_so(ground: ViewGround) -> None:
    """`lifecycle stage off` is seen."""
    ground.stage()
    assert ground.cli("stage", "off").returncode == 0
    assert "Stage: the staged workflow is switched off in this worktree." in ground.status()


CORRUPT = {
    "settings": (".lifecycle.toml", "Settings"),
    "run": (".claude/workflow-state.json", "Run"),
    "events": (".git/lifecycle/journal.db", "Events"),
}


@pytest.mark.parametrize("part", CORRUPT)
def test_a_broken_part_costs_that_part_and_says_why(ground: ViewGround, part: str) -> None:
    """All others are shown, the exit code is 0, and what lies there is kept."""
    ground.everything()
    path, word = CORRUPT[part]
    for tail in ("-wal", "-shm"):
        (ground.root / f"{path}{tail}").unlink(missing_ok=True)
    (ground.root / path).write_bytes(b"{ not this")
    lines = ground.status()
    assert lines[0].startswith("Claim: issue #42")
    (told,) = [line for line in lines if line.startswith(f"{word}: ")]
    assert len(told) > 30
    assert [line for line in lines if line.startswith("Stage: TESTING")]
    data = ground.data()
    assert list(data["troubles"]) == [part]
    assert (ground.root / path).read_bytes() == b"{ not this"


def test_with_broken_settings_nothing_is_said_to_be_watched(ground: ViewGround) -> None:
    """Every hook ends before it looks: the settings' sentence stands there, and what to do by hand."""
    memory = {"pull.url": PULL, "judged": "checks_running", "ownership.session": "session-1"}
    ground.claim({}, (), memory, phase="checks_running", pr_number=107)
    (ground.root / ".lifecycle/hooks-session-1").touch()
    session = {"CLAUDE_CODE_SESSION_ID": "session-1", "CLAUDE_CODE_SESSION_ATTENDED": "1"}
    asking = {"CLAUDECODE": "1", "CLAUDE_PID": "1", **session}
    assert "CI, reviews and the merge are watched" in "\n".join(ground.status(**asking))
    (ground.root / ".lifecycle.toml").write_text("<<<<<<< HEAD\n")
    text = "\n".join(ground.status(**asking))
    assert "are watched" not in text
    assert "with: lifecycle tick" in text
    assert "Settings: .lifecycle.toml is not valid TOML" in text


def test_a_broken_claim_is_exit_1_and_costs_no_other_part(ground: ViewGround) -> None:
    """The sentence goes to standard error as before; JSON has it as `error`, beside everything else."""
    ground.everything()
    (ground.root / CLAIM_FILE).write_bytes(b"{ not this")
    done = ground.cli("status")
    sentence = refused(done)
    assert CLAIM_FILE in sentence
    assert "Stage: TESTING" in done.stdout
    assert "Claim" not in done.stdout
    data = ground.data(1)
    assert data["error"]["kind"] == "ClaimRefused"
    assert data["error"]["sentence"] in sentence
    assert data["claim"] is None
    assert data["stage"]["stage"] == "TESTING"


def test_a_session_that_does_not_hold_the_claim_is_not_told_what_it_waits_for(
    ground: ViewGround,
) -> None:
    """It is told to leave it alone, and nothing of what the holder's person has to do."""
    memory = {"pull.url": PULL, "judged": "merged_detected", "ownership.session": "session-1"}
    ground.claim({"merged:107": 500.0}, (), memory, phase="merged_detected", pr_number=107)
    (ground.root / ".lifecycle/seen").write_text("session-1 1\n")
    text = "\n".join(
        ground.status(CLAUDECODE="1", CLAUDE_CODE_SESSION_ID="session-2", CLAUDE_PID="1")
    )
    assert "do not work on it here" in text
    assert "lifecycle close" not in text
    assert "Should I close" not in text


def test_what_strangers_wrote_is_data(ground: ViewGround) -> None:
    """Titles, names and goals move no terminal, and pass for nobody's words."""
    memory = {"title": EVIL, "pull.checks": {"failed": [EVIL], "passed": 1}, "pull.url": PULL}
    ground.claim(memory=memory, branch=EVIL, phase="checks_running", pr_number=107)
    ground.run(goal=EVIL)
    ground.moved("coding", ground.clock.now(), source="", detail={"title": EVIL})
    done = ground.cli("status")
    text = done.stdout + ground.cli("status", "--json").stdout
    assert "evil.example" in text
    assert not [c for c in text if not c.isprintable() and c != "\n"]
    below = done.stdout[done.stdout.index("Run: ") :]
    assert "<system-reminder>" not in text
    assert ":::" not in below


def test_many_stories_are_cut_and_said_to_be(ground: ViewGround) -> None:
    """What is open comes first, and the command that has all of them is named."""
    done = tuple(Story(f"S{n}", "One", status=StoryStatus.COMPLETED) for n in range(1, 9))
    ground.run()
    open_ones = tuple(Story(f"S{n}", "Two") for n in range(9, 12))
    store = RunStore(ground.root, ground.environment, ground.deadline)
    run = store.load()
    assert run is not None
    shutil.rmtree(ground.root / ".claude")
    with store.locked():
        store.begin(changed(run, stories=done + open_ones))
    lines = ground.status()
    assert [line for line in lines if line.startswith("- S")] == [
        f'- S{n} "Two": pending' for n in range(9, 12)
    ]
    assert "- … and 8 more: lifecycle run status --all" in lines
