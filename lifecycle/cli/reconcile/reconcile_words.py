"""A report in words: its sentences, its lines for a pipe, and Markdown and annotations for GitHub Actions.

Sources: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands (the size of a
summary), https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md (how many annotations are
kept), https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts (how a command's message
and properties are escaped).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, NamedTuple

from lifecycle.claim.record.sections import Whom
from lifecycle.cli.terminal import one_line
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.figures import count
from lifecycle.core.redact import listed, named, short
from lifecycle.reconcile.finding import KINDS, Finding, State, SweepReport, WaitingPull
from lifecycle.settings import resources


class StateForm(NamedTuple):
    """How a finding's state is shown.

    Attributes:
        sign: on a terminal or in a log.
        emoji: in Markdown.
        style: rich's, on a terminal.
        level: of the annotation in GitHub Actions; "" for none, as if left unchanged by rule.
    """

    sign: str
    emoji: str
    style: str
    level: str = ""


FORMS = {
    State.FAILED: StateForm("✗", "❌", "bold red", "error"),
    State.APPLIED: StateForm("✓", "✅", "green", "notice"),
    State.PLANNED: StateForm("→", "➡️", "cyan", "notice"),
    State.OFF: StateForm("○", "⏸️", "yellow", "warning"),
    State.LEFT: StateForm("·", "✋", "dim"),
}
"""The form of each state, in the order in which findings are shown: failed ones first."""

FEW = 5
"""How many names a line lists; further ones are counted."""

ROWS = 3
"""If more findings than that were left for one reason, they are shown as one line."""

WAITING = 10
"""How many pull requests a screen lists, and a summary without folding them."""

_WHO = {
    Whom.AUTHOR: "author",
    Whom.REVIEWERS: "reviewers",
    Whom.MERGE: "somebody who merges",
    Whom.RULE: "a rule of the base",
    Whom.CHECKS: "checks",
    Whom.QUEUE: "the merge queue",
    Whom.AUTO_MERGE: "auto-merge",
}

_AS_ENDED = "For the reason that ended the run."

INPUTS = "In a workflow that is the input token, or app-id and app-private-key."
"""The source of a workflow step's token, after a sentence that asks for one: a step has no shell."""


Fold = tuple[str, list[Finding]]
"""Findings of one kind that were left for one reason, below a line like `moved-by-hand: 68 left: …`."""


def parted(report: SweepReport) -> list[Fold]:
    """The findings to show one by one, in the order of FORMS, below ""; then those left for one reason."""
    rows, few, folds = list[Finding](), list[Finding](), list[Fold]()
    by_reason: dict[tuple[str, str], list[Finding]] = {}
    for finding in sorted(report.findings, key=lambda shown: [*FORMS].index(shown.state)):
        is_left, why = finding.state is State.LEFT, finding.problem
        if _has_ended(report.ended, why):  # it is told there
            why = "" if is_left else _AS_ENDED
        alike = by_reason.setdefault((finding.kind, why), []) if is_left else rows
        alike.append(replace(finding, problem=why))
    for (kind, reason), alike in by_reason.items():
        if len(alike) <= ROWS:
            few += alike
            continue
        names = listed([task_of(finding) for finding in alike], FEW)
        folds.append((f"{kind}: {len(alike):,} left: {names}. {reason}".rstrip(), alike))
    return [("", [*rows, *few]), *folds]


def _has_ended(ended: str, why: str) -> bool:
    """True if this is the reason that ended the run; in a workflow a token's source follows both."""
    return bool(why) and ended.startswith(why.removesuffix(f" {INPUTS}"))


def task_of(finding: Finding) -> str:
    """The name of a finding's task: `owner/name#42`."""
    return f"{finding.repository}#{finding.issue}"


def measure(finding: Finding) -> str:
    """What is done for a finding, and why it was not applied; "" if there is nothing to say."""
    gate = KINDS[finding.kind].gate if finding.state is State.OFF else ""
    why = finding.problem or (f"Needs --{gate}, or {gate}: true in the Action." if gate else "")
    return " ".join(filter(None, (finding.fix, why)))


def outcome(finding: Finding) -> str:
    """The result for a finding: its state, what is done, and why not."""
    state, words = finding.state.capitalize(), measure(finding)
    return f"{state}: {words}" if words else f"{state}."


def totals(report: SweepReport) -> str:
    """How many findings there are, and their results: one sentence."""
    if report.skipped:
        return report.skipped
    if report.findings:
        counts = {state: report.count(state) for state in State}
        parts = [f"{count:,} {state}" for state, count in counts.items() if count]
        return f"{count(len(report.findings), 'finding')}: {', '.join(parts)}."
    is_part = report.is_narrowed or report.ended or not report.repositories
    if report.failed and not report.tasks and is_part:
        return "No issue could be looked at."
    if not report.repositories:
        return "Nothing was looked at: this owner or part has only forks and archived repositories."
    where = " in what could be looked at" if report.failed else ""
    return f"Nothing drifted{where}: {scope_of(report)}."


def scope_of(report: SweepReport) -> str:
    """How much was looked at: issues that are claimed, were claimed, or have a card."""
    none = "no issue that is claimed or has a card"
    issues = count(report.tasks, "issue") if report.tasks else none
    return f"{issues} in {count(report.repositories, 'repository', 'repositories')}"


def account(report: SweepReport) -> str:
    """How much was looked at, at what cost, and that it was a dry run; "" if the run was skipped."""
    if report.skipped:
        return ""
    looked_at = f"{scope_of(report)}; " if report.findings else ""
    written = " A dry run: nothing was written." if report.is_dry_run else ""
    cost = f"{count(report.requests, 'request')}, {count(report.points, 'point')}"
    return f"{looked_at}{cost}.{written}"


def _problems(report: SweepReport) -> Iterable[str]:
    """What could not be looked at, each reason once; without the place if the reason says it."""
    places_of: dict[str, list[str]] = {}
    for problem in report.problems:
        why = _AS_ENDED if _has_ended(report.ended, problem.sentence) else problem.sentence
        places_of.setdefault(why, []).append(problem.where)
    for why, places in places_of.items():
        is_named = len(places) == 1 and places[0] in why
        yield why if is_named else f"{listed(places, FEW)}: {why}"


def remarks(report: SweepReport, most: int = FEW) -> list[str]:
    """The lines below totals and cost: what could not be looked at, what was not reached, and notes.

    `most`: how many names of what was not reached are listed.
    """
    lines = [*_problems(report)]
    lines += [f"Ended early: {report.ended}"] if report.ended else []
    lines += [f"Left for the next run: {listed(report.left, most)}."] if report.left else []
    return lines + [f"Note: {note}" for note in report.notes]


def ending(report: SweepReport) -> list[str]:
    """The lines below the findings: totals, cost, and the remarks."""
    return [*filter(None, (totals(report), account(report))), *remarks(report)]


def whom(pull: WaitingPull) -> str:
    """Whom a pull request waits for: `reviewers: maria, octo-org/core`."""
    word = _WHO[pull.whom]
    return f"{word}: {', '.join(map(named, pull.names))}" if pull.names else word


def waiting_head(report: SweepReport) -> str:
    """How many wait, and for whom: `3 open pull requests wait: 2 for author, 1 for checks`."""
    counts = Counter(pull.whom for pull in report.waiting)
    parts = [f"{counts[whom]:,} for {_WHO[whom]}" for whom in Whom if whom in counts]
    verb = "waits" if len(report.waiting) == 1 else "wait"
    return f"{count(len(report.waiting), 'open pull request')} {verb}: {', '.join(parts)}."


def pull_name(pull: WaitingPull) -> str:
    """The name of a pull request: `owner/name#46`."""
    return f"{pull.repository}#{pull.number}"


def waiting_listed(report: SweepReport) -> tuple[Sequence[WaitingPull], str]:
    """The pull requests that a screen lists, and a line on how many more there are, or ""."""
    more = len(report.waiting) - WAITING
    return report.waiting[:WAITING], f"and {more:,} more; --json has them all." if more > 0 else ""


def waiting_lines(report: SweepReport) -> list[str]:
    """A heading and a line for each waiting pull request, for a pipe or a log; empty if none waits."""
    if not report.waiting:
        return []
    pulls, more = waiting_listed(report)
    rows = [f"  {pull_name(pull)} waits for {whom(pull)}: it {pull.why}" for pull in pulls]
    return [waiting_head(report), *rows, *([f"  {more}"] if more else [])]


def lines(report: SweepReport) -> list[str]:
    """The report for a pipe or a log: a line for each finding and waiting pull request, then the ending."""
    sentences = (*_findings(report), *waiting_lines(report), *ending(report))
    return [one_line(line) for line in sentences]


def _findings(report: SweepReport) -> Iterable[str]:
    (_, rows), *folds = parted(report)
    for finding in rows:
        head = f"{FORMS[finding.state].sign} {task_of(finding)} {finding.kind}:"
        yield " ".join(part for part in (head, finding.evidence, outcome(finding)) if part)
    for head, _ in folds:
        yield f"{FORMS[State.LEFT].sign} {head}"


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
    (_, shown), *_ = parted(report)
    for finding in shown:
        if level := FORMS[finding.state].level:
            text = short(one_line(f"{finding.evidence} {outcome(finding)}"), 2 * CELL)
            yield StepAnnotation(level, f"{task_of(finding)} {finding.kind}", text)


def _page(name: str) -> Any:
    """A template of the summary, which fills in every text of others through `escaped` or `linked`."""
    of_report = {"totals": totals, "account": account, "heading": waiting_head}
    of_rows = {"task": task_of, "measure": measure, "pull": pull_name, "whom": whom}
    filters = {**of_report, **of_rows, "escaped": escaped, "linked": _linked}
    return resources.templates("cli/reconcile/templates", **filters).get_template(name)


def summary(report: SweepReport, room: int = BYTES) -> str:
    """The step's summary in GitHub's Markdown, of at most `room` bytes; "" if not even a part fits.

    Many findings that were left for one reason are folded; rows without room are counted.
    """
    row = _page("rows.md").module
    findings = [finding for _, findings in parted(report) for finding in findings]
    rows = [row.finding(finding, FORMS[finding.state].emoji) for finding in findings]
    rows += map(row.waiting, report.waiting)
    left = room - _size(_text(report, []))
    most = bisect_right([*accumulate(map(_size, rows))], left)
    return _text(report, rows[:most]) if left >= 0 else ""


def _text(report: SweepReport, rows: Sequence[str]) -> str:
    """The summary with these rows, which are the first of all."""
    left, folds = iter(rows), [(opened, len(rows)) for opened, rows in parted(report) if rows]
    tables = [(opened, [*islice(left, size)]) for opened, size in folds]
    about = {"few": WAITING, "many": MANY, "long": REMARK, "most": MOST}
    about["cut"] = len(report.findings) - len(rows)
    about["dropped"] = len([*_annotations(report)]) - len(annotated(report))
    parts = {"tables": tables, "waits": [*left], "remarks": remarks(report, MANY)}
    return str(_page("summary.md").render(report=report, **parts, **about))


def escaped(text: str, most: int = CELL) -> str:
    """Anybody's text as Markdown that shows it and nothing else.

    It makes no table cell, link, image, tag, mention, reference or formula.
    """
    return _MARKUP.sub(_entity, short(one_line(text), most))


def _entity(match: re.Match[str]) -> str:
    """A character as an HTML entity; a joiner follows one that would make a link with what is next."""
    entity = f"&#{ord(match[0])};"
    return entity + (_JOINER if match[0] in "@#:-." else "")


def _linked(name: str, url: str) -> str:
    """A name such as `owner/name#42` as a Markdown link to `url`; without a link if that is not plain."""
    if not _LINK.fullmatch(url):
        return escaped(name)
    return f"[{escaped(name).replace(_JOINER, '')}]({url})"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _size(text: str) -> int:
    """The bytes of a text with the end of its last line."""
    return len(text.encode()) + 1
