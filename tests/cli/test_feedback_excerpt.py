"""`lifecycle feedback excerpt`: the lines of a log on stdin that tell the error."""

from __future__ import annotations

import json
import subprocess

from tests.conftest import STARTED
from tests.feedback.job_logs import quoted_logs

LOG = next(log for log in quoted_logs() if log.name == "make_gcc_error")


def excerpt_of(log: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    """The command with this log on stdin, in no worktree."""
    command = [str(STARTED), "feedback", "excerpt", *options]
    return subprocess.run(command, input=log, capture_output=True, check=False, cwd="/")


def test_a_log_comes_out_as_what_tells_the_error() -> None:
    """Without a worktree, a token or a network: the lines of the log's error, and no others."""
    done = excerpt_of(LOG.text.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    assert all(one in text for one in LOG.quote)
    assert "lines left out" in text
    data = json.loads(excerpt_of(LOG.text.encode(), "--json").stdout)
    assert "\n".join(data["lines"]) == text.rstrip("\n")
    assert data["first_error"].startswith("src/parse.c:3:16: error:")


def test_what_is_no_text_harms_nobody() -> None:
    """Bytes of any kind, a line without an end: exit 0, and nothing that a terminal obeys."""
    done = excerpt_of(b"\xff\xfe\x00error: \x1b[2J" + b"x" * 300_000)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\x1b" not in done.stdout
    assert b"Traceback" not in done.stdout


def test_a_line_without_end_cuts_no_secret() -> None:
    """It is read in pieces, and the seam of two may be where a token stands."""
    token = "ghp_" + "a1B2" * 9
    for at in (65_525, 65_536 - 4_096 - 10):
        done = excerpt_of(("Error: " + "x" * (at - 8) + f" {token} tail " + "y" * 70_000).encode())
        assert b"a1B2a1" not in done.stdout
        assert done.stdout.startswith(b"Error: xxx")


def test_an_empty_log_is_called_empty() -> None:
    """Silence would pass for a log without an error; a program reads it from the count of lines."""
    for log in (b"", b"\r\n" * 10):
        done = excerpt_of(log)
        assert (done.returncode, done.stdout.strip()) == (0, b"")
        assert b"The log on stdin is empty" in done.stderr
    assert json.loads(excerpt_of(b"", "--json").stdout)["total"] == 0
