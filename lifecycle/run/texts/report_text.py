"""The long texts of a run: status, progress report, what a session keeps, and what subagents get.

An answer is made at once as lines and as data for `--json`.
"""

from __future__ import annotations

from typing import Any, Final

from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.markdown_table import table
from lifecycle.core.messages import figures
from lifecycle.core.redact import listed, quoted
from lifecycle.platforms import platform_tables
from lifecycle.platforms.selection import Detection
from lifecycle.run.gates.gate_rules import unmet
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, tier
from lifecycle.run.state import Run, Story
from lifecycle.run.table import MAX_RETRIES, WORKING, Severity, StoryStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import Answer, filled, numbered
from lifecycle.run.trouble.story_failures import attempts

_LISTED = 20
"""How many stories of a kind are named; the others are counted."""

_RECENT = 5
_OPEN = "(open: nobody has answered it)"


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
    counts = {
        "Completed": statuses.count(StoryStatus.COMPLETED),
        "In Progress": sum(status in WORKING for status in statuses),
        "Pending": statuses.count(StoryStatus.PENDING),
        "Blocked": statuses.count(StoryStatus.BLOCKED),
    }
    done = sorted(run.completed_stories, key=lambda story: story.completed)
    since = max(len(done) - run.reported_stories, _RECENT)
    recent, story = done[-min(since, 4 * _RECENT) :], run.current
    spent = standing.receipt_line(run, now)
    steps = standing.steps(reported(run, now), facts, now)
    lines = filled(
        "report",
        run=run,
        goal=_bare(run.goal, 500),
        runtime=figures.span(runtime(run, now)),
        spent=spent,
        counts=table(("Status", "Count"), [(name, str(n)) for name, n in counts.items()]),
        recent=[f"- {_title(entry)} - {_iterations(entry)}" for entry in recent] or ["None"],
        current=["None"] if story is None else _current(story, facts.tree),
        blockers=standing.blocker_lines(run),
        steps=numbered(steps),
    )
    return lines, {
        **fields_of(run, workflow="goal", workflow_id="id", iteration="iterations"),
        "runtime_seconds": int(runtime(run, now)),
        "spent": spent,
        "stories": counts,
        "recently_completed": [entry.id for entry in recent],
        "current_story": story and story.id,
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": steps,
    }


def _current(story: Story, tree: str) -> list[str]:
    about = {"title": _title(story), "tried": attempts(story), "most": MAX_RETRIES}
    return filled("current", story=story, **about, checks=standing.check_line(story, tree))


def _bare(text: str, longest: int) -> str:
    """Anybody's text on one line, as data, without quotation marks."""
    return quoted(text, longest)[1:-1]


def _title(story: Story) -> str:
    return f"[{story.id}] {_bare(story.title, 200)}"


def _iterations(story: Story) -> str:
    return figures.count(story.iteration, "iteration")


def context(run: Run, facts: WorkFacts, now: float) -> Answer:
    """What is worth keeping: goal, clarifications, the current story in full, the others in short.

    Completed stories are kept with design and files; in the longest runs only as a summary.
    """
    row, done, story = tier(run, now), run.completed_stories, run.current
    later = [other for other in run.open_stories if other != story]
    waiting = [f"- {other.id} ({other.status}): {_bare(other.title, 120)}" for other in later]
    kept = [_kept(other, is_full=row.keeps_full) for other in done[-_LISTED:]]
    whole = ["None"] if story is None else _whole(story, facts.tree)
    steps = standing.steps(run, facts, now)
    more = "" if row.keeps_full else "; of completed stories all but a summary"
    lines = filled(
        "context",
        run=run,
        tier=row,
        goal=_bare(run.goal, 2_000),
        runtime=figures.span(runtime(run, now)),
        clarifications=_clarifications(run),
        current=whole,
        done=len(done),
        completed=_listed(len(done), kept),
        waiting=len(later),
        later=_listed(len(later), waiting[:_LISTED]),
        blockers=standing.blocker_lines(run),
        steps=numbered(steps),
        dropped=f"raw output, and how stories were worked on{more}",
    )
    return lines, {
        **fields_of(run, "goal", "phase", workflow_id="id"),
        "tier": row.name,
        "clarifications": [fields_of(entry, "question", "answer") for entry in run.clarifications],
        "current_story": story and {"id": story.id, "text": whole},
        "completed": kept,
        "completed_count": len(done),
        "later": [other.id for other in later[:_LISTED]],
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": steps,
    }


def compacted(run: Run, now: float) -> Run:
    """The run without data that no later step needs; unchanged except in the longest runs.

    Completed stories keep the newest record of each gate and review, and the proofs of RED and GREEN;
    lists of tests, texts of failures, logs and remarks are removed.
    """
    if tier(run, now).keeps_full:
        return run
    stories = (story if story.is_open else _slimmed(story) for story in run.stories)
    return run.but(stories=tuple(stories))


def platform_block(detection: Detection, run: Run | None) -> list[str]:
    """The block that each subagent is given first: the platform, the goal, and what was clarified."""
    goal = [f"**Goal:** {_bare(run.goal, 2_000)}", ""] if run is not None else []
    tables, clarified = platform_tables.context_lines(detection), _clarifications(run)
    return filled("platform", goal=goal, platform=tables, clarifications=clarified)


def _clarifications(run: Run | None) -> list[str]:
    entries = run.clarifications if run is not None else ()
    lines = [f"- {quoted(entry.question)} {quoted(entry.answer or _OPEN)}" for entry in entries]
    return lines or ["None"]


def plan_lines(story: Story) -> list[str]:
    """The plan of a story: its criteria with their states, its design, and what else was named."""
    named = {"Files": story.files, "Risks": story.risks, "Depends on": story.depends_on}
    return [
        *standing.criterion_lines(story, 500),
        *([f"- Design: {quoted(story.design, 2_000)}"] if story.design else []),
        *(f"- {name}: {', '.join(texts)}" for name, texts in named.items() if texts),
    ]


def _whole(story: Story, tree: str) -> list[str]:
    proofs = {"RED": story.red, "GREEN": story.green}
    shown = {name: proof.tests[:5] for name, proof in proofs.items() if proof is not None}
    failures = ((f"{fail.id}, {fail.category}", quoted(fail.text)) for fail in story.failures[-3:])
    size = f"{story.size}{', security' if story.security else ''}"
    return [
        f"- {story.id}: {_bare(story.title, 120)} ({size})",
        f"- Status: {story.status}, TDD phase: {story.tdd}, iteration {story.iteration}",
        *plan_lines(story),
        *(f"- {name} shown by: {', '.join(texts) or 'counts'}" for name, texts in shown.items()),
        f"- Verification: {standing.check_line(story, tree)}",
        *(f"- Failed ({which}): {text}" for which, text in failures),
    ]


def _kept(story: Story, *, is_full: bool) -> str:
    """A completed story: a summary, and if it is kept in full its files and its design."""
    commit = f", commit {story.commit[:12]}" if story.commit else ""
    files = f"; files: {', '.join(story.files)}" if is_full and story.files else ""
    design = f"; design: {quoted(story.design, 300)}" if is_full and story.design else ""
    summary = f"{_bare(story.title, 120)} ({_iterations(story)}{commit})"
    return f"- {story.id}: {summary}{files}{design}"


def _listed(count: int, shown: list[str]) -> list[str]:
    more = [f"… and {count - len(shown):,} more"] if count > len(shown) else []
    return [*(shown or ["None"]), *more]


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

HEAD: Final = ("#", "Story", "Size", "Status", "TDD", "Iteration", "Checks", "Gates", "Criteria")

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
    done, left = len(run.completed_stories), len(run.stories) - len(stories)
    more = [f"{left:,} more stories; all of them: lifecycle run status --all"] if left else []
    length, seconds, spent = tier(run, now).name, runtime(run, now), standing.receipt_line(run, now)
    steps, notes = standing.steps(run, facts, now), standing.notes(run, now, written)
    blockers = [standing.blocker_line(run, blocker) for blocker in run.standing_blockers]
    rows = {
        "Workflow": run.goal,
        "Workflow ID": run.id,
        "Phase": run.phase.value,
        "Status": f"{run.status}: {run.why}" if run.why else run.status.value,
        "Stories completed": run.tally,
        "Taken out": listed([story.id for story in run.removed]),
        "Runtime": f"{figures.span(seconds)} ({length})",
        "Spent": spent,
        "Gates": _gate_line(run, facts.tree),
        "Pull request": run.pull_request,
    }
    lines = filled(
        "status",
        facts=table(("Fact", "Value"), [row for row in rows.items() if row[1]]),
        stories=table(HEAD, [_row(story, facts.tree) for story in stories]),
        left_out=more,
        blockers=blockers or ["None"],
        steps=numbered(steps),
        notes=[f"Note: {note}" for note in notes],
    )
    return lines, {
        **fields_of(run, "goal", "phase", "status", "why", workflow_id="id"),
        "runtime_seconds": int(seconds),
        "tier": length,
        "spent": spent,
        "stories_completed": done,
        "stories_total": len(run.stories),
        "stories": [_story_data(story, facts.tree) for story in stories],
        "removed": [fields_of(story, "id", "title", reason="unneeded") for story in run.removed],
        "blockers": [
            {"index": run.blockers.index(blocker), **fields_of(blocker, "id", "description")}
            for blocker in run.standing_blockers
        ],
        "next_steps": steps,
        "notes": notes,
        "pull_request": run.pull_request or None,
    }


def _row(story: Story, tree: str) -> tuple[str, ...]:
    title = f"{story.title} (security)" if story.security else story.title
    gates = standing.gates_of(story, tree)
    judged = len(story.criteria) - len(unmet(story, tree if story.is_open else ""))
    stands = (story.size, story.status.value, story.tdd.value, str(story.iteration))
    shown = (standing.check_line(story, tree), standing.states_line(gates) or "-")
    return story.id, _bare(title, 80), *stands, *shown, f"{judged}/{len(story.criteria)}"


def _gate_line(run: Run, tree: str) -> str:
    last = {record.gate: record for record in run.gates}
    where = {gate: "" if last[gate].tree == tree else " on another tree" for gate in last}
    states = (f"{gate} {last[gate].state}{where[gate]}" for gate in sorted(last))
    return ", ".join(states) or "none was run"


def _story_data(story: Story, tree: str) -> dict[str, Any]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        **fields_of(story, "iteration", "depends_on", tdd_phase="tdd"),
        "checks": standing.checks_of(story, tree),
        "gates": standing.gates_of(story, tree),
        "criteria": [criterion.state for criterion in story.criteria],
    }
