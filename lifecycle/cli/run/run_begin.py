"""A run is begun and found again, and it is said what is to be done.

`lifecycle run init|recover`, and `add-story|story-plan|criterion|questions|add-clarification`.
"""

from __future__ import annotations

from typing import Any

from lifecycle.cli.run.run_session import RunSession
from lifecycle.git.commits import head_of
from lifecycle.run.run_store import PATH, StrangeRun
from lifecycle.run.state import Run, Story, fields_of, new_run
from lifecycle.run.stop import leading
from lifecycle.run.stories import clarifying, story_edits
from lifecycle.run.stories.story_edits import StoryPlan
from lifecycle.run.table import ClarificationPhase, CriterionState
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import refused
from lifecycle.run.trouble import blockers


def init(given: RunSession, *, goal: str, autonomous: bool, anew: bool) -> None:
    """Begin a run with a goal, in this worktree. What was clarified before it is adopted.

    A person sets a run aside (--anew): in a terminal outside of the client, or with a prompt after the
    agent was last told to go on, and after the run was stopped, or began to wait.
    """
    store = given.store
    git = given.world.git
    start = {"branch": git.current_branch() or "", "base": head_of(git), "autonomous": autonomous}
    with store.locked():
        early = store.early()
        run = new_run(goal, given.now, clarifications=early, **start)
        run = leading.adopted(run, given.client_session, given.client_process, given.now)
        if anew and store.is_there:
            _demand_person(given)
            store.set_aside("replaced")
        before = store.load()
        if before is not None and not before.is_over:
            raise refused("run-not-over", before=before, goal=" ".join(before.goal.split())[:80])
        if before is not None:
            store.set_aside(before.id)
        store.begin(run)
        store.note(given.now, f"Run {run.id} began: {run.goal}")
        store.keep_early(())
    adopted = [f"Adopted {len(early)} clarification{'s'[: len(early) > 1]}"] if early else []
    given.show(
        [f"Initialized workflow: {run.id}", f"Goal: {run.goal}", f"State: {PATH}", *adopted],
        {
            "workflow_id": run.id,
            "goal": run.goal,
            "phase": run.phase,
            "state": PATH,
            "clarifications": len(early),
        },
    )


def _demand_person(given: RunSession) -> None:
    """Refuse an agent of its own accord: who sets a run aside takes away what stopped it, too."""
    try:
        run = given.store.load()
    except StrangeRun:
        run = None  # nobody knows what it waits for: any prompt may have been about something else
    run = run or Run("", "", given.now)
    if not run.is_over:
        waited = run.fix.asked_at if run.fix is not None else 0.0
        asked_at = max(blockers.stop_asked_at(run), run.stopped_at, waited)
        given.person(run, asked_at, 'init --anew "GOAL"')


def recover(given: RunSession) -> None:
    """Say whether there is a run here, where it stands and what comes next; for a session's start.

    The client's session that asks leads it from now on, unless another one that runs does.
    """
    run = given.store.load()
    if run is not None and not run.is_over and given.client_session:
        with given.store.changing() as change:
            who = given.client_session, given.client_process
            if not leading.is_held(change.run, *who, given.store.folder, given.now):
                change.run = leading.adopted(change.run, *who, given.now)
            run = change.run
    about = (run, given.now, given.store.written_at)
    lines = standing.recovery_lines(*about)
    data = standing.recovery_data(*about)
    if run is not None:
        data["led_by"] = run.session
        if not run.is_over and given.client_session and run.session != given.client_session:
            lines.append(f"Note: {standing.held_line(run)}")
    given.show(lines, data)


def add_story(given: RunSession, *, title: str, size: str | None, security: bool) -> None:
    """Add the story TITLE to the run, behind those that it has.

    The first one takes the run into its analysis; where somebody attends, something has to be clarified
    before.
    """
    with given.store.changing() as change:
        change.run = story_edits.with_new_story(
            change.run, title, given.now, size=size or "M", security=security, asked=given.can_ask
        )
        story = change.run.stories[-1]
        marks = f"{story.size}, security" if story.security else story.size
        added = f"Added story: {story.id} {story.title} ({marks})"
        change.note(added)
    given.show([added], _data(story))


def story_plan(given: RunSession, *, story: str, replace: bool, **found: Any) -> None:
    """Say of STORY what analyst and architect found: what is named is added to what is there.

    The first plan takes the run into its planning; where somebody attends, something has to be clarified
    before. G1 looks at what is said here.
    """
    plan = StoryPlan(**found, replaces=replace)
    with given.store.changing() as change:
        change.run = story_edits.planned(change.run, story, plan, given.now, asked=given.can_ask)
        made = change.run.story(story)
        change.note(f"Planned story: {made.id}")
    given.show([f"Planned story: {made.id} {made.title}", *_plan_lines(made)], _data(made))


def criterion(
    given: RunSession, *, story: str, number: int, found: CriterionState, note: str
) -> None:
    """Record of the acceptance criterion NUMBER of STORY whether it is met on the files as they are.

    manual: it can only be verified by hand (MANUAL_VERIFICATION_REQUIRED); the PR says so.
    """
    # Before the lock: git may take its time, and other commands should not wait for it.
    given.store.demanded()
    tree = given.tree
    with given.store.changing() as change:
        change.run = story_edits.judged(
            change.run, story, number, found, given.now, note=note, tree=tree, by=given.who
        )
        made = change.run.story(story)
        line = f"Criterion {made.id} {number}: {found}"
        change.note(line)
    given.show([f"{line}: {made.criteria[number - 1].text}"], _data(made))


def questions(given: RunSession, *, phase: ClarificationPhase) -> None:
    """Print what the user is to be asked before the analysis, or before the plan."""
    run = given.store.load()
    asked = clarifying.QUESTIONS[phase]
    stories = [_data(story) for story in run.stories] if run is not None else []
    data = {"phase": phase, "questions": asked, "stories": stories}
    given.show(clarifying.question_lines(phase, run), data)


def add_clarification(
    given: RunSession,
    *,
    question: str,
    answer: str,
    phase: ClarificationPhase | None,
    category: str,
) -> None:
    """Keep QUESTION and its ANSWER; one that was asked before in this phase is answered anew.

    Without ANSWER the question is open: G1 fails until it is answered.

    An answer that begins with "Assumed" was given by nobody: it opens a checkpoint only where nobody
    attends, and in a run that was begun with --autonomous. Before init it is kept, and init adopts it.
    """
    store = given.store
    with store.locked():
        run = store.load()
    is_early = run is None or run.is_over
    usual = ClarificationPhase.PRE_ANALYSIS if is_early else ClarificationPhase.DEVELOPMENT
    one = clarifying.clarification(question, answer, given.now, phase or usual, category)
    line = f"Added clarification: {one.question} -> {one.answer or '(open)'} [{one.phase}]"
    if is_early:
        with store.locked():
            store.keep_early(clarifying.merged(store.early(), one))
        line += "; the next run adopts it"
    else:
        with store.changing() as change:
            change.run = clarifying.clarified(change.run, one)
            change.note(line)
    data = fields_of(one, "question", "answer", "assumed", "phase", "category")
    given.show([line], {**data, "early": is_early})


def _data(story: Story) -> dict[str, object]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        "criteria": [fields_of(one, "text", "state") for one in story.criteria],
        **fields_of(story, "design", "files", "risks", "depends_on"),
    }


def _plan_lines(story: Story) -> list[str]:
    lists = {"Files": story.files, "Risks": story.risks, "Depends on": story.depends_on}
    criteria = [
        f"  {number}. {one.text} ({one.state})" for number, one in enumerate(story.criteria, 1)
    ]
    return [
        *(["Criteria:", *criteria] if criteria else ["Criteria: none yet"]),
        f"Design: {story.design or 'none yet'}",
        *(f"{name}: {', '.join(texts)}" for name, texts in lists.items() if texts),
    ]
