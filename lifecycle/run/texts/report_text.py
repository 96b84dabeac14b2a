"""The long texts of a run: status, progress report, what a session keeps, and what subagents get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lifecycle.core.light_dataclass import dataclass, fields_of
from lifecycle.core.markdown_table import table
from lifecycle.core.messages import figures
from lifecycle.core.redact import listed, quoted
from lifecycle.platforms import platform_tables
from lifecycle.platforms.selection import Detection
from lifecycle.run.gates.gate_rules import unmet
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import runtime, tier
from lifecycle.run.state import GateRecord, ReviewRecord, Run, Story
from lifecycle.run.table import MAX_RETRIES, WORKING, Severity, StoryStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import filled, numbered
from lifecycle.run.trouble.story_failures import attempts

_LISTED = 20
"""How many stories of a kind are named; the others are counted."""

_RECENT = 5
_OPEN = "(open: nobody has answered it)"


def reported(run: Run, now: float) -> Run:
    """The run with a report recorded as given now."""
    return run.but(reported_at=now, reported_stories=len(run.completed_stories))


def counts(run: Run) -> dict[str, int]:
    """How many stories have each status, in the report's words."""
    statuses = [story.status for story in run.stories]
    return {
        "Completed": statuses.count(StoryStatus.COMPLETED),
        "In Progress": sum(status in WORKING for status in statuses),
        "Pending": statuses.count(StoryStatus.PENDING),
        "Blocked": statuses.count(StoryStatus.BLOCKED),
    }


def report_lines(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """The report on the run in its present state, finished or not.

    Args:
        run: the run, before the report is recorded.
        facts: what git shows of the worktree.
        now: the present.
    """
    recent = (f"{_title(story)} - {_iterations(story)}" for story in _recent(run))
    return filled(
        "report",
        run=run,
        goal=quoted(run.goal, 500)[1:-1],
        runtime=standing.elapsed(runtime(run, now)),
        spent=standing.receipt_line(run, now),
        counts=table(("Status", "Count"), [(name, str(n)) for name, n in counts(run).items()]),
        recent=[f"- {line}" for line in recent] or ["None"],
        current=_current(run.current, facts.tree),
        blockers=standing.blocker_lines(run),
        steps=numbered(standing.steps(reported(run, now), facts, now)),
    )


def report_data(run: Run, facts: WorkFacts, now: float) -> dict[str, Any]:
    """The progress report as data, for `--json`."""
    return {
        **fields_of(run, workflow="goal", workflow_id="id"),
        "runtime_seconds": int(runtime(run, now)),
        "iteration": run.iterations,
        "spent": standing.receipt_line(run, now),
        "stories": counts(run),
        "recently_completed": [story.id for story in _recent(run)],
        "current_story": run.current.id if run.current is not None else None,
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": standing.steps(reported(run, now), facts, now),
    }


def _recent(run: Run) -> list[Story]:
    """The stories that were completed since the last report; at least the last few."""
    done = sorted(run.completed_stories, key=lambda story: story.completed)
    since = len(done) - run.reported_stories
    return done[-min(max(since, _RECENT), 4 * _RECENT) :]


def _current(story: Story | None, tree: str) -> list[str]:
    if story is None:
        return ["None"]
    about = {"title": _title(story), "tried": attempts(story), "most": MAX_RETRIES}
    return filled("current", story=story, **about, checks=standing.check_line(story, tree))


def _title(story: Story) -> str:
    return f"[{story.id}] {quoted(story.title, 200)[1:-1]}"


def _iterations(story: Story) -> str:
    return figures.count(story.iteration, "iteration")


def context_lines(run: Run, facts: WorkFacts, now: float) -> list[str]:
    """What is worth keeping: goal, clarifications, the current story in full, the others in short.

    Completed stories are kept with design and files; in the longest runs only as a summary.
    """
    row, done, later = tier(run, now), run.completed_stories, _later(run)
    more = "" if row.keeps_full else "; of completed stories all but a summary"
    return filled(
        "context",
        run=run,
        tier=row,
        goal=_goal(run),
        runtime=standing.elapsed(runtime(run, now)),
        clarifications=_clarifications(run),
        current=_whole(run.current, facts.tree),
        done=len(done),
        completed=_listed(len(done), _kept(run, now)),
        waiting=len(later),
        later=_listed(len(later), [*map(_waiting, later[:_LISTED])]),
        blockers=standing.blocker_lines(run),
        steps=numbered(standing.steps(run, facts, now)),
        dropped=f"raw output, and how stories were worked on{more}",
    )


def context_data(run: Run, facts: WorkFacts, now: float) -> dict[str, Any]:
    """What is worth keeping as data, for `--json`."""
    story = run.current
    return {
        **fields_of(run, "goal", "phase", workflow_id="id"),
        "tier": tier(run, now).name,
        "clarifications": [fields_of(entry, "question", "answer") for entry in run.clarifications],
        "current_story": {"id": story.id, "text": _whole(story, facts.tree)} if story else None,
        "completed": _kept(run, now),
        "completed_count": len(run.completed_stories),
        "later": [later.id for later in _later(run)[:_LISTED]],
        "blockers": [blocker.id for blocker in run.standing_blockers],
        "next_steps": standing.steps(run, facts, now),
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
    return filled(
        "platform",
        goal=[f"**Goal:** {_goal(run)}", ""] if run is not None else [],
        platform=platform_tables.context_lines(detection),
        clarifications=_clarifications(run),
    )


def _goal(run: Run) -> str:
    return quoted(run.goal, 2_000)[1:-1]


def _clarifications(run: Run | None) -> list[str]:
    entries = run.clarifications if run is not None else ()
    lines = [f"- {quoted(entry.question)} {quoted(entry.answer or _OPEN)}" for entry in entries]
    return lines or ["None"]


def _later(run: Run) -> list[Story]:
    return [story for story in run.open_stories if story != run.current]


def _whole(story: Story | None, tree: str) -> list[str]:
    if story is None:
        return ["None"]
    named = {"Files": story.files, "Risks": story.risks, "Depends on": story.depends_on}
    proofs = {"RED": story.red, "GREEN": story.green}
    shown = {name: proof.tests[:5] for name, proof in proofs.items() if proof is not None}
    failures = ((f"{fail.id}, {fail.category}", quoted(fail.text)) for fail in story.failures[-3:])
    return [
        f"- {story.id}: {_short_title(story)} ({story.size}{', security' if story.security else ''})",
        f"- Status: {story.status}, TDD phase: {story.tdd}, iteration {story.iteration}",
        *standing.criterion_lines(story, 500),
        *([f"- Design: {quoted(story.design, 2_000)}"] if story.design else []),
        *(f"- {name}: {', '.join(texts)}" for name, texts in named.items() if texts),
        *(f"- {name} shown by: {', '.join(texts) or 'counts'}" for name, texts in shown.items()),
        f"- Verification: {standing.check_line(story, tree)}",
        *(f"- Failed ({which}): {text}" for which, text in failures),
    ]


def _kept(run: Run, now: float) -> list[str]:
    """The last completed stories, in the form for a run of this length."""
    kept = _full if tier(run, now).keeps_full else _summary
    return [kept(story) for story in run.completed_stories[-_LISTED:]]


def _full(story: Story) -> str:
    files = f"; files: {', '.join(story.files)}" if story.files else ""
    design = f"; design: {quoted(story.design, 300)}" if story.design else ""
    return f"{_summary(story)}{files}{design}"


def _summary(story: Story) -> str:
    commit = f", commit {story.commit[:12]}" if story.commit else ""
    return f"- {story.id}: {_short_title(story)} ({_iterations(story)}{commit})"


def _waiting(story: Story) -> str:
    return f"- {story.id} ({story.status}): {_short_title(story)}"


def _listed(count: int, shown: list[str]) -> list[str]:
    more = [f"… and {count - len(shown):,} more"] if count > len(shown) else []
    return [*(shown or ["None"]), *more]


def _short_title(story: Story) -> str:
    return quoted(story.title, 120)[1:-1]


def _slimmed(story: Story) -> Story:
    gates = {record.gate: _slim_gate(record) for record in story.gates}
    reviews = {record.check: _slim_review(record) for record in story.reviews}
    return story.but(
        words=(),
        failures=(),
        gates=tuple(gates.values()),
        reviews=tuple(reviews.values()),
        red=story.red and story.red.but(files={}),
        green=story.green and story.green.but(files={}),
    )


def _slim_gate(record: GateRecord) -> GateRecord:
    return record.but(parts=tuple(part.but(log="", failures=()) for part in record.parts))


def _slim_review(record: ReviewRecord) -> ReviewRecord:
    kept = tuple(finding for finding in record.findings if finding.severity is not Severity.INFO)
    return record.but(findings=kept)


MOST: Final = 40
"""How many stories are shown by default: those at work, blocked and next come first."""

HEAD: Final = ("#", "Story", "Size", "Status", "TDD", "Iteration", "Checks", "Gates", "Criteria")

_NEAR: Final = (*WORKING, StoryStatus.BLOCKED, StoryStatus.PENDING, StoryStatus.COMPLETED)


@dataclass(frozen=True, slots=True)
class StatusView:
    """The view of a run.

    Attributes:
        facts: names and values.
        stories: table rows, with the columns of HEAD.
        left_out: a sentence on the stories that have no row; "" if all have one.
        blockers, steps, notes: a line for each.
    """

    facts: tuple[tuple[str, str], ...]
    stories: tuple[tuple[str, ...], ...]
    left_out: str
    blockers: tuple[str, ...]
    steps: tuple[str, ...]
    notes: tuple[str, ...]


def status_view(
    run: Run, facts: WorkFacts, now: float, *, written: float = 0.0, every: bool = False
) -> StatusView:
    """Collect the view of a run in its present state.

    Args:
        run: the run.
        facts: what git shows of the worktree; checks and gates are shown for its tree.
        now: the present.
        written: when the run's file was written; 0.0 if not known.
        every: show all stories.
    """
    shown = _chosen(run, every=every)
    left = len(run.stories) - len(shown)
    rows = (
        ("Workflow", run.goal),
        ("Workflow ID", run.id),
        ("Phase", run.phase.value),
        ("Status", f"{run.status}: {run.why}" if run.why else run.status.value),
        ("Stories completed", f"{len(run.completed_stories)}/{len(run.stories)}"),
        *((("Taken out", listed([story.id for story in run.removed])),) if run.removed else ()),
        ("Runtime", f"{standing.elapsed(runtime(run, now))} ({tier(run, now).name})"),
        ("Spent", standing.receipt_line(run, now)),
        ("Gates", _gate_line(run.gates, facts.tree)),
        *((("Pull request", run.pull_request),) if run.pull_request else ()),
    )
    return StatusView(
        rows,
        tuple(_row(story, facts.tree) for story in shown),
        f"{left:,} more stories; all of them: lifecycle run status --all" if left else "",
        tuple(standing.blocker_line(run, blocker) for blocker in run.standing_blockers),
        tuple(standing.steps(run, facts, now)),
        tuple(standing.notes(run, now, written)),
    )


def status_lines(view: StatusView) -> list[str]:
    """The view as lines of Markdown, for a pipe."""
    return filled(
        "status",
        facts=table(("Fact", "Value"), view.facts),
        stories=table(HEAD, view.stories),
        left_out=[view.left_out] if view.left_out else [],
        blockers=[*view.blockers] or ["None"],
        steps=numbered(view.steps),
        notes=[f"Note: {note}" for note in view.notes],
    )


def status_data(
    run: Run, facts: WorkFacts, now: float, *, written: float = 0.0, every: bool = False
) -> dict[str, Any]:
    """The status as data, for `--json`, with the same stories."""
    return {
        **fields_of(run, "goal", "phase", "status", "why", workflow_id="id"),
        "runtime_seconds": int(runtime(run, now)),
        "tier": tier(run, now).name,
        "spent": standing.receipt_line(run, now),
        "stories_completed": len(run.completed_stories),
        "stories_total": len(run.stories),
        "stories": [_story_data(story, facts.tree) for story in _chosen(run, every=every)],
        "removed": [fields_of(story, "id", "title", reason="unneeded") for story in run.removed],
        "blockers": [
            {"index": index, **fields_of(blocker, "id", "description")}
            for index, blocker in enumerate(run.blockers)
            if not blocker.resolved_at
        ],
        "next_steps": standing.steps(run, facts, now),
        "notes": standing.notes(run, now, written),
        "pull_request": run.pull_request or None,
    }


def _chosen(run: Run, *, every: bool) -> list[Story]:
    near = sorted(run.stories, key=lambda story: _NEAR.index(story.status))
    names = {story.id for story in near[: None if every else MOST]}
    return [story for story in run.stories if story.id in names]


def _row(story: Story, tree: str) -> tuple[str, ...]:
    title = f"{story.title} (security)" if story.security else story.title
    gates = standing.gate_line(story, tree) or "-"
    judged = len(story.criteria) - len(unmet(story, tree if story.is_open else ""))
    stands = (story.size, story.status.value, story.tdd.value, str(story.iteration))
    shown = (standing.check_line(story, tree), gates, f"{judged}/{len(story.criteria)}")
    return story.id, quoted(title, 80)[1:-1], *stands, *shown


def _gate_line(records: Sequence[GateRecord], tree: str) -> str:
    last = {record.gate: record for record in records}
    where = {gate: "" if last[gate].tree == tree else " on another tree" for gate in last}
    states = (f"{gate} {last[gate].state}{where[gate]}" for gate in sorted(last))
    return ", ".join(states) or "none was run"


def _story_data(story: Story, tree: str) -> dict[str, Any]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        **fields_of(story, "iteration", tdd_phase="tdd"),
        "checks": standing.checks_of(story, tree),
        "gates": standing.gates_of(story, tree),
        "criteria": [criterion.state for criterion in story.criteria],
        "depends_on": story.depends_on,
    }
