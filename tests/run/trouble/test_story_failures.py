"""Failures: the category that a message tells, the iteration that it ends, and when a story is given up."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run import run_store, state
from lifecycle.run.state import Blocker, Run, Story
from lifecycle.run.table import ESCALATION, MAX_RETRIES, FailureCategory, StoryStatus
from lifecycle.run.texts.told import LINE
from lifecycle.run.trouble.story_failures import attempts, category_of, failed
from tests.batches import each_row

NOW = 1_800_000_000.0
WORKING = Story("S1", "Pay", status=StoryStatus.IN_PROGRESS)
START = Run("abc12345", "Implement payment processing", NOW, stories=(WORKING, Story("S2", "Mail")))

MESSAGES = {
    FailureCategory.CODE: [
        "AssertionError: expected 3, got 4",
        "AssertionError: 'API key not configured' != None",
        "assert total == 12",
        "assertion failed: left == right",
        "Expected status 200 but got 401",
        "expected value to equal 3",
        "TypeError: undefined is not a function",
        "KeyError: 'amount'",
        "error TS2345: Argument of type 'string' is not assignable",
        "src/pay.py:504: mypy: incompatible return type",
        "5 of 429 tests failed",
        "NullReferenceException in PaymentService",
        "coverage is 71%, and 80% is demanded",
        "the records are not sorted",
        "the assertive dialog does not close",
        "something went wrong",
    ],
    FailureCategory.TEST: [
        "fixture 'db' not found",
        "error collecting tests/test_pay.py",
        "ImportError while importing test module '/w/tests/test_pay.py'",
        "SyntaxError: invalid syntax (tests/test_pay.py, line 3)",
        "tests/test_pay.py:3: NameError: name 'pay' is not defined",
        "no tests ran in 0.01s",
        "No tests found, exiting with code 1",
        "The test itself is wrong: it compares strings",
        "broken mock: returns None",
        "beforeEach hook failed",
    ],
    FailureCategory.INFRA: [
        "Connection refused: database not available",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "could not connect to server: is it running?",
        "getaddrinfo ENOTFOUND db.local",
        "OSError: [Errno 28] No space left on device",
        "PermissionError: [Errno 13] Permission denied: '/var/lib/x'",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
        "bind: address already in use",
        "HTTP 503 Service Unavailable",
        "sqlite3.OperationalError: database is locked",
        "redis is not running",
        "Temporary failure in name resolution",
    ],
    FailureCategory.EXTERNAL: [
        "API key not configured",
        "Invalid API key provided: sk_test",
        "Environment variable STRIPE_KEY is not set",
        "missing credentials in config",
        "401 Unauthorized",
        "the server returned 403",
        "Rate limit exceeded, try later",
        "429 Too Many Requests",
        "You exceeded your current API quota",
        "Stripe API is down",
        "third-party service unavailable",
        "git@github.com: Permission denied (publickey).",
        "coverage failed: cargo-llvm-cov is not installed (install it with: cargo install cargo-llvm-cov)",
        "bash: line 1: nyc: command not found",
    ],
    FailureCategory.TIMEOUT: [
        "Request timed out after 30 s",
        "Connection timed out",
        "TimeoutError: page.goto",
        "context deadline exceeded",
        "exceeded timeout of 5000 ms for a test",
        "read ETIMEDOUT",
        "test failed: its time of 2.5 seconds was up",
        "HTTP 504 Gateway Time-out",
    ],
}  # fmt: skip


@each_row(("kind", "text"), [(kind, text) for kind, texts in MESSAGES.items() for text in texts])
def test_a_message_tells_its_category(kind: FailureCategory, text: str) -> None:
    """By whole words; a number in a path or a count is no status, and what is quoted no cause."""
    assert category_of(text) is kind
    assert category_of(f"  {text.upper()}\n") is kind


def test_a_failure_is_kept_as_it_was_told() -> None:
    """Its id counts through the run; the category may be given; secrets and line breaks go."""
    run = failed(START, "s1", "Connection refused: database not available", NOW)
    run = failed(run, "S2", "it\nbreaks ghp_" + "a" * 36, NOW + 1, category=FailureCategory.TEST)
    first, second = run.story("S1").failures[0], run.story("S2").failures[0]
    assert (first.id, first.category, first.iteration) == ("F1", FailureCategory.INFRA, 1)
    assert (second.id, second.category) == ("F2", FailureCategory.TEST)
    assert "ghp_" not in second.text
    assert "\n" not in second.text
    assert len(failed(START, "S1", "x" * 9_000, NOW).story("S1").failures[0].text) == LINE
    assert run_store.decoded(state.encoded(run)) == run


@pytest.mark.parametrize(("name", "text"), [("S1", "  \n"), ("S9", "it broke"), ("S3", "it broke")])
def test_what_is_no_failure_is_refused(name: str, text: str) -> None:
    """No text, no such story, or one that is completed."""
    done = Story("S3", "Done", status=StoryStatus.COMPLETED)
    with pytest.raises(Refused):
        failed(replace(START, stories=(*START.stories, done)), name, text, NOW)


def test_an_iteration_ends_where_the_tree_has_changed() -> None:
    """Two failures of one tree belong to one iteration; after a change it is the next."""
    run = failed(START, "S1", "build failed", NOW, source="G2", tree="a")
    run = failed(run, "S1", "test failed", NOW, source="G3", tree="a")
    assert attempts(run.story("S1")) == 1
    run = failed(run, "S1", "test failed", NOW, source="G3", tree="b")
    assert attempts(run.story("S1")) == 2
    assert [one.iteration for one in run.story("S1").failures] == [1, 1, 2]


@pytest.mark.parametrize(
    ("second", "iteration"),
    [
        ({"tree": "a", "source": "G3"}, 2),
        ({"tree": "a", "source": "G4"}, 1),
        ({"tree": "a", "source": "G3", "text": "other"}, 1),
        ({"tree": "b", "source": "G4"}, 2),
        ({"tree": "", "source": "G3"}, 2),
    ],
    ids=["the same", "elsewhere", "another", "another tree", "a tree that nobody knows"],
)
def test_what_the_same_failure_is(second: dict[str, Any], iteration: int) -> None:
    """One of the same source and text, on the same tree."""
    run = failed(START, "S1", "KeyError", NOW, source="G3", tree="a")
    given: dict[str, Any] = {"text": "KeyError", **second}
    run = failed(run, "S1", given.pop("text"), NOW, **given)
    assert run.story("S1").iteration == iteration


def test_without_trees_no_failure_is_the_same() -> None:
    """Nobody knows whether something was changed in between; so they are one iteration's."""
    run = START
    for _ in range(3):
        run = failed(run, "S1", "KeyError", NOW, source="G3")
    assert attempts(run.story("S1")) == 1


def test_an_iteration_that_was_begun_is_the_failures_own() -> None:
    """What failed in the one before it counts no more for it."""
    story = replace(WORKING, iteration=2)
    run = replace(START, stories=(story,))
    run = failed(run, "S1", "KeyError", NOW, tree="a")
    assert [one.iteration for one in run.story("S1").failures] == [2]
    later = run.with_story(replace(run.story("S1"), iteration=3))
    assert failed(later, "S1", "KeyError", NOW, tree="b").story("S1").iteration == 3


def test_trying_the_same_again_is_an_iteration_unless_waiting_helps() -> None:
    """A retry without a change is one all the same; a database may come up by itself."""
    code = infra = START
    for _ in range(MAX_RETRIES):
        code = failed(code, "S1", "KeyError: 'a'", NOW, source="G3", tree="a")
        infra = failed(infra, "S1", "connection refused", NOW, source="G3", tree="a")
    assert code.story("S1").status is StoryStatus.BLOCKED
    assert attempts(infra.story("S1")) == 1


def test_after_three_iterations_the_story_is_a_blocker() -> None:
    """It is given up with the word for it, and another failure adds no second blocker."""
    run = START
    for tree in "abcd":
        run = failed(run, "S1", f"KeyError on {tree}", NOW, tree=tree)
    story = run.story("S1")
    (blocker,) = run.blockers
    assert story.status is StoryStatus.BLOCKED
    assert (blocker.id, blocker.story, blocker.severity) == ("B1", "S1", "high")
    assert (blocker.trigger, blocker.failure, blocker.at) == (ESCALATION, "", NOW)
    assert blocker.description == "S1 failed in 3 iterations; last: [code] KeyError on c"
    assert run.story("S2").status is StoryStatus.PENDING


def test_something_outside_is_logged_as_a_blocker_once() -> None:
    """The story itself goes on: it may be mocked."""
    run = failed(START, "S1", "API key not configured", NOW)
    run = failed(run, "S1", "API key not configured", NOW)
    first = Blocker("B1", "API key not configured", "high", NOW, "S1", trigger=ESCALATION)
    assert run.blockers == (replace(first, failure="F1"),)
    assert run.story("S1").status is StoryStatus.IN_PROGRESS


@pytest.mark.parametrize(
    ("story", "severity", "resolved_at", "is_logged"),
    [
        ("S1", "high", 0.0, True),
        ("S1", "critical", 0.0, True),
        ("", "high", 0.0, True),
        ("S2", "high", 0.0, False),
        ("S1", "medium", 0.0, False),
        ("S1", "high", NOW, False),
    ],
)
def test_what_stands_before_the_story_already_is_logged(
    story: str, severity: str, resolved_at: float, *, is_logged: bool
) -> None:
    """Or before the run, if it weighs something; then something outside adds no blocker."""
    known = Blocker("B1", "no key", severity, NOW, story, resolved_at=resolved_at)
    run = failed(replace(START, blockers=(known,)), "S1", "API key not configured", NOW)
    assert len(run.blockers) == (1 if is_logged else 2)


def test_something_outside_in_the_last_iteration_is_logged_and_the_story_given_up() -> None:
    """Two blockers: what is missing, and that the story failed; a person has to know both."""
    run = START
    for tree, text in (("a", "KeyError"), ("b", "KeyError"), ("c", "API key not configured")):
        run = failed(run, "S1", text, NOW, tree=tree)
    assert [(one.id, one.failure) for one in run.blockers] == [("B1", "F3"), ("B2", "")]
    assert run.story("S1").status is StoryStatus.BLOCKED


def test_only_the_first_of_a_long_message_tells_its_category() -> None:
    """As much as is kept of it."""
    text = "x " * (LINE // 2) + "Connection refused"
    assert category_of(text) is FailureCategory.CODE
    assert category_of("Connection refused " + text) is FailureCategory.INFRA


def test_what_a_person_resolved_counts_no_more() -> None:
    """Three more iterations follow then; the sum over the story's life is kept."""
    story = replace(WORKING, iteration=3, retries_from=3)
    run = failed(replace(START, stories=(story,)), "S1", "again", NOW, tree="a")
    assert (run.story("S1").iteration, attempts(run.story("S1"))) == (4, 1)
    assert not run.blockers
