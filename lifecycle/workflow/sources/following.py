"""Update workflows from their sources, before each compaction.

Each source gets its own workflow, which is found again by the source and its name, keeps its creation time,
and follows the source from then on. A workflow that a command began is changed only by commands.
"""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.core.light_dataclass import replace as replaced
from lifecycle.core.timing import render_time
from lifecycle.workflow.sources.source_files import LOCAL, read_sources
from lifecycle.workflow.sources.source_text import SourceFacts
from lifecycle.workflow.state import Workflow, WorkflowPhase, in_status, repointed, slug
from lifecycle.workflow.store.found_workflows import FoundWorkflow, WorktreeWorkflows
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import PhaseStatus, WorkflowType
from lifecycle.workflow.whose import Asker, WorkflowChoice, adopted, begun_by, chosen


def observe(store: WorkflowStore, asker: Asker) -> tuple[WorkflowChoice, tuple[str, ...]]:
    """Read the sources, update a workflow from each, and write all files of the workflows.

    The caller never delays a compaction because of the errors raised here.

    Returns:
        The asking session's workflow, with this compaction counted, and the others; and one sentence for
        each file that cannot be used.

    Raises:
        LockBusy, Refused: another process has the lock, or a file cannot be written.
    """
    sources, unusable = read_sources(store.root)
    with store.changing(archived=bool(sources)) as change:
        for facts in sources:
            is_foreign = bool({"*", facts.path} & change.read.tracked)
            known = _known(change.workflows, facts)
            if known is None:
                context = {"plan": facts.path.split("/")[-2]} if facts.path != LOCAL else {}
                new = Workflow(change.new_id(), facts.name, source=facts.path, context=context)
                before = replace(begun_by(new, asker), created_at=render_time(change.now))
            else:
                before = known.workflow
                is_its = before.source == facts.path and not before.is_over
                if not is_its or before.source_seen == facts.digest:
                    continue
            after = followed(before, facts, change.now, is_foreign=is_foreign)
            change.put(after, is_moved=known is None and not change.workflows.unfinished)
        # A source may have completed an earlier workflow, or begun a new one.
        records = {record.id: record for record in change.workflows.open_records} | change.changed
        unfinished = [record for record in records.values() if not record.is_over]
        unfinished.sort(key=lambda workflow: -workflow.updated_at)
        choice = chosen(store.root, unfinished, asker)
        if choice.workflow is not None:
            counted = replace(choice.workflow, compactions=1 + choice.workflow.compactions)
            choice = replaced(choice, workflow=change.put(adopted(counted, asker), is_moved=False))
    return choice, (*unusable, *change.workflows.troubles, *change.troubles)


def _known(workflows: WorktreeWorkflows, facts: SourceFacts) -> FoundWorkflow | None:
    """The workflow that came from this source, else one with that name; an unfinished one first."""
    ordered = (*workflows.unfinished, *workflows.found)
    wanted = _slug(facts.name)
    from_it = [entry for entry in ordered if entry.workflow.source == facts.path]
    if facts.path == LOCAL:
        from_it = [entry for entry in from_it if _slug(entry.workflow.name) == wanted]
    open_ones = [entry for entry in from_it if not entry.workflow.is_over]
    ended = [entry for entry in from_it if entry.workflow.source_seen == facts.digest]
    named = [entry for entry in workflows.unfinished if _slug(entry.workflow.name) == wanted]
    return next(iter((*open_ones, *named, *ended)), None)


def _slug(name: str) -> str:
    return slug(name) if any(map(str.isalnum, name)) else name


def followed(workflow: Workflow, facts: SourceFacts, now: float, *, is_foreign: bool) -> Workflow:
    """The workflow with phases, pointer and reading from its source; what the source omits stays."""
    phases = _listed(workflow, facts, now) if facts.phases else _counted(workflow, facts, now)
    type_ = facts.type.casefold() if facts.type.casefold() in {*WorkflowType} else workflow.type
    index = facts.number - 1 if facts.number else (len(phases) - 1 if len(phases) == 1 else -1)
    task, reading = facts.task or workflow.task, facts.reading or workflow.reading
    after = replace(workflow, phases=phases, type=type_, task=task, reading=reading)
    after = replace(after, current=index if index < len(phases) else -1, source_seen=facts.digest)
    return repointed(replace(after, is_foreign=workflow.is_foreign or is_foreign))


def _listed(workflow: Workflow, facts: SourceFacts, now: float) -> tuple[WorkflowPhase, ...]:
    """The phases that a plan lists; each keeps what is known of the next phase with the same title."""
    left = list(workflow.phases)
    phases = []
    for title, status in facts.phases:
        known = next((phase for phase in left if phase.title == title), None)
        if known is not None:
            left.remove(known)
        phases.append(_as(known or WorkflowPhase(title), status, now))
    return tuple(phases)


def _counted(workflow: Workflow, facts: SourceFacts, now: float) -> tuple[WorkflowPhase, ...]:
    """The phases for a source that has number, total and title of only one phase."""
    total, number = facts.total or max(1, len(workflow.phases)), facts.number or 1
    old = workflow.phases[:total]
    phases = [*old, *(WorkflowPhase("") for _ in range(total - len(old)))]
    for at, phase in enumerate(phases):
        if at < number - 1 and phase.status in (PhaseStatus.PENDING, PhaseStatus.ACTIVE):
            phases[at] = _as(phase, PhaseStatus.COMPLETED, now)
        elif at == number - 1:
            phases[at] = _as(replace(phase, title=facts.title or phase.title), facts.status, now)
        elif at >= number and phase.status is not PhaseStatus.SKIPPED:
            phases[at] = _as(phase, PhaseStatus.PENDING, now)
    return tuple(phases)


def _as(phase: WorkflowPhase, status: PhaseStatus, now: float) -> WorkflowPhase:
    """The phase with the source's status; unchanged if that would complete a phase with a gate."""
    if phase.status is status or (status is PhaseStatus.COMPLETED and phase.gate):
        return phase
    return in_status(phase, status, now)
