"""Choose what comes next in a run, and the command for it: a row of `next_steps.toml`. Pure."""

from __future__ import annotations

import shlex
from typing import Any, Final

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import quoted, visible
from lifecycle.run import table
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.work_facts import UNSEEN, WorkFacts
from lifecycle.run.state import GateRecord, Run, Story, newest
from lifecycle.settings import resources

_BLOCKED: Final = table.StoryStatus.BLOCKED
STEPS: Final[dict[str, tuple[str, str]]] = resources.texts("run/stop/next_steps.toml")
"""Every step by its name: what is to be done, and the command."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """One step.

    Attributes:
        text: what is to be done, as a clause.
        command: the command line that does it, or reports that it is done.
    """

    text: str
    command: str


def next_step(run: Run, facts: WorkFacts = UNSEEN) -> NextStep:
    """The next step of the run.

    Args:
        run: the run.
        facts: what git shows of the worktree; with UNSEEN, only the records count.
    """
    match run.phase:
        case table.RunPhase.SETUP:
            return _step("setup")
        case table.RunPhase.ANALYSIS:
            return _analysis(run)
        case table.RunPhase.PLANNING:
            return _planning(run)
        case table.RunPhase.DEVELOPMENT if run.current is not None:
            return _left_over(run, facts) or _story(run.current, facts)
        case table.RunPhase.DEVELOPMENT:
            return _development(run, facts.tree)
        case table.RunPhase.LINT_FIX if run.open_stories:
            return _step("lint-open")
        case table.RunPhase.LINT_FIX:
            return _step("lint-done" if _holds(run.gates, table.Gate.G7, facts.tree) else "lint")
        case table.RunPhase.COMPLETION:
            is_made = run.pull_request and (not facts.tree or facts.head == run.published)
            return _step("close" if is_made else "finish")


def _is_clarified(run: Run, phase: table.ClarificationPhase) -> bool:
    """True if that checkpoint is passed, or nobody is asked because answers are assumed."""
    answered = (entry for entry in run.clarifications if entry.answer)
    return run.autonomous or any(entry.phase is phase for entry in answered)


def _analysis(run: Run) -> NextStep:
    if not _is_clarified(run, table.ClarificationPhase.PRE_ANALYSIS):
        return _step("clarify", phase=table.ClarificationPhase.PRE_ANALYSIS)
    return _step("plan" if run.stories else "name-stories")


def _planning(run: Run) -> NextStep:
    asked = _question(run)
    if asked is not None:
        return asked
    if not _is_clarified(run, table.ClarificationPhase.PRE_PLAN):
        return _step("clarify", phase=table.ClarificationPhase.PRE_PLAN)
    bare = next((story for story in run.open_stories if gate_rules.story_lacks(story)), None)
    return _step("develop") if bare is None else _step("design", story=bare)


def _left_over(run: Run, facts: WorkFacts) -> NextStep | None:
    """The step to set aside a blocked story's uncommitted changes before another story; None without."""
    stuck = [story for story in run.stories if story.iteration and story.status is _BLOCKED]
    if run.at_work is not None or not stuck:
        return None
    if facts.is_left:
        return _step("set-aside", story=stuck[-1])
    inside = [shlex.quote(visible(path)) for path in facts.modules]
    return _step("set-aside-inside", story=stuck[-1], module=inside[0]) if inside else None


def _question(run: Run) -> NextStep | None:
    """The step to answer the first unanswered question; None if there is none."""
    wanting = next((entry for entry in run.clarifications if not entry.answer), None)
    if wanting is None:
        return None
    return _step("answer", question=quoted(wanting.question, 120), phase=wanting.phase)


def _development(run: Run, tree: str) -> NextStep:
    """The next step if no story is at work and none can be begun."""
    if run.open_stories:
        standing = run.standing_blockers
        return _step("ask", blocker=standing[-1].id if standing else "B1")
    if not run.stories:
        return _step("no-story")
    asked = _question(run)
    if asked is not None:
        return asked
    if _holds(run.gates, table.Gate.G7, tree):
        return _step("last-gate-passed")
    final = newest(run.gates, table.Gate.G7, tree)
    if final is None:
        return _step("last-gate")
    if absent := gate_rules.not_installed(final):
        return _step("install", gate=final.gate, absent=absent)
    return _step("lint-alone" if gate_rules.failed_on_lint_alone(final) else "last-gate-failed")


def _story(story: Story, facts: WorkFacts) -> NextStep:
    if story.status is table.StoryStatus.PENDING:
        if gate_rules.story_lacks(story):
            return _step("design", story=story)
        return _step("scan" if story.dependencies is None else "begin", story=story)
    if story.tdd in table.THEN:
        then = table.THEN[story.tdd]
        return _step("cycle", story=story, work=table.WORK[story.tdd], phase=then)
    if story.tdd is table.TddPhase.NONE and not (story.waived or story.unneeded):
        return _step("red", story=story, work=table.WORK[table.TddPhase.RED])
    return _checks(story, facts)


def _checks(story: Story, facts: WorkFacts) -> NextStep:
    """The step for the first thing that the story lacks; a review's refusal comes first."""
    readers = ("reviewer", "security") if story.security else ("reviewer",)
    reviews = [newest(story.reviews, table.REVIEWERS[by][0], facts.tree or None) for by in readers]
    read = [(by, last.verdict) for by, last in zip(readers, reviews, strict=True) if last]
    refused = next((by for by, verdict in read if verdict not in table.APPROVING), "")
    if refused:
        return _step("mend", story=story, agent=refused)
    if facts.under_way:
        return _step("end-first", work=facts.under_way.casefold())
    for gate in (table.Gate.G2, table.Gate.G3, table.Gate.G4):
        if not _holds(story.gates, gate, facts.tree):
            ran = newest(story.gates, gate)
            if ran is not None and (absent := gate_rules.not_installed(ran)):
                return _step("install", gate=f"{gate} {story.id}", absent=absent)
            return _step("gate", story=story, gate=gate, when=table.GATES[gate].when.casefold())
    for number, _ in gate_rules.unmet(story, facts.tree):
        criterion = story.criteria[number - 1]
        if criterion.state is table.CriterionState.UNMET and criterion.tree == facts.tree:
            return _step("mend", story=story, agent="tester")
        return _step("judge", story=story, number=number)
    unread = next((by for by in readers if by not in dict(read)), "")
    if unread:
        return _step("review", story=story, agent=unread)
    if not _holds(story.gates, table.Gate.G5, facts.tree):
        return _step("final-build", story=story)
    return _step("commit" if facts.uncommitted else "complete", story=story)


def _holds(records: tuple[GateRecord, ...], gate: table.Gate, tree: str) -> bool:
    """True if the newest record of the gate passed, on this tree if that is known."""
    last = newest(records, gate)
    return last is not None and last.state in gate_rules.HOLDS and tree in ("", last.tree)


def _step(name: str, **values: Any) -> NextStep:
    """The row of this name in `next_steps.toml`, filled in."""
    text, command = (part.format_map(values) for part in STEPS[name])
    return NextStep(text, f"lifecycle run {command}")
