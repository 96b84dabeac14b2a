"""Checks of the tracker, and of the files that `init` supplies for stages, runs and workflows.

They check that the supplied files are complete and usable.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

from lifecycle.app import tracker_opening
from lifecycle.core.errors import GitFailed, LifecycleError, Refused
from lifecycle.core.redact import as_data, named, short, visible
from lifecycle.core.tracker import GITHUB, Atomicity
from lifecycle.core.values.configured import AUTO
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.run.run_store import PATH, RunStore, StrangeRun
from lifecycle.settings.resources import install_line
from lifecycle.setup.doctor.examine_hooks import allowing, demand_cap
from lifecycle.setup.doctor.examined import Examined, cause, remedy, table
from lifecycle.setup.init import supplies
from lifecycle.setup.init.hook_table import RUN_PERMISSIONS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import InitMark
from lifecycle.setup.init.planned_files import digest
from lifecycle.stages.session import workflow_tasks
from lifecycle.storage import store
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.workflow.sources import source_files
from lifecycle.workflow.store.document_files import UnusableFile
from lifecycle.workflow.store.found_workflows import WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore


def check_tracker(case: Examined) -> None:
    """Findings on the tracker: which it is, whether it answers, how it claims."""
    try:
        _answers(case)
    except LifecycleError as error:
        case.is_tracker_silent = True
        # The fix in the sentence, if it has one; a refusal has no other place for it.
        way = remedy(error) or error.sentence.partition("; ")[2].rstrip(".")
        fix = way or ("lifecycle doctor" if not isinstance(error, Refused) else "")
        case.find("tracker.found.silent", cause=cause(error), fix=fix)


def _answers(case: Examined) -> None:
    """Findings from the tracker's answers; raises LifecycleError if it does not answer."""
    tracker, note = case.world.tracker, tracker_opening.note_of(case.world)
    if note:
        what, _, fix = note.partition("; ")
        case.find("tracker.program", what=what, fix=fix.rstrip("."))
    if tracker.name == GITHUB and not isinstance(case.access, RepositoryAccess):
        return None  # reported with the token, or with the repository
    abilities = tracker.abilities()
    why = "as found here" if case.settings.tracker_use == AUTO else "as configured"
    if tracker.name == GITHUB:
        case.find("tracker.found.issues", base=case.base, why=why)
    else:
        # Some trackers report more about themselves than their name.
        more = visible(getattr(tracker, "about", str)())
        about = f" ({more})" if more else ""
        words = {"name": tracker.name, "about": about, "why": why}
        case.find("tracker.found.kept", **words, count=len(tracker.ready()) or "none")
    is_safe = abilities.claim_atomicity in (Atomicity.SHARED_CAS, Atomicity.LOCAL_CAS)
    # For issues, an earlier finding says why no lease can be written.
    key = "tracker.claim.safe" if is_safe or tracker.name == GITHUB else "tracker.claim.unsafe"
    worth = table()["words"]["claim"][abilities.claim_atomicity]
    if tracker.name == GITHUB and case.world.git.remote_url(case.settings.remote):
        # A claim takes it with a lease, under the claim's name, not the tracker's actor.
        login = visible(case.world.forge.viewer())
        return case.find("tracker.claim.lease", login=login, worth=worth)
    return case.find(key, actor=visible(tracker.actor), worth=worth)


_SHOWN = 40
"""Characters of a task's title in a finding."""


def check_stages(case: Examined) -> None:
    """Findings on the staged workflow: one if it is off; else on its requirements and its tasks."""
    stages = case.settings.stages
    if not stages.use:
        return case.find("stages.use.off")
    if WorkflowFiles(case.root).is_off:
        case.find("stages.use.switched")
    else:
        case.find("stages.use.on" if case.client.runs("on-stop") else "stages.use.unheard")
    demand_cap(case, "stages", stages.max_blocks, "lifecycle init --stages")
    # Pages that `init` wrote here; those with other names are plugins', or the client's own.
    supplied = case.client.mark.sha256 if case.client.mark is not None else {}
    for key, command in (("review", stages.review), ("start", stages.start)):
        page = supplies.page_of(command)
        if page in supplied and not any(map(Path.is_file, case.places_of(page))):
            case.find("stages.commands", key=key, command=command, page=page)
    if stages.require_evidence and not stages.test:
        case.find("stages.evidence")
    for label in stages.workflows:
        if not stages.is_label(label):
            case.find("stages.workflows", strange=visible(label), label=visible(stages.label))
    return _tasks(case)


def _tasks(case: Examined) -> None:
    """A finding on how many tasks the staged workflow has; asks the tracker, as at a stop."""
    stages = case.settings.stages
    if case.is_tracker_silent:
        return None  # reported with the tracker
    try:
        tracker = case.world.tracker
        if tracker.name == GITHUB and not isinstance(case.facts, TokenFacts):
            return None  # reported with the token
        tasks = workflow_tasks.ask(tracker, stages, case.clock.now(), None).tasks
    except LifecycleError as error:
        return case.find("stages.tasks.unknown", label=visible(stages.label), cause=cause(error))
    label = visible(stages.label)
    if not tasks:
        how = tracker.wording().label.replace("{label}", stages.label).replace("{id}", "ID")
        return case.find("stages.tasks.none", label=label, how=how)
    ready = (task for task in tasks if task.is_ready)
    has = "task has" if len(tasks) == 1 else "tasks have"
    names = [f"{visible(task.id)} {short(as_data(task.title), _SHOWN)}" for task in ready]
    first = f"; next: {names[0]}" if names else "; none of them can be begun now"
    return case.find("stages.tasks.some", count=f"{len(tasks)} open {has}", label=label, next=first)


def check_run(case: Examined) -> None:
    """Findings on supplied files, the run's file, the cap and permissions; one if runs are not used."""
    run_store = RunStore(case.root, case.environment, case.deadline)
    is_there = run_store.is_there
    mark = _supplied(case, "run", supplies.runs(), supplies.SHIM_FILES)
    if mark is None and not case.client.plugin_runs:
        case.find("run.use.unset" if is_there else "run.use.off", path=PATH)
    if is_there:
        try:
            if case.world.git.run("ls-files", "--", PATH):
                case.find("run.state.tracked", path=PATH)
            else:
                run_store.load()
        except (StrangeRun, GitFailed) as error:
            case.find("run.state.strange", cause=cause(error), path=PATH)
    if is_there or mark is not None:
        setting = f"lifecycle init{'' if mark else ' --permissions'} --run"
        demand_cap(case, "run", case.settings.run.max_iterations, setting)
        if not case.client.allows(RUN_PERMISSIONS):
            case.find("run.permissions", fix=allowing(case, setting))


def _supplied(
    case: Examined, part: str, files: Sequence[supplies.Supply], scripts: Collection[str]
) -> InitMark | None:
    """Findings on the files that `init` supplied: missing, of an earlier version, or changed.

    Args:
        case: the worktree.
        part: their use: "run" or "workflow".
        files: the files as this version writes them.
        scripts: the names of those that nobody has a reason to change.

    Returns:
        The mark of `init`; None if it supplied none: then there is a finding only if the plugin has them.
    """
    mark, client = case.client.mark, case.client
    if mark is None or part not in mark.parts:
        if client.plugin_runs:
            case.find(f"{part}.use.plugin", names=", ".join(client.plugins))
        return None
    # In the project or among the person's own files.
    missing = [file.name for file in files if not any(map(Path.is_file, case.places_of(file.name)))]
    contents = {file: content for file in files if (content := store.read(case.root / file.name))}
    differing = [file for file in contents if contents[file].content != file.text.encode()]
    old = [f.name for f in differing if digest(contents[f].content) == mark.sha256.get(f.name)]
    if missing:
        case.find(f"{part}.files.missing", names=", ".join(missing))
    elif old:
        case.find(f"{part}.files.old", names=", ".join(old))
    else:
        case.find(f"{part}.use.on")
    for file in differing:
        if file.name in scripts and file.name not in old:
            case.find(f"{part}.files.changed", name=file.name, what=file.what)
    return mark


def check_workflow(case: Examined) -> None:
    """Findings on supplied files, settings, permissions and documents; one if workflows are not used."""
    client, stored = case.client, WorkflowStore(case.root, case.environment, case.deadline).read()
    scripts = (supplies.STATE_SCRIPT, supplies.SYNC_SCRIPT)
    mark = _supplied(case, "workflow", supplies.workflows(), scripts)
    if mark is not None and mark.section:
        page = store.read(case.root / supplies.SECTION_PAGE)
        if page is None or supplies.SECTION_BEGIN.encode() not in page.content:
            case.find("workflow.section")
    elif mark is None and not client.plugin_runs:
        case.find("workflow.use.off")
    is_used = bool(stored.unfinished) or mark is not None
    if is_used and not client.allows(WORKFLOW_PERMISSIONS):
        way = f"lifecycle init{' --permissions' if client.plugin_runs else ''} --workflow"
        case.find("workflow.permissions", fix=allowing(case, way))
    _state(case, stored)
    for sentence in source_files.read_sources(case.root)[1]:
        case.find("workflow.source", sentence=sentence)


def _state(case: Examined, stored: WorktreeWorkflows) -> None:
    """Findings on the documents: unusable, edited, tracked by git, idle; or none of these."""
    for file in stored.unusable:
        _unusable(case, file)
    for remark in (remark for entry in stored.unfinished for remark in entry.remarks):
        case.find("workflow.edits", remark=remark)
    documents = (document for entry in stored.found for document in entry.documents)
    tracked = [document.path for document in documents if document.is_tracked]
    if tracked:
        words = " ".join(map(shlex.quote, tracked))
        case.find("workflow.state.tracked", names=", ".join(tracked), quoted=words)
    if stored.unfinished and not stored.unusable:
        names = ", ".join(named(entry.workflow.name) for entry in stored.unfinished[:10])
        case.find("workflow.state.fine", count=len(stored.unfinished), names=names)


def _unusable(case: Examined, file: UnusableFile) -> None:
    if file.is_later:
        return case.find("workflow.state.later", sentence=file.sentence, fix=install_line("renew"))
    path, old, new = (shlex.quote(f"{file.path}{end}") for end in ("", ".old", ".new"))
    fix, place = f"mv {path} {old}", case.root / file.path
    inside = place.is_symlink() and place.is_dir() and place.resolve()
    if inside and inside.is_relative_to(case.root.resolve()):
        # A folder that is kept elsewhere in the project: it may contain the client's settings.
        fix = f"cp -RL {path} {new} && rm {path} && mv {new} {path}"
    return case.find("workflow.state.broken", sentence=file.sentence, fix=fix)
