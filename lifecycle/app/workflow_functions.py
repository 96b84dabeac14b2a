"""The four functions of the design for workflow state, as `lifecycle.api` has them.

    id = create_workflow_state("Create calculator.py", [("Create", "builder"), ("Test", "tester")])
    update_phase_status(id, "phase_0", "completed", ["calculator.py"], "it has four functions")
    get_workflow_state(id)["phases"][0]["status"]
    generate_markdown(get_workflow_state(id))

Each works on the worktree of the current folder unless `root` names another. Gates and the table of moves
apply as they do for commands; `Refused` says what is possible.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lifecycle.app.guidance.preparing import preparing_store
from lifecycle.app.wiring import sentence
from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.github.operations.inputs import demands
from lifecycle.storage import regular_files, store
from lifecycle.workflow.decide import EXPLAINED
from lifecycle.workflow.documents import workflow_documents
from lifecycle.workflow.documents.workflow_documents import DocumentKind, ReadDocument, fields_of
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps.workflow_steps import WorkflowSteps
from lifecycle.workflow.store import document_files, found_workflows
from lifecycle.workflow.table import FROM_CHECKPOINT, FROM_DOCUMENT, PhaseStatus
from lifecycle.workflow.whose import asker_of

SECONDS = 30.0

PhaseForm = str | Sequence[str] | Mapping[str, Any]
"""The forms of a phase: its title, (title, agent), or an object with `title`, `agent`, `gate` …"""


@demands
def create_workflow_state(
    task: str,
    phases: Iterable[PhaseForm],
    *,
    name: str = "",
    type: str = "",  # noqa: A002 -- as the design calls it
    reading: Iterable[str] = (),
    context: Mapping[str, Any] | None = None,
    reminders: Iterable[str] = (),
    root: str | Path = ".",
) -> str:
    """Create a workflow whose phases are all pending; both documents and the view are written.

    Args:
        task: what was asked, verbatim.
        phases: the phases in order: titles, (title, agent), or objects with `title` and optionally
            `agent`, `reading`, `reminders`, `gate`.
        name: the workflow's name; the task's first line unless given.
        type: `planning`, `qa-loop`, `implementation`, `custom`, or a template's name.
        reading: files that a session has to read before it continues the workflow.
        context: facts by name.
        reminders: rules that outlive compaction.
        root: a folder of the worktree.

    Returns:
        The workflow's id, `wf_YYYYMMDD_HHMMSS`.

    Raises:
        Refused: there is no phase, or a value is not allowed.
    """
    steps = _steps(root)
    first = next(iter(task.strip().splitlines()), "")[:100]
    workflow = Workflow(
        "",
        name or first,
        task=task,
        phases=tuple(_phase(phase) for phase in phases),
        reading=tuple(map(str, reading)),
        context={**(context or {})},
        reminders=tuple(map(str, reminders)),
    )
    return steps.start(workflow, type, first=False, is_numbered=not name).workflow.id


@demands
def update_phase_status(
    workflow_id: str,
    phase_id: str,
    status: str,
    deliverables: Iterable[str] | None = None,
    context_for_next: str = "",
    *,
    context: str = "",
    reason: str = "",
    root: str | Path = ".",
) -> dict[str, Any]:
    """Set a phase to a status, with its deliverables and the context for the next phase.

    Args:
        workflow_id: the workflow's id.
        phase_id: `phase_N`, counted from 0; or the phase's number, counted from 1; or its title.
        status: `pending`, `active`, `completed` or `failed`; also `blocked`, `skipped`, and the words of a
            checkpoint.
        deliverables: added to the recorded ones.
        context_for_next: what the next phase is told.
        context: another name for `context_for_next`.
        reason: why the phase failed, is blocked or skipped.
        root: a folder of the worktree.

    Returns:
        The workflow as `get_workflow_state` gives it.

    Raises:
        IllegalMove: the table has no such move; the sentence lists the possible ones.
        Refused: the phase's gate is not passed, there is no such workflow or phase, or `deliverables` is
            one text instead of a list.
    """
    wanted = _status(status)
    why = (reason or f"set to {wanted.value} by a program") if wanted in EXPLAINED else ""
    results, handed_on = tuple(map(str, deliverables or ())), context_for_next or context
    setting = partial(_steps(root).set_status, wanted, phase_id, name=workflow_id, is_report=True)
    done = setting(reason=why, deliverables=results, context_for_next=handed_on)
    return fields_of(done.workflow, DocumentKind.DOCUMENT)


@demands
def get_workflow_state(workflow_id: str | None = "", *, root: str | Path = ".") -> dict[str, Any]:
    """A workflow in the form of `.claude/state/workflow.json`, even a completed one; nothing is written.

    Args:
        workflow_id: its id or name; unless given, the workflow of this session and branch.
        root: a folder of the worktree.

    Raises:
        Refused: there is no such workflow.
    """
    steps = _steps(root)
    workflows = steps.store.read(archived=bool(workflow_id))
    return fields_of(steps.named(workflows, workflow_id or "").workflow, DocumentKind.DOCUMENT)


def generate_markdown(
    workflow: Mapping[str, Any] | str | Path, given: Mapping[str, Any] | None = None
) -> str:
    """The Markdown view of a workflow; `generate_markdown(path, workflow)` writes it to a file as well.

    Args:
        workflow: the workflow as `get_workflow_state` returns it; or the path of the file to write.
        given: the workflow, if the first argument is a path.

    Raises:
        Refused: there is no workflow among the arguments, or the file cannot be written.
    """
    data = given if given is not None else workflow
    if not isinstance(data, Mapping):
        raise Refused(sentence("no-workflow"))
    fields = {name: value for name, value in data.items() if name != workflow_documents.DETAIL}
    document = ReadDocument(DocumentKind.DOCUMENT, "the workflow", fields, None, b"")
    (read,) = found_workflows.found_workflows(document_files.DocumentFiles(Path(), [document]), {})
    text = workflow_documents.view_of(read.workflow)
    if given is not None:
        path = str(workflow)
        try:
            regular_files.fill(path, text.encode("utf-8", "replace"))
        except OSError as error:
            raise Refused(sentence("not-written", path=path, why=error.strerror)) from None
    return text


def _steps(root: str | Path) -> WorkflowSteps:
    """The workflow steps of the folder's worktree; outside of git, of the folder itself."""
    folder = Path(root).absolute()
    if not folder.is_dir():
        raise Refused(sentence("no-folder", folder=folder))
    top = store.worktree_root(folder) or folder
    worktree = preparing_store(top, os.environ, Deadline.after(SystemClock(), SECONDS))
    return WorkflowSteps(worktree, asker_of(top, os.environ, {}))


def _status(word: str) -> PhaseStatus:
    """The status that a word means, in either design's vocabulary or ours."""
    ours = {member.value: member for member in PhaseStatus}
    statuses = {**ours, **FROM_CHECKPOINT, **FROM_DOCUMENT}
    if word in statuses:
        return statuses[word]
    names = ", ".join(dict.fromkeys(statuses))
    raise Refused(sentence("no-status", word=quoted(str(word)), names=names))


_KEYS = ("title", "name", "agent", "reading", "reminders", "gate")
"""The keys that a phase given as an object may have; it may also be one of `get_workflow_state`."""

_RECORDED = {"id", *WorkflowPhase.__struct_fields__}
"""The keys of a phase in the documents about its progress, which begins again."""


def _phase(form: PhaseForm) -> WorkflowPhase:
    if isinstance(form, Mapping):
        for key in form:
            if key not in _KEYS and key not in _RECORDED:
                raise Refused(sentence("no-key", key=quoted(str(key)), keys=", ".join(_KEYS)))
        for parameter in ("reading", "reminders"):
            given = form.get(parameter)
            if isinstance(given, str):  # Python would read it as the list of its letters
                raise Refused(sentence("no-list", parameter=parameter, given=repr(given)))
        return WorkflowPhase(
            str(form.get("title") or form.get("name") or ""),
            agent=str(form.get("agent") or ""),
            reading=tuple(map(str, form.get("reading") or ())),
            reminders=tuple(map(str, form.get("reminders") or ())),
            gate=str(form.get("gate") or ""),
        )
    listed: object = (form,) if isinstance(form, str) else form
    words = [*map(str, listed)] if isinstance(listed, Sequence) else []
    if not 1 <= len(words) <= 2:
        raise Refused(sentence("no-phase"))
    return WorkflowPhase(words[0], agent="".join(words[1:]))
