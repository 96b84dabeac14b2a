"""Prepare what the sessions that lead a workflow here would be told, whenever a workflow was changed.

Fingerprints are taken first, and the files are read after that: what changes in between shows. A message
that has more in it than a workflow (a claim, a run, a stage, a board) is never prepared; the quick path
looks whether there is any of that.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lifecycle import __version__
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import redact, shown, visible
from lifecycle.core.timing import Deadline
from lifecycle.hooks.guidance import guidance_text, prepared_recovery
from lifecycle.hooks.guidance.recovery_message import LIMIT, RecoveryLine, RecoveryPart, folded
from lifecycle.settings import config
from lifecycle.storage import log, workflow_marks
from lifecycle.storage.store import Folder
from lifecycle.views.overview.reading_here import reading_here
from lifecycle.workflow.sources.source_files import is_standing
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.workflow_store import WorkflowStore

MOST_SESSIONS: Final = 8
"""For how many sessions an answer is prepared."""

ALONE_LIMIT: Final = 1_300
"""Characters of the lines that are never cut where nobody but a workflow has something to say."""

_PLUGIN: Final = "CLAUDE_PLUGIN_ROOT"


def workflow_part(
    root: Path, workflow: Workflow, others: Sequence[Workflow], *, is_alone: bool = True
) -> RecoveryPart:
    """The workflow's part of the recovery message, fit to be shown.

    Args:
        root: the worktree's top folder.
        workflow: the one that the session goes on with.
        others: those that are not over either.
        is_alone: no other system has something to say.
    """
    kept, refused = reading_here(root, workflow)
    limits = {"limit": ALONE_LIMIT} if is_alone else {}
    part = guidance_text.guidance(kept, others, refused, **limits)
    return RecoveryPart(tuple(RecoveryLine(_fit(x.text), x.rank) for x in part.lines), part.rest)


def kept_text(lines: Iterable[str]) -> str:
    """What the client's summariser is told to keep, as it is printed."""
    every = ["Keep in the summary, word by word:", *map(_fit, lines)]
    return shown("\n".join(every))


def preparing_store(
    root: Path, environment: Mapping[str, str], deadline: Deadline
) -> WorkflowStore:
    """The workflows of a worktree, each commit of which prepares what sessions would be told."""
    return WorkflowStore(root, environment, deadline, _prepare_for)


def _prepare_for(store: WorkflowStore) -> None:
    def restorable() -> list[Workflow]:
        every = (one.workflow for one in store.read().unfinished)
        return [workflow for workflow in every if is_standing(store.root, workflow)]

    prepare(store.root, store.environment, restorable)


def prepare(
    root: Path, environment: Mapping[str, str], read: Callable[[], Sequence[Workflow]]
) -> None:
    """Keep what each session that leads an unfinished workflow would be told; a failure costs time alone.

    Args:
        root: the worktree's top folder.
        environment: the variables.
        read: reads the workflows that may be restored, the one that was changed last first.
    """
    top, folder = str(root), Folder(root)
    if prepared_recovery.load(top, __version__) is not None:
        return
    try:
        now_ns = time.time_ns()
        head = prepared_recovery.head_of(top)
        toml = workflow_marks.path_of(top)
        paths = [*prepared_recovery.watched(top), os.path.relpath(toml, top)]
        files = {path: prepared_recovery.fingerprint(top, path, now_ns) for path in paths}
        workflows = read()
        if not head or not _is_plain(root, environment):
            folder.remove(prepared_recovery.NAME)
            return
        is_served = config.file_of(root).is_file()
        data = {
            "form": [prepared_recovery.FORM, __version__],
            "head": head,
            "unset": [*config.PROJECT_VARIABLES, *([_PLUGIN] if is_served else [])],
            "files": files,
            "open": len(workflows),
            "answers": _answers(root, workflows),
        }
        folder.write(prepared_recovery.NAME, json.dumps(data).encode("ascii") + b"\n")
    except (OSError, LifecycleError) as error:
        log.write(root, f"nothing was prepared for the next start: {error}")


def _answers(root: Path, workflows: Sequence[Workflow]) -> dict[str, dict[str, str]]:
    answers: dict[str, dict[str, str]] = {}
    for workflow in workflows:
        if not workflow.session or workflow.session in answers:
            continue  # of several of one session the one that was changed last is told
        others = [other for other in workflows if other.id != workflow.id]
        lines = folded([workflow_part(root, workflow, others)], LIMIT)
        kept = kept_text(guidance_text.kept_lines(workflow, others))
        answers[workflow.session] = {"told": shown("\n".join(lines)), "kept": kept}
        if len(answers) == MOST_SESSIONS:
            break
    return answers


def _is_plain(root: Path, environment: Mapping[str, str]) -> bool:
    """True if the settings ask for nothing else that a start tells: no board, no staged workflow."""
    if not config.file_of(root).is_file():
        return True
    without: dict[str, Any] = {
        name: value for name, value in environment.items() if name not in config.PROJECT_VARIABLES
    }
    settings = config.load(root, without)
    return not (settings.has_board or settings.stages.use)


def _fit(line: str) -> str:
    return visible(redact(line))
