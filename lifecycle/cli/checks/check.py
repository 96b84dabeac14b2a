"""`lifecycle check`: run a check of the project and record the result, or list the checks."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import click

from lifecycle.cli.command_session import demanded_root
from lifecycle.cli.main import Span
from lifecycle.cli.terminal import json_text, passing, say_all
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.redact import visible
from lifecycle.core.timing import Deadline, SystemClock, import_meanwhile, use_wait
from lifecycle.core.values.configured import Settings
from lifecycle.evidence import outcomes, records, tree_hash
from lifecycle.evidence.checks import check_engine, known_checks
from lifecycle.git import tracked_files
from lifecycle.platforms.command_argv import as_line
from lifecycle.settings import config, resources, running_client
from lifecycle.storage import store

LONGEST = 604_800.0
"""The longest time limit of a check in seconds: a week."""

_SECONDS = 10.0
"""Seconds that git may take before a check is run, or to list the checks."""

KINDS = {"seconds": Span(0, LONGEST, min_open=True)}
"""Click's types for words on the command line, beside those of `main.py`."""


def check(
    *, name: str, extra: tuple[str, ...], listing: bool, seconds: float | None, as_json: bool
) -> int:
    """Run the check NAME: test, build, lint, coverage, or any other that the project has.

    Its command runs unchanged in the worktree, without a shell. Its output is shown at once and kept as a
    log; the result is recorded for the tree that it ran on, as evidence for that tree. Extra words are
    passed to its command, and then the run counts only as a partial run.

    The command comes from checks.commands in .lifecycle.toml, else from validate, else from stages.test,
    else from the project's platform; --list shows which. Commands that come with the repository run only
    after lifecycle trust has allowed them.

    Exits as the command does; 124: its time was up; 127: its program does not exist.
    """
    if listing == bool(name):
        raise click.UsageError("Name a check, or use --list.")
    root, clock = demanded_root(), SystemClock()
    if name:
        import_meanwhile(*check_engine.BEHIND)
        Thread(target=use_wait).start()
    tracked_files.refuse(root, Deadline.after(clock, _SECONDS), os.environ)
    settings = config.load(root, os.environ)
    if listing:
        _show_list(root, settings, clock, as_json=as_json)
        return 0
    check = known_checks.demanded(name, root, settings, os.environ)
    session = running_client.session_of({}, os.environ)
    err = passing(sys.stderr)
    out = err if as_json else passing(sys.stdout)
    done = check_engine.CheckRun(
        root, os.environ, clock, settings, check, out, err, session, extra, seconds or 0.0
    ).result()
    _show(done, as_json=as_json)
    return 128 + signal.SIGINT if done.signal == signal.SIGINT else done.record.status or 0


def _show(done: check_engine.CheckDone, *, as_json: bool) -> None:
    """Print the result of a check: a line and remarks on standard error, or one JSON object."""
    record = done.record
    if as_json:
        data = {**asdict(record), "outcome": _word(record)}
        if record.counts is not None:
            data["counts"] = {**data["counts"], "total": record.counts.total}
        data["argv"] = record.commands[-1] if record.commands else ()
        click.echo(json_text({**data, "remarks": [visible(remark) for remark in done.remarks]}))
        return
    counted = f": {_counted(record.counts)}" if record.counts is not None else ""
    why = f" ({record.why})" if record.why else ""
    took = f" in {record.at - record.started:.1f} s"
    log = f"; log: {record.log}" if record.log else ""
    lines = [f"lifecycle: {record.name} {_word(record)}{counted}{why}{took}{log}", *done.remarks]
    for line in lines:
        click.echo(visible(line), err=True)


def _word(record: records.RunRecord) -> str:
    return record.outcome.value.upper()


def _counted(counts: outcomes.Counts) -> str:
    errors = "error" if counts.errors == 1 else "errors"
    numbers = {"passed": counts.passed, "failed": counts.failed, errors: counts.errors}
    numbers["skipped"] = counts.skipped
    return ", ".join(f"{number} {name}" for name, number in numbers.items() if number) or "none"


def _show_list(root: Path, settings: Settings, clock: SystemClock, *, as_json: bool) -> None:
    runs, clone = records.EvidenceRoom(root).records(), store.clone_of(root)
    tree = tree_hash.fingerprint(root, Deadline.after(clock, _SECONDS), os.environ)
    entries = list[dict[str, Any]]()
    for check in known_checks.known_checks(root, settings, os.environ):
        last = next((run for run in reversed(runs) if run.name == check.name), None)
        is_allowed = not check.problem and known_checks.may_run(check, clone, os.environ)
        # The same rule as at a stop: the agent's own run does not count for another test command.
        stands = records.standing(runs, tree, check.name, settings.stages.test).value
        entry = {**fields_of(check, "name", "commands"), "from": check.origin}
        entry |= {"needs_trust": check.is_projects, "trusted": is_allowed, "problem": check.problem}
        entry |= {"last": _word(last) if last is not None else None, "standing": stands}
        entries.append(entry)
    standing = resources.table("evidence/checks/standing.toml")
    shown = {"checks": entries, "standing": standing, "as_line": as_line}
    lines = resources.drawn("cli/checks/templates/checks.txt", **shown)
    say_all(lines, {"checks": entries}, as_json=as_json)
