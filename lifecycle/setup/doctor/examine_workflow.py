"""Checks of workflows: what is set up for them is whole, and their files can be used."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.redact import named, quoted
from lifecycle.setup.doctor.examine_hooks import hears, init_fix
from lifecycle.setup.doctor.examine_run import supplied
from lifecycle.setup.doctor.examined import DoctorFinding, Examined, finding
from lifecycle.setup.init import supplies
from lifecycle.setup.init.found_hooks import ClientSettings, allows_all
from lifecycle.setup.init.hook_table import AGENTS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import InitMark
from lifecycle.setup.init.supplies import STATE_SCRIPT, SYNC_SCRIPT
from lifecycle.storage import store
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.workflow.documents.written_documents import view_of
from lifecycle.workflow.sources import source_files
from lifecycle.workflow.sources.source_text import lacking_markers
from lifecycle.workflow.store.document_files import VIEW, UnusableFile, own_content
from lifecycle.workflow.store.workflow_change import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore

IDLE_DAYS = 14
"""Days without a move from which on a finding asks if a workflow was forgotten."""

_DAY = 86_400.0
_SYNC = SYNC_SCRIPT.rpartition("/")[2]


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on supplied files, settings, permissions and documents; one if workflows are not used."""
    client = case.client
    mark = client.mark if client.mark is not None and client.mark.workflow else None
    stored = WorkflowStore(case.root, case.environment, case.deadline).read()
    if mark is not None:
        yield from _files(case, mark)
    elif client.plugin_runs:
        yield finding("workflow.use.plugin", names=", ".join(client.plugins))
    else:
        yield finding("workflow.use.off")
    for file in client.files:
        yield from _sync(case, file)
    is_used = bool(stored.unfinished) or mark is not None
    if is_used and not allows_all(case.root, case.environment, WORKFLOW_PERMISSIONS):
        way = "lifecycle init --permissions --workflow"
        way = way if client.plugin_runs else init_fix(" --workflow", mark)
        yield finding("workflow.permissions", fix=way)
    yield from _state(case, stored)
    yield from _sources(case)


def _files(case: Examined, mark: InitMark) -> Iterator[DoctorFinding]:
    """Findings on what `init --workflow` put in: missing, of an earlier version, or changed."""
    scripts = (STATE_SCRIPT, SYNC_SCRIPT)
    yield from supplied(case, mark, "workflow", supplies.workflows(), scripts)
    page = store.read(case.root / supplies.SECTION_PAGE)
    text = page.content.decode("utf-8", "replace") if page is not None else ""
    if mark.section and supplies.SECTION_BEGIN not in text:
        yield finding("workflow.section", fix=init_fix(" --workflow", mark))


def _sync(case: Examined, file: ClientSettings) -> Iterator[DoctorFinding]:
    """Findings on a settings file's entries for the design's script: a wrong matcher, or no such script."""
    for event, matcher, hook in file.hooks:
        command = str(hook.get("command") or "")
        if event != "PostToolUse" or _SYNC not in command:
            continue
        if not any(hears(matcher, tool) for tool in AGENTS.split("|")):
            edit = f"${{EDITOR:-vi}} {file.shown}"
            yield finding("workflow.sync.matcher", file=file.shown, matcher=matcher, fix=edit)
        if SYNC_SCRIPT in command and not (case.root / SYNC_SCRIPT).is_file():
            fix = init_fix(" --workflow", case.client.mark)
            yield finding("workflow.sync.gone", file=file.shown, script=SYNC_SCRIPT, fix=fix)


def _state(case: Examined, stored: WorktreeWorkflows) -> Iterator[DoctorFinding]:
    """Findings on the documents: unusable, edited, tracked by git, not in step, idle; or none of that."""
    for file in stored.unusable:
        yield _unusable(file)
    for remark in (remark for entry in stored.unfinished for remark in entry.remarks):
        yield finding("workflow.edits", remark=remark)
    tracked = [
        document.path
        for entry in stored.found
        for document in entry.documents
        if document.is_tracked
    ]
    if tracked:
        words = " ".join(map(shlex.quote, tracked))
        yield finding("workflow.state.tracked", names=", ".join(tracked), quoted=words)
    behind = [entry for entry in stored.unfinished if not entry.is_in_step and not entry.remarks]
    for entry in behind:
        if not any(document.is_tracked for document in entry.documents):
            yield finding("workflow.step.behind", name=quoted(entry.workflow.name))
    if not behind and not tracked:
        yield from _view(case, stored)
    for entry in stored.unfinished:
        days = int((case.clock.now() - entry.written_at) / _DAY)
        if days >= IDLE_DAYS:
            name = shlex.quote(entry.workflow.name)
            fix = f'lifecycle workflow complete {name} --give-up "not needed any more"'
            yield finding("workflow.idle", name=quoted(entry.workflow.name), days=days, fix=fix)
    if stored.unfinished and not stored.unusable:
        names = ", ".join(named(entry.workflow.name) for entry in stored.unfinished[:10])
        yield finding("workflow.state.fine", count=len(stored.unfinished), names=names)


def _unusable(file: UnusableFile) -> DoctorFinding:
    if file.is_later:
        return finding("workflow.state.later", sentence=file.sentence)
    path = shlex.quote(file.path)
    fix = f"mv {path} {shlex.quote(f'{file.path}.old')}"
    return finding("workflow.state.broken", sentence=file.sentence, fix=fix)


def _view(case: Examined, stored: WorktreeWorkflows) -> Iterator[DoctorFinding]:
    current = stored.get(stored.current) if stored.current else None
    if current is None or current.workflow.is_over:
        return
    try:
        content = own_content(case.root, VIEW)
    except OSError:
        content = None
    if content is None or content[0] != view_of(current.workflow).encode("utf-8", "replace"):
        yield finding("workflow.step.view", path=VIEW)


def _sources(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on files that a compaction reads beside the documents, and that cannot be used."""
    for sentence in source_files.read_sources(case.root).troubles:
        yield finding("workflow.source.unusable", sentence=sentence)
    try:
        local = own_content(case.root, source_files.LOCAL, source_files.MOST_BYTES)
    except (OSError, StrangeFileError, Refused, GitFailed):
        return
    lacking = lacking_markers(local[0].decode("utf-8", "replace")) if local is not None else ()
    if lacking:
        fix = f"${{EDITOR:-vi}} {source_files.LOCAL}"
        yield finding("workflow.source.markers", names=", ".join(lacking), fix=fix)
