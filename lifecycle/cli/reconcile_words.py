"""What a reconcile came to, in words: the sentences that every form of its output shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.reconcile.finding import KINDS, Finding, Gate, State
from lifecycle.reconcile.report import Report
from lifecycle.redact import redact, visible

SIGNS = {
    State.APPLIED: "✓",
    State.PLANNED: "→",
    State.OFF: "○",
    State.LEFT: "·",
    State.FAILED: "✗",
}
PLAIN_SIGNS = {
    State.APPLIED: "+",
    State.PLANNED: ">",
    State.OFF: "o",
    State.LEFT: "-",
    State.FAILED: "x",
}
"""For an output that has no such characters."""

FEW = 5
"""So many of what is left are named on a screen; the rest is counted."""


def signs_for(encoding: str | None) -> dict[State, str]:
    """The signs that an output with this encoding can hold."""
    try:
        "".join(SIGNS.values()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN_SIGNS
    return SIGNS


def clean(text: str) -> str:
    """Text that may leave the process: no secret, and nothing of a stranger's that hides or moves."""
    return redact(visible(text))


def counted(number: int, one: str, many: str = "") -> str:
    """`1 request`, `2 requests`, `1,000 requests`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def task_of(finding: Finding) -> str:
    """`owner/name#42`."""
    return f"{finding.repository}#{finding.issue}"


def why_not(finding: Finding) -> str:
    """Why a finding was not applied, "" if it was or will be."""
    if finding.problem:
        return finding.problem
    gate = KINDS[finding.kind].gate
    if finding.state is State.OFF and gate is not Gate.NONE:
        return f"Only with --{gate}."
    return ""


def totals(report: Report) -> str:
    """How many findings there are, and what became of them: one sentence."""
    if report.skipped:
        return report.skipped
    found = len(report.findings)
    if not found and not report.failed:
        return f"Nothing drifted: {scope_of(report)}."
    if not (found or report.repositories):
        return "Nothing could be looked at."
    if not found:
        return f"Nothing drifted in what could be looked at: {scope_of(report)}."
    counts = {state: report.count(state) for state in State}
    parts = [f"{count:,} {state}" for state, count in counts.items() if count]
    return f"{counted(found, 'finding')}: {', '.join(parts)}."


def scope_of(report: Report) -> str:
    """How much was looked at."""
    tasks = counted(report.tasks, "task") if report.tasks else "no task that is claimed or was"
    return f"{tasks} in {counted(report.repositories, 'repository', 'repositories')}"


def cost(report: Report) -> str:
    """What it cost: `12 requests, 9 points`."""
    return f"{counted(report.requests, 'request')}, {counted(report.points, 'point')}"


def ending(report: Report) -> list[str]:
    """Below the findings: totals, cost, what could not be looked at, and what should be known."""
    lines = [totals(report)]
    if not report.skipped:
        seen = f"{scope_of(report).capitalize()}; " if report.findings else ""
        written = " A dry run: nothing was written." if report.is_dry_run else ""
        lines.append(f"{seen}{cost(report)}.{written}")
    lines += [f"{problem.where}: {problem.sentence}" for problem in report.problems]
    if report.ended:
        lines.append(f"Ended early: {report.ended}")
    if report.left:
        lines.append(f"Left for the next run: {some(report.left, FEW)}.")
    return lines + [f"Note: {note}" for note in report.notes]


def some(names: Sequence[str], most: int) -> str:
    """The first few names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def lines(report: Report, signs: dict[State, str]) -> list[str]:
    """The report for a pipe or a log: a finding a line, then the ending."""
    return [clean(line) for line in (*_findings(report, signs), *ending(report))]


def _findings(report: Report, signs: dict[State, str]) -> Iterable[str]:
    for finding in report.findings:
        head = f"{signs[finding.state]} {task_of(finding)} {finding.kind}:"
        fix = f"{finding.state.capitalize()}: {finding.fix}" if finding.fix else ""
        yield " ".join(part for part in (head, finding.evidence, fix, why_not(finding)) if part)
