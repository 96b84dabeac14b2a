"""The number of a coverage command is read as its platform says, or there is none."""

from __future__ import annotations

import json
import os
from operator import itemgetter
from pathlib import Path

import pytest

from lifecycle.platforms import coverage_number, selection
from lifecycle.platforms.platform_file import CoverageSource, read
from tests.batches import each_row


def of_output(pattern: str, output: str) -> float | None:
    """What is read in an output."""
    return coverage_number.percent(CoverageSource(pattern=pattern), output, Path("/"), 0)


@each_row(
    ("pattern", "output", "value"),
    [
        (r"total (\S+)%", "total 85.5%", 85.5),
        (r"total (\S+)%", "total 10%\ntotal 20%\n", 20),
        (r"total (\S+)%", "total 85,5%", 85.5),
        (r"^total (\S+)%$", "x\ntotal 0%\ny", 0),
        (r"total (\S+)%", "total none%", None),
        (r"total (\S+)%", "total nan%", None),
        (r"total (\S+)%", "total inf%", None),
        (r"total (\S+)%", "total 101%", None),
        (r"total (\S+)%", "total -1%", None),
        (r"total (\S+)%", "", None),
        (r"total(?: (\S+)%)?", "total", None),
        (r"rate=(?P<fraction>[\d.]+)", "rate=0.25", 25),
        (r"rate=(?P<fraction>[\d.]+)", "rate=1.01", None),
        (r"(?P<covered>\d+)/(?P<total>\d+)", "1/2 3/4", 75),
        (r"(?P<covered>\d+)/(?P<total>\d+)", "0/0", None),
        (r"(?P<covered>\d+)/(?P<total>\d+)", "5/4", None),
        (r"(?P<missed>\d+)-(?P<covered>\d+)", "1-3", 75),
        (r"(?P<missed>\d+)-(?P<covered>\d+)", "0-0", None),
    ],
)
def test_the_last_match_counts(pattern: str, output: str, value: float | None) -> None:
    """A percentage, a fraction or two counts; what is no percentage is no number."""
    assert of_output(pattern, output) == value


@pytest.mark.parametrize("row", coverage_number.table()["known"], ids=itemgetter("of"))
def test_every_known_program_is_read_in_its_own_form(row: dict[str, str]) -> None:
    """The number of its last line counts."""
    earlier = row["line"].replace("85.5", "7")
    assert coverage_number.known(f"begin\n{earlier}\n{row['line']}\nend\n") == 85.5


def test_a_report_of_this_run_is_read_and_no_other(tmp_path: Path) -> None:
    """A file from before the run, one that leads out of the worktree, and none at all say nothing."""
    source = CoverageSource(pattern=r"rate=(\d+)", files=["out/*.xml"])
    root = tmp_path / "root"
    (root / "out").mkdir(parents=True)
    assert coverage_number.percent(source, "rate=9", root, 0) is None
    report = root / "out/a.xml"
    report.write_text("rate=50")
    os.utime(report, ns=(2_000, 2_000))
    assert coverage_number.percent(source, "rate=9", root, 2_001) is None
    assert coverage_number.percent(source, "rate=9", root, 2_000) == 50
    (root / "out/b.xml").write_text("rate=60")
    os.utime(root / "out/b.xml", ns=(3_000, 3_000))
    assert coverage_number.percent(source, "", root, 2_000) == 60  # the one written last
    (tmp_path / "c.xml").write_text("rate=70")
    (root / "out/c.xml").symlink_to(tmp_path / "c.xml")
    os.mkfifo(root / "out/d.xml")
    assert coverage_number.percent(source, "", root, 2_000) == 60


def test_counts_of_several_reports_add_up(tmp_path: Path) -> None:
    """A project of several parts has one number."""
    for number, text in enumerate(("1-3", "nothing", "3-1")):
        (tmp_path / f"{number}.xml").write_text(text)
    source = CoverageSource(pattern=r"(?P<missed>\d+)-(?P<covered>\d+)", files=["*.xml"])
    assert coverage_number.percent(source, "", tmp_path, 0) == 50
    again = CoverageSource(pattern=r"(?P<missed>\d+)-(?P<covered>\d+)", files=["0.xml", "?.xml"])
    assert coverage_number.percent(again, "", tmp_path, 0) == 50


PRINTED = {
    "python": (
        (
            "Name      Stmts   Miss  Cover\n-----------------------------\na.py          9      3    67%\n"
            "TOTAL        20      3    85%\n\n==== 4 passed in 0.05s ====\n"
        ),
        85,
    ),
    "go": (
        (
            "ok  \texample.com/a\t0.002s\tcoverage: 66.7% of statements\n"
            "example.com/a/a.go:3:\tAdd\t\t100.0%\ntotal:\t\t\t(statements)\t66.7%\n"
        ),
        66.7,
    ),
    "node": (
        (
            "----------|---------|----------|---------|---------|-------------------\n"
            "File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s \n"
            "----------|---------|----------|---------|---------|-------------------\n"
            "All files |      75 |      100 |      50 |   80.12 |                   \n"
            " a.js     |      75 |      100 |      50 |   80.12 | 6                 \n"
        ),
        80.12,
    ),
    "rust": (
        (
            "Filename  Regions  Missed Regions  Cover  Functions  Missed Functions  Executed  Lines  "
            "Missed Lines  Cover  Branches  Missed Branches  Cover\n"
            "lib.rs  6  1  83.33%  3  1  66.67%  10  3  70.00%  0  0  -\n"
            "TOTAL   6  1  83.33%  3  1  66.67%  10  3  70.00%  0  0  -\n"
        ),
        70,
    ),
}
"""What the coverage commands of shipped platforms print, and the number in it."""

WRITTEN = {
    "java": (
        "target/site/jacoco/jacoco.xml",
        (
            '<report name="a"><package name="p"><counter type="LINE" missed="1" covered="1"/></package>'
            '<counter type="INSTRUCTION" missed="3" covered="9"/><counter type="LINE" missed="1" '
            'covered="4"/><counter type="CLASS" missed="0" covered="1"/></report>'
        ),
        80,
    ),
    "java-gradle": (
        "app/build/reports/jacoco/test/jacocoTestReport.xml",
        '<report name="a"><counter type="LINE" missed="1" covered="3"/></report>',
        75,
    ),
    "dotnet": (
        "TestResults/0b1c/coverage.cobertura.xml",
        (
            '<?xml version="1.0"?>\n<coverage line-rate="0.5" branch-rate="1" version="1.9" '
            'timestamp="1" lines-covered="3" lines-valid="6" branches-covered="0" branches-valid="0">'
        ),
        50,
    ),
}
"""The reports that others write, where, and the number in it."""


def shipped(name: str) -> CoverageSource:
    """How a shipped platform reads its number."""
    content = (selection._SHIPPED / name / "platform.json").read_bytes()
    source = read(content)[0].coverage
    assert source is not None
    return source


@pytest.mark.parametrize("name", PRINTED)
def test_what_shipped_commands_print_is_read(name: str) -> None:
    """The total over all files, in percent of lines or statements."""
    text, value = PRINTED[name]
    source = shipped(name)
    assert source.files == []
    assert coverage_number.percent(source, text, Path("/"), 0) == value


@pytest.mark.parametrize("sign", ["#", "\N{INFORMATION SOURCE}"])
def test_nodes_own_table_has_its_lines_first(sign: str) -> None:
    """Node's test runner prints another table than the libraries for coverage do."""
    rows = ("file | line % | branch % | funcs %", "a.js | 50.00 | 100.00 | 100.00 | 3-4")
    total = "all files | 81.25 | 90.00 | 70.00 |"
    text = "\n".join(f"{sign} {row}" for row in (*rows, total))
    assert coverage_number.percent(shipped("node"), text, Path("/"), 0) == 81.25


@pytest.mark.parametrize("name", WRITTEN)
def test_what_shipped_commands_write_is_read(name: str, tmp_path: Path) -> None:
    """The report lies where the command leaves it, and the sum of the lines counts."""
    where, text, value = WRITTEN[name]
    (tmp_path / where).parent.mkdir(parents=True)
    (tmp_path / where).write_text(text)
    assert coverage_number.percent(shipped(name), "", tmp_path, 0) == value


def test_every_shipped_way_of_reading_is_tried_above() -> None:
    """Those that read in the same way share one case."""
    ways = {
        path.parent.name: json.dumps(json.loads(path.read_text())["coverage"])
        for path in selection._SHIPPED.glob("*/platform.json")
    }
    assert len(ways) > 5
    assert set(ways.values()) == {ways[name] for name in (*PRINTED, *WRITTEN)}
