"""Workflows: whether what is set up for them is whole, and whether their files can be used."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.redact import named, quoted
from lifecycle.setup.doctor.examine_hooks import hears, init_fix
from lifecycle.setup.doctor.examine_run import supplied
from lifecycle.setup.doctor.examined import DoctorFinding, Examined, finding
from lifecycle.setup.init import protocol_section
from lifecycle.setup.init.found_hooks import ClientSettings, allows_all
from lifecycle.setup.init.hook_table import AGENTS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import InitMark
from lifecycle.setup.init.supplies import STATE_SCRIPT, SYNC_SCRIPT, workflows
from lifecycle.storage import store
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.workflow.documents.written_documents import view_of
from lifecycle.workflow.sources import source_files
from lifecycle.workflow.sources.source_text import lacking_markers
from lifecycle.workflow.store.document_files import VIEW, UnusableFile, own_content
from lifecycle.workflow.store.workflow_change import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore

IDLE_DAYS = 14
"""After so many days without a move somebody may have forgotten a workflow."""

_DAY = 86_400.0
_SYNC = SYNC_SCRIPT.rpartition("/")[2]


def check(case: Examined) -> Iterator[DoctorFinding]:
    """One finding where nothing is set up and no workflow is here; else what is lacking, old, broken."""
    client = case.client
    mark = client.mark if client.mark is not None and client.mark.workflow else None
    there = WorkflowStore(case.root, case.environment, case.deadline).read()
    if mark is not None:
        yield from _files(case, mark)
    elif client.plugin_runs:
        yield finding("workflow.use.plugin", names=", ".join(client.plugins))
    else:
        yield finding("workflow.use.off")
    for file in client.files:
        yield from _sync(case, file)
    is_used = bool(there.unfinished) or mark is not None
    if is_used and not allows_all(case.root, case.environment, WORKFLOW_PERMISSIONS):
        way = "lifecycle init --permissions --workflow"
        way = way if client.plugin_runs else init_fix(" --workflow", mark)
        yield finding("workflow.permissions", fix=way)
    yield from _state(case, there)
    yield from _sources(case)


def _files(case: Examined, mark: InitMark) -> Iterator[DoctorFinding]:
    """What `init --workflow` put in: is it there still, and of this version?"""
    fix = init_fix(" --workflow", mark)
    missing, old, changed = supplied(case, mark, workflows(), (STATE_SCRIPT, SYNC_SCRIPT))
    if missing:
        yield finding("workflow.files.missing", names=", ".join(missing), fix=fix)
    elif old:
        yield finding("workflow.files.old", names=", ".join(old), fix=fix)
    else:
        yield finding("workflow.use.on")
    for file in changed:
        anew = f"rm {file.name} && {fix}"
        yield finding("workflow.files.changed", name=file.name, what=file.what, fix=anew)
    page = store.read(case.root / protocol_section.FILE)
    text = page.content.decode("utf-8", "replace") if page is not None else ""
    if mark.section and protocol_section.BEGIN not in text:
        yield finding("workflow.section", fix=fix)


def _sync(case: Examined, file: ClientSettings) -> Iterator[DoctorFinding]:
    """Entries of a settings file that run the design's script, as somebody wrote them."""
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


def _state(case: Examined, there: WorktreeWorkflows) -> Iterator[DoctorFinding]:
    """The documents: those that cannot be used, came with the repository, or are not in step."""
    for file in there.unusable:
        yield _unusable(file)
    for remark in (remark for one in there.unfinished for remark in one.remarks):
        yield finding("workflow.edits", remark=remark)
    tracked = [d.path for one in there.found for d in one.documents if d.is_tracked]
    if tracked:
        words = " ".join(map(shlex.quote, tracked))
        yield finding("workflow.state.tracked", names=", ".join(tracked), quoted=words)
    behind = [one for one in there.unfinished if not one.is_in_step and not one.remarks]
    for one in behind:
        if not any(document.is_tracked for document in one.documents):
            yield finding("workflow.step.behind", name=quoted(one.workflow.name))
    if not behind and not tracked:
        yield from _view(case, there)
    for one in there.unfinished:
        days = int((case.clock.now() - one.written_at) / _DAY)
        if days >= IDLE_DAYS:
            name = shlex.quote(one.workflow.name)
            fix = f'lifecycle workflow complete {name} --give-up "not needed any more"'
            yield finding("workflow.idle", name=quoted(one.workflow.name), days=days, fix=fix)
    if there.unfinished and not there.unusable:
        names = ", ".join(named(one.workflow.name) for one in there.unfinished[:10])
        yield finding("workflow.state.fine", count=len(there.unfinished), names=names)


def _unusable(file: UnusableFile) -> DoctorFinding:
    if file.is_later:
        return finding("workflow.state.later", sentence=file.sentence)
    path = shlex.quote(file.path)
    fix = f"mv {path} {shlex.quote(f'{file.path}.old')}"
    return finding("workflow.state.broken", sentence=file.sentence, fix=fix)


def _view(case: Examined, there: WorktreeWorkflows) -> Iterator[DoctorFinding]:
    current = there.get(there.current) if there.current else None
    if current is None or current.workflow.is_over:
        return
    try:
        content = own_content(case.root, VIEW)
    except OSError:
        content = None
    if content is None or content[0] != view_of(current.workflow).encode("utf-8", "replace"):
        yield finding("workflow.step.view", path=VIEW)


def _sources(case: Examined) -> Iterator[DoctorFinding]:
    """What a compaction would read beside the documents, and cannot use."""
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
