"""`lifecycle watch` on a real terminal: live, sized to the window, with keys, and clean when it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import jsonschema_rs
import pytest
from rich.cells import cell_len

from lifecycle.run.state import Story, UserFix
from lifecycle.run.table import RunStatus, StoryStatus, TddPhase
from tests.cli.outcome import ok, refused
from tests.cli.views.view_ground import EVIL, ViewGround
from tests.cli.views.watched import plain, watching
from tests.conftest import STARTED
from tests.docs.overview_schema import SCHEMA
from tests.views.overview.overview_ground import PULL

pytestmark = pytest.mark.usefixtures("interruptible")

WAITS = "WAITS FOR YOU"


def test_it_shows_everything_and_what_waits_first(ground: ViewGround) -> None:
    """In 80 columns and 24 rows; q ends it, and the terminal is as it was."""
    ground.everything()
    with watching(ground) as watched:
        watched.until("q quit", "S3 Send a receipt")
        lines = watched.lines
        assert lines[0].startswith("#42 Fix the race")
        assert WAITS in lines[2]
        assert "30 min  PR #107 waits for a person to merge it" in lines[2]
        text = "\n".join(lines)
        for word in ("checks_running", "3/3 passed", "TESTING of #42", "▸ S2 Pay back", "events"):
            assert word in text, text
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        assert "no room" not in text
        assert not watched.echoes
        watched.press("q")
        assert watched.end() == 0
        assert watched.is_clean
        assert watched.echoes


def test_it_is_redrawn_when_a_file_changes(ground: ViewGround) -> None:
    """A claim that comes, what becomes of its checks, a run that begins and a claim that goes are seen."""
    with watching(ground) as watched:
        watched.until("Nothing is claimed")
        ground.in_review(running=2, passed=1)
        watched.until("checks run", "1/3 passed", but="Nothing is claimed")
        ground.in_review(failed=["lint"])
        watched.until("checks failed", "1 failed at ", ": lint", but="checks run\n")
        ground.run()
        watched.until("S2 Pay back")
        (ground.root / ".agent-claim.json").unlink()
        watched.until("no claim", but="checks failed")
        watched.press("q")
        assert watched.end() == 0


def test_what_is_broken_is_told_beside_the_rest(ground: ViewGround) -> None:
    """Each part that cannot be read has its sentence, and is not said to be none; the others are there."""
    ground.everything()
    (ground.root / ".claude/workflow-state.json").write_bytes(b"{")
    (ground.root / ".agent-claim.json").write_bytes(b"{")
    text = ok(ground.cli("watch", "--once"))
    assert "trouble" in text
    assert "run: .claude/workflow-state.json" in text
    assert "claim: .agent-claim.json cannot be read" in text
    assert "no claim" not in text
    assert "S2 Pay back" not in text
    assert "TESTING" in text


@pytest.mark.soak(
    "cli/views/test_watch.py::test_it_is_redrawn_when_a_file_changes",
    "cli/views/test_watch.py::test_what_is_broken_is_told_beside_the_rest",
)
def test_a_file_that_breaks_is_told_and_the_rest_stays(ground: ViewGround) -> None:
    """The part has its sentence while it is broken, and is back once it is mended."""
    ground.everything()
    path = ground.root / ".claude/workflow-state.json"
    content = path.read_bytes()
    with watching(ground) as watched:
        watched.until("S2 Pay back")
        path.write_bytes(b"{")
        watched.until("trouble run:", "checks_running", but="S2 Pay back")
        path.write_bytes(content)
        watched.until("S2 Pay back", but="trouble")
        watched.press("q")
        assert watched.end() == 0
    (ground.root / ".agent-claim.json").write_bytes(b"{")
    text = ok(ground.cli("watch", "--once"))
    assert "claim: .agent-claim.json cannot be read" in text
    assert "no claim" not in text


def test_it_fits_the_window_that_is_resized(ground: ViewGround) -> None:
    """A small one has what matters and names the rest; a wide one has two columns; nothing is wrapped."""
    ground.everything()
    with watching(ground, 24, 80) as watched:
        watched.until("q quit")
        watched.resize(9, 60)
        watched.until("not shown: ")
        assert WAITS in "\n".join(watched.lines)
        assert "checks_running" in watched.shown
        watched.resize(40, 200)
        watched.until("q quit", "events", but="no room")
        (row,) = [line for line in watched.lines if "claim checks_running" in line]
        assert "1 of 3 stories" in row
        assert max(map(len, watched.lines)) <= 200
        watched.press("q")
        assert watched.end() == 0


def test_ctrl_c_ends_it_with_a_clean_terminal(ground: ViewGround) -> None:
    """Exit 130, one sentence, no traceback, and the terminal is as it was."""
    ground.claim()
    with watching(ground) as watched:
        watched.until("q quit")
        watched.press("\x03")
        assert watched.end() == 130
        assert watched.is_clean
        assert watched.echoes
        after = plain(watched.raw.rpartition("\x1b[?1049l")[2])
        assert "Interrupted" in after
        assert "Traceback" not in watched.raw


def test_a_signal_to_end_gives_the_terminal_back(ground: ViewGround) -> None:
    """SIGTERM leaves screen, cursor and echo as they were; the command ends by that signal."""
    ground.claim()
    with watching(ground) as watched:
        watched.until("q quit")
        watched.process.terminate()
        assert watched.end() == -signal.SIGTERM
        assert watched.is_clean
        assert watched.echoes
        assert "Traceback" not in watched.raw


def test_ctrl_z_gives_the_shell_its_screen_and_fg_draws_anew(ground: ViewGround) -> None:
    """As an editor does: lines are typed at the shell with an echo, and what changed meanwhile is seen."""
    ground.claim()
    shell = str(shutil.which("bash"))
    with watching(ground, 24, 80, shell, "--norc", "--noprofile", "-i", PS1="") as watched:
        watched.press(f"{STARTED} watch\n")
        watched.until("q quit", "coding")
        watched.press("\x1a")
        watched.reads("Stopped")
        assert watched.is_clean
        watched.press("echo at-the-$((40 + 2))\n")
        watched.reads("at-the-42")
        ground.claim(phase="ready_for_pr")
        watched.press("fg\n")
        watched.until("q quit", "ready_for_pr")
        watched.press("q")
        watched.leaves()  # else what is typed next may be read as keys, too
        watched.press("echo left-with-$?\n")
        watched.reads("left-with-0")
        assert watched.is_clean


def browser(folder: Path) -> tuple[str, Path]:
    """A browser that notes what it is to open, and where it notes that."""
    notes, program = folder / "opened", folder / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" >>"{notes}"\n')
    program.chmod(0o755)
    notes.touch()  # a test may read it before the program wrote
    return str(program), notes


def test_keys_open_the_pull_request_and_the_issue(ground: ViewGround, tmp_path: Path) -> None:
    """In the user's browser, which is not waited for; any other key does nothing."""
    program, notes = browser(tmp_path)
    ground.everything()
    with watching(ground, BROWSER=program) as watched:
        watched.until("q quit")
        watched.press("xp")
        watched.until(f"The pull request: {PULL}")
        watched.press("i")
        watched.until("The issue: https://")
        while len(opened := set(notes.read_text().split())) < 2:
            os.sched_yield()  # it is not waited for, and notes its page a little later
        watched.press("q")
        assert watched.end() == 0
    assert opened == {PULL, PULL.replace("pull/107", "issues/42")}


def test_a_browser_has_no_part_of_the_terminal(ground: ViewGround, tmp_path: Path) -> None:
    """One that is read in a terminal does not take the screen, and what any prints is not in it."""
    program, notes = browser(tmp_path)
    shown = Path(program).read_text() + "echo NOISE; echo NOISE >&2; echo NOISE >/dev/tty\n"
    Path(program).write_text(f'{shown}echo ended >>"{notes}"\n')
    ground.everything()
    with watching(ground, BROWSER=program) as watched:
        watched.until("q quit")
        watched.press("p")
        watched.until(f"The pull request: {PULL}")
        while "ended" not in notes.read_text():
            os.sched_yield()
        watched.press("q")
        assert watched.end() == 0
        assert "NOISE" not in watched.raw


@pytest.mark.once("whatever a browser ends with, the address is there")
@pytest.mark.parametrize("program", ["/bin/false", "/nowhere/browser"])
def test_a_browser_that_fails_takes_no_address_away(ground: ViewGround, program: str) -> None:
    """The last line has it, whatever becomes of the browser."""
    ground.everything()
    with watching(ground, BROWSER=program, PATH="/nowhere") as watched:
        watched.until("q quit")
        watched.press("p")
        watched.until(f"The pull request: {PULL}")
        watched.press("q")
        assert watched.end() == 0


def test_keys_without_a_page_or_a_browser_say_so(ground: ViewGround) -> None:
    """A claim has no pull request yet; where no browser is, the address is shown."""
    ground.claim()
    with watching(ground) as watched:
        watched.until("q quit")
        watched.press("p")
        watched.until("The pull request has no address yet.")
        ground.everything()
        watched.until("3/3 passed")
        watched.press("p")
        watched.until(f"The pull request: {PULL}")
        watched.press("q")
        assert watched.end() == 0


def test_many_that_wait_are_all_seen_in_a_small_window(ground: ViewGround) -> None:
    """What waits for a person comes before everything else."""
    fix = UserFix("B1", "Renew the certificate", ground.clock.now() - 7200)
    ground.everything()
    ground.run(status=RunStatus.AWAITING_USER, fix=fix)
    ground.stage(is_let_go=True)
    with watching(ground, 12, 80) as watched:
        watched.until("not shown")
        text = watched.shown
        assert text.count(WAITS) == 3
        assert "2.0 h  The run waits: Renew the certificate" in text
        assert text.index("Renew") < text.index("PR #107 waits") < text.index("too often")
        watched.press("q")
        assert watched.end() == 0


def test_what_strangers_wrote_moves_nothing(ground: ViewGround) -> None:
    """No escape sequence of a title, a branch or a check's name reaches the terminal."""
    checks = {"failed": [EVIL], "passed": 1}
    memory = {"title": EVIL, "pull.checks": checks, "pull.url": PULL}
    ground.claim(memory=memory, branch=EVIL, summary=EVIL, phase="checks_running", pr_number=107)
    ground.run(goal=EVIL)
    with watching(ground) as watched:
        watched.until("checks failed")
        assert "\x1b]8;;https://evil.example" not in watched.raw
        assert "\x9b" not in watched.raw
        assert "\u202e" not in watched.raw
        watched.press("q")
        assert watched.end() == 0


@pytest.mark.parametrize("words", [("watch",), ("watch", "--once")])
def test_without_a_terminal_it_prints_everything_once(
    ground: ViewGround, words: tuple[str, ...]
) -> None:
    """Into a pipe: plain text without an escape, as long as it is, and nothing is waited for."""
    ground.everything()
    text = ok(ground.cli(*words, COLUMNS="80"))
    assert "\x1b" not in text
    assert "WAITS FOR YOU" in text
    assert f"→ {PULL}" in " ".join(text.split())  # no key opens it there
    assert "key p" not in text
    assert "S3 Send a receipt" in text
    assert "q quit" not in text
    assert "S3 Send a receipt" in ok(ground.cli(*words, COLUMNS="0"))  # a width that nobody knows


def test_a_long_title_goes_on_below_and_its_status_follows(ground: ViewGround) -> None:
    """The sign alone does not say what a story at work waits for; no line is wider than the window."""
    titles = ("Make the queue of tasks safe for two workers " * 3, "\u4fee\u590d" * 40)
    statuses = (StoryStatus.BLOCKED, StoryStatus.REVIEW)
    stories = (Story(f"S{n}", titles[n], status=statuses[n], tdd=TddPhase.GREEN) for n in range(2))
    ground.run(stories=tuple(stories))
    for columns in (80, 24):
        lines = ok(ground.cli("watch", "--once", COLUMNS=str(columns))).splitlines()
        assert all(cell_len(line) <= columns for line in lines)
        shown = " ".join(" ".join(lines).split())
        assert f"✗ S0 {titles[0]}blocked " in shown
        assert "\u590d review, green" in shown


def test_a_terminal_that_cannot_be_painted_over_gets_it_once(ground: ViewGround) -> None:
    """TERM=dumb: no key is waited for, and no control sequence is sent."""
    ground.everything()
    with watching(ground, TERM="dumb") as watched:
        assert watched.end() == 0
        assert "S3 Send a receipt" in watched.raw
        assert "\x1b[?1049h" not in watched.raw


def test_as_json_it_has_the_published_form(ground: ViewGround) -> None:
    """Once, whatever is asked beside it."""
    ground.everything()
    data = json.loads(ok(ground.cli("watch", "--json")))
    jsonschema_rs.validate(json.loads(SCHEMA.read_text("utf-8")), data)
    assert data["pull"]["state"] == "passed"


def test_an_output_that_cannot_hold_a_sign_is_no_defect(ground: ViewGround) -> None:
    """One that takes ASCII alone has a question mark in its place, and all words."""
    ground.everything()
    done = ground.cli("watch", "--once", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert "Traceback" not in done.stderr
    assert "S2 Pay back" in ok(done)


def test_outside_of_a_worktree_it_is_refused(ground: ViewGround, tmp_path: Path) -> None:
    """With the sentence that every command has."""
    outside = ViewGround(tmp_path)
    assert "in no git worktree" in refused(outside.cli("watch"))
    assert [path.name for path in ground.root.iterdir()] == [".git"]
