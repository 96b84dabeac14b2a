"""`lifecycle run compact-context|platform-context|platform`: what sessions and subagents keep in mind."""

from __future__ import annotations

import os

import click

from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.core.errors import Refused
from lifecycle.platforms import discovery, platform_tables, selection
from lifecycle.run.long_run import tier
from lifecycle.run.table import KEPT_LINES
from lifecycle.run.texts import context_text


@click.command("compact-context", short_help="What of the run is worth keeping in a context.")
@in_run
def compact_context(given: RunSession) -> None:
    """Print what a session has to keep of the run, by how long it lasts, and drop what it need not.

    Under an hour nothing is dropped from the files. From one hour on the progress file is trimmed. Beyond
    four, completed stories are kept as summaries.
    """
    facts, now = given.facts(given.store.demanded()), given.now
    with given.store.changing() as change:
        run = change.run = context_text.compacted(change.run, now)
        if tier(run, now).trims:
            given.store.progress.trim(KEPT_LINES)
        change.note("Compacted the context")
    given.show(
        context_text.context_lines(run, facts, now), context_text.context_data(run, facts, now)
    )


@click.command("platform-context", short_help="The block that each subagent is given first.")
@in_run
def platform_context(given: RunSession) -> None:
    """Print the platform's commands, conventions and gates, the goal, and what was clarified."""
    run = given.store.load()
    detection = selection.detect(given.root, os.environ)
    lines = context_text.platform_block(detection, run)
    given.show(lines, {**platform_tables.detection_data(detection), "text": "\n".join(lines)})


@click.command("platform", short_help="The three tables of platforms at a run's beginning.")
@in_run
def platform(given: RunSession) -> int:
    """Print which platforms there are, which one this worktree matches, and its configuration.

    Exits 1 if none matches: then gates run only what .lifecycle.toml names (lifecycle check --list).
    """
    found = discovery.discover(given.root, os.environ)
    detection = selection.detect(given.root, os.environ)
    lines = [
        *platform_tables.discovery_lines(found),
        "",
        *platform_tables.detection_lines(detection),
    ]
    given.show(lines, platform_tables.detection_data(detection))
    if detection.selected is not None:
        return 0
    if not given.as_json:
        raise Refused(
            f"{detection.reason[:-1]}, so gates run only what .lifecycle.toml names (lifecycle check "
            "--list); the platforms that are known: lifecycle platform list"
        )
    return 1
