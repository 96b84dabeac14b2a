"""What docs/states.md and docs/workflow.md take from the table of a workflow's phases."""

from __future__ import annotations

from lifecycle.workflow.table import FROM_CHECKPOINT, FROM_DOCUMENT, PHASES, WORDS
from tests.docs.run_parts import picture


def phases() -> str:
    """The statuses of a phase of a workflow, as a Mermaid diagram."""
    return picture(PHASES)


def moves() -> str:
    """Every legal move of a phase of a workflow and its reason, as a table."""
    lines = ["| from | to | when |", "|---|---|---|"]
    for status, row in PHASES.table.items():
        lines += [f"| `{status}` | `{wanted}` | {why} |" for wanted, why in row.items()]
        if not row:
            lines.append(f"| `{status}` | | the end |")
    return "\n".join(lines)


def words() -> str:
    """Each status in the words of both documents, and what each word alone is read as."""
    head = ("status", "checkpoint document", "read alone", "`workflow.json`", "read alone")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for status, word in WORDS.items():
        alone = (FROM_CHECKPOINT[word.checkpoint], FROM_DOCUMENT[word.document])
        cells = (status, word.checkpoint, alone[0], word.document, alone[1])
        lines.append(f"| {' | '.join(f'`{cell}`' for cell in cells)} |")
    return "\n".join(lines)


PARTS = {"workflow_phases": phases, "workflow_moves": moves}
"""The parts of docs/states.md."""

WORD_PARTS = {"workflow_words": words}
"""The parts of docs/workflow.md."""
