"""The rotating log: one line for each thing, never in the way, never a secret."""

from __future__ import annotations

from pathlib import Path

from lifecycle import log


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
