"""Whom open pull requests wait for, in words: the same for the terminal, a pipe and the step's summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lifecycle.claim.decisions.pull.merge_standing import Whom
from lifecycle.core.messages.figures import count
from lifecycle.reconcile.finding import SweepReport
from lifecycle.reconcile.waiting_pulls import WaitingPull

SHOWN = 10
"""So many are listed on a screen, and in a summary without being folded."""

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
    """Whom it waits for: `reviewers: maria, octo-org/core`."""
    word = _WHO[pull.whom]
    return f"{word}: {', '.join(pull.names)}" if pull.names else word


def head(report: SweepReport) -> str:
    """How many wait, and for whom: `3 open pull requests wait: 2 for author, 1 for checks`."""
    counts = Counter(pull.whom for pull in report.waiting)
    parts = [f"{counts[whom]:,} for {_WHO[whom]}" for whom in Whom if whom in counts]
    verb = "waits" if len(report.waiting) == 1 else "wait"
    return f"{count(len(report.waiting), 'open pull request')} {verb}: {', '.join(parts)}."


def name(pull: WaitingPull) -> str:
    """`owner/name#46`."""
    return f"{pull.repository}#{pull.number}"


def listed(report: SweepReport) -> tuple[Sequence[WaitingPull], str]:
    """Those that a screen lists, and a line about the others, "" if there are none."""
    rest = len(report.waiting) - SHOWN
    return report.waiting[:SHOWN], f"and {rest:,} more; --json has them all." if rest > 0 else ""


def lines(report: SweepReport) -> list[str]:
    """A line for each, for a pipe or a log; none if no pull request is open."""
    if not report.waiting:
        return []
    pulls, more = listed(report)
    each = [f"  {name(one)} waits for {who(one)}: it {one.why}" for one in pulls]
    return [head(report), *each, *([f"  {more}"] if more else [])]
