"""One command of a check as a process: its output, its time, its end with all that it started."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lifecycle.evidence.checks import check_process
from lifecycle.evidence.checks.check_process import ProcessEnd, run

LONG = 60.0
"""Seconds that nothing here takes: what waits is ended, or is told to go on."""


def ran(
    root: Path, *words: str, seconds: float = LONG, **more: object
) -> tuple[ProcessEnd, str, str]:
    """A command's end, and what it printed on both streams."""
    out, err = bytearray(), bytearray()
    taken = {"out": out.extend, "err": err.extend, **more}
    end = run(words, root, dict(os.environ), seconds, **taken)  # type: ignore[arg-type]  # as given
    return end, out.decode(), err.decode()


def sh(root: Path, script: str, **more: object) -> tuple[ProcessEnd, str, str]:
    """The same of a script for sh."""
    return ran(root, "sh", "-c", script, **more)  # type: ignore[arg-type]  # seconds among them


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A pipe with a name: who opens it to read waits until somebody opens it to write."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def is_alive(pid: int) -> bool:
    """True if the process runs; one that nobody waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_each_stream_comes_by_itself_and_the_status_is_the_commands(tmp_path: Path) -> None:
    """No shell reads the words; the folder is the worktree; nothing can be read from it."""
    end, out, err = sh(tmp_path, "pwd; echo wrong >&2; cat; exit 3")
    assert (end.status, out, err) == (3, f"{tmp_path}\n", "wrong\n")
    end, out, _ = ran(tmp_path, "printf", "%s|", "$HOME", "a b", "*")
    assert (end, out) == (ProcessEnd(0), "$HOME|a b|*|")


def test_what_is_printed_comes_at_once(tmp_path: Path, fifo: Path) -> None:
    """The command waits until its first line was handed on, and so it ends."""

    def answer(part: bytes) -> None:
        if b"first" in part:
            fifo.write_text("go on\n")

    end, _, _ = sh(
        tmp_path, f"echo first; read word < {fifo}; test \"$word\" = 'go on'", out=answer
    )
    assert end == ProcessEnd(0)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, 137), (signal.SIGSEGV, 139)])
def test_a_signal_is_told_as_shells_tell_it(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    """128 and the signal's number."""
    assert sh(tmp_path, f"kill -{number} $$")[0] == ProcessEnd(status)


def test_what_is_not_there_or_cannot_be_started_is_told(tmp_path: Path) -> None:
    """127 and 126, with half a sentence each; nothing is raised."""
    end, _, _ = ran(tmp_path, "no-such-program")
    assert end == ProcessEnd(127, error="no-such-program is not installed, or not on PATH")
    (tmp_path / "file").write_text("echo")
    end, _, _ = ran(tmp_path, "./file")
    assert (end.status, "cannot be started" in end.error) == (126, True)


def test_at_its_limit_the_whole_group_is_ended(tmp_path: Path) -> None:
    """Also what it started in the background, and what ignores that it is asked to end."""
    script = (
        "trap '' TERM; (trap '' TERM; echo $$ >/dev/null; exec sleep 1000) & "
        "echo $! >child; echo $$; while :; do sleep 1000; done"
    )
    before = check_process.TERM_SECONDS
    check_process.TERM_SECONDS = 0.1
    try:
        end, out, _ = sh(tmp_path, script, seconds=0.5)
    finally:
        check_process.TERM_SECONDS = before
    assert end == ProcessEnd(124, is_late=True)
    assert not is_alive(int(out))
    assert not is_alive(int((tmp_path / "child").read_text()))


def test_what_a_command_leaves_running_is_ended_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the output open or not: the run is over, and it is told."""
    monkeypatch.setattr(check_process, "DRAIN_SECONDS", 0.1)
    for behind in ("", ">/dev/null 2>&1"):
        end, out, _ = sh(tmp_path, f"sleep 1000 {behind} & echo $!")
        assert end == ProcessEnd(0, left=True)
        assert not is_alive(int(out))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_of_ours_ends_the_command(tmp_path: Path, number: signal.Signals) -> None:
    """It is ended with its group, whatever it does; what we do on the signal is the same afterwards."""
    found = signal.signal(number, signal.SIG_DFL)  # whoever started us may have it ignored: `nohup`

    def stop(part: bytes) -> None:
        assert part
        os.kill(os.getpid(), number)

    try:
        end, _, _ = sh(tmp_path, "echo $$ >pid; echo up; exec sleep 1000", out=stop)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, found)
    assert end == ProcessEnd(128 + number, signal=number)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_signal_that_comes_while_the_rest_is_ended_is_noted(tmp_path: Path, fifo: Path) -> None:
    """What the command left running takes its time to end: a signal counts then, too.

    SIGINT would do, but is ignored in what a shell starts in the background, as a run of the tests may be.
    """
    answers = f"trap 'kill -TERM {os.getpid()}; exit' TERM; echo up >{fifo}; sleep 1000 & wait"
    end, _, _ = sh(tmp_path, f"({answers}) >/dev/null 2>&1 & read word <{fifo}")
    assert end == ProcessEnd(0, signal=signal.SIGTERM, left=True)


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """Under nohup a hang-up ends nothing."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def hang_up(part: bytes) -> None:
        assert part
        os.kill(os.getpid(), signal.SIGHUP)

    try:
        end, _, _ = sh(tmp_path, "echo up; exit 4", out=hang_up)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert end == ProcessEnd(4)


@pytest.mark.parametrize("before", [signal.SIG_DFL, lambda *_: None])
def test_what_is_done_at_a_childs_end_stays_as_it_is(tmp_path: Path, before: object) -> None:
    """Whatever the program that hands off does then; and how the command ended is known."""
    found = signal.signal(signal.SIGCHLD, before)  # type: ignore[arg-type]  # one of its three kinds
    try:
        assert sh(tmp_path, "exit 3")[0] == ProcessEnd(3)
        assert signal.getsignal(signal.SIGCHLD) is before
    finally:
        signal.signal(signal.SIGCHLD, found)


def test_much_output_is_handed_on_whole(tmp_path: Path) -> None:
    """More than a pipe holds, on both streams at once."""
    code = "import sys; [(print('o' * 99), print('e' * 99, file=sys.stderr)) for _ in range(9000)]"
    end, out, err = ran(tmp_path, sys.executable, "-c", code)
    assert (end.status, len(out), len(err)) == (0, 900_000, 900_000)


def test_it_has_no_terminal_and_a_group_of_its_own(tmp_path: Path) -> None:
    """Nobody can be asked, and Ctrl-C is ours to answer."""
    code = "import os; print(os.getpgrp() == os.getpid() == os.getsid(0))"
    assert ran(tmp_path, sys.executable, "-c", code)[1] == "True\n"
    assert sh(tmp_path, "exec 2>/dev/null; (: </dev/tty) || exit 7")[0] == ProcessEnd(7)


def test_a_command_of_another_thread_ends_as_any_other(tmp_path: Path) -> None:
    """A program that hands off in a thread of its own: no signal is heard there, nor waited for."""
    with ThreadPoolExecutor(1) as pool:
        end, out, _ = pool.submit(sh, tmp_path, "echo one; exit 4").result()
        late, *_ = pool.submit(sh, tmp_path, "exec sleep 100", seconds=0.2).result()
    assert (end.status, out) == (4, "one\n")
    assert late.is_late
