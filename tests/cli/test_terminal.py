"""The rim of the command line: nothing is printed but through it, and colours are ours alone."""

from __future__ import annotations

import ast
import io
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.cli import endings, terminal
from lifecycle.core.redact import shown, visible

SECRET = "gh" + "p_" + "aB3dE5gH1j" * 4
HOSTILE = "a\x1b[2Jb\x07\x9b1m\u202ec\u200bd\U000e0041[bold]e[/] :smile: " + SECRET

CLI = Path(terminal.__file__).parent


def test_nothing_is_printed_around_the_rim() -> None:
    """No module of the command line makes a console of its own or writes to a descriptor."""
    for path in CLI.rglob("*.py"):
        if path.name == "terminal.py":
            continue
        # Whoever ends a command that hangs has no stream to trust, and says one sentence of our own.
        allowed = {"os.write"} if path.name == "command_session.py" else set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"Console", "print", "os.write"} - allowed, (
                    f"{path}:{node.lineno}"
                )
                assert not called.endswith(".buffer.write"), f"{path}:{node.lineno}"


def test_both_streams_are_cleaned(capsys: pytest.CaptureFixture[str]) -> None:
    """What is printed in any way while a command runs is shown, on either stream, and only then."""
    before = sys.stdout, sys.stderr
    with terminal.guarded():
        print(HOSTILE)  # noqa: T201 -- the way around that somebody may forget
        print(HOSTILE, file=sys.stderr)  # noqa: T201
        assert terminal.behind(sys.stdout) is before[0]
    assert (sys.stdout, sys.stderr) == before
    for said in capsys.readouterr():
        assert said == visible(HOSTILE).replace(SECRET, "***") + "\n"


def test_a_stream_that_was_given_up_stays_so() -> None:
    """A command that gives standard output up leaves none to be flushed at the end."""
    before = sys.stdout
    try:
        with terminal.guarded():
            sys.stdout = None  # as of a process that nobody reads
        assert sys.stdout is None
    finally:
        sys.stdout = before


@pytest.mark.parametrize("is_buffered", [False, True])
def test_an_output_that_is_full_is_named_with_and_without_a_buffer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], is_buffered: bool
) -> None:
    """Without one nothing is left that would be refused again at the end, and it is named all the same."""
    text = "x" * (100_000 if is_buffered else 1)  # larger than a buffer it is not kept in one
    with Path("/dev/full").open("wb", buffering=-1 if is_buffered else 0) as full:
        stream = io.TextIOWrapper(full, write_through=not is_buffered)
        monkeypatch.setattr(sys, "stdout", terminal.CleanStream(stream))
        assert endings.answered(lambda: terminal.say(text), as_json=False) == 1
        assert sys.stdout is None
        stream.detach()
    assert "standard output: No space left on device" in capfd.readouterr().err


def test_a_console_draws_our_colours_and_nobody_elses() -> None:
    """Style is kept; escapes, markup and codes of emoji in a text are shown as they were written."""
    from rich.text import Text

    file = io.StringIO()
    with terminal.guarded():
        console = terminal.console(force_terminal=True, color_system="standard", width=200)
        console.file = file
        console.print(Text(HOSTILE, "red"), HOSTILE)
    shown = file.getvalue()
    assert shown.startswith("\x1b[31m")
    assert shown.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\n", "").isprintable()
    assert shown.count("[bold]e[/] :smile: ***") == 2


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text()) | st.none() | st.integers()))
def test_json_says_the_same_and_does_nothing(data: dict[str, object]) -> None:
    """Any texts come out of the JSON as they were; the text of it is printable, and opens no frame."""
    data = {"0": f"{data}</x><!--:::: \x9b\u202e\U000e0041", **data}
    text = terminal.json_text(data)
    assert text.isprintable()
    assert "</" not in text
    assert "<!" not in text
    assert ":::" not in text
    assert json.loads(text) == json.loads(json.dumps(data))


def test_json_has_no_secret_whatever_stands_around_it() -> None:
    """A key over several lines, a secret behind a quotation mark, also in a path: JSON stays JSON."""
    key = "-----BEGIN PRIVATE KEY-----\nabc"
    said = json.loads(terminal.json_text({"a": f'"{SECRET}"', "b": [key, {"c": "kept"}]}))
    assert said == {"a": '"***"', "b": ["***", {"c": "kept"}]}
    out = io.StringIO()
    terminal.CleanStream(out).write(terminal.json_text({"path": Path(f'/x/"{SECRET}')}))
    assert json.loads(out.getvalue()) == {"path": '/x/"***'}


def test_the_end_of_a_stream_that_nobody_reads_is_silent() -> None:
    """As that of `status | head -1`: from 3.13 on Python shows a traceback of what fails as it closes it.

    What the command itself flushes still fails.
    """
    reads, writes = os.pipe()
    os.close(reads)
    out = os.fdopen(writes, "w")
    stream = terminal.CleanStream(out)
    stream.write("One")
    with pytest.raises(BrokenPipeError):
        stream.flush()
    stream.close()
    assert not out.closed
    with pytest.raises(BrokenPipeError):
        out.close()


@pytest.mark.parametrize(
    "text",
    [
        'see https://h/?token=abcdefgh1\nabcdef"x" failed',
        'api-key: abcdefgh12345678\nabcdefghijkl12"\\',
        'http://h:8\nme@x "y"',
    ],
)
def test_what_looks_like_a_secret_across_lines_leaves_json_whole(text: str) -> None:
    """The rim takes a shape that goes on over an escaped line break, and never half an escape."""
    said = json.loads(shown(terminal.json_text({"text": text, "next": 1})))
    assert said["next"] == 1
    assert "abcdefgh1" not in said["text"]
