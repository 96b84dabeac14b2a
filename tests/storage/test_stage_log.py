"""The staged workflow's own log: the design's form, one write, no secret, never in the way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lifecycle.storage import log


def lines(root: Path) -> list[str]:
    """The log."""
    return (root / ".claude/workflow_orchestrator.log").read_text().splitlines()


def test_a_line_has_the_moment_in_brackets_and_no_secret(tmp_path: Path) -> None:
    """`[2025-12-17 10:30:15] Hook triggered`; line breaks become spaces, and tokens stars."""
    log.write_staged(str(tmp_path), "Hook triggered", "a\nb ghp_abcdefghijklmnopqrst0123")
    first, second = lines(tmp_path)
    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] Hook triggered", first)
    assert second.endswith("] a b ***")


def test_it_is_turned_over_as_the_products_own(tmp_path: Path) -> None:
    """However much is logged, three files of about a quarter of a megabyte are kept."""
    for number in range(700):
        log.write_staged(str(tmp_path), f"{number} " + "x" * 3000)
    names = sorted(path.name for path in (tmp_path / ".claude").iterdir())
    name = "workflow_orchestrator.log"
    assert names == [name, f"{name}.1", f"{name}.2"]
    sizes = [path.stat().st_size for path in (tmp_path / ".claude").iterdir()]
    assert sum(sizes) < 3 * 262 * 1024
    assert lines(tmp_path)[-1].partition("] ")[2].startswith("699 x")
    assert max(len(line) for line in lines(tmp_path)) < 2100


@pytest.mark.parametrize("name", [".claude", ".claude/workflow_orchestrator.log"])
def test_a_link_is_not_written_through(tmp_path: Path, name: str) -> None:
    """It leads to a file that is not ours."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    log.write_staged(str(tmp_path), "a line")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_log_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    """A file where the folder should be, a folder where the log should be: the line is lost."""
    (tmp_path / ".claude").write_text("")
    log.write_staged(str(tmp_path), "a line")
    assert (tmp_path / ".claude").read_text() == ""
    (tmp_path / ".claude").unlink()
    (tmp_path / ".claude/workflow_orchestrator.log").mkdir(parents=True)
    log.write_staged(str(tmp_path), "a line")
    assert list((tmp_path / ".claude").rglob("*")) == [
        tmp_path / ".claude/workflow_orchestrator.log"
    ]
