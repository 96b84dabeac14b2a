"""How bd is run: words, variables, time limits, process groups, and one at a time."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from lifecycle.core.errors import (
    Busy,
    Crashed,
    NotInstalled,
    ProtocolError,
    Refused,
    TimedOut,
    Transient,
)
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock, alarm
from lifecycle.storage import store
from lifecycle.trackers.beads import bd_process
from lifecycle.trackers.beads.bd_process import Runner
from tests.trackers.beads import simulated
from tests.trackers.beads.grounds import BeadsGround

pytestmark = pytest.mark.started  # bd's own process is what is tested


def _script(folder: Path, text: str) -> Runner:
    """A runner of a `bd` that is this shell script."""
    folder.mkdir(exist_ok=True)
    (folder / "bd").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bd").chmod(0o755)
    around = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return Runner(folder, around, "agent-1", Deadline(SystemClock(), None))


def test_it_is_run_as_it_should_be(ground: BeadsGround) -> None:
    """In the worktree, in its own group, without stdin, in the actor's name, and never asked."""
    ground.runner("agent-1").run("ready", "--json")
    (call,) = [
        call for call in simulated.calls(ground.folder) if call["argv"] == ["ready", "--json"]
    ]
    assert call["cwd"] == str(ground.root)
    assert call["leads"]
    assert call["stdin_is_null"]
    wanted = {"BEADS_ACTOR": "agent-1", "BD_ACTOR": "agent-1"}
    assert call["env"] == wanted | {"BD_NON_INTERACTIVE": "1", "BEADS_NO_DAEMON": "1"}


def test_an_inherited_place_does_not_count(
    ground: BeadsGround, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """BEADS_DIR of another workspace is taken out, unless the folder is configured."""
    monkeypatch.setenv("BEADS_DIR", str(tmp_path / "elsewhere"))
    runner = ground.runner("agent-1")
    runner.run("ready")
    runner.folder = "../clone"
    runner.run("ready")
    without, with_folder = (
        call["env"].get("BEADS_DIR") for call in simulated.calls(ground.folder)[-2:]
    )
    assert without is None
    assert with_folder == str((ground.root / ".beads").resolve())


def test_what_somebody_chose_for_the_daemon_stays(ground: BeadsGround) -> None:
    """No daemon is started by a run of ours; who says otherwise is heard."""
    runner = ground.runner("agent-1")
    runner.environment = {**runner.environment, "BEADS_NO_DAEMON": "0"}
    runner.run("ready")
    assert simulated.calls(ground.folder)[-1]["env"]["BEADS_NO_DAEMON"] == "0"


def test_values_are_never_read_as_words(tmp_path: Path) -> None:
    """What a shell would take apart arrives in one piece."""
    runner = _script(tmp_path / "bin", 'for word in "$@"; do printf "%s\\n" "<$word>"; done')
    ran = runner.run("create", "--title=$(id); 'x' \"y\" *")
    assert ran.out == "<create>\n<--title=$(id); 'x' \"y\" *>\n"


@pytest.mark.parametrize("is_write", [False, True])
def test_what_hangs_is_ended_with_all_that_it_started(tmp_path: Path, *, is_write: bool) -> None:
    """After its time the whole group is gone; for a write nobody knows."""
    os.mkfifo(tmp_path / "fifo")
    reading = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    runner = _script(tmp_path / "bin", f"exec 9> {tmp_path}/fifo; sleep 60 & sleep 60")
    with pytest.raises(TimedOut) as caught:
        runner.run("ready", is_write=is_write, seconds=0.5)
    assert caught.value.is_ambiguous is is_write
    # The last one that had it open for writing is gone: the reader is told.
    waiting = select.poll()
    waiting.register(reading, select.POLLIN)
    assert waiting.poll(20_000) == [(reading, select.POLLHUP)]
    os.close(reading)


def test_the_deadline_ends_a_run_before_its_own_limit(ground: BeadsGround) -> None:
    """A hook's last second is not a bd's ten; and with no time left nothing is run at all."""
    simulated.fault(ground.folder, "ready", "hang-before", times=9)
    with pytest.raises(TimedOut):
        ground.runner("agent-1", seconds=0.4).run("ready")
    simulated.forget(ground.folder)
    with pytest.raises(Transient):
        ground.runner("agent-1", seconds=0.0).run("ready")
    assert simulated.calls(ground.folder) == []


def test_a_hook_waits_less_for_a_read(ground: BeadsGround, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 s in a hook, 10 s elsewhere, 15 s for a write."""
    given: list[float] = []

    def ran(
        _command: list[str], seconds: float, *_: object, **_more: object
    ) -> tuple[int, str, str]:
        given.append(seconds)
        return 0, "[]", ""

    monkeypatch.setattr(bd_process, "ran", ran)
    for is_hook in (True, False):
        runner = ground.runner("agent-1", is_hook=is_hook)
        runner.run("ready")
        runner.run("close", "demo-1", is_write=True)
    assert given == pytest.approx([3.0, 15.0, 10.0, 15.0], abs=0.5)


def test_a_late_read_says_how_another_bd_converts_its_database(tmp_path: Path) -> None:
    """That takes longer than a read once there are many tasks, and each next run would begin again."""
    runner = _script(tmp_path / "bin", "sleep 60")
    with pytest.raises(TimedOut, match=r"If bd was upgraded.*run bd ready once by hand"):
        runner.run("ready", seconds=0.4)


def test_an_alarm_leaves_no_process_behind(tmp_path: Path) -> None:
    """The wake's alarm interrupts the wait: bd is ended, and the alarm goes on."""
    runner = _script(tmp_path / "bin", f"echo $$ > {tmp_path}/pid; sleep 60")
    with pytest.raises(DeadlineReached), alarm(1.2):
        runner.run("ready")
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_holds_the_pipes_is_not_waited_for(tmp_path: Path) -> None:
    """bd has ended and said all: what it left running keeps nobody, and is left alone."""
    runner = _script(tmp_path / "bin", f"sleep 60 & echo $! > {tmp_path}/child; echo '[]'")
    assert runner.run("ready", seconds=50).out == "[]\n"
    child = int((tmp_path / "child").read_text())
    os.kill(child, signal.SIGKILL)  # it was still there


def test_a_child_of_bd_changes_no_answer(ground: BeadsGround) -> None:
    """A build that leaves a process behind is read like any other."""
    simulated.fault(ground.folder, "ready", "hold-pipe")
    assert ground.runner("agent-1", seconds=20).run("ready", "--json").out == "[]\n"


def test_what_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded, and nothing of it is used."""
    monkeypatch.setattr(bd_process, "MOST_BYTES", 200_000)
    with pytest.raises(ProtocolError):
        _script(tmp_path / "bin", "yes").run("ready", seconds=20)


def test_a_large_answer_is_read_whole(tmp_path: Path) -> None:
    """More than a pipe holds, on both outputs at once."""
    text = "head -c 3000000 /dev/zero | tr '\\0' a; head -c 3000000 /dev/zero | tr '\\0' b >&2"
    ran = _script(tmp_path / "bin", text).run("ready")
    assert (ran.out, ran.err) == ("a" * 3_000_000, "b" * 3_000_000)


def test_a_crash_is_told(ground: BeadsGround) -> None:
    """A signal ended it: not now, and for a write nobody knows."""
    simulated.fault(ground.folder, "ready", "die-before", times=2)
    runner = ground.runner("agent-1")
    with pytest.raises(Crashed) as read:
        runner.run("ready")
    with pytest.raises(Crashed) as written:
        runner.run("ready", "--claim", is_write=True)
    assert (read.value.is_ambiguous, written.value.is_ambiguous) == (False, True)


def test_without_the_program_one_sentence_says_so(tmp_path: Path) -> None:
    """Not there, or not what this machine can run."""
    empty = tmp_path / "empty"
    empty.mkdir()
    runner = Runner(tmp_path, {"PATH": str(empty)}, "a", Deadline(SystemClock(), None))
    with pytest.raises(NotInstalled, match="PATH"):
        runner.run("ready")
    (empty / "bd").write_bytes(b"\x7fELF nothing")
    (empty / "bd").chmod(0o755)
    with pytest.raises(NotInstalled, match="could not be run"):
        runner.run("ready")


def test_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    """Something else than UTF-8 is shown as a replacement character."""
    assert _script(tmp_path / "bin", "printf '\\377'").run("ready").out == "\ufffd"


def test_one_at_a_time(ground: BeadsGround) -> None:
    """While another process of ours asks bd, this one waits, and then says so; nothing is run."""
    runner = ground.runner("agent-2", seconds=0.3)
    with store.locked(runner.shared / "beads.lock", 5, ""), pytest.raises(Busy):
        runner.run("ready")
    assert [call["argv"][0] for call in simulated.calls(ground.folder)] == []


@pytest.mark.parametrize(
    ("left", "is_hook", "wait"), [(59, False, 44), (20, False, 15), (9, False, 9), (59, True, 3)]
)
def test_a_command_waits_for_others_as_long_as_it_can_still_write(
    ground: BeadsGround, monkeypatch: pytest.MonkeyPatch, left: float, is_hook: bool, wait: float
) -> None:
    """Of many agents most ended after 15 seconds, although each had a minute; a hook waits briefly."""
    runner, waits = ground.runner("agent-1", seconds=left), list[float]()
    runner.is_hook, locked = is_hook, store.locked

    def noted(path: Path, seconds: float, sentence: str) -> AbstractContextManager[None]:
        waits.append(seconds)
        return locked(path, seconds, sentence)

    monkeypatch.setattr(store, "locked", noted)
    runner.run("ready")
    assert waits == [pytest.approx(wait, abs=1)]


def _count(root: str, around: dict[str, str], times: int) -> None:
    runner = Runner(Path(root), around, "agent-1", Deadline(SystemClock(), None))
    for _ in range(times):
        runner.run("ready")


def test_two_processes_never_run_it_at_once(tmp_path: Path) -> None:
    """A bd that sees another of itself at work says so; none ever does."""
    text = f"mkdir {tmp_path}/in || touch {tmp_path}/met\nrmdir {tmp_path}/in"
    runner = _script(tmp_path / "bin", text)
    method = multiprocessing.get_context("spawn")
    around = dict(runner.environment)
    workers = [method.Process(target=_count, args=(str(runner.root), around, 15)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert not (tmp_path / "met").exists()


def test_outside_of_a_clone_our_own_folder_has_the_lock(tmp_path: Path) -> None:
    """Without git, `.lifecycle/` holds it, which git would not see either."""
    runner = _script(tmp_path / "bin", "true")
    assert runner.shared == tmp_path / "bin" / ".lifecycle"
    assert (runner.shared / ".gitignore").read_text() == "*\n"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Something is in the way of the lock: nothing is run without it."""
    runner = _script(tmp_path / "bin", "true")
    (tmp_path / "bin" / ".lifecycle").write_text("")
    with pytest.raises(Refused, match="cannot be written"):
        runner.run("ready")


def test_an_interrupt_ends_it_too(tmp_path: Path) -> None:
    """Ctrl-C in the middle: bd, which has a group of its own and does not hear it, is ended."""
    # More than a pipe holds: once it is through, the reader is at work.
    text = f"echo $$ > {tmp_path}/pid; head -c 500000 /dev/zero; kill -INT $PPID; sleep 60"
    runner = _script(tmp_path / "bin", text)
    around = {**os.environ, **runner.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    code = (
        "import sys; from pathlib import Path; from lifecycle.core.timing import SystemClock\n"
        "from lifecycle.core.timing import Deadline\n"
        "from lifecycle.trackers.beads.bd_process import Runner\n"
        f"Runner(Path({str(runner.root)!r}), {{}}, 'a', Deadline(SystemClock(), None)).run('ready')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=around, capture_output=True, timeout=60, check=False
    )
    assert done.returncode in (-signal.SIGINT, 130, 1)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
