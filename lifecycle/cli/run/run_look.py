"""`lifecycle run status|progress|trim-progress|report|compact-context`: what a run has come to.

Besides, what subagents get of the platform: `platform-context` and `platform`.
"""

from __future__ import annotations

import os

from lifecycle.cli.run.run import RunSession
from lifecycle.platforms import discovery, platform_tables, selection
from lifecycle.run.long_run import tier
from lifecycle.run.run_store import PROGRESS
from lifecycle.run.table import KEPT_LINES
from lifecycle.run.texts import report_text
from lifecycle.run.texts.told import refused


def status(session: RunSession, *, every: bool) -> None:
    """Show the run: its stories with their checks and gates on the files as they are, and what is next.

    A check that has no record on this tree is PENDING, whatever was said of it.
    """
    run, written = session.store.demanded(), session.store.written_at
    about = (run, session.facts(run), session.now)
    if session.as_json:
        session.show([], report_text.status_data(*about, written=written, every=every))
        return
    view = report_text.status_view(*about, written=written, every=every)

    def draw() -> None:
        from lifecycle.cli.run.run_screen import draw_status

        draw_status(view)

    session.show(report_text.status_lines(view), {}, draw)


def progress(session: RunSession, *, lines: int) -> None:
    """Show the last lines of the progress file, the newest last."""
    entries = session.store.progress.tail(lines)

    def draw() -> None:
        from lifecycle.cli.run.run_screen import draw_progress

        draw_progress(entries)

    shown = entries or ["There is no progress yet."]
    session.show(shown, {"lines": entries}, draw if entries else None)


def trim_progress(session: RunSession, *, lines: int) -> None:
    """Let the progress file keep its last lines; a run of more than an hour does it by itself."""
    store = session.store
    with store.locked():
        before, kept = store.progress.trim(lines)
    line = f"Trimmed {PROGRESS}: {kept:,} of {before:,} lines are left"
    session.show([line], {"before": before, "kept": kept})


def report(session: RunSession) -> None:
    """Print the progress report of the run, and note that it was given."""
    facts, now = session.facts(session.store.demanded()), session.now
    with session.store.changing() as change:
        run = change.run
        if not run.is_over:
            change.run = report_text.reported(run, now)
            done = f"{len(run.completed_stories)}/{len(run.stories)}"
            change.note(f"Progress report: {done} stories completed")
    about = (run, facts, now)
    session.show(report_text.report_lines(*about), report_text.report_data(*about))


def compact_context(session: RunSession) -> None:
    """Print what a session has to keep of the run, by how long it lasts, and drop what it need not.

    Under an hour nothing is dropped from the files. From one hour on the progress file is trimmed. Beyond
    four, completed stories are kept as summaries.
    """
    facts, now = session.facts(session.store.demanded()), session.now
    with session.store.changing() as change:
        run = change.run = report_text.compacted(change.run, now)
        if tier(run, now).trims:
            session.store.progress.trim(KEPT_LINES)
        change.note("Compacted the context")
    about = (run, facts, now)
    session.show(report_text.context_lines(*about), report_text.context_data(*about))


def platform_context(session: RunSession) -> None:
    """Print the platform's commands, conventions and gates, the goal, and what was clarified."""
    run = session.store.load()
    detection = selection.detect(session.root, os.environ)
    lines = report_text.platform_block(detection, run)
    session.show(lines, {**platform_tables.detection_data(detection), "text": "\n".join(lines)})


def platform(session: RunSession) -> int:
    """Print which platforms there are, which one this worktree matches, and its configuration.

    Exits 1 if none matches: then gates run only what .lifecycle.toml names (lifecycle check --list).
    """
    listed = platform_tables.discovery_lines(discovery.discover(session.root, os.environ))
    detection = selection.detect(session.root, os.environ)
    lines = [*listed, "", *platform_tables.detection_lines(detection)]
    session.show(lines, platform_tables.detection_data(detection))
    if detection.selected is not None:
        return 0
    if not session.as_json:
        raise refused("no-platform", reason=detection.reason[:-1])
    return 1
