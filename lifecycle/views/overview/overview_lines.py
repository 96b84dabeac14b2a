"""An overview as lines of text, below those on the claim. Pure.

Strangers' words are quoted as data, since agents read this; nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lifecycle.core.redact import as_data, named, quoted
from lifecycle.views.overview.overview_values import (
    AwaitedPerson,
    Overview,
    OverviewRun,
    OverviewWorkflow,
)
from lifecycle.views.overview.overview_words import age, at_work, stage_line
from lifecycle.views.stats.stats_words import count, minute

STORIES = 8
"""How many stories of a run are listed."""

EVENTS = 5
"""How many entries of the journal are listed."""


def since_when(lines: Sequence[str], awaited: Sequence[AwaitedPerson], now: float) -> list[str]:
    """The lines on the claim; one that says what waits for a person says for how long, too."""
    waits = {one.what.rstrip("."): one.since for one in awaited if one.since > 0}
    told = []
    for line in lines:
        since = next((at for what, at in waits.items() if what in line), 0.0)
        told.append(f"{line} [waits for {age(since, now)}]" if since else line)
    return told


def lines_below(
    overview: Overview, awaited: Sequence[AwaitedPerson], said: Sequence[str]
) -> list[str]:
    """Everything but the claim, a part that is not there takes no line.

    Args:
        overview: of the worktree.
        awaited: what of it waits for a person, as far as the reader is told of that.
        said: the lines above; what they say is not said again.
    """
    lines: list[str] = []
    parts = (
        ("stage", overview.stage and [stage_line(overview.stage, overview.at)]),
        ("run", overview.run and list(_run(overview.run))),
        ("workflow", overview.workflow and list(_workflow(overview.workflow))),
    )
    for name, found in parts:
        lines += found or []
        lines += _trouble(overview, name)
    lines += _awaited(awaited, said, overview.at)
    events = overview.events[-EVENTS:]
    lines += ["Last events:"] if events else []
    for event in events:
        task = f" {event.task}" if event.task and event.system != "workflow" else ""
        lines.append(f"- {minute(event.at)} UTC {event.system}{task}: {event.what}")
    lines += [*_trouble(overview, "worktree"), *_trouble(overview, "events")]
    return [as_data(line) for line in lines]


def _trouble(overview: Overview, part: str) -> list[str]:
    return [f"{part.capitalize()}: {overview.troubles[part]}"] if part in overview.troubles else []


def _awaited(awaited: Sequence[AwaitedPerson], said: Sequence[str], now: float) -> list[str]:
    text = "\n".join(said)
    left = [one for one in awaited if one.what.rstrip(".") not in text]
    lines = ["Waits for a person:"] if left else []
    for one in left:
        how_long = f"for {age(one.since, now)}: " if one.since else ""
        where = f" ({one.where})" if one.where and one.where not in one.what else ""
        lines.append(f"- {how_long}{one.what}{where}")
    return lines


def _run(run: OverviewRun) -> Iterator[str]:
    stories = f"{run.done} of {count(len(run.stories), 'story', 'stories')} completed"
    yield f"Run: {quoted(run.goal)}, {run.phase}, {run.status}; {stories}."
    shown = run.stories
    if len(shown) > STORIES:
        shown = tuple(story for story in shown if story.status != "completed")[:STORIES]
    for story in shown:
        yield f"- {story.id} {quoted(story.title)}: {at_work(story)}"
    if len(shown) < len(run.stories):
        yield f"- … and {len(run.stories) - len(shown)} more: lifecycle run status --all"
    for blocker in run.blockers:
        yield f"Blocked: {blocker}"
    if run.pull_url:
        yield f"Pull request of the run: {run.pull_url}"


def _workflow(workflow: OverviewWorkflow) -> Iterator[str]:
    total = len(workflow.phases)
    where = f", phase {workflow.current} of {total}" if workflow.current else ""
    yield f"Workflow: {named(workflow.name)} ({workflow.type}), {workflow.status}{where}."
    for number, phase in enumerate(workflow.phases, 1):
        agent = f" ({named(phase.agent)})" if phase.agent else ""
        yield f"- {number}. {quoted(phase.title)}{agent}: {phase.status}"
    if workflow.reading:
        yield f"Required reading: {' '.join(workflow.reading)}"
    if workflow.others:
        yield f"Other workflows: {', '.join(named(name) for name in workflow.others)}"
