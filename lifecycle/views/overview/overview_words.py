"""An overview in words: ages, states, journal entries, and all of it as lines. Pure.

Strangers' words are quoted as data, since agents read the lines; nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lifecycle.core.messages.figures import count, minute, span
from lifecycle.core.redact import as_data, named, quoted
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.overview import overview_values as values

Awaited = Sequence[values.AwaitedPerson]

STANDINGS = {
    values.PullStanding.UNKNOWN: ("open, not looked at yet", "dim"),
    values.PullStanding.UNCHECKED: ("no checks yet", "dim"),
    values.PullStanding.RUNNING: ("checks run", "cyan"),
    values.PullStanding.FAILED: ("checks failed", "bold red"),
    values.PullStanding.HELD: ("checks need a person", "bold magenta"),
    values.PullStanding.CHANGES: ("changes requested", "bold magenta"),
    values.PullStanding.CONFLICT: ("conflicts", "bold red"),
    values.PullStanding.PASSED: ("all green", "green"),
    values.PullStanding.MERGED: ("merged", "bold green"),
    values.PullStanding.CLOSED: ("closed without a merge", "red"),
}
"""The state of a pull request in words, and the colour of the words on a terminal."""


def is_awaited(overview: values.Overview, text: str) -> bool:
    """True if a sentence about what waits for a person has these words already."""
    awaited = (wait.what for wait in overview.awaited)
    return any(what.removesuffix(".") in text or text in what for what in awaited)


def age(since: float, now: float) -> str:
    """The time since a moment: `4 min`; never negative, even if a clock was set back."""
    return span(max(0.0, now - since))


def stage_line(stage: values.OverviewStage, now: float) -> str:
    """The state of the staged workflow, in one sentence."""
    name = f" {named(stage.task)}" if stage.task else ""
    if stage.is_off:
        return "Stage: the staged workflow is switched off in this worktree."
    if stage.is_over:
        return f"Stage: the task{name} was led to its end {age(stage.at, now)} ago."
    reminders = f"told to go on {count(stage.told, 'time')}" if stage.told else ""
    how = "set by hand, told at the next stop" if stage.is_set else reminders
    how = "let go after it was told too often" if stage.is_let_go else how
    of_task = f" of{name}" if name else ""
    return f"Stage: {stage.stage or 'none yet'}{of_task}{f', {how}' if how else ''}."


AT_WORK = ("in_progress", "testing", "review")
"""The statuses of a story that is being worked on."""


def at_work(story: values.OverviewStory) -> str:
    """A story's status, and its place in the cycle while it is worked on."""
    words = [story.status.replace("_", " ")]
    if story.status in AT_WORK:
        words += [story.tdd, f"attempt {story.iteration}" if story.iteration else ""]
    if story.criteria and story.status != "completed":
        words.append(f"{story.met} of {story.criteria} criteria met")
    return ", ".join(word for word in words if word)


_DID = {
    "active": "began",
    "blocked": "is blocked",
    "closed": "is over",
    "completed": "was completed",
    "pending": "was put back",
    "skipped": "was skipped",
}
_GATES = {"green": "is passed", "red": "is not passed"}


def event_words(entry: JournalEntry) -> str:
    """What happened, in one line; of a workflow a sentence with its name."""
    detail = entry.detail
    title = f" ({detail['title']})" if detail.get("title") and not entry.source else ""
    if detail.get("number"):
        of = f" of {quoted(str(detail['title']))}" if detail.get("title") else ""
        phase = quoted(str(detail.get("phase") or ""))
        return f"phase {detail['number']}{of}, {phase}, {phase_words(entry)}"
    if entry.system == "workflow":
        return f"{quoted(str(detail.get('title') or ''))} {phase_words(entry)}"
    words = {
        "transition": f"{entry.source or '(begin)'} → {entry.target or '(end)'}{title}",
        "write": f"wrote: {entry.target}",
        "check": f"checked {entry.source or detail.get('check')}: {detail.get('outcome', '')}",
        "block": f"told to go on: {entry.source} → {entry.target}",
        "refused": f"not accepted: {entry.source}, stays in {entry.target}",
        "let_go": f"let go in {entry.source}",
        "flake": f"{named(entry.source)} failed and passed at one commit",
    }
    return words.get(entry.kind, entry.kind)


def phase_words(entry: JournalEntry) -> str:
    """The result of a workflow's phase, as the end of a sentence about it: `failed: "no network"`."""
    if entry.kind == "check":
        how = _GATES.get(str(entry.detail.get("outcome")), "waits for a person")
        return f"its gate {named(entry.source)} {how}"
    before, after = (text.rpartition(" ")[2] for text in (entry.source, entry.target))
    is_again = after == "active" and before not in ("pending", "")
    did = "was taken up again" if is_again else _DID.get(after, after)
    by = f" by {named(entry.actor)}" if entry.actor else ""
    reason = entry.detail.get("reason")
    return f"{did}{by}{f': {quoted(str(reason))}' if reason else ''}"


STORIES = 8
"""How many stories of a run are listed."""

EVENTS = 5
"""How many entries of the journal are listed."""


def since_when(lines: Sequence[str], awaited: Awaited, now: float) -> list[str]:
    """Add to each line of the claim about a matter for a person how long it has waited."""
    waits = {wait.what.removesuffix("."): wait.since for wait in awaited if wait.since}
    with_age = []
    for line in lines:
        since = next((at for what, at in waits.items() if what in line), 0.0)
        with_age.append(f"{line} [waits for {age(since, now)}]" if since else line)
    return with_age


def lines_below(overview: values.Overview, awaited: Awaited, above: Sequence[str]) -> list[str]:
    """The lines for all parts of an overview but the claim; a missing part has none.

    Args:
        overview: the worktree's overview.
        awaited: its matters for a person, as far as this reader may see them.
        above: the lines before these; their content is not repeated.
    """
    lines = [stage_line(overview.stage, overview.at)] if overview.stage else []
    lines += _run(overview.run) if overview.run else ()
    lines += _workflow(overview.workflow) if overview.workflow else ()
    lines += _awaited(awaited, above, overview.at)
    events = overview.events[-EVENTS:]
    lines += ["Last events:"] if events else []
    for event in events:
        task = f" {event.task}" if event.task and event.system != "workflow" else ""
        lines.append(f"- {minute(event.at)} UTC {event.system}{task}: {event.what}")
    # The claim's is the command's own error.
    troubles = [(part, why) for part, why in overview.troubles.items() if part != "claim"]
    lines += [f"{part.capitalize()}: {why}" for part, why in troubles]
    return [as_data(line) for line in lines]


def _awaited(waits: Awaited, above: Sequence[str], now: float) -> list[str]:
    text = "\n".join(above)
    unsaid = [entry for entry in waits if entry.what.removesuffix(".") not in text]
    lines = ["Waits for a person:"] if unsaid else []
    for wait in unsaid:
        how_long = f"for {age(wait.since, now)}: " if wait.since else ""
        where = f" ({wait.where})" if wait.where and wait.where not in wait.what else ""
        lines.append(f"- {how_long}{wait.what}{where}")
    return lines


def _run(run: values.OverviewRun) -> Iterator[str]:
    stories = f"{run.done} of {count(len(run.stories), 'story', 'stories')} completed"
    yield f"Run: {quoted(run.goal)}, {run.phase}, {run.status}; {stories}."
    shown = run.stories
    if len(shown) > STORIES:
        shown = tuple(story for story in shown if story.status != "completed")[:STORIES]
    for story in shown:
        yield f"- {story.id} {quoted(story.title)}: {at_work(story)}"
    if len(shown) < len(run.stories):
        yield f"- … and {len(run.stories) - len(shown)} more: lifecycle run status --all"
    for blocker in run.blockers:
        yield f"Blocked: {blocker}"
    if run.pull_url:
        yield f"Pull request of the run: {run.pull_url}"


def _workflow(workflow: values.OverviewWorkflow) -> Iterator[str]:
    where = f", phase {workflow.current} of {len(workflow.phases)}" if workflow.current else ""
    yield f"Workflow: {named(workflow.name)} ({workflow.type}), {workflow.status}{where}."
    for number, phase in enumerate(workflow.phases, 1):
        agent = f" ({named(phase.agent)})" if phase.agent else ""
        yield f"- {number}. {quoted(phase.title)}{agent}: {phase.status}"
    if workflow.reading:
        yield f"Required reading: {' '.join(workflow.reading)}"
    if workflow.others:
        yield f"Other workflows: {', '.join(named(name) for name in workflow.others)}"
