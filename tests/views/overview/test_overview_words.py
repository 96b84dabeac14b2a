"""An overview in lines: each part, and what a part says only where there is something to say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from rich.style import Style

from lifecycle.views.overview.overview_values import (
    AwaitedPerson,
    Overview,
    OverviewEvent,
    OverviewPhase,
    OverviewRun,
    OverviewStage,
    OverviewStory,
    OverviewWorkflow,
    OverviewWorktree,
    PullStanding,
    overview_json,
)
from lifecycle.views.overview.overview_words import (
    EVENTS,
    STANDINGS,
    STORIES,
    age,
    at_work,
    is_awaited,
    lines_below,
    since_when,
    stage_line,
)

NOW = 1_000_000.0
STAGE = OverviewStage(
    *("s", "bd-1", "TESTING"),
    is_set=False,
    is_over=False,
    is_let_go=False,
    is_off=False,
    told=2,
    at=NOW,
)
STORY = OverviewStory("US-1", "Pay", "M", "completed", "green", 2, 3, 1, NOW)
RUN = OverviewRun(
    *("r", "Shop", "development", "active", "", "s", NOW, 0.0, NOW, 4), (STORY,), 1, (), ""
)
PHASES = (OverviewPhase("Design", "completed"), OverviewPhase("Build it", "active", "coder"))
WORKFLOW = OverviewWorkflow("w", "Auth", "feature", "do it", "active", 2, PHASES)


def lines(
    awaited: tuple[AwaitedPerson, ...] = (), said: tuple[str, ...] = (), **parts: Any
) -> list[str]:
    """What is below the claim."""
    return lines_below(Overview(NOW, OverviewWorktree("/w", "/w", "main"), **parts), awaited, said)


def test_a_part_that_is_not_there_takes_no_line() -> None:
    """Of nothing there is nothing to say."""
    assert lines() == []


def test_the_parts_stand_in_their_order() -> None:
    """Stage, run, workflow; what is awaited; the last events; and what could not be read."""
    event = OverviewEvent(NOW, "claim", "42", "hook", "coding → done")
    of_workflow = OverviewEvent(NOW + 60, "workflow", "w", "hook", "phase 1 began")
    troubles = {"stage": "no stage.", "run": "no run.", "workflow": "no w.", "events": "none."}
    made = lines(
        (AwaitedPerson("run", "It waits.", NOW - 120, "lifecycle run resume"),),
        stage=STAGE,
        run=RUN,
        workflow=WORKFLOW,
        events=(event, of_workflow),
        troubles={**troubles, "worktree": "odd."},
    )
    assert made == [
        "Stage: TESTING of bd-1, told to go on 2 times.",
        'Run: "Shop", development, active; 1 of 1 story completed.',
        '- US-1 "Pay": completed',
        "Workflow: Auth (feature), active, phase 2 of 2.",
        '- 1. "Design": completed',
        '- 2. "Build it" (coder): active',
        "Waits for a person:",
        "- for 2 min: It waits. (lifecycle run resume)",
        "Last events:",
        "- 1970-01-12 13:46 UTC claim 42: coding → done",
        "- 1970-01-12 13:47 UTC workflow: phase 1 began",
        "Stage: no stage.",
        "Run: no run.",
        "Workflow: no w.",
        "Events: none.",
        "Worktree: odd.",
    ]


def test_a_workflow_says_what_it_has() -> None:
    """At no phase none is named; what is to be read and other workflows are, if there are any."""
    some = replace(
        WORKFLOW, current=0, phases=(), reading=("@a.md", "@b.md"), others=("One", "Two")
    )
    assert lines(workflow=some) == [
        "Workflow: Auth (feature), active.",
        "Required reading: @a.md @b.md",
        "Other workflows: One, Two",
    ]


def test_a_long_run_lists_what_is_left_of_it() -> None:
    """Up to eight stories are all listed; of more, what is not completed, and how many more."""
    todo = replace(STORY, status="pending", criteria=0)
    eight = replace(RUN, stories=(*(STORY,) * 2, *(todo,) * (STORIES - 2)), done=2)
    assert len(lines(run=eight)) == STORIES + 1
    nine = lines(run=replace(eight, stories=(*eight.stories, todo)))
    assert nine[0] == 'Run: "Shop", development, active; 2 of 9 stories completed.'
    assert nine[1:-1] == ['- US-1 "Pay": pending'] * 7
    assert nine[-1] == "- … and 2 more: lifecycle run status --all"
    many = lines(run=replace(eight, stories=(todo,) * 20))
    assert (len(many), many[-1]) == (
        STORIES + 2,
        "- … and 12 more: lifecycle run status --all",
    )
    held = replace(RUN, blockers=("B-1: no key",), pull_url="https://x/7")
    assert lines(run=held)[-2:] == ["Blocked: B-1: no key", "Pull request of the run: https://x/7"]


def test_the_last_events_alone_are_listed() -> None:
    """Five, the newest last; one without a task names none."""
    assert EVENTS == 5
    events = tuple(OverviewEvent(NOW, "claim", "", "hook", f"e{n}") for n in range(EVENTS + 1))
    assert [line[-9:] for line in lines(events=events)[1:]] == [
        f"claim: e{n}" for n in range(1, EVENTS + 1)
    ]


def test_what_waits_is_said_once() -> None:
    """Not again if a line above says it, nor where it is done if its own sentence does."""
    waits = AwaitedPerson("pull", "It waits at x/7.", 0.0, "x/7")
    assert lines((waits,)) == ["Waits for a person:", "- It waits at x/7."]
    assert lines((waits,), ("So: It waits at x/7, now",)) == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "TESTING of bd-1, told to go on 2 times."),
        ({"told": 1}, "TESTING of bd-1, told to go on 1 time."),
        ({"told": 0}, "TESTING of bd-1."),
        ({"task": "", "told": 0, "stage": ""}, "none yet."),
        ({"is_set": True}, "TESTING of bd-1, set by hand, told at the next stop."),
        (
            {"is_set": True, "is_let_go": True},
            "TESTING of bd-1, let go after it was told too often.",
        ),
        ({"is_over": True, "at": NOW - 60}, "the task bd-1 was led to its end 1 min ago."),
        ({"is_over": True, "task": "", "at": NOW}, "the task was led to its end 0 s ago."),
        (
            {"is_over": True, "is_off": True},
            "the staged workflow is switched off in this worktree.",
        ),
    ],
)
def test_a_stage_is_one_sentence(changes: dict[str, Any], line: str) -> None:
    """Off beats over, which beats where it is; let go beats set by hand, which beats reminders."""
    assert stage_line(replace(STAGE, **changes), NOW) == f"Stage: {line}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "completed"),
        ({"status": "pending"}, "pending, 1 of 3 criteria met"),
        ({"status": "pending", "criteria": 0}, "pending"),
        ({"status": "in_progress"}, "in progress, green, attempt 2, 1 of 3 criteria met"),
        ({"status": "testing", "tdd": "", "criteria": 0}, "testing, attempt 2"),
        ({"status": "review", "iteration": 0, "criteria": 0}, "review, green"),
    ],
)
def test_a_story_says_where_it_is_while_it_is_worked_on(
    changes: dict[str, Any], words: str
) -> None:
    """In its cycle, at which attempt, and how many of its criteria are met."""
    assert at_work(replace(STORY, **changes)) == words


def test_how_long_something_waits_stands_behind_its_line() -> None:
    """Where a line says what waits, and it is known since when; a clock that was set back is now."""
    waits = [AwaitedPerson("pull", "A person looks", NOW - 60), AwaitedPerson("run", "Other", 0.0)]
    made = since_when(["Next: A person looks.", "Other", "No more"], waits, NOW)
    assert made == ["Next: A person looks. [waits for 1 min]", "Other", "No more"]
    both = [AwaitedPerson("pull", "Look", 0.0), AwaitedPerson("run", "Look at it.", NOW - 60)]
    assert since_when(["Look at it, then go on"], both, NOW) == [
        "Look at it, then go on [waits for 1 min]"
    ]
    assert (age(NOW + 60, NOW), age(NOW, NOW)) == ("0 s", "0 s")
    awaited = (waits[0], AwaitedPerson("run", "Go on.", 0.0))
    seen = Overview(NOW, OverviewWorktree("/w", "/w", ""), awaited=awaited)
    assert [is_awaited(seen, text) for text in ("Then: Go on, now", "Go", "Stay")] == [
        True,
        True,
        False,
    ]


def test_an_overview_is_json_with_all_of_its_fields() -> None:
    """A moment is ISO 8601, one that nobody knows and an empty text are null; lists stay lists."""
    event = OverviewEvent(NOW, "claim", "", "hook", "coding → done")
    place = OverviewWorktree("/w", "/w", "")
    made = overview_json(
        Overview(0.0, place, workflow=WORKFLOW, events=(event,), troubles={"run": "no."})
    )
    assert [*made] == ["schema_version", *Overview.__dataclass_fields__]
    assert (made["at"], made["claim"], made["waiting"]) == (None, None, [])
    assert made["worktree"] == {"root": "/w", "clone": "/w", "branch": None}
    assert made["troubles"] == {"run": "no."}
    assert made["events"] == [
        {
            "at": "1970-01-12T13:46:40Z",
            "system": "claim",
            "task": None,
            "actor": "hook",
            "what": "coding → done",
        }
    ]
    assert [one["agent"] for one in made["workflow"]["phases"]] == [None, "coder"]
    assert (made["workflow"]["current"], made["workflow"]["started"]) == (2, None)


def test_every_standing_of_a_pull_request_has_words_and_a_colour() -> None:
    """Words that a person reads, and a style that a terminal's library knows."""
    assert STANDINGS.keys() == set(PullStanding)
    assert all(re.fullmatch(r"[a-z, ]+", words) for words, _ in STANDINGS.values())
    assert all(Style.parse(style).color for _, style in STANDINGS.values() if style != "dim")
    assert STANDINGS[PullStanding.UNKNOWN][1] == "dim"
