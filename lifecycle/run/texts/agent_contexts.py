"""The contexts for agents: a developer before another try or after a blocker, and a story's reviewer.

They are made from records only. A reviewer's context does not say how the work was done: reviewers judge by
the files and the logs, not by anybody's account.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from lifecycle.core import markdown_table
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages import figures
from lifecycle.core.redact import as_data, few
from lifecycle.core.timing import render_time
from lifecycle.run import table
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.gates.reviews import standing
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Blocker, Failure, Run, Story, TestProof, UserFix, newest
from lifecycle.run.texts.told import Answer, filled, numbered
from lifecycle.run.trouble.story_failures import advice, recent

LISTED = 20
"""How many tests and files are named; the rest are counted."""

RECENT = 5
"""How many recently resolved blockers are shown."""

SHOWN_FAILURES, SHOWN_FILES = 10, 100


def retry(story: Story, facts: WorkFacts) -> Answer:
    """What a developer gets before another try at a story.

    Args:
        story: the story, with its failures, gates and reviews.
        facts: the worktree's facts, with `changed` since the commit on which it began.
    """
    failures, advised = recent(story), advice(story, facts.tree)
    states = check_states(story, facts.tree)
    tried = len({failure.iteration for failure in failures})
    lines = filled(
        "retry",
        story=story,
        title=as_data(story.title),
        iteration=min(tried + 1, table.MAX_RETRIES),
        most=table.MAX_RETRIES,
        tried=tried,
        failed=[*_failed(failures[-SHOWN_FAILURES:])] or ["- Nothing is recorded."],
        fixes=[*_to_fix(story, failures)] or ["- Nothing that is recorded."],
        files=_items([as_data(path) for path in facts.changed], SHOWN_FILES) or ["- none"],
        checks=markdown_table.table(("Check", "Status"), [*states.items()]),
        advice=json.dumps(advised),
    )
    data = {"story": story.id, "files": facts.changed, "checks": states}
    return lines, {**data, "recommendation": advised, "text": lines}


def _items(texts: Sequence[str], most: int) -> list[str]:
    """The texts as a list, and how many more there are."""
    left = len(texts) - most
    more = [f"- and {left} more"] if left > 0 else []
    return [*(f"- {text}" for text in texts[:most]), *more]


def _failed(failures: Sequence[Failure]) -> Iterator[str]:
    for failure in failures:
        described = table.RETRY[failure.category].description
        what = f"{failure.source} failed" if failure.source else described
        yield f"- **{failure.category}:** {failure.id}: {what} (iteration {failure.iteration})"
        if failure.file:
            line = f":{failure.line}" if failure.line else ""
            yield f"  - File: {as_data(failure.file)}{line}"
        yield f"  - Error: {as_data(failure.text)}"


def _to_fix(story: Story, failures: Sequence[Failure]) -> Iterator[str]:
    """What to do about the last iteration: by gate, by category, by finding, by criterion."""
    last = [failure for failure in failures if failure.iteration == failures[-1].iteration]
    sources = {failure.source for failure in last}
    kinds = {failure.category for failure in last}
    for gate in table.Gate:
        if gate in sources:
            record = newest(story.gates, gate)
            names = [name for part in record.parts for name in part.failures] if record else []
            tests = f": {as_data(few(names, 10, more=', and {} more'))}" if names else ""
            yield f"- {gate}: {table.GATES[gate].on_fail}{tests}"
    for kind, policy in table.RETRY.items():
        if kind in kinds:
            yield f"- {kind}: {policy.fix} ({policy.strategy})"
    for check in table.StoryCheck:
        review = newest(story.reviews, check)
        for text in review.blocking if review is not None else ():
            yield f"- {check}: [BLOCKING] {as_data(text)}"
    for criterion in story.criteria:
        if criterion.state is table.CriterionState.UNMET:
            yield f"- Criterion not met: {as_data(criterion.text)}"


def resuming(run: Run) -> Answer:
    """What a developer gets after a blocker: everything that was resolved since a session last continued.

    The data, the design's JSON, have the blockers that were resolved last.
    """
    # The story at work; else the one that was waited for, if it is open; else the next one.
    waited_for = (story for story in run.open_stories if run.fix and story.id == run.fix.story)
    story = run.at_work or next(waited_for, run.current)
    # The newest last; those that never blocked are left out.
    by_end = sorted(enumerate(run.blockers), key=lambda pair: pair[1].resolved_at)
    resolved = [pair for pair in by_end if pair[1].resolved_at > pair[1].at][-RECENT:]
    steps = _instructions(run, story)
    named = {"id": "id", "title": "title", "status": "status"}
    data = {
        **fields_of(run, workflow_id="id", goal="goal", current_phase="phase"),
        "recently_resolved_blockers": [
            {"index": n, "description": old.description, "resolvedAt": render_time(old.resolved_at)}
            for n, old in resolved
        ],
        "current_story": story and fields_of(story, **named, tdd_phase="tdd", attempts="iteration"),
        "resume_instructions": steps,
    }
    news = [blocker for _, blocker in resolved if blocker.resolved_at > run.led_on_at]
    if not news:
        return ["No blocker was resolved since a session last went on.", *steps], data
    lines = [line for blocker in news for line in _resolved_lines(run.fix, blocker)]
    if story is not None:
        last = (f"{entry.id} [{entry.category}] {entry.text}" for entry in story.failures[-3:])
        failures, title = as_data("; ".join(last)) or "none", as_data(story.title)
        steps = filled("picking-up", story=story, title=title, failures=failures, steps=steps)
    return filled("resuming", resolved=lines, then=steps), data


def _resolved_lines(fix: UserFix | None, blocker: Blocker) -> list[str]:
    about, notes = as_data(blocker.description), as_data(blocker.notes) or "(none)"
    if fix is None or blocker.id not in fix.waited or not blocker.check_command:
        checked = "NOT CHECKED (it has no check command)"
    elif not fix.checked_at:
        checked = "NOT RUN (lifecycle run check-user-fix)"
    else:
        checked = "PASSED" if fix.verified else "FAILED"
    return filled("resolved", blocker=about, notes=notes, verification=checked)


def _instructions(run: Run, story: Story | None) -> list[str]:
    if run.status is table.RunStatus.AWAITING_USER:
        what = run.fix.description if run.fix is not None else "what blocks the run"
        return filled("resume-awaiting", what=what)
    if run.status is not table.RunStatus.ACTIVE:
        return filled("resume-not", run=run)
    if story is None:
        return filled("resume-next")
    also = "lifecycle run check-user-fix, then " if run.fix and run.fix.check_command else ""
    return filled("resume-steps", also=also, story=story)


def review_lines(story: Story, diff: str, stat: str) -> list[str]:
    """The lines that a reviewer gets on one story.

    Args:
        story: the story, with its proofs.
        diff: the path, below the worktree, of the file with the diff since it began.
        stat: git's summary of the diff's size; "" if nothing changed.
    """
    texts = [criterion.text for criterion in story.criteria]
    criteria = numbered(texts) or ["None was recorded."]
    findings = list[str]()  # what was BLOCKING before
    for check in table.StoryCheck:
        if open_findings := [*standing(story, check)]:
            head = f"### BLOCKING before, for {check} (fixed? then say RESOLVED: NUMBER)"
            findings += ["", head, *numbered(open_findings)]
    marked = " (security-sensitive)" if story.security else ""
    design = story.design or "None was recorded."
    shown = f"{diff} ({stat})" if stat else "nothing was changed since it began."
    lists = {"criteria": criteria, "cycle": cycle_lines(story), "findings": findings}
    return filled("review", story=story, marked=marked, design=design, diff=shown, **lists)


def cycle_lines(story: Story) -> list[str]:
    """What showed red and green of a story, for its reviewer and for whoever moves it."""
    changed = story.green.changed if story.green is not None else ()
    head = ["", "### Tests that were changed between RED and GREEN"] if changed else []
    lines = [*head, *(f"- {path}" for path in changed)]
    red, green = ([*_proof(story, proof)] for proof in (story.red, story.green))
    return filled("cycle", red=red, green=green, changed=lines)


def _proof(story: Story, proof: TestProof | None) -> Iterator[str]:
    if proof is None:
        why = story.waived or story.unneeded
        yield f"Waived: {why}" if why else "Nothing was shown."
        return
    counts = "nobody counted its tests" if proof.total < 0 else figures.count(proof.total, "test")
    failed = f", {proof.failed} failed" if proof.total >= 0 and proof.failed >= 0 else ""
    yield f"Run: {proof.command}, {counts}{failed}"
    yield f"Log: {proof.log or 'none was kept'}"
    yield from _items(proof.tests, LISTED) or ["The runner names no tests; the counts decided."]
    if proof.note:
        yield f"Note: {proof.note}"
