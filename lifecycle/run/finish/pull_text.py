"""The pull request of a run: its title and its text, in which only records check a box.

The changes are grouped by folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from lifecycle.core import hidden_marker
from lifecycle.core.redact import listed, redact, short, visible
from lifecycle.run import table
from lifecycle.run.gates.gate_rules import lint_left, review_state
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.long_run import spent
from lifecycle.run.state import GatePart, GateRecord, Run, Story, newest
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
    manual = table.CriterionState.MANUAL
    criteria = ((story, entry) for story in run.stories for entry in story.criteria)
    lines = drawn(
        "pull",
        run=run,
        changes=grouped(files),
        tests=gate.part(table.TESTS),
        covered=[(story, _coverage(story)) for story in run.completed_stories],
        checklist=_checklist(run, gate, facts),
        manual=[pair for pair in criteria if pair[1].state is manual],
        took=spent(run, now),
    )
    shown = "\n".join(visible(line) for line in redact("\n".join(lines)).splitlines())
    return shown.replace("<!--", "&lt;!--")[:BODY_LIMIT]  # no other text may end or begin our part


def _coverage(story: Story) -> GatePart | None:
    record = newest(story.gates, table.Gate.G4)
    return None if record is None else record.part(table.COVERAGE)


def _checklist(run: Run, final: GateRecord, facts: WorkFacts) -> list[str]:
    done, is_whole = run.completed_stories, bool(run.stories) and not run.open_stories
    met = table.CriterionState.MET
    are_met = [entry.state is met for story in run.stories for entry in story.criteria]
    is_read = all(_approved(story, table.StoryCheck.REVIEW_APPROVED) for story in done)
    safe = (_approved(story, table.StoryCheck.SECURITY_CLEARED) for story in done if story.security)
    security = _box(is_whole and all(safe), "Security review passed", facts.uncleared)
    if not any(story.security for story in run.stories):
        security = "- [ ] Security review: N/A (no story is security-sensitive)"
    lint = f" - {lint_left(run)}" if lint_left(run) else ""
    late = [f"before {listed(facts.late)} changed"] if facts.late else []
    are_verified = is_whole and bool(are_met) and all(are_met)
    return [
        _command_box("Build passes", final.part(table.BUILD)),
        _command_box("All tests pass", final.part(table.TESTS)),
        _command_box("Lint checks pass", final.part(table.LINT)) + lint,
        _box(is_whole and is_read, "Code review approved by reviewer agent", facts.unread),
        security,
        _box(are_verified, "All acceptance criteria verified by tester agent", late),
    ]


def _command_box(text: str, part: GatePart) -> str:
    if part.state is table.CheckState.PENDING:
        return f"- [ ] {text} (not recorded)"
    if part.state is table.CheckState.NOT_APPLICABLE:
        return f"- [ ] {text}: N/A ({part.why or 'the platform has no such command'})"
    command = part.command.replace("`", "'")
    return _box(part.state is table.CheckState.PASS, f"{text} (`{command}`)")


def _box(is_checked: bool, text: str, but: Sequence[str] = ()) -> str:
    mark = "x" if is_checked and not but else " "
    return f"- [{mark}] {text}" + (f" ({'; '.join(but)})" if but else "")


def _approved(story: Story, check: table.StoryCheck) -> bool:
    return review_state(story, check, None) is table.CheckState.PASS


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
