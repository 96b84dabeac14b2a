"""Checks of runs and workflows: what `init` supplied for them is whole, and their files can be used."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from lifecycle.core.errors import GitFailed, Refused
from lifecycle.core.redact import named, quoted
from lifecycle.run.run_store import PATH, RunStore, StrangeRun
from lifecycle.setup.doctor.examine_hooks import hears, init_fix, low_cap
from lifecycle.setup.doctor.examined import DoctorFinding, Examined, cause, finding
from lifecycle.setup.init import supplies
from lifecycle.setup.init.found_hooks import ClientSettings
from lifecycle.setup.init.hook_table import AGENTS, RUN_PERMISSIONS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import InitMark
from lifecycle.setup.init.planned_files import digest
from lifecycle.setup.init.supplies import STATE_SCRIPT, SYNC_SCRIPT
from lifecycle.storage import store
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.workflow.documents.written_documents import view_of
from lifecycle.workflow.sources import source_files
from lifecycle.workflow.sources.source_text import lacking_markers
from lifecycle.workflow.store.document_files import VIEW, UnusableFile, own_content
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore

IDLE_DAYS = 14
"""Days without a move from which on a finding asks if a workflow was forgotten."""

_DAY = 86_400.0
_SYNC = SYNC_SCRIPT.rpartition("/")[2]


def check_run(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on supplied files, the run's file, the cap and permissions; one if runs are not used."""
    client, is_there = case.client, (case.root / PATH).exists()
    mark = client.mark if client.mark is not None and client.mark.run else None
    if mark is not None:
        yield from supplied(case, mark, "run", supplies.runs(), supplies.SHIM_FILES)
    elif client.plugin_runs:
        yield finding("run.use.plugin", names=", ".join(client.plugins))
    elif is_there:
        yield finding("run.use.unset", path=PATH)
    else:
        yield finding("run.use.off")
    if is_there:
        yield from _run_state(case)
    if is_there or mark is not None:
        yield from _run_limits(case, mark)


def supplied(
    case: Examined,
    mark: InitMark,
    part: str,
    files: Sequence[supplies.Supply],
    scripts: Collection[str],
) -> Iterator[DoctorFinding]:
    """Findings on the files that `init` supplied: missing, of an earlier version, or changed.

    Args:
        case: the worktree.
        mark: the mark of `init`, with the digests of what it wrote.
        part: what they are for: "run" or "workflow".
        files: the files as this version writes them.
        scripts: the names of those among them that nobody has a reason to change.
    """
    fix = init_fix(f" --{part}", mark)
    # In the project or among the person's own.
    missing = [file.name for file in files if not any(map(Path.is_file, case.places_of(file.name)))]
    contents = {file: content for file in files if (content := store.read(case.root / file.name))}
    differing = [file for file in contents if contents[file].content != file.text.encode()]
    digests = {file.name: digest(contents[file].content) for file in differing}
    old = [name for name in digests if digests[name] == mark.sha256.get(name)]
    if missing:
        yield finding(f"{part}.files.missing", names=", ".join(missing), fix=fix)
    elif old:
        yield finding(f"{part}.files.old", names=", ".join(old), fix=fix)
    else:
        yield finding(f"{part}.use.on")
    for file in differing:
        if file.name in scripts and file.name not in old:
            anew = f"rm {file.name} && {fix}"
            yield finding(f"{part}.files.changed", name=file.name, what=file.what, fix=anew)


def _run_state(case: Examined) -> Iterator[DoctorFinding]:
    """A finding if the run's file came with the repository, or cannot be read."""
    try:
        if case.world.git.run("ls-files", "--", PATH):
            yield finding("run.state.tracked", path=PATH)
            return
        RunStore(case.root, case.environment, case.deadline).load()
    except (StrangeRun, GitFailed) as error:
        yield finding("run.state.strange", cause=cause(error), path=PATH)


def _run_limits(case: Examined, mark: InitMark | None) -> Iterator[DoctorFinding]:
    """Findings on the client's cap of continuations and on permissions, where they do not suffice."""
    setting = init_fix(" --run", mark) if mark is not None else "lifecycle init --permissions --run"
    wanted = case.settings.run.max_iterations
    low = low_cap(case, wanted, mark, setting)
    if low is not None:
        yield finding("run.cap", set=low[0], wanted=wanted, fix=low[1])
    if not case.client.allows(RUN_PERMISSIONS):
        yield finding("run.permissions", fix=setting)


def check_workflow(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on supplied files, settings, permissions and documents; one if workflows are not used."""
    client = case.client
    mark = client.mark if client.mark is not None and client.mark.workflow else None
    stored = WorkflowStore(case.root, case.environment, case.deadline).read()
    if mark is not None:
        yield from _workflow_files(case, mark)
    elif client.plugin_runs:
        yield finding("workflow.use.plugin", names=", ".join(client.plugins))
    else:
        yield finding("workflow.use.off")
    for file in client.files:
        yield from _sync(case, file)
    is_used = bool(stored.unfinished) or mark is not None
    if is_used and not client.allows(WORKFLOW_PERMISSIONS):
        way = "lifecycle init --permissions --workflow"
        way = way if client.plugin_runs else init_fix(" --workflow", mark)
        yield finding("workflow.permissions", fix=way)
    yield from _state(case, stored)
    yield from _sources(case)


def _workflow_files(case: Examined, mark: InitMark) -> Iterator[DoctorFinding]:
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
