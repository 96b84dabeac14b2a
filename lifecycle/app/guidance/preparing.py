"""Prepare the sessions' message about the workflows here, whenever one was changed.

Fingerprints are taken first, and the files are read after that, so a change in between is noticed. A
message that is also about something else (a claim, a run, a stage, a board) is never prepared; the quick
path checks whether there is any of these.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lifecycle import __version__
from lifecycle.app.guidance import guidance_text, prepared_recovery
from lifecycle.app.guidance.recovery_message import LIMIT, RecoveryLine, RecoveryPart, folded
from lifecycle.core import errors, timing
from lifecycle.core.redact import as_data, redact, shown, visible
from lifecycle.settings import config
from lifecycle.storage import log, regular_files
from lifecycle.views.overview.overview_workflow import reading_here
from lifecycle.workflow.sources.source_files import is_standing, read_sources
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.whose import whose_is

MOST_ANSWERS: Final = 12
"""How many answers are prepared; sessions that need another one take the full path."""

_MOST_TROUBLES: Final = 8_000
"""How many characters the sentences for the user may have; with more, nothing is prepared."""

_PLUGIN: Final = "CLAUDE_PLUGIN_ROOT"


def workflow_part(root: Path, workflow: Workflow, others: Sequence[Workflow]) -> RecoveryPart:
    """The workflow's part of the recovery message, fit to be shown.

    Args:
        root: the worktree's top folder.
        workflow: the workflow that the session continues.
        others: other workflows that are not over.
    """
    kept, refused = reading_here(root, workflow)
    part = guidance_text.guidance(kept, others, refused)
    lines = (RecoveryLine(_fit(line.text), line.rank) for line in part.lines)
    return RecoveryPart(tuple(lines), part.rest)


def kept_text(lines: Iterable[str]) -> str:
    """What the client's summariser is told to keep, as it is printed."""
    return shown("\n".join(["Keep in the summary, word for word:", *map(_fit, lines)]))


def preparing_store(
    root: Path, environment: Mapping[str, str], deadline: timing.Deadline
) -> WorkflowStore:
    """The store of a worktree's workflows; each of its commits prepares what sessions would be told."""
    return WorkflowStore(root, environment, deadline, _prepare)


def _prepare(store: WorkflowStore) -> None:
    """Save what each session would be told next; a failure costs only time."""
    root, top, now_ns = store.root, str(store.root), time.time_ns()
    if prepared_recovery.load(top, __version__) is not None:
        return
    failed = "nothing was prepared for the next start"
    with log.Surviving(root, failed, OSError, errors.LifecycleError):
        toml = os.path.relpath(regular_files.settings_path(top), top)
        paths = [*prepared_recovery.watched(top), toml]
        files = {path: prepared_recovery.fingerprint(top, path, now_ns) for path in paths}
        workflows, anchor = store.read(), prepared_recovery.anchor_of(top)
        troubles = (as_data(redact(visible(sentence))) for sentence in workflows.troubles)
        person = shown("\n".join(troubles)).strip()
        if not anchor or not _is_plain(root, store.environment) or len(person) > _MOST_TROUBLES:
            store.folder.remove(prepared_recovery.NAME)
            return
        is_served = config.file_of(root).is_file()
        standing = [record for record in workflows.open_records if is_standing(root, record)]
        data = {
            "form": [prepared_recovery.FORM, __version__],
            "anchor": anchor,
            "unset": [*config.PROJECT_VARIABLES, *([_PLUGIN] if is_served else [])],
            "files": files,
            "sources": _sources(store, workflows),
            "person": person,
            **_answers(root, standing),
        }
        store.folder.write(prepared_recovery.NAME, json.dumps(data).encode("ascii") + b"\n")


def _sources(store: WorkflowStore, workflows: WorktreeWorkflows) -> str:
    """The state of the sources: "" if none has a workflow, "new" if one has news, else "known"."""
    sources, unusable = read_sources(store.root)
    facts = {(fact.path, fact.digest) for fact in sources}
    seen = {(entry.workflow.source, entry.workflow.source_seen) for entry in workflows.found}
    if facts - seen:
        stored = store.read(archived=True).found
        seen |= {(entry.workflow.source, entry.workflow.source_seen) for entry in stored}
    if unusable or facts - seen:
        return "new"
    return "known" if facts or any(path for path, _ in seen) else ""


def _answers(root: Path, restorable: Sequence[Workflow]) -> dict[str, Any]:
    """An answer for each owner that a workflow can have, and one for all other sessions."""
    first: dict[tuple[str, int, str], Workflow] = {}
    for workflow in restorable:
        first.setdefault(whose_is(workflow), workflow)
    answers = []
    for number, (whose, workflow) in enumerate(first.items()):
        texts: dict[str, str] = {}
        if number < MOST_ANSWERS:
            others = [other for other in restorable if other.id != workflow.id]
            lines = folded([workflow_part(root, workflow, others)], LIMIT)
            kept = guidance_text.kept_lines(workflow, others)
            texts = {"told": shown("\n".join(lines)), "kept": kept_text(kept)}
        answers.append({"id": workflow.id, "whose": whose, **texts})
    line = guidance_text.others_line(restorable)
    none = {"told": shown(_fit(line)), "kept": kept_text([f"- {line}"])} if line else {}
    return {"answers": answers, "none": none}


def _is_plain(root: Path, environment: Mapping[str, str]) -> bool:
    """True if the settings ask for nothing else that a start tells: no board, no staged workflow."""
    if not config.file_of(root).is_file():
        return True
    names = environment.keys() - {*config.PROJECT_VARIABLES}
    settings = config.load(root, {name: environment[name] for name in names})
    return not (settings.has_board or settings.stages.use)


def _fit(line: str) -> str:
    return visible(redact(line))
