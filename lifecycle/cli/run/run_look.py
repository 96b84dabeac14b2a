"""`lifecycle run status|progress|trim-progress|report|compact-context`: show a run.

Also the platform's part of a subagent's context: `platform-context` and `platform`. On a terminal, rich
draws the tables in its full width.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from operator import itemgetter

from lifecycle.cli.run.run import RunSession
from lifecycle.cli.terminal import Column, fitted, styled, table
from lifecycle.platforms import discovery, platform_tables, selection
from lifecycle.run import long_run, run_store
from lifecycle.run.table import KEPT_LINES
from lifecycle.run.texts import report_text, told


def status(session: RunSession, *, every: bool) -> int:
    """Show the run: its stories with their checks and gates on the present files, and the next step.

    A check without a record on this tree is PENDING, whatever was said of it.
    """
    run, written = session.store.demanded(), session.store.written_at
    about = (run, session.facts(run), session.now)
    if session.as_json:
        return session.show([], report_text.status_data(*about, written=written, every=every))
    view = report_text.status_view(*about, written=written, every=every)
    return session.show(report_text.status_lines(view), {}, partial(draw_status, view))


def progress(session: RunSession, *, lines: int) -> None:
    """Show the last lines of the progress file, the newest last."""
    entries = session.store.progress.tail(lines)
    shown = entries or ["There is no progress yet."]
    session.show(shown, {"lines": entries}, partial(draw_progress, entries) if entries else None)


def trim_progress(session: RunSession, *, lines: int) -> None:
    """Keep only the last lines of the progress file; a run of more than an hour does this by itself."""
    store = session.store
    with store.locked():
        run = store.load()
        if run is not None:
            store.refuse_held(run)
        before, kept = store.progress.trim(lines)
    line = f"Trimmed {run_store.PROGRESS}: {kept:,} of {before:,} lines are left"
    session.show([line], {"before": before, "kept": kept})


def report(session: RunSession) -> None:
    """Print the progress report of the run, and record that; any session may read it."""
    run, now = session.store.demanded(), session.now
    facts = session.facts(run)
    if not run.is_over and not session.store.is_held(run):
        with session.store.changing() as change:
            run = change.run
            change.run = report_text.reported(run, now)
            done = f"{len(run.completed_stories)}/{len(run.stories)}"
            change.note(f"Progress report: {done} stories completed")
    about = (run, facts, now)
    session.show(report_text.report_lines(*about), report_text.report_data(*about))


def compact_context(session: RunSession) -> None:
    """Print what a session has to keep of the run, by its duration, and drop the rest.

    Under an hour nothing is dropped from the files. From one hour on the progress file is trimmed. After
    four hours, completed stories are kept as summaries. For a session that does not lead the run, nothing
    is dropped from the files.
    """
    run, now = session.store.demanded(), session.now
    facts = session.facts(run)
    if not session.store.is_held(run):
        with session.store.changing() as change:
            run = change.run = report_text.compacted(change.run, now)
            if long_run.tier(run, now).trims:
                session.store.progress.trim(KEPT_LINES)
            change.note("Compacted the context")
    about = (run, facts, now)
    session.show(report_text.context_lines(*about), report_text.context_data(*about))


def platform_context(session: RunSession) -> None:
    """Print the platform's commands, conventions and gates, the goal, and the clarifications."""
    run = session.store.load()
    detection = selection.detect(session.root, os.environ)
    lines = report_text.platform_block(detection, run)
    session.show(lines, {**platform_tables.detection_data(detection), "text": "\n".join(lines)})


def platform(session: RunSession) -> int:
    """Print all platforms, the one that this worktree matches, and its configuration.

    Exits 1 if none matches: then gates run only the commands in .lifecycle.toml (lifecycle check --list).
    """
    listed = platform_tables.discovery_lines(discovery.discover(session.root, os.environ))
    detection = selection.detect(session.root, os.environ)
    lines = [*listed, "", *platform_tables.detection_lines(detection)]
    none = told.refused("no-platform", reason=detection.reason[:-1])
    data = platform_tables.detection_data(detection)
    return session.show_all_but(None if detection.selected else none, lines, data)


_AT_WORK = dict.fromkeys(("in_progress", "testing", "review"), "cyan")
_STYLES = {**_AT_WORK, "completed": "green", "blocked": "yellow"}

_FACTS = (Column("", itemgetter(0), "dim"), Column("", itemgetter(1), most=None))
_STORIES = (
    Column("#", itemgetter(0)),
    Column("story", itemgetter(1), most=None),
    Column("size", itemgetter(2)),
    Column("status", lambda story: styled(story[3], _STYLES.get(story[3], ""))),
    Column("tdd", itemgetter(4)),
    Column("iter", itemgetter(5)),
    Column("checks", itemgetter(6), "dim", 30),
    Column("gates", itemgetter(7), "dim"),
    Column("AC", itemgetter(8)),
)
_ENTRIES = (Column("when", itemgetter(0), "dim"), Column("what", itemgetter(2), most=None))


def draw_status(view: report_text.StatusView) -> None:
    """Print a run as tables."""
    shown = fitted()
    shown.print(table(shown, _FACTS, view.facts))
    if view.stories:
        shown.print()
        shown.print(table(shown, _STORIES, view.stories))
    for name, lines in (("Blockers", view.blockers), ("Next steps", told.numbered(view.steps))):
        if lines:
            shown.print()
            shown.print(styled(name, "bold"))
            shown.print(styled("\n".join(lines)))
    for note in (view.left_out, *view.notes):
        if note:
            shown.print(styled(note, "dim"))


def draw_progress(lines: Sequence[str]) -> None:
    """Print lines of the progress file as a table."""
    shown = fitted()
    shown.print(table(shown, _ENTRIES, [line.partition(" ") for line in lines]))
