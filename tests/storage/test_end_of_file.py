"""The end of what a command printed, from the file that the client keeps it in."""

from __future__ import annotations

import os
from pathlib import Path

from lifecycle.evidence.outcomes import WHOLE
from lifecycle.storage.regular_files import end_of


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
