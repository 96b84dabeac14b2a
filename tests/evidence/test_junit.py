"""JUnit reports: found where a run wrote them, counted as runners mean, read as a stranger's files."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from lifecycle.evidence import junit
from lifecycle.evidence.outcomes import Counts, Outcome, Reading
from tests.evidence.runners.recordings import Recording, all_recordings

STARTED = 1_795_000_000.0

PYTEST = """<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="5">
<testcase classname="tests.test_a.TestA" name="test_one[x y]" time="0.001" />
<testcase classname="tests.test_a" name="test_two" time="0.0"><failure message="assert 1 == 2">…</failure>
</testcase>
<testcase classname="tests.test_a" name="test_three"><skipped type="pytest.skip" message="no" /></testcase>
<testcase classname="" name="tests.test_b"><error message="collection failure">…</error></testcase>
<testcase classname="tests.test_a" name="test_four"><system-out>&lt;/testcase&gt;</system-out></testcase>
</testsuite></testsuites>"""

SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" name="org.example.AppTest" tests="3"
 errors="0" skipped="0" failures="1">
<properties><property name="java.version" value="21"/></properties>
<testcase name="flaky" classname="org.example.AppTest"><flakyFailure message="once"/></testcase>
<testcase name="red" classname="org.example.AppTest"><failure type="x">x</failure><rerunFailure/></testcase>
<testcase name="green" classname="org.example.AppTest"/>
</testsuite>"""

PHPUNIT = """<testsuites><testsuite name="all" tests="2" assertions="2" errors="0" failures="1" skipped="0">
<testsuite name="CartTest" tests="2" failures="1">
<testcase name="testA" class="CartTest" classname="CartTest"/>
<testcase name="testB" classname="CartTest"><failure>no</failure></testcase>
</testsuite></testsuite></testsuites>"""

CTEST = """<testsuite name="Linux-c++" tests="2" failures="0" disabled="1" skipped="1">
<testcase name="b" classname="b" status="run"/>
<testcase name="c" classname="c" status="notrun"/></testsuite>"""


def written(root: Path, name: str, text: str | bytes, at: float = STARTED + 1) -> Path:
    """A report that was written then."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (at, at))
    return path


def read(root: Path, *argv: str) -> Reading | None:
    """What was written since the start."""
    return junit.read_reports(root, argv or ("make", "test"), STARTED)


def shown(reading: Reading | None) -> tuple[object, ...]:
    """The outcome, and how many passed, failed, were skipped, and were errors."""
    assert reading is not None
    counts = reading.counts
    assert counts is not None
    return (reading.outcome, counts.passed, counts.failed, counts.skipped, counts.errors)


@pytest.mark.parametrize(
    ("text", "expected", "failures"),
    [
        (PYTEST, (Outcome.FAILED, 2, 1, 1, 1), ("tests.test_a::test_two", "tests.test_b")),
        (SUREFIRE, (Outcome.FAILED, 2, 1, 0, 0), ("org.example.AppTest::red",)),
        (PHPUNIT, (Outcome.FAILED, 1, 1, 0, 0), ("CartTest::testB",)),
        (CTEST, (Outcome.PASSED, 1, 0, 1, 0), ()),
        ('<testsuites tests="0"/>', (Outcome.NOTHING_RAN, 0, 0, 0, 0), ()),
        (
            "<testsuite><testcase name='a'><skipped/></testcase></testsuite>",
            (Outcome.NOTHING_RAN, 0, 0, 1, 0),
            (),
        ),
        # A suite that could not be loaded: no test of it says so.
        (
            "<testsuite errors='1' failures='0'><testcase name='a'/></testsuite>",
            (Outcome.FAILED, 1, 0, 0, 1),
            (),
        ),
        (
            "<testsuite><testcase name='a'/><error>no such module</error></testsuite>",
            (Outcome.FAILED, 1, 0, 0, 1),
            (),
        ),
        (
            "<j:testsuite xmlns:j='x'><j:testcase name='a'/></j:testsuite>",
            (Outcome.PASSED, 1, 0, 0, 0),
            (),
        ),
        (
            "<testsuite failures='many'><testcase name='a'><failure/><error/></testcase></testsuite>",
            (Outcome.FAILED, 0, 0, 0, 1),
            ("a",),
        ),
        (
            "<testsuite><testcase name='a'><testcase name='b'><failure/></testcase></testcase></testsuite>",
            (Outcome.FAILED, 0, 1, 0, 0),
            ("a",),
        ),
    ],
)
def test_counts_and_failures(
    tmp_path: Path, text: str, expected: tuple[object, ...], failures: tuple[str, ...]
) -> None:
    """Passed, failed, skipped, errors; `classname::name` of those that failed, in the report's order."""
    written(tmp_path, "junit.xml", text)
    reading = read(tmp_path)
    assert shown(reading) == expected
    assert reading is not None
    assert reading.failures == failures
    assert reading.why == ""


@pytest.mark.parametrize(
    "name",
    [
        "junit.xml",
        "packages/web/junit.xml",
        "test-results/unit.xml",
        "test-results/jest/junit.xml",
        "reports/junit-1.xml",
        "target/surefire-reports/TEST-org.example.AppTest.xml",
        "core/target/failsafe-reports/TEST-x.xml",
        "build/test-results/test/TEST-x.xml",
        "app/build/test-results/integrationTest/TEST-x.xml",
        "target/nextest/ci/junit.xml",
    ],
)
def test_well_known_places(tmp_path: Path, name: str) -> None:
    """Each of them, in the worktree or in a project inside of it; never one of an earlier run."""
    path = written(tmp_path, name, CTEST)
    assert shown(read(tmp_path)) == (Outcome.PASSED, 1, 0, 1, 0)
    os.utime(path, (STARTED - 1, STARTED - 1))
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    "name",
    [
        "report.xml",
        "reports/pom.xml",
        "node_modules/a/junit.xml",
        ".cache/junit.xml",
        "target/debug/junit.xml",
        "build/reports/junit.xml",
        "target/surefire-reports/testng-results.xml",
        "other/test-results/x/y.xml",
    ],
)
def test_other_files_are_none(tmp_path: Path, name: str) -> None:
    """What is no report's place, and what dependencies brought along."""
    written(tmp_path, name, CTEST)
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("pytest", "--junitxml=out/a.xml"),
        ("pytest", "--junitxml", "out/a.xml"),
        ("python", "-m", "pytest", "--junit-xml=out/a.xml", "-q"),
        ("ctest", "--output-junit", "out/a.xml"),
        ("vitest", "run", "--reporter=junit", "--outputFile=out/a.xml"),
        ("sh", "-c", "cd . && pytest --junitxml 'out/a.xml'"),
        ("behave", "--junit", "--junit-directory", "out"),
    ],
)
def test_the_file_that_the_options_name(tmp_path: Path, argv: tuple[str, ...]) -> None:
    """It alone is read if the run wrote it; else what lies at well-known places."""
    named = written(tmp_path, "out/a.xml", CTEST)
    written(tmp_path, "junit.xml", PYTEST)
    assert shown(read(tmp_path, *argv))[0] is Outcome.PASSED
    os.utime(named, (STARTED - 9, STARTED - 9))
    assert shown(read(tmp_path, *argv))[0] is Outcome.FAILED


def test_reports_add_up_and_a_copy_counts_once(tmp_path: Path) -> None:
    """Maven's modules, one of them without tests; the same report twice."""
    written(tmp_path, "a/target/surefire-reports/TEST-a.xml", SUREFIRE)
    written(tmp_path, "b/target/surefire-reports/TEST-b.xml", CTEST)
    written(tmp_path, "b/junit.xml", CTEST)
    written(tmp_path, "c/target/surefire-reports/TEST-c.xml", '<testsuite tests="0"/>')
    written(tmp_path, "test-results/run.xml", "<TestRun/>")
    assert shown(read(tmp_path)) == (Outcome.FAILED, 3, 1, 1, 0)


def test_nothing_outside_of_the_worktree_is_read(tmp_path: Path) -> None:
    """By a path, by a link to a file, by a link to a folder; nor what is no file."""
    root, outside = tmp_path / "tree", tmp_path / "outside"
    root.mkdir()
    written(outside, "junit.xml", CTEST)
    (root / "junit.xml").symlink_to(outside / "junit.xml")
    (root / "linked").symlink_to(outside)
    (root / "test-results").mkdir()
    os.mkfifo(root / "test-results/pipe.xml")
    os.utime(root / "test-results/pipe.xml", (STARTED + 1, STARTED + 1))
    for name in (
        "../outside/junit.xml",
        str(outside / "junit.xml"),
        "linked/junit.xml",
        "junit.xml",
        "\0",
    ):
        assert read(root, "pytest", f"--junitxml={name}") is None
    assert read(root, "pytest", "--junitxml") is None
    assert read(root, "sh", "-c", "pytest 'unfinished --junitxml=a.xml") is None
    inside = written(root, "sub/a.xml", CTEST)
    assert read(root, "pytest", f"--junitxml={inside}") is not None


BOMB = (
    '<!DOCTYPE t [<!ENTITY a "aaaaaaaaaa">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + ']><testsuite><testcase name="&i;"/></testsuite>'
)

HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "a bomb of entities": (BOMB, "document type"),
    "one long entity, often": (
        f'<!DOCTYPE t [<!ENTITY a "{"x" * 50_000}">]><testsuite name="{"&a;" * 5_000}"/>',
        "document type",
    ),
    "another file": (
        '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite name="&a;"/>',
        "document type",
    ),
    "an address": ('<!DOCTYPE t SYSTEM "http://127.0.0.1:9/x.dtd"><testsuite/>', "document type"),
    "deep": ("<testsuite>" * 100_000, "more elements"),
    "deep and whole": ("<testsuite>" * 70 + "</testsuite>" * 70, "more elements"),
    "cut off": (PYTEST[:-40], "is broken"),
    "empty": ("", "is broken"),
    "no XML": ("passed: 3", "is broken"),
    "no such encoding": ('<?xml version="1.0" encoding="no-such"?><testsuite/>', "is broken"),
    "many bytes a character": ('<?xml version="1.0" encoding="big5"?><testsuite/>', "is broken"),
    "zeros": (b"\0" * 4_000, "is broken"),
    "not its encoding": (b"<testsuite name='\xff\xfe'/>", "is broken"),
    "two roots": ("<testsuite/><testsuite/>", "is broken"),
    "an entity of nobody's": ("<testsuite>&nobody;</testsuite>", "is broken"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_report_is_one_clause(tmp_path: Path, name: str) -> None:
    """Nothing is fetched, nothing grows, nothing is raised: UNKNOWN, and why; quickly."""
    text, why = HOSTILE[name]
    written(tmp_path, "junit.xml", text)
    begin = time.process_time()
    reading = read(tmp_path)
    assert time.process_time() - begin < 5
    assert reading is not None
    assert reading.outcome is Outcome.UNKNOWN
    assert reading.why.startswith("its report junit.xml ")
    assert why in reading.why
    assert "\n" not in reading.why


def test_a_failure_beside_a_broken_report_is_a_failure(tmp_path: Path) -> None:
    """What is known to be red stays so; what is green beside it is not known."""
    written(tmp_path, "a/junit.xml", PYTEST)
    written(tmp_path, "b/junit.xml", "<")
    assert shown(read(tmp_path))[0] is Outcome.FAILED
    written(tmp_path, "a/junit.xml", CTEST)
    reading = read(tmp_path)
    assert shown(reading) == (Outcome.UNKNOWN, 1, 0, 1, 0)
    assert reading is not None
    assert reading.why == "its report b/junit.xml is broken"


def test_a_named_file_that_is_no_report_is_said(tmp_path: Path) -> None:
    """Whoever named it wants to know."""
    written(tmp_path, "a.xml", "<html/>")
    reading = read(tmp_path, "pytest", "--junitxml=a.xml")
    assert reading is not None
    assert (reading.outcome, reading.why) == (
        Outcome.UNKNOWN,
        "its report a.xml is no JUnit report",
    )


@pytest.mark.parametrize("name", ["x" * 300, "none", "a.xml", "closed"])
def test_a_named_folder_that_cannot_be_listed_has_no_reports(tmp_path: Path, name: str) -> None:
    """No word of a command line ends the check that it is of."""
    written(tmp_path, "a.xml", PYTEST)
    (tmp_path / "closed").mkdir(mode=0)
    assert read(tmp_path, "dotnet", "test", "--results-directory", name) is None


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large, too many elements, too many reports, too deep a folder; names and lists are cut."""
    for name, value in {"LARGEST": 3_000, "FILES": 2, "FAILURES": 3, "NAME": 9, "DEPTH": 2}.items():
        monkeypatch.setattr(junit, name, value)
    large = "<testsuite>" + "<testcase name='a'/>" * 500 + "</testsuite>"
    written(tmp_path, "junit.xml", large)
    reading = read(tmp_path)
    assert reading is not None
    assert reading.why == "its report junit.xml is too large, or cannot be read"
    monkeypatch.setattr(junit, "ELEMENTS", 20)
    written(tmp_path, "junit.xml", large[:1_000])
    reading = read(tmp_path)
    assert reading is not None
    assert "more elements" in reading.why
    red = "<testcase classname='a long class' name='n'><failure/></testcase>"
    written(tmp_path, "junit.xml", f"<testsuite>{red * 5}</testsuite>")
    for number in range(3):
        written(tmp_path, f"{number}/junit.xml", f"<testsuite name='{number}'>{red}</testsuite>")
    reading = read(tmp_path)
    assert reading is not None
    assert reading.counts is not None
    assert reading.counts.failed >= 2
    assert len(reading.failures) <= 3
    assert set(reading.failures) == {"a long cl"}
    assert reading.why == "more than 2 reports were written"
    written(tmp_path / "far", "a/b/c/junit.xml", CTEST)
    assert read(tmp_path / "far") is None


def test_a_large_honest_report_is_read_in_little_time(tmp_path: Path) -> None:
    """20,000 tests in a tree of 10,000 files."""
    cases = "".join(f"<testcase classname='m' name='t{number}'/>" for number in range(20_000))
    written(tmp_path, "reports/junit.xml", f"<testsuite tests='20000'>{cases}</testsuite>")
    for folder in range(100):
        (tmp_path / f"src/{folder}").mkdir(parents=True)
        for number in range(100):
            (tmp_path / f"src/{folder}/{number}.py").touch()
    begin = time.process_time()
    assert shown(read(tmp_path)) == (Outcome.PASSED, 20_000, 0, 0, 0)
    assert time.process_time() - begin < 2


def test_the_parser_is_imported_where_a_report_is_read(tmp_path: Path) -> None:
    """Who has none pays for none."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "defusedxml"]:
        del sys.modules[name]
    assert read(tmp_path) is None
    assert "defusedxml" not in sys.modules


REPORTED = [each for each in all_recordings() if each.junit]


@pytest.mark.parametrize("each", REPORTED, ids=[each.name for each in REPORTED])
def test_what_real_runners_write(tmp_path: Path, each: Recording) -> None:
    """Found where the command names it, or where its runner writes it; counted as its author states it."""
    named = [word.rpartition("=")[2] for word in each.argv if word.endswith(".xml")]
    (name,) = named or ["target/surefire-reports/TEST-a.xml"]
    # Where it ran stands in a recording as a word that is no XML.
    written(tmp_path, name, (each.junit or "").replace("<root>", "/there"))
    reading = junit.read_reports(tmp_path, each.argv, STARTED)
    assert reading is not None
    assert reading.outcome in (each.outcome, *each.also), reading.why
    assert reading.counts is not None
    counts = {name: getattr(reading.counts, name) for name in Counts.__annotations__}
    assert each.counts in (None, counts)
    assert len(reading.failures) == counts["failed"] + counts["errors"]
    assert (junit.read_reports(tmp_path, ("make", "test"), STARTED) is None) == bool(named)
