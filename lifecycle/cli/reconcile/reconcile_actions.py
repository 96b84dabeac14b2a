"""A reconcile in GitHub Actions: the step's summary, its outputs, its annotations, its log.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (the files, the
size of a summary, `stop-commands`), https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md
(how many annotations are kept), https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
(how a command's message and properties are escaped), and https://github.com/actions/runner (Runner.Common,
ActionCommand.cs: commands are looked for in every line of both outputs, in an old form anywhere in it).
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path

from lifecycle.cli.reconcile import reconcile_words as words
from lifecycle.cli.terminal import one_line
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import short
from lifecycle.reconcile.finding import Finding, State, SweepReport

SUMMARY = "GITHUB_STEP_SUMMARY"
OUTPUT = "GITHUB_OUTPUT"

BYTES = 1024 * 1024
"""The most bytes of a step's summary; GitHub shows nothing of a longer one."""

MOST = 10
"""How many annotations of each level GitHub keeps of one step; it drops the others silently."""

MANY = 50
"""How many remarks, and names in one, a summary lists; further ones are counted."""

CELL = 500
"""The most characters of a table's cell."""

REMARK = 16 * CELL
"""The most characters of a remark below the tables: as many names are no longer."""

_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~$&@]|:(?=//)|(?<=\bGH)-(?=\d)|(?<=\bwww)\.", re.IGNORECASE)
_LINK = re.compile(r"https?://[\w./:-]+(?:#[\w-]+)?", re.ASCII)
_JOINER = "&#8203;"
"""A space of no width; put into a text, it keeps GitHub from making a mention or a link of it."""


@dataclass(frozen=True, slots=True)
class StepAnnotation:
    """One line of a run's annotations: `level` is error, warning or notice."""

    level: str
    title: str
    message: str

    def command(self) -> str:
        """The workflow command that makes this annotation."""
        title = _data(self.title).replace(":", "%3A").replace(",", "%2C")
        return f"::{self.level} title={title}::{_data(self.message)}"


def annotated(report: SweepReport) -> list[StepAnnotation]:
    """The annotations of a report, the most urgent first, and of each level no more than GitHub keeps."""
    kept: dict[str, list[StepAnnotation]] = {"error": [], "warning": [], "notice": []}
    for annotation in _annotations(report):
        kept[annotation.level].append(annotation)
    return [annotation for level in kept.values() for annotation in level[:MOST]]


def _annotations(report: SweepReport) -> Iterator[StepAnnotation]:
    if report.ended:
        yield StepAnnotation("error", "Ended early", one_line(report.ended))
    for problem in report.problems:
        yield StepAnnotation("error", one_line(problem.where), one_line(problem.sentence))
    for note in report.notes:
        yield StepAnnotation("notice", "lifecycle reconcile", one_line(note))
    (_, shown), *_ = words.parted(report)
    for finding in shown:
        if level := words.FORMS[finding.state].level:
            text = short(one_line(f"{finding.evidence} {words.outcome(finding)}"), 2 * CELL)
            yield StepAnnotation(level, f"{words.task_of(finding)} {finding.kind}", text)


def quoted(lines: list[str]) -> list[str]:
    """Lines for the log, between commands that keep the runner from reading commands in them."""
    import secrets  # needed only if commands are kept out of a log

    token = secrets.token_hex(16)
    return [f"::stop-commands::{token}", *lines, f"::{token}::"]


def summary(report: SweepReport, room: int = BYTES) -> str:
    """The step's summary in GitHub's Markdown, of at most `room` bytes; "" if not even a part fits.

    Many findings that were left for one reason are folded; rows without room are counted.
    """
    rows = [_row(finding) for _, findings in words.parted(report) for finding in findings]
    for pull in report.waiting:
        task = f"{_linked(words.pull_name(pull), pull.url)} {escaped(pull.title)}"
        rows.append(f"| {task} | {escaped(words.whom(pull))} | {escaped(pull.why)} |")
    left = room - _size(_text(report, []))
    most = bisect_right([*accumulate(map(_size, rows))], left)
    return _text(report, rows[:most]) if left >= 0 else ""


_FINDINGS = ("", "task", "finding", "what is so", "what is done")
_WAITS = ("pull request", "waits for", "how it stands")


def _text(report: SweepReport, rows: Sequence[str]) -> str:
    """The summary with these rows, which are the first of all."""
    left, cut = iter(rows), len(report.findings) - len(rows)
    account = f"**{escaped(words.totals(report))}** {escaped(words.account(report))}".rstrip()
    lines = ["## lifecycle reconcile", "", account, ""]
    for opened, findings in words.parted(report):
        lines += _block(opened, _FINDINGS, [*islice(left, len(findings))]) if findings else []
    if cut > 0:
        lines += ["", f"{cut:,} more findings do not fit here; `--json` has them all."]
    lines += _waiting(report, [*left]) if report.waiting else []
    return "\n".join([*lines, *_remarks(report), ""])


def _block(opened: str, columns: Sequence[str], rows: Sequence[str]) -> list[str]:
    """A table, folded under `opened` if that is given."""
    table = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *rows]
    if not opened:
        return table
    return ["", f"<details><summary>{escaped(opened)}</summary>", "", *table, "", "</details>"]


def _waiting(report: SweepReport, rows: Sequence[str]) -> list[str]:
    """The section on whom open pull requests wait for; folded if they are many."""
    title, without = words.waiting_head(report), len(report.waiting) - len(rows)
    is_folded = len(report.waiting) > words.WAITING
    lines = ["", "### Whom pull requests wait for", ""]
    lines += [] if is_folded else [escaped(title), ""]
    lines += _block(title if is_folded else "", _WAITS, rows)
    more = ["", f"{without:,} more do not fit here; `--json` has them all."] if without else []
    return lines + more


def write_outputs(report: SweepReport, environment: Mapping[str, str]) -> None:
    """Write the outputs to the step's file, if there is one; raises OSError.

    They are numbers only, so that no text of a stranger is in them.
    """
    if file := environment.get(OUTPUT):
        findings, applied = len(report.findings), report.count(State.APPLIED)
        with Path(file).open("a", encoding="utf-8") as step:
            step.write(f"findings={findings}\napplied={applied}\nfailed={report.failed}\n")


def write_summary(report: SweepReport, environment: Mapping[str, str]) -> None:
    """Write the summary to the step's file, if there is one; raises OSError."""
    if file := environment.get(SUMMARY):
        with Path(file).open("a", encoding="utf-8") as step:
            step.write(summary(report, BYTES - os.fstat(step.fileno()).st_size))


def escaped(text: str, most: int = CELL) -> str:
    """Anybody's text as Markdown that shows it and nothing else.

    It makes no table cell, link, image, tag, mention, reference or formula.
    """
    return _MARKUP.sub(_entity, short(one_line(text), most))


def _entity(match: re.Match[str]) -> str:
    """A character as an HTML entity; a joiner follows one that would make a link with what is next."""
    entity = f"&#{ord(match[0])};"
    return entity + (_JOINER if match[0] in "@#:-." else "")


def _row(finding: Finding) -> str:
    task = _linked(words.task_of(finding), finding.url)
    cells = (
        words.FORMS[finding.state].emoji,
        f"{task} {escaped(finding.title)}",
        f"`{finding.kind}`",
        escaped(finding.evidence),
        f"**{finding.state}** {escaped(words.measure(finding))}",
    )
    return f"| {' | '.join(cells)} |"


def _linked(name: str, url: str) -> str:
    """A name such as `owner/name#42` as a Markdown link to `url`; without a link if that is not plain."""
    if not _LINK.fullmatch(url):
        return escaped(name)
    return f"[{escaped(name).replace(_JOINER, '')}]({url})"


def _remarks(report: SweepReport) -> list[str]:
    lines = words.remarks(report, MANY)
    shown = [f"- {escaped(line, REMARK)}" for line in lines[:MANY]]
    shown += [f"- and {len(lines) - MANY:,} more"] if len(lines) > MANY else []
    if more := len([*_annotations(report)]) - len(annotated(report)):
        kept = f"GitHub keeps {MOST} annotations of each kind for a step"
        shown.append(f"- {kept}: {more:,} more are only here.")
    return ["", *shown] if shown else []


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _size(text: str) -> int:
    """The bytes of a text with the end of its last line."""
    return len(text.encode()) + 1
