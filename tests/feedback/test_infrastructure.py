"""Failures of what a job ran on: known by the table, and by nothing that tests may print."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lifecycle.core.values.failed_checks import CheckRemark, JobStep
from lifecycle.feedback.checks.excerpt import excerpt
from lifecycle.feedback.checks.log_lines import failing_tests
from lifecycle.feedback.checks.packet import CheckFailure
from lifecycle.feedback.failures.failure_words import shown
from lifecycle.settings import resources

LOGS = Path(__file__).parent / "logs"
FAILED = CheckFailure("test", "FAILURE", run=7, job=8)

INFRASTRUCTURE = {
    "disk_full": "no room on the disk",
    "disk_full_python": "no room on the disk",
}
"""Of the logs of real tools those that tell of what the job ran on."""


def of_log(name: str) -> CheckFailure:
    """A failure with the log of a real tool."""
    lines = (LOGS / f"{name}.log").read_text("utf-8").split("\n")
    made = excerpt(lines)
    return replace(
        FAILED,
        first_error=made.first_error,
        excerpt=made.excerpt,
        tests=failing_tests(lines),
    )


def test_every_row_knows_its_own_lines() -> None:
    """Each line that a row is for is found by it, as an error of a log."""
    rows = resources.table("feedback/failures/infrastructure.toml")["phrase"]
    assert len(rows) > 5
    for row in rows:
        assert set(row) - {"always"} == {"of", "pattern", "lines"}, row
        assert row["lines"], row["of"]
        for line in row["lines"]:
            assert replace(FAILED, first_error=line).broken == row["of"], line


def test_of_real_logs_only_those_are_infrastructure_that_tell_of_it() -> None:
    """A word like `timeout` or `killed` in a test's own output is none."""
    names = sorted(path.stem for path in LOGS.glob("*.log"))
    assert len(names) >= 60
    found = {name: why for name in names if (why := of_log(name).broken)}
    assert found == INFRASTRUCTURE


def test_a_phrase_counts_where_an_error_is_told() -> None:
    """In the first error, in another of the excerpt, in what Actions itself remarks; in no other line."""
    assert replace(FAILED, excerpt=("npm error code ECONNRESET",)).broken == "the network"
    assert replace(FAILED, excerpt=("##[error]ran out: ECONNRESET",)).broken == "the network"
    killed = "##[error]Process completed with exit code 137."  # it tells no error itself
    assert replace(FAILED, excerpt=("make", killed)).broken == "a process was killed"
    assert replace(FAILED, excerpt=("it handles ECONNRESET",)).broken == ""
    said = CheckRemark("", 0, "FAILURE", "lost communication with the server")
    for path, why in (
        ("", "the runner was lost"),
        (".github", "the runner was lost"),
        ("a.py", ""),
    ):
        assert replace(FAILED, remarks=(replace(said, path=path),)).broken == why


def test_tests_that_failed_may_print_such_a_phrase_themselves() -> None:
    """Then only what ends any job counts: its runner, its memory, its disk."""
    tested = replace(FAILED, tests=("test_it",))
    assert replace(tested, first_error="curl: (56) Connection reset by peer").broken == ""
    assert replace(tested, first_error="x: No space left on device").broken != ""
    assert replace(tested, word="TIMED_OUT").broken == ""


@pytest.mark.parametrize(
    ("word", "why"), [("TIMED_OUT", "timed out"), ("STARTUP_FAILURE", "startup failure")]
)
def test_some_words_of_githubs_say_enough(word: str, why: str) -> None:
    """Of a job of Actions: no other can be run again, and a broken workflow file neither."""
    assert replace(FAILED, word=word).broken == why
    assert replace(FAILED, word=word, job=None).broken == ""
    assert replace(FAILED, word="CANCELLED").broken == ""
    lost = replace(FAILED, job=None, first_error="lost communication with the server")
    assert lost.broken == ""


def test_a_failure_is_known_by_its_tests() -> None:
    """As the runner names them, whatever the check is called; the way in which they fail is its trace."""
    found = of_log("pytest_verbose")
    assert found.identities == (
        "test tests/test_shop.py::TestDiscount::test_rate[110]",
        "test tests/test_shop.py::test_total",
    )
    assert [shown(one) for one in found.identities] == [*found.tests]
    assert found.trace == (*found.identities, found.first_error)


def test_without_tests_it_is_known_by_its_first_error() -> None:
    """Without its numbers, which move with the lines; how long it took is no part of its trace."""
    error = "src/a.ts(2,48): error TS2322: Type 'x' in 12.5s"
    one = replace(FAILED, first_error=error)
    assert one.identities == ("error src/a.ts(N,N): error TS2322: Type 'x' in",)
    assert shown(one.identities[0]).startswith("src/a.ts(")
    moved = replace(FAILED, first_error=error.replace("2,48", "9,4").replace("12.5s", "3.1s"))
    assert moved.identities == one.identities
    assert moved.trace != one.trace
    again = replace(FAILED, first_error=error.replace("12.5s", "3.1s"))
    assert again.trace == one.trace


def test_without_a_log_it_is_known_by_nothing() -> None:
    """But a workflow that cannot start, whose file is the same failure as before."""
    assert FAILED.identities == ()
    assert replace(FAILED, word="STARTUP_FAILURE").identities == ()
    unread = replace(FAILED, word="STARTUP_FAILURE", job=None, workflow="CI")
    assert unread.identities == ("start of CI",)
    assert replace(unread, workflow="").identities == ("start of test",)
    assert replace(unread, word="FAILURE").identities == ()


def test_the_tests_of_the_last_command_count() -> None:
    """Of an earlier step nothing is taken, nor of another time; a secret in a name is not kept."""
    moment = "2026-01-31T10:00:0{}.0000000Z "
    log = [
        moment.format(1) + "##[group]Run pytest a",
        moment.format(1) + "##[endgroup]",
        moment.format(2) + "FAILED a.py::test_a - no",
        moment.format(2) + "===== 1 failed in 0.1s =====",
        moment.format(3) + "##[group]Run pytest b",
        moment.format(4) + "##[endgroup]",
        moment.format(5) + "FAILED b.py::test_b[ghp_0123456789abcdefghijABCDEFGHIJ012345] - no",
        moment.format(5) + "FAILED b.py::test_a - no",
        moment.format(6) + "===== 2 failed in 0.1s =====",
    ]
    assert failing_tests(log) == ("b.py::test_a", "b.py::test_b[***]")
    assert failing_tests(["nothing"]) == ()
    began = datetime(2026, 1, 31, 10, 0, tzinfo=UTC).timestamp()
    first = JobStep(
        1, "Test", began=began, ended=began + 0.5
    )  # its last lines may come two seconds late
    assert failing_tests(log, first) == ("a.py::test_a",)
    assert failing_tests(log, JobStep(1, "Test", began=0.0, ended=1.0)) == failing_tests(log)
