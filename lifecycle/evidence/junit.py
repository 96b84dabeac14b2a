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
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, islice
from pathlib import Path
from typing import Any
from xml.sax import SAXException
from xml.sax.handler import ContentHandler

from lifecycle.evidence.command_lines import listed
from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from lifecycle.evidence.runners.runner_table import pattern
from lifecycle.storage import regular_files

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
    import hashlib  # its import costs more than this module

    top = Path(os.path.realpath(root))
    named = _written(top, _named(top, argv), started)
    paths = list(named) or list(_written(top, _well_known(top), started))
    reports: list[_Report] = []
    problems: list[str] = []
    digests, left = set[bytes](), 2 * LARGEST
    for path in paths[:FILES]:
        content = regular_files.whole(str(path), min(LARGEST, left))
        report, clause = None, "is too large, or cannot be read"
        if content is not None:
            left -= len(content)
            digest = hashlib.sha256(content).digest()
            if digest in digests:
                continue  # a copy of another report
            digests.add(digest)
            report, clause = _parsed(content)
        if report is not None and report.is_junit:
            reports.append(report)
        elif named or clause:
            name = str(path.relative_to(top)).encode("ascii", "backslashreplace").decode()
            problems.append(f"its report {name} {clause or 'is no JUnit report'}")
    if not (reports or problems):
        return None
    if len(paths) > FILES:
        problems.append(f"more than {FILES} reports were written")
    return _together(reports, next(iter(problems), ""))


def _together(reports: list[_Report], why: str) -> Reading:
    """The reading of all reports; `why` is the first problem with a report, "" if there is none."""
    counts = reduce(Counts.with_, [report.counts for report in reports], Counts())
    outcome = Outcome.PASSED if counts.passed else Outcome.NOTHING_RAN
    if counts.failed or counts.errors:
        outcome = Outcome.FAILED
    elif why:
        outcome = Outcome.UNKNOWN
    failures = _first(FAILURES, [report.failures for report in reports])
    asserted = _first(FAILURES, [report.asserted for report in reports])
    passed = _first(PASSED, [report.passed for report in reports])
    return Reading(outcome, counts, failures, why, asserted, passed)


def _first(most: int, lists: list[list[str]]) -> tuple[str, ...]:
    return tuple(islice(chain.from_iterable(lists), most))


def _written(top: Path, paths: Iterable[Path], started: float) -> dict[Path, None]:
    """Those of the files that are below `top` and were written since the moment; each once."""
    since = (started - SLACK) * 1e9
    real = (Path(os.path.realpath(path.parent), path.name) for path in paths)
    return {
        path: None
        for path in real
        if path.is_relative_to(top) and regular_files.mtime_ns(str(path)) >= since
    }


def _named(top: Path, argv: Sequence[str]) -> Iterator[Path]:
    """The files that the command's options name, and those in the folders that they name."""
    words = [part for word in argv for part in (word, *_split(word))]
    files, folders = listed("report files"), listed("report folders")
    for word, after in zip(words, [*words[1:], ""], strict=True):
        option, is_one, value = word.partition("=")
        value = value if is_one else after
        if not value or "\0" in value:
            continue
        if option in files:
            yield top / value
        elif option in folders:
            # `os.walk` skips folders that cannot be listed, whatever the word is.
            _, _, names = next(os.walk(top / value), ("", [], []))
            yield from (top / value / name for name in sorted(names) if _is_xml(name))


def _split(word: str) -> list[str]:
    """The words of a command line inside one word, as after `sh -c`."""
    try:
        return shlex.split(word) if " " in word else []
    except ValueError:  # an unclosed quotation mark
        return []


def _well_known(top: Path) -> Iterator[Path]:
    """Files where runners put their reports by default, for a project anywhere in the worktree."""
    left = ENTRIES
    for folder, folders, files in os.walk(top):
        if left <= 0:
            return
        left -= len(folders) + len(files)
        parts = Path(folder).parts
        depth = len(parts) - len(top.parts)
        wanted = _IN.get(parts[-1], ()) if depth else ()
        inner = [name for name in folders if name[0] != "." and name not in _NOT_IN]
        inner = [name for name in inner if depth < DEPTH and (not wanted or name in wanted)]
        folders[:] = sorted(inner, reverse=True)
        reports = (name for name in sorted(files) if _is_xml(name) and _is_report(name, parts))
        yield from (Path(folder, name) for name in reports)


def _is_xml(name: str) -> bool:
    return name.casefold().endswith(".xml")


def _is_report(name: str, parts: tuple[str, ...]) -> bool:
    """True if a runner puts its reports there by default."""
    folder, above = parts[-1], parts[-2:-1]
    if folder in ("surefire-reports", "failsafe-reports"):
        return name.startswith("TEST-")
    if above == ("test-results",):
        return parts[-3:-2] == ("build",)  # Gradle: one folder for each of its tasks
    is_reports = folder == "reports" and name.startswith("junit")
    return name == "junit.xml" or folder == "test-results" or is_reports


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


class _Report(ContentHandler):
    """One report, built while the parser reads its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counts()
        self.failures: list[str] = []
        self.asserted: list[str] = []
        self.passed: list[str] = []
        self.is_junit = False
        self._open: list[str] = []
        self._elements = 0
        self._case: tuple[str, str] | None = None
        """The identity of the open test, and how it ended."""
        self._reason: list[str] = []
        """The attributes `type` and `message` of its first failure, and the text of its failures."""
        self._stated = 0
        """Failures and errors in the counts of the outermost suites."""

    def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802 -- the parser's word
        """Handle the beginning of an element."""
        name = name.rpartition(":")[2]
        self._elements += 1
        if len(self._open) >= NESTED or self._elements > ELEMENTS:
            raise _TooDeepError
        if not self._open:
            self.is_junit = name in ("testsuites", "testsuite")
        if name == "testsuite" and "testsuite" not in self._open:
            self._stated += sum(_number(attrs.get(key)) for key in ("failures", "errors"))
        elif name == "testcase" and self._case is None:
            parts = (attrs.get("classname"), attrs.get("name"))
            words = [" ".join(part.split()) for part in parts if part and part.strip()]
            is_left_out = attrs.get("status") in _LEFT_OUT
            self._case = ("::".join(words)[:NAME], "skipped" if is_left_out else "passed")
        elif name in _ENDS and self._case is not None and self._open[-1:] == ["testcase"]:
            identity, so_far = self._case
            is_worse = so_far == "passed" or _ENDS[name] != "skipped"
            self._case = (identity, _ENDS[name] if is_worse else so_far)
            if name == "failure" and not self._reason:
                self._reason = [attrs.get("type", ""), attrs.get("message", "")[:REASON], ""]
        elif name in ("failure", "error") and self._open[-1:] == ["testsuite"]:
            self.counts.errors += 1
        self._open.append(name)

    def characters(self, content: str) -> None:
        """Handle text within the open element."""
        if self._reason and self._open[-1:] == ["failure"]:
            kind, message, text = self._reason
            if len(text) < REASON:
                self._reason = [kind, message, (text + content[:REASON])[:REASON]]

    def endElement(self, name: str) -> None:  # noqa: N802
        """Handle the end of the last opened element."""
        name = self._open.pop()
        if name == "testcase" and self._case is not None and "testcase" not in self._open:
            identity, state = self._case
            setattr(self.counts, state, getattr(self.counts, state) + 1)
            if state in ("failed", "errors") and len(self.failures) < FAILURES:
                self.failures.append(identity)
                if state == "failed" and is_asserted(*self._reason):
                    self.asserted.append(identity)
            elif state == "passed" and len(self.passed) < PASSED:
                self.passed.append(identity)
            self._case, self._reason = None, []
        elif not self._open:
            # A suite may count failures that none of its tests shows: a file that could not be loaded, say.
            counted = self.counts.failed + self.counts.errors
            self.counts.errors += max(0, self._stated - counted)


def _number(text: str | None) -> int:
    """A count from an attribute; 0 if it is not a number."""
    is_one = text is not None and text.isascii() and text.isdecimal() and len(text) < 10
    return int(text) if is_one and text is not None else 0


def _parsed(content: bytes) -> tuple[_Report | None, str]:
    """The report and "", or None and what is wrong with it."""
    from defusedxml import DefusedXmlException, sax

    report = _Report()
    try:
        sax.parseString(content, report, forbid_dtd=True)
    except DefusedXmlException:
        return None, "has a document type or entities, which no runner writes"
    except _TooDeepError:
        return None, "has more elements than any runner writes"
    except (SAXException, ValueError, LookupError):  # LookupError: an unknown encoding
        return None, "is broken"
    return report, ""
