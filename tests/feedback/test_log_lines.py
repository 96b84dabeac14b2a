"""A job's log as its step printed it: what is cleaned, what belongs to the step, and what is noise."""

from __future__ import annotations

import pytest

from lifecycle.core.timing import parse_time
from lifecycle.core.values.failed_checks import JobStep
from lifecycle.feedback.checks import log_lines
from lifecycle.feedback.checks.log_lines import (
    MOST_OF_KEY,
    KeptLog,
    plain_lines,
)

END = "##[error]Process completed with exit code 1."
BEGIN_KEY, END_KEY = (f"-----{edge} RSA PRIVATE KEY-----" for edge in ("BEGIN", "END"))


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("lines", "plain"),
    [
        (["\ufeff2026-11-23T09:00:00.1234567Z a", "2026-11-23T09:00:01Z b"], ["a", "b"]),
        (["2026-11-23T09:00:00Z", "a 2026-11-23T09:00:00Z b"], ["a 2026-11-23T09:00:00Z b"]),
        (["1%\r2%\r3%\n", "a\r\n", "b\r"], ["3%", "a", "b"]),
        (["x" * 4_001], ["x" * 4_000]),
        ([f"{'x' * 3_959} {TOKEN}"], [f"{'x' * 3_959} {TOKEN}"]),
        ([f"{'x' * 3_980} {TOKEN}{' y' * 99}"], [f"{'x' * 3_980} ***{' y' * 8}"]),
        ([f"{TOKEN} " * 300], ["*** " * 195 + TOKEN[:5]]),
        (
            ["\x1b[1;31mred\x1b[0m", "\x1b]0;t\x07a", "b\x08\x7fc", "\x1bMd"],
            ["red", "a", "bc", "d"],
        ),
        (["a\tb", "é"], ["a\tb", "é"]),
        (["", " ", "a", "", "\t", "b", ""], ["a", "", "b", ""]),
        (["##[group]Set up", "a", "##[endgroup]"], ["Set up", "a"]),
        (["a", "Cleaning up orphan processes", "Post job cleanup.", "b"], ["a", "b"]),
    ],
    ids=[
        *("moments", "inside", "progress", "long", "whole", "cut", "read", "escapes", "plain"),
        *("empty", "group", "tidied"),
    ],
)
def test_each_line_is_cleaned(lines: list[str], plain: list[str]) -> None:
    """No moment, colour or rewritten progress; of several empty lines one, and none at the begin.

    A line that is too long is cut, and holds no secret then: it is read twice as far as it is kept.
    """
    assert list(plain_lines(lines)) == plain


@pytest.mark.parametrize(
    ("lines", "plain"),
    [
        (["a", BEGIN_KEY, "x", END_KEY, "b"], ["a", "***", "b"]),
        ([f"key: {BEGIN_KEY}", "x", f"{END_KEY}, and", "b"], ["key: ***", "b"]),
        ([f"{BEGIN_KEY}xyz{END_KEY} is it", "b"], ["***", "b"]),
        ([END_KEY, "b"], [END_KEY, "b"]),
        ([BEGIN_KEY, "x"], ["***"]),
        (["-----BEGIN PGP PRIVATE KEY BLOCK-----", "x", END_KEY, BEGIN_KEY, "y"], ["***", "***"]),
    ],
    ids=["lines", "in a sentence", "one line", "only an end", "no end", "two"],
)
def test_a_private_key_is_one_star(lines: list[str], plain: list[str]) -> None:
    """From its begin to its end, however many lines it has; what follows is shown."""
    assert list(plain_lines(lines)) == plain


@pytest.mark.parametrize("before", ["", "#9 12.3 ", "  > ", '"'])
def test_of_a_key_behind_what_a_tool_puts_there_nothing_is_shown(before: str) -> None:
    """Docker's numbers, a quotation, an indent; headers and empty lines are the key's as well."""
    body = ["Proc-Type: 4,ENCRYPTED", "", "MIIE" + "b" * 60, "c" * 64, "d" * 24 + "=="]
    lines = [f"{before}{line}" for line in (BEGIN_KEY, *body, END_KEY)]
    if before.strip():
        lines.remove(before)
    assert list(plain_lines([*lines, "Error: no access"])) == [f"{before}***", "Error: no access"]


def test_a_message_about_a_key_ends_no_log() -> None:
    """Where only its begin is told, what is no line of a key is shown, and a key is not endless."""
    lines = [f"Error: the file does not begin with {BEGIN_KEY}", "make: *** [Makefile:2: sign]"]
    lines.append("c" * 64)  # the sum of something
    assert list(plain_lines(lines)) == ["Error: the file does not begin with ***", *lines[1:]]
    log = KeptLog()
    list(log.through(lines))
    assert lines[1] in log.text
    endless = [BEGIN_KEY, *["MIIE" + "b" * 60] * MOST_OF_KEY, "MIIE" + "c" * 60, "MIIE" + "d" * 60]
    assert list(plain_lines(endless)) == ["***", *endless[-2:]]
    assert MOST_OF_KEY == 400


def test_only_what_the_step_printed_in_its_time_is_its_own() -> None:
    """From its first second to two after its last; a line without a moment belongs to the one before."""
    lines = [
        *("no moment yet", "2026-11-23T09:00:09Z before", "still before"),
        *("2026-11-23T09:00:10Z first", "second", "2026-11-23T09:00:22.9Z last"),
        *("2026-11-23T09:00:23Z behind", "still behind"),
        *("2026-11-23T09:00:20Z again", "2026-11-23T99:00:20Z no time"),
    ]
    began = parse_time("2026-11-23T09:00:10Z")
    assert began is not None
    step = JobStep(1, "Test", began=began, ended=began + 10)
    assert list(plain_lines(lines, step)) == ["first", "second", "last", "again"]


def test_only_the_moment_at_its_beginning_is_no_part_of_a_line() -> None:
    """A log is kept with its moments, and keys are searched for behind them."""
    stamped = "2026-11-23T09:00:00.1234567Z "
    lines = ["a", stamped, f"{stamped}a", f"a {stamped}"]
    assert list(plain_lines(lines)) == ["a", "", "a", f"a {stamped}"]
    log, key = KeptLog(), "-----BEGIN PRIVATE KEY-----"
    assert list(log.through([*lines, f"{stamped}{key}"])) == [*lines, f"{stamped}{key}"]
    assert log.lines == [*lines, f"{stamped}***"]


def test_a_step_ends_where_actions_says_that_it_failed() -> None:
    """That line is its last; an error that a tool prints so ends it only where the job tidies up."""
    assert list(plain_lines(["a", END, "b"])) == ["a", END]
    own = "##[error]no such file"
    assert list(plain_lines(["a", own, "b", "Post job cleanup.", "c"])) == ["a", own, "b"]
    assert list(plain_lines(["Post job cleanup.", own, "b"])) == [own, "b"]


def test_where_a_command_begins_what_was_before_it_is_over() -> None:
    """Its echo is left out, up to the end of its group."""
    lines = ["a", "", "##[group]Run make", "make", "shell: bash", "##[endgroup]", "", "b"]
    assert list(plain_lines(lines)) == ["a", "", None, "b"]


def test_where_a_step_was_stopped_its_last_noise_is_told() -> None:
    """Of this command, unless a line that is no noise tells how far it came; else noise is left out."""
    stop, one, two = "##[error]The operation was canceled.", "  ✓ 1 adds", "  ✓ 2 pays"
    assert list(plain_lines([stop])) == [stop]
    assert list(plain_lines([one, two, "", stop])) == [two, stop]
    assert list(plain_lines([one, "a", stop])) == ["a", stop]
    assert list(plain_lines([one, "##[group]Run make", "##[endgroup]", stop])) == [None, stop]
    assert list(plain_lines([one, END])) == [END]
    assert list(plain_lines([one, "a", two, "b"])) == ["a", "b"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log keeps ten characters of its begin, and twenty of its end."""
    assert (log_lines.BEGIN, log_lines.END) == (500_000, 1_500_000)
    monkeypatch.setattr(log_lines, "BEGIN", 10)
    monkeypatch.setattr(log_lines, "END", 20)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ([], []),
        (["1234", "5678"], ["1234", "5678"]),
        (["1234", "56789", "x"], ["1234", "56789", "x"]),
        (
            ["12", *(f"l{n:02}" for n in range(30))],
            ["12", "l00", "… 24 lines left out …", *(f"l{n:02}" for n in range(25, 30))],
        ),
        (
            ["1234", "5678", *(f"l{n:02}" for n in range(6))],
            ["1234", "5678", "… 1 lines left out …", *(f"l{n:02}" for n in range(1, 6))],
        ),
        (["a" * 9, "b" * 9, "c" * 9], ["a" * 9, "b" * 9, "c" * 9]),
        (["a" * 9, "b" * 9, "c" * 10], ["a" * 9, "… 1 lines left out …", "c" * 10]),
        (["x" * 30, "a", "b"], ["… 1 lines left out …", "a", "b"]),
        (["a", "x" * 30], ["a", "x" * 30]),
    ],
)
def test_the_begin_and_the_end_of_a_log_are_kept(lines: list[str], kept: list[str]) -> None:
    """Whole lines, the last one always; and it is said how many are left out between."""
    log = KeptLog()
    assert list(log.through(lines)) == lines
    assert log.lines == kept


@pytest.mark.usefixtures("small")
def test_a_key_whose_begin_is_left_out_is_not_kept() -> None:
    """The gap may hide its first line: it is known as a key when it is read, with its moments too."""
    moment = "2026-01-31T10:00:00.0000000Z "
    key = [f"{moment}{one}" for one in (BEGIN_KEY, *["MIIEsecret" + "b" * 54] * 9, END_KEY)]
    log = KeptLog()
    assert list(log.through(["a" * 20, *key, "b"])) == ["a" * 20, *key, "b"]
    assert log.text == "… 2 lines left out …\nb\n"


def test_a_kept_log_has_no_secret_and_one_kind_of_line_end() -> None:
    """Also one that is spread over its lines."""
    log = KeptLog()
    list(log.through(["a\r", "ghp_" + "a1B2" * 9, BEGIN_KEY, "x", END_KEY]))
    assert log.text == "a\n***\n***\n"
    assert KeptLog().text == "\n"
