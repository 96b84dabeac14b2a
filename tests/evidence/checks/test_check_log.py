"""The output of a check in memory and as a log: bounded, whole at both ends, without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.evidence.checks import check_log
from lifecycle.evidence.checks.check_log import END, HEAD, LOGS, TAIL, CheckOutput
from lifecycle.storage.regular_files import StrangeFileError

SECRET = "ghp_abcdefghijklmnopqrst0123"


@pytest.mark.parametrize("size", [900, 9_000, 100_000])
def test_of_gigantic_output_both_ends_are_kept(size: int) -> None:
    """And how much is missing between them; of what fits, all of it."""
    output, whole = CheckOutput(), b""
    for number in range(1_800_000 // size):
        part = (b"%d " % number).ljust(size, b".")[:size]
        whole += part
        output.add(part)
    text = output.text.encode()
    assert text.startswith(whole[:HEAD])
    assert text.endswith(whole[-END:])
    assert len(text) < HEAD + END + 2 * size + 100
    assert f"[... {output.left_out:,} bytes were left out here ...]".encode() in text


def test_a_log_has_no_secret_and_no_control_characters(tmp_path: Path) -> None:
    """It is the user's alone, below the folder that git never sees."""
    path = check_log.keep(tmp_path, "test", 1_000_000_000.25, f"a\n\x1b[2Jb {SECRET}\n")
    assert path == ".lifecycle/checks/20010909T014640250Z-test.log"
    assert (tmp_path / path).read_text() == "a\n\\x1b[2Jb ***\n"
    assert (tmp_path / path).stat().st_mode & 0o077 == 0
    assert (tmp_path / ".lifecycle/.gitignore").read_text() == "*\n"


def test_only_the_newest_logs_are_kept(tmp_path: Path) -> None:
    """The oldest go, whatever check they are of; what is no log stays."""
    (tmp_path / ".lifecycle").mkdir(mode=0o700)
    for number in range(LOGS + 3):
        check_log.keep(tmp_path, f"n{number}", 1_000_000_000.0 + number, "x")
    (tmp_path / ".lifecycle/checks/mine.txt").write_text("kept")
    last = check_log.keep(tmp_path, "a/../b c", 1_000_000_100.0, "x")
    assert last.endswith("Z-a----b-c.log")
    kept = {path.name for path in (tmp_path / ".lifecycle/checks").iterdir()}
    assert len(kept) == LOGS + 1
    assert "mine.txt" in kept
    newest = {f"n{number}" for number in range(4, LOGS + 3)}
    assert {name.rpartition("Z-")[2].removesuffix(".log") for name in kept - {"mine.txt"}} == {
        *newest,
        "a----b-c",
    }


def test_a_linked_folder_is_not_written_into(tmp_path: Path) -> None:
    """It is refused as any strange file is."""
    (tmp_path / ".lifecycle").mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".lifecycle/checks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StrangeFileError):
        check_log.keep(tmp_path, "test", 0.0, "x")
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_tail_is_short_and_has_no_secret() -> None:
    """A secret that the cut goes through is one as well."""
    assert check_log.tail("short") == "short"
    text = "x" * 9000 + " " + SECRET + " " + "y" * (TAIL - 10)
    tail = check_log.tail(text)
    assert len(tail) == TAIL
    assert "qrst0123" not in tail
    assert tail.endswith("y" * (TAIL - 10))


def test_what_fits_is_kept_whole() -> None:
    """Up to the last byte of both ends."""
    output = CheckOutput()
    for part in (b"a" * HEAD, b"b" * END):
        output.add(part)
    assert (output.text, output.left_out) == ("a" * HEAD + "b" * END, 0)


def test_of_the_end_as_much_is_kept_as_is_told() -> None:
    """Exactly so many bytes, however they came; and the gap is what went."""
    output = CheckOutput()
    output.add(b"h" * HEAD)
    output.add(b"a" * 10)
    output.add(b"b" * (END - 1))
    assert (output.left_out, output.text[-END : -END + 2]) == (9, "ab")
    output.add(b"c")
    assert output.left_out == 10
    assert (
        output.text
        == "h" * HEAD + "\n[... 10 bytes were left out here ...]\n" + "b" * (END - 1) + "c"
    )
