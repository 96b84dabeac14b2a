"""Add, remove and plan stories of a run, judge their criteria, and keep clarifications.

At two checkpoints something has to be clarified; their questions are in `questions.toml`. A story is
searched for services outside of the project, by whole words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

import msgspec

from lifecycle.core.light_dataclass import dataclass
from lifecycle.run.state import Clarification, Criterion, ExternalDependency, Run, Story
from lifecycle.run.table import PHASES, SIZES, ClarificationPhase, CriterionState, RunPhase
from lifecycle.run.texts.told import LONG, line_of, refused, there
from lifecycle.run.trouble.blockers import awaiting_if_blocked, refuse_blocked
from lifecycle.settings import resources

_STAYS = (CriterionState.UNMET, CriterionState.MANUAL)
"""States, given by the tester, in which no plan removes a criterion."""


def with_new_story(run: Run, new: Story, now: float, *, asked: bool) -> Run:
    """The run with one more story at the end; the first story moves the run into its analysis.

    Title, size and security are as given; its id is set here.

    Raises:
        Refused: the run is over or stopped, the story exists already, its size is unknown, or nothing was
            clarified before the analysis.
    """
    run.demand_open()
    if new.size not in SIZES:
        raise refused("no-size", sizes=", ".join(SIZES))
    words = line_of(new.title, "a story's title", 300)
    known = {(other.title.casefold(), other.size, other.security): other for other in run.stories}
    same = known.get((words.casefold(), new.size, new.security))
    if same is not None:
        raise refused("same-story", known=same)
    if run.phase is RunPhase.SETUP:
        run = entered(run, RunPhase.ANALYSIS, now, asked=asked)
    number = 1 + max((int(story.id[1:]) for story in (*run.stories, *run.removed)), default=0)
    return run.but(stories=(*run.stories, new.but(id=f"S{number}", title=words)))


def without_story(run: Run, name: str, reason: str, now: float) -> Run:
    """The run without a story that was not begun; it is kept aside with the reason, and its id stays taken.

    Raises:
        Refused: the run is not active, there is no such story or no reason, it was begun or failed, a
            severe blocker blocks it, or another story depends on it.
    """
    run.demand_active()
    story, why = run.story(name), line_of(reason, "the reason")
    if story.started or story.iteration or not story.is_open:
        raise refused("story-was-begun", story=story)
    refuse_blocked(run, story)
    waiting = [other.id for other in run.stories if story.id in other.depends_on]
    if waiting:
        raise refused("story-is-waited-for", story=story, waiting=waiting[0])
    stories = tuple(other for other in run.stories if other is not story)
    removed = (*run.removed, story.but(unneeded=why))
    return awaiting_if_blocked(run.but(stories=stories, removed=removed), now)


@dataclass(frozen=True, slots=True)
class StoryPlan:
    """The plan of analyst and architect for one story.

    Attributes:
        criteria, files, risks, depends_on: what is added; an empty text adds nothing.
        design: the technical design in words, which replaces the earlier one; "" keeps the earlier one.
        replaces: each given list replaces the earlier one, instead of adding to it.
    """

    criteria: tuple[str, ...] = ()
    design: str = ""
    files: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    replaces: bool = False


def planned(run: Run, name: str, plan: StoryPlan, now: float, *, asked: bool) -> Run:
    """The run with that story planned; the first plan moves the run from its analysis into its planning.

    A criterion that stays keeps the tester's finding. One that was found unmet, or left to a person, is
    never removed.

    Raises:
        Refused: the run is over or stopped, the story is unknown or completed, it would depend on itself,
            or nothing was clarified before the plan.
    """
    story = run.open_story(name, "story-over-add")
    if plan in (StoryPlan(), StoryPlan(replaces=True)):
        raise refused("empty-plan")

    def merged(before: tuple[str, ...], added: tuple[str, ...], what: str) -> tuple[str, ...]:
        kept = () if plan.replaces and added else before
        lines = (line_of(text, what) for text in added if text.strip())
        return tuple(dict.fromkeys((*kept, *lines)))

    known = {criterion.text: criterion for criterion in story.criteria}
    unmet = (criterion.text for criterion in story.criteria if criterion.state in _STAYS)
    texts = dict.fromkeys((*merged(tuple(known), plan.criteria, "a criterion"), *unmet))
    needed = tuple(run.story(story_id).id for story_id in plan.depends_on if story_id.strip())
    kept = () if plan.replaces and plan.depends_on else story.depends_on
    changed = story.but(
        criteria=tuple(known.get(text) or Criterion(text) for text in texts),
        design=line_of(plan.design, "the design", LONG) if plan.design else story.design,
        files=merged(story.files, plan.files, "a file's name"),
        risks=merged(story.risks, plan.risks, "a risk"),
        depends_on=tuple(dict.fromkeys((*kept, *needed))),
    )
    if run.phase is RunPhase.ANALYSIS:
        run = entered(run, RunPhase.PLANNING, now, asked=asked)
    run = run.with_story(changed)
    try:
        TopologicalSorter({other.id: other.depends_on for other in run.stories}).prepare()
    except CycleError as error:
        circle = " waits for ".join(reversed(error.args[1]))
        raise refused("story-waits-for-itself", changed=changed, circle=circle) from None
    return run


def judged(run: Run, name: str, number: int, finding: Criterion) -> Run:
    """The run with the tester's finding on one criterion of a story.

    Args:
        run: the run before the finding.
        name: the story's id.
        number: the criterion's number, from 1.
        finding: what was found, by whom, when and on which tree; the criterion keeps its own text.

    Raises:
        Refused: the run is over or stopped, there is no such story or criterion, or the story is completed.
    """
    story = run.open_story(name, "story-over-add")
    if not 1 <= number <= len(story.criteria):
        stands = there([*range(1, len(story.criteria) + 1)], "there is none yet")
        raise refused("no-such-criterion", story=story, number=number, there=stands)
    note = line_of(finding.note, "the note") if finding.note else ""
    criterion = finding.but(text=story.criteria[number - 1].text, note=note)
    criteria = (*story.criteria[: number - 1], criterion, *story.criteria[number:])
    return run.with_story(story.but(criteria=criteria))


ASSUMED = "Assumed: best judgment"
"""The design's answer if nobody gave one; an answer that begins like it was assumed."""

_BY_PHASE = dict[ClarificationPhase, tuple[str, ...]]

QUESTIONS: Final = msgspec.convert(resources.texts("run/stories/questions.toml"), _BY_PHASE)
"""The questions at each checkpoint, in the design's words."""

CHECKPOINTS: Final[Mapping[RunPhase, ClarificationPhase]] = {
    RunPhase.ANALYSIS: ClarificationPhase.PRE_ANALYSIS,
    RunPhase.PLANNING: ClarificationPhase.PRE_PLAN,
}
"""For each phase that needs clarification before it, the checkpoint."""


def clarification(
    question: str, answer: str, now: float, phase: ClarificationPhase, category: str = ""
) -> Clarification:
    """A question and its answer, as they are kept; without an answer the question is open, and G1 names it.

    Refused if the question is empty, or if either is too long.
    """
    text = line_of(answer, "the answer") if answer.strip() else ""
    words = line_of(question, "the question")
    kind = line_of(category, "the category", 100) if category else ""
    assumed = text.casefold().startswith("assumed")
    return Clarification(words, text, now, phase, kind, assumed)


def clarified(run: Run, *clarifications: Clarification) -> Run:
    """The run with these clarifications; a question that the phase already had gets the new answer."""
    return run.but(clarifications=merged(run.clarifications, *clarifications))


def merged(before: tuple[Clarification, ...], *more: Clarification) -> tuple[Clarification, ...]:
    """Merge clarifications: each question of a phase once, with its newest answer."""
    return tuple({(entry.phase, entry.question): entry for entry in (*before, *more)}.values())


def clarified_for(run: Run, phase: RunPhase, now: float, *, asked: bool) -> Run:
    """The run with the clarifications that this phase needs; they are assumed if nobody is asked.

    Args:
        run: the run before the move.
        phase: the phase to enter.
        now: the present.
        asked: a person is present who can be asked. If not, or if the run is autonomous, the answer is
            assumed, and recorded at once.

    Raises:
        Refused: nobody was asked, though somebody could have been.
    """
    if phase not in CHECKPOINTS:
        return run
    when = CHECKPOINTS[phase]
    entries = [entry for entry in run.clarifications if entry.phase is when]
    answers = [entry for entry in entries if entry.answer]
    if not asked or run.autonomous:
        wanting = [entry.question for entry in entries if not entry.answer]
        questions = wanting or ([] if answers else [QUESTIONS[when][0]])
        guessed = (clarification(question, ASSUMED, now, when) for question in questions)
        return clarified(run, *guessed)
    if any(not entry.assumed for entry in answers):
        return run
    assumed = " (what is there was assumed, which counts where nobody attends)" if answers else ""
    what = when.replace("pre-", "before the ")
    raise refused("not-clarified", value=what, assumed=assumed, run=run, when=when)


def entered(run: Run, phase: RunPhase, now: float, *, asked: bool) -> Run:
    """The run in this phase; as `clarified_for`, and raises IllegalMove if the table has no such move."""
    PHASES.check(run.phase, phase)
    return clarified_for(run, phase, now, asked=asked).but(phase=phase)


class ServiceRow(ExternalDependency, frozen=True):
    """One kind of service, and what mentions it.

    Attributes:
        named: the words that mention it; the first of them that matches is shown.
        is_general: its words fit any service: it counts only if no row of another kind does.
    """

    named: tuple[str, ...] = ()
    is_general: bool = False


_WORDS: Final = resources.texts("run/trouble/words.toml")

SERVICES: Final = msgspec.convert(_WORDS["services"], tuple[ServiceRow, ...])
"""The kinds of services: both tables of the design as one."""


@cache
def _pattern(keyword: str) -> re.Pattern[str]:
    """A pattern for the keyword as whole words, in any case, also plural; a hyphen equals a space."""
    words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]", keyword)))
    return re.compile(rf"(?<![\w]){words}s?(?!\w)", re.IGNORECASE)


def services_in(text: str) -> tuple[ExternalDependency, ...]:
    """The services that a text mentions, each once, in the table's order."""
    words = [[word for word in row.named if _pattern(word).search(text)] for row in SERVICES]
    named = [(row, hits[0]) for row, hits in zip(SERVICES, words, strict=True) if hits]
    special = [(row, word) for row, word in named if not row.is_general]
    return tuple(
        ExternalDependency(row.type, row.category, row.mock, word, row.needs_secrets)
        for row, word in special or named
    )


def scanned(run: Run, story_id: str) -> Run:
    """The run with the services that a story's title, criteria and design mention."""
    run.demand_open()
    story = run.story(story_id)
    text = "\n".join((story.title, *(criterion.text for criterion in story.criteria), story.design))
    return run.with_story(story.but(dependencies=services_in(text)))
