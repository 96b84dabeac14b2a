"""Excerpts of logs: what a person would quote is in them, and nothing that must not be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.feedback.checks import excerpt as excerpts
from lifecycle.feedback.checks.excerpt import MOST_CHARACTERS, MOST_LINES, excerpt
from tests.feedback.job_logs import QuotedLog, job_log, quoted_logs, recorded_logs

LOGS = quoted_logs()
RECORDED = [*recorded_logs()]
TOKEN = "ghp_" + "a1B2" * 9
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nsecretlines\n-----END RSA PRIVATE KEY-----"
)


def missing(log: QuotedLog) -> list[str]:
    """What a person would quote and the excerpt lacks."""
    text = excerpt(log.text.splitlines()).text
    return [one for one in log.quote if one not in text]


def test_what_a_person_would_quote_is_in_the_excerpt() -> None:
    """Of the logs of real tools, the excerpts of 95 of 100 have all of the lines that were fixed before."""
    assert len(LOGS) >= 60
    lacking = {log.name: missing(log) for log in LOGS if missing(log)}
    assert len(lacking) <= len(LOGS) * 0.05, lacking


def test_a_test_that_fails_is_named() -> None:
    """Of what real runners printed, each failing test stands in the excerpt, word for word of its name."""
    assert len(RECORDED) >= 40
    for log in RECORDED:
        text = excerpt(log.text.splitlines()).text
        for failure in log.quote:
            for word in failure.replace("::", " ").split():
                assert word in text or word.split(".")[-1] in text, (log.name, failure)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_the_step_is_found_without_its_time_and_by_it(log: QuotedLog) -> None:
    """The same lines, whether the step's time is known or not; no line of another step is shown."""
    text, step = job_log(log.output, log.command, log.status)
    shown, by_time = excerpt(text.splitlines()), excerpt(text.splitlines(), step)
    assert shown.lines == by_time.lines
    assert shown.first_error == by_time.first_error
    assert not any(word in shown.text for word in ("No such section", "errors-1.0", "checkout"))
    assert len(shown.lines) <= MOST_LINES
    assert len(shown.text) <= MOST_CHARACTERS


def test_a_step_that_failed_and_was_passed_over_is_not_the_one() -> None:
    """With its time, the step that is asked for is shown, though an earlier one had an error as well."""
    first, _ = job_log("Error: the cache is empty", "cache", 1)
    second, step = job_log("src/a.c:3:1: error: expected ';'", "make", 2)
    late = second.replace("2026-11-23T09:", "2026-11-23T10:")
    hour = type(step)(step.began + 3600, step.ended + 3600)
    shown = excerpt((first + late).splitlines(), hour)
    assert shown.first_error == "src/a.c:3:1: error: expected ';'"
    assert "cache is empty" not in shown.text


def test_a_log_without_an_error_is_shown_by_its_end() -> None:
    """Thirty lines, and how many stand before."""
    shown = excerpt(f"step {n}" for n in range(100))
    assert shown.lines[0] == "… 70 lines left out …"
    assert shown.lines[1:] == tuple(f"step {n}" for n in range(70, 100))
    assert (shown.first_error, shown.total, shown.left_out) == ("", 100, 70)
    assert excerpt([]).lines == ()


def test_no_secret_is_shown_wherever_a_line_is_cut() -> None:
    """Tokens at the edge of what is shown of a line, and keys whose begin is not shown, are gone."""
    edge = "error: " + "x" * (excerpts.MOST_WIDE - 20) + " " + TOKEN
    lines = [*KEY.split("\n"), *(f"line {n}" for n in range(8)), edge, f"and {TOKEN}"]
    shown = excerpt(lines)
    assert "***" in shown.text
    assert "ghp_" not in shown.text + shown.first_error
    assert "secretlines" not in shown.text
    assert "MIIE" not in shown.text


def test_progress_and_colours_are_gone() -> None:
    """Of a line that is written again and again its last state is shown, without escapes."""
    shown = excerpt(["10%\r50%\r\x1b[31merror: disk full\x1b[0m\n", "\x1b]0;title\x07done"])
    assert shown.lines == ("error: disk full", "done")


def test_a_long_log_is_read_once_and_little_of_it_is_kept() -> None:
    """What is kept of a log does not grow with it; each line is asked for once."""
    asked = itertools.count()

    def log() -> Iterator[str]:
        for n in range(20_000):
            next(asked)
            yield f"test {n} went wrong: error: number {n} " + "y" * 200

    reading = excerpts._Reading()
    for line in log():
        reading.take(line)
    kept = {id(text) for window, _ in reading.wanted() for text in window.lines.values()}
    assert len(kept) < 500
    assert next(asked) == 20_000


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=700), max_size=400))
def test_an_excerpt_of_anything_keeps_to_its_size(lines: list[str]) -> None:
    """Whatever a log holds: its limits, and each line that is left out is counted."""
    shown = excerpt(lines)
    assert len(shown.lines) <= MOST_LINES
    assert len(shown.text) <= MOST_CHARACTERS
    assert 0 <= shown.left_out <= shown.total
    assert "\x1b" not in shown.text
