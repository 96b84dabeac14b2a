"""What a run's output and its end say: one of the five outcomes, what was counted, which tests failed.

What counts is the summary of the runner's own, by its row of the table; its parts add up. A status of 0
counts where it is the run's own, and where no summary contradicts it.

Sources: the page that each row of `runners.json` names.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from itertools import islice

from lifecycle.core.light_dataclass import replace
from lifecycle.evidence.command_lines import Words
from lifecycle.evidence.outcomes import WHOLE, CallEnd, Counts, Outcome, Reading
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import Rows, RunnerRow
from lifecycle.evidence.suite_runs import SuiteRun, run_of

_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_LABEL = re.compile(r"^[@\w./-]+[ :#]test(?:[:-][\w-]+)?: ?", re.MULTILINE)
"""What a tool that runs many packages puts before their lines: `packages/a test: `, `a:test: `."""

_MAKE_FIVE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 5$", re.MULTILINE)
"""How make passes on that pytest found no test."""

_STATUS = re.compile(r"\AExit code (\d+)\b")
"""How the client begins the output of a command that failed."""

STOPPED = (124, 130, 137, 143)
"""Statuses of what ran into a limit of `timeout`, or was ended by a signal."""

ENDED = "it was stopped before its end"
_MOST = 200
"""Identities of failed tests that are kept."""


class Tally:
    """What the rows of the table read in an output.

    Attributes:
        counts: what was counted; None if no summary counts tests.
        parts: parts that say that their tests passed, without a number.
        left: tests that a filter left out.
        has_failed, is_stopped, is_partial, is_empty: it says that something failed; that the run did not
            come to its end; that a part was picked; that there was nothing to run.
        is_read: a summary was there.
        has_crashed: it says what any program says that did not come to its end.
        has_gap: one of the runners that speak says that none of its tests ran and passed.
        is_one_line: all that was read says of itself how many failed.
        failures: the tests that failed.
        asserted: those that failed by their assertion; None if no row that reads it tells that.
    """

    def __init__(self, rows: Rows, output: str, run: SuiteRun) -> None:
        text = plain(output)
        rows = rows if text.strip() else ()  # nothing was said, whatever the row
        sums: Counter[str] = Counter()
        counted_lines: set[str] = set()
        read: dict[RunnerRow, Counter[str]] = {}
        for row in rows:
            row_sums = _taken(row, text, counted_lines)
            if row_sums is not None:
                read[row] = row_sums
                sums.update(row_sums)  # a zero is kept: it was read
        own = rows if run.wraps else run.rows
        silent = (row for row in own if row not in read and not row.wraps)
        is_empty_part = any(part["passed"] + part["parts"] == 0 for part in read.values())
        self.has_gap = is_empty_part or any(row.says(row.nothing, text) for row in silent)
        self.is_one_line = all(row.one_line for row in read)
        self.parts, self.left = sums["parts"], sums["left"]
        is_counted = not sums.keys() <= {"parts", "left"}
        counts = Counts(sums["passed"], sums["failed"], sums["skipped"], sums["errors"])
        self.counts = counts if is_counted else None
        # Where the status is known, words of a runner without a summary here are another program's.
        speaking = dict.fromkeys([*read, *run.rows]) if run.decides else rows
        failing = self.counts is not None and self.counts.failed + self.counts.errors > 0
        bare = re.sub(runner_table.pattern("good_line"), "", text, flags=re.MULTILINE)
        self.is_read = self.counts is not None or self.parts > 0
        is_told = any(row.says(row.failed, text) for row in speaking)
        is_meant = not self.is_read and runner_table.general("failed", bare)
        self.has_failed = failing or is_told or is_meant
        self.is_stopped = any(row.says(row.stopped, text) for row in speaking)
        self.is_partial = any(row.says(row.partial, text) for row in speaking)
        self.has_crashed = runner_table.general("crashed", _MAKE_FIVE.sub("", bare))
        says = runner_table.general
        is_none = is_counted or (says("nothing", bare) and not says("broken", bare))
        is_none = is_none and not self.has_crashed
        self.is_empty = is_none or any(row.says(row.nothing, text) for row in rows)
        self.failures: tuple[str, ...] = ()
        self.asserted: tuple[str, ...] | None = None
        if self.has_failed:
            own = () if run.wraps else run.rows
            self.failures, self.asserted = _failures(rows, text, (*read, *own))

    @property
    def has_passed(self) -> bool:
        """True if it says that tests ran and passed."""
        return self.parts > 0 if self.counts is None else self.counts.passed > 0


def plain(output: str) -> str:
    """The end of what was printed, without colours, line ends of other systems and packages' labels."""
    text = output[-WHOLE:]
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LABEL.sub("", text)


def _taken(row: RunnerRow, text: str, counted_lines: set[str]) -> Counter[str] | None:
    """What a row counts, None if it counts nothing; a line that another row counted counts once."""
    lines: set[str] = set()
    sums: Counter[str] = Counter()
    for summary in row.summary:
        pattern, counted_form = (summary, "") if isinstance(summary, str) else summary
        of_pattern: list[Counter[str]] = []
        for match in row.found(pattern, text):
            line, counted = _line_of(match), _counted(match, counted_form)
            if counted and line not in counted_lines:
                lines.add(line)
                of_pattern.append(counted)
        for counted in of_pattern[-1:] if row.adds == "last" else of_pattern:
            for name, number in counted.items():  # a zero is kept: it was read
                sums[name] += number
    counted_lines |= lines
    if "total" in sums:
        others = sum(sums[name] for name in ("failed", "errors", "skipped", "passed"))
        sums["passed"] += max(0, sums["total"] - others)
    return sums if lines else None


def _line_of(match: re.Match[str]) -> str:
    text, begin = match.string, match.string.rfind("\n", 0, match.start()) + 1
    return text[begin : begin + runner_table.LINE].partition("\n")[0]


def _counted(match: re.Match[str], inner: str) -> Counter[str]:
    """What a line counts, by the groups of its pattern, or of the one that is tried on what it found."""
    counted: Counter[str] = Counter()
    for part in re.finditer(inner, match[0]) if inner else (match,):
        for name, value in part.groupdict().items():
            if value is not None:
                counted[name.rstrip("0123456789")] += int(value) if value.isdigit() else 1
    return counted


def _failures(
    rows: Rows, text: str, readers: Rows
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The tests that failed, and those of them that failed by their assertion; None if nobody tells that.

    Where a runner tells why, it may name a test in another way: by its title, or by the end of its
    identity. It is that test if as many are named so as there are failures of that name.
    """
    by_id: dict[str, str | None] = {}
    asserted: Counter[str] = Counter()
    tells = False
    for row in rows:
        names = _names(row, row.failures, text)
        by_id |= dict(names)
        if row.asserted and (names or row in readers):
            tells = True
            asserted |= Counter(name for name, _ in _names(row, row.asserted, text))
    failures = tuple(by_id)[:_MOST]
    if not tells:
        return failures, None
    asserted_ids: set[str] = set()
    for name in asserted:
        alike = {identity for identity in failures if _is_called(identity, by_id[identity], name)}
        if name in by_id or not alike:
            asserted_ids.add(name)
        elif asserted[name] >= len(alike):
            asserted_ids |= alike
    identities = tuple(dict.fromkeys((*failures, *asserted)))
    identities = tuple(name for name in identities if name in by_id or name in asserted_ids)
    return identities[:_MOST], tuple(name for name in identities if name in asserted_ids)[:_MOST]


def _names(row: RunnerRow, patterns: tuple[str, ...], text: str) -> list[tuple[str, str | None]]:
    """The tests that patterns find, with their titles where they tell them."""
    return [
        (" ".join(match["name"].split()), match.groupdict().get("title"))
        for pattern in patterns
        for match in islice(row.found(pattern, text), _MOST)
    ]


def _is_called(identity: str, title: str | None, name: str) -> bool:
    return name == title or identity.replace("::", ".").endswith(f".{name}")


def _tally(run: SuiteRun, output: str) -> Tally:
    """What is read by a run's own row; by all where it prints what others do, or its row reads nothing."""
    if not run.rows or run.wraps:
        return Tally(run.table, output, run)
    tally = Tally(run.rows, output, run)
    if tally.is_read or not run.decides:
        return tally
    by_all = Tally(run.table, output, run)
    return by_all if by_all.is_read else tally


def _judged(
    tally: Tally, succeeded: bool | None, *, trusts: bool, own_picks: bool
) -> tuple[Outcome, str]:
    """The outcome, and why.

    Args:
        tally: what the output says.
        succeeded: what the run's own exit status says; None if it is hidden.
        trusts: a status of 0 is enough where the output says nothing.
        own_picks: that tests are left out is the project's own word for the suite.
    """
    if tally.is_stopped:
        return Outcome.PARTIAL, ENDED
    if tally.has_failed:
        return Outcome.FAILED, ""
    if tally.has_passed:
        if succeeded is False or (succeeded is None and tally.has_crashed):
            return Outcome.FAILED, "no test failed, but it ended with an error"
        if (tally.left or tally.is_partial) and not own_picks:
            return Outcome.PARTIAL, "tests were left out"
        return Outcome.PASSED, ""
    if tally.is_empty:
        return Outcome.NOTHING_RAN, "it ran no test"
    if succeeded is False or (succeeded is None and tally.has_crashed):
        return Outcome.FAILED, ""
    if succeeded and trusts:
        return Outcome.PASSED, "by its exit status alone: its output has no count that is known"
    return Outcome.UNKNOWN, "its output has no summary that is known"


def _settled(
    run: SuiteRun, tally: Tally, status: int | None, *, is_ok: bool, trusts: bool
) -> tuple[Outcome, str]:
    """The outcome by the output, the command line and how it ended, and why.

    Args:
        run: the run.
        tally: what the output says.
        status: the run's own exit status; None if it is not known.
        is_ok: the command line succeeded.
        trusts: as for `_judged`.
    """
    if status in STOPPED and not tally.has_failed:
        return Outcome.PARTIAL, ENDED
    succeeded = is_ok if run.decides else None
    outcome, why = _judged(tally, succeeded, trusts=trusts, own_picks=run.is_own)
    is_empty = any(status in row.empty_status for row in run.rows)
    if outcome is Outcome.FAILED and not tally.has_failed and is_empty:
        return Outcome.NOTHING_RAN, "it ran no test"
    if run.is_nothing:
        return Outcome.NOTHING_RAN, "it only lists or builds tests"
    if outcome is Outcome.PASSED and not run.is_suite:
        return Outcome.PARTIAL, "it picks single tests"
    if outcome is Outcome.PASSED and tally.has_gap and not run.is_single:
        return Outcome.PARTIAL, "one of its runs ran no test"
    return outcome, why


def read_run(run: SuiteRun, end: CallEnd, output: str) -> Reading:
    """The reading of a run of the agent's, from how its line ended and the end of what it printed.

    The exit status counts where it is the run's own. Where it is another command's (`pytest | tail`),
    what the output says does, as far as the run printed it. Failures that are counted in the output are
    such whatever the status was. A run of which nothing can be seen is unknown; what `make test` or
    `npm test` runs has to say that tests passed, unless that is the project's own command.
    """
    if end is CallEnd.UNKNOWN:
        return Reading(Outcome.UNKNOWN)
    # The client's first line is not the run's: a number before a line that begins with "error".
    tally = _tally(run, _STATUS.sub("", output))
    ok = end is CallEnd.OK
    first = _STATUS.match(output) if run.decides else None
    status = int(first[1]) if first else None
    trusts = run.is_own or all(row.proves for row in run.rows)
    outcome, why = _settled(run, tally, status, is_ok=ok, trusts=trusts)
    if not run.decides and outcome not in (Outcome.FAILED, Outcome.NOTHING_RAN):
        is_told = run.is_shown and run.is_single and (tally.is_one_line or not run.is_sifted)
        if not (ok and is_told):
            outcome, why = Outcome.UNKNOWN, "its exit status is hidden"
    if outcome is Outcome.PASSED and not run.is_plain:
        outcome, why = Outcome.UNKNOWN, "a part of its command line is not known"
    return Reading(outcome, tally.counts, tally.failures, why, tally.asserted)


def proof(run: SuiteRun, end: CallEnd, output: str, *, is_cut: bool = False) -> Reading:
    """What the run proves of the files as they are after the command line; stricter than `read_run`.

    PASSED needs more here: nothing behind the run may have changed a file, and where its exit status is
    not the line's own, all that it printed has to be known, with nothing of another command in it.

    Args:
        run: the run.
        end: how the command line ended.
        output: what it printed.
        is_cut: the beginning or the end of what was printed is missing in `output`.
    """
    reading = read_run(run, end, output)
    is_known = run.decides or (run.is_whole and not is_cut)
    if reading.outcome is Outcome.PASSED and not (run.is_end and is_known):
        why = "something behind it may have changed files" if is_known else "not all of it was seen"
        return replace(reading, outcome=Outcome.UNKNOWN, why=why)
    return reading


def read_check(
    argv: Words,
    status: int,
    output: str,
    rows: Rows,
    *,
    is_cut: bool = False,
    configured: Words = (),
) -> Reading:
    """The reading of a command for the tests that the engine ran itself.

    Args:
        argv: the command.
        status: its exit status.
        output: what it printed, both streams; its end is enough.
        rows: the table of runners, with the project's own.
        is_cut: something is missing at the beginning of `output`.
        configured: the command as the project configured it: what it leaves out there is the suite's own
            definition, and only words that `argv` adds make the run a part.
    """
    own = (shlex.join(configured),) if configured else ()
    run = run_of(shlex.join(argv), own, rows)
    tally = _tally(run, output)
    trusts = all(row.proves or row.wraps for row in run.rows)
    outcome, why = _settled(run, tally, status, is_ok=status == 0, trusts=trusts)
    if outcome is Outcome.PASSED and is_cut and not run.decides:
        outcome, why = Outcome.UNKNOWN, "its status is hidden, and not all of its output is there"
    return Reading(outcome, tally.counts, tally.failures, why, tally.asserted)
