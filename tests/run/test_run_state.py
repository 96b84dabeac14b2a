"""The record of a run: what is read is checked, and what is written is read again as it was."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.run import run_store, state, table
from lifecycle.run.long_run import tier
from lifecycle.run.run_store import StrangeRun
from lifecycle.run.state import Criterion, Failure, Run, Story, new_run
from lifecycle.run.table import (
    GATES,
    PHASES,
    RETRY,
    STORIES,
    TDD,
    TIERS,
    TRIGGERS,
    EscalationTrigger,
    FailureCategory,
    Gate,
    RunPhase,
    StoryStatus,
)
from lifecycle.workflow import table as workflow_table

NOW = 1_800_000_000.0


@pytest.mark.parametrize("room", [table, workflow_table])
def test_each_table_of_a_file_is_read_once(room: ModuleType) -> None:
    """A table that nobody reads is a misspelt one."""
    source = Path(str(room.__file__))
    read = re.findall(r'_TEXTS\["(\w+)"\]', source.read_text("utf-8"))
    assert len(read) >= 5
    assert sorted(read) == sorted(tomllib.loads(source.with_name("tables.toml").read_text("utf-8")))


def test_words_and_numbers_of_a_run_are_its_pages() -> None:
    """Reviewers, agents and files of other days go by them."""
    assert [*map(str, table.Severity)] == ["BLOCKING", "SUGGESTION", "INFO"]
    assert [*map(str, table.ClarificationPhase)] == ["pre-analysis", "pre-plan", "development"]
    assert (*table.SIZES, *table.BLOCKER_SEVERITIES) == (
        *("S", "M", "L", "XL"),
        *("low", "medium", "high", "critical"),
    )
    assert (
        *("ESCALATION_REQUIRED", "HUMAN_INTERVENTION_NEEDED"),
        "WORKFLOW_COMPLETE",
    ) == (table.ESCALATION, table.INTERVENTION, table.COMPLETE)
    numbers = (table.KEPT_LINES, table.BACKOFF_LIMIT, table.CHECKPOINT_STORIES)
    assert (numbers, PHASES.name, STORIES.name) == ((100, 600, 5), "run", "story")


def test_what_a_table_of_a_run_does_not_say_is_not_so() -> None:
    """Only the last gate is the run's, two failures wait, one escalates, and long runs are kept small."""
    assert [gate for gate, row in GATES.items() if row.is_final] == [Gate.G7]
    assert {kind.value: (row.backoff, row.escalates) for kind, row in RETRY.items()} == {
        "code": (0, False),
        "test": (0, False),
        "infra": (30, False),
        "external": (0, True),
        "timeout": (60, False),
    }
    kept = [(row.trims, row.sync_seconds, row.hands_over) for row in TIERS]
    assert kept == [(False, 0.0, False), (True, 0.0, False), (True, 900.0, True)]


def a_run(*stories: Story) -> Run:
    """A run with these stories."""
    return Run("abc12345", "Implement payment processing", NOW, stories=stories)


def test_a_goal_keeps_its_lines() -> None:
    """The pull request shows them as they were written; what cannot be seen is an escape."""
    run = new_run(" Goal: Pay\r\n\n- by card \n- by \x1b[1mbank\n", NOW)
    assert run.goal == "Pay\n\n- by card\n- by \\x1b[1mbank"


def test_what_is_written_is_read_again() -> None:
    """Nothing is lost between two processes."""
    failure = Failure("F1", FailureCategory.INFRA, "Connection refused", NOW)
    story = Story("S1", "Pay", criteria=(Criterion("a payment is kept"),), failures=(failure,))
    run = replace(a_run(story), phase=RunPhase.DEVELOPMENT)
    assert run_store.decoded(state.encoded(run)) == run
    assert json.loads(state.encoded(run))["version"] == state.VERSION


DEEP = "nested|truncated"
"""What so many brackets are, none of them closed: Python 3.14 reads them all."""


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "truncated"),
        (b'{"id": "a", "goal"', "truncated"),
        (b"[]", "object"),
        (b'{"id": "a", "goal": "b", "started": "soon"}', "$.started"),
        (b'{"id": "a", "goal": "b", "started": 1, "whatever": 2}', "whatever"),
        (b'{"id": "a", "goal": "b", "started": 1, "phase": "flying"}', "$.phase"),
        (b"[" * 100_000, "object"),
        (b'{"stories": ' + b"[" * 100_000, DEEP),
        (b'{"whatever": ' + b"[" * 100_000, DEEP),
        (b'{"version": "1", "id": "a", "goal": "b", "started": 1}', "$.version"),
    ],
)
def test_what_is_not_of_the_form_is_named(content: bytes, says: str) -> None:
    """Half a sentence tells where; nothing of such a file counts."""
    with pytest.raises(StrangeRun, match=says.replace("$", r"\$")):
        run_store.decoded(content)


def test_a_later_release_is_told_from_a_broken_file() -> None:
    """Its file is not to be mended: the release is to be installed."""
    content = json.dumps({"version": state.VERSION + 1, "whatever": 1}).encode()
    newer = rf"later release .*version {state.VERSION + 1}; this one knows {state.VERSION}"
    with pytest.raises(StrangeRun, match=newer):
        run_store.decoded(content)


def test_the_next_story_respects_what_it_depends_on() -> None:
    """A pending story waits for those it needs; what is at work comes before what is next."""
    first = Story("S1", "Later", depends_on=("S2",))
    second = Story("S2", "Sooner")
    run = a_run(first, second)
    assert run.current == second
    done = run.with_story(replace(second, status=StoryStatus.COMPLETED))
    assert done.current == first
    at_work = replace(second, status=StoryStatus.REVIEW)
    assert run.with_story(at_work).current == at_work


def test_a_story_is_named_in_any_case_and_a_wrong_one_is_refused() -> None:
    """The refusal names those that there are."""
    run = a_run(Story("S1", "One"), Story("S2", "Two"))
    assert run.story("s2").title == "Two"
    with pytest.raises(Refused, match=r'no story "S3".* S1, S2'):
        run.story("S3")


def test_every_table_is_whole() -> None:
    """No member of an enum lacks its row, and illegal moves name the legal ones."""
    assert set(PHASES.table) == set(RunPhase)
    assert set(STORIES.table) == set(StoryStatus)
    assert set(TDD.table) == set(type(TDD.initial))
    assert set(GATES) == set(Gate)
    assert set(RETRY) == set(FailureCategory)
    assert set(TRIGGERS) == set(EscalationTrigger)
    with pytest.raises(IllegalMove, match="from setup it goes to analysis"):
        PHASES.check(RunPhase.SETUP, RunPhase.COMPLETION)


@pytest.mark.parametrize(
    ("hours", "name"),
    [(0.0, TIERS[0].name), (0.99, TIERS[0].name), (1.0, TIERS[1].name), (4.0, TIERS[2].name)],
)
def test_a_tier_begins_with_its_first_second(hours: float, name: str) -> None:
    """Under one hour, from one to four, and beyond."""
    assert tier(Run("r", "goal", NOW - hours * 3600), NOW).name == name
