"""`lifecycle init`: set up one project, without the plugin."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from pathlib import Path

import click

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.cli.terminal import json_text
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.settings.resources import templates
from lifecycle.setup.init.hook_table import PARTS
from lifecycle.setup.init.planning import Plan, apply
from lifecycle.storage.state_file import MemoryCache
from lifecycle.storage.store import worktree_root
from lifecycle.trackers import registry

_SECONDS = 5.0
"""Seconds for finding out which command takes a task here."""


def command(*, remove: bool, dry_run: bool, as_json: bool, **asked: bool) -> None:
    """Put lifecycle's hooks and permissions into this project's settings for Claude Code.

    Merges into .claude/settings.local.json and keeps everything else there, byte for byte. Adds the
    commands /claim, /handoff and /status unless they exist. Keeps lifecycle's own files out of git: for you
    alone by info/exclude, with --shared by .gitignore. Writes a commented .lifecycle.toml if there is none;
    a linked worktree reads that of its main one. A second run changes nothing; --remove removes exactly
    what was added.

    With the plugin you need it only for --permissions, since a plugin cannot allow its own commands, and
    for the following. --stages switches the staged workflow on in .lifecycle.toml, and adds the commands
    for review and start, two scripts, permissions, and the client's limit of continuations. --run adds the
    skill, the agents and the commands of an autonomous run, .claude/core/, the limit, and permissions: the
    agent then runs the project's own checks without asking. --workflow adds the agent
    delegation-orchestrator, two scripts under the names in a workflow's design, a section of CLAUDE.md,
    and permissions.
    """
    if asked["permissions"] and (asked["shared"] or asked["stages"]):
        raise click.UsageError(
            "--permissions cannot be combined with --shared (it is for one person) or --stages (has it)."
        )
    chosen = [name for name, is_chosen in {**asked, "remove": remove}.items() if is_chosen]
    for alone in ("statusline", "remove"):
        if alone in chosen and len(chosen) > 1:
            raise click.UsageError(f"--{alone} cannot be combined with other options.")
    folder, parts = Path.cwd(), [part for part in PARTS if asked.pop(part)]
    todo = Plan(worktree_root(folder) or folder, os.environ)
    if asked["permissions"]:
        todo.permission(parts)
    elif asked["statusline"]:
        todo.status_line()
    elif remove:
        todo.removal()
    else:
        todo.installation(parts, shared=asked["shared"])
    if not dry_run:
        apply(todo)
    if as_json:
        click.echo(json_text(_data(todo, dry_run=dry_run)))
        return
    page = templates("cli/setup/templates", visible=visible).get_template("init.txt")
    about = {"remove": remove, "dry_run": dry_run, "to_claim": partial(_to_claim, todo.root)}
    if text := page.render(todo=todo, **about).rstrip("\n"):
        click.echo(text)


def _to_claim(root: Path) -> str:
    clock = SystemClock()
    deadline = Deadline.after(clock, _SECONDS)
    with closing(WorktreeWorld(root, os.environ, clock, deadline, MemoryCache())) as world:
        return registry.to_claim(world)


def _data(todo: Plan, *, dry_run: bool) -> dict[str, object]:
    changes = [
        {"path": str(change.path), "change": change.verb, "what": change.what}
        | ({"diff": change.diff()} if dry_run else {})
        for change in todo.changes
    ]
    fields = {"mode": todo.mode or None, "label": todo.label or None, "dry_run": dry_run}
    return {**fields, "changes": changes, "notes": list(todo.notes)}
