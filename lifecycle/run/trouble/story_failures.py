"""Failures of a story: their category, the iteration that they end, and when a story is given up.

An iteration is counted by what is seen: something failed on a tree, and then on another one; or the same
failure came again on the same tree, where waiting is no remedy.
"""

from __future__ import annotations

import re
from functools import cache

from lifecycle.core.redact import visible
from lifecycle.run.state import Failure, Run, Story
from lifecycle.run.table import ESCALATION, MAX_RETRIES, RETRY, FailureCategory, StoryStatus
from lifecycle.run.texts.told import LINE, kept_words, line_of, refused
from lifecycle.run.trouble import story_blocks
from lifecycle.run.trouble.story_blocks import BLOCKING
from lifecycle.settings import resources

_STATUS = r"(?:https?(?:/\d(?:\.\d)?)?|status(?: code)?|error|code|returned|responded with)[ :=]*"
"""What stands before a number that is a status of HTTP, and no line and no count."""


@cache
def _words() -> tuple[tuple[FailureCategory, re.Pattern[str]], ...]:
    """By category, the words of `words.toml` that tell of it."""
    rows: dict[str, list[str]] = resources.texts("run/trouble/words.toml")["failures"]
    words = {kind: "|".join(row).replace("STATUS", _STATUS) for kind, row in rows.items()}
    return tuple(
        (FailureCategory(kind), re.compile(rf"(?<![\w-])(?:{word})(?!\w)", re.IGNORECASE))
        for kind, word in words.items()
    )


def category_of(text: str) -> FailureCategory:
    """What kind of failure a message tells of."""
    line = " ".join(text.split())[:LINE]
    return next((kind for kind, words in _words() if words.search(line)), FailureCategory.CODE)


def attempts(story: Story) -> int:
    """Iterations since the story began, or since a person resolved what it was given up for."""
    return story.iteration - story.retries_from


def recent(story: Story) -> tuple[Failure, ...]:
    """The failures since then, the oldest first."""
    return tuple(one for one in story.failures if one.iteration > story.retries_from)


def is_same(first: Failure, second: Failure) -> bool:
    """True if it is the same failure on a tree that is known and did not change."""
    words = (first.source, first.text, first.tree) == (second.source, second.text, second.tree)
    return bool(words and first.tree)


def failed(
    run: Run,
    story_id: str,
    text: str,
    now: float,
    category: FailureCategory | None = None,
    *,
    source: str = "",
    tree: str = "",
    file: str = "",
    line: int = 0,
) -> Run:
    """The run with one more failure of a story; after MAX_RETRIES iterations the story is blocked.

    Args:
        run: before.
        story_id: as `S1`.
        text: the error.
        now: the present, in seconds since the epoch.
        category: None to tell it from the text.
        source: the gate or review that failed; "" if somebody told it.
        tree: the tree that it failed on; "" if that is not known.
        file: where, if it is known.
        line: of that file; 0 if nobody knows.

    Raises:
        Refused: there is no such story, it is completed, or the text is empty.
    """
    story = run.story(story_id)
    words = line_of(kept_words(text), "a failure")
    if not story.is_open:
        raise refused("story-over-failed", story=story)
    kind = category or category_of(words)
    failure = Failure(
        f"F{sum(len(one.failures) for one in run.stories) + 1}",
        kind, words, now, tree, source, visible(file)[:500], max(line, 0),
    )  # fmt: skip
    failure = failure.but(iteration=_iteration(story, failure))
    story = story.but(
        failures=(*story.failures, failure),
        iteration=max(story.iteration, failure.iteration),
    )
    return _escalated(run.with_story(story), story, failure)


def _escalated(run: Run, story: Story, failure: Failure) -> Run:
    """The run with the blockers that a story's last failure leads to."""

    def logged(text: str, of: str = "") -> Run:
        return story_blocks.added(
            run, text, "high", failure.at, story.id, trigger=ESCALATION, failure=of
        )

    if RETRY[failure.category].escalates and not _is_logged(run, story):
        run = logged(failure.text, failure.id)
    if attempts(story) < MAX_RETRIES or story.status is StoryStatus.BLOCKED:
        return run
    last = f"[{failure.category}] {failure.text}"
    run = logged(f"{story.id} failed in {MAX_RETRIES} iterations; last: {last}")
    return story_blocks.standing_still(run, story, failure.at)


def _is_logged(run: Run, story: Story) -> bool:
    """True if a blocker that weighs something stands before the story or the run already."""
    return any(
        one.story in ("", story.id) and one.severity in BLOCKING for one in run.standing_blockers
    )


def _iteration(story: Story, failure: Failure) -> int:
    """The iteration that this failure ends: the one under way, or one more."""
    if attempts(story) < 1:
        return story.retries_from + 1
    before = [one for one in recent(story) if one.iteration == story.iteration]
    is_again = any(is_same(failure, one) for one in before) and not RETRY[failure.category].backoff
    is_changed = bool(before) and before[-1].tree != failure.tree
    return story.iteration + (is_again or is_changed)
