"""`lifecycle run init|recover`: begin a run, or continue it; and the commands that fill it.

These are `add-story|remove-story|story-plan|criterion|questions|add-clarification`.
"""

from __future__ import annotations

from typing import Any

from lifecycle.cli.run.run import FOUND, RunSession
from lifecycle.core.light_dataclass import fields_of
from lifecycle.git.commits import head_of
from lifecycle.run.run_store import PATH, StrangeRun, adopted
from lifecycle.run.state import Criterion, Run, Story, new_run
from lifecycle.run.stories import story_edits
from lifecycle.run.table import ClarificationPhase
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import drawn, refused
from lifecycle.run.trouble import blockers


def init(session: RunSession, *, goal: str, autonomous: bool, anew: bool) -> None:
    """Begin a run with a goal, in this worktree. Earlier clarifications are adopted.

    Only a person sets a run aside (--anew): in a terminal outside of the client, or with a prompt after the
    agent was last told to continue, and after the run was stopped, or began to wait.
    """
    store, git = session.store, session.world.git
    start = {"branch": git.current_branch() or "", "base": head_of(git), "autonomous": autonomous}
    with store.locked():
        early = store.early()
        run = new_run(goal, session.now, clarifications=early, **start)
        run = adopted(run, session.client_session, session.client_process, session.now)
        if anew and store.is_there:
            _demand_person(session)
            store.set_aside("replaced")
        before = store.load()
        if before is not None and not before.is_over:
            raise refused("run-not-over", before=before, goal=" ".join(before.goal.split())[:80])
        if before is not None:
            store.set_aside(before.id)
        store.begin(run)
        store.note(session.now, f"Run {run.id} began: {run.goal}")
    taken = [f"Adopted {len(early)} clarification{'s'[: len(early) > 1]}"] if early else []
    lines = [f"Initialized workflow: {run.id}", f"Goal: {run.goal}", f"State: {PATH}", *taken]
    data = {**fields_of(run, "goal", "phase", workflow_id="id"), "state": PATH}
    session.show(lines, {**data, "clarifications": len(early)})


def _demand_person(session: RunSession) -> None:
    """Refuse `--anew` to an agent without a person's word: it would also remove the reason for a stop."""
    try:
        run = session.store.load()
    except StrangeRun:
        run = None  # what it waits for is unknown: any prompt may have been about something else
    run = run or Run("", "", session.now)
    if not run.is_over:
        fix_asked_at = run.fix.asked_at if run.fix is not None else 0.0
        asked_at = max(blockers.stop_asked_at(run), run.stopped_at, fix_asked_at)
        session.person(run, asked_at, 'init --anew "GOAL"')


def recover(session: RunSession) -> None:
    """Say whether there is a run here, its state and the next step; for a session's start.

    The client's session that asks leads it from now on, unless another running one does.
    """
    run = session.store.load()
    if run is not None and not run.is_over and session.client_session:
        run = session.store.adopt()
    lines, data = standing.recovery(run, session.now, session.store.written_at)
    if run is not None:
        data["led_by"] = run.session
        if not run.is_over and session.client_session and run.session != session.client_session:
            lines.append(f"Note: {standing.held_line(run)}")
    session.show(lines, data)


def add_story(session: RunSession, *, title: str, size: str, security: bool) -> None:
    """Add the story TITLE at the end of the run's stories.

    The first one moves the run into its analysis; if a person attends, something has to be clarified
    first.
    """
    with session.store.changing() as change:
        given, asked = Story("", title, size, security), session.can_ask
        change.run = story_edits.with_new_story(change.run, given, session.now, asked=asked)
        story = change.run.stories[-1]
        marks = f"{story.size}, security" if story.security else story.size
        added = change.note(f"Added story: {story.id} {story.title} ({marks})")
    session.show([added], _data(story))


def remove_story(session: RunSession, *, story: str, reason: str) -> None:
    """Remove STORY from the run, if it was never begun: one that was added by mistake.

    The reason goes into the pull request. No other story gets its id.
    """
    with session.store.changing() as change:
        change.run = story_edits.without_story(change.run, story, reason, session.now)
        taken = change.run.removed[-1]
        done = f"Took out story: {taken.id} {taken.title} ({taken.unneeded})"
        escalations = change.told(done)
    session.show([done, *escalations], {**_data(taken), "reason": taken.unneeded})


def story_plan(session: RunSession, *, story: str, replace: bool, **parts: Any) -> None:
    """Record what analyst and architect found about STORY; given values are added to existing ones.

    The first plan moves the run into its planning; if a person attends, something has to be clarified
    first. G1 looks at these values.
    """
    plan, asked = story_edits.StoryPlan(**parts, replaces=replace), session.can_ask
    with session.store.changing() as change:
        change.run = story_edits.planned(change.run, story, plan, session.now, asked=asked)
        planned = change.run.story(story)
        done = change.note(f"Planned story: {planned.id}")
    lines = drawn("plan", story=planned, standing=standing)
    session.show([f"{done} {planned.title}", *lines], _data(planned))


def criterion(session: RunSession, *, story: str, number: int, state: str, note: str) -> None:
    """Record whether the acceptance criterion NUMBER of STORY is met on the present files.

    manual: it can only be verified by hand (MANUAL_VERIFICATION_REQUIRED); the PR says so.
    """
    tree = session.tree
    with session.store.changing() as change:
        finding = Criterion("", FOUND[state], note, tree, session.who, session.now)
        change.run = story_edits.judged(change.run, story, number, finding)
        judged = change.run.story(story)
        line = change.note(f"Criterion {judged.id} {number}: {finding.state}")
    session.show([f"{line}: {judged.criteria[number - 1].text}"], _data(judged))


def questions(session: RunSession, *, phase: ClarificationPhase) -> None:
    """Print the questions for the user before the analysis, or before the plan."""
    run = session.store.load()
    asked = story_edits.QUESTIONS[phase]
    stories = run.stories if run is not None else ()
    lines = drawn("questions", phase=phase, questions=asked, stories=stories)
    data = {"phase": phase, "questions": asked, "stories": [_data(story) for story in stories]}
    session.show(lines, data)


def add_clarification(
    session: RunSession, question: str, answer: str, phase: ClarificationPhase | None, category: str
) -> None:
    """Record QUESTION and its ANSWER; a question that was asked before in this phase gets the new answer.

    Without ANSWER the question is open: G1 fails until it is answered.

    An answer that begins with "Assumed" comes from nobody: it opens a checkpoint only if no person attends
    and the run was begun with --autonomous. Before init it is kept, and init adopts it.
    """
    store, run = session.store, session.store.load()
    is_early = run is None or run.is_over
    usual = ClarificationPhase.PRE_ANALYSIS if is_early else ClarificationPhase.DEVELOPMENT
    entry = story_edits.clarification(question, answer, session.now, phase or usual, category)
    line = f"Added clarification: {entry.question} -> {entry.answer or '(open)'} [{entry.phase}]"
    if is_early:
        with store.locked():
            store.keep_early(story_edits.merged(store.early(), entry))
        line += "; the next run adopts it"
    else:
        with store.changing() as change:
            change.run.demand_open()
            change.run = story_edits.clarified(change.run, entry)
            change.note(line)
    data = fields_of(entry, "question", "answer", "assumed", "phase", "category")
    session.show([line], {**data, "early": is_early})


def _data(story: Story) -> dict[str, object]:
    return {
        **fields_of(story, "id", "title", "size", "security", "status"),
        "criteria": [fields_of(entry, "text", "state") for entry in story.criteria],
        **fields_of(story, "design", "files", "risks", "depends_on"),
    }
