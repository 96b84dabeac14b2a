"""`lifecycle workflow phase|show|list|guidance|todos`: where workflows stand."""

from __future__ import annotations

import click

from lifecycle.app.guidance import guidance_text
from lifecycle.cli.command_session import option
from lifecycle.cli.workflow import workflow_values
from lifecycle.cli.workflow.delegation_files import delegation_lines
from lifecycle.cli.workflow.workflow_session import WorkflowSession, in_workflows, which
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import as_data
from lifecycle.views.overview.overview_workflow import reading_here
from lifecycle.workflow import state


@click.command("phase", short_help="The current phase: what to read, what was handed on.")
@which
@in_workflows
def phase(given: WorkflowSession, *, name: str) -> None:
    """Show the current phase, with what the phase before handed on, what to read, and its gate."""
    workflow = given.found(name, given.store.read()).workflow
    data = {
        "id": workflow.id,
        "workflow": workflow.name,
        "phase": workflow_values.phase_data(workflow, workflow.current) if workflow.phase else None,
        "required_reading": list(workflow.all_reading),
        "key_reminders": list(workflow.all_reminders),
    }
    lines = [*workflow_values.phase_lines(workflow), f"Next: {workflow_values.next_step(workflow)}"]
    given.print(lines, data)


@click.command("show", short_help="The whole workflow, phase by phase.")
@which
@in_workflows
def show(given: WorkflowSession, *, name: str) -> None:
    """Show all of a workflow: task, phases, deliverables, reading, time. By name an archived one, too.

    Its files are brought in step on the way: a document that was edited is taken over, a view is renewed.
    """
    found = given.found(name, given.store.read(archived=bool(name)))
    try:
        troubles = given.store.settle().troubles
    except (LifecycleError, OSError) as error:  # it is shown all the same
        troubles = [str(error)]
    workflow = found.workflow
    beside = delegation_lines(given.store.root)
    lines = [*workflow_values.show_lines(workflow, given.now), *beside]

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_workflow

        draw_workflow(workflow, given.now, beside)

    data = {
        **workflow_values.workflow_data(workflow),
        "files": list(found.places),
        "beside": beside,
    }
    given.print(lines, data, draw, [*found.remarks, *troubles])


@click.command(
    "list", short_help="All workflows here, whose they are, and files that cannot be used."
)
@option("--all", "The archived ones, too.", "archived")
@in_workflows
def list_all(given: WorkflowSession, *, archived: bool) -> None:
    """List the workflows of this worktree, the one that was changed last first."""
    there = given.store.read(archived=archived)
    found = there.found if archived else there.unfinished
    session, now = given.asker.session, given.now
    lines = [workflow_values.list_line(one, session, now) for one in found]
    kind = "" if archived else "unfinished "
    lines = lines or [f"There is no {kind}workflow here."]
    troubles = list(there.troubles)

    def draw() -> None:
        from lifecycle.cli.workflow.workflow_screen import draw_list

        draw_list(found, session, now)

    data = {
        "workflows": [
            {
                **workflow_values.workflow_data(one.workflow),
                "is_current": one.workflow.id == there.current,
                "is_own": bool(session) and one.workflow.session == session,
                "files": list(one.places),
            }
            for one in found
        ],
        "unusable": [{"path": one.path, "says": one.sentence} for one in there.unusable],
    }
    given.print(lines, data, draw if found else None, troubles)


@click.command("guidance", short_help="What a session is told at its start.")
@which
@in_workflows
def guidance(given: WorkflowSession, *, name: str) -> None:
    """Print what a session is told of its workflow at its start and after a compaction, without a limit.

    Where there is none that is this session's, nothing is printed but a note on the others.
    """
    there = given.store.read()
    meant = given.found(name, there).workflow if name else given.steps.choice(there).workflow
    others = [one.workflow for one in there.unfinished if one.workflow != meant]
    if meant is None:
        lines = [*map(guidance_text.held_line, others[:3])] or [
            "There is no unfinished workflow here."
        ]
        given.print(lines, {"workflow": None, "guidance": None}, troubles=there.troubles)
        return
    shown, refused = reading_here(given.root, meant)
    lines = guidance_text.whole_guidance(shown, others, refused)
    data = {"workflow": meant.name, "id": meant.id, "guidance": "\n".join(lines)}
    given.print(lines, data, troubles=there.troubles)


@click.command("todos", short_help="The to-do list: content, status, activeForm.")
@which
@in_workflows
def todos(given: WorkflowSession, *, name: str) -> None:
    """Print the phases as the client's to-do list has them; with --json to be handed to its tool."""
    workflow = given.found(name, given.store.read()).workflow
    items = state.todos(workflow)
    lines = [f"{item['status']}: {as_data(item['content'])}" for item in items]
    given.print(lines, {"todos": items})
