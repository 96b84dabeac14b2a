"""What comes next in a run, and the command for it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.core.redact import quoted
from lifecycle.run.gates import gate_rules
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import GateRecord, Run, Story
from lifecycle.run.table import (
    APPROVING,
    GATES,
    WORK,
    ClarificationPhase,
    Gate,
    RunPhase,
    StoryCheck,
    StoryStatus,
    TddPhase,
)


@dataclass(frozen=True, slots=True)
class NextStep:
    """One step.

    Attributes:
        text: what is to be done, a clause.
        command: the command line that does it, or tells that it is done.
    """

    text: str
    command: str


def next_step(run: Run, facts: WorkFacts | None = None) -> NextStep:
    """The step that brings the run on.

    Args:
        run: the run.
        facts: what git shows of the worktree; None if nobody knows: then the records alone count.
    """
    match run.phase:
        case RunPhase.SETUP:
            return _step("look at the platform, then begin", "update-phase analysis")
        case RunPhase.ANALYSIS:
            return _analysis(run)
        case RunPhase.PLANNING:
            return _planning(run)
        case RunPhase.DEVELOPMENT:
            return _development(run, facts or WorkFacts())
        case RunPhase.LINT_FIX:
            return _lint_fix(run, facts or WorkFacts())
        case RunPhase.COMPLETION:
            if run.pull_request and (facts is None or facts.head == run.published):
                return _step("close the run", "complete")
            return _step("run the last gate and open the PR", "finish")


def _is_clarified(run: Run, phase: ClarificationPhase) -> bool:
    """True if that checkpoint is passed, or nobody is to be asked, and answers are assumed."""
    answered = (one for one in run.clarifications if one.answer)
    return run.autonomous or any(one.phase is phase for one in answered)


def _clarify(phase: ClarificationPhase) -> NextStep:
    text = "ask the user with AskUserQuestion, and record each answer"
    return _step(text, f'add-clarification "QUESTION" "ANSWER" --phase {phase.value}')


def _analysis(run: Run) -> NextStep:
    if not _is_clarified(run, ClarificationPhase.PRE_ANALYSIS):
        return _clarify(ClarificationPhase.PRE_ANALYSIS)
    if not run.stories:
        return _step("let the analyst name the stories", 'add-story "TITLE" --size M')
    return _step("the stories are named", "update-phase planning")


def _planning(run: Run) -> NextStep:
    wanting = next((one for one in run.clarifications if not one.answer), None)
    if wanting is not None:
        question = quoted(wanting.question, 120)
        command = f'add-clarification {question} "ANSWER" --phase {wanting.phase.value}'
        return _step("a question is open: ask the user, and record the answer", command)
    if not _is_clarified(run, ClarificationPhase.PRE_PLAN):
        return _clarify(ClarificationPhase.PRE_PLAN)
    bare = next((story for story in run.open_stories if gate_rules.story_lacks(story)), None)
    if bare is not None:
        return _plan(bare)
    return _step("the design is complete (G1)", "update-phase development")


def _plan(story: Story) -> NextStep:
    options = '--criterion "TEXT" --design "TEXT" --file PATH'
    return _step("let the architect design it", f"story-plan {story.id} {options}")


def _development(run: Run, facts: WorkFacts) -> NextStep:
    story = run.current
    if story is not None:
        return _story(story, facts)
    if run.open_stories:
        standing = run.standing_blockers
        name = standing[-1].id if standing else "B1"
        text = "every story that is left is blocked or waits for one that is: ask the user"
        return _step(text, f'await-user-fix {name} "WHAT TO FIX" --check-command "COMMAND"')
    if not run.stories:
        return _step("there is no story", 'add-story "TITLE" --size M')
    if _holds(run.gates, Gate.G7, facts.tree):
        return _step("the last gate passed", "update-phase completion")
    final = gate_rules.newest(run.gates, Gate.G7, facts.tree)
    if final is None:
        return _step("every story is completed: run the last gate", "gate G7")
    if gate_rules.failed_on_lint_alone(final):
        return _step("lint alone fails: mend it in its own loop", "update-phase lint-fix")
    return _step("the last gate failed on these files: mend them, commit, then", "gate G7")


def _lint_fix(run: Run, facts: WorkFacts) -> NextStep:
    if run.open_stories:
        return _step("a story is open", "update-phase development")
    if _holds(run.gates, Gate.G7, facts.tree):
        return _step("lint is done with", "update-phase completion")
    return _step("mend the formatting and no logic, then", "gate G7")


def _story(story: Story, facts: WorkFacts) -> NextStep:
    if story.status is StoryStatus.PENDING:
        if gate_rules.story_lacks(story):
            return _plan(story)
        if story.dependencies is None:
            return _step("see what it needs from outside", f"scan-dependencies {story.id}")
        return _step("begin with it", f"update-story {story.id} in_progress")
    cycle = _cycle(story)
    return cycle if cycle is not None else _checks(story, facts)


_THEN = {
    TddPhase.RED: TddPhase.GREEN,
    TddPhase.GREEN: TddPhase.VERIFY,
    TddPhase.REFACTOR: TddPhase.VERIFY,
}


def _cycle(story: Story) -> NextStep | None:
    """The next step of red and green; None where that is done, or not needed."""
    if story.tdd is TddPhase.VERIFY or (
        (story.waived or story.unneeded) and story.tdd is TddPhase.NONE
    ):
        return None
    if story.tdd is TddPhase.NONE:
        return _step(WORK[TddPhase.RED], f"tdd-phase {story.id} red")
    then = _THEN[story.tdd]
    text = f"{WORK[story.tdd]}, run lifecycle check test, then"
    return _step(text, f"tdd-phase {story.id} {then.value}")


def _checks(story: Story, facts: WorkFacts) -> NextStep:
    """The first thing that is missing before the story is completed."""
    for gate in (Gate.G2, Gate.G3, Gate.G4):
        if not _holds(story.gates, gate, facts.tree):
            when = GATES[gate].when.casefold()
            return _step(f"{when}: run its gate", f"gate {gate.value} {story.id}")
    for number, _ in gate_rules.unmet(story, facts.tree):
        text = "let the tester agent judge each criterion, and record it"
        return _step(text, f"criterion {story.id} {number} met")
    wanted = [(StoryCheck.REVIEW_APPROVED, "reviewer")]
    wanted += [(StoryCheck.SECURITY_CLEARED, "security")] if story.security else []
    for check, agent in wanted:
        reviews = [review for review in story.reviews if review.check is check]
        last = reviews[-1] if reviews else None
        is_here = last is not None and facts.tree in ("", last.tree)
        if last is not None and is_here and last.verdict not in APPROVING:
            return _step(
                f"let the developer mend what the {agent} found", f"retry-context {story.id}"
            )
        if not is_here:
            text = f"let the {agent} agent look at it, and record what it found"
            command = f"review {story.id} --by {agent} --verdict VERDICT --report"
            return _step(text, command)
    if not _holds(story.gates, Gate.G5, facts.tree):
        return _step("build and test once more", f"gate G5 {story.id}")
    if facts.uncommitted:
        return _step("commit what it changed", f"commit {story.id}")
    return _step("complete it", f"update-story {story.id} completed")


def _holds(records: tuple[GateRecord, ...], gate: Gate, tree: str) -> bool:
    """True if the newest record of the gate passed, on this tree if that is known."""
    last = next((record for record in reversed(records) if record.gate is gate), None)
    if last is None or last.state not in gate_rules.HOLDS:
        return False
    return tree in ("", last.tree)


def _step(text: str, command: str) -> NextStep:
    """A step, and its command of `lifecycle run`."""
    return NextStep(text, f"lifecycle run {command}")
