"""What a run's output and its end show: one of the outcomes, the counts, which tests failed.

The runner's own summary counts, read by its row of the table; the counts of its parts are added up. A
status of 0 counts if it is the run's own, and no summary contradicts it.

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
_YARN = r"^(?:(?:➤ YN\d{4}: (?:[│┌└] )?)?\[[@\w./-]+\]: |➤ YN\d{4}: )"
_LABEL = re.compile(rf"^[@\w./-]+[ :#]test(?:[:-][\w-]+)?: ?|{_YARN}", re.MULTILINE)
"""The prefix of a tool for many packages: `packages/a test: `, `a:test: `, `[a]: `, `➤ YN0000: [a]: `."""

_MAKE_FIVE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 5$", re.MULTILINE)
"""make's line for pytest's status if there was no test."""

_STATUS = re.compile(r"\AExit code (\d+)\b")
"""The beginning of the client's output of a failed command."""

STOPPED = (124, 130, 137, 143)
"""Statuses of a process that reached a limit of `timeout`, or was ended by a signal."""

ENDED = "it was stopped before its end"
_LEFT_OUT = "tests were left out"
_BY_STATUS = "by its exit status alone: its output has no count that is known"
_MOST = 200
"""Identities of failed tests that are kept."""


class Tally:
    """What the rows of the table read in an output.

    Attributes:
        counts: the counts; None if no summary counts tests.
        has_passed, has_failed, is_stopped, is_partial, is_empty: the output says that tests ran and passed;
            that something failed; that the run was ended early; that a part was picked, or tests were left
            out; that there was nothing to run.
        is_read: a summary was found.
        has_crashed: it has words that any program may print if it ends early.
        has_gap: one of the runners with a summary says that none of its tests ran and passed.
        is_one_line: every summary that was read also says how many tests failed.
        failures: the tests that failed.
        asserted: the tests that failed by their assertion; None if no row that reads the output knows.
    """

    def __init__(self, rows: Rows, output: str, run: SuiteRun) -> None:
        text = plain(output)
        rows = rows if text.strip() else ()  # an empty output says nothing, whatever the row
        sums: Counter[str] = Counter()
        counted_lines, read = set[str](), dict[RunnerRow, Counter[str]]()
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
        is_counted = not sums.keys() <= {"parts", "left"}
        counts = Counts(sums["passed"], sums["failed"], sums["skipped"], sums["errors"])
        self.counts = counts if is_counted else None
        self.has_passed = counts.passed > 0 if is_counted else sums["parts"] > 0
        # If the status is known, words of a runner without a summary here come from another program.
        speaking = dict.fromkeys([*read, *run.rows]) if run.decides else rows
        failing = counts.failed + counts.errors > 0
        bare = re.sub(runner_table.pattern("good_line"), "", text, flags=re.MULTILINE)
        self.is_read = is_counted or sums["parts"] > 0
        is_told = any(row.says(row.failed, text) for row in speaking)
        is_meant = not self.is_read and runner_table.general("failed", bare)
        self.has_failed = failing or is_told or is_meant
        self.is_stopped = any(row.says(row.stopped, text) for row in speaking)
        self.is_partial = sums["left"] > 0 or any(row.says(row.partial, text) for row in speaking)
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


def plain(output: str) -> str:
    """The end of an output, without colours, other systems' line ends and packages' labels."""
    text = _CONTROL.sub("", output[-WHOLE:]).replace("\r\n", "\n").replace("\r", "\n")
    return _LABEL.sub("", text)


def _taken(row: RunnerRow, text: str, counted_lines: set[str]) -> Counter[str] | None:
    """The counts of a row, None if there are none; a line that another row counted counts once."""
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
            sums.update(counted)  # a zero is kept: it was read
    counted_lines |= lines
    if "total" in sums:
        others = sum(sums[name] for name in ("failed", "errors", "skipped", "passed"))
        sums["passed"] += max(0, sums["total"] - others)
    return sums if lines else None


def _line_of(match: re.Match[str]) -> str:
    text, begin = match.string, match.string.rfind("\n", 0, match.start()) + 1
    return text[begin : begin + runner_table.LINE].partition("\n")[0]


def _counted(match: re.Match[str], inner: str) -> Counter[str]:
    """The counts in a line, by the groups of its pattern, or of the inner pattern within it."""
    counted: Counter[str] = Counter()
    for part in re.finditer(inner, match[0]) if inner else (match,):
        for name, value in part.groupdict().items():
            if value is not None:
                counted[name.rstrip("0123456789")] += int(value) if value.isdigit() else 1
    return counted


def _failures(rows: Rows, text: str, readers: Rows) -> tuple[Words, Words | None]:
    """The failed tests, and those that failed by their assertion; None if that is unknown.

    In the part that gives reasons, a runner may name a test differently: by its title, or by the end of its
    identity. It counts as that test if there are as many such names as failures of that name.
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
    ids: dict[str, None] = {}
    for name, number in asserted.items():
        alike = [identity for identity in failures if _is_called(identity, by_id[identity], name)]
        alike = [name] if name in by_id else alike
        if number >= len(alike):
            ids |= dict.fromkeys(alike or [name])
    identities = tuple(dict.fromkeys((*failures, *ids)))[:_MOST]
    return identities, tuple(name for name in identities if name in ids)


def _names(row: RunnerRow, patterns: tuple[str, ...], text: str) -> list[tuple[str, str | None]]:
    """The tests that patterns find, with their titles if the patterns have them."""
    matches = (match for form in patterns for match in islice(row.found(form, text), _MOST))
    return [(" ".join(match["name"].split()), match.groupdict().get("title")) for match in matches]


def _is_called(identity: str, title: str | None, name: str) -> bool:
    return name == title or identity.replace("::", ".").endswith(f".{name}")


def _tally(run: SuiteRun, output: str) -> Tally:
    """The reading with a run's own row; with all rows if it wraps others, or its row reads nothing."""
    if not run.rows or run.wraps:
        return Tally(run.table, output, run)
    tally = Tally(run.rows, output, run)
    if tally.is_read or tally.has_gap or not run.decides:
        return tally
    by_all = Tally(run.table, output, run)
    return by_all if by_all.is_read else tally


def _settled(
    run: SuiteRun, tally: Tally, status: int | None, *, is_ok: bool, trusts: bool
) -> tuple[Outcome, str]:
    """The outcome by the output, the command line and how it ended, and why.

    Args:
        run: the run; if it is the project's own, tests that it leaves out are no part of the suite.
        tally: what the output says.
        status: the run's own exit status; None if unknown.
        is_ok: the command line succeeded.
        trusts: a status of 0 is enough if the output says nothing.
    """
    is_broken = not is_ok if run.decides else tally.has_crashed
    is_stopped = tally.is_stopped or (status in STOPPED and not tally.has_failed)
    is_empty = is_broken and any(status in row.empty_status for row in run.rows)
    is_empty |= tally.is_empty and not tally.has_passed
    is_silent = not (tally.has_passed or (run.decides and trusts))
    rules = (  # the first one that holds counts
        (run.is_nothing, Outcome.NOTHING_RAN, "it only lists or builds tests"),
        (is_stopped, Outcome.PARTIAL, ENDED),
        (tally.has_failed, Outcome.FAILED, ""),
        (is_empty, Outcome.NOTHING_RAN, "it ran no test"),
        (is_broken and not tally.has_passed, Outcome.FAILED, ""),
        (is_broken, Outcome.FAILED, "no test failed, but it ended with an error"),
        (is_silent, Outcome.UNKNOWN, "its output has no summary that is known"),
        (tally.is_partial and tally.has_passed and not run.is_own, Outcome.PARTIAL, _LEFT_OUT),
        (not run.is_suite, Outcome.PARTIAL, "it picks single tests"),
        (tally.has_gap and not run.is_single, Outcome.PARTIAL, "one of its runs ran no test"),
        (tally.has_passed, Outcome.PASSED, ""),
        (True, Outcome.PASSED, _BY_STATUS),
    )
    return next((outcome, why) for holds, outcome, why in rules if holds)


def read_run(run: SuiteRun, end: CallEnd, output: str) -> Reading:
    """The reading of a run by the agent, from how its line ended and the end of its output.

    The exit status counts if it is the run's own. If it is another command's (`pytest | tail`), the output
    counts, as far as the run printed it. Failures that are counted in the output are failures whatever the
    status was. A run that shows nothing is unknown; the output of `make test` or `npm test` must say that
    tests passed, unless that is the project's own command.
    """
    if end is CallEnd.UNKNOWN:
        return Reading(Outcome.UNKNOWN)
    # The client's first line is not the run's: it is a number before a line that begins with "error".
    tally = _tally(run, _STATUS.sub("", output))
    ok = end is CallEnd.OK
    first = _STATUS.match(output) if run.decides else None
    status = int(first[1]) if first else None
    trusts = run.is_own or all(row.proves for row in run.rows)
    outcome, why = _settled(run, tally, status, is_ok=ok, trusts=trusts)
    if not run.decides and outcome not in (Outcome.FAILED, Outcome.NOTHING_RAN):
        is_told = run.is_shown and run.is_single and (tally.is_one_line or not run.is_sifted)
        # yarn ends its workspaces with "Done", also if a package failed before it counted any test; what
        # pnpm starts in each prints nothing around it.
        is_labelled = re.search(_YARN, _CONTROL.sub("", output), re.MULTILINE) is not None
        is_each = re.search("foreach|recursive exec", run.name) is not None
        is_told = is_told and not is_each and not (run.wraps and is_labelled)
        if not (ok and is_told):
            outcome, why = Outcome.UNKNOWN, "its exit status is hidden"
    if outcome is Outcome.PASSED and not run.is_plain:
        outcome, why = Outcome.UNKNOWN, "a part of its command line is not known"
    return Reading(outcome, tally.counts, tally.failures, why, tally.asserted)


def proof(run: SuiteRun, end: CallEnd, output: str, *, is_cut: bool = False) -> Reading:
    """What the run proves about the files after the command line; stricter than `read_run`.

    PASSED needs more here: nothing after the run may have changed a file, and if its exit status is not
    the line's own, all of its output must be known, with no other command's output in it.

    Args:
        run: the run.
        end: how the command line ended.
        output: the output.
        is_cut: the beginning or the end of the output is missing.
    """
    reading = read_run(run, end, output)
    is_known = run.decides or (run.is_whole and not is_cut)
    if reading.outcome is Outcome.PASSED and not (run.is_end and is_known):
        why = "something behind it may have changed files" if is_known else "not all of it was seen"
        return replace(reading, outcome=Outcome.UNKNOWN, why=why)
    return reading


def read_check(
    argv: Words, status: int, text: str, rows: Rows, *, is_cut: bool = False, configured: Words = ()
) -> Reading:
    """The reading of a test command that the engine ran itself.

    Args:
        argv: the command.
        status: its exit status.
        text: what it printed, both streams; its end is enough.
        rows: the table of runners, with the project's own.
        is_cut: the beginning of `text` is missing.
        configured: the command as the project configured it: tests that it leaves out are left out of the
            suite by definition, and only words that `argv` adds make the run a part.
    """
    run = run_of(shlex.join(argv), (shlex.join(configured),) if configured else (), rows)
    tally = _tally(run, text)
    trusts = all(row.proves or row.wraps for row in run.rows)
    outcome, why = _settled(run, tally, status, is_ok=status == 0, trusts=trusts)
    if outcome is Outcome.PASSED and is_cut and not run.decides:
        outcome, why = Outcome.UNKNOWN, "its status is hidden, and not all of its output is there"
    return Reading(outcome, tally.counts, tally.failures, why, tally.asserted)
