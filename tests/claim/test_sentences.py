"""What a look or a command says is so, and nothing beside it says the opposite or says it twice."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from lifecycle.claim.engine import briefing
from lifecycle.claim.record.sections import EndingRecord, Intent, MergeRecord, Trouble, Whom
from lifecycle.core.plan import Wake
from lifecycle.sandbox.control.faults import Fault
from tests.claim.steps import DONE, REVIEW
from tests.cli.outcome import ok, refused
from tests.conftest import Place
from tests.factories import NOW, record, texts

SOAKED = pytest.mark.soak(
    "claim/test_sentences.py::test_a_refusal_that_stands_is_said_at_each_asking",
    "e2e/test_sessions.py::test_done_needs_the_users_answer_where_prompts_are_heard",
    "storage/test_ledger.py::test_a_condition_that_cleared_before_it_was_said_is_not_said",
    "storage/test_ledger.py::test_a_key_is_queued_once_and_offered_once",
)

REFUSED = json.dumps(
    {
        "message": "Validation Failed",
        "errors": [{"resource": "PullRequest", "code": "custom", "message": "no"}],
        "documentation_url": "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
        "status": "422",
    }
)


APART = {
    name: Fault("graphql_error", operation=name, message="Not all at once.", count=9)
    for name in ("OpenPullRequest", "CommentAndClose")
}
"""Nothing of several writes in one request is done: they go out one by one."""


def test_a_success_is_not_printed_with_the_failure_that_it_cured(place: Place) -> None:
    """The refusal waits for the agent; the look that opens the PR says that alone."""
    place.ready()
    place.control.add_fault(APART["OpenPullRequest"], count=1)
    place.control.add_fault(
        Fault("status", method="POST", path="/pulls$", status=422, body=REFUSED)
    )
    assert "The PR was not opened" in place.cli("tick").stdout
    out = ok(place.cli("tick"))
    assert "PR #46 created" in out
    assert "was not opened" not in out
    assert "was not opened" not in texts(place.tree().tick(Wake.STOP))


def test_a_refusal_that_stands_is_said_at_each_asking(place: Place) -> None:
    """What was not cured is no less true at the second look."""
    place.ready()
    fault = Fault("status", method="POST", path="/pulls$", status=422, body=REFUSED, count=9)
    place.control.add_fault(fault)
    place.control.add_fault(APART["OpenPullRequest"])
    for _ in range(2):
        out = place.cli("tick").stdout
        assert out.count("The PR was not opened") == 1


def ending(**memory: Any) -> str:
    """What is said of a claim whose closing could not be finished."""
    return " ".join(briefing.claim_lines(record(**DONE, memory=memory)))


def test_a_closing_that_waits_says_for_what_and_never_the_opposite() -> None:
    """Closed, or not closed yet: as it is, with what comes next and when."""
    assert "is closed at the next stop" in ending()
    refused = Trouble("x", "GitHub said no.", NOW + 600, is_final=True)
    said = ending(troubles={"CloseIssue": refused})
    assert "#42 is not closed yet" in said
    assert "is closed at the next stop" not in said
    unknown = Trouble("m", "it is not known whether the comment was posted", NOW + 120)
    said = ending(
        intents={"PostComment": Intent("m", NOW)},
        troubles={"PostComment": unknown},
        ending=EndingRecord(issue_closed=True),
    )
    assert "#42 is closed. It is not known whether its comment was posted" in said
    assert "2026-01-31T12:02:00Z" in said


def test_what_failed_is_told_of_its_head() -> None:
    """A fix may be pushed already, and is looked at next: the agent sees that this is not of it."""
    seen = {"sha": "0e8fe28634", "passed": 1, "running": 0, "failed": ["test"]}
    line = briefing.checks_line(record(**REVIEW, memory={"pull.checks": seen}))
    assert line == "CI: 1/2 passed, 1 failed at 0e8fe28: test."


@pytest.mark.parametrize("since", [{"changes_by": ("maria",)}, {"conflicts_with": "main"}])
def test_how_the_merge_stood_is_not_said_beside_what_came_since(since: dict[str, Any]) -> None:
    """A look without the checks finds the request or the conflict: how it stood before is over then."""
    known = {"pull.merging": MergeRecord(standing="is a draft")}
    now = {f"pull.{key}": value for key, value in since.items()}
    assert briefing.review_lines(record(**REVIEW, memory=known)) == ["PR #107 is a draft."]
    assert len(briefing.review_lines(record(**REVIEW, memory=known | now))) == 1


@pytest.mark.parametrize("was_asked", [True, False])
def test_what_the_user_was_asked_about_is_not_to_be_fixed_meanwhile(*, was_asked: bool) -> None:
    """The agent is woken for it no more; a failure beside it, or another head, is the agent's as ever."""
    checks = {"sha": "0e8fe28634", "failed": ["test"]}
    known = {"red": "0e8fe28634", "kind": "stopped" if was_asked else "ours", "stopped": ["a"]}
    memory = {"pull.checks": checks, "pull.failures": known}
    red = {**REVIEW, "phase": "checks_running"}
    line = briefing.next_line(record(**red, memory=memory))
    assert ("lifecycle feedback go-on" in line, "Fix, commit" in line) == (was_asked, not was_asked)
    other = memory | {"pull.checks": checks | {"sha": "1111111111"}}
    assert "Fix, commit" in briefing.next_line(record(**red, memory=other))


def test_a_tick_after_a_failed_close_says_how_it_stands(place: Place) -> None:
    """The comment's answer was lost, the issue closed: the next look does nothing yet, and says why."""
    place.merged()
    place.write(phase="merged_detected")
    place.tree().tick()
    fault = Fault("status", method="POST", path="/comments$", status=502, count=9)
    place.control.add_fault(fault)
    place.control.add_fault(APART["CommentAndClose"])
    assert place.cli("close").returncode == 1
    assert place.issue()["state"] == "closed"
    out = place.cli("tick").stdout
    assert "#42 is closed. It is not known whether its comment was posted" in out
    assert "The issue is closed at the next stop" not in out


def test_a_command_promises_nothing_that_nobody_does(place: Place) -> None:
    """Nobody tries a claim again by itself: the person is told to."""
    place.control.add_fault(Fault("status", operation="ObserveClaim", status=502, count=9))
    said = refused(place.cli("claim", "42"))
    assert "Try again later." in said
    assert "it is tried again" not in said


@pytest.mark.parametrize("base", ["nope"])
def test_a_base_that_is_not_there_is_no_git_error(place: Place, base: str) -> None:
    """The setting is named, and what to do; nothing is held."""
    (place.root / ".lifecycle.toml").write_text(f'base = "{base}"\n')
    said = refused(place.cli("claim", "42"))
    assert f'The base branch "{base}" is not on origin; nothing was claimed.' in said
    assert "fatal" not in said
    assert "refs/agent-claims/42" not in place.control.world()["refs"]


def test_a_board_of_the_wrong_number_is_said_once(place: Place) -> None:
    """The listing of cards and the look at the issue meet the same refusal."""
    done = place.cli("claim", "42", LIFECYCLE_PROJECT_NUMBER="99")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"\b99\b", done.stdout)) == 1, done.stdout


@SOAKED
def test_the_question_is_printed_once(place: Place) -> None:
    """By tick, and by status while it waits for the agent."""
    place.merged()
    place.write(phase="merged_detected")
    for words in ("tick", "status", "tick", "status"):
        assert ok(place.cli(words)).count("Should I close issue #42?") == 1


def test_a_404_of_graphql_is_no_word_on_the_issue(place: Place) -> None:
    """GraphQL tells what is missing in a 200: a 404 is of a server that has no such API there."""
    place.control.add_fault(Fault("status", path="^/graphql$", status=404, body="{}", count=9))
    said = refused(place.cli("claim", "42", LIFECYCLE_PROJECT_NUMBER=""))
    assert "answers 404 at /graphql" in said
    assert "correct GITHUB_GRAPHQL_URL" in said
    assert "#42" not in said
    assert "no permission" not in said


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        ({}, "no check has registered yet."),
        ({"held": ["lint"], "passed": 2}, "waits for an approval to run: lint."),
        ({"passed": 1, "running": 2}, "1/3 passed, 2 running..."),
        ({"passed": 2, "running": 0}, "2/2 passed."),
        (
            {"passed": 1, "running": 1, "failed": ["a", "b"], "sha": "0e8fe28634"},
            "1/4 passed, 1 running, 2 failed at 0e8fe28: a, b.",
        ),
        ({"passed": 1, "missing": ["e2e"]}, "1/1 passed; required and not reported: e2e."),
        ({"missing": ["e2e"]}, "no check has registered yet; required and not reported: e2e."),
        (
            {"passed": 1, "running": 2, "stale": ["old"]},
            "1/4 passed, 2 running; stale, to be run again: old.",
        ),
        (
            {"passed": 1, "missing": ["e2e"], "stale": ["old"]},
            "1/2 passed; required and not reported: e2e; stale, to be run again: old.",
        ),
    ],
)
def test_how_checks_stand_is_one_line(seen: dict[str, Any], line: str) -> None:
    """What holds them all comes first; then how many, and what failed, is not there, or is of before."""
    made = record(**REVIEW, memory={"pull.checks": seen})
    assert briefing.checks_line(made) == f"CI: {line}"


@pytest.mark.parametrize("key", ["", "running", "unfinished", "missing", "stale", "held", "hidden"])
def test_a_merge_is_waited_for_once_nothing_of_the_checks_is(key: str) -> None:
    """Whatever of them still comes is watched; without any that passed there is nothing to merge by."""
    running = {**REVIEW, "phase": "checks_running"}
    seen: dict[str, Any] = {"passed": 1, **({key: ["x"]} if key else {})}
    waits = "PR #107 waits for a person to merge it."
    said = briefing.next_line(record(**running, memory={"pull.checks": seen}))
    assert (said == waits) is (key == "")
    none = briefing.next_line(record(**running, memory={"pull.checks": {"passed": 0}}))
    assert none != waits


@pytest.mark.parametrize(
    ("memory", "what"),
    [
        ({}, "a person to merge it"),
        ({"pull.merging": MergeRecord(awaits=Whom.QUEUE)}, "GitHub to merge it"),
        ({"pull.merging": MergeRecord(awaits=Whom.AUTO_MERGE)}, "GitHub to merge it"),
        (
            {"pull.changes_by": ("maria",)},
            "the changes that were asked for, and then for another review (lifecycle feedback request)",
        ),
        (
            {"pull.changes_by": ("maria",), "pull.conflicts_with": "main"},
            "its conflict to be resolved and pushed",
        ),
    ],
)
def test_a_green_pull_request_says_what_it_waits_for(memory: dict[str, Any], what: str) -> None:
    """A conflict before the changes that were asked for, and those before whoever merges."""
    made = {**REVIEW, "phase": "checks_running"}
    said = briefing.next_line(record(**made, memory={"pull.checks": {"passed": 1}, **memory}))
    assert said == f"PR #107 waits for {what}."


@pytest.mark.parametrize(
    ("standing", "lines"),
    [
        ("waits for an approving review", ["PR #107 waits for an approving review."]),
        ("is a draft, and cannot be merged", ["PR #107 is a draft, and cannot be merged."]),
        ("is ready to merge", ["PR #107 waits for a person to merge it."]),
    ],
)
def test_what_a_rule_or_a_draft_holds_back_waits_for_no_person_to_merge_it(
    standing: str, lines: list[str]
) -> None:
    """How the merge stands is what comes next, and is said once."""
    memory = {"pull.checks": {"passed": 1}, "pull.merging": MergeRecord(standing=standing)}
    made = record(**{**REVIEW, "phase": "checks_running"}, memory=memory)
    said = briefing.claim_lines(made)
    assert [line for line in said if line.startswith("PR #107")] == lines
