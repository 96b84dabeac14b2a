"""The rotating log: one line for each thing, never in the way, never a secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.core.timing import ANYTHING, DeadlineReached
from lifecycle.storage import log


def test_nothing_is_written_where_lifecycle_does_not_live(tmp_path: Path) -> None:
    """Without `.lifecycle/` there is no log, and none is made."""
    log.write(tmp_path, "a line")
    assert list(tmp_path.iterdir()) == []


def test_a_line_is_one_line_without_secrets(tmp_path: Path) -> None:
    """Line breaks become spaces, and tokens stars."""
    (tmp_path / ".lifecycle").mkdir()
    log.write(
        tmp_path,
        "first\nsecond ghp_abcdefghijklmnopqrst0123\r\nthird s3cr3t-value",
        {"A_TOKEN": "s3cr3t-value"},
    )
    (line,) = (tmp_path / ".lifecycle/log").read_text().splitlines()
    assert line.endswith("first second *** third ***")


def test_an_error_of_a_named_kind_costs_a_line_and_no_other_does(tmp_path: Path) -> None:
    """What comes after goes on; an error that nobody thought of is not hidden."""
    (tmp_path / ".lifecycle").mkdir()
    with log.Surviving(tmp_path, "part", OSError, ValueError):
        raise ValueError("it is broken")
    with pytest.raises(KeyError), log.Surviving(tmp_path, "part", OSError, ValueError):
        raise KeyError("other")
    with log.Surviving(tmp_path, "part", OSError):
        pass
    (line,) = (tmp_path / ".lifecycle/log").read_text().splitlines()
    assert line.endswith(" part: it is broken")


def test_whatever_goes_wrong_in_a_part_costs_a_line_and_is_named_if_it_is_not_ours(
    tmp_path: Path,
) -> None:
    """A sentence of ours says enough; the staged workflow's own log has it, too. Ctrl-C is no error."""
    (tmp_path / ".lifecycle").mkdir()
    for error in (Refused("No."), DeadlineReached(), KeyError("x")):
        with log.Surviving(tmp_path, "part", *ANYTHING, staged=("Triggered", "{} It may stop.")):
            raise error
    with pytest.raises(KeyboardInterrupt), log.Surviving(tmp_path, "part", *ANYTHING):
        raise KeyboardInterrupt
    whys = ["No.", str(DeadlineReached()), "KeyError: 'x'"]
    lines = (tmp_path / ".lifecycle/log").read_text().splitlines()
    assert [line.partition(" part: ")[2] for line in lines] == whys
    staged = (tmp_path / log.STAGED_LOG).read_text().splitlines()
    said = [line.partition("] ")[2] for line in staged]
    assert said == [text for why in whys for text in ("Triggered", f"{why} It may stop.")]


def test_a_line_has_no_control_characters(tmp_path: Path) -> None:
    """What a server or a stranger wrote does nothing to the terminal of whoever reads the log."""
    (tmp_path / ".lifecycle").mkdir()
    log.write(tmp_path, "look: \x1b[2Jgone\x07 \u202ekcab \x9b1m")
    assert "\\x1b[2Jgone\\x07 \\u202ekcab \\x9b1m" in (tmp_path / ".lifecycle/log").read_text()


def test_the_log_rotates_and_stays_small(tmp_path: Path) -> None:
    """However much is logged, three files of a quarter of a megabyte are kept."""
    folder = tmp_path / ".lifecycle"
    folder.mkdir()
    for number in range(700):
        log.write(tmp_path, f"{number} " + "x" * 1900)
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["log", "log.1", "log.2"]
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3 * 260 * 1024
    assert "699 x" in (folder / "log").read_text()


def test_a_log_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    """A folder where the log should be: the line is lost, and nothing else."""
    (tmp_path / ".lifecycle/log").mkdir(parents=True)
    log.write(tmp_path, "a line")
    assert list((tmp_path / ".lifecycle/log").iterdir()) == []


def test_a_full_disk_is_nobodys_news(tmp_path: Path) -> None:
    """No byte more may be written: the line is lost, and nothing is printed about it."""
    (tmp_path / ".lifecycle").mkdir()
    code = (
        "import pathlib, resource, sys; from lifecycle.storage import log; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); "
        "log.write(pathlib.Path(sys.argv[1]), 'a line'); log.write_staged(sys.argv[1], 'a line')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
