"""What a run tells when one of the design's five triggers is met: seen from the run before and after."""

from __future__ import annotations

from lifecycle.run import table
from lifecycle.run.state import Blocker, Run

Escalated = tuple[table.EscalationTrigger, str]
"""What was met, and the line that is printed and logged for it."""


def escalations(before: Run, after: Run) -> tuple[Escalated, ...]:
    """What was met by the change from one state of a run to the next, in the table's order."""
    new = after.blockers[len(before.blockers) :]
    trigger = table.EscalationTrigger.FAILED_ITERATIONS
    given_up = [_line(trigger, one) for one in new if one.trigger and not one.failure]
    outside = [_line(table.EscalationTrigger.UNAVAILABLE, one) for one in new if one.failure]
    done, was = len(after.completed_stories), len(before.completed_stories)
    review: list[Escalated] = []
    if done > was and done // table.CHECKPOINT_STORIES > was // table.CHECKPOINT_STORIES:
        text = (
            f"Optional checkpoint: {done} stories are completed (lifecycle run mark-working-state)"
        )
        review = [(table.EscalationTrigger.CHECKPOINT, text)]
    asked: list[Escalated] = []
    fix = after.fix
    if after.status is table.RunStatus.AWAITING_USER and fix is not None and fix != before.fix:
        word = table.TRIGGERS[table.EscalationTrigger.ASKED][1]
        asked = [(table.EscalationTrigger.ASKED, f"{word}: {fix.description}")]
    return (*given_up, *_vulnerabilities(before, after), *review, *outside, *asked)


def escalation_lines(before: Run, after: Run) -> list[str]:
    """The lines of it, for a command to print and to log."""
    return [line for _, line in escalations(before, after)]


def _line(trigger: table.EscalationTrigger, blocker: Blocker) -> Escalated:
    return trigger, f"{table.TRIGGERS[trigger][1]}: {blocker.id}: {blocker.description}"


def _vulnerabilities(before: Run, after: Run) -> list[Escalated]:
    """A line for each story whose security review came to REMEDIATION_NEEDED."""
    known = {story.id: len(story.reviews) for story in before.stories}
    trigger = table.EscalationTrigger.VULNERABILITY
    lines = []
    for story in after.stories:
        for review in story.reviews[known.get(story.id, 0) :]:
            if review.verdict is table.ReviewVerdict.REMEDIATION_NEEDED:
                found = "; ".join(one.text for one in review.findings) or "it says nothing more"
                word = table.TRIGGERS[trigger][1]
                lines.append((trigger, f"{word}: security vulnerability in {story.id}: {found}"))
    return lines
