"""The pull request of a run: its title and its text, in which only records check a box.

The changes are grouped by folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from lifecycle.core import hidden_marker
from lifecycle.core.redact import listed, redact, short, visible
from lifecycle.run import table
from lifecycle.run.gates.gate_rules import lint_left, review_state
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import spent
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.run.texts.told import drawn

BODY_LIMIT = 60_000
"""Characters of the run's part: GitHub takes 65,536, and the text around it needs some."""


def summary_of(run: Run) -> str:
    """The goal in one short line."""
    line = (run.goal.strip() or run.id).splitlines()[0]
    return short(" ".join(line.split()), 100)


def title_of(run: Run) -> str:
    """The pull request's title, unless a claim has one."""
    return f"[Feature] {summary_of(run)}"


def with_section(body: str, run: Run, section: str) -> str:
    """A pull request's text with the run's part, which replaces an earlier one or is appended."""
    begin, end = (hidden_marker.of(kind, id=run.id) for kind in ("run", "run-end"))
    part = f"{begin}\n{section.strip()}\n{end}"
    earlier = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if earlier.search(body):
        return earlier.sub(lambda _: part, body, count=1)
    return f"{body.rstrip()}\n\n{part}" if body.strip() else part


def body_of(run: Run, files: Iterable[str], now: float, facts: WorkFacts) -> str:
    """The run's part of a pull request's text, in Markdown.

    Args:
        run: the run, completed or not.
        files: the paths that have changed since the run began.
        now: the present.
        facts: the worktree's facts, with the changes that no review has read.
    """
    pending = GateRecord(table.Gate.G7, now, table.CheckState.PENDING)
    gate = newest(run.gates, table.Gate.G7, facts.tree) or pending
    done, state = run.completed_stories, table.CriterionState
    criteria = [(story, entry) for story in run.stories for entry in story.criteria]
    secured = [story for story in done if story.security]
    lines = drawn(
        "pull",
        run=run,
        facts=facts,
        changes=grouped(files),
        final=gate,
        newest=newest,
        table=table,
        is_read=_are_approved(done, table.StoryCheck.REVIEW_APPROVED),
        is_safe=_are_approved(secured, table.StoryCheck.SECURITY_CLEARED),
        are_met=bool(criteria) and all(entry.state is state.MET for _, entry in criteria),
        lint=lint_left(run),
        manual=[pair for pair in criteria if pair[1].state is state.MANUAL],
        took=spent(run, now),
    )
    shown = "\n".join(visible(line) for line in redact("\n".join(lines)).splitlines())
    return shown.replace("<!--", "&lt;!--")[:BODY_LIMIT]  # no other text may end or begin our part


def _are_approved(stories: Iterable[Story], check: table.StoryCheck) -> bool:
    return all(review_state(story, check, None) is table.CheckState.PASS for story in stories)


_GROUPS, _FILES = 20, 8


def grouped(paths: Iterable[str]) -> list[str]:
    """A line for each folder, with the names of its files."""
    groups: dict[PurePosixPath, list[str]] = {}
    for path in sorted(map(PurePosixPath, paths)):
        groups.setdefault(path.parent, []).append(f"`{path.name}`")
    names = {folder: f"`{folder}/`" if folder.name else "the top folder" for folder in groups}
    lines = [f"- {names[folder]}: {listed(files, _FILES)}" for folder, files in groups.items()]
    left = len(lines) - _GROUPS
    return [*lines[:_GROUPS], *([f"- and {left} more folders"] if left > 0 else [])]
