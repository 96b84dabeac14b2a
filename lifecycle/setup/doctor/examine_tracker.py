"""The tracker of this worktree, and the staged workflow, which leads through its tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from lifecycle.app import tracker_opening
from lifecycle.core.errors import LifecycleError, Refused
from lifecycle.core.redact import as_data, visible
from lifecycle.core.tracker import Abilities, Atomicity, Task, Tracker
from lifecycle.core.values.configured import AUTO
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.settings import config
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, cause, fail, ok, warn
from lifecycle.setup.doctor.examine_sessions import cap_of
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.hook_table import CAP
from lifecycle.setup.init.init_mark import SHARED
from lifecycle.setup.init.supplies import DETECT, ORCHESTRATOR, SIGNED, page_of
from lifecycle.stages.session import workflow_tasks
from lifecycle.storage import journal, store
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.trackers import registry

_WORTH = {
    Atomicity.SHARED_CAS: "of two that claim at once one wins, wherever they are",
    Atomicity.LOCAL_CAS: "of two that claim at once one wins, if both use this very database",
    Atomicity.ADVISORY: "two that claim at once may both believe it for a moment",
    Atomicity.NONE: "of two that claim at once the last one has it, and the first is not told",
}
"""What a claim is worth here, in a person's words."""


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Whether tasks can be asked for."""
    if not case.is_worktree or case.settings_problem is not None:
        return  # said with the worktree, or with the settings
    try:
        yield from _answers(case)
    except LifecycleError as error:
        case.is_tracker_silent = True
        yield fail("tracker.found", cause(error), (FixStep.TASKS, FixStep.STAGES), _way_out(error))


def _answers(case: Examined) -> Iterator[DoctorFinding]:
    """What the tracker says of itself; raises LifecycleError if it does not answer."""
    tracker, note = case.world.tracker, tracker_opening.note_of(case.world)
    if note:
        says, _, fix = note.partition("; ")
        yield warn("tracker.program", f"{says}.", (FixStep.TASKS, FixStep.STAGES), fix.rstrip("."))
    if tracker.name == registry.GITHUB and not isinstance(case.access, RepositoryAccess):
        return  # said with the token, or with the repository
    abilities = tracker.abilities()
    count = None if tracker.name == registry.GITHUB else len(tracker.ready())
    yield ok("tracker.found", _found(case, tracker, count))
    yield _worth(tracker, abilities)


@runtime_checkable
class Telling(Protocol):
    """A tracker that can say more of itself than its name."""

    def about(self) -> str:
        """Program, version and place of the tasks, in a few words."""
        ...


def _found(case: Examined, tracker: Tracker, count: int | None) -> str:
    why = "as found here" if case.settings.tracker_use == AUTO else "as configured"
    if count is None:
        return f"Tasks are the issues of {case.base}, {why}."
    about = f" ({visible(tracker.about())})" if isinstance(tracker, Telling) else ""
    could = "none could be begun now" if not count else f"{count} could be begun now"
    return f"Tasks are kept by {tracker.name}{about}, {why}; {could}."


def _worth(tracker: Tracker, abilities: Abilities) -> DoctorFinding:
    worth = _WORTH[abilities.claim_atomicity]
    says = f"Tasks are claimed as {visible(tracker.actor)}; {worth}."
    is_safe = abilities.claim_atomicity in (Atomicity.SHARED_CAS, Atomicity.LOCAL_CAS)
    if is_safe or tracker.name == registry.GITHUB:  # why no lease can be written is said before
        return ok("tracker.claim", says)
    fix = "install a newer version of it, or let one agent at a time claim"
    return warn("tracker.claim", says, (FixStep.TASKS,), fix)


def _way_out(error: LifecycleError) -> str:
    """What the error's own sentence says to do."""
    rest = error.sentence.partition("; ")[2]
    return rest.rstrip(".") or ("lifecycle doctor" if not isinstance(error, Refused) else "")


_SHOWN = 40
"""Characters of a task's title."""


def check_stages(case: Examined) -> Iterator[DoctorFinding]:
    """Nothing but one line where it is off; what it needs, and what it will do, where it is on."""
    if not case.is_worktree or case.settings_problem is not None:
        return
    yield from _journal(case)
    if not case.settings.stages.use:
        yield ok(
            "stages.use", "The staged workflow is off; it is put in with: lifecycle init --stages"
        )
        return
    if WorkflowFiles(case.root).is_off:
        yield warn(
            "stages.use",
            "The staged workflow is switched off in this worktree, by hand.",
            (FixStep.STAGES,),
            "lifecycle stage on",
        )
    elif not case.client.plugin_runs and not case.client.of("on-stop"):
        yield fail(
            "stages.use",
            "The staged workflow is on, and no hook hears the end of a turn, so nobody is led.",
            (FixStep.STAGES,),
            "lifecycle init --stages",
        )
    else:
        yield ok("stages.use", f"The staged workflow is on, by {config.CONFIG_FILE}.")
    yield from _cap(case)
    yield from _commands(case)
    yield from _scripts(case)
    yield from _evidence(case)
    yield from _sequences(case)
    yield from _tasks(case)


def _journal(case: Examined) -> Iterator[DoctorFinding]:
    trouble = journal.trouble(case.root)
    if trouble:
        says, _, fix = trouble.partition("; ")
        yield warn("stages.journal", f"{says.rstrip('.')}.", (FixStep.STATS,), fix.rstrip("."))


def _cap(case: Examined) -> Iterator[DoctorFinding]:
    blocks = case.settings.stages.max_blocks
    cap, where = cap_of(case)
    if cap >= blocks:
        return
    mark = case.client.mark
    files = [file.shown for file in case.client.files]
    set_by = f"{CAP} is {cap} ({where})" if where else f"{CAP} is not set, which means {cap}"
    fix = "lifecycle init --stages" + (" --shared" if mark and mark.mode == SHARED else "")
    if where in files and not (mark and (CAP, str(cap)) in mark.settings.variables):
        fix = f"raise {CAP} to {blocks} or more in {where}"
    yield warn(
        "stages.cap",
        f"{set_by}, and stages.max_blocks is {blocks}: the client may end a turn before the workflow does.",
        (FixStep.STAGES,),
        fix,
    )


def _commands(case: Examined) -> Iterator[DoctorFinding]:
    """Whether the commands that `init --stages` supplies, and the settings name, are there."""
    stages, supplied = case.settings.stages, _supplied(case)
    for key, command in (("review", stages.review), ("start", stages.start)):
        page = page_of(command)
        if page in supplied and not any(place.is_file() for place in _places(case, page)):
            yield warn(
                "stages.commands",
                f"stages.{key} is {command}, and {page} is not there, so the agent is told to run what the "
                "client does not know.",
                (FixStep.STAGES,),
                "lifecycle init --stages",
            )


def _supplied(case: Examined) -> set[str]:
    """Pages that `init` wrote here; those of other names are plugins', or the client's own."""
    return set(case.client.mark.sha256) if case.client.mark is not None else set()


def _places(case: Examined, page: str) -> Iterator[Path]:
    name = Path(page).stem
    for folder in (case.root / ".claude", case.client.files[0].path.parent):
        yield folder / f"commands/{name}.md"
        yield folder / f"skills/{name}/SKILL.md"


def _scripts(case: Examined) -> Iterator[DoctorFinding]:
    """Whether a Stop hook of somebody's own does the same work a second time."""
    name = Path(ORCHESTRATOR).name
    found = store.read(case.root / ORCHESTRATOR)
    is_others = found is not None and SIGNED.encode() not in found.content
    files = [
        file.shown
        for file in case.client.files
        if name in re.sub(r"\\/", "/", str(file.data.get("hooks", {})))
    ]
    if is_others and files:
        yield warn(
            "stages.doubled",
            f"{files[0]} runs {ORCHESTRATOR}, which is not lifecycle's, so the agent is told everything "
            "twice.",
            (FixStep.STAGES,),
            f"mv {ORCHESTRATOR} {ORCHESTRATOR}.old && lifecycle init --stages",
        )
    for script in (DETECT, ORCHESTRATOR):
        path = case.root / script
        if path.is_file() and not path.stat().st_mode & 0o100:
            yield warn("stages.scripts", f"{script} is not executable.", (), f"chmod +x {script}")


def _evidence(case: Examined) -> Iterator[DoctorFinding]:
    stages = case.settings.stages
    if stages.require_evidence and not stages.test:
        yield warn(
            "stages.evidence",
            "stages.require_evidence is on and stages.test names no command, so only test programs that "
            "are known by name count as a test run.",
            (FixStep.STAGES,),
            f'test = ["make test"] under [stages] in {config.CONFIG_FILE}, with your own command',
        )


def _sequences(case: Examined) -> Iterator[DoctorFinding]:
    stages = case.settings.stages
    for label in stages.workflows:
        if not stages.is_label(label):
            yield warn(
                "stages.workflows",
                f'stages.workflows names "{visible(label)}", which makes no task one of the workflow\'s: '
                f'that is "{visible(stages.label)}", or begins with "{visible(stages.label)}:".',
                (),
                f"rename the label there, or give its tasks {visible(stages.label)} as well",
            )


def _tasks(case: Examined) -> Iterator[DoctorFinding]:
    """How many tasks it has; the tracker is asked, as at a stop."""
    stages = case.settings.stages
    if case.is_tracker_silent:
        return  # said with the tracker
    try:
        tracker = case.world.tracker
        if tracker.name == registry.GITHUB and not isinstance(case.facts, TokenFacts):
            return  # said with the token
        tasks = workflow_tasks.ask(tracker, stages, case.clock.now()).tasks
    except LifecycleError as error:
        yield warn(
            "stages.tasks",
            f"Which tasks have the label {visible(stages.label)} is not known: {cause(error)}",
            (FixStep.STAGES,),
            "lifecycle tracker ready",
        )
        return
    label = visible(stages.label)
    if not tasks:
        how = tracker.wording().label.replace("{label}", stages.label).replace("{id}", "ID")
        yield ok(
            "stages.tasks",
            f"No open task has the label {label}, so nobody is led; give it with: {how}",
        )
        return
    ready = [task for task in tasks if task.is_ready]
    one = len(tasks) == 1
    count = (
        f"{len(tasks)} open task{'' if one else 's'} {'has' if one else 'have'} the label {label}"
    )
    first = f"; next: {_named(ready[0])}" if ready else ", and none of them could be begun now"
    yield ok("stages.tasks", f"{count}{first}.")


def _named(task: Task) -> str:
    title = as_data(task.title)
    shown = title if len(title) <= _SHOWN else f"{title[: _SHOWN - 1]}…"
    return f"{visible(task.id)} {shown}"
