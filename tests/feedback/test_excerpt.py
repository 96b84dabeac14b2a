"""Excerpts of logs: what a person would quote is in them, and nothing that must not be."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.feedback.checks import excerpt as excerpts
from lifecycle.feedback.checks.excerpt import MOST_CHARACTERS, MOST_LINES, excerpt
from tests.batches import each_row
from tests.feedback.job_logs import QuotedLog, job_log, quoted_logs, recorded_logs

LOGS = quoted_logs()
RECORDED = [*recorded_logs()]
TOKEN = "ghp_" + "a1B2" * 9
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nsecretlines\n-----END RSA PRIVATE KEY-----"
)


def missing(log: QuotedLog) -> list[str]:
    """What a person would quote and the excerpt lacks."""
    text = "\n".join(excerpt(log.text.splitlines()).excerpt)
    return [one for one in log.quote if one not in text]


def test_what_a_person_would_quote_is_in_the_excerpt() -> None:
    """Of the logs of real tools, the excerpts of 95 of 100 have all of the lines that were fixed before."""
    assert len(LOGS) >= 220
    lacking = {log.name: missing(log) for log in LOGS if missing(log)}
    assert len(lacking) <= len(LOGS) * 0.05, lacking


def test_it_is_in_the_excerpt_amid_harmless_lines_too() -> None:
    """Not because a log is short or its end tells the error: as many with much before and after."""
    before = "\n".join(f"pulled layer {n}: 0 errors" for n in range(100))
    after = "\n".join(f"stopping container worker-{n} ... done" for n in range(50))
    amid = [replace(log, output=f"{before}\n{log.output.rstrip()}\n{after}") for log in LOGS]
    lacking = {log.name: missing(log) for log in amid if missing(log)}
    assert len(lacking) <= len(LOGS) * 0.05, lacking


def test_a_test_that_fails_is_named() -> None:
    """Of what real runners printed, each failing test stands in the excerpt, word for word of its name."""
    named = [log for log in RECORDED if log.quote]
    assert len(named) >= 40
    for log in named:
        text = "\n".join(excerpt(log.text.splitlines()).excerpt)
        for failure in log.quote:
            for word in failure.replace("::", " ").split():
                last = word.rstrip(".").rpartition(".")[2]
                assert word in text or (last and last in text), (log.name, failure)


@each_row("log", LOGS, ids=lambda log: log.name)
def test_the_step_is_found_without_its_time_and_by_it(log: QuotedLog) -> None:
    """The same lines, whether the step's time is known or not; no line of another step is shown."""
    text, step = job_log(log.output, log.command, log.status)
    shown, by_time = excerpt(text.splitlines()), excerpt(text.splitlines(), step)
    assert shown.excerpt == by_time.excerpt
    assert shown.first_error == by_time.first_error
    assert not any(
        word in "\n".join(shown.excerpt)
        for word in ("No such section", "errors-1.0", "actions/checkout")
    )
    assert len(shown.excerpt) <= MOST_LINES
    assert len("\n".join(shown.excerpt)) <= MOST_CHARACTERS


def test_a_step_that_failed_and_was_passed_over_is_not_the_one() -> None:
    """With its time, the step that is asked for is shown, though an earlier one had an error as well."""
    first, _ = job_log("Error: the cache is empty", "cache", 1)
    second, step = job_log("src/a.c:3:1: error: expected ';'", "make", 2)
    late = second.replace("2026-11-23T09:", "2026-11-23T10:")
    hour = replace(step, began=(step.began or 0) + 3600, ended=(step.ended or 0) + 3600)
    shown = excerpt((first + late).splitlines(), hour)
    assert shown.first_error == "src/a.c:3:1: error: expected ';'"
    assert "cache is empty" not in "\n".join(shown.excerpt)


def test_a_log_without_an_error_is_shown_by_its_end() -> None:
    """Thirty lines, and how many stand before."""
    shown = excerpt(f"step {n}" for n in range(100))
    assert shown.excerpt[0] == "… 70 lines left out …"
    assert shown.excerpt[1:] == tuple(f"step {n}" for n in range(70, 100))
    assert (shown.first_error, shown.lines, shown.left_out) == ("", 100, 70)
    assert excerpt([]).excerpt == ()


def test_what_hints_at_an_error_is_shown_where_no_tool_names_one() -> None:
    """With the log's end, as no error; and no more of it once an error is named, before it or after."""
    hint = "cart.lua:2:30: accessing variable 'y'"
    lines = [f"step {n}" for n in range(300)]
    lines[100] = hint
    shown = excerpt(lines)
    numbers = {int(line.split()[1]) for line in shown.excerpt if line.startswith("step")}
    assert numbers == {*range(90, 141), *range(270, 300)} - {100}
    assert (hint in shown.excerpt, shown.first_error) == (True, "")
    for at in (0, 299):
        named = excerpt([*lines[:at], "Error: boom", *lines[at + 1 :]])
        assert (hint in named.excerpt, named.first_error) == (False, "Error: boom")
    beside = excerpt(["make: *** [Makefile:2: lint] Error 1", *lines])
    assert (hint in beside.excerpt, "step 293" in beside.excerpt) == (True, False)


def test_what_comes_again_and_again_hints_at_nothing() -> None:
    """Of hints alike but for their numbers the first is shown; a thousand forms are remembered."""
    lines = [f"GET /a/{n}: not modified" for n in range(2_000)]
    lines[1_000], lines[1_100] = "GET /b: not allowed", "GET /a/: not modified"
    shown = excerpt(lines)
    assert {lines[0], lines[1_000], lines[1_999]} <= {*shown.excerpt}
    assert not {lines[900], lines[1_100]} & {*shown.excerpt}
    reading = excerpts._Reading()
    for letters in itertools.islice(itertools.product("abcdefghijk", repeat=3), 1_200):
        reading.take("".join(letters))
    assert len(reading.shapes) == excerpts.MOST_SHAPES == 1_000


END = range(294, 300)
"""The last lines of a log of 300."""


def kept(total: int, errors: Iterable[int]) -> set[int]:
    """The numbers of the lines that are shown of a log with errors at these."""
    wrong = {*errors}
    lines = [f"Error: {n}" if n in wrong else f"line {n}" for n in range(total)]
    shown = excerpt(lines)
    numbers = {int(line.split()[1]) for line in shown.excerpt if "left out" not in line}
    assert (shown.lines, shown.left_out) == (total, total - len(numbers))
    assert shown.first_error == (f"Error: {min(wrong)}" if wrong else "")
    gaps = [line for line in shown.excerpt if "left out" in line]
    assert sum(int(gap.split()[1].replace(",", "")) for gap in gaps) == total - len(numbers)
    return numbers


@pytest.mark.parametrize(
    ("total", "errors", "shown"),
    [
        (300, [], {*range(270, 300)}),
        (20, [], {*range(20)}),
        (300, [0], {*range(41), *END}),
        (300, [299], {*range(289, 300)}),
        (300, [100], {*range(90, 141), *END}),
        (300, [100, 250], {*range(90, 141), *range(240, 259), *END}),
        (300, [100, 160, 250], {*range(90, 141), *range(158, 169), *range(240, 259), *END}),
        (300, range(100, 200), {*range(90, 149), *range(189, 205), *END}),
    ],
)
def test_which_lines_stand_around_the_errors(
    total: int, errors: Iterable[int], shown: set[int]
) -> None:
    """Most around the first, then the last and the end, a few around those between, of forty at most."""
    assert kept(total, errors) == shown


def test_of_many_errors_the_first_ones_have_room() -> None:
    """150 lines, those that tell of gaps counted."""
    numbers = kept(3_000, range(100, 3_000, 100))
    around = {*range(90, 141), *range(2_890, 2_906), *range(2_994, 3_000)}
    others = {n for at in range(200, 800, 100) for n in range(at - 2, at + 9)}
    assert numbers == around | others | {800}


def test_what_follows_an_error_is_nearer_than_what_led_to_it() -> None:
    """Where lines are wide, each error has its share of the characters."""
    lines = [f"line {n} " + "x" * 490 for n in range(60)]
    lines[30] = "Error: " + lines[30]
    shown = excerpt(lines)
    numbers = [
        int(line.split("line ")[1].split()[0]) for line in shown.excerpt if "line " in line[:16]
    ]
    assert numbers == [*range(26, 40), *range(54, 60)]


def wide(widths: Iterable[int], errors: Iterable[int]) -> list[str]:
    """Lines of these widths that begin with their numbers, or as an error with theirs."""
    wrong = {*errors}
    begun = (f"Error: {n} " if n in wrong else f"line {n} " for n in itertools.count())
    return [f"{begin:x<{width}}" for begin, width in zip(begun, widths, strict=False)]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        # 36 lines of the first error, 15 of the last, 3 of the end; of one between, what is left.
        (
            wide([200] * 300, [50, 150, 250]),
            [*range(40, 76), *range(149, 154), *range(241, 256), *range(297, 300)],
        ),
        # One character more than its share, and the first has 35, so that the last has 16.
        (
            wide([200] * 75 + [201] + [200] * 224, [50, 150, 250]),
            [*range(40, 75), *range(149, 154), *range(240, 256), *range(297, 300)],
        ),
        # Without any error the end has the first one's share.
        (wide([400] * 100, []), [*range(82, 100)]),
        # One that has no room ends what is shown of its error; the next one's are short.
        (
            wide([*[300] * 98, *[480] * 10, *[10] * 192], [20, 100, 120, 299]),
            [*range(12, 36), *range(98, 107), *range(118, 129), *range(289, 300)],
        ),
        # All has room to the last character; with one more the line goes that was taken last.
        (wide([*[499] * 17, 500, *[499] * 6], [0, 10, 20]), [*range(24)]),
        (wide([*[499] * 16, *[500] * 2, *[499] * 6], [0, 10, 20]), [*range(17), *range(18, 24)]),
    ],
)
def test_each_error_has_its_share_of_the_characters(lines: list[str], shown: list[int]) -> None:
    """The first 60 of 100, the last 25, the end 5; then those between, for as long as there is room."""
    made = excerpt(lines).excerpt
    assert [lines.index(line) for line in made if "left out" not in line] == shown


def test_lines_that_are_longer_without_their_secrets_keep_to_the_room() -> None:
    """Then the end may have none; that it is left out is told as of any other lines."""
    lines = [f"line {n} {'://:a@' * 80}" for n in range(60)]
    lines[30], lines[45] = (f"Error: {lines[at]}" for at in (30, 45))
    shown = excerpt(lines)
    assert len("\n".join(shown.excerpt)) <= MOST_CHARACTERS
    assert shown.excerpt[-1] == "… 11 lines left out …"


def test_a_line_is_shown_as_far_as_500_characters_go() -> None:
    """And how many more it has."""
    for size, more in (
        (500, ""),
        (501, " … 1 more characters"),
        (1_700, " … 1,200 more characters"),
    ):
        assert excerpt(["x" * size]).excerpt == ("x" * 500 + more,)
    assert excerpt(["Error: " + "x" * 600]).first_error == "Error: " + "x" * 493


def test_what_failed_is_the_last_command_that_began() -> None:
    """What was wrong in those before it was ignored."""
    lines = ["Error: old", "##[group]Run make", "make", "##[endgroup]", "a", "Error: new"]
    shown = excerpt(lines)
    assert (shown.excerpt, shown.first_error, shown.lines) == (("a", "Error: new"), "Error: new", 2)


def test_the_surest_error_is_the_first_one() -> None:
    """What only sounds like trouble is told behind what a tool says failed."""
    shown = excerpt(["##[error]odd", *(f"line {n}" for n in range(60)), "Error: boom"])
    assert shown.first_error == "Error: boom"
    assert excerpt(["a", "##[error]odd"]).first_error == "##[error]odd"


def test_no_secret_is_shown_wherever_a_line_is_cut() -> None:
    """Tokens at the edge of what is shown of a line, and keys whose begin is not shown, are gone."""
    edge = "error: " + "x" * (excerpts.MOST_WIDE - 20) + " " + TOKEN
    lines = [*KEY.split("\n"), *(f"line {n}" for n in range(8)), edge, f"and {TOKEN}"]
    shown = excerpt(lines)
    assert "***" in "\n".join(shown.excerpt)
    assert "ghp_" not in "\n".join(shown.excerpt) + shown.first_error
    assert "secretlines" not in "\n".join(shown.excerpt)
    assert "MIIE" not in "\n".join(shown.excerpt)


def test_progress_and_colours_are_gone() -> None:
    """Of a line that is written again and again its last state is shown, without escapes."""
    shown = excerpt(["10%\r50%\r\x1b[31merror: disk full\x1b[0m\n", "\x1b]0;title\x07done"])
    assert shown.excerpt == ("error: disk full", "done")


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
    kept = {id(text) for lines, _ in reading.wanted() for _, text in lines}
    assert len(kept) < 500
    assert next(asked) == 20_000


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=700), max_size=400))
def test_an_excerpt_of_anything_keeps_to_its_size(lines: list[str]) -> None:
    """Whatever a log holds: its limits, and each line that is left out is counted."""
    shown = excerpt(lines)
    assert len(shown.excerpt) <= MOST_LINES
    assert len("\n".join(shown.excerpt)) <= MOST_CHARACTERS
    assert 0 <= shown.left_out <= shown.lines
    assert "\x1b" not in "\n".join(shown.excerpt)


def test_the_step_s_last_lines_are_shown_too() -> None:
    """Runners count at the end, far behind the error: what they count is in the excerpt."""
    passed = "\n".join(f"PASS src/late{n}.test.js" for n in range(80))
    counted = "Tests:       1 failed, 212 passed\nTime: 9 s"
    log = f"FAIL src/cart.test.js\n  ● Cart adds up\n{passed}\n\n{counted}"
    text, _ = job_log(log, "npx jest", 1)
    shown = excerpt(text.splitlines())
    assert "Tests:       1 failed, 212 passed" in shown.excerpt
    assert "PASS src/late79.test.js" in shown.excerpt
    assert "PASS src/late70.test.js" not in shown.excerpt


@pytest.mark.parametrize(
    ("end", "is_shown"),
    [
        ("The action 'Run e2e' has timed out after 20 minutes.", True),
        ("The operation was canceled.", True),
        ("The runner has received a shutdown signal. This can happen when", True),
        ("The job running on runner Actions 14 has exceeded the maximum execution time", True),
        ("Process completed with exit code 1.", False),
    ],
)
def test_a_step_that_was_stopped_shows_how_far_it_came(end: str, is_shown: bool) -> None:
    """The last test that passed is noise, but where Actions stopped the step it tells where it hung."""
    log = f"Running 40 tests\n  ✓ 11 cart\n  ✓ 12 pays by card\n\n##[error]{end}\nnever read"
    shown = excerpt(log.splitlines()).excerpt
    assert ("  ✓ 12 pays by card" in shown) == is_shown
    assert "  ✓ 11 cart" not in shown
    assert "never read" not in shown


def test_what_is_no_end_of_a_stopped_step_is_no_place_that_it_came_to() -> None:
    """A line that is no noise stands between: it tells by itself how far the step came."""
    log = "  ✓ 12 pays by card\nwaiting for the bank\n##[error]The operation was canceled."
    assert excerpt(log.splitlines()).excerpt == (
        "waiting for the bank",
        "##[error]The operation was canceled.",
    )


def test_a_frame_of_ones_own_code_is_shown_amid_those_of_libraries() -> None:
    """A long traceback has most of its lines in libraries: what is to be changed is not among these."""
    frame = '  File "{}/{}.py", line {}, in call'
    library = "/opt/hostedtoolcache/Python/3.12.8/x64/lib/python3.12/site-packages/django"
    lines = [frame.format(library, f"f{n}", n) for n in range(100)]
    own = frame.format("/home/runner/work/shop/shop", "queue", 21)
    lines[60] = own
    shown = excerpt(
        ["Traceback (most recent call last):", *lines, "redis.ConnectionError: refused"]
    )
    assert own in shown.excerpt
    assert lines[50] not in shown.excerpt
    assert shown.first_error == "redis.ConnectionError: refused"


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (["Traceback (most recent call last):", "KeyError: 'price'"], "KeyError: 'price'"),
        (["Traceback (most recent call last):", "Odd"], "Traceback (most recent call last):"),
        (["* What went wrong:", "> Task :test FAILED"], "> Task :test FAILED"),
        (["npm error code 1", "npm error path /a"], "npm error path /a"),
        (["npm error code E404", "npm error 404 gone"], "npm error code E404"),
        (
            ["* What went wrong:", *["a"] * 60, "Traceback (most recent call last):"],
            "* What went wrong:",
        ),
    ],
)
def test_the_first_error_says_what_it_is(lines: list[str], first: str) -> None:
    """What opens any error is no identity: else a script's failure would be the same as the base's."""
    assert excerpt(lines).first_error == first
