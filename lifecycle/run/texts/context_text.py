"""What a session keeps of a run in its context, by how long the run lasts; and what subagents are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from lifecycle.core.redact import quoted
from lifecycle.platforms import platform_tables
from lifecycle.platforms.selection import Detection
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, tier
from lifecycle.run.state import GateRecord, ReviewRecord, Run, Story
from lifecycle.run.table import Severity
from lifecycle.run.texts import run_words
from lifecycle.run.texts.design_blocks import filled, numbered

_LISTED = 20
"""Stories of a kind that are named; of the others the number."""

_FAILURES = 3

_OPEN = "(open: nobody has answered it)"


def context_lines(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """What is worth keeping: the goal, what was clarified, the current story whole, the others in short.

    Completed stories are kept with design and files, in the longest runs as a summary only.
    """
    row = tier(run, now)
    done, later = run.completed_stories, _later(run)
    blockers = [f"- {run_words.blocker_line(run, one)}" for one in run.standing_blockers]
    dropped = "raw output, and how stories were worked on"
    if not row.keeps_full:
        dropped += "; of completed stories all but a summary"
    return filled(
        "context",
        run=run,
        tier=row,
        goal=_goal(run),
        runtime=run_words.elapsed(runtime(run, now)),
        clarifications=_clarifications(run),
        current=_whole(run.current, facts.tree),
        done=len(done),
        completed=_listed(len(done), map(_full if row.keeps_full else _summary, done[-_LISTED:])),
        waiting=len(later),
        later=_listed(len(later), map(_later_line, later[:_LISTED])),
        blockers=blockers or ["None"],
        steps=numbered(run_words.steps(run, facts, now)),
        dropped=dropped,
    )


def context_data(run: Run, facts: WorkFacts, now: float) -> dict[str, Any]:
    """The same for `--json`."""
    story, row = run.current, tier(run, now)
    kept = _full if row.keeps_full else _summary
    return {
        "workflow_id": run.id,
        "goal": run.goal,
        "phase": run.phase.value,
        "tier": row.name,
        "clarifications": [
            {"question": one.question, "answer": one.answer} for one in run.clarifications
        ],
        "current_story": {"id": story.id, "text": _whole(story, facts.tree)} if story else None,
        "completed": [kept(one) for one in run.completed_stories[-_LISTED:]],
        "completed_count": len(run.completed_stories),
        "later": [one.id for one in _later(run)[:_LISTED]],
        "blockers": [one.id for one in run.standing_blockers],
        "next_steps": run_words.steps(run, facts, now),
    }


def compacted(run: Run, now: float) -> Run:
    """The run without what no later step needs; in all but the longest runs it is kept as it is.

    Of completed stories the newest record of each gate and review stays, and what shows RED and GREEN;
    lists of tests, texts of failures, logs and remarks go.
    """
    if tier(run, now).keeps_full:
        return run
    return replace(run, stories=tuple(one if one.is_open else _slimmed(one) for one in run.stories))


def platform_block(detection: Detection, run: Run | None) -> list[str]:
    """The block that each subagent is given first: the platform, the goal, and what was clarified."""
    return filled(
        "platform",
        goal=[f"**Goal:** {_goal(run)}", ""] if run is not None else [],
        platform=platform_tables.context_lines(detection),
        clarifications=_clarifications(run),
    )


def _goal(run: Run) -> str:
    return quoted(run.goal, 2_000)[1:-1]


def _clarifications(run: Run | None) -> list[str]:
    there = run.clarifications if run is not None else ()
    return [f"- {quoted(one.question)} {quoted(one.answer or _OPEN)}" for one in there] or ["None"]


def _later(run: Run) -> list[Story]:
    current = run.current
    return [one for one in run.open_stories if current is None or one.id != current.id]


def _whole(story: Story | None, tree: str) -> list[str]:
    if story is None:
        return ["None"]
    named = {"Files": story.files, "Risks": story.risks, "Depends on": story.depends_on}
    failures = story.failures[-_FAILURES:]
    proofs = {"RED": story.red, "GREEN": story.green}
    return [
        f"- {story.id}: {_title(story)} ({story.size}{', security' if story.security else ''})",
        f"- Status: {story.status}, TDD phase: {story.tdd}, iteration {story.iteration}",
        *(
            f"- Criterion {number} ({one.state}): {quoted(one.text, 500)}"
            for number, one in enumerate(story.criteria, 1)
        ),
        *([f"- Design: {quoted(story.design, 2_000)}"] if story.design else []),
        *(f"- {name}: {', '.join(texts)}" for name, texts in named.items() if texts),
        *(
            f"- {name} shown by: {', '.join(proof.tests[:5]) or 'counts'}"
            for name, proof in proofs.items()
            if proof is not None
        ),
        f"- Verification: {run_words.check_line(story, tree)}",
        *(f"- Failed ({one.id}, {one.category}): {quoted(one.text)}" for one in failures),
    ]


def _full(story: Story) -> str:
    files = f"; files: {', '.join(story.files)}" if story.files else ""
    design = f"; design: {quoted(story.design, 300)}" if story.design else ""
    return f"{_summary(story)}{files}{design}"


def _summary(story: Story) -> str:
    commit = f", commit {story.commit[:12]}" if story.commit else ""
    return f"- {story.id}: {_title(story)} ({story.iteration} iterations{commit})"


def _later_line(story: Story) -> str:
    return f"- {story.id} ({story.status}): {_title(story)}"


def _listed(count: int, lines: Iterable[str]) -> list[str]:
    shown = list(lines)
    left = count - len(shown)
    return [*(shown or ["None"]), *([f"… and {left:,} more"] if left else [])]


def _title(story: Story) -> str:
    return quoted(story.title, 120)[1:-1]


def _slimmed(story: Story) -> Story:
    gates = {record.gate: record for record in story.gates}
    reviews = {record.check: record for record in story.reviews}
    proofs = {
        name: replace(proof, files={}) if proof is not None else None
        for name, proof in (("red", story.red), ("green", story.green))
    }
    return replace(
        story,
        words=(),
        failures=(),
        gates=tuple(_slim_gate(record) for record in gates.values()),
        reviews=tuple(_slim_review(record) for record in reviews.values()),
        **proofs,
    )


def _slim_gate(record: GateRecord) -> GateRecord:
    return replace(record, parts=tuple(replace(one, log="", failures=()) for one in record.parts))


def _slim_review(record: ReviewRecord) -> ReviewRecord:
    kept = tuple(one for one in record.findings if one.severity is not Severity.INFO)
    return replace(record, findings=kept)
