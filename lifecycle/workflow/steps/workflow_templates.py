"""Templates of workflows: those of the product, and the project's own in `.claude/workflow-templates/`.

A template of the project is `NAME.toml`:

    type = "implementation"            # optional; `custom` otherwise
    reading = ["docs/release.md"]      # optional, as all of the following
    reminders = ["Tag after the checks."]
    context = { channel = "stable" }

    [[phases]]
    title = "Freeze"
    agent = "release-manager"
    reading = ["docs/freeze.md"]
    reminders = []
    gate = "check:test"

Such a file may come with the repository: the texts of a template that git tracks are quoted as data.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from lifecycle.core.errors import did_you_mean
from lifecycle.core.redact import quoted
from lifecycle.settings import resources
from lifecycle.workflow.state import Workflow, WorkflowPhase, checked_gate, slug
from lifecycle.workflow.store.document_files import own_content
from lifecycle.workflow.table import refused

FOLDER: Final = ".claude/workflow-templates"
_LARGEST: Final = 100_000


_OF_A_PHASE: Final = frozenset({"title", "agent", "reading", "reminders", "gate"})
"""The fields of a phase in a template."""


class WorkflowTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The initial content of a workflow.

    Attributes:
        type: the word for its kind.
        phases, reading, reminders, context: copied to the workflow.
        description: one line for people.
    """

    phases: tuple[WorkflowPhase, ...] = ()
    type: str = "custom"
    reading: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    context: dict[str, Any] = {}
    description: str = ""

    def applied(self, workflow: Workflow) -> Workflow:
        """The workflow, with the template's values wherever it has none of its own."""
        phases = tuple(replace(phase, gate=checked_gate(phase.gate)) for phase in self.phases)
        return replace(
            workflow,
            type=self.type,
            phases=workflow.phases or phases,
            reading=tuple(dict.fromkeys((*self.reading, *workflow.reading))),
            reminders=tuple(dict.fromkeys((*self.reminders, *workflow.reminders))),
            context={**self.context, **workflow.context},
        )


def supplied_templates() -> dict[str, WorkflowTemplate]:
    """The product's templates, by name."""
    supplied = resources.texts("workflow/steps/templates.toml")
    return {name: _template(data, name) for name, data in supplied.items()}


def template_names(root: Path) -> tuple[str, ...]:
    """The names that `template` knows: the product's, then the project's own."""
    own = sorted(path.stem for path in (root / FOLDER).glob("*.toml"))
    return tuple(dict.fromkeys((*supplied_templates(), *own)))


def template(root: Path, name: str) -> WorkflowTemplate:
    """The template of this name; the project's own has precedence over the product's.

    Raises:
        Refused: there is none, or its file cannot be used; the sentence says why.
    """
    path = template_path(name)
    try:
        content = own_content(root, path, _LARGEST)
    except OSError as error:
        raise refused("template-unreadable", path=path, error=error) from None
    if content is None:
        supplied = supplied_templates()
        if name in supplied:
            return supplied[name]
        known = template_names(root)
        near, listed = did_you_mean(name, known), ", ".join(known)
        raise refused("no-such-template", name=quoted(name), known=listed, near=near)
    if len(content[0]) > _LARGEST:
        raise refused("template-too-large", path=path, most=_LARGEST)
    try:
        return _template(tomllib.loads(content[0].decode("utf-8")), name)
    except (ValueError, RecursionError) as error:
        raise refused("no-template", path=path, error=error) from None


def template_path(name: str) -> str:
    """The path of the project's template with that name, from the top folder."""
    return f"{FOLDER}/{slug(name)}.toml"


def _template(data: Mapping[str, Any], name: str) -> WorkflowTemplate:
    parsed = msgspec.convert(data, WorkflowTemplate)
    unknown = {field for phase in data.get("phases", ()) for field in phase} - _OF_A_PHASE
    if unknown:
        raise ValueError(f"a phase has {', '.join(sorted(unknown))}")
    if not parsed.phases and name != "custom":
        raise ValueError("it has no phases")
    return parsed
