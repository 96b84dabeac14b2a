"""The table of runners, as docs/runners.md shows it."""

from __future__ import annotations

import re

from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import RunnerRow
from tests.evidence.runners.recordings import all_recordings


def runners() -> str:
    """A line for each row: how its runs begin, what is read, and of which versions there are recordings."""
    versions: dict[str, dict[str, None]] = {}
    for each in all_recordings():
        version = re.search(r"\d[\w.]*", each.version)
        versions.setdefault(each.runner, {})[version[0] if version else each.version] = None
    lines = [
        "| runner | its runs begin | counts | failed tests | verified |",
        "|---|---|---|---|---|",
    ]
    for row in runner_table.rows():
        begins: dict[str, list[str]] = {}
        for name in row.commands:
            program, _, command = name.partition(" ")
            begins.setdefault(program, []).append(command)
        said = [f"{_program(name)} {', '.join(each)}".rstrip(", ") for name, each in begins.items()]
        runs = "; ".join(said) or "run by others only"
        verified = ", ".join(versions.get(row.name, ())) or "unverified"
        name = f"[{row.name}]({row.url.removeprefix('docs/')})" if row.url else row.name
        named = "named" if row.failures else "no"
        lines.append(f"| {name} | {runs} | {_counts(row)} | {named} | {verified} |")
    return "\n".join(lines)


def _program(name: str) -> str:
    return name if name.endswith(".py") else f"`{name}`"  # a file in code quotes is one of ours


def _counts(row: RunnerRow) -> str:
    if row.wraps and not row.summary:
        return "of what it runs"
    groups = {
        name for name in runner_table.COUNTED if any(f"<{name}" in str(s) for s in row.summary)
    }
    return "parts" if groups == {"parts"} else "tests"
