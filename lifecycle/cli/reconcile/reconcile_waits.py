"""Whom open pull requests wait for, in words: the same for the terminal, a pipe and the step's summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lifecycle.claim.decisions.pull.merge_standing import Whom
from lifecycle.core.messages.figures import count
from lifecycle.reconcile.finding import SweepReport
from lifecycle.reconcile.waiting_pulls import WaitingPull

SHOWN = 10
"""How many pull requests a screen lists, and a summary without folding them."""

_WHO = {
    Whom.AUTHOR: "author",
    Whom.REVIEWERS: "reviewers",
    Whom.MERGE: "somebody to merge it",
    Whom.RULE: "a rule of its base",
    Whom.CHECKS: "checks",
    Whom.QUEUE: "the merge queue",
    Whom.AUTO_MERGE: "auto-merge",
}


def who(pull: WaitingPull) -> str:
    """Whom a pull request waits for: `reviewers: maria, octo-org/core`."""
    word = _WHO[pull.whom]
    return f"{word}: {', '.join(pull.names)}" if pull.names else word


def head(report: SweepReport) -> str:
    """How many wait, and for whom: `3 open pull requests wait: 2 for author, 1 for checks`."""
    counts = Counter(pull.whom for pull in report.waiting)
    parts = [f"{counts[whom]:,} for {_WHO[whom]}" for whom in Whom if whom in counts]
    verb = "waits" if len(report.waiting) == 1 else "wait"
    return f"{count(len(report.waiting), 'open pull request')} {verb}: {', '.join(parts)}."


def name(pull: WaitingPull) -> str:
    """The name of a pull request: `owner/name#46`."""
    return f"{pull.repository}#{pull.number}"


def listed(report: SweepReport) -> tuple[Sequence[WaitingPull], str]:
    """The pull requests that a screen lists, and a line on how many more there are, or ""."""
    more = len(report.waiting) - SHOWN
    return report.waiting[:SHOWN], f"and {more:,} more; --json has them all." if more > 0 else ""


def lines(report: SweepReport) -> list[str]:
    """A heading and a line for each waiting pull request, for a pipe or a log; empty if none waits."""
    if not report.waiting:
        return []
    pulls, more = listed(report)
    rows = [f"  {name(pull)} waits for {who(pull)}: it {pull.why}" for pull in pulls]
    return [head(report), *rows, *([f"  {more}"] if more else [])]
