"""What can be configured of the staged workflow: the table `[stages]` of `.lifecycle.toml`."""

from __future__ import annotations

from lifecycle.core.errors import BadConfig
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.settings import readers


def workflows(where: str, value: object) -> dict[str, tuple[Stage, ...]]:
    """A table from a label to its stages."""
    if not isinstance(value, dict):
        raise BadConfig(f"{where} must be a table from labels to lists of stages, not {value!r}.")
    return {name: _line(f'{where}."{name}"', stages) for name, stages in value.items()}


def _line(where: str, value: object) -> tuple[Stage, ...]:
    names = list(LINE)
    is_list = isinstance(value, list) and value and all(name in names for name in value)
    if not is_list or not isinstance(value, list):
        raise BadConfig(f"{where} must be a list of stages ({', '.join(names)}), not {value!r}.")
    if len(set(value)) != len(value):
        raise BadConfig(f"{where} names a stage twice; each stands in it once.")
    line = tuple(Stage(name) for name in value)
    if Stage.NEXT_TASK in line[:-1]:
        raise BadConfig(f"{where} goes on after NEXT_TASK, which can only be the last stage.")
    return line


def label(where: str, value: object) -> str:
    """A label's name: one that can be asked for, and that can have a colon and more behind it."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or "," in value:
        raise BadConfig(f"{where} must be the name of a label, without a comma, not {value!r}.")
    return value.strip()


KEYS = {
    "stages.use": ("use", readers.flag),
    "stages.label": ("label", label),
    "stages.test": ("test", readers.commands),
    "stages.review": ("review", readers.text),
    "stages.deploy": ("deploy", readers.text),
    "stages.start": ("start", readers.text),
    "stages.require_evidence": ("require_evidence", readers.flag),
    "stages.max_blocks": ("max_blocks", readers.number),
    "stages.workflows": ("workflows", workflows),
}
"""The keys: the name in `StageSettings`, and what reads the value."""
