"""JUnit XML reports that a run wrote: the counts, and which tests failed.

The test runner writes the reports, and anybody may have written the tests: a report is read like a
stranger's file. The parser refuses entities and document types, reads no other file and no address, and
keeps none of the text except why a test failed, until its kind is known; size, depth and number of
elements are bounded. For an unreadable report there is one clause, and the reading is UNKNOWN.

There is no standard; this module reads what pytest, Maven's Surefire, Gradle, jest-junit, vitest, Go's
and cargo's runners and PHPUnit have in common. Sources:
https://github.com/testmoapp/junitxml and
https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report-3.0.2.xsd
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.evidence.command_lines import commands, listed
from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from lifecycle.evidence.runners.runner_table import pattern, valued
from lifecycle.storage import regular_files

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST = 32_000_000
"""Bytes of the largest report that is read; all reports together may have twice as many."""
FILES = 5_000
"""Reports that are read at most: a large build with Maven or Gradle has one for each class."""
ENTRIES, DEPTH = 100_000, 12
"""Names that are examined in the search for reports, and depth of folders below the worktree; `_IN` and
`_NOT_IN` leave out large folders."""
NESTED, ELEMENTS = 64, 2_000_000
"""Depth of elements (real reports have five levels), and elements in one report."""
FAILURES, PASSED = 1_000, 50_000
"""Identities of failed tests, and of passed tests, that are kept; all are counted."""
REASON, NAME = 4_000, 500
"""Characters of a test's reason for its failure that are examined; and of an identity."""
SLACK = 0.05
"""Seconds by which a file's date may be before the time at which it was written.

File systems take the time of the kernel's last tick. Source: https://docs.kernel.org/filesystems/multigrain-ts.html
"""

_IN = {"target": ("surefire-reports", "failsafe-reports", "nextest"), "build": ("test-results",)}
"""Of these folders, which are full of build results, only these subfolders are searched."""
_NOT_IN = frozenset({"node_modules", "vendor", "venv", "site-packages", "__pycache__", "Pods"})
_REPORT = re.compile(
    r".*/(?:junit|test-results/[^/]+|reports/junit[^/]*|(?:surefire|failsafe)-reports/TEST-[^/]*"
    r"|build/test-results/[^/]+/[^/]+)\.(?i:xml)"
)
"""Where runners put their reports by default. In `build` it is Gradle: one folder for each of its tasks."""


def read_reports(root: Path, argv: Sequence[str], started: float) -> Reading | None:
    """The reading of the reports that were written since a run began; None if there are none.

    If options name reports and the run wrote them, only these are read; else those at well-known places.
    The identity of a failed test is `classname::name`, or `name` if the report has no class.

    The outcome is by the reports alone (the exit status is the caller's): FAILED if a test failed or an
    error is counted, PASSED if one passed, NOTHING_RAN if all were skipped or there are none; UNKNOWN if no
    failure is known and a report cannot be read; `why` then has the first such problem.

    Args:
        root: the worktree's root folder; reports outside of it are not read.
        argv: the command.
        started: when the command was started, in seconds since the epoch.
    """
    top = Path(os.path.realpath(root))
    named = _written(top, _named(top, argv), started)
    paths = list(named) or list(_written(top, _well_known(top), started))
    reports, problems = list[_Report](), list[str]()
    contents, left = set[bytes](), 2 * LARGEST
    for path in paths[:FILES]:
        content = regular_files.whole(str(path), min(LARGEST, left))
        if content in contents:
            continue  # a copy of another report
        report, clause = None, "is too large, or cannot be read"
        if content is not None:
            left -= len(content)
            contents.add(content)
            report, clause = _parsed(content)
        if report is not None and report.is_junit:
            reports.append(report)
        elif named or clause:
            name = str(path.relative_to(top)).encode("ascii", "backslashreplace").decode()
            problems.append(f"its report {name} {clause or 'is no JUnit report'}")
    if not (reports or problems):
        return None
    problems += [f"more than {FILES} reports were written"] if len(paths) > FILES else []
    return _together(reports, next(iter(problems), ""))


def _together(reports: list[_Report], why: str) -> Reading:
    """The reading of all reports; `why` is the first problem with a report, "" if there is none."""
    counts = sum((report.counts for report in reports), Counts())
    outcome = Outcome.PASSED if counts.passed else Outcome.NOTHING_RAN
    if counts.failed or counts.errors:
        outcome = Outcome.FAILED
    elif why:
        outcome = Outcome.UNKNOWN
    failures = tuple(name for report in reports for name in report.failures)[:FAILURES]
    asserted = tuple(name for report in reports for name in report.asserted)[:FAILURES]
    passed = tuple(name for report in reports for name in report.passed)[:PASSED]
    return Reading(outcome, counts, failures, why, asserted, passed)


def _written(top: Path, paths: Iterable[Path], started: float) -> dict[Path, None]:
    """Those of the files that are below `top` and were written since the moment; each once."""
    since = (started - SLACK) * 1e9
    real = (Path(os.path.realpath(path.parent), path.name) for path in paths)
    below = (path for path in real if path.is_relative_to(top))
    return {path: None for path in below if regular_files.mtime_ns(str(path)) >= since}


def _named(top: Path, argv: Sequence[str]) -> Iterator[Path]:
    """The files that the command's options name, and those in the folders that they name."""
    words: tuple[str, ...] = ()
    for word in argv:  # inside one, as after `sh -c`, is a command line
        inner = commands(word) if " " in word else []
        words += (word, *(part for command in inner for part in command.raw))
    words = tuple(word for word in words if "\0" not in word)
    for _, file in valued(words, listed("report files")):
        yield top / file
    for _, folder in valued(words, listed("report folders")):
        # `os.walk` skips folders that cannot be listed, whatever the word is.
        _, _, names = next(os.walk(top / folder), ("", [], []))
        yield from (top / folder / name for name in sorted(names) if name[-4:].lower() == ".xml")


def _well_known(top: Path) -> Iterator[Path]:
    """Files where runners put their reports by default, for a project anywhere in the worktree."""
    left = ENTRIES
    for folder, folders, files in os.walk(top):
        if left <= 0:
            return
        left -= len(folders) + len(files)
        below = Path(folder).relative_to(top)
        inner = {*folders} - _NOT_IN if len(below.parts) < DEPTH else set()
        inner &= {*_IN.get(below.name, inner)}
        folders[:] = sorted((name for name in inner if name[0] != "."), reverse=True)
        place = f"./{below.as_posix()}"
        reports = (name for name in sorted(files) if _REPORT.fullmatch(f"{place}/{name}"))
        yield from (Path(folder, name) for name in reports)


class _TooDeepError(Exception):
    """More elements than any real report has, or a deeper nesting."""


_ENDS = {"failure": "failed", "error": "errors", "skipped": "skipped", "disabled": "skipped"}
"""The meaning of an element inside a test. A flaky test, which passed in the end, has none of these."""


def is_asserted(kind: str, message: str, text: str) -> bool:
    """True if a `<failure>` is a failed assertion, not an error that the runner calls a failure.

    Args:
        kind: its attribute `type`: often the class of the exception.
        message: its attribute `message`.
        text: its text.
    """
    cause = re.search(pattern("cause"), text)
    reason = cause[1] if cause else (message or text)
    asserts, error, broke_off = map(pattern, ("asserts", "error", "broke_off"))
    if re.search(asserts, reason if cause else f"{kind}\n{reason}") or re.match(asserts, text):
        return True
    is_kind = not cause and re.fullmatch(error, kind)
    if is_kind or re.match(error, reason) or re.match(error, text):
        return False
    return not re.match(broke_off, reason) and not re.search(broke_off, text)


_LEFT_OUT = ("notrun", "disabled", "skipped")
"""The words of googletest and CTest for a test that did not run."""


class _Report:
    """One report.

    Attributes:
        is_junit: its outermost element is one of JUnit's.
        counts: its tests, by how they ended; in the errors also failures that none of its tests shows.
        failures, asserted, passed: identities of tests.
    """

    def __init__(self, content: bytes) -> None:
        from defusedxml.ElementTree import iterparse

        self.counts = Counts()
        self.failures: list[str] = []
        self.asserted: list[str] = []
        self.passed: list[str] = []
        self.is_junit = False
        around: list[Element] = []  # the open elements, outermost first
        elements = stated = 0
        for event, element in iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True):
            if event == "end":
                around.pop()
            name, names = _name(element), [*map(_name, around)]
            if event == "start":
                elements += 1
                if len(names) >= NESTED or elements > ELEMENTS:
                    raise _TooDeepError
                self.is_junit |= not names and name in ("testsuites", "testsuite")
                if name == "testsuite" and name not in names:
                    stated += sum(_number(element.get(key)) for key in ("failures", "errors"))
                around.append(element)
            elif "testcase" not in names:
                if name == "testcase":
                    self._add(element)
                elif name in ("failure", "error") and names[-1:] == ["testsuite"]:
                    self.counts.errors += 1
                if around:
                    around[-1].remove(element)  # no more than one test is kept in memory
        # A suite may count failures that none of its tests shows: a file that could not be loaded, say.
        self.counts.errors += max(0, stated - self.counts.failed - self.counts.errors)

    def _add(self, case: Element) -> None:
        """Count a test; one inside of it is a part of it."""
        parts = (case.get("classname"), case.get("name"))
        words = [" ".join(part.split()) for part in parts if part and part.strip()]
        identity = "::".join(words)[:NAME]
        inside = [part for near in case.iter() if _name(near) == "testcase" for part in near]
        ends = [_ENDS[name] for name in map(_name, inside) if name in _ENDS]
        ends += ["skipped"] * (case.get("status") in _LEFT_OUT)
        red = [end for end in ends if end != "skipped"]
        state = (red or ends or ["passed"])[-1]
        setattr(self.counts, state, getattr(self.counts, state) + 1)
        if red:
            self.failures.append(identity)
        if state == "failed":
            failures = [part for part in inside if _name(part) == "failure"]
            kind, message = (failures[0].get(key, "")[:REASON] for key in ("type", "message"))
            text = "".join(failure.text or "" for failure in failures)[:REASON]
            self.asserted += [identity] * is_asserted(kind, message, text)
        elif state == "passed":
            self.passed.append(identity)


def _name(element: Element) -> str:
    """The name of an element, without its namespace."""
    return element.tag.rpartition("}")[2]


def _number(text: str | None) -> int:
    """A count from an attribute; 0 if it is not a number."""
    return int(text) if text and re.fullmatch("[0-9]{1,9}", text) else 0


def _parsed(content: bytes) -> tuple[_Report | None, str]:
    """The report and "", or None and what is wrong with it."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError

    try:
        return _Report(content), ""
    except DefusedXmlException:
        return None, "has a document type or entities, which no runner writes"
    except _TooDeepError:
        return None, "has more elements than any runner writes"
    except (ParseError, ValueError, LookupError):  # LookupError: an unknown encoding
        return None, "is broken"
