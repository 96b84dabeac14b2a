"""No sequence of commands reaches the end of a run with a gate, a review or the pull request missing.

The model beside the run keeps what was really shown, read and pushed, by the contents of files, in plain
sets; it uses none of the rules. What git would say comes from a line of commits in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.git.process import GitRepository
from lifecycle.run import state
from lifecycle.run.finish.completion import at_completion, completed, published, with_unread
from lifecycle.run.gates import reviews, run_moves
from lifecycle.run.gates.run_moves import moved_phase, moved_story
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import Criterion, ReviewFinding, ReviewRecord, Run, Story
from lifecycle.run.stories.story_edits import judged, with_new_story
from lifecycle.run.table import (
    REVIEWERS,
    CheckState,
    CriterionState,
    Gate,
    RunPhase,
    RunStatus,
    Severity,
    StoryStatus,
)
from lifecycle.run.trouble import blockers
from tests.run.gates.stories_ground import NOW, a_run, passed, planned

Files = tuple[tuple[str, int], ...]
PATHS = {"S1": "pay.py", "S2": "mail.py", "": "late.py"}
SECURE, PLAIN = "S1", "S2"
URL = "https://github.example/o/r/pull/7"


@dataclass(frozen=True)
class History:
    """A line of commits, `c0` the first; in git's place."""

    commits: list[Files]

    def run(self, *words: str, check: bool = True) -> str:
        """What git prints, for the few commands that are asked."""
        match words:
            case ("rev-parse", *_, name):
                return name.partition("^")[0]
            case ("diff", *_, first, second):
                paths = differing(self.commits[int(first[1:])], self.commits[int(second[1:])])
                return "".join(f"{path}\0" for path in paths)
            case ("merge-base", first, second):
                return min(first, second, key=lambda commit: int(commit[1:]))
        raise AssertionError((words, check))


@dataclass
class Model:
    """A run of two stories, the first of them security-sensitive, and what was really done.

    Attributes:
        run: the run.
        files: the contents, by path.
        commits: the contents of each commit.
        shown: what holds of these very contents, by its name.
        final: what the last G7 on these contents came to.
        cleared: contents of files that security has read and cleared.
        own: paths that the security-sensitive story changed.
        pushed: the commit that the pull request has; -1 if there is none.
        now: the time, one second a step.
    """

    run: Run = field(
        default_factory=lambda: a_run(
            planned(security=True), planned(id=PLAIN), phase=RunPhase.PLANNING
        )
    )
    files: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PATHS.values(), 0))
    commits: list[Files] = field(default_factory=list)
    shown: set[tuple[str, Files]] = field(default_factory=set)
    final: dict[Files, bool] = field(default_factory=dict)
    cleared: set[tuple[str, int]] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    pushed: int = -1
    now: float = NOW

    def __post_init__(self) -> None:
        """Commit what is there at the beginning."""
        self.commits.append(self.contents)

    @property
    def contents(self) -> Files:
        """The files as they are."""
        return tuple(sorted(self.files.items()))

    @property
    def tree(self) -> str:
        """The name of these contents."""
        return tree_of(self.contents)

    def facts(self, base: str = "") -> WorkFacts:
        """What git shows, `changed` since a commit."""
        head = f"c{len(self.commits) - 1}"
        uncommitted = differing(self.commits[-1], self.contents)
        since = self.commits[int(base[1:])] if base else self.commits[-1]
        facts = WorkFacts(self.tree, head, uncommitted, differing(since, self.contents))
        return with_unread(facts, cast("GitRepository", History(self.commits)), self.run)

    def story(self, name: str) -> Story:
        """A story that is at work."""
        return run_moves.at_work(self.run, name)

    def shows(self, name: str, *, holds: bool) -> None:
        """Remember what the last look at these contents came to."""
        (self.shown.add if holds else self.shown.discard)((name, self.contents))

    @property
    def lacks(self) -> list[str]:
        """What is missing of all that the end of a run stands for."""
        here = self.contents
        holds = {
            "stories": bool(self.run.stories) and not self.run.open_stories,
            "commit": self.commits[-1] == here,
            "G7": self.final.get(here, False),
            "review": ("reviewer", here) in self.shown,
            "security": all((path, self.files[path]) in self.cleared for path in self.own),
            "pull request": self.pushed == len(self.commits) - 1,
        }
        return [name for name, is_so in holds.items() if not is_so]


Step = Callable[[Model], None]


def named(step: Step, *words: object) -> Step:
    """The step with a name of its own, which a failure shows."""
    step.__name__ = "_".join(map(str, words))
    return step


def tree_of(files: Files) -> str:
    """A name for contents."""
    return "-".join(str(number) for _, number in files)


def differing(first: Files, second: Files) -> tuple[str, ...]:
    """The paths whose contents differ."""
    return tuple(path for path, number in second if dict(first)[path] != number)


def writes(path: str, number: int) -> Step:
    """Write a file."""

    def step(model: Model) -> None:
        model.files[path] = number

    return named(step, "writes", path, number)


def commits(model: Model) -> None:
    """Commit what is there."""
    model.commits.append(model.contents)


def runs(gate: Gate, story: str, **states: CheckState) -> Step:
    """Run a gate, whose checks pass but for those that are named."""

    def step(model: Model) -> None:
        if story:
            model.story(story)
        elif model.run.is_over:
            raise Refused("It is completed.")
        record = passed(gate, model.tree, **states)
        model.run = run_moves.with_gate(model.run, story, record, "", model.now)
        if not story:
            model.final[model.contents] = model.run.gates[-1].state is CheckState.PASS
            assert states.keys() <= {"lint"} or not model.final[model.contents]

    return named(step, "runs", gate, story, *states)


def looks(role: str, story: str, severity: Severity | None = None, *resolved: int) -> Step:
    """Let somebody review the files as they are, who says that all is well."""

    def step(model: Model) -> None:
        found = () if severity is None else (ReviewFinding(severity, "a crash"),)
        check, verdict, _ = REVIEWERS[role]
        given = ReviewRecord(check, verdict, model.now, model.tree, role, found)
        record = reviews.counted(given)
        one, before = model.run.story(story), model.run
        model.run = reviews.reviewed(before, one, record, is_word=not found, resolved=resolved)
        holds = severity is not Severity.BLOCKING
        model.shows(role, holds=holds)
        if role == "security" and story == SECURE:
            seen = set(model.contents)
            model.cleared = model.cleared | seen if holds else model.cleared - seen

    return named(step, "looks", role, story, severity, *resolved)


def judges(story: str) -> Step:
    """Let the tester find the criterion met."""

    def step(model: Model) -> None:
        found = CriterionState.MET
        model.run = judged(model.run, story, 1, Criterion("", found, at=model.now, tree=model.tree))

    return named(step, "judges", story)


def proves(story: str) -> Step:
    """Let RED and GREEN be proven."""

    def step(model: Model) -> None:
        red, green = state.TestProof(model.now), state.TestProof(model.now, tree=model.tree)
        model.run = model.run.with_story(replace(model.story(story), red=red, green=green))

    return named(step, "proves", story)


def moves(story: str, wanted: StoryStatus) -> Step:
    """Ask for another status."""

    def step(model: Model) -> None:
        base = model.run.story(story).base
        facts = model.facts(base)
        model.run = moved_story(model.run, story, wanted, facts, model.now)
        if wanted is StoryStatus.COMPLETED and story == SECURE:
            model.own |= {*facts.changed}

    return named(step, "moves", story, wanted)


def goes(wanted: RunPhase) -> Step:
    """Ask for another phase."""

    def step(model: Model) -> None:
        model.run = moved_phase(model.run, wanted, model.tree, model.now, asked=True)

    return named(step, "goes", wanted)


def adds(model: Model) -> None:
    """Think of one more story."""
    model.run = with_new_story(model.run, Story("", "More"), model.now, asked=True)


def opens(model: Model) -> None:
    """`finish`, killed when the pull request is open."""
    model.run = at_completion(model.run, model.facts(), model.now)
    model.pushed = len(model.commits) - 1
    model.run = published(model.run, URL, model.facts().head)


def completes(model: Model) -> None:
    """`complete`."""
    model.run = completed(model.run, model.facts(), model.now)


def finishes(model: Model) -> None:
    """`finish`: the gate was run before."""
    opens(model)
    completes(model)


def stops(model: Model) -> None:
    """A person stops the run."""
    model.run = blockers.stopped(model.run, model.now, "a person")


def resumes(model: Model) -> None:
    """A person lets it go on."""
    model.run = blockers.resumed(model.run, model.now, "a person")


def story_way(story: str) -> tuple[Step, ...]:
    """A way on which a story is completed."""
    path = PATHS[story]
    security = (looks("security", story),) if story == SECURE else ()
    return (
        moves(story, StoryStatus.IN_PROGRESS),
        writes(path, 1),
        proves(story),
        runs(Gate.G4, story),
        runs(Gate.G5, story),
        judges(story),
        looks("reviewer", story),
        *security,
        commits,
        moves(story, StoryStatus.COMPLETED),
    )


STORIES = (*story_way(SECURE), *story_way(PLAIN))
GOOD = (*STORIES, runs(Gate.G7, ""), finishes)
TAIL: tuple[Step, ...] = (
    *(writes(path, number) for path in PATHS.values() for number in (0, 1, 2)),
    *[commits] * 4,
    *[runs(Gate.G7, "")] * 4,
    runs(Gate.G7, "", lint=CheckState.FAIL),
    runs(Gate.G7, "", test=CheckState.FAIL),
    *(looks(role, story) for role in REVIEWERS for story in (SECURE, PLAIN)),
    *(looks(role, PLAIN, Severity.BLOCKING) for role in REVIEWERS),
    looks("security", SECURE, Severity.BLOCKING),
    *(looks(role, PLAIN, None, 1) for role in REVIEWERS),
    *(moves(story, StoryStatus.PENDING) for story in (SECURE, PLAIN)),
    *(goes(phase) for phase in RunPhase),
    adds,
    opens,
    stops,
    resumes,
    *[completes] * 3,
    *[finishes] * 3,
)


def follow(steps: list[Step]) -> Model:
    """A run after these steps; what is refused changes nothing, and its end lacks nothing."""
    model = Model()
    for step in steps:
        model.now += 1
        before, was_over = model.run, model.run.is_over
        try:
            step(model)
        except Refused:
            if step not in (opens, finishes):  # killed, or refused, between two records
                assert model.run == before
        if model.run.is_over and not was_over:
            assert model.lacks == []
        assert not was_over or model.run.is_over
    return model


def test_the_good_way_leads_there_and_no_step_of_it_is_for_nothing() -> None:
    """All of it completes the run; without any one step it goes on."""
    assert follow([*GOOD]).run.status is RunStatus.COMPLETED
    for left_out in range(len(GOOD)):
        steps = [step for number, step in enumerate(GOOD) if number != left_out]
        assert follow(steps).run.status is RunStatus.ACTIVE, left_out


LATE = (
    (opens, commits, runs(Gate.G7, ""), completes),
    (looks("reviewer", PLAIN, Severity.BLOCKING), runs(Gate.G7, ""), finishes),
    (looks("security", SECURE, Severity.BLOCKING), runs(Gate.G7, ""), finishes),
    (writes("late.py", 1), commits, runs(Gate.G7, ""), finishes),
    (writes("pay.py", 2), commits, looks("reviewer", PLAIN), runs(Gate.G7, ""), finishes),
)


@pytest.mark.parametrize("steps", LATE)
def test_what_comes_after_the_stories_is_read_and_pushed_as_they_are(
    steps: tuple[Step, ...],
) -> None:
    """A commit behind the pull request's back, a finding after the last story, an edit that nobody read."""
    assert not follow([*STORIES, runs(Gate.G7, ""), *steps]).run.is_over


def test_what_was_refused_is_mended_and_read_again() -> None:
    """Then the run ends: no brake is for ever."""
    mended = (
        looks("reviewer", PLAIN, Severity.BLOCKING),
        writes("mail.py", 2),
        commits,
        looks("reviewer", PLAIN, None, 1),
    )
    assert follow([*STORIES, *mended, runs(Gate.G7, ""), finishes]).run.is_over


@st.composite
def ways(draw: st.DrawFn) -> list[Step]:
    """The stories' way, seldom with a step left out, and then whatever anybody may do at the end."""
    left_out = draw(st.integers(0, 3 * len(STORIES)))
    steps = [step for number, step in enumerate(STORIES) if number != left_out]
    return [*steps, *draw(st.lists(st.sampled_from(TAIL), max_size=14)), *GOOD[-2:]]


@given(ways())
@settings(max_examples=5 * settings().max_examples, deadline=None)
def test_no_way_leads_to_the_end_with_something_missing(steps: list[Step]) -> None:
    """Whoever completes the run has all of it shown, read, committed and in the pull request.

    `follow` looks at that at the end's moment; and what is asked for the end with nothing missing has it.
    """
    model = follow(steps)
    assert model.run.is_over or model.lacks
