"""What a reconcile shows: a table on a terminal, lines in a pipe, the same words everywhere."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from lifecycle.cli.reconcile.reconcile_screen import show
from lifecycle.cli.reconcile.reconcile_words import FORMS, INPUTS, lines, totals
from lifecycle.cli.terminal import guarded
from lifecycle.reconcile.finding import Finding, State, SweepProblem, SweepReport
from tests.cli.reconcile_reports import QUIET, REPORT, finding
from tests.cli.terminal import plain

ISSUES = ["9", "42", "10", "7", "1043"]
"""What failed, was done, is planned, waits for a yes, and was left."""


def shown(report: SweepReport, width: int) -> str:
    """What a terminal of this width gets, escapes and all."""
    out = io.BytesIO()
    with io.TextIOWrapper(out, encoding="utf-8", write_through=True) as text:
        terminal = Console(file=text, width=width, force_terminal=True, color_system="standard")
        show(report, terminal)
        return out.getvalue().decode()


@pytest.mark.parametrize("width", [30, 59, 60, 80, 119, 120, 160, 300])
def test_a_terminal_is_filled_and_not_overrun(width: int) -> None:
    """No line is wider than the terminal, nor than 160 columns, and no word is lost."""
    text = plain(shown(REPORT, width))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= min(width, 160)
    words = " ".join(text.split())
    for one in REPORT.findings:
        assert f"#{one.issue}" in words
        assert one.kind in words
    assert re.findall(r"#(9|42|10|7|1043)\b", words)[:5] == ISSUES


def test_a_wide_table_has_a_header_and_columns_that_meet() -> None:
    """Where both have room evidence and fix stand beside each other, in all repositories alike."""
    text = plain(shown(REPORT, 140))
    header = next(line for line in text.splitlines() if "what is so" in line)
    assert header.split() == ["task", "finding", "what", "is", "so", "what", "is", "done"]
    assert text.count("what is so") == 1
    for issue, state in ((7, "off:"), (42, "applied:"), (10, "planned:"), (9, "failed:")):
        (row,) = [line for line in text.splitlines() if f"#{issue} " in line[:31]]
        assert row[header.index("what is done") :].startswith(state)
        assert row[header.index("what is so") :].startswith("Pull request #46 was opened")


def test_a_number_leads_to_its_issue_where_links_are_followed() -> None:
    """OSC 8 around the number; an address that is none, or that holds a control character, is none."""
    text = shown(SweepReport(findings=(finding(issue=42),)), 80)
    assert re.search(r"\x1b\]8;[^;]*;https://github.com/octo-org/hello-service/issues/42\x1b", text)
    for url in ("https://x/\x1b\\\x1b[2J", "javascript:alert(1)", "https://x/ y", ""):
        assert "\x1b]8;" not in shown(SweepReport(findings=(finding(url=url),)), 80)


def test_nothing_of_a_stranger_moves_the_screen() -> None:
    """Control characters in a title, an evidence or a problem are shown as what they are."""
    evil = "x\x1b[2Jy\r\nz\x07"
    one = finding(title=evil, evidence=evil, problem=evil, state=State.FAILED)
    report = SweepReport(
        findings=(one,), problems=(SweepProblem(evil, "Rejected", evil),), notes=(evil,)
    )
    for text in (shown(report, 200), "\n".join(lines(report))):
        assert "\x1b[2J" not in text
        assert not {"\r", "\x07"} & set(text)
        assert r"x\x1b[2Jy\r\nz\x07" in text


def test_markup_in_a_title_is_a_title() -> None:
    """Square brackets are rich's markup, and here they are words."""
    assert "[bold]x[/bold] [/]" in shown(
        SweepReport(findings=(finding(title="[bold]x[/bold] [/]"),)), 80
    )


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that got into a sentence goes no further."""
    monkeypatch.setenv("GH_TOKEN", "not-like-any-token-1")
    secrets = "not-like-any-token-1 ghp_0123456789abcdefABCDEF"
    report = SweepReport(findings=(finding(evidence=secrets),), ended=secrets, notes=(secrets,))
    for text in (shown(report, 200), "\n".join(lines(report))):
        assert "not-like-any" not in text
        assert "ghp_" not in text


def test_a_pipe_gets_a_line_for_each_finding() -> None:
    """What wants an eye first: sign, task, finding, evidence, what is done or why not; then the rest."""
    evidence = "Pull request #46 was opened, and the card says In Progress."
    fixes = [one.fix for one in REPORT.findings]
    by_close = "Needs --close, or close: true in the Action."
    named = "octo-org/r0, octo-org/r1, octo-org/r2, octo-org/r3, octo-org/r4 and 4 more"
    assert lines(REPORT) == [
        f"✗ octo-org/other#9 unlinked: {evidence} Failed: {fixes[3]} 403.",
        f"✓ octo-org/hello-service#42 status-drift: {evidence} Applied: {fixes[1]}",
        f"→ octo-org/other#10 silent: {evidence} Planned: {fixes[4]}",
        f"○ octo-org/hello-service#7 merged-open: {evidence} Off: {fixes[0]} {by_close}",
        f"· octo-org/hello-service#1043 moved-by-hand: {evidence} Left: It stays where it is.",
        "5 findings: 1 applied, 1 planned, 1 off, 1 left, 1 failed.",
        "1,340 issues in 3 repositories; 42 requests, 1 point.",
        "octo-org/secret: The token may not read it.",
        "Ended early: GitHub's limit is used up.",
        f"Left for the next run: {named}.",
        "Note: Labels keep the Status.",
    ]


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (QUIET, "Nothing drifted: 340 issues in 25 repositories."),
        (
            SweepReport(repositories=1, tasks=0, requests=1, points=1),
            "Nothing drifted: no issue that is claimed or has a card in 1 repository.",
        ),
        (
            SweepReport(repositories=1, tasks=1, ended="The time is up."),
            "Nothing drifted in what could be looked at: 1 issue in 1 repository.",
        ),
        (SweepReport(ended="The limit is used up."), "No issue could be looked at."),
        # The repository was read, and the limit came before its issues: nothing is known of them.
        (
            SweepReport(repositories=1, ended="The limit is used up."),
            "No issue could be looked at.",
        ),
        # Of the one that could not be read nothing is known; the others have nothing to look at.
        (
            SweepReport(repositories=2, problems=(SweepProblem("a/e", "NotFound", "Gone."),)),
            (
                "Nothing drifted in what could be looked at: "
                "no issue that is claimed or has a card in 2 repositories."
            ),
        ),
        (
            SweepReport(
                repositories=1,
                problems=(SweepProblem("a/e#7", "NotFound", "Gone."),),
                is_narrowed=True,
            ),
            "No issue could be looked at.",
        ),
        (
            SweepReport(requests=1, points=1),
            "Nothing was looked at: this owner or part has only forks and archived repositories.",
        ),
        (SweepReport(skipped="Nothing was looked at: x."), "Nothing was looked at: x."),
        (SweepReport(findings=(finding(),)), "1 finding: 1 applied."),
    ],
)
def test_the_totals_are_one_sentence_with_numbers(report: SweepReport, sentence: str) -> None:
    """Also where nothing drifted; and not "nothing" where somewhere nobody could look."""
    assert totals(report) == sentence
    assert sentence in " ".join(plain(shown(report, 80)).split())
    assert sentence in lines(report)


def test_a_dry_run_says_so() -> None:
    """In a pipe at the end, on a terminal in the title as well."""
    report = SweepReport(repositories=1, tasks=1, requests=1, points=1, is_dry_run=True)
    assert lines(report)[-1] == "1 request, 1 point. A dry run: nothing was written."
    assert plain(shown(report, 80)).startswith("lifecycle reconcile  dry run\n")


def test_an_output_without_the_signs_gets_plain_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """In ASCII every state has a sign of its own, too; any other character is a question mark."""
    out = io.BytesIO()
    signs = [FORMS[state].sign for state in State]
    with io.TextIOWrapper(out, encoding="ascii", write_through=True) as text:
        monkeypatch.setattr("sys.stdout", text)
        with guarded():
            print("".join(signs), "é")  # noqa: T201 -- what a command prints
        plain_signs, other = out.getvalue().decode().split()
    assert len(set(plain_signs)) == len(signs) == len(set(signs))
    assert "?" not in plain_signs
    assert other == "?"


def many_left(number: int, reason: str = "It stays.") -> tuple[Finding, ...]:
    """So many cards that somebody moved."""
    numbers = range(1, number + 1)
    return tuple(finding("moved-by-hand", n, state=State.LEFT, problem=reason) for n in numbers)


def test_many_that_are_left_are_one_line() -> None:
    """Below what was done: how many, the first few, why; up to three are shown one by one."""
    done = finding("status-drift", 200)
    report = SweepReport(findings=(*many_left(68), done), repositories=1, tasks=70)
    first, folded, totals_line, *_ = lines(report)
    assert first.startswith("✓ octo-org/hello-service#200 status-drift: ")
    names = ", ".join(f"octo-org/hello-service#{n}" for n in range(1, 6))
    assert folded == f"· moved-by-hand: 68 left: {names} and 63 more. It stays."
    assert totals_line == "69 findings: 1 applied, 68 left."
    for width in (40, 80, 160):
        words = "".join(plain(shown(report, width)).split())
        assert words.index("#200") < words.index("moved-by-hand:68left:")
        assert "#6" not in words
    few = SweepReport(findings=many_left(3), repositories=1, tasks=3)
    assert [line[0] for line in lines(few)][:3] == ["·", "·", "·"]


def test_what_was_left_for_two_reasons_is_two_lines() -> None:
    """A rule and a time that was up are not counted together."""
    late = tuple(replace(one, kind="status-drift", problem="Late.") for one in many_left(4))
    report = SweepReport(findings=(*many_left(4), *late), repositories=1, tasks=4)
    assert [line.partition(" left: ")[0] for line in lines(report)[:2]] == [
        "· moved-by-hand: 4",
        "· status-drift: 4",
    ]


def test_every_reason_is_told_once() -> None:
    """What ended the run is not repeated at each task, nor a repository's name in its own sentence."""
    why = "GitHub gave no answer."
    report = SweepReport(
        findings=(
            finding("unlinked", 1, state=State.FAILED, problem=why),
            finding("unlinked", 2, state=State.LEFT, problem=why),
        ),
        problems=(
            SweepProblem("a/b", "NotFound", "GitHub shows no repository a/b."),
            SweepProblem("a/c", "Transient", "A limit."),
            SweepProblem("a/d", "Transient", "A limit."),
            SweepProblem("a/e", "Transient", why),
        ),
        ended=f"{why} The next run continues with the rest.",
        repositories=1,
        tasks=2,
    )
    told = lines(report)
    assert "\n".join(told).count(why) == 1
    assert told[0].endswith(" For the reason that ended the run.")
    assert told[1].endswith(f" Left: {finding('unlinked').fix}")
    assert told[4:8] == [
        "GitHub shows no repository a/b.",
        "a/c, a/d: A limit.",
        "a/e: For the reason that ended the run.",
        f"Ended early: {why} The next run continues with the rest.",
    ]


def test_a_reason_that_names_the_inputs_of_a_workflow_is_told_once_as_well() -> None:
    """Of refused credentials each sentence ends with where a step has its token from."""
    why = "GitHub refused the token; give another one."
    report = SweepReport(
        findings=(finding("unlinked", 1, state=State.FAILED, problem=f"{why} {INPUTS}"),),
        problems=(SweepProblem("a/e", "BadCredentials", f"{why} {INPUTS}"),),
        ended=f"{why} The next run continues with the rest. {INPUTS}",
    )
    assert "\n".join(lines(report)).count(why) == 1
