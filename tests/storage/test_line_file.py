"""A text with a line for each thing that happened."""

from __future__ import annotations

from pathlib import Path

from lifecycle.storage.line_file import LineFile


def test_the_last_lines_are_read_and_kept(tmp_path: Path) -> None:
    """The oldest first; a file that is not there has none."""
    file = LineFile(str(tmp_path / "progress.txt"))
    assert file.tail(5) == []
    assert file.trim(5) == (0, 0)
    for number in range(4):
        file.append(f"line {number}")
    assert file.tail(2) == ["line 2", "line 3"]
    assert file.trim(3) == (4, 3)
    assert file.tail(9) == ["line 1", "line 2", "line 3"]


def test_only_a_file_that_has_grown_is_trimmed_by_itself(tmp_path: Path) -> None:
    """To well over what is kept: so it is not written anew with each line."""
    file = LineFile(str(tmp_path / "progress.txt"))
    for number in range(30):
        file.append(f"{number} {'x' * 20}")
    file.trim_grown(10)
    assert len(file.tail(50)) == 30
    file.trim_grown(2)
    assert [line.split()[0] for line in file.tail(50)] == ["28", "29"]
