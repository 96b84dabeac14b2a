"""The design's "## Retry Context": what a developer gets before another try, from what is recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from lifecycle.core.markdown_table import table
from lifecycle.core.redact import as_data
from lifecycle.run.state import Failure, Story
from lifecycle.run.table import (
    GATES,
    MAX_RETRIES,
    RETRY,
    CheckState,
    CriterionState,
    FailureCategory,
    Gate,
    StoryCheck,
)
from lifecycle.run.texts.design_blocks import filled
from lifecycle.run.trouble.retry_advice import RetryAdvice
from lifecycle.run.trouble.story_failures import recent

SHOWN_FAILURES, SHOWN_FILES = 10, 100


def retry_lines(
    story: Story,
    states: Mapping[StoryCheck, CheckState],
    changed: Sequence[str],
    advice: RetryAdvice,
) -> list[str]:
    """The block for a story.

    Args:
        story: with its failures, gates and reviews.
        states: how its checks stand on the files as they are.
        changed: paths that differ from the commit on which it began.
        advice: whether it is tried again.
    """
    failures = recent(story)
    tried = len({one.iteration for one in failures})
    files = [f"- {as_data(path)}" for path in changed[:SHOWN_FILES]] or ["- none"]
    left = len(changed) - SHOWN_FILES
    return filled(
        "retry",
        story=story,
        title=as_data(story.title),
        iteration=min(tried + 1, MAX_RETRIES),
        most=MAX_RETRIES,
        tried=tried,
        failed=_failed(failures[-SHOWN_FAILURES:]) or ["- Nothing is recorded."],
        fixes=_to_fix(story, failures) or ["- Nothing that is recorded."],
        files=[*files, f"- and {left} more"] if left > 0 else files,
        checks=table(("Check", "Status"), [(check, states[check]) for check in StoryCheck]),
        advice=json.dumps(advice.data),
    )


def _failed(failures: Sequence[Failure]) -> list[str]:
    lines = []
    for one in failures:
        what = f"{one.source} failed" if one.source else RETRY[one.category].description
        lines.append(f"- **{one.category}:** {one.id}: {what} (iteration {one.iteration})")
        if one.file:
            lines.append(f"  - File: {as_data(one.file)}{f':{one.line}' if one.line else ''}")
        lines.append(f"  - Error: {as_data(one.text)}")
    return lines


def _to_fix(story: Story, failures: Sequence[Failure]) -> list[str]:
    """What to do about the last iteration: by gate, by category, by finding, by criterion."""
    last = [one for one in failures if one.iteration == failures[-1].iteration]
    gates = [gate for gate in Gate if any(one.source == gate for one in last)]
    lines = [f"- {gate}: {GATES[gate].on_fail}{_tests(story, gate)}" for gate in gates]
    kinds = [kind for kind in FailureCategory if any(one.category is kind for one in last)]
    lines += [f"- {kind}: {RETRY[kind].fix} ({RETRY[kind].strategy})" for kind in kinds]
    for check in StoryCheck:
        review = story.last_review(check)
        blocking = review.blocking if review is not None else ()
        lines += [f"- {check}: [BLOCKING] {as_data(text)}" for text in blocking]
    unmet = (one for one in story.criteria if one.state is CriterionState.UNMET)
    return [*lines, *(f"- Criterion not met: {as_data(one.text)}" for one in unmet)]


def _tests(story: Story, gate: Gate) -> str:
    """The tests that failed in the last run of this gate."""
    record = story.last_gate(gate)
    names = [name for part in record.parts for name in part.failures] if record is not None else []
    more = f", and {len(names) - 10} more" if len(names) > 10 else ""
    return f": {as_data(', '.join(names[:10]))}{more}" if names else ""
