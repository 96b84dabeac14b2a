"""`lifecycle run status|progress|trim-progress|report|compact-context`: show a run.

Also the platform's part of a subagent's context: `platform-context` and `platform`. On a terminal, rich
draws the status in its full width.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from itertools import groupby
from operator import itemgetter

from lifecycle.cli.run.run import RunSession
from lifecycle.cli.terminal import Column, fitted, styled, table
from lifecycle.platforms import platform_tables, selection
from lifecycle.run import run_store
from lifecycle.run.texts import report_text, told


def status(session: RunSession, *, every: bool) -> int:
    """Show the run: its stories with their checks and gates on the present files, and the next step.

    A check without a record on this tree is PENDING, whatever was said of it.
    """
    run, written = session.store.demanded(), session.store.written_at
    about = (run, session.facts(run.current), session.now)
    lines, data = report_text.status(*about, written=written, every=every)
    return session.show(lines, data, partial(_draw, lines))


def progress(session: RunSession, *, lines: int) -> None:
    """Show the last lines of the progress file, the newest last."""
    entries = session.store.progress(lines)
    session.show(entries or ["There is no progress yet."], {"lines": entries})


def trim_progress(session: RunSession, *, lines: int) -> None:
    """Keep only the last lines of the progress file; a run of more than an hour does this by itself."""
    store = session.store
    with store.locked():
        run = store.load()
        if run is not None:
            store.refuse_held(run)
        before, kept = store.trim_progress(lines)
    line = f"Trimmed {run_store.PROGRESS}: {kept:,} of {before:,} lines are left"
    session.show([line], {"before": before, "kept": kept})


def report(session: RunSession) -> None:
    """Print the progress report of the run, and record that; any session may read it."""
    run, now = session.store.demanded(), session.now
    facts = session.facts(run.current)
    if not run.is_over and not session.store.is_held(run):
        with session.store.changing() as change:
            run = change.run
            change.run = report_text.reported(run, now)
            change.note(f"Progress report: {run.tally} stories completed")
    session.show(*report_text.report(run, facts, now))


def compact_context(session: RunSession) -> None:
    """Print what a session has to keep of the run, by its duration, and drop the rest.

    Under an hour nothing is dropped from the files. From one hour on the progress file is trimmed. After
    four hours, completed stories are kept as summaries. For a session that does not lead the run, nothing
    is dropped from the files.
    """
    run, now = session.store.demanded(), session.now
    facts = session.facts(run.current)
    if not session.store.is_held(run):
        with session.store.changing() as change:
            run = change.run = report_text.compacted(change.run, now)
            change.note("Compacted the context")
    session.show(*report_text.context(run, facts, now))


def platform_context(session: RunSession) -> None:
    """Print the platform's commands, conventions and gates, the goal, and the clarifications."""
    run = session.store.load()
    detection = selection.detect(session.root, os.environ)
    lines = told.drawn("platform", run=run, platform=platform_tables.drawn("context", detection))
    session.show(lines, {**platform_tables.detection_data(detection), "text": "\n".join(lines)})


def platform(session: RunSession) -> int:
    """Print all platforms, the one that this worktree matches, and its configuration.

    Exits 1 if none matches: then gates run only the commands in .lifecycle.toml (lifecycle check --list).
    """
    listed = platform_tables.drawn("discovery", selection.discover(session.root, os.environ))
    detection = selection.detect(session.root, os.environ)
    lines = [*listed, "", *platform_tables.drawn("detection", detection)]
    none = told.refused("no-platform", reason=detection.reason[:-1])
    data = platform_tables.detection_data(detection)
    return session.show_all_but(None if detection.selected else none, lines, data)


def _draw(lines: Iterable[str]) -> None:
    """Draw a block of Markdown on a terminal: its tables in the full width, its headings bold."""
    screen = fitted()
    for is_table, part in groupby(lines, key=lambda line: line.startswith("|")):
        if is_table:
            head, _, *rows = (line[2:-2].split(" | ") for line in part)
            cells = [[cell.replace("\\|", "|") for cell in row] for row in rows]
            columns = [
                Column(name, itemgetter(at), most=None if at == 1 else 24)  # the main one is second
                for at, name in enumerate(head)
            ]
            screen.print(table(screen, columns, cells))
            continue
        for line in part:
            text = line.lstrip("# ").capitalize() if line.startswith("#") else line
            screen.print(styled(text, "bold" if line.startswith("#") else ""))
