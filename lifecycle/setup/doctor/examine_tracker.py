"""Checks of the tracker of this worktree, and of the staged workflow, which leads through its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from lifecycle.app import tracker_opening
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.redact import as_data, short, visible
from lifecycle.core.tracker import Atomicity, Task
from lifecycle.core.values.configured import AUTO
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.setup.doctor.examine_hooks import init_fix, low_cap
from lifecycle.setup.doctor.examined import DoctorFinding, Examined, cause, finding, table
from lifecycle.setup.init.supplies import DETECT, ORCHESTRATOR, SIGNED, page_of
from lifecycle.stages.session import workflow_tasks
from lifecycle.storage import journal, store
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers import registry


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on the tracker: which it is, whether it answers, how it claims."""
    if case.settings_problem is not None:
        return  # said with the settings
    try:
        yield from _answers(case)
    except LifecycleError as error:
        case.is_tracker_silent = True
        yield finding("tracker.found.silent", cause=cause(error), fix=_way_out(error))


def _answers(case: Examined) -> Iterator[DoctorFinding]:
    """Findings from the tracker's answers; raises LifecycleError if it does not answer."""
    tracker, note = case.world.tracker, tracker_opening.note_of(case.world)
    if note:
        what, _, fix = note.partition("; ")
        yield finding("tracker.program", what=what, fix=fix.rstrip("."))
    if tracker.name == registry.GITHUB and not isinstance(case.access, RepositoryAccess):
        return  # said with the token, or with the repository
    abilities = tracker.abilities()
    why = "as found here" if case.settings.tracker_use == AUTO else "as configured"
    if tracker.name == registry.GITHUB:
        yield finding("tracker.found.issues", base=case.base, why=why)
    else:
        about = f" ({visible(tracker.about())})" if isinstance(tracker, Telling) else ""
        words = {"name": tracker.name, "about": about, "why": why}
        yield finding("tracker.found.kept", **words, count=len(tracker.ready()) or "none")
    is_safe = abilities.claim_atomicity in (Atomicity.SHARED_CAS, Atomicity.LOCAL_CAS)
    # Of issues, it was said before why no lease can be written.
    is_fine = is_safe or tracker.name == registry.GITHUB
    key = "tracker.claim.safe" if is_fine else "tracker.claim.unsafe"
    worth = table()["words"]["claim"][abilities.claim_atomicity]
    if tracker.name == registry.GITHUB and case.world.git.remote_url(case.settings.remote):
        # A claim takes it with a lease, in a name that is the claim's, not the one for the tracker.
        yield finding("tracker.claim.lease", login=visible(case.world.forge.viewer()), worth=worth)
        return
    yield finding(key, actor=visible(tracker.actor), worth=worth)


@runtime_checkable
class Telling(Protocol):
    """A tracker that can describe itself beyond its name."""

    def about(self) -> str:
        """Program, version and place of the tasks, in a few words."""
        ...


def _way_out(error: LifecycleError) -> str:
    """The fix that the error's sentence names; `lifecycle doctor` if it names none, "" if it refuses."""
    way = error.sentence.partition("; ")[2]
    return way.rstrip(".") or ("lifecycle doctor" if not isinstance(error, Refused) else "")


_SHOWN = 40
"""Characters of a task's title in a finding."""


def check_stages(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on the staged workflow: one where it is off; else what it needs, and its tasks."""
    if case.settings_problem is not None:
        return
    trouble = journal.trouble(case.root)
    if trouble:
        what, _, fix = trouble.partition("; ")
        yield finding("stages.journal", what=what.rstrip("."), fix=fix.rstrip("."))
    stages = case.settings.stages
    if not stages.use:
        yield finding("stages.use.off")
        return
    if WorkflowFiles(case.root).is_off:
        yield finding("stages.use.switched")
    else:
        is_heard = case.client.plugin_runs or case.client.of("on-stop")
        yield finding("stages.use.on" if is_heard else "stages.use.unheard")
    mark, blocks = case.client.mark, stages.max_blocks
    low = low_cap(case, blocks, mark, init_fix(" --stages", mark))
    if low is not None:
        yield finding("stages.cap", set=low[0], blocks=blocks, fix=low[1])
    yield from _commands(case)
    yield from _scripts(case)
    if stages.require_evidence and not stages.test:
        yield finding("stages.evidence")
    for label in stages.workflows:
        if not stages.is_label(label):
            yield finding("stages.workflows", strange=visible(label), label=visible(stages.label))
    yield from _tasks(case)


def _commands(case: Examined) -> Iterator[DoctorFinding]:
    """A finding for each command that the settings name and `init --stages` supplied, if it is gone."""
    stages, mark = case.settings.stages, case.client.mark
    # Pages that `init` wrote here; those of other names are plugins', or the client's own.
    supplied = mark.sha256 if mark is not None else {}
    for key, command in (("review", stages.review), ("start", stages.start)):
        page = page_of(command)
        if page in supplied and not any(map(Path.is_file, case.places_of(page))):
            yield finding("stages.commands", key=key, command=command, page=page)


def _scripts(case: Examined) -> Iterator[DoctorFinding]:
    """Findings if somebody's own Stop hook does the same work, or a script cannot be started."""
    name = Path(ORCHESTRATOR).name
    orchestrator = store.read(case.root / ORCHESTRATOR)
    is_others = orchestrator is not None and SIGNED.encode() not in orchestrator.content
    files = [
        file.shown
        for file in case.client.files
        if name in re.sub(r"\\/", "/", str(file.data.get("hooks", {})))
    ]
    if is_others and files:
        yield finding("stages.doubled", file=files[0], script=ORCHESTRATOR)
    for script in (DETECT, ORCHESTRATOR):
        path = case.root / script
        if path.is_file() and not path.stat().st_mode & 0o100:
            yield finding("stages.scripts", script=script)


def _tasks(case: Examined) -> Iterator[DoctorFinding]:
    """A finding on how many tasks the staged workflow has; asks the tracker, as at a stop."""
    stages = case.settings.stages
    if case.is_tracker_silent:
        return  # said with the tracker
    try:
        tracker = case.world.tracker
        if tracker.name == registry.GITHUB and not isinstance(case.facts, TokenFacts):
            return  # said with the token
        tasks = workflow_tasks.ask(tracker, stages, case.clock.now()).tasks
    except LifecycleError as error:
        yield finding("stages.tasks.unknown", label=visible(stages.label), cause=cause(error))
        return
    label = visible(stages.label)
    if not tasks:
        how = tracker.wording().label.replace("{label}", stages.label).replace("{id}", "ID")
        yield finding("stages.tasks.none", label=label, how=how)
        return
    ready = [task for task in tasks if task.is_ready]
    has = "task has" if len(tasks) == 1 else "tasks have"
    first = f"; next: {_named(ready[0])}" if ready else ", and none of them could be begun now"
    yield finding("stages.tasks.some", count=f"{len(tasks)} open {has}", label=label, next=first)


def _named(task: Task) -> str:
    return f"{visible(task.id)} {short(as_data(task.title), _SHOWN)}"
