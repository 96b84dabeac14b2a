"""What CI, the base, reviewers and the merge queue answer, in the real client."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.feedback.reviews.review_ledger import QUIET_SECONDS
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.seed import SeedProtection, SeedToken, SeedUser, default_seed
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Call, Model, bash, on, writes
from tests.clients.claude_code.wiring import init
from tests.conftest import Place
from tests.e2e.test_failing_ci import LOST, failing, red
from tests.feedback.test_merge_story import LOG, OWNER, mutate

pytestmark = pytest.mark.timeout(TIMEOUT)

PUSH = "git add --all && git commit --quiet -m {0} && git push --quiet && git log -1 --format=%s"
BOT = "coderabbitai[bot]"
BEHIND = -2 * QUIET_SECONDS
"""How far a GitHub's clock is ahead where nobody waits until a reviewer pauses, or an ejection settles."""


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[SandboxInfo]:
    """A world with a reviewing bot and Maria's token, and what else the test says of it."""
    seed = default_seed()
    given = request.param
    home = replace(seed.repositories[0], protections=given.get("protections", []))
    with Sandbox(
        replace(
            seed,
            users=[*seed.users, SeedUser(BOT, kind="bot", role="write")],
            tokens=[*seed.tokens, SeedToken(OWNER, "maria", ["repo"])],
            repositories=[home],
            ahead=given.get("ahead", 0.0),
        )
    ) as running:
        yield running.info


def world(**given: Any) -> pytest.MarkDecorator:
    """How a test's world differs from the default one."""
    return pytest.mark.parametrize("sandbox", [given], indirect=True, ids=["world"])


def takes(place: Place, model: Model, text: str = "one = 1\n") -> None:
    """The agent takes the task, commits this text, and hands it off."""
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.2\n")
    model.follows(
        on("Take task 42").say("I take it.", bash("lifecycle claim 42")),
        on("Claimed #42").say(
            writes(place.root / "work.txt", text), bash("git add --all && git commit -qm Work")
        ),
        on("work.txt").say(bash("lifecycle handoff --summary 'Fix the race'")),
        on("Pushed").say("It is handed off."),
    )


@world()
@pytest.mark.soak(
    "e2e/test_failing_ci.py::test_what_the_runner_broke_is_run_again_and_the_agent_hears_of_green_alone",
    "e2e/test_failing_ci.py::test_what_fails_on_the_base_too_is_told_and_not_to_be_fixed",
    "e2e/test_waiter.py::test_a_stop_opens_the_pr_and_its_waiter_brings_all_news",
    "feedback/test_merge_story.py::test_a_conflict_comes_with_files_both_sides_commits_and_the_command",
    "feedback/test_failure_watch.py::test_a_green_head_ends_what_failed_before_it",
    "clients/claude_code/test_story.py::test_from_claim_to_close",
)
def test_what_comes_back_reaches_the_model_with_what_it_needs(
    client: Client, place: Place, model: Model
) -> None:
    """A full disk makes no turn: the same commit passes, and it was a flake.

    A red check comes with the test that fails, and is mended by what the wake says; after a green head the
    same line is the agent's again. What the base fails too it is told to leave. A conflict comes with its
    file.
    """
    init(client)
    takes(place, model)
    work = place.root / "work.txt"
    model.follows(
        on("1 FAILED", "test_adds").say(writes(work, "two = 2\n"), bash(PUSH.format("Mend"))),
        on("Mend").say("It is mended."),
        on("1 FAILED", "test_adds").say(writes(work, "three = 3\n"), bash(PUSH.format("Again"))),
        on("Again").say("It is mended again."),
        on("do not fix it here").say("It is left to the base."),
    )
    with client.session() as terminal:
        terminal.types("Take task 42.")
        model.hears("PR #46 created")
        place.control.plan_checks(PlannedCheck(name="test"))
        red(place, LOST)
        model.hears("CI passed!")
        for count in (1, 2):
            red(place, failing("adds"))
            model.hears("FAILED tests/test_shop.py::test_adds", count)
            model.hears("CI passed!", 1 + count)
        red(place, failing("greets"), "main")
        red(place, failing("greets"))
        model.hears("fails the same way on its base")
        terminal.sees("It is left to the base.")
        place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs")
        model.hears("In conflict:")
        terminal.rests()
        assert terminal.leaves() == 0
    assert (model.rules, model.strange) == ([], [])
    assert model.heard("No space left on device") == 0
    assert model.heard("1 FAILED") == 2
    assert model.heard("fails the same way on its base") == 1
    assert model.heard("PR #46 conflicts with main") == 1
    flakes = json.loads(client.lifecycle("stats", "--json"))["flakes"]
    assert [one["check"] for one in flakes] == ["test"]


def remarks(count: int, body: str) -> list[dict[str, Any]]:
    """One for each of the first lines of the work."""
    return [{"path": "work.txt", "line": n + 1, "body": f"{body} {n}?"} for n in range(count)]


def answers(fix: tuple[Call, ...], new: str) -> tuple[Call, ...]:
    """The agent mends it, and answers each thread that it is shown."""
    reply = "lifecycle feedback reply {} --text-file answer.md --verdict fixed --resolve"
    threads = dict.fromkeys(re.findall(r"\bPRRT_\w+", new))
    return (*fix, *(bash(reply.format(one)) for one in threads))


@world(ahead=BEHIND)
@pytest.mark.soak(
    "feedback/test_review_story.py::test_a_review_of_twelve_comments_is_one_wake_and_is_answered",
    "feedback/test_review_reply.py::test_who_resolves_what",
    "feedback/test_rounds.py::test_after_the_last_round_a_person_is_asked",
    "clients/claude_code/test_story.py::test_from_claim_to_close",
)
def test_a_bots_remarks_are_answered_and_resolved_until_its_rounds_are_over(
    client: Client, place: Place, model: Model
) -> None:
    """Twelve remarks are one turn, in which each is answered and resolved on GitHub, unasked.

    The third round is to be reproduced first; of a fourth the agent only asks the person.
    """
    init(client)
    takes(place, model, "".join(f"line {n}\n" for n in range(12)))
    threads = 0
    with client.session() as terminal:
        terminal.types("Take task 42.")
        model.hears("PR #46 created")
        for count, body in ((12, "Why line"), (2, "Why not"), (1, "**High severity** Why")):
            fix = (
                writes(place.root / f"round-{threads}.txt", f"{count}\n"),
                writes(place.root / "answer.md", f"Since round {threads} it is locked.\n"),
                bash(PUSH.format("Mend")),
            )
            model.follows(
                on("on PR #46 by coderabbitai").say(bash("lifecycle feedback reviews")),
                on("PRRT_").does(partial(answers, fix)),
                on("The thread is resolved.").say("All of it is answered."),
            )
            place.control.review(46, "COMMENTED", login=BOT, comments=remarks(count, body))
            threads += count
            model.hears("The thread is resolved.", threads)
            terminal.rests()
        model.follows(on("bots have had 3 rounds").say("Shall I go on with the bot?"))
        place.control.review(46, "COMMENTED", login=BOT, comments=remarks(1, "And what of"))
        terminal.sees("Shall I go on with the bot?")
        terminal.rests()
        assert terminal.leaves() == 0
    assert (model.rules, model.strange) == ([], [])
    assert model.heard("wait for an answer") + model.heard("waits for an answer") == 3
    assert model.heard("reproduce each of their findings") == 1
    assert model.heard("And what of") == 0
    shown = json.loads(client.lifecycle("feedback", "reviews", "--json"))
    *known, last = shown["threads"]
    states = [(one["resolved"], one["answered"], one["verdict"]) for one in known]
    assert states == [(True, True, "fixed")] * threads
    assert shown["unanswered"] == [last["id"]]


@world(
    ahead=BEHIND, protections=[SeedProtection(pattern="main", contexts=["test"], merge_queue=True)]
)
@pytest.mark.soak(
    "feedback/test_merge_story.py::test_what_the_queue_throws_out_comes_with_the_logs_of_its_own_commit",
    "clients/claude_code/test_story.py::test_from_claim_to_close",
)
def test_what_the_queue_throws_out_is_mended_and_merged(
    client: Client, place: Place, model: Model
) -> None:
    """The wake has the test that failed on the queue's own commit; the next group passes, and merges it."""
    init(client)
    takes(place, model)
    model.follows(
        on("taken out of the merge queue", "FAILED tests/test_shop.py::test_total").say(
            writes(place.root / "work.txt", "two = 2\n"), bash(PUSH.format("Mend"))
        ),
        on("Mend").say("It is mended."),
        on("merged! Should I close").say("Shall I close it?"),
    )
    with client.session() as terminal:
        terminal.types("Take task 42.")
        model.hears("PR #46 created")
        place.control.set_check(46, "test")
        model.hears("CI passed!")
        mutate(place, "enqueuePullRequest", 46)
        queue_reports(place, conclusion="failure", log=LOG)
        model.hears("PR #46 was taken out of the merge queue")
        terminal.sees("It is mended.")
        terminal.rests()
        place.control.set_check(46, "test")
        model.hears("CI passed!", 2)
        mutate(place, "enqueuePullRequest", 46)
        queue_reports(place)
        terminal.sees("Shall I close it?")
        terminal.rests()
        assert terminal.leaves() == 0
    assert (model.rules, model.strange) == ([], [])
    assert model.heard("taken out of the merge queue") == 1
    assert place.pulls()[46]["state"] == "merged"


def queue_reports(place: Place, **how: Any) -> None:
    """The check of the queue's own commit is over."""
    (group,) = [ref for ref in place.control.world()["refs"] if "gh-readonly-queue" in ref]
    branch = group.removeprefix("refs/heads/")
    place.control.set_check(branch, "test", event="merge_group", **how)
