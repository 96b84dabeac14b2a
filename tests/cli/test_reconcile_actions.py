"""What GitHub Actions is told: a summary that is only text, outputs, annotations that are kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lifecycle.cli.reconcile import reconcile
from lifecycle.cli.reconcile import reconcile_words as forms
from lifecycle.reconcile.finding import State, SweepProblem, SweepReport
from tests.cli.reconcile_reports import QUIET, REPORT, finding

EVIL = (
    "a|b\n\n# h `c` <img src=x onerror=alert(1)> <!-- [l](https://evil.example) ![i](x) **b** _i_ ~~s~~ "
    "@octocat octo-org/x#7 #7 GH-7 https://evil.example www.evil.example $x$ \\| &amp; \u202e"
)


def rows_of(markdown: str) -> list[list[str]]:
    """The cells of the table's rows, as HTML."""
    html = MarkdownIt("commonmark").enable("table").render(markdown)
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.findall(r"(?s)<td>(.*?)</td>", row) for row in body.split("</tr>") if "<td>" in row]


def test_the_summary_is_a_table_of_every_finding() -> None:
    """Five columns: sign, task with a link, finding, evidence, what was done; and all that goes with it."""
    text = forms.summary(REPORT)
    rows = rows_of(text)
    assert len(rows) == len(REPORT.findings)
    assert {len(row) for row in rows} == {5}
    ordered = [REPORT.findings[index] for index in (3, 1, 4, 0, 2)]  # failed first, left last
    for row, one in zip(rows, ordered, strict=True):
        assert f'<a href="{one.url}">{one.repository}#{one.issue}</a> {one.title}' in row[1]
        assert row[2] == f"<code>{one.kind}</code>"
        assert f"<strong>{one.state}</strong>" in row[4]
    words = MarkdownIt().render(text).replace("\u200b", "")
    for part in (
        "5 findings: 1 applied",
        "42 requests, 1 point.",
        "octo-org/secret",
        "octo-org/r8",
    ):
        assert part in words
    assert "Labels keep the Status." in words
    assert "Ended early:" in words


def test_a_summary_without_findings_is_a_sentence() -> None:
    """No empty table."""
    text = forms.summary(QUIET)
    assert text == (
        "## lifecycle reconcile\n\n**Nothing drifted: 340 issues in 25 repositories.** "
        "12 requests, 9 points.\n\n"
    )


def test_what_strangers_wrote_is_only_text_in_the_summary() -> None:
    """No cell, heading, code, tag, link, image, emphasis, mention, reference or address of theirs."""
    report = SweepReport(
        findings=(finding(title=EVIL, evidence=EVIL, problem=EVIL, url="https://x/) [y](z"),),
        problems=(SweepProblem(EVIL, "Rejected", EVIL),),
        left=(EVIL,),
        ended=EVIL,
        notes=(EVIL,),
    )
    text = forms.summary(report)
    ((_, title, _, evidence, _),) = rows_of(text)
    for cell in (title, evidence):
        assert "<" not in cell.replace("&lt;", "")
        assert r"a|b\n\n# h".replace("#", "#\u200b") in cell
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {
        "h2",
        "h3",
        "p",
        "ul",
        "li",
        "strong",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
    } | {
        "th",
        "td",
    }
    for autolink in (r"@octocat", r"#7", r"GH-7", r"://", r"www\.", r"\$"):
        assert not re.search(rf"(?<!&){autolink}", text), autolink
    assert not re.search(r"@\w|#\d|GH-\d|https?://|www\.\w", html)


@given(st.text(max_size=200))
def test_any_text_is_one_cell(text: str) -> None:
    """Whatever a title holds, the row has its cells, and the title is in it as text."""
    (row,) = rows_of(forms.summary(SweepReport(findings=(finding(title=text),))))
    assert len(row) == 5
    assert "<" not in row[1].partition("</a>")[2]


def test_a_summary_fits_what_a_step_may_have() -> None:
    """Rows are cut, not the file: how many are missing is said, and the rest of it stays."""
    many = tuple(finding(issue=number, title="é" * 400) for number in range(1, 2101))
    text = forms.summary(replace(REPORT, findings=many))
    shown = len(rows_of(text))
    assert 500 < shown < 2100
    assert 1000_000 < len(text.encode()) <= forms.BYTES
    assert f"{2100 - shown:,} more findings do not fit here" in text
    assert "Ended early" in text


def test_a_summary_leaves_room_for_what_the_step_wrote_before(tmp_path: Path) -> None:
    """The limit is the step's; where nothing fits, nothing is added, since too much shows nothing."""
    file = tmp_path / "summary"
    for used in (forms.BYTES - 4000, forms.BYTES - 10, forms.BYTES + 10):
        file.write_text("x" * used)
        report = replace(REPORT, findings=REPORT.findings * 20)
        reconcile.write_summary(report, {reconcile.SUMMARY: str(file)})
        assert file.stat().st_size <= max(forms.BYTES, used)
        assert (file.stat().st_size > used) is (used == forms.BYTES - 4000)


def test_names_without_room_are_counted_however_long_they_are() -> None:
    """As many as a summary lists are of the greatest length that GitHub allows for owner and name."""
    longest = f"{'o' * 39}/{'n' * 100}"
    text = forms.summary(
        SweepReport(left=tuple(f"{longest}#{number}" for number in range(1000, 1300)))
    )
    assert text.endswith(f"1049 and {300 - forms.MANY} more.\n")


def test_outputs_are_three_numbers(tmp_path: Path) -> None:
    """Appended to the step's file; what could not be looked at counts as failed."""
    file = tmp_path / "output"
    file.write_text("before=1\n")
    reconcile.write_outputs(REPORT, {reconcile.OUTPUT: str(file)})
    assert file.read_text() == "before=1\nfindings=5\napplied=1\nfailed=3\n"
    reconcile.write_outputs(REPORT, {})
    reconcile.write_summary(REPORT, {})
    assert [*tmp_path.iterdir()] == [file]


def test_annotations_are_by_urgency() -> None:
    """Failures are errors, what waits for a yes a warning, the rest notices; what was left is none."""
    found = [(one.level, one.title) for one in forms.annotated(REPORT)]
    assert found == [
        ("error", "Ended early"),
        ("error", "octo-org/secret"),
        ("error", "octo-org/other#9 unlinked"),
        ("warning", "octo-org/hello-service#7 merged-open"),
        ("notice", "lifecycle reconcile"),
        ("notice", "octo-org/hello-service#42 status-drift"),
        ("notice", "octo-org/other#10 silent"),
    ]


def test_an_annotation_says_what_became_of_it() -> None:
    """What was repaired, what would be and what waits for a yes are told apart by their first word."""
    evidence = finding().evidence
    for state, kind, words in (
        (State.APPLIED, "status-drift", "Applied: {fix}"),
        (State.PLANNED, "status-drift", "Planned: {fix}"),
        (State.OFF, "silent", "Off: {fix} Needs --release, or release: true in the Action."),
        (State.FAILED, "status-drift", "Failed: {fix} 403."),
    ):
        problem = "403." if state is State.FAILED else ""
        one = finding(kind, state=state, problem=problem)
        (told,) = forms.annotated(SweepReport(findings=(one,)))
        assert told.message == f"{evidence} {words.format(fix=one.fix)}"


def test_what_is_left_is_folded_in_the_summary() -> None:
    """Under the table of what was done, all of it in a table that is opened with a click."""
    left = [
        finding("moved-by-hand", n, state=State.LEFT, problem="It stays.") for n in range(1, 69)
    ]
    report = SweepReport(findings=(*left, finding("status-drift", 200)), repositories=1, tasks=70)
    text = forms.summary(report)
    table, _, folded = text.partition("<details>")
    assert [row[2] for row in rows_of(table)] == ["<code>status-drift</code>"]
    head, _, inner = folded.partition("</summary>")
    assert head.replace("&#8203;", "").startswith("<summary>moved-by-hand: 68 left: octo-org/")
    assert head.endswith(" and 63 more. It stays.")
    assert len(rows_of(inner.partition("</details>")[0])) == 68
    assert inner.endswith("</details>\n")
    small = forms.summary(report, 6000)
    assert len(small.encode()) <= 6000
    assert re.search(r"\n(\d+) more findings do not fit here", small)
    assert small.count("<details>") == small.count("</details>")


def test_no_more_annotations_than_github_keeps() -> None:
    """Ten of each kind; the summary says how many are only there."""
    states = (State.FAILED, State.OFF, State.APPLIED)
    kinds = {State.FAILED: "unlinked", State.OFF: "merged-open", State.APPLIED: "status-drift"}
    report = SweepReport(
        findings=tuple(finding(kinds[s], n + 1, state=s) for s in states for n in range(12))
    )
    found = forms.annotated(report)
    assert [one.level for one in found] == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert "10 annotations of each kind for a step: 6 more are only here" in forms.summary(report)
    assert "annotations" not in forms.summary(REPORT)


def test_a_command_is_escaped_as_the_toolkit_does() -> None:
    """A message cannot end its line, a title cannot end or add a property."""
    one = forms.StepAnnotation("error", "a:b,c%\r\nd", "50% :: done\r\n::error::x, y: z")
    assert one.command() == (
        "::error title=a%3Ab%2Cc%25%0D%0Ad::50%25 :: done%0D%0A::error::x, y: z"
    )


def test_lines_in_the_log_are_no_commands() -> None:
    """They stand between stop-commands and its token, which is another one each time."""
    first, line, last = reconcile.quoted(["✓ ##[error]x"])
    token = first.removeprefix("::stop-commands::")
    assert (line, last) == ("✓ ##[error]x", f"::{token}::")
    assert len(token) == 32
    assert reconcile.quoted([])[0] != first


def test_the_json_of_a_report_holds_everything() -> None:
    """What the table shows and what a summary cuts."""
    data = json.loads(json.dumps(REPORT.as_json()))
    assert data["counts"] == {
        "findings": 5,
        "applied": 1,
        "planned": 1,
        "off": 1,
        "left": 1,
        "failed": 3,
        "repositories": 3,
        "tasks": 1340,
    }
    assert data["next_run"] == list(REPORT.left)
    assert data["findings"][0]["state"] == "off"
    assert data["cost"] == {"requests": 42, "points": 1}
    assert (data["skipped"], data["dry_run"]) == ("", False)


@pytest.mark.parametrize("write", [reconcile.write_summary, reconcile.write_outputs])
def test_a_file_that_takes_nothing_is_an_error(
    tmp_path: Path, write: Callable[[SweepReport, dict[str, str]], object]
) -> None:
    """It is not swallowed: the step would show nothing and look well."""
    environment = {reconcile.SUMMARY: str(tmp_path), reconcile.OUTPUT: str(tmp_path)}
    with pytest.raises(IsADirectoryError):
        write(REPORT, environment)
