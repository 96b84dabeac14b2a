"""Failures of a story: their category, the iteration that they end, when to try again or give up.

Iterations are counted by evidence: something failed on one tree, and then on another one; or the same
failure came again on the same tree, and waiting does not help.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from lifecycle.run import table
from lifecycle.run.state import Blocker, Failure, Run, Story
from lifecycle.run.texts.told import LINE, kept_words, line_of
from lifecycle.run.trouble.blockers import added, blocking, standing_still
from lifecycle.settings import resources

EXTERNAL = "External service failures"
"""The reason for no further try if only a person can help, in the design's words."""

_STATUS = r"(?:https?(?:/\d(?:\.\d)?)?|status(?: code)?|error|code|returned|responded with)[ :=]*"
"""A pattern of the text before a number that is an HTTP status, and not a line or a count."""


@cache
def _words() -> tuple[tuple[table.FailureCategory, re.Pattern[str]], ...]:
    """The categories of failures, each with a pattern of its words in `words.toml`."""
    rows: dict[str, list[str]] = resources.texts("run/trouble/words.toml")["failures"]
    words = {kind: "|".join(row).replace("STATUS", _STATUS) for kind, row in rows.items()}
    patterns = {kind: rf"(?i)(?<![\w-])(?:{word})(?!\w)" for kind, word in words.items()}
    return tuple((table.FailureCategory(kind), re.compile(p)) for kind, p in patterns.items())


def category_of(text: str) -> table.FailureCategory:
    """The category of the failure in a message."""
    line = " ".join(text.split())[:LINE]
    kinds = (kind for kind, words in _words() if words.search(line))
    return next(kinds, table.FailureCategory.CODE)


def attempts(story: Story) -> int:
    """Iterations since the story began, or since a person resolved its blocker."""
    return story.iteration - story.retries_from


def recent(story: Story) -> tuple[Failure, ...]:
    """The failures of a story in the iterations that `attempts` counts, the oldest first."""
    return tuple(failure for failure in story.failures if failure.iteration > story.retries_from)


def is_same(first: Failure, second: Failure) -> bool:
    """True if both are the same failure on a known tree that did not change."""
    words = (first.source, first.text, first.tree) == (second.source, second.text, second.tree)
    return bool(words and first.tree)


def failed(
    run: Run,
    story_id: str,
    text: str,
    now: float,
    category: table.FailureCategory | None = None,
    **about: Any,
) -> Run:
    """The run with one more failure of a story; after MAX_RETRIES iterations the story is blocked.

    Args:
        run: the run before.
        story_id: as `S1`.
        text: the error.
        now: the present, in seconds since the epoch.
        category: None to derive it from the text.
        about: more fields of the failure, if they are known: source, tree, file, line.

    Raises:
        Refused: there is no such story, it is completed, or the text is empty.
    """
    words = line_of(kept_words(text), "a failure")
    story = run.open_story(story_id, "story-over")
    kind = category or category_of(words)
    count = sum(len(other.failures) for other in run.stories) + 1
    failure = Failure(f"F{count}", kind, words, now, **about)
    failure = failure.but(iteration=_iteration(story, failure))
    reached = max(story.iteration, failure.iteration)
    story = story.but(failures=(*story.failures, failure), iteration=reached)
    run, escalated = run.with_story(story), {"story": story.id, "trigger": table.ESCALATION}
    if table.RETRY[kind].escalates and not blocking(run, "", story.id):
        run = added(run, words, "high", now, **escalated, failure=failure.id)
    if attempts(story) < table.MAX_RETRIES or story.status is table.StoryStatus.BLOCKED:
        return run
    last = f"{story.id} failed in {table.MAX_RETRIES} iterations; last: [{kind}] {words}"
    return standing_still(added(run, last, "high", now, **escalated), story, now)


def _iteration(story: Story, failure: Failure) -> int:
    """The iteration that this failure ends: the one under way, or one more."""
    if attempts(story) < 1:
        return story.retries_from + 1
    before = [earlier for earlier in recent(story) if earlier.iteration == story.iteration]
    is_again = any(is_same(failure, earlier) for earlier in before)
    is_changed = any(earlier.tree != failure.tree for earlier in before)
    waits = bool(table.RETRY[failure.category].backoff)
    return story.iteration + ((is_again and not waits) or is_changed)


def backoff(category: table.FailureCategory, count: int) -> int:
    """Seconds to wait after so many failures of this category: each further one doubles the wait."""
    doubled: int = table.RETRY[category].backoff << max(0, count - 1)
    return min(doubled, table.BACKOFF_LIMIT) if count > 0 else 0


def advice(story: Story, tree: str = "") -> dict[str, Any]:
    """What to do after the story's last failures, as the design's JSON: wait and retry, or escalate.

    Args:
        story: the story, with its failures.
        tree: the current tree; "" if not known.
    """
    failures = recent(story)
    last = [failure for failure in failures if failure.iteration == failures[-1].iteration]
    if reason := _no_retry(story, failures, last, tree):
        return {"should_retry": False, "escalate": True, "reason": reason}
    kinds = [failure.category for failure in failures]
    waits = (backoff(failure.category, kinds.count(failure.category)) for failure in last)
    return {"should_retry": True, "backoff_seconds": max(waits, default=0)}


def _no_retry(story: Story, failures: tuple[Failure, ...], last: list[Failure], tree: str) -> str:
    """Why the story is not tried again; "" if it is."""
    count = max((failure.iteration - story.retries_from for failure in failures), default=0)
    if count >= table.MAX_RETRIES:
        return f"MAX_RETRIES reached: {count} iterations failed"
    if story.status is table.StoryStatus.BLOCKED:
        return f"{story.id} is blocked, and a person is needed"
    if any(table.RETRY[failure.category].escalates for failure in last):
        return EXTERNAL
    if not failures or tree not in ("", failures[-1].tree):
        return ""
    latest = failures[-1]
    before = sum(is_same(failure, latest) for failure in failures) - 1
    # If waiting is the remedy, it is stuck only after the longest wait did not help.
    if before < 1 or backoff(latest.category, before) not in (0, table.BACKOFF_LIMIT):
        return ""
    times = "twice" if before == 1 else f"{before + 1} times"
    return f"Stuck: the same failure came {times} on an unchanged tree: {latest.text[:200]}"


def escalation_lines(before: Run, after: Run) -> list[str]:
    """A line to print and to log for each trigger that a change of a run fires, in the table's order."""
    met = table.EscalationTrigger
    new = after.blockers[len(before.blockers) :]
    given_up = [blocker for blocker in new if blocker.trigger and not blocker.failure]
    is_asked = after.status is table.RunStatus.AWAITING_USER
    rows = [(met.FAILED_ITERATIONS, _named(blocker, is_asked)) for blocker in given_up]
    known = {story.id: len(story.reviews) for story in before.stories}
    for story in after.stories:
        for review in story.reviews[known.get(story.id, 0) :]:
            if review.verdict is table.ReviewVerdict.REMEDIATION_NEEDED:
                texts = "; ".join(finding.text for finding in review.findings)
                about = f"{story.id}: {texts or 'it says nothing more'}"
                rows.append((met.VULNERABILITY, f"security vulnerability in {about}"))
    done, was = len(after.completed_stories), len(before.completed_stories)
    if done // table.CHECKPOINT_STORIES > was // table.CHECKPOINT_STORIES:
        text = f"{done} stories are completed (lifecycle run mark-working-state)"
        rows.append((met.CHECKPOINT, text))
    rows += [(met.UNAVAILABLE, _named(blocker, is_asked)) for blocker in new if blocker.failure]
    fix = after.fix
    if after.status is table.RunStatus.AWAITING_USER and fix is not None and fix != before.fix:
        rows.append((met.ASKED, fix.description))
    words = {row: word or action for row, (action, word) in table.TRIGGERS.items()}
    return [f"{words[row]}: {text}" for row, text in rows]


def _named(blocker: Blocker, is_asked: bool) -> str:
    """A blocker, and how to ask the user about it; nothing of that if the user `is_asked` already."""
    ask = f'; to ask the user: lifecycle run await-user-fix {blocker.id} "WHAT TO FIX"'
    return f"{blocker.id}: {blocker.description}{'' if is_asked else ask}"
