"""Where a run stands, for a session that finds it."""

from __future__ import annotations

from typing import Any

from lifecycle.core.markdown_table import table
from lifecycle.core.redact import quoted
from lifecycle.run.long_run import sync_due, tier
from lifecycle.run.state import Run, fields_of
from lifecycle.run.table import NUMBERS, RunStatus
from lifecycle.run.texts.told import sentence


def recovery_lines(run: Run | None, now: float, written: float = 0.0) -> list[str]:
    """The table of recovery, and what to go on with; one that is over does not come back."""
    if run is None or run.is_over:
        rows = [("Existing workflow", "No")]
        last = [f"The last run, {run.id}, is completed."] if run is not None else []
        return [*_table(rows), *(["", *last] if last else [])]
    story = run.current
    rows = [
        ("Existing workflow", "Yes"),
        ("Workflow ID", run.id),
        ("Current phase", run.phase.value),
        ("Stories completed", f"{len(run.completed_stories)}/{len(run.stories)}"),
        ("Current story", f"{story.id} {story.title}" if story is not None else "None"),
    ]
    place = f"{story.id} ({story.status})" if story is not None else f"the phase {run.phase}"
    return [
        *_table(rows),
        "",
        f"Continuing from {place}. Skipping to Phase {NUMBERS[run.phase]}.",
        *(f"Note: {note}" for note in notes(run, now, written)),
    ]


def recovery_data(run: Run | None, now: float, written: float = 0.0) -> dict[str, Any]:
    """The same for `--json`."""
    if run is None or run.is_over:
        return {"existing_workflow": False, "last_workflow_id": run.id if run is not None else None}
    return {
        "existing_workflow": True,
        **fields_of(run, workflow_id="id", goal="goal", current_phase="phase"),
        "phase_number": NUMBERS[run.phase],
        "status": run.status,
        "stories_completed": len(run.completed_stories),
        "stories": len(run.stories),
        "current_story": run.current.id if run.current is not None else None,
        "notes": notes(run, now, written),
    }


def notes(run: Run, now: float, written: float = 0.0) -> list[str]:
    """What a session has to know of the run beside where it stands.

    Args:
        run: which.
        now: the present.
        written: when its file was written; 0.0 if nobody knows.
    """
    texts = (brake_note(run), handover_note(run, now), sync_note(run, written, now))
    return [text for text in texts if text]


def sync_note(run: Run, written: float, now: float) -> str:
    """That the state is old for a run of this length; "" otherwise."""
    if not sync_due(run, written, now):
        return ""
    every = tier(run, now).sync_seconds / 60
    return sentence("state-is-old", minutes=int((now - written) // 60), every=every)


def brake_note(run: Run) -> str:
    """Why the run does not go on, or that a person let it go on and no session did yet; "" otherwise."""
    if run.status is RunStatus.STOPPED:
        return sentence("note-stopped", why=run.why or "nobody said why")
    if run.fix is None:
        return ""
    what = quoted(run.fix.description)
    if run.status is RunStatus.AWAITING_USER:
        return sentence("note-waits", what=what)
    is_news = run.fix.completed_at > run.led_on_at  # no session has gone on with it since
    return sentence("note-fixed", what=what) if is_news else ""


def handover_note(run: Run, now: float) -> str:
    """That a break is near at which another session may take over, in a very long run; "" otherwise."""
    if not tier(run, now).hands_over:
        return ""
    story = run.current
    is_break = story is None or not story.iteration
    where = "Now is" if is_break else "The end of this story is"
    return sentence("hand-over", where=where)


def _table(rows: list[tuple[str, str]]) -> list[str]:
    return ["## Session Recovery", "", *table(("Check", "Result"), rows)]
