"""What a command printed, from the file that the client keeps it in; and files that are read whole."""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.evidence.outcomes import WHOLE
from lifecycle.storage.regular_files import end_of, whole


def test_a_file_is_read_whole_or_its_end(tmp_path: Path) -> None:
    """Up to a million bytes all of it; of more the end, and that something is missing."""
    path = tmp_path / "output.txt"
    path.write_bytes(b"\xff begins\n" + b"x" * (WHOLE - 9))
    text, is_cut = end_of(str(path), WHOLE)
    assert (len(text), text[:9], is_cut) == (WHOLE, "\ufffd begins\n", False)
    path.write_bytes(b"begins" + b"x" * WHOLE + b"FAIL")
    text, is_cut = end_of(str(path), WHOLE)
    assert (len(text), text[-5:], is_cut) == (WHOLE, "xFAIL", True)


def test_what_is_no_regular_file_says_nothing(tmp_path: Path) -> None:
    """A pipe that nobody writes to, a device, a folder, a link, nothing: empty, and nobody waits."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("12 passed")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("pipe", ".", "link", "none", "/dev/zero", "a\0b"):
        assert end_of(os.path.join(tmp_path, name), WHOLE) == ("", True)  # noqa: PTH118 -- an absolute one too


def test_a_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    """Up to the limit; one that is larger, is no regular file or is not there gives nothing."""
    (tmp_path / "file").write_bytes(b"1234")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert whole(str(tmp_path / "file"), 4) == b"1234"
    assert whole(str(tmp_path / "file"), 3) is None
    assert [whole(str(tmp_path / name), 4) for name in ("link", "none", ".")] == [None] * 3
