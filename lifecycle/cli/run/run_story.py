"""`lifecycle run add-story|story-plan|criterion|questions|add-clarification`: what is to be done."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.run.state import Story
from lifecycle.run.stories import clarifying, story_edits
from lifecycle.run.stories.story_edits import StoryPlan
from lifecycle.run.table import SIZES, ClarificationPhase, CriterionState

_FOUND = {
    "met": CriterionState.MET,
    "unmet": CriterionState.UNMET,
    "manual": CriterionState.MANUAL,
}
_CHECKPOINTS = click.Choice([phase.value for phase in clarifying.QUESTIONS])
_PHASES = click.Choice([phase.value for phase in ClarificationPhase])


@click.command("add-story", short_help="Add a story.")
@click.argument("title")
@option(
    "--size S|M|L|XL",
    "How big it is; decides how much coverage it needs. Default: M.",
    type=click.Choice(SIZES),
)
@option("--security", "It is security-sensitive: G6 holds it.")
@in_run
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


@click.command("story-plan", short_help="What analyst and architect say of a story.")
@click.argument("story", metavar="STORY")
@option("--criterion TEXT...", "An acceptance criterion; again for more.", "criteria")
@option("--design TEXT", "The technical design; takes the place of the one before.", default="")
@option("--file PATH...", "A file that is made or changed; again for more.", "files")
@option("--risk TEXT...", "A technical risk; again for more.", "risks")
@option("--depends-on STORY...", "A story that has to be completed before; again for more.")
@option("--replace", "What is named takes the place of what was there; an empty one clears it.")
@in_run
def story_plan(
    given: RunSession,
    *,
    story: str,
    criteria: tuple[str, ...],
    design: str,
    files: tuple[str, ...],
    risks: tuple[str, ...],
    depends_on: tuple[str, ...],
    replace: bool,
) -> None:
    """Say of STORY what analyst and architect found: what is named is added to what is there.

    The first plan takes the run into its planning; where somebody attends, something has to be clarified
    before. G1 looks at what is said here.
    """
    plan = StoryPlan(criteria, design, files, risks, depends_on, replace)
    with given.store.changing() as change:
        change.run = story_edits.planned(change.run, story, plan, given.now, asked=given.can_ask)
        made = change.run.story(story)
        change.note(f"Planned story: {made.id}")
    given.show([f"Planned story: {made.id} {made.title}", *_plan_lines(made)], _data(made))


@click.command("criterion", short_help="What the tester found of one acceptance criterion.")
@click.argument("story", metavar="STORY")
@click.argument("number", type=int, metavar="NUMBER")
@click.argument("found", type=click.Choice(list(_FOUND)), metavar="met|unmet|manual")
@option("--note TEXT", "Why, or how it is verified by hand.", default="")
@in_run
def criterion(given: RunSession, *, story: str, number: int, found: str, note: str) -> None:
    """Record of the acceptance criterion NUMBER of STORY whether it is met on the files as they are.

    manual: it can only be verified by hand (MANUAL_VERIFICATION_REQUIRED); the PR says so.
    """
    state = _FOUND[found]
    # Before the lock: git may take its time, and other commands should not wait for it.
    given.store.demanded()
    tree = given.tree
    with given.store.changing() as change:
        change.run = story_edits.judged(
            change.run, story, number, state, given.now, note=note, tree=tree, by=given.who
        )
        made = change.run.story(story)
        one = made.criteria[number - 1]
        said = f"Criterion {made.id} {number}: {state.value}"
        change.note(said)
    given.show([f"{said}: {one.text}"], _data(made))


@click.command("questions", short_help="What is asked at a checkpoint, with the stories.")
@click.argument("phase", type=_CHECKPOINTS, metavar="pre-analysis|pre-plan")
@in_run
def questions(given: RunSession, *, phase: str) -> None:
    """Print what the user is to be asked before the analysis, or before the plan."""
    when = ClarificationPhase(phase)
    run = given.store.load()
    data = {
        "phase": phase,
        "questions": list(clarifying.QUESTIONS[when]),
        "stories": [_data(story) for story in run.stories] if run is not None else [],
    }
    given.show(clarifying.question_lines(when, run), data)


@click.command("add-clarification", short_help="Keep a question and its answer.")
@click.argument("question")
@click.argument("answer", default="")
@option(
    "--phase PHASE",
    "pre-analysis, pre-plan or development. Default: development, before a run pre-analysis.",
    type=_PHASES,
)
@option("--category TEXT", "scope, technical, external, or any other word.", default="")
@in_run
def add_clarification(
    given: RunSession, *, question: str, answer: str, phase: str | None, category: str
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
    when = ClarificationPhase(phase) if phase else usual
    one = clarifying.clarification(question, answer, given.now, when, category)
    said = f"Added clarification: {one.question} -> {one.answer or '(open)'} [{one.phase}]"
    if is_early:
        with store.locked():
            store.keep_early(clarifying.merged(store.early(), one))
        said += "; the next run adopts it"
    else:
        with store.changing() as change:
            change.run = clarifying.clarified(change.run, one)
            change.note(said)
    data = {"question": one.question, "answer": one.answer, "assumed": one.assumed}
    given.show([said], {**data, "phase": when.value, "category": one.category, "early": is_early})


def _data(story: Story) -> dict[str, object]:
    return {
        "id": story.id,
        "title": story.title,
        "size": story.size,
        "security": story.security,
        "status": story.status.value,
        "criteria": [{"text": one.text, "state": one.state.value} for one in story.criteria],
        "design": story.design,
        "files": list(story.files),
        "risks": list(story.risks),
        "depends_on": list(story.depends_on),
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
