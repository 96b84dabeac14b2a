"""An overview as the parts of a screen, the most important first, laid out for a window. Pure.

Strangers' texts in an overview contain nothing that a terminal would obey; here they get colours. Colour is
never the only sign: a word says the same. No background, white or black is used, so that dark and light
terminals both show all; only what waits for a person is inverse. Parts without space are named.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from lifecycle.core.messages.figures import count
from lifecycle.views.overview import overview_values as values
from lifecycle.views.overview.overview_words import STANDINGS, age, at_work, is_awaited, stage_line

WIDE = 130
"""Columns of a terminal from which on there are two columns of parts."""

WIDEST = 200
"""The most columns: in a wider row the words of a line are too far apart."""

_GAP = 3


def watch_screen(
    overview: values.Overview, console: Console, now: float, rows: int | None, foot: str = ""
) -> list[Text]:
    """The lines of the screen.

    Args:
        overview: the worktree's overview.
        console: the console whose width is used.
        now: the time for ages.
        rows: the most lines; None for all, on a screen that takes no keys.
        foot: the last line; without `rows` there is none.
    """
    width = min(console.width, WIDEST)
    head = [_head(overview, width), Text()]
    parts = watch_parts(overview, now, has_keys=rows is not None)
    if not parts:
        head.append(Text("Nothing is claimed, run or waited for in this worktree."))
        head.append(Text("How to begin: lifecycle status", "dim"))
    room = sys.maxsize if rows is None else max(rows - len(head) - 1, 1)
    first = [part for part in parts if not part.name]
    others = [part for part in parts if part.name]
    missing: list[str] = []
    top = _column(first, width, room, console, missing)
    room = max(room - len(top) - bool(first), 0)
    beside = [part for part in others if part.is_beside]
    if width >= WIDE and beside and len(beside) < len(others):
        half = (width - _GAP) // 2
        left = [part for part in others if not part.is_beside]
        lines = _column(left, half, room, console, missing)
        body = [*_side_by_side(lines, _column(beside, half, room, console, missing), half)]
    else:
        body = _column(others, width, room, console, missing)
    lines = [*head, *top, *([Text()] if first and body else []), *body]
    if rows is None:
        return lines
    lines = lines[: rows - 1]
    lines += [Text() for _ in range(rows - 1 - len(lines))]
    return [*lines, _foot(foot, missing, width)]


def _column(
    parts: Sequence[WatchPart], width: int, left: int, console: Console, missing: list[str]
) -> list[Text]:
    """The lines of one column, none wider; parts without space are added to `missing`."""
    shown: list[Text] = []
    for part in parts:
        indent = LABEL + 1 if part.name else 0
        wrapped = (text.wrap(console, max(width - indent, 1)) for text in part.lines)
        lines = [line for wrapped_lines in wrapped for line in wrapped_lines]
        if part.name:
            names = [Text(f"{part.name:>{LABEL}} ", "dim"), Text(" " * indent)]
            lines = [Text.assemble(names[at > 0], line) for at, line in enumerate(lines)]
        room = left - len(shown)
        shown += lines[:room]
        if room < len(lines):
            missing.append(f"{part.name or 'what waits'} ({count(len(lines) - room, 'line')})")
    return shown


def _side_by_side(left: Sequence[Text], right: Sequence[Text], half: int) -> Iterator[Text]:
    for one_side, other_side in zip_longest(left, right, fillvalue=Text()):
        line = one_side.copy()
        line.pad_right(half + _GAP - line.cell_len)
        yield line.append_text(other_side)


def _head(overview: values.Overview, width: int) -> Text:
    """The current work, and at the right the branch."""
    claim, place = overview.claim, overview.worktree
    if claim is not None and claim.issue:
        head = Text.assemble((f"#{claim.issue}", f"bold link {claim.url}" if claim.url else "bold"))
        head.append(f" {claim.title}" if claim.title else "", "bold")
    else:
        head = Text.assemble((place.root.rpartition("/")[2], "bold"))
        head.append("" if "claim" in overview.troubles else " no claim", "dim")
    branch = Text(place.branch or "no branch", "dim")
    branch.truncate(max(width // 3, 1), overflow="ellipsis")
    head.truncate(max(width - branch.cell_len - 2, 1), overflow="ellipsis")
    head.pad_right(width - branch.cell_len - head.cell_len)
    return Text.assemble(head, branch)


def _foot(foot: str, missing: Sequence[str], width: int) -> Text:
    lacking = f"  not shown: {', '.join(missing)}" if missing else ""
    line = Text.assemble((foot, "dim"), (lacking, "bold"))
    line.truncate(width, overflow="ellipsis")
    return line


LABEL = 10
"""Columns of the name before a part's lines."""

_SIGNS = {
    "completed": ("✓", "green"),
    **dict.fromkeys(("in_progress", "testing", "review", "active"), ("▸", "cyan")),
    "blocked": ("✗", "bold magenta"),
    "failed": ("✗", "bold red"),
    "skipped": ("-", "dim"),
}
"""The sign and colour before a story or a phase of each status; a dot for all others."""


class WatchPart(NamedTuple):
    """One part of the screen.

    Attributes:
        name: the words before its first line.
        lines: its lines, the most important first; one that is too long continues below, if it may wrap.
        is_beside: it is in the second column if there is space for one.
    """

    name: str
    lines: tuple[Text, ...]
    is_beside: bool = False


def watch_parts(overview: values.Overview, now: float, *, has_keys: bool) -> list[WatchPart]:
    """All parts of the overview, the most important first; ages are as of `now`."""
    claim, pull, run, flow = overview.claim, overview.pull, overview.run, overview.workflow
    following = (claim.lost if claim is not None else "") or overview.next
    is_said = any(following in text for text in overview.waiting)
    stage = stage_line(overview.stage, now) if overview.stage is not None else ""
    causes = overview.troubles.items()
    troubles = tuple(Text.assemble((f"{part}: ", "bold red"), why) for part, why in causes)
    waiting = tuple(Text(line) for line in overview.waiting if not is_awaited(overview, line))
    parts = (
        WatchPart("", tuple(_awaited(overview, now, has_keys))),
        WatchPart("claim", tuple(_claim(claim, now)) if claim else ()),
        WatchPart("PR", tuple(_pull(pull, overview.checks, now)) if pull else ()),
        WatchPart("next", (Text(following),) if following and not is_said else ()),
        WatchPart("trouble", troubles),
        WatchPart("to be said", waiting),
        WatchPart("stage", (Text(stage.removeprefix("Stage: ").rstrip(".")),) if stage else ()),
        WatchPart("run", tuple(_run(run, now)) if run else (), is_beside=True),
        WatchPart("workflow", tuple(_workflow(flow, now)) if flow else (), is_beside=True),
        WatchPart("events", tuple(_events(overview, now))),
    )
    return [part for part in parts if part.lines]


def _awaited(overview: values.Overview, now: float, has_keys: bool) -> Iterator[Text]:
    """The matters for a person: how long each waits, what it is, and where to act."""
    for wait in overview.awaited:
        line = Text.assemble((" WAITS FOR YOU ", "bold reverse"))
        line.append(f" {age(wait.since, now)}" if wait.since else "", "bold")
        line.append(f"  {wait.what}", "bold")
        pull = overview.pull.url if overview.pull is not None else ""
        if has_keys and wait.where and wait.where == pull:
            line.append("  (key p opens it)", "dim")
        elif wait.where and wait.where not in wait.what:
            line.append(f"  → {wait.where}", "cyan")
        yield line


def _claim(claim: values.OverviewClaim, now: float) -> Iterator[Text]:
    line = Text.assemble((claim.phase or "(no phase)", "bold"))
    line.append("" if claim.is_confirmed else " (only in the claim file, not checked yet)", "dim")
    line.append(f" for {age(claim.since, now)}" if claim.since else "")
    line.append(", being released" if claim.is_releasing else "")
    yield line
    facts = [f"taken {age(claim.taken_at, now)} ago" if claim.taken_at else "", claim.agent]
    facts.append(f"active {age(claim.active_at, now)} ago" if claim.active_at else "")
    facts.append("its PR is being watched" if claim.is_watched else "")
    yield Text(" · ".join(fact for fact in facts if fact), "dim")
    if claim.summary:
        yield _cut(claim.summary)
    if claim.linked_task:
        yield Text(f"stands for {claim.linked_task} as well", "dim")


def _pull(
    pull: values.OverviewPull, checks: values.OverviewChecks | None, now: float
) -> Iterator[Text]:
    number = Text(f"#{pull.number}", f"bold link {pull.url}" if pull.url else "bold")
    line = Text.assemble(number, " ", STANDINGS[pull.state])
    if pull.conflicts_with:
        line.append(f" with {pull.conflicts_with}")
    line.append(f": {', '.join(pull.changes_by)}" if pull.changes_by else "")
    yield line
    if checks is None:
        return
    polled = f", seen {age(checks.polled_at, now)} ago" if checks.polled_at else ""
    yield Text.assemble(checks.line.removeprefix("CI: ").rstrip("."), (polled, "dim"))


def _run(run: values.OverviewRun, now: float) -> Iterator[Text]:
    total = len(run.stories)
    lasts = f", begun {age(run.started, now)} ago" if run.started else ""
    words = f"{run.phase}, {run.status.replace('_', ' ')}{lasts}"
    done = f" {run.done} of {count(total, 'story', 'stories')}, " if total else ""
    yield Text.assemble(_bar(run.done, total), (done, "bold"), words)
    yield _cut(run.goal, "italic")
    yield from (_signed("blocked", f"blocked: {blocker}") for blocker in run.blockers)
    at = next((n for n, story in enumerate(run.stories) if story.status != "completed"), 0)
    # The current and the next stories matter more than completed ones.
    for story in (*run.stories[at:], *run.stories[:at]):
        since = _since(story.status, story.since, now)
        yield _signed(story.status, f"{story.id} {story.title}", f"  {at_work(story)}{since}")


def _workflow(workflow: values.OverviewWorkflow, now: float) -> Iterator[Text]:
    total = len(workflow.phases)
    done = sum(phase.status == "completed" for phase in workflow.phases)
    where = f" phase {workflow.current} of {total}, " if workflow.current else " "
    yield Text.assemble(_bar(done, total), (where, "bold"), workflow.status)
    kind = f" ({workflow.type})" if workflow.type else ""
    yield Text.assemble((workflow.name, "italic"), (kind, "dim"))
    at = max(workflow.current - 1, 0)
    numbered = tuple(enumerate(workflow.phases, 1))
    for number, phase in (*numbered[at:], *numbered[:at]):
        since = _since(phase.status, phase.since, now)
        agent = f"  {phase.agent}" if phase.agent else ""
        yield _signed(phase.status, f"{number} {phase.title}", f"{agent}  {phase.status}{since}")
    if workflow.reading:
        yield Text(f"reading: {' '.join(workflow.reading)}", "dim")
    if workflow.others:
        yield Text(f"others: {', '.join(workflow.others)}", "dim")


def _events(overview: values.Overview, now: float) -> Iterator[Text]:
    """The newest first: people read a journal backwards."""
    for event in reversed(overview.events):
        when = f"{age(event.at, now):>7}  "
        whose = event.system if event.system == "workflow" else f"{event.system} {event.task}"
        yield Text.assemble((when, "dim"), f"{whose} ".lstrip(), event.what)


def _since(status: str, since: float, now: float) -> str:
    """The time that it has had its status; for a final status, how long ago it got it."""
    if not since:
        return ""
    words = age(since, now)
    return f" {words} ago" if status in ("completed", "skipped") else f" for {words}"


def _signed(status: str, text: str, more: str = "") -> Text:
    sign, style = _SIGNS.get(status, ("·", "dim"))
    return Text.assemble((f"{sign} ", style), text, (more, "dim"))


def _cut(text: str, style: str = "") -> Text:
    """A text of any length in one line: what is done now is below it."""
    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _bar(done: int, total: int) -> Text:
    """The completed part as a bar of ten cells."""
    full = 10 * done // total if total else 0
    return Text.assemble(("█" * full, "green"), ("░" * (10 - full), "dim"))
