"""Reviews: a reviewer's findings by severity, and the verdict of a review of a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lifecycle.core.redact import redact, visible
from lifecycle.run import table
from lifecycle.run.state import ReviewFinding, ReviewRecord, Run, Story, newest
from lifecycle.run.texts.told import refused
from lifecycle.run.trouble.story_failures import failed

LONGEST = 2_000
"""Characters of a finding."""


_HEADING = re.compile(r"\s*(?:#{1,6}\s+|\*\*)(?P<text>.+)")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•]|\d+[.)])\s+(?P<text>.+)")
_TAG = re.compile(r"[*_`]*\[?[*_]*(?P<name>BLOCKING|SUGGESTIONS?|INFO)\b[*_]*\]?[*_`]*\s*[:-]?\s*")
_BRACKETED = re.compile(r"(?i)[*_`]*\[(?P<name>BLOCKING|SUGGESTIONS?|INFO)\][*_`]*\s*[:-]?\s*")
_NOTHING = re.compile(
    r"(?i)[(*_]*(?:none|nothing|n/?a|-|no (?:blocking )?(?:issues|findings|suggestions)?(?: found)?)[.)*_]*"
)


def findings_in(report: str) -> tuple[ReviewFinding, ...]:
    """What a report finds: the items of its sections by severity, and every line that is marked.

    An item without a mark has its section's severity; a more indented line continues the last item.
    """
    findings: list[ReviewFinding] = []
    section: table.Severity | None = None
    goes_on = False
    for line in report.splitlines():
        item, heading = _ITEM.fullmatch(line), _HEADING.fullmatch(line)
        text = item["text"] if item else line.strip()
        tag = _BRACKETED.match(text) or (_TAG.match(text) if item else None)
        if tag:
            findings.append(_finding(_severity(tag["name"]), text[tag.end() :]))
            goes_on = True
        elif heading:
            named = _TAG.match(heading["text"].strip())
            section, goes_on = _severity(named["name"]) if named else None, False
        elif item and section is not None and not (goes_on and item["indent"]):
            goes_on = not _NOTHING.fullmatch(text.strip())
            if goes_on:
                findings.append(_finding(section, text))
        elif goes_on and line[:1].isspace() and text:
            findings[-1] = _finding(findings[-1].severity, f"{findings[-1].text} {text}")
        elif not text:
            goes_on = False
    return tuple(finding for finding in findings if finding.text)


def _severity(name: str) -> table.Severity:
    return table.Severity(name.upper().removesuffix("S"))


def _finding(severity: table.Severity, text: str) -> ReviewFinding:
    return ReviewFinding(severity, visible(redact(" ".join(text.split())))[:LONGEST])


def marked(texts: Iterable[str]) -> tuple[ReviewFinding, ...]:
    """Findings that were given one by one, each with its severity before it.

    Raises:
        Refused: a finding has no severity.
    """
    findings = []
    for text in map(str.strip, texts):
        tag = _BRACKETED.match(text)
        if tag is None:
            raise refused("finding-without-severity", text=visible(text)[:80])
        findings.append(_finding(_severity(tag["name"]), text[tag.end() :]))
    return tuple(findings)


def counted(record: ReviewRecord) -> ReviewRecord:
    """A review with the verdict that counts: only BLOCKING findings refuse, whatever the reviewer said.

    Raises:
        Refused: reviewers for this check do not give this verdict, or the tree is not known.
    """
    role = table.ROLES[record.check]
    _, *verdicts = table.REVIEWERS[role]
    if record.verdict not in verdicts:
        either = " or ".join(verdicts)
        raise refused("verdict-of-another", role=role, verdicts=either, verdict=record.verdict)
    if not record.tree:
        raise refused("review-without-tree")
    return record.but(verdict=verdicts[bool(record.blocking)]) if record.findings else record


def standing(story: Story, check: table.StoryCheck) -> dict[str, str]:
    """The BLOCKING findings that no review called resolved, each with the last tree that had it."""
    stand = (review for review in story.standing_reviews if review.check is check)
    return {text: review.tree for review in stand for text in review.blocking}


def resolved_in(report: str) -> tuple[int, ...]:
    """The numbers of open findings that a report calls resolved, as "RESOLVED: 1, 2"."""
    lines = re.findall(r"^[\W_]*RESOLVED\W+(\d[\d, ]*)", report, re.MULTILINE | re.IGNORECASE)
    return tuple(int(number) for line in lines for number in re.findall(r"\d+", line))


def reviewed(
    run: Run, story: Story, record: ReviewRecord, *, is_word: bool, resolved: Iterable[int] = ()
) -> Run:
    """Add a review to a story of the run; one that refuses adds failures, too.

    Args:
        run: the run before the review.
        story: the story's id.
        record: the review.
        is_word: the verdict was given in a line, without a report.
        resolved: the numbers of open findings that the review calls resolved.

    Raises:
        Refused: the story was not begun, the run is over or stopped, or an earlier finding is still open.
    """
    run.demand_open()
    if story.status is table.StoryStatus.PENDING:
        raise refused("review-not-begun", story=story)
    last = newest(story.reviews, record.check, record.tree)
    is_approved = record.verdict in table.APPROVING
    # Nothing is approved that was BLOCKING on these very files, or that is not called resolved.
    open_findings = standing(story, record.check) if is_approved else {}
    same = [text for text, tree in open_findings.items() if tree == record.tree]
    if same:
        raise refused("blocking-here", same=same[0][:200])
    left = {n: f"{n}. {text[:200]}" for n, text in enumerate(open_findings, 1) if n not in resolved}
    if left:
        by = table.ROLES[record.check]
        way = f"review {story.id} --by {by} --verdict {record.verdict} --resolved {min(left)}"
        raise refused("blocking-stands", left=[*left.values()], way=way)
    if is_word and is_approved and last is not None and last.verdict not in table.APPROVING:
        raise refused("word-lifts-nothing", last=last, story=story)
    run = run.with_story(story.but(reviews=(*story.reviews, record)))
    if is_approved or not story.is_open:
        return run
    source = "security" if record.check is table.StoryCheck.SECURITY_CLEARED else "review"
    for text in record.blocking or [f"{record.verdict} without a finding"]:
        run = failed(run, story.id, text, record.at, source=source, tree=record.tree)
    return run
