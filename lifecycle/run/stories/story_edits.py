"""Add stories to a run, plan them, and judge their criteria."""

from __future__ import annotations

from lifecycle.core.light_dataclass import dataclass
from lifecycle.run.gates.gate_rules import circle_of
from lifecycle.run.state import Criterion, Run, Story
from lifecycle.run.stories.clarifying import entered
from lifecycle.run.table import SIZES, CriterionState, RunPhase
from lifecycle.run.texts.told import LONG, line_of, refused, there

_STAYS = (CriterionState.UNMET, CriterionState.MANUAL)
"""States that the tester gave a criterion, in which no plan takes it out."""


def with_new_story(
    run: Run, title: str, now: float, *, size: str = "M", security: bool = False, asked: bool
) -> Run:
    """The run with one more story, its last; the first one takes the run into its analysis.

    Raises:
        Refused: the run is over, the story is there already, its size is none, or nothing was clarified
            before the analysis.
    """
    run.demand_open("run-over-begin")
    if size not in SIZES:
        raise refused("no-size", sizes=", ".join(SIZES))
    words = line_of(title, "a story's title", 300)
    known = {(other.title.casefold(), other.size, other.security): other for other in run.stories}
    same = known.get((words.casefold(), size, security))
    if same is not None:
        raise refused("same-story", known=same)
    if run.phase is RunPhase.SETUP:
        run = entered(run, RunPhase.ANALYSIS, now, asked=asked)
    number = 1 + max((int(story.id[1:]) for story in run.stories), default=0)
    return run.but(stories=(*run.stories, Story(f"S{number}", words, size, security)))


@dataclass(frozen=True, slots=True)
class StoryPlan:
    """What analyst and architect say of one story.

    Attributes:
        criteria, files, risks, depends_on: what is added; an empty text adds nothing.
        design: the technical design in words; it takes the place of the one before. "" keeps that.
        replaces: each of the lists that is given takes the place of the one before.
    """

    criteria: tuple[str, ...] = ()
    design: str = ""
    files: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    replaces: bool = False


def planned(run: Run, name: str, plan: StoryPlan, now: float, *, asked: bool) -> Run:
    """The run with that story planned; its first plan takes a run from its analysis into its planning.

    A criterion that stays keeps what the tester found of it. One that was found unmet, or left to a person,
    stays whatever is said.

    Raises:
        Refused: the run is over, the story is unknown or completed, it would wait for itself, or nothing
            was clarified before the plan.
    """
    run.demand_open("run-over-begin")
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
    circle = circle_of(run, changed.id)
    if circle:
        raise refused("story-waits-for-itself", changed=changed, circle=" waits for ".join(circle))
    return run


def judged(run: Run, name: str, number: int, found: Criterion) -> Run:
    """The run with what the tester found of one criterion of a story.

    Args:
        run: before it.
        name: of the story.
        number: of the criterion, from 1 on.
        found: what was found, by whom, when and on which tree; the text is the criterion's own.

    Raises:
        Refused: there is no such story or criterion, or the story is completed.
    """
    run.demand_open("run-over-begin")
    story = run.open_story(name, "story-over-add")
    if not 1 <= number <= len(story.criteria):
        stands = there([*range(1, len(story.criteria) + 1)], "there is none yet")
        raise refused("no-such-criterion", story=story, number=number, there=stands)
    text, note = story.criteria[number - 1].text, found.note and line_of(found.note, "the note")
    criterion = found.but(text=text, note=note)
    criteria = (*story.criteria[: number - 1], criterion, *story.criteria[number:])
    return run.with_story(story.but(criteria=criteria))
