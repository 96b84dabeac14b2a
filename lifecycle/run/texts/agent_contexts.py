"""The contexts for agents: a developer before another try or after a blocker, and a story's reviewer.

They are made from records only. A reviewer's context does not say how the work was done: reviewers judge by
the files and the logs, not by anybody's account.
"""

from __future__ import annotations

import json

from lifecycle.core import markdown_table
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.redact import few
from lifecycle.core.timing import render_time
from lifecycle.run import table
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.gates.reviews import standing
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.run.texts.told import Answer, drawn
from lifecycle.run.trouble.story_failures import advice, recent

RECENT = 5
"""How many recently resolved blockers are shown."""


def retry(story: Story, facts: WorkFacts) -> Answer:
    """What a developer gets before another try at a story.

    Args:
        story: the story, with its failures, gates and reviews.
        facts: the worktree's facts, with `changed` since the commit on which it began.
    """
    failures, advised = recent(story), advice(story, facts.tree)
    states = check_states(story, facts.tree)
    last = [failure for failure in failures if failure.iteration == failures[-1].iteration]
    reviews = ((check, newest(story.reviews, check)) for check in table.StoryCheck)
    lines = drawn(
        "retry",
        story=story,
        most=table.MAX_RETRIES,
        tried=len({failure.iteration for failure in failures}),
        failures=failures,
        policies=table.RETRY,
        gates=table.GATES,
        sources={failure.source for failure in last},
        failing={record.gate: _failing(record) for record in story.gates},
        kinds={failure.category for failure in last},
        blocking=[(check, text) for check, review in reviews if review for text in review.blocking],
        files=facts.changed,
        checks=markdown_table.table(("Check", "Status"), [*states.items()]),
        advice=json.dumps(advised),
    )
    data = {"story": story.id, "files": facts.changed, "checks": states}
    return lines, {**data, "recommendation": advised, "text": lines}


def _failing(record: GateRecord) -> str:
    """The tests that failed in a run of a gate."""
    return few((name for part in record.parts for name in part.failures), 10, more=", and {} more")


def resuming(run: Run) -> Answer:
    """What a developer gets after a blocker: everything that was resolved since a session last continued.

    The data, the design's JSON, have the blockers that were resolved last.
    """
    # The story at work; else the one that was waited for, if it is open; else the next one.
    waited_for = (story for story in run.open_stories if run.fix and story.id == run.fix.story)
    story = run.at_work or next(waited_for, run.current)
    # The newest last; those that never blocked are left out.
    by_end = sorted(enumerate(run.blockers), key=lambda pair: pair[1].resolved_at)
    resolved = [pair for pair in by_end if pair[1].resolved_at > pair[1].at][-RECENT:]
    steps = drawn("steps", run=run, story=story)
    named = {"id": "id", "title": "title", "status": "status"}
    data = {
        **fields_of(run, workflow_id="id", goal="goal", current_phase="phase"),
        "recently_resolved_blockers": [
            {"index": n, "description": old.description, "resolvedAt": render_time(old.resolved_at)}
            for n, old in resolved
        ],
        "current_story": story and fields_of(story, **named, tdd_phase="tdd", attempts="iteration"),
        "resume_instructions": steps,
    }
    news = [blocker for _, blocker in resolved if blocker.resolved_at > run.led_on_at]
    if not news:
        return ["No blocker was resolved since a session last went on.", *steps], data
    last = story.failures[-3:] if story is not None else ()
    failures = "; ".join(f"{entry.id} [{entry.category}] {entry.text}" for entry in last)
    about = {"story": story, "failures": failures, "fix": run.fix}
    return drawn("resuming", resolved=news, steps=steps, **about), data


def review_lines(story: Story, diff: str, stat: str) -> list[str]:
    """The lines that a reviewer gets on one story.

    Args:
        story: the story, with its proofs.
        diff: the path, below the worktree, of the file with the diff since it began.
        stat: git's summary of the diff's size; "" if nothing changed.
    """
    blocking = {check: [*standing(story, check)] for check in table.StoryCheck}
    return drawn("review", story=story, diff=diff, stat=stat, blocking=blocking)
