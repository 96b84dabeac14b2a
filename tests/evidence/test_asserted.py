"""Which tests failed by their assertion, and which by an error: the difference between red and broken."""

# ruff: noqa: ISC004, RUF001

from __future__ import annotations

import pytest

from lifecycle.evidence import junit
from lifecycle.evidence.checks.check_reading import with_reports
from lifecycle.evidence.outcomes import CallEnd, Counts, Outcome, Reading
from lifecycle.evidence.reading import read_run
from lifecycle.evidence.runners.runner_table import rows
from lifecycle.evidence.suite_runs import run_in
from tests.batches import each_row
from tests.evidence.commands_read import read_check
from tests.evidence.runners.recordings import Recording, all_recordings

RECORDINGS = {each.name: each for each in all_recordings()}

ASSERTED: dict[str, tuple[str, ...] | None] = {
    "ava-fails": ("two",),
    "bun-fails": ("sums > two",),
    "cargo-fails": ("tests::two",),
    "cargo-fails_on": ("two",),
    "go-fails": ("TestTwo",),
    "go-fails_below": ("TestTwo", "TestTwo/odd"),
    "gotestsum-fails": ("TestTwo",),
    "gradle-fails": ("SumTest > two",),
    "gradle-one_project_fails": ("SumTest > two",),
    "gradle-failure_ignored": ("SumTest > two",),
    "jest-fails": ("sums › two",),
    "just-fails": ("test_sum.Sum.test_two",),
    "just-fails_first": ("test_sum.py::Sum::test_two",),
    "make-fails": ("test_sum.Sum.test_two",),
    "make-fails_first": ("test_sum.py::Sum::test_two",),
    "make-failure_ignored": ("test_sum.Sum.test_two",),
    "manage-fails": ("sums.tests.Sum.test_two",),
    "maven-fails": ("SumTest.two",),
    "maven-one_module_fails": ("SumTest.two",),
    "maven-failure_ignored": ("SumTest.two",),
    "minitest-fails": ("SumTest#test_two",),
    "mix-fails": ("two (SumTest)",),
    "mocha-fails": ("sums two",),
    "nextest-fails": ("ex tests::two",),
    "nextest-fails_at_once": ("ex tests::b",),
    "node-fails": ("two",),
    "node-fails_as_tap": ("two",),
    "nox-fails": ("test_sum.Sum.test_two",),
    "phpunit-fails": ("SumTest::testTwo",),
    "playwright-fails": ("sum.spec.js:4:1 › two",),
    "pytest-fails": ("test_sum.py::test_two",),
    "pytest-first_failure_ends_it": ("test_sum.py::test_one",),
    "rspec-fails": ("./spec/sum_spec.rb:3",),
    "sbt-fails": ("two",),
    "sbt-junit_fails": ("SumTest.two",),
    "sbt-one_project_fails": ("two",),
    "tox-fails": ("test_sum.Sum.test_two",),
    "unittest-fails": ("test_sum.Sum.test_two",),
    "vitest-fails": ("sum.test.js > sums > two",),
    "vitest-fails_for_agents": ("sum.test.js > two",),
    "vitest-fails_in_colour": ("sum.test.js > two",),
    # They throw an error that is none of an assertion: the test is broken, and not red.
    "deno-fails": (),
    "mocha-dots": (),
    "npm-fails": (),
    "npm-one_fails_first": (),
    "pnpm-fails": (),
    "pnpm-one_fails_first": (),
    "yarn-fails": (),
    "yarn-one_fails_first": (),
    "nextest-times_out": (),
    # What they print does not tell the two apart.
    "bazel-fails": None,
    "behave-fails": None,
    "ctest-fails": None,
    "robot-fails": None,
}
"""By recording, what its project's tests do: those that fail by an assertion; None: nobody can read it."""

FAILED = [
    each for each in RECORDINGS.values() if each.kind == "test" and each.outcome is Outcome.FAILED
]


def read(each: Recording) -> Reading:
    """What the output says."""
    return read_check(each.kind, each.argv, each.status, each.output, rows=rows(()))


@each_row("name", ASSERTED)
def test_a_recording_tells_what_failed_by_its_assertion(name: str) -> None:
    """Of each runner that tells it, and of those that do not tell it None."""
    assert read(RECORDINGS[name]).asserted == ASSERTED[name]


@each_row("each", FAILED, ids=lambda each: each.name)
def test_nothing_that_is_broken_is_red(each: Recording) -> None:
    """A syntax error, a missing import, a failed set-up: what failed so failed by no assertion."""
    expected = ASSERTED.get(each.name)
    assert (read(each).asserted or ()) == (expected or ())


HEAD = "=================================== FAILURES ===================================\n"
LONG = (
    "____________________________ TestSum.test_two[a b] ____________________________\n\n"
    "self = <x>\n\n>       assert 1 + 2 == 4\nE       assert (1 + 2) == 4\n\n"
    "tests/test_sum.py:6: AssertionError\n"
)
KEY = "___ test_key ___\n\n>   table['a']\nE   KeyError: 'a'\n\ntests/test_sum.py:9: KeyError\n"
HIDDEN = (
    "___ test_key ___\n\nE   AssertionError: no\n\ntests/test_sum.py:8: AssertionError\n\n"
    "During handling of the above exception, another exception occurred:\n\n"
    "E   KeyError: 'a'\n\ntests/test_sum.py:9: KeyError\n"
)
PYTEST = [
    ("FAILED a.py::t - assert 1 == 2\n1 failed in 1s\n", ("a.py::t",)),
    ("FAILED a.py::t[x - y] - AssertionError: no\n1 failed in 1s\n", ("a.py::t[x - y]",)),
    ("FAILED a.py::t[x - assert y] - KeyError: 1\n1 failed in 1s\n", ()),
    ("FAILED a.py::t - Failed: DID NOT RAISE <class 'E'>\n1 failed in 1s\n", ("a.py::t",)),
    ("FAILED a.py::t - Failed: Timeout (>1.0s) from pytest-timeout.\n1 failed in 1s\n", ()),
    ("FAILED a.py::t - NameError: name 'assert_it' is not defined\n1 failed in 1s\n", ()),
    ("ERROR a.py::t - AssertionError: in a fixture\n1 error in 1s\n", ()),
    # In 80 columns the summary is cut, and the section of the test has it.
    (f"{HEAD}{LONG}FAILED tests/test_sum.py::TestSum::test_two[a b] - As...\n1 failed in 1s\n",
     ("tests/test_sum.py::TestSum::test_two[a b]",)),
    (f"{HEAD}{LONG}{KEY}FAILED t.py::TestSum::test_two[a b]\nFAILED t.py::test_key\n2 failed in 1s\n",
     ("t.py::TestSum::test_two[a b]",)),
    (f"{HEAD}{HIDDEN}FAILED t.py::test_key\n1 failed in 1s\n", ()),
    # Two tests of one name, of which one broke: nobody can tell which.
    (f"{HEAD}___ test_key ___\n\nE   assert 1\n\na.py:2: AssertionError\n{KEY}"
     "FAILED a.py::test_key\nFAILED b.py::test_key\n2 failed in 1s\n", ()),
]  # fmt: skip


@pytest.mark.parametrize(("output", "asserted"), PYTEST)
def test_pytest_says_why_each_test_failed(output: str, asserted: tuple[str, ...]) -> None:
    """In its summary, or where that is cut in the section of the test; by the names that it lists."""
    seen = read_check("test", ("pytest",), 1, output)
    told = [line.partition(" ")[2] for line in output.split("\n") if ".py::" in line]
    listed = tuple(each.rpartition(" - ")[0] or each for each in told)
    assert (seen.failures, seen.asserted) == (listed, asserted)


OTHERS = [
    ("go test ./...", "--- FAIL: TestA (0.00s)\npanic: boom [recovered]\nFAIL\tex/a\t0.01s\nFAIL\n", ()),
    ("go test ./...", "--- FAIL: TestA (0.00s)\n    a_test.go:6: log\npanic: boom\nFAIL\n", ()),
    ("cargo test", "test a ... FAILED\n---- a stdout ----\n\nthread 'a' panicked at src/lib.rs:1:2:\n"
     "called `Result::unwrap()` on an `Err` value: 1\n\nfailures:\n    a\n"
     "test result: FAILED. 0 passed; 1 failed\n", ()),
    ("cargo test", "test a ... FAILED\ntest b ... FAILED\n"
     "---- a stdout ----\n\nthread 'a' panicked at x:1:2:\n"
     "not yet implemented\n---- b stdout ----\n\nthread 'b' panicked at x:1:2:\nthe sum is wrong\n\n"
     "failures:\n    a\n    b\ntest result: FAILED. 0 passed; 2 failed\n", ("b",)),
    ("cargo test", "test two ... FAILED\ntest tests::two ... FAILED\n"
     "---- two stdout ----\n\nthread 'two' panicked at x:1:2:\nassertion failed: x\n"
     "---- tests::two stdout ----\n\nthread 'tests::two' panicked at x:1:2:\n"
     "not yet implemented\n\nfailures:\n    two\n    tests::two\n"
     "test result: FAILED. 0 passed; 2 failed\n", ("two",)),
    ("make test", "==== 1 failed in 0.1s ====\n", ()),
    ("make test", "FAILED a.py::t - assert 1 == 2\nmake: *** [Makefile:2: test] Error 1\n",
     ("a.py::t",)),
    ("npx jest", "  ● sums › two\n\n    TypeError: sum is not a function\n\n"
     "Tests:       1 failed, 1 total\n", ()),
    ("npx jest", "  ● two\n\n    expect(received).toBe(expected)\n\n"
     "Tests:       1 failed, 1 total\n", ("two",)),
    ("npx vitest run", " FAIL  a.test.js > one\n FAIL  a.test.js > two\nAssertionError: expected 1\n"
     " Test Files  1 failed (1)\n      Tests  2 failed (2)\n", ("a.test.js > one", "a.test.js > two")),
    ("npx vitest run", " FAIL  a.test.js > one\nTypeError: x is not a function\n"
     " Test Files  1 failed (1)\n      Tests  1 failed (1)\n", ()),
    ("deno test", "two => ./a.ts:2:6\nerror: AssertionError: Values are not equal.\n"
     "FAILED | 0 passed | 1 failed\n",
     ("two",)),
    ("gradle test", "AppTest > red() FAILED\n    org.opentest4j.AssertionFailedError at AppTest.java:7\n"
     "AppTest > npe() FAILED\n    java.lang.NullPointerException at AppTest.java:9\n"
     "2 tests completed, 2 failed\n",
     ("AppTest > red()",)),
    ("dotnet test", "  Failed N.T.Red [5 ms]\n  Error Message:\n   Assert.Equal() Failure\n"
     "  Failed N.T.Npe [5 ms]\n  Error Message:\n   System.NullReferenceException : no\n"
     "Failed!  - Failed:     2, Passed:     0, Skipped:     0, Total:     2\n", ("N.T.Red",)),
]  # fmt: skip


@pytest.mark.parametrize(("line", "output", "asserted"), OTHERS)
def test_other_runners_say_why_each_test_failed(
    line: str, output: str, asserted: tuple[str, ...]
) -> None:
    """As far as their outputs go: a panic, a thrown error and a missing name are no assertions."""
    assert read_check("test", tuple(line.split()), 1, output).asserted == asserted


JUNIT = [
    ("", "assert (1 + 2) == 4", "", True),
    ("", "AssertionError: 3 != 4", "", True),
    ("", "NameError: name 'x' is not defined", "def test(): ...", False),
    ("", "ModuleNotFoundError: No module named 'calc'", "", False),
    ("", "Failed: Timeout (>1.0s) from pytest-timeout.", "", False),
    ("", "Failed: DID NOT RAISE <class 'ValueError'>", "", True),
    ("org.opentest4j.AssertionFailedError", "expected: <4> but was: <3>", "", True),
    ("org.junit.ComparisonFailure", "expected:<[4]> but was:<[3]>", "", True),
    ("java.lang.NullPointerException", "", "java.lang.NullPointerException\n\tat A", False),
    ("AssertionError", "expected 3 to be 4", "", True),
    ("TypeError", "x is not a function", "", False),
    ("", "", "Error: expect(received).toBe(expected)\n\nExpected: 4", True),
    ("", "", "TypeError: sum is not a function\n    at x", False),
    ("testCodeFailure", "3 == 4", "Error [ERR_TEST_FAILURE]: 3 == 4 {\n"
     "  cause: AssertionError [ERR_ASSERTION]: 3 == 4\n", True),
    ("testCodeFailure", "no", "Error [ERR_TEST_FAILURE]: no {\n  cause: Error: no\n      at x", False),
    ("", "Failed", "=== RUN   TestTwo\n    a_test.go:6: no\n--- FAIL: TestTwo (0.00s)\n", True),
    ("", "Failed", "=== RUN   TestTwo\npanic: boom [recovered]\n", False),
    ("test failure", "thread 'two' panicked at src/lib.rs:6:9", "called `Result::unwrap()` on",
     False),
    ("test failure", "thread 'two' panicked at src/lib.rs:6:9", "assertion `left == right` failed", True),
    ("RSpec::Expectations::ExpectationNotMetError", "expected: 4", "Failure/Error: x", True),
    ("NameError", "undefined local variable", "Failure/Error: x", False),
    ("PHPUnit\\Framework\\ExpectationFailedException", "", "SumTest::testTwo\nFailed asserting that", True),
    ("failure", "System.NullReferenceException : Object reference", "", False),
    ("failure", "Assert.Equal() Failure", "", True),
]  # fmt: skip
"""(the attribute `type`, `message`, the text, whether it is an assertion's)."""


@each_row(("kind", "message", "text", "expected"), JUNIT)
def test_a_report_says_why_each_test_failed(
    kind: str, message: str, text: str, expected: bool
) -> None:
    """`<failure>` is an assertion's, unless it says itself that something else was raised."""
    assert junit.is_asserted(kind, message, text) == expected


@pytest.mark.parametrize("name", ["pytest-fails", "vitest-fails", "maven-fails"])
def test_a_recorded_report_tells_assertions_errors_and_what_passed(name: str) -> None:
    """`<failure>` against `<error>`, and the identities of the tests that passed."""
    report = RECORDINGS[name].junit
    assert report is not None
    parsed, why = junit._parsed(report.encode())
    assert parsed is not None, why
    expected = {
        "pytest-fails": (["test_sum::test_two"], ["test_sum::test_two"], ["test_sum::test_one"]),
        "vitest-fails": (
            ["sum.test.js::sums > two"],
            ["sum.test.js::sums > two"],
            ["sum.test.js::sums > one"],
        ),
        "maven-fails": (["SumTest::two", "SumTest::three"], ["SumTest::two"], ["SumTest::one"]),
    }
    assert (parsed.failures, parsed.asserted, parsed.passed) == expected[name]


def test_failures_and_assertions_are_of_one_source() -> None:
    """Of the report where it names tests; else of the output. Names of both are never mixed."""
    said = Reading(Outcome.FAILED, Counts(0, 1), ("a.py::t",), "", ("a.py::t",))
    named = Reading(Outcome.FAILED, Counts(0, 1), ("a::t",), "", (), ("a::u",))
    both = with_reports(said, named, 1)
    assert (both.failures, both.asserted, both.passed) == (("a::t",), (), ("a::u",))
    unnamed = with_reports(said, Reading(Outcome.FAILED, Counts(0, 1), (), "", ()), 1)
    assert (unnamed.failures, unnamed.asserted) == (("a.py::t",), ("a.py::t",))


BY_CTEST = (
    "50% tests passed, 1 tests failed out of 2\n\n"
    "The following tests FAILED:\n\t  2 - two (Failed)\n"
)


@pytest.mark.parametrize(
    ("line", "asserted"),
    [
        ("pytest", ()),
        ("pytest && cargo test", ()),
        ("make test", None),
        ("make test && pytest", None),
        ("pytest && make test", None),
        ("ctest", None),
    ],
)
def test_a_runner_that_told_of_no_test_speaks_for_a_line_that_only_such_runners_are_in(
    line: str, asserted: tuple[str, ...] | None
) -> None:
    """It tells failures by their assertion, and told none; behind a wrapper anybody may have printed it."""
    run = run_in(line)
    assert run is not None
    found = read_run(run, CallEnd.FAILED, f"Exit code 2\n{BY_CTEST}")
    assert (found.outcome, found.failures) == (Outcome.FAILED, ("two",))
    assert found.asserted == asserted
