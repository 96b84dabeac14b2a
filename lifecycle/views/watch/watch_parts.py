"""An overview as the parts of a screen: each with its lines, styled, the most important part first. Pure.

Texts of strangers in an overview hold nothing that a terminal would obey; here they get colours. Colour is
never the only sign: a word says the same. No background and no white or black, so that dark and light
terminals both show them, but for what waits for a person, which is inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text

from lifecycle.views.overview.overview_values import (
    Overview,
    OverviewChecks,
    OverviewClaim,
    OverviewPull,
    OverviewRun,
    OverviewWorkflow,
)
from lifecycle.views.overview.overview_words import (
    STANDING_STYLES,
    STANDINGS,
    age,
    at_work,
    is_awaited,
    stage_line,
)
from lifecycle.views.stats.stats_words import count

LABEL = 10
"""Columns of the name before a part's lines."""

_SIGNS = {
    "completed": ("✓", "green"),
    "in_progress": ("▸", "cyan"),
    "testing": ("▸", "cyan"),
    "review": ("▸", "cyan"),
    "active": ("▸", "cyan"),
    "blocked": ("✗", "bold magenta"),
    "failed": ("✗", "bold red"),
    "skipped": ("-", "dim"),
}
"""The sign before a story or a phase that stands so; a dot for all others."""

_DIM = "dim"


@dataclass(frozen=True, slots=True)
class WatchPart:
    """One part of the screen.

    Attributes:
        name: what stands before its first line.
        lines: the most important first.
        least: how many of them are shown before a less important part gets any.
        is_folded: a line that is too long goes on below; else it is cut.
        is_beside: it stands in the second column where there is room for one.
    """

    name: str
    lines: tuple[Text, ...]
    least: int = 1
    is_folded: bool = False
    is_beside: bool = False


def watch_parts(overview: Overview, now: float) -> list[WatchPart]:
    """Everything that is there, the most important first; ages are as of `now`."""
    parts = [WatchPart("", tuple(_awaited(overview, now)), 3, is_folded=True)]
    troubles = tuple(
        Text.assemble((f"{part}: ", "bold red"), why) for part, why in overview.troubles.items()
    )
    claim, pull = overview.claim, overview.pull
    if claim is not None:
        parts.append(WatchPart("claim", tuple(_claim(claim, now)), 2))
    if pull is not None:
        parts.append(WatchPart("PR", tuple(_pull(pull, overview.checks, now)), 2))
    if claim is not None and not is_awaited(overview, claim.next):
        parts.append(WatchPart("next", (Text(claim.lost or claim.next),), is_folded=True))
    parts.append(WatchPart("trouble", troubles, is_folded=True))
    if overview.stage is not None:
        line = Text(stage_line(overview.stage, now).removeprefix("Stage: ").rstrip("."))
        parts.append(WatchPart("stage", (line,)))
    if overview.run is not None:
        lines = tuple(_run(overview.run, now))
        parts.append(WatchPart("run", lines, 3, is_beside=True))
    if overview.workflow is not None:
        lines = tuple(_workflow(overview.workflow, now))
        parts.append(WatchPart("workflow", lines, 3, is_beside=True))
    waiting = [text for text in overview.waiting if not is_awaited(overview, text)]
    parts.append(WatchPart("to be said", tuple(map(Text, waiting)), is_folded=True))
    parts.append(WatchPart("events", tuple(_events(overview, now))))
    return [part for part in parts if part.lines]


def _awaited(overview: Overview, now: float) -> Iterator[Text]:
    """What waits for a person: for how long, what, and where to act."""
    for one in overview.awaited:
        line = Text.assemble((" WAITS FOR YOU ", "bold reverse"))
        line.append(f" {age(one.since, now)}" if one.since else "", "bold")
        line.append(f"  {one.what}", "bold")
        pull = overview.pull.url if overview.pull is not None else ""
        if one.where and one.where == pull:
            line.append("  (key p opens it)", _DIM)
        elif one.where and one.where not in one.what:
            line.append(f"  → {one.where}", "cyan")
        yield line


def _claim(claim: OverviewClaim, now: float) -> Iterator[Text]:
    line = Text.assemble((claim.phase or "(no phase)", "bold"))
    line.append("" if claim.is_confirmed else " (written by hand, not judged yet)", _DIM)
    line.append(f" for {age(claim.since, now)}" if claim.since else "")
    line.append(", being released" if claim.is_releasing else "")
    yield line
    facts = [f"taken {age(claim.taken_at, now)} ago" if claim.taken_at else "", claim.agent]
    facts.append(f"active {age(claim.active_at, now)} ago" if claim.active_at else "")
    facts.append("its PR is being watched" if claim.is_watched else "")
    yield Text(" · ".join(fact for fact in facts if fact), _DIM)
    if claim.summary:
        yield Text(claim.summary)
    if claim.linked_task:
        yield Text(f"stands for {claim.linked_task} as well", _DIM)


def _pull(pull: OverviewPull, checks: OverviewChecks | None, now: float) -> Iterator[Text]:
    number = Text(f"#{pull.number}", _link(pull.url, "bold"))
    line = Text.assemble(number, " ", (STANDINGS[pull.state], STANDING_STYLES[pull.state]))
    if pull.conflicts_with:
        line.append(f" with {pull.conflicts_with}")
    line.append(f": {', '.join(pull.changes_by)}" if pull.changes_by else "")
    yield line
    if checks is None:
        return
    polled = f", seen {age(checks.polled_at, now)} ago" if checks.polled_at else ""
    yield Text.assemble(checks.line.removeprefix("CI: ").rstrip("."), (polled, _DIM))


def _run(run: OverviewRun, now: float) -> Iterator[Text]:
    total = len(run.stories)
    bar = _bar(run.done, total)
    lasts = f", begun {age(run.started, now)} ago" if run.started else ""
    words = f"{run.phase}, {run.status.replace('_', ' ')}{lasts}"
    done = f" {run.done} of {count(total, 'story', 'stories')}, " if total else ""
    yield Text.assemble(bar, (done, "bold"), words)
    yield Text(run.goal, "italic")
    yield from (_signed("blocked", f"blocked: {blocker}") for blocker in run.blockers)
    at = next((n for n, story in enumerate(run.stories) if story.status != "completed"), 0)
    # What is at work and what comes next is worth more than what is done.
    for story in (*run.stories[at:], *run.stories[:at]):
        since = _since(story.status, story.since, now)
        yield _signed(story.status, f"{story.id} {story.title}", f"  {at_work(story)}{since}")


def _workflow(workflow: OverviewWorkflow, now: float) -> Iterator[Text]:
    total = len(workflow.phases)
    done = sum(phase.status == "completed" for phase in workflow.phases)
    where = f" phase {workflow.current} of {total}, " if workflow.current else " "
    yield Text.assemble(_bar(done, total), (where, "bold"), workflow.status)
    kind = f" ({workflow.type})" if workflow.type else ""
    yield Text.assemble((workflow.name, "italic"), (kind, _DIM))
    at = max(workflow.current - 1, 0)
    numbered = tuple(enumerate(workflow.phases, 1))
    for number, phase in (*numbered[at:], *numbered[:at]):
        since = _since(phase.status, phase.since, now)
        agent = f"  {phase.agent}" if phase.agent else ""
        yield _signed(phase.status, f"{number} {phase.title}", f"{agent}  {phase.status}{since}")
    if workflow.reading:
        yield Text(f"reading: {' '.join(workflow.reading)}", _DIM)
    if workflow.others:
        yield Text(f"others: {', '.join(workflow.others)}", _DIM)


def _events(overview: Overview, now: float) -> Iterator[Text]:
    """The newest first: a journal is read from now on back."""
    for event in reversed(overview.events):
        when = f"{age(event.at, now):>7}  "
        whose = event.system if event.system == "workflow" else f"{event.system} {event.task}"
        yield Text.assemble((when, _DIM), f"{whose} ".lstrip(), event.what)


def _since(status: str, since: float, now: float) -> str:
    """How long it has stood so; of what is over, how long ago that was."""
    if not since:
        return ""
    words = age(since, now)
    return f" {words} ago" if status in ("completed", "skipped") else f" for {words}"


def _signed(status: str, text: str, more: str = "") -> Text:
    sign, style = _SIGNS.get(status, ("·", _DIM))
    return Text.assemble((f"{sign} ", style), text, (more, _DIM))


def _bar(done: int, total: int) -> Text:
    """How much of it is done, ten cells wide."""
    full = 10 * done // total if total else 0
    return Text.assemble(("█" * full, "green"), ("░" * (10 - full), _DIM))


def _link(url: str, style: str) -> Style:
    """A style whose text is a link, where the terminal can."""
    return Style.parse(style) + Style(link=url or None)
