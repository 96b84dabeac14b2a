"""The long texts of a run: status, report, what a session keeps; what its agents and its pull request get.

Agents are a developer before another try or after a blocker, and a story's reviewer. Their contexts are
made from records only: a reviewer's does not say how the work was done, since reviewers judge by the files
and the logs. An answer is made at once as lines and as data for `--json`. In a pull request's text only
records check a box, and the changes are grouped by folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from lifecycle.core import hidden_marker
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.redact import listed, redact, short, visible
from lifecycle.core.timing import render_time
from lifecycle.run import table
from lifecycle.run.gates import reviews
from lifecycle.run.gates.gate_rules import check_states, lint_left, review_state, unmet
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, spent, tier
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.run.table import MAX_RETRIES, WORKING, Severity, StoryStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import Answer, drawn
from lifecycle.run.trouble.story_failures import advice, attempts, recent

_LISTED = 20
"""How many stories of a kind are named; the others are counted."""

_RECENT = 5


def reported(run: Run, now: float) -> Run:
    """The run with a report recorded as given now."""
    return run.but(reported_at=now, reported_stories=len(run.completed_stories))


def report(run: Run, facts: WorkFacts, now: float) -> Answer:
    """The report on the run in its present state, finished or not.

    It names the stories that were completed since the last report; at least the last few.

    Args:
        run: the run, before the report is recorded.
        facts: what git shows of the worktree.
        now: the present.
    """
    statuses = [story.status for story in run.stories]
    done = sorted(run.completed_stories, key=lambda story: story.completed)
    since = max(len(done) - run.reported_stories, _RECENT)
    recent, story = done[-min(since, 4 * _RECENT) :], run.current
    data = {
        **fields_of(run, workflow="goal", workflow_id="id", iteration="iterations"),
        "runtime_seconds": int(runtime(run, now)),
        "spent": standing.receipt_line(run, now),
        "stories": {
            "Completed": statuses.count(StoryStatus.COMPLETED),
            "In Progress": sum(status in WORKING for status in statuses),
            "Pending": statuses.count(StoryStatus.PENDING),
            "Blocked": statuses.count(StoryStatus.BLOCKED),
        },
        "recently_completed": [entry.id for entry in recent],
        "current_story": story and story.id,
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": standing.steps(reported(run, now), facts, now),
    }
    about = {"runtime": runtime(run, now), "recent": recent, "story": story, "tree": facts.tree}
    about |= {"standing": standing, "attempts": attempts, "most": MAX_RETRIES}
    return drawn("report", run=run, data=data, **about), data


def context(run: Run, facts: WorkFacts, now: float) -> Answer:
    """What is worth keeping: goal, clarifications, the current story in full, the others in short.

    Completed stories are kept with design and files; in the longest runs only as a summary.
    """
    row, done, story = tier(run, now), run.completed_stories, run.current
    later = [other for other in run.open_stories if other != story]
    whole = story and drawn("story", story=story, tree=facts.tree, standing=standing)
    data = {
        **fields_of(run, "goal", "phase", workflow_id="id"),
        "tier": row.name,
        "clarifications": [fields_of(entry, "question", "answer") for entry in run.clarifications],
        "current_story": story and {"id": story.id, "text": whole},
        "completed": drawn("kept", stories=done[-_LISTED:], is_full=row.keeps_full),
        "completed_count": len(done),
        "later": [other.id for other in later[:_LISTED]],
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": standing.steps(run, facts, now),
    }
    about = {"tier": row, "runtime": runtime(run, now), "later": later, "most": _LISTED}
    return drawn("context", run=run, data=data, whole=whole, standing=standing, **about), data


def compacted(run: Run, now: float) -> Run:
    """The run without data that no later step needs; unchanged except in the longest runs.

    Completed stories keep the newest record of each gate and review, and the proofs of RED and GREEN;
    lists of tests, texts of failures, logs and remarks are removed.
    """
    if tier(run, now).keeps_full:
        return run
    stories = (story if story.is_open else _slimmed(story) for story in run.stories)
    return run.but(stories=tuple(stories))


def _slimmed(story: Story) -> Story:
    gates = {record.gate: record for record in story.gates}
    for gate, record in gates.items():
        parts = tuple(part.but(log="", failures=()) for part in record.parts)
        gates[gate] = record.but(parts=parts)
    reviews = {record.check: record for record in story.reviews}
    for check, review in reviews.items():
        findings = (entry for entry in review.findings if entry.severity is not Severity.INFO)
        reviews[check] = review.but(findings=tuple(findings))
    kept = {"gates": tuple(gates.values()), "reviews": tuple(reviews.values())}
    red, green = (proof and proof.but(files={}) for proof in (story.red, story.green))
    return story.but(words=(), failures=(), red=red, green=green, **kept)


MOST: Final = 40
"""How many stories are shown by default: those at work, blocked and next come first."""

_NEAR: Final = (*WORKING, StoryStatus.BLOCKED, StoryStatus.PENDING, StoryStatus.COMPLETED)


def status(run: Run, facts: WorkFacts, now: float, *, written: float, every: bool) -> Answer:
    """The run in its present state, story by story.

    Args:
        run: the run.
        facts: what git shows of the worktree; checks and gates are shown for its tree.
        now: the present.
        written: when the run's file was written; 0.0 if not known.
        every: show all stories.
    """
    near = sorted(run.stories, key=lambda story: _NEAR.index(story.status))
    shown = {story.id for story in near[: None if every else MOST]}
    stories = [story for story in run.stories if story.id in shown]
    data = {
        **fields_of(run, "goal", "phase", "status", "why", workflow_id="id"),
        "runtime_seconds": int(runtime(run, now)),
        "tier": tier(run, now).name,
        "spent": standing.receipt_line(run, now),
        "stories_completed": len(run.completed_stories),
        "stories_total": len(run.stories),
        "stories": [_story_data(story, facts.tree) for story in stories],
        "removed": [fields_of(story, "id", "title", reason="unneeded") for story in run.removed],
        "blockers": [
            {"index": run.blockers.index(blocker), **fields_of(blocker, "id", "description")}
            for blocker in run.standing_blockers
        ],
        "next_steps": standing.steps(run, facts, now),
        "notes": standing.notes(run, now, written),
        "pull_request": run.pull_request or None,
    }
    about = {"runtime": runtime(run, now), "stories": stories, "tree": facts.tree, "unmet": unmet}
    about |= {"last": {record.gate: record for record in run.gates}}
    return drawn("status", run=run, data=data, standing=standing, **about), data


def _story_data(story: Story, tree: str) -> dict[str, Any]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        **fields_of(story, "iteration", "depends_on", tdd_phase="tdd"),
        "checks": standing.checks_of(story, tree),
        "gates": standing.gates_of(story, tree),
        "criteria": [criterion.state for criterion in story.criteria],
    }


def retry(story: Story, facts: WorkFacts) -> Answer:
    """What a developer gets before another try at a story.

    Args:
        story: the story, with its failures, gates and reviews.
        facts: the worktree's facts, with `changed` since the commit on which it began.
    """
    failures, advised = recent(story), advice(story, facts.tree)
    states = check_states(story, facts.tree)
    last = [failure for failure in failures if failure.iteration == failures[-1].iteration]
    tried = len({failure.iteration for failure in failures})
    about = {"failures": failures, "last": last, "tried": tried, "newest": newest, "table": table}
    about |= {"files": facts.changed, "checks": states, "advice": json.dumps(advised)}
    lines = drawn("retry", story=story, **about)
    data = {"story": story.id, "files": facts.changed, "checks": states}
    return lines, {**data, "recommendation": advised, "text": lines}


def resuming(run: Run) -> Answer:
    """What a developer gets after a blocker: everything that was resolved since a session last continued.

    The data, the design's JSON, have the blockers that were resolved last.
    """
    # The story at work; else the one that was waited for, if it is open; else the next one.
    waited_for = (story for story in run.open_stories if run.fix and story.id == run.fix.story)
    story = run.at_work or next(waited_for, run.current)
    # The newest last; those that never blocked are left out.
    by_end = sorted(enumerate(run.blockers), key=lambda pair: pair[1].resolved_at)
    resolved = [pair for pair in by_end if pair[1].resolved_at > pair[1].at][-_RECENT:]
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
    return drawn("resuming", resolved=news, steps=steps, story=story, fix=run.fix), data


def review_lines(story: Story, diff: str, stat: str) -> list[str]:
    """The lines that a reviewer gets on one story.

    Args:
        story: the story, with its proofs.
        diff: the path, below the worktree, of the file with the diff since it began.
        stat: git's summary of the diff's size; "" if nothing changed.
    """
    return drawn("review", story=story, diff=diff, stat=stat, reviews=reviews, table=table)


BODY_LIMIT = 60_000
"""Characters of the run's part: GitHub takes 65,536, and the text around it needs some."""


def summary_of(run: Run) -> str:
    """The goal in one short line."""
    line = (run.goal.strip() or run.id).splitlines()[0]
    return short(" ".join(line.split()), 100)


def with_section(body: str, run: Run, section: str) -> str:
    """A pull request's text with the run's part, which replaces an earlier one or is appended."""
    begin, end = (hidden_marker.of(kind, id=run.id) for kind in ("run", "run-end"))
    part = f"{begin}\n{section.strip()}\n{end}"
    earlier = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if earlier.search(body):
        return earlier.sub(lambda _: part, body, count=1)
    return f"{body.rstrip()}\n\n{part}" if body.strip() else part


def body_of(run: Run, files: Iterable[str], now: float, facts: WorkFacts) -> str:
    """The run's part of a pull request's text, in Markdown.

    Args:
        run: the run, completed or not.
        files: the paths that have changed since the run began.
        now: the present.
        facts: the worktree's facts, with the changes that no review has read.
    """
    pending = GateRecord(table.Gate.G7, now, table.CheckState.PENDING)
    gate = newest(run.gates, table.Gate.G7, facts.tree) or pending
    done, state = run.completed_stories, table.CriterionState
    criteria = [(story, entry) for story in run.stories for entry in story.criteria]
    secured = [story for story in done if story.security]
    lines = drawn(
        "pull",
        run=run,
        facts=facts,
        changes=grouped(files),
        final=gate,
        newest=newest,
        table=table,
        is_read=_are_approved(done, table.StoryCheck.REVIEW_APPROVED),
        is_safe=_are_approved(secured, table.StoryCheck.SECURITY_CLEARED),
        are_met=bool(criteria) and all(entry.state is state.MET for _, entry in criteria),
        lint=lint_left(run),
        manual=[pair for pair in criteria if pair[1].state is state.MANUAL],
        took=spent(run, now),
    )
    shown = "\n".join(visible(line) for line in redact("\n".join(lines)).splitlines())
    return shown.replace("<!--", "&lt;!--")[:BODY_LIMIT]  # no other text may end or begin our part


def _are_approved(stories: Iterable[Story], check: table.StoryCheck) -> bool:
    return all(review_state(story, check, None) is table.CheckState.PASS for story in stories)


_GROUPS, _FILES = 20, 8


def grouped(paths: Iterable[str]) -> list[str]:
    """A line for each folder, with the names of its files."""
    groups: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: path.split("/")):
        folder, slash, name = path.rpartition("/")
        groups.setdefault(f"`{folder}/`" if slash else "the top folder", []).append(f"`{name}`")
    lines = [f"- {folder}: {listed(files, _FILES)}" for folder, files in groups.items()]
    left = len(lines) - _GROUPS
    return [*lines[:_GROUPS], *([f"- and {left} more folders"] if left > 0 else [])]
