"""`lifecycle stage`: where the staged workflow stands in this worktree, and moving it by hand."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from dataclasses import replace

import click

from lifecycle.cli.command_session import Session, begin, json_option, timed
from lifecycle.cli.terminal import json_text
from lifecycle.core.errors import Refused
from lifecycle.core.stage_names import Stage
from lifecycle.core.values.configured import StageSettings
from lifecycle.settings import running_client
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.session import activation, session_record
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.storage import workflow_marks
from lifecycle.storage.workflow_files import WorkflowFiles

WIDTH = 120
"""Columns of a line at most."""

TAIL = 1_000_000
"""Bytes at the end of the text in which a stage is looked for."""


@click.group("stage", short_help="The staged workflow: show it, set a stage, switch it off.")
def command() -> None:
    """The staged workflow of labelled tasks: coding, reviews, tests, closing, the next task.

    It is switched on with [stages] use = true in .lifecycle.toml (lifecycle init --stages), and leads
    a session from stage to stage while the tracker has an open task with the label.
    """


@command.command("detect", short_help="Tell the stage of a text on stdin.")
@json_option
def detect(*, as_json: bool) -> None:
    """Read text on stdin and print the stage that it tells of: a marker, or what it says in words.

    Prints one of the six completions, IN_PROGRESS, IN_TESTING, IN_ORACLE_REVIEW or UNKNOWN.
    """
    from lifecycle.stages.detection.detect_stage import detect_text

    found = detect_text(_text())
    if as_json:
        said = {"stage": found.state.value, "tier": found.tier.value, "why": found.why}
        click.echo(json_text(said))
    else:
        click.echo(found.state.value)


@command.command("status", short_help="Where the workflow and this session stand.")
@json_option
@timed
def status(*, as_json: bool) -> None:
    """Show whether the workflow is active here, and at which stage the session is.

    In a client's session it is about that session; elsewhere about the last one that was active here.
    """
    from lifecycle.cli.stages import stage_status

    at = _begin(as_json=as_json)
    shown = stage_status.look(at, _kept(WorkflowFiles(at.root)))
    at.show(_fitted(shown.lines), shown.data)


@command.command("set", short_help="Set the stage by hand.")
@click.argument("stage", metavar="STAGE", type=click.Choice([stage.value for stage in Stage]))
@click.option("--task", metavar="ID", default="", help="The task that the session works on.")
@json_option
@timed
def set_(stage: str, *, task: str, as_json: bool) -> None:
    """Set the stage by hand: the session is told at its next stop what that stage asks for.

    In a client's session it is about that session; elsewhere about the last one that was active here, or
    whichever stops next. The counts of how often it was told to go on begin anew.

    The stages: CODING, REQUIREMENTS_REVIEW, TESTING, ORACLE_REVIEW, COMMIT_CLOSE, NEXT_TASK.
    """
    at = _begin(as_json=as_json)
    stages = _settings(at)
    shelf = WorkflowFiles(at.root)
    kept = _kept(shelf) or SessionRecord("")
    if task:
        found = at.world.tracker.get(task)
        if not any(stages.is_label(name) for name in found.labels):
            raise Refused(
                f"Task {found.id} has no label {stages.label}, so the workflow does not lead it and "
                "nothing was changed; add the label first."
            )
        kept = replace(kept.on(found.id, found.labels, found.assignee), is_set=True)
    now = at.world.clock.now()
    kept = replace(kept, memory=Memory(set_stage=Stage(stage)), stage=stage, at=now)
    with shelf.locked(at.world.deadline.remaining()):
        session_record.save(shelf, kept)
        shelf.set_due(workflow_marks.ALWAYS)
    who = f"Session {kept.session}" if kept.session else "The session that stops next"
    line = f"{who} is told at its next stop that it is at {stage}"
    line += f" of {kept.task}." if kept.task else "."
    at.show([line], {"session": kept.session, "task": kept.task, "stage": stage})


@command.command("off", short_help="Switch the workflow off in this worktree.")
@json_option
@timed
def off(*, as_json: bool) -> None:
    """Switch the workflow off in this worktree; no session is told anything until it is on again."""
    at = _begin(as_json=as_json)
    WorkflowFiles(at.root).switch(off=True)
    line = "The staged workflow is off in this worktree; lifecycle stage on switches it on again."
    at.show([line], {"off": True})


@command.command("on", short_help="Switch the workflow on again here.")
@json_option
@timed
def on(*, as_json: bool) -> None:
    """Switch the workflow on again in this worktree, after off."""
    at = _begin(as_json=as_json)
    WorkflowFiles(at.root).switch(off=False)
    _settings(at)
    at.show(["The staged workflow is on in this worktree."], {"off": False})


def _fitted(lines: list[str]) -> list[str]:
    """The lines as a terminal has room for them, broken between words; elsewhere as they are."""
    if sys.stdout is None or not sys.stdout.isatty():
        return lines
    width = min(shutil.get_terminal_size().columns, WIDTH)
    return [
        part
        for line in lines
        for part in textwrap.wrap(
            line, width, break_long_words=False, break_on_hyphens=False, subsequent_indent="  "
        )
    ]


def _begin(*, as_json: bool) -> Session:
    """A worktree's session; Refused where `.lifecycle/` came with the repository."""
    at = begin(as_json=as_json)
    at.world.refuse_tracked()
    return at


def _settings(at: Session) -> StageSettings:
    """The workflow's settings; Refused where it is off."""
    shelf = WorkflowFiles(at.root)
    stages = at.world.settings.stages
    if not stages.use:
        raise Refused(
            "The staged workflow is not on here, so nothing was changed; set use = true below [stages] in "
            f"{workflow_marks.CONFIG}, or run: lifecycle init --stages"
        )
    if shelf.is_off:
        raise Refused(
            "The staged workflow is switched off in this worktree, so nothing was changed; run: "
            "lifecycle stage on"
        )
    activation.wanted_in(at.world)
    return stages


def _kept(shelf: WorkflowFiles) -> SessionRecord | None:
    """What is kept of the session that is meant: the client's own, else the last one that was here."""
    own = running_client.session_of({}, os.environ)
    if own:
        return session_record.load(shelf, own) or SessionRecord(own)
    known = [kept for kept in session_record.all_of(shelf) if kept.session]
    return known[0] if known else session_record.load(shelf, "")


def _text() -> str:
    """The end of what stdin has, whatever it is."""
    content = b""
    while sys.stdin is not None and (chunk := sys.stdin.buffer.read(TAIL)):
        content = (content + chunk)[-TAIL:]
    return content.decode("utf-8", "replace")
