"""`lifecycle workflow`: the group, its session, and the commands that begin, move and end a workflow.

A command is a row of `commands.toml` and a function; those that only look are in `workflow_look.py`.
What they print is at the end: templates for people, values for `--json`.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import click

from lifecycle.app import workflow_functions
from lifecycle.app.guidance import guidance_text, preparing
from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup
from lifecycle.cli.terminal import is_terminal, json_text
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.redact import quoted
from lifecycle.core.timing import render_time
from lifecycle.settings import resources
from lifecycle.workflow.documents.workflow_documents import phase_id
from lifecycle.workflow.state import CHECK, Workflow, WorkflowPhase, gate_parts
from lifecycle.workflow.steps import workflow_templates as templates
from lifecycle.workflow.steps.workflow_steps import StepDone, WorkflowSteps
from lifecycle.workflow.store import document_files
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import WORDS, PhaseStatus, refused, sentence
from lifecycle.workflow.whose import Asker, asker_of


class WorkflowSession(Session):
    """A command's session with the workflows of its worktree."""

    @cached_property
    def store(self) -> WorkflowStore:
        """The files of the workflows; raises Refused outside of a worktree."""
        world = self.world
        world.refuse_tracked()
        return preparing.preparing_store(world.root, world.environment, world.deadline)

    @cached_property
    def asker(self) -> Asker:
        """The session, process and branch that this command is run from."""
        return asker_of(self.root, self.world.environment, {})

    @cached_property
    def steps(self) -> WorkflowSteps:
        """The moves of a workflow, in the name of this asker."""
        clients = {self.asker.client} - {0}
        return WorkflowSteps(self.store, self.asker, lambda: self.presence_beside(clients))

    def print(
        self, lines: Sequence[str], data: Mapping[str, Any], troubles: Collection[str] = ()
    ) -> None:
        """Print sentences, or one JSON object.

        Args:
            lines: the sentences.
            data: the object.
            troubles: problems with files: notes after the rest, and a list in the object.
        """
        notes = [f"Note: {trouble}" for trouble in troubles]
        self.show([*lines, *notes], {**data, "troubles": list(troubles)})


@click.group("workflow", cls=RowGroup, table="workflow/commands", session=WorkflowSession)
def command() -> None:
    """Keep the state of ordered phases in files, so that it survives compactions, crashes and new sessions.

    Each phase has a status, an agent, files to read, results for the next one, and, if you want, a gate. In
    a session, /workflow is something else: it starts an autonomous run (lifecycle run). See
    docs/workflow.md.
    """


_AGENT = re.compile(r"(.*?\S):((?:[\w-]+:)?[\w-]+)", re.DOTALL)
_FACT = re.compile(r"([^=\s][^=]*)=(.*)", re.DOTALL)


def start(session: WorkflowSession, *, name: str, later: bool, **asked: Any) -> None:
    """Begin a workflow, NAME, with its phases in order. Its state is written at once, and at each move.

    A word after the last colon of a phase is its agent: "Build:developer".
    """
    kind, phases = asked["kind"], tuple(map(_phase, asked["phases"]))
    if kind and not phases:
        phases = templates.template(session.root, kind).applied(Workflow("", name)).phases
    workflow = Workflow(
        "",
        name,
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
        workflow = workflow.with_changes(workflow.index_of(phase), gate=gate)
    strange = [*_strange_checks(session, workflow)]  # unreadable settings end the command here
    done = session.steps.start(workflow, kind, first=not later)
    lines, data = drawn("begun", workflow=done.workflow), workflow_data(done.workflow)
    session.print(lines, data, (*done.troubles, *strange))


def _strange_checks(session: WorkflowSession, workflow: Workflow) -> Iterable[str]:
    """A sentence for each gate whose check the project does not have yet: it could not be passed."""
    from lifecycle.evidence.checks.known_checks import known_check

    world = session.world
    for at, phase in enumerate(workflow.phases, 1):
        kind, name = gate_parts(phase.gate)
        if kind == CHECK and not known_check(name, world.root, world.settings, world.environment):
            yield sentence("strange-check", number=at, gate=quoted(phase.gate))


def _phase(text: str) -> WorkflowPhase:
    """`Build:developer` as a phase; a plugin's agent has a colon in its own name."""
    match = _AGENT.fullmatch(text)
    return WorkflowPhase(match[1], agent=match[2]) if match else WorkflowPhase(text)


def _pair(text: str, refusal: Refused) -> tuple[str, str]:
    """The texts before and after the first equals sign; raises the refusal without one."""
    match = _FACT.fullmatch(text)
    if match is None:
        raise refusal
    return match[1].strip(), match[2]


def template(session: WorkflowSession, *, called: str) -> None:
    """List the templates, or show one.

    The project's own are in .claude/workflow-templates/NAME.toml, in the form that this prints, and come
    before the shipped ones.
    """
    names = (called,) if called else templates.template_names(session.root)
    named = {name: templates.template(session.root, name) for name in names}
    texts = {name: drawn("template", template=each) for name, each in named.items()}
    data = {name: tomllib.loads("\n".join(text)) for name, text in texts.items()}
    if called:
        session.print(texts[called], {"name": called, "template": data[called]})
    else:
        session.print(drawn("templates", templates=named), {"templates": data})


_NAMES = ("create_workflow_state", "update_phase_status", "get_workflow_state", "generate_markdown")
"""The functions that may be called, by name."""

_LARGEST = 4_000_000


KINDS = {"function": click.Choice(_NAMES)}
"""Click's types for words on the command line, beside those of `main.py`."""


def call(*, function: str) -> None:
    """Call one of the four functions of lifecycle.api, with JSON on stdin and on stdout.

    Stdin: {"arguments": [...], "named": {...}}. Stdout: {"result": ...}. scripts/workflow_state.py, which
    runs on any Python, does the same.
    """
    text = "" if is_terminal(sys.stdin) else sys.stdin.read(_LARGEST)
    called: Callable[..., Any] = getattr(workflow_functions, function)
    try:
        request = {"arguments": [], "named": {}, **json.loads(text or "{}")}
        arguments, named = request["arguments"], request["named"]
        inspect.signature(called).bind(*arguments, **named)
    except (ValueError, TypeError, RecursionError) as error:
        raise Refused(
            f"{function} was called wrongly ({error}), so nothing was done; standard input has the form "
            '{"arguments": [...], "named": {...}}.'
        ) from None
    click.echo(json_text({"result": called(*arguments, **named)}))


def advance(
    session: WorkflowSession, *, phase: str, deliverables: Sequence[str], handed: str, name: str
) -> None:
    """Complete a phase through its gate, and begin the next one, which gets what this one hands on.

    A check's gate is passed if the check passed on the present files (lifecycle check NAME), a file's if
    it exists, a person's by a person. After the last phase the workflow is archived.
    PHASE: number, phase_N or title; without it the current one.
    """
    step = partial(session.steps.set_status, PhaseStatus.COMPLETED, phase, name=name)
    _tell(session, step(deliverables=deliverables, context_for_next=handed))


def block(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Record what a phase waits for; `retry` continues it. PHASE: number, phase_N or title."""
    _tell(session, session.steps.set_status(PhaseStatus.BLOCKED, phase, name=name, reason=reason))


def skip(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Skip a phase, and record why. PHASE: number, phase_N or title.

    A skipped gate is still shown; only a person can skip a person's gate.
    """
    _tell(session, session.steps.set_status(PhaseStatus.SKIPPED, phase, name=name, reason=reason))


def fail(session: WorkflowSession, *, phase: str, reason: str, name: str) -> None:
    """Record what went wrong in a phase; `retry` tries it again. PHASE: number, phase_N or title."""
    _tell(session, session.steps.set_status(PhaseStatus.FAILED, phase, name=name, reason=reason))


def retry(session: WorkflowSession, *, phase: str, name: str) -> None:
    """Begin a phase again. PHASE: number, phase_N or title; without it the current one."""
    _tell(session, session.steps.set_status(PhaseStatus.ACTIVE, phase, name=name))


def complete(session: WorkflowSession, *, name: str, reason: str) -> None:
    """End a workflow: its last phase through its gate. It is archived, and its checkpoint document removed.

    NAME: which one; without it the one of this session or branch. If several phases are left to do, it
    is refused, unless the workflow is given up.
    """
    _tell(session, session.steps.complete(name, give_up=reason))


def _tell(session: WorkflowSession, step: StepDone) -> None:
    """Print the result of a step: the state of its phase and its workflow, and what to do next."""
    workflow = step.workflow
    moved = phase_data(workflow, step.phase) if step.phase >= 0 else None
    data = {"changed": step.changed, "phase": moved, **workflow_data(workflow)}
    session.print(drawn("step", workflow=workflow, step=step), data, step.troubles)


def drawn(name: str, /, **values: Any) -> list[str]:
    """The lines of a text for people: a template in `templates/`, filled in."""
    shared = {"files": document_files, "signs": WORDS, "next_step": guidance_text.next_step}
    path = f"cli/workflow/templates/{name}.txt"
    return resources.drawn(path, toml=_toml, **shared, **values)


def _toml(value: object) -> str:
    """A text, number or list in TOML; texts are escaped as in JSON."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")


def workflow_data(workflow: Workflow) -> dict[str, Any]:
    """A workflow for `--json`."""
    return {
        **fields_of(workflow, id="id", workflow="name", workflow_type="type"),
        **fields_of(workflow, "task", "status", "is_over", "given_up?"),
        "current_phase": phase_id(workflow.current) if workflow.phase is not None else None,
        "active_phases": [phase_id(index) for index in workflow.active],
        "progress": {"done": workflow.done, "total": len(workflow.phases)},
        "phases": [phase_data(workflow, index) for index in range(len(workflow.phases))],
        **fields_of(workflow, required_reading="all_reading", context="context"),
        "key_reminders": workflow.all_reminders,
        **fields_of(workflow, "criteria", "constraints", "created_at"),
        "updated_at": _moment(workflow.updated_at),
        "ended_at": _moment(workflow.ended_at),
        **fields_of(workflow, "session?", "branch?", "source?", "is_foreign", "compactions"),
    }


def phase_data(workflow: Workflow, index: int) -> dict[str, Any]:
    """A phase for `--json`: number from 1, id from 0."""
    phase = workflow.phases[index]
    passed = phase.passed
    return {
        "id": phase_id(index),
        "number": index + 1,
        **fields_of(phase, "title", "agent?", "status"),
        "handed_on": workflow.handed_to(index),
        **fields_of(phase, "deliverables", "context_for_next", "gate?"),
        "passed": {"at": _moment(passed.at), "how": passed.how} if passed is not None else None,
        **fields_of(phase, "reason?", "attempts"),
        "errors": [{"at": _moment(error.at), "text": error.text} for error in phase.errors],
        "started_at": _moment(phase.started_at),
        "ended_at": _moment(phase.ended_at),
        "seconds": round(phase.seconds, 3),
    }


def _moment(at: float) -> str | None:
    return render_time(at) if at else None
