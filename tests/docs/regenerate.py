"""Writes what the phase table says into README.md and docs/states.md: `make docs`.

A generated part lies between two comments, `<!-- NAME: … -->` and `<!-- /NAME -->`; everything else
on the page is written by hand.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lifecycle.claim.decisions.table import CLAIM, Phase
from lifecycle.claim.engine.briefing import NEXT_STEPS
from lifecycle.stages.decisions.table import STAGES
from lifecycle.stages.detection.inference import ANY, TABLE
from tests.docs.pages import README, ROOT

STATES = ROOT / "docs" / "states.md"


def diagram() -> str:
    """The phases as a Mermaid diagram."""
    return f"```mermaid\n{CLAIM.mermaid()}\n```"


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
    return f"```mermaid\n{STAGES.mermaid()}\n```"


def inferred() -> str:
    """What a tool shows of a stage, as a table; "typed" is what a person typed."""
    rows = ["| tool | the call | came out | state |", "|---|---|---|---|"]
    for tools, about, outcome, state in TABLE:
        names = "any other" if tools == ANY else ", ".join(tools.split())
        rows.append(
            f"| {names} | {about} | {'any other way' if outcome == ANY else outcome} | `{state}` |"
        )
    return "\n".join(rows)


def demo() -> str:
    """What `lifecycle demo` prints, with the numbers that differ from run to run made equal."""
    command = Path(sys.executable).with_name("lifecycle")
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    told = subprocess.run(
        [command, "demo"], env=environment, capture_output=True, text=True, check=True
    )
    text = "\n".join(line.rstrip() for line in told.stdout.strip().splitlines())
    for pattern, example in _PASSING:
        text = re.sub(pattern, example, text)
    return f"```text\n{text}\n```"


_PASSING = (
    (r"(?<=127\.0\.0\.1:)\d+", "43889"),
    (r"(?<=octocat-)\d{16}", "1795251656951395"),
    (r"(?<= at )[0-9a-f]{7}", "33b69c6"),
    (r"(?<=done in )[\d.]+(?= s)", "3.3"),
)
"""What is of this run only, and what stands on the page instead."""

PARTS: dict[str, Callable[[], str]] = {
    "phases": diagram,
    "moves": moves,
    "steps": steps,
    "stages": stages,
    "inferred": inferred,
    "demo": demo,
}
"""The name of each generated part and what makes it."""

PAGES: tuple[tuple[Path, tuple[str, ...]], ...] = (
    (README, ("demo", "phases")),
    (STATES, ("phases", "moves", "steps", "stages", "inferred")),
)
"""Which page holds which parts."""


def renewed(text: str, names: tuple[str, ...]) -> str:
    """The page's text with its generated parts made anew.

    Raises:
        ValueError: a part's two comments are not on the page, exactly once.
    """
    for name in names:
        between = re.compile(rf"(?s)(<!-- {name}: [^>]*-->\n)(?:.*?\n)??(<!-- /{name} -->)")
        found = list(between.finditer(text))
        if len(found) != 1:
            count = len(found)
            raise ValueError(
                f"<!-- {name}: … --> … <!-- /{name} --> is there {count} times, not once"
            )
        (part,) = found
        text = f"{text[: part.end(1)]}{PARTS[name]()}\n{text[part.start(2) :]}"
    return text


def main() -> int:
    """Renew every page; says which ones changed."""
    for path, names in PAGES:
        before = path.read_text(encoding="utf-8")
        after = renewed(before, names)
        path.write_text(after, encoding="utf-8")
        state = "as it was" if after == before else "renewed"
        sys.stdout.write(f"{path.relative_to(ROOT)}: {state}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
