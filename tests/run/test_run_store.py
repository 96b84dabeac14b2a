"""The run's file, with real git: what is strange is said and kept, and two writers lose nothing."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.timing import Deadline
from lifecycle.run.run_store import MARK, RunStore, StrangeRun
from lifecycle.run.state import Story
from lifecycle.run.stories.story_edits import clarification
from lifecycle.run.table import KEPT_LINES, TIERS, ClarificationPhase, RunStatus, StoryStatus
from lifecycle.storage import journal
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.views.stats.summary import Summary, Wanted
from tests.conftest import STARTED
from tests.run.run_ground import RunGround


def noted(store: RunStore, *texts: str, story: str = "") -> None:
    """Change the run, with these lines for the progress file; a story that is not there fails."""
    with store.changing() as change:
        change.run = replace(change.run, iterations=change.run.iterations + 1)
        for text in texts:
            change.note(text)
        if story:
            change.run.story(story)


def test_what_a_change_notes_stands_in_the_progress_file(ground: RunGround) -> None:
    """One line each, the newest last, with its time; nothing of it if the change fails."""
    ground.begun()
    noted(ground.store, "Added story: S1 Pay\nwith more", "Phase: analysis")
    lines = ground.store.progress(20)
    assert [line.partition("Z ")[2] for line in lines] == [
        "Added story: S1 Pay with more",
        "Phase: analysis",
    ]
    with pytest.raises(Refused):
        noted(ground.store, "never", story="S9")
    assert ground.store.progress(20) == lines


def test_the_last_lines_of_the_progress_are_read_and_kept(ground: RunGround) -> None:
    """The oldest first; a file that is not there has none."""
    assert (ground.store.progress(5), ground.store.trim_progress(5)) == ([], (0, 0))
    ground.begun()
    noted(ground.store, *(f"line {number}" for number in range(4)))
    assert [line[-6:] for line in ground.store.progress(2)] == ["line 2", "line 3"]
    assert ground.store.trim_progress(3) == (4, 3)
    assert [line[-6:] for line in ground.store.progress(9)] == ["line 1", "line 2", "line 3"]


def test_a_long_run_trims_its_progress_by_itself(ground: RunGround) -> None:
    """Under an hour every line stays; beyond it, well over the kept lines are cut to them."""
    ground.begun()
    noted(ground.store, *(f"line {n} {'x' * 90}" for n in range(3 * KEPT_LINES)))
    assert len(ground.store.progress(1_000)) == 3 * KEPT_LINES
    ground.clock.sleep(TIERS[0].until)
    noted(ground.store, "the last")
    lines = ground.store.progress(1_000)
    assert len(lines) == KEPT_LINES
    assert lines[-1].endswith("the last")
    noted(ground.store, "one more")
    assert len(ground.store.progress(1_000)) == KEPT_LINES + 1


def test_a_run_that_no_session_has_led_yet_is_anybodys(ground: RunGround) -> None:
    """A person began it on a terminal: the first session that asks is refused nothing, and leads it."""
    run = ground.begun()
    deadline = Deadline.after(ground.clock, 60)
    asking = RunStore(ground.root, ground.environment, deadline, ("one", 0))
    assert (run.session, asking.is_led_by_another(run)) == ("", False)
    assert asking.adopt().session == "one"


def test_a_run_that_a_live_session_leads_is_given_to_no_other(ground: RunGround) -> None:
    """Another that asks for it is not refused: it gets the run as it is, and the file stays."""
    ground.begun()
    deadline = Deadline.after(ground.clock, 60)
    one, two = (
        RunStore(ground.root, ground.environment, deadline, (name, 0)) for name in ("one", "two")
    )
    one.adopt()
    before = ground.state.read_bytes()
    assert two.adopt().session == "one"
    assert ground.state.read_bytes() == before


def refusal(ground: RunGround) -> str:
    """What the store says of a file that it refuses, for reading and for changing; it stays as it is."""
    before = ground.state.read_bytes()
    sentences = set()
    for use in (ground.store.load, lambda: noted(ground.store, "never")):
        with pytest.raises(StrangeRun) as refused:
            use()
        sentences.add(str(refused.value))
    assert ground.state.read_bytes() == before
    assert ground.store.progress(1) == []
    [sentence] = sentences
    return sentence


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_kept_and_named(ground: RunGround, part: float) -> None:
    """A part of a record is no record: nothing of it counts, and nobody overwrites it."""
    ground.begun()
    whole = ground.state.read_bytes()
    ground.state.write_bytes(whole[: int(len(whole) * part)])
    assert re.search(r"cannot be read .*--anew", refusal(ground))


@pytest.mark.parametrize("content", [b"\xff\xfe", b"null", b'{"id": 1}', b"\0" * 5_000])
def test_a_corrupt_file_is_kept_and_named(ground: RunGround, content: bytes) -> None:
    """Whatever it holds."""
    ground.begun()
    ground.state.write_bytes(content)
    assert re.search(r"cannot be read", refusal(ground))


def test_a_run_that_was_mended_by_hand_holds_its_session_again(ground: RunGround) -> None:
    """A stop takes the guards' mark from one that cannot be read, or is gone; the next command sets it."""
    run = ground.begun()
    mark = ground.root / ".lifecycle" / MARK
    for status, is_held in ((RunStatus.ACTIVE, True), (RunStatus.STOPPED, False)):
        ground.kept(replace(run, status=status))
        ground.store.mark(None)
        ground.store.demanded()
        assert mark.exists() is is_held, status
    ground.kept(run)
    mark.unlink()
    mark.symlink_to("nowhere")
    assert ground.store.demanded() == run  # who only looks is not refused for it


def test_a_later_release_is_to_be_installed(ground: RunGround) -> None:
    """Its file is not mended and not set aside: the release that wrote it can read it."""
    ground.begun()
    ground.state.write_bytes(b'{"version": 999, "new": {}}')
    assert re.search(r"version 999.*Install that release\.", refusal(ground))


def test_a_file_that_git_tracks_leads_nobody(ground: RunGround) -> None:
    """It came with the repository, also under a name that only its case tells apart."""
    ground.begun()
    ground.git("add", "--force", ".claude/workflow-state.json")
    assert re.search(r"tracked by git.*git rm --cached", refusal(ground))
    ground.git("rm", "--cached", "--quiet", ".claude/workflow-state.json")
    assert ground.store.load() is not None


def test_a_state_that_a_submodule_tracks_leads_nobody(ground: RunGround, tmp_path: Path) -> None:
    """It came with the repository as well; one's own beside what a submodule brings is one's own."""
    other = RunGround(tmp_path / "other")
    subprocess.run(["git", "init", "--quiet", other.root], check=True)
    other.git("commit", "--quiet", "--allow-empty", "-m", "Settings")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    ground.git(*allowed, "add", str(other.root), ".claude")
    ground.begun()
    assert ground.store.load() is not None
    subprocess.run(
        ["git", "add", "--force", "workflow-state.json"], cwd=ground.state.parent, check=True
    )
    assert re.search(r"tracked by git", refusal(ground))


def test_what_is_no_file_of_ours_is_left_alone(ground: RunGround, tmp_path: Path) -> None:
    """A link is not followed, a folder not entered, and a folder that is a link neither."""
    ground.begun()
    target = tmp_path / "target.json"
    ground.state.rename(target)
    before = target.read_bytes()
    ground.state.symlink_to(target)
    with pytest.raises(StrangeFileError, match="is a link"):
        ground.store.load()
    ground.state.unlink()
    ground.state.mkdir()
    with pytest.raises(StrangeFileError, match="is a folder"):
        ground.store.load()
    ground.state.rmdir()
    ground.state.parent.rename(tmp_path / "elsewhere")
    ground.state.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StrangeFileError, match="is a link"):
        ground.store.load()
    ground.state.parent.unlink()
    ground.state.parent.write_text("no folder")
    with pytest.raises(StrangeFileError, match="is no folder"):
        ground.begun()
    assert target.read_bytes() == before


def test_a_file_that_cannot_be_written_is_kept(ground: RunGround) -> None:
    """A full disk: one sentence, nothing of the new state is left, and once there is room it goes on."""
    run = ground.begun("x" * 3_000)
    before = ground.state.read_bytes()
    limit = (2_000, 2_000)
    done = subprocess.run(
        [STARTED, "run", "add-story", "Pay"],
        cwd=ground.root,
        # Python writes what it compiled, too, and would not see that only a part of it was written.
        env={**ground.environment, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert ground.state.read_bytes() == before
    assert [path.name for path in ground.state.parent.iterdir()] == [ground.state.name]
    ground.said("add-story", "Pay")
    assert ground.store.demanded().id == run.id


def test_two_processes_at_once_lose_nothing(ground: RunGround) -> None:
    """Each waits for the other: every story is there, each with an id of its own."""
    ground.begun()
    titles = [f"Story {n}" for n in range(8)]
    with ThreadPoolExecutor(len(titles)) as pool:
        ended = list(pool.map(lambda title: ground.run("add-story", title), titles))
    assert [done.returncode for done in ended] == [0] * len(titles)
    run = ground.store.demanded()
    assert sorted(story.title for story in run.stories) == titles
    assert [story.id for story in run.stories] == [f"S{n + 1}" for n in range(len(titles))]
    assert len(ground.store.progress(20)) == len(titles)


_KILLED = """
import json, os, resource, signal, sys
from pathlib import Path
from msgspec.structs import replace
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.run.run_store import RunStore
from lifecycle.run.table import RunStatus

def store():
    return RunStore(Path.cwd(), {}, Deadline.after(SystemClock(), 60))

def changed():
    with store().changing() as change:
        count = change.run.iterations + 1
        about = {"iterations": count, "goal": f"{count} " * 20_000}
        change.run = replace(change.run, **about, status=RunStatus.STOPPED)

def ended(prepare, *words):
    child = os.fork()
    if not child:
        prepare(*words)
        changed()
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    run = store().demanded()
    whole = run.goal == f"{run.iterations} " * 20_000
    print(json.dumps([prepare.__name__, code, run.iterations, whole]), flush=True)
    return code

def at_its_look(number):
    Path(".lifecycle/run").unlink(missing_ok=True)  # of a stopped run it is made after the rename
    left = [number]
    def hear(event, arguments):
        if event == "open" or event.startswith("os."):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hear)

def at_its_byte(number):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

changed()
for number in (1, 100, 40_000):
    ended(at_its_byte, number)
number = 1
while ended(at_its_look, number):
    number += 1
"""
"""Changes the run again and again, each time in a process that is killed a little later.

At a byte: the system ends it when so much of the new file is written. At a look: right before it opens,
renames or removes one file more.
"""


def test_a_process_that_is_killed_leaves_the_old_state_or_the_new(ground: RunGround) -> None:
    """Wherever in a write it ends: goal and count belong together, and the next change is made."""
    ground.begun()
    done = subprocess.run(
        [sys.executable, "-c", _KILLED], cwd=ground.root, capture_output=True, text=True, check=True
    )
    *ends, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert [end[1:] for end in ends[:3]] == [[-signal.SIGXFSZ, 1, True]] * 3
    assert {(code, whole) for _, code, _, whole in ends[3:]} == {(-signal.SIGKILL, True)}
    counts = [count for _, _, count, _ in ends]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1], "some were killed before the rename, and some after it"
    assert last[1:] == [0, counts[-1] + 1, True]
    noted(ground.store, "goes on")
    assert ground.store.demanded().iterations == counts[-1] + 2


def test_what_was_clarified_early_is_kept_until_a_run_adopts_it(ground: RunGround) -> None:
    """A file of it that cannot be read is kept and named."""
    one = clarification("What?", "That", 1.0, ClarificationPhase.PRE_ANALYSIS)
    with ground.store.locked():
        ground.store.keep_early((one,))
        assert ground.store.early() == (one,)
    ground.begun()
    assert ground.store.early() == ()
    broken = ground.root / ".lifecycle" / "clarifications.json"
    broken.write_text("[")
    with pytest.raises(StrangeRun, match=r"clarifications\.json cannot be read"):
        ground.store.early()
    assert broken.read_text() == "["


def test_the_end_of_a_run_is_in_the_journal_whoever_wrote_it(ground: RunGround) -> None:
    """Without a stop behind it the statistics know that it is done, and how long it took; once."""
    run = ground.begun()
    ground.clock.sleep(90)
    for _ in range(2):
        with ground.store.changing() as change:
            change.run = change.run.but(status=RunStatus.COMPLETED, completed=run.started + 90)
    told = Summary(journal.read(ground.root))
    assert (told.tasks, [*told.done]) == ({run.id: run.goal}, [run.id])
    assert (told.spent, told.failed, told.tries) == ({run.id: 90.0}, {run.id: 0}, {run.id: 1})


def test_each_story_of_a_run_has_its_row_in_the_statistics(ground: RunGround) -> None:
    """From its begin to the status that ends its work; of one that is at work it is said that it lasts."""
    run = ground.begun()
    ground.kept(run.but(stories=(Story("S1", "Keep payments"), Story("S2", "Pay"))))
    moves = (
        "S1 in_progress",
        "S1 review",
        "S1 completed",
        "S2 in_progress",
        "S2 pending",
        "S2 testing",
    )
    for move in moves:
        id_, status = move.split()
        ground.clock.sleep(60)
        with ground.store.changing() as change:
            story = change.run.story(id_)
            change.run = change.run.with_story(story.but(status=StoryStatus(status)))
    told = Summary(journal.read(ground.root), Wanted(task=run.goal))
    spent = [round(stay.seconds or 0) for stay in told.told]
    assert spent == [120, 60, 0]
    assert [(stay.stage, stay.target, stay.is_passed) for stay in told.told] == [
        ("S1 Keep payments", "completed", True),
        ("S2 Pay", "pending", False),
        ("S2 Pay", "", False),
    ]
    assert (told.phases, told.stages, told.agents) == ((), (), ())
