"""Writes what the code says into docs/, and draws the demo: `make docs`.

A generated part lies between two comments, `<!-- NAME: … -->` and `<!-- /NAME -->`; everything else
on the page is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.claim.engine.briefing import NEXT_STEPS
from lifecycle.core.stage_names import LINE, MARKERS, Detected, Stage
from lifecycle.stages.decisions.instructions import following
from lifecycle.stages.detection.stage_watch import ANY, TABLE
from tests.docs import (
    overview_schema,
    packet_schema,
    platform_parts,
    ready_documents,
    run_parts,
    workflow_parts,
)
from tests.docs.demo_picture import PICTURE, demo, picture
from tests.docs.pages import REFERENCE, ROOT
from tests.docs.reference_tables import commands, own_settings, settings, wait_endings
from tests.docs.rooms_picture import rooms, tree
from tests.docs.runners_table import runners
from tests.stages.detection_cases import STAYS, TIERS, all_cases

STATES = ROOT / "docs" / "states.md"
RUNNERS = ROOT / "docs" / "runners.md"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
WORKFLOW = ROOT / "docs" / "workflow.md"


def mermaid(initial: StrEnum, table: Mapping[Any, Mapping[Any, str]]) -> str:
    """The table of a phase machine as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", f"    [*] --> {initial}"]
    for phase, row in table.items():
        lines += [f"    {phase} --> {wanted}: {why}" for wanted, why in row.items()]
        if not row:
            lines.append(f"    {phase} --> [*]")
    return "\n".join(lines)


def diagram() -> str:
    """The phases as a Mermaid diagram."""
    return f"```mermaid\n{mermaid(CLAIM.initial, CLAIM.table)}\n```"


def moves() -> str:
    """Every legal move and its reason, as a table."""
    rows = ["| from | to | when |", "|---|---|---|"]
    for phase, row in CLAIM.table.items():
        rows += [f"| `{phase}` | `{wanted}` | {why} |" for wanted, why in row.items()]
        if not row:
            rows.append(f"| `{phase}` | | the end |")
    return "\n".join(rows)


def steps() -> str:
    """What a session is told in each phase, as a table."""
    rows = ["| phase | what the agent is told at the start of a session |", "|---|---|"]
    return "\n".join(rows + [f"| `{phase}` | {NEXT_STEPS[phase]} |" for phase in Phase])


def stages() -> str:
    """The stages as a Mermaid diagram; on each arrow the marker that the agent emits."""
    after = {stage: following(MARKERS[stage], LINE) or Stage.CODING for stage in LINE}
    table = {stage: {target: str(MARKERS[stage])} for stage, target in after.items()}
    return f"```mermaid\n{mermaid(Stage.CODING, table)}\n```"


def inferred() -> str:
    """What a tool's call shows of a stage, as a table."""
    rows = ["| the call | came out | state |", "|---|---|---|"]
    for (about, outcome), state in TABLE.items():
        rows.append(f"| {about} | {'any other way' if outcome == ANY else outcome} | `{state}` |")
    rows.append(f"| any other | any way | `{Detected.IN_PROGRESS}` |")
    return "\n".join(rows)


def confused() -> str:
    """What the detection finds in each of the suite's own cases, beside what the case says is right.

    `stages/test_detection_cases.py` judges them all, so that they are not judged here once more.
    """
    rows = [
        "| found by | the case says | cases | detected: that stage | detected: another | detected: none |",
        "|---|---|---|---|---|---|",
    ]
    every = all_cases()
    for tier, called in TIERS.items():
        for says, is_none in (("a stage is completed", False), ("no stage is completed", True)):
            cases = [c for c in every if c.tier == tier and (c.expected == STAYS) is is_none]
            states = [case.found for case in cases]
            none = states.count(STAYS)
            right = 0 if is_none else sum(map(str.__eq__, states, (c.expected for c in cases)))
            cells = (len(cases), "" if is_none else right, len(cases) - none - right, none)
            rows.append(f"| {called} | {says} | {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


PARTS: dict[str, Callable[[], str]] = {
    "phases": diagram,
    "moves": moves,
    "steps": steps,
    "stages": stages,
    "inferred": inferred,
    "platform_keys": platform_parts.keys,
    "shipped_platforms": platform_parts.shipped,
    "confused": confused,
    "demo": demo,
    "commands": commands,
    "wait_endings": wait_endings,
    "rooms": rooms,
    "tree": tree,
    "runners": runners,
    **run_parts.PARTS,
    **workflow_parts.PARTS,
    **workflow_parts.WORD_PARTS,
}
"""The name of each generated part and what makes it."""

EXPLAINED: dict[str, Callable[[str], str]] = {
    "settings": settings,
    "own_settings": own_settings,
}
"""The parts that keep what the page itself says of their rows: what makes them of what stands there."""

PAGES: tuple[tuple[Path, tuple[str, ...]], ...] = (
    (REFERENCE, ("commands", "wait_endings", "settings", "own_settings", "demo")),
    (ARCHITECTURE, ("rooms", "tree")),
    (platform_parts.PLATFORMS, ("platform_keys", "shipped_platforms")),
    (RUNNERS, ("runners",)),
    (STATES, ("phases", "moves", "steps", "stages", "inferred", "confused", *run_parts.PARTS)),
    (STATES, tuple(workflow_parts.PARTS)),
    (WORKFLOW, tuple(workflow_parts.WORD_PARTS)),
)
"""Which page holds which parts."""


def renewed(text: str, names: tuple[str, ...]) -> str:
    """The page's text with its generated parts made anew.

    Raises:
        ValueError: a part's two comments are not on the page, exactly once.
    """
    for name in names:
        between = re.compile(rf"(?s)(<!-- {name}: [^>]*-->\n)(.*?\n)??(<!-- /{name} -->)")
        found = list(between.finditer(text))
        if len(found) != 1:
            count = len(found)
            raise ValueError(
                f"<!-- {name}: … --> … <!-- /{name} --> is there {count} times, not once"
            )
        (part,) = found
        made = EXPLAINED[name](part[2] or "") if name in EXPLAINED else PARTS[name]()
        text = f"{text[: part.end(1)]}{made}\n{text[part.start(3) :]}"
    return text


def main() -> int:
    """Renew every page; says which ones changed."""
    for path, names in PAGES:
        before = path.read_text(encoding="utf-8")
        after = renewed(before, names)
        path.write_text(after, encoding="utf-8")
        _tell(path, is_new=after != before)
    whole = (
        (PICTURE, picture()),
        (platform_parts.SCHEMA, platform_parts.schema()),
        (overview_schema.SCHEMA, overview_schema.schema()),
        (packet_schema.SCHEMA, packet_schema.schema()),
        (ready_documents.PATH, ready_documents.written()),
    )
    for path, made in whole:
        is_new = not path.exists() or path.read_text(encoding="utf-8") != made
        path.write_text(made, encoding="utf-8")
        _tell(path, is_new=is_new)
    return 0


def _tell(path: Path, *, is_new: bool) -> None:
    sys.stdout.write(f"{path.relative_to(ROOT)}: {'renewed' if is_new else 'as it was'}\n")


if __name__ == "__main__":
    sys.exit(main())
