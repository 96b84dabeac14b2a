"""What is read of any runner's output: percentages, statuses of a limit, failed tests, plain text."""

from __future__ import annotations

import pytest

from lifecycle.evidence import reading
from lifecycle.evidence.outcomes import WHOLE, CallEnd, Counts, Outcome, Reading
from lifecycle.evidence.suite_runs import run_in
from lifecycle.platforms import coverage_number
from tests.batches import each_row
from tests.evidence.commands_read import read_check

FINE = "==== 3 passed in 0.1s ====\n"


@each_row(
    ("output", "number"),
    [
        ("TOTAL                 120     24    80%\n", 80.0),
        ("TOTAL\t10\t2\t81.5%", 81.5),
        ("All files      |   85.71 |    50 |", 85.71),
        ("total:\t\t\t(statements)\t\t80.5%", 80.5),
        ("ok  \tex/a\t0.1s\tcoverage: 81.2% of statements", 81.2),
        ("71.43% coverage, 5/7 lines covered", 71.43),
        ("| Total   | 66.66% | 50% | 100% |", 66.66),
        ("| Average | 33.3% | 50% | 100% |", 33.3),
        ("Lines        : 85.71% ( 6/7 )", 85.71),
        ("  Lines:   90.00% (9/10)", 90.0),
        ("lines......: 75.0% (3 of 4 lines)", 75.0),
        ("Line Coverage: 82.5% (33 / 40)", 82.5),
        ("TOTAL 10 2 80%\nTOTAL 10 1 90%", 90.0),
        ("SUBTOTAL 10 2 80%", None),
        ("All files covered", None),
        ("about 71% coverage", None),
    ],
)
def test_the_percentage_is_read_as_programs_print_it(output: str, number: float | None) -> None:
    """coverage.py, Istanbul, Go, tarpaulin, coverlet, PHPUnit, lcov, SimpleCov; the last one counts."""
    assert coverage_number.known(output) == number


@pytest.mark.parametrize("status", [124, 130, 137, 143])
def test_what_ran_into_a_limit_did_not_come_to_its_end(status: int) -> None:
    """By `timeout`'s status or a signal's; a failure that it had found is one all the same."""
    for kind in ("test", "build"):
        assert read_check(kind, ("pytest",), status, FINE).outcome is Outcome.PARTIAL
    failed = "==== 1 failed, 3 passed in 0.1s ===="
    assert read_check("test", ("pytest",), status, failed).outcome is Outcome.FAILED
    run = run_in("pytest")
    assert run is not None
    said = reading.read_run(run, CallEnd.FAILED, f"Exit code {status}\n{FINE}")
    assert (said.outcome, said.why) == (Outcome.PARTIAL, "it was stopped before its end")


@pytest.mark.parametrize("status", [1, 2, 123, 125, 129, 138, 144])
def test_any_other_status_is_a_failure(status: int) -> None:
    """Also where no test failed: something behind the tests did."""
    for kind in ("test", "build"):
        assert read_check(kind, ("pytest",), status, FINE).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("line", "status", "output", "outcome"),
    [
        ("pytest", 5, "", Outcome.NOTHING_RAN),
        ("pytest", 4, "", Outcome.FAILED),
        (
            "make test",
            2,
            "no tests ran in 0.1s\nmake: *** [Makefile:3: test] Error 5\n",
            Outcome.NOTHING_RAN,
        ),
        ("jest", 5, "", Outcome.FAILED),
    ],
)
def test_a_status_that_says_that_there_was_no_test(
    line: str, status: int, output: str, outcome: Outcome
) -> None:
    """pytest's own, and as make passes it on."""
    assert read_check("test", tuple(line.split()), status, output).outcome is outcome


def test_at_most_two_hundred_failed_tests_are_named() -> None:
    """In the order in which they stand, each once, with single blanks."""
    lines = [f"FAILED tests/test_a.py::test_{n}" for n in (*range(201), 0)]
    output = "\n".join(lines) + "\n==== 201 failed in 0.1s ====\n"
    names = read_check("test", ("pytest",), 1, output).failures
    assert names == tuple(f"tests/test_a.py::test_{n}" for n in range(200))
    few = "\n".join(lines[:3] * 2) + "\n==== 3 failed in 0.1s ====\n"
    assert len(read_check("test", ("pytest",), 1, few).failures) == 3
    assert read_check("test", ("pytest",), 0, lines[0] + "\n" + FINE).failures == ()


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("\x1b[1;32mok\x1b[0m", "ok"),
        ("\x1b]8;;http://a\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1bMup", "up"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("packages/a test: 3 passed", "3 passed"),
        ("@scope/a:test: 3 passed", "3 passed"),
        ("a:test:unit: 3 passed\nb#test: 1 failed", "3 passed\n1 failed"),
        ("➤ YN0000: [@scope/a]: 3 passed\n➤ YN0000: Done in 1s", "3 passed\nDone in 1s"),
        ("[a]: 3 passed\n[a]: FAIL b", "3 passed\nFAIL b"),
        ("[INFO] 3 passed\na best: 3 passed", "[INFO] 3 passed\na best: 3 passed"),
    ],
)
def test_an_output_is_read_without_what_only_dresses_it(output: str, text: str) -> None:
    """Colours, links, line ends of other systems, and what names the package of a line."""
    assert reading.plain(output) == text


def test_nothing_is_counted_or_named_unless_it_is_said() -> None:
    """Counts begin at zero and add up by kind; of a run that says nothing nothing is known."""

    def of(counts: Counts) -> tuple[int, ...]:
        return counts.passed, counts.failed, counts.skipped, counts.errors, counts.total

    assert of(Counts()) == (0, 0, 0, 0, 0)
    assert of(Counts(1, 2, 3, 4) + Counts(10, 20, 30, 40)) == (11, 22, 33, 44, 110)
    least = Reading(Outcome.UNKNOWN)
    assert (least.counts, least.failures, least.why) == (None, (), "")
    assert (least.asserted, least.passed, least.percent) == (None, (), None)


def test_of_a_long_output_its_end_is_read() -> None:
    """So much of it as is kept, a million bytes; a summary before that is gone."""
    assert WHOLE == 1_000_000
    long = FINE + "x" * WHOLE
    assert reading.plain(long) == "x" * WHOLE
    assert reading.plain("short") == "short"


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("pytest", Outcome.PASSED),
        ("pytest && pytest -q", Outcome.PASSED),
        ("pytest && cargo test", Outcome.FAILED),
        ("pytest; echo over", Outcome.FAILED),
        ("pytest | tail -5", Outcome.FAILED),
        ("make test", Outcome.PASSED),
    ],
)
def test_where_the_status_is_known_a_runner_that_is_not_there_does_not_speak(
    line: str, outcome: Outcome
) -> None:
    """What looks like its words is another program's; where nobody knows the status they may be its own."""
    run = run_in(line)
    assert run is not None
    output = f"error: could not compile\n{FINE}"
    assert reading.read_run(run, CallEnd.OK, output).outcome is outcome
