"""`lifecycle workflow start|template`: begin a workflow; list, show or keep templates."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import click

from lifecycle.cli.workflow import workflow_values
from lifecycle.cli.workflow.workflow import WorkflowSession
from lifecycle.cli.workflow.workflow_values import named
from lifecycle.core.errors import Refused
from lifecycle.core.messages.figures import count
from lifecycle.core.redact import quoted
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.steps import workflow_templates as templates
from lifecycle.workflow.store.document_files import VIEW
from lifecycle.workflow.table import WorkflowType
from lifecycle.workflow.workflow_sentences import refused

_AGENT = re.compile(r"(.*?\S):((?:[\w-]+:)?[\w-]+)", re.DOTALL)
_FACT = re.compile(r"([^=\s][^=]*)=(.*)", re.DOTALL)


def start(session: WorkflowSession, *, name: str, later: bool, **asked: Any) -> None:
    """Begin a workflow, NAME, with its phases in order. Its state is written at once, and at each move.

    What stands behind the last colon of a phase is its agent, if it is one word: "Build:developer".
    """
    kind = asked["kind"] or ""
    phases = tuple(map(_phase, asked["phases"]))
    if kind and not phases:
        phases = templates.template(session.root, kind).applied(Workflow("", name)).phases
    workflow = Workflow(
        "",
        name,
        type=kind or WorkflowType.CUSTOM.value,
        task=asked["task"],
        phases=phases,
        reading=asked["reading"],
        context=dict(_pair(text, refused("no-fact", text=quoted(text))) for text in asked["facts"]),
        reminders=asked["reminders"],
        criteria=asked["criteria"],
        constraints=asked["constraints"],
    )
    for text in asked["gates"]:
        phase, gate = _pair(text, refused("gate-of-no-phase", text=quoted(text)))
        workflow = workflow.with_gate(workflow.index_of(phase), gate)
    done = session.steps.start(workflow, kind, first=not later)
    begun = done.workflow
    size = count(len(begun.phases), "phase")
    lines = [f"The workflow {named(begun)} began: {begun.id}, {size}. View: {VIEW}"]
    lines += [*workflow_values.phase_lines(begun), f"Next: {workflow_values.next_step(begun)}"]
    session.print(lines, workflow_values.workflow_data(begun), troubles=done.troubles)


def _phase(text: str) -> WorkflowPhase:
    """`Build:developer` as a phase; an agent of a plugin has a colon of its own."""
    match = _AGENT.fullmatch(text)
    return WorkflowPhase(match[1], agent=match[2]) if match else WorkflowPhase(text)


def _pair(text: str, refusal: Refused) -> tuple[str, str]:
    """What stands before and behind the first sign of equality; raises the refusal without one."""
    match = _FACT.fullmatch(text)
    if match is None:
        raise refusal
    return match[1].strip(), match[2]


def template(session: WorkflowSession, *, called: str, save: bool, force: bool, name: str) -> None:
    """List the templates, show one, or keep a workflow as one of the project's own.

    The project's own lie in .claude/workflow-templates/NAME.toml, in the form that this prints, and come
    before those of the product.
    """
    root = session.root
    if save:
        if not called:
            raise click.UsageError("--save needs the template's NAME.")
        workflow = session.found(name, session.store.read(archived=True)).workflow
        workflow_template = templates.WorkflowTemplate.of(workflow)
        path = templates.written_template(root, called, workflow_template, force=force)
        session.print([f"Written: {path}"], {"path": path, "template": _data(workflow_template)})
    elif called:
        workflow_template = templates.template(root, called)
        text = templates.template_text(workflow_template).rstrip("\n").splitlines()
        session.print(text, {"name": called, "template": _data(workflow_template)})
    else:
        names = templates.template_names(root)
        by_name = {title: templates.template(root, title) for title in names}
        lines = [f"{title}: {_titles(entry)}" for title, entry in by_name.items()]
        data = {title: _data(entry) for title, entry in by_name.items()}
        session.print(lines, {"templates": data})


def _data(workflow_template: templates.WorkflowTemplate) -> dict[str, Any]:
    return tomllib.loads(templates.template_text(workflow_template))


def _titles(workflow_template: templates.WorkflowTemplate) -> str:
    titles = " → ".join(quoted(phase.title) for phase in workflow_template.phases)
    return titles or "phases of your own"
