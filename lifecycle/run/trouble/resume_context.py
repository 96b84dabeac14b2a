"""Where a run goes on after a person mended what blocked it: the design's JSON, and its block of text."""

from __future__ import annotations

from typing import Any

from lifecycle.core.redact import as_data
from lifecycle.core.timing import render_time
from lifecycle.run.state import Blocker, Run, Story, UserFix, fields_of
from lifecycle.run.table import RunStatus
from lifecycle.run.texts.design_blocks import filled

RECENT = 5
"""Blockers that are shown as resolved recently."""


def resume_data(run: Run) -> dict[str, Any]:
    """The design's JSON."""
    story = _story(run)
    named = {name: name for name in ("id", "title", "status")}
    current = story and fields_of(story, **named, tdd_phase="tdd", attempts="iteration")
    resolved = [
        {"index": i, "description": one.description, "resolvedAt": render_time(one.resolved_at)}
        for i, one in _resolved(run)
    ]
    return {
        **fields_of(run, workflow_id="id", goal="goal", current_phase="phase"),
        "recently_resolved_blockers": resolved,
        "current_story": current,
        "resume_instructions": _instructions(run, story),
    }


def resume_lines(run: Run) -> list[str]:
    """The block for the developer, from what is recorded."""
    resolved, story = _resolved(run), _story(run)
    if not resolved:
        return ["No blocker was resolved in this run.", *_instructions(run, story)]
    _, blocker = resolved[-1]
    return filled(
        "resuming",
        blocker=as_data(blocker.description),
        notes=as_data(blocker.notes) or "(none)",
        verification=_verification(run.fix, blocker),
        then=_instructions(run, story) if story is None else _picking_up(run, story),
    )


def _picking_up(run: Run, story: Story) -> list[str]:
    failures = "; ".join(f"{one.id} [{one.category}] {one.text}" for one in story.failures[-3:])
    return filled(
        "picking-up",
        story=story,
        title=as_data(story.title),
        failures=as_data(failures) or "none",
        steps=_instructions(run, story),
    )


def _resolved(run: Run) -> list[tuple[int, Blocker]]:
    """The blockers that were resolved last, the newest last; one that never stood is none."""
    stood = [(i, one) for i, one in enumerate(run.blockers) if one.resolved_at > one.at]
    return sorted(stood, key=lambda pair: pair[1].resolved_at)[-RECENT:]


def _story(run: Run) -> Story | None:
    """The story that was waited for, while it is open; else the one that is next."""
    name = run.fix.story if run.fix is not None else ""
    waited_for = next((one for one in run.open_stories if one.id == name), None)
    return waited_for or run.current


def _verification(fix: UserFix | None, blocker: Blocker) -> str:
    """What the check command came to, if this blocker had one."""
    if fix is None or blocker.id != fix.blocker or not fix.check_command:
        return "NOT CHECKED (it has no check command)"
    if not fix.checked_at:
        return "NOT RUN (lifecycle run check-user-fix)"
    return "PASSED" if fix.verified else "FAILED"


def _instructions(run: Run, story: Story | None) -> list[str]:
    if run.status is RunStatus.AWAITING_USER:
        what = run.fix.description if run.fix is not None else "what blocks the run"
        return filled("resume-awaiting", what=what)
    if run.status is not RunStatus.ACTIVE:
        return filled("resume-not", run=run)
    if story is None:
        return filled("resume-next")
    also = "lifecycle run check-user-fix, then " if run.fix and run.fix.check_command else ""
    return filled("resume-steps", also=also, story=story)
